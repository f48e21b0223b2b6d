// What a browser tells of an element's size and place. One that has no such observers, or whose page has broken them,
// tells less: then the window's size is listened to, and everything counts as near.

/** Calls `listener` with the element's inner width, now and after each change, until the function returned is called. */
export function onWidth(element: HTMLElement, listener: (width: number) => void): () => void {
  try {
    const observer = new ResizeObserver(([entry]) => listener(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  } catch {
    const tell = () => listener(element.clientWidth);
    tell();
    addEventListener("resize", tell);
    return () => removeEventListener("resize", tell);
  }
}

/** Calls `listener` with each element that comes as near to the window as `rootMargin` says, until it is let go. */
export function onNear(
  elements: Iterable<HTMLElement>,
  rootMargin: string,
  listener: (near: HTMLElement) => void,
): (element: HTMLElement) => void {
  try {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) listener(target as HTMLElement);
      },
      { rootMargin },
    );
    for (const element of elements) observer.observe(element);
    return (element) => observer.unobserve(element);
  } catch {
    for (const element of elements) queueMicrotask(() => listener(element));
    return () => {};
  }
}
