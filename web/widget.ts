// One figure as a widget of MyST and of Jupyter notebooks, in the form that anywidget asks for: a model with the
// figure's name and its attributes, d_model or d-model, kept the same in the model and on the page.
// Based on: the anywidget front-end module specification, https://anywidget.dev/en/afm/

import type { Fields } from "./figures/state.ts";

/** What a host hands over. In MyST, which only shows a page, `save_changes` and `off` are there and throw. */
interface Model {
  get(name: string): unknown;
  set?(name: string, value: unknown): void;
  save_changes?(): void;
  on?(event: string, listener: () => void): void;
  off?(event: string, listener: () => void): void;
}

/** Does what the host may be unable to do. */
function tell(host: () => void): void {
  try {
    host();
  } catch {
    // the figure is right on the page; the host keeps no state of it
  }
}

const modules = import.meta.glob("./figures/pe-*.ts");
const SETTINGS = ["theme", "hide"];

/** The model's value for an attribute, under either spelling. */
function given(model: Model, name: string): unknown {
  return model.get(name.replaceAll("-", "_")) ?? model.get(name);
}

/** Shows the figure in `el`; the function returned takes it away. */
async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const tag = `pe-${String(model.get("figure"))}`;
  const path = `./figures/${tag}.ts`;
  const load = Object.hasOwn(modules, path) ? modules[path] : undefined;
  if (!load) {
    const names = Object.keys(modules).map((file) => file.slice("./figures/pe-".length, -".ts".length));
    const said = document.createElement("p");
    said.setAttribute("role", "alert");
    said.textContent = `figure must be one of ${names.join(", ")}, got “${tag.slice(3, 43)}”`;
    el.append(said);
    return () => said.remove();
  }
  await load();
  const { fields } = customElements.get(tag) as unknown as { fields: Fields };
  const figure = document.createElement(tag);
  const undo: (() => void)[] = [() => figure.remove()];
  for (const name of [...Object.keys(fields), ...SETTINGS]) {
    const take = (): void => {
      const value = given(model, name);
      if (value === undefined || value === null) figure.removeAttribute(name);
      else figure.setAttribute(name, String(value));
    };
    take();
    const events = new Set([`change:${name}`, `change:${name.replaceAll("-", "_")}`]);
    for (const event of events) {
      model.on?.(event, take);
      undo.push(() => tell(() => model.off?.(event, take)));
    }
  }
  figure.addEventListener("pe-change", ({ detail }: CustomEventInit) => {
    for (const [name, value] of Object.entries(detail)) {
      // A value that the model does not name is none of its state.
      if (given(model, name) === undefined) continue;
      const key = model.get(name) === undefined ? name.replaceAll("-", "_") : name;
      model.set?.(key, value);
    }
    tell(() => model.save_changes?.());
  });
  el.append(figure);
  return () => {
    for (const step of undo) step();
  };
}

export default { render };
