// What lies beside the script that loads the core, in one copy for all of them. A page in one file has nothing beside
// it: its build puts other functions in their place (oneFile in scripts/vite-plugins.ts).

import type { Twin } from "./load.ts";

export const scalar = (): URL | null => new URL("./wasm/posenc-scalar.wasm", import.meta.url);
export const twin = (): Promise<Twin> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ new URL("./wasm/posenc-twin.js", import.meta.url).href);
