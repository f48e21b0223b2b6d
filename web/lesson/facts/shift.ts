// Section 5. A shift is a rotation, the same from every start, so the dot product of two rows sees their offset alone.

import type { Posenc } from "../../posenc.ts";
import { at, dot, largestDifference, range, row } from "./arrays.ts";
import { fixed, scientific, type Table } from "./table.ts";

const dModel = 512;

/** PE(p) · PE(p + k) for k = 0 .. count − 1. */
export const dotByOffset = (posenc: Posenc, width: number, count: number) =>
  posenc.dotByOffset(range(count), posenc.sinusoidalInvFreq({ dModel: width }));

/** M v, with M the 2 × 2 rotations of all pairs. */
function rotate(matrices: Float64Array, v: Float64Array): Float64Array {
  return v.map((_, c) => {
    const [first, entry] = [c - (c % 2), 2 * c];
    return at(matrices, entry) * at(v, first) + at(matrices, entry + 1) * at(v, first + 1);
  });
}

/** max |PE(p+k) − M_k PE(p)| over `count` positions p. */
function largestResidual(posenc: Posenc, k: number, first: number, count: number): number {
  const matrices = posenc.shiftMatrices(posenc.sinusoidalInvFreq({ dModel }), k);
  const rows = posenc.sinusoidalRows(range(count, first), { dModel });
  const shifted = posenc.sinusoidalRows(range(count, first + k), { dModel });
  const residuals = Array.from(range(count), (i) =>
    largestDifference(row(shifted, i, dModel), rotate(matrices, row(rows, i, dModel))),
  );
  return Math.max(...residuals);
}

function rowDot(posenc: Posenc, p: number, k: number): number {
  const rows = posenc.sinusoidalRows(Float64Array.of(p, p + k), { dModel });
  return dot(row(rows, 0, dModel), row(rows, 1, dModel));
}

export function numbers(posenc: Posenc): Record<string, string> {
  const dots = dotByOffset(posenc, dModel, 1000);
  return {
    dot_first_rise_d512: fixed(
      dots.findIndex((value, k) => k >= 1 && at(dots, k + 1) > value),
      0,
    ),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const invFreq = posenc.sinusoidalInvFreq({ dModel });
  return {
    shift_residuals_d512: {
      caption: String.raw`Shifts by $\pos{k}$ at d_model ${dModel}; for $\pos{k} = -5$ every $\pos{p}$ is 5 larger.`,
      head: [
        String.raw`$\pos{k}$`,
        String.raw`$\cos \pos{k}$`,
        String.raw`$\sin \pos{k}$`,
        String.raw`Largest residual, $\pos{p}$ from 0 to 999`,
        String.raw`$\operatorname{PE}(\pos{p}) \cdot \operatorname{PE}(\pos{p}+\pos{k})$, $\pos{p} = 0$`,
        String.raw`the same, $\pos{p} = 700$`,
      ],
      rows: [1, 5, 50, 500, -5].map((k) => {
        const matrices = posenc.shiftMatrices(invFreq, k);
        // positions start at 0, so a shift to the left starts further right
        const start = Math.max(0, -k);
        return [
          k,
          fixed(at(matrices, 0), 3),
          fixed(at(matrices, 1), 3),
          scientific(largestResidual(posenc, k, start, 1000)),
          fixed(rowDot(posenc, start, k), 2),
          fixed(rowDot(posenc, start + 700, k), 2),
        ];
      }),
    },
  };
}
