// Means of a function of key minus query over rectangles of keys and queries, at a cost that depends on neither
// side: a bias falls into pieces f(o) = level + slope o, of which ALiBi has two and T5 one a bucket. A pixel
// within one piece shows it at its mean offset. Elsewhere the pieces differ left of an offset t: with the m-th
// triangular number P(m) and tetrahedral number Q(m), and m = t minus the smallest offset,
//
//   cells with o < t:               P(m) - P(m-nx) - P(m-ny) + P(m-nx-ny)
//   sum of (t - o) over those:      Q(m) - Q(m-nx) - Q(m-ny) + Q(m-nx-ny).
//
// In a picture each such t is a staircase of at most width + height pixels; the rest are runs of even steps.
//
// Based on: Crow, "Summed-area tables for texture mapping", 1984 (means from prefix sums of prefix sums); the
// functions are those of alibi.cpp and t5.cpp.
#include <cmath>

#include "simd.hpp"
#include "tile.hpp"

namespace posenc {
namespace {

// f(o) for o < end, from the end of the piece before on.
struct Piece {
  double end, level, slope;
};
constexpr size_t kPieceDoubles = sizeof(Piece) / sizeof(double);

constexpr double kEndless = std::numeric_limits<double>::infinity();

// Of a rectangle of nx keys and ny queries whose smallest offset is `least`.
struct Block {
  double least, nx, ny;

  double most() const { return least + nx + ny - 2; }
  double area() const { return nx * ny; }

  // The cells below an offset: how many, and the sum of their offsets.
  struct Below {
    double cells, offsets;
  };
  Below below(double t) const {
    double cells = 0, distances = 0;
    for (int corner = 0; corner < 4; ++corner) {
      const bool x = corner & 1, y = corner & 2;
      const double m = t - least - (x ? nx : 0) - (y ? ny : 0);
      if (m <= 0) continue;
      const double triangle = (x == y ? 0.5 : -0.5) * m * (m + 1);
      cells += triangle;
      distances += triangle * (m + 2);
    }
    return {cells, t * cells - distances / 3};
  }
};

// The mean over the cells below `limit`; pieces[0] is that of the smallest offset.
double mean_of(const Piece* pieces, const Block& block, double limit) {
  Block::Below all{block.area(), block.area() * (block.least + block.most()) / 2};
  if (limit <= block.most()) all = block.below(limit);
  const double most = std::min(block.most(), limit - 1);
  double sum = 0;
  for (; pieces->end <= most; ++pieces) {
    const Block::Below left = block.below(pieces->end);
    sum +=
        (pieces[0].level - pieces[1].level) * left.cells + (pieces[0].slope - pieces[1].slope) * left.offsets;
  }
  return (sum + pieces->level * all.cells + pieces->slope * all.offsets) / all.cells;
}

// row[0..count) = mean, mean + step, ...
[[gnu::noinline]] void fill_run(float* row, int count, double mean, double step) {
  f64x2 low = {mean, mean + step}, high = low + 2 * step;
  const f64x2 four = splat(4 * step);
  for (; count >= 4; count -= 4, row += 4) {
    store(row, to_float(low, high));
    low += four, high += four;
  }
  const double rest[] = {low[0], low[1], high[0]};
  for (int i = 0; i < count; ++i) row[i] = static_cast<float>(rest[i]);
}

double bias_of(int bucket, const TileConfig& config) {
  return config.biases.empty() ? bucket : config.biases[static_cast<size_t>(bucket)];
}

// The first offset past `offset` that has another bucket: those of one bucket are neighbours.
double bucket_end(int offset, const TileConfig& config) {
  const int bucket = t5_relative_position_bucket(offset, config.t5);
  int64_t same = offset, other = int64_t{1} << 31;
  while (other - same > 1) {
    const int64_t middle = (same + other) >> 1;
    (t5_relative_position_bucket(static_cast<int>(middle), config.t5) == bucket ? same : other) = middle;
  }
  return other > std::numeric_limits<int>::max() ? kEndless : static_cast<double>(other);
}

}  // namespace

int toeplitz_plan_size(const TileConfig& config) {
  const int pieces = config.map == TileMap::kT5 ? config.t5.num_buckets : 2;
  return static_cast<int>(kPieceDoubles) * pieces;
}

int plan_toeplitz(std::span<double> plan, const TileConfig& config) {
  auto* piece = reinterpret_cast<Piece*>(plan.data());
  if (config.map == TileMap::kAlibi) {
    *piece++ = {0, 0, config.slope};
    *piece++ = {kEndless, 0, -config.slope};
  } else {
    double from = -kMaxTileCells;
    while (from < kEndless) {
      const auto offset = static_cast<int>(from);
      from = bucket_end(offset, config);
      *piece++ = {from, bias_of(t5_relative_position_bucket(offset, config.t5), config), 0};
    }
  }
  return static_cast<int>(reinterpret_cast<double*>(piece) - plan.data());
}

int toeplitz_row(float* row, std::span<const double> plan, const TileConfig& config, const TileView& view,
                 int py) {
  const TileRows rows = tile_rows(config.seq_len, view, py);
  const TileColumns columns = tile_columns(config, view);
  const double limit = config.causal ? 1 : kEndless;
  auto* piece = reinterpret_cast<const Piece*>(plan.data());
  Block block{view.x0 - rows.first - (rows.count - 1), static_cast<double>(view.cells_x),
              static_cast<double>(rows.count)};
  const int end = rows.count > 0 ? columns.whole + (columns.rest > 0) : 0;
  int px = 0;
  while (px < end && block.least < limit) {
    if (px == columns.whole) block.nx = columns.rest;
    while (piece->end <= block.least) ++piece;
    // How far the present piece, and the map, go on: a run covers whole columns only.
    const double ahead = std::ceil((std::min(piece->end, limit) - block.most()) / block.nx);
    const int run = static_cast<int>(std::clamp<double>(ahead, 1, std::max(columns.whole - px, 1)));
    fill_run(row + px, run, mean_of(piece, block, limit), piece->slope * block.nx);
    px += run;
    block.least += run * block.nx;
  }
  return px;
}

}  // namespace posenc
