// One visit, told in xAPI statements: begun, each answer, how much of the lesson was visited, the quiz completed and
// passed, ended.

import { isoDuration } from "./duration.ts";
import type { Answered, Quiz } from "./progress.ts";
import type { Lesson, Statement } from "./statement.ts";
import { aboutLesson, aboutQuestion, progressResult, scoreResult } from "./statement.ts";

interface Surroundings {
  send(statement: Statement): void;
  /** From 0 to 100, or null. */
  mastery?: number | null;
  /** Milliseconds of a clock that never goes back. */
  now?(): number;
}

export class XapiSession {
  #lesson: Lesson;
  #send: (statement: Statement) => void;
  #mastery: number | null;
  #now: () => number;
  #began = 0;
  #open = false;
  #share = 0;

  constructor(lesson: Lesson, { send, mastery = null, now = () => performance.now() }: Surroundings) {
    this.#lesson = lesson;
    this.#send = send;
    this.#mastery = mastery;
    this.#now = now;
  }

  /** Also after end(), for a page that comes back. `visited`: the share of the lesson, in percent, known before. */
  begin(visited = 0): void {
    this.#began = this.#now();
    this.#open = true;
    this.#share = Math.max(this.#share, visited);
    this.#send(aboutLesson("initialized", this.#lesson));
  }

  answered(question: Answered): void {
    if (this.#open) this.#send(aboutQuestion(this.#lesson, question));
  }

  /** Says how much of the lesson was visited, if that is more than was said before. */
  progressed(share: number): void {
    if (!this.#open || share <= this.#share) return;
    this.#share = share;
    this.#send(aboutLesson("progressed", this.#lesson, progressResult(share, this.#time)));
  }

  completed(quiz: Pick<Quiz, "score" | "total">): void {
    if (!this.#open) return;
    const result = scoreResult(quiz, this.#time);
    this.#send(aboutLesson("completed", this.#lesson, { completion: true, ...result }));
    if (this.#mastery === null) return;
    const success = 100 * quiz.score >= this.#mastery * quiz.total;
    this.#send(aboutLesson(success ? "passed" : "failed", this.#lesson, { success, ...result }));
  }

  /** Ends the visit, once. */
  end(): void {
    if (!this.#open) return;
    this.#send(aboutLesson("terminated", this.#lesson, { duration: isoDuration(this.#time) }));
    this.#open = false;
  }

  get #time(): number {
    return this.#now() - this.#began;
  }
}
