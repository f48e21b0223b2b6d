// The teacher's page: its listings print what it says they print, and the grader tells wrong students apart.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadPosenc } from "posenc";
import { grade } from "../../web/teachers/grade.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const markdown = readFileSync(join(root, "web/lesson/teachers.md"), "utf8");
// Inside the package, whose own name `import … from "posenc"` resolves to.
const folder = join(root, "build/teachers");
mkdirSync(folder, { recursive: true });

const fences = [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info, code]) => ({
  info,
  code,
}));
const run = async (...args) => (await promisify(execFile)(process.execPath, args, { cwd: root })).stdout;

const exercises = markdown.split(/^### (?=\d+\. )/m).slice(1);

for (const exercise of exercises) {
  const title = exercise.slice(0, exercise.indexOf("\n"));
  test(`the solution of exercise ${title} prints what is shown`, async () => {
    const [, code] = exercise.match(/^```js\n([\s\S]*?)^```$/m);
    const [, output] = exercise.match(/^```text\n([\s\S]*?)^```$/m);
    assert.match(code, /^import \{ loadPosenc \} from "posenc";$/m);
    const file = join(folder, `exercise-${Number.parseInt(title, 10)}.mjs`);
    writeFileSync(file, code);
    assert.equal(await run(file), output);
  });
}

test("there are twelve exercises, numbered from 1", () => {
  assert.deepEqual(
    exercises.map((text) => Number.parseInt(text, 10)),
    Array.from({ length: 12 }, (_, i) => i + 1),
  );
});

test("the student on the page is told what the page shows", async () => {
  const at = fences.findIndex(({ info }) => info === "js student.mjs");
  const student = join(folder, "student.mjs");
  writeFileSync(student, fences[at].code);
  const command = fences.slice(at).find(({ info }) => info === "bash").code;
  assert.equal(command, "node web/teachers/grade.mjs student.mjs\n");
  const shown = fences.slice(at).find(({ info }) => info === "text").code;
  const failure = await run("web/teachers/grade.mjs", student).then(
    () => assert.fail("graded as right"),
    (error) => error,
  );
  assert.equal(failure.code, 1);
  assert.equal(failure.stdout, shown);
});

// The grader ------------------------------------------------------------------------------------------------

const posenc = await loadPosenc();

/** A student's function from one of its entries: the angle of a pair, and which wave stands in a column. */
const student = (entry) => (seqLen, dModel) =>
  Array.from({ length: seqLen }, (_, p) => Array.from({ length: dModel }, (_, c) => entry(p, c, dModel)));
const waveOf = (c, angle) => (c % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
const exact = (p, c, d) => waveOf(c, p * 10000 ** ((-2 * (c >> 1)) / d));

test("a right student passes, in double and rounded to float32", () => {
  assert.equal(grade(posenc, student(exact)), null);
  assert.equal(
    grade(
      posenc,
      student((...at) => Math.fround(exact(...at))),
    ),
    null,
  );
  assert.equal(
    grade(posenc, (seqLen, dModel) => student(exact)(seqLen, dModel).map((row) => Float32Array.from(row))),
    null,
  );
});

const wrong = {
  "sines with the wrong sign": [
    (p, c, d) => (c % 2 === 0 ? -1 : 1) * exact(p, c, d),
    "the sines have the wrong sign: PE(p, 2i) is +sin(p · inv_freq)",
  ],
  "cosines with the wrong sign": [
    (p, c, d) => (c % 2 === 1 ? -1 : 1) * exact(p, c, d),
    "the cosines have the wrong sign: PE(p, 2i + 1) is +cos(p · inv_freq)",
  ],
  "2(i + 1) in the exponent": [
    (p, c, d) => waveOf(c, p * 10000 ** ((-2 * ((c >> 1) + 1)) / d)),
    "the exponent is 2(i + 1)/d_model: it must be 2i/d_model, so that pair 0 has frequency 1",
  ],
  "the column in the exponent": [
    (p, c, d) => waveOf(c, p * 10000 ** (-c / d)),
    "sine and cosine of a pair have different frequencies: the exponent is 2i/d_model for both, not the column over d_model",
  ],
  "i in the exponent": [
    (p, c, d) => waveOf(c, p * 10000 ** (-(c >> 1) / d)),
    "the exponent is i/d_model: it must be 2i/d_model, so that frequencies fall to almost 1/10000",
  ],
  "a positive exponent": [
    (p, c, d) => waveOf(c, p * 10000 ** ((2 * (c >> 1)) / d)),
    "the frequency is 10000^(2i/d_model): the exponent must be negative, since pair 0 is the fastest",
  ],
  "cosine first": [
    (p, c, d) => waveOf(c + 1, p * 10000 ** ((-2 * (c >> 1)) / d)),
    "sine and cosine are exchanged: the sine comes first",
  ],
  "positions from 1": [
    (p, c, d) => exact(p + 1, c, d),
    "positions are counted from 1: the first row is position 0",
  ],
  "the layout of halves": [
    (p, c, d) => {
      const half = Math.ceil(d / 2);
      const angle = p * 10000 ** ((-2 * (c % half)) / d);
      return c < half ? Math.sin(angle) : Math.cos(angle);
    },
    "the layout is that of halves, all sines before all cosines: here column 2i is a sine and column 2i + 1 its cosine",
  ],
};

for (const [name, [entry, sentence]] of Object.entries(wrong)) {
  test(`a student with ${name} is told so`, () => assert.equal(grade(posenc, student(entry)), sentence));
}

test("a student who forms angles in float32 is told so", () => {
  const rounded = (p, c, d) => {
    const invFreq = Math.fround(10000 ** ((-2 * (c >> 1)) / d));
    return waveOf(c, Math.fround(p * invFreq));
  };
  assert.match(
    grade(posenc, student(rounded)),
    /^near position 0 the table is right, and at position \d+ it is off by \S+: form the angles in double, not in float32$/,
  );
});

test("an odd d_model is told in each way that it goes wrong", () => {
  const hint = "; with an odd d_model the last column is a sine without its cosine";
  const pairs = (seqLen, dModel) =>
    student(exact)(seqLen, dModel).map((row) => row.slice(0, dModel - (dModel % 2)));
  assert.equal(grade(posenc, pairs), `sinusoidal_pe(12, 7) must have 7 numbers in row 0, got 6${hint}`);
  const extra = (seqLen, dModel) =>
    Array.from({ length: seqLen }, (_, p) =>
      Array.from({ length: dModel + (dModel % 2) }, (_, c) => exact(p, c, dModel)),
    );
  assert.equal(grade(posenc, extra), `sinusoidal_pe(12, 7) must have 7 numbers in row 0, got 8${hint}`);
  const zeros = student((p, c, d) => (d % 2 === 1 && c === d - 1 ? 0 : exact(p, c, d)));
  assert.equal(
    grade(posenc, zeros),
    `row 11, column 6 of sinusoidal_pe(12, 7) must be ${Math.sin(11 * 10000 ** (-6 / 7)).toFixed(6)}, got 0${hint}`,
  );
  const thrower = (seqLen, dModel) => {
    if (dModel % 2) throw new Error("d_model must be even");
    return student(exact)(seqLen, dModel);
  };
  assert.equal(grade(posenc, thrower), `sinusoidal_pe(12, 7) throws “d_model must be even”${hint}`);
});

test("what is no table at all is told in a sentence", () => {
  assert.equal(
    grade(posenc, () => undefined),
    "sinusoidal_pe(12, 8) must return 12 rows, got undefined",
  );
  assert.equal(
    grade(posenc, () => []),
    "sinusoidal_pe(12, 8) must return 12 rows, got 0",
  );
  assert.match(
    grade(
      posenc,
      student(() => Number.NaN),
    ),
    /^row 0, column 0 of sinusoidal_pe\(12, 8\) must be 0\.000000, got NaN$/,
  );
});
