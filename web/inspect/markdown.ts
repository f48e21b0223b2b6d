// The report as Markdown, to paste into a bug report.

import { type Report, type RopeReport, turnSentence, type valuesOf } from "./report.ts";
import { significant, tally, visible } from "./words.ts";

/** Text of the config inside a table or a sentence: no cell, line or tag may end early. */
const safe = (text: string): string =>
  visible(text.replace(/\s+/g, " ")).replace(/[\\|`<>*_[\]~]/g, (sign) => `\\${sign}`);
const code = (text: string): string => `\`${visible(text.replace(/\s+/g, " ")).replace(/`/g, "'")}\``;
const codeCell = (text: string): string => code(text).replace(/\|/g, "\\|");

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length > 6 ? `${value.length} numbers` : value.join(", ");
  return String(value);
}

const valueRows = (values: ReturnType<typeof valuesOf>): string[] => [
  ...["| value | is | from |", "|---|---|---|"],
  ...values
    .filter(({ value }) => value !== null)
    .map(
      ({ name, value, key, why }) =>
        `| ${code(name)} | ${safe(shown(value))} | ${key ? codeCell(key) : safe(why ?? "")} |`,
    ),
];

/** At most nine pairs, evenly spread, the last among them. */
const someOf = <T>(list: readonly T[]): T[] => {
  const step = Math.max(1, Math.ceil((list.length - 1) / 8));
  return list.filter((_, i) => i % step === 0 || i === list.length - 1);
};

function ropeSection(rope: RopeReport): string[] {
  const [first = "", ...rest] = turnSentence(rope);
  return [
    `## RoPE of ${safe(rope.layers)}`,
    "",
    ...valueRows(rope.values),
    "",
    `Attention factor ${rope.attention_factor} on cos and sin. ${first.toUpperCase()}${rest.join("")}.`,
    "",
    `| pair | inv_freq | wavelength | turns | unreached phases at ${rope.seq_len} positions |`,
    "|---|---|---|---|---|",
    ...someOf(rope.pairs).map(
      ({ pair, inv_freq, wavelength, turns, unreached }) =>
        `| ${pair} | ${inv_freq} | ${wavelength === null ? "∞" : significant(wavelength)} | ${turns === null ? "" : significant(turns)} | ${unreached ? `${significant(unreached[0])} to ${significant(unreached[1])} rad` : ""} |`,
    ),
    "",
    `| format | position ${rope.position} is | error of cos and sin | first position that becomes another |`,
    "|---|---|---|---|",
    ...rope.precision.map(
      ({ format, held, error, first_shared_position: first }) =>
        `| ${format} | ${held ?? "out of range"} | ${error === null ? "none is left" : significant(error)} | ${first} |`,
    ),
    "",
  ];
}

export function markdown(report: Report, title: string): string {
  return [
    `# RoPE report: ${safe(title)}`,
    "",
    `${tally(report.counts)}.`,
    "",
    ...report.findings.map(({ severity, id, key, line, does, should, reports }) =>
      [
        `- **${severity}** ${code(id)}${key ? ` at ${code(key)}` : ""}${line === null ? "" : `, line ${line}`}: ${safe(does)}.`,
        ...(should ? [`Should be: ${safe(should)}.`] : []),
        ...(reports.length > 0 ? [`Resembles ${reports.join(", ")}.`] : []),
      ].join(" "),
    ),
    "",
    ...(report.model.length > 0 ? ["## Model", "", ...valueRows(report.model), ""] : []),
    ...(report.softmax_scale === null ? [] : [`Scores are multiplied by ${report.softmax_scale}.`, ""]),
    ...report.ropes.flatMap(ropeSection),
  ].join("\n");
}
