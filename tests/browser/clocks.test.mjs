// The clocks turn as the core says, and the counter counts.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();
const CLOCKS = "pe-clocks";

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

/** Opens the lesson with the clocks in view and drawn. */
async function open(page, base, query = "") {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-clocks").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(() => document.querySelector("pe-clocks")?.shadowRoot?.querySelector(".shaft"));
  await settle(page);
}

const text = (page, selector) =>
  page.evaluate(
    (wanted) =>
      document
        .querySelector("pe-clocks")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );

/** What the picture shows: each hand's direction, each digit, each dot. */
const drawn = (page) =>
  page.evaluate(() => {
    const all = (selector) => [...document.querySelector("pe-clocks").shadowRoot.querySelectorAll(selector)];
    const number = (element, name) => Number(element.getAttribute(name));
    return {
      hands: all(".shaft").map((hand) => {
        const [x, y] = [number(hand, "x2") - number(hand, "x1"), number(hand, "y1") - number(hand, "y2")];
        return [x / Math.hypot(x, y), y / Math.hypot(x, y)];
      }),
      digits: all("text.digit").map((digit) => Number(digit.textContent)),
      label: all("svg.clocks")[0].getAttribute("aria-label").replace(/\s+/g, " "),
    };
  });

const PAIRS_512 = [0, 36, 73, 109, 146, 182, 219, 255];

function assertPicture(assert, picture, { position, dModel = 512, base = 10000, pairs = PAIRS_512 }) {
  const invFreq = core.sinusoidalInvFreq({ dModel, base });
  const { cos, sin } = core.ropeCosSin(Float64Array.of(position), invFreq);
  assert.equal(picture.hands.length, pairs.length);
  picture.hands.forEach(([x, y], i) => {
    assert.ok(Math.hypot(x - sin[pairs[i]], y - cos[pairs[i]]) < 1e-9, `hand of pair ${pairs[i]}`);
  });
  picture.digits.forEach((digit, bit) => {
    assert.equal(digit, Math.floor(position / 2 ** bit) % 2, `digit ${bit}`);
  });
}

const set = (page, attributes) =>
  page.evaluate((given) => {
    for (const [name, value] of Object.entries(given))
      document.querySelector("pe-clocks").setAttribute(name, value);
  }, attributes);

export default [
  {
    name: "the hands of the clocks point where the core says, and the digits count",
    async run({ page, base, assert }) {
      await open(page, base);
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 5 });
      assert.equal(picture.digits.length, 6);
      assert.match(
        picture.label,
        /position 5\. Turns made: pair 0 0\.796, .*The counter shows 5 as 000101\.$/,
      );
      assert.match(await text(page, ".takeaway"), /9647 times slower, 2 to the power 13\.2,/);
    },
  },
  {
    name: "between whole positions the hands of the clocks move and the digits wait",
    async run({ page, base, assert }) {
      await open(page, base, "?clocks.position=7.9&clocks.seq-len=16&clocks.d-model=8&clocks.base=100");
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 7.9, dModel: 8, base: 100, pairs: [0, 1, 2, 3] });
      assert.deepEqual(picture.digits, [1, 1, 1, 0]);
    },
  },
  {
    name: "arrow keys move the clocks by one position, and the page does not hear them",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-clocks").shadowRoot.querySelector('input[type="range"]').focus();
      });
      for (const key of ["ArrowRight", "ArrowRight", "ArrowRight"]) await page.press(key);
      await settle(page);
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 8 });
      assert.match(await text(page, ".takeaway"), /^At position 8 .* shows 8 as 001000\./);
      await page.waitFor(() => new URLSearchParams(location.search).get("clocks.position") === "8");
      assert.deepEqual(await page.evaluate(() => window.heard), []);
      await page.click(`${CLOCKS} >> footer .reset`);
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "dragging along the waves of the clocks sets the position",
    async run({ page, base, assert }) {
      await open(page, base);
      const box = await page.box(`${CLOCKS} >> .field`);
      const y = box.y + box.height / 2;
      await page.drag({ x: box.x + 4, y }, { x: Math.round(box.x + box.width / 2), y });
      await settle(page);
      const position = Number(
        await page.evaluate(() => document.querySelector("pe-clocks").getAttribute("position")),
      );
      assert.ok(Math.abs(position - 32) < 0.5, `${position}`);
      assertPicture(assert, await drawn(page), { position });
    },
  },
  {
    name: "a wrong value of the clocks is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await drawn(page);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["position", "64", "position must be at most seq-len − 1, here 63, got 64"],
        ["seq-len", "8", "seq-len must be a whole number from 16 to 65536, got “8”"],
      ]) {
        await set(page, { [name]: value });
        await page.waitFor(
          (said) =>
            document.querySelector("pe-clocks").shadowRoot.querySelector(".problem").textContent === said,
          sentence,
        );
        assert.deepEqual(await drawn(page), good);
        await page.evaluate((attr) => document.querySelector("pe-clocks").removeAttribute(attr), name);
        await page.waitFor(
          () => document.querySelector("pe-clocks").shadowRoot.querySelector(".problem").hidden,
        );
      }
      assert.equal(await text(page, ".problem"), "");
    },
  },
  {
    name: "the clocks' data table holds the hands and digits that are drawn",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.click(`${CLOCKS} >> .data summary`);
      await page.waitFor(
        () => document.querySelector("pe-clocks").shadowRoot.querySelectorAll("tbody tr").length === 14,
      );
      const cells = await page.evaluate(() =>
        [...document.querySelector("pe-clocks").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent),
        ),
      );
      const { cos, sin } = core.ropeCosSin(Float64Array.of(5), core.sinusoidalInvFreq({ dModel: 512 }));
      const said = (value) => value.toFixed(6).replace("-", "−");
      PAIRS_512.forEach((pair, i) => {
        assert.equal(cells[i][0], `pair ${pair}`);
        assert.deepEqual(cells[i].slice(4, 6), [said(sin[pair]), said(cos[pair])]);
      });
      assert.deepEqual(
        cells.slice(8).map((row) => row.at(-1)),
        ["1", "0", "1", "0", "0", "0"],
      );
    },
  },
  {
    name: "removed clocks leave nothing running",
    async run({ page, base, assert }) {
      await open(page, base);
      await set(page, { position: "9" });
      const changes = await page.evaluate(async () => {
        const figure = document.querySelector("pe-clocks");
        figure.remove();
        figure.setAttribute("position", "10");
        await new Promise((done) => setTimeout(done, 300));
        let seen = 0;
        const observer = new MutationObserver((records) => {
          seen += records.length;
        });
        observer.observe(figure.shadowRoot, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        });
        dispatchEvent(new Event("resize"));
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
        await new Promise((done) => setTimeout(done, 900));
        return seen;
      });
      assert.equal(changes, 0);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the clocks fit a narrow phone, and axe-core finds nothing serious in them",
    page: { width: 336, height: 800 }, // 320 and the scroll bar that a desktop shows
    async run({ page, base, assert }) {
      await open(page, base, "?clocks.seq-len=65536&clocks.position=65535");
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
        ),
      );
      await page.evaluate(AXE);
      const findings = await page.evaluate(async () => {
        const { violations } = await window.axe.run("pe-clocks", { resultTypes: ["violations"] });
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
      });
      assert.deepEqual(findings, []);
    },
  },
];
