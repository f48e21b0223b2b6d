// What the scaling figure shows of a config: its text, what the inspector says of it, and the numbers of one of its
// embeddings at a length. A text that gives no frequencies is refused, with all that is known about why.

import type { Finding } from "../inspect/finding.ts";
import { frequencyReport, type PairReport, plainInvFreq, rampOf } from "../inspect/frequency.ts";
import { type Inspection, inspect } from "../inspect/inspect.ts";
import { fromLink, spaced } from "../inspect/link.ts";
import type { Numbers } from "../inspect/numbers.ts";
import { PRESETS, type Preset } from "../inspect/presets.ts";
import { trainedLength } from "../inspect/report.ts";
import { type Scaling, scalings } from "../inspect/scalings.ts";
import type { Posenc } from "../posenc.ts";
import { fixed } from "./format.ts";

/** Largest text that is looked at, in characters or bytes: a thousandfold of what a config.json has. */
export const MAX_CONFIG = 2 ** 20;
/** Longest sequence that is asked about. */
export const MAX_SEQ_LEN = 2 ** 30;
/** Taken where the config names no length at all. */
const SOME_LENGTH = 4096;

/** Why a text is not shown, in a sentence, with the findings that the sentence leaves out. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    sentence: string,
    readonly others: readonly Finding[] = [],
  ) {
    super(sentence);
  }
}

const tooLong = (size: number, unit: string): string =>
  `config.json: ${fixed(size, 0)} ${unit} are too many; a config.json has a few thousand, and at most ${fixed(MAX_CONFIG, 0)} are read`;

/** The text of a file, whose size is looked at before anything of it is read. */
export async function readConfig(file: Blob): Promise<string> {
  if (file.size > MAX_CONFIG) throw new Refusal(tooLong(file.size, "bytes"));
  return file.text();
}

export const presetOf = (name: string): Preset => {
  const preset = PRESETS.find((one) => one.name === name);
  if (!preset) throw new Error(`preset must be one of ${PRESETS.map((one) => one.name).join(", ")}`);
  return preset;
};

/** The text that an attribute or a link holds: as it is, or in base64url. */
export function linkedText(config: string): string {
  if (config.trimStart().startsWith("{")) return config;
  const text = fromLink(config);
  if (text === null) throw new Error("config must be the text of a config.json, or that text in base64url");
  return text.includes("\n") ? text : spaced(text);
}

/** What a finding says, in one sentence or two. */
export function told({ key, at, does, should }: Finding): string {
  const where = [key, at ? `line ${at.line}, column ${at.column}` : ""].filter(Boolean).join(", ");
  return `${where ? `${where}: ` : ""}${does}.${should ? ` It should be: ${should}.` : ""}`;
}

export interface Question {
  /** 0: the longest that the config allows. */
  seqLen: number;
  distance: number;
  /** Which kind of layer; the last there is if there are fewer. */
  layer: number;
}

export interface ScalingModel {
  core: Posenc;
  text: string;
  /** A preset's name, or "this config". */
  name: string;
  inspection: Inspection;
  config: NonNullable<Inspection["model"]>;
  numbers: Numbers;
  layer: number;
  /** Positions of the training, as far as the config says. */
  trained: number | null;
  seqLen: number;
  /** Unscaled frequencies. */
  plain: Float64Array;
  pairs: PairReport[];
  /** Unscaled frequencies over scaled ones, for the config and for the other ways. */
  slower: Scaling[];
  ramp: [number, number] | null;
}

const longest = ({ model, numbers }: Inspection, layer: number): number => {
  const each = numbers[Math.min(layer, numbers.length - 1)];
  if (!model || !each) return SOME_LENGTH;
  const named = Math.max(model.maxPosition.value ?? 0, trainedLength(each, model) ?? 0);
  return Math.min(named || SOME_LENGTH, MAX_SEQ_LEN);
};

/** Errors after which a default stands in for what the config says: that picture would be of no model at all. */
const MISREAD: readonly Finding["id"][] = ["wrong-kind", "not-finite"];
const misread = ({ findings }: Inspection): boolean => findings.some(({ id }) => MISREAD.includes(id));

function refuse({ findings, model }: Inspection): never {
  const errors = findings.filter(({ severity }) => severity === "error");
  const causes = errors.filter(({ id }) => id !== "core-refuses"); // which says in other words what they say
  const other = model && model.encoding.value !== "rope" ? findings.filter(({ id }) => id === "no-rope") : [];
  const said = [other, causes, errors].find((list) => list.length > 0) ?? [];
  const doubled = causes.length > 0 ? errors.filter(({ id }) => id === "core-refuses") : [];
  const rest = findings.filter((finding) => ![...said, ...doubled].includes(finding));
  throw new Refusal(said.map(told).join(" ") || "The config gives no frequencies.", rest);
}

/** All that is shown of a text. Throws a Refusal for one that gives no frequencies. */
export function scalingModel(
  core: Posenc,
  text: string,
  name: string,
  { seqLen, distance, layer }: Question,
): ScalingModel {
  if (text.length > MAX_CONFIG) throw new Refusal(tooLong(text.length, "characters"));
  const first = inspect(core, text);
  if (first.numbers.length === 0 || misread(first)) refuse(first);
  const length = seqLen || longest(first, layer);
  const inspection = inspect(core, text, { seqLen: length });
  const { model } = inspection;
  const at = Math.min(layer, inspection.numbers.length - 1);
  const numbers = inspection.numbers[at];
  if (!model || !numbers || misread(inspection)) return refuse(inspection);
  const trained = trainedLength(numbers, model);
  return {
    core,
    text,
    name,
    inspection,
    config: model,
    numbers,
    layer: at,
    trained,
    seqLen: length,
    plain: plainInvFreq(core, numbers),
    pairs: frequencyReport(core, numbers, { trained, seqLen: length, distance }),
    slower: scalings(core, numbers, trained ?? length, length),
    ramp: rampOf(core, numbers),
  };
}

/** How many times slower each pair turns than unscaled; NaN for a pair that stands still in either. */
export const ratios = (plain: Float64Array, invFreq: Float64Array): Float64Array =>
  plain.map((w, i) => (w > 0 ? w : Number.NaN) / (invFreq[i] || Number.NaN));
