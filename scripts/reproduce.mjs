// Builds the sources once more, in another folder and from nothing, and tells which files differ from those built here.
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ROOT, run } from "./run.mjs";

const MADE = /^(build|dist|node_modules|web\/wasm|tests\/bench\/node_modules|\.git)(\/|$)/;
const PRODUCTS = ["dist", "build/package"];

/** SHA-256 by path of all that a build hands out. */
function products(root) {
  const files = PRODUCTS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  ).filter((name) => statSync(join(root, name)).isFile());
  const hash = (name) =>
    createHash("sha256")
      .update(readFileSync(join(root, name)))
      .digest("hex");
  return new Map(files.map((name) => [name, hash(name)]));
}

/** The paths of files that only one of the two builds has, or that differ. */
export async function differences() {
  const folder = mkdtempSync(join(tmpdir(), "posenc-again-"));
  try {
    cpSync(ROOT, folder, { recursive: true, filter: (path) => !MADE.test(relative(ROOT, path)) });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    await run(process.execPath, [join(folder, "scripts/build.mjs")]);
    const [here, there] = [products(ROOT), products(folder)];
    const names = [...new Set([...here.keys(), ...there.keys()])];
    return { count: here.size, differing: names.filter((name) => here.get(name) !== there.get(name)).sort() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
