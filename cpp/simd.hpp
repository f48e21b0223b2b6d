// Four floats or two doubles at a time, written once for every target: clang and gcc vector types become SSE2
// natively, wasm simd128 in the SIMD build, and plain scalar code in the scalar build, with the same bits.
#pragma once

#include <cstdint>
#include <cstring>

namespace posenc {

using f32x4 = float __attribute__((vector_size(16)));
using f64x2 = double __attribute__((vector_size(16)));
using i32x4 = int32_t __attribute__((vector_size(16)));
using u64x2 = uint64_t __attribute__((vector_size(16)));
using i64x2 = int64_t __attribute__((vector_size(16)));
using f32x2 = float __attribute__((vector_size(8)));

template <class Vector, class T>
inline Vector load(const T* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <class Vector, class T>
inline void store(T* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}

inline f32x4 splat(float x) {
  return f32x4{x, x, x, x};
}
inline f64x2 splat(double x) {
  return f64x2{x, x};
}

// Where the mask is all ones, a; where it is zero, b.
inline f64x2 select(i64x2 mask, f64x2 a, f64x2 b) {
  return (f64x2)(((i64x2)a & mask) | ((i64x2)b & ~mask));
}
inline f32x4 select(i32x4 mask, f32x4 a, f32x4 b) {
  return (f32x4)(((i32x4)a & mask) | ((i32x4)b & ~mask));
}
inline f32x4 max(f32x4 a, f32x4 b) {
  return select(a > b, a, b);
}

inline float sum(f32x4 v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}
inline float max(f32x4 v) {
  const float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}

}  // namespace posenc
