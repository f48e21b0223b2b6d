// Code blocks, coloured at build time (Shiki). The theme names CSS variables and each becomes a class, so that the
// colours are the page's own tokens in light and dark and the HTML needs no style attribute.

import type { BundledLanguage } from "shiki";
import { createCssVariablesTheme, createHighlighter } from "shiki";

const languages: Partial<Record<BundledLanguage, string>> = {
  python: "Python",
  cpp: "C++",
  ts: "TypeScript",
  js: "JavaScript",
  html: "HTML",
  json: "JSON",
  bash: "Shell",
};
const aliases: Record<string, string> = {
  py: "python",
  "c++": "cpp",
  typescript: "ts",
  javascript: "js",
  sh: "bash",
  shell: "bash",
};

export type CodeRenderer = (code: string, info: string) => string;

/** `info` is the fence's: a language, then words that name the listing ("python NumPy" is labelled "NumPy". Plain text is what a
 * listing prints). */
export async function codeRenderer(): Promise<CodeRenderer> {
  const theme = createCssVariablesTheme({ name: "posenc", variablePrefix: "--code-" });
  const highlighter = await createHighlighter({ themes: [theme], langs: Object.keys(languages) });
  return (code, info) => {
    const [named = "", ...words] = info.trim().split(/\s+/);
    const lang = known(aliases[named] ?? named);
    if (!lang && named !== "" && named !== "text") {
      throw new Error(`no grammar for "${named}" (known: ${Object.keys(languages).join(", ")}, text)`);
    }
    const label = words.join(" ") || (lang && languages[lang]) || "Output";
    const body = lang ? highlight(code.trimEnd(), lang) : escapeHtml(code.trimEnd());
    return `<div class="code"><p class="code-label">${escapeHtml(label)}</p><pre class="scroll"><code>${body}</code></pre></div>\n`;
  };

  function highlight(code: string, lang: BundledLanguage): string {
    const { tokens } = highlighter.codeToTokens(code, { lang, theme: "posenc" });
    return tokens
      .map((line) =>
        line
          .map(({ content, color }) => {
            const kind = /--code-token-([\w-]+)/.exec(color ?? "")?.[1];
            return kind ? `<span class="tok-${kind}">${escapeHtml(content)}</span>` : escapeHtml(content);
          })
          .join(""),
      )
      .join("\n");
  }
}

function known(lang: string): BundledLanguage | undefined {
  return lang in languages ? (lang as BundledLanguage) : undefined;
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
