import assert from "node:assert/strict";
import { above, below, prints, range, same, wavelength } from "./measure.mjs";

const dModel = 512;
const hands = (posenc, width = dModel) => posenc.sinusoidalInvFreq({ dModel: width });
const slowdown = (posenc, width) => hands(posenc, width)[0] / hands(posenc, width).at(-1);
const bit = (n, number) => Math.floor(number / 2 ** n) % 2;
const flips = (n) => range(1024, 1).filter((p) => bit(n, p) !== bit(n, p - 1)).length;
/** PE(p) · PE(p + k) for k = 0 .. count − 1; rows are the closer the larger it is. */
const dots = (posenc, count) => posenc.dotByOffset(range(count), hands(posenc));

export default [
  {
    says: "The last bit of a counter flips at every step, the next at every second step, each twice as slow as the one before.",
    check: () => assert.deepEqual([0, 1, 2, 3].map(flips), [1024, 512, 256, 128]),
  },
  {
    says: String.raw`\frac{\text{wavelength}_{\dims{i}+1}}{\text{wavelength}_{\dims{i}}} = 10000^{2/d_{\text{model}}}`,
    check(posenc) {
      const waves = hands(posenc).map(wavelength);
      const ratios = waves.slice(1).map((wave, i) => wave / waves[i]);
      same(
        ratios,
        ratios.map(() => 10000 ** (2 / dModel)),
      );
    },
  },
  {
    says: "At d_model 512 there are 256 hands. How many times slower is the last than the first?",
    check: (posenc) => assert.equal(hands(posenc).length, 256),
  },
  {
    says: "$2^{255}$ times, as with 256 bits",
    check(posenc) {
      // a wrong answer: bit n of a counter is 2^n times slower than bit 0, the last of 256 bits is bit 255
      assert.equal(flips(0) / flips(9), 2 ** 9);
      below(slowdown(posenc), 2 ** 255);
    },
  },
  {
    says: "A bit halves the speed of the one before. A hand divides it by $10000^{2/512}$, only",
    check(posenc) {
      assert.equal(flips(3) / flips(4), 2);
      same([hands(posenc)[0] / hands(posenc)[1]], [10000 ** (2 / 512)]);
      prints("1.037", 10000 ** (2 / 512));
    },
  },
  {
    says: "256 times, one for each hand",
    check: (posenc) => above(slowdown(posenc), 30 * 256), // a wrong answer
  },
  {
    says: "Almost 10 000 times",
    check(posenc) {
      below(slowdown(posenc), 10_000);
      above(slowdown(posenc), 9600);
    },
  },
  {
    says: "The frequencies run from 1 down to almost $1/10000$, however many hands share the way",
    check(posenc) {
      for (const width of [256, 512, 1024, 4096]) {
        assert.equal(hands(posenc, width)[0], 1);
        above(hands(posenc, width).at(-1), 1 / 10_000);
        below(hands(posenc, width).at(-1), 1.08 / 10_000);
      }
    },
  },
  {
    says: "Its sine changes sign about every",
    check(posenc) {
      const rows = posenc.sinusoidalRows(range(10_001), { dModel: 2 });
      const changes = range(10_000).filter((p) => rows[2 * p] < 0 !== rows[2 * p + 2] < 0).length;
      prints("3.14", 10_000 / changes);
    },
  },
  {
    says: "At d_model 512 the slowest of the 256 hands takes",
    check(posenc) {
      assert.equal(hands(posenc).length, 256);
      prints("60611", wavelength(Math.min(...hands(posenc))));
    },
  },
  {
    says: "times slower than the fastest, which is $2$ to the power",
    check: (posenc) => prints("13.2", Math.log2(slowdown(posenc))),
  },
  {
    says: "bits spans that ratio. The table spends 256 pairs on it.",
    check(posenc) {
      above(2 ** 14, slowdown(posenc)); // bit 14 of 15
      below(2 ** 13, slowdown(posenc));
      assert.equal(hands(posenc).length, 256);
    },
  },
  {
    says: "A bit jumps from 0 to 1 and a small step in position may flip many bits at once: 7 is 0111 and 8 is 1000.",
    check() {
      const bits = (number) => number.toString(2).padStart(4, "0");
      assert.deepEqual([bits(7), bits(8)], ["0111", "1000"]);
    },
  },
  {
    says: "A hand moves smoothly, so neighbouring positions have neighbouring rows.",
    check(posenc) {
      const near = dots(posenc, 30).slice(1);
      assert.deepEqual(near, near.toSorted().toReversed());
    },
  },
  {
    says: "moving on by three steps turns each hand by a fixed angle, while for bits it is a sum with carries",
    check(posenc) {
      const invFreq = hands(posenc);
      const matrices = posenc.shiftMatrices(invFreq, 3);
      const turned = invFreq.map((_, i) => Math.atan2(matrices[4 * i + 1], matrices[4 * i]));
      same(
        turned,
        invFreq.map((w) => 3 * w),
      );
      assert.notEqual(5 ^ 3, 5 + 3);
    },
  },
  {
    says: "In exact arithmetic the fastest hand alone never repeats at whole positions, because $2\\pi$ is irrational.",
    check(posenc) {
      const rows = posenc.sinusoidalRows(range(2e5, 1), { dModel: 2 });
      let nearest = 1;
      for (let p = 0; p < 2e5; ++p) {
        if (rows[2 * p + 1] > 0) nearest = Math.min(nearest, Math.abs(rows[2 * p]));
      }
      above(nearest, 1e-6);
    },
  },
  {
    says: "At d_model 512 two neighbouring rows are {{row_distance_neighbour_d512}} apart, and no two different rows within {{collision_search_limit}} positions are closer than that.",
    check(posenc) {
      const byOffset = dots(posenc, 100_001);
      const distances = byOffset.map((value) => Math.sqrt(2 * (byOffset[0] - value)));
      prints("3.71", distances[1]);
      assert.ok(distances.subarray(2).every((distance) => distance > distances[1]));
    },
  },
  {
    says: "Collisions do appear when the position itself is [rounded to bf16]",
    check(posenc) {
      const [a, b] = posenc.roundTo(Float64Array.of(1000, 1001), "bfloat16");
      assert.equal(a, b);
    },
  },
  {
    says: "at d_model 512, each hand of the slowest quarter makes less than a tenth of a turn within 500 positions",
    check(posenc) {
      const slowest = hands(posenc).slice(-256 / 4);
      below(500 / wavelength(Math.max(...slowest)), 1 / 10);
    },
  },
  { says: "the fastest clock alternates every position", cites: "the original" },
  {
    says: String.raw`True: its period is $2\pi$ positions`,
    check: (posenc) => assert.equal(wavelength(hands(posenc)[0]), 2 * Math.PI),
  },
  { says: "The original says: the slowest clock is like the $2^{512}$ digit.", cites: "the original" },
  {
    says: "True: at d_model 512 it is slower than the fastest by $2$ to the power",
    check: (posenc) => prints("13.2", Math.log2(slowdown(posenc))),
  },
];
