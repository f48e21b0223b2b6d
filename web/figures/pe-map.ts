// An encoding over a million positions as a map that is zoomed and dragged: each pixel is the mean of the cells under it.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks } from "../draw/axis.ts";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import type { Posenc, TileConfig, TileMap, TileView } from "../posenc.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow, takeawayRoom } from "./figure.ts";
import { fixed, significant } from "./format.ts";
import { mapGrid, mapGridStyles } from "./map-grid.ts";
import {
  blockAt,
  type Extent,
  kept,
  type Sampling,
  type Stretch,
  sampling,
  stretchAt,
  whole,
} from "./map-view.ts";
import { paintBar } from "./matrix-map.ts";
import { float, randomNormal } from "./numpy.ts";
import type { State } from "./state.ts";

const POSITIONS = 2 ** 20;
const ENCODINGS = ["sinusoidal", "rope-cos", "rope-sin", "alibi", "t5"] as const;
const HEADS = 8;
const BUCKETS = 32;
const NEAREST = -5;
const FARTHEST = 13;

const fields = {
  encoding: { kind: "choice", fallback: "sinusoidal", choices: ENCODINGS },
  "d-model": { kind: "integer", fallback: 512, min: 2, max: 1024 },
  base: { kind: "number", fallback: 10000, min: 1, max: 1e12 },
  head: { kind: "integer", fallback: 1, min: 1, max: HEADS },
  sampled: { kind: "flag", fallback: false },
  zoom: { kind: "integer", fallback: 4, min: NEAREST, max: FARTHEST },
  "view-position": { kind: "number", fallback: 0, min: 0, max: POSITIONS },
  "view-dimension": { kind: "number", fallback: 0, min: 0, max: POSITIONS },
  position: { kind: "integer", fallback: 4096, min: 0, max: POSITIONS - 1 },
  dimension: { kind: "integer", fallback: 40, min: 0, max: POSITIONS - 1 },
} as const;
type MapState = State<typeof fields>;

/** In CSS pixels from the top left corner of the stage. */
interface Layout {
  left: number;
  map: Extent;
  bar: { left: number; width: number; top: number };
  overview: number;
  total: number;
}

interface Model {
  core: Posenc;
  map: TileMap;
  /** Rows are queries and columns keys. */
  square: boolean;
  cells: Extent;
  across: Stretch;
  down: Stretch;
  at: Layout;
  /** The block of cells that is read, and its mean. */
  columns: [first: number, count: number];
  rows: [first: number, count: number];
  value: number;
  /** Of the waves: frequency of each pair. */
  invFreq: Float64Array;
  /** Of ALiBi the slope, of T5 the largest bias in magnitude. */
  scale: number;
  /** Ends of the colours. */
  limit: number;
}

const isSquare = (encoding: MapState["encoding"]): boolean => encoding === "alibi" || encoding === "t5";

/** What the core needs to know of the map: a change of it makes another map. */
function configOf(core: Posenc, state: MapState): TileConfig {
  const { encoding, base, head } = state;
  if (encoding === "alibi") {
    const slope = core.alibiSlopes({ numHeads: HEADS })[head - 1] as number;
    return { map: "alibi", seqLen: POSITIONS, slope };
  }
  if (encoding === "t5") {
    const biases = biasesOf(core, head);
    return { map: "t5", seqLen: POSITIONS, t5: { numBuckets: BUCKETS }, biases };
  }
  if (encoding !== "sinusoidal" && state["d-model"] % 2 !== 0) {
    throw new Error(`d-model must be even for RoPE, got ${state["d-model"]}`);
  }
  return { map: encoding, seqLen: POSITIONS, dims: state["d-model"], base };
}

/** One head's column of a seeded table, as in the figure of T5's buckets. */
const biasesOf = (core: Posenc, head: number): Float64Array => core.randomNormal(BUCKETS, head - 1);

/** The rows of a pair are neighbours here, in every encoding. */
const pairOf = (dimension: number): number => Math.floor(dimension / 2);

/** The least and the greatest distance of query and key in sight, the farther one at least 1. */
const farthest = (across: Stretch, down: Stretch): number =>
  Math.max(across.first + across.count - down.first, down.first + down.count - across.first, 1);

/**
 * An encoding over a million positions: a map to zoom and drag, whose pixels are the means of what they cover.
 *
 * @attr encoding - sinusoidal: its table; rope-cos and rope-sin: RoPE's; alibi and t5: the bias of each query and key.
 * @attr d-model - Rows of the tables: dimensions.
 * @attr base - Of the frequencies; 10000 in the papers.
 * @attr head - Of ALiBi's eight, from 1; for T5, chooses the table.
 * @attr sampled - Shows every n-th position in place of the mean of n: what is then seen need not be there. Only for
 *   the sinusoidal table.
 * @attr zoom - log2 of the positions for each pixel, which stops where all of them are in sight.
 * @attr view-position - The first position shown.
 * @attr view-dimension - The first dimension shown; for the biases, the first query.
 * @attr position - The position that is read; for the biases, the key.
 * @attr dimension - The dimension that is read; for the biases, the query.
 * @cssprop --pe-pos - Colour of the position, in controls, axes and marks.
 * @cssprop --pe-dim - Colour of the dimension, likewise.
 * @cssprop --pe-q - Colour of queries.
 * @cssprop --pe-k - Colour of keys.
 */
export class PeMap extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "A million positions";

  /** By their configs: what is shown, and what was shown before until the next is drawn. */
  #maps = new Map<string, TileMap>();
  #enlarged = document.createElement("canvas");
  #pointers = new Map<number, { x: number; y: number }>();
  /** Fingers have spread or closed by this much, in powers of two, since the zoom last changed. */
  #pinch = 0;
  /** Where a drag began, and the corner of the view at that moment. */
  #from = { x: 0, y: 0 };
  #corner: readonly [position: number, dimension: number] = [0, 0];

  override connectedCallback(): void {
    super.connectedCallback();
    this.recompute();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#pointers.clear();
    this.#keep();
    this.#image = undefined;
  }

  /** Gives back the memory of all maps but one. */
  #keep(kept?: TileMap): void {
    for (const [key, map] of this.#maps) {
      if (map === kept) continue;
      map.free();
      this.#maps.delete(key);
    }
  }

  protected compute(core: Posenc, state: MapState): Model {
    const config = configOf(core, state);
    const key = JSON.stringify([config, state.head]);
    const map = this.#maps.get(key) ?? core.tileMap(config);
    this.#maps.set(key, map);
    const square = isSquare(state.encoding);
    const cells = { across: POSITIONS, down: square ? POSITIONS : state["d-model"] };
    const at = this.#layout(cells, square);
    const { across, down } = this.#view(state, cells, at.map);
    const columns = blockAt(state.position, across, cells.across);
    const rows = blockAt(Math.min(state.dimension, cells.down - 1), down, cells.down);
    const view = { x0: columns[0], y0: rows[0], cellsX: columns[1], cellsY: rows[1], width: 1, height: 1 };
    const scale =
      config.slope ?? (config.biases ?? new Float64Array()).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const limits = {
      alibi: 2 ** Math.ceil(Math.log2(scale * farthest(across, down))),
      t5: Math.ceil(2 * scale) / 2,
    };
    return {
      core,
      map,
      square,
      cells,
      across,
      down,
      at,
      columns,
      rows,
      value: map.values(view)[0] ?? Number.NaN,
      invFreq: square
        ? new Float64Array()
        : core.sinusoidalInvFreq({ seqLen: 1, dModel: cells.down, base: state.base }),
      scale,
      limit: square ? limits[state.encoding as "alibi" | "t5"] : 1,
    };
  }

  #layout(cells: Extent, square: boolean): Layout {
    const narrow = this.width < 560;
    const left = narrow ? 48 : 72;
    const across = Math.max(80, this.width - left - 1);
    const most = narrow ? 256 : 512;
    const down = square ? Math.min(across, most) : Math.floor(cells.down / 2 ** whole(cells.down, most));
    const overview = down + 56;
    return {
      left,
      map: { across, down },
      overview,
      bar: { left, width: 120, top: overview + 46 },
      total: overview + 64,
    };
  }

  #view(state: MapState, cells: Extent, pixels: Extent): { across: Stretch; down: Stretch } {
    const zoom = Math.min(state.zoom, whole(cells.across, pixels.across));
    const scale = 2 ** zoom;
    const square = isSquare(state.encoding);
    const downScale = square ? scale : Math.min(scale, 2 ** whole(cells.down, pixels.down));
    return {
      across: stretchAt(state["view-position"], scale, cells.across, pixels.across),
      down: stretchAt(state["view-dimension"], downScale, cells.down, pixels.down),
    };
  }

  protected picture(model: Model, state: MapState): TemplateResult {
    const { at } = model;
    const box = `left:${at.left}px;width:${at.map.across}px;height:${at.map.down}px`;
    return html`
      ${this.#readout(model, state)}
      <div class="stage" data-picture .style=${`height:${at.total}px`}>
        <canvas
          class="map"
          aria-hidden="true"
          .style=${box}
          @pointerdown=${this.#press}
          @pointermove=${this.#move}
          @pointerup=${this.#lift}
          @pointercancel=${this.#lift}
          @dblclick=${this.#zoomHere}
          @wheel=${this.#wheel}
        ></canvas>
        ${this.#grid(model, box)} ${this.#axes(model)}
        <canvas
          class="bar"
          aria-hidden="true"
          .style=${`left:${at.bar.left + 46}px;top:${at.bar.top}px;width:${at.bar.width}px`}
        ></canvas>
      </div>
      ${this.#buttons(model)} ${this.#controls(model, state)}
    `;
  }

  #names({ square }: Model): { across: string; down: string; symbols: readonly [string, string] } {
    return square
      ? { across: "key", down: "query", symbols: ["k", "q"] }
      : { across: "position", down: "dimension", symbols: ["pos", "dim"] };
  }

  #readout(model: Model, { encoding }: MapState): TemplateResult {
    const { columns, rows, value, invFreq, square, scale } = model;
    const { across, down, symbols } = this.#names(model);
    const single = columns[1] === 1 && rows[1] === 1;
    const w = invFreq[pairOf(rows[0])] ?? 0;
    return html`
      <div class="readout">
        <span class=${symbols[0]} data-symbol=${symbols[0]}>${named(across, columns)} <b>${span(columns)}</b></span>
        <span class=${symbols[1]} data-symbol=${symbols[1]}>${named(down, rows)} <b>${span(rows)}</b></span>
        <span>${single ? "value" : "mean"} <b>${square ? significant(value, 4) : fixed(value, 4)}</b></span>
        <span>${
          square
            ? html`${encoding === "alibi" ? "slope" : "largest bias"} <b>${significant(scale, 3)}</b>`
            : html`wavelength <b>${significant((2 * Math.PI) / w, 4)}</b>`
        }</span>
      </div>
    `;
  }

  #grid(model: Model, style: string): TemplateResult {
    const { columns, rows, cells, value } = model;
    const { across, down } = this.#names(model);
    const words = `${named(across, columns)} ${span(columns)}, ${named(down, rows)} ${span(rows)}: ${significant(value, 3)}`;
    return mapGrid({
      label: "Map of the encoding: arrow keys read, Page Up and Page Down move on, plus, minus and 0 zoom",
      size: [cells.down, cells.across],
      cell: [rows[0], columns[0]],
      words,
      style,
      onKey: this.#key,
    });
  }

  #axes(model: Model): TemplateResult {
    const { across, down, at, columns, rows, cells, limit } = model;
    const { left, map, overview, bar } = at;
    const names = this.#names(model);
    const right = left + across.count / across.scale;
    const bottom = down.count / down.scale;
    const x: Axis = { domain: [across.first, across.first + across.count], range: [left, right] };
    const y: Axis = { domain: [down.first, down.first + down.count], range: [0, bottom] };
    const half = (stretch: Stretch) => (stretch.scale < 1 ? 0.5 : 0);
    const marks = (axis: Axis, spacing: number, end: number) =>
      ticks(axis, spacing).filter((value) => Number.isInteger(value) && value < end);
    const [x0, x1] = [place(x, columns[0]), place(x, columns[0] + columns[1])];
    const [y0, y1] = [place(y, rows[0]), place(y, rows[0] + rows[1])];
    const shown = x1 > left && x0 < right && y1 > 0 && y0 < bottom;
    const line: Axis = { domain: [0, cells.across], range: [left, left + map.across] };
    const window = [place(line, across.first), place(line, across.first + across.count)] as const;
    const wide = Math.max(3, window[1] - window[0]);
    return html`
      <svg class="axes" width=${this.width} height=${at.total} aria-hidden="true">
        <rect class="frame" x=${left - 0.5} y="-0.5" width=${right - left + 1} height=${bottom + 1}></rect>
        ${bottomAxis(x, bottom + 0.5, marks(x, 96, across.first + across.count), half(across))}
        ${leftAxis(y, left - 0.5, marks(y, 48, down.first + down.count), half(down))}
        <text class="name ${names.symbols[0]}" data-symbol=${names.symbols[0]} x=${left + map.across / 2} y=${map.down + 38} text-anchor="middle">
          ${names.across}
        </text>
        <text
          class="name ${names.symbols[1]}"
          data-symbol=${names.symbols[1]}
          transform="translate(11 ${map.down / 2}) rotate(-90)"
          text-anchor="middle"
        >
          ${names.down}
        </text>
        ${
          shown
            ? svg`<g class="cross">
                <line class=${names.symbols[0]} data-symbol=${names.symbols[0]} x1=${(x0 + x1) / 2} x2=${(x0 + x1) / 2} y1="0" y2=${bottom}></line>
                <line class=${names.symbols[1]} data-symbol=${names.symbols[1]} x1=${left} x2=${right} y1=${(y0 + y1) / 2} y2=${(y0 + y1) / 2}></line>
              </g>`
            : nothing
        }
        <g class="overview">
          <line class="all" x1=${left} x2=${left + map.across} y1=${overview + 6} y2=${overview + 6}></line>
          <rect
            class=${`window ${names.symbols[0]}`}
            x=${Math.min(window[0], left + map.across - wide)}
            y=${overview}
            width=${wide}
            height="12"
            rx="2"
          ></rect>
          <text x=${left} y=${overview + 28}>0</text>
          <text x=${left + map.across} y=${overview + 28} text-anchor="end">${fixed(cells.across, 0)}</text>
        </g>
        <text x=${bar.left + 40} y=${bar.top + 10} text-anchor="end">${significant(-limit, 2)}</text>
        <text x=${bar.left + bar.width + 52} y=${bar.top + 10}>${significant(limit, 2)}</text>
      </svg>
    `;
  }

  #buttons(model: Model): TemplateResult {
    const { across, down, cells, at } = model;
    const names = this.#names(model);
    const size = (scale: number, name: string) =>
      scale > 1 ? `${fixed(scale, 0)} ${plural(name)}` : scale === 1 ? `1 ${name}` : `1/${1 / scale} ${name}`;
    return html`
      <div class="view" role="group" aria-label="Part shown" data-field="zoom view-position view-dimension">
        <button type="button" aria-label="Zoom in" ?disabled=${across.scale <= 2 ** NEAREST} @click=${() => this.#zoom(-1)}>
          +
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          ?disabled=${across.scale >= 2 ** whole(cells.across, at.map.across)}
          @click=${() => this.#zoom(1)}
        >
          −
        </button>
        <button type="button" @click=${this.#showAll}>All</button>
        <span>
          1 pixel: ${size(across.scale, names.across)} ×
          ${size(down.scale, names.down)}. Drag to move; pinch, double-click, or
          Ctrl and wheel to zoom.
        </span>
      </div>
    `;
  }

  #controls(model: Model, state: MapState): TemplateResult {
    const { square, across } = model;
    return html`
      <div class="controls">
        ${choice({
          field: "encoding",
          label: "encoding",
          value: state.encoding,
          options: [
            ["sinusoidal", "sinusoidal table"],
            ["rope-cos", "RoPE: cosines"],
            ["rope-sin", "RoPE: sines"],
            ["alibi", "ALiBi: bias of query and key"],
            ["t5", "T5: bias of query and key"],
          ],
          onInput: (value) => this.set({ encoding: value as MapState["encoding"], sampled: false }),
        })}
        ${slider({
          field: "position",
          label: square ? "go to key" : "go to position",
          symbol: square ? "k" : "pos",
          value: state.position,
          min: 0,
          max: POSITIONS - 1,
          onInput: (value) => this.#goTo(value),
        })}
        ${
          square
            ? slider({
                field: "head",
                label: state.encoding === "alibi" ? "head of 8" : "table",
                value: state.head,
                min: 1,
                max: HEADS,
                onInput: (value) => this.set({ head: value }),
              })
            : html`${slider({
                field: "d-model",
                label: state.encoding === "sinusoidal" ? "d_model: dimensions" : "rotary_dim: dimensions",
                symbol: "dim",
                value: state["d-model"],
                min: 2,
                max: fields["d-model"].max,
                step: state.encoding === "sinusoidal" ? 1 : 2,
                onInput: (value) => this.set({ "d-model": value }),
              })}
              ${slider({
                field: "base",
                label: "base",
                value: state.base,
                min: 2,
                max: 1e6,
                most: fields.base.max,
                logarithmic: true,
                onInput: (value) => this.set({ base: value }),
              })}`
        }
        ${
          state.encoding === "sinusoidal"
            ? toggle({
                field: "sampled",
                label: `every ${across.scale > 1 ? ordinal(across.scale) : "n-th"} position, not the mean`,
                checked: state.sampled,
                onInput: (checked) => this.set({ sampled: checked }),
              })
            : nothing
        }
      </div>
    `;
  }

  protected takeaway(model: Model, { encoding, position, sampled }: MapState): string {
    const { across, down, invFreq, columns, rows, value, square } = model;
    const n = Math.max(1, across.scale);
    if (square) {
      const what = columns[1] * rows[1] > 1 ? "mean" : "value";
      const key = `At key ${fixed(position, 0)} the ${what} is ${significant(value, 3)}`;
      return encoding === "alibi"
        ? `${key}. Along each diagonal the bias is one number, minus the slope times the distance: it falls for ever.`
        : `${key}. From a distance of 128 on, at the latest, all keys on one side share a bucket: one bias for ever.`;
    }
    const pixel = `${fixed(n, 0)} positions${down.scale > 1 ? ` and ${fixed(down.scale, 0)} dimensions` : ""}`;
    const turns = (pair: number) =>
      `pair ${fixed(pair, 0)}, which turns once in ${wavelengthOf(invFreq, pair)} positions,`;
    if (n === 1) {
      const [fastest, slowest] = [wavelengthOf(invFreq, 0), wavelengthOf(invFreq, invFreq.length - 1)];
      return `Here nothing is averaged along positions: pair 0 turns once in ${fastest} of them, the last pair in ${slowest}.`;
    }
    if (sampled && encoding === "sinusoidal") {
      const seen = Array.from(invFreq, (w) => seemingWavelength(n, w));
      const fast = seen.filter((_, pair) => (invFreq[pair] ?? 0) * n > 2 * Math.PI);
      const slowest = seen.indexOf(Math.max(...fast));
      const only = `Of each ${fixed(n, 0)} positions only the first is shown`;
      if (slowest < 0) return `${only}, which no pair is fast enough to hide in.`;
      return `${only}: ${turns(slowest)} seems to turn once in ${significant(seen[slowest] ?? Number.NaN, 4)}.`;
    }
    const shares = Array.from(invFreq, (w) => Math.abs(kept(n, w)));
    const first = shares.findIndex((share) => share >= 0.5);
    if (first < 0)
      return `Each pixel is the mean of ${pixel}: every pair loses more than half of its height to that.`;
    if (first === 0) return `Each pixel is the mean of ${pixel}: no pair loses half of its height to that.`;
    const all = `the first ${fixed(first, 0)} of ${fixed(invFreq.length, 0)} pairs lose more than half of their height to that`;
    const share = `${fixed(100 * (shares[first] ?? 0), 0)} %`;
    return `Each pixel is the mean of ${pixel}: ${all}; ${turns(first)} keeps ${share}.`;
  }

  protected dataTable(model: Model, { encoding }: MapState): DataTable {
    const { across, columns, invFreq, map, square, rows, cells } = model;
    if (square) {
      const view = { x0: columns[0], y0: rows[0], cellsX: columns[1], cellsY: rows[1], width: 1, height: 1 };
      const steps = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 65536, cells.across - 1];
      return {
        caption: "The bias of a key before its query",
        head: ["distance", "bias"],
        rows: steps.map((distance) => [
          fixed(distance, 0),
          significant(map.values({ ...view, x0: 0, y0: distance, cellsX: 1, cellsY: 1 })[0] ?? Number.NaN, 5),
        ]),
      };
    }
    const n = Math.max(1, across.scale);
    const at = { x0: columns[0], cellsX: columns[1], y0: 0, cellsY: 1, width: 1, height: cells.down };
    const values = map.values(at);
    return {
      caption: `The mean of ${named("position", columns)} ${span(columns)}, and what a mean of ${fixed(n, 0)} leaves of each pair`,
      head: ["dimension", "function", "wavelength", "share kept", "mean"],
      rows: Array.from(values, (value, dimension) => {
        const w = invFreq[pairOf(dimension)] ?? 0;
        const wave =
          { "rope-cos": "cos", "rope-sin": "sin" }[encoding as string] ?? ["sin", "cos"][dimension % 2] ?? "";
        return [
          dimension,
          wave,
          significant((2 * Math.PI) / w, 6),
          fixed(Math.abs(kept(n, w)), 6),
          fixed(value, 6),
        ];
      }),
    };
  }

  /** The means in sight, each of one pixel. */
  protected override array({ map, across, down, at, cells }: Model): NamedArray {
    const [x, y] = [sampling(across, at.map.across, 1), sampling(down, at.map.down, 1)];
    const width = Math.min(x.pixels, Math.ceil((cells.across - x.first) / x.cells));
    const height = Math.min(y.pixels, Math.ceil((cells.down - y.first) / y.cells));
    return { name: "map", shape: [height, width], values: map.values(viewOf(x, y, width, height)) };
  }

  protected override numpy(state: MapState): string {
    const { across, down, at, cells, square, limit } = this.model as Model;
    const [x, y] = [sampling(across, at.map.across, 1), sampling(down, at.map.down, 1)];
    const width = Math.min(x.pixels, Math.floor((cells.across - x.first) / x.cells));
    const height = Math.min(y.pixels, Math.floor((cells.down - y.first) / y.cells));
    const { encoding, base, head } = state;
    const waves = {
      sinusoidal: "np.where(dimension % 2 == 0, np.sin(middle * w), np.cos(middle * w))",
      "rope-cos": "np.cos(middle * w)",
      "rope-sin": "np.sin(middle * w)",
    };
    const table = `# The mean of a wave over n positions is the wave at their middle, times a share that does not depend on it.
n = ${x.cells}
middle = ${x.first} + n * np.arange(${width}) + (n - 1) / 2
dimension = ${y.first} + np.arange(${height * y.cells})[:, None]
w = ${float(base)} ** (-2 * (dimension // 2) / ${cells.down})
share = np.sin(n * w / 2) / (n * np.sin(w / 2))
picture = (share * ${waves[encoding as keyof typeof waves]}).reshape(${height}, ${y.cells}, ${width}).mean(axis=1)`;
    const bias = {
      alibi: `def bias(distance):
    """Of a key at a distance, positive after the query."""
    return -(2.0**-${head}) * np.abs(distance)`,
      t5: `${randomNormal}


biases = random_normal(${BUCKETS}, ${head - 1}, 1.0)


def bias(distance):
    """Of a key at a distance, positive after the query."""
    away = np.abs(distance)
    log = 8 + (np.log(np.maximum(away, 1) / 8) / np.log(128 / 8) * 8).astype(int)
    bucket = np.where(away < 8, away, np.minimum(15, log))
    return biases[bucket + np.where(distance > 0, 16, 0)]`,
    };
    const biases = `${bias[encoding as keyof typeof bias]}


# All pixels of a diagonal are alike: each is a mean over n keys and n queries, whose distances weigh as a triangle.
n = ${x.cells}
weights = np.convolve(np.ones(n), np.ones(n)) / n**2
corner = ${x.first - y.first} + n * np.arange(-${height - 1}, ${width})
diagonal = bias(corner[:, None] + np.arange(1 - n, n)) @ weights
picture = diagonal[np.arange(${width}) - np.arange(${height})[:, None] + ${height - 1}]`;
    return `import matplotlib.pyplot as plt
import numpy as np

${square ? biases : table}

plt.figure(figsize=(14, 7))
plt.imshow(picture, aspect="auto", cmap="RdBu", vmin=-${limit}, vmax=${limit},
           extent=(${x.first}, ${x.first + width * x.cells}, ${y.first + height * y.cells}, ${y.first}))
plt.xlabel("${square ? "key" : "position"}")
plt.ylabel("${square ? "query" : "dimension"}")
plt.colorbar(label="mean")
plt.show()
`;
  }

  #image: { bytes: Uint8ClampedArray<ArrayBuffer>; image: ImageData } | undefined;

  protected override draw(model: Model, state: MapState): void {
    const { core, map, across, down, at, limit } = model;
    const density = devicePixelRatio > 1.25 ? 2 : 1;
    const [x, y] = [sampling(across, at.map.across, density), sampling(down, at.map.down, density)];
    const canvas = this.#canvas(".map");
    const size = [at.map.across * density, at.map.down * density] as const;
    if (canvas.width !== size[0]) canvas.width = size[0];
    if (canvas.height !== size[1]) canvas.height = size[1];
    const context = canvas.getContext("2d");
    if (!context) throw new Error("The browser refused a canvas to draw on.");
    map.setColors(core.lut(), { vmin: -limit, vmax: limit });
    if (state.sampled && state.encoding === "sinusoidal" && x.cells > 1) {
      this.#drawSampled(context, model, x, size);
    } else if (x.enlarge === 1 && y.enlarge === 1) {
      context.putImageData(this.#pixels(map, x, y), 0, 0);
    } else {
      const cells = this.#enlarged;
      if (cells.width !== x.pixels) cells.width = x.pixels;
      if (cells.height !== y.pixels) cells.height = y.pixels;
      cells.getContext("2d")?.putImageData(this.#pixels(map, x, y), 0, 0);
      context.clearRect(0, 0, ...size);
      context.imageSmoothingEnabled = false;
      context.drawImage(cells, x.shift, y.shift, x.pixels * x.enlarge, y.pixels * y.enlarge);
    }
    paintBar(this.#canvas(".bar"), core);
    this.#keep(map);
  }

  #pixels(map: TileMap, x: Sampling, y: Sampling): ImageData {
    const bytes = map.draw(viewOf(x, y, x.pixels, y.pixels));
    if (this.#image?.bytes === bytes) return this.#image.image;
    const image = new ImageData(bytes, x.pixels, y.pixels);
    this.#image = { bytes, image };
    return image;
  }

  /** What a plot of every n-th row shows. */
  #drawSampled(
    context: CanvasRenderingContext2D,
    { core, down, cells }: Model,
    x: Sampling,
    [width, height]: readonly [number, number],
  ): void {
    const rows = Math.min(x.pixels, Math.ceil((cells.across - x.first) / x.cells));
    const table = core.sinusoidalTable({
      seqLen: rows,
      dModel: cells.down,
      base: this.state.base,
      firstPosition: x.first,
      positionStep: x.cells,
    });
    const shape = {
      rows,
      cols: cells.down,
      width: rows,
      height,
      firstCol: down.first,
      numCols: down.count,
      transpose: true,
    };
    context.clearRect(0, 0, width, height);
    context.putImageData(new ImageData(core.colormap(table, core.lut(), shape), rows, height), 0, 0);
  }

  #canvas(selector: string): HTMLCanvasElement {
    return this.renderRoot.querySelector(selector) as HTMLCanvasElement;
  }

  // ---------------------------------------------------------------------------------------------- reading

  #cellAt(event: MouseEvent, { across, down, at }: Model): [position: number, dimension: number] {
    const [right, below] = share(event, this.#canvas(".map"));
    return [
      across.first + right * at.map.across * across.scale,
      down.first + below * at.map.down * down.scale,
    ];
  }

  #read(event: PointerEvent, model: Model): void {
    const [position, dimension] = this.#cellAt(event, model);
    this.set({
      position: clamp(Math.floor(position), 0, model.cells.across - 1),
      dimension: clamp(Math.floor(dimension), 0, model.cells.down - 1),
    });
  }

  #key = (event: KeyboardEvent): void => {
    const { model } = this;
    if (!model || event.ctrlKey || event.metaKey || event.altKey) return;
    const { across, down, cells } = model;
    const step = event.shiftKey ? 10 : 1;
    const [x, y] = [step * Math.max(1, across.scale), step * Math.max(1, down.scale)];
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.#go(-x, 0),
      ArrowRight: () => this.#go(x, 0),
      ArrowUp: () => this.#go(0, -y),
      ArrowDown: () => this.#go(0, y),
      PageUp: () => this.#go(-Math.floor(across.count), 0),
      PageDown: () => this.#go(Math.floor(across.count), 0),
      Home: () => this.#go(-cells.across, 0),
      End: () => this.#go(cells.across, 0),
      "+": () => this.#zoom(-1),
      "=": () => this.#zoom(-1),
      "-": () => this.#zoom(1),
      "0": () => this.#showAll(),
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!move) return;
    move();
    event.preventDefault();
  };

  /** Moves the cell that is read, and the part in sight with it. */
  #go(right: number, below: number): void {
    const { model } = this;
    if (!model) return;
    const { cells, across, down } = model;
    const position = clamp(this.state.position + right, 0, cells.across - 1);
    const dimension = clamp(Math.min(this.state.dimension, cells.down - 1) + below, 0, cells.down - 1);
    const follow = (at: number, { first, count, scale }: Stretch) => {
      const size = Math.max(1, scale);
      return at < first ? at : at + size > first + count ? at + size - count : first;
    };
    this.set({ position, dimension });
    this.#show(follow(position, across), follow(dimension, down));
  }

  #goTo(position: number): void {
    const { across } = this.model as Model;
    const kept = clamp(Math.round(position), 0, POSITIONS - 1);
    const inSight = kept >= across.first && kept < across.first + across.count;
    this.set({ position: kept });
    if (!inSight) this.#show(kept - across.count / 2, undefined);
  }

  // ------------------------------------------------------------------------------------------ zoom and pan

  /** Shows the part that begins there; what lies beyond an end is pulled in. */
  #show(position: number, dimension: number | undefined, zoom = this.state.zoom): void {
    const { cells, at } = this.model as Model;
    const tidy = (value: number) => Number(value.toFixed(3));
    const wanted = {
      ...this.state,
      zoom,
      "view-position": clamp(position, 0, cells.across),
      "view-dimension": clamp(dimension ?? this.state["view-dimension"], 0, cells.down),
    };
    const { across, down } = this.#view(wanted, cells, at.map);
    this.set({ zoom, "view-position": tidy(across.first), "view-dimension": tidy(down.first) });
  }

  #showAll = (): void => {
    const { cells, at } = this.model as Model;
    this.#show(0, 0, clamp(whole(cells.across, at.map.across), NEAREST, FARTHEST));
  };

  /** Farther for 1, nearer for −1; a point, by default the cell that is read, stays where it is. */
  #zoom(by: number, about?: readonly [position: number, dimension: number]): void {
    const { across, down, cells, at } = this.model as Model;
    const farthestHere = Math.min(FARTHEST, whole(cells.across, at.map.across));
    const zoom = clamp(Math.log2(across.scale) + by, NEAREST, farthestHere);
    const { position, dimension } = this.state;
    const inSight = position >= across.first && position < across.first + across.count;
    const point = about ?? [
      inSight ? position : across.first + across.count / 2,
      Math.min(dimension, cells.down - 1),
    ];
    const next = this.#view({ ...this.state, zoom }, cells, at.map);
    this.#show(
      point[0] - ((point[0] - across.first) / across.scale) * next.across.scale,
      point[1] - ((point[1] - down.first) / down.scale) * next.down.scale,
      zoom,
    );
  }

  /** Zooms as soon as fingers or the wheel have gone half of the way to the next power of two. */
  #travel(powers: number, about: readonly [number, number]): void {
    this.#pinch += powers;
    if (Math.abs(this.#pinch) < 0.5) return;
    const by = Math.sign(this.#pinch);
    this.#pinch -= by;
    this.#zoom(by, about);
  }

  #zoomHere = (event: MouseEvent): void => {
    if (this.model) this.#zoom(-1, this.#cellAt(event, this.model));
  };

  // Without Ctrl the wheel scrolls the page.
  #wheel = (event: WheelEvent): void => {
    if (!this.model || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.#travel(clamp(event.deltaY, -100, 100) / 100, this.#cellAt(event, this.model));
  };

  #press = (event: PointerEvent): void => {
    if (!this.model || event.button !== 0) return;
    const { across, down } = this.model;
    this.#from = { x: event.clientX, y: event.clientY };
    this.#corner = [across.first, down.first];
    this.#pointers.set(event.pointerId, this.#from);
    this.#pinch = 0;
    this.#canvas(".map").setPointerCapture(event.pointerId);
    if (this.#pointers.size === 1) this.#read(event, this.model);
  };

  #move = (event: PointerEvent): void => {
    const { model } = this;
    if (!model) return;
    const before = this.#pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") this.#read(event, model);
      return;
    }
    const now = { x: event.clientX, y: event.clientY };
    const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    this.#pointers.set(event.pointerId, now);
    if (other) {
      const spread = (a: { x: number; y: number }) => Math.hypot(a.x - other.x, a.y - other.y);
      if (spread(now) > 0 && spread(before) > 0) {
        this.#travel(Math.log2(spread(before) / spread(now)), this.#cellAt(event, model));
      }
      return;
    }
    const { width, height } = this.#canvas(".map").getBoundingClientRect();
    const { across, down, at } = model;
    this.#show(
      this.#corner[0] - ((now.x - this.#from.x) / width) * at.map.across * across.scale,
      this.#corner[1] - ((now.y - this.#from.y) / height) * at.map.down * down.scale,
    );
  };

  #lift = (event: PointerEvent): void => {
    this.#pointers.delete(event.pointerId);
    const [left] = this.#pointers.values();
    if (!left || !this.model) return;
    // The finger that stays drags on from here.
    this.#from = left;
    this.#corner = [this.model.across.first, this.model.down.first];
  };

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    takeawayRoom([0, 8.7], [480, 5.8], [760, 4.35], [1000, 2.9]),
    readoutRow([0, 4.35], [520, 2.9], [900, 1.5]),
    css`
      .stage {
        position: relative;
      }
      .map,
      .grid,
      .bar {
        position: absolute;
      }
      .map,
      .grid {
        top: 0;
      }
      .map {
        touch-action: pan-y;
        cursor: grab;
      }
      .map:active {
        cursor: grabbing;
      }
      .grid {
        pointer-events: none;
      }
      .bar {
        height: 12px;
        outline: 1px solid var(--pe-rule);
      }
      .axes {
        position: absolute;
        inset: 0;
        overflow: visible;
        pointer-events: none;
      }
      .frame {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .cross line {
        stroke-width: 1;
      }
      .all {
        stroke: var(--pe-rule);
        stroke-width: 4;
        stroke-linecap: round;
      }
      .pos {
        color: var(--pe-pos);
        fill: var(--pe-pos);
      }
      .dim {
        color: var(--pe-dim);
        fill: var(--pe-dim);
      }
      .q {
        color: var(--pe-q);
        fill: var(--pe-q);
      }
      .k {
        color: var(--pe-k);
        fill: var(--pe-k);
      }
      line.pos {
        stroke: var(--pe-pos);
      }
      line.dim {
        stroke: var(--pe-dim);
      }
      line.q {
        stroke: var(--pe-q);
      }
      line.k {
        stroke: var(--pe-k);
      }
      .view {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-1) var(--pe-space-2);
        align-items: center;
        min-height: calc(3.2 * var(--pe-rem));
        margin: var(--pe-space-2) 0;
        color: var(--pe-ink-2);
      }
    `,
  ];
}

/** The part of the map that the core's pixels cover. */
function viewOf(x: Sampling, y: Sampling, width: number, height: number): TileView {
  return { x0: x.first, y0: y.first, cellsX: x.cells, cellsY: y.cells, width, height };
}

const plural = (name: string): string => (name === "query" ? "queries" : `${name}s`);
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };
/** 2nd, 64th. */
const ordinal = (count: number): string =>
  fixed(count, 0) + (SUFFIXES[new Intl.PluralRules("en", { type: "ordinal" }).select(count)] ?? "th");
const named = (name: string, [, count]: readonly [number, number]): string =>
  count === 1 ? name : plural(name);
const span = ([first, count]: readonly [number, number]): string =>
  count === 1 ? fixed(first, 0) : `${fixed(first, 0)}–${fixed(first + count - 1, 0)}`;
/** Positions to what looks like a turn where every n-th position alone is seen. */
function seemingWavelength(n: number, w: number): number {
  const angle = Math.abs(n * w - 2 * Math.PI * Math.round((n * w) / (2 * Math.PI)));
  return (2 * Math.PI * n) / angle;
}
const wavelengthOf = (invFreq: Float64Array, pair: number): string =>
  significant((2 * Math.PI) / (invFreq[pair] ?? Number.NaN), 4);

define("pe-map", PeMap);

declare global {
  interface HTMLElementTagNameMap {
    "pe-map": PeMap;
  }
}
