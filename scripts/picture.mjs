// Takes the README's picture of the lesson: node scripts/picture.mjs (wants dist/ and Chromium).
import { join } from "node:path";
import { chromium } from "playwright-core";
import { main, ROOT, which } from "./run.mjs";
import { serve } from "./serve.mjs";

await main(import.meta.url, async () => {
  const { url, close } = await serve({ root: join(ROOT, "dist"), port: 0 });
  const browser = await chromium.launch({
    executablePath: which("chromium-headless-shell"),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1180, height: 760 }, colorScheme: "light" });
    await page.goto(url);
    await page.locator("pe-heatmap").scrollIntoViewIfNeeded();
    await page.waitForFunction(() =>
      document.querySelector("pe-heatmap")?.shadowRoot?.querySelector("canvas.map"),
    );
    await page.evaluate(() => document.querySelector("pe-heatmap").scrollIntoView({ behavior: "instant" }));
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(ROOT, "web/lesson.png") });
  } finally {
    await browser.close();
    await close();
  }
});
