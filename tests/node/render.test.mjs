// Sections to HTML: what a writer may write, and what each mistake says.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const lesson = join(dirname(fileURLToPath(import.meta.url)), "../../web/lesson");
const load = async (name) =>
  (await runnerImport(join(lesson, name), { configFile: false, logLevel: "warn" })).module;
const { renderLesson } = await load("render.ts");
const { parsePage, parseSection } = await load("section.ts");
const { groupDigits } = await load("values.ts");

const section = (markdown, name = "01-a.md") =>
  parseSection(name, `---\nid: a\ntitle: It's A\nshort: A\n---\n\n${markdown}`);
const render = (markdown, { numbers = {}, tables = {}, ...rest } = {}) =>
  renderLesson([section(markdown)], { opening: "", numbers, tables, ...rest });
const article = async (markdown, content) => (await render(markdown, content)).article;

test("every mistake is reported at once, with its file and line", async () => {
  const markdown = [
    "{{unknown}} and [nowhere](#nowhere)",
    "",
    "::figure pe-nothing",
    "",
    "::figure pe-rope =3",
    "",
    "::table nothing",
    "",
    "::diagram nothing",
    "",
    "::nothing",
    "",
    "$\\frac{1$",
    "",
    "[file](other.html)",
    "",
    "```cobol",
    "```",
  ].join("\n");
  const content = { numbers: { spare: "1" }, tables: { idle: { caption: "", head: [], rows: [] } } };
  const message = await render(markdown, content).then(
    () => assert.fail("rendered"),
    (error) => error.message,
  );
  for (const said of [
    '01-a.md:7: unknown number "{{unknown}}"',
    '01-a.md:7: no section or heading "#nowhere"',
    '01-a.md:9: unknown figure "pe-nothing"',
    '01-a.md:11: cannot read "=3" as attributes of pe-rope',
    '01-a.md:13: unknown table "nothing"',
    '01-a.md:15: unknown diagram "nothing"',
    '01-a.md:17: unknown directive "::nothing"',
    '01-a.md:21: link "other.html" is neither #id nor http(s)',
    '01-a.md:23: no grammar for "cobol"',
    'numbers.ts: "spare" is not used in any section',
    'tables.ts: "idle" is not used in any section',
  ]) {
    assert.ok(message.includes(said), `${said}\nis not in\n${message}`);
  }
  assert.match(message, /01-a\.md:19: .*frac/i);
});

test("a section without front matter, or with a field missing, is refused", () => {
  assert.throws(() => parseSection("01-a.md", "# A"), /01-a\.md:1: front matter/);
  assert.throws(() => parseSection("01-a.md", "---\nid: a\n---\n"), /lacks "title"/);
  assert.throws(() => parseSection("a.md", ""), /NN-name\.md/);
});

test("two headings of one name are refused, since one link cannot lead to both", async () => {
  await assert.rejects(
    render("## Same\n\n## Same"),
    /01-a\.md:9: the id "a-same" is already that of 01-a\.md:7/,
  );
});

test("digits are grouped by thin spaces from five on, in prose and formulas, and never in code", async () => {
  assert.equal(groupDigits(9647), "9647");
  assert.equal(groupDigits("-60611.5"), "−60\u202f611.5");
  assert.equal(groupDigits("falcon-40B"), "falcon-40B");
  const html = await article("{{many}} $x = {{many}}$\n\n```text\n{{many}}\n```", {
    numbers: { many: "60611" },
  });
  assert.match(html, /<p>60\u202f611 /);
  assert.match(html, /<mn>60\u202f611<\/mn>/);
  assert.match(html, /<code>60611<\/code>/);
});

test("symbols of a formula carry the class of their colour, and no style attribute is left", async () => {
  const { article: html, css } = await render(
    "$$\\q{q}\\k{k}\\pos{p}\\dims{i} = \\begin{bmatrix} 1 & 2 \\end{bmatrix}$$",
  );
  for (const name of ["q", "k", "pos", "dim"]) assert.match(html, new RegExp(`class="sym-${name}"`));
  assert.doesNotMatch(html, /style=/);
  assert.match(css, /\.m0 \{/);
});

test("a displayed formula is split where \\qquad sets its parts apart, but not inside braces", async () => {
  const parts = (await article("$$a = b, \\qquad \\text{if } c = {d \\qquad e}$$")).match(/<math/g);
  assert.equal(parts.length, 2);
});

test("money is not a formula", async () => {
  assert.doesNotMatch(await article("It costs $5 or $6, and $ is a sign."), /<math/);
});

test("in a table of the text, the first cell of a row heads it, and an empty cell heads nothing", async () => {
  const html = await article("| | One |\n|---|---|\n| A | 1 |\n| | 2 |");
  const cells = [...html.matchAll(/<(t[hd][^>]*)>([^<]*)<\/(t[hd])>/g)].map(([, open, text, close]) => [
    open,
    text,
    close,
  ]);
  assert.deepEqual(cells, [
    ["td", "", "td"],
    ['th scope="col"', "One", "th"],
    ['th scope="row"', "A", "th"],
    ["td", "1", "td"],
    ["td", "", "td"],
    ["td", "2", "td"],
  ]);
});

test("numbers stand to the right in a computed table, and its first column of words heads the rows", async () => {
  const html = await article("::table t", {
    tables: {
      t: {
        caption: "Costs",
        head: ["Method", "$n$"],
        rows: [
          ["RoPE", 12345],
          ["T5", "−2.5"],
        ],
      },
    },
  });
  assert.match(html, /<th scope="row">RoPE<\/th><td class="number">12\u202f345<\/td>/);
  assert.match(html, /<th scope="col" class="number"><span class="visually-hidden">n<\/span>/);
});

test("a question opens on demand, an erratum is a note, a figure has a sentence for readers without script", async () => {
  const html = await article(
    ":::question Why *not*?\nBecause.\n:::\n\n:::erratum\nWrong.\n:::\n\n::figure pe-rope head-dim=8",
  );
  assert.match(html, /<details class="question"><summary>Why <em>not<\/em>\?<\/summary><div>\s*<p>Because/);
  assert.match(html, /<aside class="erratum" role="note" aria-label="Correction">\s*<p>Wrong/);
  assert.match(html, /<figure class="wide"><pe-rope head-dim="8"><p>[^<]+<\/p><\/pe-rope><\/figure>/);
});

test("HTML in a section is text", async () => {
  assert.match(await article('<b onclick="x()">'), /&lt;b onclick=/);
});

const ask = (id, body = "- [x] Yes\n\n  So it is.\n- [ ] No\n\n  It is not.") =>
  `:::predict ${id} Is it?\n${body}\n:::\n\n`;

test("a prediction can be read without script: question, options, answers on demand", async () => {
  const html = await article(
    ":::predict p-1 Is *it* $\\pos{p}$?\n- [ ] No {{many}}\n\n  See [here](#a).\n- [x] Yes\n\n  One.\n\n  Two.\n:::",
    { numbers: { many: "12345" } },
  );
  assert.match(html, /<pe-question class="predict" question="p-1">\s*<p class="label">Predict<\/p>/);
  assert.match(html, /<p class="ask">Is <em>it<\/em> <span class="no-break"><math/);
  assert.match(html, /<ul class="options">\s*<li>No 12\u202f345<\/li>\s*<li>Yes<\/li>\s*<\/ul>/);
  assert.match(
    html,
    /<details class="answers"><summary>Answer<\/summary><dl>\s*<div><dt>No 12\u202f345<\/dt>/,
  );
  assert.match(html, /<dd>See <a href="#a">here<\/a>\.<\/dd>/);
  assert.match(html, /<div data-right=""><dt>Yes <span class="mark">right<\/span><\/dt><dd><p>One/);
});

test("every mistake in a question is reported with its file and line", async () => {
  const markdown = [
    ask("none", "").trimEnd(),
    ask("two", "- [x] A\n\n  a\n- [x] B\n\n  b"),
    ask("zero", "- [ ] A\n\n  a"),
    ask("dumb", "- [x] A\n- [ ] B\n\n  b"),
    ask("boxless", "- A\n\n  a\n- [x] B\n\n  b"),
    ask("prose", "Think.\n\n- [x] B\n\n  b"),
    ask("twice"),
    ask("twice"),
    ":::predict\n- [x] A\n\n  a\n:::",
    "\n\n:::predict far [Where](#nowhere)?\n- [x] A\n\n  [there](#neither)\n:::",
  ].join("\n");
  const lines = section(markdown).markdown.split("\n");
  const at = (text, from = 0) => lines.indexOf(text, from) + 1 + section(markdown).offset;
  const message = await render(markdown).then(
    () => assert.fail("rendered"),
    (error) => error.message,
  );
  const twice = at(":::predict twice Is it?");
  for (const said of [
    `01-a.md:${at(":::predict none Is it?")}: "none" has no option`,
    `01-a.md:${at(":::predict two Is it?")}: "two" has 2 right options: it needs exactly one`,
    `01-a.md:${at(":::predict zero Is it?")}: "zero" has 0 right options: it needs exactly one`,
    `01-a.md:${at(":::predict dumb Is it?") + 1}: "dumb" has an option without feedback`,
    `01-a.md:${at(":::predict boxless Is it?") + 1}: "boxless" has an option without [x] or [ ]`,
    `01-a.md:${at(":::predict prose Is it?") + 1}: "prose" may hold options only: - [x] or - [ ]`,
    `01-a.md:${at(":::predict twice Is it?", twice)}: the question "twice" is already asked in 01-a.md:${twice}`,
    `01-a.md:${at(":::predict")}: :::predict needs an id and a question`,
    `01-a.md:${at(":::predict far [Where](#nowhere)?")}: no section or heading "#nowhere"`,
    `01-a.md:${at("  [there](#neither)")}: no section or heading "#neither"`,
  ]) {
    assert.ok(message.includes(said), `${said}\nis not in\n${message}`);
  }
});

const page = (markdown, name = "q.md") => parsePage(name, `---\nid: q\ntitle: Q\n---\n\n${markdown}`);

test("the quiz names the section of each question, and may not hold anything else", async () => {
  const quiz = (text) => page(text.replaceAll(":::predict", ":::quiz"));
  const html = await article("::quiz", { quiz: quiz(`# a\n\n${ask("one")}`) });
  assert.match(html, /<pe-quiz>\s*<pe-question class="quiz" question="one">/);
  assert.match(html, /<p class="label"><a href="#a"><span class="section-number">1<\/span> A<\/a><\/p>/);
  await assert.rejects(render("::quiz"), /01-a\.md:7: there is no quiz to place/);
  await assert.rejects(render("::quiz", { quiz: quiz("# b") }), /q\.md:6: no section has the id "b"/);
  await assert.rejects(
    render("::quiz", { quiz: quiz(ask("one")) }),
    /q\.md:6: .* below `# id` of its section/,
  );
  await assert.rejects(render("::quiz", { quiz: quiz("# a\n\nText") }), /q\.md:8: the quiz holds/);
  await assert.rejects(
    render(`${ask("one")}\n::quiz`, { quiz: quiz(`# a\n\n${ask("one")}`) }),
    /q\.md:8: the question "one" is already asked in 01-a\.md:7/,
  );
});

test("a page beside the lesson has parts of its own and links into the lesson", async () => {
  const beside = page("Begin [here](#a) or [there](#q-part).\n\n## Part\n\nText\n\n### Piece\n", "beside.md");
  const { article: lesson, pages } = await render("[beside](beside.html)", {
    pages: { "beside.html": beside },
  });
  assert.match(lesson, /<a href="beside\.html">beside<\/a>/);
  const { article: html, sectionList } = pages["beside.html"];
  assert.match(html, /<header class="intro" id="q">\s*<h1>Q<\/h1>\s*<p>Begin <a href="index\.html#a">/);
  assert.match(html, /<a href="#q-part">there<\/a>/);
  assert.match(
    html,
    /<section id="q-part" aria-labelledby="q-part-title">\s*<h2 id="q-part-title">Part<\/h2>/,
  );
  assert.match(html, /<h3 id="q-piece">Piece<\/h3>/);
  assert.equal(sectionList, '<li><a href="#q-part">Part</a></li>');
});
