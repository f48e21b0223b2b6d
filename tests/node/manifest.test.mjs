// custom-elements.json against the sources that it is made from, read in another way, and the format's own schema.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import ts from "typescript";
import { manifest } from "../../scripts/manifest.mjs";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const schema = createRequire(import.meta.url)("custom-elements-manifest/schema.json");
const read = (path) => readFileSync(join(web, path), "utf8");

const made = await manifest();
const elements = made.modules.map(({ path, declarations: [element] }) => ({ path, ...element }));
const element = (tag) => elements.find(({ tagName }) => tagName === tag);
const attribute = (tag, wanted) => element(tag).attributes.find(({ name }) => name === wanted);
const own = ({ attributes = [] }) => attributes.filter(({ inheritedFrom }) => !inheritedFrom);

/** The figures' tables of fields as they are written: { name: { kind, fallback, … } }, each value as source text. */
function written(path) {
  const file = ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022, true);
  const bare = (node) => (ts.isAsExpression(node) ? node.expression : node);
  const entries = (node) =>
    bare(node).properties.map(({ name, initializer }) => [name.text, bare(initializer)]);
  for (const statement of file.statements) {
    const [declared] = statement.declarationList?.declarations ?? [];
    if (!/^fields$/i.test(declared?.name.getText() ?? "")) continue;
    return Object.fromEntries(
      entries(declared.initializer).map(([name, field]) => [name, Object.fromEntries(entries(field))]),
    );
  }
  return {};
}

test("the manifest fits the schema of its format", () => {
  const validate = new Ajv({ strict: false }).compile(schema);
  validate(JSON.parse(JSON.stringify(made)));
  assert.deepEqual(validate.errors, null);
});

test("every file of an element is in it under the tag that it registers, and nothing else is", () => {
  const files = ["figures", "quiz"].flatMap((folder) =>
    readdirSync(join(web, folder))
      .filter((name) => name.startsWith("pe-"))
      .map((name) => [`${folder}/${name.replace(/\.ts$/, ".js")}`, name.replace(/\.ts$/, "")]),
  );
  assert.ok(files.length >= 19);
  assert.deepEqual(elements.map(({ path, tagName }) => [path, tagName]).sort(), files.sort());
  for (const { path, exports, declarations } of made.modules) {
    const [{ name, tagName }] = declarations;
    const definition = {
      kind: "custom-element-definition",
      name: tagName,
      declaration: { name, module: path },
    };
    assert.deepEqual(exports, [definition]);
  }
});

test("every attribute that is read has a line of the class comment, and every line an attribute that is read", () => {
  for (const figure of elements.filter(({ path }) => path.startsWith("figures/"))) {
    const source = read(figure.path.replace(/\.js$/, ".ts"));
    const lines = [...source.matchAll(/^ \* @attr (\S+) - \S/gm)].map(([, name]) => name);
    const fields = Object.keys(written(figure.path.replace(/\.js$/, ".ts")));
    assert.ok(fields.length > 0, figure.tagName);
    assert.deepEqual([...lines].sort(), [...fields].sort(), figure.tagName);
    assert.deepEqual(
      own(figure).map(({ name }) => name),
      lines,
      figure.tagName,
    );
  }
});

test("defaults and bounds are those that the code states", () => {
  let literals = 0;
  for (const figure of elements.filter(({ path }) => path.startsWith("figures/"))) {
    const code = written(figure.path.replace(/\.js$/, ".ts"));
    for (const { name, default: text, field } of own(figure)) {
      const { kind, fallback } = code[name];
      assert.equal(field.kind, kind.text, `${figure.tagName} ${name}`);
      const isText = ts.isStringLiteral(fallback);
      assert.equal(
        isText ? text : Number(text === "true" || text === "false" ? text === "true" : text),
        isText ? fallback.text : Number(JSON.parse(fallback.getText().replaceAll("_", ""))),
        `${figure.tagName} ${name}`,
      );
      for (const bound of ["min", "max", "maxLength"]) {
        const number = code[name][bound] && Number(code[name][bound].getText().replaceAll("_", ""));
        if (!Number.isFinite(number)) continue; // worked out from constants
        literals += 1;
        assert.equal(field[bound], number, `${figure.tagName} ${name}`);
      }
    }
  }
  assert.ok(literals > 100);
  const { type, field } = attribute("pe-alibi", "row");
  assert.deepEqual({ type: type.text, max: field.max }, { type: "number", max: 31 });
  assert.equal(attribute("pe-heatmap", "position-step").field.min, -1e6);
  assert.equal(attribute("pe-heatmap", "layout").type.text, '"interleaved" | "halves" | "halves-minus-one"');
  assert.equal(attribute("pe-heatmap", "theme").type.text, '"auto" | "light" | "dark"');
  assert.equal(attribute("pe-t5", "bidirectional").type.text, "boolean");
});

test("no comment repeats a default or a bound, which the code states", () => {
  for (const figure of elements)
    for (const { name, description } of figure.attributes ?? [])
      assert.doesNotMatch(description, /\bdefaults?\b|\d\.\.\d|\bat most \d/i, `${figure.tagName} ${name}`);
});

test("everything listed has one plain name and a sentence", () => {
  for (const figure of elements) {
    for (const list of ["attributes", "members", "events", "cssParts", "cssProperties"])
      for (const { name, description } of figure[list] ?? []) {
        assert.match(name, /^(--)?[a-zA-Z][\w-]*$/, `${figure.tagName} ${list}`);
        assert.match(description ?? "", /^\S.*\.$/, `${figure.tagName} ${name}`);
        assert.doesNotMatch(description, /@\w/, `${figure.tagName} ${name}`);
      }
    assert.match(figure.description, /[.?]$/, figure.tagName);
  }
});

test("every colour that a class comment offers is one of the palette", () => {
  const palette = new Set(read("styles/tokens.css").match(/--pe-[\w-]+(?=:)/g));
  for (const { tagName, cssProperties = [] } of elements)
    for (const { name } of cssProperties) assert.ok(palette.has(name), `${tagName} ${name}`);
});

test("of methods and properties only the public ones are told", () => {
  const offered = "getState ready reset setState toCSV toNPY toNumPy toPNG toRecord toSVG";
  for (const { tagName, members } of elements.filter(({ path }) => path.startsWith("figures/")))
    assert.equal(
      members
        .map(({ name }) => name)
        .sort()
        .join(" "),
      offered,
      tagName,
    );
  assert.deepEqual(
    element("pe-heatmap")
      .attributes.filter(({ inheritedFrom }) => inheritedFrom?.name === "PeFigure")
      .map(({ name }) => name),
    ["theme", "hide", "loading", "url-key"],
  );
});

test("a comment without a field's line, or with one too many, is refused in a sentence", async () => {
  const without = (path) =>
    path.endsWith("pe-sum.ts") ? read(path).replace(/^ \* @attr strip.*\n/m, "") : read(path);
  await assert.rejects(manifest(without), {
    message: 'web/figures/pe-sum.ts: the comment lacks a line "@attr strip - …"',
  });
  const extra = (path) =>
    path.endsWith("pe-sum.ts")
      ? read(path).replace(" * @attr strip", " * @attr stripe - No.\n$&")
      : read(path);
  await assert.rejects(manifest(extra), {
    message: 'web/figures/pe-sum.ts: the comment tells of "@attr stripe", which is no field',
  });
});
