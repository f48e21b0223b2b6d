// What a reader takes away: the numbers as files, code that computes them, and a report for a bug tracker.

import { css, html, type TemplateResult } from "lit";
import { type NamedArray, toCsv, toNpy } from "../draw/npy.ts";
import { markdown } from "../inspect/markdown.ts";
import { type Report, reportOf } from "../inspect/report.ts";
import { llamaCppFlags, numpySnippet, pytorchSnippet } from "../inspect/snippets.ts";
import { fixed } from "./format.ts";
import type { ScalingModel } from "./scaling-model.ts";

/** Where the numbers go. */
export interface Outlet {
  save(file: string, make: () => BlobPart): void;
  copy(text: string, done: string): void;
}
export interface Asked {
  distance: number;
  position: number;
}

const fullReport = ({ core, inspection, seqLen }: ScalingModel, { distance, position }: Asked): Report =>
  reportOf(core, inspection, { seqLens: [seqLen], distance, position });

const reportText = (model: ScalingModel, asked: Asked): string =>
  markdown(fullReport(model, asked), model.name);

const frequencies = ({ numbers: { invFreq } }: ScalingModel): NamedArray => ({
  name: "inv_freq",
  shape: [invFreq.length],
  values: invFreq,
});

/** cos and sin of positions 0 to rows − 1, times the attention factor: (rows, pairs, 2). */
function rotations({ core, numbers }: ScalingModel, rows: number): NamedArray {
  const positions = Float64Array.from({ length: rows }, (_, i) => i);
  const { cos, sin } = core.ropeCosSin(positions, numbers.invFreq, numbers.attentionFactor);
  const values = Float64Array.from(
    { length: 2 * cos.length },
    (_, n) => (n % 2 === 0 ? cos : sin)[n >> 1] ?? 0,
  );
  return { name: "cos_sin", shape: [rows, numbers.invFreq.length, 2], values, columns: ["cos", "sin"] };
}

/** As `posenc inspect --held` reads it. */
const frequencyJson = ({ numbers }: ScalingModel): string =>
  `${JSON.stringify({ inv_freq: [...numbers.invFreq], attention_factor: numbers.attentionFactor })}\n`;

function rotationJson(model: ScalingModel, rows: number): string {
  const { values, shape } = rotations(model, rows);
  const pairs = shape[1] ?? 0;
  const row = (t: number, part: 0 | 1) =>
    Array.from({ length: pairs }, (_, i) => values[2 * (t * pairs + i) + part]);
  const part = (which: 0 | 1) => Array.from({ length: rows }, (_, t) => row(t, which));
  return `${JSON.stringify({ cos: part(0), sin: part(1) })}\n`;
}

const copied = (title: string, code: string, outlet: Outlet): TemplateResult => html`
  <div class="code">
    <div class="head">
      <span>${title}</span>
      <button type="button" @click=${() => outlet.copy(code, `${title} copied.`)}>Copy</button>
    </div>
    <pre class="scroll" tabindex="0" role="region" aria-label=${title}>${code}</pre>
  </div>
`;

export const permutationCode = (code: string, outlet: Outlet): TemplateResult =>
  copied("Permutation of rows", code, outlet);

export function filePanel(
  model: ScalingModel,
  asked: Asked,
  rows: number,
  rowsControl: TemplateResult,
  outlet: Outlet,
): TemplateResult {
  const { config, attentionFactor } = model.numbers;
  const button = (label: string, file: string, make: () => BlobPart) => html`
    <button type="button" @click=${() => outlet.save(file, make)}>${label}</button>
  `;
  return html`
    ${copied("PyTorch", pytorchSnippet(config, attentionFactor, model.seqLen), outlet)}
    ${copied("NumPy", numpySnippet(config, attentionFactor, model.seqLen), outlet)}
    ${copied("llama.cpp flags", llamaCppFlags(config, attentionFactor, model.seqLen), outlet)}
    <div class="files">
      <span>inv_freq, ${fixed(model.pairs.length, 0)} numbers</span>
      ${button("CSV", "inv_freq.csv", () => toCsv(frequencies(model)))}
      ${button("JSON", "inv_freq.json", () => frequencyJson(model))}
      ${button("NPY", "inv_freq.npy", () => toNpy(frequencies(model)))}
    </div>
    ${rowsControl}
    <div class="files">
      <span>cos and sin of positions 0 to ${fixed(rows - 1, 0)}</span>
      ${button("CSV", "cos_sin.csv", () => toCsv(rotations(model, rows)))}
      ${button("JSON", "cos_sin.json", () => rotationJson(model, rows))}
      ${button("NPY", "cos_sin.npy", () => toNpy(rotations(model, rows)))}
    </div>
    <div class="files report">
      <span>Report for a bug tracker</span>
      <button type="button" @click=${() => outlet.copy(reportText(model, asked), "Report copied.")}>
        Copy Markdown
      </button>
      ${button("Save Markdown", "rope-report.md", () => reportText(model, asked))}
      ${button("Save JSON", "rope-report.json", () => `${JSON.stringify(fullReport(model, asked))}\n`)}
    </div>
  `;
}

export const fileStyles = css`
  .code {
    margin-bottom: var(--pe-space-3);
  }
  .code .head,
  .files {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--pe-space-2);
  }
  .code .head {
    justify-content: space-between;
  }
  .files {
    margin-block: var(--pe-space-2);
  }
  .files span {
    flex: 1 1 calc(14 * var(--pe-rem));
  }
  pre.scroll {
    max-height: calc(16 * var(--pe-rem));
    margin: var(--pe-space-1) 0 0;
    padding: var(--pe-space-2) var(--pe-space-3);
    border-radius: var(--pe-radius);
    background: var(--pe-surface);
    font: var(--pe-text-s) / 1.45 var(--pe-font-mono);
    white-space: pre;
    tab-size: 4;
  }
`;
