// What the inspector says of a config, and every value that it read or took, as a reader of the page meets them.

import { css, html, nothing, type TemplateResult } from "lit";
import type { Finding } from "../inspect/finding.ts";
import { modelValues, ropeValues, type ValueReport } from "../inspect/report.ts";
import { counted } from "../inspect/words.ts";
import type { ScalingModel } from "./scaling-model.ts";

const pageOf = (report: string): string => `https://github.com/${report.replace("#", "/issues/")}`;

const item = ({ severity, key, at, does, should, reports }: Finding): TemplateResult => html`
  <li class=${severity}>
    <b>${severity}</b>
    ${key ? html`<code>${key}</code>` : nothing}
    ${at ? html`<span class="at">line ${at.line}, column ${at.column}</span>` : nothing}
    <p>${does}.${should ? ` It should be: ${should}.` : ""}</p>
    ${
      reports.length > 0
        ? html`
          <details>
            <summary>Met before in ${counted(reports.length, "report")}</summary>
            <ul>
              ${reports.map(
                (report) =>
                  html`<li><a href=${pageOf(report)} target="_blank" rel="noopener">${report}</a></li>`,
              )}
            </ul>
          </details>
        `
        : nothing
    }
  </li>
`;

export const findingList = (findings: readonly Finding[]): TemplateResult =>
  findings.length === 0
    ? html`<p>Nothing to say: no key is wrong, doubtful or unread, and no value is missing.</p>`
    : html`<ul class="findings">${findings.map(item)}</ul>`;

/** "1 error, 2 notes"; "" without any. */
export function countsOf(findings: readonly Finding[]): string {
  const count = (severity: Finding["severity"]) => {
    const many = findings.filter((finding) => finding.severity === severity).length;
    return many > 0 ? [counted(many, severity)] : [];
  };
  return [...count("error"), ...count("warning"), ...count("note")].join(", ");
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length > 6 ? `${value.length} numbers` : value.join(", ");
  return String(value);
}

/** Every value with the key that gives it, or why it is taken. */
export function valueTable({ config, numbers }: ScalingModel): TemplateResult {
  const all: ValueReport[] = [...modelValues(config), ...ropeValues(numbers.rope)];
  const rows = all.filter(
    ({ name, value }, i) => value !== null && all.findIndex((other) => other.name === name) === i,
  );
  return html`
    <details>
      <summary>Every value, and what gives it</summary>
      <div class="scroll values-of" tabindex="0" role="region" aria-label="Values">
        <table>
          <thead>
            <tr><th scope="col">value</th><th scope="col">is</th><th scope="col">from</th></tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ name, value, key, why }) => html`
                <tr class=${key ? "" : "taken"}>
                  <th scope="row"><code>${name}</code></th>
                  <td>${shown(value)}</td>
                  <td>${key ? html`<code>${key}</code>` : nothing}${key && why ? ": " : ""}${why ?? ""}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
    </details>
  `;
}

export const findingStyles = css`
  code {
    font-family: var(--pe-font-mono);
    font-size: 0.93em;
    overflow-wrap: anywhere;
  }
  .findings {
    display: grid;
    gap: var(--pe-space-2);
    margin: 0 0 var(--pe-space-2);
    padding: 0;
    list-style: none;
  }
  .findings > li {
    padding-inline-start: var(--pe-space-3);
    border-inline-start: 3px solid var(--pe-rule);
    overflow-wrap: anywhere;
  }
  .findings > .error {
    border-color: var(--pe-q);
  }
  .findings > .error b {
    color: var(--pe-q);
  }
  .findings > .warning {
    border-color: var(--pe-learned);
  }
  .findings > .warning b {
    color: var(--pe-learned);
  }
  .findings b {
    font-weight: 600;
  }
  .findings p {
    max-width: 68ch;
    margin: 0;
  }
  .findings .at,
  .findings summary {
    color: var(--pe-ink-2);
  }
  .findings details ul {
    margin: 0;
    padding-inline-start: var(--pe-space-3);
  }
  a {
    color: var(--pe-accent);
  }
  .values-of td,
  .values-of th {
    overflow-wrap: anywhere;
    white-space: normal;
  }
  .taken td {
    color: var(--pe-ink-2);
  }
  .below td,
  .below th {
    vertical-align: top;
    text-align: start;
  }
`;
