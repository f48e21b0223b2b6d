// Measures every figure of the built lesson at several widths and writes the heights that the page holds for them
// before they come alive: node scripts/reserve.mjs (wants dist/ and Chromium), then build again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { main, ROOT, which } from "./run.mjs";
import { serve } from "./serve.mjs";

const WIDTHS = [320, 360, 412, 768, 1024, 1280, 1600];

/** Heights of the drawn figures at one width of the window, by tag, in steps of a quarter rem. */
async function measure(browser, url, width) {
  const page = await browser.newPage({ viewport: { width, height: 1000 } });
  await page.goto(url);
  const tags = await page.evaluate(() =>
    [...document.querySelectorAll("figure.wide > *")]
      .map(({ localName }) => localName)
      .filter((tag) => tag.includes("-")),
  );
  const heights = {};
  for (const tag of tags) {
    await page.evaluate((name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }), tag);
    await page.waitForFunction(
      (name) => document.querySelector(name).shadowRoot?.querySelector("footer"),
      tag,
    );
    await page.waitForTimeout(700);
    const pixels = await page.evaluate(
      (name) => document.querySelector(name).shadowRoot.querySelector("section").offsetHeight,
      tag,
    );
    heights[tag] = Math.ceil(pixels / 4) / 4;
  }
  await page.close();
  return heights;
}

const rules = (heights, indent) =>
  Object.entries(heights)
    .map(([tag, rem]) => `${indent}${tag} {\n${indent}  --reserved: ${rem}rem;\n${indent}}\n`)
    .join("");

await main(import.meta.url, async () => {
  const { url, close } = await serve({ root: join(ROOT, "dist"), port: 0 });
  const browser = await chromium.launch({
    executablePath: which("chromium-headless-shell"),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  });
  try {
    let css = "/* Heights of the drawn figures: written by scripts/reserve.mjs. */\n";
    const last = {};
    for (const width of WIDTHS) {
      const heights = await measure(browser, url, width);
      const others = Object.fromEntries(Object.entries(heights).filter(([tag, rem]) => rem !== last[tag]));
      css +=
        width === WIDTHS[0]
          ? rules(others, "")
          : `@media (min-width: ${width / 16}em) {\n${rules(others, "  ")}}\n`;
      Object.assign(last, heights);
    }
    writeFileSync(join(ROOT, "web/styles/reserved.css"), css);
  } finally {
    await browser.close();
    await close();
  }
});
