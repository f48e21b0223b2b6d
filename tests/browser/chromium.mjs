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
  const browser = await chromium.launch({
    executablePath: which("chromium-headless-shell"),
    args: ARGS,
    timeout: 60_000,
  });

  async function open({ width, height, colorScheme, reducedMotion, script }) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      reducedMotion: reducedMotion ? "reduce" : "no-preference",
      javaScriptEnabled: script,
    });
    const requests = [];
    context.on("request", (request) => requests.push(request.url()));
    return { ...(await openIn(context, requests)), close: () => context.close() };
  }

  async function openIn(context, requests) {
    const page = await context.newPage();
    const errors = [];
    let debug;
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
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
      async heap() {
        debug ??= await context.newCDPSession(page);
        await debug.send("Performance.enable");
        await debug.send("HeapProfiler.collectGarbage");
        const { metrics } = await debug.send("Performance.getMetrics");
        const found = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
        return { nodes: found.Nodes, listeners: found.JSEventListeners, bytes: found.JSHeapUsedSize };
      },
      sibling: () => openIn(context, requests),
      close: () => page.close(),
    };
  }

  return { version: browser.version(), open, close: () => browser.close() };
}
