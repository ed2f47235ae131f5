#include "windhover/tools/reproduce/laws.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>

namespace windhover::reproduce::fixed_covariance_test {
namespace {

using Eigen::MatrixXd;

// Correlated, on scales from 1 to 1e-3.
MatrixXd example(Eigen::Index d) {
  MatrixXd m(d, d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      m(i, j) = std::sin(1.0 + 3.0 * double(i) + 5.0 * double(j)) *
                std::pow(10.0, -3 * double(i) / double(d - 1));
    }
  }
  return m * m.transpose() + MatrixXd(1e-6 * MatrixXd::Identity(d, d));
}

double furthest(const MatrixXd& sigma, const MatrixXd& from) {
  const Eigen::LLT<MatrixXd> factor(from);
  const MatrixXd half = factor.matrixL().solve(sigma - from);
  return factor.matrixL().solve(half.transpose()).cwiseAbs().maxCoeff();
}

TEST(FixedCovariance, SumsASeriesHoweverSlowlyItConverges) {
  const MatrixXd a = example(4);
  for (const double rate : {0.0, 0.5, 0.99, 0.9999}) {
    const auto sigma = fixed_covariance(
        4, [&](const MatrixXd& s) { return std::optional<MatrixXd>(a + rate * s); });
    ASSERT_TRUE(sigma.has_value()) << rate;
    EXPECT_LT(furthest(*sigma, a / (1 - rate)), 1e-8) << rate;
  }
}

TEST(FixedCovariance, HasNoneWhereTheSeriesDivergesThoughTheEquationHasASolution) {
  const MatrixXd a = example(3);
  for (const double rate : {1.0, 1.001, 2.0, 50.0}) {
    EXPECT_FALSE(fixed_covariance(
                     3, [&](const MatrixXd& s) { return std::optional<MatrixXd>(a + rate * s); })
                     .has_value())
        << rate;
  }
  EXPECT_FALSE(
      fixed_covariance(3, [](const MatrixXd&) { return std::optional<MatrixXd>(); }).has_value());
}

// The sum of the first 2^17 terms: those left out are 1e-28 of it.
TEST(FixedCovariance, AgreesWithTheSeriesItselfWhereDirectionsAreCoupled) {
  const MatrixXd a = MatrixXd::Identity(5, 5) + example(5);
  MatrixXd move(5, 5);
  for (Eigen::Index i = 0; i < 5; ++i) {
    for (Eigen::Index j = 0; j < 5; ++j) move(i, j) = std::cos(2.0 * double(i) + 7.0 * double(j));
  }
  move *= std::sqrt(0.9995) / spectral_radius(move);
  const auto map = [&](const MatrixXd& s) {
    return std::optional<MatrixXd>(a + move * s * move.transpose());
  };
  const auto sigma = fixed_covariance(5, map);
  ASSERT_TRUE(sigma.has_value());
  MatrixXd sum = a;
  MatrixXd power = move;
  for (int doubling = 0; doubling < 17; ++doubling) {
    sum += power * sum * power.transpose();
    power = power * power;
  }
  EXPECT_LT(furthest(*sigma, sum), 1e-8);
}

}  // namespace
}  // namespace windhover::reproduce::fixed_covariance_test
