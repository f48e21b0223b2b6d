// Section 2. How loud a token is beside its position, and what concatenating them would cost.

import type { Posenc } from "../../posenc.ts";
import { norm } from "./arrays.ts";
import { fixed, type Table } from "./table.ts";

/** Of a token table's initialisation. */
const sigma = 0.02;

const tokenNorm = (dModel: number) => sigma * Math.sqrt(dModel);
const scaledTokenNorm = (dModel: number) => tokenNorm(dModel) * Math.sqrt(dModel);
/** That of every row, since each pair contributes sin² + cos² = 1; position 1 stands for all. */
export const rowNorm = (posenc: Posenc, dModel: number) =>
  norm(posenc.sinusoidalRows(Float64Array.of(1), { dModel }));

/** W_Q, W_K and W_V, each square. */
const projectionParameters = (width: number) => 3 * width ** 2;

/** The cosine of two independent random vectors has mean 0 and this deviation. */
const randomCosine = (dModel: number) => 1 / Math.sqrt(dModel);

export function numbers(posenc: Posenc): Record<string, string> {
  return {
    params_qkv_add_d512: fixed(projectionParameters(512), 0),
    params_qkv_concat_d512: fixed(projectionParameters(2 * 512), 0),
    token_norm_unscaled_d512: fixed(tokenNorm(512), 2),
    token_norm_scaled_d512: fixed(scaledTokenNorm(512), 2),
    pe_norm_d512: fixed(rowNorm(posenc, 512), 0),
    // σ d = √(d/2)
    norm_crossover_d_model: fixed(1 / (2 * sigma ** 2), 0),
    // with σ = 1/√d: d/√d
    token_norm_scaled_unit_d512: fixed(Math.sqrt(512), 2),
    random_cosine_d512: fixed(randomCosine(512), 2),
  };
}

export function tables(posenc: Posenc): Record<string, Table> {
  return {
    norms_and_parameters: {
      caption: `Norms and parameter counts by d_model, for a token table with standard deviation ${sigma}.`,
      head: [
        "d_model",
        "Token norm",
        String.raw`After $\times \sqrt{d_{\text{model}}}$`,
        "PE norm",
        "$W_Q$, $W_K$, $W_V$ added",
        "Concatenated",
        "Ratio",
      ],
      rows: [64, 128, 256, 512, 768, 1024].map((dModel) => {
        const [added, concatenated] = [projectionParameters(dModel), projectionParameters(2 * dModel)];
        return [
          dModel,
          fixed(tokenNorm(dModel), 2),
          fixed(scaledTokenNorm(dModel), 2),
          fixed(rowNorm(posenc, dModel), 2),
          added,
          concatenated,
          concatenated / added,
        ];
      }),
    },
  };
}
