// A plane of pairs of numbers: hands from the centre, and the angles between them. y points up.

export interface Dial {
  /** Pixel of the centre, both ways. */
  centre: number;
  /** Pixels of one unit. */
  scale: number;
}

export type Point = readonly [x: number, y: number];

const px = (value: number): string => value.toFixed(2);

/** Pixel of a point of the plane. */
export const onDial = ({ centre, scale }: Dial, [x, y]: Point): Point => [
  centre + x * scale,
  centre - y * scale,
];

/** Point of the plane at a pixel. */
export const fromDial = ({ centre, scale }: Dial, [x, y]: Point): Point => [
  (x - centre) / scale,
  (centre - y) / scale,
];

/** Shaft and head of the hand to a point, `head` pixels long. A hand shorter than its head is a shaft alone. */
export function arrow(dial: Dial, point: Point, head: number): { shaft: string; head: string } {
  const [x, y] = onDial(dial, point);
  const length = Math.hypot(x - dial.centre, y - dial.centre);
  const start = `M${px(dial.centre)} ${px(dial.centre)}L`;
  if (length <= head) return { shaft: `${start}${px(x)} ${px(y)}`, head: "" };
  const [ux, uy] = [(x - dial.centre) / length, (y - dial.centre) / length];
  const [bx, by] = [x - ux * head, y - uy * head];
  const half = head * 0.42;
  return {
    shaft: `${start}${px(bx)} ${px(by)}`,
    head:
      `M${px(x)} ${px(y)}L${px(bx - uy * half)} ${px(by + ux * half)}` +
      `L${px(bx + uy * half)} ${px(by - ux * half)}Z`,
  };
}

/** The turn by `by` radians from the angle `from`, at `radius` pixels: a spiral that grows 4 pixels a turn, with at
 *  most two whole turns drawn. */
export function turn(dial: Dial, radius: number, from: number, by: number): string {
  const whole = Math.trunc(by / (2 * Math.PI));
  const drawn = by - (whole - Math.sign(whole) * Math.min(2, Math.abs(whole))) * 2 * Math.PI;
  const steps = Math.max(1, Math.ceil(Math.abs(drawn) / 0.08));
  let path = "";
  for (let i = 0; i <= steps; i++) {
    const angle = (drawn * i) / steps;
    const r = radius + (4 * Math.abs(angle)) / (2 * Math.PI);
    path += `${i === 0 ? "M" : "L"}${px(dial.centre + r * Math.cos(from + angle))} ${px(dial.centre - r * Math.sin(from + angle))}`;
  }
  return path;
}
