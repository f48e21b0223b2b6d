// Where a model gets its order from: rows added to the embeddings, angles by which q and k turn, or a bias of
// the logits. Each encoding fills the table it needs for one length and leaves the others alone.
//
// Based on: Vaswani et al. 2017 (sinusoidal); Gehring et al. 2017 (learned); Su et al. 2021 (RoPE); Chen et al.
// 2023 (position interpolation) and bloc97 2023 (NTK), at test time; Press et al. 2021 (ALiBi); Raffel et al.
// 2019 (T5).
#pragma once

#include "arena.hpp"
#include "train.hpp"

namespace posenc::train {

// A logit with this bias has weight 0.
inline constexpr double kMasked = -1e30;

template <class T>
struct Positions {
  int seq_len = 0;  // for which the tables are filled
  RopeType rope_type = RopeType::kDefault;
  int final_length = 0;
  std::span<T> rows;           // sinusoidal: (max_seq_len, d_model)
  std::span<T> cos, sin;       // rope: (max_seq_len, head_dim / 2)
  std::span<T> bias;           // alibi, t5: (num_heads, 2 * seq_len - 1), in units of log2, then 8 of padding
  std::span<int32_t> buckets;  // t5: (2 * seq_len - 1)
  std::span<double> scratch;
};

template <class T>
void lay_out(Positions<T>& positions, Arena& arena, const RunConfig& config);

// Fills the tables for a sequence of seq_len; RoPE's factor is final_length / trained length, at least 1.
template <class T>
void prepare(Positions<T>& positions, const RunConfig& config, int seq_len, RopeType rope_type,
             int final_length);

// t5: bias = gain * table (num_buckets, num_heads) at the bucket of each relative position, and back: dtable is
// added to from dbias, the gradient by the bias in natural units, shaped as bias.
template <class T>
void t5_bias_forward(Positions<T>& positions, std::span<const T> table, const RunConfig& config);
template <class T>
void t5_bias_backward(std::span<T> dtable, std::span<const T> dbias, const Positions<T>& positions,
                      const RunConfig& config);

// Turns the q and k parts of qkv (rows, 3 d_model), row r being position r % seq_len, by their angles, or back.
template <class T>
void rotate(T* qkv, size_t rows, const Positions<T>& positions, const RunConfig& config, bool back);

}  // namespace posenc::train
