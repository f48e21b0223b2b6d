// The service worker of the built site, as a file and as code. Needs dist/ (npm run build). What it does for a reader is
// tested in tests/browser/offline.test.mjs.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { runnerImport } from "vite";
import { serve } from "../../scripts/serve.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const dist = join(root, "dist");
const { stamp } = (
  await runnerImport(join(root, "web/offline/plugin.ts"), { configFile: false, logLevel: "warn" })
).module;

const read = (name, folder = dist) => readFileSync(join(folder, name), "utf8");
const buildOf = (folder) => JSON.parse(/^const BUILD=(.*);\n/.exec(read("sw.js", folder))[1]);
const build = buildOf(dist);

const temporary = mkdtempSync(join(tmpdir(), "posenc-offline-"));
after(() => rmSync(temporary, { recursive: true }));

/** A copy of dist/ that `change(folder)` may alter. */
function copy(change = () => {}) {
  const folder = mkdtempSync(join(temporary, "site-"));
  cpSync(dist, folder, { recursive: true });
  change(folder);
  return folder;
}

test("the lesson's pages and every asset are kept, each with the hash of its content, and nothing else", () => {
  const hash = (name) =>
    createHash("sha256")
      .update(readFileSync(join(dist, name)))
      .digest("base64");
  const assets = readdirSync(join(dist, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
  assert.deepEqual(
    build.assets,
    Object.fromEntries(assets.map((name) => [`assets/${name}`, `sha256-${hash(`assets/${name}`)}`])),
  );
  for (const page of ["index.html", "teachers.html"]) assert.ok(build.pages.includes(page), page);
  for (const page of build.pages)
    assert.match(read(page), new RegExp(`<meta name="posenc-version" content="${build.version}">`));
});

test("whatever a kept file names in assets/ is kept too", () => {
  const kept = new Set(Object.keys(build.assets).map((path) => path.slice("assets/".length)));
  let named = 0;
  for (const path of [...build.pages, ...Object.keys(build.assets)].filter((name) =>
    /\.(html|js|css)$/.test(name),
  )) {
    for (const [name] of read(path).matchAll(
      /(?<=["'`(/])[\w.-]+-[\w-]{8}\.(?:js|css|wasm|woff2|svg)(?=["'`)])/g,
    )) {
      assert.ok(kept.has(name), `${path} names ${name}`);
      ++named;
    }
  }
  assert.ok(named > kept.size, `${named} names of ${kept.size} files`);
});

test("the version is another once any page, asset or the worker differs in one byte, and the same otherwise", async () => {
  const again = copy();
  assert.deepEqual(await stamp(again), build);
  assert.deepEqual(
    readdirSync(again, { recursive: true }).filter(
      (name) => /\.\w+$/.test(name) && read(name, again) !== read(name),
    ),
    [],
  );
  const versions = new Set([build.version]);
  const changed = [...build.pages, ...Object.keys(build.assets), "sw.js"];
  const folder = copy();
  for (const name of changed) {
    const path = join(folder, name);
    const before = readFileSync(path);
    writeFileSync(path, Buffer.concat([before, Buffer.from(" ")]));
    versions.add((await stamp(folder)).version);
    writeFileSync(path, before);
  }
  assert.equal(versions.size, changed.length + 1);
});

test("an asset whose name carries no hash is refused, since it would have other content in another version", async () => {
  const folder = copy((path) => writeFileSync(join(path, "assets/posenc.wasm"), ""));
  await assert.rejects(stamp(folder), {
    message: "assets/posenc.wasm: its name carries no hash of its content",
  });
});

test("other files beside the pages are not kept: a page without the mark, what other sites embed, compressed copies", async () => {
  const folder = copy((path) => {
    for (const name of ["lesson.html", "posenc.js", "posenc-scorm12.zip", "assets/theme-C-5-cfbu.js.br"])
      writeFileSync(join(path, name), "");
  });
  assert.deepEqual(await stamp(folder), build);
});

/** Which requests the worker answers, asked outside a browser. */
function answers(scope, url, { mode = "no-cors", ...init } = {}) {
  const listeners = {};
  const pending = new Promise(() => {});
  const globals = {
    registration: { scope },
    caches: { match: () => pending, keys: () => pending },
    addEventListener: (type, listener) => Object.assign(listeners, { [type]: listener }),
    URL,
  };
  new Script(read("sw.js")).runInContext(createContext(globals));
  const { method, headers } = new Request(url, init);
  let answered = false;
  listeners.fetch({ request: { url, method, headers, mode }, respondWith: () => (answered = true) });
  return answered;
}

test("the worker answers for GET requests of pages and assets below its own path, and for nothing else", () => {
  const scope = "https://host.test/courses/positions/";
  const [asset] = Object.keys(build.assets);
  const page = { mode: "navigate" };
  for (const [url, init] of [
    ["", page],
    ["?heatmap.seq-len=60#sinusoidal", page],
    ["index.html?lang=en", page],
    ["teachers.html", page],
    ["teachers", page],
    [asset],
    ["assets/pe-rope-Older_-1.js"],
  ])
    assert.ok(answers(scope, scope + url, init), url);
  for (const [url, init] of [
    [scope], // not as a page
    [`${scope}other.html`, page],
    [`${scope}lesson.html`, page],
    [`${scope}offline/pe-rope.html`, page],
    [`${scope}posenc-scorm12.zip`, page],
    [`${scope}posenc.js`],
    [`${scope}embed.js`],
    [`${scope}figures/pe-rope.js`],
    [`${scope}chunks/figure-Ab3_x-9Z.js`],
    [`${scope}assets/unhashed.js`],
    [`${scope}sw.js`],
    [scope + asset, { headers: { Range: "bytes=0-9" } }],
    [scope + asset, { method: "HEAD" }],
    [scope, { ...page, method: "POST", body: "" }],
    [`https://host.test/courses/${asset}`],
    [`https://host.test/courses/positions2/${asset}`],
    [`https://other.test/courses/positions/${asset}`],
  ])
    assert.ok(!answers(scope, url, init), `${init?.method ?? ""} ${url}`);
});

test("the server lets nobody keep an old worker", async () => {
  const site = await serve({ root: dist });
  try {
    const { headers } = await fetch(`${site.url}sw.js`);
    assert.equal(headers.get("cache-control"), "no-cache");
    assert.match(headers.get("content-type"), /^text\/javascript/);
  } finally {
    await site.close();
  }
});
