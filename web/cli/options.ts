// The options of a command as one table: it is what is accepted, what is checked, and what --help prints.

import { parseArgs } from "node:util";

export interface Option {
  name: string;
  /** What stands after it: N, X, FILE …; "" for a switch. */
  value: string;
  help: string;
  /** The names that it takes. */
  choices?: readonly string[];
}
export interface Command {
  name: string;
  /** What follows the name in the first line of help. */
  usage: string;
  /** One sentence. */
  summary: string;
  /** Paragraphs of the manual. */
  text: readonly string[];
  options: readonly Option[];
  examples: readonly string[];
}

/** A command that was called wrongly: its sentence goes to the terminal, the status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export class Given {
  constructor(
    readonly command: Command,
    readonly files: readonly string[],
    private readonly values: Readonly<Record<string, string | boolean | undefined>>,
  ) {}

  has(name: string): boolean {
    return this.values[name] !== undefined;
  }
  text(name: string): string | undefined {
    const value = this.values[name];
    if (typeof value !== "string") return undefined;
    const choices = this.command.options.find((option) => option.name === name)?.choices;
    if (choices && !choices.includes(value)) {
      throw new UsageError(`--${name} must be one of ${choices.join(", ")}; got ${JSON.stringify(value)}`);
    }
    return value;
  }
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : numberOf(name, text);
  }
  count(name: string, least = 1): number | undefined {
    const value = this.number(name);
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw new UsageError(`--${name} must be a whole number of at least ${least}; got ${value}`);
    }
    return value;
  }
  numbers(name: string): Float64Array | undefined {
    const text = this.text(name);
    return text === undefined
      ? undefined
      : Float64Array.from(text.split(","), (part) => numberOf(name, part));
  }
  /** Says that of two options the first means nothing without the second. */
  needs(name: string, other: string): void {
    if (this.has(name) && !this.has(other)) throw new UsageError(`--${name} says nothing without --${other}`);
  }
  needed<T>(name: string, value: T | undefined): T {
    if (value === undefined) throw new UsageError(`--${name} is needed`);
    return value;
  }
}

export function numberOf(name: string, text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(value))
    throw new UsageError(`--${name} must be a number; got ${JSON.stringify(text)}`);
  return value;
}

/** Reads the arguments after a command's name. */
export function parse(command: Command, args: readonly string[]): Given {
  const options = Object.fromEntries(
    command.options.map(({ name, value }) => [
      name,
      { type: value ? ("string" as const) : ("boolean" as const), ...(name === "output" && { short: "o" }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...options, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return new Given(command, positionals, values);
  } catch (error) {
    const [, dashed] = (error as Error).message.match(/use '(--?[\w-]+=?-)XYZ'/) ?? [];
    if (dashed) throw new UsageError(`a value that begins with a dash is written like this: ${dashed}1`);
    throw new UsageError((error as Error).message.replace(/(\. |\n).*/s, ""));
  }
}

const wrap = (text: string, indent: number, width = 80): string => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line && line.length + 1 + word.length > width - indent) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
};

/** The manual of one command. */
export function manual(command: Command): string {
  const option = ({ name, value, help, choices }: Option) => {
    const flag = `${name === "output" ? "-o, " : ""}--${name}${value ? ` ${value}` : ""}`;
    const text = choices ? `${help} One of ${choices.join(", ")}.` : help;
    return `  ${flag}\n      ${wrap(text, 6)}`;
  };
  return [
    `NAME\n  posenc ${command.name} - ${command.summary}`,
    `SYNOPSIS\n  posenc ${command.name} ${command.usage}`,
    `DESCRIPTION\n${command.text.map((paragraph) => `  ${wrap(paragraph, 2)}`).join("\n\n")}`,
    `OPTIONS\n${command.options.map(option).join("\n")}\n  -h, --help\n      Print this manual.`,
    `EXAMPLES\n${command.examples.map((line) => `  ${line}`).join("\n")}`,
    "",
  ].join("\n\n");
}
