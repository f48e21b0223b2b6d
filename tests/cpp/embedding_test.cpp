// The embedding layer: looking rows up, scaling, adding positions.
#include "bounds.hpp"
#include "check.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

TEST_CASE("lookup_rows copies the rows asked for, bit for bit") {
  Dice dice{21};
  for (int cols = 1; cols <= 17; ++cols) {
    const auto d = static_cast<size_t>(cols);
    const std::vector<double> table = normals(23 * d, 22);
    std::vector<int32_t> ids;
    std::vector<double> expected;
    for (int i = 0; i < 9; ++i) {
      const int id = i == 0 ? 0 : i == 1 ? 22 : dice.between(0, 22);
      ids.push_back(id);
      const auto row = table.begin() + id * cols;
      expected.insert(expected.end(), row, row + cols);
    }
    std::vector<double> out(9 * d);
    CHECK(lookup_rows(out, table, ids, 23, cols) == kAllRowsFound);
    check_equal("double", out, expected);
    std::vector<float> tuned(9 * d);
    CHECK(lookup_rows(tuned, to_floats(table), ids, 23, cols) == kAllRowsFound);
    check_equal("float", tuned, to_floats(expected));
  }
}

TEST_CASE("row 512 of 512 is refused, its place is told and nothing is written") {
  const std::vector<float> table(512 * 4, 1.0f);
  for (const int32_t missing :
       {512, -1, 513, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()}) {
    const std::vector<int32_t> ids = {0, 511, missing, 5, missing};
    std::vector<float> out(5 * 4, -7.0f);
    CHECK(lookup_rows(out, table, ids, 512, 4) == 2);
    check_equal("untouched", out, std::vector<float>(5 * 4, -7.0f));
    std::vector<double> out_double(5 * 4, -7.0);
    CHECK(lookup_rows(out_double, to_doubles(table), ids, 512, 4) == 2);
    check_equal("untouched, double", out_double, std::vector<double>(5 * 4, -7.0));
  }
}

TEST_CASE("embed is token * sqrt(d_model) + position, for every sequence of the batch") {
  for (const bool scaled : {true, false}) {
    for (const int d : {1, 2, 3, 4, 5, 8, 13, 16, 33}) {
      const EmbeddingConfig config{.batch = 3,
                                   .seq_len = 5,
                                   .vocab_size = 11,
                                   .d_model = d,
                                   .position_rows = 7,
                                   .scale_by_sqrt_d_model = scaled};
      const auto cols = static_cast<size_t>(d);
      const std::vector<float> tokens = to_floats(normals(11 * cols, 23)),
                               positions = to_floats(normals(7 * cols, 24));
      Dice dice{25};
      std::vector<int32_t> ids;
      for (int i = 0; i < 15; ++i) ids.push_back(dice.between(0, 10));
      std::vector<float> out(15 * cols);
      CHECK(embed(out, ids, tokens, positions, config) == kAllRowsFound);
      std::vector<double> expected, allowance;
      for (size_t i = 0; i < 15; ++i) {
        for (size_t c = 0; c < cols; ++c) {
          const double token =
              static_cast<double>(tokens[static_cast<size_t>(ids[i]) * cols + c]) * (scaled ? std::sqrt(d) : 1);
          const double position = static_cast<double>(positions[i % 5 * cols + c]);
          expected.push_back(token + position);
          // The scale, the product and the sum are each rounded to float.
          allowance.push_back(2.01 * kToFloat * std::fabs(token) + kToFloat * std::fabs(token + position));
        }
      }
      check_near("d " + std::to_string(d), out, expected, [&](size_t i) { return allowance[i]; });
      ids[13] = 11;
      std::vector<float> untouched(15 * cols, -7.0f);
      CHECK(embed(untouched, ids, tokens, positions, config) == 13);
      check_equal("untouched", untouched, std::vector<float>(15 * cols, -7.0f));
    }
  }
}

TEST_CASE("invalid(EmbeddingConfig) names the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  const EmbeddingConfig good{.batch = 2, .seq_len = 4, .vocab_size = 10, .d_model = 8, .position_rows = 4};
  CHECK(invalid(good) == nullptr);
  const auto refused = [&](auto change, const char* field) {
    EmbeddingConfig config = good;
    change(config);
    check_refused(invalid(config), field);
  };
  for (const int bad : {0, -1, -kMax - 1}) {
    refused([&](auto& c) { c.batch = bad; }, "batch");
    refused([&](auto& c) { c.seq_len = bad; }, "seq_len");
    refused([&](auto& c) { c.vocab_size = bad; }, "vocab_size");
    refused([&](auto& c) { c.d_model = bad; }, "d_model");
    refused([&](auto& c) { c.position_rows = bad; }, "position table");
  }
  refused([&](auto& c) { c.seq_len = 5; }, "seq_len");
  refused([&](auto& c) { c.batch = c.seq_len = c.d_model = c.position_rows = kMax; },
          "batch * seq_len * d_model");
}
