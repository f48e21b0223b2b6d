// Values that were not meant for a config: a text of bytes becomes numbers, most of them at an edge of their
// range.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace test {

// A law that does not hold ends the program, so that the fuzzer keeps the input.
#define LAW(...)                                                                     \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

// Reads an input from its front; past its end all is 0.
class Hostile {
 public:
  explicit Hostile(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  bool coin() { return (byte() & 1) != 0; }
  template <class Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(byte() % (static_cast<int>(last) + 1));
  }
  // 0..most, and now and then any int.
  int size(int most) {
    const int kind = byte();
    if (kind < 240) return (kind << 8 | byte()) % (most + 1);
    return raw<int>();
  }
  double number() {
    constexpr double kEdges[] = {0,        -0.0,      1,        -1,        2,           0.5,
                                 10000,    0x1p-1000, 0x1p1000, 5e-324,    2e-308,      1.7e308,
                                 -1.7e308, 0x1p53,    -0x1p53,  0x1p31,    1e6,         1e-9,
                                 HUGE_VAL, -HUGE_VAL, NAN,      1 + 1e-16, 1 + 0x1p-52, 1 - 0x1p-53};
    const int kind = byte();
    if (kind < 96) return kEdges[static_cast<size_t>(kind) % std::size(kEdges)];
    if (kind < 160) return kind - 128;
    if (kind < 224) return std::ldexp(1 + byte() / 256.0, (kind - 192) * 34);
    return raw<double>();
  }
  // A number of the kind that a config has, one of them at an edge now and then.
  double number_near(double usual) { return coin() ? usual : number(); }
  std::vector<double> numbers(size_t count) {
    std::vector<double> list(count);
    for (double& x : list) x = number();
    return list;
  }

 private:
  template <class T>
  T raw() {
    uint8_t bytes[sizeof(T)];
    for (uint8_t& b : bytes) b = byte();
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  std::span<const uint8_t> bytes_;
};

}  // namespace test
