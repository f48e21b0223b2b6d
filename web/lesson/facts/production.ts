// Section 18. What precomputed cosines and sines take, beside the KV cache of a model shaped like Llama 3.1 8B.

import { fixed, type Table } from "./table.ts";

const [layers, keyValueHeads, headDim] = [32, 8, 128];
const [float32Bytes, bf16Bytes, mebibyte] = [4, 2, 2 ** 20];

/** A cosine and a sine for each pair. */
const valuesPerPosition = 2 * (headDim / 2);
const tableBytes = (positions: number) => positions * valuesPerPosition * float32Bytes;
/** A key and a value for each layer and key-value head. */
const kvCacheBytes = (positions: number) => positions * 2 * layers * keyValueHeads * headDim * bf16Bytes;
const share = (positions: number) => fixed((100 * tableBytes(positions)) / kvCacheBytes(positions), 2);

export function numbers(): Record<string, string> {
  return { rope_cache_share: share(1) };
}

export function tables(): Record<string, Table> {
  return {
    rope_cache_cost: {
      caption: `Cost of precomputed cosines and sines, head_dim ${headDim}, beside the KV cache of one sequence.`,
      head: [
        "Positions",
        "Sines and cosines, once",
        `If computed in each of ${layers} layers`,
        "float32 table, MiB",
        "KV cache, MiB",
        "Share %",
      ],
      rows: [4096, 8192, 32_768, 131_072].map((positions) => [
        positions,
        positions * valuesPerPosition,
        positions * valuesPerPosition * layers,
        tableBytes(positions) / mebibyte,
        kvCacheBytes(positions) / mebibyte,
        share(positions),
      ]),
    },
  };
}
