// T5's relative position bias: distances are sorted into a few buckets, and each head learns one number per
// bucket that is added to its logits. Near distances have a bucket each; far ones share buckets that widen by a
// constant ratio up to max_distance; beyond it there is one. T5 does not divide q k^T by sqrt(d).
//
// Based on: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer",
// 2019, section 2.1; mesh-tensorflow and transformers, _relative_position_bucket.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "posenc.hpp"

namespace posenc {
namespace {

// Buckets of one direction, and how many of them hold one distance each.
int one_sided(const T5Config& config) {
  return config.bidirectional ? config.num_buckets / 2 : config.num_buckets;
}
int exact(const T5Config& config) {
  return one_sided(config) / 2;
}

}  // namespace

const char* invalid(const T5Config& config) {
  if (config.num_buckets < 2) return "num_buckets must be at least 2";
  if (config.bidirectional && (config.num_buckets < 4 || config.num_buckets % 2 != 0)) {
    return "num_buckets must be even and at least 4 if bidirectional";
  }
  if (config.max_distance <= exact(config)) {
    return "max_distance must be greater than the number of exact buckets (num_buckets/2, or /4 if "
           "bidirectional)";
  }
  return nullptr;
}

int t5_relative_position_bucket(int relative_position, const T5Config& config) {
  assert(!invalid(config));
  const int buckets = one_sided(config), near = exact(config);
  const int side = config.bidirectional && relative_position > 0 ? buckets : 0;
  const int64_t back = -static_cast<int64_t>(relative_position);
  const int64_t distance = config.bidirectional ? std::abs(back) : std::max<int64_t>(back, 0);
  if (distance < near) return side + static_cast<int>(distance);
  double step = std::log(static_cast<double>(distance) / near) /
                std::log(static_cast<double>(config.max_distance) / near) * (buckets - near);
  // At an exact power the logarithms' rounding must not decide: the reference's float32 gives the whole number.
  if (std::fabs(step - std::round(step)) < 1e-9) step = std::round(step);
  return side + std::min(near + static_cast<int>(std::min<double>(step, buckets - near)), buckets - 1);
}

void t5_bias(std::span<double> bias, std::span<const double> table, int num_heads, int q_len, int k_len,
             const T5Config& config) {
  const auto heads = static_cast<size_t>(num_heads);
  assert(bias.size() == heads * static_cast<size_t>(q_len) * static_cast<size_t>(k_len));
  assert(table.size() == heads * static_cast<size_t>(config.num_buckets));
  size_t at = 0;
  for (size_t h = 0; h < heads; ++h) {
    for (int i = 0; i < q_len; ++i) {
      for (int j = 0; j < k_len; ++j) {
        bias[at++] = table[static_cast<size_t>(t5_relative_position_bucket(j - i, config)) * heads + h];
      }
    }
  }
}

}  // namespace posenc
