// The trainer: the study's rankings on one seed, the same bits everywhere, and what JavaScript may ask of a run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTrainer } from "posenc/train";
import { plainRun } from "../train/plain.mjs";
import { broken, MODELS, trainModel } from "../train/study.mjs";

const simd = await loadTrainer();
const scalar = await loadTrainer({ simd: false });
const twin = await loadTrainer({ wasm: false });
const WEIGHTS = [
  "tokenTable",
  "gain",
  "wQkv",
  "bQkv",
  "wOut",
  "lastGain",
  "wClasses",
  "positionTable",
  "t5Table",
];
const bitsOf = (run) => WEIGHTS.map((name) => Buffer.from(run.weight(name).buffer).toString("hex")).join();

const throws = (run, name, pattern) =>
  assert.throws(run, (error) => {
    assert.equal(error.name, name, error.message);
    assert.match(error.message, pattern);
    return true;
  });

/** A run, handed to `use` and freed. */
function using(trainer, config, use) {
  const run = trainer.createRun(config);
  try {
    return use(run);
  } finally {
    run.free();
  }
}

for (const task of ["which-side", "language", "echo"]) {
  test(`${task}: one seed shows what the study found`, () => {
    const models = MODELS[task].map((model) => trainModel(simd, task, model, 0));
    assert.ok(models.every(({ diverged }) => !diverged));
    assert.deepEqual(broken(task, models), []);
  });
}

test("both builds and their twin in JavaScript train to the same bits", () => {
  for (const { config } of MODELS["which-side"]) {
    const [a, b, c] = [simd, scalar, twin].map((trainer) =>
      using(trainer, { task: "echo", ...config, causal: config.causal ?? !config.oneSidedHeads }, (run) => {
        run.step(25);
        return bitsOf(run);
      }),
    );
    assert.equal(a, b, config.encoding);
    assert.equal(a, c, `${config.encoding}, in JavaScript`);
  }
});

test("runs side by side, paused and looked at between, hold the bits of a run alone", () => {
  const config = { task: "language", encoding: "t5", seed: 7 };
  const alone = using(simd, config, (run) => {
    run.step(30);
    return bitsOf(run);
  });
  using(simd, config, (run) =>
    using(simd, { ...config, encoding: "rope" }, (other) => {
      for (let i = 0; i < 10; ++i) {
        run.step(3);
        run.evaluate(64);
        run.attention(run.example(40).tokens);
        other.step(2);
        run.generate(Int32Array.of(1, 2), 20);
      }
      assert.equal(bitsOf(run), alone);
    }),
  );
});

test("a seed decides the data and the first weights", () => {
  const first = (seed) =>
    using(simd, { task: "echo", seed }, (run) => [bitsOf(run), run.example(32).tokens.join()]);
  assert.deepEqual(first(3), first(3));
  assert.notEqual(first(3)[0], first(4)[0]);
  assert.notEqual(first(3)[1], first(4)[1]);
  assert.notEqual(first(2 ** 32 - 1)[0], first(0)[0]);
});

test("step gives the curve of its steps and stops at the end", () => {
  using(simd, { task: "echo", encoding: "rope", steps: 24 }, (run) => {
    const { losses, accuracies, ...metrics } = run.step(10);
    assert.deepEqual([losses.length, accuracies.length, metrics.step], [10, 10, 10]);
    assert.equal(metrics.loss, losses[9]);
    assert.deepEqual(run.metrics(), metrics);
    assert.equal(metrics.finished, false);
    const rest = run.step(100);
    assert.deepEqual([rest.losses.length, rest.step, rest.finished], [14, 24, true]);
    assert.equal(run.step(5).losses.length, 0);
    assert.ok(losses.every(Number.isFinite));
  });
});

test("the loss of a fresh model is near that of a guess, and falls", () => {
  using(simd, { task: "echo", encoding: "rope" }, (run) => {
    const before = run.evaluate(32, { count: 16 }).loss;
    assert.ok(Math.abs(before - Math.log(8)) < 0.6, `${before}`);
    run.step(250);
    assert.ok(run.evaluate(32, { count: 16 }).loss < 0.05);
  });
});

test("a run that diverges says so, stops, and shows no NaN", () => {
  using(simd, { task: "language", encoding: "sinusoidal", learningRate: 5 }, (run) => {
    const steps = run.step(400);
    assert.equal(steps.diverged, true);
    assert.equal(steps.finished, false);
    assert.equal(steps.losses.length, steps.step);
    assert.ok([...steps.losses, ...steps.accuracies, steps.loss, steps.gradientNorm].every(Number.isFinite));
    assert.deepEqual(run.step(10).losses.length, 0);
    assert.ok(Number.isFinite(run.evaluate(256).loss));
  });
});

test("an evaluation's means follow from its positions, and pieces add up", () => {
  using(simd, { task: "echo", encoding: "none" }, (run) => {
    run.step(20);
    const whole = run.evaluate(64, { count: 6 });
    const [a, b] = [run.evaluate(64, { count: 2 }), run.evaluate(64, { first: 2, count: 4 })];
    assert.equal(whole.asked, 6 * 61);
    assert.equal(a.asked + b.asked, whole.asked);
    assert.ok(Math.abs((a.loss * a.asked + b.loss * b.asked) / whole.asked - whole.loss) < 1e-12);
    assert.ok(Number.isNaN(whole.lossByPosition[2]));
    const mean = whole.accuracyByPosition.subarray(3).reduce((sum, value) => sum + value, 0) / 61;
    assert.ok(Math.abs(mean - whole.accuracy) < 1e-12);
  });
});

test("an example's answers are its most probable classes", () => {
  using(simd, { task: "which-side", encoding: "rope" }, (run) => {
    const { tokens, targets, answers, probabilities } = run.example(20, { index: 3, ropeType: "linear" });
    assert.deepEqual([tokens.length, targets.length, answers.length, probabilities.length], [20, 20, 20, 40]);
    const symbols = simd.symbols("which-side");
    assert.equal(
      targets.indexOf(-1),
      [...tokens].findIndex((id) => symbols[id].match(/bites|saw|was|eats/)),
    );
    for (let t = 0; t < 20; ++t) {
      const [before, after] = probabilities.subarray(2 * t, 2 * t + 2);
      assert.ok(Math.abs(before + after - 1) < 1e-6);
      assert.equal(answers[t], after > before ? 1 : 0);
    }
  });
});

test("attention weights are rows that sum to 1, none on what the mask hides", () => {
  using(simd, { task: "induction", encoding: "alibi" }, (run) => {
    const n = 37;
    const { weights, probabilities } = run.attention(run.example(n).tokens);
    assert.deepEqual([weights.length, probabilities.length], [2 * 4 * n * n, n * 16]);
    for (let row = 0; row < 2 * 4 * n; ++row) {
      const values = weights.subarray(row * n, (row + 1) * n);
      assert.ok(Math.abs(values.reduce((sum, value) => sum + value, 0) - 1) < 1e-5);
      assert.ok(values.subarray((row % n) + 1).every((value) => value === 0));
    }
  });
});

test("a text is continued, in pieces as in one go", () => {
  using(simd, { task: "language", encoding: "rope", seed: 2 }, (run) => {
    const given = Int32Array.of(3, 10);
    const options = { finalLength: 60, ropeType: "ntk", seed: 5 };
    const whole = run.generate(given, 58, options);
    assert.equal(whole.length, 60);
    assert.deepEqual(whole.subarray(0, 2), given);
    assert.deepEqual(run.generate(run.generate(given, 17, options), 41, options), whole);
  });
});

test("weights have the shapes that the header states", () => {
  const size = (config, name, layer) => using(simd, config, (run) => run.weight(name, layer).length);
  assert.equal(size({ task: "language" }, "tokenTable"), 17 * 48);
  assert.equal(size({ task: "language" }, "wClasses"), 48 * 20);
  assert.equal(size({ task: "echo", encoding: "learned" }, "positionTable"), 256 * 48);
  assert.equal(size({ task: "echo", encoding: "t5" }, "t5Table"), 16 * 4);
  assert.equal(size({ task: "induction" }, "wQkv", 1), 48 * 144);
  assert.equal(size({ task: "echo" }, "wQkv", 1), 0);
  assert.equal(size({ task: "echo" }, "t5Table"), 0);
  // Tokens, q, k and v with biases, output, two norms, classes.
  const parameters = 17 * 48 + 48 * 144 + 144 + 48 * 48 + 2 * 48 + 48 * 17;
  assert.equal(
    using(simd, { task: "language" }, (run) => run.numParameters),
    parameters,
  );
});

test("what is not given is as in the study", () => {
  using(simd, { task: "induction", seed: 9 }, ({ config }) => {
    assert.deepEqual(config, { ...simd.studyConfig("induction"), seed: 9 });
    assert.deepEqual([config.numLayers, config.steps, config.learningRate], [2, 600, 0.005]);
  });
});

test("a comparison fits into 32 MB, steps allocate nothing, and freed memory is used again", async () => {
  // the sizes of language are those of echo
  for (const task of ["which-side", "echo", "induction"]) {
    const trainer = await loadTrainer();
    const compare = () => {
      const runs = MODELS["which-side"].map(({ config }) =>
        trainer.createRun({ task, ...config, causal: config.causal ?? !config.oneSidedHeads }),
      );
      const held = trainer.memoryBytes();
      for (const run of runs) run.step(2);
      assert.equal(trainer.memoryBytes(), held);
      for (const run of runs) run.evaluate(256, { count: 1 });
      for (const run of runs) run.free();
    };
    compare();
    const held = trainer.memoryBytes();
    assert.ok(held < 32 * 2 ** 20, `${task}: ${held / 2 ** 20} MiB`);
    for (let i = 0; i < 5; ++i) compare();
    assert.equal(trainer.memoryBytes(), held);
  }
});

test("a freed run refuses every call", () => {
  const run = simd.createRun({ task: "echo" });
  run.free();
  for (const use of [
    () => run.step(),
    () => run.metrics(),
    () => run.evaluate(32),
    () => run.example(32),
    () => run.attention(Int32Array.of(1)),
    () => run.weight("gain"),
    () => run.free(),
  ]) {
    throws(use, "Error", /^this run has been freed$/);
  }
});

test("a wrong kind is a TypeError that names the field", () => {
  const create = (config) => () => using(simd, { task: "echo", ...config }, () => {});
  throws(create({ task: "copy" }), "TypeError", /task must be one of which-side, language, echo, induction/);
  throws(create({ task: undefined }), "TypeError", /task must be one of/);
  throws(() => simd.createRun(), "TypeError", /task must be one of|config must be an object/);
  throws(create({ encoding: "rotary" }), "TypeError", /encoding must be one of none, sinusoidal/);
  throws(create({ dModel: "48" }), "TypeError", /^dModel must be an integer, got "48"$/);
  throws(create({ steps: 1.5 }), "TypeError", /^steps must be an integer, got 1\.5$/);
  throws(create({ causal: 1 }), "TypeError", /^causal must be true or false, got 1$/);
  throws(create({ learningRate: Number.NaN }), "TypeError", /^learningRate must be a finite number/);
  throws(create({ seed: 0.5 }), "TypeError", /^seed must be an integer/);
  throws(create({ learning_rate: 1 }), "TypeError", /no field "learning_rate"/);
  using(simd, { task: "language" }, (run) => {
    throws(() => run.step(0.5), "TypeError", /count must be an integer/);
    throws(() => run.evaluate("32"), "TypeError", /seqLen must be an integer/);
    throws(() => run.evaluate(32, { ropeType: "yarn" }), "TypeError", /ropeType must be one of|RopeType/);
    throws(() => run.attention([1, 2]), "TypeError", /tokens must be a Int32Array/);
    throws(() => run.weight("w"), "TypeError", /name must be one of tokenTable/);
    throws(() => run.generate(Int32Array.of(1), 3, { temperature: "1" }), "TypeError", /temperature must be/);
  });
});

test("a wrong value is a RangeError with the rule and the value", () => {
  const create = (config) => () => using(simd, { task: "echo", ...config }, () => {});
  throws(
    create({ dModel: 50 }),
    "RangeError",
    /d_model must be a multiple of 4 \* num_heads; got d_model = 50/,
  );
  throws(
    create({ learningRate: 0 }),
    "RangeError",
    /learning_rate must be above 0 .*; got learning_rate = 0/,
  );
  throws(
    create({ echoOffset: 32 }),
    "RangeError",
    /echo_offset must be 1 to seq_len - 1; got echo_offset = 32/,
  );
  throws(create({ seed: -1 }), "RangeError", /seed must be 0 to 4294967295; got -1/);
  throws(
    create({ oneSidedHeads: true }),
    "RangeError",
    /one_sided_heads must be false unless encoding is alibi/,
  );
  throws(create({ task: "language", causal: false }), "RangeError", /causal must be true for language/);
  throws(
    () => simd.runBytes({ task: "echo", batch: 0 }),
    "RangeError",
    /batch must be 1 to 256; got batch = 0/,
  );
  using(simd, { task: "language" }, (run) => {
    throws(() => run.evaluate(257), "RangeError", /seq_len must be 1 to max_seq_len; got seq_len = 257/);
    throws(
      () => run.evaluate(64, { ropeType: "ntk" }),
      "RangeError",
      /rope_type must be default unless encoding is rope/,
    );
    throws(() => run.attention(Int32Array.of(17)), "RangeError", /tokens must be ids of the task's symbols/);
    throws(() => run.attention(new Int32Array(257)), "RangeError", /seq_len must be 1 to max_seq_len/);
    throws(() => run.generate(new Int32Array(), 3), "RangeError", /tokens must hold at least one id/);
    throws(() => run.generate(Int32Array.of(1), 256), "RangeError", /seq_len must be 1 to max_seq_len/);
    throws(
      () => run.generate(Int32Array.of(1), 9, { finalLength: 5 }),
      "RangeError",
      /final_length must be at least/,
    );
    throws(() => run.evaluate(32, { first: 2 ** 31 - 1, count: 2 }), "RangeError", /first \+ count must be/);
    throws(() => run.step(0), "RangeError", /count must be at least 1; got 0/);
  });
  using(simd, { task: "echo" }, (run) =>
    throws(() => run.generate(Int32Array.of(1), 3), "RangeError", /task must be language; got echo/),
  );
});

for (const encoding of ["none", "learned", "rope"]) {
  test(`${encoding}: a twin in plain JavaScript takes the same steps`, () => {
    const config = { task: "echo", encoding, seed: 7, dModel: 16, seqLen: 12, maxSeqLen: 24, batch: 6 };
    using(simd, config, (run) => {
      const twin = using(simd, config, plainRun);
      // float32 rounds sums of hundreds of terms differently, and each step carries it on
      const allowance = 1e-5;
      for (let step = 0; step < 40; step++) {
        const [loss, other] = [run.step().loss, twin.step()];
        assert.ok(Math.abs(loss - other) < allowance, `step ${step}: ${loss} and ${other}`);
      }
      for (const name of WEIGHTS) {
        if (name === "t5Table") continue;
        const [ours, theirs] = [run.weight(name), twin.weight(name)];
        assert.equal(ours.length, theirs.length, name);
        // Without turns one bias of all keys moves no weight: its gradient is rounding, which AdamW enlarges.
        const isIdle = (i) => name === "bQkv" && encoding !== "rope" && i >= 16 && i < 32;
        const differences = Array.from(ours, (value, i) => (isIdle(i) ? 0 : Math.abs(value - theirs[i])));
        assert.ok(Math.max(0, ...differences) < 1e-4, `${name}: ${Math.max(...differences)}`);
      }
    });
  });
}
