// The matrix product on which attention and training spend their time: tiles of 4 rows and 8 columns are summed
// in registers. Operands may be transposed by their strides, so that nothing need be copied. Terms are added in
// the order of the depth, whatever the tile: a row's result does not depend on the rows around it.
#pragma once

#include <algorithm>

#include "simd.hpp"

namespace posenc {

// Element (r, k) stands at data[r * row + k * depth].
template <class T>
struct Left {
  const T* data;
  size_t row, depth;
};

// Rows that lie `row` apart.
template <class T>
struct Rows {
  T* data;
  size_t row;
};

// sums (kRows, 4 kVectors) += left (kRows, depth) * right (depth, 4 kVectors).
template <size_t kRows, size_t kVectors, class T>
inline void accumulate(x4<T> (&sums)[kRows][kVectors], Left<T> left, Rows<const T> right, size_t depth) {
  const T *from = left.data, *factors_from = right.data;
  for (size_t k = 0; k < depth; ++k, from += left.depth, factors_from += right.row) {
    x4<T> factors[kVectors];
    for (size_t v = 0; v < kVectors; ++v) factors[v] = load<x4<T>>(factors_from + 4 * v);
    for (size_t r = 0; r < kRows; ++r) {
      const x4<T> factor = splat4(from[r * left.row]);
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] += factor * factors[v];
    }
  }
}

// out (kRows, 4 kVectors) = or += left (kRows, depth) * right (depth, 4 kVectors).
template <size_t kRows, size_t kVectors, class T>
inline void multiply_tile(Rows<T> out, Left<T> left, Rows<const T> right, size_t depth, bool add) {
  x4<T> sums[kRows][kVectors] = {};
  if (add) {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t v = 0; v < kVectors; ++v) sums[r][v] = load<x4<T>>(out.data + r * out.row + 4 * v);
    }
  }
  accumulate(sums, left, right, depth);
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t v = 0; v < kVectors; ++v) store(out.data + r * out.row + 4 * v, sums[r][v]);
  }
}

template <size_t kVectors, class T>
inline void multiply_columns(Rows<T> out, Left<T> left, Rows<const T> right, size_t rows, size_t depth,
                             bool add) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    multiply_tile<4, kVectors, T>({out.data + r * out.row, out.row},
                                  {left.data + r * left.row, left.row, left.depth}, right, depth, add);
  }
  for (; r < rows; ++r) {
    multiply_tile<1, kVectors, T>({out.data + r * out.row, out.row},
                                  {left.data + r * left.row, left.row, left.depth}, right, depth, add);
  }
}

// out (rows, cols) = left (rows, depth) * right (depth, cols), or += with add; cols is a multiple of 4.
// A function of its own, called often: engines put a hot function into their fast tier between calls only.
template <class T>
[[gnu::noinline]] void multiply(Rows<T> out, Left<T> left, Rows<const T> right, size_t rows, size_t cols,
                                size_t depth, bool add = false) {
  constexpr size_t kDepth = 128;  // what a tile reads at once stays in the nearest cache
  for (size_t k = 0; k < depth || k == 0; k += kDepth) {
    const size_t reach = std::min(kDepth, depth - k);
    const Left<T> part{left.data + k * left.depth, left.row, left.depth};
    const T* from = right.data + k * right.row;
    const bool onto = add || k > 0;
    size_t c = 0;
    for (; c + 8 <= cols; c += 8) {
      multiply_columns<2, T>({out.data + c, out.row}, part, {from + c, right.row}, rows, reach, onto);
    }
    if (c < cols)
      multiply_columns<1, T>({out.data + c, out.row}, part, {from + c, right.row}, rows, reach, onto);
  }
}

// panels (ceil(count/width), depth, width) = factor * vectors of in (count, depth): element k of vector j goes
// to lane j % width of panel j / width, a multiple of 4. Missing vectors are 0. A tile reads its panel from
// front to back.
[[gnu::noinline]] inline void pack(float* panels, size_t width, Rows<const float> in, size_t count,
                                   size_t depth, float factor) {
  for (size_t first = 0; first < count; first += width, panels += depth * width) {
    for (size_t lane = 0; lane < width; lane += 4) {
      const size_t vector = first + lane;
      const float* from = in.data + vector * in.row;
      float* to = panels + lane;
      size_t k = 0;
      for (; vector + 4 <= count && k + 4 <= depth; k += 4) {
        f32x4 tile[4];
        for (size_t r = 0; r < 4; ++r) tile[r] = load<f32x4>(from + r * in.row + k) * factor;
        transpose(tile);
        for (size_t r = 0; r < 4; ++r) store(to + (k + r) * width, tile[r]);
      }
      for (; k < depth; ++k) {
        for (size_t r = 0; r < 4; ++r)
          to[k * width + r] = vector + r < count ? from[r * in.row + k] * factor : 0;
      }
    }
  }
}

// out (cols, rows), its rows out.row apart = factor * in (rows, cols) transposed; columns rows..out.row are 0.
template <class T>
inline void transpose(Rows<T> out, Rows<const T> in, size_t rows, size_t cols, T factor) {
  for (size_t c = 0; c < cols; ++c) {
    T* row = out.data + c * out.row;
    for (size_t r = 0; r < rows; ++r) row[r] = in.data[r * in.row + c] * factor;
    std::fill(row + rows, row + out.row, T{0});
  }
}

}  // namespace posenc
