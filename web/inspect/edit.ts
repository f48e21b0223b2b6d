// A number of a config changed in its text, so that all else in the text stays as its author wrote it.

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function literalAt(text: string, offset: number): string | null {
  NUMBER.lastIndex = offset;
  return NUMBER.exec(text)?.[0] ?? null;
}

/** The number that is written at the offset; null if another value stands there. */
export function numberAt(text: string, offset: number): number | null {
  const literal = literalAt(text, offset);
  return literal === null ? null : Number(literal);
}

/** The text with another number in place of the one at the offset. */
export function withNumber(text: string, offset: number, value: number): string {
  const literal = literalAt(text, offset) ?? "";
  return `${text.slice(0, offset)}${value}${text.slice(offset + literal.length)}`;
}

/** The text with a further key behind the number at the offset, in the same record. */
export function withKeyBehind(text: string, offset: number, key: string, value: number): string {
  const end = offset + (literalAt(text, offset) ?? "").length;
  const before = text.slice(0, offset);
  const indent = /\n([ \t]*)"[^"\n]*"[ \t]*:[ \t]*$/.exec(before)?.[1];
  const gap = indent === undefined ? " " : `\n${indent}`;
  return `${text.slice(0, end)},${gap}${JSON.stringify(key)}: ${value}${text.slice(end)}`;
}
