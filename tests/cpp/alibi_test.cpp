// ALiBi's slopes for any head count, and its bias in every form that the models use.
#include <bit>

#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

std::vector<double> slopes_of(const AlibiConfig& config) {
  std::vector<double> slopes(static_cast<size_t>(config.num_heads));
  alibi_slopes(slopes, config);
  return slopes;
}

std::vector<double> bias_of(const std::vector<double>& slopes, int seq_len, bool causal) {
  std::vector<double> bias(slopes.size() * static_cast<size_t>(seq_len) * static_cast<size_t>(seq_len));
  alibi_bias(bias, slopes, seq_len, causal);
  return bias;
}

}  // namespace

TEST_CASE("slopes equal those of the authors for 39 head counts") {
  const Json file = golden("alibi_slopes");
  for (const Json& c : file["cases"].items()) {
    check_relative(c["id"].text(), slopes_of({.num_heads = c["params"]["num_heads"].integer()}),
                   c["expected"]["original"].numbers(), file["tolerance"]["rel"].number());
  }
}

TEST_CASE("slopes equal MPT's for an alibi_bias_max other than 8") {
  const Json file = golden("alibi_mpt_bias_max");
  for (const Json& c : file["cases"].items()) {
    const AlibiConfig config{.num_heads = c["params"]["num_heads"].integer(),
                             .alibi_bias_max = c["params"]["alibi_bias_max"].number()};
    check_relative(c["id"].text(), slopes_of(config), c["expected"]["slopes"].numbers(),
                   file["tolerance"]["rel"].number());
  }
}

TEST_CASE("the bias equals the paper's, and its rows BLOOM's, MPT's and Falcon's") {
  const Json file = golden("alibi_bias");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json& expected = c["expected"];
    const int seq_len = c["params"]["T"].integer();
    const std::vector<double> slopes = slopes_of({.num_heads = c["params"]["num_heads"].integer()});
    const std::vector<double> causal = bias_of(slopes, seq_len, true);
    check_near(id + " symmetric", bias_of(slopes, seq_len, false), expected["symmetric"].numbers(), tolerance);
    check_near(id + " causal", causal, expected["causal"].numbers(), tolerance);

    // One row a head: each is the last causal row plus a constant, which softmax does not see.
    std::vector<double> bloom, mpt, falcon, padded;
    const auto bf16 = [](double x) { return round_to(x, FloatFormat::kBfloat16); };
    for (size_t h = 0; h < slopes.size(); ++h) {
      const auto n = static_cast<size_t>(seq_len);
      const double* last = &causal[(h * n + n - 1) * n];
      for (size_t j = 0; j < n; ++j) {
        mpt.push_back(last[j]);              // slope * (j - T + 1)
        bloom.push_back(last[j] - last[0]);  // slope * j
        falcon.push_back(bf16(bf16(slopes[h]) * bf16(static_cast<double>(j))));
        // Two padding tokens on the left: positions are cumsum(mask) - 1, times the mask.
        padded.push_back(j < 2 ? 0 : last[j] - last[2]);
      }
    }
    check_near(id + " bloom", bloom, expected["bloom_row"].numbers(), tolerance);
    check_near(id + " mpt", mpt, expected["mpt_row"].numbers(), tolerance);
    check_equal(id + " falcon", falcon, expected["falcon_row_bf16"].numbers());
    check_near(id + " padded", padded, expected["bloom_row_left_padded_2"].numbers(), tolerance);
  }
}

TEST_CASE("eight heads have slopes 1/2, 1/4, ..., 1/256") {
  check_equal("8 heads", slopes_of({.num_heads = 8}),
              std::vector{1 / 2.0, 1 / 4.0, 1 / 8.0, 1 / 16.0, 1 / 32.0, 1 / 64.0, 1 / 128.0, 1 / 256.0});
}

TEST_CASE("slopes are positive, below 1 and different; of a power of two heads they are geometric") {
  for (int heads = 1; heads <= 128; ++heads) {
    const std::vector<double> slopes = slopes_of({.num_heads = heads});
    std::vector<double> sorted = slopes;
    std::sort(sorted.begin(), sorted.end());
    INFO(heads << " heads");
    CHECK((sorted.front() >= 0x1p-8 * (1 - 1e-15) && sorted.back() < 1));
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    if (!std::has_single_bit(static_cast<unsigned>(heads))) continue;
    std::vector<double> geometric;
    for (int h = 1; h <= heads; ++h) geometric.push_back(std::pow(2, -8.0 * h / heads));
    check_relative(std::to_string(heads) + " heads", slopes, geometric, 0x1p-51);
    CHECK(slopes.back() == 0x1p-8);
  }
}

TEST_CASE("heads past a power of two take every other slope of its double") {
  for (int heads = 1; heads <= 128; ++heads) {
    const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(heads)));
    const std::vector<double> half = slopes_of({.num_heads = power}),
                              twice = slopes_of({.num_heads = 2 * power});
    std::vector<double> expected = half;
    for (int h = power; h < heads; ++h) expected.push_back(twice[static_cast<size_t>(2 * (h - power))]);
    check_equal(std::to_string(heads) + " heads", slopes_of({.num_heads = heads}), expected);
  }
}

TEST_CASE("a causal bias is -inf exactly above the diagonal and equals the symmetric one elsewhere") {
  for (const int heads : {1, 3, 12}) {
    for (const int seq_len : {1, 2, 5, 17}) {
      const std::vector<double> slopes = slopes_of({.num_heads = heads});
      const auto causal = bias_of(slopes, seq_len, true), symmetric = bias_of(slopes, seq_len, false);
      const auto n = static_cast<size_t>(seq_len);
      std::vector<double> expected = symmetric;
      for (size_t i = 0; i < expected.size(); ++i) {
        const size_t row = i / n % n, col = i % n;
        REQUIRE(symmetric[i] == symmetric[i - row * n - col + col * n + row]);  // its transpose
        REQUIRE((symmetric[i] == 0) == (row == col));
        if (col > row) expected[i] = -HUGE_VAL;
      }
      check_equal(std::to_string(heads) + " heads, " + std::to_string(seq_len), causal, expected);
    }
  }
}

TEST_CASE("invalid(AlibiConfig) names the field that is wrong") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(invalid(AlibiConfig{.num_heads = 1}) == nullptr);
  for (const int bad : {0, -1, std::numeric_limits<int>::min()}) {
    check_refused(invalid(AlibiConfig{.num_heads = bad}), "num_heads");
  }
  for (const double bad : {0.0, -8.0, kNan, HUGE_VAL, -HUGE_VAL}) {
    check_refused(invalid(AlibiConfig{.num_heads = 8, .alibi_bias_max = bad}), "alibi_bias_max");
  }
}
