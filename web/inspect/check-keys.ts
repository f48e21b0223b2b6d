// Findings on keys: those that come twice, that nobody reads, that are spelled in a way some programs miss, and the
// defaults taken where a key is absent. A key that has no effect is told with the effect it would have had.

import type { Findings } from "./finding.ts";
import { type Duplicate, join, type Node } from "./json.ts";
import type { Model } from "./model.ts";
import { READ_BY, READ_BY_ALL, type Rope } from "./rope.ts";
import type { Scope } from "./scope.ts";

/** At most so many findings of one kind: a file made to be odd may have a million. */
const MOST = 20;

export function checkDuplicates(findings: Findings, duplicates: readonly Duplicate[]): void {
  for (const { path, offset } of duplicates) {
    findings.add("duplicate-key", path, offset, `${path} comes twice; the last one is used`, "one of them");
  }
}

/** Names that stand for a key of the block in other programs, and what they are called here. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ["attn_factor", "attention_factor"],
  ["attention_scaling", "attention_factor"],
  ["scaling_factor", "factor"],
  ["scale", "factor"],
  ["rope_factor", "factor"],
  ["scaling_type", "rope_type"],
  ["rope_scaling_type", "rope_type"],
  ["original_max_position", "original_max_position_embeddings"],
  ["original_context_length", "original_max_position_embeddings"],
  ["original_max_seq_len", "original_max_position_embeddings"],
  ["base", "rope_theta"],
  ["theta", "rope_theta"],
  ["rope_base", "rope_theta"],
  ["rotary_base", "rope_theta"],
  ["rotary_emb_base", "rope_theta"],
  ["rotary_pct", "partial_rotary_factor"],
  ["rope_pct", "partial_rotary_factor"],
  ["rotary_dim", "partial_rotary_factor"],
  ["n_positions", "max_position_embeddings"],
  ["max_seq_len", "max_position_embeddings"],
  ["seq_length", "max_position_embeddings"],
]);

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, "");

/** Whether one name is the other with at most two letters added, lost or changed. */
function almost(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 2) return false;
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(
        Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    }
    row = next;
  }
  return (row[b.length] ?? 9) <= 2;
}

/** The key that was probably meant; null if it is like none. */
export function meantKey(name: string, known: readonly string[]): string | null {
  const meant = MEANT.get(name);
  if (meant !== undefined && known.includes(meant)) return meant;
  const own = letters(name);
  if (own.length < 4 || own.length > 40) return null;
  return known.find((key) => key !== name && almost(own, letters(key))) ?? null;
}

/**
 * What the model would be if the value of one key stood under another; "" if that makes no difference, null if it has
 * not been computed.
 */
export type EffectOf = (scope: Scope, name: string, meant: string) => string | null;

function tellUnread(
  id: "unknown-rope-key" | "unread-top-key",
  scope: Scope,
  [name, node]: [string, Node],
  known: readonly string[],
  effectOf: EffectOf,
): void {
  const key = scope.keyOf(name);
  // What a key would have changed is computed anew for each: a record of thousands is not worth it.
  const meant = scope.record.size > 10 * MOST ? null : meantKey(name, known);
  const effect = meant === null ? null : effectOf(scope, name, meant);
  const nobody = `${key} is read by no program that follows transformers`;
  scope.findings.add(
    id,
    key,
    node.offset,
    effect === null
      ? `${nobody}: it has no effect`
      : `${nobody}; as ${meant} it would ${effect || "change nothing"}`,
    meant === null ? "no such key" : join(scope.path, meant),
  );
}

function tellRest(id: "unknown-rope-key" | "unread-top-key", scope: Scope, rest: number): void {
  if (rest <= 0) return;
  const where = scope.path || "the config";
  scope.findings.add(
    id,
    scope.path,
    null,
    `${rest} more keys of ${where} are not read; the first ${MOST} are told`,
  );
}

/** Keys of the blocks: unknown ones, and known ones that the rope_type does not read. */
function checkBlock(scope: Scope, ropes: readonly Rope[], nested: boolean, effectOf: EffectOf): void {
  const { findings } = scope;
  const types = nested
    ? []
    : [...new Set(ropes.map(({ ropeType, spelled }) => [ropeType.value, spelled.value] as const))];
  const reads = [
    ...READ_BY_ALL,
    ...types.flatMap(([type, spelled]) => [
      ...READ_BY[type],
      ...(spelled === "dynamic" ? READ_BY.dynamic : []),
    ]),
  ];
  const known = [...new Set([...READ_BY_ALL, ...Object.values(READ_BY).flat()])];
  const odd = [...scope.record].filter(
    ([name, { value }]) =>
      value !== null && (nested ? !(value instanceof Map) : value instanceof Map || !reads.includes(name)),
  );
  tellRest("unknown-rope-key", scope, odd.length - MOST);
  for (const [name, node] of odd.slice(0, MOST)) {
    if (!known.includes(name)) {
      tellUnread("unknown-rope-key", scope, [name, node], known, effectOf);
      continue;
    }
    if (findings.list.some(({ key, id }) => key === scope.keyOf(name) && id === "rope-type-missing"))
      continue;
    const readers = Object.entries(READ_BY)
      .filter(([, keys]) => keys.includes(name))
      .map(([type]) => type);
    const here = nested
      ? "beside blocks for single kinds of layers"
      : `with rope_type ${types.map(([type]) => type).join(", ")}`;
    findings.add(
      "unused-rope-key",
      scope.keyOf(name),
      node.offset,
      `${scope.keyOf(name)} is not read ${here}${readers.length > 0 ? `, only by ${readers.join(", ")}` : ""}`,
      "no such key, or another rope_type",
    );
  }
}

const ABOUT_POSITION = /rope|rotary|theta|yarn|ntk|alibi|max_pos|original_max|max_seq|pos_emb|position_emb/i;
/** Keys about positions that say nothing of the numbers here. */
const HARMLESS = new Set([
  ...[
    "rope_scaling",
    "rope_parameters",
    "position_embedding_type",
    "use_rope",
    "rope_scaling_type",
    "type_vocab_size",
  ],
  ...[
    "no_rope_layers",
    "no_rope_layer_interval",
    "use_dynamic_ntk",
    "use_logn_attn",
    "max_position_embeddings",
  ],
  ...[
    "original_max_position_embeddings",
    "rope_ratio",
    "original_rope",
    "rope_interleave",
    "rope_interleaved",
  ],
  ...[
    "rope_theta_list",
    "vision_rope_theta",
    "tie_word_embeddings",
    "model_max_length",
    "rotary",
    "n_positions",
  ],
]);

/** Keys outside the blocks that look as if they set the rotation, and are not read by this model. */
function checkTop(model: Model, effectOf: EffectOf): void {
  const { text } = model.scopes;
  const known = [
    ...["rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "head_dim"],
    ...["max_position_embeddings", "original_max_position_embeddings", "num_attention_heads", "hidden_size"],
  ];
  const odd = text.unread().filter(([name, { value }]) => {
    if (value === null || name.length > 60 || name.endsWith("_config") || HARMLESS.has(name)) return false;
    return (
      /^(rope|rotary|yarn|ntk)/i.test(name) || (ABOUT_POSITION.test(name) && meantKey(name, known) !== null)
    );
  });
  tellRest("unread-top-key", text, odd.length - MOST);
  for (const entry of odd.slice(0, MOST)) tellUnread("unread-top-key", text, entry, known, effectOf);
}

function checkSpelling(model: Model): void {
  const { findings } = model.scopes.text;
  for (const block of model.scopes.blocks) {
    const [now, old] = [block.record.get("rope_type"), block.record.get("type")];
    if (
      now &&
      old &&
      typeof now.value === "string" &&
      typeof old.value === "string" &&
      now.value !== old.value &&
      !(old.value === "mrope")
    ) {
      findings.add(
        "type-twice",
        block.keyOf("type"),
        old.offset,
        `${block.keyOf("rope_type")} says ${JSON.stringify(now.value.slice(0, 40))} and ${block.keyOf("type")} says ${JSON.stringify(old.value.slice(0, 40))}; transformers reads rope_type, older programs read type`,
        "the same name in both",
      );
    } else if (now && !old && now.value !== "default" && block.path.endsWith("rope_scaling")) {
      findings.add(
        "spelled-rope-type",
        block.keyOf("rope_type"),
        now.offset,
        `programs that look for ${block.keyOf("type")} find no scaling and apply none`,
      );
    } else if (old && !now) {
      findings.add(
        "spelled-type",
        block.keyOf("type"),
        old.offset,
        `the old spelling of rope_type: programs that look only for ${block.keyOf("rope_type")} apply no scaling`,
        block.keyOf("rope_type"),
      );
    }
  }
  const [first] = model.scopes.blocks;
  if (
    first?.path.endsWith("rope_parameters") &&
    model.ropes.some(
      ({ ropeType, ropeTheta }) => ropeType.value !== "default" || ropeTheta.key.startsWith(first.path),
    )
  ) {
    findings.add(
      "spelled-rope-parameters",
      first.path,
      null,
      `programs older than transformers 5 look for rope_scaling and a rope_theta beside it, and find neither in ${first.path}`,
    );
  }
  const beside = model.scopes.text.record.get("rope_theta");
  for (const { ropeTheta, block } of model.ropes) {
    if (
      !block ||
      !ropeTheta.key.startsWith(`${block}.`) ||
      typeof beside?.value !== "number" ||
      beside.value === ropeTheta.value
    )
      continue;
    if (model.ropes.length > 1) continue;
    findings.add(
      "theta-twice",
      ropeTheta.key,
      ropeTheta.offset,
      `${ropeTheta.key} is ${ropeTheta.value} and rope_theta beside it ${beside.value}: transformers takes the inner one, older programs the outer`,
      "the same value in both",
    );
  }
  for (const { spelled, ropeType } of model.ropes) {
    if (
      spelled.key &&
      spelled.value !== ropeType.value &&
      ropeType.value !== "default" &&
      spelled.value !== "use_scaled_rope" &&
      !findings.has("static-ntk-alpha")
    ) {
      findings.add(
        "type-alias",
        spelled.key,
        spelled.offset,
        `${JSON.stringify(spelled.value)} is another name for ${ropeType.value}`,
      );
    }
  }
}

/** Defaults that the frequencies depend on. */
function checkDefaults(model: Model): void {
  const { findings } = model.scopes.text;
  const told = new Set<string>();
  const tell = (name: string, { key, why }: { key: string; why: string }, value: unknown) => {
    if (key || told.has(name)) return;
    told.add(name);
    findings.add("default-taken", name, null, `no key gives ${name}: ${String(value)} is taken (${why})`);
  };
  if (model.headDim.why.startsWith("the default")) tell("head_dim", model.headDim, model.headDim.value);
  for (const rope of model.ropes) {
    const { value: share } = rope.partialRotaryFactor;
    if (share !== 1) tell("partial_rotary_factor", rope.partialRotaryFactor, share);
    const type = rope.ropeType.value;
    if (type === "yarn") {
      tell("beta_fast", rope.betaFast, rope.betaFast.value);
      tell("beta_slow", rope.betaSlow, rope.betaSlow.value);
      tell("truncate", rope.truncate, rope.truncate.value);
    }
    if (model.family.fixedTheta) tell("rope_theta", rope.ropeTheta, rope.ropeTheta.value);
  }
}

export function checkKeys(model: Model, effectOf: EffectOf): void {
  checkSpelling(model);
  const { blocks } = model.scopes;
  for (const block of blocks) {
    const nested = blocks.length > 1 && block === blocks[0];
    const ropes = model.ropes.filter((rope) => rope.block === block.path);
    if (nested || ropes.length > 0) checkBlock(block, ropes, nested, effectOf);
  }
  if (model.encoding.value === "rope") checkTop(model, effectOf);
  checkDefaults(model);
}
