// Builds the lesson: C++ to WebAssembly (twice, with SIMD and without), then the element library and the page.
//   node scripts/build.mjs [core|site|all]
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emscriptenEnv, findEmscripten } from "./emscripten.mjs";
import { bin, Failure, main, ROOT, run, step } from "./run.mjs";

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

/** web/wasm/: one glue module for both WebAssembly modules. */
export async function buildCore() {
  const folder = (variant) => join(ROOT, "build", `wasm-${variant}`);
  const output = join(ROOT, "web/wasm");
  for (const variant of ["simd", "scalar"]) await compile(`wasm-${variant}`, ["posenc_module"]);

  const [glue, scalarGlue] = ["simd", "scalar"].map((variant) =>
    readFileSync(join(folder(variant), "posenc.mjs")),
  );
  if (!glue.equals(scalarGlue)) throw new Failure("posenc.mjs differs between wasm-simd and wasm-scalar");
  const evaluates = glue.toString().match(/new Function|\beval\(/);
  if (evaluates)
    throw new Failure(`posenc.mjs contains "${evaluates[0]}", which the page's security policy forbids`);

  mkdirSync(output, { recursive: true });
  writeIfChanged(join(output, "posenc.mjs"), glue);
  for (const variant of ["simd", "scalar"])
    writeIfChanged(
      join(output, `posenc-${variant}.wasm`),
      readFileSync(join(folder(variant), "posenc.wasm")),
    );
}

/** What the site is made from: path, size and time of each file. */
function siteInputs() {
  const sources = readdirSync(join(ROOT, "web"), { recursive: true }).map((name) => join("web", name));
  const files = [...sources, "vite.config.ts", "tsconfig.json", "tsconfig.lib.json", "package-lock.json"];
  return files
    .map((name) => [name, statSync(join(ROOT, name))])
    .filter(([, stat]) => stat.isFile())
    .map(([name, { size, mtimeMs }]) => `${name} ${size} ${mtimeMs}`)
    .sort()
    .join("\n");
}

/** dist/ and build/lib/, from web/; nothing to do if nothing there has changed since the last time. */
export async function buildSite() {
  const stamp = join(ROOT, "build/site.txt");
  const products = ["dist/index.html", "build/lib/posenc.js", "build/lib/posenc.d.ts"];
  const made = products.every((path) => existsSync(join(ROOT, path))) && existsSync(stamp);
  if (made && readFileSync(stamp, "utf8") === siteInputs()) return;
  rmSync(stamp, { force: true });
  await step("build: library", async () => {
    await run(bin("vite"), ["build", "--mode", "lib"]);
    await run(bin("tsc"), ["-p", "tsconfig.lib.json"]);
  });
  await step("build: page", () => run(bin("vite"), ["build"]));
  writeFileSync(stamp, siteInputs());
}

export async function build(part = "all") {
  if (!["core", "site", "all"].includes(part))
    throw new Failure(`"${part}" is not a part: core, site or all`);
  if (part !== "site") await buildCore();
  if (part !== "core") await buildSite();
}

await main(import.meta.url, ([part]) => build(part));
