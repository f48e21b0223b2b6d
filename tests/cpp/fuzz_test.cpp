// The inputs that fuzzing has kept: they reach what others do not, or once broke a law.
#include <fstream>

#include "../fuzz/laws.hpp"
#include "check.hpp"

TEST_CASE("no law breaks under the inputs that fuzzing has kept") {
  std::ifstream file(POSENC_SEEDS);
  std::string name, hex;
  size_t count = 0;
  while (file >> name >> hex) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < hex.size(); i += 2)
      bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    for (const test::Laws& laws : test::all_laws()) {
      if (laws.name != name) continue;
      test::Hostile from(bytes);
      laws.hold(from);
      ++count;
    }
  }
  CHECK(count >= 12 * test::all_laws().size());
}
