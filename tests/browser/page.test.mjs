// What the built page owes every reader, whatever its figures show.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HEADERS } from "../../scripts/serve.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SECTIONS = 21; // the introduction, and twenty that are numbered

/** Scrolls through the whole page, since figures load when they come near the window. */
async function readThrough(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo({ top: y, behavior: "instant" });
      await new Promise((done) => setTimeout(done, 60));
    }
  });
  // the page marks a figure whose module did not arrive, and says so on the console
  const settled = () => !document.querySelector("figure > :not(:defined):not(.failed)");
  await page.waitFor(settled, undefined, { timeout: 30_000 });
}

/** The parts of the lesson that show nothing, and how many parts there are. */
const emptySections = () => {
  const parts = [...document.querySelectorAll("article > header[id], article > section[id]")];
  const isShown = (text) => text.checkVisibility() && text.textContent.trim().length > 40;
  const shown = (part) => [...part.querySelectorAll("p")].some(isShown);
  return { total: parts.length, empty: parts.filter((part) => !shown(part)).map((part) => part.id) };
};

/** Presses Tab until the focused element matches, and returns how often. */
async function tabTo(page, selector, most) {
  for (let i = 1; i <= most; ++i) {
    await page.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return i;
  }
  throw new Error(`${most} times Tab did not lead to ${selector}`);
}

/** Brightness of the page's ground, 0 to 255. */
const ground = () => {
  const [red, green, blue] = getComputedStyle(document.body)
    .backgroundColor.match(/[\d.]+/g)
    .map(Number);
  return (red + green + blue) / 3;
};

/** What axe-core finds serious, as "rule: element" lines. */
async function seriousFindings(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) =>
        nodes.map(({ target, any }) => `${id}: ${target} ${any[0]?.message ?? ""}`),
      );
  });
}

const accessible = (colorScheme) => ({
  name: `axe-core finds nothing serious in ${colorScheme} colours`,
  page: { colorScheme },
  async run({ page, base, assert }) {
    await page.goto(base);
    await readThrough(page);
    assert.equal((await page.evaluate(ground)) < 128, colorScheme === "dark");
    assert.deepEqual(await seriousFindings(page), []);
  },
});

const fits = (width) => ({
  name: `the page is never wider than a window of ${width} px`,
  page: { width, height: 800 },
  async run({ page, base, assert }) {
    await page.goto(base);
    await readThrough(page);
    const size = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return { scrollWidth, clientWidth };
    });
    assert.ok(size.scrollWidth <= size.clientWidth, `${size.scrollWidth} px in ${size.clientWidth} px`);
  },
});

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
    name: "all 21 sections are visible",
    async run({ page, base, assert }) {
      await page.goto(base);
      assert.deepEqual(await page.evaluate(emptySections), { total: SECTIONS, empty: [] });
    },
  },
  {
    name: "the article is there without script",
    async run({ newPage, base, engine, assert }) {
      // Firefox cannot run without script here: it shows the markup as a reader without script gets it
      const script = engine === "firefox";
      const page = await newPage({ script });
      await page.goto(base);
      if (script) {
        await page.evaluate(async () => {
          const html = await (await fetch(location.href)).text();
          const bare = new DOMParser().parseFromString(html, "text/html");
          document.body.replaceWith(bare.body);
        });
      }
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
  fits(320),
  fits(360),
  fits(1280),
  accessible("light"),
  accessible("dark"),
];
