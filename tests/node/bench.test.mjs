// What the benchmark says of its figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, fell } from "../bench/report.mjs";

test("a ratio that has fallen by more than a quarter is named with both figures, and no other", () => {
  const recorded = { "table small": { a: 10, b: 10, gone: 5 } };
  assert.deepEqual(fell(recorded, { "table small": { a: 7.4, b: 7.6, fresh: 1 }, "other small": { a: 1 } }), [
    "table small, a: ×7.4, recorded ×10",
  ]);
});

test("ratios of peers that ran are recorded, not posenc's own", () => {
  const rows = [
    { name: "posenc", ratio: 1 },
    { name: "posenc without SIMD", ratio: 3 },
    { name: "a", ratio: 12.345 },
    { name: "b", failed: "no such operator" },
  ];
  assert.deepEqual(compare([{ task: "table", size: "small", rows }]), { "table small": { a: 12.3 } });
});
