// Wide formulas, tables and listings scroll in their own box. A box that does scroll must be reachable by keyboard.

export function scrollers(): void {
  const mark = ({ target }: ResizeObserverEntry): void => {
    if (target.scrollWidth > target.clientWidth + 1) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  };
  // In the next frame: to measure makes the page's layout anew, and sizes may change while they are told.
  const boxes = document.querySelectorAll(".scroll");
  try {
    const observer = new ResizeObserver((entries) => requestAnimationFrame(() => entries.forEach(mark)));
    for (const box of boxes) observer.observe(box);
  } catch {
    for (const box of boxes) box.setAttribute("tabindex", "0");
  }
}
