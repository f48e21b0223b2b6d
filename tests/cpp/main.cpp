// Catch2's own code and main(), compiled once.
#define CATCH_CONFIG_MAIN
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12, sanitizers and <regex>: gcc bug 105616
#endif
#include <catch2/catch.hpp>
