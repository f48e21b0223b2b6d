// The T5 figure draws the core's buckets and the bias of a table from the core.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();

const open = async (page, base, query = "") => {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-t5").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(
    () => document.querySelector("pe-t5")?.shadowRoot?.querySelector("canvas[data-map=bias]")?.width > 16,
  );
  await settle(page);
};

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

const text = (page, selector) =>
  page.evaluate(
    (wanted) =>
      document
        .querySelector("pe-t5")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );
const spoken = (page, id) =>
  page.evaluate(
    (wanted) => document.querySelector("pe-t5").shadowRoot.getElementById(wanted).getAttribute("aria-label"),
    id,
  );

const set = async (page, change) => {
  await page.evaluate((attributes) => {
    const figure = document.querySelector("pe-t5");
    for (const [name, value] of Object.entries(attributes)) figure.setAttribute(name, value);
  }, change);
  await settle(page);
};

const pixels = (page, name) =>
  page.evaluate(async (map) => {
    const canvas = document.querySelector("pe-t5").shadowRoot.querySelector(`canvas[data-map=${map}]`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return {
      size: canvas.width,
      hex: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    };
  }, name);

/** The colours of the cells in the bucket map, one text for each. */
const cellColors = (page, seqLen) =>
  page.evaluate((cells) => {
    const canvas = document.querySelector("pe-t5").shadowRoot.querySelector("canvas[data-map=buckets]");
    const unit = canvas.width / cells;
    const context = canvas.getContext("2d");
    return Array.from({ length: cells * cells }, (_, i) => {
      const [x, y] = [((i % cells) + 0.5) * unit, (Math.floor(i / cells) + 0.5) * unit];
      return [...context.getImageData(x, y, 1, 1).data].join();
    });
  }, seqLen);

const minus = (value, decimals) => value.toFixed(decimals).replace("-", "−");

export default [
  {
    name: "the T5 bias map is the core's, from a seeded column of the table",
    async run({ page, base, assert }) {
      await open(page, base, "?t5.head=3&t5.seed=5&t5.seq-len=24");
      const table = core.randomNormal(32 * 12, 5);
      const column = Float64Array.from({ length: 32 }, (_, bucket) => table[bucket * 12 + 2]);
      const bias = core.t5Bias(table, 12, 24, 24).subarray(2 * 24 * 24, 3 * 24 * 24);
      const limit = Math.ceil(2 * Math.max(...table.map(Math.abs))) / 2;
      const { size, hex } = await pixels(page, "bias");
      const shape = { rows: 24, cols: 24, width: size, height: size, vmin: -limit, vmax: limit };
      const expected = core.colormap(Float32Array.from(bias), core.lut(), shape);
      assert.equal(hex, createHash("sha256").update(expected).digest("hex"));
      await page.click("pe-t5 >> summary");
      await page.waitFor(
        () => document.querySelector("pe-t5").shadowRoot.querySelectorAll("tbody tr").length === 31,
      );
      const rows = await page.evaluate(() =>
        [...document.querySelector("pe-t5").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent),
        ),
      );
      for (const [bucket, , , value] of rows) assert.equal(value, minus(column[bucket], 4));
      assert.deepEqual(rows[6].slice(0, 3), ["9", "−15 to −12", "4"]);
      assert.deepEqual(rows[0].slice(0, 3), ["15", "−91 and all before", "∞"]);
    },
  },
  {
    name: "cells of the T5 bucket map have one colour exactly where the core gives one bucket",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const config of [
        { numBuckets: 32, maxDistance: 128, bidirectional: true },
        { numBuckets: 18, maxDistance: 40, bidirectional: true },
        { numBuckets: 7, maxDistance: 20, bidirectional: false },
      ]) {
        await set(page, {
          "num-buckets": config.numBuckets,
          "max-distance": config.maxDistance,
          bidirectional: config.bidirectional,
        });
        const relative = Int32Array.from({ length: 32 * 32 }, (_, i) => (i % 32) - Math.floor(i / 32));
        const buckets = core.t5Buckets(relative, config);
        const colors = await cellColors(page, 32);
        const colorOf = new Map();
        for (const [i, bucket] of buckets.entries()) {
          if (!colorOf.has(bucket)) colorOf.set(bucket, colors[i]);
          assert.equal(colors[i], colorOf.get(bucket));
        }
        assert.equal(new Set(colorOf.values()).size, colorOf.size);
      }
    },
  },
  {
    name: "the T5 figure says which relative positions share a bucket, encoder and decoder",
    async run({ page, base, assert }) {
      await open(page, base);
      assert.match(
        await text(page, ".takeaway"),
        /^Relative position −12 falls into bucket 9, which holds −15 to −12\. This encoder uses 31 of its 32 buckets; 15 of them hold one distance, and from 91 on/,
      );
      await set(page, { bidirectional: "false" });
      assert.match(
        await text(page, ".takeaway"),
        /^Relative position −12 falls into bucket 12, which holds −12 alone\. This decoder uses 32 of its 32 buckets; 16 of them hold one distance, and from 113 on/,
      );
    },
  },
  {
    name: "arrow keys read the T5 maps, the page does not hear them, and the address follows",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-t5").shadowRoot.querySelector(".grid").focus();
      });
      for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.press(key);
      await settle(page);
      const [bucket] = core.t5Buckets(Int32Array.of(-9));
      assert.equal(await spoken(page, "buckets-cell"), `query 19, key 10: bucket ${bucket}`);
      const value = core.randomNormal(32 * 12, 0)[bucket * 12];
      assert.equal(await spoken(page, "bias-cell"), `query 19, key 10: ${minus(value, 3)}`);
      await page.press("Home");
      await settle(page);
      assert.match(await spoken(page, "buckets-cell"), /^query 19, key 0: bucket 10$/);
      assert.deepEqual(await page.evaluate(() => window.heard), []);
      await page.waitFor(() => new URLSearchParams(location.search).get("t5.relative-position") === "-19");
    },
  },
  {
    name: "combinations that T5 does not allow are the core's sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await pixels(page, "bias");
      for (const [change, sentence] of [
        [
          { "num-buckets": "31" },
          /^num_buckets must be even and at least 4 if bidirectional; got num_buckets = 31, bidirectional = true$/,
        ],
        [
          { "num-buckets": "32", "max-distance": "8" },
          /^max_distance must be greater than the number of exact buckets \(num_buckets\/2, or \/4 if bidirectional\); got .*max_distance = 8/,
        ],
      ]) {
        await set(page, change);
        assert.match(await text(page, ".problem"), sentence);
        assert.deepEqual(await pixels(page, "bias"), good);
      }
      await set(page, { "max-distance": "9" });
      assert.equal(await text(page, ".problem"), "");
    },
  },
  {
    name: "axe-core finds nothing serious in the T5 figure, and taking it away leaves nothing",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document.querySelector("pe-t5"));
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      });
      assert.deepEqual(found, []);
      await page.evaluate(() => {
        const figure = document.querySelector("pe-t5");
        figure.setAttribute("head", "2");
        figure.remove();
        figure.setAttribute("head", "4");
        window.dispatchEvent(new Event("resize"));
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
      });
      await settle(page);
      const later = await page.evaluate(async () => {
        const { setTimeout: wait, requestAnimationFrame: frame } = window;
        let asked = 0;
        const count =
          (schedule) =>
          (...args) => {
            asked += 1;
            return schedule(...args);
          };
        window.setTimeout = count(wait);
        window.requestAnimationFrame = count(frame);
        await new Promise((done) => wait(done, 800));
        return asked;
      });
      assert.equal(later, 0);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
];
