#include "windhover/runtime/prediction/prediction_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "windhover/platform/cpu.h"
#include "windhover/platform/random.h"

namespace windhover::prediction_kernels_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kCounts[] = {1, 2, 7, 8, 9, 15, 16, 17, 64, 100};

std::vector<double> numbers(std::uint64_t seed, std::size_t count) {
  std::vector<double> values(count);
  fill_normals(seed, {}, values);
  return values;
}

class PredictionKernelTable : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (GetParam() > instruction_set()) GTEST_SKIP() << "this processor does not have it";
  }
  const PredictionKernels& table() const {
    switch (GetParam()) {
      case InstructionSet::kAvx512:
        return kPredictionKernelsAvx512;
      case InstructionSet::kAvx2:
        return kPredictionKernelsAvx2;
      default:
        return kPredictionKernelsBaseline;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, PredictionKernelTable,
                         testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2,
                                         InstructionSet::kAvx512),
                         [](const auto& set) { return std::string(to_string(set.param)); });

TEST_P(PredictionKernelTable, sums_agree_with_plain_loops) {
  for (const std::size_t count : kCounts) {
    const std::vector<double> a = numbers(1, count);
    std::vector<double> b = numbers(2, count);
    long double product = 0, product_size = 0, difference = 0, difference_size = 0;
    for (std::size_t i = 0; i < count; ++i) {
      product += static_cast<long double>(a[i]) * b[i];
      product_size += std::abs(a[i] * b[i]);
      difference += static_cast<long double>(a[i]) - b[i];
      difference_size += std::abs(a[i] - b[i]);
    }
    const double bound = static_cast<double>(count + 1) * kEpsilon;
    EXPECT_NEAR(table().dot(a.data(), b.data(), count), static_cast<double>(product),
                bound * static_cast<double>(product_size));
    EXPECT_NEAR(table().shortfall(a.data(), b.data(), count), static_cast<double>(difference),
                bound * static_cast<double>(difference_size));
    EXPECT_EQ(table().shortfall(a.data(), a.data(), count), 0.0);
    b.push_back(7.0);
    table().shift(b.data(), count, 0.25);
    const std::vector<double> before = numbers(2, count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(b[i], before[i] + 0.25);
    EXPECT_EQ(b[count], 7.0) << "wrote past the end";
  }
}

TEST_P(PredictionKernelTable, the_best_is_the_first_of_the_largest) {
  for (const std::size_t count : kCounts) {
    std::vector<double> best = numbers(0, count);
    std::vector<double> winner(count, 0.0);
    std::vector<double> expected_best = best;
    std::vector<double> expected_winner = winner;
    for (std::uint64_t candidate = 1; candidate < 6; ++candidate) {
      // The fourth ties with the third everywhere and takes nothing.
      const std::vector<double> values = numbers(candidate == 4 ? 3 : candidate, count);
      table().keep_best(values.data(), count, static_cast<double>(candidate), best.data(),
                        winner.data());
      for (std::size_t i = 0; i < count; ++i) {
        if (values[i] <= expected_best[i]) continue;
        expected_best[i] = values[i];
        expected_winner[i] = static_cast<double>(candidate);
      }
    }
    EXPECT_EQ(best, expected_best);
    EXPECT_EQ(winner, expected_winner);
  }
}

// One node of weight 1 at z = 1 and others of weight 0.
TEST_P(PredictionKernelTable, sigmoid_and_entropy_are_those_of_long_doubles) {
  const std::array<double, 8> z = {0, 0, 0, 1, 0, 0, 0, 0};
  const std::array<double, 8> weight = {0, 0, 0, 1, 0, 0, 0, 0};
  for (double eta = -60; eta <= 60; eta += 0.03125) {
    std::array<double, 4> sums;
    table().sigmoid_sums(0.25, eta - 0.25, z.data(), weight.data(), z.size(), sums.data());
    const long double p = 1 / (1 + std::exp(-static_cast<long double>(eta)));
    const long double q = 1 / (1 + std::exp(static_cast<long double>(eta)));
    // log p = -log(1 + exp(-eta)) however close p is to 1.
    const long double entropy = p * std::log1p(std::exp(-static_cast<long double>(eta))) +
                                q * std::log1p(std::exp(static_cast<long double>(eta)));
    ASSERT_NEAR(sums[0] / static_cast<double>(p), 1.0, 2e-14) << eta;
    ASSERT_NEAR(sums[1] / static_cast<double>(q), 1.0, 2e-14) << eta;
    ASSERT_NEAR(sums[2] / static_cast<double>(p * q), 1.0, 4e-14) << eta;
    ASSERT_NEAR(sums[3] / static_cast<double>(entropy), 1.0, 2e-14) << eta;
  }
}

TEST_P(PredictionKernelTable, absurd_predictors_give_finite_sums) {
  const std::array<double, 8> z = {-8, -4, -2, -1, 1, 2, 4, 8};
  std::array<double, 8> weight;
  weight.fill(0.125);
  for (const double m : {-1e300, -1e4, 0.0, 1e4, 1e300}) {
    for (const double s : {0.0, 1.0, 1e4}) {
      std::array<double, 4> sums;
      table().sigmoid_sums(m, s, z.data(), weight.data(), z.size(), sums.data());
      for (const double value : sums) {
        EXPECT_GE(value, 0.0);
        EXPECT_LE(value, 1.0);
      }
      EXPECT_NEAR(sums[0] + sums[1], 1.0, 1e-14);
    }
  }
}

TEST(PredictionKernels, table_is_that_of_the_instruction_set) {
  const InstructionSet best = instruction_set();
  limit_instruction_set(InstructionSet::kBaseline);
  EXPECT_EQ(&prediction_kernels(), &kPredictionKernelsBaseline);
  limit_instruction_set(best);
  EXPECT_EQ(&prediction_kernels(), best == InstructionSet::kAvx512 ? &kPredictionKernelsAvx512
                                   : best == InstructionSet::kAvx2 ? &kPredictionKernelsAvx2
                                                                   : &kPredictionKernelsBaseline);
}

}  // namespace
}  // namespace windhover::prediction_kernels_test
