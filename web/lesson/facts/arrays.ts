// The few operations on arrays that the sections share.

/** first, first + 1, …: `count` numbers. */
export function range(count: number, first = 0): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => first + i);
}

/** Element i, which the caller knows to be there. */
export function at(values: ArrayLike<number>, i: number): number {
  const value = values[i];
  if (value === undefined) throw new RangeError(`index ${i} is outside an array of ${values.length}`);
  return value;
}

export function last(values: ArrayLike<number>): number {
  return at(values, values.length - 1);
}

/** Row i of a matrix with `cols` columns. */
export function row(matrix: Float64Array, i: number, cols: number): Float64Array {
  return matrix.subarray(i * cols, (i + 1) * cols);
}

export function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + value * at(b, i), 0);
}

export function norm(values: Float64Array): number {
  return Math.sqrt(dot(values, values));
}

export function mean(values: ArrayLike<number>): number {
  return Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;
}

/** max |a − b|. */
export function largestDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - at(b, i))), 0);
}
