// Chromium through Playwright. Every page has a context of its own, hence its own storage and media settings.
import { chromium } from "playwright-core";
import { which } from "../../scripts/run.mjs";

const ARGS = [
  "--no-sandbox", // needed as root; only this project's own page is opened
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch() {
  const browser = await chromium.launch({ executablePath: which("chromium"), args: ARGS, timeout: 60_000 });

  async function open({ width, height, colorScheme, reducedMotion, script }) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion: reducedMotion ? "reduce" : "no-preference",
      javaScriptEnabled: script,
    });
    const page = await context.newPage();
    const errors = [];
    const requests = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    context.on("request", (request) => requests.push(request.url()));
    return {
      goto: (url) => page.goto(url),
      evaluate: (expression) => page.evaluate(expression),
      async pointer(type, x, y) {
        if (type === "move") await page.mouse.move(x, y);
        else await page.mouse[type]();
      },
      key: (type, key) => page.keyboard[type](key),
      screenshot: (path) => page.screenshot({ path }),
      errors: async () => [...errors],
      requests: async () => [...requests],
      close: () => context.close(),
    };
  }

  return { version: browser.version(), open, close: () => browser.close() };
}
