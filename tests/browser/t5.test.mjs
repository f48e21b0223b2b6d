// The T5 figure draws the core's buckets and the bias of a table from the core.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, written } from "./figure.mjs";

const core = await loadPosenc();
const T5 = "pe-t5";

/** The colours of the cells in the bucket map, one text for each. */
const cellColors = (page, seqLen) =>
  page.evaluate((cells) => {
    const canvas = document.querySelector("pe-t5").shadowRoot.querySelector("canvas[data-map=buckets]");
    const unit = canvas.width / cells;
    const context = canvas.getContext("2d");
    return Array.from({ length: cells * cells }, (_, i) => {
      const [x, y] = [((i % cells) + 0.5) * unit, (Math.floor(i / cells) + 0.5) * unit];
      return [...context.getImageData(x, y, 1, 1).data].join();
    });
  }, seqLen);

export default [
  {
    name: "the T5 bias map is the core's, from a seeded column of the table",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, T5, "?t5.head=3&t5.seed=5&t5.seq-len=24");
      const table = core.randomNormal(32 * 12, 5);
      const column = Float64Array.from({ length: 32 }, (_, bucket) => table[bucket * 12 + 2]);
      const bias = core.t5Bias(table, 12, 24, 24).subarray(2 * 24 * 24, 3 * 24 * 24);
      const limit = Math.ceil(2 * Math.max(...table.map(Math.abs))) / 2;
      const [{ width, height, hex }] = await figure.canvases("canvas[data-map=bias]");
      const shape = { rows: 24, cols: 24, width, height, vmin: -limit, vmax: limit };
      const expected = core.colormap(Float32Array.from(bias), core.lut(), shape);
      assert.equal(hex, digest(expected));
      const rows = await figure.rows();
      assert.equal(rows.length, 31);
      for (const [bucket, , , value] of rows) assert.equal(value, written(column[bucket], 4));
      assert.deepEqual(rows[6].slice(0, 3), ["9", "−15 to −12", "4"]);
      assert.deepEqual(rows[0].slice(0, 3), ["15", "−91 and before", "∞"]);
    },
  },
  {
    name: "cells of the T5 bucket map have one colour exactly where the core gives one bucket",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, T5);
      for (const config of [
        { numBuckets: 32, maxDistance: 128, bidirectional: true },
        { numBuckets: 18, maxDistance: 40, bidirectional: true },
        { numBuckets: 7, maxDistance: 20, bidirectional: false },
      ]) {
        await figure.set({
          "num-buckets": config.numBuckets,
          "max-distance": config.maxDistance,
          bidirectional: config.bidirectional,
        });
        const relative = Int32Array.from({ length: 32 * 32 }, (_, i) => (i % 32) - Math.floor(i / 32));
        const buckets = core.t5Buckets(relative, config);
        const colors = await cellColors(page, 32);
        const colorOf = new Map();
        for (const [i, bucket] of buckets.entries()) {
          if (!colorOf.has(bucket)) colorOf.set(bucket, colors[i]);
          assert.equal(colors[i], colorOf.get(bucket));
        }
        assert.equal(new Set(colorOf.values()).size, colorOf.size);
      }
    },
  },
  {
    name: "the T5 figure says which relative positions share a bucket, encoder and decoder",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, T5);
      assert.match(
        await figure.text(".takeaway"),
        /^Relative position −12 falls into bucket 9, which holds −15 to −12\. This encoder uses 31 of its 32 buckets; 15 of them hold one distance, and from 91 on/,
      );
      await figure.set({ bidirectional: "false" });
      assert.match(
        await figure.text(".takeaway"),
        /^Relative position −12 falls into bucket 12, which holds −12 alone\. This decoder uses 32 of its 32 buckets; 16 of them hold one distance, and from 113 on/,
      );
    },
  },
  {
    name: "arrow keys read the T5 maps, the page does not hear them, and the address follows",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, T5);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowRight", "ArrowUp");
      const [bucket] = core.t5Buckets(Int32Array.of(-9));
      assert.equal(await figure.label("#buckets-cell"), `query 19, key 10: bucket ${bucket}`);
      const value = core.randomNormal(32 * 12, 0)[bucket * 12];
      assert.equal(await figure.label("#bias-cell"), `query 19, key 10: ${written(value, 3)}`);
      await figure.press("Home");
      assert.match(await figure.label("#buckets-cell"), /^query 19, key 0: bucket 10$/);
      await page.waitFor(() => new URLSearchParams(location.search).get("t5.relative-position") === "-19");
    },
  },
  {
    name: "combinations that T5 does not allow are the core's sentence, and the last picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, T5);
      for (const [change, sentence] of [
        [
          { "num-buckets": "31" },
          /^num_buckets must be even and at least 4 if bidirectional; got num_buckets = 31, bidirectional = true$/,
        ],
        [
          { "num-buckets": "32", "max-distance": "8" },
          /^max_distance must be greater than the number of exact buckets \(num_buckets\/2, or \/4 if bidirectional\); got .*max_distance = 8/,
        ],
      ]) {
        await figure.refuses(change, sentence, () => figure.canvases("canvas[data-map=bias]"));
      }
      await figure.set({ "max-distance": "9" });
      assert.equal(await figure.text(".problem"), "");
    },
  },
  ...owed(
    T5,
    { change: { "relative-position": -20 } },
    {
      "axe-core finds nothing serious in the T5 figure, and taking it away leaves nothing": {
        duties: ["isAccessible", "leavesNothing"],
      },
      "the T5 figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
