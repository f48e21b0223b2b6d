// Runs in a page: see chromium.mjs.
import { fast } from "./adapters/js.mjs";
import { adapterOf } from "./adapters/ours.mjs";
import { measure } from "./measure.mjs";
import { inputsOf, SIZES } from "./tasks.mjs";

const KERNELS = [
  ["table", "medium"],
  ["ropeCache", "medium"],
  ["ropeInterleaved", "medium"],
  ["ropeHalf", "medium"],
  ["attention", "small"],
  ["similarity", "medium"],
  ["colorsTransposed", "medium"],
];

async function pair(what, ours, other, effort) {
  const [base, peer] = await measure(
    [
      { name: "posenc", run: ours },
      { name: "other", run: other },
    ],
    effort,
  );
  return { what, ms: base.ms, ratio: peer.ratio };
}

/** A heatmap's new picture: colours of all cells, then the canvas. Both write into one ImageData and keep it. */
async function canvasUpdate(posenc, effort) {
  const shape = SIZES.colorsTransposed.large;
  const inputs = inputsOf("colorsTransposed", shape);
  const context = () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [shape.T, shape.D];
    document.body.append(canvas);
    return canvas.getContext("2d", { alpha: false });
  };
  const updateOf = (adapter) => {
    const target = context();
    const task = adapter.tasks.colorsTransposed(shape, inputs);
    task.run();
    const pixels = task.result();
    const bytes = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.byteLength);
    const image = new ImageData(bytes, shape.T, shape.D);
    return () => {
      task.run();
      target.putImageData(image, 0, 0);
    };
  };
  return pair("colours to a canvas of 4096 × 1024", updateOf(posenc), updateOf(fast), effort);
}

export async function measureAll(effort) {
  const bytes = await (await fetch("/build/wasm-simd/posenc-bench.wasm")).arrayBuffer();
  const posenc = adapterOf("posenc", bytes);
  await posenc.load();
  const rows = [];
  for (const [task, size] of KERNELS) {
    const inputs = inputsOf(task, SIZES[task][size]);
    const ours = posenc.tasks[task](SIZES[task][size], inputs);
    const other = fast.tasks[task](SIZES[task][size], inputs);
    rows.push(await pair(`${task}, ${size}`, ours.run, other.run, effort));
    ours.free();
  }
  rows.push(await canvasUpdate(posenc, effort));
  return rows;
}
