// Formulas: LaTeX to MathML at build time (Temml). `$…$` in a line, `$$…$$` on its own lines.

import type MarkdownIt from "markdown-it";
import temml from "temml";
import { groupDigits } from "./values.ts";

/** One colour per symbol, the same in formula, control and picture: `\q{q_m}` carries the class `sym-q`. */
const macros = {
  "\\q": "\\class{sym-q}{#1}",
  "\\k": "\\class{sym-k}{#1}",
  "\\pos": "\\class{sym-pos}{#1}",
  "\\dims": "\\class{sym-dim}{#1}",
};

/** A displayed formula. Where its parts are set apart by \\qquad, each is one formula, so that they wrap on phones. */
export function renderDisplay(tex: string): string {
  return splitAtQuads(tex)
    .map((part) => renderMath(part, true))
    .join("");
}

function splitAtQuads(tex: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [word] of tex.matchAll(/\\(?:begin|end|[a-zA-Z]+|.)|[^\\]/gs)) {
    if (word === "{" || word === "\\begin" || word === "\\left") depth += 1;
    if (word === "}" || word === "\\end" || word === "\\right") depth -= 1;
    if (word === "\\qquad" && depth === 0) parts.push("");
    else parts[parts.length - 1] += word;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

export function renderMath(tex: string, display: boolean): string {
  const bare = tex.replace(/\u202f/g, "").replace(/−/g, "-");
  const html = temml.renderToString(bare, {
    displayMode: display,
    throwOnError: true,
    // Temml hands \class to anyone it trusts; the sections are our own text.
    trust: true,
    macros: { ...macros },
  });
  return (
    html
      .replace(/<mn>(\d+)<\/mn>/g, (_, digits: string) => `<mn>${groupDigits(digits)}</mn>`)
      // The page's stylesheet says how a displayed formula is laid out.
      .replace(/ style="display:block math;"/, "")
  );
}

/** Adds both forms to markdown-it as tokens `math_inline` and `math_block`, whose content is the LaTeX. */
export function mathSyntax(md: MarkdownIt): void {
  md.inline.ruler.after("escape", "math_inline", (state, silent) => {
    if (state.src[state.pos] !== "$") return false;
    // A dollar opens before a non-space and closes after one, and not before a digit: "$5 and $6" is money.
    const found = /^\$(?![\s$])((?:\\.|[^\\$])*?[^\s\\$]|\\.)\$(?!\d)/.exec(
      state.src.slice(state.pos, state.posMax),
    );
    if (!found) return false;
    if (!silent) state.push("math_inline", "math", 0).content = found[1] ?? "";
    state.pos += found[0].length;
    return true;
  });

  md.block.ruler.before(
    "paragraph",
    "math_block",
    (state, start, end, silent) => {
      const line = (n: number) =>
        state.src.slice((state.bMarks[n] ?? 0) + (state.tShift[n] ?? 0), state.eMarks[n]);
      if (!line(start).startsWith("$$")) return false;
      let last = start;
      let body = line(start).trim().slice(2);
      while (!body.trimEnd().endsWith("$$")) {
        last += 1;
        if (last >= end) return false;
        body += `\n${line(last)}`;
      }
      if (silent) return true;
      const token = state.push("math_block", "math", 0);
      token.content = body.trimEnd().slice(0, -2);
      token.map = [start, last + 1];
      state.line = last + 1;
      return true;
    },
    { alt: ["paragraph", "blockquote", "list"] },
  );
}
