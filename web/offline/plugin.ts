// Vite plugin: makes sw.js, the service worker of the built site. It names every page and asset of the build, and a
// version: a hash over all of their contents and its own. Each page carries the version in <meta name="posenc-version">,
// whose presence also tells web/page/offline.ts that there is a worker.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

export interface Build {
  version: string;
  /** Files with the mark, all in the site's own folder. */
  pages: string[];
  /** Path of each file in assets/, and its SHA-256 as the `integrity` of a fetch. */
  assets: Record<string, string>;
}

const MARK = /(?<=<meta name="posenc-version" content=")[^"]*/;
const HEADING = /^const BUILD=.*\n/;

export function offline(): Plugin {
  return {
    name: "posenc-offline",
    apply: "build",
    buildStart() {
      const id = fileURLToPath(new URL("sw.ts", import.meta.url));
      this.emitFile({ type: "chunk", id, fileName: "sw.js" });
    },
    transformIndexHtml: () => [
      { tag: "meta", attrs: { name: "posenc-version", content: "" }, injectTo: "head" },
    ],
    writeBundle: {
      order: "post",
      sequential: true,
      handler: async ({ dir = "" }) => void (await stamp(dir)),
    },
  };
}

/**
 * Writes version and files into sw.js and the version into each page of a built site; repeated, it changes nothing.
 * Compressed copies of them are to be made afterwards. Rejects if an asset's name carries no hash: the worker takes
 * what is under one name for the same content in all versions.
 */
export async function stamp(folder: string): Promise<Build> {
  const pages = new Map<string, string>();
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".html")).sort()) {
    const html = await readFile(join(folder, name), "utf8");
    if (MARK.test(html)) pages.set(name, html.replace(MARK, ""));
  }
  const assets: Record<string, string> = {};
  for (const name of (await readdir(join(folder, "assets"))).sort()) {
    if (/\.(br|gz)$/.test(name)) continue;
    if (!/-[\w-]{8}\.\w+$/.test(name))
      throw new Error(`assets/${name}: its name carries no hash of its content`);
    const content = await readFile(join(folder, "assets", name));
    assets[`assets/${name}`] = `sha256-${createHash("sha256").update(content).digest("base64")}`;
  }
  const worker = join(folder, "sw.js");
  const script = (await readFile(worker, "utf8")).replace(HEADING, "");
  const version = createHash("sha256")
    .update(JSON.stringify([script, [...pages], assets]))
    .digest("hex")
    .slice(0, 16);
  for (const [name, html] of pages) await writeFile(join(folder, name), html.replace(MARK, version));
  const build: Build = { version, pages: [...pages.keys()], assets };
  await writeFile(worker, `const BUILD=${JSON.stringify(build)};\n${script}`);
  return build;
}
