// A run: a model, its optimiser and how far it has come. Everything lies in the memory that the caller gave, so
// that freeing that memory ends the run.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>
#include <numbers>
#include <type_traits>

#include "adamw.hpp"
#include "model.hpp"
#include "random.hpp"
#include "tasks.hpp"

namespace posenc::train {

struct Run {
  RunConfig config;
  Model<float> model;
  std::span<float> mean, mean_square;  // of the gradients
  std::span<int32_t> tokens, targets;  // of a batch, or of one test sequence
  std::span<double> losses;            // (max_seq_len)
  double power1 = 1, power2 = 1;       // kBeta1^step, kBeta2^step
  Metrics last = {};

  Run(Arena& arena, const RunConfig& given) : config(given), model(arena, given) {
    const auto rows = static_cast<size_t>(std::max(config.batch * config.seq_len, config.max_seq_len));
    mean = arena.take<float>(model.layout.size);
    mean_square = arena.take<float>(model.layout.size);
    tokens = arena.take<int32_t>(rows);
    targets = arena.take<int32_t>(rows);
    losses = arena.take<double>(static_cast<size_t>(config.max_seq_len));
  }
};
static_assert(std::is_trivially_destructible_v<Run>);

namespace {

// Warm-up, then constant to half-way, then linear to a twentieth at the last step. step counts from 1.
double learning_rate(const RunConfig& config, int step) {
  const double warm = config.warmup_steps > 0 ? std::min(1.0, double(step) / config.warmup_steps) : 1;
  const double late = std::max(0.0, 2.0 * step / config.steps - 1);
  return config.learning_rate * warm * (1 - 0.95 * late);
}

double norm(std::span<const float> values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

// A test sequence of the run's task in its first seq_len tokens and targets.
void fetch(Run& run, int seq_len, int index) {
  const auto n = static_cast<size_t>(seq_len);
  test_sequence(run.tokens.first(n), run.targets.first(n), run.config, index);
}

}  // namespace

size_t run_bytes(const RunConfig& config) {
  Arena counting;
  counting.take<Run>(1);
  Run(counting, config);
  return counting.used;
}

Run* start_run(std::span<std::byte> memory, const RunConfig& config) {
  assert(!invalid(config) && memory.size() >= run_bytes(config));
  std::fill(memory.begin(), memory.end(), std::byte{0});
  Arena arena{memory.data()};
  Run* run = new (arena.take<Run>(1).data()) Run(arena, config);
  run->model.initialise();
  return run;
}

Metrics metrics(const Run& run) {
  return run.last;
}

Metrics step(Run& run) {
  Metrics& last = run.last;
  if (last.diverged || last.finished) return last;
  const RunConfig& config = run.config;
  const auto rows = static_cast<size_t>(config.batch * config.seq_len);
  const auto tokens = run.tokens.first(rows), targets = run.targets.first(rows);
  training_batch(tokens, targets, config, last.step);
  Model<float>& model = run.model;
  model.forward(tokens);
  const Score score = model.score(targets);
  if (score.asked == 0) {  // a batch in which no symbol recurs: nothing to learn from
    last.finished = ++last.step == config.steps;
    return last;
  }
  model.backward(tokens, targets);

  const double loss = score.loss / score.asked, size = norm(model.gradients);
  const double limit = kDivergedLoss * std::log(num_classes(config.task));
  if (!(loss <= limit) || !std::isfinite(size)) {
    last.diverged = true;
    return last;
  }
  run.power1 *= kBeta1;
  run.power2 *= kBeta2;
  const double rate = learning_rate(config, last.step + 1);
  const AdamStep update{rate, run.power1, run.power2, std::min(1.0, config.gradient_clip / size)};
  for (const Block& block : model.layout.all()) {
    const auto part = [&](std::span<float> all) { return all.subspan(block.offset, block.rows * block.cols); };
    adamw<float>(part(model.parameters), part(run.mean), part(run.mean_square), part(model.gradients),
                 block.decays ? config.weight_decay : 0, update);
  }
  last.loss = loss;
  last.accuracy = static_cast<double>(score.right) / score.asked;
  last.gradient_norm = size;
  last.learning_rate = rate;
  last.finished = ++last.step == config.steps;
  return last;
}

const char* invalid_test(const Run& run, int seq_len, RopeType rope_type) {
  if (seq_len < 1 || seq_len > run.config.max_seq_len) return "seq_len must be 1 to max_seq_len";
  if (rope_type == RopeType::kDefault) return nullptr;
  if (rope_type != RopeType::kLinear && rope_type != RopeType::kNtk) {
    return "rope_type must be default, linear or ntk";
  }
  if (run.config.encoding != Encoding::kRope) return "rope_type must be default unless encoding is rope";
  return nullptr;
}

const char* invalid_tokens(const Run& run, std::span<const int32_t> tokens) {
  const auto vocabulary = static_cast<int32_t>(symbols(run.config.task).size());
  const bool known =
      std::all_of(tokens.begin(), tokens.end(), [&](int32_t t) { return 0 <= t && t < vocabulary; });
  return known ? nullptr : "tokens must be ids of the task's symbols";
}

void evaluate(std::span<double> loss, std::span<double> right, std::span<double> asked, Run& run, int seq_len,
              RopeType rope_type, int first, int count) {
  const auto n = static_cast<size_t>(seq_len);
  assert(!invalid_test(run, seq_len, rope_type));
  assert(loss.size() == n && right.size() == n && asked.size() == n);
  const auto classes = static_cast<size_t>(num_classes(run.config.task));
  for (int index = first; index < first + count; ++index) {
    fetch(run, seq_len, index);
    run.model.forward_one(run.tokens.first(n), rope_type, seq_len);
    run.model.score(run.targets.first(n), run.losses.first(n));
    for (size_t t = 0; t < n; ++t) {
      if (run.targets[t] == kNoTarget) continue;
      const float* row = &run.model.logits[t * run.model.classes];
      loss[t] += run.losses[t];
      right[t] += std::max_element(row, row + classes) - row == run.targets[t];
      ++asked[t];
    }
  }
}

void look(std::span<float> probabilities, std::span<float> weights, Run& run, std::span<const int32_t> tokens,
          RopeType rope_type) {
  const size_t n = tokens.size(), classes = static_cast<size_t>(num_classes(run.config.task));
  const int seq_len = static_cast<int>(n);
  assert(!invalid_test(run, seq_len, rope_type));
  Model<float>& model = run.model;
  assert(weights.empty() ||
         weights.size() == static_cast<size_t>(run.config.num_layers * run.config.num_heads) * n * n);
  model.forward_one(tokens, rope_type, seq_len, weights);
  if (probabilities.empty()) return;
  assert(probabilities.size() == n * classes);
  std::fill_n(run.targets.begin(), n, kNoTarget);
  model.score(run.targets.first(n));
  for (size_t t = 0; t < n; ++t) {
    std::copy_n(&model.logits[t * model.classes], classes, &probabilities[t * classes]);
  }
}

void answer(std::span<int32_t> tokens, std::span<int32_t> targets, std::span<int32_t> answers,
            std::span<float> probabilities, Run& run, RopeType rope_type, int index) {
  const auto classes = static_cast<size_t>(num_classes(run.config.task));
  test_sequence(tokens, targets, run.config, index);
  look(probabilities, {}, run, tokens, rope_type);
  assert(targets.size() == tokens.size() && answers.size() == tokens.size());
  for (size_t t = 0; t < answers.size(); ++t) {
    const float* row = &probabilities[t * classes];
    answers[t] = static_cast<int32_t>(std::max_element(row, row + classes) - row);
  }
}

void write_on(std::span<int32_t> tokens, int given, Run& run, RopeType rope_type, int final_length,
              double temperature, uint32_t draw_seed) {
  const size_t classes = static_cast<size_t>(num_classes(run.config.task));
  assert(run.config.task == Task::kLanguage && given >= 1);
  assert(!invalid_test(run, static_cast<int>(tokens.size()), rope_type));
  for (size_t t = static_cast<size_t>(given); t < tokens.size(); ++t) {
    run.model.forward_one(tokens.first(t), rope_type, final_length);
    float* logits = &run.model.logits[(t - 1) * run.model.classes];
    float* best = std::max_element(logits, logits + classes);
    tokens[t] = static_cast<int32_t>(best - logits);
    if (temperature <= 0) continue;
    // Times the 0 of the best it stays 0, however cold.
    const auto sharpness = static_cast<float>(std::min(std::numbers::log2e / temperature, 1e30));
    const float top = *best;
    for (size_t c = 0; c < classes; ++c) logits[c] = (logits[c] - top) * sharpness;
    softmax(logits, classes, run.model.classes);
    uint64_t state = stream(draw_seed, Purpose::kDrawing, t);
    auto left = static_cast<float>(next_uniform(state));
    for (size_t c = 0; c < classes; ++c) {
      tokens[t] = static_cast<int32_t>(c);
      left -= logits[c];
      if (left <= 0) break;
    }
  }
}

std::span<const float> weight(const Run& run, Weight name, int layer) {
  const Block* block = run.model.layout.find(name, layer);
  return block ? std::span<const float>(run.model.parameters).subspan(block->offset, block->rows * block->cols)
               : std::span<const float>{};
}

int num_parameters(const Run& run) {
  const int padding = static_cast<int>(run.model.classes) - num_classes(run.config.task);
  size_t count = 0;
  for (const Block& block : run.model.layout.all()) count += block.rows * block.cols;
  return static_cast<int>(count) - run.config.d_model * padding;
}

}  // namespace posenc::train
