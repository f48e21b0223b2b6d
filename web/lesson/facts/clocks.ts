// Section 4. How much slower each hand is than the first, and how far apart the rows stay.

import type { Posenc } from "../../posenc.ts";
import { at, last } from "./arrays.ts";
import { dotByOffset } from "./shift.ts";
import { slowestPeriod } from "./sinusoidal.ts";
import { fixed, significant, type Table } from "./table.ts";

const dModel = 512;
const searchLimit = 100_000;

/**
 * The distance of two neighbouring rows: |a − b|² = |a|² + |b|² − 2 a·b. The text says that no other two rows within
 * the limit are closer, so that is checked here.
 */
function neighbourDistance(posenc: Posenc): number {
  const dots = dotByOffset(posenc, dModel, searchLimit + 1);
  const nearest = dots.subarray(1).reduce((best, value, i) => (value > at(dots, best) ? i + 1 : best), 1);
  if (nearest !== 1) throw new Error(`rows ${nearest} apart are closer than neighbours`);
  return Math.sqrt(2 * at(dots, 0) - 2 * at(dots, 1));
}

export function numbers(posenc: Posenc): Record<string, string> {
  const invFreq = posenc.sinusoidalInvFreq({ dModel });
  const ratio = at(invFreq, 0) / last(invFreq);
  return {
    period_fastest: fixed((2 * Math.PI) / at(invFreq, 0), 3),
    half_period_fastest: fixed(Math.PI / at(invFreq, 0), 2),
    period_slowest_d512: fixed(slowestPeriod(posenc, dModel), 0),
    clock_ratio_d512: fixed(ratio, 0),
    clock_ratio_log2_d512: fixed(Math.log2(ratio), 1),
    // bit n is 2^n times slower than bit 0
    clock_bits_d512: fixed(Math.ceil(Math.log2(ratio)) + 1, 0),
    clock_step_d512: fixed(at(invFreq, 0) / at(invFreq, 1), 3),
    row_distance_neighbour_d512: fixed(neighbourDistance(posenc), 2),
    collision_search_limit: fixed(searchLimit, 0),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const invFreq = posenc.sinusoidalInvFreq({ dModel });
  return {
    clocks_d512: {
      caption: "Eight of the 256 hands at d_model 512, from the fastest to the slowest.",
      head: ["Pair", "`inv_freq`", "Wavelength", "Times slower than pair 0", "As a power of 2"],
      rows: [0, 1, 16, 32, 64, 128, 192, 255].map((pair) => {
        const slower = at(invFreq, 0) / at(invFreq, pair);
        return [
          pair,
          significant(at(invFreq, pair), 4),
          significant((2 * Math.PI) / at(invFreq, pair), 4),
          significant(slower, 4),
          fixed(Math.log2(slower), 2),
        ];
      }),
    },
  };
}
