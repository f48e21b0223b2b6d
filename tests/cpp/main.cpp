// Catch2's own code and main(), compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
