// What must hold for any config that `invalid` accepts, one function a part of the core. Each makes a config
// and its inputs from hostile bytes and ends the program where a law is broken.
#pragma once

#include <string_view>

#include "hostile.hpp"

namespace test {

struct Laws {
  std::string_view name;
  void (*hold)(Hostile&);
};
std::span<const Laws> all_laws();

}  // namespace test
