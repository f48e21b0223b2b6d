// The twin of a WebAssembly module: the same code as JavaScript, for pages that may run no WebAssembly. Binaryen's
// wasm2js translates it, operation by operation; float stays float by Math.fround. What it leaves to its host is mended
// here: memory that grows detaches the old buffer, and memory that cannot grow says so, both as WebAssembly does.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt, Failure, which } from "./run.mjs";

/** Beside Emscripten, as in its SDK, or Binaryen's own package. */
function translator({ root }) {
  const own = join(root, "../bin/wasm2js");
  const found = existsSync(own) ? own : which("wasm2js");
  if (!found) throw new Failure("wasm2js is missing: it comes with Emscripten or with the package binaryen");
  return found;
}

/** Addresses are signed integers in the translation. */
const MOST_PAGES = 2 ** 15 - 1;

const GROW = `function __wasm_memory_grow(pagesToAdd) {
  var newPages = __wasm_memory_size() + pagesToAdd;
  if (newPages > ${MOST_PAGES}) throw new RangeError("no more memory");
  var newBuffer = new ArrayBuffer(newPages * 65536);
  new Int8Array(newBuffer).set(HEAP8);
  structuredClone(buffer, { transfer: [buffer] });`;

function replace(text, pattern, by) {
  if (!pattern.test(text)) throw new Failure(`wasm2js wrote nothing that matches ${pattern}`);
  return text.replace(pattern, () => by);
}

/** An ES module whose default export takes the imports of the .wasm file at `path` and returns its exports. */
export async function twinOf(path, emscripten) {
  const { status, output } = await attempt(translator(emscripten), ["-O3", path, "-o", "-"]);
  if (status !== 0) throw new Failure(`wasm2js failed: ${output.slice(0, 2000)}`);
  let text = output.replace(/^import .*\n/gm, "");
  text = replace(
    text,
    /function __wasm_memory_grow\([\s\S]*?var newHEAP8 = .*\n\s*newHEAP8\.set\(HEAP8\);/,
    GROW,
  );
  text = replace(text, /bufferView = HEAPU8;\s*\}\s*return oldPages;/, "bufferView = HEAPU8;");
  text = replace(
    text,
    /var retasmFunc = [\s\S]*$/,
    `export default (imports) =>
  asmFunc(Object.assign({ abort() { throw new Error("aborted"); } }, ...Object.values(imports)));`,
  );
  // Not before setup has installed it.
  const { minify } = await import("vite");
  const { code, errors } = await minify("twin.mjs", text, {
    module: true,
    compress: true,
    mangle: { toplevel: true },
  });
  if (errors.length > 0) throw new Failure(`the twin is no JavaScript: ${errors[0].message}`);
  return code;
}
