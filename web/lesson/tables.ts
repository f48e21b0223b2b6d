// Every table whose cells are computed: `::table name` in a section prints tables(posenc)[name]. Each section's are
// computed in the file of facts/ that bears its name.

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
import * as shift from "./facts/shift.ts";
import * as sideBySide from "./facts/side-by-side.ts";
import * as t5 from "./facts/t5.ts";
import type { Table } from "./facts/table.ts";
import * as workedExample from "./facts/worked-example.ts";

export type { Table };

export function tables(posenc: Posenc): Record<string, Table> {
  return {
    ...add.tables(posenc),
    ...clocks.tables(posenc),
    ...shift.tables(posenc),
    ...crossTerms.tables(posenc),
    ...workedExample.tables(posenc),
    ...embeddingLayer.tables(),
    ...learned.tables(posenc),
    ...pairLayouts.tables(posenc),
    ...longerContexts.tables(posenc),
    ...alibi.tables(posenc),
    ...t5.tables(posenc),
    ...sideBySide.tables(posenc),
    ...precision.tables(posenc),
    ...production.tables(),
  };
}
