// posenc's kernels, called by address: inputs are put into WebAssembly memory before a run, and results are read
// where they lie.
import { invFreq } from "../tasks.mjs";

const FIRST = 16 << 20; // beyond the module's own data and stack

/** bytes: of posenc-bench.wasm, with SIMD or without. */
export function adapterOf(name, bytes) {
  let kernels;
  let top = FIRST;
  const reserve = (size) => {
    const address = top;
    top += (size + 127) & ~63;
    return address;
  };
  const put = (array) => {
    const address = reserve(array.byteLength);
    new array.constructor(kernels.memory.buffer, address, array.length).set(array);
    return address;
  };
  const floats = (address, count) => new Float32Array(kernels.memory.buffer, address, count);
  const task = (make) => (shape, inputs) => ({ ...make(shape, inputs), free: () => (top = FIRST) });

  const rope = (half) =>
    task(({ H, T, d }, { x, cos, sin }) => {
      const [from, cosines, sines] = [put(x), put(cos), put(sin)];
      const out = reserve(x.byteLength);
      return {
        run: () => kernels.rope(out, from, cosines, sines, H, T, d, half),
        result: () => floats(out, x.length),
      };
    });
  // In place the input changes from run to run: its norm stays, and so does what a run costs.
  const ropeInPlace = (half) =>
    task(({ H, T, d }, { x, cos, sin }) => {
      const [at, cosines, sines] = [put(x), put(cos), put(sin)];
      return {
        run: () => kernels.rope(at, at, cosines, sines, H, T, d, half),
        result: () => {
          floats(at, x.length).set(x);
          kernels.rope(at, at, cosines, sines, H, T, d, half);
          return floats(at, x.length);
        },
      };
    });
  const attention = (biased) =>
    task(({ H, T, d }, { q, k, v, slopes }) => {
      const addresses = [put(q), put(k), put(v)];
      const bias = biased ? reserve(4 * H * (2 * T - 1)) : 0;
      const [output, weights] = [reserve(q.byteLength), reserve(4 * H * T * T)];
      const scratch = reserve(4 * kernels.attend_scratch(H, T, d));
      return {
        run() {
          if (biased) {
            const to = floats(bias, H * (2 * T - 1));
            for (let h = 0, at = 0; h < H; h++)
              for (let r = 1 - T; r < T; r++) to[at++] = -slopes[h] * Math.abs(r);
          }
          kernels.attend(output, weights, scratch, ...addresses, bias, H, T, d);
        },
        result: () => ({ output: floats(output, q.length), weights: floats(weights, H * T * T) }),
      };
    });
  const similarity = (kernel) =>
    task(({ T, D }, { x }) => {
      const [from, out, scratch] = [put(x), reserve(4 * T * T), reserve(4 * kernels.products_scratch(D))];
      return { run: () => kernels[kernel](out, from, scratch, T, D), result: () => floats(out, T * T) };
    });
  const colors = (transposed) =>
    task(({ T, D }, { x, lut }) => {
      const [from, table, out, scratch] = [put(x), put(lut), reserve(4 * T * D), reserve(8 * D)];
      return {
        input: floats(from, T * D),
        run: () => kernels.colours(out, scratch, from, table, T, D, transposed),
        result: () => new Uint32Array(kernels.memory.buffer, out, T * D),
      };
    });

  return {
    name,
    async load() {
      ({ exports: kernels } = (await WebAssembly.instantiate(bytes, {})).instance);
      kernels._initialize?.();
      return "this repository";
    },
    limits: () => limitsOf(kernels),
    tasks: {
      table: task(({ T, D }) => {
        const [out, scratch] = [reserve(4 * T * D), reserve(8 * kernels.table_scratch(T, D))];
        return { run: () => kernels.table(out, scratch, 0, T, D), result: () => floats(out, T * D) };
      }),
      ropeCache: task(({ T, d }) => {
        const [cos, sin, frequencies] = [reserve(2 * T * d), reserve(2 * T * d), put(invFreq(d / 2))];
        const scratch = reserve(8 * kernels.rope_cache_scratch(d));
        return {
          run: () => kernels.rope_cache_table(cos, sin, frequencies, scratch, T, d),
          result: () => ({ cos: floats(cos, (T * d) / 2), sin: floats(sin, (T * d) / 2) }),
        };
      }),
      ropeInterleaved: ropeInPlace(false),
      ropeHalf: ropeInPlace(true),
      attention: attention(false),
      attentionAlibi: attention(true),
      similarity: similarity("products_of"),
      colors: colors(false),
      colorsTransposed: colors(true),
    },
    variants: {
      ropeInterleaved: { "into another array": rope(false) },
      ropeHalf: { "into another array": rope(true) },
      similarity: {
        "half of it mirrored": similarity("similarity_of"),
        "from offsets": task(({ T, D }) => {
          const [out, scratch] = [reserve(4 * T * T), reserve(8 * kernels.toeplitz_scratch(T, D))];
          return { run: () => kernels.toeplitz_of(out, scratch, T, D), result: () => floats(out, T * T) };
        }),
      },
    },
  };
}

/** GB/s that SIMD stores and copies reach on so many bytes, read and write counted apart; GF/s of four floats' x·y + z. */
function limitsOf(kernels) {
  const best = (run, amount) => {
    let ms = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 25; i++) {
      const start = performance.now();
      run();
      ms = Math.min(ms, performance.now() - start);
    }
    return amount / ms / 1e6;
  };
  const repeated = (bytes, run) => {
    const times = Math.max(1, Math.floor(2 ** 24 / bytes));
    const all = () => {
      for (let i = 0; i < times; i++) run(bytes / 16);
    };
    return best(all, bytes * times);
  };
  const sizes = [2 ** 14, 2 ** 19, 2 ** 22, 2 ** 25];
  const to = FIRST;
  const from = FIRST + 2 ** 25;
  const each = (run) => Object.fromEntries(sizes.map((bytes) => [bytes, repeated(bytes, run)]));
  return {
    store: each((vectors) => kernels.store_all(to, vectors, 1)),
    copy: Object.fromEntries(
      Object.entries(each((vectors) => kernels.copy_all(to, from, vectors))).map(([b, rate]) => [
        b,
        2 * rate,
      ]),
    ),
    multiplyAdd: best(() => kernels.multiply_add(100000, 0.999, 0.001), 100000 * 96),
  };
}
