// Serves a folder of static files on this machine, with the headers that a careful host sends.
//   node scripts/serve.mjs [FOLDER] [--port N]
import { createReadStream } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, posix, resolve, sep } from "node:path";
import { pipeline } from "node:stream";
import { Failure, main, ROOT } from "./run.mjs";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/vnd.microsoft.icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
  ".xml": "application/xml",
};

/** Sent with every answer. Whatever works under it makes no request to another origin. */
export const HEADERS = {
  // Frames without an origin of their own ask for their modules and for WebAssembly as strangers.
  "Access-Control-Allow-Origin": "*",
  "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
  "X-Content-Type-Options": "nosniff",
};

/**
 * The headers of the page for frames. In a frame without an origin of its own, Safari takes 'self' for nothing, so its
 * policy says the server's origin too. Based on: WebKit bug 316847.
 */
function frameHeaders({ headers: { host = "" } }) {
  if (!/^[\w.:[\]-]+$/.test(host)) return HEADERS;
  const policy = HEADERS["Content-Security-Policy"].replaceAll("'self'", `'self' http://${host}`);
  return { ...HEADERS, "Content-Security-Policy": policy };
}

/** Vite names a file by its content's hash: such a file never changes. */
const isHashed = (path) => /\/assets\/[^/]+-[\w-]{8}\.\w+$/.test(path);

const accepts = (request, coding) =>
  (request.headers["accept-encoding"] ?? "").split(",").some((item) => {
    const [name, quality = "q=1"] = item.split(";").map((part) => part.trim());
    return name === coding && Number(quality.slice(2)) > 0;
  });

/** { file, size, isFolder } of a path below `root`, links resolved; null if it is absent or outside. */
async function find(root, path) {
  try {
    const file = await realpath(join(root, path));
    if (file !== root && !file.startsWith(root + sep)) return null;
    const info = await stat(file);
    return info.isFile() || info.isDirectory()
      ? { file, size: info.size, isFolder: info.isDirectory() }
      : null;
  } catch {
    return null;
  }
}

/** The decoded path below `prefix`, with every ".." resolved; null for what can name no file. */
function pathOf(url, prefix) {
  try {
    const path = decodeURIComponent(url.split(/[?#]/)[0]);
    if (path.includes("\0") || !path.startsWith(`${prefix}/`)) return null;
    return posix.normalize(path.slice(prefix.length));
  } catch {
    return null; // not valid percent-encoding
  }
}

async function answer({ root, prefix, headers: always, page }, request, response) {
  const send = (status, headers, body) => {
    response.writeHead(status, { ...always, "Content-Length": Buffer.byteLength(body), ...headers });
    response.end(request.method === "HEAD" ? undefined : body);
  };
  const text = { "Content-Type": "text/plain; charset=utf-8" };
  if (!["GET", "HEAD"].includes(request.method))
    return send(405, { ...text, Allow: "GET, HEAD" }, "Only GET and HEAD are answered here.\n");
  if (prefix && request.url === prefix) return send(301, { ...text, Location: `${prefix}/` }, "Moved.\n");

  const path = pathOf(request.url, prefix);
  const made = path && page?.(path);
  if (made) return send(200, { "Content-Type": TYPES[".html"], "Cache-Control": "no-cache" }, made);
  let found = path && (await find(root, path));
  if (found?.isFolder && !path.endsWith("/"))
    return send(301, { ...text, Location: encodeURI(`${prefix}${path}/`) }, "Moved.\n");
  if (found?.isFolder) found = await find(root, posix.join(path, "index.html"));
  else if (path?.endsWith("/")) found = null;
  if (!found || found.isFolder) {
    const body = await readFile(join(root, "404.html")).catch(
      () => "<!doctype html><title>404</title><p>No such page.\n",
    );
    return send(404, { "Content-Type": TYPES[".html"] }, body);
  }

  const headers = {
    ...(always === HEADERS && posix.basename(path) === "embed.html" ? frameHeaders(request) : always),
    "Content-Type": TYPES[extname(found.file)] ?? "application/octet-stream",
    "Cache-Control": isHashed(path) ? "public, max-age=31536000, immutable" : "no-cache",
    Vary: "Accept-Encoding",
  };
  for (const [coding, suffix] of [
    ["br", ".br"],
    ["gzip", ".gz"],
  ]) {
    const packed = accepts(request, coding) && (await find(root, found.file.slice(root.length) + suffix));
    if (!packed || packed.isFolder) continue;
    headers["Content-Encoding"] = coding;
    found = packed;
    break;
  }
  response.writeHead(200, { ...headers, "Content-Length": found.size });
  if (request.method === "HEAD") return response.end();
  pipeline(createReadStream(found.file), response, () => {});
}

/**
 * Serves `root` below `prefix` ("" or "/a/path") with `headers`; port 0 is any free one. page(path) may give the HTML
 * of a path that has no file. Resolves to { url, port, close }.
 */
export async function serve({ root, port = 0, prefix = "", headers = HEADERS, page }) {
  const folder = await realpath(root).catch(() => {
    throw new Failure(`${root} does not exist: npm run build`);
  });
  const server = createServer((request, response) => {
    answer({ root: folder, prefix, headers, page }, request, response).catch(() => response.destroy());
  });
  await new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, "127.0.0.1", done);
  });
  const actual = server.address().port;
  const close = () =>
    new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${actual}${prefix}/`, port: actual, close };
}

/** Serves a folder until the process is ended. Without --port: the first free port from 8417 on. */
export async function serveForever(args) {
  const at = args.indexOf("--port");
  const wanted = at < 0 ? null : args[at + 1];
  if (wanted !== null && !/^\d{1,5}$/.test(wanted))
    throw new Failure(`--port takes a number, not "${wanted}"`);
  const [folder = "dist"] = args.filter((_, i) => at < 0 || (i !== at && i !== at + 1));
  const root = resolve(ROOT, folder);
  for (let port = Number(wanted ?? 8417); ; ++port) {
    try {
      return (await serve({ root, port })).url;
    } catch (error) {
      if (error.code === "EACCES")
        throw new Failure(`Port ${port} needs more rights: choose one above 1023.`);
      if (error.code !== "EADDRINUSE") throw error;
      if (wanted !== null) throw new Failure(`Port ${port} is in use: choose another with --port.`);
    }
  }
}

await main(import.meta.url, async (args) => console.log(await serveForever(args)));
