import assert from "node:assert/strict";
import {
  above,
  below,
  differs,
  ENCODINGS,
  identity,
  largestDifference,
  mean,
  measured,
  norm,
  ROUNDING,
  randomLayer,
  rowOf,
  same,
  shuffled,
  times,
  transpose,
} from "./measure.mjs";

const [seqLen, dModel] = [3, 16];
const permutation = Int32Array.of(2, 1, 0);
/** "Dog bites man" and "Man bites dog" through one layer. */
function twoSentences(posenc, config = {}) {
  const all = { seqLen, dModel, ...config };
  const x = posenc.randomNormal(seqLen * dModel, 4);
  return posenc.orderExperiment(x, randomLayer(posenc, all), permutation, all);
}
const outputOf = ({ output }, place) => rowOf(output, place, dModel);

export default [
  {
    says: "Both have the same three tokens, and to self-attention without positions they are the same three tokens with their rows swapped.",
    check(posenc) {
      const words = (text) => text.toLowerCase().split(" ");
      assert.equal(words("Dog bites man").length, 3);
      assert.deepEqual(
        Array.from(permutation, (i) => words("Dog bites man")[i]),
        words("Man bites dog"),
      );
      below(twoSentences(posenc).equivariance, ROUNDING);
    },
  },
  {
    says: String.raw`f(X) = \operatorname{softmax}\!\left(\frac{\q{Q}\,\k{K}^{\top}}{\sqrt{d_k}}\right) V`,
    check(posenc) {
      const x = posenc.randomNormal(seqLen * dModel, 4);
      const layer = { ...randomLayer(posenc, { seqLen, dModel }), wO: identity(dModel) };
      const [q, k, v] = [layer.wQ, layer.wK, layer.wV].map((w) => times(x, w, dModel));
      const exps = times(q, transpose(k, dModel), dModel).map((logit) => Math.exp(logit / Math.sqrt(dModel)));
      const weights = exps.map((e, at) => {
        const row = rowOf(exps, Math.floor(at / seqLen), seqLen);
        return e / row.reduce((sum, value) => sum + value, 0);
      });
      same(posenc.selfAttention(x, layer, { seqLen, dModel }).output, times(weights, v, seqLen));
    },
  },
  {
    says: String.raw`the logits become $P\,(\q{Q}\k{K}^{\top})\,P^{\top}$`,
    check(posenc) {
      const { logits, permuted } = twoSentences(posenc);
      const expected = logits.map((_, at) => {
        const [i, j] = [permutation[Math.floor(at / seqLen)], permutation[at % seqLen]];
        return logits[i * seqLen + j];
      });
      same(permuted.logits, expected);
    },
  },
  { says: "f(PX) = P\\,f(X).", check: (posenc) => below(shuffled(posenc).equivariance, ROUNDING) },
  {
    says: "Each token gets exactly the vector it had before.",
    check(posenc) {
      const result = twoSentences(posenc);
      permutation.forEach((from, to) => {
        same(outputOf(result.permuted, to), outputOf(result, from));
      });
    },
  },
  {
    says: "the pooled output is permutation **invariant**",
    check: (posenc) => below(shuffled(posenc).pooled, ROUNDING),
  },
  {
    says: "It stays the same, and moves along with the token",
    check(posenc) {
      const result = twoSentences(posenc);
      same(outputOf(result, 0), outputOf(result.permuted, 2));
    },
  },
  {
    says: "The token meets the same two neighbours, in another order",
    check(posenc) {
      const result = twoSentences(posenc);
      const weights = rowOf(result.weights, 0, seqLen).slice(1);
      assert.equal(weights.length, 2);
      same(weights.toSorted(), rowOf(result.permuted.weights, 2, seqLen).slice(0, 2).toSorted());
    },
  },
  {
    says: "Position 0 keeps its vector, whichever token stands there",
    check(posenc) {
      const result = twoSentences(posenc); // a wrong answer: it does not
      differs(outputOf(result, 0), outputOf(result.permuted, 0));
    },
  },
  {
    says: "With no encoding the largest difference between $f(PX)$ and $P f(X)$ is rounding error. Choose an encoding and it is not, with one exception",
    check(posenc) {
      below(shuffled(posenc).equivariance, ROUNDING);
      for (const encoding of ENCODINGS) above(shuffled(posenc, { encoding }).equivariance, 1e-3);
    },
  },
  {
    says: "ALiBi without a mask sees only distances, and reading a sentence backwards keeps them all. Swap two neighbours instead, and ALiBi sees it too.",
    check(posenc) {
      below(shuffled(posenc, { encoding: "alibi" }, [6, 5, 4, 3, 2, 1, 0]).equivariance, ROUNDING);
      above(shuffled(posenc, { encoding: "alibi" }, [1, 0, 2, 3, 4, 5, 6]).equivariance, 1e-4);
    },
  },
  {
    says: "A feed-forward layer, a residual or a normalisation does not help: each acts on one row at a time and commutes with the shuffle.",
    check(posenc) {
      const width = 16;
      const x = posenc.randomNormal(7 * width, 1);
      const matrix = posenc.randomNormal(width * width, 2, 0.25);
      const afterwards = (row, input) => {
        const sum = row.map((value, c) => value + input[c]);
        const normed = sum.map((value) => (value * Math.sqrt(width)) / norm(sum));
        return times(normed, matrix, width).map((value) => Math.max(0, value));
      };
      const { output, permuted } = shuffled(posenc);
      [3, 0, 6, 1, 5, 2, 4].forEach((from, to) => {
        const input = rowOf(x, from, width);
        const here = afterwards(rowOf(output, from, width), input);
        same(afterwards(rowOf(permuted.output, to, width), input), here);
      });
    },
  },
  {
    says: "More layers do not help either.",
    check: (posenc) => below(shuffled(posenc, { numLayers: 4 }).equivariance, ROUNDING),
  },
  {
    says: "A dot product of two rows gives the same value wherever the rows stand",
    check(posenc) {
      const { logits, permuted } = twoSentences(posenc);
      same([logits[1]], [permuted.logits[2 * seqLen + 1]]); // dog meets bites
    },
  },
  {
    says: "a weighted sum does not depend on the order of its terms",
    check(posenc) {
      const [weights, values] = [posenc.randomNormal(9, 1), posenc.randomNormal(9, 2)];
      const products = weights.map((weight, i) => weight * values[i]);
      below(Math.abs(mean(products) - mean(products.toReversed())), ROUNDING);
    },
  },
  {
    says: "A causal mask breaks the symmetry. Row 0 may see one key, row 1 two keys, and so on",
    check(posenc) {
      const { equivariance, weights } = shuffled(posenc, { causal: true });
      above(equivariance, 1e-3);
      for (let i = 0; i < 7; ++i) assert.equal(rowOf(weights, i, 7).filter((w) => w > 0).length, i + 1);
    },
  },
  {
    says: "Change the mask in the figure and the difference is no longer zero, with no encoding at all.",
    check: (posenc) => above(shuffled(posenc, { encoding: "none", causal: true }).equivariance, 1e-3),
  },
  {
    says: "Decoder-only models without any encoding learn order from the mask",
    cites: "Haviv et al. 2022; Kazemnejad et al. 2023",
  },
  {
    says: "a single causal layer without positions cannot copy the token three places back, while sinusoidal, learned, RoPE and T5 learn it perfectly at the trained length",
    check() {
      below(measured("echo", "none"), 30);
      for (const encoding of ["sinusoidal", "learned", "RoPE", "T5"])
        assert.equal(measured("echo", encoding), 100, encoding);
    },
  },
  { says: "The original says: self-attention has permutation invariance.", cites: "the original" },
  {
    says: "True: it is permutation equivariant; only a pooled output is invariant, and a causal mask breaks both.",
    check(posenc) {
      const full = shuffled(posenc);
      below(full.equivariance, ROUNDING);
      below(full.pooled, ROUNDING);
      above(largestDifference(full.output, full.permuted.output), 1e-3);
      const causal = shuffled(posenc, { causal: true });
      above(causal.equivariance, 1e-3);
      above(causal.pooled, 1e-3);
    },
  },
];
