// Text inside other languages. Each function gives a token that its language reads back as exactly the text given.

/** A value of an HTML attribute, in its quotes. Throws a RangeError for NUL, which HTML cannot carry. */
export function htmlValue(text: string): string {
  if (text.includes("\0")) throw new RangeError("an attribute in HTML cannot hold the character NUL");
  // What Markdown and templates would read inside: empty lines, tags, {{ }}.
  return `"${text.replace(/[&"<>{}\t\n\f\r]/g, reference)}"`;
}

const named: Record<string, string> = { "&": "amp", '"': "quot", "<": "lt", ">": "gt" };
const reference = (character: string): string => `&${named[character] ?? `#${character.charCodeAt(0)}`};`;

/** A value of a JSX attribute. JSX reads entities, but no backslashes, in quotes: what is not plain is JavaScript. */
export function jsxValue(text: string): string {
  return /^[\w .,:/+-]*$/.test(text) ? `"${text}"` : `{${JSON.stringify(text)}}`;
}

/** A value in the fragment of an address. Half of a surrogate pair becomes U+FFFD, as in every address. */
export function fragmentValue(text: string): string {
  const encoded = new URLSearchParams([["", text]]).toString().slice(1);
  return encoded.replaceAll("+", "%20").replaceAll("%2C", ",");
}
