// Tables of sin and cos by the lesson's own property: PE(p+k) = M_k PE(p).
//
// One row in 2R+1, the anchor, is computed exactly from its phase; the R rows on each side of it are the anchor
// turned by M_1..M_R and by their inverses. Rows p+r and p-r share the four products of the rotation, so a row
// costs two multiplications per value and no trigonometry. Every value is one double rotation away from an
// exact anchor: the error does not grow along the table.
#pragma once

#include <algorithm>
#include <span>

#include "phase.hpp"

namespace posenc {

inline constexpr int kRotations = 8;  // R: 17 rows to an anchor

// Doubles of scratch for `pairs` frequencies: turns, the anchor, and R rotations, in rows of an even length.
inline constexpr int rotation_scratch(int pairs) {
  return (3 + 2 * kRotations) * ((pairs + 1) & ~1);
}

// Two floats from two doubles.
inline f32x2 to_float(f64x2 v) {
  return __builtin_convertvector(v, f32x2);
}

// Calls emit(row, pair, sin, cos) for every row 0..seq_len-1 and every even pair, two pairs at a time; when the
// number of pairs is odd the last call's second lane is padding. sin and cos are multiplied by scale.
template <class Emit>
void rotation_table(Emit emit, std::span<double> scratch, int seq_len, double first_position,
                    double position_step, std::span<const double> inv_freq, double scale) {
  const int pairs = static_cast<int>(inv_freq.size()), n = (pairs + 1) & ~1;
  double* turns = scratch.data();  // bits of uint64_t
  double *anchor_sin = turns + n, *anchor_cos = anchor_sin + n, *rotations = anchor_cos + n;
  const auto frequency = [&](int i) { return i < pairs ? inv_freq[static_cast<size_t>(i)] : 0; };
  for (int i = 0; i < n; ++i) store(turns + i, turns_per_position(frequency(i)));
  const auto exact_row = [&](double* sin, double* cos, double position, double factor) {
    for (int i = 0; i < n; i += 2) {
      const auto t = load<u64x2>(turns + i);
      f64x2 s, c;
      sin_cos(u64x2{phase_of(position, t[0], frequency(i)), phase_of(position, t[1], frequency(i + 1))}, &s,
              &c);
      store(sin + i, s * factor);
      store(cos + i, c * factor);
    }
  };
  const int reach = std::min(kRotations, seq_len / 2);
  for (int r = 1; r <= reach; ++r) {
    double* rotation = rotations + (r - 1) * 2 * n;
    exact_row(rotation, rotation + n, r * position_step, 1.0);
  }
  for (int first = 0; first < seq_len; first += 2 * reach + 1) {
    const int anchor = first + reach;
    exact_row(anchor_sin, anchor_cos, first_position + anchor * position_step, scale);
    if (anchor < seq_len) {
      for (int i = 0; i < n; i += 2) emit(anchor, i, load<f64x2>(anchor_sin + i), load<f64x2>(anchor_cos + i));
    }
    for (int r = 1; r <= reach; ++r) {
      if (anchor - r >= seq_len) continue;
      const bool has_after = anchor + r < seq_len;
      const double *rotation_sin = rotations + (r - 1) * 2 * n, *rotation_cos = rotation_sin + n;
      for (int i = 0; i < n; i += 2) {
        const auto s = load<f64x2>(anchor_sin + i), c = load<f64x2>(anchor_cos + i);
        const auto x = load<f64x2>(rotation_sin + i), y = load<f64x2>(rotation_cos + i);
        const f64x2 sy = s * y, cx = c * x, cy = c * y, sx = s * x;
        emit(anchor - r, i, sy - cx, cy + sx);
        if (has_after) emit(anchor + r, i, sy + cx, cy - sx);
      }
    }
  }
}

}  // namespace posenc
