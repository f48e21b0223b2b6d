// Section 16. All methods on the same tokens and weights: do the logits survive a shift, and do they tell left from right?

import type { Encoding, Posenc } from "../../posenc.ts";
import { at, largestDifference, range, row } from "./arrays.ts";
import { learnedParameters } from "./learned.ts";
import { numBuckets, t5Parameters } from "./t5.ts";
import { scientific, type Table } from "./table.ts";

// Small beside the model whose parameters the table counts: the properties do not depend on the width.
const [tokens, shift, numHeads, dModel] = [16, 100, 12, 96];
const seqLen = shift + tokens;
/** Far above rounding, far below what any encoding does to a logit. */
const tolerance = 1e-9;

/** Logits (numHeads · seqLen rows of seqLen) of a sequence under an encoding, with the same random weights for all. */
function logits(posenc: Posenc, encoding: Encoding, x: Float64Array): Float64Array {
  const weights = (seed: number) => posenc.randomNormal(dModel * dModel, seed, 1 / Math.sqrt(dModel));
  const layer = {
    wQ: weights(1),
    wK: weights(2),
    wV: weights(3),
    wO: weights(4),
    positions: posenc.randomNormal(seqLen * dModel, 5),
    t5Table: posenc.randomNormal(numBuckets * numHeads, 6),
  };
  return posenc.selfAttention(x, layer, { seqLen, dModel, numHeads, encoding, t5: { numBuckets } }).logits;
}

/** The same tokens stand at 0..15 and at 100..115 of one sequence; their logits among themselves are compared. */
function unchangedByShift(posenc: Posenc, encoding: Encoding): boolean {
  const sentence = posenc.randomNormal(tokens * dModel, 7);
  const x = new Float64Array(seqLen * dModel);
  x.set(sentence, 0);
  x.set(sentence, shift * dModel);
  const all = logits(posenc, encoding, x);
  return Array.from(range(numHeads * tokens)).every((r) => {
    const line = Math.floor(r / tokens) * seqLen + (r % tokens);
    const here = row(all, line, seqLen).subarray(0, tokens);
    const there = row(all, line + shift, seqLen).subarray(shift);
    return largestDifference(here, there) < tolerance;
  });
}

/** One token everywhere: is the logit for a key k to the left other than for one k to the right? */
function tellsLeftFromRight(posenc: Posenc, encoding: Encoding): boolean {
  const token = posenc.randomNormal(dModel, 8);
  const x = new Float64Array(seqLen * dModel).map((_, i) => at(token, i % dModel));
  const all = logits(posenc, encoding, x);
  const middle = seqLen / 2;
  return Array.from(range(numHeads)).some((head) => {
    const line = row(all, head * seqLen + middle, seqLen);
    return Array.from(range(middle - 1, 1)).some(
      (k) => Math.abs(at(line, middle - k) - at(line, middle + k)) > tolerance,
    );
  });
}

export function tables(posenc: Posenc): Record<string, Table> {
  const fixedSlopes = posenc.alibiSlopes({ numHeads }).length;
  const methods: [name: string, encoding: Encoding, actsOn: string, parameters: string | number][] = [
    ["None", "none", "nothing", 0],
    ["Sinusoidal", "sinusoidal", "layer input, once", 0],
    ["Learned", "learned", "layer input, once", learnedParameters(512, 768)],
    ["RoPE", "rope", String.raw`$\q{q}$ and $\k{k}$, every layer`, 0],
    ["ALiBi", "alibi", "logits, every layer", `0 (${fixedSlopes} fixed slopes)`],
    ["T5", "t5", "logits, every layer", `${t5Parameters(numHeads)} per stack`],
  ];
  const yesOrNo = (answer: boolean) => (answer ? "yes" : "no");
  return {
    comparison_computed: {
      caption: `Six methods on the same ${tokens} random tokens and weights (d_model ${dModel}, ${numHeads} heads); differences below ${scientific(tolerance, 0)} count as none.`,
      head: [
        "Method",
        "Acts on",
        "Parameters",
        `Logits unchanged by a shift of ${shift}`,
        "Tells left from right",
      ],
      rows: methods.map(([name, encoding, actsOn, parameters]) => [
        name,
        actsOn,
        parameters,
        yesOrNo(unchangedByShift(posenc, encoding)),
        yesOrNo(tellsLeftFromRight(posenc, encoding)),
      ]),
    },
  };
}
