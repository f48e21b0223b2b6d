// The built page, as a reader without script and a strict server would see it. Needs dist/ (npm run build).

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { FileSystemConfigLoader, HtmlValidate } from "html-validate";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const dist = join(root, "dist");
const pageOf = (name) => {
  const html = readFileSync(join(dist, name), "utf8");
  return {
    name,
    html,
    all: (pattern, group = 1) => [...html.matchAll(pattern)].map((match) => match[group]),
  };
};
const lesson = pageOf("index.html");
const pages = [lesson, pageOf("teachers.html"), pageOf("gallery.html")];
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

test("the introduction and all twenty sections stand in order, each with its number and title", () => {
  const sources = readdirSync(join(root, "web/lesson"))
    .filter((name) => /^\d\d-.*\.md$/.test(name))
    .sort()
    .map((name) => readFileSync(join(root, "web/lesson", name), "utf8"));
  const field = (name) => sources.map((text) => text.match(new RegExp(`^${name}: *(.*)$`, "m"))[1]);
  const { all } = lesson;
  assert.equal(sources.length, 21);
  assert.deepEqual(all(/<(?:header class="intro"|section) id="([^"]+)"/g), field("id"));
  assert.deepEqual(
    all(/<h2[^>]*><span class="section-number">(\d+)<\/span>/g).map(Number),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  assert.deepEqual(
    all(/<section id="[^"]+" aria-labelledby="[^"]+">\s*<h2[^>]*><span[^>]*>\d+<\/span> (.*?) <a/g),
    field("title")
      .slice(1)
      .map((title) => title.replace("'", "’")),
  );
});

test("nothing on a page needs an exception in the content security policy", () => {
  for (const { all } of pages) {
    assert.deepEqual(all(/<[^>]*\sstyle=[^>]*>/g, 0), []);
    assert.deepEqual(all(/<style\b/g, 0), []);
    assert.deepEqual(all(/<[a-z][^>]*\son[a-z]+=[^>]*>/g, 0), []);
    assert.deepEqual(all(/<script\b(?![^>]*\ssrc=)[^>]*>/g, 0), []);
    assert.deepEqual(all(/<script\b[^>]*>([^<]+)<\/script>/g), []);
  }
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /url\(["']?data:/, file);
  }
});

test("every link inside a page and to another leads somewhere, and no id is used twice", () => {
  const idsOf = new Map(pages.map(({ name, all }) => [name, all(/\sid="([^"]+)"/g)]));
  for (const { name, all } of pages) {
    const ids = idsOf.get(name);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, to, id] of all(/<a\b[^>]*\shref="(?!https?:)([^"]*)"/g).map((href) =>
      /^([^#]*)#?(.*)$/.exec(href),
    )) {
      const there = idsOf.get(to || name);
      assert.ok(there, to);
      assert.ok(id === "" || there.includes(id), `${to}#${id}`);
    }
    for (const id of all(/aria-labelledby="([^"]+)"/g).flatMap((list) => list.split(" "))) {
      assert.ok(ids.includes(id), id);
    }
  }
});

test("every file that a page or its styles name is there", () => {
  const named = pages.flatMap(({ all }) =>
    all(/<(?:script|link|img|source)\b[^>]*?\s(?:src|href)="([^"]+)"/g),
  );
  assert.ok(named.length >= 3);
  for (const path of named) assert.ok(files.includes(join(dist, path)), path);
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    for (const [, path] of readFileSync(file, "utf8").matchAll(/url\(["']?([^"')]+)/g)) {
      assert.ok(files.includes(join(dirname(file), path)), `${path} in ${file}`);
    }
  }
});

test("only links lead to another origin", () => {
  for (const { html, all } of pages) {
    const rest = html.replace(/<a\b[^>]*>/g, "").replace(/\sxmlns(:\w+)?="[^"]*"/g, "");
    assert.deepEqual(rest.match(/<[^>]*["'(](?:https?:)?\/\/[^>]*>/g) ?? [], []);
    for (const link of all(/<a\b[^>]*href="https?:[^>]*>/g, 0)) assert.match(link, /rel="noopener"/);
  }
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /(?:url\(|@import)\s*["']?(?:https?:)?\/\//, file);
  }
});

test("text and wasm files over a kilobyte that a page fetches have .br and .gz twins with the same bytes", () => {
  const savedOnce = ["offline/", "lesson.html", "LICENCES.txt"].map((name) => join(dist, name));
  const compressible = files.filter(
    (name) =>
      /\.(html|m?js|css|svg|json|txt|wasm)$/.test(name) &&
      !savedOnce.some((path) => name.startsWith(path)) &&
      readFileSync(name).length > 1024,
  );
  assert.ok(compressible.length >= 3);
  for (const file of compressible) {
    const bytes = readFileSync(file);
    assert.ok(brotliDecompressSync(readFileSync(`${file}.br`)).equals(bytes), `${file}.br`);
    assert.ok(gunzipSync(readFileSync(`${file}.gz`)).equals(bytes), `${file}.gz`);
  }
});

test("each element of a formula has as many children as its kind wants", () => {
  const wanted = { mfrac: 2, mroot: 2, msub: 2, msup: 2, msubsup: 3, munder: 2, mover: 2, munderover: 3 };
  const counted = Object.fromEntries(Object.keys(wanted).map((kind) => [kind, 0]));
  for (const { all } of pages) {
    for (const formula of all(/<math\b.*?<\/math>/gs, 0)) {
      const open = [];
      for (const [, end, kind, alone] of formula.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
        if (!end && open.length > 0) ++open.at(-1).children;
        if (!end) open.push({ kind, children: 0 });
        if (!end && !alone) continue;
        const closed = open.pop();
        assert.equal(closed.kind, kind, formula);
        if (!(kind in wanted)) continue;
        assert.equal(closed.children, wanted[kind], `${kind} in ${formula}`);
        ++counted[kind];
      }
      assert.deepEqual(open, [], formula);
    }
  }
  assert.ok(counted.msub > 100 && counted.munder > 5, JSON.stringify(counted));
});

test("the math font keeps its MATH table and stays under 50 kB", () => {
  const fonts = files.filter((name) => /math-[^/]*\.woff2$/.test(name));
  assert.equal(fonts.length, 1);
  const bytes = readFileSync(fonts[0]);
  assert.ok(bytes.length < 50_000);
  // WOFF2 names the MATH table by its place in a list of known tags; its directory follows the 48-byte header.
  const tags = [];
  let at = 48;
  for (let table = bytes.readUInt16BE(12); table > 0; table -= 1) {
    const flags = bytes[at];
    const tag = flags & 63;
    const transformed = tag === 10 || tag === 11 ? flags >> 6 !== 3 : flags >> 6 !== 0;
    at += tag === 63 ? 5 : 1;
    for (let number = 0; number < (transformed ? 2 : 1); number += 1) while (bytes[at++] & 128);
    tags.push(tag);
  }
  assert.ok(tags.includes(knownTags.indexOf("MATH")));
});

// https://www.w3.org/TR/WOFF2/#table_dir_format, in order.
const knownTags = (
  "cmap head hhea hmtx maxp name OS/2 post cvt_ fpgm glyf loca prep CFF_ VORG EBDT EBLC gasp hdmx kern LTSH PCLT " +
  "VDMX vhea vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH"
).split(" ");

test("html-validate finds nothing to complain about", async () => {
  const validator = new HtmlValidate(new FileSystemConfigLoader());
  const report = await validator.validateMultipleFiles(pages.map(({ name }) => join(dist, name)));
  const said = report.results.flatMap(({ messages }) =>
    messages.map(({ line, column, message, ruleId }) => `${line}:${column} ${message} (${ruleId})`),
  );
  assert.deepEqual(said, []);
});
