// What JavaScript may hand in: readers that check the kind of a field and name it when it is wrong. Values are checked
// by the core, whose sentence becomes a RangeError with the value received.

/** A core's module. Calls answer with their result or a sentence; enums are records from a name to an opaque value. */
export type Core = Record<string, (...args: unknown[]) => unknown> & Record<string, Record<string, unknown>>;

export type Reader = (field: string, value: unknown, core: Core) => unknown;
export type Fields = Record<string, Reader>;
export interface Given {
  [field: string]: unknown;
}

/** What a typed array itself says, whatever has been put on it: its kind, undefined for what is none, and its place. */
const saidBy = (name: PropertyKey): ((view: object) => unknown) => {
  const found = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), name);
  return (view) => found?.get?.call(view);
};
const kindOf = saidBy(Symbol.toStringTag) as (view: object) => string | undefined;
export const lengthOf = saidBy("length") as (view: object) => number;
const bufferOf = saidBy("buffer") as (view: object) => ArrayBuffer;
const offsetOf = saidBy("byteOffset") as (view: object) => number;
const KINDS = [Float32Array, Float64Array, Int32Array, Uint32Array, Uint8Array, Uint8ClampedArray] as const;
type Kinds = (typeof KINDS)[number];
const plain = (kind: Kinds, value: ArrayBufferView): ArrayBufferView =>
  Object.getPrototypeOf(value) === kind.prototype && !Object.hasOwn(value, "length")
    ? value
    : new kind(bufferOf(value), offsetOf(value), lengthOf(value));
const isList = (value: unknown): boolean => {
  try {
    return Array.isArray(value);
  } catch {
    return true; // a revoked proxy is nothing that could be read
  }
};

export const show = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (ArrayBuffer.isView(value)) {
    const kind = kindOf(value);
    return kind ? `${kind} of length ${lengthOf(value)}` : "a DataView";
  }
  if (typeof value === "object" && value !== null) return isList(value) ? "an array" : "an object";
  return typeof value === "function" ? "a function" : String(value);
};
export const wrongKind = (field: string, rule: string, value: unknown): TypeError =>
  new TypeError(`${field} must be ${rule}, got ${show(value)}`);

export const optional =
  (reader: Reader, fallback: unknown): Reader =>
  (field, value, core) =>
    value === undefined ? fallback : reader(field, value, core);

export const number: Reader = (field, value) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw wrongKind(field, "a finite number", value);
  return value;
};
const MAX_COUNT = 2 ** 31 - 1;
export const integer: Reader = (field, value) => {
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongKind(field, "an integer", value);
  if (Math.abs(value) > MAX_COUNT) {
    throw new RangeError(`${field} must be within ±${MAX_COUNT}, got ${value}: no array can hold so many`);
  }
  return value;
};
export const boolean: Reader = (field, value) => {
  if (typeof value !== "boolean") throw wrongKind(field, "true or false", value);
  return value;
};
export const named =
  (list: string): Reader =>
  (field, value, core) => {
    const names = core[list] as Record<string, unknown>;
    const known = Object.keys(names).filter((name) => name !== "values" && name !== "argCount");
    if (typeof value === "string" && known.includes(value)) return names[value];
    throw wrongKind(field, `one of ${known.join(", ")}`, value);
  };
export const array =
  (...kinds: Kinds[]): Reader =>
  (field, value) => {
    // What only inherits from an array's prototype holds no numbers, and what an heir says of itself need not be so.
    const kind = ArrayBuffer.isView(value) && kinds.find(({ name }) => name === kindOf(value));
    if (!kind) throw wrongKind(field, `a ${kinds.map(({ name }) => name).join(" or ")}`, value);
    return plain(kind, value as ArrayBufferView);
  };
export const f64 = array(Float64Array);
export const i32 = array(Int32Array);
export const floats = array(Float32Array, Float64Array);
export const record =
  (fields: Fields): Reader =>
  (field, value, core) =>
    read(fields, field, value, core);

export function read(fields: Fields, what: string, given: unknown, core: Core): Given {
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given) || isList(given)) {
    throw wrongKind(what, "an object", given);
  }
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(fields, key)) {
      throw new TypeError(`${what} has no field ${show(key)}; it has ${Object.keys(fields).join(", ")}`);
    }
  }
  const result: Given = {};
  for (const [field, reader] of Object.entries(fields)) {
    result[field] = reader(field, Object.hasOwn(given, field) ? (given as Given)[field] : undefined, core);
  }
  return result;
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The result of a call, or a RangeError: the core's sentence and the values of the fields that it names. */
export function unwrap<T>(result: unknown, given: Given = {}): T {
  if (typeof result !== "string") return result as T;
  const named = new Set(result.match(/[a-z][a-z0-9_]*/gi) ?? []);
  const values = [...named]
    .map((name) => [camel(name), name] as const)
    .filter(([field]) => Object.hasOwn(given, field) && typeof given[field] !== "object")
    .map(([field, name]) => `${name} = ${show(given[field])}`);
  throw new RangeError(values.length > 0 ? `${result}; got ${values.join(", ")}` : result);
}

/** Calls of the core, by name: with what typed arrays are, not with what they say of themselves. */
export const caller = (core: Core) => {
  const asItIs = (value: unknown): unknown => {
    if (!ArrayBuffer.isView(value)) return value;
    const kind = KINDS.find(({ name }) => name === kindOf(value));
    return kind ? plain(kind, value) : value;
  };
  return <T>(name: string, args: unknown[], given: Given = {}): T =>
    unwrap<T>((core[name] as Core[string])(...args.map(asItIs)), given);
};
