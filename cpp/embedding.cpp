// The embedding layer: look a token's row up, scale it, add the row of its position.
//
// Based on: Vaswani et al. 2017, sections 3.4 and 3.5; the row check: torch.nn.Embedding, which BERT's learned
// positions run into at row 512 of 512 (Devlin et al. 2018).
#include <cassert>
#include <cmath>

#include "posenc.hpp"

namespace posenc {
namespace {

int first_missing(std::span<const int32_t> ids, int rows) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= rows) return static_cast<int>(i);
  }
  return kAllRowsFound;
}

template <class T>
int lookup(std::span<T> out, std::span<const T> table, std::span<const int32_t> ids, int rows, int cols) {
  const auto d = static_cast<size_t>(cols);
  assert(out.size() == ids.size() * d && table.size() == static_cast<size_t>(rows) * d);
  if (const int missing = first_missing(ids, rows); missing != kAllRowsFound) return missing;
  for (size_t i = 0; i < ids.size(); ++i) {
    const T* row = &table[static_cast<size_t>(ids[i]) * d];
    std::copy(row, row + d, &out[i * d]);
  }
  return kAllRowsFound;
}

}  // namespace

int lookup_rows(std::span<float> out, std::span<const float> table, std::span<const int32_t> ids, int rows,
                int cols) {
  return lookup(out, table, ids, rows, cols);
}
int lookup_rows(std::span<double> out, std::span<const double> table, std::span<const int32_t> ids, int rows,
                int cols) {
  return lookup(out, table, ids, rows, cols);
}

const char* invalid(const EmbeddingConfig& config) {
  if (config.batch < 1) return "batch must be at least 1";
  if (config.seq_len < 1) return "seq_len must be at least 1";
  if (config.vocab_size < 1) return "vocab_size must be at least 1";
  if (config.d_model < 1) return "d_model must be at least 1";
  if (config.seq_len > config.position_rows) return "seq_len must be at most the rows of the position table";
  if (static_cast<double>(config.batch) * config.seq_len * config.d_model > kMaxCells) {
    return "batch * seq_len * d_model must be at most 2^28 cells";
  }
  return nullptr;
}

int embed(std::span<float> out, std::span<const int32_t> token_ids, std::span<const float> token_table,
          std::span<const float> position_table, const EmbeddingConfig& config) {
  assert(!invalid(config));
  const auto d = static_cast<size_t>(config.d_model), n = static_cast<size_t>(config.seq_len);
  assert(token_ids.size() == static_cast<size_t>(config.batch) * n);
  assert(position_table.size() == static_cast<size_t>(config.position_rows) * d);
  const int missing = lookup_rows(out, token_table, token_ids, config.vocab_size, config.d_model);
  if (missing != kAllRowsFound) return missing;
  const auto scale = static_cast<float>(config.scale_by_sqrt_d_model ? std::sqrt(config.d_model) : 1.0);
  for (size_t i = 0; i < token_ids.size(); ++i) {
    const float* position = &position_table[i % n * d];
    for (size_t c = 0; c < d; ++c) out[i * d + c] = out[i * d + c] * scale + position[c];
  }
  return kAllRowsFound;
}

}  // namespace posenc
