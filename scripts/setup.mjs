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

const anyVersion = (found) => (found ? "0" : null);
const anyOf = (...paths) => anyVersion(paths.some((path) => existsSync(path)));

/** The compiler that CMake will choose. Clang's versions count differently from gcc's. */
const CXX = process.env.CXX || "c++";
const isClang = /clang/.test(spawnSync(CXX, ["--version"], { encoding: "utf8" }).stdout ?? "");

// name: as in a sentence; found(): its version, "0" if any will do, null if it is missing; place(): where that was;
// least: the oldest version that will do; fix: the command that brings it.
const tool = (name, command, least, aptPackage) => ({
  name,
  found: () => (least ? versionOf(command) : anyVersion(which(command))),
  place: () => which(command),
  least,
  aptPackage,
  fix: `apt-get install ${aptPackage}`,
});

const BUILD_TOOLS = [
  tool("CMake", "cmake", "3.25", "cmake"),
  tool("Ninja", "ninja", "1.10", "ninja-build"),
  tool("The C++ compiler", CXX, isClang ? "14" : "12", "g++"),
  {
    name: "Emscripten",
    found: () => findEmscripten()?.version ?? null,
    place: () => findEmscripten()?.root,
    least: "3.1.6",
    aptPackage: "emscripten",
    fix: findEmscripten() ? "emsdk install latest && emsdk activate latest" : "apt-get install emscripten",
  },
];

const TEST_TOOLS = [
  {
    ...tool("Catch2", null, null, "catch2"),
    found: () => anyOf("/usr/include/catch2/catch.hpp", "/usr/include/catch2/catch_test_macros.hpp"),
  },
  // by its number, since every version lays code out differently
  tool("clang-format-14", "clang-format-14", null, "clang-format-14"),
  tool("clang-tidy-14", "clang-tidy-14", null, "clang-tidy-14"),
  tool("Clang 14", "clang++-14", null, "clang-14"),
  {
    ...tool("Clang's sanitizers", null, null, "libclang-rt-14-dev"),
    found: () =>
      anyOf(
        ...["x86_64", "aarch64"].map(
          (machine) => `/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-${machine}.a`,
        ),
      ),
  },
  tool("Chromium", "chromium-headless-shell", null, "chromium-headless-shell"),
  tool("Firefox ESR", "firefox-esr", null, "firefox-esr"),
  tool("WebKitGTK's driver", "WebKitWebDriver", null, "webkit2gtk-driver"),
  tool("Xvfb", "Xvfb", null, "xvfb"),
  {
    ...tool("The DejaVu font", null, null, "fonts-dejavu-core"),
    found: () => anyOf("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
  },
  tool("codespell", "codespell", null, "codespell"),
  tool("Hunspell", "hunspell", null, "hunspell"),
  {
    ...tool("Its British dictionary", null, null, "hunspell-en-gb"),
    found: () => anyOf("/usr/share/hunspell/en_GB.dic"),
  },
  // whose sites hold figures in the tests
  tool("MkDocs", "mkdocs", null, "mkdocs"),
  {
    ...tool("Material for MkDocs", null, null, "mkdocs-material"),
    found: () => anyOf("/usr/share/mkdocs/themes/material"),
  },
  tool("Sphinx", "sphinx-build", null, "python3-sphinx"),
  {
    ...tool("Sphinx's theme Furo", null, null, "furo"),
    found: () => anyOf("/usr/lib/python3/dist-packages/furo"),
  },
];

/** Whether version `a` comes before version `b`, number by number. */
function isOlder(a, b) {
  const [x, y] = [a, b].map((version) => version.split(".").map(Number));
  for (let i = 0; i < y.length; ++i) if ((x[i] ?? 0) !== y[i]) return (x[i] ?? 0) < y[i];
  return false;
}

/** What is wrong with a tool, as the beginning of a sentence; null if it will do. */
function complaint({ name, found, place, least }) {
  const version = found();
  if (version === null) return `${name} is missing`;
  if (!least || !isOlder(version, least)) return null;
  return `${name} ${version} (${place()}) is too old (${least} or newer is needed)`;
}

export function checkNode(version = process.versions.node) {
  const newEnough = !isOlder(version, "22.12") || (!isOlder(version, "20.19") && isOlder(version, "21"));
  if (!newEnough)
    throw new Failure(
      `Node ${version} is too old (20.19 or newer, or 22.12 or newer, is needed): npm install --global n && n 22`,
    );
}

/** Installs the Debian packages of the tools that are missing or too old, then looks again. */
async function installTools(tools) {
  const missing = tools.filter(complaint);
  if (missing.length === 0) return;
  const sentences = (list) => list.map((tool) => `${complaint(tool)}: ${tool.fix}`).join("\n");
  const others = missing.filter(({ fix }) => !fix.startsWith("apt-get"));
  if (others.length > 0) throw new Failure(sentences(others));
  if (!which("apt-get"))
    throw new Failure(`${sentences(missing)}\n(These are Debian 12's commands; here, use your system's.)`);

  const packages = missing.map(({ aptPackage }) => aptPackage);
  const install = ["apt-get", "install", "-y", "--no-install-recommends", ...packages];
  const byHand = `${sentences(missing)}\nAs root: apt-get update && ${install.join(" ")}`;
  const isRoot = process.getuid() === 0;
  if (!isRoot && !which("sudo")) throw new Failure(byHand);

  const noQuestions = [...(isRoot ? [] : ["sudo"]), "env", "DEBIAN_FRONTEND=noninteractive"];
  const asRoot = (command) => {
    const [first, ...rest] = [...noQuestions, ...command];
    return attempt(first, rest);
  };
  await step(`setup: apt-get install ${packages.join(" ")}`, async () => {
    if ((await asRoot(install)).status === 0) return;
    // the package lists may be absent or out of date
    const updated = await asRoot(["apt-get", "update"]);
    const installed = await asRoot(install);
    if (installed.status !== 0) throw new Failure(`${updated.output}${installed.output}\n${byHand}`);
  });
  const still = missing.filter(complaint);
  if (still.length > 0) throw new Failure(sentences(still));
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
