import assert from "node:assert/strict";
import {
  above,
  below,
  differs,
  identity,
  largestDifference,
  mean,
  norm,
  prints,
  range,
  rowOf,
  same,
  times,
  transpose,
} from "./measure.mjs";

const [seqLen, dModel, headDim] = [32, 512, 64];
const positions = (posenc) => posenc.sinusoidalRows(range(seqLen), { dModel });
const shape = { seqLen, dModel, headDim };

/** The four maps of one random draw. */
function maps(posenc, seed) {
  const tokens = posenc.randomNormal(seqLen * dModel, 100 + seed, 0.02 * Math.sqrt(dModel));
  const weights = (part) =>
    posenc.randomNormal(dModel * headDim, 200 + 2 * seed + part, 1 / Math.sqrt(dModel));
  const all = posenc.crossTerms(tokens, positions(posenc), weights(0), weights(1), shape);
  return Array.from(range(4), (term) => rowOf(all, term, seqLen ** 2));
}

/** Share of a map's variance that the means of its diagonals explain. */
function explainedByOffset(map) {
  const n = Math.sqrt(map.length);
  const centre = mean(map);
  const total = map.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  const between = range(2 * n - 1, 1 - n).map((offset) => {
    const diagonal = map.filter((_, at) => (at % n) - Math.floor(at / n) === offset);
    return diagonal.length * (mean(diagonal) - centre) ** 2;
  });
  return between.reduce((sum, value) => sum + value, 0) / total;
}
const raw = (posenc) => posenc.similarity(positions(posenc), seqLen, dModel);
let share;
/** Its mean for p A pᵀ over 40 random draws (one deviates by 0.12), taken once. */
const projectedShare = (posenc) => {
  share ??= mean(Array.from(range(40), (seed) => explainedByOffset(maps(posenc, seed)[3])));
  return share;
};

/** Σ a cos + b sin: each pair under aI + bJ, as a map (rows, rows) of a few pairs. */
function pairwise(posenc, a, b, rows = 12) {
  const [width, pairs] = [8, 4];
  const matrix = new Float64Array(width * width);
  for (let i = 0; i < pairs; ++i) {
    const at = 2 * i * width + 2 * i;
    matrix.set([a[i], b[i]], at);
    matrix.set([-b[i], a[i]], at + width);
  }
  const pe = posenc.sinusoidalRows(range(rows), { dModel: width });
  return { pe, matrix, map: times(times(pe, matrix, width), transpose(pe, width), width) };
}
const [a, b] = [Float64Array.of(0.3, 1.2, -0.4, 0.9), Float64Array.of(0.7, -0.2, 0.5, 1.1)];

export default [
  {
    says: "If the dot product of two sinusoidal rows is a clean function of distance",
    check: (posenc) => prints("1.000", explainedByOffset(raw(posenc))),
  },
  {
    says: "The logit before scaling has four terms:",
    check(posenc) {
      const small = { seqLen: 5, dModel: 16, headDim: 4 };
      const x = posenc.randomNormal(80, 1);
      const p = posenc.sinusoidalRows(range(5), { dModel: 16 });
      const [wQ, wK] = [posenc.randomNormal(64, 2), posenc.randomNormal(64, 3)];
      const terms = posenc.crossTerms(x, p, wQ, wK, small);
      const sum = x.map((value, i) => value + p[i]);
      const logits = times(times(sum, wQ, 16), transpose(times(sum, wK, 16), 4), 4);
      const parts = Array.from(range(4), (term) => rowOf(terms, term, 25));
      same(
        logits.map((_, i) => parts.reduce((total, part) => total + part[i], 0)),
        logits,
      );
    },
  },
  {
    says: "For a random $A$ the expected square of a term grows with the squared norms on its two sides.",
    check(posenc) {
      const square = (scale) => {
        const squares = Array.from(range(200), (seed) => {
          const [x, y] = [1, 2].map((part) => posenc.randomNormal(16, 1000 + 2 * seed + part, scale));
          return times(times(x, posenc.randomNormal(256, seed), 16), y, 16)[0] ** 2;
        });
        return mean(squares);
      };
      same([square(2) / square(1)], [2 ** 4]);
    },
  },
  {
    says: "the position–position term alone carries",
    check(posenc) {
      const [content, position] = [0.02 * dModel, norm(rowOf(positions(posenc), 5, dModel))].map(
        (n) => n ** 2,
      );
      const total = (content + position) ** 2;
      prints("50.3", (100 * position ** 2) / total);
      prints("8.4", (100 * content ** 2) / total);
    },
  },
  {
    says: "A single draw scatters around that.",
    check(posenc) {
      const shares = Array.from(range(6), (seed) => {
        const squares = maps(posenc, seed).map((map) => mean(map.map((value) => value ** 2)));
        return squares[3] / squares.reduce((sum, value) => sum + value, 0);
      });
      above(Math.max(...shares) - Math.min(...shares), 0.01);
    },
  },
  {
    says: String.raw`A map of $p_{\pos{m}} \cdot p_{\pos{n}}$ is constant along its diagonals.`,
    check(posenc) {
      const map = raw(posenc);
      for (let i = 1; i < seqLen; ++i)
        same(rowOf(map, i, seqLen).slice(1), rowOf(map, i - 1, seqLen).slice(0, -1));
    },
  },
  {
    says: String.raw`$M_{\pos{k}}^{\top} A M_{\pos{k}}$ is $A$ only if $A$ commutes with every such rotation. A random one does not.`,
    check(posenc) {
      const m = posenc.shiftMatrices(Float64Array.of(0.8), 3);
      const turned = (matrix) => times(times(transpose(m, 2), matrix, 2), m, 2);
      const commuting = Float64Array.of(0.3, 0.7, -0.7, 0.3);
      same(turned(commuting), commuting);
      same(times(m, commuting, 2), times(commuting, m, 2));
      const random = posenc.randomNormal(4, 1);
      differs(turned(random), random);
      differs(times(m, random, 2), times(random, m, 2));
    },
  },
  {
    says: "About half",
    check: (posenc) => below(projectedShare(posenc), 0.4), // a wrong answer
  },
  {
    says: "About a fifth",
    check(posenc) {
      const share = projectedShare(posenc);
      above(share, 0.15);
      below(share, 0.25);
    },
  },
  {
    says: "Neighbouring rows are alike, so any map of them is smooth, and the offset explains a part of that.",
    check(posenc) {
      const map = maps(posenc, 3)[3];
      const step = mean(
        map
          .slice(1)
          .map((value, i) => (value - map[i]) ** 2)
          .filter((_, i) => i % seqLen !== seqLen - 1),
      );
      below(step, mean(map.map((value) => (value - mean(map)) ** 2)));
    },
  },
  {
    says: "With this initialisation, then, position is most of what attention sees before training.",
    check(posenc) {
      // all terms with a position in them
      const squares = maps(posenc, 4).map((map) => mean(map.map((value) => value ** 2)));
      above(squares[1] + squares[2] + squares[3], 3 * squares[0]);
    },
  },
  {
    says: "With a scaled token norm of {{token_norm_scaled_unit_d512}}, the other initialisation of [section 2](#add), the position–position share is {{cross_share_pp_unit}} %.",
    check(posenc) {
      // squared norms: 512 of a token with deviation 1/√512 before scaling, 256 of a row
      const pe = norm(posenc.sinusoidalRows(Float64Array.of(7), { dModel: 512 })) ** 2;
      prints("11", 100 * (pe / (512 + pe)) ** 2);
    },
  },
  {
    says: "Without $A$, the position–position map is constant along each diagonal",
    check: (posenc) => prints("1.000", explainedByOffset(raw(posenc))),
  },
  {
    says: "With a random $A$ the share drops to",
    check: (posenc) => below(projectedShare(posenc), 0.25),
  },
  {
    says: "choose the identity for $A$ in the figure",
    check(posenc) {
      const one = identity(8);
      const p = posenc.sinusoidalRows(range(6), { dModel: 8 });
      const terms = posenc.crossTerms(new Float64Array(48), p, one, one, {
        seqLen: 6,
        dModel: 8,
        headDim: 8,
      });
      prints("1.000", explainedByOffset(rowOf(terms, 3, 36)));
    },
  },
  {
    says: "suppose $A$ maps every pair to itself, as $aI + bJ$ with $J$ the quarter turn. Then the term is",
    check(posenc) {
      const { map, pe } = pairwise(posenc, a, b);
      const invFreq = posenc.sinusoidalInvFreq({ dModel: 8 });
      const rows = pe.length / 8;
      const expected = map.map((_, at) => {
        const k = (at % rows) - Math.floor(at / rows); // n − m
        return invFreq.reduce((sum, w, i) => sum + a[i] * Math.cos(k * w) - b[i] * Math.sin(k * w), 0);
      });
      same(map, expected);
    },
  },
  {
    says: "a function of the offset again, and one that can tell left from right. The sign depends on which way $J$ turns.",
    check(posenc) {
      const { map } = pairwise(posenc, a, b);
      prints("1.000", explainedByOffset(map));
      above(Math.abs(map[3] - map[3 * 12]), 0.1);
      same(
        pairwise(
          posenc,
          a,
          b.map((value) => -value),
        ).map,
        transpose(map, 12),
      );
      above(largestDifference(map, transpose(map, 12)), 0.1);
    },
  },
  {
    says: "The two mixed terms ask odd questions, such as how much this word likes position 17.",
    defines: "an example of a mixed term",
  },
  {
    says: "removes them and projects content and position with separate matrices",
    cites: "Ke et al. 2020, section 3.1",
  },
  {
    says: "[RoPE](#rope) goes further and makes the offset the only way in which position can enter a logit.",
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 8 });
      const { cos, sin } = posenc.ropeCosSin(Float64Array.of(3, 8, 103, 108), invFreq);
      const [q, k] = [posenc.randomNormal(8, 1), posenc.randomNormal(8, 2)];
      const rotated = (x) =>
        posenc.ropeApply(Float64Array.of(...x, ...x, ...x, ...x), cos, sin, { seqLen: 4, headDim: 8 });
      const score = (m, n) => times(rowOf(rotated(q), m, 8), rowOf(rotated(k), n, 8), 8);
      same(score(0, 1), score(2, 3));
      assert.equal(score(0, 1).length, 1);
    },
  },
];
