// TensorFlow.js on its WASM backend. Inputs are tensors beforehand; bringing the result to JavaScript is in the run.
// Formulated for its fast paths: plain products of two matrices on a transposed copy; one sine for a whole table.
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { invFreq } from "../tasks.mjs";

let tf;

/** A task that computes tensors from `inputs`. */
function task(inputs, compute, read) {
  let last;
  return {
    run() {
      const tensors = tf.tidy(compute);
      last = tensors.map((tensor) => tensor.dataSync());
      for (const tensor of tensors) tensor.dispose();
    },
    result: () => read(last),
    free() {
      for (const tensor of inputs) tensor.dispose();
      last = undefined;
    },
  };
}

const rope =
  (half) =>
  ({ H, T, d }, given) => {
    // x·cos + (x P)·sin with a signed permutation P
    const swap = new Float32Array(d * d);
    const [cos, sin] = [new Float32Array(T * d), new Float32Array(T * d)];
    for (let i = 0; i < d / 2; i++) {
      const [a, b] = half ? [i, i + d / 2] : [2 * i, 2 * i + 1];
      swap[b * d + a] = -1;
      swap[a * d + b] = 1;
      for (let t = 0; t < T; t++) {
        cos[t * d + a] = cos[t * d + b] = given.cos[(t * d) / 2 + i];
        sin[t * d + a] = sin[t * d + b] = given.sin[(t * d) / 2 + i];
      }
    }
    const [x, p] = [tf.tensor(given.x, [H * T, d]), tf.tensor(swap, [d, d])];
    const [c, s] = [tf.tensor(cos, [1, T, d]), tf.tensor(sin, [1, T, d])];
    const compute = () => [
      tf.add(tf.mul(x.reshape([H, T, d]), c), tf.mul(tf.matMul(x, p).reshape([H, T, d]), s)),
    ];
    return task([x, p, c, s], compute, ([out]) => out);
  };

const attention =
  (biased) =>
  ({ H, T, d }, { q, k, v, slopes }) => {
    const [queries, keys, values] = [q, k, v].map((a) => tf.tensor(a, [H, T, d]));
    const [scale, slope] = [tf.scalar(1 / Math.sqrt(d)), tf.tensor(Float32Array.from(slopes), [H, 1, 1])];
    const byHead = (a, b) => {
      const others = tf.unstack(b);
      return tf.stack(tf.unstack(a).map((one, h) => tf.matMul(one, others[h])));
    };
    const compute = () => {
      let logits = byHead(tf.mul(queries, scale), tf.transpose(keys, [0, 2, 1]));
      if (biased) {
        const at = tf.range(0, T);
        const distance = tf.abs(tf.sub(at.reshape([1, T]), at.reshape([T, 1]))).reshape([1, T, T]);
        logits = tf.sub(logits, tf.mul(distance, slope));
      }
      const weights = tf.softmax(logits);
      return [byHead(weights, values), weights];
    };
    return task([queries, keys, values, scale, slope], compute, ([output, weights]) => ({ output, weights }));
  };

const colors =
  (transposed) =>
  ({ T, D }, { x, lut }) => {
    const values = tf.tensor(x, [T, D]);
    const [table, half] = [tf.tensor(new Int32Array(lut.buffer), [256], "int32"), tf.scalar(128)];
    const compute = () => {
      const places = tf.cast(tf.clipByValue(tf.add(tf.mul(values, half), half), 0, 255.5), "int32");
      return [tf.gather(table, transposed ? tf.transpose(places) : places)];
    };
    return task(
      [values, table, half],
      compute,
      ([out]) => new Uint32Array(out.buffer, out.byteOffset, out.length),
    );
  };

export default {
  name: "TensorFlow.js (WASM)",
  async load() {
    tf = await import("@tensorflow/tfjs");
    const backend = await import("@tensorflow/tfjs-backend-wasm");
    const { resolve } = createRequire(import.meta.url);
    backend.setWasmPaths(`${dirname(resolve("@tensorflow/tfjs-backend-wasm"))}/`);
    await tf.setBackend("wasm");
    await tf.ready();
    return tf.version_core;
  },
  tasks: {
    table({ T, D }) {
      const frequencies = Float32Array.from({ length: D }, (_, c) => 10000 ** (-(c - (c % 2)) / D));
      const phases = Float32Array.from({ length: D }, (_, c) => (c % 2 ? Math.PI / 2 : 0));
      const [w, phase] = [tf.tensor(frequencies, [1, D]), tf.tensor(phases, [1, D])];
      const compute = () => [tf.sin(tf.add(tf.mul(tf.range(0, T).reshape([T, 1]), w), phase))];
      return task([w, phase], compute, ([out]) => out);
    },
    ropeCache({ T, d }) {
      const w = tf.tensor(Float32Array.from(invFreq(d / 2)), [1, d / 2]);
      const compute = () => {
        const angles = tf.mul(tf.range(0, T).reshape([T, 1]), w);
        return [tf.cos(angles), tf.sin(angles)];
      };
      return task([w], compute, ([cos, sin]) => ({ cos, sin }));
    },
    ropeInterleaved: rope(false),
    ropeHalf: rope(true),
    attention: attention(false),
    attentionAlibi: attention(true),
    similarity({ T, D }, given) {
      const x = tf.tensor(given.x, [T, D]);
      return task(
        [x],
        () => [tf.matMul(x, tf.transpose(x))],
        ([out]) => out,
      );
    },
    colors: colors(false),
    colorsTransposed: colors(true),
  },
};
