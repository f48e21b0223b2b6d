// Four floats or two doubles at a time, written once for every target: clang and gcc vector types become SSE2
// natively, wasm simd128 in the SIMD build, and plain scalar code in the scalar build, with the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

namespace posenc {

using f32x4 = float __attribute__((vector_size(16)));
using f64x2 = double __attribute__((vector_size(16)));
using i32x4 = int32_t __attribute__((vector_size(16)));
using u64x2 = uint64_t __attribute__((vector_size(16)));
using i64x2 = int64_t __attribute__((vector_size(16)));
using f64x4 = double __attribute__((vector_size(32)));
using i64x4 = int64_t __attribute__((vector_size(32)));
using u32x4 = uint32_t __attribute__((vector_size(16)));
using u16x8 = uint16_t __attribute__((vector_size(16)));
using i32x2 = int32_t __attribute__((vector_size(8)));
using u32x2 = uint32_t __attribute__((vector_size(8)));

// Four numbers of T, for code that is float where it is tuned and double where it is checked.
template <class T>
struct FourOf;
template <>
struct FourOf<float> {
  using type = f32x4;
};
template <>
struct FourOf<double> {
  using type = f64x4;
};
template <class T>
using x4 = typename FourOf<T>::type;

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
template <class T>
inline x4<T> splat4(T x) {
  return x4<T>{x, x, x, x};
}

// Four floats from two doubles and two: one pair after the other, or in turn. clang finds wasm's conversion of
// two lanes only where the other two must be zeros, which its own shuffles would let it forget.
inline f32x4 to_float(f64x2 low, f64x2 high) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero((v128_t)low),
                                   wasm_f32x4_demote_f64x2_zero((v128_t)high), 0, 2);
#else
  return f32x4{static_cast<float>(low[0]), static_cast<float>(low[1]), static_cast<float>(high[0]),
               static_cast<float>(high[1])};
#endif
}
inline f32x4 interleave_to_float(f64x2 even, f64x2 odd) {
#ifdef __wasm_simd128__
  return (f32x4)wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero((v128_t)even),
                                   wasm_f32x4_demote_f64x2_zero((v128_t)odd), 0, 4, 1, 5);
#else
  return f32x4{static_cast<float>(even[0]), static_cast<float>(odd[0]), static_cast<float>(even[1]),
               static_cast<float>(odd[1])};
#endif
}

// Eight small numbers from two times four.
inline u16x8 narrow(i32x4 low, i32x4 high) {
#ifdef __wasm_simd128__
  return (u16x8)wasm_u16x8_narrow_i32x4((v128_t)low, (v128_t)high);
#else
  return __builtin_shufflevector((u16x8)low, (u16x8)high, 0, 2, 4, 6, 8, 10, 12, 14);
#endif
}

// The lower two floats of four as doubles, or the upper two.
inline f64x2 to_double(f32x4 v, bool upper) {
  const f32x4 two = upper ? __builtin_shufflevector(v, v, 2, 3, 2, 3) : v;
  return __builtin_convertvector(__builtin_shufflevector(two, two, 0, 1), f64x2);
}

// Whole numbers of 64 bits, of which wasm converts halves of 32: a product that is exact and one rounding.
inline f64x2 to_double(i64x2 v) {
  const auto low = (u32x4)v;
  const auto high = (i32x4)v;
  return __builtin_convertvector(i32x2{high[1], high[3]}, f64x2) * 0x1p32 +
         __builtin_convertvector(u32x2{low[0], low[2]}, f64x2);
}

// Where the mask is all ones, a; where it is zero, b.
inline f64x2 select(i64x2 mask, f64x2 a, f64x2 b) {
  return (f64x2)(((i64x2)a & mask) | ((i64x2)b & ~mask));
}
inline f32x4 select(i32x4 mask, f32x4 a, f32x4 b) {
  return (f32x4)(((i32x4)a & mask) | ((i32x4)b & ~mask));
}
inline f64x4 select(i64x4 mask, f64x4 a, f64x4 b) {
  return (f64x4)(((i64x4)a & mask) | ((i64x4)b & ~mask));
}
// a where it is larger, else b, also where either is NaN: one instruction.
inline f32x4 max(f32x4 a, f32x4 b) {
  return b < a ? a : b;
}
inline f64x4 max(f64x4 a, f64x4 b) {
  return b < a ? a : b;
}

// Four rows of four become four columns.
inline void transpose(f32x4 (&m)[4]) {
  const f32x4 low01 = __builtin_shufflevector(m[0], m[1], 0, 4, 1, 5);
  const f32x4 high01 = __builtin_shufflevector(m[0], m[1], 2, 6, 3, 7);
  const f32x4 low23 = __builtin_shufflevector(m[2], m[3], 0, 4, 1, 5);
  const f32x4 high23 = __builtin_shufflevector(m[2], m[3], 2, 6, 3, 7);
  m[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  m[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  m[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

inline float sum(f32x4 v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}
inline double sum(f64x4 v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}
inline double max(f64x4 v) {
  const double a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}
inline float max(f32x4 v) {
  const float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}

}  // namespace posenc
