// The figures a section may place (`::figure tag`), each with the sentence that stands in its place without script.

export const figures: Record<string, string> = {
  "pe-permutation": "An interactive figure: reorder a sentence and see which attention outputs change.",
  "pe-heatmap":
    "An interactive heatmap of the table: positions to the right, dimensions downwards, values from −1 to 1.",
  "pe-map": "An interactive map of an encoding over a million positions, to zoom and drag.",
  "pe-rope": "An interactive figure: rotate a query and a key by their positions and read the score.",
  "pe-rope-scores": "An interactive figure: attention scores before and after the rotation.",
  "pe-clocks": "An interactive figure: clock hands and a binary counter at a position of your choice.",
  "pe-shift":
    "An interactive figure: shift all positions by one matrix, and read the dot product at each offset.",
  "pe-cross-terms":
    "An interactive figure: the four terms of a logit as heatmaps, and what is left of the diagonals.",
  "pe-sum": "An interactive figure: a token's vector, its position's row and their sum, with their norms.",
  "pe-worked": "An interactive figure: one row of the table with every number on the way to it.",
  "pe-embedding": "An interactive figure: token ids looked up, scaled, and added to their positions.",
  "pe-learned": "An interactive figure: a table of positions, what it answers beyond its end, and your own.",
  "pe-layout":
    "An interactive figure: weights and code of either pair layout, and the permutation that makes them agree.",
  "pe-scaling":
    "An interactive figure: what a model's config.json does with positions, under every way to longer contexts.",
  "pe-alibi": "An interactive figure: the slope of each ALiBi head, its bias map and how many keys it sees.",
  "pe-t5": "An interactive figure: which relative positions share a T5 bucket, and the bias map of a table.",
  "pe-compare": "An interactive figure: six attention maps of the same words, one for each encoding.",
  "pe-precision": "An interactive figure: which positions become one number, and how far rotations are off.",
  "pe-cache":
    "An interactive figure: cosines and sines beside the KV cache, and keys cached with an older base.",
  "pe-train": "An interactive figure: train tiny transformers that differ only in their positional encoding.",
};
