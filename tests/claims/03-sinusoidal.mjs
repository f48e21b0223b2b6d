import assert from "node:assert/strict";
import {
  above,
  below,
  dot,
  largestDifference,
  measured,
  norm,
  prints,
  range,
  rowOf,
  same,
  wavelength,
} from "./measure.mjs";

const [seqLen, dModel] = [100, 128];
const heatmap = (posenc) => posenc.sinusoidalRows(range(seqLen), { dModel });
const invFreqOf = (posenc) => posenc.sinusoidalInvFreq({ dModel });

export default [
  {
    says: "the number 5000 would drown the token",
    check: (posenc) => above(5000, 100 * Math.sqrt(512) * norm(posenc.randomNormal(512, 1, 0.02))),
  },
  {
    says: String.raw`\operatorname{PE}(\pos{p}, 2\dims{i}) = \sin(\pos{p}\,\omega_{\dims{i}}), \qquad \operatorname{PE}(\pos{p}, 2\dims{i}+1) = \cos(\pos{p}\,\omega_{\dims{i}}), \qquad \omega_{\dims{i}} = 10000^{-2\dims{i}/d_{\text{model}}}`,
    check(posenc) {
      const expected = range(dModel * 7).map((at) => {
        const [p, column] = [Math.floor(at / dModel), at % dModel];
        const angle = p * 10000 ** ((-2 * Math.floor(column / 2)) / dModel);
        return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
      });
      same(posenc.sinusoidalRows(range(7), { dModel }), expected, 1e-13);
    },
  },
  {
    says: String.raw`Position $\pos{p}$ runs from 0, pair $\dims{i}$ from 0 to $d_{\text{model}}/2 - 1$. The two columns of a pair share one frequency`,
    check(posenc) {
      assert.equal(invFreqOf(posenc).length - 1, dModel / 2 - 1);
      same(rowOf(posenc.sinusoidalTable({ seqLen: 2, dModel: 4 }), 0, 4), [0, 1, 0, 1]);
      const [sine, cosine] = posenc.sinusoidalRows(Float64Array.of(1), { dModel }).slice(20, 22);
      same([sine, cosine], [Math.sin(invFreqOf(posenc)[10]), Math.cos(invFreqOf(posenc)[10])]);
    },
  },
  {
    says: String.raw`Its wavelength is $2\pi/\omega_{\dims{i}}$ positions.`,
    check(posenc) {
      invFreqOf(posenc).forEach((w, i) => {
        const rows = posenc.sinusoidalRows(Float64Array.of(3, 3 + (2 * Math.PI) / w), { dModel });
        const [here, later] = [0, 1].map((p) => rows.slice(p * dModel + 2 * i, p * dModel + 2 * i + 2));
        same(here, later);
      });
    },
  },
  {
    says: "Frequencies fall geometrically: pair 0 is the fastest.",
    check(posenc) {
      const invFreq = invFreqOf(posenc);
      const ratios = invFreq.slice(1).map((w, i) => w / invFreq[i]);
      same(
        ratios,
        ratios.map(() => ratios[0]),
      );
      assert.equal(Math.max(...invFreq), invFreq[0]);
    },
  },
  {
    says: "(100, 128) True True",
    check(posenc) {
      const table = heatmap(posenc);
      assert.equal(table.length, 100 * 128);
      assert.ok(table.every((value) => value >= -1 && value <= 1));
    },
  },
  {
    says: "They are stripes that hardly change over 100 positions",
    check(posenc) {
      const table = heatmap(posenc);
      const [first, last] = [0, seqLen - 1].map((p) => rowOf(table, p, dModel).slice(-8));
      below(largestDifference(first, last), 0.05);
    },
  },
  {
    says: "They flicker fastest, since the exponent grows with $\\dims{i}$",
    check: (posenc) => below(invFreqOf(posenc).at(-1), invFreqOf(posenc)[0]), // a wrong answer: they are slowest
  },
  {
    says: "positions for a turn, so 100 of them show almost none of it",
    check: (posenc) => below(100 / wavelength(invFreqOf(posenc).at(-1)), 0.002),
  },
  {
    says: "Sine and cosine of one pair are shifted copies of each other. Two different pairs differ in speed.",
    check(posenc) {
      const invFreq = invFreqOf(posenc);
      const quarter = wavelength(invFreq[7]) / 4;
      const rows = posenc.sinusoidalRows(Float64Array.of(10, 10 + quarter), { dModel });
      prints(rows[15].toFixed(10), rows[dModel + 14]);
      assert.equal(new Set(invFreq).size, dModel / 2);
    },
  },
  {
    says: "Of the 128 columns of the table, {{still_columns_d128}} stay within 0.05 of their starting value over all 100 positions.",
    check(posenc) {
      const table = heatmap(posenc);
      const still = range(dModel).filter((column) =>
        range(seqLen).every((p) => Math.abs(table[p * dModel + column] - table[column]) < 0.05),
      );
      assert.equal(still.length, 35);
    },
  },
  {
    says: "Neighbouring positions therefore differ in the low dimensions and agree in the high ones.",
    check(posenc) {
      const rows = posenc.sinusoidalRows(range(2, 50), { dModel });
      const steps = range(dModel).map((column) => Math.abs(rows[dModel + column] - rows[column]));
      above(Math.max(...steps.slice(0, 2)), 0.5);
      below(Math.max(...steps.slice(-32)), 0.01);
    },
  },
  {
    says: String.raw`$\sin(\pi - a) = \sin a$`,
    check: () => same([Math.sin(Math.PI - 0.7)], [Math.sin(0.7)]),
  },
  {
    says: "the pair is a point on a circle and the angle is unambiguous",
    check(posenc) {
      const [sine, cosine] = posenc.sinusoidalRows(Float64Array.of(3), { dModel });
      same([Math.atan2(sine, cosine)], [3]);
      above(Math.abs(Math.asin(sine) - 3), 1);
    },
  },
  {
    says: "And it makes every row the same length.",
    check(posenc) {
      const table = heatmap(posenc);
      for (const p of range(seqLen))
        same([dot(rowOf(table, p, dModel), rowOf(table, p, dModel))], [dModel / 2]);
    },
  },
  {
    says: "### A million positions",
    check(posenc) {
      const map = posenc.tileMap({ map: "sinusoidal", seqLen: 2 ** 20, dims: dModel });
      const [first, last] = [0, 1e6 - 1].map((x0) =>
        map.values({ x0, y0: 0, cellsX: 1, cellsY: 1, width: 1, height: dModel }),
      );
      same(first, posenc.sinusoidalRows(Float64Array.of(0), { dModel }), 2 ** -24);
      same(last, posenc.sinusoidalRows(Float64Array.of(1e6 - 1), { dModel }), 2 ** -24);
    },
  },
  {
    says: "The mean of a wave over whole turns is nothing, so the fast rows turn grey, one pair after the other",
    check(posenc) {
      const map = posenc.tileMap({ map: "sinusoidal", seqLen: 2 ** 20, dims: dModel });
      let grey = 0;
      for (const cellsX of [1, 16, 256, 4096]) {
        const means = map.values({ x0: 0, y0: 0, cellsX, cellsY: 1, width: 64, height: dModel });
        const heights = range(dModel).map((row) =>
          means.subarray(64 * row, 64 * (row + 1)).reduce((most, mean) => Math.max(most, Math.abs(mean)), 0),
        );
        const now = heights.findIndex((height) => height > 0.5);
        assert.ok(now > grey || cellsX === 1, `${now} grey rows, then ${grey}`);
        assert.ok(heights.slice(0, now).every((height) => height <= 0.5));
        grey = now;
      }
    },
  },
  {
    says: "slow waves appear in the grey rows. They are not in the table.",
    check(posenc) {
      const [step, rows] = [64, 1024];
      const sampled = posenc.sinusoidalTable({ seqLen: rows, dModel, positionStep: step });
      const turns = step / wavelength(invFreqOf(posenc)[2]);
      const seeming = step / Math.abs(turns - Math.round(turns));
      above(seeming, 2 * step);
      for (let i = 0; i < rows; i++) {
        const sign = Math.sign(turns - Math.round(turns));
        assert.ok(
          Math.abs(sampled[i * dModel + 4] - Math.sin((sign * 2 * Math.PI * i * step) / seeming)) < 1e-5,
        );
      }
    },
  },
  {
    says: "The formula has a value for every position.",
    check(posenc) {
      const rows = posenc.sinusoidalRows(Float64Array.of(0, 1e6, 1e12), { dModel });
      assert.ok(rows.every(Number.isFinite));
    },
  },
  {
    says: "accuracy falls at twice the length already",
    check() {
      for (const task of ["whichSide", "echo", "induction"])
        below(measured(task, "sinusoidal", 2), measured(task, "sinusoidal") - 20);
    },
  },
  {
    says: 'sinusoidal encoding has "infinite", "good" and "poor" extrapolation, in three places',
    cites: "the original",
  },
  {
    says: "True: it is defined everywhere, and trained models degrade beyond their length",
    check() {
      for (const task of ["whichSide", "echo", "induction"]) {
        const accuracy = [1, 2, 4, 8].map((multiple) => measured(task, "sinusoidal", multiple));
        assert.deepEqual(
          accuracy,
          accuracy.toSorted((a, b) => b - a),
        );
      }
    },
  },
];
