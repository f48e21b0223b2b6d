// The handles of a figure: native inputs with their value beside them in tabular figures.

import { css, html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";

interface Named {
  /** What the control changes. */
  label: string;
  /** The quantity it belongs to, which gives it its colour: q, k, pos, dim. */
  symbol?: string;
  /** The attribute that it sets, by which a page's author can hide it. */
  field?: string | undefined;
}

export interface Slider extends Named {
  value: number;
  min: number;
  max: number;
  step?: number;
  /** Largest value that may be typed, where the range ends earlier. */
  most?: number;
  /** The range moves by equal ratios; min is above 0. */
  logarithmic?: boolean;
  /** The value in words, for those who hear it: "position 5 of 64". */
  spoken?: string;
  onInput: (value: number) => void;
}

/** A range and a number field for one value. The range moves within min..max; the field may be typed into. */
export function slider(o: Slider): TemplateResult {
  const onto = o.logarithmic ? Math.log10 : (value: number) => value;
  const back = o.logarithmic
    ? (value: number) => Number((10 ** value).toPrecision(3))
    : (value: number) => value;
  const input = (convert: (value: number) => number) => (event: Event) => {
    const { valueAsNumber } = event.target as HTMLInputElement;
    if (Number.isFinite(valueAsNumber)) o.onInput(convert(valueAsNumber));
  };
  return html`
    <label class="control ${o.symbol ?? ""}" data-symbol=${o.symbol ?? nothing} data-field=${o.field ?? nothing}>
      <span class="label">${o.label}</span>
      <input
        type="range"
        min=${onto(o.min)}
        max=${onto(o.max)}
        step=${o.logarithmic ? 0.01 : (o.step ?? 1)}
        .valueAsNumber=${onto(o.value)}
        aria-label=${o.label}
        aria-valuetext=${o.spoken ?? String(o.value)}
        @input=${input(back)}
      />
      <input
        type="number"
        min=${o.min}
        max=${o.most ?? o.max}
        step=${o.logarithmic ? "any" : (o.step ?? 1)}
        .valueAsNumber=${o.value}
        aria-label=${o.label}
        @change=${input((value) => value)}
      />
    </label>
  `;
}

export interface Choice extends Named {
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  onInput: (value: string) => void;
}

// `selected` chooses among options that are just made; of those that a reader has chosen before, only `value` does.
export function choice(o: Choice): TemplateResult {
  return html`
    <label class="control" data-symbol=${o.symbol ?? nothing} data-field=${o.field ?? nothing}>
      <span class="label">${o.label}</span>
      <select
        .value=${live(o.value)}
        @change=${(event: Event) => o.onInput((event.target as HTMLSelectElement).value)}
      >
        ${o.options.map(
          ([value, text]) => html`<option value=${value} ?selected=${value === o.value}>${text}</option>`,
        )}
      </select>
    </label>
  `;
}

export interface Toggle extends Named {
  checked: boolean;
  onInput: (checked: boolean) => void;
}

export function toggle(o: Toggle): TemplateResult {
  return html`
    <label class="control toggle" data-symbol=${o.symbol ?? nothing} data-field=${o.field ?? nothing}>
      <input
        type="checkbox"
        .checked=${o.checked}
        @change=${(event: Event) => o.onInput((event.target as HTMLInputElement).checked)}
      />
      <span class="label">${o.label}</span>
    </label>
  `;
}

export const controlStyles = css`
  .controls {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(15 * var(--pe-rem))), 1fr));
    gap: var(--pe-space-2) var(--pe-space-4);
    margin-block: var(--pe-space-3);
  }
  .control {
    display: grid;
    grid-template-columns: 1fr auto;
    align-items: center;
    gap: 0 var(--pe-space-2);
  }
  .control .label {
    grid-column: 1 / -1;
  }
  .control input[type="range"] {
    width: 100%;
    min-width: 0;
    min-height: calc(1.75 * var(--pe-rem));
    margin: 0;
    accent-color: currentColor;
  }
  .control input[type="number"] {
    width: calc(5.5 * var(--pe-rem));
    min-height: calc(1.75 * var(--pe-rem));
    padding: 0 calc(0.4 * var(--pe-rem));
    border: 1px solid var(--pe-rule);
    border-radius: var(--pe-radius);
    background: none;
    color: var(--pe-ink);
    text-align: end;
    font-variant-numeric: inherit;
    appearance: textfield;
  }
  .control input::-webkit-inner-spin-button {
    appearance: none;
  }
  .control select {
    grid-column: 1 / -1;
    min-width: 0;
    min-height: calc(2 * var(--pe-rem));
    padding: 0 calc(0.4 * var(--pe-rem));
    border: 1px solid var(--pe-rule);
    border-radius: var(--pe-radius);
    background: var(--pe-bg);
  }
  .control.toggle {
    grid-template-columns: auto 1fr;
    min-height: calc(2 * var(--pe-rem));
  }
  .control.toggle .label {
    grid-column: auto;
  }
  .control.toggle input {
    width: calc(1.1 * var(--pe-rem));
    height: calc(1.1 * var(--pe-rem));
    margin: 0;
    accent-color: var(--pe-accent);
  }
  @media print {
    .controls {
      display: none;
    }
  }
  [data-lit="q"] .control[data-symbol="q"] .label,
  [data-lit="k"] .control[data-symbol="k"] .label,
  [data-lit="pos"] .control[data-symbol="pos"] .label,
  [data-lit="dim"] .control[data-symbol="dim"] .label {
    text-decoration: underline;
    text-decoration-thickness: 2px;
    text-underline-offset: 3px;
  }
`;
