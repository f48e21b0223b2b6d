import assert from "node:assert/strict";
import {
  above,
  below,
  dot,
  ENCODINGS,
  largestDifference,
  logitsHereAndThere,
  logitsLeftAndRight,
  measured,
  randomLayer,
  range,
  rowOf,
  same,
  shuffled,
  study,
  times,
} from "./measure.mjs";

const shape = { seqLen: 6, dModel: 8 };
const x = (posenc) => posenc.randomNormal(48, 1);
const logits = (posenc, encoding) =>
  posenc.selfAttention(x(posenc), randomLayer(posenc, shape), { ...shape, encoding }).logits;

/** `score(q_m, k_n, m, n)` over all pairs, with q and k of the given layer input. */
function map(posenc, score, input = x(posenc)) {
  const { wQ, wK } = randomLayer(posenc, shape);
  const [q, k] = [wQ, wK].map((w) => times(input, w, 8));
  return Float64Array.from(range(36), (at) => {
    const [m, n] = [Math.floor(at / 6), at % 6];
    return score(rowOf(q, m, 8), rowOf(k, n, 8), m, n);
  });
}
const scaled = (q, k) => dot(q, k) / Math.sqrt(8);
const plus = (a, b) => a.map((value, i) => value + b[i]);

const shiftChanges = (posenc, encoding) => largestDifference(...logitsHereAndThere(posenc, encoding));
const unmoved = ["none", "rope", "alibi", "t5"];
const moved = ["sinusoidal", "learned"];
const keepsUnderShift = (posenc) => {
  for (const encoding of unmoved) below(shiftChanges(posenc, encoding), 1e-9);
  for (const encoding of moved) above(shiftChanges(posenc, encoding), 1e-3);
};

export default [
  {
    says: "Five encodings, and none at all.",
    check(posenc) {
      assert.equal(ENCODINGS.length, 5);
      for (const encoding of ENCODINGS) above(shuffled(posenc, { encoding }).equivariance, 1e-3);
      below(shuffled(posenc, { encoding: "none" }).equivariance, 1e-9);
    },
  },
  {
    says: String.raw`| None | $\q{q}_{\pos{m}} \cdot \k{k}_{\pos{n}} / \sqrt{d_k}$ |`,
    check: (posenc) => same(logits(posenc, "none"), map(posenc, scaled)),
  },
  {
    says: String.raw`| Sinusoidal | the same, with $x_{\pos{p}} = \sqrt{d_{\text{model}}}\, e_t + \operatorname{PE}(\pos{p})$ |`,
    check(posenc) {
      // The layer takes √d_model e_t and adds the rows.
      const rows = posenc.sinusoidalRows(range(6), { dModel: 8 });
      same(logits(posenc, "sinusoidal"), map(posenc, scaled, plus(x(posenc), rows)));
    },
  },
  {
    says: String.raw`| Learned | the same, with $x_{\pos{p}} = e_t + E_{\pos{p}}$ |`,
    check(posenc) {
      const { positions } = randomLayer(posenc, shape);
      same(logits(posenc, "learned"), map(posenc, scaled, plus(x(posenc), positions)));
    },
  },
  {
    says: String.raw`| RoPE | $\q{q}^{\top} R(\pos{n}-\pos{m})\, \k{k} / \sqrt{d_k}$ |`,
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 8 });
      const score = (q, k, m, n) => posenc.ropeScoreByOffset(Float64Array.of(n - m), q, k, invFreq)[0];
      same(
        logits(posenc, "rope"),
        map(posenc, (...all) => score(...all) / Math.sqrt(8)),
      );
    },
  },
  {
    says: String.raw`| ALiBi | $\q{q}_{\pos{m}} \cdot \k{k}_{\pos{n}} / \sqrt{d_k} - \text{slope}_h\, \lvert\pos{n}-\pos{m}\rvert$ |`,
    check(posenc) {
      const [slope] = posenc.alibiSlopes({ numHeads: 1 });
      same(
        logits(posenc, "alibi"),
        map(posenc, (q, k, m, n) => scaled(q, k) - slope * Math.abs(n - m)),
      );
    },
  },
  {
    says: String.raw`| T5 | $\q{q}_{\pos{m}} \cdot \k{k}_{\pos{n}} + B_h[\operatorname{bucket}(\pos{n}-\pos{m})]$ |`,
    check(posenc) {
      const { t5Table } = randomLayer(posenc, shape);
      const bias = (m, n) => t5Table[posenc.t5Buckets(Int32Array.of(n - m))[0]];
      same(
        logits(posenc, "t5"),
        map(posenc, (q, k, m, n) => dot(q, k) + bias(m, n)),
      );
    },
  },
  {
    says: "The first test moves the whole sequence 100 positions to the right and asks whether the logits stay.",
    check: keepsUnderShift,
  },
  {
    says: "Parameters are for max_len 512, d_model 768 and 12 heads.",
    check() {
      assert.equal(512 * 768, 393_216);
      assert.equal(32 * 12, 384);
    },
  },
  {
    says: "The whole sequence moves 100 positions to the right. Under which of the six do the logits stay?",
    check(posenc) {
      assert.equal(unmoved.length + moved.length, 6);
      keepsUnderShift(posenc);
    },
  },
  {
    says: "- [x] RoPE, ALiBi, T5, and no encoding at all",
    check: keepsUnderShift,
  },
  {
    says: "The first three see offsets only. Without an encoding the logits cannot see positions, so nothing shifts.",
    check: keepsUnderShift,
  },
  {
    says: "- [ ] All but the learned rows: a shift of sinusoids is a rotation",
    check: (posenc) => above(shiftChanges(posenc, "sinusoidal"), 1e-3), // a wrong answer
  },
  {
    says: 'Shift invariance is what "relative" means, and the two added encodings lack it.',
    check(posenc) {
      assert.equal(moved.length, 2);
      keepsUnderShift(posenc);
    },
  },
  {
    says: "In the last column symmetric ALiBi stands beside no encoding at all.",
    check(posenc) {
      for (const encoding of ["none", "alibi"]) same(...logitsLeftAndRight(posenc, encoding));
      for (const encoding of ["sinusoidal", "learned", "rope", "t5"])
        above(largestDifference(...logitsLeftAndRight(posenc, encoding)), 1e-3);
    },
  },
  {
    says: "| Sinusoidal | defined, degrades | original transformer |",
    check(posenc) {
      const far = posenc.sinusoidalRows(Float64Array.of(1e9), { dModel: 8 });
      assert.ok(far.every(Number.isFinite));
      below(measured("whichSide", "sinusoidal", 8), measured("whichSide", "sinusoidal"));
    },
  },
  {
    says: "| Learned | no row exists | BERT, GPT-2 |",
    check(posenc) {
      const table = new Float64Array(512);
      assert.throws(() => posenc.lookupRows(table, Int32Array.of(512), 512, 1), RangeError);
    },
  },
  {
    says: "| RoPE | defined, degrades; extended by scaling and fine-tuning | Llama, Mistral, Qwen, Falcon-7B and 40B |",
    cites: "their model configs; Almazrouei et al. 2023",
  },
  {
    says: "| ALiBi | perplexity holds in the paper; distant tokens get little weight | MPT, BLOOM, falcon-rw |",
    cites: "Press et al. 2021; their model configs",
  },
  {
    says: "| T5 | all far keys on one side share a bucket | T5, mT5 |",
    check(posenc) {
      const far = posenc.t5Buckets(Int32Array.of(-128, -1000, -1e6), { bidirectional: false });
      assert.equal(new Set(far).size, 1);
    },
  },
  {
    says: "The added encodings cost one addition, once.",
    check(posenc) {
      // In the first of two layers only: with the rows added to the input, none are missing later.
      const deep = { ...shape, numLayers: 2 };
      const layer = randomLayer(posenc, deep);
      const rows = posenc.sinusoidalRows(range(6), { dModel: 8 });
      const run = (input, encoding) => posenc.selfAttention(input, layer, { ...deep, encoding }).output;
      same(run(x(posenc), "sinusoidal"), run(plus(x(posenc), rows), "none"));
    },
  },
  {
    says: "RoPE leaves the logits a plain product of two vectors",
    check(posenc) {
      const { cos, sin } = posenc.ropeCosSin(range(6), posenc.ropeInvFreq({ headDim: 8 }).invFreq);
      const { wQ, wK } = randomLayer(posenc, shape);
      const [q, k] = [wQ, wK].map((w) =>
        posenc.ropeApply(times(x(posenc), w, 8), cos, sin, { seqLen: 6, headDim: 8 }),
      );
      const product = posenc.attention(q, k, k, { seqLen: 6, headDim: 8 });
      same(product.logits, logits(posenc, "rope"));
    },
  },
  {
    says: "interpolation is the best remedy for RoPE in one task and close to chance in another",
    check() {
      for (const other of ["RoPE", "RoPE + NTK"])
        above(measured("whichSide", "RoPE + PI", 8), measured("whichSide", other, 8));
      for (const multiple of [2, 4, 8])
        below(measured("echo", "RoPE + PI", multiple), study.echo.chance + 1.5);
    },
  },
  {
    says: "The largest here, for learned rows, is",
    check: () => above(512 * 768, 32 * 12),
  },

  {
    says: "The figure lays the six maps of one head side by side",
    check: () => assert.equal(unmoved.length + moved.length, 6),
  },
  {
    says: "Look at the two rows of the repeated word: without positions they are equal.",
    check(posenc) {
      const input = x(posenc);
      input.set(input.slice(0, 8), 4 * 8); // the first word once more
      const { weights } = posenc.selfAttention(input, randomLayer(posenc, shape), shape);
      same(rowOf(weights, 0, 6), rowOf(weights, 4, 6));
    },
  },
];
