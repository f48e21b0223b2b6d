// A shift is one matrix, and a diagonal has one value: both as the core computes them.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadPosenc } from "posenc";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const core = await loadPosenc();
const FIGURE = "pe-shift";

/** Two frames: one to render in, one to have rendered. */
const settle = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
  );

/** Opens the lesson with the figure in view and drawn. */
async function open(page, base, query = "") {
  await page.goto(`${base}${query}`);
  await page.evaluate(() => document.querySelector("pe-shift").scrollIntoView({ behavior: "instant" }));
  await page.waitFor(
    () =>
      document.querySelector("pe-shift")?.shadowRoot?.querySelector('canvas[data-map="dots"]')?.width > 100,
  );
  await settle(page);
}

const text = (page, selector) =>
  page.evaluate(
    (wanted) =>
      document
        .querySelector("pe-shift")
        .shadowRoot.querySelector(wanted)
        ?.textContent.replace(/\s+/g, " ")
        .trim(),
    selector,
  );

const drawn = (page) =>
  page.evaluate(async () => {
    const canvas = document.querySelector("pe-shift").shadowRoot.querySelector('canvas[data-map="dots"]');
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
    return {
      size: canvas.width,
      hex: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
    };
  });

const count = (length, first = 0) => Float64Array.from({ length }, (_, i) => first + i);

/** The digest of the core's picture of PE · PE. */
function expected(size, n, dModel) {
  const map = core.similarity(core.sinusoidalRows(count(n), { dModel }), n, dModel);
  const shape = { rows: n, cols: n, width: size, height: size, vmin: -dModel / 2, vmax: dModel / 2 };
  return createHash("sha256")
    .update(core.colormap(Float32Array.from(map), core.lut(), shape))
    .digest("hex");
}

/** max |PE(p+k) − M_k PE(p)| for each of n starts from `first`. */
function residuals(k, first, n, dModel) {
  const matrices = core.shiftMatrices(core.sinusoidalInvFreq({ dModel }), k);
  const from = core.sinusoidalRows(count(n, first), { dModel });
  const to = core.sinusoidalRows(count(n, first + k), { dModel });
  return Array.from({ length: n }, (_, row) => {
    let worst = 0;
    for (let c = 0; c < dModel; c++) {
      const at = row * dModel + c;
      const even = at - (c % 2);
      const turned = matrices[2 * c] * from[even] + matrices[2 * c + 1] * from[even + 1];
      worst = Math.max(worst, Math.abs(to[at] - turned));
    }
    return worst;
  });
}

const dot = (k, dModel = 512) => core.dotByOffset(Float64Array.of(k), core.sinusoidalInvFreq({ dModel }))[0];
const said = (value, decimals) => value.toFixed(decimals).replace("-", "−");

const set = (page, attributes) =>
  page.evaluate((given) => {
    for (const [name, value] of Object.entries(given))
      document.querySelector("pe-shift").setAttribute(name, value);
  }, attributes);

const table = async (page, rows) => {
  await page.click(`${FIGURE} >> .data summary`);
  await page.waitFor(
    (n) => document.querySelector("pe-shift").shadowRoot.querySelectorAll("tbody tr").length === n,
    rows,
  );
  return page.evaluate(() =>
    [...document.querySelector("pe-shift").shadowRoot.querySelectorAll("tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    ),
  );
};

/** A number as the table writes it: −1.2 × 10⁻¹⁵. */
const read = (cell) => {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const plain = cell
    .replace("−", "-")
    .replace(
      /\s×\s10(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/,
      (_, sign, power) => `e${sign ? "-" : ""}${[...power].map((digit) => digits.indexOf(digit)).join("")}`,
    );
  return Number(plain);
};

export default [
  {
    name: "the map of PE · PE and the residuals of a shift are the core's",
    async run({ page, base, assert }) {
      await open(page, base);
      const picture = await drawn(page);
      assert.equal(picture.hex, expected(picture.size, 128, 512));
      const rows = await table(page, 128);
      const exact = residuals(5, 0, 128, 512);
      rows.forEach(([p, residual, offset, value], i) => {
        assert.equal(p, String(i));
        assert.ok(Math.abs(read(residual) - exact[i]) <= 0.006 * exact[i], `${residual}, not ${exact[i]}`);
        assert.equal(offset, String(i));
        assert.equal(value, said(dot(i), 4));
      });
      assert.match(await text(page, ".takeaway"), /first rises again after 43\.$/);
    },
  },
  {
    name: "a link reopens the shift, also one to the left",
    async run({ page, base, assert }) {
      await open(page, base, "?shift.k=-30&shift.p=40&shift.seq-len=64&shift.d-model=8");
      const picture = await drawn(page);
      assert.equal(picture.hex, expected(picture.size, 64, 8));
      assert.equal(await text(page, "#cell"), `positions 40 and 10, offset −30: ${said(dot(-30, 8), 2)}`);
      assert.match(
        await text(page, ".takeaway"),
        /^One matrix takes PE\(p\) to PE\(p − 30\) from every p of 30–93:/,
      );
      const rows = await table(page, 64);
      const exact = residuals(-30, 30, 64, 8);
      rows.forEach(([p, residual], i) => {
        assert.equal(p, String(30 + i));
        assert.ok(Math.abs(read(residual) - exact[i]) <= 0.006 * exact[i], `${residual}, not ${exact[i]}`);
      });
    },
  },
  {
    name: "arrow keys walk the map of the shift, and the page does not hear them",
    async run({ page, base, assert }) {
      await open(page, base);
      await page.evaluate(() => {
        window.heard = [];
        document.addEventListener("keydown", ({ key }) => window.heard.push(key));
        document.querySelector("pe-shift").shadowRoot.querySelector(".grid").focus();
      });
      for (const key of ["ArrowRight", "ArrowRight", "ArrowUp"]) await page.press(key);
      await settle(page);
      assert.equal(await text(page, "#cell"), `positions 19 and 27, offset 8: ${said(dot(8), 2)}`);
      assert.match(
        await text(page, ".takeaway"),
        new RegExp(`k = 8 has the value ${said(dot(8), 2)}, and so has k = −8;`),
      );
      await page.press("Home");
      await settle(page);
      assert.equal(await text(page, "#cell"), `positions 19 and 0, offset −19: ${said(dot(-19), 2)}`);
      await page.press("End");
      await settle(page);
      assert.equal(await text(page, "#cell"), `positions 19 and 127, offset 108: ${said(dot(108), 2)}`);
      await page.waitFor(() => new URLSearchParams(location.search).get("shift.k") === "108");
      assert.deepEqual(await page.evaluate(() => window.heard), []);
      await page.click(`${FIGURE} >> footer .reset`);
      await page.waitFor(() => location.search === "");
    },
  },
  {
    name: "a press on the map of the shift reads the cell under it",
    async run({ page, base, assert }) {
      await open(page, base);
      const box = await page.box(`${FIGURE} >> canvas.map`);
      await page.click({
        x: Math.round(box.x + (box.width * 100.5) / 128),
        y: Math.round(box.y + (box.height * 30.5) / 128),
      });
      await settle(page);
      const [, p, end, k] = /^positions (\d+) and (\d+), offset (\d+)/
        .exec(await text(page, "#cell"))
        .map(Number);
      assert.ok(Math.abs(p - 30) <= 1 && Math.abs(end - 100) <= 1 && k === end - p, `${p}, ${end}`);
    },
  },
  {
    name: "a wrong value of the shift is a sentence, and the last picture stays",
    async run({ page, base, assert }) {
      await open(page, base);
      const good = await drawn(page);
      for (const [name, value, sentence] of [
        ["d-model", "7", "d-model must be even, got 7"],
        ["k", "128", "k must be within ±127, one less than seq-len, got 128"],
        ["k", "1.5", "k must be a whole number from -255 to 255, got “1.5”"],
      ]) {
        await set(page, { [name]: value });
        await page.waitFor(
          (said) =>
            document.querySelector("pe-shift").shadowRoot.querySelector(".problem").textContent === said,
          sentence,
        );
        assert.deepEqual(await drawn(page), good);
        await page.evaluate((attr) => document.querySelector("pe-shift").removeAttribute(attr), name);
        await page.waitFor(
          () => document.querySelector("pe-shift").shadowRoot.querySelector(".problem").hidden,
        );
      }
      assert.equal(await text(page, ".problem"), "");
    },
  },
  {
    name: "a removed shift figure leaves nothing running",
    async run({ page, base, assert }) {
      await open(page, base);
      await set(page, { k: "9" });
      const changes = await page.evaluate(async () => {
        const figure = document.querySelector("pe-shift");
        figure.remove();
        figure.setAttribute("k", "10");
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
    name: "the shift figure fits a narrow phone, and axe-core finds nothing serious in it",
    page: { width: 336, height: 800 }, // 320 and the scroll bar that a desktop shows
    async run({ page, base, assert }) {
      await open(page, base, "?shift.seq-len=256&shift.k=-255");
      assert.ok(
        await page.evaluate(
          () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
        ),
      );
      await page.evaluate(AXE);
      const findings = await page.evaluate(async () => {
        const { violations } = await window.axe.run("pe-shift", { resultTypes: ["violations"] });
        return violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
      });
      assert.deepEqual(findings, []);
    },
  },
];
