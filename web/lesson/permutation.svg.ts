// The picture of the first figure as it will be when it comes alive: both sentences with their outputs, and both
// attention matrices, all from the core. Sizes are those of web/figures/pe-permutation.ts.

import { fixed } from "../figures/format.ts";
import { D_MODEL, type Experiment, experiment, mapOf, row } from "../figures/permutation-model.ts";
import type { Posenc } from "../posenc.ts";

const COLUMN = 112; // of one word, in pixels
const STRIP = 44;
const VALUE = 5; // height of one number of an output
const WORD = 36;
const CURVES = 44;
const CELL = 52;
const MARGIN = 45;
const HEAD = 20;

export function permutation(posenc: Posenc): string {
  const setting = { order: "", encoding: "none", causal: false, layers: 1, seed: 1 } as const;
  const model = experiment(posenc, { ...setting, sentence: "dog bites man" });
  const { words, order, result } = model;
  const [first, second] = [result, result.permuted].map(({ weights }) => mapOf(weights, words.length, 0, 0));
  if (!first || !second) throw new Error("the experiment has no weights");
  const top = Math.max(...first, ...second);
  const identity = words.map((_, i) => i);
  const matrix = (name: string, placed: readonly number[], weights: Float64Array) =>
    map(
      name,
      placed.map((word) => words[word] ?? ""),
      weights,
      top,
    );
  return (
    `<div class="first-picture" slot="picture"><h3>Reorder the words</h3>${sentences(model)}` +
    `<div class="maps">${matrix("X", identity, first)}${matrix("PX", order, second)}</div></div>`
  );
}

function sentences({ words, order, result }: Experiment): string {
  const { output } = result;
  const moved = result.permuted.output;
  const top = Math.max(...[...output, ...moved].map(Math.abs));
  const strip = (values: Float64Array, place: number, y: number) =>
    Array.from(row(values, place), (value, i) => {
      const opacity = (Math.abs(value) / top).toFixed(2);
      return `<path class="${value < 0 ? "negative" : "positive"}" opacity="${opacity}" d="M${middle(place) - STRIP / 2} ${y + VALUE * i}h${STRIP}v${VALUE}h-${STRIP}z"/>`;
    }).join("");
  const word = (at: number, place: number, y: number) =>
    `<rect class="word" x="${COLUMN * place + 2}" y="${y}" width="${COLUMN - 4}" height="${WORD}" rx="4"/>` +
    `<text class="word" x="${middle(place)}" y="${y + WORD / 2}">${words[at]}</text>`;
  const curve = (at: number) => {
    const [from, to] = [middle(at), middle(order.indexOf(at))];
    const [start, half, end] = [curves, curves + CURVES / 2, after];
    return `<path class="move${from === to ? "" : " moved"}" d="M${from} ${start}C${from} ${half} ${to} ${half} ${to} ${end}"/>`;
  };
  const size = D_MODEL * VALUE;
  const before = size + 4;
  const curves = before + WORD;
  const after = curves + CURVES;
  const below = after + WORD + 4;
  const height = below + size;
  const drawn = words.map((_, i) => strip(output, i, 0) + word(i, i, before) + curve(i)).join("");
  const reordered = order.map((at, place) => word(at, place, after) + strip(moved, place, below)).join("");
  return (
    `<svg class="sentences" viewBox="0 0 ${words.length * COLUMN} ${height}" role="img" aria-label="The outputs of ` +
    `“${words.join(" ")}” and of “${order.map((at) => words[at]).join(" ")}”: each word keeps its own">${drawn}${reordered}</svg>`
  );
}

function map(name: string, words: readonly string[], weights: Float64Array, top: number): string {
  const n = words.length;
  const side = n * CELL;
  const at = (i: number) => (i + 0.5) * CELL;
  const labels = words.map(
    (word, i) =>
      `<text class="q" x="${MARGIN - 6}" y="${HEAD + at(i)}">${word}</text>` +
      `<text class="k" x="${MARGIN + at(i)}" y="${HEAD - 10}">${word}</text>`,
  );
  const cells = Array.from(weights, (weight, i) => {
    const [x, y] = [MARGIN + (i % n) * CELL, HEAD + Math.floor(i / n) * CELL];
    return (
      `<rect class="weight" x="${x}" y="${y}" width="${CELL}" height="${CELL}" fill-opacity="${(weight / top).toFixed(2)}"/>` +
      `<text x="${x + CELL / 2}" y="${y + CELL / 2}">${fixed(weight, 2)}</text>`
    );
  });
  return (
    `<svg viewBox="0 0 ${MARGIN + side + 2} ${HEAD + side + 2}" role="img" aria-label="Attention weights of ${name}">` +
    `<text class="name" x="1" y="${HEAD - 10}">${name}</text>${labels.join("")}${cells.join("")}</svg>`
  );
}

const middle = (place: number): number => (place + 0.5) * COLUMN;
