// What a section computes: numbers for its sentences, tables for its claims, and how their digits are printed.
// Whole numbers stay without separators, since the page groups them itself.

import { groupDigits } from "../values.ts";

export interface Table {
  caption: string;
  head: string[];
  rows: (string | number)[][];
}

/** −0.959: a minus is a minus, not a hyphen, and zero has none. */
export function fixed(value: number, decimals: number): string {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits;
}

/** 6.283, 62.83, 60611: so many digits, but never a rounded whole number. */
export function significant(value: number, digits: number): string {
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return fixed(value, Math.max(0, digits - whole));
}

/** 1.4 × 10⁻¹³. */
export function scientific(value: number, decimals = 1): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(decimals).split("e");
  return `$${mantissa} \\times 10^{${Number(exponent)}}$`;
}

/** (2, 20, 512). */
export function shape(...sizes: number[]): string {
  return `(${sizes.map(groupDigits).join(", ")})`;
}
