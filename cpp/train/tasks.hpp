// The sequences of the tasks: seeded, so that every encoding is trained and tested on the same ones.
#pragma once

#include "train.hpp"

namespace posenc::train {

// What a seed is used for; streams of different purposes have nothing in common.
enum class Purpose : uint64_t { kWeights, kTraining, kTesting, kDrawing };

// The state from which random.hpp draws for the index-th use of a purpose.
uint64_t stream(uint32_t seed, Purpose purpose, uint64_t index);

// tokens, targets (batch, seq_len): the data of the step-th step, counted from 0.
void training_batch(std::span<int32_t> tokens, std::span<int32_t> targets, const RunConfig& config, int step);

// tokens, targets (any length): test sequence `index` of that length. Which side: an odd one is the mirror of
// the one before, so that a model without a sense of side scores exactly one half.
void test_sequence(std::span<int32_t> tokens, std::span<int32_t> targets, const RunConfig& config, int index);

}  // namespace posenc::train
