// How fast the kernels are: beside JavaScript, beside libraries that do the same, and beside the machine's limits.
//   npm run bench [-- --quick --tasks=table,attention --sizes=small,medium --peers=onnx,jax]
// prints ratios and writes BENCHMARKS.md; with --record also recorded.json, which `npm run bench:check` compares with:
// it fails when a ratio has fallen by more than a quarter. --quick leaves the large sizes out and measures less often.
// Part of the tasks, sizes or peers alone writes nothing.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { compile } from "../../scripts/build.mjs";
import { Failure, main, ROOT, run, step } from "../../scripts/run.mjs";
import { fast, plain } from "./adapters/js.mjs";
import { adapterOf } from "./adapters/ours.mjs";
import { inChromium } from "./chromium.mjs";
import { measureMap } from "./map.mjs";
import { measure } from "./measure.mjs";
import { compare, fell, reportOf, rowText } from "./report.mjs";
import { errorOf, inputsOf, SIZES, workOf } from "./tasks.mjs";

const FOLDER = join(ROOT, "tests/bench");
const RECORD = join(FOLDER, "recorded.json");
const FULL = { rounds: 11, sampleMs: 4, warmMs: 150, budgetMs: 1200 };
const QUICK = { rounds: 5, sampleMs: 2, warmMs: 60, budgetMs: 400 };

const PEERS = {
  onnx: () => import("./adapters/onnx.mjs").then(({ default: peer }) => [peer]),
  tfjs: () => import("./adapters/tfjs.mjs").then(({ default: peer }) => [peer]),
  jax: () => import("./adapters/jax.mjs").then(({ default: peer }) => [peer]),
  matrices: () => import("./adapters/matrices.mjs").then(({ mathjs, mlMatrix }) => [mathjs, mlMatrix]),
};

const list = (given, all) => {
  const names = given === undefined ? all : given.split(",");
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Failure(`"${unknown}" is not one of ${all.join(", ")}`);
  return names;
};

function optionsOf(args) {
  const given = Object.fromEntries(args.map((arg) => arg.replace(/^--/, "").split("=")));
  const { tasks, sizes, peers, ...flags } = given;
  const known = ["quick", "check", "record"];
  const unknown = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw new Failure(`--${unknown} is not an option`);
  return {
    tasks: list(tasks, Object.keys(SIZES)),
    sizes: list(sizes, "quick" in flags ? ["small", "medium"] : ["small", "medium", "large"]),
    peers: list(peers, Object.keys(PEERS)),
    whole: tasks === undefined && sizes === undefined && peers === undefined,
    effort: "quick" in flags ? QUICK : FULL,
    check: "check" in flags,
    record: "record" in flags,
  };
}

async function oursOf(preset, name) {
  const adapter = adapterOf(name, readFileSync(join(ROOT, "build", preset, "posenc-bench.wasm")));
  return preset === "wasm-simd" ? adapter : { ...adapter, most: 1e10 };
}

/** The adapters that load, each with its version, or why it does not. */
async function loadAll(peers) {
  const simd = await oursOf("wasm-simd", "posenc");
  const wanted = [simd, await oursOf("wasm-scalar", "posenc without SIMD"), plain, fast];
  for (const name of peers) wanted.push(...(await PEERS[name]()));
  const versions = {};
  const adapters = [];
  for (const adapter of wanted) {
    try {
      versions[adapter.name] = await adapter.load();
      adapters.push(adapter);
    } catch (error) {
      versions[adapter.name] = `does not load: ${error.message}`;
    }
  }
  return { adapters, versions, limits: simd.limits() };
}

/** What an adapter has for a task: [label, make], its variants too. */
const offered = ({ name, tasks, variants }, task) => [
  ...(tasks[task] ? [[name, tasks[task]]] : []),
  ...Object.entries(variants?.[task] ?? {}).map(([variant, make]) => [`${name}, ${variant}`, make]),
];

async function measureTask(adapters, task, size, effort) {
  const shape = SIZES[task][size];
  const work = workOf(task, shape);
  const inputs = inputsOf(task, shape);
  const ready = [];
  const failed = [];
  for (const adapter of adapters) {
    if (work.amount > (adapter.most ?? Number.POSITIVE_INFINITY)) continue;
    for (const [name, make] of offered(adapter, task)) {
      try {
        const made = await make(shape, inputs);
        await made.run();
        ready.push({ ...made, name, error: errorOf(task, shape, inputs, await made.result()) });
      } catch (error) {
        failed.push({ name, failed: error.message });
      }
    }
  }
  const measured = await measure(ready, effort);
  for (const { free } of [...ready].reverse()) await free?.();
  globalThis.gc?.();
  const rows = measured.map((row, i) => ({
    ...row,
    error: ready[i].error,
    rate: work.amount / row.ms / 1e6,
  }));
  return { task, size, shape, work, rows: [...rows, ...failed] };
}

/** Rows of numpy and torch, each in a process of its own; why not where one is not installed. */
function nativeRows(tasks, sizes) {
  const shapes = Object.fromEntries(
    tasks.map((task) => [task, Object.fromEntries(sizes.map((size) => [size, SIZES[task][size]]))]),
  );
  return ["numpy", "torch"].map((library) => {
    const { status, stdout } = spawnSync("python3", [join(FOLDER, "native.py"), library], {
      input: JSON.stringify(shapes),
      encoding: "utf8",
      env: { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
    });
    if (status !== 0) return { library, version: "not installed", times: {} };
    return { library, ...JSON.parse(stdout) };
  });
}

async function bench({ tasks, sizes, peers, whole, effort, check, record }) {
  const { adapters, versions, limits } = await loadAll(peers);
  const results = [];
  for (const task of tasks) {
    for (const size of sizes) {
      const result = await measureTask(adapters, task, size, effort);
      results.push(result);
      console.log(`\n${task}, ${size} ${JSON.stringify(result.shape)}`);
      for (const row of result.rows) console.log(`  ${rowText(row, result, limits)}`);
    }
  }
  const native = nativeRows(tasks, sizes);
  const chromium = await inChromium(effort);
  if (check) {
    const falls = fell(JSON.parse(readFileSync(RECORD, "utf8")), compare(results));
    if (falls.length) throw new Failure(`fallen by more than a quarter:\n  ${falls.join("\n  ")}`);
    console.log("\nno ratio has fallen by more than a quarter");
    return;
  }
  if (!whole) return;
  const map = await measureMap();
  const machine = {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    load: `${loadavg()[1].toFixed(1)} on ${cpus().length} processors`,
  };
  writeFileSync(
    join(ROOT, "BENCHMARKS.md"),
    reportOf({ machine, versions, limits, results, native, chromium, map }),
  );
  if (record) writeFileSync(RECORD, `${JSON.stringify(compare(results), null, 2)}\n`);
}

/** In a process that keeps freed memory: else the first touch of fresh pages is charged to whoever makes arrays. */
function again(args) {
  const env = {
    ...process.env,
    POSENC_BENCH: "1",
    MALLOC_MMAP_THRESHOLD_: String(2 ** 33),
    MALLOC_TRIM_THRESHOLD_: String(2 ** 34),
  };
  const flags = ["--expose-gc", join(FOLDER, "bench.mjs"), ...args];
  return spawnSync(process.execPath, flags, { env, stdio: "inherit" }).status ?? 1;
}

await main(import.meta.url, async (args) => {
  const options = optionsOf(args);
  if (process.env.POSENC_BENCH) {
    await bench(options);
    process.exit(0); // peers leave workers behind
  }
  for (const preset of ["wasm-simd", "wasm-scalar"]) await compile(preset, ["posenc_bench"]);
  if (!existsSync(join(FOLDER, "node_modules/onnxruntime-web")))
    await step("bench: npm ci", () => run("npm", ["ci", "--prefix", FOLDER]));
  process.exitCode = again(args);
});
