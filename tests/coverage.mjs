// Which lines of the core the tests have run: reads what the counting build (preset asan) left beside its objects.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { attempt, Failure, ROOT } from "../scripts/run.mjs";

/** The least share of lines, in %, that must have been run. */
export const LEAST = 95;

/** From gcov's text, "count:line:source" under a head that names the file: file -> line -> whether it was run. */
export function readLines(text, into = new Map()) {
  let lines;
  for (const row of text.split("\n")) {
    const [, count, number, rest] = row.match(/^\s*([^:]+?)\*?:\s*(\d+):(.*)$/) ?? [];
    if (number === "0" && rest.startsWith("Source:")) {
      const file = rest.slice("Source:".length).replace(`${ROOT}/`, "");
      if (!into.has(file)) into.set(file, new Map());
      lines = into.get(file);
    }
    if (!lines || Number(number) === 0 || number === undefined || count === "-") continue;
    // A template or an inline function has a count in every object: one is enough.
    lines.set(Number(number), (lines.get(Number(number)) ?? false) || /[1-9]/.test(count));
  }
  return into;
}

/** A sentence for each file with lines that were not run, and the whole. */
export function report(files) {
  const text = [];
  let [all, run] = [0, 0];
  for (const [file, lines] of [...files].sort(([a], [b]) => a.localeCompare(b))) {
    const missed = [...lines].filter(([, wasRun]) => !wasRun).map(([line]) => line);
    all += lines.size;
    run += lines.size - missed.length;
    if (missed.length > 0) text.push(`not run: ${file}: ${missed.sort((a, b) => a - b).join(", ")}`);
  }
  const share = (100 * run) / all;
  text.push(`${run} of ${all} lines of the core run: ${share.toFixed(1)} %, at least ${LEAST} % must be`);
  return { share, text: text.join("\n") };
}

const FOLDER = join(ROOT, "build/asan/CMakeFiles");
const counts = () =>
  (existsSync(FOLDER) ? readdirSync(FOLDER, { recursive: true }) : [])
    .filter((name) => /^posenc(_train)?\.dir\/.*\.gcda$/.test(name))
    .map((name) => join(FOLDER, name));

/** Runs add up, also those of sources that have changed since. */
export function forgetCounts() {
  for (const path of counts()) rmSync(path);
}

export async function coverage() {
  const data = counts();
  if (data.length === 0) throw new Failure("the counting build has left no .gcda: no test has run");
  const cache = readFileSync(join(ROOT, "build/asan/CMakeCache.txt"), "utf8");
  const isClang = /^CMAKE_CXX_COMPILER:.*clang/m.test(cache);
  const [command, ...first] = isClang ? ["llvm-cov-14", "gcov"] : ["gcov"];
  const { status, output } = await attempt(command, [...first, "--stdout", ...data]);
  if (status !== 0) throw new Failure(output);
  const files = new Map([...readLines(output)].filter(([file]) => /^cpp\//.test(file)));
  return report(files);
}
