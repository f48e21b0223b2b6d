// One rotary embedding of a model in normal form: every value that the frequencies depend on, each with its origin.
//
// Based on: transformers, modeling_rope_utils.py, whose order of looking this is: the block first, then the key beside
// it, then the default of the model.

import type { RopeConfig, RopeType } from "../posenc.ts";
import { ANY, type Family } from "./families.ts";
import { firstGiven, type Scope, type Sourced, taken } from "./scope.ts";

export interface Rope {
  /** "all layers", or the layer type: full_attention, sliding_attention … */
  layers: string;
  /** Path of the record with the parameters, "" if there is none. */
  block: string;
  /** The name in the config, which may be an alias of rope_type. */
  spelled: Sourced<string>;
  ropeType: Sourced<RopeType>;
  ropeTheta: Sourced<number>;
  headDim: Sourced<number>;
  /** Components that turn, even. */
  rotaryDim: Sourced<number>;
  /** Denominator of the exponents: rotary_dim before it was made even; 0 if it is rotary_dim. */
  frequencyDim: number;
  partialRotaryFactor: Sourced<number>;
  factor: Sourced<number>;
  originalMax: Sourced<number | null>;
  /** null: by the formula. */
  attentionFactor: Sourced<number | null>;
  /** short_mscale and long_mscale, where they differ; null elsewhere. */
  mscaleByLength: readonly [Sourced<number>, Sourced<number>] | null;
  betaFast: Sourced<number>;
  betaSlow: Sourced<number>;
  truncate: Sourced<boolean>;
  mscale: Sourced<number | null>;
  mscaleAllDim: Sourced<number | null>;
  lowFreqFactor: Sourced<number>;
  highFreqFactor: Sourced<number>;
  shortFactor: Sourced<Float64Array | null>;
  longFactor: Sourced<Float64Array | null>;
  /** llama_4_scaling_beta: how fast queries grow from originalMax on; null: they do not. */
  queryBeta: Sourced<number | null>;
}

/** Names in use for the same formula. */
export const ALIASES: ReadonlyMap<string, RopeType> = new Map([
  ["su", "longrope"],
  ["mrope", "default"],
  ["deepseek_yarn", "yarn"],
]);
export const ROPE_TYPES: readonly RopeType[] = [
  ...(["default", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3", "proportional"] as const),
];

/** Keys of a block that each rope_type reads. */
export const LENGTH = "original_max_position_embeddings";
export const READ_BY: Record<RopeType, readonly string[]> = {
  default: [],
  linear: ["factor"],
  ntk: ["factor", "alpha"],
  dynamic: ["factor", LENGTH, "alpha"],
  yarn: [
    ...["factor", LENGTH, "attention_factor", "beta_fast", "beta_slow", "truncate"],
    ...["mscale", "mscale_all_dim"],
  ],
  longrope: [
    "factor",
    LENGTH,
    "attention_factor",
    "short_factor",
    "long_factor",
    "short_mscale",
    "long_mscale",
  ],
  llama3: ["factor", LENGTH, "low_freq_factor", "high_freq_factor"],
  proportional: ["factor"],
};
/** Keys that any block may hold. */
export const READ_BY_ALL: readonly string[] = [
  ...["rope_type", "type", "rope_theta", "partial_rotary_factor"],
  ...["mrope_section", "mrope_interleaved", "finetuned", "llama_4_scaling_beta"],
];

/** What the reading of a block needs from the model around it. */
export interface Around {
  text: Scope;
  family: Family;
  headDim: Sourced<number>;
  maxPosition: Sourced<number | null>;
  /** rope_theta of these layers outside the block, with its default. */
  ropeTheta: Sourced<number>;
}

const orNull = <T>(found: Sourced<T> | null, why: string): Sourced<T | null> => found ?? taken(null, why);

function readType(block: Scope | null): { spelled: Sourced<string>; ropeType: Sourced<RopeType> } {
  const plain = (why: string) => ({
    spelled: taken("default", why),
    ropeType: taken<RopeType>("default", why),
  });
  if (!block) return plain("no rope_scaling or rope_parameters");
  const spelled = block.text("rope_type") ?? block.text("type");
  if (!spelled) {
    const scales = ["factor", "short_factor", "long_factor", "low_freq_factor"].filter((name) =>
      block.node(name),
    );
    if (scales.length > 0) {
      block.findings.add(
        "rope-type-missing",
        block.path,
        null,
        `${block.path} has ${scales.join(", ")} but no rope_type: it is read as default, and nothing is scaled`,
        "rope_type: linear, dynamic, yarn, longrope or llama3",
      );
    }
    return plain("the block has no rope_type");
  }
  if (block.node("rope_type")) block.text("type");
  const known = ROPE_TYPES.find((name) => name === spelled.value) ?? ALIASES.get(spelled.value);
  if (known) return { spelled, ropeType: { ...spelled, value: known } };
  block.findings.add(
    "rope-type-unknown",
    spelled.key,
    spelled.offset,
    `${spelled.key} is ${JSON.stringify(spelled.value.slice(0, 40))}, which names no known scaling: read here as default`,
    `one of ${ROPE_TYPES.join(", ")}`,
  );
  return { spelled, ropeType: { ...spelled, value: "default" } };
}

type Rotary = Pick<Rope, "rotaryDim" | "partialRotaryFactor" | "frequencyDim">;

/** rotary_dim made even, as the pairs are counted: an odd one stays the denominator of the exponents. */
const evenDim = (dim: Sourced<number>): Pick<Rope, "rotaryDim" | "frequencyDim"> => {
  const odd = Math.abs(dim.value) % 2;
  return { rotaryDim: { ...dim, value: dim.value + odd }, frequencyDim: odd ? dim.value : 0 };
};

/** rotary_dim: the share of head_dim that the block names, else the key of that name, else the model's share. */
function readRotary(block: Scope | null, { text, family, headDim }: Around): Rotary {
  const names = family.keys.partial_rotary_factor ?? ["partial_rotary_factor"];
  const inBlock = block?.number("partial_rotary_factor") ?? null;
  const usual = family.defaults.rotary_dim;
  if (inBlock === null && (usual !== undefined || (family === ANY && text.record.has("rotary_dim")))) {
    const count =
      text.count("rotary_dim") ??
      (usual === undefined || text.isNull("rotary_dim")
        ? { ...headDim, why: "no rotary_dim: the whole head" }
        : taken(usual, "the default of the model"));
    return { ...evenDim(count), partialRotaryFactor: { ...count, value: count.value / headDim.value } };
  }
  const share =
    inBlock ??
    firstGiven(names, (name) => text.number(name)) ??
    taken(family.defaults.partial_rotary_factor ?? 1, "the default of the model");
  const exact = Math.trunc(headDim.value * share.value); // as Python's int()
  const why = `head_dim ${headDim.value} · ${share.value}${share.why && `, ${share.why}`}`;
  return { ...evenDim({ ...share, value: exact, why }), partialRotaryFactor: share };
}

/** Reads one block, or none, into normal form. Whatever is missing is told and given a default that is told too. */
export function readRope(layers: string, block: Scope | null, around: Around): Rope {
  const { text, maxPosition } = around;
  const { findings } = text;
  let { spelled, ropeType } = readType(block);
  const type = ropeType.value;
  const reads = (name: string) => READ_BY[type].includes(name);
  const number = (name: string, fallback: number, why: string): Sourced<number> =>
    (reads(name) ? block?.number(name) : null) ?? taken(fallback, why);
  const maybe = (name: string, why: string): Sourced<number | null> =>
    orNull(reads(name) && block ? block.number(name) : null, why);
  const missing = (name: string, does: string, id: "key-missing" | "factor-missing" = "key-missing") => {
    const node = block?.record.get(name);
    // a factor may be null; another kind has been told
    if (!block || (node && (node.value !== null || id === "factor-missing"))) return;
    findings.add(
      id,
      block.keyOf(name),
      node?.offset ?? null,
      `${block.keyOf(name)} is ${node ? "null" : "missing"}, which ${type} needs: ${does}`,
      block.keyOf(name),
    );
  };
  const whyFormula = "no key: the formula";
  const whyDefault = "the default of transformers";

  const nested = block?.length(LENGTH) ?? null;
  const beside = text.length(LENGTH);
  const originalMax = nested ??
    beside ?? { ...maxPosition, why: `max_position_embeddings, as ${LENGTH} is absent` };

  let factor: Sourced<number>;
  const givenFactor = type === "default" ? null : (block?.number("factor") ?? null);
  if (givenFactor) factor = givenFactor;
  else if (type === "yarn" || type === "longrope") {
    const ratio =
      maxPosition.value !== null && originalMax.value !== null ? maxPosition.value / originalMax.value : 1;
    factor = taken(
      // LongRoPE's attention factor is 1 for any ratio up to 1.
      type === "longrope" ? Math.max(1, ratio) : ratio,
      "max_position_embeddings / original_max_position_embeddings",
    );
    if (type === "yarn") missing("factor", `the ratio of the lengths, ${ratio}, is taken`, "factor-missing");
  } else {
    factor = taken(1, "no scaling");
    if (["linear", "dynamic", "llama3", "ntk"].includes(type) && !block?.node("alpha")) {
      missing("factor", "1 is taken, which scales nothing", "factor-missing");
    }
  }
  // HunYuan writes "dynamic" with an alpha, and means the static formula with that multiplier.
  const alpha = reads("alpha") ? (block?.number("alpha") ?? null) : null;
  if (alpha && alpha.value > 0) {
    ropeType = { ...ropeType, value: "ntk" };
    factor = alpha;
  }
  if (type === "llama3") {
    missing("low_freq_factor", "1 is taken");
    missing("high_freq_factor", "4 is taken");
  }
  if (type === "longrope") {
    missing("short_factor", "the frequencies cannot be computed");
    missing("long_factor", "the frequencies cannot be computed");
  }
  const list = (name: string) => orNull(reads(name) && block ? block.numbers(name) : null, "absent");
  const theta = block?.number("rope_theta") ?? around.ropeTheta;
  // transformers takes a 0 for absent.
  const scale = (name: string): Sourced<number | null> => {
    const found = maybe(name, "absent");
    return found.value === 0 ? { ...found, value: null, why: "0 counts as absent" } : found;
  };
  // Phi-3.5-MoE names the attention factor of each list.
  const given = maybe("attention_factor", whyFormula);
  const [short, long] = [maybe("short_mscale", "absent"), maybe("long_mscale", "absent")];
  const byList = given.value === null && short.value !== null && long.value !== null;
  const mscales = byList ? ([short, long] as [Sourced<number>, Sourced<number>]) : null;
  const equal = mscales !== null && mscales[0].value === mscales[1].value;
  const whole = type === "proportional";
  const rotary = readRotary(block, around);
  return {
    layers,
    block: block?.path ?? "",
    spelled,
    ropeType,
    ropeTheta: theta,
    headDim: around.headDim,
    ...rotary,
    ...(whole && {
      rotaryDim: { ...around.headDim, why: "proportional: every pair has a frequency, some 0" },
      frequencyDim: 0,
    }),
    factor,
    originalMax,
    attentionFactor: equal ? short : given,
    mscaleByLength: equal ? null : mscales,
    betaFast: number("beta_fast", 32, whyDefault),
    betaSlow: number("beta_slow", 1, whyDefault),
    truncate: (reads("truncate") ? block?.truth("truncate") : null) ?? taken(true, whyDefault),
    mscale: scale("mscale"),
    mscaleAllDim: scale("mscale_all_dim"),
    lowFreqFactor: number("low_freq_factor", 1, whyDefault),
    highFreqFactor: number("high_freq_factor", 4, whyDefault),
    shortFactor: list("short_factor"),
    longFactor: list("long_factor"),
    queryBeta: orNull(block?.number("llama_4_scaling_beta") ?? null, "absent"),
  };
}

/** The same embedding as the core takes it. */
export function ropeConfig(rope: Rope): RopeConfig {
  const given = <K extends keyof RopeConfig>(name: K, value: RopeConfig[K] | null) =>
    value === null ? {} : { [name]: value };
  return {
    headDim: rope.headDim.value,
    rotaryDim: rope.rotaryDim.value,
    frequencyDim: rope.frequencyDim,
    ropeTheta: rope.ropeTheta.value,
    ropeType: rope.ropeType.value,
    factor: rope.factor.value,
    ...given("originalMaxPositionEmbeddings", rope.originalMax.value),
    ...given("attentionFactor", rope.attentionFactor.value),
    betaFast: rope.betaFast.value,
    betaSlow: rope.betaSlow.value,
    truncate: rope.truncate.value,
    ...given("mscale", rope.mscale.value),
    ...given("mscaleAllDim", rope.mscaleAllDim.value),
    lowFreqFactor: rope.lowFreqFactor.value,
    highFreqFactor: rope.highFreqFactor.value,
    ...(rope.ropeType.value === "proportional" && { partialRotaryFactor: rope.partialRotaryFactor.value }),
    ...given("shortFactor", rope.shortFactor.value),
    ...given("longFactor", rope.longFactor.value),
  };
}
