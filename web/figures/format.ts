// Numbers as a reader expects them: a true minus sign, thin spaces between thousands, powers of ten written out.

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
export const superscript = (exponent: number): string =>
  (exponent < 0 ? "⁻" : "") +
  [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");

const group = (digits: string): string =>
  digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** A number with a fixed count of decimals: −0.284, 60 611. */
export function fixed(value: number, decimals = 3): string {
  if (Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const [whole = "0", fraction] = Math.abs(value).toFixed(decimals).split(".");
  const text = group(whole) + (fraction === undefined ? "" : `.${fraction}`);
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** A whole number with its sign: +5, −12, 0. */
export const signed = (value: number): string => (value > 0 ? `+${value}` : fixed(value, 0));

/** An angle in radians: 57.3°. */
export const degrees = (radians: number): string => `${fixed((radians * 180) / Math.PI, 1)}°`;

/** A number to a count of significant digits; very large and very small ones as 1.2 × 10⁻¹⁶. */
export function significant(value: number, digits = 3): string {
  if (value === 0 || !Number.isFinite(value)) return fixed(value, 0);
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -3 && exponent < 7) return fixed(value, Math.max(0, digits - 1 - exponent));
  const [mantissa = "", power = "0"] = value.toExponential(digits - 1).split("e");
  return `${mantissa.replace("-", "−")}\u00a0×\u00a010${superscript(Number(power))}`;
}

/** 1, 0.01, 10⁻⁸: labels of a logarithmic axis. */
export function powerOfTen(power: number): string {
  return power >= -2 && power <= 3 ? fixed(10 ** power, Math.max(0, -power)) : `10${superscript(power)}`;
}

/** A number as short as it is exact: 5, 2.5, 1 000 000. */
export function plain(value: number): string {
  const decimals = String(value).split(".")[1] ?? "";
  return /e/.test(String(value)) ? significant(value, 8) : fixed(value, decimals.length);
}
