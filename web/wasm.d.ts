// The generated module (web/wasm/, made by `npm run build`). Only posenc.ts imports it.
declare module "*/posenc.mjs" {
  interface ModuleOptions {
    instantiateWasm(
      imports: WebAssembly.Imports,
      done: (instance: WebAssembly.Instance) => void,
    ): Record<string, never>;
  }
  // Calls answer with their result or with a sentence; enums are records from a name to an opaque value.
  export type Core = Record<string, (...args: unknown[]) => unknown> &
    Record<string, Record<string, unknown>>;
  export default function createPosenc(options: ModuleOptions): Promise<Core>;
}
