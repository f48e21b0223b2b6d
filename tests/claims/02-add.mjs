import assert from "node:assert/strict";
import {
  above,
  below,
  differs,
  largestDifference,
  mean,
  norm,
  prints,
  randomLayer,
  range,
  rowOf,
  same,
  times,
  wavelength,
} from "./measure.mjs";

const dModel = 512;
const rowAt = (posenc, p, width = dModel) => posenc.sinusoidalRows(Float64Array.of(p), { dModel: width });
/** Mean norm of 200 token vectors of a table drawn with deviation sigma. */
const tokenNorm = (posenc, sigma) => {
  const table = posenc.randomNormal(200 * dModel, 1, sigma);
  return mean(Array.from(range(200), (i) => norm(rowOf(table, i, dModel))));
};

export default [
  {
    says: String.raw`x_{\pos{p}} = \sqrt{d_{\text{model}}}\; e_{t} + \operatorname{PE}(\pos{p})`,
    check(posenc) {
      const shape = { batch: 1, seqLen: 3, vocabSize: 4, dModel: 16, positionRows: 3 };
      const tokens = Float32Array.from(posenc.randomNormal(4 * 16, 1));
      const rows = posenc.sinusoidalTable({ seqLen: 3, dModel: 16 });
      const ids = [2, 0, 2];
      const expected = rows.map(
        (pe, at) => Math.sqrt(16) * tokens[ids[Math.floor(at / 16)] * 16 + (at % 16)] + pe,
      );
      same(posenc.embed(Int32Array.from(ids), tokens, rows, shape), expected, 1e-6);
    },
  },
  {
    says: "so position reaches queries, keys and values alike",
    check(posenc) {
      // The same token at 0 and at 1: whatever is projected from it differs.
      const projection = posenc.randomNormal(16 * 16, 2);
      const [here, there] = [0, 1].map((p) => times(rowAt(posenc, p, 16), projection, 16));
      differs(here, there);
    },
  },
  {
    says: "A projection of the concatenated vector splits in two, $[e, p]\\,[A; B] = eA + pB$. Addition is the case $A = B$.",
    check(posenc) {
      const [e, p] = [posenc.randomNormal(8, 1), posenc.randomNormal(8, 2)];
      const [a, b] = [posenc.randomNormal(8 * 5, 3), posenc.randomNormal(8 * 5, 4)];
      const plus = (x, y) => x.map((value, i) => value + y[i]);
      const joined = (top, bottom) =>
        times(Float64Array.of(...e, ...p), Float64Array.of(...top, ...bottom), 16);
      same(joined(a, b), plus(times(e, a, 8), times(p, b, 8)));
      same(joined(a, a), times(plus(e, p), a, 8));
    },
  },
  {
    says: "What concatenation buys is a second weight matrix; what it costs is width. If the position vector is as wide as the token vector and the projections stay square, every projection has four times the parameters.",
    check: () => assert.equal((2 * dModel) ** 2 / dModel ** 2, 4),
  },
  { says: "At d_model 512, $W_Q$, $W_K$ and $W_V$", defines: "the width for which parameters are counted" },
  { says: "### Two norms that must be comparable", defines: "the token's and the position's" },
  {
    says: "a token table drawn with standard deviation 0.02 and d_model 512. A token vector then has norm",
    check: (posenc) => prints("0.45", tokenNorm(posenc, 0.02)),
  },
  {
    says: "always: each of its 256 pairs contributes $\\sin^2 + \\cos^2 = 1$. Unscaled, the token would be a whisper",
    check(posenc) {
      for (const p of [0, 1, 5, 4999, 123_456]) {
        const row = rowAt(posenc, p);
        const pairs = Array.from(range(256), (i) => row[2 * i] ** 2 + row[2 * i + 1] ** 2);
        assert.equal(row.length, 2 * pairs.length);
        same(
          pairs,
          pairs.map(() => 1),
        );
        prints("16", norm(row));
      }
      below(tokenNorm(posenc, 0.02), 16 / 30);
    },
  },
  {
    says: String.raw`Multiplied by $\sqrt{512}$ its norm is`,
    check: (posenc) => prints("10.2", Math.sqrt(512) * tokenNorm(posenc, 0.02)),
  },
  {
    says: "The position is still the louder of the two; with this initialisation they are equal at d_model",
    check(posenc) {
      below(Math.sqrt(512) * tokenNorm(posenc, 0.02), norm(rowAt(posenc, 5)));
      // 0.02 √d · √d against √(d/2)
      prints("25.00", norm(rowAt(posenc, 5, 1250)));
      prints("25.00", 0.02 * 1250);
    },
  },
  { says: "which of the two vectors the sum follows", defines: "token and position" },
  {
    says: "The squares show what concatenating would cost",
    check: () => assert.equal((2 * dModel) ** 2 / dModel ** 2, 4),
  },
  {
    says: "state the factor without giving a reason",
    cites: "Vaswani et al. 2017, section 3.4",
  },
  {
    says: String.raw`with standard deviation $1/\sqrt{d_{\text{model}}}$ instead of 0.02 the scaled norm is`,
    check: (posenc) => prints("22.6", Math.sqrt(512) * tokenNorm(posenc, 1 / Math.sqrt(512))),
  },
  {
    says: "and the token is the louder.",
    check: (posenc) => above(Math.sqrt(512) * tokenNorm(posenc, 1 / Math.sqrt(512)), norm(rowAt(posenc, 5))),
  },
  {
    says: "those columns swing by a full turn within a few positions, while the slow ones hardly move",
    check(posenc) {
      const invFreq = posenc.sinusoidalInvFreq({ dModel });
      below(wavelength(invFreq[0]), 7);
      below(invFreq.at(-1) * 10, 0.002); // radians in ten positions
    },
  },
  {
    says: "Two independent random vectors of width 512 have a cosine of about",
    check(posenc) {
      const x = posenc.randomNormal(400 * dModel, 3);
      const norms = range(400).map((i) => norm(rowOf(x, i, dModel)));
      const unit = x.map((value, at) => value / norms[Math.floor(at / dModel)]);
      const others = posenc.similarity(unit, 400, dModel).filter((_, at) => at % 401 !== 0);
      prints("0.04", Math.sqrt(mean(others.map((cosine) => cosine ** 2))));
    },
  },
  {
    says: "Position now also rides in the values",
    check(posenc) {
      // With W_Q = W_K = 0 all weights are equal, and only the values can carry what was added.
      const shape = { seqLen: 4, dModel: 16 };
      const none = new Float64Array(256);
      const layer = { ...randomLayer(posenc, shape), wQ: none, wK: none };
      const x = posenc.randomNormal(64, 1);
      const run = (encoding) => posenc.selfAttention(x, layer, { ...shape, encoding }).output;
      above(largestDifference(run("sinusoidal"), run("none")), 1e-3);
      same(run("rope"), run("none"));
    },
  },

  {
    says: "A token table with standard deviation 0.02, d_model 512, the factor $\\sqrt{512}$ applied. Which vector is longer?",
    check: (posenc) => below(Math.sqrt(512) * tokenNorm(posenc, 0.02), norm(rowAt(posenc, 5))),
  },
  { says: "A factor of 22.6 sounds like more than enough.", check: () => prints("22.6", Math.sqrt(512)) },
  {
    says: "It holds only for an initialisation that fits, with 0.02 at d_model",
    check: () => assert.equal(0.02 * 1250, Math.sqrt(1250 / 2)),
  },
];
