// The gallery beyond being read: its listings name this copy of the figures, where it has an address.

import { ELSEWHERE } from "../embed/snippets.ts";
import "../main.ts";

const here = new URL(".", location.href);
if (/^https?:$/.test(here.protocol)) {
  for (const token of document.querySelectorAll(".code code span")) {
    const text = token.textContent ?? "";
    if (text.includes(ELSEWHERE)) token.textContent = text.replace(ELSEWHERE, here.href);
  }
}
