// posenc inspect: what a model's config.json really does.

import { type Held, readHeld } from "../inspect/held.ts";
import { inspect } from "../inspect/inspect.ts";
import { JsonError, readJson } from "../inspect/json.ts";
import { permutationSnippet } from "../inspect/layout.ts";
import { markdown } from "../inspect/markdown.ts";
import type { Model } from "../inspect/model.ts";
import { PRESETS, presetText } from "../inspect/presets.ts";
import { reportOf } from "../inspect/report.ts";
import { llamaCppFlags, numpySnippet, pytorchSnippet } from "../inspect/snippets.ts";
import { visible } from "../inspect/words.ts";
import type { RopeConfig } from "../posenc.ts";
import { print, readText } from "./files.ts";
import { type Given, UsageError } from "./options.ts";
import type { Runnable } from "./tables.ts";
import { terminal } from "./text.ts";

/** A character as JSON may write it. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const SNIPPETS = ["numpy", "pytorch", "llama.cpp", "permutation"] as const;

async function readHeldFile(path: string): Promise<Held> {
  try {
    return readHeld(readJson(await readText(path)).root.value);
  } catch (error) {
    if (error instanceof JsonError) {
      throw new UsageError(`${path}:${error.at.line}:${error.at.column}: ${error.message}`);
    }
    if (error instanceof TypeError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
}

/** The text and what to call it: of the preset, or of the one file named. */
async function source(given: Given): Promise<{ file: string; text: string }> {
  const name = given.text("preset");
  const [file, ...others] = given.files;
  if (name !== undefined) {
    if (file !== undefined) throw new UsageError("either --preset or a file");
    const preset = PRESETS.find((one) => one.name === name);
    if (preset) return { file: preset.name, text: presetText(preset) };
    throw new UsageError(
      `--preset must be one of ${PRESETS.map((one) => JSON.stringify(one.name)).join(", ")}`,
    );
  }
  if (file === undefined) throw new UsageError("no config.json is named; - is standard input");
  if (others.length > 0) throw new UsageError("one config.json at a time");
  return { file: file === "-" ? "stdin" : file, text: await readText(file) };
}

const permutationOf = (model: Model | null, { headDim, rotaryDim = headDim }: RopeConfig): string => {
  if (!model) return "";
  const { numHeads, unrotatedDim, layout } = model;
  const shape = { numHeads: numHeads.value ?? 1, headDim, rotaryDim, unrotatedDim: unrotatedDim.value };
  return permutationSnippet(shape, layout.value);
};

function lengthsOf(given: Given): number[] {
  const lengths = [...(given.numbers("seq-len") ?? [])];
  const bad = lengths.find((length) => !Number.isSafeInteger(length) || length < 1);
  if (bad !== undefined) throw new UsageError(`--seq-len must be whole numbers of at least 1; got ${bad}`);
  return lengths;
}

export const inspectCommand: Runnable = {
  name: "inspect",
  usage: "FILE [--seq-len N[,N…]] [--json | --markdown | --snippet NAME] [OPTION]…",
  summary: "say what a model's config.json does with positions",
  text: [
    "Reads a config.json as the model's own code does, and prints findings as a linter: errors, warnings and notes, each with the key, its place, what it does, what it should be, and public reports of the same. Every value is shown with the key that gives it, or as a default with its reason. Then come the frequencies, wavelengths and turns of the pairs, the attention factor, and the error of float32, bfloat16 and float16.",
    "FILE is - for standard input. --seq-len asks about a sequence of that length; a list of lengths runs them one after the other, as dynamic NTK remembers, and the last is the one asked about.",
    "With --held, the numbers that a running program holds are compared with those of the config; where they differ, the known mistake that gives them is named. The file is JSON: an object with inv_freq, attention_factor, slopes, buckets or position_ids.",
    "The exit status is 0 without errors, 1 with errors, 2 if the command is called wrongly or the file cannot be read.",
  ],
  options: [
    {
      name: "seq-len",
      value: "N[,N…]",
      help: "Length of the sequence, or of successive ones. Default: the longest that the config names; for dynamic and longrope the trained one.",
    },
    {
      name: "distance",
      value: "N",
      help: "Relative position at which neighbours are to be told apart. Default 1.",
    },
    { name: "position", value: "N", help: "Position at which errors are given. Default: the last one." },
    { name: "held", value: "FILE", help: "What a running program holds." },
    { name: "preset", value: "NAME", help: "A known model in place of FILE." },
    { name: "presets", value: "", help: "List the known models with their sources." },
    { name: "pairs", value: "", help: "Print all pairs, not nine of them." },
    { name: "json", value: "", help: "Print everything as JSON, numbers in full." },
    { name: "markdown", value: "", help: "Print a report for a bug tracker." },
    {
      name: "snippet",
      value: "NAME",
      help: "Print code or flags that give the same numbers, or code that permutes the rows of W_q and W_k to the other pair layout.",
      choices: SNIPPETS,
    },
  ],
  examples: [
    "posenc inspect config.json",
    "posenc inspect config.json --seq-len 100,8192,100 --json",
    "python -c \"…print(json.dumps({'inv_freq': rope.inv_freq.tolist()}))\" > held.json; posenc inspect config.json --held held.json",
    "posenc inspect --preset Llama-3.1-8B --snippet pytorch",
  ],
  async run(core, given) {
    if (given.has("presets")) {
      await print(
        PRESETS.map(
          ({ name, source: from, verified }) =>
            `${name}\n    ${from}${verified ? "" : " (defaults; no published config was seen)"}\n`,
        ).join(""),
      );
      return 0;
    }
    const seqLens = lengthsOf(given);
    const distance = given.count("distance", 0);
    const position = given.count("position", 0);
    const heldPath = given.text("held");
    const forms = ["json", "markdown", "snippet"].filter((name) => given.has(name));
    if (forms.length > 1)
      throw new UsageError(`one of --json, --markdown and --snippet at a time; got --${forms.join(", --")}`);
    const { file, text } = await source(given);
    const held = heldPath === undefined ? undefined : await readHeldFile(heldPath);
    const seqLen = seqLens.at(-1) ?? 0;
    const inspection = inspect(core, text, { seqLen, ...(held && { held }) });
    const report = reportOf(core, inspection, {
      seqLens,
      ...(distance !== undefined && { distance }),
      ...(position !== undefined && { position }),
    });
    const snippet = given.text("snippet");
    if (snippet !== undefined && report.ok) {
      await print(
        inspection.numbers
          .map(({ rope, config, attentionFactor }) => {
            const head = inspection.numbers.length > 1 ? `# ${rope.layers}\n` : "";
            if (snippet === "numpy") return head + numpySnippet(config, attentionFactor, seqLen);
            if (snippet === "pytorch") return head + pytorchSnippet(config, attentionFactor, seqLen);
            if (snippet === "permutation") return head + permutationOf(inspection.model, config);
            return `${head}${llamaCppFlags(config, attentionFactor, seqLen)}\n`;
          })
          .join("\n"),
      );
    } else if (given.has("json")) await print(`${visible(JSON.stringify(report), escaped)}\n`);
    else if (given.has("markdown")) await print(markdown(report, file));
    else await print(terminal(report, file, given.has("pairs")));
    return report.ok ? 0 : 1;
  },
};
