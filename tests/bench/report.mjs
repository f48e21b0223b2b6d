// Results as text: lines for the terminal, BENCHMARKS.md, and the ratios that a later run is compared with.

const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toPrecision(2));

/** The limit that bounds a result, in its unit: bandwidth at the size of what is written, or the speed of x·y + z. */
function limitOf({ work }, limits) {
  if (work.limit === "multiplyAdd") return limits.multiplyAdd;
  const written = work.limit === "copy" ? work.amount / 2 : work.amount;
  const sizes = Object.keys(limits[work.limit]).map(Number);
  return limits[work.limit][sizes.find((bytes) => bytes >= written) ?? Math.max(...sizes)];
}

const share = (row, result, limits) =>
  `${Math.round((100 * row.rate) / limitOf(result, limits))} % of the limit`;

export function rowText(row, result, limits) {
  if (row.failed) return `${row.name}: failed, ${row.failed}`;
  const { unit } = result.work;
  const rate = `${digits(row.rate)} ${unit}`.padStart(10);
  const beside = row === result.rows[0] ? share(row, result, limits) : `×${digits(row.ratio)}`;
  return `${row.name.padEnd(30)} ${digits(row.ms).padStart(8)} ms ${rate}  ${beside}, error ${row.error.toPrecision(1)}`;
}

/** { "task size": { peer: ratio } }. */
export function compare(results) {
  return Object.fromEntries(
    results.map(({ task, size, rows }) => [
      `${task} ${size}`,
      Object.fromEntries(
        rows
          .slice(1)
          .filter(({ failed, name }) => !failed && !name.startsWith("posenc"))
          .map(({ name, ratio }) => [name, Number(ratio.toPrecision(3))]),
      ),
    ]),
  );
}

/** What fell by more than a quarter, in words. A peer that is not there any more says nothing. */
export function fell(recorded, now) {
  return Object.entries(now).flatMap(([row, peers]) =>
    Object.entries(peers)
      .filter(([peer, ratio]) => ratio < 0.75 * (recorded[row]?.[peer] ?? 0))
      .map(([peer, ratio]) => `${row}, ${peer}: ×${ratio}, recorded ×${recorded[row][peer]}`),
  );
}

const TITLES = {
  table: "Sinusoidal table (T, D)",
  ropeCache: "RoPE's cos and sin (T, d/2)",
  ropeInterleaved: "RoPE applied, interleaved pairs",
  ropeHalf: "RoPE applied, half-split pairs",
  attention: "Attention with its weights",
  attentionAlibi: "Attention with its weights and ALiBi",
  similarity: "Similarity of all rows",
  colors: "Colours",
  colorsTransposed: "Colours, transposed",
};

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function taskSection(task, results, limits, native) {
  const mine = results.filter((result) => result.task === task);
  const names = [...new Set(mine.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  const cell = (name) => (result) => {
    const row = result.rows.find((one) => one.name === name);
    if (!row) return "–";
    if (row.failed) return "failed";
    if (row !== result.rows[0]) return `×${digits(row.ratio)}`;
    return `${digits(row.ms)} ms, ${digits(row.rate)} ${result.work.unit}, ${share(row, result, limits)}`;
  };
  const nativeCell =
    ({ times }) =>
    (result) => {
      const ms = times[task]?.[result.size];
      return ms === undefined ? "–" : `×${digits(ms / result.rows[0].ms)}`;
    };
  const head = ["", ...mine.map(({ size, shape }) => `${size}: ${Object.entries(shape).flat().join(" ")}`)];
  const rows = [
    ...names.map((name) => [name, ...mine.map(cell(name))]),
    ...native
      .filter(({ times }) => times[task])
      .map((one) => [`${one.library} (native, another process)`, ...mine.map(nativeCell(one))]),
  ];
  return `## ${TITLES[task]}\n\n${table(head, rows)}\n`;
}

function limitsSection({ store, copy, multiplyAdd }) {
  const rows = Object.keys(store).map((bytes) => [bytes, digits(store[bytes]), digits(copy[bytes])]);
  return `## Limits

A multiplication and an addition of four floats, from registers: ${digits(multiplyAdd)} GF/s. GB/s by size, in bytes. Both are
measured, and can be passed: by what works in place and so reads nothing new, or beside a product that the processor
takes up while another is under way.

${table(["bytes", "SIMD store", "SIMD copy, read and written"], rows)}
`;
}

function chromiumSection(chromium) {
  if (!chromium) return "";
  const { version, rows } = chromium;
  const cells = rows.map(({ what, ms, ratio }) => [what, `${digits(ms)} ms`, `×${digits(ratio)}`]);
  return `## In Chromium ${version}

${table(["", "posenc", "optimised JavaScript"], cells)}
`;
}

function mapSection({ frames, drag }) {
  const maps = [...new Set(frames.map(({ map }) => map))];
  const across = [...new Set(frames.map(({ cells }) => cells))];
  const cell = (map, cells) => {
    const { ms, longest } = frames.find((row) => row.map === map && row.cells === cells);
    return `${ms.toFixed(1)} (${longest.toFixed(1)})`;
  };
  const head = ["cells across a pixel", ...across.map(String)];
  const rows = maps.map((map) => [map, ...across.map((cells) => cell(map, cells))]);
  const dragged = drag
    ? `\nDragged in Chromium ${drag.version}, ${drag.size.join(" × ")} pixels: ${drag.ms.toFixed(1)} ms from frame to frame, the longest ${drag.longest.toFixed(1)} ms.\n`
    : "";
  return `## The endless map

Milliseconds of the core for a frame of 1600 × 900 pixels, the median and, in brackets, the longest of sixty.

${table(head, rows)}
${dragged}`;
}

export function reportOf({ machine, versions, limits, results, native, chromium, map }) {
  const tasks = [...new Set(results.map(({ task }) => task))];
  const peers = [
    ...Object.entries(versions).filter(([name]) => !name.startsWith("posenc")),
    ...native.map(({ library, version }) => [`${library}, native`, version]),
  ];
  return `<!-- Written by npm run bench. -->
# Benchmarks

One thread on ${machine.cpu}, Node ${machine.node}, ${machine.date}; load ${machine.load}, this run's own
of about 1 included. ×n: takes n times as long as posenc with SIMD, measured in turn in one process; median ratios.
Rates count the operations or the bytes that the task needs at least, the same for everyone. posenc's inputs lie in
WebAssembly memory beforehand, as the others' lie in theirs, and its results are read where they are.

${peers.map(([name, version]) => `${name}: ${version}`).join(";\n")}.

${limitsSection(limits)}
${[...tasks.map((task) => taskSection(task, results, limits, native)), chromiumSection(chromium), mapSection(map)].filter(Boolean).join("\n")}`;
}
