// Configs after public reports: for each, the inspector must find what its reporters took days to find.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadPosenc } from "posenc";
import { runnerImport } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const load = async (name) =>
  (await runnerImport(join(root, "web/inspect", name), { configFile: false, logLevel: "warn" })).module;
const { inspect } = await load("inspect.ts");
const { readJson } = await load("json.ts");
const { readHeld } = await load("held.ts");
const { RULES } = await load("rules.ts");
const core = await loadPosenc();

const cases = readdirSync(join(root, "tests/cases")).map((name) => {
  const text = readFileSync(join(root, "tests/cases", name), "utf8");
  return { name, ...JSON.parse(text) };
});

const heldOf = (held) => held && readHeld(readJson(JSON.stringify(held)).root.value);
const findingsOf = ({ config, seq_len, held }) =>
  inspect(core, JSON.stringify(config), { seqLen: seq_len ?? 0, held: heldOf(held) }).findings;

for (const each of cases) {
  test(`${each.report}: ${each.says}`, () => {
    const ids = findingsOf(each).map(({ id }) => id);
    for (const id of each.expect)
      assert.ok(ids.includes(id), `${each.name}: ${id} is not among ${ids.join(", ")}`);
    for (const id of each.absent ?? [])
      assert.ok(!ids.includes(id), `${each.name}: ${id} is among ${ids.join(", ")}`);
  });
}

test("every report that a case stands for is named by a finding that the case expects", () => {
  for (const { name, report, expect } of cases) {
    if (!report.includes("#")) continue; // a defect that was seen, not reported
    const reports = expect.flatMap((id) => RULES[id].reports);
    assert.ok(reports.includes(report), `${name}: ${report} is not among ${reports.join(", ")}`);
  }
});

test("at least forty reports stand as cases", () => {
  assert.ok(new Set(cases.map(({ report }) => report)).size >= 40);
});

test("a case without what the program holds gives none of the findings about it", () => {
  for (const each of cases) {
    const ids = findingsOf({ ...each, held: undefined }).map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => id.startsWith("held-")),
      [],
      each.name,
    );
  }
});

test("no case is met by findings that every config gets", () => {
  const plain = {
    model_type: "llama",
    hidden_size: 4096,
    num_attention_heads: 32,
    rope_theta: 1e4,
    max_position_embeddings: 4096,
  };
  const always = new Set(findingsOf({ config: plain }).map(({ id }) => id));
  for (const { name, expect } of cases)
    assert.ok(
      expect.some((id) => !always.has(id)),
      name,
    );
});
