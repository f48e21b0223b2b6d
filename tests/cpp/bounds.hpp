// The largest errors that posenc.hpp states in words, as numbers; kTableError it already gives as a constant.
#pragma once

#include <cmath>

namespace test {

// sinusoidal_rows, of a value whose angle is position * inv_freq.
inline double rows_error(double angle) {
  return 4e-16 + 2.3e-15 * std::fabs(angle);
}
// rope_cos_sin, times the attention factor.
inline double cos_sin_error(double angle) {
  return 4e-16 + 1.3e-16 * std::fabs(angle);
}
// A float table at positions from 1e6 to 2^24.
inline constexpr double kFarTableError = 0x1p-23;
// Double inverse frequencies of RoPE, relative.
inline constexpr double kRopeInvFreqError = 1e-14;
// Float rope_apply, times (|a| + |b|) of the pair; cos and sin within -1..1.
inline constexpr double kRopeApplyError = 0x1p-23;
// Float similarity, times cols * sum |a b|.
inline constexpr double kSimilarityError = 0x1p-24;
// Weights of the float attention.
inline double weights_error(double largest_logit) {
  return 2e-6 + 1e-6 * std::fabs(largest_logit);
}
// A double rounded to float, relative.
inline constexpr double kToFloat = 0x1p-24;

}  // namespace test
