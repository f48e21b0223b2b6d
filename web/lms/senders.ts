// Where statements go: to the page around this one, which may listen or not, and to a store that the address names.

import type { Store } from "./launch.ts";
import type { Statement } from "./statement.ts";

/**
 * Posts { type: "xapi-statement", statement } to whichever page frames this one. That page has chosen to show the
 * lesson; its origin need not be known, for the reader of the statement is anonymous.
 */
export function toParent(parent: Window): (statement: Statement) => void {
  return (statement) => parent.postMessage({ type: "xapi-statement", statement }, "*");
}

/**
 * Posts statements to a learning record store. Those that could not be delivered go along with the next one; those that
 * the store refuses are given up. `say` receives the current problem as a sentence, null once it is gone.
 */
export function toStore(
  { statements, auth, actor }: Store,
  say: (problem: string | null) => void,
  post: typeof fetch = fetch,
): (statement: Statement) => Promise<void> {
  const { host } = new URL(statements);
  let waiting: Statement[] = [];

  const failed = (why: string, undelivered: Statement[]): void => {
    waiting = [...undelivered, ...waiting];
    const more = undelivered.length > 0 ? " It is told again with what you do next." : "";
    const problem = `The learning record store at ${host} was not told what you did (${why}).${more}`;
    console.warn(problem);
    say(problem);
  };

  return async (statement) => {
    const batch = [...waiting, actor ? { ...statement, actor } : statement];
    waiting = [];
    try {
      const response = await post(statements, {
        method: "POST",
        // Outlives the page, for the last statement.
        keepalive: true,
        credentials: "omit",
        headers: {
          Authorization: auth,
          "Content-Type": "application/json",
          "X-Experience-API-Version": "1.0.3",
        },
        body: JSON.stringify(batch.length === 1 ? batch[0] : batch),
      });
      if (response.ok) say(null);
      else failed(`HTTP ${response.status}`, response.status >= 500 || response.status === 429 ? batch : []);
    } catch (error) {
      failed((error as Error).message, batch);
    }
  };
}
