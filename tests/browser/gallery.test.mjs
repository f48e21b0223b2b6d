// The gallery: every figure alive, told as its code is, and a listing that works where it is pasted.

import { readdirSync } from "node:fs";
import { accessible, emptySections, fits, openWithoutScript, readThrough } from "./reading.mjs";

const TAGS = readdirSync(new URL("../../web/figures", import.meta.url))
  .filter((name) => /^pe-.*\.ts$/.test(name))
  .map((name) => name.replace(/\.ts$/, ""))
  .sort();

const open = async (page, base) => {
  await page.goto(`${base}gallery.html`);
  await readThrough(page);
};

/** The rows of the table after a figure, as texts. */
const toldAttributes = (tag) => {
  const section = document.querySelector(tag).closest("section");
  const rows = [...section.querySelectorAll("tbody tr")];
  return rows.map(({ cells }) => [...cells].map(({ textContent }) => textContent));
};

export default [
  {
    name: "every figure of the gallery comes alive, under the policy, and nothing else is asked for",
    async run({ page, base, assert }) {
      await open(page, base);
      const tags = await page.evaluate(() =>
        [...document.querySelectorAll("figure > *")].map(({ localName }) => localName).sort(),
      );
      assert.deepEqual(tags, TAGS);
      for (const tag of TAGS) {
        await page.evaluate(
          (name) => document.querySelector(name).scrollIntoView({ behavior: "instant" }),
          tag,
        );
        await page.waitFor(
          (name) => document.querySelector(name).shadowRoot?.querySelector("[data-picture]"),
          tag,
        );
      }
      assert.deepEqual(await page.consoleErrors(), []);
      const requests = await page.requests();
      assert.deepEqual(
        requests.filter((url) => !url.startsWith(base) && !url.startsWith("data:")),
        [],
      );
    },
  },
  {
    name: "the gallery tells each attribute that a figure reads, with the default and the bounds that it has",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const tag of TAGS) {
        const fields = await page.evaluate((name) => customElements.get(name).fields, tag);
        const told = await page.evaluate(toldAttributes, tag);
        const names = told.map(([name]) => name);
        assert.deepEqual([...names].sort(), Object.keys(fields).sort(), tag);
        for (const [name, values, fallback, meaning] of told) {
          const { kind, fallback: given, min, max, choices, maxLength } = fields[name];
          assert.equal(fallback, given === "" ? "none" : String(given), `${tag} ${name}`);
          const [first, ...rest] = values.split(", ");
          const numbers = (rest[0] ?? "")
            .split(" to ")
            .map((text) => Number(text.replace("−", "-").replaceAll("\u202f", "")));
          if (kind === "integer" || kind === "number")
            assert.deepEqual([first, ...numbers], [kind, min, max]);
          else if (kind === "choice") assert.deepEqual([first, ...rest], choices);
          else if (kind === "flag") assert.equal(values, "true, false");
          else assert.equal(values, `text, up to ${maxLength} characters`);
          assert.match(meaning, /\.$/, `${tag} ${name}`);
        }
      }
    },
  },
  {
    // React sets a property in place of an attribute where the element has one of that name.
    name: "no attribute of a figure is the name of a property",
    async run({ page, base, assert }) {
      await open(page, base);
      for (const tag of TAGS) {
        const both = await page.evaluate((name) => {
          const element = document.querySelector(name);
          const taken = [...Object.keys(element.constructor.fields), "theme", "hide", "loading"];
          return taken.filter((attribute) => attribute in element);
        }, tag);
        assert.deepEqual(both, [], tag);
      }
    },
  },
  {
    name: "a listing of the gallery names this copy, and shows the figure where it is pasted",
    async run({ page, newPage, base, assert }) {
      await page.goto(`${base}gallery.html`);
      const code = await page.waitFor(() => {
        const text = document
          .querySelector("pe-worked")
          .closest("section")
          .querySelector("pre code").textContent;
        return !text.includes("your.host") && text;
      });
      assert.equal(code, `<script type="module" src="${base}posenc.js"></script>\n<pe-worked></pe-worked>`);
      const course = await newPage({});
      // a page that knows no figures
      await course.goto(`${base}teachers.html`);
      await course.evaluate((html) => {
        document.body.replaceChildren(document.createRange().createContextualFragment(html));
      }, code);
      const picture = () =>
        document.querySelector("pe-worked").shadowRoot?.querySelector("[data-picture]") !== null;
      await course.waitFor(picture, undefined, { timeout: 30_000 });
      assert.deepEqual(await course.consoleErrors(), []);
    },
  },
  {
    name: "the gallery reads without script",
    async run({ newPage, base, engine, assert }) {
      const page = await openWithoutScript(newPage, engine, `${base}gallery.html`);
      assert.deepEqual(await page.evaluate(emptySections), { total: TAGS.length + 2, empty: [] });
      const parts = await page.evaluate(() =>
        [...document.querySelectorAll("section:has(figure)")].map((section) =>
          ["h2", "figure p", "table", "pre"].every((part) => section.querySelector(part)?.checkVisibility()),
        ),
      );
      assert.deepEqual(
        parts,
        TAGS.map(() => true),
      );
    },
  },
  {
    name: "the lesson leads to the gallery, and the gallery back to the section of each figure",
    async run({ page, base, assert }) {
      await page.goto(base);
      const link = "#section-list a[href='gallery.html']";
      assert.ok(await page.evaluate((path) => document.querySelector(path).checkVisibility(), link));
      await page.goto(await page.evaluate((path) => document.querySelector(path).href, link));
      const back = await page.evaluate(
        () =>
          document.querySelector("pe-rope").closest("section").querySelector("a[href^='index.html']").href,
      );
      await page.goto(back);
      const { hash } = new URL(back);
      assert.ok(
        await page.evaluate((id) => document.querySelector(id).querySelector("pe-rope") !== null, hash),
      );
    },
  },
  fits("the gallery", "gallery.html", 360),
  fits("the gallery", "gallery.html", 1280),
  accessible("the gallery", "gallery.html", "light"),
  accessible("the gallery", "gallery.html", "dark"),
];
