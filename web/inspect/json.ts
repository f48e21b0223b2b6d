// JSON as a config.json really comes: every value keeps the place where it stands, a key that comes twice is told,
// NaN and Infinity are read as Python writes them, and keys go into a Map, where "__proto__" is a name like others.
//
// Based on: ECMA-404, "The JSON data interchange syntax", 2nd edition, 2017; Python's json module for NaN, Infinity.

/** Largest text read, in characters: a config.json with two lists of 64 factors has 6000. */
export const MAX_TEXT = 2 ** 22;
/** Most values read, those in lists and objects counted: a config.json has some hundreds. */
export const MAX_VALUES = 2 ** 19;
/** A config.json needs four levels. */
export const MAX_DEPTH = 100;

/** Counted from 1, columns in UTF-16 units, as editors do. */
export interface Place {
  line: number;
  column: number;
}
export type Value = null | boolean | number | string | Node[] | Map<string, Node>;
export interface Node {
  value: Value;
  /** Where the value begins in the text. */
  offset: number;
}
export interface Duplicate {
  /** The key, with those around it: rope_scaling.factor. */
  path: string;
  offset: number;
}
export interface JsonText {
  root: Node;
  duplicates: Duplicate[];
  placeOf(offset: number): Place;
}

export class JsonError extends Error {
  override readonly name = "JsonError";
  constructor(
    sentence: string,
    readonly at: Place,
  ) {
    super(sentence);
  }
}

const PLAIN_KEY = /^[\w-]{1,60}$/;
/** A key as part of a path; a strange one is quoted and cut. */
export const keyName = (key: string): string =>
  PLAIN_KEY.test(key) ? key : JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key);
export const join = (path: string, key: string): string => (path ? `${path}.${keyName(key)}` : keyName(key));

/** Where each line begins. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** rope_scaling.long_factor[3] */
const pathOf = (around: readonly (string | number)[]): string =>
  around.reduce<string>(
    (path, part) => (typeof part === "number" ? `${path}[${part}]` : join(path, part)),
    "",
  );

const LITERALS = new Map<string, Value>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /-?[A-Za-z]+/y;
const QUOTE = 34;
const BACKSLASH = 92;
/** A file made to be odd may repeat a key a million times. */
const MAX_DUPLICATES = 20;

class Reader {
  #at = 0;
  #values = 0;
  #lines: readonly number[] | undefined;
  /** The keys and indices around what is read: put together only where a key comes twice. */
  readonly #around: (string | number)[] = [];
  readonly duplicates: Duplicate[] = [];
  constructor(readonly text: string) {}

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }
  /** The next character that is not space, which is not taken; "" at the end. */
  #next(): string {
    let code = this.text.charCodeAt(this.#at);
    while (code === 32 || code === 9 || code === 10 || code === 13) code = this.text.charCodeAt(++this.#at);
    return this.text.charAt(this.#at);
  }
  #take(character: string): boolean {
    if (this.#next() !== character) return false;
    this.#at++;
    return true;
  }
  #refuse(wanted: string): never {
    const next = this.#next();
    const got = next === "" ? "the text ends" : `${JSON.stringify(next)} stands`;
    throw new JsonError(`not JSON: ${got} where ${wanted} is wanted`, this.placeOf(this.#at));
  }

  placeOf(offset: number): Place {
    this.#lines ??= lineStarts(this.text);
    let [line, beyond] = [0, this.#lines.length];
    while (beyond - line > 1) {
      const middle = (line + beyond) >> 1;
      if ((this.#lines[middle] ?? 0) <= offset) line = middle;
      else beyond = middle;
    }
    return { line: line + 1, column: offset - (this.#lines[line] ?? 0) + 1 };
  }

  whole(): Node {
    if (this.text.charCodeAt(0) === 0xfeff) this.#at = 1;
    const node = this.#value();
    if (this.#next() !== "") this.#refuse("the end of the text");
    return node;
  }

  #value(): Node {
    const next = this.#next();
    const offset = this.#at;
    if (this.#around.length > MAX_DEPTH) {
      throw new JsonError(
        `nested deeper than ${MAX_DEPTH} levels; a config.json needs about four`,
        this.placeOf(offset),
      );
    }
    if (++this.#values > MAX_VALUES) {
      throw new JsonError(
        `more than ${MAX_VALUES} values, where a config.json has some hundreds`,
        this.placeOf(offset),
      );
    }
    if (next === "{") return { value: this.#record(), offset };
    if (next === "[") return { value: this.#list(), offset };
    if (next === '"') return { value: this.#string(), offset };
    const number = this.#match(NUMBER);
    if (number !== null) return { value: Number(number), offset };
    const literal = LITERALS.get(this.#match(WORD) ?? "");
    if (literal !== undefined) return { value: literal, offset };
    this.#at = offset;
    return this.#refuse("a value");
  }

  #string(): string {
    let end = this.#at + 1;
    let code = this.text.charCodeAt(end);
    while (code >= 32 && code !== QUOTE) {
      end += code === BACKSLASH ? 2 : 1;
      code = this.text.charCodeAt(end);
    }
    if (code !== QUOTE) {
      throw new JsonError("not JSON: a string is not closed on its line", this.placeOf(this.#at));
    }
    try {
      const found = JSON.parse(this.text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return found;
    } catch {
      throw new JsonError("not JSON: a string holds an escape that does not exist", this.placeOf(this.#at));
    }
  }

  #list(): Node[] {
    const list: Node[] = [];
    this.#take("[");
    if (this.#take("]")) return list;
    do {
      this.#around.push(list.length);
      list.push(this.#value());
      this.#around.pop();
    } while (this.#take(","));
    if (!this.#take("]")) this.#refuse('"," or "]"');
    return list;
  }

  #record(): Map<string, Node> {
    const record = new Map<string, Node>();
    this.#take("{");
    if (this.#take("}")) return record;
    do {
      if (this.#next() !== '"') this.#refuse("a key in quotes");
      const offset = this.#at;
      const key = this.#string();
      this.#around.push(key);
      if (record.has(key) && this.duplicates.length < MAX_DUPLICATES)
        this.duplicates.push({ path: pathOf(this.#around), offset });
      if (!this.#take(":")) this.#refuse('":"');
      record.set(key, this.#value());
      this.#around.pop();
    } while (this.#take(","));
    if (!this.#take("}")) this.#refuse('"," or "}"');
    return record;
  }
}

/** Reads a text; throws a JsonError with the place if it is not JSON, too long or nested too deep. */
export function readJson(text: string): JsonText {
  if (text.length > MAX_TEXT) {
    throw new JsonError(
      `${text.length} characters are too many for a config.json: at most ${MAX_TEXT} are read`,
      { line: 1, column: 1 },
    );
  }
  const reader = new Reader(text);
  const root = reader.whole();
  return { root, duplicates: reader.duplicates, placeOf: (offset) => reader.placeOf(offset) };
}

/** What kind of value it is, in a sentence. */
export function kindOf(value: Value): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Map) return "an object";
  if (typeof value === "string")
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  return String(value);
}
