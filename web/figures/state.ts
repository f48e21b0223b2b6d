// A figure's state is its attributes: text from an author, a link or a control, read by one table of fields.

import { quoted } from "../inspect/words.ts";

export type Field =
  | { kind: "integer" | "number"; fallback: number; min: number; max: number }
  | { kind: "choice"; fallback: string; choices: readonly string[] }
  | { kind: "flag"; fallback: boolean }
  | { kind: "text"; fallback: string; maxLength: number };
export type Fields = Readonly<Record<string, Field>>;

type Value<F extends Field> = F extends { kind: "integer" | "number" }
  ? number
  : F extends { kind: "flag" }
    ? boolean
    : F extends { kind: "choice"; choices: readonly (infer Choice)[] }
      ? Choice
      : string;
/** The values of a table of fields, by attribute name. */
export type State<F extends Fields> = { [Name in keyof F]: Value<F[Name]> };

/** Thrown for text that is not a value of the field: the sentence names the attribute and its rule. */
export class FieldError extends Error {}

export function parse(name: string, field: Field, text: string): number | boolean | string {
  const refuse = (rule: string): never => {
    throw new FieldError(`${name} must be ${rule}, got ${quoted(text)}`);
  };
  switch (field.kind) {
    case "integer":
    case "number": {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      const whole = field.kind === "integer";
      const fits = whole ? Number.isInteger(value) : Number.isFinite(value);
      if (fits && value >= field.min && value <= field.max) return value;
      return refuse(`${whole ? "a whole number" : "a number"} from ${field.min} to ${field.max}`);
    }
    case "choice":
      return field.choices.includes(text) ? text : refuse(`one of ${field.choices.join(", ")}`);
    case "flag":
      if (text === "" || text === "true" || text === "1") return true;
      return text === "false" || text === "0" ? false : refuse("true or false");
    case "text":
      return text.length <= field.maxLength ? text : refuse(`at most ${field.maxLength} characters`);
  }
}

/** All values; a missing attribute takes its fallback. */
export function readState<F extends Fields>(fields: F, attribute: (name: string) => string | null): State<F> {
  const entries = Object.entries(fields).map(([name, field]) => {
    const text = attribute(name);
    return [name, text === null ? field.fallback : parse(name, field, text)] as const;
  });
  return Object.fromEntries(entries) as State<F>;
}

// In the page's own address the state stands in the query as `key.name=value`: the fragment stays free for sections.

export function readUrl(key: string, fields: Fields): Record<string, string> {
  const found: Record<string, string> = {};
  const query = new URLSearchParams(location.search);
  for (const name of Object.keys(fields)) {
    const text = query.get(`${key}.${name}`);
    if (text !== null) found[name] = text;
  }
  return found;
}

/**
 * The page's address with this figure's state, without what equals the fallback: unless the author wrote another value,
 * which would come back.
 */
export function urlWith(
  key: string,
  fields: Fields,
  state: Readonly<Record<string, unknown>>,
  authored: ReadonlyMap<string, string> = new Map(),
): URL {
  const url = new URL(location.href);
  for (const [name, { fallback }] of Object.entries(fields)) {
    const isThere = state[name] === fallback && (authored.get(name) ?? String(fallback)) === String(fallback);
    if (isThere) url.searchParams.delete(`${key}.${name}`);
    else url.searchParams.set(`${key}.${name}`, String(state[name]));
  }
  return url;
}

export function writeUrl(...state: Parameters<typeof urlWith>): void {
  try {
    history.replaceState(history.state, "", urlWith(...state));
  } catch {
    // An opaque origin, or too many changes at once: the figure works on without a link.
  }
}
