// Files and streams of the command line: a text that is read whole but never without bound, an array that is written
// in the format its name asks for.

import { createReadStream } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { type NamedArray, toCsv, toNpy } from "../draw/npy.ts";
import { MAX_TEXT } from "../inspect/json.ts";
import type { Posenc } from "../posenc.ts";
import { type Given, type Option, UsageError } from "./options.ts";
import { toPng } from "./png.ts";

const because = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: "no such file",
    ENOSPC: "no space left",
    EISDIR: "a folder, not a file",
    EACCES: "permission denied",
  };
  return known[code ?? ""] ?? message;
};

/** The text of a file, or of standard input for "-". Of more than MAX_TEXT bytes nothing is kept. */
export async function readText(path: string): Promise<string> {
  if (path === "") throw new UsageError("the file to be read has no name");
  try {
    const size = path === "-" ? 0 : (await stat(path)).size;
    if (size > MAX_TEXT) throw new UsageError(`${path} has ${size} bytes; at most ${MAX_TEXT} are read`);
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of path === "-" ? process.stdin : createReadStream(path)) {
      length += (part as Buffer).length;
      if (length > MAX_TEXT)
        throw new UsageError(`${path} has more than ${MAX_TEXT} bytes, which are not read`);
      parts.push(part as Buffer);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof TypeError) throw new UsageError(`${path} is not text in UTF-8`);
    throw new UsageError(`${path} cannot be read: ${because(error)}`);
  }
}

/** Writes to standard output, and waits until it is taken. A reader that has seen enough is no fault. */
export function print(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      if (error && (error as NodeJS.ErrnoException).code !== "EPIPE")
        reject(new UsageError(`standard output cannot be written: ${because(error)}`));
      else resolve();
    });
  });
}

export const FORMATS = ["csv", "json", "npy", "png"] as const;
type Format = (typeof FORMATS)[number];

export const OUTPUT: readonly Option[] = [
  {
    name: "output",
    value: "FILE",
    help: "Write to FILE instead of standard output; its extension gives the format.",
  },
  {
    name: "format",
    value: "FORMAT",
    help: "The format, if the extension does not say it. Default csv.",
    choices: FORMATS,
  },
  {
    name: "dtype",
    value: "TYPE",
    help: "Numbers of an .npy file. Default float64.",
    choices: ["float64", "float32"],
  },
];

/** Numbers of the largest result, and of the largest that becomes text or a picture. */
const [MAX_CELLS, MAX_SHOWN] = [2 ** 27, 2 ** 24];

function formatOf(given: Given): Format {
  const asked = given.text("format");
  const output = given.text("output");
  if (output === "") throw new UsageError("--output must name a file");
  const extension = extname(output ?? "")
    .slice(1)
    .toLowerCase();
  if (asked !== undefined) return asked as Format;
  if (extension === "") return "csv";
  if ((FORMATS as readonly string[]).includes(extension)) return extension as Format;
  throw new UsageError(
    `--output must end in .${FORMATS.join(", .")}, or --format say which is meant; got ${JSON.stringify(output)}`,
  );
}

/** Refuses a result of so many numbers, before it is computed, if its format could not hold it. */
export function checkCells(given: Given, what: string, cells: number): void {
  const format = formatOf(given);
  const most = format === "npy" ? MAX_CELLS : MAX_SHOWN;
  if (cells <= most) return;
  const other = format === "npy" ? "" : `; .npy takes ${MAX_CELLS}`;
  throw new UsageError(`${what} ${cells} numbers: at most ${most} are written as ${format}${other}`);
}

/** Of a JSON file: so many lists of finite numbers, one below the other, all of one length; otherwise `rule` is said. */
export async function readMatrix(
  path: string,
  rule: string,
  rows: number,
  columns?: number,
): Promise<{ columns: number; values: Float64Array }> {
  const text = await readText(path);
  let lists: unknown;
  try {
    lists = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
  }
  const list: unknown[] = Array.isArray(lists) ? lists : [];
  const width: number = columns ?? (Array.isArray(list[0]) ? list[0].length : 0);
  const sound = (row: unknown) => Array.isArray(row) && row.length === width && row.every(Number.isFinite);
  if (list.length !== rows || width === 0 || !list.every(sound))
    throw new UsageError(`${path} must hold ${rule}`);
  return { columns: width, values: Float64Array.from((list as number[][]).flat()) };
}

/** Blocks of a matrix one below the other; its colours run from -largest to largest, and what is not finite is clear. */
function picture(core: Posenc, { shape, values }: NamedArray): Uint8Array {
  const cols = shape.at(-1) ?? 1;
  const rows = values.length / cols;
  const drawn = Float32Array.from(values, (value) => (Number.isFinite(value) ? value : Number.NaN));
  const largest = drawn.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0) || 1;
  const scale = Math.max(1, Math.floor(768 / Math.max(rows, cols)));
  const [width, height] = [cols, rows].map((cells) => Math.min(4096, cells * scale)) as [number, number];
  const rgba = core.colormap(drawn, core.lut(), { rows, cols, width, height, vmin: -largest, vmax: largest });
  return toPng(rgba, width, height);
}

function encode(core: Posenc, array: NamedArray, format: Format, dtype: string): string | Uint8Array {
  if (format === "csv") return toCsv(array);
  if (format === "png") return picture(core, array);
  if (format === "npy") {
    const { values } = array;
    return toNpy(
      dtype === "float32" && values instanceof Float64Array
        ? { ...array, values: Float32Array.from(values) }
        : array,
    );
  }
  // JSON has no infinity: as a text it is still one to Python's float() and to Number().
  const values = Array.from(array.values, (value) => (Number.isFinite(value) ? value : String(value)));
  return `${JSON.stringify({ name: array.name, shape: array.shape, values })}\n`;
}

export async function write(core: Posenc, given: Given, array: NamedArray): Promise<void> {
  const format = formatOf(given);
  const bytes = encode(core, array, format, given.text("dtype") ?? "float64");
  const path = given.text("output");
  if (path !== undefined && path !== "-") {
    try {
      await writeFile(path, bytes);
    } catch (error) {
      throw new UsageError(`${path} cannot be written: ${because(error)}`);
    }
    return;
  }
  if (typeof bytes !== "string" && process.stdout.isTTY) {
    throw new UsageError(`${format} is no text for a terminal: name a file with --output, or send it on`);
  }
  await print(bytes);
}
