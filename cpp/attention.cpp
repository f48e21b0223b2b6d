// Scaled dot-product attention with a bias per head and relative position.
//
// The tuned form works on sixteen queries at a time: their logits against all keys stay in the cache until they
// are weights and have been used. Products are 4 x 8 tiles held in registers, over panels that were packed so
// that each step of the inner loop reads eight neighbouring floats; a tile that leaves the registers takes its
// bias along, and what its softmax needs.
//
// Based on: Vaswani et al. 2017, section 3.2; the bias as one vector per head serves ALiBi (Press et al. 2021)
// and T5 (Raffel et al. 2019).
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "exp2.hpp"
#include "multiply.hpp"
#include "posenc.hpp"

namespace posenc {
namespace {

constexpr size_t kRows = 4, kColumns = 8;  // of a tile
constexpr size_t kBlockRows = 16;          // queries that share what is read of keys and values
constexpr size_t kKeys = 128;              // keys, or values, that stay in the nearest cache meanwhile
constexpr float kLowest = -std::numeric_limits<float>::max();

constexpr size_t round_up(size_t n) {
  return (n + kColumns - 1) / kColumns * kColumns;
}

// The logits of four queries, in log2 units, and what their softmax needs to know.
struct Tile {
  float* rows;  // (4, padded)
  f32x4 largest[4];
  f32x4 nothing[4];  // 0, or NaN if a logit is not finite, which the clamps of exp2 would hide
  bool watched;      // whether a logit may be: only then is `nothing` kept
};

// Logits of the keys from..to, multiples of eight that all four queries see. bias is that of the first query,
// and stands one entry further left for each one after it.
[[gnu::noinline]] void tile_logits(Tile& tile, size_t padded, const float* queries, const float* keys,
                                   const float* bias, size_t from, size_t to, size_t depth) {
  for (size_t j = from; j < to; j += kColumns) {
    f32x4 sums[kRows][2] = {};
    accumulate<kRows, 2, float>(sums, {queries, 1, kRows}, {keys + j * depth, kColumns}, depth);
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < 2; ++v) {
        f32x4& logits = sums[r][v];
        if (bias) logits += load<f32x4>(bias + j + 4 * v - r);
        tile.largest[r] = max(logits, tile.largest[r]);
        if (tile.watched) tile.nothing[r] += logits * 0;
        store(tile.rows + r * padded + j + 4 * v, logits);
      }
    }
  }
}

// The same for the keys after those, one by one, of which query r sees the first visible + r * step.
[[gnu::noinline]] void tile_edge(Tile& tile, size_t padded, const float* queries, const float* keys,
                                 const float* bias, size_t from, size_t to, size_t depth, size_t visible,
                                 size_t step) {
  for (size_t j = from; j < to; j += kColumns) {
    multiply_tile<kRows, 2, float>({tile.rows + j, padded}, {queries, 1, kRows}, {keys + j * depth, kColumns},
                                   depth, false);
  }
  for (size_t r = 0; r < kRows; ++r) {
    float* row = tile.rows + r * padded;
    for (size_t j = from; j < to; ++j) {
      if (j < visible + r * step) {
        if (bias) row[j] += bias[static_cast<ptrdiff_t>(j - r)];
        tile.nothing[r][0] += row[j] * 0;
      } else {
        row[j] = kLowest;
      }
      tile.largest[r][0] = std::max(tile.largest[r][0], row[j]);
    }
  }
}

// The largest |x|, or NaN if an x is NaN.
[[gnu::noinline]] float largest_magnitude(std::span<const float> x) {
  f32x4 largest = splat(0.0f), nothing = splat(0.0f);
  size_t i = 0;
  for (; i + 4 <= x.size(); i += 4) {
    const auto four = load<f32x4>(&x[i]);
    largest = max(max(four, -four), largest);
    nothing += four * 0;
  }
  float most = max(largest) + sum(nothing) * 0;
  for (; i < x.size(); ++i) most = std::fabs(x[i]) <= most ? most : std::fabs(x[i]) + most * 0;
  return most;
}

// Turns row[0..n), n a multiple of eight, into exponentials relative to the largest. Returns their sum. Below
// 2^-100 they are 0: their products would be denormal numbers, which are slow.
[[gnu::noinline]] float exponentials(float* row, size_t n, float largest) {
  const f32x4 top = splat(largest);
  f32x4 sums[2] = {};
  for (size_t j = 0; j < n; j += kColumns) {
    for (size_t v = 0; v < 2; ++v) {
      const f32x4 below = load<f32x4>(row + j + 4 * v) - top;
      const f32x4 e = select(below < splat(-100.0f), f32x4{}, exp2(below));
      sums[v] += e;
      store(row + j + 4 * v, e);
    }
  }
  return sum(sums[0] + sums[1]);
}

// panels (ceil(cols/8), rows, 8) = columns of in (rows, cols), missing ones 0.
void pack_columns(float* panels, Rows<const float> in, size_t rows, size_t cols) {
  for (size_t c = 0; c < cols; c += kColumns) {
    const float* from = in.data + c;
    for (size_t r = 0; r < rows; ++r, from += in.row, panels += kColumns) {
      if (c + kColumns <= cols) {
        store(panels, load<f32x4>(from)), store(panels + 4, load<f32x4>(from + 4));
      } else {
        for (size_t lane = 0; lane < kColumns; ++lane) panels[lane] = c + lane < cols ? from[lane] : 0;
      }
    }
  }
}

// out[0..n) = factor * in[0..n).
[[gnu::noinline]] void scale(float* out, const float* in, size_t n, float factor) {
  size_t j = 0;
  for (; j + 4 <= n; j += 4) store(out + j, load<f32x4>(in + j) * factor);
  for (; j < n; ++j) out[j] = in[j] * factor;
}

// mixed (rows, padded_d), its columns in panels of eight: weights (rows, to) times the values.
[[gnu::noinline]] void mix(float* mixed, size_t padded_d, const float* weights, size_t padded,
                           const float* values, size_t n, size_t rows, size_t to) {
  for (size_t k = 0; k < to; k += kKeys) {
    const size_t reach = std::min(kKeys, to - k);
    for (size_t c = 0; c < padded_d; c += kColumns) {
      multiply_columns<2, float>({mixed + c, padded_d}, {weights + k, padded, 1},
                                 {values + c * n + k * kColumns, kColumns}, rows, reach, k > 0);
    }
  }
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
  return static_cast<int>(2 * n * d + kBlockRows * (2 * d + n) + 2 * (n + kColumns));
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
  float* keys = scratch.data();                                // (padded/8, d, 8)
  float* values = keys + padded * padded_d;                    // (padded_d/8, n, 8)
  float* queries = values + padded * padded_d;                 // (4, d, 4)
  float* mixed = queries + kBlockRows * padded_d;              // (16, padded_d)
  float* rows = mixed + kBlockRows * padded_d;                 // (16, padded)
  float* head_bias = rows + kBlockRows * padded;               // (2n - 1) and what a tile reads on both sides
  const auto log2e = static_cast<float>(std::numbers::log2e);  // softmax in powers of two
  const size_t step = config.causal ? 1 : 0;

  for (size_t head = 0; head < heads; ++head) {
    const size_t at = head * n * d;
    pack(keys, kColumns, {&k[at], d}, n, d, 1.0f);
    pack_columns(values, {&v[at], d}, n, d);
    const float magnitude =
        largest_magnitude(q.subspan(at, n * d)) * largest_magnitude(k.subspan(at, n * d)) *
            static_cast<float>(std::fabs(config.scale)) * static_cast<float>(d) +
        largest_magnitude(bias.empty() ? bias : bias.subspan(head * (2 * n - 1), 2 * n - 1));
    const bool watched = !(magnitude < 1e37f);
    if (!bias.empty()) {
      std::fill_n(head_bias, 2 * (padded + kColumns), 0.0f);
      scale(head_bias + kRows, &bias[head * (2 * n - 1)], 2 * n - 1, log2e);
    }
    for (size_t first = 0; first < n; first += kBlockRows) {
      const size_t count = std::min(kBlockRows, n - first), tiles = (count + kRows - 1) / kRows;
      const size_t reach = round_up(config.causal ? first + count : n);  // no query sees a key from here on
      pack(queries, kRows, {&q[at + first * d], d}, count, d, static_cast<float>(config.scale) * log2e);
      Tile block[kBlockRows / kRows];
      for (size_t t = 0; t < tiles; ++t) {
        block[t] = {rows + t * kRows * padded, {}, {}, watched};
        std::fill_n(block[t].largest, kRows, splat(kLowest));
      }
      const auto visible = [&](size_t t) { return config.causal ? first + t * kRows + 1 : n; };
      const auto bias_of = [&](size_t t) {
        return bias.empty() ? nullptr : head_bias + kRows + n - 1 - first - t * kRows;
      };
      for (size_t j = 0; j < reach; j += kKeys) {
        for (size_t t = 0; t < tiles; ++t) {
          const size_t whole = visible(t) / kColumns * kColumns;
          tile_logits(block[t], padded, queries + t * kRows * d, keys, bias_of(t), j,
                      std::min(j + kKeys, whole), d);
        }
      }
      float inverse[kBlockRows];
      for (size_t t = 0; t < tiles; ++t) {
        const size_t whole = visible(t) / kColumns * kColumns;
        tile_edge(block[t], padded, queries + t * kRows * d, keys, bias_of(t), whole, reach, d, visible(t),
                  step);
        for (size_t r = 0; r < kRows; ++r) {
          float* row = block[t].rows + r * padded;
          inverse[t * kRows + r] =
              1 / exponentials(row, reach, max(block[t].largest[r])) + sum(block[t].nothing[r]);
          std::fill(row + std::min(reach, visible(t) + r * step), row + reach, 0.0f);
        }
      }
      mix(mixed, padded_d, rows, padded, values, n, tiles * kRows, std::min(reach, n));
      for (size_t r = 0; r < count; ++r) {
        scale(&output[at + (first + r) * d], mixed + r * padded_d, d, inverse[r]);
        float* weight = &weights[(head * n + first + r) * n];
        const size_t seen = std::min(reach, n);
        scale(weight, rows + r * padded, seen, inverse[r]);
        std::fill(weight + seen, weight + n, 0.0f);
      }
    }
  }
}

}  // namespace posenc
