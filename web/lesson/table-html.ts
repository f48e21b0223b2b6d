// A computed table as HTML: numbers to the right, in a box of its own that scrolls on phones.

import type { Table } from "./tables.ts";
import { groupDigits } from "./values.ts";

/** `inline` renders what a cell of text may hold: formulas, code, links. */
export function tableHtml({ caption, head, rows }: Table, inline: (text: string) => string): string {
  const numeric = head.map((_, column) => rows.every((row) => isNumeric(row[column])));
  const cell = (value: string | number, column: number, tag: string): string => {
    const text = typeof value === "number" ? groupDigits(value) : inline(groupDigits(value));
    const number = numeric[column] ? ' class="number"' : "";
    // A header without words heads nothing.
    if (tag === "td" || text === "") return `<td${number}>${text}</td>`;
    return `<th scope="${tag}"${number}>${namedHeader(text)}</th>`;
  };
  const line = (cells: string[]) => `<tr>${cells.join("")}</tr>\n`;
  const body = rows.map((row) =>
    line(row.map((value, column) => cell(value, column, column === 0 && !numeric[0] ? "row" : "td"))),
  );
  return (
    `<div class="table scroll"><table><caption><span>${inline(caption)}</span></caption>\n` +
    `<thead>${line(head.map((value, column) => cell(value, column, "col")))}</thead>\n` +
    `<tbody>${body.join("")}</tbody></table></div>\n`
  );
}

/** Some readers find no words in a header that is one formula, so they get its letters. */
function namedHeader(text: string): string {
  if (text.replace(/<math[\s\S]*?<\/math>/g, "") !== "") return text;
  const words = text
    .replace(/<[^>]*>|\u2061/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return `<span class="visually-hidden">${words}</span>${text.replace(/<math/g, '<math aria-hidden="true"')}`;
}

/** 12.5, −3, 40 %, 1.5e-3, and $1.5 \times 10^{-3}$. */
const numeral = /^[−-]?[\d\u202f.,]*\d([eE][−-]?\d+)?( ?%)?$|^\$-?[\d.]+ \\times 10\^\{-?\d+\}\$$/;

function isNumeric(value: string | number | undefined): boolean {
  return typeof value === "number" || /^[—–]?$/.test(value ?? "") || numeral.test(value ?? "");
}
