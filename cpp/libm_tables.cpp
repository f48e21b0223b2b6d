// The tables of the C library's exp, exp2, log and pow, computed at the start instead of downloaded.
//
// Emscripten's libm is musl, whose four functions look up 9 kB of logarithms and powers that no compression
// makes smaller. All of it follows from formulas, but for the choice of 128 divisors: here it is worked out in
// 128-bit fixed point, bit for bit the same. The linker takes these in place of musl's; other libraries do not
// ask for them.
//
// Based on: Arm's optimized routines (Szabolcs Nagy), copyright 2018 Arm Limited, MIT license, as in musl 1.2:
// exp_data.c, log_data.c and pow_data.c, whose layouts, coefficients and formulas these are.
#include <cmath>
#include <cstdint>

#include "simd.hpp"

namespace posenc {
namespace {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

constexpr int kSize = 128;  // of each table

struct ExpData {
  double invln2_n = 0x1.71547652b82fep0 * kSize, shift = 0x1.8p52;
  double negln2hi_n = -0x1.62e42fefa0000p-8, negln2lo_n = -0x1.cf79abc9e3b3ap-47;
  double poly[4] = {0x1.ffffffffffdbdp-2, 0x1.555555555543cp-3, 0x1.55555cf172b91p-5, 0x1.1111167a4d017p-7};
  double exp2_shift = 0x1.8p52 / kSize;
  double exp2_poly[5] = {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c424p-3, 0x1.c6b08d70cf4b5p-5, 0x1.3b2abd24650ccp-7,
                         0x1.5d7e09b4e3a84p-10};
  struct {
    double tail;
    uint64_t bits;
  } tab[kSize];  // 2^(k/128) = head (1 + tail); bits are those of head, less k of its exponent
};

struct LogData {
  double ln2hi = 0x1.62e42fefa3800p-1, ln2lo = 0x1.ef35793c76730p-45;
  double poly[5] = {-0x1.0000000000001p-1, 0x1.555555551305bp-2, -0x1.fffffffeb459p-3, 0x1.999b324f10111p-3,
                    -0x1.55575e506c89fp-3};
  double poly1[11] = {-0x1p-1,
                      0x1.5555555555577p-2,
                      -0x1.ffffffffffdcbp-3,
                      0x1.999999995dd0cp-3,
                      -0x1.55555556745a7p-3,
                      0x1.24924a344de3p-3,
                      -0x1.fffffa4423d65p-4,
                      0x1.c7184282ad6cap-4,
                      -0x1.999eb43b068ffp-4,
                      0x1.78182f7afd085p-4,
                      -0x1.5521375d145cdp-4};
  struct {
    double invc, logc;  // 1/c, and log(c) in whole 2^-43
  } tab[kSize];
  struct {
    double chi, clo;  // c in two doubles
  } tab2[kSize];
};

struct PowLogData {
  double ln2hi = 0x1.62e42fefa3800p-1, ln2lo = 0x1.ef35793c76730p-45;
  double poly[7] = {-0x1p-1,
                    0x1.555555555556p-2 * -2,
                    -0x1.0000000000006p-2 * -2,
                    0x1.999999959554ep-3 * 4,
                    -0x1.555555529a47ap-3 * 4,
                    0x1.2495b9b4845e9p-3 * -8,
                    -0x1.0002b8b263fc3p-3 * -8};
  struct {
    double invc, pad, logc, logctail;  // 1/c, and log(c) in whole 2^-43 and the rest
  } tab[kSize];
};

// log's 1/c, counted in doubles from 1/(the middle of the interval): found by search, so that logc and clo are
// almost exact.
constexpr int32_t kLogChoice[kSize] = {
    -23142382,  -57643754,  -234334839, -124664804, 19045012,   -123323398, -501163255, 342479926,  -234593306,
    57421184,   513617488,  -240891478, 85169741,   28659150,   284053799,  342563057,  -68420459,  -346144712,
    -90113766,  -464022980, 285342708,  -489548825, 376054848,  47397812,   -423637851, -260988534, 336107021,
    448241578,  154177355,  447893384,  241227555,  -420636714, -218426730, -96876684,  -205835218, -368178198,
    -345128710, -510284502, 481763731,  209336112,  429336310,  15489329,   442353177,  -417834330, 73183371,
    515232680,  507984536,  83787275,   330409952,  151596684,  377744204,  198302857,  214798271,  -345957716,
    356163107,  215510022,  -229897960, -131709726, 215213618,  -464519207, -332821996, 385780520,  -400344786,
    256208139,  478356527,  345720337,  128466877,  217515751,  -162048343, 295127580,  -235892775, -69369347,
    93666841,   -272860130, 91915174,   29018059,   258893229,  386009280,  -241633007, 68399381,   386341370,
    408940642,  65060217,   -120872168, 189498853,  -32395328,  -49955913,  154042178,  -346113480, 148348366,
    -396488327, -427431396, 107119491,  -500798201, 212184347,  305888811,  -330297730, -91422864,  6707636,
    273897542,  -512931067, -500150233, 485589437,  -280752730, 106848032,  30953893,   -291342514, -408884927,
    149302919,  -107851081, 225432558,  460497078,  -452391632, -490679353, 508304210,  493208081,  336502878,
    526975298,  -457361038, -312310462, -365194252, -421357131, 362015322,  310793228,  -441535439, -69145545,
    -528727990, 433364383};

// The middle of interval i of 128, of those that begin at a double with the upper bits `first`.
double middle(uint64_t first, int i) {
  const uint64_t bits = first + (static_cast<uint64_t>(2 * i + 1) << 44);
  return load<double>(&bits);
}

// x + small, |x| < 2^117, rounded once.
double to_double(int128 x, double small = 0) {
  return static_cast<double>(static_cast<int64_t>(x >> 64)) * 0x1p64 +
         (static_cast<double>(static_cast<uint64_t>(x)) + small);
}

// x/d, d < 2^32: the compiler's own would be ten times as long.
uint128 divide(uint128 x, uint64_t d) {
  uint128 quotient = 0;
  uint64_t rest = 0;
  for (int limb = 0; limb < 4; ++limb) {
    rest = rest << 32 | static_cast<uint64_t>(x >> 96);
    quotient = quotient << 32 | rest / d;
    rest %= d;
    x <<= 32;
  }
  return quotient;
}

// a b / 2^128.
uint128 high_product(uint128 a, uint128 b) {
  const auto high = [](uint128 x) { return static_cast<uint64_t>(x >> 64); };
  const auto low = [](uint128 x) { return static_cast<uint64_t>(x); };
  const uint128 middle_a = static_cast<uint128>(high(a)) * low(b),
                middle_b = static_cast<uint128>(low(a)) * high(b);
  return static_cast<uint128>(high(a)) * high(b) + high(middle_a) + high(middle_b);
}

// log((m+1)/m) = 2 (1/n + 1/(3 n^3) + 1/(5 n^5) + ...), n = 2m + 1, in units of 2^-126.
uint128 log_step(uint64_t m) {
  const uint64_t n = 2 * m + 1;
  uint128 sum = 0, power = divide(uint128{1} << 127, n);
  for (uint64_t odd = 1; power != 0; odd += 2) {
    sum += divide(power, odd);
    power = divide(power, n * n);
  }
  return sum;
}

// log(m/256) in units of 2^-126, for all m that are asked for.
struct Logarithms {
  static constexpr int kFirst = 176, kLast = 372;
  int128 from_first[kLast - kFirst + 1] = {};

  Logarithms() {
    for (int m = kFirst; m < kLast; ++m) {
      from_first[m + 1 - kFirst] =
          from_first[m - kFirst] + static_cast<int128>(log_step(static_cast<uint64_t>(m)));
    }
  }
  int128 of(int m) const { return from_first[m - kFirst] - from_first[256 - kFirst]; }
};

void fill_powers(ExpData& data) {
  uint128 powers[kSize];  // 2^(k/128) in units of 2^-127
  constexpr uint128 kRoot = uint128{0x80B1ED4FD999AB6C} << 64 | 0x25335719B6E6FD20;
  powers[0] = uint128{1} << 127;
  for (int k = 1; k < kSize; ++k) powers[k] = high_product(powers[k - 1], kRoot) << 1;
  for (int k = 0; k < kSize; ++k) {
    const auto head = static_cast<double>(static_cast<uint64_t>(powers[k] >> 64));
    const uint128 whole = static_cast<uint128>(static_cast<uint64_t>(head)) << 64;
    const double scaled = head * 0x1p-63;
    data.tab[k].bits = load<uint64_t>(&scaled) - (static_cast<uint64_t>(k) << 45);
    if (k == 0) continue;
    // part = rest / 2^(k/128), tail = rest / head = part (1 + tail), both in units of 2^-169.
    const bool below = powers[k] < whole;
    const uint128 rest = below ? whole - powers[k] : powers[k] - whole;
    const auto size = static_cast<int128>(high_product(rest << 42, powers[kSize - k]));
    const int128 part = below ? -size : size;
    const double about = to_double(part);
    data.tab[k].tail = to_double(part, about * about * 0x1p-169) * 0x1p-169;
  }
}

void fill_logs(LogData& data, const Logarithms& logs) {
  for (int i = 0; i < kSize; ++i) {
    const double nearest = 1 / middle(0x3FE6000000000000, i);
    const uint64_t chosen = load<uint64_t>(&nearest) + static_cast<uint64_t>(kLogChoice[i]);
    const auto invc = load<double>(&chosen);
    const int m = static_cast<int>(256 * invc + 0.5);  // NOLINT(bugprone-incorrect-roundings): no ties here
    const double r = (256 * invc - m) / m;
    const double log =
        to_double(logs.of(m)) * 0x1p-126 + r * (1 - r * (1.0 / 2 - r * (1.0 / 3 - r * (1.0 / 4 - r / 5))));
    data.tab[i] = {invc, std::nearbyint(log * -0x1p43) * 0x1p-43};
    const double chi = 1 / invc;
    // 1 - chi invc in units of 2^-106: less than 64 bits of what the product has.
    const auto factor = [](double x) { return static_cast<uint64_t>(x * 0x1p53); };
    const auto rest = static_cast<int64_t>(-(factor(chi) * factor(invc)));
    data.tab2[i] = {chi, static_cast<double>(rest) * 0x1p-106 / invc};
  }
}

void fill_logs(PowLogData& data, const Logarithms& logs) {
  for (int i = 0; i < kSize; ++i) {
    const double center = middle(0x3FE6955500000000, i), steps = center < 1 ? 128 : 256;
    const double invc = std::round(steps / center) / steps;
    const int128 log = -logs.of(static_cast<int>(256 * invc));
    const auto whole = static_cast<int64_t>((log + (int128{1} << 82)) >> 83);  // of 2^-43
    const int128 rest = log - (static_cast<int128>(whole) << 83);
    data.tab[i] = {invc, 0, static_cast<double>(whole) * 0x1p-43, to_double(rest) * 0x1p-126};
  }
}

}  // namespace
}  // namespace posenc

using namespace posenc;

// NOLINTBEGIN(bugprone-reserved-identifier): musl's names.
extern "C" {
ExpData __exp_data;
LogData __log_data;
PowLogData __pow_log_data;
}
// NOLINTEND(bugprone-reserved-identifier)

// Before any other code at the start.
[[gnu::constructor(101)]] static void fill_libm_tables() {
  const Logarithms logs;
  fill_powers(__exp_data);
  fill_logs(__log_data, logs);
  fill_logs(__pow_log_data, logs);
}
