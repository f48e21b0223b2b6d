// Which engine runs what. A law that depends on the page more than on the engine is tried in full in Chromium, and in
// part in the two others, which take longer; ALL_IN_ALL=1 (npm run test:slow) tries everything everywhere, and has
// clang-tidy read the tests of the core too.

export const ENGINES = ["chromium", "firefox", "webkit"];
export const ALL_IN_ALL = Boolean(process.env.ALL_IN_ALL);

/** The part of a list that an engine takes: Chromium all, the two others half each. */
export function shareOf(list, engine) {
  if (engine === "chromium" || ALL_IN_ALL) return list;
  return list.filter((_one, i) => i % 2 === (engine === "firefox" ? 0 : 1));
}

/** The engines that read whole pages in a colour scheme. */
export const IN_COLOURS = { light: ["chromium", "webkit"], dark: ["chromium", "firefox"] };
