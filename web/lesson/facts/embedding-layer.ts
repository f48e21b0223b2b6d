// Section 8. What each step of the first layer holds.

import { fixed, shape, type Table } from "./table.ts";

const [batch, seqLen, vocabSize, dModel] = [2, 20, 10_000, 512];
const tokenTable = [vocabSize, dModel];

const product = (sizes: number[]) => sizes.reduce((count, size) => count * size, 1);

export function numbers(): Record<string, string> {
  return { embedding_params_10000_512: fixed(product(tokenTable), 0) };
}

export function tables(): Record<string, Table> {
  const steps: [step: string, sizes: number[]][] = [
    ["`token_ids`", [batch, seqLen]],
    ["token table", tokenTable],
    ["looked up and scaled", [batch, seqLen, dModel]],
    ["position rows", [seqLen, dModel]],
    ["sum", [batch, seqLen, dModel]],
  ];
  return {
    embedding_shapes: {
      caption: `Shapes through the embedding layer: batch of ${batch}, ${seqLen} tokens, d_model ${dModel}.`,
      head: ["Step", "Shape", "Numbers"],
      rows: steps.map(([step, sizes]) => [step, shape(...sizes), product(sizes)]),
    },
  };
}
