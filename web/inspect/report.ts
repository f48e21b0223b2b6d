// All that is known of a config as plain data, in the form that the command line prints as JSON, the Markdown report is
// written from, and a program can read: snake_case names, and null for what is not finite.

import type { Posenc } from "../posenc.ts";
import type { Finding, Severity } from "./finding.ts";
import { frequencyReport, rampOf, resolutionAt } from "./frequency.ts";
import type { Inspection } from "./inspect.ts";
import { dependsOnLength, lengthSteps, staleKeys } from "./lengths.ts";
import type { Model } from "./model.ts";
import { type Numbers, orRefused } from "./numbers.ts";
import { precisionReport } from "./precision.ts";
import { LENGTH, READ_BY, type Rope } from "./rope.ts";
import { scalings } from "./scalings.ts";
import type { Sourced } from "./scope.ts";

export interface ReportQuestion {
  /** Lengths of successive sequences; the last is the one asked about. Empty: the longest with these frequencies. */
  seqLens?: readonly number[];
  /** Relative position at which neighbours are to be told apart. Default 1. */
  distance?: number;
  /** Position at which the error of few bits is given. Default: the last of the sequence. */
  position?: number;
}

export interface ValueReport {
  name: string;
  value: unknown;
  /** The key that gives it, null for a default. */
  key: string | null;
  /** Why this default. */
  why: string | null;
}
type Numeric = number | null;
export interface RopeReport {
  layers: string;
  values: ValueReport[];
  inv_freq: number[];
  attention_factor: number;
  trained_length: Numeric;
  seq_len: number;
  /** Between these pairs (fractional), yarn and llama3 blend from untouched to slowed. */
  ramp: [number, number] | null;
  pairs: {
    pair: number;
    inv_freq: number;
    wavelength: Numeric;
    turns: Numeric;
    unreached: [number, number] | null;
    resolution: number;
  }[];
  distance: number;
  resolution: number;
  scalings: {
    rope_type: string;
    own: boolean;
    factor: number;
    attention_factor: number;
    inv_freq: number[];
  }[];
  lengths: { seq_len: number; max_seq_len_cached: Numeric; inv_freq: number[] }[];
  stale_keys: { first: number; last: number; phase: number; position: number; pair: number } | null;
  position: number;
  precision: {
    format: string;
    held: Numeric;
    first_shared_position: number;
    error: Numeric;
    error_of_position: Numeric;
    error_of_inv_freq: Numeric;
    error_of_result: Numeric;
  }[];
}
export interface Report {
  format: "posenc-inspect-1";
  ok: boolean;
  counts: Record<Severity, number>;
  findings: (Omit<Finding, "at"> & { line: Numeric; column: Numeric })[];
  model: ValueReport[];
  softmax_scale: Numeric;
  ropes: RopeReport[];
  slopes: number[] | null;
}

const finite = (value: number): Numeric => (Number.isFinite(value) ? value : null);
const plain = (value: unknown): unknown =>
  value instanceof Float64Array ? [...value] : typeof value === "number" ? finite(value) : value;
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const isSourced = (value: unknown): value is Sourced<unknown> =>
  typeof value === "object" && value !== null && "value" in value && "key" in value && "why" in value;

/** The sourced values of a normal form, in its order. */
export const valuesOf = (form: object): ValueReport[] =>
  Object.entries(form).flatMap(([name, entry]) =>
    isSourced(entry)
      ? [{ name: snake(name), value: plain(entry.value), key: entry.key || null, why: entry.why || null }]
      : [],
  );

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
/** Values that only some rope_types read, as a normal form names them. */
const SPECIAL = new Set(
  Object.values(READ_BY).flatMap((keys) => keys.map((key) => (key === LENGTH ? "originalMax" : camel(key)))),
);

/** The values of an embedding that its rope_type reads. */
export function ropeValues(rope: Rope): ValueReport[] {
  const reads = READ_BY[rope.ropeType.value].map((key) => (key === LENGTH ? "originalMax" : camel(key)));
  const read = Object.entries(rope).filter(([name]) => !SPECIAL.has(name) || reads.includes(name));
  return valuesOf(Object.fromEntries(read));
}

/** Positions of the training, as far as the config says. */
export const trainedLength = ({ rope }: Numbers, model: Model): number | null =>
  ["dynamic", "yarn", "longrope", "llama3"].includes(rope.ropeType.value)
    ? rope.originalMax.value
    : model.maxPosition.value;

function ropeReport(core: Posenc, model: Model, numbers: Numbers, question: ReportQuestion): RopeReport {
  const { rope, config, invFreq, attentionFactor } = numbers;
  const { seqLens = [], distance = 1 } = question;
  const trained = trainedLength(numbers, model);
  const longest = Math.max(model.maxPosition.value ?? 0, trained ?? 0, 2);
  // the frequencies of no length in particular are those up to the trained one
  const seqLen = seqLens.at(-1) ?? (dependsOnLength(config) ? (trained ?? longest) : longest);
  const position = question.position ?? seqLen - 1;
  return {
    layers: rope.layers,
    values: ropeValues(rope),
    inv_freq: [...invFreq],
    attention_factor: attentionFactor,
    trained_length: trained,
    seq_len: seqLen,
    ramp: rampOf(core, numbers),
    pairs: frequencyReport(core, numbers, { trained, seqLen, distance }).map((pair) => ({
      pair: pair.pair,
      inv_freq: pair.invFreq,
      wavelength: finite(pair.wavelength),
      turns: pair.turns,
      unreached: pair.unreached,
      resolution: pair.resolution,
    })),
    distance,
    resolution: resolutionAt(core, invFreq, distance),
    scalings:
      trained === null
        ? []
        : scalings(core, numbers, trained, seqLen).map((scaling) => ({
            rope_type: scaling.ropeType,
            own: scaling.own,
            factor: scaling.config.factor ?? 1,
            attention_factor: scaling.attentionFactor,
            inv_freq: [...scaling.invFreq],
          })),
    lengths: lengthSteps(core, config, seqLens).map((step) => ({
      seq_len: step.seqLen,
      max_seq_len_cached: step.cachedSeqLen,
      inv_freq: [...step.invFreq],
    })),
    stale_keys: orRefused(() => staleKeys(core, config, seqLen)),
    position,
    precision: precisionReport(core, invFreq, position).map((each) => ({
      format: each.format,
      held: finite(each.held),
      first_shared_position: each.firstShared,
      error: each.everything,
      error_of_position: each.position,
      error_of_inv_freq: each.invFreq,
      error_of_result: each.result,
    })),
  };
}

/** How many pairs of an embedding never finish a turn in training, those aside that stand still by design. */
export function turnSentence({ pairs, trained_length: trained }: RopeReport): string {
  if (trained === null) return "the trained length is unknown";
  const turning = pairs.filter(({ inv_freq }) => inv_freq > 0);
  const under = turning.filter(({ turns }) => turns !== null && turns < 1).length;
  const still = pairs.length - turning.length;
  return `${under} of ${turning.length} ${still > 0 ? `turning pairs make less than one turn within ${trained} positions, and ${still} stand still` : `pairs make less than one turn within ${trained} positions`}`;
}

/** The values of the model that its kind of encoding has a use for. */
export function modelValues(model: Model): ValueReport[] {
  const { alibiBiasMax: _bias, unrotatedDim: _unrotated, layout: _layout, ...rest } = model;
  const { encoding, alibiBiasMax, unrotatedDim, layout, t5, mrope } = model;
  return valuesOf({
    ...rest,
    ...(encoding.value === "rope" && { layout }),
    ...(unrotatedDim.value > 0 && { unrotatedDim }),
    ...(encoding.value === "alibi" && { alibiBiasMax }),
    ...(encoding.value === "t5" && t5),
    ...(mrope && { mropeSection: mrope.sections, mropeLayout: mrope.layout }),
  });
}

/** Slopes of a model with ALiBi; null for others, and where the config does not say the heads. */
function slopesOf(core: Posenc, model: Model): number[] | null {
  const { encoding, numHeads, alibiBiasMax } = model;
  if (encoding.value !== "alibi" || numHeads.value === null || !(alibiBiasMax.value > 0)) return null;
  if (numHeads.value > 2 ** 16) return null;
  return [...core.alibiSlopes({ numHeads: numHeads.value, alibiBiasMax: alibiBiasMax.value })];
}

export function reportOf(core: Posenc, inspection: Inspection, question: ReportQuestion = {}): Report {
  const { findings, model, numbers, scoreScale } = inspection;
  const counts: Record<Severity, number> = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return {
    format: "posenc-inspect-1",
    ok: counts.error === 0,
    counts,
    findings: findings.map(({ at, ...rest }) => ({
      ...rest,
      line: at?.line ?? null,
      column: at?.column ?? null,
    })),
    model: model ? modelValues(model) : [],
    softmax_scale: scoreScale === null ? null : finite(scoreScale),
    ropes: model ? numbers.map((each) => ropeReport(core, model, each, question)) : [],
    slopes: model && slopesOf(core, model),
  };
}
