// The reader's file, opened in the page: only its header and the one table that is shown are ever read.

import {
  checkTable,
  FIRST_BYTES,
  type FileTable,
  headerBytes,
  preferred,
  readTable,
  type Tensor,
  tablesOf,
  tensorsIn,
} from "./table-file.ts";

export interface OpenFile {
  name: string;
  file: Blob;
  tables: readonly Tensor[];
  /** The table to show; without one the reader chooses. */
  first: Tensor | undefined;
}

const bytes = async (file: Blob, begin: number, end: number): Promise<Uint8Array> =>
  new Uint8Array(await file.slice(begin, end).arrayBuffer());

export async function openFile(file: File): Promise<OpenFile> {
  const length = headerBytes(file.name, await bytes(file, 0, FIRST_BYTES), file.size);
  const tensors = tensorsIn(file.name, await bytes(file, 0, length), file.size);
  const tables = tablesOf(tensors);
  // Of a file without any table, the first array says what is wrong.
  if (tables.length === 0 && tensors[0]) checkTable(tensors[0]);
  return { name: file.name, file, tables, first: preferred(tables) };
}

export async function readTensor({ file }: OpenFile, tensor: Tensor): Promise<FileTable> {
  checkTable(tensor);
  return readTable(tensor, await bytes(file, tensor.begin, tensor.end));
}
