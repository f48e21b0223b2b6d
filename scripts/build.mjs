// Builds everything: C++ to WebAssembly (twice, with SIMD and without), the npm package, the offline files, the pages.
//   node scripts/build.mjs [core|site|all]
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { emscriptenEnv, findEmscripten } from "./emscripten.mjs";
import { takeBundled, writeLicences } from "./licences.mjs";
import { writePackage } from "./package.mjs";
import { bin, Failure, main, ROOT, run, step } from "./run.mjs";
import { twinOf } from "./twin.mjs";

/** Configures a CMake preset and builds `targets` in it. Catch2 is needed only with `tests`. */
export async function compile(preset, targets, { tests = false } = {}) {
  const emscripten = preset.startsWith("wasm") ? findEmscripten() : null;
  const env = emscripten ? emscriptenEnv(emscripten) : {};
  const folder = join(ROOT, "build", preset);
  const stamp = join(folder, "emscripten-root.txt");
  // a build folder made by another Emscripten cannot be reused
  if (emscripten && existsSync(stamp) && readFileSync(stamp, "utf8") !== emscripten.root)
    rmSync(folder, { recursive: true });
  await step(`build: ${preset} (${targets.join(", ")})`, async () => {
    await run("cmake", ["--preset", preset, `-DPOSENC_TESTS=${tests ? "ON" : "OFF"}`], { env });
    if (emscripten) writeFileSync(stamp, emscripten.root);
    await run("cmake", ["--build", "--preset", preset, "-j2", "--target", ...targets], { env });
  });
}

function writeIfChanged(path, bytes) {
  if (!existsSync(path) || !readFileSync(path).equals(bytes)) writeFileSync(path, bytes);
}

/** A custom section without content, whose name tells which build the module is of. */
function mark(name) {
  const text = Buffer.from(name);
  return Buffer.from([0, text.length + 1, text.length, ...text]);
}

/** Emscripten's glue without its own ways to load a module, which ask for WebAssembly: ours are given to it. */
function anywhere(glue) {
  return glue
    .replace(/instantiateAsync\(\)\.catch\(readyPromiseReject\);\s*(?=return\s*\{\})/, "")
    .replace(
      /if\(typeof WebAssembly\s*!=\s*"object"\)\s*\{?abort\("no native wasm support detected"\);?\}?/,
      "",
    )
    .replaceAll("new WebAssembly.RuntimeError(", "new Error(");
}

/** web/wasm/: for the core and for training, one glue module for two WebAssembly modules and a twin in JavaScript. */
export async function buildCore() {
  const folder = (variant) => join(ROOT, "build", `wasm-${variant}`);
  const output = join(ROOT, "web/wasm");
  mkdirSync(output, { recursive: true });
  for (const variant of ["simd", "scalar"])
    await compile(`wasm-${variant}`, ["posenc_module", "posenc_train_module"]);

  await step("build: twins", async () => {
    for (const name of ["posenc", "posenc-train"]) {
      const [glue, scalarGlue] = ["simd", "scalar"].map((variant) =>
        readFileSync(join(folder(variant), `${name}.mjs`), "utf8"),
      );
      if (glue !== scalarGlue) throw new Failure(`${name}.mjs differs between wasm-simd and wasm-scalar`);
      const evaluates = glue.match(/new Function|\beval\(/);
      if (evaluates)
        throw new Failure(`${name}.mjs contains "${evaluates[0]}", which the page's security policy forbids`);

      const modules = ["simd", "scalar"].map((variant) =>
        readFileSync(join(folder(variant), `${name}.wasm`)),
      );
      const hash = createHash("sha256");
      for (const part of [glue, ...modules]) hash.update(part);
      const build = hash.digest("hex").slice(0, 8);
      const write = (file, bytes) => writeIfChanged(join(output, file), Buffer.from(bytes));
      write(`${name}.mjs`, `${anywhere(glue)}export const build="${build}";\n`);
      for (const [i, variant] of ["simd", "scalar"].entries())
        write(`${name}-${variant}.wasm`, Buffer.concat([modules[i], mark(build)]));
      write(`${name}-twin.js`, await twinOf(join(folder("scalar"), `${name}.wasm`), findEmscripten()));
    }
  });
}

/** What the pages and the package are made from: path, size and time of each file. */
function siteInputs() {
  const within = (folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, name));
  const files = [
    ...within("web"),
    ...within("scripts"),
    "vite.config.ts",
    "tsconfig.json",
    "tsconfig.lib.json",
  ];
  return [...files, "package.json", "package-lock.json"]
    .map((name) => [name, statSync(join(ROOT, name))])
    .filter(([, stat]) => stat.isFile())
    .map(([name, { size, mtimeMs }]) => `${name} ${size} ${mtimeMs}`)
    .sort()
    .join("\n");
}

/** build/package/, build/offline/ and dist/, from web/; nothing to do if nothing has changed since the last time. */
export async function buildSite() {
  const stamp = join(ROOT, "build/site.txt");
  const products = ["dist/index.html", "build/package/package.json"];
  const made = products.every((path) => existsSync(join(ROOT, path))) && existsSync(stamp);
  const inputs = siteInputs(); // as they are now: what changes during the build is for the next one
  if (made && readFileSync(stamp, "utf8") === inputs) return;
  rmSync(stamp, { force: true });
  for (const folder of ["build/package", "build/offline"])
    rmSync(join(ROOT, folder), { recursive: true, force: true });
  process.chdir(ROOT); // Rolldown writes paths as they are from here
  // Not before setup has installed them.
  const { build } = await import("vite");
  const { packScorm } = await import("./scorm.mjs");
  const vite = (mode) => build({ configFile: join(ROOT, "vite.config.ts"), mode, logLevel: "error" });
  let bundled;
  await step("build: package", async () => {
    for (const mode of ["core", "train", "cli", "elements", "inline", "widget", "embed"]) await vite(mode);
    await run(bin("tsc"), ["-p", "tsconfig.lib.json"]);
    await run(process.execPath, ["scripts/manifest.mjs"]);
    bundled = writePackage();
  });
  await step("build: offline files", async () => {
    const folder = join(ROOT, "build/offline");
    await vite("offline-lesson");
    renameSync(join(folder, "index.html"), join(folder, "lesson.html"));
    mkdirSync(join(folder, "offline"));
    for (const file of readdirSync(join(ROOT, "build/package/figures"))) {
      const tag = file.replace(/\.js$/, "");
      await vite(`offline-${tag}`);
      renameSync(join(folder, "embed.html"), join(folder, "offline", `${tag}.html`));
    }
  });
  await step("build: pages", async () => {
    await vite("production");
    const dist = join(ROOT, "dist");
    writeLicences(dist, [...bundled, ...takeBundled(dist)]);
    packScorm({ from: join(ROOT, "dist/lesson.html"), to: join(ROOT, "dist/posenc-scorm12.zip") });
  });
  writeFileSync(stamp, inputs);
}

export async function build(part = "all") {
  if (!["core", "site", "all"].includes(part))
    throw new Failure(`"${part}" is not a part: core, site or all`);
  if (part !== "site") await buildCore();
  if (part !== "core") await buildSite();
}

await main(import.meta.url, ([part]) => build(part));
