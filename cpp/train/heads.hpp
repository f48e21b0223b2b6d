// Attention of one head over one sequence, forward and back. Rows are taken in blocks, so that under a causal
// mask what no row of a block sees is never computed. A bias is one vector per head over relative positions (a
// Toeplitz matrix), which serves ALiBi and T5 alike.
//
// Based on: Vaswani et al. 2017, section 3.2.
#pragma once

#include <numbers>

#include "multiply.hpp"
#include "softmax.hpp"

namespace posenc::train {

inline constexpr size_t kBlock = 8;  // rows of a block; the rows of weights are padded to a multiple of it

constexpr size_t round_up(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}

// The head's columns in q, k, v, rows `stride` apart, and in the output, rows `out_stride` apart.
template <class T>
struct Head {
  size_t seq_len, head_dim, stride, out_stride;
  bool causal;
  T scale;
  const T *q, *k, *v;
  const T* bias;  // of relative_position 0, in units of log2; null: none

  size_t padded() const { return round_up(seq_len, kBlock); }
  // Keys that some row of the block from `first` sees, and the columns computed for them.
  size_t reach(size_t first) const { return causal ? std::min(first + kBlock, seq_len) : seq_len; }
  size_t columns(size_t first) const { return round_up(reach(first), kBlock); }
};

// out (seq_len, head_dim) and weights (seq_len, padded) = softmax(scale q k^T + bias), of which row i is set up
// to columns(i). panel: head_dim * padded.
template <class T>
void attend(T* out, T* weights, T* panel, const Head<T>& head) {
  const size_t n = head.seq_len, padded = head.padded();
  transpose<T>({panel, padded}, {head.k, head.stride}, n, head.head_dim,
               head.scale * static_cast<T>(std::numbers::log2e));
  for (size_t first = 0; first < n; first += kBlock) {
    const size_t rows = std::min(kBlock, n - first), columns = head.columns(first);
    T* block = weights + first * padded;
    multiply<T>({block, padded}, {head.q + first * head.stride, head.stride, 1}, {panel, padded}, rows, columns,
                head.head_dim);
    for (size_t i = first; i < first + rows; ++i) {
      T* row = weights + i * padded;
      if (head.bias) {
        for (size_t j = 0; j < columns; j += 4) {
          store(row + j, load<x4<T>>(row + j) + load<x4<T>>(head.bias + j - i));
        }
      }
      softmax(row, head.causal ? i + 1 : n, columns);
    }
    multiply<T>({out + first * head.out_stride, head.out_stride}, {block, padded, 1}, {head.v, head.stride},
                rows, head.head_dim, head.reach(first));
  }
}

// dq, dk, dv (rows `stride` apart) from dout; dbias, at relative_position 0, is added to unless null. With
// logits l, weights w and g = dout v^T:  dl = w (g - sum of w g over the row),  dbias = dl,  dq = scale dl k,
// dk = scale dl^T q,  dv = w^T dout.  panel: head_dim * padded; dlogits: seq_len * padded.
template <class T>
void attend_backward(T* dq, T* dk, T* dv, T* dbias, T* dlogits, T* panel, const T* dout, const T* weights,
                     const Head<T>& head) {
  const size_t n = head.seq_len, padded = head.padded();
  transpose<T>({panel, padded}, {head.v, head.stride}, n, head.head_dim, T{1});
  for (size_t first = 0; first < n; first += kBlock) {
    const size_t rows = std::min(kBlock, n - first), columns = head.columns(first);
    T* block = dlogits + first * padded;
    multiply<T>({block, padded}, {dout + first * head.out_stride, head.out_stride, 1}, {panel, padded}, rows,
                columns, head.head_dim);
    for (size_t i = first; i < first + rows; ++i) {
      T* row = dlogits + i * padded;
      const T* weight = weights + i * padded;
      x4<T> sums{};
      for (size_t j = 0; j < columns; j += 4) sums += load<x4<T>>(row + j) * load<x4<T>>(weight + j);
      const x4<T> mean = splat4(sum(sums)), scale = splat4(head.scale);
      for (size_t j = 0; j < columns; j += 4) {
        const x4<T> d = load<x4<T>>(weight + j) * (load<x4<T>>(row + j) - mean);
        if (dbias) store(dbias + j - i, load<x4<T>>(dbias + j - i) + d);
        store(row + j, d * scale);
      }
    }
    multiply<T>({dq + first * head.stride, head.stride}, {block, padded, 1}, {head.k, head.stride}, rows,
                head.head_dim, head.reach(first));
  }
  for (size_t first = 0; first < n; first += kBlock) {  // of keys
    const size_t rows = std::min(kBlock, n - first), from = head.causal ? first : 0;
    multiply<T>({dk + first * head.stride, head.stride}, {dlogits + from * padded + first, 1, padded},
                {head.q + from * head.stride, head.stride}, rows, head.head_dim, n - from);
    multiply<T>({dv + first * head.stride, head.stride}, {weights + from * padded + first, 1, padded},
                {dout + from * head.out_stride, head.out_stride}, rows, head.head_dim, n - from);
  }
}

}  // namespace posenc::train
