import assert from "node:assert/strict";
import { differs, mean, range, rowOf, same } from "./measure.mjs";

const shape = { batch: 2, seqLen: 20, vocabSize: 100, dModel: 512, positionRows: 20 };
const tokens = (posenc) => Float32Array.from(posenc.randomNormal(100 * 512, 1, 0.02));
const positions = (posenc) => posenc.sinusoidalTable({ seqLen: 20, dModel: 512 });
const ids = Int32Array.from(range(40), (i) => (7 * i) % 100);
const embedded = (posenc, given = ids) => posenc.embed(given, tokens(posenc), positions(posenc), shape);

export default [
  {
    says: "Integers go in; vectors with a place come out. Three operations lie between: look up, scale, add.",
    check(posenc) {
      const found = posenc.lookupRows(tokens(posenc), ids, 100, 512);
      const rows = positions(posenc);
      const expected = found.map((value, at) => Math.sqrt(512) * value + rows[at % rows.length]);
      same(embedded(posenc), expected, 1e-6);
    },
  },
  {
    says: "All sequences in a batch use the same rows, and broadcasting repeats them.",
    check(posenc) {
      const same20 = Int32Array.from(range(40), (i) => i % 20);
      const [first, second] = [0, 1].map((b) => rowOf(embedded(posenc, same20), b, 20 * 512));
      same(first, second);
    },
  },
  {
    says: "numbers for 10 000 tokens of width 512",
    check: () => assert.equal(10_000 * 512, 5_120_000),
  },
  {
    says: "The same steps at a size that can be seen: seven words, eight dimensions. Give one word two places in a sentence, or ask for an id that the table does not have.",
    check(posenc) {
      const small = { batch: 1, seqLen: 2, vocabSize: 7, dModel: 8, positionRows: 2 };
      const table = Float32Array.from(posenc.randomNormal(7 * 8, 1));
      const rows = posenc.sinusoidalTable({ seqLen: 2, dModel: 8 });
      const run = (...list) => posenc.embed(Int32Array.from(list), table, rows, small);
      const twice = run(3, 3);
      differs(twice.slice(0, 8), twice.slice(8));
      assert.throws(() => run(3, 7), RangeError);
    },
  },
  {
    says: "(2, 20, 512)\nTrue\n",
    check(posenc) {
      const x = embedded(posenc);
      assert.equal(x.length, 2 * 20 * 512);
      const token = rowOf(tokens(posenc), ids[3], 512);
      const rest = rowOf(x, 3, 512).map((value, c) => value - Math.sqrt(512) * token[c]);
      same(rest, rowOf(positions(posenc), 3, 512), 1e-6);
    },
  },
  {
    says: "torch.Size([2, 20, 512])",
    check: (posenc) => assert.equal(embedded(posenc).length, 2 * 20 * 512),
  },
  {
    says: "Two mistakes are common. During decoding one token at a time, the new token is row 0 of its own little batch; without an offset it gets position 0 for ever.",
    check(posenc) {
      const one = { ...shape, batch: 1, seqLen: 1 };
      const decoded = posenc.embed(ids.slice(0, 1), tokens(posenc), positions(posenc), one);
      same(decoded, rowOf(embedded(posenc), 0, 512));
      const shifted = posenc.sinusoidalTable({ seqLen: 1, dModel: 512, firstPosition: 19 });
      const withOffset = posenc.embed(ids.slice(19, 20), tokens(posenc), shifted, {
        ...one,
        positionRows: 1,
      });
      same(withOffset, rowOf(embedded(posenc), 19, 512));
    },
  },
  {
    says: "With left padding, the first real token is not at index 0; its position must come from the attention mask.",
    check() {
      // Positions are the running count of real tokens: 0 for the first one, whatever stands before it.
      const mask = [0, 0, 1, 1, 1];
      const counted = mask.map((_, i) => mask.slice(0, i + 1).reduce((sum, m) => sum + m, -1));
      assert.equal(mask.indexOf(1), 2);
      assert.equal(counted[mask.indexOf(1)], 0);
    },
  },
  {
    says: "A range check against the table belongs at `offset + seq_len`, not at `seq_len`.",
    check(posenc) {
      const rows = positions(posenc); // 20 rows; one token at offset 20 is past the end
      assert.throws(() => posenc.lookupRows(rows, Int32Array.of(20), 20, 512), RangeError);
      assert.equal(mean(posenc.lookupRows(rows, Int32Array.of(19), 20, 512)), mean(rowOf(rows, 19, 512)));
    },
  },

  {
    says: "Two sequences of 20 tokens, d_model 512. How many different position rows does the layer add?\n- [x] 20",
    check(posenc) {
      const silent = new Float32Array(100 * 512);
      const added = posenc.embed(ids, silent, positions(posenc), shape);
      assert.equal(new Set(Array.from(range(40), (t) => rowOf(added, t, 512).join())).size, 20);
    },
  },
  {
    says: "Both sequences start at position 0, so broadcasting gives them the same 20 rows.",
    check(posenc) {
      const added = posenc.embed(ids, new Float32Array(100 * 512), positions(posenc), shape);
      same(rowOf(added, 1, 20 * 512), positions(posenc), 1e-9);
    },
  },
  {
    says: "40, one for each token\n\n  There are 40 tokens, and each does get a row. But token 3 of the first sequence and token 3 of the second get the same one.",
    check(posenc) {
      assert.equal(2 * 20, 40);
      const added = posenc.embed(ids, new Float32Array(100 * 512), positions(posenc), shape);
      same(rowOf(added, 3, 512), rowOf(added, 23, 512), 1e-9);
    },
  },
  { says: "2, one for each sequence", check: () => assert.notEqual(shape.batch, shape.seqLen) }, // a wrong answer
];
