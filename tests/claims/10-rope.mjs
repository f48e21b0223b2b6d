import assert from "node:assert/strict";
import { above, differs, dot, norm, prints, range, rowOf, same } from "./measure.mjs";

const headDim = 8;
const invFreqOf = (posenc) => posenc.ropeInvFreq({ headDim }).invFreq;
const rotated = (posenc, x, position) => {
  const { cos, sin } = posenc.ropeCosSin(Float64Array.of(position), invFreqOf(posenc));
  return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim });
};
const query = (posenc) => posenc.randomNormal(headDim, 1);
const key = (posenc) => posenc.randomNormal(headDim, 2);
const score = (posenc, m, n) => dot(rotated(posenc, query(posenc), m), rotated(posenc, key(posenc), n));
/** What rotating changes in the score of one pair of frequency 1 at offset −1. */
const change = (posenc, k) => {
  const one = [Float64Array.of(1, 0), Float64Array.from(k), Float64Array.of(1)];
  return posenc.ropeScoreByOffset(Float64Array.of(-1), ...one)[0] - dot(one[0], one[1]);
};

export default [
  {
    says: "Read as a complex number, the pair is multiplied by the number of length 1 and angle",
    check(posenc) {
      const [x, at] = [query(posenc), 5];
      const turned = rotated(posenc, x, at);
      invFreqOf(posenc).forEach((w, i) => {
        const [re, im] = [Math.cos(at * w), Math.sin(at * w)];
        same([Math.hypot(re, im)], [1]);
        const [a, b] = [x[2 * i], x[2 * i + 1]];
        same([turned[2 * i], turned[2 * i + 1]], [a * re - b * im, a * im + b * re]);
      });
    },
  },
  { says: "used by Llama, Mistral, Qwen and Falcon-7B", cites: "their model configs" },
  {
    says: String.raw`$\omega_{\dims{i}} = \text{rope\_theta}^{-2\dims{i}/\text{rotary\_dim}}$ and ${"`rope_theta`"} 10000`,
    check: (posenc) =>
      same(
        invFreqOf(posenc),
        range(headDim / 2).map((i) => 10000 ** ((-2 * i) / headDim)),
      ),
  },
  {
    says: String.raw`R(\pos{m})\begin{bmatrix} \q{q}_{2\dims{i}} \\ \q{q}_{2\dims{i}+1} \end{bmatrix} = \begin{bmatrix} \cos \pos{m}\omega_{\dims{i}} & -\sin \pos{m}\omega_{\dims{i}} \\ \sin \pos{m}\omega_{\dims{i}} & \cos \pos{m}\omega_{\dims{i}} \end{bmatrix} \begin{bmatrix} \q{q}_{2\dims{i}} \\ \q{q}_{2\dims{i}+1} \end{bmatrix}`,
    check(posenc) {
      const q = query(posenc);
      const expected = Array.from(invFreqOf(posenc), (w, i) => {
        const [cos, sin] = [Math.cos(7 * w), Math.sin(7 * w)];
        return [cos * q[2 * i] - sin * q[2 * i + 1], sin * q[2 * i] + cos * q[2 * i + 1]];
      });
      same(rotated(posenc, q, 7), expected.flat());
    },
  },
  {
    says: "Rotations compose, and the transpose turns back.",
    check(posenc) {
      const q = query(posenc);
      same(rotated(posenc, rotated(posenc, q, 3), 4), rotated(posenc, q, 7));
      same(rotated(posenc, rotated(posenc, q, 3), -3), q);
    },
  },
  {
    says: String.raw`= \q{q}^{\top} R(\pos{m})^{\top} R(\pos{n})\, \k{k} = \q{q}^{\top} R(\pos{n}-\pos{m})\, \k{k}.`,
    check(posenc) {
      for (const [m, n] of [
        [7, 3],
        [0, 5],
        [900, 12],
      ])
        same([score(posenc, m, n)], [dot(query(posenc), rotated(posenc, key(posenc), n - m))]);
    },
  },
  {
    says: "Both vectors keep their lengths. Nothing is trained.",
    check: (posenc) => same([norm(rotated(posenc, query(posenc), 321))], [norm(query(posenc))]),
  },
  {
    says: "Query and key both move 1000 positions to the right. What changes?",
    check: (posenc) => same([score(posenc, 1007, 1003)], [score(posenc, 7, 3)]),
  },
  {
    says: "The rotated vectors, but not the score",
    check(posenc) {
      differs(rotated(posenc, query(posenc), 1007), rotated(posenc, query(posenc), 7));
      same([score(posenc, 1007, 1003)], [score(posenc, 7, 3)]);
    },
  },
  {
    says: "pair 0 alone turns by 1000 radians",
    check: (posenc) => assert.equal(1000 * invFreqOf(posenc)[0], 1000),
  },
  {
    says: "Move one alone and every pair turns against its partner at its own speed.",
    check(posenc) {
      above(Math.abs(score(posenc, 8, 3) - score(posenc, 7, 3)), 1e-3);
      assert.equal(new Set(invFreqOf(posenc)).size, headDim / 2);
    },
  },
  {
    says: String.raw`With one pair of frequency 1, offset −1 and $\q{q} = \k{k} = (1, 0)$, rotating changes the score by`,
    check: (posenc) => prints("−0.460", change(posenc, [1, 0])),
  },
  {
    says: String.raw`With $\k{k} = (0, 1)$ it changes it by`,
    check: (posenc) => prints("0.841", change(posenc, [0, 1])),
  },
  {
    says: "No single function of the offset could do both.",
    check: (posenc) => above(Math.abs(change(posenc, [1, 0]) - change(posenc, [0, 1])), 1),
  },
  {
    says: "torch.Size([1, 2, 6, 8]) True True",
    check(posenc) {
      const { cos, sin } = posenc.ropeCosSin(range(6), invFreqOf(posenc));
      const x = posenc.randomNormal(1 * 2 * 6 * 8, 3);
      const y = posenc.ropeApply(x, cos, sin, { numHeads: 2, seqLen: 6, headDim: 8 });
      assert.equal(y.length, 1 * 2 * 6 * 8);
      for (const i of range(12)) same([norm(rowOf(y, i, 8))], [norm(rowOf(x, i, 8))]);
      for (const head of [0, 6]) assert.deepEqual(rowOf(y, head, 8), rowOf(x, head, 8));
    },
  },
  {
    says: "The offset appears because two rotations meet in a dot product. The values are only summed, so a rotated value would carry its absolute position into the output",
    check(posenc) {
      // The same value at 7 and at 1007 would arrive as two different vectors.
      differs(rotated(posenc, query(posenc), 7), rotated(posenc, query(posenc), 1007));
    },
  },
  {
    says: "Leaving $v$ alone keeps position in the weights and out of what is copied.",
    check(posenc) {
      const layer = { seqLen: 5, dModel: 8 };
      const square = (seed) => posenc.randomNormal(64, seed, 0.35);
      const weights = { wQ: square(1), wK: square(2), wV: square(3), wO: square(4) };
      const token = posenc.randomNormal(8, 5);
      const x = Float64Array.from(range(40), (i) => token[i % 8]);
      const run = (encoding) => posenc.selfAttention(x, weights, { ...layer, encoding }).output;
      same(run("rope"), run("none")); // one token everywhere: only a rotated value could tell
    },
  },
  {
    says: "Angles past the trained length are new to the model in the slow pairs, which never completed a turn in training.",
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 128 });
      above(invFreq.filter((w) => 4096 * w < 2 * Math.PI).length, 0);
    },
  },
  {
    says: String.raw`the score is proportional to $\q{q}\cdot\k{k} + f(\pos{m}-\pos{n})$.`,
    cites: "the original",
  },
  {
    says: String.raw`True: it is $\q{q}^{\top}R(\pos{n}-\pos{m})\k{k}$; content and offset multiply.`,
    check(posenc) {
      same([score(posenc, 9, 4)], [dot(query(posenc), rotated(posenc, key(posenc), -5))]);
      const double = query(posenc).map((value) => 2 * value);
      const doubled = dot(rotated(posenc, double, 9), rotated(posenc, key(posenc), 4));
      same([doubled], [2 * score(posenc, 9, 4)]);
    },
  },
];
