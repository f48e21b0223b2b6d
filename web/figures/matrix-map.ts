// A matrix as pixels in one symmetric scale, red below zero and blue above, and the bar that tells the scale.

import { css, html, type TemplateResult } from "lit";
import { devicePixels, paint } from "../draw/pixels.ts";
import type { Posenc } from "../posenc.ts";
import { significant } from "./format.ts";

export interface Matrix {
  values: Float32Array;
  rows: number;
  columns: number;
}

/** The largest finite |value| of all, and at least a little: the ends of the colours. */
export function largest(...arrays: ArrayLike<number>[]): number {
  let most = Number.MIN_VALUE;
  for (const values of arrays) {
    for (let i = 0; i < values.length; i++) {
      const size = Math.abs(values[i] ?? 0);
      if (size > most && size !== Number.POSITIVE_INFINITY) most = size;
    }
  }
  return most;
}

/** Fills the canvas, whose size in CSS pixels is width × height, with the matrix in colours from −limit to limit. */
export function paintMatrix(
  canvas: HTMLCanvasElement,
  core: Posenc,
  { values, rows, columns }: Matrix,
  limit: number,
  [width, height]: readonly [number, number],
  transpose = false,
): void {
  const [across, down] = [devicePixels(width), devicePixels(height)];
  const shape = { rows, cols: columns, width: across, height: down, vmin: -limit, vmax: limit, transpose };
  paint(canvas, core.colormap(values, core.lut(), shape), across, down);
}

const end = (limit: number): string => significant(limit, 2);

/** The bar of the scale: its canvas is painted by paintScale. */
export function scaleBar(limit: number): TemplateResult {
  return html`
    <div class="scale" role="img" aria-label="colours from ${end(-limit)} to ${end(limit)}">
      <svg width="52" height="18"><text x="46" y="13" text-anchor="end">${end(-limit)}</text></svg>
      <canvas class="ramp"></canvas>
      <svg width="52" height="18"><text x="6" y="13">${end(limit)}</text></svg>
    </div>
  `;
}

export const scaleStyles = css`
  .scale {
    display: flex;
    align-items: center;
    pointer-events: none;
  }
  .ramp {
    width: 120px;
    height: 12px;
    outline: 1px solid var(--pe-rule);
  }
`;

export function paintScale(root: ParentNode, core: Posenc): void {
  for (const canvas of root.querySelectorAll<HTMLCanvasElement>("canvas.ramp")) paintBar(canvas, core);
}

/** All the colours, from the least at the left to the most; `upright`: from the most at the top. */
export function paintBar(canvas: HTMLCanvasElement, core: Posenc, upright = false): void {
  const sign = upright ? -1 : 1;
  const values = Float32Array.from({ length: 256 }, (_, i) => sign * ((2 * i + 1) / 256 - 1));
  const [width, height] = upright ? [1, 256] : [256, 1];
  paint(
    canvas,
    core.colormap(values, core.lut(), { rows: height, cols: width, width, height }),
    width,
    height,
  );
}
