import assert from "node:assert/strict";
import { above, below, prints, range, rowOf, same } from "./measure.mjs";

const dModel = 8;
const invFreqOf = (posenc) => posenc.sinusoidalInvFreq({ dModel });
const rowAt = (posenc, p) => posenc.sinusoidalRows(Float64Array.of(p), { dModel });
/** Each number as the prose prints it. */
const printsAll = (literals, values) => {
  assert.equal(literals.length, values.length);
  literals.forEach((literal, i) => {
    prints(literal, values[i]);
  });
};
const printedRow = (p, printed) => ({
  says: `\n${p} ${printed}\n`,
  check: (posenc) => printsAll(printed.trim().split(/\s+/), rowAt(posenc, p)),
});

export default [
  {
    says: "Eight numbers per position are few enough to check by hand. Take d_model 8 and positions 0, 1 and 5.",
    check: (posenc) => assert.equal(rowAt(posenc, 5).length, 8),
  },
  {
    says: String.raw`There are four pairs, and $10000^{-2\dims{i}/8} = 10^{-\dims{i}}$. The frequencies are 1, 0.1, 0.01 and 0.001.`,
    check(posenc) {
      assert.equal(invFreqOf(posenc).length, 4);
      same(invFreqOf(posenc), [1, 0.1, 0.01, 0.001], 1e-15);
    },
  },
  {
    says: "At position 5 the angles are 5, 0.5, 0.05 and 0.005 radians",
    check: (posenc) =>
      same(
        invFreqOf(posenc).map((w) => 5 * w),
        [5, 0.5, 0.05, 0.005],
        1e-15,
      ),
  },
  {
    says: "(10, 8)\n",
    check(posenc) {
      const table = posenc.sinusoidalTable({ seqLen: 10, dModel: 8 });
      same(rowOf(table, 9, 8), rowAt(posenc, 9), 1e-7);
      assert.equal(table.length, 10 * 8);
    },
  },
  printedRow(0, " 0.000  1.000  0.000  1.000  0.000  1.000  0.000  1.000"),
  printedRow(1, " 0.841  0.540  0.100  0.995  0.010  1.000  0.001  1.000"),
  printedRow(5, "-0.959  0.284  0.479  0.878  0.050  0.999  0.005  1.000"),
  {
    says: "Position 0 is always 0, 1, 0, 1: every hand points the same way.",
    check(posenc) {
      for (const width of [4, 8, 512]) {
        const row = posenc.sinusoidalRows(Float64Array.of(0), { dModel: width });
        same(
          row,
          range(width).map((c) => c % 2),
        );
      }
    },
  },
  {
    says: "At position 1 pair 0 has moved by a radian and the last pair by a thousandth of one.",
    check: (posenc) => same([invFreqOf(posenc)[0], invFreqOf(posenc)[3]], [1, 1 / 1000]),
  },
  {
    says: "At position 5 pair 0 has passed three quarters of a turn, which is why its sine is negative and its cosine small and positive.",
    check(posenc) {
      const turns = 5 / (2 * Math.PI);
      above(turns, 3 / 4);
      below(turns, 1);
      const [sine, cosine] = rowAt(posenc, 5);
      below(sine, 0);
      above(cosine, 0);
      below(cosine, 0.3);
    },
  },
  {
    says: "easy to catch. Five radians is {{angle5_degrees}} degrees",
    check(posenc) {
      const [sine, cosine] = rowAt(posenc, 5);
      const degrees = (Math.atan2(sine, cosine) * 180) / Math.PI + 360;
      prints("286.5", degrees);
    },
  },
  {
    says: ", in the fourth quadrant: sine negative, cosine positive",
    check: () => assert.equal(Math.floor(5 / (Math.PI / 2)) + 1, 4),
  },
  {
    says: String.raw`And each pair must satisfy $\sin^2 + \cos^2 = 1$. For pair 0 at position 5 the squares are`,
    check(posenc) {
      const squares = rowAt(posenc, 5).map((value) => value ** 2);
      same(
        range(4).map((i) => squares[2 * i] + squares[2 * i + 1]),
        [1, 1, 1, 1],
      );
      printsAll(["0.920", "0.080"], squares.slice(0, 2));
    },
  },
  {
    says: "The original says: position 5 is 0.959, −0.279, 0.479, 0.877, 0.050, 0.999, 0.005, 1.000.",
    cites: "the original",
  },
  {
    says: "Its pair 0 has both signs wrong and the cosine wrong in size too, and the cosine of its pair 1 rounds up, not down.",
    check(posenc) {
      const row = rowAt(posenc, 5);
      below(row[0] * 0.959, 0);
      below(row[1] * -0.279, 0);
      prints("0.284", row[1]);
      prints("0.878", row[3]);
      above(row[3], 0.8775);
    },
  },
  {
    says: "With d_model 8 each hand is 10 times slower than the one before. At d_model 512 the factor is",
    check(posenc) {
      const invFreq = invFreqOf(posenc);
      same(
        invFreq.slice(1).map((w, i) => invFreq[i] / w),
        [10, 10, 10],
      );
      const wide = posenc.sinusoidalInvFreq({ dModel: 512 });
      prints("1.037", wide[0] / wide[1]);
    },
  },

  {
    says: "Position 5, pair 0: the angle is 5 radians. Which signs do its sine and cosine have?",
    check: (posenc) => assert.equal(5 * invFreqOf(posenc)[0], 5),
  },
  {
    says: "Five looks like a small angle. It is one in degrees; in radians it is more than three quarters of a turn.",
    check() {
      above(5 / (2 * Math.PI), 3 / 4);
      below(5 / 360, 0.02);
    },
  },
  {
    says: "Five radians is {{angle5_degrees}} degrees, in the fourth quadrant.\n",
    check() {
      prints("286.5", (5 * 180) / Math.PI);
      assert.equal(Math.floor(5 / (Math.PI / 2)) + 1, 4);
    },
  },
  {
    says: "That is the second quadrant, from 1.57 to 3.14 radians. Five is well past it.",
    check() {
      prints("1.57", Math.PI / 2);
      prints("3.14", Math.PI);
      above(Math.sin(2), 0);
      below(Math.cos(2), 0);
    },
  },
];
