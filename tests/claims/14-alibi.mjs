import assert from "node:assert/strict";
import {
  above,
  below,
  logitsLeftAndRight,
  measured,
  prints,
  randomLayer,
  range,
  rowOf,
  same,
  study,
} from "./measure.mjs";

const slopes = (posenc, numHeads) => posenc.alibiSlopes({ numHeads });
/** Weights on the nearest keys, when all q·k are equal and 20 000 keys lie before the query. */
const weights = (slope) => {
  const unscaled = range(20_000).map((distance) => Math.exp(-slope * distance));
  const sum = unscaled.reduce((total, value) => total + value, 0);
  return unscaled.map((value) => value / sum);
};
/** The fewest nearest keys that hold 99 % of the weight. */
const window = (slope) => {
  let [keys, held] = [0, 0];
  for (const weight of weights(slope)) {
    if (held >= 0.99) break;
    held += weight;
    ++keys;
  }
  return keys;
};
/** A causal layer of two heads, with and without ALiBi. */
const logits = (posenc, encoding) => {
  const shape = { seqLen: 6, dModel: 8, numHeads: 2, causal: true };
  const x = posenc.randomNormal(48, 1);
  return posenc.selfAttention(x, randomLayer(posenc, shape), { ...shape, encoding }).logits;
};

export default [
  {
    says: "adds nothing to the tokens and rotates nothing. It lowers each logit in proportion to the distance",
    check(posenc) {
      const [with_, without] = ["alibi", "none"].map((encoding) => logits(posenc, encoding));
      const [, flat] = slopes(posenc, 2);
      const penalty = range(6).map((n) => without[6 * 11 + n] - with_[6 * 11 + n]); // head 1, query 5
      same(
        penalty,
        range(6).map((n) => flat * (5 - n)),
      );
    },
  },
  {
    says: String.raw`\text{logit}_{\pos{m}\pos{n}} = \frac{\q{q}_{\pos{m}} \cdot \k{k}_{\pos{n}}}{\sqrt{d_k}} - \text{slope}_h \,(\pos{m} - \pos{n}), \qquad \pos{n} \le \pos{m}`,
    check(posenc) {
      const [with_, without] = ["alibi", "none"].map((encoding) => logits(posenc, encoding));
      const perHead = slopes(posenc, 2);
      with_.forEach((logit, at) => {
        const [head, m, n] = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6];
        if (n > m) assert.equal(logit, -Infinity);
        else same([logit], [without[at] - perHead[head] * (m - n)]);
      });
    },
  },
  {
    says: String.raw`For $H$ heads, $H$ a power of two, they are $2^{-8h/H}$ with $h = 1, \dots, H$.`,
    check(posenc) {
      for (const heads of [1, 2, 8, 16, 32])
        same(
          slopes(posenc, heads),
          range(heads, 1).map((h) => 2 ** ((-8 * h) / heads)),
          1e-15,
        );
    },
  },
  {
    says: "For other counts the reference code takes the slopes of the next lower power of two, then fills up with every second slope of twice that power. The order is as below; it is not sorted.",
    check(posenc) {
      for (const [heads, lower] of [
        [6, 4],
        [12, 8],
        [20, 16],
        [3, 2],
      ]) {
        const extra = slopes(posenc, 2 * lower).filter((_, i) => i % 2 === 0);
        const expected = [...slopes(posenc, lower), ...extra.slice(0, heads - lower)];
        same(slopes(posenc, heads), expected, 1e-15);
        assert.notDeepEqual(slopes(posenc, heads), slopes(posenc, heads).toSorted().toReversed());
      }
    },
  },
  {
    says: "Choose a number of heads that is not a power of two and look for the hollow marks.",
    defines: "where the filled-up slopes show",
  },
  {
    says: "Equal content everywhere, a long past, slope $1/2$. On how many of the nearest keys lie 99 % of the weight?",
    check: () => assert.equal(window(1 / 2), 10),
  },
  {
    says: "About 200, since a penalty of 100 is needed",
    check() {
      assert.equal(100 / (1 / 2), 200);
      below(window(1 / 2), 20); // a wrong answer
    },
  },
  {
    says: "Each step back multiplies the weight by $e^{-1/2}$, about 0.61. After {{alibi_window_steepest_8}} steps less than 1 % is left.",
    check() {
      const [first, second] = weights(1 / 2);
      prints("0.61", second / first);
      const held = weights(1 / 2).slice(0, 10);
      below(1 - held.reduce((sum, weight) => sum + weight, 0), 0.01);
    },
  },
  {
    says: "2, since the slope is $1/2$",
    check: () => above(window(1 / 2), 2), // a wrong answer
  },
  {
    says: "After two steps the weight has fallen to $e^{-1}$, a good third of what it was.",
    check() {
      const [first, , third] = weights(1 / 2);
      same([third / first], [Math.exp(-1)]);
      above(third / first, 1 / 3);
      below(third / first, 0.4);
    },
  },
  {
    says: "the weights fall by a factor $e^{-\\text{slope}}$ per step",
    check(posenc) {
      const shape = { seqLen: 9, dModel: 8, numHeads: 2, causal: true, encoding: "alibi" };
      const zero = new Float64Array(64);
      const layer = { ...randomLayer(posenc, shape), wQ: zero, wK: zero };
      const all = posenc.selfAttention(posenc.randomNormal(72, 1), layer, shape).weights;
      slopes(posenc, 2).forEach((slope, head) => {
        const row = rowOf(all, head * 9 + 8, 9);
        same(
          row.slice(0, 8).map((weight, n) => weight / row[n + 1]),
          range(8).map(() => Math.exp(-slope)),
        );
      });
    },
  },
  {
    says: "With 8 heads, the steepest puts 99 % of its weight on the nearest {{alibi_window_steepest_8}} keys and the flattest on {{alibi_window_flattest_8}}.",
    check(posenc) {
      const eight = slopes(posenc, 8);
      assert.equal(window(Math.max(...eight)), 10);
      assert.equal(window(Math.min(...eight)), 1179);
    },
  },
  {
    says: "keys after the query are masked. On the diagonal stands $0$, to its left $-\\text{slope}$, $-2\\,\\text{slope}$ and so on; right of it minus infinity.",
    check(posenc) {
      const bias = posenc.alibiBias(Float64Array.of(0.25), 4, true);
      assert.deepEqual(
        Array.from(rowOf(bias, 2, 4), (value) => value + 0),
        [-0.5, -0.25, 0, -Infinity],
      );
    },
  },
  {
    says: "A softmax ignores a constant added to a whole row, so code may store one row of key positions instead of the full matrix.",
    check(posenc) {
      const full = posenc.alibiBias(Float64Array.of(0.25), 5, true);
      const softmax = (row) => {
        const exps = row.map(Math.exp);
        return exps.map((value) => value / exps.reduce((sum, e) => sum + e, 0));
      };
      const keyPositions = range(5).map((n) => 0.25 * n);
      for (let m = 0; m < 5; ++m)
        same(softmax(rowOf(full, m, 5).slice(0, m + 1)), softmax(keyPositions.slice(0, m + 1)));
    },
  },
  { says: "MPT-7B and [BLOOM](https://arxiv.org/abs/2211.05100) use it.", cites: "their model configs" },
  {
    says: "BLOOM and MPT add the bias after $1/\\sqrt{d_k}$; the Falcon code of Hugging Face transformers adds it before.",
    cites: "transformers, modeling_bloom.py, modeling_mpt.py and modeling_falcon.py",
  },
  {
    says: 'The original says: Falcon has RoPE in one place, and "early Falcon models" have ALiBi',
    cites: "the original",
  },
  { says: "Falcon-7B and Falcon-40B ([", cites: "Almazrouei et al. 2023; falcon-rw: Penedo et al. 2023" },
  {
    says: "The paper trains on 1024 tokens and matches, at 2048, a sinusoidal model trained on 2048.",
    cites: "Press et al. 2021, abstract",
  },
  {
    says: "a head with a steep slope cannot use them: its weights end where its window ends",
    check(posenc) {
      const beyond = weights(slopes(posenc, 8)[0]).slice(1024);
      below(
        beyond.reduce((sum, weight) => sum + weight, 0),
        1e-100,
      );
    },
  },
  {
    says: "And a penalty on distance has no peak at any one distance.",
    check(posenc) {
      for (const slope of slopes(posenc, 8)) {
        const near = weights(slope).slice(0, 50);
        assert.deepEqual(near, near.toSorted().toReversed());
      }
    },
  },
  {
    says: "one layer of ALiBi cannot copy the token three places back",
    check() {
      assert.equal(study.echo.back, 3);
      below(measured("echo", "ALiBi"), 35);
    },
  },
  {
    says: "It cannot tell left from right.",
    check: (posenc) => same(...logitsLeftAndRight(posenc, "alibi")),
  },
  {
    says: 'On the study\'s task "which side" it scores at chance, and reaches 100 % when half the heads look left only and half right only.',
    check() {
      below(Math.abs(measured("whichSide", "ALiBi, symmetric") - study.whichSide.chance), 2);
      assert.equal(measured("whichSide", "ALiBi, half the heads left only, half right only"), 100);
    },
  },
];
