// The builds, by `--mode`. Without one: the site, in dist/. The others make what other people's pages and programs
// load, in build/package/, and pages in one file, in build/offline/. The lesson is rendered with the `core` build.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Features } from "lightningcss";
import type { Plugin, UserConfig } from "vite";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import {
  firstPaint,
  guardedFigures,
  offlinePage,
  oneFigure,
  oneFile,
  otherBuilds,
  partials,
  plainImports,
  precompress,
  withoutNeighbours,
  withoutWorker,
} from "./scripts/vite-plugins.ts";
import { galleryPage } from "./web/gallery/page.ts";
import { builtCore, lesson } from "./web/lesson/plugin.ts";
import { offline } from "./web/offline/plugin.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const at = (...path: string[]) => join(root, ...path);

const shared = {
  root: at("web"),
  // Relative: the same files work from any path on any server.
  base: "./",
  publicDir: false,
  cacheDir: at("build/vite"),
  // light-dark() stays: what would replace it follows no color-scheme that a script sets, or that a page has.
  css: { lightningcss: { exclude: Features.LightDark } },
  worker: { format: "es" },
} satisfies UserConfig;

/** A list for scripts/licences.mjs, of the packages that are in a build. */
const licences = (build = "") => ({ fileName: `licences/${build}.json` });

const lessonPages = () =>
  lesson({
    root,
    sections: at("web/lesson"),
    quiz: at("web/quiz/questions.md"),
    pages: {
      "teachers.html": at("web/lesson/teachers.md"),
      "gallery.html": (sections) =>
        galleryPage(JSON.parse(readFileSync(at("build/package/custom-elements.json"), "utf8")), sections),
    },
    out: at("build/lesson"),
    core: () => builtCore(at("build/package/core.js")),
  });

const site = (): UserConfig => ({
  ...shared,
  server: { fs: { allow: [root] } },
  plugins: [
    partials(),
    lessonPages(),
    firstPaint(),
    otherBuilds({ [at("build/package")]: "", [at("build/offline")]: "" }),
    offline(),
    precompress(),
  ],
  build: {
    outDir: at("dist"),
    emptyOutDir: true,
    license: licences("site"),
    target: "es2022",
    // A data: URL would need its own exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        index: at("web/index.html"),
        teachers: at("web/teachers.html"),
        gallery: at("web/gallery.html"),
        embed: at("web/embed.html"),
      },
      external: [/^node:/],
    },
  },
});

/** ES modules for other people's pages and programs: `entries` by the path of their file. */
function modules(
  entries: Record<string, string>,
  { minify = true, inline = false, split = false } = {},
): UserConfig {
  return {
    ...shared,
    plugins: [guardedFigures(), plainImports(), ...(inline ? [withoutWorker(), oneFile()] : [])],
    // A worker shares the .wasm files with the modules beside it.
    worker: {
      format: "es",
      rolldownOptions: {
        output: { entryFileNames: "[name]-[hash].js", assetFileNames: "[name]-[hash][extname]" },
      },
    },
    build: {
      outDir: at("build/package"),
      emptyOutDir: false,
      license: licences(Object.keys(entries)[0]),
      target: "es2022",
      // Not `build.lib`, which would put the .wasm files into every module as base64.
      assetsInlineLimit: inline ? Number.MAX_SAFE_INTEGER : 0,
      minify,
      modulePreload: false,
      rolldownOptions: {
        input: entries,
        external: [/^node:/],
        preserveEntrySignatures: "strict",
        output: {
          entryFileNames: "[name]",
          chunkFileNames: "chunks/[name]-[hash].js",
          assetFileNames: "[name]-[hash][extname]",
          codeSplitting: split,
        },
      },
    },
  };
}

/** A page in one file that opens by double click. */
function onePage(html: string, plugins: Plugin[]): UserConfig {
  return {
    ...shared,
    plugins: [
      partials(),
      offlinePage(),
      ...plugins,
      withoutNeighbours(),
      withoutWorker(),
      oneFile(),
      viteSingleFile({ removeViteModuleLoader: true }),
    ],
    build: {
      outDir: at("build/offline"),
      emptyOutDir: false,
      target: "es2022",
      modulePreload: { polyfill: false },
      rolldownOptions: { input: at("web", html), external: [/^node:/] },
    },
  };
}

const figures = readdirSync(at("web/figures"))
  .filter((name) => /^pe-.*\.ts$/.test(name))
  .map((name) => name.replace(/\.ts$/, ""));

const builds: Record<string, () => UserConfig> = {
  core: () => modules({ "core.js": at("web/posenc.ts") }, { minify: false }),
  train: () => modules({ "train.js": at("web/train.ts") }, { minify: false }),
  cli: () => modules({ "cli.js": at("web/cli/main.ts") }, { minify: false }),
  elements: () =>
    modules(
      {
        "posenc.js": at("web/elements.ts"),
        ...Object.fromEntries(figures.map((name) => [`figures/${name}.js`, `guarded:${name}`])),
      },
      { split: true },
    ),
  inline: () => modules({ "posenc.inline.js": at("web/elements.ts") }, { inline: true }),
  embed: () => modules({ "embed.js": at("web/embed/parent.ts") }),
  widget: () => modules({ "widget.mjs": at("web/widget.ts") }, { inline: true }),
  "offline-lesson": () => onePage("index.html", [lessonPages()]),
  ...Object.fromEntries(
    figures.map((tag) => [`offline-${tag}`, () => onePage("embed.html", [oneFigure(tag)])]),
  ),
};

export default defineConfig(({ mode }) => (builds[mode] ?? site)());
