// A project of someone else: the packed package, installed as npm does it, and the programs beside this file.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ROOT } from "../../scripts/run.mjs";

export const execute = promisify(execFile);

/** Makes the project in a new folder outside the repository; resolves to its path and the names of what was packed. */
export async function scratchProject() {
  const folder = mkdtempSync(join(tmpdir(), "posenc-package-"));
  const pack = ["pack", join(ROOT, "build/package"), "--json", "--pack-destination", folder];
  const [{ filename, files }] = JSON.parse((await execute("npm", pack, { cwd: folder })).stdout);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "scratch", private: true, type: "module" }),
  );
  await execute("npm", ["install", "--offline", `./${filename}`], { cwd: folder });
  const here = fileURLToPath(new URL(".", import.meta.url));
  for (const name of readdirSync(here).filter((file) => /^(use\.ts|page\.js|node\.js)$/.test(file)))
    cpSync(join(here, name), join(folder, name));
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><title>waiting</title><script type="module" src="./page.js"></script>',
  );
  return { folder, files: files.map(({ path }) => path) };
}
