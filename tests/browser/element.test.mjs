// What every figure owes the page that holds it, whatever it draws: tried on all of them in a page that is not ours.

import assert from "node:assert/strict";
import { shareOf } from "./engines.mjs";
import { openHost, TAGS } from "./host.mjs";

/** A test of each figure by itself: `body` runs in the page with its tag and returns what it found wrong. */
const each = (name, body) => ({
  name: `every figure ${name}`,
  async run({ page, engine }) {
    await openHost(page);
    for (const tag of shareOf(TAGS, engine)) {
      const wrong = await page.evaluate(body, tag);
      assert.deepEqual(wrong, [], tag);
    }
    assert.deepEqual(await page.consoleErrors(), []);
  },
});

/** Whether two states are one but for what a hundredth of a pixel does to a number's last digit. */
function agree(state, expected) {
  const [found, wanted] = [state, expected].map((one) => JSON.stringify(one).split(/(-?\d+\.\d+)/));
  const near = (text, i) => {
    const last = 10 ** -(wanted[i].split(".")[1]?.length ?? 0);
    return Math.abs(text - wanted[i]) < Math.max(0.001, 1.5 * last);
  };
  const same = (text, i) => text === wanted[i] || (i % 2 === 1 && near(text, i));
  return found.length === wanted.length && found.every(same);
}

export default [
  each(
    "names on each of its controls the attribute that it sets, and hides those that its author names",
    async (tag) => {
      const { host } = window;
      const wrong = [];
      const note = (words) => wrong.push(words);
      const figure = await host.mount(tag);
      const fields = Object.keys(customElements.get(tag).fields);
      const namesOf = (element) => element.closest("[data-field]")?.dataset.field.split(" ") ?? [];
      const name = (control) => control.outerHTML.replace(/<!--.*?-->/g, "").slice(0, 120);
      const still = [];
      for (let i = 0; i < host.controls(figure).length; i++) {
        const control = host.controls(figure)[i];
        const names = namesOf(control);
        for (const wanted of names.filter((one) => !fields.includes(one))) note(`no attribute ${wanted}`);
        const before = figure.getState().state;
        host.use(control);
        await host.settle(figure);
        const after = figure.getState().state;
        const set = fields.filter((field) => !Object.is(before[field], after[field]));
        if (set.length === 0) still.push(control);
        else if (!set.some((field) => names.includes(field)))
          note(`${name(control)} sets ${set} and names ${names}`);
        if (set.length > 0) figure.reset();
        await host.settle(figure);
      }
      for (const control of still.filter((one) => one.isConnected && namesOf(one).length === 0)) {
        const known =
          /^(Measure|Stop measuring|Train|Train on|Pause|Step|Stop)$/.test(control.textContent.trim()) ||
          control.matches(".word");
        if (!known) note(`${name(control)} sets nothing`);
      }
      const places = (field) => host.all(figure, `[data-field~="${field}"]`);
      const seen = (field) => places(field).some(host.seen);
      const shown = fields.filter(seen);
      for (const field of fields) {
        figure.setAttribute("hide", field);
        await host.settle(figure);
        if (seen(field)) note(`${field} is hidden and seen`);
        if (host.problem(figure)) note(host.problem(figure));
        figure.removeAttribute("hide");
        await host.settle(figure);
        if (shown.includes(field) && !seen(field)) note(`${field} does not come back`);
      }
      figure.setAttribute("hide", fields.join(" "));
      await host.settle(figure);
      for (const control of host.controls(figure)) {
        if (!/^(Measure|Train|Pause|Step|Stop)$/.test(control.textContent.trim()))
          note(`${name(control)} stays`);
      }
      for (const group of host.all(figure, ".controls, .control, fieldset, .group, div[role=group]")) {
        if (group.checkVisibility()) note(`${name(group)} is an empty group`);
      }
      if (!host.drawn(figure)) note("no picture");
      figure.remove();
      return wrong;
    },
  ),

  each("hides its parts, and answers a name that it does not know in its place", async (tag) => {
    const { host } = window;
    const wrong = [];
    const figure = await host.mount(tag);
    const parts = ["title", "takeaway", "data", "export", "embed", "reset"];
    figure.setAttribute("hide", parts.join(" "));
    await host.settle(figure);
    for (const part of parts) {
      if (host.find(figure, `[data-field=${part}]`).checkVisibility()) wrong.push(`${part} is seen`);
    }
    if (host.find(figure, "footer").getBoundingClientRect().height > 0) wrong.push("the footer leaves a gap");
    const sentences = [];
    figure.addEventListener("pe-error", ({ detail }) => sentences.push(detail));
    figure.setAttribute("hide", "reset, colour");
    await host.settle(figure);
    host.use(host.controls(figure)[0]);
    await host.settle(figure);
    const sentence = host.problem(figure);
    if (!/^hide must name some of title, .*, got “colour”$/.test(sentence)) wrong.push(sentence);
    if (sentences.join() !== sentence) wrong.push(`pe-error: ${sentences.join("; ")}`);
    if (!host.drawn(figure)) wrong.push("no picture");
    if (host.find(figure, "[data-field=reset]").checkVisibility()) wrong.push("reset is seen");
    figure.setAttribute("hide", "reset");
    await host.settle(figure);
    if (host.problem(figure)) wrong.push(host.problem(figure));
    figure.remove();
    return wrong;
  }),

  each("gives its state and takes it back, in full or not at all", async (tag) => {
    const { host } = window;
    const wrong = [];
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    const { fields } = customElements.get(tag);
    const random = host.random(17);
    const value = (field) => {
      const among = (list) => list[Math.floor(random() * list.length)];
      if (field.kind === "flag") return random() < 0.5;
      if (field.kind === "choice") return among(field.choices);
      if (field.kind === "text")
        return random() < 0.7 ? field.fallback : among(["a cat sees the dog", "1 0.5 -2, 3"]);
      // small numbers as often as large ones, and even ones more often than not
      const span = Math.min(field.max - field.min, 300);
      const number = field.min + (span + 1) ** random() - 1;
      if (field.kind === "number") return number;
      const whole = Math.floor(number);
      return whole % 2 === 0 || whole === field.max || random() < 0.2 ? whole : whole + 1;
    };
    const figure = await host.mount(tag);
    const heard = [];
    for (const name of ["pe-change", "pe-ready"]) figure.addEventListener(name, () => heard.push(name));
    let taken = 0;
    for (let i = 0; i < 10; i++) {
      const before = figure.getState();
      const state = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, value(field)]));
      figure.setState({ version: 1, figure: tag.slice(3), state });
      if (!same(figure.getState().state, state)) wrong.push(`at once: ${JSON.stringify(figure.getState())}`);
      await host.settle(figure);
      const after = figure.getState();
      if (host.problem(figure)) {
        if (!same(after, before)) wrong.push(`refused and yet ${JSON.stringify(after)}`);
        figure.setState(before);
        await host.settle(figure);
        continue;
      }
      taken++;
      if (!same(after, { version: 1, figure: tag.slice(3), state })) {
        wrong.push(`${JSON.stringify(after)} of ${JSON.stringify(state)}`);
      }
      if (i > 1) continue;
      const other = await host.mount(tag);
      other.setState(JSON.parse(JSON.stringify(after)));
      await host.settle(other);
      if (!same(other.getState(), after)) wrong.push(`the other has ${JSON.stringify(other.getState())}`);
      const says = (one) => host.find(one, ".takeaway").textContent;
      if (says(other) !== says(figure)) wrong.push(`“${says(other)}” and “${says(figure)}”`);
      other.remove();
    }
    if (taken < 2) wrong.push(`only ${taken} states taken`);
    if (heard.length > 0) wrong.push(`heard ${heard}`);

    const good = figure.getState();
    const attributes = () => JSON.stringify([...figure.attributes].map(({ name, value }) => [name, value]));
    const stand = attributes();
    const [first] = Object.keys(fields);
    const refuses = (saved, kind, words) => {
      let error;
      try {
        figure.setState(saved);
      } catch (thrown) {
        error = thrown;
      }
      if (!(error instanceof kind)) wrong.push(`${JSON.stringify(saved)}: ${error}`);
      else if (!error.message.startsWith(words)) wrong.push(error.message);
      if (attributes() !== stand || !same(figure.getState(), good))
        wrong.push(`changed by ${JSON.stringify(saved)}`);
    };
    refuses({ ...good, version: "1" }, TypeError, 'version must be 1, got "1"');
    refuses(
      { ...good, figure: { toString: 1 } },
      TypeError,
      `figure must be "${tag.slice(3)}", got an object`,
    );
    refuses({ ...good, state: [] }, TypeError, "state must be an object, got an array");
    for (const none of [null, undefined, 7, "state", []])
      refuses(none, TypeError, "version must be 1, got undefined");
    refuses({ ...good, version: 2 }, TypeError, "version must be 1, got 2");
    refuses({ ...good, figure: "abacus" }, TypeError, `figure must be "${tag.slice(3)}", got "abacus"`);
    refuses({ ...good, state: null }, TypeError, "state must be an object");
    refuses({ ...good, state: { colour: 1 } }, TypeError, "state.colour is not an attribute");
    refuses({ ...good, state: { constructor: 1 } }, TypeError, "state.constructor is not an attribute");
    refuses(
      { ...good, state: { [first]: [1] } },
      TypeError,
      `state.${first} must be a number, a boolean or a string`,
    );
    for (const [name, field] of Object.entries(fields)) {
      const bad = {
        integer: [field.max + 1, field.min - 1, field.min + 0.5, Number.NaN, "", "many"],
        number: [field.max * 2, field.min - 1, Number.POSITIVE_INFINITY, "many"],
        choice: ["", "nonsense"],
        flag: ["perhaps", 2],
        text: ["x".repeat((field.maxLength ?? 0) + 1)],
      };
      for (const one of bad[field.kind]) {
        refuses({ ...good, state: { ...good.state, [name]: one } }, RangeError, `${name} must be `);
      }
    }
    const details = [];
    figure.addEventListener("pe-change", ({ detail }) => details.push(detail));
    await host.change(figure);
    if (details.length === 0 || !same(details.at(-1), figure.getState().state)) {
      wrong.push(`pe-change told ${JSON.stringify(details)}`);
    }
    figure.remove();
    return wrong;
  }),

  {
    name: "every figure that is lazy loads and computes nothing until it comes near, and is ready with its first picture",
    async run({ page }) {
      await openHost(page);
      await page.evaluate(async (tags) => {
        const { host } = window;
        const before = document.createElement("div");
        before.style.height = "6000px";
        document.body.append(before);
        window.ready = [];
        for (const tag of tags) {
          const figure = host.make(tag, { loading: "lazy" });
          const gap = document.createElement("div");
          gap.style.height = "3000px";
          figure.addEventListener("pe-ready", () => window.ready.push(tag));
          document.body.append(figure, gap);
        }
        await host.frames(5);
        await fetch("index.html"); // whatever was asked for before has been asked for
        await host.frames(5);
      }, TAGS);
      const asked = async () => (await page.requests()).filter((url) => url.endsWith(".wasm")).length;
      assert.equal(await asked(), 0);
      assert.deepEqual(await page.evaluate(() => window.ready), []);
      for (const [i, tag] of TAGS.entries()) {
        const seen = await page.evaluate(async (name) => {
          const figure = document.querySelector(name);
          if (window.host.drawn(figure)) return ["drawn too early"];
          figure.scrollIntoView({ behavior: "instant" });
          await figure.ready;
          const blank = [...figure.shadowRoot.querySelectorAll("canvas")].filter((canvas) => {
            const { width, height } = canvas;
            const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
            return pixels.every((value) => value === 0);
          });
          return [window.host.drawn(figure) ? "" : "no picture", blank.map(({ outerHTML }) => outerHTML)];
        }, tag);
        assert.deepEqual(seen, ["", []], tag);
        await page.waitFor((count) => window.ready.length === count, i + 1);
      }
      assert.deepEqual(await page.evaluate(() => window.ready), TAGS);
      assert.equal(await asked(), 1);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },

  each(
    "that is lazy and then eager, or hidden and then shown, or of no size and then of some, draws",
    async (tag) => {
      const { host } = window;
      const wrong = [];
      const place = document.createElement("div");
      document.body.append(place);
      const appears = async (what, attributes, before, then) => {
        const figure = host.make(tag, attributes);
        before?.(figure);
        place.append(figure);
        await host.frames(4);
        if (host.drawn(figure)) wrong.push(`${what}: drawn too early`);
        then(figure);
        await figure.ready;
        if (!host.drawn(figure)) wrong.push(`${what}: not drawn`);
        figure.remove();
      };
      place.style.marginTop = "9000px";
      const wake = (figure) => figure.setAttribute("loading", "eager");
      await appears("eager", { loading: "lazy" }, null, wake);
      place.style.marginTop = "";
      const show = (figure) => {
        figure.hidden = false;
      };
      const hide = (figure) => {
        figure.hidden = true;
      };
      await appears("shown", {}, hide, show);
      await appears("lazy and shown", { loading: "lazy" }, hide, show);
      place.style.width = "0";
      await appears("widened", {}, null, () => place.style.removeProperty("width"));
      place.style.display = "none";
      await appears("unfolded", {}, null, () => place.style.removeProperty("display"));
      place.style.cssText = "display: flex; flex-wrap: wrap";
      const figure = await host.mount(tag, {}, place);
      if (figure.getBoundingClientRect().width < 300) wrong.push("too narrow in a row of flexible boxes");
      place.remove();
      return wrong;
    },
  ),

  {
    name: "every figure takes the theme that its author, else its page, else the system sets, at once and everywhere",
    async run({ page, newPage }) {
      const GROUND = { light: "rgb(252, 251, 248)", dark: "rgb(22, 23, 26)" };
      const INK = { light: "rgb(28, 27, 25)", dark: "rgb(235, 232, 226)" };
      const shows = async (where, scheme, when) => {
        const seen = await where.evaluate(async () => {
          await window.host.frames(2);
          return window.figures.map((figure) => {
            const section = window.host.find(figure, "section");
            return [getComputedStyle(figure).backgroundColor, getComputedStyle(section).color];
          });
        });
        for (const [i, colours] of seen.entries())
          assert.deepEqual(colours, [GROUND[scheme], INK[scheme]], `${TAGS[i]} ${when}`);
      };
      const fill = (where) =>
        where.evaluate(async (tags) => {
          window.figures = [];
          for (const tag of tags) window.figures.push(await window.host.mount(tag));
        }, TAGS);
      const mark = (element, attribute, value) =>
        page.evaluate(
          ([selector, name, given]) => {
            const marked = document.querySelector(selector);
            if (given === null) marked.removeAttribute(name);
            else marked.setAttribute(name, given);
          },
          [element, attribute, value],
        );
      const theme = (value) =>
        page.evaluate((name) => {
          for (const figure of window.figures) figure.setAttribute("theme", name);
        }, value);
      await openHost(page);
      await fill(page);
      await shows(page, "light", "on a light system");
      const marks = [
        ["body", "data-md-color-scheme", "slate", "default"],
        ["html", "data-theme", "dark", "light"],
        ["html", "data-bs-theme", "dark", "light"],
        ["body", "data-jp-theme-light", "false", "true"],
        ["html", "class", "dark", "light"],
        ["body", "class", "quarto-dark", "quarto-light"],
      ];
      for (const [element, attribute, dark, light] of marks) {
        await mark(element, attribute, dark);
        await shows(page, "dark", `with ${attribute}=${dark}`);
        await theme("light");
        await shows(page, "light", `light, with ${attribute}=${dark}`);
        await theme("auto");
        await mark(element, attribute, light);
        await shows(page, "light", `with ${attribute}=${light}`);
        await theme("dark");
        await shows(page, "dark", `dark, with ${attribute}=${light}`);
        await theme("auto");
        await mark(element, attribute, null);
      }
      await page.evaluate(() => {
        document.body.style.backgroundColor = "#102030";
        document.documentElement.classList.add("changed");
      });
      await shows(page, "dark", "on dark ground");
      const dark = await newPage({ colorScheme: "dark" });
      await openHost(dark);
      await fill(dark);
      await shows(dark, "dark", "on a dark system");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },

  each("looks, after its theme has changed, like one that began in it", async (tag) => {
    const { host } = window;
    const place = document.createElement("div");
    place.style.width = "900px";
    document.body.append(place);
    const wrong = [];
    for (const [from, to] of [
      ["light", "dark"],
      ["dark", "light"],
    ]) {
      const began = await host.mount(tag, { theme: to }, place);
      const expected = host.look(began);
      began.remove();
      const figure = await host.mount(tag, { theme: from }, place);
      if (host.differences(host.look(figure), expected).length === 0)
        wrong.push("light and dark look the same");
      figure.setAttribute("theme", to);
      await host.settle(figure);
      wrong.push(...host.differences(host.look(figure), expected));
      figure.remove();
    }
    place.remove();
    return wrong;
  }),

  each("mounts and unmounts a dozen times and is one figure still", async (tag) => {
    const { host } = window;
    const wrong = [];
    const figure = await host.mount(tag);
    const said = host.find(figure, ".takeaway").textContent;
    const [first, second] = [document.createElement("div"), document.createElement("p")];
    document.body.append(first, second);
    const heard = [];
    for (const name of ["pe-ready", "pe-change", "pe-error"])
      figure.addEventListener(name, () => heard.push(name));
    for (let i = 0; i < 12; i++) {
      figure.remove();
      await host.frames(i % 3);
      (i % 2 ? first : second).append(figure);
      await host.frames(i % 4);
    }
    await host.settle(figure);
    for (const selector of ["section", "h3", "footer", "[data-picture]", "details.data"]) {
      if (host.all(figure, selector).length !== 1)
        wrong.push(`${host.all(figure, selector).length} ${selector}`);
    }
    if (heard.length > 0) wrong.push(`heard ${heard}`);
    if (host.find(figure, ".takeaway").textContent !== said) wrong.push("another takeaway");
    await host.change(figure);
    if (heard.join() !== "pe-change") wrong.push(`heard ${heard}`);
    for (let i = 0; i < 12; i++) {
      const other = host.make(tag);
      first.append(other);
      await host.frames(i % 4);
      other.remove();
    }
    figure.remove();
    await host.frames(2);
    const changes = [];
    const observer = new MutationObserver((records) => changes.push(...records));
    const everything = { subtree: true, childList: true, characterData: true, attributes: true };
    observer.observe(figure.shadowRoot, everything);
    figure.setAttribute("theme", "dark");
    document.body.dataset.theme = "dark";
    figure.reset();
    figure.setState({ ...figure.getState() });
    await host.frames(4);
    delete document.body.dataset.theme;
    if (changes.length > 0) wrong.push(`${changes.length} changes after it has gone`);
    observer.disconnect();
    first.remove();
    second.remove();
    return wrong;
  }),

  each("may be moved or taken away while it loads, or changed while it is away", async (tag) => {
    const { host } = window;
    const wrong = [];
    const [first, second] = [document.createElement("div"), document.createElement("div")];
    document.body.append(first, second);
    const whole = (figure, what) => {
      if (!host.drawn(figure)) wrong.push(`${what}: no picture`);
      if (host.all(figure, "section").length !== 1)
        wrong.push(`${what}: ${host.all(figure, "section").length} figures`);
      if (host.problem(figure)) wrong.push(`${what}: ${host.problem(figure)}`);
    };
    const moved = host.make(tag);
    first.append(moved);
    second.append(moved);
    await host.ready(moved);
    whole(moved, "moved");

    const away = host.make(tag);
    let heard = 0;
    for (const name of ["pe-ready", "pe-error"]) away.addEventListener(name, () => heard++);
    first.append(away);
    away.remove();
    await host.frames(6);
    if (heard > 0 || host.drawn(away)) wrong.push("drawn where it is not");
    first.append(away);
    await host.ready(away);
    whole(away, "away");

    const [name, field] = Object.entries(customElements.get(tag).fields).find(
      ([, { kind }]) => kind === "choice" || kind === "flag" || kind === "integer",
    );
    const other = {
      choice: field.choices?.find((one) => one !== field.fallback),
      flag: !field.fallback,
      integer: field.fallback + 2 <= field.max ? field.fallback + 2 : field.fallback - 2,
    }[field.kind];
    moved.remove();
    moved.setAttribute(name, other);
    await host.frames(4);
    second.append(moved);
    await host.settle(moved);
    whole(moved, "changed");
    if (moved.getState().state[name] !== other)
      wrong.push(`${name} is ${moved.getState().state[name]}, not ${other}`);
    const early = host.make(tag, { [name]: other });
    first.append(early);
    const late = host.make(tag);
    first.append(late);
    late.setAttribute(name, other);
    await Promise.all([host.ready(early), host.ready(late)]);
    await host.settle(early, late);
    for (const figure of [early, late]) {
      if (figure.getState().state[name] !== other) wrong.push(`${name} is ${figure.getState().state[name]}`);
      if (host.find(figure, ".takeaway").textContent !== host.find(moved, ".takeaway").textContent)
        wrong.push("another takeaway");
    }
    first.remove();
    second.remove();
    return wrong;
  }),

  each("can be cloned: the clone begins where the figure stands, and goes its own way", async (tag) => {
    const { host } = window;
    const wrong = [];
    const figure = await host.mount(tag, { hide: "export" });
    await host.change(figure);
    const stands = JSON.stringify(figure.getState());
    const says = host.find(figure, ".takeaway").textContent;
    const place = document.createElement("div");
    const original = figure.parentElement.appendChild(place);
    original.append(figure);
    const [clone] = original.cloneNode(true).children;
    document.body.append(clone);
    await host.ready(clone);
    await host.settle(clone);
    if (JSON.stringify(clone.getState()) !== stands)
      wrong.push(`the clone has ${JSON.stringify(clone.getState())}`);
    if (host.find(clone, ".takeaway").textContent !== says) wrong.push("another takeaway");
    if (host.all(clone, "section").length !== 1) wrong.push(`${host.all(clone, "section").length} figures`);
    if (host.find(clone, "[data-field=export]").checkVisibility()) wrong.push("the clone does not hide");
    await host.change(clone);
    if (JSON.stringify(figure.getState()) !== stands) wrong.push("the figure goes with its clone");
    clone.reset();
    await host.settle(clone);
    if (JSON.stringify(clone.getState()) !== stands) wrong.push("the clone was reset to something else");
    clone.remove();
    place.remove();
    return wrong;
  }),

  each("moves into a frame's document and back, or begins there, in full dress", async (tag) => {
    const { host } = window;
    const wrong = [];
    const frame = document.createElement("iframe");
    frame.style.cssText = "width: 900px; height: 500px; border: 0";
    frame.srcdoc = "<!doctype html><title>A frame</title>";
    const loaded = new Promise((done) => frame.addEventListener("load", done));
    document.body.append(frame);
    await loaded;
    const { contentDocument: inner, contentWindow: view } = frame;
    const place = document.createElement("div");
    place.style.width = "860px";
    document.body.append(place);
    const inside = inner.createElement("div");
    inside.style.width = "860px";
    inner.body.append(inside);
    const dressed = async (figure, what, expected) => {
      await host.ready(figure);
      await host.settle(figure);
      wrong.push(...host.differences(host.look(figure), expected).map((words) => `${what}: ${words}`));
    };
    const figure = await host.mount(tag, {}, place);
    const look = host.look(figure);
    inside.append(figure);
    await dressed(figure, "moved", look);
    inner.body.className = "dark";
    await host.frames(2);
    const ground = view.getComputedStyle(figure).backgroundColor;
    if (ground !== "rgb(22, 23, 26)") wrong.push(`ground in the dark frame: ${ground}`);
    inner.body.className = "";
    await host.frames(2);
    await host.change(figure);
    if (host.differences(host.look(figure), look).length === 0) wrong.push("does not change in the frame");
    const bitmap = await createImageBitmap(await figure.toPNG());
    if (bitmap.width < 300 || !figure.toSVG().includes("<text"))
      wrong.push("no picture to take from the frame");
    const changed = host.look(figure);
    place.append(inner.adoptNode(figure));
    await dressed(figure, "back", changed);
    figure.remove();
    const born = document.createElement(tag);
    inside.append(born);
    await dressed(born, "born there", look);
    frame.remove();
    place.remove();
    return wrong;
  }),

  {
    name: "a drag ends when its figure leaves the page",
    async run({ page }) {
      await openHost(page);
      await page.evaluate(async () => {
        window.figure = await window.host.mount("pe-rope");
      });
      const at = await page.box("pe-rope >> #tip-q .dot");
      const from = { x: at.x + at.width / 2, y: at.y + at.height / 2 };
      const state = () => page.evaluate(() => window.figure.getState().state);
      const before = await state();
      await page.pointer("move", from);
      await page.pointer("down", from);
      await page.evaluate(async () => {
        window.figure.remove();
        document.body.append(window.figure);
        await window.host.settle(window.figure);
      });
      await page.pointer("move", { x: from.x + 30, y: from.y + 4 });
      await page.pointer("up", { x: from.x + 30, y: from.y + 4 });
      await page.hover(from);
      assert.deepEqual(await state(), before);
      await page.drag(from, { dx: 12, dy: 6 });
      assert.notDeepEqual(await state(), before);
    },
  },

  each("keeps the keys that it uses, and leaves the others to the page", async (tag) => {
    const { host } = window;
    const wrong = [];
    const figure = await host.mount(tag);
    const heard = [];
    const hear = (event) => heard.push(event);
    document.addEventListener("keydown", hear);
    const keys = [
      "ArrowLeft",
      "ArrowRight",
      "ArrowUp",
      "ArrowDown",
      "Home",
      "End",
      "PageUp",
      "PageDown",
      "Enter",
    ];
    keys.push(" ", "Escape", "Tab", "a", "n", "+", "-", "0", "/", "F5");
    const chords = [{}, { shiftKey: true }, { altKey: true }, { ctrlKey: true }, { metaKey: true }];
    const stops = "a[href], button, input, select, summary, [tabindex='0']";
    let kept = 0;
    const grids = host.all(figure, "[role=grid], [role=slider], button.word").length;
    for (let i = 0; i < host.all(figure, stops).length; i++) {
      const target = host.all(figure, stops)[i];
      if (!target.checkVisibility() || target.matches(":disabled")) continue;
      const native = target.matches("button, input, select, summary");
      for (const chord of chords) {
        for (const key of keys) {
          const stop = target.isConnected ? target : host.all(figure, stops)[i];
          const name = `${Object.keys(chord)}${key} on ${stop.outerHTML.replace(/<!--.*?-->/g, "").slice(0, 70)}`;
          const before = JSON.stringify(figure.getState());
          heard.length = 0;
          const event = new KeyboardEvent("keydown", {
            key,
            ...chord,
            bubbles: true,
            cancelable: true,
            composed: true,
          });
          stop.dispatchEvent(event);
          if (event.defaultPrevented) kept++;
          if (JSON.stringify(figure.getState()) !== before && !event.defaultPrevented)
            wrong.push(`${name} acts and goes on`);
          if (event.defaultPrevented && heard.length > 0) wrong.push(`${name} acts and is heard`);
          if (event.defaultPrevented && (chord.altKey || chord.metaKey))
            wrong.push(`${name} is the browser's`);
          if (event.defaultPrevented && key.length === 1 && chord.ctrlKey)
            wrong.push(`${name} is the browser's`);
          if (event.defaultPrevented && (key === "Tab" || key === "F5"))
            wrong.push(`${name} is the browser's`);
          if (!event.defaultPrevented && !native && heard.length === 0)
            wrong.push(`${name} does nothing and is kept`);
          if (key === "Tab" && heard.length === 0) wrong.push(`${name} is kept`);
          if (key === "Escape" && !event.defaultPrevented && heard.length === 0)
            wrong.push(`${name} is kept`);
        }
      }
      await host.frames(2);
    }
    if (grids > 0 && kept === 0) wrong.push("no key is used");
    document.removeEventListener("keydown", hear);
    figure.remove();
    return wrong;
  }),

  each("draws what whoever hears of its error has mended, and takes no width from its host", async (tag) => {
    const { host } = window;
    const figure = await host.mount(tag);
    const before = JSON.stringify(figure.getState());
    await new Promise((done) => setTimeout(done, 800)); // until it has spoken, and nothing is under way
    const [name] = Object.entries(customElements.get(tag).fields).find(([, { kind }]) => kind !== "text");
    figure.addEventListener("pe-error", () => figure.removeAttribute(name), { once: true });
    figure.setAttribute(name, "<b>");
    for (let i = 0; i < 4; i++) await host.settle(figure);
    const wrong = host.problem(figure) ? [host.problem(figure)] : [];
    for (const width of ["100%", Number.NaN, 1e7]) {
      figure.width = width;
      await host.settle(figure);
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth > clientWidth) wrong.push(`${scrollWidth} px wide after ${width}`);
    }
    if (JSON.stringify(figure.getState()) !== before) wrong.push(JSON.stringify(figure.getState()));
    figure.remove();
    return wrong;
  }),

  {
    name: "Tab goes through every figure and out of it, and back",
    async run({ page, engine }) {
      await openHost(page);
      for (const tag of shareOf(TAGS, engine)) {
        const stops = await page.evaluate(async (name) => {
          const button = (id) => Object.assign(document.createElement("button"), { id, textContent: id });
          const figure = window.host.make(name);
          document.body.replaceChildren(button("before"), figure, button("after"));
          await window.host.ready(figure);
          await window.host.settle(figure);
          document.querySelector("#before").focus();
          return window.host.all(figure, "button, input, select, summary, [tabindex]").length;
        }, tag);
        const active = () =>
          page.evaluate(() => {
            const { activeElement } = document;
            const inner = activeElement.shadowRoot?.activeElement;
            return activeElement.id || [...activeElement.shadowRoot.querySelectorAll("*")].indexOf(inner);
          });
        const walk = async (key, end) => {
          const seen = [];
          while (seen.at(-1) !== end) {
            await page.press(key);
            seen.push(await active());
            assert.ok(seen.length <= stops + 1, `${tag}: ${key} does not leave: ${seen}`);
          }
          return seen.slice(0, -1);
        };
        const there = await walk("Tab", "after");
        const back = await walk("Shift+Tab", "before");
        assert.ok(there.length > 3, `${tag}: ${there.length} stops`);
        assert.equal(new Set(there).size, there.length, `${tag}: a stop twice`);
        if (engine !== "webkit") assert.deepEqual(back.reverse(), there, tag);
      }
    },
  },

  each("looks the same in a page of hostile rules, 320 pixels wide, and keeps within them", async (tag) => {
    const { host } = window;
    const wrong = [];
    const place = document.createElement("div");
    place.className = "place";
    document.body.append(place);
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [sheet];
    sheet.replaceSync(".place { width: 320px }");
    const plain = await host.mount(tag, {}, place);
    const expected = host.look(plain);
    plain.remove();
    const pages = [
      "html { font-size: 62.5% }",
      "html { font-size: 150% } body { font: 18px/1.6 serif }",
      `html { font-size: 40px }
         * { box-sizing: content-box; line-height: 3; letter-spacing: 2px; word-spacing: 9px; text-indent: 3em;
           text-transform: uppercase; text-align: right; font: italic bold 30px cursive; font-variant: small-caps;
           white-space: nowrap; color: red; fill: red; stroke: red; cursor: wait; text-shadow: 1px 1px red;
           list-style: square; -webkit-text-fill-color: red; text-wrap: balance; overflow-wrap: anywhere;
           hyphens: auto; tab-size: 20; quotes: none; border-collapse: separate; border-spacing: 9px }
         div { display: inline } .place { display: block !important; width: 320px; box-sizing: border-box }
         button { all: unset } input, select { width: 100%; height: 60px; border: 9px solid red }
         svg, canvas, img { max-width: 10%; display: none } table, td, th { border: 5px solid red; padding: 20px }
         section, h3, p, details, summary, label, footer, fieldset { display: none; margin: 50px; padding: 50px }`,
    ];
    for (const [i, rules] of pages.entries()) {
      sheet.replaceSync(`.place { width: 320px } ${rules}`);
      const figure = await host.mount(tag, {}, place);
      const look = host.look(figure);
      wrong.push(...host.differences(look, expected).map((words) => `page ${i}: ${words}`));
      const { left, right } = figure.getBoundingClientRect();
      // ink, but for what a drawing cuts off and for half the label of a tick at the edge
      for (const element of host.all(figure, "section *")) {
        if (element.childElementCount > 0 || !host.seen(element)) continue;
        if (element.closest(".scroll, .unseen, .items, defs, [clip-path]")) continue;
        const box = element.getBoundingClientRect();
        const out = Math.max(box.right - right, left - box.left);
        if (out > 5)
          wrong.push(`page ${i}: ${element.outerHTML.slice(0, 90)} stands out by ${out.toFixed(1)} px`);
      }
      const { scrollWidth, clientWidth } = figure;
      if (scrollWidth > clientWidth) wrong.push(`page ${i}: ${scrollWidth} px in ${clientWidth} px`);
      figure.remove();
    }
    document.adoptedStyleSheets = [];
    place.remove();
    return wrong;
  }),

  each("has ticks that do not touch, however narrow it is", async (tag) => {
    const { host } = window;
    const wrong = [];
    const place = document.createElement("div");
    document.body.append(place);
    for (const width of [288, 304, 328, 360, 400, 560, 640, 768]) {
      place.style.width = `${width}px`;
      const figure = await host.mount(tag, {}, place);
      for (const axis of host.all(figure, ".axis")) {
        const texts = [...axis.querySelectorAll("text")].map((text) => [
          text.textContent.trim(),
          text.getBoundingClientRect(),
        ]);
        for (const [i, [words, a]] of texts.entries()) {
          for (const [others, b] of texts.slice(i + 1)) {
            const apart = Math.max(a.left - b.right, b.left - a.right);
            const above = Math.max(a.top - b.bottom, b.top - a.bottom);
            if (apart < 3 && above < -4)
              wrong.push(`${width} px: ${words} and ${others} are ${apart.toFixed(1)} px apart`);
          }
        }
      }
      figure.remove();
    }
    place.remove();
    return wrong;
  }),

  each("offers pictures of one size and look, however its page is scaled", async (tag) => {
    const { host } = window;
    const wrong = [];
    const place = document.createElement("div");
    place.style.cssText = "width: 777.5px; transform-origin: 0 0";
    document.body.append(place);
    const figure = await host.mount(tag, {}, place);
    const taken = async () => {
      const bitmap = await createImageBitmap(await figure.toPNG());
      const { width, height } = bitmap;
      const canvas = Object.assign(document.createElement("canvas"), { width: 160, height: 120 });
      const context = canvas.getContext("2d");
      context.drawImage(bitmap, 0, 0, 160, 120);
      const drawing = figure.toSVG();
      const number = (tag, name) => Number(tag.match(new RegExp(` ${name}="([^"]*)"`))?.[1]);
      const boxes = (tags) =>
        tags.map((tag) => ["x", "y", "width", "height"].map((name) => number(tag, name)));
      const [whole, ...inner] = drawing.match(/<(svg|image) [^>]*>/g);
      const size = ["width", "height"].map((name) => number(whole, name));
      const parts = boxes(inner);
      return { png: [width, height], svg: size, parts, pixels: context.getImageData(0, 0, 160, 120).data };
    };
    const plain = await taken();
    for (const transform of ["scale(0.5)", "translate(40px, 30px) scale(1.5)"]) {
      place.style.transform = transform;
      await host.frames(2);
      const scaled = await taken();
      for (const part of ["png", "svg"]) {
        if (scaled[part].join() !== plain[part].join())
          wrong.push(`${part} of ${scaled[part]}, not ${plain[part]}`);
      }
      const moved = scaled.parts
        .flat()
        .findIndex((value, i) => Math.abs(value - plain.parts.flat()[i]) > 0.3);
      if (moved >= 0) wrong.push(`SVG: ${scaled.parts} instead of ${plain.parts}`);
      let sum = 0;
      for (const [i, value] of scaled.pixels.entries()) sum += Math.abs(value - plain.pixels[i]);
      const mean = sum / plain.pixels.length;
      if (mean > 1) wrong.push(`${transform}: the PNG differs by ${mean.toFixed(2)} of 255`);
    }
    place.remove();
    return wrong;
  }),

  each("keeps its picture where it is while the pointer reads it", async (tag) => {
    const { host } = window;
    const wrong = [];
    Element.prototype.setPointerCapture = () => {}; // no pointer of the system's is captured
    const place = document.createElement("div");
    document.body.append(place);
    for (const width of [350, 440, 540, 640, 740, 840, 960]) {
      place.style.width = `${width}px`;
      const figure = await host.mount(tag, {}, place);
      const random = host.random(width);
      const top = () =>
        host.find(figure, "[data-picture]").getBoundingClientRect().top - figure.getBoundingClientRect().top;
      const [before, tops] = [top(), new Set()];
      for (let i = 0; i < 20; i++) {
        const parts = host.all(figure, "[data-picture], [data-picture] :is(canvas, svg, .grid, g, button)");
        const target = parts[Math.floor(random() * parts.length)];
        const { x, y, width, height } = target.getBoundingClientRect();
        const [clientX, clientY] = [x + random() * width, y + random() * height];
        const at = { clientX, clientY, screenX: clientX, screenY: clientY };
        const given = { ...at, pointerType: "mouse", isPrimary: true, bubbles: true, composed: true };
        for (const [type, buttons] of [
          ["pointermove", 0],
          ["pointerdown", 1],
          ["pointermove", 1],
          ["pointerup", 0],
        ])
          target.dispatchEvent(new PointerEvent(type, { ...given, buttons }));
        await figure.updateComplete;
        tops.add(top());
      }
      const moved = Math.max(...[...tops].map((one) => Math.abs(one - before)));
      if (moved > 0.5) wrong.push(`at ${width} px it moves by ${moved.toFixed(1)} px`);
      figure.remove();
    }
    place.remove();
    return wrong;
  }),

  {
    name: "every figure reads the pointer at the same place, however its page is scaled",
    async run({ page, engine }) {
      await openHost(page);
      const idle = [];
      for (const tag of shareOf(TAGS, engine)) {
        const spots = await page.evaluate(async (name) => {
          const { host } = window;
          const place = document.createElement("div");
          place.style.cssText = "position: absolute; left: 0; top: 0; width: 800px; transform-origin: 0 0";
          document.body.replaceChildren(place);
          document.body.style.height = "9000px"; // no spot ends where the page does
          window.figure = await host.mount(name, {}, place);
          const from = place.getBoundingClientRect();
          // where something listens: even pixels, so that half of them are whole
          const targets = [
            host.find(window.figure, "[data-picture]"),
            ...host.all(
              window.figure,
              "svg.fan-drawing, svg.plot, svg.curve, svg.curves, g.map.rope, #tip-q, #tip-k, button.word, canvas.map, .grid",
            ),
          ];
          return targets.flatMap((target) => {
            const box = target.getBoundingClientRect();
            return [
              [0.29, 0.37],
              [0.64, 0.62],
            ].map(([x, y]) => ({
              x: 2 * Math.round((box.x - from.x + x * box.width) / 2),
              y: 2 * Math.round((box.y - from.y + y * box.height) / 2),
            }));
          });
        }, tag);
        const read = async (zoom, { x, y }) => {
          const scroll = await page.evaluate(
            async ([scale, top]) => {
              window.figure.parentElement.style.transform = `scale(${scale})`;
              window.figure.reset();
              await window.host.settle(window.figure);
              scrollTo({ top: Math.max(0, top - 300), behavior: "instant" });
              return scrollY;
            },
            [zoom, y * zoom],
          );
          const at = { x: x * zoom, y: y * zoom - scroll };
          await page.drag(at, { dx: 60 * zoom, dy: 12 * zoom }, { steps: 2 });
          return page.evaluate(async () => {
            await window.host.settle(window.figure);
            const read = window.host.all(window.figure, ".readout").map(({ textContent }) => textContent);
            return { ...window.figure.getState().state, read: read.join() };
          });
        };
        const plain = [];
        for (const spot of spots) plain.push(await read(1, spot));
        for (const [i, spot] of spots.entries()) {
          const scaled = await read(0.5, spot);
          if (agree(scaled, plain[i])) continue;
          // where a cell ends, it is a pixel's rounding which one is read
          const beside = [];
          for (const [dx, dy] of [
            [-1, 0],
            [1, 0],
            [0, -1],
            [0, 1],
          ])
            beside.push(await read(1, { x: spot.x + dx, y: spot.y + dy }));
          if (!beside.some((state) => agree(scaled, state))) assert.deepEqual(scaled, plain[i], tag);
        }
        if (new Set(plain.map((state) => JSON.stringify(state))).size === 1) idle.push(tag);
      }
      const expected = ["pe-precision", "pe-train"].filter((tag) => shareOf(TAGS, engine).includes(tag));
      assert.deepEqual(idle, expected, "figures whose picture takes no pointer");
    },
  },
  {
    name: "a mouse at rest reads nothing when its page is scrolled under it, and reads once it is moved",
    async run({ page, engine }) {
      await openHost(page);
      const read = [];
      for (const tag of shareOf(TAGS, engine)) {
        const at = await page.evaluate(async (name) => {
          const { host } = window;
          document.body.replaceChildren();
          document.body.style.cssText = "height: 9000px; padding-top: 3000px";
          window.figure = await host.mount(name);
          const picture = host.find(window.figure, "canvas.map, .grid, svg.plot, [data-picture]");
          picture.scrollIntoView({ block: "center", behavior: "instant" });
          const { x, y, width, height } = picture.getBoundingClientRect();
          return { x: x + 0.43 * width, y: y + 0.57 * height };
        }, tag);
        const states = page.evaluate.bind(page, async () => {
          const { figure, host } = window;
          for (let i = 0; i < 4; i++) await host.settle(figure);
          const text = host.all(figure, ".readout").map(({ textContent }) => textContent);
          return { ...figure.getState().state, read: text.join() };
        });
        await page.pointer("move", { x: 2, y: 2 });
        const first = await states();
        await page.pointer("move", at);
        const there = await states();
        if (JSON.stringify(first) === JSON.stringify(there)) continue; // moves alone are not read
        read.push(tag);
        await page.evaluate(async () => {
          scrollBy({ top: 60, behavior: "instant" });
          await new Promise((done) => setTimeout(done, 400)); // by then engines have looked what is under the mouse
        });
        assert.deepEqual(await states(), there, tag);
      }
      const least = shareOf(TAGS, engine).length / 6;
      assert.ok(read.length > least, `${read.join()} read a mouse that is moved`);
    },
  },
  {
    name: "a figure that its page moves keeps a state that is newer than the address",
    async run({ page, assert }) {
      await openHost(page);
      await page.goto(`${await page.evaluate(() => location.href)}?heat.d-model=16`);
      await page.waitFor(() => customElements.get("pe-heatmap") !== undefined);
      const found = await page.evaluate(async () => {
        const { host } = window;
        const figure = await host.mount("pe-heatmap", { "url-key": "heat" });
        const sizes = [figure.getState().state["d-model"]];
        figure.setState({ version: 1, figure: "heatmap", state: { "d-model": 32 } });
        const box = document.createElement("div");
        document.body.append(box);
        box.append(figure);
        await host.settle(figure);
        return [...sizes, figure.getState().state["d-model"]];
      });
      assert.deepEqual(found, [16, 32]);
    },
  },
  {
    name: "the address holds a figure's state also where the reader chose the fallback and the author did not",
    async run({ page, assert }) {
      await openHost(page);
      await page.evaluate(async () => {
        const figure = await window.host.mount("pe-heatmap", { "url-key": "heat", "d-model": "64" });
        const field = window.host.find(figure, '[data-field="d-model"] input[type="number"]');
        field.value = "128";
        field.dispatchEvent(new Event("change"));
      });
      await page.waitFor(() => location.search === "?heat.d-model=128");
      await page.goto(await page.evaluate(() => location.href));
      await page.waitFor(() => customElements.get("pe-heatmap") !== undefined);
      const again = await page.evaluate(async () => {
        const figure = await window.host.mount("pe-heatmap", { "url-key": "heat", "d-model": "64" });
        return figure.getState().state["d-model"];
      });
      assert.equal(again, 128);
    },
  },
  {
    name: "a wrong value in the address or the page refuses no change of the reader's",
    async run({ page, assert }) {
      await openHost(page);
      await page.goto(`${await page.evaluate(() => location.href)}?rope.n=__proto__&rope.m=20`);
      await page.waitFor(() => customElements.get("pe-rope") !== undefined);
      const found = await page.evaluate(async () => {
        const { host } = window;
        const results = [];
        // the second keeps each field's rule, but not all of them together
        for (const attributes of [{ "url-key": "rope" }, { m: "20", "head-dim": "7" }]) {
          const figure = await host.mount("pe-rope", attributes);
          const problem = host.problem(figure);
          const field = host.find(figure, '[data-field="m"] input[type="number"]');
          field.value = "30";
          field.dispatchEvent(new Event("change"));
          await host.settle(figure);
          results.push([problem, figure.getState().state.m, host.problem(figure)]);
        }
        return results;
      });
      assert.deepEqual(found, [
        ["n must be a whole number from 0 to 4096, got “__proto__”", 30, ""],
        ["head-dim must be even, got 7", 30, ""],
      ]);
      await page.waitFor(() => location.search === "?rope.m=30");
    },
  },
  {
    name: "configure names an option that is none, and a file that is no module is said by its address",
    async run({ page, assert }) {
      await openHost(page);
      const found = await page.evaluate(async () => {
        const { configure } = await import("./posenc.js");
        const said = [];
        for (const options of [null, "posenc.wasm", { wasmURL: "posenc.wasm" }, { wasmUrl: 5 }]) {
          try {
            configure(options);
          } catch (error) {
            said.push(`${error.name}: ${error.message}`);
          }
        }
        configure({ wasmUrl: "index.html" });
        const figure = window.host.make("pe-heatmap");
        document.body.append(figure);
        await figure.ready.catch(({ message }) => said.push(message));
        return said;
      });
      const address = await page.evaluate(() => new URL("index.html", location.href).href);
      assert.deepEqual(found, [
        "TypeError: options must be an object, got null",
        'TypeError: options must be an object, got "posenc.wasm"',
        'TypeError: options has no field "wasmURL"; it has wasmUrl, wasmBinary, simd, wasm',
        "TypeError: wasmUrl must be a string or a URL, got 5",
        `The core that computes this figure did not load (${address} is no WebAssembly module). Reloading the page tries again.`,
      ]);
    },
  },
];
