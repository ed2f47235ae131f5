// The fixed point that learned prior precisions are compared with, and streams to learn them from.
#ifndef WINDHOVER_TESTS_RUNTIME_PRIOR_PRECISION_FIXTURE_H_
#define WINDHOVER_TESTS_RUNTIME_PRIOR_PRECISION_FIXTURE_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::prior_precision_test {

using Groups = std::vector<std::uint32_t>;

// The prior precision of each parameter: groups are of the features alone, and the last coefficient
// is the intercept.
inline VectorXd spread(const VectorXd& lambda, const Groups& groups, const ModelConfig& model) {
  VectorXd precision(static_cast<Index>(groups.size()) + 1);
  for (std::size_t j = 0; j < groups.size(); ++j) {
    precision[static_cast<Index>(j)] = lambda[static_cast<Index>(groups[j])];
  }
  precision[precision.size() - 1] = model.intercept_precision;
  return precision;
}

inline Gaussian linear_posterior_at(const Data& data, double noise_variance,
                                    const VectorXd& precision) {
  const MatrixXd design = data.design();
  MatrixXd a = design.transpose() * design / noise_variance;
  a.diagonal() += precision;
  const MatrixXd covariance = a.inverse();
  return {covariance * (design.transpose() * data.y) / noise_variance, covariance};
}

// The Gaussian that is served for a logistic model: Laplace's, its mean moved by the first-order
// correction for skewness.
inline Gaussian logistic_posterior_at(const Data& data, const VectorXd& precision) {
  const MatrixXd x = data.design();
  Gaussian g{VectorXd::Zero(x.cols()), MatrixXd()};
  VectorXd p;
  for (int i = 0; i < 30; ++i) {
    p = (1 + (-(x * g.mean).array()).exp()).inverse();
    const VectorXd weight = p.array() * (1 - p.array());
    MatrixXd a = x.transpose() * weight.asDiagonal() * x;
    a.diagonal() += precision;
    g.covariance = a.inverse();
    g.mean += g.covariance * (x.transpose() * (data.y - p) - precision.cwiseProduct(g.mean));
  }
  const VectorXd leverage = (x * g.covariance).cwiseProduct(x).rowwise().sum();
  const VectorXd third = p.array() * (1 - p.array()) * (1 - 2 * p.array()) * leverage.array();
  g.mean -= 0.5 * g.covariance * (x.transpose() * third);
  return g;
}

// lambda_g = D_g / E|theta_g|^2 again and again: the M step as it stands in the papers, slow and
// never wrong.
template <class PosteriorAt>
VectorXd variational_em(const PosteriorAt& posterior_at, const Groups& groups,
                        const ModelConfig& model) {
  const Index count = static_cast<Index>(*std::ranges::max_element(groups)) + 1;
  VectorXd lambda = VectorXd::Ones(count);
  for (int i = 0; i < 3000; ++i) {
    const Gaussian g = posterior_at(spread(lambda, groups, model));
    VectorXd size = VectorXd::Zero(count);
    VectorXd squares = VectorXd::Zero(count);
    for (std::size_t j = 0; j < groups.size(); ++j) {
      const Index k = static_cast<Index>(j);
      size[groups[j]] += 1;
      squares[groups[j]] += g.mean[k] * g.mean[k] + g.covariance(k, k);
    }
    const VectorXd before = lambda;
    lambda = size.cwiseQuotient(squares);
    if ((lambda.array() / before.array()).log().abs().maxCoeff() < 1e-10) break;
  }
  return lambda;
}

inline EngineConfig learning_config(const char* model, std::uint32_t features, std::uint64_t window,
                                    const Groups& groups) {
  EngineConfig config = small_config(model, features, window);
  config.draws_per_observation = 0;
  config.model.learn_prior_precision = true;
  config.model.prior_groups = groups;
  return config;
}

inline VectorXd learned(TestEngine& engine) {
  const auto lambda = engine->learner().view().estimator().prior().of_groups();
  return Eigen::Map<const VectorXd>(lambda.data(), static_cast<Index>(lambda.size()));
}

inline double distance(const VectorXd& a, const VectorXd& b) {
  return (a.array() / b.array()).log().abs().maxCoeff();
}

inline const Groups kOne = {0, 0, 0, 0, 0, 0};
inline const Groups kTwo = {0, 1, 0, 1, 1, 1};

// Two features of group 0 matter much, the four of group 1 little.
template <class MakeData>
Data grouped_data(const MakeData& make) {
  VectorXd truth(7);
  truth << 1.5, 0.2, -1.0, -0.1, 0.15, 0.1, 0.3;
  return make(truth);
}

inline Data grouped_linear_data(Index rows, std::uint64_t seed) {
  return grouped_data([&](const VectorXd& truth) {
    Data data = linear_data(rows, 6, 1.0, seed);
    data.y += data.design() * (truth - data.truth);
    data.truth = truth;
    return data;
  });
}

inline Data grouped_logistic_data(Index rows, std::uint64_t seed) {
  return grouped_data([&](const VectorXd& truth) {
    Data data = logistic_data(rows, 6, 0.0, seed);
    const VectorXd eta = data.design() * truth;
    const VectorXd u = uniforms(4 * seed + 3, rows);
    for (Index i = 0; i < rows; ++i) data.y[i] = u[i] < 1 / (1 + std::exp(-eta[i])) ? 1.0 : 0.0;
    data.truth = truth;
    return data;
  });
}

}  // namespace windhover::test::prior_precision_test

#endif  // WINDHOVER_TESTS_RUNTIME_PRIOR_PRECISION_FIXTURE_H_
