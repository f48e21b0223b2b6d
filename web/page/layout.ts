// The lesson is long, and laying all of it out at once would hold up the first touch. On a fresh visit theme.js lets the
// sections below the first wait; once the page has loaded they are laid out one by one, whenever nothing else is to be
// done. Whoever leaps to one of them gets all at once, so that it stands where it will stay.

/** Sections are laid out in one go as long as so much of the idle time is left. */
const ENOUGH_MILLISECONDS = 25;
/** Between one section and the next, in a browser that does not say when it is idle. */
const PAUSE_MILLISECONDS = 30;

export function layOut(): void {
  const { classList } = document.documentElement;
  if (!classList.contains("opening")) return;
  const waiting = [...document.querySelectorAll<HTMLElement>("article > section")];
  const idle = (work: (deadline?: IdleDeadline) => void): void => {
    if ("requestIdleCallback" in window) requestIdleCallback(work, { timeout: 500 });
    else setTimeout(work, PAUSE_MILLISECONDS);
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
  const next = (deadline?: IdleDeadline): void => {
    do {
      const section = waiting.shift();
      if (!section || !classList.contains("opening")) {
        finish();
        return;
      }
      section.classList.add("laid-out");
      section.getBoundingClientRect(); // now, and not together with the next
    } while (deadline && deadline.timeRemaining() > ENOUGH_MILLISECONDS);
    idle(next);
  };
  addEventListener("hashchange", finish);
  addEventListener("click", leap, true);
  if (document.readyState === "complete") idle(next);
  else addEventListener("load", () => idle(next), { once: true });
}
