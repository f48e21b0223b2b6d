// What the tests of one figure share: opening it in the lesson, changing and reading it, and what every figure owes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The narrowest window that the lesson is made for: 320 pixels, and the scroll bar that a desktop shows. */
export const PHONE = { width: 336, height: 800 };

/** The figure `tag` of the lesson shortened to its sections, opened with a query, in view and drawn. */
export const openFigure = (page, base, tag, query = "") => figureAt(page, `${base}${tag}.html${query}`, tag);

/** The figure `tag` of the page at `url`, in view and drawn. */
export async function figureAt(page, url, tag) {
  await page.goto(url);
  await page.evaluate((name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }), tag);
  await page.waitFor((name) => document.querySelector(name)?.shadowRoot?.querySelector("footer"), tag);
  const figure = new Figure(page, tag);
  await figure.settle();
  return figure;
}

class Figure {
  constructor(page, tag) {
    this.page = page;
    this.tag = tag;
  }

  /** Three frames: a change is computed in one, drawn in the next, and animated from there, to the end. */
  settle() {
    return this.page.evaluate(async (tag) => {
      for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
      const moving = document.querySelector(tag).shadowRoot.getAnimations();
      await Promise.allSettled(moving.map(({ finished }) => finished));
    }, this.tag);
  }

  /** Sets attributes; null takes one away. */
  async set(attributes) {
    await this.page.evaluate(
      ([tag, given]) => {
        const figure = document.querySelector(tag);
        for (const [name, value] of Object.entries(given)) {
          if (value === null) figure.removeAttribute(name);
          else figure.setAttribute(name, value);
        }
      },
      [this.tag, attributes],
    );
    await this.settle();
  }

  attribute(name) {
    return this.page.evaluate(
      ([tag, wanted]) => document.querySelector(tag).getAttribute(wanted),
      [this.tag, name],
    );
  }

  /** The texts of all elements inside that match. */
  texts(selector) {
    return this.page.evaluate(
      ([tag, wanted]) =>
        [...document.querySelector(tag).shadowRoot.querySelectorAll(wanted)].map((element) =>
          element.textContent.replace(/\s+/g, " ").trim(),
        ),
      [this.tag, selector],
    );
  }

  async text(selector) {
    return (await this.texts(selector))[0];
  }

  /** What a screen reader calls the first element that matches. */
  label(selector) {
    return this.page.evaluate(
      ([tag, wanted]) =>
        document
          .querySelector(tag)
          .shadowRoot.querySelector(wanted)
          .getAttribute("aria-label")
          .replace(/\s+/g, " "),
      [this.tag, selector],
    );
  }

  focus(selector) {
    return this.page.evaluate(
      ([tag, wanted]) => document.querySelector(tag).shadowRoot.querySelector(wanted).focus(),
      [this.tag, selector],
    );
  }

  async click(selector) {
    await this.page.click(`${this.tag} >> ${selector}`);
    await this.settle();
  }

  /** Presses keys one after the other; none may reach the page. */
  async press(...keys) {
    await this.page.evaluate(() => {
      window.heard = [];
      window.hear ??= ({ key }) => window.heard.push(key);
      document.addEventListener("keydown", window.hear);
    });
    for (const key of keys) await this.page.press(key);
    await this.settle();
    const heard = await this.page.evaluate(() => window.heard.filter((key) => key !== "Shift"));
    assert.deepEqual(heard, [], "keys that the page heard");
  }

  /** Sizes and SHA-256 of the canvases that match. */
  canvases(selector) {
    return this.page.evaluate(
      async ([tag, wanted]) => {
        const found = [];
        for (const canvas of document.querySelector(tag).shadowRoot.querySelectorAll(wanted)) {
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
          found.push({
            width,
            height,
            hex: [...digest].map((b) => b.toString(16).padStart(2, "0")).join(""),
          });
        }
        return found;
      },
      [this.tag, selector],
    );
  }

  /** The data table, opened as a reader opens it, row by row. */
  async rows() {
    const isOpen = (tag) => document.querySelector(tag).shadowRoot.querySelector("details.data").open;
    if (!(await this.page.evaluate(isOpen, this.tag))) await this.click("details.data summary");
    await this.page.waitFor(
      (tag) => document.querySelector(tag).shadowRoot.querySelector("tbody tr"),
      this.tag,
    );
    return this.page.evaluate(
      (tag) =>
        [...document.querySelector(tag).shadowRoot.querySelectorAll("tbody tr")].map((row) =>
          [...row.children].map((cell) => cell.textContent),
        ),
      this.tag,
    );
  }

  /** A wrong attribute is answered with this sentence; the last good sentence, and what `drawn` reads, stay. */
  async refuses(attributes, sentence, drawn = () => null) {
    const shown = async () => [await this.text(".takeaway"), await drawn()];
    const good = await shown();
    const before = {};
    for (const name of Object.keys(attributes)) before[name] = await this.attribute(name);
    await this.set(attributes);
    const problem = await this.text(".problem");
    if (sentence instanceof RegExp) assert.match(problem, sentence);
    else assert.equal(problem, sentence);
    assert.deepEqual(await shown(), good);
    await this.set(before);
    assert.equal(await this.text(".problem"), "");
  }

  /** axe-core finds nothing serious, nothing is wider than the page, and no target is smaller than 24 pixels. */
  async isAccessible() {
    const size = await this.page.evaluate((tag) => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const boxes = "[type=checkbox], [type=radio]";
      const targets = `button, summary, select, label:has(${boxes}), input:not(${boxes}), .tip .hit`;
      const small = [...document.querySelector(tag).shadowRoot.querySelectorAll(targets)]
        .filter((element) => element.checkVisibility())
        .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
        .filter(([, { width, height }]) => width < 24 || height < 24);
      return { scrollWidth, clientWidth, small: small.map(([name]) => name) };
    }, this.tag);
    assert.ok(size.scrollWidth <= size.clientWidth, `${size.scrollWidth} px in ${size.clientWidth} px`);
    assert.deepEqual(size.small, [], "targets below 24 px");
    await this.page.evaluate(AXE);
    const findings = await this.page.evaluate(async (tag) => {
      const { violations } = await window.axe.run(tag, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
    }, this.tag);
    assert.deepEqual(findings, []);
  }

  /** The sentence follows the state, and is spoken once the reader has paused. */
  async speaks(change) {
    const before = await this.text(".takeaway");
    await this.set(change);
    const sentence = await this.text(".takeaway");
    assert.notEqual(sentence, before);
    assert.doesNotMatch(sentence, /undefined|null|NaN|\[object/);
    assert.equal(await this.text(".problem"), "");
    await this.page.waitFor((tag) => {
      const root = document.querySelector(tag).shadowRoot;
      const spoken = root.querySelector(".takeaway + [aria-live=polite]").textContent;
      return spoken === root.querySelector(".takeaway").textContent;
    }, this.tag);
  }

  /** Taken off the page in the midst of a change, the figure does nothing more and raises no error. */
  async leavesNothing(change) {
    // other figures would ask for frames of their own
    await this.page.evaluate((tag) => {
      for (const other of document.querySelectorAll("figure > *"))
        if (other.localName.startsWith("pe-") && other.localName !== tag) other.remove();
    }, this.tag);
    await this.settle();
    const after = await this.page.evaluate(
      async ([tag, attributes]) => {
        const figure = document.querySelector(tag);
        const seen = { events: 0, errors: 0, asked: 0, drawn: 0 };
        for (const name of ["pe-ready", "pe-change", "pe-error"]) {
          figure.addEventListener(name, () => seen.events++);
        }
        addEventListener("error", () => seen.errors++);
        addEventListener("unhandledrejection", () => seen.errors++);
        const { setTimeout: later } = window;
        const wait = (milliseconds) => new Promise((done) => later(done, milliseconds));
        const frame = figure.parentElement;
        for (const [name, value] of Object.entries(attributes)) figure.setAttribute(name, value);
        figure.remove();
        for (const name of Object.keys(attributes)) figure.removeAttribute(name);
        await wait(300);
        const clocks = ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback"];
        for (const name of clocks.filter((clock) => clock in window)) {
          const ask = window[name];
          window[name] = (...given) => {
            // a browser's driver asks too; the page's own code stands in assets/
            if (new Error().stack.includes("/assets/")) seen.asked++;
            return ask.apply(window, given);
          };
        }
        const observer = new MutationObserver((records) => {
          seen.drawn += records.length;
        });
        const all = { subtree: true, childList: true, characterData: true, attributes: true };
        observer.observe(figure.shadowRoot, all);
        const address = location.href;
        dispatchEvent(new Event("resize"));
        for (const key of ["ArrowRight", "ArrowLeft", "Escape"]) {
          for (const target of [figure, document.body])
            target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }
        await wait(900);
        const gone = { ...seen, moved: location.href !== address };
        observer.disconnect();
        frame.append(figure);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return { ...gone, back: figure.shadowRoot.querySelector("[data-picture]") !== null };
      },
      [this.tag, change],
    );
    assert.deepEqual(after, { events: 0, errors: 0, asked: 0, drawn: 0, moved: false, back: true });
    assert.deepEqual(await this.page.consoleErrors(), []);
  }

  /** The files offered hold the picture and its numbers: an SVG that parses, a PNG of more than one colour, and the
   * same numbers as CSV, whose lines are returned, and as NPY. */
  async exports() {
    const offered = await this.texts("details.menu .items button");
    assert.deepEqual(offered.slice(0, 4), ["PNG picture", "SVG drawing", "CSV numbers", "NPY array"]);
    const files = await this.page.evaluate(async (tag) => {
      const figure = document.querySelector(tag);
      const drawing = new DOMParser().parseFromString(figure.toSVG(), "image/svg+xml");
      const bitmap = await createImageBitmap(await figure.toPNG());
      const canvas = Object.assign(document.createElement("canvas"), {
        width: bitmap.width,
        height: bitmap.height,
      });
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      const npy = figure.toNPY();
      const start = 10 + npy[8] + 256 * npy[9];
      return {
        broken: drawing.querySelector("parsererror") !== null,
        texts: drawing.querySelectorAll("text").length,
        colours: new Set(pixels).size,
        csv: figure.toCSV(),
        magic: [...npy.subarray(0, 8)],
        header: new TextDecoder().decode(npy.subarray(10, start)),
        data: btoa(Array.from(npy.subarray(start), (byte) => String.fromCharCode(byte)).join("")),
      };
    }, this.tag);
    assert.equal(files.broken, false);
    assert.ok(files.texts > 3, `${files.texts} texts in the SVG`);
    assert.ok(files.colours > 8, `${files.colours} colours in the PNG`);
    const lines = files.csv
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    assert.deepEqual(files.magic, [0x93, ...Buffer.from("NUMPY"), 1, 0]);
    const form = /^\{'descr': '(<f8|<f4|<i4)', 'fortran_order': False, 'shape': \(([\d, ]+)\), \} *\n$/;
    const [, type, sizes] = files.header.match(form);
    const shape = sizes.split(",").filter(Boolean).map(Number);
    const { buffer } = Uint8Array.from(Buffer.from(files.data, "base64"));
    const values = new { "<f8": Float64Array, "<f4": Float32Array, "<i4": Int32Array }[type](buffer);
    assert.equal(
      shape.reduce((product, size) => product * size, 1),
      values.length,
    );
    const numbers = lines.slice(1).flatMap((line) => line.slice(shape.length - 1).map(Number));
    assert.equal(numbers.length, values.length);
    const other = numbers.findIndex((value, i) => !Object.is(value, values[i] + 0)); // CSV has no −0
    assert.equal(other, -1, `CSV ${numbers[other]}, NPY ${values[other]}`);
    return lines;
  }
}

const DUTIES = ["isAccessible", "speaks", "exports", "leavesNothing"];

/**
 * What every figure owes, as tests under the names given: each holds its `duties`, in a window as `page` says, from
 * the state of `query`. Duties that the figure's own tests hold stand in `elsewhere`. `change` is a state other than
 * the first, in which the sentence is another.
 */
export function owed(tag, { change, elsewhere = [] }, tests) {
  const held = [...elsewhere, ...Object.values(tests).flatMap(({ duties }) => duties)];
  assert.deepEqual(held.sort(), [...DUTIES].sort(), `duties of ${tag}`);
  return Object.entries(tests).map(([name, { page, query, duties }]) => ({
    name,
    page,
    async run({ page: opened, base }) {
      const figure = await openFigure(opened, base, tag, query);
      for (const duty of DUTIES.filter((one) => duties.includes(one))) await figure[duty](change);
    },
  }));
}

/** A number as the figures write it. */
export function written(value, decimals) {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits;
}

/** The number that a figure's text begins with: −1.2 × 10⁻¹⁵. */
export function read(words) {
  const [, mantissa, power = ""] = words.match(/^([−+]?[\d.\s]*\d)(?:\s×\s10([⁻⁰¹²³⁴-⁹]+))?/);
  const exponent = [...power].map((digit) => (digit === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit))).join("");
  return Number(`${mantissa.replace("−", "-").replace(/\s/g, "")}e${exponent || 0}`);
}

/** SHA-256, as `canvases` gives it. */
export const digest = (pixels) => createHash("sha256").update(pixels).digest("hex");
