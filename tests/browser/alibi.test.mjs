// The ALiBi figure draws the core's slopes and biases, and its windows are those of the core's softmax.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();
const GREENS = Uint8Array.of(...[2, 60, 48, 38, 128, 104, 120, 190, 165], ...[205, 231, 219, 252, 251, 248]);

const open = async (page, base, query = "") => {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-alibi").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(
    () =>
      document.querySelector("pe-alibi")?.shadowRoot?.querySelector("canvas[data-map=causal]")?.width > 32,
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
        .querySelector("pe-alibi")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );
const spoken = (page, id) =>
  page.evaluate(
    (wanted) =>
      document.querySelector("pe-alibi").shadowRoot.getElementById(wanted).getAttribute("aria-label"),
    id,
  );

const set = async (page, change) => {
  await page.evaluate((attributes) => {
    const figure = document.querySelector("pe-alibi");
    for (const [name, value] of Object.entries(attributes)) figure.setAttribute(name, value);
  }, change);
  await settle(page);
};

/** Cells of the data table, row by row. */
async function table(page, rows) {
  await page.click("pe-alibi >> summary");
  await page.waitFor(
    (count) => document.querySelector("pe-alibi").shadowRoot.querySelectorAll("tbody tr").length === count,
    rows,
  );
  return page.evaluate(() =>
    [...document.querySelector("pe-alibi").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    ),
  );
}

const pixels = (page, name) =>
  page.evaluate(async (map) => {
    const canvas = document.querySelector("pe-alibi").shadowRoot.querySelector(`canvas[data-map=${map}]`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return {
      size: canvas.width,
      hex: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    };
  }, name);

function expected(slope, causal, cells, size) {
  const bias = core.alibiBias(Float64Array.of(slope), cells, causal);
  const values = Float32Array.from(bias, (value) => (Number.isFinite(value) ? value : Number.NaN));
  const shape = { rows: cells, cols: cells, width: size, height: size, vmin: -8, vmax: 0 };
  return createHash("sha256")
    .update(core.colormap(values, core.lut(GREENS), shape))
    .digest("hex");
}

/** Nearest keys that hold 99 % of one row of the core's softmax of the bias alone. */
function windows(numHeads, seqLen, causal, query) {
  const slopes = core.alibiSlopes({ numHeads });
  const zeros = new Float64Array(numHeads * seqLen);
  const bias = Float64Array.from({ length: numHeads * (2 * seqLen - 1) }, (_, i) => {
    const relativePosition = (i % (2 * seqLen - 1)) - (seqLen - 1);
    return -slopes[Math.floor(i / (2 * seqLen - 1))] * Math.abs(relativePosition);
  });
  const config = { numHeads, seqLen, headDim: 1, causal };
  const { weights } = core.attention(zeros, zeros, zeros, config, bias);
  return Array.from(slopes, (_, head) => {
    const row = weights.subarray((head * seqLen + query) * seqLen, (head * seqLen + query + 1) * seqLen);
    let sum = 0;
    const enough = (weight) => {
      sum += weight;
      return sum >= 0.99;
    };
    return [...row].sort((a, b) => b - a).findIndex(enough) + 1;
  });
}

export default [
  {
    name: "the ALiBi maps are the core's, and the figure's windows those of the prose",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const name of ["causal", "symmetric"]) {
        const { size, hex } = await pixels(page, name);
        assert.equal(hex, expected(2 ** -3, name === "causal", 32, size));
      }
      assert.match(
        await text(page, ".takeaway"),
        /on the nearest 10 in the steepest head \(1\), on the nearest 1179 in the flattest \(8\)/,
      );
    },
  },
  {
    name: "slopes stand in the published order, those past the power of two marked",
    async run({ page, base, assert }) {
      await open(page, base, "?alibi.num-heads=12&alibi.head=9");
      const cells = await table(page, 12);
      const slopes = core.alibiSlopes({ numHeads: 12 });
      assert.deepEqual(
        cells.map(([, slope]) => Number(slope)),
        [...slopes].map((slope) => Number(slope.toPrecision(4))),
      );
      assert.deepEqual(
        cells.map(([, , from]) => from),
        Array.from({ length: 12 }, (_, h) => (h < 8 ? "8 heads" : "16 heads")),
      );
      assert.equal(
        await page.evaluate(
          () => document.querySelector("pe-alibi").shadowRoot.querySelectorAll(".stem.extra").length,
        ),
        4,
      );
      assert.match(await text(page, ".lead"), /^head 9 slope = 2−8 · 1\/16 = 0\.7071$/);
      assert.match(
        await text(page, ".legend"),
        /Hollow: every other slope of the doubled set \(16 heads\)\./,
      );
    },
  },
  {
    name: "the ALiBi windows are those of the core's softmax, causal and symmetric, last and middle",
    async run({ page, base, assert }) {
      await open(page, base, "?alibi.num-heads=6&alibi.seq-len=150");
      for (const [causal, query, at] of [
        [true, "last", 149],
        [true, "middle", 75],
        [false, "last", 149],
        [false, "middle", 75],
      ]) {
        await set(page, { causal: String(causal), query });
        const cells = await table(page, 6);
        assert.deepEqual(
          cells.map(([, , , window]) => Number(window)),
          windows(6, 150, causal, at),
        );
        await page.click("pe-alibi >> summary");
        await settle(page);
      }
      assert.match(await text(page, ".takeaway"), /cannot tell one side from the other\.$/);
    },
  },
  {
    name: "arrow keys read the ALiBi maps cell by cell, and the page does not hear them",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-alibi").shadowRoot.querySelector(".grid").focus();
      });
      for (const key of ["ArrowDown", "ArrowDown", "ArrowLeft"]) await page.press(key);
      await settle(page);
      assert.equal(await spoken(page, "causal-cell"), "query 14, key 7: −0.8750");
      await page.press("End");
      await settle(page);
      assert.equal(await spoken(page, "causal-cell"), "query 14, key 31: masked");
      assert.equal(await spoken(page, "symmetric-cell"), "query 14, key 31: −2.125");
      assert.deepEqual(await page.evaluate(() => window.heard), []);
    },
  },
  {
    name: "a click on a stem chooses its head, and the address follows",
    async run({ page, base, assert }) {
      await open(page, base);
      const box = await page.box("pe-alibi >> .stem:nth-of-type(8) circle");
      await page.click({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
      await page.waitFor(() => new URLSearchParams(location.search).has("alibi.head"));
      const head = await page.evaluate(() => Number(document.querySelector("pe-alibi").getAttribute("head")));
      assert.match(await text(page, ".lead"), new RegExp(`^head ${head} `));
      const { size, hex } = await pixels(page, "causal");
      assert.equal(hex, expected(2 ** -head, true, 32, size));
    },
  },
  {
    name: "a wrong value in the ALiBi figure is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await pixels(page, "causal");
      await set(page, { "num-heads": "129" });
      assert.equal(await text(page, ".problem"), "num-heads must be a whole number from 1 to 128, got “129”");
      assert.deepEqual(await pixels(page, "causal"), good);
      await set(page, { "num-heads": "1", "seq-len": "1" });
      assert.equal(await text(page, ".problem"), "");
      assert.match(
        await text(page, ".takeaway"),
        /which sees 1 key, lies on the nearest 1 in the one head\.$/,
      );
    },
  },
  {
    name: "axe-core finds nothing serious in the ALiBi figure, and taking it away leaves nothing",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document.querySelector("pe-alibi"));
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      });
      assert.deepEqual(found, []);
      await page.evaluate(() => {
        const figure = document.querySelector("pe-alibi");
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
