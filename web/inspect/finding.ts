// What the inspector says of a config, as a linter does: a rule's name, how bad it is, the key, what the key does, what
// it should be, and the public reports of others who met the same thing.

import type { Place } from "./json.ts";
import { RULES, type RuleId } from "./rules.ts";

export type Severity = "error" | "warning" | "note";

export interface Finding {
  id: RuleId;
  severity: Severity;
  /** The path of the key, or "" for the whole text. */
  key: string;
  /** Where it stands, if it stands there. */
  at: Place | null;
  /** What it does. */
  does: string;
  /** What it should be; "" where nothing is to be changed. */
  should: string;
  /** Public reports that it resembles: owner/repository#number. */
  reports: readonly string[];
}

/** Where the findings of one inspection gather. */
export class Findings {
  readonly list: Finding[] = [];
  constructor(readonly placeOf: (offset: number) => Place) {}

  add(id: RuleId, key: string, offset: number | null, does: string, should = ""): void {
    const { severity, reports } = RULES[id];
    const at = offset === null ? null : this.placeOf(offset);
    this.list.push({ id, severity, key, at, does, should, reports });
  }

  has(id: RuleId): boolean {
    return this.list.some((finding) => finding.id === id);
  }

  /** The worst first; within a severity, in the order of the text. */
  sorted(): Finding[] {
    const rank: Record<Severity, number> = { error: 0, warning: 1, note: 2 };
    const line = ({ at }: Finding) => (at ? at.line * 1e6 + at.column : 0);
    return [...this.list].sort((a, b) => rank[a.severity] - rank[b.severity] || line(a) - line(b));
  }
}
