// The readers of a stranger's file: right numbers from right files, and a sentence for every other sequence of bytes.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { runnerImport } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "../../web");
const load = async (name) =>
  (await runnerImport(join(web, name), { configFile: false, logLevel: "warn" })).module;
const { FIRST_BYTES, TableFileError, checkTable, headerBytes, preferred, readTable, tablesOf, tensorsIn } =
  await load("figures/table-file.ts");
const { toNpy } = await load("draw/npy.ts");

/** Reads a file as the figure does: first bytes, header, and the numbers of one table. */
function tensors(name, bytes) {
  const length = headerBytes(name, bytes.subarray(0, FIRST_BYTES), bytes.length);
  return tensorsIn(name, bytes.subarray(0, length), bytes.length);
}
function open(name, bytes) {
  const all = tensors(name, bytes);
  const tensor = preferred(tablesOf(all)) ?? all[0];
  checkTable(tensor);
  return readTable(tensor, bytes.subarray(tensor.begin, tensor.end));
}

const refuses = (name, bytes, sentence) =>
  assert.throws(
    () => open(name, bytes),
    (error) => {
      assert.ok(error instanceof TableFileError, `${error.name}: ${error.message}`);
      assert.match(error.message, sentence);
      return true;
    },
  );

const text = (string) => new TextEncoder().encode(string);
const concat = (...parts) => Uint8Array.from(Buffer.concat(parts));

function npy(header, data, version = 1) {
  const bytes = text(`${header}\n`);
  const length = version === 1 ? new Uint8Array(2) : new Uint8Array(4);
  const view = new DataView(length.buffer);
  if (version === 1) view.setUint16(0, bytes.length, true);
  else view.setUint32(0, bytes.length, true);
  return concat(Uint8Array.of(0x93), text("NUMPY"), Uint8Array.of(version, 0), length, bytes, data);
}
const dict = (descr, fortran, shape) =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': (${shape}), }`;

function safetensors(header, data = new Uint8Array()) {
  const json = text(typeof header === "string" ? header : JSON.stringify(header));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true);
  return concat(length, json, data);
}

/** The numbers as bytes of a type, both byte orders. */
function encode(values, dtype, little = true) {
  const size = { f2: 2, bf16: 2, f4: 4, f8: 8 }[dtype];
  const bytes = new Uint8Array(values.length * size);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    const at = i * size;
    if (dtype === "f8") view.setFloat64(at, value, little);
    else if (dtype === "f4") view.setFloat32(at, value, little);
    else if (dtype === "f2") view.setUint16(at, HALVES.get(value), little);
    else view.setUint16(at, new Uint32Array(Float32Array.of(value).buffer)[0] >>> 16, little);
  });
  return bytes;
}
// Python: numpy.array(value, dtype="<f2").view("<u2")
const HALVES = new Map([
  [0, 0x0000],
  [1, 0x3c00],
  [-2, 0xc000],
  [65504, 0x7bff],
  [2 ** -14, 0x0400],
  [2 ** -24, 0x0001],
  [Number.POSITIVE_INFINITY, 0x7c00],
  [0.333251953125, 0x3555],
]);
const VALUES = [0, 1, -2, 65504, 2 ** -14, 0.333251953125];

test("every type, byte order and version of .npy gives the same numbers", () => {
  for (const dtype of ["f2", "f4", "f8"]) {
    for (const order of ["<", ">"]) {
      for (const version of [1, 2, 3]) {
        const file = npy(dict(order + dtype, "False", "2, 3"), encode(VALUES, dtype, order === "<"), version);
        const table = open("a.npy", file);
        assert.deepEqual([table.rows, table.columns], [2, 3]);
        assert.deepEqual([...table.values], VALUES.map(Math.fround), `${order}${dtype} ${version}`);
      }
    }
  }
});

test("Fortran order is read column by column", () => {
  const table = open("a.npy", npy(dict("<f4", "True", "2, 3"), encode([1, 4, 2, 5, 3, 6], "f4")));
  assert.deepEqual([...table.values], [1, 2, 3, 4, 5, 6]);
});

test("half precision has its smallest, largest and infinite numbers", () => {
  const values = [2 ** -24, Number.POSITIVE_INFINITY];
  const table = open("a.npy", npy(dict("<f2", "False", "1, 2"), encode(values, "f2")));
  assert.deepEqual([...table.values], values);
  assert.equal(table.infinities, 1);
});

test("entries that are not numbers are counted, and float64 beyond float32 is infinite", () => {
  const table = open(
    "a.npy",
    npy(dict("<f8", "False", "2, 2"), encode([Number.NaN, 1, 1e300, Number.NaN], "f8")),
  );
  assert.deepEqual([table.nans, table.infinities], [2, 1]);
});

test("what toNpy writes is what is read", () => {
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 7 })
        .chain((rows) =>
          fc
            .integer({ min: 1, max: 7 })
            .chain((columns) =>
              fc.tuple(
                fc.constant([rows, columns]),
                fc.constantFrom(Float32Array, Float64Array),
                fc.array(fc.float({ noNaN: true }), { minLength: rows * columns, maxLength: rows * columns }),
              ),
            ),
        ),
      ([shape, Kind, numbers]) => {
        const table = open("a.npy", toNpy({ name: "a", shape, values: Kind.from(numbers) }));
        assert.deepEqual([table.rows, table.columns], shape);
        assert.deepEqual(table.values, Float32Array.from(numbers));
      },
    ),
    { seed: 1 },
  );
});

const bert = () =>
  safetensors(
    {
      __metadata__: { format: "pt" },
      "embeddings.position_ids": { dtype: "I64", shape: [1, 2], data_offsets: [0, 16] },
      "embeddings.word_embeddings.weight": { dtype: "F32", shape: [1, 2], data_offsets: [16, 24] },
      "embeddings.position_embeddings.weight": { dtype: "BF16", shape: [2, 2], data_offsets: [24, 32] },
      bias: { dtype: "F64", shape: [1], data_offsets: [32, 40] },
    },
    concat(new Uint8Array(16), encode([7, 8], "f4"), encode([1, -2, 0.5, 3], "bf16"), encode([9], "f8")),
  );

test("of a .safetensors file the table of positions comes first, and position_ids is not one", () => {
  assert.deepEqual([...open("model.safetensors", bert()).values], [1, -2, 0.5, 3]);
  const tables = tablesOf(tensors("model.safetensors", bert()));
  assert.deepEqual(
    tables.map(({ name }) => name),
    ["embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"],
  );
  const wpe = [{ name: "wte.weight" }, { name: "wpe.weight" }];
  assert.equal(preferred(wpe).name, "wpe.weight");
  assert.equal(preferred([{ name: "a" }, { name: "b" }]), undefined);
});

test("all four types of .safetensors are read", () => {
  for (const [name, dtype] of Object.entries({ F16: "f2", F32: "f4", F64: "f8", BF16: "bf16" })) {
    const data = encode([0, 1, -2, 1], dtype);
    const file = safetensors({ t: { dtype: name, shape: [2, 2], data_offsets: [0, data.length] } }, data);
    assert.deepEqual([...open("t.safetensors", file).values], [0, 1, -2, 1], name);
  }
});

test("each fault of an .npy file has its sentence", () => {
  const data = encode([1, 2, 3, 4], "f4");
  const good = npy(dict("<f4", "False", "2, 2"), data);
  const header = (string, sentence) => refuses("a.npy", npy(string, data), sentence);
  refuses("a.pt", good, /^File name: must end in \.npy or \.safetensors, got “a\.pt”$/);
  refuses("a.npy", good.subarray(0, 9), /^Magic: an \.npy file has at least 10 bytes, this one has 9$/);
  refuses("a.npy", bert(), /^Magic: an \.npy file begins with \\x93NUMPY$/);
  refuses(
    "a.npy",
    concat(good.subarray(0, 6), Uint8Array.of(4, 0), good.subarray(8)),
    /^Version: .* got 4\.0$/,
  );
  refuses(
    "a.npy",
    good.subarray(0, 30),
    /^Header: \d+ bytes are announced, but the file ends after 30 bytes$/,
  );
  refuses(
    "a.npy",
    good.subarray(0, -1),
    /^Data: shape \(2, 2\) of F32 takes 16 bytes, the file holds 15 for it$/,
  );
  header(dict("<i8", "False", "2, 2"), /^Header: dtype must be f2, f4 or f8, got “<i8”$/);
  header(dict("|O", "False", "2, 2"), /^Header: dtype must be/);
  header(dict("<constructor", "False", "2, 2"), /^Header: dtype must be/);
  header(dict("<f4", "False", "4,"), /^Tensor “a\.npy”: must have two dimensions, got 1, shape \(4,\)$/);
  header(dict("<f4", "False", "1, 2, 2"), /got 3, shape \(1, 2, 2\)$/);
  header(dict("<f4", "False", "-2, -2"), /^Header: must be a Python dict/);
  header(dict("<f4", "False", "2,, 2"), /^Header: shape must hold whole numbers/);
  header(dict("<f4", "0", "2, 2"), /^Header: must be a Python dict, got “0, 'shape'/);
  header("{'descr': '<f4', 'shape': (2, 2)}", /^Header: the key 'fortran_order' is missing$/);
  header("{'descr': '<f4', 'descr': '<f4'}", /^Header: the key “descr” stands there twice$/);
  header("{'descr': '<f4', 'rows': '2'}", /^Header: unknown key “rows”$/);
  header("__import__('os')", /^Header: must be a Python dict, got “__import__/);
  refuses(
    "a.npy",
    npy(dict("<f4", "False", "0, 2"), new Uint8Array()),
    /must not be empty, got shape \(0, 2\)$/,
  );
});

test("each fault of a .safetensors file has its sentence", () => {
  const file = (header, sentence, data = new Uint8Array(16)) =>
    refuses("a.safetensors", safetensors(header, data), sentence);
  const t = { dtype: "F32", shape: [2, 2], data_offsets: [0, 16] };
  refuses("a.safetensors", new Uint8Array(7), /^Header length: .* begins with 8 bytes, this one has 7$/);
  const huge = new Uint8Array(64).fill(255);
  refuses("a.safetensors", huge, /^Header length: must be at most 100000000 bytes, got \d+$/);
  refuses(
    "a.safetensors",
    safetensors({ t }).subarray(0, 20),
    /^Header: \d+ bytes are announced, but the file/,
  );
  file("[1]", /^Header: must begin with \{$/);
  file("{1}", /^Header: must be JSON$/);
  file("{}", /^Header: names no tensor$/);
  file({ t: 5 }, /^Tensor “t”: must be an object$/);
  file({ t: { dtype: "F32", shape: [2, 2] } }, /^Tensor “t”: data_offsets is missing$/);
  file(
    { t: { ...t, dtype: "I64", data_offsets: [0, 16] } },
    /^Tensor “t”: dtype must be F16, BF16, F32 or F64, got “I64”$/,
  );
  file({ t: { ...t, dtype: "toString" } }, /^Tensor “t”: dtype must be/);
  file({ t: { ...t, shape: [2.5, 2] } }, /^Tensor “t”: shape must be a list of whole numbers$/);
  file(
    { t: { ...t, shape: [2, 3] } },
    /^Tensor “t”: shape \(2, 3\) of F32 takes 24 bytes, the file holds 16 for it$/,
  );
  file({ t: { ...t, data_offsets: [16, 0] } }, /data_offsets must not run backwards, got 16 to 0$/);
  file({ t: { ...t, data_offsets: [0, -1] } }, /data_offsets must be two whole numbers$/);
  file({ t: { ...t, data_offsets: [8, 24] } }, /data_offsets end at 24, but the file has 16 bytes of data$/);
  file(
    { t, u: { ...t, shape: [1, 2], data_offsets: [4, 12] } },
    /^Tensor “u”: its data overlap those of “t”$/,
  );
  file({ t: { ...t, shape: [16], data_offsets: [0, 16], dtype: "U8" } }, /^Tensor “t”: dtype must be/);
  file({ t: { ...t, shape: [4] } }, /must have two dimensions, got 1, shape \(4,\)$/);
});

test("a table beyond 2^22 cells is refused with its size, before its numbers are read", () => {
  const header = { t: { dtype: "F16", shape: [4096, 1025], data_offsets: [0, 4096 * 1025 * 2] } };
  const bytes = safetensors(header);
  const size = bytes.length + 4096 * 1025 * 2;
  const [tensor] = tensorsIn("a.safetensors", bytes, size);
  assert.throws(() => checkTable(tensor), {
    name: "TableFileError",
    message: "Tensor “t”: must have at most 4194304 cells, got 4096 × 1025 = 4198400",
  });
});

test("hostile names reach no prototype", () => {
  const t = '{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}';
  const header = `{"__proto__":${t},"constructor":{"prototype":1,"dtype":"F32","shape":[0,0],"data_offsets":[16,16]}}`;
  const all = tensors("a.safetensors", safetensors(header, new Uint8Array(16)));
  assert.deepEqual(
    all.map(({ name }) => name),
    ["__proto__", "constructor"],
  );
  assert.equal({}.dtype, undefined);
  refuses(
    "a.safetensors",
    safetensors('{"t":{"__proto__":{"dtype":"F32"}}}'),
    /^Tensor “t”: dtype is missing$/,
  );
});

/** Opens or refuses; anything else is a fault. */
function opensOrRefuses(name, bytes) {
  try {
    open(name, bytes);
  } catch (error) {
    assert.ok(error instanceof TableFileError, error.stack);
    assert.match(error.message, /^[A-Z]/);
  }
}

const good = {
  "a.npy": npy(dict("<f4", "False", "2, 2"), encode([1, 2, 3, 4], "f4")),
  "a.safetensors": bert(),
};

test("a file cut at any byte is refused by name", () => {
  for (const [name, bytes] of Object.entries(good)) {
    for (let length = 0; length < bytes.length; length++) refuses(name, bytes.subarray(0, length), /^[A-Z]/);
  }
});

test("a file with any bit flipped is opened or refused by name", () => {
  for (const [name, bytes] of Object.entries(good)) {
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] ^= 1 << (bit & 7);
      opensOrRefuses(name, flipped);
    }
  }
});

test("any bytes, any header and any edit of a good file are opened or refused by name", () => {
  const seed = 20;
  const name = fc.constantFrom("a.npy", "a.safetensors", "a.NPY", "b");
  fc.assert(fc.property(name, fc.uint8Array({ maxLength: 200 }), opensOrRefuses), { seed, numRuns: 2000 });
  const json = fc.json({ maxDepth: 5 });
  fc.assert(
    fc.property(json, (header) => opensOrRefuses("a.safetensors", safetensors(header, new Uint8Array(64)))),
    { seed, numRuns: 1000 },
  );
  const odd = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.constant(null),
    fc.array(fc.maxSafeInteger()),
  );
  const entry = fc.record({ dtype: fc.oneof(fc.constant("F32"), odd), shape: odd, data_offsets: odd });
  const entries = fc.dictionary(fc.string(), entry);
  fc.assert(
    fc.property(entries, (header) =>
      opensOrRefuses("a.safetensors", safetensors(header, new Uint8Array(64))),
    ),
    { seed, numRuns: 1000 },
  );
  const piece = fc.constantFrom(
    "{",
    "}",
    "'",
    '"',
    "(",
    ")",
    ",",
    ":",
    "descr",
    "shape",
    "<f4",
    "True",
    "9",
    " ",
    "\\",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) =>
      opensOrRefuses("a.npy", npy(pieces.join(""), new Uint8Array(16))),
    ),
    { seed, numRuns: 2000 },
  );
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat({ max: 9 }),
    insert: fc.uint8Array({ maxLength: 9 }),
  });
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(good)), edit, (file, { at, remove, insert }) => {
      const bytes = good[file];
      const place = at % bytes.length;
      opensOrRefuses(file, concat(bytes.subarray(0, place), insert, bytes.subarray(place + remove)));
    }),
    { seed, numRuns: 2000 },
  );
});

test("a header of a megabyte without an end is refused within a second", () => {
  const start = performance.now();
  for (const filler of ["'", "(", "9", "'a':True,", " ", "{", "["]) {
    const header = `{${filler.repeat(2 ** 20 / filler.length)}`;
    opensOrRefuses("a.npy", npy(header, new Uint8Array(), 2));
    opensOrRefuses("a.safetensors", safetensors(header));
  }
  assert.ok(performance.now() - start < 7000);
});

test("what no file may hold is refused before it costs time, and without a number that is none", () => {
  const data = new Uint8Array(4);
  const many = Object.fromEntries(Array.from({ length: 400_000 }, (_, i) => [`a${i}`, {}]));
  const begin = performance.now();
  refuses(
    "a.safetensors",
    safetensors(many),
    /^Header: must name at most 100000 tensors, holds 400001 objects$/,
  );
  const long = npy(
    `{'descr': '<f4', 'fortran_order': False, 'shape': (${"1, ".repeat(100_000)}), }`,
    data,
    2,
  );
  refuses("a.npy", long, /^Header length: must be at most 65536 bytes, got \d+$/);
  assert.ok(performance.now() - begin < 1000);
  const vast = dict("<f4", "False", `${"9007199254740991, ".repeat(40)}0`);
  refuses("a.npy", npy(vast, data), /takes 0 bytes, the file holds 4 for it$/);
  const wide = dict("<f4", "False", "9007199254740991, 9007199254740991");
  refuses("a.npy", npy(wide, data), /takes more than 2\^53 bytes, the file holds 4 for it$/);
  const tensor = '{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}';
  refuses("a.safetensors", safetensors(`{"w":${tensor},"w":${tensor}}`, data), /stands there twice$/);
  refuses("a.txt\u200b\u202e", data, /^File name: must end in .*, got “a\.txt\ufffd\ufffd”$/);
});
