// The one instance of the core that all figures of a page share.

import { loadPosenc, type Posenc } from "../posenc.ts";

let loading: Promise<Posenc> | undefined;

export function sharedCore(): Promise<Posenc> {
  loading ??= loadPosenc().catch((error: unknown) => {
    loading = undefined; // a later figure may try again
    throw error;
  });
  return loading;
}
