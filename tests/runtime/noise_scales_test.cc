// Variances of several memories, mixed by how well each has predicted.
#include "windhover/runtime/learning/noise_scales.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::noise_scales_test {
namespace {

constexpr double kShare = 0.005;
constexpr std::array kThree = {1.0, 4.0, 100.0};

double density(double square, double variance) {
  return std::exp(-0.5 * square / variance) / std::sqrt(variance);
}

PredictiveResidual row_of(double square, double variance = 0, double weight = 1) {
  return {std::sqrt(square), variance, weight};
}

double loss_of(const NoiseScales& scales, const PredictiveResidual& row) {
  return scales.loss({&row, 1});
}

// Fixed share as it stands in the paper, row by row, each memory with the far rows that all expect:
// half of one in a thousand, and of each row what was likely.
TEST(NoiseScales, MixesByFixedShare) {
  NoiseScales scales;
  scales.reset(kThree.size());
  std::array<double, 3> weights = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  double far_variance = 100 * kThree[2];
  double far_weight = 1;
  double far_rows = 0.5;
  double rows = 1'000;
  const VectorXd z = normals(3, 200);
  for (Index i = 0; i < z.size(); ++i) {
    const PredictiveResidual row = row_of(4 * z[i] * z[i], 0.5);
    scales.begin_take(kThree);
    const double share = far_rows / rows;
    const double spread = std::max(far_variance, 10 * kThree[2]);
    const double far = share * density(row.square(), spread + row.variance);
    double mixed = 0;
    std::array<double, 3> next{};
    for (std::size_t k = 0; k < 3; ++k) {
      next[k] = weights[k] * ((1 - share) * density(row.square(), kThree[k] + row.variance) + far);
      mixed += next[k];
    }
    EXPECT_NEAR(loss_of(scales, row), -std::log(mixed), 1e-12) << i;
    scales.add(row);
    scales.end_take();
    for (std::size_t k = 0; k < 3; ++k) weights[k] = (1 - kShare) * next[k] / mixed + kShare / 3;
    const double likely = far / mixed;
    far_rows += likely;
    rows += 1;
    far_variance += (row.square() - far_variance) * likely / (far_weight + likely);
    far_weight += likely;
  }
  const NoiseMixture mixture = scales.mixture(kThree, 0);
  ASSERT_EQ(mixture.components, 4u);
  const double usual = 1 - far_rows / rows;
  EXPECT_NEAR(mixture.weight[3], 1 - usual, 1e-12);
  EXPECT_NEAR(mixture.variance[3], std::max(far_variance, 10 * kThree[2]), 1e-6);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(mixture.weight[k], usual * weights[k], 1e-12);
  EXPECT_GT(mixture.weight[1], 0.8) << "the rows have its variance";
}

// However many: what each loses times its weight. One is beyond what densities can be computed of.
TEST(NoiseScales, LossOfRowsIsTheSumOverThem) {
  NoiseScales scales;
  scales.reset(kThree.size());
  scales.begin_take(kThree);
  std::vector<PredictiveResidual> rows;
  double sum = 0;
  for (int i = 0; i < 21; ++i) {
    EXPECT_NEAR(scales.loss(rows), sum, 1e-12 * sum) << i;
    rows.push_back(row_of(i == 5 ? 1e9 : 0.7 * i, 0.1 * i, 1.0 / (1 + i)));
    sum += rows.back().weight * loss_of(scales, {rows.back().error, rows.back().variance, 1});
  }
}

// Rows that come together are all predicted by what was known before them.
TEST(NoiseScales, PredictsATakeByWhatWasKnownBefore) {
  NoiseScales scales;
  scales.reset(kThree.size());
  scales.begin_take(kThree);
  const double before = loss_of(scales, row_of(1));
  for (int i = 0; i < 50; ++i) scales.add(row_of(90));
  EXPECT_EQ(loss_of(scales, row_of(1)), before);
  scales.end_take();
  scales.begin_take(kThree);
  EXPECT_GT(loss_of(scales, row_of(1)), before + 1);
}

// The weight of the widest variance after many takes of a hundred rows, believed as a forecaster or
// not. `square`: of a row, by the number of its take and its own.
template <class Square>
double weight_of_widest(const Square& square, bool believed) {
  constexpr std::array kTwo = {0.02, 1.0};
  constexpr std::array kWidest = {0.0, 1.0};
  NoiseScales scales;
  scales.reset(kTwo.size());
  const auto memories = believed ? std::span<const double>(kWidest) : std::span<const double>();
  double sum = 0;
  for (Index take = 0; take < 400; ++take) {
    scales.begin_take(kTwo, memories);
    for (Index row = 0; row < 100; ++row) scales.add(row_of(square(take, row)));
    scales.end_take();
    const NoiseMixture mixture = scales.mixture(kTwo, 0, memories);
    double widest = 0;
    double usual = 0;  // without the far rows
    for (std::size_t i = 0; i < mixture.components; ++i) {
      if (mixture.variance[i] == kTwo[1]) widest += mixture.weight[i];
      if (mixture.variance[i] <= kTwo[1]) usual += mixture.weight[i];
    }
    if (take >= 100) sum += widest / usual;
  }
  return sum / 300;
}

// An error that wanders within a take, of variance 1, is small at the end of one take in seven: the
// last rows say that the noise is narrow, and of the next take nothing.
TEST(NoiseScales, TakesDecideWhereErrorsOfNeighboursHangTogether) {
  const VectorXd z = normals(7, 400 * 100);
  VectorXd error = z;
  for (Index i = 1; i < z.size(); ++i) {
    error[i] = 0.95 * error[i - 1] + std::sqrt(1 - 0.95 * 0.95) * z[i];
  }
  const auto square = [&](Index take, Index row) { return std::pow(error[take * 100 + row], 2); };
  EXPECT_LT(weight_of_widest(square, false), 0.95);
  EXPECT_GT(weight_of_widest(square, true), 0.98);
}

// Where single rows are not trusted at all, what is served is made of the memories that are
// believed.
TEST(NoiseScales, EveryPartOfAMixtureHasAWeight) {
  constexpr std::array kFour = {0.02, 0.1, 0.5, 1.0};
  constexpr std::array kBelieved = {0.0, 0.0, 0.4, 0.6};
  const VectorXd z = normals(9, 400 * 100);
  NoiseScales scales;
  scales.reset(kFour.size());
  bool distrusted = false;
  for (Index take = 0; take < 400; ++take) {
    scales.begin_take(kFour, kBelieved);
    double error = z[take * 100];
    for (Index row = 1; row < 100; ++row) {
      error = 0.95 * error + std::sqrt(1 - 0.95 * 0.95) * z[take * 100 + row];
      scales.add(row_of(error * error));
    }
    scales.end_take(1e5);
    const NoiseMixture mixture = scales.mixture(kFour, 0, kBelieved);
    double sum = 0;
    for (std::size_t i = 0; i < mixture.components; ++i) {
      EXPECT_GT(mixture.weight[i], 0) << take;
      sum += mixture.weight[i];
    }
    EXPECT_NEAR(sum, 1, 1e-12) << take;
    distrusted = distrusted || mixture.components == 3;
  }
  EXPECT_TRUE(distrusted);
}

// Noise that is calm for twenty takes and wild for twenty is what single rows are for.
TEST(NoiseScales, SingleRowsDecideWhereTheNoiseChanges) {
  const VectorXd z = normals(8, 400 * 100);
  const auto square = [&](Index take, Index row) {
    return (take / 20 % 2 == 0 ? 0.02 : 1.0) * std::pow(z[take * 100 + row], 2);
  };
  EXPECT_NEAR(weight_of_widest(square, true), 0.5, 0.05);
}

// However well the narrow one predicts, a row far off costs no more than to have believed in the
// wide one by its share.
TEST(NoiseScales, AnOutlyingRowCostsWhatTheWidestSays) {
  NoiseScales scales;
  scales.reset(kThree.size());
  scales.begin_take(kThree);
  for (int i = 0; i < 10'000; ++i) scales.add(row_of(0.5));
  scales.end_take();
  const double widest = -std::log(density(2'500, kThree[2]));
  EXPECT_LT(loss_of(scales, row_of(2'500)), widest + std::log(3 / kShare) + 1e-3)
      << "far rows' share";
  // A row too far for any scale makes nothing infinite, and the next row is predicted as before.
  scales.begin_take(kThree);
  const double far = scales.mixture(kThree, 0).variance[3];
  EXPECT_NEAR(loss_of(scales, row_of(1e9)), 0.5 * 1e9 / far, 50);
  scales.begin_take(kThree);
  scales.add(row_of(1e300));
  scales.add(row_of(HUGE_VAL));
  scales.end_take();
  EXPECT_TRUE(std::isfinite(loss_of(scales, row_of(1))));
}

// One row of a hundred is thirty times as far as the others. How many, how far: both are learned;
// the density is that of the mixture which they come from, to what 5,000 rows say of it; and a far
// row changes nothing that is believed of the others.
TEST(NoiseScales, FarRowsAreLearned) {
  NoiseScales scales;
  scales.reset(kThree.size());
  const VectorXd z = normals(5, 20'000);
  const VectorXd u = uniforms(6, 20'000);
  double lost = 0;
  for (Index i = 0; i < z.size(); ++i) {
    const double square = z[i] * z[i] * (u[i] < 0.01 ? 900 : 1);
    scales.begin_take(kThree);
    if (i >= 10'000) {
      const double true_loss = -std::log(0.99 * density(square, 1) + 0.01 * density(square, 900));
      lost += (loss_of(scales, row_of(square)) - true_loss) / 10'000;
    }
    scales.add(row_of(square));
    scales.end_take();
  }
  // kShare gives a hundredth of a row's weight away, and the far rows' variance is known to 14 %.
  EXPECT_LT(lost, 0.01);
  const NoiseMixture mixture = scales.mixture(kThree, 0);
  ASSERT_EQ(mixture.components, 4u);
  EXPECT_NEAR(mixture.weight[3], 0.01, 0.006) << "50 in 5,000, and 7 by chance";
  EXPECT_GT(mixture.variance[3], 400);
  EXPECT_LT(mixture.variance[3], 2'000);
  scales.begin_take(kThree);
  scales.add(row_of(2'500));
  scales.end_take();
  const NoiseMixture after = scales.mixture(kThree, 0);
  EXPECT_NEAR(after.weight[0], mixture.weight[0], 0.03);
}

// One y of 1e30: what is told of those after it is soon as before, but for a far row in a thousand.
TEST(NoiseScales, OneRowBeyondAllIsNotBelieved) {
  NoiseScales scales;
  scales.reset(kThree.size());
  const VectorXd z = normals(8, 3'000);
  const auto learn = [&](double square) {
    scales.begin_take(kThree);
    scales.add(row_of(square));
    scales.end_take();
  };
  for (Index i = 0; i < 2'000; ++i) learn(z[i] * z[i]);
  const double before = loss_of(scales, row_of(1));
  learn(1e60);
  for (Index i = 2'000; i < 3'000; ++i) learn(z[i] * z[i]);
  EXPECT_NEAR(loss_of(scales, row_of(1)), before, 0.002);
  const NoiseMixture mixture = scales.mixture(kThree, 0);
  EXPECT_LE(mixture.variance[3], 1e4 * kThree[2]);
  EXPECT_LT(mixture.weight[3], 0.001);
}

// Among rows that are all alike the search for far ones costs next to nothing: half of one is
// expected in a thousand rows at first, and fewer as they do not come, for 5,000 rows 0.5 log(6) /
// 5,000 on average. What is known of how few there were is as much again at most.
TEST(NoiseScales, FarRowsThatThereAreNotCostLittle) {
  NoiseScales scales;
  scales.reset(kThree.size());
  const VectorXd z = normals(7, 5'000);
  double lost = 0;
  for (Index i = 0; i < z.size(); ++i) {
    const PredictiveResidual row = row_of(z[i] * z[i]);
    scales.begin_take(kThree);
    const NoiseMixture mixture = scales.mixture(kThree, 0);
    double without = 0;
    for (std::size_t k = 0; k < kThree.size(); ++k) {
      without += mixture.weight[k] / (1 - mixture.weight[3]) * density(row.square(), kThree[k]);
    }
    lost += (loss_of(scales, row) + std::log(without)) / 5'000;
    scales.add(row);
    scales.end_take();
  }
  EXPECT_LT(lost, 2 * 0.5 * std::log(6.0) / 5'000);
}

// A row that counts as ten says what ten do.
TEST(NoiseScales, WeightIsANumberOfRows) {
  NoiseScales once;
  NoiseScales ten;
  for (NoiseScales* scales : {&once, &ten}) {
    scales->reset(kThree.size());
    scales->begin_take(kThree);
  }
  for (int i = 0; i < 10; ++i) once.add(row_of(4));
  ten.add(row_of(4, 0, 10));
  once.end_take();
  ten.end_take();
  const NoiseMixture a = once.mixture(kThree, 0);
  const NoiseMixture b = ten.mixture(kThree, 0);
  // Ten shares against one: at most ten times what one gives away.
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(a.weight[k], b.weight[k], 10 * kShare);
}

// As many as there may be are said in five, and the far rows: the same mean, none lost, in order.
TEST(NoiseScales, NeighboursAreSaidAsOne) {
  NoiseScales scales;
  scales.reset(NoiseScales::kMost);
  std::array<double, NoiseScales::kMost> variances;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    variances[i] = i == 5 ? 1'000 : 1 + 0.01 * static_cast<double>(i * i % 7);
  }
  scales.begin_take(variances);
  scales.add(row_of(1));
  scales.end_take();
  const NoiseMixture mixture = scales.mixture(variances, 0);
  ASSERT_EQ(mixture.components, NoiseMixture::kMost);
  double total = 0;
  for (std::size_t i = 0; i < mixture.components; ++i) {
    total += mixture.weight[i];
    if (i > 0) {
      EXPECT_GE(mixture.variance[i], mixture.variance[i - 1]);
    }
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_EQ(mixture.variance[4], 1'000) << "the one that is unlike the others stands for itself";
  double mean = 0;
  double mass = 0;
  double even = 0;
  for (const double variance : variances) {
    mean += density(1, variance) * variance;
    mass += density(1, variance);
    even += variance / NoiseScales::kMost;
  }
  const double far = mixture.weight[5] * mixture.variance[5];
  const double usual = (mixture.mean() - far) / (1 - mixture.weight[5]);
  // A row of square 1 is hardly a far one, as all memories say alike.
  EXPECT_NEAR(usual, (1 - kShare) * mean / mass + kShare * even, 1e-3);
}

// Targets of variance 1 that are explained down to rounding: half of the far rows are as far off as
// the targets are from one another, and the shares are what they are.
TEST(NoiseScales, PerfectFitsLeaveRoomForASurprise) {
  NoiseScales scales;
  constexpr std::array kEqual = {1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12, 1e-12};
  scales.reset(kEqual.size());
  const NoiseMixture usual = scales.mixture(kEqual, 1e-6);
  const NoiseMixture perfect = scales.mixture(kEqual, 1);
  ASSERT_LE(perfect.components, NoiseMixture::kMost);
  const std::size_t last = perfect.components - 1;
  EXPECT_EQ(perfect.variance[last], 1);
  EXPECT_EQ(perfect.weight[last], perfect.weight[last - 1]);
  EXPECT_NEAR(2 * perfect.weight[last], usual.weight[usual.components - 1], 1e-15);
  EXPECT_EQ(perfect.variance[last - 1], usual.variance[usual.components - 1]);
  double sum = 0;
  for (std::size_t i = 0; i <= last; ++i) sum += perfect.weight[i];
  EXPECT_NEAR(sum, 1, 1e-12);
}

}  // namespace
}  // namespace windhover::test::noise_scales_test
