// libFuzzer's way in: POSENC_LAWS names the laws that it tries to break.
#include <algorithm>

#include "laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::Laws laws = [] {
    const char* name = std::getenv("POSENC_LAWS");
    const auto all = test::all_laws();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](auto& one) { return name && one.name == name; });
    if (found == all.end()) std::exit(2);
    return *found;
  }();
  test::Hostile from({data, size});
  laws.hold(from);
  return 0;
}
