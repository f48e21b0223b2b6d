// Every number and every checkable statement of the lesson's prose is bound to what makes it true. A claim quotes the
// prose (`says`) and either computes it anew (`check`), or names where it comes from (`cites`), or says what it sets
// (`defines`). A numeral that stands in no quote fails.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadPosenc } from "../../build/package/core.js";
import { numeralsOf } from "./prose.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const lesson = fileURLToPath(new URL("../../web/lesson/", import.meta.url));
const named = (folder, pattern) =>
  readdirSync(folder)
    .filter((name) => pattern.test(name))
    .map((name) => name.replace(/\.\w+$/, ""))
    .sort();

const posenc = await loadPosenc();
const names = named(lesson, /^\d\d-.*\.md$/);
const sections = names.map((name) => ({
  name,
  markdown: readFileSync(`${lesson}${name}.md`, "utf8").replaceAll("\r\n", "\n"),
}));
const numbers = new Map(
  sections.map(({ name, markdown }) => [/^id: (.*)$/m.exec(markdown)?.[1], Number(name.slice(0, 2))]),
);

/** What is wrong with the place of a quote: nothing, if it stands in the section once. */
function misplaced(quote, markdown) {
  const place = markdown.indexOf(quote);
  if (place === -1) return [`no longer there: ${quote}\n  nearest line: ${nearest(quote, markdown)}`];
  return markdown.indexOf(quote, place + 1) === -1 ? [] : [`there more than once: ${quote}`];
}

/** The line that shares the longest part of the quote, counted from its beginning. */
function nearest(quote, markdown) {
  for (let length = quote.length; length > 7; --length) {
    const place = markdown.indexOf(quote.slice(0, length));
    if (place !== -1) return markdown.slice(place).split("\n")[0];
  }
  return "none";
}

/** Numerals outside every quote, as "name.md:line: numeral". */
function unbound({ name, markdown }, claims) {
  const spans = claims
    .map(({ says }) => [markdown.indexOf(says), says.length])
    .filter(([start]) => start >= 0)
    .map(([start, length]) => [start, start + length]);
  return numeralsOf(markdown, numbers)
    .filter(({ index, text }) => !spans.some(([start, end]) => start <= index && index + text.length <= end))
    .map(({ line, text }) => `${name}.md:${line}: ${text}`);
}

test("each section has its claims", () => assert.deepEqual(named(here, /^\d\d-.*\.mjs$/), names));

for (const section of sections) {
  const { default: claims } = await import(`./${section.name}.mjs`);

  test(`${section.name}: every quote stands in the section, once`, () => {
    const found = claims.flatMap(({ says }) => misplaced(says, section.markdown));
    assert.ok(found.length === 0, found.join("\n"));
  });

  test(`${section.name}: every claim computes, cites or defines`, () => {
    for (const claim of claims) {
      const { says, ...kind } = claim;
      const [[name, value] = [], ...more] = Object.entries(kind);
      assert.ok(["check", "cites", "defines"].includes(name) && more.length === 0, says);
      assert.equal(typeof value, name === "check" ? "function" : "string", says);
    }
  });

  test(`${section.name}: every numeral is bound`, () => {
    const found = unbound(section, claims);
    assert.ok(found.length === 0, `no claim quotes\n${found.join("\n")}`);
  });

  test(`${section.name}: a new number is noticed`, () => {
    const markdown = `${section.markdown}\nThere are 4711 ways and seventeen more.\n`;
    const found = unbound({ ...section, markdown }, claims).map((line) => line.split(": ")[1]);
    assert.deepEqual(found.slice(-2), ["4711", "seventeen"]);
  });

  for (const { says, check } of claims) {
    if (check) test(`${section.name}: “${says}”`, () => check(posenc));
  }
}

test("names, placeholders, listings and link targets hold no numerals; text and formulas do", () => {
  const markdown = [
    "---\nid: x\ntitle: 99 things\n---",
    "T5, bf16 and GPT-2 turn {{turns_7}} times, 1 000 of 3, `rotary_dim/2`, $2^{13}$, half a turn.",
    "[section 4](#clocks), [five (Su et al., 2021)](https://arxiv.org/abs/2104.09864), [9](#clocks)",
    "```python\nx = 12\n```\n```text\n34\n```\n::figure pe-clocks count=5",
  ].join("\n");
  const found = numeralsOf(markdown, new Map([["clocks", 4]]));
  assert.deepEqual(
    found.map(({ line, text }) => `${line}: ${text}`),
    ["5: 1 000", "5: 3", "5: 2", "5: 2", "5: 13", "5: half", "6: five", "6: 9", "11: 34"],
  );
});
