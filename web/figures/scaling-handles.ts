// The numbers of a config that a slider can move: each stands in the text, or belongs behind the factor there.

import { numberAt, withKeyBehind, withNumber } from "../inspect/edit.ts";
import { READ_BY, type Rope } from "../inspect/rope.ts";
import type { Sourced } from "../inspect/scope.ts";
import type { ScalingModel } from "./scaling-model.ts";

export interface Handle {
  /** The key as it is written in the config. */
  label: string;
  value: number;
  min: number;
  max: number;
  most: number;
  whole: boolean;
  /** The text with another value. */
  edited(value: number): string;
}

interface Range {
  min: number;
  max: number;
  most: number;
  whole?: boolean;
}
/** Of what each number may be moved to, and typed up to. */
const RANGES = {
  factor: { min: 1, max: 64, most: 1e6 },
  original_max_position_embeddings: { min: 256, max: 2 ** 18, most: 2 ** 30, whole: true },
  low_freq_factor: { min: 0.25, max: 8, most: 1e4 },
  high_freq_factor: { min: 0.5, max: 64, most: 1e4 },
  beta_fast: { min: 1, max: 256, most: 1e4 },
  beta_slow: { min: 0.125, max: 32, most: 1e4 },
  rope_theta: { min: 100, max: 1e8, most: 1e12 },
} as const satisfies Record<string, Range>;
type Name = keyof typeof RANGES;

const sources = (rope: Rope): Record<Name, Sourced<number | null>> => ({
  factor: rope.factor,
  original_max_position_embeddings: rope.originalMax,
  low_freq_factor: rope.lowFreqFactor,
  high_freq_factor: rope.highFreqFactor,
  beta_fast: rope.betaFast,
  beta_slow: rope.betaSlow,
  rope_theta: rope.ropeTheta,
});

/** The config's own scaling first: its factor, what else its rope_type reads, and the base. */
export function handlesOf({ text, numbers: { rope } }: ScalingModel): Handle[] {
  const known = sources(rope);
  const read = READ_BY[rope.ropeType.value];
  const names = (Object.keys(RANGES) as Name[]).filter(
    (name) => name === "rope_theta" || read.includes(name),
  );
  const placeOf = ({ offset, value }: Sourced<number | null>): number | null =>
    offset !== null && numberAt(text, offset) === value ? offset : null;
  const inBlock = rope.block !== "" && rope.factor.key.startsWith(`${rope.block}.`);
  const anchor = inBlock ? placeOf(rope.factor) : null;
  return names.flatMap((name) => {
    const { key, value } = known[name];
    if (value === null) return [];
    const range: Range = RANGES[name];
    const shared = { ...range, value, whole: range.whole ?? false };
    const place = placeOf(known[name]);
    if (place !== null) {
      const label = key.slice(key.lastIndexOf(".") + 1);
      return [{ ...shared, label, edited: (next: number) => withNumber(text, place, next) }];
    }
    if (key !== "" || anchor === null || name === "rope_theta") return [];
    return [{ ...shared, label: name, edited: (next: number) => withKeyBehind(text, anchor, name, next) }];
  });
}
