// The core for JavaScript: each function is one call, data in, data out.
//
// Typed arrays are copied in and copied out, so that no view of WebAssembly memory outlives a call (after the
// memory grows such a view has length 0). A call returns its result, or a string: the sentence that says why
// there is none. Names become camelCase here and nowhere else. Kinds are checked before, in posenc.ts: Embind
// truncates 8.9 to 8. A tile map is the exception: a number stands for it, and its pixels stay where they are,
// to be drawn sixty times a second. posenc.ts looks after both.
#include "boundary.hpp"
#include "posenc.hpp"

namespace posenc {
namespace {

// Null, or why so many cosines are not computed in one call.
const char* too_many(size_t rows, size_t pairs) {
  if (pairs > 1 << 24) return "inv_freq must have at most 2^24 entries";
  if (static_cast<double>(rows) * static_cast<double>(pairs) <= kMaxCells) return nullptr;
  return "positions or offsets times inv_freq must be at most 2^28 cells";
}

template <class Config>
const char* refusal(const Config& config, double bytes) {
  if (const char* text = too_large(bytes)) return text;
  return invalid(config);
}

val cos_sin(const val& cos, const val& sin) {
  val result = val::object();
  result.set("cos", cos);
  result.set("sin", sin);
  return result;
}

double product(std::initializer_list<int> factors) {
  double result = 1;
  for (const int factor : factors) result *= factor;
  return result;
}

val missing_row(int index, std::span<const int32_t> ids, int rows) {
  const int32_t id = ids[static_cast<size_t>(index)];
  return val((Sentence() << "row " << id << " does not exist: the table has rows 0 to " << rows - 1 << " (ids["
                         << index << "])")
                 .text());
}

// ------------------------------------------------------------------------------------------------ sinusoidal

val sinusoidal_table_js(const SinusoidalConfig& config) {
  const double cells = product({config.seq_len, config.d_model});
  if (const char* text = refusal(config, 4 * cells)) return val(text);
  Memory memory;
  const auto table = memory.take<float>(cells);
  const auto scratch = memory.take<double>(sinusoidal_scratch(config));
  if (memory.refused()) return memory.refusal();
  sinusoidal_table(table, scratch, config);
  return copy_out(table);
}

val sinusoidal_rows_js(const val& positions_js, const SinusoidalConfig& config) {
  const double cells = positions_js["length"].as<double>() * config.d_model;
  if (const char* text = refusal(config, 8 * cells)) return val(text);
  Memory memory;
  const auto positions = memory.copy<double>(positions_js);
  const auto rows = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  sinusoidal_rows(rows, positions, config);
  return copy_out(rows);
}

val sinusoidal_inv_freq_js(const SinusoidalConfig& config) {
  if (const char* text = refusal(config, 0)) return val(text);
  Memory memory;
  const auto inv_freq = memory.take<double>(sinusoidal_pairs(config));
  if (memory.refused()) return memory.refusal();
  sinusoidal_inv_freq(inv_freq, config);
  return copy_out(inv_freq);
}

val shift_matrices_js(const val& inv_freq_js, double k) {
  Memory memory;
  const auto inv_freq = memory.copy<double>(inv_freq_js);
  const auto matrices = memory.take<double>(4 * static_cast<double>(inv_freq.size()));
  if (memory.refused()) return memory.refusal();
  shift_matrices(matrices, inv_freq, k);
  return copy_out(matrices);
}

val dot_by_offset_js(const val& offsets_js, const val& inv_freq_js) {
  Memory memory;
  const auto offsets = memory.copy<double>(offsets_js), inv_freq = memory.copy<double>(inv_freq_js);
  if (const char* text = too_many(offsets.size(), inv_freq.size())) return val(text);
  const auto dot = memory.take<double>(static_cast<double>(offsets.size()));
  if (memory.refused()) return memory.refusal();
  dot_by_offset(dot, offsets, inv_freq);
  return copy_out(dot);
}

template <class T>
val similarity_js(const val& table_js, int rows, int cols) {
  const double cells = product({rows, rows});
  if (const char* text = too_large(cells * sizeof(T))) return val(text);
  Memory memory;
  const auto table = memory.copy<T>(table_js);
  const auto out = memory.take<T>(cells);
  if constexpr (sizeof(T) == sizeof(float)) {
    const auto scratch = memory.take<float>(similarity_scratch(cols));
    if (memory.refused()) return memory.refusal();
    similarity(out, scratch, std::span<const float>(table), rows, cols);
  } else {
    if (memory.refused()) return memory.refusal();
    similarity(out, std::span<const double>(table), rows, cols);
  }
  return copy_out(out);
}

val sinusoidal_similarity_js(const SinusoidalConfig& config) {
  const double cells = product({config.seq_len, config.seq_len});
  if (const char* text = refusal(config, 4 * cells)) return val(text);
  if (const char* text = invalid_similarity(config)) return val(text);
  Memory memory;
  const auto out = memory.take<float>(cells);
  const auto scratch = memory.take<double>(sinusoidal_similarity_scratch(config));
  if (memory.refused()) return memory.refusal();
  sinusoidal_similarity(out, scratch, config);
  return copy_out(out);
}

// ------------------------------------------------------------------------------------------- embedding layer

template <class T>
val lookup_rows_js(const val& table_js, const val& ids_js, int rows, int cols) {
  const double cells = ids_js["length"].as<double>() * cols;
  if (const char* text = too_large(cells * sizeof(T))) return val(text);
  Memory memory;
  const auto table = memory.copy<T>(table_js);
  const auto ids = memory.copy<int32_t>(ids_js);
  const auto out = memory.take<T>(cells);
  if (memory.refused()) return memory.refusal();
  const int missing = lookup_rows(out, std::span<const T>(table), ids, rows, cols);
  return missing == kAllRowsFound ? copy_out(out) : missing_row(missing, ids, rows);
}

val embed_js(const val& token_ids_js, const val& token_table_js, const val& position_table_js,
             const EmbeddingConfig& config) {
  const double cells = product({config.batch, config.seq_len, config.d_model});
  if (const char* text = refusal(config, 4 * cells)) return val(text);
  Memory memory;
  const auto token_ids = memory.copy<int32_t>(token_ids_js);
  const auto token_table = memory.copy<float>(token_table_js),
             position_table = memory.copy<float>(position_table_js);
  const auto out = memory.take<float>(cells);
  if (memory.refused()) return memory.refusal();
  const int missing = embed(out, token_ids, token_table, position_table, config);
  return missing == kAllRowsFound ? copy_out(out) : missing_row(missing, token_ids, config.vocab_size);
}

// ------------------------------------------------------------------------------------------------------ RoPE

val rope_inv_freq_js(RopeConfig config, const val& short_factor, const val& long_factor, double seq_len) {
  Memory memory;
  config.short_factor = memory.copy<double>(short_factor);
  config.long_factor = memory.copy<double>(long_factor);
  if (memory.refused()) return memory.refusal();
  if (const char* text = refusal(config, 4.0 * config.rotary_dim)) return val(text);
  if (const char* text = invalid(config, seq_len)) return val(text);
  const auto inv_freq = memory.take<double>(0.5 * config.rotary_dim);
  if (memory.refused()) return memory.refusal();
  val result = val::object();
  result.set("attentionFactor", rope_inv_freq(inv_freq, config, seq_len));
  result.set("invFreq", copy_out(inv_freq));
  return result;
}

val dynamic_seq_len_js(RopeConfig config, double cached_seq_len, double seq_len) {
  config.rope_type = RopeType::kDynamic;
  if (const char* text = invalid(config)) return val(text);
  return val(dynamic_seq_len(config, cached_seq_len, seq_len));
}

val yarn_correction_range_js(RopeConfig config) {
  config.rope_type = RopeType::kYarn;
  if (const char* text = invalid(config)) return val(text);
  const YarnRange range = yarn_correction_range(config);
  val result = val::object();
  result.set("low", range.low);
  result.set("high", range.high);
  return result;
}

val rope_cos_sin_js(const val& positions_js, const val& inv_freq_js, double attention_factor) {
  Memory memory;
  const auto positions = memory.copy<double>(positions_js), inv_freq = memory.copy<double>(inv_freq_js);
  const double cells = static_cast<double>(positions.size()) * static_cast<double>(inv_freq.size());
  if (const char* text = too_large(16 * cells)) return val(text);
  const auto cos = memory.take<double>(cells), sin = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  rope_cos_sin(cos, sin, positions, inv_freq, attention_factor);
  return cos_sin(copy_out(cos), copy_out(sin));
}

val rope_cache_js(int seq_len, double first_position, const val& inv_freq_js, double attention_factor) {
  Memory memory;
  const auto inv_freq = memory.copy<double>(inv_freq_js);
  if (const char* text = too_many(static_cast<size_t>(seq_len), inv_freq.size())) return val(text);
  const double cells = static_cast<double>(seq_len) * static_cast<double>(inv_freq.size());
  if (const char* text = too_large(8 * cells)) return val(text);
  const auto cos = memory.take<float>(cells), sin = memory.take<float>(cells);
  const auto scratch = memory.take<double>(rope_scratch(static_cast<int>(inv_freq.size())));
  if (memory.refused()) return memory.refusal();
  rope_cache(cos, sin, scratch, seq_len, first_position, inv_freq, attention_factor);
  return cos_sin(copy_out(cos), copy_out(sin));
}

val mrope_axes_js(const val& sections_js, int pairs, MropeLayout layout) {
  Memory memory;
  const auto sections = memory.copy<int32_t>(sections_js);
  if (const char* text = invalid_mrope(sections, pairs)) return val(text);
  const auto axis = memory.take<int32_t>(pairs);
  if (memory.refused()) return memory.refusal();
  mrope_axes(axis, sections, layout);
  return copy_out(axis);
}

val mrope_cos_sin_js(const val& positions_js, const val& axis_js, const val& inv_freq_js,
                     double attention_factor) {
  Memory memory;
  const auto positions = memory.copy<double>(positions_js), inv_freq = memory.copy<double>(inv_freq_js);
  const auto axis = memory.copy<int32_t>(axis_js);
  const double cells = static_cast<double>(positions.size()) / 3 * static_cast<double>(inv_freq.size());
  const auto cos = memory.take<double>(cells), sin = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  mrope_cos_sin(cos, sin, positions, axis, inv_freq, attention_factor);
  return cos_sin(copy_out(cos), copy_out(sin));
}

template <class T>
val rope_apply_js(const val& x_js, const val& cos_js, const val& sin_js, const RopeShape& shape) {
  if (const char* text = refusal(shape, 0)) return val(text);
  Memory memory;
  const auto x = memory.copy<T>(x_js), cos = memory.copy<T>(cos_js), sin = memory.copy<T>(sin_js);
  if (memory.refused()) return memory.refusal();
  rope_apply(x, x, cos, sin, shape);
  return copy_out(x);
}

val half_from_interleaved_js(const RopeShape& shape) {
  if (const char* text = refusal(shape, 0)) return val(text);
  Memory memory;
  const auto row_index = memory.take<int32_t>(product({shape.num_heads, shape.head_dim}));
  if (memory.refused()) return memory.refusal();
  half_from_interleaved(row_index, shape);
  return copy_out(row_index);
}

val rope_score_by_offset_js(const val& offsets_js, const val& q_js, const val& k_js, const val& inv_freq_js) {
  Memory memory;
  const auto offsets = memory.copy<double>(offsets_js), q = memory.copy<double>(q_js),
             k = memory.copy<double>(k_js);
  const auto inv_freq = memory.copy<double>(inv_freq_js);
  if (const char* text = too_many(offsets.size(), inv_freq.size())) return val(text);
  const auto score = memory.take<double>(static_cast<double>(offsets.size()));
  if (memory.refused()) return memory.refusal();
  rope_score_by_offset(score, offsets, q, k, inv_freq);
  return copy_out(score);
}

// ------------------------------------------------------------------------------------------------- ALiBi, T5

val alibi_slopes_js(const AlibiConfig& config) {
  if (const char* text = refusal(config, 8.0 * config.num_heads)) return val(text);
  Memory memory;
  const auto slopes = memory.take<double>(config.num_heads);
  if (memory.refused()) return memory.refusal();
  alibi_slopes(slopes, config);
  return copy_out(slopes);
}

val alibi_bias_js(const val& slopes_js, int seq_len, bool causal) {
  Memory memory;
  const auto slopes = memory.copy<double>(slopes_js);
  const double cells = static_cast<double>(slopes.size()) * product({seq_len, seq_len});
  if (const char* text = too_large(8 * cells)) return val(text);
  const auto bias = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  alibi_bias(bias, slopes, seq_len, causal);
  return copy_out(bias);
}

val t5_buckets_js(const val& relative_positions, const T5Config& config) {
  if (const char* text = refusal(config, 0)) return val(text);
  Memory memory;
  const auto buckets = memory.copy<int32_t>(relative_positions);
  if (memory.refused()) return memory.refusal();
  for (int32_t& entry : buckets) entry = t5_relative_position_bucket(entry, config);
  return copy_out(buckets);
}

val t5_bias_js(const val& table_js, int num_heads, int q_len, int k_len, const T5Config& config) {
  const double cells = product({num_heads, q_len, k_len});
  if (const char* text = refusal(config, 8 * cells)) return val(text);
  Memory memory;
  const auto table = memory.copy<double>(table_js);
  const auto bias = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  t5_bias(bias, table, num_heads, q_len, k_len, config);
  return copy_out(bias);
}

// ------------------------------------------------------------------------------------------------- attention

val attention_f32_js(const val& q_js, const val& k_js, const val& v_js, const val& bias_js,
                     const AttentionConfig& config) {
  const double map = product({config.num_heads, config.seq_len, config.seq_len});
  if (const char* text = refusal(config, 4 * map)) return val(text);
  Memory memory;
  const auto q = memory.copy<float>(q_js), k = memory.copy<float>(k_js), v = memory.copy<float>(v_js);
  const auto bias = memory.copy<float>(bias_js);
  const auto output = memory.take<float>(static_cast<double>(q.size()));
  const auto weights = memory.take<float>(map);
  const auto scratch = memory.take<float>(attention_scratch(config));
  if (memory.refused()) return memory.refusal();
  attention(output, weights, scratch, q, k, v, bias, config);
  val result = val::object();
  result.set("output", copy_out(output));
  result.set("weights", copy_out(weights));
  return result;
}

// What attention gives: output, weights, logits.
val attention_result(std::span<const double> output, std::span<const double> weights,
                     std::span<const double> logits) {
  val result = val::object();
  result.set("output", copy_out(output));
  result.set("weights", copy_out(weights));
  result.set("logits", copy_out(logits));
  return result;
}

val attention_f64_js(const val& q_js, const val& k_js, const val& v_js, const val& bias_js,
                     const AttentionConfig& config) {
  const double map = product({config.num_heads, config.seq_len, config.seq_len});
  if (const char* text = refusal(config, 16 * map)) return val(text);
  Memory memory;
  const auto q = memory.copy<double>(q_js), k = memory.copy<double>(k_js), v = memory.copy<double>(v_js);
  const auto bias = memory.copy<double>(bias_js);
  const auto output = memory.take<double>(static_cast<double>(q.size()));
  const auto weights = memory.take<double>(map), logits = memory.take<double>(map);
  if (memory.refused()) return memory.refusal();
  attention(output, weights, logits, q, k, v, bias, config);
  return attention_result(output, weights, logits);
}

// layer_js: { wQ, wK, wV, wO, positions, t5Table }. With a permutation the layers also run on the permuted
// rows.
val self_attention_js(const val& x_js, const val& layer_js, const val& permutation_js,
                      const LayerConfig& config) {
  const double map = product({config.num_layers, config.num_heads, config.seq_len, config.seq_len});
  if (const char* text = refusal(config, 32 * map)) return val(text);
  Memory memory;
  const auto x = memory.copy<double>(x_js);
  const auto read = [&](const char* name) { return memory.copy<double>(layer_js[name]); };
  const LayerWeights layer{read("wQ"), read("wK"), read("wV"), read("wO"), read("positions"), read("t5Table")};
  const auto permutation = memory.copy<int32_t>(permutation_js);
  const auto cells = static_cast<double>(x.size());
  const auto output = memory.take<double>(cells), weights = memory.take<double>(map),
             logits = memory.take<double>(map);
  const auto scratch = memory.take<double>(layer_scratch(config));
  const auto permuted = memory.take<double>(cells), permuted_output = memory.take<double>(cells);
  if (memory.refused()) return memory.refusal();
  self_attention(output, weights, logits, scratch, x, layer, config);
  val result = attention_result(output, weights, logits);
  if (!permutation.empty()) {
    lookup_rows(permuted, std::span<const double>(x), permutation, config.seq_len, config.d_model);
    self_attention(permuted_output, weights, logits, scratch, permuted, layer, config);
    const OrderDifference difference = order_difference(output, permuted_output, permutation, config.d_model);
    result.set("permuted", attention_result(permuted_output, weights, logits));
    result.set("equivariance", difference.equivariance);
    result.set("pooled", difference.pooled);
  }
  return result;
}

val cross_terms_js(const val& x_js, const val& p_js, const val& w_q_js, const val& w_k_js, int seq_len,
                   int d_model, int head_dim, double scale) {
  const double cells = 4 * product({seq_len, seq_len});
  if (const char* text = too_large(8 * cells)) return val(text);
  Memory memory;
  const auto x = memory.copy<double>(x_js), p = memory.copy<double>(p_js);
  const auto w_q = memory.copy<double>(w_q_js), w_k = memory.copy<double>(w_k_js);
  const auto terms = memory.take<double>(cells),
             scratch = memory.take<double>(4 * product({seq_len, head_dim}));
  if (memory.refused()) return memory.refusal();
  cross_terms(terms, scratch, x, p, w_q, w_k, seq_len, d_model, head_dim, scale);
  return copy_out(terms);
}

val random_normal_js(double count, double seed, double sigma) {
  if (const char* text = too_large(8 * count)) return val(text);
  Memory memory;
  const auto out = memory.take<double>(count);
  if (memory.refused()) return memory.refusal();
  random_normal(out, static_cast<uint32_t>(seed), sigma);
  return copy_out(out);
}

// ---------------------------------------------------------------------------------------- precision, drawing

val round_to_js(const val& values_js, FloatFormat format) {
  Memory memory;
  const auto values = memory.copy<double>(values_js);
  if (memory.refused()) return memory.refusal();
  for (double& value : values) value = round_to(value, format);
  return copy_out(values);
}

val rope_format_errors_js(const val& positions_js, const val& inv_freq_js, FloatFormat format,
                          const RoundedSteps& rounded) {
  Memory memory;
  const auto positions = memory.copy<double>(positions_js), inv_freq = memory.copy<double>(inv_freq_js);
  if (const char* text = too_many(positions.size(), inv_freq.size())) return val(text);
  const auto error = memory.take<double>(static_cast<double>(positions.size()));
  if (memory.refused()) return memory.refusal();
  rope_format_errors(error, positions, inv_freq, format, rounded);
  return copy_out(error);
}

val fill_lut_js(const val& stops_js) {
  Memory memory;
  std::span<const uint8_t> stops = memory.copy<uint8_t>(stops_js);
  if (memory.refused()) return memory.refusal();
  uint32_t lut[kLutSize];
  fill_lut(lut, stops.empty() ? rdbu_stops() : stops);
  return copy_out(std::span<const uint32_t>(lut));
}

// Into pixels_js, a Uint8ClampedArray, unless it is null.
val colormap_js(const val& values_js, const val& lut_js, const val& pixels_js, const ColormapConfig& config) {
  const double pixels = product({config.width, config.height});
  if (const char* text = refusal(config, 4 * pixels)) return val(text);
  Memory memory;
  const auto values = memory.copy<float>(values_js);
  const auto lut = memory.copy<uint32_t>(lut_js);
  const auto rgba = memory.take<uint32_t>(pixels);
  const auto scratch = memory.take<double>(colormap_scratch(config));
  if (memory.refused()) return memory.refusal();
  colormap(rgba, scratch, values, lut, config);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(rgba.data()), 4 * rgba.size());
  if (pixels_js.isNull()) return copy_as("Uint8ClampedArray", bytes);
  pixels_js.call<void>("set", typed_memory_view(bytes.size(), bytes.data()));
  return pixels_js;
}

// ----------------------------------------------------------------------------------------------------- tiles

using Handle = uint32_t;

// A map and its buffers: plan and scratch behind it in one block, and the largest frame so far.
struct Tile {
  TileConfig config;
  TileColors colors;
  std::span<double> plan, scratch;
  uint32_t lut[kLutSize];
  uint32_t* frame;  // pixels, then a row of floats
  size_t frame_size;
};

Tile& tile_of(Handle handle) {
  return *reinterpret_cast<Tile*>(uintptr_t{handle});  // NOLINT(performance-no-int-to-ptr): an address
}

val open_tile_js(TileMap map, double seq_len, int dims, double base, PairLayout layout, double slope,
                 bool causal, const T5Config& t5, const val& biases_js) {
  Memory memory;
  TileConfig config{map, seq_len, dims, base, layout, slope, causal, t5, memory.copy<double>(biases_js)};
  if (memory.refused()) return memory.refusal();
  if (const char* text = invalid(config)) return val(text);
  const auto plan = static_cast<size_t>(tile_plan_size(config)),
             scratch = static_cast<size_t>(tile_scratch(config));
  const size_t bytes = sizeof(Tile) + sizeof(double) * (plan + scratch);
  auto* tile = static_cast<Tile*>(std::calloc(bytes, 1));
  if (!tile) return refused_bytes(static_cast<double>(bytes));
  auto* doubles = reinterpret_cast<double*>(tile + 1);
  const int used = tile_plan({doubles, plan}, config);
  config.biases = {};  // in the plan
  tile->config = config;
  tile->plan = {doubles, static_cast<size_t>(used)};
  tile->scratch = {doubles + plan, scratch};
  fill_lut(tile->lut, rdbu_stops());
  tile->colors = {.lut = tile->lut};
  return val(static_cast<Handle>(reinterpret_cast<uintptr_t>(tile)));
}

void free_tile_js(Handle handle) {
  std::free(tile_of(handle).frame);
  std::free(&tile_of(handle));
}

val color_tile_js(Handle handle, const val& lut_js, double vmin, double vmax, double outside) {
  Memory memory;
  const std::span<const uint32_t> lut = memory.copy<uint32_t>(lut_js);
  if (memory.refused()) return memory.refusal();
  const TileColors colors{lut, vmin, vmax, static_cast<uint32_t>(outside)};
  if (const char* text = invalid(colors)) return val(text);
  Tile& tile = tile_of(handle);
  std::copy(lut.begin(), lut.end(), tile.lut);
  tile.colors = {tile.lut, vmin, vmax, colors.outside};
  return val::undefined();
}

val draw_tile_js(Handle handle, double x0, double y0, int cells_x, int cells_y, int width, int height) {
  const TileView view{x0, y0, cells_x, cells_y, width, height};
  if (const char* text = invalid(view)) return val(text);
  Tile& tile = tile_of(handle);
  const auto row = static_cast<size_t>(width), pixels = row * static_cast<size_t>(height);
  if (tile.frame_size < pixels + row) {
    std::free(tile.frame);
    tile.frame_size = pixels + row;
    tile.frame = static_cast<uint32_t*>(std::malloc(sizeof(uint32_t) * tile.frame_size));
    if (!tile.frame) {
      tile.frame_size = 0;
      return refused_bytes(sizeof(uint32_t) * static_cast<double>(pixels + row));
    }
  }
  tile_pixels({tile.frame, pixels}, {reinterpret_cast<float*>(tile.frame + pixels), row}, tile.scratch,
              tile.plan, tile.colors, tile.config, view);
  return val::undefined();
}

// The pixels of the last frame as they lie: a view, which growing memory empties.
val tile_pixels_js(Handle handle, int pixels) {
  return val(typed_memory_view(4 * static_cast<size_t>(pixels),
                               reinterpret_cast<const uint8_t*>(tile_of(handle).frame)));
}

val tile_values_js(Handle handle, double x0, double y0, int cells_x, int cells_y, int width, int height) {
  const TileView view{x0, y0, cells_x, cells_y, width, height};
  if (const char* text = refusal(view, 0)) return val(text);
  Memory memory;
  const auto values = memory.take<float>(product({width, height}));
  if (memory.refused()) return memory.refusal();
  const Tile& tile = tile_of(handle);
  tile_values(values, tile.scratch, tile.plan, tile.config, view);
  return copy_out(values);
}

}  // namespace

EMSCRIPTEN_BINDINGS(posenc) {
  using emscripten::enum_;
  using emscripten::function;
  using emscripten::value_object;

  enum_<SinusoidalLayout>("SinusoidalLayout")
      .value("interleaved", SinusoidalLayout::kInterleaved)
      .value("halves", SinusoidalLayout::kHalves)
      .value("halves-minus-one", SinusoidalLayout::kHalvesMinusOne);
  enum_<PairLayout>("PairLayout")
      .value("interleaved", PairLayout::kInterleaved)
      .value("half", PairLayout::kHalf);
  enum_<RopeType>("RopeType")
      .value("default", RopeType::kDefault)
      .value("linear", RopeType::kLinear)
      .value("ntk", RopeType::kNtk)
      .value("dynamic", RopeType::kDynamic)
      .value("yarn", RopeType::kYarn)
      .value("longrope", RopeType::kLongrope)
      .value("llama3", RopeType::kLlama3)
      .value("proportional", RopeType::kProportional);
  enum_<MropeLayout>("MropeLayout")
      .value("chunked", MropeLayout::kChunked)
      .value("interleaved", MropeLayout::kInterleaved);
  enum_<Encoding>("Encoding")
      .value("none", Encoding::kNone)
      .value("sinusoidal", Encoding::kSinusoidal)
      .value("learned", Encoding::kLearned)
      .value("rope", Encoding::kRope)
      .value("alibi", Encoding::kAlibi)
      .value("t5", Encoding::kT5);
  enum_<FloatFormat>("FloatFormat")
      .value("float32", FloatFormat::kFloat32)
      .value("bfloat16", FloatFormat::kBfloat16)
      .value("float16", FloatFormat::kFloat16);
  enum_<TileMap>("TileMap")
      .value("sinusoidal", TileMap::kSinusoidal)
      .value("rope-cos", TileMap::kRopeCos)
      .value("rope-sin", TileMap::kRopeSin)
      .value("alibi", TileMap::kAlibi)
      .value("t5", TileMap::kT5);

  value_object<SinusoidalConfig>("SinusoidalConfig")
      .field("seqLen", &SinusoidalConfig::seq_len)
      .field("dModel", &SinusoidalConfig::d_model)
      .field("base", &SinusoidalConfig::base)
      .field("firstPosition", &SinusoidalConfig::first_position)
      .field("positionStep", &SinusoidalConfig::position_step)
      .field("layout", &SinusoidalConfig::layout);
  value_object<EmbeddingConfig>("EmbeddingConfig")
      .field("batch", &EmbeddingConfig::batch)
      .field("seqLen", &EmbeddingConfig::seq_len)
      .field("vocabSize", &EmbeddingConfig::vocab_size)
      .field("dModel", &EmbeddingConfig::d_model)
      .field("positionRows", &EmbeddingConfig::position_rows)
      .field("scaleBySqrtDModel", &EmbeddingConfig::scale_by_sqrt_d_model);
  value_object<RopeConfig>("RopeConfig")
      .field("headDim", &RopeConfig::head_dim)
      .field("rotaryDim", &RopeConfig::rotary_dim)
      .field("ropeTheta", &RopeConfig::rope_theta)
      .field("ropeType", &RopeConfig::rope_type)
      .field("factor", &RopeConfig::factor)
      .field("originalMaxPositionEmbeddings", &RopeConfig::original_max_position_embeddings)
      .field("attentionFactor", &RopeConfig::attention_factor)
      .field("betaFast", &RopeConfig::beta_fast)
      .field("betaSlow", &RopeConfig::beta_slow)
      .field("truncate", &RopeConfig::truncate)
      .field("mscale", &RopeConfig::mscale)
      .field("mscaleAllDim", &RopeConfig::mscale_all_dim)
      .field("lowFreqFactor", &RopeConfig::low_freq_factor)
      .field("highFreqFactor", &RopeConfig::high_freq_factor)
      .field("partialRotaryFactor", &RopeConfig::partial_rotary_factor)
      .field("frequencyDim", &RopeConfig::frequency_dim);
  value_object<RopeShape>("RopeShape")
      .field("numHeads", &RopeShape::num_heads)
      .field("seqLen", &RopeShape::seq_len)
      .field("headDim", &RopeShape::head_dim)
      .field("rotaryDim", &RopeShape::rotary_dim)
      .field("layout", &RopeShape::layout);
  value_object<AlibiConfig>("AlibiConfig")
      .field("numHeads", &AlibiConfig::num_heads)
      .field("alibiBiasMax", &AlibiConfig::alibi_bias_max);
  value_object<T5Config>("T5Config")
      .field("numBuckets", &T5Config::num_buckets)
      .field("maxDistance", &T5Config::max_distance)
      .field("bidirectional", &T5Config::bidirectional);
  value_object<AttentionConfig>("AttentionConfig")
      .field("numHeads", &AttentionConfig::num_heads)
      .field("seqLen", &AttentionConfig::seq_len)
      .field("headDim", &AttentionConfig::head_dim)
      .field("scale", &AttentionConfig::scale)
      .field("causal", &AttentionConfig::causal);
  value_object<LayerConfig>("LayerConfig")
      .field("seqLen", &LayerConfig::seq_len)
      .field("dModel", &LayerConfig::d_model)
      .field("numHeads", &LayerConfig::num_heads)
      .field("numLayers", &LayerConfig::num_layers)
      .field("encoding", &LayerConfig::encoding)
      .field("causal", &LayerConfig::causal)
      .field("base", &LayerConfig::base)
      .field("layout", &LayerConfig::layout)
      .field("alibiBiasMax", &LayerConfig::alibi_bias_max)
      .field("t5", &LayerConfig::t5);
  value_object<RoundedSteps>("RoundedSteps")
      .field("position", &RoundedSteps::position)
      .field("invFreq", &RoundedSteps::inv_freq)
      .field("angle", &RoundedSteps::angle)
      .field("result", &RoundedSteps::result);
  value_object<ColormapConfig>("ColormapConfig")
      .field("rows", &ColormapConfig::rows)
      .field("cols", &ColormapConfig::cols)
      .field("width", &ColormapConfig::width)
      .field("height", &ColormapConfig::height)
      .field("firstRow", &ColormapConfig::first_row)
      .field("firstCol", &ColormapConfig::first_col)
      .field("numRows", &ColormapConfig::num_rows)
      .field("numCols", &ColormapConfig::num_cols)
      .field("vmin", &ColormapConfig::vmin)
      .field("vmax", &ColormapConfig::vmax)
      .field("transpose", &ColormapConfig::transpose);

  function("sinusoidalTable", &sinusoidal_table_js);
  function("sinusoidalRows", &sinusoidal_rows_js);
  function("sinusoidalInvFreq", &sinusoidal_inv_freq_js);
  function("shiftMatrices", &shift_matrices_js);
  function("dotByOffset", &dot_by_offset_js);
  function("sinusoidalSimilarity", &sinusoidal_similarity_js);
  function("similarityF32", &similarity_js<float>);
  function("similarityF64", &similarity_js<double>);
  function("lookupRowsF32", &lookup_rows_js<float>);
  function("lookupRowsF64", &lookup_rows_js<double>);
  function("embed", &embed_js);
  function("ropeInvFreq", &rope_inv_freq_js);
  function("dynamicSeqLen", &dynamic_seq_len_js);
  function("yarnCorrectionRange", &yarn_correction_range_js);
  function("yarnMscale", &yarn_mscale);
  function("longropeAttentionFactor", &longrope_attention_factor);
  function("ropeCosSin", &rope_cos_sin_js);
  function("ropeCache", &rope_cache_js);
  function("mropeAxes", &mrope_axes_js);
  function("mropeCosSin", &mrope_cos_sin_js);
  function("ropeApplyF32", &rope_apply_js<float>);
  function("ropeApplyF64", &rope_apply_js<double>);
  function("halfFromInterleaved", &half_from_interleaved_js);
  function("ropeScoreByOffset", &rope_score_by_offset_js);
  function("alibiSlopes", &alibi_slopes_js);
  function("alibiBias", &alibi_bias_js);
  function("t5Buckets", &t5_buckets_js);
  function("t5Bias", &t5_bias_js);
  function("attentionF32", &attention_f32_js);
  function("attentionF64", &attention_f64_js);
  function("selfAttention", &self_attention_js);
  function("crossTerms", &cross_terms_js);
  function("randomNormal", &random_normal_js);
  function("roundTo", &round_to_js);
  function("ropeFormatErrors", &rope_format_errors_js);
  function("fillLut", &fill_lut_js);
  function("colormap", &colormap_js);
  function("openTile", &open_tile_js);
  function("freeTile", &free_tile_js);
  function("colorTile", &color_tile_js);
  function("drawTile", &draw_tile_js);
  function("tilePixels", &tile_pixels_js);
  function("tileValues", &tile_values_js);
}

}  // namespace posenc
