// The one place that names the worker's file. Where a page is a single file there is none, and the build says so.

/** A worker that waits for its plan. Throws where the page may have none. */
export function spawn(): Worker {
  return new Worker(new URL("./training-worker.ts", import.meta.url), { type: "module" });
}
