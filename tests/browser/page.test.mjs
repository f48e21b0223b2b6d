// What the built page owes every reader, whatever its figures show.
import { HEADERS } from "../../scripts/serve.mjs";
import { accessible, emptySections, fits, ground, openWithoutScript, readThrough } from "./reading.mjs";

const SECTIONS = 21; // the introduction, and twenty that are numbered

/** Presses Tab until the focused element matches, and returns how often. */
async function tabTo(page, selector, most) {
  for (let i = 1; i <= most; ++i) {
    await page.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return i;
  }
  throw new Error(`${most} times Tab did not lead to ${selector}`);
}

export default [
  {
    name: "from below a path, under a strict policy, nothing goes wrong and nothing else is asked for",
    async run({ page, base, assert }) {
      const { headers } = await fetch(base);
      for (const [name, value] of Object.entries(HEADERS)) assert.equal(headers.get(name), value);
      await page.goto(base);
      await readThrough(page);
      assert.deepEqual(await page.consoleErrors(), []);
      const requests = await page.requests();
      assert.ok(requests.includes(base), `the page itself is among ${requests}`);
      // Firefox reports a font of its own as a data: URL; dist/ holds none, and it asks nobody.
      assert.deepEqual(
        requests.filter((url) => !url.startsWith(base) && !url.startsWith("data:")),
        [],
      );
    },
  },
  {
    name: "from the root of a server, nothing goes wrong",
    async run({ page, origin, assert }) {
      await page.goto(origin);
      await readThrough(page);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "once its reader has seen every figure and rests, the page rests: no frame, no timer, nothing moves",
    async run({ page, origin, assert }) {
      await page.goto(origin);
      await readThrough(page);
      const work = await page.evaluate(async () => {
        const wait = window.setTimeout.bind(window);
        const pause = (milliseconds) => new Promise((done) => wait(done, milliseconds));
        await pause(2000); // what is spoken once a reader pauses has been said
        const asked = [];
        for (const name of ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback"]) {
          const ask = window[name];
          window[name] = (...given) => {
            const { stack } = new Error();
            if (stack.includes("/assets/")) asked.push(`${name} ${stack}`);
            return ask?.apply(window, given);
          };
        }
        let changes = 0;
        const observer = new MutationObserver((records) => {
          changes += records.length;
        });
        const all = { subtree: true, childList: true, characterData: true, attributes: true };
        const figures = [...document.querySelectorAll("article *")].filter(({ shadowRoot }) => shadowRoot);
        for (const root of [document, ...figures.map(({ shadowRoot }) => shadowRoot)])
          observer.observe(root, all);
        await pause(3000);
        observer.disconnect();
        const moving = [document, ...figures.map(({ shadowRoot }) => shadowRoot)].flatMap((root) =>
          root.getAnimations(),
        );
        return { asked, changes, moving: moving.length, figures: figures.length };
      });
      assert.ok(work.figures >= 19, `${work.figures} figures`);
      assert.deepEqual(work, { asked: [], changes: 0, moving: 0, figures: work.figures });
    },
  },
  {
    name: "all 21 sections are visible",
    async run({ page, base, assert }) {
      await page.goto(base);
      assert.deepEqual(await page.evaluate(emptySections), { total: SECTIONS, empty: [] });
    },
  },
  {
    name: "the article is there without script",
    async run({ newPage, base, engine, assert }) {
      const page = await openWithoutScript(newPage, engine, base);
      assert.deepEqual(await page.evaluate(emptySections), { total: SECTIONS, empty: [] });
      assert.equal(
        await page.evaluate(() => document.querySelector("fieldset.theme").checkVisibility()),
        false,
      );
    },
  },
  {
    name: "the theme switch changes the colours, and the choice outlasts a reload",
    async run({ page, base, assert }) {
      await page.goto(base);
      assert.ok((await page.evaluate(ground)) > 128, "light at first");
      await page.click("fieldset.theme label:has([value=dark])");
      assert.ok((await page.evaluate(ground)) < 128, "dark when chosen");
      await page.goto(base);
      assert.ok((await page.evaluate(ground)) < 128, "dark after a reload");
      await page.click("fieldset.theme label:has([value=auto])");
      assert.ok((await page.evaluate(ground)) > 128, "the system's again");
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the system's dark theme is followed",
    page: { colorScheme: "dark" },
    async run({ page, base, assert }) {
      await page.goto(base);
      assert.ok((await page.evaluate(ground)) < 128);
    },
  },
  {
    name: "the first Tab leads to a link that skips to the lesson",
    async run({ page, base, assert }) {
      await page.goto(base);
      await page.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement.matches("a.skip")));
      await page.press("Enter");
      await page.waitFor(() => location.hash === "#main");
    },
  },
  {
    name: "the keyboard reaches every section through the list",
    async run({ page, base, assert }) {
      await page.goto(base);
      await tabTo(page, "nav.sections ol li:first-child a", 5);
      for (let i = 2; i < SECTIONS; ++i) await tabTo(page, `nav.sections ol li:nth-child(${i}) a`, 1);
      await page.press("Enter");
      const hash = await page.waitFor(() => location.hash);
      const top = await page.waitFor(() => {
        const { top } = document.querySelector(location.hash).getBoundingClientRect();
        return top < innerHeight && { top };
      });
      assert.equal(
        hash,
        await page.evaluate(() => `#${[...document.querySelectorAll("article > section")].at(-1).id}`),
      );
      assert.ok(top.top > -50, `the section begins at ${top.top} px`);
    },
  },
  {
    name: "on a telephone the section list opens and closes by keyboard",
    page: { width: 360, height: 700 },
    async run({ page, base, assert }) {
      await page.goto(base);
      const isOpen = () => document.querySelector("nav.sections ol").checkVisibility();
      await tabTo(page, "nav.sections button", 3);
      assert.equal(await page.evaluate(isOpen), false);
      await page.press("Enter");
      assert.equal(await page.evaluate(isOpen), true);
      await tabTo(page, "nav.sections ol li:first-child a", 3);
      await page.press("Escape");
      assert.equal(await page.evaluate(isOpen), false);
    },
  },
  fits("the page", "", 320),
  fits("the page", "", 360),
  fits("the page", "", 1280),
  accessible("the lesson", "", "light"),
  accessible("the lesson", "", "dark"),
];
