// `::name words` on a line of its own places something that is not text: a figure, a table, a diagram.

import type MarkdownIt from "markdown-it";
import { escapeHtml } from "./code.ts";
import { figures } from "./figures.ts";

/** Adds the syntax to markdown-it as a token `directive`, whose info is "name words". */
export function directiveSyntax(md: MarkdownIt): void {
  md.block.ruler.before(
    "paragraph",
    "directive",
    (state, start, _end, silent) => {
      const line = state.src.slice(
        (state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0),
        state.eMarks[start],
      );
      const found = /^::([a-z].*)$/.exec(line.trim());
      if (!found) return false;
      if (silent) return true;
      const token = state.push("directive", "", 0);
      token.info = found[1] ?? "";
      token.map = [start, start + 1];
      state.line = start + 1;
      return true;
    },
    { alt: ["paragraph"] },
  );
}

/**
 * `pe-heatmap seq-len=100 label="a b"` → the custom element in its figure, with a sentence for readers without script,
 * and its picture where one was drawn beforehand.
 */
export function figureHtml(words: string, pictures: Record<string, string> = {}): string {
  const [, tag = "", rest = ""] = /^(\S*)\s*(.*)$/.exec(words) ?? [];
  const fallback = figures[tag];
  if (!fallback) throw new Error(`unknown figure "${tag}" (known: ${Object.keys(figures).join(", ")})`);
  const attributes = [...rest.matchAll(/([a-z][a-z-]*)(?:=(?:"([^"]*)"|(\S+)))?/g)];
  const unread = attributes.reduce((text, [whole]) => text.replace(whole, ""), rest).trim();
  if (unread) throw new Error(`cannot read "${unread}" as attributes of ${tag}`);
  const list = attributes
    .map(([, name, quoted, bare]) => ` ${name}="${escapeHtml(quoted ?? bare ?? "")}"`)
    .join("");
  return `<figure class="wide"><${tag}${list}>${pictures[tag] ?? ""}<p>${fallback}</p></${tag}></figure>\n`;
}
