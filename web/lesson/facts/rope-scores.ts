// Section 11. The score of equal q and k relative to offset 0: the mean of cos(k ω) over the pairs.

import type { Posenc } from "../../posenc.ts";
import { at, range } from "./arrays.ts";
import { fixed } from "./table.ts";

export function numbers(posenc: Posenc): Record<string, string> {
  const headDim = 64;
  const { invFreq } = posenc.ropeInvFreq({ headDim });
  const scores = posenc.dotByOffset(range(2000), invFreq).map((sum) => sum / invFreq.length);
  return {
    mean_cosine_d64_at_50: fixed(at(scores, 50), 2),
    mean_cosine_d64_at_100: fixed(at(scores, 100), 2),
    mean_cosine_d64_first_negative: fixed(
      scores.findIndex((score) => score < 0),
      0,
    ),
  };
}
