// AdamW: each weight moves by its mean gradient over its root mean square, and matrices shrink a little
// besides.
//   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
//   w -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon) + rate decay w.
//
// Based on: Kingma and Ba, "Adam", 2015, algorithm 1; Loshchilov and Hutter, "Decoupled weight decay
// regularization", 2019, algorithm 2.
#pragma once

#include <cmath>
#include <span>

#include "train.hpp"

namespace posenc::train {

// What the step-th update, counted from 1, has in common for all weights. power1, power2: b1^t, b2^t.
struct AdamStep {
  double rate, power1, power2, gradient_scale;
};

// Updates w from g * gradient_scale; m and v hold the means and begin at 0. All spans have one size.
template <class T>
void adamw(std::span<T> w, std::span<T> m, std::span<T> v, std::span<const T> g, double decay,
           const AdamStep& step) {
  const T keep1 = static_cast<T>(kBeta1), take1 = static_cast<T>(1 - kBeta1);
  const T keep2 = static_cast<T>(kBeta2), take2 = static_cast<T>(1 - kBeta2);
  const T rate = static_cast<T>(step.rate / (1 - step.power1));
  const T correction = static_cast<T>(1 / (1 - step.power2));
  const T scale = static_cast<T>(step.gradient_scale), shrink = static_cast<T>(1 - step.rate * decay);
  for (size_t i = 0; i < w.size(); ++i) {
    const T gradient = g[i] * scale;
    m[i] = keep1 * m[i] + take1 * gradient;
    v[i] = keep2 * v[i] + take2 * (gradient * gradient);
    w[i] = w[i] * shrink - rate * m[i] / (std::sqrt(v[i] * correction) + static_cast<T>(kAdamEpsilon));
  }
}

}  // namespace posenc::train
