// RoPE frequencies of real models and of every rope_type, and what the schemes have in common.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "rope_config.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using enum RopeType;

// A valid config of every type, for head_dim 128.
std::vector<RopeConfig> config_of_every_type() {
  static const std::vector<double> short_factor(64, 1.5), long_factor(64, 4.0);
  std::vector<RopeConfig> configs;
  for (const RopeType type : {kDefault, kLinear, kNtk, kDynamic, kYarn, kLongrope, kLlama3, kProportional}) {
    configs.push_back({.head_dim = 128,
                       .rotary_dim = 128,
                       .rope_type = type,
                       .factor = 8,
                       .original_max_position_embeddings = 4096,
                       .short_factor = short_factor,
                       .long_factor = long_factor});
  }
  return configs;
}

void check_frequencies(const Json& file) {
  const double tolerance = file["tolerance"]["rel"].number();
  CHECK(tolerance == kRopeInvFreqError);
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const ModelRope model = rope_of(c["params"]["config"]);
    INFO(id);
    REQUIRE(invalid(model.config) == nullptr);
    const Json& expected = c["expected"];
    CHECK(model.config.rotary_dim == expected["rotary_dim"].integer());
    double factor = 0;
    const auto inv_freq = inv_freq_of(model.config, c["params"].number_or("seq_len", 0), &factor);
    check_relative(id + " inv_freq", inv_freq, expected["inv_freq"].numbers(), tolerance);
    check_near(id + " attention factor", factor, expected["attention_scaling"].number(), tolerance * factor);
    if (const Json* softmax_scale = expected.find("softmax_scale")) {
      // DeepSeek scales by 1/sqrt(192) of its whole head and by the square of the factor of mscale_all_dim.
      const double mscale = yarn_mscale(model.config.factor, model.config.mscale_all_dim);
      const double scale = mscale * mscale / std::sqrt(192);
      check_near(id + " softmax scale", scale, softmax_scale->number(), tolerance * scale);
    }
  }
}

}  // namespace

TEST_CASE("the frequencies of nineteen real models equal those of transformers") {
  check_frequencies(golden("rope_models"));
}

TEST_CASE("the frequencies of every rope_type equal those of transformers, at its edges too") {
  check_frequencies(golden("rope_types_edge_cases"));
}

TEST_CASE("static NTK, dynamic NTK and linear are three different answers") {
  const Json file = golden("ntk");
  const double tolerance = file["tolerance"]["rel"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    const double trained = params["original_max_len"].number();
    RopeConfig config{.head_dim = params["d_k"].integer(),
                      .rotary_dim = params["d_k"].integer(),
                      .rope_theta = params["base"].number(),
                      .original_max_position_embeddings = trained};
    const auto plain = inv_freq_of(config, 0);

    config.rope_type = kNtk;
    config.factor = params["new_max_len"].number() / trained;
    CHECK(config.factor == expected["lesson"]["scale"].number());
    const auto lesson = inv_freq_of(config, 0);
    check_relative(id + " lesson", lesson, expected["lesson"]["inv_freq"].numbers(), tolerance);
    check_near(id + " plain over lesson", plain.back() / lesson.back(),
               expected["ratio_lowest_freq"]["plain_over_lesson"].number(), tolerance * config.factor);

    config.rope_type = kLinear;
    check_relative(id + " linear", inv_freq_of(config, 0), expected["linear"]["inv_freq"].numbers(), tolerance);

    config.rope_type = kDynamic;
    config.factor = params["hf_factor"].number();
    const auto dynamic = inv_freq_of(config, params["seq_len"].number());
    const double multiplier = expected["hf_dynamic"]["multiplier"].number();
    check_relative(id + " dynamic", dynamic, expected["hf_dynamic"]["inv_freq"].numbers(), tolerance);
    check_near(id + " plain over dynamic", plain.back() / dynamic.back(), multiplier, tolerance * multiplier);
  }
}

TEST_CASE("dynamic NTK grows with the longest sequence, keeps it, and falls back below the trained length") {
  const Json file = golden("rope_dynamic_sequence");
  const double tolerance = file["tolerance"]["rel"].number();
  for (const Json& c : file["cases"].items()) {
    const ModelRope model = rope_of(c["params"]["config"]);
    const bool dynamic = model.config.rope_type == kDynamic;
    double cached = model.config.original_max_position_embeddings;
    for (const Json& step : c["expected"]["steps"].items()) {
      const double seq_len = step["seq_len"].number();
      const std::string id = c["id"].text() + " at " + std::to_string(seq_len);
      if (dynamic) {
        cached = dynamic_seq_len(model.config, cached, seq_len);
        check_equal(id + " cached", std::vector{cached}, std::vector{step["max_seq_len_cached"].number()});
      }
      const auto inv_freq = inv_freq_of(model.config, dynamic ? cached : seq_len);
      check_relative(id, inv_freq, step["inv_freq"].numbers(), tolerance);
    }
  }
}

TEST_CASE("YaRN's ramp, its bounds and its attention factor equal the reference's") {
  const Json file = golden("yarn_internals");
  const double tolerance = file["tolerance"]["rel"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    RopeConfig config{.head_dim = params["dim"].integer(),
                      .rotary_dim = params["dim"].integer(),
                      .rope_theta = params["base"].number(),
                      .rope_type = kYarn,
                      .factor = params["factor"].number(),
                      .original_max_position_embeddings = params["original_max_position"].number(),
                      .beta_fast = params["beta_fast"].number(),
                      .beta_slow = params["beta_slow"].number()};
    REQUIRE(invalid(config) == nullptr);
    const double dims[] = {yarn_correction_dim(config, config.beta_fast),
                           yarn_correction_dim(config, config.beta_slow)};
    check_relative(
        id + " dims", dims,
        std::vector{expected["correction_dim_fast"].number(), expected["correction_dim_slow"].number()},
        tolerance);
    check_near(id + " mscale", yarn_mscale(config.factor, 1), expected["mscale"].number(), tolerance);
    RopeConfig plain = config;
    plain.rope_type = kDefault;
    const auto extrapolated = inv_freq_of(plain, 0);
    for (const bool truncate : {true, false}) {
      config.truncate = truncate;
      const auto [low, high] = yarn_correction_range(config);
      const auto range = expected[truncate ? "range_truncated" : "range_untruncated"].numbers();
      check_relative(id + " range", std::vector{low, high}, range, truncate ? 0 : tolerance);
      if (truncate) check_equal(id + " ggml", std::vector{low, high}, expected["ggml_corr_dims"].numbers());
      // The ramp as the frequencies show it: w = w0 / factor * ramp + w0 * (1 - ramp).
      const auto inv_freq = inv_freq_of(config, 0);
      std::vector<double> ramp;
      for (size_t i = 0; i < inv_freq.size(); ++i) {
        ramp.push_back((1 - inv_freq[i] / extrapolated[i]) / (1 - 1 / config.factor));
      }
      check_near(id + " ramp", ramp, expected[truncate ? "ramp_truncated" : "ramp_untruncated"].numbers(),
                 tolerance + 4 * 0x1p-53 / (1 - 1 / config.factor));
    }
  }
}

TEST_CASE("attention factors equal those of YaRN, LongRoPE and DeepSeek") {
  const Json file = golden("attention_factor");
  const double tolerance = file["tolerance"]["rel"].number();
  for (const Json& c : file["cases"].items()) {
    const Json& params = c["params"];
    const std::string& fn = params["fn"].text();
    double value = 0;
    if (fn == "yarn") {
      value = yarn_mscale(params["factor"].number(), params["mscale"].number());
    } else if (fn == "longrope") {
      const double trained = params["original_max_position_embeddings"].number();
      value = longrope_attention_factor(params["max_position_embeddings"].number() / trained, trained);
    } else {
      REQUIRE(fn == "deepseek_softmax_scale");
      const double mscale = yarn_mscale(params["factor"].number(), params["mscale_all_dim"].number());
      value = mscale * mscale / std::sqrt(params["qk_head_dim"].number());
    }
    check_relative(c["id"].text(), std::vector{value}, c["expected"]["value"].numbers(), tolerance);
  }
}

TEST_CASE("configs that transformers warns of are refused, those it takes are taken") {
  const Json file = golden("rope_validation");
  const auto check_case = [](const Json& c) {
    const std::string& id = c["id"].text();
    INFO(id);
    if (id == "factor is a string" || id == "missing factor" || id == "yarn missing factor") {
      // Kinds and presence are checked where JSON is read, in posenc.ts; a RopeConfig always has a factor.
      return;
    }
    const ModelRope model = rope_of(c["params"]["config"]);
    const char* sentence = invalid(model.config);
    if (id == "factor < 1") {
      check_refused(sentence, "factor");
    } else if (id == "yarn beta order") {
      check_refused(sentence, "beta_fast");
    } else if (id == "llama3 high<=low") {
      check_refused(sentence, "high_freq_factor");
    } else if (id == "longrope wrong length") {
      check_refused(sentence, "short_factor");
    } else if (id == "longrope missing long_factor") {
      check_refused(sentence, "long_factor");
    } else {
      // Without a finding, or with advice only: a factor that differs from the ratio, or is left to it.
      const bool advice = id == "longrope no factor (Phi3 style)" || id == "yarn factor vs ratio";
      CHECK(advice == (c["expected"]["warnings"].size() != 0));
      CHECK(sentence == nullptr);
    }
  };
  CHECK(file["cases"].size() == 13);
  for (const Json& c : file["cases"].items()) check_case(c);
}

TEST_CASE("YaRN blends pairs 20 to 46 of Llama 2") {
  const RopeConfig config{.head_dim = 128,
                          .rotary_dim = 128,
                          .rope_type = kYarn,
                          .factor = 16,
                          .original_max_position_embeddings = 4096};
  const auto [low, high] = yarn_correction_range(config);
  CHECK(low == 20);
  CHECK(high == 46);
  RopeConfig plain = config;
  plain.rope_type = kDefault;
  const auto fast = inv_freq_of(plain, 0), scaled = inv_freq_of(config, 0);
  for (size_t i = 0; i < 64; ++i) {
    INFO("pair " << i);
    if (i <= 20) CHECK(scaled[i] == fast[i]);
    if (i >= 46) CHECK(scaled[i] == fast[i] / 16);
    if (i > 20 && i < 46) CHECK((scaled[i] < fast[i] && scaled[i] > fast[i] / 16));
  }
}

TEST_CASE("factor 1 leaves every rope_type at the default frequencies and attention factor") {
  static const std::vector<double> ones(64, 1.0);
  for (RopeConfig config : config_of_every_type()) {
    config.factor = 1;
    config.short_factor = config.long_factor = ones;
    RopeConfig plain = config;
    plain.rope_type = kDefault;
    double factor = 0;
    const auto inv_freq = inv_freq_of(config, 0, &factor);
    CHECK(factor == 1);
    check_relative("type " + std::to_string(static_cast<int>(config.rope_type)), inv_freq,
                   inv_freq_of(plain, 0), 2 * kRopeInvFreqError);
  }
}

TEST_CASE("no scheme makes a pair faster, none slows one by more than it says, and frequencies fall") {
  for (const RopeConfig& config : config_of_every_type()) {
    for (const double seq_len : {0.0, 4096.0, 32768.0}) {
      RopeConfig plain = config;
      plain.rope_type = kDefault;
      const auto before = inv_freq_of(plain, 0), after = inv_freq_of(config, seq_len);
      // Dynamic NTK at factor f and length L divides the slowest by f L/M - (f - 1).
      const double most = config.rope_type == kDynamic ? 57 : 8;
      for (size_t i = 0; i < before.size(); ++i) {
        INFO("type " << static_cast<int>(config.rope_type) << ", pair " << i << ", seq_len " << seq_len);
        const double slowed = before[i] / after[i];
        REQUIRE(slowed >= 1 - 2 * kRopeInvFreqError);
        REQUIRE(slowed <= most * (1 + 2 * kRopeInvFreqError));
        if (i > 0) REQUIRE(after[i] < after[i - 1]);
      }
    }
  }
}

TEST_CASE("NTK slows pair i by factor^(2i/(d-2)): not at all the fastest, by factor the slowest") {
  for (const int d : {4, 6, 64, 128}) {
    RopeConfig config{.head_dim = d, .rotary_dim = d, .rope_type = kNtk, .factor = 8};
    const auto ntk = inv_freq_of(config, 0);
    config.rope_type = kDefault;
    const auto plain = inv_freq_of(config, 0);
    std::vector<double> slowed, expected;
    for (size_t i = 0; i < plain.size(); ++i) {
      slowed.push_back(plain[i] / ntk[i]);
      expected.push_back(std::pow(8, 2.0 * static_cast<double>(i) / (d - 2)));
    }
    check_relative("d " + std::to_string(d), slowed, expected, 2 * kRopeInvFreqError);
  }
}

TEST_CASE("a sequence of the trained length or shorter changes nothing in dynamic NTK and LongRoPE") {
  for (const RopeConfig& config : config_of_every_type()) {
    for (const double seq_len : {1.0, 4095.0, 4096.0}) {
      check_equal("type " + std::to_string(static_cast<int>(config.rope_type)), inv_freq_of(config, seq_len),
                  inv_freq_of(config, 0));
    }
  }
}

TEST_CASE("only dynamic NTK and LongRoPE read seq_len") {
  for (const RopeConfig& config : config_of_every_type()) {
    const bool reads = config.rope_type == kDynamic || config.rope_type == kLongrope;
    INFO("type " << static_cast<int>(config.rope_type));
    CHECK((inv_freq_of(config, 4097) != inv_freq_of(config, 0)) == reads);
  }
}

TEST_CASE("a given attention_factor replaces the formula of every rope_type") {
  for (RopeConfig config : config_of_every_type()) {
    config.attention_factor = 0.75;
    double factor = 0;
    inv_freq_of(config, 0, &factor);
    CHECK(factor == 0.75);
  }
}

TEST_CASE("a config whose frequencies no double could hold is refused, one step nearer it is taken") {
  static const std::vector<double> ones(64, 1.0), huge(64, 1e290), tiny(64, 1e-303);
  const auto finite_and_positive = [](const RopeConfig& config, double seq_len) {
    const auto inv_freq = inv_freq_of(config, seq_len);
    return std::all_of(inv_freq.begin(), inv_freq.end(), [](double w) { return w > 0 && std::isnormal(w); });
  };
  for (RopeConfig config : config_of_every_type()) {
    INFO("type " << static_cast<int>(config.rope_type));
    config.short_factor = config.long_factor = ones;
    config.rope_theta = 1e100;
    config.factor = 1e100;
    REQUIRE(invalid(config) == nullptr);
    CHECK(finite_and_positive(config, 0));
    config.rope_theta = 1e250;
    if (config.rope_type == kLongrope) {
      config.long_factor = huge;
      check_refused(invalid(config), "lists");
      config.rope_theta = 10000;
      CHECK(invalid(config) == nullptr);
      config.long_factor = tiny;
      check_refused(invalid(config), "lists");
    } else if (config.rope_type != kDefault && config.rope_type != kDynamic) {
      check_refused(invalid(config), "factor");
    } else {
      CHECK(invalid(config) == nullptr);
      CHECK(finite_and_positive(config, 0));
    }
  }
  RopeConfig dynamic = config_of_every_type()[static_cast<size_t>(kDynamic)];
  dynamic.factor = 1e290;
  CHECK(invalid(dynamic) == nullptr);
  CHECK(invalid(dynamic, 4096) == nullptr);
  CHECK(invalid(dynamic, 8192) == nullptr);
  CHECK(finite_and_positive(dynamic, 8192));
  check_refused(invalid(dynamic, 1e15), "rope_theta");
  RopeConfig yarn = config_of_every_type()[static_cast<size_t>(kYarn)];
  yarn.mscale = 1e308;
  yarn.mscale_all_dim = 1e308;
  yarn.factor = 1e100;
  check_refused(invalid(yarn), "mscale");
}

TEST_CASE("invalid(RopeConfig) names the field that is wrong") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
  constexpr int kMax = std::numeric_limits<int>::max();
  RopeType type = kDefault;
  const auto refused = [&](auto change, const char* field) {
    RopeConfig config = config_of_every_type()[static_cast<size_t>(type)];
    INFO("type " << static_cast<int>(type));
    CHECK(invalid(config) == nullptr);
    change(config);
    check_refused(invalid(config), field);
  };
  for (const RopeType each : {kDefault, kLinear, kNtk, kDynamic, kYarn, kLongrope, kLlama3, kProportional}) {
    type = each;
    refused([&](auto& c) { c.head_dim = (1 << 24) + 1; }, "head_dim");
    for (const int bad : {-kMax - 1, -1, 0, 1}) {
      refused([&](auto& c) { c.head_dim = bad; }, "head_dim");
      refused([&](auto& c) { c.rotary_dim = bad; }, "rotary_dim");
    }
    for (const int bad : {63, kMax, kMax - 1, 130}) refused([&](auto& c) { c.rotary_dim = bad; }, "rotary_dim");
    for (const int bad : {-1, 129, kMax}) refused([&](auto& c) { c.frequency_dim = bad; }, "frequency_dim");
    for (const double bad : {0.0, -1.0, kNan, kInf, -kInf}) {
      refused([&](auto& c) { c.rope_theta = bad; }, "rope_theta");
      refused([&](auto& c) { c.factor = bad; }, "factor");
      if (!std::isnan(bad)) refused([&](auto& c) { c.attention_factor = bad; }, "attention_factor");
    }
    refused([&](auto& c) { c.factor = 0.999; }, "factor");
  }
  for (const RopeType each : {kDynamic, kYarn, kLongrope, kLlama3}) {
    type = each;
    for (const double bad : {0.0, 0.5, -1.0, kNan, kInf}) {
      refused([&](auto& c) { c.original_max_position_embeddings = bad; }, "original_max_position_embeddings");
    }
  }
  for (const RopeType each : {kNtk, kDynamic}) {
    type = each;
    refused([&](auto& c) { c.rotary_dim = 2; }, "rotary_dim");
  }
  type = kYarn;
  for (const double bad : {0.0, -1.0, kNan}) refused([&](auto& c) { c.beta_slow = bad; }, "beta_slow");
  for (const double bad : {1.0, 0.5, kNan}) refused([&](auto& c) { c.beta_fast = bad; }, "beta_fast");
  refused([&](auto& c) { c.rope_theta = 1; }, "rope_theta");
  for (const double bad : {-1.0, kInf, -kInf}) {
    refused([&](auto& c) { c.mscale = bad; }, "mscale");
    refused([&](auto& c) { c.mscale_all_dim = bad; }, "mscale_all_dim");
  }
  type = kLongrope;
  static const std::vector<double> zero(64, 0.0), negative(64, -1.0), nan(64, kNan), short_list(63, 1.0);
  for (const auto* bad : {&zero, &negative, &nan, &short_list}) {
    refused([&](auto& c) { c.short_factor = *bad; }, "short_factor");
    refused([&](auto& c) { c.long_factor = *bad; }, "long_factor");
  }
  refused([&](auto& c) { c.long_factor = {}; }, "long_factor");
  refused([&](auto& c) { c.original_max_position_embeddings = 1; }, "original_max_position_embeddings");
  type = kLlama3;
  for (const double bad : {0.0, -1.0, kNan})
    refused([&](auto& c) { c.low_freq_factor = bad; }, "low_freq_factor");
  for (const double bad : {1.0, 0.0, kNan})
    refused([&](auto& c) { c.high_freq_factor = bad; }, "high_freq_factor");
  type = kProportional;
  refused([&](auto& c) { c.rotary_dim = 64; }, "rotary_dim");
  for (const double bad : {0.0, 1.5, -1.0, kNan, kInf}) {
    refused([&](auto& c) { c.partial_rotary_factor = bad; }, "partial_rotary_factor");
  }
}
