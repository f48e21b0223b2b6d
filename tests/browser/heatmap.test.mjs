// The heatmap draws what the core computes, and says what it draws.

import { createHash } from "node:crypto";
import { loadPosenc } from "posenc";

const core = await loadPosenc();
const HEATMAP = "pe-heatmap";

/** Opens the lesson with the heatmap in view and drawn. */
async function open(page, base, query = "") {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-heatmap").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(
    () => document.querySelector("pe-heatmap")?.shadowRoot?.querySelector("canvas.map")?.width > 300,
  );
  await settle(page);
}

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

const text = (page, selector) =>
  page.evaluate(
    (wanted) =>
      document
        .querySelector("pe-heatmap")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );

/** Size and digest of the pixels on the canvas, and the screen's pixels for one of the page. */
const drawn = (page) =>
  page.evaluate(async () => {
    const canvas = document.querySelector("pe-heatmap").shadowRoot.querySelector("canvas.map");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return { width: canvas.width, height: canvas.height, hex };
  });

/** The digest of what the core makes of the same table at the same size. */
function expected({ width, height }, config, view = {}) {
  const table = core.sinusoidalTable(config);
  const shape = { rows: config.seqLen, cols: config.dModel, width, height, transpose: true, ...view };
  return createHash("sha256")
    .update(core.colormap(table, core.lut(), shape))
    .digest("hex");
}

const attribute = (page, name) =>
  page.evaluate((wanted) => document.querySelector("pe-heatmap").getAttribute(wanted), name);

export default [
  {
    name: "the heatmap's pixels are the core's",
    async run({ page, base, assert }) {
      await open(page, base);
      const picture = await drawn(page);
      assert.equal(picture.hex, expected(picture, { seqLen: 100, dModel: 128 }));
    },
  },
  {
    name: "a link reopens the heatmap as it was",
    async run({ page, base, assert }) {
      const query =
        "?heatmap.seq-len=60&heatmap.d-model=31&heatmap.base=500&heatmap.layout=halves&heatmap.first-position=7" +
        "&heatmap.view-row=10&heatmap.view-rows=20&heatmap.view-column=3&heatmap.view-columns=12&heatmap.row=12";
      await open(page, base, query);
      const picture = await drawn(page);
      const config = { seqLen: 60, dModel: 31, base: 500, layout: "halves", firstPosition: 7 };
      const view = { firstRow: 10, numRows: 20, firstCol: 3, numCols: 12 };
      assert.equal(picture.hex, expected(picture, config, view));
      const value = core.sinusoidalTable(config)[12 * 31 + 1];
      assert.match(await text(page, "#cell"), /^position 19, dimension 1: /);
      assert.match(await text(page, "#cell"), new RegExp(Math.abs(value).toFixed(3)));
    },
  },
  {
    name: "the arrow keys read the heatmap cell by cell, and the page does not hear them",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-heatmap").shadowRoot.querySelector(".grid").focus();
      });
      for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowDown"]) await page.press(key);
      await settle(page);
      const value = core.sinusoidalTable({ seqLen: 100, dModel: 128 })[7 * 128 + 12];
      const said = value.toFixed(3).replace("-", "−");
      assert.equal(await text(page, "#cell"), `position 7, dimension 12: ${said}`);
      assert.match(
        await text(page, ".takeaway"),
        new RegExp(`^Dimension 12 of position 7 is ${said}: the sine of pair 6`),
      );
      await page.press("End");
      await page.press("Home");
      await settle(page);
      assert.match(await text(page, "#cell"), /^position 0, dimension 12: 0.000/);
      assert.deepEqual(await page.evaluate(() => window.heard.filter((key) => key !== "Shift")), []);
    },
  },
  {
    name: "the pointer reads the cell under it",
    async run({ page, base, assert }) {
      await open(page, base);
      const box = await page.box(`${HEATMAP} >> canvas.map`);
      await page.hover({ x: box.x + box.width * 0.505, y: box.y + box.height * 0.26 });
      await settle(page);
      assert.match(await text(page, "#cell"), /^position 50, dimension 33: /);
    },
  },
  {
    name: "the heatmap zooms by key and button, and shows all again",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() =>
        document.querySelector("pe-heatmap").shadowRoot.querySelector(".grid").focus(),
      );
      await page.press("+");
      await settle(page);
      assert.equal(await attribute(page, "view-rows"), "50");
      assert.equal(await attribute(page, "view-columns"), "64");
      await page.click(`${HEATMAP} >> .view button:nth-of-type(3)`);
      await settle(page);
      assert.equal(await attribute(page, "view-rows"), "0");
      const picture = await drawn(page);
      assert.equal(picture.hex, expected(picture, { seqLen: 100, dModel: 128 }));
    },
  },
  {
    name: "the state goes into the address, and reset takes it out",
    async run({ page, base }) {
      await open(page, base);
      await page.evaluate(() =>
        document.querySelector("pe-heatmap").shadowRoot.querySelector(".grid").focus(),
      );
      await page.press("ArrowRight");
      await page.waitFor(() => new URLSearchParams(location.search).get("heatmap.row") === "6");
      await page.click(`${HEATMAP} >> footer > button.reset`);
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a wrong value is a sentence in place, and the last good picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await drawn(page);
      for (const [name, value, sentence] of [
        ["seq-len", "8.9", "seq-len must be a whole number from 1 to 65536, got “8.9”"],
        ["seq-len", "NaN", "seq-len must be a whole number from 1 to 65536, got “NaN”"],
        ["d-model", "100000", "d-model must be a whole number from 1 to 4096, got “100000”"],
        ["base", "-1", "base must be a number from 0.001 to 1000000000000, got “-1”"],
        ["layout", "<b>x", "layout must be one of interleaved, halves, halves-minus-one, got “<b>x”"],
      ]) {
        await page.evaluate(
          ([attr, given]) => document.querySelector("pe-heatmap").setAttribute(attr, given),
          [name, value],
        );
        await settle(page);
        assert.equal(await text(page, ".problem"), sentence);
        assert.deepEqual(await drawn(page), good);
        await page.evaluate((attr) => document.querySelector("pe-heatmap").removeAttribute(attr), name);
      }
      await page.evaluate(() => {
        const heatmap = document.querySelector("pe-heatmap");
        heatmap.setAttribute("seq-len", "65536");
        heatmap.setAttribute("d-model", "4096");
      });
      await settle(page);
      assert.match(
        await text(page, ".problem"),
        /^seq-len × d-model must be at most 4 194 304 cells, got 268 435 456$/,
      );
      assert.deepEqual(await drawn(page), good);
      await page.click(`${HEATMAP} >> footer > button.reset`);
      await settle(page);
      assert.equal(await text(page, ".problem"), "");
    },
  },
  {
    name: "the heatmap's data table holds the row that is read",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.click(`${HEATMAP} >> summary`);
      await page.waitFor(
        () => document.querySelector("pe-heatmap").shadowRoot.querySelectorAll("tbody tr").length === 128,
      );
      const cells = await page.evaluate(() =>
        [...document.querySelector("pe-heatmap").shadowRoot.querySelectorAll("tbody tr")].map(
          (row) => row.lastElementChild.textContent,
        ),
      );
      const row = core.sinusoidalTable({ seqLen: 100, dModel: 128 }).subarray(5 * 128, 6 * 128);
      assert.deepEqual(
        cells,
        [...row].map((value) => value.toFixed(6).replace("-", "−")),
      );
    },
  },
];
