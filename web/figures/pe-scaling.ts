// What a model's config.json does with positions: its frequencies beside those of every other way to longer contexts,
// what is wrong with it, and what else follows. Nothing leaves the page.

import { type CSSResultGroup, css, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { NamedArray } from "../draw/npy.ts";
import { reads, share } from "../draw/point.ts";
import type { Finding } from "../inspect/finding.ts";
import { MAX_LINKED, toLink } from "../inspect/link.ts";
import { PRESETS, presetText } from "../inspect/presets.ts";
import { numpySnippet } from "../inspect/snippets.ts";
import type { Posenc } from "../posenc.ts";
import { choice, controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow, takeawayRoom } from "./figure.ts";
import { plain as exactly, fixed, significant } from "./format.ts";
import { CHART_HEIGHT, chart, chartStyles, NAMES, pairAt } from "./scaling-chart.ts";
import { filePanel, fileStyles, type Outlet, permutationCode } from "./scaling-files.ts";
import { countsOf, findingList, findingStyles, valueTable } from "./scaling-findings.ts";
import { type Handle, handlesOf } from "./scaling-handles.ts";
import {
  linkedText,
  MAX_SEQ_LEN,
  presetOf,
  Refusal,
  ratios,
  readConfig,
  type ScalingModel,
  scalingModel,
} from "./scaling-model.ts";
import {
  layoutPanel,
  lengthPanel,
  neighbourPanel,
  pairReadout,
  panelStyles,
  precisionPanel,
} from "./scaling-panels.ts";
import type { State } from "./state.ts";

const VIEWS = ["findings", "length", "neighbours", "precision", "layout", "files"] as const;
type View = (typeof VIEWS)[number];
const VIEW_NAMES: Record<View, string> = {
  findings: "Findings",
  length: "Length and cache",
  neighbours: "Neighbours",
  precision: "Precision",
  layout: "Pair layout",
  files: "Code and files",
};

const fields = {
  preset: { kind: "choice", fallback: "Llama-3.1-8B", choices: PRESETS.map(({ name }) => name) },
  config: { kind: "text", fallback: "", maxLength: MAX_LINKED },
  layers: { kind: "integer", fallback: 0, min: 0, max: 15 },
  "seq-len": { kind: "integer", fallback: 0, min: 0, max: MAX_SEQ_LEN },
  pair: { kind: "integer", fallback: 32, min: 0, max: 8191 },
  view: { kind: "choice", fallback: "findings", choices: VIEWS },
  distance: { kind: "integer", fallback: 1, min: 0, max: MAX_SEQ_LEN },
  position: { kind: "integer", fallback: 0, min: 0, max: MAX_SEQ_LEN },
  rows: { kind: "integer", fallback: 512, min: 1, max: 8192 },
} as const;
type ScalingState = State<typeof fields>;

/** A text of the reader's, and what the attributes were when it came. */
interface Own {
  text: string;
  /** In base64url; null: too long for a link. */
  link: string | null;
  preset: string;
}

/**
 * A model’s config.json: its rotary frequencies, what is wrong with it, and what else follows from it.
 *
 * @attr preset - The model that is shown.
 * @attr config - A config.json in its place: the text itself, or the text in base64url, as links carry it.
 * @attr layers - Which kind of layer, counted from 0, where a model has several; the last there is if there are fewer.
 * @attr seq-len - Length of the sequence that is asked about; 0: the longest that the config names.
 * @attr pair - The pair that is read, from 0; the last there is if there are fewer.
 * @attr view - What is shown below the sentence.
 * @attr distance - Relative position at which neighbours are told apart.
 * @attr position - Position at which the errors of few bits are given; 0: the last of the sequence.
 * @attr rows - Positions whose cos and sin are written to files, from 0.
 * @fires {CustomEvent} pe-error - `detail` is the sentence shown, also that for a config that cannot be shown.
 * @cssprop --pe-dim - Colour of the pair that is read, and of LongRoPE.
 * @cssprop --pe-pos - Colour of lengths.
 * @cssprop --pe-q - Colour of phases that no trained position has shown, and of errors.
 * @cssprop --pe-rope - Colour of Llama 3’s scaling.
 * @cssprop --pe-sinusoidal - Colour of YaRN.
 * @cssprop --pe-alibi - Colour of NTK-aware scaling.
 * @cssprop --pe-t5 - Colour of dynamic NTK.
 * @cssprop --pe-learned - Colour of linear scaling, and of warnings.
 */
export class PeScaling extends PeFigure<typeof fields, ScalingModel> {
  static override fields = fields;

  protected readonly heading = "What a config does with positions";

  #own: Own | undefined;
  /** What stands in the field for the text, where that is not what is shown. */
  #draft: string | undefined;
  #refusal: { sentence: string; others: readonly Finding[] } | undefined;
  #looked: { asked: unknown[]; model: ScalingModel } | undefined;
  #opening = 0;
  #dragged = false;

  constructor() {
    super();
    this.addEventListener("dragover", this.#dragOver);
    this.addEventListener("dragleave", this.#dragLeave);
    this.addEventListener("drop", this.#drop);
  }

  protected compute(core: Posenc, state: ScalingState): ScalingModel {
    const model = this.#look(core, this.#textOf(state), state);
    // another text than the one in whose place a draft was refused
    if (this.model && this.model.text !== model.text) this.#draft = this.#refusal = undefined;
    return model;
  }

  /** A text of a megabyte is not looked at again for each pair that is read. */
  #look(core: Posenc, text: string, state: ScalingState): ScalingModel {
    const question = { seqLen: state["seq-len"], distance: state.distance, layer: state.layers };
    const asked = [text, state.preset, ...Object.values(question)];
    if (!this.#looked || asked.some((value, i) => value !== this.#looked?.asked[i])) {
      const { name } = presetOf(state.preset);
      const isPreset = text === presetText(presetOf(state.preset));
      this.#looked = { asked, model: scalingModel(core, text, isPreset ? name : "This config", question) };
    }
    return this.#looked.model;
  }

  #textOf({ preset, config }: ScalingState): string {
    const own = this.#own;
    if (own && own.preset === preset && (own.link ?? "") === config) return own.text;
    return config === "" ? presetText(presetOf(preset)) : linkedText(config);
  }

  // ------------------------------------------------------------------------------------------- the reader's text

  /** Shows a text. One that cannot be shown is answered with a sentence, and what is shown stays. */
  #offer(text: string, typed: boolean): void {
    const { model, state } = this;
    if (!model) return;
    this.#opening++;
    try {
      this.#look(model.core, text, state);
    } catch (error) {
      if (typed) this.#draft = text;
      this.#refuse(error);
      return;
    }
    this.#refusal = undefined;
    this.#draft = undefined;
    const isPreset = text === presetText(presetOf(state.preset));
    const link = toLink(text);
    this.#own = isPreset ? undefined : { text, link, preset: state.preset };
    this.set({ config: isPreset ? "" : (link ?? "") });
    this.recompute();
  }

  #refuse(error: unknown): void {
    const sentence = error instanceof Error ? error.message : String(error);
    this.#refusal = { sentence, others: error instanceof Refusal ? error.others : [] };
    this.dispatchEvent(new CustomEvent("pe-error", { detail: sentence, bubbles: true, composed: true }));
    this.requestUpdate();
  }

  /** The text of a file; the last one opened wins. */
  async #open(file: File): Promise<void> {
    const turn = ++this.#opening;
    try {
      const text = await readConfig(file);
      if (turn === this.#opening && this.isConnected) this.#offer(text, true);
    } catch (error) {
      if (turn === this.#opening && this.isConnected) this.#refuse(error);
    }
  }

  #chosen = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) void this.#open(file);
    input.value = ""; // the same file may be chosen again
  };

  #dragOver = (event: DragEvent): void => {
    if (this.hides("config") || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    this.#drag(true);
  };

  #dragLeave = (): void => this.#drag(false);

  #drag(over: boolean): void {
    if (this.#dragged === over) return;
    this.#dragged = over;
    this.requestUpdate();
  }

  #drop = (event: DragEvent): void => {
    this.#drag(false);
    const file = event.dataTransfer?.files[0];
    if (!file || this.hides("config")) return;
    event.preventDefault();
    event.stopPropagation();
    void this.#open(file);
  };

  #forget(): void {
    this.#opening++;
    this.#own = this.#draft = this.#refusal = undefined;
    this.recompute();
  }

  override reset(): void {
    this.#forget();
    super.reset();
  }

  // ------------------------------------------------------------------------------------------------- picture

  protected picture(model: ScalingModel, state: ScalingState): TemplateResult {
    const pair = Math.min(state.pair, model.pairs.length - 1);
    return html`
      ${this.#source(model, state)} ${this.#refused()} ${this.#config(model, state)}
      ${pairReadout(model, pair)}
      <div class="stage ${this.#dragged ? "dragged" : ""}" data-picture>
        <svg
          class="plot"
          width=${this.width}
          height=${CHART_HEIGHT}
          role="img"
          aria-label="Positions per turn, times slower than unscaled, and new phases, for each of ${model.pairs.length} pairs"
          @pointermove=${this.#point}
          @pointerdown=${this.#point}
        >
          ${chart(model, pair, this.width)}
        </svg>
      </div>
      ${this.#controls(model, pair)}
    `;
  }

  #source(model: ScalingModel, state: ScalingState): TemplateResult {
    const own = model.name !== state.preset;
    const choose = (preset: string) => {
      this.#forget();
      this.set({ preset: preset as ScalingState["preset"], config: "", "seq-len": 0 });
    };
    const layers = model.inspection.numbers.map(({ rope }, i) => [String(i), rope.layers] as const);
    return html`
      <div class="controls" data-field="preset layers">
        <label class="control" data-field="preset">
          <span class="label">model</span>
          <select
            .value=${live(own ? "" : state.preset)}
            @change=${(event: Event) => choose((event.target as HTMLSelectElement).value)}
          >
            <option value="" disabled ?hidden=${!own} ?selected=${own}>your own config</option>
            ${PRESETS.map(
              ({ name }) =>
                html`<option value=${name} ?selected=${!own && name === state.preset}>${name}</option>`,
            )}
          </select>
        </label>
        ${
          layers.length > 1
            ? choice({
                field: "layers",
                label: "kind of layer",
                value: String(model.layer),
                options: layers,
                onInput: (value) => this.set({ layers: Number(value) }),
              })
            : nothing
        }
      </div>
    `;
  }

  #refused(): TemplateResult | typeof nothing {
    const refusal = this.#refusal;
    if (!refusal) return nothing;
    const { sentence, others } = refusal;
    return html`
      <div class="problem refused" role="alert">
        <p>${sentence}</p>
        <p>The picture is still that of the config before.</p>
        ${
          others.length > 0
            ? html`
              <details>
                <summary>What else is said of it: ${countsOf(others)}</summary>
                ${findingList(others)}
              </details>
            `
            : nothing
        }
      </div>
    `;
  }

  #config(model: ScalingModel, state: ScalingState): TemplateResult {
    const { source, verified } = presetOf(state.preset);
    const tooLong = this.#own !== undefined && this.#own.link === null;
    return html`
      <details class="config" data-field="config">
        <summary>config.json: see, paste or open yours</summary>
        ${
          model.name === state.preset
            ? html`<p>${verified ? "Values from" : "No published config was seen; from"} ${source}.</p>`
            : nothing
        }
        <textarea
          rows="12"
          spellcheck="false"
          autocapitalize="off"
          aria-label="config.json"
          .value=${live(this.#draft ?? model.text)}
          @input=${(event: Event) => this.#offer((event.target as HTMLTextAreaElement).value, true)}
        ></textarea>
        <div class="open">
          <label>
            <span>Or a file, chosen here or dropped on the figure:</span>
            <input type="file" accept=".json,application/json" @change=${this.#chosen} />
          </label>
          <button type="button" @click=${this.#empty}>Empty the text</button>
        </div>
        <p>
          It is read here in the page; nothing is uploaded.
          ${tooLong ? "It is too long for a link: a link leads to the model that was chosen before." : ""}
        </p>
      </details>
    `;
  }

  #empty = (): void => {
    this.#draft = "";
    this.requestUpdate();
    this.renderRoot.querySelector("textarea")?.focus();
  };

  #controls(model: ScalingModel, pair: number): TemplateResult {
    const handles = handlesOf(model);
    const [first, ...others] = handles;
    const scales = first?.label === "factor";
    return html`
      <div class="controls">
        ${scales && first ? this.#handle(first) : nothing}
        ${slider({
          field: "seq-len",
          label: "length of the sequence",
          symbol: "pos",
          value: model.seqLen,
          min: 64,
          max: 2 ** 20,
          most: MAX_SEQ_LEN,
          logarithmic: true,
          spoken: `${model.seqLen} positions`,
          onInput: (value) => this.set({ "seq-len": Math.round(value) }),
        })}
        ${slider({
          field: "pair",
          label: "pair",
          symbol: "dim",
          value: pair,
          min: 0,
          max: model.pairs.length - 1,
          spoken: `pair ${pair} of ${model.pairs.length}`,
          onInput: (value) => this.set({ pair: Math.round(value) }),
        })}
      </div>
      ${
        (scales ? others : handles).length > 0
          ? html`
            <details data-field="config">
              <summary>Other numbers of the config</summary>
              <div class="controls">${(scales ? others : handles).map((handle) => this.#handle(handle))}</div>
            </details>
          `
          : nothing
      }
    `;
  }

  #handle(handle: Handle): TemplateResult {
    return slider({
      field: "config",
      label: handle.label,
      value: handle.value,
      min: handle.min,
      max: handle.max,
      most: handle.most,
      logarithmic: true,
      onInput: (value) => this.#offer(handle.edited(handle.whole ? Math.round(value) : value), false),
    });
  }

  #point = (event: PointerEvent): void => {
    if (this.model && reads(event) && !this.hides("pair")) {
      this.set({ pair: pairAt(this.model, share(event)[0], this.width) });
    }
  };

  // ------------------------------------------------------------------------------------------------- panels

  protected override below(model: ScalingModel, state: ScalingState): TemplateResult {
    const found = countsOf(model.inspection.findings);
    return html`
      <div class="below" data-field="view">
        <div class="views" role="group" aria-label="What else to look at">
          ${VIEWS.map(
            (view) => html`
              <button
                type="button"
                aria-pressed=${view === state.view ? "true" : "false"}
                @click=${() => this.set({ view })}
              >
                ${VIEW_NAMES[view]}${view === "findings" && found ? `: ${found}` : ""}
              </button>
            `,
          )}
        </div>
        <div class="panel">${this.#panel(model, state)}</div>
      </div>
    `;
  }

  #panel(model: ScalingModel, state: ScalingState): TemplateResult {
    const position = state.position || model.seqLen - 1;
    const asked = { distance: state.distance, position };
    const outlet: Outlet = {
      save: (file, make) => void this.save(file, make),
      copy: (text, done) => void this.copy(text, done),
    };
    const count = (
      field: "distance" | "position" | "rows",
      label: string,
      value: number,
      max: number,
    ) => html`
      <div class="controls">
        ${slider({
          field,
          label,
          symbol: "pos",
          value: Math.max(1, value),
          min: 1,
          max,
          most: fields[field].max,
          logarithmic: true,
          onInput: (next) => this.set({ [field]: Math.round(next) }),
        })}
      </div>
    `;
    switch (state.view) {
      case "length":
        return lengthPanel(model);
      case "neighbours":
        return html`
          ${neighbourPanel(model, state.distance, this.width)}
          ${count("distance", "distance", state.distance, 2 ** 17)}
        `;
      case "precision":
        return html`
          ${precisionPanel(model, position)} ${count("position", "position", position, 2 ** 20)}
        `;
      case "layout": {
        const { panel, code } = layoutPanel(model, this.width);
        return html`${panel} ${permutationCode(code, outlet)}`;
      }
      case "files": {
        const rows = count("rows", "positions in the files", state.rows, fields.rows.max);
        return filePanel(model, asked, state.rows, rows, outlet);
      }
      default:
        return html`${findingList(model.inspection.findings)} ${valueTable(model)}`;
    }
  }

  // --------------------------------------------------------------------------------------------------- words

  protected takeaway(model: ScalingModel): string {
    const { name, numbers, plain, pairs, trained, seqLen, inspection } = model;
    const type = numbers.config.ropeType ?? "default";
    const turning = pairs.filter(({ invFreq }) => invFreq > 0).length;
    const slower = [...ratios(plain, numbers.invFreq)].filter(Number.isFinite);
    const kept = slower.filter((ratio) => Math.abs(ratio - 1) < 1e-9).length;
    const most = exactly(Number(Math.max(...slower).toPrecision(3)));
    const still =
      turning < pairs.length ? ` ${pairs.length - turning} of ${pairs.length} pairs stand still.` : "";
    const even = Math.max(...slower) - Math.min(...slower) < 1e-9;
    const slow =
      kept > 0 ? `${kept} of ${turning} pairs turn as unscaled, the others` : `all ${turning} pairs turn`;
    const how =
      kept === turning
        ? `${name} turns its ${turning} pairs unscaled.${still}`
        : `${name} scales by ${type === "linear" ? "linear interpolation" : NAMES[type]}: ${slow} ${even ? "" : "up to "}${most} times slower.${still}`;
    const beyond = pairs.filter(({ unreached }) => unreached !== null).length;
    const phases =
      trained === null
        ? "The config does not say how long the training was."
        : beyond === 0
          ? `At ${fixed(seqLen, 0)} positions no pair reaches a phase that ${fixed(trained, 0)} unscaled positions do not show.`
          : `At ${fixed(seqLen, 0)} positions ${beyond === 1 ? "1 pair reaches" : `${beyond} pairs reach`} phases that ${fixed(trained, 0)} unscaled positions never show.`;
    const found = countsOf(inspection.findings);
    return `${how} ${phases}${found ? ` The config has ${found}.` : ""}`;
  }

  protected dataTable({ pairs, plain, numbers, name, seqLen }: ScalingModel): DataTable {
    const slower = ratios(plain, numbers.invFreq);
    const cell = (value: number | null | undefined) => significant(value ?? Number.NaN, 6);
    return {
      caption: `${name}, at ${fixed(seqLen, 0)} positions; phases in radians`,
      head: [
        "pair",
        "inv_freq",
        "positions per turn",
        "turns in training",
        "times slower",
        "new from",
        "to",
        "change of cos",
      ],
      rows: pairs.map(({ pair, invFreq, wavelength, turns, unreached, resolution }) => [
        pair,
        ...[invFreq, wavelength].map(cell),
        turns === null ? "" : cell(turns),
        cell(slower[pair]),
        ...(unreached ? unreached.map(cell) : ["", ""]),
        cell(resolution),
      ]),
    };
  }

  protected override array({ pairs, plain, numbers }: ScalingModel): NamedArray {
    const slower = ratios(plain, numbers.invFreq);
    const rows = pairs.map(({ pair, invFreq, wavelength, turns, unreached, resolution }) => [
      ...[pair, invFreq, wavelength, turns ?? Number.NaN, slower[pair] ?? Number.NaN],
      ...(unreached ?? [Number.NaN, Number.NaN]),
      resolution,
    ]);
    return {
      name: "rope_pairs",
      shape: [pairs.length, 8],
      values: Float64Array.from(rows.flat()),
      columns: [
        ...["pair", "inv_freq", "wavelength", "turns", "times_slower", "unreached_from", "unreached_to"],
        "resolution",
      ],
    };
  }

  protected override numpy(): string {
    const { model } = this;
    if (!model) return "";
    const { numbers, trained, seqLen } = model;
    const { config, attentionFactor } = numbers;
    const theta = config.ropeTheta ?? 10000;
    const seen = trained === null ? "np.inf" : `(${trained} - 1) * plain`;
    return `${numpySnippet(config, attentionFactor, seqLen)}
import matplotlib.pyplot as plt

plain = ${Number.isInteger(theta) ? `${theta}.0` : theta} ** (-2 * i / d)
shown = np.minimum(${seen}, 2 * np.pi) * np.ones(len(i))
reached = np.minimum((${seqLen} - 1) * inv_freq, 2 * np.pi)
with np.errstate(divide="ignore"):
    wavelength, slower = 2 * np.pi / inv_freq, plain / inv_freq

figure, (turn, ratio, phase) = plt.subplots(3, sharex=True, figsize=(8, 9), layout="constrained")
turn.semilogy(i, 2 * np.pi / plain, ":", label="unscaled")
turn.semilogy(i, wavelength, label="this config")
turn.set_ylabel("positions per turn")
turn.legend()
ratio.semilogy(i, slower, base=2)
ratio.set_ylabel("times slower than unscaled")
phase.bar(i, shown, color="0.6", label="in training")
phase.bar(i, np.maximum(reached - shown, 0), bottom=shown, color="C3", label="new at ${seqLen} positions")
phase.set(xlabel="pair", ylabel="phase in radians")
phase.legend()
plt.show()
`;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    chartStyles,
    findingStyles,
    panelStyles,
    fileStyles,
    takeawayRoom([0, 10.15], [330, 8.7], [520, 5.8]),
    readoutRow([0, 7.25], [400, 5.8], [520, 4.35], [600, 2.9], [1120, 1.45]),
    css`
      .readout {
        margin-top: var(--pe-space-2);
      }
      .stage.dragged {
        outline: 2px dashed var(--pe-accent);
        outline-offset: 4px;
      }
      .refused p {
        margin: 0 0 var(--pe-space-1);
        overflow-wrap: anywhere;
      }
      .config {
        margin-bottom: var(--pe-space-2);
      }
      .config p {
        max-width: 80ch;
        margin: var(--pe-space-2) 0;
        color: var(--pe-ink-2);
        overflow-wrap: anywhere;
      }
      textarea {
        display: block;
        width: 100%;
        min-width: 0;
        padding: var(--pe-space-2);
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: var(--pe-surface);
        color: var(--pe-ink);
        font: var(--pe-text-s) / 1.45 var(--pe-font-mono);
        white-space: pre;
        resize: vertical;
      }
      .open {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2) var(--pe-space-3);
        margin-top: var(--pe-space-2);
      }
      .open label {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-1) var(--pe-space-2);
        min-width: 0;
      }
      .open input {
        max-width: 100%;
        min-width: 0;
        min-height: calc(2 * var(--pe-rem));
      }
      .open input::file-selector-button {
        min-height: calc(2 * var(--pe-rem));
        padding: calc(0.2 * var(--pe-rem)) calc(0.7 * var(--pe-rem));
        border: 1px solid var(--pe-ink-2);
        border-radius: var(--pe-radius);
        background: none;
        color: inherit;
        font: inherit;
        cursor: pointer;
      }
      .below {
        margin-bottom: var(--pe-space-3);
      }
      .views {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-1);
        margin-bottom: var(--pe-space-3);
      }
      .views button[aria-pressed="true"] {
        border-color: var(--pe-accent);
        background: var(--pe-surface);
        font-weight: 600;
      }
    `,
  ];
}

define("pe-scaling", PeScaling);

declare global {
  interface HTMLElementTagNameMap {
    "pe-scaling": PeScaling;
  }
}
