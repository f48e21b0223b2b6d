// Fetches and instantiates a WebAssembly module of ours: the SIMD build where the engine has SIMD, else the scalar one.
// Where there is no WebAssembly, or its file does not come, the twin stands in: the scalar build as JavaScript.

import { type Core, show, wrongKind } from "./kinds.ts";

export interface LoadOptions {
  /** Where the module is. Default: the file beside this one. */
  wasmUrl?: string | URL;
  /** The bytes of the module, in place of a file. */
  wasmBinary?: BufferSource;
  /** Which build that is, or which to load. Default: SIMD where the engine has it. */
  simd?: boolean;
  /** Whether WebAssembly must compute (true), or JavaScript, to the bits of the scalar build (false). Default: what can. */
  wasm?: boolean;
}

const OPTIONS = ["wasmUrl", "wasmBinary", "simd", "wasm"];

/** Throws a TypeError that names the option that is none, or of the wrong kind. */
export function checkOptions(options: LoadOptions): void {
  if (typeof options !== "object" || options === null) throw wrongKind("options", "an object", options);
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`options has no field ${show(unknown)}; it has ${OPTIONS.join(", ")}`);
  }
  const { wasmBinary, wasmUrl, simd, wasm } = options;
  if (wasmBinary !== undefined && !(wasmBinary instanceof ArrayBuffer || ArrayBuffer.isView(wasmBinary))) {
    throw wrongKind("wasmBinary", "an ArrayBuffer or a view of one", wasmBinary);
  }
  if (wasmUrl !== undefined && typeof wasmUrl !== "string" && !(wasmUrl instanceof URL)) {
    throw wrongKind("wasmUrl", "a string or a URL", wasmUrl);
  }
  if (simd !== undefined && typeof simd !== "boolean") throw wrongKind("simd", "true or false", simd);
  if (wasm !== undefined && typeof wasm !== "boolean") throw wrongKind("wasm", "true or false", wasm);
}

// (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)): valid only where simd128 is.
const SIMD_PROBE = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253],
  ...[98, 11],
);
export const hasSimd = (): boolean => typeof WebAssembly === "object" && WebAssembly.validate(SIMD_PROBE);

/** What every module begins with; by itself a module of nothing. */
const MAGIC = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/** Why this page can run no WebAssembly; undefined if it can. */
function refusal(): string | undefined {
  if (typeof WebAssembly !== "object") return "this browser runs no WebAssembly";
  try {
    new WebAssembly.Instance(new WebAssembly.Module(MAGIC)); // Safari's policy is for the second step
    return undefined;
  } catch {
    return "the security policy of this page allows no WebAssembly: its script-src lacks 'wasm-unsafe-eval'";
  }
}

type Bytes = ArrayBuffer | Uint8Array<ArrayBuffer>;

async function fetchModule(url: URL): Promise<Bytes> {
  // Decoded here: fetching a data: URL would need an exception in the page's security policy.
  if (url.protocol === "data:") {
    return Uint8Array.from(atob(url.pathname.slice(url.pathname.indexOf(",") + 1)), (c) => c.charCodeAt(0));
  }
  if (url.protocol === "file:" && typeof process === "object") {
    // Not an import, which bundlers for pages would follow.
    return process.getBuiltinModule("node:fs").readFileSync(url) as Uint8Array<ArrayBuffer>;
  }
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`${url.href} could not be loaded: ${message(error)}`);
  });
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

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Exports = Record<string, unknown>;
type Imports = WebAssembly.Imports;
type Factory = (options: {
  instantiateWasm(imports: Imports, done: (instance: { exports: Exports }) => void): Record<string, never>;
}) => Promise<Core>;

/** The scalar build as JavaScript. */
export interface Twin {
  default(imports: Imports): Exports;
}

/** A module of ours in all its builds. */
export interface Builds {
  create: Factory;
  /** The mark of its WebAssembly: a file of another version has another, or none. */
  build: string;
  /** Where the file of a build is; null where there is none. */
  file(simd: boolean): URL | null;
  twin(): Promise<Twin>;
}

export interface Loaded {
  core: Core;
  simd: boolean;
  /** Why JavaScript computes; undefined where WebAssembly does. */
  twin: string | undefined;
}

/** The factory's own promise never rejects: what `exports` rejects with must end this one. */
const start = (create: Factory, exports: (imports: Imports) => Promise<Exports>): Promise<Core> =>
  new Promise((resolve, reject) => {
    create({
      instantiateWasm(imports, done) {
        exports(imports)
          .then((found) => done({ exports: found }))
          .catch(reject);
        return {};
      },
    }).then(resolve, reject);
  });

async function compile(build: string, bytes: BufferSource, name: string): Promise<WebAssembly.Module> {
  const module = await WebAssembly.compile(bytes).catch((error: unknown) => {
    throw new Error(`${name} is damaged or incomplete: ${message(error)}`);
  });
  if (WebAssembly.Module.customSections(module, build).length === 0) {
    throw new Error(`${name} is of another version of posenc than the script that loads it`);
  }
  return module;
}

async function moduleOf({ build, file }: Builds, options: LoadOptions, simd: boolean) {
  const { wasmBinary, wasmUrl } = options;
  if (wasmBinary) return compile(build, wasmBinary, "wasmBinary");
  const here = globalThis.document?.baseURI ?? import.meta.url;
  const url = wasmUrl === undefined ? file(simd) : new URL(wasmUrl, here);
  if (!url) throw new Error("this browser’s WebAssembly has no SIMD");
  return compile(build, await fetchModule(url), url.href);
}

/** An instance of its own for each call. */
export async function loadModule(builds: Builds, options: LoadOptions): Promise<Loaded> {
  checkOptions(options);
  const { wasm, simd = hasSimd() } = options;
  let reason = wasm === false ? "wasm is false" : refusal();
  if (reason === undefined) {
    try {
      const module = await moduleOf(builds, options, simd);
      const run = async (imports: Imports) => (await WebAssembly.instantiate(module, imports)).exports;
      return { core: await start(builds.create, run), simd, twin: undefined };
    } catch (error) {
      // Who names a module is told what is wrong with it.
      if (options.wasmBinary !== undefined || options.wasmUrl !== undefined) throw error;
      reason = message(error);
    }
  }
  if (wasm) throw new Error(reason);
  const { default: run } = await builds.twin().catch((error: unknown) => {
    throw new Error(`${reason}; the JavaScript in its place did not load either: ${message(error)}`);
  });
  return { core: await start(builds.create, async (imports) => run(imports)), simd: false, twin: reason };
}
