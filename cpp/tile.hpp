// One row of pixels of each kind of map: tile_waves.cpp and tile_toeplitz.cpp; tile.cpp puts them together.
#pragma once

#include <algorithm>
#include <span>

#include "posenc.hpp"

namespace posenc {

// The pixels of a row: `whole` that cover view.cells_x columns of the map, then perhaps one that covers the
// last `rest`, then those outside.
struct TileColumns {
  int whole, rest;
};
inline TileColumns tile_columns(const TileConfig& config, const TileView& view) {
  const double inside = std::max(config.seq_len - view.x0, 0.0);
  const double whole = std::floor(inside / view.cells_x);
  if (whole >= view.width) return {view.width, 0};
  return {static_cast<int>(whole), static_cast<int>(inside - whole * view.cells_x)};
}

// The rows of a map under the pixels of row py.
struct TileRows {
  double first;
  int count;
};
inline TileRows tile_rows(double num_rows, const TileView& view, int py) {
  const double first = view.y0 + static_cast<double>(py) * view.cells_y;
  return {first, static_cast<int>(std::clamp<double>(num_rows - first, 0, view.cells_y))};
}

// A row returns how many of its pixels cover cells of the map, and writes only these.

// Sinusoids. plan (pairs): the turns of each pair. scratch: wave_scratch(dims) doubles.
int wave_scratch(int dims);
void plan_waves(std::span<double> plan, const TileConfig& config);
int wave_row(float* row, std::span<double> scratch, std::span<const double> plan, const TileConfig& config,
             const TileView& view, int py);

// Functions of key minus query. plan (toeplitz_plan_size(config)): its pieces; returns how many doubles they
// take.
int toeplitz_plan_size(const TileConfig& config);
int plan_toeplitz(std::span<double> plan, const TileConfig& config);
int toeplitz_row(float* row, std::span<const double> plan, const TileConfig& config, const TileView& view,
                 int py);

}  // namespace posenc
