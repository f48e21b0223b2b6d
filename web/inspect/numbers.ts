// The numbers of one rotary embedding, or the finding that says why there are none.

import type { Posenc, RopeConfig } from "../posenc.ts";
import type { Findings } from "./finding.ts";
import { type Rope, ropeConfig } from "./rope.ts";
import type { Sourced } from "./scope.ts";

export interface Numbers {
  rope: Rope;
  config: RopeConfig;
  /** (rotary_dim/2), radians per position. */
  invFreq: Float64Array;
  /** Multiplies cos and sin of q and k; so the scores by its square. */
  attentionFactor: number;
}

/** The value that a sentence of the core speaks of, by its first word. */
function fieldsOf(rope: Rope): Record<string, Sourced<unknown>> {
  const { partialRotaryFactor: share, rotaryDim, headDim } = rope;
  const rotary = [share, rotaryDim].find(({ key }) => key) ?? headDim;
  return {
    head_dim: rope.headDim,
    headDim: rope.headDim,
    rotary_dim: rotary,
    rotaryDim: rotary,
    rope_theta: rope.ropeTheta,
    factor: rope.factor,
    original_max_position_embeddings: rope.originalMax,
    attention_factor: rope.attentionFactor,
    beta_fast: rope.betaFast,
    beta_slow: rope.betaSlow,
    mscale: rope.mscale,
    low_freq_factor: rope.lowFreqFactor,
    high_freq_factor: rope.highFreqFactor,
    short_factor: rope.shortFactor,
    long_factor: rope.longFactor,
    partial_rotary_factor: rope.partialRotaryFactor,
  };
}

function tellRefusal(rope: Rope, sentence: string, findings: Findings): void {
  const [name = ""] = sentence.match(/\w+/) ?? [];
  const field = fieldsOf(rope)[name];
  if (!field) {
    // of no value: there is no room for the numbers
    findings.add("core-refuses", "", null, sentence);
    return;
  }
  const key = field.key || name;
  const names = (told: string) => told === key || told.endsWith(`.${name}`);
  const told = findings.list.some((finding) => finding.severity === "error" && names(finding.key));
  if (!told) findings.add("core-refuses", key, field.offset ?? null, sentence, "a value that keeps the rule");
}

/** What the core computes, or null for values that it refuses. */
export function orRefused<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Frequencies of a sequence of seqLen positions (0: at most the trained length), or null with a finding. */
export function numbersOf(core: Posenc, rope: Rope, seqLen: number, findings: Findings): Numbers | null {
  const config = ropeConfig(rope);
  try {
    return { rope, config, ...core.ropeInvFreq(config, seqLen) };
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    tellRefusal(rope, error.message, findings);
    return null;
  }
}

/** What the scores are multiplied by in the model: DeepSeek puts YaRN's factor here, and not on cos and sin. */
export function scoreScale(
  core: Posenc,
  { scoreScale: plain, family }: { scoreScale: Sourced<number | null>; family: { unrotated?: unknown } },
  rope: Rope | undefined,
): number | null {
  const mscale = rope?.mscaleAllDim.value;
  if (
    plain.value === null ||
    !family.unrotated ||
    rope?.ropeType.value !== "yarn" ||
    typeof mscale !== "number"
  ) {
    return plain.value;
  }
  return plain.value * core.yarnMscale(rope.factor.value, mscale) ** 2;
}
