// Comparing arrays: one assertion an array, and a failure says everything about its worst entry.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace test {

// An empty string, or the report on the entry that exceeds its allowance by the largest ratio.
// allowance(index) is the largest difference that may be.
template <class Actual, class Expected, class Allowance>
std::string difference_report(const std::string& id, const Actual& actual, const Expected& expected,
                              Allowance allowance) {
  const size_t count = std::size(expected);
  char text[512];
  if (std::size(actual) != count) {
    std::snprintf(text, sizeof text, "case        %s\nexpected    %zu entries\nactual      %zu entries",
                  id.c_str(), count, std::size(actual));
    return text;
  }
  size_t worst = 0, wrong = 0;
  double worst_ratio = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto is = static_cast<double>(actual[i]), should = static_cast<double>(expected[i]);
    const double difference = is == should ? 0 : std::fabs(is - should);  // inf - inf is not a number
    if (difference <= allowance(i)) continue;
    const double ratio = std::isnan(difference) ? HUGE_VAL : difference / allowance(i);
    if (wrong++ == 0 || ratio > worst_ratio) worst = i, worst_ratio = ratio;
  }
  if (wrong == 0) return "";
  const auto is = static_cast<double>(actual[worst]), should = static_cast<double>(expected[worst]);
  std::snprintf(text, sizeof text,
                "case        %s\nindex       %zu of %zu (the worst of %zu wrong)\nexpected    %.17g\n"
                "actual      %.17g\ndifference  %.3g\nallowance   %.3g",
                id.c_str(), worst, count, wrong, should, is, std::fabs(is - should), allowance(worst));
  return text;
}

// Arrays or single numbers; allowance is a number or a function of the index.
template <class Actual, class Expected, class Allowance>
void check_near(const std::string& id, const Actual& actual, const Expected& expected, Allowance allowance) {
  if constexpr (std::is_arithmetic_v<Expected>) {
    check_near(id, std::span(&actual, 1), std::span(&expected, 1), allowance);
  } else if constexpr (std::is_arithmetic_v<Allowance>) {
    check_near(id, actual, expected, [&](size_t) { return static_cast<double>(allowance); });
  } else {
    const std::string report = difference_report(id, actual, expected, allowance);
    if (report.empty()) {
      SUCCEED();
    } else {
      FAIL_CHECK(report);
    }
  }
}

// The difference may be at most rel * |expected|.
template <class Actual, class Expected>
void check_relative(const std::string& id, const Actual& actual, const Expected& expected, double rel) {
  check_near(id, actual, expected, [&](size_t i) { return rel * std::fabs(static_cast<double>(expected[i])); });
}

template <class Actual, class Expected>
void check_equal(const std::string& id, const Actual& actual, const Expected& expected) {
  check_near(id, actual, expected, 0.0);
}

// invalid() must refuse the config with a sentence that names the field.
inline void check_refused(const char* sentence, const std::string& field) {
  INFO("field: " << field << ", sentence: " << (sentence ? sentence : "(accepted)"));
  CHECK((sentence && std::string(sentence).find(field) != std::string::npos));
}

}  // namespace test
