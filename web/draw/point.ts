// Where a pointer is within an element.

/** The point of an event within the element that listens, or another, each way from 0 to 1: a host may scale the page. */
export function share(event: MouseEvent, element = event.currentTarget as Element): [x: number, y: number] {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [(event.clientX - left) / width, (event.clientY - top) / height];
}

/** Whether a pointer reads what is under it: a mouse wherever it is, a finger where it presses and drags. */
export const reads = (event: PointerEvent): boolean => event.pointerType === "mouse" || event.buttons > 0;
