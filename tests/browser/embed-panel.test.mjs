// The panel behind "Embed this": what it shows is what a course page needs, by pointer and by keyboard.

import { openFigure, PHONE } from "./figure.mjs";

const TAG = "pe-compare";
const WORDS = `"dogs" & <b>cats</b> {see} ${"`"}mice's${"`"} \\n`;

/** Waits until the panel is there and has the focus. */
const opened = (page) =>
  page.waitFor((tag) => {
    const panel = document.querySelector(tag).shadowRoot.querySelector("pe-embed-panel");
    return panel?.shadowRoot?.activeElement?.localName === "select";
  }, TAG);

/** Opens the panel of a figure in a state with every character that some language reads. */
async function openPanel(page, base) {
  const figure = await openFigure(page, base, TAG);
  await figure.set({ sentence: WORDS, causal: "true" });
  await page.click(`${TAG} >> button.embed`);
  await opened(page);
  return figure;
}

const PANEL = `${TAG} >> pe-embed-panel`;
/** Runs fn(shadow root of the panel, arg) in the page. */
const inPanel = (page, fn, arg) =>
  page.evaluate(
    `return (${fn})(document.querySelector("${TAG}").shadowRoot.querySelector("pe-embed-panel").shadowRoot, ${JSON.stringify(arg)});`,
  );
const isOpen = (page) =>
  page.evaluate(
    (tag) => document.querySelector(tag).shadowRoot.querySelector("pe-embed-panel") !== null,
    TAG,
  );
const shown = (page) =>
  inPanel(page, (root) =>
    [...root.querySelectorAll(".piece")].map((piece) => [
      piece.querySelector("p").textContent,
      piece.querySelector("pre").textContent,
    ]),
  );

/** Chooses a host as a reader does. */
async function choose(page, host) {
  await inPanel(
    page,
    (root, id) => {
      const select = root.querySelector("select");
      select.value = id;
      select.dispatchEvent(new Event("change"));
      return root.host.updateComplete.then(() => null);
    },
    host,
  );
}

export default [
  {
    name: "the panel of a figure holds its state for every host, and says where to paste it",
    async run({ page, base, assert }) {
      const figure = await openPanel(page, base);
      const [[where, code], ...rest] = await shown(page);
      assert.equal(rest.length, 0);
      assert.match(where, /^In the HTML of the page/);
      const attributes = await page.evaluate((html) => {
        const pasted = new DOMParser().parseFromString(html, "text/html");
        const { src, type } = pasted.querySelector("script");
        const { attributes: all } = pasted.querySelector("pe-compare");
        return { src, type, ...Object.fromEntries([...all].map(({ name, value }) => [name, value])) };
      }, code);
      assert.deepEqual(attributes, {
        src: `${base}posenc.js`,
        type: "module",
        sentence: WORDS,
        causal: "true",
      });
      await figure.set({ causal: null, "num-heads": "2", theme: "dark" });
      const [[, after]] = await shown(page);
      assert.match(after, / num-heads="2" theme="dark"><\/pe-compare>$/);
      assert.doesNotMatch(after, /causal/);

      const hosts = await inPanel(page, (root) =>
        [...root.querySelectorAll("option")].map(({ value }) => value),
      );
      assert.ok(hosts.length >= 9);
      for (const host of hosts) {
        await choose(page, host);
        const pieces = await shown(page);
        assert.ok(pieces.length > 0, host);
        for (const [sentence, text] of pieces) assert.ok(sentence.endsWith(".") && text !== "", host);
        assert.ok(
          pieces.some(([, text]) => text.includes(base)),
          host,
        );
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the panel offers element and frame where a host takes both, and the frame holds the state too",
    async run({ page, base, assert }) {
      await openPanel(page, base);
      await page.click(`${PANEL} >> fieldset label:nth-of-type(2)`);
      const code = await page.waitFor((tag) => {
        const { shadowRoot } = document.querySelector(tag).shadowRoot.querySelector("pe-embed-panel");
        const text = shadowRoot.querySelector("pre").textContent;
        return text.startsWith("<iframe") && text;
      }, TAG);
      const address = await page.evaluate((html) => {
        const frame = new DOMParser().parseFromString(html, "text/html").querySelector("iframe");
        return { src: frame.getAttribute("src"), title: frame.title, loading: frame.getAttribute("loading") };
      }, code);
      const { searchParams, hash } = new URL(address.src);
      assert.equal(searchParams.get("figure"), "compare");
      assert.deepEqual(Object.fromEntries(new URLSearchParams(hash.slice(1))), {
        sentence: WORDS,
        causal: "true",
      });
      assert.deepEqual([address.title, address.loading], ["The same words under six encodings", "lazy"]);
      await choose(page, "moodle");
      assert.equal(await inPanel(page, (root) => root.querySelectorAll("fieldset").length), 0);
    },
  },
  {
    name: "the copy button of the panel copies what is shown, or selects it where copying is refused",
    async run({ page, base, assert }) {
      await openPanel(page, base);
      await choose(page, "mkdocs");
      await page.evaluate(() => {
        window.copied = [];
        Object.defineProperty(navigator, "clipboard", {
          configurable: true,
          value: { writeText: async (text) => void window.copied.push(text) },
        });
      });
      const said = (sentence) =>
        page.waitFor(
          ([tag, words]) =>
            document
              .querySelector(tag)
              .shadowRoot.querySelector("pe-embed-panel")
              .shadowRoot.querySelector("[role=status]")
              .textContent.startsWith(words),
          [TAG, sentence],
        );
      const [, [, code]] = await shown(page);
      await page.click(`${PANEL} >> .piece:nth-of-type(3) button`);
      await said("Copied.");
      assert.deepEqual(await page.evaluate(() => window.copied), [code]);

      await page.evaluate(() => {
        navigator.clipboard.writeText = async () => {
          throw new DOMException("no", "NotAllowedError");
        };
        // what the browser would put on the clipboard
        document.addEventListener("copy", () => window.copied.push(getSelection().toString()));
      });
      await page.click(`${PANEL} >> .piece:nth-of-type(3) button`);
      await said("The browser does not allow copying here.");
      assert.equal(await inPanel(page, (root) => root.activeElement.localName), "pre");
      assert.equal(await page.evaluate(() => getSelection().toString()), code);
    },
  },
  {
    name: "Escape closes the panel and gives the focus back, and no key pressed in it reaches the page",
    async run({ page, base, assert }) {
      const figure = await openPanel(page, base);
      await figure.press("/", "n", "ArrowDown", "s", "Tab", "Escape");
      assert.equal(await isOpen(page), false);
      const focused = (tag) => document.querySelector(tag).shadowRoot.activeElement?.className;
      assert.equal(await page.evaluate(focused, TAG), "embed");
      await figure.press("Enter");
      await opened(page);
      await page.click(`${PANEL} >> .close`);
      await figure.settle();
      assert.equal(await isOpen(page), false);
    },
  },
  {
    name: "the panel fits the narrowest window, and axe-core finds nothing in it",
    page: PHONE,
    async run({ page, base, assert }) {
      const figure = await openPanel(page, base);
      for (const host of ["html", "quarto", "docusaurus", "canvas"]) {
        await choose(page, host);
        const cut = await inPanel(page, (root) => {
          const { right } = root.host.getBoundingClientRect();
          return [...root.querySelectorAll("*")]
            .filter((element) => element.getBoundingClientRect().right > right + 1)
            .map((element) => element.outerHTML.slice(0, 60));
        });
        assert.deepEqual(cut, [], host);
        const small = await inPanel(
          page,
          (root) =>
            [...root.querySelectorAll("button, select, label:has(input)")].filter((element) => {
              const { width, height } = element.getBoundingClientRect();
              return width < 24 || height < 24;
            }).length,
        );
        assert.equal(small, 0, host);
        await figure.isAccessible();
      }
    },
  },
];
