// Values that nobody meant, and how many of each kind the tests try. A test that tries a kind asserts that it has tried
// as many as stand here; tests/node/hostile.test.mjs adds them up.

import fc from "fast-check";

/** How many hostile values each kind of test tries. Those of pages are tried so often in each of the three engines. */
export const COUNTS = {
  node: {
    "calls of the typed API": 60_000,
    "calls of the trainer": 12_000,
    "texts for attributes": 60_000,
    "addresses of embed.html": 15_000,
    "addresses of the lesson": 15_000,
    "bytes of files": 12_000,
    "command lines": 400,
  },
  browser: {
    "attributes of figures": 900,
    "saved states": 9_000,
    "keys of addresses": 1_000,
    properties: 800,
    "files and pasted texts": 400,
    messages: 2_000,
  },
};

/** Texts that have broken programs before: numbers that are none, names of Object.prototype, markup, broken Unicode. */
export const TEXTS = [
  ..."NaN,Infinity,-Infinity,-0,0,1e400,-1e400,1e-400,1e308,5e-324,9007199254740993,0x10,0b11,1_000,1e3".split(
    ",",
  ),
  ..."1.5,0.1,-1,2147483648,4294967296,١٢,½,true,false,on,null,undefined,[object Object],NaN px,1;2,1 2".split(
    ",",
  ),
  ..."__proto__,constructor,prototype,toString,hasOwnProperty,valueOf,then,style,onclick,is,src,href".split(
    ",",
  ),
  ...["", " ", "\t\n", "\u00a0", " 5 ", "+5", "5.", ".5", "1,5", "\ufeff5", "\u0000", "5\u0000", "\u202e5"],
  ...["\u2066a\u2069", "\ud800", "\udfff\ud800", "e\u0301", "👩‍👩‍👧", "ǆ", "İ", "ß", "\u2028", "\u001b[31m"],
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "</style><svg onload=alert(1)>",
  '"><b id=injected>',
  "javascript:alert(1)",
  "&lt;b&gt;&#0;&amp",
  "#{7*7}{{7*7}}",
  "%00%ff%zz",
  "../../../etc/passwd",
  "'; --",
  "x".repeat(5_000),
  "9".repeat(400),
  `1e${"9".repeat(50)}`,
  "a ".repeat(2_000),
  "(".repeat(3_000),
];

export const texts = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((c) => String.fromCharCode(c)) }),
  },
  { weight: 2, arbitrary: fc.double().map(String) },
  { weight: 2, arbitrary: fc.integer().map(String) },
);

/** Texts for one field of a figure, as web/figures/state.ts has them: as often near its bounds as far from any. */
export function textsFor(field) {
  const near = {
    integer: () => [
      field.min,
      field.max,
      field.min - 1,
      field.max + 1,
      field.min + 0.5,
      -field.max,
      field.fallback,
    ],
    number: () => [field.min, field.max, field.min / 2, field.max * 2, -field.max, 5e-324, field.fallback],
    choice: () => [
      ...field.choices,
      field.choices[0]?.toUpperCase(),
      `${field.choices[0]} `,
      field.choices.join(),
    ],
    flag: () => ["true", "false", "1", "0", "", "TRUE", "yes", "2"],
    text: () => ["x".repeat(field.maxLength), "x".repeat(field.maxLength + 1), field.fallback, "the the the"],
  }[field.kind]();
  const within =
    field.kind === "integer"
      ? fc
          .integer({ min: Math.max(field.min, -(2 ** 31)), max: Math.min(field.max, 2 ** 31 - 1) })
          .map(String)
      : field.kind === "number"
        ? fc.double({ min: field.min, max: field.max, noNaN: true }).map(String)
        : texts;
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...near.map(String)) },
    { weight: 2, arbitrary: within },
    { weight: 3, arbitrary: texts },
  );
}

/** Any JavaScript value, as a caller without types may hand it in. */
export const values = fc.oneof(
  { weight: 3, arbitrary: fc.double() },
  { weight: 3, arbitrary: fc.integer() },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, -1, 0.5, 8.9, 5e-324, 1e308],
      ...[2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53, 2 ** 53 + 2, 1000, 65_536],
      ...[null, undefined, true, false, 8n, Symbol("hostile"), () => 1, new Date(0), /x/, new Map()],
      ...[{}, [], [8], { valueOf: () => 8 }, { toString: () => "8" }, Object.create(null), new Number(8)],
      ...[
        Object.freeze({ __proto__: { seqLen: 4, dModel: 4, headDim: 4 } }),
        new String("rope"),
        new Proxy({}, {}),
      ],
      ...[
        new Float32Array(3),
        new Float64Array(3),
        new Int32Array(3),
        new Uint8Array(3),
        new BigInt64Array(3),
      ],
      ...[
        new Float64Array(0),
        new Float64Array([Number.NaN, 1e308, -0, 5e-324]),
        new Int32Array([-1, 2 ** 30, 7]),
      ],
      ...[new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), new Float32Array(new SharedArrayBuffer(16))],
      ...[Object.create(Float64Array.prototype), new (class extends Float64Array {})(4)],
    ),
  },
  { weight: 2, arbitrary: texts },
);

const owned = (object) => JSON.stringify(Reflect.ownKeys(object).map(String));

/** What a hostile value must leave as it was: the prototypes that all objects share. */
export const prototypes = () =>
  [Object, Array, Function, String, Number, Promise, Map].map((kind) => owned(kind.prototype)).join();

/** The longest of the runs that are timed with it, for the report: nothing is held to it. */
export function stopwatch() {
  let longest = { milliseconds: 0, what: "" };
  return {
    run(what, work) {
      const start = performance.now();
      try {
        return work();
      } finally {
        const milliseconds = performance.now() - start;
        if (milliseconds > longest.milliseconds) longest = { milliseconds, what: what() };
      }
    },
    get longest() {
      return longest;
    },
  };
}
