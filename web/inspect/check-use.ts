// Findings on use: what happens at a length, in a number format, and in the encodings that are not RoPE.

import type { FloatFormat, Posenc } from "../posenc.ts";
import { dependsOnLength, staleKeys } from "./lengths.ts";
import type { Model } from "./model.ts";
import type { Numbers } from "./numbers.ts";
import { firstSharedPosition } from "./precision.ts";
import { significant } from "./words.ts";

const FORMAT_OF: ReadonlyMap<string, FloatFormat> = new Map([
  ["bfloat16", "bfloat16"],
  ["torch.bfloat16", "bfloat16"],
  ["float16", "float16"],
  ["torch.float16", "float16"],
  ["half", "float16"],
]);
/** Half of the last bit of what is just below 1. */
const MOST_OFF: Record<FloatFormat, number> = { float32: 2 ** -25, float16: 2 ** -12, bfloat16: 2 ** -9 };
/** Slopes so steep that a head sees less than this share of the context. */
const BLIND_LOGIT = 30;

function checkLength(core: Posenc, model: Model, { rope, config }: Numbers, seqLen: number): void {
  const { findings } = model.scopes.text;
  const original = config.originalMaxPositionEmbeddings;
  if (!dependsOnLength(config) || original === undefined) return;
  if (config.ropeType === "dynamic") {
    findings.add(
      "dynamic-length",
      rope.block,
      null,
      `nothing changes up to ${original} positions; beyond, the base grows with the longest sequence seen and falls back only when one shorter than ${original} comes`,
    );
  } else {
    findings.add(
      "longrope-switch",
      rope.block,
      null,
      `short_factor up to ${original} positions of the sequence, ${original} itself included, long_factor beyond; the space that is allocated does not matter, and the attention factor is the same for both`,
    );
  }
  const stale = staleKeys(core, config, seqLen);
  if (stale) {
    findings.add(
      "stale-keys",
      rope.block,
      null,
      `at ${seqLen} positions the keys cached at ${stale.first} to ${stale.last}, token by token, were turned at other frequencies than the query: by up to ${significant(stale.phase)} rad, pair ${stale.pair} at position ${stale.position}`,
      "keys cached before rotation, or turned anew when the frequencies change",
    );
  }
}

/** Source: Ministral3Attention of transformers, 5.0. */
function checkQueries(model: Model, { rope }: Numbers, seqLen: number): void {
  const { queryBeta, originalMax } = rope;
  const original = originalMax.value;
  if (queryBeta.value === null || original === null || !(original > 0)) return;
  const at = Math.max(seqLen - 1, original);
  const gain = 1 + queryBeta.value * Math.log(1 + Math.floor(at / original));
  if (!(gain > 0 && Number.isFinite(gain))) {
    model.scopes.text.findings.add(
      "wrong-value",
      queryBeta.key,
      queryBeta.offset,
      `${queryBeta.key} is ${queryBeta.value}: queries at position ${at} would be multiplied by ${significant(gain)}`,
      "0.1 or so",
    );
    return;
  }
  model.scopes.text.findings.add(
    "queries-grow",
    queryBeta.key,
    queryBeta.offset,
    `beside the rotation, the query at position p is multiplied by 1 + ${queryBeta.value}·ln(1 + floor(p / ${original})): by 1 before ${original}, by ${significant(gain)} at position ${at}; inv_freq, cos and sin do not hold that`,
  );
}

function checkFormat(core: Posenc, model: Model): void {
  const { dtype, maxPosition, scopes } = model;
  const format = FORMAT_OF.get(dtype.value ?? "");
  if (!format) return;
  const first = firstSharedPosition(core, format);
  if (maxPosition.value !== null && maxPosition.value < first) return;
  scopes.text.findings.add(
    "few-bits",
    dtype.key,
    dtype.offset,
    `${dtype.value} holds whole numbers up to ${first - 1}: with positions, inv_freq or angles cast to it, position ${first} becomes ${core.roundTo(Float64Array.of(first), format)[0]}. Cast only when finished, cos and sin are off by at most ${significant(MOST_OFF[format])} at every position`,
    "positions and angles in float32 at least",
  );
}

function checkAlibi(core: Posenc, model: Model): void {
  const { numHeads, maxPosition, alibiBiasMax, family } = model;
  const { findings } = model.scopes.text;
  const heads = numHeads.value;
  if (heads === null) {
    findings.add(
      "head-dim-unknown",
      "num_attention_heads",
      null,
      "ALiBi needs the number of heads, and no key gives it",
      "num_attention_heads",
    );
    return;
  }
  if (!(alibiBiasMax.value > 0)) {
    findings.add(
      "wrong-value",
      alibiBiasMax.key,
      alibiBiasMax.offset,
      `${alibiBiasMax.key} is ${alibiBiasMax.value}`,
      "above 0; 8 in the paper",
    );
    return;
  }
  if (Math.log2(heads) % 1 !== 0) {
    findings.add(
      "alibi-not-power-of-two",
      numHeads.key,
      numHeads.offset,
      `${heads} heads are no power of two: the slopes are those of ${2 ** Math.floor(Math.log2(heads))} heads, then every other one of ${2 ** Math.floor(Math.log2(heads) + 1)}, in this order, not sorted`,
    );
  }
  if (family.alibiBeforeScale) {
    findings.add(
      "alibi-before-scale",
      model.encoding.key || "alibi",
      model.encoding.offset,
      "this model adds ALiBi before the scores are multiplied by 1/sqrt(head_dim), and in bfloat16: added after, as in BLOOM and MPT, the bias is sqrt(head_dim) times as strong",
    );
  }
  const length = maxPosition.value;
  if (length === null || heads > 1024) return;
  const slopes = core.alibiSlopes({ numHeads: heads, alibiBiasMax: alibiBiasMax.value });
  const flattest = Math.min(...slopes);
  if (flattest * length > BLIND_LOGIT) {
    findings.add(
      "alibi-steep",
      alibiBiasMax.key || "alibi_bias_max",
      alibiBiasMax.offset,
      `even the flattest slope, ${significant(flattest)}, takes ${significant(flattest * length)} off the logit over ${length} positions: no head sees that far`,
      "a smaller alibi_bias_max for contexts this long",
    );
  }
}

function checkT5(model: Model): void {
  const { t5, scopes } = model;
  const { findings } = scopes.text;
  const { value: buckets, key, offset } = t5.numBuckets;
  if (buckets < 4 || buckets % 2 !== 0 || t5.maxDistance.value <= buckets / 2) {
    findings.add(
      "wrong-value",
      key || "relative_attention_num_buckets",
      offset,
      `${buckets} buckets up to distance ${t5.maxDistance.value}`,
      "an even number of buckets of at least 4, and a max_distance above half of it",
    );
  }
  findings.add(
    "t5-self-attention-only",
    key || "relative_attention_num_buckets",
    offset,
    "the bias belongs to self attention; cross attention has none, and scores are not scaled by 1/sqrt(head_dim)",
  );
  findings.add(
    "t5-two-sides",
    key || "relative_attention_num_buckets",
    offset,
    `the encoder halves the ${buckets} buckets between keys before and after the query; the decoder has all of them for keys before`,
  );
}

function checkLearned(model: Model): void {
  const { family, maxPosition, scopes } = model;
  const { text } = scopes;
  const pad =
    family.firstRow === "pad_token_id" ? (text.number("pad_token_id")?.value ?? 1) + 1 : family.firstRow;
  if (pad === undefined || maxPosition.value === null) return;
  const rows = family.firstRow === "pad_token_id" ? maxPosition.value : maxPosition.value + pad;
  text.findings.add(
    "positions-offset",
    maxPosition.key,
    maxPosition.offset,
    `the table has ${rows} rows and position 0 is row ${pad}: ${rows - pad} positions fit, and row ${rows} does not exist`,
  );
}

export function checkUse(core: Posenc, model: Model, numbers: readonly Numbers[], seqLen: number): void {
  const { encoding, maxPosition } = model;
  const { findings } = model.scopes.text;
  for (const each of numbers) checkLength(core, model, each, seqLen);
  for (const each of numbers) checkQueries(model, each, seqLen);
  const grows = numbers.some(({ config }) => config.ropeType === "dynamic");
  if (maxPosition.value !== null && seqLen > maxPosition.value && !grows) {
    findings.add(
      "beyond-max-position",
      maxPosition.key,
      maxPosition.offset,
      `${seqLen} positions are asked for and ${maxPosition.key} is ${maxPosition.value}: a table with that many rows ends before`,
      "a table as long as offset and new tokens together",
    );
  }
  if (encoding.value === "rope") checkFormat(core, model);
  if (encoding.value === "alibi") checkAlibi(core, model);
  if (encoding.value === "t5") checkT5(model);
  if (encoding.value === "learned") checkLearned(model);
  if (encoding.value !== "rope") {
    findings.add(
      "no-rope",
      encoding.key || model.modelType.key,
      encoding.offset ?? model.modelType.offset,
      `this model's positions are ${encoding.value === "t5" ? "T5 buckets" : encoding.value === "alibi" ? "ALiBi" : encoding.value === "learned" ? "a learned table" : "none"}: there is no rotation to inspect`,
    );
  }
}
