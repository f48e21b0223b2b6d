// A picture as a PNG file: one IDAT chunk of rows without filter.
//
// Based on: ISO/IEC 15948:2004, "Portable Network Graphics (PNG)".

import { deflateSync } from "node:zlib";

const CRC = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});
function crc(bytes: Uint8Array): number {
  let c = -1;
  for (const byte of bytes) c = (CRC[(c ^ byte) & 255] ?? 0) ^ (c >>> 8);
  return ~c >>> 0;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(data, 8);
  view.setUint32(8 + data.length, crc(bytes.subarray(4, 8 + data.length)));
  return bytes;
}

/** rgba (height, width, 4) as a PNG file. */
export function toPng(rgba: Uint8ClampedArray, width: number, height: number): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 6], 8); // 8 bits, RGBA; deflate, no filter, no interlace
  const rows = new Uint8Array(height * (1 + 4 * width));
  for (let y = 0; y < height; y++) {
    rows.set(rgba.subarray(4 * width * y, 4 * width * (y + 1)), y * (1 + 4 * width) + 1);
  }
  const chunks = [chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", new Uint8Array())];
  return Buffer.concat([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), ...chunks]);
}
