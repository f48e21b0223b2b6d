// Axes: where the ticks stand and what they say. d3-array chooses round values.

import { ticks as roundValues } from "d3-array";
import { type SVGTemplateResult, svg } from "lit";

export interface Axis {
  /** Data values at the two ends. */
  domain: readonly [number, number];
  /** Pixels at the two ends. */
  range: readonly [number, number];
}

/** Pixel of a data value. */
export function place({ domain, range }: Axis, value: number): number {
  return range[0] + ((value - domain[0]) / (domain[1] - domain[0])) * (range[1] - range[0]);
}

/** Data value at a pixel. */
export function valueAt({ domain, range }: Axis, pixel: number): number {
  return domain[0] + ((pixel - range[0]) / (range[1] - range[0])) * (domain[1] - domain[0]);
}

/** The value, or the end of least..most that it lies beyond. */
export function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Round values along the axis, about one for each `spacing` pixels; none where powers of ten have no inverse. */
export function ticks(axis: Axis, spacing: number): number[] {
  const count = Math.max(1, Math.floor(Math.abs(axis.range[1] - axis.range[0]) / spacing));
  const length = Math.abs(axis.domain[1] - axis.domain[0]);
  return length === 0 || (length > 1e-300 && length < 1e300) ? roundValues(...axis.domain, count) : [];
}

/** A tick's value with a true minus sign and thin spaces between thousands. */
const label = (value: number): string =>
  String(value)
    .replace("-", "−")
    .replace(
      /^(−?)(\d{5,})/,
      (_, sign: string, digits: string) => sign + digits.replace(/\B(?=(\d{3})+$)/g, "\u202f"),
    );

/** Ticks and labels below the line y. `shift` moves ticks to the middle of a cell. */
export function bottomAxis(axis: Axis, y: number, values: number[], shift = 0): SVGTemplateResult {
  return svg`<g class="axis" aria-hidden="true">
    ${values.map((value) => {
      const x = place(axis, value + shift);
      return svg`<line x1=${x} x2=${x} y1=${y} y2=${y + 5}></line>
        <text x=${x} y=${y + 19} text-anchor="middle">${label(value)}</text>`;
    })}
  </g>`;
}

/** Ticks and labels left of the line x. */
export function leftAxis(axis: Axis, x: number, values: number[], shift = 0): SVGTemplateResult {
  return svg`<g class="axis" aria-hidden="true">
    ${values.map((value) => {
      const y = place(axis, value + shift);
      return svg`<line x1=${x - 5} x2=${x} y1=${y} y2=${y}></line>
        <text x=${x - 8} y=${y} text-anchor="end" dominant-baseline="central">${label(value)}</text>`;
    })}
  </g>`;
}
