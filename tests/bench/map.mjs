// The endless map: what a frame of 1600 × 900 device pixels costs the core, and how the figure's frames follow each other
// while it is dragged in Chromium.

import { build } from "../../scripts/build.mjs";
import { which } from "../../scripts/run.mjs";
import { openHost } from "../browser/host.mjs";
import { Page } from "../browser/page.mjs";

const PIXELS = { width: 1600, height: 900 };
/** Cells under a pixel, from one to all that there are. */
const ACROSS = [1, 4, 32, 512];
const FRAMES = 60;
const DRAGGED = 300;

const MAPS = {
  sinusoidal: { map: "sinusoidal", seqLen: 2 ** 20, dims: 1024 },
  "RoPE, cos": { map: "rope-cos", seqLen: 2 ** 20, dims: 1024 },
  "ALiBi, causal": { map: "alibi", seqLen: 2 ** 20, slope: 2 ** -8, causal: true },
  T5: { map: "t5", seqLen: 2 ** 20 },
};

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds of a frame of each map at each zoom, as it is dragged: { map, cells, ms (median), longest }. */
async function frames() {
  const { loadPosenc } = await import("../../build/package/core.js");
  const posenc = await loadPosenc();
  const rows = [];
  for (const [name, config] of Object.entries(MAPS)) {
    const map = posenc.tileMap(config);
    for (const cells of ACROSS) {
      const square = config.dims === undefined;
      const view = { ...PIXELS, x0: 0, y0: 0, cellsX: cells, cellsY: square ? cells : 1 };
      const times = [];
      for (let i = -FRAMES; i < FRAMES; i++) {
        view.x0 = (FRAMES + i) * cells * 7;
        const begun = performance.now();
        map.draw(view);
        if (i >= 0) times.push(performance.now() - begun); // in the frames before, engines compile
      }
      rows.push({ map: name, cells, ms: median(times), longest: Math.max(...times) });
    }
    map.free();
  }
  return rows;
}

/** Runs in the page: drags the map by some pixels in every frame, and returns the milliseconds between frames. */
async function dragged(count) {
  const { host } = window;
  document.body.style.margin = "0";
  const figure = await host.mount("pe-map");
  const canvas = host.find(figure, "canvas.map");
  const { x, y, width } = canvas.getBoundingClientRect();
  Element.prototype.setPointerCapture = () => {}; // no pointer of the system's is captured
  const tell = (type, by, buttons) =>
    canvas.dispatchEvent(
      new PointerEvent(type, {
        ...{ clientX: x + width / 2 - by, clientY: y + 40, screenX: by, screenY: 0, buttons },
        ...{ pointerId: 1, pointerType: "mouse", isPrimary: true, bubbles: true, composed: true },
      }),
    );
  tell("pointerdown", 0, 1);
  const times = [];
  for (let i = 0; i < count + 60; i++) {
    times.push(await new Promise(requestAnimationFrame));
    tell("pointermove", 5 * i, 1);
  }
  tell("pointerup", 0, 0);
  const moved = figure.getState().state["view-position"];
  const gaps = times.map((time, i) => time - times[i - 1]).slice(60); // in the frames before, engines compile
  return { gaps, moved, size: [canvas.width, canvas.height] };
}

async function dragInChromium() {
  const { launch } = await import("../browser/chromium.mjs");
  const browser = await launch();
  try {
    const page = new Page(await browser.open({ width: 1600, height: 900, script: true }));
    await openHost(page);
    const { gaps, moved, size } = await page.evaluate(dragged, DRAGGED);
    if (!(moved > DRAGGED)) throw new Error(`dragging has moved the map to ${moved}`);
    return { version: browser.version, size, ms: median(gaps), longest: Math.max(...gaps) };
  } finally {
    await browser.close();
  }
}

/** { frames, drag }; drag is null without Chromium. */
export async function measureMap() {
  await build();
  const measured = await frames();
  console.log(`\nthe map, ${PIXELS.width} × ${PIXELS.height} pixels`);
  for (const { map, cells, ms, longest } of measured)
    console.log(
      `  ${map}, ${cells} cells across a pixel: ${ms.toFixed(2)} ms, longest ${longest.toFixed(2)} ms`,
    );
  const drag = which("chromium-headless-shell") ? await dragInChromium() : null;
  if (drag)
    console.log(
      `  dragged in Chromium, ${drag.size.join(" × ")} pixels: ${drag.ms.toFixed(1)} ms between frames, longest ${drag.longest.toFixed(1)} ms`,
    );
  return { frames: measured, drag };
}
