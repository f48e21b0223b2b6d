// Section 13. Which clocks each scaling slows down, and by how much.

import type { Posenc, RopeConfig } from "../../posenc.ts";
import { groupDigits } from "../values.ts";
import { at, last } from "./arrays.ts";
import { fixed, significant, type Table } from "./table.ts";

const headDim = 128;
const original = 4096;
const factor = 8;
const extended = factor * original;

const plainInvFreq = (posenc: Posenc) => posenc.ropeInvFreq({ headDim }).invFreq;
const scaled = (posenc: Posenc, ropeType: NonNullable<RopeConfig["ropeType"]>) =>
  posenc.ropeInvFreq({ headDim, ropeType, factor, originalMaxPositionEmbeddings: original }, extended);
const wavelength = (invFreq: number) => (2 * Math.PI) / invFreq;

/** The base that static NTK scaling puts in place of 10000, read back from pair 1: inv_freq = base^(−2/d). */
function ntkTheta(posenc: Posenc, scale: number): number {
  const { invFreq } = posenc.ropeInvFreq({ headDim, ropeType: "ntk", factor: scale });
  return at(invFreq, 1) ** (-headDim / 2);
}

export function numbers(posenc: Posenc): Record<string, string> {
  const plain = plainInvFreq(posenc);
  const llama3 = posenc.ropeInvFreq({ headDim, ropeTheta: 500_000 }).invFreq;
  return {
    pairs_below_one_turn: fixed(plain.filter((invFreq) => wavelength(invFreq) > original).length, 0),
    yarn_attention_factor_8: fixed(scaled(posenc, "yarn").attentionFactor, 3),
    dynamic_ntk_multiplier_8: fixed(last(plain) / last(scaled(posenc, "dynamic").invFreq), 0),
    period_slowest_d128_theta_500000: fixed(wavelength(last(llama3)), 0),
    ntk_theta_4096_to_16384: fixed(ntkTheta(posenc, 16_384 / 4096), 0),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const plain = plainInvFreq(posenc);
  const methods = (["linear", "ntk", "dynamic", "yarn", "llama3"] as const).map(
    (ropeType) => scaled(posenc, ropeType).invFreq,
  );
  return {
    scaled_frequencies: {
      caption: `How many times slower each pair turns, head_dim ${headDim}, from ${original} to ${groupDigits(extended)} positions (factor ${factor}).`,
      head: [
        "Pair",
        "Wavelength",
        `Turns in ${original}`,
        "Linear",
        "NTK",
        "Dynamic NTK",
        "YaRN",
        "Llama 3.1",
      ],
      rows: [0, 16, 24, 32, 40, 48, 63].map((pair) => [
        pair,
        significant(wavelength(at(plain, pair)), 4),
        fixed(original / wavelength(at(plain, pair)), 2),
        ...methods.map((invFreq) => fixed(at(plain, pair) / at(invFreq, pair), 2)),
      ]),
    },
  };
}
