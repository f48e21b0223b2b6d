// What may fail around the lesson: a file that does not arrive, storage, the clipboard, fonts, paper, a page that comes
// back, a clock. The text stays, what is wrong is said in its place, and nothing that the reader has done is lost.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../../scripts/run.mjs";
import { serve } from "../../scripts/serve.mjs";
import { emptySections, ground } from "./reading.mjs";

/** A server of the lesson that breaks off whatever path `lost` matches, until that is null. */
async function losing(pattern, work) {
  const host = { lost: pattern };
  const page = (path) => {
    if (host.lost?.test(path)) throw new Error("the connection broke");
    return null;
  };
  const site = await serve({ root: join(ROOT, "dist"), page });
  try {
    await work(Object.assign(host, { url: site.url }));
  } finally {
    await site.close();
  }
}

/** The lesson with a fault: `fault` runs before any script of ours. */
async function openLesson(page, fault, given) {
  const lesson = readFileSync(join(ROOT, "dist/index.html"), "utf8");
  const [tag, src] = lesson.match(/<script type="module"[^>]* src="([^"]+)"[^>]*><\/script>/);
  const bare = lesson.replace(tag, "");
  const site = await serve({ root: join(ROOT, "dist"), page: (path) => (path === "/" ? bare : null) });
  await page.goto(site.url);
  await page.evaluate(() => {
    window.uncaught = [];
    addEventListener("error", ({ message }) => message && window.uncaught.push(message));
    addEventListener("unhandledrejection", ({ reason }) => window.uncaught.push(String(reason)));
  });
  await page.evaluate(fault, given);
  await page.evaluate(
    (address) =>
      new Promise((done) => {
        const script = Object.assign(document.createElement("script"), { type: "module", src: address });
        script.onload = done;
        document.head.append(script);
      }),
    src,
  );
  return site;
}

/** Waits until the next page draws a figure, which has to be scrolled to: a question on the way there is lost. */
async function comes(page, tag) {
  const isThere = (name) => {
    const figure = document.querySelector(name);
    figure?.scrollIntoView({ behavior: "instant" });
    return figure?.shadowRoot?.querySelector("[data-picture]") != null;
  };
  while (!(await page.evaluate(isThere, tag).catch(() => false))) await wait(50);
}

const uncaught = (page) => page.evaluate(() => window.uncaught);

/** Runs in the page: what stands in the place of a figure, and whether it is drawn. */
const inPlace = (tag) => {
  const figure = document.querySelector(tag);
  const shown = [...figure.querySelectorAll("p")].filter(
    (text) => getComputedStyle(text).visibility === "visible",
  );
  return {
    failed: figure.matches(".failed"),
    drawn: figure.shadowRoot?.querySelector("[data-picture]") != null,
    says: shown.map(({ textContent }) => textContent).join(" "),
    problem: figure.shadowRoot?.querySelector(".problem").textContent ?? "",
  };
};

const scrollTo = (page, tag) =>
  page.evaluate((name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }), tag);
const isDrawn = (page, tag) =>
  page.waitFor((name) => document.querySelector(name)?.shadowRoot?.querySelector("[data-picture]"), tag);

const lost = { chunk: /pe-heatmap-/, core: /\.wasm$|-twin-/, script: /\/main-[^/]+\.js$/ };

export default [
  {
    name: "a figure whose module does not arrive says so, and comes once the connection or the page is back, in its state",
    run: ({ page, engine }) =>
      losing(lost.chunk, async (host) => {
        await page.goto(`${host.url}?heatmap.row=7#sinusoidal`);
        await scrollTo(page, "pe-heatmap");
        await page.waitFor(() => document.querySelector("pe-heatmap.failed"));
        const place = await page.evaluate(inPlace, "pe-heatmap");
        assert.match(
          place.says,
          /^An interactive heatmap .* The figure did not load\. Reload the page to try again/,
        );
        await scrollTo(page, "pe-clocks");
        await isDrawn(page, "pe-clocks"); // the others go on
        host.lost = null;
        // Firefox remembers of a module that it did not come, as long as the page lives.
        if (engine !== "chromium") {
          await page.click("pe-heatmap button");
          await comes(page, "pe-heatmap");
        } else await page.evaluate(() => dispatchEvent(new Event("online")));
        await isDrawn(page, "pe-heatmap");
        const state = await page.evaluate(() => document.querySelector("pe-heatmap").getState().state.row);
        assert.equal(state, 7);
        assert.equal(await page.evaluate(() => document.querySelectorAll(".failed").length), 0);
      }),
  },
  {
    name: "a core that does not arrive is said in each figure, and comes once the connection is back",
    run: ({ page }) =>
      losing(lost.core, async (host) => {
        await page.goto(host.url);
        await scrollTo(page, "pe-heatmap");
        await page.waitFor(
          () => document.querySelector("pe-heatmap").shadowRoot?.querySelector(".problem").textContent,
        );
        const { problem, drawn } = await page.evaluate(inPlace, "pe-heatmap");
        assert.match(
          problem,
          /^The core that computes this figure did not load \(.+\)\. Reloading the page tries again\.$/,
        );
        assert.equal(drawn, false);
        const empty = await page.evaluate(() => {
          const figure = document.querySelector("pe-heatmap");
          const box = (element) => element.getBoundingClientRect();
          return box(figure).bottom - box(figure.shadowRoot.querySelector(".problem")).bottom;
        });
        assert.ok(empty < 40, `${empty} px below the sentence: more than margins`);
        host.lost = null;
        await page.evaluate(() => dispatchEvent(new Event("online")));
        await isDrawn(page, "pe-heatmap");
        assert.equal((await page.evaluate(inPlace, "pe-heatmap")).problem, "");
        await page.evaluate(() => document.querySelector("pe-heatmap").ready);
      }),
  },
  {
    name: "where the page's own script or its fonts do not arrive, the article is there, and no figure leaves a hole",
    run: ({ page }) =>
      losing(/\/main-[^/]+\.js$|\.woff2$/, async (host) => {
        await page.goto(host.url);
        await page.waitFor(() => document.readyState === "complete");
        await page.waitFor(() => !document.documentElement.matches(".scripted"));
        const { total, empty } = await page.evaluate(emptySections);
        assert.deepEqual([total, empty], [21, []]);
        const found = await page.evaluate(() => {
          const figures = [...document.querySelectorAll("figure.wide:not(.waves) > *")];
          const said = (figure) => {
            const text = figure.querySelector(":scope > p");
            return (
              getComputedStyle(text).visibility === "visible" && text.getBoundingClientRect().height > 10
            );
          };
          return {
            silent: figures.filter((one) => !said(one)).map(({ localName }) => localName),
            holes: figures
              .filter((one) => !one.querySelector("svg") && one.getBoundingClientRect().height > 120)
              .map(({ localName }) => localName),
            wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
            fonts: [...document.fonts].filter(({ status }) => status === "loaded").length,
          };
        });
        assert.deepEqual(found, { silent: [], holes: [], wide: false, fonts: 0 });
      }),
  },
  {
    name: "where storage, workers and the clipboard are refused, the lesson is read, answered and copied from by hand",
    async run({ page }) {
      const site = await openLesson(page, () => {
        const refuse = (where, ...names) => {
          for (const name of names) {
            Object.defineProperty(where, name, {
              configurable: true,
              get() {
                throw new DOMException(`${name} is refused`, "SecurityError");
              },
            });
          }
        };
        refuse(window, "localStorage", "sessionStorage", "indexedDB", "caches", "Worker");
        refuse(document, "cookie");
        refuse(navigator, "serviceWorker");
        Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
      });
      await page.waitFor(() => document.querySelector(".code .copy"));
      await page.evaluate(() => document.querySelector(".theme [value=dark]").click());
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
      const copied = await page.evaluate(async () => {
        const button = document.querySelector(".code .copy");
        button.click();
        await new Promise((done) => setTimeout(done));
        return {
          says: button.textContent,
          told: document.querySelector("#announce").textContent,
          same:
            getSelection().toString().trim() ===
            button.parentElement.querySelector("code").textContent.trim(),
        };
      });
      assert.deepEqual(copied, {
        says: "Selected: copy it by keyboard",
        told: "Selected: copy it by keyboard",
        same: true,
      });
      await scrollTo(page, "pe-heatmap");
      await isDrawn(page, "pe-heatmap");
      const link = await page.evaluate(async () => {
        const figure = document.querySelector("pe-heatmap");
        const { shadowRoot } = figure;
        await figure.ready;
        await figure.updateComplete;
        shadowRoot.querySelector("footer [data-field=link]").click();
        for (let i = 0; i < 100 && !shadowRoot.querySelector(".to-copy"); i++)
          await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        return {
          says: shadowRoot.querySelector(".notice").textContent,
          text: shadowRoot.querySelector(".to-copy").textContent,
          selected: getSelection().toString() || shadowRoot.getSelection?.().toString(),
          focused: shadowRoot.activeElement?.className,
        };
      });
      assert.equal(
        link.says,
        "The browser does not allow copying here. The text is selected: copy it by keyboard.",
      );
      assert.match(link.text, /^http:.*#/);
      assert.deepEqual([link.selected, link.focused], [link.text, "to-copy"]);
      const answered = await page.evaluate(async () => {
        const question = document.querySelector("pe-quiz pe-question");
        question.querySelector("input[type=radio]").click();
        question.querySelector(".commit").click();
        await new Promise(requestAnimationFrame);
        return question.textContent.includes("Your answers are not kept in this browser.");
      });
      assert.equal(answered, true);
      assert.deepEqual(await uncaught(page), []);
      await site.close();
    },
  },
  {
    name: "on paper every figure is there, also those that nobody has scrolled to, light, without controls and within the page",
    page: { colorScheme: "dark", width: 794 },
    async run({ page, base }) {
      await page.goto(base);
      await page.waitFor(() => document.querySelector(".code .copy")); // the page's script has run;
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      await page.waitFor(
        () =>
          [...document.querySelectorAll("figure.wide:not(.waves) > *")].every((figure) =>
            figure.shadowRoot?.querySelector("[data-picture], footer"),
          ),
        undefined,
        { timeout: 60_000 },
      );
      // as the browser does for paper, in engines whose drivers cannot ask for it
      await page.evaluate(async () => {
        const figures = [...document.querySelectorAll("figure.wide:not(.waves) > *")];
        const turn = (rules) => {
          for (const rule of rules) {
            if (!(rule instanceof CSSMediaRule)) continue;
            if (/\bprint\b/.test(rule.media.mediaText)) rule.media.mediaText = "all";
            else if (/\bscreen\b/.test(rule.media.mediaText)) rule.media.mediaText = "not all";
          }
        };
        const sheets = [document, ...figures.map(({ shadowRoot }) => shadowRoot)].flatMap((root) => [
          ...root.styleSheets,
          ...root.adoptedStyleSheets,
        ]);
        for (const sheet of new Set(sheets)) turn(sheet.cssRules);
        for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame);
      });
      assert.ok((await page.evaluate(ground)) > 200);
      const found = await page.evaluate(() =>
        [...document.querySelectorAll("figure.wide:not(.waves) > *")].flatMap((figure) => {
          const root = figure.shadowRoot;
          const seen = (selector) =>
            [...root.querySelectorAll(selector)].filter((one) => one.checkVisibility());
          const [red] = getComputedStyle(figure).backgroundColor.match(/\d+/g).map(Number);
          const wrong = [];
          if (red < 200) wrong.push("a dark ground");
          if (seen(".controls input, .controls select, footer button").length > 0) wrong.push("controls");
          if (root.querySelector(".problem").textContent)
            wrong.push(root.querySelector(".problem").textContent);
          const { right } = document.querySelector("main").getBoundingClientRect();
          const out = seen("[data-picture] svg, [data-picture] canvas, .takeaway").find(
            (part) => part.getBoundingClientRect().right > right + 1,
          );
          if (out) wrong.push(`${out.localName} ${out.getAttribute("class")} is cut off`);
          return wrong.map((words) => `${figure.localName}: ${words}`);
        }),
      );
      assert.deepEqual(found, []);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    // Chromium under its driver keeps no pages, and WebKit's loses its answers on the way back: there the address
    // brings the state back.
    name: "a page that its reader comes back to has its figures alive and in their state",
    async run({ page, base, engine }) {
      const name = "pe-heatmap";
      await page.goto(`${base}${name}.html`);
      await scrollTo(page, name);
      await isDrawn(page, name);
      await page.evaluate(async (tag) => {
        window.kept = true;
        addEventListener("pageshow", ({ persisted }) => {
          window.persisted = persisted;
        });
        const input = document.querySelector(tag).shadowRoot.querySelector("input[type=range]");
        input.stepUp();
        input.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, 400)); // the address follows after a moment
      }, name);
      const state = (tag) => JSON.stringify(document.querySelector(tag)?.getState?.() ?? null);
      const before = await page.evaluate(state, name);
      const address = await page.evaluate(() => location.href);
      await page.goto(`${base}teachers.html`);
      if (engine === "webkit") await page.goto(address);
      else {
        await page.evaluate(() => {
          setTimeout(() => history.back());
        });
      }
      await comes(page, name);
      assert.equal(await page.evaluate(state, name), before);
      const alive = await page.evaluate(async (tag) => {
        const figure = document.querySelector(tag);
        const canvas = () => figure.shadowRoot.querySelector("canvas.map");
        const width = canvas().width;
        figure.style.width = "300px";
        for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
        return [canvas().width < width, figure.shadowRoot.querySelector(".problem").textContent];
      }, name);
      assert.deepEqual(alive, [true, ""]);
    },
  },
];
