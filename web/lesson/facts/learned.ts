// Section 9. A learned table has a row for each position it was given, and no other.

import type { Posenc } from "../../posenc.ts";
import { norm } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

export const learnedParameters = (rows: number, dModel: number) => rows * dModel;

export function numbers(): Record<string, string> {
  return { learned_parameters_bert_base: fixed(learnedParameters(512, 768), 0) };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const models: [name: string, rows: number, dModel: number][] = [
    ["BERT base", 512, 768],
    ["BERT large", 512, 1024],
    ["RoBERTa base", 514, 768],
    ["GPT-2", 1024, 768],
  ];
  return {
    learned_parameters: {
      caption: "Learned position tables of four models.",
      head: ["Model", "Rows", "d_model", "Parameters"],
      rows: models.map(([name, rows, dModel]) => [name, rows, dModel, learnedParameters(rows, dModel)]),
    },
    learned_limits: learnedLimits(posenc),
  };
}

function learnedLimits(posenc: Posenc): Table {
  const [rows, dModel] = [512, 512];
  const learned = posenc.randomNormal(rows * dModel, 0, 0.02);
  const lookUp = (position: number): string => {
    try {
      posenc.lookupRows(learned, Int32Array.of(position), rows, dModel);
      return "row";
    } catch (error) {
      return (error as RangeError).message;
    }
  };
  const compute = (position: number): string => {
    const row = posenc.sinusoidalRows(Float64Array.of(position), { dModel });
    return `row, norm ${fixed(norm(row), 0)}`;
  };
  return {
    caption: `What each kind of table answers at d_model ${dModel}; errors are the core's own words.`,
    head: ["Position asked", "Sinusoidal", `Learned, ${rows} rows`],
    rows: [0, 511, 512, 5000].map((position) => [position, compute(position), lookUp(position)]),
  };
}
