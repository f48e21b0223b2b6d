// What a model's code reads from its config: under which names, and what it takes where a name is absent. A name that a
// model does not read has no effect, however well it is spelled; so each family lists its own.
//
// Based on: transformers, configuration_*.py and modeling_*.py of each model_type; meta-llama/llama, params.json.

import type { PairLayout } from "../posenc.ts";

/** The values that families call by different names. */
export type Field =
  | "hidden_size"
  | "num_attention_heads"
  | "num_key_value_heads"
  | "head_dim"
  | "max_position_embeddings"
  | "rope_theta"
  | "partial_rotary_factor"
  | "rotary_dim";

export type Encoding = "rope" | "alibi" | "t5" | "learned" | "none";

export interface Family {
  names: readonly string[];
  encoding: Encoding;
  /** Of the published checkpoints, as this model's own code reads them. */
  layout: PairLayout;
  /** Names that are read, the first that is present wins. A field that is not listed goes by its own name. */
  keys: Partial<Record<Field, readonly string[]>>;
  /** What is taken where the name is absent. */
  defaults: Partial<Record<Field, number>>;
  /** rope_theta of the sliding-window layers, where it has a key of its own. */
  local?: { key: string; theta: number };
  /** rope_theta is a constant of the code. */
  fixedTheta?: true;
  /** The heads of q and k have a part without rotation beside head_dim: its key and default. */
  unrotated?: { key: string; width: number };
  /** head_dim of the full_attention layers, where it has a key of its own. */
  globalHeadDim?: { key: string; width: number };
  /** A position table starts at this row: a number, or the row after pad_token_id. */
  firstRow?: number | "pad_token_id";
  /** q and k are normalised, and their products taken as they are. */
  unscaledScores?: true;
  /** ALiBi is added before the scores are multiplied by 1/sqrt(head_dim). */
  alibiBeforeScale?: true;
}

const family = (names: string, rest: Partial<Omit<Family, "names">> = {}): Family => ({
  names: names.split(" "),
  encoding: "rope",
  layout: "half",
  keys: {},
  defaults: {},
  ...rest,
});
const GPT_NAMES = {
  hidden_size: ["n_embd", "hidden_size"],
  num_attention_heads: ["n_head", "num_attention_heads"],
  max_position_embeddings: ["n_positions", "max_position_embeddings"],
} as const;
const DEEPSEEK = {
  keys: { head_dim: ["qk_rope_head_dim", "head_dim"] },
  defaults: { head_dim: 64 },
  unrotated: { key: "qk_nope_head_dim", width: 128 },
} as const;

const GEMMA3 = {
  defaults: { head_dim: 256, rope_theta: 1e6 },
  local: { key: "rope_local_base_freq", theta: 10000 },
} as const;

/** Where nothing is said of the model: the names and defaults that most share. */
export const ANY: Family = family("", {
  keys: {
    hidden_size: ["hidden_size", "n_embd", "d_model"],
    num_attention_heads: ["num_attention_heads", "n_head", "n_heads"],
    max_position_embeddings: ["max_position_embeddings", "n_positions", "max_seq_len", "seq_length"],
    rope_theta: ["rope_theta", "rotary_emb_base"],
    partial_rotary_factor: ["partial_rotary_factor", "rotary_pct", "rope_pct"],
  },
});

/** Meta's own params.json, which has no model_type. */
export const META: Family = family("params.json", {
  layout: "interleaved",
  keys: {
    hidden_size: ["dim"],
    num_attention_heads: ["n_heads"],
    num_key_value_heads: ["n_kv_heads"],
    max_position_embeddings: ["max_seq_len"],
  },
});

export const FAMILIES: readonly Family[] = [
  family(
    "llama mistral mixtral ministral qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen2_vl_text qwen2_5_vl_text phi3 phimoe phi4mm " +
      "olmo olmo2 olmo3 olmoe starcoder2 granite granitemoe minicpm mistral3 arcee smollm3 exaone exaone4 yi aquila seed_oss hunyuan " +
      "hunyuan_v1_dense hunyuan_v1_moe internvl_chat bitnet apertus lfm2 dots1 ernie4_5_moe baichuan_m1 nanochat",
  ),
  family("qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text", {
    defaults: { head_dim: 128 },
  }),
  family("qwen3_next", { defaults: { head_dim: 256, partial_rotary_factor: 0.25 } }),
  family("internlm2 internlm3", { defaults: { rope_theta: 10000 } }),
  family("gemma gemma2", { defaults: { head_dim: 256 } }),
  family("gemma3 gemma3_text", GEMMA3),
  family("gemma3n gemma3n_text", { ...GEMMA3, unscaledScores: true }),
  family("gemma4 gemma4_text", {
    defaults: { head_dim: 256 },
    unscaledScores: true,
    globalHeadDim: { key: "global_head_dim", width: 512 },
  }),
  family("modernbert", {
    keys: { rope_theta: ["global_rope_theta"] },
    defaults: { rope_theta: 160000 },
    local: { key: "local_rope_theta", theta: 10000 },
  }),
  family("gpt_oss", { defaults: { head_dim: 64, rope_theta: 150000 } }),
  family("gpt_neox", {
    keys: {
      rope_theta: ["rotary_emb_base", "rope_theta"],
      partial_rotary_factor: ["rotary_pct", "partial_rotary_factor"],
    },
    defaults: { partial_rotary_factor: 0.25 },
  }),
  family("gpt_neox_japanese", {
    keys: { rope_theta: ["rotary_emb_base", "rope_theta"], partial_rotary_factor: ["rotary_pct"] },
  }),
  family("gptj codegen", {
    layout: "interleaved",
    keys: GPT_NAMES,
    defaults: { rotary_dim: 64 },
    fixedTheta: true,
  }),
  family("phi", { defaults: { partial_rotary_factor: 0.5 } }),
  family("phi-msft mixformer-sequential", {
    keys: GPT_NAMES,
    defaults: { rotary_dim: 32 },
    fixedTheta: true,
  }),
  family("persimmon fuyu", { defaults: { partial_rotary_factor: 0.5, rope_theta: 25000 } }),
  family("stablelm", { defaults: { partial_rotary_factor: 0.25 } }),
  family("stablelm_epoch", {
    keys: { partial_rotary_factor: ["rope_pct"] },
    defaults: { partial_rotary_factor: 0.25 },
  }),
  family("nemotron", { defaults: { partial_rotary_factor: 0.5 } }),
  family("glm glm4", { layout: "interleaved", defaults: { partial_rotary_factor: 0.5, head_dim: 128 } }),
  family("glm4_moe", { defaults: { partial_rotary_factor: 0.5 } }),
  family("chatglm", {
    layout: "interleaved",
    keys: { head_dim: ["kv_channels"], max_position_embeddings: ["seq_length"] },
    defaults: { partial_rotary_factor: 0.5, head_dim: 128 },
    fixedTheta: true,
  }),
  family("qwen", {
    keys: {
      head_dim: ["kv_channels"],
      rope_theta: ["rotary_emb_base"],
      partial_rotary_factor: ["rotary_pct"],
      max_position_embeddings: ["seq_length", "max_position_embeddings"],
    },
    defaults: { head_dim: 128 },
  }),
  family("cohere cohere2", { layout: "interleaved" }),
  family("llama4 llama4_text", { layout: "interleaved", defaults: { rope_theta: 500000 } }),
  family("ernie4_5 helium", { layout: "interleaved" }),
  family("deepseek_v2 deepseek_v3 kimi_k2", { layout: "interleaved", ...DEEPSEEK }),
  family("minicpm3", {
    ...DEEPSEEK,
    defaults: { head_dim: 32 },
    unrotated: { key: "qk_nope_head_dim", width: 64 },
  }),
  family("falcon RefinedWeb RefinedWebModel", {
    keys: { num_attention_heads: ["num_attention_heads", "n_head"] },
    alibiBeforeScale: true,
  }),
  family("bloom", {
    encoding: "alibi",
    keys: { hidden_size: ["hidden_size", "n_embed"], num_attention_heads: ["n_head", "num_attention_heads"] },
  }),
  family("mpt", {
    encoding: "alibi",
    keys: {
      hidden_size: ["d_model", "hidden_size"],
      num_attention_heads: ["n_heads", "num_attention_heads"],
      max_position_embeddings: ["max_seq_len"],
    },
  }),
  family("t5 mt5 umt5 longt5 switch_transformers", {
    encoding: "t5",
    keys: {
      hidden_size: ["d_model"],
      num_attention_heads: ["num_heads"],
      head_dim: ["d_kv"],
      max_position_embeddings: ["n_positions"],
    },
  }),
  family("gpt2 gpt_bigcode", { encoding: "learned", keys: GPT_NAMES }),
  family("bert electra distilbert albert vit", { encoding: "learned" }),
  family("roberta xlm-roberta camembert", { encoding: "learned", firstRow: "pad_token_id" }),
  family("opt", { encoding: "learned", firstRow: 2 }),
  family("jamba mamba mamba2", { encoding: "none" }),
];

const BY_NAME = new Map(FAMILIES.flatMap((entry) => entry.names.map((name) => [name, entry] as const)));
export const familyOf = (modelType: string): Family | undefined => BY_NAME.get(modelType);

/** Where a vision-language model keeps the config of its language model. */
export const TEXT_CONFIGS = ["text_config", "llm_config", "language_config"] as const;
