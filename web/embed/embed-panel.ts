// How to embed a figure: one chooses where, and reads, copies and pastes. The figure fetches this when it is asked.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { version } from "../../package.json";
import { ELSEWHERE, type Form, formsOf, hosts, type Piece, snippet } from "./snippets.ts";

export interface PanelOptions {
  /** "pe-rope". */
  tag: string;
  /** What the figure's own title says. */
  title: string;
  /** State and settings that differ from their fallbacks. */
  attributes: Readonly<Record<string, string>>;
  /** Of a frame, in CSS pixels, where nothing fits it to the figure. */
  height: number;
  /** Takes the panel away; the focus is the caller's again. */
  onClose(): void;
}

/** The panel, which takes the focus when it comes into the page. Escape and its button close it. */
export const embedPanel = (options: PanelOptions): TemplateResult =>
  html`<pe-embed-panel .options=${options}></pe-embed-panel>`;

/** Of a build that is one file, its folder says nothing; that of the elements may hold no more than they need. */
const IN_ONE_FILE = /^(inline|widget|offline-.*)$/.test(import.meta.env.MODE);
const PERHAPS_ALONE = import.meta.env.MODE === "elements";

/** The folder with this copy's posenc.js and embed.html: this module lies in it, or in one of its folders. */
function home(module: string): string {
  if (IN_ONE_FILE || !/^https?:/.test(module)) return ELSEWHERE;
  return new URL(".", module).href.replace(/(assets|chunks|figures|offline)\/$/, "");
}

/** What is to be said of a folder that other computers cannot load from, or that may lack a file. */
function caution(base: string): string {
  if (base === ELSEWHERE) return `Put the address of your own copy in place of ${base}.`;
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(base).hostname))
    return PERHAPS_ALONE
      ? `${base} must hold posenc’s files; if it does not, put an address that does in its place.`
      : "";
  return `Only this computer can open ${base}: put the address of your own copy in its place.`;
}

const FORMS: Record<Form, string> = { element: "as an element", iframe: "in a frame" };

// Who embeds one figure embeds the next in the same place.
let chosen: { host: string; form: Form } = { host: "html", form: "element" };

class EmbedPanel extends LitElement {
  static override properties = { options: { attribute: false } };
  declare options: PanelOptions;
  #notice = "";

  constructor() {
    super();
    this.addEventListener("keydown", (event) => {
      // Course pages bind plain keys.
      event.stopPropagation();
      if (event.key === "Escape") this.options.onClose();
    });
  }

  protected override firstUpdated(_changed: PropertyValues): void {
    this.renderRoot.querySelector("select")?.focus();
  }

  #choose(change: Partial<typeof chosen>): void {
    chosen = { ...chosen, ...change };
    this.#notice = "";
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const base = home(import.meta.url);
    const forms = formsOf(chosen.host, base);
    const form = forms.includes(chosen.form) ? chosen.form : forms[0];
    return html`
      <section aria-labelledby="name">
        <h4 id="name">Embed this figure</h4>
        <button type="button" class="close" @click=${() => this.options.onClose()}>Close</button>
        <div class="choices">
          <label>
            Where
            <select @change=${(event: Event) => this.#choose({ host: (event.target as HTMLSelectElement).value })}>
              ${Object.entries(hosts).map(
                ([id, { name }]) =>
                  html`<option value=${id} ?selected=${id === chosen.host}>${name}</option>`,
              )}
            </select>
          </label>
          ${forms.length > 1 ? this.#forms(forms, form) : nothing}
        </div>
        ${form ? this.#pieces(form, base) : this.#none()}
        <p class="notice" role="status">${this.#notice}</p>
      </section>
    `;
  }

  #forms(forms: readonly Form[], form: Form | undefined): TemplateResult {
    return html`
      <fieldset>
        <legend>How</legend>
        ${forms.map(
          (one) => html`
            <label>
              <input
                type="radio"
                form="choices"
                name="form"
                .checked=${one === form}
                @change=${() => this.#choose({ form: one })}
              />
              ${FORMS[one]}
            </label>
          `,
        )}
      </fieldset>
    `;
  }

  #pieces(form: Form, base: string): TemplateResult {
    let pieces: Piece[];
    try {
      pieces = snippet(chosen.host, form, { ...this.options, base, version });
    } catch (error) {
      return html`<p>${(error as Error).message}</p>`;
    }
    const note = caution(base);
    return html`
      ${note ? html`<p>${note}</p>` : nothing}
      ${pieces.map(
        ({ where, code }, at) => html`
          <div class="piece">
            <p id="where${at}">${where}</p>
            <button type="button" aria-describedby="where${at}" @click=${this.#copy}>Copy</button>
            <pre tabindex="0" role="group" aria-labelledby="where${at}">${code}</pre>
          </div>
        `,
      )}
    `;
  }

  #none(): TemplateResult {
    return html`<p>
      ${hosts[chosen.host]?.name} takes frames only, and this copy comes from a package, which has no page for them.
      Host a copy yourself, and embed the figure from there.
    </p>`;
  }

  #copy = async (event: Event): Promise<void> => {
    const pre = (event.currentTarget as Element).parentElement?.querySelector("pre");
    if (!pre) return;
    try {
      await navigator.clipboard.writeText(pre.textContent ?? "");
      this.#notice = "Copied.";
    } catch {
      pre.focus();
      getSelection()?.selectAllChildren(pre);
      this.#notice = "The browser does not allow copying here. The text is selected: copy it by keyboard.";
    }
    this.requestUpdate();
  };

  static override styles = css`
    :host {
      display: block;
    }
    section {
      display: grid;
      grid-template-columns: 1fr auto;
      gap: var(--pe-space-2);
      padding: var(--pe-space-3);
      border: 1px solid var(--pe-rule);
      border-radius: var(--pe-radius);
      background: var(--pe-surface);
      color: var(--pe-ink);
      font: var(--pe-text-s) / 1.45 var(--pe-font);
      text-align: start;
    }
    section > :not(h4, .close) {
      grid-column: 1 / -1;
    }
    * {
      box-sizing: border-box;
      min-width: 0;
    }
    h4,
    p {
      margin: 0;
    }
    h4 {
      font-size: var(--pe-text-m);
      font-weight: 600;
    }
    .choices,
    fieldset {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: var(--pe-space-2) var(--pe-space-3);
    }
    fieldset {
      margin: 0;
      padding: 0;
      border: 0;
    }
    legend {
      position: absolute;
      clip-path: inset(50%);
    }
    label {
      display: inline-flex;
      align-items: center;
      gap: var(--pe-space-2);
      min-height: 2rem;
    }
    input {
      width: 1.1rem;
      height: 1.1rem;
      margin: 0;
      accent-color: var(--pe-accent);
    }
    select,
    button {
      min-height: 2rem;
      padding: 0.2rem 0.7rem;
      border: 1px solid var(--pe-rule);
      border-radius: var(--pe-radius);
      background: var(--pe-bg);
      color: inherit;
      font: inherit;
    }
    button {
      cursor: pointer;
    }
    button:hover {
      border-color: currentColor;
    }
    .piece {
      display: grid;
      grid-template-columns: 1fr auto;
      align-items: end;
      gap: var(--pe-space-1) var(--pe-space-2);
    }
    pre {
      grid-column: 1 / -1;
      max-height: 16rem;
      margin: 0;
      padding: var(--pe-space-2);
      overflow: auto;
      border: 1px solid var(--pe-rule);
      background: var(--pe-bg);
      font: 0.8125rem / 1.5 var(--pe-font-mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      tab-size: 2;
    }
    .notice {
      min-height: 1.45em;
    }
    :focus-visible {
      outline: 2px solid var(--pe-focus);
      outline-offset: 2px;
    }
  `;
}

if (!customElements.get("pe-embed-panel")) customElements.define("pe-embed-panel", EmbedPanel);
