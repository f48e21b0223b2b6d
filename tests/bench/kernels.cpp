// The kernels for the benchmark: called with addresses in WebAssembly memory, so that neither a copy nor a
// check is in the time; and probes of what the machine can do at most. The library is the one that the core is
// linked from.
#include "multiply.hpp"
#include "posenc.hpp"

using namespace posenc;

#define EXPORT(name) extern "C" __attribute__((export_name(#name), noinline))

namespace {

template <class T>
std::span<T> at(T* data, double size) {
  return {data, static_cast<size_t>(size)};
}

double product(int a, int b, int c = 1) {
  return static_cast<double>(a) * b * c;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- kernels

EXPORT(table) void table(float* out, double* scratch, double first_position, int seq_len, int d_model) {
  const SinusoidalConfig config{.seq_len = seq_len, .d_model = d_model, .first_position = first_position};
  sinusoidal_table(at(out, product(seq_len, d_model)), at(scratch, sinusoidal_scratch(config)), config);
}
EXPORT(table_scratch) int table_scratch(int seq_len, int d_model) {
  return sinusoidal_scratch({.seq_len = seq_len, .d_model = d_model});
}

EXPORT(rope_cache_table)
void rope_cache_table(float* cos, float* sin, double* inv_freq, double* scratch, int seq_len, int head_dim) {
  const int pairs = head_dim / 2;
  const std::span<double> frequencies = at(inv_freq, pairs);
  sinusoidal_inv_freq(frequencies, {.seq_len = 1, .d_model = head_dim});
  const double cells = product(seq_len, pairs);
  rope_cache(at(cos, cells), at(sin, cells), at(scratch, rope_scratch(pairs)), seq_len, 0, frequencies, 1);
}
EXPORT(rope_cache_scratch) int rope_cache_scratch(int head_dim) {
  return rope_scratch(head_dim / 2);
}

EXPORT(rope)
void rope(float* out, float* x, float* cos, float* sin, int num_heads, int seq_len, int head_dim, bool half) {
  const double cells = product(num_heads, seq_len, head_dim), angles = product(seq_len, head_dim / 2);
  const RopeShape shape{num_heads, seq_len, head_dim, head_dim,
                        half ? PairLayout::kHalf : PairLayout::kInterleaved};
  rope_apply(at(out, cells), at<const float>(x, cells), at<const float>(cos, angles),
             at<const float>(sin, angles), shape);
}

EXPORT(attend)
void attend(float* output, float* weights, float* scratch, float* q, float* k, float* v, float* bias,
            int num_heads, int seq_len, int head_dim) {
  const AttentionConfig config{num_heads, seq_len, head_dim, 1 / std::sqrt(head_dim), false};
  const double cells = product(num_heads, seq_len, head_dim);
  attention(at(output, cells), at(weights, product(num_heads, seq_len, seq_len)),
            at(scratch, attention_scratch(config)), at<const float>(q, cells), at<const float>(k, cells),
            at<const float>(v, cells), at<const float>(bias, bias ? product(num_heads, 2 * seq_len - 1) : 0),
            config);
}
EXPORT(attend_scratch) int attend_scratch(int num_heads, int seq_len, int head_dim) {
  return attention_scratch({num_heads, seq_len, head_dim, 1, false});
}

EXPORT(colours)
void colours(uint32_t* rgba, double* scratch, float* values, uint32_t* lut, int rows, int cols,
             bool transpose) {
  const ColormapConfig config{.rows = rows,
                              .cols = cols,
                              .width = transpose ? rows : cols,
                              .height = transpose ? cols : rows,
                              .num_rows = static_cast<double>(rows),
                              .num_cols = static_cast<double>(cols),
                              .transpose = transpose};
  const double cells = product(rows, cols);
  colormap(at(rgba, cells), at(scratch, colormap_scratch(config)), at<const float>(values, cells),
           at<const uint32_t>(lut, kLutSize), config);
}

EXPORT(similarity_of) void similarity_of(float* out, float* values, float* scratch, int rows, int cols) {
  similarity(at(out, product(rows, rows)), at(scratch, similarity_scratch(cols)),
             at<const float>(values, product(rows, cols)), rows, cols);
}
// Each product by itself, as a peer computes it that does not know that the result is symmetric.
EXPORT(products_of) void products_of(float* out, float* values, float* scratch, int rows, int cols) {
  dot_products(at(out, product(rows, rows)), at(scratch, similarity_scratch(cols)),
               at<const float>(values, product(rows, cols)), rows, cols, false);
}
EXPORT(products_scratch) int products_scratch(int cols) {
  return similarity_scratch(cols);
}
EXPORT(toeplitz_of) void toeplitz_of(float* out, double* scratch, int rows, int cols) {
  const SinusoidalConfig config{.seq_len = rows, .d_model = cols};
  sinusoidal_similarity(at(out, product(rows, rows)), at(scratch, sinusoidal_similarity_scratch(config)),
                        config);
}
EXPORT(toeplitz_scratch) int toeplitz_scratch(int rows, int cols) {
  return sinusoidal_similarity_scratch({.seq_len = rows, .d_model = cols});
}

// ----------------------------------------------------------------------------------------------------- limits

EXPORT(store_all) void store_all(f32x4* to, int vectors, float x) {
  const f32x4 v = splat(x);
  for (int i = 0; i < vectors; i += 4) {
    to[i] = v, to[i + 1] = v, to[i + 2] = v, to[i + 3] = v;
    __asm__ volatile("" ::: "memory");  // else a fill by the engine
  }
}

EXPORT(copy_all) void copy_all(f32x4* to, const f32x4* from, int vectors) {
  for (int i = 0; i < vectors; i += 4) {
    const f32x4 a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
    to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
    __asm__ volatile("" ::: "memory");
  }
}

// `rounds` times 12 independent chains of a multiplication and an addition of four floats: 96 operations a
// round.
EXPORT(multiply_add) float multiply_add(int rounds, float factor, float term) {
  constexpr int kChains = 12;
  f32x4 sums[kChains];
  for (int c = 0; c < kChains; ++c) sums[c] = splat(static_cast<float>(c) * factor);
  const f32x4 x = splat(factor), y = splat(term);
  for (int i = 0; i < rounds; ++i) {
    for (int c = 0; c < kChains; ++c) sums[c] = sums[c] * x + y;
  }
  f32x4 all = sums[0];
  for (int c = 1; c < kChains; ++c) all += sums[c];
  return sum(all);
}
