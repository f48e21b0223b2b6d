// The math font, cut down to the glyphs that the formulas use: 400 kB become less than 50. MathML is laid out from
// the font's MATH table, so a formula looks the same in every engine only if the page brings the font.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import subsetFont from "subset-font";

export async function mathFont(html: string): Promise<Buffer> {
  const path = createRequire(import.meta.url).resolve(
    "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2",
  );
  return subsetFont(await readFile(path), glyphs(html), { targetFormat: "woff2" });
}

/** The characters of every formula, and for a one-letter <mi> the italic letter that the browser draws for it. */
function glyphs(html: string): string {
  const used = new Set("0123456789+-−=(),.|∣ ");
  for (const [math] of html.matchAll(/<math[\s\S]*?<\/math>/g)) {
    const text = decode(math.replace(/<[^>]*>/g, ""));
    for (const character of text) used.add(character);
    for (const [, letter = ""] of math.matchAll(/<mi(?:\s[^>]*)?>(.)<\/mi>/gu)) used.add(italic(letter));
  }
  return [...used].join("");
}

function italic(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const shifted = (first: string, base: number) => String.fromCodePoint(base + code - (first.codePointAt(0) ?? 0));
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
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&amp;/g, "&");
}
