// One line above the lesson that says whether the course records the visit, and what went wrong with it.

export class Status {
  #line = document.createElement("p");
  #sentence = "";
  /** By who reported it. */
  #problems = new Map<string, string>();

  /** Puts the line, still empty, into the page: screen readers announce what comes into it later. */
  constructor(main: Element) {
    this.#line.className = "course";
    this.#line.setAttribute("role", "status");
    main.prepend(this.#line);
  }

  /** What is true as long as nothing goes wrong. */
  say(sentence: string): void {
    this.#sentence = sentence;
    this.#show();
  }

  /** The current problem of `source`; null: none any more. */
  problem(source: string, sentence: string | null): void {
    if (sentence === null) this.#problems.delete(source);
    else this.#problems.set(source, sentence);
    this.#show();
  }

  #show(): void {
    const text = this.#problems.size > 0 ? [...this.#problems.values()].join(" ") : this.#sentence;
    this.#line.classList.toggle("failed", this.#problems.size > 0);
    // Set again, it would be announced again.
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }
}
