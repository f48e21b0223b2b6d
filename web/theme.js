// Before the first paint. The page is scripted, unless a script does not load; then it shows what it has without.
document.documentElement.classList.add("scripted");
addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLScriptElement) document.documentElement.classList.remove("scripted");
  },
  true,
);
// The theme that the reader chose on an earlier visit. Storage may be forbidden.
try {
  const theme = localStorage.getItem("posenc-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
