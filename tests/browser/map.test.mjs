// The map draws the means that the core computes, at every zoom, and moves as a map does.

import { createHash } from "node:crypto";
import { loadPosenc } from "posenc";
import { openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const MAP = "pe-map";
const MAPS = {
  sinusoidal: { map: "sinusoidal", dims: 512 },
  "rope-cos": { map: "rope-cos", dims: 512 },
  "rope-sin": { map: "rope-sin", dims: 512 },
  alibi: { map: "alibi", slope: 0.5 },
  t5: { map: "t5", biases: core.randomNormal(32, 0) },
};

/** The digest of the core's pixels at those cells, each of them `enlarge` wide and tall. */
function expected(encoding, { x0, y0, cells, down = cells, enlarge = 1 }, { width, height }, limit) {
  const map = core.tileMap({ seqLen: 2 ** 20, ...MAPS[encoding] });
  map.setColors(core.lut(), { vmin: -limit, vmax: limit });
  const [across, below] = [Math.ceil(width / enlarge), Math.ceil(height / enlarge)];
  const pixels = map.draw({ x0, y0, cellsX: cells, cellsY: down, width: across, height: below });
  const colors = new Uint32Array(pixels.buffer, pixels.byteOffset, across * below);
  const shown = Uint32Array.from({ length: width * height }, (_, i) => {
    const [x, y] = [Math.floor((i % width) / enlarge), Math.floor(Math.floor(i / width) / enlarge)];
    return colors[y * across + x];
  });
  map.free();
  return createHash("sha256").update(new Uint8Array(shown.buffer)).digest("hex");
}

const state = (page) => page.evaluate(() => document.querySelector("pe-map").getState().state);

export default [
  {
    name: "the map's pixels are the core's means at every zoom, and single cells are enlarged",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, MAP);
      for (const zoom of [-5, -2, -1, 0, 1, 3, 4, 6, 8, 10]) {
        const cells = 2 ** Math.max(0, zoom);
        await figure.set({ zoom: String(zoom), "view-position": "524287", "view-dimension": "96" });
        const { "view-position": asked } = await state(page);
        assert.equal(asked, 524287);
        const [picture] = await figure.canvases("canvas.map");
        const x0 = Math.min(524287, 2 ** 20 - picture.width * cells);
        const y0 = zoom < 0 ? 96 : 0;
        const at = { x0, y0, cells, down: 1, enlarge: 2 ** Math.max(0, -zoom) };
        assert.equal(picture.hex, expected("sinusoidal", at, picture, 1), `zoom ${zoom}`);
      }
    },
  },
  {
    name: "the map shows RoPE's cosines and sines, and the biases of ALiBi and T5",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, MAP);
      const t5 = Math.ceil(2 * Math.max(...MAPS.t5.biases.map(Math.abs))) / 2;
      for (const encoding of ["rope-cos", "rope-sin", "alibi", "t5"]) {
        await figure.set({ encoding, zoom: "2", "view-position": "700", "view-dimension": "300" });
        const [picture] = await figure.canvases("canvas.map");
        const square = encoding === "alibi" || encoding === "t5";
        const at = { x0: 700, y0: square ? 300 : 0, cells: 4, down: square ? 4 : 1 };
        const most = Math.max(700 + 4 * picture.width - 300, 300 + 4 * picture.height - 700);
        const limit = { alibi: 2 ** Math.ceil(Math.log2(most / 2)), t5 }[encoding] ?? 1;
        assert.equal(picture.hex, expected(encoding, at, picture, limit), encoding);
      }
    },
  },
  {
    name: "a link reopens the map as it was, and the cell that is read is the core's",
    async run({ page, base, assert }) {
      const query =
        "?map.zoom=-3&map.view-position=999990&map.view-dimension=10&map.position=1000000&map.dimension=13";
      const figure = await openFigure(page, base, MAP, query);
      const [value] = core.sinusoidalRows(Float64Array.of(1e6), { seqLen: 1, dModel: 512 }).subarray(13, 14);
      assert.match(
        await figure.text(".readout"),
        new RegExp(`position 1.000.000 dimension 13 value ${written(value, 4)}`),
      );
      await figure.set({ zoom: "3" });
      const waves = core.sinusoidalTable({ seqLen: 8, dModel: 512, firstPosition: 999990 + 8 });
      const mean = Array.from({ length: 8 }, (_, i) => waves[i * 512 + 13]).reduce((a, b) => a + b) / 8;
      assert.match(await figure.text(".readout"), /positions 999.998–1.000.005 dimension 13 mean/);
      assert.ok((await figure.text(".readout")).includes(`mean ${written(mean, 4)} `));
    },
  },
  {
    name: "keys and buttons read, move and zoom the map, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, MAP);
      await figure.focus(".grid");
      await figure.press("ArrowRight", "Shift+ArrowRight", "ArrowDown");
      assert.deepEqual(await state(page).then(({ position, dimension }) => [position, dimension]), [
        4096 + 11 * 16,
        41,
      ]);
      await figure.press("+");
      assert.equal((await state(page)).zoom, 3);
      await figure.press("End");
      const end = await state(page);
      assert.equal(end.position, 2 ** 20 - 1);
      const [{ width }] = await figure.canvases("canvas.map");
      assert.equal(end["view-position"], 2 ** 20 - 8 * width);
      await figure.click(".view button:nth-of-type(3)");
      const { zoom, "view-position": first } = await state(page);
      assert.deepEqual([zoom, first], [Math.ceil(Math.log2(2 ** 20 / width)), 0]);
      await figure.focus(".grid");
      await figure.press("Home");
      assert.equal((await state(page)).position, 0);
    },
  },
  {
    name: "the map is dragged pixel by pixel, zooms about the pointer, and reads what is under it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, MAP, "?map.view-position=100000");
      const box = await page.box(`${MAP} >> canvas.map`);
      const at = { x: Math.round(box.x) + 200, y: Math.round(box.y) + 150 };
      await page.drag(at, { dx: -50, dy: 0 });
      await figure.settle();
      const dragged = await state(page);
      assert.ok(Math.abs(dragged["view-position"] - (100000 + 50 * 16)) <= 16, dragged["view-position"]);
      await page.evaluate(
        ([x, y]) =>
          document
            .querySelector("pe-map")
            .shadowRoot.querySelector("canvas.map")
            .dispatchEvent(
              new WheelEvent("wheel", {
                clientX: x,
                clientY: y,
                deltaY: -100,
                ctrlKey: true,
                bubbles: true,
                cancelable: true,
              }),
            ),
        [at.x, at.y],
      );
      await figure.settle();
      const zoomed = await state(page);
      assert.equal(zoomed.zoom, 3);
      const under = (one, scale) => one["view-position"] + (at.x - box.x) * scale;
      assert.ok(Math.abs(under(zoomed, 8) - under(dragged, 16)) <= 16);
      await page.hover({ x: at.x + 100, y: at.y });
      await figure.settle();
      const { position, dimension } = await state(page);
      assert.ok(Math.abs(position - under(zoomed, 8) - 100 * 8) <= 8, position);
      assert.ok(Math.abs(dimension - (at.y - box.y)) <= 1);
    },
  },
  {
    name: "every n-th position in place of the mean is what the table holds there, and is told apart",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, MAP, "?map.zoom=6&map.sampled=true");
      const [picture] = await figure.canvases("canvas.map");
      const { width, height } = picture;
      const table = core.sinusoidalTable({ seqLen: width, dModel: 512, positionStep: 64 });
      const pixels = core.colormap(table, core.lut(), {
        rows: width,
        cols: 512,
        width,
        height,
        transpose: true,
      });
      assert.equal(picture.hex, createHash("sha256").update(pixels).digest("hex"));
      for (const [zoom, words] of [
        [5, "every 32nd position"],
        [6, "every 64th position"],
        [9, "every 512th position"],
      ]) {
        await figure.set({ zoom: String(zoom) });
        assert.ok((await figure.text("[data-field=sampled]")).startsWith(words), words);
      }
      await figure.set({ zoom: "6" });
      const said = await figure.text(".takeaway");
      const [, pair, turn, seems] = said.match(
        /^Of each 64 positions only the first is shown: pair (\d+), which turns once in ([\d.]+) positions, seems to turn once in ([\d.\s\u202f]+)\.$/,
      );
      const w = core.sinusoidalInvFreq({ seqLen: 1, dModel: 512 })[pair];
      assert.ok(Math.abs((2 * Math.PI) / w - turn) < 0.01 * turn && turn < 64);
      const apparent = Number(seems.replace(/\s/g, ""));
      // over that many positions, sampling turns it once more or less than whole turns
      const turns = (64 * w) / (2 * Math.PI);
      assert.ok(Math.abs(64 / Math.abs(turns - Math.round(turns)) - apparent) < 0.01 * apparent);
    },
  },
  {
    name: "a wrong value of the map is a sentence, and the last picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, MAP);
      const drawn = () => figure.canvases("canvas.map");
      for (const [given, sentence] of [
        [{ zoom: "14" }, "zoom must be a whole number from -5 to 13, got “14”"],
        [{ "view-position": "-1" }, "view-position must be a number from 0 to 1048576, got “-1”"],
        [
          { encoding: "learned" },
          "encoding must be one of sinusoidal, rope-cos, rope-sin, alibi, t5, got “learned”",
        ],
        [{ encoding: "rope-cos", "d-model": "7" }, "d-model must be even for RoPE, got 7"],
      ]) {
        await figure.refuses(given, sentence, drawn);
      }
    },
  },
  ...owed(
    MAP,
    { change: { zoom: 7 } },
    {
      "the map fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        duties: ["isAccessible", "leavesNothing"],
      },
      "the map's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
