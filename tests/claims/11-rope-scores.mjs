import assert from "node:assert/strict";
import {
  above,
  below,
  dot,
  largestDifference,
  logitsHereAndThere,
  mean,
  measured,
  prints,
  randomLayer,
  range,
  rowOf,
  same,
  times,
  transpose,
} from "./measure.mjs";

const [seqLen, headDim] = [8, 16];
const rows = (posenc, seed) => posenc.randomNormal(seqLen * headDim, seed);
const repeated = (row) => Float64Array.from(range(seqLen * headDim), (i) => row[i % headDim]);

function scores(posenc, q, k) {
  const { cos, sin } = posenc.ropeCosSin(range(seqLen), posenc.ropeInvFreq({ headDim }).invFreq);
  const rotate = (x) => posenc.ropeApply(x, cos, sin, { seqLen, headDim });
  return times(rotate(q), transpose(rotate(k), headDim), headDim);
}
/** Largest difference between two entries of one diagonal. */
const largestSpread = (map) =>
  Math.max(
    ...range(2 * seqLen - 1, 1 - seqLen).map((offset) => {
      const diagonal = map.filter((_, at) => (at % seqLen) - Math.floor(at / seqLen) === offset);
      return Math.max(...diagonal) - Math.min(...diagonal);
    }),
  );
const independent = (posenc) => [rows(posenc, 1), rows(posenc, 2)];
const oneRow = (posenc) => independent(posenc).map((x) => repeated(x.slice(0, headDim)));
const plainDiagonal = (q, k) => range(seqLen).map((i) => dot(rowOf(q, i, headDim), rowOf(k, i, headDim)));
const diagonalOf = (map) => range(seqLen).map((i) => map[i * (seqLen + 1)]);
const meanCosine = (posenc, count) =>
  posenc.dotByOffset(range(count), posenc.ropeInvFreq({ headDim: 64 }).invFreq).map((sum) => sum / 32);

const repeatedIsConstant = (posenc) => below(largestSpread(scores(posenc, ...oneRow(posenc))), 1e-12);
const independentIsNot = (posenc) => above(largestSpread(scores(posenc, ...independent(posenc))), 1);
const diagonalIsPlain = (posenc) => {
  const [q, k] = independent(posenc);
  same(diagonalOf(scores(posenc, q, k)), plainDiagonal(q, k));
};

export default [
  {
    says: "at offset 0 the rotation cancels, so score $[i, i]$ is exactly the plain product of row $i$ with row $i$",
    check: diagonalIsPlain,
  },
  {
    says: "Random rows give random diagonals, with or without RoPE.",
    check(posenc) {
      const [q, k] = independent(posenc);
      const plain = plainDiagonal(q, k);
      above(Math.max(...plain) - Math.min(...plain), 1);
      independentIsNot(posenc);
    },
  },
  { says: "diagonals agree, repeated rows:    True", check: repeatedIsConstant },
  { says: "diagonals agree, independent rows: False", check: independentIsNot },
  { says: "score[i, i] is the plain q_i . k_i: True", check: diagonalIsPlain },
  {
    says: "- [x] The main diagonal",
    check(posenc) {
      const [q, k] = independent(posenc);
      const [before, after] = [times(q, transpose(k, headDim), headDim), scores(posenc, q, k)];
      const kept = range(seqLen ** 2).filter((at) => Math.abs(before[at] - after[at]) < 1e-9);
      assert.deepEqual(
        Array.from(kept),
        Array.from(range(seqLen), (i) => i * (seqLen + 1)),
      );
    },
  },
  {
    says: "There query and key stand at one position: offset 0, no turn against each other.",
    check: diagonalIsPlain,
  },
  {
    says: "Every row was rotated, and yet where two rotations are equal the product cannot tell.",
    check(posenc) {
      const [x, k] = independent(posenc);
      const { cos, sin } = posenc.ropeCosSin(range(seqLen), posenc.ropeInvFreq({ headDim }).invFreq);
      const turned = posenc.ropeApply(x, cos, sin, { seqLen, headDim });
      for (const i of range(seqLen - 1, 1))
        above(largestDifference(rowOf(turned, i, headDim), rowOf(x, i, headDim)), 1e-3);
      same(diagonalOf(scores(posenc, x, k)), plainDiagonal(x, k));
    },
  },
  {
    says: "With repeated rows every diagonal of the score map is constant to rounding.",
    check: repeatedIsConstant,
  },
  {
    says: "With independent rows they are not, and should not be: the content differs.",
    check: independentIsNot,
  },
  { says: "score $[i, i]$ is similar for every $i$ with independent random rows", cites: "the original" },
  {
    says: String.raw`True: it equals $\q{q}_i\cdot\k{k}_i$ and differs from row to row. Repeat one query and one key.`,
    check(posenc) {
      diagonalIsPlain(posenc);
      const diagonal = diagonalOf(scores(posenc, ...independent(posenc)));
      above(Math.max(...diagonal) - Math.min(...diagonal), 1);
      repeatedIsConstant(posenc);
    },
  },
  { says: "before RoPE holds absolute position distances", cites: "the original" },
  {
    says: "True: it holds no position at all.",
    check(posenc) {
      // Exchange two tokens: their logits move along, whatever the positions.
      const shape = { seqLen: 4, dModel: 16 };
      const x = posenc.randomNormal(64, 1);
      const order = Int32Array.of(0, 2, 1, 3);
      const { logits, permuted } = posenc.orderExperiment(x, randomLayer(posenc, shape), order, shape);
      same(
        permuted.logits,
        logits.map((_, at) => logits[order[Math.floor(at / 4)] * 4 + order[at % 4]]),
      );
    },
  },
  {
    says: String.raw`The score relative to offset 0 is then the mean of $\cos(\pos{k}\,\omega_{\dims{i}})$, here for 32 pairs (head_dim 64).`,
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 64 });
      assert.equal(invFreq.length, 32);
      const q = Float64Array.from(range(64), () => 1);
      const byOffset = posenc.ropeScoreByOffset(range(200), q, q, invFreq);
      same(
        byOffset.map((score) => score / byOffset[0]),
        meanCosine(posenc, 200),
      );
    },
  },
  { says: "at offset 50 and", check: (posenc) => prints("0.49", meanCosine(posenc, 51)[50]) },
  {
    says: "at offset 100: larger, not smaller",
    check(posenc) {
      const curve = meanCosine(posenc, 101);
      prints("0.56", curve[100]);
      above(curve[100], curve[50]);
    },
  },
  {
    says: "It first turns negative at",
    check: (posenc) =>
      assert.equal(
        meanCosine(posenc, 2000).findIndex((value) => value < 0),
        725,
      ),
  },
  {
    says: "RoFormer proves an upper bound and plots how it falls on the whole",
    cites: "Su et al. 2021, section 3.4.3 and figure 2",
  },
  {
    says: "the bound itself goes up and down, and the score moves freely below it",
    check(posenc) {
      // The bound: mean over i of |sum of the first i rotations|, relative to offset 0.
      const { invFreq } = posenc.ropeInvFreq({ headDim: 128 });
      const bounds = Array.from({ length: 257 }, (_, offset) => {
        let [re, im, total] = [0, 0, 0];
        for (const w of invFreq) {
          re += Math.cos(offset * w);
          im += Math.sin(offset * w);
          total += Math.hypot(re, im);
        }
        return total;
      });
      const rises = bounds.filter((bound, offset) => offset > 1 && bound > bounds[offset - 1]);
      above(rises.length, 50);
      above(bounds.length - 1 - rises.length, 50);
    },
  },
  {
    says: "For independent queries and keys of mean zero the expected score is 0 at every offset",
    check(posenc) {
      const draws = 4000;
      const { invFreq } = posenc.ropeInvFreq({ headDim: 4 });
      const offsets = Float64Array.of(0, 1, 10, 100);
      const sums = new Float64Array(4);
      const x = posenc.randomNormal(8 * draws, 9);
      for (let i = 0; i < draws; ++i) {
        const [q, k] = [rowOf(x, 2 * i, 4), rowOf(x, 2 * i + 1, 4)];
        posenc.ropeScoreByOffset(offsets, q, k, invFreq).forEach((score, at) => {
          sums[at] += score;
        });
      }
      // One score has deviation 2, the mean of 4000 has 0.03.
      for (const sum of sums) below(Math.abs(sum / draws), 4 * (2 / Math.sqrt(draws)));
    },
  },
  {
    says: '"Look at the previous token" is one rule about offset −1, not one rule per position',
    check(posenc) {
      const q = posenc.randomNormal(headDim, 1);
      const map = scores(posenc, repeated(q), repeated(posenc.randomNormal(headDim, 2)));
      const previous = range(seqLen - 1, 1).map((i) => map[i * seqLen + i - 1]);
      same(
        previous,
        previous.map(() => previous[0]),
      );
    },
  },
  {
    says: "a paragraph means the same when a page is put before it",
    check(posenc) {
      for (const encoding of ["rope", "alibi", "t5"]) same(...logitsHereAndThere(posenc, encoding), 1e-9);
    },
  },
  {
    says: "With absolute rows the model has to learn that sameness from data.",
    check(posenc) {
      for (const encoding of ["sinusoidal", "learned"])
        above(largestDifference(...logitsHereAndThere(posenc, encoding)), 1e-3);
    },
  },
  {
    says: "| For fixed content depends on | $\\pos{m}$ and $\\pos{n}$ | $\\pos{n}-\\pos{m}$ |",
    check(posenc) {
      above(largestDifference(...logitsHereAndThere(posenc, "sinusoidal")), 1e-3);
      same(...logitsHereAndThere(posenc, "rope"), 1e-9);
    },
  },
  {
    says: "| Cross-terms | four terms | none; content times rotation |",
    check(posenc) {
      const one = posenc.randomNormal(4 * 2, 1);
      const terms = posenc.crossTerms(one, one, one, one, { seqLen: 2, dModel: 4, headDim: 2 });
      assert.equal(terms.length / 2 ** 2, 4);
    },
  },
  {
    says: "| Position in $v$ | yes | no |",
    check(posenc) {
      const shape = { seqLen: 4, dModel: 16 };
      const layer = { ...randomLayer(posenc, shape), wQ: new Float64Array(256), wK: new Float64Array(256) };
      const x = posenc.randomNormal(64, 1);
      const run = (encoding) => posenc.selfAttention(x, layer, { ...shape, encoding }).output;
      above(largestDifference(run("sinusoidal"), run("none")), 1e-3);
      same(run("rope"), run("none"));
    },
  },
  {
    says: "degrades later in [the training study](#training)",
    check() {
      for (const task of ["whichSide", "echo", "induction"]) {
        for (const multiple of [2, 4, 8])
          above(measured(task, "RoPE", multiple), measured(task, "sinusoidal", multiple));
      }
      below(measured("tinyLanguage", "RoPE", 8), measured("tinyLanguage", "sinusoidal", 8));
      above(mean([1, 8].map((multiple) => measured("echo", "RoPE", multiple))), 50);
    },
  },
  {
    says: "helped by [scaling](#longer-contexts)",
    check() {
      for (const task of ["whichSide", "echo", "induction"])
        above(measured(task, "RoPE + NTK", 8), measured(task, "RoPE", 8));
    },
  },
];
