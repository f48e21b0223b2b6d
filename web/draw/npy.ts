// Arrays as files: NumPy's .npy, and comma-separated text.
//
// Based on: NumPy Enhancement Proposal 1, "A simple file format for NumPy arrays", version 1.0.

export interface NamedArray {
  /** What the numbers are: a file name and a variable name, in snake_case. */
  name: string;
  /** Row-major sizes; their product is the length of the values. */
  shape: readonly number[];
  values: Float32Array | Float64Array | Int32Array;
  /** Heads of the last axis, where its places have names. */
  columns?: readonly string[];
}

const dtype = ({ values }: NamedArray): string =>
  values instanceof Float64Array ? "<f8" : values instanceof Float32Array ? "<f4" : "<i4";

export function toNpy(array: NamedArray): Uint8Array<ArrayBuffer> {
  const shape = array.shape.length === 1 ? `${array.shape[0]},` : array.shape.join(", ");
  const header = `{'descr': '${dtype(array)}', 'fortran_order': False, 'shape': (${shape}), }`;
  // Magic, version and length take 10 bytes; the data begin at a multiple of 64.
  const length = Math.ceil((10 + header.length + 1) / 64) * 64 - 10;
  const { buffer, byteOffset, byteLength } = array.values;
  const file = new Uint8Array(10 + length + byteLength);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, length & 255, length >> 8]);
  file.set(new TextEncoder().encode(`${header.padEnd(length - 1)}\n`), 10);
  file.set(new Uint8Array(buffer, byteOffset, byteLength), 10 + length);
  return file;
}

/** One line for each row of the last axis, led by the indices of the axes before it. */
export function toCsv({ shape, values, columns }: NamedArray): string {
  const width = shape.at(-1) ?? 1;
  const outer = shape.slice(0, -1);
  const heads = columns ?? Array.from({ length: width }, (_, i) => String(i));
  const lines = [[...outer.map((_, axis) => `axis ${axis}`), ...heads].map(quote).join(",")];
  for (let row = 0; row * width < values.length; row++) {
    let rest = row;
    const indices = outer.map(() => 0);
    for (let axis = outer.length - 1; axis >= 0; axis--) {
      const size = outer[axis] ?? 1;
      indices[axis] = rest % size;
      rest = Math.floor(rest / size);
    }
    lines.push([...indices, ...values.subarray(row * width, (row + 1) * width)].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

// A head that a spreadsheet would run as a formula is text; a number is none.
const quote = (text: string): string => {
  const safe = /^[=+\-@]/.test(text) && !/^-?\d+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
