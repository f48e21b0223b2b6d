// posenc: the numerics of positional encoding in transformers.
//
// The whole public API. Read it as a reference: each function says what it computes, every shape,
// the units, what it needs, its largest error and where the formula comes from.
//
// Conventions
//   - Arrays are row-major; the caller owns every buffer. Kernels neither allocate nor throw nor keep pointers.
//   - Parameters: destination first, then inputs, then the config.
//   - Angles are in radians and are formed in double. `float` overloads are tuned (SIMD); `double` overloads
//     are their plain twins, one loop each, and are what the tuned ones are tested against.
//   - `invalid(config)` is null for a usable config, else a sentence that names the field and the rule.
//     Calling a kernel with an invalid config or a span of another size is a bug: asserted.
//   - `relative_position` is key minus query. `logits` are before softmax, `weights` after.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace posenc {

// The largest errors that this header states and the tests hold, one number for both.
//
// Of a float table entry against the exact value, at positions up to 1e6 and inv_freq up to 1: half a unit in
// the last place of a float in [0.5, 1] is 2^-25; the rest is room for the double angle. To 2^24:
// kFarTableError.
inline constexpr double kTableError = 0x1p-24;
inline constexpr double kFarTableError = 0x1p-23;
// Of double values whose angle is position * inv_freq: of sinusoidal_rows, and of rope_cos_sin (times the
// attention factor).
inline double rows_error(double angle) {
  return 4e-16 + 2.3e-15 * std::fabs(angle);
}
inline double cos_sin_error(double angle) {
  return 4e-16 + 1.3e-16 * std::fabs(angle);
}
// Of inverse frequencies, relative: pow is good to 1.2e-16, and the quotient in its exponent is off by 2^-54,
// which the logarithm of the base multiplies. RoPE's scalings add a few roundings.
inline double inv_freq_error(double base) {
  return 1.2e-16 + 0x1p-54 * std::fabs(std::log(base));
}
inline constexpr double kRopeInvFreqError = 1e-14;
// Inverse frequencies beyond 2^±this would lose digits, or become 0 or infinite.
inline constexpr double kMaxInvFreqExponent = 1000;
// Of a float rope_apply, times (|a| + |b|) of the pair and the attention factor.
inline constexpr double kRopeApplyError = 0x1p-23;
// Of a float similarity, times cols * sum |a b|.
inline constexpr double kSimilarityError = 0x1p-24;
// Of an entry of sinusoidal_similarity, per pair, at offsets up to 1e6: a sum of `pairs` cosines, rounded to
// float.
inline constexpr double kToeplitzError = 0x1p-24 + 0x1p-40;
// Of a float of tile_values: as a float, relative; and of the mean that it rounds, times the largest cell
// or 1.
inline constexpr double kTileError = 0x1p-24;
inline constexpr double kTileMeanError = 1e-9;
// Of weights of the float attention, where no product in a logit is larger than `magnitude`:
// scale * sum |q_c k_c| + |bias|.
inline double weights_error(double magnitude) {
  return 2e-6 + 1e-6 * magnitude;
}

// Largest cell count of one array here: indices are 32-bit in WebAssembly.
inline constexpr double kMaxCells = 0x1p28;

// ------------------------------------------------------------------------------------------------ sinusoidal

// Column order of a sinusoidal table.
//   kInterleaved     sin and cos of pair i in columns 2i, 2i+1; frequency base^(-2i/d_model). Vaswani et al.
//   2017,
//                    section 3.5. An odd d_model ends with a sine column.
//   kHalves          all sines, then all cosines, same frequencies (Marian, x-transformers). Odd: one sine
//   more. kHalvesMinusOne  all sines, then all cosines, frequency base^(-i/(half-1)), half = floor(d_model/2)
//                    (tensor2tensor, fairseq). Odd: a last column of zeros.
enum class SinusoidalLayout { kInterleaved, kHalves, kHalvesMinusOne };

struct SinusoidalConfig {
  int seq_len = 0;              // rows, >= 1
  int d_model = 0;              // columns, >= 1
  double base = 10000.0;        // 2^-1000..2^1000
  double first_position = 0.0;  // position of row 0; |position| <= 2^53
  double position_step = 1.0;   // position of row t is first_position + t * position_step
  SinusoidalLayout layout = SinusoidalLayout::kInterleaved;
};
const char* invalid(const SinusoidalConfig& config);
// Of any base of frequencies base^(-2i/d): with it, each is a finite number above 0 that has all its digits.
const char* invalid_base(double base);

// Number of (sin, cos) pairs of a table: d_model/2, rounded up for the layouts that keep an odd sine.
int sinusoidal_pairs(const SinusoidalConfig& config);

// inv_freq (pairs), radians per position. Relative error inv_freq_error(base).
void sinusoidal_inv_freq(std::span<double> inv_freq, const SinusoidalConfig& config);

// rows (positions, d_model) for any positions; seq_len, first_position and position_step are not read.
// Error rows_error(position * inv_freq); NaN where that angle is infinite.
void sinusoidal_rows(std::span<double> rows, std::span<const double> positions, const SinusoidalConfig& config);

// table (seq_len, d_model), the tuned form of sinusoidal_rows. Error kTableError at positions up to 1e6, and
// kFarTableError up to 2^24. scratch: sinusoidal_scratch(config) doubles.
void sinusoidal_table(std::span<float> table, std::span<double> scratch, const SinusoidalConfig& config);
int sinusoidal_scratch(const SinusoidalConfig& config);

// The rotation that shifts every pair by k positions: PE(p+k) = M_k PE(p), with
//   [sin(p+k)w]   [ cos kw  sin kw] [sin pw]
//   [cos(p+k)w] = [-sin kw  cos kw] [cos pw].     Vaswani et al. 2017, section 3.5.
// matrices (pairs, 2, 2).
void shift_matrices(std::span<double> matrices, std::span<const double> inv_freq, double k);

// dot[i] = PE(p) . PE(p + offsets[i]) = sum over pairs of cos(offset * inv_freq): even in the offset, no p in
// it.
void dot_by_offset(std::span<double> dot, std::span<const double> offsets, std::span<const double> inv_freq);

// similarity (rows, rows) = table (rows, cols) times its transpose.
// Float error: kSimilarityError * cols * sum |a b| of the entry; scratch: similarity_scratch(cols) floats.
void similarity(std::span<double> similarity, std::span<const double> table, int rows, int cols);
void similarity(std::span<float> similarity, std::span<float> scratch, std::span<const float> table, int rows,
                int cols);
int similarity_scratch(int cols);
// The same without the mirror: the entries on and above the diagonal with `upper`, else all, each computed.
void dot_products(std::span<float> dots, std::span<float> scratch, std::span<const float> table, int rows,
                  int cols, bool upper);

// similarity (seq_len, seq_len) of a sinusoidal table with itself, in O(seq_len * (d_model + seq_len)), without
// the table: PE(p) . PE(q) = dot_by_offset(q - p). first_position and layout do not matter; d_model is even.
// Error kToeplitzError times the number of pairs. scratch: sinusoidal_similarity_scratch(config) doubles.
const char* invalid_similarity(const SinusoidalConfig& config);
void sinusoidal_similarity(std::span<float> similarity, std::span<double> scratch,
                           const SinusoidalConfig& config);
int sinusoidal_similarity_scratch(const SinusoidalConfig& config);

// ------------------------------------------------------------------------------------------- embedding layer

inline constexpr int kAllRowsFound = -1;

// out (ids, cols) = rows of table (rows, cols). Returns kAllRowsFound, or the index of the first id outside
// 0..rows-1, in which case nothing is written: asking a table of 512 rows for row 512 fails, as it does in
// BERT.
int lookup_rows(std::span<float> out, std::span<const float> table, std::span<const int32_t> ids, int rows,
                int cols);
int lookup_rows(std::span<double> out, std::span<const double> table, std::span<const int32_t> ids, int rows,
                int cols);

struct EmbeddingConfig {
  int batch = 0;       // B, >= 1
  int seq_len = 0;     // n, >= 1, at most position_rows
  int vocab_size = 0;  // rows of the token table, >= 1
  int d_model = 0;     // >= 1
  int position_rows = 0;
  bool scale_by_sqrt_d_model = true;  // Vaswani et al. 2017, section 3.4
};
const char* invalid(const EmbeddingConfig& config);

// out (B, n, d_model) = token_table[token_ids] * sqrt(d_model) + position_table[0..n-1].
// token_ids (B, n), token_table (vocab_size, d_model), position_table (position_rows, d_model).
// Returns as lookup_rows.
int embed(std::span<float> out, std::span<const int32_t> token_ids, std::span<const float> token_table,
          std::span<const float> position_table, const EmbeddingConfig& config);

// ------------------------------------------------------------------------------------------------------ RoPE

// Which two components form pair i: (2i, 2i+1), or (i, i + rotary_dim/2).
enum class PairLayout { kInterleaved, kHalf };

// How the frequencies are changed for contexts longer than the trained one.
enum class RopeType { kDefault, kLinear, kNtk, kDynamic, kYarn, kLongrope, kLlama3, kProportional };

inline constexpr double kFromFormula = std::numeric_limits<double>::quiet_NaN();

// Defaults are those of the papers. Fields that a rope_type does not name are ignored by it.
struct RopeConfig {
  int head_dim = 0;           // 2..2^24
  int rotary_dim = 0;         // even, 2..head_dim: components that are rotated
  double rope_theta = 10000;  // > 0: the base
  RopeType rope_type = RopeType::kDefault;
  double factor = 1;                            // >= 1: context length over the trained one
  double original_max_position_embeddings = 0;  // trained length: dynamic, yarn, longrope, llama3
  double attention_factor = kFromFormula;       // multiplies cos and sin; given, it replaces the formula
  double beta_fast = 32, beta_slow = 1;         // yarn: turns within the trained length that bound the ramp
  bool truncate = true;                         // yarn: round the ramp's bounds to whole pairs
  double mscale = kFromFormula, mscale_all_dim = kFromFormula;  // yarn, DeepSeek: used only when both are given
  double low_freq_factor = 1, high_freq_factor = 4;             // llama3; high at most 2^1000
  double partial_rotary_factor = 1;  // proportional: share of the pairs that turn; the others have inv_freq 0
  int frequency_dim = 0;  // denominator of the exponents, 0: rotary_dim. A model that truncates an odd partial
                          // dimension (32 * 0.3 = 9) has exponents over 9 and rotates 10 components.
  std::span<const double> short_factor = {}, long_factor = {};  // longrope: rotary_dim/2 divisors each
};
const char* invalid(const RopeConfig& config);
// Of a usable config at a length: dynamic raises its base with seq_len, which may go too far.
const char* invalid(const RopeConfig& config, double seq_len);

// inv_freq (rotary_dim/2), radians per position, for a sequence of seq_len positions (0: at most the trained
// length). Only dynamic and longrope depend on seq_len. Returns the attention factor, which multiplies cos and
// sin of both q and k. Relative error kRopeInvFreqError.
//   default       rope_theta^(-2i/d)                       Su et al. 2021, RoFormer, equation 15
//   linear        default / factor                         Chen et al. 2023, position interpolation
//   ntk           base * factor^(d/(d-2))                  bloc97 2023, the lesson's static formula
//   dynamic       base * (factor*L/M - (factor-1))^(d/(d-2)), L = max(seq_len, M)     transformers
//   yarn          ramp between default and linear          Peng et al. 2023, YaRN, section 3
//   longrope      default / short_factor, or / long_factor when seq_len > M       Ding et al. 2024
//   llama3        default, blend, or linear by wavelength  Llama 3.1 model card
//   proportional  exponents over head_dim, pairs beyond the share stand still     transformers (Gemma)
double rope_inv_freq(std::span<double> inv_freq, const RopeConfig& config, double seq_len);

// Dynamic NTK remembers: the frequencies grow with the longest sequence seen and fall back only when a sequence
// shorter than the trained length arrives. Returns the length to hand to rope_inv_freq, and to pass in as
// cached_seq_len next time (start with the trained length). transformers, dynamic_rope_update.
double dynamic_seq_len(const RopeConfig& config, double cached_seq_len, double seq_len);

// The bounds, in pairs, between which yarn blends; low <= i <= high. Peng et al. 2023, section 3.2.
struct YarnRange {
  double low, high;
};
YarnRange yarn_correction_range(const RopeConfig& config);
// The (fractional) pair that makes `turns` turns within the trained length.
double yarn_correction_dim(const RopeConfig& config, double turns);
// 0.1 * mscale * ln(factor) + 1 for factor > 1, else 1. Peng et al. 2023, equation 22.
double yarn_mscale(double factor, double mscale);
// sqrt(1 + ln(factor) / ln(original_max_position_embeddings)) for factor > 1, else 1. Ding et al. 2024.
double longrope_attention_factor(double factor, double original_max_position_embeddings);

// cos, sin (positions, pairs), each multiplied by attention_factor.
// Double: error cos_sin_error(position * inv_freq). Float: kTableError at positions up to 1e6. Both times the
// attention factor; scratch: rope_scratch(pairs) doubles.
void rope_cos_sin(std::span<double> cos, std::span<double> sin, std::span<const double> positions,
                  std::span<const double> inv_freq, double attention_factor);
void rope_cache(std::span<float> cos, std::span<float> sin, std::span<double> scratch, int seq_len,
                double first_position, std::span<const double> inv_freq, double attention_factor);
int rope_scratch(int pairs);

// Multimodal RoPE: each pair takes its position from one of three axes (time, height, width).
//   kChunked      the first sections[0] pairs from time, then height, then width     Qwen2-VL
//   kInterleaved  time, height, width in turn until height and width are used up     Qwen3-VL
enum class MropeLayout { kChunked, kInterleaved };
const char* invalid_mrope(std::span<const int32_t> sections, int pairs);
// axis (pairs): 0, 1 or 2. sections (3) count pairs and sum to the number of pairs.
void mrope_axes(std::span<int32_t> axis, std::span<const int32_t> sections, MropeLayout layout);
// cos, sin (seq_len, pairs) from positions (3, seq_len).
void mrope_cos_sin(std::span<double> cos, std::span<double> sin, std::span<const double> positions,
                   std::span<const int32_t> axis, std::span<const double> inv_freq, double attention_factor);

struct RopeShape {
  int num_heads = 1;  // >= 1
  int seq_len = 0;    // >= 1
  int head_dim = 0;
  int rotary_dim = 0;  // even, 2..head_dim; the components past it are copied
  PairLayout layout = PairLayout::kInterleaved;
};
const char* invalid(const RopeShape& shape);

// out (num_heads, seq_len, head_dim) = x with pair i of row t turned by its angle:
//   a' = a cos - b sin,  b' = a sin + b cos.     Su et al. 2021, equation 34.
// cos, sin (seq_len, rotary_dim/2). out may be x. Float error kRopeApplyError * (|a| + |b|).
void rope_apply(std::span<double> out, std::span<const double> x, std::span<const double> cos,
                std::span<const double> sin, const RopeShape& shape);
void rope_apply(std::span<float> out, std::span<const float> x, std::span<const float> cos,
                std::span<const float> sin, const RopeShape& shape);

// Rows of an interleaved W_q or W_k in the order that a half-split implementation wants:
// half[r] = interleaved[row_index[r]], row_index (num_heads * head_dim).
// transformers, convert_llama_weights_to_hf.
void half_from_interleaved(std::span<int32_t> row_index, const RopeShape& shape);

// score[i] = sum over pairs of |q_i||k_i| cos(phi_i + (position of q - position of k) * inv_freq), for one q
// and one k (rotary_dim, interleaved), at relative_position (key minus query) offsets[i]: q^T R(n-m) k.
void rope_score_by_offset(std::span<double> score, std::span<const double> offsets, std::span<const double> q,
                          std::span<const double> k, std::span<const double> inv_freq);

// ----------------------------------------------------------------------------------------------------- ALiBi

struct AlibiConfig {
  int num_heads = 0;            // >= 1
  double alibi_bias_max = 8.0;  // > 0: the last head's slope is 2^-alibi_bias_max (powers of two)
};
const char* invalid(const AlibiConfig& config);

// slopes (num_heads): 2^(-bias_max*h/n) for h = 1..n when n is a power of two; else those of the next lower
// power of two, then every other slope of its double. Press et al. 2021, get_slopes; MPT for alibi_bias_max.
// Not sorted.
void alibi_slopes(std::span<double> slopes, const AlibiConfig& config);

// bias (num_heads, seq_len, seq_len) = -slope * |relative_position|; causal: -inf above the diagonal.
void alibi_bias(std::span<double> bias, std::span<const double> slopes, int seq_len, bool causal);

// -------------------------------------------------------------------------------------------------------- T5

struct T5Config {
  int num_buckets = 32;       // >= 2 (>= 4 and even if bidirectional)
  int max_distance = 128;     // > num_buckets/2, or > num_buckets/4 if bidirectional
  bool bidirectional = true;  // encoder; false: decoder, keys after the query share bucket 0
};
const char* invalid(const T5Config& config);

// Bucket of relative_position: exact for the near half, logarithmic to max_distance beyond. Raffel et al. 2019;
// transformers, _relative_position_bucket. log(0) is never taken.
int t5_relative_position_bucket(int relative_position, const T5Config& config);

// bias (num_heads, q_len, k_len) = table (num_buckets, num_heads) at the bucket of j - i.
void t5_bias(std::span<double> bias, std::span<const double> table, int num_heads, int q_len, int k_len,
             const T5Config& config);

// ------------------------------------------------------------------------------------------------- attention

struct AttentionConfig {
  int num_heads = 1;  // >= 1
  int seq_len = 0;    // >= 1
  int head_dim = 0;   // 1..2^24
  double scale = 1;   // of q k^T; 1/sqrt(head_dim), or 1 for T5; |scale| <= 1e30
  bool causal = false;
};
const char* invalid(const AttentionConfig& config);

// q, k, v, output (num_heads, seq_len, head_dim); logits, weights (num_heads, seq_len, seq_len):
//   logits = scale * q k^T + bias, -inf where masked; weights = softmax(logits); output = weights v.
// bias is empty or (num_heads, 2*seq_len - 1): one number per head and relative_position, from -(seq_len-1).
// Float: weights_error of the weights, which are 0 below 2^-100 of the row's largest; a row with a logit that
// is not finite is NaN, as is its output; scratch: attention_scratch(config) floats; logits may be empty.
void attention(std::span<double> output, std::span<double> weights, std::span<double> logits,
               std::span<const double> q, std::span<const double> k, std::span<const double> v,
               std::span<const double> bias, const AttentionConfig& config);
void attention(std::span<float> output, std::span<float> weights, std::span<float> scratch,
               std::span<const float> q, std::span<const float> k, std::span<const float> v,
               std::span<const float> bias, const AttentionConfig& config);
int attention_scratch(const AttentionConfig& config);

inline constexpr int kMaxLayerHeads = 256;

// Where a self-attention layer gets its order from.
enum class Encoding { kNone, kSinusoidal, kLearned, kRope, kAlibi, kT5 };

struct LayerConfig {
  int seq_len = 0;
  int d_model = 0;     // a multiple of num_heads
  int num_heads = 1;   // 1..kMaxLayerHeads
  int num_layers = 1;  // 1..8; each adds its input to its output
  Encoding encoding = Encoding::kNone;
  bool causal = false;
  double base = 10000;                           // sinusoidal, rope: 2^-1000..2^1000
  PairLayout layout = PairLayout::kInterleaved;  // rope; head_dim must be even
  double alibi_bias_max = 8;                     // alibi
  T5Config t5 = {};                              // t5
};
const char* invalid(const LayerConfig& config);

// Weights of the layers and what they add; matrices act from the right: q = x W_q.
struct LayerWeights {
  std::span<const double> w_q, w_k, w_v, w_o;  // (num_layers, d_model, d_model) each
  std::span<const double> positions;           // learned: (seq_len, d_model)
  std::span<const double> t5_table;            // t5: (num_buckets, num_heads)
};

// output (seq_len, d_model); logits, weights (num_layers, num_heads, seq_len, seq_len) from x (seq_len,
// d_model). With one layer, output is the attention's own, without the residual. scratch: layer_scratch(config)
// doubles.
void self_attention(std::span<double> output, std::span<double> weights, std::span<double> logits,
                    std::span<double> scratch, std::span<const double> x, const LayerWeights& layer,
                    const LayerConfig& config);
double layer_scratch(const LayerConfig& config);

// How far a map f is from not caring about order, P being a permutation of the rows:
// equivariance = max |f(Px) - P f(x)|, pooled = max |mean f(Px) - mean f(x)|.
struct OrderDifference {
  double equivariance, pooled;
};
// output, permuted_output (rows, cols): f(x) and f(Px); row i of Px is row permutation[i] of x.
OrderDifference order_difference(std::span<const double> output, std::span<const double> permuted_output,
                                 std::span<const int32_t> permutation, int cols);

// terms (4, seq_len, seq_len) of (x+p) W_q W_k^T (x+p)^T * scale, in the order content-content,
// content-position, position-content, position-position. x, p (seq_len, d_model), w_q, w_k (d_model, head_dim).
// scratch: 4 * seq_len * head_dim doubles.
void cross_terms(std::span<double> terms, std::span<double> scratch, std::span<const double> x,
                 std::span<const double> p, std::span<const double> w_q, std::span<const double> w_k,
                 int seq_len, int d_model, int head_dim, double scale);

// out = normal numbers with mean 0 and deviation sigma, the same for a seed in every WebAssembly engine.
void random_normal(std::span<double> out, uint32_t seed, double sigma);

// ------------------------------------------------------------------------------------------------- precision

enum class FloatFormat { kFloat32, kBfloat16, kFloat16 };

// value rounded to the nearest number of the format, ties to even; overflow gives infinity.
double round_to(double value, FloatFormat format);

// Which steps of a rotation a model does in few bits.
struct RoundedSteps {
  bool position = true, inv_freq = true, angle = true, result = true;
};

// error[t] = largest |difference| of cos and sin over the pairs, between the rotation of positions[t] with the
// given steps rounded to `format` and the exact one.
void rope_format_errors(std::span<double> error, std::span<const double> positions,
                        std::span<const double> inv_freq, FloatFormat format, const RoundedSteps& rounded = {});

// --------------------------------------------------------------------------------------------------- drawing

inline constexpr int kLutSize = 256;

// lut (256 pixels): stops (n, 3) of red, green, blue 0..255, spread evenly and joined by straight lines.
void fill_lut(std::span<uint32_t> lut, std::span<const uint8_t> stops);

// The eleven stops of RdBu, ColorBrewer 2.0 (Brewer and Harrower), as matplotlib uses them.
std::span<const uint8_t> rdbu_stops();

// What part of a matrix goes to which pixels, how.
struct ColormapConfig {
  int rows = 0, cols = 0;               // of the matrix, >= 1
  int width = 0, height = 0;            // of the picture in pixels, >= 1
  double first_row = 0, first_col = 0;  // top left corner of the part shown, in cells
  double num_rows = 0, num_cols = 0;    // its size, > 0, within the matrix
  double vmin = -1, vmax = 1;           // ends of the map, vmin < vmax; values beyond take the end's colour
  bool transpose = false;               // columns of the matrix run down the picture
};
const char* invalid(const ColormapConfig& config);

// rgba (height, width), pixels as little-endian RGBA. A pixel that covers several cells shows the mean of the
// values under it, weighted by area, so that no wave appears that is not in the matrix; a pixel inside one cell
// shows that cell. NaN cells are transparent. Index as matplotlib: floor(256 (v-vmin)/(vmax-vmin)),
// clamped. scratch: colormap_scratch(config) doubles.
void colormap(std::span<uint32_t> rgba, std::span<double> scratch, std::span<const float> values,
              std::span<const uint32_t> lut, const ColormapConfig& config);
int colormap_scratch(const ColormapConfig& config);

// ----------------------------------------------------------------------------------------------------- tiles

// Parts of a map too large to be an array: columns are positions (keys), rows are dimensions (queries).
//   kSinusoidal       sin(x w_i) in row 2i, cos(x w_i) in row 2i+1, w_i = base^(-2i/dims)
//   kRopeCos, kRopeSin  cos(x w_i), sin(x w_i) in both rows of pair i, which the layout names
//   kAlibi            -slope * |x - y|, as alibi_bias
//   kT5               biases[bucket of x - y], or without biases the bucket itself
enum class TileMap { kSinusoidal, kRopeCos, kRopeSin, kAlibi, kT5 };

inline constexpr double kMaxTileCells = 0x1p31;  // of a map along each axis
inline constexpr int kMaxTileDims = 1 << 16;
inline constexpr int kMaxTileBuckets = 1 << 12;

// Fields that a map does not name are ignored by it.
struct TileConfig {
  TileMap map = TileMap::kSinusoidal;
  double seq_len = kMaxTileCells;                // columns, and rows of alibi and t5: a whole number, 1..2^31
  int dims = 0;                                  // rows of the others: 1..2^16, even for rope
  double base = 10000;                           // 2^-1000..2^1000
  PairLayout layout = PairLayout::kInterleaved;  // rope
  double slope = 0;                              // alibi: |slope| <= 1e6
  bool causal = false;                           // alibi, t5: cells with x > y are outside the map
  T5Config t5 = {};                              // num_buckets <= 2^12
  std::span<const double> biases = {};           // t5: (num_buckets) of one head, within 1e6 of 0, or none
};
const char* invalid(const TileConfig& config);

// Pixel (px, py) covers the cells from x0 + px * cells_x and y0 + py * cells_y on.
struct TileView {
  double x0 = 0, y0 = 0;         // whole numbers, 0..2^31
  int cells_x = 1, cells_y = 1;  // under a pixel, 1..2^20
  int width = 0, height = 0;     // in pixels, >= 1, width * height <= 2^24
};
const char* invalid(const TileView& view);

// What a map needs before its tiles: plan, tile_plan_size(config) doubles, all of them computed once. Returns
// how many of them are in use.
int tile_plan_size(const TileConfig& config);
int tile_plan(std::span<double> plan, const TileConfig& config);

// values (height, width): the mean of the cells under each pixel that are inside the map, NaN where none is.
// The cost does not depend on cells_x; it grows with cells_y only for sinusoidal and rope, as the number of
// their rows in view. Error kTileError * |mean| + kTileMeanError * max(1, largest |cell| under the pixel). plan
// as tile_plan made it, cut to its use; scratch: tile_scratch(config) doubles.
void tile_values(std::span<float> values, std::span<double> scratch, std::span<const double> plan,
                 const TileConfig& config, const TileView& view);
int tile_scratch(const TileConfig& config);

struct TileColors {
  std::span<const uint32_t> lut;  // (256)
  double vmin = -1, vmax = 1;     // ends of the map, as ColormapConfig
  uint32_t outside = 0;           // pixel where no cell of the map is
};
const char* invalid(const TileColors& colors);
// rgba (height, width): the values as colormap shows them, but that the index is computed in float, from vmin
// and 256/(vmax-vmin) as floats: next to the edge of a colour it may be that of the neighbour. row: width
// floats.
void tile_pixels(std::span<uint32_t> rgba, std::span<float> row, std::span<double> scratch,
                 std::span<const double> plan, const TileColors& colors, const TileConfig& config,
                 const TileView& view);

}  // namespace posenc
