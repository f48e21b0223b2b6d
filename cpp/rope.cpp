// Rotary position embedding: turn pair i of the query at position n by n w_i and of the key at m by m w_i;
// their dot product then depends on the positions through m - n alone: q^T R(m-n) k.
//
// Based on: Su et al., "RoFormer: Enhanced transformer with rotary position embedding", 2021, equations 15
// and 34. The two pair layouts: GPT-J (interleaved), GPT-NeoX (half). Multimodal sections: Qwen2-VL and
// Qwen3-VL.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "posenc.hpp"
#include "rotation_table.hpp"

namespace posenc {
namespace {

// First and second component of pair i, for any layout.
size_t first_of(int pair, const RopeShape& shape) {
  return static_cast<size_t>(shape.layout == PairLayout::kInterleaved ? 2 * pair : pair);
}
size_t second_of(int pair, const RopeShape& shape) {
  return static_cast<size_t>(shape.layout == PairLayout::kInterleaved ? 2 * pair + 1
                                                                      : pair + shape.rotary_dim / 2);
}

template <class T>
void rotate_pair(T* out, const T* x, size_t a, size_t b, T cos, T sin) {
  const T xa = x[a], xb = x[b];
  out[a] = xa * cos - xb * sin;
  out[b] = xa * sin + xb * cos;
}

[[maybe_unused]] bool sizes_fit(size_t out, size_t x, size_t cos, size_t sin, const RopeShape& shape) {
  const auto rows = static_cast<size_t>(shape.num_heads) * static_cast<size_t>(shape.seq_len);
  const auto angles = static_cast<size_t>(shape.seq_len) * static_cast<size_t>(shape.rotary_dim / 2);
  return !invalid(shape) && out == rows * static_cast<size_t>(shape.head_dim) && x == out && cos == angles &&
         sin == angles;
}

// Four pairs of a row, the first of which is pair i.
template <PairLayout kLayout>
inline void rotate_four(float* out, const float* x, const float* cos, const float* sin, int i, int pairs) {
  const auto c = load<f32x4>(cos + i), s = load<f32x4>(sin + i);
  if constexpr (kLayout == PairLayout::kHalf) {
    const auto a = load<f32x4>(x + i), b = load<f32x4>(x + pairs + i);
    store(out + i, a * c - b * s);
    store(out + pairs + i, a * s + b * c);
  } else {
    const auto low = load<f32x4>(x + 2 * i), high = load<f32x4>(x + 2 * i + 4);
    const f32x4 a = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    const f32x4 b = __builtin_shufflevector(low, high, 1, 3, 5, 7);
    const f32x4 turned_a = a * c - b * s, turned_b = a * s + b * c;
    store(out + 2 * i, __builtin_shufflevector(turned_a, turned_b, 0, 4, 1, 5));
    store(out + 2 * i + 4, __builtin_shufflevector(turned_a, turned_b, 2, 6, 3, 7));
  }
}

// Rows of one head, one after the other.
template <PairLayout kLayout>
[[gnu::noinline]] void rotate_rows(float* out, const float* x, const float* cos, const float* sin, int rows,
                                   const RopeShape& shape) {
  const int head_dim = shape.head_dim, rotary_dim = shape.rotary_dim, pairs = rotary_dim / 2;
  for (int row = 0; row < rows; ++row) {
    int i = 0;
    for (; i + 8 <= pairs; i += 8) {
      rotate_four<kLayout>(out, x, cos, sin, i, pairs);
      rotate_four<kLayout>(out, x, cos, sin, i + 4, pairs);
    }
    for (; i + 4 <= pairs; i += 4) rotate_four<kLayout>(out, x, cos, sin, i, pairs);
    for (; i < pairs; ++i) rotate_pair(out, x, first_of(i, shape), second_of(i, shape), cos[i], sin[i]);
    if (out != x && rotary_dim < head_dim) std::copy(x + rotary_dim, x + head_dim, out + rotary_dim);
    out += head_dim, x += head_dim;
    cos += pairs, sin += pairs;
  }
}

}  // namespace

void rope_cos_sin(std::span<double> cos, std::span<double> sin, std::span<const double> positions,
                  std::span<const double> inv_freq, double attention_factor) {
  const size_t pairs = inv_freq.size();
  assert(cos.size() == positions.size() * pairs && sin.size() == cos.size());
  for (size_t t = 0; t < positions.size(); ++t) {
    for (size_t i = 0; i < pairs; ++i) {
      const double angle = positions[t] * inv_freq[i];
      cos[t * pairs + i] = attention_factor * std::cos(angle);
      sin[t * pairs + i] = attention_factor * std::sin(angle);
    }
  }
}

int rope_scratch(int pairs) {
  return rotation_scratch(pairs);
}

void rope_cache(std::span<float> cos, std::span<float> sin, std::span<double> scratch, int seq_len,
                double first_position, std::span<const double> inv_freq, double attention_factor) {
  const size_t pairs = inv_freq.size();
  assert(cos.size() == static_cast<size_t>(seq_len) * pairs && sin.size() == cos.size());
  assert(scratch.size() >= static_cast<size_t>(rope_scratch(static_cast<int>(pairs))));
  const auto cell = [&](int row, int pair) {
    return static_cast<size_t>(row) * pairs + static_cast<size_t>(pair);
  };
  const auto emit = [&](int row, int pair, double s, double c) {
    sin[cell(row, pair)] = static_cast<float>(s);
    cos[cell(row, pair)] = static_cast<float>(c);
  };
  const auto emit_four = [&](int row, int pair, const FourPairs& v) {
    store(&sin[cell(row, pair)], to_float(v.sin[0], v.sin[1]));
    store(&cos[cell(row, pair)], to_float(v.cos[0], v.cos[1]));
  };
  rotation_table(emit, emit_four, static_cast<int>(pairs), scratch, seq_len, first_position, 1.0, inv_freq,
                 attention_factor);
}

const char* invalid_mrope(std::span<const int32_t> sections, int pairs) {
  if (sections.size() != 3) return "sections must have three entries: time, height, width";
  double sum = 0;
  for (const int32_t section : sections) {
    if (section < 0) return "sections must not be negative";
    sum += section;
  }
  if (sum != pairs) return "sections must sum to the number of pairs";
  return nullptr;
}

void mrope_axes(std::span<int32_t> axis, std::span<const int32_t> sections, MropeLayout layout) {
  assert(!invalid_mrope(sections, static_cast<int>(axis.size())));
  for (int i = 0; i < static_cast<int>(axis.size()); ++i) {
    int32_t& a = axis[static_cast<size_t>(i)];
    if (layout == MropeLayout::kChunked) {
      a = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
    } else {
      const int turn = i % 3;  // t h w t h w ..., until an axis has had its share
      a = turn != 0 && i < 3 * sections[static_cast<size_t>(turn)] ? turn : 0;
    }
  }
}

void mrope_cos_sin(std::span<double> cos, std::span<double> sin, std::span<const double> positions,
                   std::span<const int32_t> axis, std::span<const double> inv_freq, double attention_factor) {
  const size_t pairs = inv_freq.size(), seq_len = positions.size() / 3;
  assert(axis.size() == pairs && cos.size() == seq_len * pairs && sin.size() == cos.size());
  for (size_t t = 0; t < seq_len; ++t) {
    for (size_t i = 0; i < pairs; ++i) {
      const double angle = positions[static_cast<size_t>(axis[i]) * seq_len + t] * inv_freq[i];
      cos[t * pairs + i] = attention_factor * std::cos(angle);
      sin[t * pairs + i] = attention_factor * std::sin(angle);
    }
  }
}

const char* invalid(const RopeShape& shape) {
  if (shape.num_heads < 1) return "num_heads must be at least 1";
  if (shape.seq_len < 1) return "seq_len must be at least 1";
  if (shape.head_dim < 2) return "head_dim must be at least 2";
  if (shape.rotary_dim < 2 || shape.rotary_dim % 2 != 0) return "rotary_dim must be even and at least 2";
  if (shape.rotary_dim > shape.head_dim) return "rotary_dim must be at most head_dim";
  if (static_cast<double>(shape.num_heads) * shape.seq_len * shape.head_dim > kMaxCells) {
    return "num_heads * seq_len * head_dim must be at most 2^28 cells";
  }
  return nullptr;
}

void rope_apply(std::span<double> out, std::span<const double> x, std::span<const double> cos,
                std::span<const double> sin, const RopeShape& shape) {
  assert(sizes_fit(out.size(), x.size(), cos.size(), sin.size(), shape));
  const auto d = static_cast<size_t>(shape.head_dim), seq_len = static_cast<size_t>(shape.seq_len);
  const int pairs = shape.rotary_dim / 2;
  if (out.data() != x.data()) std::copy(x.begin(), x.end(), out.begin());
  for (size_t row = 0; row < static_cast<size_t>(shape.num_heads) * seq_len; ++row) {
    const size_t angles = row % seq_len * static_cast<size_t>(pairs);
    for (int i = 0; i < pairs; ++i) {
      const size_t at = angles + static_cast<size_t>(i);
      rotate_pair(&out[row * d], &out[row * d], first_of(i, shape), second_of(i, shape), cos[at], sin[at]);
    }
  }
}

void rope_apply(std::span<float> out, std::span<const float> x, std::span<const float> cos,
                std::span<const float> sin, const RopeShape& shape) {
  assert(sizes_fit(out.size(), x.size(), cos.size(), sin.size(), shape));
  const auto d = static_cast<size_t>(shape.head_dim), seq_len = static_cast<size_t>(shape.seq_len);
  const auto pairs = static_cast<size_t>(shape.rotary_dim / 2);
  const auto rotate = shape.layout == PairLayout::kHalf ? rotate_rows<PairLayout::kHalf>
                                                        : rotate_rows<PairLayout::kInterleaved>;
  constexpr size_t kAngles =
      2048;  // of cos and of sin, that stay in the nearest cache while all heads use them
  const size_t rows = std::max<size_t>(kAngles / pairs, 1);
  for (size_t t = 0; t < seq_len; t += rows) {
    const auto count = static_cast<int>(std::min(rows, seq_len - t));
    for (size_t head = 0; head < static_cast<size_t>(shape.num_heads); ++head) {
      const size_t at = (head * seq_len + t) * d;
      rotate(&out[at], &x[at], &cos[t * pairs], &sin[t * pairs], count, shape);
    }
  }
}

void half_from_interleaved(std::span<int32_t> row_index, const RopeShape& shape) {
  assert(row_index.size() == static_cast<size_t>(shape.num_heads * shape.head_dim));
  RopeShape interleaved = shape, half = shape;
  interleaved.layout = PairLayout::kInterleaved;
  half.layout = PairLayout::kHalf;
  for (int head = 0; head < shape.num_heads; ++head) {
    int32_t* rows = &row_index[static_cast<size_t>(head * shape.head_dim)];
    const int32_t first_row = head * shape.head_dim;
    for (int r = shape.rotary_dim; r < shape.head_dim; ++r) rows[r] = first_row + r;
    for (int i = 0; i < shape.rotary_dim / 2; ++i) {
      rows[first_of(i, half)] = first_row + static_cast<int32_t>(first_of(i, interleaved));
      rows[second_of(i, half)] = first_row + static_cast<int32_t>(second_of(i, interleaved));
    }
  }
}

void rope_score_by_offset(std::span<double> score, std::span<const double> offsets, std::span<const double> q,
                          std::span<const double> k, std::span<const double> inv_freq) {
  assert(score.size() == offsets.size() && q.size() == 2 * inv_freq.size() && k.size() == q.size());
  for (size_t o = 0; o < offsets.size(); ++o) {
    double sum = 0;
    for (size_t i = 0; i < inv_freq.size(); ++i) {
      const double cos = std::cos(offsets[o] * inv_freq[i]), sin = std::sin(offsets[o] * inv_freq[i]);
      const double* a = &q[2 * i];
      const double* b = &k[2 * i];
      sum += (a[0] * b[0] + a[1] * b[1]) * cos + (a[1] * b[0] - a[0] * b[1]) * sin;
    }
    score[o] = sum;
  }
}

}  // namespace posenc
