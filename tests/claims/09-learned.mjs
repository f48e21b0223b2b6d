import assert from "node:assert/strict";
import { above, below, dot, measured, norm, range, rowOf, same, study } from "./measure.mjs";

const width = 768;
const table = (posenc, rows) => posenc.randomNormal(rows * width, 1, 0.02);

export default [
  {
    says: "A second table, `max_len` × d_model, is trained along with the rest, and row $\\pos{p}$ is added at position $\\pos{p}$.",
    check(posenc) {
      const small = {
        batch: 1,
        seqLen: 3,
        vocabSize: 4,
        dModel: 8,
        positionRows: 5,
        scaleBySqrtDModel: false,
      };
      const [tokens, rows] = [4, 5].map((n, seed) => Float32Array.from(posenc.randomNormal(n * 8, seed)));
      const out = posenc.embed(Int32Array.of(2, 0, 2), tokens, rows, small);
      same(
        rowOf(out, 2, 8),
        rowOf(tokens, 2, 8).map((value, c) => value + rows[2 * 8 + c]),
        1e-6,
      );
    },
  },
  { says: "393216\n", check: () => assert.equal(512 * 768, 393_216) },
  {
    says: "torch.Size([1, 512, 768])\nIndexError: index out of range in self",
    check(posenc) {
      const rows = table(posenc, 512);
      const all = posenc.lookupRows(rows, Int32Array.from(range(512)), 512, 768);
      assert.equal(all.length, 1 * 512 * 768);
      assert.throws(() => posenc.lookupRows(rows, Int32Array.from(range(513)), 512, 768), RangeError);
    },
  },
  {
    says: "Before training the rows are random and no two are alike.",
    check(posenc) {
      const rows = Array.from(range(60), (i) => rowOf(table(posenc, 60), i, width));
      const cosines = rows.flatMap((a, i) => rows.slice(i + 1).map((b) => dot(a, b) / norm(a) / norm(b)));
      below(Math.max(...cosines), 0.25);
    },
  },
  { says: "Nothing ties row 6 to row 5", defines: "two neighbouring rows" },
  {
    says: "What happens past BERT's 512?",
    cites: "Devlin et al. 2018; config of bert-base-uncased, max_position_embeddings 512",
  },
  {
    says: "There is no row 512: rows are numbered 0 to 511, so the 513th token has no position and the look-up is an index error.",
    check(posenc) {
      const rows = table(posenc, 512);
      const ids = Int32Array.from(range(513)); // of 513 tokens
      assert.equal(posenc.lookupRows(rows, ids.slice(511, 512), 512, width).length, width);
      assert.throws(() => posenc.lookupRows(rows, ids.slice(512), 512, width), RangeError);
      assert.throws(() => posenc.lookupRows(rows, Int32Array.of(-1), 512, width), RangeError);
    },
  },
  {
    says: "Clipping to the last row makes all later positions alike.",
    check(posenc) {
      const clipped = Int32Array.from([600, 2000], (p) => Math.min(p, 511));
      const rows = posenc.lookupRows(table(posenc, 512), clipped, 512, width);
      same(rowOf(rows, 0, width), rowOf(rows, 1, width));
    },
  },
  {
    says: "RoBERTa's table has 514 rows for 512 positions, because its position ids start after the padding index, at 2.",
    check: () => assert.equal(512 + 2, 514),
  },
  {
    says: "An off-by-two there is silent until the very last rows.",
    check(posenc) {
      const rows = table(posenc, 514);
      const lookUp = (p) => posenc.lookupRows(rows, Int32Array.of(p + 2 + 2), 514, width);
      assert.equal(lookUp(509).length, width);
      assert.throws(() => lookUp(510), RangeError);
    },
  },
  {
    says: "a learned table does about as well as the best at its own length; in Echo 3 it is at chance on the rows it never saw",
    check() {
      assert.equal(measured("whichSide", "learned"), 100);
      assert.equal(measured("echo", "learned"), 100);
      // At twice the length half the positions are new: right on the old half, chance on the new one.
      const { chance } = study.echo;
      for (const multiple of [2, 4, 8]) {
        const seen = 1 / multiple;
        above(measured("echo", "learned", multiple), 100 * seen + chance * (1 - seen) - 3);
        below(measured("echo", "learned", multiple), 100 * seen + chance * (1 - seen) + 3);
      }
    },
  },

  {
    says: "A learned table has 512 rows. What does the model get at position 512?",
    check: (posenc) =>
      assert.throws(() => posenc.lookupRows(table(posenc, 512), Int32Array.of(512), 512, width), RangeError),
  },
  {
    says: "Rows are numbered from 0, so 511 is the last. There is no row 512 to look up.",
    check(posenc) {
      const rows = table(posenc, 512);
      same(posenc.lookupRows(rows, Int32Array.of(511), 512, width), rows.slice(-width));
      assert.throws(() => posenc.lookupRows(rows, Int32Array.of(512), 512, width), RangeError);
    },
  },
];
