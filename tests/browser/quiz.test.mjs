// Predictions and the quiz: committing, feedback, what is kept and what is not.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { IN_COLOURS } from "./engines.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ID = "clocks-slowest";
const QUESTION = `pe-question[question=${ID}]`;
const option = (at) => `${QUESTION} form .option:nth-of-type(${at})`;

/** What a question shows. */
const shown = (selector) => {
  const question = document.querySelector(selector);
  const form = question.querySelector("form");
  return {
    committed: form.querySelector(".commit").getAttribute("aria-disabled") === "true",
    disabled: [...form.querySelectorAll("input")].every((input) => input.disabled),
    chosen: [...form.querySelectorAll("input")].findIndex((input) => input.checked),
    marks: [...form.querySelectorAll(".mark")].map((mark) => mark.textContent),
    result: form.querySelector(".result").textContent.trim(),
    again: form.querySelector(".again").checkVisibility(),
  };
};
const feedback = (selector) =>
  [...document.querySelectorAll(`${selector} .answers dd`)].map((words) => words.textContent.trim());
const stored = () => localStorage.getItem("posenc-answers");
const progress = () => document.querySelector("pe-quiz > .progress").textContent;
/** Collects the events that bubble to the document. */
const listen = () => {
  window.heard = [];
  for (const type of ["pe-answer", "pe-complete"]) {
    document.addEventListener(type, ({ detail, bubbles, composed }) => {
      window.heard.push({ type, detail, bubbles, composed });
    });
  }
};
const open = async (page, base) => {
  await page.goto(base);
  await page.waitFor((selector) => document.querySelector(`${selector} form`), QUESTION);
};

/** Answers every question of the quiz from script: right, or the first wrong option. */
const answerQuiz = (right) => {
  for (const question of document.querySelectorAll("pe-quiz pe-question")) {
    const answers = [...question.querySelectorAll(".answers dl > div")];
    const at = answers.findIndex((answer) => (answer.dataset.right !== undefined) === right);
    question.querySelectorAll("form input")[at].click();
    question.querySelector(".commit").click();
  }
};

export default [
  {
    name: "a question of lesson or quiz is answered by pointer, shows both feedbacks and moves nothing above itself",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(listen);
      await page.box(option(1));
      const tops = (selector) => {
        const question = document.querySelector(selector);
        const { top } = question.getBoundingClientRect();
        return [...question.querySelectorAll("legend, .option, .commit")].map((part) =>
          Math.round(part.getBoundingClientRect().top - top),
        );
      };
      const before = await page.evaluate(tops, QUESTION);
      await page.click(option(1));
      await page.click(`${QUESTION} .commit`);
      assert.deepEqual(await page.evaluate(tops, QUESTION), before);
      const now = await page.evaluate(shown, QUESTION);
      const words = await page.evaluate(feedback, QUESTION);
      assert.ok(now.committed && now.disabled && now.again);
      assert.equal(now.chosen, 0);
      assert.deepEqual(now.marks, ["your answer", "", "right"]);
      for (const said of ["Not so.", "Right: Almost", "only 1.037", "9647"]) {
        assert.ok(now.result.includes(said), `${said} in ${now.result}`);
      }
      assert.ok(words.length === 3);
      assert.deepEqual(await page.evaluate(() => window.heard), [
        { type: "pe-answer", detail: { id: ID, option: 0, right: false }, bubbles: true, composed: true },
      ]);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "a question of lesson or quiz is answered by keyboard, keeps the focus, and is answered again",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate((selector) => {
        window.keys = [];
        addEventListener("keydown", ({ key }) => window.keys.push(key));
        document.querySelector(`${selector} input`).focus();
      }, QUESTION);
      await page.press("ArrowDown");
      await page.press("ArrowDown");
      await page.press("Tab");
      // A page that moves on by arrows has not heard of them.
      assert.deepEqual(await page.evaluate(() => window.keys), ["Tab"]);
      assert.equal(await page.evaluate(() => document.activeElement.className), "commit");
      await page.press("Enter");
      const now = await page.evaluate(shown, QUESTION);
      assert.ok(now.committed);
      assert.deepEqual(now.marks, ["", "", "right"]);
      assert.ok(now.result.startsWith("Right. "), now.result);
      assert.equal(await page.evaluate(() => document.activeElement.className), "commit");
      // Final: another Enter changes nothing.
      await page.press("Enter");
      assert.deepEqual(await page.evaluate(shown, QUESTION), now);
      await page.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.className), "again");
      await page.press("Enter");
      const open2 = await page.evaluate(shown, QUESTION);
      assert.deepEqual(open2, {
        committed: false,
        disabled: false,
        chosen: -1,
        marks: ["", "", ""],
        result: "",
        again: false,
      });
      assert.equal(await page.evaluate(() => document.activeElement.type), "radio");
      assert.equal(await page.evaluate(stored), null);
    },
  },
  {
    name: "the quiz asks for a choice before a commitment, in a polite message",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.click(`${QUESTION} .commit`);
      const now = await page.evaluate(shown, QUESTION);
      assert.equal(now.committed, false);
      assert.equal(now.result, "Choose an answer, then commit to it.");
      assert.equal(
        await page.evaluate(
          (selector) => document.querySelector(`${selector} .result`).getAttribute("role"),
          QUESTION,
        ),
        "status",
      );
      await page.click(option(2));
      assert.equal((await page.evaluate(shown, QUESTION)).result, "");
    },
  },
  {
    name: "answers to the quiz are there after a reload, and gone when forgotten",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.click(option(3));
      await page.click(`${QUESTION} .commit`);
      await page.evaluate(() => {
        const first = document.querySelector("pe-quiz pe-question");
        first.querySelector("input").click();
        first.querySelector(".commit").click();
      });
      const before = await page.evaluate(shown, QUESTION);
      const line = await page.evaluate(progress);
      assert.match(line, /^1 of \d+ answered, 1 right$/);
      await open(page, base);
      assert.deepEqual(await page.evaluate(shown, QUESTION), before);
      assert.equal(await page.evaluate(progress), line);
      await page.click("pe-quiz > .act button:last-child");
      assert.equal((await page.evaluate(shown, QUESTION)).committed, false);
      assert.match(await page.evaluate(progress), /^0 of /);
      assert.equal(await page.evaluate(stored), null);
    },
  },
  {
    name: "hostile answers in storage do the quiz no harm",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const text of [
        "{",
        '{"version":9,"answers":{"clocks-slowest":0}}',
        '{"version":1,"answers":{"clocks-slowest":99,"nothing":1,"order-pooled":"0","__proto__":{"x":1}}}',
      ]) {
        await page.evaluate((value) => localStorage.setItem("posenc-answers", value), text);
        await open(page, base);
        assert.equal((await page.evaluate(shown, QUESTION)).committed, false, text);
        assert.match(await page.evaluate(progress), /^0 of /);
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "without storage the quiz works, and says once that answers are not kept",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        Object.defineProperty(window, "localStorage", {
          get() {
            throw new DOMException("refused", "SecurityError");
          },
        });
      });
      await page.click(option(1));
      await page.click(`${QUESTION} .commit`);
      const now = await page.evaluate(shown, QUESTION);
      assert.ok(now.committed);
      assert.ok(now.result.endsWith("Your answers are not kept in this browser."), now.result);
      await page.evaluate(answerQuiz, true);
      const [, total] = (await page.evaluate(progress)).match(/^(\d+) of \1 answered, \1 right$/);
      assert.ok(Number(total) >= 24);
      const notes = () =>
        [...document.querySelectorAll(".result")].filter((result) => result.textContent.includes("not kept"))
          .length;
      assert.equal(await page.evaluate(notes), 1);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the quiz counts, sums up by section, completes and starts again without touching predictions",
    page: { reducedMotion: true },
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(listen);
      await page.evaluate((selector) => {
        document.querySelector(`${selector} input`).click();
        document.querySelector(`${selector} .commit`).click();
      }, QUESTION);
      await page.evaluate(answerQuiz, false);
      const total = await page.evaluate(() => document.querySelectorAll("pe-quiz pe-question").length);
      assert.equal(await page.evaluate(progress), `${total} of ${total} answered, 0 right`);
      const complete = await page.evaluate(() => window.heard.filter(({ type }) => type === "pe-complete"));
      assert.deepEqual(complete, [
        { type: "pe-complete", detail: { score: 0, total }, bubbles: true, composed: true },
      ]);
      const summary = () =>
        [...document.querySelectorAll("pe-quiz .summary li")].map((item) =>
          item.textContent.replace(/\s+/g, " ").trim(),
        );
      const lines = await page.evaluate(summary);
      assert.equal(lines.length, 20);
      assert.equal(lines[0], "1 Missing order 0 of 2");
      await page.click("pe-quiz > .act button:first-child");
      assert.equal(await page.evaluate(progress), `0 of ${total} answered, 0 right`);
      assert.deepEqual(await page.evaluate(summary), []);
      assert.equal((await page.evaluate(shown, QUESTION)).committed, true);
      await page.evaluate(answerQuiz, true);
      assert.equal(await page.evaluate(progress), `${total} of ${total} answered, ${total} right`);
    },
  },
  {
    name: "questions of the quiz take as much room before their script as after it",
    async run({ page, base, assert }) {
      await open(page, base);
      const heights = await page.evaluate(() =>
        [...document.querySelectorAll("pe-question")].map((question) => {
          const form = question.querySelector("form");
          const written = question.querySelector(".written");
          const after = form.offsetHeight;
          form.hidden = true;
          written.hidden = false;
          const before = written.offsetHeight;
          form.hidden = false;
          written.hidden = true;
          return [before, after, question.getAttribute("question")];
        }),
      );
      assert.ok(heights.length > 40);
      assert.deepEqual(
        heights.filter(([before, after]) => Math.abs(before - after) > 1),
        [],
      );
    },
  },
  {
    name: "questions of the quiz that are taken out and put back, or copied, still work",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.click(option(1));
      await page.click(`${QUESTION} .commit`);
      const before = await page.evaluate(shown, QUESTION);
      await page.evaluate((selector) => {
        const question = document.querySelector(selector);
        const copy = question.cloneNode(true);
        question.replaceWith(copy);
      }, QUESTION);
      assert.deepEqual(await page.evaluate(shown, QUESTION), before);
      await page.click(`${QUESTION} .again`);
      assert.equal((await page.evaluate(shown, QUESTION)).committed, false);
      await page.evaluate((selector) => {
        const question = document.querySelector(selector);
        const { parentNode, nextSibling } = question;
        question.remove();
        parentNode.insertBefore(question, nextSibling);
        const quiz = document.querySelector("pe-quiz");
        quiz.replaceWith(quiz.cloneNode(true));
      }, QUESTION);
      const forms = (selector) => document.querySelectorAll(`${selector} form`).length;
      assert.equal(await page.evaluate(forms, QUESTION), 1);
      assert.equal(await page.evaluate(() => document.querySelectorAll("pe-quiz > .progress").length), 1);
    },
  },
  ...["light", "dark"].map((colorScheme) => ({
    name: `axe-core finds nothing serious in an answered quiz and the teacher's page in ${colorScheme} colours`,
    page: { colorScheme },
    engines: IN_COLOURS[colorScheme],
    async run({ page, base, assert }) {
      const findings = async () => {
        await page.evaluate(AXE);
        return page.evaluate(async () => {
          const context = document.querySelector("pe-quiz") ? [["#wrap-up"], ["pe-question"]] : ["body"];
          const { violations } = await window.axe.run({ include: context }, { resultTypes: ["violations"] });
          return violations
            .filter(({ impact }) => impact === "serious" || impact === "critical")
            .flatMap(({ id, nodes }) =>
              nodes.map(({ target, any }) => `${id}: ${target} ${any[0]?.message ?? ""}`),
            );
        });
      };
      await open(page, base);
      await page.evaluate(answerQuiz, false);
      await page.evaluate((selector) => {
        document.querySelector(`${selector} input`).click();
        document.querySelector(`${selector} .commit`).click();
      }, QUESTION);
      assert.deepEqual(await findings(), []);
      await page.goto(`${base}teachers.html`);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      assert.deepEqual(await findings(), []);
    },
  })),
  ...[320, 1280].map((width) => ({
    name: `with the quiz answered, lesson and teacher's page are never wider than a window of ${width} px`,
    page: { width, height: 800 },
    async run({ page, base, assert }) {
      const spills = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      await open(page, base);
      await page.evaluate(answerQuiz, false);
      assert.ok((await page.evaluate(spills)) <= 0);
      await page.goto(`${base}teachers.html`);
      assert.ok((await page.evaluate(spills)) <= 0);
    },
  })),
];
