// What adding does: a token's vector, its scaling, the position's row and their sum, and what concatenating would cost.
//
// Based on: Vaswani et al. 2017, Attention Is All You Need, sections 3.4 (× √d_model) and 3.5 (the sum).

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import type { NamedArray } from "../draw/npy.ts";
import { reads, share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow } from "./figure.ts";
import { fixed, significant } from "./format.ts";
import { cellAt, mapGrid, mapGridStyles, step } from "./map-grid.ts";
import { largest, paintMatrix, paintScale, scaleBar, scaleStyles } from "./matrix-map.ts";
import { randomNormal } from "./numpy.ts";
import { FieldError, type State } from "./state.ts";
import { sumPlane } from "./sum-plane.ts";

const STRIPS = ["token", "scaled", "position", "sum"] as const;

const fields = {
  "d-model": { kind: "integer", fallback: 512, min: 2, max: 1024 },
  position: { kind: "integer", fallback: 10, min: 0, max: 1_000_000 },
  init: { kind: "choice", fallback: "0.02", choices: ["0.02", "inverse-sqrt", "unit"] },
  scale: { kind: "flag", fallback: true },
  seed: { kind: "integer", fallback: 1, min: 0, max: 2 ** 31 - 1 },
  strip: { kind: "integer", fallback: 3, min: 0, max: STRIPS.length - 1 },
  column: { kind: "integer", fallback: 12, min: 0, max: 1023 },
} as const;
type SumState = State<typeof fields>;

interface Model {
  core: Posenc;
  dModel: number;
  /** Token, scaled token, position, sum: (4, d_model). */
  rows: Float32Array;
  norms: readonly [token: number, scaled: number, position: number, sum: number];
  /** Root mean square over draws, of token and scaled token. */
  expected: readonly [token: number, scaled: number];
  /** Of token and position. */
  cosine: number;
  limit: number;
  column: number;
  parameters: { added: number; concatenated: number };
}

interface Layout {
  /** Width of the strips. */
  width: number;
  /** Dimensions to a line of a strip. */
  line: number;
  lines: number;
  plane: { left: number; top: number; width: number; height: number };
  squares: { left: number; top: number; width: number };
  total: number;
}

const STRIP = 44;
const ROW = 94;
const LABEL = 18;

const sigmaOf = (init: SumState["init"], dModel: number): number =>
  init === "0.02" ? 0.02 : init === "unit" ? 1 : 1 / Math.sqrt(dModel);

/** W_Q, W_K and W_V, each square. */
const projections = (width: number): number => 3 * width * width;

/**
 * A token’s vector and a position’s row, their sum, and the parameters of the projections that read it.
 *
 * @attr d-model - Dimensions, even.
 * @attr position - Position of the token.
 * @attr init - Standard deviation of the token table: 0.02, 1/√d_model (inverse-sqrt) or 1 (unit).
 * @attr scale - Whether the token is multiplied by √d_model.
 * @attr seed - Which token is drawn.
 * @attr strip - The strip that is read: 0 token, 1 scaled, 2 position, 3 sum.
 * @attr column - The dimension that is read, from 0.
 * @cssprop --pe-pos - Colour of the position.
 * @cssprop --pe-dim - Colour of dimensions.
 * @cssprop --pe-accent - Colour of the sum.
 */
export class PeSum extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "A token plus its position";

  protected compute(core: Posenc, state: SumState): Model {
    const { "d-model": dModel, position, init, seed, scale } = state;
    if (dModel % 2 !== 0) throw new FieldError(`d-model must be even, got ${dModel}`);
    const sigma = sigmaOf(init, dModel);
    const token = Float32Array.from(core.randomNormal(dModel, seed, sigma));
    const row = core.sinusoidalTable({ seqLen: 1, dModel, firstPosition: position });
    // One sequence of one token: its row, times √d_model, plus the row of a table of one position.
    const embed = (positions: Float32Array) =>
      core.embed(Int32Array.of(0), token, positions, {
        batch: 1,
        seqLen: 1,
        vocabSize: 1,
        dModel,
        positionRows: 1,
        scaleBySqrtDModel: scale,
      });
    const rows = new Float32Array(4 * dModel);
    [token, embed(new Float32Array(dModel)), row, embed(row)].forEach((values, i) => {
      rows.set(values, i * dModel);
    });
    const dots = core.similarity(Float64Array.from(rows), 4, dModel); // (4, 4)
    const norm = (i: number) => Math.sqrt(dots[5 * i] ?? 0);
    const factor = scale ? Math.sqrt(dModel) : 1;
    const expected = sigma * Math.sqrt(dModel);
    return {
      core,
      dModel,
      rows,
      norms: [norm(0), norm(1), norm(2), norm(3)],
      expected: [expected, expected * factor],
      cosine: (dots[2] ?? 0) / (norm(0) * norm(2)),
      limit: largest(rows),
      column: Math.min(state.column, dModel - 1),
      parameters: { added: projections(dModel), concatenated: projections(2 * dModel) },
    };
  }

  #layout({ dModel }: Model): Layout {
    const wide = this.width >= 760;
    const width = wide ? Math.round(this.width * 0.6) : this.width - 1;
    const line = Math.min(width >= 420 ? 128 : 64, dModel);
    const lines = Math.ceil(dModel / line);
    const at = { width, line, lines };
    const below = 4 * ROW + 62;
    if (wide) {
      const left = width + 56;
      const side = this.width - left - 1;
      const plane = { left, top: LABEL, width: side, height: 190 };
      return { ...at, plane, squares: { left, top: 250, width: side }, total: below - 30 };
    }
    const plane = { left: 0, top: below, width: Math.min(width, 340), height: 176 };
    const squares =
      width >= 640
        ? { left: 372, top: below, width: width - 372 }
        : { left: 0, top: below + plane.height + 36, width };
    return { ...at, plane, squares, total: squares.top + 176 };
  }

  protected picture(model: Model, state: SumState): TemplateResult {
    const at = this.#layout(model);
    const box = (i: number) => `top:${i * ROW + LABEL}px;width:${at.width}px;height:${STRIP}px`;
    return html`
      ${this.#readout(model, state)}
      <div class="stage" data-picture .style=${`height:${at.total}px`}>
        ${STRIPS.map((_, i) => html`<canvas class="strip" aria-hidden="true" .style=${box(i)}></canvas>`)}
        ${scaleBar(model.limit)} ${this.#drawing(model, state, at)} ${this.#grid(model, state, at)}
      </div>
      ${this.#controls(state)}
    `;
  }

  #readout({ rows, dModel, column, cosine }: Model, state: SumState): TemplateResult {
    const [token, scaled, position, sum] = STRIPS.map((_, i) =>
      fixed(rows[i * dModel + column] ?? Number.NaN, 3).replace(/^−.*/, "($&)"),
    );
    return html`
      <div class="readout">
        <span class="dim" data-symbol="dim">dimension <b>${column}</b></span>
        <span>${state.scale ? `√${dModel}` : "1"} × ${token} + ${position} = ${scaled} + ${position} =
          <b>${sum}</b></span>
        <span>cosine of token and position <b>${fixed(cosine, 3)}</b></span>
      </div>
    `;
  }

  #names(dModel: number, state: SumState): string[] {
    const factor = state.scale ? `√${dModel} · token` : "token, not scaled";
    const position = `PE(${fixed(state.position, 0)})`;
    return ["token", factor, position, `${state.scale ? factor : "token"} + ${position}`];
  }

  #drawing(model: Model, state: SumState, at: Layout): TemplateResult {
    const { dModel, norms, expected, column } = model;
    const longest = Math.max(...norms, ...expected);
    const names = this.#names(dModel, state);
    const cell = at.width / at.line;
    const height = STRIP / at.lines;
    const [x, y] = [(column % at.line) * cell, Math.floor(column / at.line) * height];
    // The mark is large enough to be seen on the smallest cell.
    const mark = { width: Math.max(cell, 5), height: Math.max(height, 5) };
    return html`
      <svg class="marks" width=${this.width} height=${at.total} aria-hidden="true">
        ${STRIPS.map((strip, i) => {
          const top = i * ROW;
          const norm = norms[i] ?? 0;
          const mean = expected[i];
          const bar = top + LABEL + STRIP + 6;
          const symbol = strip === "position" ? "pos" : "";
          return svg`
            <g class=${strip}>
              <text class="name ${symbol}" data-symbol=${symbol} x="0" y=${top + 12}>${names[i]}</text>
              <text x=${at.width} y=${top + 12} text-anchor="end">norm ${significant(norm, 4)}${
                mean === undefined ? "" : `, expected ${significant(mean, 4)}`
              }</text>
              <rect class="frame" x="-0.5" y=${top + LABEL - 0.5} width=${at.width + 1} height=${STRIP + 1}></rect>
              <rect class="norm" data-symbol=${symbol} x="0" y=${bar} width=${(norm / longest) * at.width} height="6"></rect>
              ${
                mean === undefined
                  ? ""
                  : svg`<line class="expected" x1=${(mean / longest) * at.width} x2=${(mean / longest) * at.width}
                      y1=${bar - 3} y2=${bar + 9}></line>`
              }
              <rect class="cell ${i === state.strip ? "active" : ""}" data-symbol="dim"
                x=${x + (cell - mark.width) / 2} y=${top + LABEL + y + (height - mark.height) / 2}
                width=${mark.width} height=${mark.height}></rect>
            </g>`;
        })}
        ${this.#plane(model, at)} ${this.#squares(model, at)}
      </svg>
    `;
  }

  #plane({ norms, cosine }: Model, { plane }: Layout): TemplateResult {
    return svg`
      <g transform="translate(${plane.left} ${plane.top})" class="plane">
        <text class="name" y="-8">the two and their sum, in their plane</text>
        ${sumPlane({ ...plane, token: norms[1], position: norms[2], cosine })}
      </g>`;
  }

  #squares({ dModel, parameters }: Model, { squares }: Layout): TemplateResult {
    const gap = 12;
    const side = Math.min(84, (squares.width - 2 * gap) / 3);
    const times = parameters.concatenated / parameters.added;
    const line = (y: number, kind: string, words: string, count: number) => svg`
      <rect class=${kind} x="0.5" y=${y - 10} width="11" height="11"></rect>
      <text x="20" y=${y}>${words} <tspan class="count">${fixed(count, 0)}</tspan></text>`;
    return svg`
      <g transform="translate(${squares.left} ${squares.top})" class="squares">
        <text class="name" y="-8">parameters of three square projections</text>
        ${["Q", "K", "V"].map((name, i) => {
          const left = i * (side + gap) + 0.5;
          return svg`
            <rect class="concatenated" x=${left} y="0.5" width=${side} height=${side}></rect>
            <rect class="added" data-symbol="dim" x=${left} y=${0.5 + side / 2} width=${side / 2} height=${side / 2}></rect>
            <text x=${left + side - 6} y="17" text-anchor="end">W<tspan dy="3">${name}</tspan></text>`;
        })}
        ${line(side + 24, "added", `added: 3 × ${dModel}² =`, parameters.added)}
        ${line(side + 46, "concatenated", `concatenated: 3 × ${2 * dModel}² =`, parameters.concatenated)}
        <text x="20" y=${side + 66}>${fixed(times, 0)} times as many</text>
      </g>`;
  }

  /** What assistive technology, keys and pointer have of the strips: one number, the active one. */
  #grid(model: Model, state: SumState, at: Layout): TemplateResult {
    const { dModel, rows, column } = model;
    const name = this.#names(dModel, state)[state.strip];
    const value = fixed(rows[state.strip * dModel + column] ?? Number.NaN, 3);
    return mapGrid({
      label: "Four strips: left and right move by dimension, Shift by ten, up and down by strip",
      size: [STRIPS.length, dModel],
      cell: [state.strip, column],
      words: `${name}, dimension ${column}: ${value}`,
      style: `width:${at.width}px;height:${STRIPS.length * ROW}px`,
      onKey: this.#key,
      onPoint: this.#point,
    });
  }

  #key = (event: KeyboardEvent): void => {
    const { "d-model": dModel, strip, column } = this.state;
    const to = step(event, [strip, Math.min(column, dModel - 1)], [STRIPS.length, dModel]);
    if (to) this.set({ strip: to[0], column: to[1] });
  };

  #point = (event: PointerEvent): void => {
    if (!this.model || !reads(event)) return;
    const { line, lines } = this.#layout(this.model);
    const [x, y] = share(event);
    const row = Math.min(Math.floor(y * STRIPS.length), STRIPS.length - 1);
    const within = ((y * STRIPS.length - row) * ROW - LABEL) / STRIP;
    if (within < 0 || within >= 1) return; // between two strips
    const [atLine, atColumn] = cellAt([x, within], [lines, line]);
    const column = atLine * line + atColumn;
    if (column < this.model.dModel) this.set({ strip: row, column });
  };

  #controls(state: SumState): TemplateResult {
    return html`
      <div class="controls">
        ${slider({
          field: "position",
          label: "position",
          symbol: "pos",
          value: state.position,
          min: 0,
          max: 200,
          most: fields.position.max,
          onInput: (position) => this.set({ position }),
        })}
        ${slider({
          field: "d-model",
          label: "d_model: dimensions",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: 1024,
          step: 2,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        ${choice({
          field: "init",
          label: "token table’s standard deviation",
          value: state.init,
          options: [
            ["0.02", "0.02 (BERT, GPT-2)"],
            ["inverse-sqrt", "1/√d_model"],
            ["unit", "1 (torch.nn.Embedding)"],
          ],
          onInput: (value) => this.set({ init: value as SumState["init"] }),
        })}
        <div class="group two">
          ${toggle({
            field: "scale",
            label: "× √d_model",
            checked: state.scale,
            onInput: (scale) => this.set({ scale }),
          })}
          <button type="button" data-field="seed" @click=${() => this.set({ seed: (this.state.seed + 1) % 2 ** 31 })}>
            Another token
          </button>
        </div>
      </div>
    `;
  }

  protected takeaway({ dModel, norms, expected, cosine, parameters }: Model, state: SumState): string {
    const [token, scaled, position, sum] = norms.map((norm) => significant(norm, 4));
    const grown = state.scale
      ? ` grows to ${scaled} by × √${dModel} (${significant(expected[1], 4)} expected) and`
      : `, not scaled (${significant(expected[0], 4)} expected),`;
    const times = fixed(parameters.concatenated / parameters.added, 0);
    return (
      `A token of norm ${token}${grown} meets a position of norm ${position}, √(${dModel}/2) at every position. ` +
      `Their cosine is ${fixed(cosine, 3)}, so the sum’s norm is ${sum}; concatenated they would take ${times} times ` +
      `the ${fixed(parameters.added, 0)} projection parameters.`
    );
  }

  protected dataTable({ dModel, rows, norms }: Model, state: SumState): DataTable {
    const names = this.#names(dModel, state);
    return {
      caption: "The four vectors and their norms",
      head: ["dimension", ...names],
      rows: [
        ["norm", ...norms.map((norm) => fixed(norm, 6))],
        ...Array.from({ length: dModel }, (_, i) => [
          i,
          ...STRIPS.map((_, strip) => fixed(rows[strip * dModel + i] ?? Number.NaN, 6)),
        ]),
      ],
    };
  }

  protected override array({ dModel, rows }: Model): NamedArray {
    return { name: "token_scaled_position_sum", shape: [STRIPS.length, dModel], values: rows };
  }

  protected override numpy(state: SumState): string {
    const { "d-model": d, position, init, scale, seed } = state;
    const sigma = { "0.02": "0.02", unit: "1.0", "inverse-sqrt": "1 / np.sqrt(d_model)" }[init];
    return `import matplotlib.pyplot as plt
import numpy as np

d_model, position = ${d}, ${position}
sigma = ${sigma}


${randomNormal}

token = random_normal(d_model, ${seed}, sigma)
scaled = ${scale ? "np.sqrt(d_model) * token" : "token"}
angle = position * 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
pe = np.stack([np.sin(angle), np.cos(angle)], axis=-1).ravel()
rows = np.stack([token, scaled, pe, scaled + pe])
print("norms", np.linalg.norm(rows, axis=1))
print("cosine", token @ pe / np.linalg.norm(token) / np.linalg.norm(pe))

limit = np.abs(rows).max()
fig, axes = plt.subplots(4, 1, figsize=(10, 5))
for ax, row, name in zip(axes, rows, ["token", "scaled", "PE", "sum"]):
    line = min(128, d_model)
    padded = np.full(-(-d_model // line) * line, np.nan)
    padded[:d_model] = row
    ax.imshow(padded.reshape(-1, line), aspect="auto", cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set_title(f"{name}, norm {np.linalg.norm(row):.4g}", loc="left")
    ax.set_axis_off()
plt.show()
`;
  }

  protected override draw(model: Model): void {
    const { core, rows, dModel, limit } = model;
    const { width, line, lines } = this.#layout(model);
    this.renderRoot.querySelectorAll<HTMLCanvasElement>("canvas.strip").forEach((canvas, i) => {
      const values = new Float32Array(line * lines).fill(Number.NaN);
      values.set(rows.subarray(i * dModel, (i + 1) * dModel));
      paintMatrix(canvas, core, { values, rows: lines, columns: line }, limit, [width, STRIP]);
    });
    paintScale(this.renderRoot, core);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    scaleStyles,
    readoutRow([0, 5.8], [480, 2.9], [920, 1.5]),
    css`
      .takeaway {
        min-height: 5.8em;
      }
      @container (max-width: 479px) {
        .takeaway {
          min-height: 10.2em;
        }
      }
      .stage {
        position: relative;
      }
      .stage > * {
        position: absolute;
        left: 0;
      }
      .stage .scale {
        top: ${4 * ROW - 2}px;
        left: -12px;
      }
      .marks {
        top: 0;
        overflow: visible;
        pointer-events: none;
      }
      .grid {
        top: 0;
        cursor: crosshair;
        touch-action: pan-y;
      }
      .marks text.name {
        fill: var(--pe-ink);
        font-size: 13px;
      }
      .marks text.pos {
        fill: var(--pe-pos);
      }
      .marks .total text,
      .marks text.total {
        fill: var(--pe-accent);
      }
      .frame,
      .cell {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .cell {
        stroke: var(--pe-dim);
        stroke-width: 1.5;
      }
      .cell.active {
        stroke-width: 3;
      }
      [data-lit="dim"] .cell {
        stroke-width: 3;
      }
      .norm {
        fill: var(--pe-ink-2);
      }
      .marks .position .norm,
      .plane .position .head {
        fill: var(--pe-pos);
      }
      .marks .sum .norm,
      .plane .total .head {
        fill: var(--pe-accent);
      }
      .expected {
        stroke: var(--pe-ink);
        stroke-width: 1.5;
      }
      .shaft {
        fill: none;
        stroke-width: 2;
      }
      .token .shaft {
        stroke: var(--pe-ink-2);
      }
      .token .head {
        fill: var(--pe-ink-2);
      }
      .position .shaft {
        stroke: var(--pe-pos);
      }
      .total .shaft {
        stroke: var(--pe-accent);
      }
      [data-lit="pos"] .position .shaft {
        stroke-width: 3.5;
      }
      .side,
      .angle {
        fill: none;
        stroke: var(--pe-ink-2);
        stroke-opacity: 0.7;
      }
      .side {
        stroke-dasharray: 3 4;
      }
      .concatenated {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .added {
        fill: var(--pe-dim);
        stroke: var(--pe-dim);
      }
      .squares .count {
        fill: var(--pe-ink);
        font-weight: 600;
      }
      .two {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2) var(--pe-space-3);
      }
    `,
  ];
}

define("pe-sum", PeSum);

declare global {
  interface HTMLElementTagNameMap {
    "pe-sum": PeSum;
  }
}
