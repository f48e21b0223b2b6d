// The page is served under `style-src 'self'`, which forbids style attributes. Whatever a library emits as one
// becomes a class here, and the rules go into a stylesheet.

export interface StyleSheet {
  /** Moves each style attribute of the HTML into a class. */
  lift(html: string): string;
  css(): string;
}

export function styleSheet(prefix: string): StyleSheet {
  const classes = new Map<string, string>();
  const classFor = (style: string): string => {
    const known = classes.get(style);
    if (known) return known;
    const name = `${prefix}${classes.size}`;
    classes.set(style, name);
    return name;
  };
  return {
    lift: (html) =>
      html.replace(/<[a-z][^>]*?\sstyle="[^"]*"[^>]*>/g, (tag) => {
        const style = /\sstyle="([^"]*)"/.exec(tag)?.[1] ?? "";
        const bare = tag.replace(/\sstyle="[^"]*"/, "");
        const name = classFor(style);
        return /\sclass="/.test(bare)
          ? bare.replace(/\sclass="([^"]*)"/, ` class="$1 ${name}"`)
          : bare.replace(/^<[\w-]+/, `$& class="${name}"`);
      }),
    css: () => [...classes].map(([style, name]) => `.${name} { ${style} }`).join("\n"),
  };
}
