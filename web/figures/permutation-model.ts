// Does attention see the order of words? One sentence X in two orders through the same layers f: how far f(PX) is
// from P f(X), P being the reordering.
//
// Based on: Lee et al. 2019, Set Transformer, section 2 (self-attention is permutation equivariant).

import { quoted } from "../inspect/words.ts";
import type { Encoding, LayerWeights, OrderResult, Posenc } from "../posenc.ts";

export const MAX_WORDS = 12;
export const D_MODEL = 16;
export const NUM_HEADS = 2;
const MAX_LAYERS = 2;
export const T5_BUCKETS = 32;

export interface Setting {
  sentence: string;
  order: string;
  encoding: Encoding;
  causal: boolean;
  layers: number;
  seed: number;
}

export interface Experiment {
  words: readonly string[];
  /** Word that stands at each place of PX. */
  order: readonly number[];
  result: OrderResult;
  /** For each word of X: the largest difference between its output in PX and in X. */
  differences: readonly number[];
}

export function wordsOf(sentence: string): string[] {
  const words = sentence.split(/\s+/u).filter((word) => word !== "");
  if (words.length < 1 || words.length > MAX_WORDS) {
    throw new RangeError(`sentence must have 1 to ${MAX_WORDS} words, got ${words.length}`);
  }
  return words;
}

/** A permutation of 0..count-1 from "2,1,0"; an empty text is the reversed order. */
export function orderOf(text: string, count: number): number[] {
  if (text.trim() === "") return Array.from({ length: count }, (_, i) => count - 1 - i);
  const order = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const complete = order.length === count && order.every((i) => i in order) && new Set(order).size === count;
  if (!complete) {
    const rule = count === 1 ? "be 0" : `hold each of 0 to ${count - 1} once, separated by commas`;
    throw new RangeError(`order must ${rule}, got ${quoted(text)}`);
  }
  return order;
}

// FNV-1a: the same word has the same seed, hence the same embedding, wherever it stands.
export function seedOf(word: string, seed: number): number {
  let hash = 2166136261 ^ seed;
  for (const byte of new TextEncoder().encode(word)) hash = Math.imul(hash ^ byte, 16777619);
  return hash & 0x7fffffff;
}

/** The words as rows x (n, d_model), equal for equal words, and random weights for every encoding. */
export function inputs(
  core: Posenc,
  words: readonly string[],
  { dModel, numHeads, layers, seed }: { dModel: number; numHeads: number; layers: number; seed: number },
): { x: Float64Array; weights: LayerWeights } {
  const x = new Float64Array(words.length * dModel);
  words.forEach((word, i) => {
    x.set(core.randomNormal(dModel, seedOf(word, seed)), i * dModel);
  });
  // Drawn for the largest case and cut: a second layer or a longer sentence keeps what was there.
  const draw = (which: number, most: number, count: number, sigma: number) =>
    core.randomNormal(most, 8 * seed + which, sigma).slice(0, count);
  const square = dModel * dModel;
  const matrix = (which: number) => draw(which, MAX_LAYERS * square, layers * square, 1 / Math.sqrt(dModel));
  const weights = {
    wQ: matrix(0),
    wK: matrix(1),
    wV: matrix(2),
    wO: matrix(3),
    // as large as the sinusoid's rows, whose mean square is 1/2
    positions: draw(4, MAX_WORDS * dModel, words.length * dModel, Math.SQRT1_2),
    t5Table: draw(5, T5_BUCKETS * numHeads, T5_BUCKETS * numHeads, 1),
  };
  return { x, weights };
}

export function experiment(core: Posenc, setting: Setting): Experiment {
  const { encoding, causal, layers, seed } = setting;
  const words = wordsOf(setting.sentence);
  const order = orderOf(setting.order, words.length);
  const n = words.length;
  const { x, weights } = inputs(core, words, { dModel: D_MODEL, numHeads: NUM_HEADS, layers, seed });
  const result = core.orderExperiment(x, weights, Int32Array.from(order), {
    seqLen: n,
    dModel: D_MODEL,
    numHeads: NUM_HEADS,
    numLayers: layers,
    encoding,
    causal,
  });
  const differences = words.map((_, word) => {
    const place = order.indexOf(word);
    return largestDifference(row(result.permuted.output, place), row(result.output, word));
  });
  return { words, order, result, differences };
}

/** Output of one token: D_MODEL values. */
export const row = (output: Float64Array, i: number): Float64Array =>
  output.subarray(i * D_MODEL, (i + 1) * D_MODEL);

/** The n × n part of logits or weights (layers, heads, n, n) that belongs to one head, both counted from 0. */
export const mapOf = (maps: Float64Array, n: number, layer: number, head: number): Float64Array =>
  maps.subarray((layer * NUM_HEADS + head) * n * n, (layer * NUM_HEADS + head + 1) * n * n);

function largestDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}
