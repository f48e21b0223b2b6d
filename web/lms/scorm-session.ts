// One visit, as SCORM 1.2 records it: what an earlier visit left, then score, status, place and time, until the page
// goes. The score that is reported never falls: starting the quiz again must not cost what was reached before.
// Based on: ADL, SCORM 1.2 Run-Time Environment, 2001, section 3.4 (the data model).

import { cmiTimespan } from "./duration.ts";
import type { ScormApi } from "./find-api.ts";
import type { Progress } from "./progress.ts";
import { percent } from "./progress.ts";
import { Scorm } from "./scorm.ts";
import type { Kept } from "./suspend-data.ts";
import { decode, encode } from "./suspend-data.ts";

interface Surroundings {
  /** Receives the current problem as a sentence; null once it is gone. */
  say(problem: string | null): void;
  /** Milliseconds of a clock that never goes back. */
  now?(): number;
}

export interface Resumed extends Kept {
  section: string;
}

export class ScormSession {
  #scorm: Scorm;
  #say: (problem: string | null) => void;
  #now: () => number;
  #open = false;
  #recorded = true;
  #began = 0;
  #done = false;
  #best = 0;
  #passed = false;
  #mastery: number | null = null;
  /** What the run-time has accepted, by element. */
  #accepted = new Map<string, string>();
  /** The last problem since the last commit that went well. */
  #problem: string | null = null;

  constructor(api: ScormApi, { say, now = () => performance.now() }: Surroundings) {
    this.#say = say;
    this.#now = now;
    this.#scorm = new Scorm(api, (problem) => {
      this.#problem = problem;
      say(problem);
    });
  }

  /** Whether the course keeps what is reported; it does not when a visit is for review or browsing. */
  get recorded(): boolean {
    return this.#recorded;
  }

  /** The score from 0 to 100 at which the course lets a reader pass, or null. */
  get mastery(): number | null {
    return this.#mastery;
  }

  /** Begins the visit; null if the course refuses. Also after end(), for a page that comes back. */
  begin(): Resumed | null {
    if (!this.#scorm.initialize()) return null;
    this.#open = true;
    this.#began = this.#now();
    this.#accepted.clear();
    const [status, mode] = ["lesson_status", "lesson_mode"].map((name) =>
      this.#scorm.get(`cmi.core.${name}`),
    );
    this.#recorded = mode !== "review" && mode !== "browse";
    this.#mastery = score(this.#scorm.get("cmi.student_data.mastery_score"));
    this.#best = score(this.#scorm.get("cmi.core.score.raw")) ?? 0;
    const kept = decode(this.#scorm.get("cmi.suspend_data"));
    this.#passed = status === "passed";
    // Not by "failed": run-times set it when a visit ends, by the score alone.
    this.#done = kept.done || status === "completed" || this.#passed;
    return { ...kept, section: this.#scorm.get("cmi.core.lesson_location") };
  }

  /** Tells the run-time what has changed; it is kept when commit() or end() follows. */
  report({ answers, quiz, section, visited }: Progress): void {
    if (!this.#open || !this.#recorded) return;
    this.#done ||= quiz.total > 0 && quiz.answered === quiz.total;
    this.#best = Math.max(this.#best, percent(quiz.score, quiz.total));
    this.#passed ||= this.#done && this.#mastery !== null && this.#best >= this.#mastery;
    // With a mastery score, run-times turn any score into "passed" or "failed" when a visit ends: before the quiz is
    // done, none is given.
    if (this.#done || this.#mastery === null) {
      this.#set("cmi.core.score.raw", String(this.#best));
      this.#set("cmi.core.score.min", "0");
      this.#set("cmi.core.score.max", "100");
    }
    this.#set("cmi.core.lesson_status", this.#status());
    this.#set("cmi.core.lesson_location", section);
    this.#set("cmi.core.exit", this.#done ? "" : "suspend");
    try {
      this.#set("cmi.suspend_data", encode({ done: this.#done, visited, answers }));
    } catch (error) {
      this.#problem = `Your course cannot keep all answers: ${(error as Error).message}.`;
      this.#say(this.#problem);
    }
  }

  commit(): void {
    if (!this.#open || !this.#recorded) return;
    this.#setTime();
    if (this.#scorm.commit() && this.#problem === null) this.#say(null);
    this.#problem = null;
  }

  /** Ends the visit, once; nothing is called after it. */
  end(): void {
    if (!this.#open) return;
    if (this.#recorded) this.#setTime();
    this.#open = false;
    this.#scorm.finish();
  }

  #status(): string {
    if (!this.#done) return "incomplete";
    if (this.#passed) return "passed";
    return this.#mastery === null ? "completed" : "failed";
  }

  #setTime(): void {
    this.#set("cmi.core.session_time", cmiTimespan(this.#now() - this.#began));
  }

  #set(element: string, value: string): void {
    if (this.#accepted.get(element) === value) return;
    if (this.#scorm.set(element, value)) this.#accepted.set(element, value);
    else this.#accepted.delete(element);
  }
}

/** A score from 0 to 100, or null. */
function score(text: string): number | null {
  const value = Number(text);
  return text.trim() !== "" && value >= 0 && value <= 100 ? value : null;
}
