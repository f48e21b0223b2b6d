// The generated modules (web/wasm/, made by `npm run build`). Only posenc.ts and train.ts import them.
interface WasmOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: { exports: Record<string, unknown> }) => void,
  ): Record<string, never>;
}
type WasmCore = Record<string, (...args: unknown[]) => unknown> & Record<string, Record<string, unknown>>;

declare module "*/posenc.mjs" {
  export const build: string;
  export default function createPosenc(options: WasmOptions): Promise<WasmCore>;
}
declare module "*/posenc-train.mjs" {
  export const build: string;
  export default function createTrainer(options: WasmOptions): Promise<WasmCore>;
}
declare module "*-twin.js" {
  export default function twin(imports: WebAssembly.Imports): Record<string, unknown>;
}
