// LICENCES.txt: whose work is in the built files, and under which terms.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.mjs";

const read = (path) => readFileSync(join(ROOT, path), "utf8").trim();

const mit = (holder) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** What no bundler sees: what is linked into WebAssembly, colours, and fonts. */
const others = () => [
  { name: "Emscripten", identifier: "MIT", text: mit("2010-2014 Emscripten authors, see its AUTHORS file") },
  { name: "musl (of Emscripten)", identifier: "MIT", text: mit("2005-2020 Rich Felker, et al.") },
  {
    name: "LLVM: libc++, compiler-rt (of Emscripten)",
    identifier: "Apache-2.0 WITH LLVM-exception",
    text: "Copyright (c) the LLVM Project's contributors. The terms of the Apache License stand at the end.",
  },
  {
    name: "ColorBrewer: the colours RdBu",
    identifier: "Apache-2.0",
    text: `Copyright (c) 2002 Cynthia Brewer, Mark Harrower, and The Pennsylvania State University. This product includes
color specifications and designs developed by Cynthia Brewer (http://colorbrewer.org/). The terms of the Apache License
stand at the end.`,
  },
  ...["source-serif-4", "stix-two-math"].map((font) => ({
    name: `Fonts: ${font}, cut down to what is used`,
    identifier: "OFL-1.1",
    text: read(`node_modules/@fontsource/${font}/LICENSE`),
  })),
];

/** Takes the lists that the builds of a folder have left in it: [{ name, version, identifier, text }]. */
export function takeBundled(folder) {
  const lists = join(folder, "licences");
  const found = readdirSync(lists).flatMap((name) => JSON.parse(readFileSync(join(lists, name), "utf8")));
  rmSync(lists, { recursive: true });
  return found;
}

export function writeLicences(folder, bundled) {
  const packages = new Map(bundled.map((one) => [`${one.name} ${one.version}`, one]));
  const named = [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => ({ ...one, name }));
  const parts = [
    { name: "posenc", identifier: "MIT", text: read("LICENSE") },
    ...named,
    ...others(),
    {
      name: "The Apache License",
      identifier: "Apache-2.0",
      text: read("node_modules/typescript/LICENSE.txt"),
    },
  ];
  const rule = "-".repeat(100);
  const text = parts.map(
    ({ name, identifier, text: terms }) => `${name} · ${identifier}\n\n${terms.trim()}\n`,
  );
  writeFileSync(join(folder, "LICENCES.txt"), text.join(`\n${rule}\n\n`));
}
