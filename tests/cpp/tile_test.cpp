// Tiles against the cells themselves: every pixel is the mean that a loop over its cells gives.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "check.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Tile {
  std::vector<float> values;
  std::vector<uint32_t> pixels;
};

// A table in which colour i is the number i + 1; 0 is outside.
const std::vector<uint32_t>& counting_lut() {
  static const std::vector<uint32_t> lut = [] {
    std::vector<uint32_t> numbers(kLutSize);
    std::iota(numbers.begin(), numbers.end(), 1u);
    return numbers;
  }();
  return lut;
}

Tile drawn(const TileConfig& config, const TileView& view, double vmin = -1, double vmax = 1) {
  REQUIRE(invalid(config) == nullptr);
  REQUIRE(invalid(view) == nullptr);
  std::vector<double> plan(static_cast<size_t>(tile_plan_size(config)), kNan);
  plan.resize(static_cast<size_t>(tile_plan(plan, config)));
  std::vector<double> scratch(static_cast<size_t>(tile_scratch(config)), kNan);
  const auto width = static_cast<size_t>(view.width), count = width * static_cast<size_t>(view.height);
  Tile tile{std::vector<float>(count, -7), std::vector<uint32_t>(count, 0xDEADBEEF)};
  tile_values(tile.values, scratch, plan, config, view);
  std::vector<float> row(width);
  tile_pixels(tile.pixels, row, scratch, plan, {counting_lut(), vmin, vmax, 0}, config, view);
  return tile;
}

// The cell at (x, y); NaN outside the map.
double cell_at(const TileConfig& config, double x, double y) {
  const bool toeplitz = config.map == TileMap::kAlibi || config.map == TileMap::kT5;
  if (x >= config.seq_len || y >= (toeplitz ? config.seq_len : config.dims)) return kNan;
  if (toeplitz && config.causal && x > y) return kNan;
  if (config.map == TileMap::kAlibi) return -config.slope * std::fabs(x - y);
  if (config.map == TileMap::kT5) {
    const int bucket = t5_relative_position_bucket(static_cast<int>(x - y), config.t5);
    return config.biases.empty() ? bucket : config.biases[static_cast<size_t>(bucket)];
  }
  const int d = static_cast<int>(y), half = config.dims / 2;
  const bool turns = config.map == TileMap::kSinusoidal || config.layout == PairLayout::kInterleaved;
  const double w = std::pow(config.base, -2.0 * (turns ? d / 2 : d % half) / config.dims);
  const bool cosine = config.map == TileMap::kSinusoidal ? d % 2 == 1 : config.map == TileMap::kRopeCos;
  return cosine ? std::cos(x * w) : std::sin(x * w);
}

// The naive twin: every cell under every pixel. Checks the values within their bound and 1e-6, and each pixel's
// colour within one of 256.
void check_tile(const std::string& id, const TileConfig& config, const TileView& view) {
  std::vector<double> means, allowed;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int py = 0; py < view.height; ++py) {
    for (int px = 0; px < view.width; ++px) {
      double sum = 0, largest = 1;
      int count = 0;
      for (int j = 0; j < view.cells_y; ++j) {
        for (int i = 0; i < view.cells_x; ++i) {
          const double cell =
              cell_at(config, view.x0 + 1.0 * px * view.cells_x + i, view.y0 + 1.0 * py * view.cells_y + j);
          if (std::isnan(cell)) continue;
          sum += cell, ++count;
          largest = std::max(largest, std::fabs(cell));
        }
      }
      means.push_back(count ? sum / count : kNan);
      allowed.push_back(kTileError * std::fabs(means.back()) + kTileMeanError * largest);
      if (count) low = std::min(low, means.back()), high = std::max(high, means.back());
    }
  }
  if (!(low < high)) low = -1, high = 1;
  Tile tile = drawn(config, view, low, high);
  std::vector<double> colors;
  size_t differ = 0;
  for (size_t i = 0; i < means.size(); ++i) {
    differ += std::isnan(means[i]) != std::isnan(tile.values[i]);
    differ += std::isnan(means[i]) != (tile.pixels[i] == 0);
    if (std::isnan(means[i])) {
      means[i] = allowed[i] = tile.values[i] = 0;
      colors.push_back(0);
    } else {
      colors.push_back(1 + std::clamp(std::floor((means[i] - low) / (high - low) * kLutSize), 0.0, 255.0));
    }
  }
  INFO(id);
  CHECK(differ == 0);
  check_near(id + ", values", tile.values, means, [&](size_t i) { return allowed[i]; });
  check_near(id + ", colours", tile.pixels, colors, 1.0);
}

struct Zoom {
  int cells_x, cells_y;
};
constexpr Zoom kZooms[] = {{1, 1},  {2, 1},  {1, 3},   {3, 2},    {7, 5},
                           {16, 1}, {31, 4}, {100, 8}, {333, 16}, {1000, 8}};

void check_zooms(const std::string& id, const TileConfig& config, const std::vector<TileView>& views) {
  for (const Zoom& zoom : kZooms) {
    for (TileView view : views) {
      view.cells_x = zoom.cells_x, view.cells_y = zoom.cells_y;
      check_tile(id + " from " + std::to_string(view.x0) + ", " + std::to_string(view.y0) + " at " +
                     std::to_string(zoom.cells_x) + " x " + std::to_string(zoom.cells_y),
                 config, view);
    }
  }
}

}  // namespace

TEST_CASE("a pixel of a sinusoidal map is the mean of its cells at ten zooms, near 0 and near a million") {
  const TileConfig config{.map = TileMap::kSinusoidal, .dims = 64};
  check_zooms("sinusoidal", config,
              {{.width = 21, .height = 4}, {.x0 = 999983, .y0 = 13, .width = 18, .height = 5}});
}

TEST_CASE("a pixel of a RoPE map is the mean of its cells in either layout") {
  for (const TileMap map : {TileMap::kRopeCos, TileMap::kRopeSin}) {
    for (const PairLayout layout : {PairLayout::kInterleaved, PairLayout::kHalf}) {
      const TileConfig config{.map = map, .dims = 22, .base = 5e5, .layout = layout};
      check_zooms("rope", config, {{.x0 = 1000003, .y0 = 7, .width = 17, .height = 3}});
    }
  }
}

TEST_CASE("a sinusoidal map agrees with the table, pixel by pixel, over more than one exact anchor") {
  const SinusoidalConfig table_config{.seq_len = 2100, .d_model = 34, .first_position = 997000};
  std::vector<float> table(2100 * 34);
  std::vector<double> scratch(static_cast<size_t>(sinusoidal_scratch(table_config)));
  sinusoidal_table(table, scratch, table_config);
  const Tile tile = drawn({.dims = 34}, {.x0 = 997000, .width = 2100, .height = 34});
  std::vector<double> turned;
  for (size_t d = 0; d < 34; ++d) {
    for (size_t t = 0; t < 2100; ++t) turned.push_back(table[t * 34 + d]);
  }
  check_near("table", tile.values, turned, 2 * kTableError);
}

TEST_CASE("means over a thousand positions are exact far from the origin, for long and for short waves") {
  for (const double base : {1e-3, 1.0, 10.0, 1e12, 0x1p1000}) {
    check_tile("base 2^" + std::to_string(std::log2(base)), {.dims = 6, .base = base},
               {.x0 = 12345, .cells_x = 1001, .width = 20, .height = 7});
  }
}

TEST_CASE("pixels on the border average the cells inside the map, and those beyond have the outside colour") {
  for (const double seq_len : {1.0, 5.0, 47.0, 48.0, 49.0, 96.0, 1000.0}) {
    for (const int dims : {2, 10, 12}) {
      check_tile("seq_len " + std::to_string(seq_len) + ", dims " + std::to_string(dims),
                 {.seq_len = seq_len, .dims = dims},
                 {.x0 = 3, .y0 = 1, .cells_x = 3, .cells_y = 4, .width = 35, .height = 4});
    }
  }
}

TEST_CASE("a pixel of an ALiBi map is the mean of the biases under it, with keys after the query or without") {
  for (const bool causal : {false, true}) {
    const TileConfig config{.map = TileMap::kAlibi, .seq_len = 2000000, .slope = 0.25, .causal = causal};
    check_zooms("alibi", config,
                {{.width = 40, .height = 20},
                 {.x0 = 1000003, .y0 = 1000014, .width = 25, .height = 6},
                 {.x0 = 1000003, .y0 = 7, .width = 5, .height = 3},
                 {.x0 = 3, .y0 = 1000001, .width = 5, .height = 3}});
  }
}

TEST_CASE("a pixel of a T5 map is the mean of the buckets or biases under it") {
  const std::vector<double> biases = normals(32, 5);
  for (const bool bidirectional : {false, true}) {
    for (const bool causal : {false, true}) {
      for (const bool bucket : {false, true}) {
        const TileConfig config{.map = TileMap::kT5,
                                .seq_len = 1200000,
                                .causal = causal,
                                .t5 = {.bidirectional = bidirectional},
                                .biases = bucket ? std::span<const double>() : biases};
        check_zooms("t5", config,
                    {{.x0 = 1000003, .y0 = 1000014, .width = 24, .height = 6},
                     {.y0 = 5, .width = 30, .height = 8},
                     {.x0 = 190, .y0 = 5, .width = 12, .height = 3}});
      }
    }
  }
}

TEST_CASE("border pixels of a bias map average the cells inside it") {
  const std::vector<double> biases = normals(8, 6);
  for (const bool causal : {false, true}) {
    for (const double seq_len : {1.0, 5.0, 47.0, 48.0, 49.0, 96.0}) {
      const TileView view{.x0 = 3, .y0 = 1, .cells_x = 3, .cells_y = 4, .width = 35, .height = 30};
      const std::string id = "seq_len " + std::to_string(seq_len);
      check_tile(id, {.map = TileMap::kAlibi, .seq_len = seq_len, .slope = 0.5, .causal = causal}, view);
      check_tile(id,
                 {.map = TileMap::kT5,
                  .seq_len = seq_len,
                  .causal = causal,
                  .t5 = {.num_buckets = 8, .max_distance = 20},
                  .biases = biases},
                 view);
    }
  }
}

TEST_CASE("a T5 map has the bucket of every offset, to the ends of the largest map") {
  for (const int max_distance : {20, 128, 1000000000}) {
    for (const bool bidirectional : {false, true}) {
      const TileConfig config{.map = TileMap::kT5,
                              .t5 = {.max_distance = max_distance, .bidirectional = bidirectional}};
      for (const double x0 : {0.0, 100.0, 4096.0, 1e9, kMaxTileCells - 300}) {
        check_tile("keys", config, {.x0 = x0, .width = 300, .height = 2});
        check_tile("queries", config, {.y0 = x0, .width = 2, .height = 300});
      }
    }
  }
}

TEST_CASE("a causal pixel wholly after its query is outside, and so is all beyond the map") {
  const TileConfig config{.map = TileMap::kAlibi, .seq_len = 100, .slope = 1, .causal = true};
  const Tile tile = drawn(config, {.cells_x = 10, .cells_y = 10, .width = 12, .height = 12}, -100, 1);
  for (size_t y = 0; y < 12; ++y) {
    for (size_t x = 0; x < 12; ++x) CHECK((tile.pixels[12 * y + x] == 0) == (x > y || y >= 10));
  }
}

TEST_CASE("invalid(TileConfig) and invalid(TileView) name the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  CHECK(invalid(TileConfig{.dims = 1}) == nullptr);
  CHECK(invalid(TileConfig{.dims = kMaxTileDims}) == nullptr);
  for (const double bad : {0.0, -1.0, 1.5, kMaxTileCells + 1, kNan, HUGE_VAL}) {
    check_refused(invalid(TileConfig{.seq_len = bad, .dims = 8}), "seq_len");
  }
  for (const int bad : {0, -1, kMaxTileDims + 1, kMax}) check_refused(invalid(TileConfig{.dims = bad}), "dims");
  check_refused(invalid(TileConfig{.map = TileMap::kRopeSin, .dims = 7}), "dims");
  for (const double bad : {0.0, -1.0, 1e-302, 1e302, kNan, HUGE_VAL}) {
    check_refused(invalid(TileConfig{.dims = 8, .base = bad}), "base");
  }
  for (const double bad : {1.1e6, -1.1e6, kNan, HUGE_VAL}) {
    check_refused(invalid(TileConfig{.map = TileMap::kAlibi, .slope = bad}), "slope");
    const std::vector<double> biases(32, bad);
    check_refused(invalid(TileConfig{.map = TileMap::kT5, .biases = biases}), "biases");
  }
  const std::vector<double> few(31);
  check_refused(invalid(TileConfig{.map = TileMap::kT5, .biases = few}), "biases");
  check_refused(invalid(TileConfig{.map = TileMap::kT5, .t5 = {.num_buckets = 5}}), "num_buckets");
  check_refused(invalid(TileConfig{.map = TileMap::kT5, .t5 = {.num_buckets = kMaxTileBuckets + 2}}),
                "num_buckets");
  const auto refused = [](auto change, const char* field) {
    TileView view{.width = 4, .height = 4};
    CHECK(invalid(view) == nullptr);
    change(view);
    check_refused(invalid(view), field);
  };
  for (const double bad : {-1.0, 0.5, kMaxTileCells + 1, kNan, HUGE_VAL}) {
    refused([&](auto& v) { v.x0 = bad; }, "x0");
    refused([&](auto& v) { v.y0 = bad; }, "y0");
  }
  for (const int bad : {0, -1, (1 << 20) + 1}) {
    refused([&](auto& v) { v.cells_x = bad; }, "cells_x");
    refused([&](auto& v) { v.cells_y = bad; }, "cells_y");
  }
  for (const int bad : {0, -kMax}) {
    refused([&](auto& v) { v.width = bad; }, "width");
    refused([&](auto& v) { v.height = bad; }, "height");
  }
  refused([&](auto& v) { v.width = v.height = 4097; }, "width * height");
}
