// A question with options, to be committed to before its answer is shown. The written form of it, readable without
// script, stands in the element; the form made from it takes its place.

import { sharedAnswers } from "./answers.ts";

interface Option {
  text: Element;
  feedback: Element;
  right: boolean;
}

let saidNotKept = false;

/**
 * A question with options, to be committed to before its answer is shown. In light DOM: the page styles it.
 *
 * @attr {string} question - The id under which its answer is kept.
 * @fires {CustomEvent} pe-answer - The reader committed; `detail` is { id, option, right }, option from 0.
 */
export class PeQuestion extends HTMLElement {
  #options: Option[] = [];
  #form: HTMLFormElement | undefined;
  #answer: number | null = null;

  /** The id under which the answer is kept. */
  get question(): string {
    return this.getAttribute("question") ?? "";
  }
  /** The option that was committed, or null. */
  get answer(): number | null {
    return this.#answer;
  }
  /** Whether the committed option is the right one; null without an answer. */
  get right(): boolean | null {
    return this.#answer === null ? null : (this.#options[this.#answer]?.right ?? null);
  }

  connectedCallback(): void {
    if (document.readyState === "loading") {
      // Defined before the parser came here: what is inside is still to come.
      document.addEventListener("DOMContentLoaded", this.#begin, { once: true });
    } else this.#begin();
  }

  disconnectedCallback(): void {
    document.removeEventListener("DOMContentLoaded", this.#begin);
    sharedAnswers().removeEventListener("change", this.#follow);
    this.#form?.remove();
    this.#form = undefined;
    const written = this.querySelector<HTMLElement>(":scope > .written");
    if (written) written.hidden = false;
  }

  #begin = (): void => {
    const written = this.querySelector<HTMLElement>(":scope > .written");
    const ask = written?.querySelector(".ask");
    if (!written || !ask) return;
    const texts = [...written.querySelectorAll(".options > li")];
    const answers = [...written.querySelectorAll<HTMLElement>(".answers > dl > div")];
    this.#options = texts.flatMap((text, at) => {
      const feedback = answers[at]?.querySelector("dd");
      return feedback ? [{ text, feedback, right: answers[at]?.dataset.right !== undefined }] : [];
    });
    // A page restored from a copy of its DOM brings the form along, without its listeners.
    this.querySelector(":scope > form")?.remove();
    this.#form = this.#makeForm(ask);
    this.#answer = null;
    this.#show(this.#stored());
    written.hidden = true;
    written.after(this.#form);
    sharedAnswers().addEventListener("change", this.#follow);
  };

  #makeForm(ask: Element): HTMLFormElement {
    const form = element("form", { noValidate: true });
    const fieldset = element("fieldset");
    const legend = element("legend", { className: "ask" });
    legend.append(...copy(ask));
    fieldset.append(legend);
    this.#options.forEach(({ text }, at) => {
      const radio = element("input", { type: "radio", name: `answer-${this.question}`, value: String(at) });
      const words = element("span");
      words.append(...copy(text));
      const label = element("label", { className: "option" });
      label.append(radio, words, element("span", { className: "mark" }));
      fieldset.append(label);
    });
    const act = element("p", { className: "act" });
    act.append(
      element("button", { type: "submit", className: "commit" }),
      element("button", { type: "button", className: "again", textContent: "Answer again" }),
    );
    const result = element("div", { className: "result" });
    result.setAttribute("role", "status");
    form.append(fieldset, act, result);
    form.addEventListener("submit", this.#commit);
    form.querySelector(".again")?.addEventListener("click", this.#again);
    fieldset.addEventListener("change", () => result.replaceChildren());
    // Slides and course pages move on by arrows and space: those that choose an option must not reach them.
    fieldset.addEventListener("keydown", (event) => {
      if (event.key === " " || event.key.startsWith("Arrow")) event.stopPropagation();
    });
    return form;
  }

  #commit = (event: Event): void => {
    event.preventDefault();
    const form = this.#form;
    const chosen = form?.querySelector<HTMLInputElement>("input:checked");
    if (!form || this.#answer !== null) return;
    if (!chosen) {
      form
        .querySelector(".result")
        ?.replaceChildren(element("p", { textContent: "Choose an answer, then commit to it." }));
      return;
    }
    // Enter in a radio button commits too; the options are about to be disabled.
    form.querySelector<HTMLElement>(".commit")?.focus({ preventScroll: true });
    const option = Number(chosen.value);
    this.#show(option);
    const answers = sharedAnswers();
    answers.set(this.question, option);
    if (!answers.kept && !saidNotKept) {
      saidNotKept = true;
      const textContent = `Your answers are not kept in ${answers.place}.`;
      form.querySelector(".result")?.append(element("p", { className: "note", textContent }));
    }
    const detail = { id: this.question, option, right: this.right === true };
    this.dispatchEvent(new CustomEvent("pe-answer", { detail, bubbles: true, composed: true }));
  };

  #again = (): void => {
    sharedAnswers().remove([this.question]);
    this.#show(null);
    this.focusFirst();
  };

  /** Puts the focus on the first option. */
  focusFirst(): void {
    this.#form?.querySelector("input")?.focus();
  }

  #follow = (): void => {
    const stored = this.#stored();
    if (stored !== this.#answer) this.#show(stored);
  };

  #stored(): number | null {
    const stored = sharedAnswers().get(this.question);
    return stored !== undefined && stored < this.#options.length ? stored : null;
  }

  /** The form as it is before an answer (null) or after. */
  #show(answer: number | null): void {
    const form = this.#form;
    if (!form) return;
    this.#answer = answer;
    const done = answer !== null;
    form.classList.toggle("done", done);
    const labels = form.querySelectorAll<HTMLElement>(".option");
    this.#options.forEach(({ right }, at) => {
      const label = labels[at];
      const radio = label?.querySelector("input");
      const mark = label?.querySelector(".mark");
      if (!label || !radio || !mark) return;
      radio.disabled = done;
      radio.checked = at === answer;
      label.classList.toggle("right", done && right);
      label.classList.toggle("wrong", at === answer && !right);
      mark.textContent = done && right ? "right" : at === answer ? "your answer" : "";
    });
    const commit = form.querySelector(".commit");
    if (commit) {
      // It keeps the focus that it has.
      commit.textContent = done ? "Committed" : "Commit";
      commit.toggleAttribute("aria-disabled", false);
      if (done) commit.setAttribute("aria-disabled", "true");
    }
    const again = form.querySelector<HTMLElement>(".again");
    if (again) again.hidden = !done;
    form.querySelector(".result")?.replaceChildren(...(answer === null ? [] : this.#verdict(answer)));
  }

  #verdict(answer: number): Node[] {
    const chosen = this.#options[answer];
    const right = this.#options.find((option) => option.right);
    if (!chosen || !right) return [];
    if (chosen === right) return [said(["Right."], right.feedback)];
    return [said(["Not so."], chosen.feedback), said(["Right: ", ...copy(right.text), "."], right.feedback)];
  }
}

function said(lead: (Node | string)[], feedback: Element): HTMLElement {
  const block = element("div");
  const strong = element("strong");
  strong.append(...lead);
  block.append(strong, " ", ...copy(feedback));
  return block;
}

const copy = (source: Element): Node[] => [...source.cloneNode(true).childNodes];

function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties);
}

if (!customElements.get("pe-question")) customElements.define("pe-question", PeQuestion);
