// Two vectors of many dimensions and their sum, true in length and angle, in the plane that they span.

import { svg, type TemplateResult } from "lit";
import { arrow, type Point } from "../draw/dial.ts";
import { fixed } from "./format.ts";

export interface Plane {
  width: number;
  height: number;
  /** Norms of the token and of the position, and their cosine. */
  token: number;
  position: number;
  cosine: number;
}

/** The position points right, the token turns from it by their angle, the sum is the diagonal. */
export function sumPlane({ width, height, token, position, cosine }: Plane): TemplateResult {
  const angle = Math.acos(Math.min(Math.max(cosine, -1), 1));
  const t: Point = [token * Math.cos(angle), token * Math.sin(angle)];
  const sum: Point = [position + t[0], t[1]];
  const [left, right] = [Math.min(0, t[0]), Math.max(position, sum[0])];
  // Room for the words beside the tips.
  const scale = Math.min((width - 88) / (right - left), (height - 52) / Math.max(t[1], 1e-9));
  const dial = { centre: 0, scale };
  const origin: Point = [46 - left * scale, height - 22];
  const [tx, ty, px, sx] = [t[0] * scale, -t[1] * scale, position * scale, sum[0] * scale];
  const hand = (point: Point, name: string) => {
    const { shaft, head } = arrow(dial, point, 9);
    return svg`<g class=${name}><path class="shaft" d=${shaft}></path><path class="head" d=${head}></path></g>`;
  };
  const radius = Math.min(22, Math.hypot(tx, ty) / 2, px / 2);
  const [ax, ay] = [radius * Math.cos(angle), -radius * Math.sin(angle)];
  return svg`
    <g transform="translate(${origin[0]} ${origin[1]})">
      <path class="side" d="M${tx} ${ty}L${sx} ${ty}L${px} 0"></path>
      <path class="angle" d="M${radius} 0A${radius} ${radius} 0 0 0 ${ax} ${ay}"></path>
      ${hand([position, 0], "position")} ${hand(t, "token")} ${hand(sum, "total")}
      <text class="pos" data-symbol="pos" x=${px < 60 ? 0 : px} y="18" text-anchor=${px < 60 ? "start" : "end"}>position</text>
      <text x=${tx - 8} y=${ty + 4} text-anchor="end">token</text>
      <text class="total" x=${sx + 8} y=${ty + 4}>sum</text>
      <text x="-8" y="18" text-anchor="end">${fixed((angle * 180) / Math.PI, 1)}°</text>
    </g>
  `;
}
