// The precision figure joins positions to the numbers that a format holds, and draws how far rotations are off.

import { loadPosenc } from "posenc";
import { openFigure, owed, read } from "./figure.mjs";

const core = await loadPosenc();
const TAG = "pe-precision";
const FORMATS = ["bfloat16", "float16", "float32"];

export default [
  {
    name: "the precision figure's curves are the core's errors in each format",
    async run({ page, base, assert }) {
      for (const [query, rotaryDim, ropeTheta, rounded] of [
        ["", 64, 10000, {}],
        [
          "?precision.rounded=position&precision.rotary-dim=128&precision.rope-theta=500000",
          128,
          500000,
          { position: true, invFreq: false, angle: false, result: false },
        ],
        [
          "?precision.rounded=table",
          64,
          10000,
          { position: false, invFreq: false, angle: false, result: true },
        ],
      ]) {
        const figure = await openFigure(page, base, TAG, query);
        const lines = (await figure.exports()).slice(1).map((line) => line.slice(1).map(Number));
        const positions = Float64Array.from(lines, ([position]) => position);
        assert.equal(positions.length, 97);
        const { invFreq } = core.ropeInvFreq({ headDim: rotaryDim, ropeTheta });
        FORMATS.forEach((format, f) => {
          assert.deepEqual(
            lines.map((line) => line[f + 1]),
            [...core.ropeFormatErrors(positions, invFreq, format, rounded)],
            `${format} ${query}`,
          );
        });
      }
    },
  },
  {
    name: "the precision figure joins each position to the number that the format holds",
    async run({ page, base, assert }) {
      for (const [format, position] of [
        ["bfloat16", 301],
        ["bfloat16", 200],
        ["bfloat16", 100000],
        ["float16", 2049],
        ["float32", 16777217],
      ]) {
        const figure = await openFigure(
          page,
          base,
          TAG,
          `?precision.format=${format}&precision.position=${position}`,
        );
        const own = core.roundTo(Float64Array.of(position), format)[0];
        const around = Float64Array.from({ length: 4096 }, (_, i) => position - 2048 + i).filter(
          (p) => p >= 0,
        );
        const held = core.roundTo(around, format);
        const same = [...around].filter((_, i) => held[i] === own);
        const words = await page.evaluate(
          (tag) =>
            document.querySelector(tag).shadowRoot.querySelector(".collisions").getAttribute("aria-label"),
          TAG,
        );
        const wanted =
          same.length === 1
            ? `Position ${position} keeps a number of its own in ${format}`
            : `Positions ${same[0]} to ${same.at(-1)} become one number in ${format}`;
        assert.equal(words, wanted);
        const sentence = await figure.text(".takeaway");
        if (same.length > 1) {
          assert.match(sentence, new RegExp(`^In ${format} the \\d+ positions`));
          assert.deepEqual(
            sentence
              .match(/positions from ([\d\s]+) to ([\d\s]+) all become ([\d\s]+);/)
              .slice(1)
              .map((text) => read(text)),
            [same[0], same.at(-1), own],
          );
        }
      }
    },
  },
  {
    name: "769 numbers are left of 4096 positions in bfloat16, and its first inexact one is 257",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const distinct = new Set(
        core.roundTo(
          Float64Array.from({ length: 4096 }, (_, i) => i),
          "bfloat16",
        ),
      );
      assert.equal(distinct.size, 769);
      assert.match(
        await figure.text(".takeaway"),
        /the first that is not held exactly is 257, and the first 4096 positions make 769 numbers/,
      );
      await figure.set({ format: "float16", position: 70000 });
      assert.match(await figure.text(".takeaway"), /beyond the largest number.*the format overflows/);
    },
  },
  {
    name: "the precision figure's table holds the numbers of its curves",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const rows = await figure.rows();
      const { invFreq } = core.ropeInvFreq({ headDim: 64 });
      const positions = Float64Array.from(rows, ([position]) => read(position));
      const errors = FORMATS.map((format) => core.ropeFormatErrors(positions, invFreq, format));
      rows.forEach((row, i) => {
        row.slice(1).forEach((text, f) => {
          const error = errors[f][i];
          if (Number.isNaN(error)) {
            assert.equal(text, "not a number");
            return;
          }
          const value = read(text);
          assert.ok(Math.abs(value - error) <= 0.0051 * error, `${text} for ${error}`);
        });
      });
    },
  },
  {
    name: "a key moves the position, the address follows, and the page does not hear it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      await figure.focus('.control.pos input[type="range"]');
      await figure.press("Home");
      assert.equal(await figure.attribute("position"), "1");
      await page.waitFor(() => location.search === "?precision.position=1");
      await figure.click(".reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "the precision figure refuses an odd rotary_dim, is accessible at 320 pixels, and leaves nothing behind",
    page: { width: 320 },
    async run({ page, base }) {
      const figure = await openFigure(page, base, TAG);
      await figure.refuses({ "rotary-dim": 63 }, "rotary-dim must be even, got 63");
      await figure.refuses({ format: "fp8" }, "format must be one of bfloat16, float16, float32, got “fp8”");
      await figure.isAccessible();
      await figure.leavesNothing({ position: 999 });
    },
  },
  ...owed(
    TAG,
    { change: { position: 999 }, elsewhere: ["isAccessible", "exports", "leavesNothing"] },
    { "the precision figure's sentence is spoken": { duties: ["speaks"] } },
  ),
];
