// The kernels in Chromium, beside optimised JavaScript in the same page; and a heatmap's update on its canvas.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { ROOT, which } from "../../scripts/run.mjs";
import { launch } from "../browser/chromium.mjs";

const TYPES = { ".mjs": "text/javascript", ".wasm": "application/wasm" };
const FILES = ["/tests/bench/page.mjs", "/tests/bench/measure.mjs", "/tests/bench/tasks.mjs"]
  .concat(["/tests/bench/adapters/ours.mjs", "/tests/bench/adapters/js.mjs"])
  .concat("/build/wasm-simd/posenc-bench.wasm");

const PAGE = `<!doctype html><title>bench</title><body><script type="module" src="/tests/bench/page.mjs"></script>`;

function serve() {
  const server = createServer(({ url }, response) => {
    if (FILES.includes(url)) {
      response.writeHead(200, { "content-type": TYPES[extname(url)] }).end(readFileSync(join(ROOT, url)));
    } else {
      response.writeHead(url === "/" ? 200 : 404, { "content-type": "text/html" }).end(PAGE);
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** { version, rows: [{ what, ms, ratio }] }, or null without Chromium. */
export async function inChromium(effort) {
  if (!which("chromium-headless-shell")) return null;
  const server = await serve();
  const browser = await launch();
  try {
    const page = await browser.open({ width: 800, height: 600, script: true });
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const rows = await page.evaluate(
      `(async () => (await import("/tests/bench/page.mjs")).measureAll(${JSON.stringify(effort)}))()`,
    );
    console.log(`\nChromium ${browser.version}`);
    for (const { what, ms, ratio } of rows)
      console.log(`  ${what}: ${ms.toPrecision(3)} ms, optimised JavaScript ×${ratio.toPrecision(3)}`);
    return { version: browser.version, rows };
  } finally {
    await browser.close();
    server.close();
  }
}
