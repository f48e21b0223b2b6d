// Section 3. The table that the heatmap draws.

import type { Posenc } from "../../posenc.ts";
import { at, last, range } from "./arrays.ts";
import { fixed } from "./table.ts";

export const slowestPeriod = (posenc: Posenc, dModel: number) =>
  (2 * Math.PI) / last(posenc.sinusoidalInvFreq({ dModel }));

/** Columns of the first `seqLen` rows that never leave their first value by `tolerance` or more. */
function stillColumns(posenc: Posenc, seqLen: number, dModel: number, tolerance: number): number {
  const table = posenc.sinusoidalRows(range(seqLen), { dModel });
  const isStill = (column: number) =>
    range(seqLen).every((p) => Math.abs(at(table, p * dModel + column) - at(table, column)) < tolerance);
  return range(dModel).filter(isStill).length;
}

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    still_columns_d128: fixed(stillColumns(posenc, 100, 128, 0.05), 0),
    period_slowest_d128: fixed(slowestPeriod(posenc, 128), 0),
  };
}
