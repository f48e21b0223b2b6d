// The page's theme: what the host says, else the address, else the system. The figure follows what the body bears.

import { parse } from "../figures/state.ts";

const THEME = { kind: "choice", fallback: "auto", choices: ["auto", "light", "dark"] } as const;
const said = { host: "auto", address: "auto" };

/** "auto" leaves it to the next in line. Throws the sentence for what is no theme. */
export function setTheme(by: keyof typeof said, theme: unknown): void {
  if (typeof theme !== "string") throw new TypeError("theme must be a string");
  said[by] = String(parse("theme", THEME, theme));
  paint();
}

export function paint(): void {
  document.body.dataset.theme = said.host === "auto" ? said.address : said.host;
}
