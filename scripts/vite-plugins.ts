// The parts of the builds that are this project's own: what vite.config.ts puts around its entries.

import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const web = (...path: string[]) => fileURLToPath(new URL(join("../web", ...path), import.meta.url));

/**
 * What the first paint waits for. A stored theme must be set before it, so its script is small, classic and blocking;
 * the fonts are asked for at once, so that no line breaks anew when they arrive.
 */
export function firstPaint(): Plugin {
  let serving = false;
  return {
    name: "posenc-first-paint",
    configResolved(config) {
      serving = config.command === "serve";
    },
    async buildStart() {
      if (serving) return;
      this.emitFile({ type: "asset", name: "theme.js", source: await readFile(web("theme.js"), "utf8") });
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle, path }) {
        if (path === "/embed.html") return []; // its host or its address says the theme, and it has no prose
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

/** `<!-- page/head.html -->` stands for that file of web/: what all pages have. */
export function partials(): Plugin {
  const file = (name: string) => readFileSync(web(name), "utf8").trimEnd();
  return {
    name: "posenc-partials",
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace(/<!-- ([\w/]+\.html) -->/g, (_comment, name: string) => file(name)),
    },
  };
}

/** Text and WebAssembly of the site; not what is saved once and opened from a disk, or read by few. */
const WORTH_IT = /^(?!offline\/|lesson\.html|LICENCES|licences\/).*\.(html|m?js|css|svg|json|txt|wasm)$/;

/** Writes file.br and file.gz beside each text and wasm file that is worth it, for static servers. */
export function precompress(): Plugin {
  return {
    name: "posenc-precompress",
    apply: "build",
    writeBundle: {
      order: "post",
      sequential: true,
      async handler({ dir: folder = "" }) {
        const files = await readdir(folder, { recursive: true });
        for (const name of files.filter((file) => WORTH_IT.test(file))) {
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

/** `guarded:pe-rope` is that figure's module where there are elements, and nothing in a server's rendering. */
export function guardedFigures(): Plugin {
  const prefix = "guarded:";
  return {
    name: "posenc-guarded-figures",
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(`\0${prefix}`)) return null;
      const path = (name: string) => JSON.stringify(web("figures", name));
      return `export { configure } from ${path("core.ts")};
if (typeof HTMLElement === "function") await import(${path(`${id.slice(prefix.length + 1)}.ts`)});`;
    },
  };
}

/** Leaves dynamic imports as they are: what Vite puts around them to preload stylesheets puzzles other bundlers. */
export function plainImports(): Plugin {
  return {
    name: "posenc-plain-imports",
    enforce: "pre",
    load: (id) =>
      id.endsWith("vite/preload-helper.js") ? "export const __vitePreload = (load) => load();" : null,
  };
}

/** What a file that stands alone may do: nothing but run itself, and report to a course's record store. */
const OFFLINE_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'wasm-unsafe-eval'",
  "style-src 'unsafe-inline'",
  "img-src data: blob:",
  "font-src data:",
  "worker-src blob:",
  "connect-src https: http://localhost:* http://127.0.0.1:*",
].join("; ");

/** For a page in one file: its policy, its icon and first script within it, no links to pages that are not there. */
export function offlinePage(): Plugin {
  return {
    name: "posenc-offline-page",
    transformIndexHtml: {
      order: "pre",
      async handler(html) {
        const icon = await readFile(web("icon.svg"), "utf8");
        const theme = await readFile(web("theme.js"), "utf8");
        const policy = { "http-equiv": "Content-Security-Policy", content: OFFLINE_POLICY };
        return {
          html: html
            .replace(/ *<a class="beside"[^>]*>.*?<\/a>\n?/g, "")
            .replace('href="./icon.svg"', `href="data:image/svg+xml,${encodeURIComponent(icon)}"`),
          tags: [
            { tag: "meta", attrs: policy, injectTo: "head-prepend" },
            ...(html.includes('class="theme"')
              ? [{ tag: "script", children: theme, injectTo: "head" as const }]
              : []),
          ],
        };
      },
    },
  };
}

/** Makes of the page for frames a page of one figure, which holds that figure's module alone. */
export function oneFigure(tag: string): Plugin {
  return {
    name: "posenc-one-figure",
    enforce: "pre",
    transform(code, id) {
      return id.endsWith("/embed/main.ts") ? code.replace("figures/pe-*.ts", `figures/${tag}.ts`) : null;
    },
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace("<html ", `<html data-figure="${tag.slice("pe-".length)}" `),
    },
  };
}

/** What is one file has no second one for a worker: training then runs on the page's own thread, and says so. */
export function withoutWorker(): Plugin {
  return {
    name: "posenc-without-worker",
    enforce: "pre",
    load: (id) =>
      id.endsWith("/figures/training-spawn.ts")
        ? 'export const spawn = () => { throw new Error("this page is one file"); };'
        : null,
  };
}

/** What is one file holds the builds with SIMD, and the twins in JavaScript for all that cannot run them. */
export function oneFile(): Plugin {
  return {
    name: "posenc-one-file",
    enforce: "pre",
    load(id) {
      const [, name] = id.match(/\/web\/(core|train)-files\.ts$/) ?? [];
      if (!name) return null;
      const path = web("wasm", name === "core" ? "posenc-twin.js" : "posenc-train-twin.js");
      return `export const scalar = () => null; export const twin = () => import(${JSON.stringify(path)});`;
    },
  };
}

/** Unwraps the lesson's links to its neighbours, after it has been put into the page. */
export function withoutNeighbours(): Plugin {
  return {
    name: "posenc-without-neighbours",
    transformIndexHtml: {
      order: "post",
      handler: (html) => html.replace(/<a href="\w+\.html">(.*?)<\/a>/g, "$1"),
    },
  };
}

/** What in the package is for those who install it. */
const FOR_INSTALLING = /(cli\.js|\.d\.ts|package\.json|\.md)$/;

/** Files that other builds have made, put beside the pages. */
export function otherBuilds(folders: Record<string, string>): Plugin {
  return {
    name: "posenc-other-builds",
    apply: "build",
    async buildStart() {
      for (const [folder, place] of Object.entries(folders)) {
        for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || FOR_INSTALLING.test(entry.name)) continue;
          const path = join(entry.parentPath, entry.name);
          const fileName = join(place, relative(folder, path));
          this.emitFile({ type: "asset", fileName, source: await readFile(path) });
        }
      }
    },
  };
}
