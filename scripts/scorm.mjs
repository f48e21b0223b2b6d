// Packs the offline lesson for courses that speak SCORM 1.2: one zip with the page and the manifest that names it.
//   node scripts/scorm.mjs [dist/lesson.html] [dist/posenc-scorm12.zip] [--mastery 80]
// --mastery: the score, from 0 to 100, from which the course counts the lesson as passed.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { strToU8, zipSync } from "fflate";
import { Failure, main, ROOT } from "./run.mjs";

/** The first moment that a zip can name, on every machine's clock: the same lesson gives the same bytes. */
const MTIME = new Date(1980, 0, 1);

/** Without what XML cannot hold, even escaped. */
const escapeXml = (text) =>
  text
    .replace(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * The package's manifest, by SCORM 1.2's content aggregation model: one course of one lesson, which is all the files.
 * `mastery` is null or from 0 to 100.
 */
function manifest({ title, version, mastery, files }) {
  const name = escapeXml(title);
  return `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="posenc" version="${escapeXml(version)}" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>1.2</schemaversion>
  </metadata>
  <organizations default="course">
    <organization identifier="course">
      <title>${name}</title>
      <item identifier="lesson" identifierref="files">
        <title>${name}</title>${mastery === null ? "" : `\n        <adlcp:masteryscore>${mastery}</adlcp:masteryscore>`}
      </item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="files" type="webcontent" adlcp:scormtype="sco" href="index.html">
${files.map((file) => `      <file href="${escapeXml(file)}"/>`).join("\n")}
    </resource>
  </resources>
</manifest>
`;
}

/** Tells the page that it is in a package, so that it can say when no course is found around it. */
function marked(html) {
  const head = /<head\b[^>]*>/i;
  if (!head.test(html)) throw new TypeError("html must be a page with a <head>");
  return html.replace(head, (tag) => `${tag}<meta name="posenc-package" content="scorm12">`);
}

/**
 * The zip's bytes. `html` is a page that needs no other file; `title` and `version` are what courses list.
 * Throws a TypeError or RangeError that names the field.
 */
export function scormPackage({ html, title, version, mastery = null }) {
  for (const [field, text] of Object.entries({ html, title, version }))
    if (typeof text !== "string" || text.trim() === "") throw new TypeError(`${field} must be a text`);
  if (mastery !== null && !(mastery >= 0 && mastery <= 100))
    throw new RangeError(`mastery must be from 0 to 100, not ${mastery}`);
  const files = { "index.html": strToU8(marked(html)) };
  const xml = manifest({ title, version, mastery, files: Object.keys(files) });
  return zipSync({ "imsmanifest.xml": strToU8(xml), ...files }, { level: 9, mtime: MTIME });
}

/** Packs a file; its title is the page's own, its version the project's. */
export function packScorm({ from, to, mastery = null }) {
  const html = readFileSync(from, "utf8");
  const title = html.match(/<title>([^<&]*)<\/title>/i)?.[1].trim();
  if (!title) throw new Failure(`${from} needs a <title>, without character references`);
  const { version } = JSON.parse(readFileSync(resolve(ROOT, "package.json"), "utf8"));
  writeFileSync(to, scormPackage({ html, title, version, mastery }));
}

await main(import.meta.url, (args) => {
  const at = args.indexOf("--mastery");
  const mastery = at < 0 ? null : Number(args[at + 1] ?? Number.NaN);
  const [from = "dist/lesson.html", to = "dist/posenc-scorm12.zip"] = args.filter(
    (_, i) => at < 0 || (i !== at && i !== at + 1),
  );
  packScorm({ from: resolve(ROOT, from), to: resolve(ROOT, to), mastery });
});
