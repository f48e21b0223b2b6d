// RoPE by hand: a query and a key, each turned by its own position, and the dot product that only their distance
// changes. Based on: Su et al. 2021, RoFormer, section 3.2.2, equation 16.

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, leftAxis, place, ticks } from "../draw/axis.ts";
import { arrow, type Dial, fromDial, onDial, type Point, turn } from "../draw/dial.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import { quoted } from "../inspect/words.ts";
import type { PairLayout, Posenc } from "../posenc.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { degrees, fixed, significant } from "./format.ts";
import { FieldError, type State } from "./state.ts";

const LAST_POSITION = 4096;
const MOST_COMPONENTS = 16;
const LARGEST_COMPONENT = 10;
const SHIFTS = 32;

const fields = {
  m: { kind: "integer", fallback: 12, min: 0, max: LAST_POSITION },
  n: { kind: "integer", fallback: 7, min: 0, max: LAST_POSITION },
  lock: { kind: "flag", fallback: false },
  pair: { kind: "integer", fallback: 1, min: 0, max: MOST_COMPONENTS / 2 - 1 },
  "head-dim": { kind: "integer", fallback: 8, min: 2, max: MOST_COMPONENTS },
  "rope-theta": { kind: "number", fallback: 10000, min: 1, max: 1e9 },
  layout: { kind: "choice", fallback: "interleaved", choices: ["interleaved", "half"] },
  seed: { kind: "integer", fallback: 6728, min: 0, max: 2 ** 31 - 1 },
  q: { kind: "text", fallback: "", maxLength: 400 },
  k: { kind: "text", fallback: "", maxLength: 400 },
} as const;
type RopeState = State<typeof fields>;

interface Pair {
  invFreq: number;
  /** Which components of q and k it is made of. */
  components: readonly [number, number];
  q: Point;
  k: Point;
  qTurned: Point;
  kTurned: Point;
  /** What it adds to q·k, and to the score after the rotation. */
  before: number;
  after: number;
}

interface Model {
  q: Float64Array;
  k: Float64Array;
  pairs: Pair[];
  active: number;
  plain: number;
  score: number;
  /** The score from the relative position alone. */
  byOffset: number;
  /** Score at each shift of both positions, the first being 0; and how far it ever moves. */
  shifts: number[];
  largestChange: number;
  norms: { q: number; k: number; qChange: number; kChange: number };
  /** Ends of the scale of scores: no sum over the first pairs, at any position within reach, is beyond them. */
  extent: readonly [number, number];
  /** Last position of the sliders. */
  reach: number;
  /** Score with the key at 0..reach, evenly spaced. */
  wave: Float64Array;
}

/** The list of an attribute, or the seeded vector where the attribute is empty. */
function vector(name: "q" | "k", text: string, seeded: Float64Array): Float64Array {
  if (text.trim() === "") return seeded;
  const words = text.trim().split(/[\s,]+/);
  const wanted = `${name} must be a list of ${seeded.length} numbers from −${LARGEST_COMPONENT} to ${LARGEST_COMPONENT}`;
  if (words.length !== seeded.length) throw new FieldError(`${wanted}, got ${words.length} of them`);
  return Float64Array.from(words, (word) => {
    const value = Number(word);
    if (word !== "" && Math.abs(value) <= LARGEST_COMPONENT) return value;
    throw new FieldError(`${wanted}, got ${quoted(word, 20)}`);
  });
}

const repeat = (row: Float64Array, times: number): Float64Array =>
  Float64Array.from({ length: row.length * times }, (_, i) => row[i % row.length] ?? 0);
const norm = (values: ArrayLike<number>): number => Math.hypot(...Array.from(values));
const dot = ([ax, ay]: Point, [bx, by]: Point): number => ax * bx + ay * by;
const angle = ([x, y]: Point): number => Math.atan2(y, x);
const write = (values: Float64Array): string => Array.from(values, (v) => Number(v.toFixed(4))).join(" ");
/** Three digits, without the zeros that only pad: 0.1, 62.8, 0.000316. */
function brief(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -5 || exponent > 6) return significant(value, 3);
  if (exponent > 2) return fixed(value, 0);
  const text = fixed(Number(value.toPrecision(3)), 2 - exponent);
  return text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}
/** A part of a score in a narrow column. */
const amount = (value: number): string => fixed(value, Math.abs(value) < 100 ? 3 : 1);
/** An angle within half a turn of 0. */
const nearest = (radians: number): number => Math.atan2(Math.sin(radians), Math.cos(radians));

/** Shifts of both positions that keep them within 0..LAST_POSITION: 0, then evenly from one end to the other. */
function everyShift(m: number, n: number): number[] {
  const least = -Math.min(m, n);
  const most = LAST_POSITION - Math.max(m, n);
  const spread = Array.from({ length: SHIFTS }, (_, i) =>
    Math.round(least + ((most - least) * i) / (SHIFTS - 1)),
  );
  return [0, ...spread];
}

/**
 * Drag q and k, move their positions, and read the score pair by pair. As in the lesson, m is the position of the
 * query, n that of the key, and the relative position is n − m.
 *
 * @attr m - Position of the query.
 * @attr n - Position of the key.
 * @attr lock - Whether a slider moves both positions, so that their distance stays.
 * @attr pair - The pair shown large, from 0; the last there is if there are fewer.
 * @attr head-dim - Components of q and k, even.
 * @attr rope-theta - The base of the frequencies.
 * @attr layout - Which components form a pair: interleaved (2i, 2i + 1) or half (i, i + head-dim/2).
 * @attr seed - Chooses q and k where they are not given.
 * @attr q - The query: head-dim numbers from −10 to 10, apart by spaces or commas; empty: chosen by the seed.
 * @attr k - The key, likewise.
 * @cssprop --pe-q - Colour of the query.
 * @cssprop --pe-k - Colour of the key.
 * @cssprop --pe-pos - Colour of positions.
 * @cssprop --pe-dim - Colour of pairs and frequencies.
 * @cssprop --pe-rope - Colour of the score after the rotation.
 */
export class PeRope extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "Turn q and k by their positions";

  #reach = 64;
  /** The tip in hand, and the plane's radius that stays while it is held. */
  #drag: { name: "q" | "k"; turned: boolean; radius: number } | undefined;

  protected override compute(core: Posenc, state: RopeState): Model {
    const { m, n, seed, "head-dim": headDim, "rope-theta": ropeTheta } = state;
    if (headDim % 2 !== 0) throw new FieldError(`head-dim must be even, got ${headDim}`);
    const count = headDim / 2;
    const active = this.hasAttribute("pair") ? state.pair : Math.min(state.pair, count - 1);
    if (active >= count) {
      throw new FieldError(`pair must be less than head-dim/2, here ${count}, got ${state.pair}`);
    }
    const layout = state.layout as PairLayout;
    const random = core.randomNormal(2 * MOST_COMPONENTS, seed);
    const q = vector("q", state.q, random.slice(0, headDim));
    const k = vector("k", state.k, random.slice(MOST_COMPONENTS, MOST_COMPONENTS + headDim));
    const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta });

    // Row 0: as given; row 1: turned; then turned with both positions shifted. All scores are one call.
    const shifts = everyShift(m, n);
    const rows = shifts.length;
    const turned = (x: Float64Array, position: number): Float64Array => {
      const { cos, sin } = core.ropeCosSin(
        Float64Array.from(shifts, (shift) => position + shift),
        invFreq,
      );
      return core.ropeApply(repeat(x, rows), cos, sin, { seqLen: rows, headDim, layout });
    };
    const qRows = Float64Array.of(...q, ...turned(q, m));
    const kRows = Float64Array.of(...k, ...turned(k, n));
    const { logits } = core.attention(qRows, kRows, kRows, { seqLen: rows + 1, headDim, scale: 1 });
    const scoreAt = (row: number): number => logits[row * (rows + 1) + row] ?? 0;
    const score = scoreAt(1);
    const changes = shifts.map((_, i) => Math.abs(scoreAt(i + 1) - score));

    const components = (i: number) =>
      layout === "half" ? ([i, i + count] as const) : ([2 * i, 2 * i + 1] as const);
    const point = (values: Float64Array, row: number, i: number): Point => {
      const [a, b] = components(i);
      return [values[row * headDim + a] ?? 0, values[row * headDim + b] ?? 0];
    };
    const pairs = Array.from(invFreq, (frequency, i): Pair => {
      const [qHere, kHere] = [point(q, 0, i), point(k, 0, i)];
      const [qTurned, kTurned] = [point(qRows, 1, i), point(kRows, 1, i)];
      return {
        invFreq: frequency,
        components: components(i),
        q: qHere,
        k: kHere,
        qTurned,
        kTurned,
        before: dot(qHere, kHere),
        after: dot(qTurned, kTurned),
      };
    });

    while (this.#reach < Math.max(m, n)) this.#reach *= 4;
    const reach = this.#reach;
    // One more offset than the wave: the last is the relative position itself.
    const points = Math.max(reach, 256) + 1;
    const offsets = Float64Array.from({ length: points + 1 }, (_, i) =>
      i === points ? n - m : (reach * i) / (points - 1) - m,
    );
    const inPairs = (name: "q" | "k") => Float64Array.from(pairs.flatMap((pair) => pair[name]));
    const byOffset = core.ropeScoreByOffset(offsets, inPairs("q"), inPairs("k"), invFreq);

    // Sums over the first pairs, at distances within reach: what the bars may come to.
    const distances = Float64Array.from({ length: 513 }, (_, i) => (reach * (i - 256)) / 256);
    const sums = pairs.map((_, i) =>
      core.ropeScoreByOffset(
        distances,
        inPairs("q").subarray(0, 2 * i + 2),
        inPairs("k").subarray(0, 2 * i + 2),
        invFreq.subarray(0, i + 1),
      ),
    );

    const row = (values: Float64Array, index: number) =>
      norm(values.subarray(index * headDim, (index + 1) * headDim));
    return {
      q,
      k,
      pairs,
      active,
      plain: scoreAt(0),
      score,
      byOffset: byOffset[points] ?? 0,
      shifts: shifts.map((_, i) => scoreAt(i + 1)),
      largestChange: Math.max(...changes),
      norms: {
        q: norm(q),
        k: norm(k),
        qChange: Math.abs(row(qRows, 1) - norm(q)),
        kChange: Math.abs(row(kRows, 1) - norm(k)),
      },
      extent: [
        Math.min(...sums.map((values) => values.reduce((least, v) => Math.min(least, v), 0))),
        Math.max(...sums.map((values) => values.reduce((most, v) => Math.max(most, v), 0.1))),
      ],
      reach,
      wave: byOffset.subarray(0, points),
    };
  }

  override reset(): void {
    this.#reach = 64;
    super.reset();
  }

  protected override takeaway({ score, plain, largestChange }: Model, { m, n }: RopeState): string {
    return (
      `Query at ${m}, key at ${n}: relative position ${fixed(n - m, 0)}. The score is ${fixed(score)} ` +
      `(${fixed(plain)} without rotation); shifting both by any amount leaves it there ` +
      `(checked at ${SHIFTS} shifts up to position ${fixed(LAST_POSITION, 0)}: largest change ${significant(largestChange, 1)}).`
    );
  }

  protected override dataTable({ pairs, plain, score }: Model): DataTable {
    const point = ([x, y]: Point) => `(${fixed(x)}, ${fixed(y)})`;
    return {
      caption: "Each pair of q and k before and after the rotation, and what it adds to the score",
      head: [
        "pair",
        "components",
        "inv_freq",
        "period",
        "q",
        "k",
        "q turned",
        "k turned",
        "q·k before",
        "score after",
      ],
      rows: [
        ...pairs.map((pair, i) => [
          i,
          pair.components.join(", "),
          significant(pair.invFreq, 4),
          significant((2 * Math.PI) / pair.invFreq, 4),
          point(pair.q),
          point(pair.k),
          point(pair.qTurned),
          point(pair.kTurned),
          fixed(pair.before, 4),
          fixed(pair.after, 4),
        ]),
        ["sum", "", "", "", "", "", "", "", fixed(plain, 4), fixed(score, 4)],
      ],
    };
  }

  protected override array({ pairs }: Model): NamedArray {
    const rows = pairs.map((pair) =>
      [pair.invFreq, pair.q, pair.k, pair.qTurned, pair.kTurned, pair.before, pair.after].flat(),
    );
    const columns = "inv_freq q_x q_y k_x k_y q_turned_x q_turned_y k_turned_x k_turned_y before after";
    return {
      name: "rope_pairs",
      shape: [rows.length, 11],
      values: Float64Array.from(rows.flat()),
      columns: columns.split(" "),
    };
  }

  protected override numpy({ m, n, layout, "rope-theta": theta }: RopeState): string {
    const { q = [], k = [] } = this.model ?? {};
    const [a, b] = layout === "half" ? ["[:half]", "[half:]"] : ["[0::2]", "[1::2]"];
    return `import matplotlib.pyplot as plt
import numpy as np

q = np.array([${[...q].join(", ")}])
k = np.array([${[...k].join(", ")}])
m, n = ${m}, ${n}  # positions of the query and of the key

half = len(q) // 2
inv_freq = ${theta} ** (-np.arange(half) / half)

def rotate(x, position):
    """Turn the ${layout} pairs of x (head_dim) by position * inv_freq."""
    cos, sin = np.cos(position * inv_freq), np.sin(position * inv_freq)
    a, b = x${a}, x${b}
    out = np.empty_like(x)
    out${a}, out${b} = a * cos - b * sin, a * sin + b * cos
    return out

print("before:", q @ k)
print("score: ", rotate(q, m) @ rotate(k, n))
print("shifted by 1, 10, 100:", [rotate(q, m + s) @ rotate(k, n + s) for s in (1, 10, 100)])

pair = ${this.model?.active ?? 0}  # its hands before (faint) and after the rotation
for x, position, colour in ((q, m, "tab:orange"), (k, n, "tab:blue")):
    for hand, alpha in ((x, 0.35), (rotate(x, position), 1.0)):
        plt.arrow(0, 0, hand${a}[pair], hand${b}[pair], color=colour, alpha=alpha, width=0.02, length_includes_head=True)
plt.axis("equal")
plt.title(f"Pair {pair}: query at {m}, key at {n}")
plt.show()
`;
  }

  // ------------------------------------------------------------------------------------------------- changes

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#drag = undefined; // whoever held a tip holds it no more
  }

  #move(name: "m" | "n", value: number): void {
    const { m, n, lock } = this.state;
    const by = value - this.state[name];
    this.set(lock ? { m: m + by, n: n + by } : { [name]: value });
  }

  #resize(headDim: number, { q, k, active }: Model): void {
    // An edited vector is cut, or goes on with zeros.
    const fit = (text: string, values: Float64Array) =>
      text === "" ? "" : write(Float64Array.from({ length: headDim }, (_, i) => values[i] ?? 0));
    this.set({
      "head-dim": headDim,
      pair: Math.min(active, headDim / 2 - 1),
      q: fit(this.state.q, q),
      k: fit(this.state.k, k),
    });
  }

  /** Puts the tip of q or k in the active pair at a point, which is kept within the plane. */
  /** The vector as the last change left it, which the next frame may still have to draw. */
  #vector(name: "q" | "k", { [name]: drawn }: Model): Float64Array {
    return vector(name, this.state[name], drawn);
  }

  #place(name: "q" | "k", [x, y]: Point, radius: number): void {
    const model = this.model;
    const pair = model?.pairs[model.active];
    if (!model || !pair) return;
    const shrink = Math.min(1, radius / Math.hypot(x, y));
    const values = this.#vector(name, model).slice();
    values[pair.components[0]] = x * shrink;
    values[pair.components[1]] = y * shrink;
    this.set({ [name]: write(values) });
  }

  #grab(event: PointerEvent, name: "q" | "k", turned: boolean, radius: number): void {
    if (event.button !== 0) return;
    const hit = event.currentTarget as SVGElement;
    hit.setPointerCapture(event.pointerId);
    this.#drag = { name, turned, radius };
  }

  #pull = (event: PointerEvent): void => {
    const { model } = this;
    const pair = model?.pairs[model.active];
    const plane = this.renderRoot.querySelector<HTMLElement>(".plane");
    if (!this.#drag || !pair || !plane) return;
    const { name, turned, radius } = this.#drag;
    const [right, down] = share(event, plane);
    const dial = this.#dial(radius);
    let [x, y] = fromDial(dial, [right * plane.offsetWidth, down * plane.offsetHeight]);
    if (turned) {
      const back = -this.state[name === "q" ? "m" : "n"] * pair.invFreq;
      [x, y] = [x * Math.cos(back) - y * Math.sin(back), x * Math.sin(back) + y * Math.cos(back)];
    }
    this.#place(name, [x, y], radius);
  };

  #release = (): void => {
    this.#drag = undefined;
    this.requestUpdate();
  };

  #nudge(event: KeyboardEvent, name: "q" | "k", radius: number): void {
    const step = event.shiftKey ? 0.01 : 0.1;
    const steps: Record<string, Point> = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
    };
    const by = steps[event.key];
    const model = this.model;
    const pair = model?.pairs[model.active];
    if (!by || !model || !pair || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [x = 0, y = 0] = pair.components.map((component) => this.#vector(name, model)[component]);
    this.#place(name, [x + by[0], y + by[1]], radius);
  }

  // ------------------------------------------------------------------------------------------------- picture

  get #shape(): "narrow" | "mid" | "wide" {
    return this.width >= 880 ? "wide" : this.width >= 620 ? "mid" : "narrow";
  }
  /** Side of the large plane in pixels. */
  get #side(): number {
    const { width } = this;
    const side = { narrow: width, mid: width * 0.47, wide: width * 0.34 }[this.#shape];
    return Math.round(Math.min(340, side));
  }
  #dial(radius: number): Dial {
    const centre = this.#side / 2;
    return { centre, scale: (centre - 20) / radius };
  }

  protected override picture(model: Model, state: RopeState): TemplateResult {
    const pair = model.pairs[model.active];
    if (!pair) return html``;
    return html`
      <div class="stage ${this.#shape}">
        <div class="large" data-picture>${this.#plane(model, state, pair)} ${this.#angles(model, state, pair)}</div>
        ${this.#moves(model, state)}
        <div class="numbers">${this.#readings(model, state)} ${this.#waves(model, state)}</div>
        ${this.#shares(model)}
        ${this.#settings(model, state)}
      </div>
    `;
  }

  #plane(model: Model, { m, n }: RopeState, pair: Pair): TemplateResult {
    const largest = Math.max(...model.pairs.flatMap(({ q, k }) => [norm(q), norm(k)]));
    const radius = this.#drag?.radius ?? Math.max(2, Math.ceil(largest));
    const side = this.#side;
    const dial = this.#dial(radius);
    const { centre, scale } = dial;
    const rings = Array.from({ length: radius }, (_, i) => i + 1).filter(
      (r) => r === 1 || radius <= 4 || r === radius,
    );
    const hand = (name: "q" | "k", position: number, given: Point, turned: Point, arc: number) => {
      const strong = arrow(dial, turned, 12);
      const [gx, gy] = onDial(dial, given);
      const [tx, ty] = onDial(dial, turned);
      const symbol = name === "q" ? "m" : "n";
      return svg`
        <path class="arc ${name}" data-symbol=${symbol}
          d=${turn(dial, arc, angle(given), position * pair.invFreq)}></path>
        <g data-symbol=${name} class="hand ${name}">
          <line class="given" x1=${centre} y1=${centre} x2=${gx} y2=${gy}></line>
          <path class="shaft" d=${strong.shaft}></path>
          <path class="head" d=${strong.head}></path>
          <circle class="hit" cx=${tx} cy=${ty} r="16" data-field=${name}
            @pointerdown=${(event: PointerEvent) => this.#grab(event, name, true, radius)}
            @pointermove=${this.#pull} @pointerup=${this.#release} @pointercancel=${this.#release}></circle>
          <g class="tip" role="slider" tabindex="0" id="tip-${name}" data-field=${name}
            aria-label="Tip of ${name} in pair ${model.active}, before the rotation: arrow keys move it"
            aria-valuemin="-180" aria-valuemax="180"
            aria-valuenow=${Math.round((angle(given) * 180) / Math.PI)}
            aria-valuetext="x ${fixed(given[0], 2)}, y ${fixed(given[1], 2)}"
            @keydown=${(event: KeyboardEvent) => this.#nudge(event, name, radius)}
            @pointerdown=${(event: PointerEvent) => this.#grab(event, name, false, radius)}
            @pointermove=${this.#pull} @pointerup=${this.#release} @pointercancel=${this.#release}>
            <circle class="hit" cx=${gx} cy=${gy} r="16"></circle>
            <circle class="dot" cx=${gx} cy=${gy} r="6"></circle>
          </g>
        </g>`;
    };
    const labels = place4(dial, side, [
      { name: "q", position: null, at: pair.q },
      { name: "k", position: null, at: pair.k },
      { name: "q", position: m, at: pair.qTurned },
      { name: "k", position: n, at: pair.kTurned },
    ]);
    return html`
      <div class="plane">
        <svg
          width=${side}
          height=${side}
          role="group"
          aria-label="Pair ${model.active} of q and k as hands, before and after the rotation"
        >
          <g class="grid">
            ${rings.map((r) => svg`<circle class=${r === 1 ? "unit" : ""} cx=${centre} cy=${centre} r=${r * scale}></circle>`)}
            <line x1=${centre - radius * scale} x2=${centre + radius * scale} y1=${centre} y2=${centre}></line>
            <line y1=${centre - radius * scale} y2=${centre + radius * scale} x1=${centre} x2=${centre}></line>
          </g>
          <g aria-hidden="true">
            ${rings.map((r) => svg`<text x=${centre + r * scale - 3} y=${centre + 13} text-anchor="end">${r}</text>`)}
          </g>
          ${hand("k", n, pair.k, pair.kTurned, centre * 0.3)}
          ${hand("q", m, pair.q, pair.qTurned, centre * 0.2)}
          <g aria-hidden="true" class="names">
            ${labels.map(
              ({ x, y, name, position }) => svg`<text class=${name} x=${x} y=${y} text-anchor="middle"
                dominant-baseline="central">${
                  position === null
                    ? svg`<tspan class="it">${name}</tspan>`
                    : svg`<tspan class="it">R</tspan>(${position})<tspan class="it" dx="1">${name}</tspan>`
                }</text>`,
            )}
          </g>
        </svg>
      </div>
    `;
  }

  #angles({ active }: Model, { m, n }: RopeState, pair: Pair): TemplateResult {
    const turns = (radians: number) => `${brief(radians)} rad, ${brief(radians / (2 * Math.PI))} turns`;
    const between = (q: Point, k: Point) => degrees(nearest(angle(k) - angle(q)));
    return html`
      <div class="turning">
        <p class="pair dim" data-symbol="dim">
          Pair ${active}: components ${pair.components[0]} and ${pair.components[1]}
        </p>
        <dl class="angles">
          <dt class="dim" data-symbol="dim"><i>ω</i></dt>
          <dd>${brief(pair.invFreq)} rad a position</dd>
          <dt>period</dt>
          <dd>${brief((2 * Math.PI) / pair.invFreq)} positions</dd>
          <dt class="q" data-symbol="m"><i>mω</i></dt>
          <dd>${turns(m * pair.invFreq)}</dd>
          <dt class="k" data-symbol="n"><i>nω</i></dt>
          <dd>${turns(n * pair.invFreq)}</dd>
          <dt>from <i class="q">q</i> to <i class="k">k</i></dt>
          <dd>${between(pair.q, pair.k)}, turned ${between(pair.qTurned, pair.kTurned)}</dd>
        </dl>
      </div>
    `;
  }

  #moves({ reach }: Model, { m, n, lock }: RopeState): TemplateResult {
    // Locked, a slider ends where the other position would leave the line.
    const end = (gap: number) => ({
      min: lock ? Math.max(0, gap) : 0,
      max: lock ? reach + Math.min(0, gap) : reach,
    });
    const shift = (by: number) => {
      const possible = Math.min(m, n) + by >= 0 && Math.max(m, n) + by <= LAST_POSITION;
      const words = `${by > 0 ? "+" : "−"}${Math.abs(by)}`;
      return html`<button
        type="button"
        ?disabled=${!possible}
        aria-label="Shift both positions by ${words}"
        @click=${() => this.set({ m: m + by, n: n + by })}
      >
        ${words}
      </button>`;
    };
    return html`
      <div class="moves">
        ${slider({
          field: "m",
          label: "m, position of the query",
          symbol: "m",
          value: m,
          ...end(m - n),
          spoken: `query at position ${m}`,
          onInput: (value) => this.#move("m", value),
        })}
        ${slider({
          field: "n",
          label: "n, position of the key",
          symbol: "n",
          value: n,
          ...end(n - m),
          spoken: `key at position ${n}`,
          onInput: (value) => this.#move("n", value),
        })}
        <div class="both" role="group" aria-label="Shift both positions">
          ${toggle({ field: "lock", label: "Lock the distance", checked: lock, onInput: (on) => this.set({ lock: on }) })}
          <span class="shift" data-field="m n"><span class="label">Shift both</span> ${shift(-10)}${shift(-1)}${shift(1)}${shift(10)}</span>
        </div>
      </div>
    `;
  }

  #readings(model: Model, { m, n }: RopeState): TemplateResult {
    const { norms } = model;
    return html`
      <dl class="readings">
        <dt>
          <math><mi class="q" data-symbol="q">q</mi><mo>·</mo><mi class="k" data-symbol="k">k</mi></math>
        </dt>
        <dd><output>${fixed(model.plain)}</output><span>before the rotation</span></dd>
        <dt>
          <math>
            <mi>R</mi><mo stretchy="false">(</mo><mi class="pos" data-symbol="m">m</mi><mo stretchy="false">)</mo
            ><mi class="q" data-symbol="q">q</mi><mo>·</mo><mi>R</mi><mo stretchy="false">(</mo
            ><mi class="pos" data-symbol="n">n</mi><mo stretchy="false">)</mo
            ><mi class="k" data-symbol="k">k</mi>
          </math>
        </dt>
        <dd class="score"><output>${fixed(model.score)}</output><span>the score: both turned</span></dd>
        <dt>
          <math>
            <msup><mi class="q" data-symbol="q">q</mi><mo>⊤</mo></msup
            ><mi>R</mi><mo stretchy="false">(</mo><mi class="pos" data-symbol="n">n</mi><mo>−</mo
            ><mi class="pos" data-symbol="m">m</mi><mo stretchy="false">)</mo
            ><mi class="k" data-symbol="k">k</mi>
          </math>
        </dt>
        <dd>
          <output>${fixed(model.byOffset)}</output
          ><span>from <i>n</i> − <i>m</i> = ${fixed(n - m, 0)} alone</span><span>differs by ${significant(Math.abs(model.byOffset - model.score), 1)}</span>
        </dd>
        ${(["q", "k"] as const).map(
          (name) => html`
            <dt>
              <math
                ><mo stretchy="false">|</mo><mi class=${name} data-symbol=${name}>${name}</mi
                ><mo stretchy="false">|</mo></math
              >
            </dt>
            <dd><output>${fixed(norms[name])}</output><span>changed by ${significant(norms[`${name}Change`], 1)}</span></dd>
          `,
        )}
        <dt><math><mi>v</mi></math></dt>
        <dd><span class="note">is not rotated</span></dd>
      </dl>
    `;
  }

  /** One row a pair: its plane in small, its frequency, and its part of the score, each bar from where the last ended. */
  #shares({ pairs, active, extent, plain, score }: Model): TemplateResult {
    const height = this.#shape === "wide" ? 368 : 304;
    const row = height / Math.max(4, pairs.length);
    const low = row < 60;
    const size = Math.min(row - 4, 68);
    const scale: Axis = { domain: extent, range: [2, 98] };
    const x = (value: number) => place(scale, value);
    const largest = Math.max(2, ...pairs.flatMap(({ q, k }) => [norm(q), norm(k)]));
    const dial: Dial = { centre: size / 2, scale: (size / 2 - 1) / largest };
    const bar = (kind: string, from: number, to: number, y: number, height: number) =>
      svg`<rect class=${kind} x=${Math.min(x(from), x(to))} width=${Math.max(0.8, Math.abs(x(to) - x(from)))}
        y=${y} height=${height}></rect>`;
    const bars = (height: number, before: [number, number], after: [number, number], chain: boolean) => html`
      <svg class="bars" height=${height} viewBox="0 0 100 ${height}" preserveAspectRatio="none" aria-hidden="true">
        <line class="zero" x1=${x(0)} x2=${x(0)} y1="0" y2=${height}></line>
        ${chain ? svg`<path class="chain" d="M${x(after[0])} 0V${height - 12}M${x(after[1])} ${height - 12}V${height}"></path>` : ""}
        ${bar("before", ...before, height - 6, 3)} ${bar("after", ...after, height - 16, 8)}
      </svg>
    `;
    let [sumBefore, sumAfter] = [0, 0];
    const rows = pairs.map((pair, i) => {
      const before: [number, number] = [sumBefore, sumBefore + pair.before];
      const after: [number, number] = [sumAfter, sumAfter + pair.after];
      [sumBefore, sumAfter] = [before[1], after[1]];
      const small = (name: "q" | "k", given: Point, turned: Point) => {
        const { shaft, head } = arrow(dial, turned, size > 50 ? 7 : 5);
        const [gx, gy] = onDial(dial, given);
        return svg`<g class="hand ${name}"><line class="given" x1=${size / 2} y1=${size / 2} x2=${gx} y2=${gy}></line>
          <path class="shaft" d=${shaft}></path><path class="head" d=${head}></path></g>`;
      };
      return html`
        <label class="share" .style=${`height:${row}px`}>
          <input
            type="radio"
            form="choices"
            name="pair"
            value=${i}
            .checked=${i === active}
            data-field="pair"
            ?disabled=${this.hides("pair")}
            @change=${() => this.set({ pair: i })}
            aria-label="Pair ${i}: frequency ${brief(pair.invFreq)}, period ${brief((2 * Math.PI) / pair.invFreq)}, adds ${fixed(pair.after)}"
          />
          <svg class="small" width=${size} height=${size} aria-hidden="true">
            <circle class="rim" cx=${size / 2} cy=${size / 2} r=${size / 2 - 1}></circle>
            ${small("k", pair.k, pair.kTurned)} ${small("q", pair.q, pair.qTurned)}
          </svg>
          <span class="speed"
            ><span class="dim"><span class="word">pair </span>${i}</span> <i>ω</i> ${brief(pair.invFreq)}</span
          >
          <small>${amount(pair.before)}</small><b>${amount(pair.after)}</b>
          <span class="period">period ${brief((2 * Math.PI) / pair.invFreq)}</span>
          ${bars(row - (low ? 22 : 42), before, after, true)}
        </label>
      `;
    });
    return html`
      <div class="shares ${low ? "low" : ""}" role="radiogroup" aria-label="Pair shown large, and what each adds to the score">
        <p class="share-head"><span>Each pair adds its part</span><small>before</small><b>after</b></p>
        <div class="rows" .style=${`height:${height}px`}>${rows}</div>
        <div class="share total">
          <span class="speed">sum of all pairs</span>
          <small>${amount(plain)}</small><b>${amount(score)}</b>
          ${bars(TOTAL_HEIGHT, [0, plain], [0, score], false)}
        </div>
      </div>
    `;
  }

  /** The score against the position of the key: alone it rides a wave, together with the query it stays level. */
  #waves({ wave, extent, score, reach }: Model, { m, n }: RopeState): TemplateResult {
    const width = { narrow: this.width, mid: this.width * 0.53 - 17, wide: this.width * 0.29 - 19 }[
      this.#shape
    ];
    const height = this.#shape === "wide" ? 264 : 140;
    const right = Math.round(width) - 17;
    const y: Axis = { domain: extent, range: [height - 26, 8] };
    const levels = ticks(y, 30);
    const left = 18 + 8 * Math.max(...levels.map((level) => String(level).length));
    const x: Axis = { domain: [0, reach], range: [left, right] };
    const at = place(x, n);
    return html`
      <div class="waves">
        <p>Score if <b class="k"><i>k</i> alone</b> moves, if <b>both</b> do</p>
        <svg
          width=${Math.round(width)}
          height=${height}
          role="img"
          aria-label="Score with the key at positions 0 to ${reach}: it swings when the key moves alone and stays at ${fixed(score)} when both move."
        >
          <line class="zero" x1=${left} x2=${right} y1=${place(y, 0)} y2=${place(y, 0)}></line>
          ${leftAxis(y, left, levels)} ${bottomAxis(x, height - 26, ticks(x, 56))}
          <path
            class="alone"
            d=${linePath(
              wave,
              (i) => place(x, (reach * i) / (wave.length - 1)),
              (value) => place(y, value),
            )}
          ></path>
          <line class="together" x1=${left} x2=${right} y1=${place(y, score)} y2=${place(y, score)}></line>
          <line class="mark q" data-symbol="m" x1=${place(x, m)} x2=${place(x, m)} y1="8" y2=${height - 26}></line>
          <circle class="here" cx=${at} cy=${place(y, score)} r="5"></circle>
        </svg>
      </div>
    `;
  }

  #settings(model: Model, state: RopeState): TemplateResult {
    const theta = state["rope-theta"];
    const bases = [...new Set([100, 10000, 500000, 1000000, theta])].sort((a, b) => a - b);
    return html`
      <div class="controls settings">
        ${choice({
          field: "head-dim",
          label: "head_dim",
          symbol: "dim",
          value: String(state["head-dim"]),
          options: Array.from({ length: MOST_COMPONENTS / 2 }, (_, i) => [
            String(2 * i + 2),
            String(2 * i + 2),
          ]),
          onInput: (value) => this.#resize(Number(value), model),
        })}
        ${choice({
          field: "rope-theta",
          label: "rope_theta",
          symbol: "dim",
          value: String(theta),
          options: bases.map((base) => [String(base), fixed(base, Number.isInteger(base) ? 0 : 3)]),
          onInput: (value) => this.set({ "rope-theta": Number(value) }),
        })}
        ${choice({
          field: "layout",
          label: "layout of pairs",
          symbol: "dim",
          value: state.layout,
          options: [
            ["interleaved", "interleaved"],
            ["half", "half"],
          ],
          onInput: (value) => this.set({ layout: value as PairLayout }),
        })}
        <div class="control" data-field="seed q k">
          <span class="label">q and k</span>
          <button type="button" class="fresh" @click=${() => this.set({ seed: (state.seed + 1) % 2 ** 31, q: "", k: "" })}>
            New vectors
          </button>
        </div>
      </div>
    `;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    takeawayRoom([0, 10.2], [300, 8.7], [380, 7.25], [540, 5.8], [600, 4.4]),
    css`
      p {
        margin: 0;
      }
      math {
        font-family: "posenc math", "STIX Two Math", "Cambria Math", "Latin Modern Math", math;
        font-size: 1.15em;
      }
      i,
      .it {
        font-family: var(--pe-font-prose);
        font-style: italic;
      }
      .m,
      .n {
        color: var(--pe-pos);
      }

      .stage {
        display: grid;
        gap: var(--pe-space-3) var(--pe-space-4);
        grid-template-areas: "large" "moves" "numbers" "shares" "settings";
        grid-template-columns: minmax(0, 1fr);
        align-items: start;
      }
      .stage.mid {
        grid-template-areas: "large numbers" "moves shares" "settings shares";
        grid-template-columns: minmax(0, 47fr) minmax(0, 53fr);
        grid-template-rows: auto auto 1fr;
      }
      .stage.wide {
        grid-template-areas: "large shares numbers" "moves moves numbers" "settings settings numbers";
        grid-template-columns: minmax(0, 34fr) minmax(0, 37fr) minmax(0, 29fr);
        grid-template-rows: auto auto 1fr;
      }
      .large {
        grid-area: large;
      }
      .plane {
        width: fit-content;
        margin-inline: auto;
        line-height: 0;
      }
      .moves {
        grid-area: moves;
        display: grid;
        gap: var(--pe-space-1) var(--pe-space-4);
      }
      .wide .moves {
        grid-template-columns: 1fr 1fr;
      }
      .numbers {
        grid-area: numbers;
        display: grid;
        gap: var(--pe-space-3);
      }
      .shares {
        grid-area: shares;
      }
      .settings {
        grid-area: settings;
        grid-template-columns: 1fr 1fr;
        gap: var(--pe-space-2) var(--pe-space-3);
        margin-block: 0;
      }
      .wide .settings {
        grid-template-columns: repeat(4, 1fr);
      }

      .plane svg {
        overflow: visible;
      }
      .grid :is(circle, line) {
        fill: none;
        stroke: var(--pe-rule);
      }
      .grid .unit {
        stroke: var(--pe-ink-2);
        stroke-opacity: 0.6;
      }
      .hand.q,
      .arc.q {
        stroke: var(--pe-q);
      }
      .hand.k,
      .arc.k {
        stroke: var(--pe-k);
      }
      .arc {
        fill: none;
        stroke-width: 1.75;
      }
      .given {
        stroke-width: 1.5;
        stroke-dasharray: 3 4;
      }
      .shaft {
        fill: none;
        stroke-width: 3;
      }
      .hand.q .head {
        fill: var(--pe-q);
        stroke: none;
      }
      .hand.k .head {
        fill: var(--pe-k);
        stroke: none;
      }
      .small .given {
        stroke-width: 1;
        stroke-dasharray: 2 2;
      }
      .small .shaft {
        stroke-width: 1.75;
      }
      .rim {
        fill: none;
        stroke: var(--pe-rule);
      }
      .hit {
        fill: transparent;
        stroke: none;
        cursor: grab;
        touch-action: none;
      }
      .hit:active {
        cursor: grabbing;
      }
      .dot {
        fill: var(--pe-bg);
        stroke-width: 2;
        pointer-events: none;
      }
      .tip:focus-visible {
        outline: none;
      }
      .tip:focus-visible .dot {
        stroke: var(--pe-focus);
        stroke-width: 4;
        r: 8px;
      }
      .names text {
        font-size: 14px;
        font-weight: 600;
        paint-order: stroke;
        stroke: var(--pe-bg);
        stroke-width: 4px;
        stroke-linejoin: round;
        pointer-events: none;
      }
      .names .q {
        fill: var(--pe-q);
      }
      .names .k {
        fill: var(--pe-k);
      }

      .pair {
        font-weight: 600;
      }
      .angles {
        display: grid;
        grid-template-columns: calc(5.2 * var(--pe-rem)) 1fr;
        gap: 0 var(--pe-space-2);
        margin-top: var(--pe-space-1);
      }
      @container (max-width: 330px) {
        .angles {
          font-size: 13px;
        }
      }
      .angles :is(dt, dd) {
        white-space: nowrap;
      }
      .both {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: space-between;
        gap: var(--pe-space-1) var(--pe-space-3);
        grid-column: 1 / -1;
      }
      .shift {
        display: flex;
        align-items: center;
        gap: var(--pe-space-1);
      }
      .shift .label {
        margin-inline-end: var(--pe-space-1);
      }
      .shift button {
        min-width: calc(2.6 * var(--pe-rem));
        padding-inline: calc(0.3 * var(--pe-rem));
      }

      .readings {
        display: grid;
        grid-template-columns: auto 1fr;
        align-items: baseline;
        gap: var(--pe-space-2) var(--pe-space-3);
      }
      .readings dt {
        white-space: nowrap;
      }
      .readings dd {
        display: grid;
        grid-template-columns: calc(4.6 * var(--pe-rem)) 1fr;
        align-items: baseline;
        gap: 0 var(--pe-space-2);
      }
      .readings dd span {
        color: var(--pe-ink-2);
      }
      .readings .score output {
        font-size: var(--pe-text-l);
        font-weight: 600;
      }
      .readings dd .note {
        grid-column: 1 / -1;
      }
      .readings dd span {
        grid-column: 1 / -1;
        font-size: 12px;
      }
      .fresh {
        grid-column: 1 / -1;
      }
      .readings dd span {
        white-space: nowrap;
      }
      .readings output {
        white-space: nowrap;
      }

      .share-head {
        display: grid;
        grid-template-columns: minmax(0, 1fr) calc(3.4 * var(--pe-rem)) calc(3.9 * var(--pe-rem));
        align-items: baseline;
        padding-bottom: var(--pe-space-1);
        color: var(--pe-ink-2);
      }
      .shares :is(b, small) {
        justify-self: end;
        white-space: nowrap;
      }
      small,
      .period {
        font-size: 12px;
        color: var(--pe-ink-2);
      }
      .share {
        position: relative;
        display: grid;
        grid-template-columns: 76px minmax(0, 1fr) calc(3.4 * var(--pe-rem)) calc(3.9 * var(--pe-rem));
        align-content: space-between;
        align-items: baseline;
        line-height: 1.3;
        border-top: 1px solid transparent;
        border-radius: var(--pe-radius);
        cursor: pointer;
      }
      .share:hover,
      .share:has(:checked) {
        background: var(--pe-surface);
      }
      .share:has(:checked) {
        box-shadow: -3px 0 0 var(--pe-dim);
      }
      .share:has(:focus-visible) {
        outline: 2px solid var(--pe-focus);
      }
      .share input {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
        margin: 0;
        opacity: 0;
        cursor: pointer;
      }
      .share:has(:disabled),
      .share :disabled {
        cursor: default;
      }
      .share.total {
        border-top: 1px solid var(--pe-rule);
        border-radius: 0;
        cursor: default;
      }
      .total .speed {
        grid-column: span 2;
      }
      .small {
        grid-row: 1 / span 3;
        align-self: center;
        margin-inline-start: 4px;
      }
      .shares.low .share {
        grid-template-columns: 50px minmax(0, 1fr) calc(3.4 * var(--pe-rem)) calc(3.9 * var(--pe-rem));
      }
      .speed {
        white-space: nowrap;
      }
      .low :is(.period, .word) {
        display: none;
      }
      .period {
        grid-column: 2 / -1;
      }
      .bars {
        display: block;
        grid-column: 2 / -1;
        align-self: end;
        width: 100%;
        overflow: visible;
      }
      .bars :is(line, path) {
        fill: none;
        vector-effect: non-scaling-stroke;
      }
      .zero {
        stroke: var(--pe-rule);
      }
      .chain {
        stroke: var(--pe-rope);
        stroke-dasharray: 1 2;
      }
      .after {
        fill: var(--pe-rope);
      }
      .before {
        fill: var(--pe-ink-2);
      }

      .waves p {
        color: var(--pe-ink-2);
      }
      .waves b {
        font-weight: 600;
      }
      .waves b:not(.k) {
        color: var(--pe-ink);
      }
      .alone {
        fill: none;
        stroke: var(--pe-k);
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .together {
        stroke: var(--pe-ink);
        stroke-width: 1.75;
        stroke-dasharray: 6 3;
      }
      .mark {
        stroke: var(--pe-q);
        stroke-dasharray: 2 3;
      }
      .here {
        fill: var(--pe-k);
        stroke: var(--pe-bg);
        stroke-width: 2;
      }

      [data-lit="q"] [data-symbol="q"] .shaft,
      [data-lit="k"] [data-symbol="k"] .shaft {
        stroke-width: 5;
      }
      [data-lit="m"] .arc[data-symbol="m"],
      [data-lit="n"] .arc[data-symbol="n"] {
        stroke-width: 4;
      }
      [data-lit="m"] .mark[data-symbol="m"] {
        stroke-width: 2.5;
      }
      [data-lit="q"] mi[data-symbol="q"],
      [data-lit="k"] mi[data-symbol="k"],
      [data-lit="m"] :is(mi, dt)[data-symbol="m"],
      [data-lit="n"] :is(mi, dt)[data-symbol="n"] {
        background: color-mix(in srgb, currentColor 18%, transparent);
        border-radius: 3px;
      }
      [data-lit="m"] .control[data-symbol="m"] .label,
      [data-lit="n"] .control[data-symbol="n"] .label {
        text-decoration: underline;
        text-decoration-thickness: 2px;
        text-underline-offset: 3px;
      }
      @media (forced-colors: active) {
        .share:has(:checked) {
          outline: 2px solid Highlight;
        }
        .after,
        .before,
        .chain {
          forced-color-adjust: none;
        }
      }
      @media print {
        .moves,
        .settings {
          display: none;
        }
      }
    `,
  ];
}

const TOTAL_HEIGHT = 24;

interface Label {
  name: "q" | "k";
  position: number | null;
  x: number;
  y: number;
}

/** Names outside the tips, moved apart where they would cover each other. */
function place4(
  dial: Dial,
  side: number,
  tips: { name: "q" | "k"; position: number | null; at: Point }[],
): Label[] {
  const labels = tips
    // Where a hand has not turned, one name is enough.
    .filter(({ position, at }, i) => {
      const turned = tips[i + 2]?.at;
      return (
        position !== null || !turned || Math.hypot(turned[0] - at[0], turned[1] - at[1]) * dial.scale > 12
      );
    })
    .map(({ name, position, at }) => {
      const [x, y] = onDial(dial, at);
      const length = Math.hypot(x - dial.centre, y - dial.centre) || 1;
      const width = position === null ? 10 : 36 + 9 * String(position).length;
      const [ux, uy] = [(x - dial.centre) / length, (y - dial.centre) / length];
      return { name, position, width, x: x + ux * (10 + width / 2), y: y + uy * 17 };
    });
  for (let round = 0; round < 12; round++) {
    for (const a of labels) {
      for (const b of labels) {
        const over = (a.width + b.width) / 2 + 4 - Math.abs(a.x - b.x);
        const under = 17 - Math.abs(a.y - b.y);
        if (a === b || over <= 0 || under <= 0) continue;
        const up = a.y < b.y || (a.y === b.y && labels.indexOf(a) < labels.indexOf(b)) ? -1 : 1;
        a.y += (up * under) / 2;
        b.y -= (up * under) / 2;
      }
    }
    for (const label of labels) {
      for (const tip of tips) {
        const [x, y] = onDial(dial, tip.at);
        const under = 17 - Math.abs(label.y - y);
        if (Math.abs(label.x - x) < label.width / 2 + 7 && under > 0) label.y += label.y < y ? -under : under;
      }
      label.x = Math.max(label.width / 2, Math.min(side - label.width / 2, label.x));
      label.y = Math.max(9, Math.min(side - 9, label.y));
    }
  }
  return labels;
}

define("pe-rope", PeRope);
