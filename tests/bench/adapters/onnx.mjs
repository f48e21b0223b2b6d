// ONNX Runtime Web on one thread. Models are built here; each run copies its inputs in, as the API demands.
import { invFreq } from "../tasks.mjs";

let ort, proto;
const FLOAT = 1,
  INT32 = 6,
  INT64 = 7; // TensorProto.DataType

const typeOf = (array) =>
  array instanceof BigInt64Array ? INT64 : array instanceof Int32Array ? INT32 : FLOAT;
const constant = (name, dims, array) =>
  proto.TensorProto.create({ name, dims, dataType: typeOf(array), rawData: new Uint8Array(array.buffer) });
const value = (name, dims, elemType = FLOAT) => ({
  name,
  type: { tensorType: { elemType, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
});
const attribute = ([name, given]) =>
  Array.isArray(given) ? { name, type: 7, ints: given } : { name, type: 2, i: given };
const node = (opType, input, output, attributes = {}, domain = "") => ({
  opType,
  input,
  output,
  domain,
  attribute: Object.entries(attributes).map(attribute),
});
const floats = (array, dims) => new ort.Tensor("float32", array, dims);
const wholes = (...numbers) => BigInt64Array.from(numbers.map(BigInt));

async function task({ nodes, inputs, outputs, constants = [] }, feeds, read) {
  const model = proto.ModelProto.create({
    irVersion: 8,
    opsetImport: [
      { domain: "", version: 17 },
      { domain: "com.microsoft", version: 1 },
    ],
    graph: { name: "task", node: nodes, input: inputs, output: outputs, initializer: constants },
  });
  const session = await ort.InferenceSession.create(proto.ModelProto.encode(model).finish(), {
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
  let last;
  return {
    async run() {
      for (const tensor of Object.values(last ?? {})) tensor.dispose();
      last = await session.run(feeds);
    },
    result: () => read(Object.fromEntries(Object.entries(last).map(([name, { data }]) => [name, data]))),
    free: () => session.release(),
  };
}

const positions = (T) =>
  floats(
    Float32Array.from({ length: T }, (_, t) => t),
    [T, 1],
  );
const frequencies = (pairs) => constant("w", [1, pairs], Float32Array.from(invFreq(pairs)));
const angles = [node("Mul", ["p", "w"], ["a"]), node("Sin", ["a"], ["sin"]), node("Cos", ["a"], ["cos"])];

const rope =
  (interleaved) =>
  ({ H, T, d }, { x, cos, sin }) => {
    const shape = [1, H, T, d];
    const model = {
      nodes: [node("RotaryEmbedding", ["x", "p", "cos", "sin"], ["y"], { interleaved }, "com.microsoft")],
      inputs: [
        value("x", shape),
        value("p", [1, T], INT64),
        value("cos", [T, d / 2]),
        value("sin", [T, d / 2]),
      ],
      outputs: [value("y", shape)],
    };
    const p = new ort.Tensor("int64", wholes(...Array(T).keys()), [1, T]);
    const feeds = { x: floats(x, shape), p, cos: floats(cos, [T, d / 2]), sin: floats(sin, [T, d / 2]) };
    return task(model, feeds, ({ y }) => y);
  };

const attention =
  (biased) =>
  ({ H, T, d }, { q, k, v, slopes }) => {
    const shape = [H, T, d];
    const feeds = { q: floats(q, shape), k: floats(k, shape), v: floats(v, shape) };
    if (biased) {
      const bias = new Float32Array(H * T * T);
      for (let i = 0; i < bias.length; i++)
        bias[i] = -slopes[Math.floor(i / (T * T))] * Math.abs((i % T) - (Math.floor(i / T) % T));
      feeds.bias = floats(bias, [H, T, T]);
    }
    const model = {
      nodes: [
        node("Transpose", ["k"], ["kt"], { perm: [0, 2, 1] }),
        node("MatMul", ["q", "kt"], ["dots"]),
        node("Mul", ["dots", "scale"], ["scaled"]),
        ...(biased ? [node("Add", ["scaled", "bias"], ["logits"])] : []),
        node("Softmax", [biased ? "logits" : "scaled"], ["weights"], { axis: -1 }),
        node("MatMul", ["weights", "v"], ["output"]),
      ],
      inputs: [
        ...["q", "k", "v"].map((name) => value(name, shape)),
        ...(biased ? [value("bias", [H, T, T])] : []),
      ],
      outputs: [value("output", shape), value("weights", [H, T, T])],
      constants: [constant("scale", [], Float32Array.of(1 / Math.sqrt(d)))],
    };
    return task(model, feeds, (result) => result);
  };

const colors =
  (transposed) =>
  ({ T, D }, { x, lut }) => {
    const out = transposed ? [D, T] : [T, D];
    const model = {
      nodes: [
        node("Mul", ["x", "half"], ["x1"]),
        node("Add", ["x1", "half"], ["x2"]),
        node("Clip", ["x2", "low", "high"], ["x3"]),
        node("Cast", ["x3"], ["x4"], { to: INT32 }),
        ...(transposed ? [node("Transpose", ["x4"], ["x5"], { perm: [1, 0] })] : []),
        node("Gather", ["lut", transposed ? "x5" : "x4"], ["y"], { axis: 0 }),
      ],
      inputs: [value("x", [T, D])],
      outputs: [value("y", out, INT32)],
      constants: [
        constant("half", [], Float32Array.of(128)),
        constant("low", [], Float32Array.of(0)),
        constant("high", [], Float32Array.of(255.5)),
        constant("lut", [256], new Int32Array(lut.buffer)),
      ],
    };
    const read = ({ y }) => new Uint32Array(y.buffer, y.byteOffset, y.length);
    return task(model, { x: floats(x, [T, D]) }, read);
  };

export default {
  name: "ONNX Runtime Web",
  async load() {
    proto = (await import("onnx-proto")).default.onnx;
    ort = await import("onnxruntime-web");
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = "error";
    return ort.env.versions.web ?? ort.env.versions.common;
  },
  tasks: {
    table({ T, D }) {
      const model = {
        nodes: [
          ...angles,
          node("Unsqueeze", ["sin", "axis"], ["s"]),
          node("Unsqueeze", ["cos", "axis"], ["c"]),
          node("Concat", ["s", "c"], ["both"], { axis: 2 }),
          node("Reshape", ["both", "shape"], ["y"]),
        ],
        inputs: [value("p", [T, 1])],
        outputs: [value("y", [T, D])],
        constants: [
          frequencies(D / 2),
          constant("axis", [1], wholes(2)),
          constant("shape", [2], wholes(T, D)),
        ],
      };
      return task(model, { p: positions(T) }, ({ y }) => y);
    },
    ropeCache({ T, d }) {
      const model = {
        nodes: angles,
        inputs: [value("p", [T, 1])],
        outputs: [value("sin", [T, d / 2]), value("cos", [T, d / 2])],
        constants: [frequencies(d / 2)],
      };
      return task(model, { p: positions(T) }, (result) => result);
    },
    ropeInterleaved: rope(1),
    ropeHalf: rope(0),
    attention: attention(false),
    attentionAlibi: attention(true),
    similarity({ T, D }, { x }) {
      const model = {
        nodes: [node("Transpose", ["x"], ["xt"], { perm: [1, 0] }), node("MatMul", ["x", "xt"], ["y"])],
        inputs: [value("x", [T, D])],
        outputs: [value("y", [T, T])],
      };
      return task(model, { x: floats(x, [T, D]) }, ({ y }) => y);
    },
    colors: colors(false),
    colorsTransposed: colors(true),
  },
};
