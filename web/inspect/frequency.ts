// What each pair of a rotary embedding can tell: how fast it turns, which of its phases training has shown, and how far
// it tells a token from its neighbour.

import type { Posenc } from "../posenc.ts";
import type { Numbers } from "./numbers.ts";

export interface PairReport {
  pair: number;
  /** Radians per position. */
  invFreq: number;
  /** Positions per turn; Infinity for a pair that stands still. */
  wavelength: number;
  /** Turns within the trained length. */
  turns: number | null;
  /**
   * Phases from, to in radians that a sequence reaches and no trained position has shown; null if there are none: within
   * one step of the last trained phase nothing is new, for trained phases lie that far apart.
   */
  unreached: [number, number] | null;
  /** |cos((distance+1) inv_freq) − cos(distance inv_freq)|: its share in telling neighbours apart. */
  resolution: number;
}

export interface FrequencyQuestion {
  /** Positions of training; null if unknown. */
  trained: number | null;
  /** Positions of the sequence asked about. */
  seqLen: number;
  /** Relative position at which neighbours are to be told apart. */
  distance: number;
}

/** The frequencies that the model was trained with: those without scaling. */
export const plainInvFreq = (core: Posenc, { config }: Numbers): Float64Array => {
  const { headDim, rotaryDim, frequencyDim, ropeTheta } = config;
  const whole =
    config.ropeType === "proportional"
      ? ({ ropeType: "proportional", partialRotaryFactor: config.partialRotaryFactor ?? 1 } as const)
      : {};
  return core.ropeInvFreq({
    headDim,
    ...(rotaryDim !== undefined && { rotaryDim }),
    ...(frequencyDim !== undefined && { frequencyDim }),
    ...(ropeTheta !== undefined && { ropeTheta }),
    ...whole,
  }).invFreq;
};

export function frequencyReport(core: Posenc, numbers: Numbers, question: FrequencyQuestion): PairReport[] {
  const { trained, seqLen, distance } = question;
  const { invFreq } = numbers;
  const plain = plainInvFreq(core, numbers);
  const { cos } = core.ropeCosSin(Float64Array.of(distance, distance + 1), invFreq);
  return Array.from(invFreq, (w, pair) => {
    const step = plain[pair] ?? 0;
    const seen = trained === null ? Number.POSITIVE_INFINITY : (trained - 1) * step;
    const reached = Math.min((seqLen - 1) * w, 2 * Math.PI);
    return {
      pair,
      invFreq: w,
      wavelength: (2 * Math.PI) / w,
      turns: trained === null ? null : (trained * w) / (2 * Math.PI),
      unreached: reached > seen + step ? [seen, reached] : null,
      resolution: Math.abs((cos[invFreq.length + pair] ?? 0) - (cos[pair] ?? 0)),
    };
  });
}

/** How much the score of q = k falls from a distance to the next, in parts of q·k. */
export const resolutionAt = (core: Posenc, invFreq: Float64Array, distance: number): number => {
  const [here = 0, next = 0] = core.dotByOffset(Float64Array.of(distance, distance + 1), invFreq);
  return (here - next) / invFreq.length;
};

/** The pairs (fractional) between which yarn and llama3 blend; null for other types. */
export function rampOf(core: Posenc, { config }: Numbers): [number, number] | null {
  const { ropeType, lowFreqFactor = 1, highFreqFactor = 4 } = config;
  if (ropeType === "yarn") {
    const { low, high } = core.yarnCorrectionRange(config);
    return [low, high];
  }
  if (ropeType !== "llama3") return null;
  // A wavelength of original / f is that of the pair with f turns within the original length.
  const { headDim, rotaryDim = headDim, frequencyDim = 0, ropeTheta = 10000 } = config;
  const pairWith = (turns: number) =>
    ((frequencyDim || rotaryDim) *
      Math.log((config.originalMaxPositionEmbeddings ?? 1) / (turns * 2 * Math.PI))) /
    (2 * Math.log(ropeTheta));
  return [pairWith(highFreqFactor), pairWith(lowFreqFactor)];
}
