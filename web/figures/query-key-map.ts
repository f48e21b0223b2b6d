// Square maps of queries down and keys across, side by side on canvases, with one axis of queries for all of them.

import { css, html, type SVGTemplateResult, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, leftAxis, ticks } from "../draw/axis.ts";

/** Pixels: room for the axis of queries. */
export const LEFT = 46;

export interface QueryKeyMap {
  /** The canvas to draw on is `canvas[data-map=name]`. */
  name: string;
  title: string;
  label: string;
  /** What the cell that is read holds. */
  words: string;
  /** Over the pixels and under the cell. */
  over?: SVGTemplateResult;
}

export interface QueryKeyFrame {
  /** Cells along a side, and pixels. */
  cells: number;
  side: number;
  /** The cell that is read; null: its key stands outside the maps. */
  query: number;
  key: number | null;
  onKey: (event: KeyboardEvent) => void;
  onPoint: (event: PointerEvent) => void;
}

export function queryKeyMaps(maps: readonly QueryKeyMap[], frame: QueryKeyFrame): TemplateResult {
  const { cells, side, query, key, onKey, onPoint } = frame;
  const x: Axis = { domain: [0, cells], range: [0, side] };
  const marks = ticks({ ...x, domain: [0, Math.max(1, cells - 1)] }, 36).filter(
    (value) => Number.isInteger(value) && value < cells,
  );
  const unit = side / cells;
  const lines = key === null ? [] : ["under", "over"];
  const map = ({ name, title, label, words, over }: QueryKeyMap) => html`
    <div class="map" .style=${`width:${side}px`}>
      <svg class="title" width=${side} height="27" aria-hidden="true"><text x="0" y="15">${title}</text></svg>
      <div
        class="grid"
        role="grid"
        tabindex="0"
        aria-label="${label}, ${cells} queries by ${cells} keys"
        aria-rowcount=${cells}
        aria-colcount=${cells}
        aria-activedescendant="${name}-cell"
        .style=${`height:${side}px`}
        @pointermove=${onPoint}
        @pointerdown=${onPoint}
        @keydown=${onKey}
      >
        <canvas data-map=${name} aria-hidden="true"></canvas>
        <div role="row" aria-rowindex=${query + 1}>
          <div
            role="gridcell"
            id="${name}-cell"
            aria-colindex=${(key ?? 0) + 1}
            aria-selected=${key !== null}
            aria-label=${words}
          ></div>
        </div>
        <svg width=${side} height=${side} aria-hidden="true">
          <rect class="frame" x="-0.5" y="-0.5" width=${side + 1} height=${side + 1}></rect>
          ${over}
          ${lines.map(
            (line) =>
              svg`<rect class="cell ${line}" x=${(key ?? 0) * unit} y=${query * unit} width=${unit} height=${unit}></rect>`,
          )}
        </svg>
      </div>
      <svg class="keys" width=${side} height="42" aria-hidden="true">
        ${bottomAxis(x, 0, marks, 0.5)}
        <text class="k" x=${side} y="37" text-anchor="end" data-symbol="k">key</text>
      </svg>
    </div>
  `;
  return html`
    <div class="maps">
      <svg class="queries" width=${LEFT} height=${side + 28} aria-hidden="true">
        <text class="q" x="0" y="15" data-symbol="q">query</text>
        <g transform="translate(0 27)">${leftAxis(x, LEFT - 1, marks, 0.5)}</g>
      </svg>
      ${maps.map(map)}
    </div>
  `;
}

export const queryKeyStyles = css`
  .maps {
    display: flex;
    gap: 12px;
  }
  .queries {
    flex: none;
    margin-inline-end: -12px;
  }
  svg.title text {
    fill: var(--pe-ink);
    font-size: var(--pe-text-s);
    font-weight: 600;
  }
  .grid {
    position: relative;
    cursor: crosshair;
    touch-action: pan-y pinch-zoom;
  }
  .grid canvas {
    display: block;
    width: 100%;
    height: 100%;
    image-rendering: pixelated;
  }
  .grid svg {
    position: absolute;
    inset: 0;
    pointer-events: none;
  }
  .frame {
    fill: none;
    stroke: var(--pe-ink-2);
  }
  .cell {
    fill: none;
    stroke: #1c1b19;
    stroke-width: 2;
  }
  .cell.under {
    stroke: #fcfbf8;
    stroke-width: 5;
  }
`;
