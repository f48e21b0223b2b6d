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
  if (const char* sentence = invalid_base(config.base)) return sentence;
  const double last = config.first_position + (config.seq_len - 1) * config.position_step;
  if (!(std::fabs(config.first_position) <= 0x1p53) || !(std::fabs(last) <= 0x1p53)) {
    return "first_position and the last position must lie within 2^53 of 0";
  }
  return nullptr;
}

const char* invalid_base(double base) {
  return base >= 0x1p-1000 && base <= 0x1p1000 ? nullptr : "base must be from 2^-1000 to 2^1000";
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
  const auto emit = [&](int row, int pair, double sin, double cos) {
    float* out = row_of(row);
    out[columns.sin_first + pair * columns.stride] = static_cast<float>(sin);
    if (pair < columns.cosines) out[columns.cos_first + pair * columns.stride] = static_cast<float>(cos);
  };
  const auto interleaved = [&](int row, int pair, const FourPairs& v) {
    float* out = row_of(row) + 2 * pair;
    store(out, interleave_to_float(v.sin[0], v.cos[0]));
    store(out + 4, interleave_to_float(v.sin[1], v.cos[1]));
  };
  const auto halves = [&](int row, int pair, const FourPairs& v) {
    float* out = row_of(row) + pair;
    store(out + columns.sin_first, to_float(v.sin[0], v.sin[1]));
    store(out + columns.cos_first, to_float(v.cos[0], v.cos[1]));
  };
  const auto fill = [&](auto emit_four) {
    rotation_table(emit, emit_four, columns.cosines, scratch.subspan(pairs), config.seq_len,
                   config.first_position, config.position_step, inv_freq, 1.0);
  };
  if (columns.stride == 2) {
    fill(interleaved);
  } else {
    fill(halves);
  }
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

}  // namespace posenc
