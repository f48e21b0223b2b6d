// The RoPE figures draw what the core computes, and say what they draw.

import { loadPosenc } from "posenc";
import { digest, openFigure, owed, read, written } from "./figure.mjs";

const core = await loadPosenc();

const attributes = (figure, ...names) => Promise.all(names.map((name) => figure.attribute(name)));
const centre = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

const ROPE = "pe-rope";
const SCORES = "pe-rope-scores";

/** The default vectors, and their score by the core at positions m and n. */
function rope({ m, n, seed = 6728, headDim = 8, ropeTheta = 10000, layout = "interleaved", q, k }) {
  const random = core.randomNormal(32, seed);
  const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta });
  const vectors = [q ?? random.slice(0, headDim), k ?? random.slice(16, 16 + headDim)];
  const turned = vectors.map((x, i) => {
    const { cos, sin } = core.ropeCosSin(Float64Array.of([m, n][i]), invFreq);
    return core.ropeApply(x, cos, sin, { seqLen: 1, headDim, layout });
  });
  const dot = ([a, b]) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  return { vectors, turned, invFreq, plain: dot(vectors), score: dot(turned) };
}

/** Where the figure drew the tip of the turned hand, in units of the plane. */
const tip = (page, name) =>
  page.evaluate((which) => {
    const root = document.querySelector("pe-rope").shadowRoot;
    const unit = root.querySelector(".plane .unit");
    const [cx, cy, r] = ["cx", "cy", "r"].map((key) => Number(unit.getAttribute(key)));
    const hit = root.querySelector(`.plane .hand.${which} > .hit`);
    return [(Number(hit.getAttribute("cx")) - cx) / r, (cy - Number(hit.getAttribute("cy"))) / r];
  }, name);

const near = (assert, actual, expected, allowance, what) =>
  assert.ok(Math.abs(actual - expected) <= allowance, `${what}: ${actual}, expected ${expected}`);

/** The scores before and after the rotation, by the core. */
function maps({ seqLen = 16, headDim = 64, ropeTheta = 10000, seed = 6, repeat = true } = {}) {
  const random = core.randomNormal(2 * seqLen * headDim, seed);
  const rows = (which) =>
    Float64Array.from({ length: seqLen * headDim }, (_, i) => {
      const row = repeat ? 0 : Math.floor(i / headDim);
      return random[(2 * row + which) * headDim + (i % headDim)];
    });
  const [q, k] = [rows(0), rows(1)];
  const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta });
  const positions = Float64Array.from({ length: seqLen }, (_, i) => i);
  const { cos, sin } = core.ropeCosSin(positions, invFreq);
  const turn = (x) => core.ropeApply(x, cos, sin, { seqLen, headDim });
  const scores = (a, b) => core.attention(a, b, b, { seqLen, headDim, scale: 1 }).logits;
  return { before: scores(q, k), after: scores(turn(q), turn(k)) };
}

async function sameMaps(figure, assert, options, limit) {
  const { seqLen = 16 } = options;
  for (const [which, scores] of Object.entries(maps(options))) {
    const [{ width, height, hex }] = await figure.canvases(`canvas[data-map="${which}"]`);
    const config = { rows: seqLen, cols: seqLen, width, height, vmin: -limit, vmax: limit };
    const pixels = core.colormap(Float32Array.from(scores), core.lut(), config);
    assert.equal(hex, digest(pixels), which);
  }
}

export default [
  {
    name: "the hands, the bars and the numbers of RoPE are the core's",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ROPE);
      for (const state of [
        { m: 12, n: 7 },
        { m: 3000, n: 41, layout: "half", pair: 3 },
        { m: 5, n: 9, headDim: 16, ropeTheta: 500000, pair: 2, seed: 1 },
      ]) {
        const { m, n, pair = 1, headDim = 8, ropeTheta = 10000, layout = "interleaved", seed = 6728 } = state;
        await figure.set({ m, n, pair, "head-dim": headDim, "rope-theta": ropeTheta, layout, seed });
        const { turned, plain, score } = rope(state);
        const at = layout === "half" ? [pair, pair + headDim / 2] : [2 * pair, 2 * pair + 1];
        for (const [i, name] of ["q", "k"].entries()) {
          const drawnTip = await tip(page, name);
          for (const axis of [0, 1])
            near(assert, drawnTip[axis], turned[i][at[axis]], 1e-9, `tip of ${name}`);
        }
        const [before, after, byOffset] = await figure.texts(".readings output");
        assert.equal(before, written(plain, 3));
        assert.equal(after, written(score, 3));
        assert.equal(byOffset, after);
        const parts = await figure.texts(".rows b");
        assert.equal(parts.length, headDim / 2);
        const sum = parts.reduce((total, part) => total + read(part), 0);
        near(assert, sum, score, parts.length * 0.0005 + 0.0005, "sum of the parts");
        assert.equal(await figure.text(".total b"), written(score, 3));
      }
    },
  },
  {
    name: "RoPE's sentence and table say what the state is",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ROPE, "?rope.m=40&rope.n=61");
      const { score, plain, invFreq } = rope({ m: 40, n: 61 });
      const sentence = await figure.text(".takeaway");
      assert.ok(
        sentence.startsWith(
          `Query at 40, key at 61: relative position 21. The score is ${written(score, 3)} (${written(plain, 3)} without rotation)`,
        ),
        sentence,
      );
      const change = /largest change (\d) × 10⁻¹([⁰¹²³⁴⁵⁶⁷⁸⁹])/.exec(sentence);
      assert.ok(change, sentence);
      const rows = await figure.rows();
      assert.equal(rows.length, invFreq.length + 1);
      assert.deepEqual(rows.at(-1).slice(-2), [written(plain, 4), written(score, 4)]);
    },
  },
  {
    name: "shifting both positions leaves the score, and moving one does not",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ROPE);
      const score = () => figure.text(".score output");
      const first = await score();
      for (const [label, m, n] of [
        ["+10", "22", "17"],
        ["+1", "23", "18"],
        ["−10", "13", "8"],
      ]) {
        await figure.click(`.shift button[aria-label$="${label}"]`);
        assert.deepEqual(await attributes(figure, "m", "n"), [m, n]);
        assert.equal(await score(), first);
      }
      await figure.set({ m: 1300, n: 1295 });
      assert.equal(await score(), first);
      await figure.set({ n: 1296 });
      assert.notEqual(await score(), first);
    },
  },
  {
    name: "with the distance locked, each slider moves both positions",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ROPE);
      await figure.focus('.control.n input[type="range"]');
      await figure.press("ArrowRight");
      assert.deepEqual(await attributes(figure, "m", "n"), [null, "8"]);
      await figure.click(".both input");
      await figure.focus('.control.m input[type="range"]');
      await figure.press("ArrowRight", "ArrowRight", "ArrowRight");
      assert.deepEqual(await attributes(figure, "m", "n"), ["15", "11"]);
      await figure.focus('.control.n input[type="range"]');
      await figure.press("Home");
      assert.deepEqual(await attributes(figure, "m", "n"), ["4", "0"]);
    },
  },
  {
    name: "the tips of q and k follow the pointer and the arrow keys, also in a scaled page",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, ROPE);
      await page.evaluate(() => {
        window.changes = 0;
        document.querySelector("pe-rope").addEventListener("pe-change", () => ++window.changes);
      });
      const component = async (name, i) => Number((await figure.attribute(name)).split(" ")[i]);
      // Without scrolling, unlike page.box.
      const unitCircle = () =>
        page.evaluate(() => {
          const circle = document.querySelector("pe-rope").shadowRoot.querySelector(".plane .unit");
          const { x, y, width } = circle.getBoundingClientRect();
          return { x: x + width / 2, y: y + width / 2, width };
        });
      for (const scale of [1, 0.8]) {
        await page.evaluate((by) => {
          document.querySelector("pe-rope").style.transform = by === 1 ? "" : `scale(${by})`;
        }, scale);
        const start = centre(await page.box(`${ROPE} >> #tip-q .dot`));
        const { x, y, width } = await unitCircle();
        await page.drag(start, { x: x - 0.4 * width, y: y - 0.3 * width });
        await figure.settle();
        near(assert, await component("q", 2), -0.8, 0.03, `x at scale ${scale}`);
        near(assert, await component("q", 3), 0.6, 0.03, `y at scale ${scale}`);
      }
      await page.evaluate(() => {
        document.querySelector("pe-rope").style.transform = "";
      });
      // The turned tip of k, dragged, turns back onto k.
      const { m, n, invFreq } = { m: 12, n: 7, ...rope({ m: 12, n: 7 }) };
      const turned = centre(await page.box(`${ROPE} >> .plane .hand.k > .hit`));
      const { x, y, width } = await unitCircle();
      await page.drag(turned, { x: x + width / 2, y });
      await figure.settle();
      near(assert, await component("k", 2), Math.cos(n * invFreq[1]), 0.03, "x of k");
      near(assert, await component("k", 3), -Math.sin(n * invFreq[1]), 0.03, "y of k");
      assert.ok((await page.evaluate(() => window.changes)) > 0);

      const before = await component("q", 2);
      await figure.focus("#tip-q");
      await figure.press("ArrowRight", "Shift+ArrowLeft");
      near(assert, await component("q", 2), before + 0.09, 1e-3, "x after the keys");
      const [q, k] = (await attributes(figure, "q", "k")).map((list) =>
        Float64Array.from(list.split(" "), Number),
      );
      assert.equal(await figure.text(".score output"), written(rope({ m, n, q, k }).score, 3));
    },
  },
  {
    name: "RoPE's state goes into the address and comes back from it",
    async run({ page, newPage, base, assert }) {
      const figure = await openFigure(page, base, ROPE);
      await figure.click('.shift button[aria-label$="+10"]');
      await figure.focus("#tip-k");
      await page.press("ArrowUp");
      await page.waitFor(() => {
        const query = new URLSearchParams(location.search);
        return query.get("rope.m") === "22" && query.has("rope.k");
      });
      const said = await figure.text(".takeaway");
      const other = await newPage({});
      const again = await openFigure(other, base, ROPE, await page.evaluate(() => location.search));
      assert.equal(await again.text(".takeaway"), said);
    },
  },
  {
    name: "a wrong value in RoPE is a sentence in place, and the last good picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, ROPE);
      const eight = "must be a list of 8 numbers from −10 to 10";
      for (const [name, value, sentence] of [
        ["head-dim", "7", "head-dim must be even, got 7"],
        ["m", "4097", "m must be a whole number from 0 to 4096, got “4097”"],
        ["pair", "4", "pair must be less than head-dim/2, here 4, got 4"],
        ["q", "1 2 3", `q ${eight}, got 3 of them`],
        ["k", "1 2 3 4 5 6 7 Infinity", `k ${eight}, got “Infinity”`],
        ["q", "1,2,3,4,5,6,7,x", `q ${eight}, got “x”`],
        ["layout", "halves", "layout must be one of interleaved, half, got “halves”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, () => tip(page, "q"));
      }
    },
  },
  {
    name: "the score maps' pixels are the core's, repeated and independent",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SCORES);
      await sameMaps(figure, assert, {}, 10);
      await figure.set({ repeat: "false", "seq-len": 24, "head-dim": 16, seed: 3 });
      const limit = read((await figure.texts(".bar span"))[2]);
      await sameMaps(figure, assert, { repeat: false, seqLen: 24, headDim: 16, seed: 3 }, limit);
    },
  },
  {
    name: "diagonals agree to rounding with one q and one k, and differ with independent rows",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SCORES);
      const [before, after] = await figure.texts(".spread b");
      assert.equal(before, "0");
      assert.match(after, /^\d × 10⁻¹[³⁴⁵]$/);
      await figure.set({ repeat: "false" });
      const size = 16;
      const spread = (scores) => {
        const diagonals = Array.from({ length: 2 * size - 1 }, () => []);
        scores.forEach((score, i) => {
          diagonals[(i % size) - Math.floor(i / size) + size - 1].push(score);
        });
        return Math.max(...diagonals.map((values) => Math.max(...values) - Math.min(...values)));
      };
      const expected = Object.values(maps({ repeat: false })).map((scores) => written(spread(scores), 2));
      assert.deepEqual(await figure.texts(".spread b"), expected);
      assert.match(await figure.text(".takeaway"), /proves nothing/);
    },
  },
  {
    name: "the mean cosine of 32 pairs is 0.49 at 50, 0.56 at 100 and first negative at 725",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SCORES);
      assert.match(
        await figure.text(".takeaway"),
        /mean cosine is 0\.49 at 50, 0\.56 at 100; it rises again after 5 and is first negative at 725: no steady decay\.$/,
      );
      const { invFreq } = core.ropeInvFreq({ headDim: 64 });
      const curve = core.dotByOffset(
        Float64Array.from({ length: 1025 }, (_, i) => i),
        invFreq,
      );
      await figure.set({ distance: 725 });
      assert.equal(await figure.text(".here"), `distance 725: ${written(curve[725] / 32, 2)}`);
      const path = await page.evaluate(() =>
        document.querySelector("pe-rope-scores").shadowRoot.querySelector(".curve .line").getAttribute("d"),
      );
      const points = path.split(/[ML]/).slice(1);
      assert.equal(points.length, 1025);
      // Heights are linear in the values: three points of the curve fix the scale for a fourth.
      const height = (i) => Number(points[i].split(" ")[1]);
      const slope = (height(0) - height(725)) / (curve[0] - curve[725]);
      for (const i of [50, 100, 1000]) {
        near(assert, height(i), height(0) + slope * (curve[i] - curve[0]), 0.05, `height at ${i}`);
      }
    },
  },
  {
    name: "the arrow keys read the score maps cell by cell, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, SCORES);
      const { before, after } = maps();
      await figure.focus("#after");
      const spoken = () =>
        page.evaluate(() => {
          const grid = document.querySelector("pe-rope-scores").shadowRoot.querySelector("#after");
          const cells = grid.querySelectorAll('[role="gridcell"]');
          const active = grid.querySelector(`[id="${grid.getAttribute("aria-activedescendant")}"]`);
          return [cells.length, active.getAttribute("aria-label")];
        });
      const at = ([query, key]) => [1, `query ${query}, key ${key}: ${written(after[query * 16 + key], 2)}`];
      for (const [key, cell] of [
        ["ArrowRight", [5, 3]],
        ["ArrowUp", [4, 3]],
        ["End", [4, 15]],
        ["ArrowRight", [4, 15]],
        ["ArrowDown", [5, 15]],
        ["Home", [5, 0]],
      ]) {
        await figure.press(key);
        assert.deepEqual(await spoken(), at(cell));
      }
      const read = await figure.texts(".readout dd");
      assert.deepEqual(read, ["5", "0", "−5", written(before[80], 2), written(after[80], 2)]);

      const box = await page.box(`${SCORES} >> #before`);
      await page.hover({ x: box.x + (box.width * 9.5) / 16, y: box.y + (box.height * 2.5) / 16 });
      await figure.settle();
      assert.deepEqual((await figure.texts(".readout dd")).slice(0, 3), ["2", "9", "+7"]);
    },
  },
  {
    name: "a wrong value in the score maps is a sentence in place, and the last good picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, SCORES);
      for (const [name, value, sentence] of [
        ["head-dim", "63", "head-dim must be even, got 63"],
        ["seq-len", "65", "seq-len must be a whole number from 2 to 64, got “65”"],
        ["distance", "1025", "distance must be at most max-offset, here 1024, got 1025"],
        ["repeat", "maybe", "repeat must be true or false, got “maybe”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, () => figure.canvases('canvas[data-map="after"]'));
      }
    },
  },
  ...[
    [320, "light"],
    [1280, "dark"],
  ].map(([width, colorScheme]) => ({
    name: `the RoPE figures fit ${width} px in ${colorScheme} colours, hold their height and please axe-core`,
    page: { width, colorScheme },
    async run({ page, base, assert }) {
      for (const [tag, change] of [
        [ROPE, { m: 4096, n: 300, "head-dim": 16, "rope-theta": 1e6, pair: 7, layout: "half" }],
        [SCORES, { repeat: "false", "seq-len": 64, curve: "q-k", "max-offset": 4096 }],
      ]) {
        const figure = await openFigure(page, base, tag);
        await page.evaluate(() => document.fonts.ready.then(() => 1));
        await figure.settle();
        const height = () =>
          page.evaluate(
            (name) => document.querySelector(name).shadowRoot.querySelector("section").offsetHeight,
            tag,
          );
        const first = await height();
        await figure.set(change);
        assert.equal(await height(), first, tag);
        await figure.isAccessible();
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  })),
  ...owed(
    ROPE,
    { change: { m: 40 }, elsewhere: ["isAccessible"] },
    {
      "RoPE leaves nothing behind": { duties: ["leavesNothing"] },
      "RoPE's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
  ...owed(
    SCORES,
    { change: { repeat: "false" }, elsewhere: ["isAccessible"] },
    {
      "the score maps leave nothing behind": { duties: ["leavesNothing"] },
      "the files of the score maps hold their picture and numbers, and the sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
