// A shift is one matrix, and a diagonal has one value: both as the core computes them.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, read, written } from "./figure.mjs";

const core = await loadPosenc();
const FIGURE = "pe-shift";

const count = (length, first = 0) => Float64Array.from({ length }, (_, i) => first + i);

/** The digest of the core's picture of PE · PE. */
function expected({ width, height }, n, dModel) {
  const map = core.similarity(core.sinusoidalRows(count(n), { dModel }), n, dModel);
  const shape = { rows: n, cols: n, width, height, vmin: -dModel / 2, vmax: dModel / 2 };
  return digest(core.colormap(Float32Array.from(map), core.lut(), shape));
}

/** max |PE(p+k) − M_k PE(p)| for each of n starts from `first`. */
function residuals(k, first, n, dModel) {
  const matrices = core.shiftMatrices(core.sinusoidalInvFreq({ dModel }), k);
  const from = core.sinusoidalRows(count(n, first), { dModel });
  const to = core.sinusoidalRows(count(n, first + k), { dModel });
  return Array.from({ length: n }, (_, row) => {
    let worst = 0;
    for (let c = 0; c < dModel; c++) {
      const at = row * dModel + c;
      const even = at - (c % 2);
      const turned = matrices[2 * c] * from[even] + matrices[2 * c + 1] * from[even + 1];
      worst = Math.max(worst, Math.abs(to[at] - turned));
    }
    return worst;
  });
}

const dot = (k, dModel = 512) => core.dotByOffset(Float64Array.of(k), core.sinusoidalInvFreq({ dModel }))[0];
export default [
  {
    name: "the map of PE · PE and the residuals of a shift are the core's",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      const [picture] = await figure.canvases('canvas[data-map="dots"]');
      assert.equal(picture.hex, expected(picture, 128, 512));
      const rows = await figure.rows();
      assert.equal(rows.length, 128);
      const exact = residuals(5, 0, 128, 512);
      rows.forEach(([p, residual, offset, value], i) => {
        assert.equal(p, String(i));
        assert.ok(Math.abs(read(residual) - exact[i]) <= 0.006 * exact[i], `${residual}, not ${exact[i]}`);
        assert.equal(offset, String(i));
        assert.equal(value, written(dot(i), 4));
      });
      assert.match(await figure.text(".takeaway"), /first rises again after 43\.$/);
    },
  },
  {
    name: "a link reopens the shift, also one to the left",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        FIGURE,
        "?shift.k=-30&shift.p=40&shift.seq-len=64&shift.d-model=8",
      );
      const [picture] = await figure.canvases('canvas[data-map="dots"]');
      assert.equal(picture.hex, expected(picture, 64, 8));
      assert.equal(await figure.text("#cell"), `positions 40 and 10, offset −30: ${written(dot(-30, 8), 2)}`);
      assert.match(
        await figure.text(".takeaway"),
        /^One matrix takes PE\(p\) to PE\(p − 30\) from every p of 30–93:/,
      );
      const rows = await figure.rows();
      assert.equal(rows.length, 64);
      const exact = residuals(-30, 30, 64, 8);
      rows.forEach(([p, residual], i) => {
        assert.equal(p, String(30 + i));
        assert.ok(Math.abs(read(residual) - exact[i]) <= 0.006 * exact[i], `${residual}, not ${exact[i]}`);
      });
    },
  },
  {
    name: "arrow keys walk the map of the shift, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowRight", "ArrowUp");
      assert.equal(await figure.text("#cell"), `positions 19 and 27, offset 8: ${written(dot(8), 2)}`);
      assert.match(
        await figure.text(".takeaway"),
        new RegExp(`k = 8 has the value ${written(dot(8), 2)}, and so has k = −8;`),
      );
      await figure.press("Home");
      assert.equal(await figure.text("#cell"), `positions 19 and 0, offset −19: ${written(dot(-19), 2)}`);
      await figure.press("End");
      assert.equal(await figure.text("#cell"), `positions 19 and 127, offset 108: ${written(dot(108), 2)}`);
      await page.waitFor(() => new URLSearchParams(location.search).get("shift.k") === "108");
      await figure.click("footer .reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a press on the map of the shift reads the cell under it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      const box = await page.box(`${FIGURE} >> canvas.map`);
      await page.click({
        x: Math.round(box.x + (box.width * 100.5) / 128),
        y: Math.round(box.y + (box.height * 30.5) / 128),
      });
      await figure.settle();
      const [, p, end, k] = /^positions (\d+) and (\d+), offset (\d+)/
        .exec(await figure.text("#cell"))
        .map(Number);
      assert.ok(Math.abs(p - 30) <= 1 && Math.abs(end - 100) <= 1 && k === end - p, `${p}, ${end}`);
    },
  },
  {
    name: "a wrong value of the shift is a sentence, and the last picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, FIGURE);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["k", "128", "k must be within ±127, one less than seq-len, got 128"],
        ["k", "1.5", "k must be a whole number from -255 to 255, got “1.5”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, () => figure.canvases('canvas[data-map="dots"]'));
      }
    },
  },
  ...owed(
    FIGURE,
    { change: { k: 9 } },
    {
      "a removed shift figure leaves nothing running": { duties: ["leavesNothing"] },
      "the shift figure fits a narrow phone, and axe-core finds nothing serious in it": {
        page: PHONE,
        query: "?shift.seq-len=256&shift.k=-255",
        duties: ["isAccessible"],
      },
      "the shift figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
