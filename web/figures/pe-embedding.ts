// The embedding layer, step by step: token ids in, rows looked up, scaled, the position's row added.
//
// Based on: Vaswani et al. 2017, Attention Is All You Need, sections 3.4 and 3.5.

import { type CSSResultGroup, css, html, nothing, svg, type TemplateResult } from "lit";
import type { NamedArray } from "../draw/npy.ts";
import { reads, share } from "../draw/point.ts";
import { quoted } from "../inspect/words.ts";
import type { Posenc } from "../posenc.ts";
import { controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure, readoutRow } from "./figure.ts";
import { fixed } from "./format.ts";
import { mapGrid, mapGridStyles, step } from "./map-grid.ts";
import { largest, paintMatrix, paintScale, scaleBar, scaleStyles } from "./matrix-map.ts";
import { randomNormal } from "./numpy.ts";
import { FieldError, type State } from "./state.ts";

const VOCABULARY = ["the", "dog", "bites", "man", "a", "cat", "sees"] as const;
const MAX_BATCH = 4;
const MAX_TOKENS = 8;

const fields = {
  tokens: { kind: "text", fallback: "the dog bites the man / the man bites the dog", maxLength: 300 },
  "d-model": { kind: "integer", fallback: 8, min: 2, max: 16 },
  scale: { kind: "flag", fallback: true },
  seed: { kind: "integer", fallback: 1, min: 0, max: 2 ** 31 - 1 },
  sequence: { kind: "integer", fallback: 0, min: 0, max: MAX_BATCH - 1 },
  position: { kind: "integer", fallback: 3, min: 0, max: MAX_TOKENS - 1 },
  column: { kind: "integer", fallback: 1, min: 0, max: 15 },
} as const;
type EmbeddingState = State<typeof fields>;

interface Model {
  core: Posenc;
  batch: number;
  seqLen: number;
  dModel: number;
  /** (B, n). */
  ids: Int32Array;
  /** (7, d_model). */
  tokenTable: Float32Array;
  /** (n, d_model). */
  positions: Float32Array;
  /** (B, n, d_model): looked up and scaled, and with the position's row. */
  scaled: Float32Array;
  sum: Float32Array;
  limit: number;
  sequence: number;
  position: number;
  column: number;
}

/** A matrix of the picture, in pixels from its top left corner. */
interface Block {
  kind: "ids" | "table" | "scaled" | "positions" | "sum";
  sequence: number;
  left: number;
  top: number;
  rows: number;
  values: Float32Array;
}

interface Heading {
  left: number;
  top: number;
  name: string;
  shape: string;
}

interface Layout {
  cell: number;
  ids: number;
  blocks: Block[];
  headings: Heading[];
  signs: { x: number; y: number; text: string }[];
  total: number;
}

const ROW = 19;
const HEAD = 40;
const BETWEEN = 12;
const LABELS = 52;

/** Ids (B, n) from words of the vocabulary and whole numbers; a slash or a line's end begins the next sequence. */
function idsOf(text: string): { ids: Int32Array; batch: number; seqLen: number } {
  const sequences = text
    .split(/[/\n]/u)
    .map((line) => line.split(/[\s,]+/u).filter((word) => word !== ""))
    .filter((words) => words.length > 0);
  const [first = []] = sequences;
  if (sequences.length < 1 || sequences.length > MAX_BATCH) {
    throw new FieldError(`tokens must have 1 to ${MAX_BATCH} sequences, got ${sequences.length}`);
  }
  for (const words of sequences) {
    if (words.length > MAX_TOKENS) {
      throw new FieldError(`tokens must have at most ${MAX_TOKENS} in a sequence, got ${words.length}`);
    }
    if (words.length !== first.length) {
      throw new FieldError(
        `tokens must have as many in each sequence of a batch, got ${first.length} and ${words.length}`,
      );
    }
  }
  const ids = sequences.flat().map((word) => {
    if (/^[+-]?\d{1,9}$/.test(word)) return Number(word);
    const id = (VOCABULARY as readonly string[]).indexOf(word.toLowerCase());
    if (id < 0) {
      throw new FieldError(
        `tokens must be ids or words of the vocabulary (${VOCABULARY.join(", ")}), got ${quoted(word)}`,
      );
    }
    return id;
  });
  return { ids: Int32Array.from(ids), batch: sequences.length, seqLen: first.length };
}

const shape = (...sizes: number[]): string => `(${sizes.join(", ")})`;

/**
 * From token ids (B, n) to vectors (B, n, d_model), with the shape at each step.
 *
 * @attr tokens - Words of the vocabulary or ids; a slash begins the next sequence of the batch.
 * @attr d-model - Dimensions, even.
 * @attr scale - Whether rows are multiplied by √d_model.
 * @attr seed - Which token table is drawn.
 * @attr sequence - The sequence of the number that is read, from 0.
 * @attr position - The position of the number that is read, from 0.
 * @attr column - The dimension of the number that is read, from 0.
 * @cssprop --pe-pos - Colour of positions.
 * @cssprop --pe-dim - Colour of dimensions.
 */
export class PeEmbedding extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "The embedding layer";

  protected compute(core: Posenc, state: EmbeddingState): Model {
    const { "d-model": dModel, scale, seed } = state;
    if (dModel % 2 !== 0) throw new FieldError(`d-model must be even, got ${dModel}`);
    const { ids, batch, seqLen } = idsOf(state.tokens);
    const vocabSize = VOCABULARY.length;
    const tokenTable = Float32Array.from(core.randomNormal(vocabSize * dModel, seed, 1 / Math.sqrt(dModel)));
    const positions = core.sinusoidalTable({ seqLen, dModel });
    const embed = (rows: Float32Array) =>
      core.embed(ids, tokenTable, rows, {
        batch,
        seqLen,
        vocabSize,
        dModel,
        positionRows: seqLen,
        scaleBySqrtDModel: scale,
      });
    const [scaled, sum] = [embed(new Float32Array(seqLen * dModel)), embed(positions)];
    return {
      core,
      batch,
      seqLen,
      dModel,
      ids,
      tokenTable,
      positions,
      scaled,
      sum,
      limit: largest(tokenTable, positions, scaled, sum),
      sequence: Math.min(state.sequence, batch - 1),
      position: Math.min(state.position, seqLen - 1),
      column: Math.min(state.column, dModel - 1),
    };
  }

  // ---------------------------------------------------------------------------------------------- picture

  #layout(model: Model, state: EmbeddingState): Layout {
    const { batch, seqLen, dModel } = model;
    const wide = this.width >= 660;
    const gap = wide ? 36 : 28;
    const ids = wide ? 92 : 84;
    const room = wide
      ? (this.width - ids - LABELS - 4 * gap) / 4
      : Math.min(this.width - ids - LABELS - gap, (this.width - gap) / 2);
    const cell = Math.min(Math.floor(room / dModel), 24);
    const matrix = cell * dModel;
    const deep = batch * seqLen * ROW + (batch - 1) * BETWEEN;
    const factor = state.scale ? `× √${dModel}` : "not scaled";

    const second = wide ? 0 : HEAD + Math.max(deep, VOCABULARY.length * ROW) + 28;
    const third = wide ? 0 : second + HEAD + deep + 28;
    const table = ids + gap + LABELS;
    const scaled = wide ? table + matrix + gap : 0;
    const positions = scaled + matrix + gap;
    const sum = wide ? positions + matrix + gap : 0;

    const size = seqLen * dModel;
    const sequences = Array.from({ length: batch }, (_, sequence) => sequence);
    const of = (values: Float32Array, sequence: number) =>
      values.subarray(sequence * size, (sequence + 1) * size);
    const at = (top: number, sequence: number) => top + HEAD + sequence * (seqLen * ROW + BETWEEN);
    const empty = new Float32Array();
    const blocks: Block[] = [
      ...sequences.map(
        (b) => ({ kind: "ids", left: 0, top: at(0, b), rows: seqLen, values: empty, sequence: b }) as const,
      ),
      {
        kind: "table",
        left: table,
        top: HEAD,
        rows: VOCABULARY.length,
        values: model.tokenTable,
        sequence: 0,
      },
      ...sequences.map(
        (b) =>
          ({
            kind: "scaled",
            left: scaled,
            top: at(second, b),
            rows: seqLen,
            values: of(model.scaled, b),
            sequence: b,
          }) as const,
      ),
      {
        kind: "positions",
        left: positions,
        top: second + HEAD,
        rows: seqLen,
        values: model.positions,
        sequence: 0,
      },
      ...sequences.map(
        (b) =>
          ({
            kind: "sum",
            left: sum,
            top: at(third, b),
            rows: seqLen,
            values: of(model.sum, b),
            sequence: b,
          }) as const,
      ),
    ];
    const middle = (top: number) => top + HEAD + (seqLen * ROW) / 2;
    return {
      cell,
      ids,
      blocks,
      headings: [
        { left: 0, top: 0, name: "token ids", shape: shape(batch, seqLen) },
        { left: table, top: 0, name: "token table", shape: shape(VOCABULARY.length, dModel) },
        { left: scaled, top: second, name: `rows, ${factor}`, shape: shape(batch, seqLen, dModel) },
        { left: positions, top: second, name: "position rows", shape: shape(seqLen, dModel) },
        { left: sum, top: third, name: "sum", shape: shape(batch, seqLen, dModel) },
      ],
      signs: [
        { x: positions - gap / 2, y: middle(second), text: "+" },
        ...(wide ? [{ x: sum - gap / 2, y: middle(second), text: "=" }] : []),
      ],
      total: third + HEAD + Math.max(deep, wide ? VOCABULARY.length * ROW : 0) + 44,
    };
  }

  protected picture(model: Model, state: EmbeddingState): TemplateResult {
    const at = this.#layout(model, state);
    const { cell, blocks } = at;
    return html`
      ${this.#input(state)} ${this.#readout(model, state)}
      <div
        class="stage"
        data-picture
        .style=${`height:${at.total}px`}
        @pointerdown=${this.#point}
        @pointermove=${this.#point}
      >
        ${blocks
          .filter(({ kind }) => kind !== "ids")
          .map(
            ({ left, top, rows }) => html`
              <canvas
                class="block"
                aria-hidden="true"
                .style=${`left:${left}px;top:${top}px;width:${cell * model.dModel}px;height:${rows * ROW}px`}
              ></canvas>
            `,
          )}
        ${this.#marks(model, at)} ${this.#grid(model, at)}
        ${scaleBar(model.limit)}
      </div>
      ${this.#controls(state)}
    `;
  }

  #input(state: EmbeddingState): TemplateResult {
    const change = (event: Event) => this.set({ tokens: (event.target as HTMLInputElement).value });
    // What was typed stays in the field, also when it is refused.
    const text = this.getAttribute("tokens") ?? state.tokens;
    const ask = (tokens: string) => () => this.set({ tokens });
    return html`
      <div class="tokens" data-field="tokens">
        <label>
          <span>words or ids; a slash begins the next sequence</span>
          <input
            type="text"
            autocomplete="off"
            spellcheck="false"
            maxlength=${fields.tokens.maxLength}
            .value=${text}
            @change=${change}
          />
        </label>
        <button type="button" @click=${ask("a cat sees a dog")}>a cat sees a dog</button>
        <button type="button" @click=${ask(`the dog bites ${VOCABULARY.length}`)}>the dog bites ${VOCABULARY.length}</button>
      </div>
    `;
  }

  /** The id of the active token, its word, and the numbers of the active cell. */
  #active(model: Model) {
    const { ids, seqLen, dModel, sequence, position, column } = model;
    const token = sequence * seqLen + position;
    const id = ids[token] ?? 0;
    return {
      id,
      word: VOCABULARY[id] ?? String(id),
      row: model.tokenTable[id * dModel + column] ?? Number.NaN,
      scaled: model.scaled[token * dModel + column] ?? Number.NaN,
      pe: model.positions[position * dModel + column] ?? Number.NaN,
      sum: model.sum[token * dModel + column] ?? Number.NaN,
    };
  }

  #readout(model: Model, state: EmbeddingState): TemplateResult {
    const { dModel, sequence, position, column } = model;
    const { id, word, row, pe, sum } = this.#active(model);
    const factor = state.scale ? `√${dModel} × ${inner(row)}` : inner(row);
    return html`
      <div class="readout">
        <span>sequence <b>${sequence}</b></span>
        <span class="pos" data-symbol="pos">position <b>${position}</b></span>
        <span>“${word}”, row <b>${id}</b></span>
        <span class="dim" data-symbol="dim">dimension <b>${column}</b></span>
        <span>${factor} + ${inner(pe)} = <b>${fixed(sum, 3)}</b></span>
      </div>
    `;
  }

  #marks(model: Model, { cell, ids, blocks, headings, signs, total }: Layout): TemplateResult {
    const { dModel, sequence, position, column } = model;
    const { id } = this.#active(model);
    const matrix = cell * dModel;
    return html`
      <svg class="marks" width=${this.width} height=${total} aria-hidden="true">
        ${headings.map(
          ({ left, top, name, shape: sizes }) => svg`
            <text class="name" x=${left} y=${top + 12}>${name}</text>
            <text class="shape" x=${left} y=${top + 29}>${sizes}</text>`,
        )}
        ${signs.map(
          ({ x, y, text }) => svg`
            <text class="sign" x=${x} y=${y} text-anchor="middle" dominant-baseline="central">${text}</text>`,
        )}
        ${blocks.map((block) => {
          const { kind, left, top, rows } = block;
          if (kind === "ids") return this.#ids(model, block, ids);
          const row = kind === "table" ? id : position;
          const here = kind === "table" || kind === "positions" || block.sequence === sequence;
          return svg`
            <rect class="frame" x=${left - 0.5} y=${top - 0.5} width=${matrix + 1} height=${rows * ROW + 1}></rect>
            ${
              here
                ? svg`
                  <rect class="row" data-symbol="pos" x=${left - 2} y=${top + row * ROW} width=${matrix + 4} height=${ROW}></rect>
                  <rect class="cell" data-symbol="dim" x=${left + column * cell} y=${top + row * ROW} width=${cell} height=${ROW}></rect>`
                : nothing
            }
            ${kind === "table" ? this.#labels(block, id) : nothing}`;
        })}
        ${this.#thread(model, blocks, ids, matrix)}
      </svg>
    `;
  }

  #ids({ ids, seqLen, sequence, position }: Model, block: Block, width: number): TemplateResult {
    return svg`
      <rect class="frame" x="0.5" y=${block.top - 0.5} width=${width - 1} height=${block.rows * ROW + 1}></rect>
      ${Array.from({ length: seqLen }, (_, t) => {
        const id = ids[block.sequence * seqLen + t] ?? 0;
        const y = block.top + (t + 0.5) * ROW;
        const here = block.sequence === sequence && t === position;
        return svg`
          ${here ? svg`<rect class="row" x="2" y=${y - ROW / 2} width=${width - 4} height=${ROW}></rect>` : nothing}
          <text class="pos" data-symbol="pos" x="8" y=${y} dominant-baseline="central">${t}</text>
          <text class="word" x="26" y=${y} dominant-baseline="central">${VOCABULARY[id]}</text>
          <text class="word" x=${width - 8} y=${y} text-anchor="end" dominant-baseline="central">${id}</text>`;
      })}`;
  }

  #labels({ left, top }: Block, active: number): TemplateResult[] {
    return VOCABULARY.map(
      (word, id) => svg`
        <text class=${id === active ? "word" : ""} x=${left - 8} y=${top + (id + 0.5) * ROW} text-anchor="end"
          dominant-baseline="central">${word} ${id}</text>`,
    );
  }

  /** The way of the active token: from its id to the table's row, and where there is room on to its place. */
  #thread(model: Model, blocks: readonly Block[], ids: number, matrix: number): TemplateResult {
    const { sequence, position } = model;
    const { id } = this.#active(model);
    const find = (kind: Block["kind"], of = 0) =>
      blocks.find((block) => block.kind === kind && block.sequence === of);
    const [from, table, to] = [find("ids", sequence), find("table"), find("scaled", sequence)];
    if (!from || !table || !to) return svg``;
    const y = (block: Block, row: number) => block.top + (row + 0.5) * ROW;
    const curve = (x1: number, y1: number, x2: number, y2: number) => {
      const middle = (x1 + x2) / 2;
      return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
    };
    // The word's label ends 8 pixels before the table.
    const label = 12 + 7 * `${VOCABULARY[id]} ${id}`.length;
    return svg`
      <path class="thread" d=${curve(ids, y(from, position), table.left - label, y(table, id))}></path>
      ${
        to.left > table.left
          ? svg`<path class="thread" d=${curve(table.left + matrix + 3, y(table, id), to.left - 3, y(to, position))}></path>`
          : nothing
      }`;
  }

  #grid(model: Model, { cell, blocks }: Layout): TemplateResult {
    const { batch, seqLen, dModel, sequence, position, column } = model;
    const sums = blocks.filter(({ kind }) => kind === "sum");
    const [first, last] = [sums[0], sums.at(-1)];
    if (!first || !last) return html``;
    const { word, sum } = this.#active(model);
    const height = last.top + last.rows * ROW - first.top;
    return mapGrid({
      label: "The sum: up and down move by token, left and right by dimension",
      size: [batch * seqLen, dModel],
      cell: [sequence * seqLen + position, column],
      words: `sequence ${sequence}, position ${position}, “${word}”, dimension ${column}: ${fixed(sum, 3)}`,
      style: `left:${first.left}px;top:${first.top}px;width:${cell * dModel}px;height:${height}px`,
      onKey: this.#key,
    });
  }

  #key = (event: KeyboardEvent): void => {
    if (!this.model) return;
    const { batch, seqLen, dModel } = this.model;
    const sequence = Math.min(this.state.sequence, batch - 1);
    const token = sequence * seqLen + Math.min(this.state.position, seqLen - 1);
    const at = [token, Math.min(this.state.column, dModel - 1)] as const;
    const to = step(event, at, [batch * seqLen, dModel]);
    if (to) this.set({ sequence: Math.floor(to[0] / seqLen), position: to[0] % seqLen, column: to[1] });
  };

  // Wherever the pointer is, it reads the token and dimension that stand there.
  #point = (event: PointerEvent): void => {
    if (!this.model || !reads(event)) return;
    const stage = event.currentTarget as HTMLElement;
    const [right, down] = share(event);
    const [x, y] = [right * stage.offsetWidth, down * stage.offsetHeight];
    const { dModel, ids, seqLen } = this.model;
    const { cell, ids: idsWidth, blocks } = this.#layout(this.model, this.state);
    for (const block of blocks) {
      const row = Math.floor((y - block.top) / ROW);
      const width = block.kind === "ids" ? idsWidth : cell * dModel;
      if (row < 0 || row >= block.rows || x < block.left || x >= block.left + width) continue;
      const column = block.kind === "ids" ? this.model.column : Math.floor((x - block.left) / cell);
      // Of the table's row, the first token that looks it up.
      const token = block.kind === "table" ? ids.indexOf(row) : -1;
      if (token >= 0) this.set({ column, sequence: Math.floor(token / seqLen), position: token % seqLen });
      else if (block.kind === "table") this.set({ column });
      else if (block.kind === "positions") this.set({ column, position: row });
      else this.set({ column, position: row, sequence: block.sequence });
      return;
    }
  };

  #controls(state: EmbeddingState): TemplateResult {
    return html`
      <div class="controls">
        ${slider({
          field: "d-model",
          label: "d_model: dimensions",
          symbol: "dim",
          value: state["d-model"],
          min: 2,
          max: 16,
          step: 2,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        <div class="group two">
          ${toggle({ field: "scale", label: "× √d_model", checked: state.scale, onInput: (scale) => this.set({ scale }) })}
          <button type="button" data-field="seed" @click=${() => this.set({ seed: (this.state.seed + 1) % 2 ** 31 })}>
            Another table
          </button>
        </div>
      </div>
    `;
  }

  protected takeaway(model: Model): string {
    const { batch, seqLen, dModel, ids, sum, sequence, position } = model;
    const { id, word } = this.#active(model);
    const shapes = `${shape(batch, seqLen)} ids become ${shape(batch, seqLen, dModel)}, ${fixed(sum.length, 0)} numbers.`;
    const start = sequence * seqLen;
    const twin = ids.subarray(start, start + seqLen).findIndex((other, t) => other === id && t !== position);
    if (twin < 0)
      return `“${word}” at position ${position} looks up row ${id} and gets position row ${position}. ${shapes}`;
    const row = (t: number) => sum.subarray((start + t) * dModel, (start + t + 1) * dModel);
    const other = row(twin);
    const apart = row(position).reduce(
      (most, value, i) => Math.max(most, Math.abs(value - (other[i] ?? 0))),
      0,
    );
    const [first, second] = [Math.min(twin, position), Math.max(twin, position)];
    return (
      `“${word}” stands at positions ${first} and ${second}: both look up row ${id}, and their sums differ by up to ` +
      `${fixed(apart, 3)}. ${shapes}`
    );
  }

  protected dataTable(model: Model, state: EmbeddingState): DataTable {
    const { dModel, sequence, position } = model;
    const { word, id } = this.#active(model);
    const cell = (value: number) => fixed(value, 6);
    return {
      caption: `“${word}”, row ${id}, at position ${position} of sequence ${sequence}`,
      head: ["dimension", "table row", state.scale ? "× √d_model" : "not scaled", "position row", "sum"],
      rows: Array.from({ length: dModel }, (_, column) => {
        const { row, scaled, pe, sum } = this.#active({ ...model, column });
        return [column, cell(row), cell(scaled), cell(pe), cell(sum)];
      }),
    };
  }

  protected override array({ batch, seqLen, dModel, sum }: Model): NamedArray {
    return { name: "embedded", shape: [batch, seqLen, dModel], values: sum };
  }

  protected override numpy(state: EmbeddingState): string {
    const { ids, batch, seqLen } = idsOf(state.tokens);
    const rows = Array.from(
      { length: batch },
      (_, b) => `[${[...ids.subarray(b * seqLen, (b + 1) * seqLen)].join(", ")}]`,
    );
    return `import matplotlib.pyplot as plt
import numpy as np

${randomNormal}


token_ids = np.array([${rows.join(", ")}])
d_model, vocab_size = ${state["d-model"]}, ${VOCABULARY.length}
batch, seq_len = token_ids.shape
token_table = random_normal(vocab_size * d_model, ${state.seed}, d_model**-0.5).reshape(vocab_size, d_model)
angle = np.arange(seq_len)[:, None] * 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
positions = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(seq_len, d_model)
scaled = ${state.scale ? "np.sqrt(d_model) * " : ""}token_table[token_ids]
x = scaled + positions
print(x.shape)

limit = max(np.abs(a).max() for a in (token_table, positions, scaled, x))
fig, axes = plt.subplots(1, 4, figsize=(14, 4))
matrices = {"token table": token_table, "rows": scaled.reshape(-1, d_model),
            "position rows": positions, "sum": x.reshape(-1, d_model)}
for ax, (name, matrix) in zip(axes, matrices.items()):
    ax.imshow(matrix, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set_title(name)
plt.show()
`;
  }

  protected override draw(model: Model, state: EmbeddingState): void {
    const { core, dModel, limit } = model;
    const { cell, blocks } = this.#layout(model, state);
    const matrices = blocks.filter(({ kind }) => kind !== "ids");
    this.renderRoot.querySelectorAll<HTMLCanvasElement>("canvas.block").forEach((canvas, i) => {
      const block = matrices[i];
      if (!block) return;
      const { values, rows } = block;
      paintMatrix(canvas, core, { values, rows, columns: dModel }, limit, [cell * dModel, rows * ROW]);
    });
    paintScale(this.renderRoot, core);
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    mapGridStyles,
    scaleStyles,
    readoutRow([0, 4.4], [560, 2.9], [760, 1.5]),
    css`
      .tokens {
        display: flex;
        flex-wrap: wrap;
        align-items: end;
        gap: var(--pe-space-2);
        margin-bottom: var(--pe-space-3);
      }
      .tokens label {
        display: grid;
        flex: 1 1 calc(20 * var(--pe-rem));
        gap: var(--pe-space-1);
      }
      .tokens input {
        width: 100%;
        min-height: calc(2 * var(--pe-rem));
        padding: calc(0.2 * var(--pe-rem)) calc(0.6 * var(--pe-rem));
        border: 1px solid var(--pe-ink-2);
        border-radius: var(--pe-radius);
        background: none;
      }
      .stage {
        position: relative;
        touch-action: pan-y;
      }
      .stage > * {
        position: absolute;
      }
      .marks {
        inset: 0;
        overflow: visible;
        pointer-events: none;
      }
      .grid {
        cursor: crosshair;
      }
      .marks text.name {
        fill: var(--pe-ink);
        font-size: 13px;
        font-weight: 600;
      }
      .marks text.shape,
      .marks text.word {
        fill: var(--pe-ink);
      }
      .marks text.shape {
        font-size: 13px;
      }
      .marks text.sign {
        fill: var(--pe-ink);
        font-size: 18px;
      }
      .frame {
        fill: none;
        stroke: var(--pe-rule);
      }
      .row,
      .cell {
        fill: none;
        stroke: var(--pe-pos);
        stroke-width: 1.5;
      }
      .cell {
        stroke: var(--pe-dim);
        stroke-width: 2.5;
      }
      [data-lit="pos"] .row {
        stroke-width: 3;
      }
      [data-lit="dim"] .cell {
        stroke-width: 4;
      }
      .thread {
        fill: none;
        stroke: var(--pe-pos);
        stroke-width: 1.5;
      }
      .two {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--pe-space-2) var(--pe-space-3);
      }
      .stage .scale {
        bottom: 0;
        left: -12px;
      }
      @container (max-width: 559px) {
        .takeaway {
          min-height: 7.4em;
        }
      }
    `,
  ];
}

/** A number inside a sum: a negative one in brackets. */
const inner = (value: number): string => fixed(value, 3).replace(/^−.*/, "($&)");

define("pe-embedding", PeEmbedding);

declare global {
  interface HTMLElementTagNameMap {
    "pe-embedding": PeEmbedding;
  }
}
