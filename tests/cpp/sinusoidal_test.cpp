// Sinusoidal tables: against the reference implementations and exact values, and against their own laws.
#include <cfloat>
#include <numbers>

#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using enum SinusoidalLayout;
constexpr SinusoidalLayout kLayouts[] = {kInterleaved, kHalves, kHalvesMinusOne};

std::vector<double> inv_freq_of(const SinusoidalConfig& config) {
  std::vector<double> inv_freq(static_cast<size_t>(sinusoidal_pairs(config)));
  sinusoidal_inv_freq(inv_freq, config);
  return inv_freq;
}

std::vector<double> rows_at(const std::vector<double>& positions, const SinusoidalConfig& config) {
  std::vector<double> rows(positions.size() * static_cast<size_t>(config.d_model));
  sinusoidal_rows(rows, positions, config);
  return rows;
}

std::vector<double> positions_of(const SinusoidalConfig& config) {
  std::vector<double> positions;
  for (int t = 0; t < config.seq_len; ++t) {
    positions.push_back(config.first_position + t * config.position_step);
  }
  return positions;
}

std::vector<float> table_of(const SinusoidalConfig& config) {
  std::vector<float> table(static_cast<size_t>(config.seq_len) * static_cast<size_t>(config.d_model));
  std::vector<double> scratch(static_cast<size_t>(sinusoidal_scratch(config)));
  sinusoidal_table(table, scratch, config);
  return table;
}

// The pair that a column belongs to, or -1 for a column of zeros.
int pair_of(int column, const SinusoidalConfig& config) {
  const int d = config.d_model;
  if (config.layout == kInterleaved) return column / 2;
  const int sines = config.layout == kHalves ? (d + 1) / 2 : d / 2;
  if (config.layout == kHalvesMinusOne && column == 2 * sines) return -1;
  return column < sines ? column : column - sines;
}

bool is_sine(int column, const SinusoidalConfig& config) {
  if (config.layout == kInterleaved) return column % 2 == 0;
  return column < (config.layout == kHalves ? (config.d_model + 1) / 2 : config.d_model / 2);
}

// |position * inv_freq| of every cell of rows_at(positions, config).
std::vector<double> angles_of(const std::vector<double>& positions, const SinusoidalConfig& config) {
  const std::vector<double> inv_freq = inv_freq_of(config);
  std::vector<double> angles;
  for (const double p : positions) {
    for (int c = 0; c < config.d_model; ++c) {
      const int pair = pair_of(c, config);
      angles.push_back(pair < 0 ? 0 : std::fabs(p * inv_freq[static_cast<size_t>(pair)]));
    }
  }
  return angles;
}

// Every cell by sinl of a long double angle. powl would do for inv_freq too, but musl has none of 113 bits.
std::vector<long double> exact_rows(const std::vector<double>& positions, const SinusoidalConfig& config) {
  const std::vector<double> inv_freq = inv_freq_of(config);
  std::vector<long double> rows;
  for (const double p : positions) {
    for (int c = 0; c < config.d_model; ++c) {
      const int pair = pair_of(c, config);
      const long double angle = pair < 0 ? 0
                                         : static_cast<long double>(p) *
                                               static_cast<long double>(inv_freq[static_cast<size_t>(pair)]);
      rows.push_back(pair < 0 ? 0 : is_sine(c, config) ? std::sin(angle) : std::cos(angle));
    }
  }
  return rows;
}

// The rows 0..n-1 of a golden table, by the double function and by the float kernel.
void check_table(const std::string& id, const SinusoidalConfig& config, const std::vector<double>& expected,
                 double tolerance) {
  REQUIRE(invalid(config) == nullptr);
  check_near(id + " double", rows_at(positions_of(config), config), expected, tolerance);
  check_near(id + " float", table_of(config), expected, kTableError + tolerance);
}

SinusoidalLayout layout_of(const std::string& variant) {
  if (variant == "lesson") return kInterleaved;
  if (variant == "marian" || variant == "xt") return kHalves;
  REQUIRE((variant == "t2t" || variant == "fairseq" || variant == "m2m_pad1"));
  return kHalvesMinusOne;
}

}  // namespace

TEST_CASE("interleaved tables equal the lesson's") {
  const Json file = golden("sinusoidal_interleaved");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const Json& params = c["params"];
    SinusoidalConfig config{
        .seq_len = 1, .d_model = params["d_model"].integer(), .base = params["base"].number()};
    if (const Json* table = c["expected"].find("table")) {
      config.seq_len = params["seq_len"].integer();
      check_table(c["id"].text(), config, table->numbers(), tolerance);
      continue;
    }
    const Json& rows = c["expected"]["rows"];
    for (size_t r = 0; r < rows.size(); ++r) {
      config.first_position = params["positions"][r].number();
      check_table(c["id"].text() + " row " + std::to_string(r), config, rows[r].numbers(), tolerance);
    }
  }
}

TEST_CASE("halves tables equal those of tensor2tensor, fairseq, M2M100, Marian and x-transformers") {
  const Json file = golden("sinusoidal_halves");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const Json& params = c["params"];
    const std::string& variant = params["variant"].text();
    const SinusoidalConfig config{.seq_len = params["num_positions"].integer(),
                                  .d_model = params["d_model"].integer(),
                                  .base = params["base"].number(),
                                  .layout = layout_of(variant)};
    const std::vector<double> expected = c["expected"]["table"].numbers();
    std::vector<double> rows = rows_at(positions_of(config), config);
    std::vector<float> table = table_of(config);
    const auto d = static_cast<size_t>(config.d_model);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (variant == "m2m_pad1" && i / d == 1) rows[i] = table[i] = 0;  // the padding row
      if (variant == "xt") {
        const double scale = 1 / std::sqrt(config.d_model);
        rows[i] *= scale;
        table[i] *= static_cast<float>(scale);
      }
    }
    check_near(c["id"].text() + " double", rows, expected, tolerance);
    check_near(c["id"].text() + " float", table, expected, kTableError + tolerance);
  }
}

TEST_CASE("rows far out equal the exact values") {
  const Json file = golden("sinusoidal_large_positions");
  for (const Json& c : file["cases"].items()) {
    const Json& params = c["params"];
    SinusoidalConfig config{.seq_len = 1,
                            .d_model = params["d_model"].integer(),
                            .base = params["base"].number(),
                            .first_position = params["position"].number()};
    if (params["variant"].text() == "halves") {
      config.layout = params["denominator"].text() == "half" ? kHalves : kHalvesMinusOne;
    }
    const std::vector<double> positions = positions_of(config), all_rows = rows_at(positions, config);
    const std::vector<double> all_angles = angles_of(positions, config);
    const std::vector<float> all_table = table_of(config);
    std::vector<double> rows, angles;
    std::vector<float> table;
    for (size_t i = 0; i < c["expected"]["values"].size(); ++i) {
      const Json* dims = params.find("dims");
      const auto column = dims ? static_cast<size_t>((*dims)[i].integer()) : i;
      rows.push_back(all_rows[column]);
      angles.push_back(all_angles[column]);
      table.push_back(all_table[column]);
    }
    const std::vector<double> expected = c["expected"]["values"].numbers();
    // The file's "4e-16 + 2.3e-15*position*freq" is the header's own bound of sinusoidal_rows.
    check_near(c["id"].text() + " double", rows, expected, [&](size_t i) { return rows_error(angles[i]); });
    check_near(c["id"].text() + " float", table, expected, kTableError);
  }
}

TEST_CASE("odd and tiny widths are defined where some references fail") {
  const Json file = golden("sinusoidal_edge_cases");
  const double tolerance = file["tolerance"]["abs"].number();
  size_t seen = 0;
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    ++seen;
    if (id == "exact_odd_d5_sin_extra") {
      const std::vector<double> rows = rows_at(params["positions"].numbers(), {.seq_len = 1, .d_model = 5});
      check_near(id, rows, expected["value"].numbers(), tolerance);
    } else if (id == "lesson_T0") {
      check_refused(invalid(SinusoidalConfig{.seq_len = 0, .d_model = 4}), "seq_len");
    } else if (id == "lesson_odd_d5") {
      // NumPy cannot fit three cosines into two columns; ours ends with the sine of the third pair.
      const SinusoidalConfig config{.seq_len = 3, .d_model = 5};
      CHECK(invalid(config) == nullptr);
      check_near(id, rows_at({2}, config)[4], std::sin(2 * std::pow(10000, -0.8)), 1e-15);
    } else if (id == "fairseq_d2_zero_division" || id == "fairseq_d3_zero_division") {
      // fairseq divides by half - 1 = 0; ours takes tensor2tensor's max(half - 1, 1): inv_freq is 1.
      const bool odd = params["d_model"].integer() == 3;
      const SinusoidalConfig config{.seq_len = 2, .d_model = odd ? 3 : 2, .layout = kHalvesMinusOne};
      std::vector<double> row = {0, 1, std::sin(1.0), std::cos(1.0)};
      if (odd) row = {0, 1, 0, std::sin(1.0), std::cos(1.0), 0};
      check_table(id, config, row, 0);
    } else if (id == "rope_cache_odd_dk5") {
      // Exponents over 5, three frequencies: what transformers' odd partial dimensions do, so six components.
      const RopeConfig config{.head_dim = 6, .rotary_dim = 6, .frequency_dim = 5};
      std::vector<double> inv_freq(3), cos_sin(12);
      rope_inv_freq(inv_freq, config, 0);
      const double positions[] = {0, 1};
      rope_cos_sin(std::span(cos_sin).first(6), std::span(cos_sin).last(6), positions, inv_freq, 1);
      check_near(id, cos_sin, expected["value"].numbers(), tolerance);
    } else if (id == "rope_apply_odd_dk5") {
      check_refused(invalid(RopeShape{.seq_len = 2, .head_dim = 5, .rotary_dim = 5}), "rotary_dim");
    } else if (id == "ntk_dk2") {
      check_refused(
          invalid(RopeConfig{.head_dim = 2, .rotary_dim = 2, .rope_type = RopeType::kNtk, .factor = 2}),
          "rotary_dim");
    } else {
      REQUIRE(expected["ok"].truth());
      const SinusoidalConfig config{.seq_len = params["seq_len"].integer(),
                                    .d_model = params["d_model"].integer(),
                                    .first_position = params.number_or("start_index", 0),
                                    .layout = layout_of(params["variant"].text())};
      check_table(id, config, expected["value"].numbers(), tolerance);
    }
  }
  CHECK(seen == 13);
}

TEST_CASE("a shift by k positions is a rotation of every pair") {
  const Json file = golden("sinusoidal_shift");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json& expected = c["expected"];
    const double k = c["params"]["k"].number();
    const SinusoidalConfig config{.seq_len = 1, .d_model = c["params"]["d_model"].integer()};
    const std::vector<double> inv_freq = inv_freq_of(config), positions = c["params"]["positions"].numbers();
    std::vector<double> matrices(4 * inv_freq.size()), shifted_positions;
    shift_matrices(matrices, inv_freq, k);
    std::vector<double> expected_matrices;
    for (size_t i = 0; i < inv_freq.size(); ++i) {
      const double cos = expected["cos_k"][i].number(), sin = expected["sin_k"][i].number();
      expected_matrices.insert(expected_matrices.end(), {cos, sin, -sin, cos});
    }
    check_near(id + " matrices", matrices, expected_matrices, tolerance);
    for (const double p : positions) shifted_positions.push_back(p + k);
    check_near(id + " rows", rows_at(positions, config), expected["rows"].numbers(), tolerance);
    check_near(id + " rows shifted", rows_at(shifted_positions, config), expected["rows_shifted"].numbers(),
               tolerance);
    std::vector<double> dot(1);
    dot_by_offset(dot, std::span(&k, 1), inv_freq);
    check_near(id + " dot", dot[0], expected["dot_formula"].number(), tolerance);
    for (const double golden_dot : expected["dot"].numbers()) {
      check_near(id + " dot of rows", dot[0], golden_dot, tolerance);
    }
  }
}

TEST_CASE("M_k is [cos k, sin k; -sin k, cos k]") {
  const double w = 1;
  std::vector<double> m(4);
  shift_matrices(m, {&w, 1}, 2);
  check_equal("k = 2", m, std::vector{std::cos(2.0), std::sin(2.0), -std::sin(2.0), std::cos(2.0)});
}

TEST_CASE("PE(p+k) = M_k PE(p) for all p and k") {
  Dice dice{1};
  for (int round = 0; round < 100; ++round) {
    const SinusoidalConfig config{
        .seq_len = 1, .d_model = 2 * dice.between(1, 33), .base = dice.pick({2.0, 10000.0, 5e5})};
    const double p = dice.between(-1000, 100000), k = dice.between(-1000, 1000);
    const std::vector<double> inv_freq = inv_freq_of(config), row = rows_at({p}, config);
    std::vector<double> m(4 * inv_freq.size()), shifted;
    shift_matrices(m, inv_freq, k);
    for (size_t i = 0; i < inv_freq.size(); ++i) {
      shifted.push_back(m[4 * i] * row[2 * i] + m[4 * i + 1] * row[2 * i + 1]);
      shifted.push_back(m[4 * i + 2] * row[2 * i] + m[4 * i + 3] * row[2 * i + 1]);
    }
    // Three angles are rounded (2^-53 of each) and meet in sums of two products of a sine and a cosine.
    const double size = std::fabs(p + k) + 1.5 * (std::fabs(p) + std::fabs(k));
    check_near("round " + std::to_string(round), shifted, rows_at({p + k}, config),
               [&](size_t c) { return 2e-15 + 0x1p-53 * size * inv_freq[c / 2]; });
  }
}

TEST_CASE("PE.PE depends on the offset alone and is even in it") {
  const SinusoidalConfig config{.seq_len = 1, .d_model = 34};
  const std::vector<double> inv_freq = inv_freq_of(config);
  Dice dice{2};
  for (int round = 0; round < 100; ++round) {
    const double p = dice.between(0, 5000), k = dice.between(0, 5000);
    const double offsets[] = {k, -k};
    std::vector<double> dot(2);
    dot_by_offset(dot, offsets, inv_freq);
    check_equal("even", std::vector{dot[1]}, std::vector{dot[0]});
    const std::vector<double> a = rows_at({p}, config), b = rows_at({p + k}, config);
    double product = 0, slack = 17 * 1e-15;
    for (size_t c = 0; c < a.size(); ++c) product += a[c] * b[c];
    for (const double w : inv_freq) slack += 1.5 * 0x1p-53 * w * (2 * p + 2 * k);
    check_near("round " + std::to_string(round), dot[0], product, slack);
  }
}

TEST_CASE("the similarity of a table with itself is Toeplitz and symmetric") {
  for (const int d : {1, 2, 3, 4, 5, 7, 8, 16, 31, 64}) {
    const SinusoidalConfig config{.seq_len = 21, .d_model = 2 * d};
    const std::vector<double> table = rows_at(positions_of(config), config);
    const std::vector<float> float_table = table_of(config);
    const size_t n = 21, cols = static_cast<size_t>(2 * d);
    std::vector<double> s(n * n), sum(n * n);
    std::vector<float> tuned(n * n);
    similarity(s, table, 21, 2 * d);
    std::vector<float> scratch(static_cast<size_t>(similarity_scratch(2 * d)));
    similarity(tuned, scratch, float_table, 21, 2 * d);
    std::vector<double> diagonal(n * n), transposed(n * n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        diagonal[i * n + j] = s[i > j ? i - j : j - i];
        transposed[i * n + j] = tuned[j * n + i];
      }
    }
    // Each of d cosines of the offset carries the rounding of two angles below 21.
    check_near("d " + std::to_string(2 * d), s, diagonal, d * (2e-15 + 42 * 0x1p-53));
    check_equal("symmetric, d " + std::to_string(2 * d), tuned, transposed);
    const std::vector<double> same = to_doubles(float_table);
    similarity(s, same, 21, 2 * d);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        for (size_t c = 0; c < cols; ++c) sum[i * n + j] += std::fabs(same[i * cols + c] * same[j * cols + c]);
      }
    }
    check_near("float, d " + std::to_string(2 * d), tuned, s,
               [&](size_t i) { return static_cast<double>(cols) * kSimilarityError * sum[i]; });
  }
}

TEST_CASE("the float similarity is that of the double one past the edges of its tiles and blocks") {
  struct Shape {
    int rows, cols;
  };
  for (const Shape& shape : {Shape{1, 1},
                             {3, 5},
                             {4, 8},
                             {7, 3},
                             {8, 256},
                             {13, 257},
                             {16, 4},
                             {33, 31},
                             {129, 9},
                             {131, 300},
                             {150, 513}}) {
    const int rows = shape.rows, cols = shape.cols;
    const size_t n = static_cast<size_t>(rows), d = static_cast<size_t>(cols);
    const std::vector<double> x = normals(n * d, static_cast<uint32_t>(rows));
    const std::vector<float> table = to_floats(x);
    std::vector<double> exact(n * n), sizes(n * n), positive = to_doubles(table);
    std::vector<float> tuned(n * n, 7), all(n * n, 7), transposed(n * n);
    std::vector<float> scratch(static_cast<size_t>(similarity_scratch(cols)), std::nanf(""));
    similarity(exact, to_doubles(table), rows, cols);
    for (double& value : positive) value = std::fabs(value);
    similarity(sizes, positive, rows, cols);
    similarity(tuned, scratch, table, rows, cols);
    dot_products(all, scratch, table, rows, cols, false);
    for (size_t i = 0; i < n * n; ++i) transposed[i] = tuned[i % n * n + i / n];
    const std::string id = std::to_string(rows) + " x " + std::to_string(cols);
    check_near(id, tuned, exact,
               [&](size_t i) { return static_cast<double>(cols) * kSimilarityError * sizes[i]; });
    check_equal(id + " symmetric", tuned, transposed);
    check_equal(id + " without the mirror", all, tuned);
  }
}

TEST_CASE("the similarity of a sinusoidal table from its offsets is the general one of its rows") {
  Dice dice{12};
  for (const SinusoidalLayout layout : kLayouts) {
    for (const int d : {2, 4, 6, 8, 10, 16, 30, 64, 130}) {
      const SinusoidalConfig config{.seq_len = dice.between(1, 60),
                                    .d_model = d,
                                    .base = dice.pick({2.0, 100.0, 10000.0}),
                                    .first_position = dice.uniform(-100, 100),
                                    .position_step = dice.pick({1.0, 0.25, -3.0}),
                                    .layout = layout};
      REQUIRE(invalid_similarity(config) == nullptr);
      const size_t n = static_cast<size_t>(config.seq_len);
      const std::vector<double> rows = rows_at(positions_of(config), config);
      std::vector<double> general(n * n), scratch(static_cast<size_t>(sinusoidal_similarity_scratch(config)));
      std::vector<float> by_offset(n * n);
      similarity(general, rows, config.seq_len, d);
      sinusoidal_similarity(by_offset, scratch, config);
      // Each row's angles carry a rounding or two of at most 400; a pair's two products are two such values.
      const double allowance = 0.5 * d * (kToeplitzError + 4 * rows_error(400));
      check_near("d " + std::to_string(d), by_offset, general, allowance);
    }
  }
}

TEST_CASE("the similarity from offsets is within its bound far out") {
  const SinusoidalConfig config{.seq_len = 2000, .d_model = 64, .position_step = 500};
  std::vector<double> scratch(static_cast<size_t>(sinusoidal_similarity_scratch(config)));
  std::vector<float> similarity(2000 * 2000);
  sinusoidal_similarity(similarity, scratch, config);
  const std::vector<double> inv_freq = inv_freq_of(config);
  std::vector<long double> exact(2000);
  for (size_t k = 0; k < exact.size(); ++k) {
    for (const double w : inv_freq)
      exact[k] += std::cos(500 * static_cast<long double>(k) * static_cast<long double>(w));
  }
  check_near("row 0", std::span(similarity).first(2000), exact, 32 * kToeplitzError);
}

TEST_CASE("invalid_similarity names the field that is wrong") {
  CHECK(invalid_similarity({.seq_len = 5, .d_model = 4}) == nullptr);
  check_refused(invalid_similarity({.seq_len = 5, .d_model = 5}), "d_model");
  check_refused(invalid_similarity({.seq_len = 0, .d_model = 4}), "seq_len");
  check_refused(invalid_similarity({.seq_len = 1 << 15, .d_model = 2}), "seq_len * seq_len");
}

TEST_CASE("at least 999 of 1000 entries of a float table are the correctly rounded ones, at positions to 1e6") {
  for (const double first : {0.0, 9000.0, 99000.0, 999000.0}) {
    const SinusoidalConfig config{.seq_len = 1000, .d_model = 128, .first_position = first};
    const std::vector<float> table = table_of(config);
    const std::vector<long double> exact = exact_rows(positions_of(config), config);
    size_t wrong = 0;
    for (size_t i = 0; i < table.size(); ++i) wrong += table[i] != static_cast<float>(exact[i]);
    INFO("from position " << first << ": " << wrong << " of " << table.size() << " are not");
    CHECK(wrong * 1000 <= table.size());
  }
}

TEST_CASE("the float table is within kTableError of the exact values for every width, layout, start and step") {
  Dice dice{3};
  for (const SinusoidalLayout layout : kLayouts) {
    for (int d = 1; d <= 67; ++d) {
      for (int round = 0; round < 6; ++round) {
        const SinusoidalConfig config{
            .seq_len = dice.pick({1, 2, 3, 4, 5, 7, 15, 16, 17, 18, 19, 33, 34, 35, 52}),
            .d_model = d,
            .base = dice.pick({1.0, 2.0, 100.0, 10000.0, 5e5, 1e6}),
            .first_position = dice.pick({0.0, 1.0, 0.5, -3.25, 12345.678, 999000.0, -999000.0, 65536.0}),
            .position_step = dice.pick({1.0, 1.0, 0.25, -1.0, -2.5, 1.0 / 3, 17.0, 0.0}),
            .layout = layout};
        const std::vector<double> positions = positions_of(config);
        const std::vector<double> angles = angles_of(positions, config);
        check_near("d " + std::to_string(d) + ", round " + std::to_string(round), table_of(config),
                   rows_at(positions, config),
                   [&](size_t i) { return kTableError + rows_error(angles[i]); });  // the twin's own error
      }
    }
  }
}

TEST_CASE("the float table is within 2^-23 at positions up to 2^24") {
  for (const double first : {0x1p24 - 20, -0x1p24, 0x1p23 + 0.5, 8e6}) {
    const SinusoidalConfig config{.seq_len = 20, .d_model = 33, .first_position = first};
    check_near("from " + std::to_string(first), table_of(config), exact_rows(positions_of(config), config),
               kFarTableError);
  }
}

TEST_CASE("the float table is within kTableError also where inv_freq exceeds 1") {
  for (const double base : {0.9, 0.01, 1e-4}) {
    for (const double first : {0.0, -12.0, 0.3, 999000.0}) {
      const SinusoidalConfig config{.seq_len = 20, .d_model = 15, .base = base, .first_position = first};
      check_near("base " + std::to_string(base), table_of(config), exact_rows(positions_of(config), config),
                 kTableError);
    }
  }
}

TEST_CASE("at least 99.9 % of the float entries near position 1e6 are correctly rounded") {
  // 128-bit long doubles are software in wasm: fewer rows there.
  const SinusoidalConfig config{
      .seq_len = LDBL_MANT_DIG > 64 ? 40 : 400, .d_model = 128, .first_position = 999590};
  const std::vector<float> table = table_of(config);
  const std::vector<long double> exact = exact_rows(positions_of(config), config);
  size_t differ = 0;
  for (size_t i = 0; i < table.size(); ++i) differ += table[i] != static_cast<float>(exact[i]);
  INFO(differ << " of " << table.size() << " differ");
  CHECK(static_cast<double>(differ) <= 0.001 * static_cast<double>(table.size()));
  check_near("near 1e6", table, exact, kTableError);
}

TEST_CASE("a table does not depend on where it starts: rows agree to the last bits") {
  const SinusoidalConfig whole{.seq_len = 100, .d_model = 18};
  const std::vector<float> all = table_of(whole);
  for (int first = 1; first < 60; first += 7) {
    SinusoidalConfig part = whole;
    part.seq_len = 40;
    part.first_position = first;
    const auto from = all.begin() + first * 18;
    check_near("from row " + std::to_string(first), table_of(part), std::vector<float>(from, from + 40 * 18),
               2 * kTableError);
  }
}

TEST_CASE("inv_freq is base^(-2i/d) but for the rounding of its exponent") {
  // w^n * base^i = 1 with n = d/2, by multiplications only: its relative error is n times that of w.
  for (const int d : {2, 8, 12, 64, 96, 128, 512, 768}) {
    for (const double base : {100.0, 10000.0, 5e5}) {
      const SinusoidalConfig config{.seq_len = 1, .d_model = d, .base = base};
      const std::vector<double> inv_freq = inv_freq_of(config);
      const int n = d / 2;
      std::vector<double> relative;
      for (int i = 0; i < n; ++i) {
        long double product = 1;
        int owed = 0;  // powers of the base still to be multiplied in: the product stays near 1
        for (int k = 0; k < n; ++k) {
          product *= static_cast<long double>(inv_freq[static_cast<size_t>(i)]);
          for (; owed * n < (k + 1) * i; ++owed) product *= static_cast<long double>(base);
        }
        relative.push_back(static_cast<double>((product - 1) / n));
      }
      check_near("d " + std::to_string(d) + ", base " + std::to_string(base), relative,
                 std::vector<double>(relative.size()), inv_freq_error(base));
    }
  }
}

TEST_CASE("every column of a table is a sine or a cosine of its pair, and the odd column of zeros is zero") {
  for (const SinusoidalLayout layout : kLayouts) {
    for (int d = 1; d <= 9; ++d) {
      const SinusoidalConfig config{.seq_len = 3, .d_model = d, .first_position = 2.5, .layout = layout};
      const std::vector<long double> exact = exact_rows(positions_of(config), config);
      check_near("d " + std::to_string(d), rows_at(positions_of(config), config), exact, 4e-15);
      check_near("d " + std::to_string(d), table_of(config), exact, kTableError);
    }
  }
}

TEST_CASE("invalid(SinusoidalConfig) names the field that is wrong") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
  constexpr int kMax = std::numeric_limits<int>::max();
  const SinusoidalConfig good{.seq_len = 4, .d_model = 8};
  CHECK(invalid(good) == nullptr);
  const auto refused = [&](auto change, const char* field) {
    SinusoidalConfig config = good;
    change(config);
    check_refused(invalid(config), field);
  };
  for (const int bad : {0, -1, -kMax - 1}) {
    refused([&](auto& c) { c.seq_len = bad; }, "seq_len");
    refused([&](auto& c) { c.d_model = bad; }, "d_model");
  }
  refused([&](auto& c) { c.seq_len = kMax, c.d_model = 1 << 24; }, "seq_len * d_model");
  refused([&](auto& c) { c.seq_len = (1 << 25) + 1; }, "seq_len * d_model");
  refused([&](auto& c) { c.d_model = kMax; }, "d_model");
  for (const double bad : {0.0, -1.0, kNan, kInf, -kInf}) refused([&](auto& c) { c.base = bad; }, "base");
  for (const double bad : {kNan, kInf, -kInf, 0x1p53 * 2, -1e300}) {
    refused([&](auto& c) { c.first_position = bad; }, "first_position");
    refused([&](auto& c) { c.position_step = bad; }, "last position");
  }
  SinusoidalConfig edge = good;
  edge.first_position = -0x1p53;
  edge.position_step = 0x1p52;
  CHECK(invalid(edge) == nullptr);
}

TEST_CASE("a table may reach to 2^53 positions from 0") {
  const SinusoidalConfig config{.seq_len = 3, .d_model = 1, .first_position = -0x1p53, .position_step = 0x1p53};
  // The frequency is cut at 2^-64 turns: 2^-11 turns at that distance.
  check_near("one sine", table_of(config), std::vector{-std::sin(0x1p53), 0.0, std::sin(0x1p53)},
             0x1p-11 * 2 * std::numbers::pi);
}

TEST_CASE("the scratch of every table that is accepted can be counted in an int") {
  for (int d = 1; d > 0 && d <= 1 << 28; d *= 2) {
    const SinusoidalConfig config{.seq_len = 1, .d_model = d};
    if (invalid(config)) continue;
    INFO("d_model " << d);
    REQUIRE(sinusoidal_scratch(config) >= sinusoidal_pairs(config));
  }
}
