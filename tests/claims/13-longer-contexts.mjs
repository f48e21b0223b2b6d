import assert from "node:assert/strict";
import { above, below, differs, measured, prints, range, same, study, wavelength } from "./measure.mjs";

const [headDim, original, factor] = [128, 4096, 8];
const long = factor * original;
const base = { headDim, originalMaxPositionEmbeddings: original, factor };
const plain = (posenc, ropeTheta = 10_000) => posenc.ropeInvFreq({ headDim, ropeTheta }).invFreq;
const scaled = (posenc, ropeType, seqLen = long, more = {}) =>
  posenc.ropeInvFreq({ ...base, ropeType, ...more }, seqLen).invFreq;
/** How many times slower each pair turns. */
const slower = (posenc, ...how) => scaled(posenc, ...how).map((w, i) => plain(posenc)[i] / w);
/** Turns of each pair within the original length. */
const turns = (posenc) => plain(posenc).map((w) => original / wavelength(w));
const ntkTheta = (s, d) => 10_000 * s ** (d / (d - 2));

const lists = (posenc, seqLen) => {
  const shortFactor = range(64).map((i) => 1 + i / 64);
  const longFactor = range(64).map((i) => 1 + i);
  const config = { ...base, ropeType: "longrope", shortFactor, longFactor };
  return { shortFactor, longFactor, ...posenc.ropeInvFreq(config, seqLen) };
};

export default [
  {
    says: "A model trained on 4096 positions is given 32 768.",
    check: () => assert.equal(long, 32_768),
  },
  {
    says: "Not the fast ones: they have gone round hundreds of times.",
    check(posenc) {
      above(turns(posenc)[8], 200); // pairs 0 to 8
    },
  },
  {
    says: "With head_dim 128 and `rope_theta` 10000, {{pairs_below_one_turn}} of the 64 pairs have not finished one turn by position 4096. Past it, their angles are new.",
    check(posenc) {
      assert.equal(turns(posenc).length, 64);
      assert.equal(turns(posenc).filter((n) => n < 1).length, 18);
    },
  },
  {
    says: "Every remedy slows clocks down.",
    check(posenc) {
      for (const type of ["linear", "ntk", "dynamic", "yarn", "llama3"]) {
        assert.ok(
          slower(posenc, type).every((ratio) => ratio > 1 - 1e-12),
          type,
        );
        above(slower(posenc, type).at(-1), 7);
      }
    },
  },
  {
    says: "No angle leaves the trained range, but neighbours are $s$ times closer together.",
    check(posenc) {
      const linear = scaled(posenc, "linear");
      same(
        linear.map((w) => w * long),
        plain(posenc).map((w) => w * original),
      );
      same(
        linear.map((w) => w * factor),
        plain(posenc),
      );
    },
  },
  {
    says: String.raw`raise the base to $\text{rope\_theta} \cdot s^{d/(d-2)}$`,
    check: (posenc) => same(scaled(posenc, "ntk"), plain(posenc, ntkTheta(8, 128)), 1e-14),
  },
  {
    says: String.raw`Pair $\dims{i}$ is slowed by $s^{2\dims{i}/(d-2)}$: the fastest not at all, the slowest by $s$.`,
    check(posenc) {
      const ratios = slower(posenc, "ntk");
      same(
        ratios,
        range(64).map((i) => 8 ** ((2 * i) / 126)),
      );
      same([ratios[0], ratios[63]], [1, 8]);
    },
  },
  {
    says: String.raw`the base is raised only past the original length $L$, with $s$ replaced by $\text{factor} \cdot \text{seq\_len}/L - (\text{factor} - 1)$. This is not the formula above.`,
    check(posenc) {
      same(scaled(posenc, "dynamic", original), plain(posenc), 1e-14);
      for (const seqLen of [5000, long]) {
        const s = (factor * seqLen) / original - (factor - 1);
        same(scaled(posenc, "dynamic", seqLen), plain(posenc, ntkTheta(s, headDim)), 1e-14);
      }
      differs(slower(posenc, "dynamic"), slower(posenc, "ntk"));
    },
  },
  {
    says: "fast pairs untouched, slow pairs by $s$, a ramp between, counted in turns within $L$ (`beta_fast` 32, `beta_slow` 1).",
    check(posenc) {
      const ratios = slower(posenc, "yarn");
      same(ratios, slower(posenc, "yarn", long, { betaFast: 32, betaSlow: 1 }));
      turns(posenc).forEach((n, i) => {
        if (n > 32) same([ratios[i]], [1]);
        else if (n < 1) above(ratios[i], 0.9 * factor);
        else assert.ok(ratios[i] >= 1 && ratios[i] <= factor);
      });
      const ramp = ratios.slice(20, 47);
      assert.deepEqual(ramp, ramp.toSorted());
    },
  },
  {
    says: "The ramp's ends are rounded outwards (`truncate` is true by default; the upper end is clamped to $d - 1$).",
    check(posenc) {
      const yarn = { ...base, ropeType: "yarn" };
      const exact = posenc.yarnCorrectionRange({ ...yarn, truncate: false });
      const { low, high } = posenc.yarnCorrectionRange(yarn);
      assert.deepEqual([low, high], [Math.floor(exact.low), Math.ceil(exact.high)]);
      assert.equal(posenc.yarnCorrectionRange({ ...yarn, ropeTheta: 10 }).high, headDim - 1);
    },
  },
  {
    says: "Cosines and sines are multiplied by an `attention_factor`, {{yarn_attention_factor_8}} at factor 8.",
    check(posenc) {
      const { attentionFactor } = posenc.ropeInvFreq({ ...base, ropeType: "yarn" }, long);
      same([attentionFactor], [0.1 * Math.log(8) + 1]);
      prints("1.208", attentionFactor);
    },
  },
  {
    says: "- **Llama 3.1**: the same idea in wavelengths, with `low_freq_factor` and `high_freq_factor`.",
    check(posenc) {
      const ratios = slower(posenc, "llama3");
      turns(posenc).forEach((n, i) => {
        if (n > 4) same([ratios[i]], [1]);
        else if (n < 1) same([ratios[i]], [factor]);
        else assert.ok(ratios[i] > 1 && ratios[i] < factor);
      });
    },
  },
  {
    says: "one divisor per pair, found by search, in two lists. The long list is used only when `seq_len` exceeds the original length; the `attention_factor` applies to both.",
    check(posenc) {
      const [at, past] = [original, original + 1].map((seqLen) => lists(posenc, seqLen));
      same(
        at.invFreq,
        plain(posenc).map((w, i) => w / at.shortFactor[i]),
      );
      same(
        past.invFreq,
        plain(posenc).map((w, i) => w / past.longFactor[i]),
      );
      assert.equal(at.attentionFactor, past.attentionFactor);
      above(at.attentionFactor, 1);
    },
  },
  {
    says: "NTK-aware scaling by 8 at head_dim 128. How many times slower does the middle pair, number 32 of 64, turn?",
    check: (posenc) => assert.equal(plain(posenc).length, 64),
  },
  {
    says: "About 4.5, halfway from 1 to 8",
    check(posenc) {
      assert.equal((1 + 8) / 2, 4.5);
      below(slower(posenc, "ntk")[32], 4); // a wrong answer
    },
  },
  {
    says: "Halfway is right, but on a scale of ratios: the exponent grows evenly, not the divisor.",
    check(posenc) {
      const exponents = slower(posenc, "ntk").map((ratio) => Math.log(ratio) / Math.log(8));
      same(
        exponents.slice(1).map((e, i) => e - exponents[i]),
        range(63).map(() => 1 / 63),
      );
    },
  },
  { says: "About 2.9", check: (posenc) => prints("2.9", slower(posenc, "ntk")[32]) },
  {
    says: "$8^{64/126}$, close to the square root of 8. The slow-down grows by equal ratios from pair to pair.",
    check(posenc) {
      const ratios = slower(posenc, "ntk");
      same([ratios[32]], [8 ** (64 / 126)]);
      below(Math.abs(ratios[32] - Math.sqrt(8)), 0.05);
      const steps = ratios.slice(1).map((ratio, i) => ratio / ratios[i]);
      same(
        steps,
        steps.map(() => steps[0]),
      );
    },
  },
  {
    says: "8, like all others",
    check(posenc) {
      same(
        slower(posenc, "linear"),
        range(64).map(() => 8),
      );
      differs(
        slower(posenc, "ntk"),
        range(64).map(() => 8),
      ); // a wrong answer
    },
  },
  {
    says: "That is linear scaling. Raising the base leaves pair 0 alone and reaches 8 only at the last.",
    check(posenc) {
      const ratios = slower(posenc, "ntk");
      same([ratios[0], ratios[63]], [1, 8]);
      below(ratios[62], 8);
    },
  },
  {
    says: "for head_dim 128, original length 4096 and factor 8, dynamic NTK at length 32 768 (Llama 3.1's factors 1 and 4).",
    check: (posenc) =>
      same(slower(posenc, "llama3"), slower(posenc, "llama3", long, { lowFreqFactor: 1, highFreqFactor: 4 })),
  },
  {
    says: "At that length dynamic NTK slows the last pair by {{dynamic_ntk_multiplier_8}}, which is $s^2 - s + 1$.",
    check: (posenc) => same([slower(posenc, "dynamic").at(-1), 57], [8 ** 2 - 8 + 1, 8 ** 2 - 8 + 1]),
  },
  {
    says: "(4096, 32) (32768, 32) 85550",
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim: 64, ropeType: "ntk", factor: 32_768 / 4096 });
      const sizes = [4096, 32_768].map((seqLen) => posenc.ropeCache(seqLen, invFreq).cos.length);
      assert.deepEqual(sizes, [4096 * 32, 32_768 * 32]);
      prints("85550", invFreq[1] ** (-64 / 2));
    },
  },
  {
    says: "networks learn fast variation in an input poorly if the input encoding lacks fast components",
    cites: "Tancik et al. 2020, Fourier Features Let Networks Learn High Frequency Functions; bloc97 2023",
  },
  {
    says: "Squeezing the fast pairs, as interpolation does, removes them; raising the base keeps them.",
    check(posenc) {
      below(scaled(posenc, "linear")[0], 0.2);
      assert.equal(scaled(posenc, "ntk")[0], 1);
    },
  },
  { says: "Why 10000, and why 500000?", defines: "the two bases" },
  {
    says: "10000 is the choice of the 2017 paper, given there without derivation. It puts the slowest wavelength at head_dim 128 at",
    check: (posenc) => prints("54410", wavelength(plain(posenc).at(-1))),
  },
  { says: "Llama 3 uses 500000 (", cites: "Grattafiori et al. 2024, section 3.2" },
  {
    says: "which puts it at {{period_slowest_d128_theta_500000}}, so that more pairs tell far apart from near at long range",
    check(posenc) {
      const llama = plain(posenc, 500_000);
      prints("2559196", wavelength(llama.at(-1)));
      const wide = (invFreq) => invFreq.filter((w) => wavelength(w) > 131_072).length;
      above(wide(llama), wide(plain(posenc)));
    },
  },
  {
    says: "interpolation without fine-tuning is the best remedy for coarse order and ruins exact offsets",
    check() {
      above(measured("whichSide", "RoPE + PI", 8), measured("whichSide", "RoPE + NTK", 8));
      above(measured("whichSide", "RoPE + PI", 8), measured("whichSide", "RoPE", 8));
      below(measured("echo", "RoPE + PI", 8), study.echo.chance + 2);
    },
  },
  {
    says: "a `factor` of 8 is a frequency multiplier of 1/8",
    check: (posenc) =>
      same(
        scaled(posenc, "linear"),
        plain(posenc).map((w) => w * (1 / 8)),
        1e-14,
      ),
  },
  { says: "The original says: LLaMA-2-32K and Code Llama use the NTK formula.", cites: "the original" },
  { says: "was fine-tuned with `rope_theta` 1e6", cites: "Rozière et al. 2023; config of CodeLlama-7b-hf" },
  {
    says: "the formula for 4096 to 16 384 gives",
    check(posenc) {
      const { invFreq } = posenc.ropeInvFreq({ headDim, ropeType: "ntk", factor: 16_384 / 4096 });
      prints("40890", invFreq[1] ** (-headDim / 2));
    },
  },
  {
    says: "[LLaMA-2-7B-32K](https://www.together.ai/blog/llama-2-7b-32k) uses position interpolation, by its makers' account.",
    cites: "together.ai, 2023",
  },
  {
    says: "LLaMA-2 can process 32K with dynamic NTK, preserving relative resolution.",
    cites: "the original",
  },
  {
    says: "True: dynamic NTK at factor 8 and 8 times the length divides the lowest frequency by {{dynamic_ntk_multiplier_8}}, the static formula by 8.",
    check(posenc) {
      prints("57", slower(posenc, "dynamic", 8 * original).at(-1));
      prints("8", slower(posenc, "ntk").at(-1));
    },
  },
  { says: "That a model computes an output at 32K does not make the output good.", defines: "32K as above" },
  { says: "The original says: raising the base preserves frequency resolution.", cites: "the original" },
  {
    says: String.raw`True: pair $\dims{i}$ is slowed by $s^{2\dims{i}/(d-2)}$, from 1 for the first to $s$ for the last.`,
    check: (posenc) =>
      same(
        slower(posenc, "ntk"),
        range(64).map((i) => 8 ** ((2 * i) / 126)),
      ),
  },
];
