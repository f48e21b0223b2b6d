// Any part of a map at any zoom: pixels cover whole cells, and only those on the screen are computed, row by
// row. What a row shows is in tile_waves.cpp and tile_toeplitz.cpp.
#include "tile.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "simd.hpp"

namespace posenc {
namespace {

bool is_toeplitz(const TileConfig& config) {
  return config.map == TileMap::kAlibi || config.map == TileMap::kT5;
}

bool is_whole(double value, double least, double most) {
  return value >= least && value <= most && value == std::floor(value);
}

// Writes the pixels of row py that cover cells of the map, and returns how many they are.
int write_row(float* row, std::span<double> scratch, std::span<const double> plan, const TileConfig& config,
              const TileView& view, int py) {
  if (is_toeplitz(config)) return toeplitz_row(row, plan, config, view, py);
  return wave_row(row, scratch, plan, config, view, py);
}

// to[0..count) = the colours of values.
[[gnu::noinline]] void color_row(uint32_t* to, const float* values, int count, const TileColors& colors) {
  const uint32_t* lut = colors.lut.data();
  const auto vmin = static_cast<float>(colors.vmin);
  const auto per_unit = static_cast<float>(kLutSize / (colors.vmax - colors.vmin));
  constexpr float kLast = kLutSize - 1;
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    // Comparisons are written so that each min and max is one instruction of wasm.
    f32x4 level = (load<f32x4>(values + i) - vmin) * per_unit;
    level = 0.0f < level ? level : splat(0.0f);
    level = level < kLast ? level : splat(kLast);
    const i32x4 place = __builtin_convertvector(level, i32x4);
    const uint32_t a = lut[place[0]], b = lut[place[1]], c = lut[place[2]], d = lut[place[3]];
    to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
  }
  for (; i < count; ++i) {
    const float level = (values[i] - vmin) * per_unit;
    to[i] = lut[static_cast<int>(std::min(std::max(0.0f, level), kLast))];
  }
}

}  // namespace

const char* invalid(const TileConfig& config) {
  if (!is_whole(config.seq_len, 1, kMaxTileCells)) return "seq_len must be a whole number from 1 to 2^31";
  if (config.map == TileMap::kAlibi) {
    return std::fabs(config.slope) <= 1e6 ? nullptr : "slope must be within 1e6 of 0";
  }
  if (config.map == TileMap::kT5) {
    if (config.t5.num_buckets > kMaxTileBuckets) return "num_buckets must be at most 2^12";
    for (const double bias : config.biases) {
      if (!(std::fabs(bias) <= 1e6)) return "biases must be within 1e6 of 0";
    }
    if (!config.biases.empty() && config.biases.size() != static_cast<size_t>(config.t5.num_buckets))
      return "biases must have num_buckets entries";
    return invalid(config.t5);
  }
  if (config.dims < 1 || config.dims > kMaxTileDims) return "dims must be from 1 to 2^16";
  if (config.map != TileMap::kSinusoidal && config.dims % 2 != 0) return "dims must be even for rope";
  return invalid_base(config.base);
}

const char* invalid(const TileView& view) {
  if (!is_whole(view.x0, 0, kMaxTileCells) || !is_whole(view.y0, 0, kMaxTileCells))
    return "x0 and y0 must be whole numbers from 0 to 2^31";
  if (view.cells_x < 1 || view.cells_x > 1 << 20 || view.cells_y < 1 || view.cells_y > 1 << 20)
    return "cells_x and cells_y must be from 1 to 2^20";
  if (view.width < 1 || view.height < 1) return "width and height must be at least 1";
  if (static_cast<double>(view.width) * view.height > 0x1p24)
    return "width * height must be at most 2^24 pixels";
  return nullptr;
}

const char* invalid(const TileColors& colors) {
  if (colors.lut.size() != kLutSize) return "lut must have 256 entries";
  return invalid(ColormapConfig{.rows = 1,
                                .cols = 1,
                                .width = 1,
                                .height = 1,
                                .num_rows = 1,
                                .num_cols = 1,
                                .vmin = colors.vmin,
                                .vmax = colors.vmax});
}

int tile_plan_size(const TileConfig& config) {
  return is_toeplitz(config) ? toeplitz_plan_size(config) : (config.dims + 1) / 2;
}

int tile_plan(std::span<double> plan, const TileConfig& config) {
  assert(!invalid(config) && plan.size() == static_cast<size_t>(tile_plan_size(config)));
  if (is_toeplitz(config)) return plan_toeplitz(plan, config);
  plan_waves(plan, config);
  return static_cast<int>(plan.size());
}

int tile_scratch(const TileConfig& config) {
  return is_toeplitz(config) ? 0 : wave_scratch(config.dims);
}

void tile_values(std::span<float> values, std::span<double> scratch, std::span<const double> plan,
                 const TileConfig& config, const TileView& view) {
  assert(!invalid(config) && !invalid(view) && scratch.size() >= static_cast<size_t>(tile_scratch(config)));
  const auto width = static_cast<size_t>(view.width);
  assert(values.size() == width * static_cast<size_t>(view.height));
  for (int py = 0; py < view.height; ++py) {
    float* row = values.data() + static_cast<size_t>(py) * width;
    const int inside = write_row(row, scratch, plan, config, view, py);
    std::fill(row + inside, row + width, std::numeric_limits<float>::quiet_NaN());
  }
}

void tile_pixels(std::span<uint32_t> rgba, std::span<float> row, std::span<double> scratch,
                 std::span<const double> plan, const TileColors& colors, const TileConfig& config,
                 const TileView& view) {
  assert(!invalid(config) && !invalid(view) && scratch.size() >= static_cast<size_t>(tile_scratch(config)));
  const auto width = static_cast<size_t>(view.width);
  assert(rgba.size() == width * static_cast<size_t>(view.height) && row.size() >= width && !invalid(colors));
  for (int py = 0; py < view.height; ++py) {
    uint32_t* to = rgba.data() + static_cast<size_t>(py) * width;
    const int inside = write_row(row.data(), scratch, plan, config, view, py);
    color_row(to, row.data(), inside, colors);
    std::fill(to + inside, to + width, colors.outside);
  }
}

}  // namespace posenc
