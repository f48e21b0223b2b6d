// What stands in a figure's place until the reader asks for it: nothing of the figure is fetched.

/** Sine waves from fast to slow, as in the columns of a sinusoidal table. An ornament, drawn without the core. */
function waves(): SVGElement {
  const make = (name: string): SVGElement =>
    document.createElementNS("http://www.w3.org/2000/svg", name) as SVGElement;
  const svg = make("svg");
  svg.setAttribute("viewBox", "0 0 128 112");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (let line = 0; line < 4; line++) {
    const y = (x: number): string => (14 + 28 * line - 11 * Math.sin(x / 2 ** line)).toFixed(1);
    const path = make("path");
    path.setAttribute("d", `M${Array.from({ length: 257 }, (_, i) => `${i / 2} ${y(i / 2)}`).join(" ")}`);
    svg.append(path);
  }
  return svg;
}

/** Fills `box`; the button calls `load`, whose failure is said in place. */
export function preview(
  box: HTMLElement,
  { title, sentence, load }: { title: string; sentence: string; load(): Promise<void> },
): void {
  const element = (name: string, text: string): HTMLElement =>
    Object.assign(document.createElement(name), { textContent: text });
  const button = element("button", "Load the figure") as HTMLButtonElement;
  const panel = document.createElement("div");
  panel.className = "preview";
  panel.append(element("h1", title), waves(), element("p", sentence), button);
  let loading = false;
  button.addEventListener("click", async () => {
    if (loading) return;
    loading = true;
    button.focus(); // where a click does not: the figure takes the focus from here
    button.textContent = "Loading …";
    box.style.minHeight = `${box.offsetHeight}px`; // a frame that follows would shrink to what is there so far
    try {
      await load();
    } catch (error) {
      button.replaceWith(element("p", (error as Error).message));
    }
    box.style.minHeight = "";
  });
  box.replaceChildren(panel);
}
