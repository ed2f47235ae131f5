// The rows of a scenario.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "windhover/samplers/registry.h"
#include "windhover/tests/hashes/scenarios.h"

namespace windhover::test {
namespace {

double outcome(Response response, double eta, double u, double trials) {
  switch (response) {
    case Response::kBinomial:
      return std::floor(trials / (1 + std::exp(-eta) * std::sqrt((1 - u) / (u + 1e-9))));
    case Response::kBernoulli:
      return u < 1 / (1 + std::exp(-eta)) ? 1.0 : 0.0;
    case Response::kCount:
    case Response::kOverdispersedCount:
    case Response::kZeroInflatedCount:
      return std::floor(2 * u * std::exp(std::clamp(eta, -4.0, 4.0)));
    case Response::kCategorical:
      return u < 1 / (1 + std::exp(-eta)) ? 0.0 : (2 * u * u < 1 ? 1.0 : 2.0);
    case Response::kLogNormal:
      return std::exp(std::clamp(eta, -200.0, 200.0)) * (u + 1e-9) / (1 - u + 1e-9);
    default:
      // Logistic noise: heavier tails than normal ones.
      return eta + std::log((u + 1e-9) / (1 - u + 1e-9));
  }
}

// Every class's score is linear in the row; each 50th row is of another class than the scores say.
void spread_over_magnitudes(Data& data, double power, Index classes) {
  const Index features = data.x.cols();
  const VectorXd scale = uniforms(14, data.rows());
  const VectorXd slopes = normals(15, classes * features);
  for (Index i = 0; i < data.rows(); ++i) {
    data.x.row(i) *= std::pow(scale[i], -power);
    Index best = 0;
    for (Index c = 1; c < classes; ++c) {
      const auto score = [&](Index k) {
        return data.x.row(i).dot(slopes.segment(k * features, features));
      };
      if (score(c) > score(best)) best = c;
    }
    data.y[i] = static_cast<double>(i % 50 == 0 ? (best + 1) % classes : best);
  }
}

void sort_by_target(Data& data) {
  std::vector<Index> order(static_cast<std::size_t>(data.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, {}, [&](Index i) { return data.y[i]; });
  const RowMatrix x = data.x;
  const VectorXd y = data.y;
  for (Index i = 0; i < data.rows(); ++i) {
    data.x.row(i) = x.row(order[static_cast<std::size_t>(i)]);
    data.y[i] = y[order[static_cast<std::size_t>(i)]];
  }
}

}  // namespace

Data data_of(const Scenario& s) {
  const ModelConfig& model = s.config.model;
  const Index features = model.features;
  const Response response = find_model(model.name)->response;
  Data data;
  data.x = autoregressive_rows(s.rows, features, 0.5, 11);
  if (s.stream == Stream::kCategory) data.x.col(features - 1).head(s.rows / 2).setZero();
  if (s.stream == Stream::kRepeated) {
    for (Index i = 1; i < s.rows; i += 2) data.x.row(i) = data.x.row(i - 1);
  }
  if (model.max_nonzeros > 0) data.x = (data.x.array().abs() > 0.5).select(data.x, 0.0);
  data.truth = coefficients(features + 1, 12) / std::sqrt(static_cast<double>(features) / 4.0);
  VectorXd eta = data.design() * data.truth;
  if (model.offset) {
    data.offset = 0.7 * normals(14, s.rows);
    eta += data.offset;
  }
  if (model.weight) data.weight = (0.7 * normals(15, s.rows)).array().exp();
  if (s.stream == Stream::kJump) eta.tail(s.rows / 2) *= -2;
  const VectorXd u = uniforms(13, s.rows);
  data.y.resize(s.rows);
  if (model.has_trials()) data.trials = (20 * uniforms(16, s.rows)).array().ceil().max(1.0);
  for (Index i = 0; i < s.rows; ++i) {
    data.y[i] = outcome(response, eta[i], u[i], model.has_trials() ? data.trials[i] : 1.0);
  }
  if (s.stream == Stream::kRepeated) {
    for (Index i = 1; i < s.rows; i += 2) data.y[i] = data.y[i - 1];
  }
  if (s.stream == Stream::kConstant) data.y.head(s.rows / 3).setConstant(1.0);
  if (s.stream == Stream::kOutliers) {
    for (Index i = 97; i < s.rows; i += 613) data.x.row(i) *= 1e4;
  }
  if (s.stream == Stream::kHuge) data.x.row(s.rows / 2) *= 1e34;
  if (s.stream == Stream::kFarTarget) data.y[s.rows / 2] = 1e12;
  if (s.stream == Stream::kMagnitudes) spread_over_magnitudes(data, 3, model.classes);
  if (s.stream == Stream::kSorted) sort_by_target(data);
  return data;
}

}  // namespace windhover::test
