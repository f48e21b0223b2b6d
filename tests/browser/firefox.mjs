// Firefox through WebDriver BiDi, spoken by Puppeteer. Every page has a user context of its own, hence its own
// storage. BiDi cannot set media features, so each combination of them has a browser, started when first needed.
// Not possible: pages without script. Not seen: the console of workers.
import puppeteer from "puppeteer-core";
import { which } from "../../scripts/run.mjs";

const start = ({ colorScheme, reducedMotion }) =>
  puppeteer.launch({
    browser: "firefox",
    executablePath: which("firefox-esr"),
    headless: true,
    timeout: 120_000,
    defaultViewport: null,
    extraPrefsFirefox: {
      "layout.css.prefers-color-scheme.content-override": colorScheme === "dark" ? 0 : 1,
      "ui.prefersReducedMotion": reducedMotion ? 1 : 0,
    },
  });

export async function launch() {
  const browsers = new Map();
  const browserFor = (media) => {
    const key = `${media.colorScheme} ${media.reducedMotion}`;
    if (!browsers.has(key)) browsers.set(key, start(media));
    return browsers.get(key);
  };
  const first = await browserFor({ colorScheme: "light", reducedMotion: false });

  async function open({ width, height, colorScheme, reducedMotion, script }) {
    if (!script) throw new Error("Firefox cannot be told to open a page without script");
    const browser = await browserFor({ colorScheme, reducedMotion });
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    const errors = [];
    const requests = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    page.on("requestfailed", (request) => errors.push(`request failed: ${request.url()}`));
    page.on(
      "response",
      (answer) => answer.status() >= 400 && errors.push(`${answer.status()}: ${answer.url()}`),
    );
    // not page.setViewport, which also sets the screen's orientation: Firefox 140 has no such command
    await page
      .mainFrame()
      .browsingContext.setViewport({ viewport: { width, height }, devicePixelRatio: null });
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

  return {
    version: (await first.version()).replace(/^.*\//, ""),
    open,
    close: async () => Promise.all([...browsers.values()].map(async (browser) => (await browser).close())),
  };
}
