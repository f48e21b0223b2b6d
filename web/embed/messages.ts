// Messages to and from the page around this one: never to its top window, and from nobody else.

/** Whether there is a page around this one. */
export const framed = window.parent !== window;

export function tell(message: unknown): void {
  // To any origin: none is known, and nothing told is secret.
  if (framed) window.parent.postMessage(message, "*");
}

/** Calls `listener` with what the parent says, if it is an object. */
export function hear(listener: (data: Readonly<Record<string, unknown>>) => void): void {
  addEventListener("message", ({ source, data }) => {
    if (framed && source === window.parent && typeof data === "object" && data !== null) listener(data);
  });
}
