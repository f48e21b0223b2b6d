// npm test: brings what is missing, builds, and runs every suite, or those that are named:
//   npm test -- native node
// A suite that ran no test has failed. The last line adds up all suites.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ALL_IN_ALL } from "../tests/browser/engines.mjs";
import { coverage, forgetCounts, LEAST } from "../tests/coverage.mjs";
import { mutants } from "../tests/mutants/mutants.mjs";
import { tidy } from "../tests/tidy/tidy.mjs";
import { build, compile } from "./build.mjs";
import { differences } from "./reproduce.mjs";
import { attempt, bin, Failure, main, ROOT, step, workSideBySide } from "./run.mjs";
import { setup } from "./setup.mjs";

/** Paths of the files below a folder whose name matches. */
const filesIn = (folder, pattern) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))
    .sort();

/** The numbers of a suite, from what its runner printed; a runner that fails without saying so counts as one. */
function result(counts, { status, output }) {
  const { passed = 0, failed = 0 } = counts;
  const silent = status !== 0 && failed === 0 ? 1 : 0;
  return { passed, failed: failed + silent, output };
}

/** Reads the closing line of Catch2's console reporter. */
export function countCatch2(output) {
  const all = output.match(/All tests passed \(.* in (\d+) test cases?\)/);
  if (all) return { passed: Number(all[1]) };
  const line = output.match(/^test cases:.*$/m)?.[0] ?? "";
  const count = (word) => Number(line.match(new RegExp(`(\\d+) ${word}`))?.[1] ?? 0);
  return { passed: count("passed"), failed: count("failed") };
}

/** Reads the closing lines of node's spec reporter. Whatever did not pass has failed, a skipped test too. */
export function countNode(output) {
  const count = (word) => Number(output.match(new RegExp(`^ℹ ${word} (\\d+)$`, "m"))?.[1] ?? 0);
  const passed = count("pass");
  return { passed, failed: count("tests") - passed };
}

export function countBrowser(output) {
  const [, passed, failed] = output.match(/^(\d+) passed, (\d+) failed$/m) ?? [];
  return { passed: Number(passed ?? 0), failed: Number(failed ?? 0) };
}

async function catch2(preset) {
  await compile(preset, ["posenc_tests"], { tests: true });
  const binary = join(ROOT, "build", preset, "posenc_tests");
  const command = preset.startsWith("wasm") ? [process.execPath, `${binary}.cjs`] : [binary];
  const { status, output } = await step(`test: ${preset}`, () => attempt(command[0], command.slice(1)));
  const text = stripVTControlCharacters(output); // in WebAssembly, Catch2 takes every output for a terminal
  return result(countCatch2(text), { status, output: text });
}

/** The sanitizers' build also counts which lines of the core the tests run; that is one test more. */
async function asan() {
  forgetCounts();
  const tests = await catch2("asan");
  const { share, text } = await coverage();
  console.log(text);
  const enough = share >= LEAST;
  return { ...tests, passed: tests.passed + (enough ? 1 : 0), failed: tests.failed + (enough ? 0 : 1) };
}

/** Each mutant is one test. */
async function mutate() {
  const { killed, failures } = await step("test: mutants", () => mutants());
  return { passed: killed, failed: failures.length, output: failures.join("\n") };
}

let built;
const buildOnce = () => (built ??= build());

async function node() {
  await buildOnce();
  const files = ["tests/node", "tests/claims"].flatMap((folder) => filesIn(folder, /\.test\.mjs$/));
  const args = ["--test", "--test-reporter=spec", ...files];
  const ran = await step("test: node", () => attempt(process.execPath, args));
  return result(countNode(ran.output), ran);
}

async function browser(engine) {
  await buildOnce();
  console.log(`test: ${engine}`);
  const ran = await attempt(process.execPath, ["tests/browser/run.mjs", engine], { echo: true });
  return { ...result(countBrowser(ran.output), ran), output: "" };
}

/** Paths of the C++ sources, of the core and of its tests. */
const cppSources = () =>
  ["cpp", "tests/cpp", "tests/fuzz", "tests/tidy"].flatMap((folder) => filesIn(folder, /\.[ch]pp$/));

/** The checks that only read the sources; each is one test. */
async function sources() {
  await buildOnce();
  const checks = [
    [bin("biome"), "ci", "--error-on-warnings", "--colors=off"],
    [bin("tsc"), "--noEmit"],
    ["clang-format-14", "--dry-run", "-Werror", ...cppSources()],
  ];
  const total = { passed: 0, failed: 0, output: "" };
  for (const [command, ...args] of checks) {
    const name = command.replace(/.*\//, "");
    const { status, output } = await step(`test: ${name}`, () => attempt(command, args));
    if (status === 0) ++total.passed;
    else ++total.failed;
    if (status !== 0) total.output += output;
  }
  return total;
}

async function tidied() {
  await buildOnce();
  // The core; its tests are read by npm run test:slow.
  const files = cppSources().filter((file) => /\.cpp$/.test(file) && (ALL_IN_ALL || file.startsWith("cpp/")));
  const { status, output } = await step("test: clang-tidy-14", () => tidy(files));
  return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, output };
}

/** A second build, in another folder, gives the same bytes. */
async function reproduced() {
  await buildOnce();
  const { count, differing } = await step("test: reproduced", differences);
  const output = differing.map((name) => `differs between two builds: ${name}\n`).join("");
  return {
    passed: count > 0 && differing.length === 0 ? 1 : 0,
    failed: differing.length > 0 ? 1 : 0,
    output,
  };
}

const BROWSERS = ["chromium", "firefox", "webkit"];
const SUITES = {
  static: sources,
  tidy: tidied,
  reproduced,
  native: () => catch2("native"),
  "native-asan": asan,
  mutants: mutate,
  "wasm-simd": () => catch2("wasm-simd"),
  "wasm-scalar": () => catch2("wasm-scalar"),
  node,
  ...Object.fromEntries(BROWSERS.map((engine) => [engine, () => browser(engine)])),
};

async function runSuite(name) {
  try {
    const { passed, failed, output } = await SUITES[name]();
    if (failed > 0) console.log(output);
    return { passed, failed: passed + failed === 0 ? 1 : failed };
  } catch (error) {
    console.log(error instanceof Failure ? error.message : error);
    return { passed: 0, failed: 1 };
  }
}

async function test(names) {
  const unknown = names.find((name) => !(name in SUITES));
  if (unknown) throw new Failure(`"${unknown}" is not a suite: ${Object.keys(SUITES).join(", ")}`);
  await setup({ tests: true });
  const wanted = Object.keys(SUITES).filter((name) => names.length === 0 || names.includes(name));
  const results = new Map();
  const inTurn = async (suites) => {
    for (const name of suites) if (wanted.includes(name)) results.set(name, await runSuite(name));
  };
  // A browser leaves half of two cores to others: to what needs none, and then to WebKit, which takes the longest.
  await inTurn(["static"]);
  workSideBySide();
  const first = BROWSERS.filter((name) => name !== "webkit");
  await Promise.all([
    inTurn(first),
    inTurn(wanted.filter((name) => !first.includes(name) && name !== "static")),
  ]);
  const rows = wanted.map((name) => ({ name, ...results.get(name) }));

  console.log(`\n${"suite".padEnd(12)}  passed  failed`);
  for (const { name, passed, failed } of rows)
    console.log(`${name.padEnd(12)}  ${String(passed).padStart(6)}  ${String(failed).padStart(6)}`);
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

await main(import.meta.url, async (names) => {
  const { passed, failed } = await test(names).catch((error) => {
    console.error(error instanceof Failure ? error.message : error);
    return { passed: 0, failed: 1 };
  });
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
