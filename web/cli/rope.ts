// posenc rope: the numbers of one rotary embedding, from options or from a config.json. Options are put together to a
// config and read by the inspector, so that both say the same of the same values.

import type { NamedArray } from "../draw/npy.ts";
import { inspect } from "../inspect/inspect.ts";
import type { Numbers } from "../inspect/numbers.ts";
import type { MropeLayout, PairLayout, Posenc } from "../posenc.ts";
import { checkCells, OUTPUT, readMatrix, readText, write } from "./files.ts";
import { type Given, numberOf, UsageError } from "./options.ts";
import { POSITIONS, positionsOf, type Runnable } from "./tables.ts";
import { sentence } from "./text.ts";

const WHAT = [
  ...(["inv-freq", "attention-factor", "cos-sin", "cos", "sin", "rotate"] as const),
  ...(["permutation", "yarn-range", "mscale", "softmax-scale"] as const),
] as const;
type What = (typeof WHAT)[number];

/** Options that become keys of the block, under the same name with underscores. */
const NUMBERS = [
  ["rope-theta", "X", "The base. Default 10000."],
  ["factor", "X", "How much longer sequences are to be; it divides frequencies."],
  ["original-max-position-embeddings", "N", "The trained length: dynamic, yarn, longrope, llama3."],
  ["attention-factor", "X", "Replaces the formula: yarn, longrope."],
  ["beta-fast", "X", "yarn: pairs with more turns stay. Default 32."],
  ["beta-slow", "X", "yarn: pairs with fewer turns are slowed by the factor. Default 1."],
  ["mscale", "X", "yarn, with --mscale-all-dim."],
  ["mscale-all-dim", "X", "yarn, with --mscale."],
  ["low-freq-factor", "X", "llama3."],
  ["high-freq-factor", "X", "llama3."],
  ["partial-rotary-factor", "X", "Share of the head that turns. Default 1."],
] as const;
const LISTS = [
  ["short-factor", "LIST", "longrope: one divisor per pair, separated by commas."],
  ["long-factor", "LIST", "longrope: those for sequences longer than the trained length."],
] as const;
const TYPES = ["default", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3", "proportional"] as const;

/** Options that say the embedding, as a config does. */
const VALUES = [
  ...["head-dim", "rope-type", "max-position-embeddings", "no-truncate"],
  ...[...NUMBERS, ...LISTS].map(([name]) => name),
];

const underscored = (name: string): string => name.replaceAll("-", "_");

/** The options as the text of a config.json. */
function configText(given: Given): string {
  const block: Record<string, unknown> = { rope_type: given.text("rope-type") ?? "default" };
  for (const [name] of NUMBERS) {
    const value = given.number(name);
    if (value !== undefined) block[underscored(name)] = value;
  }
  for (const [name] of LISTS) {
    const list = given.numbers(name);
    if (list) block[underscored(name)] = [...list];
  }
  if (given.has("no-truncate")) block.truncate = false;
  const max = given.count("max-position-embeddings");
  return JSON.stringify({
    head_dim: given.needed("head-dim", given.count("head-dim")),
    ...(max !== undefined && { max_position_embeddings: max }),
    rope_theta: 10000,
    rope_parameters: block,
  });
}

/** The numbers, or null after the errors have been printed. */
async function numbersFor(core: Posenc, given: Given, seqLen: number): Promise<Numbers | null> {
  const path = given.text("config");
  const beside = path === undefined ? undefined : VALUES.find((name) => given.has(name));
  if (beside) throw new UsageError(`either --config or --${beside}`);
  const text = path === undefined ? configText(given) : await readText(path);
  const { findings, numbers } = inspect(core, text, { seqLen });
  const errors = findings.filter(({ severity }) => severity === "error");
  const layers = given.text("layers");
  const found = layers === undefined ? numbers[0] : numbers.find(({ rope }) => rope.layers === layers);
  if (errors.length === 0 && found) return found;
  for (const finding of errors) process.stderr.write(`${sentence(path ?? "options", finding)}\n`);
  if (errors.length === 0) {
    const names = numbers.map(({ rope }) => rope.layers).join(", ");
    throw new UsageError(names ? `--layers must be one of ${names}` : "the config has no RoPE");
  }
  return null;
}

/** cos and sin (positions, pairs); with sections, the positions are those of time, height and width. */
function cosSin(
  core: Posenc,
  given: Given,
  { invFreq, attentionFactor }: Numbers,
): { rows: number; cos: Float64Array; sin: Float64Array } {
  const sections = given.numbers("mrope-section");
  if (!sections) {
    const positions = positionsOf(given, 16, 2 * invFreq.length);
    return { rows: positions.length, ...core.ropeCosSin(positions, invFreq, attentionFactor) };
  }
  const lists = (given.text("positions") ?? "")
    .split(";")
    .map((list) => Float64Array.from(list.split(","), (part) => numberOf("positions", part)));
  const rows = lists[0]?.length ?? 0;
  if (lists.length !== 3 || lists.some((list) => list.length !== rows)) {
    throw new UsageError(
      '--positions must be "time;height;width" with --mrope-section: three lists of one length',
    );
  }
  const layout = (given.text("mrope-layout") ?? "chunked") as MropeLayout;
  if (!sections.every((pairs) => Number.isInteger(pairs) && Math.abs(pairs) < 2 ** 31)) {
    throw new UsageError(`--mrope-section must be whole numbers below 2^31; got ${sections.join(", ")}`);
  }
  const axes = core.mropeAxes(Int32Array.from(sections), invFreq.length, layout);
  const positions = Float64Array.from(lists.flatMap((list) => [...list]));
  return { rows, ...core.mropeCosSin(positions, axes, invFreq, attentionFactor) };
}

async function rotated(core: Posenc, given: Given, numbers: Numbers): Promise<NamedArray> {
  const path = given.needed("input", given.text("input"));
  const { headDim, rotaryDim = headDim } = numbers.config;
  const { rows, cos, sin } = cosSin(core, given, numbers);
  const rule = `${rows} lists, one per position, of head_dim = ${headDim} finite numbers`;
  const { values: x } = await readMatrix(path, rule, rows, headDim);
  const layout = (given.text("layout") ?? "half") as PairLayout;
  const values = core.ropeApply(x, cos, sin, { seqLen: rows, headDim, rotaryDim, layout });
  return { name: "rotated", shape: [rows, headDim], values };
}

const scalar = (name: string, value: number): NamedArray => ({
  name,
  shape: [1],
  values: Float64Array.of(value),
  columns: [name],
});
const indices = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));

async function arrayOf(core: Posenc, given: Given, what: What, numbers: Numbers): Promise<NamedArray> {
  const { invFreq, attentionFactor, config } = numbers;
  const pairs = invFreq.length;
  if (what === "inv-freq")
    return { name: "inv_freq", shape: [pairs], values: invFreq, columns: indices(pairs) };
  if (what === "attention-factor") return scalar("attention_factor", attentionFactor);
  if (what === "rotate") return rotated(core, given, numbers);
  if (what === "yarn-range") {
    const { low, high } = core.yarnCorrectionRange(config);
    return { name: "yarn_range", shape: [2], values: Float64Array.of(low, high), columns: ["low", "high"] };
  }
  const { rows, cos, sin } = cosSin(core, given, numbers);
  if (what === "cos" || what === "sin")
    return { name: what, shape: [rows, pairs], values: what === "cos" ? cos : sin };
  const values = Float64Array.from(
    { length: 2 * cos.length },
    (_, n) => (n % 2 === 0 ? cos : sin)[n >> 1] ?? 0,
  );
  return { name: "cos_sin", shape: [rows, pairs, 2], values, columns: ["cos", "sin"] };
}

/** What needs no frequencies: null if frequencies are needed. */
function withoutFrequencies(core: Posenc, given: Given, what: What): NamedArray | null {
  if (what === "permutation") {
    const headDim = given.needed("head-dim", given.count("head-dim"));
    const numHeads = given.count("num-heads") ?? 1;
    checkCells(given, `--num-heads ${numHeads} of --head-dim ${headDim} make`, numHeads * headDim);
    const values = core.halfFromInterleaved({ numHeads, headDim });
    return { name: "row_index", shape: [values.length], values, columns: indices(values.length) };
  }
  if (what !== "mscale" && what !== "softmax-scale") return null;
  const factor = given.needed("factor", given.number("factor"));
  const mscale = core.yarnMscale(factor, given.number("mscale") ?? given.number("mscale-all-dim") ?? 1);
  if (what === "mscale") return scalar("mscale", mscale);
  const width = given.needed("head-dim", given.count("head-dim"));
  const scale = mscale ** 2 / Math.sqrt(width);
  if (!Number.isFinite(scale))
    throw new UsageError("mscale² is beyond the largest double: --factor or --mscale");
  return scalar("softmax_scale", scale);
}

export const rope: Runnable = {
  name: "rope",
  usage: "(--head-dim N | --config FILE) [--what NAME] [OPTION]…",
  summary: "frequencies, cosines and sines, and rotations of RoPE",
  text: [
    "Computes one rotary embedding and writes the part that --what names. inv-freq: (rotary_dim/2) radians per position. attention-factor: what cos and sin are multiplied by. cos-sin: (positions, pairs, 2), cos and sin alone: (positions, pairs), attention factor included. rotate: --input turned at --positions.",
    "permutation: for each row of W_q or W_k in half layout, the row of the interleaved one. yarn-range: the pairs between which YaRN blends. mscale: 0.1 · mscale · ln(factor) + 1. softmax-scale: head_dim^-1/2 · mscale^2, as DeepSeek scales its scores.",
    "The values come from the options, or with --config from a config.json. They are read as posenc inspect reads them; an error is printed and the status is 1.",
  ],
  options: [
    { name: "what", value: "NAME", help: "What is written. Default inv-freq.", choices: WHAT },
    { name: "config", value: "FILE", help: "Take the values from a config.json; - is standard input." },
    { name: "layers", value: "NAME", help: "With --config: the kind of layer, where there are several." },
    { name: "head-dim", value: "N", help: "Components of a head." },
    { name: "rope-type", value: "NAME", help: "The scaling. Default default.", choices: TYPES },
    ...NUMBERS.map(([name, value, help]) => ({ name, value, help })),
    {
      name: "max-position-embeddings",
      value: "N",
      help: "The stretched length: the factor of yarn and longrope without --factor.",
    },
    { name: "no-truncate", value: "", help: "yarn: do not round the ends of the ramp." },
    ...LISTS.map(([name, value, help]) => ({ name, value, help })),
    ...POSITIONS,
    {
      name: "context",
      value: "N",
      help: "Length of the whole sequence, which dynamic and longrope depend on. Default: at most the trained length.",
    },
    { name: "input", value: "FILE", help: "rotate: JSON, one list of head_dim numbers per position." },
    {
      name: "layout",
      value: "NAME",
      help: "rotate: which components make a pair. Default half.",
      choices: ["half", "interleaved"],
    },
    {
      name: "mrope-section",
      value: "LIST",
      help: "Pairs of time, height and width; --positions is then three lists with semicolons between.",
    },
    { name: "mrope-layout", value: "NAME", help: "Default chunked.", choices: ["chunked", "interleaved"] },
    { name: "num-heads", value: "N", help: "permutation: heads. Default 1." },
    ...OUTPUT,
  ],
  examples: [
    "posenc rope --head-dim 128 --rope-theta 500000",
    "posenc rope --head-dim 128 --rope-type yarn --factor 16 --original-max-position-embeddings 4096 -o inv_freq.npy",
    "posenc rope --config config.json --what cos-sin --seq-len 4096 -o cos_sin.npy",
    "posenc rope --head-dim 64 --what cos --seq-len 256 -o cos.png",
  ],
  async run(core, given) {
    if (given.files.length > 0)
      throw new UsageError(`${JSON.stringify(given.files[0])} is not an option: use --config`);
    const what = (given.text("what") ?? "inv-freq") as What;
    given.needs("mrope-layout", "mrope-section");
    if (given.has("input") && what !== "rotate")
      throw new UsageError("--input says nothing without --what rotate");
    const direct = withoutFrequencies(core, given, what);
    if (direct) {
      await write(core, given, direct);
      return 0;
    }
    const numbers = await numbersFor(core, given, given.count("context", 0) ?? 0);
    if (!numbers) return 1;
    await write(core, given, await arrayOf(core, given, what, numbers));
    return 0;
  },
};
