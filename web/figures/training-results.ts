// What a comparison has shown so far: curves of every model and seed, and tests at every length.

import type { RunConfig, Task } from "../train.ts";
import { type Column, leaders, MULTIPLES, modelOf, type Spread } from "./training-models.ts";
import type { News, Plan } from "./training-work.ts";

export type Measure = "accuracy" | "loss";

export interface Curve {
  losses: number[];
  accuracies: number[];
  /** The step that would have made the model diverge, and was not taken; from 1. */
  diverged: number | undefined;
}

/** Columns as a plan: a test for each column, and for each of its places the model that it tests. */
export interface Comparison {
  columns: readonly Column[];
  plan: Plan;
}

export function comparison(
  columns: readonly Column[],
  shared: { task: Task } & Partial<RunConfig>,
  seeds: readonly number[],
): Comparison {
  const names = [...new Set(columns.map(modelOf))];
  const models = names.map((name) => {
    const { config } = columns.find((column) => modelOf(column) === name) as Column;
    return { ...shared, ...config };
  });
  const tests = columns.map((column) => ({
    model: names.indexOf(modelOf(column)),
    ropeType: column.ropeType,
  }));
  return { columns, plan: { models, tests, seeds, multiples: MULTIPLES } };
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Over seeds; of one there is no deviation. */
export function spread(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  const deviation = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : null;
  return { mean: centre, deviation, seeds: values.length };
}

export class Results {
  readonly comparison: Comparison;
  readonly #curves = new Map<number, Curve[]>();
  /** By seed, then by test and multiple. */
  readonly #tests = new Map<number, Map<string, { loss: number; accuracy: number }>>();

  constructor(comparison: Comparison) {
    this.comparison = comparison;
  }

  take({ steps, tests }: News): void {
    for (const { seed, model, loss, accuracy, diverged } of steps) {
      const curve = this.curves(seed)[model];
      if (!curve) continue;
      if (loss !== undefined && accuracy !== undefined) {
        curve.losses.push(loss);
        curve.accuracies.push(100 * accuracy);
      }
      if (diverged) curve.diverged = curve.losses.length + 1;
    }
    for (const { seed, test, multiple, loss, accuracy } of tests) {
      const done = this.#tests.get(seed) ?? new Map();
      this.#tests.set(seed, done.set(`${test} ${multiple}`, { loss, accuracy: 100 * accuracy }));
    }
  }

  /** Seeds begun, in order. */
  get seeds(): number[] {
    return [...this.#curves.keys()];
  }

  curves(seed: number): Curve[] {
    let curves = this.#curves.get(seed);
    if (!curves) {
      curves = this.comparison.plan.models.map(() => ({ losses: [], accuracies: [], diverged: undefined }));
      this.#curves.set(seed, curves);
    }
    return curves;
  }

  /** Steps of the seed that is trained, by the model that has come furthest. */
  get step(): number {
    const seed = this.seeds.at(-1);
    if (seed === undefined) return 0;
    return Math.max(...this.curves(seed).map(({ losses }) => losses.length));
  }

  /** Steps that are still to be taken, of so many each: a model that has diverged takes no more. */
  left(steps: number): number {
    const { seeds, models } = this.comparison.plan;
    return seeds.reduce((sum, seed) => {
      const curves = this.#curves.get(seed);
      if (!curves) return sum + models.length * steps;
      const open = curves.filter(({ diverged }) => diverged === undefined);
      return sum + open.reduce((rest, { losses }) => rest + steps - losses.length, 0);
    }, 0);
  }

  /** Whether a column has been tested at every length. */
  get tested(): boolean {
    return [...this.#tests.values()].some((done) =>
      this.comparison.columns.some((_, column) =>
        MULTIPLES.every((multiple) => done.has(`${column} ${multiple}`)),
      ),
    );
  }

  of(seed: number, column: number, multiple: number): { loss: number; accuracy: number } | undefined {
    return this.#tests.get(seed)?.get(`${column} ${multiple}`);
  }

  /** Of one column, over the seeds tested: one for each multiple; undefined where none is. */
  spreads(column: number, measure: Measure): (Spread | undefined)[] {
    return MULTIPLES.map((multiple) =>
      spread(
        [...this.#tests.keys()].flatMap((seed) => {
          const found = this.of(seed, column, multiple);
          return found ? [found[measure]] : [];
        }),
      ),
    );
  }

  /** The curve of the model that a column tests. */
  curve(seed: number, { name }: Column): Curve | undefined {
    const { columns, plan } = this.comparison;
    const test = plan.tests[columns.findIndex((column) => column.name === name)];
    return test && this.curves(seed)[test.model];
  }

  /** Models that have diverged, each by its first column, with seed and step. */
  get diverged(): { column: Column; seed: number; step: number }[] {
    return leaders(this.comparison.columns).flatMap((column) =>
      this.seeds.flatMap((seed) => {
        const step = this.curve(seed, column)?.diverged;
        return step === undefined ? [] : [{ column, seed, step }];
      }),
    );
  }
}
