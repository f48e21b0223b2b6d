// Sections in Markdown → the article and its section list in HTML. Runs at build time; the page needs no script
// to be read. Every mistake in every section is collected and reported at once, with its file and line.

import type { Options, Token } from "markdown-it";
import MarkdownIt from "markdown-it";
import container from "markdown-it-container";
import { approaches } from "./approaches.svg.ts";
import { codeRenderer, escapeHtml } from "./code.ts";
import { directiveSyntax, figureHtml } from "./directives.ts";
import { styleSheet } from "./inline-styles.ts";
import { mathSyntax, renderDisplay, renderMath } from "./math.ts";
import { gatherQuestions, type Question, questionHtml, questionKinds } from "./questions.ts";
import type { Page, Section } from "./section.ts";
import { tableHtml } from "./table-html.ts";
import type { Table } from "./tables.ts";
import { fillValues } from "./values.ts";

export interface Content {
  /** The drawing that opens the lesson. */
  opening: string;
  /** What figures show until they come alive, by tag. */
  pictures?: Record<string, string>;
  numbers: Record<string, string>;
  tables: Record<string, Table>;
  /** The questions that `::quiz` places: `# id` of a section, then those about it. */
  quiz?: Page;
  /** Pages beside the lesson, by the name of their file. Their parts begin at `## heading`. */
  pages?: Record<string, Page>;
}

export interface Lesson extends Rendered {
  title: string;
  pages: Record<string, Rendered>;
  /** Rules for what would have been style attributes. */
  css: string;
}

export interface Rendered {
  article: string;
  sectionList: string;
}

interface Env {
  section: Page;
  problem(message: string, line?: number): void;
  /** Line within the markdown of the block that is being rendered. */
  line: number;
  /** What stands above a question, as HTML. */
  label?: string;
}

// Its types are those of another copy of markdown-it's.
const containerPlugin = container as unknown as (md: MarkdownIt, ...options: unknown[]) => void;
const diagrams: Record<string, string> = { approaches };

export async function renderLesson(sections: Section[], content: Content): Promise<Lesson> {
  const problems: string[] = [];
  const usedNumbers = new Set<string>();
  const usedTables = new Set<string>();
  const ids = new Map<string, string>();
  const asked = new Map<string, string>();
  const links: { id: string; where: string }[] = [];
  const styles = styleSheet("m");
  const code = await codeRenderer();
  const md = new MarkdownIt({ html: false, linkify: false, typographer: true });

  md.use(mathSyntax);
  md.use(directiveSyntax);
  md.use(containerPlugin, "question", {
    render: (tokens: Token[], index: number, _options: Options, env: Env) => {
      const token = tokens[index] as Token;
      if (token.nesting < 0) return "</div></details>\n";
      const title = token.info.trim().replace(/^question\s*/, "");
      if (!title) env.problem(":::question needs a title", token.map?.[0]);
      return `<details class="question"><summary>${md.renderInline(title, env)}</summary><div>\n`;
    },
  });
  md.use(containerPlugin, "erratum", {
    render: (tokens: Token[], index: number) =>
      (tokens[index] as Token).nesting > 0
        ? // A note, since a page with fourteen landmarks called "Correction" would have none that helps.
          '<aside class="erratum" role="note" aria-label="Correction">\n'
        : "</aside>\n",
  });

  for (const kind of questionKinds) md.use(containerPlugin, kind);

  const rules = md.renderer.rules;
  const guarded =
    (render: (token: Token, env: Env) => string) =>
    (tokens: Token[], index: number, _options: Options, env: Env): string => {
      const token = tokens[index] as Token;
      try {
        return render(token, env);
      } catch (error) {
        env.problem((error as Error).message, token.map?.[0] ?? env.line);
        return "";
      }
    };
  rules.fence = guarded((token) => code(token.content, token.info));
  rules.math_inline = guarded((token) => {
    const formula = styles.lift(renderMath(token.content, false));
    return token.info ? `<span class="no-break">${formula}${escapeHtml(token.info)}</span>` : formula;
  });
  rules.math_block = guarded(
    (token) => `<div class="math scroll">${styles.lift(renderDisplay(token.content))}</div>\n`,
  );
  rules.directive = guarded((token, env) => {
    const [name, ...words] = token.info.split(/\s+/);
    if (name === "figure") return figureHtml(words.join(" "), content.pictures);
    const which = words[0] ?? "";
    if (name === "diagram") {
      const drawing = diagrams[which];
      if (!drawing) throw new Error(`unknown diagram "${which}"`);
      return `<figure class="diagram">${drawing}</figure>\n`;
    }
    if (name === "table") {
      const found = content.tables[which];
      if (!found) throw new Error(`unknown table "${which}"`);
      usedTables.add(which);
      return tableHtml(found, (text) => md.renderInline(text, env));
    }
    if (name === "quiz") {
      if (!content.quiz) throw new Error("there is no quiz to place");
      return quiz(content.quiz);
    }
    throw new Error(`unknown directive "::${name}"`);
  });
  rules.question_block = guarded((token, env) =>
    questionHtml(token.meta as Question, env.label ?? "Predict", md, env),
  );
  rules.table_open = () => '<div class="table scroll"><table>\n';
  rules.table_close = () => "</table></div>\n";
  // markdown-it aligns cells by style attributes.
  for (const cell of ["th_open", "td_open"]) {
    rules[cell] = (tokens, index, options, _env, self) => {
      const token = tokens[index] as Token;
      const align = String(token.attrGet("style") ?? "").replace("text-align:", "");
      token.attrs = null;
      // A header cell without words heads nothing.
      if (token.tag === "th" && tokens[index + 1]?.content === "") {
        token.tag = "td";
        (tokens[index + 2] as Token).tag = "td";
      }
      // The first cell of a row heads it.
      const heads = token.tag === "td" && tokens[index - 1]?.type === "tr_open";
      if (heads && tokens[index + 1]?.content !== "") {
        token.tag = "th";
        (tokens[index + 2] as Token).tag = "th";
        token.attrSet("scope", "row");
      } else if (token.tag === "th") token.attrSet("scope", "col");
      if (align) token.attrSet("class", align === "right" ? "number" : align);
      return self.renderToken(tokens, index, options);
    };
  }

  const articles = sections.map((section) => {
    const { tokens, env } = parse(section);
    return article(section, md.renderer.render(tokens, md.options, env), env);
  });
  const pages = Object.fromEntries(
    Object.entries(content.pages ?? {}).map(([file, page]) => [file, besidePage(page)]),
  );

  for (const { id, where } of links)
    if (!ids.has(id)) problems.push(`${where}: no section or heading "#${id}"`);
  for (const name of Object.keys(content.numbers)) {
    if (!usedNumbers.has(name)) problems.push(`web/lesson/numbers.ts: "${name}" is not used in any section`);
  }
  for (const name of Object.keys(content.tables)) {
    if (!usedTables.has(name)) problems.push(`web/lesson/tables.ts: "${name}" is not used in any section`);
  }
  if (problems.length > 0) throw new Error(`the lesson has mistakes:\n${problems.join("\n")}`);

  return {
    title: sections[0]?.title ?? "",
    article: articles.join("\n"),
    sectionList: sections
      .filter(({ number }) => number > 0)
      .map(listItem)
      .join("\n"),
    pages,
    css: styles.css(),
  };

  function parse(section: Page): { tokens: Token[]; env: Env } {
    const where = (line?: number) =>
      line === undefined ? section.file : `${section.file}:${line + 1 + section.offset}`;
    const env: Env = {
      section,
      line: 0,
      problem: (message, line) => problems.push(`${where(line)}: ${message}`),
    };
    if (section.id) claim(section.id, section.file, env);
    const markdown = fillValues(section.markdown, content.numbers, usedNumbers, (name, line) =>
      env.problem(`unknown number "{{${name}}}"`, line),
    );
    const tokens = md.parse(markdown, env);
    prepare(tokens, env, where);
    const inline = (text: string, line?: number): Token[] => {
      const parsed = md.parseInline(text, env);
      for (const token of parsed) if (line !== undefined) token.map = [line, line + 1];
      prepare(parsed, env, where);
      return parsed[0]?.children ?? [];
    };
    const gathered = gatherQuestions(tokens, inline, env.problem);
    for (const { type, meta, map } of gathered) {
      if (type !== "question_block") continue;
      const { id } = meta as Question;
      const taken = asked.get(id);
      if (taken) env.problem(`the question "${id}" is already asked in ${taken}`, map?.[0]);
      asked.set(id, where(map?.[0]));
    }
    return { tokens: gathered, env };
  }

  /** The questions of the quiz, each under the name of the section that it is about. */
  function quiz(page: Page): string {
    const { tokens, env } = parse({ ...page, id: "" });
    let about: Section | undefined;
    const questions = tokens.map((token, at) => {
      if (token.type === "heading_open") {
        const id = tokens[at + 1]?.content ?? "";
        about = sections.find((section) => section.id === id);
        if (!about) env.problem(`no section has the id "${id}"`, token.map?.[0]);
      }
      if (token.type === "paragraph_open" && tokens[at - 1]?.type !== "heading_open") {
        env.problem("the quiz holds `# id` and questions only", token.map?.[0]);
      }
      if (token.type !== "question_block") return "";
      if (!about) {
        env.problem("a question of the quiz stands below `# id` of its section", token.map?.[0]);
        return "";
      }
      const { number, id, short } = about;
      env.label = `<a href="#${id}"><span class="section-number">${number}</span> ${escapeHtml(short)}</a>`;
      return md.renderer.render([token], md.options, env);
    });
    return `<pe-quiz>\n${questions.join("")}</pe-quiz>\n`;
  }

  function besidePage(page: Page): Rendered {
    const { tokens, env } = parse(page);
    const parts: Token[][] = [[]];
    for (const token of tokens) {
      if (token.type === "heading_open" && token.tag === "h2") parts.push([]);
      parts.at(-1)?.push(token);
    }
    const [opening = [], ...rest] = parts;
    const items: string[] = [];
    const bodies = rest.map((part) => {
      const [heading, text] = part as [Token, Token];
      const id = String(heading.attrGet("id"));
      heading.attrSet("id", `${id}-title`);
      items.push(`<li><a href="#${id}">${escapeHtml(text.content)}</a></li>`);
      const body = md.renderer.render(part, md.options, env);
      return `<section id="${id}" aria-labelledby="${id}-title">\n${body}</section>`;
    });
    const title = md.renderInline(page.title, env);
    const intro = md.renderer.render(opening, md.options, env);
    const header = `<header class="intro" id="${page.id}">\n<h1>${title}</h1>\n${intro}</header>`;
    return { article: [header, ...bodies].join("\n"), sectionList: items.join("\n") };
  }

  function claim(id: string, where: string, env: Env, line?: number): void {
    const taken = ids.get(id);
    if (taken) env.problem(`the id "${id}" is already that of ${taken}`, line);
    ids.set(id, where);
  }

  /** Gives headings their level and id, and notes every link for the check. */
  function prepare(tokens: Token[], env: Env, where: (line?: number) => string): void {
    const headings = tokens.filter(({ type }) => type === "heading_open" || type === "heading_close");
    // An introduction or page is h1 and a section h2: the topmost heading inside is one below, however the file
    // numbers it.
    const top = env.section.number ? 3 : 2;
    const shift = top - Math.min(6, ...headings.map(({ tag }) => Number(tag[1])));
    for (const heading of headings) heading.tag = `h${Math.min(6, Number(heading.tag[1]) + shift)}`;
    tokens.forEach((token, index) => {
      // The quiz has no id: its headings only name sections.
      if (token.type === "heading_open" && env.section.id) {
        const text = tokens[index + 1]?.content ?? "";
        const id = `${env.section.id}-${slug(text)}`;
        token.attrSet("id", id);
        claim(id, where(token.map?.[0]), env, token.map?.[0]);
      }
      (token.children ?? []).forEach((child, place, children) => {
        if (child.type === "math_inline") {
          child.map = token.map;
          keepPunctuation(child, children[place + 1]);
        }
        if (child.type !== "link_open") return;
        const href = String(child.attrGet("href"));
        if (href.startsWith("#")) {
          links.push({ id: href.slice(1), where: where(token.map?.[0]) });
          // On a page beside the lesson, all but its own headings are in the lesson.
          const own = `#${env.section.id}`;
          const beside = env.section.number === undefined && env.section.id !== "";
          if (beside && href !== own && !href.startsWith(`${own}-`))
            child.attrSet("href", `index.html${href}`);
        } else if (Object.hasOwn(content.pages ?? {}, href)) return;
        else if (/^https?:/.test(href)) child.attrSet("rel", "noopener");
        else env.problem(`link "${href}" is neither #id nor http(s)`, token.map?.[0]);
      });
    });
  }

  function article({ number, id, title }: Section, body: string, env: Env): string {
    const heading = md.renderInline(title, env);
    if (number === 0) {
      const opened = body.replace("</p>\n", () => `</p>\n${content.opening}`);
      return `<header class="intro" id="${id}">\n<h1>${heading}</h1>\n${opened}</header>`;
    }
    return (
      `<section id="${id}" aria-labelledby="${id}-title">\n` +
      `<h2 id="${id}-title"><span class="section-number">${number}</span> ${heading} ` +
      `<a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(title)}”">#</a></h2>\n${body}</section>`
    );
  }
}

/** Engines may break a line between a formula and the full stop after it, so the stop goes with the formula. */
function keepPunctuation(formula: Token, next: Token | undefined): void {
  if (next?.type !== "text") return;
  formula.info = /^[.,;:!?)\]’”]+/.exec(next.content)?.[0] ?? "";
  next.content = next.content.slice(formula.info.length);
}

function listItem({ number, id, short }: Section): string {
  return `<li><a href="#${id}"><span class="section-number">${number}</span> ${escapeHtml(short)}</a></li>`;
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "");
}
