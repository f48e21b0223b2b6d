import assert from "node:assert/strict";
import { above, below, ENCODINGS, identity, ROUNDING, same, shuffled, times, transpose } from "./measure.mjs";

export default [
  {
    says: "by itself it cannot tell which came first",
    check: (posenc) => below(shuffled(posenc).equivariance, ROUNDING),
  },
  {
    says: "This lesson shows five ways to tell it",
    check(posenc) {
      assert.equal(ENCODINGS.length, 5);
      for (const encoding of ENCODINGS) above(shuffled(posenc, { encoding }).equivariance, 1e-3);
    },
  },
  {
    says: String.raw`a shift by $\pos{k}$ is a rotation`,
    check(posenc) {
      const matrices = posenc.shiftMatrices(posenc.sinusoidalInvFreq({ dModel: 64 }), 3);
      for (let at = 0; at < matrices.length; at += 4) {
        const m = matrices.slice(at, at + 4);
        same(times(m, transpose(m, 2), 2), identity(2));
        above(m[0] * m[3] - m[1] * m[2], 0);
      }
    },
  },
  {
    says: "Tell the two pair layouts apart and convert weights between them",
    check(posenc) {
      const { cos, sin } = posenc.ropeCosSin(Float64Array.of(7), posenc.ropeInvFreq({ headDim: 8 }).invFreq);
      const rotate = (x, layout) => posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim: 8, layout });
      const x = posenc.randomNormal(8, 1);
      const order = posenc.halfFromInterleaved({ headDim: 8 });
      const reorder = (row) => Float64Array.from(order, (r) => row[r]);
      same(rotate(reorder(x), "half"), reorder(rotate(x, "interleaved")));
      above(Math.abs(rotate(x, "half")[1] - rotate(x, "interleaved")[1]), 1e-3);
    },
  },
  {
    says: "T5 buckets for an encoder and a decoder",
    check(posenc) {
      const bucketOf = (relative, bidirectional) =>
        posenc.t5Buckets(Int32Array.of(relative), { bidirectional })[0];
      assert.notEqual(bucketOf(5, true), bucketOf(-5, true));
      assert.equal(bucketOf(5, false), bucketOf(0, false));
    },
  },
];
