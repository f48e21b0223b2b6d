// The way back, written by hand, against differences of the loss itself.
#include <memory>

#include "check.hpp"
#include "samples.hpp"
#include "train/model.hpp"
#include "train/tasks.hpp"

using namespace posenc;
using namespace posenc::train;
using namespace test;

namespace {

constexpr double kGradientError = 1e-6;  // relative, of one array of weights

// A model in double with every weight away from its special first value, and one batch.
struct Checked {
  std::vector<std::byte> memory;
  std::unique_ptr<Model<double>> model;
  std::vector<int32_t> tokens, targets;

  explicit Checked(const RunConfig& config) {
    Arena counting;
    Model<double>(counting, config);
    memory.resize(counting.used);
    Arena arena{memory.data()};
    model = std::make_unique<Model<double>>(arena, config);
    model->initialise();
    const std::vector<double> noise = normals(model->parameters.size(), 11, 0.2);
    for (const Block& block : model->layout.all()) {
      const size_t used =
          block.name == Weight::kWClasses ? static_cast<size_t>(num_classes(config.task)) : block.cols;
      for (size_t i = 0; i < block.rows * block.cols; ++i) {
        if (i % block.cols < used) model->parameters[block.offset + i] += noise[block.offset + i];
      }
    }
    tokens.resize(static_cast<size_t>(config.batch * config.seq_len));
    targets.resize(tokens.size());
    training_batch(tokens, targets, config, 0);
  }

  double loss() {
    model->forward(tokens);
    const Score score = model->score(targets);
    return score.loss / score.asked;
  }
};

double length(const std::vector<double>& x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  return std::sqrt(squares);
}

// Each array: |backward - difference| / |difference|, the difference being the fourth-order central one.
void check_gradients(const std::string& id, const RunConfig& config) {
  REQUIRE(invalid(config) == nullptr);
  Checked checked(config);
  Model<double>& model = *checked.model;
  checked.loss();
  model.backward(checked.tokens, checked.targets);
  const std::vector<double> gradients(model.gradients.begin(), model.gradients.end());
  for (const Block& block : model.layout.all()) {
    std::vector<double> difference, actual;
    for (size_t i = block.offset; i < block.offset + block.rows * block.cols; ++i) {
      double& weight = model.parameters[i];
      const double kept = weight, h = 1e-3;
      const auto at = [&](double shift) {
        weight = kept + shift;
        return checked.loss();
      };
      const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      weight = kept;
      difference.push_back(slope);
      actual.push_back(gradients[i]);
    }
    std::vector<double> error;
    for (size_t i = 0; i < actual.size(); ++i) error.push_back(actual[i] - difference[i]);
    INFO(id << ", weight " << static_cast<int>(block.name) << ", layer " << block.layer);
    CHECK(length(difference) > 1e-6);
    CHECK(length(error) / length(difference) < kGradientError);
  }
}

RunConfig small(Task task, Encoding encoding, bool causal) {
  return {.task = task,
          .encoding = encoding,
          .causal = causal,
          .d_model = 8,
          .num_heads = 2,
          .seq_len = 11,
          .max_seq_len = 11,
          .batch = 2,
          .num_buckets = 8,
          .max_distance = 6,
          .seed = 5};
}

constexpr Encoding kEncodings[] = {Encoding::kNone, Encoding::kSinusoidal, Encoding::kLearned,
                                   Encoding::kRope, Encoding::kAlibi,      Encoding::kT5};
constexpr Task kTasks[] = {Task::kWhichSide, Task::kLanguage, Task::kEcho, Task::kInduction};

}  // namespace

TEST_CASE(
    "the gradient of every weight is the slope of the loss, for every encoding, with a mask and without") {
  for (const Encoding encoding : kEncodings) {
    for (const bool causal : {true, false}) {
      const Task task = causal ? Task::kLanguage : Task::kWhichSide;
      check_gradients("encoding " + std::to_string(static_cast<int>(encoding)) + (causal ? ", causal" : ""),
                      small(task, encoding, causal));
    }
  }
}

TEST_CASE("one-sided heads have the slope of the loss too") {
  RunConfig config = small(Task::kWhichSide, Encoding::kAlibi, false);
  config.one_sided_heads = true;
  check_gradients("one-sided", config);
}

TEST_CASE("two layers and feed-forward sublayers have the slope of the loss too") {
  for (const Encoding encoding : {Encoding::kRope, Encoding::kT5}) {
    for (const bool feed_forward : {false, true}) {
      RunConfig config = small(Task::kInduction, encoding, true);
      config.num_layers = 2;
      config.feed_forward = feed_forward;
      check_gradients(feed_forward ? "feed-forward" : "two layers", config);
    }
  }
}

TEST_CASE("heads whose width is no multiple of the tile's have the slope of the loss too") {
  RunConfig config = small(Task::kEcho, Encoding::kRope, true);
  config.d_model = 24;
  config.batch = 1;
  check_gradients("head_dim 12", config);
}

TEST_CASE("every task has the slope of its loss") {
  for (const Task task : kTasks) {
    check_gradients("task " + std::to_string(static_cast<int>(task)), small(task, Encoding::kLearned, true));
  }
}
