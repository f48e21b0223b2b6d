// What of a section is prose, and which numerals stand in it.
//
// Not prose: front matter, listings (their printed output is), directives, `{{name}}`, link targets, names such as T5
// or float32, and code without digits. A citation's year and number, and "section 3" in a link, are bound to the link.
// Offsets stay those of the file: what is no prose becomes spaces.

const blank = (text) => text.replace(/[^\n]/g, " ");

/** Listings lose everything but what they print, which stands in blocks marked "text". */
function blankFences(text) {
  return text.replace(/^(```(\w*)\n)([\s\S]*?)(^```)$/gm, (_, open, language, body, close) =>
    [blank(open), language === "text" ? body : blank(body), blank(close)].join(""),
  );
}

/** `numbers` gives the number of the section with an id. */
function blankLinks(text, numbers) {
  return text.replace(/\[([^[\]]*)\](\([^()\s]*\))/g, (_, label, target) => {
    const section = numbers.get(target.slice(2, -1));
    const [, year, month] = target.match(/arxiv\.org\/abs\/(\d\d)(\d\d\.\d{5})/) ?? [];
    const bound = year ? [`20${year}`, `${year}${month}`] : [`section ${section}`, `Section ${section}`];
    const rest = bound.reduce((left, known) => left.replace(known, blank), label);
    return ` ${rest} ${blank(target)}`;
  });
}

/** The text of a file with spaces in place of all that is no prose. */
export function proseOf(markdown, numbers) {
  const text = markdown
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^::[a-z].*$/gm, blank)
    .replace(/^:::(?:predict \S+|\w+)/gm, blank)
    .replace(/\{\{[\w.-]+\}\}/g, blank);
  return blankLinks(blankFences(text), numbers)
    .replace(/`[^`\n]*`/g, (code) => (/\d/.test(code) ? code : blank(code)))
    .replace(/\$\$?[^$]*\$\$?|\b[A-Za-z]+-?\d[\w-]*/g, (found) =>
      found.startsWith("$") ? found : blank(found),
    );
}

const digits = String.raw`\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
const words = [
  "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen",
  "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?",
  "twice|half|halves|halved|halfway|quarters?|fifths?|eighths?|tenths?|hundredths?|thousandths?",
  "(?<=\\b(?:a|one|two|every|good) )(?:second|third|fourth)s?",
].join("|");
const numeral = new RegExp(`${digits}|\\b(?:${words})\\b`, "gi");

/** Every numeral of a section's prose, with its offset and line in the file. */
export function numeralsOf(markdown, numbers) {
  const prose = proseOf(markdown, numbers);
  return [...prose.matchAll(numeral)].map(({ 0: text, index }) => ({
    text,
    index,
    line: markdown.slice(0, index).split("\n").length,
  }));
}
