// Steps a second of the echo task as machine code for this processor: what speed.mjs sets beside WebAssembly.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "train/train.hpp"

using namespace posenc::train;

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  RunConfig config = study_config(Task::kEcho);
  config.encoding = posenc::Encoding::kRope;
  config.steps = 100000;
  std::vector<std::byte> memory(run_bytes(config));
  Run& run = *start_run(memory, config);
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) step(run);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  std::printf("%.17g\n", steps / seconds.count());
}
