// Looks for configs and inputs that break the laws of laws.cpp, each kind for so many seconds, under the sanitizers.
// What it finds is a line for seeds.txt, which every native and WebAssembly test run replays.
//   node tests/fuzz/fuzz.mjs [--seconds 60] [--keep] [sinusoidal rope …]
// --keep writes seeds.txt anew: the shortest inputs that together reach most.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compile } from "../../scripts/build.mjs";
import { attempt, Failure, main, ROOT } from "../../scripts/run.mjs";
import { setup } from "../../scripts/setup.mjs";

const SEEDS = join(ROOT, "tests/fuzz/seeds.txt");
const FOLDER = join(ROOT, "build/fuzz");
const MAX_LENGTH = 256;
const KEPT = 24;
const KEPT_LENGTH = 48;

/** [name, hex] of each line. */
const seeds = () =>
  readFileSync(SEEDS, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
const inputsIn = (folder) => readdirSync(folder).map((name) => readFileSync(join(folder, name)));

/** What broke, and where in the project. */
function report(output) {
  const lines = output.split("\n");
  const first = lines.findIndex((line) => /: broken: |runtime error|ERROR|terminate/.test(line));
  return lines
    .slice(first)
    .filter((line, i) => i < 2 || /#\d+ .*\/(cpp|tests\/fuzz)\/[\w/]+\.[ch]pp:/.test(line))
    .join("\n");
}

/** Fuzzes one kind. Resolves to its numbers, and to what broke, if anything did. */
async function fuzz(name, seconds) {
  const corpus = join(FOLDER, "corpus", name);
  const found = join(FOLDER, "found", name);
  for (const folder of [corpus, found]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  for (const [i, [, hex]] of seeds()
    .filter(([kind]) => kind === name)
    .entries())
    writeFileSync(join(corpus, `seed-${i}`), Buffer.from(hex, "hex"));
  const args = [
    `-max_total_time=${seconds}`,
    `-max_len=${MAX_LENGTH}`,
    "-timeout=20",
    "-print_final_stats=1",
  ];
  const { status, output } = await attempt(
    join(FOLDER, "posenc_fuzz"),
    [...args, `-artifact_prefix=${found}/`, corpus],
    { env: { POSENC_LAWS: name } },
  );
  const count = (pattern) => Number(output.match(pattern)?.[1] ?? 0);
  return {
    name,
    executions: count(/number_of_executed_units:\s*(\d+)/),
    edges: Math.max(0, ...Array.from(output.matchAll(/ cov: (\d+)/g), ([, edges]) => Number(edges))),
    inputs: inputsIn(corpus).length,
    broken: status === 0 ? "" : report(output),
    lines: inputsIn(found).map((bytes) => `${name} ${bytes.toString("hex")}`),
  };
}

/** The shortest inputs of a kind's corpus, once its superfluous ones are gone; those of seeds.txt stay. */
async function keep(name) {
  const [corpus, least] = ["corpus", "least"].map((folder) => join(FOLDER, folder, name));
  rmSync(least, { recursive: true, force: true });
  mkdirSync(least, { recursive: true });
  await attempt(join(FOLDER, "posenc_fuzz"), ["-merge=1", `-max_len=${KEPT_LENGTH}`, least, corpus], {
    env: { POSENC_LAWS: name },
  });
  const fresh = inputsIn(least)
    .filter(({ length }) => length > 0)
    .sort((a, b) => a.length - b.length || a.compare(b));
  const step = Math.max(fresh.length / KEPT, 1); // of all lengths
  const chosen = Array.from({ length: Math.min(KEPT, fresh.length) }, (_, i) => fresh[Math.floor(i * step)]);
  return chosen.map((bytes) => `${name} ${bytes.toString("hex")}`);
}

async function fuzzAll(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { seconds: { type: "string", default: "60" }, keep: { type: "boolean", default: false } },
  });
  await setup({ tests: true });
  await compile("fuzz", ["posenc_fuzz"]);
  const known = readFileSync(join(ROOT, "tests/fuzz/laws.cpp"), "utf8").match(/kAll\[\] = \{([^;]*)\};/)[1];
  const names = Array.from(known.matchAll(/"(\w+)"/g), ([, name]) => name);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown) throw new Failure(`"${unknown}" is no kind of laws: ${names.join(", ")}`);
  const waiting = positionals.length > 0 ? [...positionals] : [...names];
  const lines = [];
  let broken = 0;
  console.log(
    `${"laws".padEnd(12)}${"executions".padStart(12)}${"edges".padStart(8)}${"inputs".padStart(8)}`,
  );
  const worker = async () => {
    while (waiting.length > 0) {
      const result = await fuzz(waiting.shift(), values.seconds);
      const numbers = [result.executions, result.edges, result.inputs].map(String);
      const row = [12, 8, 8].map((width, i) => numbers[i].padStart(width)).join("");
      console.log(`${result.name.padEnd(12)}${row}${result.broken ? "  BROKEN" : ""}`);
      if (values.keep) lines.push(...(await keep(result.name)));
      if (!result.broken) continue;
      ++broken;
      console.log(`${result.broken}\nfor tests/fuzz/seeds.txt:\n${result.lines.join("\n")}`);
    }
  };
  await Promise.all([worker(), worker()]);
  if (values.keep) {
    const before = seeds().map((pair) => pair.join(" "));
    writeFileSync(SEEDS, `${[...new Set([...before, ...lines])].sort().join("\n")}\n`);
  }
  console.log(broken === 0 ? "no law was broken" : `${broken} kinds of laws were broken`);
  if (broken > 0) process.exitCode = 1;
}

await main(import.meta.url, fuzzAll);
