#include "windhover/tools/reproduce/streaming.h"

#include <Eigen/Cholesky>

#include "windhover/platform/random.h"
#include "windhover/tools/reproduce/harness.h"

namespace windhover::reproduce {
namespace {

constexpr double kCorrelation = 0.5;

constexpr WorldFacts kStationary[] = {
    {World::kLinear, "linear, model holds", "linear", true},
    {World::kHeteroscedastic, "linear, model fails", "linear", false},
    {World::kLogistic, "logistic, model holds", "logistic", true},
    {World::kOmitted, "logistic, model fails", "logistic", false},
};

bool logistic(World world) { return world == World::kLogistic || world == World::kOmitted; }

double mean_of_logistic(double predictor) { return 1 / (1 + std::exp(-predictor)); }

RowMatrix features(Index rows, std::uint64_t seed) {
  RowMatrix x(rows, kFeatures);
  fill_normals(seed, {.step = 1}, entries_of(x));
  for (Index j = 1; j < kFeatures; ++j) {
    x.col(j) = kCorrelation * x.col(j - 1) + std::sqrt(1 - kCorrelation * kCorrelation) * x.col(j);
  }
  return x;
}

VectorXd logistic_truth() {
  VectorXd theta(kParameters);
  for (Index j = 0; j < kFeatures; ++j) theta[j] = j % 2 == 0 ? 0.4 : -0.4;
  theta[kFeatures] = -0.5;
  return theta;
}

// P(y = 1) of each row.
VectorXd probabilities(World world, const RowMatrix& x) {
  const VectorXd theta = logistic_truth();
  VectorXd predictor = (x * theta.head(kFeatures)).array() + theta[kFeatures];
  if (world == World::kOmitted) {
    predictor.array() += x.col(2).array().square() - 2.5;
    predictor.array() += x.col(4).array() * x.col(5).array();
  }
  return predictor.unaryExpr(&mean_of_logistic);
}

PseudoTruth find_pseudo_truth() {
  constexpr Index kRows = 400'000;
  constexpr std::uint64_t kSeed = 4'711;
  const RowMatrix rows = features(kRows, kSeed);
  const VectorXd expected = probabilities(World::kOmitted, rows);
  RowMatrix x(kRows, kParameters);
  x << rows, VectorXd::Ones(kRows);
  PseudoTruth found{logistic_truth(), {}};
  for (int iteration = 0;; ++iteration) {
    const VectorXd p = (x * found.theta).unaryExpr(&mean_of_logistic);
    const VectorXd weight = p.array() * (1 - p.array());
    const MatrixXd a = x.transpose() * (weight.asDiagonal() * x) / kRows;
    const Eigen::LLT<MatrixXd> factor(a);
    constexpr int kIterations = 8;
    if (iteration == kIterations) {
      // The mean square of y - p given x: the truth's variance p (1 - p) and the square of the
      // model's bias.
      const VectorXd square =
          expected.array() * (1 - expected.array()) + (expected - p).array().square();
      const MatrixXd c = x.transpose() * (square.asDiagonal() * x) / kRows;
      const MatrixXd inverse = factor.solve(MatrixXd::Identity(kParameters, kParameters));
      found.widened = (inverse * c * inverse).diagonal().cwiseQuotient(inverse.diagonal());
      return found;
    }
    found.theta -= factor.solve(x.transpose() * (p - expected) / kRows);
  }
}

// The random walk, and what it adds to y.
void wander(Stream& stream, std::uint64_t seed) {
  const Index rows = stream.y.size();
  constexpr double kGain = 2.0 / (kEffective + kMinibatch);
  const MatrixXd upper = Eigen::LLT<MatrixXd>(curvature_of_row()).matrixU();
  RowMatrix moves(rows, kParameters);
  fill_normals(seed, {.step = 4}, entries_of(moves));
  VectorXd move(kParameters);
  for (Index i = 0; i < rows; ++i) {
    move = kGain * moves.row(i).transpose();
    upper.triangularView<Eigen::Upper>().solveInPlace(move);
    stream.truth += move;
    stream.y[i] += stream.x.row(i).dot(stream.truth.head(kFeatures)) + stream.truth[kFeatures];
  }
}

}  // namespace

std::span<const WorldFacts> stationary_worlds() { return kStationary; }

Index exposed_parameter(World world) {
  if (world != World::kOmitted) return 2;
  Index most = 0;
  pseudo_truth().widened.maxCoeff(&most);
  return most;
}

const PseudoTruth& pseudo_truth() {
  static const PseudoTruth found = find_pseudo_truth();
  return found;
}

MatrixXd curvature_of_row() {
  MatrixXd a = MatrixXd::Identity(kParameters, kParameters);
  for (Index i = 0; i < kFeatures; ++i) {
    for (Index j = 0; j < kFeatures; ++j) {
      a(i, j) = std::pow(kCorrelation, std::abs(static_cast<double>(i - j)));
    }
  }
  return a;
}

Stream make_stream(World world, Index rows, std::uint64_t seed) {
  Stream stream{features(rows, seed), VectorXd(rows), VectorXd(kParameters)};
  if (logistic(world)) {
    const VectorXd p = probabilities(world, stream.x);
    std::vector<double> u(static_cast<std::size_t>(rows));
    fill_uniforms(seed, {.step = 3}, u);
    for (Index i = 0; i < rows; ++i) stream.y[i] = u[static_cast<std::size_t>(i)] < p[i] ? 1 : 0;
    stream.truth = world == World::kOmitted ? pseudo_truth().theta : logistic_truth();
    return stream;
  }
  fill_normals(seed, {.step = 2}, entries_of(stream.truth));
  fill_normals(seed, {.step = 3}, entries_of(stream.y));
  if (world == World::kHeteroscedastic) {
    stream.y.array() *= (0.25 + 0.75 * stream.x.col(2).array().square()).sqrt();
  }
  if (world == World::kWandering) {
    wander(stream, seed);
  } else {
    stream.y += stream.x * stream.truth.head(kFeatures);
    stream.y.array() += stream.truth[kFeatures];
  }
  return stream;
}

void add_to(ordered_json& result, const std::string& key, double value) {
  result[key] = (result.contains(key) ? result[key].get<double>() : 0.0) + value;
}

void judge(ordered_json& result, const std::string& name, const VectorXd& off,
           const VectorXd& variance, Index exposed, double share) {
  const VectorXd covered = (off.array().abs() <= kNinety * variance.array().sqrt()).cast<double>();
  add_to(result, name, share * covered.mean());
  add_to(result, name + "_exposed", share * covered[exposed]);
}

}  // namespace windhover::reproduce
