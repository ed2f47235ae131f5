// Random weights of rows that the engine does not offer, by the recursion that it follows.
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

}  // namespace windhover::reproduce
