// The ledger of the lesson: every number and every computed cell against a literal that was worked out elsewhere.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { loadPosenc } from "../../build/package/core.js";

const lesson = join(dirname(fileURLToPath(import.meta.url)), "../../web/lesson");
const load = async (name) =>
  (await runnerImport(join(lesson, name), { configFile: false, logLevel: "warn" })).module;

const posenc = await loadPosenc();
const numbers = (await load("numbers.ts")).numbers(posenc);
const tables = (await load("tables.ts")).tables(posenc);

const ledger = {
  params_qkv_add_d512: "786432",
  params_qkv_concat_d512: "3145728",
  token_norm_unscaled_d512: "0.45",
  token_norm_scaled_d512: "10.24",
  pe_norm_d512: "16",
  norm_crossover_d_model: "1250",
  token_norm_scaled_unit_d512: "22.63",
  random_cosine_d512: "0.04",
  still_columns_d128: "35",
  period_slowest_d128: "54410",
  period_fastest: "6.283",
  half_period_fastest: "3.14",
  period_slowest_d512: "60611",
  clock_ratio_d512: "9647",
  clock_ratio_log2_d512: "13.2",
  clock_bits_d512: "15",
  clock_step_d512: "1.037",
  row_distance_neighbour_d512: "3.71",
  collision_search_limit: "100000",
  dot_first_rise_d512: "43",
  cross_share_pp_expected: "50.3",
  cross_share_pp_unit: "11",
  cross_share_cc_expected: "8.4",
  toeplitz_share_raw: "100",
  toeplitz_draws: "20",
  angle5_degrees: "286.5",
  worked_sin2: "0.920",
  worked_cos2: "0.080",
  worked_row_5: "−0.959, 0.284, 0.479, 0.878, 0.050, 0.999, 0.005, 1.000",
  embedding_params_10000_512: "5120000",
  rope_change_same: "−0.460",
  rope_change_quarter: "0.841",
  mean_cosine_d64_at_50: "0.49",
  mean_cosine_d64_at_100: "0.56",
  mean_cosine_d64_first_negative: "725",
  layout_score_matched_7_0: "1.456",
  layout_score_mixed_7_0: "0.873",
  pairs_below_one_turn: "18",
  yarn_attention_factor_8: "1.208",
  dynamic_ntk_multiplier_8: "57",
  period_slowest_d128_theta_500000: "2559196",
  ntk_theta_4096_to_16384: "40890",
  alibi_window_steepest_8: "10",
  alibi_window_flattest_8: "1179",
  t5_last_bucket_from_encoder: "91",
  t5_last_bucket_from_decoder: "113",
  t5_parameters_12_heads: "384",
  learned_parameters_bert_base: "393216",
  first_inexact_bf16: "257",
  first_inexact_fp16: "2049",
  first_inexact_float32: "16777217",
  distinct_bf16_4096: "769",
  bf16_of_10000: "9984",
  rope_cache_share: "0.39",
};

for (const [name, expected] of Object.entries(ledger)) {
  test(`${name} is ${expected}`, () => assert.equal(numbers[name], expected));
}

/** Means over 20 draws, taken with another generator, lay between these. */
test("the offset explains 15 to 22 % of the projected map on average", () => {
  const share = Number(numbers.toeplitz_share_projected);
  assert.ok(share >= 15 && share <= 22, numbers.toeplitz_share_projected);
});

test("the sections name exactly the numbers and tables that are computed", () => {
  const sections = readdirSync(lesson)
    .filter((name) => name.endsWith(".md"))
    .map((name) => readFileSync(join(lesson, name), "utf8"))
    .join("\n");
  const named = (pattern) => [...new Set([...sections.matchAll(pattern)].map((match) => match[1]))].sort();
  assert.deepEqual(Object.keys(numbers).sort(), named(/\{\{([\w.-]+)\}\}/g));
  assert.deepEqual(Object.keys(tables).sort(), named(/^::table (\S+)$/gm));
  assert.deepEqual(Object.keys(numbers).sort(), [...Object.keys(ledger), "toeplitz_share_projected"].sort());
});

test("every table has a caption of one sentence and rows as long as its head", () => {
  for (const [name, { caption, head, rows }] of Object.entries(tables)) {
    assert.match(caption, /^[A-Z].*[^.]\.$/, name);
    assert.deepEqual(
      rows.map((row) => row.length),
      rows.map(() => head.length),
      name,
    );
  }
});

const cells = (name) => tables[name].rows;
/** Each value within half a unit of the last digit of its literal. */
const near = (actual, literals) => {
  assert.equal(actual.length, literals.length);
  literals.forEach((literal, i) => {
    const decimals = literal.split(".")[1]?.length ?? 0;
    assert.equal(Number(actual[i]).toFixed(decimals), literal, `row ${i}`);
  });
};

test("norms and parameters by d_model", () => {
  assert.deepEqual(cells("norms_and_parameters"), [
    [64, "0.16", "1.28", "5.66", 12_288, 49_152, 4],
    [128, "0.23", "2.56", "8.00", 49_152, 196_608, 4],
    [256, "0.32", "5.12", "11.31", 196_608, 786_432, 4],
    [512, "0.45", "10.24", "16.00", 786_432, 3_145_728, 4],
    [768, "0.55", "15.36", "19.60", 1_769_472, 7_077_888, 4],
    [1024, "0.64", "20.48", "22.63", 3_145_728, 12_582_912, 4],
  ]);
});

test("the clocks at d_model 512", () => {
  assert.deepEqual(cells("clocks_d512"), [
    [0, "1.000", "6.283", "1.000", "0.00"],
    [1, "0.9647", "6.513", "1.037", "0.05"],
    [16, "0.5623", "11.17", "1.778", "0.83"],
    [32, "0.3162", "19.87", "3.162", "1.66"],
    [64, "0.1000", "62.83", "10.00", "3.32"],
    [128, "0.01000", "628.3", "100.0", "6.64"],
    [192, "0.001000", "6283", "1000", "9.97"],
    [255, "0.0001037", "60611", "9647", "13.24"],
  ]);
});

test("shifts are rotations to rounding, and dot products see the offset alone", () => {
  const rows = cells("shift_residuals_d512");
  assert.deepEqual(
    rows.map(([k, cos, sin, , at0, at700]) => [k, cos, sin, at0, at700]),
    [
      [1, "0.540", "0.841", "249.10", "249.10"],
      [5, "0.284", "−0.959", "189.60", "189.60"],
      [50, "0.965", "−0.262", "131.09", "131.09"],
      [500, "−0.884", "−0.468", "67.23", "67.23"],
      [-5, "0.284", "0.959", "189.60", "189.60"],
    ],
  );
  for (const row of rows) assert.match(row[3], /^\$[12]\.\d \\times 10\^\{-13\}\$$/);
});

test("measured shares of the four terms lie within 3 points of the expected ones", () => {
  const rows = cells("cross_term_shares");
  assert.deepEqual(
    rows.map(([term, expected]) => [term, expected]),
    [
      ["content–content", "8.4"],
      ["content–position", "20.6"],
      ["position–content", "20.6"],
      ["position–position", "50.3"],
    ],
  );
  for (const [term, expected, measured] of rows) assert.ok(Math.abs(expected - measured) < 3, term);
});

test("the worked example at d_model 8", () => {
  assert.deepEqual(cells("worked_angles"), [
    [0, "1.000", "5.000", "−0.959", "0.284"],
    [1, "0.100", "0.500", "0.479", "0.878"],
    [2, "0.010", "0.050", "0.050", "0.999"],
    [3, "0.001", "0.005", "0.005", "1.000"],
  ]);
  assert.deepEqual(cells("worked_rows"), [
    [0, "0.000", "1.000", "0.000", "1.000", "0.000", "1.000", "0.000", "1.000"],
    [1, "0.841", "0.540", "0.100", "0.995", "0.010", "1.000", "0.001", "1.000"],
    [5, "−0.959", "0.284", "0.479", "0.878", "0.050", "0.999", "0.005", "1.000"],
  ]);
});

test("the shapes of the embedding layer", () => {
  assert.deepEqual(
    cells("embedding_shapes").map(([, shape, count]) => [shape.replace("\u202f", ""), count]),
    [
      ["(2, 20)", 40],
      ["(10000, 512)", 5_120_000],
      ["(2, 20, 512)", 20_480],
      ["(20, 512)", 10_240],
      ["(2, 20, 512)", 20_480],
    ],
  );
});

test("learned tables: their sizes, and where they end", () => {
  assert.deepEqual(cells("learned_parameters"), [
    ["BERT base", 512, 768, 393_216],
    ["BERT large", 512, 1024, 524_288],
    ["RoBERTa base", 514, 768, 394_752],
    ["GPT-2", 1024, 768, 786_432],
  ]);
  const limits = cells("learned_limits");
  assert.deepEqual(
    limits.map(([position, sinusoidal]) => [position, sinusoidal]),
    [0, 511, 512, 5000].map((position) => [position, "row, norm 16"]),
  );
  const [first, last, ...beyond] = limits.map(([, , learned]) => learned);
  assert.deepEqual([first, last], ["row", "row"]);
  for (const message of beyond) assert.match(message, /does not exist: .* rows 0 to 511/);
});

test("permuted weights match, unpermuted ones do not", () => {
  assert.deepEqual(cells("layout_scores"), [
    [7, 7, "1.8750", "1.8750", "1.8750"],
    [7, 3, "1.3047", "1.3047", "1.2936"],
    [107, 103, "1.3047", "1.3047", "1.2936"],
    [7, 0, "1.4555", "1.4555", "0.8733"],
  ]);
});

test("how far each scaling slows each pair", () => {
  const rows = cells("scaled_frequencies");
  assert.deepEqual(
    rows.map(([pair, , , ...slower]) => [pair, ...slower]),
    [
      [0, "8.00", "1.00", "1.00", "1.00", "1.00"],
      [16, "8.00", "1.70", "2.79", "1.00", "1.00"],
      [24, "8.00", "2.21", "4.67", "1.16", "1.00"],
      [32, "8.00", "2.88", "7.80", "1.68", "1.00"],
      [40, "8.00", "3.74", "13.03", "3.06", "2.30"],
      [48, "8.00", "4.88", "21.77", "8.00", "8.00"],
      [63, "8.00", "8.00", "57.00", "8.00", "8.00"],
    ],
  );
  // 10^(pair/16) · 2π, and 4096 over it
  assert.deepEqual(
    rows.map(([, wavelength, turns]) => [wavelength, turns]),
    [
      ["6.283", "651.90"],
      ["62.83", "65.19"],
      ["198.7", "20.61"],
      ["628.3", "6.52"],
      ["1987", "2.06"],
      ["6283", "0.65"],
      ["54410", "0.08"],
    ],
  );
  const yarn = { headDim: 128, ropeType: "yarn", factor: 8, originalMaxPositionEmbeddings: 4096 };
  assert.deepEqual(posenc.yarnCorrectionRange(yarn), { low: 20, high: 46 });
});

test("ALiBi's slopes and windows", () => {
  const eight = ["0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625", "0.0078125", "0.00390625"];
  const rows = cells("alibi_slopes");
  const column = (i) => rows.map((row) => row[i]);
  assert.deepEqual(column(0), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  assert.deepEqual(column(1), [
    ...["0.25", "0.0625", "0.015625", "0.00390625", "0.5", "0.125"],
    ...Array(6).fill(""),
  ]);
  assert.deepEqual(column(2), [...eight, ...Array(4).fill("")]);
  assert.deepEqual(column(3).slice(0, 8), eight);
  near(column(3).slice(8), ["0.7071", "0.3536", "0.1768", "0.0884"]);
  const windows = [10, 19, 37, 74, 148, 295, 590, 1179];
  assert.deepEqual(
    cells("alibi_windows"),
    windows.map((keys, head) => [head + 1, eight[head], keys]),
  );
});

test("T5's buckets", () => {
  assert.deepEqual(cells("t5_buckets"), [
    [0, 0, 0, 0],
    [1, 1, 17, 1],
    [7, 7, 23, 7],
    [8, 8, 24, 8],
    [12, 9, 25, 12],
    [15, 9, 25, 15],
    [16, 10, 26, 16],
    [32, 12, 28, 21],
    [64, 14, 30, 26],
    [91, 15, 31, 29],
    [113, 15, 31, 31],
    [1000, 15, 31, 31],
  ]);
});

test("which methods survive a shift, and which tell left from right", () => {
  assert.deepEqual(
    cells("comparison_computed").map(([method, , ...answers]) => [method, ...answers]),
    [
      ["None", 0, "yes", "no"],
      ["Sinusoidal", 0, "no", "yes"],
      ["Learned", 393_216, "no", "yes"],
      ["RoPE", 0, "yes", "yes"],
      ["ALiBi", "0 (12 fixed slopes)", "yes", "no"],
      ["T5", "384 per stack", "yes", "yes"],
    ],
  );
});

const power = (mantissa, exponent) => `$${mantissa} \\times 10^{${exponent}}$`;

test("what each place of rounding costs", () => {
  assert.deepEqual(cells("precision_errors"), [
    [10_000, power("3.0", -8), power("5.0", -4), "1.985", power("1.95", -3)],
    [100_000, power("3.0", -8), power("5.3", -3), "2.000", power("1.95", -3)],
    [1_000_000, power("3.0", -8), power("5.2", -2), "1.997", power("1.95", -3)],
  ]);
});

test("the RoPE cache beside the KV cache", () => {
  assert.deepEqual(cells("rope_cache_cost"), [
    [4096, 524_288, 16_777_216, 2, 512, "0.39"],
    [8192, 1_048_576, 33_554_432, 4, 1024, "0.39"],
    [32_768, 4_194_304, 134_217_728, 16, 4096, "0.39"],
    [131_072, 16_777_216, 536_870_912, 64, 16_384, "0.39"],
  ]);
});
