// The pages of tests/hosts/, built with the tools of their authors and served without the headers that this project's
// own site sends: what a host allows is the host's affair.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";
import { ROOT, run } from "../../scripts/run.mjs";
import { serve } from "../../scripts/serve.mjs";

const PACKAGE = join(ROOT, "build/package");
const SOURCES = join(ROOT, "tests/hosts");
// Each engine's run has its own; within the project, whose packages the pages import.
const FOLDER = mkdtempSync(join(ROOT, "build/hosts-"));
process.on("exit", () => rmSync(FOLDER, { recursive: true }));
const WORK = join(FOLDER, "work");
const SITE = join(FOLDER, "site");

const QUIET = { configFile: false, logLevel: "error" };

/** What an author copies beside the pages. */
function copyFigures(to) {
  const isServed = (path) => path === PACKAGE || !/\.\w+$/.test(path) || /\.(js|wasm)$/.test(path);
  cpSync(PACKAGE, to, { recursive: true, filter: isServed });
}

async function mkdocs() {
  const folder = join(WORK, "mkdocs");
  for (const [docs, config, site] of [
    ["docs", "mkdocs.yml", "mkdocs"],
    ["by-page", "by-page.yml", "mkdocs-by-page"],
  ]) {
    copyFigures(join(folder, docs, "posenc"));
    const args = ["build", "--strict", "--quiet", "--config-file", join(folder, config)];
    await run("mkdocs", [...args, "--site-dir", join(SITE, site)]);
  }
}

async function sphinx() {
  const folder = join(WORK, "sphinx");
  copyFigures(join(folder, "posenc"));
  cpSync(join(ROOT, "web/icon.svg"), join(folder, "icon.svg"));
  const doctrees = join(WORK, "doctrees");
  await run("sphinx-build", ["-W", "-q", "-b", "html", "-d", doctrees, folder, join(SITE, "sphinx")]);
  // Debian's furo leaves two things to do: a file that its pages ask their server for, and a script to be bundled.
  const normalize = "javascript/normalize.css/normalize.css";
  cpSync(join("/usr/share", normalize), join(SITE, normalize), { dereference: true });
  const scripts = join(SITE, "sphinx/_static/scripts");
  const lib = { entry: join(scripts, "furo.js"), formats: ["iife"], name: "furo", fileName: () => "furo.js" };
  await build({ ...QUIET, build: { lib, outDir: scripts, emptyOutDir: false, copyPublicDir: false } });
}

function reveal() {
  const folder = join(SITE, "reveal");
  cpSync(join(WORK, "reveal"), folder, { recursive: true });
  cpSync(join(ROOT, "node_modules/reveal.js/dist"), join(folder, "reveal"), { recursive: true });
  copyFigures(join(folder, "posenc"));
}

/** First rendered on the server, then hydrated, with the checks of React's development build. */
async function react() {
  const folder = join(WORK, "react");
  cpSync(PACKAGE, join(folder, "node_modules/posenc"), { recursive: true });
  const shared = {
    ...QUIET,
    root: folder,
    base: "./",
    mode: "development",
    define: { "process.env.NODE_ENV": '"development"' },
  };
  await build({ ...shared, build: { ssr: "server.jsx", outDir: "server" } });
  const { html } = await import(pathToFileURL(join(folder, "server/server.js")));
  const page = join(folder, "index.html");
  writeFileSync(page, readFileSync(page, "utf8").replace("<!--server-->", html));
  await build({ ...shared, build: { outDir: join(SITE, "react"), emptyOutDir: true } });
}

async function make() {
  mkdirSync(SITE, { recursive: true });
  cpSync(SOURCES, WORK, { recursive: true });
  reveal();
  await Promise.all([mkdocs(), sphinx(), react()]);
  return (await serve({ root: SITE, headers: {} })).url;
}

let made;
/** The address of all hosts' pages: mkdocs/, mkdocs-by-page/, sphinx/, reveal/, react/. Made once. */
export const hosts = () => (made ??= make());
