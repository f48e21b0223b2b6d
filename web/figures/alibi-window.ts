// How far a head sees when all q·k are equal: the softmax of its bias alone. Key d positions away has a weight in
// proportion to e^(−slope d), so sums of weights are geometric series and need no loop.

/** The keys that a query sees, left and right of itself. */
export interface Sight {
  left: number;
  right: number;
}

/** e^(−slope) + … + e^(−slope · count). */
const series = (slope: number, count: number): number =>
  count === 0 ? 0 : (Math.exp(-slope) * Math.expm1(-slope * count)) / Math.expm1(-slope);

/** The share of the weight that the nearest `count` keys hold; the query's own position is the nearest. */
export function nearestShare(slope: number, count: number, { left, right }: Sight): number {
  const [near, far] = [Math.min(left, right), Math.max(left, right)];
  const others = count - 1;
  // Keys at equal distance are taken one after the other until the shorter side has no more.
  const shorter = Math.min(near, Math.floor(others / 2));
  const held = 1 + series(slope, shorter) + series(slope, others - shorter);
  return held / (1 + series(slope, near) + series(slope, far));
}

/** The fewest nearest keys that together hold the share. */
export function windowOf(slope: number, share: number, sight: Sight): number {
  let [least, most] = [1, 1 + sight.left + sight.right];
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if (nearestShare(slope, middle, sight) >= share) most = middle;
    else least = middle + 1;
  }
  return least;
}
