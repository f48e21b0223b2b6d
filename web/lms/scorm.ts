// The calls of a SCORM 1.2 run-time. A call that fails, or throws, becomes a sentence for the reader and a line on the
// console; the lesson goes on.

import type { ScormApi } from "./find-api.ts";

/** What an element that a run-time may leave out answers. */
const notImplemented = "401";

export class Scorm {
  #api: ScormApi;
  #say: (problem: string) => void;

  /** `say` receives what went wrong, as a sentence. */
  constructor(api: ScormApi, say: (problem: string) => void) {
    this.#api = api;
    this.#say = say;
  }

  initialize(): boolean {
    const hint = "Nothing is recorded: open the lesson from the course again.";
    return this.#done("begin a record of this visit", () => this.#api.LMSInitialize(""), hint);
  }

  /** The text of an element; empty if it has none or cannot be read. */
  get(element: string): string {
    try {
      const value = String(this.#api.LMSGetValue(element) ?? "");
      const code = this.#code();
      if (code !== "" && code !== notImplemented) this.#failed(`give ${element}`, this.#why());
      return value;
    } catch (error) {
      this.#failed(`give ${element}`, String(error));
      return "";
    }
  }

  set(element: string, value: string): boolean {
    return this.#done(`take ${element}`, () => this.#api.LMSSetValue(element, value));
  }

  commit(): boolean {
    return this.#done("store what it was told", () => this.#api.LMSCommit(""));
  }

  finish(): boolean {
    return this.#done("close the record of this visit", () => this.#api.LMSFinish(""));
  }

  #done(task: string, call: () => unknown, hint = ""): boolean {
    try {
      if (/^(true|1)$/i.test(String(call()))) return true;
      this.#failed(task, this.#why(), hint);
    } catch (error) {
      this.#failed(task, String(error), hint);
    }
    return false;
  }

  /** The code of the last error; empty for none, and for what is no code: a value counts also where none is told. */
  #code(): string {
    try {
      const code = String(this.#api.LMSGetLastError());
      return /^\d{1,5}$/.test(code) && Number(code) > 0 ? code : "";
    } catch {
      return "";
    }
  }

  /** The run-time's own words for its last error. */
  #why(): string {
    const code = this.#code();
    if (code === "") return "";
    try {
      const words = this.#api.LMSGetErrorString(code);
      return `error ${code}${typeof words === "string" && words ? `: ${words.slice(0, 200)}` : ""}`;
    } catch {
      return `error ${code}`;
    }
  }

  #failed(task: string, why: string, hint = ""): void {
    const problem = `Your course did not ${task}${why ? ` (${why})` : ""}. ${hint}`.trim();
    console.warn(problem);
    this.#say(problem);
  }
}
