#include "windhover/platform/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "windhover/platform/cpu.h"

namespace windhover {
namespace {

using Block = std::array<std::uint32_t, 4>;

constexpr std::uint64_t kSeed = 0x243f'6a88'85a3'08d3;
constexpr RandomPosition kPosition{
    .step = 0x1'0000'0003, .chain = 0xffff, .purpose = Purpose::kTest};
constexpr InstructionSet kSets[] = {InstructionSet::kBaseline, InstructionSet::kAvx2,
                                    InstructionSet::kAvx512};

// The algorithm once more, as plainly as the paper has it.
Block plain_philox(Block x, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * x[0];
    const std::uint64_t p1 = 0xCD9E8D57ull * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

std::vector<std::uint32_t> plain_bits(std::uint64_t seed, const RandomPosition& p,
                                      std::size_t count) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t block = 0; words.size() < count; ++block) {
    const std::uint32_t third = p.chain | static_cast<std::uint32_t>(p.purpose) << 16;
    const Block x =
        plain_philox({static_cast<std::uint32_t>(p.step), static_cast<std::uint32_t>(p.step >> 32),
                      third, block},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    words.insert(words.end(), x.begin(), x.end());
  }
  words.resize(count);
  return words;
}

// 52 bits of two consecutive words, as random.h says.
std::uint64_t top_bits(const std::vector<std::uint32_t>& words, std::size_t first) {
  return (std::uint64_t{words[first + 1]} << 32 | words[first]) >> 12;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

class RandomKernels : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    limit_instruction_set(GetParam());
    if (instruction_set() != GetParam()) {
      GTEST_SKIP() << "this processor has no " << to_string(GetParam());
    }
  }
  void TearDown() override { limit_instruction_set(InstructionSet::kAvx512); }
};

// Published with Random123 (kat_vectors, philox4x32 10).
TEST_P(RandomKernels, KnownAnswersOfRandom123) {
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kAll, kAll, kAll, kAll}, {kAll, kAll}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST_P(RandomKernels, BitsFollowTheDocumentedCounterAtEveryLength) {
  const std::vector<std::uint32_t> expected = plain_bits(kSeed, kPosition, 300);
  for (std::size_t count = 0; count <= expected.size(); ++count) {
    std::vector<std::uint32_t> actual(count + 1, 0xabababab);
    fill_bits(kSeed, kPosition, std::span(actual).first(count));
    ASSERT_TRUE(std::equal(actual.begin(), actual.end() - 1, expected.begin())) << count;
    ASSERT_EQ(actual.back(), 0xabababab) << "wrote past the end";
  }
}

TEST_P(RandomKernels, IndicesAreWordsTimesBoundOverTwoToThe32) {
  const std::vector<std::uint32_t> words = plain_bits(kSeed, kPosition, 200);
  for (const std::uint32_t bound : {0u, 1u, 2u, 3u, 1000u, 0x80000001u, 0xffffffffu}) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{10}, std::size_t{100}, words.size()}) {
      std::vector<std::uint32_t> actual(count + 1, 0xabababab);
      fill_indices(kSeed, kPosition, bound, std::span(actual).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(actual[i], (std::uint64_t{words[i]} * bound) >> 32) << bound << " " << i;
      }
      ASSERT_EQ(actual.back(), 0xabababab);
    }
  }
}

TEST_P(RandomKernels, UniformsAreTheMiddlesOf52BitCells) {
  constexpr std::size_t kCount = 101;
  const std::vector<std::uint32_t> words = plain_bits(kSeed, kPosition, 2 * kCount);
  std::vector<double> actual(kCount);
  fill_uniforms(kSeed, kPosition, actual);
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(actual[i], (static_cast<double>(top_bits(words, 2 * i)) + 0.5) * 0x1p-52);
  }
}

TEST_P(RandomKernels, NormalsAreBoxAndMullerTo15Digits) {
  constexpr std::size_t kPairs = 200'000;
  const std::vector<std::uint32_t> words = plain_bits(kSeed, kPosition, 4 * kPairs);
  std::vector<double> actual(2 * kPairs);
  fill_normals(kSeed, kPosition, actual);
  long double worst = 0;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const long double u = (static_cast<long double>(top_bits(words, 4 * i)) + 0.5L) * 0x1p-52L;
    const long double radius = std::sqrt(-2 * std::log(u));
    const std::uint64_t k = top_bits(words, 4 * i + 2);
    const std::uint64_t quadrant = k >> 50;
    const std::uint64_t rest = k & ((std::uint64_t{1} << 50) - 1);
    const long double f = (static_cast<long double>(rest) + 0.5L) * 0x1p-50L - 0.5L;
    const long double angle = f * std::numbers::pi_v<long double> / 2;
    long double x = radius * std::cos(angle);
    long double y = radius * std::sin(angle);
    for (std::uint64_t turn = 0; turn < quadrant; ++turn) {
      const long double old_x = x;
      x = -y;
      y = old_x;
    }
    worst = std::max(worst, std::abs(actual[2 * i] / x - 1));
    worst = std::max(worst, std::abs(actual[2 * i + 1] / y - 1));
  }
  RecordProperty("worst_relative_error",
                 std::to_string(static_cast<double>(worst * 1e16L)) + "e-16");
  EXPECT_LT(worst, 1e-15L);
}

TEST_P(RandomKernels, ShorterSpanIsAPrefixOfALongerOne) {
  std::vector<double> uniforms(200);
  std::vector<double> normals(200);
  fill_uniforms(kSeed, kPosition, uniforms);
  fill_normals(kSeed, kPosition, normals);
  for (std::size_t count = 0; count < 200; ++count) {
    std::vector<double> actual(count + 1, -7.0);
    fill_normals(kSeed, kPosition, std::span(actual).first(count));
    ASSERT_TRUE(std::equal(actual.begin(), actual.end() - 1, normals.begin())) << count;
    ASSERT_EQ(actual.back(), -7.0);
    fill_uniforms(kSeed, kPosition, std::span(actual).first(count));
    ASSERT_TRUE(std::equal(actual.begin(), actual.end() - 1, uniforms.begin())) << count;
    ASSERT_EQ(actual.back(), -7.0);
  }
}

TEST_P(RandomKernels, NormalsAndUniformsHaveTheBitsOfTheBaseline) {
  constexpr std::size_t kCount = 100'001;
  std::vector<double> normals(kCount);
  std::vector<double> uniforms(kCount);
  fill_normals(kSeed, kPosition, normals);
  fill_uniforms(kSeed, kPosition, uniforms);
  limit_instruction_set(InstructionSet::kBaseline);
  std::vector<double> expected(kCount);
  fill_normals(kSeed, kPosition, expected);
  EXPECT_TRUE(std::ranges::equal(normals, expected, same_bits));
  fill_uniforms(kSeed, kPosition, expected);
  EXPECT_TRUE(std::ranges::equal(uniforms, expected, same_bits));
}

INSTANTIATE_TEST_SUITE_P(EachInstructionSet, RandomKernels, testing::ValuesIn(kSets),
                         [](const auto& set) { return std::string(to_string(set.param)); });

// Sample moments of 2^22 draws; each bound is 4.5 standard errors of the moment concerned, whose
// variance for a standard normal is 1, 2, 15 and 96 over n (about one chance in 10^5 each; the seed
// is fixed).
TEST(RandomNormals, MomentsAreThoseOfAStandardNormal) {
  constexpr std::size_t kChunk = 1 << 12;
  constexpr std::size_t kChunks = 1 << 10;
  std::vector<double> x(kChunk);
  std::array<double, 4> moment{};
  double product = 0;
  double product_of_squares = 0;
  for (std::uint64_t step = 0; step < kChunks; ++step) {
    fill_normals(kSeed, {.step = step, .purpose = Purpose::kInjectedNoise}, x);
    for (std::size_t i = 0; i < kChunk; i += 2) {
      for (const double v : {x[i], x[i + 1]}) {
        moment[0] += v;
        moment[1] += v * v - 1;
        moment[2] += v * v * v;
        moment[3] += v * v * v * v - 3;
      }
      product += x[i] * x[i + 1];
      product_of_squares += (x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1);
    }
  }
  const double n = kChunk * kChunks;
  const std::array<double, 4> variance = {1, 2, 15, 96};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_LT(std::abs(moment[k] / n), 4.5 * std::sqrt(variance[k] / n)) << "moment " << k + 1;
  }
  // The two of a pair are independent, as are their squares (variance of the product 1 and 4).
  const double pairs = n / 2;
  EXPECT_LT(std::abs(product / pairs), 4.5 * std::sqrt(1 / pairs));
  EXPECT_LT(std::abs(product_of_squares / pairs), 4.5 * std::sqrt(4 / pairs));
}

// Kolmogorov and Smirnov at n = 2^20: sqrt(n) D exceeds 2.23 with probability 10^-4.
TEST(RandomNormals, DistributionPassesKolmogorovSmirnov) {
  constexpr std::size_t kCount = 1 << 20;
  std::vector<double> x(kCount);
  fill_normals(kSeed, kPosition, x);
  std::sort(x.begin(), x.end());
  const double n = kCount;
  double largest = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double cdf = 0.5 * std::erfc(-x[i] / std::numbers::sqrt2);
    const double rank = static_cast<double>(i);
    largest = std::max({largest, (rank + 1) / n - cdf, cdf - rank / n});
  }
  EXPECT_LT(std::sqrt(n) * largest, 2.23);
}

// Counts beyond t are Poisson; 4.5 of its standard deviations, plus one for its skewness where few
// are expected (2^24 draws: 531 a side beyond 4, 4.8 a side beyond 5).
TEST(RandomNormals, TailsBeyondFourAndFiveHaveTheirShare) {
  constexpr std::size_t kChunk = 1 << 14;
  constexpr std::size_t kChunks = 1 << 10;
  std::vector<double> x(kChunk);
  std::array<double, 4> counts{};
  for (std::uint64_t step = 0; step < kChunks; ++step) {
    fill_normals(kSeed, {.step = step, .purpose = Purpose::kTest}, x);
    for (const double v : x) {
      counts[0] += v > 4;
      counts[1] += v < -4;
      counts[2] += v > 5;
      counts[3] += v < -5;
      ASSERT_LT(std::abs(v), 8.58);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const double t = i < 2 ? 4 : 5;
    const double expected = 0.5 * std::erfc(t / std::numbers::sqrt2) * kChunk * kChunks;
    EXPECT_LT(std::abs(counts[i] - expected), 4.5 * std::sqrt(expected) + 1) << i;
  }
}

// Chi squared over 100 cells, 99 degrees of freedom: above 161 with probability 10^-4.
TEST(RandomIndices, AreSpreadEvenly) {
  constexpr std::uint32_t kBound = 100;
  constexpr std::size_t kCount = 1'000'000;
  std::vector<std::uint32_t> indices(kCount);
  fill_indices(kSeed, kPosition, kBound, indices);
  std::array<double, kBound> cells{};
  for (const std::uint32_t index : indices) {
    ASSERT_LT(index, kBound);
    cells[index] += 1;
  }
  constexpr double kExpected = double{kCount} / kBound;
  double chi_squared = 0;
  for (const double cell : cells)
    chi_squared += (cell - kExpected) * (cell - kExpected) / kExpected;
  EXPECT_LT(chi_squared, 161);
}

// 64-bit halves of blocks: among 23,000 of them a chance collision has probability below 10^-10.
TEST(RandomPosition, NoTwoSeedsStepsChainsOrPurposesShareBits) {
  constexpr std::size_t kWords = 128;
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const std::uint64_t step : {0ull, 1ull, 1ull << 32, ~0ull}) {
      for (const std::uint32_t chain : {0u, 1u, 7u, 0xffffu}) {
        for (std::uint16_t purpose = 1; purpose <= 7; ++purpose) {
          std::array<std::uint32_t, kWords> words;
          fill_bits(seed, {step, static_cast<std::uint16_t>(chain), static_cast<Purpose>(purpose)},
                    words);
          for (std::size_t i = 0; i < kWords; i += 2, ++drawn) {
            seen.insert(std::uint64_t{words[i + 1]} << 32 | words[i]);
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Rng, FirstFillIsThatOfTheFreeFunction) {
  std::vector<double> expected(25);
  fill_normals(kSeed, kPosition, expected);
  std::vector<double> actual(25);
  Rng rng(kSeed, kPosition);
  rng.fill_normals(actual);
  EXPECT_EQ(actual, expected);
  rng.seek(kPosition);
  rng.fill_normals(actual);
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(rng.seed(), kSeed);
  EXPECT_EQ(rng.position().step, kPosition.step);
}

TEST(Rng, ConsecutiveFillsContinueAtTheNextWholeBlock) {
  const std::vector<std::uint32_t> words = plain_bits(kSeed, kPosition, 100);
  Rng rng(kSeed, kPosition);
  std::vector<std::uint32_t> five(5);  // blocks 0 and 1
  rng.fill_bits(five);
  EXPECT_TRUE(std::equal(five.begin(), five.end(), words.begin()));
  std::vector<std::uint32_t> indices(4);  // block 2
  rng.fill_indices(0xffffffff, indices);
  EXPECT_EQ(indices[0], (std::uint64_t{words[8]} * 0xffffffff) >> 32);
  std::vector<double> uniforms(3);  // blocks 3 and 4
  rng.fill_uniforms(uniforms);
  EXPECT_EQ(uniforms[0], (static_cast<double>(top_bits(words, 12)) + 0.5) * 0x1p-52);
  std::vector<double> normals(2);  // block 5
  rng.fill_normals(normals);
  std::vector<double> all_normals(12);
  fill_normals(kSeed, kPosition, all_normals);
  EXPECT_EQ(normals[0], all_normals[10]);
  EXPECT_EQ(normals[1], all_normals[11]);
}

TEST(Rng, CopyContinuesOnItsOwn) {
  Rng rng(kSeed, kPosition);
  std::vector<double> skipped(10);
  rng.fill_normals(skipped);
  Rng copy = rng;
  std::vector<double> a(10);
  std::vector<double> b(10);
  rng.fill_normals(a);
  copy.fill_normals(b);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, skipped);
  static_assert(sizeof(Rng) == 32);
}

}  // namespace
}  // namespace windhover
