// What else a config decides, one panel each: what changes with the length, how far neighbours are told apart, what few
// bits leave of it, and which components form a pair.

import { css, html, nothing, type TemplateResult } from "lit";
import { type Axis, bottomAxis, leftAxis, place, ticks } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import { frequencyReport, resolutionAt } from "../inspect/frequency.ts";
import { layoutScores, permutationSnippet } from "../inspect/layout.ts";
import { dependsOnLength, lengthSteps, staleKeys } from "../inspect/lengths.ts";
import { orRefused } from "../inspect/numbers.ts";
import { precisionReport } from "../inspect/precision.ts";
import { renderTable } from "./figure.ts";
import { degrees, plain as exactly, fixed, significant } from "./format.ts";
import { pairAxis } from "./scaling-chart.ts";
import type { ScalingModel } from "./scaling-model.ts";

const table = (
  caption: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): TemplateResult => renderTable({ caption, head, rows });

// ------------------------------------------------------------------------------------------------- length

/** Lengths of successive sequences that show what is remembered: to the end of training, beyond, back, and below. */
function successive(original: number, seqLen: number): number[] {
  const beyond = Math.max(seqLen, original + 1);
  const between = Math.round((original + beyond) / 2);
  return [original, beyond, between, Math.max(1, original - 1)];
}

function lengthSentence({ numbers, seqLen, core }: ScalingModel): string {
  const { config } = numbers;
  const original = config.originalMaxPositionEmbeddings ?? 0;
  if (!dependsOnLength(config)) {
    return "The frequencies are the same at every length: a key that was cached once fits every later query.";
  }
  const change =
    config.ropeType === "dynamic"
      ? `Up to ${fixed(original, 0)} positions nothing changes; beyond, the base grows with the longest sequence so far, and it falls back only when a sequence shorter than ${fixed(original, 0)} comes.`
      : `Sequences of up to ${fixed(original, 0)} positions use short_factor, longer ones long_factor.`;
  const stale = orRefused(() => staleKeys(core, config, seqLen));
  if (!stale) return `${change} At ${fixed(seqLen, 0)} positions all cached keys fit the newest query.`;
  return (
    `${change} At ${fixed(seqLen, 0)} positions, reached token by token, the keys cached at positions ${fixed(stale.first, 0)} to ` +
    `${fixed(stale.last, 0)} were turned at other frequencies than the newest query: at position ${fixed(stale.position, 0)} ` +
    `pair ${stale.pair} is off by ${significant(stale.phase, 3)} radians (${significant(stale.phase / (2 * Math.PI), 2)} turns).`
  );
}

export function lengthPanel(model: ScalingModel): TemplateResult {
  const { core, numbers, seqLen, inspection } = model;
  const { config, attentionFactor } = numbers;
  const { headDim, rotaryDim = headDim } = config;
  const original = config.originalMaxPositionEmbeddings ?? 0;
  const { scoreScale } = inspection;
  const grows = config.ropeType === "dynamic";
  const steps = dependsOnLength(config)
    ? orRefused(() => lengthSteps(core, config, successive(original, seqLen)))
    : null;
  const ends = ({ invFreq }: { invFreq: Float64Array }) =>
    [0, Math.floor(invFreq.length / 2), invFreq.length - 1].map((i) =>
      significant((2 * Math.PI) / (invFreq[i] ?? Number.NaN), 4),
    );
  return html`
    <p class="length">${lengthSentence(model)}</p>
    ${
      steps
        ? table(
            "Sequences one after the other",
            [
              "length",
              grows ? "frequencies for" : "list",
              ...[0, Math.floor(model.pairs.length / 2), model.pairs.length - 1].map(
                (pair) => `positions per turn, pair ${pair}`,
              ),
            ],
            steps.map((step) => [
              fixed(step.seqLen, 0),
              grows
                ? fixed(step.cachedSeqLen ?? Number.NaN, 0)
                : step.seqLen > original
                  ? "long_factor"
                  : "short_factor",
              ...ends(step),
            ]),
          )
        : nothing
    }
    <dl class="values">
      <dt>attention factor, on cos and sin of q and k</dt>
      <dd class="attention">${exactly(attentionFactor)}</dd>
      <dt>so ${rotaryDim < headDim || model.config.unrotatedDim.value > 0 ? "the turned part of scores is" : "scores are"} multiplied by</dt>
      <dd>${significant(attentionFactor ** 2, 6)}</dd>
      <dt>softmax scale, without it</dt>
      <dd class="softmax">${scoreScale === null ? "unknown: no head size" : exactly(Number(scoreScale.toPrecision(12)))}</dd>
    </dl>
  `;
}

// --------------------------------------------------------------------------------------------- neighbours

export function neighbourPanel(model: ScalingModel, distance: number, width: number): TemplateResult {
  const { core, numbers, pairs, plain, trained, seqLen } = model;
  const unscaled = frequencyReport(core, { ...numbers, invFreq: plain }, { trained, seqLen, distance });
  const [own, bare] = [resolutionAt(core, numbers.invFreq, distance), resolutionAt(core, plain, distance)];
  const x = pairAxis(model, width);
  const most = Math.max(...pairs.map((pair) => pair.resolution), ...unscaled.map((pair) => pair.resolution));
  const y: Axis = { domain: [0, most || 1], range: [128, 30] };
  const path = (values: typeof pairs) =>
    linePath(
      values.map(({ resolution }) => resolution),
      (i) => place(x, i),
      (value) => place(y, value),
    );
  const whole = ticks(x, 44).filter((value) => Number.isInteger(value) && value < pairs.length);
  return html`
    <p>
      From distance ${fixed(distance, 0)} to ${fixed(distance + 1, 0)} the score of a q = k that is equally long in every
      pair changes by <b>${significant(-own, 3)}</b> of q·k; unscaled, by <b>${significant(-bare, 3)}</b>. Each pair's
      share is the change of its cosine.
    </p>
    <svg class="neighbours" width=${width} height="168" role="img" aria-label="Change of each pair's cosine from distance ${distance} to the next">
      <text class="title" x="0" y="14">Change of cos from one neighbour to the next</text>
      ${leftAxis(y, x.range[0] - 2, ticks(y, 32))}
      <path class="curve unscaled" d=${path(unscaled)}></path>
      <path class="curve own ${numbers.config.ropeType ?? "default"}" d=${path(pairs)}></path>
      ${bottomAxis(x, 132, whole)}
      <text class="dim" data-symbol="dim" x=${(x.range[0] + x.range[1]) / 2} y="166" text-anchor="middle">pair</text>
    </svg>
  `;
}

// ---------------------------------------------------------------------------------------------- precision

export function precisionPanel({ core, numbers }: ScalingModel, position: number): TemplateResult {
  const cell = (error: number | null) => (error === null ? "none is left" : significant(error, 2));
  return html`
    <p>
      If positions, inv_freq, angles, cos and sin are all held in one format, cos and sin at position
      ${fixed(position, 0)} are off by so much in the worst pair. The other columns round one step alone.
    </p>
    ${table(
      `Largest error at position ${fixed(position, 0)}`,
      ["format", "everything", "position", "inv_freq", "cos, sin", "position is held as", "first merged"],
      precisionReport(core, numbers.invFreq, position).map((each) => [
        each.format,
        cell(each.everything),
        cell(each.position),
        cell(each.invFreq),
        cell(each.result),
        Number.isFinite(each.held) ? fixed(each.held, 0) : "out of range",
        fixed(each.firstShared, 0),
      ]),
    )}
    <p>First merged: the first whole position that becomes the number of another.</p>
  `;
}

// ------------------------------------------------------------------------------------------------- layout

const REACH = 64;

export function layoutPanel(
  { core, numbers, config }: ScalingModel,
  width: number,
): { panel: TemplateResult; code: string } {
  const { headDim, rotaryDim = headDim } = numbers.config;
  const layout = config.layout.value;
  const other = layout === "half" ? "interleaved" : "half";
  const offsets = Float64Array.from({ length: REACH + 1 }, (_, i) => -i);
  const { right, wrong } = layoutScores(core, numbers, layout, offsets);
  const every = [...right, ...wrong];
  const x: Axis = { domain: [0, REACH], range: [46, width - 12] };
  const y: Axis = { domain: [Math.min(...every), Math.max(...every) + 1e-9], range: [158, 52] };
  const path = (values: Float64Array) =>
    linePath(
      values,
      (i) => place(x, i),
      (value) => place(y, value),
    );
  const second = 45 + 6.2 * `${layout}, right`.length; // behind the first name of the legend
  const worst = right.reduce((most, score, i) => Math.max(most, Math.abs(score - (wrong[i] ?? 0))), 0);
  const code = permutationSnippet(
    { numHeads: config.numHeads.value ?? 1, headDim, rotaryDim, unrotatedDim: config.unrotatedDim.value },
    layout,
  );
  const panel = html`
    <p>
      This model pairs its components in the <b>${layout}</b> layout${config.layout.why ? `: ${config.layout.why}` : ""}. Code of the
      ${other} layout on the same weights scores one random q and k as shown, wrong by up to ${fixed(worst, 2)} within
      ${REACH} positions.
    </p>
    <svg class="layouts" width=${width} height="204" role="img" aria-label="Scores of one q and k in both pair layouts, over the distance">
      <text class="title" x="0" y="14">Score over distance</text>
      <line class="curve" x1="0" x2="20" y1="32" y2="32"></line>
      <text x="25" y="36">${layout}, right</text>
      <line class="curve wrong" x1=${second} x2=${second + 20} y1="32" y2="32"></line>
      <text x=${second + 25} y="36">${other}, wrong</text>
      ${leftAxis(y, x.range[0] - 2, ticks(y, 32))}
      <path class="curve wrong" d=${path(wrong)}></path>
      <path class="curve right" d=${path(right)}></path>
      ${bottomAxis(x, 162, ticks(x, 44))}
      <text class="pos" data-symbol="pos" x=${(x.range[0] + x.range[1]) / 2} y="198" text-anchor="middle">distance</text>
    </svg>
    <p>These rows make the same weights right for code of the ${other} layout:</p>
  `;
  return { panel, code };
}

/** What is read of one pair. */
export function pairReadout(model: ScalingModel, pair: number): TemplateResult {
  const { pairs, plain, trained } = model;
  const { invFreq = 0, wavelength = 0, turns = null, unreached = null } = pairs[pair] ?? {};
  const ratio = (plain[pair] ?? Number.NaN) / invFreq;
  return html`
    <p class="readout">
      <span class="dim" data-symbol="dim">pair <b>${pair}</b></span>
      <span>inv_freq <b>${significant(invFreq, 4)}</b></span>
      <span>positions per turn <b>${significant(wavelength, 4)}</b></span>
      ${turns === null ? nothing : html`<span>turns within ${fixed(trained ?? 0, 0)} <b>${significant(turns, 3)}</b></span>`}
      <span>times slower <b>${Number.isFinite(ratio) ? significant(ratio, 4) : "–"}</b></span>
      <span>new phases <b>${unreached ? `${degrees(unreached[0])} to ${degrees(unreached[1])}` : "none"}</b></span>
    </p>
  `;
}

export const panelStyles = css`
  .below svg {
    display: block;
    overflow: visible;
    margin-block: var(--pe-space-2);
  }
  .below p {
    max-width: 68ch;
    margin: 0 0 var(--pe-space-2);
  }
  .below b {
    font-weight: 600;
  }
  .below .values {
    display: grid;
    grid-template-columns: auto auto;
    justify-content: start;
    gap: var(--pe-space-1) var(--pe-space-3);
    margin-block: var(--pe-space-2);
  }
  .values dd {
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  .curve.wrong {
    stroke: var(--pe-q);
    stroke-width: 2;
  }
  .curve.right {
    stroke-width: 2;
  }
`;
