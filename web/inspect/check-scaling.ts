// Findings on the values of a scaling: what each does to the frequencies, and whether they contradict one another.

import type { Posenc } from "../posenc.ts";
import type { Findings } from "./finding.ts";
import type { Model } from "./model.ts";
import type { Rope } from "./rope.ts";
import type { Sourced } from "./scope.ts";
import { significant } from "./words.ts";

type Check = (core: Posenc, rope: Rope, model: Model, findings: Findings) => void;

const SCALED_BY_FACTOR = ["linear", "ntk", "dynamic", "yarn", "llama3", "proportional"];

const checkTheta: Check = (_core, { ropeTheta }, { family }, findings) => {
  const { value, key, offset, why } = ropeTheta;
  const refused = findings.list.some((told) => told.id === "wrong-kind" && told.key.endsWith("rope_theta"));
  if (!key && !family.fixedTheta && !refused) {
    findings.add(
      "theta-default",
      "rope_theta",
      null,
      `no key gives rope_theta: ${value} is taken (${why}), and another program may take another default`,
      "rope_theta, at the top level or in rope_parameters",
    );
  }
  if (value > 0 && value <= 1) {
    findings.add(
      "theta-not-above-one",
      key || "rope_theta",
      offset,
      `rope_theta is ${value}: the frequencies rope_theta^(-2i/d) do not fall`,
      "above 1; 10000 in the paper",
    );
  }
};

const checkFactor: Check = (_core, rope, { maxPosition }, findings) => {
  const { factor, originalMax, ropeType } = rope;
  const type = ropeType.value;
  const { value, key, offset } = factor;
  if (SCALED_BY_FACTOR.includes(type) && key && value < 1) {
    const inverse = value > 0 ? 1 / value : 0;
    findings.add(
      "factor-below-one",
      key,
      offset,
      `${key} is ${value}: a factor divides frequencies, so this would make every pair faster${value > 0 ? `; it looks like a frequency multiplier` : ""}`,
      value > 0 ? `at least 1; ${significant(inverse)} if it was meant inverted` : "at least 1",
    );
  }
  if (value > 2 ** 20) {
    findings.add(
      "factor-huge",
      key || "factor",
      offset,
      `the factor is ${value}: no model is stretched so far, and the slowest pairs stand still`,
      "new length / original length",
    );
  }
  const ratio =
    maxPosition.value !== null && originalMax.value !== null ? maxPosition.value / originalMax.value : null;
  if (!key && (type === "yarn" || type === "longrope") && ratio !== null) {
    findings.add(
      "factor-from-ratio",
      `${rope.block}.factor`,
      null,
      `no factor: max_position_embeddings / original_max_position_embeddings = ${significant(ratio)} is taken`,
    );
  }
  if (
    key &&
    (type === "yarn" || type === "llama3") &&
    originalMax.key &&
    ratio !== null &&
    ratio !== value &&
    type === "yarn" &&
    ratio !== 1
  ) {
    findings.add(
      "factor-differs-from-ratio",
      key,
      offset,
      `${key} is ${value}, and ${maxPosition.key} / ${originalMax.key} is ${significant(ratio)}: the factor sets the frequencies, the lengths do not`,
      `${significant(ratio)}, unless the difference is meant`,
    );
  }
};

const checkLengths: Check = (_core, rope, { maxPosition, scopes: { text, blocks } }, findings) => {
  const type = rope.ropeType.value;
  if (!["dynamic", "yarn", "longrope", "llama3"].includes(type)) return;
  const { originalMax } = rope;
  const name = "original_max_position_embeddings";
  if (originalMax.value === null) {
    findings.add(
      "length-missing",
      name,
      null,
      `${type} needs the trained length, and neither ${name} nor max_position_embeddings is given`,
      name,
    );
    return;
  }
  if (type !== "dynamic" && originalMax.key === maxPosition.key) {
    findings.add(
      "original-length-missing",
      `${rope.block}.${name}`,
      null,
      `no ${name}: max_position_embeddings, ${originalMax.value}, is taken for the trained length. If it is the stretched length, every bound of ${type} is off`,
      `${name}: the length before stretching`,
    );
  }
  const { key, value, offset } = originalMax;
  if (
    type === "dynamic" &&
    key !== maxPosition.key &&
    maxPosition.value !== null &&
    value !== maxPosition.value
  ) {
    findings.add(
      "dynamic-original-length",
      key,
      offset,
      `${key} is ${value}, which is taken here; for dynamic transformers does not read it and takes ${maxPosition.key}, ${maxPosition.value}`,
      `the same length as in ${maxPosition.key}`,
    );
  }
  const beside = text.record.get(name);
  if (
    type !== "dynamic" &&
    typeof beside?.value === "number" &&
    originalMax.key.startsWith(`${rope.block}.`) &&
    beside.value !== originalMax.value
  ) {
    findings.add(
      "original-length-twice",
      originalMax.key,
      originalMax.offset,
      `${originalMax.key} is ${originalMax.value}, which is taken here, and ${name} outside the block ${beside.value}, ${blocks.length === 1 ? "which transformers 5 prefers" : "which other programs take"}`,
      "the same length in both",
    );
  }
  if (maxPosition.value !== null && maxPosition.value < originalMax.value) {
    findings.add(
      "max-below-original",
      maxPosition.key,
      maxPosition.offset,
      `${maxPosition.key} is ${maxPosition.value}, below ${originalMax.key} ${originalMax.value}: stretched lengths are longer than original ones`,
      `at least ${originalMax.value}`,
    );
  }
};

/** The formula's factor, Infinity where a wild mscale overflows. */
const mscaleOf = (core: Posenc, factor: number, mscale: number): number =>
  Number.isFinite(mscale * Math.log(factor)) ? core.yarnMscale(factor, mscale) : Number.POSITIVE_INFINITY;

const checkAttention: Check = (core, rope, { family }, findings) => {
  const { attentionFactor: given, mscale, mscaleAllDim, factor, ropeType, originalMax } = rope;
  const type = ropeType.value;
  if (type !== "yarn" && type !== "longrope") return;
  const formula =
    type === "yarn"
      ? core.yarnMscale(factor.value)
      : (originalMax.value ?? 0) > 1
        ? core.longropeAttentionFactor(factor.value, originalMax.value ?? 2)
        : 1;
  if (given.value !== null) {
    const again = 0.1 * given.value * Math.log(factor.value) + 1;
    findings.add(
      "attention-factor-given",
      given.key,
      given.offset,
      `${given.key} ${given.value} replaces the formula's ${significant(formula)}. A program that drops it uses ${significant(formula)}, one that multiplies both ${significant(formula * given.value)}${type === "yarn" ? `, one that feeds it to the formula ${significant(again)}` : ""}`,
    );
  }
  if (rope.mscaleByLength) {
    const [short, long] = rope.mscaleByLength;
    findings.add(
      "mscale-by-length",
      short.key,
      short.offset,
      `${short.key} ${short.value} and ${long.key} ${long.value} multiply cos and sin in Phi-3.5-MoE, one up to the original length and one beyond; the numbers here have ${significant(given.value ?? formula)} at every length`,
      "the same number in both, or attention_factor",
    );
  }
  if (type !== "yarn") return;
  const one = mscale.value !== null ? mscale : mscaleAllDim;
  if ((mscale.value === null) !== (mscaleAllDim.value === null)) {
    findings.add(
      "mscale-alone",
      one.key,
      one.offset,
      `${one.key} without its partner is ignored by transformers, which takes ${significant(formula)}; vLLM's DeepSeek class uses it: ${significant(mscaleOf(core, factor.value, Math.max(0, one.value ?? 1)))}`,
      "both mscale and mscale_all_dim, or neither",
    );
  }
  if (
    mscale.value !== null &&
    mscale.value === mscaleAllDim.value &&
    given.value === null &&
    mscale.value > 0
  ) {
    const square = mscaleOf(core, factor.value, mscale.value) ** 2;
    findings.add(
      "mscale-cancels",
      mscale.key,
      mscale.offset,
      `mscale equals mscale_all_dim, so cos and sin are multiplied by 1; ${family.unrotated ? "the model multiplies" : "DeepSeek models multiply"} the softmax scale by ${significant(square)} instead`,
    );
  }
};

const checkYarn: Check = (core, rope, { scopes: { blocks } }, findings) => {
  if (rope.ropeType.value !== "yarn") return;
  const { truncate, originalMax, ropeTheta, betaFast, betaSlow } = rope;
  const range = (rounded: boolean) =>
    core.yarnCorrectionRange({
      ...{ headDim: rope.headDim.value, rotaryDim: rope.rotaryDim.value, frequencyDim: rope.frequencyDim },
      ...{ ropeTheta: ropeTheta.value, ropeType: "yarn", factor: Math.max(1, rope.factor.value) },
      ...{ betaFast: betaFast.value, betaSlow: betaSlow.value, truncate: rounded },
      originalMaxPositionEmbeddings: originalMax.value ?? 1,
    });
  const { low, high } = range(truncate.value);
  const pairs = rope.rotaryDim.value / 2;
  if (!truncate.value) {
    const rounded = range(true);
    findings.add(
      "yarn-untruncated",
      truncate.key,
      truncate.offset,
      `the ramp runs from pair ${low} to ${high}; a program that rounds it uses ${rounded.low} to ${rounded.high}`,
    );
  }
  if (truncate.key && blocks.length > 1 && !truncate.value) {
    findings.add(
      "nested-truncate",
      truncate.key,
      truncate.offset,
      `transformers at 2b296305d7bc reads truncate from the outer block, where it is not, and rounds the ramp`,
      "a reader that looks in the block of the layers",
    );
  }
  if (low >= high || high > pairs || low >= pairs) {
    findings.add(
      "yarn-range",
      rope.block,
      null,
      `the ramp runs from pair ${low} to ${high} and there are ${pairs} pairs: ${low >= high ? "it is upside down, and frequencies need not fall" : "its upper end is clamped to rotary_dim - 1, not to the last pair, and programs differ here"}`,
      "an original length and a rope_theta that belong together",
    );
  }
};

const checkAlpha: Check = (_core, { ropeType, spelled, factor }, _model, findings) => {
  if (ropeType.value !== "ntk" || spelled.value !== "dynamic") return;
  findings.add(
    "static-ntk-alpha",
    factor.key,
    factor.offset,
    `alpha makes this static NTK, rope_theta · ${factor.value}^(d/(d-2)) at every length, though the type says dynamic: a program that updates it as dynamic overwrites these frequencies`,
    "code of the model itself, or the base that results as rope_theta",
  );
};

function checkList(list: Sourced<Float64Array | null>, pairs: number, findings: Findings): void {
  if (list.value === null) return;
  if (list.value.length !== pairs) {
    findings.add(
      "factor-list-length",
      list.key,
      list.offset,
      `${list.key} has ${list.value.length} entries for ${pairs} pairs`,
      `rotary_dim / 2 = ${pairs} entries`,
    );
  }
  const bad = list.value.findIndex((divisor) => divisor <= 0);
  if (bad >= 0) {
    findings.add(
      "factor-list-value",
      `${list.key}[${bad}]`,
      list.offset,
      `${list.key}[${bad}] is ${list.value[bad]}: a divisor of frequencies`,
      "above 0",
    );
  }
  const fast = list.value.findIndex((divisor) => divisor > 0 && divisor < 1);
  if (fast >= 0) {
    findings.add(
      "factor-list-short-of-one",
      `${list.key}[${fast}]`,
      list.offset,
      `${list.key}[${fast}] is ${list.value[fast]}: it makes its pair faster; divisors of 1 and more make it slower`,
      "at least 1; the inverse if it was meant as a multiplier",
    );
  }
}
const checkLists: Check = (_core, rope, { scopes: { blocks } }, findings) => {
  if (rope.ropeType.value !== "longrope") return;
  for (const list of [rope.shortFactor, rope.longFactor]) checkList(list, rope.rotaryDim.value / 2, findings);
  if (blocks.length > 1) {
    findings.add(
      "nested-longrope",
      rope.block,
      null,
      "longrope for single kinds of layers: in transformers at 2b296305d7bc the second long call raises UnboundLocalError",
      "a reader that keeps both lists for each kind of layer",
    );
  }
};

const checkLlama3: Check = (_core, { ropeType, block }, _model, findings) => {
  if (ropeType.value !== "llama3" || !block) return;
  findings.add(
    "llama3-block",
    block,
    null,
    "programs older than transformers 4.43 refuse this block or ignore it: they know type and factor only",
  );
};

export const checkScaling: Check = (core, rope, model, findings) => {
  for (const check of [checkTheta, checkFactor, checkLengths, checkAlpha, checkLists, checkLlama3]) {
    check(core, rope, model, findings);
  }
};

/** Findings that compute, for values that the core takes. */
export const checkScaled: Check = (core, rope, model, findings) => {
  for (const check of [checkAttention, checkYarn]) check(core, rope, model, findings);
};
