// Where each method enters a transformer: two ways in, six methods. Drawn on a grid that is still readable at 288 px.

const centre = { v: 40, q: 94, k: 148 };
const left = 14;
const right = 174;
const label = 208;

const box = (x: number, y: number, width: number, text: string, kind = "") =>
  `<rect class="box" x="${x}" y="${y}" width="${width}" height="30" rx="4"/>` +
  `<text class="${kind}" x="${x + width / 2}" y="${y + 20}" text-anchor="middle">${text}</text>`;
const arrow = (x: number, from: number, to: number) =>
  `<path class="flow" d="M${x} ${from}V${to - 6}"/><path class="head" d="M${x - 4} ${to - 7}h8l-4 7z"/>`;
const line = (x: number, from: number, to: number) => `<path class="flow" d="M${x} ${from}V${to}"/>`;
const leader = (to: number, y: number, kind: string) =>
  `<path class="leader ${kind}" d="M${label - 8} ${y}H${to}"/>`;
const plus = (x: number, y: number, kind: string) =>
  `<circle class="entry ${kind}" cx="${x}" cy="${y}" r="10"/><path class="sign ${kind}" d="M${x - 5} ${y}h10M${x} ${y - 5}v10"/>`;
const turn = (x: number, y: number) =>
  `<circle class="entry rope" cx="${x}" cy="${y}" r="10"/>` +
  `<path class="sign rope" d="M${x - 4.5} ${y + 2.5}a5 5 0 1 1 5 2.6"/><path class="fill rope" d="M${x + 3.4} ${y + 2}v6.4l-5.4 -3.2z"/>`;
const words = (y: number, lines: [text: string, kind: string][]) =>
  lines
    .map(([text, kind], i) => `<text class="${kind}" x="${label}" y="${y + 20 * i}">${text}</text>`)
    .join("");

export const approaches = `<svg viewBox="0 0 340 504" role="img" aria-labelledby="approaches-title approaches-desc">
<title id="approaches-title">Two ways to tell a transformer about order</title>
<desc id="approaches-desc">Token embeddings flow down into attention. Before the first layer, sinusoidal and learned
encodings add a row to each embedding. Inside attention, in every layer, RoPE rotates queries and keys, and ALiBi and T5
add a bias to the logits before softmax. Values are never rotated.</desc>
<rect class="panel" x="0" y="150" width="340" height="354" rx="6"/>
${box(left, 8, right - left, "token embeddings")}
${line(centre.q, 38, 70)}${leader(centre.q + 10, 80, "added")}${plus(centre.q, 80, "added")}
${words(65, [
  ["add a row, once", "how"],
  ["sinusoidal", "method sinusoidal"],
  ["learned", "method learned"],
])}
${line(centre.q, 90, 196)}
${words(179, [
  ["in attention,", "place"],
  ["in every layer", "place"],
])}
<path class="flow" d="M${centre.v} 210V204a8 8 0 0 1 8 -8H${centre.k - 8}a8 8 0 0 1 8 8V210M${centre.q} 196V210"/>
${box(centre.v - 22, 210, 44, "v", "symbol")}${box(centre.q - 22, 210, 44, "q", "symbol q")}${box(centre.k - 22, 210, 44, "k", "symbol k")}
${line(centre.q, 240, 260)}${line(centre.k, 240, 260)}
${leader(centre.q + 10, 270, "rope")}${turn(centre.q, 270)}${turn(centre.k, 270)}
${words(265, [
  ["rotate q and k", "how"],
  ["RoPE", "method rope"],
])}
${arrow(centre.q, 280, 304)}${arrow(centre.k, 280, 304)}
${box(centre.q - 22, 304, centre.k - centre.q + 44, "logits")}
${line(121, 334, 354)}${leader(131, 364, "bias")}${plus(121, 364, "bias")}
${words(359, [
  ["add a bias", "how"],
  ["ALiBi", "method alibi"],
  ["T5", "method t5"],
])}
${arrow(121, 374, 398)}
${box(centre.q - 22, 398, centre.k - centre.q + 44, "softmax")}
${arrow(121, 428, 456)}${arrow(centre.v, 240, 456)}
${box(left, 456, right - left, "weights times v")}
</svg>`;
