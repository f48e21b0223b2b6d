import assert from "node:assert/strict";
import { above, differs, dot, identity, norm, prints, range, rowOf, same, times } from "./measure.mjs";

const headDim = 8;
const order = (posenc) => posenc.halfFromInterleaved({ headDim });
const rotate = (posenc, x, position, layout) => {
  const { cos, sin } = posenc.ropeCosSin(Float64Array.of(position), posenc.ropeInvFreq({ headDim }).invFreq);
  return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim, layout });
};
const [q, k] = [
  range(8, 1).map((value) => value / 8),
  range(8, 1)
    .toReversed()
    .map((value) => value / 8),
];
const permuted = (posenc, x) => Float64Array.from(order(posenc), (r) => x[r]);

const score = (posenc, m, n, layout, [a, b] = [q, k]) =>
  dot(rotate(posenc, a, m, layout), rotate(posenc, b, n, layout));
const matched = (posenc, m, n) => score(posenc, m, n, "half", [permuted(posenc, q), permuted(posenc, k)]);
/** The two components that are turned along with component c of a unit vector. */
const partners = (posenc, c, layout) => {
  const turned = rotate(posenc, rowOf(identity(headDim), c, headDim), 1, layout);
  return Array.from(range(headDim)).filter((i) => turned[i] !== 0);
};

export default [
  {
    says: "Two correct implementations of RoPE can disagree on every number. They agree on the angles and differ in which two coordinates form a pair.",
    check(posenc) {
      const [a, b] = ["interleaved", "half"].map((layout) => rotate(posenc, q, 7, layout));
      assert.ok(a.every((value, i) => Math.abs(value - b[i]) > 1e-3));
      for (const c of range(headDim)) assert.equal(partners(posenc, c, "half").length, 2);
    },
  },
  {
    says: "`interleaved` pairs neighbours: (0, 1), (2, 3), and so on.",
    check(posenc) {
      assert.deepEqual(partners(posenc, 0, "interleaved"), [0, 1]);
      assert.deepEqual(partners(posenc, 3, "interleaved"), [2, 3]);
    },
  },
  {
    says: "The RoFormer paper, GPT-J and Meta's Llama code do this.",
    cites: "Su et al. 2021, equation 34; GPT-J and Llama reference code",
  },
  {
    says: String.raw`pairs $\dims{i}$ with $\dims{i} + \text{rotary\_dim}/2$.`,
    check(posenc) {
      for (const i of range(4)) assert.deepEqual(partners(posenc, i, "half"), [i, i + 4]);
    },
  },
  {
    says: "GPT-NeoX and the Llama classes of Hugging Face transformers do this.",
    cites: "GPT-NeoX and transformers, modeling_llama.py",
  },
  { says: "In the half layout the rotation", defines: "the name of the layout" },
  {
    says: String.raw`x' = x \odot \cos + \operatorname{rotate\_half}(x) \odot \sin, \qquad \operatorname{rotate\_half}([a, b]) = [-b, a]`,
    check(posenc) {
      const { cos, sin } = posenc.ropeCosSin(Float64Array.of(7), posenc.ropeInvFreq({ headDim }).invFreq);
      const helper = Float64Array.of(...q.slice(4).map((value) => -value), ...q.slice(0, 4));
      const expected = q.map((value, c) => value * cos[c % 4] + helper[c] * sin[c % 4]);
      same(rotate(posenc, q, 7, "half"), expected);
    },
  },
  {
    says: String.raw`Here the cosines and sines are repeated for both halves. Write out coordinates $\dims{i}$ and $\dims{i} + \text{rotary\_dim}/2$ and it is the same 2 × 2 rotation as before.`,
    check(posenc) {
      const unit = (c) => rowOf(identity(headDim), c, headDim);
      const [half, interleaved] = [
        rotate(posenc, unit(1), 7, "half"),
        rotate(posenc, unit(2), 7, "interleaved"),
      ];
      same([half[1], half[5]], [interleaved[2], interleaved[3]]);
    },
  },
  {
    says: "The layouts are not two models. A query is $W_Q x$, so its coordinates follow the rows of $W_Q$.",
    check(posenc) {
      const [w, x] = [posenc.randomNormal(headDim * 3, 1), posenc.randomNormal(3, 2)];
      const reordered = Float64Array.from(Array.from(order(posenc), (r) => [...rowOf(w, r, 3)]).flat());
      same(times(reordered, x, 3), permuted(posenc, times(w, x, 3)));
    },
  },
  {
    says: "even rows first and odd rows after, and the half rotation gives the scores that the interleaved one gave",
    check(posenc) {
      assert.deepEqual([...order(posenc)], [0, 2, 4, 6, 1, 3, 5, 7]);
      for (const [m, n] of [
        [7, 7],
        [7, 3],
        [107, 103],
      ])
        same([matched(posenc, m, n)], [score(posenc, m, n, "interleaved")]);
    },
  },
  {
    says: "A dot product does not care about the order of its terms.",
    check: (posenc) => same([dot(permuted(posenc, q), permuted(posenc, k))], [dot(q, k)]),
  },
  {
    says: String.raw`The rows of the table use head_dim 8, $\q{q} = (1, 2, \dots, 8)/8$ and $\k{k} = (8, 7, \dots, 1)/8$. Permuted weights with the half rotation match.`,
    check(posenc) {
      assert.deepEqual([q[1], k[1]], [2 / 8, 7 / 8]);
      same([matched(posenc, 7, 0)], [score(posenc, 7, 0, "interleaved")]);
    },
  },
  {
    says: "Unpermuted weights with the half rotation do not. At positions 7 and 0 the score should be",
    check(posenc) {
      prints("1.456", score(posenc, 7, 0, "interleaved"));
      prints("0.873", score(posenc, 7, 0, "half"));
    },
  },
  {
    says: "[0 2 4 6 1 3 5 7]\n",
    check: (posenc) => assert.equal(`[${order(posenc).join(" ")}]`, "[0 2 4 6 1 3 5 7]"),
  },
  {
    says: "interleaved 1.4555, permuted and half 1.4555, mixed 0.8733",
    check(posenc) {
      prints("1.4555", score(posenc, 7, 0, "interleaved"));
      prints("1.4555", matched(posenc, 7, 0));
      prints("0.8733", score(posenc, 7, 0, "half"));
    },
  },
  {
    says: "`rotate_half` rotates coordinates half a head apart",
    check: (posenc) => assert.deepEqual(partners(posenc, 0, "half"), [0, headDim / 2]),
  },
  {
    says: "The code runs on weights whose rows were permuted when the checkpoint was converted",
    cites: "transformers, convert_llama_weights_to_hf.py",
  },
  {
    says: "Two contiguous halves are also simpler to slice and join than every second element.",
    check: (posenc) => assert.deepEqual([...order(posenc).slice(0, 4)], [0, 2, 4, 6]),
  },
  {
    says: "Weights made for the interleaved layout are run with the half rotation. Which check notices?",
    check: (posenc) => above(Math.abs(score(posenc, 7, 0, "half") - score(posenc, 7, 0, "interleaved")), 0.5),
  },
  {
    says: "Whichever two coordinates form a pair, a rotation keeps their length.",
    check(posenc) {
      for (const layout of ["interleaved", "half"]) same([norm(rotate(posenc, q, 7, layout))], [norm(q)]);
    },
  },
  {
    says: "so the score is still a function of the offset. It is another function.",
    check(posenc) {
      same([score(posenc, 7, 3, "half")], [score(posenc, 107, 103, "half")]);
      above(Math.abs(score(posenc, 7, 3, "half") - score(posenc, 7, 3, "interleaved")), 0.01);
    },
  },
  {
    says: "The mixture is a perfectly good RoPE for other weights.",
    check(posenc) {
      // The half rotation of q is the interleaved one of q in the order that undoes the permutation.
      const other = (x) => Float64Array.from(range(8), (c) => x[[...order(posenc)].indexOf(c)]);
      same([score(posenc, 7, 0, "interleaved", [other(q), other(k)])], [score(posenc, 7, 0, "half")]);
    },
  },
  {
    says: "Mixing is silent. Norms are still preserved and scores still depend on the positions by their offset alone, so both usual checks pass. Only a comparison with a reference score finds it.",
    check(posenc) {
      same([norm(rotate(posenc, q, 7, "half"))], [norm(q)]);
      same([score(posenc, 7, 3, "half")], [score(posenc, 107, 103, "half")]);
      above(Math.abs(score(posenc, 7, 3, "half") - score(posenc, 7, 3, "interleaved")), 0.01);
    },
  },
  {
    says: "`rotary_dim` below `head_dim`, two more slips are common: taking exponents over `head_dim`, and pairing across `head_dim/2`. Coordinates past `rotary_dim` must come out unchanged.",
    check(posenc) {
      const partial = { headDim: 8, rotaryDim: 4 };
      const { invFreq } = posenc.ropeInvFreq(partial);
      same(invFreq, [1, 10000 ** (-2 / 4)]);
      differs(invFreq, [1, 10000 ** (-2 / 8)]);
      const { cos, sin } = posenc.ropeCosSin(Float64Array.of(7), invFreq);
      const turned = posenc.ropeApply(q, cos, sin, { seqLen: 1, ...partial, layout: "half" });
      same(turned.slice(4), q.slice(4), Number.MIN_VALUE);
      same([Math.hypot(turned[0], turned[2])], [Math.hypot(q[0], q[2])]); // 0 goes with 0 + 4/2
    },
  },
];
