// widget.mjs, given models as Jupyter and as MyST (which throws where it would save or forget) hand them over.

/** Runs in the page: a model of anywidget's form, and the figure that the widget shows for it. */
const SHOW = async ([base, values, host]) => {
  const listeners = new Map();
  const model = {
    values,
    saved: 0,
    get: (name) => model.values[name],
    set(name, value) {
      model.values[name] = value;
    },
    save_changes() {
      model.saved++;
    },
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) ?? []), listener]);
    },
    off(event, listener) {
      listeners.set(
        event,
        (listeners.get(event) ?? []).filter((other) => other !== listener),
      );
    },
    change(name, value) {
      model.values[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
  };
  if (host === "MyST") {
    model.save_changes = model.off = () => {
      throw new Error("not implemented yet");
    };
  }
  const { default: widget } = await import(`${base}widget.mjs`);
  const el = document.createElement("div");
  document.querySelector("article").prepend(el);
  const cleanup = await widget.render({ model, el });
  Object.assign(window, { model, el, cleanup, listening: () => [...listeners.values()].flat().length });
  await el.firstElementChild.ready;
  return el.firstElementChild.localName;
};

export default [
  {
    name: "the widget shows the figure of its model, and both follow each other",
    async run({ page, base, assert }) {
      await page.goto(`${base}teachers.html`);
      const tag = await page.evaluate(SHOW, [base, { figure: "heatmap", d_model: 64, "seq-len": 20 }]);
      assert.equal(tag, "pe-heatmap");
      const seen = await page.evaluate(async () => {
        const figure = el.firstElementChild;
        const first = figure.getState().state;
        model.change("d_model", 32);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const second = figure.getState().state;
        const changed = new Promise((done) => figure.addEventListener("pe-change", done, { once: true }));
        const field = figure.shadowRoot.querySelector('[data-field="seq-len"] input[type="number"]');
        field.value = "30";
        field.dispatchEvent(new Event("change"));
        await changed;
        return [first["d-model"], first["seq-len"], second["d-model"], model.values, model.saved];
      });
      assert.deepEqual(seen, [64, 20, 32, { figure: "heatmap", d_model: 32, "seq-len": 30 }, 1]);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "the widget leaves nothing in its host",
    async run({ page, base, assert }) {
      await page.goto(`${base}teachers.html`);
      await page.evaluate(SHOW, [base, { figure: "alibi", num_heads: 12 }]);
      const left = await page.evaluate(() => {
        const before = listening();
        cleanup();
        return [before > 0, listening(), el.childElementCount];
      });
      assert.deepEqual(left, [true, 0, 0]);
    },
  },
  {
    name: "the widget works, and goes, where its host cannot save or forget",
    async run({ page, base, assert }) {
      await page.goto(`${base}teachers.html`);
      await page.evaluate(SHOW, [base, { figure: "heatmap", "seq-len": 20 }, "MyST"]);
      const seen = await page.evaluate(async () => {
        const figure = el.firstElementChild;
        const changed = new Promise((done) => figure.addEventListener("pe-change", done, { once: true }));
        const field = figure.shadowRoot.querySelector('[data-field="seq-len"] input[type="number"]');
        field.value = "30";
        field.dispatchEvent(new Event("change"));
        await changed;
        const length = figure.getState().state["seq-len"];
        cleanup();
        return [length, el.childElementCount];
      });
      assert.deepEqual(seen, [30, 0]);
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
  {
    name: "a widget whose figure is none says which there are",
    async run({ page, base, assert }) {
      await page.goto(`${base}teachers.html`);
      for (const figure of ["constructor", "<img>", 8, null]) {
        await page.evaluate(SHOW, [base, { figure }]);
        const said = await page.evaluate(() => el.textContent);
        assert.match(said, /^figure must be one of alibi, .*worked, got “.*”$/);
        assert.ok(said.endsWith(`got “${figure}”`), said);
        await page.evaluate(() => cleanup());
      }
      assert.deepEqual(await page.consoleErrors(), []);
    },
  },
];
