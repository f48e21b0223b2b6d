// How alike two rows of a table are: their dot product.
//
// The tuned form multiplies the table by its transpose in 4 x 8 tiles held in registers, and only those on and
// above the diagonal. Of a sinusoidal table none of this is needed: PE(p) . PE(p+k) is the sum of cos(k w_i),
// whatever p. One number per offset is then all there is to compute, and each row of the result is the one
// above it, moved on.
//
// Based on: Vaswani et al. 2017, section 3.5.
#include <algorithm>
#include <cassert>

#include "multiply.hpp"
#include "posenc.hpp"
#include "rotation_table.hpp"

namespace posenc {
namespace {

constexpr size_t kRows = 4, kColumns = 8;      // of a tile
constexpr size_t kDepth = 256, kAtOnce = 128;  // columns of the table, and rows of it, that stay in the caches
constexpr size_t kBlockRows = 16;

// out (count, 8 panels), or += with add; rows and columns in panels.
void multiply_panels(Rows<float> out, const float* rows, const float* columns, size_t row_count,
                     size_t column_count, size_t depth, bool add) {
  float edge[kRows * kColumns] = {};  // a tile of which a part is in `out`
  for (size_t j = 0; j < column_count; j += kColumns) {
    for (size_t i = 0; i < row_count; i += kRows) {
      const Left<float> left{rows + i * depth, 1, kRows};
      const Rows<const float> right{columns + j * depth, kColumns};
      float* to = out.data + i * out.row + j;
      const bool whole = i + kRows <= row_count && j + kColumns <= column_count;
      const auto each = [&](auto one) {
        for (size_t r = 0; r < std::min(kRows, row_count - i); ++r) {
          for (size_t c = 0; c < std::min(kColumns, column_count - j); ++c) {
            one(to[r * out.row + c], edge[r * kColumns + c]);
          }
        }
      };
      if (!whole) each([](float cell, float& copy) { copy = cell; });
      multiply_tile<kRows, 2, float>(whole ? Rows<float>{to, out.row} : Rows<float>{edge, kColumns}, left,
                                     right, depth, add);
      if (!whole) each([](float& cell, float sum) { cell = sum; });
    }
  }
}

// Below the diagonal what stands above it, in squares that fit the nearest cache.
void mirror(float* out, size_t n) {
  constexpr size_t kSquare = 32;
  for (size_t top = 0; top < n; top += kSquare) {
    for (size_t left = 0; left <= top; left += kSquare) {
      for (size_t i = top; i < std::min(top + kSquare, n); i += 4) {
        for (size_t j = left; j < std::min(left + kSquare, i + 1); j += 4) {
          if (j + 4 <= i && i + 4 <= n) {
            f32x4 tile[4];
            for (size_t r = 0; r < 4; ++r) tile[r] = load<f32x4>(out + (j + r) * n + i);
            transpose(tile);
            for (size_t r = 0; r < 4; ++r) store(out + (i + r) * n + j, tile[r]);
            continue;
          }
          for (size_t r = i; r < std::min(i + 4, n); ++r) {
            for (size_t c = j; c < std::min(j + 4, r); ++c) out[r * n + c] = out[c * n + r];
          }
        }
      }
    }
  }
}

}  // namespace

[[gnu::cold]] void similarity(std::span<double> similarity, std::span<const double> table, int rows, int cols) {
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

int similarity_scratch(int cols) {
  return static_cast<int>((kAtOnce + kBlockRows) * std::min(kDepth, static_cast<size_t>(cols)));
}

void dot_products(std::span<float> dots, std::span<float> scratch, std::span<const float> table, int rows,
                  int cols, bool upper) {
  const auto n = static_cast<size_t>(rows), d = static_cast<size_t>(cols);
  assert(dots.size() == n * n && table.size() == n * d);
  assert(scratch.size() >= static_cast<size_t>(similarity_scratch(cols)));
  float* columns = scratch.data();                         // (16, depth, 8)
  float* block = columns + kAtOnce * std::min(kDepth, d);  // (4, depth, 4)
  for (size_t left = 0; left < n; left += kAtOnce) {
    const size_t width = std::min(kAtOnce, n - left), bottom = upper ? left + width : n;
    for (size_t k = 0; k < d; k += kDepth) {
      const size_t depth = std::min(kDepth, d - k);
      pack(columns, kColumns, {&table[left * d + k], d}, width, depth, 1.0f);
      for (size_t top = 0; top < bottom; top += kBlockRows) {
        const size_t height = std::min(kBlockRows, bottom - top);
        const size_t skipped = upper && top > left ? (top - left) / kColumns * kColumns : 0;
        pack(block, kRows, {&table[top * d + k], d}, height, depth, 1.0f);
        multiply_panels({&dots[top * n + left + skipped], n}, block, columns + skipped * depth, height,
                        width - skipped, depth, k > 0);
      }
    }
  }
}

void similarity(std::span<float> similarity, std::span<float> scratch, std::span<const float> table, int rows,
                int cols) {
  dot_products(similarity, scratch, table, rows, cols, true);
  mirror(similarity.data(), static_cast<size_t>(rows));
}

const char* invalid_similarity(const SinusoidalConfig& config) {
  if (const char* sentence = invalid(config)) return sentence;
  if (config.d_model % 2 != 0) return "d_model must be even: a sine without its cosine has no shift property";
  if (static_cast<double>(config.seq_len) * config.seq_len > kMaxCells) {
    return "seq_len * seq_len must be at most 2^28 cells";
  }
  return nullptr;
}

int sinusoidal_similarity_scratch(const SinusoidalConfig& config) {
  return sinusoidal_scratch(config) + config.seq_len;
}

[[gnu::cold]] void sinusoidal_similarity(std::span<float> similarity, std::span<double> scratch,
                                         const SinusoidalConfig& config) {
  assert(!invalid_similarity(config));
  const auto n = static_cast<size_t>(config.seq_len), pairs = static_cast<size_t>(sinusoidal_pairs(config));
  assert(similarity.size() == n * n);
  assert(scratch.size() >= static_cast<size_t>(sinusoidal_similarity_scratch(config)));
  const auto by_offset = scratch.first(n), inv_freq = scratch.subspan(n, pairs);
  sinusoidal_inv_freq(inv_freq, config);
  std::fill(by_offset.begin(), by_offset.end(), 0.0);
  const auto add = [&](int offset, int, double, double cos) { by_offset[static_cast<size_t>(offset)] += cos; };
  const auto add_four = [&](int offset, int, const FourPairs& v) {
    const f64x2 two = v.cos[0] + v.cos[1];
    by_offset[static_cast<size_t>(offset)] += two[0] + two[1];
  };
  rotation_table(add, add_four, static_cast<int>(pairs), scratch.subspan(n + pairs), config.seq_len, 0,
                 config.position_step, inv_freq, 1.0);
  float* first = similarity.data();
  for (size_t j = 0; j < n; ++j) first[j] = static_cast<float>(by_offset[j]);
  for (size_t i = 1; i < n; ++i) {
    std::copy_n(first + (i - 1) * n, n - 1, first + i * n + 1);
    first[i * n] = first[i];
  }
}

}  // namespace posenc
