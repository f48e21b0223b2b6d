// A config in the address of a page: base64url of its text, so that a link carries the whole question.

/** Longest that is written: nginx and Apache refuse an address of 8 kB unless told otherwise. */
export const MAX_LINK = 7_500;
/** Longest that is read. */
export const MAX_LINKED = 16_000;

/** The text as base64url; null if it would be too long for a link. */
export function toLink(text: string): string | null {
  if (text.length > 8 * MAX_LINK) return null; // no spaces make up for that
  const bytes = new TextEncoder().encode(compact(text));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const encoded = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return encoded.length <= MAX_LINK ? encoded : null;
}

/** The text again; null for what is no such link. */
export function fromLink(encoded: string): string | null {
  if (encoded.length > MAX_LINKED || !/^[\w-]*$/.test(encoded)) return null;
  try {
    const binary = atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Without the spaces between tokens; strings, duplicate keys and slips stay as they are. */
const compact = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : ""));

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+|"/g;
const MAX_INDENT = 20;

/** A text from a link with a line for each key again; its tokens stay as they are. */
export function spaced(text: string): string {
  const open: string[] = [];
  const line = () => `\n${"  ".repeat(Math.min(open.length, MAX_INDENT))}`;
  let out = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const last = out.at(-1) ?? "{[";
    const closes = token === "}" || token === "]";
    const opener = closes ? open.pop() : open.at(-1);
    if (closes ? opener === "{" && last !== "{" : opener === "{" && "{,".includes(last)) out += line();
    else if (!closes && ",:".includes(last)) out += " ";
    out += token;
    if (token === "{" || token === "[") open.push(token);
  }
  return out && `${out}\n`;
}
