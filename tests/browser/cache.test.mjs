// The cache figure measures on request, draws sizes to scale, and scores keys that were cached with an older base.

import { loadPosenc } from "posenc";
import { openFigure, owed, read, written } from "./figure.mjs";

const core = await loadPosenc();
const TAG = "pe-cache";

/** Score of the key `distance` back at a length: as cached, and rotated anew; from the frequencies alone. */
function scores(length, { factor = 4, originalMax = 2048, distance = 256, headDim = 128 } = {}) {
  const config = { headDim, ropeType: "dynamic", factor, originalMaxPositionEmbeddings: originalMax };
  const at = (longest) => core.ropeInvFreq(config, longest).invFreq;
  const [now, then] = [at(length), at(length - distance)];
  const [query, key] = [length - 1, length - 1 - distance];
  const mean = (angle) => now.reduce((sum, _, i) => sum + Math.cos(angle(i)), 0) / now.length;
  return {
    cached: mean((i) => query * now[i] - key * then[i]),
    renewed: mean((i) => query * now[i] - key * now[i]),
  };
}

export default [
  {
    name: "the cache figure scores each key as the frequencies of its day and of today say",
    async run({ page, base, assert }) {
      const small =
        "&cache.factor=2&cache.original-max=64&cache.distance=16&cache.head-dim=32&cache.length=100";
      for (const [query, setting] of [
        ["", {}],
        [`?${small.slice(1)}`, { factor: 2, originalMax: 64, distance: 16, headDim: 32 }],
      ]) {
        const figure = await openFigure(page, base, TAG, query);
        const lines = (await figure.exports()).slice(1).map((line) => line.slice(1).map(Number));
        assert.ok(lines.length > 80, `${lines.length} lengths`);
        for (const [length, , , cached, renewed] of lines) {
          const wanted = scores(length, setting);
          assert.ok(Math.abs(cached - wanted.cached) < 1e-9, `${length}: ${cached}, ${wanted.cached}`);
          assert.ok(Math.abs(renewed - wanted.renewed) < 1e-9, `${length}: ${renewed}, ${wanted.renewed}`);
          if (length <= (setting.originalMax ?? 2048)) assert.equal(cached, renewed);
        }
      }
    },
  },
  {
    name: "the cache figure's sentence and table tell where the error begins and how large it is",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const rows = await figure.rows();
      const errors = rows.map((row) => read(row[5]));
      const begins = errors.findIndex((error) => error !== 0);
      assert.equal(read(rows[begins][0]), 2049);
      const most = errors.reduce(
        (best, error, i) => (Math.abs(error) > Math.abs(errors[best]) ? i : best),
        0,
      );
      const { cached, renewed } = scores(read(rows[most][0]));
      const sentence = await figure.text(".takeaway");
      const part = `at ${rows[most][0]} its score is ${written(cached, 2)} instead of ${written(renewed, 2)}.`;
      assert.ok(sentence.includes("error 0 up to length 2048;"), sentence);
      assert.ok(sentence.endsWith(part), `${sentence}, expected ${part}`);
      assert.match(sentence, /take 0\.39% of what the KV cache takes, 640 MiB\./);
    },
  },
  {
    name: "the cache figure reads the length that a key or the pointer chooses",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const slider = '[aria-label="Stale keys"] input[type="range"]';
      await figure.focus(slider);
      await figure.press("ArrowRight");
      assert.equal(await figure.attribute("length"), "3001");
      const { cached, renewed } = scores(3001);
      const values = await figure.texts(".readout b");
      assert.equal(read(values[0]), 3001);
      assert.deepEqual(values.slice(3), [
        written(cached, 3),
        written(renewed, 3),
        written(cached - renewed, 3),
      ]);
      const box = await page.box(`${TAG} >> .curves`);
      await page.click({ x: box.x + box.width - 12, y: box.y + 100 });
      await figure.settle();
      assert.ok(Number(await figure.attribute("length")) > 8150, await figure.attribute("length"));
    },
  },
  {
    name: "the areas of the KV cache and of the cosines and sines are their bytes",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        TAG,
        "?cache.num-layers=2&cache.num-kv-heads=1&cache.bytes=4",
      );
      const areas = await page.evaluate((tag) => {
        const root = document.querySelector(tag).shadowRoot;
        const area = (rect) => rect.getAttribute("width") * rect.getAttribute("height");
        return {
          kv: [...root.querySelectorAll("rect.kv")].map(area),
          table: area(root.querySelector("rect.table")),
        };
      }, TAG);
      const [prefill, decode] = areas.kv;
      assert.ok(Math.abs(prefill / decode - 4) < 1e-6, `${prefill} and ${decode}`);
      // 2 layers keep a key and a value for each number of the head, as large as one of the table
      assert.ok(Math.abs((prefill + decode) / areas.table - 4) < 1e-6, `${prefill + decode}, ${areas.table}`);
      assert.match(await figure.text(".sizes .title"), /: 10 MiB$/);
    },
  },
  {
    name: "a measurement ends with two finite times, and a change throws them away",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, "?cache.num-layers=4&cache.head-dim=32");
      assert.deepEqual(await figure.texts(".side b"), ["–", "–"]);
      await figure.click(".timing button");
      await page.waitFor(
        (tag) => /times/.test(document.querySelector(tag).shadowRoot.querySelector(".ratio").textContent),
        TAG,
        { timeout: 60_000 },
      );
      const times = (await figure.texts(".side b")).map((text) => read(text));
      assert.equal(times.length, 2);
      for (const time of times) assert.ok(Number.isFinite(time) && time > 0, `${time} ms`);
      await figure.set({ "num-layers": 5 });
      assert.deepEqual(await figure.texts(".side b"), ["–", "–"]);
    },
  },
  {
    name: "the cache figure refuses an odd head and keeps its picture",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      await figure.refuses({ "head-dim": 127 }, "head-dim must be even, got 127");
      await figure.refuses({ factor: 0.5 }, "factor must be a number from 1 to 64, got “0.5”");
      await figure.set({ length: 99999, distance: 4096 });
      assert.equal(read((await figure.texts(".readout b"))[0]), 8192);
      assert.equal(await figure.text(".problem"), "");
    },
  },
  {
    name: "the cache figure is accessible at 320 pixels and leaves nothing behind, not even a measurement",
    page: { width: 320 },
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      await figure.isAccessible();
      await figure.click(".timing button");
      await figure.leavesNothing({ factor: 3 });
      assert.equal(await figure.text(".ratio"), "Not measured yet.");
    },
  },
  ...owed(
    TAG,
    { change: { factor: 3 }, elsewhere: ["isAccessible", "exports", "leavesNothing"] },
    { "the cache figure's sentence is spoken": { duties: ["speaks"] } },
  ),
];
