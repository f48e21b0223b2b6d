// The rows of W_Q as a strip of cells, above as the weights were trained and below as the code reads them: arcs join
// the two components of each pair, and lines follow each row from its place above to its place below.

import { type SVGTemplateResult, svg } from "lit";
import type { PairLayout } from "../posenc.ts";

/** Row r of what the code reads is stored row rows[r]. Components from rotaryDim on belong to no pair. */
export interface Strips {
  headDim: number;
  rotaryDim: number;
  trained: PairLayout;
  code: PairLayout;
  rows: ArrayLike<number>;
  /** The trained pair that is marked. */
  active: number;
  width: number;
  onPick: (pair: number) => void;
}

export const STRIPS_HEIGHT = 322;
const ARC = 62;
const CELL = 28;
/** Tops of the two strips. */
const UPPER = 26 + ARC;
const LOWER = STRIPS_HEIGHT - UPPER - CELL;

/** The components of pair i. */
export const components = (i: number, layout: PairLayout, rotaryDim: number): readonly [number, number] =>
  layout === "half" ? [i, i + rotaryDim / 2] : [2 * i, 2 * i + 1];

/** The pair of a component; null: it is not rotated. */
export function pairOf(component: number, layout: PairLayout, rotaryDim: number): number | null {
  if (component >= rotaryDim) return null;
  return layout === "half" ? component % (rotaryDim / 2) : Math.floor(component / 2);
}

/** What the code rotates together: stored components, and whether they were trained as a pair. */
export function codePairs({ rows, rotaryDim, trained, code }: Omit<Strips, "active" | "width" | "onPick">) {
  return Array.from({ length: rotaryDim / 2 }, (_, i) => {
    const places = components(i, code, rotaryDim);
    const [a, b] = [rows[places[0]] ?? 0, rows[places[1]] ?? 0];
    return {
      places,
      stored: [a, b] as const,
      right: pairOf(a, trained, rotaryDim) === pairOf(b, trained, rotaryDim),
    };
  });
}

const px = (value: number): string => value.toFixed(1);

export function strips(o: Strips): SVGTemplateResult {
  const { headDim, rotaryDim, trained, code, rows, active } = o;
  const cell = Math.min(58, (o.width - 2) / headDim);
  const left = (o.width - cell * headDim) / 2;
  const middle = (place: number) => left + (place + 0.5) * cell;
  const isActive = (component: number) => pairOf(component, trained, rotaryDim) === active;
  const numbered = cell >= 17;

  const arc = ([a, b]: readonly [number, number], up: boolean, kind: string) => {
    const foot = up ? UPPER - 2 : LOWER + CELL + 2;
    const height = Math.min(ARC, 22 + ((b - a) * cell) / 3);
    const top = foot + (up ? -height : height) * 1.32;
    const [x1, x2] = [middle(a), middle(b)];
    return svg`<path class="arc ${kind}" d="M${px(x1)} ${foot}C${px(x1)} ${px(top)} ${px(x2)} ${px(top)} ${px(x2)} ${foot}"></path>`;
  };
  const row = (top: number, stored: (place: number) => number) => {
    const [a = 0, b = 0] = Array.from({ length: headDim }, (_, place) => place).filter((p) =>
      isActive(stored(p)),
    );
    // Numbers of narrow neighbours would overlap.
    const apart = b - a > 1;
    return Array.from({ length: headDim }, (_, place) => {
      const component = stored(place);
      const kind = isActive(component) ? "active" : component >= rotaryDim ? "tail" : "";
      const pair = pairOf(component, trained, rotaryDim);
      return svg`<g class="cell ${kind}" @click=${() => pair !== null && o.onPick(pair)}>
        <rect x=${px(left + place * cell)} y=${top} width=${px(cell)} height=${CELL}></rect>
        ${
          numbered || (apart && isActive(component))
            ? svg`<text x=${px(middle(place))} y=${top + CELL / 2} text-anchor="middle" dominant-baseline="central">${component}</text>`
            : ""
        }
      </g>`;
    });
  };
  const lines = Array.from({ length: headDim }, (_, place) => {
    const component = rows[place] ?? 0;
    const [x1, x2] = [middle(component), middle(place)];
    const [y1, y2] = [UPPER + CELL + 2, LOWER - 2];
    const bend = (y2 - y1) / 2;
    const kind = isActive(component) ? "active" : component >= rotaryDim ? "tail" : "";
    return {
      kind,
      path: svg`<path class="follow ${kind}" d="M${px(x1)} ${y1}C${px(x1)} ${y1 + bend} ${px(x2)} ${y2 - bend} ${px(x2)} ${y2}"></path>`,
    };
  });
  // What is marked is drawn last, over the rest.
  const marksLast = <T extends { kind: string; path: SVGTemplateResult }>(all: T[]) =>
    [...all.filter(({ kind }) => !/active/.test(kind)), ...all.filter(({ kind }) => /active/.test(kind))].map(
      ({ path }) => path,
    );
  const above = Array.from({ length: rotaryDim / 2 }, (_, i) => {
    const kind = i === active ? "active" : "";
    return { kind, path: arc(components(i, trained, rotaryDim), true, kind) };
  });
  const below = codePairs(o).map(({ places, stored, right }) => {
    const kind = `${right ? "" : "wrong"} ${stored.some(isActive) ? "active" : ""}`;
    return { kind, path: arc(places, false, kind) };
  });
  const tail = headDim - rotaryDim;
  const name = (layout: PairLayout) => (layout === "half" ? `(i, i + ${rotaryDim / 2})` : "(2i, 2i + 1)");
  return svg`
    <text class="name" x=${left} y="13">trained with the pairs ${name(trained)}</text>
    ${marksLast(above)} ${row(UPPER, (place) => place)} ${marksLast(lines)}
    ${row(LOWER, (place) => rows[place] ?? 0)} ${marksLast(below)}
    ${
      tail * cell > 66
        ? svg`<text x=${px(left + (rotaryDim + tail / 2) * cell)} y=${UPPER - 10} text-anchor="middle">not rotated</text>`
        : ""
    }
    <text class="name" x=${left} y=${STRIPS_HEIGHT - 5}>the code rotates the pairs ${name(code)}</text>
  `;
}
