// The figures a section may place (`::figure tag`), each with the sentence that stands in its place without script.

export const figures: Record<string, string> = {
  "pe-permutation": "An interactive figure: reorder a sentence and see which attention outputs change.",
  "pe-heatmap":
    "An interactive heatmap of the table: positions to the right, dimensions downwards, values from −1 to 1.",
  "pe-rope": "An interactive figure: rotate a query and a key by their positions and read the score.",
  "pe-rope-scores": "An interactive figure: attention scores before and after the rotation.",
};
