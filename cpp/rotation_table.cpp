// What a rotation table needs before its rows: exact angles, the rotations M_1..M_R and M_{2R+1}, and the
// anchors.
#include "rotation_table.hpp"

#include <utility>

namespace posenc {
namespace {

void set_exactly(const RotationBlocks& blocks, const SinCos& row, double position, double factor) {
  const auto pairs = static_cast<int>(blocks.inv_freq.size());
  const auto frequency = [&](int i) { return i < pairs ? blocks.inv_freq[static_cast<size_t>(i)] : 0; };
  for (int i = 0; i < blocks.padded; i += 2) {
    const auto t = load<u64x2>(blocks.turns + i);
    f64x2 s, c;
    sin_cos(u64x2{phase_of(position, t[0], frequency(i)), phase_of(position, t[1], frequency(i + 1))}, &s, &c);
    store(row.sin + i, s * factor);
    store(row.cos + i, c * factor);
  }
}

// out = a turned by b; out may be a.
[[gnu::noinline]] void set_turned(const SinCos& out, const SinCos& a, const SinCos& b, int padded) {
  for (int i = 0; i < padded; i += 4) {
    FourPairs on, back;
    turn(a.at(i), b.at(i), &on, &back);
    out.set(i, on);
  }
}

}  // namespace

RotationBlocks rotation_blocks(std::span<double> scratch, double first_position, double position_step,
                               std::span<const double> inv_freq, double scale) {
  const int n = padded_pairs(static_cast<int>(inv_freq.size()));
  double* free = scratch.data();
  const auto take = [&] { return std::exchange(free, free + n); };
  RotationBlocks blocks{inv_freq, first_position, position_step, scale, n, take(), {}, {}, {}};
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    store(blocks.turns + i, turns_per_position(at < inv_freq.size() ? inv_freq[at] : 0));
  }
  blocks.anchor = {take(), take()};
  blocks.next = {take(), take()};
  for (SinCos& rotation : blocks.rotations) rotation = {take(), take()};
  set_exactly(blocks, blocks.rotations[0], position_step, 1.0);
  for (int r = 1; r < kReach; ++r)
    set_turned(blocks.rotations[r], blocks.rotations[r - 1], blocks.rotations[0], n);
  set_turned(blocks.next, blocks.rotations[kReach - 1], blocks.rotations[kReach - 1], n);
  set_turned(blocks.next, blocks.next, blocks.rotations[0], n);
  return blocks;
}

void set_anchor(const RotationBlocks& blocks, int first) {
  if (first % (kExactEvery * kBlock) == 0) {
    set_exactly(blocks, blocks.anchor, blocks.first_position + (first + kReach) * blocks.position_step,
                blocks.scale);
  } else {
    set_turned(blocks.anchor, blocks.anchor, blocks.next, blocks.padded);
  }
}

}  // namespace posenc
