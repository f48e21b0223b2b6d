// Runs the browser tests in one engine:   node tests/browser/run.mjs chromium|firefox|webkit [parts of names]
//
// A file *.test.mjs in this folder exports a list of { name, page?, engines?, run }. The name is a sentence that is true of
// the page. `page` gives the size and settings of the page that the test starts with (see PAGE), `engines` those that
// run it, if not all (see engines.mjs). `run` receives
//   page      a fresh, blank page (page.mjs lists what it can do)
//   newPage   opens another one: newPage({ width, height, colorScheme, reducedMotion, script });
//             script: false is impossible in Firefox
//   base      the address of dist/, served below a path as a course would, with scripts/serve.mjs's headers; there,
//             pe-rope.html is the lesson without the sections that have no pe-rope, which an engine lays out sooner
//   origin    the address of dist/ served at the root of another port
//   engine    "chromium", "firefox" or "webkit"
//   assert    node:assert/strict
//
//   export default [{
//     name: "the arrow keys move the slider",
//     page: { width: 360 },
//     async run({ page, base, assert }) {
//       await page.goto(base);
//       await page.click("pe-heatmap >> input");
//       await page.press("ArrowRight");
//       assert.equal(await page.evaluate(() => document.activeElement.value), 1);
//     },
//   }];
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { Failure, main, ROOT } from "../../scripts/run.mjs";
import { serve } from "../../scripts/serve.mjs";
import { ALL_IN_ALL, ENGINES } from "./engines.mjs";
import { Page } from "./page.mjs";

const PAGE = { width: 1280, height: 900, colorScheme: "light", reducedMotion: false, script: true };
const TEST_SECONDS = 300;
const RUN_SECONDS = 3600;

/** Rejects if the work takes longer than it may. */
async function within(seconds, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function loadTests(engine, wanted) {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const tests = [];
  for (const file of readdirSync(folder).sort()) {
    if (file.endsWith(".test.mjs")) tests.push(...(await import(join(folder, file))).default);
  }
  return tests
    .filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
    .filter(({ engines = ENGINES }) => ALL_IN_ALL || engines.includes(engine));
}

/** The lesson, shortened to the sections of one figure, for the path "/pe-rope.html". */
function shortLesson(path) {
  const [, tag] = path.match(/^\/(pe-[a-z0-9-]+)\.html$/) ?? [];
  if (!tag) return null;
  const lesson = readFileSync(join(ROOT, "dist/index.html"), "utf8");
  return lesson.replace(/^<section .*?^<\/section>\n/gms, (section) =>
    new RegExp(`<${tag}[ >]`).test(section) ? section : "",
  );
}

function report(error) {
  const ours = /(browser|scripts)\/run\.mjs|node:internal|node_modules/;
  const lines = (error.stack ?? String(error))
    .split("\n")
    .filter((line) => !/^ +at /.test(line) || !ours.test(line));
  if (error instanceof assert.AssertionError)
    for (const side of ["expected", "actual"]) lines.push(`${side}: ${inspect(error[side], { depth: 6 })}`);
  return lines.join("\n").replace(/^/gm, "    ");
}

/** The engine's own process has ended: a fault of its, which its driver tells in these words. */
const hasCrashed = (error) => /session deleted because of page crash/.test(error?.message);

async function runTest(test, browser, context) {
  const pages = [];
  const newPage = async (settings) => {
    const page = new Page(await browser.open({ ...PAGE, ...settings }));
    pages.push(page);
    return page;
  };
  try {
    const work = async () => test.run({ ...context, assert, newPage, page: await newPage(test.page) });
    await within(TEST_SECONDS, work());
    return null;
  } catch (error) {
    const picture = join(ROOT, "build/failures", `${context.engine} ${test.name.replaceAll("/", " ")}.png`);
    mkdirSync(join(ROOT, "build/failures"), { recursive: true });
    await within(10, pages[0]?.screenshot(picture)).catch(() => {});
    return error;
  } finally {
    for (const page of pages) await within(10, page.close()).catch(() => {});
  }
}

async function runAll(engine, wanted) {
  const root = join(ROOT, "dist");
  const [site, course] = [
    await serve({ root }),
    await serve({ root, prefix: "/courses/positions", page: shortLesson }),
  ];
  const tests = await loadTests(engine, wanted);
  const { launch } = await import(`./${engine}.mjs`);
  const browser = await launch();
  console.log(`# ${engine} ${browser.version}`);
  let failed = 0;
  for (const [i, test] of tests.entries()) {
    const start = performance.now();
    const attempt = () => runTest(test, browser, { engine, base: course.url, origin: site.url });
    let error = await attempt();
    if (hasCrashed(error)) {
      console.log(`# ${engine} itself crashed in: ${test.name}; once more`);
      error = await attempt();
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${error ? "not ok" : "ok"} ${i + 1} - ${engine}: ${test.name} (${seconds} s)`);
    if (error) console.log(report(error));
    if (error) ++failed;
  }
  console.log(`${tests.length - failed} passed, ${failed} failed`);
  await within(20, browser.close()).catch(() => {});
  return tests.length > 0 && failed === 0;
}

await main(import.meta.url, async ([engine, ...wanted]) => {
  if (!ENGINES.includes(engine)) throw new Failure(`"${engine}" is not an engine: ${ENGINES.join(", ")}`);
  // an exit handler of each engine ends its browsers, so every way out must pass through process.exit
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
  const passed = await within(RUN_SECONDS, runAll(engine, wanted)).catch((error) =>
    console.log(report(error)),
  );
  process.exit(passed ? 0 : 1);
});
