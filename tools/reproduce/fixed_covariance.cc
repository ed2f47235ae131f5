#include "windhover/tools/reproduce/fixed_covariance.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <limits>

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Anderson's acceleration, which on a linear map is GMRES: as many rounds as L has distinct
// eigenvalues would do. Sigma is taken in coordinates in which a is I, so that narrow directions
// count as much as wide ones.
std::optional<MatrixXd> fixed_covariance(
    Index dimension, const std::function<std::optional<MatrixXd>(const MatrixXd&)>& map) {
  constexpr int kRounds = 100;
  const auto a = map(MatrixXd::Zero(dimension, dimension));
  if (!a) return std::nullopt;
  const Eigen::LLT<MatrixXd> factor(*a);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const MatrixXd root = factor.matrixL();
  const auto whitened = [&](const MatrixXd& sigma) {
    const MatrixXd half = factor.matrixL().solve(sigma);
    return MatrixXd(factor.matrixL().solve(half.transpose()));
  };
  const auto plain = [&](const MatrixXd& x) { return MatrixXd(root * x * root.transpose()); };

  const Index size = dimension * dimension;
  MatrixXd steps(size, kRounds);    // of x, from round to round
  MatrixXd changes(size, kRounds);  // of the residual
  MatrixXd x = MatrixXd::Identity(dimension, dimension);
  MatrixXd best = x;
  double least = std::numeric_limits<double>::infinity();
  VectorXd residual;
  for (int round = 0; round < kRounds; ++round) {
    const auto next = map(plain(x));
    if (!next) return std::nullopt;
    const MatrixXd off = whitened(*next) - x;
    // Over a and not over Sigma: the nearer the series is to diverging, the larger Sigma is and the
    // further a residual leads away from it.
    const double error = off.norm() / std::sqrt(static_cast<double>(dimension));
    if (!std::isfinite(error)) return std::nullopt;
    // From there on rounding has the last word: as far as it goes down.
    if (least < 1e-9 && error > 0.5 * least) break;
    if (error < least) best = x, least = error;
    if (error < 1e-15) break;
    const VectorXd now = off.reshaped();
    if (round > 0) changes.col(round - 1) = now - residual;
    residual = now;
    VectorXd step = residual;
    if (round > 0) {
      const auto seen = changes.leftCols(round);
      const VectorXd weights = seen.colPivHouseholderQr().solve(residual);
      step -= (steps.leftCols(round) + seen) * weights;
    }
    steps.col(round) = step;
    x += step.reshaped(dimension, dimension);
  }
  if (!(least < 1e-9)) return std::nullopt;
  // Where the sum diverges the equation has a solution all the same, but none that is at least a.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(best, Eigen::EigenvaluesOnly);
  if (!(eigen.eigenvalues()[0] > 1 - 1e-6)) return std::nullopt;
  const MatrixXd sigma = plain(best);
  return MatrixXd(0.5 * (sigma + sigma.transpose()));
}

}  // namespace windhover::reproduce
