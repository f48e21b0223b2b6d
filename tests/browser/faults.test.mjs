// What a browser or a computer may refuse, or take away in the midst of it: each figure says so in its place, keeps its
// last picture, and goes on once it is given again. Nothing becomes an uncaught error of the page.

import assert from "node:assert/strict";
import { each, openFaulty, quiet } from "./host.mjs";

/** Runs in the page: of the core's memory only `pages` are given, of 64 KiB each; what more it asks for, if `generous`. */
function giveMemory(pages) {
  const { compile } = WebAssembly;
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (more) {
    if (!window.generous) throw new RangeError("out of memory");
    return grow.call(this, more);
  };
  const number = (bytes, from) => {
    let [value, at] = [0, from];
    do value |= (bytes[at] & 127) << (7 * (at - from));
    while (bytes[at++] & 128);
    return [value, at];
  };
  WebAssembly.compile = (source) => {
    const bytes = new Uint8Array(source).slice();
    for (let at = 8; at < bytes.length; ) {
      const [size, content] = number(bytes, at + 1);
      // the section of memories: one, with limits, of which the least takes two bytes
      if (bytes[at] === 5) bytes.set([(pages & 127) | 128, pages >> 7], content + 2);
      at = content + size;
    }
    return compile.call(WebAssembly, bytes);
  };
}

/** Runs in the page: while `window.refusing`, no array takes up what the core has computed. */
function refuseArrays() {
  for (const name of ["Float32Array", "Float64Array", "Int32Array", "Uint32Array"]) {
    const construct = (type, given, asked) => {
      if (window.refusing && ArrayBuffer.isView(given[0]))
        throw new RangeError("Array buffer allocation failed");
      return Reflect.construct(type, given, asked);
    };
    window[name] = new Proxy(window[name], { construct });
  }
}

/** Runs in the page: while `window.refusing`, no canvas has a context, becomes a file or an address. */
function refuseCanvases() {
  const { prototype } = HTMLCanvasElement;
  const { getContext, toBlob, toDataURL } = prototype;
  prototype.getContext = function (...given) {
    return window.refusing ? null : getContext.apply(this, given);
  };
  prototype.toBlob = function (then, ...given) {
    if (window.refusing || window.refusingFiles) then(null);
    else toBlob.call(this, then, ...given);
  };
  prototype.toDataURL = function (...given) {
    if (window.refusing || window.refusingFiles)
      throw new DOMException("The operation is insecure.", "SecurityError");
    return toDataURL.apply(this, given);
  };
}

export default [
  {
    name: "a figure whose core is refused memory says how much, keeps its last picture, and draws what fits",
    page: { width: 640 },
    async run({ page }) {
      const tries = [
        [180, "pe-heatmap", { "seq-len": 16384 }],
        [180, "pe-learned", { "max-len": 1024, "d-model": 4096 }],
        [82, "pe-cache", { "head-dim": 512 }],
      ];
      for (const [pages, tag, large] of tries) {
        await openFaulty(page, giveMemory, pages);
        const found = await page.evaluate(
          async ([name, attributes]) => {
            const { host } = window;
            const figure = host.make(name);
            const settle = async () => {
              for (let i = 0; i < 3; i++) await host.settle(figure);
              return host.problem(figure);
            };
            const look = () => [
              host.find(figure, ".takeaway").textContent,
              ...host.all(figure, "[data-picture] svg").map(({ textContent }) => textContent),
              ...host.all(figure, "canvas").map((canvas) => canvas.toDataURL()),
            ];
            const told = new Promise((done) => {
              for (const type of ["pe-ready", "pe-error"]) figure.addEventListener(type, done);
            });
            document.documentElement.style.overflowY = "scroll"; // a bar that comes takes from the width
            document.body.append(figure);
            await told;
            const first = await settle();
            window.generous = first !== "";
            figure.setAttribute("theme", "light");
            await host.ready(figure);
            const given = await settle();
            window.generous = false;
            const before = [look().join(), JSON.stringify(figure.getState())];
            for (const [field, value] of Object.entries(attributes)) figure.setAttribute(field, value);
            const refused = await settle();
            const kept = [look().join(), JSON.stringify(figure.getState())];
            figure.reset();
            return {
              first,
              given,
              refused,
              kept: kept.map((one, i) => one === before[i]),
              again: await settle(),
            };
          },
          [tag, large],
        );
        const refusal = /^the browser refused [1-9]\d+ bytes of memory$/;
        if (pages === 82) assert.match(found.first, refusal);
        else assert.equal(found.first, "");
        assert.match(found.refused, refusal);
        assert.deepEqual([found.given, found.kept, found.again], ["", [true, true], ""], tag);
        await quiet(page);
      }
    },
  },

  each(
    "for whose numbers the browser has no room says so, keeps its state, and goes on once there is some",
    refuseArrays,
    async (tag) => {
      const { host } = window;
      const wrong = [];
      const figure = host.make(tag);
      const several = async () => {
        for (let i = 0; i < 3; i++) await host.settle(figure);
      };
      window.refusing = true;
      document.body.append(figure);
      await several();
      while (!host.problem(figure) && !host.drawn(figure)) await host.frames(1);
      const said = [host.problem(figure)];
      window.refusing = false;
      figure.setAttribute("theme", "light");
      await host.ready(figure);
      await several();
      if (host.problem(figure)) wrong.push(`still “${host.problem(figure)}”`);
      window.refusing = true;
      for (const control of host.controls(figure).slice(0, 5)) {
        const before = JSON.stringify(figure.getState());
        if (control.isConnected) host.use(control);
        await several();
        said.push(host.problem(figure));
        if (!host.drawn(figure)) wrong.push("no picture");
        if (host.problem(figure) && JSON.stringify(figure.getState()) !== before) wrong.push("another state");
      }
      host.find(figure, "details.data").open = true;
      await several();
      window.refusing = false;
      figure.reset();
      await several();
      await host.change(figure);
      await several();
      if (host.problem(figure)) wrong.push(`then “${host.problem(figure)}”`);
      figure.remove();
      // nothing is computed for the training figure before it trains, which it does in a worker
      if (tag !== "pe-train" && !said.some(Boolean)) wrong.push("nothing was refused");
      const others = said.filter((sentence) => !/^(Array buffer allocation failed\.?)?$/.test(sentence));
      return [...wrong, ...others];
    },
  ),

  each(
    "whose canvases are refused says so in its place, offers its files with a sentence, and draws once they are there",
    refuseCanvases,
    async (tag) => {
      const { host } = window;
      const wrong = [];
      const settle = async (one) => {
        for (let i = 0; i < 3; i++) await host.settle(one);
      };
      const look = (one) => JSON.stringify(host.look(one).filter(({ words }) => !words.startsWith("output")));
      const whole = await host.mount(tag);
      await settle(whole);
      const blank = host.all(whole, "canvas").length === 0;
      const expected = look(whole);
      whole.remove();

      window.refusing = true;
      const figure = host.make(tag);
      document.body.append(figure);
      await host.ready(figure);
      await settle(figure);
      const said = host.problem(figure);
      if (said !== (blank ? "" : "The browser refused a canvas to draw on."))
        wrong.push(`at first “${said}”`);
      const press = async (words) => {
        const button = host.all(figure, ".menu button").find(({ textContent }) => textContent === words);
        button.click();
        const notice = () => host.find(figure, ".notice")?.textContent ?? "";
        for (let i = 0; i < 100 && !notice(); i++) await host.frames(1);
        return notice();
      };
      const png = await press("PNG picture");
      if (png !== "The file could not be made: The browser refused a canvas to draw on.") wrong.push(png);
      window.refusing = false;
      await host.change(figure);
      await settle(figure);
      if (host.problem(figure)) wrong.push(`then “${host.problem(figure)}”`);
      window.refusingFiles = true;
      const none = await press("PNG picture");
      if (none !== "The file could not be made: The browser refused the picture.") wrong.push(none);
      figure.reset();
      await settle(figure);
      if (!blank) {
        const svg = await press("SVG drawing");
        if (svg !== "The file could not be made: The operation is insecure.") wrong.push(svg);
      }
      figure.reset();
      await settle(figure);
      window.refusingFiles = false;
      for (const canvas of host.all(figure, "canvas")) {
        canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
        canvas.dispatchEvent(new Event("contextlost", { cancelable: true }));
        canvas.dispatchEvent(new Event("contextrestored"));
      }
      await settle(figure);
      if (look(figure) !== expected) wrong.push("not as it was before its canvases were lost");
      figure.remove();
      return wrong;
    },
  ),
];
