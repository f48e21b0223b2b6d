// A table of numbers out of the reader's own file: NumPy's .npy, or a tensor of a .safetensors.
//
// A file of weights may hold gigabytes, of which one table is wanted. So reading takes three steps, each a function
// of the bytes that the one before asked for: headerBytes, tensorsIn, readTable. Whatever the bytes are, nothing but
// a TableFileError leaves here; its sentence names the part of the file and the rule that it breaks.
//
// Based on: NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays", versions 1.0 to 3.0; Hugging Face,
// "Safetensors", section Format (huggingface/safetensors, README.md).

import { visible } from "../inspect/words.ts";

export class TableFileError extends Error {
  override readonly name = "TableFileError";
}

type Kind = "npy" | "safetensors";
export type Dtype = "F16" | "BF16" | "F32" | "F64";

/** What a header says of an array. Its numbers stand in the file's bytes begin..end. */
export interface Tensor {
  name: string;
  dtype: string;
  shape: readonly number[];
  bigEndian: boolean;
  /** Columns stand one after the other. */
  fortran: boolean;
  begin: number;
  end: number;
}

export interface FileTable {
  rows: number;
  columns: number;
  /** (rows, columns), row-major. */
  values: Float32Array;
  nans: number;
  infinities: number;
}

/** Bytes that headerBytes wants: magic, version and length of either format. */
export const FIRST_BYTES = 12;
/** Largest table that is read: 4 194 304 cells. */
export const MAX_CELLS = 2 ** 22;
/** The limit of the safetensors library itself, and for an .npy file that of its version 1.0. */
const MAX_HEADER = { npy: 2 ** 16, safetensors: 100_000_000 };
const MAX_TENSORS = 100_000;
/** A row is drawn whole. */
const MAX_COLUMNS = 2 ** 16;

const SIZES: Readonly<Record<Dtype, number>> = { F16: 2, BF16: 2, F32: 4, F64: 8 };
const isDtype = (name: string): name is Dtype => Object.hasOwn(SIZES, name);

const refuse = (sentence: string): never => {
  throw new TableFileError(sentence);
};

/** Text of the file, short and printable enough for a sentence. */
const quote = (text: string): string => {
  const printable = visible(text.slice(0, 60)).replace(/[\t\n]/g, "\ufffd");
  return `“${printable}${text.length > 60 ? "…" : ""}”`;
};
const shapeText = (shape: readonly number[]): string =>
  `(${shape.slice(0, 8).join(", ")}${shape.length > 8 ? ", …" : shape.length === 1 ? "," : ""})`;

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function decode(bytes: Uint8Array, encoding: "utf-8" | "latin1", part: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse(`${part} must be UTF-8 text`);
  }
}

// ------------------------------------------------------------------------------------------------- header

function kindOf(fileName: string): Kind {
  if (/\.npy$/i.test(fileName)) return "npy";
  if (/\.safetensors$/i.test(fileName)) return "safetensors";
  return refuse(`File name: must end in .npy or .safetensors, got ${quote(fileName)}`);
}

/** Length of magic, version, length field and header together, from the file's first bytes. */
export function headerBytes(fileName: string, first: Uint8Array, fileSize: number): number {
  return kindOf(fileName) === "npy" ? npyHeader(first, fileSize).end : safetensorsHeader(first, fileSize);
}

/** All arrays of the file, of any type and dimension, from its first headerBytes bytes. */
export function tensorsIn(fileName: string, header: Uint8Array, fileSize: number): Tensor[] {
  const length = headerBytes(fileName, header, fileSize);
  if (header.length < length) refuse(`Header: ${length} bytes are announced, ${header.length} were read`);
  return kindOf(fileName) === "npy"
    ? [npyTensor(fileName, header, fileSize)]
    : safetensorsTensors(header.subarray(8, length), length, fileSize);
}

/** Those that are tables of floats. BERT's files also hold position_ids, whole numbers of shape (1, 512). */
export const tablesOf = (tensors: readonly Tensor[]): Tensor[] =>
  tensors.filter(({ shape, dtype }) => shape.length === 2 && isDtype(dtype));

/** The table to open first: one whose name speaks of positions, else the only one. */
export function preferred(tables: readonly Tensor[]): Tensor | undefined {
  const named = (pattern: RegExp) => tables.find(({ name }) => pattern.test(name));
  return named(/position/i) ?? named(/(^|\.)wpe\.weight$/) ?? (tables.length === 1 ? tables[0] : undefined);
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];

function npyHeader(first: Uint8Array, fileSize: number): { begin: number; end: number; major: number } {
  if (first.length < 10) refuse(`Magic: an .npy file has at least 10 bytes, this one has ${first.length}`);
  if (MAGIC.some((byte, i) => first[i] !== byte)) refuse("Magic: an .npy file begins with \\x93NUMPY");
  const [major = 0, minor = 0] = first.subarray(6, 8);
  if (major < 1 || major > 3 || minor !== 0) {
    refuse(`Version: must be 1.0, 2.0 or 3.0, got ${major}.${minor}`);
  }
  const begin = major === 1 ? 10 : 12;
  if (first.length < begin) refuse(`Header length: the file ends after ${first.length} bytes, inside it`);
  const view = viewOf(first);
  const end = begin + (major === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  checkHeader("npy", end - begin, end, fileSize);
  return { begin, end, major };
}

function safetensorsHeader(first: Uint8Array, fileSize: number): number {
  if (first.length < 8) {
    refuse(`Header length: a .safetensors file begins with 8 bytes, this one has ${first.length}`);
  }
  const length = Number(viewOf(first).getBigUint64(0, true));
  checkHeader("safetensors", length, 8 + length, fileSize);
  if (length < 2) refuse(`Header length: must be at least 2 bytes, got ${length}`);
  return 8 + length;
}

function checkHeader(kind: Kind, length: number, end: number, fileSize: number): void {
  const most = MAX_HEADER[kind];
  if (length > most) refuse(`Header length: must be at most ${most} bytes, got ${length}`);
  if (end > fileSize) {
    refuse(`Header: ${length} bytes are announced, but the file ends after ${fileSize} bytes`);
  }
}

// ---------------------------------------------------------------------------------------------------- npy

const NPY_DTYPES: Readonly<Record<string, Dtype>> = { f2: "F16", f4: "F32", f8: "F64" };

function npyTensor(fileName: string, bytes: Uint8Array, fileSize: number): Tensor {
  const { begin, end, major } = npyHeader(bytes, fileSize);
  const text = decode(bytes.subarray(begin, end), major === 3 ? "utf-8" : "latin1", "Header");
  const fields = pythonDict(text);
  const field = (name: string): unknown =>
    fields.has(name) ? fields.get(name) : refuse(`Header: the key '${name}' is missing`);
  for (const name of fields.keys()) {
    if (!["descr", "fortran_order", "shape"].includes(name)) refuse(`Header: unknown key ${quote(name)}`);
  }
  const descr = field("descr");
  if (typeof descr !== "string") return refuse("Header: descr must be text such as '<f4'");
  const [, order, code = ""] = descr.match(/^([<>=|])?(\w+)$/) ?? [];
  const dtype = Object.hasOwn(NPY_DTYPES, code) ? NPY_DTYPES[code] : undefined;
  if (dtype === undefined || order === "|") {
    return refuse(`Header: dtype must be f2, f4 or f8, got ${quote(descr)}`);
  }
  const fortran = field("fortran_order");
  if (typeof fortran !== "boolean") return refuse("Header: fortran_order must be True or False");
  const shape = field("shape");
  if (!Array.isArray(shape)) return refuse("Header: shape must be a tuple of whole numbers");
  const name = fileName.replace(/^.*[/\\]/, "");
  const tensor = { name, dtype, shape, bigEndian: order === ">", fortran, begin: end, end: fileSize };
  checkSize(tensor, "Data");
  return tensor;
}

/** The dict literal of an .npy header: keys and texts in quotes, True, False, and tuples of whole numbers. */
function pythonDict(text: string): Map<string, string | boolean | number[]> {
  const fields = new Map<string, string | boolean | number[]>();
  let rest = text.trim();
  const take = (pattern: RegExp): RegExpMatchArray | null => {
    const match = rest.match(pattern);
    if (match) rest = rest.slice(match[0].length).trimStart();
    return match;
  };
  const malformed = (): never => refuse(`Header: must be a Python dict, got ${quote(rest || text)}`);
  if (!take(/^\{/)) malformed();
  while (!take(/^\}/)) {
    const [, , key = ""] = take(/^(['"])(\w*)\1/) ?? malformed();
    if (!take(/^:/)) malformed();
    if (fields.has(key)) refuse(`Header: the key ${quote(key)} stands there twice`);
    const word = take(/^(True|False)\b/);
    const string = word ? null : take(/^(['"])([^'"\\]*)\1/);
    const tuple = word || string ? null : take(/^\(([\s\dL,]*)\)/);
    if (word) fields.set(key, word[1] === "True");
    else if (string) fields.set(key, string[2] ?? "");
    else if (tuple) fields.set(key, tupleOf(tuple[1] ?? ""));
    else malformed();
    if (!take(/^,/) && !rest.startsWith("}")) malformed();
  }
  if (rest !== "") malformed();
  return fields;
}

function tupleOf(text: string): number[] {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.at(-1) === "") parts.pop();
  return parts.map((part) => {
    const size = /^\d+L?$/.test(part) ? Number.parseInt(part, 10) : Number.NaN;
    return Number.isSafeInteger(size)
      ? size
      : refuse(`Header: shape must hold whole numbers, got ${quote(text)}`);
  });
}

// -------------------------------------------------------------------------------------------- safetensors

function safetensorsTensors(json: Uint8Array, dataBegin: number, fileSize: number): Tensor[] {
  if (json[0] !== 0x7b) refuse("Header: must begin with {");
  // Each tensor is an object: whoever names millions of them is refused before they are made.
  let objects = 0;
  for (const byte of json) if (byte === 0x7b) objects++;
  if (objects > 2 * MAX_TENSORS)
    refuse(`Header: must name at most ${MAX_TENSORS} tensors, holds ${objects} objects`);
  const text = decode(json, "utf-8", "Header");
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    return refuse("Header: must be JSON");
  }
  // JSON.parse makes "__proto__" an own property like any other; nothing is ever copied onto an object from here.
  const entries = Object.entries(header as Record<string, unknown>).filter(
    ([name]) => name !== "__metadata__",
  );
  if (entries.length === 0) refuse("Header: names no tensor");
  if (entries.length > MAX_TENSORS) {
    refuse(`Header: must name at most ${MAX_TENSORS} tensors, names ${entries.length}`);
  }
  // Of two with one name JSON.parse keeps the second.
  const offsets = text.match(/(?<!\\)"data_offsets"\s*:/g)?.length ?? 0;
  if (offsets > entries.length) refuse("Header: the name of a tensor or of its field stands there twice");
  const tensors = entries.map(([name, entry]) => safetensor(name, entry, dataBegin, fileSize));
  const ordered = [...tensors].sort((a, b) => a.begin - b.begin || a.end - b.end);
  let [free, before] = [dataBegin, ""];
  for (const { name, begin, end } of ordered) {
    if (begin < free) refuse(`Tensor ${quote(name)}: its data overlap those of ${quote(before)}`);
    [free, before] = [end, name];
  }
  return tensors;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function safetensor(name: string, entry: unknown, dataBegin: number, fileSize: number): Tensor {
  const part = `Tensor ${quote(name)}`;
  if (typeof entry !== "object" || entry === null) return refuse(`${part}: must be an object`);
  const field = (key: string): unknown =>
    Object.hasOwn(entry, key)
      ? (entry as Record<string, unknown>)[key]
      : refuse(`${part}: ${key} is missing`);
  const [dtype, shape, offsets] = [field("dtype"), field("shape"), field("data_offsets")];
  if (typeof dtype !== "string") return refuse(`${part}: dtype must be text`);
  if (!Array.isArray(shape) || !shape.every(isCount)) {
    return refuse(`${part}: shape must be a list of whole numbers`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    return refuse(`${part}: data_offsets must be two whole numbers`);
  }
  const [begin = 0, end = 0] = offsets as number[];
  if (begin > end) return refuse(`${part}: data_offsets must not run backwards, got ${begin} to ${end}`);
  if (dataBegin + end > fileSize) {
    return refuse(
      `${part}: data_offsets end at ${end}, but the file has ${fileSize - dataBegin} bytes of data`,
    );
  }
  const at = { begin: dataBegin + begin, end: dataBegin + end };
  const tensor = { name, dtype, shape, bigEndian: false, fortran: false, ...at };
  if (isDtype(dtype)) checkSize(tensor, part);
  return tensor;
}

// --------------------------------------------------------------------------------------------------- data

const cellsOf = ({ shape }: Tensor): number =>
  shape.includes(0) ? 0 : shape.reduce((product, size) => product * size, 1);

function checkSize(tensor: Tensor, part: string): void {
  const bytes = cellsOf(tensor) * SIZES[tensor.dtype as Dtype];
  const held = tensor.end - tensor.begin;
  if (bytes === held) return;
  const what = `shape ${shapeText(tensor.shape)} of ${tensor.dtype} takes ${Number.isSafeInteger(bytes) ? bytes : "more than 2^53"} bytes`;
  refuse(`${part}: ${what}, the file holds ${held} for it`);
}

/** Refuses a tensor that readTable could not show, before its data are read. */
export function checkTable({ name, dtype, shape }: Tensor): void {
  const part = `Tensor ${quote(name)}`;
  if (!isDtype(dtype)) refuse(`${part}: dtype must be F16, BF16, F32 or F64, got ${quote(dtype)}`);
  if (shape.length !== 2) {
    refuse(`${part}: must have two dimensions, got ${shape.length}, shape ${shapeText(shape)}`);
  }
  const [rows = 0, columns = 0] = shape;
  if (rows === 0 || columns === 0) refuse(`${part}: must not be empty, got shape ${shapeText(shape)}`);
  if (columns > MAX_COLUMNS) refuse(`${part}: must have at most ${MAX_COLUMNS} columns, has ${columns}`);
  if (rows * columns > MAX_CELLS) {
    refuse(`${part}: must have at most ${MAX_CELLS} cells, got ${rows} × ${columns} = ${rows * columns}`);
  }
}

/** The numbers of a tensor from its bytes, those from begin to end. */
export function readTable(tensor: Tensor, data: Uint8Array): FileTable {
  checkTable(tensor);
  const [rows = 0, columns = 0] = tensor.shape;
  const dtype = tensor.dtype as Dtype;
  if (data.length !== rows * columns * SIZES[dtype]) {
    refuse(`Data: ${rows * columns * SIZES[dtype]} bytes are announced, ${data.length} were read`);
  }
  const number = reader(dtype, viewOf(data), !tensor.bigEndian);
  const values = new Float32Array(rows * columns);
  let [nans, infinities] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = Math.fround(number(i * SIZES[dtype]));
    if (Number.isNaN(value)) nans++;
    else if (!Number.isFinite(value)) infinities++;
    values[tensor.fortran ? (i % rows) * columns + Math.floor(i / rows) : i] = value;
  }
  return { rows, columns, values, nans, infinities };
}

function reader(dtype: Dtype, view: DataView, little: boolean): (at: number) => number {
  switch (dtype) {
    case "F32":
      return (at) => view.getFloat32(at, little);
    case "F64":
      return (at) => view.getFloat64(at, little);
    case "BF16": {
      // The upper half of a float32.
      const word = new DataView(new ArrayBuffer(4));
      return (at) => {
        word.setUint16(0, view.getUint16(at, little));
        return word.getFloat32(0);
      };
    }
    case "F16":
      return (at) => half(view.getUint16(at, little));
  }
}

/** IEEE 754 binary16: one bit of sign, five of exponent, ten of fraction. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
