// SCORM 1.2: the session against scorm-again, an independent run-time; what is kept between visits; the package.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { strFromU8, unzipSync } from "fflate";
import { runnerImport } from "vite";
import { scormPackage } from "../../scripts/scorm.mjs";

// All of a browser that scorm-again asks for.
globalThis.window = { addEventListener() {}, removeEventListener() {} };
const { Scorm12API } = await import("scorm-again/scorm12");

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const load = async (name) =>
  (await runnerImport(join(root, "web", name), { configFile: false, logLevel: "warn" })).module;
const { Answers, memoryStorage } = await load("quiz/answers.ts");
const { cmiTimespan } = await load("lms/duration.ts");
const { decode, encode, mostCharacters } = await load("lms/suspend-data.ts");
const { findApi } = await load("lms/find-api.ts");
const { ScormSession } = await load("lms/scorm-session.ts");

const sources = [
  "quiz/questions.md",
  ...readdirSync(join(root, "web/lesson")).map((name) => `lesson/${name}`),
]
  .filter((name) => name.endsWith(".md"))
  .map((name) => readFileSync(join(root, "web", name), "utf8"));
/** Every question's id, and every section's, as the lesson has them. */
const questionIds = sources.flatMap((text) =>
  [...text.matchAll(/^:::(?:predict|quiz) (\S+) /gm)].map(([, id]) => id),
);
const sectionIds = sources.flatMap((text) => /^---\nid: (\S+)/.exec(text)?.[1] ?? []);

/** A course: its run-time, what it has stored, and the next visit to it. `cmi` is what it starts from. */
function course(cmi = {}) {
  const kept = { stored: [], works: true, log: [] };
  const http = {
    processHttpRequest(_url, data) {
      if (!kept.works) return { result: "false", errorCode: 101 };
      kept.stored.push(structuredClone(data.cmi));
      return { result: "true", errorCode: 0 };
    },
    updateSettings() {},
  };
  kept.visit = () => {
    const api = new Scorm12API({ autocommit: false, logLevel: 5, lmsCommitUrl: "/record" }, http);
    api.loadFromJSON(kept.stored.at(-1) ?? cmi, "cmi");
    return new Proxy(api, {
      get(target, name) {
        const member = target[name];
        if (typeof member !== "function") return member;
        return (...args) => {
          kept.log.push([name, ...args].join(" "));
          return member.apply(target, args);
        };
      },
    });
  };
  return kept;
}

/** A session with the sentences that it said, on a clock that the test moves. */
function session(api) {
  const clock = { time: 0 };
  const said = [];
  const visit = new ScormSession(api, { say: (sentence) => said.push(sentence), now: () => clock.time });
  return { visit, said, clock };
}

const progress = (score, answered = score, total = 28) => ({
  answers: new Map(questionIds.slice(0, answered).map((id) => [id, 1])),
  quiz: { answered, score, total },
  section: "rope",
  visited: new Set(["order", "rope"]),
});

/** Console lines of work that is meant to fail are no news. */
function quietly(work) {
  const { warn } = console;
  const lines = [];
  console.warn = (line) => lines.push(line);
  try {
    work(lines);
  } finally {
    console.warn = warn;
  }
}

// The session ----------------------------------------------------------------------------------------------

test("a visit that is put aside is resumed where it was left, with its answers and its score", () => {
  const lms = course();
  const first = session(lms.visit());
  const nothing = first.visit.begin();
  assert.deepEqual([nothing.section, nothing.answers.size, nothing.visited.size], ["", 0, 0]);
  first.visit.report(progress(7, 14));
  first.clock.time = 3_723_900;
  first.visit.end();
  const { core, suspend_data: data } = lms.stored.at(-1);
  assert.deepEqual(core.score, { raw: "25", min: "0", max: "100" });
  assert.equal(core.lesson_status, "incomplete");
  assert.equal(core.exit, "suspend");
  assert.equal(core.session_time, "01:02:03");
  assert.ok(data.length <= 4096);

  const second = session(lms.visit());
  const resumed = second.visit.begin();
  assert.equal(resumed.section, "rope");
  assert.deepEqual([...resumed.answers], [...progress(7, 14).answers]);
  assert.deepEqual([...resumed.visited], ["order", "rope"]);
  assert.deepEqual([...first.said, ...second.said], []);
});

test("the run-time is told 0 to 100 to two decimals, incomplete at first, completed once all is answered", () => {
  const lms = course();
  const { visit, said } = session(lms.visit());
  visit.begin();
  const expected = [
    [0, 0, "0", "incomplete", "suspend"],
    [1, 1, "3.57", "incomplete", "suspend"],
    [26, 27, "92.86", "incomplete", "suspend"],
    [27, 28, "96.43", "completed", ""],
  ];
  for (const [score, answered, raw, status, exit] of expected) {
    visit.report(progress(score, answered));
    visit.commit();
    const { core } = lms.stored.at(-1);
    assert.deepEqual([core.score.raw, core.lesson_status, core.exit], [raw, status, exit]);
  }
  assert.deepEqual(
    said.filter((sentence) => sentence !== null),
    [],
  );
});

test("starting the quiz again costs neither the score nor the status that was reached", () => {
  const lms = course();
  const first = session(lms.visit());
  first.visit.begin();
  first.visit.report(progress(20, 28));
  first.visit.report(progress(0, 0));
  first.visit.end();
  const second = session(lms.visit());
  second.visit.begin();
  second.visit.report(progress(3, 5));
  second.visit.end();
  const { core } = lms.stored.at(-1);
  assert.deepEqual([core.score.raw, core.lesson_status], ["71.43", "completed"]);
});

const withMastery = { core: { credit: "credit" }, student_data: { mastery_score: "80" } };

test("with a mastery score the lesson is passed or failed once the quiz is done, and may be passed later", () => {
  const lms = course(withMastery);
  for (const [score, status] of [
    [22, "failed"],
    [23, "passed"],
    [5, "passed"],
  ]) {
    const { visit } = session(lms.visit());
    visit.begin();
    assert.equal(visit.mastery, 80);
    visit.report(progress(score, 28));
    visit.commit();
    assert.equal(lms.stored.at(-1).core.lesson_status, status);
    visit.end();
    assert.equal(lms.stored.at(-1).core.lesson_status, status);
  }
});

test("a run-time that judges every score when a visit ends does not fail a reader who has not finished", () => {
  const lms = course(withMastery);
  const { visit } = session(lms.visit());
  visit.begin();
  visit.report(progress(3, 4));
  visit.end();
  assert.equal(lms.stored.at(-1).core.lesson_status, "incomplete");
  // What that run-time would have made of it:
  const naive = course(withMastery);
  const api = naive.visit();
  api.LMSInitialize("");
  api.LMSSetValue("cmi.core.lesson_status", "incomplete");
  api.LMSSetValue("cmi.core.score.raw", "10");
  api.LMSFinish("");
  assert.equal(naive.stored.at(-1).core.lesson_status, "failed");
});

test("a status of failed that a run-time set by itself does not make an unfinished quiz done", () => {
  const lms = course({ core: { lesson_status: "failed" }, suspend_data: "1|0||order-pooled=0" });
  const { visit } = session(lms.visit());
  visit.begin();
  visit.report(progress(1));
  visit.commit();
  assert.equal(lms.stored.at(-1).core.lesson_status, "incomplete");
});

test("a visit for review shows the record and changes nothing in it", () => {
  const lms = course({
    core: { lesson_mode: "review", lesson_status: "passed" },
    suspend_data: "1|1||order-pooled=2",
  });
  const { visit, said } = session(lms.visit());
  assert.deepEqual([...visit.begin().answers], [["order-pooled", 2]]);
  assert.equal(visit.recorded, false);
  visit.report(progress(0, 28));
  visit.commit();
  visit.end();
  assert.deepEqual(
    lms.log.filter((call) => /Set|Commit/.test(call)),
    [],
  );
  assert.equal(lms.log.at(-1), "LMSFinish ");
  assert.deepEqual(said, []);
});

test("a visit is finished exactly once, and nothing is called after it", () => {
  const lms = course();
  const { visit, clock } = session(lms.visit());
  visit.begin();
  visit.report(progress(2));
  clock.time = 61_000;
  visit.end();
  visit.end();
  visit.report(progress(3));
  visit.commit();
  assert.deepEqual(lms.log.slice(-2), ["LMSSetValue cmi.core.session_time 0000:01:01", "LMSFinish "]);
  assert.equal(lms.log.filter((call) => call === "LMSFinish ").length, 1);
});

test("what has not changed is not told again", () => {
  const lms = course();
  const { visit } = session(lms.visit());
  visit.begin();
  visit.report(progress(2));
  const calls = lms.log.length;
  visit.report(progress(2));
  assert.equal(lms.log.length, calls);
});

// What goes wrong -------------------------------------------------------------------------------------------

test("a page that comes back after its visit has ended begins another one, or says that it cannot", () => {
  quietly(() => {
    const closed = session(course().visit());
    closed.visit.begin();
    closed.visit.end();
    assert.equal(closed.visit.begin(), null);
    closed.visit.report(progress(1));
    closed.visit.end();
    assert.equal(closed.said.length, 1);
    assert.match(
      closed.said[0],
      /^Your course did not begin a record of this visit \(error 101: .+\)\. Nothing/,
    );
  });
  // A run-time that begins again is told everything again.
  const calls = [];
  const answer = (name, value) => (element) => {
    calls.push(element ? `${name} ${element}` : name);
    return value;
  };
  const open = session({
    LMSInitialize: answer("begin", "true"),
    LMSGetValue: () => "",
    LMSSetValue: answer("set", "true"),
    LMSFinish: answer("end", "true"),
    LMSGetLastError: () => "0",
  });
  const visits = [1, 2].map(() => {
    open.visit.begin();
    open.visit.report(progress(1));
    open.visit.end();
    return calls.splice(0);
  });
  assert.ok(visits[0].includes("set cmi.core.score.raw"));
  assert.deepEqual([visits[0][0], visits[0].at(-1)], ["begin", "end"]);
  assert.deepEqual(visits[1], visits[0]);
  assert.deepEqual(open.said, []);
});

test("a run-time that refuses to begin is said so, and is not spoken to any more", () => {
  quietly((lines) => {
    const calls = [];
    const api = {
      LMSInitialize: () => "false",
      LMSGetLastError: () => "101",
      LMSGetErrorString: (code) => `General <b>${code}</b>`,
      LMSSetValue: (...args) => calls.push(args),
      LMSFinish: (...args) => calls.push(args),
    };
    const { visit, said } = session(api);
    assert.equal(visit.begin(), null);
    visit.report(progress(1));
    visit.commit();
    visit.end();
    assert.deepEqual(calls, []);
    const sentence =
      "Your course did not begin a record of this visit (error 101: General <b>101</b>). " +
      "Nothing is recorded: open the lesson from the course again.";
    assert.deepEqual(said, [sentence]);
    assert.deepEqual(lines, [sentence]);
  });
});

test("a run-time that throws in every call, or after a while, never stops the lesson", () => {
  const thrower = () => {
    throw new Error("the frame is gone");
  };
  const names = ["Initialize", "GetValue", "SetValue", "Commit", "Finish", "GetLastError", "GetErrorString"];
  quietly(() => {
    for (const works of [[], ["LMSInitialize"], ["LMSInitialize", "LMSGetValue"]]) {
      const api = Object.fromEntries(
        names.map((name) => [`LMS${name}`, works.includes(`LMS${name}`) ? () => "true" : thrower]),
      );
      const { visit, said } = session(api);
      visit.begin();
      visit.report(progress(1));
      visit.commit();
      visit.end();
      assert.ok(said.length > 0);
      for (const sentence of said) assert.match(sentence, /^Your course did not .*the frame is gone/);
    }
  });
});

test("a commit that fails is said, and taken back when the next one works", () => {
  quietly(() => {
    const lms = course();
    const { visit, said } = session(lms.visit());
    visit.begin();
    visit.report(progress(1));
    lms.works = false;
    visit.commit();
    assert.match(
      said.at(-1),
      /^Your course did not store what it was told \(error 101: General Exception\)\.$/,
    );
    lms.works = true;
    visit.report(progress(2));
    visit.commit();
    assert.equal(said.at(-1), null);
    assert.equal(lms.stored.at(-1).core.score.raw, "7.14");
  });
});

test("a value that is refused is said with the run-time's words, and told again with the next report", () => {
  quietly(() => {
    const lms = course();
    const api = lms.visit();
    let refuses = true;
    const { visit, said } = session(
      new Proxy(api, {
        get: (target, name) =>
          name === "LMSSetValue" && refuses
            ? (element, value) => target[name](element, element.endsWith("raw") ? "PT5M" : value)
            : target[name],
      }),
    );
    visit.begin();
    visit.report(progress(1));
    assert.deepEqual(said, ["Your course did not take cmi.core.score.raw (error 405: Incorrect Data Type)."]);
    refuses = false;
    visit.report(progress(1));
    visit.commit();
    assert.equal(lms.stored.at(-1).core.score.raw, "3.57");
  });
});

test("run-times may answer true, 1 or TRUE, and leave out the mastery score", () => {
  for (const yes of [true, 1, "TRUE"]) {
    const api = {
      LMSInitialize: () => yes,
      LMSGetValue: () => null,
      LMSGetLastError: () => 401,
      LMSGetErrorString: () => "Not implemented",
      LMSSetValue: () => yes,
      LMSCommit: () => yes,
      LMSFinish: () => yes,
    };
    const { visit, said } = session(api);
    assert.notEqual(visit.begin(), null);
    assert.equal(visit.mastery, null);
    visit.report(progress(1));
    visit.commit();
    visit.end();
    assert.deepEqual(said, [null]);
  }
});

test("what a run-time gives counts, though it has no errors to tell or tells what is none", () => {
  const record = `1|0|order|${questionIds[0]}=1`;
  const values = { "cmi.suspend_data": record, "cmi.core.lesson_location": "rope" };
  const thrower = () => {
    throw new Error("not here");
  };
  for (const LMSGetLastError of [
    undefined,
    thrower,
    () => undefined,
    () => null,
    () => "",
    () => "none",
    () => "000",
  ]) {
    const api = {
      LMSInitialize: () => "true",
      LMSGetValue: (element) => values[element] ?? "",
      LMSGetLastError,
    };
    const { visit, said } = session(api);
    const { answers, section } = visit.begin();
    assert.deepEqual([...answers, section], [[questionIds[0], 1], "rope"]);
    assert.deepEqual(said, []);
  }
});

test("an error without words, or with what is none, is said by its code", () => {
  quietly(() => {
    for (const LMSGetErrorString of [undefined, () => undefined, () => ({}), () => ""]) {
      const { visit, said } = session({
        LMSInitialize: () => undefined,
        LMSGetLastError: () => 101,
        LMSGetErrorString,
      });
      assert.equal(visit.begin(), null);
      const sentence = "Your course did not begin a record of this visit (error 101). ";
      assert.deepEqual(said, [`${sentence}Nothing is recorded: open the lesson from the course again.`]);
    }
  });
});

test("a mastery score that is none counts as none", () => {
  for (const text of ["", " ", "eighty", "-1", "101", "NaN"]) {
    const { visit } = session({
      LMSInitialize: () => "true",
      LMSGetValue: (element) => (element.endsWith("mastery_score") ? text : ""),
      LMSGetLastError: () => "0",
    });
    visit.begin();
    assert.equal(visit.mastery, null, text);
  }
});

// Finding the run-time --------------------------------------------------------------------------------------

const api = { LMSInitialize() {} };
/** A window of another origin: its own properties are refused, its frames are not. */
const foreign = (around) => ({
  ...around,
  get API() {
    throw new Error("SecurityError");
  },
});
/** A window at the top of its frames. */
const top = (own = {}) => {
  const frame = { opener: null, ...own };
  return Object.assign(frame, { parent: frame });
};

test("the run-time is found in frames around the page, in its opener and around that, nearest first", () => {
  assert.equal(findApi({ opener: null, parent: { opener: null, parent: top({ API: api }) } }), api);
  assert.equal(findApi(top({ opener: top({ API: api }) })), api);
  assert.equal(findApi(top({ opener: { opener: null, parent: top({ API: api }) } })), api);
  assert.equal(findApi({ opener: null, parent: top({ opener: top({ API: api }) }) }), api);
  const nearer = { LMSInitialize() {} };
  assert.equal(findApi({ opener: null, API: nearer, parent: top({ API: api }) }), nearer);
});

test("windows of other origins are passed over, and what only bears the name is not taken", () => {
  assert.equal(findApi({ opener: null, parent: foreign({ opener: null, parent: top({ API: api }) }) }), api);
  const alone = {};
  Object.defineProperty(alone, "parent", { get: () => alone });
  for (const name of ["opener", "API"]) {
    Object.defineProperty(alone, name, {
      get() {
        throw new Error("SecurityError");
      },
    });
  }
  assert.equal(findApi(alone), null);
  for (const other of [{}, null, "API", { LMSInitialize: 1 }, foreign({})]) {
    assert.equal(findApi(top({ API: other })), null);
  }
});

test("frames that never end are given up", () => {
  let read = 0;
  const endless = () => ({
    get parent() {
      read += 1;
      return endless();
    },
    get opener() {
      return endless();
    },
  });
  assert.equal(findApi(endless()), null);
  assert.ok(read < 1000, `${read} windows looked at`);
});

// Times -----------------------------------------------------------------------------------------------------

test("times are HHHH:MM:SS, past 99 hours too, and the run-time takes them", () => {
  assert.equal(cmiTimespan(0), "0000:00:00");
  assert.equal(cmiTimespan(59_999), "0000:00:59");
  assert.equal(cmiTimespan(100 * 3_600_000), "0100:00:00");
  assert.equal(cmiTimespan(1234 * 3_600_000 + 5_000), "1234:00:05");
  assert.equal(cmiTimespan(1e15), "9999:59:59");
  assert.equal(cmiTimespan(-3_600_000), "0000:00:00"); // the clock was put back
  const runtime = course().visit();
  runtime.LMSInitialize("");
  // The pattern is the standard's: two to four digits of hours.
  fc.assert(
    fc.property(fc.nat(9999 * 3600), (seconds) => {
      const text = cmiTimespan(1000 * seconds);
      assert.match(text, /^\d{4}:[0-5]\d:[0-5]\d$/);
      assert.equal(
        text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0),
        seconds,
      );
      assert.equal(runtime.LMSSetValue("cmi.core.session_time", text), "true");
    }),
    { seed: 12 },
  );
  assert.equal(runtime.LMSSetValue("cmi.core.session_time", "PT5M"), "false");
});

// What is kept ----------------------------------------------------------------------------------------------

test("all answers and all sections of the lesson take less than half of suspend_data", () => {
  assert.ok(questionIds.length >= 46 && sectionIds.length >= 20);
  const everything = {
    done: true,
    visited: new Set(sectionIds),
    answers: new Map(questionIds.map((id) => [id, 3])),
  };
  const text = encode(everything);
  assert.ok(text.length <= mostCharacters / 2, `${text.length} characters`);
  assert.deepEqual(decode(text), everything);
  assert.equal(mostCharacters, 4096);
});

test("more than suspend_data may hold is refused and said, and the score is reported all the same", () => {
  const answers = new Map(Array.from({ length: 300 }, (_, i) => [`a-question-with-a-long-id-${i}`, 1]));
  assert.throws(() => encode({ done: false, visited: new Set(), answers }), {
    name: "RangeError",
    message: /^suspend_data must have at most 4096 characters, not \d+$/,
  });
  const lms = course();
  const { visit, said } = session(lms.visit());
  visit.begin();
  visit.report({ ...progress(14), answers });
  visit.commit();
  assert.equal(lms.stored.at(-1).core.score.raw, "50");
  assert.match(said.at(-1), /^Your course cannot keep all answers: suspend_data must/);
});

const id = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);

test("what is kept comes back the same", () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.uniqueArray(id, { maxLength: 30 }),
      fc.dictionary(id, fc.nat(99), { maxKeys: 60 }),
      (done, visited, answers) => {
        const kept = { done, visited: new Set(visited), answers: new Map(Object.entries(answers)) };
        assert.deepEqual(decode(encode(kept)), kept);
      },
    ),
    { seed: 4096 },
  );
});

test("reading a record never throws, and yields ids and options only, whatever is in it", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom("1", "|", "=", ",", "a=1", "__proto__=1", "constructor", "1|1|", "\0", "order-mask=999"),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((pieces) => pieces.join("")),
        fc.array(piece).map((pieces) => `1|${pieces.join("")}`),
      ),
      (text) => {
        const { done, visited, answers } = decode(text);
        assert.equal(typeof done, "boolean");
        for (const name of [...visited, ...answers.keys()]) assert.match(name, /^[a-z][a-z0-9-]{0,63}$/);
        for (const option of answers.values())
          assert.ok(Number.isInteger(option) && option >= 0 && option < 100);
      },
    ),
    { seed: 1 },
  );
  assert.equal(decode(`1|0||${"a=1,".repeat(1e6)}`).answers.size, 1);
});

test("a record of another version is not read", () => {
  assert.deepEqual([...decode("2|1|order|order-mask=1").answers], []);
  assert.equal(decode("2|1|order|order-mask=1").done, false);
});

test("a course's record takes the place of what this browser keeps, and does not touch it", () => {
  const browser = memoryStorage();
  const answers = new Answers(() => browser);
  answers.set("order-mask", 1);
  const before = browser.getItem("posenc-answers");
  const record = memoryStorage();
  answers.use(() => record, "your course’s record");
  assert.equal(answers.get("order-mask"), undefined);
  assert.equal(answers.place, "your course’s record");
  answers.set("rope-shift", 2);
  answers.restore(new Map(Object.entries({ "order-mask": 0, "rope-shift": 1 })));
  assert.deepEqual(Object.fromEntries(answers.all), { "rope-shift": 2, "order-mask": 0 });
  answers.forget();
  assert.equal(browser.getItem("posenc-answers"), before);
});

// The package -----------------------------------------------------------------------------------------------

const html =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>x</title></head><body>é</body></html>';
const pack = (settings) => unzipSync(scormPackage({ html, title: "Lesson", version: "1.2.3", ...settings }));

test("the package holds the manifest at its root and the page, marked as packed and otherwise unchanged", () => {
  const files = pack();
  assert.deepEqual(Object.keys(files).sort(), ["imsmanifest.xml", "index.html"]);
  const mark = '<meta name="posenc-package" content="scorm12">';
  const page = strFromU8(files["index.html"]);
  assert.ok(page.includes(`<head>${mark}`));
  assert.equal(page.replace(mark, ""), html);
});

test("the manifest names SCORM 1.2, its two schemas, and one SCO that lists each other file", () => {
  const files = pack();
  const manifest = strFromU8(files["imsmanifest.xml"]);
  for (const said of [
    'xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"',
    'xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2"',
    "<schema>ADL SCORM</schema>",
    "<schemaversion>1.2</schemaversion>",
    'type="webcontent" adlcp:scormtype="sco" href="index.html"',
    'version="1.2.3"',
  ]) {
    assert.equal(manifest.split(said).length, 2, said);
  }
  const listed = [...manifest.matchAll(/<file href="([^"]+)"\/>/g)].map(([, name]) => name);
  assert.deepEqual(
    listed,
    Object.keys(files).filter((name) => name !== "imsmanifest.xml"),
  );
  const [, reference] = /identifierref="([^"]+)"/.exec(manifest);
  assert.ok(manifest.includes(`<resource identifier="${reference}"`));
  assert.equal(manifest.includes("masteryscore"), false);
  assert.ok(
    strFromU8(pack({ mastery: 80 })["imsmanifest.xml"]).includes(
      "<adlcp:masteryscore>80</adlcp:masteryscore>",
    ),
  );
});

test("a title may hold any characters", () => {
  const manifest = strFromU8(pack({ title: `<a & "b"> 'c' \u0000\uD800 π 𝛑` })["imsmanifest.xml"]);
  assert.equal(manifest.split("<title>&#60;a &#38; &#34;b&#34;&#62; &#39;c&#39;  π 𝛑</title>").length, 3);
});

test("what cannot be packed is refused by name", () => {
  for (const field of ["html", "title", "version"]) {
    assert.throws(() => pack({ [field]: " " }), { name: "TypeError", message: `${field} must be a text` });
  }
  assert.throws(() => pack({ html: "<p>" }), {
    name: "TypeError",
    message: /html must be a page with a <head>/,
  });
  for (const mastery of [-1, 101, Number.NaN]) {
    assert.throws(() => pack({ mastery }), { name: "RangeError", message: /^mastery must be from 0 to 100/ });
  }
});

test("two packages of one lesson are the same bytes, in every time zone", () => {
  const source = `
    import { scormPackage } from ${JSON.stringify(join(root, "scripts/scorm.mjs"))};
    process.stdout.write(scormPackage(${JSON.stringify({ html, title: "Lesson", version: "1.2.3" })}));`;
  const packed = (TZ) =>
    execFileSync(process.execPath, ["--input-type=module", "-e", source], { env: { ...process.env, TZ } });
  const here = packed("UTC");
  assert.ok(here.length > 500);
  assert.ok(here.equals(packed("America/Los_Angeles")));
  assert.ok(here.equals(packed("Pacific/Auckland")));
});
