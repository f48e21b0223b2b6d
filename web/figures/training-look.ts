// A look inside a model as it is now: where its heads look, what it answers, what its table of positions holds, and
// what it writes past the trained length.

import { css, html, type TemplateResult } from "lit";
import type { Posenc } from "../posenc.ts";
import { fixed, signed } from "./format.ts";
import { largest, type Matrix, paintMatrix, paintScale, scaleBar, scaleStyles } from "./matrix-map.ts";
import type { Answer, Question, Ready, Sequence } from "./training-work.ts";

export const LOOKS = [
  ["attention", "where the heads look"],
  ["answers", "what it answers"],
  ["positions", "the learned table"],
  ["text", "what it writes"],
] as const;

export interface Look {
  question: Question;
  answer: Answer;
  /** What the model is called. */
  label: string;
  ready: Ready;
  numHeads: number;
  numLayers: number;
  dModel: number;
  trained: number;
  /** Names of the classes. */
  classes: readonly string[];
  width: number;
}

/** A map to be painted: the values and what full colour stands for. */
interface Painting extends Matrix {
  limit: number;
  side: [width: number, height: number];
}

/** Where a head's weight is, in the mean over queries: at one relative position, or on one key. */
export interface Peak {
  at: number;
  weight: number;
}

/** The relative position, key minus query, with the largest mean weight, of those that half of the queries have. */
export function strongestRelative(weights: Float32Array, head: number, n: number): Peak {
  const best = { at: 0, weight: -1 };
  const reach = Math.floor(n / 2);
  for (let at = -reach; at <= reach; at++) {
    let sum = 0;
    const [from, to] = [Math.max(0, -at), Math.min(n, n - at)];
    for (let query = from; query < to; query++) sum += weights[(head * n + query) * n + query + at] ?? 0;
    if (sum / (to - from) > best.weight) Object.assign(best, { at, weight: sum / (to - from) });
  }
  return best;
}

/** The key with the largest mean weight over all queries. */
export function strongestKey(weights: Float32Array, head: number, n: number): Peak {
  const best = { at: 0, weight: -1 };
  for (let at = 0; at < n; at++) {
    let sum = 0;
    for (let query = 0; query < n; query++) sum += weights[(head * n + query) * n + at] ?? 0;
    if (sum / n > best.weight) Object.assign(best, { at, weight: sum / n });
  }
  return best;
}

/** Dot products of the first `rows` rows of a table (·, columns) with one another. */
export function products(table: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < rows; j++) {
      let sum = 0;
      for (let d = 0; d < columns; d++) sum += (table[i * columns + d] ?? 0) * (table[j * columns + d] ?? 0);
      result[i * rows + j] = sum;
    }
  }
  return result;
}

const perRow = (width: number, count: number): number => (width >= 640 ? Math.min(4, count) : 2);
const sideOf = (width: number, across: number): number =>
  Math.max(64, Math.min(210, Math.floor((width - 16 * (across - 1)) / across)));

function attentionPaintings({ answer, numHeads, numLayers, width }: Look, sequence: Sequence): Painting[] {
  const n = sequence.tokens.length;
  const side = sideOf(width, perRow(width, numHeads));
  return Array.from({ length: numHeads * numLayers }, (_, head) => ({
    values: (answer.sequence as Sequence).weights.subarray(head * n * n, (head + 1) * n * n),
    rows: n,
    columns: n,
    limit: 1,
    side: [side, side],
  }));
}

function tablePaintings({ dModel, trained, width }: Look, table: Float32Array): Painting[] {
  const rows = 2 * trained;
  const shown = table.subarray(0, rows * dModel);
  const side = Math.min(300, width >= 640 ? Math.floor((width - 32) / 2) : width);
  const dots = products(table, rows, dModel);
  return [
    { values: shown, rows, columns: dModel, limit: largest(shown), side: [side, side] },
    { values: dots, rows, columns: rows, limit: largest(dots), side: [side, side] },
  ];
}

function paintings(look: Look): Painting[] {
  const { sequence, table } = look.answer;
  if (look.question.what === "attention" && sequence) return attentionPaintings(look, sequence);
  if (look.question.what === "positions" && table && table.length > 0) return tablePaintings(look, table);
  return [];
}

const canvas = (index: number, [width, height]: readonly [number, number], words: string): TemplateResult =>
  html`<canvas class="map" data-map=${index} role="img" aria-label=${words} .style=${`width:${width}px;height:${height}px`}></canvas>`;

/** What each canvas holds. */
const painted = new WeakMap<HTMLCanvasElement, { answer: Answer; width: number }>();

/** Draws the maps that the template holds, each once. */
export function paintLook(root: ParentNode, core: Posenc, look: Look): void {
  const { answer, width } = look;
  const stale = [...root.querySelectorAll<HTMLCanvasElement>("canvas.map")].filter((map) => {
    const held = painted.get(map);
    return held?.answer !== answer || held.width !== width;
  });
  if (stale.length === 0) return;
  const all = paintings(look);
  for (const map of stale) {
    const painting = all[Number(map.dataset.map)];
    if (!painting) continue;
    paintMatrix(map, core, painting, painting.limit, painting.side);
    painted.set(map, { answer, width });
  }
  paintScale(root, core);
}

const percent = (value: number): string => `${fixed(100 * value, 0)}\u00a0%`;

function attentionView(look: Look, sequence: Sequence): TemplateResult {
  const { numHeads, numLayers, width, label, answer } = look;
  const n = sequence.tokens.length;
  return html`
    <p>
      Attention of ${label} after step ${answer.step}: queries downwards, keys to the right, ${n} of each; the darker,
      the more weight.
    </p>
    <div class="maps" .style=${`grid-template-columns:repeat(${perRow(width, numHeads)},auto)`}>
      ${attentionPaintings(look, sequence).map(({ side }, i) => {
        const relative = strongestRelative(sequence.weights, i, n);
        const key = strongestKey(sequence.weights, i, n);
        const name = `${numLayers > 1 ? `layer ${Math.floor(i / numHeads) + 1}, ` : ""}head ${(i % numHeads) + 1}`;
        const where =
          key.weight > relative.weight
            ? `on key ${key.at}, “${look.ready.symbols[sequence.tokens[key.at] ?? 0]}”: ${percent(key.weight)}`
            : `${relative.at === 0 ? "on itself" : `at ${signed(relative.at)}`}: ${percent(relative.weight)}`;
        return html`<figure>
          ${canvas(i, side, `Attention weights of ${name}, ${n} by ${n}`)}
          <figcaption>${name}, most ${where}</figcaption>
        </figure>`;
      })}
    </div>
    <p class="small">
      Under each map: the key, or the relative position (key minus query), that has the largest weight in the mean over
      the queries.
    </p>
  `;
}

/** Symbols with what is answered at each, marked where something was asked for. */
export function cells(
  tokens: readonly string[],
  given: readonly (string | null)[],
  wanted: readonly (string | null)[],
  label: string,
): TemplateResult {
  return html`
    <div class="scroll cells" tabindex="0" role="region" aria-label=${label}>
      <ol>
        ${tokens.map((token, i) => {
          const [answer, right] = [given[i] ?? null, wanted[i] ?? null];
          const state = right === null ? "unasked" : answer === right ? "right" : "wrong";
          return html`<li class=${state}>
            <b>${token === " " ? "␣" : token}</b>
            <span>${answer === null || right === null ? "·" : answer === " " ? "␣" : answer}</span>
            ${
              state === "unasked"
                ? ""
                : html`<i>${state === "right" ? "✓" : html`<span class="unseen">wrong, </span>✗ ${right === " " ? "␣" : right}`}</i>`
            }
          </li>`;
        })}
      </ol>
    </div>
  `;
}

function answersView({ label, answer, ready, classes }: Look, sequence: Sequence): TemplateResult {
  const { tokens, targets, answers } = sequence;
  const asked = [...targets].filter((target) => target >= 0).length;
  const right = [...targets].filter((target, t) => target >= 0 && target === answers[t]).length;
  const name = (id: number) => (id < 0 ? null : (classes[id] ?? String(id)));
  return html`
    <p>
      ${label} after step ${answer.step}: ${right} of ${asked} answers are right. Above each answer the symbol that it
      stands at; ✗ is followed by what was wanted.
    </p>
    ${cells(
      Array.from(tokens, (id) => ready.symbols[id] ?? String(id)),
      Array.from(answers, name),
      Array.from(targets, name),
      `A test sequence of ${tokens.length} symbols with the answers of ${label}`,
    )}
  `;
}

function positionsView(look: Look, table: Float32Array): TemplateResult {
  const { answer, trained, dModel } = look;
  const [first, second] = tablePaintings(look, table);
  if (!first || !second) return html``;
  const norm = (from: number, to: number) => {
    const rows = table.subarray(from * dModel, to * dModel);
    return Math.sqrt(rows.reduce((sum, value) => sum + value * value, 0) / (to - from));
  };
  const last = table.length / dModel;
  return html`
    <p>
      The learned table after step ${answer.step}. Its first ${trained} rows are trained and have a norm of
      ${fixed(norm(0, trained), 2)} (root of the mean square); rows ${trained} to ${last - 1} are never seen in training
      and have ${fixed(norm(trained, last), 2)}.
    </p>
    <div class="maps two">
      <figure>
        ${canvas(0, first.side, `The first ${2 * trained} rows of the table, ${dModel} dimensions to the right`)}
        <figcaption>rows 0 to ${2 * trained - 1} downwards, ${dModel} dimensions to the right</figcaption>
        ${scaleBar(first.limit)}
      </figure>
      <figure>
        ${canvas(1, second.side, "Dot product of each row with each")}
        <figcaption>P·P: each of these rows with each</figcaption>
      </figure>
    </div>
    <p class="small">Blue is above zero and red below; each map has its own scale, the second up to ${fixed(second.limit, 2)}.</p>
  `;
}

/** Words that end and begin within the text, from a place on, and how many of them the language has. */
export function wordsFrom(
  text: string,
  from: number,
  known: readonly string[],
): { all: number; valid: number } {
  const words = text.slice(from).split(/[ .]+/).slice(1, -1); // the first and last may be cut
  return { all: words.length, valid: words.filter((word) => known.includes(word)).length };
}

function textView({ label, answer, ready, trained, question }: Look): TemplateResult {
  const { tokens, given } = answer.text as { tokens: Int32Array; given: number };
  const text = Array.from(tokens, (id) => ready.symbols[id] ?? "").join("");
  const late = wordsFrom(text, 4 * trained, ready.languageWords);
  const early = wordsFrom(text.slice(0, 4 * trained), given, ready.languageWords);
  const known = (word: string) => /^[ .]*$/.test(word) || ready.languageWords.includes(word);
  const written = text.slice(given);
  const of = ({ all, valid }: { all: number; valid: number }) => `${valid} of ${all}`;
  return html`
    <p>
      ${label}${question.ropeType === "default" ? "" : ", scaled for the whole text,"} after step ${answer.step} was given
      ${given} characters and wrote ${tokens.length - given} more, drawn from its probabilities. Words of the language:
      ${of(early)} up to 4×, ${of(late)} from 4× to 8× the trained length.
    </p>
    <p class="text" lang="zxx"><span class="given">${text.slice(0, given)}</span>${written
      .split(/([ .]+)/)
      .map((word) => (known(word) ? word : html`<s>${word}</s>`))}</p>
    <p class="small">Grey was given. Crossed out is what is no word of the language; the first and the last may be cut.</p>
  `;
}

/** The view of an answer. */
export function lookView(look: Look): TemplateResult {
  const { question, answer } = look;
  if (answer.text) return textView(look);
  if (answer.sequence)
    return question.what === "attention"
      ? attentionView(look, answer.sequence)
      : answersView(look, answer.sequence);
  if (answer.table && answer.table.length > 0) return positionsView(look, answer.table);
  return html``;
}

export const lookStyles = [
  scaleStyles,
  css`
    .maps {
      display: grid;
      gap: var(--pe-space-3);
      justify-content: start;
    }
    .maps.two {
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 280px), max-content));
    }
    figure {
      min-width: 0;
      margin: 0;
    }
    figcaption {
      max-width: 300px;
      color: var(--pe-ink-2);
    }
    canvas.map {
      display: block;
      outline: 1px solid var(--pe-rule);
    }
    .small {
      color: var(--pe-ink-2);
    }
    .cells ol {
      display: flex;
      flex-wrap: wrap;
      gap: 2px;
      margin: 0;
      padding: 0;
      list-style: none;
    }
    .cells li {
      display: grid;
      align-content: start;
      justify-items: center;
      min-width: calc(1.6 * var(--pe-rem));
      padding: 2px calc(0.3 * var(--pe-rem));
      background: var(--pe-surface);
      line-height: 1.3;
    }
    .cells b {
      font-weight: 600;
    }
    .cells i {
      font-style: normal;
      white-space: nowrap;
    }
    .cells .unasked span {
      color: var(--pe-ink-2);
    }
    .cells .right i {
      color: var(--pe-pos);
    }
    .cells .wrong {
      outline: 1px solid var(--pe-q);
      outline-offset: -1px;
    }
    .cells .wrong i {
      color: var(--pe-q);
    }
    .text {
      font-family: var(--pe-font-mono);
      overflow-wrap: anywhere;
    }
    .text .given {
      color: var(--pe-ink-2);
    }
    .text s {
      color: var(--pe-q);
    }
  `,
];
