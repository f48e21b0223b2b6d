// Before the first paint. The page is scripted, unless a script does not load; then it shows what it has without.
document.documentElement.classList.add("scripted");
addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLScriptElement) document.documentElement.classList.remove("scripted", "opening");
  },
  true,
);
// A fresh visit, unless a course resumes it, begins at the top; what lies far below is laid out later: page/layout.ts.
if (!location.hash && parent === window && performance.getEntriesByType("navigation")[0]?.type === "navigate")
  document.documentElement.classList.add("opening");
// The theme that the reader chose on an earlier visit. Storage may be forbidden.
try {
  const theme = localStorage.getItem("posenc-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
