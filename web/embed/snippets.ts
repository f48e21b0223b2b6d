// What an author pastes into a course page to show a figure there, and where. Each host takes figures in its own way:
// some run scripts and take the element, others take frames only and keep few of their attributes.

import { fragmentValue, htmlValue, jsxValue } from "./escape.ts";

/** Stands for the folder of a copy whose address is not known. */
export const ELSEWHERE = "https://your.host/posenc/";

/** A figure as it shall stand elsewhere. */
export interface Embed {
  /** "pe-rope". */
  tag: string;
  /** What a frame is called. */
  title: string;
  /** Attributes that differ from their fallbacks. */
  attributes: Readonly<Record<string, string>>;
  /** The address of the folder of posenc.js and, unless it is a package on a CDN, of embed.html: "https://your.host/posenc/". */
  base: string;
  /** The version that an address on a CDN names: "0.1.0". */
  version: string;
  /** Of a frame, in CSS pixels, where nothing fits it to the figure. */
  height?: number;
}

export type Form = "element" | "iframe";

/** What is pasted into one place, and a sentence that says which. */
export interface Piece {
  where: string;
  code: string;
}

interface Host extends Partial<Record<Form, (given: Given) => Piece[]>> {
  name: string;
}

/** What the hosts' forms are made from. */
interface Given {
  tag: string;
  attributes: Attributes;
  /** The address of a file beside posenc.js. */
  file(name: string): string;
  /** What every frame has; the hosts add what they keep. */
  frame: Attributes;
}

type Attributes = readonly (readonly [name: string, value: string])[];

const list = (attributes: Attributes, value: (text: string) => string): string =>
  attributes.map(([name, text]) => ` ${name}=${value(text)}`).join("");

const html = (tag: string, attributes: Attributes): string =>
  `<${tag}${list(attributes, htmlValue)}></${tag}>`;

/** React keeps the names key and ref for itself; HTML takes them in capitals too. */
const forReact = ([name, value]: Attributes[number]) =>
  [/^(key|ref)$/.test(name) ? name.toUpperCase() : name, value] as const;

const jsx = (tag: string, attributes: Attributes): string =>
  `<${tag}${list(attributes.map(forReact), jsxValue)} />`;

const script = (src: string, more: Attributes = []): string =>
  html("script", [["type", "module"], ["src", src], ...more]);

const LAZY = ["loading", "lazy"] as const;
const ALLOW = ["allow", "clipboard-write; fullscreen"] as const;
// Pandoc packs no resource of a tag that has this.
const EXTERNAL = ["data-external", "1"] as const;

const mkdocs = (src: string, code: string): Piece[] => [
  {
    where:
      "Once, in mkdocs.yml (MkDocs 1.5 or newer, any theme); a list that is there already gets one more entry.",
    code: `extra_javascript:\n  - path: ${JSON.stringify(src)}\n    type: module`,
  },
  {
    where: "In the Markdown of the page, with an empty line before and after.",
    code: `<div>${code}</div>`,
  },
];

const docusaurus = (src: string, code: string): Piece[] => [
  {
    where: "Once, in docusaurus.config.js; a list that is there already gets one more entry.",
    code: `scripts: [{ src: ${JSON.stringify(src)}, type: "module" }],`,
  },
  { where: "In the MDX of the page, or in a React component.", code },
];

const rawHtml = (...lines: string[]): Piece[] => [
  {
    where: "In the .qmd file. It needs the network, also where embed-resources packs the rest of the page.",
    code: ["```{=html}", ...lines, "```"].join("\n"),
  },
];

/** Hosts by id, in the order in which they are offered. */
export const hosts: Readonly<Record<string, Host>> = {
  html: {
    name: "HTML page",
    element: ({ tag, attributes, file }) => [
      {
        where: "In the HTML of the page; the first line is needed once.",
        code: `${script(file("posenc.js"))}\n${html(tag, attributes)}`,
      },
    ],
    iframe: ({ frame, file }) => [
      {
        where: "In the HTML of the page; the second line, once, fits the frame to the figure.",
        code: `${html("iframe", [...frame, LAZY, ALLOW])}\n${script(file("embed.js"))}`,
      },
    ],
  },
  mkdocs: {
    name: "MkDocs",
    element: ({ tag, attributes, file }) => mkdocs(file("posenc.js"), html(tag, attributes)),
    iframe: ({ frame, file }) => mkdocs(file("embed.js"), html("iframe", [...frame, LAZY, ALLOW])),
  },
  docusaurus: {
    name: "Docusaurus",
    element: ({ tag, attributes, file }) => docusaurus(file("posenc.js"), jsx(tag, attributes)),
    iframe: ({ frame, file }) => docusaurus(file("embed.js"), jsx("iframe", [...frame, LAZY, ALLOW])),
  },
  quarto: {
    name: "Quarto",
    element: ({ tag, attributes, file }) =>
      rawHtml(script(file("posenc.js"), [EXTERNAL]), html(tag, attributes)),
    iframe: ({ frame, file }) =>
      rawHtml(html("iframe", [...frame, LAZY, ALLOW, EXTERNAL]), script(file("embed.js"), [EXTERNAL])),
  },
  myst: {
    name: "MyST, Jupyter Book",
    element: ({ tag, attributes, file }) => {
      const values: Attributes = [["figure", figureOf(tag)], ...attributes];
      const body = values.map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
      return [
        {
          where:
            "In the Markdown of the page; a MyST or Jupyter Book of before March 2026 does not know {anywidget}.",
          code: [`:::{anywidget} ${file("widget.mjs")}`, "{", body.join(",\n"), "}", ":::"].join("\n"),
        },
      ];
    },
    iframe: ({ frame }) => [
      {
        where: "In the Markdown of the page; MyST chooses the height of the frame.",
        code: `:::{iframe} ${sourceOf(frame)}\n:width: 100%\n:::`,
      },
    ],
  },
  reveal: {
    name: "reveal.js",
    element: ({ tag, attributes, file }) => [
      { where: "Once, in the head of the slides.", code: script(file("posenc.js")) },
      { where: "As a slide.", code: `<section>\n  ${html(tag, attributes)}\n</section>` },
    ],
    iframe: ({ frame }) => {
      // reveal.js sets the src itself, when the slide is near.
      const lazy = frame.map(([name, value]) => [name === "src" ? "data-src" : name, value] as const);
      const code = html("iframe", [...lazy, ["data-preload", ""], ALLOW]);
      return [{ where: "As a slide.", code: `<section>\n  ${code}\n</section>` }];
    },
  },
  moodle: {
    name: "Moodle",
    iframe: ({ frame }) => [
      {
        where: "In the editor’s source code (Tools, Source code); Moodle keeps this height.",
        code: html("iframe", [...frame, LAZY, ALLOW]),
      },
    ],
  },
  canvas: {
    name: "Canvas",
    iframe: ({ frame }) => [
      {
        where: "In the HTML view of the Rich Content Editor, which would drop loading and allow.",
        code: html("iframe", [...frame, ["allowfullscreen", "allowfullscreen"]]),
      },
    ],
  },
  wordpress: {
    name: "WordPress",
    iframe: ({ frame }) => [
      {
        where:
          "In a Custom HTML block, by someone who may post unfiltered HTML, such as an editor; it keeps this height.",
        code: html("iframe", [...frame, LAZY, ["sandbox", "allow-scripts allow-downloads"]]),
      },
    ],
  },
  address: {
    name: "Notion, Google Sites",
    iframe: ({ frame }) => [
      { where: "Where the editor asks for an address to embed.", code: sourceOf(frame) },
    ],
  },
};

const sourceOf = (frame: Attributes): string => Object.fromEntries(frame).src ?? "";
const figureOf = (tag: string): string => tag.slice("pe-".length);

/** A package's folder on a CDN: the address up to its name, and the version or range that may follow. */
const CDN = /^(https:\/\/(?:cdn\.jsdelivr\.net\/npm|unpkg\.com)\/(?:@[^/@]+\/)?[^/@]+)(?:@[^/]*)?\//;

/** The address of a folder, with its slash. */
function folderOf(base: string): string {
  if (!/^https?:\/\/[^/]/.test(base) || !URL.canParse(base)) {
    throw new RangeError(`base must be an address that begins with http:// or https://, got “${base}”`);
  }
  const { origin, pathname } = new URL(base);
  return `${origin}${pathname.replace(/\/?$/, "/")}`;
}

/** The forms in which a host takes a figure from a folder. A CDN serves scripts, but no pages. */
export function formsOf(host: string, base: string): Form[] {
  const served: readonly Form[] = CDN.test(folderOf(base)) ? ["element"] : ["element", "iframe"];
  return served.filter((form) => hosts[host]?.[form]);
}

/** The address of embed.html with the figure and its state. What a frame has no use for is left out. */
function frameAddress(folder: string, tag: string, attributes: Attributes): string {
  const state = attributes
    .filter(([name]) => name !== "loading" && name !== "url-key")
    .map(([name, value]) => `${name.replaceAll("-", "_")}=${fragmentValue(value)}`);
  return `${folder}embed.html?figure=${figureOf(tag)}${state.length > 0 ? "#" : ""}${state.join("&")}`;
}

/**
 * What to paste. Throws a TypeError for a tag or an attribute that can be none, and a RangeError for an address that
 * no page can load from, a form that the host does not take, and a value that HTML cannot carry.
 */
export function snippet(host: string, form: Form, embed: Embed): Piece[] {
  const { tag, title, base, version, height = 640 } = embed;
  const attributes = Object.entries(embed.attributes);
  if (!/^pe-[a-z0-9-]+$/.test(tag)) throw new TypeError(`tag must be that of a figure, got “${tag}”`);
  const odd = attributes.find(([name]) => !/^[a-z][a-z0-9-]*$/.test(name));
  if (odd) throw new TypeError(`attributes must have names of small letters and hyphens, got “${odd[0]}”`);
  const make = hosts[host]?.[form];
  if (!make || !formsOf(host, base).includes(form)) {
    throw new RangeError(`host “${host}” takes no ${form} from ${base}`);
  }
  const folder = folderOf(base).replace(CDN, `$1@${version}/`);
  const frame: Attributes = [
    ["src", frameAddress(folder, tag, attributes)],
    ["title", title],
    ["width", "100%"],
    ["height", String(height)],
  ];
  return make({ tag, attributes, file: (name) => folder + name, frame });
}
