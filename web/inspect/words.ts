// Numbers and lists as they stand in a sentence.

/** Five significant digits, whole numbers whole. */
export const significant = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(5)));

/** "1 error, 0 warnings, 2 notes". */
export const tally = ({
  error,
  warning,
  note,
}: Readonly<Record<"error" | "warning" | "note", number>>): string =>
  [counted(error, "error"), counted(warning, "warning"), counted(note, "note")].join(", ");

const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\p{Cs}]/gu;
/** What a stranger's config may not do to a terminal or to a reader: control, turning and unseen characters become others. */
export const visible = (text: string, stand: (character: string) => string = () => "\ufffd"): string =>
  text.replace(UNSEEN, stand);

/** A stranger's words in a sentence: the first of them, as they can be read. */
export const quoted = (text: string, most = 40): string => `“${visible(text.slice(0, most))}”`;

/** "1 pair", "2 pairs". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
