// For an address that names no figure: a sentence, and the figures there are, as links to them.

import { quoted } from "../inspect/words.ts";
import { titles } from "./titles.ts";

/** Fills `box`; returns the sentence. */
export function names(box: HTMLElement, wrong: string): string {
  const sentence = wrong ? `There is no figure ${quoted(wrong)}` : "The address names no figure";
  const text = document.createElement("p");
  text.textContent = `${sentence}. Choose one:`;
  const list = document.createElement("ul");
  list.className = "names";
  for (const [name, title] of Object.entries(titles)) {
    const link = document.createElement("a");
    link.href = `?figure=${name}`;
    link.textContent = name;
    const item = document.createElement("li");
    item.append(link, ` ${title}`);
    list.append(item);
  }
  box.replaceChildren(text, list);
  return sentence;
}
