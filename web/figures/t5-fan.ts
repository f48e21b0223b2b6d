// How distances fall into buckets: the line of relative positions above, the buckets side by side below, and between
// them the fan that joins each bucket to its stretch of the line.

import { type SVGTemplateResult, svg } from "lit";
import { type Axis, place, ticks } from "../draw/axis.ts";

/** Relative positions from..to, one after the other, that share a bucket. The outermost runs go on for ever. */
export interface Run {
  bucket: number;
  from: number;
  to: number;
}

/** Runs of equal buckets of the relative positions first, first + 1, … */
export function runsOf(buckets: Int32Array, first: number): Run[] {
  const runs: Run[] = [];
  buckets.forEach((bucket, i) => {
    const last = runs.at(-1);
    if (last?.bucket === bucket) last.to = first + i;
    else runs.push({ bucket, from: first + i, to: first + i });
  });
  return runs;
}

/** Red, green and blue of each bucket: near keys light, far ones dark; before the query blue, after it brown. */
export function bucketColors(numBuckets: number, bidirectional: boolean): [number, number, number][] {
  const side = bidirectional ? numBuckets / 2 : numBuckets;
  const ends = [
    [
      [222, 235, 250],
      [16, 56, 122],
    ],
    [
      [250, 229, 205],
      [112, 48, 4],
    ],
  ] as const;
  return Array.from({ length: numBuckets }, (_, bucket) => {
    const [near, far] = ends[bucket < side ? 0 : 1] ?? ends[0];
    const share = (bucket % side) / Math.max(1, side - 1);
    return near.map((channel, i) => Math.round(channel + ((far[i] ?? 0) - channel) * share)) as [
      number,
      number,
      number,
    ];
  });
}

export interface Fan {
  runs: readonly Run[];
  colors: readonly (readonly [number, number, number])[];
  /** From 1. */
  head: number;
  /** The bias of the head for each bucket, and the largest magnitude of all heads. */
  bias: (bucket: number) => number;
  limit: number;
  /** The run and the relative position that are read. */
  active: number;
  relativePosition: number;
  width: number;
}

export const FAN_HEIGHT = 300;
const BAND = 20;
/** Tops: the line of relative positions, the buckets, the middle of the biases. */
const LINE = 44;
const BUCKETS = 150;
const MIDDLE = 252;
const REACH = 40;

/** The axis of relative positions: each has a cell, whose middle is the number itself. */
export function lineAxis(runs: readonly Run[], width: number): Axis {
  return { domain: [(runs[0]?.from ?? 0) - 0.5, (runs.at(-1)?.to ?? 0) + 0.5], range: [1, width - 1] };
}

export function fan(o: Fan): SVGTemplateResult {
  const { runs, colors, active, width } = o;
  const line = lineAxis(runs, width);
  const slots: Axis = { domain: [0, runs.length], range: [1, width - 1] };
  const slot = (width - 2) / runs.length;
  const ends = (i: number) => {
    const { from, to } = runs[i] ?? { from: 0, to: 0 };
    return [place(line, from - 0.5), place(line, to + 0.5), place(slots, i), place(slots, i + 1)] as const;
  };
  const color = (i: number) => colors[runs[i]?.bucket ?? 0] ?? [0, 0, 0];
  const px = (value: number) => value.toFixed(2);
  const shape = (i: number) => {
    const [a, b, c, d] = ends(i);
    const fill = `fill: rgb(${color(i).join(" ")})`;
    const height = ((o.bias(runs[i]?.bucket ?? 0) || 0) / o.limit) * REACH;
    return svg`<g class="run" .style=${fill}>
      <rect x=${px(a)} y=${LINE} width=${px(b - a)} height=${BAND}></rect>
      <polygon class="fan" points="${px(a)},${LINE + BAND} ${px(b)},${LINE + BAND} ${px(d)},${BUCKETS} ${px(c)},${BUCKETS}"></polygon>
      <rect x=${px(c)} y=${BUCKETS} width=${px(d - c)} height=${BAND}></rect>
      <rect class="bias ${i === active ? "active" : ""}" x=${px(c + slot * 0.2)} y=${px(MIDDLE - Math.max(height, 0))}
        width=${px(slot * 0.6)} height=${px(Math.max(Math.abs(height), 0.5))}></rect>
    </g>`;
  };
  const edge = (i: number) => {
    const [a, b, c, d] = ends(i);
    return `M${px(a)} ${LINE}H${px(b)}V${LINE + BAND}L${px(d)} ${BUCKETS}V${BUCKETS + BAND}H${px(c)}V${BUCKETS}L${px(a)} ${LINE + BAND}Z`;
  };
  const divides = runs.slice(1).map((_, i) => {
    const x = px(place(slots, i + 1));
    return svg`<line class="divide" x1=${x} x2=${x} y1=${BUCKETS} y2=${BUCKETS + BAND}></line>`;
  });
  const at = place(line, o.relativePosition);
  const every = Math.ceil(24 / slot);
  // Numbers from the middle outwards, so that 0 keeps its own; the one that is read has its place.
  const zero = runs.findIndex(({ from, to }) => from <= 0 && to >= 0);
  const numbered = runs.flatMap(({ bucket }, i) => {
    const free = (i - zero) % every === 0 && (i === active || Math.abs(i - active) * slot > 20);
    return free || i === active
      ? [
          svg`<text class=${i === active ? "active" : ""} x=${px(place(slots, i + 0.5))} y=${BUCKETS + BAND + 15}
            text-anchor="middle">${bucket}</text>`,
        ]
      : [];
  });
  const marks = ticks(line, 52).filter(
    (value) => Number.isInteger(value) && place(line, value) > 14 && place(line, value) < width - 14,
  );
  return svg`
    <text class="name pos" data-symbol="pos" x="1" y="12">relative position, key minus query</text>
    ${marks.map(
      (value) =>
        svg`<text x=${px(place(line, value))} y=${LINE - 9} text-anchor="middle">${value < 0 ? `−${-value}` : value}</text>`,
    )}
    ${runs.map((_, i) => shape(i))} ${divides}
    <path class="edge" d=${edge(active)}></path>
    <line class="at" data-symbol="pos" x1=${px(at)} x2=${px(at)} y1=${LINE - 5} y2=${LINE + BAND + 5}></line>
    ${numbered}
    <line class="zero" x1="1" x2=${width - 1} y1=${MIDDLE} y2=${MIDDLE}></line>
    <text class="name" x="1" y=${FAN_HEIGHT - 2}>numbers: the bucket; bars: its bias in head ${o.head}</text>
  `;
}
