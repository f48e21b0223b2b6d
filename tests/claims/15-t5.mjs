import assert from "node:assert/strict";
import { logitsLeftAndRight, measured, prints, randomLayer, range, same, study } from "./measure.mjs";

const buckets = (posenc, relative, config) => posenc.t5Buckets(Int32Array.from(relative), config);
const encoder = (posenc, relative) => buckets(posenc, relative, { bidirectional: true });
const decoder = (posenc, relative) => buckets(posenc, relative, { bidirectional: false });
const distances = range(3000);
const before = distances.map((distance) => -distance);
/** How many distances a bucket holds. */
const sizes = (list) =>
  list.reduce((count, bucket) => count.set(bucket, (count.get(bucket) ?? 0) + 1), new Map());
/** The distances that share their bucket with no other. */
const ownBuckets = (list) => {
  const count = sizes(list);
  return distances.filter((distance) => count.get(list[distance]) === 1);
};

/** The reference's formula for keys before the query, in double or rounded to float32 after each step. */
function written(distance, buckets, maxDistance, round) {
  const near = Math.floor(buckets / 2);
  if (distance < near) return distance;
  const ratio = round(Math.log(round(distance / near)));
  const step = round(round(ratio / Math.log(maxDistance / near)) * (buckets - near));
  return Math.min(buckets - 1, near + Math.trunc(step));
}
const edgesMove = (buckets, maxDistance) =>
  range(512, 1).filter(
    (distance) =>
      written(distance, buckets, maxDistance, Math.fround) !==
      written(distance, buckets, maxDistance, Number),
  ).length;

export default [
  {
    says: String.raw`\text{logit}_{\pos{m}\pos{n}} = \q{q}_{\pos{m}} \cdot \k{k}_{\pos{n}} + B_h\big[\operatorname{bucket}(\pos{n} - \pos{m})\big]`,
    check(posenc) {
      const shape = { seqLen: 5, dModel: 8, numHeads: 2 };
      const layer = randomLayer(posenc, shape);
      const run = (encoding) =>
        posenc.selfAttention(posenc.randomNormal(40, 1), layer, { ...shape, encoding }).logits;
      const none = run("none");
      run("t5").forEach((logit, at) => {
        const [head, m, n] = [Math.floor(at / 25), Math.floor(at / 5) % 5, at % 5];
        const [bucket] = encoder(posenc, [n - m]);
        same([logit], [none[at] * Math.sqrt(4) + layer.t5Table[bucket * 2 + head]]);
      });
    },
  },
  {
    says: "T5 uses 32 buckets and a `max_distance` of 128.",
    cites: "Raffel et al. 2019; transformers, configuration_t5.py",
  },
  {
    says: String.raw`There is no $1/\sqrt{d_k}$: the initialisation of the weights makes up for it.`,
    cites: "Raffel et al. 2019; transformers, modeling_t5.py: W_Q is drawn with deviation 1/√(d_model·d_k)",
  },
  {
    says: "An encoder sees both sides, so half the buckets are for keys before the query and half for keys after. A decoder sees only keys before and uses all of them.",
    check(posenc) {
      const [left, right] = [encoder(posenc, before), encoder(posenc, distances.slice(1))];
      assert.deepEqual([Math.min(...left), Math.max(...left)], [0, 15]);
      assert.ok(right.every((bucket) => bucket >= 16 && bucket <= 31));
      assert.equal(new Set(decoder(posenc, before)).size, 32);
      assert.deepEqual([...new Set(decoder(posenc, distances))], [0]);
    },
  },
  {
    says: "In each set the first half of the buckets hold one distance each. The second half grow logarithmically up to `max_distance`, and everything beyond shares the last.",
    check(posenc) {
      for (const [list, half] of [
        [encoder(posenc, before), 8],
        [decoder(posenc, before), 16],
      ]) {
        assert.deepEqual(Array.from(list.slice(0, half)), Array.from(range(half)));
        assert.deepEqual(ownBuckets(list).slice(0, half), range(half));
        const last = 2 * half - 1;
        assert.ok(list.slice(128).every((bucket) => bucket === last));
        const widths = Array.from(range(half - 1, half), (bucket) => sizes(list).get(bucket));
        assert.ok(widths.every((width, i) => i === 0 || width + 1 >= widths[i - 1]));
        assert.ok(widths.at(-1) > 4 * widths[0]);
      }
    },
  },
  {
    says: "Distance 0 counts as before, so an encoder never uses the first bucket for keys after.",
    check(posenc) {
      assert.equal(encoder(posenc, [0])[0], 0);
      const used = new Set([...encoder(posenc, before), ...encoder(posenc, distances)]);
      assert.deepEqual(
        Array.from(range(32)).filter((bucket) => !used.has(bucket)),
        [16],
      );
    },
  },
  {
    says: "An encoder with 32 buckets: what is the largest distance before the query with a bucket of its own?",
    check: (posenc) => assert.equal(Math.max(...ownBuckets(encoder(posenc, before))), 7),
  },
  {
    says: "- [ ] 31\n\n  One distance for each bucket would use up all 32 and leave none for the far keys",
    check: (posenc) => assert.ok(!ownBuckets(encoder(posenc, before)).includes(31)), // a wrong answer
  },
  {
    says: "- [ ] 15\n\n  Half of the buckets is right for a decoder. An encoder first gives half of them to the other side.",
    check(posenc) {
      assert.ok(ownBuckets(decoder(posenc, before)).includes(15));
      assert.ok(!ownBuckets(encoder(posenc, before)).includes(15)); // a wrong answer
    },
  },
  {
    says: "- [x] 7\n\n  Of 32 buckets 16 are for keys before the query, and the first half of those hold one distance each: 0 to 7.",
    check(posenc) {
      assert.equal(new Set(encoder(posenc, before)).size, 16);
      assert.deepEqual(ownBuckets(encoder(posenc, before)), range(8));
    },
  },
  {
    says: "Distance 7 has a bucket of its own in both.",
    check(posenc) {
      for (const list of [encoder(posenc, before), decoder(posenc, before)])
        assert.ok(ownBuckets(list).includes(7));
    },
  },
  {
    says: "In the encoder 12 and 15 share one, and from {{t5_last_bucket_from_encoder}} on all keys look equally far. In the decoder that happens from",
    check(posenc) {
      const list = encoder(posenc, before);
      assert.equal(list[12], list[15]);
      assert.equal(list.indexOf(list.at(-1)), 91);
      assert.equal(decoder(posenc, before).indexOf(31), 113);
    },
  },
  {
    says: "For 12 heads the table has",
    check(posenc) {
      const numbers = 32 * 12;
      assert.equal(numbers, 384);
      posenc.t5Bias(new Float64Array(numbers), 12, 2, 2);
      assert.throws(() => posenc.t5Bias(new Float64Array(numbers + 1), 12, 2, 2), RangeError);
    },
  },
  {
    says: "there is only one table per stack: the first layer owns it and all others reuse the same bias. The encoder has one table and the decoder another. Cross-attention has none",
    cites: "Raffel et al. 2019, section 2.1; transformers, modeling_t5.py",
  },
  { says: "T5 uses sinusoidal encoding, in one row of its comparison", cites: "the original" },
  {
    says: "True: T5 has relative buckets only.",
    check(posenc) {
      // With an empty table nothing of the position is left: no row was added and none rotated.
      const shape = { seqLen: 5, dModel: 8 };
      const layer = { ...randomLayer(posenc, shape), t5Table: new Float64Array(32) };
      const run = (encoding) =>
        posenc.selfAttention(posenc.randomNormal(40, 1), layer, { ...shape, encoding }).logits;
      same(
        run("t5"),
        run("none").map((logit) => logit * Math.sqrt(8)),
      );
      const [left, right] = logitsLeftAndRight(posenc, "t5");
      assert.notDeepEqual(left, right);
    },
  },
  {
    says: "Past it the model cannot tell 200 from 2000. If training has reached it, a longer input brings no new bucket.",
    check(posenc) {
      for (const list of [encoder(posenc, before), decoder(posenc, before)])
        assert.equal(list[200], list[2000]);
      assert.equal(
        new Set(
          decoder(
            posenc,
            range(1e6).map((d) => -d),
          ),
        ).size,
        32,
      );
    },
  },
  {
    says: 'with 16 buckets and a `max_distance` of 16, T5 holds exact offsets at eight times the trained length; "which side", which needs the far keys, falls to 81 %.',
    check(posenc) {
      // a training length of 32 reaches every bucket of 16 up to distance 16
      const seen = posenc.t5Buckets(Int32Array.from(range(32).map((d) => -d)), {
        numBuckets: 16,
        maxDistance: 16,
        bidirectional: false,
      });
      assert.equal(new Set(seen).size, 16);
      prints("81", measured("whichSide", "T5", 8));
      assert.equal(study.echo.back, 3);
      assert.equal(measured("echo", "T5", 8), 100);
    },
  },
  {
    says: "Two bugs recur. The bucket of distance 0 takes a logarithm of zero in code that computes both branches; that value must never be cast to an integer.",
    check(posenc) {
      assert.equal(Math.log(0), -Infinity);
      assert.equal(encoder(posenc, [0])[0], 0);
    },
  },
  {
    says: "the reference takes the logarithm in float32. With 32 buckets and distance 128 a port in double agrees; with other sizes, 18 buckets for one, some edges move.",
    check() {
      assert.equal(edgesMove(32, 128), 0); // decoder
      assert.equal(edgesMove(16, 128), 0); // one side of an encoder
      assert.ok(edgesMove(9, 128) > 0); // 18 buckets, of an encoder
    },
  },
];
