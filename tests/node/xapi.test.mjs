// xAPI: what is said, from which addresses it is sent, and where to. Verbs and header are those of the ADL vocabulary and
// of xAPI 1.0.3.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { runnerImport } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const load = async (name) =>
  (await runnerImport(join(web, name), { configFile: false, logLevel: "warn" })).module;
const { isoDuration } = await load("lms/duration.ts");
const { readLaunch } = await load("lms/launch.ts");
const { toParent, toStore } = await load("lms/senders.ts");
const { anonymous } = await load("lms/statement.ts");
const { XapiSession } = await load("lms/xapi-session.ts");

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const lesson = {
  activity: "https://example.org/posenc/",
  title: "Positional encoding",
  language: "en",
  registration: "6f4f2f0e-8f0d-4c57-9a1c-0c8f3c3f5a01",
  actor: anonymous("https://example.org/posenc/"),
};
const question = { id: "order-mask", ask: "Does a mask help?", options: ["Yes", "No"], right: 0, chosen: 1 };

/** A session, what it sent, and its clock. */
function session({ about = lesson, mastery = null } = {}) {
  const sent = [];
  const clock = { time: 0 };
  const visit = new XapiSession(about, {
    send: (statement) => sent.push(statement),
    mastery,
    now: () => clock.time,
  });
  const verbs = () => sent.map(({ verb }) => verb.id.split("/").at(-1));
  return { visit, sent, clock, verbs };
}

async function quietly(work) {
  const { warn } = console;
  const lines = [];
  console.warn = (line) => lines.push(line);
  try {
    await work(lines);
  } finally {
    console.warn = warn;
  }
}

// What is said ----------------------------------------------------------------------------------------------

test("a visit is told from beginning to end, with the ADL vocabulary's verbs", () => {
  const { visit, sent, verbs } = session({ mastery: 50 });
  visit.begin();
  visit.answered(question);
  visit.progressed(5);
  visit.completed({ score: 3, total: 4 });
  visit.completed({ score: 1, total: 4 });
  visit.end();
  assert.deepEqual(verbs(), [
    "initialized",
    "answered",
    "progressed",
    "completed",
    "passed",
    "completed",
    "failed",
    "terminated",
  ]);
  for (const { id, actor, verb, object, context, timestamp } of sent) {
    assert.match(id, UUID);
    assert.deepEqual(actor, lesson.actor);
    const [, word] = /^http:\/\/adlnet\.gov\/expapi\/verbs\/([a-z]+)$/.exec(verb.id);
    assert.deepEqual(verb.display, { "en-US": word });
    assert.ok(object.id.startsWith(lesson.activity));
    assert.equal(context.registration, lesson.registration);
    assert.equal(context.language, "en");
    assert.equal(new Date(timestamp).toISOString(), timestamp);
  }
  assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length);
});

test("an answer names its question, all options, the right one, the chosen one, and the lesson around it", () => {
  const { visit, sent } = session();
  visit.begin();
  visit.answered(question);
  const { object, result, context } = sent[1];
  assert.equal(object.id, "https://example.org/posenc/#question/order-mask");
  assert.deepEqual(object.definition, {
    type: "http://adlnet.gov/expapi/activities/cmi.interaction",
    description: { en: "Does a mask help?" },
    interactionType: "choice",
    choices: [
      { id: "0", description: { en: "Yes" } },
      { id: "1", description: { en: "No" } },
    ],
    correctResponsesPattern: ["0"],
  });
  assert.deepEqual(result, { response: "1", success: false });
  assert.equal(context.contextActivities.parent[0].id, lesson.activity);
  visit.answered({ ...question, chosen: 0 });
  assert.deepEqual(sent[2].result, { response: "0", success: true });
});

test("a question of an activity whose id has a fragment has an id of its own too", () => {
  const about = { ...lesson, activity: "https://example.org/course#week-3" };
  const { visit, sent } = session({ about });
  visit.begin();
  visit.answered(question);
  assert.equal(sent[1].object.id, "https://example.org/course#week-3/question/order-mask");
});

test("a completed quiz has a score, scaled and raw, and the time that it took", () => {
  const { visit, sent, clock } = session({ mastery: 75 });
  visit.begin();
  clock.time = 65_430;
  visit.completed({ score: 21, total: 28 });
  const score = { scaled: 0.75, raw: 21, min: 0, max: 28 };
  assert.deepEqual(sent[1].result, { completion: true, score, duration: "PT1M5.43S" });
  assert.deepEqual(sent[2].result, { success: true, score, duration: "PT1M5.43S" });
});

test("a scaled score never leaves 0 to 1, whatever the quiz", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), (total, right) => {
      const { visit, sent } = session();
      visit.begin();
      const score = Math.min(right, total);
      visit.completed({ score, total });
      const { scaled } = sent[1].result.score;
      assert.ok(scaled >= 0 && scaled <= 1 && Math.abs(scaled - score / total) < 1e-4);
    }),
    { seed: 3 },
  );
});

test("progress is told when it grows, whole and in percent, as cmi5 names it", () => {
  const { visit, sent, clock } = session();
  visit.begin(5);
  clock.time = 3_600_000;
  for (const share of [5, 9.52, 9.52, 4, 14.29]) visit.progressed(share);
  const extension = "https://w3id.org/xapi/cmi5/result/extensions/progress";
  assert.deepEqual(
    sent.slice(1).map(({ result }) => result),
    [10, 14].map((share) => ({ duration: "PT1H0S", extensions: { [extension]: share } })),
  );
});

test("a visit is terminated once, with its time, and is silent until it begins again", () => {
  const { visit, sent, clock, verbs } = session();
  visit.answered(question);
  assert.deepEqual(sent, []);
  visit.begin();
  clock.time = 7_325_000;
  visit.end();
  visit.end();
  visit.answered(question);
  visit.progressed(50);
  visit.completed({ score: 1, total: 1 });
  assert.deepEqual(verbs(), ["initialized", "terminated"]);
  assert.deepEqual(sent[1].result, { duration: "PT2H2M5S" });
  visit.begin();
  clock.time += 1000;
  visit.end();
  assert.deepEqual(sent[3].result, { duration: "PT1S" });
});

test("a reader is anonymous: two visits have nothing in common", () => {
  const [one, two] = [anonymous("https://a.example/"), anonymous("https://a.example/")];
  assert.deepEqual(Object.keys(one).sort(), ["account", "objectType"]);
  assert.match(one.account.name, UUID);
  assert.notEqual(one.account.name, two.account.name);
});

test("durations are ISO 8601, to the hundredth of a second", () => {
  assert.equal(isoDuration(0), "PT0S");
  assert.equal(isoDuration(-5000), "PT0S"); // the clock was put back
  assert.equal(isoDuration(999), "PT0.99S");
  assert.equal(isoDuration(60_000), "PT1M0S");
  assert.equal(isoDuration(360_000_000 + 5_050), "PT100H5.05S");
  fc.assert(
    fc.property(fc.nat(4e9), (milliseconds) => {
      const [, hours = 0, minutes = 0, seconds] = /^PT(?:(\d+)H)?(?:(\d+)M)?(\d+(?:\.\d{1,2})?)S$/.exec(
        isoDuration(milliseconds),
      );
      const hundredths = Math.round(100 * (3600 * hours + 60 * minutes + Number(seconds)));
      assert.equal(hundredths, Math.floor(milliseconds / 10));
      assert.ok(minutes < 60 && seconds < 60);
    }),
    { seed: 8601 },
  );
});

// The address -----------------------------------------------------------------------------------------------

const launch = (fields) => readLaunch(`?${new URLSearchParams(fields)}`);
const sound = { endpoint: "https://lrs.example/xapi/", auth: "Basic YTpi" };

test("a store is there only if the address has an endpoint and auth", () => {
  const { store, problem } = launch(sound);
  assert.deepEqual(store, {
    statements: "https://lrs.example/xapi/statements",
    auth: "Basic YTpi",
    actor: null,
  });
  assert.equal(problem, null);
  assert.deepEqual(launch({}), {
    store: null,
    problem: null,
    activity: null,
    registration: null,
    mastery: null,
  });
  for (const field of ["endpoint", "auth"]) {
    const { store: none, problem: why } = launch({ [field]: sound[field] });
    assert.equal(none, null);
    assert.match(why, field === "endpoint" ? /^auth must/ : /^endpoint must/);
  }
});

test("an endpoint is https, or http on this machine, and gets its slash", () => {
  for (const [endpoint, statements] of [
    ["https://lrs.example/xapi", "https://lrs.example/xapi/statements"],
    ["https://lrs.example", "https://lrs.example/statements"],
    ["http://localhost:8080/a/", "http://localhost:8080/a/statements"],
    ["http://127.0.0.1/", "http://127.0.0.1/statements"],
  ]) {
    assert.equal(launch({ ...sound, endpoint }).store?.statements, statements);
  }
  for (const endpoint of [
    "",
    "statements",
    "/xapi/",
    "//lrs.example/",
    "http://lrs.example/",
    "http://localhost.example/",
    "http://[::1]:9/",
    "ftp://lrs.example/",
    "javascript:alert(1)",
    "data:text/plain,",
    "https://name:word@lrs.example/",
    "https://lrs.example/?a=1",
    "https://lrs.example/#a",
  ]) {
    const { store, problem } = launch({ ...sound, endpoint });
    assert.equal(store, null, endpoint);
    assert.match(problem, /^endpoint must /, endpoint);
  }
});

test("auth that is no header is refused", () => {
  for (const auth of ["", " ", "Basic a\r\nX-Other: 1", "Basic é", " Basic a", "\0"]) {
    const { store, problem } = launch({ ...sound, auth });
    assert.equal(store, null, auth);
    assert.match(problem, /^auth must /);
  }
});

test("the reader is named to the store only by an Agent with exactly one identifier", () => {
  const account = { homePage: "https://school.example/", name: "17" };
  for (const [actor, kept] of [
    [{ mbox: "mailto:a@b.example" }, { objectType: "Agent", mbox: "mailto:a@b.example" }],
    [
      { name: "Ada", account },
      { objectType: "Agent", name: "Ada", account },
    ],
    [
      { objectType: "Agent", openid: "https://a.example/", extra: 1 },
      { objectType: "Agent", openid: "https://a.example/" },
    ],
    [{ mbox: "mailto:a@b.example", account }, null],
    [{ name: "Ada" }, null],
    [{ objectType: "Group", mbox: "mailto:a@b.example" }, null],
    [{ account: { name: "17" } }, null],
    [{ mbox: ["mailto:a@b.example"] }, null],
    [[], null],
    [null, null],
  ]) {
    assert.deepEqual(launch({ ...sound, actor: JSON.stringify(actor) }).store.actor, kept);
  }
  assert.equal(launch({ ...sound, actor: "{" }).store.actor, null);
});

test("activity, registration and mastery score are taken from the address if they are sound", () => {
  const registration = "6f4f2f0e-8f0d-4c57-9a1c-0c8f3c3f5a01";
  const good = launch({ activity_id: "urn:uuid:1", registration, mastery_score: "72.5" });
  assert.deepEqual([good.activity, good.registration, good.mastery], ["urn:uuid:1", registration, 72.5]);
  const bad = launch({ activity_id: "lesson", registration: "1", mastery_score: "1e1" });
  assert.deepEqual([bad.activity, bad.registration, bad.mastery], [null, null, null]);
  assert.equal(launch({ mastery_score: "101" }).mastery, null);
});

test("reading an address never throws, and a store is never anything but sound", () => {
  const field = fc.constantFrom("endpoint", "auth", "actor", "activity_id", "registration", "mastery_score");
  const value = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc.json(),
    fc.constantFrom("https://a.example/", "Basic a"),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(fc.tuple(field, value)).map((fields) => `?${new URLSearchParams(fields)}`),
      ),
      (search) => {
        const { store } = readLaunch(search);
        if (store)
          assert.match(store.statements, /^(https:|http:\/\/(localhost|127\.0\.0\.1)).*\/statements$/);
      },
    ),
    { seed: 103 },
  );
});

// Where it goes ---------------------------------------------------------------------------------------------

const statement = (id) => ({
  id,
  actor: lesson.actor,
  verb: { id: "http://adlnet.gov/expapi/verbs/answered" },
});

test("the page around this one is sent { type, statement }", () => {
  const posted = [];
  toParent({ postMessage: (...args) => posted.push(args) })(statement("1"));
  assert.deepEqual(posted, [[{ type: "xapi-statement", statement: statement("1") }, "*"]]);
});

test("a store receives the statement as JSON, with the key and the version that xAPI 1.0.3 asks for", async () => {
  const received = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    response.writeHead(200, { "Content-Type": "application/json" }).end("[]");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    const endpoint = `http://127.0.0.1:${server.address().port}/xapi/`;
    const actor = { objectType: "Agent", mbox: "mailto:a@b.example" };
    const said = [];
    const { store } = launch({ endpoint, auth: "Basic YTpi", actor: JSON.stringify(actor) });
    await toStore(store, (problem) => said.push(problem))(statement("1"));
    const [{ method, url, headers, body }] = received;
    assert.deepEqual([method, url], ["POST", "/xapi/statements"]);
    assert.equal(headers.authorization, "Basic YTpi");
    assert.equal(headers["content-type"], "application/json");
    assert.equal(headers["x-experience-api-version"], "1.0.3");
    assert.deepEqual(JSON.parse(body), { ...statement("1"), actor });
    assert.deepEqual(said, [null]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

/** A store that answers with each status in turn; 0 is no answer. */
function store(...statuses) {
  const posts = [];
  const said = [];
  const post = async (url, init) => {
    posts.push({ url, ...init, body: JSON.parse(init.body) });
    const status = statuses.shift() ?? 200;
    if (status === 0) throw new TypeError("Failed to fetch");
    return new Response(null, { status });
  };
  const send = toStore(launch(sound).store, (problem) => said.push(problem), post);
  return { send, posts, said };
}

test("a request outlives the page, and carries no cookies", async () => {
  const { send, posts } = store();
  await send(statement("1"));
  assert.deepEqual([posts[0].keepalive, posts[0].credentials], [true, "omit"]);
});

test("what a store could not be told is told again with the next statement, and said meanwhile", async () => {
  await quietly(async (lines) => {
    const { send, posts, said } = store(0, 503, 200, 200);
    for (const id of ["1", "2", "3", "4"]) await send(statement(id));
    assert.deepEqual(
      posts.map(({ body }) => [body].flat().map(({ id }) => id)),
      [["1"], ["1", "2"], ["1", "2", "3"], ["4"]],
    );
    assert.match(
      said[0],
      /^The learning record store at lrs\.example was not told .* \(Failed to fetch\)\. It is told/,
    );
    assert.match(said[1], /\(HTTP 503\)/);
    assert.deepEqual(said.slice(2), [null, null]);
    assert.equal(lines.length, 2);
  });
});

test("what a store refuses is said and given up", async () => {
  await quietly(async () => {
    const { send, posts, said } = store(401, 200);
    await send(statement("1"));
    await send(statement("2"));
    assert.match(said[0], /\(HTTP 401\)\.$/);
    assert.deepEqual(posts[1].body.id, "2");
  });
});
