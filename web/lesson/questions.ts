// A question with options: `:::predict id Question` before a figure, `:::quiz id Question` in the quiz.
//
//   :::predict clocks-fastest Which pair turns fastest?
//   - [x] Pair 0
//
//     What is said to those who chose it.
//   - [ ] The last pair
//
//     Why this one tempts and fails.
//   :::
//
// It becomes HTML that is complete without script; <pe-question> makes it something to answer.

import type MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { escapeHtml } from "./code.ts";

export const questionKinds = ["predict", "quiz"] as const;
export type QuestionKind = (typeof questionKinds)[number];

interface Option {
  right: boolean;
  /** Inline tokens. */
  text: Token[];
  /** Block tokens. */
  feedback: Token[];
}

export interface Question {
  kind: QuestionKind;
  id: string;
  /** Inline tokens. */
  ask: Token[];
  options: Option[];
}

type Problem = (message: string, line?: number) => void;

/** Replaces the tokens of each question by one, of type "question_block", whose meta is the Question. */
export function gatherQuestions(
  tokens: Token[],
  inline: (text: string, line?: number) => Token[],
  problem: Problem,
): Token[] {
  const gathered: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const open = tokens[at] as Token;
    const kind = questionKinds.find((name) => open.type === `container_${name}_open`);
    if (!kind) {
      gathered.push(open);
      continue;
    }
    const end = closing(tokens, at);
    const line = open.map?.[0];
    const [, id, ask] = /^\s*\S+\s+([a-z][a-z0-9-]*)\s+(.+)$/.exec(open.info) ?? [];
    if (!id || !ask) problem(`:::${kind} needs an id and a question`, line);
    else {
      const report: Problem = (message, place) => problem(`"${id}" ${message}`, place ?? line);
      const options = readOptions(tokens.slice(at + 1, end), report);
      open.type = "question_block";
      open.nesting = 0;
      open.meta = { kind, id, ask: inline(ask.trim(), line), options } satisfies Question;
      gathered.push(open);
    }
    at = end;
  }
  return gathered;
}

function readOptions(tokens: Token[], report: Problem): Option[] {
  const options: Option[] = [];
  const wrong = new Set<string>();
  for (let at = 0; at < tokens.length; at += 1) {
    const open = tokens[at] as Token;
    if (open.type === "bullet_list_open" || open.type === "bullet_list_close") continue;
    if (open.type !== "list_item_open") {
      if (!wrong.has("other")) report("may hold options only: - [x] or - [ ]", open.map?.[0]);
      wrong.add("other");
      at = open.nesting > 0 ? closing(tokens, at) : at;
      continue;
    }
    const end = closing(tokens, at);
    // paragraph_open, inline, paragraph_close, then the feedback
    const text = tokens[at + 2];
    const first = text?.children?.[0];
    const box = first?.type === "text" ? /^\[([ x])\] */.exec(first.content) : null;
    if (text?.type !== "inline" || !first || !box) report("has an option without [x] or [ ]", open.map?.[0]);
    else {
      first.content = first.content.slice(box[0].length);
      const feedback = tokens.slice(at + 4, end);
      if (feedback.length === 0) report("has an option without feedback", open.map?.[0]);
      options.push({ right: box[1] === "x", text: text.children ?? [], feedback });
    }
    at = end;
  }
  const right = options.filter((option) => option.right).length;
  if (options.length === 0) report("has no option");
  else if (right !== 1) report(`has ${right} right options: it needs exactly one`);
  return options;
}

/** Index of the token that closes the one at `open`. */
function closing(tokens: Token[], open: number): number {
  const { level, type } = tokens[open] as Token;
  const close = type.replace(/_open$/, "_close");
  return tokens.findIndex((token, at) => at > open && token.type === close && token.level === level);
}

/** `label` is HTML that stands above the question. */
export function questionHtml(question: Question, label: string, md: MarkdownIt, env: unknown): string {
  const inline = (tokens: Token[]) => md.renderer.render(tokens, md.options, env);
  const options = question.options.map(({ text }) => `<li>${inline(text)}</li>`);
  const answers = question.options.map(
    ({ right, text, feedback }) =>
      `<div${right ? ' data-right=""' : ""}><dt>${inline(text)}${right ? ' <span class="mark">right</span>' : ""}</dt>` +
      `<dd>${unwrapped(inline(feedback))}</dd></div>`,
  );
  return (
    `<pe-question class="${question.kind}" question="${escapeHtml(question.id)}">\n` +
    `<p class="label">${label}</p>\n<div class="written">\n` +
    `<p class="ask">${inline(question.ask)}</p>\n<ul class="options">\n${options.join("\n")}\n</ul>\n` +
    `<details class="answers"><summary>Answer</summary><dl>\n${answers.join("\n")}\n</dl></details>\n` +
    "</div>\n</pe-question>\n"
  );
}

/** One paragraph needs no <p> of its own. */
function unwrapped(html: string): string {
  const found = /^<p>([\s\S]*)<\/p>\n?$/.exec(html);
  return found?.[1] !== undefined && !found[1].includes("<p>") ? found[1] : html;
}
