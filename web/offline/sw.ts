// The lesson without a network. This service worker keeps each version of the site in a cache of its own, filled as a
// whole or not at all, and answers for two kinds of address only:
//   pages   from the version that is active
//   assets  whose names carry a hash of their content: under one name there is one content for ever, so any version
//           may answer, and an open page gets the script and wasm that it was built with, whatever came after it
// All else goes to the network as if there were no worker: what has a fixed name and other sites embed is never old.
// A new version waits until no page of the old one is open, or until a page sends "activate". Each page of the lesson
// sends "opened".

import type { Build } from "./plugin.ts";

/** Written before this script by plugin.ts. */
declare const BUILD: Build;

/** What a worker's global scope has and a page's has not, as far as it is used here. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface ServiceWorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: { includeUncontrolled: boolean }): Promise<{ id: string; url: string }[]>;
    claim(): Promise<void>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "message", listener: (event: ExtendableEvent & MessageEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}
const worker = globalThis as unknown as ServiceWorkerScope;

const { scope } = worker.registration;
const folder = new URL(scope).pathname;
// An origin may hold several lessons, each below its own path.
const prefix = `posenc ${folder} `;
const current = prefix + BUILD.version;
/** Where the ids of the pages are kept that were open when this version took over. */
const EARLIER_PAGES = "earlier-pages";

/** A file as this version has it, from the browser's HTTP cache or else from the server. Rejects if neither has it. */
async function download(path: string, integrity?: string): Promise<Response> {
  for (const cache of ["default", "reload"] as const) {
    try {
      const answer = await fetch(path, { cache, integrity: integrity ?? "", priority: "low" });
      const body = await answer.blob();
      if (!answer.ok || (integrity === undefined && !isWhole(await body.text()))) continue;
      const headers = new Headers(answer.headers);
      // These are about the transfer. All others stay, the security policy first of all.
      for (const name of ["Content-Encoding", "Content-Length", "Vary"]) headers.delete(name);
      // Made anew, for a page must not be answered with what was redirected.
      return new Response(body, { headers });
    } catch {
      // Not this content, or no answer.
    }
  }
  throw new Error(`${path} did not arrive as version ${BUILD.version} has it`);
}

/** Whether this is a page of this version, to its end. Hosts put things into pages, so their bytes may differ. */
const isWhole = (html: string): boolean => html.includes(BUILD.version) && html.includes("</html>");

/** The JavaScript in the place of WebAssembly is large, and only for those who have none. */
const needless = (path: string): boolean => {
  if (!/-twin-[\w-]{8}\.js$/.test(path)) return false;
  try {
    const empty = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    return Boolean(new WebAssembly.Instance(empty));
  } catch {
    return false;
  }
};

async function install(): Promise<void> {
  const assets = Object.entries(BUILD.assets).filter(([path]) => !needless(path));
  const wanted = [...BUILD.pages.map((page) => [page] as const), ...assets];
  const files = await Promise.all(
    wanted.map(async ([path, integrity]) => [path, await download(path, integrity)] as const),
  );
  try {
    const cache = await caches.open(current);
    await Promise.all(files.map(([path, file]) => cache.put(path, file)));
  } catch (error) {
    await caches.delete(current);
    throw error;
  }
}

async function openPages(): Promise<string[]> {
  const open = await worker.clients.matchAll({ includeUncontrolled: true });
  return open.filter(({ url }) => url.startsWith(scope)).map(({ id }) => id);
}

async function activate(): Promise<void> {
  const earlier = await openPages();
  await worker.clients.claim();
  const cache = await caches.open(current);
  await cache.put(EARLIER_PAGES, Response.json(earlier));
  await tidy();
}

/** Deletes the other versions once all pages that were open when this one took over are gone. */
async function tidy(): Promise<void> {
  const others = await otherVersions();
  // One of them may just be filled.
  if (worker.registration.installing || worker.registration.waiting) return;
  const kept = await caches.match(EARLIER_PAGES, { cacheName: current });
  const earlier: string[] = (await kept?.json()) ?? [];
  const open = await openPages();
  if (open.some((id) => earlier.includes(id))) return;
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** A lesson that its host has taken away is not kept from the next visit on: whatever is there now is to be seen. */
async function leave(): Promise<void> {
  const answer = await fetch("sw.js", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (answer?.status === 404 || answer?.status === 410) await worker.registration.unregister();
}

const otherVersions = async (): Promise<string[]> =>
  (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== current);

async function find(path: string, versions: string[]): Promise<Response | undefined> {
  for (const cacheName of versions) {
    const found = await caches.match(path, { cacheName });
    if (found) return found;
  }
  return undefined;
}

const findPage = (path: string) => find(path, [current]);
const findAsset = async (path: string) => (await findPage(path)) ?? (await find(path, await otherVersions()));

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("message", (event) => {
  if (event.data === "activate") event.waitUntil(worker.skipWaiting());
  if (event.data === "opened") event.waitUntil(Promise.all([tidy(), leave()]));
});
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || request.headers.has("Range") || !request.url.startsWith(scope)) return;
  const path = new URL(request.url).pathname.slice(folder.length);
  const answer = (found: Promise<Response | undefined>): void =>
    // Storage can fail at any time.
    event.respondWith(found.catch(() => undefined).then((file) => file ?? fetch(request)));
  if (request.mode === "navigate") {
    // Some hosts show teachers.html as "teachers".
    const page = BUILD.pages.find((name) => [path || "index.html", `${path}.html`].includes(name));
    if (page) answer(findPage(page));
  } else if (/^assets\/[^/]+-[\w-]{8}\.\w+$/.test(path)) {
    answer(findAsset(path));
  }
});
