// The twin in JavaScript, which computes where there is no WebAssembly: the same answers as those of the build without
// SIMD, to the bit. golden.test.mjs and api.test.mjs hold it to theirs, call by call.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { test } from "node:test";
import { promisify } from "node:util";
import { loadPosenc } from "posenc";
import { alike } from "./alike.mjs";

const f64 = (...values) => Float64Array.from(values);
const i32 = (...values) => Int32Array.from(values);

test("every call is answered as the scalar build answers it", async () => {
  const called = new Set();
  const core = await alike(await loadPosenc({ simd: false }), called);
  const normal = (count, seed) => core.randomNormal(count, seed);
  const floats = (count, seed) => Float32Array.from(normal(count, seed));
  const ids = i32(3, 0, 2, 1);

  const rows = { seqLen: 70, dModel: 34, firstPosition: 999_983 };
  for (const layout of ["interleaved", "halves", "halves-minus-one"]) {
    core.sinusoidalTable({ ...rows, layout });
    core.sinusoidalRows(f64(0, 5, 1e6), { dModel: 34, layout });
  }
  core.sinusoidalInvFreq(rows);
  core.sinusoidalSimilarity(rows);
  core.shiftMatrices(normal(4, 1), 7);
  core.dotByOffset(f64(-3, 0, 100), normal(5, 2));
  for (const table of [normal(35, 3), floats(35, 3)]) {
    core.similarity(table, 7, 5);
    core.lookupRows(table, ids, 7, 5);
  }
  const shape = { batch: 1, seqLen: 4, vocabSize: 4, dModel: 6, positionRows: 4 };
  core.embed(ids, floats(24, 4), floats(24, 5), { ...shape, scaleBySqrtDModel: true });

  const long = { originalMaxPositionEmbeddings: 4096, factor: 8 };
  const factors = { shortFactor: normal(8, 6).map(Math.abs), longFactor: normal(8, 7).map((x) => 1 + x * x) };
  for (const config of [
    {},
    { ropeType: "linear", ...long },
    { ropeType: "ntk", ...long },
    { ropeType: "dynamic", ...long },
    { ropeType: "yarn", ...long, truncate: false },
    { ropeType: "llama3", ...long, lowFreqFactor: 1, highFreqFactor: 4 },
    { ropeType: "longrope", ...long, ...factors },
  ]) {
    core.ropeInvFreq({ headDim: 16, ...config }, 9000);
  }
  core.dynamicSeqLen({ headDim: 16, ropeType: "dynamic", ...long }, 4096, 9000);
  core.yarnCorrectionRange({ headDim: 16, ropeType: "yarn", ...long });
  core.yarnMscale(16);
  core.longropeAttentionFactor(32, 4096);
  const { invFreq } = core.ropeInvFreq({ headDim: 16 });
  const { cos, sin } = core.ropeCosSin(f64(0, 1, 131_071), invFreq, 1.2);
  core.ropeCache(70, invFreq, { firstPosition: 1_000_000 });
  const axes = core.mropeAxes(i32(4, 2, 2), 8, "chunked");
  core.mropeAxes(i32(4, 2, 2), 8, "interleaved");
  core.mropeCosSin(f64(0, 1, 2, 3, 4, 5), axes, invFreq);
  for (const layout of ["interleaved", "half"]) {
    const heads = { numHeads: 2, seqLen: 3, headDim: 16, layout };
    core.ropeApply(normal(96, 8), cos, sin, heads);
    core.ropeApply(floats(96, 8), Float32Array.from(cos), Float32Array.from(sin), heads);
  }
  core.halfFromInterleaved({ numHeads: 2, headDim: 16 });
  core.ropeScoreByOffset(f64(-9, 0, 1), normal(16, 9), normal(16, 10), invFreq);

  const slopes = core.alibiSlopes({ numHeads: 12 });
  core.alibiBias(slopes, 9);
  core.t5Buckets(Int32Array.from({ length: 601 }, (_, i) => i - 300));
  core.t5Bias(normal(64, 11), 2, 5, 7);

  for (const causal of [false, true]) {
    const heads = { numHeads: 2, seqLen: 33, headDim: 18, causal };
    for (const make of [normal, floats]) {
      const [q, k, v, bias] = [12, 13, 14, 15].map((seed) => make(2 * 33 * 18, seed));
      core.attention(q, k, v, heads);
      core.attention(q, k, v, heads, bias.slice(0, 2 * 65));
    }
  }
  const square = (seed) => normal(64, seed);
  const layer = { wQ: square(1), wK: square(2), wV: square(3), wO: square(4), positions: normal(40, 5) };
  for (const encoding of ["none", "sinusoidal", "learned", "rope", "alibi", "t5"]) {
    const config = { seqLen: 5, dModel: 8, numHeads: 2, encoding, causal: true };
    const weights = { ...layer, t5Table: normal(64, 6) };
    core.selfAttention(normal(40, 16), weights, config);
    core.orderExperiment(normal(40, 16), weights, i32(4, 2, 0, 1, 3), config);
  }
  core.crossTerms(normal(40, 17), normal(40, 18), square(5), square(6), {
    seqLen: 5,
    dModel: 8,
    headDim: 8,
  });
  for (const format of ["float32", "float16", "bfloat16"]) {
    core.roundTo(normal(99, 19), format);
    core.ropeFormatErrors(f64(1, 1000, 70_000), invFreq, format);
  }
  const lut = core.lut(Uint8Array.of(0, 0, 0, 90, 0, 200, 255, 255, 255));
  for (const transpose of [false, true]) {
    const part = { rows: 40, cols: 30, width: 91, height: 17, transpose };
    core.colormap(floats(1200, 20), lut, part);
  }
  for (const map of ["sinusoidal", "rope-cos", "rope-sin", "alibi", "t5"])
    core.tileMap({ map, dims: 24, slope: 1 }).free();

  const all = Object.keys(core).filter((name) => typeof core[name] === "function");
  assert.deepEqual(
    all.filter((name) => !called.has(name)),
    [],
    "are not asked",
  );
});

test("maps are drawn to the same bits, before and after the twin's memory has grown", async () => {
  const [core, twin] = await Promise.all([loadPosenc({ simd: false }), loadPosenc({ wasm: false })]);
  const biases = core.randomNormal(32, 9);
  for (const config of [
    { map: "sinusoidal", dims: 24 },
    { map: "rope-sin", dims: 24, layout: "half" },
    { map: "alibi", slope: 0.5, causal: true },
    { map: "t5", biases },
  ]) {
    const maps = [core, twin].map((one) => one.tileMap(config));
    const view = { x0: 990_000, y0: 0, cellsX: 37, cellsY: 1, width: 300, height: 24 };
    for (const shown of [view, { ...view, cellsX: 1 }]) {
      const [ours, theirs] = maps.map((map) => map.draw(shown).slice());
      assert.deepEqual(theirs, ours);
      assert.deepEqual(maps[1].values(shown), maps[0].values(shown));
      const frame = maps[1].draw(shown);
      twin.sinusoidalTable({ seqLen: 4096, dModel: 2048 });
      assert.deepEqual(maps[1].draw(shown).slice(), ours, "in memory that has grown");
      assert.ok(
        frame.length === 0 || frame.buffer === maps[1].draw(shown).buffer,
        "no stale view stays readable",
      );
    }
    for (const map of maps) map.free();
  }
});

test("memory that there is not is said, and smaller sizes go on", async () => {
  const twin = await loadPosenc({ wasm: false });
  const whole = globalThis.ArrayBuffer;
  globalThis.ArrayBuffer = class extends whole {
    constructor(size) {
      if (size > 2 ** 25) throw new RangeError("Array buffer allocation failed");
      super(size);
    }
  };
  try {
    assert.throws(() => twin.sinusoidalTable({ seqLen: 4096, dModel: 4096 }), /^RangeError: .*memory/);
  } finally {
    globalThis.ArrayBuffer = whole;
  }
  assert.equal(twin.alibiSlopes({ numHeads: 2 })[0], 1 / 16);
});

test("Node without WebAssembly computes, and says why it is slower", async () => {
  const script = `import("posenc").then(async ({ loadPosenc, hasSimd }) => {
    const { twin, simd, alibiSlopes } = await loadPosenc();
    console.log(JSON.stringify([twin, simd, hasSimd(), alibiSlopes({ numHeads: 2 })[0]]));
  })`;
  const flags = ["--jitless", "--disallow-code-generation-from-strings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "-e", script]);
  assert.deepEqual(JSON.parse(stdout), ["this browser runs no WebAssembly", false, false, 1 / 16]);
  const must = `import("posenc").then(({ loadPosenc }) => loadPosenc({ wasm: true })).catch(({ message }) => console.log(message));`;
  const refused = await promisify(execFile)(process.execPath, [...flags, "-e", must]);
  assert.equal(refused.stdout.trim(), "this browser runs no WebAssembly");
});

test("what is named is not replaced: a module that does not load is an error with its address", async () => {
  const answers = {
    "/gone.wasm": 404,
    "/page.wasm": "<!doctype html>",
    "/cut.wasm": Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 9),
  };
  answers["/other.wasm"] = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  const server = createServer(({ url }, response) => {
    const answer = answers[url];
    if (typeof answer === "number") response.writeHead(answer);
    response.end(typeof answer === "number" ? "" : answer);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${server.address().port}`;
  try {
    for (const [path, said] of [
      ["/gone.wasm", /gone\.wasm could not be loaded: 404 Not Found$/],
      ["/page.wasm", /page\.wasm is no WebAssembly module$/],
      ["/cut.wasm", /cut\.wasm is damaged or incomplete: /],
      ["/other.wasm", /other\.wasm is of another version of posenc than the script that loads it$/],
    ]) {
      await assert.rejects(loadPosenc({ wasmUrl: base + path }), said);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
