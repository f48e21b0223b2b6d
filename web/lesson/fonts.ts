// The page's two families, cut down to the glyphs in use: prose in Source Serif 4, formulas in STIX Two Math. MathML
// is laid out from the font's MATH table, so a formula looks the same in every engine only if the page brings one.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import subsetFont from "subset-font";

const require = createRequire(import.meta.url);
const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join("");

/** File name → bytes of every font that the article needs. */
export async function fonts(html: string): Promise<Map<string, Buffer>> {
  const text = ascii + decode(html.replace(/<math[\s\S]*?<\/math>|<[^>]*>/g, ""));
  const serif = (style: string) => `@fontsource/source-serif-4/files/source-serif-4-latin-${style}.woff2`;
  const wanted: [name: string, file: string, glyphs: string][] = [
    ["math.woff2", "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2", mathGlyphs(html)],
    ["text.woff2", serif("400-normal"), text],
    ["text-italic.woff2", serif("400-italic"), text],
    ["text-semibold.woff2", serif("600-normal"), text],
  ];
  const cut = wanted.map(async ([name, file, glyphs]): Promise<[string, Buffer]> => {
    const source = await readFile(require.resolve(file));
    return [name, await subsetFont(source, [...new Set(glyphs)].join(""), { targetFormat: "woff2" })];
  });
  return new Map(await Promise.all(cut));
}

/** The characters of every formula, and for a one-letter <mi> the italic letter that the browser draws for it. */
function mathGlyphs(html: string): string {
  // Drawn without standing in the text: the radical.
  let used = "0123456789+-−=(),.√";
  for (const [math] of html.matchAll(/<math[\s\S]*?<\/math>/g)) {
    used += decode(math.replace(/<[^>]*>/g, ""));
    for (const [, letter = ""] of math.matchAll(/<mi(?:\s[^>]*)?>(.)<\/mi>/gu)) used += italic(letter);
  }
  return used;
}

function italic(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const shifted = (first: string, base: number) =>
    String.fromCodePoint(base + code - (first.codePointAt(0) ?? 0));
  if (letter === "h") return "ℎ";
  if (/[a-z]/.test(letter)) return shifted("a", 0x1d44e);
  if (/[A-Z]/.test(letter)) return shifted("A", 0x1d434);
  if (/[α-ω]/.test(letter)) return shifted("α", 0x1d6fc);
  if (/[Α-Ω]/.test(letter)) return shifted("Α", 0x1d6e2);
  return letter;
}

function decode(text: string): string {
  return text
    .replace(/&#x([\da-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}
