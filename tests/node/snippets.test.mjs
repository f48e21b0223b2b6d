// Each snippet read back by its own language: HTML by html-validate's parser, JSX by TypeScript's compiler and React,
// JSON by the platform, addresses by embed.html's own reader. Whatever a state holds, the same attributes come back.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { HtmlValidate, Parser } from "html-validate";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ts from "typescript";
import { runnerImport } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const load = async (path) =>
  (await runnerImport(join(web, path), { configFile: false, logLevel: "warn" })).module;
const { formsOf, hosts, snippet } = await load("embed/snippets.ts");
const { readFragment, readQuery, splitHash } = await load("embed/address.ts");

const BASE = "https://your.host/posenc/";
const VERSION = "1.2.3";
const TITLE = "Turn q & k, “m” < n";
const embed = (attributes, more) => ({
  tag: "pe-rope",
  title: TITLE,
  attributes,
  base: BASE,
  version: VERSION,
  ...more,
});

// Readers --------------------------------------------------------------------------------------------------

const NAMED = { amp: "&", quot: '"', lt: "<", gt: ">" };
/** What references in an attribute stand for: https://html.spec.whatwg.org/#character-reference-state */
const decode = (text) =>
  text.replace(/&(?:#(\d+)|(\w+));?/g, (whole, code, name) => {
    if (code) return String.fromCodePoint(Number(code));
    assert.ok(Object.hasOwn(NAMED, name) && whole.endsWith(";"), `the reference ${whole}`);
    return NAMED[name];
  });

const config = await new HtmlValidate({ root: true }).getConfigFor("page.html");
/** The elements of a piece of HTML that match, each as { name: value }. */
function elements(html, selector) {
  const found = new Parser(config).parseHtml(html).querySelectorAll(selector);
  return found.map(({ attributes }) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, decode(value)])),
  );
}

/** JSX as React renders it, read as HTML. */
function rendered(code, selector) {
  const options = { module: ts.ModuleKind.None, jsx: ts.JsxEmit.React, target: ts.ScriptTarget.ES2022 };
  const { outputText, diagnostics } = ts.transpileModule(`const shown = ${code};`, {
    compilerOptions: options,
    fileName: "page.tsx",
    reportDiagnostics: true,
  });
  assert.deepEqual(diagnostics, []);
  const make = new Function("React", `${outputText}; return shown;`);
  const html = renderToStaticMarkup(make({ createElement })).replaceAll("&#x27;", "'");
  return elements(html, selector);
}

/** The attributes that a frame's address carries, as embed.html reads it. */
function carried(address) {
  const { origin, pathname, search, hash } = new URL(address);
  assert.equal(`${origin}${pathname}`, `${BASE}embed.html`);
  assert.equal(readQuery(search).figure, "rope");
  const { own, secret } = splitHash(hash);
  assert.equal(secret, "");
  const { state, theme, hide } = readFragment(own);
  return { ...Object.fromEntries(state), ...(theme && { theme }), ...(hide && { hide }) };
}

const module = (file) => ({ type: "module", src: `${BASE}${file}` });
const only = (list) => {
  assert.equal(list.length, 1);
  return list[0];
};
const frame = (code) => only(elements(code, "iframe"));

/** The attributes that a host's snippet gives to the figure. Each reader asserts what else the host demands. */
const readers = {
  html: {
    element([{ code }]) {
      assert.deepEqual(elements(code, "script"), [module("posenc.js")]);
      return only(elements(code, "pe-rope"));
    },
    iframe([{ code }]) {
      assert.deepEqual(elements(code, "script"), [module("embed.js")]);
      const { src, loading, title, allow } = frame(code);
      assert.deepEqual([loading, title, allow], ["lazy", TITLE, "clipboard-write; fullscreen"]);
      return carried(src);
    },
  },
  mkdocs: {
    element: ([config, page]) => mkdocs(config, page, "posenc.js") ?? only(elements(page.code, "pe-rope")),
    iframe: ([config, page]) => mkdocs(config, page, "embed.js") ?? carried(frame(page.code).src),
  },
  docusaurus: {
    element: ([config, page]) => docusaurus(config, "posenc.js") ?? only(rendered(page.code, "pe-rope")),
    iframe([config, page]) {
      docusaurus(config, "embed.js");
      const { src, title } = only(rendered(page.code, "iframe"));
      assert.equal(title, TITLE);
      return carried(src);
    },
  },
  quarto: {
    element([{ code }]) {
      const [open, , ...rest] = code.split("\n");
      assert.deepEqual([open, rest.length, rest[1]], ["```{=html}", 2, "```"]);
      assert.deepEqual(elements(code, "script"), [{ ...module("posenc.js"), "data-external": "1" }]);
      return only(elements(rest[0], "pe-rope"));
    },
    iframe([{ code }]) {
      assert.match(code, /^```\{=html\}\n<iframe [^\n]*\n<script [^\n]*\n```$/);
      assert.equal(frame(code)["data-external"], "1");
      return carried(frame(code).src);
    },
  },
  myst: {
    element([{ code }]) {
      const [, address, body] = code.match(/^:::\{anywidget\} (\S+)\n(\{\n[\s\S]*\n\})\n:::$/);
      assert.equal(address, `${BASE}widget.mjs`);
      for (const line of body.split("\n")) assert.doesNotMatch(line, /^\s*:/, "an option of the directive");
      const { figure, ...attributes } = JSON.parse(body);
      assert.equal(figure, "rope");
      return attributes;
    },
    iframe([{ code }]) {
      const [, address] = code.match(/^:::\{iframe\} (\S+)\n:width: 100%\n:::$/);
      return carried(address);
    },
  },
  reveal: {
    element([head, slide]) {
      assert.deepEqual(elements(head.code, "script"), [module("posenc.js")]);
      assert.match(slide.code, /^<section>\n[^\n]*\n<\/section>$/);
      return only(elements(slide.code, "section > pe-rope"));
    },
    iframe([{ code }]) {
      const attributes = only(elements(code, "section > iframe"));
      assert.ok("data-preload" in attributes && !("src" in attributes) && !("loading" in attributes));
      return carried(attributes["data-src"]);
    },
  },
  moodle: {
    iframe([{ code }]) {
      assert.equal(frame(code).height, "640");
      return carried(frame(code).src);
    },
  },
  canvas: {
    iframe([{ code }]) {
      // gems/canvas_sanitize of instructure/canvas-lms keeps these, and title on every element.
      const kept = ["allowfullscreen", "height", "src", "title", "width"];
      assert.deepEqual(Object.keys(frame(code)).sort(), kept);
      return carried(frame(code).src);
    },
  },
  wordpress: {
    iframe([{ code }]) {
      assert.equal(frame(code).sandbox, "allow-scripts allow-downloads");
      return carried(frame(code).src);
    },
  },
  address: { iframe: ([{ code }]) => carried(code) },
};

function mkdocs({ code }, page, file) {
  const [, list, path, type] = code.match(/^(\w+):\n {2}- path: (".*")\n {4}type: (\w+)$/);
  assert.deepEqual([list, JSON.parse(path), type], ["extra_javascript", BASE + file, "module"]);
  assert.match(page.code, /^<div>[^\n{}]*<\/div>$/, "one block, in which Markdown and macros read nothing");
}

function docusaurus({ code }, file) {
  const { scripts } = new Function(`return { ${code} };`)();
  assert.deepEqual(scripts, [{ src: BASE + file, type: "module" }]);
}

// States ---------------------------------------------------------------------------------------------------

const nasty = fc.constantFrom(
  `"`,
  `'`,
  "&",
  "&amp;",
  "&#34;",
  "<",
  ">",
  "</script>",
  "]]>",
  "{",
  "}",
  "{{",
  "${",
  "`",
  "\\",
  "\\n",
  "\n\n",
  "\r\n",
  "\t",
  " ",
  "+",
  "%",
  "%20",
  "#",
  "#?secret=a",
  "=",
  " key=",
  ",",
  ":::",
  "```",
  "\u2028",
  "\u0085",
  "é",
  "𝔘",
);
const text = fc.oneof(
  fc.string({ unit: "binary" }).map((value) => value.replaceAll("\0", "")),
  fc.array(nasty).map((parts) => parts.join("")),
  fc.integer().map(String),
  fc.boolean().map(String),
);
const states = fc.record(
  {
    ...Object.fromEntries(
      ["d-model", "rope-theta", "key", "ref", "q", "put-back"].map((name) => [name, text]),
    ),
    theme: fc.constantFrom("light", "dark"),
    hide: fc.constantFrom("reset", "d-model export", "title takeaway reset"),
  },
  { requiredKeys: [], noNullPrototype: true },
);

for (const [id, forms] of Object.entries(readers)) {
  for (const [form, read] of Object.entries(forms)) {
    test(`${hosts[id].name}: what is pasted as ${form} gives the figure exactly its attributes`, () => {
      fc.assert(
        fc.property(states, (attributes) => {
          assert.deepEqual(read(snippet(id, form, embed(attributes))), attributes);
        }),
        { seed: 5, numRuns: 200, includeErrorInReport: true },
      );
    });
  }
}

test("every host that is offered has been read, in each of its forms", () => {
  const offered = (list) =>
    Object.entries(list).map(([id, host]) => [id, "element" in host, "iframe" in host]);
  assert.deepEqual(offered(hosts), offered(readers));
});

test("every piece says in one sentence where it goes", () => {
  for (const id of Object.keys(hosts))
    for (const form of formsOf(id, BASE))
      for (const { where } of snippet(id, form, embed({})))
        assert.match(where, /^In |^Once, in |^As |^Where /);
});

test("the snippets read as an author would write them", () => {
  const code = (id, form) =>
    snippet(id, form, embed({ "d-model": "64", theme: "dark" }, { title: "RoPE" })).map(
      (piece) => piece.code,
    );
  assert.deepEqual(code("html", "element"), [
    '<script type="module" src="https://your.host/posenc/posenc.js"></script>\n' +
      '<pe-rope d-model="64" theme="dark"></pe-rope>',
  ]);
  assert.deepEqual(code("html", "iframe"), [
    '<iframe src="https://your.host/posenc/embed.html?figure=rope#d_model=64&amp;theme=dark" title="RoPE" ' +
      'width="100%" height="640" loading="lazy" allow="clipboard-write; fullscreen"></iframe>\n' +
      '<script type="module" src="https://your.host/posenc/embed.js"></script>',
  ]);
  assert.deepEqual(code("docusaurus", "element"), [
    'scripts: [{ src: "https://your.host/posenc/posenc.js", type: "module" }],',
    '<pe-rope d-model="64" theme="dark" />',
  ]);
  assert.deepEqual(code("mkdocs", "element"), [
    'extra_javascript:\n  - path: "https://your.host/posenc/posenc.js"\n    type: module',
    '<div><pe-rope d-model="64" theme="dark"></pe-rope></div>',
  ]);
  assert.deepEqual(code("myst", "element"), [
    ':::{anywidget} https://your.host/posenc/widget.mjs\n{\n  "figure": "rope",\n  "d-model": "64",\n  "theme": "dark"\n}\n:::',
  ]);
});

test("a frame has no use for loading and url-key, and the address ends where the state is empty", () => {
  const attributes = { loading: "lazy", "url-key": "rope" };
  assert.equal(
    snippet("address", "iframe", embed(attributes))[0].code,
    "https://your.host/posenc/embed.html?figure=rope",
  );
});

test("an address on a CDN names one version, and no page is asked of a CDN", () => {
  const pinned = {
    "https://cdn.jsdelivr.net/npm/posenc": "https://cdn.jsdelivr.net/npm/posenc@1.2.3/",
    "https://cdn.jsdelivr.net/npm/posenc@latest/": "https://cdn.jsdelivr.net/npm/posenc@1.2.3/",
    "https://cdn.jsdelivr.net/npm/@course/posenc@1/sub/":
      "https://cdn.jsdelivr.net/npm/@course/posenc@1.2.3/sub/",
    "https://unpkg.com/posenc@^1.0.0/": "https://unpkg.com/posenc@1.2.3/",
  };
  for (const [base, folder] of Object.entries(pinned)) {
    assert.deepEqual(formsOf("html", base), ["element"]);
    assert.deepEqual(formsOf("moodle", base), []);
    const [{ code }] = snippet("html", "element", embed({}, { base }));
    assert.equal(elements(code, "script")[0].src, `${folder}posenc.js`);
    assert.throws(() => snippet("moodle", "iframe", embed({}, { base })), {
      name: "RangeError",
      message: `host “moodle” takes no iframe from ${base}`,
    });
  }
});

test("an address of a host keeps its path and loses what follows it", () => {
  for (const base of ["http://127.0.0.1:8417/a b", "http://127.0.0.1:8417/a%20b/?x=1#y"]) {
    const [{ code }] = snippet("html", "element", embed({}, { base }));
    assert.equal(elements(code, "script")[0].src, "http://127.0.0.1:8417/a%20b/posenc.js");
  }
});

test("what can be no figure, no attribute and no address is refused in a sentence", () => {
  const refused = (more, error) => assert.throws(() => snippet("html", "element", embed({}, more)), error);
  refused({ tag: "script" }, { name: "TypeError", message: "tag must be that of a figure, got “script”" });
  refused(
    { attributes: { 'a="b"': "1" } },
    { name: "TypeError", message: 'attributes must have names of small letters and hyphens, got “a="b"”' },
  );
  for (const base of ["file:///a/", "javascript:alert(1)//", "posenc/", "https://", "http://[/"])
    refused(
      { base },
      {
        name: "RangeError",
        message: `base must be an address that begins with http:// or https://, got “${base}”`,
      },
    );
  refused(
    { attributes: { q: "\0" } },
    { name: "RangeError", message: "an attribute in HTML cannot hold the character NUL" },
  );
  assert.throws(() => snippet("geocities", "element", embed({})), RangeError);
});
