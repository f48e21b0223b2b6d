// What is compared: the four tasks, and for each the models, which differ in their positional encoding alone.

import type { RunConfig, Task, TestScaling } from "../train.ts";
import study from "./training-study.json";

export const TASKS = ["which-side", "language", "echo", "induction"] as const satisfies readonly Task[];
export const COLUMNS = [
  "none",
  "causal",
  "sinusoidal",
  "learned",
  "rope",
  "pi",
  "ntk",
  "alibi",
  "one-sided",
  "t5",
] as const;
export type ColumnName = (typeof COLUMNS)[number];
/** Every model is tested at so many times the trained length. */
export const MULTIPLES = [1, 2, 4, 8] as const;

/** What stands in a chart, a table and a ranking as one: a model, and how RoPE is scaled when it is tested. */
export interface Column {
  name: ColumnName;
  label: string;
  /** The name of its colour among the tokens. */
  colour: "none" | "sinusoidal" | "learned" | "rope" | "alibi" | "t5";
  dashes: string;
  config: Partial<RunConfig>;
  ropeType: TestScaling;
}

const column = (
  name: ColumnName,
  label: string,
  colour: Column["colour"],
  config: Partial<RunConfig>,
  { dashes = "", ropeType = "default" as TestScaling } = {},
): Column => ({ name, label, colour, config, dashes, ropeType });

const ALL: readonly Column[] = [
  column("none", "none", "none", { encoding: "none" }),
  column("causal", "none + causal mask", "none", { encoding: "none", causal: true }, { dashes: "6 3" }),
  column("sinusoidal", "sinusoidal", "sinusoidal", { encoding: "sinusoidal" }),
  column("learned", "learned", "learned", { encoding: "learned" }),
  column("rope", "RoPE", "rope", { encoding: "rope" }),
  column("pi", "RoPE + PI", "rope", { encoding: "rope" }, { dashes: "2 3", ropeType: "linear" }),
  column("ntk", "RoPE + NTK", "rope", { encoding: "rope" }, { dashes: "7 3", ropeType: "ntk" }),
  column("alibi", "ALiBi", "alibi", { encoding: "alibi" }),
  column(
    "one-sided",
    "ALiBi with one-sided heads",
    "alibi",
    { encoding: "alibi", oneSidedHeads: true },
    { dashes: "6 3" },
  ),
  column("t5", "T5", "t5", { encoding: "t5" }),
];

/** The columns that a task has: a mask, and heads that see one side alone, are a choice only where all keys are seen. */
export function columnsOf(task: Task, numHeads: number): readonly Column[] {
  return ALL.filter(({ name }) => {
    if (name === "causal") return task === "which-side";
    if (name === "one-sided") return task === "which-side" && numHeads % 2 === 0;
    return true;
  });
}

/** Columns that are one model, tested in several ways, share their training. */
export const modelOf = ({ name }: Column): ColumnName => (name === "pi" || name === "ntk" ? "rope" : name);

/** The first column of each model: it stands for the model where its training is shown. */
export const leaders = (columns: readonly Column[]): readonly Column[] =>
  columns.filter((column, i) => columns.findIndex((one) => modelOf(one) === modelOf(column)) === i);

export interface TaskWords {
  name: string;
  /** What the model sees and must answer. */
  says: string;
  /** An input, and what is asked for at each place; null where nothing is. */
  example: { tokens: readonly string[]; answers: readonly (string | null)[] };
  /** The number of classes. */
  classes: number;
  /** What the task is usually measured by. */
  measure: "accuracy" | "loss";
  /** As the study trained it. */
  study: { steps: number; learningRate: number; numLayers: number };
}

const letters = (text: string): string[] => [...text];
const answers = (text: string): (string | null)[] => [...text].map((one) => (one === "." ? null : one));

export const TASK_WORDS: Readonly<Record<Task, TaskWords>> = {
  "which-side": {
    name: "A. Which side",
    says: "One verb among nouns. Each noun answers: does it stand before or after the verb? Each sees all words.",
    example: {
      tokens: ["man", "dog", "bites", "cat", "god"],
      answers: ["before", "before", null, "after", "after"],
    },
    classes: 2,
    measure: "accuracy",
    study: { steps: 300, learningRate: 0.008, numLayers: 1 },
  },
  language: {
    name: "B. Tiny language",
    says: "Sentences, letter by letter, from a random place on. Each letter answers: which one comes next? It sees no later one.",
    example: { tokens: letters("old dog bites man"), answers: letters("ld dog bites man.") },
    classes: 17,
    measure: "loss",
    study: { steps: 400, learningRate: 0.008, numLayers: 1 },
  },
  echo: {
    name: "C. Echo",
    says: "Random symbols. Each answers: which one stood so many places back? It sees no later one.",
    example: { tokens: letters("CAHBFCDA"), answers: answers("...CAHBF") },
    classes: 8,
    measure: "accuracy",
    study: { steps: 250, learningRate: 0.008, numLayers: 1 },
  },
  induction: {
    name: "D. Induction",
    says: "Random symbols. One that has come before answers: what followed it the last time? It sees no later one.",
    example: { tokens: letters("AFCBACFB"), answers: answers("....FBCA") },
    classes: 16,
    measure: "accuracy",
    study: { steps: 600, learningRate: 0.005, numLayers: 2 },
  },
};

/** Mean and standard deviation over seeds; null where there is none. */
export interface Spread {
  mean: number;
  deviation: number | null;
  seeds: number;
}

const SECTIONS = {
  "which-side": study.whichSide,
  language: study.tinyLanguage,
  echo: study.echo,
  induction: study.induction,
} as const;
const RECORDED: Partial<Record<ColumnName, string>> = {
  none: "none",
  causal: "none + causal mask",
  sinusoidal: "sinusoidal",
  learned: "learned",
  rope: "RoPE",
  pi: "RoPE + PI",
  ntk: "RoPE + NTK",
  "one-sided": "ALiBi, half the heads left only, half right only",
  t5: "T5",
};

/** What the study recorded for a column, one cell for each multiple: % of right answers, for the language nats. */
export function recorded(task: Task, name: ColumnName): readonly Spread[] | undefined {
  const rows: Record<string, string[]> = SECTIONS[task].rows;
  const key = name === "alibi" ? (task === "which-side" ? "ALiBi, symmetric" : "ALiBi") : RECORDED[name];
  return rows[key ?? ""]?.map((cell) => {
    const [mean = "", deviation] = cell.split(" ± ");
    return {
      mean: Number(mean),
      deviation: deviation === undefined ? null : Number(deviation),
      seeds: study.shared.seeds,
    };
  });
}
