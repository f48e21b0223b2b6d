// A config.json in normal form: what the model's own code makes of it, every value with its origin.

import type { MropeLayout, PairLayout } from "../posenc.ts";
import { ANY, type Encoding, type Family, type Field, familyOf, META, TEXT_CONFIGS } from "./families.ts";
import type { Findings } from "./finding.ts";
import { kindOf, type Node } from "./json.ts";
import { type Around, type Rope, readRope } from "./rope.ts";
import { firstGiven, Scope, type Sourced, taken } from "./scope.ts";

export interface Mrope {
  sections: Sourced<Float64Array>;
  layout: Sourced<MropeLayout>;
}
export interface Model {
  modelType: Sourced<string>;
  family: Family;
  encoding: Sourced<Encoding>;
  hiddenSize: Sourced<number | null>;
  numHeads: Sourced<number | null>;
  numKvHeads: Sourced<number | null>;
  /** Components of q and k that RoPE may turn. */
  headDim: Sourced<number | null>;
  /** Components of q and k without rotation beside them (DeepSeek), 0 elsewhere. */
  unrotatedDim: Sourced<number>;
  maxPosition: Sourced<number | null>;
  dtype: Sourced<string | null>;
  layout: Sourced<PairLayout>;
  /** What the scores are multiplied by, before what YaRN adds to it. */
  scoreScale: Sourced<number | null>;
  alibiBiasMax: Sourced<number>;
  t5: { numBuckets: Sourced<number>; maxDistance: Sourced<number> };
  mrope: Mrope | null;
  /** One for each kind of layer; none if the config has no usable RoPE. */
  ropes: Rope[];
  /** The scopes that were read, for what was left unread in them. */
  scopes: { text: Scope; outer: Scope | null; blocks: Scope[] };
}

/** Largest head that is taken for one: the widest in use has 576. */
export const MAX_HEAD_DIM = 2 ** 14;

interface Reading {
  text: Scope;
  family: Family;
}
const namesOf = ({ family }: Reading, field: Field): readonly string[] => family.keys[field] ?? [field];
const countOf = (reading: Reading, field: Field): Sourced<number> | null =>
  firstGiven(namesOf(reading, field), (name) => reading.text.count(name));
const orAbsent = <T>(found: Sourced<T> | null): Sourced<T | null> => found ?? taken(null, "absent");

/** The record that holds the language model: the root, or text_config below it. */
function textOf(root: Scope): { text: Scope; outer: Scope | null } {
  for (const name of TEXT_CONFIGS) {
    if (!(root.record.get(name)?.value instanceof Map)) continue;
    const inner = root.scope(name);
    if (inner) return { text: inner, outer: root };
  }
  return { text: root, outer: null };
}

function readFamily(text: Scope, outer: Scope | null): { modelType: Sourced<string>; family: Family } {
  const given = text.text("model_type") ?? outer?.text("model_type") ?? null;
  if (given) {
    const family = familyOf(given.value);
    if (family) return { modelType: given, family };
    text.findings.add(
      "model-type-unknown",
      given.key,
      given.offset,
      `${given.key} ${JSON.stringify(given.value.slice(0, 40))} is not known here: keys are read under the names that most models use`,
      "compare the defaults below with the model's own code",
    );
    return { modelType: given, family: ANY };
  }
  if (text.record.has("dim") && text.record.has("n_heads")) {
    return { modelType: taken("params.json", "dim and n_heads are Meta's own names"), family: META };
  }
  return {
    modelType: taken("", "no model_type: the names and defaults that most models share"),
    family: ANY,
  };
}

function readHeadDim(
  reading: Reading,
  hidden: Sourced<number | null>,
  heads: Sourced<number | null>,
): Sourced<number | null> {
  const { text, family } = reading;
  const given = countOf(reading, "head_dim");
  if (given) return given;
  const usual = family.defaults.head_dim;
  if (usual !== undefined) return taken(usual, "the default of the model");
  if (hidden.value !== null && heads.value !== null) {
    const whole = Math.floor(hidden.value / heads.value);
    const keys = `${hidden.key || "hidden_size"} / ${heads.key || "num_attention_heads"}`;
    if (whole * heads.value !== hidden.value) {
      text.findings.add(
        "heads-do-not-divide",
        heads.key,
        heads.offset,
        `${keys} = ${hidden.value} / ${heads.value} is not whole, and there is no head_dim: ${whole} is taken`,
        "a head count that divides hidden_size, or a head_dim",
      );
    }
    return whole >= 1 ? taken(whole, keys) : taken(null, "hidden_size is smaller than the head count");
  }
  return taken(null, "neither head_dim nor hidden_size and num_attention_heads");
}

/** The blocks with rotary parameters: one, or one for each kind of layer. */
function readBlocks(text: Scope): { flat: Scope | null; nested: Scope[]; all: Scope[] } {
  const scaling = text.scope("rope_scaling");
  const parameters = text.scope("rope_parameters");
  const both =
    scaling !== null && parameters !== null && scaling.record.size > 0 && parameters.record.size > 0;
  if (both) {
    text.findings.add(
      "block-twice",
      scaling.path,
      text.node("rope_scaling")?.offset ?? null,
      `both ${scaling.path} and ${parameters.path} are given; transformers takes rope_scaling and drops the other`,
      "one of them",
    );
  }
  const block = scaling && scaling.record.size > 0 ? scaling : parameters;
  if (!block || block.record.size === 0) return { flat: null, nested: [], all: [] };
  const kinds = block.records(kindsOf(text, block));
  const nested = kinds.slice(0, MAX_KINDS);
  if (kinds.length > MAX_KINDS) {
    text.findings.add(
      "wrong-value",
      block.path,
      null,
      `${block.path} holds ${kinds.length} blocks, more kinds of layers than any model has: the first ${MAX_KINDS} are read`,
      "one block for each kind of layer",
    );
  }
  if (nested.length === 0) return { flat: block, nested: [], all: [block] };
  checkKinds(text, block, nested);
  return { flat: null, nested, all: [block, ...nested] };
}

const MAX_KINDS = 16;
const LAYER_TYPES = ["full_attention", "sliding_attention", "chunked_attention"];
/** The kinds of layers that the config declares, or null if they are not told. */
function declaredKinds(text: Scope): string[] {
  const list = text.node("layer_types")?.value;
  return Array.isArray(list) ? list.flatMap(({ value }) => (typeof value === "string" ? [value] : [])) : [];
}
/** Names under which a block may hold others; null for any, where it holds nothing else. */
function kindsOf(text: Scope, block: Scope): readonly string[] | null {
  const alone = [...block.record.values()].every(({ value }) => value instanceof Map);
  return alone ? null : [...new Set([...LAYER_TYPES, ...declaredKinds(text)])];
}
function checkKinds(text: Scope, block: Scope, nested: readonly Scope[]): void {
  const given = nested.map(({ path }) => path);
  const without = LAYER_TYPES.filter(
    (kind) => declaredKinds(text).includes(kind) && !given.includes(block.keyOf(kind)),
  );
  for (const kind of without) {
    text.findings.add(
      "layer-type-without-rope",
      block.path,
      null,
      `layer_types has ${kind}, for which ${block.path} holds no parameters`,
      block.keyOf(kind),
    );
  }
}

function readTheta(reading: Reading): Sourced<number> {
  const { text, family } = reading;
  if (family.fixedTheta) {
    const ratio = text.record.has("rope_ratio") ? text.number("rope_ratio") : null;
    if (ratio) return { ...ratio, value: 10000 * ratio.value, why: "10000 · rope_ratio" };
    return taken(10000, "a constant in the model's code");
  }
  const given = firstGiven(namesOf(reading, "rope_theta"), (name) => text.number(name));
  if (given) return given;
  const usual = family.defaults.rope_theta;
  return taken(
    usual ?? 10000,
    usual === undefined ? "the default of transformers" : "the default of the model",
  );
}

function readRopes(
  reading: Reading,
  around: Omit<Around, "headDim" | "ropeTheta">,
  headDim: Sourced<number>,
): { ropes: Rope[]; blocks: Scope[] } {
  const { text, family } = reading;
  const { flat, nested, all } = readBlocks(text);
  const whole: Around = { ...around, headDim, ropeTheta: readTheta(reading) };
  const { local, globalHeadDim } = family;
  const wide = globalHeadDim && {
    ...whole,
    headDim: text.count(globalHeadDim.key) ?? taken(globalHeadDim.width, "the default of the model"),
  };
  const localTheta = (): Sourced<number> =>
    (local && text.number(local.key)) ?? taken(local?.theta ?? 10000, "the default of the model");
  if (nested.length > 0) {
    const ropes = nested.map((block) => {
      const layers = block.path.slice(block.path.lastIndexOf(".") + 1);
      if (layers === "full_attention" && wide) return readRope(layers, block, wide);
      if (layers === "sliding_attention" && local)
        return readRope(layers, block, { ...whole, ropeTheta: localTheta() });
      return readRope(layers, block, whole);
    });
    return { ropes, blocks: all };
  }
  if (family === META && text.record.has("use_scaled_rope")) {
    const scaled = text.truth("use_scaled_rope");
    const rope = readRope("all layers", null, whole);
    return { ropes: [scaled?.value ? metaScaling(rope, scaled) : rope], blocks: [] };
  }
  if (local) {
    // Scaling is for the layers that see the whole sequence.
    return {
      ropes: [
        readRope("full_attention", flat, whole),
        readRope("sliding_attention", null, { ...whole, ropeTheta: localTheta() }),
      ],
      blocks: all,
    };
  }
  if (wide)
    return {
      ropes: [readRope("full_attention", flat, wide), readRope("sliding_attention", flat, whole)],
      blocks: all,
    };
  return { ropes: [readRope("all layers", flat, whole)], blocks: all };
}

/** meta-llama/llama-models, use_scaled_rope: constants of the code. */
function metaScaling(rope: Rope, scaled: Sourced<boolean>): Rope {
  const constant = (value: number) => taken(value, "a constant behind use_scaled_rope");
  return {
    ...rope,
    spelled: { ...scaled, value: "use_scaled_rope" },
    ropeType: { ...scaled, value: "llama3" },
    factor: constant(8),
    lowFreqFactor: constant(1),
    highFreqFactor: constant(4),
    originalMax: constant(8192),
  };
}

function readMrope(text: Scope, blocks: Scope[]): Mrope | null {
  const holder = blocks.find((block) => block.node("mrope_section"));
  const sections = holder?.numbers("mrope_section");
  if (!holder || !sections) return null;
  const interleaved = holder.truth("mrope_interleaved") ?? text.truth("mrope_interleaved");
  const layout = interleaved?.value ? "interleaved" : "chunked";
  return {
    sections,
    layout: interleaved ? { ...interleaved, value: layout } : taken(layout, "the default of Qwen2-VL"),
  };
}

function readEncoding(
  text: Scope,
  family: Family,
): { encoding: Sourced<Encoding>; alibiBiasMax: Sourced<number> } {
  const eight = taken(8, "the default of ALiBi");
  const attention = text.record.get("attn_config")?.value instanceof Map ? text.scope("attn_config") : null;
  const bias = attention?.number("alibi_bias_max") ?? text.number("alibi_bias_max") ?? eight;
  const alibi = attention?.truth("alibi") ?? text.truth("alibi");
  const rope = attention?.truth("rope");
  if (rope?.value) return { encoding: { ...rope, value: "rope" }, alibiBiasMax: bias };
  if (alibi?.value) return { encoding: { ...alibi, value: "alibi" }, alibiBiasMax: bias };
  const named = text.record.has("position_embedding_type") ? text.text("position_embedding_type") : null;
  if (named?.value === "alibi") return { encoding: { ...named, value: "alibi" }, alibiBiasMax: bias };
  if (named?.value === "absolute" && family === ANY) {
    return { encoding: { ...named, value: "learned" }, alibiBiasMax: bias };
  }
  if (family.encoding === "alibi" && alibi && !alibi.value) {
    return { encoding: { ...alibi, value: "learned" }, alibiBiasMax: bias };
  }
  if (family === ANY && text.record.has("relative_attention_num_buckets")) {
    return { encoding: taken("t5", "relative_attention_num_buckets is given"), alibiBiasMax: bias };
  }
  return { encoding: taken(family.encoding, "the encoding of the model"), alibiBiasMax: bias };
}

function readLayout(text: Scope, family: Family): Sourced<PairLayout> {
  const key = text.truth("rope_interleave") ?? text.truth("rope_interleaved");
  if (key) return { ...key, value: key.value ? "interleaved" : "half" };
  if (family === ANY) return taken(family.layout, "assumed: nothing says the model");
  return taken(family.layout, "how the model's code reads its checkpoint");
}

function readScoreScale(
  { text, family }: Reading,
  encoding: Encoding,
  width: number | null,
): Sourced<number | null> {
  if (encoding === "t5") return taken(1, "T5 does not scale its scores");
  if (family.unscaledScores) return taken(1, "a constant in the model's code, which normalises q and k");
  const scalar = text.number("query_pre_attn_scalar");
  if (scalar && scalar.value > 0)
    return { ...scalar, value: 1 / Math.sqrt(scalar.value), why: "query_pre_attn_scalar^-1/2" };
  const multiplier = text.number("attention_multiplier");
  if (multiplier) return multiplier;
  return width === null
    ? taken(null, "head_dim is unknown")
    : taken(1 / Math.sqrt(width), `${width}^-1/2, all components of a head`);
}

/** Brings the record at the root into normal form; null if the root is no record. */
export function readModel(root: Node, findings: Findings): Model | null {
  if (!(root.value instanceof Map)) {
    findings.add(
      "not-a-config",
      "",
      root.offset,
      `the text holds ${kindOf(root.value)}`,
      "an object, as in a config.json",
    );
    return null;
  }
  const { text, outer } = textOf(new Scope(root.value, "", findings));
  const { modelType, family } = readFamily(text, outer);
  const reading = { text, family };
  const hiddenSize = orAbsent(countOf(reading, "hidden_size"));
  const numHeads = orAbsent(countOf(reading, "num_attention_heads"));
  const numKvHeads = orAbsent(countOf(reading, "num_key_value_heads"));
  const maxPosition = orAbsent(
    firstGiven(namesOf(reading, "max_position_embeddings"), (name) => text.length(name)),
  );
  const { encoding, alibiBiasMax } = readEncoding(text, family);
  let headDim = readHeadDim(reading, hiddenSize, numHeads);
  if (headDim.value !== null && headDim.value > MAX_HEAD_DIM) {
    findings.add(
      "wrong-value",
      headDim.key || "head_dim",
      headDim.offset,
      `head_dim is ${headDim.value}, wider than any model's`,
      `at most ${MAX_HEAD_DIM}`,
    );
    headDim = { ...headDim, value: null };
  }
  const unrotatedDim = family.unrotated
    ? (text.count(family.unrotated.key) ?? taken(family.unrotated.width, "the default of the model"))
    : taken(0, "every component of a head belongs to head_dim");
  const width = headDim.value === null ? null : headDim.value + unrotatedDim.value;
  const { value: dim } = headDim;
  const { ropes, blocks } =
    encoding.value === "rope" && dim !== null
      ? readRopes(reading, { text, family, maxPosition }, { ...headDim, value: dim })
      : { ropes: [], blocks: readBlocks(text).all };
  return {
    modelType,
    family,
    encoding,
    hiddenSize,
    numHeads,
    numKvHeads,
    headDim,
    unrotatedDim,
    maxPosition,
    dtype: orAbsent(
      text.text("torch_dtype") ??
        text.text("dtype") ??
        outer?.text("torch_dtype") ??
        outer?.text("dtype") ??
        null,
    ),
    layout: readLayout(text, family),
    scoreScale: readScoreScale(reading, encoding.value, width),
    alibiBiasMax,
    t5: {
      numBuckets: text.count("relative_attention_num_buckets") ?? taken(32, "the default of T5"),
      maxDistance: text.count("relative_attention_max_distance") ?? taken(128, "the default of T5"),
    },
    mrope: readMrope(text, blocks),
    ropes,
    scopes: { text, outer, blocks },
  };
}
