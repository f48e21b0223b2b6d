// The figures of this section were measured by the training study; its tables stand in web/figures/training-study.json, and each row of the
// prose is quoted as those tables have it. What follows from them is computed.

import assert from "node:assert/strict";
import { above, below, measured, prints, range, study } from "./measure.mjs";

const { shared, whichSide, tinyLanguage, echo, induction } = study;
const head = "| Encoding | 1× | 2× | 4× | 8× |\n|---|---|---|---|---|\n";
const rowsOf = ({ rows }) =>
  Object.entries(rows).map(([encoding, cells]) => ({
    says: `| ${[encoding, ...cells].join(" | ")} |`,
    cites: "the training study",
  }));
const headings = () => assert.deepEqual(shared.lengths, [1, 2, 4, 8]);
const { grammar } = tinyLanguage;

/** Nats per character of a sentence "[adjective ]noun verb [adjective ]noun. ", when all that came before is known. */
function floor({ nouns, verbs, adjectives, adjectiveShare: share }) {
  const choice = -share * Math.log(share) - (1 - share) * Math.log(1 - share);
  const phrase = choice + share * Math.log(adjectives.length) + Math.log(nouns.length);
  const letters = (words) => words.join("").length / words.length;
  const spaces = 4; // a stop among them
  const length = 2 * (share * (letters(adjectives) + 1) + letters(nouns)) + letters(verbs) + spaces;
  return (2 * phrase + Math.log(verbs.length)) / length;
}

/** Largest count among n draws of `symbols` kinds: Σ over m of P(max > m), P by the exponential series Σ x^j/j!. */
function expectedLargestCount(n, symbols) {
  const factorial = [1];
  for (let j = 1; j <= n; ++j) factorial.push(j * factorial[j - 1]);
  const within = (most) => {
    let series = [1];
    for (let symbol = 0; symbol < symbols; ++symbol) {
      const last = series;
      series = Array.from(range(n + 1), (total) =>
        range(Math.min(most, total) + 1).reduce((sum, j) => sum + (last[total - j] ?? 0) / factorial[j], 0),
      );
    }
    return (series[n] * factorial[n]) / symbols ** n;
  };
  return range(n).reduce((sum, most) => sum + 1 - within(most), 0);
}
const ranking = (task, encodings) => encodings.map((encoding) => measured(task, encoding, 8));
const share = (encoding) => tinyLanguage.validWordsPercent[encoding].join("–");

export default [
  {
    says: "One layer, d_model 48, 4 heads, no feed-forward layer, about 10 000 parameters.",
    check() {
      assert.deepEqual([shared.numLayers, shared.dModel, shared.numHeads], [1, 48, 4]);
      // q, k, v and output projections with biases in q, k, v, two norms, tokens and an output of 17 symbols
      const parameters = 4 * 48 ** 2 + 3 * 48 + 2 * 48 + 2 * 17 * 48;
      below(Math.abs(parameters - shared.parametersAbout), 0.15 * shared.parametersAbout);
    },
  },
  {
    says: "T5 has 16 buckets and a `max_distance` of 16, so that training fills every bucket that a longer test uses.",
    check(posenc) {
      const config = { numBuckets: shared.t5Buckets, maxDistance: shared.t5MaxDistance };
      for (const bidirectional of [true, false]) {
        const used = (length) => {
          const offsets = Int32Array.from({ length: 2 * length - 1 }, (_, i) => i - length + 1);
          return [...new Set(posenc.t5Buckets(offsets, { ...config, bidirectional }))].sort((a, b) => a - b);
        };
        const trained = used(shared.trainedLength);
        assert.deepEqual(used(8 * shared.trainedLength), trained);
        // an encoder never uses the bucket of distance 0 to the right
        assert.equal(trained.length, bidirectional ? 15 : 16);
      }
    },
  },
  {
    says: "Where a row differs in more (a mask, a second layer), its name says so",
    check() {
      const names = [whichSide, tinyLanguage, echo].flatMap(({ rows }) => Object.keys(rows));
      assert.ok(names.includes("none + causal mask") && names.includes("none, 2 layers + feed-forward"));
    },
  },
  {
    says: "Trained at length 32 with AdamW, tested at 1, 2, 4 and 8 times that length. All values are mean ± standard deviation over 10 seeds",
    check() {
      assert.deepEqual([shared.trainedLength, ...shared.lengths, shared.seeds], [32, 1, 2, 4, 8, 10]);
    },
  },
  {
    says: '"PI" and "NTK" are RoPE models with the scaling applied at test time only, without fine-tuning.',
    check() {
      // At the trained length nothing is scaled, so they are the same models.
      for (const task of ["whichSide", "tinyLanguage", "echo", "induction"])
        for (const scaling of ["RoPE + PI", "RoPE + NTK"])
          assert.equal(measured(task, scaling), measured(task, "RoPE"));
    },
  },
  {
    says: `An encoder, no mask, 300 steps. There is one verb among nouns, and each noun must say whether it stands before or after it. Accuracy in %; chance is 50.\n\n${head}`,
    check() {
      assert.deepEqual([whichSide.mask, whichSide.steps, whichSide.chance], ["none", 300, 50]);
      headings();
    },
  },
  ...rowsOf(whichSide),
  {
    says: "No positions, no order: the encoder without an encoding is at chance. A causal mask alone solves the task. Symmetric ALiBi cannot tell left from right.",
    check() {
      for (const multiple of shared.lengths) {
        below(Math.abs(measured("whichSide", "none", multiple) - whichSide.chance), 2);
        assert.equal(measured("whichSide", "none + causal mask", multiple), 100);
        below(Math.abs(measured("whichSide", "ALiBi, symmetric", multiple) - whichSide.chance), 2);
      }
    },
  },
  {
    says: "A causal character model, 400 steps, on sentences such as",
    check() {
      assert.ok(tinyLanguage.causal);
      assert.equal(tinyLanguage.steps, 400);
    },
  },
  {
    says: '"old dog bites man."',
    check() {
      const [adjective, noun, verb, object] = "old dog bites man".split(" ");
      assert.ok(grammar.adjectives.includes(adjective) && grammar.verbs.includes(verb));
      assert.ok([noun, object].every((word) => grammar.nouns.includes(word)));
    },
  },
  { says: "the floor is 0.387,", check: () => prints("0.387", floor(grammar)) },
  {
    says: `a trigram model reaches 0.541.\n\n${head}`,
    check() {
      prints("0.541", tinyLanguage.trigram);
      headings();
    },
  },
  ...rowsOf(tinyLanguage),
  {
    says: "At the trained length the encodings are nearly equal. Past it they part.",
    check() {
      const encodings = ["sinusoidal", "learned", "RoPE", "ALiBi", "T5"];
      const losses = (multiple) => encodings.map((name) => measured("tinyLanguage", name, multiple));
      const spread = (values) => Math.max(...values) - Math.min(...values);
      below(spread(losses(1)), 0.01);
      above(spread(losses(2)), 1);
    },
  },
  {
    says: `Let the models write on at 4 to 8 times the length, and the share of valid words is ${share("ALiBi")} % with ALiBi, ${share("T5")} % with T5, ${share("RoPE")} % with RoPE, ${share("learned")} % with learned rows and ${share("sinusoidal")} % with sinusoids.`,
    cites: "the training study",
  },
  {
    says: `### Echo 3\n\nCausal, 250 steps: repeat the token three places back, out of 8 symbols. Accuracy in %; chance is 12.5.\n\n${head}`,
    check() {
      assert.deepEqual([echo.causal, echo.steps, echo.back, echo.symbols], [true, 250, 3, 8]);
      prints("12.5", 100 / echo.symbols);
      headings();
    },
  },
  ...rowsOf(echo),
  {
    says: "Interpolation was the best remedy for RoPE in the first task and is close to chance here: squeezed positions keep coarse order and lose exact offsets. That is the case for NTK.",
    check() {
      const [plain, interpolated, ntk] = ranking("whichSide", ["RoPE", "RoPE + PI", "RoPE + NTK"]);
      assert.ok(interpolated > ntk && ntk > plain);
      for (const multiple of [2, 4, 8]) {
        below(Math.abs(measured("echo", "RoPE + PI", multiple) - echo.chance), 1.5);
        above(measured("echo", "RoPE + NTK", multiple), measured("echo", "RoPE", multiple));
      }
    },
  },
  {
    says: "Without positions, 27.9 is not noise but the best that an order-blind guess can do.",
    check() {
      // The guess is the commonest of the tokens before the own one, wherever they stand: positions 3 to 31.
      const best = range(29, 3).map((n) => expectedLargestCount(n, echo.symbols) / n);
      const optimum = (100 * best.reduce((sum, value) => sum + value, 0)) / best.length;
      const [mean, deviation] = echo.rows.none[0].split(" ± ").map(Number);
      prints("27.9", mean);
      below(Math.abs(optimum - mean), deviation);
    },
  },
  {
    says: `Two layers, 600 steps, 16 symbols: find the latest earlier occurrence of the current symbol and repeat what followed it. Mean accuracy in %.\n\n${head}`,
    check() {
      assert.deepEqual([induction.numLayers, induction.steps, induction.symbols], [2, 600, 16]);
      headings();
    },
  },
  ...rowsOf(induction),
  {
    says: "Rankings held with half and twice the learning rate, three times the steps, d_model 64 and length 64.",
    cites: "the training study",
  },
  {
    says: "The point where RoPE breaks moved with length, head_dim and base",
    cites: "the training study",
  },
  {
    says: "T5's bias was given a larger step than other weights, and without it ALiBi appeared to win alone",
    check() {
      above(shared.t5BiasGain, 1);
      // With it, T5 is at least as good where ALiBi is best.
      below(measured("tinyLanguage", "T5", 8), measured("tinyLanguage", "ALiBi", 8));
    },
  },
];
