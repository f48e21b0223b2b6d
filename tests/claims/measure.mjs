// The measuring that the sections share: small arrays, printed numbers, and one attention layer under every encoding.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The training study: mean ± standard deviation over its seeds, by task, encoding and multiple of the trained length. */
export const study = JSON.parse(
  readFileSync(new URL("../../web/figures/training-study.json", import.meta.url), "utf8"),
);
/** The mean of one cell. */
export const measured = (task, encoding, multiple = 1) =>
  Number.parseFloat(study[task].rows[encoding][study.shared.lengths.indexOf(multiple)]);

/** first, first + 1, …: `count` numbers. */
export const range = (count, first = 0) => Float64Array.from({ length: count }, (_, i) => first + i);
export const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
export const norm = (a) => Math.sqrt(dot(a, a));
export const mean = (a) => Array.from(a).reduce((sum, value) => sum + value, 0) / a.length;
export const rowOf = (matrix, i, cols) => matrix.slice(i * cols, (i + 1) * cols);
export const largestDifference = (a, b) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
export const wavelength = (invFreq) => (2 * Math.PI) / invFreq;

/** a (rows, inner) times b (inner, cols). */
export function times(a, b, inner) {
  const [rows, cols] = [a.length / inner, b.length / inner];
  return Float64Array.from({ length: rows * cols }, (_, at) => {
    const [i, j] = [Math.floor(at / cols), at % cols];
    return range(inner).reduce((sum, n) => sum + a[i * inner + n] * b[n * cols + j], 0);
  });
}
export const transpose = (a, cols) => {
  const rows = a.length / cols;
  return Float64Array.from(a, (_, at) => a[(at % rows) * cols + Math.floor(at / rows)]);
};
export const identity = (n) => Float64Array.from({ length: n * n }, (_, at) => (at % (n + 1) === 0 ? 1 : 0));

/** `actual` is `literal`, a number as the prose prints it, to the last printed digit. */
export function prints(literal, actual) {
  const text = literal.replace("−", "-").replaceAll(/[ \u202f]/g, "");
  const decimals = text.split(".")[1]?.length ?? 0;
  assert.equal(actual.toFixed(decimals), text);
}

/** Rounding of a few hundred operations on numbers of size 1 to 1000. */
export const ROUNDING = 1e-10;
export const same = (a, b, allowance = ROUNDING) => {
  assert.equal(a.length, b.length);
  const difference = largestDifference(a, b);
  assert.ok(difference < allowance, `the largest difference is ${difference}, allowed is ${allowance}`);
};
export const differs = (a, b, least = 1e-3) => {
  const difference = largestDifference(a, b);
  assert.ok(difference > least, `the largest difference is ${difference}, expected more than ${least}`);
};
export const below = (actual, bound) => assert.ok(actual < bound, `${actual} is not below ${bound}`);
export const above = (actual, bound) => assert.ok(actual > bound, `${actual} is not above ${bound}`);

export const ENCODINGS = ["sinusoidal", "learned", "rope", "alibi", "t5"];

/** A layer with seeded weights, and everything that any encoding asks for. */
export function randomLayer(posenc, { seqLen, dModel, numHeads = 1, numLayers = 1 }) {
  const square = (seed) => posenc.randomNormal(numLayers * dModel * dModel, seed, 1 / Math.sqrt(dModel));
  return {
    wQ: square(11),
    wK: square(12),
    wV: square(13),
    wO: square(14),
    positions: posenc.randomNormal(seqLen * dModel, 15),
    t5Table: posenc.randomNormal(32 * numHeads, 16),
  };
}

const SENTENCE = { seqLen: 7, dModel: 16 };
/** Seven random tokens through a layer, and through it again in another order. */
export function shuffled(posenc, config = {}, order = [3, 0, 6, 1, 5, 2, 4]) {
  const all = { ...SENTENCE, ...config };
  const x = posenc.randomNormal(all.seqLen * all.dModel, 1);
  return posenc.orderExperiment(x, randomLayer(posenc, all), Int32Array.from(order), all);
}

const TWICE = { tokens: 8, shift: 100, dModel: 16, numHeads: 2 };
/** Logits of the same eight tokens among themselves, at positions 0 to 7 and at positions 100 to 107. */
export function logitsHereAndThere(posenc, encoding, config = {}) {
  const { tokens, shift, dModel, numHeads } = TWICE;
  const seqLen = shift + tokens;
  const x = new Float64Array(seqLen * dModel);
  for (const start of [0, shift]) x.set(posenc.randomNormal(tokens * dModel, 2), start * dModel);
  const all = { seqLen, dModel, numHeads, encoding, ...config };
  const { logits } = posenc.selfAttention(x, randomLayer(posenc, all), all);
  const block = (start) =>
    Float64Array.from({ length: numHeads * tokens * tokens }, (_, at) => {
      const [head, i, j] = [Math.floor(at / tokens ** 2), Math.floor(at / tokens) % tokens, at % tokens];
      return logits[(head * seqLen + start + i) * seqLen + start + j];
    });
  return [block(0), block(shift)];
}

/** Logits of the middle query of one token repeated 31 times, for keys 1, 2, … to the left and to the right. */
export function logitsLeftAndRight(posenc, encoding) {
  const [seqLen, dModel, middle] = [31, 16, 15];
  const token = posenc.randomNormal(dModel, 3);
  const x = Float64Array.from({ length: seqLen * dModel }, (_, i) => token[i % dModel]);
  const all = { seqLen, dModel, encoding };
  const { logits } = posenc.selfAttention(x, randomLayer(posenc, all), all);
  const side = (sign) => range(middle, 1).map((k) => logits[middle * seqLen + middle + sign * k]);
  return [side(-1), side(1)];
}
