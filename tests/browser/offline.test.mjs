// The service worker: a site that is gone, exchanged or broken on its way, and what its readers go on reading.
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runnerImport } from "vite";
import { ROOT } from "../../scripts/run.mjs";
import { serve } from "../../scripts/serve.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const temporary = mkdtempSync(join(tmpdir(), "posenc-offline-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

/** What tells a file of one build from that of another, by its ending. Fonts have their names alone. */
const MARKS = {
  js: (name) => `\n;(globalThis.ran ??= []).push("${name}");\n`,
  css: (name) => `\n/* ${name} */\n`,
  svg: (name) => `<!-- ${name} -->\n`,
  wasm: (name) => Buffer.from([0, 2 + name.length, 1, ...Buffer.from(`v${name}`)]), // a custom section
};

/** dist/ as another build would have made it: every asset has other content, hence another name. */
async function make(name) {
  const folder = join(temporary, name);
  cpSync(join(ROOT, "dist"), folder, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
  const assets = readdirSync(join(folder, "assets"));
  const hash = (file) => createHash("sha256").update(`${name} ${file}`).digest("base64url").slice(0, 8);
  const renamed = (file) => file.replace(/[\w-]{8}(?=\.\w+$)/, hash(file));
  const rewrite = (path, mark = "") => {
    let text = readFileSync(path, "utf8");
    for (const file of assets) text = text.replaceAll(file, renamed(file));
    writeFileSync(path, text + mark);
  };
  for (const page of readdirSync(folder).filter((file) => file.endsWith(".html")))
    rewrite(join(folder, page));
  for (const file of assets) {
    const path = join(folder, "assets", file);
    const ending = file.split(".").at(-1);
    const mark = MARKS[ending]?.(name) ?? "";
    if (["js", "css"].includes(ending)) rewrite(path, mark);
    else writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from(mark)]));
    renameSync(path, join(folder, "assets", renamed(file)));
  }
  const plugin = join(ROOT, "web/offline/plugin.ts");
  const { stamp } = (await runnerImport(plugin, { configFile: false, logLevel: "warn" })).module;
  return { name, folder, ...(await stamp(folder)) };
}

const made = new Map();
const build = (name) => made.get(name) ?? made.set(name, make(name)).get(name);

/** How a file can go wrong on its way: given the whole answer, what is sent of it. */
const FAULTS = {
  "is answered with 500": (response) => response.writeHead(500).end(),
  "is cut off": (response, headers, body) =>
    response.writeHead(200, headers).write(body.subarray(0, body.length / 2), () => response.destroy()),
  "is another file": (response, { "content-length": _, ...headers }) =>
    response.writeHead(200, headers).end("<!doctype html><title>Log in</title></html>"),
};

const PATIENCE = { timeout: 60_000 };
const PREFIX = "/courses/positions";

/** Runs work(host) with a host of its own: one site at `host.base`, below a path. */
async function hosting(work) {
  const root = mkdtempSync(join(temporary, "host-"));
  const site = await serve({ root, prefix: PREFIX });
  const front = createServer((request, response) => {
    forward(request, response).catch(() => response.destroy()); // a file may vanish while it is read
  });
  async function forward({ url, method }, response) {
    const path = new URL(url, "http://host").pathname.slice(PREFIX.length + 1);
    const answer = await new Promise((done, fail) => {
      const address = { host: "127.0.0.1", port: site.port, path: url, method, agent: false };
      httpRequest(address, done).on("error", fail).end();
    });
    const body = Buffer.concat(await answer.toArray());
    const { connection: _, ...sent } = answer.headers;
    const headers = { ...sent, ...host.headers };
    if (host.faults[path]) host.faults[path](response, headers, body);
    else response.writeHead(answer.statusCode, headers).end(body);
    host.asked.push(path);
  }
  const listen = (port) => new Promise((done) => front.listen(port, "127.0.0.1", done));
  await listen(0);
  const { port } = front.address();
  const host = {
    base: `http://127.0.0.1:${port}${PREFIX}/`,
    /** How to answer for single files, by path. */
    faults: {},
    /** Sent with every file. */
    headers: {},
    /** Paths of the files answered so far. */
    asked: [],
    async deploy(name) {
      const { folder } = await build(name);
      host.withdraw();
      cpSync(folder, root, { recursive: true });
    },
    withdraw() {
      for (const entry of readdirSync(root)) rmSync(join(root, entry), { recursive: true });
    },
    add: (name, text) => writeFileSync(join(root, name), text),
    down: () =>
      new Promise((done) => {
        front.close(done);
        front.closeAllConnections();
      }),
    up: () => listen(port),
  };
  try {
    return await work(host);
  } finally {
    if (front.listening) await host.down();
    await site.close();
  }
}

/** Opens the lesson and waits until the worker keeps it. */
async function visit(page, address) {
  await page.goto(address);
  await page.waitFor(() => navigator.serviceWorker.controller?.state === "activated", undefined, PATIENCE);
}

/** The tags of a page's figures. */
const tags = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure.wide > *")]
      .map(({ localName }) => localName)
      .filter((tag) => /-/.test(tag)),
  );

/** Brings a figure into view and returns the SHA-256 of the numbers that it computes. */
async function compute(page, tag) {
  await page.evaluate((name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }), tag);
  await page.waitFor((name) => document.querySelector(name).matches(":defined, .failed"), tag, PATIENCE);
  return page.evaluate(async (name) => {
    const figure = document.querySelector(name);
    await figure.ready;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(figure.toCSV()));
    return btoa(String.fromCharCode(...new Uint8Array(digest)));
  }, tag);
}

async function computeAll(page) {
  const numbers = {};
  for (const tag of await tags(page)) numbers[tag] = await compute(page, tag);
  return numbers;
}

/** All that the page consists of is of one build: what it says, what has run in it, and each file it was given. */
async function isOf(page, host, { name, version, assets }, assert) {
  const found = await page.evaluate(async (base) => {
    const files = {};
    for (const { name: url } of performance.getEntriesByType("resource")) {
      if (!url.startsWith(`${base}assets/`)) continue;
      const digest = await crypto.subtle.digest("SHA-256", await (await fetch(url)).arrayBuffer());
      files[url.slice(base.length)] = `sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
    }
    const { content } = document.querySelector("meta[name=posenc-version]");
    return { version: content, ran: [...new Set(window.ran)], files };
  }, host.base);
  assert.deepEqual([found.version, found.ran], [version, [name]]);
  assert.ok(
    Object.keys(found.files).some((path) => path.endsWith(".wasm")),
    `wasm is among ${Object.keys(found.files)}`,
  );
  for (const [path, integrity] of Object.entries(found.files)) assert.equal(integrity, assets[path], path);
}

/**
 * What went wrong in a page, but for two things: the browser's own search for a newer worker may find no server, and
 * Firefox complains of a formula that it lays out before it has read it to its end.
 */
const complaints = async (page) =>
  (await page.consoleErrors()).filter(
    (error) => !/\/sw\.js$|Incorrect number of children for <m/.test(error),
  );

/** The versions that the browser keeps. */
const kept = (page) =>
  page.evaluate(async () => (await caches.keys()).map((name) => name.split(" ").at(-1)).sort());

const noticed = (page) => page.waitFor(() => document.querySelector(".news p"), undefined, PATIENCE);

/** Looks for a new version, and waits until its worker is installed, or given up ("redundant"). */
const update = (page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    const ended = new Promise((done) => {
      registration.addEventListener("updatefound", () => {
        const { installing } = registration;
        installing.addEventListener("statechange", () => done(installing.state), { once: true });
      });
    });
    await registration.update();
    return ended;
  });

const versionOf = (page) => page.evaluate(() => document.querySelector("meta[name=posenc-version]").content);

/** Waits until the page has been reloaded as another version. While it is being left, it has no answer. */
async function becomes(page, { version }) {
  const end = Date.now() + PATIENCE.timeout;
  const isThere = (wanted) =>
    document.readyState === "complete" &&
    document.querySelector("meta[name=posenc-version]").content === wanted;
  while (!(await page.evaluate(isThere, version).catch(() => false)))
    if (Date.now() > end) throw new Error(`the page has not become version ${version}`);
}

export default [
  {
    name: "after one visit the lesson opens without its server, and every figure computes the same numbers",
    run: ({ page, base, assert }) =>
      hosting(async (host) => {
        const a = await build("A");
        const query = "?heatmap.seq-len=60&heatmap.d-model=32";
        await page.goto(`${base}${query}`);
        const expected60 = await compute(page, "pe-heatmap");
        await page.goto(base);
        const expected = await computeAll(page);
        assert.ok(Object.keys(expected).length > 15, Object.keys(expected).join());

        await host.deploy("A");
        await visit(page, host.base);
        assert.deepEqual(await kept(page), [a.version]);
        await host.down();
        await page.goto(host.base);
        assert.deepEqual(await computeAll(page), expected);
        await isOf(page, host, a, assert);
        assert.deepEqual(await complaints(page), []);

        // the state in the address is the page's own
        await page.goto(`${host.base}index.html${query}`);
        assert.equal(await compute(page, "pe-heatmap"), expected60);
        const framed = await page.evaluate(
          () =>
            new Promise((done) => {
              const frame = Object.assign(document.createElement("iframe"), {
                src: "teachers.html?figure=rope",
              });
              frame.addEventListener("load", () => done(frame.contentDocument.title));
              document.body.append(frame);
            }),
        );
        assert.equal(framed, "Teaching positional encoding");
        for (const address of ["teachers.html?from=course", "teachers"]) {
          await page.goto(`${host.base}${address}`);
          assert.equal(await page.evaluate(() => document.title), "Teaching positional encoding");
          assert.equal(await versionOf(page), a.version);
        }
      }),
  },
  {
    name: "the worker answers for pages and assets; parts of files, other methods and other files it leaves alone",
    run: ({ page, assert }) =>
      hosting(async (host) => {
        const { assets } = await build("A");
        const [asset] = Object.keys(assets);
        await host.deploy("A");
        host.add("posenc.js", "export {};");
        await visit(page, host.base);
        const answered = (path, request) =>
          page.evaluate(
            ([url, init]) =>
              fetch(url, { cache: "no-store", ...init }).then(
                (answer) => answer.ok,
                () => false,
              ),
            [path, request],
          );
        const cases = [
          [asset, {}],
          [asset, { headers: { Range: "bytes=0-9" } }],
          [asset, { method: "HEAD" }],
          ["posenc.js", {}],
          ["sw.js", {}],
        ];
        for (const [path, request] of cases) assert.ok(await answered(path, request), path);
        await host.down();
        const [first, ...others] = cases;
        assert.ok(await answered(...first));
        for (const [path, request] of others)
          assert.ok(!(await answered(path, request)), JSON.stringify(request));
      }),
  },
  {
    name: "a page goes on with its version while newer ones are deployed, until its reader asks for the newest",
    run: ({ page, assert }) =>
      hosting(async (host) => {
        const [a, b] = [await build("A"), await build("B")];
        await host.deploy("A");
        await visit(page, host.base);
        await compute(page, "pe-heatmap");

        await host.deploy("B");
        const beside = await page.sibling();
        await beside.goto(`${host.base}?heatmap.seq-len=60`);
        await noticed(page);
        await noticed(beside);
        assert.deepEqual(await kept(page), [a.version, b.version].sort());
        for (const opened of [page, beside]) {
          await compute(opened, "pe-t5");
          await isOf(opened, host, a, assert);
        }

        // one reader asks: the other one's page is neither reloaded nor mixed
        await page.evaluate(() => {
          window.sameDocument = true;
        });
        await beside.click(".news button");
        await becomes(beside, b);
        await compute(beside, "pe-t5");
        await isOf(beside, host, b, assert);
        assert.equal(await beside.evaluate(() => location.search), "?heatmap.seq-len=60");
        await compute(page, "pe-rope");
        await isOf(page, host, a, assert);
        assert.ok(await page.evaluate(() => window.sameDocument));
        assert.deepEqual(await kept(page), [a.version, b.version].sort());

        await page.click(".news button");
        await becomes(page, b);
        await compute(page, "pe-rope");
        await isOf(page, host, b, assert);
        await page.waitFor(async () => (await caches.keys()).length === 1, undefined, PATIENCE);
        assert.deepEqual(await kept(page), [b.version]);
        for (const opened of [page, beside]) assert.deepEqual(await complaints(opened), []);
      }),
  },
  {
    name: "once no page of the old version is open, the next one opens the new version",
    run: ({ page, assert }) =>
      hosting(async (host) => {
        const b = await build("B");
        await host.deploy("A");
        const beside = await page.sibling();
        await visit(beside, host.base);
        await host.deploy("B");
        assert.equal(await update(beside), "installed");
        await page.goto(new URL("/", host.base).href); // above the site, hence not one of its pages
        await beside.close();
        await page.waitFor(
          async (scope) => !(await navigator.serviceWorker.getRegistration(scope)).waiting,
          host.base,
          PATIENCE,
        );
        await page.goto(host.base);
        await compute(page, "pe-heatmap");
        await isOf(page, host, b, assert);
        await page.waitFor(async () => (await caches.keys()).length === 1, undefined, PATIENCE);
        assert.deepEqual(await kept(page), [b.version]);
        assert.equal(await page.evaluate(() => document.querySelector(".news p")), null);
      }),
  },
  {
    name: "an update of which one file does not arrive as it was built changes nothing, and is made up for later",
    run: ({ page, assert }) =>
      hosting(async (host) => {
        const [a, b] = [await build("A"), await build("B")];
        await host.deploy("A");
        await visit(page, host.base);
        await host.deploy("B");
        const wasm = Object.keys(b.assets).find((path) => path.endsWith(".wasm"));
        for (const path of [wasm, "teachers.html"]) {
          for (const [what, fault] of Object.entries(FAULTS)) {
            host.faults = { [path]: fault };
            assert.equal(await update(page), "redundant", `${path} ${what}`);
            assert.deepEqual(await kept(page), [a.version], `${path} ${what}`);
          }
        }
        await host.down();
        await page.goto(host.base);
        assert.equal(await page.evaluate(() => document.querySelector(".news p")), null);
        await compute(page, "pe-heatmap");
        await isOf(page, host, a, assert);

        await host.up();
        host.faults = {};
        assert.equal(await update(page), "installed");
        await noticed(page);
        assert.deepEqual(await kept(page), [a.version, b.version].sort());
      }),
  },
  {
    name: "once its host has taken the lesson away, the next visit but one sees what is there now",
    run: ({ page, assert }) =>
      hosting(async (host) => {
        await host.deploy("A");
        await visit(page, host.base);
        host.withdraw();
        host.add("index.html", "<!doctype html><title>Another course</title>");
        await page.goto(host.base);
        await compute(page, "pe-heatmap");
        await page.waitFor(
          async () => !(await navigator.serviceWorker.getRegistration()),
          undefined,
          PATIENCE,
        );
        await page.goto(host.base);
        assert.equal(await page.evaluate(() => document.title), "Another course");
      }),
  },
  {
    name: "where nothing can be stored, or no worker is allowed, the lesson is read from its server without a word",
    run: ({ page, newPage, assert }) =>
      hosting(async (host) => {
        const readsAsBefore = async (opened) => {
          await compute(opened, "pe-heatmap");
          assert.deepEqual(await kept(opened), []);
          assert.equal(await opened.evaluate(() => document.querySelector(".news p")), null);
          assert.deepEqual(await complaints(opened), []);
        };
        await host.deploy("A");
        const { folder } = await build("A");
        const script = readFileSync(join(folder, "sw.js"), "utf8");
        const full = `CacheStorage.prototype.open = async () => { throw new DOMException("", "QuotaExceededError"); };`;
        host.add("sw.js", `${full}\n${script}`);
        await page.goto(host.base);
        const state = await page.evaluate(async () => {
          const { installing } = await navigator.serviceWorker.register("sw.js");
          if (installing?.state === "installing")
            await new Promise((done) => installing.addEventListener("statechange", done, { once: true }));
          return installing?.state ?? "redundant";
        });
        assert.equal(state, "redundant");

        await readsAsBefore(page);

        const refused = await newPage();
        const html = readFileSync(join(folder, "index.html"), "utf8");
        host.add("index.html", html.replace("<head>", '$&<script src="refuse.js"></script>'));
        host.add(
          "refuse.js",
          `navigator.serviceWorker.register = async () => {
             globalThis.asked = true;
             throw new DOMException("", "SecurityError");
           };`,
        );
        await refused.goto(host.base);
        await refused.waitFor(() => window.asked);
        await readsAsBefore(refused);
      }),
  },
  {
    name: "in another page's frame, sandboxed or not, the lesson registers no worker",
    run: ({ page, newPage, assert }) =>
      hosting(async (host) => {
        await host.deploy("A");
        const { origin } = new URL(host.base);
        host.headers = {
          "access-control-allow-origin": "*",
          // in WebKit a sandboxed page is no 'self'
          "content-security-policy": `default-src ${origin}; script-src ${origin} 'wasm-unsafe-eval'`,
        };
        const html = readFileSync(join((await build("A")).folder, "index.html"), "utf8");
        host.add("index.html", html.replace("</body>", '<script type="module" src="inner.js"></script>$&'));
        // after the page's own script, and after what that does once the page is loaded
        host.add("inner.js", 'addEventListener("load", () => parent.postMessage("loaded", "*"));');
        host.add("outer.js", 'addEventListener("message", ({ data }) => { window[data] = true; });');
        host.add("icon.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>');
        for (const [name, attributes] of [
          ["framed.html", ""],
          ["sandboxed.html", 'sandbox="allow-scripts"'],
        ]) {
          const head = '<!doctype html><link rel="icon" href="icon.svg"><script src="outer.js"></script>';
          host.add(name, `${head}<iframe ${attributes} src="./"></iframe>`);
          const opened = name === "framed.html" ? page : await newPage();
          await opened.goto(`${host.base}${name}`);
          await opened.waitFor(() => window.loaded);
          const registrations = async () => (await navigator.serviceWorker.getRegistrations()).length;
          assert.equal(await opened.evaluate(registrations), 0);
          assert.ok(!host.asked.includes("sw.js"), host.asked.join());
          assert.deepEqual(await complaints(opened), []);
        }
      }),
  },
  {
    name: "the notice is spoken, reached by one Tab, fits a narrow window, and can be put away",
    page: { width: 320, height: 700 },
    run: ({ page, assert }) =>
      hosting(async (host) => {
        await host.deploy("A");
        await visit(page, host.base);
        assert.equal(await page.evaluate(() => document.querySelector(".news").role), "status");
        await host.deploy("B");
        await update(page);
        await noticed(page);
        const { text, buttons, fits } = await page.evaluate(() => {
          const box = document.querySelector(".news p").getBoundingClientRect();
          const sizes = [...document.querySelectorAll(".news button")].map((button) =>
            button.getBoundingClientRect(),
          );
          return {
            text: document.querySelector(".news p").firstChild.textContent,
            buttons: sizes.map(({ width, height }) => Math.min(width, height)),
            fits: box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight,
          };
        });
        assert.equal(text, "A new version of the lesson is ready.");
        assert.ok(buttons.length === 2 && buttons.every((size) => size >= 24), String(buttons));
        assert.ok(fits, "within the window");
        await page.evaluate(AXE);
        const findings = await page.evaluate(async () => {
          const { violations } = await window.axe.run(".news", { resultTypes: ["violations"] });
          return violations.map(({ id }) => id);
        });
        assert.deepEqual(findings, []);

        await page.press("Tab");
        await page.press("Tab");
        assert.equal(await page.evaluate(() => document.activeElement.textContent), "Reload");
        await page.press("Tab");
        await page.press("Enter");
        assert.equal(await page.evaluate(() => document.querySelector(".news").textContent), "");
      }),
  },
];
