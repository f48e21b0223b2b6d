// A page that imports the npm package, as two bundlers build it.

import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build as vite } from "vite";
import { serve } from "../../scripts/serve.mjs";
import { scratchProject } from "../package/scratch.mjs";

const webpack = createRequire(import.meta.url)("webpack");

const BUNDLERS = {
  Vite: (root) => vite({ root, base: "./", logLevel: "error", build: { outDir: "built", target: "es2022" } }),
  webpack: async (context) => {
    const output = { path: join(context, "built"), filename: "page.js", module: true, publicPath: "auto" };
    const options = { mode: "production", context, entry: "./page.js", output, performance: false };
    const compiler = webpack({ ...options, experiments: { outputModule: true } });
    const stats = await new Promise((done, fail) => {
      compiler.run((error, result) => (error ? fail(error) : done(result)));
    });
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString("errors-warnings"));
  },
};

export default Object.entries(BUNDLERS).map(([bundler, build]) => ({
  name: `a page that ${bundler} builds from the npm package computes and draws`,
  async run({ page, assert }) {
    const { folder } = await scratchProject();
    try {
      await build(folder);
      // webpack leaves the page to its user, and browsers ask for an icon
      if (bundler === "webpack") cpSync(join(folder, "index.html"), join(folder, "built/index.html"));
      writeFileSync(join(folder, "built/favicon.ico"), "");
      const { url, close } = await serve({ root: join(folder, "built") });
      try {
        await page.goto(url);
        await page.waitFor(() => document.title === "0.0625 12");
        assert.deepEqual(await page.consoleErrors(), []);
      } finally {
        await close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
}));
