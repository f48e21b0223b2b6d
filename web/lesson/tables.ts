// Every table whose cells are computed: `::table name` in a section prints tables(posenc)[name].

import type { Posenc } from "../posenc.ts";

export interface Table {
  caption: string;
  head: string[];
  rows: (string | number)[][];
}

export function tables(_posenc: Posenc): Record<string, Table> {
  return {};
}
