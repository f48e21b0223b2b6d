// The numbers of one embedding as code: PyTorch, NumPy, and the flags of llama.cpp. Each stands alone and says what it
// leaves out.

import type { RopeConfig } from "../posenc.ts";

const float = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value));
const floats = (values: Float64Array): string => `[${[...values].map(float).join(", ")}]`;

/** The lines between plain frequencies and scaled ones, in the words of NumPy; PyTorch has the same functions. */
function scalingLines(config: RopeConfig, seqLen: number, np: "np" | "torch"): string[] {
  const { ropeType = "default", factor = 1, originalMaxPositionEmbeddings: original = 0 } = config;
  const clip = np === "np" ? "np.clip" : "torch.clamp";
  const array = (values: Float64Array) =>
    np === "np" ? `np.array(${floats(values)})` : `torch.tensor(${floats(values)}, dtype=torch.float64)`;
  if (ropeType === "linear") return [`inv_freq = inv_freq / ${float(factor)}`];
  if (ropeType === "longrope") {
    const long = seqLen > original;
    const list = (long ? config.longFactor : config.shortFactor) ?? new Float64Array();
    return [
      `# ${long ? "long" : "short"}_factor: for sequences ${long ? "longer than" : "up to"} ${original} positions`,
      `inv_freq = inv_freq / ${array(list)}`,
    ];
  }
  if (ropeType === "llama3") {
    const { lowFreqFactor: low = 1, highFreqFactor: high = 4 } = config;
    return [
      `turns = ${original} * inv_freq / (2 * math.pi)  # within the trained length`,
      `keep = ${clip}((turns - ${float(low)}) / ${float(high - low)}, 0, 1)  # 1: untouched, 0: slowed by the factor`,
      `inv_freq = keep * inv_freq + (1 - keep) * inv_freq / ${float(factor)}`,
    ];
  }
  if (ropeType === "yarn") {
    const { betaFast = 32, betaSlow = 1, truncate = true } = config;
    return [
      "def pair_with(turns):",
      `    return d * math.log(${original} / (turns * 2 * math.pi)) / (2 * math.log(rope_theta))`,
      "",
      `low, high = ${truncate ? `math.floor(pair_with(${betaFast})), math.ceil(pair_with(${betaSlow}))` : `pair_with(${betaFast}), pair_with(${betaSlow})`}`,
      "low, high = max(low, 0), min(high, d - 1)",
      `ramp = ${clip}((i - low) / (high - low if high != low else 0.001), 0, 1)`,
      `inv_freq = inv_freq / ${float(factor)} * ramp + inv_freq * (1 - ramp)`,
    ];
  }
  if (ropeType === "proportional") {
    const turning = Math.trunc(((config.partialRotaryFactor ?? 1) * config.headDim) / 2);
    return [`inv_freq = inv_freq / ${float(factor)} * (i < ${turning})  # the other pairs stand still`];
  }
  return [];
}

/** rope_theta as a NumPy or Python expression: NTK raises it. */
function thetaLines(config: RopeConfig, seqLen: number): string[] {
  const { ropeTheta = 10000, ropeType, factor = 1, originalMaxPositionEmbeddings: original = 1 } = config;
  const lines = [`rope_theta = ${float(ropeTheta)}`];
  if (ropeType === "ntk") lines.push(`rope_theta = rope_theta * ${float(factor)} ** (d / (d - 2))`);
  if (ropeType === "dynamic") {
    const length = Math.max(seqLen, original);
    lines.push(
      `rope_theta = rope_theta * (${float(factor)} * ${length} / ${original} - ${float(factor - 1)}) ** (d / (d - 2))  # for ${length} positions`,
    );
  }
  return lines;
}

const dimOf = ({
  headDim,
  rotaryDim = headDim,
  frequencyDim = 0,
  ropeType,
}: RopeConfig): { pairs: number; d: number } => ({
  pairs: rotaryDim / 2,
  d: ropeType === "proportional" ? headDim : frequencyDim || rotaryDim,
});

export function numpySnippet(config: RopeConfig, attentionFactor: number, seqLen: number): string {
  const { pairs, d } = dimOf(config);
  return [
    ...["import math", "", "import numpy as np", ""],
    `d = ${d}  # denominator of the exponents`,
    ...thetaLines(config, seqLen),
    `i = np.arange(${pairs})`,
    "inv_freq = rope_theta ** (-2 * i / d)",
    ...scalingLines(config, seqLen, "np"),
    `attention_factor = ${float(attentionFactor)}  # multiplies cos and sin of q and k`,
    "",
    "def cos_sin(positions):",
    "    angle = np.asarray(positions, dtype=np.float64)[:, None] * inv_freq",
    "    return attention_factor * np.cos(angle), attention_factor * np.sin(angle)",
    "",
  ].join("\n");
}

export function pytorchSnippet(config: RopeConfig, attentionFactor: number, seqLen: number): string {
  const { pairs, d } = dimOf(config);
  return [
    ...["import math", "", "import torch", ""],
    `d = ${d}  # denominator of the exponents`,
    ...thetaLines(config, seqLen),
    `i = torch.arange(${pairs}, dtype=torch.float64)`,
    "inv_freq = rope_theta ** (-2 * i / d)",
    ...scalingLines(config, seqLen, "torch"),
    `attention_factor = ${float(attentionFactor)}  # multiplies cos and sin of q and k`,
    "",
    "def cos_sin(positions, dtype=torch.float32):",
    "    angle = positions.to(torch.float64)[:, None] * inv_freq  # cast only what is finished",
    "    return (attention_factor * angle.cos()).to(dtype), (attention_factor * angle.sin()).to(dtype)",
    "",
  ].join("\n");
}

/** Flags for a model file that does not carry them; a converted one does. What they cannot say stands in comments. */
export function llamaCppFlags(config: RopeConfig, attentionFactor: number, seqLen: number): string {
  const {
    ropeType = "default",
    factor = 1,
    ropeTheta = 10000,
    originalMaxPositionEmbeddings: original = 0,
  } = config;
  const { headDim, rotaryDim = headDim } = config;
  const exponent = rotaryDim / (rotaryDim - 2);
  const base = `--rope-freq-base ${ropeTheta}`;
  if (ropeType === "default") return `--rope-scaling none ${base}`;
  if (ropeType === "linear") return `--rope-scaling linear --rope-scale ${factor} ${base}`;
  if (ropeType === "ntk") {
    return `--rope-scaling none --rope-freq-base ${ropeTheta * factor ** exponent}`;
  }
  if (ropeType === "dynamic") {
    const length = Math.max(seqLen, original);
    return [
      `# llama.cpp keeps one base for all lengths: this one is for sequences of ${length} positions, shorter ones too`,
      `--rope-scaling none --rope-freq-base ${ropeTheta * ((factor * length) / original - (factor - 1)) ** exponent}`,
    ].join("\n");
  }
  if (ropeType === "yarn") {
    // ggml multiplies cos and sin by attn_factor · (0.1 ln(factor) + 1).
    const own = factor > 1 ? 0.1 * Math.log(factor) + 1 : 1;
    const attention = Math.abs(attentionFactor / own - 1) < 1e-12 ? 1 : attentionFactor / own;
    return [
      ...(config.truncate === false ? ["# llama.cpp rounds the ends of the ramp; this config does not"] : []),
      ...(attention === 1
        ? []
        : ["# llama.cpp computes the attention factor itself since its change 17945, and ignores this flag"]),
      [
        `--rope-scaling yarn --rope-scale ${factor} ${base} --yarn-orig-ctx ${original}`,
        `--yarn-attn-factor ${attention} --yarn-beta-fast ${config.betaFast ?? 32} --yarn-beta-slow ${config.betaSlow ?? 1}`,
      ].join(" "),
    ].join("\n");
  }
  return `# ${ropeType} has no flags: llama.cpp reads it from the factors in the converted model file`;
}
