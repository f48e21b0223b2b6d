// The pairs of a sinusoidal row as the hands of clocks, beside the digits of a binary counter of the same position.
// Hand i turns by inv_freq[i] = base^(-2i/d_model) radians a position; digit j has the period 2^(j+1).
// Based on: Vaswani et al. 2017, Attention Is All You Need, section 3.5.

import { type CSSResultGroup, css, html, type SVGTemplateResult, svg, type TemplateResult } from "lit";
import { type Axis, bottomAxis, place, ticks, valueAt } from "../draw/axis.ts";
import { linePath } from "../draw/line.ts";
import type { NamedArray } from "../draw/npy.ts";
import { share } from "../draw/point.ts";
import type { Posenc } from "../posenc.ts";
import { controlStyles, slider } from "./controls.ts";
import { type DataTable, define, PeFigure } from "./figure.ts";
import { fixed, plain, significant } from "./format.ts";
import { FieldError, type State } from "./state.ts";

const MOST_HANDS = 8;
/** Points of a wave. A wave that would need more is drawn as a band. */
const SAMPLES = 1201;

const fields = {
  position: { kind: "number", fallback: 5, min: 0, max: 65535 },
  "seq-len": { kind: "integer", fallback: 64, min: 16, max: 65536 },
  "d-model": { kind: "integer", fallback: 512, min: 4, max: 4096 },
  base: { kind: "number", fallback: 10000, min: 2, max: 1e12 },
} as const;
type ClocksState = State<typeof fields>;

/** One pair at the position. Angles in radians. */
interface Hand {
  pair: number;
  invFreq: number;
  period: number;
  angle: number;
  turns: number;
  sin: number;
  cos: number;
}

interface Model {
  hands: Hand[];
  /** The hands that are drawn, evenly over the pairs. */
  shown: Hand[];
  /** Sine of each drawn hand at SAMPLES places from 0 to seq_len. */
  waves: Float64Array[];
  /** Digits of the position's whole part, the last digit first. */
  digits: number[];
}

/** A panel of rows: what stands where, in pixels. */
interface Panel {
  x: Axis;
  /** Top of the first row, and the height of a row. */
  top: number;
  row: number;
  rows: number;
}

/** The hands' panel and the counter's, side by side or one above the other. */
interface Layout {
  hands: Panel & { roomy: boolean };
  digits: Panel;
  digitsLeft: number;
  panelWidth: number;
  height: number;
}

const HEAD = 46;
const FOOT = 34;

const words = (position: number, digits: readonly number[]): string =>
  `${fixed(Math.floor(position), 0)} as ${[...digits].reverse().join("")}`;

/**
 * Clock hands that turn with the true frequencies of a sinusoidal row, beside a binary counter.
 *
 * @attr position - Where the hands and the counter stand; between whole numbers only the hands move.
 * @attr seq-len - Positions shown; the position is below it.
 * @attr d-model - Twice the number of hands, even.
 * @attr base - 10000 in the paper.
 * @cssprop --pe-pos - Colour of the position.
 * @cssprop --pe-dim - Colour of the hands and their waves.
 */
export class PeClocks extends PeFigure<typeof fields, Model> {
  static override fields = fields;
  protected override readonly heading = "Hands and digits of a position";

  protected override compute(core: Posenc, state: ClocksState): Model {
    const { position, base, "seq-len": seqLen, "d-model": dModel } = state;
    if (dModel % 2 !== 0) throw new FieldError(`d-model must be even, got ${dModel}`);
    if (position > seqLen - 1) {
      throw new FieldError(`position must be at most seq-len − 1, here ${seqLen - 1}, got ${position}`);
    }
    const invFreq = core.sinusoidalInvFreq({ dModel, base });
    const { cos, sin } = core.ropeCosSin(Float64Array.of(position), invFreq);
    const hands = Array.from(invFreq, (w, pair) => ({
      pair,
      invFreq: w,
      period: (2 * Math.PI) / w,
      angle: position * w,
      turns: (position * w) / (2 * Math.PI),
      sin: sin[pair] ?? 0,
      cos: cos[pair] ?? 0,
    }));
    const count = Math.min(MOST_HANDS, hands.length);
    const shown = Array.from(
      { length: count },
      (_, i) => hands[Math.round((i * (hands.length - 1)) / (count - 1))] as Hand,
    );
    const samples = Float64Array.from({ length: SAMPLES }, (_, i) => (i * seqLen) / (SAMPLES - 1));
    const drawn = core.ropeCosSin(
      samples,
      Float64Array.from(shown, (hand) => hand.invFreq),
    ).sin;
    return {
      hands,
      shown,
      waves: shown.map((_, hand) => drawn.filter((_, i) => i % count === hand)),
      digits: Array.from(
        { length: Math.ceil(Math.log2(seqLen)) },
        (_, bit) => Math.floor(position / 2 ** bit) % 2,
      ),
    };
  }

  #layout(model: Model, seqLen: number): Layout {
    const beside = this.width >= 820;
    const panelWidth = beside ? (this.width - 48) / 2 : this.width;
    const roomy = panelWidth >= 440;
    const tall = roomy ? 352 : 464;
    const digitsTop = beside ? HEAD : HEAD + tall + FOOT + HEAD;
    const digitsTall = beside ? tall : 288;
    const digitsLeft = beside ? panelWidth + 48 : 0;
    const domain = [0, seqLen] as const;
    return {
      hands: {
        x: { domain, range: roomy ? [84, panelWidth - 226] : [58, panelWidth - 84] },
        top: HEAD,
        row: tall / model.shown.length,
        rows: model.shown.length,
        roomy,
      },
      digits: {
        x: { domain, range: [digitsLeft + 84, digitsLeft + panelWidth - (roomy ? 136 : 84)] },
        top: digitsTop,
        row: digitsTall / model.digits.length,
        rows: model.digits.length,
      },
      digitsLeft,
      panelWidth,
      height: digitsTop + digitsTall + FOOT,
    };
  }

  protected override picture(model: Model, state: ClocksState): TemplateResult {
    const at = this.#layout(model, state["seq-len"]);
    const { shown, digits } = model;
    const said = shown.map((hand) => `pair ${hand.pair} ${significant(hand.turns)}`).join(", ");
    return html`
      <p class="formula">
        angle =
        <span class="pos" data-symbol="pos">position</span> · inv_freq =
        <b class="pos" data-symbol="pos">${plain(state.position)}</b> · ${plain(state.base)}<sup
          >−2<i class="dim" data-symbol="dim">i</i>/<span class="dim" data-symbol="dim">${state["d-model"]}</span></sup
        >
        radians, clockwise from the top
      </p>
      <div data-picture>
        <svg
          class="clocks"
          width=${this.width}
          height=${at.height}
          role="img"
          aria-label="Hands and counter at position ${plain(state.position)}. Turns made: ${said}. The counter
            shows ${words(state.position, digits)}."
        >
          ${this.#hands(model, state, at)} ${this.#digits(model, state, at)}
        </svg>
      </div>
      ${this.#controls(state)}
    `;
  }

  /** What both panels have: the axis of positions, the line at the position, and a field that takes the pointer. */
  #scale(panel: Panel, position: number): SVGTemplateResult {
    const { x, top, row, rows } = panel;
    const [left, right] = x.range;
    const bottom = top + row * rows;
    const here = place(x, position);
    return svg`
      ${bottomAxis(x, bottom + 4, ticks(x, 24 + 8 * String(x.domain[1]).length))}
      <line class="cursor" data-symbol="pos" x1=${here} x2=${here} y1=${top - 4} y2=${bottom + 4}></line>
      <rect
        class="field"
        data-symbol="pos"
        x=${left}
        y=${top}
        width=${right - left}
        height=${bottom - top}
        @pointerdown=${(event: PointerEvent) => this.#scrub(event, x)}
        @pointermove=${(event: PointerEvent) => event.buttons === 1 && this.#scrub(event, x)}
      ></rect>`;
  }

  #hands(
    { hands, shown, waves }: Model,
    state: ClocksState,
    { hands: panel, panelWidth }: Layout,
  ): SVGTemplateResult {
    const { x, top, row, roomy } = panel;
    const [left, right] = x.range;
    const ends = roomy ? [170, 114, 56, 0].map((gap) => panelWidth - gap) : [];
    const all = shown.length === hands.length;
    const radius = Math.min(roomy ? row / 2 - 4 : 21, 26);
    return svg`
      ${this.#scale(panel, state.position)}
      <text class="name" x="0" y="14">${all ? "All hands" : `${shown.length} of the ${fixed(hands.length, 0)} hands`}</text>
      <text x="0" y="36">pair</text>
      <text x=${left} y="36">${roomy ? "sine" : "period, turns, sine"}</text>
      ${["period", "turns", "sin", "cos"].map(
        (name, i) => roomy && svg`<text x=${ends[i]} y="36" text-anchor="end">${name}</text>`,
      )}
      ${shown.map((hand, i) => {
        const middle = top + row * (i + 0.5);
        // On a narrow page a line of text stands above each wave.
        const centre = roomy ? middle : middle + 9;
        const swing = roomy ? Math.min(row / 2 - 7, 20) : 13;
        const y: Axis = { domain: [-1, 1], range: [centre + swing, centre - swing] };
        const dialX = roomy ? 56 : 22;
        const reach = radius - 2;
        const fast = (hand.period / state["seq-len"]) * (right - left) < 4;
        return svg`
          <g data-symbol="dim" class="hand">
            <circle class="face" cx=${dialX} cy=${middle} r=${radius}></circle>
            <line class="twelve" x1=${dialX} x2=${dialX} y1=${middle - radius} y2=${middle - radius + 4}></line>
            <line
              class="shaft"
              x1=${dialX}
              y1=${middle}
              x2=${dialX + reach * hand.sin}
              y2=${middle - reach * hand.cos}
            ></line>
            <circle class="hub" cx=${dialX} cy=${middle} r="2.5"></circle>
            ${
              fast
                ? svg`<rect class="band" x=${left} y=${centre - swing} width=${right - left} height=${2 * swing}></rect>`
                : svg`<path class="wave" d=${linePath(
                    waves[i] ?? [],
                    (at) => left + (at * (right - left)) / (SAMPLES - 1),
                    (value) => place(y, value),
                  )}></path>`
            }
          </g>
          <circle class="here" cx=${place(x, state.position)} cy=${place(y, hand.sin)} r="4"></circle>
          ${
            roomy
              ? svg`<text class="dim" x="0" y=${middle} dominant-baseline="central">${hand.pair}</text>
                ${[significant(hand.period, 4), turnsOf(hand), fixed(hand.sin, 3), fixed(hand.cos, 3)].map(
                  (value, column) => svg`
                    <text class="value" x=${ends[column]} y=${middle} text-anchor="end" dominant-baseline="central">
                      ${value}</text>`,
                )}`
              : svg`<text class="value" x=${left} y=${middle - 18}>
                  ${hand.pair}: period ${significant(hand.period, 4)}, ${turnsOf(hand)} turns</text>
                ${[
                  ["sin", hand.sin],
                  ["cos", hand.cos],
                ].map(
                  ([name, value], line) => svg`
                    <text x=${right + 10} y=${centre - 4 + 16 * line}>${name}</text>
                    <text class="value" x=${panelWidth} y=${centre - 4 + 16 * line} text-anchor="end">
                      ${fixed(Number(value), 3)}</text>`,
                )}`
          }`;
      })}`;
  }

  #digits(
    { digits }: Model,
    state: ClocksState,
    { digits: panel, digitsLeft, panelWidth, hands }: Layout,
  ): SVGTemplateResult {
    const { x, top, row } = panel;
    const [left, right] = x.range;
    const end = digitsLeft + panelWidth;
    const size = Math.min(24, row - 4);
    const whole = Math.floor(state.position);
    return svg`
      ${this.#scale(panel, state.position)}
      <text class="name" x=${digitsLeft} y=${top - HEAD + 14}>
        A counter of ${digits.length} binary digits</text>
      <text x=${digitsLeft} y=${top - 10}>digit</text>
      <text x=${hands.roomy ? end - 70 : end} y=${top - 10} text-anchor="end">period</text>
      ${hands.roomy && svg`<text x=${end} y=${top - 10} text-anchor="end">flips</text>`}
      ${digits.map((digit, bit) => {
        const middle = top + row * (bit + 0.5);
        const swing = Math.min(row / 2 - 4, 14);
        const period = 2 ** (bit + 1);
        const fast = (period / state["seq-len"]) * (right - left) < 4;
        return svg`
          <text class="value" x=${digitsLeft} y=${middle} dominant-baseline="central">${bit}</text>
          <text
            class="digit"
            x=${digitsLeft + 56}
            y=${middle}
            .style=${`font-size:${size}px`}
            text-anchor="middle"
            dominant-baseline="central"
          >${digit}</text>
          ${
            fast
              ? svg`<rect class="band" x=${left} y=${middle - swing} width=${right - left} height=${2 * swing}></rect>`
              : svg`<path class="square" d=${squareWave(x, period / 2, middle, swing)}></path>`
          }
          <circle class="here" cx=${place(x, state.position)} cy=${middle + (digit ? -swing : swing)} r="4"></circle>
          <text class="value" x=${hands.roomy ? end - 70 : end} y=${middle} text-anchor="end" dominant-baseline="central">
            ${fixed(period, 0)}</text>
          ${
            hands.roomy &&
            svg`<text class="value" x=${end} y=${middle} text-anchor="end" dominant-baseline="central">
              ${fixed(Math.floor(whole / 2 ** bit), 0)}</text>`
          }`;
      })}`;
  }

  #controls(state: ClocksState): TemplateResult {
    const last = state["seq-len"] - 1;
    return html`
      <div class="controls">
        ${slider({
          field: "position",
          label: "position",
          symbol: "pos",
          value: state.position,
          min: 0,
          max: last,
          spoken: `position ${plain(state.position)} of ${last}`,
          onInput: (position) => this.set({ position }),
        })}
        ${slider({
          field: "seq-len",
          label: "seq_len: positions shown",
          symbol: "pos",
          value: state["seq-len"],
          min: fields["seq-len"].min,
          max: fields["seq-len"].max,
          logarithmic: true,
          onInput: (value) => {
            const seqLen = Math.round(value);
            this.set({ "seq-len": seqLen, position: Math.min(this.state.position, seqLen - 1) });
          },
        })}
        ${slider({
          field: "d-model",
          label: "d_model: twice the hands",
          symbol: "dim",
          value: state["d-model"],
          min: 4,
          max: 1024,
          step: 2,
          most: fields["d-model"].max,
          onInput: (value) => this.set({ "d-model": value }),
        })}
        ${slider({
          field: "base",
          label: "base",
          value: state.base,
          min: 2,
          max: 1e6,
          most: fields.base.max,
          logarithmic: true,
          onInput: (value) => this.set({ base: value }),
        })}
      </div>
    `;
  }

  /** The position under the pointer, to a tenth. A host may scale the page: its pixels are not the screen's. */
  #scrub(event: PointerEvent, x: Axis): void {
    if (event.button > 0) return;
    const field = event.currentTarget as SVGRectElement;
    if (event.type === "pointerdown") field.setPointerCapture(event.pointerId);
    const [left, right] = x.range;
    const at = valueAt(x, left + share(event)[0] * (right - left));
    const last = this.state["seq-len"] - 1;
    this.set({ position: Number(Math.min(Math.max(at, 0), last).toFixed(1)) });
  }

  protected override takeaway({ hands, digits }: Model, state: ClocksState): string {
    const [first, last] = [hands[0] as Hand, hands.at(-1) as Hand];
    const ratio = last.period / first.period;
    const power = Math.log2(ratio);
    return (
      `At position ${plain(state.position)} the fastest hand (period ${significant(first.period, 4)}) has made ` +
      `${significant(first.turns)} turns, the slowest (period ${significant(last.period, 5)}) ` +
      `${significant(last.turns)}; the counter shows ${words(state.position, digits)}. The slowest is ` +
      `${short(ratio)} times slower, 2 to the power ${fixed(power, 1)}, in steps of ` +
      `${short(ratio ** (1 / last.pair))} from hand to hand. Digits slow down in steps of 2.`
    );
  }

  protected override dataTable({ shown, digits }: Model, state: ClocksState): DataTable {
    return {
      caption: `Hands and digits at position ${plain(state.position)}`,
      head: ["hand or digit", "period", "turns", "angle", "sin", "cos", "digit"],
      rows: [
        ...shown.map((hand) => [
          `pair ${hand.pair}`,
          significant(hand.period, 6),
          significant(hand.turns, 6),
          significant(hand.angle, 6),
          fixed(hand.sin, 6),
          fixed(hand.cos, 6),
          "",
        ]),
        ...digits.map((digit, bit) => [`digit ${bit}`, fixed(2 ** (bit + 1), 0), "", "", "", "", digit]),
      ],
    };
  }

  protected override array({ hands }: Model): NamedArray {
    const rows = hands.map(({ invFreq, period, angle, turns, sin, cos }) => [
      invFreq,
      period,
      angle,
      turns,
      sin,
      cos,
    ]);
    return {
      name: "clock_hands",
      shape: [hands.length, 6],
      values: Float64Array.from(rows.flat()),
      columns: ["inv_freq", "period", "angle", "turns", "sin", "cos"],
    };
  }

  protected override numpy(state: ClocksState): string {
    const { position, "seq-len": seqLen, "d-model": d } = state;
    const pairs = d / 2;
    return `import matplotlib.pyplot as plt
import numpy as np

position = ${position}
inv_freq = ${Number.isInteger(state.base) ? `${state.base}.0` : state.base} ** (-2 * np.arange(${pairs}) / ${d})
shown = np.floor(np.arange(${Math.min(MOST_HANDS, pairs)}) * ${pairs - 1} / ${Math.min(MOST_HANDS, pairs) - 1} + 0.5).astype(int)
digits = ${Math.ceil(Math.log2(seqLen))}
x = np.linspace(0, ${seqLen}, ${SAMPLES})

figure = plt.figure(figsize=(12, 6))
for row, pair in enumerate(shown):
    angle = position * inv_freq[pair]
    clock = figure.add_subplot(len(shown), 4, 4 * row + 1, aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    clock.add_patch(plt.Circle((0, 0), 1, fill=False))
    clock.plot([0, np.sin(angle)], [0, np.cos(angle)])
    clock.set_ylabel(f"pair {pair}")
    wave = figure.add_subplot(len(shown), 4, 4 * row + 2)
    wave.plot(x, np.sin(x * inv_freq[pair]))
    wave.axvline(position)
    wave.set_title(f"period {2 * np.pi / inv_freq[pair]:.4g}, {angle / (2 * np.pi):.3g} turns", fontsize=8)
for digit in range(digits):
    square = figure.add_subplot(digits, 2, 2 * digit + 2)
    square.step(np.arange(${seqLen + 1}), np.arange(${seqLen + 1}) // 2**digit % 2, where="post")
    square.axvline(position)
    square.set_ylabel(f"{int(position) // 2**digit % 2}")
plt.show()
`;
  }

  static override styles: CSSResultGroup = [
    PeFigure.styles,
    controlStyles,
    css`
      .controls {
        grid-template-columns: repeat(auto-fill, minmax(min(100%, calc(13 * var(--pe-rem))), 1fr));
      }
      .formula {
        min-height: 3em;
        margin: 0 0 var(--pe-space-3);
      }
      .formula sup {
        font-size: 12px;
        line-height: 1;
      }
      .clocks {
        display: block;
        overflow: visible;
      }
      .clocks > :not(.field) {
        pointer-events: none;
      }
      .takeaway {
        min-height: 13em;
      }
      .clocks text.name {
        fill: var(--pe-ink);
        font-size: 14px;
        font-weight: 600;
      }
      .clocks text.value {
        fill: var(--pe-ink);
        paint-order: stroke;
        stroke: var(--pe-bg);
        stroke-width: 4px;
        stroke-linejoin: round;
      }
      .clocks text.digit {
        fill: var(--pe-ink);
        font-weight: 600;
      }
      .face {
        fill: none;
        stroke: var(--pe-ink-2);
      }
      .twelve {
        stroke: var(--pe-ink-2);
      }
      .shaft {
        fill: none;
        stroke: var(--pe-dim);
        stroke-width: 2;
      }
      .hub {
        fill: var(--pe-dim);
      }
      .wave,
      .square {
        fill: none;
        stroke-width: 1.5;
        stroke-linejoin: round;
      }
      .wave {
        stroke: var(--pe-dim);
      }
      .square {
        stroke: var(--pe-ink-2);
      }
      .band {
        fill: var(--pe-ink-2);
        fill-opacity: 0.4;
      }
      .hand .band {
        fill: var(--pe-dim);
      }
      [data-lit="dim"] :is(.wave, .shaft) {
        stroke-width: 2.5;
      }
      .cursor {
        stroke: var(--pe-pos);
        stroke-width: 1.5;
      }
      [data-lit="pos"] .cursor {
        stroke-width: 2.5;
      }
      .here {
        fill: var(--pe-pos);
      }
      .field {
        fill: transparent;
        cursor: ew-resize;
        touch-action: pan-y pinch-zoom;
      }
      @container (min-width: 560px) {
        .formula {
          min-height: 1.5em;
        }
        .takeaway {
          min-height: 5.8em;
        }
      }
    `,
  ];
}

/** Four digits, without trailing zeros. */
const short = (value: number): string => plain(Number(value.toPrecision(4)));

/** To four places while there are few turns, so that a column of them can be compared. */
const turnsOf = ({ turns }: Hand): string => fixed(turns, turns < 10 ? 4 : 1);

/** 0 and 1 in turn from position 0, each `half` positions long, one `swing` below and above the middle. */
function squareWave(x: Axis, half: number, middle: number, swing: number): string {
  let path = `M${x.range[0].toFixed(2)} ${middle + swing}`;
  for (let at = half, up = true; at < x.domain[1]; at += half, up = !up) {
    path += `H${place(x, at).toFixed(2)}V${middle + (up ? -swing : swing)}`;
  }
  return `${path}H${x.range[1].toFixed(2)}`;
}

define("pe-clocks", PeClocks);

declare global {
  interface HTMLElementTagNameMap {
    "pe-clocks": PeClocks;
  }
}
