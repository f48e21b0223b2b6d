// All figures on one page, and seeded events of every kind upon them, for as long as is wanted, in Chromium:
//   node tests/soak/soak.mjs [seconds] [seed]
// Held: no error, no warning, no worker left over, as much memory at the end as after the first minute, and every figure
// draws at the end what a fresh one draws of the same state.

import assert from "node:assert/strict";
import { main } from "../../scripts/run.mjs";
import { openHost, TAGS } from "../browser/host.mjs";
import { Page } from "../browser/page.mjs";

/** Events go on for so long before what the page holds is first counted: by then every figure has done everything. */
const WARM = 60;
/** One call into the page drives it for so long. */
const SLICE = 10;
/**
 * By so much may grow what the page holds once all figures are at rest again:
 * bytes of the heap. What the engine itself keeps (compiled code, type feedback) comes and goes by about a megabyte; one
 * picture that is left holds a hundred kilobytes, and an hour's events make tens of thousands.
 * Nodes that are hidden, in no tree of the page: what is inside of native controls, and what is left. What stands in
 * the tree grows by what the reader has made, such as the results of a training. One figure that is left has a thousand
 * nodes, and figures are put in anew every few seconds.
 * Listeners.
 */
const GROWTH = { bytes: 4e6, hidden: 1000, listeners: 100 };
/** The page rests so often, at most, until it holds no more than that. */
const RESTS = 8;
/** Pages of the core's memory, 64 kB each: it never shrinks, and the largest picture of all needs fewer. */
const PAGES = 1024;

/** What stands in the page as window.soak. */
function driver([tags, seed]) {
  const { host } = window;
  const random = host.random(seed);
  const nat = (below) => Math.floor(random() * below);
  const among = (list) => list[nat(list.length)];
  const counts = {};
  const last = [];
  const workers = [];
  const memories = [];
  const warnings = [];
  const longest = { milliseconds: 0, tasks: 0, after: [] };
  let driving = Number.POSITIVE_INFINITY; // since when
  const downloads = [];

  console.warn = (...words) => warnings.push(words.map(String).join(" "));
  // files are offered, and not kept
  HTMLAnchorElement.prototype.click = function () {
    downloads.push(this.download);
  };
  // a script's pointer is none that the browser could capture
  const { setPointerCapture } = Element.prototype;
  Element.prototype.setPointerCapture = function (id) {
    try {
      setPointerCapture.call(this, id);
    } catch (error) {
      if (error.name !== "NotFoundError") throw error;
    }
  };
  window.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      this.life = { answers: 0, ended: false };
      workers.push(this.life);
      this.addEventListener("message", () => this.life.answers++);
    }
    terminate() {
      this.life.ended = true;
      super.terminate();
    }
  };
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate.apply(WebAssembly, given);
    const exported = Object.values((made.instance ?? made).exports);
    memories.push(exported.find((one) => one instanceof WebAssembly.Memory));
    return made;
  };
  if (PerformanceObserver.supportedEntryTypes.includes("longtask"))
    new PerformanceObserver((list) => {
      for (const { duration, startTime } of list.getEntries()) {
        if (startTime < driving) continue;
        longest.tasks++;
        if (duration > longest.milliseconds)
          Object.assign(longest, { milliseconds: duration, after: last.slice(-6) });
      }
    }).observe({ type: "longtask" });

  const places = [];
  for (const tag of tags) {
    const place = document.createElement("div");
    place.append(host.make(tag));
    document.body.append(place);
    places.push(place);
  }
  const figures = places.map(({ firstChild }) => firstChild);
  const within = (figure, selector) => host.all(figure, selector);
  const sent = (target, type, make, given) =>
    target.dispatchEvent(new make(type, { bubbles: true, cancelable: true, composed: true, ...given }));
  const spot = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return { clientX: left + random() * width, clientY: top + random() * height };
  };
  const KEYS = "ArrowLeft,ArrowRight,ArrowUp,ArrowDown,Home,End,PageUp,PageDown,+,-,0,Enter,Escape, ".split(
    ",",
  );
  const surfaces = (figure) => within(figure, "svg, canvas, .grid, .stage, .word, [tabindex]");
  const pointer = (target, type, id, place, given = {}) =>
    sent(target, `pointer${type}`, PointerEvent, {
      pointerId: id,
      isPrimary: id === 1,
      buttons: type === "up" ? 0 : 1,
      pointerType: "mouse",
      ...place,
      ...given,
    });
  const npy = (rows, columns, cut = 0) => {
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }\n`;
    const data = Float32Array.from({ length: rows * columns - cut }, (_, i) => Math.sin(i));
    return [Uint8Array.of(0x93, 78, 85, 77, 80, 89, 1, 0, header.length, 0), header, data];
  };

  const ACTIONS = {
    click(figure) {
      const buttons = within(figure, "button, summary, input[type=checkbox], input[type=radio]");
      if (buttons.length > 0) among(buttons).click();
    },
    input(figure) {
      const inputs = within(figure, "input[type=range], input[type=number], select, input[type=text]");
      if (inputs.length === 0) return;
      const input = among(inputs);
      if (input.localName === "select") input.selectedIndex = nat(input.options.length);
      else if (input.type === "text")
        input.value = among(["the dog bites the man", "a", "", "x ".repeat(40), "<b>"]);
      else {
        const [least, most] = [Number(input.min), Number(input.max)];
        input.value = String(random() < 0.1 ? most * 3 + 1 : least + random() * (most - least));
      }
      for (const type of ["input", "change"]) sent(input, type, Event);
    },
    key(figure) {
      const targets = within(figure, "[tabindex], button, input, select");
      if (targets.length === 0) return;
      const target = among(targets);
      target.focus();
      const given = { key: among(KEYS), shiftKey: random() < 0.2 };
      for (const type of ["keydown", "keyup"]) sent(target, type, KeyboardEvent, given);
    },
    wheel(figure) {
      const target = among(surfaces(figure));
      if (target)
        sent(target, "wheel", WheelEvent, {
          ...spot(target),
          deltaY: 400 * random() - 200,
          ctrlKey: random() < 0.5,
        });
    },
    drag(figure) {
      const target = among(surfaces(figure));
      if (!target) return;
      pointer(target, "down", 1, spot(target));
      for (let i = nat(6); i >= 0; i--) pointer(target, "move", 1, spot(target));
      pointer(target, random() < 0.1 ? "cancel" : "up", 1, spot(target));
      if (random() < 0.3) sent(target, "click", MouseEvent, spot(target));
      if (random() < 0.1) sent(target, "dblclick", MouseEvent, spot(target));
    },
    pinch(figure) {
      const target = among(surfaces(figure));
      if (!target) return;
      const touch = { pointerType: "touch" };
      for (const id of [1, 2]) pointer(target, "down", id, spot(target), touch);
      for (let i = nat(5); i >= 0; i--)
        for (const id of [1, 2]) pointer(target, "move", id, spot(target), touch);
      for (const id of [2, 1]) pointer(target, "up", id, spot(target), touch);
    },
    hover(figure) {
      const target = among(surfaces(figure));
      if (!target) return;
      pointer(target, "over", 1, spot(target), { buttons: 0 });
      pointer(target, "move", 1, spot(target), { buttons: 0 });
      if (random() < 0.5) pointer(target, "leave", 1, spot(target), { buttons: 0 });
    },
    file() {
      const figure = figures[tags.indexOf(among(["pe-learned", "pe-scaling"]))];
      const target = host.find(figure, ".stage");
      if (!target) return;
      const config = {
        model_type: "llama",
        hidden_size: 64,
        num_attention_heads: 4,
        rope_theta: 10 ** nat(8),
      };
      const parts = among([
        npy(2 + nat(60), 2 + nat(60)),
        npy(4, 4, 3),
        [JSON.stringify(config)],
        ["junk"],
        [],
      ]);
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(
        new File(parts, among(["a.npy", "a.npy", "config.json", "b.safetensors", "<b>.txt"])),
      );
      for (const type of ["dragover", among(["drop", "drop", "dragleave"])])
        sent(target, type, DragEvent, { dataTransfer });
    },
    attribute(figure) {
      const { fields } = customElements.get(figure.localName);
      const [name, field] = among(Object.entries(fields));
      const sound = {
        integer: () => String(field.min + nat(Math.min(field.max - field.min + 1, 200))),
        number: () => String(field.min + random() * Math.min(field.max - field.min, 200)),
        choice: () => among(field.choices),
        flag: () => among(["true", "false"]),
        text: () => field.fallback,
      };
      if (random() < 0.2) figure.removeAttribute(name);
      else
        figure.setAttribute(
          name,
          random() < 0.75 ? sound[field.kind]() : among(["NaN", "", "-1", "1e400", "<b>"]),
        );
    },
    state: (figure) => figure.setState(figure.getState()),
    reset: (figure) => figure.reset(),
    resize(figure) {
      figure.parentElement.style.width = among(["", "", "280px", "336px", "640px", "1100px"]);
    },
    theme(figure) {
      if (random() < 0.5) figure.setAttribute("theme", among(["auto", "light", "dark", "sepia"]));
      else document.documentElement.dataset.theme = among(["light", "dark"]);
    },
    scroll: () => scrollTo({ top: random() * document.body.scrollHeight, behavior: "instant" }),
    hide(figure) {
      figure.setAttribute(
        "hide",
        among(["", "", "reset", "data export", ...Object.keys(customElements.get(figure.localName).fields)]),
      );
    },
    remount(figure) {
      const place = figure.parentElement;
      figure.remove();
      place.append(figure);
    },
  };
  const often = {
    click: 6,
    input: 8,
    key: 6,
    wheel: 4,
    drag: 6,
    pinch: 2,
    hover: 4,
    attribute: 6,
    scroll: 2,
  };
  const bag = Object.keys(ACTIONS).flatMap((name) => Array(often[name] ?? 1).fill(name));

  window.soak = {
    ready: () => Promise.all(figures.map(({ ready }) => ready)).then(() => null),

    /** Drives the page; a few events in each frame. */
    async drive(seconds) {
      driving = performance.now();
      const end = driving + 1000 * seconds;
      while (performance.now() < end) {
        for (let i = 0; i < 3; i++) {
          const name = among(bag);
          const figure = among(figures);
          last.push(`${name} ${figure.localName}`);
          if (last.length > 40) last.shift();
          counts[name] = (counts[name] ?? 0) + 1;
          ACTIONS[name](figure);
        }
        await host.frames(1);
      }
      driving = Number.POSITIVE_INFINITY;
    },

    /** What has been done and seen so far. */
    seen: () => ({ counts, last, longest, warnings, workers: workers.length, downloads: downloads.length }),

    /** Ends all that is under way, so that what the page then holds does not depend on what came last. */
    async rest() {
      for (const [i, figure] of figures.entries()) {
        places[i].removeAttribute("style");
        for (const { name } of [...figure.attributes]) figure.removeAttribute(name);
        figure.reset();
        for (const details of within(figure, "details")) details.open = false;
        for (const close of within(figure, "button.embed[aria-expanded=true]")) close.click();
      }
      delete document.documentElement.dataset.theme;
      scrollTo({ top: 0, behavior: "instant" });
      document.activeElement?.blur();
      await new Promise((done) => setTimeout(done, 1500));
      await host.settle(...figures);
      const nodesIn = (root) => {
        let count = 1;
        for (const node of root.childNodes) count += nodesIn(node);
        return count + (root.shadowRoot ? nodesIn(root.shadowRoot) : 0);
      };
      return {
        pages: memories.map((memory) => memory.buffer.byteLength / 65_536),
        standing: nodesIn(document),
      };
    },

    /** What of each figure is not as a fresh one of the same state shows it. */
    async compare() {
      const wrong = [];
      for (const [i, figure] of figures.entries()) {
        places[i].removeAttribute("style");
        const saved = figure.getState();
        figure.reset(); // an opened file is no state
        if (figure.localName === "pe-train") {
          // nor is a training, which ends with what it was trained with
          figure.setAttribute("seed", saved.state.seed === 1 ? "2" : "1");
          await host.settle(figure);
        }
        for (const { name } of [...figure.attributes]) figure.removeAttribute(name);
        figure.setState(saved);
        const place = document.createElement("div");
        document.body.append(place);
        const fresh = host.make(figure.localName);
        fresh.setState(saved);
        place.append(fresh);
        await fresh.ready;
        await host.settle(fresh, figure);
        await host.settle(fresh, figure);
        const look = (one) => ({
          state: JSON.stringify(one.getState()),
          problem: host.problem(one),
          sentence: host.find(one, ".takeaway").textContent,
          numbers: one.array ? one.toCSV() : "",
          canvases: host
            .all(one, "[data-picture] canvas")
            .map((canvas) => canvas.toDataURL())
            .join(),
        });
        const [found, wanted] = [look(figure), look(fresh)];
        for (const [name, value] of Object.entries(wanted))
          if (found[name] !== value)
            wrong.push(
              `${figure.localName}: ${name} ${found[name].slice(0, 200)} and not ${value.slice(0, 200)}`,
            );
        place.remove();
      }
      return wrong;
    },

    /** Takes all figures away; returns the workers that live on, or never answered. */
    async leave() {
      for (const figure of figures) figure.remove();
      await new Promise((done) => setTimeout(done, 500));
      return workers.filter(({ ended }) => !ended);
    },
  };
}

/** Drives a blank page for so many seconds. What it holds is `counted` in Chromium alone. */
export async function soak(page, { seconds, seed, counted = true }) {
  await openHost(page);
  await page.evaluate(driver, [TAGS, seed]);
  const begin = performance.now();
  const elapsed = () => (performance.now() - begin) / 1000;
  const held = async () => {
    const { pages, standing } = await page.evaluate(() => window.soak.rest());
    if (!counted) return { pages };
    const { nodes, ...heap } = await page.heap();
    return { ...heap, pages, standing, hidden: nodes - standing };
  };
  const drive = async (until) => {
    while (elapsed() < until) {
      await page.evaluate((given) => window.soak.drive(given), Math.min(SLICE, until - elapsed()));
      assert.deepEqual(await page.consoleErrors(), []);
    }
  };
  try {
    await page.evaluate(() => window.soak.ready());
    await drive(Math.min(WARM, seconds / 2));
    const alike = async () => assert.deepEqual(await page.evaluate(() => window.soak.compare()), []);
    await alike(); // what fresh figures leave to the engine for a while is then in both counts
    await held(); // a finalizer makes garbage of its own
    const first = await held();
    const growth = (end) => Object.keys(GROWTH).filter((name) => end[name] - first[name] >= GROWTH[name]);
    await drive(seconds);
    await alike();
    let end = await held();
    // the engine lets go of some objects only as it draws again or is idle; a leak outlasts every rest
    for (let rests = 1; rests < RESTS && growth(end).length > 0; rests++) end = await held();
    const left = await page.evaluate(() => window.soak.leave());
    const seen = await page.evaluate(() => window.soak.seen());
    assert.deepEqual(seen.warnings, []);
    assert.deepEqual(await page.consoleErrors(), []);
    assert.deepEqual(left, [], "workers that live on without their figure");
    const events = Object.values(seen.counts).reduce((sum, count) => sum + count, 0);
    const measured = {
      seed,
      seconds: Math.round(elapsed()),
      events,
      counts: seen.counts,
      first,
      end,
      ...seen.longest,
    };
    const { workers, downloads } = seen;
    console.log(`# soak: ${JSON.stringify({ ...measured, workers, downloads })}`);
    assert.ok(
      end.pages.length > 0 && end.pages.every((pages) => pages <= PAGES),
      `${end.pages} pages of WebAssembly`,
    );
    for (const name of growth(end)) assert.fail(`${name}: ${first[name]}, then ${end[name]}`);
  } catch (error) {
    const { last = [] } = await page.evaluate(() => window.soak?.seen() ?? {}).catch(() => ({}));
    error.message = `seed ${seed}, after ${Math.round(elapsed())} s: ${error.message}\nlast events: ${last.join(", ")}`;
    throw error;
  }
}

await main(import.meta.url, async ([seconds = "600", seed = "1"]) => {
  const { launch } = await import("../browser/chromium.mjs");
  const browser = await launch();
  const size = { width: 1280, height: 900, colorScheme: "light", reducedMotion: false, script: true };
  try {
    await soak(new Page(await browser.open(size)), { seconds: Number(seconds), seed: Number(seed) });
  } catch (error) {
    console.log(error);
    process.exitCode = 1;
  }
  await browser.close();
  process.exit(); // the page's server is still there
});
