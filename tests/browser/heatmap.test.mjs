// The heatmap draws what the core computes, and says what it draws.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const HEATMAP = "pe-heatmap";

/** The digest of what the core makes of the same table at the same size. */
function expected({ width, height }, config, view = {}) {
  const table = core.sinusoidalTable(config);
  const shape = { rows: config.seqLen, cols: config.dModel, width, height, transpose: true, ...view };
  return digest(core.colormap(table, core.lut(), shape));
}

export default [
  {
    name: "the heatmap's pixels are the core's",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      const [picture] = await figure.canvases("canvas.map");
      assert.equal(picture.hex, expected(picture, { seqLen: 100, dModel: 128 }));
    },
  },
  {
    name: "a link reopens the heatmap as it was",
    async run({ page, base, assert }) {
      const query =
        "?heatmap.seq-len=60&heatmap.d-model=31&heatmap.base=500&heatmap.layout=halves&heatmap.first-position=7" +
        "&heatmap.view-row=10&heatmap.view-rows=20&heatmap.view-column=3&heatmap.view-columns=12&heatmap.row=12";
      const figure = await openFigure(page, base, HEATMAP, query);
      const [picture] = await figure.canvases("canvas.map");
      const config = { seqLen: 60, dModel: 31, base: 500, layout: "halves", firstPosition: 7 };
      const view = { firstRow: 10, numRows: 20, firstCol: 3, numCols: 12 };
      assert.equal(picture.hex, expected(picture, config, view));
      const value = core.sinusoidalTable(config)[12 * 31 + 1];
      assert.match(await figure.text("#cell"), /^position 19, dimension 1: /);
      assert.match(await figure.text("#cell"), new RegExp(Math.abs(value).toFixed(3)));
    },
  },
  {
    name: "the arrow keys read the heatmap cell by cell, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowRight", "ArrowDown", "Shift+ArrowDown");
      const value = core.sinusoidalTable({ seqLen: 100, dModel: 128 })[7 * 128 + 12];
      const said = written(value, 3);
      assert.equal(await figure.text("#cell"), `position 7, dimension 12: ${said}`);
      assert.match(
        await figure.text(".takeaway"),
        new RegExp(`^Dimension 12 of position 7 is ${said}: the sine of pair 6`),
      );
      await figure.press("End", "Home");
      assert.match(await figure.text("#cell"), /^position 0, dimension 12: 0.000/);
    },
  },
  {
    name: "the pointer reads the cell under it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      const box = await page.box(`${HEATMAP} >> canvas.map`);
      await page.hover({ x: box.x + box.width * 0.505, y: box.y + box.height * 0.26 });
      await figure.settle();
      assert.match(await figure.text("#cell"), /^position 50, dimension 33: /);
    },
  },
  {
    name: "the heatmap zooms by key and button, and shows all again",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      await figure.focus(".grid");
      await figure.press("+");
      assert.equal(await figure.attribute("view-rows"), "50");
      assert.equal(await figure.attribute("view-columns"), "64");
      await figure.click(".view button:nth-of-type(3)");
      assert.equal(await figure.attribute("view-rows"), "0");
      const [picture] = await figure.canvases("canvas.map");
      assert.equal(picture.hex, expected(picture, { seqLen: 100, dModel: 128 }));
    },
  },
  {
    name: "the state goes into the address, and reset takes it out",
    async run({ page, base }) {
      const figure = await openFigure(page, base, HEATMAP);
      await figure.focus(".grid");
      await page.press("ArrowRight");
      await page.waitFor(() => new URLSearchParams(location.search).get("heatmap.row") === "6");
      await figure.click("footer > button.reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a wrong value is a sentence in place, and the last good picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      const drawn = () => figure.canvases("canvas.map");
      const good = await drawn();
      for (const [name, value, sentence] of [
        ["seq-len", "8.9", "seq-len must be a whole number from 1 to 65536, got “8.9”"],
        ["seq-len", "NaN", "seq-len must be a whole number from 1 to 65536, got “NaN”"],
        ["d-model", "100000", "d-model must be a whole number from 1 to 4096, got “100000”"],
        ["base", "-1", "base must be a number from 0.001 to 1000000000000, got “-1”"],
        ["layout", "<b>x", "layout must be one of interleaved, halves, halves-minus-one, got “<b>x”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, drawn);
      }
      await figure.set({ "seq-len": "65536", "d-model": "4096" });
      assert.match(
        await figure.text(".problem"),
        /^seq-len × d-model must be at most 4 194 304 cells, got 268 435 456$/,
      );
      assert.deepEqual(await drawn(), good);
      await figure.click("footer > button.reset");
      assert.equal(await figure.text(".problem"), "");
    },
  },
  {
    name: "the heatmap's data table holds the row that is read",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, HEATMAP);
      const rows = await figure.rows();
      assert.equal(rows.length, 128);
      const row = core.sinusoidalTable({ seqLen: 100, dModel: 128 }).subarray(5 * 128, 6 * 128);
      assert.deepEqual(
        rows.map((cells) => cells.at(-1)),
        [...row].map((value) => written(value, 6)),
      );
    },
  },
  ...owed(
    HEATMAP,
    { change: { row: 20 } },
    {
      "the heatmap fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        duties: ["isAccessible", "leavesNothing"],
      },
      "the heatmap's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
