// The inspector's parts: JSON with places, the normal form of each family, and what is said of it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { loadPosenc } from "posenc";
import { runnerImport } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const load = async (name) =>
  (await runnerImport(join(here, "../../web/inspect", name), { configFile: false, logLevel: "warn" })).module;
const { inspect } = await load("inspect.ts");
const { JsonError, MAX_TEXT, readJson } = await load("json.ts");
const { reportOf } = await load("report.ts");
const { markdown } = await load("markdown.ts");
const { fromLink, MAX_LINK, MAX_LINKED, spaced, toLink } = await load("link.ts");
const { numberAt, withKeyBehind, withNumber } = await load("edit.ts");
const { llamaCppFlags, numpySnippet, pytorchSnippet } = await load("snippets.ts");
const { PRESETS, presetText } = await load("presets.ts");
const { RULES } = await load("rules.ts");
const { scalings } = await load("scalings.ts");
const { precisionReport } = await load("precision.ts");
const { frequencyReport } = await load("frequency.ts");
const { layoutScores, permutationSnippet, rowsFor } = await load("layout.ts");
const core = await loadPosenc();

const of = (config, question) =>
  inspect(core, typeof config === "string" ? config : JSON.stringify(config), question);
const ids = (config, question) => of(config, question).findings.map(({ id }) => id);
const finding = (id, config, question) => {
  const found = of(config, question).findings.find((one) => one.id === id);
  assert.ok(found, `${id} is not among ${ids(config, question).join(", ")}`);
  return found;
};
const SMALL = {
  model_type: "llama",
  hidden_size: 64,
  num_attention_heads: 4,
  max_position_embeddings: 4096,
  rope_theta: 10000,
};
const withBlock = (block, rest = {}) => ({ ...SMALL, ...rest, rope_scaling: block });

// ---------------------------------------------------------------------------------------------------- the text

const plain = ({ value }) => {
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, node]) => [key, plain(node)]));
};

test("whatever JSON.stringify writes is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, "\t"), (value, space) => {
      const text = JSON.stringify(value, null, space);
      assert.deepEqual(plain(readJson(text).root), structuredClone(JSON.parse(text)));
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test("what JSON.parse refuses is refused, but for NaN, Infinity and a byte order mark", () => {
  const unit = fc.constantFrom(...'[]{}",:0.eE-+1nulltrue\\/u \n');
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      if (parses) assert.deepEqual(plain(readJson(text).root), structuredClone(JSON.parse(text)));
      else assert.throws(() => readJson(text), JsonError);
    }),
    { seed: 2, numRuns: 20_000 },
  );
  assert.ok(Number.isNaN(readJson("NaN").root.value));
  assert.equal(readJson("[-Infinity]").root.value[0].value, -Infinity);
  assert.equal(readJson("\ufeff1").root.value, 1);
});

test("a syntax error and a value are told with line and column", () => {
  const place = (text) => {
    const [{ id, at, does }] = of(text).findings;
    assert.equal(id, "not-json");
    return [at.line, at.column, does];
  };
  assert.deepEqual(place("").slice(0, 2), [1, 1]);
  assert.deepEqual(place('{"a": 1,}').slice(0, 2), [1, 9]);
  assert.deepEqual(place('{\n\t"a": tru\n}').slice(0, 2), [2, 7]);
  assert.match(place('{\r\n"a" 1}')[2], /"1" stands where ":" is wanted/);
  assert.match(place('{"a": "b')[2], /a string is not closed/);
  assert.match(place('["\\x"]')[2], /an escape that does not exist/);
  const { at } = finding(
    "factor-below-one",
    '{"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1e4,\n "rope_scaling": {"type": "linear",\n  "factor": 0.5}}',
  );
  assert.deepEqual(at, { line: 3, column: 13 });
});

test("a text of half a million values is refused at once", () => {
  const begin = performance.now();
  const [{ id, does }] = of(`[${"1,".repeat(2e6)}1]`).findings;
  assert.equal(id, "not-json");
  assert.match(does, /more than 524288 values, where a config\.json has some hundreds/);
  assert.ok(performance.now() - begin < 10_000);
});

test("nesting without end, and a text too long, are refused and no stack overflows", () => {
  for (const open of ["[", '{"a":']) {
    const { findings } = of(open.repeat(500_000));
    assert.match(findings[0].does, /nested deeper than 100 levels/);
    assert.ok(findings[0].at.column > 100);
  }
  assert.match(of(" ".repeat(MAX_TEXT + 1)).findings[0].does, /4194305 characters are too many/);
  assert.match(of(`"${"a".repeat(MAX_TEXT - 2)}"`).findings[0].does, /the text holds the text "aaa/);
});

test("a text full of keys that nobody reads is told in few findings, and soon", () => {
  const base = '"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1e4';
  const many = (entry) => Array.from({ length: 50_000 }, (_, i) => entry(i)).join(",");
  for (const text of [
    `{${base}, ${many((i) => `"rope_k${i}": 1`)}}`,
    `{${base}, "rope_scaling": {"type": "linear", "factor": 2, ${many((i) => `"fator${i}": 1`)}}}`,
    `{${base}, "rope_parameters": {${many((i) => `"l${i}": {"rope_type": "default"}`)}}}`,
  ]) {
    const begin = performance.now();
    const { findings, numbers } = of(text);
    assert.ok(performance.now() - begin < 20_000);
    assert.ok(findings.length < 60 && numbers.length <= 16, `${findings.length} findings`);
    assert.ok(
      findings.some(({ does }) => /49980 more keys|50000 blocks/.test(does)),
      text.slice(0, 120),
    );
  }
});

test("what a config of many kinds and misspelled keys would change is not computed for ever", () => {
  const kinds = Array.from({ length: 16 }, (_, i) => `kind${i}`);
  const odd = Object.fromEntries([..."abcdefghijklmnopqrst"].map((letter, i) => [`factr${letter}`, i + 2]));
  const block = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 1024, ...odd };
  const config = { ...SMALL, rope_parameters: Object.fromEntries(kinds.map((kind) => [kind, block])) };
  for (const text of [
    `${"\n".repeat(3_500_000)}${JSON.stringify(config)}`,
    JSON.stringify({ ...config, head_dim: 16384 }),
  ]) {
    const begin = performance.now();
    const unknown = of(text).findings.filter(({ id }) => id === "unknown-rope-key");
    assert.equal(unknown.length, 320);
    assert.ok(performance.now() - begin < 8_000, `${performance.now() - begin} ms`);
  }
});

test("a key that comes twice is told, and the last one counts", () => {
  const text = '{"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1, "rope_theta": 500000}';
  assert.equal(finding("duplicate-key", text).key, "rope_theta");
  assert.equal(of(text).numbers[0].config.ropeTheta, 500000);
  assert.ok(of(`{${'"a":1,'.repeat(100_000)}"a":1}`).findings.length <= 30);
});

test("keys named as the parts of every object are keys like others", () => {
  const block =
    '{"__proto__": {"rope_type": "linear", "factor": 9}, "valueOf": 3, "rope_type": "linear", "factor": 2}';
  const text = `{"__proto__": {"rope_theta": 5}, "constructor": 1, "toString": {"factor": 2}, "hidden_size": 64,
    "num_attention_heads": 4, "rope_theta": 1e4, "rope_scaling": ${block}}`;
  const { numbers, findings } = of(text);
  assert.equal(numbers.length, 1);
  assert.equal(numbers[0].config.factor, 2);
  assert.equal(numbers[0].config.ropeTheta, 10000);
  const unknown = findings.filter(({ id }) => id === "unknown-rope-key").map(({ key }) => key);
  assert.deepEqual(unknown, ["rope_scaling.__proto__", "rope_scaling.valueOf"]);
  assert.equal({}.rope_theta, undefined);
});

test("a kind of layer that the blocks leave out is told", () => {
  const blocks = { full_attention: { rope_type: "default", rope_theta: 10000 } };
  const config = { ...SMALL, layer_types: ["full_attention", "sliding_attention"], rope_parameters: blocks };
  assert.match(finding("layer-type-without-rope", config).does, /sliding_attention/);
});

test("JSON of another kind is told as what it is", () => {
  for (const [text, kind] of [
    ["[1, 2]", /a list of 2/],
    ["3", /holds 3/],
    ['"x"', /the text "x"/],
    ["null", /null/],
  ]) {
    const [{ id, does }] = of(text).findings;
    assert.equal(id, "not-a-config");
    assert.match(does, kind);
  }
});

test("values of a wrong kind are told with key, place and what stands there, and are not used", () => {
  const wrong = (config) => finding("wrong-kind", config);
  assert.match(
    wrong({ ...SMALL, rope_theta: "10000" }).does,
    /rope_theta is the text "10000", which is not used/,
  );
  assert.match(wrong({ ...SMALL, hidden_size: -64 }).should, /an integer from 1 to 2147483647/);
  assert.match(wrong({ ...SMALL, hidden_size: 1e300 }).does, /hidden_size is 1e\+300/);
  assert.match(wrong({ ...SMALL, num_attention_heads: 4.5 }).does, /num_attention_heads is 4\.5/);
  assert.match(wrong({ ...SMALL, rope_scaling: "yarn" }).does, /rope_scaling is the text "yarn"/);
  assert.match(wrong(JSON.stringify(SMALL).replace("10000", "NaN")).does, /rope_theta is NaN/);
  assert.match(wrong(JSON.stringify(SMALL).replace("10000", "1e999")).does, /rope_theta is Infinity/);
  const list = withBlock({
    type: "longrope",
    short_factor: [1, 1, "x", 1, 1, 1, 1, 1],
    long_factor: Array(8).fill(1),
  });
  assert.equal(wrong(list).key, "rope_scaling.short_factor[2]");
  assert.equal(
    finding(
      "factor-list-length",
      withBlock({ type: "longrope", short_factor: [1], long_factor: Array(8).fill(1) }),
    ).key,
    "rope_scaling.short_factor",
  );
  assert.equal(
    finding("heads-do-not-divide", { ...SMALL, num_attention_heads: 5 }).key,
    "num_attention_heads",
  );
  assert.equal(
    finding("kv-heads-do-not-divide", { ...SMALL, num_key_value_heads: 3 }).key,
    "num_key_value_heads",
  );
  assert.equal(finding("head-dim-odd", { ...SMALL, head_dim: 7 }).key, "head_dim");
  assert.equal(finding("wrong-value", { ...SMALL, head_dim: 2 ** 20 }).key, "head_dim");
  assert.equal(finding("core-refuses", { ...SMALL, rope_theta: -1 }).key, "rope_theta");
});

// ------------------------------------------------------------------------------------------------- the normal form

/** What the frequencies depend on, of the first or of a named kind of layer. */
function form(config, layers) {
  const { numbers } = of(config);
  const found = layers ? numbers.find(({ rope }) => rope.layers === layers) : numbers[0];
  const { headDim, rotaryDim, ropeTheta, ropeType, factor } = found.config;
  return { headDim, rotaryDim, ropeTheta, ropeType, factor };
}

test("old and new spellings of one config give the same numbers", () => {
  const block = { factor: 4, original_max_position_embeddings: 1024 };
  const spellings = [
    { ...SMALL, rope_scaling: { type: "yarn", ...block } },
    { ...SMALL, rope_scaling: { rope_type: "yarn", ...block } },
    { ...SMALL, rope_theta: undefined, rope_parameters: { rope_type: "yarn", rope_theta: 10000, ...block } },
    { ...SMALL, head_dim: null, rope_scaling: { type: "yarn", ...block } },
    {
      text_config: { ...SMALL, rope_scaling: { type: "yarn", ...block } },
      vision_config: { hidden_size: 1 },
    },
    {
      ...SMALL,
      layer_types: ["full_attention"],
      rope_parameters: { full_attention: { rope_type: "yarn", ...block } },
    },
  ];
  const [first, ...others] = spellings.map((config) => of(config).numbers[0]);
  for (const { invFreq, attentionFactor } of others) {
    assert.deepEqual(invFreq, first.invFreq);
    assert.equal(attentionFactor, first.attentionFactor);
  }
});

test("each family is read under its own names, with its own defaults", () => {
  const forms = {
    "gpt_neox, rotary_pct": [
      {
        model_type: "gpt_neox",
        hidden_size: 6144,
        num_attention_heads: 64,
        rotary_pct: 0.25,
        rotary_emb_base: 25000,
      },
      { headDim: 96, rotaryDim: 24, ropeTheta: 25000 },
    ],
    "gpt_neox, default share": [
      { model_type: "gpt_neox", hidden_size: 512, num_attention_heads: 8 },
      { headDim: 64, rotaryDim: 16, ropeTheta: 10000 },
    ],
    gptj: [
      { model_type: "gptj", n_embd: 4096, n_head: 16, rotary_dim: 64 },
      { headDim: 256, rotaryDim: 64, ropeTheta: 10000 },
    ],
    "gptj, rotary_dim null": [
      { model_type: "gptj", n_embd: 4096, n_head: 16, rotary_dim: null },
      { headDim: 256, rotaryDim: 256 },
    ],
    phi: [
      {
        model_type: "phi",
        hidden_size: 2560,
        num_attention_heads: 32,
        partial_rotary_factor: 0.4,
        rope_theta: 10000,
      },
      { headDim: 80, rotaryDim: 32 },
    ],
    deepseek_v3: [
      {
        model_type: "deepseek_v3",
        hidden_size: 7168,
        num_attention_heads: 128,
        qk_rope_head_dim: 64,
        qk_nope_head_dim: 128,
        rope_theta: 10000,
      },
      { headDim: 64, rotaryDim: 64 },
    ],
    gpt_oss: [
      { model_type: "gpt_oss", hidden_size: 2880, num_attention_heads: 64, head_dim: 64, rope_theta: 150000 },
      { headDim: 64, ropeTheta: 150000 },
    ],
    "gemma, head_dim by default": [
      { model_type: "gemma", hidden_size: 3072, num_attention_heads: 16 },
      { headDim: 256 },
    ],
    chatglm: [
      { model_type: "chatglm", hidden_size: 4096, num_attention_heads: 32, kv_channels: 128, rope_ratio: 50 },
      { headDim: 128, rotaryDim: 64, ropeTheta: 500000 },
    ],
    "params.json of Meta": [
      { dim: 4096, n_heads: 32, rope_theta: 500000, use_scaled_rope: true },
      { headDim: 128, ropeType: "llama3", factor: 8 },
    ],
    "qwen3_next, by default": [
      { model_type: "qwen3_next", hidden_size: 2048, num_attention_heads: 16 },
      { headDim: 256, rotaryDim: 64 },
    ],
    su: [
      {
        ...SMALL,
        original_max_position_embeddings: 1024,
        rope_scaling: { type: "su", short_factor: Array(8).fill(1), long_factor: Array(8).fill(2) },
      },
      { ropeType: "longrope", factor: 4 },
    ],
    mrope: [{ ...SMALL, rope_scaling: { type: "mrope", mrope_section: [4, 2, 2] } }, { ropeType: "default" }],
  };
  for (const [name, [config, expected]] of Object.entries(forms)) {
    const actual = form(config);
    for (const [key, value] of Object.entries(expected)) assert.equal(actual[key], value, `${name}: ${key}`);
  }
});

test("scores are scaled as each model's code scales them", () => {
  const scale = (config) => of(config).scoreScale;
  assert.equal(scale(SMALL), 1 / 4);
  const gemma = { hidden_size: 2048, num_attention_heads: 8, head_dim: 256, rope_theta: 1e6 };
  assert.equal(scale({ ...gemma, model_type: "gemma3_text" }), 1 / 16);
  assert.equal(
    scale({ ...gemma, model_type: "gemma3_text", query_pre_attn_scalar: 168 }),
    1 / Math.sqrt(168),
  );
  assert.equal(scale({ ...gemma, model_type: "gemma3n_text" }), 1);
  assert.equal(scale(PRESETS.find(({ name }) => name.startsWith("Gemma-4")).config), 1);
});

test("layers of several kinds have an embedding each", () => {
  const gemma3 = {
    model_type: "gemma3_text",
    hidden_size: 2560,
    num_attention_heads: 8,
    head_dim: 256,
    rope_theta: 1e6,
    rope_local_base_freq: 1e4,
    rope_scaling: { rope_type: "linear", factor: 8 },
  };
  assert.deepEqual(form(gemma3, "full_attention"), {
    headDim: 256,
    rotaryDim: 256,
    ropeTheta: 1e6,
    ropeType: "linear",
    factor: 8,
  });
  assert.deepEqual(form(gemma3, "sliding_attention"), {
    headDim: 256,
    rotaryDim: 256,
    ropeTheta: 1e4,
    ropeType: "default",
    factor: 1,
  });
  const modern = {
    model_type: "modernbert",
    hidden_size: 768,
    num_attention_heads: 12,
    global_rope_theta: 160000,
    local_rope_theta: 1e4,
  };
  assert.equal(form(modern, "full_attention").ropeTheta, 160000);
  assert.equal(form(modern, "sliding_attention").ropeTheta, 10000);
  const gemma4 = PRESETS.find(({ name }) => name.startsWith("Gemma-4")).config;
  assert.equal(form(gemma4, "full_attention").headDim, 512);
  assert.equal(form(gemma4, "sliding_attention").headDim, 256);
});

test("every value is shown with its key, or as a default with its reason", () => {
  for (const preset of PRESETS) {
    const text = presetText(preset);
    const report = reportOf(core, inspect(core, text));
    assert.ok(report.ok, preset.name);
    const keys = new Set([...text.matchAll(/"(\w+)":/g)].map(([, key]) => key));
    for (const { name, value, key, why } of [
      ...report.model,
      ...report.ropes.flatMap(({ values }) => values),
    ]) {
      assert.ok(key !== null || why !== null || value === null, `${preset.name}: ${name}`);
      if (key !== null)
        assert.ok(
          key.split(".").every((part) => keys.has(part)),
          `${preset.name}: ${key}`,
        );
    }
  }
});

test("the preset configs give the golden numbers of their models", async () => {
  const { readFileSync } = await import("node:fs");
  const { cases } = JSON.parse(readFileSync(join(here, "../golden/rope_models.json"), "utf8"));
  const layers = {
    "Gemma-3-4B global layers": ["Gemma-3-4B", "full_attention"],
    "Gemma-3-4B local layers": ["Gemma-3-4B", "sliding_attention"],
    "Gemma-4 global layers (defaults)": ["Gemma-4 (defaults)", "full_attention"],
  };
  const wanted = cases.filter(({ params }) => params.seq_len === null);
  for (const { id, expected, pair_layout } of wanted) {
    const [name, kind = "all layers"] = layers[id] ?? [id];
    const preset = PRESETS.find((one) => one.name === name);
    assert.ok(preset, id);
    const { numbers, model } = of(presetText(preset));
    const { invFreq, attentionFactor } = numbers.find(({ rope }) => rope.layers === kind);
    assert.equal(invFreq.length, expected.inv_freq.length);
    for (const [i, w] of expected.inv_freq.entries())
      assert.ok(Math.abs(invFreq[i] - w) <= 1e-14 * w, `${id} pair ${i}`);
    assert.ok(Math.abs(attentionFactor - expected.attention_scaling) <= 1e-14);
    assert.ok(pair_layout.startsWith(model.layout.value), `${id}: ${model.layout.value}`);
  }
  assert.equal(PRESETS.length, new Set(wanted.map(({ id }) => layers[id]?.[0] ?? id)).size);
});

// ------------------------------------------------------------------------------------------------------- findings

test("a real config of each family gives no error and no warning", () => {
  const clean = [
    ...PRESETS.map(({ config }) => config),
    {
      model_type: "gpt_oss",
      hidden_size: 2880,
      num_attention_heads: 64,
      num_key_value_heads: 8,
      head_dim: 64,
      max_position_embeddings: 131072,
      rope_theta: 150000,
      sliding_window: 128,
      rope_scaling: {
        beta_fast: 32,
        beta_slow: 1,
        factor: 32,
        original_max_position_embeddings: 4096,
        rope_type: "yarn",
        truncate: false,
      },
    },
    {
      model_type: "qwen2_vl",
      hidden_size: 3584,
      num_attention_heads: 28,
      num_key_value_heads: 4,
      max_position_embeddings: 32768,
      rope_theta: 1e6,
      rope_scaling: { type: "mrope", mrope_section: [16, 24, 24] },
    },
    {
      model_type: "qwen2_5_vl",
      hidden_size: 3584,
      num_attention_heads: 28,
      max_position_embeddings: 128000,
      rope_theta: 1e6,
      rope_scaling: { type: "default", rope_type: "default", mrope_section: [16, 24, 24] },
    },
    {
      model_type: "gpt_neox",
      hidden_size: 6144,
      num_attention_heads: 64,
      max_position_embeddings: 2048,
      rotary_pct: 0.25,
      rotary_emb_base: 10000,
    },
    {
      model_type: "qwen3",
      hidden_size: 4096,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      head_dim: 128,
      max_position_embeddings: 40960,
      rope_theta: 1e6,
      rope_scaling: null,
    },
    {
      model_type: "mixtral",
      hidden_size: 4096,
      num_attention_heads: 32,
      num_key_value_heads: 8,
      max_position_embeddings: 32768,
      rope_theta: 1e6,
      sliding_window: null,
    },
    { model_type: "bloom", hidden_size: 4096, n_head: 32 },
    { model_type: "t5", d_model: 512, d_kv: 64, num_heads: 8, relative_attention_num_buckets: 32 },
    {
      model_type: "bert",
      hidden_size: 768,
      num_attention_heads: 12,
      max_position_embeddings: 512,
      position_embedding_type: "absolute",
    },
  ];
  for (const config of clean) {
    const bad = of(config).findings.filter(({ severity }) => severity !== "note");
    assert.deepEqual(
      bad.map(({ id, does }) => `${id}: ${does}`),
      [],
      JSON.stringify(config).slice(0, 80),
    );
  }
});

test("a key that nobody reads is told with what it would have changed", () => {
  const yarn = { type: "yarn", factor: 40, original_max_position_embeddings: 4096 };
  const attention = finding("unknown-rope-key", withBlock({ ...yarn, attn_factor: 0.8 }));
  assert.match(
    attention.does,
    /as attention_factor it would change the attention factor from 1\.3689 to 0\.8/,
  );
  assert.equal(attention.should, "rope_scaling.attention_factor");
  const misspelled = finding("unknown-rope-key", withBlock({ type: "linear", facter: 4, factor: 1 }));
  assert.match(
    misspelled.does,
    /as factor it would make pair \d times slower|as factor it would make pair \d+ 4 times slower/,
  );
  const theta = finding("unread-top-key", { ...SMALL, rope_theta: undefined, rotary_emb_base: 500000 });
  assert.match(theta.does, /as rope_theta it would make pair 7 30\.\d+ times slower/);
  const nothing = finding("unknown-rope-key", withBlock({ type: "linear", factor: 2, colour: "blue" }));
  assert.match(nothing.does, /it has no effect/);
  assert.equal(
    finding("unused-rope-key", withBlock({ type: "linear", factor: 2, beta_fast: 16 })).key,
    "rope_scaling.beta_fast",
  );
});

test("every finding names a rule, a key and a sentence, and every report is owner/repository#number", () => {
  for (const { reports } of Object.values(RULES)) {
    for (const report of reports) assert.match(report, /^[\w.-]+\/[\w.-]+#\d+$/);
  }
});

test("queries that grow with their position are told, with the gain at the length asked for", () => {
  const block = {
    type: "yarn",
    factor: 16,
    original_max_position_embeddings: 16384,
    llama_4_scaling_beta: 0.1,
  };
  const told = (seqLen) => finding("queries-grow", withBlock(block), { seqLen });
  assert.equal(told(131073).key, "rope_scaling.llama_4_scaling_beta");
  const gains = [100, 16385, 131073].map((seqLen) => told(seqLen).does.match(/ by (\S+) at position (\d+)/));
  assert.deepEqual(
    gains.map(([, gain, at]) => [Number(Number(gain).toFixed(2)), Number(at)]),
    [
      [1.07, 16384],
      [1.07, 16384],
      [1.22, 131072],
    ],
  );
  assert.ok(!ids(withBlock({ ...block, llama_4_scaling_beta: undefined })).includes("queries-grow"));
  for (const beta of [-2, 1.7e308]) {
    const far = withBlock({ ...block, llama_4_scaling_beta: beta });
    assert.match(finding("wrong-value", far, { seqLen: 131073 }).does, /multiplied by/);
  }
});

test("one fault is told once, with its key and its place", () => {
  const errors = (config) =>
    of(config).findings.flatMap(({ severity, key, at }) =>
      severity === "error" ? [[key, at !== null]] : [],
    );
  assert.deepEqual(errors({ ...SMALL, head_dim: 127 }), [["head_dim", true]]);
  assert.deepEqual(errors({ ...SMALL, head_dim: 2, rope_scaling: { type: "dynamic", factor: 2 } }), [
    ["head_dim", true],
  ]);
  const lists = { type: "longrope", short_factor: null, long_factor: Array(8).fill(1) };
  assert.deepEqual(errors(withBlock(lists)), [["rope_scaling.short_factor", true]]);
  const text = JSON.stringify(SMALL).replace("10000", "Infinity");
  assert.deepEqual(errors(text), [["rope_theta", true]]);
  assert.ok(!ids(text).includes("theta-default"), "the key is there");
});

test("lengths and factors that programs take from different keys are told", () => {
  const dynamic = { type: "dynamic", factor: 2, original_max_position_embeddings: 1024 };
  assert.match(
    finding("dynamic-original-length", withBlock(dynamic)).does,
    /1024, which is taken here; for dynamic transformers does not read it and takes max_position_embeddings, 4096/,
  );
  const yarn = { type: "yarn", factor: 4, original_max_position_embeddings: 1024 };
  assert.match(
    finding("original-length-twice", withBlock(yarn, { original_max_position_embeddings: 2048 })).does,
    /1024, which is taken here, and .* 2048, which transformers 5 prefers/,
  );
  // Phi-3.5-MoE
  const ones = Array(8).fill(1);
  const lists = { type: "longrope", short_factor: ones, long_factor: ones };
  const moe = (short_mscale, long_mscale) =>
    withBlock({ ...lists, short_mscale, long_mscale }, { original_max_position_embeddings: 1024 });
  assert.equal(of(moe(1.243, 1.243)).numbers[0].attentionFactor, 1.243);
  assert.ok(!ids(moe(1.243, 1.243)).includes("mscale-by-length"));
  const formula = core.longropeAttentionFactor(4, 1024);
  assert.equal(of(moe(1, 1.243)).numbers[0].attentionFactor, formula);
  assert.match(
    finding("mscale-by-length", moe(1, 1.243)).does,
    /short_mscale 1 and .*long_mscale 1\.243 multiply/,
  );
});

test("the worst findings come first", () => {
  const { findings } = of(withBlock({ type: "linear", factor: 0.5, colour: 1 }, { rope_theta: undefined }));
  const rank = { error: 0, warning: 1, note: 2 };
  const ranks = findings.map(({ severity }) => rank[severity]);
  assert.deepEqual(ranks, ranks.toSorted());
  assert.equal(ranks[0], 0);
});

// ----------------------------------------------------------------------------------------------- text and its changes

test("a text from a link has a line for each key again, and the same tokens", () => {
  assert.equal(
    spaced('{"a":[1,{"b":"x,{ \\" y"}],"c":{},"d":NaN}'),
    `{
  "a": [1, {
      "b": "x,{ \\" y"
    }],
  "c": {},
  "d": NaN
}
`,
  );
  assert.equal(spaced(""), "");
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, null, 3);
      const again = spaced(fromLink(toLink(text)));
      assert.deepEqual(structuredClone(JSON.parse(again)), structuredClone(JSON.parse(text)));
      assert.equal(toLink(again), toLink(text));
    }),
    { seed: 7, numRuns: 1000 },
  );
});

test("a number is changed in the text, or a key put behind it, and every other character stays", () => {
  const text = '{\n  "rope_scaling": {\n    "factor": -8.5e+1 , "type": "yarn"\n  }\n}';
  const at = text.indexOf("-8.5");
  assert.equal(numberAt(text, at), -85);
  assert.equal(numberAt(text, 0), null);
  assert.equal(withNumber(text, at, 4), text.replace("-8.5e+1", "4"));
  assert.equal(
    withKeyBehind(text, at, "beta_fast", 16),
    text.replace("-8.5e+1", '-8.5e+1,\n    "beta_fast": 16'),
  );
  assert.equal(withKeyBehind('{"factor":2}', 10, "beta_slow", 0.5), '{"factor":2, "beta_slow": 0.5}');
});

// -------------------------------------------------------------------------------------------------------- numbers

test("turns, wavelength and unreached phases follow from inv_freq and the lengths", () => {
  const [numbers] = of(withBlock({ type: "linear", factor: 4 })).numbers;
  const pairs = frequencyReport(core, numbers, { trained: 4096, seqLen: 16384, distance: 10 });
  const plainFreq = core.ropeInvFreq({ headDim: 16 }).invFreq;
  for (const { pair, invFreq, wavelength, turns, unreached, resolution } of pairs) {
    assert.equal(invFreq, plainFreq[pair] / 4);
    assert.equal(wavelength, (2 * Math.PI) / invFreq);
    assert.equal(turns, (4096 * invFreq) / (2 * Math.PI));
    assert.ok(Math.abs(resolution - Math.abs(Math.cos(11 * invFreq) - Math.cos(10 * invFreq))) < 1e-15);
    assert.equal(unreached, null, "interpolation leaves no phase more than a step beyond the trained ones");
  }
  const beyond = frequencyReport(core, numbers, { trained: 4096, seqLen: 16390, distance: 10 });
  for (const { pair, invFreq, unreached } of beyond) {
    const seen = 4095 * plainFreq[pair];
    const turn = 2 * Math.PI < seen + plainFreq[pair];
    assert.deepEqual(unreached, turn ? null : [seen, Math.min(16389 * invFreq, 2 * Math.PI)]);
  }
  const [unscaled] = of(SMALL).numbers;
  const far = frequencyReport(core, unscaled, { trained: 4096, seqLen: 16384, distance: 1 });
  assert.equal(far[0].unreached, null);
  assert.deepEqual(far[7].unreached, [4095 * plainFreq[7], 16383 * plainFreq[7]]);
});

test("all scalings of one model stand side by side, the config's own among them", () => {
  const [numbers] = of(
    withBlock({ type: "yarn", factor: 8, original_max_position_embeddings: 4096 }),
  ).numbers;
  const all = scalings(core, numbers, 4096, 32768);
  assert.deepEqual(
    all.map(({ ropeType }) => ropeType),
    ["default", "linear", "ntk", "dynamic", "yarn", "llama3"],
  );
  assert.deepEqual(all.find(({ own }) => own).invFreq, numbers.invFreq);
  const [unscaled, linear] = all;
  assert.deepEqual(
    linear.invFreq,
    unscaled.invFreq.map((w) => w / 8),
  );
});

test("the first position that becomes another is 257, 2049 and 16777217", () => {
  const shared = precisionReport(core, Float64Array.of(1), 15962).map(({ format, firstShared, held }) => [
    format,
    firstShared,
    held,
  ]);
  assert.deepEqual(shared, [
    ["float32", 16777217, 15962],
    ["bfloat16", 257, 15936],
    ["float16", 2049, 15960],
  ]);
});

test("llama3's regions are bounded by the pairs with 4 and 1 turns in the trained length", () => {
  const report = reportOf(core, of(presetText(PRESETS.find(({ name }) => name === "Llama-3.1-8B"))));
  const [{ ramp, pairs }] = report.ropes;
  const plainFreq = core.ropeInvFreq({ headDim: 128, ropeTheta: 500000 }).invFreq;
  for (const { pair, inv_freq } of pairs) {
    if (pair < ramp[0]) assert.equal(inv_freq, plainFreq[pair]);
    else if (pair > ramp[1]) assert.equal(inv_freq, plainFreq[pair] / 8);
    else assert.ok(inv_freq < plainFreq[pair] && inv_freq > plainFreq[pair] / 8);
  }
  assert.ok(ramp[0] > 20 && ramp[1] < 40);
});

// --------------------------------------------------------------------------------------------------------- output

test("a snippet, run as Python, gives the numbers it was made from", () => {
  const ones = Array.from({ length: 8 }, (_, i) => 1 + i / 3);
  const configs = [
    SMALL,
    withBlock({ type: "linear", factor: 3 }),
    withBlock({ type: "ntk", factor: 8 }),
    withBlock({ type: "dynamic", factor: 2 }),
    withBlock({ type: "yarn", factor: 16, original_max_position_embeddings: 512 }),
    withBlock({
      type: "yarn",
      factor: 16,
      original_max_position_embeddings: 512,
      truncate: false,
      attention_factor: 0.5,
    }),
    withBlock({
      type: "llama3",
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 512,
    }),
    withBlock({
      type: "longrope",
      short_factor: ones,
      long_factor: ones.toReversed(),
      original_max_position_embeddings: 512,
    }),
    withBlock({ rope_type: "proportional", partial_rotary_factor: 0.5, factor: 2 }),
    { ...SMALL, hidden_size: 128, partial_rotary_factor: 0.3 },
  ];
  const seqLen = 8192;
  const programs = configs.flatMap((config) => {
    const [{ config: own, attentionFactor, invFreq }] = of(config, { seqLen }).numbers;
    return [numpySnippet, pytorchSnippet].map((snippet) => ({
      code: snippet(own, attentionFactor, seqLen),
      invFreq,
      attentionFactor,
      own,
    }));
  });
  const source = `import json, sys\nfor code in json.load(sys.stdin):\n    names = {}\n    exec(code, names)\n    print(json.dumps([names["attention_factor"], *names["inv_freq"]]))\n`;
  const output = execFileSync("python3", ["-c", source], {
    input: JSON.stringify(programs.map(({ code }) => code)),
    env: { ...process.env, PYTHONPATH: join(here, "elementwise"), PYTHONDONTWRITEBYTECODE: "1" },
    encoding: "utf8",
  });
  for (const [n, line] of output.trim().split("\n").entries()) {
    const { invFreq, attentionFactor, own } = programs[n];
    const [factor, ...frequencies] = JSON.parse(line);
    assert.equal(factor, attentionFactor);
    assert.equal(frequencies.length, invFreq.length);
    for (const [i, w] of invFreq.entries()) {
      assert.ok(
        Math.abs(frequencies[i] - w) <= 1e-14 * w,
        `${JSON.stringify(own)} pair ${i}: ${frequencies[i]}, ${w}`,
      );
    }
  }
  assert.equal(output.trim().split("\n").length, 2 * configs.length);
});

test("llama.cpp's flags divide by the factor, and undo ggml's own YaRN attention factor", () => {
  const flags = (config, seqLen = 0) => {
    const [numbers] = of(config).numbers;
    return llamaCppFlags(numbers.config, numbers.attentionFactor, seqLen);
  };
  assert.equal(flags(SMALL), "--rope-scaling none --rope-freq-base 10000");
  assert.equal(
    flags(withBlock({ type: "linear", factor: 8 })),
    "--rope-scaling linear --rope-scale 8 --rope-freq-base 10000",
  );
  const yarn = { type: "yarn", factor: 16, original_max_position_embeddings: 4096 };
  assert.match(
    flags(withBlock(yarn)),
    /--rope-scale 16 .* --yarn-orig-ctx 4096 --yarn-attn-factor 1 --yarn-beta-fast 32/,
  );
  const [, given] = flags(withBlock({ ...yarn, attention_factor: 1 })).match(/--yarn-attn-factor (\S+)/);
  assert.ok(Math.abs(Number(given) * (0.1 * Math.log(16) + 1) - 1) < 1e-15);
  assert.match(
    flags(withBlock({ ...yarn, attention_factor: 1 })),
    /^# llama\.cpp computes the attention factor itself since/,
  );
  assert.match(flags(withBlock({ ...yarn, truncate: false })), /^# llama\.cpp rounds the ends of the ramp/);
  // the base in full, from which the slowest pair of 8 follows
  const slowest = (text) => Number(text.match(/--rope-freq-base (\S+)$/)[1]) ** (-14 / 16);
  const ntk = withBlock({ type: "ntk", factor: 8 });
  assert.ok(Math.abs(slowest(flags(ntk)) / of(ntk).numbers[0].invFreq[7] - 1) < 1e-14);
  const dynamic = withBlock({ type: "dynamic", factor: 2 });
  const [{ invFreq }] = of(dynamic, { seqLen: 16384 }).numbers;
  assert.match(flags(dynamic, 16384), /^# llama\.cpp keeps one base .* of 16384 positions/);
  assert.ok(Math.abs(slowest(flags(dynamic, 16384)) / invFreq[7] - 1) < 1e-14);
});

test("a Markdown report holds every finding, and no text of the config breaks its tables", () => {
  const config = withBlock(
    { type: "linear", factor: 2, "a|b`c\n<script>": 1 },
    { torch_dtype: "bfloat16", model_type: "<b>|x" },
  );
  const inspection = of(config);
  const text = markdown(reportOf(core, inspection), "config.json");
  for (const { id } of inspection.findings) assert.ok(text.includes(`\`${id}\``), id);
  assert.ok(
    !text
      .replace(/`[^`\n]*`/g, "")
      .replace(/\\./g, "")
      .includes("<"),
    text,
  );
  for (const line of text.split("\n").filter((one) => one.startsWith("|"))) {
    const cells = line.replace(/\\./g, "").split("|").length;
    assert.ok([5, 6, 7].includes(cells), line);
  }
});

test("a report without a length speaks of the longest sequence that its frequencies belong to", () => {
  for (const preset of PRESETS) {
    const report = reportOf(core, of(presetText(preset)));
    for (const { seq_len, trained_length, inv_freq, scalings: all } of report.ropes) {
      const own = all.find(({ own: isOwn }) => isOwn);
      assert.deepEqual(own.inv_freq, inv_freq, preset.name);
      if (["longrope", "dynamic"].includes(own.rope_type)) assert.equal(seq_len, trained_length);
    }
  }
});

test("a Markdown report shows no control characters of a config", () => {
  const config = { ...SMALL, torch_dtype: "\u001b[31m\u009b\u202e", "rope_\u0007\u2067": 1 };
  const text = markdown(reportOf(core, of(config)), "\u001b]0;x");
  for (const sign of "\u001b\u009b\u202e\u0007\u2067") assert.ok(!text.includes(sign));
  assert.match(text, /^# RoPE report: .*\n\n0 errors, 1 warning, 0 notes\./);
});

test("a link carries the text of the config, slips and duplicate keys included", () => {
  for (const text of ['{"a": 1,  "a": NaN}', "not JSON", '{"é": "a  b\\" c"}', presetText(PRESETS[5])]) {
    const back = fromLink(toLink(text));
    assert.deepEqual(
      of(back).findings.map(({ id, key }) => [id, key]),
      of(text).findings.map(({ id, key }) => [id, key]),
    );
  }
  assert.equal(toLink("x".repeat(100_000)), null);
  // an address that ordinary servers take, with room for the rest of it
  assert.equal(toLink("x".repeat(0.75 * MAX_LINK)).length, MAX_LINK);
  assert.equal(toLink("x".repeat(0.75 * MAX_LINK + 3)), null);
  assert.ok(MAX_LINK < 8190 - 500);
  for (const bad of ["%", "a", "/w==", "_w", "x".repeat(MAX_LINKED + 1)]) assert.equal(fromLink(bad), null);
});

test("a checkpoint read in the other layout scores wrongly, and rightly once its rows are permuted", () => {
  const offsets = Float64Array.from({ length: 33 }, (_, i) => -i);
  for (const layout of ["half", "interleaved"]) {
    for (const config of [SMALL, { ...SMALL, partial_rotary_factor: 0.5 }]) {
      const [numbers] = of(config).numbers;
      const { right, wrong, permuted } = layoutScores(core, numbers, layout, offsets);
      const off = (scores) => Math.max(...scores.map((score, i) => Math.abs(score - right[i])));
      assert.ok(off(permuted) < 1e-13, `${layout}: ${off(permuted)}`);
      assert.ok(off(wrong) > 0.1, `${layout}: ${off(wrong)}`);
      const rows = rowsFor(core, 16, numbers.config.rotaryDim, layout);
      assert.deepEqual(
        [...rows].toSorted((a, b) => a - b),
        [...rows.keys()],
      );
    }
  }
  assert.deepEqual([...rowsFor(core, 8, 8, "interleaved")], [0, 2, 4, 6, 1, 3, 5, 7]);
  assert.deepEqual([...rowsFor(core, 8, 4, "half")], [0, 2, 1, 3, 4, 5, 6, 7]);
});

test("the printed permutation, run as Python, takes the rows that reconcile the layouts", () => {
  const source = `import sys, json
class Weights:
    def __getitem__(self, rows):
        return rows
names = {"w_q": Weights()}
exec(sys.stdin.read(), names)
print(json.dumps(names["w_q"]))`;
  for (const layout of ["half", "interleaved"]) {
    const code = permutationSnippet({ numHeads: 3, headDim: 10, rotaryDim: 8 }, layout);
    const rows = JSON.parse(execFileSync("python3", ["-c", source], { input: code, encoding: "utf8" }));
    const head = [...rowsFor(core, 10, 8, layout)];
    assert.deepEqual(
      rows,
      [0, 10, 20].flatMap((first) => head.map((row) => first + row)),
    );
  }
});

test("DeepSeek's permutation moves the turning rows alone, of its own two projections", () => {
  const source = `import sys, json
class Weights:
    def __len__(self):
        return 20
    def __getitem__(self, rows):
        return rows
names = {"q_b_proj": Weights(), "kv_a_proj": Weights()}
exec(sys.stdin.read(), names)
print(json.dumps([names["q_b_proj"], names["kv_a_proj"]]))`;
  const code = permutationSnippet({ numHeads: 2, headDim: 4, rotaryDim: 4, unrotatedDim: 3 }, "interleaved");
  const [q, kv] = JSON.parse(execFileSync("python3", ["-c", source], { input: code, encoding: "utf8" }));
  assert.deepEqual(q, [0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10, 12, 11, 13]);
  assert.deepEqual(kv, [...Array(16).keys(), 16, 18, 17, 19]);
});
