// The inspector: from the text of a config.json to what the model does with it. No page and no file system: the page
// and the command line both stand on this.

import type { Posenc } from "../posenc.ts";
import { checkDuplicates, checkKeys, type EffectOf } from "./check-keys.ts";
import { checkScaled, checkScaling } from "./check-scaling.ts";
import { checkShape } from "./check-shape.ts";
import { checkUse } from "./check-use.ts";
import { type Finding, Findings } from "./finding.ts";
import { checkHeld, type Held } from "./held.ts";
import { JsonError, type JsonText, type Node, readJson } from "./json.ts";
import { type Model, readModel } from "./model.ts";
import { type Numbers, numbersOf, scoreScale } from "./numbers.ts";
import { counted, significant } from "./words.ts";

export interface Question {
  /** Positions of the sequence asked about; 0: at most the trained length. */
  seqLen?: number;
  /** What a running program holds. */
  held?: Held;
}
export interface Inspection {
  findings: Finding[];
  /** null if the text holds no config. */
  model: Model | null;
  /** One for each kind of layer whose values the core takes. */
  numbers: Numbers[];
  /** What the scores are multiplied by; null if unknown. */
  scoreScale: number | null;
}

const NOTHING = { model: null, numbers: [], scoreScale: null };

/** A tree with one record in it replaced. */
function replaced(node: Node, old: ReadonlyMap<string, Node>, next: Map<string, Node>): Node {
  if (node.value === old) return { ...node, value: next };
  if (!(node.value instanceof Map)) return node;
  return {
    ...node,
    value: new Map([...node.value].map(([key, inner]) => [key, replaced(inner, old, next)])),
  };
}

/** The numbers of a tree, without a word about it. */
function silently(core: Posenc, root: Node): Numbers[] {
  const findings = new Findings(() => ({ line: 1, column: 1 }));
  const model = readModel(root, findings);
  return (model?.ropes ?? []).flatMap((rope) => numbersOf(core, rope, 0, findings) ?? []);
}

/** A file made to be odd may have thousands of keys that would change a model of a hundred thousand pairs. */
const MOST_EFFECTS = 20;
const MOST_PAIRS = 4096;

/** What a key would change if it had the name that was meant. */
function effects(core: Posenc, root: Node, before: readonly Numbers[]): EffectOf {
  const pairs = before.reduce((sum, { invFreq }) => sum + invFreq.length, 0);
  let left = pairs > MOST_PAIRS ? 0 : MOST_EFFECTS;
  return (scope, name, meant) => {
    const node = scope.record.get(name);
    if (!node || left === 0) return null;
    left--;
    const record = new Map(scope.record);
    record.delete(name);
    record.set(meant, node);
    const after = silently(core, replaced(root, scope.record, record));
    const changes = after.flatMap((now, i) => {
      const then = before[i];
      return then ? changeOf(then, now) : [];
    });
    return [...new Set(changes)].join(", and ");
  };
}

function changeOf(then: Numbers, now: Numbers): string[] {
  const changes: string[] = [];
  if (then.attentionFactor !== now.attentionFactor) {
    changes.push(
      `change the attention factor from ${significant(then.attentionFactor)} to ${significant(now.attentionFactor)}`,
    );
  }
  if (then.invFreq.length !== now.invFreq.length) {
    changes.push(`turn ${counted(now.invFreq.length, "pair")} instead of ${then.invFreq.length}`);
    return changes;
  }
  const ratios = Array.from(then.invFreq, (w, i) => w / (now.invFreq[i] ?? w));
  const pair = ratios.reduce(
    (best, ratio, i) => (Math.abs(Math.log(ratio)) > Math.abs(Math.log(ratios[best] ?? 1)) ? i : best),
    0,
  );
  const ratio = ratios[pair] ?? 1;
  if (Math.abs(ratio - 1) > 1e-12) {
    changes.push(
      `make pair ${pair} ${significant(ratio > 1 ? ratio : 1 / ratio)} times ${ratio > 1 ? "slower" : "faster"}`,
    );
  }
  return changes;
}

/** Says where frequencies are not finite, or do not fall from pair to pair as far as they turn. */
function checkFrequencies(findings: Findings, { rope, config, invFreq, attentionFactor }: Numbers): void {
  const bad = invFreq.findIndex((w) => !Number.isFinite(w));
  if (bad >= 0 || !Number.isFinite(attentionFactor)) {
    findings.add(
      "not-finite",
      rope.block || "rope_theta",
      null,
      bad >= 0 ? `inv_freq[${bad}] is ${invFreq[bad]}` : `the attention factor is ${attentionFactor}`,
      "smaller values",
    );
    return;
  }
  const fast = invFreq.findIndex((w) => w > 2 * Math.PI);
  if (fast >= 0) {
    findings.add(
      "too-fast",
      rope.block || "rope_theta",
      null,
      `inv_freq[${fast}] is ${invFreq[fast]}: more than a whole turn from one position to the next`,
      "at most 1, the fastest pair of unscaled frequencies",
    );
  }
  const still = config.ropeType === "proportional" ? invFreq.indexOf(0) : -1;
  const turning = still >= 0 ? still : invFreq.length;
  const rise = invFreq.findIndex((w, i) => i < turning && (w <= 0 || (i > 0 && w >= (invFreq[i - 1] ?? 0))));
  if (rise >= 0) {
    const before = rise > 0 ? `, inv_freq[${rise - 1}] is ${invFreq[rise - 1]}` : "";
    findings.add(
      "not-decreasing",
      rope.block || rope.ropeTheta.key || "rope_theta",
      null,
      `inv_freq[${rise}] is ${invFreq[rise]}${before}: the frequencies do not fall from pair to pair`,
      "values under which each pair turns slower than the one before",
    );
  }
}

/** Reads a config.json and says all that is known about its positions. Throws for no text. */
export function inspect(core: Posenc, text: string, question: Question = {}): Inspection {
  const { seqLen = 0, held } = question;
  let json: JsonText;
  try {
    json = readJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const findings = new Findings(() => error.at);
    findings.add("not-json", "", 0, error.message, "the text of a config.json");
    return { findings: findings.list, ...NOTHING };
  }
  const findings = new Findings(json.placeOf);
  checkDuplicates(findings, json.duplicates);
  const model = readModel(json.root, findings);
  if (!model) return { findings: findings.sorted(), ...NOTHING };
  checkShape(model);
  for (const rope of model.ropes) checkScaling(core, rope, model, findings);
  const numbers = model.ropes.flatMap((rope) => numbersOf(core, rope, seqLen, findings) ?? []);
  for (const each of numbers) {
    checkScaled(core, each.rope, model, findings);
    checkFrequencies(findings, each);
  }
  checkKeys(model, effects(core, json.root, numbers));
  checkUse(core, model, numbers, seqLen);
  if (held) checkHeld(core, model, numbers, held, seqLen);
  return { findings: findings.sorted(), model, numbers, scoreScale: scoreScale(core, model, model.ropes[0]) };
}
