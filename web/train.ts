/**
 * Training of tiny transformers, for JavaScript: in a page, in a worker and in Node. A module of its own, loaded only
 * when asked for.
 *
 * What is trained, shapes, units and sources stand in `cpp/train/train.hpp`, under the same names in snake_case. Errors
 * are those of posenc.ts. A run holds memory until `free()`; afterwards each of its calls throws.
 *
 *   const trainer = await loadTrainer();
 *   const run = trainer.createRun({ task: "echo", encoding: "rope" });
 *   while (!run.metrics().finished) draw(run.step(10).loss);
 *   run.evaluate(128, { ropeType: "ntk" }).accuracy;
 *   run.free();
 */

import {
  boolean,
  caller,
  type Fields,
  type Given,
  i32,
  integer,
  named,
  number,
  optional,
  type Reader,
  read,
  wrongKind,
} from "./kinds.ts";
import { type Loaded, type LoadOptions, loadModule } from "./load.ts";
import { scalar, twin } from "./train-files.ts";
import createTrainer, { build } from "./wasm/posenc-train.mjs";

export type Task = "which-side" | "language" | "echo" | "induction";
export type TrainedEncoding = "none" | "sinusoidal" | "learned" | "rope" | "alibi" | "t5";
/** How RoPE treats a test longer than the trained length. */
export type TestScaling = "default" | "linear" | "ntk";
/** Matrices act from the right; shapes stand at `Weight` in train.hpp. */
export type WeightName =
  | "tokenTable"
  | "gain"
  | "wQkv"
  | "bQkv"
  | "wOut"
  | "feedGain"
  | "wUp"
  | "wDown"
  | "lastGain"
  | "wClasses"
  | "positionTable"
  | "t5Table";

export interface FullRunConfig {
  task: Task;
  encoding: TrainedEncoding;
  causal: boolean;
  oneSidedHeads: boolean;
  feedForward: boolean;
  numLayers: number;
  dModel: number;
  numHeads: number;
  seqLen: number;
  maxSeqLen: number;
  batch: number;
  steps: number;
  warmupSteps: number;
  learningRate: number;
  weightDecay: number;
  gradientClip: number;
  echoOffset: number;
  base: number;
  numBuckets: number;
  maxDistance: number;
  seed: number;
}
/** What is not given is as in the study of the task, with encoding none and seed 0. */
export type RunConfig = { task: Task } & Partial<Omit<FullRunConfig, "task">>;

export interface Metrics {
  step: number;
  loss: number;
  accuracy: number;
  gradientNorm: number;
  learningRate: number;
  diverged: boolean;
  finished: boolean;
}
/** The curves of the steps taken by one call, and the metrics after the last. */
export interface Steps extends Metrics {
  losses: Float64Array;
  accuracies: Float64Array;
}
export interface TestOptions {
  ropeType?: TestScaling;
  /** Index of the first test sequence. Default: 0. */
  first?: number;
  /** Number of sequences, at most 1024: they take one call, which nothing can stop. Default: 4. */
  count?: number;
}
/** Means over the `asked` answers, of all positions and of each; NaN where none was asked for. */
export interface Evaluation {
  seqLen: number;
  loss: number;
  accuracy: number;
  asked: number;
  lossByPosition: Float64Array;
  accuracyByPosition: Float64Array;
}
/** Ids of symbols in, ids of classes out; a target of -1 asks for nothing. probabilities (seqLen, numClasses). */
export interface Example {
  tokens: Int32Array;
  targets: Int32Array;
  answers: Int32Array;
  probabilities: Float32Array;
}
/** probabilities (seqLen, numClasses); weights (numLayers, numHeads, seqLen, seqLen). */
export interface Look {
  probabilities: Float32Array;
  weights: Float32Array;
}
export interface WriteOptions {
  ropeType?: TestScaling;
  /** For which RoPE is scaled: of the whole text. Default: the length reached by this call. */
  finalLength?: number;
  /** 0: always the most probable character. Default: 1. */
  temperature?: number;
  seed?: number;
}

export interface Run {
  readonly config: Readonly<FullRunConfig>;
  readonly numParameters: number;
  /** Of memory held until `free()`. */
  readonly bytes: number;
  metrics(): Metrics;
  /** Takes up to `count` steps (default 1), fewer if the run finishes or diverges. */
  step(count?: number): Steps;
  evaluate(seqLen: number, options?: TestOptions): Evaluation;
  /** Test sequence `index` of a length, with the model's answers. */
  example(seqLen: number, options?: { ropeType?: TestScaling; index?: number }): Example;
  attention(tokens: Int32Array, options?: { ropeType?: TestScaling }): Look;
  /** `tokens` and `count` more. Only for the language task. */
  generate(tokens: Int32Array, count: number, options?: WriteOptions): Int32Array;
  /** A copy; empty if the model has no such weight. */
  weight(name: WeightName, layer?: number): Float32Array;
  free(): void;
}

export interface Trainer {
  readonly simd: boolean;
  /** Why the twin in JavaScript trains; undefined where WebAssembly does. */
  readonly twin: string | undefined;
  studyConfig(task: Task): FullRunConfig;
  /** What the ids of tokens stand for. */
  symbols(task: Task): string[];
  numClasses(task: Task): number;
  languageWords(): string[];
  /** Memory that a run of the config holds. */
  runBytes(config: RunConfig): number;
  createRun(config: RunConfig): Run;
  /** All memory of the module: it never shrinks, and what a freed run had is used by the next. */
  memoryBytes(): number;
}

const seed: Reader = (field, value) => {
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongKind(field, "an integer", value);
  if (value < 0 || value > 2 ** 32 - 1)
    throw new RangeError(`${field} must be 0 to ${2 ** 32 - 1}; got ${value}`);
  return value;
};
/** An enum's reader with a default, or none. */
const choice =
  (list: string, fallback?: string): Reader =>
  (field, value, core) =>
    named(list)(field, value ?? fallback, core);
const ropeType = choice("RopeType", "default");

function wrap({ core, simd, twin }: Loaded): Trainer {
  const call = caller(core);
  const task = (value: unknown): unknown => choice("Task")("task", value, core);
  const atLeast = (field: string, value: unknown, least: number): number => {
    const given = integer(field, value, core) as number;
    if (given < least) throw new RangeError(`${field} must be at least ${least}; got ${given}`);
    return given;
  };
  const options = (fields: Fields, given: unknown): Given => read(fields, "options", given, core);

  const nameOf = (list: string, value: unknown): string => {
    const names = core[list] as Record<string, unknown>;
    return Object.keys(names).find((name) => name !== "values" && names[name] === value) as string;
  };
  /** A config as the core has it: names are its opaque values. */
  const settingsOf = (given: RunConfig): Given => {
    const chosen = task(given?.task);
    const study = call<Given>("studyConfig", [chosen]);
    const fields: Fields = {};
    for (const [field, value] of Object.entries(study)) {
      if (field === "task") fields[field] = () => chosen;
      else if (field === "encoding") fields[field] = choice("Encoding", "none");
      else if (field === "seed") fields[field] = optional(seed, 0);
      else if (typeof value === "boolean") fields[field] = optional(boolean, value);
      else fields[field] = optional(REALS.has(field) ? number : integer, value);
    }
    return read(fields, "config", given, core);
  };
  const withNames = (settings: Given): FullRunConfig =>
    ({
      ...settings,
      task: nameOf("Task", settings.task),
      encoding: nameOf("Encoding", settings.encoding),
    }) as FullRunConfig;

  function createRun(given: RunConfig): Run {
    const settings = settingsOf(given);
    const named = withNames(settings);
    const bytes = call<number>("runBytes", [settings], { ...named });
    let handle: number | null = call<number>("startRun", [settings], { ...named });
    const live = (): number => {
      if (handle === null) throw new Error("this run has been freed");
      return handle;
    };
    /** The sentences of a test name seq_len and rope_type, and max_seq_len. */
    const test = <T>(name: string, args: unknown[], values: Given): T =>
      call<T>(name, [live(), ...args], { maxSeqLen: named.maxSeqLen, ...values });
    const numParameters = call<number>("numParameters", [handle]);

    return {
      config: Object.freeze(named),
      numParameters,
      bytes,
      metrics: () => call("metrics", [live()]),
      step(count = 1) {
        atLeast("count", count, 1);
        const losses: number[] = [];
        const accuracies: number[] = [];
        let metrics = call<Metrics>("metrics", [live()]);
        // One call a step: engines put a hot function into their fast tier between calls only.
        for (let i = 0; i < count && !metrics.finished && !metrics.diverged; ++i) {
          metrics = call<Metrics>("step", [live()]);
          if (metrics.diverged) break;
          losses.push(metrics.loss);
          accuracies.push(metrics.accuracy);
        }
        return {
          ...metrics,
          losses: Float64Array.from(losses),
          accuracies: Float64Array.from(accuracies),
        };
      },
      evaluate(seqLen, given = {}) {
        const fields = { ropeType, first: optional(integer, 0), count: optional(integer, 4) };
        const { ropeType: scaling, first, count } = options(fields, given);
        atLeast("first", first, 0);
        const last = (first as number) + atLeast("count", count, 1);
        if ((count as number) > MAX_TESTS)
          throw new RangeError(`count must be at most ${MAX_TESTS}; got ${count}`);
        if (last > 2 ** 31) throw new RangeError(`first + count must be at most 2^31; got ${last}`);
        integer("seqLen", seqLen, core);
        const sums = test<Record<"loss" | "right" | "asked", Float64Array>>(
          "evaluate",
          [seqLen, scaling, first, count],
          { seqLen, ropeType: nameOf("RopeType", scaling) },
        );
        const total = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0);
        const each = (values: Float64Array): Float64Array =>
          values.map((value, t) => value / (sums.asked[t] as number));
        const asked = total(sums.asked);
        return {
          seqLen,
          loss: total(sums.loss) / asked,
          accuracy: total(sums.right) / asked,
          asked,
          lossByPosition: each(sums.loss),
          accuracyByPosition: each(sums.right),
        };
      },
      example(seqLen, given = {}) {
        const { ropeType: scaling, index } = options({ ropeType, index: optional(integer, 0) }, given);
        atLeast("index", index, 0);
        integer("seqLen", seqLen, core);
        return test("answer", [settings.task, seqLen, scaling, index], {
          seqLen,
          ropeType: nameOf("RopeType", scaling),
        });
      },
      attention(tokens, given = {}) {
        const { ropeType: scaling } = options({ ropeType }, given);
        const ids = i32("tokens", tokens, core) as Int32Array;
        return test("look", [settings, ids, scaling], {
          seqLen: ids.length,
          ropeType: nameOf("RopeType", scaling),
        });
      },
      generate(tokens, count, given = {}) {
        if (named.task !== "language") throw new RangeError(`task must be language; got ${named.task}`);
        const ids = i32("tokens", tokens, core) as Int32Array;
        if (ids.length === 0) throw new RangeError("tokens must hold at least one id");
        const reached = ids.length + atLeast("count", count, 1);
        const fields = {
          ropeType,
          finalLength: optional(integer, reached),
          temperature: optional(number, 1),
          seed: optional(seed, 0),
        };
        const { finalLength, temperature, seed: drawSeed, ropeType: scaling } = options(fields, given);
        if ((temperature as number) < 0)
          throw new RangeError(`temperature must be at least 0; got ${temperature}`);
        return test("writeOn", [ids, count, scaling, finalLength, temperature, drawSeed], {
          finalLength,
          seqLen: finalLength,
          ropeType: nameOf("RopeType", scaling),
        });
      },
      weight: (name, layer = 0) =>
        call("weight", [live(), choice("Weight")("name", name, core), atLeast("layer", layer, 0)]),
      free() {
        call("freeRun", [live()]);
        handle = null;
      },
    };
  }

  return {
    simd,
    twin,
    studyConfig: (name) => withNames(call<Given>("studyConfig", [task(name)])),
    symbols: (name) => call("symbols", [task(name)]),
    numClasses: (name) => call("numClasses", [task(name)]),
    languageWords: () => call("languageWords", []),
    runBytes(given) {
      const settings = settingsOf(given);
      return call("runBytes", [settings], { ...withNames(settings) });
    },
    createRun,
    memoryBytes: () => call("memoryBytes", []),
  };
}

const MAX_TESTS = 1024;
const REALS = new Set(["learningRate", "weightDecay", "gradientClip", "base"]);

/** Loads the trainer. Each call makes an instance of its own, with memory of its own. */
export async function loadTrainer(options: LoadOptions = {}): Promise<Trainer> {
  const file = (simd: boolean): URL | null =>
    simd ? new URL("./wasm/posenc-train-simd.wasm", import.meta.url) : scalar();
  return wrap(await loadModule({ create: createTrainer, build, file, twin }, options));
}
