// The quiz: its questions, how far the reader has come with them, and how it went by section.

import { sharedAnswers } from "./answers.ts";
import { PeQuestion } from "./pe-question.ts";

/**
 * Counts the answers of the questions inside it. In light DOM: the page styles it.
 *
 * @fires {CustomEvent} pe-complete - The last question was answered; `detail` is { score, total }.
 */
export class PeQuiz extends HTMLElement {
  #parts: HTMLElement[] = [];
  #progress = document.createElement("p");
  #note = document.createElement("p");

  connectedCallback(): void {
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", this.#begin, { once: true });
    } else this.#begin();
  }

  disconnectedCallback(): void {
    document.removeEventListener("DOMContentLoaded", this.#begin);
    sharedAnswers().removeEventListener("change", this.#update);
    this.removeEventListener("pe-answer", this.#completed);
    for (const part of this.#parts) part.remove();
    this.#parts = [];
  }

  /** The questions inside, in order. */
  get questions(): PeQuestion[] {
    return [...this.querySelectorAll("pe-question")].filter((child) => child instanceof PeQuestion);
  }

  /** How many questions are answered, how many of them right, and how many there are. */
  get result(): { answered: number; score: number; total: number } {
    return this.#count(this.questions);
  }

  #begin = (): void => {
    // A page restored from a copy of its DOM brings them along.
    for (const part of this.querySelectorAll(":scope > [data-made]")) part.remove();
    this.#progress = document.createElement("p");
    this.#progress.className = "progress";
    this.#progress.setAttribute("role", "status");
    const summary = document.createElement("div");
    summary.className = "summary";
    const controls = document.createElement("p");
    controls.className = "act";
    controls.append(
      button("Start the quiz again", () => {
        sharedAnswers().remove(this.questions.map(({ question }) => question));
        this.questions[0]?.focusFirst();
      }),
      button("Forget my answers", () => sharedAnswers().forget()),
    );
    this.#note = document.createElement("p");
    this.#note.className = "note";
    this.#parts = [this.#progress, summary, controls, this.#note];
    for (const part of this.#parts) part.dataset.made = "";
    this.append(summary, this.#progress, controls, this.#note);
    sharedAnswers().addEventListener("change", this.#update);
    this.addEventListener("pe-answer", this.#completed);
    this.#update();
  };

  #update = (): void => {
    // After the questions, whichever heard of the change first.
    queueMicrotask(this.#show);
  };

  #show = (): void => {
    const { answered, score, total } = this.result;
    const progress = `${answered} of ${total} answered, ${score} right`;
    if (this.#progress.textContent !== progress) this.#progress.textContent = progress;
    this.#note.textContent = `Answers, those to the predictions too, stay in ${sharedAnswers().place}. Forgetting removes them from it.`;
    this.querySelector(":scope > .summary")?.replaceChildren(...(answered > 0 ? [this.#bySection()] : []));
  };

  #count(questions: PeQuestion[]): { answered: number; score: number; total: number } {
    return {
      answered: questions.filter(({ answer }) => answer !== null).length,
      score: questions.filter(({ right }) => right).length,
      total: questions.length,
    };
  }

  #bySection(): HTMLElement {
    const groups = new Map<string, { link: HTMLAnchorElement; questions: PeQuestion[] }>();
    for (const question of this.questions) {
      const link = question.querySelector<HTMLAnchorElement>(".label a");
      if (!link) continue;
      const group = groups.get(link.hash) ?? { link, questions: [] };
      group.questions.push(question);
      groups.set(link.hash, group);
    }
    const list = document.createElement("ul");
    list.setAttribute("aria-label", "Right answers by section");
    for (const { link, questions } of groups.values()) {
      const { answered, score, total } = this.#count(questions);
      const item = document.createElement("li");
      item.classList.toggle("open", answered < total);
      item.classList.toggle("missed", answered > score);
      const result = document.createElement("span");
      result.textContent = answered === 0 ? "–" : `${score} of ${total}`;
      if (answered === 0) result.setAttribute("aria-label", "not answered");
      item.append(link.cloneNode(true), " ", result);
      list.append(item);
    }
    return list;
  }

  #completed = (): void => {
    const { answered, score, total } = this.result;
    if (answered < total) return;
    this.dispatchEvent(
      new CustomEvent("pe-complete", { detail: { score, total }, bubbles: true, composed: true }),
    );
  };
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", onClick);
  return made;
}

if (!customElements.get("pe-quiz")) customElements.define("pe-quiz", PeQuiz);
