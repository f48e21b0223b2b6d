// What the reference implementations computed, through the public API and through the command line, whose JSON is read
// back: two roads to the same numbers, each held to the tolerance of its golden file.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadPosenc } from "posenc";
import { runnerImport } from "vite";
import { alike } from "./alike.mjs";
import { arrayFrom, posenc } from "./command.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const golden = (name) => JSON.parse(readFileSync(join(root, `tests/golden/${name}.json`), "utf8"));
const { inspect } = (
  await runnerImport(join(root, "web/inspect/inspect.ts"), { configFile: false, logLevel: "warn" })
).module;
const core = await alike(await loadPosenc());
const folder = await mkdtemp(join(tmpdir(), "posenc-golden-"));
after(() => rm(folder, { recursive: true }));

/** A road: what it is called, and how it answers. */
const roads = {
  API: {
    async inspect(config, seqLens) {
      const { findings, numbers } = inspect(core, JSON.stringify(config), { seqLen: seqLens.at(-1) ?? 0 });
      assert.deepEqual(
        findings.filter(({ severity }) => severity === "error"),
        [],
      );
      const [{ invFreq, attentionFactor }] = numbers;
      return { invFreq, attentionFactor, errors: findings };
    },
  },
  "command line": {
    async inspect(config, seqLens) {
      const lengths = seqLens.length > 0 ? ["--seq-len", seqLens.join(",")] : [];
      const { status, stdout } = await posenc(["inspect", "-", "--json", ...lengths], JSON.stringify(config));
      assert.equal(status, 0, stdout);
      const [rope] = JSON.parse(stdout).ropes;
      return { invFreq: rope.inv_freq, attentionFactor: rope.attention_factor, lengths: rope.lengths };
    },
  },
};

function near(id, actual, expected, { abs = 0, rel = 0 }) {
  assert.equal(actual.length, expected.length, `${id}: length`);
  for (const [i, value] of [...actual].entries()) {
    const wanted = Number(expected[i]);
    if (value === wanted) continue;
    const allowance = abs + rel * Math.abs(wanted);
    const off = Math.abs(value - wanted);
    assert.ok(
      off <= allowance,
      `${id}[${i}]: ${value}, expected ${wanted}, off by ${off}, allowed ${allowance}`,
    );
  }
}

const flat = (value) => value.flat(Infinity).map(Number);
const all = (file, run) => Promise.all(golden(file).cases.map(run));
const list = (values) => values.join(",");
const rope = (params, ...args) =>
  [
    "rope",
    "--head-dim",
    params.dim ?? params.head_dim ?? params.d_k,
    "--rope-theta",
    params.base,
    ...args,
  ].map(String);

for (const [road, { inspect: ask }] of Object.entries(roads)) {
  for (const file of ["rope_models", "rope_types_edge_cases"]) {
    test(`${file}: inv_freq and attention factor to 1e-14, by ${road}`, async () => {
      const rel = golden(file).tolerance.rel;
      assert.equal(rel, 1e-14);
      await all(file, async ({ id, params, expected }) => {
        const { invFreq, attentionFactor } = await ask(
          params.config,
          params.seq_len === null ? [] : [params.seq_len],
        );
        near(id, invFreq, expected.inv_freq, { rel });
        near(`${id} attention`, [attentionFactor], [expected.attention_scaling], { rel });
      });
    });
  }
}

test("rope_models: DeepSeek's softmax scale, by API and command line", async () => {
  const { params, expected } = golden("rope_models").cases.find(({ id }) => id === "DeepSeek-V3");
  const config = JSON.stringify({ model_type: "deepseek_v3", ...params.config });
  const { scoreScale } = inspect(core, config);
  const { stdout } = await posenc(["inspect", "-", "--json"], config);
  near(
    "softmax scale",
    [scoreScale, JSON.parse(stdout).softmax_scale],
    [expected.softmax_scale, expected.softmax_scale],
    { rel: 1e-14 },
  );
});

test("rope_cos_sin_far: cos and sin at far positions, by API and command line", async () => {
  await all("rope_cos_sin_far", async ({ id, params, expected }) => {
    const text = JSON.stringify(params.config);
    const seqLen = params.seq_len ?? 0;
    const [{ invFreq, attentionFactor }] = inspect(core, text, { seqLen }).numbers;
    const byApi = core.ropeCosSin(Float64Array.from(params.positions), invFreq, attentionFactor);
    const args = [
      "rope",
      "--config",
      "-",
      "--what",
      "cos-sin",
      "--context",
      seqLen,
      "--positions",
      list(params.positions),
    ];
    const { shape, values } = await arrayFrom(args.map(String), text);
    assert.deepEqual(shape, [params.positions.length, invFreq.length, 2]);
    for (const [t, position] of params.positions.entries()) {
      for (const [i, pair] of params.pair_indices.entries()) {
        const angle = position * params.inv_freq[i];
        // The tolerance of the file, where inv_freq is recomputed.
        const abs = params.attention_scaling * (4e-16 + 1.3e-16 * angle + 2.3e-16 * angle);
        const at = t * invFreq.length + pair;
        const name = `${id} position ${position} pair ${pair}`;
        near(name, [byApi.cos[at], byApi.sin[at]], expected.cos_sin[t][i], { abs });
        near(name, values.slice(2 * at, 2 * at + 2), expected.cos_sin[t][i], { abs });
      }
    }
  });
});

test("rope_dynamic_sequence: the states after a row of calls, by API and command line", async () => {
  const { rel } = golden("rope_dynamic_sequence").tolerance;
  const { lengthSteps } = (
    await runnerImport(join(root, "web/inspect/lengths.ts"), { configFile: false, logLevel: "warn" })
  ).module;
  await all("rope_dynamic_sequence", async ({ id, params, expected }) => {
    const [{ config }] = inspect(core, JSON.stringify(params.config)).numbers;
    const byApi = lengthSteps(core, config, params.seq_lens);
    const { lengths } = await roads["command line"].inspect(params.config, params.seq_lens);
    assert.equal(lengths.length, expected.steps.length);
    for (const [n, step] of expected.steps.entries()) {
      near(`${id} call ${n}`, byApi[n].invFreq, step.inv_freq, { rel });
      near(`${id} call ${n}`, lengths[n].inv_freq, step.inv_freq, { rel });
      if (config.ropeType !== "dynamic") continue;
      assert.equal(byApi[n].cachedSeqLen, step.max_seq_len_cached);
      assert.equal(lengths[n].max_seq_len_cached, step.max_seq_len_cached);
    }
  });
});

test("attention_factor: YaRN, LongRoPE and DeepSeek, by API and command line", async () => {
  const { rel } = golden("attention_factor").tolerance;
  await all("attention_factor", async ({ id, params, expected }) => {
    const {
      fn,
      factor,
      mscale,
      max_position_embeddings: max,
      original_max_position_embeddings: original,
    } = params;
    const [byApi, args] = {
      yarn: () => [
        core.yarnMscale(factor, mscale),
        ["--what", "mscale", "--factor", factor, "--mscale", mscale],
      ],
      longrope: () => {
        const ones = list(Array(4).fill(1));
        const lengths = ["--max-position-embeddings", max, "--original-max-position-embeddings", original];
        const lists = ["--short-factor", ones, "--long-factor", ones];
        return [
          core.longropeAttentionFactor(max / original, original),
          ["--what", "attention-factor", "--head-dim", 8, "--rope-type", "longrope", ...lengths, ...lists],
        ];
      },
      deepseek_softmax_scale: () => [
        core.yarnMscale(factor, params.mscale_all_dim) ** 2 / Math.sqrt(params.qk_head_dim),
        [
          "--what",
          "softmax-scale",
          "--head-dim",
          params.qk_head_dim,
          "--factor",
          factor,
          "--mscale",
          params.mscale_all_dim,
        ],
      ],
    }[fn]();
    const { values } = await arrayFrom(["rope", ...args.map(String)]);
    near(id, [byApi, ...values], [expected.value, expected.value], { rel });
  });
});

test("ntk: static, dynamic and linear side by side, by API and command line", async () => {
  const { rel } = golden("ntk").tolerance;
  await all("ntk", async ({ id, params, expected }) => {
    const { d_k, base, original_max_len: original, new_max_len, hf_factor, seq_len } = params;
    const ways = {
      lesson: { ropeType: "ntk", factor: new_max_len / original },
      hf_dynamic: { ropeType: "dynamic", factor: hf_factor },
      linear: { ropeType: "linear", factor: new_max_len / original },
    };
    for (const [name, { ropeType, factor }] of Object.entries(ways)) {
      const config = {
        headDim: d_k,
        ropeTheta: base,
        ropeType,
        factor,
        originalMaxPositionEmbeddings: original,
      };
      const length = ["--original-max-position-embeddings", original, "--context", seq_len];
      const { values } = await arrayFrom(
        rope(params, "--rope-type", ropeType, "--factor", factor, ...length),
      );
      near(`${id} ${name}`, core.ropeInvFreq(config, seq_len).invFreq, expected[name].inv_freq, { rel });
      near(`${id} ${name}`, values, expected[name].inv_freq, { rel });
    }
  });
});

test("yarn_internals: the ramp's ends and the ramp itself, by API and command line", async () => {
  const { rel } = golden("yarn_internals").tolerance;
  await all("yarn_internals", async ({ id, params, expected }) => {
    const { dim, base, original_max_position: original, beta_fast, beta_slow, factor } = params;
    const plain = core.ropeInvFreq({ headDim: dim, ropeTheta: base }).invFreq;
    for (const truncate of [true, false]) {
      const form = truncate ? "truncated" : "untruncated";
      const config = {
        ...{ headDim: dim, ropeTheta: base, ropeType: "yarn", factor, truncate },
        ...{ originalMaxPositionEmbeddings: original, betaFast: beta_fast, betaSlow: beta_slow },
      };
      const args = rope(
        params,
        "--rope-type",
        "yarn",
        "--factor",
        factor,
        "--original-max-position-embeddings",
        original,
      );
      args.push(
        "--beta-fast",
        String(beta_fast),
        "--beta-slow",
        String(beta_slow),
        ...(truncate ? [] : ["--no-truncate"]),
      );
      const { low, high } = core.yarnCorrectionRange(config);
      const range = await arrayFrom([...args, "--what", "yarn-range"]);
      const { values } = await arrayFrom(args);
      for (const ends of [[low, high], range.values])
        near(`${id} range`, ends, expected[`range_${form}`], { rel: truncate ? 0 : rel });
      for (const invFreq of [core.ropeInvFreq(config).invFreq, values]) {
        // The ramp as the frequencies show it: w = w0 / factor · ramp + w0 · (1 − ramp).
        const ramp = [...invFreq].map((w, i) => (1 - w / plain[i]) / (1 - 1 / factor));
        near(`${id} ramp`, ramp, expected[`ramp_${form}`], { abs: rel + (4 * 2 ** -53) / (1 - 1 / factor) });
      }
    }
    near(`${id} mscale`, [core.yarnMscale(factor)], [expected.mscale], { rel });
  });
});

test("yarn_cos_sin: the original class's tables, by API and command line", async () => {
  const { abs } = golden("yarn_cos_sin").tolerance;
  await all("yarn_cos_sin", async ({ id, params, expected }) => {
    const { dim, base, factor, original_max_position: original, positions } = params;
    const config = {
      headDim: dim,
      ropeTheta: base,
      ropeType: "yarn",
      factor,
      originalMaxPositionEmbeddings: original,
    };
    const { invFreq, attentionFactor } = core.ropeInvFreq(config);
    const byApi = core.ropeCosSin(Float64Array.from(positions), invFreq, attentionFactor);
    const args = rope(
      params,
      "--rope-type",
      "yarn",
      "--factor",
      factor,
      "--original-max-position-embeddings",
      original,
      "--positions",
      list(positions),
    );
    for (const what of ["cos", "sin"]) {
      const { values } = await arrayFrom([...args, "--what", what]);
      near(`${id} ${what}`, byApi[what], flat(expected[what]), { abs });
      near(`${id} ${what}`, values, flat(expected[what]), { abs });
    }
  });
});

/** Rows of a case as a file for --input. */
async function inputFile(name, rows) {
  const path = join(folder, `${name.replace(/\W+/g, "-")}.json`);
  await writeFile(path, JSON.stringify(rows));
  return path;
}

test("rope_apply: rotated q and k and their scores in both layouts, by API and command line", async () => {
  await all("rope_apply", async ({ id, params, expected, tolerance_abs: abs }) => {
    const { head_dim: headDim, rotary_dim: rotaryDim, base, positions } = params;
    const { invFreq } = core.ropeInvFreq({ headDim, rotaryDim, ropeTheta: base });
    const { cos, sin } = core.ropeCosSin(Float64Array.from(positions), invFreq);
    for (const layout of ["interleaved", "half"]) {
      const turned = {};
      for (const name of ["q", "k"]) {
        const shape = { seqLen: positions.length, headDim, rotaryDim, layout };
        const byApi = core.ropeApply(Float64Array.from(flat(params[name])), cos, sin, shape);
        const input = await inputFile(`${id} ${layout} ${name}`, params[name]);
        const args = rope(
          params,
          "--partial-rotary-factor",
          rotaryDim / headDim,
          "--what",
          "rotate",
          "--layout",
          layout,
        );
        const { values } = await arrayFrom([...args, "--input", input, "--positions", list(positions)]);
        for (const rows of [byApi, values])
          near(`${id} ${layout} ${name}`, rows, flat(expected[layout][`${name}_rot`]), { abs });
        turned[name] = values;
      }
      const row = (rows, t) => rows.slice(t * headDim, (t + 1) * headDim);
      const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
      const scores = positions.flatMap((_, m) =>
        positions.map((_, n) => dot(row(turned.q, m), row(turned.k, n))),
      );
      near(`${id} ${layout} scores`, scores, flat(expected[layout].scores), { abs: 10 * abs });
    }
  });
});

test("rope_deepseek_layout: interleaved pairs, answered in halves, by the command line", async () => {
  const { abs } = golden("rope_deepseek_layout").tolerance;
  await all("rope_deepseek_layout", async ({ id, params, expected }) => {
    const { head_dim: headDim, positions } = params;
    const { values: rows } = await arrayFrom([
      "rope",
      "--what",
      "permutation",
      "--head-dim",
      String(headDim),
    ]);
    for (const name of ["q", "k"]) {
      const input = await inputFile(`${id} ${name}`, params[name]);
      const args = rope(params, "--what", "rotate", "--layout", "interleaved", "--input", input);
      const { values } = await arrayFrom([...args, "--positions", list(positions)]);
      const halves = positions.flatMap((_, t) => rows.map((from) => values[t * headDim + from]));
      near(`${id} ${name}`, halves, flat(expected[`${name}_rot`]), { abs });
    }
  });
});

test("rope_mrope: three axes of positions, chunked and interleaved, by API and command line", async () => {
  const { abs } = golden("rope_mrope").tolerance;
  await all("rope_mrope", async ({ id, params, expected }) => {
    const { head_dim: headDim, base, positions_thw: positions } = params;
    const sections = { chunked: params.mrope_section, interleaved: params.mrope_section_interleaved };
    const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta: base });
    const seqLen = positions[0].length;
    for (const layout of ["chunked", "interleaved"]) {
      const axes = core.mropeAxes(Int32Array.from(sections[layout]), headDim / 2, layout);
      const { cos, sin } = core.mropeCosSin(Float64Array.from(positions.flat()), axes, invFreq);
      for (const name of layout === "chunked" ? ["q", "k"] : ["q"]) {
        const byApi = core.ropeApply(Float64Array.from(flat(params[name])), cos, sin, {
          seqLen,
          headDim,
          layout: "half",
        });
        const input = await inputFile(`${id} ${layout} ${name}`, params[name]);
        const args = rope(params, "--what", "rotate", "--input", input, "--mrope-layout", layout);
        args.push("--mrope-section", list(sections[layout]), "--positions", positions.map(list).join(";"));
        const { values } = await arrayFrom(args);
        for (const rows of [byApi, values])
          near(`${id} ${layout}`, rows, flat(expected[layout][`${name}_rot`]), { abs });
      }
    }
  });
});

test("rope_weight_permutation: the rows of W_q and W_k, by API and command line", async () => {
  await all("rope_weight_permutation", async ({ params, expected }) => {
    const { num_heads: numHeads, head_dim: headDim } = params;
    const args = ["rope", "--what", "permutation", "--num-heads", numHeads, "--head-dim", headDim];
    assert.deepEqual([...core.halfFromInterleaved({ numHeads, headDim })], expected.row_index);
    assert.deepEqual((await arrayFrom(args.map(String))).values, expected.row_index);
  });
});

test("rope_validation: what transformers refuses or warns of, the inspector finds at the same key", async () => {
  const keys = {
    "missing factor": "factor",
    "yarn missing factor": "factor",
    "longrope wrong length": "short_factor",
    "factor < 1": "factor",
    "yarn beta order": "beta_fast",
    "longrope no factor (Phi3 style)": "factor",
    "factor is a string": "factor",
    "yarn factor vs ratio": "factor",
    "llama3 high<=low": "high_freq_factor",
    "longrope missing long_factor": "long_factor",
  };
  await all("rope_validation", async ({ id, params, expected }) => {
    const { status, stdout } = await posenc(["inspect", "-", "--json"], JSON.stringify(params.config));
    const { findings } = JSON.parse(stdout);
    const complaint = expected.error !== null || expected.warnings.length > 0;
    assert.equal(complaint, id in keys, id);
    if (complaint)
      assert.ok(
        findings.some(({ key }) => key.endsWith(keys[id])),
        `${id}: ${stdout}`,
      );
    else
      assert.deepEqual(
        findings.filter(({ severity }) => severity !== "note"),
        [],
        id,
      );
    if (expected.error !== null) assert.equal(status, 1, id);
  });
});

test("alibi_slopes and alibi_mpt_bias_max: slopes of every head count, by API and command line", async () => {
  const { rel } = golden("alibi_slopes").tolerance;
  await all("alibi_slopes", async ({ id, params, expected }) => {
    const { values } = await arrayFrom(["alibi", "--num-heads", String(params.num_heads)]);
    for (const slopes of [core.alibiSlopes({ numHeads: params.num_heads }), values])
      near(id, slopes, expected.original, { rel });
  });
  await all("alibi_mpt_bias_max", async ({ id, params, expected }) => {
    const { num_heads: numHeads, alibi_bias_max: alibiBiasMax } = params;
    const { values } = await arrayFrom([
      "alibi",
      "--num-heads",
      String(numHeads),
      "--alibi-bias-max",
      String(alibiBiasMax),
    ]);
    for (const slopes of [core.alibiSlopes({ numHeads, alibiBiasMax }), values])
      near(id, slopes, expected.slopes, { rel });
  });
});

test("alibi_bias: symmetric and causal biases, by API and command line", async () => {
  const { abs } = golden("alibi_bias").tolerance;
  const number = (value) => (value === "-inf" ? Number.NEGATIVE_INFINITY : value);
  await all("alibi_bias", async ({ id, params, expected }) => {
    const { num_heads: numHeads, T } = params;
    const slopes = core.alibiSlopes({ numHeads });
    for (const causal of [false, true]) {
      const wanted = expected[causal ? "causal" : "symmetric"].flat(2).map(number);
      const args = [
        "alibi",
        "--num-heads",
        String(numHeads),
        "--seq-len",
        String(T),
        ...(causal ? ["--causal"] : []),
      ];
      const { values } = await arrayFrom(args);
      near(`${id} API`, core.alibiBias(slopes, T, causal), wanted, { abs });
      near(`${id} command line`, values, wanted, { abs });
    }
  });
});

test("t5_buckets: every relative position from -512 to 512, exactly, by API and command line", async () => {
  await all("t5_buckets", async ({ id, params, expected }) => {
    const { bidirectional, num_buckets: numBuckets, max_distance: maxDistance } = params;
    const { relative_position_from: from, relative_position_to: to } = params;
    const offsets = Int32Array.from({ length: to - from + 1 }, (_, i) => from + i);
    const byApi = core.t5Buckets(offsets, { numBuckets, maxDistance, bidirectional });
    const args = [
      "t5",
      "--num-buckets",
      numBuckets,
      "--max-distance",
      maxDistance,
      `--from=${from}`,
      `--to=${to}`,
    ];
    const { values } = await arrayFrom([...args.map(String), ...(bidirectional ? [] : ["--causal"])]);
    const wanted = expected.runs.flatMap(([first, last, bucket]) => Array(last - first + 1).fill(bucket));
    for (const [i, offset] of offsets.entries()) {
      if (expected.differs_exact_from_f32.includes(offset)) continue;
      assert.equal(byApi[i], wanted[i], `${id} at ${offset}, API`);
      assert.equal(values[i], wanted[i], `${id} at ${offset}, command line`);
    }
  });
});

test("t5_bias: biases looked up in a table, exactly, by API and command line", async () => {
  await all("t5_bias", async ({ id, params, expected }) => {
    const {
      bidirectional,
      num_buckets: numBuckets,
      max_distance: maxDistance,
      T,
      S,
      num_heads: numHeads,
    } = params;
    const byApi = core.t5Bias(Float64Array.from(flat(params.table)), numHeads, T, S, {
      numBuckets,
      maxDistance,
      bidirectional,
    });
    const table = await inputFile(id, params.table);
    const args = [
      "t5",
      "--num-buckets",
      numBuckets,
      "--max-distance",
      maxDistance,
      "--q-len",
      T,
      "--k-len",
      S,
    ];
    if (!bidirectional) args.push("--causal");
    const buckets = await arrayFrom(args.map(String));
    const { values } = await arrayFrom([...args.map(String), "--table", table]);
    assert.deepEqual(buckets.values, flat(expected.bucket), id);
    assert.deepEqual([...byApi], flat(expected.bias), id);
    assert.deepEqual(values, flat(expected.bias), id);
  });
});
