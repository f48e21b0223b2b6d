// Wide formulas, tables and listings scroll in their own box. A box that does scroll must be reachable by keyboard.

export function scrollers(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth + 1) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of document.querySelectorAll(".scroll")) observer.observe(box);
}
