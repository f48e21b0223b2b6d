// Section 17. What the float formats hold, and what each place of rounding does to a sinusoidal row.

import type { FloatFormat, Posenc } from "../../posenc.ts";
import { at, largestDifference, range } from "./arrays.ts";
import { fixed, scientific, type Table } from "./table.ts";

const dModel = 512;

const round = (posenc: Posenc, value: number, format: FloatFormat) =>
  at(posenc.roundTo(Float64Array.of(value), format), 0);

/** With n significant bits every integer up to 2^n fits, and 2^n + 1 is the first that does not. */
function firstInexact(posenc: Posenc, format: FloatFormat): number {
  const candidates = Array.from(range(53), (n) => 2 ** n + 1);
  return candidates.find((candidate) => round(posenc, candidate, format) !== candidate) ?? Number.NaN;
}

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    first_inexact_bf16: fixed(firstInexact(posenc, "bfloat16"), 0),
    first_inexact_fp16: fixed(firstInexact(posenc, "float16"), 0),
    first_inexact_float32: fixed(firstInexact(posenc, "float32"), 0),
    distinct_bf16_4096: fixed(new Set(posenc.roundTo(range(4096), "bfloat16")).size, 0),
    bf16_of_10000: fixed(round(posenc, 10_000, "bfloat16"), 0),
  };
}

const exactRow = (posenc: Posenc, position: number) =>
  posenc.sinusoidalRows(Float64Array.of(position), { dModel });

/** The row as float32 code makes it: position and inv_freq are rounded, then their product, then sine and cosine. */
function rowFromFloat32Angles(posenc: Posenc, position: number): Float64Array {
  const p = round(posenc, position, "float32");
  const invFreq = posenc.roundTo(posenc.sinusoidalInvFreq({ dModel }), "float32");
  const angles = posenc.roundTo(
    invFreq.map((frequency) => p * frequency),
    "float32",
  );
  // position 1 at frequency `angle`
  const { cos, sin } = posenc.ropeCosSin(Float64Array.of(1), angles);
  const row = Float64Array.from({ length: dModel }, (_, c) => at(c % 2 === 0 ? sin : cos, Math.floor(c / 2)));
  return posenc.roundTo(row, "float32");
}

export function tables(posenc: Posenc): Record<string, Table> {
  return {
    precision_errors: {
      caption: `Largest absolute error of a sinusoidal row, d_model ${dModel}, by where it is rounded.`,
      head: [
        "Position",
        "Angle in double, value to float32",
        "Angle in float32",
        "Position in bf16",
        "Row in bf16",
      ],
      rows: [10_000, 100_000, 1_000_000].map((position) => {
        const exact = exactRow(posenc, position);
        const error = (row: Float64Array) => largestDifference(row, exact);
        return [
          position,
          scientific(error(posenc.roundTo(exact, "float32"))),
          scientific(error(rowFromFloat32Angles(posenc, position))),
          fixed(error(exactRow(posenc, round(posenc, position, "bfloat16"))), 3),
          scientific(error(posenc.roundTo(exact, "bfloat16")), 2),
        ];
      }),
    },
  };
}
