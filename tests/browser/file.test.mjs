// The files that open by double click: from a disk, without a server, asking for nothing.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/run.mjs";
import { figureAt, openFigure } from "./figure.mjs";

const file = (name) => pathToFileURL(join(ROOT, "dist", name)).href;

export default [
  {
    name: "the lesson in one file opens from a disk and computes what the hosted one does",
    async run({ page, newPage, base, assert }) {
      for (const tag of ["pe-heatmap", "pe-alibi"]) {
        const alone = await figureAt(page, file("lesson.html"), tag);
        const hosted = await openFigure(await newPage(), base, tag);
        assert.equal(await alone.text(".takeaway"), await hosted.text(".takeaway"));
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the lesson in one file asks for nothing and links to no page that is not there",
    async run({ page, assert }) {
      await figureAt(page, file("lesson.html"), "pe-permutation");
      // not every engine counts the file itself, and some count what the file holds
      const asked = (await page.requests()).filter((address) => !address.startsWith("data:"));
      assert.deepEqual(
        asked.filter((address) => address !== file("lesson.html")),
        [],
      );
      const links = await page.evaluate(() =>
        [...document.querySelectorAll("a[href]")]
          .map((link) => link.getAttribute("href"))
          .filter((href) => !/^(#|https:)/.test(href)),
      );
      assert.deepEqual(links, []);
      const fonts = await page.evaluate(async () => {
        await document.fonts.ready;
        return [...document.fonts].filter(({ status }) => status === "error").length;
      });
      assert.equal(fonts, 0);
    },
  },
  {
    name: "in the one file the theme control, a prediction and the quiz work",
    async run({ page, assert }) {
      await page.goto(file("lesson.html"));
      const dark = await page.evaluate(async () => {
        document.querySelector('fieldset.theme input[value="dark"]').click();
        return getComputedStyle(document.body).backgroundColor;
      });
      assert.equal(dark, "rgb(22, 23, 26)");
      const progress = await page.evaluate(async () => {
        const question = document.querySelector("pe-quiz pe-question");
        question.querySelector("input").click();
        question.querySelector("button.commit").click();
        await new Promise((done) => setTimeout(done));
        return document.querySelector("pe-quiz > .progress").textContent;
      });
      assert.match(progress, /^1 of \d+ answered/);
    },
  },
  {
    name: "each figure in one file opens from a disk, draws, and asks for nothing",
    async run({ page, assert }) {
      const files = readdirSync(join(ROOT, "dist/offline")).filter((name) => name.endsWith(".html"));
      assert.equal(files.length, readdirSync(join(ROOT, "dist/figures")).length);
      for (const name of files) {
        await page.goto(`${file(`offline/${name}`)}#theme=dark`);
        const said = await page.waitFor(
          (tag) => document.querySelector(tag)?.shadowRoot?.querySelector(".takeaway")?.textContent,
          name.replace(".html", ""),
        );
        assert.ok(said.length > 20, said);
      }
      const asked = (await page.requests()).filter((address) => !/^(data|file):/.test(address));
      assert.deepEqual(asked, []);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
];
