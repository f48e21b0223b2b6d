// What a config says before anyone has set a field: the papers' numbers. Nothing is run, the compiler sees to
// it.
#include "posenc.hpp"

namespace posenc {

// Vaswani et al. 2017, section 3.5, and 3.4 for the embedding layer.
static_assert(SinusoidalConfig{}.base == 10000 && LayerConfig{}.base == 10000 && TileConfig{}.base == 10000);
static_assert(SinusoidalConfig{}.first_position == 0 && SinusoidalConfig{}.position_step == 1);
static_assert(SinusoidalConfig{}.layout == SinusoidalLayout::kInterleaved);
static_assert(EmbeddingConfig{}.scale_by_sqrt_d_model);
// Su et al. 2021, section 3.3.
static_assert(RopeConfig{}.rope_theta == 10000 && RopeConfig{}.rope_type == RopeType::kDefault);
static_assert(RopeConfig{}.factor == 1 && RopeConfig{}.frequency_dim == 0);
static_assert(RopeConfig{}.attention_factor != RopeConfig{}.attention_factor);  // NaN: from the formula
// Peng et al. 2023, section 3.2: alpha = 1, beta = 32 for Llama.
static_assert(RopeConfig{}.beta_fast == 32 && RopeConfig{}.beta_slow == 1 && RopeConfig{}.truncate);
// Llama 3.1's rope_scaling.
static_assert(RopeConfig{}.low_freq_factor == 1 && RopeConfig{}.high_freq_factor == 4);
static_assert(RopeConfig{}.partial_rotary_factor == 1);
// Press et al. 2021: the last of n slopes, a power of two, is 2^-8.
static_assert(AlibiConfig{}.alibi_bias_max == 8 && LayerConfig{}.alibi_bias_max == 8);
// Raffel et al. 2019, section 2.1.
static_assert(T5Config{}.num_buckets == 32 && T5Config{}.max_distance == 128 && T5Config{}.bidirectional);
// What the sentences of `invalid` say.
static_assert(kMaxCells == 268435456);

}  // namespace posenc
