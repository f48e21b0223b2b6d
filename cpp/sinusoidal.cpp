// Sinusoidal encoding: each pair of columns is a clock hand, PE(p, 2i) = sin(p w_i), PE(p, 2i+1) = cos(p w_i)
// with w_i = base^(-2i/d_model).
//
// Based on: Vaswani et al., "Attention is all you need", 2017, section 3.5. The halves variants: tensor2tensor
// get_timing_signal_1d, fairseq SinusoidalPositionalEmbedding, transformers Marian.
#include <cassert>
#include <cmath>

#include "posenc.hpp"
#include "rotation_table.hpp"

namespace posenc {
namespace {

// Sines and cosines of a row: where they start, how far apart they stand, how many there are.
struct Columns {
  int sin_first, cos_first, stride, sines, cosines;
};

Columns columns_of(const SinusoidalConfig& config) {
  const int d = config.d_model, up = (d + 1) / 2, down = d / 2;
  switch (config.layout) {
    case SinusoidalLayout::kInterleaved:
      return {0, 1, 2, up, down};
    case SinusoidalLayout::kHalves:
      return {0, up, 1, up, down};
    case SinusoidalLayout::kHalvesMinusOne:
      break;
  }
  return {0, down, 1, down, down};
}

double inv_freq_of(int pair, const SinusoidalConfig& config) {
  if (config.layout != SinusoidalLayout::kHalvesMinusOne) {
    return std::pow(config.base, -2.0 * pair / config.d_model);
  }
  return std::pow(config.base, -static_cast<double>(pair) / std::max(config.d_model / 2 - 1, 1));
}

}  // namespace

const char* invalid(const SinusoidalConfig& config) {
  if (config.seq_len < 1) return "seq_len must be at least 1";
  if (config.d_model < 1) return "d_model must be at least 1";
  if (config.d_model > 1 << 24) return "d_model must be at most 2^24";  // ten times it, the scratch, is an int
  if (static_cast<double>(config.seq_len) * config.d_model > kMaxCells) {
    return "seq_len * d_model must be at most 2^28 cells";
  }
  if (!(config.base > 0) || !std::isfinite(config.base)) return "base must be a finite number above 0";
  const double last = config.first_position + (config.seq_len - 1) * config.position_step;
  if (!(std::fabs(config.first_position) <= 0x1p53) || !(std::fabs(last) <= 0x1p53)) {
    return "first_position and the last position must lie within 2^53 of 0";
  }
  return nullptr;
}

int sinusoidal_pairs(const SinusoidalConfig& config) {
  return columns_of(config).sines;
}

int sinusoidal_scratch(const SinusoidalConfig& config) {
  return sinusoidal_pairs(config) + rotation_scratch(sinusoidal_pairs(config));
}

void sinusoidal_inv_freq(std::span<double> inv_freq, const SinusoidalConfig& config) {
  assert(inv_freq.size() == static_cast<size_t>(sinusoidal_pairs(config)));
  for (size_t i = 0; i < inv_freq.size(); ++i) inv_freq[i] = inv_freq_of(static_cast<int>(i), config);
}

void sinusoidal_rows(std::span<double> rows, std::span<const double> positions,
                     const SinusoidalConfig& config) {
  const auto d = static_cast<size_t>(config.d_model);
  assert(rows.size() == positions.size() * d);
  const Columns columns = columns_of(config);
  std::fill(rows.begin(), rows.end(), 0.0);
  for (size_t t = 0; t < positions.size(); ++t) {
    double* row = &rows[t * d];
    for (int i = 0; i < columns.sines; ++i) {
      const double angle = positions[t] * inv_freq_of(i, config);
      row[columns.sin_first + i * columns.stride] = std::sin(angle);
      if (i < columns.cosines) row[columns.cos_first + i * columns.stride] = std::cos(angle);
    }
  }
}

void sinusoidal_table(std::span<float> table, std::span<double> scratch, const SinusoidalConfig& config) {
  assert(!invalid(config));
  assert(table.size() == static_cast<size_t>(config.seq_len) * static_cast<size_t>(config.d_model));
  assert(scratch.size() >= static_cast<size_t>(sinusoidal_scratch(config)));
  const Columns columns = columns_of(config);
  const auto d = static_cast<size_t>(config.d_model), pairs = static_cast<size_t>(columns.sines);
  const std::span<double> inv_freq = scratch.first(pairs);
  sinusoidal_inv_freq(inv_freq, config);
  const auto row_of = [&](int row) { return table.data() + static_cast<size_t>(row) * d; };
  // The last pair of an odd number of pairs, and an odd column, are stored one by one.
  const auto emit_one = [&](float* row, int pair, double sin, double cos) {
    row[columns.sin_first + pair * columns.stride] = static_cast<float>(sin);
    if (pair < columns.cosines) row[columns.cos_first + pair * columns.stride] = static_cast<float>(cos);
  };
  const auto emit = [&](int row, int pair, f64x2 sin, f64x2 cos) {
    float* out = row_of(row);
    if (pair + 2 > columns.cosines) {
      emit_one(out, pair, sin[0], cos[0]);
      if (pair + 1 < columns.sines) emit_one(out, pair + 1, sin[1], cos[1]);
    } else if (columns.stride == 2) {
      const f32x2 s = to_float(sin), c = to_float(cos);
      store(out + 2 * pair, f32x4{s[0], c[0], s[1], c[1]});
    } else {
      store(out + columns.sin_first + pair, to_float(sin));
      store(out + columns.cos_first + pair, to_float(cos));
    }
  };
  rotation_table(emit, scratch.subspan(pairs), config.seq_len, config.first_position, config.position_step,
                 inv_freq, 1.0);
  const auto written = static_cast<size_t>(columns.sines + columns.cosines);
  for (int row = 0; written < d && row < config.seq_len; ++row) row_of(row)[d - 1] = 0.0f;
}

void shift_matrices(std::span<double> matrices, std::span<const double> inv_freq, double k) {
  assert(matrices.size() == 4 * inv_freq.size());
  for (size_t i = 0; i < inv_freq.size(); ++i) {
    const double cos = std::cos(k * inv_freq[i]), sin = std::sin(k * inv_freq[i]);
    double* m = &matrices[4 * i];
    m[0] = cos, m[1] = sin;
    m[2] = -sin, m[3] = cos;
  }
}

void dot_by_offset(std::span<double> dot, std::span<const double> offsets, std::span<const double> inv_freq) {
  assert(dot.size() == offsets.size());
  for (size_t k = 0; k < offsets.size(); ++k) {
    double sum = 0;
    for (const double w : inv_freq) sum += std::cos(offsets[k] * w);
    dot[k] = sum;
  }
}

void similarity(std::span<double> similarity, std::span<const double> table, int rows, int cols) {
  const auto n = static_cast<size_t>(rows), d = static_cast<size_t>(cols);
  assert(similarity.size() == n * n && table.size() == n * d);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t c = 0; c < d; ++c) sum += table[i * d + c] * table[j * d + c];
      similarity[i * n + j] = sum;
    }
  }
}

void similarity(std::span<float> similarity, std::span<const float> table, int rows, int cols) {
  const auto n = static_cast<size_t>(rows), d = static_cast<size_t>(cols);
  assert(similarity.size() == n * n && table.size() == n * d);
  for (size_t i = 0; i < n; ++i) {
    const float* a = &table[i * d];
    for (size_t j = i; j < n; ++j) {
      const float* b = &table[j * d];
      f32x4 sums = splat(0.0f);
      size_t c = 0;
      for (; c + 4 <= d; c += 4) sums += load<f32x4>(a + c) * load<f32x4>(b + c);
      float dot = sum(sums);
      for (; c < d; ++c) dot += a[c] * b[c];
      similarity[i * n + j] = similarity[j * n + i] = dot;
    }
  }
}

}  // namespace posenc
