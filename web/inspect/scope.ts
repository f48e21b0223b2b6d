// A record of the config as something to ask: gives the value of a key with where it came from, refuses a wrong kind
// with the key and the place, and remembers what was asked for, so that the rest can be listed as unread.

import type { Findings } from "./finding.ts";
import { join, kindOf, type Node } from "./json.ts";

/** A value and its origin: the path of a key, or "" and the reason for a default. */
export interface Sourced<T> {
  value: T;
  key: string;
  /** Where the key stands in the text; null for a default. */
  offset: number | null;
  /** Why this value, where no key gives it. */
  why: string;
}
export const taken = <T>(value: T, why: string): Sourced<T> => ({ value, key: "", offset: null, why });

/** The first of the names that is given; those after it are not asked for. */
export function firstGiven<T>(
  names: readonly string[],
  ask: (name: string) => Sourced<T> | null,
): Sourced<T> | null {
  for (const name of names) {
    const found = ask(name);
    if (found) return found;
  }
  return null;
}

/** Counts and lengths of a model. Beyond, no array could hold what they count. */
export const MAX_COUNT = 2 ** 31 - 1;

export class Scope {
  readonly read = new Set<string>();
  constructor(
    readonly record: ReadonlyMap<string, Node>,
    readonly path: string,
    readonly findings: Findings,
  ) {}

  keyOf(name: string): string {
    return join(this.path, name);
  }
  /** The node of a key, null values counting as absent. */
  node(name: string): Node | null {
    this.read.add(name);
    const node = this.record.get(name);
    return node === undefined || node.value === null ? null : node;
  }
  /** Whether the key is there and null. */
  isNull(name: string): boolean {
    return this.record.get(name)?.value === null;
  }

  #sourced<T>(name: string, rule: string, accept: (value: unknown) => T | null): Sourced<T> | null {
    const node = this.node(name);
    if (node === null) return null;
    const value = accept(node.value);
    const key = this.keyOf(name);
    if (value !== null) return { value, key, offset: node.offset, why: "" };
    this.findings.add(
      "wrong-kind",
      key,
      node.offset,
      `${key} is ${kindOf(node.value)}, which is not used`,
      rule,
    );
    return null;
  }

  number(name: string): Sourced<number> | null {
    return this.#sourced(name, "a finite number", (value) =>
      typeof value === "number" && Number.isFinite(value) ? value : null,
    );
  }
  /** A count: an integer of at least 1. */
  count(name: string): Sourced<number> | null {
    return this.#sourced(name, `an integer from 1 to ${MAX_COUNT}`, (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= MAX_COUNT ? value : null,
    );
  }
  /** A length in positions; models write 1e6 and 4096.0 too. */
  length(name: string): Sourced<number> | null {
    return this.#sourced(name, "a whole number of positions from 1 to 2^53", (value) =>
      typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : null,
    );
  }
  truth(name: string): Sourced<boolean> | null {
    return this.#sourced(name, "true or false", (value) => (typeof value === "boolean" ? value : null));
  }
  text(name: string): Sourced<string> | null {
    return this.#sourced(name, "a text", (value) => (typeof value === "string" ? value : null));
  }
  numbers(name: string): Sourced<Float64Array> | null {
    const list = this.#sourced(name, "a list of numbers", (value) => (Array.isArray(value) ? value : null));
    if (list === null) return null;
    const bad = list.value.findIndex(({ value }) => typeof value !== "number" || !Number.isFinite(value));
    const node = list.value[bad];
    if (node === undefined) {
      return { ...list, value: Float64Array.from(list.value, ({ value }) => value as number) };
    }
    const key = `${list.key}[${bad}]`;
    this.findings.add("wrong-kind", key, node.offset, `${key} is ${kindOf(node.value)}`, "a finite number");
    return null;
  }
  /** The scope of a record below; null if there is none, or another kind in its place. */
  scope(name: string): Scope | null {
    const inner = this.#sourced(name, "an object", (value) => (value instanceof Map ? value : null));
    return inner && new Scope(inner.value, inner.key, this.findings);
  }
  /** Scopes of the records below under one of the names, or under any. */
  records(names: readonly string[] | null): Scope[] {
    return [...this.record].flatMap(([name, { value }]) => {
      if (!(value instanceof Map) || (names && !names.includes(name))) return [];
      this.read.add(name);
      return [new Scope(value, this.keyOf(name), this.findings)];
    });
  }
  unread(): [name: string, node: Node][] {
    return [...this.record].filter(([name]) => !this.read.has(name));
  }
}
