// One row of the sinusoidal table by hand: every number between the formula and the row.
//
// Based on: Vaswani et al. 2017, Attention Is All You Need, section 3.5.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { arrow, type Dial } from "../draw/dial.ts";
import type { NamedArray } from "../draw/npy.ts";
import { reads, share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { degrees, fixed, plain, significant } from "./format.ts";
import { mapGrid, mapGridStyles, step } from "./map-grid.ts";
import { FieldError, type State } from "./state.ts";

const STEPS = ["exponent", "inv_freq", "angle", "mod", "sin", "cos"] as const;
type Step = (typeof STEPS)[number];
const NAMES: Record<Step, string> = {
  exponent: "2i / d_model",
  inv_freq: "inv_freq",
  angle: "angle",
  mod: "angle mod 2π",
  sin: "sin",
  cos: "cos",
};

const fields = {
  position: { kind: "integer", fallback: 5, min: 0, max: 1_000_000 },
  "d-model": { kind: "integer", fallback: 8, min: 2, max: 16 },
  base: { kind: "number", fallback: 10000, min: 1, max: 1e9 },
  pair: { kind: "integer", fallback: 0, min: 0, max: 7 },
  step: { kind: "choice", fallback: "sin", choices: STEPS },
  original: { kind: "flag", fallback: false },
} as const;
type WorkedState = State<typeof fields>;

/** What the lesson that this one corrects prints for position 5, d_model 8. */
const ORIGINAL = ["0.959", "−0.279", "0.479", "0.877", "0.050", "0.999", "0.005", "1.000"];

interface Model {
  dModel: number;
  pairs: number;
  /** By step, one number for each pair. */
  numbers: Record<Step, Float64Array>;
  row: Float64Array;
  /** 256 pixels of the colour map. */
  lut: Uint32Array;
  pair: number;
  /** Places where the original's row differs from the right one; null where it has no such row. */
  wrong: readonly number[] | null;
}

interface Layout {
  /** Width kept for the names of the steps, and of a pair's column. */
  names: number;
  column: number;
  /** Pairs side by side; more stand in a second band. */
  across: number;
  bands: number;
  dial: number;
  band: number;
  row: { top: number; perLine: number; cell: number; line: number };
  width: number;
  total: number;
}

const LINE = 26;
const HEAD = 24;

/** Digits without the zeros that say nothing: 0.5, 5, 31.62. */
const short = (value: number, digits = 4): string =>
  significant(value, digits)
    .replace(/(\.\d*?)0+(?=$| ×)/, "$1")
    .replace(/\.(?=$| ×)/, "");

/**
 * The sinusoidal row of one position with every number on the way.
 *
 * @attr position - The position whose row is computed.
 * @attr d-model - Dimensions, even.
 * @attr base - 10000 in the paper.
 * @attr pair - The pair whose computation is written out, from 0.
 * @attr step - The step that is written out.
 * @attr original - Whether the row of the original lesson stands below the right one (position 5, d_model 8).
 * @cssprop --pe-pos - Colour of the position.
 * @cssprop --pe-dim - Colour of dimensions.
 * @cssprop --pe-q - Colour of what the original lesson has wrong.
 */
export class PeWorked extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "One row, worked out";

  protected compute(core: Posenc, state: WorkedState): Model {
    const { position, "d-model": dModel, base } = state;
    if (dModel % 2 !== 0) throw new FieldError(`d-model must be even, got ${dModel}`);
    const config = { dModel, base };
    const invFreq = core.sinusoidalInvFreq(config);
    const row = core.sinusoidalRows(Float64Array.of(position), config);
    const pairs = invFreq.length;
    const turn = 2 * Math.PI;
    const numbers = {
      exponent: Float64Array.from(invFreq, (_, i) => (2 * i) / dModel),
      inv_freq: invFreq,
      angle: invFreq.map((w) => position * w),
      mod: invFreq.map((w) => position * w - turn * Math.floor((position * w) / turn)),
      sin: Float64Array.from(invFreq, (_, i) => row[2 * i] ?? Number.NaN),
      cos: Float64Array.from(invFreq, (_, i) => row[2 * i + 1] ?? Number.NaN),
    };
    const printed = position === 5 && dModel === 8 && base === 10000;
    const wrong = printed
      ? ORIGINAL.flatMap((value, i) => (value === fixed(row[i] ?? Number.NaN, 3) ? [] : [i]))
      : null;
    return { dModel, pairs, numbers, row, lut: core.lut(), pair: Math.min(state.pair, pairs - 1), wrong };
  }

  #layout({ pairs, dModel }: Model): Layout {
    const narrow = this.width < 560;
    const names = narrow ? 72 : 116;
    const room = this.width - names;
    const across = Math.min(pairs, room >= 8 * 96 ? 8 : 4);
    const column = Math.min(room / across, narrow ? 80 : 130);
    const bands = Math.ceil(pairs / across);
    const dial = narrow ? Math.min(22, column / 2 - 3) : 30;
    const band = HEAD + 2 * dial + 14 + STEPS.length * LINE + 18;
    // Where there is room, the two numbers of a pair stand below its column.
    const perLine = narrow ? Math.min(dModel, 4) : 2 * across;
    const cell = narrow ? Math.min(room / perLine, 80) : column / 2;
    const line = dModel === ORIGINAL.length ? 72 : 52;
    const top = bands * band + 26;
    return {
      names,
      column,
      across,
      bands,
      dial,
      band,
      row: { top, perLine, cell, line },
      width: names + Math.max(across * column, perLine * cell),
      total: top + Math.ceil(dModel / perLine) * line,
    };
  }

  protected picture(model: Model, state: WorkedState): TemplateResult {
    const at = this.#layout(model);
    return html`
      <div class="sides">
        <div class="stage" data-picture .style=${`width:${at.width}px;height:${at.total}px`}>
          <svg class="sheet" width=${at.width} height=${at.total} aria-hidden="true">
            ${Array.from({ length: at.bands }, (_, band) => this.#band(model, state, at, band))}
            ${this.#row(model, state, at)}
          </svg>
          ${this.#grid(model, state, at)}
        </div>
        ${this.#working(model, state)}
      </div>
      ${this.#controls(model, state)}
    `;
  }

  /** The computation of the active pair, written out with its numbers. */
  #working({ numbers, dModel, pair }: Model, state: WorkedState): TemplateResult {
    const value = (name: Step) => numbers[name][pair] ?? Number.NaN;
    const i = html`<span class="dim" data-symbol="dim">${pair}</span>`;
    const p = html`<span class="pos" data-symbol="pos">${fixed(state.position, 0)}</span>`;
    const [exponent, frequency] = [plain(value("exponent")), short(value("inv_freq"))];
    const angle = short(value("angle"), 6);
    const turns = fixed(Math.floor(value("angle") / (2 * Math.PI)), 0);
    const [s, c] = [value("sin"), value("cos")];
    const lines: Record<Step, TemplateResult> = {
      exponent: html`2 × ${i} / ${dModel} = <b>${exponent}</b>`,
      inv_freq: html`${plain(state.base)}<sup>−${exponent}</sup> = <b>${frequency}</b>`,
      angle: html`${p} × ${frequency} = <b>${short(value("angle"))}</b>`,
      mod: html`${angle} − ${turns} × 2π = <b>${short(value("mod"))}</b>, ${degrees(value("mod"))}`,
      sin: html`sin ${angle} = <b>${fixed(s, 3)}</b>`,
      cos: html`cos ${angle} = <b>${fixed(c, 3)}</b>`,
    };
    return html`
      <dl class="working">
        <dt class="dim" data-symbol="dim">pair ${pair}</dt>
        <dd>dimensions ${2 * pair} and ${2 * pair + 1}</dd>
        ${STEPS.map(
          (name) => html`
            <dt class=${name === state.step ? "now" : ""}>${NAMES[name]}</dt>
            <dd class=${name === state.step ? "now" : ""}>${lines[name]}</dd>
          `,
        )}
        <dt>sin² + cos²</dt>
        <dd>${fixed(s ** 2, 3)} + ${fixed(c ** 2, 3)} = <b>${fixed(s ** 2 + c ** 2, 3)}</b></dd>
      </dl>
    `;
  }

  #band(model: Model, state: WorkedState, at: Layout, band: number): TemplateResult {
    const { pairs, numbers, pair } = model;
    const first = band * at.across;
    const count = Math.min(at.across, pairs - first);
    const top = band * at.band;
    const steps = top + HEAD + 2 * at.dial + 14;
    const columns = Array.from({ length: count }, (_, k) => first + k);
    const left = (i: number) => at.names + (i - first) * at.column;
    return svg`
      <g>
        ${STEPS.map(
          (name, s) => svg`
            <text class="name" x=${at.names - 10} y=${steps + (s + 0.5) * LINE} text-anchor="end"
              dominant-baseline="central">${this.width < 560 ? NAMES[name].replace("angle mod", "mod").replace("d_model", "d") : NAMES[name]}</text>
            <line class="rule" x1=${at.names} x2=${left(first + count)} y1=${steps + s * LINE} y2=${steps + s * LINE}></line>`,
        )}
        ${columns.map((i) => {
          const x = left(i);
          const middle = x + at.column / 2;
          return svg`
            <text class="dim head" data-symbol="dim" x=${middle} y=${top + 14} text-anchor="middle">pair ${i}</text>
            ${this.#dial(model, i, middle - at.dial, top + HEAD, at.dial)}
            ${STEPS.map((name, s) => {
              const value = numbers[name][i] ?? Number.NaN;
              const y = steps + s * LINE;
              const colour = name === "sin" || name === "cos" ? model.lut : null;
              return svg`
                ${colour ? swatch(colour, value, [x + 1, y + 1, at.column - 2, LINE - 2]) : nothing}
                <text class=${colour ? inkOn(colour, value) : "number"} x=${middle} y=${y + LINE / 2}
                  text-anchor="middle" dominant-baseline="central">${this.#short(name, value, at)}</text>
                ${
                  i === pair && name === state.step
                    ? svg`<rect class="active" x=${x + 1} y=${y + 1} width=${at.column - 2} height=${LINE - 2}></rect>`
                    : nothing
                }`;
            })}`;
        })}
      </g>
    `;
  }

  /** A number that fits its column. */
  #short(name: Step, value: number, at: Layout): string {
    if (name === "exponent") return plain(value);
    if (name === "sin" || name === "cos") return fixed(value, 3);
    if (at.column > 90) return short(value);
    if (Math.abs(value) >= 0.001 || value === 0) return short(value, 3);
    if (Math.abs(value) >= 0.0001) return fixed(value, 5);
    return short(value, 1).replaceAll(" ", "");
  }

  /** The hand of a pair: cos to the right, sin up. */
  #dial({ numbers }: Model, i: number, left: number, top: number, radius: number): TemplateResult {
    const dial: Dial = { centre: radius, scale: radius - 2 };
    const [c, s] = [numbers.cos[i] ?? 0, numbers.sin[i] ?? 0];
    const hand = arrow(dial, [c, s], 7);
    const [x, y] = [radius + c * dial.scale, radius - s * dial.scale];
    return svg`
      <g class="dial" transform="translate(${left} ${top})">
        <circle class="rim" cx=${radius} cy=${radius} r=${dial.scale}></circle>
        <line class="rule" x1="2" x2=${2 * radius - 2} y1=${radius} y2=${radius}></line>
        <line class="rule" x1=${radius} x2=${radius} y1="2" y2=${2 * radius - 2}></line>
        <line class="drop" x1=${x} x2=${x} y1=${radius} y2=${y}></line>
        <path class="shaft" data-symbol="pos" d=${hand.shaft}></path>
        <path class="tip" d=${hand.head}></path>
      </g>`;
  }

  #row({ row, lut, dModel, wrong }: Model, state: WorkedState, at: Layout): TemplateResult {
    const { top, perLine, cell, line } = at.row;
    const shown = state.original && wrong !== null;
    return svg`
      <g>
        ${Array.from(row, (value, d) => {
          const x = at.names + (d % perLine) * cell;
          const y = top + Math.floor(d / perLine) * line;
          const bad = wrong?.includes(d);
          return svg`
            <text class="dim" data-symbol="dim" x=${x + cell / 2} y=${y - 6} text-anchor="middle">${d}</text>
            ${swatch(lut, value, [x + 0.5, y, cell - 1, LINE])}
            <text class=${inkOn(lut, value)} x=${x + cell / 2} y=${y + LINE / 2} text-anchor="middle"
              dominant-baseline="central">${fixed(value, 3)}</text>
            ${
              shown
                ? svg`
                  <text class=${bad ? "wrong" : "same"} x=${x + cell / 2} y=${y + LINE + 14} text-anchor="middle"
                    dominant-baseline="central">${ORIGINAL[d]}</text>
                  ${bad ? svg`<line class="strike" x1=${x + cell / 2 - 21} x2=${x + cell / 2 + 21} y1=${y + LINE + 14} y2=${y + LINE + 14}></line>` : nothing}`
                : nothing
            }`;
        })}
        ${Array.from({ length: Math.ceil(dModel / perLine) }, (_, k) => {
          const y = top + k * line;
          return svg`
            <text class="pos head" data-symbol="pos" x=${at.names - 10} y=${y + LINE / 2} text-anchor="end"
              dominant-baseline="central">${k === 0 ? (state.position < 1000 ? `PE(${state.position})` : "PE(p)") : ""}</text>
            <text x=${at.names - 10} y=${y + LINE + 14} text-anchor="end" dominant-baseline="central">${shown ? "original" : ""}</text>`;
        })}
        <text x=${at.names - 10} y=${top - 6} text-anchor="end">dimension</text>
      </g>`;
  }

  #grid({ pairs, numbers, pair }: Model, state: WorkedState, at: Layout): TemplateResult {
    const value = short(numbers[state.step][pair] ?? Number.NaN);
    const row = STEPS.indexOf(state.step);
    return mapGrid({
      label: "The computation: up and down move by step, left and right by pair",
      size: [STEPS.length, pairs],
      cell: [row, pair],
      words: `${NAMES[state.step]}, pair ${pair}: ${value}`,
      style: `width:${at.names + at.across * at.column}px;height:${at.bands * at.band}px`,
      onKey: this.#key,
      onPoint: this.#point,
    });
  }

  #key = (event: KeyboardEvent): void => {
    const pairs = this.state["d-model"] / 2;
    const at = [STEPS.indexOf(this.state.step), Math.min(this.state.pair, pairs - 1)] as const;
    const to = step(event, at, [STEPS.length, pairs]);
    if (to) this.set({ step: STEPS[to[0]] ?? "sin", pair: to[1] });
  };

  #point = (event: PointerEvent): void => {
    if (!this.model || !reads(event)) return;
    const at = this.#layout(this.model);
    const [x, y] = share(event);
    const band = Math.min(Math.floor(y * at.bands), at.bands - 1);
    const down = (y * at.bands - band) * at.band - (HEAD + 2 * at.dial + 14);
    const column = Math.floor((x * (at.names + at.across * at.column) - at.names) / at.column);
    const pair = band * at.across + column;
    const name = STEPS[Math.floor(down / LINE)];
    if (name && column >= 0 && pair < this.model.pairs) this.set({ step: name, pair });
  };

  #controls(model: Model, state: WorkedState): TemplateResult {
    const go = (position: number) => () => this.set({ position });
    return html`
      <div class="controls">
        <div data-field="position">
          ${slider({
            field: "position",
            label: "position",
            symbol: "pos",
            value: state.position,
            min: 0,
            max: 100,
            most: fields.position.max,
            onInput: (position) => this.set({ position }),
          })}
          <div class="buttons" role="group" aria-label="Positions of the example">
            ${[0, 1, 5].map(
              (p) => html`
                <button type="button" aria-label="position ${p}" aria-pressed=${state.position === p} @click=${go(p)}>
                  ${p}
                </button>
              `,
            )}
          </div>
        </div>
        ${slider({
          field: "d-model",
          label: "d_model: dimensions",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: 16,
          step: 2,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        <div class="group ${model.wrong === null ? "absent" : ""}">
          ${toggle({
            field: "original",
            label: "the original’s row for position 5",
            checked: state.original,
            onInput: (original) => this.set({ original }),
          })}
        </div>
      </div>
    `;
  }

  protected takeaway({ row, numbers, pair, wrong, dModel }: Model, state: WorkedState): string {
    const value = (name: Step) => numbers[name][pair] ?? Number.NaN;
    const [s, c] = [value("sin"), value("cos")];
    if (state.original && wrong !== null) {
      const right = wrong.map(
        (d) => `${fixed(row[d] ?? Number.NaN, 3)} and not ${ORIGINAL[d]} in dimension ${d}`,
      );
      return `${wrong.length} of the original’s ${dModel} numbers are wrong. It is ${right.join(", ")}.`;
    }
    const sign = (of: number) => (Math.abs(of) < 0.0005 ? "near 0" : of < 0 ? "negative" : "positive");
    const turns = Math.floor(value("angle") / (2 * Math.PI));
    return (
      `Pair ${pair} of PE(${fixed(state.position, 0)}) is ${fixed(s, 3)}, ${fixed(c, 3)}. Its hand has made ` +
      `${fixed(turns, 0)} whole turn${turns === 1 ? "" : "s"} and stands at ${degrees(value("mod"))}: ` +
      `the sine is ${sign(s)}, the cosine ${sign(c)}.`
    );
  }

  protected dataTable({ numbers, pairs }: Model, state: WorkedState): DataTable {
    return {
      caption: `Position ${state.position}, d_model ${state["d-model"]}`,
      head: ["pair", ...STEPS.map((name) => NAMES[name])],
      rows: Array.from({ length: pairs }, (_, i) => [
        i,
        ...STEPS.map((name) => significant(numbers[name][i] ?? Number.NaN, 7)),
      ]),
    };
  }

  protected override array({ numbers, pairs }: Model): NamedArray {
    const values = new Float64Array(pairs * STEPS.length);
    STEPS.forEach((name, s) => {
      numbers[name].forEach((value, i) => {
        values[i * STEPS.length + s] = value;
      });
    });
    return { name: "worked_example", shape: [pairs, STEPS.length], values, columns: STEPS };
  }

  protected override numpy(state: WorkedState): string {
    return `import matplotlib.pyplot as plt
import numpy as np

position, d_model, base = ${state.position}, ${state["d-model"]}, ${Number.isInteger(state.base) ? `${state.base}.0` : state.base}
exponent = np.arange(0, d_model, 2) / d_model
inv_freq = base ** -exponent
angle = position * inv_freq
mod = angle % (2 * np.pi)
row = np.stack([np.sin(angle), np.cos(angle)], axis=-1).ravel()

np.set_printoptions(precision=3, suppress=True)
for name in ("exponent", "inv_freq", "angle", "mod", "row"):
    print(f"{name:9}", globals()[name])

figure, axes = plt.subplots(1, d_model // 2, figsize=(2 * d_model // 2, 2.4), squeeze=False)
for i, ax in enumerate(axes.flat):  # a hand for each pair, clockwise from the top
    ax.add_patch(plt.Circle((0, 0), 1, fill=False))
    ax.plot([0, np.sin(angle[i])], [0, np.cos(angle[i])])
    ax.set(title=f"pair {i}", aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    ax.axis("off")
plt.show()
`;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    css`
      .sides {
        display: flex;
        flex-wrap: wrap;
        align-items: start;
        gap: var(--pe-space-3) var(--pe-space-4);
      }
      .working {
        display: grid;
        grid-template-columns: auto 1fr;
        flex: 1 1 calc(17 * var(--pe-rem));
        max-width: calc(26 * var(--pe-rem));
        margin: 0;
      }
      .working dt,
      .working dd {
        margin: 0;
        padding: calc(0.25 * var(--pe-rem)) calc(0.5 * var(--pe-rem));
        border-bottom: 1px solid var(--pe-rule);
      }
      .working dt {
        padding-inline: calc(0.4 * var(--pe-rem)) calc(0.75 * var(--pe-rem));
      }
      .working dt:not(.dim) {
        color: var(--pe-ink-2);
      }
      .working .now {
        background: var(--pe-surface);
        box-shadow: inset 0 2px 0 var(--pe-dim), inset 0 -2px 0 var(--pe-dim);
      }
      .working sup {
        line-height: 0;
      }
      .stage {
        position: relative;
      }
      .stage > * {
        position: absolute;
        inset: 0 auto auto 0;
      }
      .sheet {
        pointer-events: none;
      }
      .grid {
        cursor: crosshair;
        touch-action: pan-y;
      }
      .sheet text.number {
        fill: var(--pe-ink);
        font-size: 13px;
      }
      .sheet text.light,
      .sheet text.black {
        font-size: 13px;
      }
      .sheet text.light {
        fill: #fff;
      }
      .sheet text.black {
        fill: #000;
      }
      .sheet text.head {
        font-size: 13px;
        font-weight: 600;
      }
      .sheet text.wrong {
        fill: var(--pe-q);
        font-size: 13px;
      }
      .sheet text.same {
        font-size: 13px;
      }
      .strike {
        stroke: var(--pe-q);
        stroke-width: 1.5;
      }
      .rule {
        stroke: var(--pe-rule);
      }
      .rim {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .drop {
        stroke: var(--pe-ink-2);
        stroke-dasharray: 2 3;
      }
      .shaft {
        fill: none;
        stroke: var(--pe-pos);
        stroke-width: 2;
      }
      [data-lit="pos"] .shaft {
        stroke-width: 3.5;
      }
      [data-lit="dim"] text.dim {
        font-weight: 700;
      }
      .tip {
        fill: var(--pe-pos);
      }
      .active {
        fill: none;
        stroke: var(--pe-dim);
        stroke-width: 2;
      }
      .buttons {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-2);
        margin-top: var(--pe-space-1);
      }
      .controls {
        align-items: start;
      }
      .buttons button {
        min-width: calc(2.5 * var(--pe-rem));
      }
      .absent {
        visibility: hidden;
      }
      @container (max-width: 479px) {
        .takeaway {
          min-height: 7.4em;
        }
        .sheet text.number,
        .sheet text.light,
        .sheet text.black {
          font-size: 12px;
        }
      }
    `,
  ];
}

/** Red, green and blue of a value between −1 and 1 in the colour map. */
function rgb(lut: Uint32Array, value: number): [red: number, green: number, blue: number] {
  const pixel = lut[Math.min(Math.max(Math.floor(128 * (value + 1)), 0), 255)] ?? 0;
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
}

/** Class of the letters that are readable on a value's colour: one of black and white has 4.58:1 on any. */
function inkOn(lut: Uint32Array, value: number): "black" | "light" {
  const [r, g, b] = rgb(lut, value).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "black" : "light";
}

function swatch(
  lut: Uint32Array,
  value: number,
  [x, y, width, height]: readonly [number, number, number, number],
): TemplateResult {
  const fill = `rgb(${rgb(lut, value).join(", ")})`;
  return svg`<rect x=${x} y=${y} width=${width} height=${height} fill=${fill}></rect>`;
}

define("pe-worked", PeWorked);

declare global {
  interface HTMLElementTagNameMap {
    "pe-worked": PeWorked;
  }
}
