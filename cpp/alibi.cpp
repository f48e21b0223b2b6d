// ALiBi: no positions in the input; each head subtracts its slope times the distance from the logits.
//
// Based on: Press, Smith, Lewis, "Train short, test long: attention with linear biases enables input length
// extrapolation", 2021, section 3, and its get_slopes; alibi_bias_max: MPT, llm-foundry.
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdlib>

#include "posenc.hpp"

namespace posenc {

const char* invalid(const AlibiConfig& config) {
  if (config.num_heads < 1) return "num_heads must be at least 1";
  if (!(config.alibi_bias_max > 0) || !std::isfinite(config.alibi_bias_max)) {
    return "alibi_bias_max must be a finite number above 0";
  }
  return nullptr;
}

void alibi_slopes(std::span<double> slopes, const AlibiConfig& config) {
  assert(!invalid(config) && slopes.size() == static_cast<size_t>(config.num_heads));
  const size_t power = std::bit_floor(slopes.size());
  const auto slope = [&](size_t h, size_t heads) {
    return std::exp2(-config.alibi_bias_max * static_cast<double>(h) / static_cast<double>(heads));
  };
  for (size_t h = 0; h < slopes.size(); ++h) {
    // Past the power of two: the slopes of twice as many heads that stand between those already taken.
    slopes[h] = h < power ? slope(h + 1, power) : slope(2 * (h - power) + 1, 2 * power);
  }
}

void alibi_bias(std::span<double> bias, std::span<const double> slopes, int seq_len, bool causal) {
  const auto n = static_cast<size_t>(seq_len);
  assert(bias.size() == slopes.size() * n * n);
  for (size_t h = 0; h < slopes.size(); ++h) {
    for (int i = 0; i < seq_len; ++i) {
      for (int j = 0; j < seq_len; ++j) {
        const bool masked = causal && j > i;
        bias[(h * n + static_cast<size_t>(i)) * n + static_cast<size_t>(j)] =
            masked ? -std::numeric_limits<double>::infinity() : -slopes[h] * std::abs(j - i);
      }
    }
  }
}

}  // namespace posenc
