// A figure, its address and its host: the address says its state, and the host hears of every change.

import type { PeFigure } from "../figures/figure.ts";
import type { Fields } from "../figures/state.ts";
import { type Fragment, sift, writeFragment } from "./address.ts";
import { framed, tell } from "./messages.ts";

/** Milliseconds after the last change until the address is written, and until Canvas reads the sentence out. */
const WRITE = 250;
const SPEAK = 1000;

/** What an address says, and the sentences about what is wrong with it so far. */
export interface Address {
  fragment: Fragment;
  problems: readonly string[];
}

export interface Shown {
  figure: PeFigure<Fields, unknown>;
  /** Takes over all that an address says: what it does not name has its fallback. Shows what is wrong with it. */
  obey(address: Address): void;
}

/** Puts the figure `tag`, whose module has been run, into `box`. `say` tells the host. */
export function show(
  box: HTMLElement,
  tag: string,
  first: Address,
  say: (type: string, content: Record<string, unknown>) => void,
): Shown {
  const figure = document.createElement(tag) as PeFigure<Fields, unknown>;
  const { fields } = figure.constructor as typeof PeFigure;
  const notice = document.createElement("div");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  let { fragment } = first;
  let writing: ReturnType<typeof setTimeout> | undefined;
  let speaking: ReturnType<typeof setTimeout> | undefined;
  let spoken = "";

  const obey = (now: Address): void => {
    clearTimeout(writing);
    fragment = now.fragment;
    const { good, problems } = sift(fragment.state, fields);
    for (const name of Object.keys(fields)) {
      const value = good.get(name);
      if (value === undefined) figure.removeAttribute(name);
      else figure.setAttribute(name, value);
    }
    figure.setAttribute("hide", fragment.hide);
    const wrong = [...now.problems, ...problems];
    notice.replaceChildren(
      ...wrong.map((text) => Object.assign(document.createElement("p"), { textContent: text })),
    );
    for (const message of wrong) say("error", { message });
  };

  const write = (): void => {
    const hash = writeFragment(fields, figure.getState().state, fragment);
    try {
      history.replaceState(history.state, "", `${location.pathname}${location.search}${hash}`);
    } catch {
      // An opaque origin, or too many changes at once: the figure works on without a link.
    }
  };
  const speak = (): void => {
    const sentence = figure.shadowRoot?.querySelector("[part=takeaway]:not([hidden])")?.textContent ?? "";
    if (sentence && sentence !== spoken) tell({ subject: "lti.screenReaderAlert", body: sentence });
    spoken = sentence;
  };

  figure.addEventListener("pe-change", () => {
    notice.replaceChildren();
    say("state", { state: figure.getState() });
    clearTimeout(speaking);
    speaking = setTimeout(speak, SPEAK);
    if (framed) return;
    clearTimeout(writing);
    writing = setTimeout(write, WRITE);
  });
  figure.addEventListener("pe-error", (event) => {
    say("error", { message: (event as CustomEvent<string>).detail });
  });

  // In a frame the address is the author's, and the figure resets to what it has when it is put in; alone in a
  // window it is a link that holds the reader's state.
  if (framed) obey(first);
  box.replaceChildren(notice, figure);
  if (!framed) obey(first);
  return { figure, obey };
}
