// Where configs end: the last that is taken, the first that is refused, and values that fuzzing found beyond.
#include <cstddef>

#include "check.hpp"
#include "posenc.hpp"
#include "train/train.hpp"

using namespace posenc;

TEST_CASE("a base whose frequencies no double holds is refused, the last that does is taken") {
  for (const double good : {0x1p-1000, 0x1p1000}) {
    CHECK(invalid(SinusoidalConfig{.seq_len = 1, .d_model = 4, .base = good}) == nullptr);
    CHECK(invalid(LayerConfig{.seq_len = 1, .d_model = 4, .base = good}) == nullptr);
    CHECK(invalid(TileConfig{.dims = 4, .base = good}) == nullptr);
    CHECK(train::invalid(train::RunConfig{.base = good}) == nullptr);
  }
  for (const double bad : {5e-324, 0x1p-1001, 0x1.8p1000, 0.0, -1.0, HUGE_VAL, std::nan("")}) {
    test::check_refused(invalid(SinusoidalConfig{.seq_len = 1, .d_model = 4, .base = bad}), "base");
    test::check_refused(invalid(LayerConfig{.seq_len = 1, .d_model = 4, .base = bad}), "base");
    test::check_refused(invalid(TileConfig{.dims = 4, .base = bad}), "base");
    test::check_refused(train::invalid(train::RunConfig{.base = bad}), "base");
  }
}

TEST_CASE("a single row is that of its position, whatever the step after it") {
  const auto row = [](double step) {
    const SinusoidalConfig config{.seq_len = 1, .d_model = 6, .first_position = -31, .position_step = step};
    REQUIRE(invalid(config) == nullptr);
    std::vector<float> table(6);
    std::vector<double> scratch(static_cast<size_t>(sinusoidal_scratch(config)));
    sinusoidal_table(table, scratch, config);
    return table;
  };
  const std::vector<float> expected{std::sin(-31.0f), std::cos(-31.0f)};
  for (const double step : {1.0, 0.0, 9e15, -0x1p54, 1e300}) {
    const std::vector<float> table = row(step);
    test::check_near("step " + std::to_string(step), std::span(table).first(2), expected,
                     kTableError + 0x1p-23);
  }
}

TEST_CASE("LongRoPE's divisors do not hide frequencies that no double holds") {
  const std::vector<double> divisors(9, 1e301);
  RopeConfig config{.head_dim = 64,
                    .rotary_dim = 18,
                    .rope_theta = 0x1p-875,
                    .rope_type = RopeType::kLongrope,
                    .original_max_position_embeddings = 4096,
                    .frequency_dim = 14,
                    .short_factor = divisors,
                    .long_factor = divisors};
  CHECK(invalid(config) == nullptr);  // the last pair's frequency is 2^(875 * 16 / 14) before it is divided
  config.rope_theta = 0x1.84p-876;
  test::check_refused(invalid(config), "rope_theta");
}

TEST_CASE("NTK is refused where its raised base leaves no frequency, and where a narrow frequency_dim does") {
  RopeConfig config{.head_dim = 128, .rotary_dim = 128, .rope_type = RopeType::kNtk, .factor = 64};
  CHECK(invalid(config) == nullptr);
  config.frequency_dim = 3;  // the base is multiplied by 64^3, and raised to 126/3 in the last pair
  test::check_refused(invalid(config), "factor");
  config.rope_type = RopeType::kDynamic;
  config.original_max_position_embeddings = 4096;
  test::check_refused(invalid(config, 1e6), "rope_theta");
  config = {.head_dim = 4, .rotary_dim = 4, .rope_type = RopeType::kNtk, .factor = 0x1p900};  // 2^1800 and more
  test::check_refused(invalid(config), "factor");
  config.rope_type = RopeType::kDynamic;
  config.factor = 4;
  config.original_max_position_embeddings = 4096;
  test::check_refused(invalid(config, std::nan("")), "rope_theta");
}

TEST_CASE("YaRN slows every pair whose bound lies beyond all numbers") {
  const RopeConfig config{.head_dim = 8,
                          .rotary_dim = 8,
                          .rope_type = RopeType::kYarn,
                          .factor = 4,
                          .original_max_position_embeddings = 1e308,
                          .beta_fast = 1e-10,
                          .beta_slow = 1e-11};
  REQUIRE(invalid(config) == nullptr);
  double inv_freq[4];
  rope_inv_freq(inv_freq, config, 0);
  for (int i = 0; i < 4; ++i) CHECK(std::fabs(inv_freq[i] * 4 / std::pow(10, -i) - 1) < kRopeInvFreqError);
}

TEST_CASE("where YaRN's bounds meet, the ramp is a step, as in the reference") {
  // transformers, linear_ramp_factor: max += 0.001. Six positions are less than a turn of the fastest pair.
  const RopeConfig config{.head_dim = 8,
                          .rotary_dim = 8,
                          .rope_type = RopeType::kYarn,
                          .factor = 4,
                          .original_max_position_embeddings = 6};
  double inv_freq[4];
  rope_inv_freq(inv_freq, config, 0);
  for (int i = 0; i < 4; ++i)
    CHECK(std::fabs(inv_freq[i] * (i == 0 ? 1 : 4) / std::pow(10, -i) - 1) < kRopeInvFreqError);
}

TEST_CASE("pixels of a range that no float holds have a colour of the table, in every lane") {
  const TileConfig config{.dims = 2};
  const TileView view{.width = 7, .height = 2};
  std::vector<double> plan(static_cast<size_t>(tile_plan_size(config)));
  std::vector<double> scratch(static_cast<size_t>(tile_scratch(config)));
  tile_plan(plan, config);
  std::vector<uint32_t> lut(kLutSize, 5), pixels(14);
  std::vector<float> row(7);
  for (const auto& [vmin, vmax] : {std::pair{0.0, 1e-305}, std::pair{-1e300, 1e300}}) {
    const TileColors colors{lut, vmin, vmax};
    REQUIRE(invalid(colors) == nullptr);
    tile_pixels(pixels, row, scratch, plan, colors, config, view);
    test::check_equal("pixels", pixels, std::vector<uint32_t>(14, 5));
  }
}

TEST_CASE("pixels beyond both ends of the colours have the colour at the end, in every lane") {
  const TileConfig config{.dims = 2};
  const TileView view{.width = 7, .height = 2};
  std::vector<double> plan(static_cast<size_t>(tile_plan_size(config)));
  std::vector<double> scratch(static_cast<size_t>(tile_scratch(config)));
  tile_plan(plan, config);
  std::vector<uint32_t> lut(kLutSize), pixels(14);
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = static_cast<uint32_t>(i);
  std::vector<float> row(7);
  tile_pixels(pixels, row, scratch, plan, {lut, 2, 3}, config, view);
  test::check_equal("below", pixels, std::vector<uint32_t>(14, 0));
  tile_pixels(pixels, row, scratch, plan, {lut, -3, -2}, config, view);
  test::check_equal("above", pixels, std::vector<uint32_t>(14, 255));
}

TEST_CASE("a pixel as large as a cell shows one cell, wherever it begins") {
  std::vector<uint32_t> lut(kLutSize), pixels(2);
  for (size_t i = 0; i < lut.size(); ++i) lut[i] = static_cast<uint32_t>(i);
  std::vector<double> scratch(3);
  const std::vector<float> values{-1, 1, -1};
  const ColormapConfig config{
      .rows = 1, .cols = 3, .width = 2, .height = 1, .first_col = 0.25, .num_rows = 1, .num_cols = 2};
  colormap(pixels, scratch, values, lut, config);
  test::check_equal("pixels", pixels, std::vector<uint32_t>{0, 255});
}

TEST_CASE("an odd number of buckets for two directions is refused") {
  for (const int odd : {5, 7, 33, 35}) {
    test::check_refused(invalid(T5Config{.num_buckets = odd}), "num_buckets must be even");
  }
}

TEST_CASE("the coldest text is that of the most probable characters") {
  const train::RunConfig config{.d_model = 16, .seq_len = 8, .max_seq_len = 16, .batch = 1};
  REQUIRE(train::invalid(config) == nullptr);
  std::vector<std::max_align_t> memory(train::run_bytes(config) / sizeof(std::max_align_t) + 1);
  train::Run* run = train::start_run(std::as_writable_bytes(std::span(memory)), config);
  std::vector<int32_t> best(16, 1), cold(16, 1);
  train::write_on(best, 1, *run, RopeType::kDefault, 16, 0, 1);
  train::write_on(cold, 1, *run, RopeType::kDefault, 16, 1e-300, 1);
  CHECK(cold == best);
}

TEST_CASE("an array of 2^28 cells is taken, a larger one is refused") {
  constexpr int kSide = 1 << 14, kHalf = 1 << 27;
  const auto sinusoidal = [](int rows) { return SinusoidalConfig{.seq_len = rows, .d_model = kSide}; };
  CHECK(invalid(sinusoidal(kSide)) == nullptr);
  test::check_refused(invalid(sinusoidal(kSide + 1)), "seq_len * d_model");
  const auto similar = [](int rows) { return SinusoidalConfig{.seq_len = rows, .d_model = 6}; };
  CHECK(invalid_similarity(similar(kSide)) == nullptr);
  test::check_refused(invalid_similarity(similar(kSide + 1)), "seq_len * seq_len");
  CHECK(invalid(RopeShape{2, kHalf / 2, 2, 2}) == nullptr);
  test::check_refused(invalid(RopeShape{2, kHalf / 2 + 1, 2, 2}), "num_heads * seq_len * head_dim");
  CHECK(invalid(EmbeddingConfig{2, kHalf, 1, 1, kHalf}) == nullptr);
  test::check_refused(invalid(EmbeddingConfig{3, kHalf, 1, 1, kHalf}), "batch * seq_len * d_model");
  CHECK(invalid(AttentionConfig{1, kSide, kSide}) == nullptr);
  test::check_refused(invalid(AttentionConfig{1, kSide + 1, 1}), "seq_len * seq_len");
  test::check_refused(invalid(AttentionConfig{1, kSide, kSide + 1}), "seq_len * head_dim");
  const auto picture = [](int height) {
    return ColormapConfig{.rows = 1, .cols = 1, .width = 2, .height = height, .num_rows = 1, .num_cols = 1};
  };
  CHECK(invalid(picture(kHalf)) == nullptr);
  test::check_refused(invalid(picture(kHalf + 1)), "pixels");
}

TEST_CASE("the largest and smallest values of RoPE's fields are taken") {
  CHECK(invalid(RopeConfig{.head_dim = 1 << 24, .rotary_dim = 2}) == nullptr);
  CHECK(invalid(RopeConfig{.head_dim = 8, .rotary_dim = 4, .frequency_dim = 8}) == nullptr);
  CHECK(invalid(RopeConfig{.head_dim = 128, .rotary_dim = 128, .rope_theta = 0x1p1015}) == nullptr);
  test::check_refused(invalid(RopeConfig{.head_dim = 1, .rotary_dim = 2}), "head_dim must be at least 2");
  test::check_refused(invalid(RopeShape{1, 1, 1, 2}), "head_dim must be at least 2");
  RopeConfig config{.head_dim = 8, .rotary_dim = 8, .factor = 2, .original_max_position_embeddings = 1};
  config.rope_type = RopeType::kLlama3;
  CHECK(invalid(config) == nullptr);
  config.high_freq_factor = HUGE_VAL;
  test::check_refused(invalid(config), "high_freq_factor");
  config.rope_type = RopeType::kYarn;
  config.mscale = config.mscale_all_dim = 0;
  CHECK(invalid(config) == nullptr);
  config.mscale = 1;
  config.mscale_all_dim = -20;  // 0.1 * -20 * log(2) + 1 < 0
  test::check_refused(invalid(config), "mscale");
  config.factor = 1e300;
  config.mscale_all_dim = 1e308;  // whose factor is infinite, and its inverse 0
  test::check_refused(invalid(config), "mscale");
  config.factor = 2;
  config.mscale_all_dim = 0;
  config.original_max_position_embeddings = 0.5;
  test::check_refused(invalid(config), "original_max_position_embeddings");
  config.rope_type = RopeType::kProportional;
  CHECK(invalid(config) == nullptr);
  config.partial_rotary_factor = 0;
  test::check_refused(invalid(config), "partial_rotary_factor");
}

TEST_CASE("a sequence of just the trained length has LongRoPE's short factors") {
  const std::vector<double> shorter{2, 2}, longer{8, 8};
  const RopeConfig config{.head_dim = 4,
                          .rotary_dim = 4,
                          .rope_type = RopeType::kLongrope,
                          .original_max_position_embeddings = 16,
                          .short_factor = shorter,
                          .long_factor = longer};
  double inv_freq[2];
  rope_inv_freq(inv_freq, config, 16);
  CHECK(inv_freq[0] == 0.5);
  rope_inv_freq(inv_freq, config, 17);
  CHECK(inv_freq[0] == 0.125);
}

TEST_CASE("the largest values of a map's fields are taken") {
  TileConfig alibi{.map = TileMap::kAlibi};
  for (const double slope : {1e6, -1e6}) {
    alibi.slope = slope;
    CHECK(invalid(alibi) == nullptr);
  }
  const std::vector<double> biases(4096, 1e6);
  CHECK(invalid(TileConfig{.map = TileMap::kT5, .t5 = {4096, 1 << 20}, .biases = biases}) == nullptr);
  CHECK(invalid(TileConfig{.map = TileMap::kRopeCos, .dims = 2}) == nullptr);
  CHECK(invalid(TileConfig{.dims = 1 << 16}) == nullptr);
  const TileView view{.cells_x = 1 << 20, .cells_y = 1 << 20, .width = 1 << 12, .height = 1 << 12};
  CHECK(invalid(view) == nullptr);
  CHECK(invalid(AttentionConfig{.seq_len = 1, .head_dim = 1, .scale = -1e30}) == nullptr);
}
