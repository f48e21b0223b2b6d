import assert from "node:assert/strict";
import { above, below, dot, largestDifference, prints, range, same } from "./measure.mjs";

const dModel = 512;
const round = (posenc, value, format) => posenc.roundTo(Float64Array.of(value), format)[0];
const row = (posenc, p) => posenc.sinusoidalRows(Float64Array.of(p), { dModel });
/** Distance from a number to the next of its format. */
const spacing = (posenc, value, format) => {
  for (let step = 2 ** -20; ; step *= 2)
    if (round(posenc, value + step, format) === value + step) return step;
};
/** The row that float32 code makes: position and inv_freq rounded, then their product; all else exact. */
function float32Angles(posenc, p) {
  const angles = posenc
    .sinusoidalInvFreq({ dModel })
    .map((w) => Math.fround(Math.fround(p) * Math.fround(w)));
  return range(dModel).map((c) => (c % 2 === 0 ? Math.sin : Math.cos)(angles[Math.floor(c / 2)]));
}
const errorOf = (posenc, p, wrong) => largestDifference(wrong, row(posenc, p));
const integerLimit = (posenc, format) => {
  let n = 1;
  while (round(posenc, 2 ** n + 1, format) === 2 ** n + 1) ++n;
  return n;
};

export default [
  {
    says: String.raw`An angle of 100 000 radians matters only modulo $2\pi$`,
    check() {
      const wrapped = 100_000 - 2 * Math.PI * Math.floor(100_000 / (2 * Math.PI));
      same([Math.sin(wrapped)], [Math.sin(100_000)], 1e-9);
    },
  },
  {
    says: "A float32 has 24 significant bits, a bf16 has 8.",
    check: (posenc) =>
      assert.deepEqual([integerLimit(posenc, "float32"), integerLimit(posenc, "bfloat16")], [24, 8]),
  },
  {
    says: "The spacing of bf16 numbers is 1 from 128 to 256, then 2, then 4.",
    check(posenc) {
      const steps = [127, 128, 255, 256, 510, 512].map((value) => spacing(posenc, value, "bfloat16"));
      assert.deepEqual(steps, [0.5, 1, 1, 2, 2, 4]);
    },
  },
  {
    says: "The first integer that bf16 cannot hold is",
    check(posenc) {
      for (const [first, format] of [
        [257, "bfloat16"],
        [2049, "float16"],
      ]) {
        assert.equal(
          range(5000).find((n) => round(posenc, n, format) !== n),
          first,
        );
      }
      assert.notEqual(round(posenc, 16_777_217, "float32"), 16_777_217);
      same(posenc.roundTo(range(1000, 16_776_217), "float32"), range(1000, 16_776_217));
    },
  },
  {
    says: "Round all integers from 0 to 4095 to bf16 and {{distinct_bf16_4096}} different values remain.",
    check: (posenc) => assert.equal(new Set(posenc.roundTo(range(4096), "bfloat16")).size, 769),
  },
  {
    says: "Positions that round alike get the same row",
    check(posenc) {
      const [a, b] = [1001, 1002].map((p) => round(posenc, p, "bfloat16"));
      assert.deepEqual(row(posenc, a), row(posenc, b));
    },
  },
  {
    says: "The angle is formed in float32 and everything else is exact. How large is the error of a row at position 100 000?",
    check(posenc) {
      const error = errorOf(posenc, 100_000, float32Angles(posenc, 100_000));
      above(error, 0.004);
      below(error, 0.006);
    },
  },
  {
    says: "About 0.00000003, as for any float32",
    check: (posenc) => prints("0.00000003", errorOf(posenc, 100_000, row(posenc, 100_000).map(Math.fround))),
  },
  {
    says: "its last digit at 100 000 radians is worth 0.008",
    check: (posenc) => prints("0.008", spacing(posenc, 100_000, "float32")),
  },
  {
    says: "About 0.005",
    check: (posenc) => prints("0.005", errorOf(posenc, 100_000, float32Angles(posenc, 100_000))),
  },
  {
    says: "A float32 near 100 000 has a spacing of 0.0078. Rounding the frequency and the product together costs about that much.",
    check(posenc) {
      prints("0.0078", spacing(posenc, 100_000, "float32"));
      const error = errorOf(posenc, 100_000, float32Angles(posenc, 100_000));
      below(error, 0.0078);
      above(error, 0.0078 / 2);
    },
  },
  {
    says: "About 2: the angle is meaningless there",
    check: (posenc) => below(errorOf(posenc, 100_000, float32Angles(posenc, 100_000)), 0.01), // a wrong answer
  },
  {
    says: "float32 still resolves a hundredth of a radian. In bf16 it would be so.",
    check(posenc) {
      below(spacing(posenc, 100_000, "float32"), 1 / 100);
      above(errorOf(posenc, 100_000, row(posenc, round(posenc, 100_000, "bfloat16"))), 1.9);
    },
  },
  { says: "The table takes a sinusoidal row of d_model 512", defines: "the width of the row" },
  {
    says: "The error is that of one rounding, at any position.",
    check(posenc) {
      for (const p of [10_000, 100_000, 1_000_000])
        below(errorOf(posenc, p, row(posenc, p).map(Math.fround)), 2 ** -25 + 1e-12);
    },
  },
  {
    says: "The third forms the angle in float32: the error grows in proportion to the position.",
    check(posenc) {
      const errors = [10_000, 100_000, 1_000_000].map((p) => errorOf(posenc, p, float32Angles(posenc, p)));
      for (const i of [1, 2]) {
        above(errors[i] / errors[i - 1], 8);
        below(errors[i] / errors[i - 1], 12);
      }
    },
  },
  {
    says: "The values are then unrelated to the right ones; the largest possible error is 2.",
    check(posenc) {
      for (const p of [10_000, 100_000, 1_000_000]) {
        const error = errorOf(posenc, p, row(posenc, round(posenc, p, "bfloat16")));
        above(error, 1.9);
        below(error, 2 + 1e-12);
      }
    },
  },
  {
    says: "The last column rounds a correct row to bf16, an error that does not grow.",
    check(posenc) {
      for (const p of [10_000, 100_000, 1_000_000])
        below(errorOf(posenc, p, posenc.roundTo(row(posenc, p), "bfloat16")), 2 ** -9 + 1e-12);
    },
  },
  {
    says: "Positions in fp16 fare no better: the type ends at 65 504.",
    check(posenc) {
      assert.equal(round(posenc, 65_504, "float16"), 65_504);
      assert.equal(round(posenc, 65_520, "float16"), Infinity);
      assert.notEqual(round(posenc, 10_001, "float16"), 10_001);
    },
  },
  {
    says: "Automatic mixed precision casts the product of positions and frequencies.",
    cites: "PyTorch, autocast op reference: matmul runs in the lower precision",
  },
  {
    says: "both are silent at short lengths: position 10 000 becomes {{bf16_of_10000}}, position 100 stays 100",
    check(posenc) {
      assert.deepEqual(
        [10_000, 100].map((p) => round(posenc, p, "bfloat16")),
        [9984, 100],
      );
    },
  },
  {
    says: "Scores at equal offsets drift apart, since the two rounding errors do not cancel.",
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 64 });
      const [q, k] = [posenc.randomNormal(64, 1), posenc.randomNormal(64, 2)];
      const score = (m, n, cast) => {
        const [a, b] = [
          [q, m],
          [k, n],
        ].map(([x, p]) => {
          const { cos, sin } = posenc.ropeCosSin(Float64Array.of(cast(p)), invFreq);
          return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim: 64 });
        });
        return dot(a, b);
      };
      const bf16 = (p) => round(posenc, p, "bfloat16");
      same([score(9, 4, bf16)], [score(14, 9, bf16)]);
      above(Math.abs(score(10_009, 10_004, bf16) - score(10_018, 10_013, bf16)), 0.1);
      same([score(10_009, 10_004, Number)], [score(10_018, 10_013, Number)], 1e-9);
    },
  },
  {
    says: "(for one, [Megatron-LM #744](https://github.com/NVIDIA/Megatron-LM/issues/744); for the other, [transformers #29285](https://github.com/huggingface/transformers/pull/29285))",
    cites: "the reports named",
  },
];
