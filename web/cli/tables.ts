// The commands that write tables: sinusoidal rows, ALiBi, T5.

import type { Posenc, SinusoidalLayout } from "../posenc.ts";
import { checkCells, OUTPUT, readMatrix, write } from "./files.ts";
import { type Command, type Given, UsageError } from "./options.ts";

export interface Runnable extends Command {
  /** Resolves to the exit status. */
  run(core: Posenc, given: Given): Promise<number>;
}

const LAYOUTS: readonly SinusoidalLayout[] = ["interleaved", "halves", "halves-minus-one"];
const noFiles = (given: Given): void => {
  if (given.files.length > 0) throw new UsageError(`${JSON.stringify(given.files[0])} is not an option`);
};

/** Relative positions of the longest list. */
const MAX_OFFSETS = 2 ** 20;

/** Positions as given, or 0 to seq-len − 1, of rows with so many numbers. */
export function positionsOf(given: Given, fallback: number, columns: number): Float64Array {
  const listed = given.numbers("positions");
  if (listed) return listed;
  const seqLen = given.count("seq-len") ?? fallback;
  checkCells(given, `--seq-len ${seqLen} with ${columns} numbers for each position makes`, seqLen * columns);
  return new Float64Array(seqLen).map((_, t) => t);
}
export const POSITIONS = [
  { name: "seq-len", value: "N", help: "Positions 0 to N - 1." },
  { name: "positions", value: "LIST", help: "These positions, separated by commas, in place of --seq-len." },
] as const;

export const table: Runnable = {
  name: "table",
  usage: "--d-model N [--seq-len N | --positions LIST] [OPTION]…",
  summary: "sinusoidal positional encodings",
  text: [
    "Writes the sinusoidal table of Vaswani et al. 2017, one row per position and one column per component, in doubles whose error is a few units in the last place of the angle.",
  ],
  options: [
    { name: "d-model", value: "N", help: "Components of a row." },
    ...POSITIONS,
    { name: "base", value: "X", help: "Base of the frequencies. Default 10000." },
    { name: "layout", value: "NAME", help: "Order of the columns. Default interleaved.", choices: LAYOUTS },
    ...OUTPUT,
  ],
  examples: [
    "posenc table --d-model 128 --seq-len 50 -o table.npy",
    "posenc table --d-model 128 --seq-len 200 -o table.png",
    "posenc table --d-model 8 --positions 0,5,1000000",
  ],
  async run(core, given) {
    noFiles(given);
    const dModel = given.needed("d-model", given.count("d-model"));
    const base = given.number("base");
    const layout = given.text("layout") as SinusoidalLayout | undefined;
    const positions = positionsOf(given, 100, dModel);
    const values = core.sinusoidalRows(positions, {
      dModel,
      ...(base !== undefined && { base }),
      ...(layout && { layout }),
    });
    await write(core, given, { name: "sinusoidal", shape: [positions.length, dModel], values });
    return 0;
  },
};

export const alibi: Runnable = {
  name: "alibi",
  usage: "--num-heads N [--seq-len N [--causal]] [OPTION]…",
  summary: "ALiBi's slopes, or the biases they give",
  text: [
    "Without --seq-len, writes one slope for each head: Press et al. 2021, also for head counts that are no powers of two, in the order of the original, unsorted.",
    "With --seq-len, writes the biases (num_heads, seq_len, seq_len), -slope · |key - query|, to be added to scores after their multiplication by 1/sqrt(head_dim). With --causal, keys after the query get -inf.",
  ],
  options: [
    { name: "num-heads", value: "N", help: "Heads." },
    { name: "alibi-bias-max", value: "X", help: "The last slope is 2^-X. Default 8." },
    { name: "seq-len", value: "N", help: "Write the biases of N positions." },
    { name: "causal", value: "", help: "-inf for keys after the query." },
    ...OUTPUT,
  ],
  examples: ["posenc alibi --num-heads 12", "posenc alibi --num-heads 8 --seq-len 64 --causal -o bias.npy"],
  async run(core, given) {
    noFiles(given);
    const numHeads = given.needed("num-heads", given.count("num-heads"));
    given.needs("causal", "seq-len");
    const seqLen = given.count("seq-len");
    const cells = numHeads * (seqLen ?? 1) ** 2;
    checkCells(given, `--num-heads ${numHeads}${seqLen ? ` with --seq-len ${seqLen}` : ""} makes`, cells);
    const alibiBiasMax = given.number("alibi-bias-max");
    const slopes = core.alibiSlopes({ numHeads, ...(alibiBiasMax !== undefined && { alibiBiasMax }) });
    if (seqLen === undefined) {
      await write(core, given, { name: "slopes", shape: [numHeads], values: slopes });
      return 0;
    }
    const values = core.alibiBias(slopes, seqLen, given.has("causal"));
    await write(core, given, { name: "alibi_bias", shape: [numHeads, seqLen, seqLen], values });
    return 0;
  },
};

export const t5: Runnable = {
  name: "t5",
  usage: "[--from N --to N | --q-len N --k-len N] [OPTION]…",
  summary: "T5's buckets of relative positions, or the biases they look up",
  text: [
    "Writes the bucket of each relative position (key minus query) from --from to --to; or, with --q-len and --k-len, the matrix of buckets; or, with --table too, the biases (num_heads, q_len, k_len) that the matrix looks up. Raffel et al. 2019.",
    "A negative number is written with an equals sign: --from=-128.",
  ],
  options: [
    { name: "num-buckets", value: "N", help: "Default 32." },
    { name: "max-distance", value: "N", help: "Default 128." },
    { name: "causal", value: "", help: "The decoder's buckets: all keys after the query share bucket 0." },
    { name: "from", value: "N", help: "First relative position. Default -128." },
    { name: "to", value: "N", help: "Last relative position. Default 128." },
    { name: "q-len", value: "N", help: "Queries." },
    { name: "k-len", value: "N", help: "Keys. Default: q-len." },
    {
      name: "table",
      value: "FILE",
      help: "The learned table (num_buckets, num_heads), a JSON list of lists.",
    },
    ...OUTPUT,
  ],
  examples: [
    "posenc t5 --from=-8 --to=8",
    "posenc t5 --q-len 64 --causal -o buckets.png",
    "posenc t5 --q-len 6 --num-buckets 8 --max-distance 20 --table table.json --format json",
  ],
  async run(core, given) {
    noFiles(given);
    const numBuckets = given.count("num-buckets") ?? 32;
    const config = {
      numBuckets,
      maxDistance: given.count("max-distance") ?? 128,
      bidirectional: !given.has("causal"),
    };
    const qLen = given.count("q-len");
    for (const name of ["k-len", "table"]) given.needs(name, "q-len");
    const listed = ["from", "to"].find((name) => given.has(name));
    if (listed && qLen !== undefined) throw new UsageError(`either --q-len or --${listed}`);
    if (qLen === undefined) {
      const [from, to] = [given.number("from") ?? -128, given.number("to") ?? 128];
      const fits = [from, to].every((offset) => Number.isInteger(offset) && Math.abs(offset) < 2 ** 31);
      if (!fits || to < from || to - from > MAX_OFFSETS) {
        throw new UsageError(
          `--from and --to must be whole numbers in order, below 2^31 in size and at most ${MAX_OFFSETS} apart; got ${from} and ${to}`,
        );
      }
      const offsets = Int32Array.from({ length: to - from + 1 }, (_, i) => from + i);
      const values = core.t5Buckets(offsets, config);
      await write(core, given, {
        name: "buckets",
        shape: [offsets.length],
        values,
        columns: [...offsets].map(String),
      });
      return 0;
    }
    const kLen = given.count("k-len") ?? qLen;
    checkCells(given, `--q-len ${qLen} with ${kLen} keys makes`, qLen * kLen);
    const path = given.text("table");
    if (path === undefined) {
      const offsets = Int32Array.from({ length: qLen * kLen }, (_, n) => (n % kLen) - Math.floor(n / kLen));
      await write(core, given, {
        name: "buckets",
        shape: [qLen, kLen],
        values: core.t5Buckets(offsets, config),
      });
      return 0;
    }
    const rule = `${numBuckets} lists, one per bucket, of one finite number per head`;
    const { columns: numHeads, values } = await readMatrix(path, rule, numBuckets);
    checkCells(given, `${numHeads} heads with ${qLen} queries and ${kLen} keys make`, numHeads * qLen * kLen);
    const bias = core.t5Bias(values, numHeads, qLen, kLen, config);
    await write(core, given, { name: "t5_bias", shape: [numHeads, qLen, kLen], values: bias });
    return 0;
  },
};
