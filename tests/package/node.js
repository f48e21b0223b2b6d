// A program for Node: numbers, and elements imported where there is no document.
import { loadPosenc } from "posenc";
import { configure } from "posenc/elements";
import "posenc/figures/pe-rope.js";
import widget from "posenc/widget";

const posenc = await loadPosenc();
console.log(
  posenc.alibiSlopes({ numHeads: 2 })[0],
  typeof configure,
  typeof widget.render,
  typeof HTMLElement,
);
