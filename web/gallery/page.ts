// The gallery: a page of Markdown with every figure alive, what each takes, and what to paste. All of it comes from
// custom-elements.json.

import { ELSEWHERE, snippet } from "../embed/snippets.ts";
import type { Field } from "../figures/state.ts";
import type { Page, Section } from "../lesson/section.ts";
import { groupDigits } from "../lesson/values.ts";

interface Item {
  name: string;
  description: string;
  inheritedFrom?: { name: string };
}
interface Attribute extends Item {
  type: { text: string };
  default?: string;
  field?: Field;
}
interface Member extends Item {
  kind: "field" | "method";
  type?: { text: string };
  parameters?: { name: string }[];
  return?: { type: { text: string } };
}
/** What of an element's entry in custom-elements.json stands on the page. */
interface Element {
  tagName: string;
  summary?: string;
  description: string;
  attributes?: Attribute[];
  members?: Member[];
  events?: Item[];
  cssParts?: Item[];
  cssProperties?: Item[];
}
export interface Manifest {
  modules: { declarations: Element[] }[];
}

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;
const number = (value: number): string =>
  Math.abs(value) >= 1e9 && Number.isInteger(Math.log10(Math.abs(value)))
    ? value.toExponential().replace("+", "")
    : groupDigits(value);

/** Kind and bounds of an attribute, in words. */
function kindOf({ field, type }: Attribute): string {
  switch (field?.kind) {
    case "integer":
    case "number":
      return `${field.kind}, ${number(field.min)} to ${number(field.max)}`;
    case "choice":
      return field.choices.map(code).join(", ");
    case "flag":
      return "`true`, `false`";
    case "text":
      return `text, up to ${field.maxLength} characters`;
    default:
      return type.text;
  }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const described = (list: readonly Item[]) => list.map(({ name, description }) => [code(name), description]);

const attributeTable = (attributes: readonly Attribute[]): string =>
  table(
    ["Attribute", "Values", "Default", "Meaning"],
    attributes.map((attribute) => [
      code(attribute.name),
      kindOf(attribute),
      attribute.default ? code(attribute.default) : "none",
      attribute.description,
    ]),
  );

/** `setState(saved)` and what comes back. */
const signature = ({ name, kind, parameters = [], type, return: given }: Member): string[] => [
  code(kind === "method" ? `${name}(${parameters.map((one) => one.name).join(", ")})` : name),
  code((kind === "method" ? given?.type.text : type?.text) ?? "void"),
];

const inherited = <T extends Item>(list: readonly T[] = []) => list.filter((item) => item.inheritedFrom);
const own = <T extends Item>(list: readonly T[] = []) => list.filter((item) => !item.inheritedFrom);

/** What all figures have: read from any of them. */
const common = (figure: Element): string => `## What every figure takes

${attributeTable(inherited(figure.attributes))}

It sends these events. They bubble, also out of shadow roots.

${table(["Event", "When"], described(inherited(figure.events)))}

From a script it offers these properties and methods.

${table(
  ["Member", "Gives", "Meaning"],
  inherited(figure.members).map((member) => [...signature(member), member.description]),
)}

Its look follows the page’s. These parts and CSS properties change it.

${table(["Part or property", "Of"], described([...inherited(figure.cssParts), ...inherited(figure.cssProperties)]))}
`;

const colour = ({ name, description }: Item): string =>
  `${code(name)} is the ${description.charAt(0).toLowerCase()}${description.slice(1)}`;

function entry(figure: Element, section: Section | undefined): string {
  const { tagName, summary = tagName, description, attributes, cssProperties } = figure;
  const embed = { tag: tagName, title: summary, attributes: {}, base: ELSEWHERE, version: "" };
  const pieces = snippet("html", "element", embed);
  const place = section ? ` The lesson has it in [section ${section.number}](#${section.id}).` : "";
  return `## ${summary}

${description}${place}

::figure ${tagName} loading=lazy

${attributeTable(own(attributes))}

${own(cssProperties).map(colour).join(" ")}

${pieces.map((piece) => `\`\`\`html ${tagName}\n${piece.code}\n\`\`\``).join("\n\n")}
`;
}

/** Figures in the order of the lesson; one that no section places comes last. */
export function galleryPage({ modules }: Manifest, sections: readonly Section[]): Page {
  const figures = modules.flatMap(({ declarations }) => declarations).filter(({ summary }) => summary);
  const [first] = figures;
  if (!first) throw new Error("custom-elements.json holds no figure");
  const placed = figures.map((figure) => ({
    figure,
    at: sections.findIndex(({ markdown }) =>
      new RegExp(`^::figure ${figure.tagName}\\b(?!-)`, "m").test(markdown),
    ),
  }));
  const last = sections.length;
  placed.sort((a, b) => (a.at < 0 ? last : a.at) - (b.at < 0 ? last : b.at));
  const intro = `Each figure of [the lesson](#intro) is an element of its own, for any page that runs scripts, and a
frame for those that do not. **Embed this** below a figure says what to paste into MkDocs, Docusaurus, Quarto, Jupyter
Book, reveal.js, Moodle, Canvas, WordPress or plain HTML, with the state that the figure is in. Its attributes
are its state: one that is missing takes its default. \`custom-elements.json\`, beside this page, holds the tables for editors and other
tools.
`;
  return {
    file: "web/gallery/page.ts",
    id: "gallery",
    title: "Gallery",
    markdown: [intro, common(first), ...placed.map(({ figure, at }) => entry(figure, sections[at]))].join(
      "\n",
    ),
    offset: 0,
  };
}
