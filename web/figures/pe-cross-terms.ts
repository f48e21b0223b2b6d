// The four terms of a logit when positions are added to tokens, and what W_Q W_Kᵀ leaves of the pattern of PE · PE.
// Based on: Ke et al. 2020, Rethinking Positional Encoding in Language Pre-training, equation 2.

import { type CSSResultGroup, css, html, type SVGTemplateResult, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, leftAxis, place, ticks } from "../draw/axis.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow } from "./figure.ts";
import { fixed, significant } from "./format.ts";
import { cellAt, mapGrid, mapGridStyles, walk } from "./map-grid.ts";
import { paintBar, paintMatrix } from "./matrix-map.ts";
import { randomNormalArray } from "./numpy.ts";
import { FieldError, type State } from "./state.ts";

const fields = {
  weights: { kind: "choice", fallback: "random", choices: ["random", "identity"] },
  seed: { kind: "integer", fallback: 0, min: 0, max: 999999 },
  "seq-len": { kind: "integer", fallback: 32, min: 4, max: 64 },
  "d-model": { kind: "integer", fallback: 512, min: 2, max: 1024 },
  "head-dim": { kind: "integer", fallback: 64, min: 1, max: 256 },
  scale: { kind: "flag", fallback: true },
  query: { kind: "integer", fallback: 5, min: 0, max: 63 },
  key: { kind: "integer", fallback: 2, min: 0, max: 63 },
} as const;
type CrossState = State<typeof fields>;

/** Standard deviation of a fresh token table. */
const TOKEN_SIGMA = 0.02;

/** A map (seq_len, seq_len) of what query and key contribute, with its name and formula. */
interface Term {
  name: string;
  formula: string;
  values: Float64Array;
}

/** A map by itself: how much of its variance the offset explains, and the mean of each diagonal from 1 − seq_len. */
interface Pattern {
  values: Float64Array;
  limit: number;
  share: number;
  means: Float64Array;
}

interface Model {
  core: Posenc;
  seqLen: number;
  terms: Term[];
  sum: Float64Array;
  /** Each term's part of the mean square of all four, in percent. */
  shares: number[];
  /** The colours of terms and sum run from −limit to limit. */
  limit: number;
  before: Pattern;
  after: Pattern;
}

const at = (values: ArrayLike<number>, i: number): number => values[i] ?? Number.NaN;
const largest = (values: Float64Array): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const squares = (values: Float64Array): number => values.reduce((sum, value) => sum + value * value, 0);

/** How much of a square matrix's variance its diagonals explain, in percent: 100 for a Toeplitz matrix. */
function patternOf(values: Float64Array, n: number): Pattern {
  const means = new Float64Array(2 * n - 1);
  values.forEach((value, i) => {
    const diagonal = (i % n) - Math.floor(i / n) + n - 1;
    means[diagonal] = at(means, diagonal) + value / (n - Math.abs(diagonal - n + 1));
  });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const within = squares(values.map((value, i) => value - at(means, (i % n) - Math.floor(i / n) + n - 1)));
  const all = squares(values.map((value) => value - mean));
  return { values, limit: largest(values), share: all === 0 ? 100 : 100 * (1 - within / all), means };
}

/** The cell that is read; a shorter sequence pulls it in. */
function cellOf({ query, key, "seq-len": n }: CrossState): { query: number; key: number } {
  return { query: Math.min(query, n - 1), key: Math.min(key, n - 1) };
}

/** A square picture, with the row of space that its words take above and below. */
interface Slot {
  left: number;
  top: number;
  side: number;
}

interface Layout {
  terms: Slot[];
  /** Map and scatter before, map and scatter after. */
  patterns: Slot[];
  bar: { left: number; top: number };
  /** Top of the second picture's title. */
  second: number;
  height: number;
}

const LEFT = 42;
const ABOVE = 40;
const BELOW = 56;
const GAP = 26;
const BAR = 66;

/**
 * The four terms of a logit as heatmaps, their sum, and PE · PE before and after W_Q W_Kᵀ.
 *
 * @attr weights - random: W_Q and W_K are drawn; identity: A = W_Q W_Kᵀ is the identity.
 * @attr seed - Of tokens and weights.
 * @attr seq-len - Tokens.
 * @attr d-model - Dimensions, even.
 * @attr head-dim - Columns of the random W_Q and W_K.
 * @attr scale - Whether token vectors are multiplied by √d_model.
 * @attr query - The row that is read, from 0.
 * @attr key - The column that is read, from 0.
 * @cssprop --pe-q - Colour of the query.
 * @cssprop --pe-k - Colour of the key.
 * @cssprop --pe-pos - Colour of offsets.
 * @cssprop --pe-sinusoidal - Colour of the points at each offset.
 */
export class PeCrossTerms extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "The four terms of a logit";

  protected override compute(core: Posenc, state: CrossState): Model {
    const { seed, "seq-len": n, "d-model": d, "head-dim": headDim } = state;
    if (d % 2 !== 0) throw new FieldError(`d-model must be even, got ${d}`);
    const sigma = TOKEN_SIGMA * (state.scale ? Math.sqrt(d) : 1);
    const x = core.randomNormal(n * d, 3 * seed, sigma);
    const p = core.sinusoidalRows(
      Float64Array.from({ length: n }, (_, i) => i),
      { dModel: d },
    );
    const dots = core.similarity(p, n, d);
    const weight = (part: number) => core.randomNormal(d * headDim, 3 * seed + part, 1 / Math.sqrt(d));
    const all =
      state.weights === "identity"
        ? identityTerms(core, x, p, n, d)
        : core.crossTerms(x, p, weight(1), weight(2), { seqLen: n, dModel: d, headDim });
    const terms = [
      ["content, content", "x A xᵀ"],
      ["content, position", "x A pᵀ"],
      ["position, content", "p A xᵀ"],
      ["position, position", "p A pᵀ"],
    ].map(([name = "", formula = ""], i) => ({
      name,
      formula,
      values: all.slice(i * n * n, (i + 1) * n * n),
    }));
    const sum = new Float64Array(n * n).map((_, i) =>
      terms.reduce((total, { values }) => total + at(values, i), 0),
    );
    const parts = terms.map(({ values }) => squares(values));
    const whole = parts.reduce((total, part) => total + part, 0);
    return {
      core,
      seqLen: n,
      terms,
      sum,
      shares: parts.map((part) => (100 * part) / whole),
      limit: Math.max(...terms.map(({ values }) => largest(values)), largest(sum)),
      before: patternOf(dots, n),
      after: patternOf(terms[3]?.values ?? dots, n),
    };
  }

  // ------------------------------------------------------------------------------------------------ picture

  #layout(): Layout {
    const wide = this.width >= 900;
    const columns = wide ? 5 : this.width >= 560 ? 3 : 2;
    const side = Math.floor((this.width - LEFT - (columns - 1) * GAP - (wide ? BAR : 0)) / columns);
    const slot = (place: number, per: number, size: number, top: number): Slot => ({
      left: LEFT + (place % per) * (size + GAP),
      top: top + ABOVE + Math.floor(place / per) * (ABOVE + size + BELOW),
      side: size,
    });
    const terms = [0, 1, 2, 3, 4].map((i) => slot(i, columns, side, 0));
    const bar = wide ? slot(5, 6, side, 0) : slot(5, columns, side, 0);
    const second = (terms[4]?.top ?? 0) + side + BELOW + 30;
    const four = this.width >= 560 ? 4 : 2;
    const small = Math.min(220, Math.floor((this.width - LEFT - (four - 1) * (GAP + 14)) / four));
    const patterns = [0, 1, 2, 3].map((i) => {
      const placed = slot(i, four, small, second + 16);
      return { ...placed, left: placed.left + (i % four) * 14 };
    });
    const bottom = patterns[3] as Slot;
    return {
      terms,
      patterns,
      bar: { left: wide ? bar.left - GAP + 14 : bar.left + 6, top: bar.top },
      second,
      height: bottom.top + small + BELOW,
    };
  }

  protected override picture(model: Model, state: CrossState): TemplateResult {
    const lay = this.#layout();
    const { query, key } = cellOf(state);
    const cell = query * model.seqLen + key;
    const parts = model.terms.map(({ name, values }) => `${name} ${fixed(at(values, cell), 2)}`).join("; ");
    const [first, fifth] = [lay.terms[0] as Slot, lay.terms[4] as Slot];
    const right = Math.max(...lay.terms.map(({ left, side }) => left + side));
    const grid = mapGrid({
      label:
        "The terms of each logit: arrow keys move, up and down to another query, left and right to another key",
      size: [model.seqLen, model.seqLen],
      cell: [query, key],
      words: `query ${query}, key ${key}: ${parts}; sum ${fixed(at(model.sum, cell), 2)}`,
      style: `left:${first.left}px;top:${first.top}px;width:${right - first.left}px;height:${fifth.top + fifth.side - first.top}px`,
      onKey: this.#walk,
    });
    const canvas = (slot: Slot, name: string) => html`<canvas
      class="map"
      data-map=${name}
      aria-hidden="true"
      .style=${`left:${slot.left}px;top:${slot.top}px;width:${slot.side}px;height:${slot.side}px`}
      @pointermove=${this.#point}
      @pointerdown=${this.#point}
    ></canvas>`;
    return html`
      ${this.#readout(model, state)}
      <div class="stage" data-picture .style=${`height:${lay.height}px`}>
        ${lay.terms.map((slot, i) => canvas(slot, String(i)))}
        ${canvas(lay.patterns[0] as Slot, "before")} ${canvas(lay.patterns[2] as Slot, "after")}
        <canvas data-map="bar" aria-hidden="true" .style=${`left:${lay.bar.left}px;top:${lay.bar.top}px;width:12px;height:${first.side}px`}></canvas>
        <svg class="over" width=${this.width} height=${lay.height} aria-hidden="true">
          ${this.#terms(model, state, lay)} ${this.#patterns(model, state, lay)}
        </svg>
        ${grid}
      </div>
      ${this.#controls(state)}
    `;
  }

  #readout({ terms, sum, seqLen }: Model, state: CrossState): TemplateResult {
    const { query, key } = cellOf(state);
    const cell = query * seqLen + key;
    return html`
      <p class="readout">
        <span class="q" data-symbol="q">query <b>${query}</b></span>
        <span class="k" data-symbol="k">key <b>${key}</b></span>
        <span class="equation">
          ${terms.map(({ values }, i) => {
            const value = at(values, cell);
            const sign = value < 0 ? "−" : i > 0 ? "+" : "";
            return html`<span>${sign}${i > 0 ? " " : ""}${fixed(Math.abs(value), 2)} </span>`;
          })}
          <span>= <b>${fixed(at(sum, cell), 2)}</b></span>
        </span>
      </p>
    `;
  }

  /** Frame, axes and the cell that is read, over one map. */
  #frame({ left, top, side }: Slot, state: CrossState, rows: boolean): SVGTemplateResult {
    const n = state["seq-len"];
    const { query, key } = cellOf(state);
    const unit = side / n;
    const x: Axis = { domain: [0, n], range: [left, left + side] };
    const y: Axis = { domain: [0, n], range: [top, top + side] };
    const marks = ticks({ ...x, domain: [0, n - 1] }, 36).filter(Number.isInteger);
    const box = { x: left + key * unit - 1.5, y: top + query * unit - 1.5, size: unit + 3 };
    return svg`
      <rect class="frame" x=${left - 0.5} y=${top - 0.5} width=${side + 1} height=${side + 1}></rect>
      <rect class="cell under" x=${box.x} y=${box.y} width=${box.size} height=${box.size}></rect>
      <rect class="cell" x=${box.x} y=${box.y} width=${box.size} height=${box.size}></rect>
      ${bottomAxis(x, top + side + 0.5, marks, 0.5)} ${rows ? leftAxis(y, left - 0.5, marks, 0.5) : ""}`;
  }

  #terms({ terms, shares, limit }: Model, state: CrossState, lay: Layout): SVGTemplateResult {
    const first = lay.terms[0] as Slot;
    return svg`
      ${lay.terms.map((slot, i) => {
        const { left, top, side } = slot;
        const term = terms[i];
        const share = shares[i] ?? 0;
        return svg`
          <text class="name" x=${left} y=${top - 24}>${term?.name ?? "their sum"}</text>
          <text x=${left} y=${top - 8}>${term?.formula ?? "the logit before scaling"}</text>
          ${this.#frame(slot, state, left === LEFT)}
          ${i > 0 && svg`<text class="sign" x=${left - GAP / 2} y=${left > LEFT ? top + side / 2 : top - 16} text-anchor="middle" dominant-baseline="central">${i < 4 ? "+" : "="}</text>`}
          ${
            term &&
            svg`<line class="rule" x1=${left} x2=${left + side} y1=${top + side + 46} y2=${top + side + 46}></line>
              <line class="share" x1=${left} x2=${left + (side * share) / 100} y1=${top + side + 46} y2=${top + side + 46}></line>
              <text class="value" x=${left + side} y=${top + side + 38} text-anchor="end">${fixed(share, 1)} %</text>`
          }`;
      })}
      <text class="q" data-symbol="q" x="0" y=${first.top - 8}>query</text>
      <text class="k" data-symbol="k" x=${first.left} y=${first.top + first.side + 38}>key</text>
      <rect class="frame" x=${lay.bar.left - 0.5} y=${lay.bar.top - 0.5} width="13" height=${first.side + 1}></rect>
      ${[limit, 0, -limit].map(
        (
          value,
          i,
        ) => svg`<text x=${lay.bar.left + 18} y=${lay.bar.top + 6 + (i * (first.side - 12)) / 2} dominant-baseline="central">
          ${significant(value, 3)}</text>`,
      )}`;
  }

  #patterns({ before, after }: Model, state: CrossState, lay: Layout): SVGTemplateResult {
    const n = state["seq-len"];
    const { query, key } = cellOf(state);
    const dot = n < 12 ? 4 : 1.8;
    const one = (pattern: Pattern, name: string, map: Slot, plot: Slot) => {
      const { left, top, side } = plot;
      const x: Axis = { domain: [1 - n, n - 1], range: [left + 4, left + side - 4] };
      const y: Axis = { domain: [-pattern.limit, pattern.limit], range: [top + side - 4, top + 4] };
      const value = at(pattern.values, query * n + key);
      return svg`
        <text class="name" x=${map.left} y=${map.top - 24}>${name}</text>
        <text x=${map.left} y=${map.top - 8}>±${significant(pattern.limit, 3)}</text>
        ${this.#frame(map, state, map.left === LEFT)}
        <text class="value" x=${left} y=${top - 24}>by offset</text>
        <text x=${left} y=${top - 8}>explains ${fixed(pattern.share, 0)} %</text>
        <rect class="frame" x=${left - 0.5} y=${top - 0.5} width=${side + 1} height=${side + 1}></rect>
        <line class="rule" x1=${left} x2=${left + side} y1=${place(y, 0)} y2=${place(y, 0)}></line>
        <path class="points" d=${Array.from(pattern.values, (entry, i) => {
          const [px, py] = [place(x, (i % n) - Math.floor(i / n)) - dot / 2, place(y, entry) - dot / 2];
          return `M${px.toFixed(1)} ${py.toFixed(1)}h${dot}v${dot}h-${dot}z`;
        }).join("")}></path>
        <circle class="here" data-symbol="pos" cx=${place(x, key - query)} cy=${place(y, value)} r="4"></circle>
        ${bottomAxis(x, top + side + 0.5, ticks(x, 40).filter(Number.isInteger))}
        <text class="pos" data-symbol="pos" x=${left + side} y=${top + side + 38} text-anchor="end">
          key − query</text>`;
    };
    const [a, b, c, e] = lay.patterns as [Slot, Slot, Slot, Slot];
    return svg`
      <text class="title" x="0" y=${lay.second}>PE · PE before and after A</text>
      ${one(before, "before: p pᵀ", a, b)} ${one(after, "after: p A pᵀ", c, e)}`;
  }

  #controls(state: CrossState): TemplateResult {
    const identity = state.weights === "identity";
    return html`
      <div class="controls">
        ${choice({
          field: "weights",
          label: "A = W_Q W_Kᵀ",
          value: state.weights,
          options: [
            ["random", "random, as before training"],
            ["identity", "the identity"],
          ],
          onInput: (value) => this.set({ weights: value as CrossState["weights"] }),
        })}
        ${slider({
          field: "seed",
          label: "seed of tokens and weights",
          value: state.seed,
          min: 0,
          max: 99,
          most: fields.seed.max,
          onInput: (seed) => this.set({ seed }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len: tokens",
          symbol: "pos",
          value: state["seq-len"],
          min: fields["seq-len"].min,
          max: fields["seq-len"].max,
          onInput: (value) => this.set({ "seq-len": value }),
        })}
        ${slider({
          field: "d-model",
          label: "d_model: dimensions",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: fields["d-model"].max,
          step: 2,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        ${slider({
          field: "head-dim",
          label: identity ? "head_dim: not in the identity" : "head_dim: columns of W_Q, W_K",
          value: state["head-dim"],
          min: fields["head-dim"].min,
          max: fields["head-dim"].max,
          onInput: (value) => this.set({ "head-dim": value }),
        })}
        ${toggle({
          field: "scale",
          label: "token vectors × √d_model",
          checked: state.scale,
          onInput: (scale) => this.set({ scale }),
        })}
      </div>
    `;
  }

  // ------------------------------------------------------------------------------------------------ reading

  #point = (event: PointerEvent): void => {
    if (event.pointerType !== "mouse" && event.type === "pointermove" && event.buttons !== 1) return;
    const n = this.state["seq-len"];
    const cell = cellOf(this.state);
    const [query, key] = cellAt(share(event), [n, n]);
    if (query !== cell.query || key !== cell.key) this.set({ query, key });
  };

  #walk = (event: KeyboardEvent): void => {
    const { query, key } = cellOf(this.state);
    const to = walk(event, [query, key], this.state["seq-len"]);
    if (to) this.set({ query: to[0], key: to[1] });
  };

  // -------------------------------------------------------------------------------------------------- words

  protected override takeaway({ shares, before, after }: Model, state: CrossState): string {
    const [content, position] = [shares[0] ?? 0, shares[3] ?? 0];
    const a = state.weights === "identity" ? "with the identity as A" : "with this random A";
    return (
      `Position–position has ${fixed(position, 1)} % of the mean square, content–content ${fixed(content, 1)} %. ` +
      `The offset explains ${fixed(before.share, 0)} % of the variance of PE · PE without A, and ` +
      `${fixed(after.share, 0)} % ${a}.`
    );
  }

  protected override dataTable({ terms, sum, before, seqLen: n }: Model): DataTable {
    return {
      caption: "The terms of each logit",
      head: ["query", "key", ...terms.map(({ name }) => name), "sum", "PE · PE"],
      rows: Array.from(sum, (total, i) => [
        Math.floor(i / n),
        i % n,
        ...terms.map(({ values }) => fixed(at(values, i), 4)),
        fixed(total, 4),
        fixed(at(before.values, i), 4),
      ]),
    };
  }

  protected override array({ terms, seqLen }: Model): NamedArray {
    return {
      name: "cross_terms",
      shape: [terms.length, seqLen, seqLen],
      values: Float64Array.from(terms.flatMap(({ values }) => Array.from(values))),
    };
  }

  protected override numpy(state: CrossState): string {
    const { seed, "seq-len": n, "d-model": d, "head-dim": headDim } = state;
    const matrix =
      state.weights === "identity"
        ? `np.eye(${d})`
        : `random_normal(${3 * seed + 1}, (${d}, ${headDim}), ${d}**-0.5) @ random_normal(${3 * seed + 2}, (${d}, ${headDim}), ${d}**-0.5).T`;
    return `import matplotlib.pyplot as plt
import numpy as np

${randomNormalArray("sigma")}

def explained(matrix):
    """Share of the variance that the offset explains."""
    offset = np.arange(${n})[None, :] - np.arange(${n})[:, None]
    within = sum(((matrix[offset == o] - matrix[offset == o].mean()) ** 2).sum() for o in range(${1 - n}, ${n}))
    return 1 - within / ((matrix - matrix.mean()) ** 2).sum()

x = random_normal(${3 * seed}, (${n}, ${d}), ${TOKEN_SIGMA}${state.scale ? ` * ${d}**0.5` : ""})
angle = np.arange(${n})[:, None] * 10000.0 ** (-2 * np.arange(${d / 2}) / ${d})
p = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(${n}, ${d})
A = ${matrix}

terms = [x @ A @ x.T, x @ A @ p.T, p @ A @ x.T, p @ A @ p.T]
squares = np.array([(term**2).mean() for term in terms])
maps = [*terms, sum(terms)]
limit = max(np.abs(m).max() for m in maps)
names = [f"{name} {share:.1%}" for name, share in zip(["xx", "xp", "px", "pp"], squares / squares.sum())] + ["sum"]

figure, axes = plt.subplots(2, 5, figsize=(15, 6), layout="constrained")
for ax, values, name in zip(axes[0], maps, names):
    ax.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set_title(name)
for column, values in ((0, p @ p.T), (2, terms[3])):
    end = np.abs(values).max()
    axes[1, column].imshow(values, cmap="RdBu", vmin=-end, vmax=end)
    axes[1, column + 1].plot((np.arange(${n})[None, :] - np.arange(${n})[:, None]).ravel(), values.ravel(), ",")
    axes[1, column + 1].set_title(f"offset explains {explained(values):.0%}")
axes[1, 4].axis("off")
plt.show()
`;
  }

  protected override draw(model: Model): void {
    const lay = this.#layout();
    const [side, small] = [devicePixels(lay.terms[0]?.side ?? 1), devicePixels(lay.patterns[0]?.side ?? 1)];
    const key = [model.sum, model.limit, side, small];
    if (key.every((part, i) => part === this.painted[i])) return;
    this.painted = key;
    const { core, seqLen, terms, sum, limit, before, after } = model;
    const canvas = (name: string) =>
      this.renderRoot.querySelector(`canvas[data-map="${name}"]`) as HTMLCanvasElement;
    const map = (name: string, values: Float64Array, end: number, slot: Slot | undefined) => {
      const matrix = { values: Float32Array.from(values), rows: seqLen, columns: seqLen };
      const size = slot?.side ?? 1;
      paintMatrix(canvas(name), core, matrix, end, [size, size]);
    };
    [...terms.map(({ values }) => values), sum].forEach((values, i) => {
      map(String(i), values, limit, lay.terms[0]);
    });
    map("before", before.values, before.limit, lay.patterns[0]);
    map("after", after.values, after.limit, lay.patterns[0]);
    paintBar(canvas("bar"), core, true);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    readoutRow([0, 3], [560, 1.5]),
    css`
      .takeaway {
        min-height: 8.7em;
      }
      .stage {
        position: relative;
      }
      .stage canvas,
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
      .over {
        position: absolute;
        inset: 0;
        overflow: visible;
        pointer-events: none;
      }
      svg text.name,
      svg text.value {
        fill: var(--pe-ink);
      }
      svg text.name {
        font-weight: 600;
      }
      svg text.title {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      svg text.sign {
        fill: var(--pe-ink);
        font-size: 18px;
      }
      .frame {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .cell {
        fill: none;
        stroke: var(--pe-ink);
        stroke-width: 1.5;
      }
      .cell.under {
        stroke: var(--pe-bg);
        stroke-width: 4;
      }
      .rule {
        stroke: var(--pe-rule);
      }
      .share {
        stroke: var(--pe-ink);
        stroke-width: 3;
      }
      .points {
        fill: var(--pe-sinusoidal);
      }
      .here {
        fill: var(--pe-pos);
        stroke: var(--pe-bg);
        stroke-width: 1.5;
      }
      [data-lit="q"] text[data-symbol="q"],
      [data-lit="k"] text[data-symbol="k"],
      [data-lit="pos"] text[data-symbol="pos"] {
        text-decoration: underline;
      }
      @container (min-width: 560px) {
        .takeaway {
          min-height: 4.4em;
        }
      }
    `,
  ];
}

/** The four terms for A = I: the quarters of (x; p) times its transpose. */
function identityTerms(core: Posenc, x: Float64Array, p: Float64Array, n: number, d: number): Float64Array {
  const stacked = new Float64Array(2 * n * d);
  stacked.set(x);
  stacked.set(p, n * d);
  const dots = core.similarity(stacked, 2 * n, d); // (2n, 2n)
  return new Float64Array(4 * n * n).map((_, i) => {
    const [term, cell] = [Math.floor(i / (n * n)), i % (n * n)];
    const row = Math.floor(cell / n) + (term >= 2 ? n : 0);
    const column = (cell % n) + (term % 2 === 1 ? n : 0);
    return at(dots, row * 2 * n + column);
  });
}

define("pe-cross-terms", PeCrossTerms);

declare global {
  interface HTMLElementTagNameMap {
    "pe-cross-terms": PeCrossTerms;
  }
}
