// WebAssembly that a page may not run, or whose file does not come: JavaScript computes in its place, and says why.

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { loadPosenc } from "posenc";
import { ROOT } from "../../scripts/run.mjs";
import { HEADERS } from "../../scripts/serve.mjs";
import { TAGS } from "./host.mjs";

const PACKAGE = join(ROOT, "build/package");
const TYPES = {
  html: "text/html",
  js: "text/javascript",
  svg: "image/svg+xml",
  mjs: "text/javascript",
  wasm: "application/wasm",
};
const [SIMD, SCALAR] = ["simd", "scalar"].map((build) =>
  readdirSync(PACKAGE).find((name) => new RegExp(`^posenc-${build}-.*wasm$`).test(name)),
);
const ROWS = { seqLen: 24, dModel: 32 };

/**
 * A page of a figure and a paragraph, with `first` as its first script, from a server that answers as `fault` says, as
 * long as `work` does what it does with its address.
 */
async function host(
  { first = "", script = "posenc.js", integrity = "", headers = HEADERS, fault = () => null },
  work,
) {
  const page = `<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" /><meta name="viewport" content="width=device-width" /><title>A course</title>
        <link rel="icon" href="icon.svg" />
        <script src="first.js"></script>
        <script type="module" src="${script}" ${integrity}></script>
      </head>
      <body><p>Prose.</p><pe-heatmap seq-len="24" d-model="32"></pe-heatmap></body>
    </html>`;
  const own = {
    "": [page, "html"],
    "first.js": [first, "js"],
    "icon.svg": ["<svg xmlns='http://www.w3.org/2000/svg'/>", "svg"],
  };
  const server = createServer(({ url }, response) => {
    const path = url.slice(1).split("?")[0];
    try {
      const [content, kind] = own[path] ?? [readFileSync(join(PACKAGE, path)), path.split(".").at(-1)];
      const answer = { status: 200, type: TYPES[kind], content, ...fault(path, content) };
      response.writeHead(answer.status, { ...headers, "Content-Type": answer.type });
      response.end(answer.content);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await work(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** What stands in the figure, once it has drawn or given up. Runs in the page. */
const outcome = async () => {
  const figure = document.querySelector("pe-heatmap");
  await customElements.whenDefined("pe-heatmap");
  const refused = await figure.ready.then(
    () => null,
    ({ message }) => message,
  );
  await figure.updateComplete;
  const text = (selector) => figure.shadowRoot.querySelector(selector)?.textContent ?? null;
  return {
    refused,
    problem: text(".problem"),
    twin: text(".twin"),
    table: refused === null ? figure.toCSV() : null,
    prose: document.querySelector("p").textContent,
    height: figure.offsetHeight,
  };
};

/** The numbers of the figure, as Node's core has them. */
async function expected() {
  const table = (await loadPosenc()).sinusoidalTable(ROWS);
  return Array.from({ length: ROWS.seqLen }, (_, row) =>
    [...table.subarray(row * ROWS.dModel, (row + 1) * ROWS.dModel)].map(Number),
  );
}
const numbersOf = (csv) =>
  csv
    .trim()
    .split("\n")
    .map((line) => line.split(",").map(Number))
    .filter((row) => row.every(Number.isFinite))
    .map((row) => row.slice(-ROWS.dModel).map(Math.fround));

/** The host's page goes on, and the figure's numbers are right. */
async function computes(assert, page, url) {
  await page.goto(url);
  const found = await page.evaluate(outcome);
  assert.equal(found.refused, null);
  assert.equal(found.problem, "");
  assert.equal(found.prose, "Prose.");
  assert.deepEqual(numbersOf(found.table), await expected());
  return found.twin;
}

/** What browsers themselves say of a file that is not there, or of a policy. */
const BROWSERS_OWN = /404|Content.Security.Policy|blocked by|unsafe-eval|wasm-eval/i;
const ours = async (page) => (await page.consoleErrors()).filter((error) => !BROWSERS_OWN.test(error));

const another = (bytes) => {
  const other = Buffer.from(bytes);
  other[other.length - 1] ^= 1; // the last letter of its mark
  return other;
};

/** A file of WebAssembly that does not come as it should, and what the figure says of it. */
const FILES = [
  ["is missing", () => ({ status: 404, content: "" }), /posenc-simd-.*\.wasm could not be loaded: 404/],
  [
    "is a page of the host's",
    () => ({ type: "text/html", content: "<!doctype html>" }),
    /is no WebAssembly module/,
  ],
  ["is cut off", (bytes) => ({ content: bytes.subarray(0, 50_000) }), /is damaged or incomplete: /],
  [
    "is of another version",
    (bytes) => ({ content: another(bytes) }),
    /is of another version of posenc than the script/,
  ],
];

/** What pe-train says after a step. */
async function trains(page) {
  await page.evaluate(async () => {
    const figure = document.createElement("pe-train");
    document.body.append(figure);
    await figure.ready;
    const buttons = figure.shadowRoot.querySelectorAll("button");
    [...buttons].find(({ textContent }) => textContent.trim() === "Step").click();
  });
  return page.waitFor(
    () =>
      document
        .querySelector("pe-train")
        .shadowRoot.querySelector(".status")
        .textContent.match(/step 1 .*/)?.[0],
    undefined,
    { timeout: 60_000 },
  );
}

export default [
  ...FILES.map(([what, answer, said]) => ({
    name: `where the WebAssembly file ${what}, the figure computes the same numbers and says why it is slower`,
    async run({ page, assert }) {
      await host(
        {
          fault: (path, bytes) => (path === SIMD ? answer(bytes) : null),
        },
        async (url) => {
          const twin = await computes(assert, page, url);
          assert.match(twin, /^Computed by JavaScript, slower but as exact: /);
          assert.match(twin, said);
          assert.deepEqual(await ours(page), []);
        },
      );
    },
  })),
  {
    name: "WebAssembly with a wrong MIME type runs",
    async run({ page, assert }) {
      await host(
        {
          fault: (path) => (path.endsWith(".wasm") ? { type: "text/plain" } : null),
        },
        async (url) => {
          assert.equal(await computes(assert, page, url), null);
          assert.deepEqual(await page.consoleErrors(), []);
        },
      );
    },
  },
  {
    name: "without SIMD the scalar build runs",
    async run({ page, assert }) {
      await host({ first: "WebAssembly.validate = () => false;" }, async (url) => {
        assert.equal(await computes(assert, page, url), null);
        const files = (await page.requests()).filter((address) => address.endsWith(".wasm"));
        assert.deepEqual(
          files.map((address) => address.split("/").at(-1)),
          [SCALAR],
        );
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "without SIMD what is one file computes as JavaScript, and says so",
    async run({ page, assert }) {
      await host(
        { first: "WebAssembly.validate = () => false;", script: "posenc.inline.js" },
        async (url) => {
          assert.match(await computes(assert, page, url), /: this browser’s WebAssembly has no SIMD\.$/);
          assert.deepEqual(await page.consoleErrors(), []);
        },
      );
    },
  },
  {
    name: "without WebAssembly every figure draws, and says why it is slower",
    async run({ page, assert }) {
      await host({ first: "delete window.WebAssembly;" }, async (url) => {
        assert.match(await computes(assert, page, url), /: this browser runs no WebAssembly\.$/);
        const found = await page.evaluate(async (tags) => {
          const seen = [];
          for (const tag of tags) {
            const figure = document.createElement(tag);
            document.body.append(figure);
            await figure.ready;
            await figure.updateComplete;
            const root = figure.shadowRoot;
            seen.push([
              tag,
              root.querySelector(".problem").textContent,
              root.querySelector(".twin") !== null,
            ]);
            figure.remove();
          }
          return seen;
        }, TAGS);
        assert.deepEqual(
          found,
          TAGS.map((tag) => [tag, "", true]),
        );
        assert.deepEqual(await page.consoleErrors(), []);
      });
    },
  },
  {
    name: "under a policy that forbids WebAssembly the figure computes, in one file too, and names what the policy lacks",
    async run({ page, newPage, assert }) {
      const policy = { "Content-Security-Policy": "default-src 'self'" };
      for (const [script, where] of [
        ["posenc.js", page],
        ["posenc.inline.js", await newPage()],
      ]) {
        await host({ script, headers: policy }, async (url) => {
          const twin = await computes(assert, where, url);
          const reason =
            "the security policy of this page allows no WebAssembly: its script-src lacks 'wasm-unsafe-eval'";
          assert.equal(twin, `Computed by JavaScript, slower but as exact: ${reason}.`);
          if (script === "posenc.js") {
            assert.match(await trains(where), new RegExp(`in a worker, by JavaScript, slower.*: ${reason}`));
          }
          assert.deepEqual(await ours(where), []);
        });
      }
    },
  },
  {
    name: "where neither WebAssembly nor JavaScript comes, the figure says so, the text stays, and a reload brings it",
    async run({ page, assert }) {
      let broken = true;
      await host(
        {
          fault: (path) => (broken && /\.wasm$|-twin-/.test(path) ? { status: 404, content: "" } : null),
        },
        async (url) => {
          await page.goto(url);
          const found = await page.evaluate(outcome);
          assert.match(
            found.problem,
            /^The core that computes this figure did not load \(.*posenc-simd-.*: 404.*; the JavaScript in its place did not load either: .*\)\. Reloading the page tries again\.$/,
          );
          assert.equal(found.refused, found.problem);
          assert.equal(found.prose, "Prose.");
          assert.deepEqual(await ours(page), []);
          broken = false;
          assert.equal(await computes(assert, page, url), null);
        },
      );
    },
  },
  {
    name: "with the hash of integrity.json the bundle in one file runs, and one that was changed is not run",
    async run({ page, assert }) {
      const script = "posenc.inline.js";
      const hash = JSON.parse(readFileSync(join(PACKAGE, "integrity.json"), "utf8"))[script];
      let changed = false;
      await host(
        {
          script,
          integrity: `integrity="${hash}" crossorigin="anonymous"`,
          fault: (path, bytes) =>
            changed && path === script ? { content: `${bytes}document.title = "Changed";` } : null,
        },
        async (url) => {
          assert.equal(await computes(assert, page, url), null);
          assert.deepEqual(await page.consoleErrors(), []);
          changed = true;
          await page.goto(`${url}?again`);
          const seen = await page.evaluate(() => [
            document.title,
            document.querySelector("p").textContent,
            customElements.get("pe-heatmap") === undefined,
          ]);
          assert.deepEqual(seen, ["A course", "Prose.", true]);
        },
      );
    },
  },
];
