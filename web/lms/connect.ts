// Ties the sessions to the page: what the reader does is reported, kept soon after, and at the latest when the page is
// hidden; a visit ends with the page. Not on `unload`, which courses forbid.

import { sharedAnswers } from "../quiz/answers.ts";
import { PeQuestion } from "../quiz/pe-question.ts";
import type { ScormApi } from "./find-api.ts";
import type { Launch } from "./launch.ts";
import { readLaunch } from "./launch.ts";
import { activityId, goTo, readAnswered, readProgress, sectionIds, stillThere } from "./lesson.ts";
import { percent } from "./progress.ts";
import { ScormSession } from "./scorm-session.ts";
import { toParent, toStore } from "./senders.ts";
import type { Statement } from "./statement.ts";
import { anonymous } from "./statement.ts";
import type { Status } from "./status.ts";
import { XapiSession } from "./xapi-session.ts";

/** Answers that follow each other within this time, in milliseconds, are committed together. */
const commitAfter = 1000;
/** A section is visited by who stays in it this long, in milliseconds; those scrolled past are not. */
const visitAfter = 2000;

/** `packaged`: the page comes from a SCORM package, so that the absence of a run-time is worth a word. */
export function connect(api: ScormApi | null, packaged: boolean, status: Status): void {
  const launch = readLaunch(location.search);
  const visited = new Set<string>();
  const scorm = api && openScorm(api, visited, status);
  const xapi = openXapi(launch, scorm?.mastery ?? launch.mastery, status);
  if (scorm && !scorm.recorded) status.say("Your course shows this lesson for review: nothing is recorded.");
  else if (scorm) status.say("Connected to your course; your best score is reported.");
  else if (launch.store) status.say("Connected to your course; your answers and your score are reported.");
  else if (packaged && !api) {
    status.say(
      "This lesson was made for a course, but none was found around it: answers stay in this browser, and no score is reported.",
    );
  }
  tellWhatLeaves(scorm !== null || launch.store !== null, xapi !== null);

  const share = () => percent(visited.size, sectionIds().length);
  const report = () => scorm?.report(readProgress(visited));
  let commit: ReturnType<typeof setTimeout> | undefined;
  const reportSoon = () => {
    // After the questions, whichever heard of the change first.
    queueMicrotask(report);
    clearTimeout(commit);
    commit = setTimeout(() => scorm?.commit(), commitAfter);
  };
  const begin = () => {
    xapi?.begin(share());
    reportSoon();
  };
  begin();

  sharedAnswers().addEventListener("change", reportSoon);
  // On its way down: the last answer comes before the quiz's word that it is complete.
  document.addEventListener("pe-answer", (event) => answered(event as CustomEvent, xapi), { capture: true });
  document.addEventListener("pe-complete", ({ detail }: CustomEventInit) => xapi?.completed(detail));

  let visit: ReturnType<typeof setTimeout> | undefined;
  const follow = () => {
    clearTimeout(visit);
    visit = setTimeout(() => {
      const { section } = readProgress(visited);
      if (section) visited.add(section);
      reportSoon();
      xapi?.progressed(share());
    }, visitAfter);
  };
  document.addEventListener("pe-section", follow);
  follow();

  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden") return;
    report();
    scorm?.commit();
  });
  addEventListener("pagehide", () => {
    report();
    scorm?.end();
    xapi?.end();
  });
  addEventListener("pageshow", ({ persisted }) => {
    // Kept by the browser after its visit had ended, and shown again: another visit.
    if (!persisted) return;
    scorm?.begin();
    begin();
  });
}

/** Begins the visit and brings back what the record holds; null if the course refuses. */
function openScorm(api: ScormApi, visited: Set<string>, status: Status): ScormSession | null {
  const answers = sharedAnswers();
  const session = new ScormSession(api, { say: (problem) => status.problem("scorm", problem) });
  const record = session.begin();
  if (!record) {
    const given = answers.all;
    answers.use(refused, answers.place);
    answers.restore(given);
    return null;
  }
  const earlier = stillThere(record);
  for (const id of earlier.visited) visited.add(id);
  answers.restore(earlier.answers);
  if (!location.hash && scrollY === 0) goTo(record.section);
  return session;
}

/** Null if nobody is there to be told. */
function openXapi(launch: Launch, mastery: number | null, status: Status): XapiSession | null {
  const say = (problem: string | null) => status.problem("store", problem);
  if (launch.problem) say(`Nothing is reported to a learning record store: ${launch.problem}.`);
  const senders: ((statement: Statement) => void)[] = [];
  if (parent !== window) senders.push(toParent(parent));
  if (launch.store) senders.push(toStore(launch.store, say));
  if (senders.length === 0) return null;
  const activity = launch.activity ?? activityId();
  const lesson = {
    activity,
    title: document.title,
    language: document.documentElement.lang,
    registration: launch.registration,
    actor: anonymous(activity),
  };
  const send = (statement: Statement) => {
    for (const sender of senders) sender(statement);
  };
  return new XapiSession(lesson, { send, mastery });
}

function answered({ target, detail }: CustomEvent, xapi: XapiSession | null): void {
  if (target instanceof PeQuestion) xapi?.answered(readAnswered(target, detail.option));
}

/** The page says that nothing leaves the browser, which is no longer so. */
function tellWhatLeaves(toCourse: boolean, toParent: boolean): void {
  const said = document.querySelector(".leaves");
  if (!said) return;
  if (toCourse) said.textContent = "Your answers and your score go to your course.";
  else if (toParent)
    said.textContent = "The page around this one is told your answers and your progress, without your name.";
}

function refused(): never {
  throw new Error("the course keeps no record of this visit");
}
