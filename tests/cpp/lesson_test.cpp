// Every number that the lesson states or that its errata correct, from lesson_checks.json and by hand.
#include <numbers>

#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "rope_config.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using Doubles = std::vector<double>;

const Json& lesson_check(const char* id) {
  static const Json file = golden("lesson_checks");
  for (const Json& c : file["cases"].items()) {
    if (c["id"].text() == id) return c;
  }
  throw std::runtime_error(std::string("no lesson check ") + id);
}

Doubles row_of(double position, int d_model) {
  Doubles row(static_cast<size_t>(d_model));
  sinusoidal_rows(row, std::span(&position, 1), {.seq_len = 1, .d_model = d_model});
  return row;
}

Doubles inv_freq_of_width(int d_model) {
  Doubles inv_freq(static_cast<size_t>(d_model / 2));
  sinusoidal_inv_freq(inv_freq, {.seq_len = 1, .d_model = d_model});
  return inv_freq;
}

RopeConfig ntk(int d, double factor) {
  return {.head_dim = d, .rotary_dim = d, .rope_type = RopeType::kNtk, .factor = factor};
}

// The base that gives the second pair its frequency: base^(-2/d).
double base_of(const Doubles& inv_freq) {
  return std::pow(inv_freq[1], -static_cast<double>(inv_freq.size()));
}

}  // namespace

TEST_CASE("the rows of positions 0, 1 and 5 at d_model 8 (the lesson's position 5 is wrong)") {
  for (const auto& [id, position] : {std::pair{"pos0", 0.0}, {"pos1", 1.0}, {"pos5", 5.0}}) {
    const Json& check = lesson_check(id);
    const Doubles row = row_of(position, 8);
    check_near(id, row, check["exact"].numbers(), rows_error(position));
    check_near(std::string(id) + " printed", row, check["value"].numbers(), 0.0005);
  }
  check_near("by hand", row_of(5, 8),
             Doubles{std::sin(5.0), std::cos(5.0), std::sin(0.5), std::cos(0.5), std::sin(0.05), std::cos(0.05),
                     std::sin(0.005), std::cos(0.005)},
             rows_error(5));
  check_near("erratum 1", row_of(5, 8), Doubles{-0.959, 0.284, 0.479, 0.878, 0.050, 0.999, 0.005, 1.000},
             0.0005);
}

TEST_CASE("a table of 10 positions and 8 columns has 80 cells") {
  const SinusoidalConfig config{.seq_len = 10, .d_model = 8};
  const Doubles shape = lesson_check("pe_shape")["value"].numbers();
  CHECK(shape == Doubles{10, 8});
  CHECK(invalid(config) == nullptr);
  CHECK(sinusoidal_pairs(config) == 4);
}

TEST_CASE("the fastest clock turns in 2 pi positions, the slowest of 512 in 60 611: 2^13.2 times slower") {
  const Doubles inv_freq = inv_freq_of_width(512);
  const Json& slowest = lesson_check("slowest_clock")["value"];
  const double fastest_period = 2 * std::numbers::pi / inv_freq.front(),
               slowest_period = 2 * std::numbers::pi / inv_freq.back();
  check_relative("periods", Doubles{fastest_period, slowest_period},
                 Doubles{slowest["wavelength_fastest"].number(), slowest["wavelength_slowest"].number()},
                 1e-14);
  check_near("log2 of the ratio", std::log2(slowest_period / fastest_period), slowest["log2_ratio"].number(),
             1e-13);
  check_near("fastest", fastest_period, lesson_check("fastest_clock")["value"]["period_positions"].number(),
             1e-14);
  check_near("as printed", slowest_period, 60611, 0.5);
  check_near("ratio as printed", slowest_period / fastest_period, 9647, 0.5);
}

TEST_CASE("a token of deviation 0.02 scaled by sqrt 512 has norm 10.24, its position 16") {
  const Json& balance = lesson_check("scale_balance")["value"];
  const double scale = std::sqrt(512), entry = 0.02 * scale;
  check_near("entry", entry, balance["token_entry_std_after_scaling"].number(), 1e-15);
  check_near("token", entry * scale, balance["token_norm"].number(), 1e-14);
  double square = 0;
  for (const double x : row_of(77, 512)) square += x * x;
  check_near("position", std::sqrt(square), balance["pe_norm"].number(), 1e-13);
  check_near("rms", std::sqrt(square / 512), balance["pe_rms"].number(), 1e-14);
}

TEST_CASE("a score's diagonal is plain q.k, and constant only when q and k repeat") {
  const Json& diagonal = lesson_check("rope_diagonal")["value"];
  const Doubles q = normals(12 * 16, 91), k = normals(12 * 16, 92);
  Doubles positions, cos(96), sin(96), turned_q(q.size()), turned_k(k.size());
  for (int t = 0; t < 12; ++t) positions.push_back(t);
  rope_cos_sin(cos, sin, positions, inv_freq_of(RopeConfig{.head_dim = 16, .rotary_dim = 16}, 0), 1);
  const RopeShape shape{.seq_len = 12, .head_dim = 16, .rotary_dim = 16};
  rope_apply(turned_q, q, cos, sin, shape);
  rope_apply(turned_k, k, cos, sin, shape);
  Doubles rotated(12), plain(12);
  for (size_t i = 0; i < q.size(); ++i) {
    rotated[i / 16] += turned_q[i] * turned_k[i];
    plain[i / 16] += q[i] * k[i];
  }
  CHECK(diagonal["max_diff_score_ii_minus_plain_qk"].number() < 1e-14);
  check_near("score[i,i]", rotated, plain, 16 * 20 * 0x1p-52);
  const auto [least, most] = std::minmax_element(rotated.begin(), rotated.end());
  CHECK(*most - *least > 1);  // "similar for any i" is false
  CHECK(diagonal["share_of_runs_with_range_below_1"].number() == 0);
}

TEST_CASE("with one q and one k at every position the diagonals agree to rounding") {
  CHECK(lesson_check("rope_diagonal_fixed")["value"]["max_deviation_on_any_diagonal"].number() < 1e-13);
  const Doubles q = normals(16, 93), k = normals(16, 94);
  const Doubles inv_freq = inv_freq_of(RopeConfig{.head_dim = 16, .rotary_dim = 16}, 0);
  const RopeShape shape{.seq_len = 1, .head_dim = 16, .rotary_dim = 16};
  const auto turned = [&](const Doubles& x, double position) {
    Doubles cos(8), sin(8), out(16);
    rope_cos_sin(cos, sin, std::span(&position, 1), inv_freq, 1);
    rope_apply(out, x, cos, sin, shape);
    return out;
  };
  const auto score = [&](double m, double n) {
    const Doubles a = turned(q, m), b = turned(k, n);
    double sum = 0;
    for (size_t c = 0; c < 16; ++c) sum += a[c] * b[c];
    return sum;
  };
  for (int offset = -8; offset <= 8; ++offset) {
    for (int t = 8; t < 20; ++t) check_near("diagonal", score(t, t + offset), score(8, 8 + offset), 1e-13);
  }
}

TEST_CASE("a RoPE score is not q.k plus a function of the offset") {
  const Json& example = lesson_check("rope_score_formula")["counterexample"];
  const double offset = -example["offset"].number();  // theirs is query minus key
  const Doubles inv_freq = {example["theta"].number()};
  const auto gain = [&](const Json& k) {
    Doubles score(1), plain(1);
    const double zero = 0;
    rope_score_by_offset(score, std::span(&offset, 1), example["q"].numbers(), k.numbers(), inv_freq);
    rope_score_by_offset(plain, std::span(&zero, 1), example["q"].numbers(), k.numbers(), inv_freq);
    return score[0] - plain[0];
  };
  check_near("k", gain(example["k"]), example["score_qk_minus_plain"].number(), 1e-15);
  check_near("k2", gain(example["k2"]), example["score_qk2_minus_plain"].number(), 1e-15);
}

TEST_CASE("NTK: the base, the slowest pair, and how much each pair is slowed") {
  const Json& base = lesson_check("ntk_base")["value"];
  const Doubles scaled = inv_freq_of(ntk(64, 8), 0),
                plain = inv_freq_of(RopeConfig{.head_dim = 64, .rotary_dim = 64}, 0);
  CHECK(scaled.size() == static_cast<size_t>(lesson_check("ntk_shapes")["value"][1][1].integer()));
  // base_of raises the frequency to the 32nd power, and its relative error with it.
  check_relative("base", Doubles{base_of(scaled)}, Doubles{base["scaled_base"].number()},
                 32 * kRopeInvFreqError);
  check_relative("default arguments", Doubles{base_of(inv_freq_of(ntk(64, 16), 0))},
                 Doubles{base["default_args_scaled_base_d64"].number()}, 32 * kRopeInvFreqError);
  check_relative("slowest", Doubles{plain.back() / scaled.back()},
                 Doubles{base["lowest_freq_divided_by"].number()}, 2 * kRopeInvFreqError);
  // Errata 12: by 8^(2i/62), from 1 to 8; the lesson's five are evenly spread over the exponent.
  const Doubles ratios = lesson_check("ntk_meaning")["value"]["ratio_by_pair_d64_scale8"].numbers();
  const size_t pairs[] = {0, 8, 16, 24, 31};
  for (size_t i = 0; i < ratios.size(); ++i) {
    check_near("pair " + std::to_string(pairs[i]), plain[pairs[i]] / scaled[pairs[i]], ratios[i],
               ratios[i] * 2 * kRopeInvFreqError);
  }
}

TEST_CASE("the NTK formula for Code Llama's context gives a base of 40 890, not its 1e6") {
  const double base = lesson_check("code_llama_ntk")["value"]["ntk_theta_for_4096_to_16384_d128"].number();
  check_relative("base", Doubles{base_of(inv_freq_of(ntk(128, 4), 0))}, Doubles{base}, 64 * kRopeInvFreqError);
  CHECK(std::round(base) == 40890);
}

TEST_CASE("dynamic NTK at factor 8 and 8 times the length divides the slowest pair by 57") {
  const Json& value = lesson_check("llama2_dynamic_ntk")["value"];
  RopeConfig config{.head_dim = 128, .rotary_dim = 128, .original_max_position_embeddings = 4096};
  const double plain = inv_freq_of(config, 0).back();
  config.factor = 8;
  config.rope_type = RopeType::kDynamic;
  const double dynamic = plain / inv_freq_of(config, 32768).back();
  check_relative("dynamic", Doubles{dynamic}, Doubles{value["hf_dynamic_multiplier_f8_at_32768"].number()},
                 3 * kRopeInvFreqError);
  config.rope_type = RopeType::kNtk;
  check_relative("static", Doubles{plain / inv_freq_of(config, 32768).back()},
                 Doubles{value["static_ntk_multiplier"].number()}, 3 * kRopeInvFreqError);
}

TEST_CASE("BERT's table has 512 rows of 768 and refuses a 513th position") {
  const Json& params = lesson_check("bert_params")["value"];
  CHECK(512 * 768 == params["bert_base"].integer());
  CHECK(1024 * 768 == params["gpt2"].integer());
  CHECK(lesson_check("bert_513")["correct"].truth());
  const std::vector<float> table(512 * 768);
  std::vector<float> out(768);
  const int32_t last = 511, next = 512;
  CHECK(lookup_rows(out, table, std::span(&last, 1), 512, 768) == kAllRowsFound);
  CHECK(lookup_rows(out, table, std::span(&next, 1), 512, 768) == 0);
}

TEST_CASE("the mean cosine of RoPE at d 64 does not fall steadily with distance") {
  const Doubles inv_freq = inv_freq_of_width(64);
  Doubles offsets, dot(1000);
  for (int k = 0; k < 1000; ++k) offsets.push_back(k);
  dot_by_offset(dot, offsets, inv_freq);
  check_near("at 0", dot[0] / 32, 1, 0);
  check_near("at 50, as printed", dot[50] / 32, 0.49, 0.005);
  check_near("at 100, as printed", dot[100] / 32, 0.56, 0.005);
  size_t first_negative = 0;
  while (dot[first_negative] >= 0) ++first_negative;
  CHECK(first_negative == 725);
}

TEST_CASE("no two rows of a table are the same, but positions in bfloat16 are") {
  CHECK(lesson_check("never_repeats")["correct"].truth());
  Doubles first(8192);
  Doubles positions;
  for (int p = 0; p < 4096; ++p) positions.push_back(p);
  sinusoidal_rows(first, positions, {.seq_len = 1, .d_model = 2});
  std::vector<std::pair<double, double>> rows;
  for (size_t p = 0; p < 4096; ++p) rows.emplace_back(first[2 * p], first[2 * p + 1]);
  std::sort(rows.begin(), rows.end());
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  CHECK(round_to(256, FloatFormat::kBfloat16) == round_to(257, FloatFormat::kBfloat16));
}

TEST_CASE("the lesson's checks are fifteen numbers, tested above, and twelve statements") {
  static const Json file = golden("lesson_checks");
  size_t statements = 0;
  for (const Json& c : file["cases"].items()) statements += c["value"].is_string();
  CHECK(statements == 12);
  CHECK(file["cases"].size() == 27);
}
