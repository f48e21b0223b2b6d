// What the page does beyond being read. Each part is an addition: without script the article is complete.

import { copyButtons } from "./page/code.ts";
import { figures } from "./page/figures.ts";
import { openForPrint } from "./page/print.ts";
import { scrollers } from "./page/scrollers.ts";
import { sectionList } from "./page/sections.ts";
import { themeControl } from "./page/theme.ts";
import "./quiz/pe-question.ts";
import "./quiz/pe-quiz.ts";

figures();
const nav = document.querySelector<HTMLElement>("nav.sections");
if (nav) sectionList(nav);
const theme = document.querySelector<HTMLFieldSetElement>("fieldset.theme");
if (theme) themeControl(theme);
scrollers();
copyButtons();
openForPrint();
