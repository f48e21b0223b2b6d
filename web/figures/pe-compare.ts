// Six attention maps of the same words and the same weights, one for each way of telling positions, on one scale.

import {
  type CSSResultGroup,
  css,
  html,
  nothing,
  type SVGTemplateResult,
  svg,
  type TemplateResult,
} from "lit";
import { guard } from "lit/directives/guard.js";
import { live } from "lit/directives/live.js";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { type Comparison, comparison, type Maps, METHODS, type Method } from "./compare-model.ts";
import { numpyCode } from "./compare-numpy.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, takeawayRoom } from "./figure.ts";
import { fixed } from "./format.ts";
import { mapGrid, mapGridStyles, walk } from "./map-grid.ts";
import { cut, hatch, textWidth } from "./permutation-map.ts";
import type { State } from "./state.ts";

const WIDTHS = ["16", "32", "64"] as const;
const HEADS = ["1", "2", "4", "8"] as const;

const fields = {
  sentence: { kind: "text", fallback: "the dog bit the man", maxLength: 120 },
  show: { kind: "choice", fallback: "logits", choices: ["logits", "weights"] },
  difference: { kind: "flag", fallback: false },
  causal: { kind: "flag", fallback: false },
  head: { kind: "integer", fallback: 1, min: 1, max: 8 },
  "num-heads": { kind: "choice", fallback: "4", choices: HEADS },
  "d-model": { kind: "choice", fallback: "16", choices: WIDTHS },
  "max-len": { kind: "integer", fallback: 512, min: 12, max: 131072 },
  row: { kind: "integer", fallback: 3, min: 0, max: 11 },
  column: { kind: "integer", fallback: 1, min: 0, max: 11 },
  seed: { kind: "integer", fallback: 1, min: 0, max: 999_999 },
} as const;
type CompareState = State<typeof fields>;

/** Far above the rounding of 64 products, far below what any encoding does to a logit. */
const ROUNDING = 1e-12;
/** Room above a map for its name, and under it for what it acts on. */
const [NAME, NOTE] = [26, 44];
const LARGEST_CELL = 44;

interface Model extends Comparison {
  /** What each map shows, in the order of METHODS: n × n numbers; not finite where the mask hides the key. */
  shown: readonly Float64Array[];
  /** Largest absolute number shown: the full colour. */
  top: number;
  row: number;
  column: number;
}

interface Layout {
  across: number;
  /** From one map to the next. */
  pitch: { x: number; y: number };
  /** Room left of the maps and above each one for the words. */
  margin: number;
  head: number;
  /** Whether the words above are level rather than turned. */
  level: boolean;
  cell: number;
  width: number;
  height: number;
}

/** The cell that is read; a shorter sentence pulls it in. */
const cellOf = (state: CompareState, n: number): [row: number, column: number] => [
  Math.min(state.row, n - 1),
  Math.min(state.column, n - 1),
];

/**
 * No encoding, sinusoidal, learned, RoPE, ALiBi and T5 on the same words and the same W_Q, W_K, W_V and W_O.
 *
 * @attr sentence - 1 to 12 words.
 * @attr show - What the maps hold: logits before the softmax, or weights after it.
 * @attr difference - Whether the maps show the difference from no encoding.
 * @attr causal - Whether a query sees only itself and the keys before it.
 * @attr head - The head shown, from 1.
 * @attr num-heads - Heads of the layer.
 * @attr d-model - Dimensions of the layer.
 * @attr max-len - Rows of the learned table, for its parameters.
 * @attr row - The query that is read, from 0.
 * @attr column - The key that is read, from 0.
 * @attr seed - Of the random word vectors and weights.
 * @cssprop --pe-none - Colour of no encoding.
 * @cssprop --pe-sinusoidal - Colour of the sinusoidal encoding.
 * @cssprop --pe-learned - Colour of learned positions.
 * @cssprop --pe-rope - Colour of RoPE.
 * @cssprop --pe-alibi - Colour of ALiBi.
 * @cssprop --pe-t5 - Colour of T5.
 * @cssprop --pe-q - Colour of the query.
 * @cssprop --pe-k - Colour of the key.
 */
export class PeCompare extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "The same words under six encodings";

  #computed: { key: string; comparison: Comparison } | undefined;
  #shown: { key: string; maps: readonly Float64Array[]; top: number } | undefined;

  protected compute(core: Posenc, state: CompareState): Model {
    const setting = {
      sentence: state.sentence,
      dModel: Number(state["d-model"]),
      numHeads: Number(state["num-heads"]),
      head: state.head,
      causal: state.causal,
      seed: state.seed,
    };
    const key = JSON.stringify(setting);
    if (this.#computed?.key !== key) this.#computed = { key, comparison: comparison(core, setting) };
    const result = this.#computed.comparison;
    const view = `${key} ${state.show} ${state.difference}`;
    if (this.#shown?.key !== view) {
      const maps = METHODS.map(({ encoding }) => shownMap(result.maps[encoding], result.maps.none, state));
      const top = Math.max(...maps.flatMap((map) => [...map].filter(Number.isFinite).map(Math.abs)));
      this.#shown = { key: view, maps, top };
    }
    const [row, column] = cellOf(state, result.words.length);
    return { ...result, shown: this.#shown.maps, top: this.#shown.top, row, column };
  }

  // ----------------------------------------------------------------------------------------------- picture

  get #beside(): boolean {
    return this.width >= 920;
  }

  #layout({ words }: Model): Layout {
    const n = words.length;
    const width = this.#beside ? Math.min(this.width - 328, 760) : this.width;
    const narrow = width < 520;
    const across = narrow ? 2 : 3;
    const longest = Math.max(...words.map((word) => textWidth(word, 12)));
    const widest = narrow ? 40 : 64;
    const margin = Math.min(widest, Math.ceil(longest) + 10);
    // Maps of any number of words have the same room, so that nothing moves while the reader types.
    const side = Math.min(Math.floor((width - widest) / across) - (narrow ? 12 : 24), 5 * LARGEST_CELL);
    const cell = Math.min(LARGEST_CELL, Math.floor(side / n));
    const level = longest <= cell - 4;
    const x = Math.max(side, 120) + (narrow ? 12 : 32);
    const y = NAME + widest + side + NOTE + 8;
    return {
      across,
      pitch: { x: Math.min(x, Math.floor((width - margin) / across)), y },
      margin,
      head: NAME + (level ? 20 : margin),
      level,
      cell,
      width,
      height: Math.ceil(METHODS.length / across) * y + 18,
    };
  }

  protected picture(model: Model, state: CompareState): TemplateResult {
    const at = this.#layout(model);
    return html`
      <div class="stage ${this.#beside ? "beside" : ""}">
        <div class="maps" data-picture .style=${`height:${at.height}px`}>
          <svg
            width=${at.width}
            height=${at.height}
            aria-hidden="true"
            @pointermove=${this.#point}
            @pointerdown=${this.#point}
          >
            ${METHODS.map((method, i) => this.#map(method, i, model, at, state))} ${this.#scale(model, at)}
          </svg>
          ${this.#grid(model, state)}
        </div>
        ${this.#readout(model, state)}
      </div>
      ${this.#controls(model, state)}
    `;
  }

  #map(method: Method, i: number, model: Model, at: Layout, state: CompareState): SVGTemplateResult {
    const { words, shown, top, row, column } = model;
    const { cell, head, level, margin } = at;
    const n = words.length;
    const values = shown[i] ?? new Float64Array();
    const [left, y] = corner(at, i);
    const parameters = method.parameters(
      state["max-len"],
      Number(state["d-model"]),
      Number(state["num-heads"]),
    );
    const first = i % at.across === 0;
    return svg`
      <g class="map ${method.encoding}">
        <circle class="dot" cx=${left + 5} cy=${y + 9} r="5"></circle>
        <text class="name" x=${left + 16} y=${y + 14}>${method.name}</text>
        ${words.map(
          (word, j) => svg`
            ${
              first
                ? svg`<text class=${j === row ? "q read" : "q"} data-symbol="q" x=${left - 6} y=${y + head + (j + 0.5) * cell}
                    text-anchor="end" dominant-baseline="central">${cut(word, margin - 9)}</text>`
                : nothing
            }
            <g transform="translate(${left + (j + 0.5) * cell} ${y + head - 7})">
              <text class=${j === column ? "k read" : "k"} data-symbol="k" text-anchor=${level ? "middle" : "start"}
                transform=${level ? nothing : "rotate(-90)"} dominant-baseline=${level ? nothing : "central"}
              >${cut(word, level ? cell : head - NAME - 6)}</text>
            </g>`,
        )}
        ${guard([values, left, y, head, cell], () => svg`<g>${cells(values, n, left, y + head, cell, top)}</g>`)}
        <rect class="frame" x=${left} y=${y + head} width=${n * cell} height=${n * cell}></rect>
        <rect class="active" x=${left + column * cell} y=${y + head + row * cell} width=${cell} height=${cell}></rect>
        <text x=${left} y=${y + head + n * cell + 18}>acts on ${method.actsOn}</text>
        <text x=${left} y=${y + head + n * cell + 34}>${fixed(parameters, 0)} parameters</text>
      </g>
    `;
  }

  /** The one scale of all maps; weights have no negative half. */
  #scale({ top, shown }: Model, at: Layout): SVGTemplateResult {
    const y = at.height - 13;
    const signed = shown.some((map) => map.some((value) => value < 0));
    const ramp = Array.from({ length: 17 }, (_, i) => (signed ? (i - 8) / 8 : i / 16));
    const [low, high] = [signed ? `−${fixed(top, 2)}` : "0", fixed(top, 2)];
    const left = at.margin + 8 + textWidth(`−${high}`, 12);
    return svg`
      <text x=${left - 8} y=${y} text-anchor="end" dominant-baseline="central">${low}</text>
      ${ramp.map(
        (
          part,
          i,
        ) => svg`<rect class=${part < 0 ? "negative" : "positive"} x=${left + 8 * i} y=${y - 6} width="8.2"
          height="12" fill-opacity=${Math.abs(part).toFixed(3)}></rect>`,
      )}
      <rect class="frame" x=${left} y=${y - 6} width="136" height="12"></rect>
      <text x=${left + 144} y=${y} dominant-baseline="central">${high}</text>
    `;
  }

  /** What assistive technology sees of the six maps: one cell, the active one, read across all of them. */
  #grid(model: Model, state: CompareState): TemplateResult {
    const { words, row, column, shown } = model;
    const n = words.length;
    const numbers = METHODS.map(({ name }, i) => `${name} ${said(shown[i]?.[row * n + column])}`).join(", ");
    return mapGrid({
      label: `${quantity(state)} under six encodings, ${n} queries by ${n} keys: arrow keys move`,
      size: [n, n],
      cell: [row, column],
      words: `query ${words[row]}, key ${words[column]}: ${numbers}`,
      style: "inset:0",
      onKey: this.#key,
    });
  }

  #readout(model: Model, state: CompareState): TemplateResult {
    const { words, row, column, shown, top } = model;
    const n = words.length;
    const bar = (value: number) => {
      const part = top > 0 && Number.isFinite(value) ? (50 * value) / top : 0;
      return `left:${50 + Math.min(part, 0)}%;width:${Math.abs(part)}%`;
    };
    return html`
      <div class="readout">
        <p>
          ${quantity(state)} of
          <span class="q" data-symbol="q">query <bdi>${words[row]}</bdi> at ${row}</span> and
          <span class="k" data-symbol="k">key <bdi>${words[column]}</bdi> at ${column}</span>
        </p>
        <ul>
          ${METHODS.map((method, i) => {
            const value = shown[i]?.[row * n + column] ?? Number.NaN;
            return html`
              <li class=${method.encoding}>
                <span class="name">${method.name}</span>
                <span class="bar"><i .style=${bar(value)}></i></span>
                <b>${said(value)}</b>
                <span class="how">${this.#how(method, model)}</span>
              </li>
            `;
          })}
        </ul>
      </div>
    `;
  }

  /** How the logit of the active cell comes about. */
  #how({ encoding }: Method, model: Model): string {
    const { row, column, slope } = model;
    const hidden = !Number.isFinite(logit(model, "none"));
    switch (encoding) {
      case "none":
        return "q·k / √d";
      case "sinusoidal":
        return "q·k / √d of words + sines and cosines";
      case "learned":
        return "q·k / √d of words + rows of a table";
      case "rope":
        return `q·k / √d after turns by ${row} and ${column} positions`;
      case "alibi":
        return `q·k / √d − ${Number(slope.toPrecision(3))} × ${Math.abs(row - column)}`;
      case "t5":
        return hidden
          ? "q·k + bias, without 1/√d"
          : `q·k ${fixed(t5Parts(model).dot, 2)}, bias ${fixed(t5Parts(model).bias, 2)}, without 1/√d`;
    }
  }

  #controls(model: Model, state: CompareState): TemplateResult {
    const heads = Number(state["num-heads"]);
    const type = (event: Event) => this.set({ sentence: (event.target as HTMLInputElement).value });
    return html`
      <div class="controls">
        <label class="control sentence" data-field="sentence">
          <span class="label">Your own words, up to 12</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck="false"
            maxlength=${fields.sentence.maxLength}
            .value=${live(this.getAttribute("sentence") ?? fields.sentence.fallback)}
            @input=${type}
          />
        </label>
        ${choice({
          field: "show",
          label: "show",
          value: state.show,
          options: [
            ["logits", "logits, before the softmax"],
            ["weights", "weights, after the softmax"],
          ],
          onInput: (value) => this.set({ show: value as CompareState["show"] }),
        })}
        <div class="group toggles">
          ${toggle({
            field: "difference",
            label: "difference from none",
            checked: state.difference,
            onInput: (difference) => this.set({ difference }),
          })}
          ${toggle({ field: "causal", label: "causal mask", checked: state.causal, onInput: (causal) => this.set({ causal }) })}
        </div>
        ${slider({
          field: "head",
          label: `head of ${heads}`,
          value: model.head + 1,
          min: 1,
          max: heads,
          spoken: `head ${model.head + 1} of ${heads}`,
          onInput: (head) => this.set({ head: Math.min(Math.max(1, Math.round(head)), heads) }),
        })}
        ${choice({
          field: "num-heads",
          label: "num_heads",
          value: state["num-heads"],
          options: HEADS.map((count) => [count, count] as const),
          onInput: (value) => this.set({ "num-heads": value as CompareState["num-heads"] }),
        })}
        ${choice({
          field: "d-model",
          label: "d_model",
          symbol: "dim",
          value: state["d-model"],
          options: WIDTHS.map((width) => [width, width] as const),
          onInput: (value) => this.set({ "d-model": value as CompareState["d-model"] }),
        })}
        ${slider({
          field: "max-len",
          label: "max_len of the learned table",
          symbol: "pos",
          value: state["max-len"],
          min: fields["max-len"].min,
          max: fields["max-len"].max,
          logarithmic: true,
          onInput: (value) => this.set({ "max-len": Math.round(value) }),
        })}
        <div class="again" data-field="seed">
          <button type="button" @click=${() => this.set({ seed: (this.state.seed + 1) % 1_000_000 })}>
            New random weights
          </button>
        </div>
      </div>
    `;
  }

  // ---------------------------------------------------------------------------------------------- sentences

  protected takeaway(model: Model, state: CompareState): string {
    const { words, row, column, maps } = model;
    const at = row * words.length + column;
    const pair = `from “${words[row]}” at ${row} to “${words[column]}” at ${column}`;
    if (!Number.isFinite(maps.none.logits[at])) {
      return `The mask hides this key: the logit ${pair} is −∞ and the weight 0 under every method.`;
    }
    const read = state.show;
    const plain = maps.none[read][at] ?? Number.NaN;
    const changes = METHODS.map(({ name, encoding }) => ({
      name,
      change: (maps[encoding][read][at] ?? Number.NaN) - plain,
    }));
    const most = changes.reduce((a, b) => (Math.abs(b.change) > Math.abs(a.change) ? b : a));
    const one = read === "logits" ? "logit" : "weight";
    const changed =
      Math.abs(most.change) < ROUNDING
        ? `No method changes the ${one} ${pair}: ${fixed(plain, 2)}`
        : `Without positions the ${one} ${pair} is ${fixed(plain, 2)}; ${most.name} changes it most, ` +
          `by ${fixed(most.change, 2)} to ${fixed(plain + most.change, 2)}`;
    const alibi = (maps.alibi.logits[at] ?? Number.NaN) - (maps.none.logits[at] ?? Number.NaN);
    return (
      `${changed}. ALiBi leaves q·k / √d alone and adds ${fixed(alibi, 2)}, T5 leaves q·k alone and adds ` +
      `${fixed(t5Parts(model).bias, 2)}: numbers that depend only on key place minus query place, ${fixed(column - row, 0)}.`
    );
  }

  protected dataTable({ words, shown }: Model, state: CompareState): DataTable {
    const n = words.length;
    return {
      caption: `${quantity(state)}, by query and key (places from 0)`,
      head: ["query → key", ...METHODS.map(({ name }) => name)],
      rows: Array.from({ length: n * n }, (_, at) => {
        const [query, key] = [Math.floor(at / n), at % n];
        const pair = `${query} ${words[query]} → ${key} ${words[key]}`;
        return [pair, ...shown.map((map) => said(map[at], 4))];
      }),
    };
  }

  protected override array({ words, shown }: Model, state: CompareState): NamedArray {
    const n = words.length;
    return {
      name: state.difference ? `${state.show}_minus_none` : state.show,
      shape: [METHODS.length, n, n],
      values: Float64Array.from(shown.flatMap((map) => [...map])),
    };
  }

  protected override numpy(state: CompareState): string {
    return numpyCode({
      ...state,
      dModel: Number(state["d-model"]),
      numHeads: Number(state["num-heads"]),
    });
  }

  // ---------------------------------------------------------------------------------------------- reading

  #key = (event: KeyboardEvent): void => {
    const n = this.model?.words.length;
    if (n === undefined) return;
    const to = walk(event, cellOf(this.state, n), n);
    if (to) this.set({ row: to[0], column: to[1] });
  };

  #point = (event: PointerEvent): void => {
    const { model } = this;
    if (!model || (event.type === "pointermove" && event.pointerType !== "mouse")) return;
    const at = this.#layout(model);
    const [right, down] = share(event);
    const [x, y] = [right * at.width, down * at.height];
    const n = model.words.length;
    for (let i = 0; i < METHODS.length; i++) {
      const [left, top] = corner(at, i);
      const column = Math.floor((x - left) / at.cell);
      const row = Math.floor((y - top - at.head) / at.cell);
      if (column < 0 || column >= n || row < 0 || row >= n) continue;
      if (row !== this.state.row || column !== this.state.column) this.set({ row, column });
    }
  };

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    takeawayRoom([0, 11.6], [380, 8.7], [449, 5.8], [800, 4.35]),
    css`
      .stage {
        display: grid;
        gap: var(--pe-space-3) calc(2.5 * var(--pe-rem));
      }
      .stage.beside {
        grid-template-columns: minmax(0, 1fr) calc(18 * var(--pe-rem));
        align-items: center;
      }
      .maps {
        position: relative;
      }
      svg {
        display: block;
        overflow: visible;
        touch-action: manipulation;
      }
      .grid {
        position: absolute;
        inset: 0;
        pointer-events: none;
      }
      svg text.name {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      svg text.read {
        font-weight: 600;
      }
      .none {
        --method: var(--pe-none);
      }
      .sinusoidal {
        --method: var(--pe-sinusoidal);
      }
      .learned {
        --method: var(--pe-learned);
      }
      .rope {
        --method: var(--pe-rope);
      }
      .alibi {
        --method: var(--pe-alibi);
      }
      .t5 {
        --method: var(--pe-t5);
      }
      .dot {
        fill: var(--method);
      }
      .positive {
        fill: light-dark(#2166ac, #74b3ea);
      }
      .negative {
        fill: light-dark(#b2182b, #f48a76);
      }
      .dot,
      .positive,
      .negative,
      .bar i {
        forced-color-adjust: none;
      }
      .frame {
        fill: none;
        stroke: var(--pe-rule);
      }
      .hatch {
        fill: none;
        stroke: var(--pe-rule);
      }
      .active {
        fill: none;
        stroke: var(--pe-ink);
        stroke-width: 2;
      }
      .readout p {
        margin: 0 0 var(--pe-space-2);
      }
      .readout ul {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(17 * var(--pe-rem))), 1fr));
        gap: var(--pe-space-2) var(--pe-space-4);
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .readout li {
        display: grid;
        grid-template-columns: calc(5.5 * var(--pe-rem)) minmax(0, 1fr) calc(3.5 * var(--pe-rem));
        align-items: center;
        column-gap: var(--pe-space-2);
      }
      .readout .name {
        color: var(--method);
        font-weight: 600;
      }
      .readout b {
        text-align: end;
        font-weight: 600;
      }
      .readout .how {
        grid-column: 1 / -1;
        color: var(--pe-ink-2);
        font-size: calc(0.8125 * var(--pe-rem));
        line-height: 1.3;
      }
      .bar {
        position: relative;
        height: calc(0.75 * var(--pe-rem));
        background: linear-gradient(var(--pe-ink-2), var(--pe-ink-2)) center / 1px 100% no-repeat;
      }
      .bar i {
        position: absolute;
        inset-block: 2px;
        background: var(--method);
      }
      .control.sentence input {
        grid-column: 1 / -1;
        min-width: 0;
        min-height: calc(2 * var(--pe-rem));
        padding: 0 calc(0.6 * var(--pe-rem));
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: none;
      }
      .toggles {
        display: grid;
        align-content: end;
      }
      .again {
        align-self: end;
      }
      @container (max-width: 448px) {
        .readout p {
          min-height: 2.9em;
        }
      }
    `,
  ];
}

/** The numbers of one method's map as the state asks for them. */
function shownMap(maps: Maps, none: Maps, { show, difference }: CompareState): Float64Array {
  return Float64Array.from(maps[show], (value, i) => {
    if (!Number.isFinite(maps.logits[i])) return Number.NaN;
    return difference ? value - (none[show][i] ?? Number.NaN) : value;
  });
}

const logit = ({ maps, words, row, column }: Model, encoding: Method["encoding"]): number =>
  maps[encoding].logits[row * words.length + column] ?? Number.NaN;

/** T5's logit is q·k, not divided by √d, and a bias. */
function t5Parts(model: Model): { dot: number; bias: number } {
  const dot = logit(model, "none") * Math.sqrt(model.headDim);
  return { dot, bias: logit(model, "t5") - dot };
}

const said = (value = Number.NaN, decimals = 2): string =>
  Number.isFinite(value) ? fixed(value, decimals) : "masked";

const quantity = ({ show, difference }: CompareState): string => {
  const what = show === "logits" ? "Logit" : "Weight";
  return difference ? `${what} minus that of none` : what;
};

/** Where a map's own corner is: the left of its cells, the top of its name. */
const corner = (at: Layout, i: number): [x: number, y: number] => [
  at.margin + (i % at.across) * at.pitch.x,
  Math.floor(i / at.across) * at.pitch.y,
];

function cells(
  values: Float64Array,
  n: number,
  left: number,
  top: number,
  cell: number,
  most: number,
): SVGTemplateResult[] {
  return Array.from(values, (value, i) => {
    const [x, y] = [left + (i % n) * cell, top + Math.floor(i / n) * cell];
    if (!Number.isFinite(value)) {
      return svg`<path class="hatch" transform="translate(${x} ${y})" d=${hatch(cell)}></path>`;
    }
    const part = most === 0 ? 0 : Math.abs(value) / most;
    return svg`<rect class=${value < 0 ? "negative" : "positive"} x=${x} y=${y} width=${cell} height=${cell}
      fill-opacity=${part.toFixed(4)}></rect>`;
  });
}

define("pe-compare", PeCompare);

declare global {
  interface HTMLElementTagNameMap {
    "pe-compare": PeCompare;
  }
}
