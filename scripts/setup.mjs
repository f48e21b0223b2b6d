// Brings whatever is missing for building the lesson (--tests: for testing it too): Debian packages through apt-get,
// npm packages through npm ci. When all is there it only looks, and needs no network.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findEmscripten } from "./emscripten.mjs";
import { attempt, Failure, main, ROOT, run, step, which } from "./run.mjs";

/** What a command says its version is; null when there is no such command. */
function versionOf(command) {
  const { status, stdout } = spawnSync(command, ["--version"], { encoding: "utf8" });
  return status === 0 ? (stdout.match(/\d+(\.\d+)+/)?.[0] ?? "0") : null;
}

const present = (found) => (found ? "0" : null);
const anyOf = (...paths) => present(paths.some((path) => existsSync(path)));

/** The compiler that CMake will choose, and whether it is Clang, whose versions count differently. */
const compiler = process.env.CXX || "c++";
const isClang = () => /clang/.test(spawnSync(compiler, ["--version"], { encoding: "utf8" }).stdout ?? "");

// name: as in a sentence; version(): null if missing, "0" if any version will do; packages: the Debian packages.
const BUILD_TOOLS = [
  { name: "CMake", least: "3.25", version: () => versionOf("cmake"), packages: ["cmake"] },
  { name: "Ninja", least: "1.10", version: () => versionOf("ninja"), packages: ["ninja-build"] },
  {
    name: `The C++ compiler (${compiler})`,
    get least() {
      return isClang() ? "14" : "12";
    },
    version: () => versionOf(compiler),
    packages: ["g++"],
  },
  {
    name: "Emscripten",
    least: "3.1.6",
    version: () => findEmscripten()?.version ?? null,
    packages: ["emscripten"],
  },
];

const TEST_TOOLS = [
  {
    name: "Catch2",
    version: () => anyOf("/usr/include/catch2/catch.hpp", "/usr/include/catch2/catch_test_macros.hpp"),
    packages: ["catch2"],
  },
  // by its number, since every version lays code out differently
  { name: "clang-format-14", version: () => versionOf("clang-format-14"), packages: ["clang-format-14"] },
  { name: "Chromium", version: () => present(which("chromium")), packages: ["chromium"] },
  { name: "Firefox ESR", version: () => present(which("firefox-esr")), packages: ["firefox-esr"] },
  {
    name: "WebKitGTK's driver",
    version: () => present(which("WebKitWebDriver")),
    packages: ["webkit2gtk-driver"],
  },
  { name: "Xvfb", version: () => present(which("Xvfb")), packages: ["xvfb"] },
  {
    name: "The DejaVu font",
    version: () => anyOf("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
    packages: ["fonts-dejavu-core"],
  },
];

/** Whether version `a` comes before version `b`, number by number. */
function isOlder(a, b) {
  const [x, y] = [a, b].map((version) => version.split(".").map(Number));
  for (let i = 0; i < y.length; ++i) if ((x[i] ?? 0) !== y[i]) return (x[i] ?? 0) < y[i];
  return false;
}

/** What is wrong with a tool, as the beginning of a sentence; null if it will do. */
function complaint({ name, least, version }) {
  const found = version();
  if (found === null) return `${name} is missing`;
  return least && isOlder(found, least) ? `${name} ${found} is too old (${least} or newer is needed)` : null;
}

export function checkNode(version = process.versions.node) {
  if (isOlder(version, "20"))
    throw new Failure(`Node ${version} is too old (20 or newer is needed): npm install --global n && n 20`);
}

/** Installs the Debian packages of the tools that are missing or too old, then looks again. */
async function installTools(tools) {
  const missing = tools.filter(complaint);
  if (missing.length === 0) return;
  const sentences = () =>
    missing
      .filter(complaint)
      .map((tool) => `${complaint(tool)}: apt-get install ${tool.packages.join(" ")}`)
      .join("\n");
  if (!which("apt-get"))
    throw new Failure(`${sentences()}\n(This is Debian 12's command; here, use your system's.)`);

  const packages = missing.flatMap((tool) => tool.packages);
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...packages];
  const isAdmin = process.getuid() === 0;
  if (!isAdmin && !which("sudo"))
    throw new Failure(`${sentences()}\nAs root: apt-get update && ${install.join(" ")}`);

  const asAdmin = (command) => {
    const [first, ...rest] = [
      ...(isAdmin ? [] : ["sudo"]),
      "env",
      "DEBIAN_FRONTEND=noninteractive",
      ...command,
    ];
    return attempt(first, rest);
  };
  await step(`setup: apt-get install ${packages.join(" ")}`, async () => {
    if ((await asAdmin(install)).status === 0) return;
    // the package lists may be absent or out of date
    const updated = await asAdmin(["apt-get", "update"]);
    const installed = await asAdmin(install);
    if (installed.status === 0) return;
    throw new Failure(`${updated.output}${installed.output}${sentences()}`);
  });
  if (missing.some(complaint)) throw new Failure(sentences());
}

/** Whether node_modules holds what package-lock.json says; packages for other systems may be absent. */
function packagesAreInstalled() {
  const read = (path) => JSON.parse(readFileSync(join(ROOT, path), "utf8")).packages;
  const hidden = "node_modules/.package-lock.json";
  if (!existsSync(join(ROOT, hidden))) return false;
  const [wanted, installed] = [read("package-lock.json"), read(hidden)];
  const same = ([path, { integrity, optional }]) =>
    path === "" || (installed[path] ? installed[path].integrity === integrity : optional === true);
  return Object.entries(wanted).every(same) && Object.keys(installed).every((path) => path in wanted);
}

export async function setup({ tests = false } = {}) {
  checkNode();
  await installTools(tests ? [...BUILD_TOOLS, ...TEST_TOOLS] : BUILD_TOOLS);
  const { root, version } = findEmscripten();
  console.log(`setup: Emscripten ${version} in ${root}`);
  if (!packagesAreInstalled()) await step("setup: npm ci", () => run("npm", ["ci", "--prefer-offline"]));
}

await main(import.meta.url, (args) => setup({ tests: args.includes("--tests") }));
