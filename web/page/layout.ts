// The lesson is long, and laying all of it out at once would hold up the first touch. On a fresh visit theme.js lets the
// sections below the first wait: the browser lays out what comes near the window. Once the reader does something, the
// others follow one by one, whenever nothing else is to be done. Whoever leaps to one of them gets all at once, so that
// it stands where it will stay.

const DEEDS = ["scroll", "pointerdown", "touchstart", "keydown"];
/** Between one section and the next, in a browser that does not say when it is idle. */
const PAUSE_MILLISECONDS = 30;

export function layOut(): void {
  const { classList } = document.documentElement;
  if (!classList.contains("opening")) return;
  const waiting = [...document.querySelectorAll<HTMLElement>("article > section")];
  const idle = (work: () => void): void => {
    if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 500 });
    else setTimeout(work, PAUSE_MILLISECONDS);
  };
  const begin = (): void => {
    for (const deed of DEEDS) removeEventListener(deed, begin, true);
    idle(next);
  };
  const next = (): void => {
    const section = waiting.shift();
    if (!section || !classList.contains("opening")) {
      finish();
      return;
    }
    section.classList.add("laid-out");
    section.getBoundingClientRect(); // now, and not together with the next
    idle(next);
  };
  const finish = (): void => {
    classList.remove("opening");
    for (const section of document.querySelectorAll("article > .laid-out"))
      section.classList.remove("laid-out");
    removeEventListener("hashchange", finish);
    removeEventListener("click", leap, true);
  };
  const leap = ({ target }: Event): void => {
    if ((target as Element).closest?.('a[href^="#"]')) finish();
  };
  for (const deed of DEEDS) addEventListener(deed, begin, { capture: true, passive: true });
  addEventListener("hashchange", finish);
  addEventListener("click", leap, true);
}
