// Text from strangers where no page is needed to try it: attributes, addresses, files and command lines. What is tried in
// pages stands in tests/browser/hostile.test.mjs, configs in inspect-fuzz.test.mjs, calls in api-fuzz.test.mjs.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { runnerImport } from "vite";
import { COUNTS, prototypes, stopwatch, TEXTS, texts, textsFor } from "../hostile/values.mjs";
import { GROUPS } from "../mutants/list.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const load = async (name) =>
  (await runnerImport(join(root, "web", name), { configFile: false, logLevel: "warn" })).module;
const { FieldError, parse, readState, readUrl, urlWith } = await load("figures/state.ts");
const { readFragment, readQuery, sift, splitHash, writeFragment } = await load("embed/address.ts");
const { answer, learn } = await load("embed/protocols.ts");
const { readLaunch } = await load("lms/launch.ts");
const { headerBytes, readTable, TableFileError, tablesOf, tensorsIn } = await load("figures/table-file.ts");

/** The fields of every figure by tag, as the manifest tells them. */
const manifest = JSON.parse(readFileSync(join(root, "build/package/custom-elements.json"), "utf8"));
const FIGURES = Object.fromEntries(
  manifest.modules
    .flatMap(({ declarations }) => declarations)
    .map(({ tagName, attributes = [] }) => [tagName, attributes.filter(({ field }) => field)])
    .filter(([tag, attributes]) => tag && attributes.length > 0)
    .map(([tag, attributes]) => [
      tag,
      Object.fromEntries(attributes.map(({ name, field }) => [name, field])),
    ]),
);
const FIELDS = Object.entries(FIGURES).flatMap(([tag, fields]) =>
  Object.entries(fields).map(([name, field]) => ({ tag, name, field })),
);

const say = (context, count, kind, { longest }) =>
  context.diagnostic(
    `hostile values: ${count} ${kind}, the longest ${longest.milliseconds.toFixed(1)} ms: ${longest.what.slice(0, 120)}`,
  );

/** Fails unless the value keeps the rule of its field. */
function keepsRule(field, value) {
  const rule = {
    integer: () => Number.isInteger(value) && value >= field.min && value <= field.max,
    number: () => Number.isFinite(value) && value >= field.min && value <= field.max,
    choice: () => field.choices.includes(value),
    flag: () => typeof value === "boolean",
    text: () => typeof value === "string" && value.length <= field.maxLength,
  };
  assert.ok(rule[field.kind](), `${JSON.stringify(value)} of ${JSON.stringify(field).slice(0, 200)}`);
}

test("all kinds together are 200 000 hostile values and more", (context) => {
  const inNode = Object.entries(COUNTS.node);
  const inPages = Object.entries(COUNTS.browser).map(([kind, count]) => [
    `${kind} in each of 3 browsers`,
    3 * count,
  ]);
  const all = [...inNode, ...inPages];
  const sum = all.reduce((total, [, count]) => total + count, 0);
  context.diagnostic(
    `hostile values: ${all.map(([kind, count]) => `${count} ${kind}`).join(", ")}; in all ${sum}`,
  );
  assert.ok(sum >= 200_000, `${sum}`);
});

test("RELIABILITY.md tells how many values of each kind are tried, and how many mutants there are", () => {
  const text = readFileSync(join(root, "RELIABILITY.md"), "utf8").replace(/(?<=\d) (?=\d{3}\b)/g, "");
  const { "addresses of embed.html": embed, "addresses of the lesson": lesson, ...rest } = COUNTS.node;
  const pages = Object.values(COUNTS.browser);
  const kinds = [...Object.values(rest), embed + lesson, ...pages.map((count) => `${count} × 3`)].map(String);
  const told = [...text.matchAll(/^\|.*\| (\d+(?: × 3)?) \|.*\|$/gm)].map(([, count]) => count);
  assert.deepEqual(told.filter((count) => count !== "143000").sort(), kinds.sort());
  const add = (counts) => counts.reduce((total, count) => total + count, 0);
  const sum = add(Object.values(COUNTS.node)) + 3 * add(pages);
  assert.match(text, new RegExp(`These are ${sum} values`));
  const mutants = add(GROUPS.map((group) => group.mutants.length));
  assert.match(text, new RegExp(`\\| ${mutants}, each killed by a test \\|`));
});

test("60 000 texts for the attributes of all figures are a value that keeps its rule or a sentence", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const all = COUNTS.node["texts for attributes"];
  const each = Math.ceil(all / FIELDS.length);
  let [tried, taken] = [0, 0];
  for (const [i, { tag, name, field }] of FIELDS.entries()) {
    const numRuns = Math.min(each, all - tried);
    fc.assert(
      fc.property(textsFor(field), (text) => {
        let value;
        try {
          value = watch.run(
            () => `${tag} ${name} ${text}`,
            () => parse(name, field, text),
          );
        } catch (error) {
          assert.ok(error instanceof FieldError, `${error.stack}`);
          assert.ok(error.message.startsWith(`${name} must be `), error.message);
          return;
        }
        taken++;
        keepsRule(field, value);
        // what a figure writes into its attributes is read as the same value
        assert.ok(
          Object.is(parse(name, field, String(value)), value + (typeof value === "number" ? 0 : "")) ||
            parse(name, field, String(value)) === value,
        );
      }),
      { seed: 300 + i, numRuns },
    );
    tried += numRuns;
  }
  assert.equal(tried, all);
  assert.ok(taken > all / 10 && taken < (9 * all) / 10, `${taken} of ${all} taken`);
  assert.equal(prototypes(), before);
  say(context, all, "texts for attributes", watch);
});

/** An address's part after "?" or "#": known and unknown names, hostile values, and text that is no pairs at all. */
const addresses = (names) => {
  const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: texts });
  const pairs = fc.array(fc.tuple(name, texts), { maxLength: 8 });
  const short = pairs.map((list) => list.map(([key, value]) => [key.slice(0, 60), value.slice(0, 300)]));
  return fc.oneof(
    { weight: 4, arbitrary: short.map((list) => `${new URLSearchParams(list)}`) },
    { weight: 1, arbitrary: short.map((list) => list.map(([key, value]) => `${key}=${value}`).join("&")) },
    { weight: 1, arbitrary: texts },
  );
};

test("15 000 addresses of embed.html are read as values that keep their rules, and sentences", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const count = COUNTS.node["addresses of embed.html"];
  const tags = Object.keys(FIGURES);
  const own = (tag) => FIELDS.filter((one) => one.tag === tag).map(({ name }) => name.replaceAll("-", "_"));
  const given = fc
    .constantFrom(...tags)
    .chain((tag) =>
      fc.tuple(
        fc.constant(tag),
        addresses(["figure", "id", "preview", ...own(tag)]),
        addresses([...own(tag), "hide", "theme", "head-dim"]),
      ),
    );
  const message = fc.record({
    type: fc.oneof(fc.constantFrom("iframe-child-init", "iframe-get-child-dimensions"), fc.jsonValue()),
    context: fc.oneof(fc.constant("h5p"), fc.jsonValue()),
    action: fc.oneof(fc.constantFrom("hello", "resize", "resizePrepared", "ready"), fc.jsonValue()),
    message: fc.oneof(fc.constant("ready"), fc.jsonValue()),
    secret: fc.jsonValue(),
  });
  let [good, bad] = [0, 0];
  fc.assert(
    fc.property(given, message, ([tag, search, hash], heard) => {
      watch.run(
        () => `${tag}?${search}#${hash}`,
        () => {
          const query = readQuery(`?${search}`);
          assert.deepEqual(
            [typeof query.figure, typeof query.id, typeof query.preview],
            ["string", "string", "boolean"],
          );
          const { own: text, secret } = splitHash(`#${hash}`);
          assert.match(secret, /^[A-Za-z0-9]*$/);
          const fragment = readFragment(text);
          const read = sift(fragment.state, FIGURES[tag]);
          good += read.good.size;
          bad += read.problems.length;
          assert.ok(read.problems.length <= 9, `${read.problems.length} sentences`);
          for (const sentence of read.problems) {
            assert.match(sentence, /must be|is no attribute of this figure|The address holds/);
            assert.ok(sentence.length < 1000, `${sentence.length} characters`);
          }
          const state = readState(FIGURES[tag], (name) => read.good.get(name) ?? null);
          for (const [name, field] of Object.entries(FIGURES[tag])) keepsRule(field, state[name]);
          // the address that is written for it holds the same state
          const again = readFragment(writeFragment(FIGURES[tag], state, fragment).replace(/^#/, ""));
          const back = readState(FIGURES[tag], (name) => again.state.get(name) ?? null);
          const wellFormed = (values) => JSON.stringify(values).replace(/\\ud[89a-f]../g, "\ufffd");
          assert.equal(wellFormed(back), wellFormed(state));
          const host = { id: "", address: "", secret, asks: false, h5p: false };
          learn(heard, host);
          const reply = answer(heard, { width: 300, height: 200 }, host);
          assert.ok(reply === null || typeof reply === "object");
        },
      );
    }),
    { seed: 401, numRuns: count },
  );
  assert.ok(good > count / 20 && bad > count, `${good} values taken, ${bad} sentences`);
  assert.equal(prototypes(), before);
  say(context, count, "addresses of embed.html", watch);
});

test("15 000 addresses of the lesson give states that keep their rules, and a store only of https", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const count = COUNTS.node["addresses of the lesson"];
  const keys = FIELDS.map(({ tag, name }) => `${tag.slice(3)}.${name}`);
  const course = ["endpoint", "auth", "actor", "activity_id", "registration", "mastery_score"];
  const store = fc.record(
    {
      endpoint: fc.oneof(
        texts,
        fc.constantFrom(
          "https://lrs.example/xapi",
          "http://lrs.example",
          "https://a:b@lrs.example/",
          "javascript:1",
        ),
      ),
      auth: fc.oneof(texts, fc.constant("Basic abc")),
      actor: fc.oneof(texts, fc.json(), fc.constant('{"mbox":"mailto:a@b.c","__proto__":{"x":1}}')),
      activity_id: texts,
      registration: texts,
      mastery_score: fc.oneof(texts, fc.constantFrom("101", "50", "-1", "1e1")),
    },
    { requiredKeys: [] },
  );
  let stores = 0;
  fc.assert(
    fc.property(
      addresses([...keys, ...course]),
      store,
      fc.constantFrom(...Object.keys(FIGURES)),
      (query, given, tag) => {
        watch.run(
          () => `${tag}?${query}`,
          () => {
            globalThis.location = new URL(`https://lesson.example/?${query}`);
            const found = readUrl(tag.slice(3), FIGURES[tag]);
            for (const [name, text] of Object.entries(found)) {
              try {
                keepsRule(FIGURES[tag][name], parse(name, FIGURES[tag][name], text));
              } catch (error) {
                assert.ok(error instanceof FieldError, `${error.stack}`);
              }
            }
            const state = readState(FIGURES[tag], () => null);
            assert.equal(urlWith(tag.slice(3), FIGURES[tag], state).origin, "https://lesson.example");
            const search = new URLSearchParams(
              Object.entries(given).map(([name, text]) => [name, text.slice(0, 400)]),
            );
            for (const text of [`?${search}`, `?${query}`]) {
              const launch = readLaunch(text);
              if (launch.store) {
                stores++;
                assert.match(launch.store.statements, /^(https:|http:\/\/(localhost|127\.0\.0\.1)[:/])/);
                assert.doesNotMatch(launch.store.auth, /[\r\n]/);
              }
              if (launch.problem) assert.match(launch.problem, /^(endpoint|auth) must /);
              assert.ok(launch.mastery === null || (launch.mastery >= 0 && launch.mastery <= 100));
            }
          },
        );
      },
    ),
    { seed: 402, numRuns: count },
  );
  delete globalThis.location;
  assert.ok(stores > count / 100, `only ${stores} stores`);
  assert.equal(prototypes(), before);
  say(context, count, "addresses of the lesson", watch);
});

const npy = (header, data, version = 1) => {
  const text = Buffer.from(header, "utf8");
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  if (version === 1) length.writeUInt16LE(text.length & 0xffff);
  else length.writeUInt32LE(text.length);
  return Buffer.concat([Buffer.from([0x93, ...Buffer.from("NUMPY"), version, 0]), length, text, data]);
};
const safetensors = (header, data, announced) => {
  const text = Buffer.from(header, "utf8");
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(announced ?? BigInt(text.length));
  return Buffer.concat([length, text, data]);
};

test("12 000 files of any bytes are opened or refused by a sentence, and only their one table is read", (context) => {
  const before = prototypes();
  const watch = stopwatch();
  const count = COUNTS.node["bytes of files"];
  const odd = fc.oneof(
    fc.integer(),
    fc.double(),
    texts,
    fc.constant(null),
    fc.array(fc.maxSafeInteger(), { maxLength: 9 }),
  );
  const data = fc.uint8Array({ minLength: 24, maxLength: 24 });
  const dict = fc
    .record({
      descr: fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom("<f4", ">f4", "<f8", "<f2", "|u1", "=f4") },
        { weight: 1, arbitrary: texts },
      ),
      order: fc.constantFrom("True", "False", "False", "None"),
      shape: fc.oneof(
        fc.constantFrom("(2, 3)", "(3, 2,)"),
        fc.constantFrom(
          "(3, 1)",
          "(1, 12)",
          "(6,)",
          "()",
          "(0, 3)",
          "(-1, 3)",
          "(99999999999999999999, 2)",
          "(1e3,)",
        ),
        fc.constantFrom("(2**31, 2**31)", "[2, 3]", "(2L, 3L)"),
      ),
      more: fc.constantFrom("", "", "", "", ", '__proto__': True", ", 'descr': '<f4'", "} {", "'"),
    })
    .map(
      ({ descr, order, shape, more }) =>
        `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}${more}, }\n`,
    );
  const entry = fc.oneof(
    fc.record({
      dtype: fc.constantFrom("F32", "F32", "BF16", "F16", "F64", "I64", "constructor"),
      shape: fc.constantFrom([2, 3], [3, 2], [6], [], [0, 3], [2 ** 31, 2 ** 31], [1, 12], [3, 1]),
      data_offsets: fc.constantFrom([0, 24], [0, 12], [24, 0], [0, 2 ** 53], [12, 24]),
    }),
    fc.record({ dtype: odd, shape: odd, data_offsets: odd }, { requiredKeys: [] }),
  );
  const names = fc.oneof(
    fc.constantFrom("wpe.weight", "__proto__", "__metadata__", "constructor", ""),
    texts,
  );
  const file = fc.oneof(
    fc
      .tuple(dict, data, fc.constantFrom(1, 1, 2, 3, 0, 255))
      .map(([header, rest, version]) => ["a.npy", npy(header, rest, version)]),
    fc
      .tuple(fc.dictionary(names, entry, { maxKeys: 3 }), data)
      .map(([header, rest]) => ["b.safetensors", safetensors(JSON.stringify(header), rest)]),
    fc
      .tuple(fc.json(), data, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
      .map(([header, rest, length]) => ["c.safetensors", safetensors(header, rest, length)]),
    fc.tuple(
      fc.constantFrom("d.npy", "e.safetensors", "f.txt", "\u202eypn.npy"),
      fc.uint8Array({ maxLength: 60 }),
    ),
  );
  let opened = 0;
  fc.assert(
    fc.property(file, fc.nat(1000), ([name, bytes], cut) => {
      const given = new Uint8Array(cut > 800 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes);
      watch.run(
        () => `${name}, ${given.length} bytes`,
        () => {
          try {
            const length = headerBytes(name, given.subarray(0, 12), given.length);
            for (const tensor of tablesOf(tensorsIn(name, given.subarray(0, length), given.length))) {
              const table = readTable(tensor, given.subarray(tensor.begin, tensor.end));
              assert.equal(table.values.length, table.rows * table.columns);
              opened++;
            }
          } catch (error) {
            assert.ok(error instanceof TableFileError, `${error.stack}`);
            assert.match(
              error.message,
              /^(Magic|Version|Header|Header length|Data|File name|Tensor “.*”)(:| must) /s,
            );
            assert.ok(error.message.length < 400, `${error.message.length} characters`);
          }
        },
      );
    }),
    { seed: 403, numRuns: count },
  );
  assert.ok(opened > count / 200, `only ${opened} tables opened`);
  assert.equal(prototypes(), before);
  say(context, count, "bytes of files", watch);
});

test("400 command lines end with 0, 1 or 2 and a sentence, without a stack", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "posenc-hostile-"));
  try {
    const files = [
      ...TEXTS,
      '{"hidden_size":64,"num_attention_heads":4,"model_type":"llama","rope_theta":1e4}',
    ].map((text, i) => {
      const path = join(folder, `${i}.json`);
      writeFileSync(path, text);
      return path;
    });
    const own = {
      table: ["--d-model=8", "seq-len", "base", "layout", "first-position", "position-step", "format"],
      rope: [
        "--head-dim=8",
        "rotary-dim",
        "rope-theta",
        "rope-type",
        "factor",
        "what",
        "positions",
        "seq-len",
      ],
      alibi: ["--num-heads=4", "alibi-bias-max", "format", "seq-len"],
      t5: ["--from=-4", "num-buckets", "max-distance", "to", "format"],
    };
    const words = fc.constantFrom(
      "cos",
      "json",
      "npy",
      "csv",
      "yarn",
      "halves",
      "0,1,2",
      "64",
      "3",
      "8",
      "1.5",
      "-1",
    );
    const part = (names) =>
      fc
        .tuple(
          fc.constantFrom(...names),
          fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: texts }),
        )
        // a NUL ends a real argument, and any path could be written to
        .map(([name, value]) => `--${name}=${value.replaceAll("\0", "").slice(0, 3000)}`)
        .filter((arg) => !arg.startsWith("--o"));
    const sound = Object.entries(own).map(([name, [first, ...names]]) =>
      fc.array(part([...names, "constructor"]), { maxLength: 3 }).map((parts) => [name, first, ...parts]),
    );
    const inspected = fc.tuple(
      fc.constantFrom(...files),
      fc.array(part(["seq-len", "json", "preset", "held"]), { maxLength: 1 }),
    );
    const wild = fc.array(
      texts.map((text) => text.replaceAll("\0", "").slice(0, 3000)),
      { minLength: 1, maxLength: 3 },
    );
    const lines = fc
      .oneof(
        ...sound,
        inspected.map(([path, parts]) => ["inspect", path, ...parts]),
        wild,
      )
      // standard input holds the lines themselves
      .filter((args) => !args.some((arg) => /(^|=)-$|^-\w*o/.test(arg)));
    const count = COUNTS.node["command lines"];
    const all = fc.sample(lines, { seed: 404, numRuns: count });
    const child = spawnSync(process.execPath, [join(root, "tests/node/cli-many.mjs")], {
      input: JSON.stringify(all),
      maxBuffer: 2 ** 30,
      cwd: folder,
    });
    assert.equal(child.status, 0, child.stderr.toString().slice(-2000));
    const told = JSON.parse(child.stdout.toString());
    assert.equal(told.length, count);
    const statuses = { 0: 0, 1: 0, 2: 0 };
    let longest = { milliseconds: 0 };
    for (const [i, { status, thrown, out, err, milliseconds }] of told.entries()) {
      const line = JSON.stringify(all[i]).slice(0, 400);
      assert.equal(thrown, null, line);
      assert.ok(status in statuses, `${status}: ${line}`);
      statuses[status]++;
      if (status === 2) assert.match(err, /^posenc: .+\n$/s, line);
      assert.doesNotMatch(err, /\n\s+at |\[object Object\] /, line);
      const shown = all[i].join().includes("npy") ? err : err + out;
      assert.ok(!["\u001b", "\u202e", "\u0007"].some((sign) => shown.includes(sign)), line);
      if (milliseconds > longest.milliseconds) longest = { milliseconds, what: line };
    }
    for (const [status, found] of Object.entries(statuses))
      assert.ok(found > count / 50, `${found} of status ${status}`);
    say(context, count, `command lines (${JSON.stringify(statuses)})`, { longest });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
