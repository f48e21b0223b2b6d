// Every number that the prose states: `{{name}}` in a section is numbers(posenc)[name].

import type { Posenc } from "../posenc.ts";

export function numbers(_posenc: Posenc): Record<string, string> {
  return {};
}
