// What is kept while a model generates: cosines and sines made once, keys and values of every layer, and keys that
// stay rotated with the base of the day they came.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, clamp, leftAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { measure, type Timing, type Workload } from "./cache-measure.ts";
import { type Curve, staleKeys } from "./cache-model.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { fixed, plain, significant } from "./format.ts";
import type { State } from "./state.ts";

const BYTES = ["1", "2", "4"] as const;

const fields = {
  prompt: { kind: "integer", fallback: 4096, min: 1, max: 2 ** 20 },
  generated: { kind: "integer", fallback: 1024, min: 0, max: 2 ** 20 },
  "num-layers": { kind: "integer", fallback: 32, min: 1, max: 256 },
  "num-kv-heads": { kind: "integer", fallback: 8, min: 1, max: 256 },
  "head-dim": { kind: "integer", fallback: 128, min: 4, max: 512 },
  bytes: { kind: "choice", fallback: "2", choices: BYTES },
  "rope-theta": { kind: "number", fallback: 10000, min: 2, max: 1e12 },
  factor: { kind: "number", fallback: 4, min: 1, max: 64 },
  "original-max": { kind: "integer", fallback: 2048, min: 16, max: 131072 },
  distance: { kind: "integer", fallback: 256, min: 1, max: 131072 },
  length: { kind: "integer", fallback: 3000, min: 1, max: 2 ** 23 },
} as const;
type CacheState = State<typeof fields>;

/** Cosines and sines are kept in float32. */
const TABLE_BYTES = 4;
/** Numbers turned in one step of the measurement: well under a slice. */
const STEP = 2 ** 17;
/** Scores are of size 1: below this a difference is rounding, at angles up to 1e7 radians. */
const ROUNDING = 1e-8;

interface Model extends Curve {
  errors: Float64Array;
  /** The length that is read, and its place in the curve. */
  length: number;
  at: number;
  distance: number;
  last: number;
  /** Bytes for one position. */
  kvBytes: number;
  tableBytes: number;
  work: Workload;
  core: Posenc;
}

type Run = { work: Workload } & (
  | { timing: undefined; stop: AbortController; sentence?: undefined }
  | { timing: undefined; stop: undefined; sentence: string }
  | { timing: Timing; stop: undefined; sentence?: undefined }
);

/** The last length of the curve, and the two numbers that a smaller one pulls in. */
function range(state: CacheState): { last: number; distance: number; length: number } {
  const last = Math.round(state["original-max"] * Math.max(2, state.factor));
  const distance = Math.min(state.distance, state["original-max"]);
  return { last, distance, length: clamp(state.length, distance + 1, last) };
}

/**
 * Precomputed cosines and sines beside the KV cache, timed on request, and the score of keys that were cached with an
 * older base.
 *
 * @attr prompt - Tokens of the prompt, all at once in prefill.
 * @attr generated - Tokens decoded after it, one at a time.
 * @attr num-layers - Layers that keep keys and values.
 * @attr num-kv-heads - Heads that have keys and values.
 * @attr head-dim - Components of a head, even.
 * @attr bytes - Of one number of the KV cache.
 * @attr rope-theta - The base up to the original maximum.
 * @attr factor - Of dynamic NTK.
 * @attr original-max - Length up to which the base stays.
 * @attr distance - From the key back from the newest query, in tokens; at most original-max.
 * @attr length - The length of the sequence that is read.
 * @cssprop --pe-q - Colour of the query.
 * @cssprop --pe-k - Colour of the key.
 * @cssprop --pe-pos - Colour of the length.
 * @cssprop --pe-rope - Colour of the cosines and sines.
 */
export class PeCache extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "What is kept, and what grows stale";

  #run: Run | undefined;
  #curve: { key: string; curve: Curve } | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stop();
  }

  protected compute(core: Posenc, state: CacheState): Model {
    const headDim = state["head-dim"];
    if (headDim % 2 !== 0) throw new Error(`head-dim must be even, got ${headDim}`);
    const { last, distance, length } = range(state);
    const setting = {
      headDim,
      ropeTheta: state["rope-theta"],
      factor: state.factor,
      originalMax: state["original-max"],
      distance,
      length,
    };
    const key = JSON.stringify(setting);
    if (this.#curve?.key !== key) this.#curve = { key, curve: staleKeys(core, setting, last) };
    const { curve } = this.#curve;
    const numHeads = state["num-kv-heads"];
    const work: Workload = {
      positions: clamp(Math.floor(STEP / (numHeads * headDim)), 1, state.prompt),
      numHeads,
      headDim,
      numLayers: state["num-layers"],
      ropeTheta: state["rope-theta"],
    };
    if (this.#run && !sameWork(this.#run.work, work)) this.#stop();
    return {
      ...curve,
      errors: curve.cached.map((score, i) => score - (curve.renewed[i] ?? Number.NaN)),
      length,
      at: curve.lengths.indexOf(length),
      distance,
      last,
      kvBytes: 2 * state["num-layers"] * numHeads * headDim * Number(state.bytes),
      tableBytes: headDim * TABLE_BYTES,
      work,
      core,
    };
  }

  // ------------------------------------------------------------------------------------------- measurement

  #stop = (): void => {
    this.#run?.stop?.abort();
    this.#run = undefined;
    this.requestUpdate();
  };

  #measure = async (): Promise<void> => {
    if (!this.model) return;
    const { core, work } = this.model;
    const stop = new AbortController();
    this.#run = { work, timing: undefined, stop };
    this.requestUpdate();
    try {
      const timing = await measure(core, work, stop.signal);
      this.#run = { work, timing, stop: undefined };
      this.requestUpdate();
    } catch (error) {
      if (stop.signal.aborted) return;
      const sentence = error instanceof Error ? error.message : String(error);
      this.#run = { work, timing: undefined, stop: undefined, sentence };
      this.requestUpdate();
    }
  };

  #timing({ work }: Model): TemplateResult {
    const run = this.#run;
    const timing = run?.timing;
    const most = timing ? Math.max(timing.once, timing.everyLayer) : 1;
    const bar = (name: string, part: "once" | "everyLayer") => html`
      <div class="side">
        <span>${name}</span>
        <span class="track"><i class=${part} .style=${`width:${timing ? (100 * timing[part]) / most : 0}%`}></i></span>
        <b>${timing ? `${significant(timing[part], 2)} ms` : "–"}</b>
      </div>
    `;
    return html`
      <div class="timing">
        <div>
          <h4>Cosines and sines: once, or in every layer?</h4>
          <p>
            ${fixed(work.positions, 0)} positions × ${work.headDim / 2} pairs; keys of ${counted(work.numHeads, "head")}
            turned in ${counted(work.numLayers, "layer")}, in your browser.
          </p>
          ${
            run?.stop
              ? html`<button type="button" @click=${this.#stop}>Stop measuring</button>`
              : html`<button type="button" @click=${this.#measure}>Measure</button>`
          }
        </div>
        <div>
          ${bar("once", "once")} ${bar("in every layer", "everyLayer")}
          <p class="ratio" role="status">
            ${
              timing
                ? html`Every layer takes <b>${significant(timing.everyLayer / timing.once, 2)} times</b> as long as once.`
                : run
                  ? (run.sentence ?? "Measuring …")
                  : "Not measured yet."
            }
          </p>
        </div>
      </div>
    `;
  }

  // ----------------------------------------------------------------------------------------------- picture

  get #beside(): boolean {
    return this.width >= 680;
  }
  get #half(): number {
    return this.#beside ? Math.floor((this.width - 56) / 2) : this.width;
  }

  protected picture(model: Model, state: CacheState): TemplateResult {
    return html`
      ${this.#timing(model)}
      <div class="stage ${this.#beside ? "beside" : ""}" data-picture>
        ${this.#sizes(model, state)} ${this.#curves(model, state)}
      </div>
      ${this.#readout(model)}
      <div class="handles ${this.#beside ? "beside" : ""}">
        ${this.#sizeControls(state)} ${this.#curveControls(model, state)}
      </div>
    `;
  }

  /** Bytes for one position upwards, positions to the right: areas are bytes, all on one scale. */
  #sizes({ kvBytes, tableBytes }: Model, state: CacheState): TemplateResult {
    const width = this.#half;
    const { prompt, generated } = state;
    const total = prompt + generated;
    const x: Axis = { domain: [0, total], range: [1, width - 1] };
    const top = 66;
    const scale = 228 / (kvBytes + tableBytes);
    const [kvHeight, tableHeight] = [kvBytes * scale, tableBytes * scale];
    const bottom = top + kvHeight;
    const split = place(x, prompt);
    const step = (width - 2) / total;
    const words =
      `Drawn to scale: the KV cache takes ${bytes(kvBytes * total)}, ` +
      `cosines and sines ${bytes(tableBytes * total)}`;
    return html`
      <svg class="sizes" width=${width} height="400" role="img" aria-label=${words}>
        <text class="title" x="0" y="14">KV cache of one sequence: ${bytes(kvBytes * total)}</text>
        <text x="0" y="32">${bytes(kvBytes)} a position, in ${counted(state["num-layers"], "layer")}</text>
        <text class="k" data-symbol="k" x="0" y=${top - 8}>prefill: ${fixed(prompt, 0)} at once</text>
        ${
          generated > 0
            ? svg`<text class="k" data-symbol="k" x=${width} y=${top - 8} text-anchor="end">decode: ${fixed(generated, 0)} steps</text>`
            : nothing
        }
        <rect class="kv" x=${x.range[0]} y=${top} width=${split - x.range[0]} height=${kvHeight}></rect>
        <rect class="kv decode" x=${split} y=${top} width=${x.range[1] - split} height=${kvHeight}></rect>
        ${
          step >= 4
            ? Array.from({ length: generated }, (_, i) => {
                const at = place(x, prompt + i);
                return svg`<line class="step" x1=${at} x2=${at} y1=${top} y2=${bottom}></line>`;
              })
            : nothing
        }
        <text x="0" y=${bottom + 18}>0</text>
        <text class="pos" data-symbol="pos" x=${width / 2} y=${bottom + 18} text-anchor="middle">position</text>
        <text x=${width} y=${bottom + 18} text-anchor="end">${fixed(total, 0)}</text>
        <text class="title" x="0" y=${bottom + 58}>Cosines and sines: ${bytes(tableBytes * total)}</text>
        <text x="0" y=${bottom + 76}>${bytes(tableBytes)} a position, for all layers, to scale</text>
        <rect class="table" x=${x.range[0]} y=${bottom + 86} width=${width - 2} height=${tableHeight}></rect>
      </svg>
    `;
  }

  #axes(model: Model): { x: Axis; score: Axis; error: Axis } {
    const { lengths, cached, renewed, errors, last } = model;
    const scores = [...cached, ...renewed];
    const spread = (values: Iterable<number>): [number, number] => {
      const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
      const room = Math.max(0.06 * (high - low), 0.01);
      return [low - room, high + room];
    };
    return {
      x: { domain: [lengths[0] ?? 0, last], range: [44, this.#half - 12] },
      score: { domain: spread(scores), range: [214, 44] },
      error: { domain: spread(errors), range: [350, 262] },
    };
  }

  #curves(model: Model, state: CacheState): TemplateResult {
    const { lengths, cached, renewed, errors, at, length, distance } = model;
    const { x, score, error } = this.#axes(model);
    const [left, right] = x.range;
    const original = place(x, state["original-max"]);
    const here = place(x, length);
    const line = (values: Float64Array, axis: Axis) =>
      linePath(
        values,
        (i) => place(x, lengths[i] ?? 0),
        (value) => place(axis, value),
      );
    const vertical = (name: string, at: number) =>
      [score, error].map(
        ({ range: [low, high] }) => svg`<line class=${name} x1=${at} x2=${at} y1=${low} y2=${high}></line>`,
      );
    const originalLabel = original < (left + right) / 2 ? "start" : "end";
    return html`
      <svg
        class="curves"
        width=${this.#half}
        height="400"
        role="img"
        aria-label="Score of the key ${distance} tokens back, and its error, over the length of the sequence"
        @pointermove=${this.#point}
        @pointerdown=${this.#point}
      >
        <text class="title" x="0" y="14">Score of the key ${fixed(distance, 0)} back</text>
        <line class="swatch stale" x1="0" x2="18" y1="30" y2="30"></line>
        <text class="k" data-symbol="k" x="24" y="34">as cached</text>
        <line class="swatch renewed" x1="104" x2="122" y1="30" y2="30"></line>
        <text x="128" y="34">rotated anew</text>
        <text class="title" x="0" y="252">Error of the cached key</text>
        ${vertical("original", original)}
        <text x=${original + (originalLabel === "start" ? 6 : -6)} y="232" text-anchor=${originalLabel}>
          original maximum ${fixed(state["original-max"], 0)}</text>
        ${leftAxis(score, left - 4, ticks(score, 44))} ${leftAxis(error, left - 4, ticks(error, 40))}
        <line class="zero" x1=${left} x2=${right} y1=${place(score, 0)} y2=${place(score, 0)}></line>
        <line class="zero" x1=${left} x2=${right} y1=${place(error, 0)} y2=${place(error, 0)}></line>
        <path class="curve renewed" d=${line(renewed, score)}></path>
        <path class="curve stale" d=${line(cached, score)}></path>
        <path class="curve stale" d=${line(errors, error)}></path>
        ${vertical("here", here)}
        <circle class="renewed" cx=${here} cy=${place(score, renewed[at] ?? 0)} r="4.5"></circle>
        <circle class="stale" cx=${here} cy=${place(score, cached[at] ?? 0)} r="4.5"></circle>
        <circle class="stale" cx=${here} cy=${place(error, errors[at] ?? 0)} r="4.5"></circle>
        ${bottomAxis(x, error.range[0] + 4, ticks(x, 24 + 8 * fixed(model.last, 0).length))}
        <text class="pos" data-symbol="pos" x=${(left + right) / 2} y="392" text-anchor="middle">length of the sequence</text>
      </svg>
    `;
  }

  #readout(model: Model): TemplateResult {
    const { at, length, queryBase, keyBase, cached, renewed, errors } = model;
    const base = (bases: Float64Array) => significant(bases[at] ?? Number.NaN, 5);
    return html`
      <p class="readout">
        At <span class="pos" data-symbol="pos">length <b>${fixed(length, 0)}</b></span> the
        <span class="q" data-symbol="q">query</span> turns with base <b>${base(queryBase)}</b>, the
        <span class="k" data-symbol="k">key</span> was cached with base <b>${base(keyBase)}</b>: score
        <b>${fixed(cached[at] ?? Number.NaN, 3)}</b> instead of <b>${fixed(renewed[at] ?? Number.NaN, 3)}</b>, error
        <b>${fixed(errors[at] ?? Number.NaN, 3)}</b>.
      </p>
    `;
  }

  #sizeControls(state: CacheState): TemplateResult {
    return html`
      <div class="controls" role="group" aria-label="Sizes">
        ${slider({
          field: "prompt",
          label: "prompt, in tokens",
          symbol: "pos",
          value: state.prompt,
          min: 1,
          max: 131072,
          most: fields.prompt.max,
          logarithmic: true,
          onInput: (value) => this.set({ prompt: Math.round(value) }),
        })}
        ${slider({
          field: "generated",
          label: "generated tokens",
          symbol: "pos",
          value: state.generated,
          min: 0,
          max: 8192,
          most: fields.generated.max,
          onInput: (value) => this.set({ generated: value }),
        })}
        ${slider({
          field: "num-layers",
          label: "num_layers",
          value: state["num-layers"],
          min: 1,
          max: 128,
          most: fields["num-layers"].max,
          onInput: (value) => this.set({ "num-layers": value }),
        })}
        ${slider({
          field: "num-kv-heads",
          label: "num_kv_heads",
          symbol: "k",
          value: state["num-kv-heads"],
          min: 1,
          max: 64,
          most: fields["num-kv-heads"].max,
          onInput: (value) => this.set({ "num-kv-heads": value }),
        })}
        ${slider({
          field: "head-dim",
          label: "head_dim",
          symbol: "dim",
          value: state["head-dim"],
          min: 4,
          max: 256,
          step: 2,
          most: fields["head-dim"].max,
          onInput: (value) => this.set({ "head-dim": value }),
        })}
        ${choice({
          field: "bytes",
          label: "numbers of the KV cache",
          value: state.bytes,
          options: [
            ["1", "1 byte (fp8, int8)"],
            ["2", "2 bytes (bf16, fp16)"],
            ["4", "4 bytes (float32)"],
          ],
          onInput: (value) => this.set({ bytes: value as CacheState["bytes"] }),
        })}
      </div>
    `;
  }

  #curveControls(model: Model, state: CacheState): TemplateResult {
    return html`
      <div class="controls" role="group" aria-label="Stale keys">
        ${slider({
          field: "length",
          label: "length of the sequence",
          symbol: "pos",
          value: model.length,
          min: model.distance + 1,
          max: model.last,
          spoken: `${model.length} tokens`,
          onInput: (value) => this.set({ length: Math.round(value) }),
        })}
        ${slider({
          field: "distance",
          label: "key: how many tokens back",
          symbol: "k",
          value: model.distance,
          min: 1,
          max: state["original-max"],
          logarithmic: true,
          onInput: (value) => this.set({ distance: Math.round(value) }),
        })}
        ${slider({
          field: "original-max",
          label: "original maximum",
          value: state["original-max"],
          min: fields["original-max"].min,
          max: 32768,
          most: fields["original-max"].max,
          logarithmic: true,
          onInput: (value) => this.set({ "original-max": Math.round(value) }),
        })}
        ${slider({
          field: "factor",
          label: "factor of dynamic NTK",
          value: state.factor,
          min: 1,
          max: 16,
          step: 0.5,
          most: fields.factor.max,
          onInput: (value) => this.set({ factor: value }),
        })}
        ${slider({
          field: "rope-theta",
          label: "rope_theta",
          value: state["rope-theta"],
          min: 100,
          max: 1e6,
          most: fields["rope-theta"].max,
          logarithmic: true,
          onInput: (value) => this.set({ "rope-theta": value }),
        })}
      </div>
    `;
  }

  #point = (event: PointerEvent): void => {
    const { model } = this;
    if (!model || (event.type === "pointermove" && event.pointerType !== "mouse")) return;
    const at = Math.round(valueAt(this.#axes(model).x, share(event)[0] * this.#half));
    this.set({ length: clamp(at, model.distance + 1, model.last) });
  };

  // ---------------------------------------------------------------------------------------------- sentences

  protected takeaway(model: Model, state: CacheState): string {
    const { lengths, errors, cached, renewed, distance, kvBytes, tableBytes } = model;
    const share = significant((100 * tableBytes) / kvBytes, 2);
    const total = kvBytes * (state.prompt + state.generated);
    const sizes = `Cosines and sines take ${share}% of what the KV cache takes, ${bytes(total)}.`;
    const begins = errors.findIndex((error) => Math.abs(error) > ROUNDING);
    if (begins < 0)
      return `${sizes} The key ${fixed(distance, 0)} tokens back is scored right at every length.`;
    const most = errors.reduce(
      (best, error, i) => (Math.abs(error) > Math.abs(errors[best] ?? 0) ? i : best),
      0,
    );
    const of = (values: Float64Array, i: number) => fixed(values[i] ?? Number.NaN, 2);
    return (
      `${sizes} The key ${fixed(distance, 0)} tokens back has error 0 up to length ${fixed(lengths[begins - 1] ?? 0, 0)}; ` +
      `then its base is older than the query’s, and at ${fixed(lengths[most] ?? 0, 0)} its score is ${of(cached, most)} ` +
      `instead of ${of(renewed, most)}.`
    );
  }

  protected dataTable({ lengths, cached, renewed, errors, queryBase, keyBase, distance }: Model): DataTable {
    return {
      caption: `Score of the key ${distance} tokens back from the newest query, q = k = (1, …, 1)`,
      head: ["length", "base of query", "base of key", "as cached", "rotated anew", "error"],
      rows: Array.from(lengths, (length, i) => [
        fixed(length, 0),
        ...[queryBase, keyBase].map((bases) => significant(bases[i] ?? Number.NaN, 6)),
        ...[cached, renewed, errors].map((values) => fixed(values[i] ?? Number.NaN, 6)),
      ]),
    };
  }

  protected override array({ lengths, queryBase, keyBase, cached, renewed }: Model): NamedArray {
    const columns = [lengths, queryBase, keyBase, cached, renewed];
    return {
      name: "stale_key_scores",
      shape: [lengths.length, columns.length],
      values: Float64Array.from(
        [...lengths].flatMap((_, i) => columns.map((column) => column[i] ?? Number.NaN)),
      ),
      columns: ["length", "query_base", "key_base", "cached", "rotated_anew"],
    };
  }

  protected override numpy(state: CacheState): string {
    const { last, distance } = range(state);
    return `import matplotlib.pyplot as plt
import numpy as np

head_dim, rope_theta = ${state["head-dim"]}, ${Number(state["rope-theta"])}
factor, original_max, distance = ${state.factor}, ${state["original-max"]}, ${distance}
prompt, generated = ${state.prompt}, ${state.generated}
kv_bytes = 2 * ${state["num-layers"]} * ${state["num-kv-heads"]} * head_dim * ${state.bytes}  # a position
table_bytes = ${TABLE_BYTES} * head_dim  # a position, float32

def inv_freq(length):
    """(lengths, pairs): dynamic NTK for sequences so long."""
    longest = np.maximum(length, original_max)
    growth = (factor * longest / original_max - (factor - 1)) ** (head_dim / (head_dim - 2))
    return (rope_theta * growth[:, None]) ** (-np.arange(0, head_dim, 2) / head_dim)

length = np.unique(np.round(np.linspace(distance + 1, ${last}, 2001)))
query, key = length[:, None] - 1, length[:, None] - 1 - distance
now, then = inv_freq(length), inv_freq(length - distance)
# q = k = (1, ..., 1): each pair adds 2 cos(difference of the angles)
rotated_anew = np.cos(query * now - key * now).mean(axis=1)
cached = np.cos(query * now - key * then).mean(axis=1)

figure, (sizes, scores, error) = plt.subplots(3, figsize=(8, 10), layout="constrained")
sizes.bar(0, kv_bytes, width=prompt, align="edge", label="KV cache, prefill")
sizes.bar(prompt, kv_bytes, width=generated, align="edge", label="KV cache, decode")
sizes.bar(0, table_bytes, width=prompt + generated, align="edge", label="cosines and sines")
sizes.set(xlabel="position", ylabel="bytes a position")
sizes.legend()
scores.plot(length, rotated_anew, label="rotated anew")
scores.plot(length, cached, label="as cached")
scores.axvline(original_max, linestyle=":")
scores.set(ylabel=f"score of the key {distance} back")
scores.legend()
error.plot(length, cached - rotated_anew)
error.set(xlabel="length of the sequence", ylabel="error")
plt.show()
`;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    css`
      h4 {
        margin: 0;
        font-size: var(--pe-text-s);
        font-weight: 600;
      }
      .timing {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, calc(19 * var(--pe-rem))), 1fr));
        align-items: center;
        gap: var(--pe-space-2) 56px;
        margin-bottom: var(--pe-space-4);
      }
      .timing p {
        margin: 0 0 var(--pe-space-2);
        color: var(--pe-ink-2);
      }
      .timing .ratio {
        margin: var(--pe-space-1) 0 0;
        color: var(--pe-ink);
      }
      .side {
        display: grid;
        grid-template-columns: calc(6.5 * var(--pe-rem)) minmax(0, 1fr) calc(4 * var(--pe-rem));
        align-items: center;
        gap: var(--pe-space-2);
        min-height: calc(1.75 * var(--pe-rem));
      }
      .side b {
        text-align: end;
        font-weight: 600;
      }
      .track {
        height: calc(0.75 * var(--pe-rem));
        background: var(--pe-surface);
      }
      .track i {
        display: block;
        height: 100%;
        background: var(--pe-ink-2);
        forced-color-adjust: none;
      }
      .track .once {
        background: var(--pe-rope);
      }
      .stage,
      .handles {
        display: grid;
        gap: var(--pe-space-4) 56px;
      }
      .handles {
        align-items: start;
        gap: 0 56px;
      }
      .handles .controls {
        grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(12.5 * var(--pe-rem))), 1fr));
      }
      .beside {
        grid-template-columns: repeat(2, minmax(0, 1fr));
      }
      svg {
        display: block;
        overflow: visible;
      }
      svg text.title {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      .kv {
        fill: var(--pe-k);
        fill-opacity: 0.85;
      }
      .kv.decode {
        fill-opacity: 0.5;
      }
      .step {
        stroke: var(--pe-bg);
      }
      .table {
        fill: var(--pe-rope);
      }
      .kv,
      .table {
        forced-color-adjust: none;
      }
      .curves {
        touch-action: pan-y;
      }
      .zero {
        stroke: var(--pe-rule);
      }
      .original {
        stroke: var(--pe-ink-2);
        stroke-dasharray: 3 3;
      }
      .here {
        stroke: var(--pe-pos);
      }
      .curve,
      .swatch {
        fill: none;
        stroke-width: 2;
      }
      .curve.renewed,
      .swatch.renewed {
        stroke: var(--pe-ink-2);
      }
      .curve.stale,
      .swatch.stale {
        stroke: var(--pe-k);
        stroke-width: 2.5;
      }
      circle.renewed {
        fill: var(--pe-ink-2);
      }
      circle.stale {
        fill: var(--pe-k);
      }
      .readout {
        min-height: 2.9em;
        margin: var(--pe-space-3) 0 0;
      }
      .readout b {
        font-weight: 600;
      }
      .takeaway {
        min-height: 4.35em;
      }
      @container (max-width: 448px) {
        .takeaway {
          min-height: 8.7em;
        }
        .readout {
          min-height: 5.8em;
        }
      }
    `,
  ];
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const sameWork = (a: Workload, b: Workload): boolean => JSON.stringify(a) === JSON.stringify(b);

/** 512 bytes, 128 KiB, 2.25 MiB. */
function bytes(count: number): string {
  if (count < 1024) return `${plain(count)} bytes`;
  const power = Math.min(4, Math.floor(Math.log2(count) / 10));
  const value = count / 1024 ** power;
  return `${plain(Number(value.toPrecision(value < 1000 ? 3 : 4)))} ${["", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

define("pe-cache", PeCache);

declare global {
  interface HTMLElementTagNameMap {
    "pe-cache": PeCache;
  }
}
