// Measures the figure and tells the host, as seldom as it can be.

import { framed, hear, tell } from "./messages.ts";
import { announcements, answer, HELLO, type Host, learn, type Size } from "./protocols.ts";

/** Smaller changes are rounding. */
const LEAST = 2;
/** The borders of a frame whose host sets its outer height, at most: less than the margin around the figure. */
const BORDERS = 8;
/** How long a host may take, in milliseconds. */
const PATIENCE = 500;

/** Tells the host the size of `box`, from the call of the function returned on, and whenever it changes. */
export function reportSize(box: HTMLElement, host: Host): () => void {
  let size: Size = { width: 0, height: 0 };
  let frame = 0;

  /** A host that follows gets no scroll bar, which would change the width and with it the height. */
  const look = (): void => {
    const follows = size.height > 0 && innerHeight >= size.height - BORDERS;
    document.documentElement.toggleAttribute("data-follows", follows);
  };
  const measure = (): void => {
    frame = 0;
    const { width, height } = box.getBoundingClientRect();
    if (height === 0 || Math.abs(Math.ceil(height) - size.height) < LEAST) return;
    size = { width: Math.ceil(width), height: Math.ceil(height) };
    for (const message of announcements(size, host)) tell(message);
    setTimeout(look, PATIENCE);
  };

  hear((data) => {
    if (data.context === "h5p" && data.action === "ready") tell(HELLO);
    learn(data, host);
    const reply = size.height > 0 ? answer(data, size, host) : null; // before, the first announcement answers
    if (reply) tell(reply);
  });
  tell(HELLO);

  return () => {
    if (!framed) return;
    addEventListener("resize", look);
    try {
      new ResizeObserver(() => {
        if (frame === 0) frame = requestAnimationFrame(measure);
      }).observe(box);
    } catch {
      setInterval(measure, PATIENCE);
    }
  };
}
