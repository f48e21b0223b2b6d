// What a reordering did to the outputs, in a sentence. Every claim follows from the numbers; a reason is given only
// where it is the cause.

import { significant } from "./format.ts";
import type { Experiment, Setting } from "./permutation-model.ts";

/** Below this a difference of outputs of size 1 is rounding: 2 layers of 16 products each stay under 1e-14. */
export const ROUNDING = 1e-12;

export const isRounding = (difference: number): boolean => difference < ROUNDING;

/** A difference as a number, kept on one line. */
const amount = (difference: number): string => (difference === 0 ? "exactly 0" : significant(difference, 2));

const NAMES = {
  none: "",
  sinusoidal: "sinusoidal positions",
  learned: "learned positions",
  rope: "RoPE",
  alibi: "ALiBi",
  t5: "T5’s bias",
};

/** Whether every two words are as far apart in PX as in X. */
export function keepsDistances(order: readonly number[]): boolean {
  return order.every((a, i) => order.every((b, j) => Math.abs(a - b) === Math.abs(i - j)));
}

export function takeaway({ words, order, result }: Experiment, setting: Setting): string {
  const { encoding, causal, layers } = setting;
  const { equivariance, pooled } = result;
  const before = words.join(" ");
  const after = order.map((word) => words[word]).join(" ");
  const short = before.length <= 32;

  if (words.length === 1) return "One word has only one order. Write a longer sentence to reorder.";
  if (order.every((word, place) => word === place)) {
    return `Nothing is reordered: PX is X${short ? `, “${before}”` : ""}, and so the outputs are the same. Move a word, or press Reverse.`;
  }
  if (isRounding(equivariance)) {
    const zero = `f(PX) and P f(X) differ by ${amount(equivariance)}, 0 to rounding`;
    if (encoding === "none" && !causal) {
      const start = layers === 1 ? "Reordering" : "With two layers too, reordering";
      const still =
        equivariance === 0 ? "no number moves" : `no number moves by more than ${amount(equivariance)}`;
      return `${start} the words only reorders the outputs: ${still}, so f is permutation equivariant. Their mean moves by ${amount(pooled)}: it is invariant.`;
    }
    if (encoding === "alibi" && !causal && keepsDistances(order)) {
      const other =
        words.length > 2
          ? "Swap two neighbours, and some distance changes."
          : "Two words have only one distance.";
      return `This order keeps every distance between words, and ALiBi without a mask sees nothing else: ${zero}. ${other}`;
    }
    if (words.every((word) => word === words[0])) {
      return `All words are equal, and so are their values: whatever the weights, they mix to the same output, and ${zero}.`;
    }
    return `In this order ${zero}. Another order may change the outputs.`;
  }
  const change = `outputs change by up to ${amount(equivariance)} and their mean by ${amount(pooled)}`;
  if (before === after) {
    return `Both sentences read the same, since only equal words changed places: the mean moves by ${amount(pooled)}. Yet equal words have unequal outputs, by up to ${amount(equivariance)}: each belongs to its position.`;
  }
  if (encoding === "none") {
    return `The causal mask alone breaks the symmetry. With no encoding at all, ${change}: row 0 sees one key, row 1 sees two, so rows differ.`;
  }
  const cause = `With ${NAMES[encoding]}${causal ? " and the causal mask" : ""}, ${change}`;
  if (isRounding(pooled)) return `${cause}: f is not equivariant.`;
  return `${cause}: the model can tell ${short ? `“${after}” from “${before}”` : "the two sentences apart"}.`;
}
