// The one instance of the core that all figures of a page share.

import { checkOptions } from "../load.ts";
import { type LoadOptions, loadPosenc, type Posenc } from "../posenc.ts";

let options: LoadOptions = {};
let loading: Promise<Posenc> | undefined;

/**
 * Where the figures take their WebAssembly module from, for hosts that keep it elsewhere.
 * Throws an Error once a figure has begun to load it: call this before the first one is in the page. Throws a TypeError
 * for an option that is none.
 */
export function configure(given: LoadOptions): void {
  if (loading) throw new Error("configure must be called before the first figure is in the page");
  checkOptions(given);
  options = { ...given };
}

export function sharedCore(): Promise<Posenc> {
  loading ??= loadPosenc(options).catch((error: unknown) => {
    loading = undefined; // a later figure may try again
    throw error;
  });
  return loading;
}
