// Softmax in powers of two: logits come multiplied by log2 e.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "exp2.hpp"

namespace posenc::train {

// 2^x for x <= 0: a polynomial in float, the library's own in double, where gradients are checked.
inline f32x4 powers(f32x4 x) {
  return exp2(x);
}
inline f64x4 powers(f64x4 x) {
  return f64x4{std::exp2(x[0]), std::exp2(x[1]), std::exp2(x[2]), std::exp2(x[3])};
}

// row[0..visible), logits in log2 units, becomes weights with sum 1; row[visible..padded) becomes 0. visible >=
// 1, padded is a multiple of 4. Weights below 2^-100 of the largest are 0: their products would be denormal
// numbers, which are slow. Returns log2 of the sum of the powers.
template <class T>
T softmax(T* row, size_t visible, size_t padded) {
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  std::fill(row + visible, row + padded, kLeast);
  x4<T> largest = splat4(kLeast);
  for (size_t j = 0; j < padded; j += 4) largest = max(load<x4<T>>(row + j), largest);
  const T top = max(largest);
  x4<T> sums{};
  for (size_t j = 0; j < padded; j += 4) {
    const x4<T> below = load<x4<T>>(row + j) - splat4(top);
    const x4<T> e = select(below > splat4(T{-100}), powers(below), x4<T>{});
    sums += e;
    store(row + j, e);
  }
  const T total = sum(sums);
  const x4<T> inverse = splat4(1 / total);
  for (size_t j = 0; j < padded; j += 4) store(row + j, load<x4<T>>(row + j) * inverse);
  return top + std::log2(total);
}

}  // namespace posenc::train
