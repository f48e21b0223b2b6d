// embed.html in pages of other sites, and embed.js, which helps them. Each test makes its hosts: pages on a server of
// their own, whose origin is another than that of dist/. Below /dist/ the same server hands dist/ on, for tests that
// look into a frame.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { TAGS } from "./host.mjs";

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const RESIZER = readFileSync(join(dirname(require.resolve("@open-iframe-resizer/core")), "index.js"), "utf8");
const FIGURES = TAGS.map((tag) => tag.slice("pe-".length));

/** Scripts of hosts. Each is a file, as a strict policy wants it. */
const SCRIPTS = {
  // notes every message, with the number of the frame that sent it (−1: none of this page's)
  "record.js": () => {
    window.heard = [];
    addEventListener("message", ({ data, source, origin }) => {
      const frames = [...document.querySelectorAll("iframe")];
      window.heard.push({ frame: frames.findIndex((one) => one.contentWindow === source), origin, data });
    });
  },
  // a host that does as it is told
  "obey.js": () => {
    addEventListener("message", ({ data, source }) => {
      if (data?.type !== "posenc:resize") return;
      const frames = [...document.querySelectorAll("iframe")];
      frames.find((one) => one.contentWindow === source).style.height = `${data.height}px`;
    });
  },
  // a host that speaks H5P
  "h5p.js": () => {
    addEventListener("message", ({ data, source }) => {
      if (data?.context !== "h5p") return;
      const say = (action) => source.postMessage({ context: "h5p", action }, "*");
      if (data.action === "hello") say("hello");
      if (data.action === "prepareResize") say("resizePrepared");
    });
  },
};

/** The HTML of a host: `frames` are the attributes of its iframes. */
function hostPage({ frames = [], scripts = [], head = "", before = "", after = "" }) {
  const tags = frames.map((given) => {
    const attributes = { title: "A figure", width: "100%", height: "300", ...given };
    return `<iframe ${Object.entries(attributes)
      .map(([name, value]) => `${name}="${value.replaceAll("&", "&amp;")}"`)
      .join(" ")}></iframe>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A host</title>${head}
    ${scripts.map((name) => `<script src="${name}"></script>`).join("\n")}</head>
    <body>${before}${tags.join("\n")}${after}</body></html>`;
}

/**
 * Serves hosts by path, and dist/ below /dist/, while `work(url)` runs. A host may give { html, headers }.
 * The answers of `origin` carry no policy for frames, so a host's own is the only one in a test.
 */
async function withHosts(origin, pages, work) {
  const files = {
    ...Object.fromEntries(Object.entries(SCRIPTS).map(([name, script]) => [name, `(${script})();`])),
    "resizer.js": RESIZER,
  };
  const server = createServer(async (request, response) => {
    const path = request.url.slice(1).split("?")[0];
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page !== undefined) {
      const { html, headers } = typeof page === "string" ? { html: page, headers: {} } : page;
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", ...headers });
      response.end(html);
    } else if (Object.hasOwn(files, path)) {
      response.writeHead(200, { "Content-Type": "text/javascript" });
      response.end(files[path]);
    } else if (path.startsWith("dist/")) {
      const answer = await fetch(`${origin}${request.url.slice("/dist/".length)}`);
      const headers = Object.fromEntries(answer.headers);
      for (const name of ["content-encoding", "content-length"]) delete headers[name];
      response.writeHead(answer.status, headers);
      response.end(Buffer.from(await answer.arrayBuffer()));
    } else {
      response.writeHead(path === "favicon.ico" ? 204 : 404);
      response.end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await work(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    await new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
  }
}

/** What the host has heard: objects whose `type` is of ours, newest last. */
const heard = async (page, type, frame = 0) =>
  (await page.evaluate(() => window.heard))
    .filter((one) => one.frame === frame && one.data?.type === `posenc:${type}`)
    .map(({ data }) => data);

const waitHeard = (page, type, { frame = 0, count = 1 } = {}) =>
  page.waitFor(
    ([wanted, from, most]) =>
      window.heard.filter((one) => one.frame === from && one.data?.type === wanted).length >= most,
    [`posenc:${type}`, frame, count],
    { timeout: 30_000 },
  );

/** Waits until no message has come for a while, and returns all. */
const quiet = (page, milliseconds = 1200) =>
  page.evaluate(async (pause) => {
    for (let last = -1; last !== window.heard.length; ) {
      last = window.heard.length;
      await new Promise((done) => setTimeout(done, pause));
    }
    return window.heard;
  }, milliseconds);

const post = (page, message, frame = 0) =>
  page.evaluate(
    ([data, at]) => document.querySelectorAll("iframe")[at].contentWindow.postMessage(data, "*"),
    [message, frame],
  );

/** The value of fn(document, arg) in a frame of the host's own origin. */
const inFrame = (page, fn, arg = null, frame = 0) =>
  page.evaluate(
    `return (${fn})(document.querySelectorAll("iframe")[${frame}].contentDocument, ${JSON.stringify(arg)});`,
  );

/** The middle of what a selector finds in the figure of a frame, in the host's viewport. */
async function pointIn(page, selector, frame = 0) {
  return page.evaluate(
    ([wanted, at]) => {
      const outer = document.querySelectorAll("iframe")[at];
      const inner = outer.contentDocument;
      const figure = [...inner.querySelectorAll("main > *")].find(({ shadowRoot }) => shadowRoot);
      const found = figure?.shadowRoot.querySelector(wanted) ?? inner.querySelector(wanted);
      found.scrollIntoView({ block: "center", behavior: "instant" });
      const { x, y, width, height } = found.getBoundingClientRect();
      const { x: left, y: top } = outer.getBoundingClientRect();
      return { x: left + outer.clientLeft + x + width / 2, y: top + outer.clientTop + y + height / 2 };
    },
    [selector, frame],
  );
}

const takeawayOf = (inner) =>
  [...inner.querySelectorAll("main > *")]
    .find(({ shadowRoot }) => shadowRoot)
    .shadowRoot.querySelector("[part=takeaway]").textContent;

/** The page itself holds the figure: waits for its picture. */
const waitAlone = (page) =>
  page.waitFor(() => {
    const figure = [...document.querySelectorAll("main > *")].find(({ shadowRoot }) => shadowRoot);
    return figure?.shadowRoot.querySelector("footer");
  });
const alone = (page, selector) =>
  page.evaluate((wanted) => {
    const figure = [...document.querySelectorAll("main > *")].find(({ shadowRoot }) => shadowRoot);
    return figure.shadowRoot.querySelector(wanted).textContent.replace(/\s+/g, " ").trim();
  }, selector);

async function serious(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
  });
}

const helper = (from) => `<script type="module" src="${from}embed.js"></script>`;

export default [
  {
    name: "a frame that may only run scripts draws its figure, and the helper makes it as tall as the figure",
    async run({ page, origin, assert }) {
      const src = `${origin}embed.html?figure=rope&id=one#m=5`;
      const host = hostPage({
        frames: [{ src, sandbox: "allow-scripts" }],
        scripts: ["record.js"],
        head: helper(origin),
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "resize");
        const messages = await quiet(page);
        assert.deepEqual(new Set(messages.map((one) => one.origin)), new Set(["null"]));
        const [{ v, id, figure, state }] = await heard(page, "ready");
        assert.deepEqual([v, id, figure, state.state.m], [1, "one", "rope", 5]);
        const { height } = (await heard(page, "resize")).at(-1);
        assert.ok(height > 500, `${height} px`);
        assert.equal(await page.evaluate(() => document.querySelector("iframe").clientHeight), height);
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "under a host's strict policy, nothing is blocked",
    async run({ page, origin, assert }) {
      // Firefox asks every page for an icon.
      const own = "script-src 'self'; img-src 'self'";
      const policy = `default-src 'none'; frame-src ${new URL(origin).origin}; ${own}`;
      const html = hostPage({
        frames: [{ src: `${origin}embed.html?figure=heatmap`, sandbox: "allow-scripts allow-same-origin" }],
        scripts: ["record.js"],
        head: helper("dist/"),
      });
      const pages = { "host.html": { html, headers: { "Content-Security-Policy": policy } } };
      await withHosts(origin, pages, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        const [{ height }] = await waitHeard(page, "resize").then(() => heard(page, "resize"));
        const isTold = (wanted) => document.querySelector("iframe").clientHeight === wanted;
        await page.waitFor(isTold, height);
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "in a frame of 320 px every figure has all of the width but 8 px on each side",
    page: { width: 320, height: 800 },
    async run({ page, origin, assert }) {
      const head = "<style>body { margin: 0 } iframe { display: block; border: 0 }</style>";
      const pages = Object.fromEntries(
        FIGURES.map((name) => [
          `${name}.html`,
          hostPage({ frames: [{ src: `dist/embed.html?figure=${name}` }], scripts: ["record.js"], head }),
        ]),
      );
      await withHosts(origin, pages, async (url) => {
        for (const name of FIGURES) {
          await page.goto(`${url}${name}.html`);
          await waitHeard(page, "resize");
          const layout = await inFrame(page, (inner) => {
            const { scrollWidth, clientWidth } = inner.documentElement;
            const { left, width } = inner.querySelector("main > :last-child").getBoundingClientRect();
            return { fits: scrollWidth <= clientWidth, left, spare: clientWidth - width };
          });
          assert.deepEqual(layout, { fits: true, left: 8, spare: 16 }, name);
        }
      });
    },
  },
  {
    name: "several frames on one page each report under their own id and get their own height",
    async run({ page, origin, assert }) {
      const names = ["rope", "precision", "t5", "rope"];
      const frames = names.map((name, i) => ({ src: `${origin}embed.html?figure=${name}&id=${i}` }));
      const host = hostPage({ frames, scripts: ["record.js"], head: helper(origin) });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        const heights = [];
        for (const [i, name] of names.entries()) {
          // a browser need not run a frame that is out of sight
          await page.evaluate((at) => document.querySelectorAll("iframe")[at].scrollIntoView(), i);
          await waitHeard(page, "resize", { frame: i });
          const [ready] = await heard(page, "ready", i);
          assert.deepEqual([ready.id, ready.figure], [String(i), name]);
          heights.push((await heard(page, "resize", i)).at(-1).height);
        }
        const all = (wanted) =>
          [...document.querySelectorAll("iframe")].every(({ clientHeight }, i) => clientHeight === wanted[i]);
        await page.waitFor(all, heights);
        assert.equal(new Set(heights).size, 3);
        const ids = (await quiet(page)).filter(({ data }) => data.id !== undefined);
        for (const { frame, data } of ids) assert.equal(data.id, String(frame));
      });
    },
  },
  {
    name: "each kind of host hears the size in its own words, and no other message",
    async run({ page, origin, assert }) {
      const src = `${origin}embed.html?figure=rope&id=x#m=5#?secret=Ab12`;
      const host = hostPage({ frames: [{ src }], scripts: ["record.js", "h5p.js"] });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "resize");
        const { width, height } = (await heard(page, "resize")).at(-1);
        await quiet(page);
        await page.evaluate("window.first = window.heard.splice(0)");
        await post(page, { type: "iframe-get-child-dimensions" });
        await post(page, { type: "iframe-child-init", bodyMargin: "0" });
        await post(page, { message: "ready", secret: "Ab12" });
        await post(page, { message: "ready", secret: "other" });
        const answers = (await quiet(page)).map(({ data }) => data);
        assert.deepEqual(answers, [
          { type: "iframe-resized", width, height },
          { type: "iframe-resized", width, height },
          { message: "height", value: height, secret: "Ab12" },
        ]);
        await page.evaluate("window.heard = []");
        await post(page, { context: "h5p", action: "ready" });
        assert.deepEqual(
          (await quiet(page)).map(({ data }) => data.action),
          ["hello", "prepareResize", "resize"],
        );
        const first = (await page.evaluate(() => window.first)).map(({ data }) => data);
        const [ready] = first.filter(({ type }) => type === "posenc:ready");
        const told = first.filter((data) => data !== ready).map((data) => JSON.stringify(data));
        const wanted = [
          { context: "h5p", action: "hello" },
          { type: "posenc:resize", v: 1, id: "x", width, height },
          { subject: "lti.frameResize", height },
          JSON.stringify({ subject: "lti.frameResize", height }),
          JSON.stringify({ src, context: "iframe.resize", height }),
          { message: "height", value: height, secret: "Ab12" },
          { context: "h5p", action: "prepareResize", scrollHeight: height, clientHeight: height },
          { context: "h5p", action: "resize", scrollHeight: height },
        ].map((data) => JSON.stringify(data));
        assert.deepEqual(told.sort(), wanted.sort());
      });
    },
  },
  {
    name: "only the parent is told, and only the parent is heard",
    async run({ page, origin, assert }) {
      const middle = hostPage({
        frames: [{ src: `dist/embed.html?figure=rope&id=inner` }],
        scripts: ["record.js"],
      });
      const other = `<!doctype html><html lang="en"><head><title>Another</title></head><body></body></html>`;
      const top = hostPage({
        frames: [{ src: "middle.html", height: "700" }, { src: "other.html" }],
        scripts: ["record.js"],
      });
      await withHosts(
        origin,
        { "top.html": top, "middle.html": middle, "other.html": other },
        async (url) => {
          await page.goto(`${url}top.html`);
          await page.waitFor(
            () => window.frames[0].heard?.some(({ data }) => data?.type === "posenc:resize"),
            undefined,
            { timeout: 30_000 },
          );
          // the top window, and a neighbour through a function of its own, speak to the figure
          await page.evaluate(async () => {
            const target = window.frames[0].frames[0];
            const bad = { type: "posenc:set-state", state: null };
            target.postMessage({ type: "posenc:set-theme", theme: "dark" }, "*");
            target.postMessage(bad, "*");
            target.postMessage({ type: "iframe-get-child-dimensions" }, "*");
            const script = window.frames[1].document.createElement("script");
            script.textContent =
              "parent.frames[0].frames[0].postMessage({ type: 'posenc:set-theme', theme: 'dark' }, '*')";
            window.frames[1].document.body.append(script);
            window.frames[0].frames[0].postMessage(null, "*");
          });
          await quiet(page);
          const { middle: inMiddle, theme } = await page.evaluate(() => ({
            middle: window.frames[0].heard.map(
              ({ data }) => data.type ?? data.context ?? data.subject ?? "text",
            ),
            theme: window.frames[0].frames[0].document.body.dataset.theme,
          }));
          assert.equal(theme, "auto");
          assert.ok(!inMiddle.includes("posenc:error"), inMiddle.join(", "));
          assert.ok(!inMiddle.includes("iframe-resized"), inMiddle.join(", "));
          assert.deepEqual(await page.evaluate(() => window.heard), []);
          assert.deepEqual(await page.consoleErrors(), []);
        },
      );
    },
  },
  {
    name: "open-iframe-resizer keeps the frame as tall as its figure",
    async run({ page, origin, assert }) {
      const frames = [{ src: `${origin}embed.html?figure=rope`, sandbox: "allow-scripts" }];
      const host = hostPage({ frames, scripts: ["record.js"], head: "<style>iframe { border: 0 }</style>" });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await page.evaluate(async () => {
          const { initialize } = await import("/resizer.js");
          await initialize({}, "iframe");
        });
        const follows = () => {
          const resizes = window.heard.filter(({ data }) => data?.type === "posenc:resize");
          return document.querySelector("iframe").clientHeight === resizes.at(-1)?.data.height;
        };
        await page.waitFor(follows, undefined, { timeout: 30_000 });
        const wide = await page.evaluate(() => document.querySelector("iframe").clientHeight);
        await page.evaluate(() => {
          document.querySelector("iframe").style.width = "360px";
        });
        await page.waitFor((before) => document.querySelector("iframe").clientHeight > before + 100, wide);
        await quiet(page);
        assert.ok(await page.evaluate(follows));
      });
    },
  },

  {
    name: "no host's answer to a size makes the frame speak for ever",
    page: { width: 900, height: 900 },
    async run({ page, origin, assert }) {
      // Borders within the height that the host sets make the frame a little too low for ever. The browsers of these
      // tests hide scroll bars or lay them over the page, so a margin takes the room of one.
      const styles = {
        plain: "iframe { border: 0 }",
        bordered: "iframe { box-sizing: border-box; border: 3px solid }",
        narrow: "body { margin: 0; width: 400px } iframe { box-sizing: border-box; border: 1px solid }",
      };
      const pages = Object.fromEntries(
        Object.entries(styles).map(([name, css]) => [
          `${name}.html`,
          hostPage({
            frames: [{ src: "dist/embed.html?figure=rope" }],
            scripts: ["record.js", "obey.js"],
            head: `<style>${css}</style>`,
          }),
        ]),
      );
      await withHosts(origin, pages, async (url) => {
        for (const name of Object.keys(styles)) {
          await page.goto(`${url}${name}.html`);
          await page.waitFor(() => document.querySelector("iframe").contentDocument.querySelector("main"));
          await inFrame(page, (inner) => {
            const { documentElement: root, defaultView: view, body } = inner;
            const main = inner.querySelector("main");
            const bar = () => {
              const tooLow = main.getBoundingClientRect().bottom + view.scrollY > view.innerHeight;
              const shows = tooLow && view.getComputedStyle(root).scrollbarWidth !== "none";
              body.style.paddingRight = shows ? "15px" : "0px";
            };
            new view.ResizeObserver(bar).observe(main);
            new view.MutationObserver(bar).observe(root, { attributes: true });
            view.addEventListener("resize", bar);
          });
          await waitHeard(page, "resize");
          await quiet(page);
          const before = (await heard(page, "resize")).length;
          assert.ok(before <= 4, `${name}: ${before} sizes at first`);
          for (const width of ["500px", "420px", "100%"]) {
            await page.evaluate((value) => {
              document.querySelector("iframe").style.width = value;
            }, width);
            await quiet(page);
          }
          const sizes = await heard(page, "resize");
          assert.ok(sizes.length <= before + 9, `${name}: ${sizes.length} sizes in all`);
          const last = await inFrame(page, (inner) => {
            const { scrollWidth, clientWidth } = inner.documentElement;
            const { bottom } = inner.querySelector("main").getBoundingClientRect();
            return {
              fits: scrollWidth <= clientWidth,
              bar: inner.body.style.paddingRight,
              below: bottom - inner.defaultView.innerHeight,
            };
          });
          assert.ok(last.fits && last.below <= 8, `${name}: ${last.below} px below the frame`);
          assert.equal(last.bar, "0px", name);
        }
      });
    },
  },
  {
    name: "in a frame of fixed height, everything can be scrolled to",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: "dist/embed.html?figure=heatmap", height: "640", width: "700" }],
        scripts: ["record.js"],
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "resize");
        await quiet(page);
        const end = await inFrame(page, (inner) => {
          const { documentElement: root } = inner;
          const follows = root.hasAttribute("data-follows");
          inner.defaultView.scrollTo(0, root.scrollHeight);
          const footer = inner.querySelector("pe-heatmap").shadowRoot.querySelector("footer");
          const { top, bottom } = footer.getBoundingClientRect();
          return { follows, scrolled: inner.defaultView.scrollY > 0, top, bottom };
        });
        assert.ok(!end.follows && end.scrolled);
        assert.ok(end.top > 0 && end.bottom <= 640, `the footer is from ${end.top} to ${end.bottom} px`);
      });
    },
  },
  {
    name: "a host sets the state and the theme, and hears a sentence for what is neither",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: "dist/embed.html?figure=rope&id=r#n=3", height: "1000" }],
        scripts: ["record.js"],
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        const set = (state) => post(page, { type: "posenc:set-state", state });
        const saved = (state) => ({ version: 1, figure: "rope", state });
        const settled = async () => {
          await quiet(page, 400);
          return inFrame(page, (inner) => {
            const figure = inner.querySelector("pe-rope");
            const { m, n, "head-dim": headDim } = figure.getState().state;
            const problem = figure.shadowRoot.querySelector(".problem").textContent;
            return { m, n, headDim, problem };
          });
        };
        await set(saved({ m: 40, "head-dim": 16 }));
        const good = { m: 40, n: 3, headDim: 16, problem: "" };
        assert.deepEqual(await settled(), good);
        assert.match(await inFrame(page, takeawayOf), /Query at 40, key at 3/);
        assert.deepEqual(await heard(page, "error"), []);

        // the last keeps each field's rule, but its fields do not go together
        const bad = [
          [null, "version must be 1, got undefined"],
          [saved({ m: 41, n: -1 }), "n must be a whole number from 0 to 4096, got “-1”"],
          [{ ...saved({ m: 41 }), figure: "sum" }, 'figure must be "rope", got "sum"'],
          [saved({ m: 41, size: 1 }), "state.size is not an attribute of this figure"],
          [saved({ m: 41, "head-dim": 7 }), "head-dim must be even, got 7"],
        ];
        for (const [i, [state, message]] of bad.entries()) {
          await set(state);
          assert.deepEqual(await settled(), good, message);
          const errors = await heard(page, "error");
          assert.equal(errors.length, i + 1, message);
          assert.deepEqual(errors[i], { type: "posenc:error", v: 1, id: "r", message });
        }
        await set(saved({ m: 42 }));
        assert.deepEqual(await settled(), { ...good, m: 42 });

        const isDark = (inner) => {
          const { backgroundColor } = inner.defaultView.getComputedStyle(inner.body);
          return Number(backgroundColor.match(/\d+/)[0]) < 128;
        };
        assert.equal(await inFrame(page, isDark), false);
        await post(page, { type: "posenc:set-theme", theme: "dark" });
        await settled();
        assert.equal(await inFrame(page, isDark), true);
        await post(page, { type: "posenc:set-theme", theme: "blue" });
        await post(page, { type: "posenc:set-theme" });
        await settled();
        assert.equal(await inFrame(page, isDark), true);
        assert.deepEqual(
          (await heard(page, "error")).slice(bad.length).map(({ message }) => message),
          ["theme must be one of auto, light, dark, got “blue”", "theme must be a string"],
        );
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "ten thousand states of a host make few pictures, the last one counts, and a bad one among them does not",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: "dist/embed.html?figure=rope", height: "1000" }],
        scripts: ["record.js"],
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        const send = (states) =>
          page.evaluate((all) => {
            const { contentWindow } = document.querySelector("iframe");
            for (const state of all) {
              const saved = { version: 1, figure: "rope", state };
              contentWindow.postMessage({ type: "posenc:set-state", state: saved }, "*");
            }
          }, states);
        const pictures = await inFrame(page, (inner) => {
          const figure = inner.querySelector("pe-rope");
          const { draw } = figure;
          inner.defaultView.pictures = 0;
          figure.draw = (...given) => {
            inner.defaultView.pictures++;
            return draw.apply(figure, given);
          };
          return inner.defaultView.pictures;
        });
        assert.equal(pictures, 0);
        await send(Array.from({ length: 10_000 }, (_, i) => ({ m: i % 50 })).concat({ m: 77 }));
        const until = (m, n) =>
          page.waitFor(
            (wanted) => {
              const inner = document.querySelector("iframe").contentDocument;
              const figure = inner.querySelector("pe-rope");
              const { state } = figure.getState();
              const good = figure.shadowRoot.querySelector(".problem").textContent === "";
              const found = [state.m, state.n, state["head-dim"]];
              if (!good || JSON.stringify(found) !== wanted) return null;
              return { pictures: inner.defaultView.pictures };
            },
            JSON.stringify([m, n, 8]),
            { timeout: 60_000 },
          );
        const { pictures: made } = await until(77, 7);
        assert.ok(made < 5000, `${made} pictures`);
        await send([{ m: 78 }, { "head-dim": 7 }, { "head-dim": 7 }, { n: 9 }]);
        await until(78, 9);
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "what the reader changes is told as a state that can be set again, and said to screen readers on Canvas",
    async run({ page, origin, assert }) {
      const src = "dist/embed.html?figure=rope&id=r";
      const host = hostPage({
        frames: [
          { src, height: "1000" },
          { src, height: "1000" },
        ],
        scripts: ["record.js"],
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await page.evaluate(() => document.querySelectorAll("iframe")[1].scrollIntoView());
        await waitHeard(page, "ready", { frame: 1 });
        await waitHeard(page, "ready");
        assert.deepEqual(await heard(page, "state"), []);
        await page.click(await pointIn(page, "input[type=number]"));
        await page.press("ArrowUp");
        await waitHeard(page, "state");
        await page.press("ArrowUp");
        await waitHeard(page, "state", { count: 2 });
        const alerts = (await quiet(page)).filter(({ data }) => data.subject === "lti.screenReaderAlert");
        const sentence = await inFrame(page, takeawayOf);
        assert.match(sentence, /Query at 14/);
        assert.deepEqual(
          alerts.map(({ data }) => data),
          [{ subject: "lti.screenReaderAlert", body: sentence }],
        );
        const { v, id, state } = (await heard(page, "state")).at(-1);
        assert.deepEqual([v, id, state.version, state.figure, state.state.m], [1, "r", 1, "rope", 14]);
        await post(page, { type: "posenc:set-state", state }, 1);
        await page.waitFor(
          ([wanted, read]) =>
            new Function(`return (${read})(document.querySelectorAll("iframe")[1].contentDocument)`)() ===
            wanted,
          [sentence, String(takeawayOf)],
        );
        // in a frame the address stays the author's; what WordPress adds to it undoes no change
        assert.equal(await inFrame(page, (inner) => inner.location.hash), "");
        await page.evaluate(() => {
          document.querySelector("iframe").src += "#?secret=Zz9";
        });
        await page.waitFor(() => document.querySelector("iframe").contentWindow.location.hash !== "");
        await page.evaluate("window.heard = []");
        await post(page, { message: "ready", secret: "Zz9" });
        const [{ data }] = await quiet(page);
        assert.deepEqual([data.message, data.secret], ["height", "Zz9"]);
        assert.equal(await inFrame(page, takeawayOf), sentence);
      });
    },
  },
  {
    name: "a preview fetches nothing of the figure until its button is pressed, which hands the focus on",
    async run({ page, origin, assert }) {
      const src = `${origin}embed.html?figure=rope&preview=1#m=5&theme=dark`;
      await page.goto(src);
      const { title, height, width } = await page.evaluate(() => {
        const box = document.querySelector("button").getBoundingClientRect();
        return { title: document.querySelector("h1").textContent, ...box.toJSON() };
      });
      assert.equal(title, "Turn q and k by their positions");
      assert.ok(height >= 44 && width >= 44, `${width} × ${height} px`);
      assert.deepEqual(await serious(page), []);
      const ofFigure = async () => (await page.requests()).filter((url) => /\/pe-|\.wasm/.test(url));
      assert.deepEqual(await ofFigure(), []);
      await page.press("Tab");
      await page.press("Enter");
      await waitAlone(page);
      assert.ok((await ofFigure()).some((url) => /\/pe-rope-/.test(url)));
      assert.deepEqual(
        (await ofFigure()).filter((url) => /\/pe-(?!rope-)/.test(url)),
        [],
      );
      assert.match(await alone(page, "[part=takeaway]"), /Query at 5/);
      assert.ok(await page.evaluate(() => document.activeElement.matches("main")));
      await page.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement.matches("pe-rope")));
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "a frame with a preview is never lower than its preview while the figure loads",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: "dist/embed.html?figure=rope&preview=1" }],
        scripts: ["record.js"],
        head: helper("dist/"),
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "resize");
        const [{ height: low }] = await heard(page, "resize");
        await page.waitFor((told) => document.querySelector("iframe").clientHeight === told, low);
        const state = { version: 1, figure: "rope", state: { m: 30 } };
        await post(page, { type: "posenc:set-state", state }); // waits for the figure
        await page.click(await pointIn(page, "button"));
        await waitHeard(page, "ready");
        await quiet(page);
        const heights = (await heard(page, "resize")).map(({ height }) => height);
        assert.ok(Math.min(...heights) === low && heights.at(-1) > low + 200, heights.join(", "));
        assert.match(await inFrame(page, takeawayOf), /Query at 30/);
        assert.ok(await inFrame(page, (inner) => inner.activeElement.matches("main")));
      });
    },
  },
  {
    name: "alone in a window, the address holds the reader's state, and gives it back",
    async run({ page, newPage, origin, assert }) {
      await page.goto(`${origin}embed.html?figure=rope#head_dim=16&hide=export,seed&theme=light`);
      await waitAlone(page);
      const visible = () =>
        page.evaluate(() =>
          document.querySelector("pe-rope").shadowRoot.querySelector(".menu").checkVisibility(),
        );
      assert.equal(await visible(), false);
      await page.click("pe-rope >> input[type=number]");
      await page.press("ArrowUp");
      await page.waitFor(() => location.hash.includes("m=13"));
      const address = await page.evaluate(() => location.href);
      assert.equal(address, `${origin}embed.html?figure=rope#m=13&head_dim=16&hide=export+seed&theme=light`);
      const second = await newPage();
      await second.goto(address);
      await waitAlone(second);
      assert.equal(await alone(second, "[part=takeaway]"), await alone(page, "[part=takeaway]"));

      // edited by hand: what is no longer named has its fallback
      await page.evaluate(() => {
        location.hash = "#n=9";
      });
      await page.waitFor(() => {
        const text = document
          .querySelector("pe-rope")
          .shadowRoot.querySelector("[part=takeaway]").textContent;
        return text.includes("Query at 12, key at 9");
      });
      assert.equal(await visible(), true);
      assert.equal(
        await page.evaluate(() => document.querySelector("pe-rope").hasAttribute("head-dim")),
        false,
      );
      await page.click("pe-rope >> .reset");
      await page.waitFor(() => location.hash === "");
      assert.match(await alone(page, "[part=takeaway]"), /Query at 12, key at 7/);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "what is wrong in the address is said in place, and the rest of it counts",
    async run({ page, origin, assert }) {
      await page.goto(`${origin}embed.html?figure=rope#m=1e9&n=20&__proto__=1&constructor=2&theme=no`);
      await waitAlone(page);
      const said = () =>
        page.evaluate(() =>
          [...document.querySelectorAll(".notice p")].map(({ textContent }) => textContent),
        );
      const [theme, value, proto, inherited] = await said();
      assert.equal(theme, "theme must be one of auto, light, dark, got “no”");
      assert.equal(value, "m must be a whole number from 0 to 4096, got “1e9”");
      assert.match(proto, /^“--proto--” is no attribute of this figure, which has m, n, /);
      assert.match(inherited, /^“constructor” is no attribute/);
      assert.match(await alone(page, "[part=takeaway]"), /Query at 12, key at 20/);
      assert.deepEqual(await serious(page), []);
      await page.click("pe-rope >> input[type=number]");
      await page.press("ArrowUp");
      await page.waitFor(() => location.hash === "#m=13&n=20&theme=no");
      assert.deepEqual(await said(), []);

      await page.goto(`${origin}embed.html?figure=__proto__`);
      const names = await page.waitFor(() =>
        [...document.querySelectorAll("main a")].map((link) => [link.textContent, link.getAttribute("href")]),
      );
      assert.deepEqual(
        new Map(names.filter(([, href]) => href)),
        new Map(FIGURES.map((name) => [name, `?figure=${name}`])),
      );
      assert.match(await page.evaluate(() => document.body.textContent), /There is no figure “__proto__”/);
      assert.deepEqual(await serious(page), []);
      await page.goto(`${origin}embed.html`);
      assert.match(await page.evaluate(() => document.body.textContent), /The address names no figure/);
      await page.goto(await page.evaluate(() => document.querySelector("main a").href));
      await waitAlone(page);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "two thousand hostile messages and values in the address leave the figure as it was",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: "dist/embed.html?figure=rope#m=5", height: "1000" }],
        scripts: ["record.js"],
      });
      const text = fc.oneof(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.constantFrom(
          "__proto__",
          "constructor",
          "toString",
          "d-model",
          "m",
          "n",
          "q",
          "style",
          "onclick",
          "is",
        ),
        fc.constantFrom(
          "NaN",
          "-1",
          "1e999",
          "5000",
          "0x10",
          "",
          " ",
          "<img src=x onerror=alert(1)>",
          "null",
        ),
      );
      const value = fc.oneof(text, fc.double(), fc.constant(null), fc.jsonValue({ maxDepth: 3 }));
      const type = fc.constantFrom(
        "posenc:set-state",
        "posenc:set-theme",
        "posenc:resize",
        "iframe-child-init",
      );
      const state = fc.record(
        {
          version: fc.oneof(fc.constant(1), value),
          figure: fc.oneof(fc.constant("rope"), value),
          state: value,
        },
        { requiredKeys: [] },
      );
      // every state holds one name that is none, so that none can be taken
      const spoilt = fc
        .dictionary(fc.oneof(text, fc.constantFrom("m", "n", "head-dim")), value)
        .map((values) => ({ version: 1, figure: "rope", state: { ...values, none: 0 } }));
      const message = fc.oneof(
        value,
        fc.record({
          type,
          state: fc.oneof(
            value,
            state.map((given) => ({ ...given, version: 2 })),
          ),
        }),
        fc.record({ type, state: spoilt }),
        fc.record({ type, theme: value.filter((theme) => !["auto", "light", "dark"].includes(theme)) }),
        fc.record({ context: fc.constant("h5p"), action: value }),
        fc.record({ message: fc.constant("ready"), secret: value }),
      );
      const fields = /^(m|n|lock|pair|head[-_]dim|rope[-_]theta|layout|seed|q|k|hide|theme)$/;
      const pair = fc.tuple(text, text).filter(([name]) => !fields.test(name));
      const given = { seed: 4, numRuns: 1500 };
      const messages = fc.sample(message, given);
      const hashes = fc.sample(fc.array(pair, { minLength: 20, maxLength: 20 }), { seed: 4, numRuns: 25 });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        const picture = () =>
          inFrame(page, async (inner) => {
            const figure = inner.querySelector("pe-rope");
            return { state: figure.getState(), csv: figure.toCSV(), theme: inner.body.dataset.theme };
          });
        const before = await picture();
        await page.evaluate((all) => {
          for (const data of all) document.querySelector("iframe").contentWindow.postMessage(data, "*");
        }, messages);
        await quiet(page);
        assert.deepEqual(await picture(), before);
        for (const pairs of hashes) {
          const hash = `#m=5&${new URLSearchParams(pairs.map(([a, b]) => [a.toWellFormed?.() ?? a, b]))}`;
          await page.evaluate(async (value) => {
            const inner = document.querySelector("iframe").contentWindow;
            const changed = new Promise((done) => inner.addEventListener("hashchange", done, { once: true }));
            inner.location.hash = value;
            await changed;
          }, hash);
        }
        await quiet(page);
        assert.deepEqual(await picture(), before);
        const after = await inFrame(page, (inner) => ({
          wrong: inner.querySelectorAll(".notice p").length,
          elements: inner.querySelectorAll(".notice p *").length,
          polluted: Object.keys(inner.defaultView.Object.prototype).length,
        }));
        assert.ok(after.wrong > 0);
        assert.deepEqual([after.elements, after.polluted], [0, 0]);
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "the helper hands on the host's theme as it changes, but for a frame whose address names one",
    async run({ page, origin, assert }) {
      const src = "dist/embed.html?figure=precision";
      const host = hostPage({
        frames: [{ src }, { src: `${src}#theme=light` }],
        scripts: ["record.js"],
        head: helper("dist/"),
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        await page.evaluate(() => document.querySelectorAll("iframe")[1].scrollIntoView());
        await waitHeard(page, "ready", { frame: 1 });
        const becomes = (theme) =>
          page.waitFor((wanted) => {
            const [one, two] = [...document.querySelectorAll("iframe")].map(
              ({ contentDocument }) => contentDocument.body.dataset.theme,
            );
            return one === wanted && two === "light";
          }, theme);
        const mark = (name, value) =>
          page.evaluate(
            ([attribute, text]) => {
              if (text === null) document.documentElement.removeAttribute(attribute);
              else document.documentElement.setAttribute(attribute, text);
            },
            [name, value],
          );
        await mark("data-theme", "dark");
        await becomes("dark");
        await mark("data-theme", "light");
        await becomes("light");
        await mark("data-theme", null);
        await mark("class", "dark");
        await becomes("dark");
        const isPainted = () => {
          const inner = document.querySelector("iframe").contentDocument;
          const ground = (element) =>
            Number(inner.defaultView.getComputedStyle(element).backgroundColor.match(/\d+/)[0]);
          return ground(inner.body) < 128 && ground(inner.querySelector("pe-precision")) < 128;
        };
        await page.waitFor(isPainted);
        const scheme = await inFrame(
          page,
          (inner) => inner.defaultView.getComputedStyle(inner.documentElement).colorScheme,
        );
        assert.equal(scheme, "normal");
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "without a host's word the frame follows the address, else the system",
    page: { colorScheme: "dark" },
    async run({ page, origin, assert }) {
      const ground = () => Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]);
      await page.goto(`${origin}embed.html?figure=rope`);
      await waitAlone(page);
      assert.ok((await page.evaluate(ground)) < 128);
      assert.deepEqual(await serious(page), []);
      await page.evaluate(() => {
        location.hash = "#theme=light";
      });
      await page.waitFor(`return (${ground})() > 128`);
      assert.deepEqual(await serious(page), []);
    },
  },
  {
    name: "the helper finds frames that come later, believes no absurd height, and takes everything back",
    async run({ page, origin, assert }) {
      const liar = `<!doctype html><html lang="en"><head><title>A liar</title></head><body></body></html>`;
      const host = hostPage({ scripts: ["record.js"], before: "<div></div>" });
      await withHosts(
        origin,
        { "host.html": host, "liar/embed.html": liar, "liar.html": liar },
        async (url) => {
          await page.goto(`${url}host.html`);
          await page.evaluate(async () => {
            window.helper = await import("/dist/embed.js");
          });
          const add = (src) =>
            page.evaluate(async (address) => {
              const frame = Object.assign(document.createElement("iframe"), { title: "Later", src: address });
              frame.style.height = "123px";
              document.querySelector("div").replaceChildren(frame); // as instant navigation does
              await new Promise((done) => frame.addEventListener("load", done, { once: true }));
            }, src);
          const height = () => page.evaluate(() => document.querySelector("iframe").style.height);
          const lie = (data) =>
            page.evaluate(async (values) => {
              const { contentWindow } = document.querySelector("iframe");
              const script = contentWindow.document.createElement("script");
              script.textContent = `for (const data of ${values}) parent.postMessage(data, "*");`;
              const count = window.heard.length + 1;
              contentWindow.document.body.append(script);
              while (window.heard.length < count) await new Promise((done) => setTimeout(done, 20));
            }, data);
          const resize = (value) => `{ type: "posenc:resize", v: 1, height: ${value} }`;
          const absurd = ["NaN", "Infinity", "-5", "0", "1e9", "'500'", "null", "[500]", "{ valueOf: 500 }"];

          await add("liar/embed.html");
          await lie(`[${absurd.map(resize)}, null, 7, "posenc:resize", { height: 500 }]`);
          await quiet(page, 200);
          assert.equal(await height(), "123px");
          await lie(`[${resize(500.2)}]`);
          await page.waitFor(() => document.querySelector("iframe").style.height === "501px");
          await add("liar.html"); // another page
          await lie(`[${resize(500)}]`);
          await quiet(page, 200);
          assert.equal(await height(), "123px");

          await page.evaluate("window.heard = []");
          await add("dist/embed.html?figure=precision");
          await waitHeard(page, "resize");
          const told = (await heard(page, "resize")).at(-1).height;
          const isTold = (wanted) => document.querySelector("iframe").clientHeight === wanted;
          await page.waitFor(isTold, told);
          await page.evaluate(() => document.documentElement.setAttribute("data-theme", "dark"));
          const is = (theme) =>
            page.waitFor(
              (wanted) => document.querySelector("iframe").contentDocument.body.dataset.theme === wanted,
              theme,
            );
          await is("dark");

          await page.evaluate(() => window.helper.stop());
          assert.equal(await height(), "123px");
          await is("auto");
          await post(page, { type: "iframe-get-child-dimensions" });
          await quiet(page, 300);
          assert.equal(await height(), "123px");
          // a frame that has spoken before the helper listened
          await page.evaluate(() => window.helper.start());
          await page.waitFor(isTold, told);
          await is("dark");
          assert.deepEqual(await page.consoleErrors(), []);
        },
      );
    },
  },
  {
    name: "Tab leads into the frame and out of it, and keys pressed within do not reach the host",
    async run({ page, origin, assert }) {
      const host = hostPage({
        frames: [{ src: `${origin}embed.html?figure=rope`, sandbox: "allow-scripts", height: "900" }],
        scripts: ["record.js"],
        before: `<button id="before">Before</button>`,
        after: `<button id="after">After</button>`,
      });
      await withHosts(origin, { "host.html": host }, async (url) => {
        await page.goto(`${url}host.html`);
        await waitHeard(page, "ready");
        assert.equal(await page.evaluate(() => document.activeElement.localName), "body");
        await page.evaluate(() => {
          window.keys = [];
          addEventListener("keydown", ({ key }) => window.keys.push(key));
          document.querySelector("#before").focus();
        });
        await page.press("Tab");
        const inside = () => page.evaluate(() => document.activeElement.localName === "iframe");
        assert.ok(await inside());
        await page.press("ArrowUp");
        await page.press("ArrowRight");
        await waitHeard(page, "state");
        let tabs = 1;
        for (; tabs < 60 && (await inside()); ++tabs) await page.press("Tab");
        assert.ok(await page.evaluate(() => document.activeElement.matches("#after")), `${tabs} times Tab`);
        assert.ok(tabs > 8, `${tabs} times Tab`);
        const keys = await page.evaluate(() => window.keys);
        assert.deepEqual(
          keys.filter((key) => key !== "Tab"),
          [],
        );
      });
    },
  },
];
