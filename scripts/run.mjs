// What the scripts share: one progress line per step, commands that stay quiet unless they fail, and errors that
// are one sentence. Only Node's own modules, since setup runs before any package is installed.
import { spawn } from "node:child_process";
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder, without a slash at its end. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** An error whose message says everything: it is printed without a stack. */
export class Failure extends Error {}

let sideBySide = false;
/** From now on others work and print too: each step prints one whole line, at its end, and does not press. */
export const workSideBySide = () => {
  sideBySide = true;
};

/** Prints `title`, runs `work`, and ends the line with the time it took. */
export async function step(title, work) {
  const start = performance.now();
  const whole = sideBySide;
  if (!whole) process.stdout.write(`${title} … `);
  const end = (text) => console.log(whole ? `${title} … ${text}` : text);
  try {
    const result = await work();
    end(`${((performance.now() - start) / 1000).toFixed(1)} s`);
    return result;
  } catch (error) {
    end("failed");
    throw error;
  }
}

/** Runs a command in the repository's folder; resolves to { status, output } with both streams in one text. */
export function attempt(command, args, { env = {}, echo = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ["inherit", "pipe", "pipe"],
    });
    // A compiler gives way to a browser, whose readers do not wait.
    if (sideBySide && !echo && child.pid) setPriority(child.pid, 5);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (echo) process.stdout.write(text);
      });
    }
    child.on("error", (error) => resolve({ status: 127, output: `${command}: ${error.message}\n` }));
    child.on("close", (status, signal) => {
      if (signal) output += `\n${command} was ended by ${signal}\n`;
      resolve({ status: status ?? 1, output });
    });
  });
}

/** Runs a command that must succeed; its whole output is shown only if it does not. */
export async function run(command, args, options) {
  const { status, output } = await attempt(command, args, options);
  if (status !== 0) throw new Failure(`${output}\n${[command, ...args].join(" ")}: exit status ${status}`);
  return output;
}

/** The full path of a command on the PATH, or null. */
export function which(command) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, command);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {
      // not in this folder
    }
  }
  return null;
}

/** The path of one of this project's npm commands. */
export const bin = (name) => join(ROOT, "node_modules", ".bin", name);

/** Runs a script's work when that file is the one that node was asked to run; its failure is the exit status. */
export async function main(url, work) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  try {
    await work(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Failure ? error.message : error);
    process.exitCode = 1;
  }
}
