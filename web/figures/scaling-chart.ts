// One axis for all pairs of a rotary embedding, from the fastest to the slowest, and three drawings above it: how long
// a turn takes, how many times slower each way of scaling makes it, and which phases no trained position has shown.

import { css, nothing, type SVGTemplateResult, svg } from "lit";
import { type Axis, bottomAxis, clamp, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { RopeType } from "../posenc.ts";
import { plain as exactly, fixed, powerOfTen } from "./format.ts";
import { ratios, type ScalingModel } from "./scaling-model.ts";

export const CHART_HEIGHT = 572;
const LEFT = 46;
const RIGHT = 12;
/** Tops and bottoms of the three drawings. */
const TURN = { top: 34, bottom: 184 };
const SLOWER = { top: 274, bottom: 384 };
const PHASE = { top: 448, bottom: 524 };
/** Narrower drawings have short names. */
const NARROW = 560;
/** Pairs that are drawn as dots beside their line. */
const MOST_DOTS = 128;

export const NAMES: Record<RopeType, string> = {
  default: "unscaled",
  linear: "linear",
  ntk: "NTK",
  dynamic: "dynamic NTK",
  yarn: "YaRN",
  llama3: "Llama 3",
  longrope: "LongRoPE",
  proportional: "proportional",
};

export const pairAxis = ({ pairs }: ScalingModel, width: number): Axis => ({
  domain: [-0.5, pairs.length - 0.5],
  range: [LEFT, width - RIGHT],
});

/** The pair under a point of the drawing, `x` from 0 to 1 of its width. */
export const pairAt = (model: ScalingModel, x: number, width: number): number =>
  clamp(Math.round(valueAt(pairAxis(model, width), x * width)), 0, model.pairs.length - 1);

const isFinitePositive = (value: number): boolean => Number.isFinite(value) && value > 0;

/** An axis of powers whose ends are powers too. */
function powers(values: Iterable<number>, base: number, { top, bottom }: typeof TURN): Axis {
  const sizes = [...values].filter(isFinitePositive).map((value) => Math.log(value) / Math.log(base));
  const low = Math.floor(Math.min(...sizes) + 1e-9);
  return { domain: [low, Math.max(low + 1, Math.ceil(Math.max(...sizes) - 1e-9))], range: [bottom, top] };
}
const level = (axis: Axis, value: number, base: number): number =>
  place(axis, Math.log(value) / Math.log(base));

/** Whole powers of an axis, at least `spacing` pixels apart. */
function powerTicks({ domain: [low, high], range }: Axis, spacing: number): number[] {
  const step = Math.max(1, Math.ceil((spacing * (high - low)) / Math.abs(range[1] - range[0])));
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => low + i * step);
}

const leftTicks = (axis: Axis, x: Axis["range"], say: (power: number) => string): SVGTemplateResult => svg`
  <g class="axis">
    ${powerTicks(axis, 20).map((power) => {
      const y = place(axis, power);
      return svg`<line class="grid" x1=${x[0]} x2=${x[1]} y1=${y} y2=${y}></line>
        <text x=${LEFT - 8} y=${y} text-anchor="end" dominant-baseline="central">${say(power)}</text>`;
    })}
  </g>`;

/** A level of the upper drawing with its name. */
interface Mark {
  name: string;
  value: number;
  kind: string;
  end: "start" | "end";
}

function marksOf({ numbers, trained, seqLen }: ScalingModel, narrow: boolean): Mark[] {
  const { ropeType, originalMaxPositionEmbeddings: original = 0 } = numbers.config;
  const { lowFreqFactor = 1, highFreqFactor = 4 } = numbers.config;
  const marks: Mark[] = [];
  if (trained !== null) {
    marks.push({
      name: `trained length ${fixed(trained, 0)}`,
      value: trained,
      kind: "trained",
      end: "start",
    });
  }
  if (seqLen !== trained) {
    marks.push({ name: `sequence ${fixed(seqLen, 0)}`, value: seqLen, kind: "asked", end: "start" });
  }
  if (ropeType === "llama3") {
    const bound = (end: string, by: number): Mark => ({
      name: `${narrow ? end : `${end}_freq_factor ${exactly(by)}`}: ${exactly(Number((original / by).toPrecision(6)))}`,
      value: original / by,
      kind: "bound",
      end: "end",
    });
    marks.push(bound("low", lowFreqFactor), bound("high", highFreqFactor));
  }
  return marks;
}

/** From low to high, fractional pairs: where YaRN and Llama 3 blend. */
function rampBand({ ramp, pairs }: ScalingModel, x: Axis): SVGTemplateResult | typeof nothing {
  if (!ramp) return nothing;
  const [low, high] = ramp.map((pair) => clamp(pair, -0.5, pairs.length - 0.5)) as [number, number];
  const from = place(x, low);
  const width = Math.max(1, place(x, high) - from);
  const across = [TURN, SLOWER];
  const middle = clamp(from + width / 2, LEFT + 22, x.range[1] - 22);
  return svg`
    ${across.map(({ top, bottom }) => svg`<rect class="blend" x=${from} y=${top} width=${width} height=${bottom - top}></rect>`)}
    <text class="blend" x=${middle} y=${TURN.bottom - 6} text-anchor="middle">blend</text>`;
}

/** Boxes from one phase to another in the column of each pair, as one path. */
function phaseBoxes(
  x: Axis,
  y: Axis,
  spans: readonly (readonly [pair: number, from: number, to: number])[],
): string {
  const half = ((x.range[1] - x.range[0]) / (x.domain[1] - x.domain[0])) * 0.42;
  return spans
    .map(([pair, from, to]) => {
      const [middle, bottom, top] = [place(x, pair), place(y, from), place(y, to)];
      return `M${(middle - half).toFixed(2)} ${bottom.toFixed(2)}h${(2 * half).toFixed(2)}V${top.toFixed(2)}h${(-2 * half).toFixed(2)}Z`;
    })
    .join("");
}

function phases(model: ScalingModel, x: Axis): SVGTemplateResult {
  const { pairs, plain, trained, seqLen } = model;
  const turn = 2 * Math.PI;
  const y: Axis = { domain: [0, turn], range: [PHASE.bottom, PHASE.top] };
  const shown =
    trained === null
      ? []
      : pairs.map(({ pair }) => [pair, 0, Math.min((trained - 1) * (plain[pair] ?? 0), turn)] as const);
  const unreached = pairs.flatMap(({ pair, unreached: span }) => (span ? [[pair, ...span] as const] : []));
  const unknown = "Phases: the config does not say how long the training was";
  return svg`
    <text class="title" x="0" y=${PHASE.top - 30}>${trained === null ? unknown : "Phases within one turn"}</text>
    ${
      trained === null
        ? nothing
        : svg`
          <rect class="key seen" x="0" y=${PHASE.top - 20} width="10" height="10"></rect>
          <text x="15" y=${PHASE.top - 11}>in training</text>
          <rect class="key unreached" x="94" y=${PHASE.top - 20} width="10" height="10"></rect>
          <text x="109" y=${PHASE.top - 11}>new at ${fixed(seqLen, 0)} positions</text>`
    }
    <g class="axis">
      ${[0, 180, 360].map((degrees) => {
        const at = place(y, (degrees / 360) * turn);
        return svg`<line class="grid" x1=${x.range[0]} x2=${x.range[1]} y1=${at} y2=${at}></line>
          <text x=${LEFT - 8} y=${at} text-anchor="end" dominant-baseline="central">${degrees}°</text>`;
      })}
    </g>
    <path class="seen" d=${phaseBoxes(x, y, shown)}></path>
    <path class="unreached" d=${phaseBoxes(x, y, unreached)}></path>`;
}

function turns(model: ScalingModel, x: Axis): SVGTemplateResult {
  const { numbers, plain, pairs } = model;
  const marks = marksOf(model, x.range[1] < NARROW);
  const waves = pairs.map(({ wavelength }) => wavelength);
  const unscaled = Array.from(plain, (w) => (2 * Math.PI) / w);
  const y = powers([...waves, ...unscaled, ...marks.map(({ value }) => value)], 10, TURN);
  const path = (values: readonly number[]) =>
    linePath(
      values,
      (i) => place(x, i),
      (value) => level(y, value, 10),
    );
  const [left, right] = x.range;
  return svg`
    <text class="title" x="0" y="14">Positions per turn</text>
    ${leftTicks(y, x.range, powerOfTen)}
    ${marks.map(({ value, kind }) => {
      const at = level(y, value, 10);
      return svg`<line class=${kind} x1=${left} x2=${right} y1=${at} y2=${at}></line>`;
    })}
    <path class="curve unscaled" d=${path(unscaled)}></path>
    <path class="curve own ${numbers.config.ropeType ?? "default"}" d=${path(waves)}></path>
    ${
      pairs.length <= MOST_DOTS
        ? pairs.map(({ pair, wavelength }) =>
            isFinitePositive(wavelength)
              ? svg`<circle class="own ${numbers.config.ropeType ?? "default"}" cx=${place(x, pair)} cy=${level(y, wavelength, 10)} r=${right < NARROW ? 1.2 : 2}></circle>`
              : nothing,
          )
        : nothing
    }
    ${labels(marks, y, x)}`;
}

/** The names of the marks, beside their lines: those of the lengths at the left, those of the bounds at the right. */
function labels(marks: readonly Mark[], y: Axis, x: Axis): SVGTemplateResult[] {
  return (["start", "end"] as const).flatMap((end) => {
    const mine = marks.filter((mark) => mark.end === end).sort((a, b) => b.value - a.value);
    let free = TURN.top - 12;
    return mine.map(({ name, value, kind }) => {
      const at = level(y, value, 10);
      // above its line, or below it where another name stands there
      const above = at - 5;
      const where = above - 12 >= free ? above : Math.max(at + 14, free + 14);
      free = where;
      const at0 = end === "start" ? x.range[0] + 4 : x.range[1] - 2;
      return svg`<text class=${kind} x=${at0} y=${where} text-anchor=${end}>${name}</text>`;
    });
  });
}

function slowed(model: ScalingModel, x: Axis): SVGTemplateResult {
  const { slower, plain } = model;
  const curves = slower.map((scaling) => ({ ...scaling, values: ratios(plain, scaling.invFreq) }));
  const y = powers([1, ...curves.flatMap(({ values }) => [...values])], 2, SLOWER);
  // a row of names, the config's own first and bold; broken where the width ends
  let [at, row] = [0, 0];
  const names = [...curves]
    .sort((a, b) => Number(b.own) - Number(a.own))
    .map(({ ropeType, own }) => {
      const name = NAMES[ropeType];
      const room = 30 + (own ? 7.6 : 6.6) * name.length;
      if (at + room > x.range[1]) [at, row] = [0, row + 1];
      const left = at;
      at += room + 10;
      return { name, ropeType, own, left, row };
    });
  const first = SLOWER.top - 14 - 16 * row;
  const legend = names.map(({ name, ropeType, own, left, row: line }) => {
    const y0 = first + 16 * line;
    return svg`<line class="curve ${ropeType} ${own ? "own" : ""}" x1=${left} x2=${left + 20} y1=${y0 - 4} y2=${y0 - 4}></line>
      <text class=${own ? "own" : ""} x=${left + 25} y=${y0}>${name}</text>`;
  });
  return svg`
    <text class="title" x="0" y=${first - 20}>Times slower than unscaled</text>
    <g class="legend">${legend}</g>
    ${leftTicks(y, x.range, (power) => exactly(2 ** power))}
    ${curves
      .sort((a, b) => Number(a.own) - Number(b.own))
      .map(
        ({ ropeType, own, values }) => svg`<path
          class="curve ${ropeType} ${own ? "own" : ""}"
          data-type=${ropeType}
          d=${linePath(
            values,
            (i) => place(x, i),
            (value) => level(y, value, 2),
          )}
        ></path>`,
      )}`;
}

/** The whole drawing, `width` pixels wide, with the pair that is read. */
export function chart(model: ScalingModel, pair: number, width: number): SVGTemplateResult {
  const x = pairAxis(model, width);
  const [left, right] = x.range;
  const here = place(x, pair);
  const whole = ticks(x, 44).filter((value) => Number.isInteger(value) && value < model.pairs.length);
  return svg`
    ${rampBand(model, x)}
    ${turns(model, x)} ${slowed(model, x)} ${phases(model, x)}
    ${[TURN, SLOWER, PHASE].map(
      ({ top, bottom }) =>
        svg`<line class="here" data-symbol="dim" x1=${here} x2=${here} y1=${top} y2=${bottom}></line>`,
    )}
    ${bottomAxis(x, PHASE.bottom + 2, whole)}
    <text class="dim" data-symbol="dim" x=${(left + right) / 2} y=${CHART_HEIGHT - 8} text-anchor="middle">pair, from the fastest to the slowest</text>`;
}

export const chartStyles = css`
  .plot {
    display: block;
    overflow: visible;
    touch-action: pan-y;
  }
  svg text.title {
    fill: var(--pe-ink);
    font-size: 14px;
    font-weight: 600;
  }
  svg text.own {
    fill: var(--pe-ink);
    font-weight: 600;
  }
  .axis line.grid {
    stroke: var(--pe-rule);
  }
  .curve {
    fill: none;
    stroke: var(--pe-ink-2);
    stroke-width: 1.5;
  }
  .curve.default,
  .curve.unscaled {
    stroke-dasharray: 2 3;
  }
  .curve.linear {
    stroke: var(--pe-learned);
    stroke-dasharray: 8 3;
  }
  .curve.ntk {
    stroke: var(--pe-alibi);
  }
  .curve.dynamic {
    stroke: var(--pe-t5);
    stroke-dasharray: 8 3 2 3;
  }
  .curve.yarn {
    stroke: var(--pe-sinusoidal);
  }
  .curve.llama3 {
    stroke: var(--pe-rope);
  }
  .curve.longrope {
    stroke: var(--pe-dim);
  }
  .curve.own {
    stroke-width: 3;
    stroke-dasharray: none;
  }
  circle.own {
    fill: var(--pe-ink);
  }
  line.trained {
    stroke: var(--pe-pos);
  }
  line.asked {
    stroke: var(--pe-pos);
    stroke-dasharray: 3 3;
  }
  section svg text.trained,
  section svg text.asked {
    fill: var(--pe-pos);
  }
  line.bound {
    stroke: var(--pe-ink-2);
    stroke-dasharray: 6 3;
  }
  rect.blend {
    fill: var(--pe-ink-2);
    fill-opacity: 0.13;
  }
  svg text.trained,
  svg text.asked,
  svg text.bound,
  svg text.blend {
    paint-order: stroke;
    stroke: var(--pe-bg);
    stroke-width: 3px;
  }
  .seen {
    fill: var(--pe-ink-2);
    fill-opacity: 0.4;
  }
  .unreached {
    fill: var(--pe-q);
  }
  .here {
    stroke: var(--pe-dim);
    pointer-events: none;
  }
  [data-lit="dim"] .here {
    stroke-width: 2.5;
  }
`;
