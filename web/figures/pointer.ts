// A page that scrolls or changes under a mouse at rest makes browsers tell of moves of the mouse. Nobody has pointed at
// anything then, and a reader at the keyboard would lose the place that the keys have chosen.

/** Keeps from what is inside of an element the moves of a mouse that is at rest. Returns what ends that. */
export function ignoreRestingMouse(element: HTMLElement): () => void {
  const { ownerDocument } = element;
  const ending = new AbortController();
  const options = { capture: true, passive: true, signal: ending.signal };
  let at: readonly [number, number] | undefined;
  let resting = false;
  const isAt = ({ pointerType, screenX, screenY, buttons }: PointerEvent): boolean =>
    pointerType === "mouse" && buttons === 0 && at?.[0] === screenX && at[1] === screenY;

  ownerDocument.addEventListener(
    "pointermove",
    (event) => {
      resting = isAt(event);
      at = [event.screenX, event.screenY];
    },
    options,
  );
  element.addEventListener("pointermove", (event) => resting && event.stopImmediatePropagation(), options);
  element.addEventListener(
    "pointerenter",
    (event) => isAt(event) && event.stopImmediatePropagation(),
    options,
  );
  return () => ending.abort();
}
