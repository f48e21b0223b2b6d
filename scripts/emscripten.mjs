// Which Emscripten compiles the core: $EMSCRIPTEN_ROOT, else the SDK in $EMSDK, else the emcc on the PATH, else
// Debian's. The first that is there is taken.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { which } from "./run.mjs";

const isRoot = (folder) => existsSync(join(folder, "cmake/Modules/Platform/Emscripten.cmake"));

/** emcc is a link into its folder, or a wrapper, whose neighbour em-config then knows the folder. */
function rootOf(emcc) {
  const folder = dirname(realpathSync(emcc));
  if (isRoot(folder)) return folder;
  const asked = spawnSync(join(dirname(emcc), "em-config"), ["EMSCRIPTEN_ROOT"], { encoding: "utf8" });
  return asked.status === 0 ? asked.stdout.trim() : folder;
}

/** { root, version } of the Emscripten to use, or null. */
export function findEmscripten() {
  const { EMSCRIPTEN_ROOT, EMSDK } = process.env;
  const emcc = which("emcc");
  const places = [
    EMSCRIPTEN_ROOT,
    EMSDK && join(EMSDK, "upstream/emscripten"),
    emcc && rootOf(emcc),
    "/usr/share/emscripten",
  ];
  const root = places.find((place) => place && isRoot(place));
  if (!root) return null;
  const version =
    readFileSync(join(root, "emscripten-version.txt"), "utf8").match(/\d+\.\d+\.\d+/)?.[0] ?? "0";
  return { root, version };
}

/** The environment for CMake. Debian's emcc needs Debian's acorn, where another Node does not look by itself. */
export function emscriptenEnv({ root }) {
  const modules = [process.env.NODE_PATH, "/usr/share/nodejs"].filter(Boolean).join(delimiter);
  return { EMSCRIPTEN_ROOT: root, NODE_PATH: modules };
}
