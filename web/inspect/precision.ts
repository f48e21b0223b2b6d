// How far a rotation is off in few bits, at a position, and from where on two positions are one.

import type { FloatFormat, Posenc } from "../posenc.ts";

export const FORMATS = ["float32", "bfloat16", "float16"] as const satisfies readonly FloatFormat[];

export interface PrecisionReport {
  format: FloatFormat;
  /** Largest error of cos and sin over the pairs; null where the format has no number for the position. */
  everything: number | null;
  /** Only the position is rounded, only inv_freq, only the finished cos and sin. */
  position: number | null;
  invFreq: number | null;
  result: number | null;
  /** The number that the position becomes. */
  held: number;
  /** The first whole position that becomes the number of another. */
  firstShared: number;
}

const NONE = { position: false, invFreq: false, angle: false, result: false };
const STEPS = {
  everything: { position: true, invFreq: true, angle: true, result: true },
  position: { ...NONE, position: true },
  invFreq: { ...NONE, invFreq: true },
  result: { ...NONE, result: true },
};

/** Whole numbers are held up to a power of two; the one after it is the first that is not. */
export function firstSharedPosition(core: Posenc, format: FloatFormat): number {
  const candidates = Float64Array.from({ length: 40 }, (_, k) => 2 ** k + 1);
  const held = core.roundTo(candidates, format);
  return candidates.find((position, k) => held[k] !== position) ?? Number.POSITIVE_INFINITY;
}

export function precisionReport(core: Posenc, invFreq: Float64Array, position: number): PrecisionReport[] {
  const at = Float64Array.of(position);
  return FORMATS.map((format) => {
    const error = (step: keyof typeof STEPS): number | null => {
      const [largest = Number.NaN] = core.ropeFormatErrors(at, invFreq, format, STEPS[step]);
      return Number.isFinite(largest) ? largest : null;
    };
    return {
      format,
      everything: error("everything"),
      position: error("position"),
      invFreq: error("invFreq"),
      result: error("result"),
      held: core.roundTo(at, format)[0] ?? Number.NaN,
      firstShared: firstSharedPosition(core, format),
    };
  });
}
