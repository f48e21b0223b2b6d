// Tiny transformers that differ only in their positional encoding, trained from nothing in seconds.
//
// The whole public API of training. A run is a config, the weights of one model and the state of its optimiser;
// it lives in one block of memory that the caller owns, and no call allocates. The conventions are those of
// posenc.hpp. Two runs of one build with equal configs hold equal bits after every step, and runs that differ
// in the encoding alone share their data and the initial values of all weights they have in common.
//
// The model: tokens (and, for some encodings, positions) are embedded; each layer adds attention(norm(x)) to
// its input x and, with feed_forward, then silu(norm(x) W_up) W_down; a last norm and W_classes give the
// logits.
//   norm   x / sqrt(mean x^2 + kNormEpsilon) * gain, along d_model       Zhang and Sennrich 2019, RMSNorm
//   order  norm before each sublayer, residual around it                 Xiong et al. 2020, pre-LN
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "posenc.hpp"

namespace posenc::train {

// What is learnt. Symbols and classes: see symbols() and num_classes().
//   kWhichSide  one verb among nouns; at each noun: does it stand before (class 0) or after (1) the verb?
//   kLanguage   sentences "[adj ]noun verb [adj ]noun. " from a random place on; at each character: the next
//   kEcho       random symbols; at each: the symbol echo_offset places back
//   kInduction  random symbols; at each that occurred before: the symbol after its latest occurrence
enum class Task { kWhichSide, kLanguage, kEcho, kInduction };

// Seeds, sizes and settings of one run. Defaults are those shared by all tasks of the study.
struct RunConfig {
  Task task = Task::kLanguage;
  Encoding encoding = Encoding::kNone;
  bool causal = true;            // no query sees a later key; must be true for the language
  bool one_sided_heads = false;  // alibi: even heads see no later key, odd heads no earlier one
  bool feed_forward = false;     // hidden width 4 * d_model
  int num_layers = 1;            // 1..kMaxLayers
  int d_model = 48;              // 8..256; head_dim = d_model / num_heads is a multiple of 4
  int num_heads = 4;             // 1..16
  int seq_len = 32;              // trained length, 8..256
  int max_seq_len = 256;         // longest length that is tested, seq_len..2048
  int batch = 16;                // sequences in a step, 1..256; batch * seq_len at most 8192
  int steps = 400;               // of the whole training, 1..100000: the learning rate follows it
  int warmup_steps = 20;         // 0..100000; the rate rises linearly over them
  double learning_rate = 0.008;  // constant to half-way, then linear to a twentieth; above 0, at most 10
  double weight_decay = 0.01;    // of matrices that multiply, 0..1
  double gradient_clip = 1;      // largest norm of the gradient that an update uses, above 0
  int echo_offset = 3;           // echo: 1..seq_len-1
  double base = 10000;           // sinusoidal, rope: 2^-1000..2^1000
  int num_buckets = 16, max_distance = 16;  // t5
  uint32_t seed = 0;
};
const char* invalid(const RunConfig& config);
inline constexpr size_t kMaxRunBytes = size_t{1} << 28;

// The config with which the study ran a task.
RunConfig study_config(Task task);

inline constexpr int kMaxLayers = 4;
inline constexpr double kNormEpsilon = 1e-5;
inline constexpr double kBeta1 = 0.9, kBeta2 = 0.99, kAdamEpsilon = 1e-8;
// T5's bias is this many times its table, which makes its steps as much larger: at gain 1 it learns too slowly
// to be compared.
inline constexpr double kT5BiasGain = 8;
// A run has diverged when its loss exceeds this many times that of a uniform guess, ln(num_classes), or when
// the loss or the gradient's norm is not finite.
inline constexpr double kDivergedLoss = 10;

// Words that stand for the token ids 0, 1, ...; their number is the vocabulary's.
std::span<const char* const> symbols(Task task);
// Words of the tiny language: nouns, verbs, adjectives.
std::span<const char* const> language_words();
int num_classes(Task task);

// Marks a position at which no answer is asked for.
inline constexpr int32_t kNoTarget = -1;

// What training showed at its last finite step.
struct Metrics {
  int step = 0;                   // steps taken
  double loss = 0, accuracy = 0;  // of that step's batch before its update: nats; share of right answers
  double gradient_norm = 0;       // before clipping
  double learning_rate = 0;       // of its update
  bool diverged = false, finished = false;  // no further step is taken once either is true
};

struct Run;

// Bytes of memory that a run needs; the config's fields are within their ranges.
size_t run_bytes(const RunConfig& config);
// Sets a run up in memory that is aligned to 16 bytes and holds run_bytes(config); it lives as long as that.
Run* start_run(std::span<std::byte> memory, const RunConfig& config);
// Takes one step of AdamW on a fresh batch. A step that would make the run diverge is not taken.
Metrics step(Run& run);
Metrics metrics(const Run& run);

// How a test sequence of another length is treated: rope_type default, or, for rope alone, linear (position
// interpolation) or ntk with factor = max(1, seq_len / trained length). Null, or the sentence.
const char* invalid_test(const Run& run, int seq_len, RopeType rope_type);

// Null, or the sentence: each token is an id of the task.
const char* invalid_tokens(const Run& run, std::span<const int32_t> tokens);

// Sums over test sequences `first`.. `first + count - 1` of a length, at each position t: of the losses in
// nats, of right answers, and of answers asked for. All spans (seq_len); they are added to. Test sequences
// depend on seed, task and length alone; none is a training sequence. Which side: sequence 2i+1 is 2i mirrored.
void evaluate(std::span<double> loss, std::span<double> right, std::span<double> asked, Run& run, int seq_len,
              RopeType rope_type, int first, int count);

// One test sequence: tokens, targets, answers (seq_len) and probabilities (seq_len, num_classes). Answers are
// the most probable classes.
void answer(std::span<int32_t> tokens, std::span<int32_t> targets, std::span<int32_t> answers,
            std::span<float> probabilities, Run& run, RopeType rope_type, int index);

// The model's probabilities (seq_len, num_classes) and attention weights (num_layers, num_heads, seq_len,
// seq_len) for any tokens (seq_len), each an id of the task. Either result may be empty.
void look(std::span<float> probabilities, std::span<float> weights, Run& run, std::span<const int32_t> tokens,
          RopeType rope_type);

// Writes on: tokens[given..] are drawn one by one from the model's probabilities, sharpened by temperature (0:
// the most probable). given >= 1; tokens.size() <= max_seq_len. Only for the tiny language. Draws depend on
// draw_seed and the position, so that a text may be written in pieces; rope_type scales for final_length.
void write_on(std::span<int32_t> tokens, int given, Run& run, RopeType rope_type, int final_length,
              double temperature, uint32_t draw_seed);

// The weights of a run, one block each. Shapes, V = symbols, C = num_classes rounded up to 4 (the rest is 0):
//   kTokenTable (V, d)  kGain (d)  kWQkv (d, 3d)  kBQkv (3d)  kWOut (d, d)  kFeedGain (d)  kWUp (d, 4d)
//   kWDown (4d, d)  kLastGain (d)  kWClasses (d, C)  kPositionTable (max_seq_len, d)
//   kT5Table (num_buckets, heads)
enum class Weight {
  kTokenTable,
  kGain,
  kWQkv,
  kBQkv,
  kWOut,
  kFeedGain,
  kWUp,
  kWDown,
  kLastGain,
  kWClasses,
  kPositionTable,
  kT5Table
};
// A view into the run; empty if the model has no such block. layer counts from 0; it is 0 for what belongs to
// none.
std::span<const float> weight(const Run& run, Weight name, int layer);
int num_parameters(const Run& run);

}  // namespace posenc::train
