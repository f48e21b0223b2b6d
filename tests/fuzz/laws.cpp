#include "laws.hpp"

#include <algorithm>
#include <cmath>

#include "posenc.hpp"
#include "train/train.hpp"

using namespace posenc;

namespace test {
namespace {

constexpr double kMaxWork = 1 << 14;  // cells of an input that is worth its time

bool finite(std::span<const double> x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}
bool within(std::span<const float> x, double least, double most) {
  return std::all_of(x.begin(), x.end(), [&](float v) { return v >= least && v <= most; });
}
size_t cells(int a, int b = 1, int c = 1) {
  return static_cast<size_t>(a) * static_cast<size_t>(b) * static_cast<size_t>(c);
}
std::vector<float> floats(Hostile& from, size_t count) {
  std::vector<float> list(count);
  for (float& x : list) x = static_cast<float>(std::clamp(from.number(), -1e30, 1e30));
  return list;
}

// Tables are sines and cosines: every row that `invalid` allows can be computed, in float as in double.
void sinusoidal(Hostile& from) {
  SinusoidalConfig config{from.size(40),           from.size(40),
                          from.number_near(10000), from.number_near(0),
                          from.number_near(1),     from.one_of(SinusoidalLayout::kHalvesMinusOne)};
  if (invalid(config) || 1.0 * config.seq_len * config.d_model > kMaxWork) return;
  std::vector<double> inv_freq(cells(sinusoidal_pairs(config)));
  sinusoidal_inv_freq(inv_freq, config);
  LAW(std::all_of(inv_freq.begin(), inv_freq.end(), [](double w) { return w > 0 && std::isfinite(w); }));
  LAW(inv_freq.empty() || inv_freq[0] == 1);

  const size_t size = cells(config.seq_len, config.d_model);
  std::vector<float> table(size);
  std::vector<double> scratch(cells(sinusoidal_scratch(config)));
  sinusoidal_table(table, scratch, config);
  LAW(within(table, -1, 1));

  const double last = config.first_position + (config.seq_len - 1) * config.position_step;
  const double farthest = std::max(std::fabs(config.first_position), std::fabs(last));
  if (config.base >= 1 && farthest <= 0x1p24) {
    std::vector<double> positions(cells(config.seq_len)), rows(size);
    for (size_t t = 0; t < positions.size(); ++t)
      positions[t] = config.first_position + static_cast<double>(t) * config.position_step;
    sinusoidal_rows(rows, positions, config);
    for (size_t i = 0; i < size; ++i)
      LAW(std::fabs(rows[i] - table[i]) <= kFarTableError + 2 * rows_error(farthest));
  }
  if (invalid_similarity(config)) return;
  std::vector<float> similar(cells(config.seq_len, config.seq_len));
  scratch.resize(cells(sinusoidal_similarity_scratch(config)));
  sinusoidal_similarity(similar, scratch, config);
  const double pairs = sinusoidal_pairs(config);
  LAW(within(similar, -pairs * (1 + 1e-6), pairs * (1 + 1e-6)));
  if (config.base >= 1 && 50 * std::fabs(config.position_step) <= 1e6)
    LAW(std::fabs(similar[0] - pairs) <= kToeplitzError * pairs);
}

// Every rope_type: frequencies above 0 (or standing still), finite, and none faster than before; tables of them
// are sines and cosines; and the rotation by them leaves norms.
void rope(Hostile& from) {
  RopeConfig config{.head_dim = from.size(40)};
  config.rotary_dim = from.coin() ? config.head_dim : from.size(40);
  config.rope_theta = from.number_near(10000);
  config.rope_type = from.one_of(RopeType::kProportional);
  config.factor = from.number_near(4);
  config.original_max_position_embeddings = from.number_near(4096);
  config.attention_factor = from.number_near(kFromFormula);
  config.beta_fast = from.number_near(32);
  config.beta_slow = from.number_near(1);
  config.truncate = from.coin();
  config.mscale = from.number_near(kFromFormula);
  config.mscale_all_dim = from.number_near(kFromFormula);
  config.low_freq_factor = from.number_near(1);
  config.high_freq_factor = from.number_near(4);
  config.partial_rotary_factor = from.number_near(1);
  config.frequency_dim = from.coin() ? 0 : from.size(40);
  const double seq_len = from.number_near(0);
  const auto pairs = static_cast<size_t>(std::clamp(config.rotary_dim / 2, 0, 64));
  const std::vector<double> divisors =
      config.rope_type == RopeType::kLongrope ? from.numbers(2 * pairs) : std::vector<double>{};
  if (!divisors.empty()) {
    config.short_factor = std::span(divisors).first(pairs);
    config.long_factor = std::span(divisors).last(pairs);
  }
  if (invalid(config) || invalid(config, seq_len) || config.rotary_dim > 128) return;
  std::vector<double> inv_freq(pairs);
  const double attention_factor = rope_inv_freq(inv_freq, config, seq_len);
  LAW(attention_factor > 0 && std::isfinite(attention_factor));
  const bool standing = config.rope_type == RopeType::kProportional;
  for (const double w : inv_freq)
    LAW(std::isfinite(w) && (w >= 0x1p-1001 || (standing && w == 0)) && w <= 0x1p1001);
  if (config.rope_type != RopeType::kLongrope && config.rope_theta >= 1)
    LAW(std::all_of(inv_freq.begin(), inv_freq.end(), [](double w) { return w <= 1; }));
  if (config.rope_type == RopeType::kYarn) {
    const YarnRange range = yarn_correction_range(config);
    LAW(!std::isnan(range.low) && range.low >= 0 && !std::isnan(range.high));
  }

  constexpr int kRows = 5;
  const double first = std::clamp(from.number_near(0), -0x1p40, 0x1p40);
  if (std::isnan(first)) return;
  const size_t size = kRows * pairs;
  std::vector<float> cos(size), sin(size);
  std::vector<double> scratch(cells(rope_scratch(static_cast<int>(pairs))));
  rope_cache(cos, sin, scratch, kRows, first, inv_freq, 1);
  LAW(within(cos, -1, 1) && within(sin, -1, 1));
  const RopeShape shape{from.size(3), kRows, config.rotary_dim + from.byte() % 3, config.rotary_dim,
                        from.one_of(PairLayout::kHalf)};
  if (invalid(shape) || shape.num_heads > 3) return;
  const std::vector<float> x = floats(from, cells(shape.num_heads, kRows, shape.head_dim));
  std::vector<float> out(x.size());
  rope_apply(out, x, cos, sin, shape);
  for (size_t row = 0; row < x.size(); row += cells(shape.head_dim)) {
    double before = 0, after = 0;
    for (size_t c = 0; c < cells(shape.head_dim); ++c) {
      before += static_cast<double>(x[row + c]) * x[row + c];
      after += static_cast<double>(out[row + c]) * out[row + c];
    }
    LAW(std::isnan(before) || std::fabs(before - after) <= 1e-5 * before + 1e-40);
  }
  std::vector<int32_t> order(cells(shape.num_heads, shape.head_dim));
  half_from_interleaved(order, shape);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) LAW(order[i] == static_cast<int32_t>(i));
}

// Every slope is a power of two below 1, and what it adds to a logit never grows with the distance.
void alibi(Hostile& from) {
  const AlibiConfig config{from.size(40), from.number_near(8)};
  if (invalid(config) || config.num_heads > kMaxWork) return;
  std::vector<double> slopes(cells(config.num_heads));
  alibi_slopes(slopes, config);
  LAW(std::all_of(slopes.begin(), slopes.end(), [](double m) { return m >= 0 && m <= 1; }));
  constexpr int kLength = 5;
  const bool causal = from.coin();
  std::vector<double> bias(slopes.size() * kLength * kLength);
  alibi_bias(bias, slopes, kLength, causal);
  for (size_t at = 0; at < bias.size(); ++at) {
    const size_t i = at / kLength % kLength, j = at % kLength;
    LAW(causal && j > i ? bias[at] == -HUGE_VAL : std::isfinite(bias[at]) && bias[at] <= 0);
    if (j > 0 && j <= i) LAW(bias[at] >= bias[at - 1]);
  }
}

// Buckets lie in range, never fall with the distance, and are their number up to the exact half.
void t5(Hostile& from) {
  const T5Config config{from.coin() ? 32 : from.size(4096), from.coin() ? 128 : from.size(1 << 20),
                        from.coin()};
  if (invalid(config)) return;
  const int side = config.bidirectional ? config.num_buckets / 2 : config.num_buckets;
  const int distance = std::max(from.size(1 << 16), 0), more = std::max(from.size(1 << 16), 0);
  const auto bucket = [&](int64_t relative_position) {
    return t5_relative_position_bucket(
        static_cast<int>(std::clamp<int64_t>(relative_position, INT32_MIN, INT32_MAX)), config);
  };
  const int near = bucket(-int64_t{distance}), far = bucket(-int64_t{distance} - more);
  LAW(0 <= near && near <= far && far < side);
  LAW(distance >= side / 2 || near == distance);
  LAW(distance < config.max_distance || near == side - 1);
  const int later = bucket(distance);
  LAW(later == (config.bidirectional && distance > 0 ? near + side : config.bidirectional ? near : 0));
  if (config.num_buckets > 64) return;
  const std::vector<double> table = from.numbers(cells(config.num_buckets, 2));
  std::vector<double> bias(cells(2, 4, 5));
  t5_bias(bias, table, 2, 4, 5, config);
  for (const double b : bias) {
    LAW(std::any_of(table.begin(), table.end(),
                    [&](double t) { return t == b || (std::isnan(t) && std::isnan(b)); }));
  }
}

// Weights are shares: of finite logits they are 0 to 1 and sum to 1, and none is of a key that is masked; the
// float form agrees with the double one.
void attention(Hostile& from) {
  AttentionConfig config{from.size(4), from.size(40), from.size(20), from.number_near(0.25), from.coin()};
  if (invalid(config) ||
      1.0 * config.num_heads * config.seq_len * (config.seq_len + config.head_dim) > kMaxWork)
    return;
  const size_t size = cells(config.num_heads, config.seq_len, config.head_dim);
  const size_t map = cells(config.num_heads, config.seq_len, config.seq_len);
  const double wild = from.coin() ? 1e30 : 4;
  const auto make = [&](size_t count) {
    std::vector<float> list = floats(from, count);
    for (float& x : list)
      x = static_cast<float>(std::isnan(x) && wild < 5 ? 0 : std::clamp<double>(x, -wild, wild));
    return list;
  };
  const std::vector<float> q = make(size), k = make(size), v = make(size);
  const std::vector<float> bias =
      from.coin() ? make(cells(config.num_heads, 2 * config.seq_len - 1)) : std::vector<float>{};
  std::vector<float> output(size), weights(map), scratch(cells(attention_scratch(config)));
  posenc::attention(output, weights, scratch, q, k, v, bias, config);

  const auto wide = [](const std::vector<float>& x) { return std::vector<double>(x.begin(), x.end()); };
  std::vector<double> exact(size), shares(map), logits(map);
  posenc::attention(exact, shares, logits, wide(q), wide(k), wide(v), wide(bias), config);
  const size_t n = cells(config.seq_len);
  for (size_t row = 0; row < map / n; ++row) {
    const auto all = std::span(weights).subspan(row * n, n);
    for (size_t j = row % n + 1; config.causal && j < n; ++j) LAW(all[j] == 0 || std::isnan(all[0]));
    double magnitude = 0;
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t c = 0; c < cells(config.head_dim); ++c)
        sum += std::fabs(1.0 * q[row * cells(config.head_dim) + c] *
                         k[(row / n * n + j) * cells(config.head_dim) + c]);
      magnitude = std::max(magnitude, std::fabs(config.scale) * sum);
    }
    double largest = 0;  // |bias|
    for (size_t r = 0; !bias.empty() && r < 2 * n - 1; ++r)
      largest = std::fmax(largest, std::fabs(bias[row / n * (2 * n - 1) + r]));
    magnitude += largest;
    if (wild > 5 || !(magnitude <= 1e4)) continue;
    double sum = 0;
    for (size_t j = 0; j < n; ++j) {
      sum += all[j];
      LAW(std::fabs(all[j] - shares[row * n + j]) <= weights_error(magnitude));
    }
    LAW(std::fabs(sum - 1) <= 1e-5);
  }
}

// The layer of the experiments: shares of attention from any config, and no order without positions.
void layer(Hostile& from) {
  LayerConfig config{from.size(8),
                     from.size(16),
                     1 + from.byte() % 4,
                     1 + from.byte() % 2,
                     from.one_of(Encoding::kT5),
                     from.coin(),
                     from.number_near(10000),
                     from.one_of(PairLayout::kHalf),
                     from.number_near(8)};
  config.t5 = {from.coin() ? 32 : 1 + from.byte() % 64, from.coin() ? 128 : from.size(200), from.coin()};
  if (invalid(config) || 1.0 * config.seq_len * config.d_model > 256) return;
  const size_t size = cells(config.seq_len, config.d_model),
               matrix = cells(config.num_layers, config.d_model, config.d_model);
  const auto tame = [&](size_t count, uint32_t seed) {
    std::vector<double> x(count);
    random_normal(x, seed, 0.3);
    return x;
  };
  const auto x = tame(size, 1), q = tame(matrix, 2), k = tame(matrix, 3), v = tame(matrix, 4),
             o = tame(matrix, 5);
  const auto positions = tame(size, 6),
             table = tame(cells(std::max(config.t5.num_buckets, 0), config.num_heads), 7);
  const LayerWeights weights{q, k, v, o, positions, table};
  const size_t map = cells(config.num_layers * config.num_heads, config.seq_len, config.seq_len);
  std::vector<double> output(size), shares(map), logits(map),
      scratch(static_cast<size_t>(layer_scratch(config)));
  self_attention(output, shares, logits, scratch, x, weights, config);
  LAW(finite(output) && finite(shares));
  for (size_t row = 0; row < map; row += cells(config.seq_len)) {
    double sum = 0;
    for (size_t j = 0; j < cells(config.seq_len); ++j) sum += shares[row + j];
    LAW(std::fabs(sum - 1) < 1e-9);
  }
}

// Tiles of a map: values are means of cells, so within the cells' range, or NaN outside; pixels are colours of
// the table, or the one for outside.
void tile(Hostile& from) {
  TileConfig config{.map = from.one_of(TileMap::kT5)};
  config.seq_len = from.coin() ? 1 + from.byte() : from.number_near(kMaxTileCells);
  config.dims = from.size(64);
  config.base = from.number_near(10000);
  config.layout = from.one_of(PairLayout::kHalf);
  config.slope = from.number_near(0.5);
  config.causal = from.coin();
  config.t5 = {from.coin() ? 32 : from.size(64), from.coin() ? 128 : from.size(1000), from.coin()};
  std::vector<double> biases;
  if (from.coin()) biases = from.numbers(cells(std::clamp(config.t5.num_buckets, 0, 64)));
  config.biases = biases;
  TileView view{from.number_near(0), from.number_near(0), from.size(40),
                from.size(40),       from.size(40),       from.size(6)};
  if (invalid(config) || invalid(view) || 1.0 * view.width * view.height > 1024 || config.dims > 256) return;
  if (config.map != TileMap::kAlibi && config.map != TileMap::kT5 && view.cells_y > 256) return;
  std::vector<double> plan(cells(tile_plan_size(config))), scratch(cells(tile_scratch(config)));
  const int used = tile_plan(plan, config);
  LAW(used >= 0 && cells(used) <= plan.size());
  plan.resize(cells(used));
  std::vector<float> values(cells(view.width, view.height)), row(cells(view.width));
  tile_values(values, scratch, plan, config, view);
  double least = -1, most = 1;
  if (config.map == TileMap::kAlibi) {
    most = 4.3e9 * std::fabs(config.slope);
    least = -most;
  } else if (config.map == TileMap::kT5) {
    least = biases.empty() ? 0 : *std::min_element(biases.begin(), biases.end());
    most = biases.empty() ? config.t5.num_buckets - 1 : *std::max_element(biases.begin(), biases.end());
  }
  const double slack = 1e-6 * std::max({1.0, std::fabs(least), std::fabs(most)});
  for (const float v : values) LAW(std::isnan(v) || (v >= least - slack && v <= most + slack));

  std::vector<uint32_t> lut(kLutSize), pixels(values.size());
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = static_cast<uint32_t>(i);
  const uint32_t outside = 0xABCDEF;
  const TileColors colors{lut, from.number_near(-1), from.number_near(1), outside};
  if (invalid(colors)) return;
  tile_pixels(pixels, row, scratch, plan, colors, config, view);
  for (size_t i = 0; i < pixels.size(); ++i)
    LAW((pixels[i] == outside) == std::isnan(values[i]) || pixels[i] < kLutSize);
  for (const uint32_t p : pixels) LAW(p < kLutSize || p == outside);
}

// Colours: each pixel is one of the table's or transparent, transparent only where a cell under it is NaN, and
// within the colours of the smallest and largest cell.
void colors(Hostile& from) {
  ColormapConfig config{from.size(12),        from.size(20),       from.size(24),       from.size(24),
                        from.number_near(0),  from.number_near(0), from.number_near(3), from.number_near(5),
                        from.number_near(-1), from.number_near(1), from.coin()};
  if (from.coin())
    config.num_rows = config.rows, config.num_cols = config.cols, config.first_row = config.first_col = 0;
  if (invalid(config) || 1.0 * config.rows * config.cols + 1.0 * config.width * config.height > kMaxWork)
    return;
  std::vector<float> values = floats(from, cells(config.rows, config.cols));
  const bool any_nan = std::any_of(values.begin(), values.end(), [](float v) { return std::isnan(v); });
  std::vector<uint32_t> lut(kLutSize), rgba(cells(config.width, config.height));
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = static_cast<uint32_t>(i) | 0xFF000000;
  std::vector<double> scratch(cells(colormap_scratch(config)));
  colormap(rgba, scratch, values, lut, config);
  for (const uint32_t p : rgba) LAW(p == 0 ? any_nan : p >= 0xFF000000 && (p & 0xFFFFFF) < kLutSize);
}

// A table of rows: ids in range give their rows, the first one out of range is named.
void lookup(Hostile& from) {
  const int rows = std::clamp(from.size(9), 0, 9), cols = std::clamp(from.size(9), 1, 9);
  std::vector<int32_t> ids(from.byte() % 12);
  for (int32_t& id : ids) id = from.size(9);
  std::vector<float> table(cells(rows, cols)), out(ids.size() * cells(cols), 7.0f);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i);
  const int missing = lookup_rows(out, std::span<const float>(table), ids, rows, cols);
  const auto known = [&](int32_t id) { return 0 <= id && id < rows; };
  const auto first = std::find_if_not(ids.begin(), ids.end(), known);
  LAW(missing == (first == ids.end() ? kAllRowsFound : static_cast<int>(first - ids.begin())));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto id = static_cast<size_t>(ids[i / cells(cols)]);
    LAW(out[i] == (missing == kAllRowsFound ? static_cast<float>(id * cells(cols) + i % cells(cols)) : 7.0f));
  }
}

// Rounding: the nearest number of a format, which is one of its own.
void precision(Hostile& from) {
  const double value = from.number();
  const FloatFormat format = from.one_of(FloatFormat::kFloat16);
  const double rounded = round_to(value, format);
  LAW(std::isnan(rounded) == std::isnan(value));
  if (std::isnan(value)) return;
  LAW(round_to(rounded, format) == rounded && round_to(-value, format) == -rounded);
  if (format == FloatFormat::kFloat32) LAW(rounded == static_cast<double>(static_cast<float>(value)));
  const double other = from.number();
  if (other >= value) LAW(round_to(other, format) >= rounded);
}

// Multimodal sections that are accepted give each pair one of three axes.
void mrope(Hostile& from) {
  const int32_t sections[] = {from.size(20), from.size(20), from.size(20)};
  const int pairs = from.coin() ? from.size(64)
                                : std::clamp(sections[0], 0, 64) + std::clamp(sections[1], 0, 64) +
                                      std::clamp(sections[2], 0, 64);
  if (invalid_mrope(sections, pairs) || pairs < 0 || pairs > kMaxWork) return;
  std::vector<int32_t> axis(cells(pairs));
  mrope_axes(axis, sections, from.one_of(MropeLayout::kInterleaved));
  LAW(std::all_of(axis.begin(), axis.end(), [](int32_t a) { return 0 <= a && a <= 2; }));
}

// Any training config that is accepted takes its steps: finite numbers, or the word that it diverged.
void training(Hostile& from) {
  train::RunConfig config{.task = from.one_of(train::Task::kInduction), .encoding = from.one_of(Encoding::kT5)};
  config.causal = from.coin();
  config.one_sided_heads = from.coin();
  config.feed_forward = from.coin();
  config.num_layers = from.size(4);
  config.num_heads = from.size(4);
  config.d_model = from.coin() ? 4 * (from.byte() % 5) : from.size(32);
  config.seq_len = from.size(24);
  config.max_seq_len = from.coin() ? config.seq_len : from.size(64);
  config.batch = from.size(3);
  config.steps = from.size(1000);
  config.warmup_steps = from.size(30);
  config.learning_rate = from.number_near(0.01);
  config.weight_decay = from.number_near(0.01);
  config.gradient_clip = from.number_near(1);
  config.echo_offset = from.size(24);
  config.base = from.number_near(10000);
  config.num_buckets = from.coin() ? 16 : from.size(64);
  config.max_distance = from.coin() ? 16 : from.size(200);
  if (train::invalid(config)) return;
  const size_t bytes = train::run_bytes(config);
  LAW(bytes <= train::kMaxRunBytes);
  if (bytes > 1 << 22 || config.batch * config.seq_len > 64 || config.d_model > 64 || config.max_seq_len > 64)
    return;
  std::vector<double> memory(bytes / sizeof(double) + 3);
  auto* start = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) / 16 * 16);
  train::Run* run = train::start_run({start, bytes}, config);
  for (int i = 0; i < 2; ++i) train::step(*run);
  const train::Metrics seen = train::metrics(*run);
  LAW(seen.step <= 2 && seen.step <= config.steps);
  LAW(std::isfinite(seen.loss) && std::isfinite(seen.gradient_norm) && std::isfinite(seen.learning_rate));
  LAW(seen.accuracy >= 0 && seen.accuracy <= 1);
  if (seen.diverged) return;
  const int length = config.seq_len, classes = train::num_classes(config.task);
  std::vector<int32_t> tokens(cells(length)), targets(cells(length)), answers(cells(length));
  std::vector<float> probabilities(cells(length, classes));
  train::answer(tokens, targets, answers, probabilities, *run, RopeType::kDefault, from.byte());
  LAW(!train::invalid_tokens(*run, tokens));
  for (const int32_t a : answers) LAW(0 <= a && a < classes);
  if (within(probabilities, 0, 1)) {
    for (size_t t = 0; t < cells(length); ++t) {
      double sum = 0;
      for (size_t c = 0; c < cells(classes); ++c) sum += probabilities[t * cells(classes) + c];
      LAW(std::fabs(sum - 1) < 1e-5);
    }
  }
  if (config.task != train::Task::kLanguage) return;
  train::write_on(tokens, 1, *run, RopeType::kDefault, length, std::fabs(from.number_near(0.5)), from.byte());
  LAW(!train::invalid_tokens(*run, tokens));
}

constexpr Laws kAll[] = {
    {"sinusoidal", sinusoidal}, {"rope", rope},        {"mrope", mrope}, {"alibi", alibi},   {"t5", t5},
    {"attention", attention},   {"layer", layer},      {"tile", tile},   {"colors", colors}, {"lookup", lookup},
    {"precision", precision},   {"training", training}};

}  // namespace

std::span<const Laws> all_laws() {
  return kAll;
}

}  // namespace test
