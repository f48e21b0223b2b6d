// Section 7. Eight numbers per position, small enough for a check by hand.

import type { Posenc } from "../../posenc.ts";
import { at } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

const dModel = 8;
const position = 5;

const exactRow = (posenc: Posenc, p: number) => posenc.sinusoidalRows(Float64Array.of(p), { dModel });
const printedRow = (posenc: Posenc, p: number) => Array.from(exactRow(posenc, p), (value) => fixed(value, 3));

export function numbers(posenc: Posenc): Record<string, string> {
  const row = exactRow(posenc, position);
  return {
    angle5_degrees: fixed((position * 180) / Math.PI, 1),
    worked_sin2: fixed(at(row, 0) ** 2, 3),
    worked_cos2: fixed(at(row, 1) ** 2, 3),
    worked_row_5: printedRow(posenc, position).join(", "),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const invFreq = posenc.sinusoidalInvFreq({ dModel });
  const values = printedRow(posenc, position);
  return {
    worked_angles: {
      caption: `Angles of the four pairs at position ${position}, d_model ${dModel}.`,
      head: ["Pair", "`inv_freq`", `Angle at ${position}`, "sin", "cos"],
      rows: Array.from(invFreq, (frequency, pair) => [
        pair,
        fixed(frequency, 3),
        fixed(position * frequency, 3),
        values[2 * pair] ?? "",
        values[2 * pair + 1] ?? "",
      ]),
    },
    worked_rows: {
      caption: `Three rows of the sinusoidal table, d_model ${dModel}.`,
      head: ["Position", ...Array.from({ length: dModel }, (_, column) => `dim ${column}`)],
      rows: [0, 1, position].map((p) => [p, ...printedRow(posenc, p)]),
    },
  };
}
