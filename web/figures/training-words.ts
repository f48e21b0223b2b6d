// What the figure says of a run: every sentence is made from its numbers, and says no more than they do.

import type { Task } from "../train.ts";
import { fixed } from "./format.ts";
import { type Column, leaders, MULTIPLES, type Spread, TASK_WORDS } from "./training-models.ts";
import type { Measure } from "./training-results.ts";

/** One column's means at 1×, 2×, 4× and 8×. */
export interface Row {
  column: Column;
  means: readonly number[];
}

/** Closer than this two results are taken for equal. */
export const TIE = { accuracy: 2, loss: 0.02 } as const;
/** A model that answers so many right, in %, has learnt its task; one that is so near the best loss, in nats. */
const LEARNT = { accuracy: 90, loss: 0.05 } as const;
/** What it may lose at a longer length and still hold. */
const HELD = { accuracy: 2, loss: 0.05 } as const;

export const said = (value: number, measure: Measure): string =>
  measure === "accuracy" ? `${fixed(value, 1)}\u00a0%` : fixed(value, 3);

export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Positive where a is the better result. */
export const advantage = (a: number, b: number, measure: Measure): number =>
  measure === "accuracy" ? a - b : b - a;

const first = ({ means }: Row): number => means[0] ?? Number.NaN;
const last = ({ means }: Row): number => means.at(-1) ?? Number.NaN;

/** Rows whose four means are all there. */
export function complete(columns: readonly Column[], spreads: (i: number) => (Spread | undefined)[]): Row[] {
  return columns.flatMap((column, i) => {
    const means = spreads(i).flatMap((one) => (one && Number.isFinite(one.mean) ? [one.mean] : []));
    return means.length === MULTIPLES.length ? [{ column, means }] : [];
  });
}

/** What the rows show, one sentence each. */
export function findings(rows: readonly Row[], task: Task, measure: Measure): string[] {
  if (rows.length === 0) return [];
  const { classes } = TASK_WORDS[task];
  const firsts = leaders(rows.map(({ column }) => column));
  const plain = rows.filter(({ column }) => firsts.includes(column));
  const best = Math.min(...rows.map(first));
  const learnt = (row: Row) =>
    measure === "accuracy" ? first(row) >= LEARNT.accuracy : first(row) <= best + LEARNT.loss;
  const holds = (row: Row) => advantage(last(row), first(row), measure) >= -HELD[measure];
  const names = (some: readonly Row[]) => listed(some.map(({ column }) => column.label));
  const values = (some: readonly Row[], at: (row: Row) => number) =>
    listed(some.map((row) => `${row.column.label} ${said(at(row), measure)}`));
  const sentences: string[] = [];
  const able = plain.filter(learnt);
  const held = able.filter(holds);
  const fell = able.filter((row) => !holds(row));
  const unable = plain.filter((row) => !learnt(row));
  const bound =
    measure === "accuracy" ? `at least ${LEARNT.accuracy} % right` : `within ${LEARNT.loss} nats of the best`;
  if (able.length > 0) sentences.push(`At the trained length ${bound}: ${names(able)}.`);
  if (unable.length > 0) {
    const guess =
      measure === "accuracy"
        ? `a uniform guess is right in ${said(100 / classes, measure)}`
        : `a uniform guess has ${said(Math.log(classes), measure)}`;
    const short =
      measure === "accuracy"
        ? `less than ${LEARNT.accuracy} % right`
        : `more than ${LEARNT.loss} nats above the best`;
    sentences.push(`At the trained length ${short}: ${values(unable, first)}; ${guess}.`);
  }
  if (held.length > 0) sentences.push(`Held to 8×: ${values(held, last)}.`);
  if (fell.length > 0) {
    const falls = fell.map(
      (row) =>
        `${row.column.label} from ${said(first(row), measure)} to ${said(row.means[1] ?? 0, measure)} at 2× and ` +
        `${said(last(row), measure)} at 8×`,
    );
    const much = measure === "accuracy" ? `${HELD.accuracy} points` : `${HELD.loss} nats`;
    sentences.push(`Worse at 8× by more than ${much}: ${falls.join("; ")}.`);
  }
  const scaled = rows.filter(({ column }) => column.colour === "rope");
  if (scaled.length > 1)
    sentences.push(
      `RoPE at 8×, by its scaling at test time: ${values(scaled, last)}. No model was trained with a scaling.`,
    );
  return sentences;
}

/** Which models diverged, and what that means. */
export function divergedWords(
  list: readonly { column: Column; seed: number; step: number }[],
  learningRate: number,
): string {
  const seeds = new Set(list.map(({ seed }) => seed));
  const where = list.map(({ column, seed, step }) => {
    const which = seeds.size > 1 ? ` (seed ${seed})` : "";
    return `${column.label} at step ${step}${which}`;
  });
  return (
    `With the learning rate ${learningRate} these diverged: ${listed(where)}. There the loss or the gradient was no finite ` +
    "number, or the loss passed ten times that of a guess. That step was not taken: the curve ends before it with a cross, " +
    "and the model is not tested."
  );
}

/** How many seeds were tested, of each model at each length: "3 seeds", "1 to 3 seeds". */
export function seedsWords(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return `${least < most ? `${least} to ` : ""}${most} seed${most === 1 ? "" : "s"}`;
}

/** How far the results carry. */
export function caveat(counts: readonly number[], isStudy: boolean): string {
  const settings = isStudy ? "" : " The settings are not those of the study.";
  return Math.max(...counts) === 1
    ? `This is one seed: another may come out otherwise.${settings}`
    : `Means of ${seedsWords(counts)}, with bars of one standard deviation each way.${settings}`;
}

/** Best and last of the rows at 8×, and where they began. */
export function summary(rows: readonly Row[], measure: Measure): string {
  const sorted = [...rows].sort((a, b) => advantage(last(b), last(a), measure));
  const [top, bottom] = [sorted[0], sorted.at(-1)];
  if (!top || !bottom) return "";
  const values = (row: Row) => `${said(last(row), measure)}, after ${said(first(row), measure)} at 1×`;
  const what = measure === "accuracy" ? "right answers" : "loss";
  if (sorted.length === 1)
    return `At 8× the trained length, ${what} of “${top.column.label}”: ${values(top)}.`;
  const near = sorted.filter((row) => advantage(last(top), last(row), measure) <= TIE[measure]);
  const beside = listed(near.slice(1).map(({ column }) => column.label));
  const tied = near.length > 1 && near.length < sorted.length ? `; close to it: ${beside}` : "";
  const [most, least] = measure === "accuracy" ? ["most", "fewest"] : ["least", "most"];
  return (
    `At 8× the trained length “${top.column.label}” has the ${most} ${what} (${values(top)}${tied}), ` +
    `“${bottom.column.label}” the ${least} (${values(bottom)}).`
  );
}

/** A ranking against the results at 8×. */
export interface Score {
  right: number;
  wrong: number;
  ties: number;
}
export function score(ranking: readonly string[], rows: readonly Row[], measure: Measure): Score {
  const found = ranking.flatMap((name) => rows.filter(({ column }) => column.name === name));
  const result = { right: 0, wrong: 0, ties: 0 };
  for (const [i, better] of found.entries()) {
    for (const worse of found.slice(i + 1)) {
      const ahead = advantage(last(better), last(worse), measure);
      if (Math.abs(ahead) <= TIE[measure]) result.ties++;
      else if (ahead > 0) result.right++;
      else result.wrong++;
    }
  }
  return result;
}

export function scoreWords({ right, wrong, ties }: Score, measure: Measure): string {
  const pairs = right + wrong + ties;
  const near = measure === "accuracy" ? `${TIE.accuracy} points` : `${TIE.loss} nats`;
  const tied = ties > 0 ? `, ${ties} too close to tell (within ${near})` : "";
  return `Your ranking orders ${pairs} pair${pairs === 1 ? "" : "s"}: ${right} came out as you said, ${wrong} the other way round${tied}.`;
}
