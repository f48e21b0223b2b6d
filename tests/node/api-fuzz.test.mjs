// Every function of the typed API with values that nobody meant: it answers with numbers that are numbers, or with a
// TypeError or RangeError that is a sentence; it writes into none of its inputs and into no prototype.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { loadPosenc } from "posenc";
import { loadTrainer } from "posenc/train";
import { COUNTS, prototypes, stopwatch, values } from "../hostile/values.mjs";

const core = await loadPosenc();
const trainer = await loadTrainer();

const f64 = (length) => Float64Array.from({ length }, (_, i) => Math.sin(i + 1));
const f32 = (length) => Float32Array.from(f64(length));
const i32 = (length, below) => Int32Array.from({ length }, (_, i) => i % below);
const invFreq = (pairs) => Float64Array.from({ length: pairs }, (_, i) => 10_000 ** (-i / pairs));

/** A sound call of each function, of the sizes n and m; m is even. */
const CALLS = {
  sinusoidalTable: (n, m) => [
    { seqLen: n, dModel: m, base: 10_000, firstPosition: 3, positionStep: 1, layout: "halves" },
  ],
  sinusoidalRows: (n, m) => [f64(n), { dModel: m, base: 500, layout: "interleaved" }],
  sinusoidalInvFreq: (_, m) => [{ dModel: m, base: 10_000 }],
  shiftMatrices: (n, m) => [invFreq(m), n],
  dotByOffset: (n, m) => [f64(n), invFreq(m)],
  similarity: (n, m) => [n % 2 ? f32(n * m) : f64(n * m), n, m],
  sinusoidalSimilarity: (n, m) => [{ seqLen: n, dModel: m }],
  lookupRows: (n, m) => [n % 2 ? f32(n * m) : f64(n * m), i32(n, n), n, m],
  embed: (n, m) => [
    i32(2 * n, 7),
    f32(7 * m),
    f32(n * m),
    { batch: 2, seqLen: n, vocabSize: 7, dModel: m, positionRows: n, scaleBySqrtDModel: true },
  ],
  ropeInvFreq: (n, m) => {
    const types = ["default", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3", "proportional"];
    const factors = {
      shortFactor: f64(m / 2).map(Math.abs),
      longFactor: f64(m / 2).map((x) => 1 + Math.abs(x)),
    };
    const lengths = { factor: 2, originalMaxPositionEmbeddings: 64, lowFreqFactor: 1, highFreqFactor: 4 };
    const yarn = {
      betaFast: 32,
      betaSlow: 1,
      truncate: true,
      attentionFactor: 1.5,
      mscale: 1,
      mscaleAllDim: 1,
    };
    const ropeType = types[n % 8];
    return [
      {
        headDim: m,
        rotaryDim: m,
        ropeTheta: 10_000,
        ropeType,
        ...lengths,
        ...yarn,
        ...factors,
        partialRotaryFactor: 1,
      },
      n,
    ];
  },
  dynamicSeqLen: (n, m) => [
    { headDim: m, ropeType: "dynamic", factor: 2, originalMaxPositionEmbeddings: 64 },
    n,
    n + 1,
  ],
  yarnCorrectionRange: (_, m) => [
    { headDim: m, ropeType: "yarn", factor: 4, originalMaxPositionEmbeddings: 64, betaFast: 32, betaSlow: 1 },
  ],
  yarnMscale: (n) => [n, 0.7],
  longropeAttentionFactor: (n) => [n, 4096],
  ropeCosSin: (n, m) => [f64(n), invFreq(m), 1.1],
  ropeCache: (n, m) => [n, invFreq(m), { firstPosition: 5, attentionFactor: 1 }],
  mropeAxes: (n, m) => [Int32Array.of(m, n, m), 2 * m + n, n % 2 ? "chunked" : "interleaved"],
  mropeCosSin: (n, m) => [f64(3 * n), i32(m, 3), invFreq(m), 1],
  ropeApply: (n, m) => {
    const make = n % 2 ? f32 : f64;
    const angles = make((n * m) / 2);
    return [
      make(2 * n * m),
      angles,
      angles.slice(),
      { numHeads: 2, seqLen: n, headDim: m, rotaryDim: m, layout: "half" },
    ];
  },
  halfFromInterleaved: (n, m) => [{ numHeads: n, headDim: m, rotaryDim: m }],
  ropeScoreByOffset: (n, m) => [f64(n), f64(2 * m), f64(2 * m), invFreq(m)],
  alibiSlopes: (n) => [{ numHeads: n, alibiBiasMax: 8 }],
  alibiBias: (n, m) => [f64(n), m, n % 2 === 0],
  t5Buckets: (n, m) => [i32(n, 9), { numBuckets: 2 * m, maxDistance: 128, bidirectional: true }],
  t5Bias: (n, m) => [f64(2 * m * n), n, n, m, { numBuckets: 2 * m, maxDistance: 128, bidirectional: false }],
  attention: (n, m) => {
    const make = n % 2 ? f32 : f64;
    const config = { numHeads: 2, seqLen: n, headDim: m, scale: 0.3, causal: n % 3 === 0 };
    return [make(2 * n * m), make(2 * n * m), make(2 * n * m), config, make(2 * (2 * n - 1))];
  },
  selfAttention: (n, m) => [f64(n * m), layer(n, m), layerConfig(n, m)],
  orderExperiment: (n, m) => [f64(n * m), layer(n, m), i32(n, n), layerConfig(n, m)],
  crossTerms: (n, m) => [
    f64(n * m),
    f64(n * m),
    f64(2 * m),
    f64(2 * m),
    { seqLen: n, dModel: m, headDim: 2, scale: 1 },
  ],
  randomNormal: (n, m) => [n, m, 0.5],
  roundTo: (n) => [f64(n), ["float32", "bfloat16", "float16"][n % 3]],
  ropeFormatErrors: (n, m) => [
    f64(n),
    invFreq(m),
    ["float32", "bfloat16", "float16"][n % 3],
    { position: true, invFreq: true, angle: false, result: true },
  ],
  lut: (n) => [Uint8Array.from({ length: 3 * (n + 1) }, (_, i) => i)],
  colormap: (n, m) => [
    f32(n * m),
    core.lut(),
    { rows: n, cols: m, width: m, height: n, vmin: -1, vmax: 1, firstRow: 0, firstCol: 0, transpose: false },
    new Uint8ClampedArray(4 * n * m),
  ],
};
const layer = (n, m) => {
  const square = () => f64(m * m).map((x) => x / m);
  return {
    wQ: square(),
    wK: square(),
    wV: square(),
    wO: square(),
    positions: f64(n * m),
    t5Table: f64(2 * 32),
  };
};
const layerConfig = (n, m) => {
  const encoding = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"][n % 6];
  return {
    seqLen: n,
    dModel: m,
    numHeads: 2,
    numLayers: 1,
    encoding,
    causal: n % 2 === 0,
    base: 10_000,
    alibiBiasMax: 8,
  };
};
const TILES = (n, m) => [
  {
    map: ["sinusoidal", "rope-cos", "rope-sin", "alibi", "t5"][n % 5],
    seqLen: 64 * n,
    dims: m,
    base: 10_000,
    slope: 0.5,
  },
  { x0: n, y0: 0, cellsX: n, cellsY: 1, width: m, height: n },
];
const RUN = {
  task: "echo",
  encoding: "rope",
  dModel: 8,
  numHeads: 2,
  seqLen: 16,
  maxSeqLen: 32,
  batch: 2,
  steps: 3,
  seed: 1,
};

/** Places in a call's arguments that a hostile value can take: arguments, fields of records, entries of arrays. */
function places(args) {
  const found = args.map((_, i) => [args, i]);
  for (const arg of args) {
    if (typeof arg !== "object" || arg === null) continue;
    if (ArrayBuffer.isView(arg)) {
      if (arg.length > 0) found.push([arg, 0], [arg, arg.length - 1]);
    } else {
      found.push(...Object.keys(arg).map((key) => [arg, key]), [arg, "unknown"], [arg, "__proto__"]);
      for (const inner of Object.values(arg))
        if (ArrayBuffer.isView(inner) && inner.length > 0) found.push([inner, inner.length >> 1]);
    }
  }
  return found;
}

function put([target, key], value) {
  if (ArrayBuffer.isView(target)) {
    if (typeof value === "number") target[key] = value;
  } else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

const edits = fc.array(fc.record({ where: fc.nat(1000), value: values }), { maxLength: 3 });
const spoil = (args, list) => {
  const all = places(args); // of the sound call: no value that the next one shares is written into
  for (const { where, value } of list) put(all[where % all.length], value);
  return args;
};

/** All numbers that stand anywhere in a value; of a long array the first. */
const numbersIn = (value) => {
  if (typeof value === "number") return [value];
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value.subarray(0, 10_000), Number);
  if (Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]")
    return Object.values(value).flatMap(numbersIn);
  return [];
};

const told = (args) =>
  JSON.stringify(args, (_, value) => {
    if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.length})`;
    return ["bigint", "symbol", "function"].includes(typeof value)
      ? String(value)
      : Object.is(value, -0)
        ? "-0"
        : value;
  })?.slice(0, 400);

/** A refusal is a TypeError or RangeError whose message is a sentence with a rule in it. */
function isRefusal(error) {
  const words = `${error.stack}`;
  assert.ok(error instanceof TypeError || error instanceof RangeError, words);
  assert.match(error.message, /must|has no field|would take|has been freed|at most|does not exist/, words);
  assert.doesNotMatch(error.message, /undefined is|is not a function|Cannot|reading '/, words);
  assert.ok(error.message.length < 900, `${error.message.length} characters`);
}

/**
 * Calls with sound arguments that 0 to 3 edits have spoilt; `sane` says of a result what the call owes. Returns how many
 * were answered with a result.
 */
function tries(name, call, sound, numRuns, sane, watch, seed) {
  let answered = 0;
  const size = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(size, size, edits, (n, half, list) => {
      const args = spoil(sound(n, 2 * half), list);
      const before = args.map((arg) => (ArrayBuffer.isView(arg) ? structuredClone(arg) : arg));
      let result;
      try {
        result = watch.run(
          () => `${name} ${told(args)}`,
          () => call(args),
        );
        answered++;
      } catch (error) {
        isRefusal(error);
        return;
      } finally {
        for (const [i, arg] of before.entries())
          if (ArrayBuffer.isView(arg) && !(arg instanceof DataView) && !(arg instanceof Uint8ClampedArray))
            assert.deepEqual(Array.from(args[i]), Array.from(arg), `argument ${i} was written to`);
      }
      sane(result, args);
    }),
    { seed, numRuns, includeErrorInReport: true },
  );
  return answered;
}

/** Where all that went in is a number of some sense, so is all that comes out. */
function isNumeric(result, args) {
  const modest = (x) => Math.abs(x) <= 1e9 && (x === 0 || Math.abs(x) >= 1e-9);
  const given = numbersIn(args);
  if (given.every(modest)) {
    const wrong = numbersIn(result).find(Number.isNaN);
    assert.equal(wrong, undefined, "NaN of sound numbers");
  }
}

test("60 000 calls of the typed API give numbers or a sentence", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const all = COUNTS.node["calls of the typed API"];
  const names = [...Object.keys(CALLS), "tileMap"];
  assert.deepEqual(
    names.toSorted(),
    Object.keys(core)
      .filter((name) => typeof core[name] === "function")
      .toSorted(),
  );
  const each = Math.floor(all / names.length);
  let [tried, seed] = [0, 100];
  for (const name of Object.keys(CALLS)) {
    const sane = name === "ropeFormatErrors" ? () => {} : isNumeric; // beyond a format's range there is no number
    const answered = tries(name, (args) => core[name](...args), CALLS[name], each, sane, watch, ++seed);
    assert.ok(answered > each / 20, `${name}: only ${answered} of ${each} were answered`);
    tried += each;
  }
  const tile = ([config, view]) => {
    const map = core.tileMap(config);
    try {
      map.draw(view);
      return { values: map.values(view).filter((value) => !Number.isNaN(value)) }; // NaN: outside the map
    } finally {
      map.free();
    }
  };
  const answered = tries("tileMap", tile, TILES, all - tried, isNumeric, watch, ++seed);
  assert.ok(answered > each / 20, `tileMap: only ${answered}`);
  assert.equal(prototypes(), before);
  assert.equal(core.alibiSlopes({ numHeads: 2 })[0], 1 / 16); // and it works on
  context.diagnostic(
    `hostile values: ${all} calls of the typed API, the longest ${JSON.stringify(watch.longest)}`,
  );
});

test("12 000 calls of the trainer and its runs give numbers or a sentence", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const all = COUNTS.node["calls of the trainer"];
  const run = trainer.createRun(RUN);
  const language = trainer.createRun({ ...RUN, task: "language" });
  const CONFIG = () => [{ ...RUN }];
  const task = (n) => [["which-side", "language", "echo", "induction"][n % 4]];
  const begins = ([config]) => {
    const made = trainer.createRun(config);
    try {
      return made.step(1).loss;
    } finally {
      made.free();
    }
  };
  const calls = {
    studyConfig: [(args) => trainer.studyConfig(...args), task],
    symbols: [(args) => trainer.symbols(...args), task],
    numClasses: [(args) => trainer.numClasses(...args), task],
    runBytes: [(args) => trainer.runBytes(...args), CONFIG],
    createRun: [begins, CONFIG],
    step: [(args) => run.step(...args), (n) => [n]],
    evaluate: [
      (args) => run.evaluate(...args),
      (n, m) => [Math.max(8, m), { ropeType: "ntk", first: n, count: 2 }],
    ],
    example: [(args) => run.example(...args), (n, m) => [Math.max(8, m), { ropeType: "linear", index: n }]],
    attention: [(args) => run.attention(...args), (_, m) => [i32(m, 4), { ropeType: "default" }]],
    generate: [
      (args) => language.generate(...args),
      (n) => [i32(4, 4), n, { ropeType: "ntk", finalLength: 16, temperature: 1, seed: n }],
    ],
    weight: [(args) => run.weight(...args), (n) => [n % 2 ? "wQkv" : "tokenTable", 0]],
  };
  const each = Math.floor(all / Object.keys(calls).length);
  let [tried, seed] = [0, 200];
  for (const [name, [call, sound]] of Object.entries(calls)) {
    const count = name === "weight" ? all - tried : each;
    const answered = tries(name, call, sound, count, () => {}, watch, ++seed);
    assert.ok(answered > count / 20, `${name}: only ${answered} of ${count} were answered`);
    tried += count;
  }
  assert.equal(tried, all);
  run.free();
  language.free();
  for (const late of [() => run.step(), () => run.metrics(), () => run.free(), () => run.weight("wQkv")])
    assert.throws(late, /this run has been freed/);
  assert.equal(prototypes(), before);
  context.diagnostic(
    `hostile values: ${all} calls of the trainer, the longest ${JSON.stringify(watch.longest)}`,
  );
});

test("what an array or a config says of itself in two ways is read once, and as it is", () => {
  class Long extends Float64Array {
    get length() {
      return 1e6;
    }
  }
  const lies = (value) => Object.defineProperty(new Float64Array(3).fill(1), "length", { value });
  for (const array of [new Long(3).fill(1), ...[1e6, -1, Number.NaN, "x", 3n, 2].map(lies)]) {
    assert.deepEqual([...core.roundTo(array, "float16")], [1, 1, 1]);
    assert.throws(() => core.similarity(array, 2, 2), /^RangeError: table must have 4 entries/);
  }
  /** Says the first at first, and then the second. */
  const once = (field, first, second, rest) => {
    let asked = 0;
    return Object.defineProperty({ ...rest }, field, {
      enumerable: true,
      get: () => (asked++ === 0 ? first : second),
    });
  };
  const lut = core.lut();
  const shape = { cols: 2, width: 2, height: 2 };
  for (const [first, second] of [
    [1_000_000, 2],
    [2, 1_000_000],
  ]) {
    const config = once("rows", first, second, shape);
    const colours = () => core.colormap(new Float32Array(4), lut, config);
    if (first === 2) assert.equal(colours().length, 16);
    else assert.throws(colours, /values must have 2000000 entries/);
  }
  assert.throws(() => core.tileMap(once("map", "alibi", "t5", {})), /slope must be a finite number/);
  const run = trainer.createRun(once("task", "echo", "language", { encoding: "rope" }));
  assert.equal(run.config.task, "echo");
  assert.deepEqual({ ...run.config, encoding: "none" }, { ...trainer.studyConfig("echo"), encoding: "none" });
  run.free();
});

test("a map that is freed while its view is read is a map that has been freed", () => {
  const freeing = (map, field, value) => ({
    get [field]() {
      map.free();
      return value;
    },
  });
  const view = { y0: 0, cellsX: 1, cellsY: 1, width: 2, height: 2 };
  for (const call of [
    (map) => map.setColors(core.lut(), freeing(map, "vmin", 0)),
    (map) => map.draw(Object.assign(freeing(map, "x0", 0), view)),
    (map) =>
      map.values(Object.defineProperties(freeing(map, "x0", 0), Object.getOwnPropertyDescriptors(view))),
  ]) {
    const map = core.tileMap({ map: "alibi", slope: 1 });
    assert.throws(() => call(map), /this map has been freed/);
    assert.equal(core.alibiSlopes({ numHeads: 2 }).length, 2);
  }
});

test("what cannot even be looked at is named like any other wrong kind", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const bare = Object.setPrototypeOf(new Float32Array(2), null);
  const view = Object.setPrototypeOf(new DataView(new ArrayBuffer(8)), Float64Array.prototype);
  for (const [call, sentence] of [
    [() => core.alibiSlopes(proxy), /^TypeError: config must be an object, got an array$/],
    [
      () => core.alibiSlopes({ numHeads: bare }),
      /^TypeError: numHeads must be an integer, got Float32Array of length 2$/,
    ],
    [() => core.roundTo(view, "float16"), /^TypeError: .* must be a Float64Array, got a DataView$/],
    [() => core.roundTo(new BigInt64Array(2), "float16"), /got BigInt64Array of length 2$/],
  ])
    assert.throws(call, (error) => sentence.test(String(error)) || assert.fail(String(error)));
});
