// Findings on the shape of the heads: what is turned, in which pairs, and whether the counts fit together.

import type { Model } from "./model.ts";

export function checkShape(model: Model): void {
  const { text } = model.scopes;
  const { findings } = text;
  const { headDim, numHeads, numKvHeads, hiddenSize, layout, family, mrope } = model;

  if (numHeads.value !== null && numKvHeads.value !== null && numHeads.value % numKvHeads.value !== 0) {
    findings.add(
      "kv-heads-do-not-divide",
      numKvHeads.key,
      numKvHeads.offset,
      `${numKvHeads.key} is ${numKvHeads.value}, which does not divide ${numHeads.value} heads`,
      "a divisor of num_attention_heads",
    );
  }
  if (headDim.value === null) {
    if (!findings.list.some(({ severity }) => severity === "error")) {
      findings.add(
        "head-dim-unknown",
        "head_dim",
        null,
        `head_dim is unknown: ${headDim.why}`,
        "head_dim, or hidden_size and num_attention_heads",
      );
    }
    return;
  }
  const share =
    hiddenSize.value !== null && numHeads.value !== null ? hiddenSize.value / numHeads.value : headDim.value;
  if (headDim.key && share !== headDim.value && !family.unrotated) {
    findings.add(
      "head-dim-differs",
      headDim.key,
      headDim.offset,
      `${headDim.key} is ${headDim.value}, hidden_size / num_attention_heads ${share}: programs that divide get other frequencies`,
    );
  }
  for (const rope of model.ropes) {
    const { rotaryDim, frequencyDim, partialRotaryFactor: partial } = rope;
    const type = rope.ropeType.value;
    const key = partial.key || rotaryDim.key || "partial_rotary_factor";
    if (rope.headDim.value % 2 !== 0 && rotaryDim.value > rope.headDim.value) {
      findings.add(
        "head-dim-odd",
        headDim.key || "head_dim",
        headDim.offset,
        `head_dim is ${rope.headDim.value}: an odd head cannot be turned in pairs`,
        "an even head_dim, or a smaller rotary part",
      );
    } else if (frequencyDim !== 0) {
      findings.add(
        "rotary-dim-odd",
        key,
        partial.offset,
        `${rope.headDim.value} · ${partial.value} is cut to ${frequencyDim}, which is odd: transformers turns ${rotaryDim.value} components with exponents over ${frequencyDim}`,
        "a share that gives an even number",
      );
    }
    if (type !== "proportional" && rotaryDim.value < rope.headDim.value && rotaryDim.value >= 2) {
      findings.add(
        "partial-rotary",
        key,
        partial.offset,
        `${rotaryDim.value} of ${rope.headDim.value} components turn, with exponents over ${frequencyDim || rotaryDim.value}, in pairs ${layout.value === "half" ? `(i, i + ${rotaryDim.value / 2})` : "(2i, 2i + 1)"}; the others stay as they are`,
      );
      if (mrope) {
        findings.add(
          "partial-and-mrope",
          key,
          partial.offset,
          `${key} and mrope_section together: only ${rotaryDim.value} of ${rope.headDim.value} components turn, and the sections must add up to ${rotaryDim.value / 2} pairs`,
        );
      }
    }
    if (
      headDim.offset === null &&
      text.isNull("head_dim") &&
      ["dynamic", "yarn", "longrope"].includes(type)
    ) {
      findings.add(
        "head-dim-null",
        text.keyOf("head_dim"),
        text.record.get("head_dim")?.offset ?? null,
        `head_dim: null with ${type}: transformers at 2b296305d7bc raises TypeError; hidden_size / num_attention_heads = ${headDim.value} is meant`,
        `head_dim: ${headDim.value}`,
      );
    }
    checkShares(model, rope.layers);
  }
  if (mrope) {
    const pairs = (model.ropes[0]?.rotaryDim.value ?? 0) / 2;
    const { value, key, offset } = mrope.sections;
    const sum = value.reduce((total, count) => total + count, 0);
    if (value.length !== 3 || sum !== pairs || value.some((count) => !Number.isInteger(count) || count < 0)) {
      findings.add(
        "mrope-sections",
        key,
        offset,
        `${key} is [${[...value.subarray(0, 8)].join(", ")}], which adds up to ${sum}; there are ${pairs} pairs`,
        `three counts that add up to ${pairs}: time, height, width`,
      );
    }
  }
  if (model.ropes.length === 0) return;
  if (layout.value === "interleaved") {
    findings.add(
      "layout-interleaved",
      layout.key || "model_type",
      layout.offset,
      `the checkpoint's pairs are interleaved, components 2i and 2i + 1: code for half-split pairs needs the rows of W_q and W_k permuted, or gives wrong scores without an error`,
    );
  } else if (layout.why.startsWith("assumed")) {
    findings.add(
      "layout-assumed",
      "model_type",
      null,
      "nothing says the pair layout: half, components i and i + rotary_dim/2, is assumed, as in checkpoints of transformers; Meta's own files and GPT-J are interleaved",
    );
  }
}

/** The rotary part said in two places. */
function checkShares(model: Model, layers: string): void {
  const { text } = model.scopes;
  const rope = model.ropes.find((one) => one.layers === layers);
  const beside = text.record.get("partial_rotary_factor") ?? text.record.get("rotary_pct");
  if (!rope?.partialRotaryFactor.key || typeof beside?.value !== "number") return;
  const { key, value, offset } = rope.partialRotaryFactor;
  if (key.startsWith(`${rope.block}.`) && rope.block && value !== beside.value) {
    text.findings.add(
      "rotary-dim-twice",
      key,
      offset,
      `${key} is ${value} and the key outside the block ${beside.value}: a program that uses both turns ${Math.trunc(rope.headDim.value * value * beside.value)} components, one that uses the outer ${Math.trunc(rope.headDim.value * beside.value)}; transformers takes the inner, ${rope.rotaryDim.value}`,
      "one key",
    );
  }
}
