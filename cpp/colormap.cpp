// From a matrix to pixels, through a table of 256 colours.
//
// A map drawn by skipping cells shows waves that are not there: the sines of a table beat against the pixel
// grid. So a pixel that covers several cells shows their mean, weighted by the area that it covers of each; a
// pixel smaller than a cell shows the cell at its centre, so that cells keep sharp edges when zoomed in.
//
// Based on: matplotlib's Normalize and ListedColormap (the index); RdBu of ColorBrewer 2.0, C. Brewer and
// M. Harrower, Apache-2.0.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "multiply.hpp"
#include "posenc.hpp"
#include "simd.hpp"

namespace posenc {
namespace {

constexpr uint8_t kRdBu[] = {103, 0,   31,  178, 24,  43,  214, 96, 77,  244, 165, 130, 253, 219, 199, 247, 247,
                             247, 209, 229, 240, 146, 197, 222, 67, 147, 195, 33,  102, 172, 5,   48,  97};

// Of a colour: the mean of equal cells on the edge of a colour may be a rounding short of it.
constexpr double kNudge = 1e-9;

// One axis of the picture: pixel p shows the cells from first + p * step to first + (p+1) * step.
struct Axis {
  double first, step;
  int pixels, cells;
};

// The cells under a pixel: whole numbers from..to, the first and the last of which may be covered in part.
struct Cover {
  int from, to;
  double first_weight, last_weight;
  bool operator==(const Cover&) const = default;
};

// Where a pixel begins, in cells. An edge that misses a cell's by a rounding is that cell's: the next cell,
// which may be NaN, must not count.
double edge(const Axis& axis, int pixel) {
  const double at = axis.first + pixel * axis.step, whole = std::round(at);
  return std::fabs(at - whole) < 1e-9 ? whole : at;
}

Cover cover_of(const Axis& axis, int pixel) {
  const double begin = edge(axis, pixel), end = edge(axis, pixel + 1);
  if (axis.step <= 1) {
    const int cell = std::clamp(static_cast<int>(std::floor(begin + axis.step / 2)), 0, axis.cells - 1);
    return {cell, cell, 1, 1};
  }
  const int from = std::clamp(static_cast<int>(std::floor(begin)), 0, axis.cells - 1);
  const int to = std::clamp(static_cast<int>(std::ceil(end)) - 1, from, axis.cells - 1);
  return {from, to, std::min(from + 1.0, end) - begin, end - to};
}

double weight_of(const Cover& cover, int cell) {
  if (cell == cover.from) return cover.first_weight;
  return cell == cover.to ? cover.last_weight : 1;
}

double total(const Cover& cover) {
  double sum = 0;
  for (int cell = cover.from; cell <= cover.to; ++cell) sum += weight_of(cover, cell);
  return sum;
}

// Whether each pixel is one cell of the matrix, so that there is nothing to average.
bool is_one_to_one(const Axis& axis) {
  return axis.step == 1 && axis.first == std::floor(axis.first);
}

// From values to places in a table whose entry 0 is the colour of NaN: 1 to kLutSize.
class Levels {
 public:
  Levels(double vmin, double vmax) : vmin_(vmin), per_unit_(kLutSize / (vmax - vmin)) {
    // Of a float level, at most: three roundings of products this large, and one of the level.
    const double largest = std::max(std::fabs(vmin), std::fabs(vmax)) * per_unit_;
    const double doubt = (4 * largest + 2 * kLutSize) * 0x1p-24 + kNudge;
    const bool usable = doubt < 0.25 && per_unit_ > 1e-30 && per_unit_ < 1e30;
    scale_ = usable ? static_cast<float>(per_unit_) : 0.0f;
    offset_ = usable ? static_cast<float>(0.5 - vmin * per_unit_) : 0.0f;
    sure_ = usable ? static_cast<float>((0.5 - doubt) * (0.5 - doubt)) : -1.0f;
  }

  size_t operator()(double value) const {
    const double level = (value - vmin_) * per_unit_ + kNudge;
    return std::isnan(level) ? 0 : static_cast<size_t>(std::clamp(level, 0.0, kLutSize - 1.0)) + 1;
  }

  // Of eight cells: in float, unless one of them is too near to the edge of its colour for that to be sure.
  u16x8 operator()(f32x4 low, f32x4 high) const {
    i32x4 doubtful = {};
    const i32x4 places[] = {in_float(low, &doubtful), in_float(high, &doubtful)};
    const auto any = (u64x2)doubtful;
    if ((any[0] | any[1]) == 0) return narrow(places[0], places[1]);
    return narrow(in_double(low), in_double(high));
  }

 private:
  // A level and a half, rounded to the nearest whole number, is the place: that number then stands in the low
  // bits of the sum. Comparisons are written so that each min and max is one instruction of wasm.
  i32x4 in_float(f32x4 cells, i32x4* doubtful) const {
    constexpr float kLast = kLutSize, kRound = 0x1.8p23f;
    f32x4 level = cells * scale_ + offset_;
    level = 1.0f < level ? level : splat(1.0f);
    level = level < kLast ? level : splat(kLast);
    const f32x4 rounded = level + kRound, distance = level - (rounded - kRound);
    *doubtful |= distance * distance > sure_;
    return (i32x4)rounded & (cells == cells) & 0x1FF;  // NOLINT(misc-redundant-expression): NaN is not
  }
  i32x4 in_double(f32x4 cells) const {
    const i32x4 numbers = cells == cells;  // NOLINT(misc-redundant-expression): NaN is not
    constexpr double kLast = kLutSize;
    f64x2 halves[2];
    for (int h = 0; h < 2; ++h) {
      f64x2 level = (to_double(cells, h) - vmin_) * per_unit_ + (kNudge + 0.5);
      level = 1.0 < level ? level : splat(1.0);
      level = level < kLast ? level : splat(kLast);
      halves[h] = level + 0x1.8p52;
    }
    return __builtin_shufflevector((i32x4)halves[0], (i32x4)halves[1], 0, 2, 4, 6) & numbers;
  }

  double vmin_, per_unit_;
  float scale_, offset_, sure_;
};

constexpr int kStrip = 1024;  // cells whose places wait for their colours

// Places of cells[0..count).
[[gnu::noinline]] void places_of_row(uint16_t* places, const float* cells, int count, const Levels& at) {
  const Levels levels = at;  // what it holds may stay in registers
  int i = 0;
  for (; i + 8 <= count; i += 8) store(places + i, levels(load<f32x4>(cells + i), load<f32x4>(cells + i + 4)));
  for (; i < count; ++i) places[i] = static_cast<uint16_t>(levels(static_cast<double>(cells[i])));
}

// to[0..count) = the colours of places that lie `step` apart.
void look_up(uint32_t* to, const uint16_t* places, int step, int count, const uint32_t* colors) {
  int i = 0;
  for (; i + 4 <= count; i += 4, to += 4, places += 4 * step) {
    const uint32_t a = colors[places[0]], b = colors[places[step]];
    const uint32_t c = colors[places[2 * step]], d = colors[places[3 * step]];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
  }
  for (; i < count; ++i, places += step) *to++ = colors[*places];
}

// rgba (rows, cols) of cells whose rows lie `row` apart.
void color_cells(uint32_t* rgba, Rows<const float> cells, int rows, int cols, const uint32_t* colors,
                 const Levels& levels) {
  uint16_t places[kStrip];
  for (int r = 0; r < rows; ++r) {
    const float* from = cells.data + static_cast<size_t>(r) * cells.row;
    for (int c = 0; c < cols; c += kStrip) {
      const int count = std::min(kStrip, cols - c);
      places_of_row(places, from + c, count, levels);
      look_up(rgba, places, 1, count, colors);
      rgba += count;
    }
  }
}

// On its side a picture is made in squares whose places wait in scratch: rows of a kilobyte, which memory gives
// faster than shorter ones. kApart is not a power of two: those share a set of the cache.
constexpr int kSquare = 256, kApart = kSquare + 8;

// rgba (cols, rows): the same on its side. places: kSquare * kApart.
void color_cells_transposed(uint32_t* rgba, uint16_t* places, Rows<const float> cells, int rows, int cols,
                            const uint32_t* colors, const Levels& levels) {
  for (int top = 0; top < rows; top += kSquare) {
    const int height = std::min(kSquare, rows - top);
    for (int left = 0; left < cols; left += kSquare) {
      const int width = std::min(kSquare, cols - left);
      for (int r = 0; r < height; ++r) {
        const float* from = cells.data + static_cast<size_t>(top + r) * cells.row + left;
        places_of_row(places + r * kApart, from, width, levels);
      }
      for (int c = 0; c < width; ++c) {
        uint32_t* to = rgba + static_cast<size_t>(left + c) * static_cast<size_t>(rows) + top;
        look_up(to, places + c, kApart, height, colors);
      }
    }
  }
}

}  // namespace

void fill_lut(std::span<uint32_t> lut, std::span<const uint8_t> stops) {
  assert(lut.size() == kLutSize && stops.size() >= 6 && stops.size() % 3 == 0);
  const size_t intervals = stops.size() / 3 - 1;
  for (size_t i = 0; i < lut.size(); ++i) {
    const double at = static_cast<double>(i * intervals) / (kLutSize - 1);
    const size_t stop = std::min(static_cast<size_t>(at), intervals - 1);
    uint32_t pixel = 0xFF000000;
    for (size_t channel = 0; channel < 3; ++channel) {
      const double a = stops[3 * stop + channel], b = stops[3 * stop + 3 + channel];
      const double level = a + (b - a) * (at - static_cast<double>(stop));
      pixel |= static_cast<uint32_t>(std::lround(level)) << (8 * channel);
    }
    lut[i] = pixel;
  }
}

std::span<const uint8_t> rdbu_stops() {
  return kRdBu;
}

const char* invalid(const ColormapConfig& config) {
  if (config.rows < 1 || config.cols < 1) return "rows and cols must be at least 1";
  if (config.width < 1 || config.height < 1) return "width and height must be at least 1";
  if (static_cast<double>(config.rows) * config.cols > kMaxCells)
    return "rows * cols must be at most 2^28 cells";
  if (static_cast<double>(config.width) * config.height > kMaxCells) {
    return "width * height must be at most 2^28 pixels";
  }
  if (!(config.first_row >= 0) || !(config.num_rows > 0) ||
      !(config.first_row + config.num_rows <= config.rows)) {
    return "first_row and num_rows must name a part of the matrix";
  }
  if (!(config.first_col >= 0) || !(config.num_cols > 0) ||
      !(config.first_col + config.num_cols <= config.cols)) {
    return "first_col and num_cols must name a part of the matrix";
  }
  const double range = config.vmax - config.vmin;
  if (!(range > 0) || !std::isfinite(range) || !std::isfinite(kLutSize / range)) {
    return "vmin must be less than vmax, both finite and not too close";
  }
  return nullptr;
}

int colormap_scratch(const ColormapConfig& config) {
  const int square = kSquare * kApart / static_cast<int>(sizeof(double) / sizeof(uint16_t));
  return config.transpose ? std::max(config.cols, square) : config.cols;
}

void colormap(std::span<uint32_t> rgba, std::span<double> scratch, std::span<const float> values,
              std::span<const uint32_t> lut, const ColormapConfig& config) {
  assert(!invalid(config) && lut.size() == kLutSize);
  assert(rgba.size() == static_cast<size_t>(config.width) * static_cast<size_t>(config.height));
  assert(values.size() == static_cast<size_t>(config.rows) * static_cast<size_t>(config.cols));
  assert(scratch.size() >= static_cast<size_t>(colormap_scratch(config)));
  const int row_pixels = config.transpose ? config.width : config.height;
  const int col_pixels = config.transpose ? config.height : config.width;
  const Axis rows{config.first_row, config.num_rows / row_pixels, row_pixels, config.rows};
  const Axis cols{config.first_col, config.num_cols / col_pixels, col_pixels, config.cols};
  const Levels levels{config.vmin, config.vmax};
  uint32_t colors[kLutSize + 1] = {0};
  std::copy(lut.begin(), lut.end(), colors + 1);
  if (is_one_to_one(rows) && is_one_to_one(cols)) {
    const auto width = static_cast<size_t>(config.cols);
    const size_t first = static_cast<size_t>(config.first_row) * width + static_cast<size_t>(config.first_col);
    const Rows<const float> cells{&values[first], width};
    if (!config.transpose) return color_cells(rgba.data(), cells, row_pixels, col_pixels, colors, levels);
    auto* places = reinterpret_cast<uint16_t*>(scratch.data());
    return color_cells_transposed(rgba.data(), places, cells, row_pixels, col_pixels, colors, levels);
  }
  const int first_cell = cover_of(cols, 0).from, last_cell = cover_of(cols, col_pixels - 1).to;

  const auto pixel = [&](int r, int c) -> uint32_t& {
    const int at = config.transpose ? c * row_pixels + r : r * col_pixels + c;
    return rgba[static_cast<size_t>(at)];
  };
  Cover last_cover{-1, -1, 0, 0};
  for (int r = 0; r < row_pixels; ++r) {
    const Cover row_cover = cover_of(rows, r);
    if (row_cover == last_cover) {  // zoomed in: the row above once more
      for (int c = 0; c < col_pixels; ++c) pixel(r, c) = pixel(r - 1, c);
      continue;
    }
    last_cover = row_cover;
    std::fill_n(scratch.begin(), config.cols, 0.0);
    for (int row = row_cover.from; row <= row_cover.to; ++row) {
      const float* cells = &values[static_cast<size_t>(row) * static_cast<size_t>(config.cols)];
      const double weight = weight_of(row_cover, row);
      for (int c = first_cell; c <= last_cell; ++c) scratch[static_cast<size_t>(c)] += weight * cells[c];
    }
    const double row_weight = total(row_cover);
    for (int c = 0; c < col_pixels; ++c) {
      const Cover col_cover = cover_of(cols, c);
      double sum = 0;
      for (int cell = col_cover.from; cell <= col_cover.to; ++cell) {
        sum += weight_of(col_cover, cell) * scratch[static_cast<size_t>(cell)];
      }
      pixel(r, c) = colors[levels(sum / (row_weight * total(col_cover)))];
    }
  }
}

}  // namespace posenc
