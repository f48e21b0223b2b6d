// A shift by k positions as one rotation of each pair, and the dot product of two rows as a function of k alone.
// Based on: Vaswani et al. 2017, Attention Is All You Need, section 3.5.

import { type CSSResultGroup, css, html, type SVGTemplateResult, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow } from "./figure.ts";
import { fixed, powerOfTen, significant } from "./format.ts";
import { type Cell, cellAt, mapGrid, mapGridStyles, walk } from "./map-grid.ts";
import { paintBar, paintMatrix } from "./matrix-map.ts";
import { float } from "./numpy.ts";
import { FieldError, type State } from "./state.ts";

const fields = {
  k: { kind: "integer", fallback: 5, min: -255, max: 255 },
  p: { kind: "integer", fallback: 20, min: 0, max: 255 },
  "seq-len": { kind: "integer", fallback: 128, min: 8, max: 256 },
  "d-model": { kind: "integer", fallback: 512, min: 2, max: 1024 },
  base: { kind: "number", fallback: 10000, min: 1, max: 1e12 },
} as const;
type ShiftState = State<typeof fields>;

/** What does not depend on the offset. */
interface Table {
  key: string;
  invFreq: Float64Array;
  /** PE(0) .. PE(2 seq_len − 2): every start and its end. */
  rows: Float64Array;
  /** PE · PE (seq_len, seq_len), and as pixels. */
  map: Float64Array;
  pixels: Float32Array;
  /** Largest difference between two entries of one diagonal. */
  spread: number;
  /** Σ cos(k · inv_freq) for k = 0 .. seq_len − 1. */
  dots: Float64Array;
  /** The first offset after which the sum rises; −1: none. */
  rise: number;
}

interface Model extends Table {
  core: Posenc;
  seqLen: number;
  dModel: number;
  /** The rotations of all pairs (pairs, 2, 2). */
  matrices: Float64Array;
  /** max |PE(p+k) − M_k PE(p)| for seq_len starts from the first for which p and p + k are not negative. */
  residuals: Float64Array;
  firstStart: number;
  worst: number;
}

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? Number.NaN;
const minus = (k: number): string => fixed(k, 0);
/** p + k, written without two signs in a row. */
const plus = (k: number): string => (k < 0 ? `p − ${-k}` : `p + ${k}`);

/** The start of the cell that is read: both its positions lie in the map. */
function startOf({ p, k, "seq-len": n }: ShiftState): number {
  return clamp(p, Math.max(0, -k), Math.min(n - 1, n - 1 - k));
}

/** Largest difference between two entries of one diagonal of (size, size). */
function largestSpread(map: Float64Array, size: number): number {
  let largest = 0;
  for (let offset = 1 - size; offset < size; offset++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let row = Math.max(0, -offset); row < size && row + offset < size; row++) {
      const value = at(map, row * size + row + offset);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    largest = Math.max(largest, high - low);
  }
  return largest;
}

/** max |PE(p+k) − M_k PE(p)| for `count` starts p. */
function residualsOf(
  rows: Float64Array,
  matrices: Float64Array,
  k: number,
  first: number,
  count: number,
  d: number,
) {
  return Float64Array.from({ length: count }, (_, i) => {
    const from = (first + i) * d;
    const to = (first + i + k) * d;
    let worst = 0;
    for (let c = 0; c < d; c += 2) {
      const [sin, cos] = [at(rows, from + c), at(rows, from + c + 1)];
      const m = 2 * c; // four entries a pair
      const turnedSin = at(matrices, m) * sin + at(matrices, m + 1) * cos;
      const turnedCos = at(matrices, m + 2) * sin + at(matrices, m + 3) * cos;
      worst = Math.max(
        worst,
        Math.abs(at(rows, to + c) - turnedSin),
        Math.abs(at(rows, to + c + 1) - turnedCos),
      );
    }
    return worst;
  });
}

/** Pairs whose rotations are drawn as a corner of the matrix. */
const CORNER = 12;
const TOP = 30;
const LEFT = 44;
const HEIGHT = 290;
/** Powers of ten at the ends of the residuals' axis; a residual of 0 stands on the line below. */
const POWERS = [-17, -12] as const;

/**
 * A shift by k positions: its matrix of rotations, what is left over, and the dot products of all pairs of rows.
 *
 * @attr k - The offset, smaller than seq-len in size.
 * @attr p - The start that is read; pulled in where p + k would leave the map.
 * @attr seq-len - Positions of the map, and starts that are tried.
 * @attr d-model - Dimensions, even.
 * @attr base - 10000 in the paper.
 * @cssprop --pe-pos - Colour of positions and offsets.
 * @cssprop --pe-dim - Colour of dimensions and pairs.
 * @cssprop --pe-sinusoidal - Colour of the curves.
 */
export class PeShift extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "A shift is a rotation of every pair";

  #table: Table | undefined;

  protected override compute(core: Posenc, state: ShiftState): Model {
    const { k, base, "seq-len": n, "d-model": dModel } = state;
    if (dModel % 2 !== 0) throw new FieldError(`d-model must be even, got ${dModel}`);
    if (Math.abs(k) >= n) throw new FieldError(`k must be within ±${n - 1}, one less than seq-len, got ${k}`);
    const table = this.#tableOf(core, n, dModel, base);
    const matrices = core.shiftMatrices(table.invFreq, k);
    const firstStart = Math.max(0, -k);
    const residuals = residualsOf(table.rows, matrices, k, firstStart, n, dModel);
    const worst = residuals.indexOf(Math.max(...residuals));
    return { ...table, core, seqLen: n, dModel, matrices, residuals, firstStart, worst };
  }

  #tableOf(core: Posenc, n: number, dModel: number, base: number): Table {
    const key = `${n} ${dModel} ${base}`;
    if (this.#table?.key === key) return this.#table;
    const count = (length: number) => Float64Array.from({ length }, (_, i) => i);
    const invFreq = core.sinusoidalInvFreq({ dModel, base });
    const rows = core.sinusoidalRows(count(2 * n - 1), { dModel, base });
    const map = core.similarity(rows.slice(0, n * dModel), n, dModel);
    const dots = core.dotByOffset(count(n), invFreq);
    const rise = dots.findIndex((value, i) => i > 0 && at(dots, i + 1) > value);
    const pixels = Float32Array.from(map);
    this.#table = { key, invFreq, rows, map, pixels, spread: largestSpread(map, n), dots, rise };
    return this.#table;
  }

  // ------------------------------------------------------------------------------------------------ picture

  get #wide(): boolean {
    return this.width >= 640;
  }
  get #panel(): number {
    return this.#wide ? Math.floor((this.width - 49) / 2) : this.width;
  }
  /** Side of the corner of M_k. */
  get #corner(): number {
    return Math.floor(clamp(this.#panel - 164, 96, 216));
  }
  /** Side of the map of dot products. */
  get #side(): number {
    return Math.floor(Math.min(this.#panel - LEFT - 64, HEIGHT - TOP - 36));
  }

  protected override picture(model: Model, state: ShiftState): TemplateResult {
    return html`
      ${this.#readout(model, state)}
      <div class="panels" data-picture>
        ${this.#matrix(model, state)} ${this.#map(model, state)} ${this.#residual(model, state)}
        ${this.#curve(model, state)}
      </div>
      ${this.#controls(state)}
    `;
  }

  #readout({ dots, residuals, firstStart }: Model, state: ShiftState): TemplateResult {
    const { k } = state;
    const p = startOf(state);
    return html`
      <p class="readout">
        <span>start <span class="pos" data-symbol="p">p = <b>${p}</b></span></span>
        <span>offset <span class="pos" data-symbol="pos">k = <b>${minus(k)}</b></span></span>
        <span>PE(${p}) · PE(${p + k}) = <b>${fixed(at(dots, Math.abs(k)), 2)}</b></span>
        <span>PE(${p + k}) − M<sub>${minus(k)}</sub> PE(${p}): at most <b>${significant(at(residuals, p - firstStart), 2)}</b></span>
      </p>
    `;
  }

  #matrix({ matrices, dModel }: Model, { k }: ShiftState): TemplateResult {
    const pairs = dModel / 2;
    const corner = this.#corner;
    const blocks = [...new Set([0, Math.min(1, pairs - 1), Math.floor(pairs / 2), pairs - 1])];
    const shown = Math.min(CORNER, pairs);
    const x = corner + 26;
    const height = this.#wide ? HEIGHT : Math.max(TOP + corner + 28, 244);
    return html`
      <div class="panel" .style=${`width:${this.#panel}px`}>
        <svg width=${this.#panel} height=${height} role="img" aria-label="Rotations of the pairs by offset ${k}: ${blocks
          .map(
            (pair) =>
              `pair ${pair}: cosine ${fixed(at(matrices, 4 * pair))}, sine ${fixed(at(matrices, 4 * pair + 1))}`,
          )
          .join("; ")}">
          <text class="name" x="0" y="14">
            M<tspan class="sub" dy="3">${minus(k)}</tspan><tspan dy="-3">: zero but for one rotation a pair</tspan>
          </text>
          <rect class="frame" x="0.5" y=${TOP - 0.5} width=${corner + 1} height=${corner + 1}></rect>
          <text x="0" y=${TOP + corner + 20}>
            ${shown === pairs ? "all pairs" : `the first ${shown} of ${pairs} pairs`}
          </text>
          ${blocks.map((pair, i) => block(matrices, pair, x, TOP + 52 * i))}
        </svg>
        <canvas data-map="corner" aria-hidden="true" .style=${`left:1px;top:${TOP}px;width:${corner}px;height:${corner}px`}></canvas>
      </div>
    `;
  }

  #map({ seqLen: n, dots, dModel }: Model, state: ShiftState): TemplateResult {
    const { k } = state;
    const p = startOf(state);
    const side = this.#side;
    const unit = side / n;
    const x: Axis = { domain: [0, n], range: [LEFT, LEFT + side] };
    const y: Axis = { domain: [0, n], range: [TOP, TOP + side] };
    const marks = (axis: Axis, room: number) =>
      ticks({ ...axis, domain: [0, n - 1] }, room).filter(Number.isInteger);
    // The edges of the diagonal, a little outside its cells.
    const edge = unit / 2 + 2;
    const diagonal = (shift: number) => {
      const start = LEFT + (k + 0.5) * unit - 0.5 * unit + shift;
      return svg`<line class="under" x1=${start} y1=${TOP} x2=${start + side} y2=${TOP + side}></line>
        <line class="over" data-symbol="pos" x1=${start} y1=${TOP} x2=${start + side} y2=${TOP + side}></line>`;
    };
    const place2 = `left:${LEFT}px;top:${TOP}px;width:${side}px;height:${side}px`;
    const grid = mapGrid({
      label: "Dot products of rows: arrow keys move, Shift moves by ten",
      size: [n, n],
      cell: [p, p + k],
      words: `positions ${p} and ${p + k}, offset ${minus(k)}: ${fixed(at(dots, Math.abs(k)), 2)}`,
      style: place2,
      onKey: this.#walk,
    });
    return html`
      <div class="panel" .style=${`width:${this.#panel}px`}>
        <canvas
          class="map"
          data-map="dots"
          aria-hidden="true"
          .style=${place2}
          @pointerdown=${this.#press}
          @pointermove=${this.#drag}
        ></canvas>
        <canvas
          data-map="bar"
          aria-hidden="true"
          .style=${`left:${LEFT + side + 16}px;top:${TOP}px;width:12px;height:120px`}
        ></canvas>
        <svg class="through" width=${this.#panel} height=${HEIGHT} aria-hidden="true">
          <defs>
            <clipPath id="inside"><rect x=${LEFT} y=${TOP} width=${side} height=${side}></rect></clipPath>
          </defs>
          <text class="name" x="0" y="14">PE · PE, one value on each diagonal</text>
          <rect class="frame" x=${LEFT - 0.5} y=${TOP - 0.5} width=${side + 1} height=${side + 1}></rect>
          <g clip-path="url(#inside)">${diagonal(-edge)} ${diagonal(edge)}</g>
          <circle class="under" cx=${place(x, p + k + 0.5)} cy=${place(y, p + 0.5)} r="6"></circle>
          <circle class="ring" data-symbol="p" cx=${place(x, p + k + 0.5)} cy=${place(y, p + 0.5)} r="6"></circle>
          ${leftAxis(y, LEFT - 1, marks(y, 40), 0.5)} ${bottomAxis(x, TOP + side + 1, marks(x, 48), 0.5)}
          <text class="pos" x="0" y=${TOP + 12}>p</text>
          <text class="pos" x=${LEFT + side + 10} y=${TOP + side + 20}>p + k</text>
          ${[dModel / 2, 0, -dModel / 2].map(
            (value, i) => svg`<text x=${LEFT + side + 34} y=${TOP + 6 + 54 * i} dominant-baseline="central">
              ${minus(value)}</text>`,
          )}
          <rect class="frame" x=${LEFT + side + 15.5} y=${TOP - 0.5} width="13" height="121"></rect>
        </svg>
        ${grid}
      </div>
    `;
  }

  #residual({ residuals, firstStart, worst }: Model, state: ShiftState): TemplateResult {
    const right = this.#panel - 8;
    const bottom = HEIGHT - 40;
    const last = firstStart + residuals.length - 1;
    const x: Axis = { domain: [firstStart, last], range: [LEFT + 10, right] };
    const y: Axis = { domain: [...POWERS], range: [bottom - 22, TOP + 8] };
    const up = (value: number) => (value === 0 ? bottom - 6 : place(y, clamp(Math.log10(value), ...POWERS)));
    const largest = at(residuals, worst);
    const [wx, wy] = [place(x, firstStart + worst), up(largest)];
    const p = startOf(state);
    const toLeft = wx > (LEFT + right) / 2;
    return html`
      <div class="panel" .style=${`width:${this.#panel}px`}>
        <svg
          width=${this.#panel}
          height=${HEIGHT}
          role="img"
          aria-label="Residuals for starts ${firstStart} to ${last}: at most ${significant(largest, 2)}"
        >
          <text class="name" x="0" y="14">
            Largest |PE(${plus(state.k)}) − M<tspan class="sub" dy="3">${minus(state.k)}</tspan><tspan dy="-3"> PE(p)|</tspan>
          </text>
          ${Array.from({ length: POWERS[1] - POWERS[0] + 1 }, (_, i) => POWERS[0] + i).map(
            (power) => svg`
              <line class="rule" x1=${LEFT + 4} x2=${right} y1=${place(y, power)} y2=${place(y, power)}></line>
              <text x=${LEFT - 4} y=${place(y, power)} text-anchor="end" dominant-baseline="central">
                ${powerOfTen(power)}</text>`,
          )}
          <line class="rule" x1=${LEFT + 4} x2=${right} y1=${bottom - 6} y2=${bottom - 6}></line>
          <text x=${LEFT - 4} y=${bottom - 6} text-anchor="end" dominant-baseline="central">0</text>
          ${bottomAxis(x, bottom + 4, ticks(x, 48))}
          <text class="pos" x=${right} y=${HEIGHT - 2} text-anchor="end">start p</text>
          <line class="cursor" data-symbol="p" x1=${place(x, p)} x2=${place(x, p)} y1=${TOP} y2=${bottom + 4}></line>
          ${Array.from(residuals, (value, i) => svg`<circle class="dot" cx=${place(x, firstStart + i)} cy=${up(value)} r="2"></circle>`)}
          <circle class="here" cx=${place(x, p)} cy=${up(at(residuals, p - firstStart))} r="4.5"></circle>
          <circle class="event" cx=${wx} cy=${wy} r="5.5"></circle>
          <text class="halo" x=${wx + (toLeft ? -10 : 10)} y=${wy - 10} text-anchor=${toLeft ? "end" : "start"}>
            largest ${significant(largest, 2)} at p = ${firstStart + worst}
          </text>
          ${this.#field(x, TOP, bottom, (start) => this.set({ p: clamp(start, 0, fields.p.max) }), "p")}
        </svg>
      </div>
    `;
  }

  #curve({ dots, rise, dModel }: Model, { k }: ShiftState): TemplateResult {
    const right = this.#panel - 8;
    const bottom = HEIGHT - 40;
    const end = dots.length - 1;
    const least = Math.min(0, ...dots);
    const room = (dModel / 2 - least) * 0.06;
    const x: Axis = { domain: [-end, end], range: [LEFT + 4, right] };
    const y: Axis = { domain: [least - room, dModel / 2 + room], range: [bottom, TOP] };
    const value = at(dots, Math.abs(k));
    const both = Float64Array.from({ length: 2 * end + 1 }, (_, i) => at(dots, Math.abs(i - end)));
    const [rx, ry] = [place(x, rise), place(y, at(dots, rise))];
    return html`
      <div class="panel" .style=${`width:${this.#panel}px`}>
        <svg
          width=${this.#panel}
          height=${HEIGHT}
          role="img"
          aria-label="Sum of cosines for offsets −${end} to ${end}; at ${k} and at ${-k} it is ${fixed(value, 2)}"
        >
          <text class="name" x="0" y="14">Σ cos(k · inv_freq) at each offset k</text>
          <line class="zero" x1=${LEFT} x2=${right} y1=${place(y, 0)} y2=${place(y, 0)}></line>
          ${leftAxis(y, LEFT, ticks(y, 40))} ${bottomAxis(x, bottom + 1, ticks(x, 56))}
          <text class="pos" x=${right} y=${HEIGHT - 2} text-anchor="end">offset k</text>
          <line class="level" x1=${place(x, -k)} x2=${place(x, k)} y1=${place(y, value)} y2=${place(y, value)}></line>
          <path
            class="curve"
            d=${linePath(
              both,
              (i) => place(x, i - end),
              (sum) => place(y, sum),
            )}
          ></path>
          ${
            rise > 0 &&
            svg`<circle class="event" cx=${rx} cy=${ry} r="5.5"></circle>
              <text class="halo" x=${rx + 12} y=${ry - 14}>rises after ${rise}</text>`
          }
          <line class="cursor" data-symbol="pos" x1=${place(x, k)} x2=${place(x, k)} y1=${TOP} y2=${bottom}></line>
          <circle class="mirror" cx=${place(x, -k)} cy=${place(y, value)} r="4.5"></circle>
          <circle class="here" cx=${place(x, k)} cy=${place(y, value)} r="4.5"></circle>
          ${this.#field(x, TOP, bottom, (offset) => this.#offset(offset), "pos")}
        </svg>
      </div>
    `;
  }

  /** Takes the pointer over a plot and hands on the whole number under it. */
  #field(
    x: Axis,
    top: number,
    bottom: number,
    take: (value: number) => void,
    symbol: string,
  ): SVGTemplateResult {
    const [left, right] = x.range;
    const follow = (event: PointerEvent) => {
      if (event.type === "pointermove" && event.buttons !== 1) return;
      const field = event.currentTarget as SVGRectElement;
      if (event.type === "pointerdown") field.setPointerCapture(event.pointerId);
      const value = valueAt(x, left + share(event)[0] * (right - left));
      take(clamp(Math.round(value), x.domain[0], x.domain[1]));
    };
    return svg`<rect
      class="field"
      data-symbol=${symbol}
      x=${left}
      y=${top}
      width=${right - left}
      height=${bottom - top}
      @pointerdown=${follow}
      @pointermove=${follow}
    ></rect>`;
  }

  #controls(state: ShiftState): TemplateResult {
    const { "seq-len": n } = state;
    return html`
      <div class="controls">
        ${slider({
          field: "k",
          label: "offset k",
          symbol: "pos",
          value: state.k,
          min: 1 - n,
          max: n - 1,
          spoken: `offset ${minus(state.k)}`,
          onInput: (k) => this.#offset(k),
        })}
        ${slider({
          field: "p",
          label: "start p",
          symbol: "pos",
          value: startOf(state),
          min: Math.max(0, -state.k),
          max: Math.min(n - 1, n - 1 - state.k),
          spoken: `start ${startOf(state)}`,
          onInput: (p) => this.set({ p }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len: starts tried",
          symbol: "pos",
          value: n,
          min: fields["seq-len"].min,
          max: fields["seq-len"].max,
          onInput: (value) => this.set({ "seq-len": value, k: clamp(this.state.k, 1 - value, value - 1) }),
        })}
        ${slider({
          field: "d-model",
          label: "d_model: two for each pair",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: fields["d-model"].max,
          step: 2,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        ${slider({
          field: "base",
          label: "base",
          value: state.base,
          min: 1,
          max: 1e6,
          most: fields.base.max,
          logarithmic: true,
          onInput: (value) => this.set({ base: value }),
        })}
      </div>
    `;
  }

  // ------------------------------------------------------------------------------------------------ reading

  #offset(k: number): void {
    const most = this.state["seq-len"] - 1;
    this.set({ k: clamp(k, -most, most) });
  }

  /** Reads the cell of two positions. */
  #read([p, column]: Cell): void {
    this.set({ p, k: column - p });
  }

  #point(event: PointerEvent): void {
    const n = this.state["seq-len"];
    this.#read(cellAt(share(event), [n, n]));
  }

  #press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.#point(event);
  };
  #drag = (event: PointerEvent): void => {
    if (event.buttons === 1) this.#point(event);
  };

  #walk = (event: KeyboardEvent): void => {
    const p = startOf(this.state);
    const to = walk(event, [p, p + this.state.k], this.state["seq-len"], event.shiftKey ? 10 : 1);
    if (to) this.#read(to);
  };

  // -------------------------------------------------------------------------------------------------- words

  protected override takeaway(
    { residuals, firstStart, worst, dots, spread, rise }: Model,
    { k }: ShiftState,
  ): string {
    const last = firstStart + residuals.length - 1;
    const left = at(residuals, worst);
    const value = fixed(at(dots, Math.abs(k)), 2);
    const mirror = k === 0 ? "" : `, and so has k = ${minus(-k)}`;
    return (
      `One matrix takes PE(p) to PE(${plus(k)}) from every p of ${firstStart}–${last}: the largest residual is ` +
      `${left === 0 ? "0" : significant(left, 2)}. The diagonal k = ${minus(k)} has the value ${value}${mirror}; the entries ` +
      `of a diagonal differ by at most ${significant(spread, 1)}. With distance the value ` +
      `${rise > 0 ? `first rises again after ${rise}` : `falls at every step to ${dots.length - 1}`}.`
    );
  }

  protected override dataTable({ residuals, firstStart, dots }: Model, { k }: ShiftState): DataTable {
    return {
      caption: `Residuals of the shift by ${minus(k)}, and the dot product at each offset`,
      head: ["start p", "residual", "offset ±k", "PE(p) · PE(p ± k)"],
      rows: Array.from(residuals, (value, i) => [
        firstStart + i,
        significant(value, 3),
        i,
        fixed(at(dots, i), 4),
      ]),
    };
  }

  protected override array({ map, seqLen }: Model): NamedArray {
    return { name: "dot_products", shape: [seqLen, seqLen], values: map };
  }

  protected override numpy(state: ShiftState): string {
    const { k, base, "seq-len": n, "d-model": d } = state;
    const pairs = d / 2;
    return `import matplotlib.pyplot as plt
import numpy as np

k, n = ${k}, ${n}
inv_freq = ${float(base)} ** (-2 * np.arange(${pairs}) / ${d})

def rows(positions):
    angle = positions[:, None] * inv_freq
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(positions), ${d})

cos, sin = np.cos(k * inv_freq), np.sin(k * inv_freq)
shift = np.zeros((${d}, ${d}))
even = np.arange(0, ${d}, 2)
shift[even, even], shift[even, even + 1] = cos, sin
shift[even + 1, even], shift[even + 1, even + 1] = -sin, cos

p = max(0, -k) + np.arange(n)
residual = np.abs(rows(p + k) - rows(p) @ shift.T).max(axis=1)
table = rows(np.arange(n))
offsets = np.arange(1 - n, n)

figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
axes[0, 0].imshow(shift[:${2 * CORNER}, :${2 * CORNER}], cmap="RdBu", vmin=-1, vmax=1)
axes[0, 0].set_title(f"M_{k}, first pairs")
axes[0, 1].imshow(table @ table.T, cmap="RdBu", vmin=${-pairs}, vmax=${pairs})
axes[0, 1].axline((max(0, k), max(0, -k)), slope=1)
axes[0, 1].set_title("PE . PE")
axes[1, 0].semilogy(p, residual, ".")
axes[1, 0].set_title(f"largest residual {residual.max():.1e}")
axes[1, 1].plot(offsets, np.cos(offsets[:, None] * inv_freq).sum(axis=1))
axes[1, 1].axvline(k)
axes[1, 1].set_title("sum of cos(k * inv_freq)")
plt.show()
`;
  }

  protected override draw(model: Model): void {
    const { core, matrices, pixels, seqLen, dModel } = model;
    const [corner, side] = [devicePixels(this.#corner), devicePixels(this.#side)];
    const [oldMatrices, oldCorner, oldPixels, oldSide] = this.painted;
    const canvas = (name: string) =>
      this.renderRoot.querySelector(`canvas[data-map="${name}"]`) as HTMLCanvasElement;
    if (oldMatrices !== matrices || oldCorner !== corner) {
      const size = Math.min(2 * CORNER, dModel);
      const part = new Float32Array(size * size);
      for (let row = 0; row < size; row++) {
        for (const column of [row - (row % 2), row - (row % 2) + 1]) {
          part[row * size + column] = at(matrices, 2 * row + (column % 2));
        }
      }
      const shown = [this.#corner, this.#corner] as const;
      paintMatrix(canvas("corner"), core, { values: part, rows: size, columns: size }, 1, shown);
    }
    if (oldPixels !== pixels || oldSide !== side) {
      const matrix = { values: pixels, rows: seqLen, columns: seqLen };
      paintMatrix(canvas("dots"), core, matrix, dModel / 2, [this.#side, this.#side]);
      paintBar(canvas("bar"), core, true);
    }
    this.painted = [matrices, corner, pixels, side];
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    readoutRow([0, 5.9], [560, 3], [700, 1.5]),
    css`
      .takeaway {
        min-height: 13em;
      }
      .controls {
        grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(12 * var(--pe-rem))), 1fr));
      }
      .readout sub {
        line-height: 1;
      }
      .panels {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-3) 48px;
      }
      .panel {
        position: relative;
        min-width: 0;
      }
      .panel svg {
        display: block;
        overflow: visible;
      }
      .panel canvas,
      .grid {
        position: absolute;
      }
      .grid {
        pointer-events: none;
      }
      .map {
        cursor: crosshair;
        touch-action: pan-y pinch-zoom;
      }
      .through {
        position: relative;
        pointer-events: none;
      }
      svg text.name {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      svg .sub {
        font-size: 12px;
      }
      svg text.value,
      svg text.halo {
        fill: var(--pe-ink);
      }
      svg text.halo {
        paint-order: stroke;
        stroke: var(--pe-bg);
        stroke-width: 4px;
        stroke-linejoin: round;
      }
      .frame {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .bracket {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .rule,
      .zero {
        stroke: var(--pe-rule);
      }
      line.under {
        stroke: var(--pe-bg);
        stroke-width: 4;
      }
      line.over {
        stroke: var(--pe-pos);
        stroke-width: 1.5;
      }
      circle.under {
        fill: none;
        stroke: var(--pe-bg);
        stroke-width: 5;
      }
      circle.ring,
      .mirror {
        fill: none;
        stroke: var(--pe-pos);
        stroke-width: 2;
      }
      .mirror {
        fill: var(--pe-bg);
      }
      .cursor {
        stroke: var(--pe-pos);
      }
      .level {
        stroke: var(--pe-pos);
        stroke-dasharray: 3 3;
      }
      .here {
        fill: var(--pe-pos);
      }
      .dot {
        fill: var(--pe-sinusoidal);
      }
      .curve {
        fill: none;
        stroke: var(--pe-sinusoidal);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .event {
        fill: none;
        stroke: var(--pe-ink);
        stroke-width: 1.5;
      }
      .field {
        fill: transparent;
        cursor: ew-resize;
        touch-action: pan-y pinch-zoom;
      }
      [data-lit="pos"] line[data-symbol="pos"],
      [data-lit="p"] line[data-symbol="p"] {
        stroke-width: 2.5;
      }
      @container (min-width: 560px) {
        .takeaway {
          min-height: 5.8em;
        }
      }
    `,
  ];
}

/** The 2 × 2 rotation of a pair, its numbers in brackets. */
function block(matrices: Float64Array, pair: number, x: number, y: number): SVGTemplateResult {
  const left = x + 34;
  const right = x + 136;
  return svg`
    <text class="dim" data-symbol="dim" x=${x} y=${y + 20} dominant-baseline="central">${pair}</text>
    <path class="bracket" d="M${left + 4} ${y}H${left}V${y + 40}H${left + 4}M${right - 4} ${y}H${right}V${y + 40}H${right - 4}"></path>
    ${[0, 1, 2, 3].map(
      (entry) => svg`
        <text
          class="value"
          x=${left + 48 + 48 * (entry % 2)}
          y=${y + (entry < 2 ? 10 : 30)}
          text-anchor="end"
          dominant-baseline="central"
        >${fixed(at(matrices, 4 * pair + entry))}</text>`,
    )}`;
}

define("pe-shift", PeShift);

declare global {
  interface HTMLElementTagNameMap {
    "pe-shift": PeShift;
  }
}
