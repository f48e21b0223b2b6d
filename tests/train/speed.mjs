// Steps a second of training with RoPE on the echo task, side by side in one run: WebAssembly with SIMD and without,
// plain JavaScript, and machine code. The four take turns, so that what else the computer does meets all of them.
//   node tests/train/speed.mjs [ROUNDS]
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { compile } from "../../scripts/build.mjs";
import { main, ROOT } from "../../scripts/run.mjs";
import { plainRun } from "./plain.mjs";

const CONFIG = { task: "echo", encoding: "rope", steps: 100_000 };
/** Steps of a turn: each turn takes some tenths of a second. */
const STEPS = { "WebAssembly SIMD": 200, "WebAssembly scalar": 60, "plain JavaScript": 12, native: 200 };

function timed(count, step) {
  const begun = performance.now();
  for (let i = 0; i < count; i++) step();
  return (1000 * count) / (performance.now() - begun);
}
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function speed([rounds = "5"]) {
  await compile("native", ["posenc_train_speed"]);
  const { loadTrainer } = await import("posenc/train");
  const run = async (simd) => (await loadTrainer({ simd })).createRun(CONFIG);
  const [simd, scalar, first] = [await run(true), await run(false), await run(true)];
  const plain = plainRun(first);
  const binary = join(ROOT, "build/native/posenc_train_speed");
  const turns = {
    "WebAssembly SIMD": (count) => timed(count, () => simd.step()),
    "WebAssembly scalar": (count) => timed(count, () => scalar.step()),
    "plain JavaScript": (count) => timed(count, () => plain.step()),
    native: (count) => Number(execFileSync(binary, [String(count)])),
  };
  const results = Object.fromEntries(Object.keys(turns).map((name) => [name, []]));
  for (const [name, turn] of Object.entries(turns)) turn(STEPS[name]); // code is compiled
  for (let i = 0; i < Number(rounds); i++)
    for (const [name, turn] of Object.entries(turns)) results[name].push(turn(STEPS[name]));
  const slowest = median(results["plain JavaScript"]);
  for (const [name, values] of Object.entries(results)) {
    const [low, middle, high] = [Math.min(...values), median(values), Math.max(...values)];
    const times = (middle / slowest).toFixed(1);
    console.log(
      `${name.padEnd(20)}${middle.toFixed(0).padStart(6)} steps/s (${low.toFixed(0)} to ${high.toFixed(0)}), ${times} × plain JavaScript`,
    );
  }
}

await main(import.meta.url, speed);
