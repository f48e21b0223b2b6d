// How a course that records by xAPI opens the lesson: its store's address and key stand in the page's own address, with
// who the reader is. All of it is text that anyone may have written.
// Based on: Rustici Software, "Launch Methods", the Tin Can API launch.

/** An Agent, with exactly one identifier. */
export type Actor = Readonly<Record<string, unknown>>;

export interface Store {
  /** Where statements are posted. */
  statements: string;
  /** The Authorization header. */
  auth: string;
  /** null: the reader stays anonymous. */
  actor: Actor | null;
}

export interface Launch {
  store: Store | null;
  /** Why there is no store although the address speaks of one; a sentence. */
  problem: string | null;
  activity: string | null;
  registration: string | null;
  /** From 0 to 100: the score at which the reader passes. */
  mastery: number | null;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const local = ["localhost", "127.0.0.1"];

/** Reads `?endpoint=…&auth=…`, and of `actor`, `activity_id`, `registration`, `mastery_score` those that are sound. */
export function readLaunch(search: string): Launch {
  const query = new URLSearchParams(search);
  const activity = query.get("activity_id") ?? "";
  const registration = query.get("registration") ?? "";
  const mastery = query.get("mastery_score") ?? "";
  const launch: Launch = {
    store: null,
    problem: null,
    activity: parseUrl(activity) ? activity : null,
    registration: uuid.test(registration) ? registration : null,
    mastery: /^\d{1,3}(\.\d+)?$/.test(mastery) && Number(mastery) <= 100 ? Number(mastery) : null,
  };
  const [endpoint, auth] = [query.get("endpoint"), query.get("auth")];
  if (endpoint === null && auth === null) return launch;
  try {
    launch.store = readStore(endpoint ?? "", auth ?? "", query.get("actor") ?? "");
  } catch (error) {
    launch.problem = (error as Error).message;
  }
  return launch;
}

function readStore(endpoint: string, auth: string, actor: string): Store {
  const url = parseUrl(endpoint);
  if (!url) throw new RangeError("endpoint must be the address of a learning record store");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local.includes(url.hostname))) {
    throw new RangeError("endpoint must begin with https:");
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new RangeError("endpoint must be an address without name, password, query or fragment");
  }
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(auth)) {
    throw new RangeError("auth must be the text of an Authorization header");
  }
  return { statements: `${url.href.replace(/\/?$/, "/")}statements`, auth, actor: readActor(actor) };
}

/** An Agent identified in one of the four ways of xAPI 1.0.3, section 2.4.2; null otherwise. */
function readActor(text: string): Actor | null {
  let actor: unknown;
  try {
    actor = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(actor) || (actor.objectType ?? "Agent") !== "Agent") return null;
  const { name, mbox, mbox_sha1sum, openid, account } = actor;
  const identifiers = Object.entries({ mbox, mbox_sha1sum, openid, account }).filter(
    ([, value]) => value !== undefined,
  );
  const [identifier] = identifiers;
  if (!identifier || identifiers.length > 1) return null;
  const [kind, value] = identifier;
  const sound =
    kind === "account"
      ? isRecord(value) && typeof value.name === "string" && !!parseUrl(String(value.homePage))
      : typeof value === "string" && value !== "";
  if (!sound) return null;
  return { objectType: "Agent", ...(typeof name === "string" ? { name } : {}), [kind]: value };
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
