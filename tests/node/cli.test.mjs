// The command line as a CI meets it: its status, its sentences about bad input, its files.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inflateSync } from "node:zlib";
import { loadPosenc } from "posenc";
import { posenc } from "./command.mjs";

const core = await loadPosenc();
const folder = await mkdtemp(join(tmpdir(), "posenc-cli-"));
after(() => rm(folder, { recursive: true }));
const LLAMA = {
  model_type: "llama",
  hidden_size: 4096,
  num_attention_heads: 32,
  max_position_embeddings: 4096,
};

test("without errors the status is 0, with errors 1, called wrongly 2", async () => {
  const status = async (args, input) => (await posenc(args, input)).status;
  const good = JSON.stringify({ ...LLAMA, rope_theta: 10000 });
  const bad = JSON.stringify({
    ...LLAMA,
    rope_theta: 10000,
    rope_scaling: { type: "linear", factor: 0.125 },
  });
  assert.equal(await status(["inspect", "-"], good), 0);
  assert.equal(await status(["inspect", "-"], bad), 1);
  assert.equal(await status(["inspect", "-", "--json"], bad), 1);
  assert.equal(await status(["inspect", "-", "--markdown"], bad), 1);
  assert.equal(await status(["inspect", "-"], "not JSON"), 1);
  assert.equal(await status([]), 2);
  assert.equal(await status(["inspekt"]), 2);
  assert.equal(await status(["inspect"]), 2);
  assert.equal(await status(["inspect", "a", "b"]), 2);
  assert.equal(await status(["inspect", "-", "--seqlen", "5"], good), 2);
  assert.equal(await status(["inspect", "-", "--seq-len", "0"], good), 2);
  assert.equal(await status(["inspect", join(folder, "absent.json")]), 2);
  assert.equal(await status(["rope", "--head-dim", "7"]), 1);
  assert.equal(await status(["rope"]), 2);
  assert.equal(await status(["alibi", "--num-heads", "1.5"]), 2);
  assert.equal(await status(["t5", "--max-distance", "3"]), 2);
});

test("a sentence names the option and the rule, without a stack", async () => {
  const said = async (...args) => {
    const { stderr, stdout } = await posenc(args);
    assert.equal(stdout, "");
    assert.ok(!/\n\s+at /.test(stderr), stderr);
    return stderr;
  };
  assert.match(await said("inspekt"), /^posenc: "inspekt" is no command: inspect, table, rope, alibi, t5\n$/);
  assert.match(await said("alibi"), /^posenc: --num-heads is needed\n$/);
  assert.match(await said("table", "--d-model", "8", "--base", "ten"), /--base must be a number; got "ten"/);
  assert.match(
    await said("table", "--d-model", "8", "--layout", "odd"),
    /--layout must be one of interleaved, halves/,
  );
  assert.match(await said("table", "--d-modle", "8"), /Unknown option '--d-modle'/);
  assert.match(
    await said("inspect", join(folder, "absent.json")),
    /absent\.json cannot be read: no such file/,
  );
  assert.match(await said("inspect", folder), /cannot be read: a folder, not a file/);
  assert.match(await said("t5", "--max-distance", "3"), /max_distance/);
  assert.match(await said("inspect", "--preset", "Llama-9"), /--preset must be one of "Llama-2-7B"/);
});

test("a syntax error is told with line and column", async () => {
  const text = '{\n  "rope_theta": 10000,\n  "rope_scaling": {"type": "linear" "factor": 2}\n}\n';
  const { stdout, status } = await posenc(["inspect", "-"], text);
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^stdin:3:37: error not-json\n {4}not JSON: "\\"" stands where "," or "}" is wanted\.\n/,
  );
});

test("what is asked for twice, in two ways or beyond all bounds is refused, and soon", async () => {
  const [config, huge] = ["asked.json", "huge.json"].map((name) => join(folder, name));
  await writeFile(huge, "[[1e400, 2]]");
  await writeFile(config, JSON.stringify({ ...LLAMA, rope_theta: 10000 }));
  const begin = performance.now();
  for (const [args, sentence] of [
    [
      ["inspect", config, "--json", "--markdown"],
      /one of --json, --markdown and --snippet at a time; got --json/,
    ],
    [["rope", "--config", config, "--head-dim", "64"], /either --config or --head-dim/],
    [["rope", "--config", config, "--factor", "2"], /either --config or --factor/],
    [
      ["inspect", config, "--seq-len", "-1"],
      /a value that begins with a dash is written like this: --seq-len=-1\n$/,
    ],
    [
      ["table", "--d-model", "8", "--seq-len", "1000000000"],
      /--seq-len 1000000000 with 8 numbers for each position makes 8000000000 numbers: at most 16777216 are written as csv; \.npy takes 134217728/,
    ],
    [["rope", "--head-dim", "128", "--what", "cos", "--seq-len", "1e12"], /--seq-len 1000000000000 with 128/],
    [["t5", "--from=4294967295", "--to=4294967295"], /below 2\^31 in size/],
    [
      [..."rope --head-dim 8 --what cos --mrope-section 1.5,1.5,1 --positions 1;2;3".split(" ")],
      /--mrope-section must be whole numbers below 2\^31; got 1\.5, 1\.5, 1/,
    ],
    [
      [..."rope --head-dim 8 --what cos --mrope-section 4294967297,1,2 --positions 1;2;3".split(" ")],
      /--mrope-section must be whole numbers below 2\^31; got 4294967297/,
    ],
    [
      [..."rope --head-dim 8 --what cos --mrope-section 1,1,2 --positions ;;".split(" ")],
      /--positions must be a number; got ""/,
    ],
    [["alibi", "--num-heads", "100000000"], /--num-heads 100000000 makes 100000000 numbers/],
    [
      ["alibi", "--num-heads", "3", "--seq-len", "5000"],
      /--num-heads 3 with --seq-len 5000 makes 75000000 numbers: at most 16777216 are written as csv/,
    ],
    [
      [..."table --d-model 2 --seq-len 67000000 --format png".split(" ")],
      /makes 134000000 numbers: at most 16777216 are written as png/,
    ],
    [["rope", "--what", "permutation", "--head-dim", "128", "--num-heads", "1e7"], /make 1280000000 numbers/],
    [["t5", "--q-len", "100000"], /--q-len 100000 with 100000 keys makes 10000000000 numbers/],
    [
      [..."rope --what softmax-scale --head-dim 4 --factor 1e308 --mscale 1e160".split(" ")],
      /mscale² is beyond the largest double/,
    ],
    [["alibi", "--num-heads", "2", "--causal"], /--causal says nothing without --seq-len/],
    [["t5", "--k-len", "2"], /--k-len says nothing without --q-len/],
    [["t5", "--q-len", "2", "--from", "1"], /either --q-len or --from/],
    [["rope", "--head-dim", "8", "--input", "x"], /--input says nothing without --what rotate/],
    [
      ["rope", "--head-dim", "8", "--mrope-layout", "chunked"],
      /--mrope-layout says nothing without --mrope-section/,
    ],
    [["alibi", "--num-heads", "2", "-o", "x.txt"], /--output must end in .* or --format say which.*"x\.txt"/],
    [["alibi", "--num-heads", "2", "-o", ""], /--output must name a file/],
    [["inspect", ""], /the file to be read has no name/],
    [
      ["rope", "--head-dim", "2", "--what", "rotate", "--seq-len", "1", "--input", huge],
      /must hold 1 lists, one per position, of head_dim = 2 finite numbers/,
    ],
    [
      ["t5", "--num-buckets", "2", "--q-len", "2", "--table", huge],
      /must hold 2 lists, one per bucket, of one finite number per head/,
    ],
    [["inspect", "\u001b[31mabsent"], /^posenc: \ufffd\[31mabsent cannot be read/],
  ]) {
    const { status, stderr } = await posenc(args);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, sentence);
  }
  assert.ok(performance.now() - begin < 30_000);
});

test("a full disk behind standard output is told in a sentence", {
  skip: !existsSync("/dev/full"),
}, async () => {
  const { spawn } = await import("node:child_process");
  const { CLI } = await import("./command.mjs");
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, [CLI, "alibi", "--num-heads", "8"], {
    stdio: ["ignore", full.fd, "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (part) => (errors += part));
  const status = await new Promise((resolve) => child.on("close", resolve));
  await full.close();
  assert.equal(errors, "posenc: standard output cannot be written: no space left\n");
  assert.equal(status, 2);
});

test("the heads of relative positions are numbers", async () => {
  const { stdout } = await posenc(["t5", "--from=-2", "--to=2"]);
  assert.equal(stdout.split("\r\n")[0], "-2,-1,0,1,2");
});

test("a file of 50 MB is refused at once, from disk and from standard input", async () => {
  const path = join(folder, "large.json");
  await (await open(path, "w")).close();
  await truncate(path, 50 * 2 ** 20);
  const begin = performance.now();
  const { stderr, status } = await posenc(["inspect", path]);
  assert.equal(status, 2);
  assert.match(stderr, /large\.json has 52428800 bytes; at most 4194304 are read/);
  const piped = await posenc(["inspect", "-"], Buffer.alloc(50 * 2 ** 20, 32));
  assert.equal(piped.status, 2);
  assert.match(piped.stderr, /- has more than 4194304 bytes/);
  assert.ok(performance.now() - begin < 20_000);
});

test("what is not UTF-8, and a config with control characters, cannot harm a terminal", async () => {
  const { stderr, status } = await posenc(["inspect", "-"], Buffer.of(0x7b, 0xff, 0x7d));
  assert.equal(status, 2);
  assert.match(stderr, /- is not text in UTF-8/);
  const text = JSON.stringify({
    ...LLAMA,
    rope_theta: 1e4,
    "rope_\u001b[31mred\u202e": 1,
    model_type: "\u001b]0;x\u0007\u009b",
  });
  for (const form of [[], ["--json"], ["--markdown"]]) {
    const { stdout } = await posenc(["inspect", "-", ...form], text);
    for (const sign of "\u001b\u0007\u009b\u202e") assert.ok(!stdout.includes(sign), form[0]);
    if (form[0] === "--json") assert.equal(JSON.parse(stdout).model[0].value, "\u001b]0;x\u0007\u009b");
  }
});

test("every command has a manual that names each of its options", async () => {
  const { stdout } = await posenc(["--help"]);
  const commands = [...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)]
    .map(([, name]) => name)
    .filter((name) => !/^\d/.test(name));
  assert.deepEqual(commands, ["inspect", "table", "rope", "alibi", "t5"]);
  for (const command of commands) {
    const manual = await posenc([command, "--help"]);
    assert.equal(manual.status, 0);
    for (const part of ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"]) {
      assert.match(manual.stdout, new RegExp(`^${part}$`, "m"), command);
    }
    assert.ok(
      manual.stdout.split("\n").every((line) => line.length <= 130),
      command,
    );
    const options = [...manual.stdout.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name);
    assert.ok(options.includes("help"));
    // each is accepted: what fails is a value, not a name
    const all = options
      .filter((name) => !["help", "presets"].includes(name))
      .flatMap((name) => [`--${name}`, "@"]);
    const { stderr, status } = await posenc([command, ...all]);
    assert.equal(status, 2);
    assert.ok(!/Unknown option/.test(stderr), `${command}: ${stderr}`);
  }
});

/** The array of an .npy file. */
function fromNpy(bytes) {
  const length = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + length).toString("latin1");
  const [, dtype] = header.match(/'descr': '(<f8|<f4|<i4)'/);
  const shape = header
    .match(/'shape': \(([^)]*)\)/)[1]
    .split(",")
    .filter((part) => part.trim())
    .map(Number);
  const data = bytes.buffer.slice(bytes.byteOffset + 10 + length, bytes.byteOffset + bytes.length);
  const kinds = { "<f8": Float64Array, "<f4": Float32Array, "<i4": Int32Array };
  return { shape, values: new kinds[dtype](data) };
}

test("the same table comes as NPY, CSV and JSON, to a file and to standard output", async () => {
  const expected = core.ropeInvFreq({ headDim: 16 }).invFreq;
  const { cos } = core.ropeCosSin(Float64Array.of(0, 1, 2), expected);
  const args = ["rope", "--head-dim", "16", "--what", "cos", "--seq-len", "3"];
  const path = join(folder, "cos.npy");
  assert.equal((await posenc([...args, "-o", path])).status, 0);
  assert.deepEqual(fromNpy(await readFile(path)), { shape: [3, 8], values: cos });
  assert.deepEqual(fromNpy((await posenc([...args, "--format", "npy"])).bytes), {
    shape: [3, 8],
    values: cos,
  });
  const narrow = fromNpy((await posenc([...args, "--format", "npy", "--dtype", "float32"])).bytes);
  assert.deepEqual(narrow.values, Float32Array.from(cos));
  const csv = (await posenc(args)).stdout.trim().split("\r\n").slice(1);
  assert.deepEqual(
    csv.flatMap((line) => line.split(",").slice(1).map(Number)),
    [...cos],
  );
  const json = JSON.parse((await posenc([...args, "--format", "json"])).stdout);
  assert.deepEqual(json, { name: "cos", shape: [3, 8], values: [...cos] });
});

test("a PNG holds the colours of its numbers", async () => {
  const path = join(folder, "alibi.png");
  assert.equal(
    (await posenc(["alibi", "--num-heads", "2", "--seq-len", "3", "--causal", "-o", path])).status,
    0,
  );
  const bytes = await readFile(path);
  assert.deepEqual([...bytes.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  assert.equal(width % 3, 0);
  assert.equal(height, 2 * width); // two heads, one below the other
  const length = bytes.readUInt32BE(33);
  const rows = inflateSync(bytes.subarray(41, 41 + length));
  const pixel = (x, y) => [
    ...rows.subarray(y * (4 * width + 1) + 1 + 4 * x, y * (4 * width + 1) + 5 + 4 * x),
  ];
  const cell = width / 3;
  const at = (row, col) => pixel(Math.floor((col + 0.5) * cell), Math.floor((row + 0.5) * cell));
  assert.equal(at(0, 1)[3], 0, "a masked key is clear");
  const lut = core.lut();
  const colour = (value, largest) => {
    const index = Math.min(255, Math.floor((256 * (value + largest)) / (2 * largest)));
    return [0, 8, 16, 24].map((shift) => (lut[index] >>> shift) & 255);
  };
  assert.deepEqual(at(2, 0), colour(-2 * 2 ** -4, 2 ** -3));
  assert.deepEqual(at(0, 0), colour(0, 2 ** -3));
});

test("what a program holds is compared and its mistake named", async () => {
  const config = join(folder, "config.json");
  const held = join(folder, "held.json");
  await writeFile(config, JSON.stringify({ ...LLAMA, rope_theta: 500000 }));
  const fallen = core.ropeInvFreq({ headDim: 128 }).invFreq;
  await writeFile(held, JSON.stringify({ inv_freq: [...Float32Array.from(fallen)] }));
  const { status, stdout } = await posenc(["inspect", config, "--held", held]);
  assert.equal(status, 1);
  assert.match(stdout, /error held-default-theta inv_freq/);
  await writeFile(held, '{"inv_frequency": [1]}');
  const wrong = await posenc(["inspect", config, "--held", held]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /what is held has no field "inv_frequency"; it has inv_freq/);
});

test("every preset is inspected without an error and names its source", async () => {
  const { stdout } = await posenc(["inspect", "--presets"]);
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.length >= 26);
  for (let i = 0; i < lines.length; i += 2) {
    assert.match(lines[i + 1], /^ {4}\S.{10}/);
    assert.equal((await posenc(["inspect", "--preset", lines[i]])).status, 0, lines[i]);
  }
});

test("a reader that goes away early is no error", async () => {
  const { spawn } = await import("node:child_process");
  const { CLI } = await import("./command.mjs");
  const child = spawn(process.execPath, [CLI, "table", "--d-model", "512", "--seq-len", "2000"]);
  let errors = "";
  child.stderr.on("data", (part) => (errors += part));
  child.stdout.once("data", () => child.stdout.destroy());
  const status = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(errors, "");
  assert.equal(status, 0);
});
