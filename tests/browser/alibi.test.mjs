// The ALiBi figure draws the core's slopes and biases, and its windows are those of the core's softmax.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed } from "./figure.mjs";

const core = await loadPosenc();
const ALIBI = "pe-alibi";
const GREENS = Uint8Array.of(...[2, 60, 48, 38, 128, 104, 120, 190, 165], ...[205, 231, 219, 252, 251, 248]);

function expected(slope, causal, cells, { width, height }) {
  const bias = core.alibiBias(Float64Array.of(slope), cells, causal);
  const values = Float32Array.from(bias, (value) => (Number.isFinite(value) ? value : Number.NaN));
  const shape = { rows: cells, cols: cells, width, height, vmin: -8, vmax: 0 };
  return digest(core.colormap(values, core.lut(GREENS), shape));
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
      const figure = await openFigure(page, base, ALIBI);
      for (const name of ["causal", "symmetric"]) {
        const [picture] = await figure.canvases(`canvas[data-map=${name}]`);
        assert.equal(picture.hex, expected(2 ** -3, name === "causal", 32, picture));
      }
      assert.match(
        await figure.text(".takeaway"),
        /on the nearest 10 in the steepest head \(1\), on the nearest 1179 in the flattest \(8\)/,
      );
    },
  },
  {
    name: "slopes stand in the published order, those past the power of two marked",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ALIBI, "?alibi.num-heads=12&alibi.head=9");
      const cells = await figure.rows();
      assert.equal(cells.length, 12);
      const slopes = core.alibiSlopes({ numHeads: 12 });
      assert.deepEqual(
        cells.map(([, slope]) => Number(slope)),
        [...slopes].map((slope) => Number(slope.toPrecision(4))),
      );
      assert.deepEqual(
        cells.map(([, , from]) => from),
        Array.from({ length: 12 }, (_, h) => (h < 8 ? "8 heads" : "16 heads")),
      );
      assert.equal((await figure.texts(".stem.extra")).length, 4);
      assert.match(await figure.text(".lead"), /^head 9 slope = 2−8 · 1\/16 = 0\.7071$/);
      assert.match(
        await figure.text(".legend"),
        /Hollow: every other slope of the doubled set \(16 heads\)\./,
      );
    },
  },
  {
    name: "the ALiBi windows are those of the core's softmax, causal and symmetric, last and middle",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ALIBI, "?alibi.num-heads=6&alibi.seq-len=150");
      for (const [causal, query, at] of [
        [true, "last", 149],
        [true, "middle", 75],
        [false, "last", 149],
        [false, "middle", 75],
      ]) {
        await figure.set({ causal: String(causal), query });
        const cells = await figure.rows();
        assert.equal(cells.length, 6);
        assert.deepEqual(
          cells.map(([, , , window]) => Number(window)),
          windows(6, 150, causal, at),
        );
      }
      assert.match(await figure.text(".takeaway"), /cannot tell one side from the other\.$/);
    },
  },
  {
    name: "arrow keys read the ALiBi maps cell by cell, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ALIBI);
      await figure.focus(".grid");
      await figure.press("ArrowDown", "ArrowDown", "ArrowLeft");
      assert.equal(await figure.label("#causal-cell"), "query 14, key 7: −0.8750");
      await figure.press("End");
      assert.equal(await figure.label("#causal-cell"), "query 14, key 31: masked");
      assert.equal(await figure.label("#symmetric-cell"), "query 14, key 31: −2.125");
    },
  },
  {
    name: "a click on a stem chooses its head, and the address follows",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ALIBI);
      const box = await page.box("pe-alibi >> .stem:nth-of-type(8) circle");
      await page.click({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
      await page.waitFor(() => new URLSearchParams(location.search).has("alibi.head"));
      const head = Number(await figure.attribute("head"));
      assert.match(await figure.text(".lead"), new RegExp(`^head ${head} `));
      const [picture] = await figure.canvases("canvas[data-map=causal]");
      assert.equal(picture.hex, expected(2 ** -head, true, 32, picture));
    },
  },
  {
    name: "a wrong value in the ALiBi figure is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ALIBI);
      await figure.refuses(
        { "num-heads": "129" },
        "num-heads must be a whole number from 1 to 128, got “129”",
        () => figure.canvases("canvas[data-map=causal]"),
      );
      await figure.set({ "num-heads": "1", "seq-len": "1" });
      assert.equal(await figure.text(".problem"), "");
      assert.match(
        await figure.text(".takeaway"),
        /which sees 1 key, lies on the nearest 1 in the one head\.$/,
      );
    },
  },
  ...owed(
    ALIBI,
    { change: { "num-heads": 4 } },
    {
      "axe-core finds nothing serious in the ALiBi figure, and taking it away leaves nothing": {
        duties: ["isAccessible", "leavesNothing"],
      },
      "the ALiBi figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
