// Spelling, British. Every word of the pages and of the Markdown at the top is in the dictionary or in words.txt, and
// code and comments hold none of the misspellings that people make most.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/run.mjs";

const read = (path) => readFileSync(join(ROOT, path), "utf8");
const markdown = (text) =>
  text
    .replace(/```[\s\S]*?```|^ {4}.*$/gm, " ")
    .replace(/`[^`]*`/g, " ")
    .replace(/\]\([^)]*\)/g, "]");
const page = (text) =>
  text
    .replace(/<(script|style|pre|code|math|svg)\b[\s\S]*?<\/\1>/g, " ")
    .replace(/<[^>]+>/g, " ")
    .replace(/&[a-z#0-9]+;/g, " ");

const TEXTS = {
  "README.md": markdown,
  "CHANGELOG.md": markdown,
  "RELIABILITY.md": markdown,
  "dist/index.html": page,
  "dist/teachers.html": page,
  "dist/gallery.html": page,
};

/** Words that the dictionary has not; names with digits are none. */
function unknown(text) {
  const input = text.replaceAll("’", "'").replaceAll(/'s\b/g, "");
  const asked = spawnSync("hunspell", ["-l", "-d", "en_GB", "-i", "utf-8"], { input, encoding: "utf8" });
  assert.equal(asked.status, 0, asked.stderr);
  return new Set(asked.stdout.split("\n").filter((word) => /^\p{L}{2,}$/u.test(word)));
}

const known = new Set(read("tests/node/words.txt").trim().split("\n"));

for (const [path, plain] of Object.entries(TEXTS)) {
  test(`${path} is spelt as the dictionary and words.txt have it`, () => {
    assert.deepEqual(
      [...unknown(plain(read(path)))].filter((word) => !known.has(word)),
      [],
    );
  });
}

test("words.txt names no word that nothing uses or that the dictionary has, and is in order", () => {
  const used = unknown(
    Object.entries(TEXTS)
      .map(([path, plain]) => plain(read(path)))
      .join("\n"),
  );
  assert.deepEqual(
    [...known].filter((word) => !used.has(word)),
    [],
  );
  assert.deepEqual([...known], [...known].sort());
});

test("a misspelt word is found", () => {
  assert.deepEqual([...unknown(page("<p>The wavelenght of a pair</p>"))], ["wavelenght"]);
});

test("code and comments hold no common misspelling", () => {
  const folders = ["cpp", "web", "scripts", "tests", "BENCHMARKS.md"];
  const skip =
    "web/wasm,tests/golden,tests/fuzz/seeds.txt,tests/node/spelling.test.mjs,node_modules,package-lock.json,*.png";
  // parts of names by letter case; and a derivative, a person, many an entry, one that is wrong on purpose
  const words = ["-r", "[A-Z]?[a-z'’]{3,}", "-L", "dout,bloc,entrys,modle,fro,thw"];
  const asked = spawnSync("codespell", [...folders, "--skip", skip, ...words], {
    cwd: ROOT,
    encoding: "utf8",
  });
  assert.equal(asked.stdout + asked.stderr, "");
  assert.equal(asked.status, 0);
});
