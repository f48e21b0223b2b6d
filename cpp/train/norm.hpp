// RMSNorm: each row divided by its root mean square, then scaled column by column.
//
// Based on: Zhang and Sennrich, "Root mean square layer normalization", 2019, equation 4.
#pragma once

#include <cmath>

#include "multiply.hpp"
#include "train.hpp"

namespace posenc::train {

// out (rows, d) = x / rms(x) * gain; inverse_rms (rows) is kept for the way back. gain (d).
template <class T>
void norm_forward(T* out, T* inverse_rms, const T* x, std::span<const T> gain, size_t rows) {
  const size_t d = gain.size();
  for (size_t r = 0; r < rows; ++r, out += d, x += d) {
    x4<T> squares{};
    for (size_t c = 0; c < d; c += 4) {
      const auto v = load<x4<T>>(x + c);
      squares += v * v;
    }
    const T inverse = 1 / std::sqrt(sum(squares) / static_cast<T>(d) + static_cast<T>(kNormEpsilon));
    inverse_rms[r] = inverse;
    for (size_t c = 0; c < d; c += 4) {
      store(out + c, load<x4<T>>(x + c) * splat4(inverse) * load<x4<T>>(&gain[c]));
    }
  }
}

// dx (rows, d) and dgain (d) are added to; dout (rows, d). With u = x / rms:
//   dgain = sum of dout u over rows,  dx = (dout gain - u mean(dout gain u)) / rms.
template <class T>
void norm_backward(T* dx, std::span<T> dgain, const T* dout, const T* x, const T* inverse_rms,
                   std::span<const T> gain, size_t rows) {
  const size_t d = gain.size();
  for (size_t r = 0; r < rows; ++r, dx += d, dout += d, x += d) {
    const x4<T> inverse = splat4(inverse_rms[r]);
    x4<T> products{};
    for (size_t c = 0; c < d; c += 4) {
      const x4<T> along = load<x4<T>>(dout + c) * load<x4<T>>(x + c) * inverse;
      store(&dgain[c], load<x4<T>>(&dgain[c]) + along);
      products += along * load<x4<T>>(&gain[c]);
    }
    const x4<T> mean = splat4(sum(products) / static_cast<T>(d));
    for (size_t c = 0; c < d; c += 4) {
      const x4<T> unit = load<x4<T>>(x + c) * inverse;
      const x4<T> part = (load<x4<T>>(dout + c) * load<x4<T>>(&gain[c]) - unit * mean) * inverse;
      store(dx + c, load<x4<T>>(dx + c) + part);
    }
  }
}

}  // namespace posenc::train
