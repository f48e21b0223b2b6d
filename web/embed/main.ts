// One figure in an iframe, or alone in a window. The address says which and in what state; the page around it hears
// what happens, and may change state and theme.

import { figures as sentences } from "../lesson/figures.ts";
import { readFragment, readQuery, splitHash } from "./address.ts";
import { hostStates } from "./host-state.ts";
import { hear, tell } from "./messages.ts";
import { names } from "./names.ts";
import { preview } from "./preview.ts";
import type { Host } from "./protocols.ts";
import { reportSize } from "./resize.ts";
import { type Address, type Shown, show } from "./shown.ts";
import { setTheme } from "./theme.ts";
import { titles } from "./titles.ts";

const modules = import.meta.glob("../figures/pe-*.ts");

const box = document.querySelector("main") as HTMLElement;
const query = readQuery(location.search);

const say = (type: string, content: Record<string, unknown>): void =>
  tell({ type: `posenc:${type}`, v: 1, id: query.id, ...content });

const refuse = (message: string): void => say("error", { message });

const host: Host = { id: query.id, address: "", secret: "", asks: false, h5p: false };

/** What the address says now. Its theme is set. */
function readAddress(): Address {
  const { own, secret } = splitHash(location.hash);
  host.address = location.href;
  host.secret = secret;
  const fragment = readFragment(own);
  try {
    setTheme("address", fragment.theme || "auto");
    return { fragment, problems: [] };
  } catch (error) {
    setTheme("address", "auto");
    return { fragment, problems: [(error as Error).message] };
  }
}

let address = readAddress();
let shown: Shown | undefined;
let takeState: ((saved: unknown) => void) | undefined;
const waiting: unknown[] = [];

addEventListener("hashchange", ({ oldURL }) => {
  address = readAddress();
  // WordPress adds its secret late. That is no change, and must not undo the reader's.
  const isSame = splitHash(new URL(oldURL).hash).own === splitHash(location.hash).own;
  if (!isSame) shown?.obey(address);
});

hear(({ type, theme, state }) => {
  if (type === "posenc:set-theme") {
    try {
      setTheme("host", theme);
    } catch (error) {
      refuse((error as Error).message);
    }
  }
  if (type !== "posenc:set-state") return;
  if (takeState) takeState(state);
  else waiting.push(state);
});

const beginSizes = reportSize(box, host);

/** Fetches the module of a figure and shows it. Fulfilled with the first picture, or without one where the figure says why. */
async function load(name: string): Promise<void> {
  try {
    await modules[`../figures/pe-${name}.ts`]?.();
  } catch (error) {
    throw new Error(`The figure did not load (${(error as Error).message}). Reload the page to try again.`);
  }
  const hadFocus = box.contains(document.activeElement);
  shown = show(box, `pe-${name}`, address, say);
  if (hadFocus) box.focus({ preventScroll: true });
  const { figure } = shown;
  takeState = hostStates(figure, refuse);
  for (const state of waiting.splice(0)) takeState(state);
  await figure.ready.then(
    () => say("ready", { figure: name, state: figure.getState() }),
    () => {},
  );
}

// A file that holds one figure names it itself.
const figure = document.documentElement.dataset.figure ?? query.figure;
const title = Object.hasOwn(titles, figure) ? titles[figure] : undefined;
if (title === undefined) {
  refuse(names(box, figure));
  beginSizes();
} else {
  document.title = title;
  if (query.preview) {
    preview(box, { title, sentence: sentences[`pe-${figure}`] ?? "", load: () => load(figure) });
    beginSizes();
  } else {
    load(figure)
      .catch((error: Error) => {
        box.textContent = error.message;
        refuse(error.message);
      })
      .finally(beginSizes);
  }
}
