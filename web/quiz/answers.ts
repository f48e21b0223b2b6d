// The reader's answers, by question: which option, from 0. They stay in this browser, under one key, unless a course
// keeps them, and are read as what they are: text that anyone may have written.

const key = "posenc-answers";
const version = 1;
export const idPattern = /^[a-z][a-z0-9-]{0,63}$/;
const mostAnswers = 500;

export type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

/**
 * Without storage (an opaque origin, a full disk) answers last as long as the page.
 *
 * @fires change - An answer was given or withdrawn, here or in another window.
 */
export class Answers extends EventTarget {
  #answers = new Map<string, number>();
  #storage: () => Storage;
  #place = "this browser";
  #kept = true;

  /** `storage` may throw, as access to localStorage does. */
  constructor(storage: () => Storage = () => localStorage) {
    super();
    this.#storage = storage;
    this.reload();
  }

  /** Whether the last change will be there on the next visit. */
  get kept(): boolean {
    return this.#kept;
  }

  /** Who keeps the answers, as words that may follow "in". */
  get place(): string {
    return this.#place;
  }

  /** Every answer, by question. */
  get all(): ReadonlyMap<string, number> {
    return this.#answers;
  }

  get(id: string): number | undefined {
    return this.#answers.get(id);
  }

  set(id: string, option: number): void {
    this.#change((answers) => answers.set(id, option));
  }

  remove(ids: Iterable<string>): void {
    this.#change((answers) => {
      for (const id of ids) answers.delete(id);
    });
  }

  forget(): void {
    this.#change((answers) => answers.clear());
  }

  /** Leaves the storage of before as it is: from now on, only what `storage` holds counts, and changes go there. */
  use(storage: () => Storage, place: string): void {
    this.#storage = storage;
    this.#place = place;
    this.#answers = new Map();
    this.#kept = true;
    this.reload();
  }

  /** Adds answers of an earlier visit; those that were given meanwhile stand. */
  restore(earlier: ReadonlyMap<string, number>): void {
    this.#change((answers) => {
      for (const [id, option] of earlier) if (!answers.has(id)) answers.set(id, option);
    });
  }

  /** Takes over what is stored. */
  reload(): void {
    try {
      this.#answers = parse(this.#storage().getItem(key));
    } catch {
      this.#kept = false;
    }
    this.dispatchEvent(new Event("change"));
  }

  #change(apply: (answers: Map<string, number>) => void): void {
    try {
      const storage = this.#storage();
      // Another window may have stored more since.
      if (this.#kept) this.#answers = parse(storage.getItem(key));
      apply(this.#answers);
      if (this.#answers.size === 0) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify({ version, answers: Object.fromEntries(this.#answers) }));
      this.#kept = true;
    } catch {
      this.#kept = false;
      apply(this.#answers);
    }
    this.dispatchEvent(new Event("change"));
  }
}

/** Holds texts as long as the page. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>();
  return {
    getItem: (name) => texts.get(name) ?? null,
    setItem: (name, text) => void texts.set(name, text),
    removeItem: (name) => void texts.delete(name),
  };
}

/** What is well formed in it; all else is ignored. A map, since an id may be the name of an object's own property. */
export function parse(text: string | null): Map<string, number> {
  const answers = new Map<string, number>();
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "null");
  } catch {
    return answers;
  }
  if (!isRecord(stored) || stored.version !== version || !isRecord(stored.answers)) return answers;
  for (const [id, option] of Object.entries(stored.answers).slice(0, mostAnswers)) {
    if (idPattern.test(id) && Number.isInteger(option) && (option as number) >= 0) {
      answers.set(id, option as number);
    }
  }
  return answers;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

let shared: Answers | undefined;

/** The answers of this page. */
export function sharedAnswers(): Answers {
  if (!shared) {
    const answers = new Answers();
    addEventListener("storage", (event) => {
      if (event.key === key || event.key === null) answers.reload();
    });
    shared = answers;
  }
  return shared;
}
