// What JavaScript may hand in: readers that check the kind of a field and name it when it is wrong. Values are checked
// by the core, whose sentence becomes a RangeError with the value received.

/** A core's module. Calls answer with their result or a sentence; enums are records from a name to an opaque value. */
export type Core = Record<string, (...args: unknown[]) => unknown> & Record<string, Record<string, unknown>>;

export type Reader = (field: string, value: unknown, core: Core) => unknown;
export type Fields = Record<string, Reader>;
export interface Given {
  [field: string]: unknown;
}
export const show = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (ArrayBuffer.isView(value)) {
    return `${value.constructor.name} of length ${(value as Float64Array).length}`;
  }
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
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
type Arrays = Float32ArrayConstructor | Float64ArrayConstructor | Int32ArrayConstructor;
export const array =
  (
    ...kinds: (Arrays | Uint8ArrayConstructor | Uint8ClampedArrayConstructor | Uint32ArrayConstructor)[]
  ): Reader =>
  (field, value) => {
    // What only inherits from an array's prototype holds no numbers.
    if (!ArrayBuffer.isView(value) || !kinds.some((kind) => value instanceof kind)) {
      throw wrongKind(field, `a ${kinds.map((kind) => kind.name).join(" or ")}`, value);
    }
    return value;
  };
export const f64 = array(Float64Array);
export const i32 = array(Int32Array);
export const floats = array(Float32Array, Float64Array);
export const record =
  (fields: Fields): Reader =>
  (field, value, core) =>
    read(fields, field, value, core);

export function read(fields: Fields, what: string, given: unknown, core: Core): Given {
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given) || Array.isArray(given)) {
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
