// The lesson's page, read as what a course may know of it.

import { sharedAnswers } from "../quiz/answers.ts";
import type { PeQuestion } from "../quiz/pe-question.ts";
import { PeQuiz } from "../quiz/pe-quiz.ts";
import type { Answered, Progress } from "./progress.ts";
import type { Kept } from "./suspend-data.ts";

/** Ids of the sections, without the introduction. */
export const sectionIds = (): string[] =>
  [...document.querySelectorAll("article > section[id]")].map(({ id }) => id);

/** Id of the section that the section list marks, or an empty text. */
export const currentSection = (): string =>
  document.querySelector<HTMLAnchorElement>("nav.sections [aria-current]")?.hash.slice(1) ?? "";

export function readProgress(visited: ReadonlySet<string>): Progress {
  const quiz = document.querySelector("pe-quiz");
  return {
    answers: sharedAnswers().all,
    quiz: quiz instanceof PeQuiz ? quiz.result : { answered: 0, score: 0, total: 0 },
    section: currentSection(),
    visited,
  };
}

/** Of a record, what still is a section or an option of a question here. */
export function stillThere({ visited, answers }: Kept): Pick<Kept, "visited" | "answers"> {
  const sections = sectionIds();
  const options = new Map<string, number>();
  for (const question of document.querySelectorAll("pe-question")) {
    options.set(question.getAttribute("question") ?? "", question.querySelectorAll(".options > li").length);
  }
  return {
    visited: new Set([...visited].filter((id) => sections.includes(id))),
    answers: new Map([...answers].filter(([id, option]) => option < (options.get(id) ?? 0))),
  };
}

export function readAnswered(question: PeQuestion, chosen: number): Answered {
  const words = (selector: string) => [...question.querySelectorAll(`.written ${selector}`)].map(plain);
  const answers = [...question.querySelectorAll<HTMLElement>(".written .answers dl > div")];
  return {
    id: question.question,
    ask: words(".ask")[0] ?? "",
    options: words(".options > li"),
    right: answers.findIndex(({ dataset }) => dataset.right !== undefined),
    chosen,
  };
}

/** Scrolls to a section without moving the frames around this page, as scrollIntoView would. */
export function goTo(section: string): void {
  const target = sectionIds().includes(section) ? document.getElementById(section) : null;
  if (!target) return;
  document.documentElement.classList.remove("opening"); // what lies above it is laid out, and will not move it
  const padding = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  scrollTo({ top: scrollY + target.getBoundingClientRect().top - padding, behavior: "instant" });
}

/** The page's own address, or a name for a page that has none to be found at. */
export function activityId(): string {
  const canonical = document.querySelector<HTMLLinkElement>("link[rel=canonical]")?.href;
  if (canonical) return canonical;
  const { protocol, origin, pathname } = location;
  return /^https?:$/.test(protocol) ? origin + pathname : "urn:posenc:lesson";
}

/** The words of an element; a formula counts once, not also as its source. */
function plain(element: Element): string {
  const copy = element.cloneNode(true) as Element;
  for (const source of copy.querySelectorAll("annotation")) source.remove();
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
}
