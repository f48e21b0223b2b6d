// The scaling figure reads a config in the page: what it draws are the core's numbers, what it says are the inspector's
// findings, and a text that cannot be shown takes nothing away.

import { loadPosenc } from "posenc";
import { openFigure, owed, PHONE, read } from "./figure.mjs";

const core = await loadPosenc();
const TAG = "pe-scaling";

/** As on the hub, with the keys that are none of a position's business. */
const LLAMA = {
  architectures: ["LlamaForCausalLM"],
  attention_bias: false,
  bos_token_id: 128000,
  eos_token_id: 128001,
  hidden_act: "silu",
  hidden_size: 4096,
  intermediate_size: 14336,
  max_position_embeddings: 131072,
  model_type: "llama",
  num_attention_heads: 32,
  num_hidden_layers: 32,
  num_key_value_heads: 8,
  rms_norm_eps: 1e-5,
  rope_scaling: {
    factor: 8.0,
    low_freq_factor: 1.0,
    high_freq_factor: 4.0,
    original_max_position_embeddings: 8192,
    rope_type: "llama3",
  },
  rope_theta: 500000.0,
  tie_word_embeddings: false,
  torch_dtype: "bfloat16",
  vocab_size: 128256,
};
const LLAMA_TEXT = JSON.stringify(LLAMA, null, 2);
const LLAMA_ROPE = {
  headDim: 128,
  ropeTheta: 500000,
  ropeType: "llama3",
  originalMaxPositionEmbeddings: 8192,
  lowFreqFactor: 1,
  highFreqFactor: 4,
};
const plain = core.ropeInvFreq({ headDim: 128, ropeTheta: 500000 }).invFreq;
const scaled = (factor) => core.ropeInvFreq({ ...LLAMA_ROPE, factor }).invFreq;

const close = (assert, actual, wanted, allowed, what) =>
  assert.ok(
    Math.abs(actual - wanted) <= allowed * Math.abs(wanted),
    `${what}: ${actual}, not ${wanted} within ${allowed}`,
  );

/** Puts a text in place of the whole config, as a paste does. */
async function paste(figure, text) {
  await figure.page.evaluate(
    ([tag, pasted]) => {
      const root = document.querySelector(tag).shadowRoot;
      root.querySelector("details.config").open = true;
      const area = root.querySelector("textarea");
      area.focus();
      area.select();
      if (!document.execCommand("insertText", false, pasted)) throw new Error("no text was inserted");
    },
    [TAG, text],
  );
  await figure.settle();
}

/** Drops a file of that text, or of so many bytes, on the figure. */
const drop = (figure, content, name = "config.json") =>
  figure.page.evaluate(
    ([tag, given, file]) => {
      const transfer = new DataTransfer();
      const part = typeof given === "number" ? new Uint8Array(given) : given;
      transfer.items.add(new File([part], file));
      const init = { dataTransfer: transfer, bubbles: true, cancelable: true, composed: true };
      document
        .querySelector(tag)
        .shadowRoot.querySelector(".plot")
        .dispatchEvent(new DragEvent("drop", init));
    },
    [TAG, content, name],
  );

/** The points of the curves of one drawing, as the values that its axis gives them: { type: [value of each pair] }. */
const ratiosDrawn = (figure) =>
  figure.page.evaluate((tag) => {
    const root = document.querySelector(tag).shadowRoot;
    const curves = [...root.querySelectorAll("path.curve[data-type]")];
    const ticks = [...root.querySelector(".legend").nextElementSibling.querySelectorAll("text")].map(
      (text) => [Math.log(Number(text.textContent.replace(/\s/g, ""))), Number(text.getAttribute("y"))],
    );
    const [[low, bottom], [high, top]] = [ticks[0], ticks.at(-1)];
    const value = (y) => Math.exp(low + ((y - bottom) / (top - bottom)) * (high - low));
    const points = (d) => [...d.matchAll(/[ML]\S+ (\S+?)(?=[L]|$)/g)].map(([, y]) => value(Number(y)));
    return Object.fromEntries(curves.map((path) => [path.dataset.type, points(path.getAttribute("d"))]));
  }, TAG);

const shown = async (figure) => [
  await figure.text(".takeaway"),
  await figure.page.evaluate(
    (tag) => document.querySelector(tag).shadowRoot.querySelector("path.curve.own").getAttribute("d"),
    TAG,
  ),
];

/** Keeps what is copied and what is saved in the page, to be asked for. */
const keep = (page) =>
  page.evaluate(() => {
    window.kept = { copied: "", files: [] };
    const clipboard = {
      writeText: async (text) => {
        window.kept.copied = text;
      },
    };
    Object.defineProperty(navigator, "clipboard", { configurable: true, value: clipboard });
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      window.kept.files.push(blob);
      return make.call(URL, blob);
    };
  });
const press = async (figure, label, at = 0) => {
  await figure.page.evaluate(
    ([tag, text, index]) => {
      const buttons = [...document.querySelector(tag).shadowRoot.querySelectorAll(".panel button")];
      buttons.filter((button) => button.textContent.trim() === text)[index].click();
    },
    [TAG, label, at],
  );
  await figure.settle();
};
const lastFile = (page) =>
  page.evaluate(async () => [...new Uint8Array(await window.kept.files.at(-1).arrayBuffer())]);
const doubles = (bytes) => {
  const start = 10 + bytes[8] + 256 * bytes[9];
  return new Float64Array(Uint8Array.from(bytes.slice(start)).buffer);
};

/** A text, what is said of it, and that all else stays. */
const BAD = [
  [
    "",
    /^line 1, column 1: not JSON: the text ends where a value is wanted\. It should be: the text of a config/,
  ],
  ['{"rope_theta": 10000,}', /line 1, column 22: not JSON: "}" stands where a key in quotes is wanted/],
  ["[1, 2, 3]", /line 1, column 1: the text holds a list of 3\. It should be: an object/],
  ["[".repeat(100_000), /nested deeper than 100 levels/],
  [
    JSON.stringify({ ...LLAMA, rope_theta: "?" }).replace('"?"', "NaN"),
    /rope_theta, line 1, .*: rope_theta is NaN/,
  ],
  [
    JSON.stringify({ ...LLAMA, head_dim: 127 }),
    /head_dim, line 1, .*: head_dim is 127: an odd head cannot be turned/,
  ],
  [
    JSON.stringify({ ...LLAMA, rope_theta: -3 }),
    /^rope_theta, line 1, .*: rope_theta must be a finite number above 0; got rope_theta = -3/,
  ],
  [
    JSON.stringify({ ...LLAMA, rope_scaling: { ...LLAMA.rope_scaling, factor: 0.125 } }),
    /rope_scaling\.factor is 0\.125: a factor divides/,
  ],
  [
    '{"model_type": "bloom", "n_head": 32}',
    /this model's positions are ALiBi: there is no rotation to inspect/,
  ],
  [" ".repeat(2 ** 20 + 1), /^config\.json: 1 048 577 characters are too many/],
];

export default [
  {
    name: "the pairs of a preset are the core's, to the last bit of what is saved",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const [head, ...lines] = await figure.exports();
      assert.deepEqual(head.slice(1), [
        ...["pair", "inv_freq", "wavelength", "turns", "times_slower", "unreached_from", "unreached_to"],
        "resolution",
      ]);
      const invFreq = scaled(8);
      assert.equal(lines.length, 64);
      for (const [i, line] of lines.entries()) {
        const [pair, w, wavelength, turns, slower, from, to, resolution] = line.slice(1).map(Number);
        assert.deepEqual([pair, w], [i, invFreq[i]]);
        close(assert, wavelength, (2 * Math.PI) / w, 1e-15, "wavelength");
        close(assert, turns, (8192 * w) / (2 * Math.PI), 1e-14, "turns");
        assert.equal(slower, plain[i] / w);
        const seen = 8191 * plain[i];
        const reached = Math.min(131071 * w, 2 * Math.PI);
        if (reached > seen + plain[i]) {
          close(assert, from, seen, 1e-14, "unreached from");
          close(assert, to, reached, 1e-14, "unreached to");
        } else assert.ok(Number.isNaN(from) && Number.isNaN(to));
        assert.ok(
          Math.abs(resolution - Math.abs(Math.cos(2 * w) - Math.cos(w))) < 1e-14,
          `${resolution} of pair ${i}`,
        );
      }
    },
  },
  {
    name: "the pasted config of Llama 3.1 shows the bounds of its regions and what is said of it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const before = (await page.requests()).length;
      await paste(figure, LLAMA_TEXT);
      assert.match(
        await figure.text(".takeaway"),
        /^This config scales by Llama 3: 29 of 64 pairs turn as unscaled, the others up to 8 times slower\./,
      );
      assert.deepEqual(await figure.texts("text.bound"), [
        "low_freq_factor 1: 8192",
        "high_freq_factor 4: 2048",
      ]);
      const drawn = await page.evaluate((tag) => {
        const root = document.querySelector(tag).shadowRoot;
        const number = (element, name) => Number(element.getAttribute(name));
        const dots = [...root.querySelectorAll("circle.own")];
        return {
          bounds: [...root.querySelectorAll("line.bound")].map((line) => number(line, "y1")),
          band: ["x", "width"].map((name) => number(root.querySelector("rect.blend"), name)),
          dots: dots.map((dot) => [number(dot, "cx"), number(dot, "cy")]),
        };
      }, TAG);
      // pixels of a pair and of a wavelength, from two dots whose numbers the core gives
      const invFreq = scaled(8);
      const [first, last] = [drawn.dots[0], drawn.dots.at(-1)];
      const xOf = (pair) => first[0] + (pair / 63) * (last[0] - first[0]);
      const level = (wavelength) => Math.log(wavelength);
      const [low, high] = [level((2 * Math.PI) / invFreq[0]), level((2 * Math.PI) / invFreq[63])];
      const yOf = (wavelength) =>
        first[1] + ((level(wavelength) - low) / (high - low)) * (last[1] - first[1]);
      assert.equal(drawn.dots.length, 64);
      for (const [i, [x, y]] of drawn.dots.entries()) {
        assert.ok(
          Math.abs(x - xOf(i)) < 0.02 && Math.abs(y - yOf((2 * Math.PI) / invFreq[i])) < 0.02,
          `pair ${i}`,
        );
      }
      for (const [i, wavelength] of [8192, 2048].entries())
        assert.ok(Math.abs(drawn.bounds[i] - yOf(wavelength)) < 0.02, `bound ${drawn.bounds[i]}`);
      const pairWith = (turns) => (64 * Math.log(8192 / (turns * 2 * Math.PI))) / Math.log(500000);
      assert.ok(Math.abs(drawn.band[0] - xOf(pairWith(4))) < 0.02);
      assert.ok(Math.abs(drawn.band[0] + drawn.band[1] - xOf(pairWith(1))) < 0.02);
      const findings = (await figure.texts(".panel .findings > li")).join("\n");
      assert.match(findings, /^note torch_dtype line 26, column 18 bfloat16 holds whole numbers up to 256/m);
      assert.match(
        findings,
        /^note rope_scaling programs older than transformers 4\.43 .* Met before in 4 reports/m,
      );
      assert.match(await figure.text(".views button"), /^Findings: 3 notes$/);
      const since = (await page.requests()).slice(before);
      assert.deepEqual(
        since.filter((address) => !address.startsWith(`${base}assets/`)),
        [],
      );
    },
  },
  {
    name: "moving the factor draws within a frame what the core computes",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const own = async () => (await ratiosDrawn(figure)).llama3;
      const check = (drawn, factor) => {
        const wanted = scaled(factor).map((w, i) => plain[i] / w);
        assert.equal(drawn.length, 64);
        for (const [i, ratio] of drawn.entries())
          close(assert, ratio, wanted[i], 2e-3, `factor ${factor}, pair ${i}`);
      };
      check(await own(), 8);
      const frames = await page.evaluate(async (tag) => {
        const root = document.querySelector(tag).shadowRoot;
        const path = () => root.querySelector("path.curve[data-type=llama3]").getAttribute("d");
        const before = path();
        const field = root.querySelector('input[type=number][aria-label="factor"]');
        field.value = "32";
        field.dispatchEvent(new Event("change", { bubbles: true }));
        let count = 0;
        while (path() === before && count < 100) {
          await new Promise(requestAnimationFrame);
          await new Promise((done) => setTimeout(done));
          count++;
        }
        return count;
      }, TAG);
      assert.equal(frames, 1);
      await figure.settle();
      check(await own(), 32);
      // the others get the same factor
      const { linear, ntk } = await ratiosDrawn(figure);
      for (const ratio of linear) close(assert, ratio, 32, 2e-3, "linear");
      for (const [i, ratio] of ntk.entries()) close(assert, ratio, 32 ** (i / 63), 2e-3, `ntk, pair ${i}`);
      // only the number has changed in the text
      const text = await page.evaluate(
        (tag) => document.querySelector(tag).shadowRoot.querySelector("textarea").value,
        TAG,
      );
      assert.match(text, /"rope_type": "llama3",\n {4}"factor": 32,\n {4}"low_freq_factor": 1,/);
      await figure.click("button.reset");
      check(await own(), 8);
    },
  },
  {
    name: "a number that the config leaves out goes into its block when it is moved",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, "?scaling.preset=Yarn-Llama-2-7b-64k");
      await page.evaluate((tag) => {
        const root = document.querySelector(tag).shadowRoot;
        const field = root.querySelector('input[type=number][aria-label="beta_fast"]');
        field.value = "4";
        field.dispatchEvent(new Event("change", { bubbles: true }));
      }, TAG);
      await figure.settle();
      const config = {
        ...{ headDim: 128, ropeType: "yarn", factor: 16, originalMaxPositionEmbeddings: 4096 },
        betaFast: 4,
      };
      const [, ...lines] = await figure.exports();
      assert.deepEqual(
        lines.map((line) => Number(line[2])),
        [...core.ropeInvFreq(config).invFreq],
      );
    },
  },
  {
    name: "a config that is dropped or chosen is read in the page, and a link carries it",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const first = await figure.text(".takeaway");
      const odd = {
        ...LLAMA,
        rope_scaling: { ...LLAMA.rope_scaling, original_max_position_embeddings: 4096 },
      };
      await drop(figure, JSON.stringify(odd, null, 4));
      await page.waitFor(
        ([tag, said]) =>
          document.querySelector(tag).shadowRoot.querySelector(".takeaway").textContent !== said,
        [TAG, first],
      );
      await figure.settle();
      assert.match(
        await figure.text(".takeaway"),
        /^This config scales by Llama 3: .* 4096 unscaled positions/,
      );
      const address = await page.waitFor(() => location.search.includes("scaling.config=") && location.href);
      const said = await figure.text(".takeaway");
      const csv = await figure.exports();
      const copy = await openFigure(page, base, TAG, new URL(address).search);
      assert.equal(await copy.text(".takeaway"), said);
      assert.deepEqual(await copy.exports(), csv);
      const text = await page.evaluate(
        (tag) => document.querySelector(tag).shadowRoot.querySelector("textarea").value,
        TAG,
      );
      assert.deepEqual(JSON.parse(text), odd);
      assert.match(text, /\n {2}"rope_scaling": \{\n {4}"factor": 8,\n/);
      await page.evaluate(
        ([tag, content]) => {
          const input = document.querySelector(tag).shadowRoot.querySelector("input[type=file]");
          const transfer = new DataTransfer();
          transfer.items.add(new File([content], "config.json"));
          input.files = transfer.files;
          input.dispatchEvent(new Event("change", { bubbles: true }));
        },
        [TAG, JSON.stringify({ ...LLAMA, rope_scaling: null })],
      );
      await page.waitFor(
        (tag) =>
          /unscaled\. At/.test(document.querySelector(tag).shadowRoot.querySelector(".takeaway").textContent),
        TAG,
      );
      await figure.set({ config: '{"hidden_size": 64, "num_attention_heads": 4, "rope_theta": 100}' });
      assert.match(
        await figure.text(".takeaway"),
        /^This config turns its 8 pairs unscaled\. The config does not say/,
      );
      await figure.click("button.reset");
      assert.equal(await figure.text(".takeaway"), first);
    },
  },
  {
    name: "the model that is named is the one that is shown, however often it changes",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const select = (change) =>
        page.evaluate(
          ([tag, preset]) => {
            const field = document.querySelector(tag).shadowRoot.querySelector("select");
            if (preset) {
              field.value = preset;
              field.dispatchEvent(new Event("change", { bubbles: true }));
            }
            return field.selectedOptions[0].textContent;
          },
          [TAG, change],
        );
      for (const name of ["Llama-2-7B", "Llama-3.1-8B", "Llama-2-7B"]) {
        await select(name);
        await figure.settle();
      }
      await figure.click("button.reset");
      assert.equal(await select(), "Llama-3.1-8B");
      await paste(figure, LLAMA_TEXT);
      assert.equal(await select(), "your own config");
      await select("Llama-2-7B");
      await figure.settle();
      assert.match(await figure.text(".takeaway"), /^Llama-2-7B turns/);
      await figure.set({ preset: "Llama-3.1-8B" });
      assert.equal(await select(), "Llama-3.1-8B");
    },
  },
  {
    name: "a config too long for a link is shown all the same, and it is said",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const id2label = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [i, `LABEL_${i}`]));
      await paste(figure, JSON.stringify({ ...LLAMA, id2label }));
      assert.match(await figure.text(".takeaway"), /^This config scales by Llama 3/);
      assert.match((await figure.texts(".config p")).join(" "), /too long for a link/);
      await figure.set({ pair: 3 });
      assert.match(await figure.text(".takeaway"), /^This config scales by Llama 3/);
      await figure.set({ preset: "Llama-2-7B" });
      assert.match(await figure.text(".takeaway"), /^Llama-2-7B turns its 64 pairs unscaled/);
    },
  },
  {
    name: "what cannot be shown is answered with its key and place, and nothing shown is lost",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      await page.evaluate((tag) => {
        window.told = [];
        document.querySelector(tag).addEventListener("pe-error", ({ detail }) => window.told.push(detail));
      }, TAG);
      const good = await shown(figure);
      for (const [text, sentence] of BAD) {
        await page.evaluate(
          ([tag, given]) => {
            const area = document.querySelector(tag).shadowRoot.querySelector("textarea");
            area.value = given;
            area.dispatchEvent(new Event("input", { bubbles: true }));
          },
          [TAG, text],
        );
        await figure.settle();
        assert.match(await figure.text(".refused p"), sentence);
        assert.match((await page.evaluate(() => window.told)).at(-1).replace(/\s+/g, " "), sentence);
        assert.deepEqual(await shown(figure), good);
        assert.equal(await figure.attribute("config"), null);
      }
      await drop(figure, 50 * 2 ** 20, "model.safetensors");
      await page.waitFor(
        (tag) =>
          /52.428.800 bytes/.test(
            document.querySelector(tag).shadowRoot.querySelector(".refused").textContent,
          ),
        TAG,
      );
      assert.deepEqual(await shown(figure), good);
      // the draft stays in its field, and the next good text takes over
      await paste(figure, LLAMA_TEXT);
      assert.deepEqual(await figure.texts(".refused"), []);
      assert.match(await figure.text(".takeaway"), /^This config scales by Llama 3/);
      await figure.refuses(
        { config: "%7B" },
        /^config must be the text of a config\.json, or that text in base64url$/,
      );
      await figure.refuses({ config: '{"a": ' }, /^line 1, column 7: not JSON: the text ends/);
      await figure.refuses({ preset: "GPT-5" }, /^preset must be one of Llama-2-7B, /);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the report in Markdown, the snippets and the files hold the numbers of the config",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, "?scaling.view=files&scaling.rows=5");
      await keep(page);
      const invFreq = scaled(8);
      await press(figure, "Copy Markdown");
      const report = await page.evaluate(() => window.kept.copied);
      assert.match(report, /^# RoPE report: Llama-3\.1-8B\n\n0 errors, 0 warnings, 2 notes\.\n/);
      assert.match(report, /- \*\*note\*\* `spelled-rope-type` at `rope_scaling\.rope_type`, line 8: /);
      assert.ok(report.includes(`| 0 | 1 | 6.2832 | 1303.8 |`), report);
      assert.ok(report.includes(`| 63 | ${invFreq[63]} | `), report);
      assert.match(report, /unreached phases at 131072 positions/);
      await press(figure, "Copy");
      assert.match(
        await page.evaluate(() => window.kept.copied),
        /^import math\n\nimport torch\n[\s\S]*500000\.0\n/,
      );
      await press(figure, "NPY");
      assert.deepEqual(doubles(await lastFile(page)), invFreq);
      await press(figure, "JSON");
      const text = String.fromCharCode(...(await lastFile(page)));
      assert.deepEqual(JSON.parse(text), { inv_freq: [...invFreq], attention_factor: 1 });
      await press(figure, "NPY", 1);
      const { cos, sin } = core.ropeCosSin(Float64Array.from([0, 1, 2, 3, 4]), invFreq);
      const values = doubles(await lastFile(page));
      assert.equal(values.length, 5 * 64 * 2);
      cos.forEach((value, i) => {
        assert.deepEqual([values[2 * i], values[2 * i + 1]], [value, sin[i]]);
      });
      await press(figure, "CSV", 1);
      const lines = String.fromCharCode(...(await lastFile(page)))
        .trimEnd()
        .split("\r\n");
      assert.equal(lines[0], "axis 0,axis 1,cos,sin");
      assert.equal(lines.at(-1), `4,63,${cos.at(-1)},${sin.at(-1)}`);
      assert.equal(await figure.text(".notice"), "cos_sin.csv saved.");
    },
  },
  {
    name: "the panels tell what the length, few bits and the other pair layout do",
    async run({ page, base, assert }) {
      const preset = encodeURIComponent("InternLM2.5-7B (dynamic x2)");
      const figure = await openFigure(
        page,
        base,
        TAG,
        `?scaling.preset=${preset}&scaling.view=length&scaling.seq-len=65536`,
      );
      assert.match(
        await figure.text(".panel .length"),
        /At 65 536 positions, reached token by token, the keys cached at positions 1 to 65 534 were turned at other/,
      );
      const cells = async () =>
        page.evaluate(
          (tag) =>
            [...document.querySelector(tag).shadowRoot.querySelectorAll(".panel tbody tr")].map((row) =>
              [...row.children].map((cell) => cell.textContent),
            ),
          TAG,
        );
      // it remembers the longest length until a sequence shorter than the original comes
      assert.deepEqual(
        (await cells()).map((row) => row.slice(0, 2).map(read)),
        [
          [32768, 32768],
          [65536, 65536],
          [49152, 65536],
          [32767, 32768],
        ],
      );
      const dynamic = {
        ...{ headDim: 128, ropeTheta: 1e6, ropeType: "dynamic", factor: 2 },
        originalMaxPositionEmbeddings: 32768,
      };
      const slowest = (2 * Math.PI) / core.ropeInvFreq(dynamic, 65536).invFreq[63];
      close(assert, read((await cells())[1][4]), slowest, 1e-3, "slowest pair");

      await figure.set({ view: "precision", position: 300 });
      const { invFreq } = core.ropeInvFreq(dynamic, 65536);
      for (const [format, everything, , , , held, merged] of await cells()) {
        const [error] = core.ropeFormatErrors(Float64Array.of(300), invFreq, format);
        close(assert, read(everything), error, 0.05, format);
        assert.equal(read(held), core.roundTo(Float64Array.of(300), format)[0]);
        assert.equal(read(merged), { float32: 2 ** 24, bfloat16: 256, float16: 2048 }[format] + 1);
      }

      await figure.set({ view: "neighbours", distance: 9 });
      const mean = (distance) => invFreq.reduce((sum, w) => sum + Math.cos(distance * w), 0) / 64;
      close(assert, read((await figure.texts(".panel p b"))[0]), mean(10) - mean(9), 1e-2, "neighbours");

      await figure.set({ view: "layout" });
      assert.match(
        await figure.text(".panel p"),
        /pairs its components in the half layout.* Code of the interleaved layout/,
      );
      assert.match(
        await figure.text(".panel pre"),
        /^head = \[i \/\/ 2 \+ i % 2 \* 64 for i in range\(128\)\]/,
      );

      await figure.set({ view: "findings" });
      assert.match(await figure.text(".panel .findings > li"), /^warning rope_scaling .*keys cached/);
      assert.match((await figure.texts(".panel td")).join("|"), /\|dynamic\|rope_scaling\.type/);
    },
  },
  {
    name: "the pair that is read follows the pointer and the keys",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG);
      const box = await page.box(`${TAG} >> .plot`);
      await page.hover({ x: box.x + box.width - 14, y: box.y + 100 });
      await figure.settle();
      assert.equal(await figure.attribute("pair"), "63");
      await figure.focus('input[type=range][aria-label="pair"]');
      await figure.press("ArrowLeft");
      assert.equal(await figure.attribute("pair"), "62");
      const values = await figure.texts(".readout b");
      assert.equal(values[0], "62");
      close(assert, read(values[1]), scaled(8)[62], 1e-3, "inv_freq");
      close(assert, read(values[4]), 8, 1e-3, "times slower");
    },
  },
  {
    name: "each kind of layer of a model has its own frequencies",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, TAG, "?scaling.preset=Gemma-3-4B");
      const last = async () => Number((await figure.exports()).at(-1)[2]);
      assert.equal(
        await last(),
        core.ropeInvFreq({ headDim: 256, ropeTheta: 1e6, ropeType: "linear", factor: 8 }).invFreq[127],
      );
      await figure.set({ layers: 1 });
      assert.equal(await last(), core.ropeInvFreq({ headDim: 256 }).invFreq[127]);
    },
  },
  ...["length", "neighbours", "precision", "layout", "files"].map((view) => ({
    name: `the scaling figure's panel of ${view} fits a telephone`,
    page: PHONE,
    async run({ page, base }) {
      const figure = await openFigure(page, base, TAG, `?scaling.view=${view}`);
      await figure.isAccessible();
    },
  })),
  ...owed(
    TAG,
    { change: { preset: "Llama-2-7B" }, elsewhere: ["exports"] },
    {
      "the scaling figure fits a telephone and is accessible": { page: PHONE, duties: ["isAccessible"] },
      "the scaling figure's sentence is spoken, and it leaves nothing behind": {
        duties: ["speaks", "leavesNothing"],
      },
    },
  ),
];
