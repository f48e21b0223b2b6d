// AdamW against decimals worked by hand, and against the paper's algorithm written out for one weight.
#include "check.hpp"
#include "samples.hpp"
#include "train/adamw.hpp"

using namespace posenc::train;
using namespace test;

namespace {

// What the next update has in common, as a run keeps it.
struct Clock {
  double power1 = 1, power2 = 1;
  AdamStep tick(double rate, double gradient_scale) {
    power1 *= kBeta1;
    power2 *= kBeta2;
    return {rate, power1, power2, gradient_scale};
  }
};

}  // namespace

TEST_CASE("two steps of AdamW are those worked by hand") {
  // b1 = 0.9, b2 = 0.99, rate 0.1, decay 0.5, w = 2, g = 3 and then -1; epsilon adds 5e-10.
  //   t = 1: m = 0.3, v = 0.09; mean 0.3/0.1 = 3, root of 0.09/0.01 = 9 is 3; w = 2 - 0.1 * 0.5 * 2 - 0.1
  //   = 1.8. t = 2: m = 0.27 - 0.1 = 0.17, v = 0.0891 + 0.01 = 0.0991; mean 0.17/0.19 = 0.894736842105,
  //          0.0991/0.0199 = 4.97989949749, its root 2.23156884220, the quotient 0.400945212;
  //          w = 1.8 - 0.09 - 0.0400945212 = 1.6699054788.
  Clock clock;
  std::vector<double> w{2}, m{0}, v{0};
  adamw<double>(w, m, v, std::vector{3.0}, 0.5, clock.tick(0.1, 1));
  check_near("w after 1", w[0], 1.8, 1e-8);
  check_near("m after 1", m[0], 0.3, 1e-15);
  check_near("v after 1", v[0], 0.09, 1e-15);
  adamw<double>(w, m, v, std::vector{-1.0}, 0.5, clock.tick(0.1, 1));
  check_near("m after 2", m[0], 0.17, 1e-15);
  check_near("v after 2", v[0], 0.0991, 1e-15);
  check_near("w after 2", w[0], 1.6699054788, 1e-9);
}

TEST_CASE("the first step moves every weight by the rate against its gradient's sign, whatever its size") {
  Clock clock;
  std::vector<double> w(4, 0.0), m(4), v(4);
  adamw<double>(w, m, v, std::vector{1e-3, -1e-3, 20.0, -7.0}, 0, clock.tick(0.008, 1));
  check_near("w", w, std::vector{-0.008, 0.008, -0.008, 0.008}, 1e-7);
}

TEST_CASE("many steps agree with the sums that AdamW's means stand for") {
  // m_t = (1-b1) sum b1^(t-i) g_i, v_t likewise: no recursion, powers by std::pow.
  constexpr int kSteps = 60;
  const std::vector<double> g = normals(kSteps, 3);
  std::vector<double> w{0.7}, m{0}, v{0};
  double expected = w[0];
  Clock clock;
  for (int t = 1; t <= kSteps; ++t) {
    const double rate = 0.01 / t, clip = t % 3 == 0 ? 0.25 : 1, decay = 0.1;
    double mean = 0, square = 0;
    for (int i = 1; i <= t; ++i) {
      const double gradient = g[static_cast<size_t>(i - 1)] * (i % 3 == 0 ? 0.25 : 1);
      mean += (1 - kBeta1) * std::pow(kBeta1, t - i) * gradient;
      square += (1 - kBeta2) * std::pow(kBeta2, t - i) * gradient * gradient;
    }
    mean /= 1 - std::pow(kBeta1, t);
    square /= 1 - std::pow(kBeta2, t);
    expected = expected - rate * decay * expected - rate * mean / (std::sqrt(square) + kAdamEpsilon);
    adamw<double>(w, m, v, std::span(g).subspan(static_cast<size_t>(t - 1), 1), decay, clock.tick(rate, clip));
    check_near("step " + std::to_string(t), w[0], expected, 1e-13);
  }
}

TEST_CASE("float AdamW stays within rounding of double") {
  constexpr size_t kCount = 37;
  std::vector<double> w = normals(kCount, 1), m(kCount), v(kCount);
  std::vector<float> w32 = to_floats(w), m32(kCount), v32(kCount);
  Clock clock, clock32;
  for (uint32_t t = 0; t < 20; ++t) {
    const std::vector<double> g = normals(kCount, 100 + t);
    adamw<double>(w, m, v, g, 0.01, clock.tick(0.01, 1));
    adamw<float>(w32, m32, v32, to_floats(g), 0.01, clock32.tick(0.01, 1));
  }
  // Each step rounds w, below 4, a few times.
  check_near("w", w32, w, 20 * 4 * 0x1p-23);
}
