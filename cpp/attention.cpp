// Scaled dot-product attention with a bias per head and relative position.
//
// The tuned form works on four queries at a time: their logits against all keys stay in the cache until they
// are weights and have been used. Products are 4 x 8 tiles held in registers, over panels that were packed so
// that each step of the inner loop reads eight neighbouring floats.
//
// Based on: Vaswani et al. 2017, section 3.2; the bias as one vector per head serves ALiBi (Press et al. 2021)
// and T5 (Raffel et al. 2019); 2^x: Cephes exp2f, S. Moshier.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "posenc.hpp"
#include "simd.hpp"

namespace posenc {
namespace {

constexpr size_t kRows = 4, kColumns = 8;  // of a tile

constexpr size_t round_up(size_t n) {
  return (n + kColumns - 1) / kColumns * kColumns;
}

// out (4, 8), its rows out_stride apart = sum over k of a(r, k) * panel (depth, 8), with a(r, k) at
// a[r * row_stride + k * depth_stride].
void multiply_tile(float* out, size_t out_stride, const float* a, size_t row_stride, size_t depth_stride,
                   const float* panel, size_t depth) {
  f32x4 sums[kRows][2] = {};
  for (size_t k = 0; k < depth; ++k, panel += kColumns) {
    const auto left = load<f32x4>(panel), right = load<f32x4>(panel + 4);
    for (size_t r = 0; r < kRows; ++r) {
      const f32x4 factor = splat(a[r * row_stride + k * depth_stride]);
      sums[r][0] += factor * left;
      sums[r][1] += factor * right;
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    store(out + r * out_stride, sums[r][0]);
    store(out + r * out_stride + 4, sums[r][1]);
  }
}

// panels (ceil(count/width), depth, width): element k of vector j, which stands at
// from[j * vector_stride + k * depth_stride], goes to lane j % width of panel j / width. Missing vectors are 0.
void pack(float* panels, size_t width, const float* from, size_t count, size_t depth, size_t vector_stride,
          size_t depth_stride, float scale) {
  for (size_t first = 0; first < count; first += width, panels += depth * width) {
    for (size_t lane = 0; lane < width; ++lane) {
      const bool missing = first + lane >= count;
      const float* vector = from + (missing ? 0 : first + lane) * vector_stride;
      for (size_t k = 0; k < depth; ++k)
        panels[k * width + lane] = missing ? 0 : vector[k * depth_stride] * scale;
    }
  }
}

// 2^x for x <= 0, relative error 2e-7; below -126 it stays at 2^-126.
f32x4 exp2(f32x4 x) {
  x = max(x, splat(-126.0f));
  constexpr float kRound =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest whole number in the low bits
  const f32x4 shifted = x + kRound;
  const f32x4 f = x - (shifted - kRound);
  f32x4 p = f * 1.535336188319500e-4f + 1.339887440266574e-3f;
  p = p * f + 9.618437357674640e-3f;
  p = p * f + 5.550332471162809e-2f;
  p = p * f + 2.402264791363012e-1f;
  p = p * f + 6.931472028550421e-1f;
  p = p * f + 1.0f;
  return (f32x4)((i32x4)p + ((i32x4)shifted << 23));
}

// Turns row[0..visible) from log2 units into exponentials relative to their largest; the rest of row[0..padded)
// becomes 0. Returns 1 / their sum, or NaN if a logit is not finite, which the clamps below would hide.
float exponentials(float* row, size_t visible, size_t padded) {
  float nothing = 0;
  for (size_t j = 0; j < visible; ++j) nothing += row[j] * 0;
  std::fill(row + visible, row + padded, -std::numeric_limits<float>::max());
  f32x4 largest = splat(-std::numeric_limits<float>::max());
  for (size_t j = 0; j < padded; j += 4) largest = max(load<f32x4>(row + j), largest);
  const f32x4 top = splat(max(largest));
  f32x4 sums = splat(0.0f);
  for (size_t j = 0; j < padded; j += 4) {
    const f32x4 e = exp2(load<f32x4>(row + j) - top);
    sums += e;
    store(row + j, e);
  }
  std::fill(row + visible, row + padded, 0.0f);
  return 1.0f / sum(sums) + nothing;
}

void multiply_in_place(float* row, size_t n, float factor) {
  for (size_t j = 0; j < n; ++j) row[j] *= factor;
}

}  // namespace

const char* invalid(const AttentionConfig& config) {
  if (config.num_heads < 1) return "num_heads must be at least 1";
  if (config.seq_len < 1) return "seq_len must be at least 1";
  if (config.head_dim < 1) return "head_dim must be at least 1";
  if (config.head_dim > 1 << 24) return "head_dim must be at most 2^24";  // the scratch is counted in an int
  if (!(std::fabs(config.scale) <= 1e30)) return "scale must be a number within 1e30 of 0";
  const double rows = static_cast<double>(config.num_heads) * config.seq_len;
  if (rows * config.seq_len > kMaxCells) return "num_heads * seq_len * seq_len must be at most 2^28 cells";
  if (rows * config.head_dim > kMaxCells) return "num_heads * seq_len * head_dim must be at most 2^28 cells";
  return nullptr;
}

void attention(std::span<double> output, std::span<double> weights, std::span<double> logits,
               std::span<const double> q, std::span<const double> k, std::span<const double> v,
               std::span<const double> bias, const AttentionConfig& config) {
  assert(!invalid(config));
  const auto n = static_cast<size_t>(config.seq_len), d = static_cast<size_t>(config.head_dim);
  const auto rows = static_cast<size_t>(config.num_heads) * n;
  assert(q.size() == rows * d && k.size() == q.size() && v.size() == q.size() && output.size() == q.size());
  assert(weights.size() == rows * n && logits.size() == weights.size());
  for (size_t row = 0; row < rows; ++row) {
    const size_t head = row / n, i = row % n, visible = config.causal ? i + 1 : n;
    double *logit = &logits[row * n], *weight = &weights[row * n];
    double largest = -std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < n; ++j) {
      double dot = 0;
      for (size_t c = 0; c < d; ++c) dot += q[row * d + c] * k[(head * n + j) * d + c];
      const double b = bias.empty() ? 0 : bias[head * (2 * n - 1) + j + n - 1 - i];
      logit[j] = j < visible ? config.scale * dot + b : -std::numeric_limits<double>::infinity();
      largest = std::max(largest, logit[j]);
    }
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += weight[j] = std::exp(logit[j] - largest);
    for (size_t j = 0; j < n; ++j) weight[j] /= sum;
    for (size_t c = 0; c < d; ++c) {
      double mixed = 0;
      for (size_t j = 0; j < n; ++j) mixed += weight[j] * v[(head * n + j) * d + c];
      output[row * d + c] = mixed;
    }
  }
}

int attention_scratch(const AttentionConfig& config) {
  const auto n = round_up(static_cast<size_t>(config.seq_len)),
             d = round_up(static_cast<size_t>(config.head_dim));
  return static_cast<int>(2 * n * d + kRows * (d + n));
}

void attention(std::span<float> output, std::span<float> weights, std::span<float> scratch,
               std::span<const float> q, std::span<const float> k, std::span<const float> v,
               std::span<const float> bias, const AttentionConfig& config) {
  assert(!invalid(config));
  const auto n = static_cast<size_t>(config.seq_len), d = static_cast<size_t>(config.head_dim);
  const auto heads = static_cast<size_t>(config.num_heads);
  assert(q.size() == heads * n * d && k.size() == q.size() && v.size() == q.size() &&
         output.size() == q.size());
  assert(weights.size() == heads * n * n && scratch.size() >= static_cast<size_t>(attention_scratch(config)));
  const size_t padded = round_up(n), padded_d = round_up(d);
  float* key_panels = scratch.data();                          // (padded/8, d, 8)
  float* value_panels = key_panels + padded * padded_d;        // (padded_d/8, n, 8)
  float* query_panel = value_panels + padded * padded_d;       // (d, 4)
  float* rows = query_panel + kRows * padded_d;                // (4, padded)
  const auto log2e = static_cast<float>(std::numbers::log2e);  // softmax in powers of two

  for (size_t head = 0; head < heads; ++head) {
    const size_t at = head * n * d;
    pack(key_panels, kColumns, &k[at], n, d, d, 1, 1.0f);
    pack(value_panels, kColumns, &v[at], d, n, 1, d, 1.0f);
    for (size_t first = 0; first < n; first += kRows) {
      const size_t count = std::min(kRows, n - first);
      const size_t reach = config.causal ? first + count : n;  // no row of the tile sees a key from here on
      pack(query_panel, kRows, &q[at + first * d], count, d, d, 1, static_cast<float>(config.scale) * log2e);
      for (size_t j = 0; j < reach; j += kColumns) {
        multiply_tile(rows + j, padded, query_panel, 1, kRows, key_panels + j * d, d);
      }
      float inverse_sums[kRows] = {};
      for (size_t r = 0; r < count; ++r) {
        float* row = rows + r * padded;
        const size_t i = first + r, visible = config.causal ? i + 1 : n;
        if (!bias.empty()) {
          const float* b = &bias[head * (2 * n - 1) + n - 1 - i];
          for (size_t j = 0; j < visible; ++j) row[j] += b[j] * log2e;
        }
        inverse_sums[r] = exponentials(row, visible, round_up(reach));
      }
      for (size_t c = 0; c < d; c += kColumns) {
        float tile[kRows * kColumns];
        multiply_tile(tile, kColumns, rows, padded, 1, value_panels + c * n, reach);
        for (size_t r = 0; r < count; ++r) {
          multiply_in_place(tile + r * kColumns, kColumns, inverse_sums[r]);
          std::copy_n(tile + r * kColumns, std::min(kColumns, d - c), &output[at + (first + r) * d + c]);
        }
      }
      for (size_t r = 0; r < count; ++r) {
        float *row = rows + r * padded, *weight = &weights[(head * n + first + r) * n];
        multiply_in_place(row, reach, inverse_sums[r]);
        std::fill(std::copy_n(row, reach, weight), weight + n, 0.0f);
      }
    }
  }
}

}  // namespace posenc
