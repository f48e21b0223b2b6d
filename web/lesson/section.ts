// A section file: "NN-name.md", whose front matter gives `id`, `title` and `short` (the name in the section list).

export interface Section extends Page {
  /** 0 is the introduction, which carries no number. */
  number: number;
  short: string;
}

/** Any Markdown file with front matter. */
export interface Page {
  /** Path as printed in messages. */
  file: string;
  number?: number;
  id: string;
  title: string;
  markdown: string;
  /** Lines of front matter before the markdown, so that messages give the line of the file. */
  offset: number;
}

/** How the file of a section is named; other Markdown files are pages. */
export const fileName = /(?:^|\/)(\d\d)-[^/]+\.md$/;
const frontMatter = /^---\n([\s\S]*?\n)---\n/;

export function parseSection(file: string, source: string): Section {
  const number = fileName.exec(file)?.[1];
  if (number === undefined) throw new Error(`${file}: a section is named NN-name.md`);
  const { short, ...page } = parseFile(file, source, ["id", "title", "short"]);
  return { ...page, number: Number(number), short };
}

export function parsePage(file: string, source: string): Page {
  return parseFile(file, source, ["id", "title"]);
}

function parseFile<Name extends string>(file: string, source: string, names: readonly Name[]) {
  const text = source.replace(/\r\n/g, "\n");
  const matter = frontMatter.exec(text);
  if (!matter) throw new Error(`${file}:1: front matter (--- … ---) is missing`);

  const fields = new Map<string, string>();
  for (const line of (matter[1] ?? "").split("\n")) {
    const field = /^(\w+):\s*(.*?)\s*$/.exec(line);
    if (field) fields.set(field[1] ?? "", (field[2] ?? "").replace(/^(["'])(.*)\1$/, "$2"));
  }
  const required = (name: Name): [Name, string] => {
    const value = fields.get(name);
    if (!value) throw new Error(`${file}:1: front matter lacks "${name}"`);
    return [name, value];
  };
  return {
    ...(Object.fromEntries(names.map(required)) as Record<Name, string>),
    file,
    markdown: text.slice(matter[0].length),
    offset: matter[0].split("\n").length - 1,
  };
}
