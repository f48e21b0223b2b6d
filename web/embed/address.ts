// What the address of embed.html says: which figure in the query, its state and settings after the "#".
//   embed.html?figure=rope&id=a&preview=1#head_dim=64&hide=reset,export&theme=dark

import { type Field, type Fields, parse } from "../figures/state.ts";
import { quoted } from "../inspect/words.ts";

export interface Query {
  /** A figure's name, or whatever stands in its place. */
  figure: string;
  /** Comes back in every message. */
  id: string;
  /** Whether the figure waits for a click. */
  preview: boolean;
}

export function readQuery(search: string): Query {
  const query = new URLSearchParams(search);
  const text = (name: string): string => query.get(name) ?? "";
  return { figure: text("figure").replace(/^pe-/, ""), id: text("id"), preview: text("preview") === "1" };
}

export interface Fragment {
  /** Values by attribute, not yet checked. */
  state: Map<string, string>;
  /** A theme, not yet checked, or "". */
  theme: string;
  /** Names separated by spaces, as the attribute takes them. */
  hide: string;
}

const asAttribute = (name: string): string => name.replaceAll("_", "-");

/** WordPress appends "#?secret=…" to the addresses of its frames, and expects it in messages. */
const SECRET = /#?\?secret=([A-Za-z0-9]+)$/;

/** The two parts of what follows the address: the author's, and WordPress's secret or "". */
export function splitHash(hash: string): { own: string; secret: string } {
  return { own: hash.replace(SECRET, "").replace(/^#/, ""), secret: SECRET.exec(hash)?.[1] ?? "" };
}

/** Reads names with "_" or "-", in any order; the last one counts. Takes any text. */
export function readFragment(own: string): Fragment {
  const state = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(own)) state.set(asAttribute(name), value);
  const take = (name: string): string => {
    const value = state.get(name) ?? "";
    state.delete(name);
    return value;
  };
  const hidden = take("hide").split(/[\s,]+/);
  return { state, theme: take("theme"), hide: hidden.filter(Boolean).map(asAttribute).join(" ") };
}

/** The "#" with what differs from the fallbacks; "" where nothing does. */
export function writeFragment(
  fields: Fields,
  state: Readonly<Record<string, unknown>>,
  { hide, theme }: Pick<Fragment, "hide" | "theme">,
): string {
  const pairs = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) {
    if (state[name] !== field.fallback) pairs.set(name.replaceAll("-", "_"), String(state[name]));
  }
  if (hide) pairs.set("hide", hide);
  if (theme) pairs.set("theme", theme);
  const text = pairs.toString();
  return text && `#${text}`;
}

/** So many sentences are enough to see what is wrong with an address. */
const MOST_PROBLEMS = 8;

/** What of a state the figure can take, and a sentence for each of the first values that it cannot. */
export function sift(
  state: ReadonlyMap<string, string>,
  fields: Fields,
): { good: Map<string, string>; problems: string[] } {
  const good = new Map<string, string>();
  const problems: string[] = [];
  let more = 0;
  for (const [name, text] of state) {
    try {
      if (!Object.hasOwn(fields, name)) {
        const known = Object.keys(fields).join(", ");
        throw new RangeError(`${quoted(name)} is no attribute of this figure, which has ${known}`);
      }
      parse(name, fields[name] as Field, text);
      good.set(name, text);
    } catch (error) {
      if (problems.length < MOST_PROBLEMS) problems.push((error as Error).message);
      else more++;
    }
  }
  if (more > 0) problems.push(`The address holds ${more} more that this figure cannot take`);
  return { good, problems };
}
