// The figures by name, with what their titles say: known before a figure's module is fetched.

export const titles: Readonly<Record<string, string>> = {
  permutation: "Reorder the words",
  heatmap: "Sinusoidal positional encoding",
  map: "A million positions",
  rope: "Turn q and k by their positions",
  "rope-scores": "Scores before and after the rotation",
  clocks: "Hands and digits of a position",
  shift: "A shift is a rotation of every pair",
  "cross-terms": "The four terms of a logit",
  sum: "A token plus its position",
  worked: "One row, worked out",
  embedding: "The embedding layer",
  learned: "A table of positions",
  layout: "Which components form a pair",
  scaling: "What a config does with positions",
  alibi: "One slope for each head, and how far it sees",
  t5: "Which distances share a bias",
  compare: "The same words under six encodings",
  precision: "Positions in few bits",
  cache: "What is kept, and what grows stale",
  train: "Train them and see",
};
