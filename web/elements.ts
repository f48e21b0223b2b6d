// All figures as elements, for any page: <script type="module" src="posenc.js"></script>, then <pe-rope></pe-rope>.
// Where there is no document, as in a server's rendering, importing this does nothing.

export { configure } from "./figures/core.ts";

const figures = import.meta.glob("./figures/pe-*.ts");

if (typeof HTMLElement === "function") await Promise.all(Object.values(figures).map((load) => load()));
