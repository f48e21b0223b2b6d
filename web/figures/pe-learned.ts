// A learned table of positions: what its rows hold, how alike they are, and where it ends.
//
// Based on: Devlin et al. 2018, BERT, section 3 (512 rows, drawn with standard deviation 0.02).

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, leftAxis, place, ticks } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { reads, share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow, takeawayRoom } from "./figure.ts";
import { fixed, significant } from "./format.ts";
import { type OpenFile, openFile, readTensor } from "./learned-file.ts";
import { cellAt, mapGrid, mapGridStyles, step } from "./map-grid.ts";
import { paintMatrix, paintScale, scaleBar, scaleStyles } from "./matrix-map.ts";
import type { State } from "./state.ts";
import { MAX_CELLS, type Tensor } from "./table-file.ts";

const SIGMA = 0.02;
/** Rows of the similarity map; a longer table shows every second, every third… */
const MAX_COMPARED = 256;

/** Where a table may come from, for a sentence. */
const SOURCES = {
  untrained: "These rows are random, as before training",
  sinusoidal: "These rows are computed sinusoids",
  file: "These rows are your file’s",
};

/** Tensors of a file that the list names. */
const MOST_OFFERED = 500;

const fields = {
  table: { kind: "choice", fallback: "untrained", choices: ["untrained", "sinusoidal"] },
  "max-len": { kind: "integer", fallback: 512, min: 1, max: 65536 },
  "d-model": { kind: "integer", fallback: 768, min: 1, max: 4096 },
  row: { kind: "integer", fallback: 511, min: 0, max: 2 ** 31 - 1 },
  other: { kind: "integer", fallback: 100, min: 0, max: 2 ** 31 - 1 },
  column: { kind: "integer", fallback: 0, min: 0, max: 2 ** 22 },
} as const;
type LearnedState = State<typeof fields>;

interface Table {
  rows: number;
  columns: number;
  values: Float32Array;
  source: keyof typeof SOURCES;
  /** Entries that are NaN or infinite, in words; empty: none. */
  odd: string;
  /** Ends of the colours: few entries lie beyond. */
  limit: number;
  /** Rows between two that are compared, and their number. */
  stride: number;
  compared: number;
  /** Cosines (compared, compared). */
  cosines: Float32Array;
  /** Mean cosine of rows `stride` apart. */
  neighbours: number;
}

interface Model {
  core: Posenc;
  table: Table;
  /** The row that was asked for, or why there is none. */
  asked: Float32Array | string;
  other: number;
  otherRow: Float32Array;
  column: number;
  cosine: number;
}

interface Layout {
  left: number;
  width: number;
  mapHeight: number;
  positions: Axis;
  dimensions: Axis;
  profile: { top: number; height: number };
  square: { left: number; top: number; side: number };
  total: number;
}

const norm = (row: Float32Array): number => Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));

/** The |value| that all but one in two hundred stay below, from at most 2^16 entries: a few wild ones keep no one
 *  from seeing the rest. */
function colourLimit(values: Float32Array): number {
  const skip = Math.ceil(values.length / 2 ** 16);
  const sizes: number[] = [];
  for (let i = 0; i < values.length; i += skip) {
    const size = Math.abs(values[i] ?? 0);
    if (Number.isFinite(size)) sizes.push(size);
  }
  const sorted = Float32Array.from(sizes).sort();
  return sorted[Math.floor(0.995 * (sorted.length - 1))] || 1;
}

function describe(
  core: Posenc,
  { rows, columns, values }: { rows: number; columns: number; values: Float32Array },
  source: Table["source"],
  odd: string,
): Table {
  const stride = Math.ceil(rows / MAX_COMPARED);
  const compared = Math.ceil(rows / stride);
  const ids = Int32Array.from({ length: compared }, (_, i) => i * stride);
  const cosines = core.similarity(core.lookupRows(values, ids, rows, columns), compared, columns);
  const sizes = Array.from(ids, (_, i) => Math.sqrt(cosines[i * compared + i] ?? 0));
  for (let i = 0; i < cosines.length; i++) {
    const sizeOfBoth = (sizes[Math.floor(i / compared)] ?? 0) * (sizes[i % compared] ?? 0);
    cosines[i] = (cosines[i] ?? 0) / sizeOfBoth;
  }
  const beside = Array.from(ids, (_, i) => cosines[i * compared + i + 1] ?? Number.NaN)
    .slice(0, -1)
    .filter(Number.isFinite);
  return {
    rows,
    columns,
    values,
    source,
    odd,
    limit: colourLimit(values),
    stride,
    compared,
    cosines,
    neighbours: beside.reduce((sum, value) => sum + value, 0) / beside.length,
  };
}

const count = (many: number, one: string): string => `${fixed(many, 0)} ${one}${many === 1 ? "" : "s"}`;

/**
 * A table of position rows with the rows’ cosines, and what it answers when asked for a row.
 *
 * @attr table - untrained: drawn with standard deviation 0.02; sinusoidal: the formula’s rows, to compare.
 * @attr max-len - Rows of the table.
 * @attr d-model - Columns of the table.
 * @attr row - The row that is asked for; it may lie beyond the table.
 * @attr other - The row that it is compared with.
 * @attr column - The dimension that is read.
 * @fires {CustomEvent} pe-error - `detail` is the sentence shown, also that for a file that cannot be read.
 * @cssprop --pe-pos - Colour of positions.
 * @cssprop --pe-dim - Colour of dimensions.
 * @cssprop --pe-learned - Colour of the row that is compared.
 */
export class PeLearned extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "A table of positions";

  #made: { key: string; table: Table } | undefined;
  /** The reader's own file; its table stands in for the made one. */
  #file: OpenFile | undefined;
  #fileTable: { open: OpenFile; tensor: Tensor; name: string; table: Table } | undefined;
  #fileProblem = "";
  #opening = 0;
  #dragged = false;

  protected compute(core: Posenc, state: LearnedState): Model {
    const table = this.#fileTable?.table ?? this.#make(core, state);
    const { rows, columns, values } = table;
    const row = (id: number) => core.lookupRows(values, Int32Array.of(id), rows, columns);
    const other = Math.min(state.other, rows - 1);
    const otherRow = row(other);
    let asked: Float32Array | string;
    try {
      asked = row(state.row);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      asked = error.message;
    }
    let cosine = Number.NaN;
    if (typeof asked !== "string") {
      const pair = new Float32Array(2 * columns);
      pair.set(asked);
      pair.set(otherRow, columns);
      const [aa = 0, ab = 0, , bb = 0] = core.similarity(pair, 2, columns);
      cosine = ab / Math.sqrt(aa * bb);
    }
    return { core, table, asked, other, otherRow, column: Math.min(state.column, columns - 1), cosine };
  }

  #make(core: Posenc, state: LearnedState): Table {
    const { table: source, "max-len": rows, "d-model": columns } = state;
    if (rows * columns > MAX_CELLS) {
      throw new Error(
        `max-len × d-model must be at most ${fixed(MAX_CELLS, 0)} cells, got ${fixed(rows * columns, 0)}`,
      );
    }
    const key = `${source} ${rows} ${columns}`;
    if (this.#made?.key !== key) {
      const values =
        source === "sinusoidal"
          ? core.sinusoidalTable({ seqLen: rows, dModel: columns })
          : Float32Array.from(core.randomNormal(rows * columns, 0, SIGMA));
      this.#made = { key, table: describe(core, { rows, columns, values }, source, "") };
    }
    return this.#made.table;
  }

  // ---------------------------------------------------------------------------------------------- picture

  #layout({ table }: Model): Layout {
    const wide = this.width >= 700;
    const left = 48;
    const side = wide ? Math.min(300, Math.round(this.width * 0.3)) : Math.min(280, this.width - left - 12);
    const width = wide ? this.width - left - side - 72 : this.width - left - 4;
    const mapHeight = wide ? 220 : 180;
    const beyond = Math.max(1, Math.ceil(table.rows * 0.12));
    const profile = { top: mapHeight + 66, height: 72 };
    const square = wide
      ? { left: left + width + 72, top: 20, side }
      : { left, top: profile.top + profile.height + 66, side };
    return {
      left,
      width,
      mapHeight,
      positions: { domain: [0, table.rows + beyond], range: [left, left + width] },
      dimensions: { domain: [0, table.columns], range: [20, 20 + mapHeight] },
      profile: { top: profile.top + 20, height: profile.height },
      square,
      total: Math.max(profile.top + profile.height + 86, square.top + square.side + (wide ? 44 : 84)),
    };
  }

  protected picture(model: Model, state: LearnedState): TemplateResult {
    const at = this.#layout(model);
    const { table } = model;
    const mapWidth = place(at.positions, table.rows) - at.left;
    const box = (left: number, top: number, width: number, height: number) =>
      `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
    const map = box(at.left, 20, mapWidth, at.mapHeight);
    const square = box(at.square.left, at.square.top, at.square.side, at.square.side);
    return html`
      ${this.#readout(model, state)}
      <div
        class="stage ${this.#dragged ? "dragged" : ""}"
        data-picture
        .style=${`height:${at.total}px`}
        @dragover=${this.#dragOver}
        @dragleave=${this.#dragLeave}
        @drop=${this.#drop}
      >
        <canvas class="map" aria-hidden="true" .style=${map}></canvas>
        <canvas class="square" aria-hidden="true" .style=${square}></canvas>
        ${this.#axes(model, state, at)}
        ${this.#grids(model, state, map, square)}
        ${scaleBar(table.limit)}
      </div>
      ${this.#fileRow(model)} ${this.#controls(model, state)}
    `;
  }

  #readout({ table, asked, other, column, cosine }: Model, state: LearnedState): TemplateResult {
    const missing = typeof asked === "string";
    const value = missing ? Number.NaN : (asked[column] ?? Number.NaN);
    return html`
      <div class="readout">
        <span class="pos" data-symbol="pos">row <b>${fixed(state.row, 0)}</b></span>
        <span class="dim" data-symbol="dim">dimension <b>${column}</b></span>
        <span>value <b>${missing ? "none" : significant(value, 4)}</b></span>
        <span class="other">cosine with row ${fixed(other, 0)} <b>${missing ? "none" : fixed(cosine, 3)}</b></span>
        <span>${fixed(table.rows, 0)} × ${fixed(table.columns, 0)} =
          <b>${fixed(table.rows * table.columns, 0)}</b> ${table.source !== "sinusoidal" ? "parameters" : "numbers"}</span>
      </div>
    `;
  }

  #axes(model: Model, state: LearnedState, at: Layout): TemplateResult {
    const { table, asked, other, otherRow, column } = model;
    const { left, width, positions, dimensions, profile, square } = at;
    const [top, bottom] = [dimensions.range[0], dimensions.range[1]];
    const missing = typeof asked === "string";
    const end = place(positions, table.rows);
    const askedAt = Math.min(place(positions, state.row + 0.5), left + width - 2);
    const whole = (values: number[]) => values.filter(Number.isInteger);
    const inTable = (values: number[]) => whole(values).filter((value) => value < table.rows);
    const across: Axis = { domain: [0, table.columns], range: [left, left + width] };
    const level: Axis = {
      domain: [-table.limit, table.limit],
      range: [profile.top + profile.height, profile.top],
    };
    const path = (row: Float32Array) =>
      linePath(
        row,
        (i) => place(across, i + 0.5),
        (value) => place(level, value),
      );
    const squareAcross: Axis = { domain: [0, table.rows], range: [square.left, square.left + square.side] };
    const squareDown: Axis = { domain: [0, table.rows], range: [square.top, square.top + square.side] };
    const [first = "", second = ""] = missing ? asked.split(/(?<=:) /) : [];
    const middle = left + width / 2;
    const label = `row ${fixed(state.row, 0)}`;
    // The row's label stays over the map.
    const labelAt = Math.min(Math.max(askedAt, left + 4 * label.length), left + width - 3.5 * label.length);
    return html`
      <svg class="axes" width=${this.width} height=${at.total} aria-hidden="true">
        <defs>
          <clipPath id="profile">
            <rect x=${left} y=${profile.top} width=${width} height=${profile.height}></rect>
          </clipPath>
          <clipPath id="void"><rect x=${end} y=${top} width=${left + width - end} height=${bottom - top}></rect></clipPath>
        </defs>
        <path class="hatch" clip-path="url(#void)" d=${hatch(end, left + width, top, bottom)}></path>
        <rect class="frame" x=${left - 0.5} y=${top - 0.5} width=${end - left + 1} height=${bottom - top + 1}></rect>
        ${bottomAxis(positions, bottom + 0.5, inTable(ticks(positions, 64)), 0.5)}
        ${leftAxis(
          dimensions,
          left - 0.5,
          whole(ticks(dimensions, 48)).filter((value) => value < table.columns),
          0.5,
        )}
        <text class="pos" data-symbol="pos" x=${middle} y=${bottom + 38} text-anchor="middle">row: position</text>
        <text class="dim" data-symbol="dim" transform="translate(11 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">dimension</text>
        <line class="pos mark" data-symbol="pos" x1=${askedAt} x2=${askedAt} y1=${top - 4} y2=${bottom}></line>
        <text class="pos" data-symbol="pos" x=${labelAt} y=${top - 9} text-anchor="middle">${label}</text>
        <line class="dim mark" data-symbol="dim" x1=${left} x2=${end}
          y1=${place(dimensions, column + 0.5)} y2=${place(dimensions, column + 0.5)}></line>

        ${
          missing
            ? svg`
              <rect class="nothing" x=${left} y=${profile.top} width=${width} height=${profile.height}></rect>
              <text class="missing" x=${middle} y=${profile.top + profile.height / 2 - 5} text-anchor="middle">${first}</text>
              <text class="missing" x=${middle} y=${profile.top + profile.height / 2 + 15} text-anchor="middle">${second}</text>`
            : svg`
              <line class="zero" x1=${left} x2=${left + width} y1=${place(level, 0)} y2=${place(level, 0)}></line>
              <g clip-path="url(#profile)">
                <path class="profile other" d=${path(otherRow)}></path>
                <path class="profile pos" data-symbol="pos" d=${path(asked)}></path>
              </g>
              <line class="dim mark" data-symbol="dim" x1=${place(across, column + 0.5)} x2=${place(across, column + 0.5)}
                y1=${profile.top} y2=${profile.top + profile.height}></line>
              <text x=${left - 8} y=${profile.top} text-anchor="end" dominant-baseline="central">${significant(table.limit, 2)}</text>
              <text x=${left - 8} y=${profile.top + profile.height} text-anchor="end" dominant-baseline="central">${significant(-table.limit, 2)}</text>`
        }
        <text class="pos" data-symbol="pos" x=${left} y=${profile.top - 9}>${label}${missing ? "" : ` over row ${fixed(other, 0)}`}</text>
        <text class="dim" data-symbol="dim" x=${left + width} y=${profile.top + profile.height + 16} text-anchor="end">dimension</text>

        <rect class="frame" x=${square.left - 0.5} y=${square.top - 0.5} width=${square.side + 1} height=${square.side + 1}></rect>
        ${bottomAxis(squareAcross, square.top + square.side + 0.5, inTable(ticks(squareAcross, 64)), 0.5)}
        ${leftAxis(squareDown, square.left - 0.5, inTable(ticks(squareDown, 56)), 0.5)}
        <text x=${square.left} y=${square.top - 9}>cosine of rows, −1 to 1</text>
        <text class="other" x=${square.left + square.side / 2} y=${square.top + square.side + 38} text-anchor="middle">row compared with</text>
        ${
          missing
            ? nothing
            : svg`<line class="pos mark" data-symbol="pos" x1=${square.left} x2=${square.left + square.side}
                y1=${place(squareDown, state.row + 0.5)} y2=${place(squareDown, state.row + 0.5)}></line>`
        }
        <line class="other mark" x1=${place(squareAcross, other + 0.5)} x2=${place(squareAcross, other + 0.5)}
          y1=${square.top} y2=${square.top + square.side}></line>
      </svg>
    `;
  }

  /** What assistive technology, keys and pointer have of the two maps: one cell each, the active one. */
  #grids(model: Model, state: LearnedState, map: string, square: string): TemplateResult {
    const { table, asked, other, column, cosine } = model;
    const missing = typeof asked === "string";
    const row = Math.min(state.row, table.rows - 1);
    const value = missing ? "no such row" : significant(asked[column] ?? Number.NaN, 4);
    const dimensions = mapGrid({
      label: "The table: arrow keys move by row and dimension, Shift moves by ten",
      size: [table.columns, table.rows],
      cell: [column, row],
      words: `row ${fixed(state.row, 0)}, dimension ${column}: ${value}`,
      style: map,
      onKey: this.#mapKey,
      onPoint: this.#mapPoint,
    });
    const cosines = mapGrid({
      label: "Cosines of the rows: arrow keys move, Shift moves by ten",
      size: [table.rows, table.rows],
      cell: [row, other],
      words: `row ${fixed(state.row, 0)}, row ${fixed(other, 0)}: ${missing ? "no such row" : fixed(cosine, 3)}`,
      id: "cosine",
      style: square,
      onKey: this.#squareKey,
      onPoint: this.#squarePoint,
    });
    return html`${dimensions} ${cosines}`;
  }

  #mapKey = (event: KeyboardEvent): void => {
    if (!this.model) return;
    const { rows, columns } = this.model.table;
    // Beyond the last row there is one step more, to see what the table says.
    const at = [Math.min(this.state.column, columns - 1), Math.min(this.state.row, rows)] as const;
    const to = step(event, at, [columns, rows + 1]);
    if (to) this.set({ column: to[0], row: to[1] });
  };

  #squareKey = (event: KeyboardEvent): void => {
    if (!this.model) return;
    const { rows } = this.model.table;
    const at = [Math.min(this.state.row, rows), Math.min(this.state.other, rows - 1)] as const;
    const to = step(event, at, [rows, rows]);
    if (to) this.set({ row: to[0], other: to[1] });
  };

  #mapPoint = (event: PointerEvent): void => {
    if (!this.model || !reads(event)) return;
    const { rows, columns } = this.model.table;
    const [column, row] = cellAt(share(event), [columns, rows]);
    this.set({ row, column });
  };

  #squarePoint = (event: PointerEvent): void => {
    if (!this.model || !reads(event)) return;
    const { rows } = this.model.table;
    const [row, other] = cellAt(share(event), [rows, rows]);
    this.set({ row, other });
  };

  #controls({ table }: Model, state: LearnedState): TemplateResult {
    const { rows } = table;
    const ask = (row: number) => () => this.set({ row });
    const own = this.#fileTable !== undefined;
    return html`
      <div class="controls">
        <div class="ask" data-field="row">
          ${slider({
            field: "row",
            label: "position asked for",
            symbol: "pos",
            value: state.row,
            min: 0,
            max: Math.ceil(rows * 1.12),
            most: fields.row.max,
            spoken: `position ${state.row}; the table has rows 0 to ${rows - 1}`,
            onInput: (row) => this.set({ row }),
          })}
          <div class="buttons">
            <button type="button" @click=${ask(rows - 1)}>Last row, ${fixed(rows - 1, 0)}</button>
            <button type="button" @click=${ask(rows)}>One more, ${fixed(rows, 0)}</button>
          </div>
        </div>
        ${
          own
            ? nothing
            : html`
              ${choice({
                field: "table",
                label: "rows",
                value: state.table,
                options: [
                  ["untrained", "random, as before training"],
                  ["sinusoidal", "sinusoidal, to compare"],
                ],
                onInput: (value) => this.set({ table: value as LearnedState["table"] }),
              })}
              ${slider({
                field: "max-len",
                label: "max_len: rows of the table",
                symbol: "pos",
                value: state["max-len"],
                min: 16,
                max: 2048,
                most: fields["max-len"].max,
                logarithmic: true,
                onInput: (value) => this.set({ "max-len": Math.round(value) }),
              })}
              ${slider({
                field: "d-model",
                label: "d_model: dimensions",
                symbol: "dim",
                value: state["d-model"],
                min: 16,
                max: 1024,
                step: 16,
                most: fields["d-model"].max,
                onInput: (value) => this.set({ "d-model": value }),
              })}
            `
        }
      </div>
    `;
  }

  // ------------------------------------------------------------------------------------------------- file

  #fileRow({ table }: Model): TemplateResult {
    const tables = this.#file?.tables ?? [];
    const offered = tables.slice(0, MOST_OFFERED);
    const chosen = this.#fileTable?.open === this.#file ? (this.#fileTable?.tensor.name ?? "") : "";
    const pick = (event: Event) => {
      const tensor = tables.find(({ name }) => name === (event.target as HTMLSelectElement).value);
      if (tensor && this.#file) void this.#read(this.#file, tensor);
    };
    return html`
      <div class="file" data-field="table" @dragover=${this.#dragOver} @dragleave=${this.#dragLeave} @drop=${this.#drop}>
        <label>
          <span>Your own table, as <code>.npy</code> or <code>.safetensors</code>:</span>
          <input type="file" accept=".npy,.safetensors" @change=${this.#chosen} />
        </label>
        ${
          tables.length > 1
            ? html`
              <label>
                <span>Tensor:</span>
                <select @change=${pick}>
                  ${
                    chosen
                      ? nothing
                      : html`<option value="">${
                          tables.length > MOST_OFFERED
                            ? `choose one of the first ${MOST_OFFERED} of ${tables.length}`
                            : `choose one of ${tables.length}`
                        }</option>`
                  }
                  ${offered.map(
                    ({ name, shape }) => html`
                      <option value=${name} ?selected=${name === chosen}>${name} (${shape.join(" × ")})</option>
                    `,
                  )}
                </select>
              </label>
            `
            : nothing
        }
        ${this.#file ? html`<button type="button" @click=${this.#close}>Close ${this.#file.name}</button>` : nothing}
        <p class="told">
          ${
            this.#fileTable
              ? `${this.#fileTable.name}, ${this.#fileTable.tensor.dtype}${table.odd ? `, ${table.odd}` : ""}.`
              : "Choose it, or drop it on the picture."
          }
          It is read here in the page; nothing is uploaded.
        </p>
        <p class="problem" role="alert" ?hidden=${!this.#fileProblem}>${this.#fileProblem}</p>
      </div>
    `;
  }

  #chosen = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void this.#open(file);
    input.value = ""; // the same file may be chosen again
  };

  #dragOver = (event: DragEvent): void => {
    if (this.hides("table") || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (this.#dragged) return;
    this.#dragged = true;
    this.requestUpdate();
  };

  #dragLeave = (): void => {
    this.#dragged = false;
    this.requestUpdate();
  };

  #drop = (event: DragEvent): void => {
    this.#dragLeave();
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    event.stopPropagation();
    void this.#open(file);
  };

  /** Runs the reading of a file; what is shown changes only when it succeeds, and the last call wins. */
  async #attempt<T>(work: () => Promise<T>, done: (result: T) => void): Promise<void> {
    const turn = ++this.#opening;
    try {
      const result = await work();
      if (turn !== this.#opening || !this.isConnected) return;
      this.#fileProblem = "";
      done(result);
    } catch (error) {
      if (turn !== this.#opening || !this.isConnected) return;
      this.#fileProblem = error instanceof Error ? error.message : String(error);
      const detail = this.#fileProblem;
      this.dispatchEvent(new CustomEvent("pe-error", { detail, bubbles: true, composed: true }));
      this.requestUpdate();
    }
  }

  #open(file: File): Promise<void> {
    return this.#attempt(
      () => openFile(file),
      (open) => {
        if (open.first) void this.#read(open, open.first);
        else this.#file = open; // what is shown stays until the reader has chosen
        this.requestUpdate();
      },
    );
  }

  #read(open: OpenFile, tensor: Tensor): Promise<void> {
    return this.#attempt(
      () => readTensor(open, tensor),
      (read) => {
        const core = this.model?.core;
        if (!core) return;
        const odd = [
          read.nans > 0 ? `${count(read.nans, "entry")} NaN`.replace("entrys", "entries") : "",
          read.infinities > 0
            ? `${count(read.infinities, "entry")} infinite`.replace("entrys", "entries")
            : "",
        ];
        const name = open.tables.length > 1 ? `${open.name}: ${tensor.name}` : open.name;
        const table = describe(core, read, "file", odd.filter(Boolean).join(", "));
        this.#file = open;
        this.#fileTable = { open, tensor, name, table };
        this.set({ row: read.rows - 1 });
        this.recompute();
      },
    );
  }

  #close = (): void => {
    this.#opening++;
    this.#file = this.#fileTable = undefined;
    this.#fileProblem = "";
    this.recompute();
  };

  override reset(): void {
    this.#close();
    super.reset();
  }

  // ------------------------------------------------------------------------------------------------ words

  protected takeaway({ table, asked, column }: Model, state: LearnedState): string {
    const { rows, columns, stride, neighbours } = table;
    const size = `${fixed(rows, 0)} × ${fixed(columns, 0)} = ${fixed(rows * columns, 0)}`;
    if (typeof asked === "string") {
      return `Position ${fixed(state.row, 0)} cannot be looked up: ${asked}. All ${size} numbers say nothing about it.`;
    }
    const alike = Number.isFinite(neighbours)
      ? ` ${SOURCES[table.source]}: those ${stride === 1 ? "side by side" : `${stride} apart`} have a mean cosine of ${fixed(neighbours, 3)}.`
      : ` ${SOURCES[table.source]}.`;
    const length = norm(asked);
    const said = Number.isFinite(length)
      ? `norm ${significant(length, 3)}`
      : `with ${significant(asked[column] ?? Number.NaN, 3)} in dimension ${column}`;
    const which = state.row === rows - 1 ? ", the last," : "";
    return `Row ${fixed(state.row, 0)}${which} is ${count(columns, "number")} out of ${size}, ${said}.${alike}`;
  }

  protected dataTable({ asked, other, otherRow }: Model, state: LearnedState): DataTable {
    const cell = (value: number | undefined) => significant(value ?? Number.NaN, 6);
    const missing = typeof asked === "string";
    return {
      caption: missing ? asked : `Rows ${state.row} and ${other}`,
      head: ["dimension", `row ${state.row}`, `row ${other}`],
      rows: Array.from(otherRow, (value, i) => [i, missing ? "none" : cell(asked[i]), cell(value)]),
    };
  }

  protected override array({ table }: Model): NamedArray {
    return { name: "position_table", shape: [table.rows, table.columns], values: table.values };
  }

  protected override numpy(): string {
    const { limit } = this.model?.table ?? { limit: 1 };
    return `import matplotlib.pyplot as plt
import numpy as np

table = np.load("pe-learned.npy")  # saved by Export, NPY array
norm = np.linalg.norm(table, axis=1, keepdims=True)
cosine = (table / norm) @ (table / norm).T

fig, (left, right) = plt.subplots(1, 2, figsize=(14, 4), width_ratios=(2, 1))
left.imshow(table.T, aspect="auto", cmap="RdBu", vmin=-${limit}, vmax=${limit})
left.set_xlabel("row: position")
left.set_ylabel("dimension")
right.imshow(cosine, cmap="RdBu", vmin=-1, vmax=1)
right.set_title("cosine of each row with each")
plt.show()
`;
  }

  protected override draw(model: Model): void {
    const { core, table } = model;
    const at = this.#layout(model);
    const mapWidth = place(at.positions, table.rows) - at.left;
    const painted = [table, mapWidth, at.mapHeight, at.square.side, devicePixelRatio];
    if (painted.every((value, i) => value === this.painted[i])) return;
    this.painted = painted;
    const canvas = (name: string) => this.renderRoot.querySelector(`canvas.${name}`) as HTMLCanvasElement;
    paintMatrix(canvas("map"), core, table, table.limit, [mapWidth, at.mapHeight], true);
    const { cosines: values, compared } = table;
    const square = { values, rows: compared, columns: compared };
    paintMatrix(canvas("square"), core, square, 1, [at.square.side, at.square.side]);
    paintScale(this.renderRoot, core);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    scaleStyles,
    readoutRow([0, 5.8], [700, 2.9], [920, 1.5]),
    takeawayRoom([0, 7.25], [390, 5.8], [520, 4.35]),
    css`
      .stage {
        position: relative;
      }
      .stage.dragged {
        outline: 2px dashed var(--pe-accent);
        outline-offset: 4px;
      }
      .stage > * {
        position: absolute;
      }
      .grid {
        cursor: crosshair;
        touch-action: pan-y;
      }
      .axes {
        inset: 0;
        overflow: visible;
        pointer-events: none;
      }
      .frame {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .hatch {
        stroke: var(--pe-ink-2);
        stroke-opacity: 0.45;
      }
      .stage .scale {
        bottom: 14px;
        left: 0;
      }
      .nothing {
        fill: none;
        stroke: var(--pe-ink-2);
        stroke-dasharray: 4 4;
      }
      .axes text.other,
      .axes text.missing {
        fill: var(--pe-ink);
      }
      .axes text.other,
      .readout .other {
        fill: var(--pe-learned);
        color: var(--pe-learned);
      }
      .axes text.missing {
        font-size: 14px;
      }
      @container (max-width: 699px) {
        .axes text.missing {
          font-size: 12px;
        }
      }
      .mark {
        stroke-width: 1;
      }
      line.pos,
      path.pos {
        stroke: var(--pe-pos);
      }
      line.dim {
        stroke: var(--pe-dim);
      }
      .other {
        stroke: var(--pe-learned);
      }
      text.other {
        stroke: none;
      }
      .zero {
        stroke: var(--pe-rule);
      }
      .profile {
        fill: none;
        stroke-width: 1;
        stroke-linejoin: round;
      }
      .profile.other {
        stroke-opacity: 0.45;
      }
      [data-lit="pos"] line.pos,
      [data-lit="dim"] line.dim {
        stroke-width: 2.5;
      }
      .file {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2) var(--pe-space-3);
        padding: var(--pe-space-3);
        background: var(--pe-surface);
        border-radius: var(--pe-radius);
      }
      .file label {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-1) var(--pe-space-2);
        min-width: 0;
      }
      .file input,
      .file select {
        max-width: 100%;
        min-width: 0;
        min-height: calc(2 * var(--pe-rem));
      }
      .file select {
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: var(--pe-bg);
      }
      .file input::file-selector-button {
        min-height: calc(2 * var(--pe-rem));
        padding: calc(0.2 * var(--pe-rem)) calc(0.7 * var(--pe-rem));
        border: 1px solid var(--pe-ink-2);
        border-radius: var(--pe-radius);
        background: none;
        color: inherit;
        font: inherit;
        cursor: pointer;
      }
      .file p {
        flex-basis: 100%;
        margin: 0;
        overflow-wrap: anywhere;
      }
      .file .told {
        color: var(--pe-ink-2);
      }
      .controls {
        align-items: start;
      }
      .ask .buttons {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-2);
        margin-top: var(--pe-space-1);
      }
    `,
  ];
}

/** Slanted lines over a box. */
function hatch(left: number, right: number, top: number, bottom: number): string {
  let path = "";
  const height = bottom - top;
  for (let x = left - height; x < right; x += 8) {
    path += `M${x.toFixed(1)} ${bottom}L${(x + height).toFixed(1)} ${top}`;
  }
  return path;
}

define("pe-learned", PeLearned);

declare global {
  interface HTMLElementTagNameMap {
    "pe-learned": PeLearned;
  }
}
