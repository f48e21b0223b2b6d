// The training study, repeated: transformers that differ in their positional encoding alone, over several seeds, and
// what must hold of the results. `npm run test:slow` runs it; tests/node/train.test.mjs takes one seed of it.
//   node tests/train/study.mjs [--seeds 5] [--first 0] [--scalar] [which-side language echo induction]

import { parseArgs } from "node:util";
import { main } from "../../scripts/run.mjs";

/** Tested at so many times the trained length. */
export const MULTIPLES = [1, 2, 4, 8];

const plain = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"].map((encoding) => ({
  name: encoding,
  config: { encoding },
}));
/** The models of each task; a rope model is also tested as "rope + PI" and "rope + NTK". */
export const MODELS = {
  "which-side": [
    ...plain,
    { name: "alibi, one-sided heads", config: { encoding: "alibi", oneSidedHeads: true } },
    { name: "none + causal mask", config: { encoding: "none", causal: true } },
  ],
  language: [
    ...plain,
    { name: "none, 2 layers + feed-forward", config: { encoding: "none", numLayers: 2, feedForward: true } },
  ],
  echo: plain,
  induction: plain,
};
const ORDERED = ["sinusoidal", "learned", "rope", "alibi", "t5"];
const SCALINGS = { rope: "default", "rope + PI": "linear", "rope + NTK": "ntk" };

/** Texts of a language model past the trained length, and which share of their words is in the language. */
function validWords(trainer, run) {
  const known = new Set(trainer.languageWords());
  const symbols = trainer.symbols("language");
  const { seqLen, maxSeqLen } = run.config;
  const words = [0, 1].flatMap((index) => {
    const given = run.example(seqLen, { index }).tokens;
    const text = run.generate(given, maxSeqLen - seqLen, { seed: index });
    const late = Array.from(text.subarray(4 * seqLen), (id) => symbols[id]).join("");
    return late.split(/[ .]+/).slice(1, -1); // the first and last may be cut
  });
  return (100 * words.filter((word) => known.has(word)).length) / words.length;
}

/**
 * Trains one model and tests it. rows: by column name, [value at 1×, 2×, 4×, 8×], in nats for the language, else in %
 * of right answers; words: for the language, % of valid words at 4 to 8 times the length.
 */
export function trainModel(trainer, task, { name, config }, seed) {
  const run = trainer.createRun({ task, seed, ...config });
  const begun = process.cpuUsage();
  let metrics = run.metrics();
  while (!metrics.finished && !metrics.diverged) metrics = run.step(50);
  const { user } = process.cpuUsage(begun);
  const columns = config.encoding === "rope" ? Object.keys(SCALINGS) : [name];
  const rows = Object.fromEntries(
    columns.map((column) => [
      column,
      MULTIPLES.map((multiple) => {
        const options = { ropeType: SCALINGS[column] ?? "default", count: 256 / multiple };
        const { loss, accuracy } = run.evaluate(multiple * run.config.seqLen, options);
        return task === "language" ? loss : 100 * accuracy;
      }),
    ]),
  );
  const words = task === "language" ? validWords(trainer, run) : undefined;
  const result = { name, rows, words, seconds: user / 1e6, steps: metrics.step, diverged: metrics.diverged };
  run.free();
  return result;
}

const at = (rows, column, multiple) => rows[column][MULTIPLES.indexOf(multiple)];

/** What the study found, as statements about the results of one seed: `v(column, multiple)` is a table's cell. */
export const STATEMENTS = {
  "which-side": [
    ["without positions an encoder guesses", (v) => MULTIPLES.every((m) => v("none", m) === 50)],
    ["symmetric ALiBi does not know the side", (v) => MULTIPLES.every((m) => v("alibi", m) === 50)],
    ["a causal mask alone suffices", (v) => MULTIPLES.every((m) => v("none + causal mask", m) > 99)],
    [
      "the others learn the side",
      (v) => ["sinusoidal", "learned", "rope", "t5", "alibi, one-sided heads"].every((e) => v(e, 1) > 97),
    ],
    ["one-sided ALiBi holds to 8×", (v) => v("alibi, one-sided heads", 8) > 90],
    ["learned rows fail past their end", (v) => v("learned", 2) < 80 && v("learned", 4) < 70],
    ["sinusoids fail past the trained length", (v) => v("sinusoidal", 2) < 90 && v("sinusoidal", 4) < 75],
    ["RoPE fails later", (v) => v("rope", 2) > 90 && v("rope", 8) < 85],
    [
      "RoPE is better than sinusoids and rows at 2×",
      (v) => v("rope", 2) > Math.max(v("sinusoidal", 2), v("learned", 2)),
    ],
    [
      "at 8× PI is better than NTK, and NTK than RoPE",
      (v) => v("rope + PI", 8) > v("rope + NTK", 8) && v("rope + NTK", 8) > v("rope", 8),
    ],
    ["PI holds coarse order to 8×", (v) => v("rope + PI", 8) > 95],
    ["T5 fails later than sinusoids", (v) => v("t5", 2) > 99 && v("t5", 4) > v("sinusoidal", 4)],
  ],
  language: [
    [
      "all encodings are equal at the trained length",
      (v) => ORDERED.every((e) => Math.abs(v(e, 1) - 0.433) < 0.015),
    ],
    ["without positions the loss is higher", (v) => v("none", 1) > 0.57 && v("none", 1) < 0.68],
    ["ALiBi and T5 hold to 8×", (v) => ["alibi", "t5"].every((e) => v(e, 8) < v(e, 1))],
    ["T5 ties ALiBi", (v) => Math.abs(v("t5", 8) - v("alibi", 8)) < 0.03],
    ["sinusoids and rows fail at 2×", (v) => v("sinusoidal", 2) > 1 && v("learned", 2) > 1.3],
    [
      "RoPE fails later",
      (v) => v("rope", 2) < 1 && v("rope", 2) < v("sinusoidal", 2) && v("rope", 4) < v("sinusoidal", 4),
    ],
    ["RoPE fails at 8×", (v) => v("rope", 8) > v("none", 8)],
    ["NTK delays it", (v) => [4, 8].every((m) => v("rope + NTK", m) < v("rope", m))],
    ["PI without fine-tuning harms", (v) => [2, 4].every((m) => v("rope + PI", m) > v("rope", m))],
    [
      "ALiBi and T5 are better than no positions",
      (v) => MULTIPLES.every((m) => Math.max(v("alibi", m), v("t5", m)) < v("none", m)),
    ],
    [
      "two layers with feed-forward find order by themselves",
      (v) => v("none, 2 layers + feed-forward", 1) < 0.45,
    ],
    ["and lose it past the trained length", (v) => v("none, 2 layers + feed-forward", 8) > 0.6],
    ["ALiBi and T5 write valid words at 4 to 8×", (_, words) => words.alibi > 85 && words.t5 > 90],
    ["the others do not", (_, words) => ["sinusoidal", "learned", "rope"].every((e) => words[e] < 65)],
  ],
  echo: [
    [
      "sinusoids, rows, RoPE and T5 learn the offset",
      (v) => ["sinusoidal", "learned", "rope", "t5"].every((e) => v(e, 1) > 99),
    ],
    [
      "without positions the score is the order-blind optimum, 27.9",
      (v) => Math.abs(v("none", 1) - 27.9) < 2,
    ],
    ["ALiBi cannot hit an exact offset in one layer", (v) => MULTIPLES.every((m) => v("alibi", m) < 38)],
    ["T5 holds to 8×", (v) => v("t5", 8) > 99],
    [
      "learned rows are at chance on new positions",
      (v) => Math.abs(v("learned", 2) - 54.2) < 2.5 && Math.abs(v("learned", 8) - 22.5) < 2,
    ],
    ["sinusoids fail at 2×", (v) => v("sinusoidal", 2) < 85],
    ["RoPE fails later", (v) => v("rope", 2) > 96 && v("rope", 4) > v("sinusoidal", 4) && v("rope", 8) < 70],
    ["NTK delays it", (v) => [4, 8].every((m) => v("rope + NTK", m) > v("rope", m))],
    ["PI is catastrophic without fine-tuning", (v) => [2, 4, 8].every((m) => v("rope + PI", m) < 17)],
  ],
  induction: [
    ["all encodings learn to find", (v) => ORDERED.every((e) => v(e, 1) > 85)],
    ["without positions it is not learnt", (v) => v("none", 1) < 75],
    ["sinusoids and rows fail at 2×", (v) => Math.max(v("sinusoidal", 2), v("learned", 2)) < 80],
    ["RoPE fails later", (v) => [2, 4].every((m) => v("rope", m) > v("sinusoidal", m)) && v("rope", 8) < 60],
    ["NTK delays it", (v) => [4, 8].every((m) => v("rope + NTK", m) > v("rope", m))],
    ["PI is catastrophic without fine-tuning", (v) => [2, 4, 8].every((m) => v("rope + PI", m) < 30)],
    [
      "ALiBi and T5 are the best of the unscaled at 8×",
      (v) =>
        Math.min(v("alibi", 8), v("t5", 8)) >
        Math.max(...["none", "sinusoidal", "learned", "rope"].map((e) => v(e, 8))),
    ],
  ],
};

/** Statements that do not hold for the models of one seed, each with the rows that it should be seen in. */
export function broken(task, models) {
  const rows = Object.assign({}, ...models.map((model) => model.rows));
  const words = Object.fromEntries(models.map(({ name, words }) => [name, words]));
  return STATEMENTS[task]
    .filter(([, holds]) => !holds((column, multiple) => at(rows, column, multiple), words))
    .map(([says]) => says);
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values) => {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, v) => sum + (v - centre) ** 2, 0) / Math.max(values.length - 1, 1));
};

/** The table of a task: mean ± standard deviation over the seeds. */
export function table(task, seeds) {
  const digits = task === "language" ? 3 : 1;
  const cell = (values) => `${mean(values).toFixed(digits)} ± ${deviation(values).toFixed(digits)}`;
  const lines = [];
  for (const [i, model] of seeds[0].entries()) {
    const same = seeds.map((models) => models[i]);
    for (const column of Object.keys(model.rows)) {
      const cells = MULTIPLES.map((_, m) => cell(same.map(({ rows }) => rows[column][m])));
      const speed = mean(same.map(({ steps, seconds }) => steps / seconds)).toFixed(0);
      const words =
        model.words !== undefined && column === model.name ? cell(same.map((run) => run.words)) : "";
      lines.push(
        [
          column.padEnd(30),
          ...cells.map((text) => text.padStart(15)),
          speed.padStart(9),
          words.padStart(15),
        ].join(""),
      );
    }
  }
  const head = ["".padEnd(30), ...MULTIPLES.map((m) => `${m}×`.padStart(15)), "steps/s".padStart(9)];
  if (task === "language") head.push("valid words, %".padStart(15));
  return [head.join(""), ...lines].join("\n");
}

async function study(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seeds: { type: "string", default: "5" },
      first: { type: "string", default: "0" },
      scalar: { type: "boolean", default: false },
    },
  });
  const { loadTrainer } = await import("posenc/train");
  const trainer = await loadTrainer({ simd: !values.scalar });
  let failed = 0;
  for (const task of positionals.length > 0 ? positionals : Object.keys(MODELS)) {
    const seeds = [];
    for (let seed = Number(values.first); seeds.length < Number(values.seeds); ++seed) {
      seeds.push(MODELS[task].map((model) => trainModel(trainer, task, model, seed)));
      for (const says of broken(task, seeds.at(-1))) {
        ++failed;
        console.log(`seed ${seed}: it does not hold that ${says}`);
      }
    }
    const { steps } = trainer.studyConfig(task);
    const unit = task === "language" ? "loss in nats" : "right answers in %";
    console.log(`\n${task}: ${steps} steps, ${seeds.length} seeds, ${unit}\n${table(task, seeds)}`);
    const seconds = mean(
      seeds.map((models) => models.slice(0, 6).reduce((sum, run) => sum + run.seconds, 0)),
    );
    console.log(`six encodings: ${seconds.toFixed(1)} s of training a seed`);
    console.log(`${STATEMENTS[task].length} statements, ${seeds.length} seeds`);
  }
  console.log(`memory: ${(trainer.memoryBytes() / 2 ** 20).toFixed(1)} MiB`);
  console.log(failed === 0 ? "all statements hold" : `${failed} statements do not hold`);
  if (failed > 0) process.exitCode = 1;
}

await main(import.meta.url, study);
