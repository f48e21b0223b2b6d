// The lesson inside courses: scorm-again as the SCORM 1.2 run-time around it, a page that listens to xAPI, a store.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { ROOT } from "../../scripts/run.mjs";
import { scormPackage } from "../../scripts/scorm.mjs";
import { HEADERS } from "../../scripts/serve.mjs";
import { figureAt } from "./figure.mjs";

const RUNTIME = readFileSync(createRequire(import.meta.url).resolve("scorm-again/scorm12/min"), "utf8");
const CONNECTED = "Connected to your course; your best score is reported.";

/** A course page at the lesson's own origin. */
async function openCourse(page, base) {
  await page.goto(`${base}teachers.html`);
  await page.evaluate(() => {
    document.body.replaceChildren();
    window.heard = [];
    addEventListener("message", ({ data }) => window.heard.push(data));
  });
}

/** Opens the lesson in a frame of the course page, and waits until it listens. */
async function frame(page, src) {
  await page.evaluate(async (address) => {
    const made = Object.assign(document.createElement("iframe"), { width: 1000, height: 800, src: address });
    const loaded = new Promise((done) => made.addEventListener("load", done));
    document.body.replaceChildren(made);
    await loaded;
  }, src);
}

/** Runs in the course page: gives it a run-time that starts from `cmi`, and notes the calls and what is stored. */
function startRuntime(cmi) {
  window.calls = [];
  window.stored ??= [];
  const http = {
    processHttpRequest(_url, data) {
      window.stored.push(structuredClone(data.cmi));
      return { result: "true", errorCode: 0 };
    },
    updateSettings() {},
  };
  const runtime = new window.Scorm12API({ autocommit: false, logLevel: 5, lmsCommitUrl: "/record" }, http);
  runtime.loadFromJSON(cmi ?? {}, "cmi");
  window.API = Object.fromEntries(
    ["Initialize", "Finish", "GetValue", "SetValue", "Commit", "GetLastError", "GetErrorString"].map(
      (name) => [
        `LMS${name}`,
        (...args) => {
          window.calls.push(`${name} ${args.join(" ")}`);
          return runtime[`LMS${name}`](...args);
        },
      ],
    ),
  );
}

async function openInCourse(page, base, { cmi, place = "" } = {}) {
  await openCourse(page, base);
  // A classic script would make a global of it; this one is run inside a function.
  await page.evaluate(RUNTIME.replace(/^this\.Scorm12API=/, "window.Scorm12API="));
  await page.evaluate(startRuntime, cmi);
  await frame(page, `${base}${place}`);
}

/** Runs in the course page: answers the first questions of the quiz in the frame, the first `right` of them rightly. */
function answer({ count, right }) {
  const { contentDocument } = document.querySelector("iframe");
  const questions = [...contentDocument.querySelectorAll("pe-quiz pe-question")].slice(0, count ?? undefined);
  questions.forEach((question, i) => {
    const answers = [...question.querySelectorAll(".answers dl > div")];
    const at = answers.findIndex((option) => (option.dataset.right !== undefined) === i < right);
    question.querySelectorAll("form input")[at].click();
    question.querySelector(".commit").click();
  });
  return questions.length;
}

/** Run in the course page. */
const status = () =>
  document.querySelector("iframe").contentDocument.querySelector("[role=status].course")?.textContent;
const leaves = () => document.querySelector("iframe").contentDocument.querySelector(".leaves").textContent;
const progress = () =>
  document.querySelector("iframe").contentDocument.querySelector("pe-quiz > .progress").textContent;
const section = () =>
  document.querySelector("iframe").contentDocument.querySelector("nav.sections [aria-current]")?.hash;
const statements = () =>
  window.heard.flatMap((data) => (data?.type === "xapi-statement" ? [data.statement] : []));
const verbs = () =>
  window.heard.flatMap((data) =>
    data?.type === "xapi-statement"
      ? [data.statement.verb.id.replace("http://adlnet.gov/expapi/verbs/", "")]
      : [],
  );
const stored = () => window.stored.at(-1);

/**
 * dist/ at a course's origin. There, POST /xapi/statements is a learning record store, and /package/ the page of the
 * SCORM package, which brings its own policy.
 */
async function serveCourse(base) {
  const html = readFileSync(join(ROOT, "dist/lesson.html"), "utf8");
  const packed = unzipSync(scormPackage({ html, title: "Lesson", version: "1.0.0" }))["index.html"];
  const posts = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "POST" && request.url === "/xapi/statements") {
      posts.push({ headers: request.headers, statements: [JSON.parse(Buffer.concat(chunks))].flat() });
      response.writeHead(200, { "Content-Type": "application/json" }).end("[]");
      return;
    }
    if (request.url === "/package/") {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(packed);
      return;
    }
    const answered = await fetch(new URL(request.url.slice(1), base));
    const type = { "Content-Type": answered.headers.get("content-type") };
    response.writeHead(answered.status, { ...HEADERS, ...type });
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    posts,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The lesson where a course may have it: below the site's address, or as the page of a SCORM package. */
const PLACES = { "the hosted lesson": "", "the SCORM package": "package/" };

const tests = [
  ...Object.entries(PLACES).map(([what, place]) => ({
    name: `in a course answers are scored by the run-time around ${what}, and the next visit resumes them`,
    async run({ page, course, assert }) {
      await openInCourse(page, course.url, { place });
      await page.waitFor(`return (${status})() === ${JSON.stringify(CONNECTED)}`);
      assert.equal(await page.evaluate(leaves), "Your answers and your score go to your course.");
      const total = await page.evaluate(
        () => document.querySelector("iframe").contentDocument.querySelectorAll("pe-quiz pe-question").length,
      );
      await page.evaluate(answer, { count: 5, right: 3 });
      // Kept without being asked for.
      const raw = String(Math.round(3e4 / total) / 100);
      await page.waitFor((score) => window.stored.at(-1)?.core.score.raw === score, raw);
      const { core, suspend_data: data } = await page.evaluate(stored);
      assert.deepEqual(core.score, { raw, min: "0", max: "100" });
      assert.equal(core.lesson_status, "incomplete");
      assert.match(data, /^1\|0\|/);

      // On to a section, and away.
      await page.evaluate(() => {
        document.querySelector("iframe").contentWindow.location.hash = "#rope";
      });
      await page.waitFor(`return (${section})() === "#rope"`);
      await page.waitFor(() => window.stored.at(-1).suspend_data.split("|")[2] === "rope");
      await page.evaluate(() => document.querySelector("iframe").remove());
      const calls = await page.evaluate(() => window.calls);
      assert.equal(calls.filter((call) => call === "Finish ").length, 1);
      assert.equal(calls.at(-1), "Finish ");
      const left = await page.evaluate(stored);
      assert.equal(left.core.exit, "suspend");
      assert.equal(left.core.lesson_location, "rope");
      assert.match(left.core.session_time, /^\d\d:\d\d:\d\d$/);

      await page.evaluate(startRuntime, left);
      await frame(page, `${course.url}${place}`);
      await page.waitFor(`return (${progress})() === "5 of ${total} answered, 3 right"`);
      await page.waitFor(`return (${section})() === "#rope"`);
      assert.equal(await page.evaluate(status), CONNECTED);
      assert.equal(await page.evaluate(() => scrollY), 0, "the course's own page has not moved");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  })),
  {
    name: "in a course a completed quiz completes the lesson",
    async run({ page, base, assert }) {
      await openInCourse(page, base, { cmi: { student_data: { mastery_score: "50" } } });
      await page.waitFor(`return (${status})() === ${JSON.stringify(CONNECTED)}`);
      const total = await page.evaluate(answer, { right: 20 });
      await page.waitFor(() => window.stored.at(-1)?.core.lesson_status === "passed");
      const { core } = await page.evaluate(stored);
      assert.deepEqual([core.lesson_status, core.exit], ["passed", ""]);
      assert.equal(core.score.raw, String(Math.round(20e4 / total) / 100));
      await page.waitFor(() =>
        document.querySelector("iframe").contentDocument.querySelector("pe-quiz .summary li"),
      );
      const told = await page.evaluate(verbs);
      assert.deepEqual(told.slice(0, 2), ["initialized", "answered"]);
      assert.equal(told.filter((verb) => verb === "answered").length, total);
      assert.deepEqual(told.slice(-2), ["completed", "passed"]);
    },
  },
  {
    name: "in a course nothing is shown or changed of what another learner left in this browser",
    async run({ page, base, assert }) {
      await page.goto(base);
      const before = '{"version":1,"answers":{"clocks-slowest":2,"order-pooled":0}}';
      await page.evaluate((text) => localStorage.setItem("posenc-answers", text), before);
      await openInCourse(page, base);
      await page.waitFor(`return (${status})() === ${JSON.stringify(CONNECTED)}`);
      const shown = () => {
        const { contentDocument } = document.querySelector("iframe");
        return {
          answered: contentDocument.querySelectorAll("pe-question form.done").length,
          note: contentDocument.querySelector("pe-quiz > .note").textContent,
        };
      };
      const { answered, note } = await page.evaluate(shown);
      assert.equal(answered, 0);
      assert.match(note, /stay in your course’s record\. Forgetting removes them from it\.$/);
      await page.evaluate(answer, { count: 2, right: 2 });
      assert.equal((await page.evaluate(shown)).answered, 2);
      assert.equal(await page.evaluate(() => localStorage.getItem("posenc-answers")), before);
    },
  },
  {
    name: "in a course whose record is hostile the lesson works",
    async run({ page, base, assert }) {
      const id = "clocks-slowest";
      for (const suspend_data of [
        "{",
        `1|1|nowhere,<b>|${id}=77,nothing=1,__proto__=1`,
        "<script>alert(1)</script>",
        "1|".repeat(2000),
      ]) {
        const cmi = { suspend_data, core: { lesson_location: 'main"]<b>' } };
        await openInCourse(page, base, { cmi });
        await page.waitFor(`return (${status})() === ${JSON.stringify(CONNECTED)}`);
        assert.match(await page.evaluate(progress), /^0 of /, suspend_data);
        await page.evaluate(answer, { count: 1, right: 1 });
        assert.match(await page.evaluate(progress), /^1 of \d+ answered, 1 right$/);
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "in a course whose run-time refuses or throws, one sentence says so and the lesson works",
    async run({ page, base, assert }) {
      for (const throws of [false, true]) {
        await openCourse(page, base);
        await page.evaluate((fails) => {
          const call = (value) => () => {
            if (fails) throw new Error("no connection");
            return value;
          };
          window.API = {
            LMSInitialize: call("false"),
            LMSGetLastError: call("101"),
            LMSGetErrorString: call("General Exception"),
          };
        }, throws);
        await frame(page, base);
        const why = throws ? "Error: no connection" : "error 101: General Exception";
        const sentence =
          `Your course did not begin a record of this visit (${why}). ` +
          "Nothing is recorded: open the lesson from the course again.";
        await page.waitFor(`return (${status})() === ${JSON.stringify(sentence)}`);
        await page.evaluate(answer, { count: 1, right: 1 });
        assert.match(await page.evaluate(progress), /^1 of /);
        const said = await page.evaluate(() =>
          document
            .querySelector("iframe")
            .contentDocument.querySelector("pe-quiz .result")
            .textContent.trim(),
        );
        assert.ok(said.endsWith("Your answers are not kept in your course’s record."), said);
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "in a course what was done is kept when the page is hidden, and a page that comes back after its end says so",
    async run({ page, base, assert }) {
      await openInCourse(page, base);
      await page.waitFor(`return (${status})() === ${JSON.stringify(CONNECTED)}`);
      await page.waitFor(() => window.stored.length > 0);
      const calls = await page.evaluate(() => {
        const { contentDocument, contentWindow } = document.querySelector("iframe");
        const question = contentDocument.querySelector("pe-quiz pe-question");
        question.querySelector("input").click();
        question.querySelector(".commit").click();
        window.calls.length = 0;
        Object.defineProperty(contentDocument, "visibilityState", { value: "hidden", configurable: true });
        contentDocument.dispatchEvent(new contentWindow.Event("visibilitychange"));
        const hidden = window.calls.splice(0);
        delete contentDocument.visibilityState;
        // Browsers keep a page that one leaves, and bring it back as it was.
        for (const type of ["pagehide", "pagehide", "pageshow"]) {
          contentWindow.dispatchEvent(new contentWindow.PageTransitionEvent(type, { persisted: true }));
        }
        return { hidden, after: window.calls };
      });
      assert.ok(calls.hidden.some((call) => call.startsWith("SetValue cmi.core.score.raw ")));
      assert.equal(calls.hidden.at(-1), "Commit ");
      assert.equal(calls.after.filter((call) => call === "Finish ").length, 1);
      await page.waitFor(
        `return /^Your course did not begin a record of this visit .error 101/.test((${status})())`,
      );
      await page.evaluate(answer, { count: 3, right: 3 });
      assert.match(await page.evaluate(progress), /^3 of /);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "outside of courses the lesson asks for nothing that reports, and says nothing of it",
    async run({ page, base, assert }) {
      await page.goto(base);
      await page.waitFor(() => document.querySelector("pe-quiz > .progress"));
      const shown = await page.evaluate(() => ({
        status: document.querySelectorAll(".course").length,
        leaves: document.querySelector(".leaves").textContent,
      }));
      assert.deepEqual(shown, { status: 0, leaves: "Nothing leaves your browser." });
      const requests = await page.requests();
      assert.deepEqual(
        requests.filter((url) => /connect/.test(url)),
        [],
      );
    },
  },
  {
    name: "a page that frames the lesson, and is no course, hears an anonymous reader's statements",
    async run({ page, base, assert }) {
      await openCourse(page, base);
      await frame(page, base);
      await page.waitFor(`return (${verbs})().includes("initialized")`);
      assert.equal(await page.evaluate(status), "");
      assert.equal(
        await page.evaluate(leaves),
        "The page around this one is told your answers and your progress, without your name.",
      );
      await page.evaluate(answer, { count: 1, right: 1 });
      await page.evaluate(() => {
        document.querySelector("iframe").contentWindow.location.hash = "#clocks";
      });
      await page.waitFor(`return (${verbs})().includes("progressed")`);
      await page.evaluate(() => document.querySelector("iframe").remove());
      await page.waitFor(`return (${verbs})().includes("terminated")`);
      assert.deepEqual(await page.evaluate(verbs), ["initialized", "answered", "progressed", "terminated"]);
      const [begun, answered, progressed, ended] = await page.evaluate(statements);
      assert.equal(begun.object.id, base);
      assert.deepEqual(Object.keys(begun.actor).sort(), ["account", "objectType"]);
      assert.match(answered.object.id, /#question\/[a-z-]+$/);
      assert.equal(answered.result.success, true);
      const { choices, correctResponsesPattern, description } = answered.object.definition;
      assert.ok(choices.length >= 3 && description.en.length > 20);
      assert.deepEqual(correctResponsesPattern, [answered.result.response]);
      assert.deepEqual(Object.values(progressed.result.extensions), [5]);
      assert.match(ended.result.duration, /^PT[\d.]+S$/);
      // The page for teachers, to which the lesson links, is no visit.
      await frame(page, `${base}teachers.html`);
      assert.equal(await page.evaluate(status), undefined);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "in a sandboxed frame without an origin the lesson finds no course, and speaks to the page around it",
    async run({ page, course, assert }) {
      await openCourse(page, course.url);
      await page.evaluate((src) => {
        window.API = { LMSInitialize: () => window.heard.push("called") };
        const made = Object.assign(document.createElement("iframe"), { src });
        made.setAttribute("sandbox", "allow-scripts");
        document.body.append(made);
      }, `${course.url}package/`);
      await page.waitFor(`return (${verbs})().includes("initialized")`);
      assert.equal(await page.evaluate(() => window.heard.includes("called")), false);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "a store that the address names is told of the visit, to its end, under the reader's name",
    async run({ page, course, assert }) {
      const actor = { objectType: "Agent", mbox: "mailto:ada@school.example" };
      const query = new URLSearchParams({
        endpoint: `${course.url}xapi/`,
        auth: "Basic YTpi",
        actor: JSON.stringify(actor),
        activity_id: "https://school.example/positions",
      });
      await openCourse(page, course.url);
      await frame(page, `${course.url}?${query}`);
      const sentence = "Connected to your course; your answers and your score are reported.";
      await page.waitFor(`return (${status})() === ${JSON.stringify(sentence)}`);
      await page.evaluate(answer, { right: 100 });
      await page.waitFor(`return (${verbs})().includes("completed")`);
      await page.evaluate(() => document.querySelector("iframe").remove());
      await page.waitFor(`return (${verbs})().includes("terminated")`);
      const heard = await page.evaluate(statements);
      const arrived = () => course.posts.flatMap((post) => post.statements);
      const end = Date.now() + 10_000;
      while (arrived().length < heard.length && Date.now() < end) await page.evaluate(() => 0);
      assert.deepEqual(
        arrived()
          .map(({ id }) => id)
          .sort(),
        heard.map(({ id }) => id).sort(),
      );
      for (const { headers } of course.posts) {
        assert.equal(headers.authorization, "Basic YTpi");
        assert.equal(headers["x-experience-api-version"], "1.0.3");
      }
      for (const statement of arrived()) {
        assert.deepEqual(statement.actor, actor);
        assert.ok(statement.object.id.startsWith("https://school.example/positions"));
      }
      // The page around it learns no name.
      for (const { actor: anyone } of heard)
        assert.deepEqual(Object.keys(anyone).sort(), ["account", "objectType"]);
      const completed = arrived().find(({ verb }) => verb.id.endsWith("/completed"));
      assert.equal(completed.result.score.scaled, 1);
    },
  },
  {
    name: "a store that cannot be reached, or must not be, is said in a sentence",
    async run({ page, base, assert }) {
      await openCourse(page, base);
      const open = (endpoint) =>
        frame(page, `${base}?${new URLSearchParams({ endpoint, auth: "Basic YTpi" })}`);
      // dist/ is no store: POST is answered with 405.
      await open(`${base}xapi/`);
      await page.waitFor(
        `return /^The learning record store at 127.*\\(HTTP 405\\)\\.$/.test((${status})())`,
      );
      // Its own page's policy keeps it from other origins.
      await open("https://lrs.invalid/");
      await page.waitFor(
        `return /^The learning record store at lrs\\.invalid was not told/.test((${status})())`,
      );
      await open("http://lrs.invalid/");
      const sentence = "Nothing is reported to a learning record store: endpoint must begin with https:.";
      await page.waitFor(`return (${status})() === ${JSON.stringify(sentence)}`);
      await page.evaluate(answer, { count: 1, right: 1 });
      assert.match(await page.evaluate(progress), /^1 of /);
    },
  },
  {
    name: "a figure's link carries its state, and nothing of the address with which a course opened the lesson",
    async run({ page, base, assert }) {
      const secret = { endpoint: "https://lrs.invalid/", auth: "Basic YTpi", actor: "{}", registration: "1" };
      const query = `?${new URLSearchParams({ ...secret, "heatmap.seq-len": "60" })}`;
      await figureAt(page, `${base}${query}`, "pe-heatmap");
      const copied = await page.evaluate(async () => {
        const texts = [];
        const clipboard = { writeText: async (text) => texts.push(text) };
        Object.defineProperty(navigator, "clipboard", { value: clipboard });
        document.querySelector("pe-heatmap").shadowRoot.querySelector("button[data-field=link]").click();
        return texts[0];
      });
      assert.equal(copied, `${base}?heatmap.seq-len=60#sinusoidal`);
    },
  },
  {
    name: "a lesson from a SCORM package that finds no course says so, and keeps answers in this browser",
    async run({ page, course, assert }) {
      await page.goto(`${course.url}package/`);
      const said = () => document.querySelector("[role=status].course")?.textContent;
      await page.waitFor(
        `return (${said})()?.startsWith("This lesson was made for a course, but none was found")`,
      );
      assert.equal(
        await page.evaluate(() => document.querySelector(".leaves").textContent),
        "Nothing leaves your browser.",
      );
      await page.evaluate(() => {
        const question = document.querySelector("pe-quiz pe-question");
        question.querySelector("input").click();
        question.querySelector(".commit").click();
      });
      assert.match(await page.evaluate(() => localStorage.getItem("posenc-answers")), /^\{"version":1/);
    },
  },
  {
    name: "the manifest of a SCORM package is XML that names its course, its lesson and its files",
    async run({ page, base, assert }) {
      await page.goto(base);
      const title = `Sin & cos <π> "x" 'y'`;
      const files = unzipSync(scormPackage({ html: "<head></head>", title, version: "1.0.0", mastery: 80 }));
      const read = await page.evaluate((xml) => {
        const manifest = new DOMParser().parseFromString(xml, "application/xml");
        const adlcp = "http://www.adlnet.org/xsd/adlcp_rootv1p2";
        const all = (name) => [
          ...manifest.getElementsByTagNameNS("http://www.imsproject.org/xsd/imscp_rootv1p1p2", name),
        ];
        const [item, resource] = [all("item")[0], all("resource")[0]];
        return {
          errors: manifest.querySelectorAll("parsererror").length,
          root: manifest.documentElement.localName,
          schema: [all("schema")[0].textContent, all("schemaversion")[0].textContent],
          titles: all("title").map((element) => element.textContent),
          organization:
            all("organizations")[0].getAttribute("default") ===
            all("organization")[0].getAttribute("identifier"),
          references: item.getAttribute("identifierref") === resource.getAttribute("identifier"),
          mastery: item.getElementsByTagNameNS(adlcp, "masteryscore")[0].textContent,
          resource: [
            resource.getAttribute("type"),
            resource.getAttributeNS(adlcp, "scormtype"),
            resource.getAttribute("href"),
          ],
          files: all("file").map((file) => file.getAttribute("href")),
        };
      }, strFromU8(files["imsmanifest.xml"]));
      assert.deepEqual(read, {
        errors: 0,
        root: "manifest",
        schema: ["ADL SCORM", "1.2"],
        titles: [title, title],
        organization: true,
        references: true,
        mastery: "80",
        resource: ["webcontent", "sco", "index.html"],
        files: ["index.html"],
      });
    },
  },
];

/** Every test has a course at an origin of its own. */
export default tests.map((test) => ({
  ...test,
  async run(context) {
    const course = await serveCourse(context.base);
    try {
      await test.run({ ...context, course });
    } finally {
      course.close();
    }
  },
}));
