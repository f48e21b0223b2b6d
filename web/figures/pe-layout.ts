// The two pair layouts of RoPE: the same weights read by code of either kind, and the permutation that mends a
// mismatch. Based on: Su et al. 2021, RoFormer, equation 34 (interleaved); transformers, rotate_half and
// convert_llama_weights_to_hf (half, and the permutation).

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import type { PairLayout, Posenc } from "../posenc.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { fixed, signed, significant } from "./format.ts";
import { codePairs, components, STRIPS_HEIGHT, strips } from "./layout-strips.ts";
import type { State } from "./state.ts";

const LAST_POSITION = 512;
const MOST_COMPONENTS = 32;
/** Pixels of the picture: room for the numbers of the axis, between the two drawings, and of the plot. */
const LEFT = 40;
const GAP = 40;
const PLOT_HEIGHT = 262;
const LAYOUTS = ["interleaved", "half"] as const;

const fields = {
  "head-dim": { kind: "integer", fallback: 8, min: 2, max: MOST_COMPONENTS },
  "rotary-dim": { kind: "integer", fallback: 0, min: 0, max: MOST_COMPONENTS },
  "rope-theta": { kind: "number", fallback: 10000, min: 1, max: 1e9 },
  weights: { kind: "choice", fallback: "interleaved", choices: LAYOUTS },
  code: { kind: "choice", fallback: "half", choices: LAYOUTS },
  permute: { kind: "flag", fallback: false },
  m: { kind: "integer", fallback: 7, min: 0, max: LAST_POSITION },
  n: { kind: "integer", fallback: 0, min: 0, max: LAST_POSITION },
  pair: { kind: "integer", fallback: 1, min: 0, max: MOST_COMPONENTS / 2 - 1 },
  seed: { kind: "integer", fallback: 0, min: 0, max: 2 ** 31 - 1 },
} as const;
type LayoutState = State<typeof fields>;

/** One number for each of the three ways to rotate. */
interface Ways<T> {
  /** By the layout that the weights were trained with. */
  trained: T;
  /** By the code's layout, weights as stored. */
  unpermuted: T;
  /** By the code's layout, rows of the weights permuted for it. */
  permuted: T;
}

interface Model {
  q: Float64Array;
  k: Float64Array;
  rotaryDim: number;
  active: number;
  /** Row r of the permuted weights is stored row rows[r]. */
  rows: Int32Array;
  /** The rows that the code reads: rows, or all in place. */
  read: Int32Array;
  scores: Ways<number>;
  /** Scores at relative position −reach..reach. */
  curves: Ways<Float64Array>;
  reach: number;
  /** What the code of this state computes. */
  shown: "unpermuted" | "permuted";
  /** Where its curve is farthest from the trained one, and how far. */
  worst: { relativePosition: number; difference: number };
}

const dot = (a: Float64Array, b: Float64Array, from: number): number =>
  a.reduce((sum, value, i) => (i < from ? sum : sum + value * (b[i] ?? 0)), 0);
/** Below this two sums of the same products differ by their order alone. */
const ROUNDING = 1e-12;

/** The rows in NumPy: permuted = stored[rows]. */
function rowsInNumpy(trained: PairLayout, code: PairLayout, rotaryDim: number, headDim: number): string {
  const tail = rotaryDim < headDim ? `, ${rotaryDim}:${headDim}` : "";
  if (trained === code) return `np.arange(${headDim})`;
  return trained === "interleaved"
    ? `np.r_[0:${rotaryDim}:2, 1:${rotaryDim}:2${tail}]`
    : `np.r_[np.arange(${rotaryDim}).reshape(2, ${rotaryDim / 2}).T.ravel()${tail}]`;
}

/**
 * One head’s components, paired as its weights were trained and as the code rotates them.
 *
 * @attr head-dim - Components of q and k, even.
 * @attr rotary-dim - Components that are rotated, even; 0: all.
 * @attr rope-theta - The base of the frequencies.
 * @attr weights - The layout that the weights were trained with.
 * @attr code - The layout of the code that runs.
 * @attr permute - Whether the rows of W_Q and W_K are put in the order of the code.
 * @attr m - Position of the query.
 * @attr n - Position of the key.
 * @attr pair - The trained pair that is marked, from 0; the last there is if there are fewer.
 * @attr seed - Chooses q and k; 0: q = (1, …, d)/d and k the same backwards.
 * @cssprop --pe-dim - Colour of the marked pair.
 * @cssprop --pe-pos - Colour of positions.
 * @cssprop --pe-rope - Colour of the scores as trained.
 */
export class PeLayout extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "Which components form a pair";

  protected override compute(core: Posenc, state: LayoutState): Model {
    const { m, n, seed, weights, code, "head-dim": headDim, "rope-theta": ropeTheta } = state;
    const rotaryDim = state["rotary-dim"] || headDim;
    const { invFreq } = core.ropeInvFreq({ headDim, rotaryDim, ropeTheta });
    const random = seed === 0 ? null : core.randomNormal(2 * MOST_COMPONENTS, seed);
    const vector = (first: number, ramp: (i: number) => number) =>
      Float64Array.from({ length: headDim }, (_, i) => random?.[first + i] ?? ramp(i));
    const q = vector(0, (i) => (i + 1) / headDim);
    const k = vector(MOST_COMPONENTS, (i) => (headDim - i) / headDim);

    const inPlace = Int32Array.from({ length: headDim }, (_, r) => r);
    const half = core.halfFromInterleaved({ headDim, rotaryDim });
    const interleaved = inPlace.map((r) => half.indexOf(r));
    const rows = weights === code ? inPlace : code === "half" ? half : interleaved;
    const take = (x: Float64Array, order: Int32Array) => Float64Array.from(order, (r) => x[r] ?? 0);

    const ways = {
      trained: { layout: weights, order: inPlace },
      unpermuted: { layout: code, order: inPlace },
      permuted: { layout: code, order: rows },
    };
    const all = Object.values(ways);
    const { cos, sin } = core.ropeCosSin(Float64Array.of(m, n), invFreq);
    // q at m and k at n, in each of the three ways: their scores are the diagonal of (3, 3).
    const turned = all.map(({ layout, order }) =>
      core.ropeApply(Float64Array.of(...take(q, order), ...take(k, order)), cos, sin, {
        seqLen: 2,
        headDim,
        rotaryDim,
        layout,
      }),
    );
    const queries = Float64Array.from(turned.flatMap((x) => [...x.subarray(0, headDim)]));
    const keys = Float64Array.from(turned.flatMap((x) => [...x.subarray(headDim)]));
    const { logits } = core.attention(queries, keys, keys, { seqLen: all.length, headDim, scale: 1 });

    const reach = Math.abs(n - m) <= 64 ? 64 : LAST_POSITION;
    const offsets = Float64Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
    const tail = dot(q, k, rotaryDim);
    const curve = ({ layout, order }: (typeof all)[number]) => {
      const inPairs = (x: Float64Array) =>
        Float64Array.from(
          Array.from(invFreq).flatMap((_, i) =>
            components(i, layout, rotaryDim).map((c) => x[order[c] ?? 0] ?? 0),
          ),
        );
      return core.ropeScoreByOffset(offsets, inPairs(q), inPairs(k), invFreq).map((score) => score + tail);
    };
    const curves = {
      trained: curve(ways.trained),
      unpermuted: curve(ways.unpermuted),
      permuted: curve(ways.permuted),
    };
    const shown = state.permute ? "permuted" : "unpermuted";
    const differences = curves.trained.map((score, i) => Math.abs((curves[shown][i] ?? 0) - score));
    const difference = Math.max(...differences);
    return {
      q,
      k,
      rotaryDim,
      active: Math.min(state.pair, rotaryDim / 2 - 1),
      rows,
      read: state.permute ? rows : inPlace,
      scores: { trained: logits[0] ?? 0, unpermuted: logits[4] ?? 0, permuted: logits[8] ?? 0 },
      curves,
      reach,
      shown,
      worst: { relativePosition: differences.indexOf(difference) - reach, difference },
    };
  }

  protected override takeaway(model: Model, { m, n, weights, code, permute }: LayoutState): string {
    const { scores, shown, worst, reach, rotaryDim } = model;
    const [trained, here] = [scores.trained, scores[shown]];
    const at = `relative position ${signed(n - m)}`;
    const off = Math.max(worst.difference, Math.abs(here - trained));
    const same =
      `The code's score at ${at} is ${fixed(here)}, as trained, and at every distance up to ${reach} the two agree ` +
      `${off === 0 ? "bit for bit" : `to rounding (largest difference ${significant(off, 1)})`}.`;
    if (weights === code) return `Weights and code form the same pairs. ${same}`;
    if (rotaryDim === 2) return `With one pair the two layouts are the same. ${same}`;
    if (off < ROUNDING)
      return permute ? `With the rows of W_Q and W_K permuted, nothing is lost. ${same}` : same;
    return (
      `The code turns together what was not trained together: at ${at} its score is ${fixed(here)} instead of ` +
      `${fixed(trained)}. It is sure to be right only at relative position 0; up to ${reach} positions away it is off by ` +
      `as much as ${fixed(worst.difference, 2)} (at ${signed(worst.relativePosition)}).`
    );
  }

  protected override dataTable({ curves, reach }: Model, { weights, code }: LayoutState): DataTable {
    return {
      caption: `Scores by relative position: weights ${weights}, code ${code}`,
      head: ["relative position", "as trained", "code, rows as stored", "code, rows permuted"],
      rows: Array.from(curves.trained, (score, i) => [
        signed(i - reach),
        fixed(score, 6),
        fixed(curves.unpermuted[i] ?? 0, 6),
        fixed(curves.permuted[i] ?? 0, 6),
      ]),
    };
  }

  protected override array({ curves, reach }: Model): NamedArray {
    const values = Array.from(curves.trained, (score, i) => [
      i - reach,
      score,
      curves.unpermuted[i] ?? 0,
      curves.permuted[i] ?? 0,
    ]);
    return {
      name: "layout_scores",
      shape: [values.length, 4],
      values: Float64Array.from(values.flat()),
      columns: ["relative_position", "trained", "unpermuted", "permuted"],
    };
  }

  protected override numpy(state: LayoutState): string {
    const { "head-dim": headDim, weights, code, m, n } = state;
    const { model } = this;
    const rotaryDim = state["rotary-dim"] || headDim;
    const list = (name: "q" | "k") => {
      if (state.seed !== 0) return `np.array([${model?.[name].join(", ")}])`;
      return `np.arange(${name === "q" ? `1, ${headDim + 1}` : `${headDim}, 0, -1`}) / ${headDim}`;
    };
    const theta = state["rope-theta"];
    const reach = model?.reach ?? 64;
    return `import matplotlib.pyplot as plt
import numpy as np

head_dim, rotary_dim = ${headDim}, ${rotaryDim}
inv_freq = ${Number.isInteger(theta) ? `${theta}.0` : theta} ** (-np.arange(0, rotary_dim, 2) / rotary_dim)
q = ${list("q")}
k = ${list("k")}
rows = ${rowsInNumpy(weights, code, rotaryDim, headDim)}  # permuted = stored[rows]

def pairs(layout):
    i = np.arange(rotary_dim // 2)
    return (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + rotary_dim // 2)

def rotate(x, position, layout):
    a, b = pairs(layout)
    cos, sin = np.cos(position * inv_freq), np.sin(position * inv_freq)
    out = x.copy()
    out[a], out[b] = x[a] * cos - x[b] * sin, x[a] * sin + x[b] * cos
    return out

def score(q, k, layout, m, n):
    return rotate(q, m, layout) @ rotate(k, n, layout)

m, n = ${m}, ${n}
print("as trained        ", score(q, k, "${weights}", m, n))
print("rows as stored    ", score(q, k, "${code}", m, n))
print("rows permuted     ", score(q[rows], k[rows], "${code}", m, n))

relative_position = np.arange(-${reach}, ${reach + 1})
trained = [score(q, k, "${weights}", 0, r) for r in relative_position]
read = ${state.permute ? "rows" : "np.arange(head_dim)"}
code = [score(q[read], k[read], "${code}", 0, r) for r in relative_position]
plt.plot(relative_position, trained, label="as trained")
plt.plot(relative_position, code, "--", label="this code")
plt.axvline(n - m, color="0.6")
plt.xlabel("relative position, key minus query")
plt.ylabel("score")
plt.legend()
plt.show()
`;
  }

  // ------------------------------------------------------------------------------------------------- picture

  get #wide(): boolean {
    return this.width >= 820;
  }

  protected override picture(model: Model, state: LayoutState): TemplateResult {
    const width = Math.floor(this.#wide ? (this.width - GAP) / 2 : this.width);
    return html`
      <div class="stage ${this.#wide ? "wide" : ""}" data-picture>
        <svg
          class="strips"
          width=${width}
          height=${STRIPS_HEIGHT}
          role="img"
          aria-label=${this.#spokenPairs(model, state)}
          data-symbol="dim"
        >
          ${strips({
            headDim: state["head-dim"],
            rotaryDim: model.rotaryDim,
            trained: state.weights,
            code: state.code,
            rows: model.read,
            active: model.active,
            width,
            onPick: (pair) => this.set({ pair }),
          })}
        </svg>
        ${this.#plot(model, state, width)}
      </div>
      ${this.#controls(model, state)} ${this.#code(model, state)}
    `;
  }

  #spokenPairs(
    { active, rotaryDim, read }: Model,
    { weights: trained, code, "head-dim": headDim }: LayoutState,
  ): string {
    const [a, b] = components(active, trained, rotaryDim);
    const together = codePairs({ headDim, rotaryDim, trained, code, rows: read })
      .filter(({ stored }) => stored.includes(a) || stored.includes(b))
      .map(({ stored }) => stored.join(" with "));
    return `Components ${a} and ${b} were trained as pair ${active}. The code rotates ${together.join(", and ")}.`;
  }

  #plot(model: Model, { m, n }: LayoutState, width: number): TemplateResult {
    const { curves, scores, shown, reach } = model;
    const height = PLOT_HEIGHT;
    const every = [...curves.trained, ...curves.unpermuted];
    const [low, high] = [Math.min(...every), Math.max(...every)];
    const room = (high - low || 1) * 0.08;
    const x: Axis = { domain: [-reach, reach], range: [LEFT, width - 10] };
    const y: Axis = { domain: [low - room, high + room], range: [height - 40, 6] };
    const path = (values: Float64Array) =>
      linePath(
        values,
        (i) => place(x, i - reach),
        (score) => place(y, score),
      );
    const at = place(x, n - m);
    const [trained, here] = [scores.trained, scores[shown]];
    const difference = here - trained;
    const read = (event: PointerEvent) => {
      const offset = valueAt(x, share(event)[0] * width);
      this.#goTo(Math.round(clamp(offset, -reach, reach)));
    };
    return html`
      <div class="scores">
        <dl class="readout">
          <div data-symbol="pos"><dt class="pos">relative position</dt><dd>${signed(n - m)}</dd></div>
          <div><dt class="trained">as trained</dt><dd>${fixed(trained, 4)}</dd></div>
          <div><dt class="here">this code</dt><dd>${fixed(here, 4)}</dd></div>
          <div>
            <dt>difference</dt>
            <dd>${Math.abs(difference) < ROUNDING ? (difference === 0 ? "0" : significant(difference, 1)) : fixed(difference, 4)}</dd>
          </div>
        </dl>
        <svg
          class="plot"
          width=${width}
          height=${height}
          role="img"
          aria-label="Score against relative position, as trained and by this code"
          @pointerdown=${read}
          @pointermove=${(event: PointerEvent) => event.buttons === 1 && read(event)}
        >
          <rect class="field" x=${LEFT} y="0" width=${width - LEFT - 10} height=${height - 40}></rect>
          ${leftAxis(y, LEFT, ticks(y, 44))} ${bottomAxis(x, height - 40, ticks(x, 64))}
          <text class="axis-name pos" x=${width - 10} y=${height - 4} text-anchor="end" data-symbol="pos">
            relative position, key minus query
          </text>
          <path class="curve trained" d=${path(curves.trained)}></path>
          <path class="curve here" d=${path(curves[shown])}></path>
          <g class="cursor pos" data-symbol="pos">
            <line x1=${at} x2=${at} y1="0" y2=${height - 40}></line>
          </g>
          ${svg`<circle class="trained" cx=${at} cy=${place(y, trained)} r="5"></circle>
            <circle class="here" cx=${at} cy=${place(y, here)} r="3.5"></circle>`}
        </svg>
      </div>
    `;
  }

  /** Moves the query where it can, else the key. */
  #goTo(relativePosition: number): void {
    const m = this.state.n - relativePosition;
    if (m >= 0 && m <= LAST_POSITION) this.set({ m });
    else this.set({ m: Math.max(0, -relativePosition), n: Math.max(0, relativePosition) });
  }

  #controls({ rotaryDim, active }: Model, state: LayoutState): TemplateResult {
    const headDim = state["head-dim"];
    const layout = (name: "weights" | "code", label: string) =>
      choice({
        field: name,
        label,
        value: state[name],
        options: [
          ["interleaved", "interleaved: (2i, 2i + 1)"],
          ["half", "half: (i, i + rotary_dim/2)"],
        ],
        onInput: (value) => this.set({ [name]: value }),
      });
    return html`
      <div class="controls">
        ${layout("weights", "the weights were trained with")} ${layout("code", "the code rotates")}
        ${toggle({
          field: "permute",
          label: "permute the rows of W_Q and W_K for the code",
          checked: state.permute,
          onInput: (permute) => this.set({ permute }),
        })}
        ${slider({
          field: "m",
          label: "position of the query",
          symbol: "pos",
          value: state.m,
          min: 0,
          max: 64,
          most: LAST_POSITION,
          spoken: `position ${state.m}`,
          onInput: (m) => this.set({ m }),
        })}
        ${slider({
          field: "n",
          label: "position of the key",
          symbol: "pos",
          value: state.n,
          min: 0,
          max: 64,
          most: LAST_POSITION,
          spoken: `position ${state.n}`,
          onInput: (n) => this.set({ n }),
        })}
        ${slider({
          field: "pair",
          label: "marked pair",
          symbol: "dim",
          value: active,
          min: 0,
          max: Math.max(1, rotaryDim / 2 - 1),
          spoken: `pair ${active} of ${rotaryDim / 2}`,
          onInput: (pair) => this.set({ pair: Math.min(pair, rotaryDim / 2 - 1) }),
        })}
        ${slider({
          field: "head-dim",
          label: "head_dim",
          value: headDim,
          min: 2,
          max: MOST_COMPONENTS,
          step: 2,
          spoken: `${headDim} components`,
          onInput: (value) =>
            this.set({
              "head-dim": value,
              "rotary-dim": this.state["rotary-dim"] < value ? this.state["rotary-dim"] : 0,
            }),
        })}
        ${slider({
          field: "rotary-dim",
          label: "rotary_dim",
          value: rotaryDim,
          min: 2,
          max: Math.max(4, headDim),
          step: 2,
          spoken: `${rotaryDim} of ${headDim} components`,
          onInput: (value) => this.set({ "rotary-dim": value >= this.state["head-dim"] ? 0 : value }),
        })}
        <div class="control vectors" data-field="seed">
          <button type="button" @click=${() => this.set({ seed: (this.state.seed + 1) % 2 ** 31 })}>New q and k</button>
          <span>${state.seed === 0 ? "q = (1, …, d)/d, k backwards" : `random, seed ${state.seed}`}</span>
        </div>
      </div>
    `;
  }

  #code({ rotaryDim, rows }: Model, { weights, code, "head-dim": headDim }: LayoutState): TemplateResult {
    return html`
      <pre class="code"><code>rows = ${rowsInNumpy(weights, code, rotaryDim, headDim)}
# ${rows.join(" ")}
W_q = W_q.reshape(num_heads, ${headDim}, -1)[:, rows].reshape(W_q.shape)  # W_k alike</code></pre>
    `;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    takeawayRoom([0, 11.6], [390, 7.25], [560, 5.8], [720, 4.35]),
    css`
      .stage {
        display: grid;
        gap: var(--pe-space-3) ${GAP}px;
      }
      .stage.wide {
        grid-template-columns: 1fr 1fr;
      }
      svg {
        display: block;
        overflow: visible;
      }

      .cell rect {
        fill: var(--pe-bg);
        stroke: var(--pe-ink-2);
        stroke-width: 1;
      }
      .cell text {
        fill: var(--pe-ink);
      }
      .cell:not(.tail) {
        cursor: pointer;
      }
      .cell.tail rect {
        fill: var(--pe-surface);
        stroke-opacity: 0.5;
      }
      .cell.tail text {
        fill: var(--pe-ink-2);
      }
      .cell.active rect {
        fill: var(--pe-dim);
        stroke: var(--pe-dim);
      }
      .cell.active text {
        fill: var(--pe-bg);
        font-weight: 600;
      }
      .arc,
      .follow {
        fill: none;
        stroke: var(--pe-ink-2);
        stroke-width: 1.25;
      }
      .follow {
        stroke-opacity: 0.45;
        stroke-width: 1;
      }
      .follow.tail {
        stroke-opacity: 0.25;
      }
      .arc.wrong {
        stroke-dasharray: 4 3;
      }
      .arc.active,
      .follow.active {
        stroke: var(--pe-dim);
        stroke-width: 2.5;
        stroke-opacity: 1;
      }
      [data-lit="dim"] .arc.active {
        stroke-width: 4;
      }
      svg text.name {
        fill: var(--pe-ink);
      }

      .readout {
        display: grid;
        grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: var(--pe-space-2) var(--pe-space-3);
        margin-bottom: var(--pe-space-2);
      }
      @container (min-width: 440px) {
        .readout {
          grid-template-columns: repeat(4, auto);
          justify-content: space-between;
        }
      }
      .readout dt {
        color: var(--pe-ink-2);
      }
      .readout dt.pos {
        color: var(--pe-pos);
      }
      .readout dt.trained {
        color: var(--pe-rope);
      }
      .readout dt.here {
        color: var(--pe-ink);
      }
      .readout dd {
        font-size: var(--pe-text-m);
        font-weight: 600;
      }
      .plot {
        cursor: crosshair;
        touch-action: pan-y pinch-zoom;
      }
      .field {
        fill: transparent;
      }
      .curve {
        fill: none;
        stroke-width: 2.5;
        stroke: var(--pe-rope);
        stroke-linejoin: round;
      }
      .curve.here {
        stroke: var(--pe-ink);
        stroke-width: 1.5;
        stroke-dasharray: 5 3;
      }
      circle.trained {
        fill: var(--pe-rope);
        stroke: var(--pe-bg);
      }
      circle.here {
        fill: var(--pe-ink);
        stroke: var(--pe-bg);
      }
      .cursor line {
        stroke: var(--pe-pos);
      }
      [data-lit="pos"] .cursor line {
        stroke-width: 2.5;
      }
      svg text.axis-name {
        fill: var(--pe-pos);
      }
      .vectors {
        grid-template-columns: auto 1fr;
        align-self: end;
      }
      .vectors span {
        color: var(--pe-ink-2);
      }
      .code {
        margin: 0;
        padding: var(--pe-space-2) var(--pe-space-3);
        border-radius: var(--pe-radius);
        background: var(--pe-surface);
        font: 13px / 1.5 var(--pe-font-mono);
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        min-height: 8.5em;
      }
      @container (min-width: 620px) {
        .code {
          min-height: 5.8em;
        }
      }
    `,
  ];
}

define("pe-layout", PeLayout);
