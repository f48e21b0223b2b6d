// The permutation figure draws what the core computes, moves words by every means, and says what is true.

import { loadPosenc } from "posenc";
import { openFigure, owed, PHONE, read } from "./figure.mjs";

const core = await loadPosenc();
const FIGURE = "pe-permutation";
const D = 16;
const HEADS = 2;

/** The experiment of a state, from the core, with the same random numbers as the figure's. */
function expected({
  sentence = "dog bites man",
  order,
  encoding = "none",
  causal = false,
  layers = 1,
  seed = 1,
}) {
  const words = sentence.split(" ");
  const n = words.length;
  const permutation = order ?? words.map((_, i) => n - 1 - i);
  const hash = (word) => {
    let value = 2166136261 ^ seed;
    for (const byte of new TextEncoder().encode(word)) value = Math.imul(value ^ byte, 16777619);
    return value & 0x7fffffff;
  };
  const x = new Float64Array(n * D);
  words.forEach((word, i) => {
    x.set(core.randomNormal(D, hash(word)), i * D);
  });
  const draw = (which, most, count, sigma) =>
    core.randomNormal(most, 8 * seed + which, sigma).slice(0, count);
  const matrix = (which) => draw(which, 2 * D * D, layers * D * D, 1 / Math.sqrt(D));
  const weights = {
    wQ: matrix(0),
    wK: matrix(1),
    wV: matrix(2),
    wO: matrix(3),
    positions: draw(4, 12 * D, n * D, Math.SQRT1_2),
    t5Table: draw(5, 32 * HEADS, 32 * HEADS, 1),
  };
  const config = { seqLen: n, dModel: D, numHeads: HEADS, numLayers: layers, encoding, causal };
  const result = core.orderExperiment(x, weights, Int32Array.from(permutation), config);
  return { words, permutation, result };
}

/** What stands in the drawing: outputs as signed parts of the largest, weights as parts of the largest. */
const drawn = (page) =>
  page.evaluate(() => {
    const root = document.querySelector("pe-permutation").shadowRoot;
    const part = (rect) => Number(rect.getAttribute("fill-opacity"));
    const signed = (rect) => (rect.classList.contains("negative") ? -part(rect) : part(rect));
    return {
      outputs: [...root.querySelectorAll(".strip rect")].map(signed),
      weights: [...root.querySelectorAll(".map")].map((map) =>
        [...map.querySelectorAll(".weight")].map(part),
      ),
      masked: [...root.querySelectorAll(".map")].map((map) => map.querySelectorAll(".hatch").length),
    };
  });

const near = (assert, actual, wanted, what) => {
  assert.equal(actual.length, wanted.length, what);
  actual.forEach((value, i) => {
    const difference = Math.abs(value - wanted[i]);
    assert.ok(
      difference <= 5.1e-5,
      `${what}[${i}]: ${value}, expected ${wanted[i]}, difference ${difference}`,
    );
  });
};

const STATES = [
  {},
  { encoding: "sinusoidal" },
  { encoding: "learned", layers: 2, seed: 7 },
  { encoding: "rope", causal: true },
  { encoding: "alibi", sentence: "the dog bites the man", order: [3, 1, 0, 4, 2] },
  { encoding: "t5", layers: 2 },
  { causal: true },
];
const queryOf = ({ order, ...rest }) =>
  `?${new URLSearchParams(
    Object.entries({ ...rest, ...(order && { order: order.join() }) }).map(([name, value]) => [
      `permutation.${name}`,
      String(value),
    ]),
  )}`;

const agrees = (written, value) => Math.abs(read(written) - value) <= 0.051 * Math.abs(value);

export default [
  {
    name: "the permutation figure draws the core's outputs, weights and differences",
    async run({ page, base, assert }) {
      for (const state of STATES) {
        const figure = await openFigure(page, base, FIGURE, queryOf(state));
        const { words, permutation, result } = expected(state);
        const n = words.length;
        const place = words.map((_, i) => permutation.indexOf(i));
        const picture = await drawn(page);
        const outputs = [...result.output, ...result.permuted.output];
        const top = Math.max(...outputs.map(Math.abs));
        near(
          assert,
          picture.outputs,
          outputs.map((value) => value / top),
          `${queryOf(state)} outputs`,
        );

        const first = [...result.weights.slice(0, n * n)];
        const permuted = result.permuted.weights.slice(0, n * n);
        // cells are drawn word by word: put back into the order of X
        const second = first.map((_, at) => permuted[place[Math.floor(at / n)] * n + place[at % n]]);
        const most = Math.max(...first, ...second);
        near(
          assert,
          picture.weights[0],
          first.map((value) => value / most),
          "weights of X",
        );
        near(
          assert,
          picture.weights[1],
          second.map((value) => value / most),
          "weights of PX",
        );
        const hidden = state.causal ? (n * (n - 1)) / 2 : 0;
        assert.deepEqual(picture.masked, [hidden, hidden]);

        const values = await figure.texts(".merits .value");
        assert.ok(agrees(values[0], result.equivariance), `${values[0]} for ${result.equivariance}`);
        assert.ok(agrees(values[1], result.pooled), `${values[1]} for ${result.pooled}`);
      }
    },
  },
  {
    name: "the permutation figure's table holds each word's rows and the difference of its output",
    async run({ page, base, assert }) {
      const state = { encoding: "rope", order: [1, 0, 2] };
      const figure = await openFigure(page, base, FIGURE, queryOf(state));
      const { words, permutation, result } = expected(state);
      const rows = await figure.rows();
      assert.equal(rows.length, words.length);
      words.forEach((word, i) => {
        const place = permutation.indexOf(i);
        const differences = Array.from({ length: D }, (_, c) =>
          Math.abs(result.permuted.output[place * D + c] - result.output[i * D + c]),
        );
        assert.deepEqual(rows[i].slice(0, 3), [word, String(i), String(place)]);
        const largest = Math.max(...differences);
        assert.ok(Math.abs(Number(rows[i][3]) - largest) < 0.0051, `${rows[i][3]} for ${largest}`);
      });
    },
  },
  {
    name: "the arrow keys move a word, the move is spoken, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      await figure.focus(".after button");
      await figure.press("ArrowRight", "ArrowRight");
      assert.deepEqual(await figure.texts(".after button"), ["bites", "dog", "man"]);
      assert.equal(await figure.attribute("order"), "1,0,2");
      assert.equal(await figure.text(".sentences [aria-live]"), "man, now position 3 of 3");
      await figure.press("Home");
      assert.equal(await figure.attribute("order"), "2,1,0");
      const focused = await page.evaluate(() =>
        document.querySelector("pe-permutation").shadowRoot.activeElement.getAttribute("aria-label"),
      );
      assert.equal(focused, "man, position 1 of 3");
    },
  },
  {
    name: "a word is dragged to its place, also on a page that is scaled, and Escape puts it back",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      const box = (place) => page.box(`${FIGURE} >> .after li:nth-child(${place}) button`);
      for (const scale of [1, 0.7]) {
        await page.evaluate((by) => {
          const figure = document.querySelector("pe-permutation");
          figure.reset();
          figure.style.transform = `scale(${by})`;
        }, scale);
        await figure.settle();
        const first = await box(1);
        const last = await box(3);
        const from = { x: first.x + first.width / 2, y: first.y + first.height / 2 };
        await page.drag(from, { dx: last.x - first.x, dy: 4 });
        await figure.settle();
        assert.deepEqual(await figure.texts(".after button"), ["bites", "dog", "man"], `at scale ${scale}`);
      }
      await page.evaluate(() => document.querySelector("pe-permutation").reset());
      await figure.settle();
      // a drag that is not let go: the pointer is pressed by an event, so that a key can end it
      await page.evaluate(() => {
        const button = document.querySelector("pe-permutation").shadowRoot.querySelector(".after button");
        button.setPointerCapture = () => {};
        button.focus();
        const at = (type, clientX) =>
          button.dispatchEvent(
            new PointerEvent(type, { pointerId: 1, isPrimary: true, button: 0, clientX, bubbles: true }),
          );
        at("pointerdown", 100);
        at("pointermove", 100 + 2 * button.offsetWidth);
      });
      await figure.settle();
      assert.notEqual(await figure.attribute("order"), null);
      await figure.press("Escape");
      assert.deepEqual(await figure.texts(".after button"), ["man", "bites", "dog"]);
    },
  },
  {
    name: "buttons reorder without a drag",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      await figure.click(".after li:nth-child(2) button");
      await figure.click(".handles button:nth-child(1)");
      assert.deepEqual(await figure.texts(".after button"), ["bites", "man", "dog"]);
      await figure.click(".handles button:nth-child(1)"); // already first: nothing to do
      await figure.click(".handles button:nth-child(3)");
      assert.deepEqual(await figure.texts(".after button"), ["dog", "man", "bites"]);
      await figure.click(".handles button:nth-child(4)");
      const shuffled = await figure.texts(".after button");
      assert.notDeepEqual(shuffled, ["dog", "man", "bites"]);
      assert.deepEqual([...shuffled].sort(), ["bites", "dog", "man"]);
    },
  },
  {
    name: "the reader's changes go into the address, and a link reopens them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE);
      await figure.click(".encodings .method-rope");
      await figure.click(".handles button:nth-child(2)");
      await page.waitFor(() => location.search.includes("permutation.order"));
      const search = await page.evaluate(() => location.search);
      const query = Object.fromEntries(new URLSearchParams(search));
      assert.deepEqual(query, { "permutation.encoding": "rope", "permutation.order": "1,2,0" });
      const said = await figure.text(".takeaway");
      await openFigure(page, base, FIGURE, search);
      assert.deepEqual(await figure.texts(".after button"), ["bites", "man", "dog"]);
      assert.equal(await figure.text(".takeaway"), said);
    },
  },
  {
    name: "a new sentence starts reversed",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE, "?permutation.order=0,2,1");
      await page.evaluate(() => {
        const input = document.querySelector("pe-permutation").shadowRoot.querySelector(".sentence input");
        input.value = "  we saw  her duck ";
        input.dispatchEvent(new Event("change"));
      });
      await figure.settle();
      assert.deepEqual(await figure.texts(".before .word"), ["we", "saw", "her", "duck"]);
      assert.deepEqual(await figure.texts(".after button"), ["duck", "her", "saw", "we"]);
    },
  },
  {
    name: "what cannot be shown is named, and the last good picture stays",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE, "?permutation.order=1,0,2");
      assert.deepEqual(await figure.texts(".after button"), ["bites", "dog", "man"]);
      const refused = [
        ["order", "0,1,1", /^order must hold each of 0 to 2 once.*“0,1,1”$/],
        ["order", "0,1", /^order must/],
        ["order", "0,1,two", /^order must/],
        ["sentence", " ", /^sentence must have 1 to 12 words, got 0$/],
        ["sentence", "a b c d e f g h i j k l m", /^sentence must have 1 to 12 words, got 13$/],
        ["encoding", "alibaba", /^encoding must be one of none, sinusoidal/],
        ["layers", "3", /^layers must be a whole number from 1 to 2/],
      ];
      for (const [name, value, sentence] of refused) {
        await figure.refuses({ [name]: value }, sentence, () => figure.texts(".after button"));
      }
    },
  },
  {
    name: "the takeaway gives the cause that the numbers have",
    async run({ page, base, assert }) {
      const cases = [
        [
          {},
          /^Reordering the words only reorders the outputs: no number moves.*f is permutation equivariant/,
        ],
        [{ layers: 2 }, /^With two layers too, reordering.*equivariant/],
        [{ order: [0, 1, 2], encoding: "rope" }, /^Nothing is reordered: PX is X, “dog bites man”/],
        [{ causal: true }, /^The causal mask alone breaks the symmetry.* [\d.]+ and their mean by [\d.]+/],
        [
          { encoding: "sinusoidal" },
          /^With sinusoidal positions, .*tell “man bites dog” from “dog bites man”/,
        ],
        [{ encoding: "alibi" }, /^This order keeps every distance between words.*0 to rounding/],
        [{ encoding: "alibi", order: [1, 0, 2] }, /^With ALiBi, outputs change/],
        [{ encoding: "alibi", causal: true }, /^With ALiBi and the causal mask, outputs change/],
        [{ encoding: "t5" }, /^With T5’s bias, outputs change/],
        [{ sentence: "no no no", causal: true }, /^All words are equal, and so are their values/],
        [{ sentence: "dog bites dog", encoding: "learned" }, /^Both sentences read the same/],
        [{ sentence: "wow" }, /^One word has only one order/],
      ];
      const figure = await openFigure(page, base, FIGURE);
      for (const [state, sentence] of cases) {
        const given = {
          sentence: "dog bites man",
          order: "",
          encoding: "none",
          causal: false,
          layers: 1,
          ...state,
        };
        await figure.set(given);
        const said = await figure.text(".takeaway");
        assert.match(said, sentence);
        const { result } = expected({ ...state });
        assert.equal(
          /equivariant\. Their|keeps every distance|0 to rounding|Nothing|only one/.test(said),
          result.equivariance < 1e-12,
          said,
        );
        assert.equal((await figure.texts(".mark.changed")).length > 0, result.equivariance >= 1e-12);
      }
    },
  },
  {
    name: "the arrow keys read the attention weights cell by cell",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, FIGURE, "?permutation.encoding=rope");
      const { result } = expected({ encoding: "rope" });
      await page.evaluate(() => {
        document.querySelector("pe-permutation").shadowRoot.querySelectorAll(".map")[1].focus();
      });
      // PX reads man bites dog; the mark starts at query man, key dog
      for (const key of ["Home", "ArrowDown", "ArrowRight"]) {
        await page.press(key);
        await figure.settle();
      }
      const weight = (value) => value.toFixed(3);
      assert.equal(
        await figure.text("#cell-px"),
        `query bites, key bites: ${weight(result.permuted.weights[4])}`,
      );
      assert.equal(await figure.text("#cell-x"), `query bites, key bites: ${weight(result.weights[4])}`);
      await figure.press("End");
      assert.equal(
        await figure.text("#cell-px"),
        `query bites, key dog: ${weight(result.permuted.weights[5])}`,
      );
    },
  },
  ...owed(
    FIGURE,
    { change: { encoding: "rope" } },
    {
      "twelve words fit a narrow phone, with targets of 24 px and nothing serious for axe": {
        page: PHONE,
        query: queryOf({
          sentence: "the quick brown fox jumps over the lazy dog and runs away",
          encoding: "t5",
          causal: true,
          layers: 2,
        }),
        duties: ["isAccessible"],
      },
      "the permutation figure leaves nothing behind": { duties: ["leavesNothing"] },
      "the permutation figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
