// Rotation of q and k: against the references in both pair layouts, and the laws of rotations.
#include <numbers>

#include "bounds.hpp"
#include "check.hpp"
#include "json.hpp"
#include "posenc.hpp"
#include "rope_config.hpp"
#include "samples.hpp"

using namespace posenc;
using namespace test;

namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;
constexpr PairLayout kPairLayouts[] = {PairLayout::kInterleaved, PairLayout::kHalf};

struct CosSin {
  Doubles cos, sin;
};

CosSin cos_sin_at(const Doubles& positions, const Doubles& inv_freq, double attention_factor = 1) {
  CosSin r{Doubles(positions.size() * inv_freq.size()), Doubles(positions.size() * inv_freq.size())};
  rope_cos_sin(r.cos, r.sin, positions, inv_freq, attention_factor);
  return r;
}

struct FloatCosSin {
  Floats cos, sin;
};

FloatCosSin cache_from(double first, int seq_len, const Doubles& inv_freq, double attention_factor = 1) {
  const size_t cells = static_cast<size_t>(seq_len) * inv_freq.size();
  FloatCosSin r{Floats(cells), Floats(cells)};
  Doubles scratch(static_cast<size_t>(rope_scratch(static_cast<int>(inv_freq.size()))));
  rope_cache(r.cos, r.sin, scratch, seq_len, first, inv_freq, attention_factor);
  return r;
}

template <class T>
std::vector<T> rotated(const std::vector<T>& x, const std::vector<T>& cos, const std::vector<T>& sin,
                       const RopeShape& shape) {
  std::vector<T> out(x.size());
  rope_apply(out, x, cos, sin, shape);
  return out;
}

Doubles plain_inv_freq(int dim, double base = 10000) {
  return inv_freq_of(RopeConfig{.head_dim = dim, .rotary_dim = dim, .rope_theta = base}, 0);
}

// q k^T of two (seq_len, head_dim) arrays.
Doubles scores_of(const Doubles& q, const Doubles& k, size_t d) {
  Doubles scores;
  for (size_t i = 0; i < q.size(); i += d) {
    for (size_t j = 0; j < k.size(); j += d) {
      double sum = 0;
      for (size_t c = 0; c < d; ++c) sum += q[i + c] * k[j + c];
      scores.push_back(sum);
    }
  }
  return scores;
}

// |a| + |b| of the pair that a component of x belongs to; 0 for the components that are only copied.
Doubles pair_sizes(const Doubles& x, const RopeShape& shape) {
  Doubles sizes(x.size());
  const auto d = static_cast<size_t>(shape.head_dim);
  const auto rotary = static_cast<size_t>(shape.rotary_dim);
  for (size_t row = 0; row < x.size(); row += d) {
    for (size_t c = 0; c < rotary; ++c) {
      const size_t partner =
          shape.layout == PairLayout::kInterleaved ? c ^ 1 : (c < rotary / 2 ? c + rotary / 2 : c - rotary / 2);
      sizes[row + c] = std::fabs(x[row + c]) + std::fabs(x[row + partner]);
    }
  }
  return sizes;
}

// One (seq_len, head_dim) golden array in, its rotation out, by the double function and the float kernel.
Doubles check_rotation(const std::string& id, const Doubles& x, const CosSin& table, const RopeShape& shape,
                       const Doubles& expected, double tolerance) {
  REQUIRE(invalid(shape) == nullptr);
  const Doubles out = rotated(x, table.cos, table.sin, shape);
  check_near(id + " double", out, expected, tolerance);
  const Floats tuned = rotated(to_floats(x), to_floats(table.cos), to_floats(table.sin), shape);
  const Doubles sizes = pair_sizes(x, shape);
  // The inputs and the table are rounded to float, then the kernel adds its own.
  check_near(id + " float", tuned, expected, [&](size_t i) {
    return tolerance + kToFloat * std::fabs(x[i]) + (2 * kToFloat + kRopeApplyError) * sizes[i];
  });
  return out;
}

}  // namespace

TEST_CASE("rotated q, k and their scores equal the reference in both layouts") {
  const Json file = golden("rope_apply");
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    RopeShape shape{.seq_len = params["T"].integer(),
                    .head_dim = params["head_dim"].integer(),
                    .rotary_dim = params["rotary_dim"].integer()};
    const double tolerance = c["tolerance_abs"].number();
    const Doubles q = params["q"].numbers(), k = params["k"].numbers();
    const CosSin table =
        cos_sin_at(params["positions"].numbers(), plain_inv_freq(shape.rotary_dim, params["base"].number()));
    for (const PairLayout layout : kPairLayouts) {
      shape.layout = layout;
      const Json& golden_layout = expected[layout == PairLayout::kHalf ? "half" : "interleaved"];
      const Doubles q_rot =
          check_rotation(id + " q", q, table, shape, golden_layout["q_rot"].numbers(), tolerance);
      const Doubles k_rot =
          check_rotation(id + " k", k, table, shape, golden_layout["k_rot"].numbers(), tolerance);
      const Doubles scores = scores_of(q_rot, k_rot, static_cast<size_t>(shape.head_dim));
      check_near(id + " scores", scores, golden_layout["scores"].numbers(), 10 * tolerance);
    }
    std::vector<int32_t> permutation(static_cast<size_t>(shape.head_dim));
    half_from_interleaved(permutation, shape);
    check_equal(id + " permutation", permutation, expected["perm_half_from_interleaved"].numbers());
  }
}

TEST_CASE("cos and sin of real models equal the exact values at positions up to 1e6") {
  const Json file = golden("rope_cos_sin_far");
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json& params = c["params"];
    const double factor = params["attention_scaling"].number();
    const Doubles given = params["inv_freq"].numbers(), positions = params["positions"].numbers();
    const ModelRope model = rope_of(params["config"]);
    double own_factor = 0;
    const Doubles all = inv_freq_of(model.config, params.number_or("seq_len", 0), &own_factor);
    Doubles recomputed;
    for (const Json& pair : params["pair_indices"].items())
      recomputed.push_back(all[static_cast<size_t>(pair.integer())]);
    check_near(id + " attention factor", own_factor, factor, kRopeInvFreqError * factor);

    const Doubles expected = c["expected"]["cos_sin"].numbers();
    Doubles expected_cos, expected_sin;
    for (size_t i = 0; i < expected.size(); i += 2) {
      expected_cos.push_back(expected[i]);
      expected_sin.push_back(expected[i + 1]);
    }
    const auto angle = [&](size_t i) { return positions[i / given.size()] * given[i % given.size()]; };
    const auto check = [&](const std::string& what, const CosSin& table, auto allowance) {
      check_near(id + " " + what + " cos", table.cos, expected_cos, allowance);
      check_near(id + " " + what + " sin", table.sin, expected_sin, allowance);
    };
    // tolerance.abs_formula: with the given inv_freq the header's bound, plus 2.3e-16*angle when recomputed.
    check("given", cos_sin_at(positions, given, factor),
          [&](size_t i) { return factor * cos_sin_error(angle(i)); });
    check("recomputed", cos_sin_at(positions, recomputed, own_factor),
          [&](size_t i) { return factor * (cos_sin_error(angle(i)) + 2.3e-16 * angle(i)); });

    Doubles error_per_position;
    FloatCosSin table;
    for (const double p : positions) {
      const FloatCosSin row = cache_from(p, 1, given, factor);
      table.cos.insert(table.cos.end(), row.cos.begin(), row.cos.end());
      table.sin.insert(table.sin.end(), row.sin.begin(), row.sin.end());
    }
    check_near(id + " float cos", table.cos, expected_cos, kTableError * factor);
    check_near(id + " float sin", table.sin, expected_sin, kTableError * factor);
  }
}

TEST_CASE("the float table beats the float32 pipeline of the references from position 100 on") {
  const Json file = golden("rope_cos_sin_far");
  for (const Json& c : file["cases"].items()) {
    const Json& theirs = c["expected"]["f32_max_abs_error_per_position"];
    for (size_t i = 0; i < theirs.size(); ++i) {
      if (c["params"]["positions"][i].number() < 100) continue;
      CHECK(kTableError * c["params"]["attention_scaling"].number() < theirs[i].number());
    }
  }
}

TEST_CASE("cos and sin of the original YaRN class") {
  const Json file = golden("yarn_cos_sin");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const std::string& id = c["id"].text();
    const Json &params = c["params"], &expected = c["expected"];
    const RopeConfig config{.head_dim = params["dim"].integer(),
                            .rotary_dim = params["dim"].integer(),
                            .rope_theta = params["base"].number(),
                            .rope_type = RopeType::kYarn,
                            .factor = params["factor"].number(),
                            .original_max_position_embeddings = params["original_max_position"].number()};
    double mscale = 0;
    const Doubles inv_freq = inv_freq_of(config, 0, &mscale), positions = params["positions"].numbers();
    check_relative(id + " inv_freq", inv_freq, expected["inv_freq"].numbers(), kRopeInvFreqError);
    check_near(id + " mscale", mscale, expected["mscale"].number(), kRopeInvFreqError);
    const CosSin table = cos_sin_at(positions, inv_freq, mscale);
    check_near(id + " cos", table.cos, expected["cos"].numbers(), tolerance);
    check_near(id + " sin", table.sin, expected["sin"].numbers(), tolerance);
  }
}

TEST_CASE("multimodal RoPE takes each pair's position from the axis of its section") {
  const Json file = golden("rope_mrope");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const Json &params = c["params"], &expected = c["expected"];
    const int head_dim = params["head_dim"].integer();
    const Doubles positions = params["positions_thw"].numbers();
    const Doubles inv_freq = plain_inv_freq(head_dim, params["base"].number());
    const size_t pairs = inv_freq.size(), seq_len = positions.size() / 3;
    const RopeShape shape{.seq_len = static_cast<int>(seq_len),
                          .head_dim = head_dim,
                          .rotary_dim = head_dim,
                          .layout = PairLayout::kHalf};
    for (const bool chunked : {true, false}) {
      const std::string id = c["id"].text() + (chunked ? " chunked" : " interleaved");
      std::vector<int32_t> sections, axis(pairs);
      for (const double s : params[chunked ? "mrope_section" : "mrope_section_interleaved"].numbers()) {
        sections.push_back(static_cast<int32_t>(s));
      }
      REQUIRE(invalid_mrope(sections, head_dim / 2) == nullptr);
      mrope_axes(axis, sections, chunked ? MropeLayout::kChunked : MropeLayout::kInterleaved);
      CosSin table{Doubles(seq_len * pairs), Doubles(seq_len * pairs)};
      mrope_cos_sin(table.cos, table.sin, positions, axis, inv_freq, 1);
      const Json& values = expected[chunked ? "chunked" : "interleaved"];
      check_rotation(id + " q", params["q"].numbers(), table, shape, values["q_rot"].numbers(), tolerance);
      if (chunked) {
        check_rotation(id + " k", params["k"].numbers(), table, shape, values["k_rot"].numbers(), tolerance);
      } else {
        Doubles cos, sin;
        for (const double angle : values["angles"].numbers()) {
          cos.push_back(std::cos(angle));
          sin.push_back(std::sin(angle));
        }
        check_near(id + " cos", table.cos, cos, tolerance);
        check_near(id + " sin", table.sin, sin, tolerance);
      }
    }
  }
}

TEST_CASE("DeepSeek's halves are our interleaved rotation, its components put in half order") {
  const Json file = golden("rope_deepseek_layout");
  const double tolerance = file["tolerance"]["abs"].number();
  for (const Json& c : file["cases"].items()) {
    const Json &params = c["params"], &expected = c["expected"];
    const int head_dim = params["head_dim"].integer();
    const auto d = static_cast<size_t>(head_dim);
    const RopeShape shape{.seq_len = params["T"].integer(), .head_dim = head_dim, .rotary_dim = head_dim};
    const CosSin table =
        cos_sin_at(params["positions"].numbers(), plain_inv_freq(head_dim, params["base"].number()));
    std::vector<int32_t> order(d);
    half_from_interleaved(order, shape);
    const auto in_half_order = [&](const Doubles& x) {
      Doubles y;
      for (size_t i = 0; i < x.size(); ++i) y.push_back(x[i / d * d + static_cast<size_t>(order[i % d])]);
      return y;
    };
    const Doubles q = in_half_order(rotated(params["q"].numbers(), table.cos, table.sin, shape));
    const Doubles k = in_half_order(rotated(params["k"].numbers(), table.cos, table.sin, shape));
    check_near("q", q, expected["q_rot"].numbers(), tolerance);
    check_near("k", k, expected["k_rot"].numbers(), tolerance);
    check_near("scores", scores_of(q, k, d), expected["scores"].numbers(), tolerance);
  }
}

TEST_CASE("the row order of W_q and W_k equals the conversion script's") {
  const Json file = golden("rope_weight_permutation");
  for (const Json& c : file["cases"].items()) {
    const int num_heads = c["params"]["num_heads"].integer(), head_dim = c["params"]["head_dim"].integer();
    std::vector<int32_t> row_index(static_cast<size_t>(num_heads * head_dim));
    half_from_interleaved(row_index,
                          {.num_heads = num_heads, .seq_len = 1, .head_dim = head_dim, .rotary_dim = head_dim});
    check_equal(c["id"].text(), row_index, c["expected"]["row_index"].numbers());
  }
}

TEST_CASE("the float cos and sin table is within kTableError for every number of pairs") {
  Dice dice{11};
  for (int pairs = 1; pairs <= 33; ++pairs) {
    for (int round = 0; round < 6; ++round) {
      const Doubles inv_freq = plain_inv_freq(2 * pairs, dice.pick({10000.0, 5e5, 10.0}));
      const int seq_len = dice.pick({1, 2, 3, 5, 16, 17, 18, 35, 51});
      const double first = dice.pick({0.0, 0.5, -7.0, 131071.0, 999900.0}),
                   factor = dice.pick({1.0, 1.2772, 0.75});
      Doubles positions;
      for (int t = 0; t < seq_len; ++t) positions.push_back(first + t);
      const FloatCosSin table = cache_from(first, seq_len, inv_freq, factor);
      const CosSin twin = cos_sin_at(positions, inv_freq, factor);
      const auto allowance = [&](size_t i) {
        const size_t n = inv_freq.size();
        return factor * (kTableError + cos_sin_error(positions[i / n] * inv_freq[i % n]));
      };
      const std::string id = std::to_string(pairs) + " pairs, round " + std::to_string(round);
      check_near(id + " cos", table.cos, twin.cos, allowance);
      check_near(id + " sin", table.sin, twin.sin, allowance);
    }
  }
}

TEST_CASE("the tuned rotation agrees with its double twin for every width, head count and length") {
  Dice dice{12};
  for (int pairs = 1; pairs <= 33; ++pairs) {
    for (const PairLayout layout : kPairLayouts) {
      const int rest = dice.pick({0, 0, 1, 2, 3, 16});
      const RopeShape shape{.num_heads = dice.between(1, 3),
                            .seq_len = dice.pick({1, 2, 3, 5, 7}),
                            .head_dim = 2 * pairs + rest,
                            .rotary_dim = 2 * pairs,
                            .layout = layout};
      const auto cells = static_cast<size_t>(shape.num_heads * shape.seq_len * shape.head_dim);
      const Floats x = to_floats(normals(cells, static_cast<uint32_t>(pairs)));
      const FloatCosSin table = cache_from(100, shape.seq_len, plain_inv_freq(2 * pairs));
      const Floats out = rotated(x, table.cos, table.sin, shape);
      const Doubles twin = rotated(to_doubles(x), to_doubles(table.cos), to_doubles(table.sin), shape);
      const Doubles sizes = pair_sizes(to_doubles(x), shape);
      const std::string id = std::to_string(pairs) + " pairs, rest " + std::to_string(rest);
      check_near(id, out, twin, [&](size_t i) { return kRopeApplyError * sizes[i]; });

      Floats in_place = x;
      rope_apply(in_place, in_place, table.cos, table.sin, shape);
      check_equal(id + " in place", in_place, out);
      Doubles double_in_place = to_doubles(x);
      rope_apply(double_in_place, double_in_place, to_doubles(table.cos), to_doubles(table.sin), shape);
      check_equal(id + " in place, double", double_in_place, twin);
      // The components past rotary_dim are copied.
      for (size_t i = 0; i < cells; ++i) {
        if (i % static_cast<size_t>(shape.head_dim) >= static_cast<size_t>(2 * pairs)) REQUIRE(out[i] == x[i]);
      }
    }
  }
}

TEST_CASE("rotation leaves the norm of every row unchanged") {
  for (const PairLayout layout : kPairLayouts) {
    const RopeShape shape{.num_heads = 2, .seq_len = 9, .head_dim = 34, .rotary_dim = 34, .layout = layout};
    const Doubles x = normals(2 * 9 * 34, 13);
    Doubles positions;
    for (int t = 0; t < 9; ++t) positions.push_back(1000 * t);
    const CosSin table = cos_sin_at(positions, plain_inv_freq(34));
    const Doubles out = rotated(x, table.cos, table.sin, shape);
    Doubles before, after;
    for (size_t row = 0; row < 18; ++row) {
      double a = 0, b = 0;
      for (size_t c = 0; c < 34; ++c)
        a += x[row * 34 + c] * x[row * 34 + c], b += out[row * 34 + c] * out[row * 34 + c];
      before.push_back(a);
      after.push_back(b);
    }
    // cos^2 + sin^2 is 1 to 4 ulp; a sum of 34 squares adds its own 34 roundings.
    check_relative("squared norms", after, before, 40 * 0x1p-52);
  }
}

TEST_CASE("rotation by 0 is the identity, bit for bit") {
  for (const PairLayout layout : kPairLayouts) {
    const RopeShape shape{.seq_len = 1, .head_dim = 22, .rotary_dim = 18, .layout = layout};
    const Floats x = to_floats(normals(22, 14));
    const FloatCosSin table = cache_from(0, 1, plain_inv_freq(18));
    check_equal("float", rotated(x, table.cos, table.sin, shape), x);
    const CosSin exact = cos_sin_at({0}, plain_inv_freq(18));
    check_equal("double", rotated(to_doubles(x), exact.cos, exact.sin, shape), x);
  }
}

TEST_CASE("with one q and one k repeated, scores depend on key minus query alone") {
  for (const PairLayout layout : kPairLayouts) {
    const int seq_len = 13, d = 16;
    const RopeShape shape{.seq_len = seq_len, .head_dim = d, .rotary_dim = d, .layout = layout};
    const Doubles q_row = normals(16, 15), k_row = normals(16, 16), inv_freq = plain_inv_freq(d);
    Doubles q, k, positions;
    for (int t = 0; t < seq_len; ++t) {
      q.insert(q.end(), q_row.begin(), q_row.end());
      k.insert(k.end(), k_row.begin(), k_row.end());
      positions.push_back(t);
    }
    double size = 0;  // sum over pairs of |q_i||k_i|, at most
    for (size_t c = 0; c < 16; ++c) size += std::fabs(q_row[c]) + std::fabs(k_row[c]);
    const double slack = size * size * (13 * 0x1p-53 + 2e-15);
    const CosSin table = cos_sin_at(positions, inv_freq);
    const Doubles scores =
        scores_of(rotated(q, table.cos, table.sin, shape), rotated(k, table.cos, table.sin, shape), 16);
    Doubles by_diagonal;
    for (size_t i = 0; i < 13; ++i) {
      for (size_t j = 0; j < 13; ++j) by_diagonal.push_back(scores[j >= i ? j - i : (i - j) * 13]);
    }
    check_near("diagonals", scores, by_diagonal, slack);

    if (layout == PairLayout::kInterleaved) {
      // q^T R(n-m) k, at relative_position key minus query.
      Doubles offsets, score(25), expected;
      for (int o = -12; o <= 12; ++o) {
        offsets.push_back(o);
        expected.push_back(o >= 0 ? scores[static_cast<size_t>(o)] : scores[static_cast<size_t>(-o) * 13]);
      }
      rope_score_by_offset(score, offsets, q_row, k_row, inv_freq);
      check_near("by offset", score, expected, slack);
    }
  }
}

TEST_CASE("scores do not change when both positions are shifted alike") {
  const RopeShape shape{.seq_len = 1, .head_dim = 32, .rotary_dim = 32};
  const Doubles q = normals(32, 17), k = normals(32, 18), inv_freq = plain_inv_freq(32);
  const auto score = [&](double m, double n) {
    const CosSin at_m = cos_sin_at({m}, inv_freq), at_n = cos_sin_at({n}, inv_freq);
    return scores_of(rotated(q, at_m.cos, at_m.sin, shape), rotated(k, at_n.cos, at_n.sin, shape), 32)[0];
  };
  for (const double shift : {1.0, 17.0, 4096.0, 100000.0}) {
    // Angles near the shift are rounded to 2^-53 of themselves; 32 products of sizes near 1.
    check_near("shift " + std::to_string(shift), score(5 + shift, 12 + shift), score(5, 12),
               32 * (2e-15 + shift * 0x1p-52));
  }
}

TEST_CASE("the two layouts agree through the permutation, and only through it") {
  Dice dice{19};
  for (int round = 0; round < 20; ++round) {
    RopeShape shape{.num_heads = dice.between(1, 3), .seq_len = 4, .rotary_dim = 2 * dice.between(2, 20)};
    shape.head_dim = shape.rotary_dim + dice.pick({0, 3});
    const auto d = static_cast<size_t>(shape.head_dim);
    const size_t cells = static_cast<size_t>(shape.num_heads) * 4 * d;
    const Doubles x = normals(cells, static_cast<uint32_t>(round));
    const CosSin table = cos_sin_at({0, 1, 2, 3}, plain_inv_freq(shape.rotary_dim));
    std::vector<int32_t> order(static_cast<size_t>(shape.num_heads) * d);
    half_from_interleaved(order, shape);
    // The permutation moves rows within each head, so one head's part of it serves every row.
    const auto in_half_order = [&](const Doubles& v) {
      Doubles y;
      for (size_t i = 0; i < v.size(); ++i) y.push_back(v[i / d * d + static_cast<size_t>(order[i % d])]);
      return y;
    };
    for (size_t i = 0; i < order.size(); ++i) {
      REQUIRE(order[i] == order[i % d] + static_cast<int32_t>(i / d * d));
    }
    const Doubles interleaved = rotated(x, table.cos, table.sin, shape);
    shape.layout = PairLayout::kHalf;
    check_equal("round " + std::to_string(round), rotated(in_half_order(x), table.cos, table.sin, shape),
                in_half_order(interleaved));
    CHECK(rotated(x, table.cos, table.sin, shape) != interleaved);
  }
}

TEST_CASE("equal time, height and width positions are plain RoPE in both M-RoPE layouts") {
  const int32_t sections[] = {6, 5, 5};
  const Doubles inv_freq = plain_inv_freq(32), plain = {0, 1, 2, 50, 1000};
  Doubles positions;
  for (int axis = 0; axis < 3; ++axis) positions.insert(positions.end(), plain.begin(), plain.end());
  for (const MropeLayout layout : {MropeLayout::kChunked, MropeLayout::kInterleaved}) {
    std::vector<int32_t> axis(16), count(3);
    mrope_axes(axis, sections, layout);
    for (const int32_t a : axis) ++count[static_cast<size_t>(a)];
    check_equal("sections", count, sections);
    CosSin table{Doubles(80), Doubles(80)};
    mrope_cos_sin(table.cos, table.sin, positions, axis, inv_freq, 1);
    const CosSin expected = cos_sin_at(plain, inv_freq);
    check_equal("cos", table.cos, expected.cos);
    check_equal("sin", table.sin, expected.sin);
  }
}

TEST_CASE("M-RoPE axes: three chunks, or taking turns until height and width are used up") {
  std::vector<int32_t> axis(8);
  mrope_axes(axis, std::vector<int32_t>{2, 3, 3}, MropeLayout::kChunked);
  check_equal("chunked", axis, std::vector{0, 0, 1, 1, 1, 2, 2, 2});
  mrope_axes(axis, std::vector<int32_t>{4, 2, 2}, MropeLayout::kInterleaved);
  check_equal("interleaved", axis, std::vector{0, 1, 2, 0, 1, 2, 0, 0});
}

TEST_CASE("sections that M-RoPE refuses") {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  CHECK(invalid_mrope(std::vector<int32_t>{2, 3, 3}, 8) == nullptr);
  CHECK(invalid_mrope(std::vector<int32_t>{8, 0, 0}, 8) == nullptr);
  check_refused(invalid_mrope(std::vector<int32_t>{4, 4}, 8), "sections");
  check_refused(invalid_mrope(std::vector<int32_t>{}, 0), "sections");
  check_refused(invalid_mrope(std::vector<int32_t>{9, -1, 0}, 8), "sections must not be negative");
  check_refused(invalid_mrope(std::vector<int32_t>{2, 3, 4}, 8), "sections must sum");
  check_refused(invalid_mrope(std::vector<int32_t>{kMax, kMax, 10}, 8), "sections must sum");
}

TEST_CASE("interleaved sections too long for their turns leave the rest to time, as slices do") {
  // Height stands at pairs 1, 4, 7 of 8: three of the eight asked for.
  std::vector<int32_t> axis(8);
  mrope_axes(axis, std::vector<int32_t>{0, 8, 0}, MropeLayout::kInterleaved);
  check_equal("0, 8, 0", axis, std::vector{0, 1, 0, 0, 1, 0, 0, 1});
}

TEST_CASE("invalid(RopeShape) names the field that is wrong") {
  constexpr int kMax = std::numeric_limits<int>::max();
  const RopeShape good{.num_heads = 2, .seq_len = 4, .head_dim = 8, .rotary_dim = 6};
  CHECK(invalid(good) == nullptr);
  const auto refused = [&](auto change, const char* field) {
    RopeShape shape = good;
    change(shape);
    check_refused(invalid(shape), field);
  };
  for (const int bad : {0, -1, -kMax - 1}) {
    refused([&](auto& s) { s.num_heads = bad; }, "num_heads");
    refused([&](auto& s) { s.seq_len = bad; }, "seq_len");
    refused([&](auto& s) { s.head_dim = bad; }, "head_dim");
    refused([&](auto& s) { s.rotary_dim = bad; }, "rotary_dim");
  }
  for (const int bad : {1, 5, 10, kMax, kMax - 1}) refused([&](auto& s) { s.rotary_dim = bad; }, "rotary_dim");
  refused([&](auto& s) { s.head_dim = 1; }, "head_dim");
  refused([&](auto& s) { s.num_heads = s.seq_len = s.head_dim = kMax; }, "num_heads * seq_len * head_dim");
}
