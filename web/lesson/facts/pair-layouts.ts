// Section 12. The same query and key under both pair layouts, with and without the permutation of the weights.

import type { PairLayout, Posenc } from "../../posenc.ts";
import { at, dot, range } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

const headDim = 8;
const q = range(headDim).map((i) => (i + 1) / headDim);
const k = q.slice().reverse();

function score(posenc: Posenc, layout: PairLayout, rows: Int32Array, m: number, n: number): number {
  const { invFreq } = posenc.ropeInvFreq({ headDim });
  const rotated = (vector: Float64Array, position: number) => {
    const { cos, sin } = posenc.ropeCosSin(Float64Array.of(position), invFreq);
    const permuted = Float64Array.from(rows, (r) => at(vector, r));
    return posenc.ropeApply(permuted, cos, sin, { seqLen: 1, headDim, layout });
  };
  return dot(rotated(q, m), rotated(k, n));
}

/** Scores at query position m and key position n: as trained, converted, and converted without its permutation. */
function scores(posenc: Posenc, m: number, n: number) {
  const unpermuted = Int32Array.from(range(headDim));
  const permuted = posenc.halfFromInterleaved({ headDim });
  return {
    interleaved: score(posenc, "interleaved", unpermuted, m, n),
    half: score(posenc, "half", permuted, m, n),
    mixed: score(posenc, "half", unpermuted, m, n),
  };
}

export function numbers(posenc: Posenc): Record<string, string> {
  const { interleaved, mixed } = scores(posenc, 7, 0);
  return {
    layout_score_matched_7_0: fixed(interleaved, 3),
    layout_score_mixed_7_0: fixed(mixed, 3),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const positions: [m: number, n: number][] = [
    [7, 7],
    [7, 3],
    [107, 103],
    [7, 0],
  ];
  return {
    layout_scores: {
      caption: `Scores of one query and one key under both layouts, head_dim ${headDim}.`,
      head: [
        "Query position",
        "Key position",
        "Interleaved",
        "Permuted weights, half",
        "Unpermuted weights, half (wrong)",
      ],
      rows: positions.map(([m, n]) => {
        const { interleaved, half, mixed } = scores(posenc, m, n);
        return [m, n, fixed(interleaved, 4), fixed(half, 4), fixed(mixed, 4)];
      }),
    },
  };
}
