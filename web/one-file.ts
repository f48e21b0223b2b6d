// beside.ts for a page in one file: it holds the builds with SIMD, and the twins for all that cannot run them.

export const scalarCore = () => null;
export const scalarTrainer = () => null;
export const coreTwin = () => import("./wasm/posenc-twin.js");
export const trainerTwin = () => import("./wasm/posenc-train-twin.js");
