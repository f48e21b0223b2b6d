// What a course keeps between visits, in SCORM 1.2's one free text of at most 4096 characters:
//
//   1|0|order,add|order-pooled=0,order-mask=1
//
// version | whether the quiz was ever completed | sections visited | the option, from 0, of each answered question.
// Ids, not places in a list: a lesson that has gained a question still reads the record of before. What is read is
// text that anyone may have written.

import { idPattern } from "../quiz/answers.ts";

export const mostCharacters = 4096;
const version = "1";

export interface Kept {
  done: boolean;
  visited: ReadonlySet<string>;
  answers: ReadonlyMap<string, number>;
}

/** Throws a RangeError if the text would be longer than SCORM 1.2 allows. */
export function encode({ done, visited, answers }: Kept): string {
  const options = Array.from(answers, ([id, option]) => `${id}=${option}`);
  const text = [version, done ? "1" : "0", [...visited].join(","), options.join(",")].join("|");
  if (text.length > mostCharacters) {
    throw new RangeError(`suspend_data must have at most ${mostCharacters} characters, not ${text.length}`);
  }
  return text;
}

/** What is well formed in the text; all else is ignored. Never throws. */
export function decode(text: string): Kept {
  const [found, done, visited = "", options = ""] = text.slice(0, mostCharacters).split("|");
  if (found !== version) return { done: false, visited: new Set(), answers: new Map() };
  const answers = new Map<string, number>();
  for (const item of options.split(",")) {
    const [id = "", option = "", ...more] = item.split("=");
    if (idPattern.test(id) && /^\d{1,2}$/.test(option) && more.length === 0) answers.set(id, Number(option));
  }
  return {
    done: done === "1",
    visited: new Set(visited.split(",").filter((id) => idPattern.test(id))),
    answers,
  };
}
