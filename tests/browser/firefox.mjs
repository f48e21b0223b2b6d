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

// Said of a formula that Firefox lays out before it has read its end; tests/node/page.test.mjs counts the children.
const HALF_READ = /Invalid markup: Incorrect number of children for <m\w+\/> tag/;

const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

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
    return { ...(await openIn(context, { width, height }, "tab")), close: () => context.close() };
  }

  async function openIn(context, viewport, type) {
    const page = await context.newPage({ type });
    const errors = [];
    const requests = [];
    const note = (text) => {
      if (!HALF_READ.test(text)) errors.push(text);
    };
    page.on("console", (message) => message.type() === "error" && note(message.text()));
    page.on("pageerror", (error) => note(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      // A worker that is ended while it loads breaks off what it has asked for.
      if (!/ABORTED/.test(why)) errors.push(`request failed: ${request.url()} ${why}`);
    });
    page.on(
      "response",
      (answer) => answer.status() >= 400 && errors.push(`${answer.status()}: ${answer.url()}`),
    );
    // not page.setViewport, which also sets the screen's orientation: Firefox 140 has no such command
    await page.mainFrame().browsingContext.setViewport({ viewport, devicePixelRatio: null });
    return {
      goto: (url) => page.goto(url),
      evaluate: (expression) => page.evaluate(expression),
      async pointer(type, x, y) {
        if (type === "move") await page.mouse.move(x, y);
        else await page.mouse[type]();
        // Firefox answers before the page has heard of it, and a question may arrive before the pointer does.
        if (type === "up") await page.evaluate(twoFrames).catch(() => {}); // the page may have gone
      },
      key: (type, key) => page.keyboard[type](key),
      screenshot: (path) => page.screenshot({ path }),
      errors: async () => [...errors],
      requests: async () => [...requests],
      sibling: () => openIn(context, viewport, "window"),
      close: () => page.close(),
    };
  }

  return {
    version: (await first.version()).replace(/^.*\//, ""),
    open,
    close: async () => Promise.all([...browsers.values()].map(async (browser) => (await browser).close())),
  };
}
