// jax-js on its WASM backend, every function jitted. Bringing the result to JavaScript is in the run.
import { readFileSync } from "node:fs";
import { invFreq } from "../tasks.mjs";

let jax;
const arrayOf = (data, shape) => jax.numpy.array(data, { shape });

function task(inputs, compute, read) {
  const jitted = jax.jit(compute);
  let last;
  return {
    run() {
      globalThis.Worker = undefined; // ONNX Runtime defines it in Node; jax-js then expects shared memory
      const out = jitted(...inputs.map((input) => input.ref));
      last = (Array.isArray(out) ? out : [out]).map((array) => array.dataSync());
    },
    result: () => read(last),
    free() {
      for (const input of inputs) input.dispose();
      last = undefined;
    },
  };
}

const frequenciesOf = (pairs) => arrayOf(Float32Array.from(invFreq(pairs)), [1, pairs]);
const anglesOf = (T, w) => jax.numpy.arange(T).astype("float32").reshape([T, 1]).mul(w);

const rope =
  (half) =>
  ({ H, T, d }, { x, cos, sin }) => {
    const pairs = d / 2;
    const inputs = [
      arrayOf(x, half ? [H, T, 2, pairs] : [H, T, pairs, 2]),
      arrayOf(cos, [1, T, pairs]),
      arrayOf(sin, [1, T, pairs]),
    ];
    const compute = (x, c, s) => {
      const component = (i) => (half ? x.ref.slice([], [], i, []) : x.ref.slice([], [], [], i));
      const [a, b] = [component(0), component(1)];
      x.dispose();
      const turned = [a.ref.mul(c.ref).sub(b.ref.mul(s.ref)), a.mul(s).add(b.mul(c))];
      return jax.numpy.stack(turned, half ? 2 : 3).reshape([H, T, d]);
    };
    return task(inputs, compute, ([out]) => out);
  };

const attention =
  (biased) =>
  ({ H, T, d }, { q, k, v, slopes }) => {
    const inputs = [q, k, v].map((a) => arrayOf(a, [H, T, d]));
    if (biased) {
      const bias = new Float32Array(H * T * T);
      for (let i = 0; i < bias.length; i++)
        bias[i] = -slopes[Math.floor(i / (T * T))] * Math.abs((i % T) - (Math.floor(i / T) % T));
      inputs.push(arrayOf(bias, [H, T, T]));
    }
    const compute = (q, k, v, bias) => {
      const scaled = jax.numpy.matmul(q, jax.numpy.matrixTranspose(k)).mul(1 / Math.sqrt(d));
      const weights = jax.nn.softmax(bias ? scaled.add(bias) : scaled, -1);
      return [jax.numpy.matmul(weights.ref, v), weights];
    };
    return task(inputs, compute, ([output, weights]) => ({ output, weights }));
  };

const colors =
  (transposed) =>
  ({ T, D }, { x, lut }) => {
    const inputs = [arrayOf(x, [T, D]), arrayOf(new Int32Array(lut.buffer), [256])];
    const compute = (values, table) => {
      const places = jax.numpy.clip(values.mul(128).add(128), 0, 255.5).astype("int32");
      return jax.numpy.take(table, transposed ? jax.numpy.transpose(places) : places);
    };
    return task(inputs, compute, ([out]) => new Uint32Array(out.buffer, out.byteOffset, out.length));
  };

export default {
  name: "jax-js (WASM)",
  async load() {
    jax = await import("@jax-js/jax");
    await jax.init("wasm");
    jax.defaultDevice("wasm");
    const about = new URL("../node_modules/@jax-js/jax/package.json", import.meta.url);
    return JSON.parse(readFileSync(about, "utf8")).version;
  },
  tasks: {
    table({ T, D }) {
      const compute = (w) => {
        const angles = anglesOf(T, w);
        return jax.numpy.stack([jax.numpy.sin(angles.ref), jax.numpy.cos(angles)], 2).reshape([T, D]);
      };
      return task([frequenciesOf(D / 2)], compute, ([out]) => out);
    },
    ropeCache({ T, d }) {
      const compute = (w) => {
        const angles = anglesOf(T, w);
        return [jax.numpy.cos(angles.ref), jax.numpy.sin(angles)];
      };
      return task([frequenciesOf(d / 2)], compute, ([cos, sin]) => ({ cos, sin }));
    },
    ropeInterleaved: rope(false),
    ropeHalf: rope(true),
    attention: attention(false),
    attentionAlibi: attention(true),
    similarity: ({ T, D }, { x }) =>
      task(
        [arrayOf(x, [T, D])],
        (x) => jax.numpy.matmul(x.ref, jax.numpy.transpose(x)),
        ([out]) => out,
      ),
    colors: colors(false),
    colorsTransposed: colors(true),
  },
};
