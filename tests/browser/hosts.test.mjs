// The figures in the pages of others: MkDocs with Material, Sphinx with Furo, reveal.js, React. The sources of those
// pages stand in tests/hosts/. What only Chromium can count, objects that are alive, it alone is asked for.
import { setTimeout as wait } from "node:timers/promises";
import { hosts } from "./hosts.mjs";

const HEATMAP = "pe-heatmap";
const NAVIGATIONS = 50;

/** Waits until a figure of the page has drawn its first picture. */
async function drawn(page, tag = HEATMAP) {
  await page.waitFor((name) => document.querySelector(name)?.shadowRoot?.querySelector("footer"), tag);
  await page.evaluate((name) => document.querySelector(name).ready, tag);
}

/** Brightness from 0 to 1 of what a figure writes and of the ground that it paints. */
const brightness = (page, tag = HEATMAP) =>
  page.evaluate((name) => {
    const figure = document.querySelector(name);
    const of = (colour) => {
      const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
      return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
    };
    const text = figure.shadowRoot.querySelector(".readout .pos, h3");
    return { ink: of(getComputedStyle(text).color), ground: of(getComputedStyle(figure).backgroundColor) };
  }, tag);

/** A figure's colours are those of a scheme. A figure learns of a change in a microtask. */
async function wears(assert, page, scheme, tag = HEATMAP) {
  const { ink, ground } = await brightness(page, tag);
  const [light, dark] = scheme === "dark" ? [ink, ground] : [ground, ink];
  assert.ok(light > 0.6 && dark < 0.4, `${scheme}: ink ${ink}, ground ${ground}`);
}

const focus = (page, selector, tag = HEATMAP) =>
  page.evaluate(
    ([name, wanted]) => document.querySelector(name).shadowRoot.querySelector(wanted).focus(),
    [tag, selector],
  );

const focused = (page) => page.evaluate(() => document.activeElement?.localName);

/** Takes the focus out of the figure, as a click on the page's text does. */
const leave = (page) => page.evaluate(() => document.activeElement?.blur());

/** Keys that a figure uses, each on the control that uses it: the page's `place` stays what it is. */
async function keepsKeys(assert, page, keys, place, tag = HEATMAP) {
  const before = await page.evaluate(place);
  for (const [selector, ...pressed] of keys) {
    await focus(page, selector, tag);
    for (const key of pressed) {
      await page.press(key);
      assert.equal(await page.evaluate(place), before, `${key} on ${selector}`);
      assert.equal(await focused(page), tag, `focus after ${key} on ${selector}`);
    }
  }
}

/** Tab goes through the figure, from its first control to what follows it on the page. */
async function isLeftByTab(assert, page, tag = HEATMAP) {
  const stops = await page.evaluate((name) => {
    const found = document
      .querySelector(name)
      .shadowRoot.querySelectorAll("button, input, select, summary, [tabindex]");
    found[0].focus();
    return found.length;
  }, tag);
  let presses = 0;
  for (; presses <= stops && (await focused(page)) === tag; ++presses) await page.press("Tab");
  assert.ok(presses > 3 && presses <= stops, `${presses} presses of Tab for ${stops} controls`);
}

/** A click in the middle of a cell of the heatmap makes it the active one. */
async function isReadAt(assert, page, row, column) {
  const point = await page.evaluate(
    ([r, c]) => {
      const { left, top, width, height } = document
        .querySelector("pe-heatmap")
        .shadowRoot.querySelector("canvas.map")
        .getBoundingClientRect();
      return { x: left + ((r + 0.5) / 40) * width, y: top + ((c + 0.5) / 64) * height };
    },
    [row, column],
  );
  await page.click(point);
  const read = await page.waitFor(
    ([r, c]) => {
      const { state } = document.querySelector("pe-heatmap").getState();
      return (state.row === r && state.column === c) || null;
    },
    [row, column],
  );
  assert.equal(read, true);
}

/** From now on, the page knows the figures that `travel` shows and all observers that are made. */
const watchLives = (page) =>
  page.evaluate(() => {
    window.lives = { figures: [] };
    for (const name of ["MutationObserver", "ResizeObserver", "IntersectionObserver"]) {
      window.lives[name] = [];
      window[name] = new Proxy(window[name], {
        construct(target, given) {
          const made = new target(...given);
          window.lives[name].push(new WeakRef(made));
          return made;
        },
      });
    }
  });

/** What a page holds once its garbage is gone; `alive` counts what `watchLives` knows. */
async function held(page) {
  await page.heap(); // a finalizer may make garbage of its own
  const found = await page.heap();
  const alive = await page.evaluate(() =>
    Object.fromEntries(
      Object.entries(window.lives).map(([name, all]) => {
        const living = new Set(all.map((one) => one.deref()));
        living.delete(undefined);
        return [name, living.size];
      }),
    ),
  );
  return { ...found, alive };
}

/**
 * Moves through the page `rounds` times, by `steps` of the host's own: what is clicked, and what is then to be seen,
 * a figure with its picture. Figures are taken out of what the host has left: Material for MkDocs 8 keeps every page
 * that it has shown, with figures or without.
 */
const travel = (page, steps, rounds) =>
  page.evaluate(
    async ([way, times]) => {
      const frame = () => new Promise(requestAnimationFrame);
      const figures = () =>
        [...document.querySelectorAll("*")].filter(({ ready }) => ready instanceof Promise);
      for (let round = 0; round < times; ++round) {
        for (const [clicked, shown] of way) {
          const before = figures();
          document.querySelector(clicked).click();
          let there = null;
          while (!there?.checkVisibility()) {
            await frame();
            there = document.querySelector(shown);
          }
          await there.ready;
          for (const figure of figures()) window.lives?.figures.push(new WeakRef(figure));
          for (const figure of before) if (!figure.isConnected) figure.remove();
        }
        await frame();
      }
    },
    [steps, rounds],
  );

/**
 * After sixty steps and more, a page holds no more figures and observers than it did after the first ten, and as many
 * as `figures` says; the core was loaded once; and the heap has grown by less than a megabyte, which is far below
 * what the figures of all steps hold. Nodes and listeners too grow by less than one for every second step, unless the
 * host keeps its own: a browser has a few of its own that come and go.
 */
async function leavesNothing({ assert, page, engine }, steps, { figures, hostKeeps = false }) {
  await watchLives(page);
  await travel(page, steps, Math.ceil(10 / steps.length));
  if (engine === "chromium") {
    const before = await held(page);
    await travel(page, steps, Math.ceil(NAVIGATIONS / steps.length));
    const after = await held(page);
    assert.equal(after.alive.figures, figures);
    // Fewer is no fault: the first figures may have had a timer left.
    for (const [name, count] of Object.entries(after.alive))
      assert.ok(count <= before.alive[name], `${before.alive[name]} of ${name}, then ${count}`);
    assert.ok(after.bytes - before.bytes < 1e6, `${before.bytes} bytes, then ${after.bytes}`);
    for (const name of hostKeeps ? [] : ["nodes", "listeners"])
      assert.ok(after[name] - before[name] < NAVIGATIONS / 2, `${before[name]} ${name}, then ${after[name]}`);
  }
  const modules = () =>
    performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".wasm")).length;
  assert.equal(await page.evaluate(modules), 1);
  assert.deepEqual(await page.consoleErrors(), []);
}

/** Opens a page of the MkDocs site, and waits until its links are ready for instant navigation. */
async function openMkdocs(page, path) {
  await page.goto(`${await hosts()}${path}`);
  await page.waitFor(() => Object.keys(sessionStorage).some((key) => key.endsWith("__sitemap")));
  await page.evaluate(() => {
    window.samePage = true;
  });
}

/** Opens the React page, and waits until it has been hydrated and has heard that its figure is drawn. */
async function openReact(page) {
  await page.goto(`${await hosts()}react/index.html`);
  await page.waitFor(() => document.querySelector("main p").textContent === "The figure is drawn.");
}

/** The frame in a slide has drawn its figure. */
const framed = () => {
  const inside = document.querySelector("iframe").contentDocument;
  return inside?.querySelector("pe-rope")?.shadowRoot?.querySelector("footer");
};

/** The id of the slide shown. */
const slide = () => Reveal.getCurrentSlide().id;

/** Keys that the heatmap's controls use, with those that the host would take for its own. */
const keysOf = (...host) => [
  ["input[type=number]", ...host],
  // "/" on a slider opens Firefox's own search
  ["input[type=range]", "ArrowRight", "ArrowLeft", "Home", ...host.filter((key) => key !== "/")],
  ["select", "ArrowDown", ...host],
  [".grid", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"],
  ["button", " "],
];

export default [
  {
    name: "in MkDocs Material a figure is drawn, follows the palette and keeps its keys from the site's",
    async run({ page, assert }) {
      await openMkdocs(page, "mkdocs/");
      await page.click("article a[href='sinusoidal/']");
      await drawn(page);
      await wears(assert, page, "light");
      await page.click(".md-header label[for=__palette_2]");
      await wears(assert, page, "dark");
      await page.click(".md-header label[for=__palette_1]");
      await wears(assert, page, "light");
      await isReadAt(assert, page, 30, 50);
      const place = () => [location.pathname, document.querySelector("#__search").checked].join();
      await keepsKeys(assert, page, keysOf("p", "n", ",", ".", "f", "s", "/"), place);
      await isLeftByTab(assert, page);
      await leave(page);
      await page.press("n");
      await drawn(page, "pe-rope");
      await page.press(",");
      await drawn(page);
      // Material closes its search once more after it has moved to another page.
      const searching = () => page.evaluate(() => document.querySelector("#__search").checked);
      for (let tries = 0; tries < 20 && !(await searching()); ++tries) {
        await leave(page);
        await page.press("/");
        await wait(300);
      }
      assert.equal(await searching(), true);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "instant navigation leaves nothing of the figures behind",
    async run(context) {
      const { page, assert } = context;
      await openMkdocs(page, "mkdocs/");
      const link = (place) => `.md-nav--primary > .md-nav__list > :nth-child(${place}) a`;
      const steps = [
        [link(2), "article pe-heatmap"],
        [link(3), "article pe-permutation"],
        [link(1), "article a[href='sinusoidal/']"],
      ];
      await leavesNothing(context, steps, { figures: 0, hostKeeps: true });
      assert.equal(await page.evaluate(() => window.samePage), true);
    },
  },
  {
    name: "a script tag in a MkDocs page brings the figure there after instant navigation too",
    async run({ page, assert }) {
      await openMkdocs(page, "mkdocs-by-page/");
      assert.equal(await page.evaluate(() => customElements.get("pe-alibi") === undefined), true);
      const steps = [
        ["article a[href='biases/']", "article pe-alibi"],
        [".md-nav--primary > .md-nav__list > :first-child a", "article a[href='biases/']"],
      ];
      await travel(page, steps, 3);
      assert.equal(await page.evaluate(() => window.samePage), true);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "in Sphinx with Furo a figure is drawn, follows the theme and keeps its keys from the site's",
    async run({ page, assert }) {
      await page.goto(`${await hosts()}sphinx/index.html`);
      await drawn(page);
      const themes = [];
      for (let i = 0; i < 3; ++i) {
        const theme = await page.evaluate(() => document.body.dataset.theme);
        themes.push(theme);
        await wears(assert, page, theme === "dark" ? "dark" : "light"); // "auto" is light: as the test's page is
        await page.click(".content-icon-container .theme-toggle");
      }
      assert.deepEqual(themes.sort(), ["auto", "dark", "light"]);
      await isReadAt(assert, page, 30, 50);
      await keepsKeys(assert, page, keysOf("/", "ArrowRight"), () => location.pathname);
      await isLeftByTab(assert, page);
      await leave(page);
      await page.press("/");
      await page.waitFor(() => document.activeElement.name === "q");
      assert.deepEqual(await page.consoleErrors(), []);
      await leave(page);
      await page.press("ArrowRight");
      while (!(await page.requests()).some((url) => url.endsWith("/rotary.html"))) await wait(50);
    },
  },
  {
    name: "in reveal.js a figure is drawn, wears its slide's colours and keeps its keys and fingers from the deck's",
    async run({ page, assert }) {
      await page.goto(`${await hosts()}reveal/index.html#/sinusoidal`);
      await drawn(page);
      await wears(assert, page, "light");
      await keepsKeys(assert, page, keysOf("n", "p", "f", "b", "o", " ", "?"), slide);
      await isLeftByTab(assert, page);
      await leave(page);

      const swipe = (selector) =>
        page.evaluate((wanted) => {
          const at = document.querySelector("pe-heatmap");
          const target = wanted ? at.shadowRoot.querySelector(wanted) : document.querySelector("h3");
          const given = {
            bubbles: true,
            composed: true,
            pointerType: "touch",
            isPrimary: true,
            clientY: 300,
          };
          for (const [type, clientX] of [
            ["down", 600],
            ["move", 500],
            ["move", 300],
            ["up", 300],
          ])
            target.dispatchEvent(new PointerEvent(`pointer${type}`, { ...given, clientX }));
        }, selector);
      await swipe("input[type=range]");
      assert.equal(await page.evaluate(slide), "sinusoidal");
      await swipe();
      assert.equal(await page.evaluate(slide), "order");
      await page.press("ArrowLeft");
      assert.equal(await page.evaluate(slide), "sinusoidal");
      for (const id of ["order", "frame", "dark"]) {
        await page.press(id === "frame" ? " " : "ArrowRight");
        assert.equal(await page.evaluate(slide), id);
      }
      await drawn(page, "pe-clocks");
      await wears(assert, page, "dark", "pe-clocks");
      await page.evaluate(() => {
        document.querySelector("#dark").dataset.backgroundColor = "#fff8f0";
        Reveal.sync();
      });
      await wears(assert, page, "light", "pe-clocks");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  ...[
    { width: 1600, height: 1000 },
    { width: 640, height: 480 },
  ].map((size) => ({
    name: `pointers and pictures are right in a deck that is scaled to ${size.width} pixels`,
    page: size,
    async run({ page, assert }) {
      await page.goto(`${await hosts()}reveal/index.html#/sinusoidal`);
      await drawn(page);
      const scale = await page.evaluate(() => Reveal.getScale());
      assert.ok(Math.abs(scale - 1) > 0.2, `scale ${scale}`);
      for (const cell of [
        [0, 0],
        [30, 50],
        [39, 63],
      ])
        await isReadAt(assert, page, ...cell);

      const sizes = await page.evaluate(async () => {
        const figure = document.querySelector("pe-heatmap");
        const { offsetWidth, offsetHeight } = figure.shadowRoot.querySelector("[data-picture]");
        const svg = new DOMParser().parseFromString(figure.toSVG(), "image/svg+xml").documentElement;
        const { width, height } = await createImageBitmap(await figure.toPNG());
        return {
          svg: ["width", "height"].map((name) => Number(svg.getAttribute(name))),
          png: [width, height],
          picture: [offsetWidth + 32, offsetHeight + 32],
        };
      });
      assert.deepEqual(sizes.svg, sizes.picture);
      assert.deepEqual(
        sizes.png,
        sizes.picture.map((length) => 2 * length),
      );

      await page.evaluate(() => Reveal.next());
      await drawn(page, "pe-permutation");
      await page.waitFor(() => document.getAnimations().length === 0); // the slide has arrived
      const words = ".after li";
      const box = (place) => page.box(`pe-permutation >> ${words}:nth-child(${place}) button`);
      const [first, last] = [await box(1), await box(3)];
      const from = { x: first.x + first.width / 2, y: first.y + first.height / 2 };
      await page.drag(from, { dx: last.x - first.x, dy: 0 });
      await page.waitFor((selector) => {
        const found = document
          .querySelector("pe-permutation")
          .shadowRoot.querySelectorAll(`${selector} button`);
        return [...found].map((word) => word.textContent.trim()).join(" ") === "bites dog man";
      }, words);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  })),
  {
    name: "a frame in a slide draws its figure",
    async run({ page, assert }) {
      await page.goto(`${await hosts()}reveal/index.html#/frame`);
      await page.waitFor(framed);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "slides to and fro leave nothing of the figures behind",
    async run(context) {
      const { page, engine } = context;
      await page.goto(`${await hosts()}reveal/index.html#/sinusoidal`);
      // Of what is counted below. reveal.js would unload a frame more than three slides away; WebKit draws in no hidden one.
      if (engine === "chromium") await page.waitFor(framed);
      const [next, previous] = [".navigate-right", ".navigate-left"];
      const steps = [
        [next, "pe-permutation"],
        [next, "#frame"],
        [previous, "pe-permutation"],
        [previous, "pe-heatmap"],
      ];
      await leavesNothing(context, steps, { figures: 3 }); // those of the deck
    },
  },
  {
    name: "a React page written by a server is hydrated, and holds the state of the figure within",
    async run({ page, assert }) {
      await openReact(page);
      const state = () => page.evaluate(() => JSON.parse(document.querySelector("output").textContent));
      const figure = () => page.evaluate(() => document.querySelector("pe-heatmap").getState().state);
      assert.deepEqual(await state(), { "d-model": 64, "seq-len": 40 });
      await isReadAt(assert, page, 30, 50);
      assert.deepEqual(await state(), await figure());
      await page.click("#small");
      await page.waitFor(() => document.querySelector("pe-heatmap").getState().state["d-model"] === 8);
      assert.equal((await state())["d-model"], 8);
      await page.click("#reset");
      await page.waitFor(() => document.querySelector("pe-heatmap").getState().state["d-model"] === 64);
      assert.equal((await state())["d-model"], 64);

      await wears(assert, page, "light");
      await page.click("#theme");
      await wears(assert, page, "dark");
      const place = () => document.querySelector("h1").textContent;
      await keepsKeys(assert, page, keysOf("n", "p"), place);
      await isLeftByTab(assert, page);
      await leave(page);
      await page.press("n");
      await page.waitFor(() => document.querySelector("h1").textContent === "Plain");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "what a page lets all its text inherit does not reach into a figure",
    async run({ page, newPage, assert }) {
      const base = await hosts();
      const other = await newPage();
      await page.goto(`${base}react/index.html`);
      await other.goto(`${base}mkdocs/sinusoidal/`);
      const stylesIn = async (one) => {
        await drawn(one);
        return one.evaluate(() => {
          const figure = document.querySelector("pe-heatmap");
          const names = [
            "font-family",
            "font-size",
            "font-style",
            "font-weight",
            "font-feature-settings",
            "line-height",
            "letter-spacing",
            "word-spacing",
            "text-align",
            "text-indent",
            "text-shadow",
            "text-transform",
            "white-space",
            "hyphens",
            "cursor",
            "box-sizing",
          ];
          const styleOf = (selector) => {
            const style = getComputedStyle(figure.shadowRoot.querySelector(selector));
            return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
          };
          const parts = ["h3", ".takeaway", ".control .label", "button", "summary", "svg text", "input"];
          return Object.fromEntries(parts.map((selector) => [selector, styleOf(selector)]));
        });
      };
      const [theirs, plain] = [await stylesIn(page), await stylesIn(other)];
      for (const [part, styles] of Object.entries(plain)) assert.deepEqual(theirs[part], styles, part);
    },
  },
  {
    name: "mounting and unmounting by React leaves nothing of the figures behind",
    async run(context) {
      const { page } = context;
      await openReact(page);
      const steps = [
        ["#Plain", "main:not(:has(pe-heatmap))"],
        ["#Sinusoidal", "pe-heatmap"],
        ["#Plain", "main:not(:has(pe-heatmap))"],
      ];
      await leavesNothing(context, steps, { figures: 0 });
    },
  },
];
