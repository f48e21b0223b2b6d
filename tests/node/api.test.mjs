// The boundary: what JavaScript may hand in, what comes back, and what is said about the rest.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { hasSimd, loadPosenc } from "posenc";
import { alike } from "./alike.mjs";

const wasm = (variant) => readFile(new URL(`../../web/wasm/posenc-${variant}.wasm`, import.meta.url));
const simd = await loadPosenc();
const scalar = await alike(await loadPosenc({ wasmBinary: await wasm("scalar"), simd: false }));
const f64 = (...values) => Float64Array.from(values);

const throws = (run, name, ...parts) =>
  assert.throws(run, (error) => {
    assert.equal(error.name, name, error.message);
    for (const part of parts) assert.match(error.message, part);
    return true;
  });

test("the SIMD build runs where the engine has SIMD", () => {
  assert.equal(hasSimd(), true);
  assert.equal(simd.simd, true);
  assert.equal(scalar.simd, false);
});

test("position 5 of the worked example has the right signs", () => {
  const row = simd.sinusoidalRows(f64(5), { dModel: 8 });
  assert.deepEqual(
    [...row].map((value) => Number(value.toFixed(3))),
    [-0.959, 0.284, 0.479, 0.878, 0.05, 0.999, 0.005, 1],
  );
});

test("a wrong kind is a TypeError that names the field and the value", () => {
  const table = (config) => () => simd.sinusoidalTable({ seqLen: 8, dModel: 8, ...config });
  throws(table({ seqLen: 8.9 }), "TypeError", /^seqLen must be an integer, got 8\.9$/);
  throws(table({ seqLen: "8" }), "TypeError", /^seqLen must be an integer, got "8"$/);
  throws(table({ seqLen: Number.NaN }), "TypeError", /^seqLen must be an integer, got NaN$/);
  throws(table({ seqLen: undefined }), "TypeError", /^seqLen must be an integer, got undefined$/);
  throws(table({ base: Number.POSITIVE_INFINITY }), "TypeError", /^base must be a finite number/);
  throws(table({ layout: "halved" }), "TypeError", /layout must be one of interleaved, halves/);
  throws(table({ layout: "values" }), "TypeError", /layout must be one of/);
  throws(table({ seqlen: 8 }), "TypeError", /no field "seqlen"; it has seqLen/);
  throws(() => simd.sinusoidalTable([8, 8]), "TypeError", /config must be an object, got an array/);
  throws(() => simd.sinusoidalTable(null), "TypeError", /config must be an object, got null/);
  throws(() => simd.sinusoidalRows([5], { dModel: 8 }), "TypeError", /positions must be a Float64Array/);
  throws(() => simd.alibiSlopes({ numHeads: 8n }), "TypeError", /numHeads must be an integer/);
  throws(
    () => simd.ropeApply(new Float32Array(4), f64(1, 1), f64(0, 0), { seqLen: 1, headDim: 4 }),
    "TypeError",
    /cos must be a Float32Array, got Float64Array/,
  );
});

test("a wrong value is a RangeError with the core's sentence and the value", () => {
  throws(
    () => simd.sinusoidalTable({ seqLen: 0, dModel: 8 }),
    "RangeError",
    /seq_len must be at least 1; got seq_len = 0/,
  );
  throws(
    () => simd.ropeInvFreq({ headDim: 8, rotaryDim: 7 }),
    "RangeError",
    /rotary_dim must be even and at least 2; got rotary_dim = 7/,
  );
  throws(
    () => simd.ropeInvFreq({ headDim: 8, ropeType: "linear", factor: 0.5 }),
    "RangeError",
    /factor must be .* at least 1; got factor = 0\.5/,
  );
  throws(
    () =>
      simd.ropeInvFreq({
        headDim: 8,
        ropeType: "llama3",
        factor: 8,
        originalMaxPositionEmbeddings: 64,
        lowFreqFactor: 4,
      }),
    "RangeError",
    /high_freq_factor must be greater than low_freq_factor/,
  );
  throws(
    () =>
      simd.ropeInvFreq({
        headDim: 8,
        ropeType: "longrope",
        originalMaxPositionEmbeddings: 64,
        shortFactor: f64(1),
      }),
    "RangeError",
    /short_factor must have rotary_dim\/2 entries/,
  );
  throws(
    () => simd.similarity(f64(1, 2, 3), 2, 2),
    "RangeError",
    /table must have 4 entries, rows × cols; got 3/,
  );
});

test("the similarity from offsets is that of the table's rows, and asks for an even dModel", () => {
  const config = { seqLen: 30, dModel: 16, positionStep: 2 };
  const general = simd.similarity(simd.sinusoidalTable(config), 30, 16);
  for (const core of [simd, scalar]) {
    // 16 products of two entries within 2^-24 each, and 16 roundings of sums up to 8
    for (const [i, value] of core.sinusoidalSimilarity(config).entries())
      assert.ok(Math.abs(value - general[i]) < (2 * 16 + 16 * 8) * 2 ** -24, `entry ${i}`);
  }
  throws(
    () => simd.sinusoidalSimilarity({ seqLen: 4, dModel: 5 }),
    "RangeError",
    /d_model must be even.*got d_model = 5/,
  );
  throws(() => simd.sinusoidalSimilarity({ dModel: 4 }), "TypeError", /seqLen must be an integer/);
});

test("a colour map goes into the pixels that are handed in, if they have its size", () => {
  const values = Float32Array.of(-1, 0, 0.5, Number.NaN);
  const config = { rows: 2, cols: 2, width: 2, height: 2 };
  const pixels = new Uint8ClampedArray(16);
  const fresh = simd.colormap(values, simd.lut(), config);
  assert.equal(simd.colormap(values, simd.lut(), config, pixels), pixels);
  assert.deepEqual(pixels, fresh);
  assert.deepEqual([...fresh.slice(12)], [0, 0, 0, 0]);
  throws(
    () => simd.colormap(values, simd.lut(), config, new Uint8ClampedArray(15)),
    "RangeError",
    /pixels must have 16 entries, width × height × 4; got 15/,
  );
  throws(
    () => simd.colormap(values, simd.lut(), config, new Uint8Array(16)),
    "TypeError",
    /pixels must be a Uint8ClampedArray/,
  );
});

test("a size that would not fit is refused with its bytes before anything is allocated", () => {
  const before = process.memoryUsage().rss;
  throws(
    () => simd.sinusoidalTable({ seqLen: 100_000, dModel: 100_000 }),
    "RangeError",
    /would take 40000000000 bytes; at most 1073741824 bytes fit/,
  );
  throws(
    () => simd.sinusoidalTable({ seqLen: 1e10, dModel: 1 }),
    "RangeError",
    /seqLen must be within ±2147483647/,
  );
  throws(
    () => simd.attention(f64(0), f64(0), f64(0), { seqLen: 1_000_000, headDim: 1 }),
    "RangeError",
    /q must have 1000000 entries/,
  );
  assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
});

test("row 512 of a learned table of 512 rows does not exist", () => {
  const table = new Float32Array(512 * 4);
  assert.equal(simd.lookupRows(table, Int32Array.of(511), 512, 4).length, 4);
  throws(
    () => simd.lookupRows(table, Int32Array.of(0, 512), 512, 4),
    "RangeError",
    /row 512 does not exist: the table has rows 0 to 511 \(ids\[1\]\)/,
  );
});

test("returned arrays stay valid after the memory has grown", () => {
  const early = simd.sinusoidalTable({ seqLen: 4, dModel: 4 });
  const copy = early.slice();
  simd.sinusoidalTable({ seqLen: 4096, dModel: 4096 });
  assert.equal(early.length, 16);
  assert.deepEqual(early, copy);
});

test("inputs are not written to", () => {
  const x = simd.randomNormal(8, 1);
  const before = x.slice();
  const { cos, sin } = simd.ropeCosSin(f64(3), simd.ropeInvFreq({ headDim: 8 }).invFreq);
  simd.ropeApply(x, cos, sin, { seqLen: 1, headDim: 8 });
  assert.deepEqual(x, before);
});

test("the SIMD and the scalar build give the same bits where no sum is involved", () => {
  for (const layout of ["interleaved", "halves", "halves-minus-one"]) {
    for (const dModel of [1, 2, 7, 64, 129]) {
      const config = { seqLen: 37, dModel, firstPosition: 999_983, layout };
      assert.deepEqual(simd.sinusoidalTable(config), scalar.sinusoidalTable(config));
    }
  }
  const { invFreq } = simd.ropeInvFreq({ headDim: 22 });
  const cache = simd.ropeCache(19, invFreq);
  assert.deepEqual(cache, scalar.ropeCache(19, invFreq));
  const x = Float32Array.from(simd.randomNormal(2 * 19 * 22, 3));
  for (const layout of ["interleaved", "half"]) {
    const shape = { numHeads: 2, seqLen: 19, headDim: 22, layout };
    assert.deepEqual(
      simd.ropeApply(x, cache.cos, cache.sin, shape),
      scalar.ropeApply(x, cache.cos, cache.sin, shape),
    );
  }
});

test("the tuned attention stays within its stated bound of the double twin", () => {
  for (const [numHeads, seqLen, headDim] of [
    [1, 1, 1],
    [2, 13, 5],
    [3, 33, 16],
    [1, 64, 64],
  ]) {
    for (const causal of [false, true]) {
      const cells = numHeads * seqLen * headDim;
      const exact = [1, 2, 3].map((seed) =>
        Float64Array.from(Float32Array.from(simd.randomNormal(cells, seed))),
      );
      const bias = simd.randomNormal(numHeads * (2 * seqLen - 1), 4);
      const shape = { numHeads, seqLen, headDim, causal };
      const twin = simd.attention(...exact, shape, bias);
      const tuned = simd.attention(...exact.map((a) => Float32Array.from(a)), shape, Float32Array.from(bias));
      // With absolute values the twin's logits are the magnitudes that the bound asks for.
      const sizes = simd.attention(...[...exact, bias].map((a) => a.map(Math.abs)).toSpliced(3, 0, shape));
      const bound = 2e-6 + 1e-6 * Math.max(...sizes.logits.filter(Number.isFinite));
      for (let i = 0; i < twin.weights.length; i++) {
        const difference = Math.abs(tuned.weights[i] - twin.weights[i]);
        assert.ok(
          difference <= bound,
          `weights[${i}]: ${tuned.weights[i]} for ${twin.weights[i]}, allowed ${bound}`,
        );
      }
    }
  }
});

test("order is invisible without positions and visible with any of them", () => {
  const [seqLen, dModel] = [5, 8];
  const square = (seed) => simd.randomNormal(dModel * dModel, seed, 0.35);
  const layer = {
    wQ: square(1),
    wK: square(2),
    wV: square(3),
    wO: square(4),
    positions: simd.randomNormal(seqLen * dModel, 5),
    t5Table: simd.randomNormal(64, 6),
  };
  const x = simd.randomNormal(seqLen * dModel, 7);
  const order = Int32Array.of(2, 0, 1, 4, 3);
  const run = (encoding, causal = false) =>
    simd.orderExperiment(x, layer, order, { seqLen, dModel, numHeads: 2, encoding, causal });
  const none = run("none");
  assert.ok(none.equivariance < 1e-14 && none.pooled < 1e-14);
  assert.ok(run("none", true).equivariance > 0.1, "the causal mask alone breaks the symmetry");
  for (const encoding of ["sinusoidal", "learned", "rope", "alibi", "t5"]) {
    assert.ok(run(encoding).equivariance > 1e-3, encoding);
  }
  throws(
    () => simd.orderExperiment(x, layer, Int32Array.of(0, 0, 1, 2, 3), { seqLen, dModel }),
    "RangeError",
    /permutation must hold each of 0\.\.seqLen-1 once/,
  );
});

test("inherited fields count for nothing, and a config is read once", () => {
  const q = Float64Array.of(1, 2, 3, 4);
  const two = simd.attention(...[1, 2, 3].map(() => q.slice(0, 2)), { seqLen: 2, headDim: 1 });
  const heir = Object.assign(Object.create({ numHeads: 2 }), { seqLen: 2, headDim: 1 });
  throws(() => simd.attention(q, q, q, heir), "RangeError", /q must have 2 entries/);
  assert.deepEqual(simd.attention(...[1, 2, 3].map(() => q.slice(0, 2)), heir), two);
  let asked = 0;
  const shifty = {
    headDim: 1,
    get seqLen() {
      return ++asked === 1 ? 2 : 64;
    },
  };
  assert.deepEqual(simd.attention(...[1, 2, 3].map(() => q.slice(0, 2)), shifty), two);
  const square = Float64Array.of(1);
  const layer = { wQ: square, wK: square, wV: square, wO: square };
  const grows = {
    dModel: 1,
    get seqLen() {
      return ++asked % 2 ? 1 : 4096;
    },
  };
  throws(() => simd.selfAttention(q, layer, grows), "RangeError", /x must have \d+ entries/);
});

test("the float attention says NaN where its twin does", () => {
  const f32 = (...values) => Float32Array.from(values);
  const shape = { seqLen: 2, headDim: 1 };
  const [k, v] = [f32(1, -1), f32(1, 2)];
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const { weights, output } = simd.attention(f32(bad, 1), k, v, shape);
    assert.deepEqual([...weights.slice(0, 2), output[0]], [Number.NaN, Number.NaN, Number.NaN]);
    assert.ok(Math.abs(weights[2] + weights[3] - 1) < 1e-6);
  }
  throws(() => simd.attention(k, k, v, { ...shape, scale: 1e300 }), "RangeError", /scale must be/);
});

test("huge shares of work and memory are refused, and the core works on", () => {
  const many = new Float64Array(2 ** 24 + 1);
  throws(() => simd.ropeCache(1, many), "RangeError", /inv_freq must have at most 2\^24/);
  throws(
    () => simd.ropeCache(2 ** 31 - 1, new Float64Array()),
    "RangeError",
    /invFreq must hold at least one/,
  );
  throws(() => simd.ropeCache(3, f64(Number.NaN)), "RangeError", /invFreq must hold/);
  throws(() => simd.ropeCache(3, f64(1), { firstPosition: 1e308 }), "RangeError", /within 2\^53/);
  throws(() => simd.ropeCache(3, f64(1), { attentonFactor: 2 }), "TypeError", /no field "attentonFactor"/);
  throws(() => simd.ropeCache(3, f64(1), null), "TypeError", /options must be an object/);
  const long = new Float64Array(20_000);
  throws(() => simd.dotByOffset(long, long), "RangeError", /at most 2\^28 cells/);
  throws(() => simd.alibiBias(f64(1), 2 ** 31 - 1), "RangeError", /would take \d+ GiB/);
  throws(() => simd.longropeAttentionFactor(2, 1), "RangeError", /must be above 1/);
  throws(() => simd.yarnMscale(1e308, 1e308), "RangeError", /mscale must be smaller/);
  throws(() => simd.dynamicSeqLen({ headDim: -3 }, 1, 7), "RangeError", /head_dim must be at least 2/);
  throws(() => simd.crossTerms(f64(1), f64(1), f64(1), f64(1)), "TypeError", /shape must be an object/);
  assert.deepEqual([...simd.alibiSlopes({ numHeads: 2 })], [1 / 16, 1 / 256]);
});

test("a module that is not the core is an error, not a hang", async () => {
  const damaged = /^Error: wasmBinary is damaged or incomplete: /;
  await assert.rejects(loadPosenc({ wasmBinary: new Uint8Array([1, 2, 3, 4]) }), damaged);
  const truncated = (await wasm("simd")).subarray(0, 5000);
  await assert.rejects(loadPosenc({ wasmBinary: truncated }), damaged);
  const another = /wasmBinary is of another version of posenc than the script that loads it/;
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  await assert.rejects(loadPosenc({ wasmBinary: empty }), another);
  const train = readFile(new URL("../../web/wasm/posenc-train-simd.wasm", import.meta.url));
  await assert.rejects(loadPosenc({ wasmBinary: await train }), another);
});

test("a page in the place of a module is said by its address", async () => {
  const server = createServer((_, response) => response.end("<!doctype html><title>Not here</title>"));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const wasmUrl = `http://127.0.0.1:${server.address().port}/posenc.wasm`;
  try {
    await assert.rejects(loadPosenc({ wasmUrl }), { message: `${wasmUrl} is no WebAssembly module` });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("an option that is none, or of a wrong kind, is named", async () => {
  for (const [options, message] of [
    [null, "options must be an object, got null"],
    ["posenc.wasm", 'options must be an object, got "posenc.wasm"'],
    [{ wasmURL: "posenc.wasm" }, 'options has no field "wasmURL"; it has wasmUrl, wasmBinary, simd, wasm'],
    [{ wasmUrl: 5 }, "wasmUrl must be a string or a URL, got 5"],
    [{ wasmBinary: "posenc" }, 'wasmBinary must be an ArrayBuffer or a view of one, got "posenc"'],
    [{ simd: "no" }, 'simd must be true or false, got "no"'],
    [{ wasm: 0 }, "wasm must be true or false, got 0"],
  ]) {
    await assert.rejects(loadPosenc(options), { name: "TypeError", message });
  }
});

test("nothing is evaluated from a string", async () => {
  const script =
    'import("posenc").then(async ({ loadPosenc }) => console.log((await loadPosenc()).alibiSlopes({ numHeads: 2 })[0]))';
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--disallow-code-generation-from-strings",
    "-e",
    script,
  ]);
  assert.equal(stdout.trim(), "0.0625");
});

test("any value in any field gives a result or a named error", () => {
  const hostile = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constantFrom(null, undefined, {}, [], Number.NaN, -0, 2 ** 31, -(2 ** 31), 1e308, 5e-324, 8n, () => 1),
  );
  const small = fc.integer({ min: -1, max: 40 });
  const field = fc.oneof({ weight: 3, arbitrary: small }, { weight: 1, arbitrary: hostile });
  const configs = {
    sinusoidalTable: ["seqLen", "dModel", "base", "firstPosition", "positionStep", "layout"],
    ropeInvFreq: [
      "headDim",
      "rotaryDim",
      "ropeTheta",
      "ropeType",
      "factor",
      "originalMaxPositionEmbeddings",
      "betaFast",
    ],
    alibiSlopes: ["numHeads", "alibiBiasMax"],
  };
  for (const [name, fields] of Object.entries(configs)) {
    fc.assert(
      fc.property(
        fc.record(Object.fromEntries(fields.map((f) => [f, field])), { requiredKeys: [] }),
        (config) => {
          try {
            scalar[name](config);
          } catch (error) {
            assert.ok(error instanceof TypeError || error instanceof RangeError, `${error}`);
            assert.match(error.message, /must|has no field|would take/);
          }
        },
      ),
      { seed: 20261129, numRuns: 3000 },
    );
  }
});
