// JavaScript alone: as one would write it, and as fast as it can be written.
import { invFreq } from "../tasks.mjs";

/** One step for each number, in the order of the formulas. */
const plainTasks = {
  table({ T, D }) {
    const out = new Float32Array(T * D);
    const run = () => {
      for (let t = 0; t < T; t++) {
        for (let c = 0; c < D; c += 2) {
          const angle = t / 10000 ** (c / D);
          out[t * D + c] = Math.sin(angle);
          out[t * D + c + 1] = Math.cos(angle);
        }
      }
    };
    return { run, result: () => out };
  },
  ropeCache({ T, d }) {
    const [cos, sin] = [new Float32Array((T * d) / 2), new Float32Array((T * d) / 2)];
    const run = () => {
      for (let t = 0, at = 0; t < T; t++) {
        for (let i = 0; i < d / 2; i++, at++) {
          const angle = t / 10000 ** ((2 * i) / d);
          cos[at] = Math.cos(angle);
          sin[at] = Math.sin(angle);
        }
      }
    };
    return { run, result: () => ({ cos, sin }) };
  },
  similarity({ T, D }, { x }) {
    const out = new Float32Array(T * T);
    const run = () => {
      for (let i = 0; i < T; i++) {
        for (let j = 0; j < T; j++) {
          let dot = 0;
          for (let c = 0; c < D; c++) dot += x[i * D + c] * x[j * D + c];
          out[i * T + j] = dot;
        }
      }
    };
    return { run, result: () => out };
  },
  attention: ({ H, T, d }, { q, k, v }) => {
    const [output, weights] = [new Float32Array(H * T * d), new Float32Array(H * T * T)];
    const run = () => {
      output.fill(0);
      for (let row = 0; row < H * T; row++) {
        const head = Math.floor(row / T) * T;
        const w = weights.subarray(row * T, (row + 1) * T);
        for (let j = 0; j < T; j++) {
          let dot = 0;
          for (let c = 0; c < d; c++) dot += q[row * d + c] * k[(head + j) * d + c];
          w[j] = dot / Math.sqrt(d);
        }
        const largest = w.reduce((a, b) => Math.max(a, b));
        let sum = 0;
        for (let j = 0; j < T; j++) sum += w[j] = Math.exp(w[j] - largest);
        for (let j = 0; j < T; j++) {
          w[j] /= sum;
          for (let c = 0; c < d; c++) output[row * d + c] += w[j] * v[(head + j) * d + c];
        }
      }
    };
    return { run, result: () => ({ output, weights }) };
  },
};

/** A row of sines and cosines, and what turns it into the next: exact again every 256 rows. */
function hands(pairs) {
  const frequencies = invFreq(pairs);
  const sin = new Float64Array(pairs);
  const cos = new Float64Array(pairs);
  const align = (t) => {
    for (let i = 0; i < pairs; i++) {
      sin[i] = Math.sin(t * frequencies[i]);
      cos[i] = Math.cos(t * frequencies[i]);
    }
  };
  return { sin, cos, stepSin: frequencies.map(Math.sin), stepCos: frequencies.map(Math.cos), align };
}

/** out (rows, columns) at outAt = factor · a bᵀ, in tiles of 4 × 4; rows and columns are multiples of 4. */
function multiplyTransposed(out, outAt, outRow, a, aAt, b, bAt, rows, columns, depth, factor) {
  for (let i = 0; i < rows; i += 4) {
    for (let j = 0; j < columns; j += 4) {
      const [a0, b0] = [aAt + i * depth, bAt + j * depth];
      const [a1, a2, a3] = [a0 + depth, a0 + 2 * depth, a0 + 3 * depth];
      const [b1, b2, b3] = [b0 + depth, b0 + 2 * depth, b0 + 3 * depth];
      let s00 = 0,
        s01 = 0,
        s02 = 0,
        s03 = 0;
      let s10 = 0,
        s11 = 0,
        s12 = 0,
        s13 = 0;
      let s20 = 0,
        s21 = 0,
        s22 = 0,
        s23 = 0;
      let s30 = 0,
        s31 = 0,
        s32 = 0,
        s33 = 0;
      for (let c = 0; c < depth; c++) {
        const x0 = a[a0 + c],
          x1 = a[a1 + c],
          x2 = a[a2 + c],
          x3 = a[a3 + c];
        const y0 = b[b0 + c],
          y1 = b[b1 + c],
          y2 = b[b2 + c],
          y3 = b[b3 + c];
        s00 += x0 * y0;
        s01 += x0 * y1;
        s02 += x0 * y2;
        s03 += x0 * y3;
        s10 += x1 * y0;
        s11 += x1 * y1;
        s12 += x1 * y2;
        s13 += x1 * y3;
        s20 += x2 * y0;
        s21 += x2 * y1;
        s22 += x2 * y2;
        s23 += x2 * y3;
        s30 += x3 * y0;
        s31 += x3 * y1;
        s32 += x3 * y2;
        s33 += x3 * y3;
      }
      const at = outAt + i * outRow + j;
      out[at] = s00 * factor;
      out[at + 1] = s01 * factor;
      out[at + 2] = s02 * factor;
      out[at + 3] = s03 * factor;
      const at1 = at + outRow,
        at2 = at1 + outRow,
        at3 = at2 + outRow;
      out[at1] = s10 * factor;
      out[at1 + 1] = s11 * factor;
      out[at1 + 2] = s12 * factor;
      out[at1 + 3] = s13 * factor;
      out[at2] = s20 * factor;
      out[at2 + 1] = s21 * factor;
      out[at2 + 2] = s22 * factor;
      out[at2 + 3] = s23 * factor;
      out[at3] = s30 * factor;
      out[at3 + 1] = s31 * factor;
      out[at3 + 2] = s32 * factor;
      out[at3 + 3] = s33 * factor;
    }
  }
}

const attention =
  (biased) =>
  ({ H, T, d }, { q, k, v, slopes }) => {
    const [output, weights, columns] = [
      new Float32Array(H * T * d),
      new Float32Array(H * T * T),
      new Float32Array(d * T),
    ];
    const softmax = (at, slope, i) => {
      let largest = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < T; j++) {
        if (biased) weights[at + j] -= slope * (i > j ? i - j : j - i);
        const logit = weights[at + j];
        if (logit > largest) largest = logit;
      }
      let sum = 0;
      for (let j = 0; j < T; j++) {
        const e = Math.exp(weights[at + j] - largest);
        weights[at + j] = e;
        sum += e;
      }
      const inverse = 1 / sum;
      for (let j = 0; j < T; j++) weights[at + j] *= inverse;
    };
    const run = () => {
      for (let h = 0; h < H; h++) {
        const head = h * T * d;
        for (let t = 0; t < T; t++) for (let c = 0; c < d; c++) columns[c * T + t] = v[head + t * d + c];
        for (let i = 0; i < T; i += 4) {
          const at = (h * T + i) * T;
          multiplyTransposed(weights, at, T, q, head + i * d, k, head, 4, T, d, 1 / Math.sqrt(d));
          for (let r = 0; r < 4; r++) softmax(at + r * T, slopes[h], i + r);
          multiplyTransposed(output, head + i * d, d, weights, at, columns, 0, 4, d, T, 1);
        }
      }
    };
    return { run, result: () => ({ output, weights }) };
  };

const fastTasks = {
  table({ T, D }) {
    const out = new Float32Array(T * D);
    const run = () => {
      const { sin, cos, stepSin, stepCos, align } = hands(D / 2);
      for (let t = 0, at = 0; t < T; t++) {
        if (t % 256 === 0) align(t);
        for (let i = 0; i < sin.length; i++, at += 2) {
          const s = sin[i];
          const c = cos[i];
          out[at] = s;
          out[at + 1] = c;
          sin[i] = s * stepCos[i] + c * stepSin[i];
          cos[i] = c * stepCos[i] - s * stepSin[i];
        }
      }
    };
    return { run, result: () => out };
  },
  ropeCache({ T, d }) {
    const cosines = new Float32Array((T * d) / 2);
    const sines = new Float32Array((T * d) / 2);
    const run = () => {
      const { sin, cos, stepSin, stepCos, align } = hands(d / 2);
      for (let t = 0, at = 0; t < T; t++) {
        if (t % 256 === 0) align(t);
        for (let i = 0; i < sin.length; i++, at++) {
          const s = sin[i];
          const c = cos[i];
          sines[at] = s;
          cosines[at] = c;
          sin[i] = s * stepCos[i] + c * stepSin[i];
          cos[i] = c * stepCos[i] - s * stepSin[i];
        }
      }
    };
    return { run, result: () => ({ cos: cosines, sin: sines }) };
  },
  ropeInterleaved({ H, T, d }, { x, cos, sin }) {
    const [out, angles] = [new Float32Array(x.length), (T * d) / 2];
    const run = () => {
      for (let h = 0, at = 0; h < H; h++) {
        for (let i = 0; i < angles; i++, at += 2) {
          const c = cos[i],
            s = sin[i],
            a = x[at],
            b = x[at + 1];
          out[at] = a * c - b * s;
          out[at + 1] = a * s + b * c;
        }
      }
    };
    return { run, result: () => out };
  },
  ropeHalf({ H, T, d }, { x, cos, sin }) {
    const [out, pairs] = [new Float32Array(x.length), d / 2];
    const run = () => {
      for (let h = 0, at = 0; h < H; h++) {
        for (let t = 0, angle = 0; t < T; t++, at += d) {
          for (let i = 0; i < pairs; i++, angle++) {
            const c = cos[angle],
              s = sin[angle],
              a = x[at + i],
              b = x[at + pairs + i];
            out[at + i] = a * c - b * s;
            out[at + pairs + i] = a * s + b * c;
          }
        }
      }
    };
    return { run, result: () => out };
  },
  attention: attention(false),
  attentionAlibi: attention(true),
  similarity({ T, D }, { x }) {
    const out = new Float32Array(T * T);
    const run = () => {
      for (let i = 0; i < T; i += 64) {
        for (let j = 0; j < T; j += 64) {
          const [rows, columns] = [Math.min(64, T - i), Math.min(64, T - j)];
          multiplyTransposed(out, i * T + j, T, x, i * D, x, j * D, rows, columns, D, 1);
        }
      }
    };
    return { run, result: () => out };
  },
  colors({ T, D }, { x, lut }) {
    const out = new Uint32Array(T * D);
    const run = () => {
      for (let i = 0; i < out.length; i++) {
        const at = (x[i] * 128 + 128) | 0;
        out[i] = lut[Math.max(0, Math.min(255, at))];
      }
    };
    return { run, result: () => out };
  },
  colorsTransposed({ T, D }, { x, lut }) {
    const [out, strip] = [new Uint32Array(T * D), 16];
    const run = () => {
      for (let top = 0; top < T; top += strip) {
        const bottom = Math.min(T, top + strip);
        for (let c = 0; c < D; c++) {
          for (let t = top; t < bottom; t++) {
            const at = (x[t * D + c] * 128 + 128) | 0;
            out[c * T + t] = lut[Math.max(0, Math.min(255, at))];
          }
        }
      }
    };
    return { run, result: () => out };
  },
};

const version = globalThis.process?.version ?? "";
// `most`: beyond so much work a run takes many seconds.
export const plain = { name: "plain JavaScript", most: 3e9, load: async () => version, tasks: plainTasks };
export const fast = { name: "optimised JavaScript", most: 1e10, load: async () => version, tasks: fastTasks };
