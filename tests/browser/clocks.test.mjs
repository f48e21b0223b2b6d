// The clocks turn as the core says, and the counter counts.

import { loadPosenc } from "posenc";
import { openFigure, owed, PHONE, written } from "./figure.mjs";

const core = await loadPosenc();
const CLOCKS = "pe-clocks";

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

export default [
  {
    name: "the hands of the clocks point where the core says, and the digits count",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, CLOCKS);
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 5 });
      assert.equal(picture.digits.length, 6);
      assert.match(
        picture.label,
        /position 5\. Turns made: pair 0 0\.796, .*The counter shows 5 as 000101\.$/,
      );
      assert.match(await figure.text(".takeaway"), /9647 times slower, 2 to the power 13\.2,/);
    },
  },
  {
    name: "between whole positions the hands of the clocks move and the digits wait",
    async run({ page, base, assert }) {
      await openFigure(
        page,
        base,
        CLOCKS,
        "?clocks.position=7.9&clocks.seq-len=16&clocks.d-model=8&clocks.base=100",
      );
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 7.9, dModel: 8, base: 100, pairs: [0, 1, 2, 3] });
      assert.deepEqual(picture.digits, [1, 1, 1, 0]);
    },
  },
  {
    name: "arrow keys move the clocks by one position, and the page does not hear them",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, CLOCKS);
      await figure.focus('input[type="range"]');
      await figure.press("ArrowRight", "ArrowRight", "ArrowRight");
      const picture = await drawn(page);
      assertPicture(assert, picture, { position: 8 });
      assert.match(await figure.text(".takeaway"), /^At position 8 .* shows 8 as 001000\./);
      await page.waitFor(() => new URLSearchParams(location.search).get("clocks.position") === "8");
      await figure.click("footer .reset");
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "dragging along the waves of the clocks sets the position",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, CLOCKS);
      const box = await page.box(`${CLOCKS} >> .field`);
      const y = box.y + box.height / 2;
      await page.drag({ x: box.x + 4, y }, { x: Math.round(box.x + box.width / 2), y });
      await figure.settle();
      const position = Number(await figure.attribute("position"));
      assert.ok(Math.abs(position - 32) < 0.5, `${position}`);
      assertPicture(assert, await drawn(page), { position });
    },
  },
  {
    name: "a wrong value of the clocks is a sentence, and the last picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, CLOCKS);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["position", "64", "position must be at most seq-len − 1, here 63, got 64"],
        ["seq-len", "8", "seq-len must be a whole number from 16 to 65536, got “8”"],
      ]) {
        await figure.refuses({ [name]: value }, sentence, () => drawn(page));
      }
    },
  },
  {
    name: "the clocks' data table holds the hands and digits that are drawn",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, CLOCKS);
      const cells = await figure.rows();
      assert.equal(cells.length, 14);
      const { cos, sin } = core.ropeCosSin(Float64Array.of(5), core.sinusoidalInvFreq({ dModel: 512 }));
      PAIRS_512.forEach((pair, i) => {
        assert.equal(cells[i][0], `pair ${pair}`);
        assert.deepEqual(cells[i].slice(4, 6), [written(sin[pair], 6), written(cos[pair], 6)]);
      });
      assert.deepEqual(
        cells.slice(8).map((row) => row.at(-1)),
        ["1", "0", "1", "0", "0", "0"],
      );
    },
  },
  ...owed(
    CLOCKS,
    { change: { position: 9 } },
    {
      "removed clocks leave nothing running": { duties: ["leavesNothing"] },
      "the clocks fit a narrow phone, and axe-core finds nothing serious in them": {
        page: PHONE,
        query: "?clocks.seq-len=65536&clocks.position=65535",
        duties: ["isAccessible"],
      },
      "the clocks' files hold their picture and numbers, and the sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
