// The RoPE figures draw what the core computes, and say what they draw.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();

/** Opens the lesson with a figure in view and drawn. */
async function open(page, base, tag, query = "") {
  await page.goto(`${base}${query}`);
  await page.evaluate((name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }), tag);
  await page.waitFor((name) => document.querySelector(name)?.shadowRoot?.querySelector("footer"), tag);
  await settle(page);
}

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

const set = async (page, tag, attributes) => {
  await page.evaluate(
    ([name, given]) => {
      for (const [key, value] of Object.entries(given)) document.querySelector(name).setAttribute(key, value);
    },
    [tag, attributes],
  );
  await settle(page);
};
const attributes = (page, tag, names) =>
  page.evaluate(
    ([name, wanted]) => wanted.map((key) => document.querySelector(name).getAttribute(key)),
    [tag, names],
  );
const text = (page, tag, selector) =>
  page.evaluate(
    ([name, wanted]) =>
      document.querySelector(name).shadowRoot.querySelector(wanted)?.textContent.replace(/\s+/g, " ").trim(),
    [tag, selector],
  );
const texts = (page, tag, selector) =>
  page.evaluate(
    ([name, wanted]) =>
      [...document.querySelector(name).shadowRoot.querySelectorAll(wanted)].map((node) =>
        node.textContent.replace(/\s+/g, " ").trim(),
      ),
    [tag, selector],
  );
const focus = (page, tag, selector) =>
  page.evaluate(
    ([name, wanted]) => document.querySelector(name).shadowRoot.querySelector(wanted).focus(),
    [tag, selector],
  );
const centre = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** A number as the figures write it. */
const written = (value, decimals) => {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits;
};
/** A number that a figure wrote. */
const number = (words) => Number(words.replace("−", "-").replaceAll("\u202f", ""));

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

/** Size and digest of a map's pixels. */
const drawn = (page, which) =>
  page.evaluate(async (name) => {
    const root = document.querySelector("pe-rope-scores").shadowRoot;
    const canvas = root.querySelector(`canvas[data-map="${name}"]`);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return {
      width: canvas.width,
      height: canvas.height,
      hex: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    };
  }, which);

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

async function sameMaps(page, assert, options, limit) {
  const { seqLen = 16 } = options;
  for (const [which, scores] of Object.entries(maps(options))) {
    const { width, height, hex } = await drawn(page, which);
    const config = { rows: seqLen, cols: seqLen, width, height, vmin: -limit, vmax: limit };
    const pixels = core.colormap(Float32Array.from(scores), core.lut(), config);
    assert.equal(hex, createHash("sha256").update(pixels).digest("hex"), which);
  }
}

export default [
  {
    name: "the hands, the bars and the numbers of RoPE are the core's",
    async run({ page, base, assert }) {
      await open(page, base, ROPE);
      for (const state of [
        { m: 12, n: 7 },
        { m: 3000, n: 41, layout: "half", pair: 3 },
        { m: 5, n: 9, headDim: 16, ropeTheta: 500000, pair: 2, seed: 1 },
      ]) {
        const { m, n, pair = 1, headDim = 8, ropeTheta = 10000, layout = "interleaved", seed = 6728 } = state;
        await set(page, ROPE, { m, n, pair, "head-dim": headDim, "rope-theta": ropeTheta, layout, seed });
        const { turned, plain, score } = rope(state);
        const at = layout === "half" ? [pair, pair + headDim / 2] : [2 * pair, 2 * pair + 1];
        for (const [i, name] of ["q", "k"].entries()) {
          const drawnTip = await tip(page, name);
          for (const axis of [0, 1])
            near(assert, drawnTip[axis], turned[i][at[axis]], 1e-9, `tip of ${name}`);
        }
        const [before, after, byOffset] = await texts(page, ROPE, ".readings output");
        assert.equal(before, written(plain, 3));
        assert.equal(after, written(score, 3));
        assert.equal(byOffset, after);
        const parts = await texts(page, ROPE, ".rows b");
        assert.equal(parts.length, headDim / 2);
        const sum = parts.reduce((total, part) => total + number(part), 0);
        near(assert, sum, score, parts.length * 0.0005 + 0.0005, "sum of the parts");
        assert.equal(await text(page, ROPE, ".total b"), written(score, 3));
      }
    },
  },
  {
    name: "RoPE's sentence and table say what the state is",
    async run({ page, base, assert }) {
      await open(page, base, ROPE, "?rope.m=40&rope.n=61");
      const { score, plain, invFreq } = rope({ m: 40, n: 61 });
      const sentence = await text(page, ROPE, ".takeaway");
      assert.ok(
        sentence.startsWith(
          `Query at 40, key at 61: relative position 21. The score is ${written(score, 3)} (${written(plain, 3)} without rotation)`,
        ),
        sentence,
      );
      const change = /largest change (\d) × 10⁻¹([⁰¹²³⁴⁵⁶⁷⁸⁹])/.exec(sentence);
      assert.ok(change, sentence);
      await page.click(`${ROPE} >> summary`);
      await page.waitFor(() => document.querySelector("pe-rope").shadowRoot.querySelector("tbody tr"));
      const rows = await page.evaluate(() =>
        [...document.querySelector("pe-rope").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
          [...row.cells].map((cell) => cell.textContent),
        ),
      );
      assert.equal(rows.length, invFreq.length + 1);
      assert.deepEqual(rows.at(-1).slice(-2), [written(plain, 4), written(score, 4)]);
    },
  },
  {
    name: "shifting both positions leaves the score, and moving one does not",
    async run({ page, base, assert }) {
      await open(page, base, ROPE);
      const score = () => text(page, ROPE, ".score output");
      const first = await score();
      for (const [label, m, n] of [
        ["+10", "22", "17"],
        ["+1", "23", "18"],
        ["−10", "13", "8"],
      ]) {
        await page.click(`${ROPE} >> .shift button[aria-label$="${label}"]`);
        await settle(page);
        assert.deepEqual(await attributes(page, ROPE, ["m", "n"]), [m, n]);
        assert.equal(await score(), first);
      }
      await set(page, ROPE, { m: 1300, n: 1295 });
      assert.equal(await score(), first);
      await set(page, ROPE, { n: 1296 });
      assert.notEqual(await score(), first);
    },
  },
  {
    name: "with the distance locked, each slider moves both positions",
    async run({ page, base, assert }) {
      await open(page, base, ROPE);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
      });
      await focus(page, ROPE, '.control.n input[type="range"]');
      await page.press("ArrowRight");
      await settle(page);
      assert.deepEqual(await attributes(page, ROPE, ["m", "n"]), [null, "8"]);
      await page.click(`${ROPE} >> .both input`);
      await focus(page, ROPE, '.control.m input[type="range"]');
      for (let i = 0; i < 3; i++) await page.press("ArrowRight");
      await settle(page);
      assert.deepEqual(await attributes(page, ROPE, ["m", "n"]), ["15", "11"]);
      await focus(page, ROPE, '.control.n input[type="range"]');
      await page.press("Home");
      await settle(page);
      assert.deepEqual(await attributes(page, ROPE, ["m", "n"]), ["4", "0"]);
      assert.deepEqual(await page.evaluate(() => window.heard), []);
    },
  },
  {
    name: "the tips of q and k follow the pointer and the arrow keys, also in a scaled page",
    async run({ page, base, assert }) {
      await open(page, base, ROPE);
      await page.evaluate(() => {
        window.changes = 0;
        document.querySelector("pe-rope").addEventListener("pe-change", () => ++window.changes);
      });
      const component = async (name, i) => Number((await attributes(page, ROPE, [name]))[0].split(" ")[i]);
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
        await settle(page);
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
      await settle(page);
      near(assert, await component("k", 2), Math.cos(n * invFreq[1]), 0.03, "x of k");
      near(assert, await component("k", 3), -Math.sin(n * invFreq[1]), 0.03, "y of k");
      assert.ok((await page.evaluate(() => window.changes)) > 0);

      const before = await component("q", 2);
      await focus(page, ROPE, "#tip-q");
      await page.press("ArrowRight");
      await page.press("Shift+ArrowLeft");
      await settle(page);
      near(assert, await component("q", 2), before + 0.09, 1e-3, "x after the keys");
      const [q, k] = (await attributes(page, ROPE, ["q", "k"])).map((list) =>
        Float64Array.from(list.split(" "), Number),
      );
      assert.equal(await text(page, ROPE, ".score output"), written(rope({ m, n, q, k }).score, 3));
    },
  },
  {
    name: "RoPE's state goes into the address and comes back from it",
    async run({ page, newPage, base, assert }) {
      await open(page, base, ROPE);
      await page.click(`${ROPE} >> .shift button[aria-label$="+10"]`);
      await focus(page, ROPE, "#tip-k");
      await page.press("ArrowUp");
      await page.waitFor(() => {
        const query = new URLSearchParams(location.search);
        return query.get("rope.m") === "22" && query.has("rope.k");
      });
      const said = await text(page, ROPE, ".takeaway");
      const other = await newPage({});
      await open(other, base, ROPE, await page.evaluate(() => location.search));
      assert.equal(await text(other, ROPE, ".takeaway"), said);
    },
  },
  {
    name: "a wrong value in RoPE is a sentence in place, and the last good picture stays",
    async run({ page, base, assert }) {
      await open(page, base, ROPE);
      const good = await tip(page, "q");
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
        await set(page, ROPE, { [name]: value });
        assert.equal(await text(page, ROPE, ".problem"), sentence);
        assert.deepEqual(await tip(page, "q"), good);
        await page.evaluate((attr) => document.querySelector("pe-rope").removeAttribute(attr), name);
      }
      await settle(page);
      assert.equal(await text(page, ROPE, ".problem"), "");
    },
  },
  {
    name: "the score maps' pixels are the core's, repeated and independent",
    async run({ page, base, assert }) {
      await open(page, base, SCORES);
      await sameMaps(page, assert, {}, 10);
      await set(page, SCORES, { repeat: "false", "seq-len": 24, "head-dim": 16, seed: 3 });
      const limit = number((await texts(page, SCORES, ".bar span"))[2]);
      await sameMaps(page, assert, { repeat: false, seqLen: 24, headDim: 16, seed: 3 }, limit);
    },
  },
  {
    name: "diagonals agree to rounding with one q and one k, and differ with independent rows",
    async run({ page, base, assert }) {
      await open(page, base, SCORES);
      const [before, after] = await texts(page, SCORES, ".spread b");
      assert.equal(before, "0");
      assert.match(after, /^\d × 10⁻¹[³⁴⁵]$/);
      await set(page, SCORES, { repeat: "false" });
      const size = 16;
      const spread = (scores) => {
        const diagonals = Array.from({ length: 2 * size - 1 }, () => []);
        scores.forEach((score, i) => {
          diagonals[(i % size) - Math.floor(i / size) + size - 1].push(score);
        });
        return Math.max(...diagonals.map((values) => Math.max(...values) - Math.min(...values)));
      };
      const expected = Object.values(maps({ repeat: false })).map((scores) => written(spread(scores), 2));
      assert.deepEqual(await texts(page, SCORES, ".spread b"), expected);
      assert.match(await text(page, SCORES, ".takeaway"), /proves nothing/);
    },
  },
  {
    name: "the mean cosine of 32 pairs is 0.49 at 50, 0.56 at 100 and first negative at 725",
    async run({ page, base, assert }) {
      await open(page, base, SCORES);
      assert.match(
        await text(page, SCORES, ".takeaway"),
        /mean cosine is 0\.49 at 50, 0\.56 at 100; it rises again after 5 and is first negative at 725: no steady decay\.$/,
      );
      const { invFreq } = core.ropeInvFreq({ headDim: 64 });
      const curve = core.dotByOffset(
        Float64Array.from({ length: 1025 }, (_, i) => i),
        invFreq,
      );
      await set(page, SCORES, { distance: 725 });
      assert.equal(await text(page, SCORES, ".here"), `distance 725: ${written(curve[725] / 32, 2)}`);
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
      await open(page, base, SCORES);
      const { before, after } = maps();
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
      });
      await focus(page, SCORES, "#after");
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
        await page.press(key);
        await settle(page);
        assert.deepEqual(await spoken(), at(cell));
      }
      const read = await texts(page, SCORES, ".readout dd");
      assert.deepEqual(read, ["5", "0", "−5", written(before[80], 2), written(after[80], 2)]);
      assert.deepEqual(await page.evaluate(() => window.heard), []);

      const box = await page.box(`${SCORES} >> #before`);
      await page.hover({ x: box.x + (box.width * 9.5) / 16, y: box.y + (box.height * 2.5) / 16 });
      await settle(page);
      assert.deepEqual((await texts(page, SCORES, ".readout dd")).slice(0, 3), ["2", "9", "+7"]);
    },
  },
  {
    name: "a wrong value in the score maps is a sentence in place, and the last good picture stays",
    async run({ page, base, assert }) {
      await open(page, base, SCORES);
      const good = await drawn(page, "after");
      for (const [name, value, sentence] of [
        ["head-dim", "63", "head-dim must be even, got 63"],
        ["seq-len", "65", "seq-len must be a whole number from 2 to 64, got “65”"],
        ["distance", "1025", "distance must be at most max-offset, here 1024, got 1025"],
        ["repeat", "maybe", "repeat must be true or false, got “maybe”"],
      ]) {
        await set(page, SCORES, { [name]: value });
        assert.equal(await text(page, SCORES, ".problem"), sentence);
        assert.deepEqual(await drawn(page, "after"), good);
        await page.evaluate((attr) => document.querySelector("pe-rope-scores").removeAttribute(attr), name);
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
      await open(page, base, ROPE);
      await open(page, base, SCORES);
      await page.evaluate(() => document.querySelector("pe-rope").scrollIntoView());
      await page.waitFor(() => document.querySelector("pe-rope").shadowRoot?.querySelector("footer"));
      await page.evaluate(() => document.fonts.ready.then(() => 1));
      await settle(page);
      const height = (tag) =>
        page.evaluate(
          (name) => document.querySelector(name).shadowRoot.querySelector("section").offsetHeight,
          tag,
        );
      const first = [await height(ROPE), await height(SCORES)];
      await set(page, ROPE, { m: 4096, n: 300, "head-dim": 16, "rope-theta": 1e6, pair: 7, layout: "half" });
      await set(page, SCORES, { repeat: "false", "seq-len": 64, curve: "q-k", "max-offset": 4096 });
      assert.deepEqual([await height(ROPE), await height(SCORES)], first);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.evaluate(AXE);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(
          { include: [["pe-rope"], ["pe-rope-scores"]] },
          { resultTypes: ["violations"] },
        );
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
      });
      assert.deepEqual(found, []);
      const small = await page.evaluate(() =>
        ["pe-rope", "pe-rope-scores"].flatMap((tag) =>
          [
            ...document
              .querySelector(tag)
              .shadowRoot.querySelectorAll("button, select, input, summary, .tip .hit"),
          ]
            .map((node) => [tag, node, (node.closest("label") ?? node).getBoundingClientRect()])
            .filter(([, , { width, height }]) => width > 0 && Math.min(width, height) < 24)
            .map(([name, node]) => `${name} ${node.outerHTML.slice(0, 80)}`),
        ),
      );
      assert.deepEqual(small, []);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  })),
];
