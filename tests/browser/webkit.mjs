// WebKitGTK, which stands in for Safari, through the W3C WebDriver protocol in a virtual X display. Every page has a
// browser and a display of its own, since media settings are given at its start; as that takes a second or two, the
// next one starts while this one is at work. The protocol tells neither requests nor console messages: the browser's
// traffic passes through a proxy here, which notes every address and puts a first script into each HTML page that
// collects its errors. Not seen: the console of workers, and errors that happen while a page is being left. A page
// without script still hides its <noscript>. Shift+Tab works, but its event's key is "Unidentified".
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";

/** WebDriver's code points for the keys that are no characters. */
const KEYS = {
  Alt: "\uE00A",
  ArrowDown: "\uE015",
  ArrowLeft: "\uE012",
  ArrowRight: "\uE014",
  ArrowUp: "\uE013",
  Backspace: "\uE003",
  Control: "\uE009",
  Delete: "\uE017",
  End: "\uE010",
  Enter: "\uE007",
  Escape: "\uE00C",
  Home: "\uE011",
  PageDown: "\uE00F",
  PageUp: "\uE00E",
  Shift: "\uE008",
  Tab: "\uE004",
};

/** Without this, MiniBrowser's tool bar keeps its window wider than a telephone. */
const TOOLBAR_CSS = "* { min-width: 0; min-height: 0; padding: 0; margin: 0; border: 0; font-size: 1px; }";

/** The settings of most pages. */
const PLAIN = { colorScheme: "light", reducedMotion: false, script: true };

const FIRST_SCRIPT = "/first-script-of-the-tests.js";

/** Runs in the page before its own scripts, and gathers what goes wrong in window.pageErrors. */
function collectErrors() {
  const errors = [];
  Object.defineProperty(window, "pageErrors", { value: errors });
  const { error } = console;
  console.error = (...values) => {
    errors.push(values.map(String).join(" "));
    error.apply(console, values);
  };
  addEventListener(
    "error",
    (event) => event instanceof ErrorEvent && errors.push(String(event.error ?? event.message)),
  );
  addEventListener("unhandledrejection", ({ reason }) => errors.push(`unhandled rejection: ${reason}`));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
    errors.push(`blocked by ${violatedDirective}: ${blockedURI}`);
  });
}

const running = new Set();
process.on("exit", () => running.forEach(kill));

/** Starts a process as the head of its own group, so that its children can be ended with it. */
function start(command, args, env) {
  const options = { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"], detached: true };
  const child = spawn(command, args, options);
  running.add(child);
  return child;
}

function kill(child) {
  running.delete(child);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // has ended already
  }
}

const folder = mkdtempSync(join(tmpdir(), "posenc-webkit-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A GTK configuration folder, which is where reduced motion is set. */
function gtkConfig(reducedMotion) {
  const config = join(folder, reducedMotion ? "reduced-motion" : "motion");
  mkdirSync(join(config, "gtk-3.0"), { recursive: true });
  writeFileSync(join(config, "gtk-3.0/gtk.css"), TOOLBAR_CSS);
  writeFileSync(
    join(config, "gtk-3.0/settings.ini"),
    `[Settings]\ngtk-enable-animations=${reducedMotion ? 0 : 1}\n`,
  );
  return config;
}

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

/** A free port: WebKitWebDriver cannot choose one itself. */
async function freePort() {
  const server = createServer();
  const port = await listen(server);
  await new Promise((done) => server.close(done));
  return port;
}

/** A new X server, and the display number that it chooses. */
async function startDisplay() {
  const server = start("Xvfb", ["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "1920x1600x24"]);
  const number = await new Promise((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data).trim()));
    server.once("close", (status) => reject(new Error(`Xvfb ended with status ${status}`)));
  });
  return { server, name: `:${number}` };
}

/** A proxy to this machine's own servers. Notes what is requested and what fails. */
async function startProxy() {
  const requests = [];
  const errors = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://127.0.0.1");
    if (url.pathname === FIRST_SCRIPT) {
      response.writeHead(200, { "Content-Type": "text/javascript" });
      return response.end(`(${collectErrors})();`);
    }
    requests.push(url.href);
    // As the server would: an answer in its place would be kept by the browser.
    const breakOff = () => {
      errors.push(`no answer: ${url.href}`);
      response.destroy();
    };
    if (url.hostname !== "127.0.0.1") return breakOff();
    // a service worker asks for pages as for any other file
    const isPage = request.headers.accept?.includes("text/html") || /(\/|\.html)$/.test(url.pathname);
    const headers = isPage ? { ...request.headers, "accept-encoding": "identity" } : request.headers;
    // A connection for each: of those that are kept, some have ended.
    const options = { method: request.method, headers, agent: false };
    const upstream = httpRequest(url, options, async (answer) => {
      if (answer.statusCode >= 400) errors.push(`${answer.statusCode}: ${url.href}`);
      if (!answer.headers["content-type"]?.startsWith("text/html")) {
        response.writeHead(answer.statusCode, answer.headers);
        return pipeline(answer, response, () => {});
      }
      const bytes = await answer.toArray().catch(() => response.destroy());
      if (response.destroyed) return;
      const html = Buffer.concat(bytes).toString();
      const { "content-length": _, ...rest } = answer.headers;
      response.writeHead(answer.statusCode, rest);
      response.end(html.replace(/<head[^>]*>/, `$&<script src="${FIRST_SCRIPT}"></script>`));
    });
    upstream.on("error", breakOff);
    request.pipe(upstream);
  });
  server.on("connect", (request, socket) => {
    requests.push(`https://${request.url}`);
    errors.push(`502: https://${request.url}`);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  const port = await listen(server);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, requests, errors, close };
}

/** A WebDriver process, and a function that sends it one command and returns the value answered. */
async function startDriver(env) {
  const port = await freePort();
  const child = start("WebKitWebDriver", ["-p", String(port)], {
    NO_AT_BRIDGE: "1",
    GTK_A11Y: "none",
    ...env,
  });
  async function send(method, path, body) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      body: body && JSON.stringify(body),
    });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }
  for (let tries = 0; ; ++tries) {
    try {
      await send("GET", "/status");
      return { child, send };
    } catch (error) {
      if (tries === 100) throw error;
      await wait(50);
    }
  }
}

export async function launch() {
  const binary = readdirSync("/usr/lib")
    .map((name) => `/usr/lib/${name}/webkit2gtk-4.1/MiniBrowser`)
    .find(existsSync);

  /** A browser with one window, of any size. */
  async function begin({ colorScheme, reducedMotion, script }) {
    const [display, proxy] = await Promise.all([startDisplay(), startProxy()]);
    const { child, send } = await startDriver({
      DISPLAY: display.name,
      WEBKIT_SKIA_ENABLE_CPU_RENDERING: "1", // what there is of a graphics card is a program, and slower
      XDG_CONFIG_HOME: gtkConfig(reducedMotion),
    });
    const args = ["--automation", `--proxy=${proxy.url}`];
    if (colorScheme === "dark") args.push("--dark-mode");
    if (!script) args.push("--enable-javascript-markup=false");
    const session = await send("POST", "/session", {
      capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary, args } } },
    });
    const command = (method, path, body) => send(method, `/session/${session.sessionId}${path}`, body);
    const current = await command("GET", "/window");
    async function close() {
      await command("DELETE", "").catch(() => {});
      kill(child);
      kill(display.server);
      proxy.close();
    }
    return { command, current, proxy, version: session.capabilities.browserVersion, close };
  }

  let next = begin(PLAIN);

  async function open({ width, height, ...media }) {
    const isPlain = Object.keys(PLAIN).every((key) => media[key] === PLAIN[key]);
    const browser = await (isPlain ? next : begin(media));
    if (isPlain) {
      next = begin(PLAIN);
      next.catch(() => {}); // whoever opens the next page hears of it
    }
    return { ...(await openIn({ ...browser, width, height })), close: browser.close };
  }

  /** The page in the window that a session shows at present. Commands of its windows must not be under way at once. */
  async function openIn(session) {
    const { proxy, width, height } = session;
    const handle = session.current;
    async function command(...given) {
      if (session.current !== handle) await session.command("POST", "/window", { handle });
      session.current = handle;
      return session.command(...given);
    }

    // The driver now and then loses an answer, so every script may be run again: the page keeps what it has found until
    // that has been heard.
    async function execute(script, tries = 5) {
      try {
        return await command("POST", "/execute/sync", { script, args: [] });
      } catch (error) {
        if (tries === 1 || !/Could not parse script result/.test(error.message)) throw error;
        return execute(script, tries - 1);
      }
    }
    let asked = 0;
    const heard = [];
    async function evaluate(expression) {
      const name = `answer${++asked}`; // several may be under way at once
      const forget = heard.splice(0).map((old) => `delete window.${old};`);
      await execute(`${forget.join("")} if (window.${name}) return; window.${name} = { pending: true };
        Promise.resolve().then(() => ${expression})
        .then((value) => { window.${name} = { value }; }, (error) => { window.${name} = { error: String(error) }; });`);
      for (;;) {
        const answer = await execute(`return window.${name} ?? null;`);
        if (!answer) throw new Error("another page was opened before this one had answered");
        if (!answer.pending) heard.push(name);
        if (answer.error) throw new Error(answer.error);
        if (!answer.pending) return answer.value;
        await new Promise((done) => setTimeout(done, 10));
      }
    }
    const act = (type, id, action, parameters) =>
      command("POST", "/actions", { actions: [{ type, id, parameters, actions: [action] }] });

    // the window is larger than the page in it
    const size = () =>
      evaluate("JSON.stringify([innerWidth, innerHeight, outerWidth, outerHeight])").then(JSON.parse);
    const [innerWidth, innerHeight, outerWidth, outerHeight] = await size();
    const rect = { width: width + outerWidth - innerWidth, height: height + outerHeight - innerHeight };
    await command("POST", "/window/rect", { x: 0, y: 0, ...rect });
    // the driver answers before the window system has made the window that large
    for (let waited = 0; ; waited += 50) {
      const [actualWidth, actualHeight] = await size();
      if (actualWidth === width && actualHeight === height) break;
      if (waited > 10_000)
        throw new Error(`the page is ${actualWidth} by ${actualHeight}, not ${width} by ${height}`);
      await new Promise((done) => setTimeout(done, 50));
    }

    const errors = [];
    const collect = async () =>
      errors.push(...JSON.parse(await evaluate("JSON.stringify(window.pageErrors?.splice(0) ?? [])")));
    return {
      async goto(url) {
        await collect();
        await command("POST", "/url", { url });
      },
      evaluate,
      pointer: (type, x, y) =>
        act(
          "pointer",
          "mouse",
          type === "move"
            ? { type: "pointerMove", x, y, duration: 0 }
            : { type: type === "down" ? "pointerDown" : "pointerUp", button: 0 },
          { pointerType: "mouse" },
        ),
      key: (type, key) =>
        act("key", "keyboard", { type: type === "down" ? "keyDown" : "keyUp", value: KEYS[key] ?? key }),
      screenshot: async (path) => writeFileSync(path, await command("GET", "/screenshot"), "base64"),
      async errors() {
        await collect();
        return [...errors, ...proxy.errors];
      },
      requests: async () => [...proxy.requests],
      async sibling() {
        const { handle: another } = await command("POST", "/window/new", { type: "window" });
        await session.command("POST", "/window", { handle: another });
        session.current = another;
        return openIn(session);
      },
      async close() {
        await command("DELETE", "/window");
        session.current = null;
      },
    };
  }

  const { version } = await next;
  return { version, open, close: async () => running.forEach(kill) };
}
