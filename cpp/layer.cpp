// Self-attention as the lesson's experiments run it: the same tokens and the same weights under each way of
// telling a model the order, in double, so that "no difference" means rounding and nothing else.
//
// Based on: Vaswani et al. 2017; Su et al. 2021 (RoPE: only q and k turn); Press et al. 2021 (ALiBi); Raffel et
// al. 2019 (T5: no 1/sqrt(d)); equivariance: Lee et al., "Set Transformer", 2019, property 1.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "posenc.hpp"

namespace posenc {
namespace {

size_t size_of(int n) {
  return static_cast<size_t>(n);
}

AttentionConfig attention_of(const LayerConfig& config) {
  const int head_dim = config.d_model / config.num_heads;
  const double scale = config.encoding == Encoding::kT5 ? 1.0 : 1.0 / std::sqrt(head_dim);
  return {config.num_heads, config.seq_len, head_dim, scale, config.causal};
}

// Takes what it needs from the front of a buffer.
struct Pool {
  std::span<double> rest;
  std::span<double> take(size_t count) {
    const std::span<double> taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
  }
};

// out (rows, cols) = a (rows, depth) * b (depth, cols).
void matmul(std::span<double> out, std::span<const double> a, std::span<const double> b, size_t depth) {
  const size_t cols = b.size() / depth, rows = a.size() / depth;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      double sum = 0;
      for (size_t k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * cols + j];
      out[i * cols + j] = sum;
    }
  }
}

// (seq_len, d_model) with heads as blocks of columns, to (heads, seq_len, head_dim), and back.
void split_heads(std::span<double> out, std::span<const double> x, const AttentionConfig& shape, bool join) {
  const size_t n = size_of(shape.seq_len), d = size_of(shape.head_dim), heads = size_of(shape.num_heads);
  for (size_t h = 0; h < heads; ++h) {
    for (size_t t = 0; t < n; ++t) {
      for (size_t c = 0; c < d; ++c) {
        const size_t split = (h * n + t) * d + c, joined = t * heads * d + h * d + c;
        out[join ? joined : split] = x[join ? split : joined];
      }
    }
  }
}

void add_positions(std::span<double> x, std::span<double> table, const LayerWeights& layer,
                   const LayerConfig& config) {
  if (config.encoding == Encoding::kLearned)
    std::copy(layer.positions.begin(), layer.positions.end(), table.begin());
  if (config.encoding == Encoding::kSinusoidal) {
    for (size_t t = 0; t < size_of(config.seq_len); ++t) {
      const double position = static_cast<double>(t);
      const SinusoidalConfig sinusoidal{.seq_len = 1, .d_model = config.d_model, .base = config.base};
      sinusoidal_rows(table.subspan(t * size_of(config.d_model), size_of(config.d_model)), {&position, 1},
                      sinusoidal);
    }
  }
  for (size_t i = 0; i < x.size(); ++i) x[i] += table[i];
}

// One number per head and relative position.
void fill_bias(std::span<double> bias, const LayerWeights& layer, const LayerConfig& config) {
  const size_t heads = size_of(config.num_heads), span = 2 * size_of(config.seq_len) - 1;
  double slopes[kMaxLayerHeads] = {};
  if (config.encoding == Encoding::kAlibi) {
    alibi_slopes({slopes, heads}, {config.num_heads, config.alibi_bias_max});
  }
  for (size_t h = 0; h < heads; ++h) {
    for (size_t r = 0; r < span; ++r) {
      const int relative_position = static_cast<int>(r) - (config.seq_len - 1);
      bias[h * span + r] =
          config.encoding == Encoding::kAlibi
              ? -slopes[h] * std::abs(relative_position)
              : layer.t5_table[size_of(t5_relative_position_bucket(relative_position, config.t5)) * heads + h];
    }
  }
}

void rotate(std::span<double> x, std::span<double> cos_sin, const LayerConfig& config) {
  const AttentionConfig shape = attention_of(config);
  const size_t n = size_of(shape.seq_len), pairs = size_of(shape.head_dim / 2);
  const auto cos = cos_sin.first(n * pairs), sin = cos_sin.subspan(n * pairs, n * pairs);
  for (size_t t = 0; t < n; ++t) {
    for (size_t i = 0; i < pairs; ++i) {
      const double angle =
          static_cast<double>(t) / std::pow(config.base, 2.0 * static_cast<double>(i) / shape.head_dim);
      cos[t * pairs + i] = std::cos(angle);
      sin[t * pairs + i] = std::sin(angle);
    }
  }
  rope_apply(x, x, cos, sin, {shape.num_heads, shape.seq_len, shape.head_dim, shape.head_dim, config.layout});
}

}  // namespace

const char* invalid(const LayerConfig& config) {
  if (config.seq_len < 1) return "seq_len must be at least 1";
  if (config.num_heads < 1 || config.num_heads > kMaxLayerHeads) return "num_heads must be 1 to 256";
  if (config.d_model < 1 || config.d_model % config.num_heads != 0) {
    return "d_model must be a positive multiple of num_heads";
  }
  if (config.num_layers < 1 || config.num_layers > 8) return "num_layers must be 1 to 8";
  if (const char* sentence = invalid_base(config.base)) return sentence;
  if (config.encoding == Encoding::kRope && config.d_model / config.num_heads % 2 != 0) {
    return "head_dim (d_model / num_heads) must be even for rope";
  }
  if (config.encoding == Encoding::kAlibi) {
    if (const char* sentence = invalid(AlibiConfig{config.num_heads, config.alibi_bias_max})) return sentence;
  }
  if (config.encoding == Encoding::kT5) {
    if (const char* sentence = invalid(config.t5)) return sentence;
  }
  const double n = config.seq_len, d = config.d_model, layers = config.num_layers;
  if (layers * config.num_heads * n * n > kMaxCells || layers * d * (n + d) > kMaxCells ||
      layers * layer_scratch(config) > kMaxCells) {
    return "num_layers * num_heads * seq_len * seq_len and num_layers * d_model * (seq_len + d_model) are too "
           "large";
  }
  return invalid(attention_of(config));
}

double layer_scratch(const LayerConfig& config) {
  const double rows = static_cast<double>(config.seq_len) * config.d_model;
  return 8 * rows + 2.0 * config.num_heads * config.seq_len;
}

void self_attention(std::span<double> output, std::span<double> weights, std::span<double> logits,
                    std::span<double> scratch, std::span<const double> x, const LayerWeights& layer,
                    const LayerConfig& config) {
  assert(!invalid(config));
  const AttentionConfig shape = attention_of(config);
  const size_t d = size_of(config.d_model), cells = size_of(config.seq_len) * d;
  const size_t map = size_of(config.num_heads) * size_of(config.seq_len) * size_of(config.seq_len);
  assert(x.size() == cells && output.size() == cells);
  assert(weights.size() == map * size_of(config.num_layers) && logits.size() == weights.size());
  assert(scratch.size() >= static_cast<size_t>(layer_scratch(config)));
  Pool pool{scratch};
  const auto input = pool.take(cells), joined = pool.take(cells), table = pool.take(cells);
  const std::span<double> heads[] = {pool.take(cells), pool.take(cells), pool.take(cells), pool.take(cells)};
  const std::span<double> spare = pool.take(cells);
  std::span<double> bias;

  std::copy(x.begin(), x.end(), input.begin());
  if (config.encoding == Encoding::kSinusoidal || config.encoding == Encoding::kLearned) {
    add_positions(input, table, layer, config);
  }
  if (config.encoding == Encoding::kAlibi || config.encoding == Encoding::kT5) {
    bias = pool.take(size_of(config.num_heads) * (2 * size_of(config.seq_len) - 1));
    fill_bias(bias, layer, config);
  }
  for (size_t l = 0; l < size_of(config.num_layers); ++l) {
    const std::span<const double> projections[] = {layer.w_q, layer.w_k, layer.w_v};
    for (size_t p = 0; p < 3; ++p) {
      matmul(joined, input, projections[p].subspan(l * d * d, d * d), d);
      split_heads(heads[p], joined, shape, false);
      if (config.encoding == Encoding::kRope && p < 2) rotate(heads[p], spare, config);
    }
    attention(heads[3], weights.subspan(l * map, map), logits.subspan(l * map, map), heads[0], heads[1],
              heads[2], bias, shape);
    split_heads(joined, heads[3], shape, true);
    matmul(output, joined, layer.w_o.subspan(l * d * d, d * d), d);
    if (config.num_layers > 1) {
      for (size_t i = 0; i < cells; ++i) output[i] = input[i] += output[i];
    }
  }
}

OrderDifference order_difference(std::span<const double> output, std::span<const double> permuted_output,
                                 std::span<const int32_t> permutation, int cols) {
  const size_t n = permutation.size(), d = size_of(cols);
  assert(output.size() == n * d && permuted_output.size() == n * d);
  OrderDifference difference{0, 0};
  for (size_t c = 0; c < d; ++c) {
    double pooled = 0, pooled_permuted = 0;
    for (size_t i = 0; i < n; ++i) {
      const double expected = output[size_of(permutation[i]) * d + c];
      difference.equivariance =
          std::max(difference.equivariance, std::fabs(permuted_output[i * d + c] - expected));
      pooled += output[i * d + c];
      pooled_permuted += permuted_output[i * d + c];
    }
    difference.pooled =
        std::max(difference.pooled, std::fabs(pooled - pooled_permuted) / static_cast<double>(n));
  }
  return difference;
}

void cross_terms(std::span<double> terms, std::span<double> scratch, std::span<const double> x,
                 std::span<const double> p, std::span<const double> w_q, std::span<const double> w_k,
                 int seq_len, int d_model, int head_dim, double scale) {
  const size_t n = size_of(seq_len), d = size_of(head_dim), depth = size_of(d_model);
  assert(terms.size() == 4 * n * n && scratch.size() >= 4 * n * d);
  assert(x.size() == n * depth && p.size() == x.size() && w_q.size() == depth * d && w_k.size() == w_q.size());
  Pool pool{scratch};
  const std::span<double> queries[] = {pool.take(n * d), pool.take(n * d)};
  const std::span<double> keys[] = {pool.take(n * d), pool.take(n * d)};
  matmul(queries[0], x, w_q, depth);
  matmul(queries[1], p, w_q, depth);
  matmul(keys[0], x, w_k, depth);
  matmul(keys[1], p, w_k, depth);
  for (size_t term = 0; term < 4; ++term) {
    const auto q = queries[term / 2], k = keys[term % 2];
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double sum = 0;
        for (size_t c = 0; c < d; ++c) sum += q[i * d + c] * k[j * d + c];
        terms[(term * n + i) * n + j] = sum * scale;
      }
    }
  }
}

}  // namespace posenc
