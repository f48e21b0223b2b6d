// What crosses the boundary to JavaScript and how: typed arrays are copied in and copied out, so that no view
// of WebAssembly memory outlives a call. Only the bindings include this file, and only this file and they know
// Emscripten.
#pragma once

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <span>

#ifdef POSENC_OWN_TYPES
// Embind's own list has 30 types more, and what turns strings of wide characters into JavaScript's.
[[gnu::constructor]] static void register_types() {
  using namespace emscripten::internal;
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", sizeof(bool), true, false);
  _embind_register_integer(TypeID<int>::get(), "int", sizeof(int), INT_MIN, INT_MAX);
  _embind_register_integer(TypeID<unsigned>::get(), "unsigned int", sizeof(unsigned), 0, UINT_MAX);
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_emval(TypeID<emscripten::val>::get(), "val");
  // Numbers: the places in embind.js's list of typed arrays.
  _embind_register_memory_view(TypeID<emscripten::memory_view<uint8_t>>::get(), 1, "bytes");
  _embind_register_memory_view(TypeID<emscripten::memory_view<int32_t>>::get(), 4, "int32s");
  _embind_register_memory_view(TypeID<emscripten::memory_view<uint32_t>>::get(), 5, "uint32s");
  _embind_register_memory_view(TypeID<emscripten::memory_view<float>>::get(), 6, "floats");
  _embind_register_memory_view(TypeID<emscripten::memory_view<double>>::get(), 7, "doubles");
}
// The names of types that nobody has registered, of which there are none.
extern "C" __attribute__((used)) inline char* __getTypeName(emscripten::internal::TYPEID) {
  return static_cast<char*>(std::calloc(1, 1));
}
#else
// Embind prints the names of types that nobody has registered, of which there are none: 2 kB of printf, did it
// call the library's. What it prints is the empty text.
extern "C" __attribute__((used)) inline int siprintf(char* text, const char*, ...) {
  return *text = 0;
}
#endif

namespace posenc {

using emscripten::typed_memory_view;
using emscripten::val;

inline constexpr double kMaxBytes = 0x1p30;  // of the results of one call

// Words and whole numbers, one after the other. There is one at a time: its text stays until the next one
// begins.
class Sentence {
 public:
  Sentence() { size_ = 0; }
  Sentence& operator<<(const char* words) {
    for (; *words; ++words) add(*words);
    return *this;
  }
  Sentence& operator<<(uint64_t number) {
    if (number >= 10) *this << number / 10;
    add(static_cast<char>('0' + number % 10));
    return *this;
  }
  Sentence& operator<<(int number) {
    if (number < 0) *this << "-";
    return *this << static_cast<uint64_t>(std::abs(int64_t{number}));
  }
  Sentence& bytes(double number) {
    const bool huge = number >= 0x1p63;
    return *this << static_cast<uint64_t>(huge ? number / 0x1p30 : number) << (huge ? " GiB" : " bytes");
  }
  const char* text() const { return text_; }

 private:
  static void add(char letter) {
    text_[size_++] = letter;
    text_[size_] = 0;
  }
  static inline char text_[256];
  static inline int size_;
};

// Null, or why a result of that size is not computed.
inline const char* too_large(double bytes) {
  if (!(bytes > kMaxBytes)) return nullptr;
  return (((Sentence() << "the result would take ").bytes(bytes) << "; at most ").bytes(kMaxBytes) << " fit")
      .text();
}

inline val refused_bytes(double bytes) {
  return val(((Sentence() << "the browser refused ").bytes(bytes) << " of memory").text());
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
  val refusal() const { return refused_bytes(bytes_); }

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
