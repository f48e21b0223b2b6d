// Two builds. `vite build` makes the site in dist/; `vite build --mode lib` makes build/lib/posenc.js, one ES module
// for Node and browsers with its .wasm files beside it. The site's lesson is rendered with the library.

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin, UserConfig } from "vite";
import { defineConfig } from "vite";
import { builtCore, lesson } from "./web/lesson/plugin.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
const at = (...path: string[]) => join(root, ...path);

const shared = {
  root: at("web"),
  // Relative: the same files work from any path on any server.
  base: "./",
  publicDir: false,
  cacheDir: at("build/vite"),
} satisfies UserConfig;

const site: UserConfig = {
  ...shared,
  server: { fs: { allow: [root] } },
  plugins: [
    lesson({
      root,
      sections: at("web/lesson"),
      quiz: at("web/quiz/questions.md"),
      pages: { "teachers.html": at("web/lesson/teachers.md") },
      out: at("build/lesson"),
      core: () => builtCore(at("build/lib/posenc.js")),
    }),
    firstPaint(),
    precompress(),
  ],
  build: {
    outDir: at("dist"),
    emptyOutDir: true,
    target: "es2022",
    // A data: URL would need its own exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: at("web/index.html"), teachers: at("web/teachers.html") },
      external: [/^node:/],
    },
  },
};

const library: UserConfig = {
  ...shared,
  build: {
    outDir: at("build/lib"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    minify: false,
    modulePreload: { polyfill: false },
    // Not `build.lib`, which would put the .wasm files into the module as base64.
    rolldownOptions: {
      input: { posenc: at("web/posenc.ts") },
      external: [/^node:/],
      preserveEntrySignatures: "strict",
      output: { entryFileNames: "[name].js", assetFileNames: "[name][extname]", codeSplitting: false },
    },
  },
};

export default defineConfig(({ mode }) => (mode === "lib" ? library : site));

/**
 * What the first paint waits for. A stored theme must be set before it, so its script is small, classic and blocking;
 * the fonts are asked for at once, so that no line breaks anew when they arrive.
 */
function firstPaint(): Plugin {
  let serving = false;
  return {
    name: "posenc-first-paint",
    configResolved(config) {
      serving = config.command === "serve";
    },
    async buildStart() {
      if (serving) return;
      this.emitFile({ type: "asset", name: "theme.js", source: await readFile(at("web/theme.js"), "utf8") });
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        if (!bundle) return [{ tag: "script", attrs: { src: "/theme.js" }, injectTo: "head-prepend" }];
        const asset = (name: string): string => {
          const found = Object.values(bundle).find(
            (file) => file.type === "asset" && file.names.includes(name),
          );
          if (!found) throw new Error(`${name} is not among the built assets`);
          return `./${found.fileName}`;
        };
        const preload = ["text.woff2", "text-semibold.woff2", "math.woff2"].map((name) => ({
          tag: "link",
          attrs: { rel: "preload", href: asset(name), as: "font", type: "font/woff2", crossorigin: true },
          injectTo: "head" as const,
        }));
        return [{ tag: "script", attrs: { src: asset("theme.js") }, injectTo: "head" as const }, ...preload];
      },
    },
  };
}

/** Writes file.br and file.gz beside each text and wasm file that is worth it, for static servers. */
function precompress(): Plugin {
  return {
    name: "posenc-precompress",
    apply: "build",
    writeBundle: {
      order: "post",
      sequential: true,
      async handler({ dir: folder = "" }) {
        const files = await readdir(folder, { recursive: true });
        for (const name of files.filter((file) => /\.(html|js|css|svg|json|txt|wasm)$/.test(file))) {
          const path = join(folder, name);
          const bytes = await readFile(path);
          if (bytes.length <= 1024) continue;
          const params = {
            [constants.BROTLI_PARAM_QUALITY]: 11,
            [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          };
          await writeFile(`${path}.br`, brotliCompressSync(bytes, { params }));
          await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        }
      },
    },
  };
}
