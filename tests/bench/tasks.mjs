// What is measured: tasks, their sizes, their inputs, what they move or compute at least, and a check in double.

/** Shapes: T rows, D columns, H heads, d components a head. Work is the same number for whoever does the task. */
export const SIZES = {
  table: { small: { T: 100, D: 128 }, medium: { T: 2048, D: 512 }, large: { T: 8192, D: 1024 } },
  ropeCache: { small: { T: 128, d: 64 }, medium: { T: 4096, d: 64 }, large: { T: 32768, d: 64 } },
  ropeInterleaved: {
    small: { H: 8, T: 128, d: 64 },
    medium: { H: 8, T: 1024, d: 64 },
    large: { H: 8, T: 4096, d: 64 },
  },
  ropeHalf: {
    small: { H: 8, T: 128, d: 64 },
    medium: { H: 8, T: 1024, d: 64 },
    large: { H: 8, T: 4096, d: 64 },
  },
  attention: {
    small: { H: 8, T: 128, d: 64 },
    medium: { H: 8, T: 1024, d: 64 },
    large: { H: 1, T: 4096, d: 64 },
  },
  attentionAlibi: {
    small: { H: 8, T: 128, d: 64 },
    medium: { H: 8, T: 1024, d: 64 },
    large: { H: 1, T: 4096, d: 64 },
  },
  similarity: { small: { T: 100, D: 128 }, medium: { T: 2048, D: 512 }, large: { T: 4096, D: 1024 } },
  colors: { small: { T: 100, D: 128 }, medium: { T: 2048, D: 512 }, large: { T: 4096, D: 1024 } },
  colorsTransposed: { small: { T: 100, D: 128 }, medium: { T: 2048, D: 512 }, large: { T: 4096, D: 1024 } },
};

/** Operations, or bytes that must be read and written, in one run; and which limit of the machine bounds it. */
export function workOf(task, { T, D, H, d }) {
  if (task.startsWith("attention")) return { amount: 4 * H * T * T * d, unit: "GF/s", limit: "multiplyAdd" };
  if (task === "similarity") return { amount: 2 * T * T * D, unit: "GF/s", limit: "multiplyAdd" };
  if (task === "table") return { amount: 4 * T * D, unit: "GB/s", limit: "store" };
  if (task === "ropeCache") return { amount: 4 * T * d, unit: "GB/s", limit: "store" };
  if (task.startsWith("rope")) return { amount: 8 * H * T * d + 4 * T * d, unit: "GB/s", limit: "copy" };
  return { amount: 8 * T * D, unit: "GB/s", limit: "copy" };
}

function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function normals(count, seed) {
  const random = randomOf(seed);
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}

export const invFreq = (pairs) => Float64Array.from({ length: pairs }, (_, i) => 10000 ** (-i / pairs));

function sinusoidal(T, D) {
  const table = new Float32Array(T * D);
  const frequencies = invFreq(D / 2);
  for (let t = 0; t < T; t++) {
    for (let i = 0; i < D / 2; i++) {
      table[t * D + 2 * i] = Math.sin(t * frequencies[i]);
      table[t * D + 2 * i + 1] = Math.cos(t * frequencies[i]);
    }
  }
  return table;
}

/** Inputs of a task, which no adapter may change. */
export function inputsOf(task, { T, D, H, d }) {
  if (task.startsWith("attention")) {
    const [q, k, v] = [5, 6, 7].map((seed) => normals(H * T * d, seed));
    return { q, k, v, slopes: Float64Array.from({ length: H }, (_, h) => 2 ** ((-8 * (h + 1)) / H)) };
  }
  if (task === "ropeInterleaved" || task === "ropeHalf") {
    const angles = sinusoidal(T, d);
    const column = (first) => Float32Array.from({ length: (T * d) / 2 }, (_, i) => angles[2 * i + first]);
    return { x: normals(H * T * d, 3), sin: column(0), cos: column(1) };
  }
  const lut = Uint32Array.from({ length: 256 }, (_, i) => (0xff000000 | (i * 0x010203)) >>> 0);
  return task === "table" || task === "ropeCache" ? {} : { x: sinusoidal(T, D), lut };
}

const place = (value) => Math.min(255, Math.max(0, Math.floor((value + 1) * 128 + 1e-9)));

function attentionError({ H, T, d }, { q, k, v, slopes }, biased, { output, weights }, random) {
  let error = 0;
  for (let sample = 0; sample < 4; sample++) {
    const [h, i] = [Math.floor(random() * H), Math.floor(random() * T)];
    const row = new Float64Array(T);
    for (let j = 0; j < T; j++) {
      for (let c = 0; c < d; c++) row[j] += q[(h * T + i) * d + c] * k[(h * T + j) * d + c];
      row[j] = row[j] / Math.sqrt(d) - (biased ? slopes[h] * Math.abs(i - j) : 0);
    }
    const largest = row.reduce((a, b) => Math.max(a, b));
    const sum = row.reduce((total, logit) => total + Math.exp(logit - largest), 0);
    for (let j = 0; j < T; j++) {
      row[j] = Math.exp(row[j] - largest) / sum;
      error = Math.max(error, Math.abs(row[j] - weights[(h * T + i) * T + j]));
    }
    for (let c = 0; c < d; c++) {
      const mixed = row.reduce((total, weight, j) => total + weight * v[(h * T + j) * d + c], 0);
      error = Math.max(error, Math.abs(mixed - output[(h * T + i) * d + c]));
    }
  }
  return error;
}

/** The largest error of sampled entries of a result; of colours the share that is wrong. */
export function errorOf(task, shape, inputs, result) {
  const random = randomOf(99);
  const { T, D, H, d } = shape;
  const below = (n) => Math.floor(random() * n);
  const worst = (count, one) => {
    let error = 0;
    for (let i = 0; i < count; i++) {
      const e = one();
      if (!(e <= error)) error = e; // NaN too
    }
    return error;
  };
  switch (task) {
    case "table":
      return worst(400, () => {
        const [t, c] = [below(T), below(D)];
        const angle = t * 10000 ** (-(c - (c % 2)) / D);
        return Math.abs(result[t * D + c] - (c % 2 ? Math.cos(angle) : Math.sin(angle)));
      });
    case "ropeCache":
      return worst(400, () => {
        const [t, i] = [below(T), below(d / 2)];
        const [angle, at] = [t * 10000 ** ((-2 * i) / d), (t * d) / 2 + i];
        return Math.hypot(result.cos[at] - Math.cos(angle), result.sin[at] - Math.sin(angle));
      });
    case "ropeInterleaved":
    case "ropeHalf":
      return worst(400, () => {
        const [h, t, i] = [below(H), below(T), below(d / 2)];
        const row = (h * T + t) * d;
        const [a, b] = task === "ropeHalf" ? [row + i, row + i + d / 2] : [row + 2 * i, row + 2 * i + 1];
        const [cos, sin] = [inputs.cos[(t * d) / 2 + i], inputs.sin[(t * d) / 2 + i]];
        return Math.hypot(
          result[a] - (inputs.x[a] * cos - inputs.x[b] * sin),
          result[b] - (inputs.x[a] * sin + inputs.x[b] * cos),
        );
      });
    case "similarity":
      return worst(100, () => {
        const [i, j] = [below(T), below(T)];
        let dot = 0;
        for (let c = 0; c < D; c++) dot += inputs.x[i * D + c] * inputs.x[j * D + c];
        return Math.abs(result[i * T + j] - dot);
      });
    case "colors":
    case "colorsTransposed": {
      let wrong = 0;
      for (let sample = 0; sample < 4000; sample++) {
        const [t, c] = [below(T), below(D)];
        const at = task === "colors" ? t * D + c : c * T + t;
        wrong += result[at] >>> 0 === inputs.lut[place(inputs.x[t * D + c])] ? 0 : 1;
      }
      return wrong / 4000;
    }
    default:
      return attentionError(shape, inputs, task === "attentionAlibi", result, random);
  }
}
