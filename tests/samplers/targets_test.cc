// The targets themselves: gradients against differences, moments against sums over a grid.
#include "windhover/tests/samplers/targets.h"

#include <gtest/gtest.h>

namespace windhover::targets_test {
namespace {

template <class Target>
void expect_gradient(const Target& target, double spread) {
  const Index d = target.dimension();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Vector theta = spread * normals(seed, d, 1);
    Vector expected(d);
    for (Index j = 0; j < d; ++j) {
      const Vector step = 1e-5 * Vector::Unit(d, j);
      expected(j) = -(target.log_density(theta + step) - target.log_density(theta - step)) / 2e-5;
    }
    EXPECT_LT((target.gradient(theta) - expected).norm(), 1e-6 * (1 + expected.norm())) << seed;
  }
}

// Expects the moments that a grid of +- `reach` in two dimensions gives.
template <class Target>
void expect_moments(const Target& target, double reach) {
  constexpr int kCells = 600;
  const double spacing = 2 * reach / kCells;
  double total = 0;
  Vector first = Vector::Zero(2);
  Matrix second = Matrix::Zero(2, 2);
  for (int i = 0; i <= kCells; ++i) {
    for (int j = 0; j <= kCells; ++j) {
      const Vector theta{{spacing * i - reach, spacing * j - reach}};
      const double mass = std::exp(target.log_density(theta)) * spacing * spacing;
      total += mass;
      first += mass * theta;
      second += mass * theta * theta.transpose();
    }
  }
  EXPECT_NEAR(total, 1.0, 1e-6);
  EXPECT_LT((first - target.mean()).norm(), 1e-5);
  EXPECT_LT((second - first * first.transpose() - target.covariance()).norm(), 1e-4);
}

GaussianTarget gaussian(double x, double y, double correlation) {
  return {Vector{{x, y}}, Matrix{{1.0, correlation}, {correlation, 0.8}}};
}

TEST(Targets, GaussianIsNormalisedWithItsMoments) {
  expect_gradient(gaussian(1, -2, 0.5), 2);
  expect_moments(gaussian(1, -2, 0.5), 9);
}

TEST(Targets, GaussianMixtureIsNormalisedWithItsMoments) {
  const GaussianMixtureTarget target({0.3, 0.7}, {gaussian(-2, 1, 0.3), gaussian(2, 0, -0.6)});
  expect_gradient(target, 3);
  expect_moments(target, 9);
}

TEST(Targets, FunnelIsNormalisedWithItsMoments) {
  expect_gradient(FunnelTarget(), 1.5);
  expect_moments(FunnelTarget(1, 0.5), 14);  // a funnel that a grid can resolve
  const Vector variances = FunnelTarget(9, 3).covariance().diagonal();
  EXPECT_EQ(variances(0), 9);
  EXPECT_NEAR(variances(9), std::exp(4.5), 1e-12);
}

TEST(Targets, DoubleWellHasTwoWellsAndAMassOfOne) {
  const DoubleWellTarget even;
  const DoubleWellTarget tilted(2.0, 0.5);
  expect_gradient(even, 1);
  expect_gradient(tilted, 1);
  EXPECT_NEAR(even.mean()(0), 0.0, 1e-12);
  EXPECT_GT(tilted.mean()(0), 0.1);
  for (const DoubleWellTarget* target : {&even, &tilted}) {
    double total = 0;
    double square = 0;
    for (double x = -6; x <= 6; x += 0.01) {
      const double mass = 0.01 * std::exp(target->log_density(Vector::Constant(1, x)));
      total += mass;
      square += mass * (x - target->mean()(0)) * (x - target->mean()(0));
    }
    EXPECT_NEAR(total, 1.0, 1e-9);
    EXPECT_NEAR(square, target->covariance()(0, 0), 1e-9);
  }
}

TEST(Targets, AModelOfATargetGivesItsGradient) {
  const GaussianTarget target = gaussian(1, -2, 0.5);
  TargetModel model(target, 50);
  const std::vector<std::uint32_t> slots(7, 0);
  const double zero[2] = {0, 0};
  GradientSource gradient(&model, 2, zero);
  gradient.set_scale(50, 1);
  gradient.set_minibatch({nullptr, slots.data(), slots.size()});
  const Vector theta{{0.3, 0.4}};
  Vector found(2);
  gradient(theta.data(), found.data());
  EXPECT_LT((50 * found - target.gradient(theta)).norm(), 1e-12);
}

}  // namespace
}  // namespace windhover::targets_test
