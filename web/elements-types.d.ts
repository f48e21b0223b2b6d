// Types of posenc.js, the elements. The build appends the tags.
import type { LoadOptions } from "./core.js";

/** Where the figures take their WebAssembly module from; to be called before the first figure is in the page. */
export function configure(options: LoadOptions): void;

/** A figure's state as plain data. */
export interface SavedState {
  version: 1;
  figure: string;
  state: Record<string, number | boolean | string>;
}

/** What every figure offers. Attributes are its state: custom-elements.json lists them. */
export interface PosencFigure extends HTMLElement {
  /** Fulfilled when the first picture is drawn; rejected with a sentence if there will be none. */
  readonly ready: Promise<void>;
  getState(): SavedState;
  /** Throws a TypeError or RangeError with a sentence, and then has changed nothing. */
  setState(saved: SavedState): void;
  reset(): void;
  toPNG(): Promise<Blob>;
  toSVG(): string;
  toCSV(): string;
  toNPY(): Uint8Array<ArrayBuffer>;
  toRecord(): string;
  toNumPy(): string;
}
