// The comparison of six encodings as NumPy code that draws the same words, weights and maps.

import { METHODS } from "./compare-model.ts";
import { randomNormalArray } from "./numpy.ts";
import { MAX_WORDS, seedOf, T5_BUCKETS, wordsOf } from "./permutation-model.ts";

export interface Settings {
  sentence: string;
  show: "logits" | "weights";
  difference: boolean;
  causal: boolean;
  head: number;
  seed: number;
  dModel: number;
  numHeads: number;
}

export function numpyCode(state: Settings): string {
  const { dModel, numHeads, causal, seed } = state;
  const words = wordsOf(state.sentence);
  const head = Math.min(state.head, numHeads) - 1;
  // Matrices are drawn for two layers, as in the figure that reorders words; the first is used.
  return `import matplotlib.pyplot as plt
import numpy as np

${randomNormalArray("sigma=1.0")}

words = ${JSON.stringify(words)}
word_seeds = ${JSON.stringify(words.map((word) => seedOf(word, seed)))}  # equal words, equal vectors
n, d_model, num_heads, head, causal = ${words.length}, ${dModel}, ${numHeads}, ${head}, ${causal ? "True" : "False"}
d = d_model // num_heads
x = np.array([random_normal(s, (d_model,)) for s in word_seeds])
w_q, w_k = (random_normal(${8 * seed} + i, (2, d_model, d_model), d_model**-0.5)[0] for i in (0, 1))
learned = random_normal(${8 * seed + 4}, (${MAX_WORDS}, d_model), 0.5**0.5)[:n]
t5_table = random_normal(${8 * seed + 5}, (${T5_BUCKETS}, num_heads))

position = np.arange(n)
relative_position = position[None, :] - position[:, None]  # key minus query
columns = slice(head * d, (head + 1) * d)

def dot(x, turn=lambda rows: rows):
    return turn((x @ w_q)[:, columns]) @ turn((x @ w_k)[:, columns]).T

def pairs(width):
    return position[:, None] * 10000.0 ** (-2 * np.arange(width // 2) / width)

def rotate(rows):
    turned = (rows[:, 0::2] + 1j * rows[:, 1::2]) * np.exp(1j * pairs(d))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(rows.shape)

def bucket(relative_position):
    buckets = ${causal ? T5_BUCKETS : T5_BUCKETS / 2}
    near = buckets // 2
    side = ${causal ? "0" : "np.where(relative_position > 0, buckets, 0)"}
    distance = ${causal ? "np.maximum(-relative_position, 0)" : "np.abs(relative_position)"}
    ratio = np.log(np.maximum(distance, 1) / near) / np.log(128 / near)
    return side + np.where(distance < near, distance, near + (ratio * (buckets - near)).astype(int))

sines = np.stack([np.sin(pairs(d_model)), np.cos(pairs(d_model))], axis=-1).reshape(n, d_model)
slope = 2.0 ** (-8 * (head + 1) / num_heads)
logits = {
    "None": dot(x) / d**0.5,
    "Sinusoidal": dot(x + sines) / d**0.5,
    "Learned": dot(x + learned) / d**0.5,
    "RoPE": dot(x, rotate) / d**0.5,
    "ALiBi": dot(x) / d**0.5 - slope * np.abs(relative_position),
    "T5": dot(x) + t5_table[bucket(relative_position), head],  # no 1/sqrt(d)
}
hidden = (relative_position > 0) & causal
maps = {name: np.where(hidden, -np.inf, values) for name, values in logits.items()}
${state.show === "weights" ? "maps = {name: np.exp(m) / np.exp(m).sum(axis=1, keepdims=True) for name, m in maps.items()}\n" : ""}${
  state.difference
    ? `with np.errstate(invalid="ignore"):\n    maps = {name: m - maps["None"] for name, m in maps.items()}\n`
    : ""
}maps = {name: np.where(hidden, np.nan, m) for name, m in maps.items()}
limit = max(np.nanmax(np.abs(m)) for m in maps.values())

figure, axes = plt.subplots(2, ${METHODS.length / 2}, figsize=(10, 7), layout="constrained")
for ax, (name, values) in zip(axes.flat, maps.items()):
    image = ax.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(title=name, xticks=position, xticklabels=words, yticks=position, yticklabels=words)
figure.colorbar(image, ax=axes, label="${state.show}${state.difference ? " minus those of none" : ""}")
plt.show()
`;
}
