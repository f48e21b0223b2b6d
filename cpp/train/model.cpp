// Based on: Vaswani et al. 2017 (the layers); Xiong et al., "On layer normalization in the transformer
// architecture", 2020 (norm before each sublayer).
#include "model.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "heads.hpp"
#include "norm.hpp"
#include "silu.hpp"
#include "tasks.hpp"

namespace posenc::train {
namespace {

constexpr double kTokenSigma = 0.5, kPositionSigma = 0.02;

size_t size_of(int n) {
  return static_cast<size_t>(n);
}

// Rows that a pass may have.
size_t rows_of(const RunConfig& config) {
  return size_of(std::max(config.batch * config.seq_len, config.max_seq_len));
}

// to (rows, cols) += a row (cols) each.
template <class T>
void add_row(T* to, std::span<const T> row, size_t rows) {
  for (size_t r = 0; r < rows; ++r, to += row.size()) {
    for (size_t c = 0; c < row.size(); c += 4) store(to + c, load<x4<T>>(to + c) + load<x4<T>>(&row[c]));
  }
}

// row (cols) += the sum of from (rows, cols) over rows.
template <class T>
void add_column_sums(std::span<T> row, const T* from, size_t rows) {
  for (size_t r = 0; r < rows; ++r, from += row.size()) {
    for (size_t c = 0; c < row.size(); c += 4) store(&row[c], load<x4<T>>(&row[c]) + load<x4<T>>(from + c));
  }
}

template <class T>
void add(T* to, const T* from, size_t count) {
  for (size_t i = 0; i < count; i += 4) store(to + i, load<x4<T>>(to + i) + load<x4<T>>(from + i));
}

// out (rows, cols) = or += x (rows, depth) * w (depth, cols), all dense.
template <class T>
void linear(T* out, const T* x, std::span<const T> w, size_t rows, size_t depth, bool onto = false) {
  const size_t cols = w.size() / depth;
  multiply<T>({out, cols}, {x, depth, 1}, {w.data(), cols}, rows, cols, depth, onto);
}

// The way back through linear: dw += x^T dout, and dx (rows, depth) = dout w^T. transposed holds w.size().
template <class T>
void linear_backward(T* dx, std::span<T> dw, const T* dout, const T* x, std::span<const T> w,
                     std::span<T> transposed, size_t rows, size_t depth) {
  const size_t cols = w.size() / depth;
  multiply<T>({dw.data(), cols}, {x, 1, depth}, {dout, cols}, depth, cols, rows, true);
  transpose<T>({transposed.data(), depth}, {w.data(), cols}, depth, cols, T{1});
  multiply<T>({dx, depth}, {dout, cols, 1}, {transposed.data(), depth}, rows, depth, cols);
}

}  // namespace

Layout::Layout(const RunConfig& c) {
  const size_t d = size_of(c.d_model), vocabulary = symbols(c.task).size();
  const double sigma = 1 / std::sqrt(static_cast<double>(c.d_model));
  const auto place = [&](Weight name, int layer, size_t rows, size_t cols, bool decays, double deviation) {
    blocks[count++] = {name, layer, size, rows, cols, decays, deviation};
    size += round_up(rows * cols, 4);
  };
  place(Weight::kTokenTable, 0, vocabulary, d, false, kTokenSigma);
  for (int i = 0; i < c.num_layers; ++i) {
    place(Weight::kGain, i, 1, d, false, kOnes);
    place(Weight::kWQkv, i, d, 3 * d, true, sigma);
    place(Weight::kBQkv, i, 1, 3 * d, false, 0);
    place(Weight::kWOut, i, d, d, true, sigma);
    if (!c.feed_forward) continue;
    place(Weight::kFeedGain, i, 1, d, false, kOnes);
    place(Weight::kWUp, i, d, 4 * d, true, sigma);
    place(Weight::kWDown, i, 4 * d, d, true, sigma / 2);
  }
  place(Weight::kLastGain, 0, 1, d, false, kOnes);
  place(Weight::kWClasses, 0, d, round_up(size_of(num_classes(c.task)), 4), true, sigma);
  if (c.encoding == Encoding::kLearned) {
    place(Weight::kPositionTable, 0, size_of(c.max_seq_len), d, false, kPositionSigma);
  }
  if (c.encoding == Encoding::kT5) {
    place(Weight::kT5Table, 0, size_of(c.num_buckets), size_of(c.num_heads), false, 0);
  }
}

const Block* Layout::find(Weight name, int layer) const {
  for (const Block& block : all()) {
    if (block.name == name && block.layer == layer) return &block;
  }
  return nullptr;
}

template <class T>
Model<T>::Model(Arena& arena, const RunConfig& given)
    : config(given), layout(given), classes(round_up(size_of(num_classes(given.task)), 4)) {
  const size_t rows = rows_of(config), d = size_of(config.d_model), heads = size_of(config.num_heads);
  const size_t longest = round_up(size_of(config.max_seq_len), kBlock);
  const size_t trained = size_of(config.seq_len), wide = config.feed_forward ? 4 * d : 3 * d;
  parameters = arena.take<T>(layout.size);
  gradients = arena.take<T>(layout.size);
  lay_out(positions, arena, config);
  for (int i = 0; i < config.num_layers; ++i) {
    LayerState<T>& layer = layers[i];
    layer.x = arena.take<T>(rows * d);
    layer.inverse_rms = arena.take<T>(rows);
    layer.normed = arena.take<T>(rows * d);
    layer.qkv = arena.take<T>(rows * 3 * d);
    layer.weights = arena.take<T>(size_of(config.batch) * heads * trained * round_up(trained, kBlock));
    layer.mixed = arena.take<T>(rows * d);
    if (!config.feed_forward) continue;
    layer.middle = arena.take<T>(rows * d);
    layer.feed_inverse_rms = arena.take<T>(rows);
    layer.feed_normed = arena.take<T>(rows * d);
    layer.before = arena.take<T>(rows * 4 * d);
    layer.hidden = arena.take<T>(rows * 4 * d);
  }
  last = arena.take<T>(rows * d);
  inverse_rms = arena.take<T>(rows);
  normed = arena.take<T>(rows * d);
  logits = arena.take<T>(rows * classes);
  dx = arena.take<T>(rows * d);
  dwide = arena.take<T>(std::max(rows * wide, longest * longest));
  dnormed = arena.take<T>(rows * d);
  transposed = arena.take<T>(wide * d);
  panel = arena.take<T>(d / heads * longest);
  dlogits = arena.take<T>(trained * round_up(trained, kBlock));
  dbias = arena.take<T>(config.encoding == Encoding::kT5 ? heads * 2 * trained + kBlock : 0);
}

template <class T>
std::span<T> Model<T>::of(std::span<T> array, Weight name, int layer) {
  const Block* block = layout.find(name, layer);
  return block ? array.subspan(block->offset, block->rows * block->cols) : std::span<T>{};
}

template <class T>
void Model<T>::initialise() {
  std::fill(parameters.begin(), parameters.end(), T{0});
  for (const Block& block : layout.all()) {
    const auto values = parameters.subspan(block.offset, block.rows * block.cols);
    if (block.sigma == kOnes) {
      std::fill(values.begin(), values.end(), T{1});
      continue;
    }
    const auto index = static_cast<uint64_t>(block.name) * kMaxLayers + static_cast<uint64_t>(block.layer);
    const auto seed = static_cast<uint32_t>(stream(config.seed, Purpose::kWeights, index));
    double row[4 * 256];  // the widest row of a block
    const size_t used = block.name == Weight::kWClasses ? size_of(num_classes(config.task)) : block.cols;
    for (size_t r = 0; r < block.rows; ++r) {
      random_normal({row, used}, seed + static_cast<uint32_t>(r), block.sigma);
      for (size_t c = 0; c < used; ++c) values[r * block.cols + c] = static_cast<T>(row[c]);
    }
  }
}

template <class T>
void Model<T>::forward(std::span<const int32_t> tokens) {
  prepare(positions, config, config.seq_len, RopeType::kDefault, config.seq_len);
  pass(tokens, true, {});
}

template <class T>
void Model<T>::forward_one(std::span<const int32_t> tokens, RopeType rope_type, int final_length,
                           std::span<T> weights) {
  prepare(positions, config, static_cast<int>(tokens.size()), rope_type, final_length);
  pass(tokens, false, weights);
}

template <class T>
void Model<T>::pass(std::span<const int32_t> tokens, bool keep, std::span<T> weights) {
  const size_t rows = tokens.size(), d = size_of(config.d_model), n = size_of(positions.seq_len);
  const size_t heads = size_of(config.num_heads), head_dim = d / heads, padded = round_up(n, kBlock);
  assert(rows % n == 0 && rows * d <= last.size());
  const auto weight = [&](Weight name, int layer = 0) {
    return std::span<const T>(of(parameters, name, layer));
  };
  if (config.encoding == Encoding::kT5) t5_bias_forward(positions, weight(Weight::kT5Table), config);

  T* x = layers[0].x.data();  // (rows, d)
  const auto table = weight(Weight::kTokenTable);
  for (size_t r = 0; r < rows; ++r) std::copy_n(&table[size_of(tokens[r]) * d], d, x + r * d);
  const std::span<const T> order = config.encoding == Encoding::kLearned ? weight(Weight::kPositionTable)
                                                                         : std::span<const T>(positions.rows);
  if (!order.empty()) {
    for (size_t at = 0; at < rows; at += n) add(x + at * d, order.data(), n * d);
  }

  for (int i = 0; i < config.num_layers; ++i) {
    LayerState<T>& layer = layers[i];
    T* next = i + 1 < config.num_layers ? layers[i + 1].x.data() : last.data();
    norm_forward(layer.normed.data(), layer.inverse_rms.data(), layer.x.data(), weight(Weight::kGain, i), rows);
    T* qkv = layer.qkv.data();
    linear(qkv, layer.normed.data(), weight(Weight::kWQkv, i), rows, d);
    add_row(qkv, weight(Weight::kBQkv, i), rows);
    if (config.encoding == Encoding::kRope) rotate(qkv, rows, positions, config, false);
    for (size_t s = 0; s < rows / n; ++s) {
      for (size_t h = 0; h < heads; ++h) {
        T* seen = keep ? &layer.weights[(s * heads + h) * n * padded] : dwide.data();
        const Head<T> head = head_of(i, s, h);
        attend(layer.mixed.data() + s * n * d + h * head_dim, seen, panel.data(), head);
        if (weights.empty()) continue;
        for (size_t t = 0; t < n; ++t) {
          T* to = &weights[((size_of(i) * heads + h) * n + t) * n];
          std::fill(std::copy_n(seen + t * padded, config.causal ? t + 1 : n, to), to + n, T{0});
        }
      }
    }
    T* after = config.feed_forward ? layer.middle.data() : next;
    std::copy_n(layer.x.data(), rows * d, after);
    linear(after, layer.mixed.data(), weight(Weight::kWOut, i), rows, d, true);
    if (!config.feed_forward) continue;
    norm_forward(layer.feed_normed.data(), layer.feed_inverse_rms.data(), after, weight(Weight::kFeedGain, i),
                 rows);
    linear(layer.before.data(), layer.feed_normed.data(), weight(Weight::kWUp, i), rows, d);
    silu_forward(layer.hidden.data(), layer.before.data(), rows * 4 * d);
    std::copy_n(after, rows * d, next);
    linear(next, layer.hidden.data(), weight(Weight::kWDown, i), rows, 4 * d, true);
  }
  norm_forward(normed.data(), inverse_rms.data(), last.data(), weight(Weight::kLastGain), rows);
  linear(logits.data(), normed.data(), weight(Weight::kWClasses), rows, d);
}

template <class T>
Head<T> Model<T>::head_of(int layer, size_t sequence, size_t head) const {
  const size_t d = size_of(config.d_model), head_dim = d / size_of(config.num_heads);
  const size_t n = size_of(positions.seq_len);
  const T* q = &layers[layer].qkv[sequence * n * 3 * d + head * head_dim];
  const T* bias = positions.bias.empty() ? nullptr : &positions.bias[head * (2 * n - 1) + n - 1];
  return {.seq_len = n,
          .head_dim = head_dim,
          .stride = 3 * d,
          .out_stride = d,
          .causal = config.causal,
          .scale = static_cast<T>(1 / std::sqrt(static_cast<double>(head_dim))),
          .q = q,
          .k = q + d,
          .v = q + 2 * d,
          .bias = bias};
}

template <class T>
Score Model<T>::score(std::span<const int32_t> targets, std::span<double> losses) {
  const auto used = size_of(num_classes(config.task));
  Score total;
  for (size_t r = 0; r < targets.size(); ++r) {
    T* row = &logits[r * classes];
    for (size_t c = 0; c < used; ++c) row[c] *= static_cast<T>(std::numbers::log2e);
    const int32_t target = targets[r];
    const T chosen = target == kNoTarget ? T{0} : row[target];
    const auto best = std::max_element(row, row + used) - row;
    const T log_sum = softmax(row, used, classes);
    double loss = 0;
    if (target != kNoTarget) {
      loss = static_cast<double>(log_sum - chosen) * std::numbers::ln2;
      total.loss += loss;
      total.right += best == target;
      ++total.asked;
    }
    if (!losses.empty()) losses[r] = loss;
  }
  return total;
}

template <class T>
void Model<T>::backward(std::span<const int32_t> tokens, std::span<const int32_t> targets) {
  const size_t rows = tokens.size(), d = size_of(config.d_model), n = size_of(positions.seq_len);
  const size_t heads = size_of(config.num_heads), head_dim = d / heads, padded = round_up(n, kBlock);
  const auto weight = [&](Weight name, int layer = 0) {
    return std::span<const T>(of(parameters, name, layer));
  };
  const auto gradient = [&](Weight name, int layer = 0) { return of(gradients, name, layer); };
  std::fill(gradients.begin(), gradients.end(), T{0});
  std::fill(dbias.begin(), dbias.end(), T{0});

  // dlogits = (probabilities - one-hot of the target) / positions asked, in place.
  const auto asked = rows - size_of(static_cast<int>(std::count(targets.begin(), targets.end(), kNoTarget)));
  const x4<T> share = splat4(T{1} / static_cast<T>(asked));
  for (size_t r = 0; r < rows; ++r) {
    T* row = &logits[r * classes];
    const bool skipped = targets[r] == kNoTarget;
    if (!skipped) row[targets[r]] -= 1;
    for (size_t c = 0; c < classes; c += 4) store(row + c, skipped ? x4<T>{} : load<x4<T>>(row + c) * share);
  }
  linear_backward(dnormed.data(), gradient(Weight::kWClasses), logits.data(), normed.data(),
                  weight(Weight::kWClasses), transposed, rows, d);
  std::fill_n(dx.data(), rows * d, T{0});
  norm_backward(dx.data(), gradient(Weight::kLastGain), dnormed.data(), last.data(), inverse_rms.data(),
                weight(Weight::kLastGain), rows);

  for (int i = config.num_layers - 1; i >= 0; --i) {
    const LayerState<T>& layer = layers[i];
    if (config.feed_forward) {
      linear_backward(dwide.data(), gradient(Weight::kWDown, i), dx.data(), layer.hidden.data(),
                      weight(Weight::kWDown, i), transposed, rows, 4 * d);
      silu_backward(dwide.data(), layer.before.data(), rows * 4 * d);
      linear_backward(dnormed.data(), gradient(Weight::kWUp, i), dwide.data(), layer.feed_normed.data(),
                      weight(Weight::kWUp, i), transposed, rows, d);
      norm_backward(dx.data(), gradient(Weight::kFeedGain, i), dnormed.data(), layer.middle.data(),
                    layer.feed_inverse_rms.data(), weight(Weight::kFeedGain, i), rows);
    }
    linear_backward(dnormed.data(), gradient(Weight::kWOut, i), dx.data(), layer.mixed.data(),
                    weight(Weight::kWOut, i), transposed, rows, d);
    T *dmixed = dnormed.data(), *dqkv = dwide.data();
    for (size_t s = 0; s < rows / n; ++s) {
      for (size_t h = 0; h < heads; ++h) {
        T* dq = dqkv + s * n * 3 * d + h * head_dim;
        T* db = dbias.empty() ? nullptr : &dbias[h * (2 * n - 1) + n - 1];
        attend_backward(dq, dq + d, dq + 2 * d, db, dlogits.data(), panel.data(),
                        dmixed + s * n * d + h * head_dim,
                        static_cast<const T*>(&layer.weights[(s * heads + h) * n * padded]), head_of(i, s, h));
      }
    }
    if (config.encoding == Encoding::kRope) rotate(dqkv, rows, positions, config, true);
    add_column_sums(gradient(Weight::kBQkv, i), dqkv, rows);
    linear_backward(dnormed.data(), gradient(Weight::kWQkv, i), dqkv, layer.normed.data(),
                    weight(Weight::kWQkv, i), transposed, rows, d);
    norm_backward(dx.data(), gradient(Weight::kGain, i), dnormed.data(), layer.x.data(),
                  layer.inverse_rms.data(), weight(Weight::kGain, i), rows);
  }

  const auto dtable = gradient(Weight::kTokenTable);
  for (size_t r = 0; r < rows; ++r) add(&dtable[size_of(tokens[r]) * d], &dx[r * d], d);
  if (config.encoding == Encoding::kLearned) {
    for (size_t at = 0; at < rows; at += n) {
      add(gradient(Weight::kPositionTable).data(), &dx[at * d], n * d);
    }
  }
  if (config.encoding == Encoding::kT5) {
    t5_bias_backward(gradient(Weight::kT5Table), std::span<const T>(dbias), positions, config);
  }
}

template struct Model<float>;
template struct Model<double>;

}  // namespace posenc::train
