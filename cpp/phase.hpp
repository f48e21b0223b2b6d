// The angle of a position as a fraction of a turn, in 64 bits of fixed point.
//
// position * inv_freq mod 2 pi is where float tables go wrong: the angle grows, its fraction loses bits. Here
// one position is `turns = inv_freq / (2 pi)` of a turn, kept as an integer of 2^-64 turns; then position *
// turns in wrapping 64-bit arithmetic *is* the reduction, exact but for the bits of turns that were cut: at
// position 1e6 the angle is off by at most 1e6 * 2^-64 turns = 3.4e-13 radians.
//
// Based on: Payne and Hanek, "Radian reduction for trigonometric functions", 1983 (the same idea, per call);
// the polynomials on [-pi/4, pi/4] are those of FDLIBM's k_sin.c and k_cos.c, Sun Microsystems, 1993.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "simd.hpp"

namespace posenc {

__extension__ using uint128 = unsigned __int128;

// inv_freq / (2 pi), in units of 2^-64 turns, modulo one turn. inv_freq >= 0, finite.
inline uint64_t turns_per_position(double inv_freq) {
  // 1/(2 pi) to 128 bits.
  constexpr uint64_t kHigh = 0x28BE60DB9391054A, kLow = 0x7F09D5F47D4D3770;
  if (inv_freq == 0) return 0;
  int exponent;
  const auto mantissa = static_cast<uint64_t>(std::ldexp(std::frexp(inv_freq, &exponent), 53));
  // inv_freq = mantissa * 2^(exponent-53); mantissa/(2 pi) = limbs * 2^-128.
  const uint128 low = static_cast<uint128>(mantissa) * kLow;
  const uint128 high = static_cast<uint128>(mantissa) * kHigh + static_cast<uint64_t>(low >> 64);
  const uint64_t limbs[4] = {static_cast<uint64_t>(low), static_cast<uint64_t>(high),
                             static_cast<uint64_t>(high >> 64), 0};
  const int shift = 64 + 53 - exponent;  // bits to drop from limbs * 2^(exponent-53) * 2^64 / 2^128
  if (shift <= 0 || shift >= 192) return 0;
  const int limb = shift / 64, bits = shift % 64;
  const uint64_t upper = limbs[limb + 1];
  return bits == 0 ? limbs[limb] : limbs[limb] >> bits | upper << (64 - bits);
}

// position * inv_freq / (2 pi) modulo one turn, with turns = turns_per_position(inv_freq). |position| <= 2^53;
// its fraction, which also counts the whole turns that `turns` leaves out, keeps 2^-53 of its share.
inline uint64_t phase_of(double position, uint64_t turns, double inv_freq) {
  const double whole = std::floor(position);
  const double fraction = position - whole;
  uint64_t phase = static_cast<uint64_t>(static_cast<int64_t>(whole)) * turns;
  if (fraction != 0) {
    const double share = fraction * (inv_freq * (0.5 * std::numbers::inv_pi));
    phase += static_cast<uint64_t>((share - std::floor(share)) * 0x1p64);
  }
  return phase;
}

// sin and cos of two phases, error 2.6e-16.
inline void sin_cos(u64x2 phase, f64x2* sin, f64x2* cos) {
  // Distance from the nearest quarter turn, as a signed fraction of a quarter turn in [-1/2, 1/2).
  const i64x2 fraction = (i64x2)(phase << 2);
  const f64x2 y = to_double(fraction) * 0x1.921fb54442d18p+0 * 0x1p-64;
  const f64x2 z = y * y;
  f64x2 s = z * 1.58969099521155010221e-10 - 2.50507602534068634195e-08;
  s = s * z + 2.75573137070700676789e-06;
  s = s * z - 1.98412698298579493134e-04;
  s = s * z + 8.33333333332248946124e-03;
  s = s * z - 1.66666666666666324348e-01;
  s = y + y * z * s;
  f64x2 c = z * -1.13596475577881948265e-11 + 2.08757232129817482790e-09;
  c = c * z - 2.75573143513906633035e-07;
  c = c * z + 2.48015872894767294178e-05;
  c = c * z - 1.38888888888741095749e-03;
  c = c * z + 4.16666666666666019037e-02;
  c = (1.0 - z * 0.5) + z * z * c;
  // The nearest quarter turn decides which of the two is the sine, and the signs.
  const u64x2 quadrant = phase + (uint64_t{1} << 61);
  const i64x2 swap = (i64x2)(quadrant << 1) >> 63;
  const i64x2 sin_sign = (i64x2)(quadrant & (uint64_t{1} << 63));
  const i64x2 cos_sign = (i64x2)((quadrant + (uint64_t{1} << 62)) & (uint64_t{1} << 63));
  *sin = (f64x2)((i64x2)select(swap, c, s) ^ sin_sign);
  *cos = (f64x2)((i64x2)select(swap, s, c) ^ cos_sign);
}

}  // namespace posenc
