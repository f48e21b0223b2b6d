// A map as assistive technology, keys and pointers have it: a grid of rows and columns in which one cell, the active
// one, is there to be read.

import { css, html, type TemplateResult } from "lit";
import { clamp } from "../draw/axis.ts";

export type Cell = readonly [row: number, column: number];
type Size = readonly [rows: number, columns: number];

export interface MapGrid {
  label: string;
  size: Size;
  /** The active cell, and what it holds. */
  cell: Cell;
  words: string;
  /** Of the active cell; two grids of one figure have two. */
  id?: string;
  /** Where the grid lies over its map. */
  style: string;
  onKey: (event: KeyboardEvent) => void;
  onPoint?: (event: PointerEvent) => void;
}

export function mapGrid({
  label,
  size,
  cell,
  words,
  id = "cell",
  style,
  onKey,
  onPoint,
}: MapGrid): TemplateResult {
  return html`
    <div
      class="grid"
      role="grid"
      tabindex="0"
      aria-label=${label}
      aria-rowcount=${size[0]}
      aria-colcount=${size[1]}
      aria-activedescendant=${id}
      .style=${style}
      @keydown=${onKey}
      @pointerdown=${onPoint}
      @pointermove=${onPoint}
    >
      <div role="row" aria-rowindex=${cell[0] + 1}>
        <div id=${id} role="gridcell" aria-colindex=${cell[1] + 1} aria-selected="true">${words}</div>
      </div>
    </div>
  `;
}

export const mapGridStyles = css`
  .grid {
    overflow: hidden;
    -webkit-user-select: none;
    user-select: none;
  }
  .grid > div {
    opacity: 0;
    pointer-events: none;
  }
`;

/** The cell of a map at a point, which has each way from 0 to 1; outside, the nearest. */
export function cellAt([x, y]: readonly [x: number, y: number], [rows, columns]: Size): Cell {
  return [clamp(Math.floor(y * rows), 0, rows - 1), clamp(Math.floor(x * columns), 0, columns - 1)];
}

/** Where a key leads from a cell, or undefined if it is not one of ours: Shift moves by ten. */
export function step(event: KeyboardEvent, cell: Cell, [rows, columns]: Size): Cell | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const [row, column] = cell;
  const jumps = {
    Home: [row, 0],
    End: [row, columns - 1],
    PageUp: [0, column],
    PageDown: [rows - 1, column],
  } as const;
  return follow(event, { ...arrows(cell, event.shiftKey ? 10 : 1), ...jumps }, [rows, columns]);
}

/** The same in a square map: with Ctrl, Home and End lead to the corners. */
export function walk(event: KeyboardEvent, cell: Cell, cells: number, by = 1): Cell | undefined {
  if (event.metaKey || event.altKey) return undefined; // Alt and an arrow are the browser's, to go back
  const last = cells - 1;
  const [first, end] = event.ctrlKey ? [0, last] : [cell[0], cell[0]];
  return follow(event, { ...arrows(cell, by), Home: [first, 0], End: [end, last] }, [cells, cells]);
}

const arrows = ([row, column]: Cell, by: number): Record<string, Cell> => ({
  ArrowUp: [row - by, column],
  ArrowDown: [row + by, column],
  ArrowLeft: [row, column - by],
  ArrowRight: [row, column + by],
});

/** The map takes the key. */
function follow(event: KeyboardEvent, moves: Record<string, Cell>, [rows, columns]: Size): Cell | undefined {
  const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
  if (!move) return undefined;
  event.preventDefault();
  return [clamp(move[0], 0, rows - 1), clamp(move[1], 0, columns - 1)];
}
