// Where training runs: in a worker, or, where there can be none, in short slices on the page's own thread.

import { spawn } from "./training-spawn.ts";
import { type Order, type Plan, Slices, type Told, Work } from "./training-work.ts";

/** The page may stand still for so long, in milliseconds, to be drawn sixty times a second. */
export const SLICE = 8;

export interface Thread {
  /** On the page's own thread: why there is no worker. */
  fallback: string | undefined;
  order(order: Order): void;
  /** Ends the work at once and frees its memory. */
  end(): void;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A worker that has loaded the trainer and begun, or the reason why not. */
function inWorker(
  plan: Plan,
  tell: (told: Told) => void,
  signal: AbortSignal,
): Promise<Thread | { reason: string }> {
  return new Promise((resolve) => {
    let worker: Worker;
    try {
      worker = spawn();
    } catch (error) {
      resolve({ reason: message(error) });
      return;
    }
    const end = () => worker.terminate();
    signal.addEventListener("abort", end, { once: true });
    const refuse = (reason: string) => {
      end();
      resolve({ reason });
    };
    worker.onerror = (event) => {
      event.preventDefault(); // it is answered, and no error of the page
      refuse(event.message || "its file did not load");
    };
    worker.onmessage = ({ data }: MessageEvent<Told | { kind: "unloaded"; sentence: string }>) => {
      if (data.kind === "unloaded") {
        refuse(data.sentence);
        return;
      }
      if (signal.aborted) return;
      tell(data);
      resolve({ fallback: undefined, order: (order) => worker.postMessage(order), end });
      worker.onerror = (event) => {
        event.preventDefault();
        tell({ kind: "failed", sentence: event.message || "its worker broke off" });
      };
      worker.onmessage = (event: MessageEvent<Told>) => tell(event.data);
    };
    worker.postMessage({ kind: "plan", plan });
  });
}

/** On this thread. Rejects if the trainer does not load, and with the sentence of a plan that is none. */
async function inPage(
  plan: Plan,
  tell: (told: Told) => void,
  signal: AbortSignal,
  reason: string,
): Promise<Thread> {
  const { loadTrainer } = await import("../train.ts");
  const trainer = await loadTrainer();
  signal.throwIfAborted();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const later = (run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
  };
  const slices = new Slices(new Work(trainer, plan), { milliseconds: SLICE, later, tell });
  const end = () => {
    slices.end();
    for (const timer of timers) clearTimeout(timer);
  };
  signal.addEventListener("abort", end, { once: true });
  return { fallback: reason, order: (order) => slices.order(order), end };
}

/** Sets the work up, at rest. Once the signal is aborted it has ended, and nothing is told any more. */
export async function startThread(
  plan: Plan,
  tell: (told: Told) => void,
  signal: AbortSignal,
): Promise<Thread> {
  const heard = (told: Told): void => {
    if (!signal.aborted) tell(told);
  };
  const started = await inWorker(plan, heard, signal);
  if (!("reason" in started)) return started;
  signal.throwIfAborted();
  return inPage(plan, heard, signal, started.reason);
}
