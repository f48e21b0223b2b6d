// Section 14. The slopes of the heads, and how far each head sees.

import type { Posenc } from "../../posenc.ts";
import { at, last } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

/**
 * The nearest keys that hold 99 % of the weight when all q·k are equal and the past is long. The weights fall by
 * e^−slope per step, so the first n hold 1 − e^(−slope n).
 */
const window = (slope: number) => Math.ceil(Math.log(100) / slope);

/** A power of two in full (0.00390625), any other slope to six digits. */
const printed = (slope: number) => String(Number(slope.toPrecision(6)));

export function numbers(posenc: Posenc): Record<string, string> {
  const slopes = posenc.alibiSlopes({ numHeads: 8 });
  return {
    alibi_window_steepest_8: fixed(window(at(slopes, 0)), 0),
    alibi_window_flattest_8: fixed(window(last(slopes)), 0),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const headCounts = [6, 8, 12];
  const slopes = headCounts.map((numHeads) => posenc.alibiSlopes({ numHeads }));
  const most = Math.max(...headCounts);
  return {
    alibi_slopes: {
      caption: "Slopes of the heads in models of 6, 8 and 12 heads, in the order of the reference code.",
      head: ["Head", ...headCounts.map((count) => `${count} heads`)],
      rows: Array.from({ length: most }, (_, head) => [
        head + 1,
        ...slopes.map((list) => (head < list.length ? printed(at(list, head)) : "")),
      ]),
    },
    alibi_windows: {
      caption: String.raw`How far each of 8 heads sees when all $\q{q}\cdot\k{k}$ are equal and the past is long.`,
      head: ["Head", "Slope", "Nearest keys that hold 99 % of the weight"],
      rows: Array.from(posenc.alibiSlopes({ numHeads: 8 }), (slope, head) => [
        head + 1,
        printed(slope),
        window(slope),
      ]),
    },
  };
}
