// The part of an endless map that is in sight. The zoom is a power of two, so that a pixel covers whole cells or a cell
// whole pixels, and nothing is resampled between the core and the screen.

import { clamp } from "../draw/axis.ts";

/** Cells, or CSS pixels, across and down. */
export interface Extent {
  across: number;
  down: number;
}

/** One axis of what is in sight. */
export interface Stretch {
  /** The first cell; a part of a cell where cells are larger than pixels. */
  first: number;
  /** Cells in sight. */
  count: number;
  /** Cells for each CSS pixel. */
  scale: number;
}

/** log2 of the cells for each pixel at which all of them are in sight. */
export const whole = (cells: number, pixels: number): number => Math.ceil(Math.log2(cells / pixels));

/** The part of an axis of `cells` that begins at `first`, or as near to it as the ends allow. */
export function stretchAt(first: number, scale: number, cells: number, pixels: number): Stretch {
  const count = Math.min(cells, pixels * scale);
  const kept = clamp(first, 0, cells - count);
  return { first: scale < 1 ? kept : Math.floor(kept), count, scale };
}

/** The cells that share a pixel, or the one cell under it. */
export function blockAt(
  cell: number,
  { first, scale }: Stretch,
  cells: number,
): [first: number, count: number] {
  const size = Math.max(1, scale);
  const start = Math.floor(first) + Math.floor((cell - Math.floor(first)) / size) * size;
  const from = Math.max(0, start);
  return [from, Math.min(cells, start + size) - from];
}

/** How the core computes one axis: cells for each of its pixels, how many, and how much they are enlarged. */
export interface Sampling {
  first: number;
  cells: number;
  pixels: number;
  enlarge: number;
  /** Where the first of them begins on the canvas, in its pixels. */
  shift: number;
}

/** `density` canvas pixels stand for one CSS pixel: 1 or 2, so that powers of two remain. */
export function sampling({ first, scale }: Stretch, pixels: number, density: number): Sampling {
  const cells = scale / density;
  if (cells >= 1) return { first, cells, pixels: pixels * density, enlarge: 1, shift: 0 };
  const enlarge = 1 / cells;
  const from = Math.floor(first);
  const shift = -Math.round((first - from) * enlarge);
  return { first: from, cells: 1, pixels: Math.ceil((pixels * density - shift) / enlarge), enlarge, shift };
}

/** What the mean over n positions leaves of a wave of angular frequency w: sin(nw/2) / (n sin(w/2)). */
export function kept(n: number, w: number): number {
  const half = Math.sin(w / 2);
  return half === 0 ? 1 : Math.sin((n * w) / 2) / (n * half);
}
