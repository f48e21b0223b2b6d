// The training figure: what it shows is what Node gets, wherever it is trained, and what is stopped has stopped.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadTrainer } from "posenc/train";
import { ROOT } from "../../scripts/run.mjs";
import { openFigure, owed } from "./figure.mjs";

const TAG = "pe-train";
const study = JSON.parse(readFileSync(join(ROOT, "web/figures/training-study.json"), "utf8"));
/** A training of a moment, as attributes without their dashes' prefix. */
const SMALL = {
  task: "echo",
  steps: 12,
  "seq-len": 8,
  batch: 4,
  "d-model": 16,
  encodings: "none learned rope ntk t5",
};
const query = (attributes) =>
  `?${Object.entries(attributes)
    .map(([name, value]) => `train.${name}=${encodeURIComponent(value)}`)
    .join("&")}`;
const CONFIGS = {
  none: { encoding: "none" },
  learned: { encoding: "learned" },
  rope: { encoding: "rope" },
  ntk: { encoding: "rope" },
  t5: { encoding: "t5" },
};
const SHARED = { task: "echo", dModel: 16, seqLen: 8, maxSeqLen: 64, batch: 4, steps: 12 };

/** A finished run of the small training, in Node. */
async function finished(name, seed = 0, shared = SHARED) {
  const run = (await loadTrainer()).createRun({ ...shared, ...CONFIGS[name], seed });
  return { run, steps: run.step(shared.steps) };
}

/** Mean loss and % of right answers of the first test sequences of a length, one by one. */
function tested(run, multiple, ropeType) {
  let [loss, right, asked] = [0, 0, 0];
  for (let first = 0; first < 128 / multiple; first++) {
    const one = run.evaluate(multiple * run.config.seqLen, { ropeType, first, count: 1 });
    if (one.asked === 0) continue;
    loss += one.loss * one.asked;
    right += Math.round(one.accuracy * one.asked);
    asked += one.asked;
  }
  return { multiple, loss: loss / asked, accuracy: 100 * (right / asked) };
}

const record = async (page) =>
  JSON.parse(await page.evaluate((tag) => document.querySelector(tag).toRecord(), TAG));

/** Presses a button by its words. */
const press = async (figure, words) => {
  await figure.page.evaluate(
    ([tag, wanted]) => {
      const buttons = [...document.querySelector(tag).shadowRoot.querySelectorAll(".buttons button")];
      buttons.find((button) => button.textContent.trim() === wanted).click();
    },
    [TAG, words],
  );
  await figure.settle();
};
const until = async (figure, pattern) => {
  await figure.page.waitFor(
    ([tag, source]) =>
      new RegExp(source).test(document.querySelector(tag).shadowRoot.querySelector(".status").textContent),
    [TAG, pattern.source],
    { timeout: 60_000 },
  );
  await figure.settle();
};
/** Runs in the page: counts workers and which of them have ended. */
const watchWorkers = (page) =>
  page.evaluate(() => {
    window.workers = [];
    window.Worker = class extends window.Worker {
      constructor(...given) {
        super(...given);
        window.workers.push(this);
      }
      terminate() {
        this.ended = true;
        super.terminate();
      }
    };
  });
const workers = (page) => page.evaluate(() => window.workers.map(({ ended }) => ended === true));

/** Runs in the page: no worker can start, and the memory of each WebAssembly module is noted, but not held. */
const watchMemory = (page) =>
  page.evaluate(() => {
    window.Worker = undefined;
    window.memories = [];
    for (const name of ["instantiate", "instantiateStreaming"]) {
      const make = WebAssembly[name].bind(WebAssembly);
      WebAssembly[name] = async (...given) => {
        const made = await make(...given);
        for (const one of Object.values((made.instance ?? made).exports))
          if (one instanceof WebAssembly.Memory) window.memories.push(new WeakRef(one));
        return made;
      };
    }
  });
/** MiB of those memories that still live. */
const memories = (page) =>
  page.evaluate(() =>
    window.memories.flatMap((memory) => {
      const bytes = memory.deref()?.buffer.byteLength;
      return bytes === undefined ? [] : [bytes / 2 ** 20];
    }),
  );

/** Every number of a record is, to the bit, what Node gets. */
async function sameAsNode(assert, found, seeds, shared = SHARED) {
  assert.deepEqual(
    found.seeds.map(({ seed }) => seed),
    seeds,
  );
  for (const { seed, models } of found.seeds) {
    assert.deepEqual(
      models.map(({ name }) => name),
      Object.keys(CONFIGS),
    );
    for (const { name, losses, accuracies, tests } of models) {
      const { run, steps } = await finished(name, seed, shared);
      assert.deepEqual(losses, [...steps.losses], `${name}, seed ${seed}`);
      assert.deepEqual(
        accuracies,
        [...steps.accuracies].map((accuracy) => 100 * accuracy),
      );
      const ropeType = name === "ntk" ? "ntk" : "default";
      assert.deepEqual(
        tests,
        [1, 2, 4, 8].map((multiple) => tested(run, multiple, ropeType)),
        `${name}, seed ${seed}`,
      );
      run.free();
    }
  }
}

export default [
  {
    name: "one press of Train trains all models in a worker, and every number is Node's to the bit",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, seeds: 2, seed: 5, reveal: true }));
      // of the page itself: its service worker keeps all files
      const early = await page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .map(({ name }) => name)
          .filter((name) => /posenc-train|training-worker|\/train-/.test(name)),
      );
      assert.deepEqual(early, [], "loaded before it is wanted");
      await watchWorkers(page);
      await press(figure, "Train");
      await until(figure, /^Done/);
      assert.match(await figure.text(".status"), /seed 6 \(2 of 2\), step 12 of 12.*in a worker/);
      assert.deepEqual(await workers(page), [false]);
      const found = await record(page);
      await sameAsNode(assert, found, [5, 6]);
      // means and deviations of the two seeds are in table and files
      const lines = await figure.exports();
      const heads = lines[0];
      assert.deepEqual(heads.slice(0, 4), ["axis 0", "times_trained_length", "none", "none_deviation"]);
      for (const [at, name] of Object.keys(CONFIGS).entries()) {
        const [a, b] = found.seeds.map(({ models }) => models[at].tests[3].accuracy);
        const column = heads.indexOf(name);
        assert.ok(Math.abs(Number(lines[4][column]) - (a + b) / 2) < 1e-9, name);
        assert.ok(Math.abs(Number(lines[4][column + 1]) - Math.abs(a - b) / Math.SQRT2) < 1e-9, name);
      }
      const bars = await figure.texts(".findings li");
      assert.match(
        bars.at(-1),
        /^Means of 2 seeds, with bars of one standard deviation each way\. The settings are not/,
      );
      const rows = await figure.rows();
      assert.deepEqual(
        rows.map(([name]) => name),
        ["none", "learned", "RoPE", "RoPE + NTK", "T5"],
      );
      assert.match(rows[0][1], /^\d+\.\d\s% ± \d+\.\d$/);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "where no worker can start, the page's own thread trains the same, in slices, and says so",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query(SMALL));
      await page.evaluate(() => {
        window.Worker = function Worker() {
          throw new Error("workers are forbidden here");
        };
      });
      await press(figure, "Train");
      await until(figure, /^Done/);
      assert.match(
        await figure.text(".status"),
        /on the page’s own thread in slices of 8 ms, because no worker could start \(workers are forbidden here\)$/,
      );
      await sameAsNode(assert, await record(page), [0]);
    },
  },
  {
    name: "a worker whose file does not load is replaced by the page's own thread",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query(SMALL));
      await page.evaluate(() => {
        const { Worker } = window;
        window.Worker = class extends Worker {
          constructor(_address, options) {
            super(new URL("no-such-worker.js", location.href), options);
          }
        };
      });
      await press(figure, "Train");
      await until(figure, /^Done/);
      assert.match(await figure.text(".status"), /on the page’s own thread/);
      await sameAsNode(assert, await record(page), [0]);
    },
  },
  {
    name: "in a file from a disk the figure trains on the page's own thread",
    async run({ page, assert }) {
      const address = pathToFileURL(join(ROOT, "dist/offline/pe-train.html")).href;
      await page.goto(address);
      await page.waitFor((tag) => document.querySelector(tag)?.shadowRoot?.querySelector("footer"), TAG);
      await page.evaluate(
        ([tag, attributes]) => {
          for (const [name, value] of Object.entries(attributes))
            document.querySelector(tag).setAttribute(name, value);
        },
        [TAG, SMALL],
      );
      const figure = { page, settle: () => page.evaluate(() => new Promise(requestAnimationFrame)) };
      await figure.settle();
      await press(figure, "Train");
      await until(figure, /^Done.*this page is one file/);
      await sameAsNode(assert, await record(page), [0]);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "a curve falls while it is trained; pause, step and stop do what they say",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        TAG,
        query({ ...SMALL, steps: 5000, encodings: "t5 none" }),
      );
      await watchWorkers(page);
      await press(figure, "Train");
      await page.waitFor(
        (tag) => {
          const { seeds } = JSON.parse(document.querySelector(tag).toRecord());
          const losses = seeds[0]?.models.at(-1).losses ?? [];
          const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
          return losses.length > 60 && mean(losses.slice(-20)) < 0.8 * mean(losses.slice(0, 5));
        },
        TAG,
        { timeout: 60_000 },
      );
      await press(figure, "Pause");
      await until(figure, /^Paused at step/);
      const steps = async () => (await record(page)).seeds[0].models.map(({ losses }) => losses.length);
      // what was on its way when it was paused is heard
      let before = await steps();
      for (;;) {
        await figure.settle();
        const now = await steps();
        if (now.join() === before.join()) break;
        before = now;
      }
      await press(figure, "Step");
      await page.waitFor(
        ([tag, count]) =>
          JSON.parse(document.querySelector(tag).toRecord()).seeds[0].models.every(
            ({ losses }) => losses.length >= count,
          ),
        [TAG, Math.min(...before) + 1],
      );
      await figure.settle();
      const after = await steps();
      assert.ok(Math.max(...after) - Math.max(...before) <= 1, `${before} and ${after}`);
      assert.match(await figure.text(".status"), /^Paused/);
      await press(figure, "Train on");
      await until(figure, /^step/);
      await press(figure, "Stop");
      await until(figure, /^step \d+ of 5000\. Stopped\./);
      assert.deepEqual(await workers(page), [true]);
      const curves = await figure.page.evaluate(
        (tag) =>
          [...document.querySelector(tag).shadowRoot.querySelectorAll(".pictures path.curve")].map(
            (path) => path.getAttribute("d").length,
          ),
        TAG,
      );
      assert.ok(curves.length >= 2 && Math.max(...curves) > 100, `${curves}`);
      assert.match(await figure.text(".takeaway"), /^Stopped at step \d+ of 5000: the curves stay/);
    },
  },
  {
    name: "a learning rate that is too large is said to diverge, its curve stays, and no number is none",
    async run({ page, base, assert }) {
      const settings = { ...SMALL, batch: 8, steps: 40, "learning-rate": 10, reveal: true };
      const figure = await openFigure(page, base, TAG, query(settings));
      await press(figure, "Train");
      await until(figure, /^Done/);
      const { run } = await finished("t5", 0, { ...SHARED, batch: 8, steps: 40, learningRate: 10 });
      const { step, diverged } = run.metrics();
      assert.equal(diverged, true);
      const said = await figure.texts(".findings li");
      assert.ok(
        said[0].startsWith("With the learning rate 10 these diverged:") &&
          said[0].includes(`T5 at step ${step + 1}.`),
        said.join("\n"),
      );
      const t5 = (await record(page)).seeds[0].models.at(-1);
      assert.deepEqual([t5.losses.length, t5.divergedAtStep, t5.tests], [step, step + 1, []]);
      const everything = (await figure.texts("section")).join();
      assert.doesNotMatch(everything, /NaN|undefined|Infinity|not a number/);
      const paths = await page.evaluate(
        (tag) =>
          document
            .querySelector(tag)
            .shadowRoot.querySelector('.pictures path[data-column="t5"]')
            .getAttribute("d"),
        TAG,
      );
      assert.match(paths, /^M[\d.]+ [\d.]+/);
      assert.deepEqual((await figure.rows()).at(-1).slice(1, 5), ["–", "–", "–", "–"]);
    },
  },
  {
    name: "a figure that is taken away, or whose page is left, ends its training at once",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, steps: 5000 }));
      await watchWorkers(page);
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await page.evaluate((tag) => {
        const element = document.querySelector(tag);
        window.place = element.parentElement;
        window.figure = element;
        element.remove();
      }, TAG);
      assert.deepEqual(await workers(page), [true]);
      await page.evaluate(() => window.place.append(window.figure));
      await figure.settle();
      assert.match(await figure.text(".status"), /Nothing is trained yet/);
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true })));
      assert.deepEqual(await workers(page), [true, true]);
      await until(figure, /Stopped, because the page was left\.$/);
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await figure.set({ seed: 9 });
      assert.deepEqual(await workers(page), [true, true, true]);
      assert.match(await figure.text(".status"), /Nothing is trained yet/);
    },
  },
  {
    name: "on the page's own thread, too, a figure that is taken away trains no further, and its memory is free",
    async run({ page, base, engine, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, steps: 5000 }));
      await watchMemory(page);
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      const asked = await page.evaluate(async (tag) => {
        document.querySelector(tag).remove();
        const { setTimeout: later } = window;
        let count = 0;
        window.setTimeout = (...given) => {
          if (new Error().stack.includes("pe-train")) count++;
          return later(...given);
        };
        await new Promise((done) => later(done, 300));
        return count;
      }, TAG);
      assert.equal(asked, 0);
      if (engine !== "chromium") return; // no other collects garbage at a word
      let held = [];
      for (let i = 0; i < 10 && (i === 0 || held.length > 0); i++) {
        await page.heap();
        held = await memories(page);
      }
      assert.deepEqual(held, []);
    },
  },
  {
    name: "a ranking hides the results until it is whole, stands in the link, and is scored",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, encodings: "none t5 rope" }));
      const ranks = () => figure.texts(".rank");
      assert.deepEqual(await ranks(), ["– none", "– RoPE", "– T5"]);
      await press(figure, "Train");
      await until(figure, /^Done/);
      const points = () =>
        page.evaluate(
          (tag) => document.querySelector(tag).shadowRoot.querySelectorAll(".pictures circle").length,
          TAG,
        );
      assert.equal(await points(), 0);
      assert.match(await figure.text(".takeaway"), /^The results are in: rank/);
      for (const at of [3, 1, 2]) await figure.click(`.rank:nth-of-type(${at})`);
      assert.deepEqual(await ranks(), ["2. none", "3. RoPE", "1. T5"]);
      assert.equal(await figure.attribute("ranking"), "t5 none rope");
      assert.equal(await points(), 12);
      const last = Object.fromEntries(
        (await record(page)).seeds[0].models.map(({ name, tests }) => [name, tests[3].accuracy]),
      );
      const pairs = [
        ["t5", "none"],
        ["t5", "rope"],
        ["none", "rope"],
      ].map(([a, b]) => last[a] - last[b]);
      const right = pairs.filter((ahead) => ahead > 2).length;
      const wrong = pairs.filter((ahead) => ahead < -2).length;
      const score = await figure.text(".score");
      assert.ok(
        score.startsWith(`Your ranking orders 3 pairs: ${right} came out as you said, ${wrong} the`),
        score,
      );
      await page.waitFor(() => /train\.ranking=t5/.test(location.search));
      await page.waitFor(() => /train\.seq-len=8/.test(location.search));
    },
  },
  {
    name: "before training, the results shown are the recorded study's and no others, and are called so",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ task: "echo", reveal: true }));
      assert.match(await figure.text(".takeaway"), /^Recorded in the study of the lesson, not trained here:/);
      const rows = await figure.rows();
      const t5 = rows.find(([name]) => name === "T5");
      assert.deepEqual(t5.slice(1), Array(4).fill("100.0\u00a0%"));
      const rope = rows.find(([name]) => name === "RoPE");
      assert.deepEqual(
        rope.slice(1).map((cell) => Number.parseFloat(cell)),
        study.echo.rows.RoPE.map((cell) => Number.parseFloat(cell)),
      );
      assert.match((await figure.texts("caption"))[0], /recorded study, 10 seeds$/);
      // what the study has not measured is not shown as its
      const note = () => figure.texts(".pictures text.note");
      await figure.set({ measure: "loss" });
      assert.deepEqual(await note(), ["Press Train.", "The study recorded no loss."]);
      await figure.set({ measure: null, "echo-offset": 2 });
      assert.deepEqual(await note(), ["Press Train.", "The study had other settings."]);
      assert.match(await figure.text(".takeaway"), /^Nothing is trained yet/);
      assert.equal((await figure.rows()).flat().join("").includes("%"), false);
      // nor before the reader has asked for it
      await figure.set({ "echo-offset": null, reveal: null });
      assert.equal((await figure.rows()).flat().join("").includes("%"), false);
    },
  },
  {
    name: "a look inside shows the attention, the answers, the table and the text of the trained models",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, column: "t5", length: "2" }));
      await press(figure, "Train");
      await until(figure, /^Done/);
      const shows = (selector, pattern) =>
        page.waitFor(
          ([tag, wanted, source]) =>
            new RegExp(source).test(
              document.querySelector(tag).shadowRoot.querySelector(`.inside ${wanted}`)?.textContent ?? "",
            ),
          [TAG, selector, pattern.source],
          { timeout: 60_000 },
        );
      await shows("p", /Attention of T5\s+after step 12:.*16 of each/);
      await figure.settle();
      assert.equal((await figure.canvases(".inside canvas.map")).length, 4);
      const { run } = await finished("t5");
      const { tokens, targets, answers } = run.example(16);
      const { weights } = run.attention(tokens);
      const peak = Math.max(
        ...Array.from(
          { length: 16 },
          (_, key) =>
            Array.from({ length: 16 }, (__, at) => weights[at * 16 + key]).reduce((a, b) => a + b) / 16,
        ),
      );
      const [caption] = await figure.texts(".inside figcaption");
      assert.ok(Number(caption.match(/(\d+)\s%$/)[1]) >= Math.round(100 * peak), caption);

      await figure.set({ look: "answers" });
      const asked = [...targets].filter((target) => target >= 0);
      const right = [...targets].filter((target, t) => target >= 0 && target === answers[t]).length;
      await shows("p", new RegExp(`T5\\s+after step 12: ${right} of ${asked.length} answers are right`));
      assert.equal((await figure.texts(".inside li")).length, 16);
      assert.equal((await figure.texts(".inside li.right")).length, right);

      await figure.set({ look: "positions" });
      await shows("p", /The learned table after step 12\. Its first 8 rows are trained/);
      await figure.settle();
      assert.equal(new Set((await figure.canvases(".inside canvas.map")).map(({ hex }) => hex)).size, 2);

      await figure.set({ look: "text" });
      await shows("p", /Only the tiny language is text/);
      await figure.set({ task: "language" });
      await press(figure, "Train");
      await shows("p.text", /.{60}/);
      await until(figure, /^Done/);
      await shows("p", /T5\s+after step 12 was given\s+8 characters and wrote 56 more/);
      const language = await finished("t5", 0, { ...SHARED, task: "language" });
      const given = language.run.example(8).tokens;
      const written = language.run.generate(given, 56, { seed: 0, finalLength: 64 });
      const symbols = (await loadTrainer()).symbols("language");
      const text = Array.from(written, (id) => symbols[id]).join("");
      const seen = await page.evaluate(
        (tag) => document.querySelector(tag).shadowRoot.querySelector(".inside p.text").textContent,
        TAG,
      );
      assert.equal(seen, text);
    },
  },
  {
    name: "the training figure refuses what it cannot train, and keeps what is shown",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query(SMALL));
      await figure.refuses(
        { encodings: "rope abacus" },
        /^encodings must hold some of none, .*, got “abacus”$/,
      );
      await figure.refuses(
        { encodings: "one-sided" },
        /^encodings must hold at least one of none, sinusoidal,/,
      );
      await figure.refuses({ steps: 6000 }, "steps must be a whole number from 0 to 5000, got “6000”");
      // too large together: said when they are to be trained
      await figure.set({
        "seq-len": 64,
        batch: 64,
        "d-model": 64,
        encodings: "none sinusoidal learned rope t5",
      });
      await press(figure, "Train");
      await until(
        figure,
        /could not go on: 5 models of this size and a look inside need [\d.]+ MiB, and at most 24\.0 MiB are given/,
      );
      await figure.set({ batch: 4, "seq-len": 8 });
      await press(figure, "Train");
      await until(figure, /^Done/);
      assert.equal(await figure.text(".problem"), "");
    },
  },
  {
    name: "a page that is hidden goes on training, and shows it when it is back",
    async run({ page, base, assert }) {
      const steps = 400;
      for (const inWorker of [true, false]) {
        const figure = await openFigure(page, base, TAG, query({ ...SMALL, steps, reveal: true }));
        if (!inWorker)
          await page.evaluate(() => {
            window.Worker = undefined;
          });
        // all at once: a small run may be over before a driver speaks again
        const before = await page.evaluate(async (tag) => {
          const root = document.querySelector(tag).shadowRoot;
          const status = () => root.querySelector(".status").textContent;
          const { requestAnimationFrame: ask } = window;
          const buttons = [...root.querySelectorAll(".buttons button")];
          buttons.find(({ textContent }) => textContent.trim() === "Train").click();
          while (!/^step [1-9]/.test(status())) await new Promise((done) => ask(done));
          // as browsers do: a hidden page gets no frames
          const waiting = [];
          window.requestAnimationFrame = (run) => waiting.push(run);
          const turn = (state) => {
            Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
            Object.defineProperty(document, "hidden", { value: state === "hidden", configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
          };
          turn("hidden");
          window.comeBack = () => {
            window.requestAnimationFrame = ask;
            for (const run of waiting) ask(run);
            turn("visible");
          };
          return status();
        }, TAG);
        await page.waitFor(
          (tag) =>
            JSON.parse(document.querySelector(tag).toRecord()).seeds[0].models.every(
              ({ tests }) => tests.length === 4,
            ),
          TAG,
          { timeout: 60_000 },
        );
        assert.match(before, /^step \d+ of 400/);
        await page.evaluate(() => window.comeBack());
        await until(figure, /^Done.*step 400 of 400/);
        await sameAsNode(assert, await record(page), [0], { ...SHARED, steps });
        assert.match(await figure.text(".takeaway"), /^At 8× the trained length/);
        assert.equal((await figure.rows()).flat().includes("–"), false);
        assert.deepEqual(await page.consoleErrors(), []);
      }
    },
  },
  {
    name: "two figures train at once, each as if it were alone",
    async run({ page, base, assert }) {
      await openFigure(page, base, TAG, query(SMALL));
      const records = await page.evaluate(
        async ([tag, attributes]) => {
          const first = document.querySelector(tag);
          const second = document.createElement(tag);
          for (const [name, value] of Object.entries({ ...attributes, seed: 8 }))
            second.setAttribute(name, value);
          first.after(second);
          await second.ready;
          const figures = [first, second];
          for (const { shadowRoot } of figures) shadowRoot.querySelector(".buttons .main").click();
          const isDone = ({ shadowRoot }) => /^Done/.test(shadowRoot.querySelector(".status").textContent);
          while (!figures.every(isDone)) await new Promise(requestAnimationFrame);
          return figures.map((figure) => JSON.parse(figure.toRecord()));
        },
        [TAG, SMALL],
      );
      await sameAsNode(assert, records[0], [0]);
      await sameAsNode(assert, records[1], [8]);
    },
  },
  {
    name: "whatever comes in the midst of a run, one worker at most is at work, and none is heard after its end",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ ...SMALL, steps: 5000 }));
      await watchWorkers(page);
      const act = async (script) => {
        await page.evaluate(`const figure = document.querySelector("${TAG}"); ${script}`);
        await figure.settle();
      };
      const main = 'figure.shadowRoot.querySelector(".buttons .main")';
      // Train twice, before the figure has drawn the first
      await act(`${main}.click(); ${main}.click();`);
      await until(figure, /^step [1-9]/);
      assert.deepEqual(await workers(page), [true, false]);
      // another size
      await figure.set({ "d-model": 32 });
      assert.match(await figure.text(".status"), /Nothing is trained yet/);
      assert.deepEqual(await workers(page), [true, true]);
      // back to what the author wrote: nothing
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await act("figure.reset();");
      assert.match(await figure.text(".status"), /300 steps each.*Nothing is trained yet/);
      // away while it loads
      await act(`${main}.click(); window.place = figure.parentElement; window.figure = figure; figure.remove();
        window.place.append(figure);`);
      assert.match(await figure.text(".status"), /Nothing is trained yet/);
      assert.deepEqual(await workers(page), [true, true, true, true]);
      // news of a worker that has ended
      await figure.set(SMALL);
      await act(`for (const worker of window.workers)
        worker.onmessage?.({ data: { kind: "failed", sentence: "too late" } });`);
      assert.match(await figure.text(".status"), /Nothing is trained yet/);
      await press(figure, "Train");
      await until(figure, /^Done/);
      await sameAsNode(assert, await record(page), [0]);
      // a worker that breaks off: what it has brought stays
      await figure.set({ steps: 5000 });
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await act("window.workers.at(-1).onerror(new ErrorEvent('error', { message: 'out of memory' }));");
      assert.match(await figure.text(".status"), /^Training could not go on: out of memory/);
      assert.match(await figure.text(".takeaway"), /^Training broke off after step [1-9]\d* of 5000/);
      assert.ok((await record(page)).seeds[0].models[0].losses.length > 0);
      assert.equal((await workers(page)).includes(false), false);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "wrong settings are answered by name and rule, while training goes on and its picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        TAG,
        query({ ...SMALL, seed: "9e9", steps: "NaN", "learning-rate": -1 }),
      );
      assert.match(
        await figure.text(".problem"),
        /^seed must be a whole number from 0 to 999999, got “9e9”$/,
      );
      await watchWorkers(page);
      // what is shown is what is trained: the wrong values give way
      await press(figure, "Train");
      await until(figure, /^(step [1-9]|Done)/);
      assert.equal(await figure.text(".problem"), "");
      await figure.set({ steps: 5000, batch: 64 });
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      const { settings, seeds } = await record(page);
      assert.deepEqual([settings.seqLen, settings.dModel, settings.learningRate], [8, 16, 0.008]);
      assert.equal(seeds[0].seed, 0);
      const whole = (name, from, to, got) =>
        `${name} must be a whole number from ${from} to ${to}, got “${got}”`;
      const wrong = [
        ["steps", "1e9", whole("steps", 0, 5000, "1e9")],
        ["steps", "NaN", whole("steps", 0, 5000, "NaN")],
        ["steps", "", whole("steps", 0, 5000, "")],
        ["seeds", "0", whole("seeds", 1, 10, "0")],
        ["batch", "Infinity", whole("batch", 1, 64, "Infinity")],
        ["seq-len", "12.5", whole("seq-len", 8, 64, "12.5")],
        ["echo-offset", "-3", whole("echo-offset", 1, 7, "-3")],
        ["learning-rate", "-0.1", "learning-rate must be a number from 0 to 10, got “-0.1”"],
        ["learning-rate", "fast", "learning-rate must be a number from 0 to 10, got “fast”"],
        ["d-model", "4096", "d-model must be one of 16, 32, 48, 64, got “4096”"],
        ["num-heads", "3", "num-heads must be one of 1, 2, 4, got “3”"],
        ["task", "[object Object]", /^task must be one of which-side, .*, got “\[object Object\]”$/],
        ["ranking", "rope abacus", /^ranking must hold some of none, .*, got “abacus”$/],
        ["encodings", "x".repeat(200), /^encodings must be at most 120 characters, got “x{40}”$/],
      ];
      for (const [name, value, sentence] of wrong) {
        const problem = await page.evaluate(
          async ([tag, attribute, text]) => {
            const element = document.querySelector(tag);
            const before = element.getAttribute(attribute);
            const frames = async () => {
              for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
            };
            element.setAttribute(attribute, text);
            await frames();
            const said = element.shadowRoot.querySelector(".problem").textContent;
            if (before === null) element.removeAttribute(attribute);
            else element.setAttribute(attribute, before);
            await frames();
            return said;
          },
          [TAG, name, value],
        );
        if (typeof sentence === "string") assert.equal(problem, sentence);
        else assert.match(problem, sentence);
        const thrown = await page.evaluate(
          ([tag, attribute, text]) => {
            try {
              document
                .querySelector(tag)
                .setState({ version: 1, figure: "train", state: { [attribute]: text } });
              return null;
            } catch (error) {
              return [error.name, error.message];
            }
          },
          [TAG, name, value],
        );
        // names that are none are answered in place
        if (name === "ranking") await figure.set({ ranking: null });
        else assert.deepEqual(thrown, ["RangeError", problem]);
      }
      assert.deepEqual(await workers(page), [true, false]);
      assert.match(await figure.text(".status"), /^step [1-9]/);
      // a script's wrong value, too, gives way to a press of Train
      await press(figure, "Stop");
      await figure.set({ batch: "many" });
      assert.match(await figure.text(".problem"), /^batch must be/);
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      assert.equal(await figure.text(".problem"), "");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the trainer holds less than 32 MB, whatever is chosen",
    async run({ page, base, assert }) {
      const sizes = { ...SMALL, steps: 2, "seq-len": 64, "d-model": 64, "num-layers": 2, length: 8 };
      const figure = await openFigure(page, base, TAG, query({ ...sizes, encodings: "none", batch: 34 }));
      // on the page's own thread, where its memory can be seen
      await watchMemory(page);
      const mebibytes = async () => {
        await page.waitFor(
          (tag) =>
            /Attention of/.test(document.querySelector(tag).shadowRoot.querySelector(".inside").textContent),
          TAG,
          { timeout: 60_000 },
        );
        return memories(page);
      };
      await press(figure, "Train");
      await until(figure, /^Done/);
      const [largest, ...others] = await mebibytes();
      assert.ok(largest > 24 && largest < 32 && others.length === 0, `${largest} MiB`);
      await figure.set({ batch: 54 });
      await press(figure, "Train");
      await until(
        figure,
        /could not go on: one model of this size and a look inside need 3\d\.\d MiB, and at most 24\.0 MiB are/,
      );
    },
  },
  {
    name: "RoPE that is tested with a scaling alone has its curve, its sentences and its divergence",
    async run({ page, base, assert }) {
      const settings = { ...SMALL, encodings: "pi ntk", reveal: true };
      const figure = await openFigure(page, base, TAG, query(settings));
      await press(figure, "Train");
      await until(figure, /^Done/);
      const curves = () =>
        page.evaluate(
          (tag) =>
            [
              ...document
                .querySelector(tag)
                .shadowRoot.querySelector(".pictures svg")
                .querySelectorAll("path.curve"),
            ].map(({ dataset }) => dataset.column),
          TAG,
        );
      assert.deepEqual(await curves(), ["pi"]);
      const said = await figure.texts(".findings li");
      assert.match(said[0], /^At the trained length [^:]+ right: RoPE \+ PI/);
      const [pi] = await figure.rows();
      const { losses, accuracies } = (await record(page)).seeds[0].models[0];
      assert.deepEqual(pi.slice(5), [
        "12",
        losses.at(-1).toFixed(3),
        `${accuracies.at(-1).toFixed(1)}\u00a0%`,
      ]);
      // what was not in the run has no result of it
      await figure.set({ encodings: "t5" });
      assert.equal(await figure.text(".missing"), "Not in this run: T5. Train again to have it.");
      assert.match(await figure.text(".takeaway"), /^Nothing of what is chosen has been tested/);
      await figure.set({ encodings: "pi ntk", "learning-rate": 10, steps: 40, batch: 8 });
      await press(figure, "Train");
      await until(figure, /^Done/);
      const { run } = await finished("rope", 0, { ...SHARED, batch: 8, steps: 40, learningRate: 10 });
      const { step, diverged } = run.metrics();
      assert.equal(diverged, true);
      assert.match(
        (await figure.texts(".findings li"))[0],
        new RegExp(`these diverged: RoPE \\+ PI at step ${step + 1}\\.`),
      );
    },
  },
  {
    name: "where models are tested with different numbers of seeds, that is said",
    async run({ page, base, assert }) {
      const settings = { ...SMALL, steps: 1, encodings: "none t5", seeds: 2, reveal: true };
      const figure = await openFigure(page, base, TAG, query(settings));
      // a step of both, two tests, a step of both, one test
      for (let round = 0; round < 5; round++) {
        await press(figure, "Step");
        await page.waitFor(
          ([tag, wanted]) => {
            const { seeds } = JSON.parse(document.querySelector(tag).toRecord());
            const things = seeds.flatMap(({ models }) => [
              models.every(({ losses }) => losses.length === 1),
              ...models.map(({ tests }) => tests.length === 4),
            ]);
            return things.filter(Boolean).length > wanted;
          },
          [TAG, round],
        );
        await figure.settle();
      }
      assert.match((await figure.texts(".findings li")).at(-1), /^Means of 1 to 2 seeds, with bars/);
      assert.match((await figure.rows())[0][1], / ± /);
      assert.match((await figure.texts("caption"))[0], /this run, 1 to 2 seeds$/);
      await press(figure, "Stop");
      assert.match(await figure.text(".status"), /Stopped\. The curves and what was tested stay/);
      assert.match(await figure.text(".takeaway"), /^At 8× the trained length/);
    },
  },
  {
    name: "while it trains, the figure is accessible, and the page goes on drawing",
    page: { width: 336, height: 800 },
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, query({ task: "echo", steps: 5000, reveal: true }));
      await press(figure, "Train");
      await until(figure, /^step [1-9]/);
      await figure.isAccessible();
      const step = async () => Number((await figure.text(".status")).match(/step (\d+)/)[1]);
      const before = await step();
      await figure.settle();
      assert.match(await figure.text(".status"), /examples\/s/);
      await page.waitFor(
        ([tag, last]) =>
          Number(
            document
              .querySelector(tag)
              .shadowRoot.querySelector(".status")
              .textContent.match(/step (\d+)/)[1],
          ) > last,
        [TAG, before],
      );
      await press(figure, "Stop");
      assert.match(await figure.text(".status"), /Stopped/);
    },
  },
  ...owed(
    TAG,
    { change: { task: "induction" } },
    {
      "the training figure is accessible at 320 pixels, and its sentence follows the task": {
        page: { width: 336, height: 800 },
        duties: ["isAccessible", "speaks"],
      },
      "the training figure offers its files and leaves nothing behind": {
        duties: ["exports", "leavesNothing"],
      },
    },
  ),
];
