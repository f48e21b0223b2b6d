// Runs: what they share, how they end, and that they learn what the study says they learn.
#include <cstring>
#include <set>

#include "check.hpp"
#include "samples.hpp"
#include "train/model.hpp"
#include "train/train.hpp"

using namespace posenc;
using namespace posenc::train;
using namespace test;

namespace {

struct Started {
  std::vector<std::byte> memory;
  Run* run;
  explicit Started(const RunConfig& config) : memory(run_bytes(config)), run(start_run(memory, config)) {}
};

RunConfig with(Task task, Encoding encoding, int steps, uint32_t seed = 0) {
  RunConfig config = study_config(task);
  config.encoding = encoding;
  config.steps = steps;
  config.seed = seed;
  return config;
}

Metrics finish(Run& run) {
  Metrics m = metrics(run);
  while (!m.finished && !m.diverged) m = step(run);
  return m;
}

struct Means {
  double loss, accuracy;
};
Means test_at(Run& run, int seq_len, RopeType rope_type = RopeType::kDefault, int count = 8) {
  const auto n = static_cast<size_t>(seq_len);
  std::vector<double> loss(n), right(n), asked(n);
  evaluate(loss, right, asked, run, seq_len, rope_type, 0, count);
  double sums[3] = {};
  for (size_t t = 0; t < n; ++t) sums[0] += loss[t], sums[1] += right[t], sums[2] += asked[t];
  return {sums[0] / sums[2], sums[1] / sums[2]};
}

constexpr Encoding kEncodings[] = {Encoding::kNone, Encoding::kSinusoidal, Encoding::kLearned,
                                   Encoding::kRope, Encoding::kAlibi,      Encoding::kT5};

}  // namespace

TEST_CASE("two runs of one config hold the same bits after every step") {
  for (const Encoding encoding : kEncodings) {
    const RunConfig config = with(Task::kEcho, encoding, 6);
    Started a(config), b(config);
    for (int i = 0; i < 6; ++i) {
      step(*a.run);
      if (i == 3) test_at(*b.run, 64);  // looking between steps changes nothing
      step(*b.run);
      for (const Weight name : {Weight::kTokenTable, Weight::kWQkv, Weight::kWClasses}) {
        const auto x = weight(*a.run, name, 0), y = weight(*b.run, name, 0);
        REQUIRE(std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
      }
    }
  }
}

TEST_CASE("runs that differ in the encoding begin with the same weights wherever both have them") {
  Started none(with(Task::kLanguage, Encoding::kNone, 5));
  for (const Encoding encoding : kEncodings) {
    Started other(with(Task::kLanguage, encoding, 5));
    for (const Weight name : {Weight::kTokenTable, Weight::kWQkv, Weight::kWOut, Weight::kWClasses}) {
      const auto x = weight(*none.run, name, 0), y = weight(*other.run, name, 0);
      CHECK(std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
    }
  }
}

TEST_CASE("first values have the deviations that the study used") {
  Started learned(with(Task::kLanguage, Encoding::kLearned, 5));
  const auto deviation = [&](Weight name, size_t rows) {
    const auto x = weight(*learned.run, name, 0).first(rows * 48);
    double squares = 0;
    for (const float v : x) squares += double{v} * double{v};
    return std::sqrt(squares / static_cast<double>(x.size()));
  };
  // Of n values a deviation is known to 1 / sqrt(2 n): four of them are allowed.
  check_near("tokens", deviation(Weight::kTokenTable, 17), 0.5, 0.5 * 4 / std::sqrt(2.0 * 17 * 48));
  check_near("positions", deviation(Weight::kPositionTable, 256), 0.02, 0.02 * 4 / std::sqrt(2.0 * 256 * 48));
  check_near("w_out", deviation(Weight::kWOut, 48), 1 / std::sqrt(48.0),
             1 / std::sqrt(48.0) * 4 / std::sqrt(2.0 * 48 * 48));
  std::set<float> values;
  for (const float v : weight(*learned.run, Weight::kWQkv, 0)) values.insert(v);
  CHECK(values.size() > 48 * 144 * 99 / 100);  // no stream of random numbers is used twice
}

TEST_CASE("the attention of a model is the core's attention") {
  // Weights that look() shows, against posenc::attention in double on the model's own q and k.
  for (const Encoding encoding : {Encoding::kNone, Encoding::kAlibi, Encoding::kT5, Encoding::kRope}) {
    for (const bool causal : {true, false}) {
      RunConfig config = with(Task::kEcho, encoding, 40);
      config.causal = causal;
      Arena counting;
      Model<double> counted(counting, config);
      std::vector<std::byte> memory(counting.used);
      Arena arena{memory.data()};
      Model<double> model(arena, config);
      model.initialise();
      const std::vector<double> noise = normals(model.parameters.size(), 2, 0.1);
      for (size_t i = 0; i < noise.size(); ++i) model.parameters[i] += noise[i];
      const int n = 21;
      std::vector<int32_t> tokens;
      for (int t = 0; t < n; ++t) tokens.push_back(t * 5 % 8);
      std::vector<double> actual(4 * static_cast<size_t>(n * n));
      model.forward_one(tokens, RopeType::kDefault, n, actual);

      const size_t heads = 4, dim = 12, len = 21;
      std::vector<double> q, k, v, bias;
      for (size_t h = 0; h < heads; ++h) {
        for (size_t t = 0; t < len; ++t) {
          const double* row = &model.layers[0].qkv[t * 144 + h * dim];
          q.insert(q.end(), row, row + dim);
          k.insert(k.end(), row + 48, row + 48 + dim);
          v.insert(v.end(), row + 96, row + 96 + dim);
        }
      }
      if (encoding == Encoding::kAlibi) {
        std::vector<double> slopes(heads);
        alibi_slopes(slopes, {.num_heads = 4});
        for (size_t h = 0; h < heads; ++h) {
          for (int r = 1 - n; r < n; ++r) bias.push_back(-slopes[h] * std::abs(r));
        }
      }
      if (encoding == Encoding::kT5) {
        const auto table = model.of(model.parameters, Weight::kT5Table);
        for (size_t h = 0; h < heads; ++h) {
          for (int r = 1 - n; r < n; ++r) {
            const int bucket = t5_relative_position_bucket(r, {16, 16, !causal});
            bias.push_back(kT5BiasGain * table[static_cast<size_t>(bucket) * heads + h]);
          }
        }
      }
      std::vector<double> output(q.size()), weights(heads * len * len), logits(weights.size());
      attention(output, weights, logits, q, k, v, bias, {4, n, 12, 1 / std::sqrt(12.0), causal});
      std::vector<double> mixed;
      for (size_t h = 0; h < heads; ++h) {
        for (size_t t = 0; t < len; ++t) {
          for (size_t c = 0; c < dim; ++c) mixed.push_back(model.layers[0].mixed[t * 48 + h * dim + c]);
        }
      }
      const std::string id =
          "encoding " + std::to_string(static_cast<int>(encoding)) + (causal ? " causal" : "");
      check_near(id + " weights", actual, weights, 1e-14);
      check_near(id + " output", mixed, output, 1e-13);
    }
  }
}

TEST_CASE("one-sided heads see one side each") {
  RunConfig config = with(Task::kWhichSide, Encoding::kAlibi, 5);
  config.one_sided_heads = true;
  Started started(config);
  constexpr size_t kLen = 19;
  std::vector<int32_t> tokens(kLen, 1);
  std::vector<float> weights(4 * kLen * kLen);
  look({}, weights, *started.run, tokens, RopeType::kDefault);
  for (size_t h = 0; h < 4; ++h) {
    for (size_t i = 0; i < kLen; ++i) {
      double sum = 0;
      for (size_t j = 0; j < kLen; ++j) {
        const double w = weights[(h * kLen + i) * kLen + j];
        sum += w;
        if (h % 2 == 0 ? j > i : j < i) REQUIRE(w == 0);
      }
      check_near("sum of a row", sum, 1.0, 1e-6);
    }
  }
}

TEST_CASE("an encoder without positions gives the mirrored sentence the mirrored answer") {
  for (const Encoding encoding : {Encoding::kNone, Encoding::kAlibi}) {
    Started started(with(Task::kWhichSide, encoding, 60));
    finish(*started.run);
    CHECK(test_at(*started.run, 32).accuracy == 0.5);
  }
}

TEST_CASE("test data are scored position by position, and pieces add up to the whole") {
  Started started(with(Task::kEcho, Encoding::kRope, 30));
  finish(*started.run);
  std::vector<double> loss(64), right(64), asked(64), loss2(64), right2(64), asked2(64);
  evaluate(loss, right, asked, *started.run, 64, RopeType::kNtk, 0, 6);
  evaluate(loss2, right2, asked2, *started.run, 64, RopeType::kNtk, 0, 2);
  evaluate(loss2, right2, asked2, *started.run, 64, RopeType::kNtk, 2, 4);
  check_equal("loss", loss2, loss);
  check_equal("right", right2, right);
  for (size_t t = 0; t < 64; ++t) CHECK(asked[t] == (t < 3 ? 0 : 6));
}

TEST_CASE("at the trained length PI and NTK are plain RoPE") {
  Started started(with(Task::kEcho, Encoding::kRope, 30));
  finish(*started.run);
  const double plain = test_at(*started.run, 32).loss;
  CHECK(test_at(*started.run, 32, RopeType::kLinear).loss == plain);
  CHECK(test_at(*started.run, 32, RopeType::kNtk).loss == plain);
  CHECK(test_at(*started.run, 128, RopeType::kLinear).loss != test_at(*started.run, 128).loss);
}

TEST_CASE("the learning rate warms up, stays, and falls to a twentieth") {
  Started started(with(Task::kEcho, Encoding::kNone, 100));
  std::vector<double> rates;
  Metrics m;
  do rates.push_back((m = step(*started.run)).learning_rate);
  while (!m.finished);
  REQUIRE(rates.size() == 100);
  check_near("step 1", rates[0], 0.0004, 1e-15);
  check_near("step 20", rates[19], 0.008, 1e-15);
  check_near("step 50", rates[49], 0.008, 1e-15);
  check_near("step 75", rates[74], 0.0042, 1e-15);
  check_near("step 100", rates[99], 0.0004, 1e-15);
  CHECK(step(*started.run).step == 100);  // finished: no further step
}

TEST_CASE("a run that diverges says so and keeps its last finite metrics") {
  RunConfig config = with(Task::kLanguage, Encoding::kSinusoidal, 400);
  config.learning_rate = 5;
  Started started(config);
  const Metrics m = finish(*started.run);
  CHECK(m.diverged);
  CHECK(!m.finished);
  CHECK(m.step < 100);
  CHECK(std::isfinite(m.loss));
  CHECK(std::isfinite(m.gradient_norm));
  CHECK(m.loss <= kDivergedLoss * std::log(17.0));
  CHECK(step(*started.run).step == m.step);
  CHECK(std::isfinite(test_at(*started.run, 64).loss));
}

TEST_CASE("a text is written on in pieces as in one go") {
  Started started(with(Task::kLanguage, Encoding::kAlibi, 60));
  finish(*started.run);
  std::vector<int32_t> whole(90), pieces(90);
  whole[0] = pieces[0] = 3;
  for (const double temperature : {0.0, 1.0}) {
    write_on(whole, 1, *started.run, RopeType::kDefault, 90, temperature, 7);
    write_on(std::span(pieces).first(31), 1, *started.run, RopeType::kDefault, 90, temperature, 7);
    write_on(pieces, 31, *started.run, RopeType::kDefault, 90, temperature, 7);
    CHECK(whole == pieces);
  }
  std::vector<int32_t> other = whole;
  write_on(other, 1, *started.run, RopeType::kDefault, 90, 1.0, 8);
  CHECK(other != whole);
}

TEST_CASE("draws follow the model's probabilities") {
  Started started(with(Task::kLanguage, Encoding::kNone, 20));
  finish(*started.run);
  std::vector<int32_t> tokens{0, 0};
  std::vector<float> probabilities(17);
  look(probabilities, {}, *started.run, std::span(tokens).first(1), RopeType::kDefault);
  constexpr int kDraws = 4000;
  std::vector<double> shares(17);
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    write_on(tokens, 1, *started.run, RopeType::kDefault, 2, 1.0, draw);
    shares[static_cast<size_t>(tokens[1])] += 1.0 / kDraws;
  }
  check_near("shares", shares, to_doubles(probabilities), [&](size_t c) {
    const double p = probabilities[c];
    return 4 * std::sqrt(p * (1 - p) / kDraws) + 1.0 / kDraws;
  });
}

TEST_CASE("invalid(RunConfig) names the field that is wrong") {
  for (const Task task : {Task::kWhichSide, Task::kLanguage, Task::kEcho, Task::kInduction}) {
    for (const Encoding encoding : kEncodings) CHECK(invalid(with(task, encoding, 100)) == nullptr);
  }
  const auto refuses = [](const std::string& field, auto change) {
    RunConfig config = study_config(Task::kWhichSide);
    change(config);
    check_refused(invalid(config), field);
  };
  constexpr int kMin = std::numeric_limits<int>::min(), kMax = std::numeric_limits<int>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = HUGE_VAL;
  for (const int bad : {kMin, -1, 0, 5, kMax}) refuses("num_layers", [&](RunConfig& c) { c.num_layers = bad; });
  for (const int bad : {kMin, 0, 17, kMax}) refuses("num_heads", [&](RunConfig& c) { c.num_heads = bad; });
  for (const int bad : {kMin, 0, 40, 257, kMax}) refuses("d_model", [&](RunConfig& c) { c.d_model = bad; });
  for (const int bad : {kMin, 7, 257, kMax}) refuses("seq_len", [&](RunConfig& c) { c.seq_len = bad; });
  for (const int bad : {kMin, 31, 2049, kMax})
    refuses("max_seq_len", [&](RunConfig& c) { c.max_seq_len = bad; });
  for (const int bad : {kMin, 0, 257, kMax}) refuses("batch", [&](RunConfig& c) { c.batch = bad; });
  for (const int bad : {kMin, 0, 100001, kMax}) refuses("steps", [&](RunConfig& c) { c.steps = bad; });
  for (const int bad : {kMin, -1, 100001}) refuses("warmup_steps", [&](RunConfig& c) { c.warmup_steps = bad; });
  for (const int bad : {kMin, 0, 32}) refuses("echo_offset", [&](RunConfig& c) { c.echo_offset = bad; });
  for (const double bad : {kNan, -1.0, 0.0, 10.5, kInf}) {
    refuses("learning_rate", [&](RunConfig& c) { c.learning_rate = bad; });
  }
  for (const double bad : {kNan, -0.1, 1.5})
    refuses("weight_decay", [&](RunConfig& c) { c.weight_decay = bad; });
  for (const double bad : {kNan, 0.0, kInf})
    refuses("gradient_clip", [&](RunConfig& c) { c.gradient_clip = bad; });
  for (const double bad : {kNan, 0.0, kInf}) refuses("base", [&](RunConfig& c) { c.base = bad; });
  refuses("causal", [](RunConfig& c) { c.task = Task::kLanguage; });
  refuses("one_sided_heads", [](RunConfig& c) { c.one_sided_heads = true; });
  refuses("num_buckets", [](RunConfig& c) { c.encoding = Encoding::kT5, c.num_buckets = 3; });
  refuses("num_buckets", [](RunConfig& c) { c.encoding = Encoding::kT5, c.num_buckets = kMax; });
  refuses("max_distance", [](RunConfig& c) { c.encoding = Encoding::kT5, c.max_distance = 4; });
  refuses("bytes", [](RunConfig& c) {
    c.num_layers = 4, c.d_model = 256, c.num_heads = 16, c.batch = 256, c.feed_forward = true;
  });
}

TEST_CASE("a test of another length or scaling is refused with the rule") {
  Started none(with(Task::kLanguage, Encoding::kNone, 5)), rope(with(Task::kLanguage, Encoding::kRope, 5));
  CHECK(invalid_test(*none.run, 256, RopeType::kDefault) == nullptr);
  CHECK(invalid_test(*rope.run, 256, RopeType::kNtk) == nullptr);
  for (const int bad : {-1, 0, 257}) check_refused(invalid_test(*none.run, bad, RopeType::kDefault), "seq_len");
  check_refused(invalid_test(*none.run, 64, RopeType::kLinear), "rope_type");
  check_refused(invalid_test(*rope.run, 64, RopeType::kYarn), "rope_type");
  for (const int bad : {-1, 17}) {
    const std::vector<int32_t> tokens{0, bad};
    check_refused(invalid_tokens(*none.run, tokens), "tokens");
  }
}

TEST_CASE("the runs of one comparison fit into 32 MB") {
  for (const Task task : {Task::kWhichSide, Task::kLanguage, Task::kEcho, Task::kInduction}) {
    size_t bytes = 0;
    for (const Encoding encoding : kEncodings) bytes += run_bytes(with(task, encoding, 100));
    bytes += 2 * run_bytes(with(task, Encoding::kAlibi, 100));  // one-sided heads; none with a causal mask
    CHECK(bytes < (size_t{32} << 20));
  }
}

TEST_CASE("positions decide: short runs end as the study's long ones do", "[learning]") {
  // Half the study's steps and one seed; margins are half the study's gaps.
  Started none(with(Task::kEcho, Encoding::kNone, 120)),
      sinusoidal(with(Task::kEcho, Encoding::kSinusoidal, 120)), t5(with(Task::kEcho, Encoding::kT5, 120));
  for (const Started* started : {&none, &sinusoidal, &t5}) finish(*started->run);
  CHECK(test_at(*none.run, 32).accuracy < 0.35);
  CHECK(test_at(*sinusoidal.run, 32).accuracy > 0.95);
  CHECK(test_at(*sinusoidal.run, 128).accuracy < 0.7);
  CHECK(test_at(*t5.run, 256).accuracy > 0.95);
}
