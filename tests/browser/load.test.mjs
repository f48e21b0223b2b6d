// What a reader sees while the page is still arriving.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/run.mjs";
import { openWithoutScript } from "./reading.mjs";

const MOST_BYTES = 120_000;

/** Bytes of a file of dist/ as it is served. */
function served(path) {
  const file = join(ROOT, "dist", path || "index.html");
  return statSync(existsSync(`${file}.br`) ? `${file}.br` : file).size;
}

/** The first figure: whether its drawn picture is in sight, its title, and its place in the document. Runs in the page. */
const firstFigure = () => {
  const figure = document.querySelector("pe-permutation");
  const drawn = figure.querySelector(".first-picture");
  const shown = [...drawn.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().height > 100);
  const { bottom } = drawn.getBoundingClientRect();
  const box = figure.getBoundingClientRect();
  return {
    defined: figure.matches(":defined"),
    alive: Boolean(figure.shadowRoot?.querySelector("footer")),
    pictures: drawn.checkVisibility() ? shown.length : 0,
    within: bottom <= box.bottom + 1,
    title: drawn.querySelector("h3").textContent,
    top: Math.round(box.top + scrollY),
    height: Math.round(box.height),
  };
};

/** From now on WebAssembly arrives when `window.arrive()` is called. Runs in the page. */
const withhold = () => {
  const fetchNow = window.fetch;
  const gate = new Promise((done) => {
    window.arrive = done;
  });
  window.fetch = async (address, ...rest) => {
    if (String(address?.url ?? address).includes(".wasm")) await gate;
    return fetchNow(address, ...rest);
  };
};

const comesAlive = (width, height) => ({
  name: `in a window of ${width} px the first figure shows its picture before WebAssembly is there, and comes alive in its place`,
  page: { width, height },
  async run({ page, base, assert }) {
    await page.goto(base);
    await page.evaluate(withhold);
    await page.evaluate(() =>
      document.querySelector("pe-permutation").scrollIntoView({ behavior: "instant" }),
    );
    const before = await page.evaluate(firstFigure);
    await page.waitFor(() => document.querySelector("pe-permutation").matches(":defined"));
    await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
    const waiting = await page.evaluate(firstFigure);
    assert.deepEqual({ ...waiting, defined: before.defined }, before, "being defined changes nothing");
    assert.deepEqual(
      { pictures: waiting.pictures, within: waiting.within, alive: waiting.alive },
      { pictures: 3, within: true, alive: false },
    );
    await page.evaluate(() => window.arrive());
    await page.waitFor(() => document.querySelector("pe-permutation").shadowRoot.querySelector("footer"));
    const after = await page.evaluate(firstFigure);
    assert.deepEqual(
      [after.pictures, after.top],
      [0, before.top],
      "the figure stands where its picture stood",
    );
    assert.equal(after.height, before.height);
    assert.equal(
      await page.evaluate(
        () => document.querySelector("pe-permutation").shadowRoot.querySelector("h3").textContent,
      ),
      before.title,
    );
    // Chromium alone tells of shifts.
    const shifts = await page.evaluate(async () => {
      if (!PerformanceObserver.supportedEntryTypes.includes("layout-shift")) return [];
      const values = [];
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) values.push(value);
      }).observe({ type: "layout-shift", buffered: true });
      await new Promise((done) => setTimeout(done, 100));
      return values;
    });
    const sum = shifts.reduce((all, value) => all + value, 0);
    assert.ok(sum < 0.001, `the page shifts by ${sum}`);
    assert.deepEqual(await page.consoleErrors(), []);
  },
});

const fetchesLittle = (width, height) => ({
  name: `in a window of ${width} px, what is fetched before the page is scrolled is at most 120 kB`,
  page: { width, height },
  async run({ page, base, assert }) {
    await page.goto(base);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 1500)));
    const own = (await page.requests()).filter((url) => url.startsWith(base)); // Firefox may name a font of its own
    const files = own.map((url) => url.slice(base.length));
    assert.ok(files.length > 5 && files.includes(""), files.join());
    const bytes = files.reduce((sum, file) => sum + served(file), 0);
    assert.ok(
      bytes <= MOST_BYTES,
      `${bytes} bytes: ${files.map((file) => `${file} ${served(file)}`).join(", ")}`,
    );
  },
});

export default [
  fetchesLittle(1280, 900),
  fetchesLittle(412, 823),
  comesAlive(1280, 900),
  comesAlive(412, 823),
  {
    name: "without script the picture of the first figure stays",
    async run({ newPage, base, engine, assert }) {
      const page = await openWithoutScript(newPage, engine, base);
      const { pictures, alive } = await page.evaluate(firstFigure);
      assert.deepEqual({ pictures, alive }, { pictures: 3, alive: false });
    },
  },
  {
    name: "what lies far below waits until the reader does something, and is then laid out as ever, at once for a link",
    async run({ page, newPage, base, assert }) {
      const sections = () =>
        [...document.querySelectorAll("article > section")].map((section) => {
          const { top, height } = section.getBoundingClientRect();
          return [section.id, Math.round(top + scrollY), Math.round(height)];
        });
      const isOpening = () => document.documentElement.classList.contains("opening");
      await page.goto(base);
      const wanted = await page.evaluate(sections);
      const leap = () => document.querySelector('#section-list a[href="#training"]').click();
      for (const does of [() => dispatchEvent(new Event("keydown")), leap]) {
        const opening = await newPage();
        await opening.goto(base, { laidOut: false });
        await opening.evaluate(() => new Promise((done) => setTimeout(done, 300)));
        assert.equal(await opening.evaluate(isOpening), true);
        const early = await opening.evaluate(sections);
        assert.deepEqual(early[0], wanted[0]);
        const waiting = early.filter(([, , height], i) => height !== wanted[i][2]);
        assert.ok(waiting.length > 10, `${waiting.length} sections wait`);
        await opening.evaluate(does);
        await opening.waitFor(() => !document.documentElement.classList.contains("opening"));
        assert.deepEqual(await opening.evaluate(sections), wanted);
        if (does === leap)
          await opening.waitFor(() => {
            const { top } = document.querySelector("#training").getBoundingClientRect();
            return top >= 0 && top < 100;
          });
        assert.deepEqual(await opening.consoleErrors(), []);
      }
    },
  },
  {
    name: "an address with the name of a late section opens at that section",
    async run({ page, base }) {
      await page.goto(`${base}#training`);
      await page.waitFor(() => {
        const { top } = document.querySelector("#training").getBoundingClientRect();
        return top >= 0 && top < 100;
      });
    },
  },
];
