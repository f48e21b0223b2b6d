// What every figure of the lesson has: state in attributes, one computation and one render per frame, a title, a
// sentence that follows the state, a data table, a reset, a link, and an error shown in place of nothing.

import {
  type CSSResult,
  type CSSResultGroup,
  css,
  html,
  LitElement,
  nothing,
  type TemplateResult,
  unsafeCSS,
} from "lit";
import { type NamedArray, toCsv, toNpy } from "../draw/npy.ts";
import { toPng, toSvg } from "../draw/snapshot.ts";
import { quoted, visible } from "../inspect/words.ts";
import { show } from "../kinds.ts";
import type { Posenc } from "../posenc.ts";
import tokens from "../styles/tokens.css?inline";
import { sharedCore } from "./core.ts";
import { onNear, onWidth } from "./observe.ts";
import { ignoreRestingMouse } from "./pointer.ts";
import {
  type Field,
  type Fields,
  parse,
  readState,
  readUrl,
  type State,
  urlWith,
  writeUrl,
} from "./state.ts";
import { hostScheme, onHostTheme } from "./theme.ts";

export interface DataTable {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

/** Registers an element once: a second copy of the bundle leaves the first in charge. */
export function define(tag: string, element: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, element);
}

/** What every figure takes beside its state. */
export const SETTINGS = {
  theme: { kind: "choice", fallback: "auto", choices: ["auto", "light", "dark"] },
  hide: { kind: "text", fallback: "", maxLength: 1000 },
  loading: { kind: "choice", fallback: "eager", choices: ["eager", "lazy"] },
} as const;

/** Pixels that every picture needs: in less room it is scrolled. */
const NARROWEST = 200;

const PARTS = ["title", "takeaway", "data", "export", "link", "embed", "reset"];

/** A figure's state as plain data, to be kept and given back. */
export interface SavedState {
  version: 1;
  /** The figure's name: its tag without "pe-". */
  figure: string;
  state: Record<string, number | boolean | string>;
}

/**
 * What every figure takes, sends and offers, beside what its own comment lists.
 *
 * @attr theme - Its colours; auto: as the page, else as the system.
 * @attr hide - What a page’s author hides, separated by spaces: attributes, whose controls vanish, and the parts title,
 *   takeaway, data, export, link, embed and reset.
 * @attr loading - When it computes; lazy: once it comes near the window.
 * @attr {string} url-key - Prefix of this figure’s state in the page’s address; without it the address is left alone.
 * @fires {CustomEvent} pe-ready - The first picture is drawn.
 * @fires {CustomEvent} pe-change - The reader changed the state; `detail` is the state.
 * @fires {CustomEvent} pe-error - `detail` is the sentence shown.
 * @slot picture - What stands here, its title included, until the first picture is drawn.
 * @csspart figure - The whole figure.
 * @csspart title - Its title.
 * @csspart takeaway - The sentence that follows the state.
 * @cssprop --pe-bg - The ground.
 * @cssprop --pe-surface - The ground of what is set apart.
 * @cssprop --pe-ink - Text.
 * @cssprop --pe-ink-2 - Lesser text and axes.
 * @cssprop --pe-rule - Borders and rules.
 * @cssprop --pe-focus - The ring around what has the focus.
 * @cssprop --pe-font - The font.
 */
export abstract class PeFigure<F extends Fields, Model> extends LitElement {
  /** The attributes that are this figure's state. */
  static fields: Fields = {};

  static override get observedAttributes(): string[] {
    return [...super.observedAttributes, ...Object.keys(this.fields), ...Object.keys(SETTINGS)];
  }

  /** What the title says. */
  protected abstract readonly heading: string;
  /** All numbers of the picture from the state. May throw a sentence: the last good picture stays. */
  protected abstract compute(core: Posenc, state: State<F>): Model;
  protected abstract picture(model: Model, state: State<F>): TemplateResult;
  /** One sentence with real numbers that follows the state. */
  protected abstract takeaway(model: Model, state: State<F>): string;
  /** The numbers of the picture, read on demand. */
  protected abstract dataTable(model: Model, state: State<F>): DataTable;
  /** The numbers of the picture as one array, for files. */
  protected array?(model: Model, state: State<F>): NamedArray;
  /** All that the figure has found, as plain data for a JSON file: what one array cannot hold. */
  protected record?(model: Model, state: State<F>): unknown;
  /** NumPy code that computes and draws the very picture. */
  protected numpy?(state: State<F>): string;
  /** What stands below the sentence, where a first look need not fall. */
  protected below?(model: Model, state: State<F>): TemplateResult;
  /** Runs after each render with a picture: the place to draw on a canvas. */
  protected draw(_model: Model, _state: State<F>): void {}

  /** The values of the picture, and of changes that the next frame will show. */
  protected state!: State<F>;
  protected model: Model | undefined;
  /** Width of the figure in CSS pixels, as far as it can be obeyed. */
  protected get width(): number {
    return this.#width;
  }
  /** Hosts that know of no figure give it a width as they give one to an image: its style decides. */
  protected set width(_value: number) {}
  #width = 0;
  /** The values whose pictures the canvases hold, as a figure notes them that draws only what is new. */
  protected painted: readonly unknown[] = [];

  #shown!: State<F>;
  #core: Posenc | undefined;
  #problem = "";
  #stale = true;
  #tableOpen = false;
  #spoken = "";
  #notice = "";
  /** What the clipboard did not take. */
  #toCopy = "";
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #leaveWidth: (() => void) | undefined;
  #leaveNear: (() => void) | undefined;
  #awake = false;
  #authored: Map<string, string> | undefined;
  /** Whether the picture is not of the attributes, for some of them are wrong. */
  #astray = false;
  #leaveTheme: (() => void) | undefined;
  #leaveMouse: (() => void) | undefined;
  #scheme: CSSStyleSheet | undefined;
  #ready = pending<void>();

  /** Fulfilled when the first picture is drawn; rejected with a sentence if there will be none. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  constructor() {
    super();
    this.addEventListener("keydown", keepKeys);
  }

  protected override firstUpdated(): void {
    const repaint = () => {
      this.painted = [];
      this.requestUpdate();
    };
    // A canvas that the browser had to take back comes back blank.
    this.renderRoot.addEventListener("contextrestored", repaint, true);
  }

  get #fields(): F {
    return (this.constructor as typeof PeFigure).fields as F;
  }
  get #urlKey(): string | null {
    return this.getAttribute("url-key");
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.#authored === undefined) {
      this.#authored = new Map(Array.from(this.attributes, ({ name, value }) => [name, value]));
      // Only now: moved within its page, the figure has a state of its own, which may be newer than the address.
      const key = this.#urlKey;
      const found = key ? readUrl(key, this.#fields) : {};
      for (const [name, text] of Object.entries(found)) this.setAttribute(name, text);
    }
    this.#leaveTheme = onHostTheme(this, this.#theme);
    this.#leaveMouse = ignoreRestingMouse(this);
    this.#theme();
    this.#wait();
    addEventListener("online", this.#retry);
    addEventListener("beforeprint", this.#wake);
    this.requestUpdate(); // what changed while it was in no page
  }

  #measure = (inner: number): void => {
    const width = Math.max(NARROWEST, Math.round(inner));
    if (width === this.width || inner === 0) return;
    this.#width = width;
    this.#stale = true;
    this.requestUpdate();
  };

  /** Loads the core: at once, or when the figure comes near the window. */
  #wait(): void {
    this.#leaveNear?.();
    if (this.#awake || this.getAttribute("loading") !== "lazy") this.#load();
    else {
      const leave = onNear([this], "50% 0px", this.#wake);
      this.#leaveNear = () => leave(this);
    }
  }

  #wake = (): Promise<void> => this.#load();

  /** A connection that is there again may bring what did not come before. */
  #retry = (): void => {
    if (this.#problem && !this.#core) this.#load();
  };

  async #load(): Promise<void> {
    this.#leaveNear?.();
    this.#awake = true;
    if (this.#core) return;
    if (this.#problem) this.#ready = pending();
    try {
      this.#core = await sharedCore();
      this.requestUpdate();
    } catch (error) {
      const sentence = `The core that computes this figure did not load (${message(error)}). Reloading the page tries again.`;
      this.#ready.reject(new Error(sentence));
      this.#fail(sentence);
    }
  }

  /** Throws the sentence for a setting that is none, or for a name in `hide` that nothing here answers to. */
  #checkSettings(): void {
    readState(SETTINGS, (name) => this.getAttribute(name));
    const known = [...PARTS, ...Object.keys(this.#fields)];
    const unknown = this.#hidden.find((name) => !known.includes(name));
    if (unknown) throw new Error(`hide must name some of ${known.join(", ")}, got ${quoted(unknown)}`);
  }

  get #hidden(): string[] {
    return this.#setting("hide")
      .split(/[\s,]+/)
      .filter(Boolean);
  }

  /** Whether the page's author hides what sets the field: what is both picture and control stays, at rest. */
  protected hides(field: string): boolean {
    return this.#hidden.includes(field);
  }

  /** As a style sheet: what else a figure put on itself, React would take for a mistake in what a server has written. */
  #theme = (): void => {
    const { shadowRoot, ownerDocument } = this;
    const view = ownerDocument.defaultView;
    if (!shadowRoot || !view) return;
    const theme = this.#setting("theme");
    const scheme = (theme === "auto" ? hostScheme(this) : theme) || "inherit";
    const rule = (name: string): string => `:host { color-scheme: ${name}; }`;
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(`${rule(scheme)} @media print { ${rule("light")} }`);
    const others = shadowRoot.adoptedStyleSheets.filter((one) => one !== this.#scheme);
    shadowRoot.adoptedStyleSheets = [...others, sheet];
    this.#scheme = sheet;
  };

  /** A setting's value; the fallback if what stands there is none. */
  #setting<Name extends keyof typeof SETTINGS>(name: Name): State<typeof SETTINGS>[Name] {
    try {
      return readState({ [name]: SETTINGS[name] }, (attribute) => this.getAttribute(attribute))[
        name
      ] as State<typeof SETTINGS>[Name];
    } catch {
      return SETTINGS[name].fallback as State<typeof SETTINGS>[Name];
    }
  }

  protected override createRenderRoot(): HTMLElement | DocumentFragment {
    if (this.ownerDocument === document) return super.createRenderRoot();
    this.attachShadow({ mode: "open" });
    return this.#restyle();
  }

  /** Moved to another document, such as a frame's: style sheets do not go with it. */
  adoptedCallback(): void {
    if (this.shadowRoot) this.#restyle();
  }

  #restyle(): ShadowRoot {
    const [root, view] = [this.shadowRoot as ShadowRoot, this.ownerDocument.defaultView];
    if (!view) return root;
    const sheet = new view.CSSStyleSheet();
    const { elementStyles } = this.constructor as typeof LitElement;
    sheet.replaceSync(elementStyles.map((style) => ("cssText" in style ? style.cssText : "")).join("\n"));
    root.adoptedStyleSheets = [sheet];
    return root;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leaveWidth?.();
    this.#leaveWidth = undefined;
    this.#leaveNear?.();
    this.#drawn = undefined; // a figure may give back here what its model stands on
    removeEventListener("online", this.#retry);
    removeEventListener("beforeprint", this.#wake);
    this.#leaveTheme?.();
    this.#leaveMouse?.();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    super.attributeChangedCallback(name, old, value);
    if (old === value) return;
    if (name === "theme" && this.isConnected) this.#theme();
    if (name === "loading" && this.isConnected) this.#wait();
    this.#stale = true;
    this.requestUpdate();
  }

  /** All values that make this picture; `setState` takes them back. */
  getState(): SavedState {
    const state = this.state ?? readState(this.#fields, this.#good);
    return { version: 1, figure: this.#name, state: { ...state } };
  }

  /**
   * Takes values over; those that are not named stay. Throws a TypeError for what is no such state and a RangeError
   * for a value that breaks its rule: then nothing has changed. Values that do not go together are answered in place.
   */
  setState(saved: SavedState): void {
    const { version, figure, state } = Object(saved);
    if (version !== 1) throw new TypeError(`version must be 1, got ${show(version)}`);
    if (figure !== this.#name) throw new TypeError(`figure must be "${this.#name}", got ${show(figure)}`);
    if (typeof state !== "object" || state === null || Array.isArray(state)) {
      throw new TypeError(`state must be an object, got ${show(state)}`);
    }
    const values = Object.entries(state).map(([name, value]) => {
      const field = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
      if (!field)
        throw new TypeError(`state.${visible(name.slice(0, 40))} is not an attribute of this figure`);
      if (!["number", "boolean", "string"].includes(typeof value)) {
        throw new TypeError(`state.${name} must be a number, a boolean or a string`);
      }
      try {
        return [name, parse(name, field, String(value))] as const;
      } catch (error) {
        throw new RangeError(message(error));
      }
    });
    this.#take(Object.fromEntries(values) as Partial<State<F>>);
  }

  get #name(): string {
    return this.localName.replace(/^pe-/, "");
  }

  /** The reader's change: attributes, then the address and the event. Two changes in one frame add up. */
  protected set(change: Partial<State<F>>): void {
    // What an author or a link wrote wrongly gives way to what is shown, or it would refuse every change.
    this.#take(this.#astray ? { ...this.state, ...change } : change);
    this.#astray = false;
    this.#changed();
  }

  /** For what the reader begins with what is shown: nothing that is wrong may stand beside it. */
  protected keepShown(): void {
    if (this.#astray) this.set({});
  }

  #take(change: Partial<State<F>>): void {
    if (this.#astray) this.recompute(); // the same refused value again changes no attribute
    for (const [name, value] of Object.entries(change)) this.setAttribute(name, String(value));
    // What breaks its rule, as a typed number may, is refused with the next frame, and is no state until then.
    const sound = Object.entries(change).filter(([name]) => this.#good(name) !== null);
    if (this.state !== undefined)
      this.state = { ...this.state, ...(Object.fromEntries(sound) as Partial<State<F>>) };
  }

  /** For numbers that no attribute holds, such as an opened file: they changed, compute with them. */
  protected recompute(): void {
    this.#stale = true;
    this.requestUpdate();
  }

  /** Back to what the page's author wrote, else to the fallbacks. */
  reset(): void {
    for (const name of Object.keys(this.#fields)) {
      const value = this.#authored?.get(name);
      if (value === undefined) this.removeAttribute(name);
      else this.setAttribute(name, value);
    }
    this.#changed();
  }

  /** Below the figure: what a button of the footer did, and what is left to the reader to copy. */
  #say(notice: string, toCopy = ""): void {
    this.#notice = notice;
    this.#toCopy = toCopy;
    this.requestUpdate();
  }

  #changed(): void {
    this.#say("");
    this.#after("change", 250, () => {
      if (this.#urlKey && !this.#problem) writeUrl(this.#urlKey, this.#fields, this.state, this.#authored);
    });
    this.updateComplete.then(() => {
      const detail = { ...this.state };
      this.dispatchEvent(new CustomEvent("pe-change", { detail, bubbles: true, composed: true }));
    });
  }

  #named = new Map<string, ReturnType<typeof setTimeout>>();
  /** Runs once, `wait` milliseconds after the last call of that name, unless the figure has left its page. */
  #after(name: string, wait: number, run: () => void): void {
    if (!this.isConnected) return;
    const pending = this.#named.get(name);
    if (pending !== undefined) {
      clearTimeout(pending);
      this.#timers.delete(pending);
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, wait);
    this.#named.set(name, timer);
    this.#timers.add(timer);
  }

  #fail(sentence: string): void {
    if (sentence === this.#problem) return;
    this.#problem = sentence;
    this.dispatchEvent(new CustomEvent("pe-error", { detail: sentence, bubbles: true, composed: true }));
    this.requestUpdate();
  }

  protected override async scheduleUpdate(): Promise<void> {
    // At first at once: what stands in the place of the picture needs its slot before the next frame is drawn.
    if (this.hasUpdated) await new Promise(requestAnimationFrame);
    await super.scheduleUpdate();
  }

  /** In no page, nothing is computed or drawn. */
  protected override shouldUpdate(): boolean {
    return this.isConnected;
  }

  protected override willUpdate(): void {
    if (!this.#stale || !this.#core || this.width === 0) return;
    this.#stale = false;
    try {
      this.#show(this.#core, (name) => this.getAttribute(name));
      this.#checkSettings();
      this.#problem = "";
      this.#astray = false;
    } catch (error) {
      this.#astray = true;
      if (this.model === undefined) this.#showGood(this.#core);
      if (this.model !== undefined) this.state = this.#shown; // of the last good picture, which stays
      this.#fail(message(error));
    }
  }

  /** A first picture in spite of bad attributes: of the good ones, or of the fallbacks where those do not go together. */
  #showGood(core: Posenc): void {
    for (const attribute of [this.#good, () => null]) {
      try {
        this.#show(core, attribute);
        return;
      } catch {
        // the sentence of the attributes as they are is said; without memory there is no picture at all
      }
    }
  }

  /** An attribute's text; null if it is no value of its field. */
  #good = (name: string): string | null => {
    const text = this.getAttribute(name);
    try {
      if (text !== null) parse(name, this.#fields[name] as Field, text);
      return text;
    } catch {
      return null;
    }
  };

  #show(core: Posenc, attribute: (name: string) => string | null): void {
    const first = this.model === undefined;
    const state = readState(this.#fields, attribute);
    this.model = this.compute(core, state);
    this.state = this.#shown = state;
    if (first) {
      this.updateComplete.then(() => {
        this.#ready.resolve();
        this.dispatchEvent(new CustomEvent("pe-ready", { bubbles: true, composed: true }));
      });
    }
  }

  /** What was last made of a model and its state. */
  #parts: { sentence: string; picture?: TemplateResult; below?: TemplateResult | undefined } = {
    sentence: "",
  };

  #make(model: Model, state: State<F>): void {
    try {
      const [sentence, picture] = [this.takeaway(model, state), this.picture(model, state)];
      this.#parts = { sentence, picture, below: this.below?.(model, state) };
    } catch (error) {
      this.#goBack();
      this.#fail(message(error));
    }
  }

  protected override render(): TemplateResult {
    if (this.model !== undefined) this.#make(this.model, this.state);
    const { sentence, picture, below } = this.#parts;
    this.#after("speak", 600, () => {
      if (this.#spoken === sentence) return;
      this.#spoken = sentence;
      this.requestUpdate();
    });
    // The form of all radio buttons: one of no form Chromium never lets go, once it has left a shadow tree.
    const choices = html`<form id="choices" hidden @submit=${(event: Event) => event.preventDefault()}></form>`;
    const heading = html`<h3 id="heading" part="title" data-field="title">${this.heading}</h3>`;
    return html`
      <section
        part="figure"
        aria-labelledby="heading"
        @pointerover=${this.#light}
        @pointerleave=${this.#light}
        @focusin=${this.#light}
      >
        ${picture ? heading : html`<slot name="picture">${heading}</slot>`}
        <div class="problem" role="alert" ?hidden=${!this.#problem}>${this.#problem}</div>
        ${picture ?? nothing}
        ${this.#problem && !picture ? nothing : html`<p class="takeaway" part="takeaway" data-field="takeaway">${sentence}</p>`}
        <p class="unseen" aria-live="polite">${this.#spoken}</p>
        ${choices}
        ${below ?? nothing}
        ${this.#core?.twin === undefined ? nothing : html`<p class="twin">Computed by JavaScript, slower but as exact: ${this.#core.twin}.</p>`}
        ${this.model === undefined ? nothing : this.#footer(this.model)}
      </section>
    `;
  }

  #footer(model: Model): TemplateResult {
    const open = (event: Event) => {
      this.#tableOpen = (event.target as HTMLDetailsElement).open;
      this.requestUpdate();
    };
    return html`
      <footer>
        <details class="data" data-field="data" @toggle=${open}>
          <summary>Data table</summary>
          ${this.#tableOpen ? this.#table(model) : nothing}
        </details>
        ${this.#menu()}
        ${this.#urlKey ? html`<button type="button" data-field="link" @click=${this.#copyLink}>Copy link</button>` : nothing}
        <button
          type="button"
          class="embed"
          data-field="embed"
          aria-expanded=${this.#panel ? "true" : "false"}
          @click=${this.#embed}
        >
          Embed this
        </button>
        <button type="button" class="reset" data-field="reset" @click=${this.reset}>Reset</button>
        ${this.#notice ? html`<output class="notice">${this.#notice}</output>` : nothing}
        ${this.#toCopy ? html`<pre class="to-copy" tabindex="0" role="group" aria-label="To copy">${this.#toCopy}</pre>` : nothing}
        ${this.#panel?.()}
      </footer>
    `;
  }

  #table(model: Model): TemplateResult {
    try {
      return renderTable(this.dataTable(model, this.state));
    } catch (error) {
      return html`<p>${message(error)}</p>`;
    }
  }

  /** Says how to embed the figure as it is, while that is asked. */
  #panel: (() => TemplateResult) | undefined;

  #embed = async (): Promise<void> => {
    if (this.#panel) {
      this.#closePanel();
      return;
    }
    try {
      const { embedPanel } = await import("../embed/embed-panel.ts");
      const height = this.offsetHeight;
      this.#panel = () =>
        embedPanel({
          tag: this.localName,
          title: this.heading,
          attributes: this.#written(),
          height,
          onClose: this.#closePanel,
        });
      this.requestUpdate();
    } catch (error) {
      this.#say(`What to paste did not load (${message(error)}).`);
    }
  };

  #closePanel = (): void => {
    this.#panel = undefined;
    this.requestUpdate();
    this.renderRoot.querySelector<HTMLElement>("button.embed")?.focus();
  };

  /** The attributes by which an author gets this picture: those that differ from their fallbacks. */
  #written(): Record<string, string> {
    const { theme, hide } = SETTINGS;
    const settings = Object.entries({ theme, hide }).map(
      ([name, { fallback }]) => [name, this.getAttribute(name) ?? fallback, fallback] as const,
    );
    const state = Object.entries(this.#fields).map(
      ([name, { fallback }]) => [name, this.state[name], fallback] as const,
    );
    const differing = [...state, ...settings].filter(([, value, fallback]) => value !== fallback);
    return Object.fromEntries(differing.map(([name, value]) => [name, String(value)]));
  }

  #menu(): TemplateResult {
    const name = this.localName;
    const items: [label: string, run: () => unknown, offered: unknown][] = [
      ["PNG picture", () => this.save(`${name}.png`, () => this.toPNG()), true],
      ["SVG drawing", () => this.save(`${name}.svg`, () => this.toSVG()), true],
      ["CSV numbers", () => this.save(`${name}.csv`, () => this.toCSV()), this.array],
      ["NPY array", () => this.save(`${name}.npy`, () => this.toNPY()), this.array],
      ["JSON record", () => this.save(`${name}.json`, () => this.toRecord()), this.record],
      ["Copy as NumPy code", () => this.copy(this.toNumPy(), "Code copied."), this.numpy],
    ];
    const close = (event: KeyboardEvent) => {
      const menu = event.currentTarget as HTMLDetailsElement;
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary")?.focus();
      event.preventDefault();
    };
    const shut = (event: FocusEvent) => {
      const menu = event.currentTarget as HTMLDetailsElement;
      if (!menu.contains(event.relatedTarget as Node | null)) menu.open = false;
    };
    return html`
      <details class="menu" data-field="export" @keydown=${close} @focusout=${shut}>
        <summary role="button">Export</summary>
        <div class="items">
          ${items
            .filter(([, , offered]) => offered)
            .map(([label, run]) => html`<button type="button" @click=${run}>${label}</button>`)}
        </div>
      </details>
    `;
  }

  /** The part of the figure that is its picture: marked by the figure itself. */
  get #drawing(): Element | null {
    return this.renderRoot.querySelector("[data-picture]");
  }

  #required<T>(value: T | null | undefined, what: string): T {
    if (value === null || value === undefined) throw new Error(`${this.localName} has no ${what}`);
    return value;
  }

  /** The picture at two pixels for one, with the page's ground behind it. */
  toPNG(): Promise<Blob> {
    return toPng(this.#required(this.#drawing, "picture"), getComputedStyle(this).backgroundColor);
  }
  /** The picture as an SVG document. */
  toSVG(): string {
    return toSvg(this.#required(this.#drawing, "picture"));
  }
  #array(): NamedArray {
    return this.#required(this.array?.(this.#required(this.model, "numbers yet"), this.state), "array");
  }
  /** The numbers of the picture, one row a line. Throws an Error where the figure has none. */
  toCSV(): string {
    return toCsv(this.#array());
  }
  /** The numbers of the picture as a NumPy file. Throws an Error where the figure has none. */
  toNPY(): Uint8Array<ArrayBuffer> {
    return toNpy(this.#array());
  }
  /** All that the figure has found, as JSON. Throws an Error where the figure keeps no such record. */
  toRecord(): string {
    const record = this.record?.(this.#required(this.model, "numbers yet"), this.state);
    return `${JSON.stringify(this.#required(record, "record"), null, 1)}\n`;
  }
  /** Python that computes the numbers of the picture. Throws an Error where the figure has none. */
  toNumPy(): string {
    return this.#required(this.numpy?.(this.state), "NumPy code");
  }

  /** Offers a file to be kept. */
  protected async save(name: string, make: () => BlobPart | Promise<BlobPart>): Promise<void> {
    try {
      const address = URL.createObjectURL(new Blob([await make()]));
      const link = document.createElement("a");
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      this.#say(`${link.download} saved.`);
    } catch (error) {
      this.#say(`The file could not be made: ${message(error)}`);
    }
  }

  /** Puts a text on the clipboard and says so. */
  protected async copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#say(done);
      return;
    } catch {
      this.#say("The browser does not allow copying here. The text is selected: copy it by keyboard.", text);
    }
    await this.updateComplete;
    const shown = this.renderRoot.querySelector<HTMLElement>(".to-copy");
    if (!shown) return;
    shown.focus();
    getSelection()?.selectAllChildren(shown);
  }

  #copyLink = (): Promise<void> => {
    const url = urlWith(this.#urlKey ?? "", this.#fields, this.state, this.#authored);
    // What is no figure's state may be a course's key to its records.
    for (const name of [...url.searchParams.keys()]) if (!name.includes(".")) url.searchParams.delete(name);
    const section = this.closest("[id]");
    if (section) url.hash = section.id;
    return this.copy(url.href, "Link copied.");
  };

  /** Symbol, control and mark of one quantity light up together. */
  #light = (event: Event): void => {
    const target = event.type === "pointerleave" ? null : (event.target as Element);
    const symbol = target?.closest?.("[data-symbol]")?.getAttribute("data-symbol") ?? "";
    this.renderRoot.querySelector("section")?.setAttribute("data-lit", symbol);
  };

  protected override updated(): void {
    const hidden = this.#hidden;
    for (const part of this.renderRoot.querySelectorAll<HTMLElement | SVGElement>("[data-field]")) {
      const sets = part.dataset.field?.split(" ") ?? [];
      part.toggleAttribute(
        "hidden",
        sets.some((name) => hidden.includes(name)),
      );
    }
    const section = this.renderRoot.querySelector("section");
    if (section) this.#leaveWidth ??= onWidth(section, this.#measure);
    if (this.model !== undefined && this.#parts.picture) this.#paint(this.model);
    // Whoever hears of an error may have mended it while the update was under way.
    if (this.#stale && this.#core && this.width > 0) this.requestUpdate();
  }

  /** The model and state whose picture is whole. */
  #drawn: { model: Model; state: State<F> } | undefined;
  /** Why there is none of the present model. */
  #undrawn = "";

  /** What the browser refuses to draw is said, and what was drawn before comes back. */
  #paint(model: Model): void {
    try {
      this.draw(model, this.state);
      this.#drawn = { model, state: this.state };
      if (!this.#undrawn) return;
      if (this.#problem === this.#undrawn) this.#problem = "";
      this.#undrawn = "";
      this.requestUpdate();
    } catch (error) {
      this.painted = [];
      if (!this.#goBack()) this.#undrawn = message(error);
      this.#fail(message(error));
    }
  }

  /** To the model and the state whose picture is whole; false where there is no other. */
  #goBack(): boolean {
    if (!this.#drawn || this.#drawn.state === this.state) return false;
    this.model = this.#drawn.model;
    this.state = this.#shown = this.#drawn.state;
    this.#astray = true;
    this.requestUpdate();
    return true;
  }

  static override styles: CSSResultGroup = [
    unsafeCSS(tokens),
    css`
      :host {
        display: block;
        container-type: inline-size;
        /* where the page asks the figure how wide it would be: a row of flexible boxes, a float, a table */
        contain-intrinsic-inline-size: 320px;
        min-width: 0;
        padding: var(--pe-padding, clamp(8px, 3%, 16px));
        border-radius: var(--pe-radius);
        background-color: var(--pe-bg);
        color: var(--pe-ink);
      }
      /* Whatever the page's rules make an element inherit ends here. */
      section {
        all: initial;
        display: block;
        color: var(--pe-ink);
        color-scheme: inherit;
        visibility: inherit;
        pointer-events: inherit;
        font: var(--pe-text-s) / 1.45 var(--pe-font);
        font-variant-numeric: tabular-nums;
        -webkit-text-size-adjust: 100%;
        text-size-adjust: 100%;
      }
      @container (max-width: ${NARROWEST - 1}px) {
        section {
          overflow-x: auto;
        }
      }
      :host([hidden]),
      [hidden] {
        display: none !important;
      }
      /* A group goes with the last of its controls. */
      :is(.controls, .control, .group, fieldset, div[role="group"]):has([data-field][hidden]):not(
          :has(:is(button, input, select):not([hidden], [hidden] *))
        ) {
        display: none;
      }
      *,
      ::before,
      ::after {
        box-sizing: border-box;
      }
      h3 {
        margin: 0 0 var(--pe-space-3);
        font-size: var(--pe-text-m);
        font-weight: 600;
      }
      dl,
      dd {
        margin: 0;
      }
      .takeaway {
        max-width: 68ch;
        min-height: 2.9em;
        margin: var(--pe-space-3) 0;
        font-size: var(--pe-text-m);
        text-wrap: pretty;
      }
      .problem {
        margin-block: 0 var(--pe-space-3);
        padding: var(--pe-space-2) var(--pe-space-3);
        border-inline-start: 3px solid var(--pe-q);
        background: var(--pe-surface);
      }
      .twin {
        margin: 0 0 var(--pe-space-3);
        color: var(--pe-ink-2);
        overflow-wrap: anywhere;
      }
      .unseen {
        position: absolute;
        width: 1px;
        height: 1px;
        margin: 0;
        overflow: hidden;
        clip-path: inset(50%);
        white-space: nowrap;
      }
      footer {
        display: flex;
        flex-wrap: wrap;
        align-items: start;
        gap: var(--pe-space-2);
        color: var(--pe-ink-2);
      }
      footer .data {
        flex: 1 1 calc(7 * var(--pe-rem));
        min-width: 0;
      }
      footer .data[open] {
        flex-basis: 100%;
      }
      footer pe-embed-panel {
        flex: 0 0 100%;
        min-width: 0;
      }
      footer .notice,
      footer .to-copy {
        flex-basis: 100%;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      footer .to-copy {
        min-width: 0;
        max-height: calc(14 * var(--pe-rem));
        margin: 0;
        padding: var(--pe-space-2) var(--pe-space-3);
        overflow: auto;
        background: var(--pe-surface);
        color: var(--pe-ink);
        font-size: 0.9em;
      }
      .menu {
        position: relative;
      }
      .menu summary {
        display: flex;
        align-items: center;
        min-height: calc(2 * var(--pe-rem));
        padding: calc(0.2 * var(--pe-rem)) calc(0.7 * var(--pe-rem));
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        list-style: none;
      }
      .menu summary::-webkit-details-marker {
        display: none;
      }
      .menu summary:hover {
        border-color: currentColor;
      }
      .menu .items {
        position: absolute;
        inset: auto 0 calc(100% + var(--pe-space-1)) auto;
        z-index: 1;
        display: grid;
        min-width: calc(12 * var(--pe-rem));
        padding: var(--pe-space-1);
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: var(--pe-bg);
        box-shadow: 0 2px 12px rgb(0 0 0 / 0.15);
      }
      .menu .items button {
        border-color: transparent;
        text-align: start;
      }
      .menu .items button:hover {
        background: var(--pe-surface);
      }
      .scroll {
        max-height: calc(22 * var(--pe-rem));
        overflow: auto;
        margin-top: var(--pe-space-2);
      }
      table {
        border-collapse: collapse;
      }
      caption {
        padding-bottom: var(--pe-space-1);
        text-align: start;
      }
      th,
      td {
        padding: calc(0.15 * var(--pe-rem)) calc(0.6 * var(--pe-rem));
        border-bottom: 1px solid var(--pe-rule);
        text-align: end;
        white-space: nowrap;
      }
      thead th {
        position: sticky;
        top: 0;
        background: var(--pe-bg);
      }
      button,
      select,
      summary,
      input {
        font: inherit;
        color: inherit;
      }
      summary {
        width: fit-content;
        min-height: calc(2 * var(--pe-rem));
        padding-block: calc(0.3 * var(--pe-rem));
        cursor: pointer;
      }
      button {
        min-height: calc(2 * var(--pe-rem));
        padding: calc(0.2 * var(--pe-rem)) calc(0.7 * var(--pe-rem));
        border: 1px solid var(--pe-rule);
        border-radius: var(--pe-radius);
        background: none;
        cursor: pointer;
      }
      button:hover,
      button[aria-pressed="true"] {
        border-color: currentColor;
      }
      button:disabled {
        opacity: 0.5;
        cursor: default;
      }
      :focus-visible {
        outline: 2px solid var(--pe-focus);
        outline-offset: 2px;
      }
      .q {
        color: var(--pe-q);
      }
      .k {
        color: var(--pe-k);
      }
      .pos {
        color: var(--pe-pos);
      }
      .dim {
        color: var(--pe-dim);
      }
      /* What is dragged across is no text to be selected, and a selection to be dragged. */
      svg {
        -webkit-user-select: none;
        user-select: none;
      }
      svg text {
        fill: var(--pe-ink-2);
        font: 12px var(--pe-font);
        font-variant-numeric: tabular-nums;
      }
      section svg text.q {
        fill: var(--pe-q);
      }
      section svg text.k {
        fill: var(--pe-k);
      }
      section svg text.pos {
        fill: var(--pe-pos);
      }
      section svg text.dim {
        fill: var(--pe-dim);
      }
      svg .axis line,
      svg .axis path {
        stroke: var(--pe-ink-2);
        stroke-width: 1;
        fill: none;
        shape-rendering: crispEdges;
      }
      @media print {
        footer > :not(.data[open]) {
          display: none;
        }
      }
      @media (forced-colors: active) {
        .problem {
          border-color: Mark;
        }
      }
    `,
  ];
}

/** From each width of the figure on, in pixels: room for the lines of the longest text, in em, so that nothing below moves. */
type Steps = readonly (readonly [from: number, em: number])[];
const room = (selector: string, steps: Steps): string =>
  steps
    .map(([from, em]) => `@container (min-width: ${from}px) { ${selector} { min-height: ${em}em; } }`)
    .join("\n");

export const takeawayRoom = (...steps: Steps): CSSResult => unsafeCSS(room(".takeaway", steps));

/** A row of numbers above the picture; its last line stands just above it. */
export const readoutRow = (...steps: Steps): CSSResult =>
  unsafeCSS(`
    .readout {
      display: flex;
      flex-wrap: wrap;
      gap: 0 var(--pe-space-3);
      align-items: baseline;
      align-content: end;
      margin: 0 0 var(--pe-space-3);
    }
    .readout b { font-weight: 600; }
    ${room(".readout", steps)}`);

interface Pending<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

/** A promise that is settled from outside; a rejection that nobody waits for is no uncaught error. */
function pending<T>(): Pending<T> {
  let settle!: Omit<Pending<T>, "promise">;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...settle };
}

/** Course pages bind plain letters, arrows and space: what a figure uses must not reach them. Tab leaves the figure. */
function keepKeys(event: KeyboardEvent): void {
  if (event.key === "Tab") return;
  const target = event.composedPath()[0] as Element;
  const typed = target.matches?.("input, select, textarea") && event.key !== "Escape";
  const pressed = target.matches?.("button, summary") && (event.key === "Enter" || event.key === " ");
  if (event.defaultPrevented || typed || pressed) event.stopPropagation();
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A table that scrolls within its figure; the first cell of each row heads it. */
export function renderTable({ caption, head, rows }: DataTable): TemplateResult {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${caption}>
      <table>
        <caption>${caption}</caption>
        <thead>
          <tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map(
            ([first, ...rest]) => html`
              <tr>
                <th scope="row">${first}</th>
                ${rest.map((cell) => html`<td>${cell}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
