// The bits behind the seeded numbers.
#include "random.hpp"

#include "check.hpp"

TEST_CASE("the bits are SplitMix64's") {
  // The first five from seed 1234567, as Rosetta Code lists them.
  uint64_t state = 1234567;
  for (const uint64_t bits : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                              4593380528125082431u, 16408922859458223821u})
    CHECK(posenc::next_bits(state) == bits);
}

TEST_CASE("uniform numbers lie above 0 and reach 1, as a logarithm wants them") {
  uint64_t state = 1;
  double least = 1, most = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = posenc::next_uniform(state);
    least = std::min(least, x);
    most = std::max(most, x);
  }
  CHECK(least > 0);
  CHECK(least < 0.001);
  CHECK(most > 0.999);
  CHECK(most <= 1);
}
