// What a step works out before chains move, of each instruction set, against plain loops in double
// precision.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "windhover/samplers/row_blocks/row_likelihood.h"
#include "windhover/tests/samplers/chain_kernels_fixture.h"

namespace windhover::chain_kernels_test {
namespace {

class StepKernelsTest : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Chains, StepKernelsTest, ::testing::Values(1, 3, 7, 8, 9, 16, 21));

// What the loops over columns read: kColumnLanes and one more, the last of which have no value.
struct OfColumns {
  static constexpr std::size_t kCount = 2 * kColumnLanes;
  static constexpr std::size_t kThere = kColumnLanes + 1;
  OfColumns() {
    for (std::vector<float>* some : {&rows, &precision, &curvature, &length}) {
      for (float& number : *some) number = 0.1F + std::abs(number);
    }
    for (std::size_t k = kThere; k < kCount; ++k) {
      value[k] = curvature[k] = 0;
      rows[k] = 1;
    }
  }

  std::vector<float> value = numbers(kCount, 2);
  std::vector<float> rows = numbers(kCount, 3);
  std::vector<float> precision = numbers(kCount, 4);
  std::vector<float> curvature = numbers(kCount, 5);
  std::vector<float> length = numbers(kCount, 6);
};

TEST(ColumnKernels, ADirectionIsAValueOverWhatHoldsIt) {
  const OfColumns of;
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> by(OfColumns::kCount);
    const double along = kernels->direction(of.value.data(), of.precision.data(),
                                            of.curvature.data(), OfColumns::kCount, by.data());
    double sum = 0;
    for (std::size_t k = 0; k < OfColumns::kCount; ++k) {
      const double exact = of.value[k] / (double{of.precision[k]} + of.curvature[k]);
      EXPECT_NEAR(by[k], exact, kError * std::abs(exact));
      sum += of.value[k] * exact;
    }
    EXPECT_NEAR(along, sum, kError * sum);
  }
}

TEST(ColumnKernels, StepsAreThoseOfTheEquations) {
  constexpr float kScale = 0.3F;
  constexpr float kImportance = 2.5F;
  constexpr float kDispersion = 1.7F;
  const OfColumns of;
  for (const ChainKernels* kernels : tables()) {
    std::array<std::vector<float>, 5> made;
    for (std::vector<float>& some : made) some.resize(OfColumns::kCount);
    auto& [step, noise_sd, scatter, repeats, informed] = made;
    const StepSums sums =
        kernels->steps({of.value.data(), of.rows.data(), of.precision.data(), of.curvature.data(),
                        of.length.data(), step.data(), noise_sd.data(), scatter.data(),
                        repeats.data(), informed.data()},
                       OfColumns::kCount, kScale, kImportance, kDispersion);
    double squares = 0;
    double weights = 0;
    for (std::size_t k = 0; k < OfColumns::kThere; ++k) {
      const double all = double{of.precision[k]} + of.curvature[k];
      const double relative = double{kScale} * of.length[k];
      const double sd = std::sqrt(relative / all * (2 - relative) * kDispersion);
      const double along = relative / all * of.rows[k] * kImportance * of.value[k] / sd;
      EXPECT_NEAR(step[k], relative / all, kError * step[k]);
      EXPECT_NEAR(noise_sd[k], sd, kError * sd);
      EXPECT_NEAR(scatter[k], along, kError * std::abs(along));
      EXPECT_NEAR(repeats[k], of.rows[k] * of.value[k], kError * std::abs(repeats[k]));
      EXPECT_NEAR(informed[k], of.curvature[k] / all / of.rows[k], kError * informed[k]);
      squares += along * along;
      weights += of.curvature[k] / all / of.rows[k];
    }
    EXPECT_NEAR(sums.squares, squares, kError * squares);
    EXPECT_NEAR(sums.weights, weights, kError * weights);
  }
}

// The row is what logistic_at() gives, from where the curvature is 1/4 to where a residual is next
// to nothing.
TEST_P(StepKernelsTest, ALogisticRowIsAsInDoublePrecision) {
  const std::uint32_t chains = GetParam();
  constexpr double kMore = 0.3;
  for (const double scale : {0.0, 1e-4, 0.1, 1.0, 8.0, 40.0}) {
    std::vector<double> eta(chains);
    for (std::uint32_t c = 0; c < chains; ++c) eta[c] = scale * std::cos(1.0 + 2 * c) - kMore;
    for (const double target : {0.0, 1.0}) {
      for (const ChainKernels* kernels : tables()) {
        std::vector<float> residual(chains + 1, 7);
        std::vector<float> curvature(chains + 1, 7);
        const ChainResponses sums =
            kernels->logistic(eta.data(), kMore, target > 0.5 ? -1.0F : 1.0F, chains,
                              residual.data(), curvature.data());
        double residuals = 0;
        double curvatures = 0;
        for (std::uint32_t c = 0; c < chains; ++c) {
          const RowAt exact = logistic_at(eta[c] + kMore, target);
          EXPECT_NEAR(residual[c], exact.residual, 5e-6 * std::abs(exact.residual)) << eta[c];
          EXPECT_NEAR(curvature[c], exact.curvature, 1e-6 * exact.curvature) << eta[c];
          residuals += residual[c];
          curvatures += curvature[c];
        }
        EXPECT_NEAR(sums.residual, residuals, 1e-6 * chains);
        EXPECT_NEAR(sums.curvature, curvatures, 1e-6 * chains);
        EXPECT_EQ(residual[chains], 7);
        EXPECT_EQ(curvature[chains], 7);
      }
    }
  }
}

// No probability is lost far out, and what is no number stays none.
TEST(LogisticKernel, HasEnds) {
  const std::vector<double> eta = {1000, -1000, std::nan(""), 0, 0, 0, 0, 0};
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> residual(8);
    std::vector<float> curvature(8);
    kernels->logistic(eta.data(), 0, 1, 8, residual.data(), curvature.data());
    EXPECT_EQ(residual[0], 1);
    EXPECT_GT(residual[1], 0);
    EXPECT_LT(residual[1], 1e-37);
    EXPECT_NEAR(curvature[0], 0.0005, 1e-9);
    EXPECT_NEAR(curvature[1], 0.0005, 1e-9);
    EXPECT_TRUE(std::isnan(residual[2]));
    EXPECT_FLOAT_EQ(residual[3], 0.5);
    EXPECT_FLOAT_EQ(curvature[3], 0.25);
  }
}

TEST_P(StepKernelsTest, BalancedNormalsSumToZeroAndKeepTheirDistances) {
  const std::uint32_t chains = GetParam();
  if (chains == 1) return;
  const std::vector<float> before = numbers(std::size_t{kColumns} * chains, 3);
  const double longer = std::sqrt(chains / (chains - 1.0));
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> normals = before;
    normals.push_back(7);
    kernels->balance(normals.data(), before.size(), chains);
    for (std::size_t first = 0; first < before.size(); first += chains) {
      double sum = 0;
      for (std::uint32_t c = 0; c < chains; ++c) sum += normals[first + c];
      EXPECT_NEAR(sum, 0, kError);
      for (std::uint32_t c = 1; c < chains; ++c) {
        EXPECT_NEAR(normals[first + c] - normals[first],
                    longer * (double{before[first + c]} - before[first]), kError);
      }
    }
    EXPECT_EQ(normals.back(), 7);
  }
}

TEST_P(StepKernelsTest, ACopyIsToScaleAndOfTheColumnsNamed) {
  const std::uint32_t chains = GetParam();
  constexpr std::size_t kMany = 40;  // more than are fetched ahead
  const std::vector<float> all = numbers(kMany * 2 * chains, 3);
  std::vector<std::uint32_t> columns;
  for (std::uint32_t j = 0; j < kMany; j += 2) columns.push_back(j);
  const std::size_t stride = 3 * std::size_t{chains};
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> out(kMany * stride, 7);
    kernels->copy(all.data(), columns.data(), columns.size(), chains, 2, out.data(), stride);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t column = i / stride;
      const std::size_t c = i % stride;
      const bool named = column % 2 == 0 && c < chains;
      EXPECT_EQ(out[i], named ? 2 * all[column * 2 * chains + c] : 7);
    }
  }
}

}  // namespace
}  // namespace windhover::chain_kernels_test
