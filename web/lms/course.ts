// Whether a course runs this page. Only then is the part of the lesson fetched that reports to it.

import { memoryStorage, sharedAnswers } from "../quiz/answers.ts";
import { findApi } from "./find-api.ts";
import { Status } from "./status.ts";

/** Once, before the first paint: what another learner left in this browser must not be shown. */
export function course(main: Element): void {
  const api = findApi(window);
  const packaged = document.querySelector("meta[name=posenc-package]") !== null;
  const launched = /[?&](endpoint|auth)=/.test(location.search);
  if (!api && !packaged && !launched && parent === window) return;
  if (api) {
    const storage = memoryStorage();
    sharedAnswers().use(() => storage, "your course’s record");
  }
  const status = new Status(main);
  import("./connect.ts").then(
    ({ connect }) => connect(api, packaged, status),
    (error: unknown) => {
      console.error("The module that reports to a course did not load:", error);
      status.problem(
        "module",
        "What reports to your course did not load: nothing is recorded. Reload the page.",
      );
    },
  );
}
