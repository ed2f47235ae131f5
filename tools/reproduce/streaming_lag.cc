// How far the average of replayed chains stands from the mean of a window that moves.
#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "windhover/platform/random.h"
#include "windhover/tools/reproduce/streaming_regimes.h"

namespace windhover::reproduce {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
