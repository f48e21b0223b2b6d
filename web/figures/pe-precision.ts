// What positions and rotations become in the number formats that models run in.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { type Axis, place } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import type { FloatFormat, Posenc } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { fixed, powerOfTen, significant } from "./format.ts";
import type { State } from "./state.ts";

const FORMATS = ["bfloat16", "float16", "float32"] as const;
const STAGES = ["everything", "position", "table"] as const;

const fields = {
  format: { kind: "choice", fallback: "bfloat16", choices: FORMATS },
  position: { kind: "integer", fallback: 301, min: 0, max: 2 ** 25 },
  "rotary-dim": { kind: "integer", fallback: 64, min: 2, max: 512 },
  "rope-theta": { kind: "number", fallback: 10000, min: 1, max: 1e12 },
  rounded: { kind: "choice", fallback: "everything", choices: STAGES },
} as const;
type PrecisionState = State<typeof fields>;

/** Positions drawn on each side of the one looked at. */
const REACH = 12;
const BITS: Record<FloatFormat, number> = { bfloat16: 8, float16: 11, float32: 24 };
/** Positions of the error curves: equal ratios from 1 to 2^24. */
const SAMPLES = Float64Array.from({ length: 97 }, (_, i) => Math.round(2 ** (i / 4)));
const COUNTED = 4096;
const LOWEST = 1e-9;

interface Model {
  positions: Float64Array;
  held: Float64Array;
  distinct: Record<FloatFormat, number>;
  errors: Record<FloatFormat, Float64Array>;
  /** Error at the position looked at, in the format chosen. */
  error: number;
  /** The number that the position looked at is held as. */
  own: number;
  /** The first and the last position that are held as that number. */
  same: [number, number];
}

/** From one number of the format to the next, near a whole number. */
const spacingAt = (position: number, format: FloatFormat): number =>
  2 ** (Math.floor(Math.log2(Math.max(1, position))) + 1 - BITS[format]);

/**
 * The first and the last position held as `own`. They end half a spacing away on each side, a quarter below a power
 * of two; which side a tie falls on, rounding says.
 */
function sharers(core: Posenc, own: number, { position, format }: PrecisionState): [number, number] {
  const spacing = spacingAt(position, format);
  const edges = [-spacing / 2, -spacing / 4, spacing / 4, spacing / 2].flatMap((away) =>
    [-1, 0, 1].map((one) => Math.floor(own + away) + one),
  );
  const near = Float64Array.from([position, ...edges.filter((edge) => edge >= 0)]);
  const held = core.roundTo(near, format);
  const same = [...near].filter((_, i) => held[i] === own);
  return [Math.min(position, ...same), Math.max(position, ...same)];
}

/**
 * Where two positions become one, and how far a rotation is off, in bfloat16, float16 and float32.
 *
 * @attr format - The number format.
 * @attr position - The position looked at.
 * @attr rotary-dim - Components that are rotated, even.
 * @attr rope-theta - The base of the frequencies.
 * @attr rounded - everything: position, inv_freq, angle and result; position: it alone; table: the result only.
 * @cssprop --pe-pos - Colour of positions.
 * @cssprop --pe-accent - Colour of the format that is chosen.
 */
export class PePrecision extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "Positions in few bits";

  protected compute(core: Posenc, state: PrecisionState): Model {
    if (state["rotary-dim"] % 2 !== 0) {
      throw new Error(`rotary-dim must be even, got ${state["rotary-dim"]}`);
    }
    // Wide enough that the numbers of the format on both sides are in the picture.
    const step = Math.max(1, Math.round(spacingAt(state.position, state.format) / 10));
    const first = Math.max(0, state.position - REACH * step);
    const positions = Float64Array.from({ length: 2 * REACH + 1 }, (_, i) => first + i * step);
    const held = core.roundTo(positions, state.format);
    const { invFreq } = core.ropeInvFreq({
      headDim: state["rotary-dim"],
      ropeTheta: state["rope-theta"],
    });
    const all = state.rounded === "everything";
    const stages = {
      position: all || state.rounded === "position",
      invFreq: all,
      angle: all,
      result: all || state.rounded === "table",
    };
    const errorsAt = (at: Float64Array, format: FloatFormat) =>
      core.ropeFormatErrors(at, invFreq, format, stages);
    const each = <T>(make: (format: FloatFormat) => T) =>
      Object.fromEntries(FORMATS.map((format) => [format, make(format)])) as Record<FloatFormat, T>;
    const counted = Float64Array.from({ length: COUNTED }, (_, i) => i);
    const own = core.roundTo(Float64Array.of(state.position), state.format)[0] ?? Number.NaN;
    return {
      positions,
      held,
      distinct: each((format) => new Set(core.roundTo(counted, format)).size),
      errors: each((format) => errorsAt(SAMPLES, format)),
      error: errorsAt(Float64Array.of(state.position), state.format)[0] ?? Number.NaN,
      own,
      same: sharers(core, own, state),
    };
  }

  protected picture(model: Model, state: PrecisionState): TemplateResult {
    return html`
      <div class="drawings" data-picture>
        ${this.#collisions(model, state)} ${this.#curves(model, state)}
      </div>
      <div class="controls">
        ${choice({
          field: "format",
          label: "number format",
          value: state.format,
          options: FORMATS.map((name) => [name, name] as const),
          onInput: (value) => this.set({ format: value as FloatFormat }),
        })}
        ${choice({
          field: "rounded",
          label: "what is rounded",
          value: state.rounded,
          options: [
            ["everything", "position, inv_freq, angle, cos and sin"],
            ["position", "the position only"],
            ["table", "cos and sin only (computed in double)"],
          ],
          onInput: (value) => this.set({ rounded: value as PrecisionState["rounded"] }),
        })}
        ${slider({
          field: "position",
          label: "position",
          symbol: "pos",
          value: Math.max(1, state.position),
          min: 1,
          max: 2 ** 24,
          most: fields.position.max,
          logarithmic: true,
          onInput: (value) => this.set({ position: Math.round(value) }),
        })}
        ${slider({
          field: "rotary-dim",
          label: "rotary_dim",
          symbol: "dim",
          value: state["rotary-dim"],
          min: 2,
          max: 256,
          step: 2,
          most: fields["rotary-dim"].max,
          onInput: (value) => this.set({ "rotary-dim": value }),
        })}
      </div>
    `;
  }

  /** Each position above, joined to the number that the format holds in its place below. */
  #collisions({ positions, held, own, same }: Model, state: PrecisionState): TemplateResult {
    const width = this.width;
    const first = positions[0] ?? 0;
    const last = positions.at(-1) ?? 0;
    const step = (last - first) / (2 * REACH);
    const axis: Axis = { domain: [first, last], range: [24, width - 24] };
    const [top, bottom] = [44, 120];
    // A far neighbour lies outside: its line runs to the edge and out of the picture.
    const lines = [...positions].map((position, i) => ({
      position,
      from: place(axis, position),
      to: place(axis, held[i] ?? Number.NaN),
      same: held[i] === own,
    }));
    const labelled = (position: number) =>
      position === state.position || (position - first) % ((width > 700 ? 4 : 12) * step) === 0;
    const kept = [...new Set(held)].filter((value) => value >= first && value <= last);
    const spacing = (24 + 7 * fixed(last, 0).length) / ((width - 48) / (last - first || 1));
    let shownAt = Number.NEGATIVE_INFINITY;
    const keptLabels = kept.filter((value) => {
      const free = value - shownAt >= spacing;
      if (free) shownAt = value;
      return free;
    });
    return html`
      <svg class="collisions" width=${width} height="164" role="img" aria-label=${this.#collisionWords(state, same)}>
        <text x="24" y="14">positions</text>
        <text x="24" y="158">held in ${state.format}</text>
        ${lines.map(
          (line) => svg`
            ${Number.isFinite(line.to) ? svg`<line class=${line.same ? "joined pos" : "joined"} x1=${line.from} y1=${top} x2=${line.to} y2=${bottom}></line>` : nothing}
            <circle class=${line.same ? "pos" : ""} cx=${line.from} cy=${top} r=${line.same ? 5 : 3.5}></circle>
            ${
              labelled(line.position) &&
              (
                Math.abs(line.position - state.position) * (width - 48) > 40 * (last - first) ||
                  line.position === state.position
              )
                ? svg`<text class=${line.position === state.position ? "own pos" : ""} x=${line.from} y=${top - 14} text-anchor="middle">${fixed(line.position, 0)}</text>`
                : nothing
            }`,
        )}
        ${kept.map((value) => svg`<rect x=${place(axis, value) - 3.5} y=${bottom - 3.5} width="7" height="7"></rect>`)}
        ${keptLabels.map(
          (value) =>
            svg`<text x=${place(axis, value)} y=${bottom + 20} text-anchor="middle">${fixed(value, 0)}</text>`,
        )}
      </svg>
    `;
  }

  #collisionWords({ position, format }: PrecisionState, [low, high]: [number, number]): string {
    return low === high
      ? `Position ${position} keeps a number of its own in ${format}`
      : `Positions ${low} to ${high} become one number in ${format}`;
  }

  #curves({ errors, error }: Model, state: PrecisionState): TemplateResult {
    const width = this.width;
    const height = 220;
    const right = 84;
    const x: Axis = { domain: [0, 24], range: [52, width - right] };
    const y: Axis = { domain: [Math.log10(LOWEST), Math.log10(4)], range: [height - 36, 8] };
    const level = (value: number) => place(y, Math.log10(Math.max(value, LOWEST)));
    const apart = width < 420 ? 12 : width < 560 ? 8 : 4; // 16 777 216 is a long label
    const powers = Array.from({ length: 24 / apart + 1 }, (_, i) => apart * i);
    const at = place(x, Math.log2(Math.max(1, state.position)));
    // The curves' names stand at their ends, pushed apart where they meet.
    const ends = FORMATS.map((format) => {
      const last = errors[format].findLastIndex(Number.isFinite);
      const reaches = last === SAMPLES.length - 1;
      // A curve that ends in an overflow has its name under its end.
      return reaches
        ? { format, x: x.range[1] + 8, y: level(errors[format][last] ?? LOWEST), anchor: "start" }
        : {
            format,
            x: place(x, Math.log2(SAMPLES[last] ?? 1)) - 4,
            y: level(errors[format][last] ?? LOWEST) + 20,
            anchor: "end",
          };
    }).sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => {
      const above = ends[i - 1];
      if (above?.x === end.x && end.y < above.y + 15) end.y = above.y + 15;
    });
    return html`
      <svg class="curves" width=${width} height=${height} aria-hidden="true">
        <g class="axis">
          ${[-8, -6, -4, -2, 0].map(
            (power) => svg`
              <line class="grid" x1=${x.range[0]} x2=${x.range[1]} y1=${place(y, power)} y2=${place(y, power)}></line>
              <text x=${x.range[0] - 8} y=${place(y, power)} text-anchor="end" dominant-baseline="central">
                ${powerOfTen(power)}</text>`,
          )}
          ${powers.map(
            (power) => svg`
              <line x1=${place(x, power)} x2=${place(x, power)} y1=${height - 36} y2=${height - 31}></line>
              <text x=${place(x, power)} y=${height - 17} text-anchor="middle">${fixed(2 ** power, 0)}</text>`,
          )}
        </g>
        <text class="pos" x=${(x.range[0] + x.range[1]) / 2} y=${height - 2} text-anchor="middle">position</text>
        <text x="0" y="8" dominant-baseline="hanging">error</text>
        <line class="here" x1=${at} x2=${at} y1="8" y2=${height - 36}></line>
        ${FORMATS.map(
          (format) => svg`<path
            class=${format === state.format ? "curve chosen" : "curve"}
            d=${linePath(errors[format], (i) => place(x, Math.log2(SAMPLES[i] ?? 1)), level)}
          ></path>`,
        )}
        ${ends.map(
          (end) =>
            svg`<text class=${end.format === state.format ? "chosen" : ""} x=${end.x} y=${end.y} text-anchor=${end.anchor} dominant-baseline="central">${end.format}</text>`,
        )}
        ${Number.isFinite(error) ? svg`<circle class="pos" cx=${at} cy=${level(error)} r="5"></circle>` : nothing}
      </svg>
    `;
  }

  protected takeaway({ same, own, distinct, error }: Model, state: PrecisionState): string {
    const { format, position } = state;
    const [low, high] = same.map((end) => fixed(end, 0)) as [string, string];
    const count = same[1] - same[0] + 1;
    const shared =
      count === 1 && Number.isFinite(own)
        ? `Position ${low} keeps a number of its own in ${format}`
        : !Number.isFinite(own)
          ? `In ${format} position ${fixed(position, 0)} is beyond the largest number`
          : `In ${format} the ${fixed(count, 0)} positions from ${low} to ${high} all become ${fixed(own, 0)}`;
    const off = Number.isNaN(error)
      ? `At ${fixed(position, 0)} the format overflows: there is no rotation.`
      : `The rotation at ${fixed(position, 0)} is off by up to ${significant(error, 2)}.`;
    return (
      `${shared}; the first that is not held exactly is ${fixed(2 ** BITS[format] + 1, 0)}, and the first ` +
      `${fixed(COUNTED, 0)} positions make ${fixed(distinct[format], 0)} numbers. ${off}`
    );
  }

  protected dataTable({ errors }: Model): DataTable {
    return {
      caption: "Largest error of cos and sin over the pairs",
      head: ["position", ...FORMATS],
      rows: [...SAMPLES].map((position, i) => [
        fixed(position, 0),
        ...FORMATS.map((format) => significant(errors[format][i] ?? Number.NaN, 3)),
      ]),
    };
  }

  protected override array({ errors }: Model): NamedArray {
    const values = Float64Array.from(
      [...SAMPLES].flatMap((position, i) => [
        position,
        ...FORMATS.map((format) => errors[format][i] ?? Number.NaN),
      ]),
    );
    return { name: "rope_errors", shape: [SAMPLES.length, 4], values, columns: ["position", ...FORMATS] };
  }

  protected override numpy(state: PrecisionState): string {
    const all = state.rounded === "everything";
    const rounds = (stage: boolean, value: string) => (stage ? `round_to(${value}, bits)` : value);
    return `import matplotlib.pyplot as plt
import numpy as np

def round_to(x, bits):
    """x to so many significant bits, ties to even; float16, with 11, ends below 2**16."""
    mantissa, exponent = np.frexp(x)
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)
    return np.where((bits == 11) & (np.abs(rounded) >= 2**16), np.nan, rounded)

position = np.round(2 ** (np.arange(97) / 4))[:, None]
inv_freq = ${state["rope-theta"]} ** (-np.arange(0, ${state["rotary-dim"]}, 2) / ${state["rotary-dim"]})
exact = position * inv_freq
for name, bits in ${JSON.stringify(BITS)}.items():
    angle = ${rounds(all, `${rounds(all || state.rounded === "position", "position")} * ${rounds(all, "inv_freq")}`)}
    error = np.maximum(
        abs(${rounds(all || state.rounded === "table", "np.cos(angle)")} - np.cos(exact)),
        abs(${rounds(all || state.rounded === "table", "np.sin(angle)")} - np.sin(exact)),
    ).max(axis=1)
    plt.loglog(position[:, 0], np.maximum(error, ${LOWEST}), base=2, label=name)
plt.xlabel("position")
plt.ylabel("largest error of cos and sin")
plt.legend()
plt.show()
`;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    css`
      .drawings {
        display: grid;
        gap: var(--pe-space-3);
      }
      svg {
        display: block;
        overflow: hidden;
      }
      .takeaway {
        min-height: 5.8em;
      }
      .joined {
        stroke: var(--pe-ink-2);
        stroke-opacity: 0.55;
      }
      .joined.pos {
        stroke: var(--pe-pos);
        stroke-width: 2;
        stroke-opacity: 1;
      }
      circle,
      rect {
        fill: var(--pe-ink-2);
      }
      circle.pos {
        fill: var(--pe-pos);
      }
      svg text.own,
      svg text.chosen {
        font-weight: 600;
      }
      svg text.chosen {
        fill: var(--pe-accent);
      }
      .curve {
        fill: none;
        stroke: var(--pe-ink-2);
        stroke-width: 1.5;
      }
      .curve.chosen {
        stroke: var(--pe-accent);
        stroke-width: 2.5;
      }
      .axis line.grid {
        stroke: var(--pe-rule);
      }
      .here {
        stroke: var(--pe-pos);
      }
    `,
  ];
}

define("pe-precision", PePrecision);

declare global {
  interface HTMLElementTagNameMap {
    "pe-precision": PePrecision;
  }
}
