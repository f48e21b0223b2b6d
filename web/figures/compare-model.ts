// The same words through the same attention head, six times: without positions and with each way of telling them.
//
// Based on: Vaswani et al. 2017 (sinusoidal), Gehring et al. 2017 (learned), Su et al. 2021 (RoPE), Press et al. 2021
// (ALiBi), Raffel et al. 2020 (T5).

import type { Encoding, Posenc } from "../posenc.ts";
import { inputs, T5_BUCKETS, wordsOf } from "./permutation-model.ts";

export interface Setting {
  sentence: string;
  dModel: number;
  numHeads: number;
  /** Counted from 1; a smaller model pulls it in. */
  head: number;
  causal: boolean;
  seed: number;
}

/** n × n numbers of one head; a key that the mask hides has the logit −∞ and the weight 0. */
export interface Maps {
  logits: Float64Array;
  weights: Float64Array;
}

export interface Method {
  encoding: Encoding;
  name: string;
  actsOn: string;
  /** Learned numbers that the method brings; T5 shares its table among the layers of a stack. */
  parameters: (maxLen: number, dModel: number, numHeads: number) => number;
}

const nothing = () => 0;
export const METHODS: readonly Method[] = [
  { encoding: "none", name: "None", actsOn: "nothing", parameters: nothing },
  { encoding: "sinusoidal", name: "Sinusoidal", actsOn: "the input", parameters: nothing },
  {
    encoding: "learned",
    name: "Learned",
    actsOn: "the input",
    parameters: (maxLen, dModel) => maxLen * dModel,
  },
  { encoding: "rope", name: "RoPE", actsOn: "q and k", parameters: nothing },
  { encoding: "alibi", name: "ALiBi", actsOn: "the logits", parameters: nothing },
  {
    encoding: "t5",
    name: "T5",
    actsOn: "the logits",
    parameters: (_maxLen, _dModel, numHeads) => T5_BUCKETS * numHeads,
  },
];

export interface Comparison {
  words: readonly string[];
  /** Counted from 0. */
  head: number;
  headDim: number;
  slope: number;
  maps: Record<Encoding, Maps>;
}

export function comparison(core: Posenc, setting: Setting): Comparison {
  const { dModel, numHeads, causal } = setting;
  const words = wordsOf(setting.sentence);
  const n = words.length;
  const head = Math.min(setting.head, numHeads) - 1;
  const { x, weights } = inputs(core, words, { dModel, numHeads, layers: 1, seed: setting.seed });
  const ofHead = (maps: Float64Array) => maps.subarray(head * n * n, (head + 1) * n * n);
  const maps = Object.fromEntries(
    METHODS.map(({ encoding }) => {
      // A decoder's buckets count only keys to the left.
      const t5 = { numBuckets: T5_BUCKETS, bidirectional: !causal };
      const all = core.selfAttention(x, weights, { seqLen: n, dModel, numHeads, encoding, causal, t5 });
      return [encoding, { logits: ofHead(all.logits), weights: ofHead(all.weights) }];
    }),
  ) as Record<Encoding, Maps>;
  const slope = core.alibiSlopes({ numHeads })[head] ?? Number.NaN;
  return { words, head, headDim: dModel / numHeads, slope, maps };
}
