// What is handed out, whose it is, and that it is what was built: licences, hashes, and no one watched.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/run.mjs";

const read = (path) => readFileSync(join(ROOT, path), "utf8");
const filesIn = (folder, ending) =>
  readdirSync(join(ROOT, folder), { recursive: true }).filter((name) => ending.test(name));
const RUNTIME = ["lit", "d3-array"];

test("LICENCES.txt says whose work is in the files, in full", () => {
  for (const path of ["dist/LICENCES.txt", "build/package/LICENCES.txt"]) {
    const parts = read(path).split(/\n-{100}\n/);
    const heads = parts.map((part) =>
      part
        .trim()
        .split("\n")[0]
        .replace(/ \d+\.\d+\.\d+/, ""),
    );
    assert.deepEqual(heads, [
      "posenc · MIT",
      "@lit/reactive-element · BSD-3-Clause",
      "d3-array · ISC",
      "lit · BSD-3-Clause",
      "lit-element · BSD-3-Clause",
      "lit-html · BSD-3-Clause",
      "Emscripten · MIT",
      "musl (of Emscripten) · MIT",
      "LLVM: libc++, compiler-rt (of Emscripten) · Apache-2.0 WITH LLVM-exception",
      "ColorBrewer: the colours RdBu · Apache-2.0",
      "Fonts: source-serif-4, cut down to what is used · OFL-1.1",
      "Fonts: stix-two-math, cut down to what is used · OFL-1.1",
      "The Apache License · Apache-2.0",
    ]);
    for (const part of parts) assert.match(part, /Copyright|Licensor/);
  }
});

test("what runs in a page is of the packages that the README names with their reasons, and what those are made of", () => {
  const bundled = [...read("dist/LICENCES.txt").matchAll(/^(\S+) \d+\.\d+\.\d+ · /gm)].map(
    ([, name]) => name,
  );
  const parts = RUNTIME.flatMap((name) => [
    name,
    ...Object.keys(JSON.parse(read(`node_modules/${name}/package.json`)).dependencies ?? {}),
  ]);
  assert.deepEqual(
    bundled.filter((name) => !parts.includes(name)),
    [],
  );
  const [, named] = read("README.md").match(/^At run time: (.*)\. To build/m);
  assert.equal(named.toLowerCase(), "lit (elements), d3-array (round ticks)");
});

test("integrity.json has the hash of each script and WebAssembly file that other pages load", () => {
  const hashes = JSON.parse(read("dist/integrity.json"));
  const files = filesIn("build/package", /\.(m?js|wasm)$/);
  assert.deepEqual(Object.keys(hashes), files.sort());
  for (const name of files) {
    const bytes = readFileSync(join(ROOT, "build/package", name));
    assert.equal(hashes[name], `sha384-${createHash("sha384").update(bytes).digest("base64")}`, name);
  }
});

test("npm runs no script of a package, and takes each as the lock file has it", () => {
  assert.match(read(".npmrc"), /^ignore-scripts=true$/m);
  const { packages } = JSON.parse(read("package-lock.json"));
  for (const [path, { version, integrity, resolved }] of Object.entries(packages)) {
    if (path === "") continue;
    assert.match(`${integrity}`, /^sha512-/, path);
    assert.ok(version && !resolved, path);
  }
  const { dependencies, devDependencies } = JSON.parse(read("package.json"));
  assert.equal(dependencies, undefined);
  for (const [name, version] of Object.entries(devDependencies))
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test("no script sets a cookie, or asks what would tell one reader from another", () => {
  const watching =
    /document\.cookie|cookieStore|sendBeacon|navigator\.(plugins|userAgent\b|hardwareConcurrency|deviceMemory|getBattery|connection)|RTCPeerConnection|AudioContext/;
  const scripts = filesIn("dist", /\.(m?js|html)$/);
  assert.ok(scripts.length > 40);
  for (const name of scripts) assert.equal(read(join("dist", name)).match(watching)?.[0], undefined, name);
});
