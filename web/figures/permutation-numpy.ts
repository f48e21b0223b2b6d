// The experiment on word order as NumPy code that draws the same words, weights, outputs and maps.

import { randomNormalArray } from "./numpy.ts";
import {
  D_MODEL,
  MAX_WORDS,
  NUM_HEADS,
  orderOf,
  type Setting,
  seedOf,
  T5_BUCKETS,
  wordsOf,
} from "./permutation-model.ts";

export function numpyCode(setting: Setting, layer: number, head: number): string {
  const { encoding, causal, layers, seed } = setting;
  const words = wordsOf(setting.sentence);
  const order = orderOf(setting.order, words.length);
  return `import matplotlib.pyplot as plt
import numpy as np

${randomNormalArray("sigma=1.0")}

words = ${JSON.stringify(words)}
word_seeds = ${JSON.stringify(words.map((word) => seedOf(word, seed)))}  # equal words, equal vectors
order = ${JSON.stringify(order)}  # the word of X at each place of PX
encoding, causal = "${encoding}", ${causal ? "True" : "False"}
n, d_model, num_heads, num_layers = ${words.length}, ${D_MODEL}, ${NUM_HEADS}, ${layers}
d = d_model // num_heads
x = np.array([random_normal(s, (d_model,)) for s in word_seeds])
w_q, w_k, w_v, w_o = (random_normal(${8 * seed} + i, (2, d_model, d_model), d_model**-0.5) for i in range(4))
learned = random_normal(${8 * seed + 4}, (${MAX_WORDS}, d_model), 0.5**0.5)[:n]
t5_table = random_normal(${8 * seed + 5}, (${T5_BUCKETS}, num_heads))

position = np.arange(n)
relative_position = position[None, :] - position[:, None]  # key minus query

def angles(width):
    return position[:, None] * 10000.0 ** (-2 * np.arange(width // 2) / width)

def rotate(rows):
    turned = (rows[:, 0::2] + 1j * rows[:, 1::2]) * np.exp(1j * angles(d))
    return np.stack([turned.real, turned.imag], axis=-1).reshape(rows.shape)

def bucket(relative_position):
    buckets, near = ${T5_BUCKETS / 2}, ${T5_BUCKETS / 4}
    distance = np.abs(relative_position)
    ratio = np.log(np.maximum(distance, 1) / near) / np.log(128 / near)
    far = near + (ratio * (buckets - near)).astype(int)
    return np.where(relative_position > 0, buckets, 0) + np.where(distance < near, distance, far)

def attention(q, k, v, head):
    if encoding == "rope":
        q, k = rotate(q), rotate(k)
    logits = q @ k.T / (1 if encoding == "t5" else d**0.5)
    if encoding == "alibi":
        logits -= 2.0 ** (-8 * (head + 1) / num_heads) * np.abs(relative_position)
    if encoding == "t5":
        logits += t5_table[bucket(relative_position), head]
    logits = np.where((relative_position > 0) & causal, -np.inf, logits)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ v, weights

def f(x):
    """The output (n, d_model) and the weights of the layer and head shown."""
    if encoding == "sinusoidal":
        x = x + np.stack([np.sin(angles(d_model)), np.cos(angles(d_model))], axis=-1).reshape(n, d_model)
    if encoding == "learned":
        x = x + learned
    for layer in range(num_layers):
        heads = [np.split(x @ w[layer], num_heads, axis=1) for w in (w_q, w_k, w_v)]
        outputs, weights = zip(*(attention(q, k, v, h) for h, (q, k, v) in enumerate(zip(*heads))))
        output = np.concatenate(outputs, axis=1) @ w_o[layer]
        if layer == ${layer}:
            shown = weights[${head}]
        if num_layers > 1:  # each layer adds its input to its output
            x = output = x + output
    return output, shown

(output, weights), (permuted_output, permuted_weights) = f(x), f(x[order])
print("outputs:", np.abs(permuted_output - output[order]).max())
print("mean:   ", np.abs(permuted_output.mean(axis=0) - output.mean(axis=0)).max())

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, values, labels, title in zip(axes, (weights, permuted_weights),
                                     (words, [words[i] for i in order]), ("X", "PX")):
    image = ax.imshow(values, cmap="Greys", vmin=0, vmax=1)
    ax.set(title=title, xticks=position, xticklabels=labels, yticks=position, yticklabels=labels)
figure.colorbar(image, ax=axes, label="attention weight")
plt.show()
`;
}
