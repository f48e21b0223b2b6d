// Training where workers, memory or the clock fail: what was trained stays, and what can go on goes on.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/run.mjs";
import { HEADERS, serve } from "../../scripts/serve.mjs";
import { addFile, openFaulty, quiet } from "./host.mjs";

const SMALL = { steps: 12, "seq-len": 8, batch: 4, "d-model": 16, encodings: "none rope", reveal: "true" };

/** Runs in the page: a figure with these attributes, on which a button can be pressed and whose status can be awaited. */
const begin = async ([tag, attributes]) => {
  const { host } = window;
  const figure = await host.mount(tag, attributes);
  const status = () => host.find(figure, ".status, .ratio").textContent.replace(/\s+/g, " ").trim();
  window.training = {
    figure,
    status,
    async press(words) {
      host
        .all(figure, "button")
        .find(({ textContent }) => textContent.trim() === words)
        .click();
      await host.settle(figure);
    },
    async until(pattern) {
      for (let i = 0; i < 1500 && !pattern.test(status()); i++)
        await new Promise((done) => setTimeout(done, 20));
      await host.settle(figure);
      return status();
    },
  };
};

export default [
  {
    name: "a worker that dies in the midst of training is said, what it has trained stays, and the next one trains on",
    async run({ page }) {
      const worker = readdirSync(join(ROOT, "build/package")).find((name) =>
        name.startsWith("training-worker-"),
      );
      addFile(
        "dying-worker.js",
        `import "./${worker}";
         self.channel = new BroadcastChannel("dying-worker");
         self.channel.onmessage = () => { throw new Error("the worker is gone"); };`,
      );
      await openFaulty(page, () => {
        const { Worker } = window;
        window.Worker = class extends Worker {
          constructor(address, options) {
            super(window.healthy ? address : "dying-worker.js", options);
          }
        };
      });
      await page.evaluate(begin, ["pe-train", { ...SMALL, steps: 5000 }]);
      const died = await page.evaluate(async () => {
        const { press, until, figure } = window.training;
        await press("Train");
        const trained = () =>
          JSON.parse(figure.toRecord()).seeds[0]?.models.every(({ losses }) => losses.length > 0);
        while (!trained()) await new Promise((done) => setTimeout(done, 20));
        new BroadcastChannel("dying-worker").postMessage("die");
        const said = await until(/gone/);
        const { models } = JSON.parse(figure.toRecord()).seeds[0];
        return [said, models.map(({ losses }) => losses.length > 0)];
      });
      assert.match(died[0], /the worker is gone/);
      assert.deepEqual(died[1], [true, true]);
      const next = await page.evaluate(async () => {
        const { press, until, figure } = window.training;
        window.healthy = true;
        figure.setAttribute("steps", 12);
        await window.host.settle(figure);
        await press("Train");
        return until(/^Done/);
      });
      assert.match(next, /^Done/);
      await quiet(page);
    },
  },
  {
    name: "where a page's policy allows no worker, the figure trains on the page's own thread",
    async run({ page }) {
      const policy = `${HEADERS["Content-Security-Policy"]}; worker-src 'none'`;
      const headers = { ...HEADERS, "Content-Security-Policy": policy };
      const site = await serve({ root: join(ROOT, "dist"), headers });
      const address = Object.entries(SMALL).map(
        ([name, value]) => `train.${name}=${encodeURIComponent(value)}`,
      );
      await page.goto(`${site.url}?${address.join("&")}`);
      await page.waitFor(() => {
        const figure = document.querySelector("pe-train");
        figure.scrollIntoView({ behavior: "instant" }); // once more, while figures above it come alive
        return Boolean(figure.shadowRoot?.querySelector(".status"));
      });
      const status = () => document.querySelector("pe-train").shadowRoot.querySelector(".status").textContent;
      await page.evaluate(() =>
        [...document.querySelector("pe-train").shadowRoot.querySelectorAll("button")]
          .find(({ textContent }) => textContent.trim() === "Train")
          .click(),
      );
      await page.waitFor(`return /^\\s*Done/.test((${status})())`, undefined, { timeout: 30_000 });
      assert.match(
        await page.evaluate(status),
        /on the page’s own thread in slices of 8 ms, because no worker could start/,
      );
      await site.close();
    },
  },
  {
    name: "a trainer that is refused memory says how much, and a smaller comparison trains",
    async run({ page }) {
      await openFaulty(page, () => {
        window.Worker = undefined;
        WebAssembly.Memory.prototype.grow = () => {
          throw new RangeError("out of memory");
        };
      });
      await page.evaluate(begin, ["pe-train", { ...SMALL, batch: 64, "d-model": 64, "seq-len": 32 }]);
      const found = await page.evaluate(async () => {
        const { press, until, figure } = window.training;
        await press("Train");
        const refused = await until(/memory/);
        for (const [name, value] of [
          ["batch", 4],
          ["d-model", 16],
          ["seq-len", 8],
        ])
          figure.setAttribute(name, value);
        await window.host.settle(figure);
        await press("Train");
        return [refused, await until(/^Done/)];
      });
      assert.match(found[0], /the browser refused \d+ bytes of memory/);
      assert.match(found[1], /^Done/);
      await quiet(page);
    },
  },
  {
    name: "clocks that are put back, put forward or stand still hold up no training and no measurement",
    async run({ page }) {
      await openFaulty(page, () => {
        window.Worker = undefined;
        const { now } = performance;
        let ahead = 0;
        window.putBy = (milliseconds) => {
          ahead += milliseconds;
        };
        performance.now = () => window.still ?? now.call(performance) + ahead;
        const { now: date } = Date;
        Date.now = () => date() + ahead;
      });
      await page.evaluate(begin, ["pe-train", { ...SMALL, steps: 60 }]);
      const found = await page.evaluate(async () => {
        const { press, until, figure, status } = window.training;
        const heard = new Set();
        await press("Train");
        const hour = 3_600_000;
        for (const by of [-hour, 3 * hour, -5 * hour]) {
          window.putBy(by);
          heard.add(status());
          await new Promise((done) => setTimeout(done, 30));
        }
        window.still = performance.now();
        const done = await until(/^Done/);
        window.still = undefined;
        const { seconds = 0 } = JSON.parse(figure.toRecord());
        figure.remove();
        return { done, negative: [...heard, done].filter((words) => /(?<!\S)[−-]\d/.test(words)), seconds };
      });
      assert.match(found.done, /^Done/);
      assert.deepEqual(found.negative, []);
      assert.ok(found.seconds >= 0);
      await page.evaluate(begin, ["pe-cache", { "num-layers": 2, generated: 0, prompt: 64 }]);
      const measured = await page.evaluate(async () => {
        const { press, until } = window.training;
        window.still = performance.now();
        await press("Measure");
        const still = await until(/clock/);
        window.still = undefined;
        await press("Measure");
        window.putBy(-3_600_000);
        return [still, await until(/times/)];
      });
      assert.equal(measured[0], "Nothing was measured: the clock of this browser stands still.");
      assert.match(measured[1], /^Every layer takes [\d.]+ times as long as once\.$/);
      await quiet(page);
    },
  },
];
