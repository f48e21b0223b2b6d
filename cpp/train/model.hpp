// The transformer: its weights in one array, a forward pass that keeps what the way back needs, and the way
// back, written by hand. One template for float and double, so that the gradients checked in double are those
// of the code that trains in float.
#pragma once

#include "heads.hpp"
#include "positions.hpp"

namespace posenc::train {

// A weight array (rows, cols) in the model's parameters.
struct Block {
  Weight name;
  int layer;
  size_t offset, rows, cols;
  bool decays;   // a matrix that multiplies: it takes weight decay
  double sigma;  // of its first normal values; kOnes: all 1
};
inline constexpr double kOnes = -1;
inline constexpr int kMaxBlocks = 4 + 8 * kMaxLayers;

// Where each array stands. What belongs to an encoding comes last, and every block draws from a stream of its
// own: models that differ in the encoding share all other first values.
struct Layout {
  Block blocks[kMaxBlocks];
  int count = 0;
  size_t size = 0;

  explicit Layout(const RunConfig& config);
  std::span<const Block> all() const { return {blocks, static_cast<size_t>(count)}; }
  const Block* find(Weight name, int layer) const;
};

// What one layer keeps of its forward pass; R rows are those of all sequences.
template <class T>
struct LayerState {
  std::span<T> x, inverse_rms, normed;  // its input (R, d), (R), (R, d)
  std::span<T> qkv;                     // (R, 3d), q and k turned under rope
  std::span<T> weights;                 // (sequences, heads, seq_len, padded), if kept
  std::span<T> mixed;                   // (R, d): the heads' outputs side by side
  // feed_forward: (R, d), (R), (R, d), (R, 4d), and silu of the last.
  std::span<T> middle, feed_inverse_rms, feed_normed, before, hidden;
};

// Sum of losses and of right answers over the positions asked.
struct Score {
  double loss = 0;
  int right = 0, asked = 0;
};

template <class T>
struct Model {
  RunConfig config;
  Layout layout;
  size_t classes;  // columns of logits: num_classes rounded up to 4
  std::span<T> parameters, gradients;
  Positions<T> positions;
  LayerState<T> layers[kMaxLayers];
  std::span<T> last, inverse_rms, normed, logits;  // (R, d), (R), (R, d), (R, classes)
  // Of the way back.
  std::span<T> dx, dnormed, dwide;  // (R, d), (R, d), (R, the widest): forward_one has a head's weights there
  std::span<T> transposed;          // of a weight matrix
  std::span<T> panel, dlogits, dbias;  // of a head; t5

  // Takes its arrays from the arena, for batch sequences of seq_len or one of max_seq_len.
  Model(Arena& arena, const RunConfig& given);

  std::span<T> of(std::span<T> array, Weight name, int layer = 0);

  // One head's share of the last forward pass.
  Head<T> head_of(int layer, size_t sequence, size_t head) const;

  // First values, from config.seed.
  void initialise();
  // tokens (batch, seq_len), for the trained length: keeps what backward needs.
  void forward(std::span<const int32_t> tokens);
  // One sequence of up to max_seq_len; rope is scaled for final_length. weights, if given, (num_layers,
  // num_heads, seq_len, seq_len), are set to the attention weights.
  void forward_one(std::span<const int32_t> tokens, RopeType rope_type, int final_length,
                   std::span<T> weights = {});
  // Turns the logits into probabilities; losses, if given, (R), 0 where no answer is asked for.
  Score score(std::span<const int32_t> targets, std::span<double> losses = {});
  // gradients = d(mean loss over the positions asked)/d(parameters), after forward and score.
  void backward(std::span<const int32_t> tokens, std::span<const int32_t> targets);

 private:
  void pass(std::span<const int32_t> tokens, bool keep, std::span<T> weights);
};

}  // namespace posenc::train
