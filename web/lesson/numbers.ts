// Every number that the prose states: `{{name}}` in a section is numbers(posenc)[name]. Each section's are computed in
// the file of facts/ that bears its name.

import type { Posenc } from "../posenc.ts";
import * as add from "./facts/add.ts";
import * as alibi from "./facts/alibi.ts";
import * as clocks from "./facts/clocks.ts";
import * as crossTerms from "./facts/cross-terms.ts";
import * as embeddingLayer from "./facts/embedding-layer.ts";
import * as learned from "./facts/learned.ts";
import * as longerContexts from "./facts/longer-contexts.ts";
import * as pairLayouts from "./facts/pair-layouts.ts";
import * as precision from "./facts/precision.ts";
import * as production from "./facts/production.ts";
import * as rope from "./facts/rope.ts";
import * as ropeScores from "./facts/rope-scores.ts";
import * as shift from "./facts/shift.ts";
import * as sinusoidal from "./facts/sinusoidal.ts";
import * as t5 from "./facts/t5.ts";
import * as workedExample from "./facts/worked-example.ts";

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    ...add.numbers(posenc),
    ...sinusoidal.numbers(posenc),
    ...clocks.numbers(posenc),
    ...shift.numbers(posenc),
    ...crossTerms.numbers(posenc),
    ...workedExample.numbers(posenc),
    ...embeddingLayer.numbers(),
    ...learned.numbers(),
    ...rope.numbers(posenc),
    ...ropeScores.numbers(posenc),
    ...pairLayouts.numbers(posenc),
    ...longerContexts.numbers(posenc),
    ...alibi.numbers(posenc),
    ...t5.numbers(posenc),
    ...precision.numbers(posenc),
    ...production.numbers(),
  };
}
