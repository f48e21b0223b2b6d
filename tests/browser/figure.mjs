// What the tests of one figure share: opening it in the lesson, changing and reading it, and what every figure owes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The figure `tag` of a page, opened at `base` with a query, in view and drawn. */
export async function openFigure(page, base, tag, query = "") {
  await page.goto(`${base}${query}`);
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

  /** Two frames: one to render in, one to have rendered. */
  settle() {
    return this.page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
    );
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

  /** The open data table, row by row. */
  async rows() {
    await this.page.evaluate((tag) => {
      document.querySelector(tag).shadowRoot.querySelector("details.data").open = true;
    }, this.tag);
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

  /** A wrong attribute is answered with this sentence, and the last good sentence stays. */
  async refuses(attributes, sentence) {
    const good = await this.text(".takeaway");
    await this.set(attributes);
    assert.equal(await this.text(".problem"), sentence);
    assert.equal(await this.text(".takeaway"), good);
    await this.set(Object.fromEntries(Object.keys(attributes).map((name) => [name, null])));
    assert.equal(await this.text(".problem"), "");
  }

  /** axe-core finds nothing serious, nothing is wider than the page, and no target is smaller than 24 pixels. */
  async isAccessible() {
    const size = await this.page.evaluate((tag) => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const targets = "button, summary, select, input:not([type=checkbox]), label.toggle";
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

  /** Taken off the page in the midst of a change, the figure does nothing more and raises no error. */
  async leavesNothing(change) {
    const after = await this.page.evaluate(
      async ([tag, attributes]) => {
        const figure = document.querySelector(tag);
        let events = 0;
        let errors = 0;
        for (const name of ["pe-ready", "pe-change", "pe-error"]) {
          figure.addEventListener(name, () => events++);
        }
        addEventListener("error", () => errors++);
        addEventListener("unhandledrejection", () => errors++);
        const frame = figure.parentElement;
        const set = (given) => {
          for (const [name, value] of Object.entries(given)) figure.setAttribute(name, value);
        };
        set(attributes);
        figure.remove();
        set(attributes);
        figure.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
        dispatchEvent(new Event("resize"));
        const address = location.href;
        await new Promise((done) => setTimeout(done, 900));
        const gone = { events, errors, moved: location.href !== address };
        frame.append(figure);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return { ...gone, back: figure.shadowRoot.querySelector("[data-picture]") !== null };
      },
      [this.tag, change],
    );
    assert.deepEqual(after, { events: 0, errors: 0, moved: false, back: true });
  }

  /** Both exports hold the picture: an SVG that parses, and a PNG that is not one colour. */
  async exports() {
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
      return {
        broken: drawing.querySelector("parsererror") !== null,
        texts: drawing.querySelectorAll("text").length,
        colours: new Set(pixels).size,
        csv: figure.toCSV(),
      };
    }, this.tag);
    assert.equal(files.broken, false);
    assert.ok(files.texts > 3, `${files.texts} texts in the SVG`);
    assert.ok(files.colours > 8, `${files.colours} colours in the PNG`);
    return files.csv
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
  }
}

/** A number as the figures write it. */
export function written(value, decimals) {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && /[1-9]/.test(digits) ? `−${digits}` : digits;
}
