// Before the first paint: the theme that the reader chose on an earlier visit. Storage may be forbidden.
try {
  const theme = localStorage.getItem("posenc-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
