// clang-tidy over the core and its tests, two files at a time. The tests see the words of catch2/catch.hpp beside this
// file, and what only WebAssembly compiles is read as clang for that target does.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { findEmscripten } from "../../scripts/emscripten.mjs";
import { attempt } from "../../scripts/run.mjs";

const NATIVE = ["-std=c++20", "-Icpp", "-Itests/tidy", '-DPOSENC_GOLDEN=""', '-DPOSENC_SEEDS=""'];

/** Emscripten's own headers: of Debian's package, or of an emsdk. */
function wasm() {
  const { root } = findEmscripten();
  const sysroot = [join(root, "cache/sysroot")].find(existsSync) ?? join(root, "system");
  const include = join(sysroot, "include");
  return [
    ...[
      "-std=c++20",
      "-Icpp",
      "--target=wasm32-unknown-emscripten",
      `--sysroot=${sysroot}`,
      "-D__EMSCRIPTEN__",
    ],
    ...["-DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0", "-DPOSENC_OWN_TYPES", "-fno-exceptions", "-fno-rtti"],
    ...["-isystem", join(include, "c++/v1"), "-isystem", join(include, "compat"), "-isystem", include],
  ];
}

/** { status, output } of all `files`; the output names each finding once. */
export async function tidy(files) {
  const waiting = [...files].filter((file) => basename(file) !== "main.cpp"); // Catch2's own code
  const findings = new Set();
  const worker = async () => {
    while (waiting.length > 0) {
      const file = waiting.shift();
      const flags = /bindings\.cpp$/.test(file) ? wasm() : NATIVE;
      const { status, output } = await attempt("clang-tidy-14", [
        "--quiet",
        file,
        "--",
        "-Wno-psabi",
        ...flags,
      ]);
      if (status !== 0) findings.add(output.replace(/^\d+ warnings? .*\n/gm, ""));
    }
  };
  await Promise.all([worker(), worker()]);
  return { status: findings.size > 0 ? 1 : 0, output: [...findings].join("") };
}
