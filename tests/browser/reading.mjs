// What the tests of whole pages do: read through one, and ask axe-core about it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { IN_COLOURS } from "./engines.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Scrolls through the whole page, since figures load when they come near the window. */
export async function readThrough(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
      scrollTo({ top: y, behavior: "instant" });
      // a frame tells what has come near, when its own callbacks have run
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
  });
  // the page marks a figure whose module did not arrive, and says so on the console
  const settled = () => !document.querySelector("figure > :not(:defined):not(.failed)");
  await page.waitFor(settled, undefined, { timeout: 30_000 });
}

/** The parts of the article that show nothing, and how many parts there are. Runs in the page. */
export const emptySections = () => {
  const parts = [...document.querySelectorAll("article > header[id], article > section[id]")];
  const isShown = (text) => text.checkVisibility() && text.textContent.trim().length > 40;
  const shown = (part) => [...part.querySelectorAll("p")].some(isShown);
  return { total: parts.length, empty: parts.filter((part) => !shown(part)).map((part) => part.id) };
};

/**
 * A page opened without script. Firefox cannot do without here: it shows the markup as a reader without script gets it.
 */
export async function openWithoutScript(newPage, engine, address) {
  const script = engine === "firefox";
  const page = await newPage({ script });
  await page.goto(address);
  if (script) {
    await page.evaluate(async () => {
      const html = await (await fetch(location.href)).text();
      const bare = new DOMParser().parseFromString(html, "text/html");
      document.body.replaceWith(bare.body);
    });
  }
  return page;
}

/** Brightness of the page's ground, 0 to 255. Runs in the page. */
export const ground = () => {
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

/** The test that a page, of a name and at a path below dist/, is accessible in one colour scheme. */
export const accessible = (name, path, colorScheme) => ({
  name: `axe-core finds nothing serious in ${name} in ${colorScheme} colours`,
  page: { colorScheme },
  engines: IN_COLOURS[colorScheme],
  async run({ page, base, assert }) {
    await page.goto(base + path);
    await readThrough(page);
    assert.equal((await page.evaluate(ground)) < 128, colorScheme === "dark");
    assert.deepEqual(await seriousFindings(page), []);
  },
});

/** The test that a page is never wider than a window. */
export const fits = (name, path, width) => ({
  name: `${name} is never wider than a window of ${width} px`,
  page: { width, height: 800 },
  async run({ page, base, assert }) {
    await page.goto(base + path);
    await readThrough(page);
    const size = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return { scrollWidth, clientWidth };
    });
    assert.ok(size.scrollWidth <= size.clientWidth, `${size.scrollWidth} px in ${size.clientWidth} px`);
  },
});
