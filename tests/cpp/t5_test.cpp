// T5's buckets and the bias that a table of them gives.
#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

constexpr int kMax = std::numeric_limits<int>::max(), kMin = std::numeric_limits<int>::min();

T5Config config_of(const Json& params) {
  return {.num_buckets = params["num_buckets"].integer(),
          .max_distance = params["max_distance"].integer(),
          .bidirectional = params["bidirectional"].truth()};
}

int bucket(int relative_position, const T5Config& config) {
  return t5_relative_position_bucket(relative_position, config);
}

}  // namespace

TEST_CASE("buckets equal the reference's at every relative position from -512 to 512") {
  const Json file = golden("t5_buckets");
  for (const Json& c : file["cases"].items()) {
    const T5Config config = config_of(c["params"]);
    REQUIRE(invalid(config) == nullptr);
    std::vector<double> expected;
    std::vector<int> actual;
    const std::vector<double> skipped = c["expected"]["differs_exact_from_f32"].numbers();
    for (const Json& run : c["expected"]["runs"].items()) {
      for (int r = run[0].integer(); r <= run[1].integer(); ++r) {
        if (std::find(skipped.begin(), skipped.end(), r) != skipped.end()) continue;
        expected.push_back(run[2].number());
        actual.push_back(bucket(r, config));
      }
    }
    CHECK(expected.size() + skipped.size() == 1025);
    check_equal(c["id"].text(), actual, expected);
  }
}

TEST_CASE("the bias is the table's row of the bucket of j - i, for every head") {
  const Json file = golden("t5_bias");
  for (const Json& c : file["cases"].items()) {
    const Json &params = c["params"], &expected = c["expected"];
    const T5Config config = config_of(params);
    const int q_len = params["T"].integer(), k_len = params["S"].integer();
    std::vector<int> buckets;
    for (int i = 0; i < q_len; ++i) {
      for (int j = 0; j < k_len; ++j) buckets.push_back(bucket(j - i, config));
    }
    check_equal(c["id"].text() + " buckets", buckets, expected["bucket"].numbers());
    const std::vector<double> expected_bias = expected["bias"].numbers();
    std::vector<double> bias(expected_bias.size());
    t5_bias(bias, params["table"].numbers(), params["num_heads"].integer(), q_len, k_len, config);
    check_equal(c["id"].text(), bias, expected_bias);
  }
}

TEST_CASE("eight causal buckets to distance 16, by hand") {
  // Exact 0..3; then 4 + floor(4 ln(n/4) / ln 4): steps at 4 sqrt 2 = 5.7, 8, 8 sqrt 2 = 11.3.
  const T5Config config{.num_buckets = 8, .max_distance = 16, .bidirectional = false};
  std::vector<int> buckets;
  for (int distance = 0; distance <= 17; ++distance) buckets.push_back(bucket(-distance, config));
  check_equal("decoder", buckets, std::vector{0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7});
  for (const int later : {1, 2, 100, kMax}) CHECK(bucket(later, config) == 0);
}

TEST_CASE("keys after the query have the upper half of a bidirectional set") {
  const T5Config config{};
  CHECK(bucket(0, config) == 0);
  CHECK(bucket(-1, config) == 1);
  CHECK(bucket(1, config) == 17);
  CHECK(bucket(-128, config) == 15);
  CHECK(bucket(128, config) == 31);
  for (int r = 1; r < 300; ++r) REQUIRE(bucket(r, config) == bucket(-r, config) + 16);
}

TEST_CASE("buckets never fall with distance, stay in range, and all are used up to max_distance") {
  for (const bool bidirectional : {true, false}) {
    for (const int num_buckets : {2, 3, 4, 6, 8, 18, 32, 64, 100}) {
      for (const int max_distance : {2, 3, 16, 51, 128, 1000, 100000, kMax}) {
        const T5Config config{num_buckets, max_distance, bidirectional};
        if (invalid(config)) continue;
        INFO(num_buckets << " buckets, " << max_distance << (bidirectional ? ", both ways" : ", causal"));
        const int one_sided = bidirectional ? num_buckets / 2 : num_buckets;
        int previous = 0;
        for (int64_t distance = 0; distance < kMax; distance = distance < 300 ? distance + 1 : distance * 2) {
          const int b = bucket(-static_cast<int>(distance), config);
          REQUIRE(b >= previous);
          REQUIRE(b < one_sided);
          if (distance < one_sided / 2) REQUIRE(b == distance);
          previous = b;
        }
        for (const int far : {-max_distance, -kMax, kMin + 1, kMin}) {
          REQUIRE(bucket(far, config) == one_sided - 1);
        }
        for (const int far : {max_distance, kMax - 1, kMax}) {
          REQUIRE(bucket(far, config) == (bidirectional ? num_buckets - 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("from max_distance on there is one bucket, however many there are") {
  for (const int num_buckets : {1 << 20, 1 << 23, 1 << 28}) {
    const T5Config config{.num_buckets = num_buckets, .max_distance = kMax, .bidirectional = false};
    REQUIRE(invalid(config) == nullptr);
    CHECK(bucket(-kMax, config) == num_buckets - 1);
  }
}

TEST_CASE("invalid(T5Config) names the field that is wrong") {
  CHECK(invalid(T5Config{}) == nullptr);
  for (const int bad : {1, 0, -2, kMin}) check_refused(invalid(T5Config{.num_buckets = bad}), "num_buckets");
  for (const int bad : {2, 3, 33, kMax}) check_refused(invalid(T5Config{.num_buckets = bad}), "num_buckets");
  CHECK(invalid(T5Config{.num_buckets = 3, .bidirectional = false}) == nullptr);
  for (const int bad : {8, 0, -1, kMin}) check_refused(invalid(T5Config{.max_distance = bad}), "max_distance");
  check_refused(invalid(T5Config{.max_distance = 16, .bidirectional = false}), "max_distance");
}
