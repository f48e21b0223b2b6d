#include "positions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <type_traits>

namespace posenc::train {
namespace {

constexpr size_t kPadding = 8;  // floats that a row of bias may be read beyond its end

size_t size_of(int n) {
  return static_cast<size_t>(n);
}
int head_dim_of(const RunConfig& config) {
  return config.d_model / config.num_heads;
}
T5Config t5_of(const RunConfig& config) {
  return {config.num_buckets, config.max_distance, !config.causal};
}

template <class T>
void fill_rows(Positions<T>& positions, const RunConfig& config) {
  const SinusoidalConfig sinusoidal{
      .seq_len = positions.seq_len, .d_model = config.d_model, .base = config.base};
  const size_t d = size_of(config.d_model);
  const auto rows = positions.rows.first(size_of(positions.seq_len) * d);
  if constexpr (std::is_same_v<T, float>) {
    sinusoidal_table(rows, positions.scratch, sinusoidal);
  } else {
    for (int t = 0; t < positions.seq_len; ++t) {
      const double position = t;
      sinusoidal_rows(rows.subspan(size_of(t) * d, d), {&position, 1}, sinusoidal);
    }
  }
}

template <class T>
void fill_angles(Positions<T>& positions, const RunConfig& config) {
  const int dim = head_dim_of(config);
  const double stretch = static_cast<double>(positions.final_length) / config.seq_len;
  const RopeConfig rope{.head_dim = dim,
                        .rotary_dim = dim,
                        .rope_theta = config.base,
                        .rope_type = positions.rope_type,
                        .factor = std::max(1.0, stretch)};
  const size_t pairs = size_of(dim / 2), cells = size_of(positions.seq_len) * pairs;
  const auto inv_freq = positions.scratch.first(pairs), rest = positions.scratch.subspan(pairs);
  const double attention_factor = rope_inv_freq(inv_freq, rope, positions.final_length);
  const auto cos = positions.cos.first(cells), sin = positions.sin.first(cells);
  if constexpr (std::is_same_v<T, float>) {
    rope_cache(cos, sin, rest, positions.seq_len, 0, inv_freq, attention_factor);
  } else {
    for (int t = 0; t < positions.seq_len; ++t) {
      const double position = t;
      rope_cos_sin(cos.subspan(size_of(t) * pairs, pairs), sin.subspan(size_of(t) * pairs, pairs),
                   {&position, 1}, inv_freq, attention_factor);
    }
  }
}

template <class T>
void fill_alibi(Positions<T>& positions, const RunConfig& config) {
  const auto slopes = positions.scratch.first(size_of(config.num_heads));
  alibi_slopes(slopes, {.num_heads = config.num_heads});
  const int last = positions.seq_len - 1;
  T* bias = positions.bias.data();
  for (size_t h = 0; h < slopes.size(); ++h) {
    for (int relative_position = -last; relative_position <= last; ++relative_position) {
      const bool other_side = h % 2 == 0 ? relative_position > 0 : relative_position < 0;
      const bool masked = config.one_sided_heads && other_side;
      *bias++ =
          static_cast<T>(masked ? kMasked : -slopes[h] * std::abs(relative_position) * std::numbers::log2e);
    }
  }
}

}  // namespace

template <class T>
void lay_out(Positions<T>& positions, Arena& arena, const RunConfig& config) {
  const size_t n = size_of(config.max_seq_len), heads = size_of(config.num_heads), d = size_of(config.d_model);
  const int pairs = head_dim_of(config) / 2;
  positions = {};
  size_t scratch = heads;
  switch (config.encoding) {
    case Encoding::kSinusoidal:
      positions.rows = arena.take<T>(n * d);
      scratch = size_of(sinusoidal_scratch({.seq_len = 1, .d_model = config.d_model, .base = config.base}));
      break;
    case Encoding::kRope:
      positions.cos = arena.take<T>(n * size_of(pairs));
      positions.sin = arena.take<T>(n * size_of(pairs));
      scratch = size_of(pairs + rope_scratch(pairs));
      break;
    case Encoding::kT5:
      positions.buckets = arena.take<int32_t>(2 * n - 1);
      [[fallthrough]];
    case Encoding::kAlibi:
      positions.bias = arena.take<T>(heads * (2 * n - 1) + kPadding);
      break;
    case Encoding::kNone:
    case Encoding::kLearned:
      break;
  }
  positions.scratch = arena.take<double>(scratch);
}

template <class T>
void prepare(Positions<T>& positions, const RunConfig& config, int seq_len, RopeType rope_type,
             int final_length) {
  if (positions.seq_len == seq_len && positions.rope_type == rope_type &&
      positions.final_length == final_length) {
    return;
  }
  positions.seq_len = seq_len;
  positions.rope_type = rope_type;
  positions.final_length = final_length;
  if (config.encoding == Encoding::kSinusoidal) fill_rows(positions, config);
  if (config.encoding == Encoding::kRope) fill_angles(positions, config);
  if (config.encoding == Encoding::kAlibi) fill_alibi(positions, config);
  if (config.encoding == Encoding::kT5) {
    for (int r = 0; r < 2 * seq_len - 1; ++r) {
      positions.buckets[size_of(r)] = t5_relative_position_bucket(r - (seq_len - 1), t5_of(config));
    }
  }
}

template <class T>
void t5_bias_forward(Positions<T>& positions, std::span<const T> table, const RunConfig& config) {
  const size_t heads = size_of(config.num_heads), span = size_of(2 * positions.seq_len - 1);
  constexpr T kGain = static_cast<T>(kT5BiasGain * std::numbers::log2e);
  for (size_t h = 0; h < heads; ++h) {
    for (size_t r = 0; r < span; ++r) {
      positions.bias[h * span + r] = kGain * table[size_of(positions.buckets[r]) * heads + h];
    }
  }
}

template <class T>
void t5_bias_backward(std::span<T> dtable, std::span<const T> dbias, const Positions<T>& positions,
                      const RunConfig& config) {
  const size_t heads = size_of(config.num_heads), span = size_of(2 * positions.seq_len - 1);
  for (size_t h = 0; h < heads; ++h) {
    for (size_t r = 0; r < span; ++r) {
      dtable[size_of(positions.buckets[r]) * heads + h] += static_cast<T>(kT5BiasGain) * dbias[h * span + r];
    }
  }
}

template <class T>
void rotate(T* qkv, size_t rows, const Positions<T>& positions, const RunConfig& config, bool back) {
  const size_t d = size_of(config.d_model), pairs = size_of(head_dim_of(config) / 2);
  const auto n = size_of(positions.seq_len);
  const T side = back ? T{-1} : T{1};
  for (size_t r = 0; r < rows; ++r) {
    const T *cos = &positions.cos[r % n * pairs], *sin = &positions.sin[r % n * pairs];
    T* x = qkv + r * 3 * d;
    for (size_t first = 0; first < 2 * d; first += 2 * pairs) {
      for (size_t i = 0; i < pairs; ++i) {
        const T a = x[first + 2 * i], b = x[first + 2 * i + 1], s = side * sin[i];
        x[first + 2 * i] = a * cos[i] - b * s;
        x[first + 2 * i + 1] = a * s + b * cos[i];
      }
    }
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define POSENC_FOR(T)                                                                                      \
  template void lay_out(Positions<T>&, Arena&, const RunConfig&);                                          \
  template void prepare(Positions<T>&, const RunConfig&, int, RopeType, int);                              \
  template void t5_bias_forward(Positions<T>&, std::span<const T>, const RunConfig&);                      \
  template void t5_bias_backward(std::span<T>, std::span<const T>, const Positions<T>&, const RunConfig&); \
  template void rotate(T*, size_t, const Positions<T>&, const RunConfig&, bool);
// NOLINTEND(bugprone-macro-parentheses)
POSENC_FOR(float)
POSENC_FOR(double)

}  // namespace posenc::train
