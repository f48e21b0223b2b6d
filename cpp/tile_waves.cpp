// Means of sinusoids over rectangles of positions and dimensions, at a cost that does not grow with the number
// of positions: the mean of a wave over n positions is the wave itself at their middle, made smaller,
//
//   (1/n) sum over k < n of sin((x + k) w) = sin(n w/2) / (n sin(w/2)) * sin((x + (n-1)/2) w),
//
// and so for the cosine: Dirichlet's kernel. From pixel to pixel the middle moves by cells_x positions, which
// turns the wave: PE(p+k) = M_k PE(p), as in rotation_table.hpp. Sixteen pixels are one anchor turned by the
// same sixteen rotations; the anchor then turns on, and every 64th is computed exactly from its phase.
//
// Based on: Vaswani et al., "Attention is all you need", 2017, section 3.5; Su et al., "RoFormer", 2021,
// equation 15.
#include <cmath>
#include <numbers>

#include "phase.hpp"
#include "tile.hpp"

namespace posenc {
namespace {

constexpr int kRun = 16;  // pixels to an anchor
constexpr int kExactEvery = 64;

// All that a row of pixels shows of one pair: `sines` rows of its sine and `cosines` of its cosine. With the
// wave sin t, cos t at the anchor and its mean's amplitude, pixel r of the run is a cos[r] + b sin[r].
struct Wave {
  double cos[kRun], sin[kRun];  // of the angle from the anchor to pixel r
  double a, b;
  double on_cos, on_sin;  // from an anchor to the next
  double amplitude, sines, cosines;
  double turns;  // bits of uint64_t, per position
};
constexpr int kWaveDoubles = sizeof(Wave) / sizeof(double);

// Where row d of the map comes from.
struct Source {
  int pair;
  bool cosine;
};
Source source_of(int d, const TileConfig& config) {
  if (config.map == TileMap::kSinusoidal) return {d / 2, d % 2 == 1};
  const int pair = config.layout == PairLayout::kInterleaved ? d / 2 : d % (config.dims / 2);
  return {pair, config.map == TileMap::kRopeCos};
}

// Called from several places: once in the module is enough.
[[gnu::noinline]] void sin_cos_of(uint64_t first, uint64_t second, f64x2* sin, f64x2* cos) {
  sin_cos(u64x2{first, second}, sin, cos);
}

// sin(n w/2) / (n sin(w/2)), w in [-pi, pi). No digits are lost: sin(w/2) is zero only where w is, and an
// argument that is off by a rounding of n w/2 is divided by n w/2 or so.
[[gnu::noinline]] double mean_amplitude(uint64_t turns, int n) {
  const double half = static_cast<double>(static_cast<int64_t>(turns)) * (std::numbers::pi * 0x1p-64);
  return n == 1 || half == 0 ? 1 : std::sin(n * half) / (n * std::sin(half));
}

// Sets a and b for the mean of n positions from x on.
[[gnu::noinline]] void set_anchor(Wave* wave, double x, int n, double amplitude) {
  const auto turns = load<uint64_t>(&wave->turns);
  const auto half = static_cast<uint64_t>(static_cast<int64_t>(turns) >> 1);
  const uint64_t phase = static_cast<uint64_t>(x) * turns + static_cast<uint64_t>(n - 1) * half;
  f64x2 sin, cos;
  sin_cos_of(phase, phase, &sin, &cos);
  wave->a = amplitude * (wave->sines * sin[0] + wave->cosines * cos[0]);
  wave->b = amplitude * (wave->sines * cos[0] - wave->cosines * sin[0]);
}

// a and b are those of the next anchor.
void turn_on(Wave* wave) {
  const double a = wave->a, b = wave->b;
  wave->a = a * wave->on_cos + b * wave->on_sin;
  wave->b = b * wave->on_cos - a * wave->on_sin;
}

void set_rotations(Wave* wave, int cells) {
  const uint64_t step = load<uint64_t>(&wave->turns) * static_cast<uint64_t>(cells);
  f64x2 sin, cos;
  for (uint64_t r = 0; r < kRun; r += 2) {
    sin_cos_of(r * step, (r + 1) * step, &sin, &cos);
    store(wave->sin + r, sin);
    store(wave->cos + r, cos);
  }
  sin_cos_of(kRun * step, kRun * step, &sin, &cos);
  wave->on_sin = sin[0];
  wave->on_cos = cos[0];
}

// The waves under the pixels of a row: neighbouring rows of one pair are one wave.
std::span<Wave> waves_of(std::span<double> scratch, std::span<const double> plan, const TileRows& rows,
                         const TileConfig& config, const TileView& view) {
  auto* waves = reinterpret_cast<Wave*>(scratch.data());
  size_t count = 0;
  int last = -1;
  const int first = rows.count > 0 ? static_cast<int>(rows.first) : 0;
  for (int d = first; d < first + rows.count; ++d) {
    const Source source = source_of(d, config);
    if (source.pair != last) {
      Wave& wave = waves[count++];
      wave.turns = plan[static_cast<size_t>(source.pair)];
      wave.sines = wave.cosines = 0;
      wave.amplitude = mean_amplitude(load<uint64_t>(&wave.turns), view.cells_x);
      set_rotations(&wave, view.cells_x);
      last = source.pair;
    }
    (source.cosine ? waves[count - 1].cosines : waves[count - 1].sines) += 1.0 / rows.count;
  }
  return {waves, count};
}

// sixteen[r] = the sum of all waves at pixel r of the run.
[[gnu::noinline]] void add_waves(float* sixteen, std::span<const Wave> waves) {
  f64x2 sum[kRun / 2] = {};
  for (const Wave& wave : waves) {
    const f64x2 a = splat(wave.a), b = splat(wave.b);
    for (int v = 0; v < kRun / 2; ++v)
      sum[v] += a * load<f64x2>(wave.cos + 2 * v) + b * load<f64x2>(wave.sin + 2 * v);
  }
  for (int v = 0; v < kRun / 2; v += 2) store(sixteen + 2 * v, to_float(sum[v], sum[v + 1]));
}

}  // namespace

int wave_scratch(int dims) {
  return dims * kWaveDoubles;
}

void plan_waves(std::span<double> plan, const TileConfig& config) {
  const SinusoidalConfig waves{.seq_len = 1, .d_model = config.dims, .base = config.base};
  sinusoidal_inv_freq(plan, waves);
  for (double& entry : plan) store(&entry, turns_per_position(entry));
}

int wave_row(float* row, std::span<double> scratch, std::span<const double> plan, const TileConfig& config,
             const TileView& view, int py) {
  const TileRows rows = tile_rows(config.dims, view, py);
  const TileColumns columns = tile_columns(config, view);
  if (rows.count == 0) return 0;
  const std::span<Wave> waves = waves_of(scratch, plan, rows, config, view);
  for (int px = 0; px < columns.whole; px += kRun) {
    const double x = view.x0 + static_cast<double>(px) * view.cells_x;
    for (Wave& wave : waves) {
      if (px % (kRun * kExactEvery) == 0) {
        set_anchor(&wave, x, view.cells_x, wave.amplitude);
      } else {
        turn_on(&wave);
      }
    }
    if (px + kRun <= columns.whole) {
      add_waves(row + px, waves);
    } else {
      float sixteen[kRun];
      add_waves(sixteen, waves);
      std::copy(sixteen, sixteen + (columns.whole - px), row + px);
    }
  }
  int end = columns.whole;
  if (columns.rest > 0) {
    double sum = 0;
    for (Wave& wave : waves) {
      const double amplitude = mean_amplitude(load<uint64_t>(&wave.turns), columns.rest);
      set_anchor(&wave, view.x0 + static_cast<double>(end) * view.cells_x, columns.rest, amplitude);
      sum += wave.a;
    }
    row[end++] = static_cast<float>(sum);
  }
  return end;
}

}  // namespace posenc
