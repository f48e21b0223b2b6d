// The comparison draws the core's logits and weights under six encodings, and reads one cell across all of them.

import { loadPosenc } from "posenc";
import { openFigure, owed, written } from "./figure.mjs";

const core = await loadPosenc();
const TAG = "pe-compare";
const NAMES = ["None", "Sinusoidal", "Learned", "RoPE", "ALiBi", "T5"];
const ENCODINGS = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"];

/** n × n numbers of each encoding, from the core, with the same random numbers as the figure's. */
function expected(state = {}) {
  const { sentence = "the dog bit the man", causal = false, seed = 1, head = 1 } = state;
  const { dModel = 16, numHeads = 4, show = "logits", difference = false } = state;
  const words = sentence.split(" ");
  const n = words.length;
  const x = new Float64Array(n * dModel);
  words.forEach((word, i) => {
    let hash = 2166136261 ^ seed;
    for (const byte of new TextEncoder().encode(word)) hash = Math.imul(hash ^ byte, 16777619);
    x.set(core.randomNormal(dModel, hash & 0x7fffffff), i * dModel);
  });
  const draw = (which, most, count, sigma) =>
    core.randomNormal(most, 8 * seed + which, sigma).slice(0, count);
  const matrix = (which) => draw(which, 2 * dModel ** 2, dModel ** 2, 1 / Math.sqrt(dModel));
  const weights = {
    wQ: matrix(0),
    wK: matrix(1),
    wV: matrix(2),
    wO: matrix(3),
    positions: draw(4, 12 * dModel, n * dModel, Math.SQRT1_2),
    t5Table: draw(5, 32 * numHeads, 32 * numHeads, 1),
  };
  const maps = ENCODINGS.map((encoding) => {
    const t5 = { bidirectional: !causal };
    const result = core.selfAttention(x, weights, { seqLen: n, dModel, numHeads, encoding, causal, t5 });
    return result[show].subarray((head - 1) * n * n, head * n * n);
  });
  const hidden = (i) => causal && i % n > Math.floor(i / n);
  return maps.map((map) =>
    Array.from(map, (value, i) => (hidden(i) ? Number.NaN : value - (difference ? maps[0][i] : 0))),
  );
}

/** Parts of the full colour as drawn, map by map; NaN where a cell is hatched. */
const drawn = (page) =>
  page.evaluate((tag) => {
    const root = document.querySelector(tag).shadowRoot;
    return [...root.querySelectorAll("g.map")].map((map) =>
      [...map.querySelectorAll(".positive, .negative, .hatch")].map((cell) => {
        if (cell.classList.contains("hatch")) return null;
        const part = Number(cell.getAttribute("fill-opacity"));
        return cell.classList.contains("negative") ? -part : part;
      }),
    );
  }, TAG);

const STATES = [
  ["", {}],
  ["?compare.show=weights&compare.causal=true", { show: "weights", causal: true }],
  [
    "?compare.difference=true&compare.num-heads=2&compare.head=2&compare.d-model=32&compare.seed=5" +
      "&compare.sentence=one+two+three+two",
    {
      difference: true,
      numHeads: 2,
      head: 2,
      dModel: 32,
      seed: 5,
      sentence: "one two three two",
    },
  ],
];

export default [
  {
    name: "the comparison draws the core's numbers of six encodings on one scale",
    async run({ page, base, assert }) {
      for (const [query, state] of STATES) {
        await openFigure(page, base, TAG, query);
        const wanted = expected(state);
        const top = Math.max(...wanted.flat().filter(Number.isFinite).map(Math.abs));
        (await drawn(page)).forEach((map, m) => {
          assert.equal(map.length, wanted[m].length);
          map.forEach((part, i) => {
            const value = wanted[m][i];
            if (part === null) assert.ok(Number.isNaN(value), `${NAMES[m]} ${i} is hatched`);
            else
              assert.ok(Math.abs(part - value / top) <= 5.1e-5, `${NAMES[m]} ${i}: ${part}, ${value / top}`);
          });
        });
      }
    },
  },
  {
    name: "the comparison's table and files hold the numbers of its maps",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const wanted = expected();
      const words = ["the", "dog", "bit", "the", "man"];
      (await figure.rows()).forEach((row, i) => {
        const [query, key] = [Math.floor(i / 5), i % 5];
        const pair = `${query} ${words[query]} → ${key} ${words[key]}`;
        assert.deepEqual(row, [pair, ...wanted.map((map) => written(map[i], 4))]);
      });
      const lines = (await figure.exports()).slice(1);
      assert.deepEqual(
        lines.flatMap((line) => line.slice(2).map(Number)),
        wanted.flat(),
      );
    },
  },
  {
    name: "the arrow keys read a cell of the comparison across all six maps",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const wanted = expected();
      await figure.focus(".grid");
      await figure.press("ArrowRight", "ArrowRight", "ArrowUp");
      const numbers = NAMES.map((name, m) => `${name} ${written(wanted[m][2 * 5 + 3], 2)}`).join(", ");
      assert.equal(await figure.text("#cell"), `query bit, key the: ${numbers}`);
      assert.deepEqual(
        await figure.texts(".readout b"),
        wanted.map((map) => written(map[2 * 5 + 3], 2)),
      );
      await figure.press("End", "ArrowDown", "ArrowDown", "ArrowDown");
      assert.match(await figure.text("#cell"), /^query man, key man: /);
    },
  },
  {
    name: "the comparison's takeaway names the largest change and what ALiBi and T5 add",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const values = expected().map((map) => map[3 * 5 + 1]);
      const most = values.reduce((a, value, m) =>
        Math.abs(value - values[0]) > Math.abs(a - values[0]) && m > 0 ? value : a,
      );
      const change = `${written(most - values[0], 2)} to ${written(most, 2)}`;
      const [alibi, t5] = [values[4] - values[0], values[5] - 2 * values[0]];
      assert.equal(written(alibi, 2), "−0.50"); // slope 1/4, two places apart
      const sentence = await figure.text(".takeaway");
      assert.ok(sentence.includes(`${NAMES[values.indexOf(most)]} changes it most, by ${change}.`), sentence);
      assert.ok(sentence.includes(`adds −0.50, T5 leaves q·k alone and adds ${written(t5, 2)}`), sentence);
      await figure.set({ causal: "true", row: 1, column: 3 });
      assert.match(await figure.text(".takeaway"), /^The mask hides this key/);
    },
  },
  {
    name: "what ALiBi and T5 add to q·k is one number on each diagonal",
    async run({ assert }) {
      const maps = expected({ sentence: "a b c d e f g" });
      for (const [map, scale] of [
        [maps[4], 1],
        [maps[5], 2],
      ]) {
        const added = map.map((value, i) => value - scale * maps[0][i]);
        for (let i = 0; i < 6 * 7; i++)
          if (i % 7 < 6) assert.ok(Math.abs(added[i] - added[i + 8]) < 1e-12, `${i}`);
      }
    },
  },
  {
    name: "the comparison counts parameters, and refuses what is no sentence of its own",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, "?compare.max-len=1000&compare.d-model=32");
      const counts = (await figure.texts("svg text")).filter((text) => text.endsWith("parameters"));
      assert.deepEqual(
        counts.map((text) => text.replace(/\s(?=\d)/g, "")),
        [0, 0, 32000, 0, 0, 128].map((count) => `${count} parameters`),
      );
      const thirteen = "a b c d e f g h i j k l m";
      await figure.refuses({ sentence: thirteen }, "sentence must have 1 to 12 words, got 13");
      await figure.refuses({ show: "maps" }, "show must be one of logits, weights, got “maps”");
    },
  },
  {
    name: "the comparison's state goes into the address, and reset takes it out",
    async run({ page, base }) {
      const figure = await openFigure(page, base, TAG);
      await figure.focus(".grid");
      await figure.press("Home");
      await page.waitFor(() => location.search === "?compare.column=0");
      await figure.click(".reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "the comparison is accessible at 320 pixels and leaves nothing behind",
    page: { width: 320 },
    async run({ page, base }) {
      const figure = await openFigure(page, base, TAG);
      await figure.isAccessible();
      await figure.set({ sentence: "one two three four five six seven eight nine ten eleven twelve" });
      await figure.isAccessible();
      await figure.leavesNothing({ row: 2 });
    },
  },
  ...owed(
    TAG,
    { change: { row: 2 }, elsewhere: ["isAccessible", "exports", "leavesNothing"] },
    { "the comparison's sentence is spoken": { duties: ["speaks"] } },
  ),
];
