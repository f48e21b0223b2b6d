// ALiBi: the slope of each head, the bias it makes of distance, and how many keys are left to see.
// Based on: Press et al. 2021, Train Short, Test Long, section 3 and get_slopes.

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels, paint } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { nearestShare, type Sight, windowOf } from "./alibi-window.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { fixed, signed, significant, superscript } from "./format.ts";
import { cellAt, walk } from "./map-grid.ts";
import { LEFT, queryKeyMaps, queryKeyStyles } from "./query-key-map.ts";
import type { State } from "./state.ts";

const SHARE = 0.99;
/** The maps show this many positions at most, and biases down to this one. */
const MOST_CELLS = 32;
const LOWEST = -8;
/** Pixels: between the columns, and of the two plots. */
const GAP = 40;
const PLOT_HEIGHT = 210;
const MOST_CURVES = 24;
/** From LOWEST and beyond to nothing taken away: red, green, blue. */
const GREENS = Uint8Array.of(...[2, 60, 48, 38, 128, 104, 120, 190, 165], ...[205, 231, 219, 252, 251, 248]);

const fields = {
  "num-heads": { kind: "integer", fallback: 8, min: 1, max: 128 },
  "alibi-bias-max": { kind: "number", fallback: 8, min: 0.01, max: 64 },
  head: { kind: "integer", fallback: 3, min: 1, max: 128 },
  "seq-len": { kind: "integer", fallback: 4096, min: 1, max: 65536 },
  causal: { kind: "flag", fallback: true },
  query: { kind: "choice", fallback: "last", choices: ["last", "middle"] },
  row: { kind: "integer", fallback: 12, min: 0, max: MOST_CELLS - 1 },
  column: { kind: "integer", fallback: 8, min: 0, max: MOST_CELLS - 1 },
} as const;
type AlibiState = State<typeof fields>;

type Map = "causal" | "symmetric";

interface Model {
  slopes: Float64Array;
  /** Heads up to this one take the slopes of a power of two. */
  power: number;
  /** The head that is read, from 0. */
  head: number;
  windows: number[];
  sight: Sight;
  /** Positions of the maps. */
  cells: number;
  /** (cells, cells), −∞ where masked. */
  bias: Record<Map, Float64Array>;
  pixels: Record<Map, Float32Array>;
  row: number;
  column: number;
  core: Posenc;
}

const short = (value: number): string =>
  value >= 1e-3 ? String(Number(value.toPrecision(4))) : significant(value, 3);
const count = (value: number, word: string): string =>
  `${fixed(value, 0)}\u00a0${word}${value === 1 ? "" : "s"}`;
const biasText = (value: number): string =>
  value === Number.NEGATIVE_INFINITY ? "masked" : value === 0 ? "0" : significant(value, 4);

/** What the last, or a middle, query of a sequence sees. */
function sightOf({ "seq-len": seqLen, causal, query }: AlibiState): Sight {
  const at = query === "last" ? seqLen - 1 : Math.floor(seqLen / 2);
  return { left: at, right: causal ? 0 : seqLen - 1 - at };
}

/**
 * Slopes of all ALiBi heads, the softmaxed window of each, and the bias map of one.
 *
 * @attr num-heads - Heads; also a number that is not a power of two.
 * @attr alibi-bias-max - The last slope of a power of two is 2 to the minus this.
 * @attr head - The head that is read, from 1 as h in the formula; the last there is if there are fewer.
 * @attr seq-len - Positions of the sequence that the windows are counted in.
 * @attr causal - Whether keys after the query are masked in the windows.
 * @attr query - The query of the windows.
 * @attr row - The query that is read in the maps, from 0.
 * @attr column - The key that is read in the maps, from 0.
 * @cssprop --pe-alibi - Colour of slopes and windows.
 * @cssprop --pe-q - Colour of queries.
 * @cssprop --pe-k - Colour of keys.
 * @cssprop --pe-pos - Colour of distances.
 */
export class PeAlibi extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "One slope for each head, and how far it sees";

  protected override compute(core: Posenc, state: AlibiState): Model {
    const { "num-heads": numHeads, "alibi-bias-max": alibiBiasMax } = state;
    const slopes = core.alibiSlopes({ numHeads, alibiBiasMax });
    const head = Math.min(state.head, numHeads) - 1;
    const sight = sightOf(state);
    const cells = Math.min(state["seq-len"], MOST_CELLS);
    const own = slopes.slice(head, head + 1);
    const bias = { causal: core.alibiBias(own, cells, true), symmetric: core.alibiBias(own, cells, false) };
    const pixels = (values: Float64Array) =>
      Float32Array.from(values, (value) => (Number.isFinite(value) ? value : Number.NaN));
    return {
      slopes,
      power: 2 ** Math.floor(Math.log2(numHeads)),
      head,
      windows: Array.from(slopes, (slope) => windowOf(slope, SHARE, sight)),
      sight,
      cells,
      bias,
      pixels: { causal: pixels(bias.causal), symmetric: pixels(bias.symmetric) },
      row: Math.min(state.row, cells - 1),
      column: Math.min(state.column, cells - 1),
      core,
    };
  }

  protected override takeaway(
    { slopes, windows, sight, head }: Model,
    { causal, query }: AlibiState,
  ): string {
    const seen = 1 + sight.left + sight.right;
    const steepest = slopes.indexOf(Math.max(...slopes));
    const flattest = slopes.indexOf(Math.min(...slopes));
    const of = (h: number) => fixed(windows[h] ?? 0, 0);
    const who = `${query === "last" ? "the last" : "a middle"} query, which sees ${count(seen, "key")}`;
    const looks =
      slopes.length === 1
        ? `With equal content 99 % of the weight of ${who}, lies on the nearest ${of(0)} in the one head.`
        : `With equal content 99 % of the weight of ${who}, lies on the nearest ${of(steepest)} in the steepest head ` +
          `(${steepest + 1}), on the nearest ${of(flattest)} in the flattest (${flattest + 1})` +
          `${head === steepest || head === flattest ? "." : ` and on ${of(head)} in head ${head + 1}.`}`;
    return causal
      ? looks
      : `${looks} Keys left and right weigh the same: the symmetric bias cannot tell one side from the other.`;
  }

  protected override dataTable({ slopes, power, windows, sight }: Model): DataTable {
    return {
      caption: `Slope and window of each head; the query sees ${fixed(1 + sight.left + sight.right, 0)} keys`,
      head: ["head", "slope", "from the slopes of", "nearest keys that hold 99 %"],
      rows: Array.from(slopes, (slope, h) => [
        h + 1,
        short(slope),
        `${h < power ? power : 2 * power} heads`,
        fixed(windows[h] ?? 0, 0),
      ]),
    };
  }

  protected override array({ slopes, windows }: Model): NamedArray {
    return {
      name: "alibi_heads",
      shape: [slopes.length, 2],
      values: Float64Array.from(Array.from(slopes, (slope, h) => [slope, windows[h] ?? 0]).flat()),
      columns: ["slope", "window_99"],
    };
  }

  protected override numpy(state: AlibiState): string {
    const { "num-heads": numHeads, "alibi-bias-max": biasMax, "seq-len": seqLen, causal, query } = state;
    const cells = Math.min(seqLen, MOST_CELLS);
    return `import matplotlib.pyplot as plt
import numpy as np

num_heads, alibi_bias_max, seq_len = ${numHeads}, ${biasMax}, ${seqLen}

def power_of_two_slopes(n):
    return 2.0 ** (-alibi_bias_max * np.arange(1, n + 1) / n)

power = 2 ** int(np.log2(num_heads))
slopes = np.r_[power_of_two_slopes(power), power_of_two_slopes(2 * power)[0::2][:num_heads - power]]

query = ${query === "last" ? "seq_len - 1" : "seq_len // 2"}
distance = np.abs(np.arange(${causal ? "query + 1" : "seq_len"}) - query)
distance.sort()
weights = np.exp(-slopes[:, None] * distance)
share = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
window = (share >= ${SHARE}).argmax(axis=1) + 1

cells, head = ${cells}, ${Math.min(state.head, numHeads) - 1}
relative_position = np.arange(cells)[None, :] - np.arange(cells)[:, None]
symmetric = -slopes[head] * np.abs(relative_position)
causal = np.where(relative_position > 0, -np.inf, symmetric)

figure, axes = plt.subplots(2, 2, figsize=(12, 8))
axes[0, 0].stem(np.arange(1, num_heads + 1), slopes, bottom=slopes.min() / 2)
axes[0, 0].set(yscale="log", xlabel="head", ylabel="slope")
axes[1, 0].semilogx(np.arange(1, len(distance) + 1), 100 * share.T)
axes[1, 0].plot(window, np.full(num_heads, 100 * ${SHARE}), "o")
axes[1, 0].set(xlabel="nearest keys", ylabel="% of the weight")
for axis, bias, name in zip(axes[:, 1], (causal, symmetric), ("causal", "symmetric")):
    image = axis.imshow(bias, vmin=${LOWEST}, vmax=0, cmap="Greens_r")
    axis.set(title=f"bias of head {head + 1}, {name}", xlabel="key", ylabel="query")
    figure.colorbar(image)
print(slopes, window)
plt.show()
`;
  }

  // ------------------------------------------------------------------------------------------------- picture

  get #wide(): boolean {
    return this.width >= 820;
  }
  /** Width of a plot, and side of a map. */
  get #plotWidth(): number {
    return Math.floor(this.#wide ? (this.width - GAP) / 2 : this.width);
  }
  get #side(): number {
    return Math.floor(Math.min(228, (this.#plotWidth - LEFT - 12) / 2));
  }

  protected override picture(model: Model, state: AlibiState): TemplateResult {
    return html`
      <div class="stage ${this.#wide ? "wide" : ""}" data-picture>
        <div>${this.#slopes(model, state)} ${this.#shares(model)}</div>
        <div class="right">
          ${this.#maps(model)}
          ${this.#readout(model)}
        </div>
      </div>
      ${this.#controls(model, state)}
    `;
  }

  /** A press or a drag over the plot, in pixels of the plot's own. */
  #over(onPixel: (x: number) => void) {
    return (event: PointerEvent): void => {
      if (event.type === "pointermove" && event.buttons !== 1) return;
      onPixel(share(event)[0] * this.#plotWidth);
    };
  }

  #slopes({ slopes, power, head }: Model, { "alibi-bias-max": biasMax }: AlibiState): TemplateResult {
    const width = this.#plotWidth;
    const bottom = PLOT_HEIGHT - 40;
    const heads = slopes.length;
    const [least, most] = [Math.log2(Math.min(...slopes)), Math.log2(Math.max(...slopes))];
    const x: Axis = { domain: [0.5, heads + 0.5], range: [LEFT, width - 8] };
    // In powers of two; a stem has a length even where all slopes are one.
    const room = Math.max(0.5, (most - least) * 0.12);
    const y: Axis = { domain: [least - room, most + room], range: [bottom, 10] };
    const powers = ticks(y, 30).filter(Number.isInteger);
    const radius = clamp((width / heads) * 0.3, 1.5, 5);
    const slope = slopes[head] ?? 0;
    const pick = this.#over((pixel) =>
      this.set({ head: clamp(Math.round(valueAt(x, pixel)), 1, this.state["num-heads"]) }),
    );
    const extra = head >= power;
    const [step, of] = extra ? [2 * (head - power) + 1, 2 * power] : [head + 1, power];
    return html`
      <p class="lead">
        <span>head <b>${head + 1}</b></span>
        <span>slope = 2<sup>−${short(biasMax)} · ${step}/${of}</sup> = <b>${short(slope)}</b></span>
      </p>
      <svg
        class="plot"
        width=${width}
        height=${PLOT_HEIGHT}
        role="img"
        aria-label="Slope of each head, in powers of two. Head ${head + 1}: ${short(slope)}"
        @pointerdown=${pick}
        @pointermove=${pick}
      >
        <rect class="field" x=${LEFT} y="0" width=${width - LEFT} height=${bottom}></rect>
        <g class="axis">
          ${powers.map(
            (power) => svg`<line x1=${LEFT - 5} x2=${LEFT} y1=${place(y, power)} y2=${place(y, power)}></line>
              <text x=${LEFT - 8} y=${place(y, power)} text-anchor="end" dominant-baseline="central">${power === 0 ? "1" : `2${superscript(power)}`}</text>`,
          )}
        </g>
        ${bottomAxis(x, bottom, headTicks(x, heads))}
        <text class="axis-name" x=${width - 8} y=${PLOT_HEIGHT - 4} text-anchor="end">head</text>
        ${Array.from(slopes, (value, h) => {
          const kind = `${h === head ? "active" : ""} ${h >= power ? "extra" : ""}`;
          const [px, py] = [place(x, h + 1), place(y, Math.log2(value))];
          return svg`<g class="stem ${kind}">
            <line x1=${px} x2=${px} y1=${bottom} y2=${py + radius}></line>
            <circle cx=${px} cy=${py} r=${h === head ? radius + 1.5 : radius}></circle>
          </g>`;
        })}
      </svg>
      <p class="legend">
        ${
          power === heads
            ? html`${count(heads, "head")}, a power of two: the slopes are 2<sup>−${short(biasMax)} · h/${heads}</sup>.`
            : html`Heads 1–${power}: the slopes of ${count(power, "head")}. <span class="hollow">Hollow</span>: every other slope
                of the doubled set (${count(2 * power, "head")}).`
        }
      </p>
    `;
  }

  /** How the weight adds up over the nearest keys, one curve for each head, and where it passes 99 %. */
  #shares({ slopes, windows, sight, head }: Model): TemplateResult {
    const width = this.#plotWidth;
    const bottom = PLOT_HEIGHT - 40;
    const seen = 1 + sight.left + sight.right;
    const decades = Math.max(1, Math.log10(seen));
    const x: Axis = { domain: [0, decades], range: [LEFT, width - 12] };
    const y: Axis = { domain: [0, 1], range: [bottom, 14] };
    const samples = [...new Set(Array.from({ length: 97 }, (_, i) => Math.round(seen ** (i / 96))))];
    const curve = (slope: number) =>
      linePath(
        samples.map((keys) => nearestShare(slope, keys, sight)),
        (i) => place(x, Math.log10(samples[i] ?? 1)),
        (share) => place(y, share),
      );
    // The head whose window is nearest to the pointer.
    const pick = this.#over((pixel) => {
      const distance = (h: number) => Math.abs(place(x, Math.log10(windows[h] ?? 1)) - pixel);
      const nearest = windows.reduce((best, _, h) => (distance(h) < distance(best) ? h : best), 0);
      this.set({ head: nearest + 1 });
    });
    const whole = Array.from({ length: Math.floor(decades) + 1 }, (_, i) => i);
    const mark = (h: number) => svg`<circle
      class=${h === head ? "active" : ""}
      cx=${place(x, Math.log10(windows[h] ?? 1))}
      cy=${place(y, SHARE)}
      r=${h === head ? 5.5 : slopes.length > MOST_CURVES ? 2 : 3}
    ></circle>`;
    const others = Array.from(slopes.keys()).filter((h) => h !== head);
    // Many curves would run together: every second, third… by slope is drawn, the flattest and the steepest always.
    const step = Math.ceil(slopes.length / MOST_CURVES);
    const bySlope = Array.from(slopes.keys()).sort((a, b) => (slopes[a] ?? 0) - (slopes[b] ?? 0));
    const drawn = bySlope.filter((_, i) => i % step === 0 || i === slopes.length - 1);
    return html`
      <p class="lead">
        <span>99 % of the weight on the nearest <b>${fixed(windows[head] ?? 0, 0)}</b> of ${count(seen, "key")}</span>
      </p>
      <svg
        class="plot"
        width=${width}
        height=${PLOT_HEIGHT}
        role="img"
        aria-label="Share of the weight on the nearest keys, a curve for each head. Head ${head + 1} reaches 99 % at ${windows[head]} keys"
        @pointerdown=${pick}
        @pointermove=${pick}
      >
        <rect class="field" x=${LEFT} y="0" width=${width - LEFT} height=${bottom}></rect>
        <g class="axis">
          ${whole.map(
            (
              power,
            ) => svg`<line x1=${place(x, power)} x2=${place(x, power)} y1=${bottom} y2=${bottom + 5}></line>
              <text x=${place(x, power)} y=${bottom + 19} text-anchor="middle">${fixed(10 ** power, 0)}</text>`,
          )}
          ${[0, 0.5, SHARE].map(
            (share) => svg`<line x1=${LEFT - 5} x2=${LEFT} y1=${place(y, share)} y2=${place(y, share)}></line>
              <text x=${LEFT - 8} y=${place(y, share)} text-anchor="end" dominant-baseline="central">${100 * share} %</text>`,
          )}
        </g>
        <line class="level" x1=${LEFT} x2=${width - 12} y1=${place(y, SHARE)} y2=${place(y, SHARE)}></line>
        <text class="axis-name pos" x=${width - 12} y=${PLOT_HEIGHT - 4} text-anchor="end" data-symbol="pos">
          nearest keys
        </text>
        ${drawn.map((h) => svg`<path class="share" d=${curve(slopes[h] ?? 0)}></path>`)}
        ${svg`<path class="share active" d=${curve(slopes[head] ?? 0)}></path>`} ${others.map(mark)} ${mark(head)}
      </svg>
    `;
  }

  #maps({ cells, row, column, bias, head }: Model): TemplateResult {
    const side = this.#side;
    const map = (name: Map) => ({
      name,
      title: name,
      label: `Bias of head ${head + 1}, ${name}`,
      words: `query ${row}, key ${column}: ${biasText(bias[name][row * cells + column] ?? 0)}`,
    });
    const masked = svg`<path class="masked" d=${maskedPath(cells, side / cells)}></path>
      <text x=${side * 0.7} y=${side * 0.3} text-anchor="middle">masked</text>`;
    return queryKeyMaps([{ ...map("causal"), over: masked }, map("symmetric")], {
      cells,
      side,
      query: row,
      key: column,
      onKey: this.#walk,
      onPoint: this.#point,
    });
  }

  #readout({ row, column, cells, bias, slopes, head }: Model): TemplateResult {
    const width = 2 * this.#side + 12;
    const at = (name: Map) => bias[name][row * cells + column] ?? 0;
    const other = 2 * row - column;
    const mirrored = column !== row && other >= 0 && other < cells;
    return html`
      <svg class="scale" width=${LEFT + width} height="36" aria-hidden="true">
        <text x=${LEFT} y="33">bias 0</text>
        <text x=${LEFT + width} y="33" text-anchor="end">${fixed(LOWEST, 0)} and below</text>
      </svg>
      <canvas class="bar" data-map="bar" aria-hidden="true" .style=${`width:${width}px;margin-inline-start:${LEFT}px`}></canvas>
      <dl class="readout">
        <div data-symbol="q"><dt class="q">query</dt><dd>${row}</dd></div>
        <div data-symbol="k"><dt class="k">key</dt><dd>${column}</dd></div>
        <div data-symbol="pos"><dt class="pos">relative position</dt><dd>${signed(column - row)}</dd></div>
        <div><dt>causal</dt><dd>${biasText(at("causal"))}</dd></div>
        <div><dt>symmetric</dt><dd>${biasText(at("symmetric"))}</dd></div>
      </dl>
      <p class="mirror">
        ${
          mirrored
            ? `Symmetric: key ${other}, at ${signed(other - row)}, has the same bias ${biasText(-(slopes[head] ?? 0) * Math.abs(other - row))}. It cannot tell left from right.`
            : "Symmetric: the bias at +d is that at −d. It cannot tell left from right."
        }
      </p>
    `;
  }

  #controls({ slopes, head }: Model, state: AlibiState): TemplateResult {
    return html`
      <div class="controls">
        ${slider({
          field: "head",
          label: "head",
          value: head + 1,
          min: 1,
          max: Math.max(2, slopes.length),
          spoken: `head ${head + 1} of ${slopes.length}`,
          onInput: (value) => this.set({ head: Math.min(value, this.state["num-heads"]) }),
        })}
        ${slider({
          field: "num-heads",
          label: "num_heads",
          value: slopes.length,
          min: 1,
          max: 128,
          spoken: count(slopes.length, "head"),
          onInput: (value) => this.set({ "num-heads": value, head: Math.min(this.state.head, value) }),
        })}
        ${slider({
          field: "alibi-bias-max",
          label: "alibi_bias_max",
          value: state["alibi-bias-max"],
          min: 1,
          max: 16,
          step: 0.5,
          most: fields["alibi-bias-max"].max,
          onInput: (value) => this.set({ "alibi-bias-max": value }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len",
          symbol: "pos",
          value: state["seq-len"],
          min: 8,
          max: 16384,
          most: fields["seq-len"].max,
          logarithmic: true,
          spoken: count(state["seq-len"], "position"),
          onInput: (value) => this.set({ "seq-len": Math.round(value) }),
        })}
        ${choice({
          field: "causal",
          label: "windows: keys after the query",
          symbol: "k",
          value: String(state.causal),
          options: [
            ["true", "masked (causal)"],
            ["false", "seen (symmetric)"],
          ],
          onInput: (value) => this.set({ causal: value === "true" }),
        })}
        ${choice({
          field: "query",
          label: "windows: of the query",
          symbol: "q",
          value: state.query,
          options: [
            ["last", "at the end"],
            ["middle", "in the middle"],
          ],
          onInput: (value) => this.set({ query: value as AlibiState["query"] }),
        })}
      </div>
    `;
  }

  // ------------------------------------------------------------------------------------------------- reading

  #point = (event: PointerEvent): void => {
    if (event.type === "pointermove" && event.pointerType !== "mouse" && event.buttons !== 1) return;
    const cells = Math.min(this.state["seq-len"], MOST_CELLS);
    const [row, column] = cellAt(share(event), [cells, cells]);
    if (row !== this.state.row || column !== this.state.column) this.set({ row, column });
  };

  #walk = (event: KeyboardEvent): void => {
    const cells = Math.min(this.state["seq-len"], MOST_CELLS);
    const to = walk(
      event,
      [Math.min(this.state.row, cells - 1), Math.min(this.state.column, cells - 1)],
      cells,
    );
    if (to) this.set({ row: to[0], column: to[1] });
  };

  protected override draw(model: Model): void {
    const { cells, pixels, core } = model;
    // Whole pixels for each cell, so that none mixes two of them.
    const size = cells * Math.ceil(devicePixels(this.#side) / cells);
    const key = [pixels.causal, size];
    if (key.every((part, i) => part === this.painted[i])) return;
    this.painted = key;
    const lut = core.lut(GREENS);
    const canvas = (name: string) =>
      this.renderRoot.querySelector<HTMLCanvasElement>(`canvas[data-map="${name}"]`) as HTMLCanvasElement;
    const config = { rows: cells, cols: cells, width: size, height: size, vmin: LOWEST, vmax: 0 };
    for (const name of ["causal", "symmetric"] as const) {
      paint(canvas(name), core.colormap(pixels[name], lut, config), size, size);
    }
    const ramp = Float32Array.from({ length: 256 }, (_, i) => -i / 255);
    const strip = { rows: 1, cols: 256, width: 256, height: 1, vmin: -1, vmax: 0 };
    paint(canvas("bar"), core.colormap(ramp, lut, strip), 256, 1);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    queryKeyStyles,
    takeawayRoom([0, 13.1], [390, 8.7], [560, 5.8]),
    css`
      p {
        margin: 0;
      }
      .stage {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: var(--pe-space-4) ${GAP}px;
      }
      .stage.wide {
        grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
      }
      svg {
        display: block;
        overflow: visible;
      }
      .lead {
        display: flex;
        flex-wrap: wrap;
        gap: 0 var(--pe-space-3);
        min-height: 1.6em;
      }
      .lead sup {
        line-height: 0;
      }
      .plot {
        cursor: pointer;
        touch-action: pan-y pinch-zoom;
      }
      .field {
        fill: transparent;
      }
      .stem line {
        stroke: var(--pe-alibi);
        stroke-opacity: 0.55;
      }
      .stem circle {
        fill: var(--pe-alibi);
        stroke: var(--pe-alibi);
        stroke-width: 1.5;
      }
      .stem.extra circle {
        fill: var(--pe-bg);
      }
      .stem.extra line {
        stroke-dasharray: 3 3;
      }
      .stem.active line {
        stroke-width: 2.5;
        stroke-opacity: 1;
      }
      .stem.active circle {
        stroke: var(--pe-ink);
        stroke-width: 2;
      }
      .legend {
        min-height: 2.9em;
        margin-block: var(--pe-space-1) var(--pe-space-3);
        color: var(--pe-ink-2);
        text-wrap: pretty;
      }
      @container (max-width: 480px) {
        .legend {
          min-height: 4.35em;
        }
      }
      .hollow {
        font-weight: 600;
      }
      .level {
        stroke: var(--pe-ink-2);
        stroke-dasharray: 2 3;
      }
      .share {
        fill: none;
        stroke: var(--pe-alibi);
        stroke-opacity: 0.35;
        stroke-linejoin: round;
      }
      .share.active {
        stroke-opacity: 1;
        stroke-width: 2.5;
      }
      .plot > circle {
        fill: var(--pe-alibi);
      }
      .plot > circle.active {
        stroke: var(--pe-ink);
        stroke-width: 2;
      }
      .masked {
        fill: var(--pe-surface);
        stroke: var(--pe-ink-2);
      }
      .bar {
        display: block;
        height: 10px;
        margin-top: -30px;
        margin-bottom: 32px;
        outline: 1px solid var(--pe-rule);
      }
      .readout {
        display: grid;
        grid-template-columns: repeat(3, minmax(0, 1fr));
        gap: var(--pe-space-2) var(--pe-space-3);
        margin-top: var(--pe-space-3);
      }
      @container (min-width: 480px) {
        .readout {
          grid-template-columns: repeat(5, auto);
          justify-content: space-between;
        }
      }
      .readout dt:not([class]) {
        color: var(--pe-ink-2);
      }
      .readout dd {
        font-size: var(--pe-text-m);
        font-weight: 600;
      }
      .mirror {
        min-height: 2.9em;
        margin-top: var(--pe-space-2);
        color: var(--pe-ink-2);
      }
      @container (max-width: 359px) {
        .mirror {
          min-height: 4.35em;
        }
      }
    `,
  ];
}

/** The cells above the diagonal: a staircase down, and back along the edge. */
function maskedPath(cells: number, unit: number): string {
  const stairs = Array.from({ length: cells - 1 }, (_, i) => `V${(i + 1) * unit}H${(i + 2) * unit}`);
  return cells === 1 ? "" : `M${unit} 0${stairs.join("")}V0Z`;
}

/** Whole heads, the first among them. */
function headTicks(x: Axis, heads: number): number[] {
  const round = ticks({ ...x, domain: [1, Math.max(2, heads)] }, heads < 100 ? 32 : 44).filter(
    (h) => Number.isInteger(h) && h > 1 && h <= heads,
  );
  return [1, ...round.filter((h) => place(x, h) - place(x, 1) > 22)];
}

define("pe-alibi", PeAlibi);
