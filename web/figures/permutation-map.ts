// An attention matrix as a picture: a square of cells, one row a query, one column a key. Cells are known by the two
// words they join, so that they glide when the words change places.

import { html, nothing, svg, type TemplateResult } from "lit";
import { fixed } from "./format.ts";
import { walk } from "./map-grid.ts";

export interface WeightMap {
  id: string;
  /** X or PX. */
  name: string;
  words: readonly string[];
  /** Word of each row and column as drawn. */
  order: readonly number[];
  /** Weight by query word and key word; undefined where the mask hides the key. */
  weight: (query: number, key: number) => number | undefined;
  /** Weight of the full colour. */
  top: number;
  /** Side of a cell and width kept for the words, in pixels. */
  cell: number;
  margin: number;
  /** Query and key word that are marked. */
  active: readonly [number, number];
  onActive: (query: number, key: number) => void;
}

const FONT = 12;
const ROOM_FOR_NUMBER = 28;

const segmenter = new Intl.Segmenter();
const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

/** Width of a text, near enough to decide whether it fits. */
export function textWidth(text: string, font: number): number {
  let width = 0;
  for (const letter of graphemes(text)) {
    width += (letter.codePointAt(0) ?? 0) > 0x1100 ? 1.3 : /[mwA-Z@]/.test(letter) ? 0.8 : 0.58;
  }
  return width * font;
}

/** The text, cut with an ellipsis where it would be wider than `room`. */
export function cut(text: string, room: number): string {
  if (textWidth(text, FONT) <= room) return text;
  let kept = "";
  for (const letter of graphemes(text)) {
    if (kept && textWidth(`${kept}${letter}.`, FONT) > room) break;
    kept += letter;
  }
  return `${kept}…`;
}

export function weightMap(map: WeightMap): TemplateResult {
  const { words, order, cell, margin, active } = map;
  const n = order.length;
  const level = order.every((word) => textWidth(words[word] ?? "", FONT) <= cell - 4);
  const head = level ? FONT + 8 : margin;
  const size = n * cell;
  const at = (query: number, key: number) =>
    `transform: translate(${margin + order.indexOf(key) * cell}px, ${head + order.indexOf(query) * cell}px)`;
  const value = map.weight(...active);
  const [query, key] = active.map((word) => words[word]);
  const keydown = (event: KeyboardEvent) => {
    const to = walk(event, [order.indexOf(active[0]), order.indexOf(active[1])], n);
    if (to) map.onActive(order[to[0]] ?? 0, order[to[1]] ?? 0);
  };
  const pairs = words.flatMap((_, i) => words.map((_, j) => [i, j] as const));
  return html`
    <div
      class="map"
      role="grid"
      tabindex="0"
      aria-label="Attention weights of ${map.name}, ${n} queries by ${n} keys"
      aria-rowcount=${n}
      aria-colcount=${n}
      aria-activedescendant=${map.id}
      @keydown=${keydown}
    >
      <div class="unseen" role="row" aria-rowindex=${order.indexOf(active[0]) + 1}>
        <span role="gridcell" id=${map.id} aria-colindex=${order.indexOf(active[1]) + 1}>
          query ${query}, key ${key}: ${value === undefined ? "masked" : fixed(value, 3)}
        </span>
      </div>
      <svg aria-hidden="true" width=${margin + size + 2} height=${head + size + 2}>
        <text class="name" x="1" y=${head - 7}>${map.name}</text>
        ${words.map(
          (word, i) => svg`
            <g class="glide" .style=${`transform: translateY(${head + (order.indexOf(i) + 0.5) * cell}px)`}>
              <text class="q" data-symbol="q" x=${margin - 6} text-anchor="end" dominant-baseline="central">${cut(word, margin - 9)}</text>
            </g>
            <g class="glide" .style=${`transform: translate(${margin + (order.indexOf(i) + 0.5) * cell}px, ${head - 7}px)`}>
              <text class="k" data-symbol="k" text-anchor=${level ? "middle" : "start"}
                transform=${level ? nothing : "rotate(-90)"} dominant-baseline=${level ? nothing : "central"}
              >${cut(word, level ? cell : head - 8)}</text>
            </g>
          `,
        )}
        ${pairs.map(([i, j]) => {
          const weight = map.weight(i, j);
          const enter = () => map.onActive(i, j);
          return svg`
            <g class="cell glide" .style=${at(i, j)} @pointerenter=${enter} @pointerdown=${enter}>
              <rect class="ground" width=${cell} height=${cell}></rect>
              <rect class="weight" width=${cell} height=${cell} fill-opacity=${((weight ?? 0) / map.top).toFixed(4)}></rect>
              ${weight === undefined ? svg`<path class="hatch" d=${hatch(cell)}></path>` : nothing}
              ${
                weight === undefined || cell < ROOM_FOR_NUMBER
                  ? nothing
                  : svg`<text x=${cell / 2} y=${cell / 2} text-anchor="middle" dominant-baseline="central">${fixed(weight, 2)}</text>`
              }
            </g>
          `;
        })}
        <rect class="active glide" .style=${at(...active)} width=${cell} height=${cell}></rect>
      </svg>
    </div>
  `;
}

/** Slanted lines across a square. */
export function hatch(side: number): string {
  let path = "";
  for (let at = 6; at < 2 * side; at += 6) {
    const [near, far] = [Math.max(0, at - side), Math.min(side, at)];
    path += `M${near} ${far}L${far} ${near}`;
  }
  return path;
}
