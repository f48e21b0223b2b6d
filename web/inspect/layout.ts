// The two ways to pair the components of a head, on the same weights: what each scores, and the rows that reconcile
// them.
//
// Based on: Su et al. 2021, equation 34 (interleaved); transformers, convert_llama_weights_to_hf.py (half).

import type { PairLayout, Posenc } from "../posenc.ts";
import type { Numbers } from "./numbers.ts";

export interface LayoutScores {
  /** Key minus query, as asked. */
  offsets: Float64Array;
  /** q·k of a checkpoint in the config's layout: read rightly, read in the other one, and in the other one permuted. */
  right: Float64Array;
  wrong: Float64Array;
  permuted: Float64Array;
}

/** Scores of one seeded q and k at relative positions 0 and below, the query at the largest distance. */
export function layoutScores(
  core: Posenc,
  { config, invFreq, attentionFactor }: Numbers,
  layout: PairLayout,
  offsets: Float64Array,
  seed = 1,
): LayoutScores {
  const { headDim, rotaryDim = headDim } = config;
  const [q, k] = [core.randomNormal(headDim, seed), core.randomNormal(headDim, seed + 1)];
  const last = offsets.reduce((most, offset) => Math.max(most, Math.abs(offset)), 0);
  const turned = (x: Float64Array, positions: Float64Array, as: PairLayout): Float64Array => {
    const { cos, sin } = core.ropeCosSin(positions, invFreq, attentionFactor);
    const rows = new Float64Array(positions.length * headDim);
    for (let t = 0; t < positions.length; t++) rows.set(x, t * headDim);
    return core.ropeApply(rows, cos, sin, { seqLen: positions.length, headDim, rotaryDim, layout: as });
  };
  const scores = (queryRow: Float64Array, keyRow: Float64Array, as: PairLayout): Float64Array => {
    const query = turned(queryRow, Float64Array.of(last), as);
    const keys = turned(
      keyRow,
      offsets.map((offset) => last + offset),
      as,
    );
    return Float64Array.from(offsets, (_, t) =>
      query.reduce((sum, value, c) => sum + value * (keys[t * headDim + c] ?? 0), 0),
    );
  };
  const other: PairLayout = layout === "half" ? "interleaved" : "half";
  const order = rowsFor(core, headDim, rotaryDim, layout);
  const moved = (x: Float64Array): Float64Array => Float64Array.from(order, (row) => x[row] ?? 0);
  return {
    offsets,
    right: scores(q, k, layout),
    wrong: scores(q, k, other),
    permuted: scores(moved(q), moved(k), other),
  };
}

/** Row r of the other layout is row rows[r] of this one, within a head; rows past rotary_dim stay. */
export function rowsFor(core: Posenc, headDim: number, rotaryDim: number, from: PairLayout): Int32Array {
  const rows = Int32Array.from({ length: headDim }, (_, r) => r);
  for (const [half, interleaved] of core.halfFromInterleaved({ headDim, rotaryDim }).entries()) {
    if (from === "interleaved") rows[half] = interleaved;
    else rows[interleaved] = half;
  }
  return rows;
}

/**
 * Python that permutes the rows of W_q or W_k, (num_heads · head_dim, d_model), from one layout to the other; with an
 * unrotated part beside head_dim, those of DeepSeek's projections.
 */
export function permutationSnippet(
  {
    numHeads,
    headDim,
    rotaryDim,
    unrotatedDim = 0,
  }: { numHeads: number; headDim: number; rotaryDim: number; unrotatedDim?: number },
  from: PairLayout,
): string {
  const turning =
    from === "interleaved"
      ? `[*range(0, ${rotaryDim}, 2), *range(1, ${rotaryDim}, 2)]`
      : `[i // 2 + i % 2 * ${rotaryDim / 2} for i in range(${rotaryDim})]`;
  if (unrotatedDim > 0) {
    const width = unrotatedDim + headDim;
    return [
      `part = ${turning}`,
      `head = [*range(${unrotatedDim}), *(${unrotatedDim} + i for i in part)]  # what does not turn comes first`,
      `rows = [${width} * h + i for h in range(${numHeads}) for i in head]`,
      "q_b_proj = q_b_proj[rows]  # q_proj in models without it",
      `first = len(kv_a_proj) - ${headDim}  # kv_a_proj_with_mqa: one turning key for all heads, at its end`,
      "kv_a_proj = kv_a_proj[[*range(first), *(first + i for i in part)]]",
      "",
    ].join("\n");
  }
  return [
    `head = ${turning} + [*range(${rotaryDim}, ${headDim})]  # what does not turn stays`,
    `rows = [${headDim} * h + i for h in range(${numHeads}) for i in head]`,
    "w_q = w_q[rows]  # and w_k with its own number of heads; biases alike",
    "",
  ].join("\n");
}
