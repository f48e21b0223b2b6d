// What a running program holds, against what its config says: inv_freq, attention factor, slopes, buckets or positions
// read out of the program. Where they differ, each mistake that others have made is computed, and the one that gives
// the held numbers is named.

import type { Posenc, RopeConfig } from "../posenc.ts";
import type { Findings } from "./finding.ts";
import { plainInvFreq } from "./frequency.ts";
import type { Value } from "./json.ts";
import type { Model } from "./model.ts";
import { type Numbers, orRefused } from "./numbers.ts";
import type { RuleId } from "./rules.ts";
import { significant } from "./words.ts";

export interface Held {
  invFreq?: Float64Array;
  attentionFactor?: number;
  slopes?: Float64Array;
  /** Buckets of the relative positions -n..n of an encoder. */
  buckets?: Float64Array;
  /** position_ids of one sequence. */
  positions?: Float64Array;
}
/** The names under which `held` is given as JSON. */
export const HELD_KEYS = ["inv_freq", "attention_factor", "slopes", "buckets", "position_ids"] as const;

/** Reads { inv_freq, attention_factor, slopes, buckets, position_ids }; what has another kind is told. */
export function readHeld(root: Value): Held {
  if (!(root instanceof Map))
    throw new TypeError(`what is held must be an object with ${HELD_KEYS.join(", ")}`);
  for (const key of root.keys()) {
    if (!(HELD_KEYS as readonly string[]).includes(key)) {
      throw new TypeError(
        `what is held has no field ${JSON.stringify(key.slice(0, 60))}; it has ${HELD_KEYS.join(", ")}`,
      );
    }
  }
  const list = (name: string): Float64Array | undefined => {
    const value = root.get(name)?.value;
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length === 0 || value.some((node) => typeof node.value !== "number")) {
      throw new TypeError(`${name} must be a list of numbers`);
    }
    return Float64Array.from(value, (node) => node.value as number);
  };
  const factor = root.get("attention_factor")?.value;
  if (factor !== undefined && typeof factor !== "number")
    throw new TypeError("attention_factor must be a number");
  const [invFreq, slopes, buckets, positions] = ["inv_freq", "slopes", "buckets", "position_ids"].map(list);
  return {
    ...(invFreq && { invFreq }),
    ...(factor !== undefined && { attentionFactor: factor }),
    ...(slopes && { slopes }),
    ...(buckets && { buckets }),
    ...(positions && { positions }),
  };
}

/** A buffer in float32 is off by about 3e-7; mistakes are not so small. */
const FLOAT32 = 3e-6;
/** A factor may have been read off a screen, with four decimals. */
const READ_OFF = 5e-5;
const close = (a: number, b: number, relative = FLOAT32): boolean =>
  a === b || Math.abs(a - b) <= relative * Math.abs(b);
const same = (a: Float64Array, b: Float64Array): boolean =>
  a.length === b.length && a.every((value, i) => close(value, b[i] ?? Number.NaN));

interface Guess {
  id: RuleId;
  says: string;
  invFreq(): Float64Array;
}

/** YaRN with a ramp and a slow end of one's own. */
function yarnBy(
  core: Posenc,
  numbers: Numbers,
  low: number,
  high: number,
  slow: (w: number, pair: number) => number,
): Float64Array {
  const plain = plainInvFreq(core, numbers);
  const end = high === low ? high + 0.001 : high;
  return plain.map((w, i) => {
    const ramp = Math.min(1, Math.max(0, (i - low) / (end - low)));
    return slow(w, i) * ramp + w * (1 - ramp);
  });
}

/** The mistakes that this config invites, in the order in which they are tried. */
function guesses(core: Posenc, numbers: Numbers, model: Model, held: Float64Array, seqLen: number): Guess[] {
  const { config, invFreq } = numbers;
  const { ropeType: type = "default", factor = 1, ropeTheta = 10000, headDim, rotaryDim = headDim } = config;
  const original = config.originalMaxPositionEmbeddings ?? 0;
  const max = model.maxPosition.value;
  const of =
    (change: Partial<RopeConfig>, length = seqLen) =>
    () =>
      core.ropeInvFreq({ ...config, ...change }, length).invFreq;
  const plain = plainInvFreq(core, numbers);
  const list: (Guess | false)[] = [
    ...(["bfloat16", "float16"] as const).map((format) => ({
      id: "held-rounded" as const,
      says: `the right frequencies rounded to ${format}: the buffer was cast with the model`,
      invFreq: () => core.roundTo(invFreq, format),
    })),
    type !== "default" && {
      id: "held-unscaled",
      says: `the frequencies without any scaling: ${type} was not applied`,
      invFreq: () => plain,
    },
    ropeTheta !== 10000 && {
      id: "held-default-theta",
      says: `the frequencies of rope_theta 10000, not ${ropeTheta}: the key was not found`,
      invFreq: of({ ropeTheta: 10000 }),
    },
    ropeTheta !== 10000 && {
      id: "held-default-theta",
      says: `the unscaled frequencies of rope_theta 10000, not ${ropeTheta}: neither theta nor scaling was found`,
      invFreq: of({ ropeTheta: 10000, ropeType: "default" }),
    },
    type === "yarn" && {
      id: "held-other-truncate",
      says: `the frequencies with truncate ${String(config.truncate === false)}: the program takes another ramp`,
      invFreq: of({ truncate: config.truncate === false }),
    },
    factor > 1 &&
      type !== "dynamic" && {
        id: "held-factor-twice",
        says: `the frequencies of factor ${significant(factor * factor)}: ${significant(factor)} was applied twice`,
        invFreq: of({ factor: factor * factor }),
      },
    factor > 1 && {
      id: "held-factor-inverted",
      says: `${significant(factor)} times the unscaled frequencies: the factor multiplied them instead of dividing`,
      invFreq: () => plain.map((w) => w * factor),
    },
    rotaryDim < headDim && {
      id: "held-over-head-dim",
      says: `frequencies with exponents over head_dim ${headDim}, not over rotary_dim ${rotaryDim}`,
      invFreq: of({ frequencyDim: headDim }),
    },
    type === "longrope" && {
      id: "held-other-list",
      says: `the frequencies of the ${seqLen > original ? "short" : "long"} list, though the sequence has ${seqLen || "at most the original"} positions`,
      invFreq: of({}, seqLen > original ? 0 : original + 1),
    },
    type === "dynamic" && {
      id: "held-static-ntk",
      says: `static NTK with factor ${significant(factor)}: the scaling is applied at every length`,
      invFreq: of({ ropeType: "ntk" }),
    },
    (type === "yarn" || type === "llama3") &&
      max !== null &&
      max !== original && {
        id: "held-other-original",
        says: `the frequencies with max_position_embeddings, ${max}, in place of the original length ${original}`,
        invFreq: of({ originalMaxPositionEmbeddings: max }),
      },
    type === "yarn" &&
      max !== null &&
      original > 0 &&
      max / original >= 1 && {
        id: "held-ratio-factor",
        says: `the frequencies of factor ${significant(max / original)}, the ratio of the lengths, not ${significant(factor)}`,
        invFreq: of({ factor: max / original }),
      },
  ];
  if (type === "yarn") {
    for (const truncate of [config.truncate !== false, config.truncate === false]) {
      const { low, high } = core.yarnCorrectionRange({ ...config, truncate });
      list.push({
        id: "held-clamped-range",
        says: `a ramp whose upper end is clamped to the last pair, ${rotaryDim / 2 - 1}, not to rotary_dim - 1`,
        invFreq: () => yarnBy(core, numbers, low, Math.min(high, rotaryDim / 2 - 1), (w) => w / factor),
      });
      list.push({
        id: "held-factor-in-power",
        says: "the factor inside the power, (factor · rope_theta)^(-2i/d), where it divides outside",
        invFreq: () =>
          yarnBy(core, numbers, low, high, (_w, i) => (factor * ropeTheta) ** ((-2 * i) / rotaryDim)),
      });
    }
  }
  const last = held.length - 1;
  if (type === "dynamic" && last > 0) {
    // The slowest pair is divided by factor·L/M − (factor − 1): that gives the length the program computed for.
    const multiplier = (plain[last] ?? 1) / (held[last] ?? 1);
    const length = (original * (multiplier + factor - 1)) / factor;
    if (Number.isFinite(length) && length > Math.max(seqLen, original) + 0.5) {
      list.push({
        id: "held-not-reset",
        says: `the frequencies of a sequence of ${Math.round(length)} positions, though this one has ${seqLen || `at most ${original}`}: the base was not reset`,
        invFreq: of({}, length),
      });
    }
  }
  return list.filter((guess) => guess !== false);
}

function lengthSays({ rope, config }: Numbers, held: Float64Array): string {
  const { headDim, rotaryDim = headDim } = config;
  const share = rope.partialRotaryFactor.value;
  if (held.length === headDim / 2)
    return `: the whole head of ${headDim} is turned, the rotary part of ${rotaryDim} is ignored`;
  if (share < 1 && held.length === Math.floor((rotaryDim * share) / 2))
    return ": the partial factor was applied twice";
  return "";
}

function checkInvFreq(
  core: Posenc,
  model: Model,
  all: readonly Numbers[],
  held: Float64Array,
  seqLen: number,
): void {
  const { findings } = model.scopes.text;
  const match = all.find(({ invFreq }) => same(held, invFreq));
  if (match) {
    findings.add(
      "held-as-computed",
      "inv_freq",
      null,
      `the held inv_freq is what the config says (${match.rope.layers})`,
    );
    return;
  }
  const numbers = all.find(({ invFreq }) => invFreq.length === held.length) ?? all[0];
  if (!numbers) return;
  const { invFreq } = numbers;
  if (invFreq.length !== held.length) {
    findings.add(
      "held-length",
      "inv_freq",
      null,
      `the program holds ${held.length} frequencies, the config gives ${invFreq.length}${lengthSays(numbers, held)}`,
      `${invFreq.length} frequencies`,
    );
    return;
  }
  for (const guess of guesses(core, numbers, model, held, seqLen)) {
    const guessed = orRefused(guess.invFreq);
    if (!guessed || !same(held, guessed)) continue;
    findings.add(
      guess.id,
      "inv_freq",
      null,
      `the program holds ${guess.says}`,
      `pair ${farthest(held, invFreq)} should be ${significant(invFreq[farthest(held, invFreq)] ?? 0)}`,
    );
    return;
  }
  const falls = held.every((w, i) => Number.isFinite(w) && w > 0 && (i === 0 || w < (held[i - 1] ?? 0)));
  const pair = farthest(held, invFreq);
  if (!falls || !(close(held[0] ?? 0, 1) || close(held[0] ?? 0, invFreq[0] ?? 0))) {
    findings.add(
      "held-uninitialised",
      "inv_freq",
      null,
      `the program holds numbers that are no frequencies: inv_freq[0] is ${held[0]}, ${falls ? "not 1" : "and they are not finite, positive and falling"}. The buffer was allocated and never filled`,
      "inv_freq computed anew after the weights are loaded",
    );
  } else {
    findings.add(
      "held-unexplained",
      "inv_freq",
      null,
      `the held inv_freq differs from the config's, most at pair ${pair}: ${significant(held[pair] ?? 0)}, and no known mistake gives it`,
      significant(invFreq[pair] ?? 0),
    );
  }
}

/** The pair at which the ratio of two lists is farthest from 1. */
function farthest(a: Float64Array, b: Float64Array): number {
  const off = Array.from(a, (value, i) => Math.abs(Math.log(Math.abs(value / (b[i] ?? 1)))));
  return off.reduce((best, value, i) => (!(value <= (off[best] ?? 0)) ? i : best), 0);
}

function checkAttentionFactor(
  core: Posenc,
  findings: Findings,
  { config, attentionFactor }: Numbers,
  held: number,
): void {
  if (close(held, attentionFactor, READ_OFF)) {
    findings.add(
      "held-as-computed",
      "attention_factor",
      null,
      "the held attention factor is what the config says",
    );
    return;
  }
  const { attentionFactor: given, ...rest } = config;
  const formula = core.ropeInvFreq(rest).attentionFactor;
  const again = 0.1 * (given ?? 1) * Math.log(config.factor ?? 1) + 1;
  const guessed: [boolean, RuleId, string][] = [
    [
      given !== undefined && close(held, formula, READ_OFF),
      "held-attention-dropped",
      `the formula's factor: attention_factor ${given} was dropped`,
    ],
    [
      given !== undefined && close(held, formula * given, READ_OFF),
      "held-attention-multiplied",
      `the formula's factor times attention_factor ${given}, which replaces it`,
    ],
    [
      given !== undefined && close(held, again, READ_OFF),
      "held-attention-recomputed",
      `0.1 · ${given} · ln(factor) + 1: attention_factor went through the formula again`,
    ],
    [close(held, 1, READ_OFF), "held-attention-one", "no attention factor at all"],
  ];
  const [, id, says] = guessed.find(([fits]) => fits) ?? [
    true,
    "held-unexplained" as const,
    "a factor that no known mistake gives",
  ];
  findings.add(
    id,
    "attention_factor",
    null,
    `the program holds ${significant(held)}, ${says}`,
    significant(attentionFactor),
  );
}

function checkSlopes(core: Posenc, model: Model, held: Float64Array): void {
  const { findings } = model.scopes.text;
  const heads = model.numHeads.value;
  const biasMax = model.alibiBiasMax.value;
  if (heads === null || heads > 4096 || !(biasMax > 0)) return;
  const right = core.alibiSlopes({ numHeads: heads, alibiBiasMax: biasMax });
  if (same(held, right)) {
    findings.add("held-as-computed", "slopes", null, "the held slopes are what the config says");
    return;
  }
  const power = (first: number) =>
    Float64Array.from({ length: heads }, (_, h) => 2 ** ((-biasMax * (h + first)) / heads));
  const guessed: [RuleId, string, Float64Array][] = [
    ["held-slopes-from-zero", "exponents that begin at 0: the first slope is 1", power(0)],
    [
      "held-slopes-naive",
      `2^(-${biasMax}h/n) for ${heads} heads, which holds for powers of two only`,
      power(1),
    ],
    ["held-slopes-sorted", "the right slopes in another order", right.toSorted((a, b) => b - a)],
    ["held-slopes-sorted", "the right slopes in another order", right.toSorted((a, b) => a - b)],
    [
      "held-slopes-bias-max",
      `the slopes of alibi_bias_max 8, not ${biasMax}`,
      core.alibiSlopes({ numHeads: heads }),
    ],
  ];
  const [id, says] = guessed.find(([, , slopes]) => same(held, slopes)) ?? [
    "held-unexplained" as const,
    "slopes that no known mistake gives",
  ];
  findings.add(
    id,
    "slopes",
    null,
    `the program holds ${says}`,
    [...right.subarray(0, 3)].map(significant).join(", "),
  );
}

function checkBuckets(core: Posenc, model: Model, held: Float64Array): void {
  const { findings } = model.scopes.text;
  const reach = (held.length - 1) / 2;
  const { numBuckets, maxDistance } = model.t5;
  if (!Number.isInteger(reach)) {
    findings.add(
      "held-length",
      "buckets",
      null,
      `${held.length} buckets are held, and relative positions -n to n are an odd number`,
      "2n + 1 buckets",
    );
    return;
  }
  const offsets = Int32Array.from({ length: held.length }, (_, i) => i - reach);
  const of = (bidirectional: boolean) =>
    Float64Array.from(
      core.t5Buckets(offsets, {
        numBuckets: numBuckets.value,
        maxDistance: maxDistance.value,
        bidirectional,
      }),
    );
  if (same(held, of(true)))
    findings.add("held-as-computed", "buckets", null, "the held buckets are what the config says");
  else if (same(held, of(false)))
    findings.add(
      "held-buckets-one-sided",
      "buckets",
      null,
      "the program holds the decoder's buckets in an encoder: all keys after the query share bucket 0",
      "half of the buckets for keys after the query",
    );
  else
    findings.add(
      "held-unexplained",
      "buckets",
      null,
      "the held buckets are none that T5 has for these settings",
    );
}

function checkPositions(core: Posenc, findings: Findings, held: Float64Array): void {
  const right = held.map((_, i) => i);
  const [first = 0] = held;
  const at = held.findIndex((value, i) => value !== i);
  if (at < 0) {
    findings.add("held-as-computed", "position_ids", null, "the held positions count from 0");
    return;
  }
  const format = (["bfloat16", "float16", "float32"] as const).find((name) =>
    core.roundTo(right, name).every((value, i) => value === held[i]),
  );
  if (format)
    findings.add(
      "held-positions-in-few-bits",
      "position_ids",
      null,
      `the program holds positions rounded to ${format}: position ${at} is ${held[at]}`,
      "positions as integers",
    );
  else if (held.every((value, i) => value === first + i))
    findings.add(
      "held-positions-shifted",
      "position_ids",
      null,
      `the positions begin at ${first}: padding on the left was counted`,
      "the running count of the attention mask, minus 1",
    );
  else findings.add("held-unexplained", "position_ids", null, `position ${at} is ${held[at]}`, String(at));
}

/** Compares what a program holds with what the model's config says. */
export function checkHeld(
  core: Posenc,
  model: Model,
  numbers: readonly Numbers[],
  held: Held,
  seqLen: number,
): void {
  const { findings } = model.scopes.text;
  const [first] = numbers;
  if (held.invFreq) checkInvFreq(core, model, numbers, held.invFreq, seqLen);
  if (held.attentionFactor !== undefined && first)
    checkAttentionFactor(core, findings, first, held.attentionFactor);
  if (held.slopes) checkSlopes(core, model, held.slopes);
  if (held.buckets) checkBuckets(core, model, held.buckets);
  if (held.positions) checkPositions(core, findings, held.positions);
}
