// Fetches and instantiates a WebAssembly module of ours: the SIMD build where the engine has SIMD, else the scalar one.

import { type Core, show, wrongKind } from "./kinds.ts";

export interface LoadOptions {
  /** Where the module is. Default: the file beside this one. */
  wasmUrl?: string | URL;
  /** The bytes of the module, in place of a file. */
  wasmBinary?: BufferSource;
  /** Which build that is, or which to load. Default: SIMD where the engine has it. */
  simd?: boolean;
}

const OPTIONS = ["wasmUrl", "wasmBinary", "simd"];

/** Throws a TypeError that names the option that is none, or of the wrong kind. */
export function checkOptions(options: LoadOptions): void {
  if (typeof options !== "object" || options === null) throw wrongKind("options", "an object", options);
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`options has no field ${show(unknown)}; it has ${OPTIONS.join(", ")}`);
  }
  const { wasmBinary, wasmUrl, simd } = options;
  if (wasmBinary !== undefined && !(wasmBinary instanceof ArrayBuffer || ArrayBuffer.isView(wasmBinary))) {
    throw wrongKind("wasmBinary", "an ArrayBuffer or a view of one", wasmBinary);
  }
  if (wasmUrl !== undefined && typeof wasmUrl !== "string" && !(wasmUrl instanceof URL)) {
    throw wrongKind("wasmUrl", "a string or a URL", wasmUrl);
  }
  if (simd !== undefined && typeof simd !== "boolean") throw wrongKind("simd", "true or false", simd);
}

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)): valid only where simd128 is.
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253],
  ...[98, 11],
);
export const hasSimd = (): boolean => WebAssembly.validate(SIMD_PROBE);

/** What every module begins with. */
const MAGIC = [0, 97, 115, 109];

async function fetchModule(url: URL): Promise<ArrayBuffer | Uint8Array<ArrayBuffer>> {
  // Decoded here: fetching a data: URL would need an exception in the page's security policy.
  if (url.protocol === "data:") {
    return Uint8Array.from(atob(url.pathname.slice(url.pathname.indexOf(",") + 1)), (c) => c.charCodeAt(0));
  }
  if (url.protocol === "file:" && typeof process === "object") {
    // Not an import, which bundlers for pages would follow.
    return process.getBuiltinModule("node:fs").readFileSync(url) as Uint8Array<ArrayBuffer>;
  }
  const response = await fetch(url);
  if (!response.ok)
    throw new Error(`${url.href} could not be loaded: ${response.status} ${response.statusText}`);
  // Bytes rather than streaming: a host that serves the wrong MIME type for wasm still works.
  const bytes = await response.arrayBuffer();
  // Some hosts answer with a page of theirs for what they do not have.
  if (MAGIC.some((byte, at) => new Uint8Array(bytes)[at] !== byte)) {
    throw new Error(`${url.href} is no WebAssembly module`);
  }
  return bytes;
}

type Factory = (options: {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance) => void,
  ): Record<string, never>;
}) => Promise<Core>;

/** An instance of its own for each call. `beside` is where the module's file of a build is when no option says. */
export async function loadModule(
  create: Factory,
  beside: (simd: boolean) => URL,
  options: LoadOptions,
): Promise<{ core: Core; simd: boolean }> {
  checkOptions(options);
  const { wasmBinary, wasmUrl } = options;
  const simd = options.simd ?? hasSimd();
  const url = () =>
    wasmUrl === undefined ? beside(simd) : new URL(wasmUrl, globalThis.document?.baseURI ?? import.meta.url);
  const bytes = wasmBinary ?? (await fetchModule(url()));
  // The factory's own promise never rejects: a failed instantiation, or a module that is another, must end this one.
  return new Promise((resolve, reject) => {
    create({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(bytes, imports)
          .then(({ instance }) => done(instance))
          .catch(reject);
        return {};
      },
    }).then((core) => resolve({ core, simd }), reject);
  });
}
