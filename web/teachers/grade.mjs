// Grades a student's sinusoidal_pe(seqLen, dModel) → rows of numbers, against the core:
//   node web/teachers/grade.mjs student.mjs
// prints "right", or one sentence that says what is wrong. A mistake is recognised by doing it: if the table with
// that mistake is the student's table, that is the mistake.
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadPosenc } from "posenc";

/** Sine (which 0) or cosine (which 1) of pair i at position p. */
const wave = (p, i, dModel, which) => (which === 0 ? Math.sin : Math.cos)(p * 10000 ** ((-2 * i) / dModel));

/** What the table would hold in column c of row p, if the mistake were made. */
const mistakes = [
  [
    "the sines have the wrong sign: PE(p, 2i) is +sin(p · inv_freq)",
    (p, c, d) => (c % 2 === 0 ? -1 : 1) * wave(p, c >> 1, d, c % 2),
  ],
  [
    "the cosines have the wrong sign: PE(p, 2i + 1) is +cos(p · inv_freq)",
    (p, c, d) => (c % 2 === 1 ? -1 : 1) * wave(p, c >> 1, d, c % 2),
  ],
  [
    "the exponent is 2(i + 1)/d_model: it must be 2i/d_model, so that pair 0 has frequency 1",
    (p, c, d) => wave(p, (c >> 1) + 1, d, c % 2),
  ],
  [
    "sine and cosine of a pair have different frequencies: the exponent is 2i/d_model for both, not the column over d_model",
    (p, c, d) => wave(p, c / 2, d, c % 2),
  ],
  [
    "the exponent is i/d_model: it must be 2i/d_model, so that frequencies fall to almost 1/10000",
    (p, c, d) => wave(p, (c >> 1) / 2, d, c % 2),
  ],
  [
    "the frequency is 10000^(2i/d_model): the exponent must be negative, since pair 0 is the fastest",
    (p, c, d) => wave(p, -(c >> 1), d, c % 2),
  ],
  ["sine and cosine are exchanged: the sine comes first", (p, c, d) => wave(p, c >> 1, d, 1 - (c % 2))],
  ["positions are counted from 1: the first row is position 0", (p, c, d) => wave(p + 1, c >> 1, d, c % 2)],
  [
    "the layout is that of halves, all sines before all cosines: here column 2i is a sine and column 2i + 1 its cosine",
    (p, c, d) => (c < Math.ceil(d / 2) ? wave(p, c, d, 0) : wave(p, c - Math.ceil(d / 2), d, 1)),
  ],
];

// A value rounded to float32 is within 2^-24 and passes; an angle rounded to float32 is off by more, far out.
const allowed = 2 ** -23;
const near = { seqLen: 12, dModel: 8 };
const far = { seqLen: 4096, dModel: 8 };
const odd = { seqLen: 12, dModel: 7 };

/** null if the function is right, otherwise the sentence. */
export function grade(posenc, sinusoidalPe) {
  return (
    check(posenc, sinusoidalPe, near) ?? check(posenc, sinusoidalPe, far) ?? check(posenc, sinusoidalPe, odd)
  );
}

function check(posenc, sinusoidalPe, { seqLen, dModel }) {
  const call = `sinusoidal_pe(${seqLen}, ${dModel})`;
  const note = dModel % 2 === 1 ? "; with an odd d_model the last column is a sine without its cosine" : "";
  let table;
  try {
    table = sinusoidalPe(seqLen, dModel);
  } catch (error) {
    return `${call} throws “${error.message}”${note}`;
  }
  if (table?.length !== seqLen)
    return `${call} must return ${seqLen} rows, got ${table?.length ?? typeof table}`;
  const row = Array.from(table).findIndex((entries) => entries?.length !== dModel);
  if (row >= 0) return `${call} must have ${dModel} numbers in row ${row}, got ${table[row]?.length}${note}`;

  const positions = Float64Array.from({ length: seqLen }, (_, p) => p);
  const exact = posenc.sinusoidalRows(positions, { dModel });
  const difference = largest(table, (p, c) => exact[p * dModel + c]);
  if (difference.size <= allowed) return null;
  for (const [sentence, entry] of mistakes) {
    if (largest(table, (p, c) => entry(p, c, dModel)).size <= allowed) return sentence;
  }
  const { p, c } = difference;
  if (seqLen === far.seqLen && difference.size < 1e-2) {
    return `near position 0 the table is right, and at position ${p} it is off by ${difference.size.toExponential(1)}: form the angles in double, not in float32`;
  }
  return `row ${p}, column ${c} of ${call} must be ${exact[p * dModel + c].toFixed(6)}, got ${table[p][c]}${note}`;
}

/** The largest difference and where it is; a value that is not a number differs most. */
function largest(table, expected) {
  let found = { size: 0, p: 0, c: 0 };
  table.forEach((row, p) => {
    row.forEach((value, c) => {
      const size = Number.isFinite(value) ? Math.abs(value - expected(p, c)) : Number.POSITIVE_INFINITY;
      if (size > found.size) found = { size, p, c };
    });
  });
  return found;
}

const [, script, file] = process.argv;
if (script && file && resolve(script) === fileURLToPath(import.meta.url)) {
  const student = await import(pathToFileURL(resolve(file)).href);
  const wrong = grade(await loadPosenc(), student.sinusoidal_pe);
  console.log(wrong ?? "right");
  process.exitCode = wrong === null ? 0 : 1;
}
