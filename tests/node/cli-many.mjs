// Runs the command line once for each list of arguments that stands on standard input as JSON, all in this process: its
// first module is run anew each time. Tells for each the status, what it wrote, and what was thrown out of it.

import { pathToFileURL } from "node:url";
import { CLI } from "./command.mjs";

let text = "";
for await (const part of process.stdin) text += part;
const write = process.stdout.write.bind(process.stdout);
const told = [];
for (const [i, args] of JSON.parse(text).entries()) {
  const said = { out: "", err: "" };
  for (const [name, stream] of [
    ["out", process.stdout],
    ["err", process.stderr],
  ])
    stream.write = (data, done) => {
      said[name] += typeof data === "string" ? data : Buffer.from(data).toString("latin1");
      done?.();
      return true;
    };
  process.argv = [process.argv[0], CLI, ...args];
  process.exitCode = undefined;
  const start = performance.now();
  let thrown = null;
  try {
    await import(`${pathToFileURL(CLI)}?run=${i}`);
  } catch (error) {
    thrown = String(error?.stack ?? error);
  }
  process.stdout.removeAllListeners("error");
  told.push({ status: process.exitCode ?? null, thrown, milliseconds: performance.now() - start, ...said });
}
process.exitCode = 0;
write(JSON.stringify(told));
