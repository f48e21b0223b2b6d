// custom-elements.json: what each element takes, sends and offers. The sentences come from the comments above the
// classes; kind, default and bounds of an attribute from the code that reads it, so that they cannot disagree.
//   node scripts/manifest.mjs [FILE]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { create, ts } from "@custom-elements-manifest/analyzer";
import { runnerImport } from "vite";
import { Failure, main, ROOT } from "./run.mjs";

const WEB = join(ROOT, "web");
const BASE = "figures/figure.ts";

/** The files that each define an element, after the class that all figures extend. */
const sources = () => [
  BASE,
  ...["figures", "quiz"].flatMap((folder) =>
    readdirSync(join(WEB, folder))
      .filter((name) => /^pe-.*\.ts$/.test(name))
      .sort()
      .map((name) => `${folder}/${name}`),
  ),
];

/** From the running code: the fields that all figures have, and those of each figure by the name of its class. */
async function fieldsByClass() {
  const [all, styles] = ["\0figures", "\0styles"];
  const plugin = {
    name: "posenc-figures",
    enforce: "pre",
    // Vite makes styles for browsers only.
    resolveId: (id) => (id === all ? all : /\.css\b/.test(id) ? styles : null),
    load: (id) =>
      ({
        [all]: `export default import.meta.glob(["/${BASE}", "/figures/pe-*.ts"], { eager: true })`,
        [styles]: 'export default ""',
      })[id],
  };
  const config = { configFile: false, logLevel: "warn", root: WEB, plugins: [plugin] };
  const { module } = await runnerImport(all, config);
  const { [`/${BASE}`]: base, ...figures } = module.default;
  const classes = Object.values(figures).flatMap((exported) => Object.entries(exported));
  return new Map(
    classes
      .filter(([, value]) => value.fields)
      .map(([name, { fields }]) => [name, { ...fields, ...base.SETTINGS }]),
  );
}

const typeOf = ({ kind, choices }) =>
  ({ integer: "number", number: "number", flag: "boolean", text: "string" })[kind] ??
  choices.map((choice) => `"${choice}"`).join(" | ");

/** Notes which tag a module registers, through figure.ts or by itself. */
const registrations = {
  name: "posenc-registrations",
  analyzePhase({ node, moduleDoc }) {
    if (!ts.isCallExpression(node) || !/^(customElements\.)?define$/.test(node.expression.getText())) return;
    const [tag, element] = node.arguments;
    if (ts.isStringLiteral(tag)) moduleDoc.registers = { tagName: tag.text, name: element.getText() };
  },
};

/** The attributes of a comment, each with what its field says. One that is no field says its type itself. */
function typed(attributes, fields, file) {
  const silent = Object.keys(fields).find((field) => !attributes.some(({ name }) => name === field));
  if (silent) throw new Failure(`${file}: the comment lacks a line "@attr ${silent} - …"`);
  return attributes.map((attribute) => {
    const { name, type } = attribute;
    if (Object.hasOwn(fields, name)) {
      const field = fields[name];
      return { ...attribute, type: { text: typeOf(field) }, default: String(field.fallback), field };
    }
    if (type) return attribute;
    throw new Failure(`${file}: the comment tells of "@attr ${name}", which is no field`);
  });
}

const oneLine = (text) => text?.replace(/\s+/g, " ");

/** What a reader may use: no private and no protected members, none of the class itself. */
const open = (list = []) =>
  list
    .filter((item) => !item.static && (item.privacy ?? "public") === "public" && !item.name.startsWith("#"))
    .map(({ inheritedFrom, description, ...rest }) => ({
      ...rest,
      description: oneLine(description),
      // the class that all figures extend is in no module of its own
      ...(inheritedFrom && { inheritedFrom: { name: inheritedFrom.name } }),
    }));

/** The module as it is published: one JavaScript file for each element, beside the manifest. */
function published({ path: source, declarations, registers }, fields) {
  const path = source.replace(/\.ts$/, ".js");
  const element = declarations.find(({ name }) => name === registers?.name);
  if (!element) throw new Failure(`web/${source} exports no class that it registers`);
  const { name, tagName } = registers;
  const title = element.members?.find((member) => member.name === "heading")?.default;
  const lists = {
    attributes: typed(open(element.attributes), fields.get(name) ?? {}, `web/${source}`),
    members: open(element.members),
    events: open(element.events),
    cssParts: open(element.cssParts),
    cssProperties: open(element.cssProperties),
  };
  return {
    kind: "javascript-module",
    path,
    declarations: [
      {
        kind: "class",
        name,
        tagName,
        customElement: true,
        ...(title && { summary: JSON.parse(title) }),
        description: oneLine(element.description),
        superclass: { name: element.superclass.name },
        ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
      },
    ],
    // the class itself is not exported: the module registers it where there are elements
    exports: [{ kind: "custom-element-definition", name: tagName, declaration: { name, module: path } }],
  };
}

/**
 * The manifest as data; an attribute's `field` is that of web/figures/state.ts. Throws a Failure where a comment and
 * the code tell of different attributes. `read` gives a source from its path below web/.
 */
export async function manifest(read = (path) => readFileSync(join(WEB, path), "utf8")) {
  const modules = sources().map((path) =>
    ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022, true),
  );
  const fields = await fieldsByClass();
  const { schemaVersion, modules: found } = create({ modules, plugins: [registrations] });
  const elements = found.filter(({ path }) => path !== BASE);
  return { schemaVersion, readme: "", modules: elements.map((one) => published(one, fields)) };
}

export async function writeManifest(path = join(ROOT, "build/package/custom-elements.json")) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(await manifest(), null, 2)}\n`);
}

await main(import.meta.url, ([path]) => writeManifest(path && resolve(path)));
