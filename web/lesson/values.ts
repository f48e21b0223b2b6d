// Numbers in the prose: `{{name}}` in a section becomes the value of that name, computed by the core.

const placeholder = /\{\{([A-Za-z][\w.-]+)\}\}/g;
const plainNumber = /^[-−]?\d+(\.\d+)?$/;

/** 60611 → 60 611 with a thin no-break space, from five digits on; a minus is a minus, not a hyphen. */
export function groupDigits(value: string | number): string {
  const text = String(value);
  if (!plainNumber.test(text)) return text;
  const [whole = "", fraction] = text.replace("-", "−").split(".");
  const digits = whole.replace("−", "").length;
  const grouped = digits < 5 ? whole : whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, "\u202f");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/**
 * Replaces the placeholders line by line, so that line numbers stay those of the file. Code keeps the bare number:
 * it is there to be copied. `missing` hears of each unknown name; `used` collects the known ones.
 */
export function fillValues(
  markdown: string,
  values: Record<string, string>,
  used: Set<string>,
  missing: (name: string, line: number) => void,
): string {
  let fenced = false;
  return markdown
    .split("\n")
    .map((line, index) => {
      if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
      return line.replace(placeholder, (whole, name: string) => {
        const value = values[name];
        if (value === undefined) {
          missing(name, index);
          return whole;
        }
        used.add(name);
        return fenced ? value.replace(/\u202f/g, "").replace(/−/g, "-") : groupDigits(value);
      });
    })
    .join("\n");
}
