// Seeded inputs: the same numbers in every build.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "posenc.hpp"

namespace test {

inline std::vector<double> normals(size_t count, uint32_t seed, double sigma = 1) {
  std::vector<double> x(count);
  posenc::random_normal(x, seed, sigma);
  return x;
}

inline std::vector<float> to_floats(std::span<const double> x) {
  std::vector<float> y;
  for (const double v : x) y.push_back(static_cast<float>(v));
  return y;
}
inline std::vector<double> to_doubles(std::span<const float> x) {
  return {x.begin(), x.end()};
}

// SplitMix64 (Steele et al. 2014).
struct Dice {
  uint64_t state;

  uint64_t bits() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  int between(int low, int high) {  // both included
    return low + static_cast<int>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  template <class T, size_t n>
  T pick(const T (&choices)[n]) {
    return choices[bits() % n];
  }
  std::vector<int32_t> permutation(int n) {
    std::vector<int32_t> p(static_cast<size_t>(n));
    std::iota(p.begin(), p.end(), 0);
    for (int i = n - 1; i > 0; --i) std::swap(p[static_cast<size_t>(i)], p[static_cast<size_t>(between(0, i))]);
    return p;
  }
};

}  // namespace test
