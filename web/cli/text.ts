// An inspection as text for a terminal: findings as a linter prints them, then what was read, then the numbers.

import type { Finding } from "../inspect/finding.ts";
import { type Report, type RopeReport, turnSentence } from "../inspect/report.ts";
import { significant, tally, visible } from "../inspect/words.ts";

/** file:line:column: severity id key: sentence. */
export function sentence(
  file: string,
  finding: Pick<Finding, "id" | "severity" | "key" | "does" | "should" | "reports"> & {
    at?: Finding["at"];
    line?: number | null;
    column?: number | null;
  },
): string {
  const line = finding.at?.line ?? finding.line;
  const column = finding.at?.column ?? finding.column;
  const place = typeof line === "number" ? `${file}:${line}:${column}` : file;
  return visible(
    [
      `${place}: ${finding.severity} ${finding.id}${finding.key ? ` ${finding.key}` : ""}`,
      `    ${finding.does}.`,
      ...(finding.should ? [`    Should be: ${finding.should}.`] : []),
      ...(finding.reports.length > 0 ? [`    Resembles ${finding.reports.join(", ")}.`] : []),
    ].join("\n"),
  );
}

const shown = (value: unknown): string =>
  Array.isArray(value) && value.length > 4 ? `${value.length} numbers` : String(value);

function valueLines(values: Report["model"]): string[] {
  const rows = values.filter(({ value }) => value !== null);
  const name = Math.max(0, ...rows.map((row) => row.name.length));
  const width = Math.max(0, ...rows.map(({ value }) => shown(value).length));
  return rows.map(
    ({ name: label, value, key, why }) =>
      `  ${label.padEnd(name)}  ${shown(value).padEnd(width)}  ${key ?? `(${why})`}`,
  );
}

/** Nine pairs, evenly spread, or all. */
function pairLines(rope: RopeReport, all: boolean): string[] {
  const step = all ? 1 : Math.max(1, Math.ceil((rope.pairs.length - 1) / 8));
  const cells = rope.pairs
    .filter((_, i) => i % step === 0 || i === rope.pairs.length - 1)
    .map(({ pair, inv_freq, wavelength, turns, unreached, resolution }) => [
      String(pair),
      String(inv_freq),
      wavelength === null ? "∞" : significant(wavelength),
      turns === null ? "?" : significant(turns),
      unreached ? `${significant(unreached[0])}–${significant(unreached[1])}` : "",
      significant(resolution),
    ]);
  const head = ["pair", "inv_freq", "wavelength", "turns", "unreached rad", `|Δcos| at ${rope.distance}`];
  return inColumns([head, ...cells]);
}

const inColumns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd());
};

/** The config's own scaling beside the others, at five pairs. */
function scalingLines({ scalings, seq_len: seqLen }: RopeReport): string[] {
  const plain = scalings.find(({ rope_type }) => rope_type === "default")?.inv_freq ?? [];
  const pairs = [...new Set([0, 1, 2, 3, 4].map((part) => Math.round((part * (plain.length - 1)) / 4)))];
  const rows = scalings
    .filter(({ rope_type }) => rope_type !== "default")
    .map(({ rope_type, own, factor, attention_factor, inv_freq }) => [
      `${rope_type}${own ? " (this config)" : ""}`,
      significant(factor),
      significant(attention_factor),
      ...pairs.map((pair) => (inv_freq[pair] ? significant((plain[pair] ?? 0) / inv_freq[pair]) : "still")),
    ]);
  if (rows.length === 0) return [];
  return [
    "",
    `  times slower than unscaled, at ${seqLen} positions`,
    ...inColumns([["", "factor", "attention", ...pairs.map((pair) => `pair ${pair}`)], ...rows]),
  ];
}

function ropeLines(rope: RopeReport, all: boolean): string[] {
  return [
    "",
    `RoPE of ${rope.layers}`,
    ...valueLines(rope.values),
    "",
    `  attention factor ${rope.attention_factor}, which multiplies cos and sin; the turned part of scores by its square`,
    `  ${turnSentence(rope)}${rope.trained_length === null ? "" : `; unreached phases are those that ${rope.seq_len} positions reach and training did not`}`,
    ...pairLines(rope, all),
    ...scalingLines(rope),
    "",
    `  at position ${rope.position}`,
    ...rope.precision.map(
      ({ format, held, error, error_of_result: result, first_shared_position: first }) =>
        `  ${format.padEnd(8)}  is ${held ?? "out of range"}, ${error === null ? "no cos and sin are left" : `cos and sin off by ${significant(error)}`} (${result === null ? "?" : significant(result)} if only they are rounded); position ${first} is the first that becomes another`,
    ),
    ...rope.lengths
      .slice(0, 32)
      .map(
        ({ seq_len, max_seq_len_cached: cached, inv_freq }) =>
          `  sequence of ${seq_len}: slowest inv_freq ${inv_freq.at(-1)}${cached === null ? "" : `, for ${cached} positions`}`,
      ),
  ];
}

export function terminal(report: Report, file: string, allPairs: boolean): string {
  const lines = [
    ...report.findings.map((finding) => sentence(file, finding)),
    ...(report.model.length > 0 ? ["", "Model", ...valueLines(report.model)] : []),
    ...(report.softmax_scale === null ? [] : ["", `  scores are multiplied by ${report.softmax_scale}`]),
    ...report.ropes.flatMap((rope) => ropeLines(rope, allPairs)),
    ...(report.slopes
      ? [
          "",
          `ALiBi slopes: ${report.slopes.slice(0, 16).map(significant).join(", ")}${report.slopes.length > 16 ? " …" : ""}`,
        ]
      : []),
    "",
    tally(report.counts),
    "",
  ];
  return visible(lines.join("\n"));
}
