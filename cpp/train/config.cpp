// Which runs there are, and the settings of the study.
#include <algorithm>
#include <cmath>

#include "train.hpp"

namespace posenc::train {

const char* invalid(const RunConfig& c) {
  if (c.num_layers < 1 || c.num_layers > kMaxLayers) return "num_layers must be 1 to 4";
  if (c.num_heads < 1 || c.num_heads > 16) return "num_heads must be 1 to 16";
  if (c.d_model < 8 || c.d_model > 256) return "d_model must be 8 to 256";
  if (c.d_model % (4 * c.num_heads) != 0) return "d_model must be a multiple of 4 * num_heads";
  if (c.seq_len < 8 || c.seq_len > 256) return "seq_len must be 8 to 256";
  if (c.max_seq_len < c.seq_len || c.max_seq_len > 2048) return "max_seq_len must be seq_len to 2048";
  if (c.batch < 1 || c.batch > 256) return "batch must be 1 to 256";
  if (c.batch * c.seq_len > 8192) return "batch * seq_len must be at most 8192";
  if (c.steps < 1 || c.steps > 100000) return "steps must be 1 to 100000";
  if (c.warmup_steps < 0 || c.warmup_steps > 100000) return "warmup_steps must be 0 to 100000";
  if (!(c.learning_rate > 0) || c.learning_rate > 10) return "learning_rate must be above 0 and at most 10";
  if (!(c.weight_decay >= 0) || c.weight_decay > 1) return "weight_decay must be 0 to 1";
  if (!(c.gradient_clip > 0) || !std::isfinite(c.gradient_clip)) {
    return "gradient_clip must be a finite number above 0";
  }
  if (c.echo_offset < 1 || c.echo_offset >= c.seq_len) return "echo_offset must be 1 to seq_len - 1";
  if (const char* text = invalid_base(c.base)) return text;
  if (c.task == Task::kLanguage && !c.causal) {
    return "causal must be true for language: without the mask a character's answer is in sight";
  }
  if (c.one_sided_heads && (c.encoding != Encoding::kAlibi || c.causal || c.num_heads % 2 != 0)) {
    return "one_sided_heads must be false unless encoding is alibi, causal is false and num_heads is even";
  }
  if (c.encoding == Encoding::kT5) {
    if (c.num_buckets > 1024) return "num_buckets must be at most 1024";
    if (const char* text = invalid(T5Config{c.num_buckets, c.max_distance, !c.causal})) return text;
  }
  if (run_bytes(c) > kMaxRunBytes) {
    return "num_layers, d_model, num_heads, batch and max_seq_len must need at most 2^28 bytes together";
  }
  return nullptr;
}

RunConfig study_config(Task task) {
  switch (task) {
    case Task::kWhichSide:
      return {.task = task, .causal = false, .steps = 300};
    case Task::kLanguage:
      return {.task = task, .steps = 400};
    case Task::kEcho:
      return {.task = task, .steps = 250};
    case Task::kInduction:
      return {.task = task, .num_layers = 2, .steps = 600, .learning_rate = 0.005};
  }
  return {};
}

}  // namespace posenc::train
