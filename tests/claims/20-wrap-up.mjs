import assert from "node:assert/strict";
import {
  above,
  below,
  differs,
  dot,
  identity,
  largestDifference,
  logitsHereAndThere,
  measured,
  norm,
  prints,
  ROUNDING,
  randomLayer,
  range,
  rowOf,
  same,
  shuffled,
  times,
  transpose,
  wavelength,
} from "./measure.mjs";

const hands = (posenc) => posenc.sinusoidalInvFreq({ dModel: 512 });
const rows = (posenc, count, dModel, layout = "interleaved") =>
  posenc.sinusoidalRows(range(count), { dModel, layout });
/** One query and one key of 8 components at positions m and n. */
function ropeScore(posenc, m, n, [q, k] = [1, 2].map((seed) => posenc.randomNormal(8, seed))) {
  const [a, b] = [
    [q, m],
    [k, n],
  ].map(([x, p]) => {
    const { cos, sin } = posenc.ropeCosSin(Float64Array.of(p), posenc.ropeInvFreq({ headDim: 8 }).invFreq);
    return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim: 8 });
  });
  return dot(a, b);
}
const layerRun = (posenc, encoding, change = {}) => {
  const shape = { seqLen: 5, dModel: 8 };
  const layer = { ...randomLayer(posenc, shape), ...change };
  return posenc.selfAttention(posenc.randomNormal(40, 1), layer, { ...shape, encoding });
};
const long = { headDim: 128, factor: 8, originalMaxPositionEmbeddings: 4096 };
const slower = (posenc, ropeType) => {
  const plain = posenc.ropeInvFreq({ headDim: 128 }).invFreq;
  return posenc.ropeInvFreq({ ...long, ropeType }, 8 * 4096).invFreq.map((w, i) => plain[i] / w);
};

const misconceptions = [
  {
    says: "| Low dimensions are slow. | Pair 0 is the fastest; wavelengths grow with the index.",
    check(posenc) {
      assert.equal(hands(posenc)[0], Math.max(...hands(posenc)));
      const waves = hands(posenc).map(wavelength);
      assert.deepEqual(waves, waves.toSorted());
    },
  },
  {
    says: "| Adding a position does not change attention. | It changes $\\q{q}$, $\\k{k}$ and $v$, and gives each logit four terms.",
    check(posenc) {
      const zero = new Float64Array(64);
      const change = (off) =>
        largestDifference(layerRun(posenc, "sinusoidal", off).output, layerRun(posenc, "none", off).output);
      above(change({ wQ: zero, wK: zero }), 1e-3); // through v alone
      const logits = (encoding) => layerRun(posenc, encoding).logits;
      differs(logits("sinusoidal"), logits("none"));
      const shape = { seqLen: 5, dModel: 8, headDim: 8 };
      const { wQ, wK } = randomLayer(posenc, shape);
      const scale = 1 / Math.sqrt(8);
      const terms = posenc.crossTerms(posenc.randomNormal(40, 1), rows(posenc, 5, 8), wQ, wK, {
        ...shape,
        scale,
      });
      assert.equal(terms.length, 4 * 25);
      const sum = range(25).map((at) => range(4).reduce((total, term) => total + terms[25 * term + at], 0));
      same(sum, logits("sinusoidal"));
    },
  },
  {
    says: "A one-hot row times a weight matrix is a learned table: no row for a new position, and every two positions equally far apart before training.",
    check(posenc) {
      const table = posenc.randomNormal(6 * 4, 1);
      same(times(identity(6), table, 6), table);
      assert.throws(() => posenc.lookupRows(table, Int32Array.of(6), 6, 4), RangeError);
      const one = Array.from(range(6), (p) => rowOf(identity(6), p, 6));
      const apart = one.flatMap((a, i) =>
        one.slice(i + 1).map((b) => norm(a.map((value, c) => value - b[c]))),
      );
      assert.equal(new Set(apart).size, 1);
    },
  },
  {
    says: "| sin uses $2i$ and cos $2i+1$ in the exponent. | The pair shares one frequency; otherwise a shift is no rotation.",
    check(posenc) {
      const row = posenc.sinusoidalRows(Float64Array.of(1), { dModel: 16 });
      for (let i = 0; i < 8; ++i) same([Math.atan2(row[2 * i], row[2 * i + 1])], [10000 ** ((-2 * i) / 16)]);
      // With a frequency of its own for each column the pair changes its length, which no rotation does.
      const apart = (p) => Math.hypot(Math.sin(p), Math.cos(p * 10000 ** (-1 / 16)));
      above(Math.abs(apart(1) - apart(2)), 0.1);
    },
  },
  {
    says: "It is a permutation of the columns, which the next weight matrix absorbs. Some libraries also divide the exponent by half − 1, which changes the frequencies slightly.",
    check(posenc) {
      const [interleaved, halves] = ["interleaved", "halves"].map((layout) => rows(posenc, 9, 16, layout));
      const from = (c) => (c < 8 ? 2 * c : 2 * (c - 8) + 1);
      same(
        halves,
        halves.map((_, at) => interleaved[Math.floor(at / 16) * 16 + from(at % 16)]),
      );
      const w = posenc.randomNormal(16 * 3, 1);
      const reordered = Float64Array.from(Array.from(range(16), (c) => [...rowOf(w, from(c), 3)]).flat());
      same(times(halves, reordered, 16), times(interleaved, w, 16));
      const [wide, minusOne] = ["halves", "halves-minus-one"].map((layout) =>
        posenc.sinusoidalInvFreq({ dModel: 512, layout }),
      );
      same(
        minusOne,
        range(256).map((i) => 10000 ** (-i / (256 - 1))),
      );
      const ratios = wide.map((value, i) => value / minusOne[i]);
      above(Math.max(...ratios), 1.01);
      below(Math.max(...ratios), 1.04);
    },
  },
  {
    says: "RoFormer proves an upper bound. For independent $\\q{q}$, $\\k{k}$ of mean zero the mean is 0 at every offset.",
    check(posenc) {
      const draws = 2000;
      const x = posenc.randomNormal(16 * draws, 3);
      const { invFreq } = posenc.ropeInvFreq({ headDim: 8 });
      for (const offset of [0, 3, 50]) {
        const scores = Array.from(range(draws), (i) => {
          const [q, k] = [rowOf(x, 2 * i, 8), rowOf(x, 2 * i + 1, 8)];
          return posenc.ropeScoreByOffset(Float64Array.of(offset), q, k, invFreq)[0];
        });
        const mean = scores.reduce((sum, score) => sum + score, 0) / draws;
        below(Math.abs(mean), 4 * Math.sqrt(8 / draws)); // one score has variance 8
      }
    },
  },
  {
    says: "| RoPE rotates $v$. | Only $\\q{q}$ and $\\k{k}$.",
    check(posenc) {
      const zero = new Float64Array(64);
      const output = (encoding) => layerRun(posenc, encoding, { wQ: zero, wK: zero }).output;
      same(output("rope"), output("none"));
      differs(layerRun(posenc, "rope").logits, layerRun(posenc, "none").logits);
    },
  },
  {
    says: "| ALiBi holds 32 times the length with no loss. | The paper shows 1024 → 2048 matching a model trained at 2048; longer with care.",
    cites: "Press et al. 2021, abstract and section 4",
  },
  {
    says: "A causal decoder needs no positions, so it is order-blind. | It can learn order from the mask. An encoder cannot.",
    check(posenc) {
      above(shuffled(posenc, { causal: true }).equivariance, 1e-3);
      below(shuffled(posenc).equivariance, ROUNDING);
      assert.equal(measured("whichSide", "none + causal mask"), 100);
      below(measured("whichSide", "none"), 52);
    },
  },
];

const errata = [
  {
    says: "| 1 | Position 5, d_model 8: 0.959, −0.279, 0.479, 0.877, … | {{worked_row_5}} |",
    check(posenc) {
      const row = posenc.sinusoidalRows(Float64Array.of(5), { dModel: 8 });
      ["−0.959", "0.284", "0.479", "0.878", "0.050", "0.999", "0.005", "1.000"].forEach((literal, c) => {
        prints(literal, row[c]);
      });
    },
  },
  {
    says: String.raw`| 2 | Score $[i,i]$ is similar for all $i$ with random rows | It is the plain $\q{q}_i\cdot\k{k}_i$; repeat one query and one key |`,
    check(posenc) {
      const pairs = [1, 3, 5].map((seed) => [posenc.randomNormal(8, seed), posenc.randomNormal(8, seed + 1)]);
      const diagonal = pairs.map((pair, i) => ropeScore(posenc, i, i, pair));
      same(
        diagonal,
        pairs.map(([q, k]) => dot(q, k)),
      );
      above(Math.max(...diagonal) - Math.min(...diagonal), 0.5);
      same([ropeScore(posenc, 2, 5)], [ropeScore(posenc, 7, 10)]);
    },
  },
  {
    says: String.raw`| 3 | $\q{q}\k{k}^{\top}$ before RoPE holds absolute distances | It holds no position |`,
    check(posenc) {
      const [before, there] = logitsHereAndThere(posenc, "none");
      same(before, there, Number.MIN_VALUE);
      below(shuffled(posenc).equivariance, ROUNDING);
    },
  },
  {
    says: String.raw`| 4 | RoPE score is $\q{q}\cdot\k{k} + f(\pos{m}-\pos{n})$ | $\q{q}^{\top}R(\pos{n}-\pos{m})\k{k}$: content and offset multiply |`,
    check(posenc) {
      const [q, k] = [posenc.randomNormal(8, 1), posenc.randomNormal(8, 2)];
      const byOffset = (first) =>
        posenc.ropeScoreByOffset(Float64Array.of(-4), first, k, posenc.ropeInvFreq({ headDim: 8 }).invFreq);
      same([ropeScore(posenc, 9, 5)], byOffset(q));
      const change = (first) => byOffset(first)[0] - dot(first, k);
      same([change(q.map((value) => 2 * value))], [2 * change(q)]);
      above(Math.abs(change(q)), 1e-3);
    },
  },
  {
    says: "| 5 | Slowest clock is the $2^{512}$ digit | Slower than the fastest by $2$ to the power",
    check: (posenc) => prints("13.2", Math.log2(hands(posenc)[0] / hands(posenc).at(-1))),
  },
  {
    says: String.raw`| 6 | Fastest clock alternates every position | Its period is $2\pi$ positions |`,
    check: (posenc) => assert.equal(wavelength(hands(posenc)[0]), 2 * Math.PI),
  },
  {
    says: "| 7 | Self-attention is permutation invariant | Equivariant; a pooled output is invariant; a causal mask breaks it |",
    check(posenc) {
      const full = shuffled(posenc);
      below(full.equivariance, ROUNDING);
      below(full.pooled, ROUNDING);
      differs(full.output, full.permuted.output);
      above(shuffled(posenc, { causal: true }).equivariance, 1e-3);
    },
  },
  {
    says: "| 8 | T5 is sinusoidal | T5 has relative buckets |",
    check(posenc) {
      const t5Table = new Float64Array(32);
      same(
        layerRun(posenc, "t5", { t5Table }).logits,
        layerRun(posenc, "none").logits.map((l) => l * Math.sqrt(8)),
      );
      same(...logitsHereAndThere(posenc, "t5"), 1e-9);
    },
  },
  {
    says: "| 9 | Sinusoidal extrapolation is infinite, good and poor | Defined everywhere; trained models degrade |",
    check(posenc) {
      assert.ok(posenc.sinusoidalRows(Float64Array.of(1e12), { dModel: 512 }).every(Number.isFinite));
      for (const task of ["whichSide", "echo", "induction"])
        below(measured(task, "sinusoidal", 2), measured(task, "sinusoidal") - 20);
    },
  },
  {
    says: "| 10 | LLaMA-2-32K and Code Llama use the NTK formula | Position interpolation; `rope_theta` 1e6 with fine-tuning |",
    check(posenc) {
      // The formula for Code Llama's 4096 → 16 384 gives another base.
      const { invFreq } = posenc.ropeInvFreq({ headDim: 128, ropeType: "ntk", factor: 4 });
      prints("40890", invFreq[1] ** -64);
    },
  },
  {
    says: "| 11 | Dynamic NTK takes LLaMA-2 to 32K and preserves resolution | At factor 8 and 8× length it divides the lowest frequency by {{dynamic_ntk_multiplier_8}}, the static formula by 8 |",
    check(posenc) {
      prints("57", slower(posenc, "dynamic").at(-1));
      prints("8", slower(posenc, "ntk").at(-1));
    },
  },
  {
    says: "| 12 | NTK preserves frequency resolution | Pair $i$ is slowed by $s^{2i/(d-2)}$ |",
    check: (posenc) =>
      same(
        slower(posenc, "ntk"),
        range(64).map((i) => 8 ** ((2 * i) / 126)),
      ),
  },
  {
    says: String.raw`| 13 | $\q{q}\cdot\k{k}$ depends on the offset alone, as $\operatorname{PE}\cdot\operatorname{PE}$ does | $W_Q$ and $W_K$ stand between |`,
    check(posenc) {
      const pe = rows(posenc, 12, 16);
      const [wQ, wK] = [1, 2].map((seed) => posenc.randomNormal(256, seed, 0.25));
      const raw = times(pe, transpose(pe, 16), 16);
      const projected = times(times(pe, wQ, 16), transpose(times(pe, wK, 16), 16), 16);
      same([raw[3]], [raw[7 * 12 + 10]]);
      differs([projected[3]], [projected[7 * 12 + 10]], 0.1);
    },
  },
  {
    says: '| 14 | Falcon has RoPE; "early Falcon" has ALiBi | falcon-rw has ALiBi, Falcon-7B and 40B have RoPE |',
    cites: "Penedo et al. 2023; Almazrouei et al. 2023; their model configs",
  },
];

const takeaways = [
  {
    says: "Without positions an encoder cannot tell two orders of the same tokens apart. A causal mask breaks the tie.",
    check(posenc) {
      below(shuffled(posenc).pooled, ROUNDING);
      above(shuffled(posenc, { causal: true }).pooled, 1e-3);
    },
  },
  {
    says: "A shift is a rotation, and attention's weight matrices hide it.",
    check(posenc) {
      const pe = rows(posenc, 12, 16);
      for (const p of range(12)) same([norm(rowOf(pe, p, 16))], [Math.sqrt(8)]);
      const w = posenc.randomNormal(256, 1, 0.25);
      const lengths = Array.from(range(12), (p) => norm(rowOf(times(pe, w, 16), p, 16)));
      above(Math.max(...lengths) - Math.min(...lengths), 0.1);
    },
  },
  {
    says: "Learned rows serve well up to the last row, and not beyond it.",
    check(posenc) {
      assert.equal(measured("echo", "learned"), 100);
      assert.throws(() => posenc.lookupRows(new Float64Array(32), Int32Array.of(32), 32, 1), RangeError);
    },
  },
  {
    says: "so of the positions the score sees only the offset. It is defined past the trained length and not trained there; scaling helps",
    check(posenc) {
      same([ropeScore(posenc, 9, 5)], [ropeScore(posenc, 100_009, 100_005)], 1e-9);
      for (const task of ["whichSide", "echo", "induction"])
        above(measured(task, "RoPE + NTK", 8), measured(task, "RoPE", 8));
    },
  },
  {
    says: "ALiBi and T5 add a bias to the logits: ALiBi by distance, T5 by relative position. One is fixed and fades, the other is learned and flat past its last bucket.",
    check(posenc) {
      const bias = posenc.alibiBias(posenc.alibiSlopes({ numHeads: 1 }), 9, true).slice(-9);
      assert.deepEqual(bias, bias.toSorted());
      const buckets = posenc.t5Buckets(Int32Array.of(-128, -5000));
      assert.equal(buckets[0], buckets[1]);
    },
  },
  {
    says: "Form angles in double.",
    check(posenc) {
      // In float32 the angle at 1e6 is off by some hundredths.
      const p = 1e6;
      const errors = hands(posenc).map((w) => Math.abs(Math.fround(p * Math.fround(w)) - p * w));
      above(Math.max(...errors), 0.01);
    },
  },
  {
    says: "Keep cached keys and queries on one base.",
    check(posenc) {
      const [old, later] = [10_000, 40_000].map(
        (ropeTheta) => posenc.ropeInvFreq({ headDim: 8, ropeTheta }).invFreq,
      );
      const [q, k] = [posenc.randomNormal(8, 1), posenc.randomNormal(8, 2)];
      const at = (x, p, invFreq) => {
        const { cos, sin } = posenc.ropeCosSin(Float64Array.of(p), invFreq);
        return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim: 8 });
      };
      const mixed = (m, n) => dot(at(q, m, later), at(k, n, old));
      differs([mixed(107, 103)], [mixed(7, 3)]);
    },
  },
];

export default [...misconceptions, ...errata, ...takeaways];
