// The scripts that bring the tools and add up the tests: what they conclude from what other programs print.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNode } from "../../scripts/setup.mjs";
import { countBrowser, countCatch2, countNode } from "../../scripts/test.mjs";

test("a Node that is too old is named with the command that brings a newer one", () => {
  for (const version of ["9.11.2", "18.20.4", "20.18.3", "21.7.3", "22.11.0"]) {
    assert.throws(() => checkNode(version), {
      message: new RegExp(`^Node ${version} is too old .*: npm install`),
    });
  }
  for (const version of ["20.19.0", "20.20.2", "22.12.0", "100.1.0"])
    assert.doesNotThrow(() => checkNode(version));
});

test("Catch2's closing line is counted, whether all passed or some failed", () => {
  const closing = (line) => `====\n${line}\nassertions: 12 | 11 passed | 1 failed\n\n`;
  assert.deepEqual(countCatch2("====\nAll tests passed (1812 assertions in 16 test cases)\n"), {
    passed: 16,
  });
  assert.deepEqual(countCatch2("====\nAll tests passed (1 assertion in 1 test case)\n"), { passed: 1 });
  assert.deepEqual(countCatch2(closing("test cases:    51 |    50 passed | 1 failed")), {
    passed: 50,
    failed: 1,
  });
  assert.deepEqual(countCatch2(closing("test cases: 1 | 1 failed")), { passed: 0, failed: 1 });
  assert.deepEqual(countCatch2("====\nNo tests ran\n"), { passed: 0, failed: 0 });
  assert.deepEqual(countCatch2("AddressSanitizer: heap-buffer-overflow\n"), { passed: 0, failed: 0 });
});

test("of node's tests, whatever did not pass has failed, a skipped one too", () => {
  const closing = "ℹ tests 7\nℹ suites 0\nℹ pass 4\nℹ fail 1\nℹ cancelled 0\nℹ skipped 2\nℹ todo 0\n";
  assert.deepEqual(countNode(closing), { passed: 4, failed: 3 });
  assert.deepEqual(countNode("Could not find a file\n"), { passed: 0, failed: 0 });
});

test("the browser runner's closing line is counted, and its absence is no test at all", () => {
  assert.deepEqual(countBrowser("ok 1 - a (0.1 s)\n20 passed, 2 failed\n"), { passed: 20, failed: 2 });
  assert.deepEqual(countBrowser("Error: cannot launch\n"), { passed: 0, failed: 0 });
});
