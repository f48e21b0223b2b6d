// What crosses the boundary to JavaScript and how: typed arrays are copied in and copied out, so that no view
// of WebAssembly memory outlives a call. Only the bindings include this file, and only this file and they know
// Emscripten.
#pragma once

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

// Embind prints the names of types that nobody has registered, of which there are none: 2 kB of printf, did it
// call the library's. What it prints is the empty text.
extern "C" __attribute__((used)) inline int siprintf(char* text, const char*, ...) {
  return *text = 0;
}

namespace posenc {

using emscripten::typed_memory_view;
using emscripten::val;

inline constexpr double kMaxBytes = 0x1p30;  // of the results of one call

inline val sentence(const std::string& text) {
  return val(text);
}

// A count of bytes in words.
inline std::string bytes_of(double number) {
  const bool huge = number >= 0x1p63;
  return std::to_string(static_cast<uint64_t>(huge ? number / 0x1p30 : number)) + (huge ? " GiB" : " bytes");
}

// Empty, or why a result of that size is not computed.
inline std::string too_large(double bytes) {
  if (!(bytes > kMaxBytes)) return "";
  return "the result would take " + bytes_of(bytes) + "; at most " + bytes_of(kMaxBytes) + " fit";
}

// The buffers of one call, freed at its end. A refused buffer is an empty span; `refused()` says so for all.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (int i = 0; i < count_; ++i) std::free(blocks_[i]);
  }

  template <class T>
  std::span<T> take(double size) {
    bytes_ += size * sizeof(T);
    const bool fits = size >= 0 && bytes_ <= 0x1p32;
    const size_t n = fits ? static_cast<size_t>(size) : 0;
    void* block = fits ? std::calloc(n + 1, sizeof(T)) : nullptr;
    if (!block) {
      refused_ = true;
      return {};
    }
    blocks_[count_++] = block;
    return {static_cast<T*>(block), n};
  }

  // A copy of a typed array of T.
  template <class T>
  std::span<T> copy(const val& array) {
    const std::span<T> taken = take<T>(array["length"].as<double>());
    if (!taken.empty()) val(typed_memory_view(taken.size(), taken.data())).call<void>("set", array);
    return taken;
  }

  bool refused() const { return refused_; }
  val refusal() const { return sentence("the browser refused " + bytes_of(bytes_) + " of memory"); }

 private:
  static constexpr int kMaxBlocks = 24;
  void* blocks_[kMaxBlocks] = {};
  int count_ = 0;
  double bytes_ = 0;
  bool refused_ = false;
};

template <class T>
val copy_as(const char* type, std::span<const T> data) {
  return val::global(type).new_(typed_memory_view(data.size(), data.data()));
}
inline val copy_out(std::span<const float> data) {
  return copy_as("Float32Array", data);
}
inline val copy_out(std::span<const double> data) {
  return copy_as("Float64Array", data);
}
inline val copy_out(std::span<const int32_t> data) {
  return copy_as("Int32Array", data);
}
inline val copy_out(std::span<const uint32_t> data) {
  return copy_as("Uint32Array", data);
}

}  // namespace posenc
