// Four tasks, each small enough to learn in seconds and each asking something else of a position: its side, its
// neighbourhood, an exact offset, a place found by content.
//
// Based on: induction: Olsson et al., "In-context learning and induction heads", 2022.
#include "tasks.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "random.hpp"

namespace posenc::train {
namespace {

// Whole words are the tokens of which side; their letters, a space and a stop those of the tiny language.
constexpr const char* kWords[] = {"dog", "god", "man",  "cat", "rat", "bites",
                                  "saw", "was", "eats", "old", "mad"};
constexpr int kNouns = 5, kVerbs = 4, kAdjectives = 2;
constexpr const char* kLetters[] = {"a", "b", "c", "d", "e", "g", "i", "l", "m",
                                    "n", "o", "r", "s", "t", "w", " ", "."};
constexpr const char* kSymbols[] = {"A", "B", "C", "D", "E", "F", "G", "H",
                                    "I", "J", "K", "L", "M", "N", "O", "P"};
constexpr double kAdjectiveShare = 0.3;
// Where a text may begin: within so many characters, nearly three of the longest sentence.
constexpr int kStarts = 64;

// Uniform in 0..count-1.
int pick(uint64_t& state, int count) {
  return static_cast<int>((next_bits(state) >> 32) * static_cast<uint64_t>(count) >> 32);
}

int32_t letter_id(char letter) {
  const auto* found =
      std::find_if(std::begin(kLetters), std::end(kLetters), [&](const char* l) { return l[0] == letter; });
  assert(found != std::end(kLetters));
  return static_cast<int32_t>(found - std::begin(kLetters));
}

void which_side(std::span<int32_t> tokens, std::span<int32_t> targets, uint64_t& state) {
  const int verb = pick(state, static_cast<int>(tokens.size()));
  for (size_t t = 0; t < tokens.size(); ++t) {
    const int at = static_cast<int>(t);
    tokens[t] = at == verb ? kNouns + pick(state, kVerbs) : pick(state, kNouns);
    targets[t] = at == verb ? kNoTarget : at > verb;
  }
}

// Calls emit(letter) for the letters of "[adj ]noun verb [adj ]noun. ".
template <class Emit>
void sentence(uint64_t& state, Emit emit) {
  const auto say = [&](const char* word, char after) {
    for (; *word; ++word) emit(*word);
    emit(after);
  };
  for (const bool subject : {true, false}) {
    if (next_uniform(state) <= kAdjectiveShare) say(kWords[kNouns + kVerbs + pick(state, kAdjectives)], ' ');
    say(kWords[pick(state, kNouns)], subject ? ' ' : '.');
    if (subject) say(kWords[kNouns + pick(state, kVerbs)], ' ');
  }
  emit(' ');
}

void language(std::span<int32_t> tokens, std::span<int32_t> targets, uint64_t& state) {
  const int n = static_cast<int>(tokens.size());
  int at = -pick(state, kStarts);  // of the next letter; the text ends one letter after the last token
  while (at <= n) {
    sentence(state, [&](char letter) {
      const int32_t id = letter_id(letter);
      if (at >= 0 && at < n) tokens[static_cast<size_t>(at)] = id;
      if (at >= 1 && at <= n) targets[static_cast<size_t>(at - 1)] = id;
      ++at;
    });
  }
}

void echo(std::span<int32_t> tokens, std::span<int32_t> targets, uint64_t& state, int offset) {
  const auto back = static_cast<size_t>(offset);
  for (int32_t& token : tokens) token = pick(state, num_classes(Task::kEcho));
  for (size_t t = 0; t < tokens.size(); ++t) targets[t] = t < back ? kNoTarget : tokens[t - back];
}

void induction(std::span<int32_t> tokens, std::span<int32_t> targets, uint64_t& state) {
  int32_t after[std::size(kSymbols)];  // the symbol after the latest occurrence of each
  std::fill(std::begin(after), std::end(after), kNoTarget);
  for (size_t t = 0; t < tokens.size(); ++t) {
    tokens[t] = pick(state, num_classes(Task::kInduction));
    if (t > 0) after[tokens[t - 1]] = tokens[t];
    targets[t] = after[tokens[t]];
  }
}

void sequence(std::span<int32_t> tokens, std::span<int32_t> targets, const RunConfig& config, uint64_t& state) {
  switch (config.task) {
    case Task::kWhichSide:
      return which_side(tokens, targets, state);
    case Task::kLanguage:
      return language(tokens, targets, state);
    case Task::kEcho:
      return echo(tokens, targets, state, config.echo_offset);
    case Task::kInduction:
      return induction(tokens, targets, state);
  }
}

}  // namespace

std::span<const char* const> symbols(Task task) {
  switch (task) {
    case Task::kWhichSide:
      return std::span(kWords).first(kNouns + kVerbs);
    case Task::kLanguage:
      return kLetters;
    case Task::kEcho:
      return std::span(kSymbols).first(8);
    case Task::kInduction:
      return kSymbols;
  }
  return {};
}

std::span<const char* const> language_words() {
  return kWords;
}

int num_classes(Task task) {
  return task == Task::kWhichSide ? 2 : static_cast<int>(symbols(task).size());
}

uint64_t stream(uint32_t seed, Purpose purpose, uint64_t index) {
  return mix(mix(uint64_t{seed} << 32 | static_cast<uint64_t>(purpose)) + index);
}

void training_batch(std::span<int32_t> tokens, std::span<int32_t> targets, const RunConfig& config, int step) {
  uint64_t state = stream(config.seed, Purpose::kTraining, static_cast<uint64_t>(step));
  const auto n = static_cast<size_t>(config.seq_len);
  for (size_t at = 0; at < tokens.size(); at += n) {
    sequence(tokens.subspan(at, n), targets.subspan(at, n), config, state);
  }
}

void test_sequence(std::span<int32_t> tokens, std::span<int32_t> targets, const RunConfig& config, int index) {
  const bool mirrored = config.task == Task::kWhichSide && index % 2 != 0;
  const auto which = static_cast<uint64_t>(mirrored ? index - 1 : index);
  uint64_t state = stream(config.seed, Purpose::kTesting, uint64_t{tokens.size()} << 32 | which);
  sequence(tokens, targets, config, state);
  if (!mirrored) return;
  std::reverse(tokens.begin(), tokens.end());
  std::reverse(targets.begin(), targets.end());
  for (int32_t& target : targets) target = target == kNoTarget ? kNoTarget : 1 - target;
}

}  // namespace posenc::train
