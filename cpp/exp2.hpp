// 2^x for the softmax, four at a time: a shift of the exponent for the whole part, a polynomial for the rest.
//
// Based on: Cephes exp2f, S. Moshier.
#pragma once

#include "simd.hpp"

namespace posenc {

// 2^x for x <= 0, relative error 2e-7; below -126 it stays at 2^-126.
inline f32x4 exp2(f32x4 x) {
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

}  // namespace posenc
