// The sum of token and position is drawn and told as the core computes it.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const SUM = "pe-sum";

/** Token, scaled token, position and sum, as the figure computes them: four arrays. */
function expected({ dModel = 512, position = 10, sigma = 0.02, seed = 1, scale = true } = {}) {
  const token = Float32Array.from(core.randomNormal(dModel, seed, sigma));
  const row = core.sinusoidalTable({ seqLen: 1, dModel, firstPosition: position });
  const factor = Math.fround(scale ? Math.sqrt(dModel) : 1);
  const scaled = token.map((value) => value * factor);
  return [token, scaled, row, scaled.map((value, i) => value + row[i])];
}
const norm = (values) => Math.hypot(...values);
const digits = (value) => {
  const whole = Math.floor(Math.log10(value)) + 1;
  return value.toFixed(Math.max(0, 4 - whole));
};

/** The digest of a strip of d_model cells, `line` to a line, in the scale of all four. */
function stripDigest(values, limit, line, { width, height }) {
  const lines = Math.ceil(values.length / line);
  const padded = new Float32Array(line * lines).fill(Number.NaN);
  padded.set(values);
  const shape = { rows: lines, cols: line, width, height, vmin: -limit, vmax: limit };
  return digest(core.colormap(padded, core.lut(), shape));
}

export default [
  {
    name: "the strips of token, scaled token, position and sum are the core's, in one scale",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM);
      for (const [attributes, config, line] of [
        [{}, {}, 128],
        [{ "d-model": "90", position: "3", scale: "false" }, { dModel: 90, position: 3, scale: false }, 90],
        [
          { "d-model": "300", init: "unit", seed: "7", scale: "1", position: "100" },
          { dModel: 300, sigma: 1, seed: 7, position: 100 },
          128,
        ],
      ]) {
        await figure.set(attributes);
        const rows = expected(config);
        const limit = Math.max(...rows.flatMap((row) => [...row].map(Math.abs)));
        const drawn = await figure.canvases("canvas.strip");
        assert.deepEqual(
          drawn.map(({ hex }) => hex),
          rows.map((row, i) => stripDigest(row, limit, line, drawn[i])),
        );
      }
    },
  },
  {
    name: "the norms, the cosine and the parameters are those of the numbers",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM);
      const rows = expected();
      const [token, scaled, position, sum] = rows.map((row) => digits(norm(row)));
      const cosine = rows[0].reduce((total, value, i) => total + value * rows[2][i], 0);
      const said = await figure.text(".takeaway");
      assert.equal(
        said,
        `A token of norm ${token} grows to ${scaled} by × √512 (10.24 expected) and meets a position of norm 16.00, ` +
          `√(512/2) at every position. Their cosine is ${written(cosine / norm(rows[0]) / norm(rows[2]), 3)}, so the ` +
          `sum’s norm is ${sum}; concatenated they would take 4 times the 786\u202f432 projection parameters.`.replace(
            "\u202f",
            " ",
          ),
      );
      assert.equal(position, "16.00");
      assert.deepEqual(await figure.texts(".squares .count"), ["786 432", "3 145 728"]);
      // Drawn to scale: a quarter of the area.
      const sides = await page.evaluate(() =>
        [...document.querySelector("pe-sum").shadowRoot.querySelectorAll(".squares rect")]
          .slice(0, 2)
          .map((rect) => rect.width.baseVal.value * rect.height.baseVal.value),
      );
      assert.ok(Math.abs(sides[0] / sides[1] - 4) < 1e-6, String(sides));
    },
  },
  {
    name: "the norm of the position's row is √(d/2) wherever the position stands",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM);
      for (const position of ["0", "1", "77", "1000000"]) {
        await figure.set({ position, "d-model": "128" });
        assert.match(await figure.text(".takeaway"), /a position of norm 8\.000, √\(128\/2\)/);
      }
    },
  },
  {
    name: "the keys read the strips number by number",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM);
      const rows = expected();
      await figure.focus(".grid");
      await figure.press("Home", "ArrowRight", "ArrowUp");
      assert.equal(await figure.text("#cell"), `PE(10), dimension 1: ${written(rows[2][1], 3)}`);
      await figure.press("End", "ArrowDown");
      assert.equal(
        await figure.text("#cell"),
        `√512 · token + PE(10), dimension 511: ${written(rows[3][511], 3)}`,
      );
      await figure.press("PageUp", "Shift+ArrowLeft");
      assert.equal(await figure.text("#cell"), `token, dimension 501: ${written(rows[0][501], 3)}`);
    },
  },
  {
    name: "the pointer reads the number under it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM);
      const box = await page.box(`${SUM} >> canvas.strip:nth-of-type(3)`);
      await page.hover({ x: box.x + (box.width * 20.5) / 128, y: box.y + box.height * 0.4 });
      await figure.settle();
      assert.equal(await figure.text("#cell"), `PE(10), dimension 148: ${written(expected()[2][148], 3)}`);
    },
  },
  {
    name: "the sum's state goes into the address and comes back from it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM, "?sum.d-model=64&sum.init=inverse-sqrt&sum.column=5");
      assert.match(await figure.text(".takeaway"), /× √64 \(8\.000 expected\)/);
      await figure.focus(".grid");
      await figure.press("ArrowRight");
      await page.waitFor(() => new URLSearchParams(location.search).get("sum.column") === "6");
      await figure.click("button.reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a wrong width of the sum is a sentence in place",
    async run({ page, base }) {
      const figure = await openFigure(page, base, SUM);
      await figure.refuses({ "d-model": "7" }, "d-model must be even, got 7");
      await figure.refuses({ position: "-1" }, "position must be a whole number from 0 to 1000000, got “-1”");
      await figure.refuses({ init: "big" }, "init must be one of 0.02, inverse-sqrt, unit, got “big”");
    },
  },
  {
    name: "the sum's table and file hold the four vectors",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SUM, "?sum.d-model=16");
      const rows = expected({ dModel: 16 });
      assert.deepEqual(await figure.rows(), [
        ["norm", ...rows.map((row) => written(norm(row), 6))],
        ...Array.from(rows[0], (_, i) => [String(i), ...rows.map((row) => written(row[i], 6))]),
      ]);
      const [, ...lines] = await figure.exports();
      assert.deepEqual(
        lines.map((line) => line.slice(1).map(Number)),
        rows.map((row) => [...row]),
      );
    },
  },
  ...owed(
    SUM,
    { change: { position: 20 }, elsewhere: ["exports"] },
    {
      "the sum fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        duties: ["isAccessible", "leavesNothing"],
      },
      "the sum's sentence is spoken": { duties: ["speaks"] },
    },
  ),
];
