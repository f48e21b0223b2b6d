// Load: two minutes of events on all figures at once, and figures put in and taken out five hundred times. The ten
// minutes of npm run test:slow, and all that is held, stand in tests/soak/soak.mjs.

import assert from "node:assert/strict";
import { soak } from "../soak/soak.mjs";
import { openHost, TAGS } from "./host.mjs";

/** Figures of each kind: in Chromium, which tells what is left, and elsewhere. */
const MOUNTS = { chromium: 500, firefox: 25, webkit: 25 };
/** So many of them are in the page together: a tenth, or a fifth. */
const TOGETHER = { chromium: 50, firefox: 5, webkit: 5 };

/** From now on, the page counts what has begun and has not ended: observers, listeners of the page, timers, frames. */
function watch() {
  const open = { observers: new Set(), listeners: new Set(), timers: new Set(), frames: new Set() };
  for (const name of ["ResizeObserver", "IntersectionObserver", "MutationObserver"]) {
    window[name] = class extends window[name] {
      observe(...given) {
        open.observers.add(this);
        super.observe(...given);
      }
      disconnect() {
        open.observers.delete(this);
        super.disconnect();
      }
    };
  }
  // of objects that outlive a figure
  const lasts = (target) =>
    [window, document, document.documentElement, document.body].includes(target) ||
    target instanceof MediaQueryList;
  const names = new WeakMap();
  const nameOf = (target, type, listener, options) => {
    for (const one of [target, listener]) if (!names.has(one)) names.set(one, Math.random());
    return [names.get(target), type, names.get(listener), Boolean(options?.capture ?? options)].join();
  };
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (lasts(this ?? window) && listener && !options?.once) {
      const name = nameOf(this ?? window, type, listener, options);
      open.listeners.add(name);
      if (options?.signal)
        add.call(options.signal, "abort", () => open.listeners.delete(name), { once: true });
    }
    return add.call(this ?? window, type, listener, options);
  };
  EventTarget.prototype.removeEventListener = function (type, listener, options) {
    if (lasts(this ?? window) && listener)
      open.listeners.delete(nameOf(this ?? window, type, listener, options));
    return remove.call(this ?? window, type, listener, options);
  };
  const {
    setTimeout: later,
    clearTimeout: unset,
    requestAnimationFrame: frame,
    cancelAnimationFrame: unframe,
  } = window;
  window.setTimeout = (run, ...rest) => {
    const id = later.call(
      window,
      (...given) => {
        open.timers.delete(id);
        run(...given);
      },
      ...rest,
    );
    open.timers.add(id);
    return id;
  };
  window.clearTimeout = (id) => {
    open.timers.delete(id);
    unset.call(window, id);
  };
  window.requestAnimationFrame = (run) => {
    const id = frame.call(window, (time) => {
      open.frames.delete(id);
      run(time);
    });
    open.frames.add(id);
    return id;
  };
  window.cancelAnimationFrame = (id) => {
    open.frames.delete(id);
    unframe.call(window, id);
  };
  window.left = () => Object.fromEntries(Object.entries(open).map(([name, all]) => [name, all.size]));
  window.pause = (milliseconds) => new Promise((done) => later.call(window, done, milliseconds));
}

/** Puts `count` figures of a kind in and takes them out: a fifth once they are drawn, the rest as they begin. */
const mount = (page, tag, count, together) =>
  page.evaluate(
    async ([name, times, together]) => {
      for (let done = 0; done < times; done += together) {
        const place = document.createElement("div");
        place.style.width = "360px";
        document.body.append(place);
        const figures = Array.from({ length: Math.min(together, times - done) }, () =>
          document.createElement(name),
        );
        place.append(...figures);
        const stage = (done / together) % 5;
        if (stage === 0) await Promise.all(figures.map(({ ready }) => ready));
        else if (stage === 1) await window.host.frames(1);
        else if (stage === 2) await Promise.resolve();
        for (const figure of figures) figure.remove();
        place.remove();
      }
    },
    [tag, count, together],
  );

export default [
  {
    name: "two minutes of events on all figures at once leave each alive and nothing behind",
    async run({ page, engine }) {
      // Memory and long tasks are counted in Chromium alone: elsewhere a short while shows that every figure lives on.
      const counted = engine === "chromium";
      await soak(page, { seconds: counted ? 120 : 15, seed: 1, counted });
    },
  },
  {
    name: "buttons of choices that a figure no longer offers are let go",
    engines: ["chromium"], // which alone tells
    async run({ page }) {
      await openHost(page);
      await page.evaluate(async () => {
        window.figure = await window.host.mount("pe-rope");
      });
      const turns = (count) =>
        page.evaluate(async (times) => {
          const { figure, host } = window;
          for (let i = 0; i < 2 * times; i++) {
            figure.setAttribute("head-dim", i % 2 ? "4" : "16"); // two pairs, eight pairs: a button each
            await host.settle(figure);
          }
        }, count);
      await turns(2);
      await page.heap();
      const before = (await page.heap()).nodes;
      await turns(20);
      await page.heap();
      const after = (await page.heap()).nodes;
      assert.ok(after - before < 100, `${before} nodes, then ${after}: 120 buttons had some 5000`);
    },
  },
  {
    name: "five hundred mounts and unmounts, in Chromium of every figure, leave nothing behind",
    async run({ page, engine }) {
      await openHost(page);
      await page.evaluate(watch);
      const still = async () => {
        await page.evaluate(() => window.pause(900));
        const left = await page.evaluate(() => window.left());
        if (engine !== "chromium") return { left };
        await page.heap(); // a finalizer may make garbage of its own
        return { left, ...(await page.heap()) };
      };
      for (const tag of TAGS) await mount(page, tag, 4, 4); // what is loaded once, and kept
      const before = await still();
      for (const tag of TAGS) await mount(page, tag, MOUNTS[engine], TOGETHER[engine]);
      const after = await still();
      console.log(
        `# mounts: ${MOUNTS[engine] * TAGS.length}, before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`,
      );
      for (const [name, count] of Object.entries(after.left))
        assert.ok(count <= before.left[name], `${before.left[name]} ${name}, then ${count}`);
      if (engine === "chromium") {
        // One for a hundred mounts would be 110 of each. The engine's own compiled code comes and goes by a megabyte;
        // one picture for a hundred mounts would be eleven.
        assert.ok(after.nodes - before.nodes < 100, `${before.nodes} nodes, then ${after.nodes}`);
        assert.ok(
          after.listeners - before.listeners < 20,
          `${before.listeners} listeners, then ${after.listeners}`,
        );
        assert.ok(after.bytes - before.bytes < 3e6, `${before.bytes} bytes, then ${after.bytes}`);
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
];
