// The worked example shows the core's numbers, and the row that it corrects beside the right one.

import { loadPosenc } from "posenc";
import { openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const WORKED = "pe-worked";

const rowOf = (position, dModel = 8, base = 10000) =>
  [...core.sinusoidalRows(Float64Array.of(position), { dModel, base })].map((value) => written(value, 3));

/** The numbers in the cells of the row, in the order of dimensions. */
const drawnRow = (figure) => figure.texts(".sheet > g:last-of-type .black, .sheet > g:last-of-type .light");

export default [
  {
    name: "the row drawn is the core's at every position and width",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED);
      assert.deepEqual(await drawnRow(figure), rowOf(5));
      for (const [position, dModel, frequency] of [
        [0, 8, 10000],
        [1, 8, 10000],
        [97, 2, 10000],
        [123456, 16, 10000],
        [5, 14, 500000],
        [1000000, 6, 1],
      ]) {
        await figure.set({ position: String(position), "d-model": String(dModel), base: String(frequency) });
        assert.deepEqual(await drawnRow(figure), rowOf(position, dModel, frequency));
      }
    },
  },
  {
    name: "the computation is written out with its numbers",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED);
      const lines = () => figure.texts(".working dd");
      assert.deepEqual(await lines(), [
        "dimensions 0 and 1",
        "2 × 0 / 8 = 0",
        "10 000−0 = 1",
        "5 × 1 = 5",
        "5 − 0 × 2π = 5, 286.5°",
        "sin 5 = −0.959",
        "cos 5 = 0.284",
        "0.920 + 0.080 = 1.000",
      ]);
      await figure.set({ position: "100", pair: "1" });
      assert.deepEqual(await lines(), [
        "dimensions 2 and 3",
        "2 × 1 / 8 = 0.25",
        "10 000−0.25 = 0.1",
        "100 × 0.1 = 10",
        "10 − 1 × 2π = 3.717, 213.0°",
        "sin 10 = −0.544",
        "cos 10 = −0.839",
        "0.296 + 0.704 = 1.000",
      ]);
      assert.equal(
        await figure.text(".takeaway"),
        "Pair 1 of PE(100) is −0.544, −0.839. Its hand has made 1 whole turn and stands at 213.0°: the sine is " +
          "negative, the cosine negative.",
      );
    },
  },
  {
    name: "the original's wrong numbers stand beside the right ones, for position 5 alone",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED);
      await figure.click(".toggle input");
      assert.deepEqual(await figure.texts(".wrong"), ["0.959", "−0.279", "0.877"]);
      assert.deepEqual(await figure.texts(".same"), ["0.479", "0.050", "0.999", "0.005", "1.000"]);
      assert.match(await figure.text(".takeaway"), /^3 of the original’s 8 numbers are wrong/);
      for (const other of [{ position: "6" }, { position: "5", "d-model": "10" }]) {
        await figure.set(other);
        assert.deepEqual(await figure.texts(".wrong"), []);
        assert.match(await figure.text(".takeaway"), /^Pair 0 of PE/);
      }
    },
  },
  {
    name: "the keys walk through steps and pairs",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowDown");
      assert.equal(await figure.text("#cell"), "cos, pair 1: 0.8776");
      await figure.press("PageUp", "End");
      assert.equal(await figure.text("#cell"), "2i / d_model, pair 3: 0.75");
      await figure.press("ArrowDown", "ArrowRight", "ArrowRight");
      assert.equal(await figure.text("#cell"), "inv_freq, pair 3: 0.001");
      assert.equal(await figure.text("dt.now"), "inv_freq");
    },
  },
  {
    name: "the pointer chooses the cell under it, also in the second band of a phone",
    page: { width: 376 },
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED, "?worked.d-model=16");
      const box = await page.box(`${WORKED} >> .sheet > g:nth-of-type(2) .head`);
      const lines = await page.evaluate(() =>
        [
          ...document
            .querySelector("pe-worked")
            .shadowRoot.querySelectorAll(".sheet > g:nth-of-type(2) > .rule"),
        ].map((line) => line.getBoundingClientRect().y),
      );
      await page.hover({ x: box.x + box.width / 2, y: lines[2] + 10 });
      await figure.settle();
      assert.match(await figure.text("#cell"), /^angle, pair 4: /);
    },
  },
  {
    name: "the example's state goes into the address and comes back from it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED, "?worked.position=1&worked.step=mod&worked.pair=2");
      assert.equal(await figure.text("#cell"), "angle mod 2π, pair 2: 0.01");
      await figure.click(".buttons button:first-child");
      await page.waitFor(() => new URLSearchParams(location.search).get("worked.position") === "0");
      await figure.click("button.reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a wrong value of the example is a sentence in place",
    async run({ page, base }) {
      const figure = await openFigure(page, base, WORKED);
      await figure.refuses({ "d-model": "9" }, "d-model must be even, got 9");
      await figure.refuses({ "d-model": "18" }, "d-model must be a whole number from 2 to 16, got “18”");
      await figure.refuses(
        { step: "tan" },
        "step must be one of exponent, inv_freq, angle, mod, sin, cos, got “tan”",
      );
    },
  },
  {
    name: "the example's table and file hold every number",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, WORKED);
      const row = core.sinusoidalRows(Float64Array.of(5), { dModel: 8 });
      const invFreq = core.sinusoidalInvFreq({ dModel: 8 });
      const [, ...lines] = await figure.exports();
      assert.deepEqual(
        lines.map((line) => line.slice(1).map(Number)),
        Array.from(invFreq, (w, i) => [i / 4, w, 5 * w, 5 * w, row[2 * i], row[2 * i + 1]]),
      );
      assert.deepEqual((await figure.rows())[1], [
        "1",
        "0.2500000",
        "0.1000000",
        "0.5000000",
        "0.5000000",
        "0.4794255",
        "0.8775826",
      ]);
    },
  },
  ...owed(
    WORKED,
    { change: { position: 20 }, elsewhere: ["exports"] },
    {
      "the example fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        query: "?worked.d-model=16&worked.position=123456",
        duties: ["isAccessible", "leavesNothing"],
      },
      "the example's sentence is spoken": { duties: ["speaks"] },
    },
  ),
];
