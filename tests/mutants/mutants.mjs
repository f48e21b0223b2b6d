// Changes one constant or comparison of the core at a time (list.mjs) and demands that the tests notice. A mutant is
// one source compiled anew and linked with the objects of the native build; it is killed when a test fails, or an
// assertion of the compiler's. The unchanged sources must pass first.
//   node tests/mutants/mutants.mjs [part of a file's name]
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compile } from "../../scripts/build.mjs";
import { attempt, main, ROOT } from "../../scripts/run.mjs";
import { GROUPS } from "./list.mjs";

const NATIVE = join(ROOT, "build/native");
const FOLDER = join(ROOT, "build/mutants");
const CXX = process.env.CXX || "c++";
const FLAGS = ["-std=c++20", "-O1", "-w", "-ffp-contract=off"];
const INCLUDES = ["-Icpp", "-Itests/cpp", "-isystem", join(NATIVE, "external")];
const DEFINES = [`-DPOSENC_GOLDEN="${ROOT}/tests/golden/"`];
const testObject = (name) => join(NATIVE, `CMakeFiles/posenc_tests.dir/tests/cpp/${name}.cpp.o`);

/** Builds and runs the tests of a group with `text` in place of its file; whether they pass. */
async function passes({ file, sources = [file], tests }, text, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const objects = [];
  for (const source of sources) {
    const copy = join(folder, basename(source)); // beside the header that it includes
    if (source !== file) copyFileSync(join(ROOT, source), copy);
    writeFileSync(join(folder, basename(file)), text);
    const object = `${copy}.o`;
    const command = [...FLAGS, ...DEFINES, `-I${FOLDER}`, ...INCLUDES, "-c", copy, "-o", object];
    const { status, output } = await attempt(CXX, command);
    if (/static assertion failed/.test(output)) return false;
    if (status !== 0) throw new Error(output);
    objects.push(object);
  }
  if (tests.length === 0) return true;
  const program = join(folder, "tests");
  const libraries = ["posenc_train", "posenc"].map((name) => join(NATIVE, `lib${name}.a`));
  const linked = await attempt(CXX, [
    ...objects,
    ...["main", ...tests].map(testObject),
    ...libraries,
    "-Wl,--strip-debug",
    "-o",
    program,
  ]);
  if (linked.status !== 0) throw new Error(linked.output);
  // A mutant may well run for ever.
  const ran = await attempt("timeout", ["600", program, "--abort"]);
  return ran.status === 0;
}

/** The text with one place changed; a text that stands there not once is an error of the list. */
export function change(text, from, to) {
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`"${from}" stands there ${places} times, not once`);
  return text.replace(from, () => to);
}

/** Of the files whose names have `part`: how many mutants were killed, and a sentence for each that was not. */
export async function mutants({ part = "", said = () => {} } = {}) {
  await compile("native", ["posenc_tests"], { tests: true });
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // Catch2's header, read once.
  const header = join(FOLDER, "check.hpp");
  copyFileSync(join(ROOT, "tests/cpp/check.hpp"), header);
  await attempt(CXX, [...FLAGS, ...DEFINES, ...INCLUDES, "-x", "c++-header", header, "-o", `${header}.gch`]);

  const waiting = [];
  for (const group of GROUPS.filter(({ file }) => file.includes(part))) {
    const text = readFileSync(join(ROOT, group.file), "utf8");
    waiting.push({ group, text });
    for (const [from, to] of group.mutants) waiting.push({ group, from, to, text });
  }
  const failures = [];
  const fail = (sentence) => {
    failures.push(sentence);
    said(sentence);
  };
  let killed = 0;
  const worker = async (folder) => {
    while (waiting.length > 0) {
      const { group, from, to, text } = waiting.shift();
      try {
        const passed = await passes(group, from ? change(text, from, to) : text, folder);
        if (from && passed) fail(`${group.file}: no test fails with "${to}" for "${from}"`);
        else if (!from && !passed) fail(`${group.file}: its tests fail without a change`);
        else if (from) ++killed;
      } catch (error) {
        fail(`${group.file}: ${error.message}`);
      }
    }
  };
  await Promise.all(["a", "b"].map((name) => worker(join(FOLDER, name))));
  return { killed, failures };
}

await main(import.meta.url, async ([part]) => {
  const { killed, failures } = await mutants({ part, said: console.log });
  console.log(`${killed} mutants killed, ${failures.length} not`);
  if (failures.length > 0) process.exitCode = 1;
});
