// The two charts of a comparison: what a batch showed at each step, and what tests show at each length.

import { nothing, type SVGTemplateResult, svg } from "lit";
import { type Axis, bottomAxis, leftAxis, place, ticks } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import { textWidth } from "./permutation-map.ts";
import { type Column, MULTIPLES, type Spread } from "./training-models.ts";
import type { Curve, Measure } from "./training-results.ts";

export const CHART_HEIGHT = 268;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 10, 30, 228];
/** Points of a curve: each is the mean of as many steps as makes so few. */
const MOST_POINTS = 120;
const LEGEND_LINE = 20;

export interface Chart {
  width: number;
  measure: Measure;
  /** Number of classes: a uniform guess is right in one of so many. */
  classes: number;
  /** The largest loss that is drawn. */
  most: number;
}

const title = (measure: Measure): string => (measure === "accuracy" ? "Right answers, %" : "Loss, nats");

function yAxis({ measure, classes, most }: Chart): Axis {
  const top = measure === "accuracy" ? 100 : Math.max(1.25 * Math.log(classes), most);
  return { domain: [0, top], range: [BOTTOM, TOP] };
}

function frame(chart: Chart, y: Axis): SVGTemplateResult {
  const guess = place(y, chart.measure === "accuracy" ? 100 / chart.classes : Math.log(chart.classes));
  const right = chart.width - RIGHT;
  return svg`
    ${leftAxis(y, LEFT, ticks(y, 40))}
    <line class="base" x1=${LEFT} x2=${right} y1=${BOTTOM} y2=${BOTTOM}></line>
    <line class="guess" x1=${LEFT} x2=${right} y1=${guess} y2=${guess}></line>
    <text class="guess" x=${right} y=${guess - 5} text-anchor="end">a guess</text>`;
}

const note = (chart: Chart, words: readonly string[]): SVGTemplateResult[] =>
  words.map(
    (line, i) => svg`<text class="note" x=${(LEFT + chart.width - RIGHT) / 2} y=${108 + 18 * i}
      text-anchor="middle">${line}</text>`,
  );

/** Means of so many steps each, as drawn. */
export function blocks(values: readonly number[], steps: number): { size: number; means: number[] } {
  const size = Math.ceil(steps / MOST_POINTS);
  const means: number[] = [];
  for (let i = 0; i < values.length; i += size) {
    const block = values.slice(i, i + size);
    means.push(block.reduce((sum, value) => sum + value, 0) / block.length);
  }
  return { size, means };
}

/** Models while they train: one curve each. */
export function curveChart(
  chart: Chart,
  steps: number,
  curves: readonly { column: Column; curve: Curve }[],
  words: readonly string[],
): SVGTemplateResult {
  const { width, measure } = chart;
  const y = yAxis(chart);
  const x: Axis = { domain: [0, steps], range: [LEFT, width - RIGHT] };
  const size = blocks([], steps).size;
  const what = size > 1 ? `, means of ${size}` : "";
  return svg`
    <text class="title" x="0" y="14">${title(measure)}, in training</text>
    ${frame(chart, y)}
    ${bottomAxis(x, BOTTOM, ticks(x, 64))}
    <text x=${(LEFT + width - RIGHT) / 2} y=${BOTTOM + 36} text-anchor="middle">step${what}</text>
    ${note(chart, words)}
    ${curves.map(({ column, curve }) => {
      const values = measure === "accuracy" ? curve.accuracies : curve.losses;
      const { means } = blocks(values, steps);
      const at = (i: number) => place(x, Math.min(i * size + (size + 1) / 2, values.length));
      const path = linePath(means, at, (value) => place(y, value));
      const end = at(means.length - 1);
      const height = place(y, means.at(-1) ?? 0);
      return svg`<g class="series ${column.colour}">
        <path class="curve" data-column=${column.name} d=${path} stroke-dasharray=${column.dashes || nothing}></path>
        ${
          curve.diverged !== undefined && means.length > 0
            ? svg`<path class="cross" d="M${end - 5} ${height - 5}l10 10m0 -10l-10 10"></path>`
            : nothing
        }
      </g>`;
    })}`;
}

/** Columns at each length, with bars of one standard deviation where there are several seeds. */
export function lengthChart(
  chart: Chart,
  trained: number,
  rows: readonly { column: Column; spreads: readonly (Spread | undefined)[] }[],
  { heading, words }: { heading: string; words: readonly string[] },
): SVGTemplateResult {
  const { width, measure } = chart;
  const y = yAxis(chart);
  const step = (width - RIGHT - LEFT) / MULTIPLES.length;
  const centre = (i: number) => LEFT + (i + 0.5) * step;
  const spacing = Math.min(4, (0.6 * step) / Math.max(1, rows.length));
  return svg`
    <text class="title" x="0" y="14">${title(measure)}, ${heading}</text>
    ${frame(chart, y)}
    <g class="axis" aria-hidden="true">
      ${MULTIPLES.map(
        (multiple, i) => svg`<line x1=${centre(i)} x2=${centre(i)} y1=${BOTTOM} y2=${BOTTOM + 5}></line>
          <text x=${centre(i)} y=${BOTTOM + 19} text-anchor="middle">${multiple}×</text>`,
      )}
    </g>
    <text x=${(LEFT + width - RIGHT) / 2} y=${BOTTOM + 36} text-anchor="middle">test length, trained with ${trained}</text>
    ${note(chart, words)}
    ${rows.map(({ column, spreads }, row) => {
      const at = (i: number) => centre(i) + (row - (rows.length - 1) / 2) * spacing;
      const means = spreads.map((one) => one?.mean ?? Number.NaN);
      return svg`<g class="series ${column.colour}">
        <path class="curve" data-column=${column.name} d=${linePath(means, at, (value) => place(y, value))}
          stroke-dasharray=${column.dashes || nothing}></path>
        ${spreads.map((one, i) =>
          one
            ? svg`${
                one.deviation
                  ? svg`<line class="bar" x1=${at(i)} x2=${at(i)} y1=${place(y, Math.max(y.domain[0], one.mean - one.deviation))}
                      y2=${place(y, Math.min(y.domain[1], one.mean + one.deviation))}></line>`
                  : nothing
              }<circle cx=${at(i)} cy=${place(y, one.mean)} r="3"></circle>`
            : nothing,
        )}
      </g>`;
    })}`;
}

/** Names of the columns beside a piece of their lines, in as many lines as they need. */
export function legend(
  columns: readonly Column[],
  width: number,
): { height: number; drawing: SVGTemplateResult } {
  let [x, y] = [0, 14];
  const places = columns.map(({ label }) => {
    const needed = 34 + textWidth(label, 12) + 14;
    if (x > 0 && x + needed > width) [x, y] = [0, y + LEGEND_LINE];
    const place = { x, y };
    x += needed;
    return place;
  });
  const drawing = svg`${columns.map((column, i) => {
    const { x, y } = places[i] ?? { x: 0, y: 0 };
    return svg`<g class="series ${column.colour}">
      <line class="curve" x1=${x} x2=${x + 28} y1=${y - 4} y2=${y - 4} stroke-dasharray=${column.dashes || nothing}></line>
      <text x=${x + 34} y=${y}>${column.label}</text>
    </g>`;
  })}`;
  return { height: y + 8, drawing };
}
