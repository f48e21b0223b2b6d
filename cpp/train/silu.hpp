// SiLU, x sigmoid(x): a relu with a smooth corner, so that its slope can be checked everywhere.
//
// Based on: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units for neural network function approximation in
// reinforcement learning", 2018, equations 1 and 3.
#pragma once

#include <numbers>

#include "softmax.hpp"

namespace posenc::train {

// 1 / (1 + e^-x), by the power of -|x|, which is at most 1.
template <class T>
x4<T> sigmoid(x4<T> x) {
  const x4<T> one = splat4(T{1});
  const x4<T> e = powers(max(x, -x) * splat4(-std::numbers::log2e_v<T>));
  return select(x > x4<T>{}, one, e) / (one + e);
}

// out (count) = silu(x); count is a multiple of 4.
template <class T>
void silu_forward(T* out, const T* x, size_t count) {
  for (size_t i = 0; i < count; i += 4) {
    const auto v = load<x4<T>>(x + i);
    store(out + i, v * sigmoid<T>(v));
  }
}

// d (count) *= the slope of silu at x, s (1 + x (1 - s)) with s = sigmoid(x).
template <class T>
void silu_backward(T* d, const T* x, size_t count) {
  const x4<T> one = splat4(T{1});
  for (size_t i = 0; i < count; i += 4) {
    const auto v = load<x4<T>>(x + i);
    const x4<T> s = sigmoid<T>(v);
    store(d + i, load<x4<T>>(d + i) * (s * (one + v * (one - s))));
  }
}

}  // namespace posenc::train
