// A model's config.json (transformers' names) as a RopeConfig.
#pragma once

#include <string>
#include <vector>

#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"

namespace test {

// The config and the lists that its spans look at.
struct ModelRope {
  posenc::RopeConfig config;
  std::vector<double> short_factor, long_factor;
};

inline posenc::RopeType rope_type_of(const std::string& name) {
  using enum posenc::RopeType;
  if (name == "default") return kDefault;
  if (name == "linear") return kLinear;
  if (name == "dynamic") return kDynamic;
  if (name == "yarn") return kYarn;
  if (name == "longrope") return kLongrope;
  if (name == "llama3") return kLlama3;
  REQUIRE(name == "proportional");
  return kProportional;
}

// Moving a vector keeps its elements where they are, so the spans stay valid.
inline ModelRope rope_of(const Json& model) {
  const Json& rope = model["rope_parameters"];
  ModelRope result;
  posenc::RopeConfig& c = result.config;
  c.rope_type = rope_type_of(rope["rope_type"].text());
  c.head_dim = static_cast<int>(
      model.number_or("head_dim", model["hidden_size"].number() / model["num_attention_heads"].number()));
  const double partial = rope.number_or("partial_rotary_factor", 1);
  if (c.rope_type == posenc::RopeType::kProportional) {
    c.rotary_dim = c.head_dim;
    c.partial_rotary_factor = partial;
  } else {
    const int dim = static_cast<int>(c.head_dim * partial);
    c.rotary_dim = dim + dim % 2;
    if (dim % 2 != 0) c.frequency_dim = dim;
  }
  c.rope_theta = rope["rope_theta"].number();
  const double longest = model["max_position_embeddings"].number();
  c.original_max_position_embeddings = rope.number_or(
      "original_max_position_embeddings", model.number_or("original_max_position_embeddings", longest));
  // Both read an absent factor as the ratio of the two lengths; elsewhere it is 1.
  const bool ratio = c.rope_type == posenc::RopeType::kYarn || c.rope_type == posenc::RopeType::kLongrope;
  c.factor = rope.number_or("factor", ratio ? longest / c.original_max_position_embeddings : 1);
  c.attention_factor = rope.number_or("attention_factor", c.attention_factor);
  c.beta_fast = rope.number_or("beta_fast", c.beta_fast);
  c.beta_slow = rope.number_or("beta_slow", c.beta_slow);
  if (const Json* truncate = rope.find("truncate")) c.truncate = truncate->truth();
  c.mscale = rope.number_or("mscale", c.mscale);
  c.mscale_all_dim = rope.number_or("mscale_all_dim", c.mscale_all_dim);
  c.low_freq_factor = rope.number_or("low_freq_factor", c.low_freq_factor);
  c.high_freq_factor = rope.number_or("high_freq_factor", c.high_freq_factor);
  if (const Json* list = rope.find("short_factor")) result.short_factor = list->numbers();
  if (const Json* list = rope.find("long_factor")) result.long_factor = list->numbers();
  c.short_factor = result.short_factor;
  c.long_factor = result.long_factor;
  return result;
}

inline std::vector<double> inv_freq_of(const posenc::RopeConfig& config, double seq_len,
                                       double* attention_factor = nullptr) {
  std::vector<double> inv_freq(static_cast<size_t>(config.rotary_dim / 2));
  const double factor = posenc::rope_inv_freq(inv_freq, config, seq_len);
  if (attention_factor) *attention_factor = factor;
  return inv_freq;
}

}  // namespace test
