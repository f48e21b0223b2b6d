// The drawing that opens the lesson: sine columns of a sinusoidal table from fast to slow, all from the core.

import type { Posenc } from "../posenc.ts";

const dModel = 128;
const positions = 128;
const perPosition = 4;
const pairs = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36];
const position = 40;
const gap = 26;
const amplitude = 11;

export function waves(posenc: Posenc): string {
  const seqLen = positions * perPosition + 1;
  const table = posenc.sinusoidalTable({ seqLen, dModel, positionStep: 1 / perPosition });
  const height = pairs.length * gap;
  const y = (row: number, line: number) =>
    ((line + 0.5) * gap - amplitude * (table[row * dModel + 2 * (pairs[line] ?? 0)] ?? 0)).toFixed(1);
  const curve = (line: number) => {
    // The slower the wave, the fewer points it needs.
    const step = line < 3 ? 1 : line < 6 ? 4 : 16;
    let path = "";
    for (let row = 0; row < seqLen; row += step)
      path += `${row === 0 ? "M" : " "}${row / perPosition} ${y(row, line)}`;
    return `<path d="${path}"/>`;
  };
  const dots = pairs.map((_, line) => `M${position} ${y(position * perPosition, line)}h0`).join("");
  return (
    `<figure class="wide waves"><svg viewBox="0 0 ${positions} ${height}" preserveAspectRatio="none" aria-hidden="true">` +
    `<path class="cut" d="M${position} 0V${height}"/>${pairs.map((_, line) => curve(line)).join("")}` +
    `<path class="dots" d="${dots}"/></svg>\n<figcaption>Ten of the ${dModel / 2} sine waves of a sinusoidal encoding, ` +
    `${positions} positions from left to right. A vertical cut is one position, <span class="sym-pos">here ` +
    `${position}</span>: the heights at the dots are part of its vector.</figcaption></figure>\n`
  );
}
