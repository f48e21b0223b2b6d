// The four terms are the core's, and their shares and patterns follow from them.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();
const FIGURE = "pe-cross-terms";

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

/** Opens the lesson with the figure in view and drawn. */
async function open(page, base, query = "") {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-cross-terms").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(
    () =>
      document.querySelector("pe-cross-terms")?.shadowRoot?.querySelector('canvas[data-map="after"]')?.width >
      50,
  );
  await settle(page);
}

const text = (page, selector) =>
  page.evaluate(
    (wanted) =>
      document
        .querySelector("pe-cross-terms")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );

const drawn = (page) =>
  page.evaluate(async () => {
    const maps = document.querySelector("pe-cross-terms").shadowRoot.querySelectorAll("canvas.map");
    return Promise.all(
      [...maps].map(async (canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
        return {
          size: canvas.width,
          hex: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
        };
      }),
    );
  });

/** The maps of a state: four terms, their sum, PE · PE before and after. */
function mapsOf({ seed = 0, n = 32, d = 512, headDim = 64, scale = true, identity = false } = {}) {
  const x = core.randomNormal(n * d, 3 * seed, 0.02 * (scale ? Math.sqrt(d) : 1));
  const p = core.sinusoidalRows(
    Float64Array.from({ length: n }, (_, i) => i),
    { dModel: d },
  );
  const unit = new Float64Array(d * d);
  for (let i = 0; i < d; i++) unit[i * d + i] = 1;
  const weight = (part) =>
    identity ? unit : core.randomNormal(d * headDim, 3 * seed + part, 1 / Math.sqrt(d));
  const shape = { seqLen: n, dModel: d, headDim: identity ? d : headDim };
  const all = core.crossTerms(x, p, weight(1), weight(2), shape);
  const terms = [0, 1, 2, 3].map((term) => all.slice(term * n * n, (term + 1) * n * n));
  const sum = terms[0].map((_, i) => terms.reduce((total, term) => total + term[i], 0));
  return [...terms, sum, core.similarity(p, n, d), terms[3]];
}

const most = (values) => values.reduce((end, value) => Math.max(end, Math.abs(value)), 0);

/** The digests of the core's pictures of these maps. */
function expected(pictures, maps, n) {
  const common = Math.max(...maps.slice(0, 5).map(most));
  return maps.map((values, i) => {
    const end = i < 5 ? common : most(values);
    const { size } = pictures[i];
    const shape = { rows: n, cols: n, width: size, height: size, vmin: -end, vmax: end };
    return createHash("sha256")
      .update(core.colormap(Float32Array.from(values), core.lut(), shape))
      .digest("hex");
  });
}

const said = (value, decimals) => {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
};
const shares = (page) =>
  page.evaluate(() =>
    [...document.querySelector("pe-cross-terms").shadowRoot.querySelectorAll("svg.over text.value")]
      .map(({ textContent }) => textContent.trim())
      .filter((words) => words.endsWith("%")),
  );

const set = (page, attributes) =>
  page.evaluate((given) => {
    for (const [name, value] of Object.entries(given))
      document.querySelector("pe-cross-terms").setAttribute(name, value);
  }, attributes);

export default [
  {
    name: "the maps of the cross-terms and their shares are the core's",
    async run({ page, base, assert }) {
      await open(page, base);
      const pictures = await drawn(page);
      const maps = mapsOf();
      assert.deepEqual(
        pictures.map(({ hex }) => hex),
        expected(pictures, maps, 32),
      );
      const squares = maps.slice(0, 4).map((values) => values.reduce((sum, value) => sum + value ** 2, 0));
      const whole = squares.reduce((sum, value) => sum + value, 0);
      assert.deepEqual(
        await shares(page),
        squares.map((value) => `${said((100 * value) / whole, 1)} %`),
      );
      assert.match(
        await text(page, ".takeaway"),
        /explains 100 % of the variance of PE · PE without A, and 13 % with/,
      );
    },
  },
  {
    name: "the identity brings the pattern of the cross-terms back",
    async run({ page, base, assert }) {
      await open(
        page,
        base,
        "?cross.weights=identity&cross.seq-len=8&cross.d-model=16&cross.seed=3&cross.scale=false",
      );
      const maps = mapsOf({ seed: 3, n: 8, d: 16, scale: false, identity: true });
      const cell = 5 * 8 + 2;
      const values = maps.slice(0, 4).map((term) => said(term[cell], 2));
      assert.equal(
        await text(page, "#cell"),
        `query 5, key 2: content, content ${values[0]}; content, position ${values[1]}; position, content ${values[2]}; ` +
          `position, position ${values[3]}; sum ${said(maps[4][cell], 2)}`,
      );
      assert.match(
        await text(page, ".takeaway"),
        /100 % of the variance of PE · PE without A, and 100 % with the identity as A\.$/,
      );
    },
  },
  {
    name: "arrow keys walk the maps of the cross-terms, and the page does not hear them",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-cross-terms").shadowRoot.querySelector(".grid").focus();
      });
      for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.press(key);
      await settle(page);
      const sum = said(mapsOf()[4][6 * 32 + 4], 2);
      assert.match(
        await text(page, "#cell"),
        new RegExp(`^query 6, key 4: content, content .*; sum ${sum}$`),
      );
      assert.match(await text(page, ".readout"), new RegExp(`^query 6 key 4 .* = ${sum}$`));
      await page.press("End");
      await settle(page);
      assert.match(await text(page, "#cell"), /^query 6, key 31:/);
      await page.waitFor(() => new URLSearchParams(location.search).get("cross.key") === "31");
      assert.deepEqual(await page.evaluate(() => window.heard), []);
      await page.click(`${FIGURE} >> footer .reset`);
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "the pointer reads the logit under it in every map of the cross-terms",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const map of ["1", "after"]) {
        const box = await page.box(`${FIGURE} >> canvas[data-map="${map}"]`);
        await page.hover({ x: box.x + (box.width * 20.5) / 32, y: box.y + (box.height * 10.5) / 32 });
        await settle(page);
        assert.match(await text(page, "#cell"), /^query 10, key 20:/);
        await set(page, { query: "0", key: "0" });
        await settle(page);
      }
    },
  },
  {
    name: "a wrong value of the cross-terms is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await drawn(page);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["weights", "zero", "weights must be one of random, identity, got “zero”"],
        ["seq-len", "65", "seq-len must be a whole number from 4 to 64, got “65”"],
      ]) {
        await set(page, { [name]: value });
        await page.waitFor(
          (said) =>
            document.querySelector("pe-cross-terms").shadowRoot.querySelector(".problem").textContent ===
            said,
          sentence,
        );
        assert.deepEqual(await drawn(page), good);
        await page.evaluate((attr) => document.querySelector("pe-cross-terms").removeAttribute(attr), name);
        await page.waitFor(
          () => document.querySelector("pe-cross-terms").shadowRoot.querySelector(".problem").hidden,
        );
      }
      assert.equal(await text(page, ".problem"), "");
    },
  },
  {
    name: "the data table of the cross-terms holds each logit's terms",
    async run({ page, base, assert }) {
      await open(page, base, "?cross.seq-len=8");
      await page.click(`${FIGURE} >> .data summary`);
      await page.waitFor(
        () => document.querySelector("pe-cross-terms").shadowRoot.querySelectorAll("tbody tr").length === 64,
      );
      const cells = await page.evaluate(() =>
        [...document.querySelector("pe-cross-terms").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent),
        ),
      );
      const maps = mapsOf({ n: 8 });
      cells.forEach((row, i) => {
        assert.deepEqual(row, [
          String(Math.floor(i / 8)),
          String(i % 8),
          ...maps.slice(0, 6).map((values) => said(values[i], 4)),
        ]);
      });
    },
  },
  {
    name: "a removed cross-terms figure leaves nothing running",
    async run({ page, base, assert }) {
      await open(page, base);
      await set(page, { query: "9" });
      const changes = await page.evaluate(async () => {
        const figure = document.querySelector("pe-cross-terms");
        figure.remove();
        figure.setAttribute("query", "10");
        await new Promise((done) => setTimeout(done, 300));
        let seen = 0;
        const observer = new MutationObserver((records) => {
          seen += records.length;
        });
        observer.observe(figure.shadowRoot, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        });
        dispatchEvent(new Event("resize"));
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
        await new Promise((done) => setTimeout(done, 900));
        return seen;
      });
      assert.equal(changes, 0);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the cross-terms figure fits a narrow phone, and axe-core finds nothing serious in it",
    page: { width: 336, height: 800 }, // 320 and the scroll bar that a desktop shows
    async run({ page, base, assert }) {
      await open(page, base, "?cross.seq-len=64");
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
        ),
      );
      await page.evaluate(AXE);
      const findings = await page.evaluate(async () => {
        const { violations } = await window.axe.run("pe-cross-terms", { resultTypes: ["violations"] });
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
      });
      assert.deepEqual(findings, []);
    },
  },
];
