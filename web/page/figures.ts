/// <reference types="vite/client" />
// A figure's module is fetched when the figure comes near the window, or at once for printing.

const modules = import.meta.glob("../figures/pe-*.ts");

export function figures(): void {
  const pending = [...document.querySelectorAll<HTMLElement>("figure.wide > :not(:defined)")];
  const wake = (figure: Element): void => {
    observer.unobserve(figure);
    const tag = figure.localName;
    const load = modules[`../figures/${tag}.ts`];
    (load ? load() : Promise.reject(new Error("no such module"))).catch((error: unknown) => {
      console.error(`${tag} did not load:`, error);
      figure.classList.add("failed");
    });
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) wake(target);
    },
    { rootMargin: "100% 0px" },
  );
  for (const figure of pending) observer.observe(figure);
  addEventListener("beforeprint", () => {
    for (const figure of pending) wake(figure);
  });
}
