// Completes build/package/, the npm package: what it exports, its types, and the texts beside it.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeBundled, writeLicences } from "./licences.mjs";
import { ROOT } from "./run.mjs";

const PACKAGE = join(ROOT, "build/package");

/** The file of this folder whose name is `name` with a hash of its content before its ending. */
function hashed(name) {
  const [stem, ending] = name.split(/(?=\.\w+$)/);
  const found = readdirSync(PACKAGE).find((file) => file.startsWith(`${stem}-`) && file.endsWith(ending));
  if (!found) throw new Error(`build/package holds no ${name}`);
  return `./${found}`;
}

function manifest() {
  const { name, version, description, license } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  const elements = { types: "./posenc.d.ts", default: "./posenc.js" };
  const inline = { types: "./posenc.d.ts", default: "./posenc.inline.js" };
  const widget = { types: "./widget.d.ts", default: "./widget.mjs" };
  const exports = {
    ".": { types: "./core.d.ts", default: "./core.js" },
    "./train": { types: "./train.d.ts", default: "./train.js" },
    "./elements": elements,
    "./posenc.js": elements,
    "./posenc.inline.js": inline,
    "./figures/*": { types: "./posenc.d.ts", default: "./figures/*" },
    "./embed.js": "./embed.js",
    "./widget": widget,
    "./widget.mjs": widget,
    "./posenc-simd.wasm": hashed("posenc-simd.wasm"),
    "./posenc-scalar.wasm": hashed("posenc-scalar.wasm"),
    "./custom-elements.json": "./custom-elements.json",
    "./posenc-train-simd.wasm": hashed("posenc-train-simd.wasm"),
    "./posenc-train-scalar.wasm": hashed("posenc-train-scalar.wasm"),
    "./integrity.json": "./integrity.json",
    "./package.json": "./package.json",
  };
  return {
    name,
    version,
    description,
    license,
    type: "module",
    engines: { node: ">=20.16" }, // has process.getBuiltinModule
    exports,
    bin: { posenc: "./cli.js" },
    types: "./core.d.ts",
    unpkg: "./posenc.inline.js",
    jsdelivr: "./posenc.inline.js",
    customElements: "./custom-elements.json",
    sideEffects: [
      "./posenc.js",
      "./posenc.inline.js",
      "./embed.js",
      "./widget.mjs",
      "./figures/*",
      "./chunks/*",
    ],
  };
}

function elementTypes() {
  const figures = readdirSync(join(PACKAGE, "figures")).map((file) => file.replace(/\.js$/, ""));
  const tags = figures.map((tag) => `    "${tag}": PosencFigure;`).join("\n");
  const types = readFileSync(join(ROOT, "web/elements-types.d.ts"), "utf8").replace(/^\/\/.*\n/, "");
  return `${types}
declare global {
  interface HTMLElementTagNameMap {
${tags}
  }
}
`;
}

/** Says again, since minifiers take comments away, that the twins are no business of the bundler that finds this. */
function markTwins() {
  for (const name of readdirSync(PACKAGE, { recursive: true }).filter((file) => /\.m?js$/.test(file))) {
    const path = join(PACKAGE, name);
    const text = readFileSync(path, "utf8");
    const marked = text.replace(
      /\bimport\((?=\s*new URL\([^;]{0,60}posenc-(train-)?twin)/g,
      "import(/* webpackIgnore: true */",
    );
    if (marked !== text) writeFileSync(path, marked);
  }
}

/** For each script and WebAssembly file: what the integrity attribute of who loads it may say. */
function integrity() {
  const files = readdirSync(PACKAGE, { recursive: true }).filter((name) => /\.(m?js|wasm)$/.test(name));
  const hash = (name) =>
    createHash("sha384")
      .update(readFileSync(join(PACKAGE, name)))
      .digest("base64");
  return Object.fromEntries(files.sort().map((name) => [name, `sha384-${hash(name)}`]));
}

/** Returns the npm packages whose code it holds. */
export function writePackage() {
  renameSync(join(PACKAGE, "posenc.d.ts"), join(PACKAGE, "core.d.ts"));
  writeFileSync(join(PACKAGE, "posenc.d.ts"), elementTypes());
  copyFileSync(join(ROOT, "web/widget-types.d.ts"), join(PACKAGE, "widget.d.ts"));
  writeFileSync(join(PACKAGE, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  for (const name of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(ROOT, name), join(PACKAGE, name));
  // whose picture stays in the repository
  const readme = readFileSync(join(ROOT, "README.md"), "utf8").replace(/^!\[.*\n\n/m, "");
  writeFileSync(join(PACKAGE, "README.md"), readme);
  markTwins();
  const bundled = takeBundled(PACKAGE);
  writeLicences(PACKAGE, bundled);
  writeFileSync(join(PACKAGE, "integrity.json"), `${JSON.stringify(integrity(), null, 2)}\n`);
  return bundled;
}
