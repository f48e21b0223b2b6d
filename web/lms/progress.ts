// What a course may know of a reader: plain data, made from the page, reported by the sessions.

export interface Quiz {
  answered: number;
  /** Right answers. */
  score: number;
  total: number;
}

export interface Progress {
  /** The option of each answered question, predictions too. */
  answers: ReadonlyMap<string, number>;
  quiz: Quiz;
  /** Id of the section where the reader is; empty before the first. */
  section: string;
  visited: ReadonlySet<string>;
}

export interface Answered {
  id: string;
  ask: string;
  options: string[];
  /** The option that is right, and the one that was chosen, from 0. */
  right: number;
  chosen: number;
}

/** 0 to 100, to two decimals. */
export const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((1e4 * part) / whole) / 100;
