/// <reference types="vite/client" />
// A figure's module is fetched when the figure comes near the window, or at once for printing. One that does not arrive
// leaves a sentence, and is tried again once the connection is back: some engines ask the server then, others have to
// be reloaded.

import { onNear } from "../figures/observe.ts";

type PeFigure = HTMLElement & { ready: Promise<void> };

/** A module that did not come is asked for again after each of these. */
const AGAIN_MILLISECONDS = [2000, 5000, 15_000];

const modules = import.meta.glob("../figures/pe-*.ts");

export function figures(): void {
  const pending = new Set(document.querySelectorAll<HTMLElement>("figure.wide > :not(:defined)"));
  const tries = new Map<HTMLElement, number>();
  const wake = async (figure: HTMLElement): Promise<void> => {
    letGo(figure);
    const pause = AGAIN_MILLISECONDS[tries.get(figure) ?? 0];
    tries.set(figure, (tries.get(figure) ?? 0) + 1);
    const tag = figure.localName;
    try {
      const load = modules[`../figures/${tag}.ts`];
      if (!load) throw new Error("no such module");
      await load();
      pending.delete(figure);
      figure.classList.remove("failed");
    } catch (error) {
      if (!figure.classList.contains("failed")) {
        console.error(`${tag} did not load:`, error);
        refuse(figure);
      }
      // Safari may take the failure over into the page that is loaded anew, for a while.
      if (pause) setTimeout(() => pending.has(figure) && wake(figure), pause);
    }
  };
  // A figure that will have no picture keeps no room for one.
  document.addEventListener("pe-error", ({ target }) => {
    const figure = target as PeFigure;
    figure.ready.catch(() => figure.classList.add("failed"));
  });
  document.addEventListener("pe-ready", ({ target }) => (target as PeFigure).classList.remove("failed"));
  const letGo = onNear(pending, "100% 0px", wake);
  addEventListener("beforeprint", () => {
    for (const figure of pending) wake(figure);
  });
  addEventListener("online", () => {
    for (const figure of pending) {
      if (!tries.has(figure)) continue;
      tries.delete(figure);
      wake(figure);
    }
  });
}

function refuse(figure: HTMLElement): void {
  figure.classList.add("failed");
  const reload = Object.assign(document.createElement("button"), {
    type: "button",
    textContent: "Reload the page",
  });
  reload.addEventListener("click", () => location.reload());
  const sentence = document.createElement("p");
  sentence.setAttribute("role", "alert");
  sentence.append("The figure did not load. ", reload, " to try again: what you have done stays.");
  figure.append(sentence);
}
