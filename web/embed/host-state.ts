// States that the host sends: taken one after the other, and a bad one leaves the figure as it was.

import type { PeFigure, SavedState } from "../figures/figure.ts";
import type { Fields } from "../figures/state.ts";

type Figure = PeFigure<Fields, unknown>;

/** Returns what takes a state over; `refuse` gets the sentence for one that is none. */
export function hostStates(figure: Figure, refuse: (sentence: string) => void): (saved: unknown) => void {
  let waiting: SavedState[] = [];
  let last = figure.ready.catch(() => {});

  /** Those that came while the last picture was made share the next one: a host may send faster than that. */
  const takeAll = async (): Promise<void> => {
    const states = waiting;
    waiting = [];
    if (states.length === 0 || (await take(figure, states, refuse)) || states.length === 1) return;
    for (const one of states) await take(figure, [one], () => {}); // whose sentences have been said
  };
  return (saved) => {
    waiting.push(saved as SavedState);
    last = last.then(takeAll).catch((error: Error) => refuse(error.message));
  };
}

/** Whether there is a picture of the last of the states, each taken on top of the one before. */
async function take(
  figure: Figure,
  states: readonly SavedState[],
  refuse: (sentence: string) => void,
): Promise<boolean> {
  const before = new Map(Array.from(figure.attributes, ({ name, value }) => [name, value]));
  const names = new Set<string>();
  for (const saved of states) {
    try {
      figure.setState(saved);
      for (const name of Object.keys(saved.state)) names.add(name);
    } catch (error) {
      refuse((error as Error).message);
    }
  }
  if (names.size === 0) return true;
  let failed = false;
  const fail = (): void => {
    failed = true;
  };
  figure.addEventListener("pe-error", fail);
  await figure.updateComplete;
  figure.removeEventListener("pe-error", fail);
  if (!failed) return true;
  // Each value keeps its rule, but not all of them together: the figure has said so.
  for (const name of names) {
    const value = before.get(name);
    if (value === undefined) figure.removeAttribute(name);
    else figure.setAttribute(name, value);
  }
  await figure.updateComplete; // the figure says the same sentence again only after a good picture
  return false;
}
