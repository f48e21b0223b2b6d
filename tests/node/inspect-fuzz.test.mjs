// A hundred thousand configs that nobody meant: whatever the text is, either a finding explains it or every number is
// finite and the frequencies fall.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { loadPosenc } from "posenc";
import { runnerImport } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const load = async (name) =>
  (await runnerImport(join(root, "web/inspect", name), { configFile: false, logLevel: "warn" })).module;
const { inspect } = await load("inspect.ts");
const { reportOf } = await load("report.ts");
const { RULES } = await load("rules.ts");
const { PRESETS } = await load("presets.ts");
const core = await loadPosenc();

const readCase = (name) => JSON.parse(readFileSync(join(root, "tests/cases", name), "utf8"));
const BASES = [
  ...PRESETS.map(({ config }) => config),
  ...readdirSync(join(root, "tests/cases")).map((name) => readCase(name).config),
];
const KEYS = [
  ...["model_type", "hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "rotary_dim"],
  ...["max_position_embeddings", "original_max_position_embeddings", "rope_theta", "partial_rotary_factor"],
  ...["rope_scaling", "rope_parameters", "rope_type", "type", "factor", "beta_fast", "beta_slow", "truncate"],
  ...["attention_factor", "mscale", "mscale_all_dim", "low_freq_factor", "high_freq_factor", "short_factor"],
  ...["long_factor", "alpha", "mrope_section", "layer_types", "full_attention", "text_config", "rope_theta "],
  ...["ropetheta", "attn_factor", "__proto__", "constructor", "toString", "hasOwnProperty", "", "rotary_pct"],
  ...["use_scaled_rope", "dim", "n_heads", "alibi", "attn_config", "torch_dtype", "rope_interleave"],
];
const TYPES = [
  "default",
  "linear",
  "dynamic",
  "yarn",
  "longrope",
  "llama3",
  "proportional",
  "ntk",
  "su",
  "mrope",
];
const MODELS = [
  "llama",
  "gpt_neox",
  "gptj",
  "deepseek_v3",
  "gemma3",
  "gemma4",
  "bloom",
  "mpt",
  "t5",
  "roberta",
  "falcon",
];

/** JSON.stringify with NaN and Infinity as Python writes them. */
const pythonJson = (value) =>
  JSON.stringify(value, (_key, inner) =>
    typeof inner === "number" && !Number.isFinite(inner) ? `\u0001${inner}` : inner,
  )?.replace(/"\\u0001(-?\w+)"/g, "$1");

const number = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    2,
    3,
    0.5,
    1.5,
    7,
    64,
    128,
    4096,
    1e4,
    1e6,
    131072,
    2 ** 31,
    2 ** 53,
    1e300,
    -1e300,
    5e-324,
  ),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE),
  fc.double(),
  fc.integer(),
  fc.integer({ min: 1, max: 200 }),
);
const value = fc.oneof(
  { weight: 6, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom(...TYPES, ...MODELS, "bfloat16", "4", "") },
  fc.constantFrom(null, true, false, {}, []),
  fc.array(number, { maxLength: 70 }),
  fc.dictionary(fc.constantFrom(...KEYS), number, { maxKeys: 4 }),
  fc.string(),
);
const mutation = fc.record({
  kind: fc.constantFrom("set", "set", "set", "rename", "remove", "add", "wrap"),
  where: fc.nat(1000),
  key: fc.constantFrom(...KEYS),
  value,
});

/** Every record of a tree, itself included. */
const recordsOf = (tree) => {
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return [];
  return [tree, ...Object.values(tree).flatMap(recordsOf)];
};
function mutate(config, mutations) {
  let tree = structuredClone(config);
  for (const { kind, where, key, value: next } of mutations) {
    const records = recordsOf(tree);
    const record = records[where % records.length];
    const names = Object.keys(record);
    const name = names[where % names.length];
    const define = (at, to) =>
      Object.defineProperty(record, at, { value: to, enumerable: true, configurable: true, writable: true });
    if (kind === "add") define(key, next);
    if (kind === "wrap") tree = { [key]: tree };
    if (name === undefined) continue;
    if (kind === "set") define(name, next);
    if (kind === "remove") delete record[name];
    if (kind === "rename") {
      const old = record[name];
      delete record[name];
      define(key, old);
    }
  }
  return tree;
}

const seqLen = fc.constantFrom(0, 0, 1, 100, 4096, 4097, 1e6, 2 ** 40);
const POSITIONS = Float64Array.of(0, 1, 4095, 1e6);

/** Fails unless a finding explains the text or all its numbers are sound; returns the findings that stopped it. */
function check(text, length) {
  const inspection = inspect(core, text, { seqLen: length });
  const { findings, numbers, model } = inspection;
  // the report is dearer than all else: one in 32
  if (text.length % 32 === 0)
    assert.equal(JSON.stringify(reportOf(core, inspection)).includes("undefined"), false);
  for (const finding of findings) {
    assert.ok(Object.hasOwn(RULES, finding.id));
    assert.equal(typeof finding.key, "string");
    assert.ok(finding.does.length > 10 && !/\[object|undefined/.test(finding.does), finding.does);
    if (finding.at) assert.ok(finding.at.line >= 1 && finding.at.column >= 1);
  }
  const has = (...ids) => findings.some(({ id }) => ids.includes(id));
  const stopped = findings.filter(({ severity }) => severity === "error");
  if (stopped.length > 0) return stopped;
  assert.ok(numbers.length > 0 || has("no-rope"), "no numbers, and nothing says why");
  assert.equal(numbers.length, model.ropes.length);
  for (const { invFreq, attentionFactor, config } of numbers) {
    assert.ok(Number.isFinite(attentionFactor) && attentionFactor > 0, `attention factor ${attentionFactor}`);
    const { cos, sin } = core.ropeCosSin(POSITIONS, invFreq, attentionFactor);
    for (const table of [invFreq, cos, sin]) assert.ok(table.every(Number.isFinite), "not finite");
    if (has("not-decreasing")) continue;
    const still = config.ropeType === "proportional" ? invFreq.indexOf(0) : -1;
    const turning = still < 0 ? invFreq : invFreq.subarray(0, still);
    assert.ok(
      turning.every((w, i) => w > 0 && (i === 0 || w < turning[i - 1])),
      `not decreasing: ${turning}`,
    );
  }
  return [];
}

test("70 000 mutations of real configs are explained or give sound numbers", () => {
  let sound = 0;
  fc.assert(
    fc.property(
      fc.nat(BASES.length - 1),
      fc.array(mutation, { maxLength: 3 }),
      seqLen,
      (base, mutations, length) => {
        const stopped = check(pythonJson(mutate(BASES[base], mutations)), length);
        if (stopped.length === 0) sound++;
      },
    ),
    { seed: 13, numRuns: 70_000 },
  );
  assert.ok(sound > 20_000, `only ${sound} gave numbers: the test looks at refusals alone`);
});

test("30 000 blocks of the right kinds and wild values are explained or give sound numbers", () => {
  const positive = fc.oneof(
    fc.double({ min: 1, max: 1e6, noNaN: true }),
    fc.double({ min: 0, max: 1e308, noNaN: true }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  );
  const length = fc.oneof(
    fc.integer({ min: 1, max: 2 ** 20 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  );
  const list = fc.array(positive, { minLength: 8, maxLength: 8 });
  const block = fc.record(
    {
      rope_type: fc.constantFrom(...TYPES),
      factor: positive,
      original_max_position_embeddings: length,
      ...{ beta_fast: positive, beta_slow: positive, truncate: fc.boolean(), attention_factor: positive },
      ...{
        mscale: positive,
        mscale_all_dim: positive,
        low_freq_factor: positive,
        high_freq_factor: positive,
      },
      ...{ short_factor: list, long_factor: list, alpha: positive },
      partial_rotary_factor: fc.double({ min: 0, max: 1, noNaN: true }),
    },
    { requiredKeys: ["rope_type"] },
  );
  const config = fc.record({
    hidden_size: fc.constantFrom(64, 64, 256),
    num_attention_heads: fc.constant(4),
    max_position_embeddings: length,
    rope_theta: positive,
    rope_scaling: block,
  });
  let sound = 0;
  fc.assert(
    fc.property(config, seqLen, (tree, seq) => {
      if (check(pythonJson(tree), seq).length === 0) sound++;
    }),
    { seed: 14, numRuns: 30_000 },
  );
  assert.ok(sound > 4_000, `only ${sound} gave numbers`);
});

test("10 000 records of known keys with any values are explained or give sound numbers", () => {
  const record = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 12 });
  fc.assert(
    fc.property(record, seqLen, (tree, length) => void check(pythonJson(tree), length)),
    { seed: 16, numRuns: 10_000 },
  );
});

test("10 000 texts, JSON or not, give a sentence and no exception", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.string({ unit: fc.constantFrom(...'[]{}",:0.eE-+ntrufals\\/u\n\u0000\ufeff') }),
      ),
      (text) => {
        check(text, 0);
      },
    ),
    { seed: 15, numRuns: 10_000 },
  );
});
