// The tasks' sequences say what the tasks promise.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "check.hpp"
#include "train/tasks.hpp"

using namespace posenc;
using namespace posenc::train;
using namespace test;

namespace {

constexpr Task kTasks[] = {Task::kWhichSide, Task::kLanguage, Task::kEcho, Task::kInduction};

struct Sequence {
  std::vector<int32_t> tokens, targets;
};

Sequence test_of(const RunConfig& config, size_t n, int index) {
  Sequence s{std::vector<int32_t>(n), std::vector<int32_t>(n)};
  test_sequence(s.tokens, s.targets, config, index);
  return s;
}

// Takes one of the words off the front of text, if it begins with one.
bool eat(std::string_view& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return true;
  }
  return false;
}

std::string text_of(const std::vector<int32_t>& tokens) {
  std::string text;
  for (const int32_t token : tokens) text += symbols(Task::kLanguage)[static_cast<size_t>(token)];
  return text;
}

}  // namespace

TEST_CASE("each noun is told on which side of the one verb it stands") {
  const RunConfig config = study_config(Task::kWhichSide);
  std::map<size_t, int> places;
  for (int index = 0; index < 400; ++index) {
    const auto [tokens, targets] = test_of(config, 16, index);
    const auto verb = std::find_if(tokens.begin(), tokens.end(), [](int32_t t) { return t >= 5; });
    REQUIRE(std::count_if(tokens.begin(), tokens.end(), [](int32_t t) { return t >= 5; }) == 1);
    const auto at = static_cast<size_t>(verb - tokens.begin());
    ++places[at];
    for (size_t t = 0; t < tokens.size(); ++t) REQUIRE(targets[t] == (t == at ? kNoTarget : t > at));
  }
  CHECK(places.size() == 16);
}

TEST_CASE("every second test of which side is the mirror of the one before") {
  const RunConfig config = study_config(Task::kWhichSide);
  for (int index = 0; index < 20; index += 2) {
    Sequence even = test_of(config, 33, index);
    const Sequence odd = test_of(config, 33, index + 1);
    std::reverse(even.tokens.begin(), even.tokens.end());
    CHECK(even.tokens == odd.tokens);
  }
}

TEST_CASE("the tiny language is whole sentences seen through a window, and each target is the next character") {
  const RunConfig config = study_config(Task::kLanguage);
  std::set<size_t> starts;
  int adjectives = 0, nouns = 0;
  for (int index = 0; index < 200; ++index) {
    const auto [tokens, targets] = test_of(config, 256, index);
    for (size_t t = 0; t + 1 < tokens.size(); ++t) REQUIRE(targets[t] == tokens[t + 1]);
    const std::string text = text_of(tokens);
    const size_t start = text.find(". ") + 2, end = text.rfind(". ") + 2;
    starts.insert(start);
    std::string_view rest = std::string_view(text).substr(start, end - start);
    while (!rest.empty()) {
      for (const bool subject : {true, false}) {
        adjectives += eat(rest, {"old ", "mad "});
        const bool noun = eat(rest, {"dog", "god", "man", "cat", "rat"});
        REQUIRE(noun);
        const bool next =
            subject ? eat(rest, {" "}) && eat(rest, {"bites ", "saw ", "was ", "eats "}) : eat(rest, {". "});
        REQUIRE(next);
        ++nouns;
      }
    }
  }
  CHECK(starts.size() > 15);  // windows begin anywhere in a sentence
  // 0.3 of the nouns, within four deviations.
  const double share = static_cast<double>(adjectives) / nouns;
  check_near("share of adjectives", share, 0.3, 4 * std::sqrt(0.3 * 0.7 / nouns));
}

TEST_CASE("echo asks for the symbol so many places back") {
  RunConfig config = study_config(Task::kEcho);
  for (const int back : {1, 3, 7}) {
    config.echo_offset = back;
    const auto [tokens, targets] = test_of(config, 64, 0);
    const auto k = static_cast<size_t>(back);
    for (size_t t = 0; t < 64; ++t) REQUIRE(targets[t] == (t < k ? kNoTarget : tokens[t - k]));
  }
}

TEST_CASE("induction asks for what followed the latest occurrence") {
  const auto [tokens, targets] = test_of(study_config(Task::kInduction), 96, 4);
  for (size_t t = 0; t < tokens.size(); ++t) {
    int32_t expected = kNoTarget;
    for (size_t s = 0; s + 1 <= t; ++s) {
      if (tokens[s] == tokens[t]) expected = tokens[s + 1];
    }
    REQUIRE(targets[t] == expected);
  }
}

TEST_CASE("tokens and targets of every task lie within its symbols and classes") {
  for (const Task task : kTasks) {
    const RunConfig config = study_config(task);
    std::set<int32_t> seen;
    for (int index = 0; index < 60; ++index) {
      const auto [tokens, targets] = test_of(config, 50, index);
      seen.insert(tokens.begin(), tokens.end());
      for (const int32_t target : targets)
        REQUIRE((target == kNoTarget || (0 <= target && target < num_classes(task))));
    }
    CHECK(seen.size() == symbols(task).size());
    CHECK(*seen.begin() == 0);
  }
}

TEST_CASE("training data depend on seed and step alone, and are never test data") {
  for (const Task task : kTasks) {
    RunConfig config = study_config(task), other = config;
    other.encoding = Encoding::kRope;
    const auto batch = [](const RunConfig& c, int step) {
      Sequence s{std::vector<int32_t>(512), std::vector<int32_t>(512)};
      training_batch(s.tokens, s.targets, c, step);
      return s.tokens;
    };
    CHECK(batch(config, 3) == batch(other, 3));
    CHECK(batch(config, 3) != batch(config, 4));
    other.seed = 1;
    CHECK(batch(config, 3) != batch(other, 3));
    const std::vector<int32_t> trained = batch(config, 0), tested = test_of(config, 32, 0).tokens;
    CHECK(std::search(trained.begin(), trained.end(), tested.begin(), tested.end()) == trained.end());
  }
}
