// A line through points, as an SVG path.

/** Path through (x(i), y(values[i])); points that are not finite break the line. */
export function linePath(
  values: ArrayLike<number>,
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = "";
  let pen = "M";
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN;
    if (!Number.isFinite(value)) {
      pen = "M";
      continue;
    }
    path += `${pen}${x(i).toFixed(2)} ${y(value).toFixed(2)}`;
    pen = "L";
  }
  return path;
}
