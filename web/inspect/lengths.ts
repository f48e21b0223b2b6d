// What changes with the length of a sequence: dynamic NTK raises its base as sequences grow and remembers it, LongRoPE
// changes lists once. Keys that were cached before have been turned at the old frequencies.
//
// Based on: transformers, modeling_rope_utils.py, dynamic_rope_update.

import type { Posenc, RopeConfig } from "../posenc.ts";

export const dependsOnLength = ({ ropeType }: RopeConfig): boolean =>
  ropeType === "dynamic" || ropeType === "longrope";

export interface Step {
  seqLen: number;
  /** The longest length that the frequencies stand for; dynamic only. */
  cachedSeqLen: number | null;
  invFreq: Float64Array;
}

/**
 * The frequencies after each of a row of calls with sequences of these lengths. A RangeError where dynamic would raise
 * its base beyond what a double holds.
 */
export function lengthSteps(core: Posenc, config: RopeConfig, seqLens: readonly number[]): Step[] {
  let cached = config.originalMaxPositionEmbeddings ?? 0;
  return seqLens.map((seqLen) => {
    if (config.ropeType !== "dynamic") {
      return { seqLen, cachedSeqLen: null, invFreq: core.ropeInvFreq(config, seqLen).invFreq };
    }
    cached = core.dynamicSeqLen(config, cached, seqLen);
    return { seqLen, cachedSeqLen: cached, invFreq: core.ropeInvFreq(config, cached).invFreq };
  });
}

export interface StaleKeys {
  /** Positions of cached keys (0 is not turned) that were turned at other frequencies than the newest query. */
  first: number;
  last: number;
  /** The largest phase by which one of them is off, in radians, and where. */
  phase: number;
  position: number;
  pair: number;
}

const SAMPLES = 64;

/** The keys that do not fit the query at position seqLen − 1, if tokens came one at a time; null if all fit. */
export function staleKeys(core: Posenc, config: RopeConfig, seqLen: number): StaleKeys | null {
  const original = config.originalMaxPositionEmbeddings ?? Number.POSITIVE_INFINITY;
  if (!dependsOnLength(config) || seqLen <= original) return null;
  const last = config.ropeType === "longrope" ? original - 1 : seqLen - 2;
  const now = core.ropeInvFreq(config, seqLen).invFreq;
  const between = Array.from({ length: SAMPLES + 1 }, (_, i) =>
    Math.round(original - 1 + (i * (last - original + 1)) / SAMPLES),
  );
  let worst: StaleKeys = { first: 1, last, phase: 0, position: 0, pair: 0 };
  for (const position of new Set(between)) {
    const then = core.ropeInvFreq(config, position + 1).invFreq;
    for (const [pair, w] of now.entries()) {
      const phase = position * Math.abs((then[pair] ?? w) - w);
      if (phase > worst.phase) worst = { ...worst, phase, position, pair };
    }
  }
  return worst.phase > 0 ? worst : null;
}
