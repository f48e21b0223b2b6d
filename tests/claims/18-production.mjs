import assert from "node:assert/strict";
import { above, below, differs, dot, measured, prints, range, same } from "./measure.mjs";

const [layers, keyValueHeads, headDim] = [32, 8, 128];
const invFreqOf = (posenc, ropeTheta = 10_000) => posenc.ropeInvFreq({ headDim, ropeTheta }).invFreq;
const tableBytes = (posenc, positions) => {
  const { cos, sin } = posenc.ropeCache(positions, invFreqOf(posenc));
  return cos.byteLength + sin.byteLength;
};
const cacheBytes = (positions) => positions * layers * keyValueHeads * headDim * 2 * 2; // keys and values, bf16
const share = (posenc, positions) => (100 * tableBytes(posenc, positions)) / cacheBytes(positions);

const at = (posenc, x, position, invFreq) => {
  const { cos, sin } = posenc.ropeCosSin(Float64Array.of(position), invFreq);
  return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim });
};
/** The score of a query and a key, each rotated with its own frequencies. */
const score = (posenc, m, n, forQuery, forKey) =>
  dot(
    at(posenc, posenc.randomNormal(headDim, 1), m, forQuery),
    at(posenc, posenc.randomNormal(headDim, 2), n, forKey),
  );
const dynamic = { headDim, ropeType: "dynamic", factor: 8, originalMaxPositionEmbeddings: 4096 };

export default [
  {
    says: "A learned table sets a hard end. A sinusoidal model has none, and degrades.",
    check(posenc) {
      assert.throws(() => posenc.lookupRows(new Float64Array(8), Int32Array.of(8), 8, 1), RangeError);
      assert.ok(posenc.sinusoidalRows(Float64Array.of(1e6), { dModel: 8 }).every(Number.isFinite));
      below(measured("echo", "sinusoidal", 8), measured("echo", "sinusoidal"));
    },
  },
  {
    says: "how one base model comes in 32K, 64K and 128K versions",
    cites: "model cards of LLaMA-2-7B-32K and YaRN-Llama-2",
  },
  {
    says: "Angles depend on position and frequency, never on the prompt.",
    check(posenc) {
      const { cos, sin } = posenc.ropeCosSin(range(5), invFreqOf(posenc));
      const [long, short] = [posenc.ropeCosSin(range(9), invFreqOf(posenc)), { cos, sin }];
      same(long.cos.slice(0, cos.length), short.cos);
    },
  },
  { says: "vLLM builds such a `cos_sin_cache` when the layer is created", cites: "vLLM, rotary_embedding" },
  {
    says: "Hugging Face transformers computes them once per forward pass",
    cites: "transformers, modeling_llama.py",
  },
  {
    says: "A float32 table of cosines and sines, and the KV cache of Llama 3.1 8B for one sequence as long.",
    defines: "the model that is compared",
  },
  {
    says: "Less than half a percent",
    check(posenc) {
      below(share(posenc, 4096), 0.5);
      prints("0.39", share(posenc, 4096));
    },
  },
  {
    says: "at every length: both grow in proportion",
    check: (posenc) =>
      same(
        [1024, 4096].map((positions) => share(posenc, positions)),
        [256, 256].map((p) => share(posenc, p)),
      ),
  },
  {
    says: "About a tenth",
    check: (posenc) => below(share(posenc, 4096), 1), // a wrong answer
  },
  {
    says: "The KV cache stores 32 layers of 8 heads, keys and values.",
    cites: "Grattafiori et al. 2024, table 3",
  },
  { says: "The table is for head_dim 128.", defines: "the size of a head" },
  {
    says: "a model shaped like Llama 3.1 8B ([Grattafiori et al., 2024](https://arxiv.org/abs/2407.21783)): 32 layers, 8 key-value heads, bf16.",
    cites: "Grattafiori et al. 2024, table 3",
  },
  {
    says: "Prefill processes the prompt at once, at positions 0 to $T-1$. Decoding adds one token at a time, at positions $T$, $T+1$ and on. The code is the same with an offset",
    check(posenc) {
      const all = posenc.ropeCache(9, invFreqOf(posenc)).sin;
      const prefill = posenc.ropeCache(7, invFreqOf(posenc)).sin;
      const decoded = [7, 8].map(
        (firstPosition) => posenc.ropeCache(1, invFreqOf(posenc), { firstPosition }).sin,
      );
      same(all, Float32Array.of(...prefill, ...decoded[0], ...decoded[1]), 1e-9);
    },
  },
  {
    says: String.raw`If the base changes later, old keys and new queries turn at different rates, and $R(\pos{m})^{\top}R(\pos{n})$ no longer collapses to $R(\pos{n}-\pos{m})$.`,
    check(posenc) {
      const [old, later] = [10_000, 40_000].map((theta) => invFreqOf(posenc, theta));
      same([score(posenc, 107, 103, later, later)], [score(posenc, 7, 3, later, later)], 1e-9);
      differs([score(posenc, 107, 103, later, old)], [score(posenc, 7, 3, later, old)]);
    },
  },
  {
    says: "Dynamic NTK raises the base as the sequence grows, so keys cached earlier were rotated with a smaller base than the query.",
    check(posenc) {
      const base = (seqLen) => posenc.ropeInvFreq(dynamic, seqLen).invFreq[1] ** (-headDim / 2);
      const bases = [4096, 5000, 8192, 32_768].map(base);
      assert.deepEqual(
        bases,
        bases.toSorted((a, b) => a - b),
      );
      above(bases[1], bases[0] + 1);
    },
  },
  {
    says: "The ways out are to cache unrotated keys and rotate them at use, to rotate again when the base changes, or to fix the base for the whole request.",
    check(posenc) {
      const [old, later] = [10_000, 40_000].map((theta) => invFreqOf(posenc, theta));
      const key = posenc.randomNormal(headDim, 2);
      const again = at(posenc, at(posenc, at(posenc, key, 3, old), -3, old), 3, later);
      same(again, at(posenc, key, 3, later));
    },
  },
  {
    says: "LongRoPE has the same trouble at the one point where it switches lists.",
    check(posenc) {
      const factors = { shortFactor: range(64, 1), longFactor: range(64, 2) };
      const config = { ...dynamic, ropeType: "longrope", ...factors };
      const first = (seqLen) => posenc.ropeInvFreq(config, seqLen).invFreq[0];
      assert.deepEqual([first(100), first(4096)], [1, 1]);
      assert.deepEqual([first(4097), first(30_000)], [0.5, 0.5]);
    },
  },
  {
    says: "An implementation that raises the base for a long prompt and does not reset it answers the next short prompt with the wrong frequencies.",
    check(posenc) {
      const [fresh, stale] = [100, 32_768].map((seqLen) => posenc.ropeInvFreq(dynamic, seqLen).invFreq);
      differs(fresh, stale);
      assert.equal(posenc.dynamicSeqLen(dynamic, 32_768, 100), 4096); // ours resets
    },
  },
  {
    says: 'A "dynamic" factor applied from the first token degrades short prompts too.',
    check(posenc) {
      const plain = invFreqOf(posenc);
      same(posenc.ropeInvFreq(dynamic, 100).invFreq, plain, 1e-15);
      differs(posenc.ropeInvFreq({ ...dynamic, ropeType: "ntk" }, 100).invFreq, plain);
    },
  },
  {
    says: "does not find `rope_theta` and falls back to 10000",
    check: (posenc) => differs(invFreqOf(posenc, 500_000), invFreqOf(posenc)),
  },
  {
    says: "[transformers #25306](https://github.com/huggingface/transformers/issues/25306), [vLLM #3488](https://github.com/vllm-project/vllm/issues/3488), [koboldcpp #487](https://github.com/LostRuins/koboldcpp/issues/487)",
    cites: "the reports named",
  },
];
