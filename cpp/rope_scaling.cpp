// RoPE frequencies, and what each way of reaching longer contexts does to them.
//
// Every scheme answers the same question: pair i turned by w_i per position in training; by how much does it
// turn now? Linear slows all pairs by `factor`; NTK slows pair i by factor^(2i/(d-2)), from 1 for the fastest
// to factor for the slowest; YaRN and Llama 3 leave the pairs that made many turns in training alone, slow
// those that made less than one, and blend between; LongRoPE has a searched divisor per pair.
//
// Based on: Su et al., "RoFormer", 2021, equation 15; Chen et al., "Extending context window via positional
// interpolation", 2023; bloc97, "NTK-aware scaled RoPE", 2023; Peng et al., "YaRN", 2023; Ding et al.,
// "LongRoPE", 2024; transformers, modeling_rope_utils.py, whose readings of the configs these are.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "posenc.hpp"

namespace posenc {
namespace {

bool given(double value) {
  return !std::isnan(value);
}

int exponent_dim(const RopeConfig& config) {
  if (config.rope_type == RopeType::kProportional) return config.head_dim;
  return config.frequency_dim != 0 ? config.frequency_dim : config.rotary_dim;
}

bool needs_trained_length(RopeType type) {
  return type == RopeType::kDynamic || type == RopeType::kYarn || type == RopeType::kLongrope ||
         type == RopeType::kLlama3;
}

// By how much dynamic NTK slows the slowest pair of a sequence of seq_len positions: factor*L/M - (factor-1),
// in a form that is exactly 1 at L = M however large the factor.
double dynamic_multiplier(const RopeConfig& config, double seq_len) {
  const double trained = config.original_max_position_embeddings;
  return 1 + config.factor * (std::max(seq_len, trained) - trained) / trained;
}

// The base that NTK-aware scaling uses: its slowest pair turns slower by exactly `multiplier`.
double ntk_base(const RopeConfig& config, double multiplier) {
  const double d = exponent_dim(config);
  return config.rope_theta * std::pow(multiplier, d / (d - 2));
}

double base_of(const RopeConfig& config, double seq_len) {
  if (config.rope_type == RopeType::kNtk) return ntk_base(config, config.factor);
  if (config.rope_type == RopeType::kDynamic) return ntk_base(config, dynamic_multiplier(config, seq_len));
  return config.rope_theta;
}

void default_inv_freq(std::span<double> inv_freq, double base, int dim) {
  for (size_t i = 0; i < inv_freq.size(); ++i) {
    inv_freq[i] = 1.0 / std::pow(base, 2.0 * static_cast<double>(i) / dim);
  }
}

void yarn(std::span<double> inv_freq, const RopeConfig& config) {
  auto [low, high] = yarn_correction_range(config);
  if (low == high) high += 0.001;  // as the reference: no division by zero
  for (size_t i = 0; i < inv_freq.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    inv_freq[i] = inv_freq[i] / config.factor * ramp + inv_freq[i] * (1 - ramp);
  }
}

void llama3(std::span<double> inv_freq, const RopeConfig& config) {
  const double trained = config.original_max_position_embeddings;
  const double low_freq_wavelength = trained / config.low_freq_factor;
  const double high_freq_wavelength = trained / config.high_freq_factor;
  for (double& w : inv_freq) {
    const double wavelength = 2 * std::numbers::pi / w;
    if (wavelength > low_freq_wavelength) {
      w /= config.factor;
    } else if (wavelength >= high_freq_wavelength) {
      const double smooth =
          (trained / wavelength - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor);
      w = (1 - smooth) * w / config.factor + smooth * w;
    }
  }
}

double formula_attention_factor(const RopeConfig& config) {
  if (config.rope_type == RopeType::kLongrope) {
    return longrope_attention_factor(config.factor, config.original_max_position_embeddings);
  }
  if (config.rope_type != RopeType::kYarn) return 1;
  if (given(config.mscale) && given(config.mscale_all_dim)) {
    return yarn_mscale(config.factor, config.mscale) / yarn_mscale(config.factor, config.mscale_all_dim);
  }
  return yarn_mscale(config.factor, 1);
}

// What the frequencies are divided by at most and at least, beside the powers of the base.
struct Divisors {
  double least = 1, most = 1;
};
Divisors divisors(const RopeConfig& config) {
  switch (config.rope_type) {
    case RopeType::kLongrope: {
      const auto [short_least, short_most] =
          std::minmax_element(config.short_factor.begin(), config.short_factor.end());
      const auto [long_least, long_most] =
          std::minmax_element(config.long_factor.begin(), config.long_factor.end());
      return {std::min({1.0, *short_least, *long_least}), std::max({1.0, *short_most, *long_most})};
    }
    case RopeType::kLinear:
    case RopeType::kYarn:
    case RopeType::kLlama3:
    case RopeType::kProportional:
      return {1, config.factor};
    case RopeType::kDefault:
    case RopeType::kNtk:
    case RopeType::kDynamic:
      break;
  }
  return {};
}

const char* invalid_longrope(const RopeConfig& config) {
  const auto pairs = static_cast<size_t>(config.rotary_dim / 2);
  if (config.short_factor.size() != pairs) return "short_factor must have rotary_dim/2 entries";
  if (config.long_factor.size() != pairs) return "long_factor must have rotary_dim/2 entries";
  for (size_t i = 0; i < pairs; ++i) {
    if (!(config.short_factor[i] > 0) || !(config.long_factor[i] > 0)) {
      return "short_factor and long_factor must be above 0";
    }
  }
  if (!(config.original_max_position_embeddings > 1)) return "original_max_position_embeddings must be above 1";
  return nullptr;
}

}  // namespace

const char* invalid(const RopeConfig& config) {
  if (config.head_dim < 2) return "head_dim must be at least 2";
  if (config.head_dim > 1 << 24) return "head_dim must be at most 2^24";
  if (config.rotary_dim < 2 || config.rotary_dim % 2 != 0) return "rotary_dim must be even and at least 2";
  if (config.rotary_dim > config.head_dim) return "rotary_dim must be at most head_dim";
  if (config.frequency_dim < 0 || config.frequency_dim > config.head_dim) {
    return "frequency_dim must be 0 (rotary_dim) or at most head_dim";
  }
  if (!(config.rope_theta > 0) || !std::isfinite(config.rope_theta)) {
    return "rope_theta must be a finite number above 0";
  }
  if (!(config.factor >= 1) || !std::isfinite(config.factor))
    return "factor must be a finite number of at least 1";
  if (given(config.attention_factor) &&
      !(config.attention_factor > 0 && std::isfinite(config.attention_factor))) {
    return "attention_factor must be a finite number above 0";
  }
  if (needs_trained_length(config.rope_type) && !(config.original_max_position_embeddings >= 1 &&
                                                  std::isfinite(config.original_max_position_embeddings))) {
    return "original_max_position_embeddings must be at least 1 for this rope_type";
  }
  switch (config.rope_type) {
    case RopeType::kNtk:
    case RopeType::kDynamic:
      if (exponent_dim(config) <= 2)
        return "rotary_dim must be above 2 for ntk and dynamic: the exponent is d/(d-2)";
      break;
    case RopeType::kYarn:
      if (!(config.beta_slow > 0)) return "beta_slow must be above 0";
      if (!(config.beta_fast > config.beta_slow)) return "beta_fast must be greater than beta_slow";
      if (!(config.rope_theta > 1)) return "rope_theta must be above 1 for yarn";
      for (const double mscale : {config.mscale, config.mscale_all_dim}) {
        // 0.1 * mscale * ln(factor) + 1 stays a divisor
        if (given(mscale) && !(mscale >= 0 && std::isfinite(mscale))) {
          return "mscale and mscale_all_dim must be finite and at least 0";
        }
      }
      break;
    case RopeType::kLongrope:
      if (const char* sentence = invalid_longrope(config)) return sentence;
      break;
    case RopeType::kLlama3:
      if (!(config.low_freq_factor > 0)) return "low_freq_factor must be above 0";
      if (!(config.high_freq_factor > config.low_freq_factor) || config.high_freq_factor > 0x1p1000) {
        return "high_freq_factor must be greater than low_freq_factor, at most 2^1000";
      }
      break;
    case RopeType::kProportional:
      if (config.rotary_dim != config.head_dim || config.head_dim % 2 != 0) {
        return "rotary_dim must be head_dim for proportional";
      }
      if (!(config.partial_rotary_factor > 0 && config.partial_rotary_factor <= 1)) {
        return "partial_rotary_factor must be above 0 and at most 1";
      }
      break;
    case RopeType::kDefault:
    case RopeType::kLinear:
      break;
  }
  if (const double factor = formula_attention_factor(config); !(factor > 0) || !std::isfinite(factor)) {
    return "mscale and mscale_all_dim must keep the attention factor finite and above 0";
  }
  return invalid(config, 0);
}

const char* invalid(const RopeConfig& config, double seq_len) {
  // Not std::log2, which would be in the module for this alone.
  const auto log2 = [](double x) { return std::log(x) * std::numbers::log2e; };
  // Powers of two of the last pair's frequency; the first pair's is 0.
  const double last = -log2(base_of(config, seq_len)) * (config.rotary_dim - 2.0) / exponent_dim(config);
  const auto [least, most] = divisors(config);
  // Before the division and after it.
  const bool kept = std::min(last, 0.0) - log2(most) >= -kMaxInvFreqExponent &&
                    std::max(last, 0.0) - log2(least) <= kMaxInvFreqExponent;
  return kept ? nullptr
              : "rope_theta, factor and the lists must keep every inv_freq between 2^-1000 and 2^1000";
}

double rope_inv_freq(std::span<double> inv_freq, const RopeConfig& config, double seq_len) {
  assert(!invalid(config) && !invalid(config, seq_len));
  assert(inv_freq.size() == static_cast<size_t>(config.rotary_dim / 2));
  const double trained = config.original_max_position_embeddings;
  default_inv_freq(inv_freq, base_of(config, seq_len), exponent_dim(config));
  switch (config.rope_type) {
    case RopeType::kLinear:
      for (double& w : inv_freq) w /= config.factor;
      break;
    case RopeType::kYarn:
      yarn(inv_freq, config);
      break;
    case RopeType::kLongrope: {
      const auto divisors = seq_len > trained ? config.long_factor : config.short_factor;
      for (size_t i = 0; i < inv_freq.size(); ++i) inv_freq[i] /= divisors[i];
      break;
    }
    case RopeType::kLlama3:
      llama3(inv_freq, config);
      break;
    case RopeType::kProportional: {
      const auto turning = static_cast<size_t>(config.partial_rotary_factor * config.head_dim / 2);
      for (size_t i = 0; i < inv_freq.size(); ++i) inv_freq[i] = i < turning ? inv_freq[i] / config.factor : 0;
      break;
    }
    case RopeType::kDefault:
    case RopeType::kNtk:
    case RopeType::kDynamic:
      break;
  }
  return given(config.attention_factor) ? config.attention_factor : formula_attention_factor(config);
}

double dynamic_seq_len(const RopeConfig& config, double cached_seq_len, double seq_len) {
  const double trained = config.original_max_position_embeddings;
  if (seq_len > cached_seq_len) return seq_len;
  return seq_len < trained ? trained : cached_seq_len;
}

double yarn_correction_dim(const RopeConfig& config, double turns) {
  return exponent_dim(config) *
         std::log(config.original_max_position_embeddings / (turns * 2 * std::numbers::pi)) /
         (2 * std::log(config.rope_theta));
}

YarnRange yarn_correction_range(const RopeConfig& config) {
  double low = yarn_correction_dim(config, config.beta_fast);
  double high = yarn_correction_dim(config, config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  // The reference clamps to the last component, not to the last pair. low stays finite: its ramp is a quotient.
  return {std::clamp(low, 0.0, 0x1p1000), std::min(high, exponent_dim(config) - 1.0)};
}

double yarn_mscale(double factor, double mscale) {
  return factor > 1 ? 0.1 * mscale * std::log(factor) + 1 : 1;
}

double longrope_attention_factor(double factor, double original_max_position_embeddings) {
  return factor > 1 ? std::sqrt(1 + std::log(factor) / std::log(original_max_position_embeddings)) : 1;
}

}  // namespace posenc
