// Section 10. One pair of frequency 1: what rotating changes depends on the content.

import type { Posenc } from "../../posenc.ts";
import { at } from "./arrays.ts";
import { fixed } from "./table.ts";

/** qᵀ R(−1) k − q·k for q = (1, 0). */
function changeByRotation(posenc: Posenc, k: Float64Array): number {
  const [q, invFreq, offsets] = [Float64Array.of(1, 0), Float64Array.of(1), Float64Array.of(-1, 0)];
  const scores = posenc.ropeScoreByOffset(offsets, q, k, invFreq);
  return at(scores, 0) - at(scores, 1);
}

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    rope_change_same: fixed(changeByRotation(posenc, Float64Array.of(1, 0)), 3),
    rope_change_quarter: fixed(changeByRotation(posenc, Float64Array.of(0, 1)), 3),
  };
}
