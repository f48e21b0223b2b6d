// Pages that are hostile to what stands in them, on purpose or not: a figure looks there and computes as anywhere else.

import assert from "node:assert/strict";
import { each, loadScript, openFaulty, openHost, quiet, TAGS } from "./host.mjs";

/** Runs in the page: what other scripts have done to the language and the browser. */
function meddle() {
  Object.defineProperty(Array.prototype, "shuffle", { value() {}, enumerable: true, configurable: true });
  String.prototype.trim2 = function () {
    return this;
  };
  Math.random = () => Number.NaN;
  const { fetch } = window;
  window.fetch = (...given) => {
    window.fetched = given;
    return new Promise((resolve, reject) => fetch(...given).then(resolve, reject));
  };
  // as libraries that follow asynchronous work put their own in its place
  window.Promise = class Followed extends Promise {};
  for (const name of ["requestIdleCallback", "structuredClone"]) {
    window[name] = () => {
      throw new Error(`${name} is forbidden here`);
    };
  }
  for (const one of [Object, Array, Function, Map, Set]) Object.freeze(one.prototype);
  Object.freeze(Object);
}

/** Runs in the page: no observer tells of sizes and places, and nothing of the reader's settings. */
function refuseObservers() {
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    window[name] = function refused() {
      throw new Error(`${name} is forbidden here`);
    };
  }
  window.matchMedia = () => ({ matches: false, addListener() {} });
}

/** Runs in the page: style sheets that reset everything, or were meant for other elements of the same names. */
function restyle() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    button, input, select, canvas, svg, table, th, td, p, h3, h4 { all: unset !important; }
    * { letter-spacing: 3px; text-transform: uppercase; font: italic 40px/1 fantasy; text-align: center; }
    canvas, svg { max-width: 10px !important; height: auto !important; }
    div, section, label, output { display: flex !important; position: absolute !important; }
    footer, figure, details, .controls, .readout, .map, .stage { display: none !important; }
  `);
  document.adoptedStyleSheets = [sheet];
}

/** What every figure looks like at its first picture, in a page as `open` leaves it. */
async function looks(page) {
  const found = {};
  for (const tag of TAGS) {
    found[tag] = await page.evaluate(async (name) => {
      const { host } = window;
      const place = document.createElement("main");
      place.style.cssText = "all: revert; display: block; width: 700px; color: initial";
      document.body.append(place);
      const figure = await host.mount(name, { loading: "lazy" }, place);
      for (let i = 0; i < 2; i++) await host.settle(figure);
      const look = host.look(figure);
      place.remove();
      return look;
    }, tag);
  }
  return found;
}

let plain;
const expected = async (newPage) => {
  if (!plain) {
    const page = await newPage();
    await openHost(page);
    plain = await looks(page);
    await page.close();
  }
  return plain;
};

/** Every figure in a page with a fault looks as it does in one without. */
const same = (name, fault) => ({
  name,
  async run({ page, newPage }) {
    const without = await expected(newPage);
    await openFaulty(page, fault);
    const found = await looks(page);
    for (const tag of TAGS) assert.deepEqual(differences(found[tag], without[tag]), [], tag);
    await quiet(page);
  },
});

/** The first part in which one look is not another, be it by half a pixel. */
function differences(look, wanted) {
  if (look.length !== wanted.length) return [`${look.length} elements, not ${wanted.length}`];
  const at = look.findIndex(
    ({ words, place }, i) =>
      words !== wanted[i].words || place.some((value, side) => Math.abs(value - wanted[i].place[side]) > 0.5),
  );
  const told = ({ words, place }) => `${place.map((value) => value.toFixed(1))} ${words.slice(0, 400)}`;
  return at < 0 ? [] : [`${told(look[at])} instead of ${told(wanted[at])}`];
}

export default [
  same(
    "in a page that has changed the language and the browser every figure is drawn as anywhere else",
    meddle,
  ),
  same("in a browser that refuses observers every figure is drawn as anywhere else", refuseObservers),
  same("in a page of hostile style sheets every figure is drawn as anywhere else", restyle),
  each(
    "keeps to itself in a form, a label, editable text and another's shadow, and moves within one task",
    () => {},
    async (name) => {
      const { host } = window;
      const found = [];
      const place = document.createElement("div");
      place.innerHTML = `<form><label>Words <b></b></label></form><div contenteditable="true"><b></b></div>`;
      const outer = document.createElement("div");
      outer.attachShadow({ mode: "open" }).innerHTML = "<b></b>";
      const template = document.createElement("template");
      template.innerHTML = `<${name} hide="reset"></${name}>`;
      place.append(outer);
      document.body.append(place);
      place.addEventListener("submit", () => found.push("a form is sent"));
      for (const slot of [...place.querySelectorAll("b"), outer.shadowRoot.querySelector("b")]) {
        const { parentNode } = slot;
        const what = parentNode.localName ?? "shadow";
        slot.replaceWith(document.importNode(template.content, true));
        const figure = parentNode.querySelector(name);
        await host.ready(figure);
        await host.settle(figure);
        await host.change(figure);
        const state = JSON.stringify(figure.getState());
        if (host.problem(figure) || !host.drawn(figure)) found.push(`${what}: ${host.problem(figure)}`);
        for (const control of host.controls(figure)) {
          const key = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, composed: true });
          if (control.localName === "input") control.dispatchEvent(key);
        }
        parentNode.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        if (JSON.stringify(figure.getState()) !== state) found.push(`${what}: changed from outside`);
        const editable = host.all(figure, "*").find(({ isContentEditable }) => isContentEditable);
        if (editable) found.push(`${what}: ${editable.localName} can be edited`);
        figure.remove();
        parentNode.append(figure);
        figure.replaceWith(figure);
        await host.settle(figure);
        if (JSON.stringify(figure.getState()) !== state || host.all(figure, "section").length !== 1)
          found.push(`${what}: another figure once it was moved`);
        await host.change(figure);
        figure.remove();
      }
      place.remove();
      return found;
    },
  ),
  each(
    "outlasts no width, a pixel, a narrow column, five pixels for one, and being hidden in three ways",
    () => {},
    async (name) => {
      const { host } = window;
      const found = [];
      const place = document.createElement("div");
      place.style.width = "600px";
      document.body.append(place);
      const figure = await host.mount(name, {}, place);
      const settle = async () => {
        await host.frames(2);
        await host.settle(figure);
      };
      await settle();
      const look = host.look(figure);
      const back = async (what) => {
        await settle();
        found.push(...host.differences(host.look(figure), look).map((words) => `${what}: ${words}`));
      };
      for (const width of [0, 1, 40]) {
        place.style.width = `${width}px`;
        await settle();
        if (host.problem(figure)) found.push(`${width} px: ${host.problem(figure)}`);
        if (width === 40 && figure.getBoundingClientRect().width > 40) found.push("wider than its column");
      }
      place.style.width = "600px";
      await back("after other widths");
      const ratio = Object.getOwnPropertyDescriptor(window, "devicePixelRatio");
      Object.defineProperty(window, "devicePixelRatio", { value: 5, configurable: true });
      figure.setAttribute("theme", "light");
      await settle();
      if (host.problem(figure)) found.push(`at 500 %: ${host.problem(figure)}`);
      Object.defineProperty(window, "devicePixelRatio", ratio);
      figure.removeAttribute("theme");
      place.style.zoom = "5";
      await settle();
      if (host.problem(figure)) found.push(`zoomed: ${host.problem(figure)}`);
      place.style.zoom = "";
      const details = document.createElement("details");
      const hiding = [
        [() => (place.style.display = "none"), () => (place.style.display = "")],
        [() => (place.style.contentVisibility = "hidden"), () => (place.style.contentVisibility = "")],
        [
          () => {
            place.replaceWith(details);
            details.append(place);
          },
          () => (details.open = true),
        ],
      ];
      for (const [i, [hide, show]] of hiding.entries()) {
        hide();
        await host.frames(2);
        const before = JSON.stringify(figure.getState());
        const [control] = host.all(figure, "input[type=range], input[type=checkbox], select");
        host.use(control);
        await host.frames(3);
        const after = JSON.stringify(figure.getState());
        show();
        await settle();
        if (after === before || JSON.stringify(figure.getState()) !== after)
          found.push(`hidden ${i}: ${after}`);
        figure.reset();
      }
      await back("after it was hidden");
      details.remove();
      return found;
    },
  ),
  {
    name: "figures that come twice, from two builds, or beside a host's own of that name, are defined once and work",
    async run({ page }) {
      await openFaulty(page, () => {
        customElements.define(
          "pe-heatmap",
          class extends HTMLElement {
            connectedCallback() {
              this.textContent = "The host's own";
            }
          },
        );
      });
      await page.evaluate((tags) => {
        window.first = tags.map((tag) => customElements.get(tag));
      }, TAGS);
      for (const src of [
        "posenc.js?again",
        "figures/pe-rope.js",
        "posenc.inline.js",
        "posenc.inline.js?another",
      ])
        await loadScript(page, src);
      const found = await page.evaluate(async (tags) => {
        const { host, first } = window;
        const rope = await host.mount("pe-rope");
        const state = JSON.stringify(rope.getState());
        await host.change(rope);
        const own = document.body.appendChild(document.createElement("pe-heatmap"));
        return {
          same: tags.every((tag, i) => customElements.get(tag) === first[i]),
          changed: JSON.stringify(rope.getState()) !== state,
          own: own.textContent,
        };
      }, TAGS);
      assert.deepEqual(found, { same: true, changed: true, own: "The host's own" });
      await quiet(page);
    },
  },
];
