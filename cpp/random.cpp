// Seeded normal numbers, so that a figure's "random" weights are the same for everyone who opens its link.
//
// Based on: Box and Muller, "A note on the generation of random normal deviates", 1958.
#include "random.hpp"

#include <cmath>
#include <numbers>

#include "posenc.hpp"

namespace posenc {

void random_normal(std::span<double> out, uint32_t seed, double sigma) {
  uint64_t state = seed;
  for (double& x : out) {
    const double radius = std::sqrt(-2 * std::log(next_uniform(state)));
    x = sigma * radius * std::cos(2 * std::numbers::pi * next_uniform(state));
  }
}

}  // namespace posenc
