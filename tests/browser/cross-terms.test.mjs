// The four terms are the core's, and their shares and patterns follow from them.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const FIGURE = "pe-cross-terms";

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
    const { width, height } = pictures[i];
    const shape = { rows: n, cols: n, width, height, vmin: -end, vmax: end };
    return digest(core.colormap(Float32Array.from(values), core.lut(), shape));
  });
}

export default [
  {
    name: "the maps of the cross-terms and their shares are the core's",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      const pictures = await figure.canvases("canvas.map");
      const maps = mapsOf();
      assert.deepEqual(
        pictures.map(({ hex }) => hex),
        expected(pictures, maps, 32),
      );
      const squares = maps.slice(0, 4).map((values) => values.reduce((sum, value) => sum + value ** 2, 0));
      const whole = squares.reduce((sum, value) => sum + value, 0);
      assert.deepEqual(
        (await figure.texts("svg.over text.value")).filter((words) => words.endsWith("%")),
        squares.map((value) => `${written((100 * value) / whole, 1)} %`),
      );
      assert.match(
        await figure.text(".takeaway"),
        /explains 100 % of the variance of PE · PE without A, and 13 % with/,
      );
    },
  },
  {
    name: "the identity brings the pattern of the cross-terms back",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        FIGURE,
        "?cross.weights=identity&cross.seq-len=8&cross.d-model=16&cross.seed=3&cross.scale=false",
      );
      const maps = mapsOf({ seed: 3, n: 8, d: 16, scale: false, identity: true });
      const cell = 5 * 8 + 2;
      const values = maps.slice(0, 4).map((term) => written(term[cell], 2));
      assert.equal(
        await figure.text("#cell"),
        `query 5, key 2: content, content ${values[0]}; content, position ${values[1]}; position, content ${values[2]}; ` +
          `position, position ${values[3]}; sum ${written(maps[4][cell], 2)}`,
      );
      assert.match(
        await figure.text(".takeaway"),
        /100 % of the variance of PE · PE without A, and 100 % with the identity as A\.$/,
      );
    },
  },
  {
    name: "arrow keys walk the maps of the cross-terms, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowRight", "ArrowDown");
      const sum = written(mapsOf()[4][6 * 32 + 4], 2);
      assert.match(
        await figure.text("#cell"),
        new RegExp(`^query 6, key 4: content, content .*; sum ${sum}$`),
      );
      assert.match(await figure.text(".readout"), new RegExp(`^query 6 key 4 .* = ${sum}$`));
      await figure.press("End");
      assert.match(await figure.text("#cell"), /^query 6, key 31:/);
      await page.waitFor(() => new URLSearchParams(location.search).get("cross.key") === "31");
      await figure.click("footer .reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "the pointer reads the logit under it in every map of the cross-terms",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      for (const map of ["1", "after"]) {
        const box = await page.box(`${FIGURE} >> canvas[data-map="${map}"]`);
        await page.hover({ x: box.x + (box.width * 20.5) / 32, y: box.y + (box.height * 10.5) / 32 });
        await figure.settle();
        assert.match(await figure.text("#cell"), /^query 10, key 20:/);
        await figure.set({ query: "0", key: "0" });
      }
    },
  },
  {
    name: "a wrong value of the cross-terms is a sentence, and the last picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, FIGURE);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["weights", "zero", "weights must be one of random, identity, got “zero”"],
        ["seq-len", "65", "seq-len must be a whole number from 4 to 64, got “65”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, () => figure.canvases("canvas.map"));
      }
    },
  },
  {
    name: "the data table of the cross-terms holds each logit's terms",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE, "?cross.seq-len=8");
      const cells = await figure.rows();
      assert.equal(cells.length, 64);
      const maps = mapsOf({ n: 8 });
      cells.forEach((row, i) => {
        assert.deepEqual(row, [
          String(Math.floor(i / 8)),
          String(i % 8),
          ...maps.slice(0, 6).map((values) => written(values[i], 4)),
        ]);
      });
    },
  },
  ...owed(
    FIGURE,
    { change: { seed: 9 } },
    {
      "a removed cross-terms figure leaves nothing running": { duties: ["leavesNothing"] },
      "the cross-terms figure fits a narrow phone, and axe-core finds nothing serious in it": {
        page: PHONE,
        query: "?cross.seq-len=64",
        duties: ["isAccessible"],
      },
      "the cross-terms figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
