// The npm package as others get it: packed, installed in a project of its own, used there.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bin } from "../../scripts/run.mjs";
import { execute, scratchProject } from "../package/scratch.mjs";

const { folder, files } = await scratchProject();
after(() => rmSync(folder, { recursive: true }));
const installed = (...path) => join(folder, "node_modules/posenc", ...path);
const manifest = JSON.parse(readFileSync(installed("package.json"), "utf8"));

test("a program for Node computes, and imports the elements without a document", async () => {
  const { stdout } = await execute(process.execPath, ["node.js"], { cwd: folder });
  assert.equal(stdout, "0.0625 function function undefined\n");
});

test("nothing in the package evaluates text as code", async () => {
  const args = ["--disallow-code-generation-from-strings", "node.js"];
  await execute(process.execPath, args, { cwd: folder });
  for (const file of files.filter((name) => /\.m?js$/.test(name)))
    assert.doesNotMatch(readFileSync(installed(file), "utf8"), /new Function\(|\beval\(/, file);
});

test("the package's types describe it to a strict compiler", async () => {
  const options =
    "--noEmit --strict --target es2022 --module esnext --moduleResolution bundler --lib es2023,dom";
  const { stdout } = await execute(bin("tsc"), [...options.split(" "), "use.ts"], { cwd: folder }).catch(
    (error) => error,
  );
  assert.equal(stdout, "");
});

test("every path that the package exports or names leads to a file in it", () => {
  const leaves = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(leaves));
  const { exports, types, unpkg, jsdelivr, customElements } = manifest;
  const paths = [...leaves(exports), types, unpkg, jsdelivr, customElements];
  for (const path of paths.filter((one) => !one.includes("*"))) assert.ok(existsSync(installed(path)), path);
  assert.ok(existsSync(installed("figures/pe-rope.js")));
});

test("the package needs no other, and says its licence", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.private, undefined);
  assert.ok(files.includes("LICENSE") && files.includes("README.md"));
});
