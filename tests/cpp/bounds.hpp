// A bound that only the tests need; those of the functions stand in posenc.hpp.
#pragma once

namespace test {

// A double rounded to float, relative.
inline constexpr double kToFloat = 0x1p-24;

}  // namespace test
