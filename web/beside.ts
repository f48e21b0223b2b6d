// What lies beside the scripts, each in one copy for all of them: the builds without SIMD, and the twins in JavaScript.
// A page in one file has nothing beside it; its build puts one-file.ts in the place of this.

import type { Twin } from "./load.ts";

const script = (url: URL): Promise<Twin> => import(/* @vite-ignore */ /* webpackIgnore: true */ url.href);

export const scalarCore = (): URL | null => new URL("./wasm/posenc-scalar.wasm", import.meta.url);
export const scalarTrainer = (): URL | null => new URL("./wasm/posenc-train-scalar.wasm", import.meta.url);
export const coreTwin = (): Promise<Twin> => script(new URL("./wasm/posenc-twin.js", import.meta.url));
export const trainerTwin = (): Promise<Twin> =>
  script(new URL("./wasm/posenc-train-twin.js", import.meta.url));
