// From matrix to pixels: every pixel is the mean of what it covers, and colours are those of the table.
#include "check.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using Pixels = std::vector<uint32_t>;

// A table in which colour i is the number i + 1, so that pixels can be read as indices; 0 is transparent.
Pixels counting_lut() {
  Pixels lut(kLutSize);
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = static_cast<uint32_t>(i + 1);
  return lut;
}

ColormapConfig whole(int rows, int cols, int width, int height) {
  return {.rows = rows,
          .cols = cols,
          .width = width,
          .height = height,
          .num_rows = static_cast<double>(rows),
          .num_cols = static_cast<double>(cols)};
}

Pixels drawn(const std::vector<float>& values, const Pixels& lut, const ColormapConfig& config) {
  REQUIRE(invalid(config) == nullptr);
  Pixels rgba(static_cast<size_t>(config.width) * static_cast<size_t>(config.height), 0xDEADBEEF);
  std::vector<double> scratch(static_cast<size_t>(colormap_scratch(config)), std::nan(""));
  colormap(rgba, scratch, values, lut, config);
  return rgba;
}

std::vector<float> random_values(int rows, int cols, uint32_t seed) {
  return to_floats(normals(static_cast<size_t>(rows) * static_cast<size_t>(cols), seed, 0.5));
}

// How much of each cell an interval of pixels covers; an interval within one cell's width shows the cell at its
// centre. The naive twin of the kernel: every cell is asked.
std::vector<double> coverage(double first, double step, int pixel, int cells) {
  const double begin = first + pixel * step, end = begin + step;
  std::vector<double> weights(static_cast<size_t>(cells));
  for (int c = 0; c < cells; ++c) {
    const double centre = begin + step / 2;
    weights[static_cast<size_t>(c)] = step <= 1
                                          ? (centre >= c && centre < c + 1 ? 1 : 0)
                                          : std::max(0.0, std::min(end, c + 1.0) - std::max(begin, c + 0.0));
  }
  return weights;
}

// Position on the colour scale, 0..256, of every pixel; NaN where the mean is.
std::vector<double> naive_levels(const std::vector<float>& values, const ColormapConfig& config) {
  std::vector<double> levels;
  for (int y = 0; y < config.height; ++y) {
    for (int x = 0; x < config.width; ++x) {
      const int r = config.transpose ? x : y, c = config.transpose ? y : x;
      const auto rows =
          coverage(config.first_row, config.num_rows / (config.transpose ? config.width : config.height), r,
                   config.rows);
      const auto cols =
          coverage(config.first_col, config.num_cols / (config.transpose ? config.height : config.width), c,
                   config.cols);
      double sum = 0, area = 0;
      for (size_t i = 0; i < rows.size(); ++i) {
        for (size_t j = 0; j < cols.size(); ++j) {
          const double weight = rows[i] * cols[j];
          if (weight < 1e-9) continue;  // touched by rounding only
          sum += weight * static_cast<double>(values[i * cols.size() + j]);
          area += weight;
        }
      }
      levels.push_back((sum / area - config.vmin) / (config.vmax - config.vmin) * kLutSize);
    }
  }
  return levels;
}

// Every pixel has the colour of its level; a level within 2e-9 of the next colour may have that.
void check_levels(const std::string& id, const Pixels& pixels, const std::vector<double>& levels) {
  std::vector<double> nearest;
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (std::isnan(levels[i])) {
      nearest.push_back(0);
      continue;
    }
    const auto colour = [&](double level) { return 1 + std::floor(std::clamp(level, 0.0, kLutSize - 1.0)); };
    const double low = colour(levels[i] - 2e-9), high = colour(levels[i] + 2e-9);
    nearest.push_back(static_cast<double>(pixels[i]) == high ? high : low);
  }
  check_equal(id, pixels, nearest);
}

}  // namespace

TEST_CASE("a picture of one pixel a cell shows each cell's own colour, floor(256 (v-vmin)/(vmax-vmin))") {
  const std::vector<float> values = random_values(13, 17, 81);
  check_levels("13 x 17", drawn(values, counting_lut(), whole(13, 17, 17, 13)),
               naive_levels(values, whole(13, 17, 17, 13)));
  Pixels expected;
  for (const float v : values) {
    expected.push_back(
        1 + static_cast<uint32_t>(std::clamp(std::floor((static_cast<double>(v) + 1) * 128), 0.0, 255.0)));
  }
  check_equal("formula", drawn(values, counting_lut(), whole(13, 17, 17, 13)), expected);
}

TEST_CASE("-1 is the first colour, 0 the middle, 1 the last, and values beyond take the end's") {
  const std::vector<float> values = {-1, -0.9999999f, 0, 0.9999999f, 1, -5, 5, HUGE_VALF, -HUGE_VALF};
  check_equal("ends", drawn(values, counting_lut(), whole(1, 9, 9, 1)),
              std::vector{1, 1, 129, 256, 256, 1, 256, 256, 1});
  ColormapConfig config = whole(1, 9, 9, 1);
  config.vmin = 0;
  config.vmax = 10;
  check_equal("0..10", drawn({0, 0.5f, 1, 5, 9.99f, 10, 11, -1, 2.5f}, counting_lut(), config),
              std::vector{1, 13, 26, 129, 256, 256, 256, 1, 65});
}

TEST_CASE("NaN is transparent, and so is every pixel that covers one") {
  std::vector<float> values(36, 0.5f);
  values[14] = std::nanf("");  // row 2, column 2
  for (const int size : {1, 2, 3, 5, 6, 11, 12}) {
    const ColormapConfig config = whole(6, 6, size, size);
    const Pixels pixels = drawn(values, counting_lut(), config);
    check_levels("size " + std::to_string(size), pixels, naive_levels(values, config));
    CHECK(std::count(pixels.begin(), pixels.end(), 0u) >= 1);
  }
}

TEST_CASE("a NaN outside the part that is shown does not show, whatever the rounding of its edges") {
  for (int first = 1; first <= 3; ++first) {
    for (int shown = 1; shown <= 30; ++shown) {
      std::vector<float> values(40, std::nanf(""));
      std::fill_n(values.begin() + first, shown, 0.5f);
      for (int size = 1; size <= 60; ++size) {
        for (const bool transpose : {false, true}) {
          ColormapConfig config = transpose ? whole(40, 1, size, 1) : whole(1, 40, size, 1);
          config.transpose = transpose;
          (transpose ? config.first_row : config.first_col) = first;
          (transpose ? config.num_rows : config.num_cols) = shown;
          const Pixels pixels = drawn(values, counting_lut(), config);
          REQUIRE(pixels == Pixels(pixels.size(), 193));
        }
      }
    }
  }
}

TEST_CASE("a transposed picture is the picture of the transposed matrix") {
  Dice dice{82};
  for (int round = 0; round < 30; ++round) {
    const int rows = dice.between(1, 12), cols = dice.between(1, 12);
    const std::vector<float> values = random_values(rows, cols, static_cast<uint32_t>(round));
    std::vector<float> turned;
    for (int c = 0; c < cols; ++c) {
      for (int r = 0; r < rows; ++r) turned.push_back(values[static_cast<size_t>(r * cols + c)]);
    }
    ColormapConfig config = whole(rows, cols, dice.between(1, 20), dice.between(1, 20));
    config.transpose = true;
    check_levels("round " + std::to_string(round), drawn(values, counting_lut(), config),
                 naive_levels(values, config));
    check_levels("turned, round " + std::to_string(round),
                 drawn(turned, counting_lut(), whole(cols, rows, config.width, config.height)),
                 naive_levels(values, config));
  }
}

TEST_CASE("every pixel of any view at any size is the mean of the cells under it, weighted by area") {
  Dice dice{83};
  for (int round = 0; round < 300; ++round) {
    const int rows = dice.between(1, 30), cols = dice.between(1, 30);
    ColormapConfig config = whole(rows, cols, dice.between(1, 25), dice.between(1, 25));
    if (dice.between(0, 3) != 0) {
      config.first_row = dice.uniform(0, rows * 0.9);
      config.first_col = dice.uniform(0, cols * 0.9);
      config.num_rows = (rows - config.first_row) * dice.uniform(0.05, 0.999);
      config.num_cols = (cols - config.first_col) * dice.uniform(0.05, 0.999);
    }
    config.transpose = dice.between(0, 1) == 1;
    config.vmin = dice.uniform(-3, 0);
    config.vmax = config.vmin + dice.uniform(0.1, 4);
    const std::vector<float> values = random_values(rows, cols, static_cast<uint32_t>(round));
    check_levels("round " + std::to_string(round), drawn(values, counting_lut(), config),
                 naive_levels(values, config));
  }
}

TEST_CASE("a picture of one pixel a cell is the same, however large, shifted or on its side") {
  Dice dice{84};
  for (const bool transpose : {false, true}) {
    for (int round = 0; round < 40; ++round) {
      const int rows = dice.between(1, 150), cols = dice.between(1, 300);
      std::vector<float> values = random_values(rows, cols, static_cast<uint32_t>(round));
      ColormapConfig config = whole(rows, cols, cols, rows);
      config.transpose = transpose;
      config.vmin = dice.pick({-1.0, -3.0, 0.0, 1e-5, 1e6});
      config.vmax = config.vmin + dice.pick({2.0, 1e-3, 100.0, 1e9});
      // Values on the edges of colours and next to them, where a rounding would show, and beyond the map.
      for (float& value : values) {
        if (dice.between(0, 1)) continue;
        const double edge = config.vmin + (config.vmax - config.vmin) * dice.between(-5, 261) / 256;
        value = std::nextafter(static_cast<float>(edge), dice.pick({-HUGE_VALF, 0.0f, HUGE_VALF}));
      }
      values[0] = std::nanf("");
      config.first_row = dice.between(0, rows - 1);
      config.first_col = dice.between(0, cols - 1);
      config.num_rows = rows - config.first_row;
      config.num_cols = cols - config.first_col;
      config.width = static_cast<int>(transpose ? config.num_rows : config.num_cols);
      config.height = static_cast<int>(transpose ? config.num_cols : config.num_rows);
      const Pixels pixels = drawn(values, counting_lut(), config);
      Pixels expected;
      for (int y = 0; y < config.height; ++y) {
        for (int x = 0; x < config.width; ++x) {
          const int row = static_cast<int>(config.first_row) + (transpose ? x : y);
          const int col = static_cast<int>(config.first_col) + (transpose ? y : x);
          const double value = values[static_cast<size_t>(row * cols + col)];
          const double level = (value - config.vmin) * (256 / (config.vmax - config.vmin)) + 1e-9;
          expected.push_back(std::isnan(level) ? 0 : 1 + static_cast<uint32_t>(std::clamp(level, 0.0, 255.0)));
        }
      }
      check_equal("round " + std::to_string(round), pixels, expected);
    }
  }
}

TEST_CASE("a constant matrix is one colour at every size: no wave that is not in the matrix") {
  for (const float value : {0.0f, 0.5f, 0.75f, -0.625f, 0.0078125f, 0.3f, -0.99f}) {
    const std::vector<float> values(61 * 47, value);
    const auto colour = 1 + static_cast<uint32_t>((static_cast<double>(value) + 1) * 128);
    for (int size = 1; size <= 130; size += size < 70 ? 1 : 7) {
      const Pixels pixels = drawn(values, counting_lut(), whole(61, 47, size, size + 3));
      check_equal(std::to_string(value) + " at " + std::to_string(size), pixels, Pixels(pixels.size(), colour));
    }
  }
}

TEST_CASE("a matrix that alternates from cell to cell is grey when drawn small, not striped") {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 ? 1.0f : -1.0f;
  for (int width = 1; width <= 100; ++width) {
    // A pixel covers 10 cells or more: the unpaired rest of one cell moves its mean by 1/10 at most.
    const Pixels pixels = drawn(values, counting_lut(), whole(1, 1000, width, 1));
    check_near("width " + std::to_string(width), pixels, std::vector<double>(pixels.size(), 129), 128 / 10 + 1);
  }
}

TEST_CASE("a table of colours starts and ends with its first and last stop and passes through each") {
  Pixels lut(kLutSize);
  const std::vector<uint8_t> stops = {1, 2, 3, 250, 128, 0, 100, 101, 102, 9, 8, 7};
  fill_lut(lut, stops);
  CHECK(lut.front() == 0xFF030201);
  CHECK(lut[85] == 0xFF0080FA);
  CHECK(lut[170] == 0xFF666564);
  CHECK(lut.back() == 0xFF070809);
  for (int red = 0; red < 256; ++red) {
    const auto level = static_cast<uint8_t>(red);
    fill_lut(lut, std::vector<uint8_t>{level, 0, 255, level, 255, 0});
    REQUIRE((lut[0] == (0xFFFF0000u | level) && lut[255] == (0xFF00FF00u | level)));
    for (const uint32_t pixel : lut) REQUIRE((pixel & 0xFF) == level);
  }
}

TEST_CASE("RdBu runs from dark red over near white to dark blue") {
  const std::span<const uint8_t> stops = rdbu_stops();
  REQUIRE(stops.size() == 33);
  Pixels lut(kLutSize);
  fill_lut(lut, stops);
  CHECK(lut.front() == 0xFF1F0067);
  CHECK(lut.back() == 0xFF613005);
  // The middle stop, 247 247 247, stands between entries 127 and 128.
  for (const size_t middle : {127u, 128u}) {
    for (const int shift : {0, 8, 16}) CHECK((lut[middle] >> shift & 0xFF) >= 245);
  }
}

TEST_CASE("invalid(ColormapConfig) names the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(invalid(whole(4, 6, 10, 10)) == nullptr);
  const auto refused = [&](auto change, const char* field) {
    ColormapConfig config = whole(4, 6, 10, 10);
    change(config);
    check_refused(invalid(config), field);
  };
  for (const int bad : {0, -1, -kMax - 1}) {
    refused([&](auto& c) { c.rows = bad; }, "rows");
    refused([&](auto& c) { c.cols = bad; }, "cols");
    refused([&](auto& c) { c.width = bad; }, "width");
    refused([&](auto& c) { c.height = bad; }, "height");
  }
  refused([&](auto& c) { c.rows = c.cols = kMax; }, "rows * cols");
  refused([&](auto& c) { c.width = c.height = kMax; }, "width * height");
  for (const double bad : {-0.001, kNan, HUGE_VAL, -HUGE_VAL, 7.0}) {
    refused([&](auto& c) { c.first_row = bad; }, "first_row");
    refused([&](auto& c) { c.first_col = bad; }, "first_col");
  }
  for (const double bad : {0.0, -1.0, kNan, HUGE_VAL, -HUGE_VAL, 6.001}) {
    refused([&](auto& c) { c.num_rows = bad; }, "num_rows");
    refused([&](auto& c) { c.num_cols = bad; }, "num_cols");
  }
  for (const double bad : {1.0, 2.0, kNan, HUGE_VAL, -HUGE_VAL, -1.7e308}) {
    refused([&](auto& c) { c.vmin = bad, c.vmax = bad < -1e300 ? 1.7e308 : 1; }, "vmin");
  }
  refused([&](auto& c) { c.vmax = HUGE_VAL; }, "vmax");
  refused([&](auto& c) { c.vmax = kNan; }, "vmax");
}
