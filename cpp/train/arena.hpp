// One block of memory, given out front to back and never taken back. Over no memory it only counts, so that the
// size of a thing and its layout are one piece of code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace posenc::train {

struct Arena {
  std::byte* memory = nullptr;  // null: count only, and give out spans that must not be read
  size_t used = 0;

  // count values of T, aligned to 16 bytes and not yet set.
  template <class T>
  std::span<T> take(size_t count) {
    const size_t at = used;
    used += (count * sizeof(T) + 15) / 16 * 16;
    return {memory ? reinterpret_cast<T*>(memory + at) : nullptr, count};
  }
};

}  // namespace posenc::train
