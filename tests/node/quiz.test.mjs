// The quiz and the predictions: each answer that is a number or a computed fact, computed; and the store of answers.
// An entry says whether an option is true. The options for which it says so must be the one that is marked right.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { loadPosenc } from "posenc";
import { runnerImport } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const load = async (name) =>
  (await runnerImport(join(web, name), { configFile: false, logLevel: "warn" })).module;
const posenc = await loadPosenc();
const numbers = (await load("lesson/numbers.ts")).numbers(posenc);
const { Answers, parse } = await load("quiz/answers.ts");
const { fillValues } = await load("lesson/values.ts");

const sources = [
  "quiz/questions.md",
  ...readdirSync(join(web, "lesson"))
    .filter((name) => /^\d\d-.*\.md$/.test(name))
    .sort()
    .map((name) => `lesson/${name}`),
];
/** { kind, id, options: [{ right, text }] } of every question. */
const questions = sources.flatMap((name) => {
  const text = fillValues(readFileSync(join(web, name), "utf8"), numbers, new Set(), () => {});
  return [...text.matchAll(/^:::(predict|quiz) (\S+) .*\n([\s\S]*?)^:::$/gm)].map(([, kind, id, body]) => ({
    kind,
    id,
    file: name,
    options: [...body.matchAll(/^- \[([ x])\] (.*)$/gm)].map(([, box, option]) => ({
      right: box === "x",
      text: option.replaceAll("\u202f", ""),
    })),
  }));
});

// What the facts are made of --------------------------------------------------------------------------------

const row = (position, dModel) => posenc.sinusoidalRows(Float64Array.of(position), { dModel });
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const range = (count) => Float64Array.from({ length: count }, (_, i) => i);
const close = (a, b) => Math.abs(a - b) < 1e-9;

/** 1 234, −0.5, 1/2: the number that an option begins with, and half of its last digit. */
function numberIn(text) {
  const plain = text.replaceAll("−", "-").replace(/(?<=\d) (?=\d{3}\b)/g, "");
  const fraction = /^(\d+)\/(\d+)$/.exec(plain);
  if (fraction) return { value: Number(fraction[1]) / Number(fraction[2]), half: 1e-12 };
  const found = /^-?\d+(?:\.(\d+))?/.exec(plain);
  if (!found) return { value: Number.NaN, half: 0 };
  return { value: Number(found[0]), half: 0.5 * 10 ** -(found[1]?.length ?? 0) + 1e-12 };
}
/** The option is the value, to the digits that it shows. */
const is = (value) => (text) => {
  const { value: shown, half } = numberIn(text);
  return Math.abs(shown - value) <= half;
};
/** The option is within some percent of the value: for "about". */
const about = (value, percent) => (text) => {
  const { value: shown } = numberIn(text.replace(/^(?:Almost|About|Less than) /, ""));
  return Math.abs(shown / value - 1) <= percent / 100;
};
/** Options told apart by what they begin with: { beginning: whether it is true }. */
const says = (truths) => (text) => {
  const found = Object.keys(truths).filter((beginning) => text.startsWith(beginning));
  assert.equal(found.length, 1, `one of ${Object.keys(truths).join(" | ")} begins ${text}`);
  return truths[found[0]];
};

const shuffled = (config) => {
  const [seqLen, dModel] = [6, 16];
  const weights = [1, 2, 3, 4].map((seed) => posenc.randomNormal(dModel * dModel, seed, 0.3));
  const [wQ, wK, wV, wO] = weights;
  const x = posenc.randomNormal(seqLen * dModel, 5);
  const order = Int32Array.of(3, 0, 5, 1, 4, 2);
  return posenc.orderExperiment(x, { wQ, wK, wV, wO }, order, { seqLen, dModel, ...config });
};
const periods = (dModel) => Array.from(posenc.sinusoidalInvFreq({ dModel }), (w) => (2 * Math.PI) / w);
const ratio = (dModel) => periods(dModel).at(-1) / periods(dModel)[0];
const scaled = (ropeType, seqLen) => {
  const base = { headDim: 128, originalMaxPositionEmbeddings: 4096 };
  const plain = posenc.ropeInvFreq(base).invFreq;
  const { invFreq } = posenc.ropeInvFreq({ ...base, ropeType, factor: 8 }, seqLen);
  return Array.from(plain, (w, i) => w / invFreq[i]);
};
const rotated = (x, position, layout = "interleaved") => {
  const headDim = x.length;
  const { cos, sin } = posenc.ropeCosSin(Float64Array.of(position), posenc.ropeInvFreq({ headDim }).invFreq);
  return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim, layout });
};
const lastBucket = (bidirectional) => {
  const buckets = posenc.t5Buckets(
    Int32Array.from(range(1000), (d) => -d),
    { bidirectional },
  );
  return buckets.indexOf(buckets.at(-1));
};
const meanCosine = (offset) => {
  const { invFreq } = posenc.ropeInvFreq({ headDim: 64 });
  return posenc.dotByOffset(Float64Array.of(offset), invFreq)[0] / invFreq.length;
};
const bf16 = (values) => posenc.roundTo(Float64Array.from(values), "bfloat16");
/** Norms with which the second section compares token and position, d_model 512. */
const tokenNorm = 0.02 * Math.sqrt(512) * Math.sqrt(512);
const rowNorm = Math.hypot(...row(777, 512));
/** Logits of one random head under an encoding, after a shift of all positions. */
const logits = (encoding, shift) => {
  const [seqLen, dModel] = [6, 16];
  const x = posenc.randomNormal(seqLen * dModel, 7);
  const [wQ, wK] = [8, 9].map((seed) => posenc.randomNormal(dModel * dModel, seed, 0.3));
  const at = (m) => x.subarray(m * dModel, (m + 1) * dModel);
  const project = (vector, w) =>
    Float64Array.from({ length: dModel }, (_, c) =>
      vector.reduce((sum, v, i) => sum + v * w[i * dModel + c], 0),
    );
  const input = (m) => {
    if (encoding !== "sinusoidal" && encoding !== "learned") return at(m);
    const learned = posenc.randomNormal(200 * dModel, 11);
    const added =
      encoding === "sinusoidal"
        ? row(m + shift, dModel)
        : learned.subarray((m + shift) * dModel, (m + shift + 1) * dModel);
    return at(m).map((value, i) => value + added[i]);
  };
  const turn = (vector, m) => (encoding === "rope" ? rotated(vector, m + shift) : vector);
  const bias = (m, n) => {
    if (encoding === "alibi") return -Math.abs(n + shift - (m + shift)) / 2;
    if (encoding === "t5") return posenc.t5Buckets(Int32Array.of(n + shift - (m + shift)))[0] / 7;
    return 0;
  };
  return Array.from({ length: seqLen * seqLen }, (_, i) => {
    const [m, n] = [Math.floor(i / seqLen), i % seqLen];
    return dot(turn(project(input(m), wQ), m), turn(project(input(n), wK), n)) + bias(m, n);
  });
};
const unmoved = (encoding) => {
  const moved = logits(encoding, 100);
  return logits(encoding, 0).every((value, i) => close(value, moved[i]));
};
const kvBytes = 32 * 8 * 128 * 2 * 2;
const cacheShare = (128 * 4) / kvBytes;

// The facts -------------------------------------------------------------------------------------------------

const facts = {
  "order-pooled": () => {
    const { pooled, equivariance } = shuffled({ encoding: "none" });
    return says({
      "It stays the same": close(pooled, 0),
      "It changes": !close(pooled, 0),
      "It is shuffled": !close(equivariance, 0),
    });
  },
  "order-mask": () => {
    const { pooled, equivariance } = shuffled({ encoding: "none", causal: true });
    return says({
      Yes: close(equivariance, 0),
      No: !close(equivariance, 0),
      "Only for the average": close(pooled, 0),
    });
  },
  "add-parameters": () => is((2 * 512) ** 2 / 512 ** 2),
  "sinusoidal-norm": () => is(rowNorm),
  "sinusoidal-exponent": () => is(Math.acos(row(1, 8)[3])),
  "clocks-period": () => is(periods(512)[0]),
  "clocks-bits": () => is(Math.log2(ratio(512))),
  "shift-toeplitz": () => (text) => {
    const [a, b] = [...text.matchAll(/\d+/g)].map(([p]) => row(Number(p), 512));
    return close(dot(a, b), dot(row(3, 512), row(10, 512)));
  },
  "cross-share": () => is(Math.round((100 * rowNorm ** 4) / (rowNorm ** 2 + tokenNorm ** 2) ** 2)),
  "worked-pair": () => (text) => {
    const pair = text.replaceAll("−", "-").split(", ").map(Number);
    return pair.every((value, i) => Math.abs(value - row(5, 8)[i]) < 5e-4);
  },
  "embedding-parameters": () => is(10_000 * 512),
  "learned-parameters": () =>
    is(posenc.lookupRows(new Float64Array(512 * 768), Int32Array.from(range(512)), 512, 768).length),
  "rope-content": () => {
    const unit = Float64Array.of(1, 0);
    const change = posenc.ropeScoreByOffset(Float64Array.of(-1), unit, unit, Float64Array.of(1))[0] - 1;
    return (text) => (text.startsWith("Not at all") ? close(change, 0) : is(change)(text));
  },
  "scores-decay": () => {
    const [near, far] = [meanCosine(50), meanCosine(100)];
    return says({
      "It is smaller": far < near,
      "It is larger": far > near,
      "It is the same": close(far, near),
    });
  },
  "layouts-rows": () => (text) => text === posenc.halfFromInterleaved({ headDim: 8 }).join(" "),
  "scaling-linear": () => is(1 / scaled("linear")[0]),
  "scaling-dynamic": () => is(scaled("dynamic", 32_768).at(-1)),
  "alibi-six": () => is(posenc.alibiSlopes({ numHeads: 6 })[4]),
  "t5-horizon": () => is(lastBucket(false)),
  "compare-sides": () => {
    const x = posenc.randomNormal(16, 3);
    const y = posenc.randomNormal(16, 4);
    const rope = close(dot(rotated(x, 5), rotated(y, 2)), dot(rotated(x, 5), rotated(y, 8)));
    const bias = posenc.alibiBias(Float64Array.of(0.5), 9);
    const alibi = close(bias[4 * 9 + 1], bias[4 * 9 + 7]);
    return says({
      "Only no encoding": !alibi && !rope,
      "No encoding and symmetric ALiBi": alibi && !rope,
      "No encoding, symmetric ALiBi and RoPE": alibi && rope,
    });
  },
  "precision-first": () => is(bf16(range(300)).findIndex((value, i) => value !== i)),
  "precision-distinct": () => is(new Set(bf16(range(4096))).size),
  "production-share": () => is(100 * cacheShare),
  "production-base": () => {
    const [q, k] = [posenc.randomNormal(16, 1), posenc.randomNormal(16, 2)];
    const withBase = (x, position, ropeTheta) => {
      const { cos, sin } = posenc.ropeCosSin(
        Float64Array.of(position),
        posenc.ropeInvFreq({ headDim: 16, ropeTheta }).invFreq,
      );
      return posenc.ropeApply(x, cos, sin, { seqLen: 1, headDim: 16 });
    };
    const score = (m, n, old) => dot(withBase(q, m, 5e5), withBase(k, n, old));
    const factor = score(9, 4, 1e4) / score(9, 4, 5e5);
    return says({
      "Right, as long as": close(factor, 1),
      "Right, up to": close(factor, score(109, 4, 1e4) / score(109, 4, 5e5)),
      "No longer a function": !close(score(9, 4, 1e4), score(109, 104, 1e4)),
    });
  },
  "training-side": () => {
    // Measured, not computed: the page's own table.
    const text = readFileSync(join(web, "lesson/19-training.md"), "utf8");
    const [, percent] = /\| ALiBi, symmetric \| ([\d.]+)/.exec(text);
    return about(Number(percent), 5);
  },
  "wrap-halves": () => {
    const columns = (layout) =>
      Array.from({ length: 8 }, (_, c) =>
        posenc
          .sinusoidalRows(range(40), { dModel: 8, layout })
          .filter((_, i) => i % 8 === c)
          .join(),
      ).sort();
    const same = columns("interleaved").join("|") === columns("halves").join("|");
    return says({ Nothing: same, "The rotation property": !same, Half: !same });
  },

  "order-reorder": () => {
    const { equivariance } = shuffled({ encoding: "none" });
    return says({
      "It stays the same": close(equivariance, 0),
      "It changes a little": !close(equivariance, 0),
      "Position 0": false,
    });
  },
  "add-louder": () => {
    return says({
      "The token": tokenNorm > rowNorm,
      Neither: Math.abs(tokenNorm / rowNorm - 1) < 0.1,
      "The position": rowNorm > tokenNorm,
    });
  },
  "sinusoidal-mean": () => {
    // the first row, as means of 64 positions and cell by cell
    const view = { x0: 0, y0: 0, cellsX: 64, cellsY: 1, width: 256, height: 1 };
    const map = posenc.tileMap({ map: "sinusoidal", dims: 128 });
    const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const [means, cells] = [map.values(view), map.values({ ...view, cellsX: 1 })].map(largest);
    map.free();
    return says({
      "They flicker": means > 0.5 * cells,
      "They turn grey": means < 0.05 * cells,
      "They show slower": means > 0.5 * cells,
    });
  },
  "clocks-slowest": () => (text) =>
    text.startsWith("$2^") ? Math.abs(Math.log2(ratio(512)) - 255) < 1 : about(ratio(512), 10)(text),
  "shift-curve": () => {
    const dots = posenc.dotByOffset(range(200), posenc.sinusoidalInvFreq({ dModel: 512 }));
    const rises = dots.some((value, k) => value < dots[k + 1]);
    return says({
      "It falls steadily": !rises,
      "It stays the same": close(dots[0], dots[1]),
      "It falls at first": dots[0] > dots[1] && rises,
    });
  },
  "cross-diagonals": () => {
    const share = Number(numbers.toeplitz_share_projected);
    return says({
      "All of it": share > 90,
      "About half": Math.abs(share - 50) < 10,
      "About a fifth": Math.abs(share - 20) < 5,
    });
  },
  "worked-signs": () => {
    const [sin, cos] = row(5, 8);
    return says({
      Both: sin > 0 && cos > 0,
      "Sine negative": sin < 0 && cos > 0,
      "Sine positive": sin > 0 && cos < 0,
    });
  },
  "learned-512": () => {
    let fails = false;
    try {
      posenc.lookupRows(new Float64Array(512), Int32Array.of(512), 512, 1);
    } catch {
      fails = true;
    }
    return says({ "The last row": !fails, Nothing: fails, "A row that": !fails });
  },
  "rope-shift": () => {
    const [q, k] = [posenc.randomNormal(16, 1), posenc.randomNormal(16, 2)];
    const same = close(dot(rotated(q, 3), rotated(k, 1)), dot(rotated(q, 1003), rotated(k, 1001)));
    const turned = !close(rotated(q, 3)[0], rotated(q, 1003)[0]);
    return says({ "The score": !same, "The rotated vectors": same && turned, Nothing: same && !turned });
  },
  "scores-untouched": () => {
    const [q, k] = [posenc.randomNormal(16, 1), posenc.randomNormal(16, 2)];
    const kept = (m, n) => close(dot(rotated(q, m), rotated(k, n)), dot(q, k));
    return says({ "The main diagonal": kept(5, 5) && !kept(5, 3), All: kept(5, 3), None: !kept(5, 5) });
  },
  "layouts-noticed": () => {
    const [q, k] = [posenc.randomNormal(16, 1), posenc.randomNormal(16, 2)];
    const score = (m, n, layout) => dot(rotated(q, m, layout), rotated(k, n, layout));
    const norm = close(Math.hypot(...rotated(q, 7, "half")), Math.hypot(...q));
    const relative = close(score(7, 2, "half"), score(107, 102, "half"));
    const differs = !close(score(7, 2, "half"), score(7, 2, "interleaved"));
    return says({
      "The norms": !norm,
      "Scores at equal": !relative,
      "Only a comparison": norm && relative && differs,
    });
  },
  "scaling-middle": () => about(scaled("ntk")[32], 5),
  "alibi-window": () => (text) => about(Math.ceil(Math.log(100) / 0.5), 5)(text),
  "t5-alone": () => {
    const buckets = Array.from(posenc.t5Buckets(Int32Array.from(range(200), (d) => -d)));
    return is(buckets.findLastIndex((bucket) => buckets.filter((other) => other === bucket).length === 1));
  },
  "compare-shift": () => {
    const still = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"].filter(unmoved).join(" ");
    return says({
      "RoPE, ALiBi and T5": still === "rope alibi t5",
      "RoPE, ALiBi, T5, and no": still === "none rope alibi t5",
      "All but": still === "none sinusoidal rope alibi t5",
    });
  },
  "precision-angle": () => {
    const exact = row(100_000, 512);
    const invFreq = posenc.sinusoidalInvFreq({ dModel: 512 });
    const error = Math.max(
      ...Array.from(invFreq, (w, i) => {
        const angle = Math.fround(Math.fround(w) * 100_000);
        return Math.max(
          Math.abs(Math.sin(angle) - exact[2 * i]),
          Math.abs(Math.cos(angle) - exact[2 * i + 1]),
        );
      }),
    );
    return about(error, 20);
  },
  "production-cache": () =>
    says({
      "Less than half": cacheShare < 0.005,
      "About a tenth": Math.abs(cacheShare - 0.1) < 0.05,
      More: false,
    }),
};

for (const { id, options } of questions.filter((question) => Object.hasOwn(facts, question.id))) {
  test(`the core agrees with the right answer to ${id}, and with no other`, () => {
    const isTrue = facts[id]();
    assert.deepEqual(
      options.filter(({ text }) => isTrue(text)).map(({ text }) => text),
      options.filter(({ right }) => right).map(({ text }) => text),
    );
  });
}

test("every fact belongs to a question, and what no fact settles is a matter of words", () => {
  const ids = questions.map(({ id }) => id);
  assert.deepEqual(
    Object.keys(facts).filter((id) => !ids.includes(id)),
    [],
  );
  assert.deepEqual(
    ids.filter((id) => !Object.hasOwn(facts, id)),
    ["embedding-offset", "rope-which", "sinusoidal-bottom", "embedding-batch"],
  );
});

test("the quiz has at least 24 questions, on all twenty sections", () => {
  const quiz = readFileSync(join(web, "quiz/questions.md"), "utf8");
  assert.equal([...quiz.matchAll(/^# \S+$/gm)].length, 20);
  assert.ok(questions.filter(({ kind }) => kind === "quiz").length >= 24);
});

test("a prediction stands in every section from 1 to 18", () => {
  const predicted = questions
    .filter(({ kind }) => kind === "predict")
    .map(({ file }) => Number(file.slice(7, 9)));
  assert.deepEqual(
    [...new Set(predicted)],
    Array.from({ length: 18 }, (_, i) => i + 1),
  );
});

// The store -------------------------------------------------------------------------------------------------

function memory(text = null) {
  let kept = text;
  return {
    getItem: () => kept,
    setItem: (_, value) => {
      kept = value;
    },
    removeItem: () => {
      kept = null;
    },
  };
}

test("an answer is there on the next visit, until it is forgotten", () => {
  const storage = memory();
  const first = new Answers(() => storage);
  first.set("clocks-slowest", 2);
  first.set("order-mask", 1);
  assert.equal(storage.getItem(), '{"version":1,"answers":{"clocks-slowest":2,"order-mask":1}}');
  const second = new Answers(() => storage);
  assert.equal(second.get("clocks-slowest"), 2);
  second.remove(["clocks-slowest"]);
  assert.equal(new Answers(() => storage).get("clocks-slowest"), undefined);
  second.forget();
  assert.equal(storage.getItem(), null);
  assert.equal(second.get("order-mask"), undefined);
});

test("two windows do not undo each other's answers", () => {
  const storage = memory();
  const [one, two] = [new Answers(() => storage), new Answers(() => storage)];
  one.set("a", 0);
  two.set("b", 1);
  const later = new Answers(() => storage);
  assert.deepEqual([later.get("a"), later.get("b")], [0, 1]);
});

test("where storage is refused or full, answers last as long as the page and are not said to be kept", () => {
  const refused = () => {
    throw new Error("SecurityError");
  };
  const full = () => ({ ...memory(), setItem: refused });
  for (const storage of [refused, full]) {
    const answers = new Answers(storage);
    answers.set("a", 1);
    answers.set("b", 0);
    assert.equal(answers.kept, false);
    assert.deepEqual([answers.get("a"), answers.get("b")], [1, 0]);
    answers.forget();
    assert.equal(answers.get("a"), undefined);
  }
});

test("what is not an answer is ignored", () => {
  for (const text of [
    null,
    "",
    "{",
    "null",
    "[]",
    "7",
    '{"version":2,"answers":{"a":1}}',
    '{"version":1,"answers":[1]}',
    '{"version":1,"answers":{"a":-1,"b":1.5,"c":"0","d":null,"E":1,"":0,"f g":1}}',
    '{"__proto__":{"version":1,"answers":{"a":1}}}',
    `{"version":1,"answers":{"${"a".repeat(65)}":1}}`,
  ]) {
    assert.deepEqual([...parse(text)], [], text);
  }
  assert.deepEqual([...parse('{"version":1,"answers":{"a":0,"b":"x"}}')], [["a", 0]]);
});

test("no stored text reaches a prototype", () => {
  const before = Object.getOwnPropertyNames(Object.prototype).length;
  const answers = new Answers(() =>
    memory('{"version":1,"answers":{"__proto__":1,"constructor":2,"hasownproperty":0}}'),
  );
  answers.set("a", 0);
  assert.equal(answers.get("toString"), undefined);
  assert.equal(answers.get("__proto__"), undefined);
  assert.equal(Object.getOwnPropertyNames(Object.prototype).length, before);
  assert.equal({}.a, undefined);
});

test("reading never throws, whatever is stored", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((json) => `{"version":1,"answers":${json}}`),
      ),
      (text) => {
        for (const [id, option] of parse(text)) {
          assert.match(id, /^[a-z][a-z0-9-]*$/);
          assert.ok(Number.isInteger(option) && option >= 0);
        }
      },
    ),
  );
});
