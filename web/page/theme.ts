// The theme control: auto, light or dark. theme.js has applied a stored choice before the first paint.

const key = "posenc-theme";

export function themeControl(fieldset: HTMLFieldSetElement): void {
  const root = document.documentElement;
  const chosen = root.dataset.theme ?? "auto";
  for (const radio of fieldset.querySelectorAll("input")) radio.checked = radio.value === chosen;
  fieldset.hidden = false;
  fieldset.addEventListener("change", ({ target }) => {
    const { value } = target as HTMLInputElement;
    if (value === "auto") delete root.dataset.theme;
    else root.dataset.theme = value;
    try {
      if (value === "auto") localStorage.removeItem(key);
      else localStorage.setItem(key, value);
    } catch {
      // Storage is forbidden: the choice lasts as long as the page.
    }
  });
}
