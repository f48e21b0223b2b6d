// Vite plugin: puts the rendered lesson into index.html and the pages beside it into theirs. What the browser needs
// beside the HTML (the rules for lifted style attributes, and the subset fonts) is written to build/lesson/, which
// main.css imports.

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { Posenc } from "../posenc.ts";
import { fonts } from "./fonts.ts";
import { numbers } from "./numbers.ts";
import { permutation } from "./permutation.svg.ts";
import type { Lesson } from "./render.ts";
import { renderLesson } from "./render.ts";
import { fileName, type Page, parsePage, parseSection, type Section } from "./section.ts";
import { tables } from "./tables.ts";
import { waves } from "./waves.svg.ts";

export interface LessonOptions {
  /** Repository root. */
  root: string;
  /** Folder of the section files. */
  sections: string;
  /** The questions of the quiz. */
  quiz: string;
  /** Pages beside the lesson: the name of the HTML file, and the Markdown that it holds, or what makes it. */
  pages: Record<string, string | ((sections: Section[]) => Page | Promise<Page>)>;
  /** Where the files for the stylesheet go. */
  out: string;
  /** The built core. */
  core(): Promise<Posenc>;
}

export function lesson(options: LessonOptions): Plugin {
  let rendered: Promise<Lesson> | undefined;
  const render = async (): Promise<Lesson> => {
    const posenc = await options.core();
    const names = (await readdir(options.sections)).filter((name) => fileName.test(name)).sort();
    const read = async <T>(parse: (file: string, source: string) => T, path: string): Promise<T> =>
      parse(relative(options.root, path), await readFile(path, "utf8"));
    const sections = await Promise.all(names.map((name) => read(parseSection, join(options.sections, name))));
    const pages = await Promise.all(
      Object.entries(options.pages).map(async ([file, page]) => {
        const made = typeof page === "string" ? read(parsePage, page) : page(sections);
        return [file, await made] as const;
      }),
    );
    const lesson = await renderLesson(sections, {
      opening: waves(posenc),
      pictures: { "pe-permutation": permutation(posenc) },
      numbers: numbers(posenc),
      tables: tables(posenc),
      quiz: await read(parsePage, options.quiz),
      pages: Object.fromEntries(pages),
    });
    await mkdir(options.out, { recursive: true });
    const written = [lesson, ...Object.values(lesson.pages)].map(({ article }) => article).join("\n");
    const files = new Map<string, string | Buffer>(await fonts(written));
    files.set("lesson.css", `${lesson.css}\n`);
    await Promise.all([...files].map(([name, bytes]) => writeFile(join(options.out, name), bytes)));
    return lesson;
  };

  return {
    name: "posenc-lesson",
    // Before any stylesheet is read: main.css imports what this writes.
    async buildStart() {
      rendered = render();
      await rendered.catch((error: Error) => {
        if (!this.meta.watchMode) throw error;
        this.warn(error.message);
      });
    },
    configureServer(server) {
      const written = Object.values(options.pages).filter((page) => typeof page === "string");
      server.watcher.add([options.sections, options.quiz, ...written]);
      server.watcher.on("all", (_event, path) => {
        if (!path.endsWith(".md")) return;
        rendered = undefined;
        server.ws.send({ type: "full-reload" });
      });
    },
    transformIndexHtml: {
      order: "pre",
      async handler(html, context) {
        if (!html.includes("<!-- lesson -->")) return html;
        if (context.server) rendered ??= render();
        const lesson = await (rendered ?? render());
        const { article, sectionList } = lesson.pages[basename(context.filename)] ?? lesson;
        return html
          .replace("<!-- lesson -->", () => article)
          .replace("<!-- section list -->", () => sectionList);
      },
    },
  };
}

/** Imports the library that the lib build made for Node. */
export async function builtCore(path: string): Promise<Posenc> {
  if (!existsSync(path)) {
    throw new Error(`${path} is missing: the lesson computes its numbers with it. Build the library first.`);
  }
  const { loadPosenc } = (await import(pathToFileURL(path).href)) as typeof import("../posenc.ts");
  return loadPosenc();
}
