// Tile maps: the pixels that JavaScript gets are the means of the cells, at any zoom, out of memory that stays.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadPosenc } from "posenc";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc");

const simd = await loadPosenc();
const scalar = await loadPosenc({
  wasmBinary: await readFile(new URL("../../web/wasm/posenc-scalar.wasm", import.meta.url)),
  simd: false,
});
// Colour i is the number i + 1; 0 is outside.
const COUNTING = Uint32Array.from({ length: 256 }, (_, i) => i + 1);
const ZOOMS = [
  [1, 1],
  [2, 1],
  [1, 3],
  [3, 2],
  [7, 5],
  [16, 1],
  [31, 4],
  [100, 8],
  [333, 16],
  [1000, 8],
];
const biases = simd.randomNormal(32, 9);

/** What the cell at (x, y) of each map holds; undefined outside it. */
const wave = (of) => (x, y) => (y < 24 ? of(x * 10000 ** ((-2 * Math.floor(y / 2)) / 24), y) : undefined);
const buckets = (bidirectional) => {
  const far = 20_000;
  const all = simd.t5Buckets(
    Int32Array.from({ length: 2 * far + 1 }, (_, i) => i - far),
    { bidirectional },
  );
  return (o) => all[Math.min(Math.max(o + far, 0), 2 * far)];
};
const both = buckets(true);
const back = buckets(false);
const MAPS = [
  [{ map: "sinusoidal", dims: 24 }, wave((angle, y) => (y % 2 ? Math.cos(angle) : Math.sin(angle)))],
  [{ map: "rope-cos", dims: 24 }, wave(Math.cos)],
  [{ map: "rope-sin", dims: 24 }, wave(Math.sin)],
  [{ map: "alibi", slope: 0.5 }, (x, y) => -0.5 * Math.abs(x - y)],
  [{ map: "alibi", slope: 0.5, causal: true }, (x, y) => (x > y ? undefined : 0.5 * (x - y))],
  [{ map: "t5", biases }, (x, y) => biases[both(x - y)]],
  [{ map: "t5", causal: true, t5: { bidirectional: false } }, (x, y) => (x > y ? undefined : back(x - y))],
];

function brute(cell, { x0, y0, cellsX, cellsY, width, height }) {
  return Array.from({ length: width * height }, (_, at) => {
    let [sum, count] = [0, 0];
    for (let j = 0; j < cellsY; j++) {
      for (let i = 0; i < cellsX; i++) {
        const value = cell(x0 + (at % width) * cellsX + i, y0 + Math.floor(at / width) * cellsY + j);
        if (value === undefined) continue;
        sum += value;
        count++;
      }
    }
    return count > 0 ? sum / count : Number.NaN;
  });
}

const read = (pixels) => new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);

test("every pixel is within a colour of the mean of its cells, and its value within a millionth, at ten zooms", () => {
  for (const core of [simd, scalar]) {
    for (const [config, cell] of MAPS) {
      const map = core.tileMap(config);
      const tall = config.dims === undefined;
      for (const [cellsX, cellsY] of ZOOMS) {
        for (const x0 of [0, 1_000_003]) {
          const view = { x0, y0: tall ? x0 + 4 : 3, cellsX, cellsY, width: 19, height: 5 };
          const expected = brute(cell, view);
          const inside = expected.filter((value) => !Number.isNaN(value));
          const [vmin, top] = [Math.min(...inside), Math.max(...inside)];
          const vmax = top > vmin ? top : vmin + 1;
          map.setColors(COUNTING, { vmin, vmax });
          const colors = read(map.draw(view));
          const values = map.values(view);
          const where = `${JSON.stringify(config)} ${JSON.stringify(view)}`;
          for (const [i, mean] of expected.entries()) {
            if (Number.isNaN(mean)) {
              assert.ok(Number.isNaN(values[i]) && colors[i] === 0, `${where}: pixel ${i} is outside`);
              continue;
            }
            // a float's own rounding is more than a millionth where ALiBi's biases are hundreds
            const allowed = Math.max(1e-6, 2 ** -23 * Math.abs(mean));
            assert.ok(Math.abs(values[i] - mean) <= allowed, `${where}: ${values[i]} for ${mean} at ${i}`);
            const level = ((mean - vmin) / (vmax - vmin)) * 255;
            assert.ok(
              Math.abs(colors[i] - 1 - level) <= 1 + 1e-3,
              `${where}: ${colors[i]} for ${level} at ${i}`,
            );
          }
        }
      }
      map.free();
    }
  }
});

test("ten thousand frames grow neither the memory of the core nor that of JavaScript", async () => {
  const core = await loadPosenc();
  const maps = MAPS.map(([config]) => core.tileMap(config));
  const view = { x0: 0, y0: 0, cellsX: 3, cellsY: 1, width: 64, height: 24 };
  const arrays = maps.map((map) => map.draw(view));
  const bytes = arrays[0].buffer.byteLength;
  const run = (frames) => {
    for (let i = 0; i < frames; i++) {
      view.x0 = 7 * i;
      view.cellsX = 1 + (i % 50);
      const at = i % maps.length;
      assert.ok(maps[at].draw(view) === arrays[at]);
    }
  };
  run(2000);
  gc();
  const before = process.memoryUsage();
  run(10_000);
  const busy = process.memoryUsage();
  gc();
  const after = process.memoryUsage();
  assert.equal(arrays[0].buffer.byteLength, bytes);
  assert.equal(after.arrayBuffers, before.arrayBuffers);
  assert.ok(after.heapUsed - before.heapUsed < 100_000, `${after.heapUsed - before.heapUsed} bytes are kept`);
  // What a call through Embind costs; the pixels of a frame alone are 6144 bytes.
  assert.ok(
    busy.heapUsed - before.heapUsed < 10_000 * 1000,
    `${busy.heapUsed - before.heapUsed} bytes in all`,
  );
});

test("the pixels are a new array after the memory has grown, or the size has changed", async () => {
  const core = await loadPosenc();
  const map = core.tileMap({ map: "sinusoidal", dims: 8 });
  const view = { x0: 5, y0: 0, cellsX: 1, cellsY: 1, width: 16, height: 8 };
  const first = map.draw(view);
  const copy = first.slice();
  assert.equal(map.draw(view), first);
  core.sinusoidalTable({ seqLen: 4096, dModel: 4096 });
  assert.equal(first.length, 0);
  const second = map.draw(view);
  assert.deepEqual(second, copy);
  const larger = map.draw({ ...view, width: 40, height: 30 });
  assert.equal(larger.length, 4 * 40 * 30);
  assert.deepEqual(larger.slice(0, 4), copy.slice(0, 4));
  assert.deepEqual(map.draw(view), copy);
});

test("pixels beyond the map have the outside colour, those on its border the mean of what is inside", () => {
  const map = simd.tileMap({ map: "sinusoidal", seqLen: 10, dims: 4 });
  map.setColors(simd.lut(), { outside: 0xff030201 });
  const view = { x0: 0, y0: 0, cellsX: 4, cellsY: 3, width: 4, height: 3 };
  const pixels = map.draw(view);
  const outside = Array.from({ length: 12 }, (_, i) => pixels.slice(4 * i, 4 * i + 4).join() === "1,2,3,255");
  assert.deepEqual(
    outside,
    [0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1].map((bit) => bit === 1),
  );
  const mean = (Math.cos(8 / 100) + Math.cos(9 / 100)) / 2;
  assert.ok(Math.abs(map.values({ ...view, y0: 3, x0: 8, width: 1, height: 1 })[0] - mean) < 1e-6);
});

test("what a map cannot be or show is an error that names the field and the rule", () => {
  const throws = (run, name, pattern) =>
    assert.throws(run, (error) => {
      assert.equal(error.name, name, error.message);
      assert.match(error.message, pattern);
      return true;
    });
  const open = (config) => () => simd.tileMap(config);
  throws(
    open({ map: "learned", dims: 4 }),
    "TypeError",
    /map must be one of sinusoidal, rope-cos, .*got "learned"/,
  );
  throws(open({ map: "sinusoidal" }), "TypeError", /dims must be an integer, got undefined/);
  throws(open({ map: "alibi" }), "TypeError", /slope must be a finite number, got undefined/);
  throws(
    open({ map: "sinusoidal", dModel: 4 }),
    "TypeError",
    /config has no field "dModel"; it has map, seqLen/,
  );
  throws(open({ map: "sinusoidal", dims: 0 }), "RangeError", /dims must be from 1 to 2\^16; got dims = 0/);
  throws(open({ map: "rope-sin", dims: 7 }), "RangeError", /dims must be even for rope; got dims = 7/);
  throws(open({ map: "sinusoidal", dims: 4, base: 0 }), "RangeError", /base must be from .*; got base = 0/);
  throws(
    open({ map: "sinusoidal", dims: 4, seqLen: 2 ** 31 + 1 }),
    "RangeError",
    /seq_len must be .*2147483649/,
  );
  throws(
    open({ map: "alibi", slope: 1e9 }),
    "RangeError",
    /slope must be within 1e6 of 0; got slope = 1000000000/,
  );
  throws(
    open({ map: "t5", biases: new Float64Array(3) }),
    "RangeError",
    /biases must have num_buckets entries/,
  );
  throws(open({ map: "t5", biases: [1] }), "TypeError", /biases must be a Float64Array/);
  throws(
    open({ map: "t5", t5: { numBuckets: 5 } }),
    "RangeError",
    /num_buckets must be even.*num_buckets = 5/,
  );

  const map = simd.tileMap({ map: "sinusoidal", dims: 4 });
  const view = { x0: 0, y0: 0, cellsX: 1, cellsY: 1, width: 2, height: 2 };
  for (const ask of ["draw", "values"]) {
    const look = (change) => () => map[ask]({ ...view, ...change });
    for (const field of Object.keys(view)) {
      for (const bad of [0.5, Number.NaN, "1", undefined, null, Number.POSITIVE_INFINITY]) {
        throws(look({ [field]: bad }), "TypeError", new RegExp(`^${field} must be an integer, got`));
      }
      throws(
        look({ [field]: -1 }),
        "RangeError",
        new RegExp(`${field.replace("sX", "s_x").replace("sY", "s_y")} .*-1`),
      );
    }
    throws(
      look({ x0: 2 ** 31 + 1 }),
      "RangeError",
      /x0 and y0 must be whole numbers from 0 to 2\^31; got x0 = 2147483649/,
    );
    throws(look({ cellsX: 0 }), "RangeError", /cells_x and cells_y must be from 1 to 2\^20; got cells_x = 0/);
    throws(look({ width: 0 }), "RangeError", /width and height must be at least 1; got width = 0/);
    throws(look({ width: 5000, height: 5000 }), "RangeError", /width \* height must be at most 2\^24 pixels/);
    throws(look({ zoom: 2 }), "TypeError", /view has no field "zoom"; it has x0, y0, cellsX/);
    throws(() => map[ask](null), "TypeError", /view must be an object, got null/);
  }
  throws(() => map.setColors([1, 2]), "TypeError", /lut must be a Uint32Array/);
  throws(() => map.setColors(new Uint32Array(255)), "RangeError", /lut must have 256 entries/);
  throws(() => map.setColors(simd.lut(), { vmin: 1 }), "RangeError", /vmin must be less than vmax.*vmin = 1/);
  throws(
    () => map.setColors(simd.lut(), { outside: -1 }),
    "RangeError",
    /outside must be from 0 to 2\^32 - 1/,
  );
  map.free();
  throws(() => map.draw(view), "Error", /this map has been freed/);
  throws(() => map.free(), "Error", /this map has been freed/);
});
