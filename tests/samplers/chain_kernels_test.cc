// The loops over chains of each instruction set against plain ones in double precision.
#include "windhover/samplers/row_blocks/chain_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tests/samplers/chain_kernels_fixture.h"

namespace windhover::chain_kernels_test {
namespace {

// Theta of all chains and G of all, of each column, with a number on either side that stays.
struct Columns {
  explicit Columns(std::uint32_t count)
      : chains(count), memory(numbers(kColumns * (2 * std::size_t{count} + 2), 1)) {
    for (std::size_t k = 0; k < kColumns; ++k) theta[k] = &memory[k * (2 * chains + 2) + 1];
  }
  double at(std::size_t k, std::uint32_t c) const { return theta[k][c]; }
  double force(std::size_t k, std::uint32_t c) const { return theta[k][chains + c]; }

  std::size_t chains;
  std::vector<float> memory;
  std::array<float*, kColumns> theta;
};

void expect_edges_as_before(const Columns& columns) {
  const Columns before(static_cast<std::uint32_t>(columns.chains));
  for (std::size_t k = 0; k < kColumns; ++k) {
    EXPECT_EQ(columns.theta[k][-1], before.theta[k][-1]);
    EXPECT_EQ(columns.theta[k][2 * columns.chains], before.theta[k][2 * columns.chains]);
  }
}

class ChainKernelsTest : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Chains, ChainKernelsTest, ::testing::Values(1, 3, 7, 8, 9, 16, 21));

TEST_P(ChainKernelsTest, PredictorsAndProjectionsAreSums) {
  const std::uint32_t chains = GetParam();
  const Columns columns(chains);
  const std::vector<float> value = numbers(kColumns, 2);
  const std::vector<float> normals = numbers(kColumns * chains, 3);
  for (const ChainKernels* kernels : tables()) {
    std::vector<double> eta(chains, 0.5);
    std::vector<float> along(chains);
    kernels->predictors(columns.theta.data(), value.data(), kColumns, chains, eta.data());
    kernels->project(value.data(), normals.data(), kColumns, chains, along.data());
    for (std::uint32_t c = 0; c < chains; ++c) {
      double predictor = 0.5;
      double projection = 0;
      for (std::size_t k = 0; k < kColumns; ++k) {
        predictor += double{value[k]} * columns.at(k, c);
        projection += double{value[k]} * normals[k * chains + c];
      }
      EXPECT_NEAR(eta[c], predictor, 1e-14);
      EXPECT_NEAR(along[c], projection, kError);
    }
  }
}

TEST_P(ChainKernelsTest, MomentsAreMeansOverTheChains) {
  const std::uint32_t chains = GetParam();
  const Columns columns(chains);
  for (const ChainKernels* kernels : tables()) {
    std::array<float, kColumns> mean{};
    std::array<float, kColumns> square{};
    kernels->moments(columns.theta.data(), kColumns, chains, mean.data(), square.data());
    for (std::size_t k = 0; k < kColumns; ++k) {
      double sum = 0;
      double squares = 0;
      for (std::uint32_t c = 0; c < chains; ++c) {
        sum += columns.at(k, c);
        squares += columns.at(k, c) * columns.at(k, c);
      }
      EXPECT_NEAR(mean[k], sum / chains, kError);
      EXPECT_NEAR(square[k], squares / chains, kError);
    }
  }
}

TEST_P(ChainKernelsTest, AStepMovesEachChainByItsForceAndNoise) {
  const std::uint32_t chains = GetParam();
  const Columns before(chains);
  std::array<std::vector<float>, 9> of_column;
  for (std::size_t i = 0; i < of_column.size(); ++i) of_column[i] = numbers(kColumns, 10 + i);
  const auto& [value, precision, repeats, step, noise_sd, scatter, informed, learned, per_row] =
      of_column;
  const std::vector<float> normals = numbers(kColumns * chains, 3);
  const std::vector<float> taken = numbers(chains, 4);
  const std::vector<float> moved = numbers(chains, 5);
  const std::vector<float> change = numbers(chains, 6);
  for (const ChainKernels* kernels : tables()) {
    Columns columns(chains);
    const ChainSums sums =
        kernels->step({columns.theta.data(), value.data(), precision.data(), repeats.data(),
                       step.data(), noise_sd.data(), scatter.data(), informed.data(),
                       learned.data(), per_row.data(), kColumns},
                      normals.data(), taken.data(), moved.data(), change.data(), chains);
    double apart = 0;
    double own = 0;
    double slope = 0;
    for (std::size_t k = 0; k < kColumns; ++k) {
      for (std::uint32_t c = 0; c < chains; ++c) {
        const double theta = before.at(k, c);
        const double of_rows = before.force(k, c) + double{repeats[k]} * moved[c];
        const double gradient = precision[k] * theta + of_rows;
        const double noise = normals[k * chains + c] - double{taken[c]} * scatter[k];
        EXPECT_NEAR(columns.at(k, c), theta + noise_sd[k] * noise - step[k] * gradient,
                    10 * kError);
        EXPECT_NEAR(columns.force(k, c), before.force(k, c) + double{value[k]} * change[c], kError);
        // The next among those that are taken together.
        const std::uint32_t first = c / kChainLanes * kChainLanes;
        const std::uint32_t end = std::min(first + kChainLanes, chains);
        apart += informed[k] * (theta - before.at(k, c + 1 < end ? c + 1 : first)) * gradient;
        own += learned[k] * theta * gradient;
        slope += per_row[k] * theta * of_rows;
      }
    }
    EXPECT_NEAR(sums.apart, apart, 100 * kError);
    EXPECT_NEAR(sums.own, own, 100 * kError);
    EXPECT_NEAR(sums.slope, slope, 100 * kError);
    expect_edges_as_before(columns);
  }
}

TEST_P(ChainKernelsTest, ATranslationIsSoManyTimesTheSame) {
  const std::uint32_t chains = GetParam();
  const Columns before(chains);
  const std::vector<float> by = numbers(kColumns, 2);
  const std::vector<float> value = numbers(kColumns, 3);
  const std::vector<float> residual = numbers(chains, 4);
  const std::vector<float> times = numbers(chains, 5);
  for (const ChainKernels* kernels : tables()) {
    Columns columns(chains);
    kernels->translate(columns.theta.data(), by.data(), times.data(), value.data(), residual.data(),
                       kColumns, chains);
    for (std::size_t k = 0; k < kColumns; ++k) {
      for (std::uint32_t c = 0; c < chains; ++c) {
        EXPECT_NEAR(columns.at(k, c), before.at(k, c) + double{by[k]} * times[c], kError);
        EXPECT_NEAR(columns.force(k, c), before.force(k, c) + double{value[k]} * residual[c],
                    kError);
      }
    }
    expect_edges_as_before(columns);
  }
}

// Far from 0 too: the variance is not lost beside the mean's square.
TEST_P(ChainKernelsTest, ASurveyWeighsColumnsByWhatRowsKnowOfThem) {
  const std::uint32_t chains = GetParam();
  Columns columns(chains);
  for (std::uint32_t c = 0; c < chains; ++c) columns.theta[1][c] += 1000;
  const std::vector<float> precision = {1, 0.5, 2, 1, 3};
  const std::vector<float> curvature = {4, 30, 0, 0.1F, 9};  // the third has no rows
  const std::vector<float> rows = {20, 150, 0, 1, 7};
  const std::vector<float> unsettled = {0.1F, 0.2F, 0.5F, 1, 0};
  constexpr float kDispersion = 2.5F;
  ColumnSurvey exact{0, 0, 0, 0, 0};
  for (std::size_t k = 0; k < kColumns; ++k) {
    double mean = 0;
    double force = 0;
    double variance = 0;
    for (std::uint32_t c = 0; c < chains; ++c) mean += columns.at(k, c) / chains;
    for (std::uint32_t c = 0; c < chains; ++c) force += columns.force(k, c) / chains;
    for (std::uint32_t c = 0; c < chains; ++c) {
      variance += (columns.at(k, c) - mean) * (columns.at(k, c) - mean) / chains;
    }
    const double all = precision[k] + curvature[k];
    const double share = curvature[k] / all;
    const double pull = precision[k] * mean + force;
    exact.weights += share * rows[k];
    exact.squares += share * rows[k] * pull * pull / (all * kDispersion);
    exact.unsettled += share * rows[k] * unsettled[k];
    exact.informed += share;
    exact.shared += share * std::max(1 - kDispersion / (all * variance), 0.0);
  }
  for (const ChainKernels* kernels : tables()) {
    const ColumnSurvey seen =
        kernels->survey(columns.theta.data(), precision.data(), curvature.data(), rows.data(),
                        unsettled.data(), kColumns, chains, kDispersion);
    EXPECT_NEAR(seen.weights, exact.weights, 1e-5 * exact.weights);
    EXPECT_NEAR(seen.squares, exact.squares, 1e-4 * exact.squares);
    EXPECT_NEAR(seen.unsettled, exact.unsettled, 1e-5 * exact.unsettled);
    EXPECT_NEAR(seen.informed, exact.informed, 1e-5 * exact.informed);
    EXPECT_NEAR(seen.shared, exact.shared, 1e-3);
  }
}

// The angle and radius of each pair, and what the ends of the words become.
TEST(ChainNormals, AreThoseOfBoxAndMuller) {
  std::vector<std::uint32_t> bits(64 * kChainNormals);
  fill_bits(3, {0, 0, Purpose::kTest}, bits);
  for (std::size_t i = 0; i < 8; ++i) {
    bits[i] = i % 2 == 0 ? 0 : 0xffffffff;
    bits[8 + i] = static_cast<std::uint32_t>(i / 2) * 0x55555555;
  }
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> normals(bits.size());
    kernels->normals(bits.data(), bits.size(), normals.data());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::size_t pair = i % kChainNormals % 8;
      const std::size_t tile = i / kChainNormals * kChainNormals;
      const double u = (bits[tile + pair] + 0.5) * 0x1p-32;
      const std::uint32_t word = bits[tile + 8 + pair];
      const double turn = 0.25 * ((word >> 30) + static_cast<std::int32_t>(word << 2) * 0x1p-32);
      const double angle = 2 * M_PI * turn;
      const double radius = std::sqrt(-2 * std::log(u));
      const bool first = i % kChainNormals < 8;
      // u near 1 is rounded to a part in 2^25, of which the radius is the root.
      EXPECT_NEAR(normals[i], radius * (first ? std::cos(angle) : std::sin(angle)), 4e-4) << i;
      EXPECT_LE(std::abs(normals[i]), 6.8);
    }
  }
}

TEST(ChainNormals, HaveTheMomentsOfNormals) {
  constexpr std::size_t kCount = 1 << 20;
  std::vector<std::uint32_t> bits(kCount);
  fill_bits(4, {0, 0, Purpose::kTest}, bits);
  for (const ChainKernels* kernels : tables()) {
    std::vector<float> normals(kCount);
    kernels->normals(bits.data(), kCount, normals.data());
    std::array<double, 5> moments{};
    double far = 0;
    double neighbours = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      double power = 1;
      for (double& moment : moments) moment += (power *= normals[i]) / kCount;
      far += std::abs(normals[i]) > 3 ? 1.0 / kCount : 0;
      if (i > 0) neighbours += double{normals[i]} * normals[i - 1] / kCount;
    }
    const double error = 1 / std::sqrt(static_cast<double>(kCount));
    EXPECT_NEAR(moments[0], 0, 4 * error);
    EXPECT_NEAR(moments[1], 1, 4 * std::sqrt(2.0) * error);
    EXPECT_NEAR(moments[2], 0, 4 * std::sqrt(15.0) * error);
    EXPECT_NEAR(moments[3], 3, 4 * std::sqrt(96.0) * error);
    EXPECT_NEAR(neighbours, 0, 4 * error);
    const double beyond = 0.0026998;
    EXPECT_NEAR(far, beyond, 4 * std::sqrt(beyond) * error);
  }
}

}  // namespace
}  // namespace windhover::chain_kernels_test
