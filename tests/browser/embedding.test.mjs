// The embedding layer's figure draws what the core's embed gives, and asks for a missing row as the core does.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const EMBEDDING = "pe-embedding";
const WORDS = ["the", "dog", "bites", "man", "a", "cat", "sees"];
const FIRST = [0, 1, 2, 0, 3, 0, 3, 2, 0, 1];

/** The matrices of the picture in its order. */
function expected(ids, batch, { dModel = 8, seed = 1, scale = true } = {}) {
  const seqLen = ids.length / batch;
  const vocabSize = WORDS.length;
  const table = Float32Array.from(core.randomNormal(vocabSize * dModel, seed, 1 / Math.sqrt(dModel)));
  const positions = core.sinusoidalTable({ seqLen, dModel });
  const embed = (rows) =>
    core.embed(Int32Array.from(ids), table, rows, {
      batch,
      seqLen,
      vocabSize,
      dModel,
      positionRows: seqLen,
      scaleBySqrtDModel: scale,
    });
  const [scaled, sum] = [embed(new Float32Array(seqLen * dModel)), embed(positions)];
  const split = (values) =>
    Array.from({ length: batch }, (_, b) => values.slice(b * seqLen * dModel, (b + 1) * seqLen * dModel));
  const blocks = [table, ...split(scaled), positions, ...split(sum)];
  const limit = Math.max(...blocks.flatMap((block) => [...block].map(Math.abs)));
  const pixels = (values, { width, height }) => {
    const shape = { rows: values.length / dModel, cols: dModel, width, height, vmin: -limit, vmax: limit };
    return digest(core.colormap(values, core.lut(), shape));
  };
  return { table, positions, scaled, sum, blocks, pixels };
}

const type = async (figure, words) => {
  await figure.focus(".tokens input");
  await figure.page.evaluate((text) => {
    const input = document.querySelector("pe-embedding").shadowRoot.querySelector(".tokens input");
    input.value = text;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }, words);
  await figure.settle();
};

export default [
  {
    name: "the matrices of the embedding layer are the core's, in one scale",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const check = async (ids, batch, config) => {
        const { blocks, pixels } = expected(ids, batch, config);
        const drawn = await figure.canvases("canvas.block");
        assert.deepEqual(
          drawn.map(({ hex }) => hex),
          blocks.map((block, i) => pixels(block, drawn[i])),
        );
      };
      await check(FIRST, 2);
      await figure.set({ tokens: "A cat, sees / a 6 5", "d-model": "12", seed: "3", scale: "false" });
      await check([4, 5, 6, 4, 6, 5], 2, { dModel: 12, seed: 3, scale: false });
      await figure.set({ tokens: "man", "d-model": "2", scale: "true" });
      await check([3], 1, { dModel: 2, seed: 3 });
    },
  },
  {
    name: "the shape stands at each step",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      assert.deepEqual(await figure.texts(".shape"), [
        "(2, 5)",
        "(7, 8)",
        "(2, 5, 8)",
        "(5, 8)",
        "(2, 5, 8)",
      ]);
      await type(figure, "a cat sees");
      assert.deepEqual(await figure.texts(".shape"), [
        "(1, 3)",
        "(7, 8)",
        "(1, 3, 8)",
        "(3, 8)",
        "(1, 3, 8)",
      ]);
    },
  },
  {
    name: "an id outside the vocabulary is answered with the core's sentence, and the picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const before = await figure.canvases("canvas.block");
      await figure.click(".tokens button:last-of-type");
      assert.equal(await figure.text(".problem"), "row 7 does not exist: the table has rows 0 to 6 (ids[3])");
      assert.deepEqual(await figure.canvases("canvas.block"), before);
      const input = await page.evaluate(
        () => document.querySelector("pe-embedding").shadowRoot.querySelector(".tokens input").value,
      );
      assert.equal(input, "the dog bites 7");
      await type(figure, "the dog bites -1");
      assert.match(await figure.text(".problem"), /^row -1 does not exist/);
      await type(figure, "the dog bites 6");
      assert.equal(await figure.text(".problem"), "");
    },
  },
  {
    name: "what is no batch of tokens is a sentence in place",
    async run({ page, base }) {
      const figure = await openFigure(page, base, EMBEDDING);
      for (const [tokens, sentence] of [
        ["", "tokens must have 1 to 4 sequences, got 0"],
        ["a/a/a/a/a", "tokens must have 1 to 4 sequences, got 5"],
        ["a a a a a a a a a", "tokens must have at most 8 in a sequence, got 9"],
        ["a cat / a", "tokens must have as many in each sequence of a batch, got 2 and 1"],
        [
          "a <b>cow",
          "tokens must be ids or words of the vocabulary (the, dog, bites, man, a, cat, sees), got “<b>cow”",
        ],
      ]) {
        await figure.refuses({ tokens }, sentence);
      }
      await figure.refuses({ "d-model": "3" }, "d-model must be even, got 3");
    },
  },
  {
    name: "one word at two positions: one row, two sums, as far apart as the sentence says",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const { sum } = expected(FIRST, 2);
      const apart = Math.max(...Array.from({ length: 8 }, (_, c) => Math.abs(sum[c] - sum[3 * 8 + c])));
      assert.equal(
        await figure.text(".takeaway"),
        "“the” stands at positions 0 and 3: both look up row 0, and their sums differ by up to " +
          `${written(apart, 3)}. (2, 5) ids become (2, 5, 8), 80 numbers.`,
      );
      await figure.set({ position: "4" });
      assert.match(
        await figure.text(".takeaway"),
        /^“man” at position 4 looks up row 3 and gets position row 4\./,
      );
    },
  },
  {
    name: "the keys walk through the sums, from one sequence to the next",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const { sum } = expected(FIRST, 2);
      await figure.focus(".grid");
      await figure.press("ArrowDown", "ArrowDown", "End");
      assert.equal(
        await figure.text("#cell"),
        `sequence 1, position 0, “the”, dimension 7: ${written(sum[5 * 8 + 7], 3)}`,
      );
      await figure.press("PageDown", "Home");
      assert.match(await figure.text("#cell"), /^sequence 1, position 4, “dog”, dimension 0: /);
    },
  },
  {
    name: "the pointer reads whichever matrix is under it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const at = async (block, row, rows, column) => {
        const box = await page.box(`${EMBEDDING} >> canvas.block:nth-of-type(${block})`);
        await page.hover({
          x: box.x + (box.width * (column + 0.5)) / 8,
          y: box.y + (box.height * (row + 0.5)) / rows,
        });
        await figure.settle();
        return figure.text("#cell");
      };
      assert.match(await at(1, 2, 7, 5), /^sequence 0, position 2, “bites”, dimension 5: /);
      assert.match(await at(3, 4, 5, 2), /^sequence 1, position 4, “dog”, dimension 2: /);
      assert.match(await at(4, 1, 5, 0), /^sequence 1, position 1, “man”, dimension 0: /);
    },
  },
  {
    name: "the tokens go into the address and come back from it",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        EMBEDDING,
        "?embedding.tokens=cat%20sees&embedding.position=1",
      );
      assert.match(await figure.text("#cell"), /“sees”/);
      await type(figure, "dog / cat");
      await page.waitFor(() => new URLSearchParams(location.search).get("embedding.tokens") === "dog / cat");
      await figure.click("button.reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "the embedding's table and file hold its numbers",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, EMBEDDING);
      const { table, positions, scaled, sum } = expected(FIRST, 2);
      assert.deepEqual(
        await figure.rows(),
        Array.from({ length: 8 }, (_, c) => [
          String(c),
          ...[table[c], scaled[24 + c], positions[24 + c], sum[24 + c]].map((value) => written(value, 6)),
        ]),
      );
      const [, ...lines] = await figure.exports();
      assert.deepEqual(
        lines.flatMap((line) => line.slice(2).map(Number)),
        [...sum],
      );
    },
  },
  ...owed(
    EMBEDDING,
    { change: { tokens: "a cat" }, elsewhere: ["exports"] },
    {
      "the embedding layer fits a narrow phone, is accessible, and leaves nothing behind": {
        page: PHONE,
        query: "?embedding.d-model=16",
        duties: ["isAccessible", "leavesNothing"],
      },
      "the embedding layer's sentence is spoken": { duties: ["speaks"] },
    },
  ),
];
