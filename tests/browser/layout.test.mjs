// The figure of the pair layouts scores as the core does, and its permutation mends what mixing breaks.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();

const open = async (page, base, query = "") => {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-layout").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(() => document.querySelector("pe-layout")?.shadowRoot?.querySelector(".curve"));
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
        .querySelector("pe-layout")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );

/** What stands under "relative position", "as trained", "this code" and "difference". */
const readings = (page) =>
  page.evaluate(() =>
    [...document.querySelector("pe-layout").shadowRoot.querySelectorAll("dd")].map(
      (cell) => cell.textContent,
    ),
  );

const set = async (page, change) => {
  await page.evaluate((attributes) => {
    const figure = document.querySelector("pe-layout");
    for (const [name, value] of Object.entries(attributes)) figure.setAttribute(name, value);
  }, change);
  await settle(page);
};

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const say = (value) => value.toFixed(4).replace("-", "−");

/** The score of q = (1, …, d)/d at m and the same backwards at n, components taken in an order. */
function score({ headDim, rotaryDim = headDim, layout, order, m, n }) {
  const { invFreq } = core.ropeInvFreq({ headDim, rotaryDim });
  const turn = (vector, position) => {
    const { cos, sin } = core.ropeCosSin(Float64Array.of(position), invFreq);
    const taken = Float64Array.from(order, (component) => vector[component]);
    return core.ropeApply(taken, cos, sin, { seqLen: 1, headDim, rotaryDim, layout });
  };
  const q = Float64Array.from({ length: headDim }, (_, i) => (i + 1) / headDim);
  return dot(turn(q, m), turn(q.slice().reverse(), n));
}
const inPlace = (headDim) => Int32Array.from({ length: headDim }, (_, i) => i);

export default [
  {
    name: "the layout figure's scores are the core's, mixed and permuted",
    async run({ page, base, assert }) {
      await open(page, base);
      const here = { headDim: 8, m: 7, n: 0 };
      const trained = score({ ...here, layout: "interleaved", order: inPlace(8) });
      const mixed = score({ ...here, layout: "half", order: inPlace(8) });
      assert.deepEqual(await readings(page), ["−7", say(trained), say(mixed), say(mixed - trained)]);
      assert.match(await text(page, ".takeaway"), /its score is 0\.873 instead of 1\.456/);
      await page.click("pe-layout >> .toggle input");
      await settle(page);
      const [, asTrained, permuted, difference] = await readings(page);
      assert.equal(permuted, asTrained);
      assert.match(difference, /^(0|−?\d × 10⁻¹[67])$/);
      assert.match(await text(page, ".takeaway"), /^With the rows of W_Q and W_K permuted, nothing is lost/);
    },
  },
  {
    name: "a link reopens the layout figure, half weights under interleaved code with a tail",
    async run({ page, base, assert }) {
      await open(
        page,
        base,
        "?layout.head-dim=12&layout.rotary-dim=8&layout.weights=half&layout.code=interleaved&layout.m=3&layout.n=9",
      );
      const here = { headDim: 12, rotaryDim: 8, m: 3, n: 9, order: inPlace(12) };
      const [at, trained, mixed] = await readings(page);
      assert.equal(at, "+6");
      assert.equal(trained, say(score({ ...here, layout: "half" })));
      assert.equal(mixed, say(score({ ...here, layout: "interleaved" })));
      assert.match(
        await text(page, ".code"),
        /np\.r_\[np\.arange\(8\)\.reshape\(2, 4\)\.T\.ravel\(\), 8:12\] # 0 4 1 5 2 6 3 7 8 9 10 11 /,
      );
      await set(page, { permute: "true" });
      assert.equal((await readings(page))[2], trained);
      const cells = await page.evaluate(() =>
        [...document.querySelector("pe-layout").shadowRoot.querySelectorAll(".cell text")].map(
          (cell) => cell.textContent,
        ),
      );
      assert.deepEqual(cells.slice(12), "0 4 1 5 2 6 3 7 8 9 10 11".split(" "));
    },
  },
  {
    name: "dashed arcs join what was not trained together, and no arc is dashed once the rows are permuted",
    async run({ page, base, assert }) {
      await open(page, base);
      const wrong = () =>
        page.evaluate(
          () => document.querySelector("pe-layout").shadowRoot.querySelectorAll(".arc.wrong").length,
        );
      assert.equal(await wrong(), 4);
      assert.equal(
        await page.evaluate(() =>
          document.querySelector("pe-layout").shadowRoot.querySelector(".strips").getAttribute("aria-label"),
        ),
        "Components 2 and 3 were trained as pair 1. The code rotates 2 with 6, and 3 with 7.",
      );
      await set(page, { permute: "true" });
      assert.equal(await wrong(), 0);
      await set(page, { permute: "false", code: "interleaved" });
      assert.equal(await wrong(), 0);
    },
  },
  {
    name: "keys move the query of the layout figure, and its address and data table follow",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        document.querySelector("pe-layout").shadowRoot.querySelectorAll("input[type=range]")[0].focus();
      });
      await page.press("ArrowRight");
      await page.waitFor(() => new URLSearchParams(location.search).get("layout.m") === "8");
      assert.equal((await readings(page))[0], "−8");
      await page.click("pe-layout >> summary");
      await page.waitFor(
        () => document.querySelector("pe-layout").shadowRoot.querySelectorAll("tbody tr").length === 129,
      );
      const row = await page.evaluate(() =>
        [...document.querySelector("pe-layout").shadowRoot.querySelectorAll("tbody tr")[64 - 8].children].map(
          (cell) => cell.textContent,
        ),
      );
      const here = { headDim: 8, m: 8, n: 0, order: inPlace(8) };
      const trained = score({ ...here, layout: "interleaved" });
      const mixed = score({ ...here, layout: "half" });
      const six = (value) => value.toFixed(6).replace("-", "−");
      assert.deepEqual(row, ["−8", six(trained), six(mixed), six(trained)]);
    },
  },
  {
    name: "a wrong value in the layout figure is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const before = await readings(page);
      for (const [change, sentence] of [
        [{ "head-dim": "7" }, "rotary_dim must be even and at least 2; got rotary_dim = 7"],
        [
          { "head-dim": "8", "rotary-dim": "12" },
          "rotary_dim must be at most head_dim; got rotary_dim = 12, head_dim = 8",
        ],
        [{ "rotary-dim": "0", code: "both" }, "code must be one of interleaved, half, got “both”"],
      ]) {
        await set(page, change);
        assert.equal(await text(page, ".problem"), sentence);
        assert.deepEqual(await readings(page), before);
      }
    },
  },
  {
    name: "axe-core finds nothing serious in the layout figure, and taking it away leaves nothing",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document.querySelector("pe-layout"));
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      });
      assert.deepEqual(found, []);
      await page.evaluate(() => {
        const figure = document.querySelector("pe-layout");
        figure.setAttribute("m", "9");
        figure.remove();
        figure.setAttribute("m", "10");
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
