// All ways to longer contexts for one and the same model, on one axis: the frequencies it would have under each.

import type { Posenc, RopeConfig, RopeType } from "../posenc.ts";
import { type Numbers, orRefused } from "./numbers.ts";

export interface Scaling {
  ropeType: RopeType;
  /** Whether this is what the config says. */
  own: boolean;
  config: RopeConfig;
  invFreq: Float64Array;
  attentionFactor: number;
}

const TYPES = ["default", "linear", "ntk", "dynamic", "yarn", "llama3", "longrope", "proportional"] as const;

/** The factor that the others get: the config's own, or what the length asked about needs. */
export const sharedFactor = ({ config }: Numbers, trained: number, seqLen: number): number =>
  (config.factor ?? 1) > 1 ? (config.factor ?? 1) : Math.max(1, seqLen / trained);

/**
 * Unscaled first. LongRoPE needs its searched lists and proportional its share, so they come only as the config's own;
 * what the core refuses at this length is left out.
 */
export function scalings(core: Posenc, numbers: Numbers, trained: number, seqLen: number): Scaling[] {
  const own = numbers.config.ropeType ?? "default";
  const factor = sharedFactor(numbers, trained, seqLen);
  const found: Scaling[] = [];
  const add = (config: RopeConfig, ropeType: RopeType, isOwn: boolean) => {
    const computed = orRefused(() => core.ropeInvFreq(config, seqLen));
    if (computed) found.push({ ropeType, own: isOwn, config, ...computed });
  };
  for (const ropeType of TYPES) {
    if (ropeType === own) {
      add(numbers.config, ropeType, true);
      continue;
    }
    if (ropeType === "longrope" || ropeType === "proportional") continue;
    const { headDim, rotaryDim = headDim, frequencyDim = 0, ropeTheta = 10000 } = numbers.config;
    if ((ropeType === "ntk" || ropeType === "dynamic") && rotaryDim <= 2) continue; // the exponent is d/(d-2)
    const config: RopeConfig = {
      ...{ headDim, rotaryDim, frequencyDim, ropeTheta, ropeType },
      ...(ropeType !== "default" && { factor, originalMaxPositionEmbeddings: trained }),
    };
    add(config, ropeType, false);
  }
  return found;
}
