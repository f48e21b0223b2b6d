// A table of positions: drawn as the core gives it, silent beyond its end, and the reader's own read in the page.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, read, written } from "./figure.mjs";

const core = await loadPosenc();
const LEARNED = "pe-learned";
const random = (rows, columns) => Float32Array.from(core.randomNormal(rows * columns, 0, 0.02));

/** The |value| that all but one in two hundred stay below, of at most 2^16 entries. */
function limitOf(values) {
  const skip = Math.ceil(values.length / 2 ** 16);
  const sizes = values
    .filter((value, i) => i % skip === 0 && Number.isFinite(value))
    .map(Math.abs)
    .sort();
  return sizes[Math.floor(0.995 * (sizes.length - 1))];
}
const pixels = (values, rows, columns, limit, { width, height }, transpose) =>
  digest(
    core.colormap(values, core.lut(), {
      rows,
      cols: columns,
      width,
      height,
      vmin: -limit,
      vmax: limit,
      transpose,
    }),
  );

/** Gives the figure a file: bytes as numbers, dropped on the picture or chosen in the field. */
async function give(figure, name, bytes, how = "drop") {
  await figure.page.evaluate(
    ([file, numbers, way]) => {
      const root = document.querySelector("pe-learned").shadowRoot;
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(numbers)], file));
      if (way === "drop") {
        root
          .querySelector(".stage")
          .dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
      } else {
        const input = root.querySelector("input[type=file]");
        input.files = transfer.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
      }
    },
    [name, [...bytes], how],
  );
  await new Promise((done) => setTimeout(done, 300));
  await figure.settle();
}

function safetensors(tensors) {
  const header = {};
  const data = [];
  let at = 0;
  for (const [name, shape, values] of tensors) {
    const bytes = new Uint8Array(values.buffer);
    header[name] = { dtype: "F32", shape, data_offsets: [at, at + bytes.length] };
    data.push(bytes);
    at += bytes.length;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...data]);
}
function npy(rows, columns, values) {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }\n`;
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
  return Buffer.concat([start, Buffer.from(header), new Uint8Array(values.buffer)]);
}
const waves = (rows, columns) => core.sinusoidalTable({ seqLen: rows, dModel: columns });

export default [
  {
    name: "the table and the cosines of its rows are drawn as the core gives them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED);
      const check = async (values, rows, columns) => {
        const [map] = await figure.canvases("canvas.map");
        assert.equal(map.hex, pixels(values, rows, columns, limitOf(values), map, true));
        const stride = Math.ceil(rows / 256);
        const ids = Int32Array.from({ length: Math.ceil(rows / stride) }, (_, i) => i * stride);
        const dots = core.similarity(core.lookupRows(values, ids, rows, columns), ids.length, columns);
        const sizes = [...ids].map((_, i) => Math.sqrt(dots[i * ids.length + i]));
        const cosines = dots.map(
          (dot, i) => dot / (sizes[Math.floor(i / ids.length)] * sizes[i % ids.length]),
        );
        const [square] = await figure.canvases("canvas.square");
        assert.equal(square.hex, pixels(cosines, ids.length, ids.length, 1, square));
      };
      await check(random(512, 768), 512, 768);
      await figure.set({ table: "sinusoidal", "max-len": "100", "d-model": "64", row: "7" });
      await check(waves(100, 64), 100, 64);
      await figure.set({ table: "untrained", "max-len": "1", "d-model": "1" });
      await check(random(1, 1), 1, 1);
    },
  },
  {
    name: "row 512 of 512 is refused in the core's words, in the picture and in the sentence",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED);
      assert.match(
        await figure.text(".takeaway"),
        /^Row 511, the last, is 768 numbers out of 512 × 768 = 393 216, norm /,
      );
      await figure.click(".ask .buttons button:last-child");
      assert.equal(await figure.attribute("row"), "512");
      assert.deepEqual(await figure.texts(".missing"), [
        "row 512 does not exist:",
        "the table has rows 0 to 511 (ids[0])",
      ]);
      assert.equal(
        await figure.text(".takeaway"),
        "Position 512 cannot be looked up: row 512 does not exist: the table has rows 0 to 511 (ids[0]). " +
          "All 512 × 768 = 393 216 numbers say nothing about it.",
      );
      assert.equal(await figure.text(".problem"), "");
      await figure.click(".ask .buttons button:first-child");
      assert.deepEqual(await figure.texts(".missing"), []);
    },
  },
  {
    name: "the keys walk the table to its end and one row beyond",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        LEARNED,
        "?learned.max-len=20&learned.d-model=6&learned.row=18",
      );
      const value = random(20, 6)[19 * 6 + 2];
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowDown", "ArrowDown");
      const said = await figure.text("#cell");
      assert.match(said, /^row 19, dimension 2: /);
      assert.ok(Math.abs(Number(said.split(": ")[1].replace("−", "-")) - value) < 1e-5, said);
      await figure.press("ArrowRight");
      assert.equal(await figure.text("#cell"), "row 20, dimension 2: no such row");
      await figure.press("ArrowRight", "Home");
      assert.match(await figure.text("#cell"), /^row 0, dimension 2: /);
    },
  },
  {
    name: "the cosine of two rows is read by key and by pointer",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        LEARNED,
        "?learned.table=sinusoidal&learned.max-len=40&learned.d-model=32&learned.row=3&learned.other=7",
      );
      const cosine = (offset) =>
        core.dotByOffset(Float64Array.of(offset), core.sinusoidalInvFreq({ dModel: 32 }))[0] / 16;
      assert.equal(await figure.text("#cosine"), `row 3, row 7: ${written(cosine(4), 3)}`);
      await figure.focus('.grid[aria-label^="Cosines"]');
      await figure.press("ArrowDown", "ArrowLeft");
      assert.equal(await figure.text("#cosine"), `row 4, row 6: ${written(cosine(2), 3)}`);
      const box = await page.box(`${LEARNED} >> canvas.square`);
      await page.hover({ x: box.x + (box.width * 30.5) / 40, y: box.y + (box.height * 10.5) / 40 });
      await figure.settle();
      assert.equal(await figure.text("#cosine"), `row 10, row 30: ${written(cosine(20), 3)}`);
    },
  },
  {
    name: "the reader's own table is read, shown and told, and nothing is sent",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED);
      const before = (await page.requests()).length;
      const [rows, columns] = [48, 32];
      const values = waves(rows, columns);
      for (const [name, bytes, how] of [
        ["mine.npy", npy(rows, columns, values), "choose"],
        [
          "model.safetensors",
          safetensors([
            ["word.weight", [1, 2], Float32Array.of(1, 2)],
            ["position.weight", [rows, columns], values],
          ]),
          "drop",
        ],
      ]) {
        await give(figure, name, bytes, how);
        const [map] = await figure.canvases("canvas.map");
        assert.equal(map.hex, pixels(values, rows, columns, limitOf(values), map, true));
        assert.match(
          await figure.text(".takeaway"),
          /^Row 47, the last, is 32 numbers out of 48 × 32 = 1536, norm 4\.00\. These rows are your file’s/,
        );
        assert.match(await figure.text(".told"), new RegExp(`^${name}.*nothing is uploaded\\.$`));
      }
      // Scrolling may have fetched other figures' modules, and the browser the page's icon.
      const since = (await page.requests()).slice(before);
      assert.deepEqual(
        since.filter((address) => !address.startsWith(`${base}assets/`)),
        [],
      );
      assert.equal(await figure.text(".problem:not([hidden])"), undefined);
      await figure.click(".file button");
      assert.match(await figure.text(".takeaway"), /out of 512 × 768/);
    },
  },
  {
    name: "of several tables without a name for positions the reader chooses",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED);
      const good = await figure.text(".takeaway");
      await give(
        figure,
        "two.safetensors",
        safetensors([
          ["one", [2, 2], Float32Array.of(1, 0, 0, 1)],
          ["two", [3, 2], Float32Array.of(1, 0, Number.NaN, 1, 1, 1)],
        ]),
      );
      assert.equal(await figure.text(".takeaway"), good);
      assert.deepEqual(await figure.texts(".file option"), ["choose one of 2", "one (2 × 2)", "two (3 × 2)"]);
      await page.evaluate(() => {
        const select = document.querySelector("pe-learned").shadowRoot.querySelector(".file select");
        select.value = "two";
        select.dispatchEvent(new Event("change", { bubbles: true }));
      });
      await new Promise((done) => setTimeout(done, 300));
      await figure.settle();
      assert.match(await figure.text(".told"), /^two\.safetensors: two, F32, 1 entry NaN\./);
      assert.match(
        await figure.text(".takeaway"),
        /^Row 2, the last, is 2 numbers out of 3 × 2 = 6, norm 1\.41\./,
      );
    },
  },
  {
    name: "a file that cannot be read is a sentence in place, and what is shown stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED);
      await give(figure, "mine.npy", npy(48, 32, waves(48, 32)));
      const [good, sentence] = [await figure.canvases("canvas.map"), await figure.text(".takeaway")];
      const whole = npy(48, 32, waves(48, 32));
      for (const [name, bytes, problem] of [
        ["bad.npy", Buffer.from("hello world!"), "Magic: an .npy file begins with \\x93NUMPY"],
        [
          "cut.npy",
          whole.subarray(0, -5),
          "Data: shape (48, 32) of F32 takes 6144 bytes, the file holds 6139 for it",
        ],
        ["model.pt", whole, "File name: must end in .npy or .safetensors, got “model.pt”"],
        [
          "flat.npy",
          npy("1536", "", waves(48, 32)),
          "Tensor “flat.npy”: must have two dimensions, got 1, shape (1536,)",
        ],
        [
          "x.safetensors",
          Buffer.alloc(40, 255),
          "Header length: must be at most 100000000 bytes, got 18446744073709552000",
        ],
      ]) {
        await give(figure, name, bytes);
        assert.equal(await figure.text(".file .problem"), problem);
        assert.deepEqual(await figure.canvases("canvas.map"), good);
        assert.equal(await figure.text(".takeaway"), sentence);
      }
      await figure.click("button.reset");
      assert.match(await figure.text(".takeaway"), /out of 512 × 768/);
    },
  },
  {
    name: "the table's state goes into the address and comes back from it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LEARNED, "?learned.max-len=1024&learned.row=1024");
      assert.match(await figure.text(".takeaway"), /the table has rows 0 to 1023/);
      await figure.click(".ask .buttons button:first-child");
      await page.waitFor(() => new URLSearchParams(location.search).get("learned.row") === "1023");
      await figure.click("button.reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a wrong size of the table is a sentence in place",
    async run({ page, base }) {
      const figure = await openFigure(page, base, LEARNED);
      await figure.refuses(
        { "max-len": "65536", "d-model": "4096" },
        "max-len × d-model must be at most 4 194 304 cells, got 268 435 456",
      );
      await figure.refuses({ row: "-1" }, "row must be a whole number from 0 to 2147483647, got “-1”");
    },
  },
  {
    name: "the position table's rows and file are its numbers",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        LEARNED,
        "?learned.max-len=6&learned.d-model=4&learned.row=5&learned.other=1",
      );
      const values = random(6, 4);
      const rows = await figure.rows();
      rows.forEach(([dimension, asked, other], i) => {
        assert.equal(dimension, String(i));
        for (const [words, value] of [
          [asked, values[20 + i]],
          [other, values[4 + i]],
        ]) {
          assert.ok(Math.abs(read(words) - value) <= 1e-5 * Math.abs(value), `${words} for ${value}`);
        }
      });
      const [, ...lines] = await figure.exports();
      assert.deepEqual(
        lines.flatMap((line) => line.slice(1).map(Number)),
        [...values],
      );
    },
  },
  ...owed(
    LEARNED,
    { change: { row: 20 }, elsewhere: ["exports"] },
    {
      "the table of positions fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        query: "?learned.row=512",
        duties: ["isAccessible", "leavesNothing"],
      },
      "the sentence of the table of positions is spoken": { duties: ["speaks"] },
    },
  ),
];
