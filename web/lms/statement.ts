// The sentences of xAPI: who did what to what, with which result. Pure data; a session says when, a sender where to.
// Based on: ADL, Experience API 1.0.3, part 2; verbs of the ADL vocabulary; progress as cmi5 writes it.

import { isoDuration } from "./duration.ts";
import type { Actor } from "./launch.ts";
import type { Answered, Quiz } from "./progress.ts";

export interface Lesson {
  /** The lesson's activity id, an IRI. */
  activity: string;
  title: string;
  /** Of the text, as in BCP 47. */
  language: string;
  registration: string | null;
  actor: Actor;
}

interface Definition {
  type: string;
  [field: string]: unknown;
}

interface Activity {
  objectType: "Activity";
  id: string;
  definition: Definition;
}

export interface Result {
  success?: boolean;
  completion?: boolean;
  response?: string;
  duration?: string;
  score?: { scaled: number; raw: number; min: number; max: number };
  extensions?: Record<string, unknown>;
}

export interface Statement {
  id: string;
  actor: Actor;
  verb: { id: string; display: Record<string, string> };
  object: Activity;
  result?: Result;
  context: Record<string, unknown>;
  timestamp: string;
}

export type Verb =
  | "initialized"
  | "answered"
  | "progressed"
  | "completed"
  | "passed"
  | "failed"
  | "terminated";

const progress = "https://w3id.org/xapi/cmi5/result/extensions/progress";

/** A reader of whom nothing is known, not even from one visit to the next. `homePage` is where the name means anything. */
export function anonymous(homePage: string): Actor {
  return { objectType: "Agent", account: { homePage, name: uuid() } };
}

/** About the lesson as a whole. */
export function aboutLesson(verb: Verb, lesson: Lesson, result: Result = {}): Statement {
  return statement(verb, lesson, lessonActivity(lesson), result, {});
}

/** About one question, the lesson being its parent. */
export function aboutQuestion(lesson: Lesson, { id, ask, options, right, chosen }: Answered): Statement {
  const said = (text: string) => ({ [lesson.language]: text });
  const object: Activity = {
    objectType: "Activity",
    id: part(lesson.activity, id),
    definition: {
      type: "http://adlnet.gov/expapi/activities/cmi.interaction",
      description: said(ask),
      interactionType: "choice",
      choices: options.map((text, at) => ({ id: String(at), description: said(text) })),
      correctResponsesPattern: [String(right)],
    },
  };
  const result = { response: String(chosen), success: chosen === right };
  const contextActivities = { parent: [lessonActivity(lesson)] };
  return statement("answered", lesson, object, result, { contextActivities });
}

/** `share`: 0 to 100; cmi5 wants it whole. */
export const progressResult = (share: number, milliseconds: number): Result => ({
  duration: isoDuration(milliseconds),
  extensions: { [progress]: Math.round(share) },
});

export function scoreResult({ score, total }: Pick<Quiz, "score" | "total">, milliseconds: number): Result {
  return {
    score: { scaled: Math.round((1e4 * score) / total) / 1e4, raw: score, min: 0, max: total },
    duration: isoDuration(milliseconds),
  };
}

function lessonActivity({ activity, title, language }: Lesson): Activity {
  return {
    objectType: "Activity",
    id: activity,
    definition: { type: "http://adlnet.gov/expapi/activities/lesson", name: { [language]: title } },
  };
}

function statement(
  verb: Verb,
  { language, registration, actor }: Lesson,
  object: Activity,
  result: Result,
  context: Record<string, unknown>,
): Statement {
  return {
    id: uuid(),
    actor,
    verb: { id: `http://adlnet.gov/expapi/verbs/${verb}`, display: { "en-US": verb } },
    object,
    ...(Object.keys(result).length > 0 ? { result } : {}),
    context: { ...context, language, ...(registration ? { registration } : {}) },
    timestamp: new Date().toISOString(),
  };
}

/** The id of a part of an activity: a fragment, or one more step where a fragment is there already. */
const part = (activity: string, id: string): string =>
  `${activity}${activity.includes("#") ? "/" : "#"}question/${id}`;

/** Of version 4. Not crypto.randomUUID, which plain http does not have. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
