// Another author's page: a folder with the built figures beside a bare page, served by itself, and what tests do there
// with all figures alike.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../scripts/run.mjs";
import { serve } from "../../scripts/serve.mjs";

/** The tags of all figures. */
export const TAGS = readdirSync(join(ROOT, "web/figures"))
  .filter((name) => /^pe-.*\.ts$/.test(name))
  .map((name) => name.replace(/\.ts$/, ""));

const FIGURES = '<script type="module" src="posenc.js"></script>';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>A course page</title>
    <link rel="icon" href="icon.svg" />
    <script src="host.js"></script>
    ${FIGURES}
  </head>
  <body></body>
</html>
`;

/** What stands in the page as window.host. */
function helpers() {
  const frames = async (count) => {
    for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
  };
  const root = (figure) => figure.shadowRoot;
  const boxes = "button, input, select";
  /** Of a canvas's pixels (FNV-1a): its file may hold more than these. */
  const hash = (canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const mixed = new Uint32Array(data.buffer).reduce(
      (sum, one) => Math.imul(sum ^ one, 0x01000193),
      0x811c9dc5,
    );
    return `${width} × ${height}: ${mixed}`;
  };

  window.host = {
    frames,

    /** A frame, in which sizes are told, and the pictures that follow from all that was asked, to the end. */
    async settle(...figures) {
      await frames(1);
      for (const figure of figures) {
        await figure.updateComplete;
        const moving = root(figure).getAnimations();
        await Promise.allSettled(moving.map(({ finished }) => finished));
      }
    },

    make(tag, attributes = {}) {
      const figure = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) figure.setAttribute(name, value);
      return figure;
    },

    /** Waits for the first picture, but not for ever. */
    ready(figure) {
      const late = new Promise((_, reject) => {
        setTimeout(() => reject(new Error(`${figure.localName} is not ready after 20 s`)), 20_000);
      });
      return Promise.race([figure.ready, late]);
    },

    /** A figure, drawn. */
    async mount(tag, attributes = {}, place = document.body) {
      const figure = window.host.make(tag, attributes);
      place.append(figure);
      await window.host.ready(figure);
      await window.host.settle(figure);
      return figure;
    },

    /** Whether any of it is drawn: a group of an SVG that is not may still be called visible. */
    seen: (element) => element.checkVisibility() && getComputedStyle(element).display !== "none",

    find: (figure, selector) => root(figure).querySelector(selector),
    all: (figure, selector) => [...root(figure).querySelectorAll(selector)],
    problem: (figure) => root(figure).querySelector(".problem").textContent,
    drawn: (figure) => root(figure)?.querySelector("[data-picture]") != null,

    /** The native controls that a reader finds above the footer. */
    controls: (figure) =>
      [...root(figure).querySelectorAll(boxes)].filter(
        (control) => !control.closest("footer") && !control.matches(":disabled") && control.checkVisibility(),
      ),

    /** Uses a control as a reader does; false if there is nothing else to choose. */
    use(control) {
      const tell = (...types) => {
        for (const type of types) control.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
      };
      if (control.localName === "button" || ["checkbox", "radio"].includes(control.type)) {
        if (control.checked && control.type === "radio") return false;
        control.click();
      } else if (control.localName === "select") {
        const other = [...control.options].find(({ selected, value }) => !selected && value);
        if (!other) return false;
        control.value = other.value;
        tell("input", "change");
      } else if (control.type === "file") return false;
      else if (control.type === "text") {
        control.value = "a dog sees a cat";
        tell("input", "change");
      } else {
        const before = control.valueAsNumber;
        if (control.type === "number") control.value = String(before + (Number(control.step) || 1));
        else control.stepUp();
        if (control.type === "number" && control.validity.rangeOverflow) control.value = control.min;
        if (control.valueAsNumber === before) control.stepDown();
        if (control.valueAsNumber === before) return false;
        tell("input", "change");
      }
      return true;
    },

    /** A reader's change: the first control that makes one is used. */
    async change(figure) {
      const state = () => JSON.stringify(figure.getState());
      const before = state();
      for (const control of window.host.controls(figure)) {
        if (control.closest("[data-field]") && window.host.use(control)) await window.host.settle(figure);
        if (state() !== before) return;
      }
      throw new Error(`no control of ${figure.localName} changes it`);
    },

    /** Colours, type, lines and place of all that is in a figure, and the pixels of its canvases. */
    look(figure) {
      const from = figure.getBoundingClientRect();
      const elements = [...root(figure).querySelectorAll("section, section *")].filter(
        (element) => element.checkVisibility() && !element.closest("defs, option"),
      );
      return elements.map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        const style = getComputedStyle(element);
        const names = ["color", "backgroundColor", "fill", "stroke", "fontSize", "fontStyle", "fontWeight"];
        names.push("fontFamily", "lineHeight", "letterSpacing", "wordSpacing", "textTransform", "textIndent");
        names.push("textAlign", "whiteSpace", "visibility", "cursor", "textShadow", "listStyleType");
        const pixels = element.localName === "canvas" ? hash(element) : "";
        const words = [element.localName, ...names.map((name) => style[name]), pixels].join(" ");
        return { words, place: [x - from.x, y - from.y, width, height] };
      });
    },

    /** The first part in which one look is not another, be it by half a pixel. */
    differences(look, expected) {
      if (look.length !== expected.length) return [`${look.length} elements, not ${expected.length}`];
      const at = look.findIndex(
        ({ words, place }, i) =>
          words !== expected[i].words ||
          place.some((value, side) => Math.abs(value - expected[i].place[side]) > 0.5),
      );
      const told = ({ words, place }) => `${place.map((value) => value.toFixed(1))} ${words.slice(0, 400)}`;
      return at < 0 ? [] : [`${told(look[at])} instead of ${told(expected[at])}`];
    },

    /** Numbers from 0 to 1, the same for the same seed (Mulberry32). */
    random(seed) {
      let a = seed;
      return () => {
        a = (a + 0x6d2b79f5) | 0;
        let t = Math.imul(a ^ (a >>> 15), 1 | a);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
      };
    },
  };
}

let served;
const folder = mkdtempSync(join(tmpdir(), "posenc-host-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Puts a file of the test's own beside the page. */
export const addFile = (name, text) => writeFileSync(join(folder, name), text);

/** The address of the page. */
async function address() {
  cpSync(join(ROOT, "build/package"), folder, { recursive: true });
  cpSync(join(ROOT, "web/icon.svg"), join(folder, "icon.svg"));
  writeFileSync(join(folder, "index.html"), PAGE);
  writeFileSync(join(folder, "bare.html"), PAGE.replace(FIGURES, ""));
  writeFileSync(join(folder, "host.js"), `(${helpers})();\n`);
  return (await serve({ root: folder })).url;
}

/** Opens the page, with all figures defined and none in it. */
export async function openHost(page) {
  served ??= address();
  await page.goto(await served);
  await allDefined(page);
}

const allDefined = (page) => page.waitFor((tags) => tags.every((tag) => customElements.get(tag)), TAGS);

/** The page as its author, or the browser, has it before any of ours runs: `fault` runs in it, with `given`. */
export async function openFaulty(page, fault, given) {
  served ??= address();
  await page.goto(`${await served}bare.html`);
  await page.evaluate(() => {
    window.uncaught = [];
    addEventListener("error", ({ message }) => window.uncaught.push(message));
    addEventListener("unhandledrejection", ({ reason }) => window.uncaught.push(String(reason)));
  });
  await page.evaluate(fault, given);
  await loadScript(page, "posenc.js");
  await allDefined(page);
}

/** Puts a module of the served folder into the page, and waits until it has run. */
export const loadScript = (page, src) =>
  page.evaluate(
    (address) =>
      new Promise((resolve, reject) => {
        const script = Object.assign(document.createElement("script"), { type: "module", src: address });
        script.addEventListener("load", resolve);
        script.addEventListener("error", () => reject(new Error(`${address} did not load`)));
        document.head.append(script);
      }),
    src,
  );

/** Nothing was thrown in that page that nobody caught. */
export async function quiet(page) {
  assert.deepEqual(await page.evaluate(() => window.uncaught), []);
  assert.deepEqual(await page.consoleErrors(), []);
}

/** A test of each figure, by itself, in a page with a fault: `body` runs there and returns what it found wrong. */
export const each = (name, fault, body) => ({
  name: `every figure ${name}`,
  async run({ page }) {
    await openFaulty(page, fault);
    for (const tag of TAGS) {
      assert.deepEqual(await page.evaluate(body, tag), [], tag);
      await quiet(page);
    }
  },
});
