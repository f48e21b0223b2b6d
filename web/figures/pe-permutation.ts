// Self-attention without positions does not see the order of words: f(PX) = P f(X). The reader reorders a sentence,
// and sees each word's output and the attention matrix stay or change.

import { type CSSResultGroup, css, html, svg, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { NamedArray } from "../draw/npy.ts";
import type { Encoding, Posenc } from "../posenc.ts";
import { controlStyles, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { fixed, significant } from "./format.ts";
import { glide, WordDrag } from "./permutation-drag.ts";
import { textWidth, weightMap } from "./permutation-map.ts";
import { D_MODEL, type Experiment, experiment, mapOf, NUM_HEADS, orderOf, row } from "./permutation-model.ts";
import { numpyCode } from "./permutation-numpy.ts";
import { isRounding, takeaway } from "./permutation-takeaway.ts";
import type { State } from "./state.ts";

const ENCODINGS: readonly (readonly [Encoding, string])[] = [
  ["none", "None"],
  ["sinusoidal", "Sinusoidal"],
  ["learned", "Learned"],
  ["rope", "RoPE"],
  ["alibi", "ALiBi"],
  ["t5", "T5"],
];

const FIELDS = {
  sentence: { kind: "text", fallback: "dog bites man", maxLength: 120 },
  order: { kind: "text", fallback: "", maxLength: 60 },
  encoding: {
    kind: "choice",
    fallback: "none",
    choices: ["none", "sinusoidal", "learned", "rope", "alibi", "t5"],
  },
  causal: { kind: "flag", fallback: false },
  layers: { kind: "integer", fallback: 1, min: 1, max: 2 },
  layer: { kind: "integer", fallback: 1, min: 1, max: 2 },
  head: { kind: "integer", fallback: 1, min: 1, max: NUM_HEADS },
  "put-back": { kind: "flag", fallback: false },
  seed: { kind: "integer", fallback: 1, min: 0, max: 999_999 },
} as const;
type PermutationState = State<typeof FIELDS>;

const CELL = 5; // height of one number of an output, in pixels
const CURVES = 44;

/**
 * “Dog bites man” and “man bites dog” through the same self-attention: which outputs change with the order?
 *
 * @attr sentence - 1 to 12 words.
 * @attr order - The reordered sentence as indices of words, such as 2,1,0; empty: reversed.
 * @attr encoding - How the layers know the positions.
 * @attr causal - Whether a row sees only itself and the rows before it.
 * @attr layers - Attention layers.
 * @attr layer - The layer whose attention weights are shown, from 1.
 * @attr head - The head whose attention weights are shown, from 1.
 * @attr put-back - Whether the second matrix has its rows and columns in the order of the first.
 * @attr seed - Of the random word vectors and weights.
 * @cssprop --pe-none - Colour of the weights without an encoding.
 * @cssprop --pe-sinusoidal - Colour of the weights with the sinusoidal encoding.
 * @cssprop --pe-learned - Colour of the weights with learned positions.
 * @cssprop --pe-rope - Colour of the weights with RoPE.
 * @cssprop --pe-alibi - Colour of the weights with ALiBi.
 * @cssprop --pe-t5 - Colour of the weights with T5.
 * @cssprop --pe-accent - Colour of the words that changed places.
 */
export class PePermutation extends PeFigure<typeof FIELDS, Experiment> {
  static override fields = FIELDS;

  protected override readonly heading = "Reorder the words";

  #selected = 0;
  /** Query and key word that are marked; one array for good, so that a handler drawn a frame ago reads the present. */
  readonly #active: [number, number] = [0, 0];
  #said = "";
  #focus: number | undefined;
  #drawn: Experiment | undefined;
  #drag = new WordDrag({
    list: () => this.renderRoot.querySelector<HTMLElement>(".after"),
    order: () => this.model?.order ?? [],
    move: (word, place) => this.#move(word, place),
    end: (word, from) => {
      if (from !== null) this.#move(word, from);
      this.#focus = word;
      this.#dropped = performance.now();
      this.requestUpdate();
    },
  });
  #dropped = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#drag.release();
  }

  protected override compute(core: Posenc, state: PermutationState): Experiment {
    const model = experiment(core, state);
    if (model.words.join(" ") !== this.model?.words.join(" ")) {
      this.#selected = model.order[0] ?? 0;
      this.#active.splice(0, 2, model.words.length - 1, 0);
    }
    return model;
  }

  protected override takeaway(model: Experiment, state: PermutationState): string {
    return takeaway(model, state);
  }

  protected override dataTable({ words, order, differences }: Experiment): DataTable {
    return {
      caption: "Each word, its row in both sentences (counted from 0), and how far its output moved",
      head: ["Word", "Row of X", "Row of PX", "Largest difference of its output"],
      rows: words.map((word, i) => [word, i, order.indexOf(i), significant(differences[i] ?? Number.NaN)]),
    };
  }

  /** f(X) and f(PX). */
  protected override array({ words, result }: Experiment): NamedArray {
    const values = Float64Array.of(...result.output, ...result.permuted.output);
    return { name: "outputs", shape: [2, words.length, D_MODEL], values };
  }

  protected override numpy(state: PermutationState): string {
    return numpyCode(state, Math.min(state.layer, state.layers) - 1, state.head - 1);
  }

  // -------------------------------------------------------------------------------------------- reordering

  /** The order asked for last: a second key press may come before the picture of the first. */
  #order(): number[] {
    return orderOf(this.state.order, this.model?.words.length ?? 0);
  }

  #move(word: number, place: number): void {
    const order = this.#order();
    const from = order.indexOf(word);
    if (from === place || place < 0 || place >= order.length) return;
    order.splice(from, 1);
    order.splice(place, 0, word);
    this.#ask(order, `${this.model?.words[word]}, now position ${place + 1} of ${order.length}`);
  }

  #ask(order: number[], said = `now ${order.map((word) => this.model?.words[word]).join(" ")}`): void {
    this.#said = said;
    this.set({ order: order.join() });
  }

  #shuffle = (): void => {
    const before = this.#order();
    const order = [...before];
    while (order.length > 1 && order.join() === before.join()) {
      for (let i = order.length - 1; i > 0; i--) {
        const j = Math.floor(Math.random() * (i + 1));
        [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
      }
    }
    this.#ask(order);
  };

  #keydown(event: KeyboardEvent, word: number): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const from = this.#order().indexOf(word);
    const last = this.#order().length - 1;
    const places: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last };
    const place = places[event.key];
    if (event.key === "Escape" && this.#drag.cancel()) event.preventDefault();
    if (place === undefined) return;
    event.preventDefault();
    this.#select(word);
    this.#focus = word;
    this.#move(word, place);
  }

  #select(word: number): void {
    this.#selected = word;
    this.requestUpdate();
  }

  protected override draw(model: Experiment): void {
    const list = this.renderRoot.querySelector<HTMLElement>(".after");
    const before = this.#drawn;
    this.#drawn = model;
    if (!list) return;
    this.#drag.follow();
    if (before && before !== model && before.words.join(" ") === model.words.join(" ")) {
      glide(list, before.order, model.order, this.#drag.word);
    }
    if (this.#focus === undefined) return;
    const place = model.order.indexOf(this.#focus);
    this.#focus = undefined;
    list.children[place]?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
  }

  // ----------------------------------------------------------------------------------------------- picture

  protected override picture(model: Experiment, state: PermutationState): TemplateResult {
    const size = layout(this.width, model.words);
    return html`
      <div class="figure ${size.twoColumns ? "columns" : ""} ${size.wide ? "wide" : ""} method-${state.encoding}">
        <div class="side">${this.#sentences(model, size)} ${this.#handles(model)}</div>
        <div class="side">${this.#settings(state)} ${this.#merits(model)} ${this.#maps(model, state, size)}</div>
      </div>
    `;
  }

  #sentences(model: Experiment, { column, small, upright }: Layout): TemplateResult {
    const { words, order, result, differences } = model;
    const outputs = [...result.output, ...result.permuted.output];
    const top = Math.max(...outputs.map(Math.abs));
    const grid = `grid-template-columns: repeat(${words.length}, ${column}px)`;
    const strip = (output: Float64Array, i: number) => outputStrip(row(output, i), top, column);
    const x = (place: number) => (place + 0.5) * column;
    return html`
      <div class="sentences ${small ? "small" : ""} ${upright ? "upright" : ""}" dir="ltr">
        <p class="note">
          <i>f</i>(<i>X</i>): ${D_MODEL} numbers, <span class="negative">red −${fixed(top, 1)}</span> to
          <span class="positive">blue ${fixed(top, 1)}</span>
        </p>
        <ol class="words before" aria-label="Sentence X" .style=${grid}>
          ${words.map(
            (word, i) => html`
              <li>
                ${strip(result.output, i)}
                <span class="word" title=${word}><bdi>${word}</bdi></span>
              </li>
            `,
          )}
        </ol>
        <svg class="moves" aria-hidden="true" width=${words.length * column} height=${CURVES}>
          ${words.map((_, i) => {
            const [from, to] = [x(i), x(order.indexOf(i))];
            const middle = CURVES / 2;
            return svg`<path class=${from === to ? "" : "moved"}
              d="M${from} 0C${from} ${middle} ${to} ${middle} ${to} ${CURVES}"></path>`;
          })}
        </svg>
        <ol class="words after" aria-label="Reordered sentence PX" .style=${grid}>
          ${order.map((i, place) => this.#word(model, i, place, column, strip(result.permuted.output, place)))}
        </ol>
        <p class="note">
          Outputs <i>f</i>(<i>PX</i>)${differences.every(isRounding) ? ": each word keeps its own" : ", and how far each moved"}
        </p>
        <p class="unseen" aria-live="polite">${this.#said}</p>
      </div>
    `;
  }

  #word(model: Experiment, i: number, place: number, column: number, strip: TemplateResult): TemplateResult {
    const { words, order, differences } = model;
    const word = words[i] ?? "";
    const difference = differences[i] ?? Number.NaN;
    const same = isRounding(difference);
    const number = significant(difference, 2);
    const short = same ? "=" : "≠";
    const click = () => {
      // the press that ended a drag lands on whatever word is there now
      if (Math.abs(performance.now() - this.#dropped) > 100) this.#select(i);
    };
    const fixed = this.hides("order");
    const down = (event: PointerEvent) => {
      if (fixed) return;
      this.#select(i);
      this.#drag.down(event, i);
    };
    return html`
      <li class=${i === place ? "" : "moved"}>
        <button
          type="button"
          class="word"
          title=${word}
          aria-label="${word}, position ${place + 1} of ${order.length}"
          ?disabled=${fixed}
          aria-pressed=${i === this.#selected}
          aria-describedby="keys"
          @click=${click}
          @keydown=${(event: KeyboardEvent) => this.#keydown(event, i)}
          @pointerdown=${down}
          @pointermove=${this.#drag.move}
          @pointerup=${this.#drag.up}
          @pointercancel=${this.#drag.up}
          @lostpointercapture=${this.#drag.up}
        >
          <bdi>${word}</bdi>
        </button>
        ${strip}
        <span class="mark ${same ? "" : "changed"}" title=${same ? "same output" : `differs by ${number}`}>
          ${column < 36 ? html`<span aria-hidden="true">${short}</span><span class="unseen">${same ? "same" : number}</span>` : same ? "same" : number}
        </span>
      </li>
    `;
  }

  /** What a drag does, for a click and for keys. */
  #handles({ words }: Experiment): TemplateResult {
    const order = this.#order();
    const word = words[this.#selected] ?? "";
    const place = order.indexOf(this.#selected);
    const by = (step: number, text: string, side: string) => {
      const to = place + step;
      return html`
        <button
          type="button"
          aria-label="Move ${word} ${side}"
          aria-disabled=${to < 0 || to >= order.length}
          @click=${() => this.#move(this.#selected, to)}
        >
          ${text}
        </button>
      `;
    };
    const type = (event: Event) => {
      this.set({ sentence: (event.target as HTMLInputElement).value, order: "" });
    };
    return html`
      <div class="handles" role="group" data-field="order" aria-label="Reorder" dir="ltr">
        ${by(-1, "← Move", "left")} ${by(1, "Move →", "right")}
        <button type="button" @click=${() => this.#ask(order.reverse())}>Reverse</button>
        <button type="button" @click=${this.#shuffle}>Shuffle</button>
      </div>
      <p class="note keys" id="keys" data-field="order">Drag words, or use the arrow keys.</p>
      <label class="control sentence" data-field="sentence">
        <span class="label">Your own sentence, up to 12 words</span>
        <input
          type="text"
          dir="auto"
          maxlength=${FIELDS.sentence.maxLength}
          autocomplete="off"
          .value=${live(this.getAttribute("sentence") ?? FIELDS.sentence.fallback)}
          @change=${type}
        />
      </label>
    `;
  }

  #settings(state: PermutationState): TemplateResult {
    return html`
      <div class="choices encodings" data-field="encoding" role="radiogroup" aria-labelledby="encoding-name">
        <div class="name" id="encoding-name">Positional encoding</div>
        ${ENCODINGS.map(
          ([name, text]) => html`
            <label class="method-${name}">
              <input
                type="radio"
                form="choices"
                name="encoding"
                value=${name}
                .checked=${live(name === state.encoding)}
                @change=${() => this.set({ encoding: name })}
              />
              <span>${text}</span>
            </label>
          `,
        )}
      </div>
      <div class="group settings">
        ${toggle({ field: "causal", label: "Causal mask", checked: state.causal, onInput: (causal) => this.set({ causal }) })}
        ${numbered("layers", "Layers", state.layers, 2, (layers) => this.set({ layers }))}
        <button type="button" data-field="seed" @click=${() => this.set({ seed: (state.seed + 1) % (FIELDS.seed.max + 1) })}>
          New weights
        </button>
      </div>
    `;
  }

  #merits({ result }: Experiment): TemplateResult {
    const merit = (what: string, formula: TemplateResult, value: number, other: string) => html`
      <div>
        <dt>${what} <span class="formula">${formula}</span></dt>
        <dd><span class="value">${significant(value, 2)}</span> ${value === 0 ? "exactly" : isRounding(value) ? "0 to rounding" : other}</dd>
      </div>
    `;
    return html`
      <dl class="merits">
        ${merit(
          "Outputs",
          html`max |<i>f</i>(<i>PX</i>) − <i>P</i> <i>f</i>(<i>X</i>)|`,
          result.equivariance,
          "not equivariant",
        )}
        ${merit(
          "Mean",
          html`max |mean <i>f</i>(<i>PX</i>) − mean <i>f</i>(<i>X</i>)|`,
          result.pooled,
          "not invariant",
        )}
      </dl>
    `;
  }

  #maps(model: Experiment, state: PermutationState, { cell, margin, stacked }: Layout): TemplateResult {
    const { words, order, result } = model;
    const n = words.length;
    const layer = Math.min(state.layer, state.layers) - 1;
    const shown = [result, result.permuted].map(({ weights, logits }) => ({
      weights: mapOf(weights, n, layer, state.head - 1),
      logits: mapOf(logits, n, layer, state.head - 1),
    }));
    const top = Math.max(...shown.flatMap(({ weights }) => [...weights]));
    const place = order.map((_, word) => order.indexOf(word));
    // Weight by words: in X a word's row is its number, in PX its place.
    const reader = (map: (typeof shown)[number] | undefined, rows: readonly number[] | null) => {
      return (query: number, key: number): number | undefined => {
        const at = (rows?.[query] ?? query) * n + (rows?.[key] ?? key);
        return map?.logits[at] === Number.NEGATIVE_INFINITY ? undefined : map?.weights[at];
      };
    };
    const before = reader(shown[0], null);
    const after = reader(shown[1], place);
    const identity = words.map((_, i) => i);
    const common = { words, top, cell, margin, active: this.#active, onActive: this.#point };
    const [query, key] = this.#active;
    const say = (weight: number | undefined) => (weight === undefined ? "masked" : significant(weight, 3));
    const [first, second] = [before(query, key), after(query, key)];
    const same = first === second || isRounding(Math.abs((first ?? Number.NaN) - (second ?? Number.NaN)));
    return html`
      <div class="attention">
        <div class="group settings">
          ${numbered("head", "Head", state.head, NUM_HEADS, (head) => this.set({ head }))}
          ${numbered("layer", "Layer", layer + 1, 2, (shownLayer) => this.set({ layer: shownLayer }), state.layers < 2)}
        </div>
        <p class="note">
          Attention weights: a row is a <span class="q" data-symbol="q">query</span> and sums to 1, a column is a
          <span class="k" data-symbol="k">key</span>
        </p>
        <div class="maps ${stacked ? "stacked" : ""}" dir="ltr" data-picture>
          <div>
            ${weightMap({
              ...common,
              id: "cell-x",
              name: "X",
              order: identity,
              weight: before,
            })}
          </div>
          <div>
            ${weightMap({
              ...common,
              id: "cell-px",
              name: "PX",
              order: state["put-back"] ? identity : order,
              weight: after,
            })}
          </div>
        </div>
        <p class="note readout">
          <bdi class="q">${words[query]}</bdi> attends to <bdi class="k">${words[key]}</bdi>:
          <b>${say(first)}</b> in <i>X</i>${same ? " and" : html`, <b>${say(second)}</b>`} in <i>PX</i>
        </p>
        ${toggle({
          field: "put-back",
          label: "Put PX back into the order of X",
          checked: state["put-back"],
          onInput: (back) => this.set({ "put-back": back }),
        })}
      </div>
    `;
  }

  #point = (query: number, key: number): void => {
    this.#active.splice(0, 2, query, key);
    this.requestUpdate();
  };

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    css`
      .figure {
        display: grid;
        gap: var(--pe-space-3) calc(2.5 * var(--pe-rem));
      }
      .figure.columns {
        grid-template-columns: minmax(0, 9fr) minmax(0, 11fr);
      }
      .side {
        display: grid;
        align-content: start;
        gap: var(--pe-space-3);
        min-width: 0;
      }
      .note {
        margin: 0;
        color: var(--pe-ink-2);
        line-height: 1.4;
      }
      .note + .note {
        margin-top: calc(-1 * var(--pe-space-2));
      }

      /* the two sentences */
      .sentences {
        display: grid;
        justify-items: center;
      }
      .words {
        display: grid;
        margin: 0;
        padding: 0;
        list-style: none;
      }
      .words li {
        display: grid;
        grid-template-columns: minmax(0, 1fr);
        justify-items: center;
        gap: 4px;
        min-width: 0;
        padding-inline: 2px;
      }
      .before {
        margin-top: var(--pe-space-2);
      }
      .after {
        margin-bottom: var(--pe-space-1);
      }
      .word {
        display: flex;
        align-items: center;
        justify-content: center;
        width: 100%;
        height: calc(2.25 * var(--pe-rem));
        padding: 2px;
        border: 1px solid transparent;
        border-radius: var(--pe-radius);
        background: var(--pe-surface);
        font-size: var(--pe-text-m);
        line-height: 1.4;
      }
      .word bdi {
        min-inline-size: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .small .word {
        font-size: var(--pe-text-s);
      }
      .upright li {
        padding-inline: 0;
      }
      .upright .word {
        height: calc(5.5 * var(--pe-rem));
        padding: 2px 0;
        writing-mode: vertical-rl;
      }
      .upright .before .word {
        border-color: var(--pe-bg);
      }
      button.word {
        border-color: var(--pe-rule);
        cursor: grab;
        touch-action: pan-y;
        user-select: none;
        -webkit-user-select: none;
      }
      button.word:disabled {
        opacity: 1;
        cursor: default;
      }
      .moved button.word {
        border-color: var(--pe-accent);
      }
      button.word[aria-pressed="true"] {
        box-shadow: inset 0 -3px var(--pe-accent);
      }
      .held {
        position: relative;
        z-index: 1;
      }
      .held button.word {
        cursor: grabbing;
        box-shadow: 0 2px 8px rgb(0 0 0 / 25%);
      }
      .moves path {
        fill: none;
        stroke: var(--pe-rule);
        stroke-width: 1.5;
      }
      .moves .moved {
        stroke: var(--pe-accent);
      }
      .strip {
        display: block;
        outline: 1px solid var(--pe-rule);
      }
      .strip,
      .weight {
        forced-color-adjust: none;
      }
      .positive {
        fill: light-dark(#2166ac, #74b3ea);
        color: light-dark(#2166ac, #74b3ea);
      }
      .negative {
        fill: light-dark(#b2182b, #f48a76);
        color: light-dark(#b2182b, #f48a76);
      }
      .mark {
        color: var(--pe-ink-2);
        font-size: calc(0.8125 * var(--pe-rem));
        white-space: nowrap;
      }
      .mark.changed {
        color: var(--pe-ink);
        font-weight: 600;
      }

      /* handles */
      .handles {
        display: flex;
        flex-wrap: wrap;
        justify-content: center;
        gap: 4px;
      }
      .handles button {
        padding-inline: calc(0.4 * var(--pe-rem));
      }
      .handles [aria-disabled="true"] {
        color: var(--pe-ink-2);
        border-style: dashed;
        cursor: default;
      }
      .keys {
        margin-top: calc(-1 * var(--pe-space-2));
        text-align: center;
      }
      .control.sentence input {
        grid-column: 1 / -1;
        min-width: 0;
        min-height: calc(2.25 * var(--pe-rem));
        padding: 0 calc(0.6 * var(--pe-rem));
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: none;
        font-size: var(--pe-text-m);
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-2);
      }
      .choices label {
        position: relative;
        display: grid;
        cursor: pointer;
      }
      .choices input {
        position: absolute;
        inset: 0;
        margin: 0;
        opacity: 0;
        cursor: inherit;
      }
      .choices span {
        display: flex;
        align-items: center;
        justify-content: center;
        gap: 0.45em;
        min-width: calc(2 * var(--pe-rem));
        min-height: calc(2 * var(--pe-rem));
        padding-inline: calc(0.5 * var(--pe-rem));
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
      }
      .choices label:hover span {
        border-color: currentColor;
      }
      .choices :checked + span {
        border-color: var(--method, var(--pe-accent));
        box-shadow: inset 0 0 0 1px var(--method, var(--pe-accent));
      }
      .choices :focus-visible + span {
        outline: 2px solid var(--pe-focus);
        outline-offset: 2px;
      }
      .choices :disabled + span {
        box-shadow: none;
        border-color: var(--pe-rule);
        color: var(--pe-ink-2);
        border-style: dashed;
        cursor: default;
      }
      .encodings {
        display: grid;
        grid-template-columns: repeat(3, auto);
      }
      .encodings .name {
        grid-column: 1 / -1;
      }
      .wide .encodings {
        grid-template-columns: repeat(6, auto);
        justify-content: start;
      }
      .wide .encodings span {
        padding-inline: calc(0.7 * var(--pe-rem));
      }
      .encodings span::before {
        content: "";
        flex: none;
        width: 0.6em;
        height: 0.6em;
        border-radius: 50%;
        background: var(--method);
        forced-color-adjust: none;
      }
      .settings {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2) var(--pe-space-3);
      }
      .numbered {
        align-items: center;
        gap: 0;
      }
      .numbered .name {
        margin-inline-end: calc(0.6 * var(--pe-rem));
        line-height: calc(2 * var(--pe-rem));
      }
      .numbered span {
        padding-inline: 0;
      }
      .numbered label:first-of-type span {
        border-start-end-radius: 0;
        border-end-end-radius: 0;
      }
      .numbered label:last-of-type span {
        margin-inline-start: -1px;
        border-start-start-radius: 0;
        border-end-start-radius: 0;
      }

      /* the two figures of merit */
      .merits {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-2) calc(2.5 * var(--pe-rem));
        margin: 0;
        padding-block: var(--pe-space-2);
        border-block: 1px solid var(--pe-rule);
      }
      .merits dt {
        display: flex;
        flex-wrap: wrap;
        column-gap: 0.5em;
        color: var(--pe-ink-2);
      }
      .merits .formula {
        font-family: var(--pe-font-prose);
        white-space: nowrap;
      }
      .merits dd {
        margin: 0;
        white-space: nowrap;
      }
      .merits .value {
        margin-inline-end: 0.3em;
        font-size: var(--pe-text-l);
        font-weight: 600;
      }

      /* the two matrices */
      .attention {
        display: grid;
        gap: var(--pe-space-2);
      }
      .attention .note + .note {
        margin-top: 0;
      }
      .maps {
        display: grid;
        grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: var(--pe-space-2);
      }
      .maps.stacked {
        grid-template-columns: minmax(0, 1fr);
      }
      .map {
        width: fit-content;
        touch-action: manipulation;
      }
      .map svg {
        display: block;
        overflow: visible;
      }
      .map .name {
        font-style: italic;
      }
      .map .cell text {
        fill: var(--pe-ink);
        pointer-events: none;
      }
      .ground {
        stroke: var(--pe-rule);
      }
      .ground:not([fill]) {
        fill: var(--pe-bg);
      }
      .weight {
        /* pale enough for the number on it: at least 4.5:1 for each method in both themes */
        fill: light-dark(
          color-mix(in srgb, var(--method) 55%, var(--pe-bg)),
          color-mix(in srgb, var(--method) 40%, var(--pe-bg))
        );
      }
      .hatch {
        stroke: var(--pe-rule);
        fill: none;
      }
      .active {
        fill: none;
        stroke: var(--pe-ink);
        stroke-width: 2;
        pointer-events: none;
      }
      .readout b {
        color: var(--pe-ink);
      }
      .method-none {
        --method: var(--pe-none);
      }
      .method-sinusoidal {
        --method: var(--pe-sinusoidal);
      }
      .method-learned {
        --method: var(--pe-learned);
      }
      .method-rope {
        --method: var(--pe-rope);
      }
      .method-alibi {
        --method: var(--pe-alibi);
      }
      .method-t5 {
        --method: var(--pe-t5);
      }
      .takeaway {
        min-height: 4.35em;
      }
      @container (max-width: 448px) {
        .takeaway {
          min-height: 7.25em;
        }
        .readout {
          min-height: 2.8em;
        }
      }
      @media (prefers-reduced-motion: no-preference) {
        .glide {
          transition: transform 0.3s cubic-bezier(0.2, 0, 0, 1);
        }
        .active {
          transition-duration: 0.08s;
        }
        .moves path {
          transition: d 0.22s cubic-bezier(0.2, 0, 0, 1);
        }
      }
      @media (forced-colors: active) {
        .choices :checked + span,
        button.word[aria-pressed="true"] {
          outline: 2px solid Highlight;
          outline-offset: -3px;
        }
      }
    `,
  ];
}

/** One of a few small numbers. */
function numbered(
  field: string,
  label: string,
  value: number,
  most: number,
  onInput: (value: number) => void,
  disabled = false,
): TemplateResult {
  return html`
    <div class="choices numbered" data-field=${field} role="radiogroup" aria-labelledby="${field}-name">
      <div class="name" id="${field}-name">${label}</div>
      ${Array.from({ length: most }, (_, i) => i + 1).map(
        (number) => html`
          <label>
            <input
              type="radio"
              form="choices"
              name=${label}
              value=${number}
              ?disabled=${disabled}
              .checked=${live(number === value)}
              @change=${() => onInput(number)}
            />
            <span>${number}</span>
          </label>
        `,
      )}
    </div>
  `;
}

/** The numbers of one output from top to bottom: red negative, blue positive, stronger is larger. */
function outputStrip(values: Float64Array, top: number, column: number): TemplateResult {
  const width = Math.min(44, column - 6);
  return html`
    <svg class="strip" aria-hidden="true" width=${width} height=${values.length * CELL}>
      ${Array.from(
        values,
        (value, i) => svg`<rect class=${value < 0 ? "negative" : "positive"} y=${i * CELL} width=${width}
          height=${CELL} fill-opacity=${(Math.abs(value) / top).toFixed(4)}></rect>`,
      )}
    </svg>
  `;
}

interface Layout {
  twoColumns: boolean;
  /** Whether the six encodings fit on one line. */
  wide: boolean;
  /** Width of one word, and whether words are small or written downwards in it. */
  column: number;
  small: boolean;
  upright: boolean;
  /** Side of a cell, room for the words beside the cells, and whether the matrices stand one below the other. */
  cell: number;
  margin: number;
  stacked: boolean;
}

function layout(width: number, words: readonly string[]): Layout {
  const n = words.length;
  const gap = 40;
  const left = Math.floor((width - gap) * 0.45);
  const twoColumns = width >= 640 && left / n >= 36;
  const column = Math.min(112, Math.floor((twoColumns ? left : width) / n));
  const longest = (font: number) => Math.max(...words.map((word) => textWidth(word, font)));
  const small = column < 56 && longest(16) > column - 10;
  const upright = small && longest(14) > column - 8;

  const right = twoColumns ? width - gap - left : width;
  const margin = Math.min(64, Math.round(0.15 * right), Math.ceil(longest(12)) + 10);
  const cellIn = (room: number) => Math.min(52, Math.floor((room - margin - 2) / n));
  const beside = cellIn((right - 8) / 2);
  const stacked = beside < 15;
  return {
    twoColumns,
    wide: right >= 540,
    column,
    small,
    upright,
    margin,
    stacked,
    cell: stacked ? cellIn(right) : beside,
  };
}

define("pe-permutation", PePermutation);
