// T5's relative position bias: which distances share a bucket, and the bias that a table makes of the buckets.
// Based on: Raffel et al. 2020, T5, section 2.1; transformers, _relative_position_bucket.

import { type CSSResultGroup, css, html, type TemplateResult } from "lit";
import { clamp, valueAt } from "../draw/axis.ts";
import type { NamedArray } from "../draw/npy.ts";
import { devicePixels, paint } from "../draw/pixels.ts";
import { share } from "../draw/point.ts";
import type { Posenc, T5Config } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { fixed, signed } from "./format.ts";
import { type Cell, cellAt, walk } from "./map-grid.ts";
import { paintBar } from "./matrix-map.ts";
import { LEFT, queryKeyMaps, queryKeyStyles } from "./query-key-map.ts";
import type { State } from "./state.ts";
import { bucketColors, FAN_HEIGHT, fan, lineAxis, type Run, runsOf } from "./t5-fan.ts";

const MOST_DISTANCE = 4096;

const fields = {
  bidirectional: { kind: "flag", fallback: true },
  "num-buckets": { kind: "integer", fallback: 32, min: 2, max: 128 },
  "max-distance": { kind: "integer", fallback: 128, min: 2, max: MOST_DISTANCE },
  "num-heads": { kind: "integer", fallback: 12, min: 1, max: 128 },
  head: { kind: "integer", fallback: 1, min: 1, max: 128 },
  seed: { kind: "integer", fallback: 0, min: 0, max: 2 ** 31 - 1 },
  "seq-len": { kind: "integer", fallback: 32, min: 1, max: 64 },
  query: { kind: "integer", fallback: 20, min: 0, max: 63 },
  "relative-position": { kind: "integer", fallback: -12, min: -8192, max: 8192 },
} as const;
type T5State = State<typeof fields>;

interface Model {
  runs: Run[];
  /** The run that holds the relative position that is read. */
  active: number;
  relativePosition: number;
  head: number;
  /** (numBuckets, numHeads), seeded. */
  table: Float64Array;
  /** This head's column of it, and its largest magnitude rounded up. */
  column: Float64Array;
  limit: number;
  seqLen: number;
  query: number;
  /** null: the key that is read stands outside the map. */
  key: number | null;
  buckets: Int32Array;
  bias: Float64Array;
  config: Required<T5Config>;
  core: Posenc;
}

/** The stretch of a run in words; `with` those that are not the one read. */
function stretch(runs: readonly Run[], i: number): string {
  const { from, to } = runs[i] ?? { from: 0, to: 0 };
  if (runs.length === 1) return "all of them";
  if (i === 0) return `${signed(to)} and before`;
  if (i === runs.length - 1) return from === to && to === 0 ? "0 and after" : `${signed(from)} and after`;
  return from === to ? `${signed(from)} alone` : `${signed(from)} to ${signed(to)}`;
}

/**
 * The buckets of relative positions, and the bias map of a random table.
 *
 * @attr bidirectional - true: an encoder, which tells keys before from keys after; false: a decoder.
 * @attr num-buckets - Rows of the table; even and at least 4 for an encoder.
 * @attr max-distance - From here on all distances share a bucket at the latest.
 * @attr num-heads - Columns of the table.
 * @attr head - The head that is shown, from 1.
 * @attr seed - Chooses the table.
 * @attr seq-len - Positions of the maps.
 * @attr query - The query that is read in the maps, from 0.
 * @attr relative-position - The one that is read: key minus query.
 * @cssprop --pe-pos - Colour of relative positions.
 * @cssprop --pe-q - Colour of queries.
 * @cssprop --pe-k - Colour of keys.
 * @cssprop --pe-t5 - Colour of the bucket that is read.
 */
export class PeT5 extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "Which distances share a bias";

  protected override compute(core: Posenc, state: T5State): Model {
    const { "num-heads": numHeads, "seq-len": seqLen, "num-buckets": numBuckets } = state;
    const config = { numBuckets, maxDistance: state["max-distance"], bidirectional: state.bidirectional };
    // The line ends a little beyond the last edge; a decoder has nothing to show of keys after the query.
    const far = Math.ceil(config.maxDistance * 1.1) + 1;
    const near = config.bidirectional ? far : Math.ceil(far / 12);
    const every = core.t5Buckets(
      Int32Array.from({ length: far + near + 1 }, (_, i) => i - far),
      config,
    );
    const runs = runsOf(every, -far);
    const relativePosition = clamp(state["relative-position"], -far, near);
    const table = core.randomNormal(numBuckets * numHeads, state.seed);
    const head = Math.min(state.head, numHeads) - 1;
    const column = Float64Array.from({ length: numBuckets }, (_, b) => table[b * numHeads + head] ?? 0);
    const square = Int32Array.from(
      { length: seqLen * seqLen },
      (_, i) => (i % seqLen) - Math.floor(i / seqLen),
    );
    const query = Math.min(state.query, seqLen - 1);
    const key = query + relativePosition;
    return {
      runs,
      active: runs.findIndex(({ from, to }) => from <= relativePosition && relativePosition <= to),
      relativePosition,
      head,
      table,
      column,
      limit: Math.ceil(2 * table.reduce((most, value) => Math.max(most, Math.abs(value)), 0)) / 2,
      seqLen,
      query,
      key: key >= 0 && key < seqLen ? key : null,
      buckets: core.t5Buckets(square, config),
      bias: core.t5Bias(column, 1, seqLen, seqLen, config),
      config,
      core,
    };
  }

  protected override takeaway(model: Model, { "num-heads": numHeads }: T5State): string {
    const { runs, active, relativePosition, config } = model;
    const { bucket } = runs[active] ?? { bucket: 0 };
    // Of a decoder's bucket 0 the mask leaves distance 0.
    const own = runs.filter(({ from, to }, i) =>
      i === runs.length - 1 ? !config.bidirectional && from === 0 : i > 0 && from === to,
    ).length;
    const horizon = -(runs[0]?.to ?? 0);
    return (
      `Relative position ${signed(relativePosition)} falls into bucket ${bucket}, which holds ${stretch(runs, active)}. ` +
      `${config.bidirectional ? "This encoder" : "This decoder"} uses ${runs.length} of its ${config.numBuckets} buckets; ` +
      `${own} of them ${own === 1 ? "holds" : "hold"} one distance, and from ${fixed(horizon, 0)} on all keys before the query look equally far. ` +
      `The whole stack learns ${fixed(config.numBuckets * numHeads, 0)} numbers.`
    );
  }

  protected override dataTable({ runs, column, head }: Model): DataTable {
    return {
      caption: `Buckets in order of relative position, and the bias of head ${head + 1}`,
      head: ["bucket", "relative positions", "width", `bias of head ${head + 1}`],
      rows: runs.map(({ bucket, from, to }, i) => [
        bucket,
        stretch(runs, i).replace(" alone", ""),
        i === 0 || i === runs.length - 1 ? "∞" : to - from + 1,
        fixed(column[bucket] ?? 0, 4),
      ]),
    };
  }

  protected override array({ bias, seqLen }: Model): NamedArray {
    return { name: "t5_bias", shape: [seqLen, seqLen], values: bias };
  }

  protected override numpy(state: T5State): string {
    const {
      "num-buckets": numBuckets,
      "max-distance": maxDistance,
      bidirectional,
      "seq-len": seqLen,
    } = state;
    const column = this.model?.column ?? [];
    const head = (this.model?.head ?? 0) + 1;
    return `import matplotlib.pyplot as plt
import numpy as np

num_buckets, max_distance, seq_len = ${numBuckets}, ${maxDistance}, ${seqLen}
# the column of head ${head} of a random table (num_buckets, num_heads)
bias_of_bucket = np.array([${Array.from(column, (value) => Number(value.toFixed(6))).join(", ")}])

def bucket(relative_position):
    buckets = num_buckets${bidirectional ? " // 2" : ""}
    near = buckets // 2
    ${
      bidirectional
        ? "side = np.where(relative_position > 0, buckets, 0)\n    distance = np.abs(relative_position)"
        : "side = 0\n    distance = np.maximum(-relative_position, 0)"
    }
    # the logarithm in float32, as the reference takes it; never of 0
    ratio = np.log(np.maximum(distance, 1).astype(np.float32) / np.float32(near)) / np.log(max_distance / near)
    far = np.minimum(near + (ratio * (buckets - near)).astype(int), buckets - 1)
    return side + np.where(distance < near, distance, far)

relative_position = np.arange(seq_len)[None, :] - np.arange(seq_len)[:, None]  # key minus query
buckets = bucket(relative_position)
bias = bias_of_bucket[buckets]
limit = ${this.model?.limit ?? 1}

figure, (top, left, right) = plt.subplots(3, figsize=(7, 12))
line = np.arange(${this.model?.runs[0]?.from ?? 0}, ${(this.model?.runs.at(-1)?.to ?? 0) + 1})
top.step(line, bucket(line), where="mid")
top.set(xlabel="relative position, key minus query", ylabel="bucket")
left.imshow(buckets, cmap="tab20c")
left.set(title="bucket", xlabel="key", ylabel="query")
figure.colorbar(right.imshow(bias, cmap="RdBu", vmin=-limit, vmax=limit))
right.set(title="bias of head ${head}", xlabel="key", ylabel="query")
plt.tight_layout()
plt.show()
`;
  }

  // ------------------------------------------------------------------------------------------------- picture

  get #wide(): boolean {
    return this.width >= 700;
  }
  get #side(): number {
    const room = this.#wide ? Math.min(this.width * 0.62, 620) : this.width;
    return Math.floor(Math.min(280, (room - LEFT - 12) / 2));
  }

  protected override picture(model: Model, state: T5State): TemplateResult {
    return html`
      <div class="stage ${this.#wide ? "wide" : ""}" data-picture>
        <div class="line">${this.#line(model)}</div>
        ${this.#maps(model)}
        <div class="beside">${this.#readout(model)}</div>
      </div>
      <p class="note">
        The logit is q·k + bias: no 1/√d. One table serves all layers of a stack, the first layer owns it.
        Cross-attention has none. This table is random, not trained.
      </p>
      ${this.#controls(model, state)}
    `;
  }

  #line(model: Model): TemplateResult {
    const { runs, active, relativePosition, column, limit, head, config } = model;
    const width = Math.max(200, this.width);
    const axis = lineAxis(runs, width);
    const read = (event: PointerEvent) => {
      if (event.type === "pointermove" && event.buttons !== 1) return;
      const [right, down] = share(event);
      const [x, y] = [right * width, down * FAN_HEIGHT];
      const last = runs[runs.length - 1]?.to ?? 0;
      // Above the fan's middle the line is read, below it the buckets.
      const slot = runs[clamp(Math.floor((x / width) * runs.length), 0, runs.length - 1)];
      const inBucket = slot && (Math.abs(slot.from) < Math.abs(slot.to) ? slot.from : slot.to);
      const value =
        y < FAN_HEIGHT * 0.36 ? clamp(Math.round(valueAt(axis, x)), runs[0]?.from ?? 0, last) : inBucket;
      if (value !== undefined) this.set({ "relative-position": value });
    };
    return html`
      <svg
        class="fan-drawing"
        width=${width}
        height=${FAN_HEIGHT}
        role="img"
        aria-label="Relative positions and their ${runs.length} buckets. ${signed(relativePosition)} is in bucket ${runs[active]?.bucket}: ${stretch(runs, active)}"
        @pointerdown=${read}
        @pointermove=${read}
      >
        <rect class="field" x="0" y="0" width=${width} height=${FAN_HEIGHT}></rect>
        ${fan({
          runs,
          colors: bucketColors(config.numBuckets, config.bidirectional),
          bias: (bucket) => column[bucket] ?? 0,
          limit,
          head: head + 1,
          active,
          relativePosition,
          width,
        })}
      </svg>
    `;
  }

  #maps({ seqLen, query, key, buckets, bias, head }: Model): TemplateResult {
    const at = query * seqLen + (key ?? 0);
    const words = (value: string) =>
      key === null ? `query ${query}: that key is outside the map` : `query ${query}, key ${key}: ${value}`;
    const of = `head ${head + 1}`;
    return queryKeyMaps(
      [
        { name: "buckets", title: "bucket", label: "Buckets", words: words(`bucket ${buckets[at]}`) },
        { name: "bias", title: `bias, ${of}`, label: `Bias of ${of}`, words: words(fixed(bias[at] ?? 0, 3)) },
      ],
      { cells: seqLen, side: this.#side, query, key, onKey: this.#walk, onPoint: this.#point },
    );
  }

  #readout({ runs, active, relativePosition, column, query, key, limit, config }: Model): TemplateResult {
    const { bucket } = runs[active] ?? { bucket: 0 };
    const masked = !config.bidirectional && relativePosition > 0;
    const bar = Math.min(320, this.#wide ? this.width - LEFT - 2 * this.#side - 44 : this.width);
    return html`
      <dl class="readout">
        <div data-symbol="pos"><dt class="pos">relative position</dt><dd>${signed(relativePosition)}</dd></div>
        <div><dt class="t5">bucket</dt><dd>${bucket}</dd></div>
        <div class="long"><dt>holds</dt><dd>${stretch(runs, active)}</dd></div>
        <div><dt>bias</dt><dd>${fixed(column[bucket] ?? 0, 3)}</dd></div>
        <div data-symbol="q"><dt class="q">query</dt><dd>${query}</dd></div>
        <div data-symbol="k"><dt class="k">key</dt><dd>${key ?? "outside"}</dd></div>
      </dl>
      <p class="masked">
        ${
          config.bidirectional
            ? "Blue: keys before the query. Brown: keys after."
            : `Keys after the query share bucket 0${masked ? ", and the causal mask hides this one" : "; the causal mask hides them"}.`
        }
      </p>
      <div class="scale" .style=${`width:${bar}px`}>
        <canvas data-map="bar" aria-hidden="true"></canvas>
        <svg width=${bar} height="18" aria-hidden="true">
          <text x="0" y="14">−${limit}</text>
          <text x=${bar / 2} y="14" text-anchor="middle">bias</text>
          <text x=${bar} y="14" text-anchor="end">${limit}</text>
        </svg>
      </div>
    `;
  }

  #controls({ relativePosition, head, runs, seqLen }: Model, state: T5State): TemplateResult {
    const encoder = state.bidirectional;
    return html`
      <div class="controls">
        ${slider({
          field: "relative-position",
          label: "relative position",
          symbol: "pos",
          value: relativePosition,
          min: runs[0]?.from ?? 0,
          max: runs.at(-1)?.to ?? 0,
          spoken: `relative position ${signed(relativePosition)}`,
          onInput: (value) => this.set({ "relative-position": value }),
        })}
        ${choice({
          field: "bidirectional",
          label: "stack",
          value: String(encoder),
          options: [
            ["true", "encoder: both sides"],
            ["false", "decoder: keys before only"],
          ],
          onInput: (value) => this.set({ bidirectional: value === "true" }),
        })}
        ${slider({
          field: "num-buckets",
          label: "num_buckets",
          value: state["num-buckets"],
          min: encoder ? 4 : 2,
          max: 64,
          step: encoder ? 2 : 1,
          most: fields["num-buckets"].max,
          onInput: (value) => this.set({ "num-buckets": value }),
        })}
        ${slider({
          field: "max-distance",
          label: "max_distance",
          symbol: "pos",
          value: state["max-distance"],
          min: 8,
          max: 1024,
          most: MOST_DISTANCE,
          logarithmic: true,
          onInput: (value) => this.set({ "max-distance": Math.round(value) }),
        })}
        ${slider({
          field: "head",
          label: "head",
          value: head + 1,
          min: 1,
          max: Math.max(2, state["num-heads"]),
          spoken: `head ${head + 1} of ${state["num-heads"]}`,
          onInput: (value) => this.set({ head: Math.min(value, this.state["num-heads"]) }),
        })}
        ${slider({
          field: "num-heads",
          label: "num_heads",
          value: state["num-heads"],
          min: 1,
          max: 32,
          most: fields["num-heads"].max,
          onInput: (value) => this.set({ "num-heads": value, head: Math.min(this.state.head, value) }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len of the maps",
          symbol: "pos",
          value: seqLen,
          min: 1,
          max: fields["seq-len"].max,
          onInput: (value) => this.set({ "seq-len": value }),
        })}
        <div class="control fresh" data-field="seed">
          <button type="button" @click=${() => this.set({ seed: (this.state.seed + 1) % 2 ** 31 })}>
            New random table
          </button>
        </div>
      </div>
    `;
  }

  // ------------------------------------------------------------------------------------------------- reading

  #read([query, key]: Cell): void {
    const relativePosition = key - query;
    if (query === this.state.query && relativePosition === this.state["relative-position"]) return;
    this.set({ query, "relative-position": relativePosition });
  }

  #point = (event: PointerEvent): void => {
    if (event.type === "pointermove" && event.pointerType !== "mouse" && event.buttons !== 1) return;
    const cells = this.state["seq-len"];
    this.#read(cellAt(share(event), [cells, cells]));
  };

  #walk = (event: KeyboardEvent): void => {
    const cells = this.state["seq-len"];
    const row = Math.min(this.state.query, cells - 1);
    const to = walk(event, [row, clamp(row + this.state["relative-position"], 0, cells - 1)], cells);
    if (to) this.#read(to);
  };

  protected override draw({ seqLen, buckets, bias, limit, config, core }: Model): void {
    // Whole pixels for each cell, so that none mixes two of them.
    const size = seqLen * Math.ceil(devicePixels(this.#side) / seqLen);
    const key = [buckets, bias, size];
    if (key.every((part, i) => part === this.painted[i])) return;
    this.painted = key;
    const canvas = (name: string) =>
      this.renderRoot.querySelector<HTMLCanvasElement>(`canvas[data-map="${name}"]`) as HTMLCanvasElement;
    const shape = { rows: seqLen, cols: seqLen, width: size, height: size };
    // A bucket's middle, b + 1/2, falls into the stretch of the 256 colours that is its own.
    const colors = bucketColors(config.numBuckets, config.bidirectional);
    const own = Uint32Array.from({ length: 256 }, (_, i) => {
      const [red, green, blue] = colors[Math.floor((i * config.numBuckets) / 256)] ?? [0, 0, 0];
      return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
    });
    const middles = Float32Array.from(buckets, (bucket) => bucket + 0.5);
    paint(
      canvas("buckets"),
      core.colormap(middles, own, { ...shape, vmin: 0, vmax: config.numBuckets }),
      size,
      size,
    );
    const scale = { ...shape, vmin: -limit, vmax: limit };
    paint(canvas("bias"), core.colormap(Float32Array.from(bias), core.lut(), scale), size, size);
    paintBar(canvas("bar"), core);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    queryKeyStyles,
    takeawayRoom([0, 13], [390, 8.7], [560, 5.8]),
    css`
      p {
        margin: 0;
      }
      .stage {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        gap: var(--pe-space-3) var(--pe-space-4);
      }
      .stage.wide {
        grid-template-columns: auto minmax(0, 1fr);
      }
      .wide .line {
        grid-column: 1 / -1;
      }
      svg {
        display: block;
        overflow: visible;
      }
      .fan-drawing {
        cursor: crosshair;
        touch-action: pan-y pinch-zoom;
      }
      .field {
        fill: transparent;
      }
      .fan {
        opacity: 0.4;
      }
      .bias {
        stroke: var(--pe-ink-2);
        stroke-width: 0.75;
      }
      .bias.active {
        stroke: var(--pe-t5);
        stroke-width: 2;
      }
      .divide {
        stroke: var(--pe-bg);
      }
      .edge {
        fill: none;
        stroke: var(--pe-t5);
        stroke-width: 2;
        stroke-linejoin: round;
      }
      .at {
        stroke: var(--pe-pos);
        stroke-width: 2;
      }
      [data-lit="pos"] .at {
        stroke-width: 4;
      }
      .zero {
        stroke: var(--pe-ink-2);
      }
      svg text.active {
        fill: var(--pe-t5);
        font-weight: 600;
      }
      .readout {
        display: grid;
        grid-template-columns: minmax(0, 1.6fr) minmax(0, 1fr);
        gap: var(--pe-space-2) var(--pe-space-3);
      }
      .wide .beside {
        padding-top: 27px;
      }
      .readout dt:not([class]) {
        color: var(--pe-ink-2);
      }
      .readout dt.t5 {
        color: var(--pe-t5);
      }
      .readout dd {
        font-size: var(--pe-text-m);
        font-weight: 600;
      }
      .masked {
        min-height: 2.9em;
        margin-top: var(--pe-space-3);
        color: var(--pe-ink-2);
      }
      .scale {
        margin-top: var(--pe-space-2);
      }
      .scale canvas {
        display: block;
        width: 100%;
        height: 10px;
        outline: 1px solid var(--pe-rule);
      }
      .fresh button {
        grid-column: 1 / -1;
      }
      .note {
        max-width: 68ch;
        margin-top: var(--pe-space-3);
        color: var(--pe-ink-2);
        text-wrap: pretty;
      }
    `,
  ];
}

define("pe-t5", PeT5);
