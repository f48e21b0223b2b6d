// Training for JavaScript: a module of its own, loaded only when asked for.
//
// The one place with handles: a run has state. startRun gives a number that stands for it, freeRun ends it;
// web/train.ts keeps the number to itself and never uses it afterwards. Results and sentences are as in
// bindings.cpp.
#include "boundary.hpp"
#include "train/train.hpp"

namespace posenc::train {
namespace {

using Handle = uint32_t;

Run& run_of(Handle handle) {
  return *reinterpret_cast<Run*>(uintptr_t{handle});  // NOLINT(performance-no-int-to-ptr): an address
}

val words(std::span<const char* const> list) {
  val result = val::array();
  for (const char* word : list) result.call<void>("push", val(word));
  return result;
}
val symbols_js(Task task) {
  return words(symbols(task));
}
val language_words_js() {
  return words(language_words());
}

val run_bytes_js(const RunConfig& config) {
  if (const char* text = invalid(config)) return val(text);
  return val(static_cast<double>(run_bytes(config)));
}

val start_run_js(const RunConfig& config) {
  if (const char* text = invalid(config)) return val(text);
  const size_t bytes = (run_bytes(config) + 15) / 16 * 16;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(16, bytes));
  if (!memory) return refused_bytes(static_cast<double>(bytes));
  return val(static_cast<Handle>(reinterpret_cast<uintptr_t>(start_run({memory, bytes}, config))));
}

void free_run_js(Handle handle) {
  std::free(&run_of(handle));  // a run stands at the front of its memory
}

// All the memory of this module, which grows and never shrinks; what ended runs had is used again.
double memory_bytes_js() {
  return static_cast<double>(__builtin_wasm_memory_size(0)) * 65536;
}

Metrics step_js(Handle handle) {
  return step(run_of(handle));
}
Metrics metrics_js(Handle handle) {
  return metrics(run_of(handle));
}
int num_parameters_js(Handle handle) {
  return num_parameters(run_of(handle));
}

val evaluate_js(Handle handle, int seq_len, RopeType rope_type, int first, int count) {
  Run& run = run_of(handle);
  if (const char* text = invalid_test(run, seq_len, rope_type)) return val(text);
  Memory memory;
  const auto loss = memory.take<double>(seq_len), right = memory.take<double>(seq_len),
             asked = memory.take<double>(seq_len);
  if (memory.refused()) return memory.refusal();
  evaluate(loss, right, asked, run, seq_len, rope_type, first, count);
  val result = val::object();
  result.set("loss", copy_out(loss));
  result.set("right", copy_out(right));
  result.set("asked", copy_out(asked));
  return result;
}

val answer_js(Handle handle, Task task, int seq_len, RopeType rope_type, int index) {
  Run& run = run_of(handle);
  if (const char* text = invalid_test(run, seq_len, rope_type)) return val(text);
  Memory memory;
  const auto tokens = memory.take<int32_t>(seq_len), targets = memory.take<int32_t>(seq_len),
             answers = memory.take<int32_t>(seq_len);
  const auto probabilities = memory.take<float>(static_cast<double>(seq_len) * num_classes(task));
  if (memory.refused()) return memory.refusal();
  answer(tokens, targets, answers, probabilities, run, rope_type, index);
  val result = val::object();
  result.set("tokens", copy_out(tokens));
  result.set("targets", copy_out(targets));
  result.set("answers", copy_out(answers));
  result.set("probabilities", copy_out(probabilities));
  return result;
}

val look_js(Handle handle, const RunConfig& config, const val& tokens_js, RopeType rope_type) {
  Run& run = run_of(handle);
  Memory memory;
  const auto tokens = memory.copy<int32_t>(tokens_js);
  if (memory.refused()) return memory.refusal();
  if (const char* text = invalid_tokens(run, tokens)) return val(text);
  if (const char* text = invalid_test(run, static_cast<int>(tokens.size()), rope_type)) return val(text);
  const auto n = static_cast<double>(tokens.size());
  const auto probabilities = memory.take<float>(n * num_classes(config.task));
  const auto weights = memory.take<float>(n * n * config.num_heads * config.num_layers);
  if (memory.refused()) return memory.refusal();
  look(probabilities, weights, run, tokens, rope_type);
  val result = val::object();
  result.set("probabilities", copy_out(probabilities));
  result.set("weights", copy_out(weights));
  return result;
}

val write_on_js(Handle handle, const val& tokens_js, int count, RopeType rope_type, int final_length,
                double temperature, double draw_seed) {
  Run& run = run_of(handle);
  Memory memory;
  const auto given = memory.copy<int32_t>(tokens_js);
  if (memory.refused()) return memory.refusal();
  if (const char* text = invalid_tokens(run, given)) return val(text);
  const auto length = static_cast<double>(given.size()) + count;
  if (length > final_length) return val("final_length must be at least the number of tokens and count");
  if (const char* text = invalid_test(run, final_length, rope_type)) return val(text);
  const auto tokens = memory.take<int32_t>(length);
  if (memory.refused()) return memory.refusal();
  std::copy(given.begin(), given.end(), tokens.begin());
  write_on(tokens, static_cast<int>(given.size()), run, rope_type, final_length, temperature,
           static_cast<uint32_t>(draw_seed));
  return copy_out(tokens);
}

val weight_js(Handle handle, Weight name, int layer) {
  return copy_out(weight(run_of(handle), name, layer));
}

}  // namespace

EMSCRIPTEN_BINDINGS(posenc_train) {
  using emscripten::enum_;
  using emscripten::function;
  using emscripten::value_object;

  enum_<Task>("Task")
      .value("which-side", Task::kWhichSide)
      .value("language", Task::kLanguage)
      .value("echo", Task::kEcho)
      .value("induction", Task::kInduction);
  enum_<Encoding>("Encoding")
      .value("none", Encoding::kNone)
      .value("sinusoidal", Encoding::kSinusoidal)
      .value("learned", Encoding::kLearned)
      .value("rope", Encoding::kRope)
      .value("alibi", Encoding::kAlibi)
      .value("t5", Encoding::kT5);
  enum_<RopeType>("RopeType")
      .value("default", RopeType::kDefault)
      .value("linear", RopeType::kLinear)
      .value("ntk", RopeType::kNtk);
  enum_<Weight>("Weight")
      .value("tokenTable", Weight::kTokenTable)
      .value("gain", Weight::kGain)
      .value("wQkv", Weight::kWQkv)
      .value("bQkv", Weight::kBQkv)
      .value("wOut", Weight::kWOut)
      .value("feedGain", Weight::kFeedGain)
      .value("wUp", Weight::kWUp)
      .value("wDown", Weight::kWDown)
      .value("lastGain", Weight::kLastGain)
      .value("wClasses", Weight::kWClasses)
      .value("positionTable", Weight::kPositionTable)
      .value("t5Table", Weight::kT5Table);

  value_object<RunConfig>("RunConfig")
      .field("task", &RunConfig::task)
      .field("encoding", &RunConfig::encoding)
      .field("causal", &RunConfig::causal)
      .field("oneSidedHeads", &RunConfig::one_sided_heads)
      .field("feedForward", &RunConfig::feed_forward)
      .field("numLayers", &RunConfig::num_layers)
      .field("dModel", &RunConfig::d_model)
      .field("numHeads", &RunConfig::num_heads)
      .field("seqLen", &RunConfig::seq_len)
      .field("maxSeqLen", &RunConfig::max_seq_len)
      .field("batch", &RunConfig::batch)
      .field("steps", &RunConfig::steps)
      .field("warmupSteps", &RunConfig::warmup_steps)
      .field("learningRate", &RunConfig::learning_rate)
      .field("weightDecay", &RunConfig::weight_decay)
      .field("gradientClip", &RunConfig::gradient_clip)
      .field("echoOffset", &RunConfig::echo_offset)
      .field("base", &RunConfig::base)
      .field("numBuckets", &RunConfig::num_buckets)
      .field("maxDistance", &RunConfig::max_distance)
      .field("seed", &RunConfig::seed);
  value_object<Metrics>("Metrics")
      .field("step", &Metrics::step)
      .field("loss", &Metrics::loss)
      .field("accuracy", &Metrics::accuracy)
      .field("gradientNorm", &Metrics::gradient_norm)
      .field("learningRate", &Metrics::learning_rate)
      .field("diverged", &Metrics::diverged)
      .field("finished", &Metrics::finished);

  function("studyConfig", &study_config);
  function("symbols", &symbols_js);
  function("languageWords", &language_words_js);
  function("numClasses", &num_classes);
  function("runBytes", &run_bytes_js);
  function("startRun", &start_run_js);
  function("freeRun", &free_run_js);
  function("memoryBytes", &memory_bytes_js);
  function("step", &step_js);
  function("metrics", &metrics_js);
  function("numParameters", &num_parameters_js);
  function("evaluate", &evaluate_js);
  function("answer", &answer_js);
  function("look", &look_js);
  function("writeOn", &write_on_js);
  function("weight", &weight_js);
}

}  // namespace posenc::train
