// The figure of the pair layouts scores as the core does, and its permutation mends what mixing breaks.

import { loadPosenc } from "posenc";
import { openFigure, owed, written } from "./figure.mjs";

const core = await loadPosenc();
const LAYOUT = "pe-layout";

/** What stands under "relative position", "as trained", "this code" and "difference". */
const readings = (figure) => figure.texts("dd");

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const say = (value) => written(value, 4);

/** The score of q = (1, …, d)/d at m and the same backwards at n, components taken in an order. */
function score({ headDim, rotaryDim = headDim, layout, order, m, n }) {
  const { invFreq } = core.ropeInvFreq({ headDim, rotaryDim });
  const turn = (vector, position) => {
    const { cos, sin } = core.ropeCosSin(Float64Array.of(position), invFreq);
    const taken = Float64Array.from(order, (component) => vector[component]);
    return core.ropeApply(taken, cos, sin, { seqLen: 1, headDim, rotaryDim, layout });
  };
  const q = Float64Array.from({ length: headDim }, (_, i) => (i + 1) / headDim);
  return dot(turn(q, m), turn(q.slice().reverse(), n));
}
const inPlace = (headDim) => Int32Array.from({ length: headDim }, (_, i) => i);

export default [
  {
    name: "the layout figure's scores are the core's, mixed and permuted",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LAYOUT);
      const here = { headDim: 8, m: 7, n: 0 };
      const trained = score({ ...here, layout: "interleaved", order: inPlace(8) });
      const mixed = score({ ...here, layout: "half", order: inPlace(8) });
      assert.deepEqual(await readings(figure), ["−7", say(trained), say(mixed), say(mixed - trained)]);
      assert.match(await figure.text(".takeaway"), /its score is 0\.873 instead of 1\.456/);
      await figure.click(".toggle input");
      const [, asTrained, permuted, difference] = await readings(figure);
      assert.equal(permuted, asTrained);
      assert.match(difference, /^(0|−?\d × 10⁻¹[67])$/);
      assert.match(await figure.text(".takeaway"), /^With the rows of W_Q and W_K permuted, nothing is lost/);
    },
  },
  {
    name: "a link reopens the layout figure, half weights under interleaved code with a tail",
    async run({ page, base, assert }) {
      const figure = await openFigure(
        page,
        base,
        LAYOUT,
        "?layout.head-dim=12&layout.rotary-dim=8&layout.weights=half&layout.code=interleaved&layout.m=3&layout.n=9",
      );
      const here = { headDim: 12, rotaryDim: 8, m: 3, n: 9, order: inPlace(12) };
      const [at, trained, mixed] = await readings(figure);
      assert.equal(at, "+6");
      assert.equal(trained, say(score({ ...here, layout: "half" })));
      assert.equal(mixed, say(score({ ...here, layout: "interleaved" })));
      assert.match(
        await figure.text(".code"),
        /np\.r_\[np\.arange\(8\)\.reshape\(2, 4\)\.T\.ravel\(\), 8:12\] # 0 4 1 5 2 6 3 7 8 9 10 11 /,
      );
      await figure.set({ permute: "true" });
      assert.equal((await readings(figure))[2], trained);
      const cells = await figure.texts(".cell text");
      assert.deepEqual(cells.slice(12), "0 4 1 5 2 6 3 7 8 9 10 11".split(" "));
    },
  },
  {
    name: "dashed arcs join what was not trained together, and no arc is dashed once the rows are permuted",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LAYOUT);
      const wrong = async () => (await figure.texts(".arc.wrong")).length;
      assert.equal(await wrong(), 4);
      assert.equal(
        await figure.label(".strips"),
        "Components 2 and 3 were trained as pair 1. The code rotates 2 with 6, and 3 with 7.",
      );
      await figure.set({ permute: "true" });
      assert.equal(await wrong(), 0);
      await figure.set({ permute: "false", code: "interleaved" });
      assert.equal(await wrong(), 0);
    },
  },
  {
    name: "keys move the query of the layout figure, and its address and data table follow",
    async run({ page, base, assert }) {
      const figure = await openFigure(page, base, LAYOUT);
      await figure.focus("input[type=range]");
      await figure.press("ArrowRight");
      await page.waitFor(() => new URLSearchParams(location.search).get("layout.m") === "8");
      assert.equal((await readings(figure))[0], "−8");
      const rows = await figure.rows();
      assert.equal(rows.length, 129);
      const here = { headDim: 8, m: 8, n: 0, order: inPlace(8) };
      const trained = score({ ...here, layout: "interleaved" });
      const mixed = score({ ...here, layout: "half" });
      const values = [trained, mixed, trained].map((value) => written(value, 6));
      assert.deepEqual(rows[64 - 8], ["−8", ...values]);
    },
  },
  {
    name: "a wrong value in the layout figure is a sentence, and the last picture stays",
    async run({ page, base }) {
      const figure = await openFigure(page, base, LAYOUT);
      for (const [change, sentence] of [
        [{ "head-dim": "7" }, "rotary_dim must be even and at least 2; got rotary_dim = 7"],
        [
          { "head-dim": "8", "rotary-dim": "12" },
          "rotary_dim must be at most head_dim; got rotary_dim = 12, head_dim = 8",
        ],
        [{ "rotary-dim": "0", code: "both" }, "code must be one of interleaved, half, got “both”"],
      ]) {
        await figure.refuses(change, sentence, () => readings(figure));
      }
    },
  },
  ...owed(
    LAYOUT,
    { change: { m: 9 } },
    {
      "axe-core finds nothing serious in the layout figure, and taking it away leaves nothing": {
        duties: ["isAccessible", "leavesNothing"],
      },
      "the layout figure's files hold its picture and numbers, and its sentence is spoken": {
        duties: ["speaks", "exports"],
      },
    },
  ),
];
