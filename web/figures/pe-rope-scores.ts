// Scores of a whole sequence before and after RoPE, and what is left of a score with distance.
// Based on: Su et al. 2021, RoFormer, sections 3.2.2 and 3.3; Barbero et al. 2024, Round and Round We Go.

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { fixed, signed, significant } from "./format.ts";
import { cellAt, walk } from "./map-grid.ts";
import { paintBar, paintMatrix } from "./matrix-map.ts";
import { float, randomNormalArray } from "./numpy.ts";
import { FieldError, type State } from "./state.ts";

const fields = {
  "seq-len": { kind: "integer", fallback: 16, min: 2, max: 64 },
  "head-dim": { kind: "integer", fallback: 64, min: 2, max: 128 },
  "rope-theta": { kind: "number", fallback: 10000, min: 1, max: 1e9 },
  repeat: { kind: "flag", fallback: true },
  seed: { kind: "integer", fallback: 6, min: 0, max: 2 ** 31 - 1 },
  curve: { kind: "choice", fallback: "mean-cosine", choices: ["mean-cosine", "q-k"] },
  distance: { kind: "integer", fallback: 100, min: 0, max: 4096 },
  "max-offset": { kind: "integer", fallback: 1024, min: 8, max: 4096 },
} as const;
type ScoresState = State<typeof fields>;

/** A map of scores (query, key) and the largest difference between two entries of one diagonal. */
interface ScoreMap {
  scores: Float64Array;
  pixels: Float32Array;
  spread: number;
}

interface Model {
  seqLen: number;
  before: ScoreMap;
  after: ScoreMap;
  /** The colours run from −limit to limit. */
  limit: number;
  core: Posenc;
  /** Score at distance 0..max-offset, the key before the query. */
  curve: Float64Array;
  /** The first distance after which the curve rises, and the first where its sign is not that at 0; −1: none. */
  rise: number;
  crossing: number;
}

interface Cell {
  query: number;
  key: number;
}

/** Largest difference between two entries of one diagonal of (size, size). */
function largestSpread(scores: Float64Array, size: number): number {
  let largest = 0;
  for (let offset = 1 - size; offset < size; offset++) {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let query = Math.max(0, -offset); query < size && query + offset < size; query++) {
      const score = scores[query * size + query + offset] ?? 0;
      low = Math.min(low, score);
      high = Math.max(high, score);
    }
    largest = Math.max(largest, high - low);
  }
  return largest;
}

/** The next round number. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value || 1));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((most) => most * unit >= value) ?? 10;
  return Number((step * unit).toPrecision(2));
}

/** The usual values of a parameter and the one it has, as options. */
const list = (usual: number[], own: number): (readonly [string, string])[] =>
  [...new Set([...usual, own])]
    .sort((a, b) => a - b)
    .map((value) => [String(value), fixed(value, Number.isInteger(value) ? 0 : 3)]);
const crosses = ({ curve }: ScoresState): string =>
  curve === "q-k" ? "first changes sign" : "is first negative";

/**
 * QKᵀ of a sequence before and after the rotation, one diagonal at a time, and the curve of the score against
 * distance.
 *
 * @attr seq-len - Positions.
 * @attr head-dim - Components of q and k, even.
 * @attr rope-theta - The base of the frequencies.
 * @attr repeat - Whether one q and one k stand at every position; else rows are independent.
 * @attr seed - Chooses the vectors.
 * @attr curve - mean-cosine: q = k with equal weight in every pair, relative to distance 0; q-k: the first q and k.
 * @attr distance - Where the curve is read.
 * @attr max-offset - Last distance of the curve.
 * @cssprop --pe-q - Colour of queries.
 * @cssprop --pe-k - Colour of keys.
 * @cssprop --pe-pos - Colour of positions and distances.
 * @cssprop --pe-rope - Colour of the curve.
 */
export class PeRopeScores extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "Scores before and after the rotation";

  /** The cell that is read, and the distance under the pointer. */
  #cell: Cell = { query: 5, key: 2 };
  #hover: number | undefined;

  protected override compute(core: Posenc, state: ScoresState): Model {
    const { seed, repeat, "seq-len": seqLen, "head-dim": headDim, "rope-theta": ropeTheta } = state;
    if (headDim % 2 !== 0) throw new FieldError(`head-dim must be even, got ${headDim}`);
    if (state.distance > state["max-offset"]) {
      throw new FieldError(
        `distance must be at most max-offset, here ${state["max-offset"]}, got ${state.distance}`,
      );
    }
    // Rows q0, k0, q1, k1, …: the first pair is the same for every seq_len, repeated or not.
    const random = core.randomNormal(2 * seqLen * headDim, seed);
    const rows = (which: 0 | 1): Float64Array =>
      Float64Array.from({ length: seqLen * headDim }, (_, i) => {
        const row = repeat ? 0 : Math.floor(i / headDim);
        return random[(2 * row + which) * headDim + (i % headDim)] ?? 0;
      });
    const [q, k] = [rows(0), rows(1)];
    const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta });
    const positions = Float64Array.from({ length: seqLen }, (_, i) => i);
    const { cos, sin } = core.ropeCosSin(positions, invFreq);
    const turned = (x: Float64Array) => core.ropeApply(x, cos, sin, { seqLen, headDim });
    const map = (queries: Float64Array, keys: Float64Array): ScoreMap => {
      const { logits } = core.attention(queries, keys, keys, { seqLen, headDim, scale: 1 });
      return { scores: logits, pixels: Float32Array.from(logits), spread: largestSpread(logits, seqLen) };
    };
    const [before, after] = [map(q, k), map(turned(q), turned(k))];
    const largest = [...before.scores, ...after.scores].reduce((most, v) => Math.max(most, Math.abs(v)), 0);

    const offsets = Float64Array.from({ length: state["max-offset"] + 1 }, (_, i) => -i);
    const curve =
      state.curve === "q-k"
        ? core.ropeScoreByOffset(offsets, q.slice(0, headDim), k.slice(0, headDim), invFreq)
        : core.dotByOffset(offsets, invFreq).map((sum) => sum / invFreq.length);
    this.#cell = {
      query: Math.min(this.#cell.query, seqLen - 1),
      key: Math.min(this.#cell.key, seqLen - 1),
    };
    return {
      seqLen,
      before,
      after,
      limit: roundUp(largest),
      core,
      curve,
      rise: curve.findIndex((value, i) => (curve[i + 1] ?? Number.NEGATIVE_INFINITY) > value),
      crossing: curve.findIndex((value) => value * (curve[0] ?? 0) < 0),
    };
  }

  protected override takeaway(model: Model, state: ScoresState): string {
    const { before, after, curve, rise, crossing } = model;
    const maps = state.repeat
      ? `One q and one k repeated: after the rotation the scores on each diagonal agree to ${significant(after.spread, 1)}, and before it all scores are one number.`
      : `Independent rows: scores on one diagonal differ by up to ${fixed(before.spread, 1)} before the rotation and ${fixed(after.spread, 1)} after it, so a diagonal of random rows proves nothing.`;
    const at = (distance: number) => `${fixed(curve[distance] ?? 0, 2)} at ${distance}`;
    const last = curve.length - 1;
    const known = last >= 100 ? `${at(50)}, ${at(100)}` : at(last);
    const steady =
      rise < 0
        ? `falls at every step to ${last}`
        : `rises again after ${rise} and ${crossing < 0 ? `keeps its sign to ${last}` : `${crosses(state)} at ${crossing}`}: no steady decay`;
    return `${maps} With distance the ${state.curve === "q-k" ? "score of this q and k" : "mean cosine"} is ${known}; it ${steady}.`;
  }

  protected override dataTable({ seqLen, before, after }: Model): DataTable {
    const cells = Array.from(before.scores, (score, i) => {
      const [query, key] = [Math.floor(i / seqLen), i % seqLen];
      return [query, key, signed(key - query), fixed(score, 4), fixed(after.scores[i] ?? 0, 4)];
    });
    return {
      caption: "Each score before and after the rotation",
      head: ["query", "key", "relative position", "before", "after"],
      rows: cells,
    };
  }

  protected override numpy(state: ScoresState): string {
    const { seed, repeat, "seq-len": seqLen, "head-dim": headDim, "rope-theta": theta } = state;
    const mean = state.curve === "mean-cosine";
    return `import matplotlib.pyplot as plt
import numpy as np

${randomNormalArray("sigma=1.0")}

seq_len, head_dim, rope_theta, max_offset = ${seqLen}, ${headDim}, ${float(theta)}, ${state["max-offset"]}
rows = random_normal(${seed}, (seq_len, 2, head_dim))${repeat ? "[[0] * seq_len]  # one q and one k, repeated" : ""}
q, k = rows[:, 0], rows[:, 1]
inv_freq = rope_theta ** (-np.arange(0, head_dim, 2) / head_dim)
turns = np.exp(1j * np.arange(seq_len)[:, None] * inv_freq)

def pairs(x):
    return x[:, 0::2] + 1j * x[:, 1::2]

before = q @ k.T
after = np.real(pairs(q) * turns @ np.conj(pairs(k) * turns).T)
limit = max(np.abs(before).max(), np.abs(after).max())

distance = np.arange(max_offset + 1)  # query minus key
turn = np.exp(1j * distance[:, None] * inv_freq)
curve = ${mean ? "turn.real.mean(axis=1)" : "np.real(turn * pairs(q)[0] * np.conj(pairs(k)[0])).sum(axis=1)"}

figure = plt.figure(figsize=(10, 7), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(3, 2))
for ax, scores, title in zip(top.subplots(1, 2), (before, after), ("Before", "After")):
    image = ax.imshow(scores, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(title=title, xlabel="key", ylabel="query")
top.colorbar(image, ax=top.axes)
ax = bottom.subplots()
ax.plot(distance, curve)
ax.axhline(0, color="grey", linewidth=1)
ax.set(xlabel="distance, query minus key", ylabel="${mean ? "mean cosine" : "score"}")
plt.show()
`;
  }

  protected override array({ seqLen, before, after }: Model): NamedArray {
    const values = Float64Array.of(...before.scores, ...after.scores);
    return { name: "scores", shape: [2, seqLen, seqLen], values };
  }

  // ------------------------------------------------------------------------------------------------ reading

  #read([query, key]: readonly [query: number, key: number]): void {
    this.#cell = { query, key };
    this.requestUpdate();
  }

  #point = (event: PointerEvent): void => {
    const { seqLen = 1 } = this.model ?? {};
    this.#read(cellAt(share(event), [seqLen, seqLen]));
  };

  #walk = (event: KeyboardEvent): void => {
    const { query, key } = this.#cell;
    const to = walk(event, [query, key], this.model?.seqLen ?? 1);
    if (to) this.#read(to);
  };

  #overCurve(event: PointerEvent, x: Axis, take: boolean): void {
    const plot = event.currentTarget as SVGElement;
    const pixel = share(event)[0] * Number(plot.getAttribute("width"));
    const distance = clamp(Math.round(valueAt(x, pixel)), 0, x.domain[1]);
    if (take) {
      this.#hover = undefined;
      this.set({ distance });
    } else {
      this.#hover = distance;
      this.requestUpdate();
    }
  }

  // ------------------------------------------------------------------------------------------------ picture

  get #wide(): boolean {
    return this.width >= 760;
  }
  /** Side of a map in pixels: a whole number of screen pixels for each cell is not needed, the core sees to it. */
  get #side(): number {
    const room = this.#wide ? Math.min(this.width * 0.62, 660) : this.width;
    return Math.floor(Math.min(310, (room - LEFT - GAP) / 2));
  }

  protected override picture(model: Model, state: ScoresState): TemplateResult {
    return html`
      <div class="stage ${this.#wide ? "wide" : this.width >= 620 ? "mid" : ""}">
        <div class="maps" data-picture>${this.#maps(model)}</div>
        <div class="beside">${this.#readout(model)} ${this.#mapControls(state)}</div>
        <div class="plot">${this.#curve(model, state)}</div>
        <div class="controls below">${this.#curveControls(state)}</div>
      </div>
    `;
  }

  #maps(model: Model): TemplateResult {
    const { seqLen } = model;
    const side = this.#side;
    const x: Axis = { domain: [0, seqLen], range: [0, side] };
    const marks = ticks({ ...x, domain: [0, seqLen - 1] }, 40).filter(Number.isInteger);
    const map = (which: "before" | "after") => {
      const { scores, spread } = model[which];
      const { query, key } = this.#cell;
      const score = scores[query * seqLen + key] ?? 0;
      const unit = side / seqLen;
      const offset = key - query;
      const [row, col] = [Math.max(0, -offset), Math.max(0, offset)];
      const run = seqLen - Math.abs(offset);
      // Around the diagonal from corner to corner; around small cells with some room, so that they stay seen.
      const pad = Math.max(0, 8 - unit) / 2;
      const corner = (right: number, down: number, out: number) =>
        `${(right * unit + out).toFixed(1)},${(down * unit - out).toFixed(1)}`;
      const band = [
        corner(col, row, 0),
        corner(col + 1, row, pad),
        corner(col + run, row + run - 1, pad),
        corner(col + run, row + run, 0),
        corner(col + run - 1, row + run, -pad),
        corner(col, row + 1, -pad),
      ].join(" ");
      const name = which === "before" ? "before the rotation" : "after the rotation";
      return html`
        <div class="map" .style=${`width:${side}px`}>
          <p class="name">${which === "before" ? "Before" : "After"}</p>
          <div
            class="grid"
            role="grid"
            tabindex="0"
            id=${which}
            aria-label="Scores ${name}, ${seqLen} queries by ${seqLen} keys"
            aria-rowcount=${seqLen}
            aria-colcount=${seqLen}
            aria-activedescendant="${which}-${query}-${key}"
            .style=${`height:${side}px`}
            @pointermove=${this.#point}
            @pointerdown=${this.#point}
            @keydown=${this.#walk}
          >
            <canvas data-map=${which} aria-hidden="true"></canvas>
            <div role="row" aria-rowindex=${query + 1}>
              <div
                role="gridcell"
                id="${which}-${query}-${key}"
                aria-colindex=${key + 1}
                aria-label="query ${query}, key ${key}: ${fixed(score, 2)}"
              ></div>
            </div>
            <svg width=${side} height=${side} aria-hidden="true">
              ${["under", "over"].map(
                (line) => svg`<polygon class="diagonal ${line}" points=${band}></polygon>`,
              )}
              ${["around", "cell"].map(
                (line) =>
                  svg`<rect class=${line} x=${key * unit} y=${query * unit} width=${unit} height=${unit}></rect>`,
              )}
            </svg>
          </div>
          <svg class="keys" width=${side} height="24" aria-hidden="true">${bottomAxis(x, 0, marks, 0.5)}</svg>
          <p class="k axis-name">key</p>
          <p class="spread">
            largest spread on a diagonal
            <b>${spread < 0.01 ? significant(spread, 1) : fixed(spread, 2)}</b>
          </p>
        </div>
      `;
    };
    return html`
      <svg class="queries" width=${LEFT} height=${side + 28} aria-hidden="true">
        <text class="q" x="0" y="15">query</text>
        <g transform="translate(0 27)">${leftAxis(x, LEFT - 1, marks, 0.5)}</g>
      </svg>
      ${map("before")} ${map("after")}
    `;
  }

  #readout({ seqLen, before, after, limit }: Model): TemplateResult {
    const { query, key } = this.#cell;
    const at = query * seqLen + key;
    return html`
      <div class="bar">
        <canvas data-map="bar" aria-hidden="true"></canvas>
        <p><span>−${limit}</span><span>0</span><span>${limit}</span></p>
      </div>
      <dl class="readout">
        <div class="q"><dt>query</dt><dd>${query}</dd></div>
        <div class="k"><dt>key</dt><dd>${key}</dd></div>
        <div class="pos"><dt>relative position</dt><dd>${signed(key - query)}</dd></div>
        <div><dt>before</dt><dd>${fixed(before.scores[at] ?? 0, 2)}</dd></div>
        <div><dt>after</dt><dd>${fixed(after.scores[at] ?? 0, 2)}</dd></div>
      </dl>
    `;
  }

  #mapControls(state: ScoresState): TemplateResult {
    const theta = state["rope-theta"];
    return html`
      <div class="controls">
        ${choice({
          field: "repeat",
          label: "q and k",
          value: String(state.repeat),
          options: [
            ["true", "one, repeated"],
            ["false", "independent"],
          ],
          onInput: (value) => this.set({ repeat: value === "true" }),
        })}
        ${choice({
          field: "rope-theta",
          label: "rope_theta",
          symbol: "dim",
          value: String(theta),
          options: list([100, 10000, 500000, 1000000], theta),
          onInput: (value) => this.set({ "rope-theta": Number(value) }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len",
          symbol: "pos",
          value: state["seq-len"],
          min: 2,
          max: 64,
          spoken: `${state["seq-len"]} positions`,
          onInput: (value) => this.set({ "seq-len": value }),
        })}
        ${slider({
          field: "head-dim",
          label: "head_dim",
          symbol: "dim",
          value: state["head-dim"],
          min: 2,
          max: 128,
          step: 2,
          spoken: `${state["head-dim"]} components`,
          onInput: (value) => this.set({ "head-dim": value }),
        })}
        <div class="control fresh-vectors" data-field="seed">
          <button type="button" class="fresh" @click=${() => this.set({ seed: (state.seed + 1) % 2 ** 31 })}>
            New vectors
          </button>
        </div>
      </div>
    `;
  }

  #curve(model: Model, state: ScoresState): TemplateResult {
    const { curve, rise, crossing } = model;
    const last = curve.length - 1;
    const right = Math.max(200, this.width) - 18;
    const height = CURVE_HEIGHT;
    const least = curve.reduce((low, value) => Math.min(low, value), 0);
    const most = curve.reduce((high, value) => Math.max(high, value), 0);
    const room = (most - least) * 0.12;
    const x: Axis = { domain: [0, last], range: [LEFT, right] };
    const y: Axis = { domain: [least - room, most + room], range: [height - 42, 6] };
    const distance = this.#hover ?? state.distance;
    const value = curve[distance] ?? 0;
    const [px, py] = [place(x, distance), place(y, value)];
    const mark = (at: number, words: string, below: boolean) => {
      if (at < 0) return "";
      const [mx, my] = [place(x, at), place(y, curve[at] ?? 0)];
      const toLeft = mx > right - 150;
      const ty = below ? height - 54 : 14;
      return svg`<g class="event">
        <line x1=${mx} y1=${my} x2=${mx + (toLeft ? -8 : 8)} y2=${ty - 4}></line>
        <circle cx=${mx} cy=${my} r="4"></circle>
        <text x=${mx + (toLeft ? -11 : 11)} y=${ty} text-anchor=${toLeft ? "end" : "start"}>${words}</text>
      </g>`;
    };
    return html`
      <p class="curve-head">
        <span
          >${state.curve === "q-k" ? "Score of the first q and k" : "Mean cosine: q = k, all pairs equal"}</span
        >
        <span class="here pos" data-symbol="distance">distance ${distance}: <b>${fixed(value, 2)}</b></span>
      </p>
      <svg
        class="curve"
        width=${Math.max(200, this.width)}
        height=${height}
        role="img"
        aria-label="Score against distance from 0 to ${last}; at distance ${distance} it is ${fixed(value, 2)}."
        @pointermove=${(event: PointerEvent) => this.#overCurve(event, x, event.buttons === 1)}
        @pointerdown=${(event: PointerEvent) => this.#overCurve(event, x, true)}
        @pointerleave=${() => {
          this.#hover = undefined;
          this.requestUpdate();
        }}
      >
        <rect class="field" x=${LEFT} y="0" width=${right - LEFT} height=${height - 42}></rect>
        <line class="zero" x1=${LEFT} x2=${right} y1=${place(y, 0)} y2=${place(y, 0)}></line>
        ${leftAxis(y, LEFT, ticks(y, 34))} ${bottomAxis(x, height - 40, ticks(x, 70))}
        <text class="pos" x=${right} y=${height - 4} text-anchor="end">distance, query minus key</text>
        <path
          class="line"
          d=${linePath(
            curve,
            (i) => place(x, i),
            (v) => place(y, v),
          )}
        ></path>
        <g class="cursor" data-symbol="distance">
          <line x1=${px} x2=${px} y1="0" y2=${height - 42}></line>
          <circle cx=${px} cy=${py} r="5"></circle>
        </g>
        ${mark(rise, `first rise after ${rise}`, false)} ${mark(crossing, `${crosses(state).replace("is ", "")} at ${crossing}`, true)}
      </svg>
    `;
  }

  #curveControls(state: ScoresState): TemplateResult {
    const end = state["max-offset"];
    return html`
      ${slider({
        field: "distance",
        label: "distance",
        symbol: "distance",
        value: state.distance,
        min: 0,
        max: end,
        spoken: `distance ${state.distance} of ${end}`,
        onInput: (distance) => this.set({ distance }),
      })}
      ${choice({
        field: "curve",
        label: "curve",
        value: state.curve,
        options: [
          ["mean-cosine", "mean cosine"],
          ["q-k", "the first q and k"],
        ],
        onInput: (value) => this.set({ curve: value as ScoresState["curve"] }),
      })}
      ${choice({
        field: "max-offset",
        label: "to distance",
        symbol: "pos",
        value: String(end),
        options: list([64, 256, 1024, 4096], end),
        onInput: (value) =>
          this.set({ "max-offset": Number(value), distance: Math.min(state.distance, Number(value)) }),
      })}
    `;
  }

  protected override draw(model: Model): void {
    const size = devicePixels(this.#side);
    const key = [model, size];
    if (key.every((part, i) => part === this.painted[i])) return;
    this.painted = key;
    const { seqLen, limit, core } = model;
    const canvas = (name: string) =>
      this.renderRoot.querySelector(`canvas[data-map="${name}"]`) as HTMLCanvasElement;
    for (const which of ["before", "after"] as const) {
      const matrix = { values: model[which].pixels, rows: seqLen, columns: seqLen };
      paintMatrix(canvas(which), core, matrix, limit, [this.#side, this.#side]);
    }
    paintBar(canvas("bar"), core);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    takeawayRoom([0, 13.1], [300, 11.6], [340, 10.2], [540, 7.25], [600, 5.8]),
    css`
      p {
        margin: 0;
      }
      .stage {
        display: grid;
        gap: var(--pe-space-3) var(--pe-space-4);
        grid-template-columns: minmax(0, 1fr);
      }
      .stage.wide {
        grid-template-columns: auto minmax(0, 1fr);
      }
      .wide :is(.plot, .below) {
        grid-column: 1 / -1;
      }
      .maps {
        display: flex;
        gap: 12px;
      }
      .queries {
        flex: none;
        margin-inline-end: -12px;
      }
      .name {
        height: 27px;
        font-weight: 600;
      }
      .grid {
        position: relative;
        cursor: crosshair;
        touch-action: pan-y pinch-zoom;
      }
      .grid canvas {
        display: block;
        width: 100%;
        height: 100%;
        outline: 1px solid var(--pe-rule);
      }
      .grid svg {
        position: absolute;
        inset: 0;
        overflow: visible;
        pointer-events: none;
      }
      .keys {
        display: block;
        overflow: visible;
      }
      .axis-name {
        text-align: end;
        line-height: 1.2;
      }
      .diagonal {
        fill: none;
      }
      .under {
        stroke: var(--pe-bg);
        stroke-width: 3.5;
      }
      .over {
        stroke: var(--pe-ink);
        stroke-width: 1.5;
      }
      .around {
        fill: none;
        stroke: var(--pe-bg);
        stroke-width: 6;
      }
      .cell {
        fill: none;
        stroke: var(--pe-ink);
        stroke-width: 3;
      }
      .spread {
        margin-top: var(--pe-space-2);
        color: var(--pe-ink-2);
        line-height: 1.3;
      }
      .spread b {
        display: block;
        color: var(--pe-ink);
        font-size: var(--pe-text-m);
      }

      .beside {
        display: grid;
        align-content: start;
        gap: var(--pe-space-3);
      }
      .bar canvas {
        display: block;
        width: 100%;
        height: 10px;
        outline: 1px solid var(--pe-rule);
      }
      .bar p {
        display: flex;
        justify-content: space-between;
        font-size: 12px;
        color: var(--pe-ink-2);
      }
      .bar span:nth-child(2) {
        transform: translateX(-50%);
      }
      .readout {
        display: grid;
        grid-template-columns: calc(2.25 * var(--pe-rem)) calc(1.5 * var(--pe-rem)) 1fr calc(3.3 * var(--pe-rem)) calc(3.3 * var(--pe-rem));
        gap: 0 calc(0.35 * var(--pe-rem));
      }
      .readout dt {
        font-size: 12px;
      }
      .readout dd {
        font-weight: 600;
        white-space: nowrap;
      }
      .mid .readout {
        grid-template-columns: calc(3.5 * var(--pe-rem)) calc(3.5 * var(--pe-rem)) calc(8 * var(--pe-rem)) calc(5 * var(--pe-rem)) calc(5 * var(--pe-rem));
      }
      .beside .controls,
      .below {
        margin-block: 0;
      }
      .beside .controls,
      .below {
        grid-template-columns: 1fr 1fr;
        gap: var(--pe-space-2) var(--pe-space-3);
      }
      :is(.beside .controls, .below) > :is(:has([type="range"]), .fresh-vectors) {
        grid-column: 1 / -1;
      }
      .mid .beside .controls {
        grid-template-columns: repeat(6, 1fr);
      }
      .mid .beside .controls > * {
        grid-column: span 2;
        order: 1;
      }
      .mid .beside .controls > :has([type="range"]) {
        grid-column: span 3;
        order: 2;
      }
      .mid .fresh-vectors {
        align-self: end;
      }
      :is(.mid, .wide) .below {
        grid-template-columns: 2fr 1fr 1fr;
      }
      :is(.mid, .wide) .below > :has([type="range"]) {
        grid-column: auto;
      }
      .fresh {
        grid-column: 1 / -1;
      }
      .distance {
        color: var(--pe-pos);
      }

      .curve-head {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
      }
      :is(.mid, .wide) .curve-head {
        grid-template-columns: 1fr auto;
      }
      .curve {
        display: block;
        overflow: visible;
        cursor: crosshair;
        touch-action: pan-y pinch-zoom;
      }
      .field {
        fill: transparent;
      }
      .zero {
        stroke: var(--pe-ink-2);
        stroke-opacity: 0.6;
      }
      .line {
        fill: none;
        stroke: var(--pe-rope);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .event line {
        stroke: var(--pe-ink-2);
      }
      .event circle {
        fill: var(--pe-bg);
        stroke: var(--pe-ink);
        stroke-width: 1.5;
      }
      .event text {
        fill: var(--pe-ink);
        paint-order: stroke;
        stroke: var(--pe-bg);
        stroke-width: 4px;
        stroke-linejoin: round;
      }
      .cursor line {
        stroke: var(--pe-pos);
      }
      .cursor circle {
        fill: var(--pe-pos);
        stroke: var(--pe-bg);
        stroke-width: 2;
      }
      [data-lit="distance"] .cursor line {
        stroke-width: 2.5;
      }
      [data-lit="distance"] .control[data-symbol="distance"] .label {
        text-decoration: underline;
        text-decoration-thickness: 2px;
        text-underline-offset: 3px;
      }
    `,
  ];
}

const LEFT = 44;
const GAP = 12;
const CURVE_HEIGHT = 230;

define("pe-rope-scores", PeRopeScores);
