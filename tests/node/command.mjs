// The command line as a child process.

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../build/package/cli.js", import.meta.url));

function start(args, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args]);
    const out = [];
    const err = [];
    child.stdout.on("data", (part) => out.push(part));
    child.stderr.on("data", (part) => err.push(part));
    child.on("error", reject);
    child.on("close", (status) => {
      const bytes = Buffer.concat(out);
      resolve({ status, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() });
    });
    child.stdin.on("error", () => {}); // a command that refuses early reads no further
    child.stdin.end(input ?? "");
  });
}

const MOST = Math.max(2, availableParallelism());
let running = 0;
const waiting = [];

/** Runs the command, at most as many at once as there are processors; resolves to { status, bytes, stdout, stderr }. */
export async function posenc(args, input) {
  if (running >= MOST) await new Promise((go) => waiting.push(go));
  running++;
  try {
    return await start(args, input);
  } finally {
    running--;
    waiting.shift()?.();
  }
}

/** The array that a command writes as JSON; fails unless its status is 0. */
export async function arrayFrom(args, input) {
  const { status, stdout, stderr } = await posenc([...args, "--format", "json"], input);
  if (status !== 0) throw new Error(`posenc ${args.join(" ")}: status ${status}\n${stderr}`);
  const { shape, values } = JSON.parse(stdout);
  return { shape, values: values.map(Number) };
}
