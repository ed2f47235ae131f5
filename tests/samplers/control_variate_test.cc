// Gradients with less noise, and averages with less noise.
#include <gtest/gtest.h>

#include "windhover/samplers/estimates/zero_variance.h"
#include "windhover/samplers/langevin/control_variate_sgld.h"
#include "windhover/tests/samplers/regression.h"
#include "windhover/tests/samplers/walk.h"

namespace windhover::control_variate_test {
namespace {

const Regression& problem() {
  static const Regression regression;
  return regression;
}

// A chain of sgld-cv on the regression. `renew` moves between two anchors taken from the chain (0:
// the first one stays); their full gradients are exact.
Matrix anchored_covariance(double step_size, const Vector& anchor, int renew, int steps) {
  SamplerConfig config;
  config.step_size = step_size;
  Memory memory;
  const auto d = static_cast<std::uint32_t>(problem().dimension());
  ControlVariateSgld sampler(memory.arena(), config, d);
  Estimates estimates = problem().estimates.view();
  const auto anchor_at = [&](const Vector& point) {
    const Vector full = problem().full_gradient(point);
    estimates.anchor = point.data();
    estimates.anchor_gradient = full.data();
    EXPECT_EQ(sampler.refresh(estimates), Status::kOk);
  };
  anchor_at(anchor);
  const ModelEntry* entry = find_model("linear");
  Model* model = entry->make(memory.arena(), problem().config());
  entry->reset(*model);
  GradientSource source(model, d, problem().prior().data());
  source.set_scale(problem().estimates.n, Regression::kDispersion);
  std::vector<std::uint32_t> slots(problem().shape().minibatch_size);
  Vector theta = problem().mode;
  Vector work(4 * theta.size());
  Chain chain{.theta = theta.data(), .work = work.data()};
  Fit fit(problem().dimension());
  for (int step = 0; step < steps; ++step) {
    const auto at = static_cast<std::uint64_t>(step);
    fill_indices(3, {.step = at, .purpose = Purpose::kMinibatch},
                 static_cast<std::uint32_t>(problem().shape().rows), slots);
    source.set_minibatch(problem().batch(slots));
    if (renew > 0 && step % renew == 0) anchor_at(theta);
    Rng rng(3, {.step = at, .purpose = Purpose::kInjectedNoise});
    if (!ok(sampler.step(chain, source, rng))) return Matrix::Constant(d, d, INFINITY);
    fit.add(theta - problem().mode);
  }
  EXPECT_LT((fit.mean().array() / fit.covariance().diagonal().cwiseSqrt().array()).abs().maxCoeff(),
            0.1);
  return fit.covariance();
}

Law sgld_law(double step_size) {
  const Index d = problem().dimension();
  return {step_size * Matrix::Identity(d, d),
          2.0 / (problem().estimates.n * step_size) * Matrix::Identity(d, d)};
}

// With the mode as anchor the noise of the rows' residuals is gone, and only that of the spread of
// theta is left: the exact law has C = 0 at the mode. 4e5 moves of relaxation 12: KL about 1e-3.
TEST(ControlVariates, law_is_that_of_a_mode_without_noise) {
  const Index d = problem().dimension();
  const Matrix none = Matrix::Zero(d, d);
  const Matrix exact = problem().exact_state_covariance(sgld_law(0.1), none);
  const Matrix sampled = anchored_covariance(0.1, problem().mode, 0, 400'000);
  EXPECT_LT(gaussian_kl(sampled, exact.inverse()), 0.003);
  // Plain SGLD at that step is nowhere near.
  EXPECT_GT(gaussian_kl(problem().exact_covariance(sgld_law(0.1)), problem().posterior_precision()),
            1.0);
  EXPECT_LT(gaussian_kl(exact, problem().posterior_precision()), 0.1);
}

// SVRG-LD: iterates as anchors. Between two of them the chain moves on by at most twice the
// posterior's spread, so the noise is up to that of a mode-anchored chain, doubled.
TEST(ControlVariates, renewed_at_iterates_it_stays_near_the_posterior) {
  const Matrix precision = problem().posterior_precision();
  EXPECT_LT(gaussian_kl(anchored_covariance(0.1, problem().mode, 40, 400'000), precision), 0.15);
}

// The further away the anchor, the more noise is left: a wrong sign would show here at once.
TEST(ControlVariates, far_anchor_adds_noise_but_no_bias_of_the_centre) {
  const Matrix near = anchored_covariance(0.05, problem().mode, 0, 200'000);
  const Vector away = problem().mode + 0.5 * Vector::Ones(problem().dimension());
  const Matrix far = anchored_covariance(0.05, away, 0, 200'000);
  EXPECT_GT(far.trace(), 1.2 * near.trace());
  EXPECT_TRUE(far.allFinite());
}

TEST(ControlVariates, computed_step_is_longer_with_an_anchor_and_keeps_the_bias) {
  Memory memory;
  const Index d = problem().dimension();
  ControlVariateSgld sampler(memory.arena(), SamplerConfig{}, static_cast<std::uint32_t>(d));
  Estimates estimates = problem().estimates.view();
  ASSERT_EQ(sampler.refresh(estimates), Status::kOk);
  const double without = sampler.relaxation();
  const Vector zero = Vector::Zero(d);
  estimates.anchor = problem().mode.data();
  estimates.anchor_gradient = zero.data();
  ASSERT_EQ(sampler.refresh(estimates), Status::kOk);
  EXPECT_LT(sampler.relaxation(), 0.1 * without);
  const Matrix& a = problem().estimates.curvature;
  const double least = symmetric_eigen(a).eigenvalues()(0);
  const double h = 1.0 / (sampler.relaxation() * least);
  const Matrix exact = problem().exact_state_covariance(sgld_law(h), Matrix::Zero(d, d));
  const Matrix root = problem().posterior_precision().llt().matrixL();
  const Vector variances = symmetric_eigen(root.transpose() * exact * root).eigenvalues();
  EXPECT_LT(variances.maxCoeff(), 1.0 + 1.03 * kStepBias);
}

TEST(ZeroVariance, is_exact_for_a_linear_function_of_a_gaussian_with_full_gradients) {
  const Index d = 4;
  const Matrix precision = random_covariance(1, d);
  const Matrix root = precision.inverse().llt().matrixL();
  const Vector mean = normals(2, d, 1);
  const Vector weights = normals(3, d, 1);
  Memory memory;
  ZeroVariance average(memory.arena(), static_cast<std::uint32_t>(d));
  average.reset();
  for (std::uint64_t draw = 0; draw < 50; ++draw) {
    const Vector theta = mean + root * normals(100 + draw, d, 1);
    const Vector gradient = precision * (theta - mean);
    average.add(weights.dot(theta), gradient.data());
  }
  ASSERT_EQ(average.solve(), Status::kOk);
  EXPECT_NEAR(average.corrected(), weights.dot(mean), 1e-10);
  EXPECT_GT(std::abs(average.mean() - weights.dot(mean)), 1e-3);
  // Minus the least-squares slope: phi has the gradient P w of theta.
  const Vector expected = -precision.ldlt().solve(weights);
  EXPECT_LT(relative_difference(Eigen::Map<const Vector>(average.coefficients(), d), expected),
            1e-9);
}

TEST(ZeroVariance, too_few_draws_are_reported) {
  Memory memory;
  ZeroVariance average(memory.arena(), 3);
  average.reset();
  const double gradient[] = {1, 2, 3};
  average.add(1.0, gradient);
  EXPECT_EQ(average.solve(), Status::kNotPositiveDefinite);
}

// Along SGLD with minibatch gradients it takes off the injected noise only, and does not harm.
TEST(ZeroVariance, gains_little_with_stochastic_gradients) {
  const OwnedEstimates e{Matrix::Identity(1, 1), Matrix::Identity(1, 1), 100, 10};
  SamplerConfig config;
  config.step_size = 0.2;  // injected 2 / (n h) = 0.1, the minibatch's 0.1
  NoisyGradient gradient(e);
  Memory memory;
  ZeroVariance average(memory.arena(), 1);
  average.reset();
  double plain = 0;
  double corrected = 0;
  int left = 0;
  double last_gradient = 0;
  // The gradient that moved the chain, from the same noise.
  FunctionGradient recording(1, [&](const double* theta, double* g) {
    gradient.source()(theta, g);
    last_gradient = g[0];
  });
  double before = 0;
  walk("sgld", config, e, recording.source(), Vector::Zero(1), 400'000, [&](OwnedChain& chain) {
    average.add(before, &last_gradient);
    before = chain.theta()(0);
    if (++left < 400) return;
    ASSERT_EQ(average.solve(), Status::kOk);
    plain += average.mean() * average.mean();
    corrected += average.corrected() * average.corrected();
    average.reset();
    left = 0;
  });
  // 1000 averages of each: the ratio of two correlated variances to about 5 %.
  EXPECT_GT(plain / corrected, 0.95);
  EXPECT_LT(plain / corrected, 2.5);
}

}  // namespace
}  // namespace windhover::control_variate_test
