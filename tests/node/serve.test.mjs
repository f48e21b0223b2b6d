// The static server of scripts/serve.mjs: what it sends, and what it never sends.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { HEADERS, serve } from "../../scripts/serve.mjs";

const folder = mkdtempSync(join(tmpdir(), "posenc-serve-"));
const root = join(folder, "dist");
let site;
let below;

before(async () => {
  mkdirSync(join(root, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "secret");
  writeFileSync(join(root, "index.html"), "<!doctype html>home");
  writeFileSync(join(root, "embed.html"), "<!doctype html>frame");
  writeFileSync(join(root, "core.wasm"), "wasm");
  writeFileSync(join(root, "core.wasm.br"), "packed");
  writeFileSync(join(root, "core.wasm.gz"), "zipped");
  writeFileSync(join(root, "assets/page-Ab3_x-9Z.mjs"), "export {}");
  writeFileSync(join(root, "assets/page.mjs"), "export {}");
  symlinkSync(join(folder, "secret.txt"), join(root, "link.txt"));
  symlinkSync("core.wasm", join(root, "alias.wasm"));
  site = await serve({ root });
  below = await serve({ root, prefix: "/a/course" });
});

after(async () => {
  await Promise.all([site.close(), below.close()]);
  rmSync(folder, { recursive: true });
});

/** Sends a path exactly as written, which fetch() would tidy up first. */
function get(path, { port = site.port, method = "GET", headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let body = "";
      response.on("data", (data) => (body += data));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    sent.on("error", reject).end();
  });
}

test("a folder answers with its index.html", async () => {
  const { status, headers, body } = await get("/?figure=1");
  assert.deepEqual(
    [status, headers["content-type"], body],
    [200, "text/html; charset=utf-8", "<!doctype html>home"],
  );
});

test("a folder without its slash is redirected to it, with the prefix", async () => {
  assert.equal((await get("/assets")).headers.location, "/assets/");
  assert.equal((await get("/a/course/assets", { port: below.port })).headers.location, "/a/course/assets/");
  assert.equal((await get("/a/course", { port: below.port })).headers.location, "/a/course/");
});

test("a redirect never leaves this server", async () => {
  assert.equal((await get("//assets")).headers.location, "/assets/");
});

test("every answer carries the security headers", async () => {
  for (const path of ["/", "/absent", "/assets"]) {
    const { headers } = await get(path);
    for (const [name, value] of Object.entries(HEADERS))
      assert.equal(headers[name.toLowerCase()], value, path);
  }
});

test("a frame without an origin of its own may read modules and WebAssembly", async () => {
  for (const path of ["/core.wasm", "/assets/page.mjs", "/assets/page-Ab3_x-9Z.mjs"]) {
    const { headers } = await get(path, { headers: { origin: "null" } });
    assert.equal(headers["access-control-allow-origin"], "*", path);
  }
});

test("the page for frames has a policy that holds in a frame without an origin of its own", async () => {
  const policy = async (host) =>
    (await get("/embed.html", { headers: { host } })).headers["content-security-policy"];
  const own = "'self' http://127.0.0.1:8417";
  assert.equal(await policy("127.0.0.1:8417"), `default-src ${own}; script-src ${own} 'wasm-unsafe-eval'`);
  assert.equal(await policy("a; script-src *"), HEADERS["Content-Security-Policy"]);
});

test("modules and WebAssembly have the types that browsers insist on", async () => {
  assert.equal((await get("/core.wasm")).headers["content-type"], "application/wasm");
  assert.equal((await get("/alias.wasm")).headers["content-type"], "application/wasm");
  assert.equal((await get("/assets/page.mjs")).headers["content-type"], "text/javascript; charset=utf-8");
});

test("a packed file is sent to whoever accepts it, brotli first", async () => {
  const coding = async (accepted) => {
    const { headers, body } = await get("/core.wasm", { headers: { "accept-encoding": accepted } });
    assert.equal(headers.vary, "Accept-Encoding");
    assert.equal(headers["content-type"], "application/wasm");
    return [headers["content-encoding"], body];
  };
  assert.deepEqual(await coding("gzip, deflate, br"), ["br", "packed"]);
  assert.deepEqual(await coding("gzip"), ["gzip", "zipped"]);
  assert.deepEqual(await coding("br;q=0, gzip;q=0.5"), ["gzip", "zipped"]);
  assert.deepEqual(await coding("identity"), [undefined, "wasm"]);
});

test("only a file named by its hash may be kept for ever", async () => {
  const caching = async (path) => (await get(path)).headers["cache-control"];
  assert.equal(await caching("/assets/page-Ab3_x-9Z.mjs"), "public, max-age=31536000, immutable");
  for (const path of ["/", "/core.wasm", "/assets/page.mjs"])
    assert.equal(await caching(path), "no-cache", path);
});

test("nothing outside the folder is served", async () => {
  const paths = [
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/link.txt",
    "/index.html%00.txt",
    "/%",
    "/core.wasm/",
    `${folder}/secret.txt`,
  ];
  for (const path of paths) {
    const { status, body } = await get(path);
    assert.equal(status, 404, path);
    assert.doesNotMatch(body, /secret|root:/, path);
  }
});

test("below a prefix, paths outside it are absent", async () => {
  const port = below.port;
  assert.equal((await get("/a/course/core.wasm", { port })).status, 200);
  for (const path of ["/", "/core.wasm", "/a/courses/core.wasm"])
    assert.equal((await get(path, { port })).status, 404);
});

test("HEAD sends the headers of GET and no body", async () => {
  const { status, headers, body } = await get("/core.wasm", { method: "HEAD" });
  assert.deepEqual([status, headers["content-length"], body], [200, "4", ""]);
});

test("other methods are refused", async () => {
  const { status, headers } = await get("/", { method: "POST" });
  assert.deepEqual([status, headers.allow], [405, "GET, HEAD"]);
});
