// The time of a visit, in the two notations that courses read.

/** A clock that was put back has shown no time. */
const elapsed = (milliseconds: number): number => Math.max(0, milliseconds);

/** SCORM 1.2's CMITimespan, HHHH:MM:SS, from milliseconds; it ends at 9999 hours. */
export function cmiTimespan(milliseconds: number): string {
  const seconds = Math.min(Math.floor(elapsed(milliseconds) / 1000), 9999 * 3600 + 3599);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part, at) => String(part).padStart(at === 0 ? 4 : 2, "0")).join(":");
}

/** An ISO 8601 duration, PT1H2M3.45S, from milliseconds; xAPI compares hundredths of a second. */
export function isoDuration(milliseconds: number): string {
  const hundredths = Math.floor(elapsed(milliseconds) / 10);
  const minutes = Math.floor(hundredths / 6000);
  const hours = Math.floor(minutes / 60);
  const seconds = (hundredths % 6000) / 100;
  return `PT${hours > 0 ? `${hours}H` : ""}${minutes % 60 > 0 ? `${minutes % 60}M` : ""}${seconds}S`;
}
