// What the engine does not do, by the recursion that it follows: random weights of rows other than
// its own, and chains that nothing carries along with a window that moves.
#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tools/reproduce/streaming_regimes.h"

namespace windhover::reproduce {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kChains = 64;

double weight(RowWeightLaw law, double u) {
  if (law == RowWeightLaw::kExponential) return -std::log(u);
  // The cumulative distribution of Poisson(1), inverted.
  double term = std::exp(-1.0);
  double below = term;
  double count = 0;
  while (u > below && count < 20) {
    count += 1;
    term /= count;
    below += term;
  }
  return count;
}

}  // namespace

nlohmann::ordered_json weighted(RowWeightLaw law, World world, Index exposed, std::uint64_t seed) {
  constexpr double kGain = 2.0 * kMinibatch / (kEffective + kMinibatch);
  constexpr Index kRows = 2 * kEffective;
  const Stream stream = make_stream(world, kRows, seed);
  RowMatrix x(kRows, kParameters);
  x << stream.x, VectorXd::Ones(kRows);
  const MatrixXd a = curvature_of_row();
  const Eigen::LLT<MatrixXd> factor(a);
  // One column a chain; the start is forgotten after 2000 rows, to exp(-8).
  MatrixXd chains = stream.truth.replicate(1, kChains);
  std::vector<double> u(static_cast<std::size_t>(kMinibatch * kChains));
  MatrixXd residuals(kMinibatch, kChains);
  for (Index first = 0; first < kRows; first += kMinibatch) {
    const auto batch = x.middleRows(first, kMinibatch);
    residuals.noalias() = batch * chains;
    residuals.colwise() -= stream.y.segment(first, kMinibatch);
    fill_uniforms(seed, {.step = static_cast<std::uint64_t>(first), .purpose = Purpose::kSweep}, u);
    for (Index i = 0; i < residuals.size(); ++i) {
      residuals.data()[i] *= weight(law, u[static_cast<std::size_t>(i)]);
    }
    chains -= factor.solve(kGain / kMinibatch * (batch.transpose() * residuals));
  }
  const VectorXd centre = chains.rowwise().mean();
  const VectorXd variance =
      (chains.colwise() - centre).rowwise().squaredNorm() / static_cast<double>(kChains - 1);
  const VectorXd model =
      factor.solve(MatrixXd::Identity(kParameters, kParameters)).diagonal() / kEffective;
  nlohmann::ordered_json result = {{"spread", variance.cwiseQuotient(model).mean()}};
  judge(result, "draws", centre - stream.truth, variance, exposed);
  return result;
}

double lag_when_following(double draws_per_observation) {
  const double tau = 1 / (2 * draws_per_observation);
  return 1.0 / kLagChains + tau * (1 - std::exp(-1 / tau));
}

nlohmann::ordered_json lag_of_followers(std::size_t draws_per_observation, std::uint64_t seed) {
  constexpr Index kDimension = 5;
  constexpr Index kWindows = 3;
  constexpr Index kStep = 20;
  constexpr double kGain = 2.0 * kStep / (kEffective + kStep);
  MatrixXd rows(kDimension, kWindows * kEffective);
  fill_normals(seed, {.step = 1}, {rows.data(), static_cast<std::size_t>(rows.size())});
  MatrixXd chains(kDimension, kLagChains);
  fill_normals(seed, {.step = 2}, {chains.data(), static_cast<std::size_t>(chains.size())});
  chains /= std::sqrt(double{kEffective});
  chains.colwise() += rows.leftCols(kEffective).rowwise().mean();
  std::vector<std::uint32_t> slots(kStep);
  VectorXd mean(kDimension);
  const Index moves =
      (kWindows - 1) * kEffective * static_cast<Index>(draws_per_observation) / kStep;
  Index first = 0;
  for (Index move = 0; move < moves; ++move) {
    first = (move + 1) * kStep / static_cast<Index>(draws_per_observation);
    for (Index k = 0; k < chains.cols(); ++k) {
      fill_indices(
          seed,
          {static_cast<std::uint64_t>(move), static_cast<std::uint16_t>(k), Purpose::kMinibatch},
          kEffective, slots);
      mean.setZero();
      for (const std::uint32_t slot : slots) mean += rows.col(first + slot) / kStep;
      chains.col(k) += kGain * (mean - chains.col(k));
    }
  }
  const VectorXd off =
      chains.rowwise().mean() - rows.middleCols(first, kEffective).rowwise().mean();
  return {{"chains", kEffective * off.squaredNorm() / kDimension}};
}

}  // namespace windhover::reproduce
