// The table of a sinusoidal encoding as a picture: positions across, dimensions down.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels, paint } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc, SinusoidalConfig, SinusoidalLayout } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow, takeawayRoom } from "./figure.ts";
import { fixed, plain, significant } from "./format.ts";
import { mapGrid, mapGridStyles } from "./map-grid.ts";
import { paintBar } from "./matrix-map.ts";
import { float } from "./numpy.ts";
import type { State } from "./state.ts";

const MAX_CELLS = 2 ** 22;
const LAYOUTS = ["interleaved", "halves", "halves-minus-one"] as const;

const fields = {
  "seq-len": { kind: "integer", fallback: 100, min: 1, max: 65536 },
  "d-model": { kind: "integer", fallback: 128, min: 1, max: 4096 },
  base: { kind: "number", fallback: 10000, min: 1e-3, max: 1e12 },
  "first-position": { kind: "number", fallback: 0, min: -(2 ** 24), max: 2 ** 24 },
  "position-step": { kind: "number", fallback: 1, min: -1e6, max: 1e6 },
  layout: { kind: "choice", fallback: "interleaved", choices: LAYOUTS },
  row: { kind: "integer", fallback: 5, min: 0, max: 65535 },
  column: { kind: "integer", fallback: 1, min: 0, max: 4095 },
  "view-row": { kind: "number", fallback: 0, min: 0, max: 65536 },
  "view-rows": { kind: "number", fallback: 0, min: 0, max: 65536 },
  "view-column": { kind: "number", fallback: 0, min: 0, max: 4096 },
  "view-columns": { kind: "number", fallback: 0, min: 0, max: 4096 },
} as const;
type HeatmapState = State<typeof fields>;

/** The part of the table that is shown, in cells. */
interface View {
  row: number;
  rows: number;
  column: number;
  columns: number;
}

/** What stands in a column: which pair, and which of its two functions; null: zeros. */
interface Column {
  pair: number;
  wave: "sin" | "cos";
}

interface Model {
  table: Float32Array;
  invFreq: Float64Array;
  rows: number;
  columns: number;
  view: View;
  row: number;
  column: number;
  position: (row: number) => number;
  value: number;
  core: Posenc;
}

/** Where things stand, in CSS pixels from the top left corner of the stage. */
interface Layout {
  /** The map. */
  left: number;
  width: number;
  height: number;
  positions: Axis;
  dimensions: Axis;
  /** Width of the profile beside the map. */
  profile: number;
  /** The profile under the map. */
  profileTop: number;
  profileHeight: number;
  /** The colour bar, in the corner between the profiles. */
  bar: { left: number; top: number; width: number };
  total: number;
}

export function columnOf(column: number, dModel: number, layout: SinusoidalLayout): Column | null {
  if (layout === "interleaved") {
    return { pair: Math.floor(column / 2), wave: column % 2 === 0 ? "sin" : "cos" };
  }
  const sines = layout === "halves" ? Math.ceil(dModel / 2) : Math.floor(dModel / 2);
  if (column < sines) return { pair: column, wave: "sin" };
  const pair = column - sines;
  return pair < Math.floor(dModel / 2) ? { pair, wave: "cos" } : null;
}

/** A stretch of an axis of `cells` cells: 0 long means all of it; never shorter than two cells, never outside. */
function stretch(first: number, count: number, cells: number): [first: number, count: number] {
  const length = count === 0 ? cells : clamp(count, Math.min(2, cells), cells);
  return [clamp(first, 0, cells - length), length];
}

function viewOf(state: HeatmapState): View {
  const [row, rows] = stretch(state["view-row"], state["view-rows"], state["seq-len"]);
  const [column, columns] = stretch(state["view-column"], state["view-columns"], state["d-model"]);
  return { row, rows, column, columns };
}

/** The cell that is read; a smaller table pulls it in. */
function cellOf(state: HeatmapState): { row: number; column: number } {
  return {
    row: Math.min(state.row, state["seq-len"] - 1),
    column: Math.min(state.column, state["d-model"] - 1),
  };
}

/**
 * The heatmap of a sinusoidal table, with every parameter free.
 *
 * @attr seq-len - Rows of the table: positions.
 * @attr d-model - Columns of the table: dimensions.
 * @attr base - 10000 in the paper.
 * @attr first-position - Position of row 0.
 * @attr position-step - Positions from one row to the next.
 * @attr layout - interleaved: sine and cosine in turn; halves: all sines, then all cosines; halves-minus-one: likewise,
 *   with the exponent over one pair less.
 * @attr row - The row that is read, from 0.
 * @attr column - The column that is read, from 0.
 * @attr view-row - The first row shown.
 * @attr view-rows - How many rows are shown; 0: all.
 * @attr view-column - The first column shown.
 * @attr view-columns - How many columns are shown; 0: all.
 * @cssprop --pe-pos - Colour of the position, in controls, axes and marks.
 * @cssprop --pe-dim - Colour of the dimension, likewise.
 */
export class PeHeatmap extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "Sinusoidal positional encoding";

  #table: { key: string; table: Float32Array; invFreq: Float64Array } | undefined;
  #pointers = new Map<number, { x: number; y: number }>();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#pointers.clear();
  }

  protected compute(core: Posenc, state: HeatmapState): Model {
    const rows = state["seq-len"];
    const columns = state["d-model"];
    if (rows * columns > MAX_CELLS) {
      throw new Error(
        `seq-len × d-model must be at most ${fixed(MAX_CELLS, 0)} cells, got ${fixed(rows * columns, 0)}`,
      );
    }
    const config: SinusoidalConfig = {
      seqLen: rows,
      dModel: columns,
      base: state.base,
      firstPosition: state["first-position"],
      positionStep: state["position-step"],
      layout: state.layout,
    };
    const key = JSON.stringify(config);
    if (this.#table?.key !== key) {
      this.#table = { key, table: core.sinusoidalTable(config), invFreq: core.sinusoidalInvFreq(config) };
    }
    const { table, invFreq } = this.#table;
    const { row, column } = cellOf(state);
    return {
      table,
      invFreq,
      rows,
      columns,
      view: viewOf(state),
      row,
      column,
      position: (at) => state["first-position"] + at * state["position-step"],
      value: table[row * columns + column] ?? Number.NaN,
      core,
    };
  }

  #layout({ view }: Model): Layout {
    const narrow = this.width < 560;
    const left = narrow ? 40 : 52;
    const profile = narrow ? 56 : 120;
    const width = Math.max(80, this.width - left - profile - 12);
    const height = narrow ? 260 : clamp(Math.round(width * 0.4), 260, 380);
    const profileTop = height + 46;
    const profileHeight = 84;
    const positions: Axis = { domain: [view.row, view.row + view.rows], range: [left, left + width] };
    const dimensions: Axis = { domain: [view.column, view.column + view.columns], range: [0, height] };
    return {
      left,
      width,
      height,
      profile,
      positions,
      dimensions,
      profileTop,
      profileHeight,
      bar: { left: left + width + 12, top: profileTop + profileHeight / 2, width: profile - 6 },
      total: profileTop + profileHeight + 8,
    };
  }

  protected picture(model: Model, state: HeatmapState): TemplateResult {
    const at = this.#layout(model);
    return html`
      ${this.#readout(model, state)}
      <div class="stage" data-picture .style=${`height:${at.total}px`}>
        <canvas
          class="map ${this.#zoomed(model) ? "zoomed" : ""}"
          aria-hidden="true"
          .style=${`left:${at.left}px;width:${at.width}px;height:${at.height}px`}
          @pointerdown=${this.#press}
          @pointermove=${this.#move}
          @pointerup=${this.#lift}
          @pointercancel=${this.#lift}
          @dblclick=${this.#zoomHere}
          @wheel=${this.#wheel}
        ></canvas>
        <canvas
          class="bar"
          aria-hidden="true"
          .style=${`left:${at.bar.left}px;top:${at.bar.top}px;width:${at.bar.width}px`}
        ></canvas>
        ${this.#grid(model, at)} ${this.#axes(model, at)}
      </div>
      ${this.#viewButtons(model)} ${this.#controls(state)}
    `;
  }

  #readout(model: Model, state: HeatmapState): TemplateResult {
    const { row, column, value, invFreq } = model;
    const what = columnOf(column, model.columns, state.layout);
    const w = what ? (invFreq[what.pair] ?? 0) : 0;
    return html`
      <div class="readout">
        <span class="pos" data-symbol="pos">position <b>${plain(model.position(row))}</b></span>
        <span class="dim" data-symbol="dim">dimension <b>${column}</b></span>
        <span>value <b>${fixed(value, 4)}</b></span>
        <span class="wave">
          ${what ? html`${what.wave} of pair ${what.pair}, wavelength <b>${significant(wavelength(w), 4)}</b>` : "zero"}
        </span>
      </div>
    `;
  }

  /** What assistive technology sees of the map: one cell, the active one. */
  #grid(model: Model, at: { left: number; width: number; height: number }): TemplateResult {
    const { row, column, value } = model;
    const words = `position ${plain(model.position(row))}, dimension ${column}: ${fixed(value, 3)}`;
    return mapGrid({
      label: "Heatmap of the encoding: arrow keys move, Shift moves by ten, plus, minus and 0 zoom",
      size: [model.columns, model.rows],
      cell: [column, row],
      words,
      style: `left:${at.left}px;width:${at.width}px;height:${at.height}px`,
      onKey: this.#key,
    });
  }

  #axes(model: Model, at: Layout): TemplateResult {
    const { view, row, column, table, columns } = model;
    const { left, width, height, positions, dimensions, profileTop, profileHeight } = at;
    const whole = (values: number[]) => values.filter(Number.isInteger);
    const right = left + width;
    // Cells of the two profiles, in the part shown.
    const firstRow = Math.floor(view.row);
    const alongRow = Array.from(
      { length: Math.min(Math.ceil(view.rows) + 1, model.rows - firstRow) },
      (_, i) => table[(firstRow + i) * columns + column] ?? Number.NaN,
    );
    const firstColumn = Math.floor(view.column);
    const alongColumn = Array.from(
      { length: Math.min(Math.ceil(view.columns) + 1, columns - firstColumn) },
      (_, i) => table[row * columns + firstColumn + i] ?? Number.NaN,
    );
    const level: Axis = { domain: [-1, 1], range: [profileTop + profileHeight, profileTop] };
    const across: Axis = { domain: [-1, 1], range: [right + 12, right + 12 + at.profile - 6] };
    const x = place(positions, row + 0.5);
    const y = place(dimensions, column + 0.5);
    const shown = x >= left && x <= right && y >= 0 && y <= height;
    const columnPath = linePath(
      alongRow,
      (i) => place(positions, firstRow + i + 0.5),
      (value) => place(level, value),
    );
    // The profile of a position runs down: swap the axes of the path.
    const rowPath = alongColumn
      .map((value, i) => {
        const point = `${place(across, value).toFixed(2)} ${place(dimensions, firstColumn + i + 0.5).toFixed(2)}`;
        return `${i === 0 ? "M" : "L"}${point}`;
      })
      .join("");
    // The axis counts positions; rows only where no step tells one row's position from the next's.
    const { "first-position": first, "position-step": step } = this.state;
    const counted = step > 0;
    const axis: Axis = counted
      ? { domain: [first + view.row * step, first + (view.row + view.rows) * step], range: positions.range }
      : positions;
    const half = counted ? step / 2 : 0.5;
    const rowTicks = ticks(axis, 24 + 8 * plain(Math.round(axis.domain[1])).length);
    const inside = (values: number[]) => values.filter((value) => place(axis, value + half) <= right);
    return html`
      <svg class="axes" width=${this.width} height=${at.total} aria-hidden="true">
        <defs>
          <clipPath id="under"><rect x=${left} y=${profileTop} width=${width} height=${profileHeight}></rect></clipPath>
          <clipPath id="beside"><rect x=${right + 8} y="0" width=${at.profile + 4} height=${height}></rect></clipPath>
        </defs>
        <rect class="frame" x=${left - 0.5} y="-0.5" width=${width + 1} height=${height + 1}></rect>
        ${bottomAxis(axis, height + 0.5, inside(step === 1 ? whole(rowTicks) : rowTicks), half)}
        ${leftAxis(
          dimensions,
          left - 0.5,
          whole(ticks(dimensions, 48)).filter((value) => value < view.column + view.columns),
          0.5,
        )}
        <text class="name pos" data-symbol="pos" x=${left + width / 2} y=${height + 38} text-anchor="middle">
          ${counted ? "position in sequence" : "row"}
        </text>
        <text class="name dim" data-symbol="dim" transform="translate(11 ${height / 2}) rotate(-90)" text-anchor="middle">
          dimension
        </text>
        ${
          shown
            ? svg`<g class="cross">
                <line class="pos" data-symbol="pos" x1=${x} x2=${x} y1="0" y2=${profileTop + profileHeight}></line>
                <line class="dim" data-symbol="dim" x1=${left} x2=${right + 12 + at.profile} y1=${y} y2=${y}></line>
              </g>`
            : nothing
        }
        <g clip-path="url(#under)">
          <line class="zero" x1=${left} x2=${right} y1=${place(level, 0)} y2=${place(level, 0)}></line>
          <path class="profile dim" data-symbol="dim" d=${columnPath}></path>
          ${shown ? svg`<circle class="dim" cx=${x} cy=${place(level, model.value)} r="4"></circle>` : nothing}
        </g>
        <g clip-path="url(#beside)">
          <line class="zero" x1=${place(across, 0)} x2=${place(across, 0)} y1="0" y2=${height}></line>
          <path class="profile pos" data-symbol="pos" d=${rowPath}></path>
          ${shown ? svg`<circle class="pos" cx=${place(across, model.value)} cy=${y} r="4"></circle>` : nothing}
        </g>
        ${[-1, 0, 1].map(
          (value) => svg`
            <text x=${left - 8} y=${place(level, value)} text-anchor="end" dominant-baseline="central">
              ${fixed(value, 0)}</text>`,
        )}
        <text x=${at.bar.left + at.bar.width / 2} y=${at.bar.top - 8} text-anchor="middle">value</text>
        ${[-1, 0, 1].map(
          (value) => svg`
            <text x=${place(across, value)} y=${at.bar.top + 26} text-anchor="middle">${fixed(value, 0)}</text>`,
        )}
        ${[-1, 1].map(
          (value) => svg`
            <text x=${place(across, value)} y=${height + 19} text-anchor=${value < 0 ? "start" : "end"}>
              ${fixed(value, 0)}</text>`,
        )}
      </svg>
    `;
  }

  #viewButtons(model: Model): TemplateResult {
    const zoomed = this.#zoomed(model);
    return html`
      <div
        class="view"
        role="group"
        aria-label="Part shown"
        data-field="view-row view-rows view-column view-columns"
      >
        <button type="button" aria-label="Zoom in" @click=${() => this.#zoom(0.5)}>+</button>
        <button type="button" aria-label="Zoom out" ?disabled=${!zoomed} @click=${() => this.#zoom(2)}>−</button>
        <button type="button" ?disabled=${!zoomed} @click=${this.#showAll}>All</button>
        <span>
          ${
            zoomed
              ? html`rows ${range(model.view.row, model.view.rows)} of ${fixed(model.rows, 0)},
                  columns ${range(model.view.column, model.view.columns)} of ${fixed(model.columns, 0)}; drag to move`
              : "Double-click, pinch, or Ctrl and wheel to zoom"
          }
        </span>
      </div>
    `;
  }

  #controls(state: HeatmapState): TemplateResult {
    return html`
      <div class="controls">
        ${slider({
          field: "seq-len",
          label: "seq_len: positions",
          symbol: "pos",
          value: state["seq-len"],
          min: 1,
          max: 512,
          most: fields["seq-len"].max,
          onInput: (value) => this.set({ "seq-len": value }),
        })}
        ${slider({
          field: "d-model",
          label: "d_model: dimensions",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: 512,
          step: 1,
          most: fields["d-model"].max,
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
        })}
        ${slider({
          field: "first-position",
          label: "first position",
          symbol: "pos",
          value: state["first-position"],
          min: 0,
          max: 100000,
          most: fields["first-position"].max,
          onInput: (value) => this.set({ "first-position": value }),
        })}
        ${slider({
          field: "position-step",
          label: "positions from row to row",
          symbol: "pos",
          value: state["position-step"],
          min: 1,
          max: 1000,
          most: fields["position-step"].max,
          onInput: (value) => this.set({ "position-step": value }),
        })}
        ${choice({
          field: "layout",
          label: "column order",
          symbol: "dim",
          value: state.layout,
          options: [
            ["interleaved", "sin, cos, sin, cos (Vaswani 2017)"],
            ["halves", "all sines, then all cosines (Marian)"],
            ["halves-minus-one", "halves over half − 1 (tensor2tensor, fairseq)"],
          ],
          onInput: (value) => this.set({ layout: value as SinusoidalLayout }),
        })}
      </div>
    `;
  }

  protected takeaway({ invFreq, position, row, column, value, columns }: Model, state: HeatmapState): string {
    const what = columnOf(column, columns, state.layout);
    const fastest = significant(wavelength(invFreq[0] ?? 0), 4);
    const last = invFreq.length - 1;
    const slowest = significant(wavelength(invFreq[last] ?? 0), 5);
    const cell = `Dimension ${column} of position ${plain(position(row))} is ${fixed(value, 3)}`;
    if (!what || last < 1) return `${cell}.`;
    const turn = significant(wavelength(invFreq[what.pair] ?? 0), 4);
    return (
      `${cell}: the ${what.wave === "sin" ? "sine" : "cosine"} of pair ${what.pair}, which turns once every ` +
      `${turn} positions. Over the table one turn takes from ${fastest} positions (pair 0) to ${slowest} (pair ${last}).`
    );
  }

  protected dataTable({ invFreq, position, row, table, columns }: Model, state: HeatmapState): DataTable {
    return {
      caption: `The row of position ${plain(position(row))}`,
      head: ["dimension", "function", "inv_freq", "wavelength", "value"],
      rows: Array.from({ length: columns }, (_, column) => {
        const what = columnOf(column, columns, state.layout);
        const w = what ? (invFreq[what.pair] ?? 0) : 0;
        const value = fixed(table[row * columns + column] ?? Number.NaN, 6);
        if (!what) return [column, "zero", "", "", value];
        return [column, what.wave, significant(w, 6), significant(wavelength(w), 6), value];
      }),
    };
  }

  protected override array({ table, rows, columns }: Model): NamedArray {
    return { name: "sinusoidal_table", shape: [rows, columns], values: table };
  }

  protected override numpy(state: HeatmapState): string {
    const { "seq-len": rows, "d-model": d, base, layout } = state;
    const half = Math.floor(d / 2);
    const pairs = layout === "halves-minus-one" ? half : Math.ceil(d / 2);
    const exponent = layout === "halves-minus-one" ? `-i / ${Math.max(half - 1, 1)}` : `-2 * i / ${d}`;
    const fill = {
      interleaved: `table[:, 0::2] = np.sin(angle)\ntable[:, 1::2] = np.cos(angle[:, :${half}])`,
      halves: `table[:, :${pairs}] = np.sin(angle)\ntable[:, ${pairs}:] = np.cos(angle[:, :${half}])`,
      "halves-minus-one": `table[:, :${half}] = np.sin(angle)\ntable[:, ${half}:${2 * half}] = np.cos(angle)`,
    }[layout];
    const view = viewOf(state);
    const first = state["first-position"];
    const step = state["position-step"];
    return `import matplotlib.pyplot as plt
import numpy as np

position = ${first} + ${step} * np.arange(${rows})[:, None]
i = np.arange(${pairs})
angle = position * ${float(base)} ** (${exponent})
table = np.zeros((${rows}, ${d}))
${fill}

plt.figure(figsize=(14, 5))
plt.imshow(table.T, aspect="auto", cmap="RdBu", vmin=-1, vmax=1)
plt.xlim(${view.row} - 0.5, ${view.row + view.rows} - 0.5)
plt.ylim(${view.column + view.columns} - 0.5, ${view.column} - 0.5)
plt.xlabel("row (position = ${first} + ${step} * row)")
plt.ylabel("dimension")
plt.title("Sinusoidal positional encoding (seq_len=${rows}, d_model=${d})")
plt.colorbar(label="value")
plt.show()
`;
  }

  protected override draw(model: Model): void {
    const { core, view, table, rows, columns } = model;
    const { width, height } = this.#layout(model);
    const [across, down] = [devicePixels(width), devicePixels(height)];
    const pixels = core.colormap(table, core.lut(), {
      rows,
      cols: columns,
      width: across,
      height: down,
      firstRow: view.row,
      numRows: view.rows,
      firstCol: view.column,
      numCols: view.columns,
      transpose: true,
    });
    paint(this.#canvas(".map"), pixels, across, down);
    paintBar(this.#canvas(".bar"), core);
  }

  #canvas(selector: string): HTMLCanvasElement {
    return this.renderRoot.querySelector(selector) as HTMLCanvasElement;
  }

  // ---------------------------------------------------------------------------------------------- reading

  /** The point of an event in cells. */
  #cellAt(event: PointerEvent | MouseEvent, model: Model): { row: number; column: number } {
    const [right, down] = share(event, this.#canvas(".map"));
    const { positions, dimensions, left, width, height } = this.#layout(model);
    return { row: valueAt(positions, left + right * width), column: valueAt(dimensions, down * height) };
  }

  #read(event: PointerEvent, model: Model): void {
    const { row, column } = this.#cellAt(event, model);
    this.set({
      row: clamp(Math.floor(row), 0, model.rows - 1),
      column: clamp(Math.floor(column), 0, model.columns - 1),
    });
  }

  #key = (event: KeyboardEvent): void => {
    const { model } = this;
    if (!model || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 10 : 1;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.#go(-step, 0),
      ArrowRight: () => this.#go(step, 0),
      ArrowUp: () => this.#go(0, -step),
      ArrowDown: () => this.#go(0, step),
      PageUp: () => this.#go(0, -10),
      PageDown: () => this.#go(0, 10),
      Home: () => this.#go(-model.rows, 0),
      End: () => this.#go(model.rows, 0),
      "+": () => this.#zoom(0.5),
      "=": () => this.#zoom(0.5),
      "-": () => this.#zoom(2),
      "0": () => this.#showAll(),
    };
    const move = moves[event.key];
    if (!move) return;
    move();
    event.preventDefault();
  };

  /** Moves the cell that is read, and the part shown with it. */
  #go(rows: number, columns: number): void {
    const cell = cellOf(this.state);
    const view = viewOf(this.state);
    const row = clamp(cell.row + rows, 0, this.state["seq-len"] - 1);
    const column = clamp(cell.column + columns, 0, this.state["d-model"] - 1);
    const follow = (at: number, first: number, count: number) =>
      at < first ? at : at + 1 > first + count ? at + 1 - count : first;
    this.set({ row, column });
    this.#show({
      ...view,
      row: follow(row, view.row, view.rows),
      column: follow(column, view.column, view.columns),
    });
  }

  // ------------------------------------------------------------------------------------------ zoom and pan

  #zoomed({ view, rows, columns }: Model): boolean {
    return view.rows < rows || view.columns < columns;
  }

  #show(view: View): void {
    const { "seq-len": allRows, "d-model": allColumns } = this.state;
    const [row, rows] = stretch(view.row, view.rows, allRows);
    const [column, columns] = stretch(view.column, view.columns, allColumns);
    const tidy = (value: number) => Number(value.toFixed(3));
    this.set({
      "view-row": tidy(row),
      "view-rows": rows === allRows ? 0 : tidy(rows),
      "view-column": tidy(column),
      "view-columns": columns === allColumns ? 0 : tidy(columns),
    });
  }

  #showAll = (): void => {
    this.set({ "view-row": 0, "view-rows": 0, "view-column": 0, "view-columns": 0 });
  };

  /** Shows `factor` times as many cells, keeping a point (by default the cell that is read) in its place. */
  #zoom(factor: number, about?: { row: number; column: number }): void {
    const view = viewOf(this.state);
    const cell = cellOf(this.state);
    const point = about ?? { row: cell.row + 0.5, column: cell.column + 0.5 };
    const { "seq-len": allRows, "d-model": allColumns } = this.state;
    const rows = clamp(view.rows * factor, Math.min(2, allRows), allRows);
    const columns = clamp(view.columns * factor, Math.min(2, allColumns), allColumns);
    this.#show({
      rows,
      columns,
      row: point.row - ((point.row - view.row) * rows) / view.rows,
      column: point.column - ((point.column - view.column) * columns) / view.columns,
    });
  }

  #zoomHere = (event: MouseEvent): void => {
    if (this.model) this.#zoom(0.5, this.#cellAt(event, this.model));
  };

  // Without Ctrl the wheel scrolls the page.
  #wheel = (event: WheelEvent): void => {
    if (!this.model || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.#zoom(2 ** (clamp(event.deltaY, -100, 100) / 100), this.#cellAt(event, this.model));
  };

  #press = (event: PointerEvent): void => {
    if (!this.model || event.button !== 0) return;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
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
    const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    this.#pointers.set(event.pointerId, now);
    const [other] = others;
    if (other) {
      const spread = (a: { x: number; y: number }) => Math.hypot(a.x - other.x, a.y - other.y);
      if (spread(now) > 0) this.#zoom(spread(before) / spread(now), this.#cellAt(event, model));
    } else if (this.#zoomed(model)) {
      const canvas = this.#canvas(".map");
      const box = canvas.getBoundingClientRect();
      const view = viewOf(this.state);
      this.#show({
        ...view,
        row: view.row - ((now.x - before.x) / box.width) * view.rows,
        column: view.column - ((now.y - before.y) / box.height) * view.columns,
      });
    } else {
      this.#read(event, model);
    }
  };

  #lift = (event: PointerEvent): void => {
    this.#pointers.delete(event.pointerId);
  };

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    readoutRow([0, 5.8], [560, 2.9], [680, 1.5]),
    takeawayRoom([0, 8.7], [360, 7.25], [480, 4.35]),
    css`
      .bar {
        position: absolute;
        height: 12px;
        outline: 1px solid var(--pe-rule);
      }
      .stage {
        position: relative;
      }
      .map,
      .grid {
        position: absolute;
        top: 0;
      }
      .map {
        touch-action: pan-y;
        cursor: crosshair;
      }
      .map.zoomed {
        touch-action: none;
        cursor: grab;
      }
      .map.zoomed:active {
        cursor: grabbing;
      }
      .grid {
        pointer-events: none;
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
      line.pos,
      path.pos {
        stroke: var(--pe-pos);
      }
      line.dim,
      path.dim {
        stroke: var(--pe-dim);
      }
      circle.pos {
        fill: var(--pe-pos);
      }
      circle.dim {
        fill: var(--pe-dim);
      }
      .profile {
        fill: none;
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      [data-lit="pos"] .axes [data-symbol="pos"],
      [data-lit="dim"] .axes [data-symbol="dim"] {
        stroke-width: 2.5;
      }
      [data-lit] text[data-symbol] {
        stroke-width: 0;
      }
      .zero {
        stroke: var(--pe-rule);
      }
      .view {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2);
        margin-top: var(--pe-space-2);
        color: var(--pe-ink-2);
      }
      .view button {
        min-width: calc(2 * var(--pe-rem));
      }
    `,
  ];
}

/** Positions to one turn. */
const wavelength = (invFreq: number): number => (2 * Math.PI) / invFreq;

const range = (first: number, count: number): string =>
  `${fixed(Math.floor(first), 0)}–${fixed(Math.ceil(first + count) - 1, 0)}`;

define("pe-heatmap", PeHeatmap);

declare global {
  interface HTMLElementTagNameMap {
    "pe-heatmap": PeHeatmap;
  }
}
