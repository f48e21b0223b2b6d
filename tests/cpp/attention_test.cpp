// Self-attention under every encoding: against the reference, and what order means to it.
#include "bounds.hpp"
#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
using enum Encoding;
constexpr Encoding kEncodings[] = {kNone, kSinusoidal, kLearned, kRope, kAlibi, kT5};

size_t size_of(int n) {
  return static_cast<size_t>(n);
}

// What a layer is given, and what it gave.
struct Weights {
  Doubles w_q, w_k, w_v, w_o, positions, t5_table;
  operator LayerWeights() const { return {w_q, w_k, w_v, w_o, positions, t5_table}; }
};
struct Result {
  Doubles output, weights, logits;
};

Result run(const Doubles& x, const Weights& layer, const LayerConfig& config) {
  REQUIRE(invalid(config) == nullptr);
  const size_t map = size_of(config.num_layers) * size_of(config.num_heads) * size_of(config.seq_len) *
                     size_of(config.seq_len);
  Result r{Doubles(x.size()), Doubles(map), Doubles(map)};
  Doubles scratch(static_cast<size_t>(layer_scratch(config)));
  self_attention(r.output, r.weights, r.logits, scratch, x, layer, config);
  return r;
}

Doubles permuted(const Doubles& x, const std::vector<int32_t>& permutation) {
  const size_t d = x.size() / permutation.size();
  Doubles y;
  for (const int32_t row : permutation) {
    for (size_t c = 0; c < d; ++c) y.push_back(x[static_cast<size_t>(row) * d + c]);
  }
  return y;
}

Weights random_weights(const LayerConfig& config, uint32_t seed) {
  const size_t matrix = size_of(config.num_layers) * size_of(config.d_model) * size_of(config.d_model);
  const double sigma = 1 / std::sqrt(config.d_model);
  return {normals(matrix, seed, sigma),
          normals(matrix, seed + 1, sigma),
          normals(matrix, seed + 2, sigma),
          normals(matrix, seed + 3, sigma),
          normals(size_of(config.seq_len) * size_of(config.d_model), seed + 4),
          normals(size_of(config.t5.num_buckets) * size_of(config.num_heads), seed + 5)};
}

LayerConfig config_of(const Json& params) {
  const std::string& pe = params["pe"].text();
  LayerConfig config{.seq_len = params["T"].integer(),
                     .d_model = params["d_model"].integer(),
                     .num_heads = params["num_heads"].integer(),
                     .causal = params["causal"].truth(),
                     .base = params["base"].number()};
  if (pe == "sinusoidal") config.encoding = kSinusoidal;
  if (pe == "rope_interleaved" || pe == "rope_half") config.encoding = kRope;
  if (pe == "rope_half") config.layout = PairLayout::kHalf;
  if (pe == "alibi") config.encoding = kAlibi;
  if (pe == "t5") {
    config.encoding = kT5;
    config.t5 = {params["num_buckets"].integer(), params["max_distance"].integer(), !config.causal};
  }
  REQUIRE((config.encoding != kNone || pe == "none"));
  return config;
}

void check_attention(const Json& file) {
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    const LayerConfig config = config_of(params);
    Weights layer{
        params["Wq"].numbers(), params["Wk"].numbers(), params["Wv"].numbers(), params["Wo"].numbers(), {}, {}};
    if (const Json* table = params.find("table")) layer.t5_table = table->numbers();
    const Doubles x = params["x"].numbers();
    std::vector<int32_t> permutation;
    for (const Json& row : params["perm"].items()) permutation.push_back(row.integer());

    const Result plain = run(x, layer, config), moved = run(permuted(x, permutation), layer, config);
    check_near(id + " output", plain.output, expected["output"].numbers(), tolerance);
    check_near(id + " weights", plain.weights, expected["weights"].numbers(), tolerance);
    check_near(id + " permuted output", moved.output, expected["output_permuted_input"].numbers(), tolerance);
    const OrderDifference difference =
        order_difference(plain.output, moved.output, permutation, config.d_model);
    check_near(id + " equivariance", difference.equivariance,
               expected["equivariance_max_abs_diff_output"].number(), tolerance);
    check_near(id + " pooled", difference.pooled, expected["mean_pool_diff"].number(), tolerance);

    // max |W(Px)[i][j] - W(x)[perm i][perm j]|
    double weights_difference = 0;
    const size_t n = permutation.size();
    for (size_t h = 0; h < size_of(config.num_heads); ++h) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const size_t from =
              (h * n + static_cast<size_t>(permutation[i])) * n + static_cast<size_t>(permutation[j]);
          weights_difference =
              std::max(weights_difference, std::fabs(moved.weights[(h * n + i) * n + j] - plain.weights[from]));
        }
      }
    }
    check_near(id + " weights' equivariance", weights_difference,
               expected["equivariance_max_abs_diff_weights"].number(), tolerance);
  }
}

struct FloatAttention {
  Floats output, weights;
};

FloatAttention run_float(const Floats& q, const Floats& k, const Floats& v, const Floats& bias,
                         const AttentionConfig& config) {
  FloatAttention r{Floats(q.size()),
                   Floats(size_of(config.num_heads) * size_of(config.seq_len) * size_of(config.seq_len))};
  Floats scratch(size_of(attention_scratch(config)),
                 std::nanf(""));  // whatever was there before must not matter
  attention(r.output, r.weights, scratch, q, k, v, bias, config);
  return r;
}

Result run_double(const Doubles& q, const Doubles& k, const Doubles& v, const Doubles& bias,
                  const AttentionConfig& config) {
  const size_t map = size_of(config.num_heads) * size_of(config.seq_len) * size_of(config.seq_len);
  Result r{Doubles(q.size()), Doubles(map), Doubles(map)};
  attention(r.output, r.weights, r.logits, q, k, v, bias, config);
  return r;
}

double largest_finite(const Doubles& x) {
  double largest = 0;
  for (const double v : x) largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : largest;
  return largest;
}

Doubles magnitudes(const Floats& x) {
  Doubles sizes = to_doubles(x);
  for (double& size : sizes) size = std::fabs(size);
  return sizes;
}

// The tuned attention against its twin on the same inputs.
void check_tuned(const std::string& id, const Floats& q, const Floats& k, const Floats& v, const Floats& bias,
                 const AttentionConfig& config) {
  REQUIRE(invalid(config) == nullptr);
  const FloatAttention tuned = run_float(q, k, v, bias, config);
  const Result twin = run_double(to_doubles(q), to_doubles(k), to_doubles(v), to_doubles(bias), config);
  // With absolute values the twin's logits are the magnitudes that the bound asks for.
  const Result sizes = run_double(magnitudes(q), magnitudes(k), to_doubles(v), magnitudes(bias), config);
  const double error = weights_error(largest_finite(sizes.logits));
  check_near(id + " weights", tuned.weights, twin.weights, error);
  // Every weight may be off by `error`; the n products and sums add a rounding each to values of at most |v|.
  const size_t n = size_of(config.seq_len), d = size_of(config.head_dim);
  Doubles allowance(q.size());
  for (size_t i = 0; i < q.size(); ++i) {
    double sum = 0, largest = 0;
    for (size_t j = 0; j < n; ++j) {
      const double value = std::fabs(static_cast<double>(v[(i / (n * d) * n + j) * d + i % d]));
      sum += value;
      largest = std::max(largest, value);
    }
    allowance[i] = error * sum + static_cast<double>(n + 2) * kToFloat * largest;
  }
  check_near(id + " output", tuned.output, twin.output, [&](size_t i) { return allowance[i]; });
  if (!config.causal) return;
  for (size_t i = 0; i < tuned.weights.size(); ++i) {
    if (i % n > i / n % n)
      REQUIRE((tuned.weights[i] == 0 && twin.weights[i] == 0 && twin.logits[i] == -HUGE_VAL));
  }
}

}  // namespace

TEST_CASE("self-attention equals the reference under every encoding, for permuted input too") {
  check_attention(golden("attention"));
}

TEST_CASE("self-attention equals the reference at d_model 64") {
  check_attention(golden("attention_d64"));
}

TEST_CASE("the float attention stays within its bound of the double one, at every size") {
  Dice dice{41};
  for (int seq_len = 1; seq_len <= 33; ++seq_len) {
    for (const bool causal : {false, true}) {
      const AttentionConfig config{.num_heads = dice.between(1, 3),
                                   .seq_len = seq_len,
                                   .head_dim = dice.pick({1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 32, 33, 64}),
                                   .scale = dice.pick({0.125, 0.5, 1.0}),
                                   .causal = causal};
      const size_t cells = size_of(config.num_heads) * size_of(seq_len) * size_of(config.head_dim);
      const auto seed = static_cast<uint32_t>(100 * seq_len);
      Floats bias;
      if (dice.between(0, 1))
        bias = to_floats(normals(size_of(config.num_heads) * (2 * size_of(seq_len) - 1), seed + 3));
      check_tuned("seq_len " + std::to_string(seq_len) + ", head_dim " + std::to_string(config.head_dim),
                  to_floats(normals(cells, seed)), to_floats(normals(cells, seed + 1)),
                  to_floats(normals(cells, seed + 2)), bias, config);
    }
  }
}

TEST_CASE("the float attention agrees with the double one on large sizes and on steep logits") {
  const AttentionConfig large{.num_heads = 2, .seq_len = 130, .head_dim = 64, .scale = 0.125, .causal = true};
  const size_t cells = 2 * 130 * 64;
  check_tuned("large", to_floats(normals(cells, 42)), to_floats(normals(cells, 43)),
              to_floats(normals(cells, 44)), {}, large);
  const AttentionConfig blocks{.num_heads = 1, .seq_len = 301, .head_dim = 12, .scale = 0.3};
  check_tuned("blocks", to_floats(normals(301 * 12, 84)), to_floats(normals(301 * 12, 85)),
              to_floats(normals(301 * 12, 86)), to_floats(normals(601, 87)), blocks);
  const AttentionConfig steep{.num_heads = 1, .seq_len = 37, .head_dim = 16, .scale = 1};
  check_tuned("steep", to_floats(normals(37 * 16, 45, 5)), to_floats(normals(37 * 16, 46, 5)),
              to_floats(normals(37 * 16, 47)), {}, steep);
}

TEST_CASE("a row of float weights is NaN exactly where a logit is not finite, with a bias or a mask too") {
  const float inf = HUGE_VALF, nan = std::nanf("");
  for (const bool causal : {false, true}) {
    for (const float bad : {inf, -inf, nan, 3e38f}) {
      const AttentionConfig config{.num_heads = 2, .seq_len = 19, .head_dim = 8, .scale = 1, .causal = causal};
      Floats q = to_floats(normals(2 * 19 * 8, 81)), k = to_floats(normals(2 * 19 * 8, 82));
      const Floats v = to_floats(normals(2 * 19 * 8, 83));
      k[(19 + 11) * 8 + 3] = bad;  // head 1, key 11
      if (bad == 3e38f) {
        for (size_t i = 0; i < 19; ++i) q[(19 + i) * 8 + 3] = 100;  // the product overflows
      }
      Floats bias(2 * 37, 0.5f);
      if (bad != 3e38f) bias[18 + 4] = bad;  // head 0, key 4 after the query
      const FloatAttention r = run_float(q, k, v, bias, config);
      for (size_t row = 0; row < 38; ++row) {
        const size_t i = row % 19, seen = causal ? i + 1 : 19;
        const bool expected = row < 19 ? i + 4 < seen && bad != 3e38f : 11 < seen;
        INFO("bad " << bad << ", causal " << causal << ", row " << row);
        for (size_t j = 0; j < seen; ++j) REQUIRE(std::isnan(r.weights[row * 19 + j]) == expected);
        for (size_t c = 0; c < 8; ++c) REQUIRE(std::isnan(r.output[row * 8 + c]) == expected);
      }
    }
  }
}

TEST_CASE("float weights below 2^-100 of the largest are 0, so that none is a denormal number") {
  for (const bool causal : {false, true}) {
    const AttentionConfig config{.num_heads = 1, .seq_len = 300, .head_dim = 4, .causal = causal};
    Floats bias(599);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = -0.5f * std::fabs(static_cast<float>(i) - 299);
    const Floats zero(300 * 4), values(300 * 4, 1e-6f);
    const FloatAttention r = run_float(zero, zero, values, bias, config);
    for (size_t row = 0; row < 300; ++row) {
      for (size_t key = 0; key < (causal ? row + 1 : 300); ++key) {
        const float weight = r.weights[row * 300 + key],
                    distance = std::fabs(static_cast<float>(row) - static_cast<float>(key));
        INFO("query " << row << ", key " << key);
        if (distance > 140) REQUIRE(weight == 0);
        if (distance < 137) REQUIRE(weight > 0x1p-103f);
      }
      CHECK(r.output[4 * row] == Approx(1e-6f));
    }
  }
}

TEST_CASE("with q of 0 the float weights are the softmax of the bias, to the accuracy of its 2^x") {
  for (const int seq_len : {2, 5, 16}) {
    const AttentionConfig config{.num_heads = 1, .seq_len = seq_len, .head_dim = 1};
    const size_t n = size_of(seq_len);
    for (int step = 0; step < 200; ++step) {
      Floats bias(2 * n - 1);
      for (size_t i = 0; i < bias.size(); ++i) {
        bias[i] = -0.05f * static_cast<float>(step) * static_cast<float>(i) / static_cast<float>(n);
      }
      const Floats zero(n);
      const Result twin =
          run_double(to_doubles(zero), to_doubles(zero), to_doubles(zero), to_doubles(bias), config);
      const FloatAttention tuned = run_float(zero, zero, zero, bias, config);
      // A weight is an exponential over a sum of such: 2e-7 twice, and 1.5 units of the logit (its product with
      // log2 e, that constant, its difference from the largest) twice; n additions, a reciprocal, a product.
      const double logit = largest_finite(twin.logits);
      const double relative = 4e-7 + 2 * 3 * kToFloat * logit + (static_cast<double>(n) + 3) * kToFloat;
      check_relative("step " + std::to_string(step), tuned.weights, twin.weights, relative);
    }
  }
}

TEST_CASE("weights are a distribution: not negative, and 1 in sum for every query") {
  for (const bool causal : {false, true}) {
    const AttentionConfig config{.num_heads = 2, .seq_len = 29, .head_dim = 5, .scale = 2, .causal = causal};
    const Doubles q = normals(290, 48), k = normals(290, 49), v = normals(290, 50);
    const Result twin = run_double(q, k, v, {}, config);
    const FloatAttention tuned = run_float(to_floats(q), to_floats(k), to_floats(v), {}, config);
    Doubles sums(58), float_sums(58);
    for (size_t i = 0; i < twin.weights.size(); ++i) {
      REQUIRE((twin.weights[i] >= 0 && tuned.weights[i] >= 0));
      sums[i / 29] += twin.weights[i];
      float_sums[i / 29] += static_cast<double>(tuned.weights[i]);
    }
    // A division each, and 29 additions before it.
    check_near("double", sums, Doubles(58, 1.0), 31 * 0x1p-53);
    check_near("float", float_sums, Doubles(58, 1.0), 31 * kToFloat);
  }
}

TEST_CASE("the first query of a causal head sees only itself") {
  const AttentionConfig config{.num_heads = 1, .seq_len = 9, .head_dim = 4, .scale = 0.5, .causal = true};
  const Floats q = to_floats(normals(36, 51)), v = to_floats(normals(36, 52));
  const FloatAttention r = run_float(q, q, v, {}, config);
  CHECK(r.weights[0] == 1);
  check_equal("row 0", std::span(r.output).first(4), std::span(v).first(4));
}

TEST_CASE("a causal mask equals a bias so low that later keys have no weight") {
  const AttentionConfig config{.num_heads = 2, .seq_len = 11, .head_dim = 8, .scale = 0.35};
  const Doubles q = normals(176, 53), k = normals(176, 54), v = normals(176, 55);
  Doubles bias(2 * 21);
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = i % 21 > 10 ? -1e5 : 0;
  AttentionConfig causal = config;
  causal.causal = true;
  const Result biased = run_double(q, k, v, bias, config), masked = run_double(q, k, v, {}, causal);
  check_equal("weights", biased.weights, masked.weights);
  check_equal("output", biased.output, masked.output);
}

TEST_CASE("a constant added to all logits of a head changes no weight") {
  const AttentionConfig config{.num_heads = 2, .seq_len = 9, .head_dim = 8, .scale = 0.35};
  const Doubles q = normals(144, 56), k = normals(144, 57), v = normals(144, 58);
  const Doubles bias(2 * 17, 3.0);
  // The constant moves each logit by half a unit of its size.
  check_near("weights", run_double(q, k, v, bias, config).weights, run_double(q, k, v, {}, config).weights,
             2e-15);
}

TEST_CASE("the bias of a query and a key is the one of their relative position, key minus query") {
  const AttentionConfig config{.num_heads = 3, .seq_len = 6, .head_dim = 2, .scale = 1};
  const Doubles zero(36), bias = normals(3 * 11, 59);
  const Result r = run_double(zero, zero, zero, bias, config);
  Doubles expected;
  for (size_t h = 0; h < 3; ++h) {
    for (size_t i = 0; i < 6; ++i) {
      for (size_t j = 0; j < 6; ++j) expected.push_back(bias[h * 11 + j + 5 - i]);
    }
  }
  check_equal("logits", r.logits, expected);
}

TEST_CASE("without positions and mask, one layer or two are equivariant and their mean is invariant") {
  Dice dice{60};
  for (const int num_layers : {1, 2}) {
    for (const Encoding encoding : kEncodings) {
      for (const bool causal : {false, true}) {
        const LayerConfig config{.seq_len = 7,
                                 .d_model = 12,
                                 .num_heads = 3,
                                 .num_layers = num_layers,
                                 .encoding = encoding,
                                 .causal = causal,
                                 .t5 = {.num_buckets = 8, .max_distance = 16}};
        const Weights layer = random_weights(config, 61);
        const Doubles x = normals(84, 62);
        std::vector<int32_t> permutation = dice.permutation(7);
        if (permutation[0] == 0) std::swap(permutation[0], permutation[1]);  // not nearly the identity
        const OrderDifference difference = order_difference(
            run(x, layer, config).output, run(permuted(x, permutation), layer, config).output, permutation, 12);
        INFO(num_layers << " layers, encoding " << static_cast<int>(encoding) << ", causal " << causal);
        if (encoding == kNone && !causal) {
          // Sums of at most 12 terms near 1 in another order, a layer or two deep.
          CHECK(difference.equivariance < 1e-13);
          CHECK(difference.pooled < 1e-13);
        } else {
          CHECK(difference.equivariance > 1e-3);
          CHECK(difference.pooled > 1e-4);
        }
      }
    }
  }
}

TEST_CASE("order_difference is 0 for a map that keeps to the order, and finds one changed number") {
  const Doubles x = normals(20, 63);
  const std::vector<int32_t> permutation = {3, 0, 4, 2, 1};
  Doubles moved = permuted(x, permutation);
  OrderDifference difference = order_difference(x, moved, permutation, 4);
  CHECK(difference.equivariance == 0);
  CHECK(difference.pooled <= 5 * 3 * 0x1p-53);
  moved[6] += 0.5;
  difference = order_difference(x, moved, permutation, 4);
  check_near("equivariance", difference.equivariance, 0.5, 1e-15);
  check_near("pooled", difference.pooled, 0.1, 1e-15);
}

TEST_CASE("a layer of one head without W_o is attention itself") {
  LayerConfig config{.seq_len = 5, .d_model = 4};
  Doubles identity(16);
  for (size_t i = 0; i < 4; ++i) identity[5 * i] = 1;
  const Weights layer{identity, identity, identity, identity, {}, {}};
  const Doubles x = normals(20, 64);
  const Result r = run(x, layer, config);
  const Result expected = run_double(x, x, x, {}, {.seq_len = 5, .head_dim = 4, .scale = 0.5});
  check_equal("output", r.output, expected.output);
  check_equal("weights", r.weights, expected.weights);
  check_equal("logits", r.logits, expected.logits);
}

TEST_CASE("two layers are one after the other, each added to its input") {
  LayerConfig config{.seq_len = 6, .d_model = 8, .num_heads = 2, .num_layers = 2, .encoding = kAlibi};
  const Weights both = random_weights(config, 65);
  const Doubles x = normals(48, 66);
  const Result r = run(x, both, config);
  config.num_layers = 1;
  const auto part = [](const Doubles& w, size_t layer) {
    return Doubles(w.begin() + static_cast<long>(64 * layer), w.begin() + static_cast<long>(64 * layer) + 64);
  };
  Doubles input = x;
  for (size_t layer = 0; layer < 2; ++layer) {
    const Weights one{
        part(both.w_q, layer), part(both.w_k, layer), part(both.w_v, layer), part(both.w_o, layer), {}, {}};
    const Result step = run(input, one, config);
    check_equal("weights", std::span(r.weights).subspan(layer * 72, 72), step.weights);
    for (size_t i = 0; i < 48; ++i) input[i] += step.output[i];
  }
  check_equal("output", r.output, input);
}

TEST_CASE("sinusoidal and learned positions are added to the input, RoPE turns q and k but not v") {
  LayerConfig config{.seq_len = 5, .d_model = 8, .num_heads = 2, .encoding = kSinusoidal};
  Weights layer = random_weights(config, 67);
  const Doubles x = normals(40, 68), positions = {0, 1, 2, 3, 4};
  Doubles rows(40), sum = x;
  sinusoidal_rows(rows, positions, {.seq_len = 5, .d_model = 8});
  for (size_t i = 0; i < 40; ++i) sum[i] += rows[i];
  const Result sinusoidal = run(x, layer, config);
  config.encoding = kNone;
  check_equal("sinusoidal", sinusoidal.output, run(sum, layer, config).output);
  config.encoding = kLearned;
  layer.positions = rows;
  check_equal("learned", run(x, layer, config).output, sinusoidal.output);

  // With q and k of 0 every weight is 1/5, so the output is the mean of v: RoPE must not show.
  layer.w_q = layer.w_k = Doubles(64);
  config.encoding = kRope;
  const Result rope = run(x, layer, config);
  config.encoding = kNone;
  check_equal("v", rope.output, run(x, layer, config).output);
}

TEST_CASE("the four cross terms sum to the logits of the whole") {
  for (const int head_dim : {1, 3, 8}) {
    const size_t n = 7, depth = 10, d = size_of(head_dim);
    const Doubles x = normals(n * depth, 70), p = normals(n * depth, 71);
    const Doubles w_q = normals(depth * d, 72), w_k = normals(depth * d, 73);
    Doubles terms(4 * n * n), scratch(4 * n * d), sum(n * n), whole(4 * n * n), xp = x;
    const double scale = 1 / std::sqrt(head_dim);
    cross_terms(terms, scratch, x, p, w_q, w_k, 7, 10, head_dim, scale);
    for (size_t i = 0; i < xp.size(); ++i) xp[i] += p[i];
    cross_terms(whole, scratch, xp, Doubles(n * depth), w_q, w_k, 7, 10, head_dim, scale);
    for (size_t i = 0; i < 4 * n * n; ++i) sum[i % (n * n)] += terms[i];
    const double size = largest_finite(terms);
    // Every entry is a sum of d products of two sums of 10 products, each rounded.
    check_near("sum", sum, std::span(whole).first(n * n),
               (10 + 10 + static_cast<double>(d) + 5) * 0x1p-53 * 4 * (size + 100 * static_cast<double>(d)));
    check_equal("without positions", std::span(whole).subspan(n * n), Doubles(3 * n * n));

    // content-position is the transpose of position-content when W_q and W_k change places.
    Doubles swapped(4 * n * n), transposed(n * n);
    cross_terms(swapped, scratch, x, p, w_k, w_q, 7, 10, head_dim, scale);
    for (size_t i = 0; i < n * n; ++i) transposed[i] = swapped[2 * n * n + i % n * n + i / n];
    check_equal("transpose", std::span(terms).subspan(n * n, n * n), transposed);
  }
}

TEST_CASE("PE.PE is Toeplitz, but not once W_q and W_k stand between") {
  const size_t n = 8, d = 16;
  Doubles rows(n * d), zero(n * d), identity(d * d), terms(4 * n * n), scratch(4 * n * d);
  sinusoidal_rows(rows, Doubles{0, 1, 2, 3, 4, 5, 6, 7}, {.seq_len = 8, .d_model = 16});
  for (size_t i = 0; i < d; ++i) identity[i * d + i] = 1;
  const auto unevenness = [&](const Doubles& w_q, const Doubles& w_k) {
    cross_terms(terms, scratch, zero, rows, w_q, w_k, 8, 16, 16, 1);
    double largest = 0;
    for (size_t i = 1; i < n; ++i) {
      for (size_t j = 1; j < n; ++j) {
        const double* pp = &terms[3 * n * n];
        largest = std::max(largest, std::fabs(pp[i * n + j] - pp[(i - 1) * n + j - 1]));
      }
    }
    return largest;
  };
  CHECK(unevenness(identity, identity) < 8 * 1e-14);
  CHECK(unevenness(normals(d * d, 74, 0.25), normals(d * d, 75, 0.25)) > 0.1);
}

TEST_CASE("random numbers are the same for a seed, differ between seeds, and are normal") {
  const Doubles a = normals(20000, 1), b = normals(20000, 2);
  check_equal("same seed", normals(20000, 1), a);
  CHECK(a != b);
  double mean = 0, square = 0, fourth = 0;
  for (const double x : a) mean += x / 20000, square += x * x / 20000, fourth += x * x * x * x / 20000;
  // Four standard errors: 1, sqrt 2 and sqrt 96 over the root of the count.
  CHECK(std::fabs(mean) < 4 / std::sqrt(20000));
  CHECK(std::fabs(square - 1) < 4 * std::sqrt(2.0 / 20000));
  CHECK(std::fabs(fourth - 3) < 4 * std::sqrt(96.0 / 20000));
  check_relative(
      "sigma", normals(100, 3, 0.02),
      [] {
        Doubles x = normals(100, 3);
        for (double& v : x) v *= 0.02;
        return x;
      }(),
      0x1p-51);
}

TEST_CASE("invalid(AttentionConfig) names the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const AttentionConfig good{.num_heads = 2, .seq_len = 4, .head_dim = 8};
  CHECK(invalid(good) == nullptr);
  const auto refused = [&](auto change, const char* field) {
    AttentionConfig config = good;
    change(config);
    check_refused(invalid(config), field);
  };
  for (const int bad : {0, -1, -kMax - 1}) {
    refused([&](auto& c) { c.num_heads = bad; }, "num_heads");
    refused([&](auto& c) { c.seq_len = bad; }, "seq_len");
    refused([&](auto& c) { c.head_dim = bad; }, "head_dim");
  }
  for (const double bad : {kNan, HUGE_VAL, -HUGE_VAL}) refused([&](auto& c) { c.scale = bad; }, "scale");
  refused([&](auto& c) { c.seq_len = kMax; }, "num_heads * seq_len * seq_len");
  refused([&](auto& c) { c.head_dim = kMax; }, "head_dim");
  refused([&](auto& c) { c.num_heads = 100, c.head_dim = 1 << 24; }, "num_heads * seq_len * head_dim");
}

TEST_CASE("invalid(LayerConfig) names the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](Encoding encoding, auto change, const char* field) {
    LayerConfig config{.seq_len = 4, .d_model = 12, .num_heads = 2, .encoding = encoding};
    CHECK(invalid(config) == nullptr);
    change(config);
    check_refused(invalid(config), field);
  };
  for (const Encoding encoding : kEncodings) {
    for (const int bad : {0, -1, -kMax - 1}) {
      refused(
          encoding, [&](auto& c) { c.seq_len = bad; }, "seq_len");
      refused(
          encoding, [&](auto& c) { c.d_model = bad; }, "d_model");
      refused(
          encoding, [&](auto& c) { c.num_heads = bad; }, "num_heads");
      refused(
          encoding, [&](auto& c) { c.num_layers = bad; }, "num_layers");
    }
    refused(
        encoding, [&](auto& c) { c.d_model = 13; }, "d_model");
    refused(
        encoding, [&](auto& c) { c.d_model = c.num_heads = 257; }, "num_heads");
    refused(
        encoding, [&](auto& c) { c.num_layers = 9; }, "num_layers");
    for (const double bad : {0.0, -1.0, kNan, HUGE_VAL})
      refused(
          encoding, [&](auto& c) { c.base = bad; }, "base");
    refused(
        encoding, [&](auto& c) { c.seq_len = kMax; }, "too large");
    refused(
        encoding, [&](auto& c) { c.seq_len = 1 << 14; }, "num_heads * seq_len * seq_len");
  }
  refused(
      kRope, [&](auto& c) { c.d_model = 6; }, "head_dim");
  refused(
      kAlibi, [&](auto& c) { c.alibi_bias_max = kNan; }, "alibi_bias_max");
  refused(
      kT5, [&](auto& c) { c.t5.num_buckets = 0; }, "num_buckets");
  refused(
      kT5, [&](auto& c) { c.t5.max_distance = 0; }, "max_distance");
}

TEST_CASE("a layer whose weights or maps pass 2^28 numbers is refused") {
  // 8 maps of 2^27 entries; three matrices of (2^20)^2.
  const LayerConfig maps{.seq_len = 1 << 13, .d_model = 2, .num_heads = 2, .num_layers = 8};
  check_refused(invalid(maps), "num_layers");
  const LayerConfig matrices{.seq_len = 1, .d_model = 1 << 20};
  check_refused(invalid(matrices), "d_model");
}

TEST_CASE("the scratch of every config that is accepted can be counted in an int") {
  Dice dice{76};
  for (int round = 0; round < 2000; ++round) {
    AttentionConfig config{
        .num_heads = 1, .seq_len = 1 << dice.between(0, 15), .head_dim = 1 << dice.between(0, 30)};
    if (dice.between(0, 1)) config.seq_len += dice.between(0, config.seq_len);
    if (dice.between(0, 1)) config.head_dim -= dice.between(0, config.head_dim - 1);
    if (invalid(config)) continue;
    INFO(config.seq_len << " x " << config.head_dim);
    const double n = std::ceil(config.seq_len / 8.0) * 8, d = std::ceil(config.head_dim / 8.0) * 8;
    REQUIRE(attention_scratch(config) == 2 * n * d + 16 * (2 * d + n) + 2 * (n + 8));
  }
}
