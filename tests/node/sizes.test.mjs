// What a reader's browser has to fetch, in bytes of brotli, against the figures recorded in tests/sizes.json.
//   node tests/node/sizes.test.mjs --record   writes today's figures there
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { minifySync } from "vite";
import { ROOT } from "../../scripts/run.mjs";

const DIST = join(ROOT, "dist");
const RECORD = join(ROOT, "tests/sizes.json");
const ALLOWANCE = 1.05;
const CORE_BUDGET = 45_000;

const compressed = new Map();
function brotli(file) {
  if (!compressed.has(file))
    compressed.set(
      file,
      /\.woff2$/.test(file)
        ? readFileSync(join(DIST, file)).length
        : brotliCompressSync(readFileSync(join(DIST, file))).length,
    );
  return compressed.get(file);
}

/** What only a page without SIMD, or without WebAssembly, asks for. */
const spare = (path) => /posenc-(train-)?(scalar|twin)/.test(path);

/** The files that a module or stylesheet names, of the SIMD build; `follow` says which of them are fetched. */
function named(file, follow) {
  if (!/\.(js|css|html)$/.test(file)) return [];
  const text = readFileSync(join(DIST, file), "utf8");
  const paths = [...text.matchAll(/["'`(]((?:\.\.?\/)?[\w./-]+\.(?:js|css|wasm|woff2))["'`)]/g)].map(
    ([, path]) => join(dirname(file), path),
  );
  const files = new Set(readdirSync(DIST, { recursive: true }));
  return paths.filter((path) => files.has(path) && !spare(path) && follow(path));
}

/** Bytes of a file and of all that it leads to. */
function cost(entry, follow = () => true) {
  const seen = new Set([entry]);
  for (const file of seen) for (const path of named(file, follow)) seen.add(path);
  return [...seen].reduce((sum, file) => sum + brotli(file), 0);
}

/** The files that the service worker keeps. */
function kept() {
  const { pages, assets } = JSON.parse(
    /^const BUILD=(.*);$/m.exec(readFileSync(join(DIST, "sw.js"), "utf8"))[1],
  );
  return [...pages, ...Object.keys(assets).filter((path) => !path.includes("-twin-"))];
}

const figures = readdirSync(join(DIST, "figures"));
/** Not figures, nor what only a course or a press of "Embed this" asks for. */
const atOnce = (path) =>
  !/\/(pe-[\w-]+|connect-[\w-]+|embed-panel-[\w-]+)\.js$/.test(path) && !/\.wasm$/.test(path);
/** A build of the core with its glue, minified as Vite does it. */
function core(build) {
  const read = (name) => readFileSync(join(ROOT, "web/wasm", name));
  const glue = minifySync("posenc.mjs", read("posenc.mjs").toString()).code;
  return [read(`posenc-${build}.wasm`), glue].reduce((sum, part) => sum + brotliCompressSync(part).length, 0);
}
const cores = {
  "the core with SIMD, and its glue": core("simd"),
  "the scalar core, and its glue": core("scalar"),
};

const smallest = (costs) => Math.min(...costs);

const sizes = {
  ...cores,
  "smallest figure as an element": smallest(figures.map((file) => cost(`figures/${file}`))),
  "smallest figure in a frame": smallest(
    figures.map((file) => {
      const other = new RegExp(`/(?!${file.replace(/\.js$/, "")}-[\\w-]{8}\\.js$)pe-[\\w-]+\\.js$`);
      return cost("embed.html", (path) => !other.test(path) && !/embed-panel-/.test(path));
    }),
  ),
  "all figures as elements, posenc.js": cost("posenc.js"),
  "all figures in one file, posenc.inline.js": cost("posenc.inline.js", () => false),
  "the page before its first figure": cost("index.html", atOnce),
  "the lesson in one file, lesson.html": cost("lesson.html", () => false),
  "what one visit keeps for reading without a network": kept().reduce((sum, file) => sum + brotli(file), 0),
};

if (process.argv.includes("--record")) writeFileSync(RECORD, `${JSON.stringify(sizes, null, 2)}\n`);

const recorded = JSON.parse(readFileSync(RECORD, "utf8"));
for (const [name, size] of Object.entries(sizes))
  test(`${name}: at most 5 % above the bytes recorded`, (t) => {
    t.diagnostic(`${size} bytes, recorded ${recorded[name]}`);
    assert.ok(size <= recorded[name] * ALLOWANCE, `${size} bytes, recorded ${recorded[name]}`);
  });

for (const [name, size] of Object.entries(cores))
  test(`${name}: at most 45 kB`, () => assert.ok(size <= CORE_BUDGET, `${size} bytes`));

test("each figure recorded is measured", () => {
  assert.deepEqual(Object.keys(recorded).sort(), Object.keys(sizes).sort());
});
