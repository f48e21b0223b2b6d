// The page that the bundlers build: numbers from the package, and a figure.
import { loadPosenc } from "posenc";
import "posenc/elements";

const posenc = await loadPosenc();
const figure = document.createElement("pe-alibi");
figure.setAttribute("num-heads", "12");
document.body.append(figure);
await figure.ready;
document.title = `${posenc.alibiSlopes({ numHeads: 2 })[0]} ${figure.getState().state["num-heads"]}`;
