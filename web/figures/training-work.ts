// The work of a comparison, cut into pieces so small that whoever does it can stop between any two: in a worker, or on
// a page's own thread. All models take a step in turn, so that their curves advance together.

import type { FullRunConfig, Run, RunConfig, TestScaling, Trainer } from "../train.ts";

export interface Plan {
  /** Without their seeds. */
  models: readonly RunConfig[];
  /** How each model is tested. */
  tests: readonly { model: number; ropeType: TestScaling }[];
  seeds: readonly number[];
  /** Tested at so many times the trained length. */
  multiples: readonly number[];
}

/** What a reader looks at in a model as it is now. `index` chooses the test sequence. */
export interface Question {
  id: number;
  what: "attention" | "answers" | "positions" | "text";
  model: number;
  ropeType: TestScaling;
  seqLen: number;
  index: number;
}

/** Weights (numLayers, numHeads, seqLen, seqLen), where attention was asked for; targets of −1 ask for nothing. */
export interface Sequence {
  tokens: Int32Array;
  targets: Int32Array;
  answers: Int32Array;
  weights: Float32Array;
}
export interface Answer {
  id: number;
  /** Steps that the model had taken. */
  step: number;
  sequence?: Sequence;
  /** (maxSeqLen, dModel): of a learned table. */
  table?: Float32Array;
  /** A text whose first `given` characters were given. */
  text?: { tokens: Int32Array; given: number };
}

export interface StepNews {
  seed: number;
  model: number;
  /** Of the step's batch; none of a step that diverged, which is not taken. */
  loss?: number;
  accuracy?: number;
  diverged: boolean;
}
export interface TestNews {
  seed: number;
  test: number;
  multiple: number;
  loss: number;
  accuracy: number;
  asked: number;
}
/** What one slice of work has brought. */
interface Brought {
  steps: StepNews[];
  tests: TestNews[];
  answer?: Answer;
}
export interface News extends Brought {
  kind: "news";
  /** Sequences trained on and seconds gone so far, and the seconds of those in which steps were taken. */
  examples: number;
  seconds: number;
  stepping: number;
  done: boolean;
}
export interface Ready {
  kind: "ready";
  simd: boolean;
  /** Why JavaScript trains; undefined where WebAssembly does. */
  twin: string | undefined;
  symbols: string[];
  languageWords: string[];
  numParameters: number[];
}
export interface Failed {
  kind: "failed";
  sentence: string;
}
export type Told = Ready | News | Failed;

export type Order =
  | { kind: "go" }
  | { kind: "rest" }
  /** One step of each model, or one test, and a rest. */
  | { kind: "round" }
  | { kind: "ask"; question: Question };

/** What all runs of a seed and the largest look into one may hold together: with the module below 32 MiB. */
export const MOST_BYTES = 24 * 2 ** 20;
/** Test sequences at the trained length; at a longer one as many fewer, so that each length has as many tokens. */
const TEST_SEQUENCES = 128;
/** Pieces of a slice at most: the clock may stand still. */
const MOST_PIECES = 500;
/** Characters written between two chances to stop. */
const CHARACTERS = 2;

/** Of the attention weights of the longest sequence, as the trainer hands them out. */
const lookBytes = ({ numLayers, numHeads, maxSeqLen }: FullRunConfig): number =>
  4 * numLayers * numHeads * maxSeqLen ** 2;

/** "round": each model has taken a step, or one has been tested. */
type Piece = { step: StepNews } | { test: TestNews } | "round" | "nothing";
type AnswerPiece = Answer | "nothing";

export class Work {
  readonly #trainer: Trainer;
  readonly #plan: Plan;
  readonly ready: Ready;
  #runs: Run[] = [];
  #seed = 0;

  /** Throws the sentence of a config that is none, and of models that need too much together. */
  constructor(trainer: Trainer, plan: Plan) {
    this.#trainer = trainer;
    this.#plan = plan;
    const runs = plan.models.reduce((sum, config) => sum + trainer.runBytes(config), 0);
    const looks = plan.models.map(({ task, ...config }) =>
      lookBytes({ ...trainer.studyConfig(task), ...config }),
    );
    const bytes = runs + Math.max(...looks);
    if (bytes > MOST_BYTES) {
      const mebibytes = (count: number) => `${(count / 2 ** 20).toFixed(1)} MiB`;
      const models = plan.models.length === 1 ? "one model" : `${plan.models.length} models`;
      throw new RangeError(
        `${models} of this size and a look inside need ${mebibytes(bytes)}, and at most ${mebibytes(MOST_BYTES)} are given: ` +
          "choose a smaller batch, length or d_model, fewer layers or fewer encodings",
      );
    }
    this.#begin(plan.seeds[0] ?? 0);
    const task = plan.models[0]?.task ?? "echo";
    this.ready = {
      kind: "ready",
      simd: trainer.simd,
      twin: trainer.twin,
      symbols: trainer.symbols(task),
      languageWords: trainer.languageWords(),
      numParameters: this.#runs.map(({ numParameters }) => numParameters),
    };
  }

  get batch(): number {
    return this.#runs[0]?.config.batch ?? 0;
  }

  #begin(seed: number): void {
    this.free();
    this.#seed = seed;
    for (const config of this.#plan.models) this.#runs.push(this.#trainer.createRun({ ...config, seed }));
  }

  free(): void {
    for (const run of this.#runs.splice(0)) run.free();
  }

  /** Trains and tests the models of each seed; those of the last stay. */
  *pieces(): Generator<Piece, void> {
    for (const seed of this.#plan.seeds) {
      if (seed !== this.#seed) this.#begin(seed);
      yield* this.#train();
      for (const [test, { model, ropeType }] of this.#plan.tests.entries()) {
        const run = this.#runs[model];
        if (run && !run.metrics().diverged) yield* this.#test(run, test, ropeType);
      }
    }
  }

  *#train(): Generator<Piece, void> {
    for (let moving = true; moving; ) {
      moving = false;
      for (const [model, run] of this.#runs.entries()) {
        const { finished, diverged } = run.metrics();
        if (finished || diverged) continue;
        const { losses, accuracies, ...after } = run.step();
        moving ||= !after.finished && !after.diverged;
        const [loss, accuracy] = [losses[0], accuracies[0]];
        const taken = loss === undefined || accuracy === undefined ? {} : { loss, accuracy };
        yield { step: { seed: this.#seed, model, ...taken, diverged: after.diverged } };
      }
      yield "round";
    }
  }

  *#test(run: Run, test: number, ropeType: TestScaling): Generator<Piece, void> {
    for (const multiple of this.#plan.multiples) {
      const seqLen = multiple * run.config.seqLen;
      let [loss, right, asked] = [0, 0, 0];
      for (let first = 0; first < Math.max(1, TEST_SEQUENCES / multiple); first++) {
        const one = run.evaluate(seqLen, { ropeType, first, count: 1 });
        // a sequence may ask for nothing: its means are none
        if (one.asked > 0) {
          loss += one.loss * one.asked;
          right += Math.round(one.accuracy * one.asked);
          asked += one.asked;
        }
        yield "nothing";
      }
      yield {
        test: { seed: this.#seed, test, multiple, loss: loss / asked, accuracy: right / asked, asked },
      };
    }
    yield "round";
  }

  *answer({ id, what, model, ropeType, seqLen, index }: Question): Generator<AnswerPiece, void> {
    const run = this.#runs[model];
    if (!run) return;
    const { step } = run.metrics();
    if (what === "positions") {
      yield { id, step, table: run.weight("positionTable") };
    } else if (what === "text") {
      yield* this.#write(run, { id, step }, ropeType, index);
    } else {
      const { tokens, targets, answers } = run.example(seqLen, { ropeType, index });
      yield "nothing";
      const weights = what === "attention" ? run.attention(tokens, { ropeType }).weights : new Float32Array();
      yield { id, step, sequence: { tokens, targets, answers, weights } };
    }
  }

  *#write(
    run: Run,
    { id, step }: { id: number; step: number },
    ropeType: TestScaling,
    index: number,
  ): Generator<AnswerPiece, void> {
    const { seqLen, maxSeqLen } = run.config;
    let { tokens } = run.example(seqLen, { index });
    while (tokens.length < maxSeqLen) {
      const count = Math.min(CHARACTERS, maxSeqLen - tokens.length);
      tokens = run.generate(tokens, count, { ropeType, finalLength: maxSeqLen, seed: index });
      yield "nothing";
    }
    yield { id, step, text: { tokens, given: seqLen } };
  }
}

/** Does the work in slices of so many milliseconds, as it is ordered to, and tells what each has brought. */
export class Slices {
  readonly #work: Work;
  readonly #pieces: Generator<Piece, void>;
  readonly #milliseconds: number;
  readonly #later: (run: () => void) => void;
  readonly #tell: (told: Told) => void;
  #answering: Generator<AnswerPiece, void> | undefined;
  #mode: "go" | "rest" | "round" = "rest";
  /** Whether anything was done since the last order: a rest may have come just before the end of a round. */
  #moved = false;
  #asked = false;
  #ended = false;
  #done = false;
  #examples = 0;
  #seconds = 0;
  #stepping = 0;
  #longest = 0;

  /** `later` runs a slice once everything else has had its turn. */
  constructor(
    work: Work,
    {
      milliseconds,
      later,
      tell,
    }: {
      milliseconds: number;
      later: (run: () => void) => void;
      tell: (told: Told) => void;
    },
  ) {
    this.#work = work;
    this.#pieces = work.pieces();
    this.#milliseconds = milliseconds;
    this.#later = later;
    this.#tell = tell;
    tell(work.ready);
  }

  order(order: Order): void {
    if (order.kind === "ask") this.#answering = this.#work.answer(order.question);
    else {
      this.#mode = order.kind;
      this.#moved = false;
    }
    this.#ask();
  }

  /** Nothing more is done or told, and the memory is free. */
  end(): void {
    this.#ended = true;
    this.#work.free();
  }

  get #busy(): boolean {
    return !this.#ended && (this.#answering !== undefined || (this.#mode !== "rest" && !this.#done));
  }

  #ask(): void {
    if (this.#asked || !this.#busy) return;
    this.#asked = true;
    const begun = performance.now();
    const trains = this.#mode !== "rest" && !this.#done;
    this.#later(() => {
      this.#asked = false;
      if (!this.#busy) return;
      this.#slice(begun, trains);
      this.#ask();
    });
  }

  #slice(asked: number, trains: boolean): void {
    const begun = performance.now();
    const news: Brought = { steps: [], tests: [] };
    try {
      const fits = (now: number) => now === begun || now - begun + this.#longest < this.#milliseconds;
      for (let [now, pieces] = [begun, 0]; now >= begun && pieces < MOST_PIECES && fits(now); pieces++) {
        const end = this.#one(news);
        const after = performance.now();
        this.#longest = Math.max(0.9 * this.#longest, after - now);
        now = after;
        if (end) break;
      }
    } catch (error) {
      this.end();
      this.#tell({ kind: "failed", sentence: error instanceof Error ? error.message : String(error) });
      return;
    }
    // the wait for its turn is part of what training takes
    const gone = Math.max(0, performance.now() - asked) / 1000;
    if (trains) this.#seconds += gone;
    if (news.steps.length > 0) this.#stepping += gone;
    this.#tell({
      kind: "news",
      ...news,
      examples: this.#examples,
      seconds: this.#seconds,
      stepping: this.#stepping,
      done: this.#done,
    });
  }

  /** One piece; true if no other may follow in this slice. Questions go first. */
  #one(news: Brought): boolean {
    if (this.#answering) return this.#answerOn(this.#answering, news);
    const { value, done } = this.#pieces.next();
    if (done) {
      this.#done = true;
      return true;
    }
    if (value === "round") {
      if (this.#mode === "round" && this.#moved) this.#mode = "rest";
      return !this.#busy;
    }
    this.#moved = true;
    if (value === "nothing") return false;
    if ("test" in value) news.tests.push(value.test);
    else {
      if (value.step.loss !== undefined) this.#examples += this.#work.batch;
      news.steps.push(value.step);
    }
    return false;
  }

  #answerOn(answering: Generator<AnswerPiece, void>, news: Brought): boolean {
    const { value, done } = answering.next();
    if (!done && value === "nothing") return false;
    if (value && value !== "nothing") news.answer = value;
    this.#answering = undefined;
    return true;
  }
}
