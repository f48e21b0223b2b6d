/**
 * The numerics of positional encoding, for JavaScript: in a page, in a worker and in Node.
 *
 * Shapes, units, errors and sources of each function stand in `cpp/posenc.hpp`, under the same name in snake_case.
 * Arrays are row-major typed arrays; the returned ones are copies and stay valid for ever. A wrong kind (8.9 or "8"
 * for a count, a plain array, an unknown name) throws a TypeError that names the field; a wrong value throws a
 * RangeError with the core's sentence and the value received.
 */

import { scalar, twin } from "./core-files.ts";
import {
  array,
  boolean,
  type Core,
  caller,
  type Fields,
  f64,
  floats,
  type Given,
  i32,
  integer,
  lengthOf,
  named,
  number,
  optional,
  type Reader,
  read,
  record,
  unwrap,
  wrongKind,
} from "./kinds.ts";
import { type Loaded, type LoadOptions, loadModule } from "./load.ts";
import createPosenc, { build } from "./wasm/posenc.mjs";

export { hasSimd, type LoadOptions } from "./load.ts";

export type SinusoidalLayout = "interleaved" | "halves" | "halves-minus-one";
export type PairLayout = "interleaved" | "half";
export type RopeType =
  | "default"
  | "linear"
  | "ntk"
  | "dynamic"
  | "yarn"
  | "longrope"
  | "llama3"
  | "proportional";
export type MropeLayout = "chunked" | "interleaved";
export type Encoding = "none" | "sinusoidal" | "learned" | "rope" | "alibi" | "t5";
export type TileMapName = "sinusoidal" | "rope-cos" | "rope-sin" | "alibi" | "t5";
export type FloatFormat = "float32" | "bfloat16" | "float16";

export interface SinusoidalConfig {
  seqLen?: number;
  dModel: number;
  base?: number;
  firstPosition?: number;
  positionStep?: number;
  layout?: SinusoidalLayout;
}
export interface EmbeddingConfig {
  batch: number;
  seqLen: number;
  vocabSize: number;
  dModel: number;
  positionRows: number;
  scaleBySqrtDModel?: boolean;
}
export interface RopeConfig {
  headDim: number;
  /** Default: headDim. */
  rotaryDim?: number;
  ropeTheta?: number;
  ropeType?: RopeType;
  factor?: number;
  originalMaxPositionEmbeddings?: number;
  attentionFactor?: number;
  betaFast?: number;
  betaSlow?: number;
  truncate?: boolean;
  mscale?: number;
  mscaleAllDim?: number;
  lowFreqFactor?: number;
  highFreqFactor?: number;
  partialRotaryFactor?: number;
  frequencyDim?: number;
  shortFactor?: Float64Array;
  longFactor?: Float64Array;
}
export interface RopeShape {
  numHeads?: number;
  seqLen: number;
  headDim: number;
  /** Default: headDim. */
  rotaryDim?: number;
  layout?: PairLayout;
}
export interface AlibiConfig {
  numHeads: number;
  alibiBiasMax?: number;
}
export interface T5Config {
  numBuckets?: number;
  maxDistance?: number;
  bidirectional?: boolean;
}
export interface AttentionConfig {
  numHeads?: number;
  seqLen: number;
  headDim: number;
  /** Default: 1/√headDim. */
  scale?: number;
  causal?: boolean;
}
export interface LayerConfig {
  seqLen: number;
  dModel: number;
  numHeads?: number;
  numLayers?: number;
  encoding?: Encoding;
  causal?: boolean;
  base?: number;
  layout?: PairLayout;
  alibiBiasMax?: number;
  t5?: T5Config;
}
/** (numLayers, dModel, dModel) each; learned: positions (seqLen, dModel); t5: t5Table (numBuckets, numHeads). */
export interface LayerWeights {
  wQ: Float64Array;
  wK: Float64Array;
  wV: Float64Array;
  wO: Float64Array;
  positions?: Float64Array;
  t5Table?: Float64Array;
}
/** Which steps of a rotation are done in few bits. Default: all. */
export interface RoundedSteps {
  position?: boolean;
  invFreq?: boolean;
  angle?: boolean;
  result?: boolean;
}
/** The part of the matrix shown defaults to all of it. */
export interface ColormapConfig {
  rows: number;
  cols: number;
  width: number;
  height: number;
  firstRow?: number;
  firstCol?: number;
  numRows?: number;
  numCols?: number;
  vmin?: number;
  vmax?: number;
  transpose?: boolean;
}
/** Of a tile map. Fields that a map does not name are ignored by it. */
export interface TileConfig {
  map: TileMapName;
  /** Positions across; of alibi and t5, keys across and queries down. 1 to 2³¹, the default. */
  seqLen?: number;
  /** Dimensions down, of sinusoidal and rope: dModel or rotaryDim. 1 to 2¹⁶, even for rope. */
  dims?: number;
  /** Of sinusoidal and rope. Default: 10000. */
  base?: number;
  /** Of rope: which rows are a pair. Default: interleaved. */
  layout?: PairLayout;
  /** Of alibi: the head's, added to the logits times −|key − query|. */
  slope?: number;
  /** Of alibi and t5: whether keys after the query are outside the map. Default: false. */
  causal?: boolean;
  /** Of t5: the buckets. */
  t5?: T5Config;
  /** Of t5: (numBuckets), the biases of one head. Without: the map shows the buckets' own numbers. */
  biases?: Float64Array;
}
/** Part of a tile map. Pixel (px, py) covers the cells from x0 + px·cellsX and y0 + py·cellsY on. */
export interface TileView {
  /** First position (key), a whole number from 0 to 2³¹. */
  x0: number;
  /** First dimension (query), a whole number from 0 to 2³¹. */
  y0: number;
  /** Whole cells under a pixel, 1 to 2²⁰. */
  cellsX: number;
  cellsY: number;
  /** In pixels, at least 1; width × height at most 2²⁴. */
  width: number;
  height: number;
}
/** Of a tile map's pixels. Defaults: vmin −1, vmax 1, outside 0 (transparent). */
export interface TileColors {
  vmin?: number;
  vmax?: number;
  /** The pixel where no cell of the map is: little-endian RGBA, as a table of colours holds it. */
  outside?: number;
}
/** A map too large to be an array, of which any part can be drawn at any zoom. */
export interface TileMap {
  /** Draws with 256 colours from now on, of lut(). Before: RdBu, and the defaults of TileColors. */
  setColors(lut: Uint32Array, colors?: TileColors): void;
  /**
   * The colours of the means of the cells under each pixel that are inside the map: bytes for an ImageData of
   * width × height. They are a view of the map's own memory, and the same one in each frame: it shows the next frame as
   * soon as that is drawn. Where it is another (after a change of size, or when the core's memory has grown) the one
   * before is out of use, so make an ImageData anew whenever the returned array is not the last one. Nothing is
   * allocated but for a frame larger than all before.
   */
  draw(view: TileView): Uint8ClampedArray<ArrayBuffer>;
  /**
   * The means themselves, (height, width), a copy; NaN where no cell of the map is. Error 2⁻²⁴ of the mean, and 10⁻⁹
   * of the largest cell under the pixel or of 1.
   */
  values(view: TileView): Float32Array;
  /** Gives its memory back; afterwards each call throws. */
  free(): void;
}

export interface CosSin<T = Float64Array> {
  cos: T;
  sin: T;
}
export interface AttentionResult {
  output: Float64Array;
  weights: Float64Array;
  logits: Float64Array;
}
/** With a permutation P: the result on the permuted rows, max |f(Px) − P f(x)|, and max |mean f(Px) − mean f(x)|. */
export interface OrderResult extends AttentionResult {
  permuted: AttentionResult;
  equivariance: number;
  pooled: number;
}
type Floats = Float32Array | Float64Array;

export interface Posenc {
  /** Whether the SIMD build is running. */
  readonly simd: boolean;
  /** Why the twin in JavaScript computes, slower, to the bits of the scalar build; undefined where WebAssembly does. */
  readonly twin: string | undefined;
  sinusoidalTable(config: SinusoidalConfig): Float32Array;
  sinusoidalRows(positions: Float64Array, config: SinusoidalConfig): Float64Array;
  sinusoidalInvFreq(config: SinusoidalConfig): Float64Array;
  shiftMatrices(invFreq: Float64Array, k: number): Float64Array;
  dotByOffset(offsets: Float64Array, invFreq: Float64Array): Float64Array;
  similarity<T extends Floats>(table: T, rows: number, cols: number): T;
  /** Similarity of the rows of sinusoidalTable(config), from one number per offset. */
  sinusoidalSimilarity(config: SinusoidalConfig): Float32Array;
  lookupRows<T extends Floats>(table: T, ids: Int32Array, rows: number, cols: number): T;
  embed(
    tokenIds: Int32Array,
    tokenTable: Float32Array,
    positionTable: Float32Array,
    config: EmbeddingConfig,
  ): Float32Array;
  ropeInvFreq(config: RopeConfig, seqLen?: number): { invFreq: Float64Array; attentionFactor: number };
  dynamicSeqLen(config: RopeConfig, cachedSeqLen: number, seqLen: number): number;
  yarnCorrectionRange(config: RopeConfig): { low: number; high: number };
  yarnMscale(factor: number, mscale?: number): number;
  longropeAttentionFactor(factor: number, originalMaxPositionEmbeddings: number): number;
  ropeCosSin(positions: Float64Array, invFreq: Float64Array, attentionFactor?: number): CosSin;
  ropeCache(
    seqLen: number,
    invFreq: Float64Array,
    options?: { firstPosition?: number; attentionFactor?: number },
  ): CosSin<Float32Array>;
  mropeAxes(sections: Int32Array, pairs: number, layout: MropeLayout): Int32Array;
  mropeCosSin(
    positions: Float64Array,
    axis: Int32Array,
    invFreq: Float64Array,
    attentionFactor?: number,
  ): CosSin;
  ropeApply<T extends Floats>(x: T, cos: T, sin: T, shape: RopeShape): T;
  halfFromInterleaved(shape: Omit<RopeShape, "seqLen" | "layout">): Int32Array;
  ropeScoreByOffset(
    offsets: Float64Array,
    q: Float64Array,
    k: Float64Array,
    invFreq: Float64Array,
  ): Float64Array;
  alibiSlopes(config: AlibiConfig): Float64Array;
  alibiBias(slopes: Float64Array, seqLen: number, causal?: boolean): Float64Array;
  t5Buckets(relativePositions: Int32Array, config?: T5Config): Int32Array;
  t5Bias(table: Float64Array, numHeads: number, qLen: number, kLen: number, config?: T5Config): Float64Array;
  /** Float64Array arguments run the plain double twin, which also returns the logits. */
  attention(
    q: Float64Array,
    k: Float64Array,
    v: Float64Array,
    config: AttentionConfig,
    bias?: Float64Array,
  ): AttentionResult;
  attention(
    q: Float32Array,
    k: Float32Array,
    v: Float32Array,
    config: AttentionConfig,
    bias?: Float32Array,
  ): { output: Float32Array; weights: Float32Array };
  selfAttention(x: Float64Array, layer: LayerWeights, config: LayerConfig): AttentionResult;
  orderExperiment(
    x: Float64Array,
    layer: LayerWeights,
    permutation: Int32Array,
    config: LayerConfig,
  ): OrderResult;
  crossTerms(
    x: Float64Array,
    p: Float64Array,
    wQ: Float64Array,
    wK: Float64Array,
    shape: { seqLen: number; dModel: number; headDim: number; scale?: number },
  ): Float64Array;
  randomNormal(count: number, seed: number, sigma?: number): Float64Array;
  roundTo(values: Float64Array, format: FloatFormat): Float64Array;
  ropeFormatErrors(
    positions: Float64Array,
    invFreq: Float64Array,
    format: FloatFormat,
    rounded?: RoundedSteps,
  ): Float64Array;
  /** 256 colours from stops (n, 3); without stops: RdBu. */
  lut(stops?: Uint8Array): Uint32Array;
  /** Bytes for an ImageData of width × height: written into `pixels`, such as an ImageData's own data, if given. */
  colormap(
    values: Float32Array,
    lut: Uint32Array,
    config: ColormapConfig,
    pixels?: Uint8ClampedArray<ArrayBuffer>,
  ): Uint8ClampedArray<ArrayBuffer>;
  /** A map that is drawn in tiles; it holds memory until `free()`. */
  tileMap(config: TileConfig): TileMap;
}

// ---------------------------------------------------------------------------------------------------- kinds

/** Fields that a reader has found to be numbers. */
type Counts = Record<
  | "seqLen"
  | "width"
  | "height"
  | "dModel"
  | "headDim"
  | "numHeads"
  | "numLayers"
  | "batch"
  | "vocabSize"
  | "positionRows"
  | "rows"
  | "cols"
  | "firstRow"
  | "firstCol",
  number
>;

const FROM_FORMULA = Number.NaN;
const SINUSOIDAL: Fields = {
  seqLen: optional(integer, 1),
  dModel: integer,
  base: optional(number, 10000),
  firstPosition: optional(number, 0),
  positionStep: optional(number, 1),
  layout: (field, value, core) => named("SinusoidalLayout")(field, value ?? "interleaved", core),
};
const EMBEDDING: Fields = {
  batch: integer,
  seqLen: integer,
  vocabSize: integer,
  dModel: integer,
  positionRows: integer,
  scaleBySqrtDModel: optional(boolean, true),
};
const pairLayout: Reader = (field, value, core) => named("PairLayout")(field, value ?? "interleaved", core);
const ROPE: Fields = {
  headDim: integer,
  rotaryDim: optional(integer, undefined),
  ropeTheta: optional(number, 10000),
  ropeType: (field, value, core) => named("RopeType")(field, value ?? "default", core),
  factor: optional(number, 1),
  originalMaxPositionEmbeddings: optional(number, 0),
  attentionFactor: optional(number, FROM_FORMULA),
  betaFast: optional(number, 32),
  betaSlow: optional(number, 1),
  truncate: optional(boolean, true),
  mscale: optional(number, FROM_FORMULA),
  mscaleAllDim: optional(number, FROM_FORMULA),
  lowFreqFactor: optional(number, 1),
  highFreqFactor: optional(number, 4),
  partialRotaryFactor: optional(number, 1),
  frequencyDim: optional(integer, 0),
  shortFactor: optional(f64, new Float64Array()),
  longFactor: optional(f64, new Float64Array()),
};
const ROPE_SHAPE: Fields = {
  numHeads: optional(integer, 1),
  seqLen: integer,
  headDim: integer,
  rotaryDim: optional(integer, undefined),
  layout: pairLayout,
};
const ROWS: Fields = {
  numHeads: optional(integer, 1),
  headDim: integer,
  rotaryDim: optional(integer, undefined),
};
const CACHE: Fields = { firstPosition: optional(number, 0), attentionFactor: optional(number, 1) };
const CROSS: Fields = { seqLen: integer, dModel: integer, headDim: integer, scale: optional(number, 1) };
const ALIBI: Fields = { numHeads: integer, alibiBiasMax: optional(number, 8) };
const T5: Fields = {
  numBuckets: optional(integer, 32),
  maxDistance: optional(integer, 128),
  bidirectional: optional(boolean, true),
};
const ATTENTION: Fields = {
  numHeads: optional(integer, 1),
  seqLen: integer,
  headDim: integer,
  scale: optional(number, undefined),
  causal: optional(boolean, false),
};
const LAYER: Fields = {
  seqLen: integer,
  dModel: integer,
  numHeads: optional(integer, 1),
  numLayers: optional(integer, 1),
  encoding: (field, value, core) => named("Encoding")(field, value ?? "none", core),
  causal: optional(boolean, false),
  base: optional(number, 10000),
  layout: pairLayout,
  alibiBiasMax: optional(number, 8),
  t5: (field, value, core) => record(T5)(field, value ?? {}, core),
};
const LAYER_WEIGHTS: Fields = {
  wQ: f64,
  wK: f64,
  wV: f64,
  wO: f64,
  positions: optional(f64, new Float64Array()),
  t5Table: optional(f64, new Float64Array()),
};
const ROUNDED: Fields = {
  position: optional(boolean, true),
  invFreq: optional(boolean, true),
  angle: optional(boolean, true),
  result: optional(boolean, true),
};
const COLORMAP: Fields = {
  rows: integer,
  cols: integer,
  width: integer,
  height: integer,
  firstRow: optional(number, 0),
  firstCol: optional(number, 0),
  numRows: optional(number, undefined),
  numCols: optional(number, undefined),
  vmin: optional(number, -1),
  vmax: optional(number, 1),
  transpose: optional(boolean, false),
};
/** Whole numbers that may be larger than a count: the core knows how large. */
const whole: Reader = (field, value) => {
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongKind(field, "an integer", value);
  return value;
};
const TILE: Fields = {
  map: named("TileMap"),
  seqLen: optional(whole, 2 ** 31),
  dims: optional(integer, undefined),
  base: optional(number, 10000),
  layout: pairLayout,
  slope: optional(number, undefined),
  causal: optional(boolean, false),
  t5: (field, value, core) => record(T5)(field, value ?? {}, core),
  biases: optional(f64, new Float64Array()),
};
const TILE_VIEW: Fields = {
  x0: whole,
  y0: whole,
  cellsX: integer,
  cellsY: integer,
  width: integer,
  height: integer,
};
const color: Reader = (field, value) => {
  if (whole(field, value, {} as Core) === (value as number) >>> 0) return value;
  throw new RangeError(`${field} must be from 0 to 2^32 - 1; got ${value}`);
};
const TILE_COLORS: Fields = {
  vmin: optional(number, -1),
  vmax: optional(number, 1),
  outside: optional(color, 0),
};

// --------------------------------------------------------------------------------------------------- calls

function sameLength(field: string, values: ArrayBufferView, expected: number, shape: string): void {
  const length = lengthOf(values);
  if (length !== expected)
    throw new RangeError(`${field} must have ${expected} entries, ${shape}; got ${length}`);
}

function wrap({ core, simd, twin }: Loaded): Posenc {
  const call = caller(core);
  const config = (fields: Fields, what: string, given: unknown): Given => read(fields, what, given, core);
  const check = <T>(reader: Reader, field: string, value: T): T => reader(field, value, core) as T;
  const count = (field: string, value: number, least = 1): number => {
    check(integer, field, value);
    if (value < least) throw new RangeError(`${field} must be at least ${least}; got ${value}`);
    return value;
  };
  const kindOf = (values: Floats): string => (values instanceof Float32Array ? "F32" : "F64");
  const sameKind = (field: string, values: Floats, like: Floats): void => {
    if (values.constructor !== like.constructor) throw wrongKind(field, `a ${like.constructor.name}`, values);
  };
  const rope = (given: RopeConfig): { config: Given; short: unknown; long: unknown } => {
    const { shortFactor, longFactor, ...rest } = config(ROPE, "config", given);
    rest.rotaryDim ??= rest.headDim;
    return { config: rest, short: shortFactor, long: longFactor };
  };
  const shapeOf = (given: unknown): Given => {
    const shape = config(ROPE_SHAPE, "shape", given);
    shape.rotaryDim ??= shape.headDim;
    return shape;
  };
  const layers = (
    x: Float64Array,
    layer: LayerWeights,
    permutation: Int32Array | null,
    given: LayerConfig,
  ) => {
    const settings = config(LAYER, "config", given);
    const weights = config(LAYER_WEIGHTS, "layer", layer);
    const { seqLen, dModel, numHeads, numLayers } = settings as Counts;
    if (permutation) sameLength("permutation", permutation, seqLen, "one per row");
    sameLength("x", check(f64, "x", x), seqLen * dModel, "seqLen × dModel");
    for (const name of ["wQ", "wK", "wV", "wO"] as const) {
      sameLength(
        name,
        weights[name] as Float64Array,
        numLayers * dModel * dModel,
        "numLayers × dModel × dModel",
      );
    }
    const { learned, t5 } = core.Encoding as Record<string, unknown>;
    if (settings.encoding === learned) {
      sameLength("positions", weights.positions as Float64Array, seqLen * dModel, "seqLen × dModel");
    }
    if (settings.encoding === t5) {
      const buckets = (settings.t5 as Given).numBuckets as number;
      sameLength("t5Table", weights.t5Table as Float64Array, buckets * numHeads, "numBuckets × numHeads");
    }
    return call<OrderResult>(
      "selfAttention",
      [x, weights, permutation ?? new Int32Array(), settings],
      settings,
    );
  };

  return {
    simd,
    twin,
    sinusoidalTable(given) {
      const settings = config({ ...SINUSOIDAL, seqLen: integer }, "config", given);
      return call("sinusoidalTable", [settings], settings);
    },
    sinusoidalRows(positions, given) {
      const settings = config(SINUSOIDAL, "config", given);
      return call("sinusoidalRows", [check(f64, "positions", positions), settings], settings);
    },
    sinusoidalInvFreq(given) {
      const settings = config(SINUSOIDAL, "config", given);
      return call("sinusoidalInvFreq", [settings], settings);
    },
    shiftMatrices: (invFreq, k) =>
      call("shiftMatrices", [check(f64, "invFreq", invFreq), check(number, "k", k)]),
    dotByOffset: (offsets, invFreq) =>
      call("dotByOffset", [check(f64, "offsets", offsets), check(f64, "invFreq", invFreq)]),
    similarity(table, rows, cols) {
      check(floats, "table", table);
      sameLength("table", table, count("rows", rows) * count("cols", cols), "rows × cols");
      return call(`similarity${kindOf(table)}`, [table, rows, cols]);
    },
    sinusoidalSimilarity(given) {
      const settings = config({ ...SINUSOIDAL, seqLen: integer }, "config", given);
      return call("sinusoidalSimilarity", [settings], settings);
    },
    lookupRows(table, ids, rows, cols) {
      check(floats, "table", table);
      sameLength("table", table, count("rows", rows) * count("cols", cols), "rows × cols");
      return call(`lookupRows${kindOf(table)}`, [table, check(i32, "ids", ids), rows, cols]);
    },
    embed(tokenIds, tokenTable, positionTable, given) {
      const settings = config(EMBEDDING, "config", given);
      const { batch, seqLen, vocabSize, dModel, positionRows } = settings as Counts;
      sameLength("tokenIds", check(i32, "tokenIds", tokenIds), batch * seqLen, "batch × seqLen");
      const f32 = array(Float32Array);
      sameLength(
        "tokenTable",
        check(f32, "tokenTable", tokenTable),
        vocabSize * dModel,
        "vocabSize × dModel",
      );
      sameLength(
        "positionTable",
        check(f32, "positionTable", positionTable),
        positionRows * dModel,
        "positionRows × dModel",
      );
      return call("embed", [tokenIds, tokenTable, positionTable, settings], settings);
    },
    ropeInvFreq(given, seqLen = 0) {
      const { config: settings, short, long } = rope(given);
      return call("ropeInvFreq", [settings, short, long, check(number, "seqLen", seqLen)], settings);
    },
    dynamicSeqLen: (given, cachedSeqLen, seqLen) =>
      call("dynamicSeqLen", [
        rope(given).config,
        check(number, "cachedSeqLen", cachedSeqLen),
        check(number, "seqLen", seqLen),
      ]),
    yarnCorrectionRange(given) {
      const { config: settings } = rope(given);
      return call("yarnCorrectionRange", [settings], settings);
    },
    yarnMscale(factor, mscale = 1) {
      const args = [check(number, "factor", factor), check(number, "mscale", mscale)];
      const result = call<number>("yarnMscale", args);
      if (!Number.isFinite(result)) throw new RangeError(`mscale must be smaller; got mscale = ${mscale}`);
      return result;
    },
    longropeAttentionFactor(factor, originalMaxPositionEmbeddings) {
      const original = check(number, "originalMaxPositionEmbeddings", originalMaxPositionEmbeddings);
      if (original <= 1) {
        throw new RangeError(`originalMaxPositionEmbeddings must be above 1; got ${original}`);
      }
      return call("longropeAttentionFactor", [check(number, "factor", factor), original]);
    },
    ropeCosSin: (positions, invFreq, attentionFactor = 1) =>
      call("ropeCosSin", [
        check(f64, "positions", positions),
        check(f64, "invFreq", invFreq),
        check(number, "attentionFactor", attentionFactor),
      ]),
    ropeCache(seqLen, invFreq, given = {}) {
      const { firstPosition, attentionFactor } = config(CACHE, "options", given) as Record<string, number>;
      const last = (firstPosition as number) + count("seqLen", seqLen);
      if (Math.max(Math.abs(firstPosition as number), Math.abs(last)) > 2 ** 53) {
        throw new RangeError(`positions must lie within 2^53 of 0; got firstPosition = ${firstPosition}`);
      }
      check(f64, "invFreq", invFreq);
      if (invFreq.length === 0 || !invFreq.every((w) => w >= 0 && Number.isFinite(w))) {
        throw new RangeError("invFreq must hold at least one number, all finite and at least 0");
      }
      if (!(Math.abs(attentionFactor as number) <= 1e30)) {
        throw new RangeError(`attentionFactor must be within 1e30 of 0; got ${attentionFactor}`);
      }
      return call("ropeCache", [seqLen, firstPosition, invFreq, attentionFactor]);
    },
    mropeAxes: (sections, pairs, layout) =>
      call("mropeAxes", [
        check(i32, "sections", sections),
        count("pairs", pairs),
        named("MropeLayout")("layout", layout, core),
      ]),
    mropeCosSin(positions, axis, invFreq, attentionFactor = 1) {
      check(f64, "positions", positions);
      check(f64, "invFreq", invFreq);
      sameLength("axis", check(i32, "axis", axis), invFreq.length, "one per pair");
      if (positions.length % 3 !== 0) throw new RangeError("positions must have 3 × seqLen entries");
      if (axis.some((a) => a < 0 || a > 2)) throw new RangeError("axis must hold 0, 1 or 2");
      return call("mropeCosSin", [
        positions,
        axis,
        invFreq,
        check(number, "attentionFactor", attentionFactor),
      ]);
    },
    ropeApply(x, cos, sin, given) {
      const shape = shapeOf(given);
      const { numHeads, seqLen, headDim, rotaryDim } = shape as Record<string, number>;
      check(floats, "x", x);
      const cells = (numHeads ?? 1) * (seqLen ?? 0) * (headDim ?? 0);
      sameLength("x", x, cells, "numHeads × seqLen × headDim");
      for (const [field, angles] of [
        ["cos", cos],
        ["sin", sin],
      ] as const) {
        sameKind(field, check(floats, field, angles), x);
        sameLength(field, angles, (seqLen ?? 0) * Math.floor((rotaryDim ?? 0) / 2), "seqLen × rotaryDim/2");
      }
      return call(`ropeApply${kindOf(x)}`, [x, cos, sin, shape], shape);
    },
    halfFromInterleaved(given) {
      const { numHeads, headDim, rotaryDim } = config(ROWS, "shape", given);
      const shape = shapeOf({ numHeads, headDim, rotaryDim: rotaryDim ?? headDim, seqLen: 1 });
      return call("halfFromInterleaved", [shape], shape);
    },
    ropeScoreByOffset(offsets, q, k, invFreq) {
      check(f64, "offsets", offsets);
      check(f64, "invFreq", invFreq);
      sameLength("q", check(f64, "q", q), 2 * invFreq.length, "two per pair");
      sameLength("k", check(f64, "k", k), 2 * invFreq.length, "two per pair");
      return call("ropeScoreByOffset", [offsets, q, k, invFreq]);
    },
    alibiSlopes(given) {
      const settings = config(ALIBI, "config", given);
      return call("alibiSlopes", [settings], settings);
    },
    alibiBias: (slopes, seqLen, causal = false) =>
      call("alibiBias", [
        check(f64, "slopes", slopes),
        count("seqLen", seqLen),
        check(boolean, "causal", causal),
      ]),
    t5Buckets(relativePositions, given = {}) {
      const settings = config(T5, "config", given);
      return call("t5Buckets", [check(i32, "relativePositions", relativePositions), settings], settings);
    },
    t5Bias(table, numHeads, qLen, kLen, given = {}) {
      const settings = config(T5, "config", given);
      const entries = (settings.numBuckets as number) * count("numHeads", numHeads);
      sameLength("table", check(f64, "table", table), entries, "numBuckets × numHeads");
      return call("t5Bias", [table, numHeads, count("qLen", qLen), count("kLen", kLen), settings], settings);
    },
    attention(q: Floats, k: Floats, v: Floats, given: AttentionConfig, bias?: Floats): never {
      const settings = config(ATTENTION, "config", given);
      const { numHeads, seqLen, headDim } = settings as Counts;
      settings.scale ??= 1 / Math.sqrt(headDim);
      check(floats, "q", q);
      for (const [field, values] of [
        ["q", q],
        ["k", k],
        ["v", v],
      ] as const) {
        sameKind(field, check(floats, field, values), q);
        sameLength(field, values, numHeads * seqLen * headDim, "numHeads × seqLen × headDim");
      }
      if (bias !== undefined) {
        sameKind("bias", check(floats, "bias", bias), q);
        sameLength("bias", bias, numHeads * (2 * seqLen - 1), "numHeads × (2·seqLen − 1)");
      }
      const none = q instanceof Float32Array ? new Float32Array() : new Float64Array();
      return call(`attention${kindOf(q)}`, [q, k, v, bias ?? none, settings], settings);
    },
    selfAttention: (x, layer, given) => layers(x, layer, null, given),
    orderExperiment(x, layer, permutation, given) {
      check(i32, "permutation", permutation);
      if (new Set(permutation).size !== permutation.length || permutation.some((i) => !(i in permutation))) {
        throw new RangeError("permutation must hold each of 0..seqLen-1 once");
      }
      return layers(x, layer, permutation, given);
    },
    crossTerms(x, p, wQ, wK, given) {
      const { seqLen, dModel, headDim, scale } = config(CROSS, "shape", given) as Counts & { scale: number };
      const rows = count("seqLen", seqLen) * count("dModel", dModel);
      sameLength("x", check(f64, "x", x), rows, "seqLen × dModel");
      sameLength("p", check(f64, "p", p), rows, "seqLen × dModel");
      const cells = dModel * count("headDim", headDim);
      sameLength("wQ", check(f64, "wQ", wQ), cells, "dModel × headDim");
      sameLength("wK", check(f64, "wK", wK), cells, "dModel × headDim");
      return call("crossTerms", [x, p, wQ, wK, seqLen, dModel, headDim, scale]);
    },
    randomNormal(entries, seed, sigma = 1) {
      check(integer, "seed", seed);
      if (seed < 0) throw new RangeError(`seed must be at least 0; got ${seed}`);
      return call("randomNormal", [count("count", entries), seed, check(number, "sigma", sigma)]);
    },
    roundTo: (values, format) =>
      call("roundTo", [check(f64, "values", values), named("FloatFormat")("format", format, core)]),
    ropeFormatErrors(positions, invFreq, format, rounded = {}) {
      return call("ropeFormatErrors", [
        check(f64, "positions", positions),
        check(f64, "invFreq", invFreq),
        named("FloatFormat")("format", format, core),
        config(ROUNDED, "rounded", rounded),
      ]);
    },
    lut(stops = new Uint8Array()) {
      check(array(Uint8Array), "stops", stops);
      if (stops.length % 3 !== 0 || stops.length === 3) {
        throw new RangeError(
          `stops must hold at least two colours of three bytes; got ${stops.length} bytes`,
        );
      }
      return call("fillLut", [stops]);
    },
    colormap(values, lut, given, pixels) {
      const settings = config(COLORMAP, "config", given);
      const { rows, cols, width, height, firstRow, firstCol } = settings as Counts;
      settings.numRows ??= rows - firstRow;
      settings.numCols ??= cols - firstCol;
      sameLength("values", check(array(Float32Array), "values", values), rows * cols, "rows × cols");
      sameLength("lut", check(array(Uint32Array), "lut", lut), 256, "one per colour");
      if (pixels !== undefined) {
        check(array(Uint8ClampedArray), "pixels", pixels);
        sameLength("pixels", pixels, 4 * width * height, "width × height × 4");
      }
      return call("colormap", [values, lut, pixels ?? null, settings], settings);
    },
    tileMap(given) {
      const settings = config(TILE, "config", given);
      const { alibi, t5: buckets } = core.TileMap as Given;
      if (settings.map === alibi) check(number, "slope", settings.slope);
      else if (settings.map !== buckets) check(integer, "dims", settings.dims);
      const { map, seqLen, dims, base, layout, slope, causal, t5, biases } = settings;
      const args = [map, seqLen, dims ?? 0, base, layout, slope ?? 0, causal, t5, biases];
      return tileMap(core, call<number>("openTile", args, { ...settings, ...(t5 as Given) }));
    },
  };
}

/** The map that a handle of the core stands for. Nothing is made here per frame, not even an array of arguments. */
function tileMap(core: Core, opened: number): TileMap {
  let handle: number | null = opened;
  let pixels = new Uint8ClampedArray();
  const live = (): number => {
    if (handle === null) throw new Error("this map has been freed");
    return handle;
  };
  let size = 0; // pixels of the last view
  const ask = (name: "drawTile" | "tileValues", view: TileView): unknown => {
    live();
    if (typeof view !== "object" || view === null) throw wrongKind("view", "an object", view);
    for (const field in view) {
      if (!Object.hasOwn(TILE_VIEW, field)) read(TILE_VIEW, "view", view, core);
    }
    const { x0, y0, cellsX, cellsY, width, height } = view;
    whole("x0", x0, core);
    whole("y0", y0, core);
    integer("cellsX", cellsX, core);
    integer("cellsY", cellsY, core);
    integer("width", width, core);
    integer("height", height, core);
    const result = (core[name] as Core[string])(live(), x0, y0, cellsX, cellsY, width, height);
    if (typeof result === "string") unwrap(result, { x0, y0, cellsX, cellsY, width, height });
    size = width * height;
    return result;
  };
  return {
    setColors(lut, given = {}) {
      live();
      const table = array(Uint32Array)("lut", lut, core);
      const colors = read(TILE_COLORS, "colors", given, core);
      const { vmin, vmax, outside } = colors;
      unwrap((core.colorTile as Core[string])(live(), table, vmin, vmax, outside), colors);
    },
    draw(view) {
      ask("drawTile", view);
      // Grown memory has left the view with length 0.
      if (pixels.length !== 4 * size) {
        const bytes = (core.tilePixels as Core[string])(handle, size) as Uint8Array<ArrayBuffer>;
        pixels = new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.length);
      }
      return pixels;
    },
    values: (view) => ask("tileValues", view) as Float32Array,
    free() {
      (core.freeTile as Core[string])(live());
      handle = null;
    },
  };
}

// ------------------------------------------------------------------------------------------------- loading

/** Loads the core. Each call makes an instance of its own; a page shares one. */
export async function loadPosenc(options: LoadOptions = {}): Promise<Posenc> {
  const file = (simd: boolean): URL | null =>
    simd ? new URL("./wasm/posenc-simd.wasm", import.meta.url) : scalar();
  return wrap(await loadModule({ create: createPosenc, build, file, twin }, options));
}
