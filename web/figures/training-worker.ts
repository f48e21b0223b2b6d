// Training in a worker: what it is told and tells stands in training-work.ts.

import { loadTrainer } from "../train.ts";
import { type Failed, type Order, type Plan, Slices, type Told, Work } from "./training-work.ts";

/** Milliseconds after which orders are heard: the page does not wait for them. */
const SLICE = 24;

/** The worker's own scope, of which the page's types know nothing. */
const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<{ kind: "plan"; plan: Plan } | Order>) => void) | null;
  postMessage(told: Told | { kind: "unloaded"; sentence: string }): void;
};

const { port1, port2 } = new MessageChannel();
let next: () => void = () => {};
port1.onmessage = () => next();
/** A message to itself: a timer would wait for some milliseconds. */
const later = (run: () => void): void => {
  next = run;
  port2.postMessage(null);
};

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));
let slices: Slices | undefined;

async function begin(plan: Plan): Promise<void> {
  const trainer = await loadTrainer().catch((error: unknown) => {
    scope.postMessage({ kind: "unloaded", sentence: message(error) });
  });
  if (!trainer) return;
  try {
    const tell = (told: Told) => scope.postMessage(told);
    slices = new Slices(new Work(trainer, plan), { milliseconds: SLICE, later, tell });
  } catch (error) {
    scope.postMessage({ kind: "failed", sentence: message(error) } satisfies Failed);
  }
}

scope.onmessage = ({ data }) => {
  if (data.kind === "plan") begin(data.plan);
  else slices?.order(data);
};
