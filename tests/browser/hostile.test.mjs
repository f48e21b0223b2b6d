// Values that nobody meant, in pages: whatever attributes, states, addresses, files and messages hold, a figure takes it
// or says a sentence and keeps its last good picture. What needs no page stands in tests/node/hostile.test.mjs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { ROOT } from "../../scripts/run.mjs";
import { COUNTS, TEXTS, texts, textsFor } from "../hostile/values.mjs";
import { openHost, TAGS } from "./host.mjs";

/** No value may hold a page up for so long: far above what any takes, even on a busy machine. */
const HANG = 20_000;

const elements = JSON.parse(readFileSync(join(ROOT, "build/package/custom-elements.json"), "utf8"))
  .modules.flatMap(({ declarations }) => declarations)
  .filter(({ tagName }) => tagName);
const fieldsOf = (tag) =>
  Object.fromEntries(
    elements
      .find(({ tagName }) => tagName === tag)
      .attributes.filter(({ field }) => field)
      .map(({ name, field }) => [name, field]),
  );

/** What stands in the page as window.hostile. */
function helpers() {
  const { host } = window;
  const kinds = [Object, Array, Function, String, Number, Promise, Map, HTMLElement, Event];
  const prototypes = () => kinds.map(({ prototype }) => Reflect.ownKeys(prototype).map(String).join()).join();
  const before = prototypes();
  const ODD = /\bNaN\b|Infinity\b|\bundefined\b|\[object/;
  const FOREIGN = "script, img, iframe, object, embed, #injected, [onerror], [onload], [onclick]";
  window.alerts = 0;
  window.alert = () => window.alerts++;

  window.hostile = {
    longest: { milliseconds: 0, what: "" },
    tried: 0,

    /** Runs what one value asks for, at once. */
    time(what, work) {
      const start = performance.now();
      work();
      const milliseconds = performance.now() - start;
      this.tried++;
      if (milliseconds > this.longest.milliseconds) this.longest = { milliseconds, what: what.slice(0, 100) };
    },

    /** Computes and draws now what the next frame would. */
    flush(figure) {
      for (let i = 0; i < 4 && figure.isUpdatePending; i++) figure.performUpdate();
    },

    /** What of the page a value has harmed. */
    harm() {
      const found = [];
      if (prototypes() !== before) found.push("a prototype has changed");
      if (window.alerts > 0) found.push("a script was run");
      return found;
    },

    /** What is wrong with what a figure shows; `ownText`: words of the value stand in it as such. */
    wrong(figure, ownText = false) {
      const found = this.harm();
      const root = figure.shadowRoot;
      if (!host.drawn(figure)) found.push("no picture");
      if (root.querySelector(FOREIGN))
        found.push(`markup: ${root.querySelector(FOREIGN).outerHTML.slice(0, 200)}`);
      for (const element of root.querySelectorAll("*")) {
        if (element.localName === "canvas" && !(element.width > 0 && element.height > 0))
          found.push(`a canvas of ${element.width} × ${element.height}`);
        for (const { name, value } of element.attributes) {
          const spoken = /^(aria-|title$|value$|placeholder$)/.test(name);
          if (ODD.test(value) && !(spoken && ownText))
            found.push(`${element.localName} ${name}="${value.slice(0, 80)}"`);
        }
        for (const node of element.childNodes) {
          const text = node.nodeType === Node.TEXT_NODE ? node.data : "";
          if (ODD.test(text) && !ownText && !element.closest(".problem, style, pre, textarea"))
            found.push(`“${text.trim().slice(0, 120)}”`);
        }
      }
      return found;
    },
  };
}

async function openHostile(page) {
  await openHost(page);
  await page.evaluate(`(${helpers})();`);
}

/** What a test has tried so far in the page, printed; fails unless it is as many as COUNTS says. */
async function tally(page, engine, kind, more = 0) {
  const { tried, longest } = await page.evaluate(() => window.hostile);
  console.log(
    `# hostile values: ${tried + more} ${kind} in ${engine}, the longest ${Math.round(longest.milliseconds)} ms: ${longest.what}`,
  );
  assert.equal(tried + more, COUNTS.browser[kind]);
  assert.ok(longest.milliseconds < HANG, `${longest.milliseconds} ms: ${longest.what}`);
  assert.deepEqual(await page.consoleErrors(), []);
}

/** `count` in as many parts as there are names, as equal as can be: [name, part] of each. */
const shares = (count, names) =>
  names.map((name, i) => [
    name,
    Math.floor(((i + 1) * count) / names.length) - Math.floor((i * count) / names.length),
  ]);

/** Hostile texts for the attributes of a figure: [name, text] each. */
const attributesOf = (tag, count, seed) => {
  const fields = { ...fieldsOf(tag), "url-key": { kind: "text", fallback: "", maxLength: 10 } };
  const one = fc
    .constantFrom(...Object.keys(fields))
    .chain((name) => fc.tuple(fc.constant(name), textsFor(fields[name])));
  return fc.sample(one, { seed, numRuns: count });
};

export default [
  {
    name: "every attribute of every figure takes a hostile text or refuses it, and the last good picture stays",
    async run({ page, engine }) {
      await openHostile(page);
      for (const [i, [tag, share]] of shares(COUNTS.browser["attributes of figures"], TAGS).entries()) {
        const found = await page.evaluate(
          async ([name, given]) => {
            const { host, hostile } = window;
            const figure = await host.mount(name);
            const { fields } = customElements.get(name);
            const wrong = [];
            const says = () => host.find(figure, ".takeaway").textContent;
            let [taken, refused] = [0, 0];
            for (const [at, [attribute, text]] of given.entries()) {
              const good = says();
              const own = [...figure.attributes].some((one) => fields[one.name]?.kind === "text");
              hostile.time(`${name} ${attribute}="${text}"`, () => {
                figure.setAttribute(attribute, text);
                hostile.flush(figure);
              });
              const problem = host.problem(figure);
              const note = (words) =>
                wrong.push(`${attribute}=${JSON.stringify(text).slice(0, 80)}: ${words}`);
              for (const one of hostile.wrong(figure, own || fields[attribute]?.kind === "text")) note(one);
              if (problem) {
                refused++;
                if (says() !== good) note(`“${says()}” and not “${good}”`);
                if (
                  problem.length < 10 ||
                  problem.length > 1200 ||
                  /is not a function|of undefined|of null/.test(problem)
                )
                  note(`says ${problem}`);
                figure.removeAttribute(attribute);
                hostile.flush(figure);
                if (host.problem(figure) && !/must|at most|at least/.test(host.problem(figure)))
                  note(host.problem(figure));
              } else taken++;
              if (at % 20 === 19 || host.problem(figure)) {
                for (const { name: old } of [...figure.attributes]) figure.removeAttribute(old);
                hostile.flush(figure);
                if (host.problem(figure)) note(`${host.problem(figure)}, and nothing is set`);
              }
              if (at % 50 === 49) await host.frames(1);
              if (wrong.length > 8) break;
            }
            await host.settle(figure);
            wrong.push(...hostile.wrong(figure, true));
            if (taken < given.length / 8 || refused < given.length / 8)
              wrong.push(`${taken} taken, ${refused} refused`);
            figure.remove();
            return wrong;
          },
          [tag, attributesOf(tag, share, 500 + i)],
        );
        assert.deepEqual([...found, ...(await page.consoleErrors())], [], tag);
      }
      await tally(page, engine, "attributes of figures");
    },
  },
  {
    name: "every figure takes a hostile state as a whole or not at all, and gives only sound ones",
    async run({ page, engine }) {
      await openHostile(page);
      const sample = fc.sample(texts, { seed: 600, numRuns: 400 });
      for (const [i, [tag, share]] of shares(COUNTS.browser["saved states"], TAGS).entries()) {
        const found = await page.evaluate(
          async ([name, count, words, seed]) => {
            const { host, hostile } = window;
            const figure = await host.mount(name);
            const { fields } = customElements.get(name);
            const names = Object.keys(fields);
            const random = host.random(seed);
            const among = (list) => list[Math.floor(random() * list.length)];
            const mine = new Error("thrown by the caller's own object");
            const fails = () => {
              throw mine;
            };
            const cycle = {};
            cycle.cycle = cycle;
            let asked = 0;
            const values = [
              ...[
                null,
                undefined,
                true,
                false,
                0,
                -0,
                1,
                -1,
                0.5,
                Number.NaN,
                Number.POSITIVE_INFINITY,
                Number.NEGATIVE_INFINITY,
                2 ** 31,
                2 ** 53,
                1e308,
              ],
              ...[
                5e-324,
                8n,
                Symbol("state"),
                fails,
                {},
                [],
                [1],
                cycle,
                new Date(0),
                new Map(),
                document,
                window,
              ],
              ...[
                { toString: fails },
                { valueOf: () => 3 },
                Object.create(null),
                new Number(3),
                new String("3"),
              ],
              ...[
                new Proxy({}, { get: fails, ownKeys: fails }),
                new Float64Array(3),
                /x/,
                Promise.resolve(1),
              ],
            ];
            const value = () => (random() < 0.5 ? among(words) : among(values));
            const key = () => (random() < 0.7 ? among(names) : among(words));
            const record = () => {
              const made = {};
              for (let k = Math.floor(random() * 4); k >= 0; k--)
                Object.defineProperty(made, key(), { value: value(), enumerable: true, configurable: true });
              return made;
            };
            const whole = (state) => ({ version: 1, figure: name.slice(3), state });
            const good = figure.getState();
            const makers = [
              () => whole(record()),
              () => whole({ ...good.state, [among(names)]: value() }),
              () => ({ ...good, version: value() }),
              () => ({ ...good, figure: value() }),
              () => whole(value()),
              () => value(),
              () =>
                whole({
                  ...good.state,
                  get [among(names)]() {
                    return fails();
                  },
                }),
              () => ({
                version: 1,
                figure: name.slice(3),
                get state() {
                  return fails();
                },
              }),
              () =>
                JSON.parse(
                  '{"version":1,"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
                ),
              () => whole(JSON.parse(`{"__proto__":{"polluted":1},"${among(names)}":1}`)),
              () => Object.create(good),
              () => whole(Object.create({ [among(names)]: value() })),
              () => whole(new Proxy(record(), {})),
              () =>
                whole({
                  get [among(names)]() {
                    return ++asked % 2 ? good.state[among(names)] : value();
                  },
                }),
              () => whole({ [Symbol("x")]: value() }),
            ];
            const wrong = [];
            const attributes = () =>
              JSON.stringify([...figure.attributes].map((one) => [one.name, one.value]));
            const keeps = (field, one) =>
              field.kind === "flag"
                ? typeof one === "boolean"
                : field.kind === "choice"
                  ? field.choices.includes(one)
                  : field.kind === "text"
                    ? typeof one === "string" && one.length <= field.maxLength
                    : Number.isFinite(one) &&
                      one >= field.min &&
                      one <= field.max &&
                      (field.kind === "number" || Number.isInteger(one));
            let taken = 0;
            for (let k = 0; k < count && wrong.length < 8; k++) {
              const saved = makers[k % makers.length]();
              const stand = attributes();
              const was = JSON.stringify(figure.getState());
              hostile.time(`${name} state ${k}`, () => {
                try {
                  figure.setState(saved);
                  taken++;
                } catch (error) {
                  const ours = error instanceof TypeError || error instanceof RangeError;
                  if (error !== mine && !ours) wrong.push(`${k % makers.length}: ${error}`);
                  if (ours && !/must be|is not an attribute/.test(error.message)) wrong.push(error.message);
                  if (attributes() !== stand || JSON.stringify(figure.getState()) !== was)
                    wrong.push(`refused and yet changed: ${error}`);
                }
              });
              const { version, figure: whose, state } = figure.getState();
              if (version !== 1 || whose !== name.slice(3) || Object.keys(state).join() !== names.join())
                wrong.push(`gives ${JSON.stringify(figure.getState())}`);
              for (const one of names)
                if (!keeps(fields[one], state[one])) wrong.push(`${one} is ${JSON.stringify(state[one])}`);
              if (k % 100 === 99) {
                hostile.flush(figure);
                wrong.push(...hostile.wrong(figure, true));
                figure.setState(good);
                await host.frames(1);
              }
            }
            // nor does a number typed beyond its bounds become a state, not even until the next frame
            for (const input of host.all(figure, "input[type=number]")) {
              input.value = String(3 * Number(input.max) + 1);
              input.dispatchEvent(new Event("change", { bubbles: true }));
              const { state } = figure.getState();
              for (const one of names)
                if (!keeps(fields[one], state[one])) wrong.push(`typed: ${one} is ${state[one]}`);
            }
            figure.setState(good);
            await host.settle(figure);
            if (host.problem(figure)) wrong.push(host.problem(figure));
            if (taken < count / 50) wrong.push(`only ${taken} of ${count} taken`);
            wrong.push(...hostile.wrong(figure));
            figure.remove();
            return wrong;
          },
          [tag, share, sample, 600 + i],
        );
        assert.deepEqual([...found, ...(await page.consoleErrors())], [], tag);
      }
      await tally(page, engine, "saved states");
    },
  },
  {
    name: "no property that is set on an element harms it",
    async run({ page, engine }) {
      await openHostile(page);
      const public_ = Object.fromEntries(
        elements.map(({ tagName, members = [], attributes = [] }) => [
          tagName,
          [...members.filter(({ kind }) => kind === "field"), ...attributes].map(({ name }) => name),
        ]),
      );
      const tags = Object.keys(public_);
      for (const [i, [tag, share]] of shares(COUNTS.browser.properties, tags).entries()) {
        const sample = fc.sample(texts, { seed: 700 + i, numRuns: share });
        const found = await page.evaluate(
          async ([name, own, words]) => {
            const { host, hostile } = window;
            const isFigure = Boolean(customElements.get(name)?.fields);
            const element = isFigure
              ? await host.mount(name)
              : document.body.appendChild(document.createElement(name));
            const state = () => (isFigure ? JSON.stringify(element.getState()) : "");
            const before = state();
            const wrong = [];
            const names = [
              ...own,
              "width",
              "height",
              "title",
              "lang",
              "dir",
              "className",
              "id",
              "slot",
              "tabIndex",
              "nonce",
              "draggable",
            ];
            const odd = [null, undefined, {}, [], 5, Number.NaN, () => 1, 8n, Object.create(null)];
            for (const [k, word] of words.entries()) {
              const property = names[k % names.length];
              const value = k % 3 === 2 ? odd[k % odd.length] : word;
              hostile.time(`${name}.${property} = ${word}`, () => {
                try {
                  element[property] = value; // what is only to be read throws
                } catch (error) {
                  if (!(error instanceof TypeError)) wrong.push(`${property}: ${error}`);
                }
                if (name === "pe-question") element.setAttribute("question", word);
                if (isFigure) hostile.flush(element);
              });
              if (state() !== before) wrong.push(`${property} has changed the state to ${state()}`);
            }
            if (isFigure) {
              await host.settle(element);
              if (!(element.ready instanceof Promise)) wrong.push("ready is no promise any more");
              wrong.push(
                ...hostile.wrong(element),
                ...(host.problem(element) ? [host.problem(element)] : []),
              );
            }
            wrong.push(...hostile.harm());
            element.remove();
            return wrong;
          },
          [tag, public_[tag], sample],
        );
        assert.deepEqual([...found, ...(await page.consoleErrors())], [], tag);
      }
      await tally(page, engine, "properties");
    },
  },
  {
    name: "whatever the address says of a figure, it draws, and says what is wrong",
    async run({ page, newPage, origin, engine }) {
      await openHostile(page);
      const all = COUNTS.browser["keys of addresses"];
      const inLesson = TAGS.reduce((sum, tag) => sum + Object.keys(fieldsOf(tag)).length, 0);
      for (const [i, [tag, share]] of shares(all - inLesson, TAGS).entries()) {
        const fields = fieldsOf(tag);
        const names = Object.keys(fields).filter((name) => !["theme", "hide", "loading"].includes(name));
        // one address after the other, each with every key of the figure, and the last with what remains
        const addresses = [];
        for (let left = share, seed = 800 + 100 * i; left > 0; left -= names.length, seed++) {
          const pairs = names.slice(0, left).map((name) => {
            const [text] = fc.sample(textsFor(fields[name]), { seed, numRuns: 1 });
            return [`hostile.${name}`, text.slice(0, 300).replace(/[\ud800-\udfff]/g, "\ufffd")];
          });
          addresses.push([`?${new URLSearchParams(pairs)}`, pairs.length]);
        }
        const found = await page.evaluate(
          async ([name, queries]) => {
            const { host, hostile } = window;
            const wrong = [];
            const { fields: known } = customElements.get(name);
            let problems = 0;
            for (const [query, values] of queries) {
              history.replaceState(null, "", query);
              const figure = host.make(name, { "url-key": "hostile" });
              hostile.time(`${name}${query}`, () => document.body.append(figure));
              hostile.tried += values - 1;
              await host.ready(figure).catch((error) => wrong.push(`${query.slice(0, 600)}: ${error}`));
              await host.frames(1);
              hostile.time(`${name}${query}`, () => hostile.flush(figure));
              hostile.tried--;
              wrong.push(
                ...hostile
                  .wrong(
                    figure,
                    Object.values(known).some(({ kind }) => kind === "text"),
                  )
                  .map((one) => `${query.slice(0, 300)}: ${one}`),
              );
              if (host.problem(figure)) problems++;
              figure.remove();
              if (wrong.length > 5) break;
            }
            history.replaceState(null, "", location.pathname);
            if (problems < queries.length / 3)
              wrong.push(`only ${problems} of ${queries.length} said to be wrong`);
            return wrong;
          },
          [tag, addresses],
        );
        assert.deepEqual([...found, ...(await page.consoleErrors())], [], tag);
      }
      // the lesson itself, with every key of every figure and of a course, and the gallery, which has none
      const lesson = await newPage();
      const given = TAGS.flatMap((tag, i) =>
        Object.entries(fieldsOf(tag)).map(([name, field], k) => [
          `${tag.slice(3)}.${name}`,
          fc
            .sample(textsFor(field), { seed: 900 + 50 * i + k, numRuns: 1 })[0]
            .slice(0, 60)
            .replace(/[\ud800-\udfff]/g, "\ufffd"),
        ]),
      );
      const course = {
        actor: "<b>",
        activity_id: "javascript:1",
        registration: "1",
        mastery_score: "1e9",
        endpoint: "\u0000",
      };
      const query = new URLSearchParams([...given, ...Object.entries(course)]);
      for (const address of [`index.html?${query}#"><script>`, `gallery.html?${query}#__proto__`]) {
        await lesson.goto(`${origin}${address}`);
        await lesson.waitFor(() => document.querySelector("figure > *, pe-heatmap") !== null);
        const shown = await lesson.evaluate(async () => {
          const figures = [...document.querySelectorAll("*")].filter(({ localName }) =>
            /^pe-/.test(localName),
          );
          for (const figure of figures.slice(0, 6)) {
            figure.scrollIntoView({ behavior: "instant" });
            await new Promise((done) => setTimeout(done, 100));
          }
          return {
            figures: figures.length,
            foreign: document.querySelectorAll("#injected, [onerror], body img[src=x]").length,
            polluted: Object.keys(Object.prototype).length,
            lost: figures.filter(
              ({ shadowRoot }) =>
                shadowRoot?.querySelector("footer") && !shadowRoot.querySelector("[data-picture]"),
            ).length,
          };
        });
        assert.deepEqual(
          { ...shown, figures: shown.figures > 5 },
          { figures: true, foreign: 0, polluted: 0, lost: 0 },
          address.slice(0, 12),
        );
        assert.deepEqual(await lesson.consoleErrors(), []);
      }
      await tally(page, engine, "keys of addresses", inLesson);
    },
  },
  {
    name: "a file or text of any content is opened, or refused beside the last good picture",
    async run({ page, engine }) {
      await openHostile(page);
      const count = COUNTS.browser["files and pasted texts"];
      const [tables, configs] = [count / 2, count / 4];
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 80 }),
        fc
          .tuple(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(1, 2, 3, 9))
          .map(([rest, version]) => [0x93, ...Buffer.from("NUMPY"), version, 0, ...rest]),
        fc
          .tuple(
            fc.constantFrom("(2, 3)", "(2, 3)", "(3,)", "(0, 2)", "(9e9, 9e9)"),
            fc.constantFrom("<f4", "<f4", "<f8", "|O"),
            fc.uint8Array({ minLength: 24, maxLength: 24 }),
          )
          .map(([shape, type, data]) => {
            const header = `{'descr': '${type}', 'fortran_order': False, 'shape': ${shape}, }\n`;
            return [0x93, ...Buffer.from("NUMPY"), 1, 0, header.length, 0, ...Buffer.from(header), ...data];
          }),
      );
      const names = fc.oneof(
        fc.constantFrom("a.npy", "a.npy", "a.npy", "b.safetensors", "config.json"),
        texts.map((text) => `${text.slice(0, 200)}.npy`),
      );
      const config = fc.oneof(
        texts,
        fc.json(),
        fc
          .dictionary(
            fc.constantFrom(
              "hidden_size",
              "num_attention_heads",
              "rope_theta",
              "head_dim",
              "rope_scaling",
              "__proto__",
            ),
            fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(64, 4, 128, 1e4)),
          )
          .map((fields) =>
            JSON.stringify({
              model_type: "llama",
              hidden_size: 64,
              num_attention_heads: 4,
              rope_theta: 1e4,
              ...fields,
            }),
          ),
      );
      const files = fc.sample(
        fc.tuple(
          names,
          bytes.map((one) => [...one]),
        ),
        { seed: 950, numRuns: tables },
      );
      const given = fc.sample(config, { seed: 951, numRuns: 2 * configs });
      const found = await page.evaluate(
        async ([all, words]) => {
          const { host, hostile } = window;
          const wrong = [];
          const drop = async (figure, selector, file) => {
            const transfer = new DataTransfer();
            transfer.items.add(file);
            const init = { dataTransfer: transfer, bubbles: true, cancelable: true, composed: true };
            host.find(figure, selector).dispatchEvent(new DragEvent("drop", init));
            // as many turns as reading a header, then a table, takes, and one that comes after
            for (let turn = 0; turn < 4; turn++) {
              await file.slice(0, 20).arrayBuffer();
              await new Promise((done) => setTimeout(done));
            }
          };
          const problem = (figure) =>
            host
              .all(figure, "[role=alert]")
              .map(({ textContent }) => textContent.trim())
              .join("");
          const says = (figure) => host.find(figure, ".takeaway").textContent;
          const outcomes = { taken: 0, refused: 0 };
          const attempt = async (figure, what, give) => {
            const good = says(figure);
            const stood = problem(figure);
            await give();
            hostile.time(what, () => hostile.flush(figure));
            const told = problem(figure);
            if (told && told !== stood && says(figure) !== good)
              wrong.push(`${what}: refused, and now “${says(figure)}”`);
            outcomes[told ? "refused" : "taken"]++;
            wrong.push(...hostile.wrong(figure, true).map((one) => `${what}: ${one}`));
          };
          const learned = await host.mount("pe-learned");
          for (const [name, bytes] of all) {
            const file = new File([Uint8Array.from(bytes)], name);
            await attempt(learned, `${name.slice(0, 40)}, ${bytes.length} bytes`, () =>
              drop(learned, ".stage", file),
            );
          }
          learned.remove();
          const table = { ...outcomes };
          const scaling = await host.mount("pe-scaling");
          for (const [k, text] of words.entries()) {
            await attempt(scaling, text.slice(0, 60), async () => {
              if (k % 2) return drop(scaling, ".plot", new File([text], "config.json"));
              const area = host.find(scaling, "textarea");
              area.value = text;
              area.dispatchEvent(new Event("input", { bubbles: true }));
            });
          }
          scaling.remove();
          for (const [kind, times] of Object.entries(table))
            if (times < 5) wrong.push(`${times} tables ${kind}`);
          for (const [kind, times] of Object.entries(outcomes))
            if (times - table[kind] < 10) wrong.push(`${times - table[kind]} configs ${kind}`);
          return wrong.slice(0, 8);
        },
        [files, given],
      );
      assert.deepEqual([...found, ...(await page.consoleErrors())], []);
      await tally(page, engine, "files and pasted texts");
    },
  },
  {
    name: "a frame and the helper around it take no harm from messages of any shape and source",
    async run({ page, origin, engine }) {
      await page.goto(`${origin}teachers.html`);
      const count = COUNTS.browser.messages;
      const found = await page.evaluate(
        async ([total, words]) => {
          const wrong = [];
          const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
          const until = async (what, test) => {
            for (let i = 0; !test(); i++) {
              if (i > 400) throw new Error(`${what}: not in 20 s`);
              await wait(50);
            }
          };
          const heard = [];
          addEventListener("message", ({ data, source }) => heard.push({ data, source }));
          const add = (src) => {
            const frame = document.createElement("iframe");
            frame.style.height = "900px";
            if (src) frame.src = src;
            document.body.append(frame);
            return frame;
          };
          const helper = Object.assign(document.createElement("script"), { type: "module", src: "embed.js" });
          document.body.prepend(helper);
          await new Promise((done) => helper.addEventListener("load", done));
          const frame = add("embed.html?figure=rope&id=a#m=5");
          const stranger = add();
          const said = (type) =>
            heard.some(({ data, source }) => source === frame.contentWindow && data?.type === type);
          await until("ready", () => said("posenc:ready"));
          await wait(700);
          const inner = frame.contentWindow;
          const figure = inner.document.querySelector("pe-rope");
          const look = () =>
            JSON.stringify([
              figure.getState(),
              figure.toCSV().slice(0, 4000),
              inner.document.body.dataset.theme ?? "",
            ]);
          const kinds = [inner.Object, inner.Array, Object, Array];
          const prototypes = () =>
            kinds.map(({ prototype }) => Reflect.ownKeys(prototype).map(String).join()).join();
          const [before, owned] = [look(), prototypes()];
          const height = () => frame.style.height;
          const cycle = { type: "posenc:set-state" };
          cycle.state = cycle;
          const odd = [
            null,
            undefined,
            5,
            Number.NaN,
            Number.POSITIVE_INFINITY,
            -1,
            "text",
            [],
            {},
            cycle,
            new Date(0),
            new Map([[1, 2]]),
            8n,
            /x/,
          ];
          const types = [
            "posenc:set-state",
            "posenc:set-theme",
            "posenc:resize",
            "iframe-child-init",
            "posenc:ready",
            "__proto__",
          ];
          const among = (list, k) => list[k % list.length];
          const shapes = [
            (k) => among(odd, k),
            (k) => ({ type: among(types, k), state: among(odd, k >> 3) }),
            (k) => ({
              type: "posenc:set-state",
              state: {
                version: among([1, 2, "1"], k),
                figure: "rope",
                state: { [among(words, k)]: among(words, k >> 2) },
              },
            }),
            (k) => ({
              type: "posenc:set-state",
              state: { version: 1, figure: "rope", state: { m: among(["", "x", -1, 5000, 2.5], k), n: 3 } },
            }),
            (k) => ({ type: "posenc:set-theme", theme: k % 2 ? among(words, k).concat("!") : among(odd, k) }),
            (k) =>
              JSON.parse(
                `{"type":"posenc:set-state","__proto__":{"polluted":1},"state":{"version":1,"figure":"rope","state":{"__proto__":{"m":9},"constructor":${k}}}}`,
              ),
            (k) => ({
              context: "h5p",
              action: among(["hello", "resize", "resizePrepared", ...words], k),
              scrollHeight: among(odd, k),
            }),
            (k) => ({ message: "ready", secret: among(words, k) }),
          ];
          let sent = 0;
          const half = total / 2;
          // from the parent: heard, and refused; in one turn, as a flood
          for (; sent < half / 2; sent++) {
            const data = shapes[sent % shapes.length](sent >> 1);
            inner.postMessage(data, "*");
          }
          // states that are sound, from those who are not its parent
          const sound = { type: "posenc:set-state", state: { version: 1, figure: "rope", state: { m: 77 } } };
          const sources = [null, stranger.contentWindow, inner];
          for (; sent < half; sent++)
            inner.dispatchEvent(
              new inner.MessageEvent("message", {
                data: sent % 3 ? sound : { type: "posenc:set-theme", theme: "dark" },
                source: among(sources, sent),
                origin: "https://stranger.example",
              }),
            );
          await wait(1500);
          if (look() !== before)
            wrong.push(`the figure has changed: ${look().slice(0, 300)} was ${before.slice(0, 300)}`);
          // to the helper: heights that are none, and heights of frames that are no figures
          const stood = height();
          const sizes = [
            Number.NaN,
            Number.POSITIVE_INFINITY,
            Number.NEGATIVE_INFINITY,
            -5,
            0,
            19,
            20_001,
            1e300,
            "300",
            "300px",
            null,
            undefined,
            {},
            [300],
            8n,
            true,
          ];
          const tell = (data, source) => dispatchEvent(new MessageEvent("message", { data, source }));
          const bad = heard.length;
          for (; sent < total; sent++) {
            const type = among(["posenc:resize", "iframe-resized"], sent);
            if (sent % 4 === 0)
              tell(
                { type, height: 555, width: 300 },
                among([null, stranger.contentWindow, window], sent >> 2),
              );
            else if (sent % 4 === 1) tell(shapes[sent % shapes.length](sent), inner);
            else
              tell(
                {
                  type,
                  height: among(sizes, sent),
                  width: among(sizes, sent >> 4),
                  action: among(odd, sent),
                },
                inner,
              );
          }
          if (heard.length === bad) wrong.push("no message has come to the helper");
          if (height() !== stood) wrong.push(`the frame was ${stood}, now ${height()}`);
          if (stranger.style.height !== "900px") wrong.push(`a stranger is ${stranger.style.height}`);
          if (prototypes() !== owned) wrong.push("a prototype has changed");
          // and both work on
          inner.postMessage(sound, "*");
          await until("m = 77", () => figure.getState().state.m === 77);
          tell({ type: "posenc:resize", height: 456 }, inner);
          if (height() === stood) wrong.push("the helper hears nothing any more");
          const errors = heard.filter(({ data }) => data?.type === "posenc:error").length;
          if (errors < half / 8) wrong.push(`only ${errors} sentences for ${half / 2} bad messages`);
          window.hostile = { tried: sent, longest: { milliseconds: 0, what: "none is timed" } };
          return wrong;
        },
        [count, TEXTS.map((text) => text.slice(0, 100))],
      );
      assert.deepEqual([...found, ...(await page.consoleErrors())], []);
      await tally(page, engine, "messages");
    },
  },
];
