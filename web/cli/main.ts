#!/usr/bin/env node

// The command line: posenc COMMAND …. Status 0: done; 1: the config has errors; 2: called wrongly.

import { visible } from "../inspect/words.ts";
import { loadPosenc } from "../posenc.ts";
import { print } from "./files.ts";
import { inspectCommand } from "./inspect.ts";
import { manual, parse, UsageError } from "./options.ts";
import { rope } from "./rope.ts";
import { alibi, type Runnable, t5, table } from "./tables.ts";

const COMMANDS: readonly Runnable[] = [inspectCommand, table, rope, alibi, t5];

const overview = (): string =>
  [
    "NAME\n  posenc - the numbers of positional encoding in transformers",
    "SYNOPSIS\n  posenc COMMAND [OPTION]…\n  posenc COMMAND --help",
    `COMMANDS\n${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(8)}  ${summary}`).join("\n")}`,
    "EXIT STATUS\n  0  done\n  1  the config or a value has errors\n  2  called wrongly, or a file cannot be read or written",
    "",
  ].join("\n\n");

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    await print(overview());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) {
    throw new UsageError(
      `${JSON.stringify(name)} is no command: ${COMMANDS.map((one) => one.name).join(", ")}`,
    );
  }
  const given = parse(command, args);
  if (given.has("help")) {
    await print(manual(command));
    return 0;
  }
  return command.run(await loadPosenc(), given);
}

process.stdout.on("error", () => {}); // print() tells what matters
try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  // The core refuses values with a RangeError; anything else is a fault of this program and keeps its stack.
  if (!(error instanceof UsageError || error instanceof RangeError)) throw error;
  process.exitCode = 2;
  process.stderr.write(`posenc: ${visible(error.message)}\n`);
}
