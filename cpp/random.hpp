// SplitMix64: the seeded bits behind every random number here, the same in every build.
//
// Based on: Steele et al., "Fast splittable pseudorandom number generators", 2014.
#pragma once

#include <cstdint>

namespace posenc {

// Bits that depend on every bit of z.
inline uint64_t mix(uint64_t z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

inline uint64_t next_bits(uint64_t& state) {
  return mix(state += 0x9E3779B97F4A7C15);
}

// Uniform in (0, 1].
inline double next_uniform(uint64_t& state) {
  return static_cast<double>((next_bits(state) >> 11) + 1) * 0x1p-53;
}

}  // namespace posenc
