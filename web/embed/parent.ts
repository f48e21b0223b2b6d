// For the page around: <script type="module" src="…/embed.js"></script> makes each iframe that holds a figure as tall
// as the figure, and hands on the page's theme. Frames may come and go at any time: they are found when they speak.
// Importing it where there is no document does nothing.

import { hostScheme, onHostTheme } from "../figures/theme.ts";

const PAGES = /\/(embed|offline\/pe-[a-z0-9-]+)\.html$/;
/** Heights that are believed, in CSS pixels. */
const LEAST = 20;
const MOST = 20_000;

/** The inline heights that frames had before. */
let before = new WeakMap<HTMLIFrameElement, string>();
let leaveTheme: (() => void) | undefined;

function addressOf({ src }: HTMLIFrameElement): URL | undefined {
  try {
    return new URL(src);
  } catch {
    return undefined; // no address yet
  }
}

function frames(): HTMLIFrameElement[] {
  return [...document.querySelectorAll("iframe")].filter((frame) =>
    PAGES.test(addressOf(frame)?.pathname ?? ""),
  );
}

const send = (frame: HTMLIFrameElement, message: unknown): void =>
  // To any origin: that of a sandboxed frame is opaque, and nothing sent is secret.
  frame.contentWindow?.postMessage(message, "*");

/** Hands the page's theme on, unless the frame's address names one. */
function sendTheme(frame: HTMLIFrameElement): void {
  const own = /[#&]theme=(light|dark)(&|$)/.test(addressOf(frame)?.hash ?? "");
  const scheme = hostScheme(frame) || getComputedStyle(frame).colorScheme;
  const theme = own || !["light", "dark"].includes(scheme) ? "auto" : scheme;
  send(frame, { type: "posenc:set-theme", v: 1, theme });
}

function setHeight(frame: HTMLIFrameElement, height: number): void {
  if (!before.has(frame)) before.set(frame, frame.style.height);
  const { boxSizing } = getComputedStyle(frame);
  const borders = boxSizing === "border-box" ? frame.offsetHeight - frame.clientHeight : 0;
  frame.style.height = `${Math.ceil(height) + borders}px`;
}

function hear({ source, data }: MessageEvent): void {
  if (source === null || typeof data !== "object" || data === null) return;
  const { type, height, action } = data as Record<string, unknown>;
  const begins = action === "hello"; // to H5P's resizer, as soon as the frame can listen
  const resizes = type === "posenc:resize" || type === "iframe-resized";
  if (!begins && !resizes) return;
  const frame = frames().find(({ contentWindow }) => contentWindow === source);
  if (!frame) return;
  if (begins) sendTheme(frame);
  else if (typeof height === "number" && height >= LEAST && height <= MOST) setHeight(frame, height);
}

/** Begins; done on import. */
export function start(): void {
  if (leaveTheme) return;
  addEventListener("message", hear);
  leaveTheme = onHostTheme(document.documentElement, () => {
    for (const frame of frames()) sendTheme(frame);
  });
  // To frames that spoke before this page listened.
  for (const frame of frames()) {
    sendTheme(frame);
    send(frame, { type: "iframe-get-child-dimensions" });
  }
}

/** Ends, and gives frames back their heights and their own theme. */
export function stop(): void {
  removeEventListener("message", hear);
  leaveTheme?.();
  leaveTheme = undefined;
  for (const frame of frames()) {
    frame.style.height = before.get(frame) ?? frame.style.height;
    send(frame, { type: "posenc:set-theme", v: 1, theme: "auto" });
  }
  before = new WeakMap();
}

if (typeof document === "object") start();
