// What every figure of the lesson has: state in attributes, one computation and one render per frame, a title, a
// sentence that follows the state, a data table, a reset, a link, and an error shown in place of nothing.

import { type CSSResultGroup, css, html, LitElement, nothing, type TemplateResult, unsafeCSS } from "lit";
import { type NamedArray, toCsv, toNpy } from "../draw/npy.ts";
import { toPng, toSvg } from "../draw/snapshot.ts";
import type { Posenc } from "../posenc.ts";
import tokens from "../styles/tokens.css?inline";
import { sharedCore } from "./core.ts";
import { type Fields, readState, readUrl, type State, urlWith, writeUrl } from "./state.ts";

export interface DataTable {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

/** Registers an element once: a second copy of the bundle leaves the first in charge. */
export function define(tag: string, element: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, element);
}

/**
 * @attr url-key - Prefix of this figure's state in the page's address; without it the address is left alone.
 * @fires pe-ready - The first picture is drawn.
 * @fires pe-change - The reader changed the state; `detail` is the state.
 * @fires pe-error - `detail` is the sentence shown.
 */
export abstract class PeFigure<F extends Fields, Model> extends LitElement {
  /** The attributes that are this figure's state. */
  static fields: Fields = {};

  static override get observedAttributes(): string[] {
    return [...super.observedAttributes, ...Object.keys(this.fields)];
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
  /** NumPy code that computes and draws the very picture. */
  protected numpy?(state: State<F>): string;
  /** Runs after each render with a picture: the place to draw on a canvas. */
  protected draw(_model: Model, _state: State<F>): void {}

  /** The values of the picture, and of changes that the next frame will show. */
  protected state!: State<F>;
  protected model: Model | undefined;
  /** Width of the figure in CSS pixels. */
  protected width = 0;

  #shown!: State<F>;
  #core: Posenc | undefined;
  #problem = "";
  #stale = true;
  #tableOpen = false;
  #spoken = "";
  #notice = "";
  #timers = new Set<ReturnType<typeof setTimeout>>();
  #resize: ResizeObserver | undefined;

  get #fields(): F {
    return (this.constructor as typeof PeFigure).fields as F;
  }
  get #urlKey(): string | null {
    return this.getAttribute("url-key");
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const key = this.#urlKey;
    if (key) {
      for (const [name, text] of Object.entries(readUrl(key, this.#fields))) this.setAttribute(name, text);
    }
    this.#resize = new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0);
      if (width === this.width || width === 0) return;
      this.width = width;
      this.#stale = true;
      this.requestUpdate();
    });
    this.#resize.observe(this);
    if (!this.#core) {
      sharedCore().then(
        (core) => {
          this.#core = core;
          this.requestUpdate();
        },
        (error: unknown) => {
          this.#fail(
            `The core that computes this figure did not load (${message(error)}). The text is complete.`,
          );
        },
      );
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    super.attributeChangedCallback(name, old, value);
    if (old === value) return;
    this.#stale = true;
    this.requestUpdate();
  }

  /** The reader's change: attributes, then the address and the event. Two changes in one frame add up. */
  protected set(change: Partial<State<F>>): void {
    this.state = { ...this.state, ...change };
    for (const [name, value] of Object.entries(change)) this.setAttribute(name, String(value));
    this.#changed();
  }

  /** For numbers that no attribute holds, such as an opened file: they changed, compute with them. */
  protected recompute(): void {
    this.#stale = true;
    this.requestUpdate();
  }

  /** Back to the fallbacks. */
  reset(): void {
    for (const name of Object.keys(this.#fields)) this.removeAttribute(name);
    this.#changed();
  }

  #changed(): void {
    this.#notice = "";
    this.#after("change", 250, () => {
      if (this.#urlKey && !this.#problem) writeUrl(this.#urlKey, this.#fields, this.state);
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
    if (sentence !== this.#problem) {
      this.dispatchEvent(new CustomEvent("pe-error", { detail: sentence, bubbles: true, composed: true }));
    }
    this.#problem = sentence;
    this.requestUpdate();
  }

  protected override async scheduleUpdate(): Promise<void> {
    await new Promise(requestAnimationFrame);
    await super.scheduleUpdate();
  }

  protected override willUpdate(): void {
    if (!this.#stale || !this.#core || this.width === 0) return;
    this.#stale = false;
    try {
      this.#show(this.#core, (name) => this.getAttribute(name));
      this.#problem = "";
    } catch (error) {
      // The last good picture stays; without one, the picture of the fallbacks stands in.
      if (this.model === undefined) this.#show(this.#core, () => null);
      else this.state = this.#shown;
      this.#fail(message(error));
    }
  }

  #show(core: Posenc, attribute: (name: string) => string | null): void {
    const first = this.model === undefined;
    const state = readState(this.#fields, attribute);
    this.model = this.compute(core, state);
    this.state = this.#shown = state;
    if (first) {
      this.updateComplete.then(() => {
        this.dispatchEvent(new CustomEvent("pe-ready", { bubbles: true, composed: true }));
      });
    }
  }

  protected override render(): TemplateResult {
    const { model, state } = this;
    const sentence = model === undefined ? "" : this.takeaway(model, state);
    this.#after("speak", 600, () => {
      if (this.#spoken === sentence) return;
      this.#spoken = sentence;
      this.requestUpdate();
    });
    return html`
      <section
        part="figure"
        aria-labelledby="heading"
        @pointerover=${this.#light}
        @pointerleave=${this.#light}
        @focusin=${this.#light}
      >
        <h3 id="heading" part="title">${this.heading}</h3>
        <div class="problem" role="alert" ?hidden=${!this.#problem}>${this.#problem}</div>
        ${model === undefined ? nothing : this.picture(model, state)}
        <p class="takeaway" part="takeaway">${sentence}</p>
        <p class="unseen" aria-live="polite">${this.#spoken}</p>
        ${model === undefined ? nothing : this.#footer(model)}
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
        <details class="data" @toggle=${open}>
          <summary>Data table</summary>
          ${this.#tableOpen ? renderTable(this.dataTable(model, this.state)) : nothing}
        </details>
        ${this.#menu()}
        ${this.#urlKey ? html`<button type="button" @click=${this.#copyLink}>Copy link</button>` : nothing}
        <button type="button" class="reset" @click=${this.reset}>Reset</button>
        ${this.#notice ? html`<output class="notice">${this.#notice}</output>` : nothing}
      </footer>
    `;
  }

  #menu(): TemplateResult {
    const items: [label: string, run: () => unknown, offered: unknown][] = [
      ["PNG picture", () => this.#save("png", () => this.toPNG()), true],
      ["SVG drawing", () => this.#save("svg", () => this.toSVG()), true],
      ["CSV numbers", () => this.#save("csv", () => this.toCSV()), this.array],
      ["NPY array", () => this.#save("npy", () => this.toNPY()), this.array],
      ["Copy as NumPy code", () => this.#copy(this.toNumPy(), "Code copied."), this.numpy],
    ];
    const close = (event: KeyboardEvent) => {
      const menu = event.currentTarget as HTMLDetailsElement;
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary")?.focus();
      event.stopPropagation();
    };
    const shut = (event: FocusEvent) => {
      const menu = event.currentTarget as HTMLDetailsElement;
      if (!menu.contains(event.relatedTarget as Node | null)) menu.open = false;
    };
    return html`
      <details class="menu" @keydown=${close} @focusout=${shut}>
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
  toSVG(): string {
    return toSvg(this.#required(this.#drawing, "picture"));
  }
  #array(): NamedArray {
    return this.#required(this.array?.(this.#required(this.model, "numbers yet"), this.state), "array");
  }
  toCSV(): string {
    return toCsv(this.#array());
  }
  toNPY(): Uint8Array<ArrayBuffer> {
    return toNpy(this.#array());
  }
  toNumPy(): string {
    return this.#required(this.numpy?.(this.state), "NumPy code");
  }

  async #save(ending: string, make: () => BlobPart | Promise<BlobPart>): Promise<void> {
    try {
      const address = URL.createObjectURL(new Blob([await make()]));
      const link = document.createElement("a");
      link.href = address;
      link.download = `${this.localName}.${ending}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
      this.#notice = `${link.download} saved.`;
    } catch (error) {
      this.#notice = `The file could not be made: ${message(error)}`;
    }
    this.requestUpdate();
  }

  async #copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.#notice = done;
    } catch {
      this.#notice = text; // no clipboard: shown, to be selected by hand
    }
    this.requestUpdate();
  }

  #copyLink = (): Promise<void> => {
    const url = urlWith(this.#urlKey ?? "", this.#fields, this.state);
    const section = this.closest("[id]");
    if (section) url.hash = section.id;
    return this.#copy(url.href, "Link copied.");
  };

  /** Symbol, control and mark of one quantity light up together. */
  #light = (event: Event): void => {
    const target = event.type === "pointerleave" ? null : (event.target as Element);
    const symbol = target?.closest?.("[data-symbol]")?.getAttribute("data-symbol") ?? "";
    this.renderRoot.querySelector("section")?.setAttribute("data-lit", symbol);
  };

  protected override updated(): void {
    if (this.model !== undefined) this.draw(this.model, this.state);
  }

  static override styles: CSSResultGroup = [
    unsafeCSS(tokens),
    css`
      :host {
        display: block;
        background-color: var(--pe-bg);
        color: var(--pe-ink);
        font: var(--pe-text-s) / 1.45 var(--pe-font);
        font-variant-numeric: tabular-nums;
        text-align: start;
      }
      :host([hidden]),
      [hidden] {
        display: none !important;
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
        flex: 1 1 7rem;
        min-width: 0;
      }
      footer .data[open] {
        flex-basis: 100%;
      }
      footer .notice {
        flex-basis: 100%;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
        user-select: all;
      }
      .menu {
        position: relative;
      }
      .menu summary {
        display: flex;
        align-items: center;
        min-height: 2rem;
        padding: 0.2rem 0.7rem;
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
        min-width: 12rem;
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
        max-height: 22rem;
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
        padding: 0.15rem 0.6rem;
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
        min-height: 2rem;
        padding-block: 0.3rem;
        cursor: pointer;
      }
      button {
        min-height: 2rem;
        padding: 0.2rem 0.7rem;
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
      svg text {
        fill: var(--pe-ink-2);
        font: 12px var(--pe-font);
        font-variant-numeric: tabular-nums;
      }
      svg .axis line,
      svg .axis path {
        stroke: var(--pe-ink-2);
        stroke-width: 1;
        fill: none;
        shape-rendering: crispEdges;
      }
      @media (forced-colors: active) {
        .problem {
          border-color: Mark;
        }
      }
    `,
  ];
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function renderTable({ caption, head, rows }: DataTable): TemplateResult {
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
