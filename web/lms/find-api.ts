// SCORM 1.2 lets the content look for the course's run-time: an object named API in this window, in a frame around it,
// or around the window that opened one of these. Based on: ADL, SCORM 1.2 Run-Time Environment, 2001, section 3.3.

/** The run-time's functions. Answers are strings by the standard; run-times also give booleans and numbers. */
export interface ScormApi {
  LMSInitialize(nothing: ""): unknown;
  LMSFinish(nothing: ""): unknown;
  LMSGetValue(element: string): unknown;
  LMSSetValue(element: string, value: string): unknown;
  LMSCommit(nothing: ""): unknown;
  LMSGetLastError(): unknown;
  LMSGetErrorString(code: string): unknown;
}

/** Deeper than any course nests its frames; a chain that never ends is given up here. */
const mostLevels = 20;

/** The nearest run-time, or null. Windows of other origins, which refuse to be read, are passed over. */
export function findApi(page: unknown): ScormApi | null {
  const frames = outward(page);
  const openers = frames.flatMap((frame) => outward(read(frame, "opener")));
  for (const frame of [...frames, ...openers]) {
    const api = read(frame, "API");
    if (typeof read(api, "LMSInitialize") === "function") return api as ScormApi;
  }
  return null;
}

/** A window and the frames around it, innermost first. */
function outward(innermost: unknown): unknown[] {
  const frames: unknown[] = [];
  let frame = innermost;
  while (frame && !frames.includes(frame) && frames.length < mostLevels) {
    frames.push(frame);
    frame = read(frame, "parent");
  }
  return frames;
}

/** A property; undefined where reading it is refused. */
function read(owner: unknown, name: string): unknown {
  try {
    return (owner as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}
