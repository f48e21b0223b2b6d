// What positions and rotations become in the number formats that models run in.
//
// bfloat16 keeps 8 significant bits, float16 keeps 11, float32 keeps 24: whole numbers from 257, 2049 and
// 16777217 on are no longer all representable, and two positions become one.
//
// Based on: IEEE 754-2019 (binary16, binary32); bfloat16 as in Kalamkar et al. 2019.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "posenc.hpp"

namespace posenc {
namespace {

struct Format {
  int significant_bits, min_exponent;  // min_exponent: of the smallest normal number
  double largest;
};

Format format_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::kBfloat16:
      return {8, -126, 0x1.FEp127};
    case FloatFormat::kFloat16:
      return {11, -14, 65504.0};
    case FloatFormat::kFloat32:
      break;
  }
  return {24, -126, 0x1.FFFFFEp127};
}

}  // namespace

double round_to(double value, FloatFormat format) {
  if (!std::isfinite(value) || value == 0) return value;
  const Format f = format_of(format);
  const int exponent = std::max(std::ilogb(value), f.min_exponent);
  const double ulp = std::ldexp(1.0, exponent - f.significant_bits + 1);
  const double rounded = std::nearbyint(value / ulp) * ulp;  // the default mode: ties to even
  return std::fabs(rounded) > f.largest ? std::copysign(HUGE_VAL, value) : rounded;
}

void rope_format_errors(std::span<double> error, std::span<const double> positions,
                        std::span<const double> inv_freq, FloatFormat format, const RoundedSteps& rounded) {
  assert(error.size() == positions.size());
  const auto step = [&](bool is_rounded, double value) { return is_rounded ? round_to(value, format) : value; };
  for (size_t t = 0; t < positions.size(); ++t) {
    double largest = 0;
    const double position = step(rounded.position, positions[t]);
    for (const double w : inv_freq) {
      const double angle = step(rounded.angle, position * step(rounded.inv_freq, w));
      const double cos = std::fabs(step(rounded.result, std::cos(angle)) - std::cos(positions[t] * w));
      const double sin = std::fabs(step(rounded.result, std::sin(angle)) - std::sin(positions[t] * w));
      if (!(std::max(cos, sin) <= largest)) largest = std::isnan(largest) ? largest : std::max(cos, sin);
    }
    error[t] = largest;
  }
}

}  // namespace posenc
