// Seeded normal numbers, so that a figure's "random" weights are the same for everyone who opens its link.
//
// Based on: Steele et al., "Fast splittable pseudorandom number generators", 2014 (SplitMix64); Box and Muller
// 1958.
#include <cmath>
#include <numbers>

#include "posenc.hpp"

namespace posenc {
namespace {

// Uniform in (0, 1].
double next_uniform(uint64_t& state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>((z >> 11) + 1) * 0x1p-53;
}

}  // namespace

void random_normal(std::span<double> out, uint32_t seed, double sigma) {
  uint64_t state = seed;
  for (double& x : out) {
    const double radius = std::sqrt(-2 * std::log(next_uniform(state)));
    x = sigma * radius * std::cos(2 * std::numbers::pi * next_uniform(state));
  }
}

}  // namespace posenc
