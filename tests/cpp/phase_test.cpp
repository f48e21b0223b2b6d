// The sines and cosines under the float tables: of phases, 2^-64 turns each.
#include "phase.hpp"

#include <numbers>

#include "check.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

TEST_CASE("sin and cos of a phase are within 2.6e-16, in all four quarters and at their borders") {
  Dice dice{101};
  std::vector<uint64_t> phases;
  for (int eighth = 0; eighth < 8; ++eighth) {
    const uint64_t border = static_cast<uint64_t>(eighth) << 61;
    for (const uint64_t near : {0u, 1u, 2u, 1000u}) phases.insert(phases.end(), {border + near, border - near});
  }
  for (int i = 0; i < 4000; ++i) phases.push_back(dice.bits());
  std::vector<double> values;
  std::vector<long double> exact;
  for (size_t i = 0; i < phases.size(); i += 2) {
    f64x2 sin, cos;
    sin_cos(u64x2{phases[i], phases[i + 1]}, &sin, &cos);
    for (size_t lane = 0; lane < 2; ++lane) {
      values.insert(values.end(), {sin[lane], cos[lane]});
      // As a signed fraction of a turn, so that small angles keep their digits.
      const long double angle = static_cast<long double>(static_cast<int64_t>(phases[i + lane])) * 0x1p-63L *
                                std::numbers::pi_v<long double>;
      exact.insert(exact.end(), {std::sin(angle), std::cos(angle)});
    }
  }
  // The reduced angle y is a conversion, a constant and a product, 2.6e-16 y together; at most y cos y = 0.56
  // of that reaches the value, and the polynomial adds a unit of a number below 1.
  check_near("sin, cos", values, exact, 0.56 * 2.6e-16 + 0x1p-53);
}

TEST_CASE("a position's phase is its share of a turn: whole positions wrap, fractions and signs count") {
  const uint64_t turns = turns_per_position(1.0);
  CHECK(turns == 0x28BE60DB9391054A);  // 1/(2 pi), cut
  CHECK(turns_per_position(0) == 0);
  CHECK(turns_per_position(0.5) == turns / 2);
  CHECK(phase_of(3, turns, 1.0) == 3 * turns);
  CHECK(phase_of(-3, turns, 1.0) == 0 - 3 * turns);
  CHECK(phase_of(1e6, turns, 1.0) == 1000000 * turns);
  check_near("half", static_cast<double>(phase_of(2.5, turns, 1.0) - 2 * turns),
             0.5 * static_cast<double>(turns), 2048);
  check_near("back", static_cast<double>(turns - phase_of(0.25, turns, 1.0)),
             static_cast<double>(0 - phase_of(-0.75, turns, 1.0)), 2048);
  // pi * 2^-k is 2^-(k+1) turns; the double pi is short of it by 1.2e-16.
  for (int k = 0; k < 60; k += 7) {
    const double expected = std::ldexp(0x1p63, -k);
    check_near("pi/2^" + std::to_string(k),
               static_cast<double>(turns_per_position(std::ldexp(std::numbers::pi, -k))), expected,
               1 + expected * 0x1p-53);
  }
}

TEST_CASE("a fraction of a position counts the whole turns of a fast pair too") {
  const double inv_freq = 3 * std::numbers::pi;  // one and a half turns a position
  const uint64_t phase = phase_of(0.5, turns_per_position(inv_freq), inv_freq);
  check_near("three quarters", static_cast<double>(phase), 0.75 * 0x1p64, 0x1p64 * 0x1p-52);
}
