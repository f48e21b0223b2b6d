// The section list says where one is: the last section whose top has passed the upper third of the window.

export function sectionList(nav: HTMLElement): void {
  const panel = nav.querySelector<HTMLElement>("[popover]");
  const current = nav.querySelector<HTMLElement>(".sections-current");
  const links = new Map<string, HTMLAnchorElement>();
  for (const link of nav.querySelectorAll<HTMLAnchorElement>("ol a")) links.set(link.hash.slice(1), link);
  const sections = [...document.querySelectorAll<HTMLElement>("article > section")];
  const closed = current?.textContent ?? "";

  let active: HTMLAnchorElement | undefined;
  const mark = (line: number): void => {
    const section = sections.filter((candidate) => candidate.getBoundingClientRect().top <= line).at(-1);
    const link = section && links.get(section.id);
    if (link === active) return;
    active?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    active = link;
    if (current) current.textContent = link?.textContent ?? closed;
    document.dispatchEvent(new Event("pe-section"));
    // Only the list may scroll, never the page.
    if (panel && link && panel.scrollHeight > panel.clientHeight) {
      panel.scrollTop = link.offsetTop - panel.clientHeight / 2;
    }
  };
  // A band of no height at the upper third: a section that crosses it, in either direction, is reported. In a frame
  // the band is this document's only if it is named; else it lies in the window around all frames.
  try {
    const observer = new IntersectionObserver(
      (entries) => mark(entries.at(-1)?.rootBounds?.bottom ?? innerHeight / 3),
      { root: document, rootMargin: "-33% 0px -67% 0px" },
    );
    for (const section of document.querySelectorAll("article > *")) observer.observe(section);
  } catch {
    addEventListener("scroll", () => mark(innerHeight / 3), { passive: true });
  }

  panel?.addEventListener("click", ({ target }) => {
    if ((target as Element).closest("a") && panel.matches(":popover-open")) panel.hidePopover();
  });
}
