// What the page does beyond being read. Each part is an addition: without script the article is complete.

import { course } from "./lms/course.ts";
import { copyButtons } from "./page/code.ts";
import { figures } from "./page/figures.ts";
import { layOut } from "./page/layout.ts";
import { offline } from "./page/offline.ts";
import { openForPrint } from "./page/print.ts";
import { scrollers } from "./page/scrollers.ts";
import { sectionList } from "./page/sections.ts";
import { themeControl } from "./page/theme.ts";
import "./quiz/pe-question.ts";
import "./quiz/pe-quiz.ts";

// The pages beside the lesson are none of a course's business.
const main = document.querySelector("main:has(pe-quiz)");
if (main) course(main);
layOut();
figures();
const nav = document.querySelector<HTMLElement>("nav.sections");
if (nav) sectionList(nav);
const theme = document.querySelector<HTMLFieldSetElement>("fieldset.theme");
if (theme) themeControl(theme);
scrollers();
copyButtons();
openForPrint();
offline();
