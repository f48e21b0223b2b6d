// What needs no browser of embed.html: reading its address, and the messages about its size.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { runnerImport } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const load = async (name) =>
  (await runnerImport(join(web, name), { configFile: false, logLevel: "warn" })).module;
const { readFragment, readQuery, sift, splitHash, writeFragment } = await load("embed/address.ts");
const { announcements, answer, learn } = await load("embed/protocols.ts");
const { titles } = await load("embed/titles.ts");

const RUNS = { seed: 1, numRuns: 2000 };
const fields = {
  "d-model": { kind: "integer", fallback: 64, min: 2, max: 512 },
  "rope-theta": { kind: "number", fallback: 10000, min: 1, max: 1e9 },
  layout: { kind: "choice", fallback: "half", choices: ["half", "interleaved"] },
  lock: { kind: "flag", fallback: false },
  words: { kind: "text", fallback: "", maxLength: 100 },
};
const sifted = (own) => sift(readFragment(own).state, fields);

test("each figure is named with the title that it shows", () => {
  const files = readdirSync(join(web, "figures")).filter((name) => /^pe-.*\.ts$/.test(name));
  const shown = files.map((file) => {
    const [, title] = readFileSync(join(web, "figures", file), "utf8").match(/readonly heading = "(.+)";/);
    return [file.slice(3, -3), title];
  });
  assert.deepEqual(Object.fromEntries(shown), { ...titles });
});

test("the query names the figure, with or without pe-, the id and the preview", () => {
  assert.deepEqual(readQuery("?figure=rope-scores&id=a%20b&preview=1"), {
    figure: "rope-scores",
    id: "a b",
    preview: true,
  });
  assert.deepEqual(readQuery("?figure=pe-rope"), { figure: "rope", id: "", preview: false });
  assert.deepEqual(readQuery(""), { figure: "", id: "", preview: false });
});

test("names are read with _ and with -, and settings stand apart from the state", () => {
  const { state, theme, hide } = readFragment(
    "d_model=32&rope-theta=5e5&hide=d_model,reset export&theme=dark",
  );
  assert.deepEqual(
    [[...state], theme, hide],
    [
      [
        ["d-model", "32"],
        ["rope-theta", "5e5"],
      ],
      "dark",
      "d-model reset export",
    ],
  );
});

test("WordPress's secret is no part of the state", () => {
  assert.deepEqual(splitHash("#d_model=32#?secret=Ab1"), { own: "d_model=32", secret: "Ab1" });
  assert.deepEqual(splitHash("#?secret=Ab1"), { own: "", secret: "Ab1" });
  assert.deepEqual(splitHash("#words=a"), { own: "words=a", secret: "" });
  assert.deepEqual(splitHash(""), { own: "", secret: "" });
});

test("one bad value has its sentence, and the others count", () => {
  const { good, problems } = sifted("d_model=1.5&layout=half&lock=perhaps&words=a+b&size=3");
  assert.deepEqual(
    [...good],
    [
      ["layout", "half"],
      ["words", "a b"],
    ],
  );
  assert.deepEqual(problems, [
    "d-model must be a whole number from 2 to 512, got “1.5”",
    "lock must be true or false, got “perhaps”",
    "“size” is no attribute of this figure, which has d-model, rope-theta, layout, lock, words",
  ]);
});

test("names of what every object has are names like others", () => {
  const { good, problems } = sifted(
    "__proto__=1&constructor=2&toString=3&hasOwnProperty=4&prototype=5&d_model=8",
  );
  assert.deepEqual([...good], [["d-model", "8"]]);
  assert.equal(problems.length, 5);
  assert.equal({}["--proto--"], undefined);
});

test("an address of a hundred thousand wrong names is said in nine sentences, and its good values count", () => {
  const wrong = new Map(Array.from({ length: 100_000 }, (_, i) => [`a${i}`, "1"]));
  const { good, problems } = sift(new Map([...wrong, ["d-model", "12"]]), fields);
  assert.deepEqual([...good], [["d-model", "12"]]);
  assert.equal(problems.length, 9);
  assert.match(problems[7], /^“a7” is no attribute/);
  assert.equal(problems[8], "The address holds 99992 more that this figure cannot take");
});

test("any text can stand after the #", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const { own } = splitHash(`#${text}`);
      const { good } = sift(readFragment(own).state, fields);
      for (const name of good.keys()) assert.ok(Object.hasOwn(fields, name));
    }),
    RUNS,
  );
});

test("what is written after the # is read again as the same state and settings", () => {
  const state = fc.record({
    "d-model": fc.integer({ min: 2, max: 512 }),
    "rope-theta": fc.double({ min: 1, max: 1e9, noNaN: true }),
    layout: fc.constantFrom("half", "interleaved"),
    lock: fc.boolean(),
    words: fc.string({ unit: "binary", maxLength: 100 }),
  });
  const settings = fc.record({
    hide: fc.constantFrom("", "reset", "d-model export"),
    theme: fc.constantFrom("", "auto", "light", "dark"),
  });
  fc.assert(
    fc.property(state, settings, (values, given) => {
      const hash = writeFragment(fields, values, given);
      const { own, secret } = splitHash(hash);
      const { state: read, theme, hide } = readFragment(own);
      assert.deepEqual({ secret, theme, hide }, { secret: "", ...given });
      const { good, problems } = sift(read, fields);
      assert.deepEqual(problems, []);
      for (const [name, { fallback }] of Object.entries(fields))
        assert.equal(good.get(name) ?? String(fallback), String(values[name]), name);
    }),
    RUNS,
  );
});

test("a state of fallbacks leaves the address without a #", () => {
  const fallbacks = Object.fromEntries(
    Object.entries(fields).map(([name, { fallback }]) => [name, fallback]),
  );
  assert.equal(writeFragment(fields, fallbacks, { hide: "", theme: "" }), "");
});

const host = (given = {}) => ({
  id: "a",
  address: "https://b/",
  secret: "",
  asks: false,
  h5p: false,
  ...given,
});
const size = { width: 640, height: 481 };

test("a size is told in the words of each host", () => {
  const always = [
    { type: "posenc:resize", v: 1, id: "a", width: 640, height: 481 },
    { subject: "lti.frameResize", height: 481 },
    '{"subject":"lti.frameResize","height":481}',
    '{"src":"https://b/","context":"iframe.resize","height":481}',
  ];
  assert.deepEqual(announcements(size, host()), always);
  assert.deepEqual(announcements(size, host({ secret: "S1", asks: true, h5p: true })), [
    ...always,
    { message: "height", value: 481, secret: "S1" },
    { type: "iframe-resized", width: 640, height: 481 },
    { context: "h5p", action: "prepareResize", scrollHeight: 481, clientHeight: 481 },
  ]);
});

test("a host that asks for the size is answered in its own words", () => {
  const resized = { type: "iframe-resized", width: 640, height: 481 };
  assert.deepEqual(answer({ type: "iframe-child-init" }, size, host()), resized);
  assert.deepEqual(answer({ type: "iframe-get-child-dimensions" }, size, host()), resized);
  const prepare = { context: "h5p", action: "prepareResize", scrollHeight: 481, clientHeight: 481 };
  assert.deepEqual(answer({ context: "h5p", action: "hello" }, size, host()), prepare);
  assert.deepEqual(answer({ context: "h5p", action: "resize" }, size, host()), prepare);
  const resize = { context: "h5p", action: "resize", scrollHeight: 481 };
  assert.deepEqual(answer({ context: "h5p", action: "resizePrepared" }, size, host()), resize);
  const height = { message: "height", value: 481, secret: "S1" };
  assert.deepEqual(answer({ message: "ready", secret: "S1" }, size, host({ secret: "S1" })), height);
});

test("WordPress's question is answered only with its own secret", () => {
  assert.equal(answer({ message: "ready", secret: "S2" }, size, host({ secret: "S1" })), null);
  assert.equal(answer({ message: "ready", secret: "" }, size, host()), null);
  assert.equal(answer({ message: "ready" }, size, host()), null);
});

test("a host that has asked hears of every later size", () => {
  const known = host();
  for (const data of [{ type: "iframe-get-child-dimensions" }, { context: "h5p", action: "ready" }, {}])
    learn(data, known);
  assert.deepEqual(known, host());
  learn({ type: "iframe-child-init" }, known);
  learn({ context: "h5p", action: "hello" }, known);
  assert.deepEqual(known, host({ asks: true, h5p: true }));
});
