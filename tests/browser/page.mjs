// One page of a browser, the same for all engines. An engine provides a `driver` with
//   goto(url), evaluate(expression) → string, pointer("move" | "down" | "up", x, y), key("down" | "up", key),
//   screenshot(path), errors() → string[], requests() → string[], sibling() → driver, close()
// and everything that a test calls is built here from these.
//
// A target is a path of CSS selectors that steps into shadow roots ("pe-heatmap >> .plot"), or a point { x, y } of
// the viewport. A key has the DOM's name, with modifiers before it: "a", "ArrowLeft", "Shift+Tab".
import { setTimeout as wait } from "node:timers/promises";

/** Runs in the browser: lays all of a lesson out, with its fonts, whose arrival the load event has not waited for. */
async function layOut() {
  const { classList } = document.documentElement ?? {};
  if (!classList?.contains("opening")) return;
  classList.remove("opening");
  document.body.getBoundingClientRect();
  await document.fonts.ready;
}

/** Runs in the browser: the first element on a path. */
function find(path) {
  let element = document;
  for (const selector of path.split(" >> "))
    element = (element?.shadowRoot ?? element)?.querySelector(selector);
  return element;
}

export class Page {
  #driver;

  constructor(driver) {
    this.#driver = driver;
  }

  /** Opens an address and waits for its load event; then lays all of a lesson out, see web/page/layout.ts, if wanted. */
  async goto(url, { laidOut = true } = {}) {
    await this.#driver.goto(url);
    if (laidOut) await this.evaluate(layOut);
  }

  /** The value of fn(arg) in the page, awaited. Argument and value travel as JSON. A string is run as a script. */
  async evaluate(fn, arg) {
    const expression =
      typeof fn === "string"
        ? `(() => { ${fn}\n})()`
        : `(${fn})(${arg === undefined ? "" : JSON.stringify(arg)})`;
    const json = await this.#driver.evaluate(`(async () => JSON.stringify(await ${expression}))()`);
    return json === undefined || json === null ? undefined : JSON.parse(json);
  }

  /** Waits until fn(arg) in the page is truthy, and returns that value. */
  async waitFor(fn, arg, { timeout = 10_000 } = {}) {
    const end = Date.now() + timeout;
    for (;;) {
      const value = await this.evaluate(fn, arg);
      if (value) return value;
      if (Date.now() > end)
        throw new Error(`not true after ${timeout} ms: (${fn})(${JSON.stringify(arg) ?? ""})`);
      await wait(50);
    }
  }

  /** Scrolls the target into view and returns its { x, y, width, height } in the viewport, where it has come to rest. */
  async box(path) {
    const measure = async () =>
      this.evaluate(
        `const find = ${find};
         const element = find(${JSON.stringify(path)});
         if (!element) return null;
         element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
         const { x, y, width, height } = element.getBoundingClientRect();
         return { x, y, width, height };`,
      );
    let box = await measure();
    for (let tries = 0; box && tries < 20; tries++) {
      const before = box;
      await wait(20);
      box = await measure();
      if (JSON.stringify(box) === JSON.stringify(before)) break;
    }
    if (!box) throw new Error(`no element at "${path}"`);
    if (box.width === 0 || box.height === 0) throw new Error(`"${path}" has no area to point at`);
    return box;
  }

  async #point(target) {
    if (typeof target !== "string") return target;
    const { x, y, width, height } = await this.box(target);
    return { x: x + width / 2, y: y + height / 2 };
  }

  /** Moves, presses or lifts the pointer, "move", "down" or "up", at a point of the viewport. */
  pointer(type, { x, y }) {
    return this.#driver.pointer(type, Math.round(x), Math.round(y));
  }

  async hover(target) {
    await this.pointer("move", await this.#point(target));
  }

  async click(target) {
    const point = await this.#point(target);
    for (const type of ["move", "down", "up"]) await this.pointer(type, point);
  }

  /** Drags from a target to a target, or by { dx, dy }, in `steps` moves. */
  async drag(from, to, { steps = 5 } = {}) {
    const start = await this.#point(from);
    const { dx, dy } = Object(to);
    const isOffset = dx !== undefined || dy !== undefined;
    const end = isOffset ? { x: start.x + (dx ?? 0), y: start.y + (dy ?? 0) } : await this.#point(to);
    await this.pointer("move", start);
    await this.pointer("down", start);
    for (let i = 1; i <= steps; ++i) {
      const t = i / steps;
      await this.pointer("move", { x: start.x + t * (end.x - start.x), y: start.y + t * (end.y - start.y) });
    }
    await this.pointer("up", end);
  }

  async press(keys) {
    const names = keys === "+" ? ["+"] : keys.split("+");
    for (const name of names) await this.#driver.key("down", name);
    for (const name of names.reverse()) await this.#driver.key("up", name);
  }

  /** Types what a keyboard of the US layout can. */
  async type(text) {
    for (const character of text) await this.press(character);
  }

  /** Saves the viewport as a PNG, once two frames have been drawn and fonts are there. */
  async screenshot(path) {
    await this.evaluate(async () => {
      await document.fonts.ready;
      await new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 300))),
      );
    });
    await this.#driver.screenshot(path);
  }

  /** Everything that went wrong so far: console.error, uncaught errors, blocked and failed requests. */
  consoleErrors() {
    return this.#driver.errors();
  }

  /** The addresses requested so far, the page's own included. */
  requests() {
    return this.#driver.requests();
  }

  /** Another page beside this one, in a window of its own: it has the same storage, and is closed with this one at
   * the latest. */
  async sibling() {
    return new Page(await this.#driver.sibling());
  }

  /** Collects the garbage; resolves to what then lives: { nodes, listeners, bytes }. In Chromium alone. */
  heap() {
    return this.#driver.heap();
  }

  close() {
    return this.#driver.close();
  }
}
