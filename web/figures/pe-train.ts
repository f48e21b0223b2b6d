// Tiny transformers that differ only in their positional encoding, trained while the reader watches.

import { type CSSResultGroup, css, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { NamedArray } from "../draw/npy.ts";
import { quoted } from "../inspect/words.ts";
import type { Posenc } from "../posenc.ts";
import type { RunConfig } from "../train.ts";
import { choice, controlStyles, slider, toggle } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { fixed } from "./format.ts";
import type { State } from "./state.ts";
import { blocks, CHART_HEIGHT, type Chart, curveChart, legend, lengthChart } from "./training-charts.ts";
import { cells, LOOKS, type Look, lookStyles, lookView, paintLook } from "./training-look.ts";
import {
  COLUMNS,
  type Column,
  type ColumnName,
  columnsOf,
  leaders,
  MULTIPLES,
  recorded,
  type Spread,
  TASK_WORDS,
  TASKS,
} from "./training-models.ts";
import { comparison, type Measure, mean, Results } from "./training-results.ts";
import { SLICE, startThread, type Thread } from "./training-thread.ts";
import {
  caveat,
  complete,
  divergedWords,
  findings,
  type Row,
  said,
  score,
  scoreWords,
  seedsWords,
  summary,
} from "./training-words.ts";
import type { Answer, Question, Ready, Told } from "./training-work.ts";

const WIDTHS = ["16", "32", "48", "64"] as const;
const HEADS = ["1", "2", "4"] as const;
const LAYERS = ["study", "1", "2"] as const;
const MEASURES = ["usual", "accuracy", "loss"] as const;
const VIEWS = ["attention", "answers", "positions", "text"] as const;
const LENGTHS = ["1", "2", "4", "8"] as const;

const fields = {
  task: { kind: "choice", fallback: "which-side", choices: TASKS },
  encodings: {
    kind: "text",
    fallback: "none causal sinusoidal learned rope pi ntk alibi one-sided t5",
    maxLength: 120,
  },
  ranking: { kind: "text", fallback: "", maxLength: 120 },
  reveal: { kind: "flag", fallback: false },
  measure: { kind: "choice", fallback: "usual", choices: MEASURES },
  seed: { kind: "integer", fallback: 0, min: 0, max: 999_999 },
  seeds: { kind: "integer", fallback: 1, min: 1, max: 10 },
  steps: { kind: "integer", fallback: 0, min: 0, max: 5000 },
  "learning-rate": { kind: "number", fallback: 0, min: 0, max: 10 },
  "d-model": { kind: "choice", fallback: "48", choices: WIDTHS },
  "num-heads": { kind: "choice", fallback: "4", choices: HEADS },
  "num-layers": { kind: "choice", fallback: "study", choices: LAYERS },
  "seq-len": { kind: "integer", fallback: 32, min: 8, max: 64 },
  batch: { kind: "integer", fallback: 16, min: 1, max: 64 },
  "echo-offset": { kind: "integer", fallback: 3, min: 1, max: 7 },
  look: { kind: "choice", fallback: "attention", choices: VIEWS },
  column: { kind: "choice", fallback: "rope", choices: COLUMNS },
  length: { kind: "choice", fallback: "1", choices: LENGTHS },
  index: { kind: "integer", fallback: 0, min: 0, max: 15 },
} as const;
type TrainState = State<typeof fields>;

/** The picture follows training at intervals of so many milliseconds: the page has other things to draw. */
const PERIOD = 100;

/** One press of Train, from its beginning until the next or until what it was trained with changes. */
interface Training {
  /** The settings it was begun with. */
  key: string;
  results: Results;
  phase: "loading" | "going" | "resting" | "done" | "stopped" | "failed";
  abort: AbortController;
  thread?: Thread;
  /** Why it is on the page's own thread. */
  fallback?: string | undefined;
  ready?: Ready;
  /** Why it stopped or failed. */
  sentence: string;
  examples: number;
  seconds: number;
  stepping: number;
  /** The answer shown, and the question that is on its way. */
  answered?: { question: Question; answer: Answer } | undefined;
  asked?: Question | undefined;
}

interface Model {
  core: Posenc;
  config: { task: TrainState["task"] } & Partial<RunConfig>;
  steps: number;
  trained: number;
  measure: Measure;
  isStudy: boolean;
  /** The study has measured the same. */
  isRecorded: boolean;
  /** The columns chosen, of those that the task has. */
  columns: readonly Column[];
  offered: readonly Column[];
  ranking: readonly ColumnName[];
  /** What is in the length chart: what the run showed, else what the study recorded, else nothing. */
  source: "run" | "study" | "none";
  spreads: readonly (readonly (Spread | undefined)[])[];
  rows: readonly Row[];
  /** The run has results that wait for a ranking. */
  waits: boolean;
  training: Training | undefined;
}

/** Names separated by spaces, each once. */
function namesIn(field: string, text: string): ColumnName[] {
  const names = text.split(/[\s,]+/).filter(Boolean);
  const unknown = names.find((name) => !COLUMNS.includes(name as ColumnName));
  if (unknown) throw new Error(`${field} must hold some of ${COLUMNS.join(", ")}, got ${quoted(unknown)}`);
  return [...new Set(names as ColumnName[])];
}

/**
 * Tiny transformers that differ only in their positional encoding, trained in the page and tested at longer lengths.
 *
 * @attr task - which-side: before or after the verb; language: the next character; echo: a symbol so many places back; induction: what followed the last time.
 * @attr encodings - What is trained, separated by spaces: none, causal, sinusoidal, learned, rope, pi, ntk, alibi, one-sided, t5.
 * @attr ranking - The reader’s prediction, best at 8 times the trained length first, by the same names.
 * @attr reveal - Whether results are shown before all is ranked; before training, those of the recorded study.
 * @attr measure - What the charts show; usual: the loss for the language, else the accuracy.
 * @attr seed - Of data and initial weights.
 * @attr seeds - How many seeds are trained, one after the other.
 * @attr steps - Of training; 0: as in the study.
 * @attr learning-rate - Of AdamW; 0: as in the study.
 * @attr d-model - Dimensions of the models.
 * @attr num-heads - Heads of each layer.
 * @attr num-layers - Layers; study: as in the study.
 * @attr seq-len - Trained length.
 * @attr batch - Sequences in a step.
 * @attr echo-offset - How far back the echo is.
 * @attr look - What is looked at inside a model.
 * @attr column - The model that is looked at.
 * @attr length - The length of the sequence looked at, as a multiple of the trained one.
 * @attr index - The test sequence looked at, from 0.
 * @cssprop --pe-none - Colour of no encoding.
 * @cssprop --pe-sinusoidal - Colour of the sinusoidal encoding.
 * @cssprop --pe-learned - Colour of learned positions.
 * @cssprop --pe-rope - Colour of RoPE.
 * @cssprop --pe-alibi - Colour of ALiBi.
 * @cssprop --pe-t5 - Colour of T5.
 * @cssprop --pe-q - Colour of wrong answers.
 * @cssprop --pe-pos - Colour of right answers.
 */
export class PeTrain extends PeFigure<typeof fields, Model> {
  static override fields = fields;

  protected readonly heading = "Train them and see";

  #training: Training | undefined;
  #questions = 0;
  /** When news was last drawn. */
  #drawn = 0;
  #view: Window | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#view = this.ownerDocument.defaultView;
    this.#view?.addEventListener("pagehide", this.#leave);
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#view?.removeEventListener("pagehide", this.#leave);
    if (!this.#training) return;
    this.#drop();
    this.recompute(); // once it is back
  }

  #leave = (): void => this.#stop("Stopped, because the page was left.");

  protected compute(core: Posenc, state: TrainState): Model {
    const { task } = state;
    const { study, measure: usual } = TASK_WORDS[task];
    const measure: Measure = state.measure === "usual" ? usual : state.measure;
    const numHeads = Number(state["num-heads"]);
    const seqLen = state["seq-len"];
    const config: Model["config"] = {
      task,
      dModel: Number(state["d-model"]),
      numHeads,
      numLayers: state["num-layers"] === "study" ? study.numLayers : Number(state["num-layers"]),
      seqLen,
      maxSeqLen: Math.max(...MULTIPLES) * seqLen,
      batch: state.batch,
      steps: state.steps || study.steps,
      learningRate: state["learning-rate"] || study.learningRate,
      echoOffset: state["echo-offset"],
    };
    const chosen = namesIn("encodings", state.encodings);
    const ranking = namesIn("ranking", state.ranking);
    const offered = columnsOf(task, numHeads);
    const columns = offered.filter(({ name }) => chosen.includes(name));
    if (columns.length === 0) {
      const names = offered.map(({ name }) => name).join(", ");
      throw new Error(`encodings must hold at least one of ${names}`);
    }
    const key = JSON.stringify([config, state.seed, state.seeds]);
    if (this.#training && this.#training.key !== key) this.#drop();
    const training = this.#training;
    const results = training?.results;
    const ranked = columns.every(({ name }) => ranking.includes(name));
    const seen = state.reveal || ranked;
    const isStudy =
      JSON.stringify({ ...config, echoOffset: 3 }) ===
        JSON.stringify({
          ...config,
          ...{ dModel: 48, numHeads: 4, seqLen: 32, maxSeqLen: 256, batch: 16, ...study, echoOffset: 3 },
        }) &&
      (task !== "echo" || config.echoOffset === 3);
    const isRecorded = isStudy && measure === usual;
    const source = results?.tested
      ? seen
        ? "run"
        : "none"
      : state.reveal && !training && isRecorded
        ? "study"
        : "none";
    const spreads = columns.map((column) => spreadsOf(column, source, results, task, measure));
    return {
      core,
      config,
      steps: config.steps as number,
      trained: seqLen,
      measure,
      isStudy,
      isRecorded,
      columns,
      offered,
      ranking: ranking.filter((name) => columns.some((column) => column.name === name)),
      source,
      spreads,
      rows: complete(columns, (i) => [...(spreads[i] ?? [])]),
      waits: results?.tested === true && !seen,
      training,
    };
  }

  // ------------------------------------------------------------------------------------------------ training

  #train = (): void => {
    const training = this.#training;
    if (training?.phase === "resting") {
      training.phase = "going";
      training.thread?.order({ kind: "go" });
      this.requestUpdate();
    } else this.#begin("go");
  };

  #step = (): void => {
    const training = this.#training;
    if (training?.phase === "going" || training?.phase === "resting") {
      training.phase = "resting";
      training.thread?.order({ kind: "round" });
      this.requestUpdate();
    } else if (training?.phase !== "loading" && training?.phase !== "done") this.#begin("round");
  };

  #pause = (): void => {
    const training = this.#training;
    if (training?.phase !== "going") return;
    training.phase = "resting";
    training.thread?.order({ kind: "rest" });
    this.requestUpdate();
  };

  /** Ends the work and frees its memory; what was seen stays. */
  #stop = (sentence: string): void => {
    const training = this.#training;
    if (!training || training.abort.signal.aborted) return;
    this.#end(training);
    if (training.phase !== "done") Object.assign(training, { phase: "stopped", sentence });
    this.recompute();
  };

  #end(training: Training): void {
    training.abort.abort();
    training.thread?.end();
    delete training.thread;
    delete training.asked;
    delete training.answered;
  }

  #drop(): void {
    if (this.#training) this.#end(this.#training);
    this.#training = undefined;
  }

  async #begin(order: "go" | "round"): Promise<void> {
    if (!this.model) return;
    this.keepShown();
    this.#drop();
    const { config, columns } = this.model;
    const { seed, seeds } = this.state;
    const list = Array.from({ length: seeds }, (_, i) => seed + i);
    const training: Training = {
      key: JSON.stringify([config, seed, seeds]),
      results: new Results(comparison(columns, config, list)),
      phase: "loading",
      abort: new AbortController(),
      sentence: "",
      examples: 0,
      seconds: 0,
      stepping: 0,
    };
    this.#training = training;
    this.recompute();
    const { signal } = training.abort;
    try {
      const { plan } = training.results.comparison;
      const thread = await startThread(plan, (told) => this.#hear(training, told), signal);
      if (signal.aborted) {
        thread.end();
        return;
      }
      training.thread = thread;
      training.fallback = thread.fallback;
      if (training.phase !== "loading") return; // it could not begin, and has said why
      training.phase = order === "go" ? "going" : "resting";
      thread.order({ kind: order });
    } catch (error) {
      if (signal.aborted) return;
      const words = error instanceof Error ? error.message : String(error);
      Object.assign(training, { phase: "failed", sentence: words });
    }
    this.recompute();
  }

  #hear(training: Training, told: Told): void {
    if (told.kind === "ready") training.ready = told;
    else if (told.kind === "failed") {
      this.#end(training);
      Object.assign(training, { phase: "failed", sentence: told.sentence });
    } else {
      training.results.take(told);
      const { examples, seconds, stepping } = told;
      Object.assign(training, { examples, seconds, stepping });
      if (told.answer && told.answer.id === training.asked?.id) {
        training.answered = { question: training.asked, answer: told.answer };
        training.asked = undefined;
      }
      if (told.done) training.phase = "done";
      // more is on its way
      const now = performance.now();
      if (training.phase === "going" && !told.answer && Math.abs(now - this.#drawn) < PERIOD) return;
      this.#drawn = now;
    }
    this.recompute();
  }

  /** What is looked at, and of which column; undefined where that model has no such thing. */
  #looked(model: Model, training: Training): { column: Column; question: Omit<Question, "id"> } | undefined {
    const { columns, plan } = training.results.comparison;
    const { look, length, index } = this.state;
    const wanted = look === "positions" ? "learned" : this.state.column;
    const found = columns.findIndex(({ name }) => name === wanted);
    if (look === "positions" && found < 0) return undefined;
    if (look === "text" && model.config.task !== "language") return undefined;
    const at = Math.max(0, found);
    const [column, test] = [columns[at], plan.tests[at]];
    if (!column || !test) return undefined;
    const seqLen = Number(length) * model.trained;
    return { column, question: { what: look, ...test, seqLen, index } };
  }

  /** Asks for what is looked at where the answer shown is another's, or old. */
  #ask(model: Model): void {
    const { training } = model;
    if (!training?.thread || training.asked || training.phase === "loading") return;
    const looked = this.#looked(model, training);
    if (!looked) return;
    const { question } = looked;
    const { answered, results } = training;
    if (answered && sameQuestion(answered.question, question)) {
      const age = results.step - answered.answer.step;
      const isOver = training.phase !== "going" || results.step === model.steps;
      const patience = isOver ? 1 : question.what === "text" ? model.steps / 3 : model.steps / 30;
      // of the next seed, everything is new
      if (age >= 0 && age < patience) return;
    }
    training.asked = { ...question, id: ++this.#questions };
    training.thread.order({ kind: "ask", question: training.asked });
  }

  protected override draw(model: Model): void {
    this.#ask(model);
    const look = this.#look(model);
    if (look) paintLook(this.renderRoot, model.core, look);
  }

  // ------------------------------------------------------------------------------------------------- picture

  get #beside(): boolean {
    return this.width >= 680;
  }

  protected picture(model: Model, state: TrainState): TemplateResult {
    return html`
      ${this.#task(model, state)} ${this.#choices(model, state)} ${this.#prediction(model, state)}
      ${this.#buttons(model, state)} ${this.#charts(model, state)} ${this.#words(model)} ${this.#inside(model, state)}
    `;
  }

  #task({ config }: Model, state: TrainState): TemplateResult {
    const { says, example } = TASK_WORDS[state.task];
    const { tokens, answers } = example;
    const offset = state["echo-offset"];
    const wanted = state.task === "echo" ? tokens.map((_, i) => tokens[i - offset] ?? null) : answers;
    const places = state.task === "echo" ? ` Here: ${offset}.` : "";
    return html`
      <div class="task">
        <div class="controls">
          ${choice({
            field: "task",
            label: "Task",
            value: state.task,
            options: TASKS.map((name) => [name, TASK_WORDS[name].name] as const),
            onInput: (task) => this.set({ task: task as TrainState["task"] }),
          })}
        </div>
        <div>
          <p>${says}${places}</p>
          ${cells(tokens, wanted, wanted, `An example of the task, with the right answers (${config.task})`)}
        </div>
      </div>
    `;
  }

  #choices({ offered, columns, training }: Model, state: TrainState): TemplateResult {
    const chosen = namesIn("encodings", state.encodings);
    const change = (name: ColumnName, on: boolean) => {
      const next = COLUMNS.filter((one) => (one === name ? on : chosen.includes(one)));
      this.set({ encodings: next.join(" ") });
    };
    const missing = training?.results.comparison.columns
      ? columns.filter(({ name }) => !training.results.comparison.columns.some((one) => one.name === name))
      : [];
    return html`
      <fieldset class="columns" data-field="encodings">
        <legend>What is compared</legend>
        ${offered.map((column) => {
          const on = columns.includes(column);
          return html`
            <label class="series ${column.colour}">
              <input
                type="checkbox"
                .checked=${live(on)}
                ?disabled=${on && columns.length === 1}
                @change=${(event: Event) => change(column.name, (event.target as HTMLInputElement).checked)}
              />
              <svg width="28" height="10" aria-hidden="true">
                <line class="curve" x1="0" x2="28" y1="5" y2="5" stroke-dasharray=${column.dashes || nothing}></line>
              </svg>
              <span>${column.label}</span>
            </label>
          `;
        })}
      </fieldset>
      ${
        missing.length > 0
          ? html`<p class="missing">Not in this run: ${missing.map(({ label }) => label).join(", ")}. Train again to have ${missing.length === 1 ? "it" : "them"}.</p>`
          : nothing
      }
    `;
  }

  #prediction(model: Model, state: TrainState): TemplateResult {
    const { columns, ranking, source } = model;
    const known = source !== "none";
    const press = (name: ColumnName) => {
      const rest = ranking.filter((one) => one !== name);
      this.set({ ranking: (rest.length < ranking.length ? rest : [...ranking, name]).join(" ") });
    };
    const result = source === "run" ? score(ranking, model.rows, model.measure) : undefined;
    return html`
      <div class="prediction">
        <fieldset data-field="ranking">
          <legend>
            Predict first: which is best at 8× the trained length? Press them in order, the best first; press again to take
            one back.
          </legend>
          ${columns.map(({ name, label, colour }) => {
            const at = ranking.indexOf(name) + 1;
            return html`
              <button
                type="button"
                class="rank ${colour}"
                aria-pressed=${at > 0 ? "true" : "false"}
                ?disabled=${known}
                @click=${() => press(name)}
              >
                <b>${at > 0 ? `${at}.` : "–"}</b> ${label}
              </button>
            `;
          })}
        </fieldset>
        ${
          result && ranking.length > 1
            ? html`<p class="score">${scoreWords(result, model.measure)}</p>`
            : nothing
        }
        ${toggle({
          field: "reveal",
          label: model.training
            ? "show the results before all are ranked"
            : "show the results before all are ranked; until you train, those that the study recorded",
          checked: state.reveal,
          onInput: (reveal) => this.set({ reveal }),
        })}
      </div>
    `;
  }

  #buttons(model: Model, state: TrainState): TemplateResult {
    const { training } = model;
    const phase = training?.phase;
    const runs = phase === "going" || phase === "loading";
    return html`
      <div class="run">
        <div class="buttons">
          ${
            phase === "going"
              ? html`<button type="button" class="main" @click=${this.#pause}>Pause</button>`
              : html`<button type="button" class="main" ?disabled=${runs} @click=${this.#train}>
                  ${phase === "resting" ? "Train on" : "Train"}
                </button>`
          }
          <button type="button" ?disabled=${phase === "loading" || phase === "done"} @click=${this.#step}>Step</button>
          <button
            type="button"
            ?disabled=${!runs && phase !== "resting"}
            @click=${() =>
              this.#stop(
                training?.results.tested
                  ? "Stopped. The curves and what was tested stay; the models are gone."
                  : "Stopped. The curves stay; the models are gone, so they are not tested.",
              )}
          >
            Stop
          </button>
        </div>
        <p class="status">${this.#status(model)}</p>
      </div>
      ${this.#settings(model, state)}
    `;
  }

  #status({ training, steps, columns, config }: Model): string {
    if (!training)
      return `${models(leaders(columns).length)}, ${steps} steps each, on the same batches of ${config.batch} sequences. Nothing is trained yet.`;
    const { phase, results, ready, examples, seconds, stepping, fallback, sentence } = training;
    if (phase === "loading") return "Loading the trainer …";
    if (phase === "failed") return `Training could not go on: ${sentence}`;
    const { seeds: done } = results;
    const { plan } = results.comparison;
    const which =
      plan.seeds.length > 1
        ? `seed ${done.at(-1) ?? plan.seeds[0]} (${Math.max(1, done.length)} of ${plan.seeds.length}), `
        : "";
    const at = `${which}step ${results.step} of ${steps}`;
    const rate = stepping > 0 && examples > 0 ? ` · ${fixed(examples / stepping, 0)} examples/s` : "";
    const by = ready?.twin === undefined ? "" : `, by JavaScript, slower but as exact: ${ready.twin}`;
    const place =
      fallback === undefined
        ? ready
          ? ` · in a worker${by || `, WebAssembly ${ready.simd ? "with" : "without"} SIMD`}`
          : ""
        : ` · on the page’s own thread in slices of ${SLICE} ms, because no worker could start (${fallback})${by}`;
    if (phase === "stopped") return `${at}. ${sentence}`;
    if (phase === "done") return `Done after ${fixed(seconds, 1)} s: ${at}${rate}${place}`;
    const testing = results.step === steps ? ", testing at longer lengths" : "";
    if (phase === "resting") return `Paused at ${at}${testing}${rate}${place}`;
    const rest = results.left(steps) * (config.batch as number);
    const left =
      examples > 0 && rest > 0
        ? ` · about ${fixed(Math.ceil((stepping * rest) / examples), 0)} s of training left`
        : "";
    return `${at}${testing}${rate}${left}${place}`;
  }

  #settings({ steps, config }: Model, state: TrainState): TemplateResult {
    const sizes = (values: readonly string[]) => values.map((value) => [value, value] as const);
    return html`
      <details class="settings">
        <summary>Seed, sizes and learning rate</summary>
        <div class="controls">
          ${slider({ field: "seed", label: "seed", value: state.seed, min: 0, max: 100, most: fields.seed.max, onInput: (seed) => this.set({ seed }) })}
          ${slider({ field: "seeds", label: "seeds, one after the other", value: state.seeds, min: 1, max: 10, onInput: (seeds) => this.set({ seeds }) })}
          ${slider({ field: "steps", label: "steps", value: steps, min: 10, max: 1000, step: 10, most: fields.steps.max, onInput: (value) => this.set({ steps: value }) })}
          ${slider({
            field: "learning-rate",
            label: "learning rate",
            value: config.learningRate as number,
            min: 0.0001,
            max: 10,
            logarithmic: true,
            onInput: (value) => this.set({ "learning-rate": value }),
          })}
          ${slider({ field: "seq-len", label: "trained length", symbol: "pos", value: state["seq-len"], min: 8, max: 64, onInput: (value) => this.set({ "seq-len": value }) })}
          ${slider({ field: "batch", label: "batch, in sequences", value: state.batch, min: 1, max: 64, onInput: (batch) => this.set({ batch }) })}
          ${choice({ field: "d-model", label: "d_model", symbol: "dim", value: state["d-model"], options: sizes(WIDTHS), onInput: (value) => this.set({ "d-model": value as TrainState["d-model"] }) })}
          ${choice({ field: "num-heads", label: "heads", value: state["num-heads"], options: sizes(HEADS), onInput: (value) => this.set({ "num-heads": value as TrainState["num-heads"] }) })}
          ${choice({
            field: "num-layers",
            label: "layers",
            value: state["num-layers"],
            options: [
              ["study", `as in the study: ${TASK_WORDS[state.task].study.numLayers}`],
              ...sizes(["1", "2"]),
            ],
            onInput: (value) => this.set({ "num-layers": value as TrainState["num-layers"] }),
          })}
          ${
            state.task === "echo"
              ? slider({
                  field: "echo-offset",
                  label: "echo: places back",
                  value: state["echo-offset"],
                  min: 1,
                  max: 7,
                  onInput: (value) => this.set({ "echo-offset": value }),
                })
              : nothing
          }
        </div>
        <p>A change here ends what is running and clears it.</p>
      </details>
    `;
  }

  #charts(model: Model, state: TrainState): TemplateResult {
    const { training, columns, measure, steps, trained, source, spreads, config, isStudy, isRecorded } =
      model;
    const width = this.#beside ? Math.floor((this.width - 40) / 2) : this.width;
    const results = training?.results;
    const seed = results?.seeds.at(-1);
    const curves =
      seed === undefined || !results
        ? []
        : leaders(columns).flatMap((column) => {
            const curve = results.curve(seed, column);
            return curve ? [{ column, curve }] : [];
          });
    const rows = columns.map((column, i) => ({ column, spreads: spreads[i] ?? [] }));
    const most = Math.max(
      0,
      ...(measure === "loss"
        ? rows.flatMap((row) => row.spreads.flatMap((one) => (one ? [one.mean + (one.deviation ?? 0)] : [])))
        : []),
    );
    const chart: Chart = {
      width,
      measure,
      classes: TASK_WORDS[config.task].classes,
      most: Number.isFinite(most) ? most : 0,
    };
    const names = legend(columns, this.width);
    const nothingYet =
      source !== "none"
        ? model.rows.length > 0
          ? []
          : ["Nothing chosen is tested."]
        : model.waits
          ? ["There are results.", "Rank all, or tick “show the results”."]
          : training
            ? [training.phase === "done" ? "All diverged: nothing to test." : "Tested after the last step."]
            : state.reveal && !isRecorded
              ? [isStudy ? `The study recorded no ${measure}.` : "The study had other settings."]
              : ["Predict, then train."];
    const what = measure === "accuracy" ? "Right answers" : "Loss";
    return html`
      <div class="pictures ${this.#beside ? "beside" : ""}" data-picture>
        <svg width=${width} height=${CHART_HEIGHT} role="img" aria-label="${what} of each model at each step of training">
          ${curveChart(chart, steps, curves, curves.length > 0 ? [] : ["Press Train."])}
        </svg>
        <svg width=${width} height=${CHART_HEIGHT} role="img" aria-label="${what} at 1, 2, 4 and 8 times the trained length">
          ${lengthChart(chart, trained, rows, { heading: source === "study" ? "recorded study" : "by test length", words: nothingYet })}
        </svg>
        <svg class="legend" width=${this.width} height=${names.height} aria-hidden="true">${names.drawing}</svg>
      </div>
      <div class="controls">
        ${choice({
          field: "measure",
          label: "Shown",
          value: state.measure,
          options: [
            ["usual", `as usual for the task: ${TASK_WORDS[config.task].measure}`],
            ["accuracy", "accuracy"],
            ["loss", "loss"],
          ],
          onInput: (value) => this.set({ measure: value as TrainState["measure"] }),
        })}
      </div>
    `;
  }

  #words(model: Model): TemplateResult {
    const { source, rows, training, measure, config, isStudy } = model;
    const diverged = training?.results.diverged ?? [];
    const sentences = [
      ...(diverged.length > 0 ? [divergedWords(diverged, config.learningRate as number)] : []),
      ...(source === "run" && rows.length > 0
        ? [...findings(rows, config.task, measure), caveat(seedsOf(model.spreads), isStudy)]
        : []),
    ];
    if (sentences.length === 0) return html``;
    return html`
      <ul class="findings">${sentences.map((sentence) => html`<li>${sentence}</li>`)}</ul>
    `;
  }

  /** What is shown of the inside, once a model has answered. */
  #look(model: Model): Look | undefined {
    const { training, config, trained } = model;
    const looked = training && this.#looked(model, training);
    if (!training?.answered || !training.ready || !looked) return undefined;
    if (!sameQuestion(training.answered.question, looked.question)) return undefined;
    const classes = config.task === "which-side" ? ["before", "after"] : training.ready.symbols;
    return {
      ...training.answered,
      label: looked.column.label,
      ready: training.ready,
      numHeads: config.numHeads as number,
      numLayers: config.numLayers as number,
      dModel: config.dModel as number,
      trained,
      classes,
      width: this.width,
    };
  }

  #inside(model: Model, state: TrainState): TemplateResult {
    const { training, config } = model;
    if (!training?.thread || training.phase === "loading") return html``;
    const { columns } = training.results.comparison;
    const look = this.#look(model);
    const looked = this.#looked(model, training);
    const shown = looked?.column.name ?? columns[0]?.name ?? "none";
    const none =
      state.look === "positions"
        ? "No model of this run has a learned table: tick “learned” and train again."
        : "Only the tiny language is text: choose it as the task to see what its models write.";
    const sequence = state.look === "attention" || state.look === "answers";
    return html`
      <div class="inside">
        <h4>A look inside</h4>
        <div class="controls">
          ${choice({ field: "look", label: "What", value: state.look, options: LOOKS, onInput: (value) => this.set({ look: value as TrainState["look"] }) })}
          ${
            state.look === "positions"
              ? nothing
              : choice({
                  field: "column",
                  label: "Model",
                  value: shown,
                  options: columns.map(({ name, label }) => [name, label] as const),
                  onInput: (value) => this.set({ column: value as ColumnName }),
                })
          }
          ${
            sequence
              ? choice({
                  field: "length",
                  label: "Length of the sequence",
                  value: state.length,
                  options: MULTIPLES.map(
                    (multiple) => [String(multiple), `${multiple}×: ${multiple * model.trained}`] as const,
                  ),
                  onInput: (value) => this.set({ length: value as TrainState["length"] }),
                })
              : nothing
          }
          ${
            state.look === "positions"
              ? nothing
              : slider({
                  field: "index",
                  label: "test sequence",
                  value: state.index,
                  min: 0,
                  max: 15,
                  onInput: (index) => this.set({ index }),
                })
          }
        </div>
        ${looked && config.task ? (look ? lookView(look) : html`<p>Asking the model …</p>`) : html`<p>${none}</p>`}
      </div>
    `;
  }

  // --------------------------------------------------------------------------------------- sentences, numbers

  protected takeaway({ source, rows, measure, training, columns, steps, config, waits }: Model): string {
    const task = TASK_WORDS[config.task].name.slice(3).toLowerCase();
    if (source === "study")
      return `Recorded in the study of the lesson, not trained here: ${summary(rows, measure)}`;
    if (source === "run" && rows.length > 0) return summary(rows, measure);
    if (source === "run") return "Nothing of what is chosen has been tested at every length.";
    const isOver = training?.phase === "done" || training?.phase === "stopped";
    if (waits)
      return `The ${isOver ? "" : "first "}results are in: rank the encodings, or tick “show the results”.`;
    const step = training?.results.step;
    if (training?.phase === "failed")
      return step
        ? `Training broke off after step ${step} of ${steps}: see what is said above.`
        : "Nothing was trained: see what is said above.";
    if (training?.phase === "stopped")
      return `Stopped at step ${step} of ${steps}: the curves stay, and no model has all its tests.`;
    if (training?.phase === "done") return "No model could be tested: all that were trained diverged.";
    const count = columns.length;
    if (training)
      return `The task is “${task}”: ${count} ways of telling positions, the same data and the same order of it.`;
    return (
      `Nothing is trained yet: ${count} ways of telling positions wait for ${steps} steps of “${task}”, ` +
      `with sequences of ${config.seqLen} symbols, and are then tested with up to ${config.maxSeqLen}.`
    );
  }

  protected dataTable(model: Model): DataTable {
    const { columns, measure, config, trained, steps, spreads, source, training } = model;
    const cell = (one: Spread | undefined) => {
      if (!one) return "–";
      const text = said(one.mean, measure);
      return one.deviation === null
        ? text
        : `${text} ± ${fixed(one.deviation, measure === "accuracy" ? 1 : 3)}`;
    };
    const what = measure === "accuracy" ? "right answers" : "loss in nats";
    const lengths = MULTIPLES.map((multiple) => `${multiple}× (${multiple * trained})`);
    const counts = seedsOf(spreads);
    const origin =
      counts.length === 0
        ? "nothing shown yet"
        : `${source === "study" ? "recorded study" : "this run"}, ${seedsWords(counts)}`;
    const seed = training?.results.seeds.at(-1);
    const { size } = blocks([], steps);
    const inTraining = (column: Column) => {
      const curve = seed === undefined ? undefined : training?.results.curve(seed, column);
      const last = (values: readonly number[] = []) => mean(values.slice(-size));
      return curve && curve.losses.length > 0
        ? [curve.losses.length, said(last(curve.losses), "loss"), said(last(curve.accuracies), "accuracy")]
        : ["–", "–", "–"];
    };
    const means = training && size > 1 ? `; in training, means of the last ${size} steps` : "";
    const live = training ? ["step", "loss in training", "right in training"] : [];
    return {
      caption: `${TASK_WORDS[config.task].name}: ${what} by test length; ${origin}${means}`,
      head: ["encoding", ...lengths, ...live],
      rows: columns.map((column, i) => [
        column.label,
        ...MULTIPLES.map((_, at) => cell(spreads[i]?.[at])),
        ...(training ? inTraining(column) : []),
      ]),
    };
  }

  /** A row for each length: of each column mean and standard deviation, which is 0 where one seed ran. */
  protected override array(model: Model): NamedArray {
    const { columns, measure, spreads, source } = model;
    const there = columns.flatMap((column, i) =>
      spreads[i]?.every(Boolean) ? [{ column, row: spreads[i] ?? [] }] : [],
    );
    return {
      name: source === "study" ? `recorded_${measure}` : `trained_${measure}`,
      shape: [MULTIPLES.length, 1 + 2 * there.length],
      values: Float64Array.from(
        MULTIPLES.flatMap((multiple, at) => [
          multiple,
          ...there.flatMap(({ row }) => [row[at]?.mean ?? 0, row[at]?.deviation ?? 0]),
        ]),
      ),
      columns: [
        "times_trained_length",
        ...there.flatMap(({ column: { name } }) => [name, `${name}_deviation`]),
      ],
    };
  }

  /** Settings, curves and tests of every seed. */
  protected override record({ config, training, columns, isStudy }: Model, state: TrainState): unknown {
    const results = training?.results;
    return {
      settings: config,
      settingsOfTheStudy: isStudy,
      ranking: namesIn("ranking", state.ranking),
      models: columns.map(({ name, label }) => ({ name, label })),
      seeds: (results?.seeds ?? []).map((seed) => ({
        seed,
        models: results?.comparison.columns.map(({ name }, i) => {
          const { losses, accuracies, diverged } =
            results.curves(seed)[results.comparison.plan.tests[i]?.model ?? 0] ?? {};
          const tests = MULTIPLES.flatMap((multiple) => {
            const found = results.of(seed, i, multiple);
            return found ? [{ multiple, ...found }] : [];
          });
          return { name, losses, accuracies, divergedAtStep: diverged ?? null, tests };
        }),
      })),
    };
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    ...lookStyles,
    css`
      h4 {
        margin: 0;
        font-size: var(--pe-text-m);
        font-weight: 600;
      }
      p {
        max-width: 75ch;
        margin: 0 0 var(--pe-space-2);
      }
      .task {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, calc(15 * var(--pe-rem))), 1fr));
        gap: 0 var(--pe-space-4);
      }
      .task .controls {
        align-content: start;
        margin-top: 0;
      }
      .task .scroll {
        margin-top: 0;
      }
      fieldset {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-1) var(--pe-space-3);
        min-width: 0;
        margin: var(--pe-space-3) 0;
        padding: 0;
        border: 0;
      }
      legend {
        float: inline-start;
        width: 100%;
        margin-bottom: var(--pe-space-1);
        padding: 0;
        font-weight: 600;
      }
      .columns label {
        display: flex;
        align-items: center;
        gap: var(--pe-space-2);
        min-height: calc(1.75 * var(--pe-rem));
        cursor: pointer;
      }
      .columns input {
        width: calc(1.1 * var(--pe-rem));
        height: calc(1.1 * var(--pe-rem));
        margin: 0;
        accent-color: var(--pe-accent);
      }
      .prediction fieldset {
        gap: var(--pe-space-2);
        margin-bottom: var(--pe-space-2);
      }
      .rank {
        border-color: var(--series);
      }
      .rank[aria-pressed="true"] {
        box-shadow: inset 0 0 0 1px var(--series);
      }
      .rank:disabled {
        opacity: 1;
        color: var(--pe-ink-2);
      }
      .score {
        font-size: var(--pe-text-m);
      }
      .run {
        margin-block: var(--pe-space-3) var(--pe-space-2);
      }
      .buttons {
        display: flex;
        flex-wrap: wrap;
        gap: var(--pe-space-2);
      }
      .main {
        min-width: calc(6 * var(--pe-rem));
        border-color: var(--pe-accent);
        font-weight: 600;
      }
      .status {
        min-height: 2.9em;
        margin: var(--pe-space-2) 0 0;
        color: var(--pe-ink-2);
      }
      .settings > p {
        color: var(--pe-ink-2);
      }
      .pictures {
        display: grid;
        gap: var(--pe-space-3) 40px;
        margin-top: var(--pe-space-3);
      }
      .pictures.beside {
        grid-template-columns: repeat(2, minmax(0, 1fr));
      }
      .legend {
        grid-column: 1 / -1;
      }
      .pictures > svg {
        display: block;
        overflow: visible;
      }
      svg text.title {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      svg text.note {
        fill: var(--pe-ink);
        font-size: 14px;
      }
      .none {
        --series: var(--pe-none);
      }
      .sinusoidal {
        --series: var(--pe-sinusoidal);
      }
      .learned {
        --series: var(--pe-learned);
      }
      .rope {
        --series: var(--pe-rope);
      }
      .alibi {
        --series: var(--pe-alibi);
      }
      .t5 {
        --series: var(--pe-t5);
      }
      .series :is(.curve, .bar, .cross) {
        fill: none;
        stroke: var(--series);
        stroke-width: 2;
      }
      .series .bar {
        stroke-width: 1.5;
      }
      .series circle {
        fill: var(--series);
      }
      .series :is(.curve, .bar, .cross, circle) {
        forced-color-adjust: none;
      }
      .base {
        stroke: var(--pe-rule);
      }
      svg text.guess {
        paint-order: stroke;
        stroke: var(--pe-bg);
        stroke-width: 4px;
        stroke-linejoin: round;
      }
      line.guess {
        stroke: var(--pe-ink-2);
        stroke-dasharray: 1 4;
      }
      .findings {
        max-width: 75ch;
        margin: var(--pe-space-3) 0 0;
        padding-inline-start: 1.2em;
      }
      .findings li {
        margin-bottom: var(--pe-space-1);
      }
      .inside {
        margin-top: var(--pe-space-4);
        padding-top: var(--pe-space-3);
        border-top: 1px solid var(--pe-rule);
      }
    `,
  ];
}

const models = (count: number): string => `${count} model${count === 1 ? "" : "s"}`;

/** How many seeds stand behind each of the results. */
const seedsOf = (spreads: Model["spreads"]): number[] =>
  spreads.flatMap((row) => row.flatMap((one) => (one ? [one.seeds] : [])));

/** The numbers of one column. */
function spreadsOf(
  column: Column,
  source: Model["source"],
  results: Results | undefined,
  task: TrainState["task"],
  measure: Measure,
): readonly (Spread | undefined)[] {
  if (source === "study") return recorded(task, column.name) ?? [];
  if (source === "none" || !results) return [];
  const at = results.comparison.columns.findIndex(({ name }) => name === column.name);
  return at < 0 ? [] : results.spreads(at, measure);
}

const sameQuestion = (a: Omit<Question, "id">, b: Omit<Question, "id">): boolean =>
  a.what === b.what &&
  a.model === b.model &&
  a.ropeType === b.ropeType &&
  a.seqLen === b.seqLen &&
  a.index === b.index;

define("pe-train", PeTrain);

declare global {
  interface HTMLElementTagNameMap {
    "pe-train": PeTrain;
  }
}
