// Dynamic NTK raises the base as a sequence grows. A key that was rotated when it came keeps the base of that day: how
// far is its score from that of a key rotated with the query's base?
//
// Based on: bloc97 and emozilla 2023 (dynamic NTK), as transformers computes it; Su et al. 2021, equation 16.

import type { Posenc } from "../posenc.ts";

export interface Setting {
  headDim: number;
  ropeTheta: number;
  factor: number;
  originalMax: number;
  /** From the key to the newest query, in tokens. */
  distance: number;
  /** The length that is read. */
  length: number;
}

/** One number for each length: the newest query stands at length − 1. */
export interface Curve {
  lengths: Float64Array;
  /** Score of the key as it was cached, and as it is when rotated anew. */
  cached: Float64Array;
  renewed: Float64Array;
  /** The base with which the query is rotated, and that of the cached key. */
  queryBase: Float64Array;
  keyBase: Float64Array;
}

const SAMPLES = 160;

/** Lengths from the first with such a key to the last, with those where something happens. */
function lengthsOf({ originalMax, distance, length }: Setting, last: number): Float64Array {
  const first = distance + 1;
  const even = (from: number, to: number, count: number) =>
    Array.from({ length: count + 1 }, (_, i) => Math.round(from + (i * (to - from)) / count));
  const wanted = [
    ...even(first, last, SAMPLES),
    // the change is quickest until the key, too, has come after the original maximum
    ...even(originalMax, originalMax + distance, Math.min(distance, 256)),
    ...[first + 1, originalMax + 1, length],
  ];
  const inside = wanted.filter((at) => at >= first && at <= last);
  return Float64Array.from([...new Set(inside)].sort((a, b) => a - b));
}

/** q = k = (1, …, 1), so that the score q·k / head_dim is 1 at distance 0 and the mean cosine at others. */
export function staleKeys(core: Posenc, setting: Setting, last: number): Curve {
  const { headDim, ropeTheta, factor, originalMax, distance } = setting;
  const pairs = headDim / 2;
  const lengths = lengthsOf(setting, last);
  const known = new Map<number, Float64Array>();
  const invFreqAt = (length: number): Float64Array => {
    const beyond = Math.max(length, originalMax); // up to there nothing changes
    const found =
      known.get(beyond) ??
      core.ropeInvFreq(
        { headDim, ropeTheta, ropeType: "dynamic", factor, originalMaxPositionEmbeddings: originalMax },
        beyond,
      ).invFreq;
    known.set(beyond, found);
    return found;
  };
  // of the newest query, of the key rotated anew, of the key as cached: (3, lengths, pairs)
  const n = lengths.length;
  const angles = new Float64Array(3 * n * pairs);
  const bases = [new Float64Array(n), new Float64Array(n)] as const;
  lengths.forEach((length, t) => {
    const [now, then] = [invFreqAt(length), invFreqAt(length - distance)];
    const key = length - 1 - distance;
    for (let i = 0; i < pairs; i++) {
      angles[t * pairs + i] = (length - 1) * (now[i] ?? 0);
      angles[(n + t) * pairs + i] = key * (now[i] ?? 0);
      angles[(2 * n + t) * pairs + i] = key * (then[i] ?? 0);
    }
    bases[0][t] = baseOf(now);
    bases[1][t] = baseOf(then);
  });
  // position 1 at the frequency `angle`
  const { cos, sin } = core.ropeCosSin(Float64Array.of(1), angles);
  const ones = new Float64Array(3 * n * headDim).fill(1);
  const rotated = core.ropeApply(ones, cos, sin, { seqLen: 3 * n, headDim });
  const q = rotated.subarray(0, n * headDim);
  // One query and one key a head: the logits are the scores, length by length.
  const scores = (k: Float64Array) =>
    core.attention(q, k, k, { numHeads: n, seqLen: 1, headDim, scale: 1 / headDim }).logits;
  return {
    lengths,
    renewed: scores(rotated.subarray(n * headDim, 2 * n * headDim)),
    cached: scores(rotated.subarray(2 * n * headDim)),
    queryBase: bases[0],
    keyBase: bases[1],
  };
}

/** The base of which the slowest pair's frequency is base^(−(d−2)/d). */
function baseOf(invFreq: Float64Array): number {
  const last = invFreq.length - 1;
  return (invFreq[last] ?? Number.NaN) ** (-invFreq.length / last);
}
