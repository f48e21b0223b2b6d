// Section 6. What an untrained attention head sees of content and of position, measured over random draws.

import type { Posenc } from "../../posenc.ts";
import { at, mean, norm, range, row } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

const [seqLen, dModel, headDim, draws] = [32, 512, 64, 20];
/** Of a token vector × √d_model, the table drawn with standard deviation 0.02. */
const tokenSigma = 0.02 * Math.sqrt(dModel);
const terms = ["content–content", "content–position", "position–content", "position–position"];

const sinusoidalRows = (posenc: Posenc) => posenc.sinusoidalRows(range(seqLen), { dModel });

/** The logits' terms (4, seqLen, seqLen) for the tokens and weights of one seed. */
function draw(posenc: Posenc, seed: number): Float64Array {
  const random = (count: number, sigma: number, part: number) =>
    posenc.randomNormal(count, 3 * seed + part, sigma);
  const weightSigma = 1 / Math.sqrt(dModel);
  return posenc.crossTerms(
    random(seqLen * dModel, tokenSigma, 0),
    sinusoidalRows(posenc),
    random(dModel * headDim, weightSigma, 1),
    random(dModel * headDim, weightSigma, 2),
    { seqLen, dModel, headDim },
  );
}

const termOf = (drawn: Float64Array, term: number) => row(drawn, term, seqLen ** 2);
const allDraws = (posenc: Posenc) => Array.from(range(draws), (seed) => draw(posenc, seed));

/** Shares of the terms in percent: for random weights a term's mean square is the product of its squared norms. */
function expectedShares(posenc: Posenc, sigma = tokenSigma): number[] {
  const content = sigma ** 2 * dModel;
  const position = norm(row(sinusoidalRows(posenc), 0, dModel)) ** 2;
  return percentages([content * content, content * position, position * content, position * position]);
}

function measuredShares(posenc: Posenc): number[] {
  const drawn = allDraws(posenc);
  const meanSquare = (values: Float64Array) => mean(values.map((value) => value ** 2));
  return percentages(terms.map((_, term) => mean(drawn.map((all) => meanSquare(termOf(all, term))))));
}

function percentages(values: number[]): number[] {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => (100 * value) / sum);
}

/** How much of a square matrix's variance its diagonals explain, in percent: 100 for a Toeplitz matrix. */
function toeplitzShare(matrix: Float64Array, n: number): number {
  const diagonal = (offset: number) => matrix.filter((_, i) => (i % n) - Math.floor(i / n) === offset);
  const squares = (values: Float64Array) => {
    const centre = mean(values);
    return values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  };
  const within = range(2 * n - 1, 1 - n).reduce((sum, offset) => sum + squares(diagonal(offset)), 0);
  return 100 * (1 - within / squares(matrix));
}

export function numbers(posenc: Posenc): Record<string, string> {
  const expected = expectedShares(posenc);
  const raw = posenc.similarity(sinusoidalRows(posenc), seqLen, dModel);
  const projected = allDraws(posenc).map((drawn) => toeplitzShare(termOf(drawn, 3), seqLen));
  return {
    cross_share_pp_expected: fixed(at(expected, 3), 1),
    cross_share_pp_unit: fixed(at(expectedShares(posenc, 1), 3), 0),
    cross_share_cc_expected: fixed(at(expected, 0), 1),
    toeplitz_share_raw: fixed(toeplitzShare(raw, seqLen), 0),
    toeplitz_share_projected: fixed(mean(projected), 0),
    toeplitz_draws: fixed(draws, 0),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  const [expected, measured] = [expectedShares(posenc), measuredShares(posenc)];
  return {
    cross_term_shares: {
      caption: `Shares in the mean square of a logit, measured over ${draws} random draws of ${seqLen} tokens (d_model ${dModel}, head_dim ${headDim}).`,
      head: ["Term", "Expected share %", "Measured share %"],
      rows: terms.map((term, i) => [term, fixed(at(expected, i), 1), fixed(at(measured, i), 1)]),
    },
  };
}
