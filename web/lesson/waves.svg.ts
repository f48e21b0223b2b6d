// The drawing that opens the lesson: sine columns of a sinusoidal table from fast to slow, all from the core.

import type { Posenc } from "../posenc.ts";

const dModel = 128;
const positions = 128;
const pairs = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36];
const position = 40;
const gap = 26;
const amplitude = 11;

/** Cubic curves that have each wave's height and slope at their ends, every radian or sooner: true to 0.03 pixels. */
export function waves(posenc: Posenc): string {
  const config = { seqLen: positions + 1, dModel };
  const table = posenc.sinusoidalTable(config);
  const invFreq = posenc.sinusoidalInvFreq(config);
  const height = pairs.length * gap;
  const short = (value: number) => String(Math.round(value * 10) / 10).replace(/^(-?)0\./, "$1.");
  const y = (line: number, row: number) =>
    (line + 0.5) * gap - amplitude * (table[row * dModel + 2 * (pairs[line] ?? 0)] ?? 0);
  const slope = (line: number, row: number) =>
    -amplitude * (invFreq[pairs[line] ?? 0] ?? 0) * (table[row * dModel + 2 * (pairs[line] ?? 0) + 1] ?? 0);
  const curve = (line: number) => {
    const step = 2 ** Math.floor(-Math.log2(invFreq[pairs[line] ?? 0] ?? 1));
    const third = step / 3;
    let path = `M0 ${short(y(line, 0))}C${short(third)} ${short(y(line, 0) + slope(line, 0) * third)}`;
    for (let row = step; row <= positions; row += step) {
      const before = `${short(row - third)} ${short(y(line, row) - slope(line, row) * third)}`;
      path += `${row === step ? " " : "S"}${before} ${row} ${short(y(line, row))}`;
    }
    return `<path d="${path}"/>`;
  };
  const dots = pairs.map((_, line) => `M${position} ${short(y(line, position))}h0`).join("");
  return (
    `<figure class="wide waves"><svg viewBox="0 0 ${positions} ${height}" preserveAspectRatio="none" aria-hidden="true">` +
    `<path class="cut" d="M${position} 0V${height}"/>${pairs.map((_, line) => curve(line)).join("")}` +
    `<path class="dots" d="${dots}"/></svg>\n<figcaption>Ten of the ${dModel / 2} sine waves of a sinusoidal encoding, ` +
    `${positions} positions from left to right. A vertical cut is one position, <span class="sym-pos">here ` +
    `${position}</span>: the heights at the dots are part of its vector.</figcaption></figure>\n`
  );
}
