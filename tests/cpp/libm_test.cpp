#include <cstddef>
#include <cstdint>

#include "check.hpp"

extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): musl's names.
extern const unsigned char __exp_data[], __log_data[], __pow_log_data[];
}

namespace {

// FNV-1a.
uint64_t hash_of(const unsigned char* bytes, size_t size) {
  uint64_t hash = 0xCBF29CE484222325;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3;
  return hash;
}

}  // namespace

// The sizes and hashes are those of musl 1.2.2's exp_data.c, log_data.c and pow_data.c, compiled.
TEST_CASE("the computed tables of exp, log and pow are musl's, bit for bit") {
  CHECK(hash_of(__exp_data, 2160) == 0x932A18475D53459B);
  CHECK(hash_of(__log_data, 4240) == 0x0B5A6A2A36BB3D50);
  CHECK(hash_of(__pow_log_data, 4168) == 0x31809F1D629F1D79);
}
