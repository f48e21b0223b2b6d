// Tables of sin and cos by the lesson's own property: PE(p+k) = M_k PE(p).
//
// Rows come in blocks of 2R+1. The middle row of a block, the anchor, is the anchor before it turned by
// M_{2R+1}, and every 64th is computed exactly from its phase; the R rows on each side are the anchor turned by
// M_1..M_R and by their inverses. Rows p+r and p-r share the four products of the rotation, so a row costs two
// multiplications per value and no trigonometry. All of it is double: after at most 64 turns a value is off by
// some 1e-14, far below half a unit of the float that it becomes.
#pragma once

#include <algorithm>
#include <span>

#include "phase.hpp"

namespace posenc {

inline constexpr int kReach = 4;  // R: 9 rows to a block
inline constexpr int kBlock = 2 * kReach + 1;
inline constexpr int kExactEvery = 64;

// Pairs are taken four at a time: scratch ends with up to three that are padding.
inline constexpr int padded_pairs(int pairs) {
  return (pairs + 3) & ~3;
}

// Doubles of scratch for `pairs` frequencies: turns, the anchor, and the rotations M_1..M_R and M_{2R+1}.
inline constexpr int rotation_scratch(int pairs) {
  return (3 + 2 * (kReach + 1)) * padded_pairs(pairs);
}

// sin and cos of four pairs.
struct FourPairs {
  f64x2 sin[2], cos[2];
};

// Of `pairs` frequencies, a multiple of four.
struct SinCos {
  double *sin, *cos;
  FourPairs at(int i) const {
    return {{load<f64x2>(sin + i), load<f64x2>(sin + i + 2)}, {load<f64x2>(cos + i), load<f64x2>(cos + i + 2)}};
  }
  void set(int i, const FourPairs& value) const {
    store(sin + i, value.sin[0]), store(sin + i + 2, value.sin[1]);
    store(cos + i, value.cos[0]), store(cos + i + 2, value.cos[1]);
  }
};

// a turned by b, and by its inverse.
inline void turn(const FourPairs& a, const FourPairs& b, FourPairs* on, FourPairs* back) {
  for (int v = 0; v < 2; ++v) {
    const f64x2 sc = a.sin[v] * b.cos[v], cs = a.cos[v] * b.sin[v];
    const f64x2 cc = a.cos[v] * b.cos[v], ss = a.sin[v] * b.sin[v];
    on->sin[v] = sc + cs, on->cos[v] = cc - ss;
    back->sin[v] = sc - cs, back->cos[v] = cc + ss;
  }
}

// A table under way: the frequencies, the anchor of the block at hand, and what turns it. In
// rotation_table.cpp.
struct RotationBlocks {
  std::span<const double> inv_freq;
  double first_position, position_step, scale;
  int padded;
  double* turns;  // bits of uint64_t
  SinCos anchor, next, rotations[kReach];
};
RotationBlocks rotation_blocks(std::span<double> scratch, double first_position, double position_step,
                               std::span<const double> inv_freq, double scale);
// Sets the anchor of the block that begins with row `first`; blocks come one after the other.
void set_anchor(const RotationBlocks& blocks, int first);

// Calls emit(row, pair, sin, cos) for every row 0..seq_len-1 and every pair; sin and cos are multiplied by
// scale. Where the four pairs from `pair` on, all below `whole`, go to a row of a whole block, it is
// emit_four(row, pair, FourPairs) instead.
template <class Emit, class EmitFour>
void rotation_table(Emit emit, EmitFour emit_four, int whole, std::span<double> scratch, int seq_len,
                    double first_position, double position_step, std::span<const double> inv_freq,
                    double scale) {
  const int pairs = static_cast<int>(inv_freq.size());
  // Blocks reach past the rows, and must not past the numbers: a single row has no step.
  const double step = seq_len > 1 ? position_step : 0;
  const RotationBlocks blocks = rotation_blocks(scratch, first_position, step, inv_freq, scale);
  const auto emit_edge = [&](int row, int i, const FourPairs& v) __attribute__((noinline)) {
    for (int lane = 0; row < seq_len && lane < std::min(4, pairs - i); ++lane)
      emit(row, i + lane, v.sin[lane / 2][lane % 2], v.cos[lane / 2][lane % 2]);
  };
  const auto emit_block = [&](int middle, int from, int to, auto emit_to) {
    for (int i = from; i < to; i += 4) {
      const FourPairs a = blocks.anchor.at(i);
      emit_to(middle, i, a);
      for (int r = 1; r <= kReach; ++r) {
        FourPairs on, back;
        turn(a, blocks.rotations[r - 1].at(i), &on, &back);
        emit_to(middle - r, i, back);
        emit_to(middle + r, i, on);
      }
    }
  };
  for (int first = 0; first < seq_len; first += kBlock) {
    set_anchor(blocks, first);
    const int fours = first + kBlock <= seq_len ? whole & ~3 : 0;
    emit_block(first + kReach, 0, fours, emit_four);
    emit_block(first + kReach, fours, blocks.padded, emit_edge);
  }
}

}  // namespace posenc
