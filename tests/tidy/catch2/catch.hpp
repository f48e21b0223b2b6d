// Catch2's words for clang-tidy alone, which would read the 18 000 lines of the real header for each test file.
#pragma once

#include <sstream>
#include <string>

namespace catch_words {

inline std::ostringstream notes;
void hold(bool condition);

}  // namespace catch_words

struct Approx {
  explicit Approx(double value);
  Approx& margin(double allowance);
  Approx& epsilon(double allowance);
};
bool operator==(double value, const Approx& about);

#define POSENC_JOIN(a, b) a##b
#define POSENC_TEST(name) static void name()
#define POSENC_TEST_OF_LINE(line) POSENC_TEST(POSENC_JOIN(test_of_line_, line))
#define TEST_CASE(...) [[maybe_unused]] POSENC_TEST_OF_LINE(__LINE__)
#define CHECK(...) catch_words::hold(static_cast<bool>(__VA_ARGS__))
#define REQUIRE(...) catch_words::hold(static_cast<bool>(__VA_ARGS__))
#define INFO(...) catch_words::notes << __VA_ARGS__
#define FAIL_CHECK(...) catch_words::notes << (__VA_ARGS__)
#define SUCCEED() catch_words::hold(true)
