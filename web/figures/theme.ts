// Light or dark: what the page that holds a figure says of itself. Each site generator marks it in its own way.

type Scheme = "light" | "dark";

const NAMED: Record<string, Scheme> = { light: "light", default: "light", dark: "dark", slate: "dark" };

/** What one element's attributes and classes say. */
function marked({ dataset, classList }: HTMLElement): Scheme | undefined {
  // Material for MkDocs, Docusaurus and Sphinx themes, Bootstrap (Quarto, MkDocs), JupyterLab
  const names = [dataset.mdColorScheme, dataset.theme, dataset.bsTheme];
  for (const name of names) {
    if (name !== undefined && Object.hasOwn(NAMED, name)) return NAMED[name];
  }
  const { jpThemeLight } = dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "true" ? "light" : "dark";
  // MyST and Tailwind, Quarto, reveal.js (one slide may differ from the next)
  for (const scheme of ["light", "dark"] as const) {
    if ([scheme, `quarto-${scheme}`, `has-${scheme}-background`].some((name) => classList.contains(name))) {
      return scheme;
    }
  }
  return undefined;
}

/** Of a colour as computed styles give it; undefined if what lies behind shows through. */
function schemeOf(colour: string): Scheme | undefined {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  if (!/^rgba?\(/.test(colour) || alpha < 0.5) return undefined;
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? "dark" : "light";
}

/** An element, and all that it stands in, from the nearest on. */
function* around(element: Element): Generator<HTMLElement> {
  for (let at: Element | null = element; at; ) {
    yield at as HTMLElement;
    at = at.parentElement ?? (at.getRootNode() as Partial<ShadowRoot>).host ?? null;
  }
}

/** What the nearest element that says anything says. */
function nearest(
  elements: Iterable<HTMLElement>,
  say: (at: HTMLElement) => Scheme | undefined,
): Scheme | undefined {
  for (const at of elements) {
    const scheme = say(at);
    if (scheme) return scheme;
  }
  return undefined;
}

/**
 * The CSS `color-scheme` that lets an element fit its page: as what it stands in is marked; else what it would inherit
 * (""); else as the ground under it is painted; else the reader's setting ("light dark").
 */
export function hostScheme(element: Element): string {
  const found = nearest(around(element), marked);
  if (found) return found;
  const [, ...outer] = around(element);
  if (getComputedStyle(outer[0] ?? element).colorScheme !== "normal") return "";
  return nearest(outer, (at) => schemeOf(getComputedStyle(at).backgroundColor)) ?? "light dark";
}

const MARKS = ["class", "data-md-color-scheme", "data-theme", "data-bs-theme", "data-jp-theme-light"];

/** Calls `listener` when what the element stands in may have changed its theme, until the function returned is called. */
export function onHostTheme(element: Element, listener: () => void): () => void {
  const look = (): void => {
    const { documentElement, body } = element.ownerDocument;
    const attributeFilter = [...MARKS, "style"];
    for (const at of around(element)) observer.observe(at, { attributeFilter: MARKS });
    observer.observe(documentElement, { attributeFilter, childList: true });
    if (body) observer.observe(body, { attributeFilter });
  };
  const observer = new MutationObserver(() => {
    look(); // some hosts replace the body as the reader moves on
    listener();
  });
  look();
  const system = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
  system?.addEventListener?.("change", listener);
  return () => {
    observer.disconnect();
    system?.removeEventListener?.("change", listener);
  };
}
