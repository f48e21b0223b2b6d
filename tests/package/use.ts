// A program that uses the package's types: compiled by the test, never run.
import { loadPosenc, type Posenc } from "posenc";
import { configure, type PosencFigure } from "posenc/elements";
import "posenc/figures/pe-rope.js";
import widget from "posenc/widget";

configure({ wasmUrl: new URL("https://example.org/posenc-simd.wasm") });
const posenc: Posenc = await loadPosenc({ simd: true });
const table: Float32Array = posenc.sinusoidalTable({ seqLen: 2, dModel: 4 });
const figure: PosencFigure = document.createElement("pe-rope");
figure.setState({ version: 1, figure: "rope", state: { "d-model": table.length } });
const cleanup: Promise<() => void> = widget.render({ model: new Map<string, unknown>(), el: document.body });
// @ts-expect-error: a scaling that there is not
posenc.ropeInvFreq({ headDim: 8, ropeType: "yearn" });

export { cleanup };
