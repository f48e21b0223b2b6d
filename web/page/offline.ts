// Registers the service worker that keeps the lesson (web/offline/sw.ts), and says when a newer version has arrived.

const FIRST_FIGURES_MILLISECONDS = 4000;
const LOOKS = [1, 3, 10, 30, 100];

export async function offline(): Promise<void> {
  // A page of another build, in development or in one file, has no worker; in a frame the lesson is a guest that leaves
  // nothing behind; an opaque origin and file: can have none.
  const hosted =
    document.querySelector('meta[name="posenc-version"]') && location.protocol.startsWith("http");
  if (!hosted || window !== window.top || window.origin === "null" || !("serviceWorker" in navigator)) return;
  if (document.readyState !== "complete")
    await new Promise((done) => addEventListener("load", done, { once: true }));
  // A private window, storage refused: the lesson goes on being read from the network.
  const registration = await register().catch(() => null);
  if (!registration) return;

  const show = notice(() => {
    const { waiting } = registration;
    // None waits if another page has let it take over.
    if (!waiting) return location.reload();
    waiting.addEventListener("statechange", () => {
      if (waiting.state === "activated") location.reload();
    });
    waiting.postMessage("activate");
  });
  let shown: ServiceWorker | null = null;
  const look = (): void => {
    const { waiting, active } = registration;
    // Without an active one it is the first, and this page is of its version.
    if (!waiting || !active || waiting === shown) return;
    shown = waiting;
    show();
  };
  const watch = (): void => registration.installing?.addEventListener("statechange", look);
  look();
  watch();
  registration.addEventListener("updatefound", watch);
  // WebKit does not always tell a page of the worker that another page's visit has brought.
  if (navigator.serviceWorker.controller) for (const seconds of LOOKS) setTimeout(look, 1000 * seconds);
  registration.active?.postMessage("opened");
}

async function register(): Promise<ServiceWorkerRegistration> {
  // A first worker fetches the whole lesson: what the reader looks at now comes before it.
  if (!navigator.serviceWorker.controller)
    await new Promise((done) => setTimeout(done, FIRST_FIGURES_MILLISECONDS));
  return navigator.serviceWorker.register("sw.js");
}

/** Puts an empty live region into the page, after the first link, and returns what shows the notice in it. */
function notice(reload: () => void): () => void {
  const region = document.createElement("div");
  region.className = "news";
  region.setAttribute("role", "status");
  document.querySelector(".skip")?.after(region);
  const button = (label: string, act: () => void): HTMLButtonElement => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  };
  return () => {
    const text = document.createElement("p");
    text.append("A new version of the lesson is ready.");
    text.append(
      button("Reload", reload),
      button("Not now", () => region.replaceChildren()),
    );
    region.replaceChildren(text);
  };
}
