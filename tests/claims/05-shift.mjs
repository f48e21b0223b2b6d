import assert from "node:assert/strict";
import { above, differs, dot, range, rowOf, same, times, transpose } from "./measure.mjs";

const dModel = 512;
const invFreqOf = (posenc) => posenc.sinusoidalInvFreq({ dModel });
const rowAt = (posenc, p) => posenc.sinusoidalRows(Float64Array.of(p), { dModel });
const rowDot = (posenc, p, k) => dot(rowAt(posenc, p), rowAt(posenc, p + k));

/** M_k v, pair by pair. */
function shifted(posenc, k, v) {
  const matrices = posenc.shiftMatrices(invFreqOf(posenc), k);
  return v.map((_, c) => {
    const pair = Math.floor(c / 2);
    return dot(
      matrices.slice(4 * pair + 2 * (c % 2), 4 * pair + 2 * (c % 2) + 2),
      v.slice(2 * pair, 2 * pair + 2),
    );
  });
}
const curve = (posenc) => posenc.dotByOffset(range(1000), invFreqOf(posenc));
const firstRise = (dots) => dots.findIndex((value, k) => k > 0 && dots[k + 1] > value);

export default [
  {
    says: "Yet moving $\\pos{k}$ positions to the right is a linear map of the row, the same map from every starting point.",
    check(posenc) {
      for (const p of [0, 1, 17, 999]) same(shifted(posenc, 6, rowAt(posenc, p)), rowAt(posenc, p + 6));
    },
  },
  {
    says: String.raw`\begin{bmatrix} \cos \pos{k}\omega_{\dims{i}} & \sin \pos{k}\omega_{\dims{i}} \\ -\sin \pos{k}\omega_{\dims{i}} & \cos \pos{k}\omega_{\dims{i}} \end{bmatrix} \begin{bmatrix} \sin`,
    check(posenc) {
      const expected = Array.from(invFreqOf(posenc), (w) => {
        const [cos, sin] = [Math.cos(7 * w), Math.sin(7 * w)];
        return [cos, sin, -sin, cos];
      });
      same(posenc.shiftMatrices(invFreqOf(posenc), 7), expected.flat());
    },
  },
  {
    says: "Put one such 2 × 2 rotation per pair on the diagonal",
    check: (posenc) => assert.equal(posenc.shiftMatrices(invFreqOf(posenc), 3).length, (dModel / 2) * 2 * 2),
  },
  {
    says: String.raw`\operatorname{PE}(\pos{p}+\pos{k}) = M_{\pos{k}}\,\operatorname{PE}(\pos{p}).`,
    check(posenc) {
      for (const k of [1, 5, 500]) same(shifted(posenc, k, rowAt(posenc, 12)), rowAt(posenc, 12 + k));
    },
  },
  {
    says: String.raw`For pair 0 the frequency is 1, so the entries are simply $\cos \pos{k}$ and $\sin \pos{k}$.`,
    check: (posenc) =>
      same(posenc.shiftMatrices(invFreqOf(posenc), 3).slice(0, 2), [Math.cos(3), Math.sin(3)]),
  },
  {
    says: String.raw`The transpose of a rotation turns back, so a shift of both rows cancels: $(M_{\pos{a}}u)\cdot(M_{\pos{a}}v) = u\cdot v$. The dot product of two rows therefore depends on the offset alone`,
    check(posenc) {
      const [u, v] = [posenc.randomNormal(dModel, 1), posenc.randomNormal(dModel, 2)];
      same([dot(u, v)], [dot(shifted(posenc, 9, u), shifted(posenc, 9, v))], 1e-9);
      same([dot(u, shifted(posenc, 9, v))], [dot(shifted(posenc, -9, u), v)], 1e-9);
      for (const p of [1, 30, 5000]) same([rowDot(posenc, p, 9)], [rowDot(posenc, 0, 9)], 1e-8);
    },
  },
  {
    says: String.raw`= \sum_{\dims{i}} \cos(\pos{k}\,\omega_{\dims{i}})`,
    check(posenc) {
      const sum = (k) => invFreqOf(posenc).reduce((total, w) => total + Math.cos(k * w), 0);
      for (const k of [0, 1, 50, 333]) same([rowDot(posenc, 4, k)], [sum(k)]);
    },
  },
  {
    says: "The dot product of rows $\\pos{p}$ and $\\pos{p}+\\pos{k}$: what does it do as $\\pos{k}$ grows from 0?",
    defines: "where the offset starts",
  },
  {
    says: "It falls steadily towards 0",
    check(posenc) {
      const dots = curve(posenc); // a wrong answer: it rises, and it stays far from 0
      above(firstRise(dots), 0);
      above(Math.min(...dots), 30);
    },
  },
  {
    says: "A sum of cosines goes up again wherever enough fast hands meet: here first after",
    check: (posenc) => assert.equal(firstRise(curve(posenc)), 43),
  },
  {
    says: "Each row keeps its length. The angle between the two rows grows, and the dot product feels that.",
    check(posenc) {
      const dots = curve(posenc);
      same([rowDot(posenc, 77, 0)], [dots[0]]);
      above(dots[0], dots[1]);
    },
  },
  {
    says: "All cosines start at 1 and leave it at their own speeds, so the sum falls and then wavers.",
    check(posenc) {
      const dots = curve(posenc);
      assert.equal(dots[0], dModel / 2);
      const rises = range(900).filter((k) => dots[k + 1] > dots[k]).length;
      above(rises, 100);
      above(900 - rises, 100);
    },
  },
  {
    says: "the dot product at position 0 equals the one at position 700",
    check(posenc) {
      for (const k of [1, 5, 50, 500]) same([rowDot(posenc, 0, k)], [rowDot(posenc, 700, k)], 1e-9);
    },
  },
  {
    says: "As a map over all pairs of positions the dot product is constant along diagonals, a Toeplitz matrix.",
    check(posenc) {
      const map = posenc.similarity(posenc.sinusoidalRows(range(20), { dModel }), 20, dModel);
      for (let i = 1; i < 20; ++i) same(rowOf(map, i, 20).slice(1), rowOf(map, i - 1, 20).slice(0, -1));
    },
  },
  {
    says: "Both must be present, which is why each frequency has two columns.",
    check(posenc) {
      assert.equal(dModel / invFreqOf(posenc).length, 2);
      // sin p = sin q at p = 0.5 and q = π − 0.5, but not one step on: the sine alone does not know.
      same([Math.sin(0.5)], [Math.sin(Math.PI - 0.5)]);
      differs([Math.sin(1.5)], [Math.sin(Math.PI + 0.5)]);
    },
  },
  {
    says: "The dot product is even in $\\pos{k}$: five to the left and five to the right score the same.",
    check: (posenc) => same([rowDot(posenc, 100, 5)], [rowDot(posenc, 100, -5)]),
  },
  {
    says: "It is not monotone either. At d_model 512 it first rises again after offset",
    check: (posenc) => assert.equal(firstRise(curve(posenc)), 43),
  },
  {
    says: "And it is the dot product of two rows, which attention never computes.",
    check(posenc) {
      const [wQ, wK] = [1, 2].map((seed) => posenc.randomNormal(dModel * 4, seed, 1 / Math.sqrt(dModel)));
      const rows = [0, 3].map((p) => rowAt(posenc, p));
      const logit = times(times(rows[0], wQ, dModel), transpose(times(rows[1], wK, dModel), 4), 4);
      differs(logit, [dot(...rows)]);
    },
  },
  {
    says: String.raw`The original says: $\q{q}\cdot\k{k}$ in attention depends on the offset alone`,
    cites: "the original",
  },
  {
    says: "True: $W_Q$ and $W_K$ stand between, and [the pattern is lost](#cross-terms) unless training builds it.",
    check(posenc) {
      const [wQ, wK] = [1, 2].map((seed) => posenc.randomNormal(dModel * 64, seed, 1 / Math.sqrt(dModel)));
      const score = (m, n) => dot(times(rowAt(posenc, m), wQ, dModel), times(rowAt(posenc, n), wK, dModel));
      above(Math.abs(score(0, 5) - score(20, 25)), 0.1);
    },
  },
];
