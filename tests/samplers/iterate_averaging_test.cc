#include "windhover/samplers/constant_rate/iterate_averaging.h"

#include <gtest/gtest.h>

#include "windhover/tests/samplers/laws.h"
#include "windhover/tests/samplers/regression.h"

namespace windhover::iterate_averaging_test {
namespace {

// Covariance of the mean of `window` successive iterates of theta <- R theta + noise whose own
// covariance is sigma.
Matrix window_covariance(const Matrix& r, const Matrix& sigma, int window) {
  Matrix total = window * sigma;
  Matrix lagged = sigma;
  for (int lag = 1; lag < window; ++lag) {
    lagged = (r * lagged).eval();
    total += (window - lag) * (lagged + lagged.transpose());
  }
  return total / (static_cast<double>(window) * window);
}

Law scalar_law(double rate, Index d) { return {rate * Matrix::Identity(d, d), Matrix::Zero(d, d)}; }

// Eq. 34 is in continuous time: for A = C it agrees with what is exact in discrete time. Its second
// term is a tenth of the first at the shortest step.
TEST(IterateAveragingLaw, exact_covariance_is_that_of_equation_34) {
  OwnedEstimates e = random_estimates(1, 4);
  e.noise = e.curvature;
  const auto eigen = symmetric_eigen(e.curvature);
  const Vector lambda = eigen.eigenvalues();
  const int window = 4000;
  e.minibatch_size = 1;
  e.n = window;
  for (const double relative_rate : {0.4, 0.1, 0.025}) {
    const double rate = relative_rate / lambda.maxCoeff();
    const Matrix sigma = stationary(scalar_law(rate, 4), e);
    const Matrix r = Matrix::Identity(4, 4) - rate * e.curvature;
    const double s_over_n = e.minibatch_size / e.n;
    const Vector bend = ((-rate / s_over_n * lambda).array().exp() - 1) / lambda.array().square();
    const Matrix printed =
        e.curvature.inverse() / e.n + s_over_n / (rate * e.n) * eigen.eigenvectors() *
                                          bend.asDiagonal() * eigen.eigenvectors().transpose();
    const double difference = relative_difference(window_covariance(r, sigma, window), printed);
    EXPECT_LT(difference, 0.01) << relative_rate;
  }
}

// Eq. 28 to 31: over a long run the covariance is A^-1 C A^-1 / (T S) whatever the rate.
TEST(IterateAveragingLaw, long_windows_have_the_covariance_of_polyak_and_ruppert) {
  const OwnedEstimates e = random_estimates(2, 4);
  const double largest = symmetric_eigen(e.curvature).eigenvalues().maxCoeff();
  const int window = 100'000;
  const Matrix expected =
      e.curvature.inverse() * e.noise * e.curvature.inverse() / (window * e.minibatch_size);
  for (const double relative_rate : {0.1, 1.0}) {
    const double rate = relative_rate / largest;
    const Matrix r = Matrix::Identity(4, 4) - rate * e.curvature;
    const Matrix sigma = stationary(scalar_law(rate, 4), e);
    EXPECT_LT(relative_difference(window_covariance(r, sigma, window), expected), 0.01);
  }
}

TEST(IterateAveragingRate, is_the_largest_eigenvalue_inverted_or_what_is_given) {
  const OwnedEstimates e = random_estimates(3, 6);
  const double largest = symmetric_eigen(e.curvature).eigenvalues().maxCoeff();
  for (const double given : {0.0, 0.5 / largest, 3.0 / largest}) {
    Memory memory;
    SamplerConfig config;
    config.step_size = given;
    IterateAveraging sampler(memory.arena(), config, 6);
    const Status status = sampler.refresh(e.view());
    EXPECT_EQ(status, given * largest < 2 ? Status::kOk : Status::kNotPositiveDefinite) << given;
    if (!ok(status)) continue;
    EXPECT_NEAR(sampler.rate() * largest, given > 0 ? 0.5 : 1.0, 0.03);
    EXPECT_EQ(sampler.window(), 25);  // n / S
  }
}

// Every window's mean on real minibatches, against the exact covariance (C grows with the spread of
// theta). 4 x 2000 windows in 4 dimensions: of a KL of independent draws the 99.5 % quantile is
// 31.3 / (2 x 8000) = 0.002 (chi-squared with 14 degrees of freedom), and windows are correlated
// by less than a tenth.
TEST(IterateAveragingRun, windows_have_the_exact_covariance) {
  const Regression problem;
  const Index d = problem.dimension();
  Memory memory;
  IterateAveraging sampler(memory.arena(), SamplerConfig{}, static_cast<std::uint32_t>(d));
  ASSERT_EQ(sampler.refresh(problem.estimates.view()), Status::kOk);
  const int window = static_cast<int>(sampler.window());
  const Law law = scalar_law(sampler.rate(), d);
  const Matrix r = Matrix::Identity(d, d) - law.h * problem.estimates.curvature;
  const Matrix expected = window_covariance(r, problem.exact_covariance(law), window);
  ChainRunner runner(problem, IterateAveraging::kName, SamplerConfig{});
  Fit fit(d);
  constexpr int kWindows = 2000;
  constexpr int kSettling = 5;
  for (std::uint16_t chain = 0; chain < 4; ++chain) {
    Vector theta = problem.mode;
    int step = 0;
    Vector last = theta;
    runner.run(theta, chain, (kSettling + kWindows) * window, Draws::kPrivate,
               [&](const Vector& at) {
                 if (++step % window != 0) {
                   EXPECT_EQ(at, last) << "a draw stands until the next window is complete";
                   return;
                 }
                 last = at;
                 if (step > kSettling * window) fit.add(at - problem.mode);
               });
  }
  EXPECT_LT(gaussian_kl(fit.covariance(), expected.inverse(), fit.mean()), 0.0025);
}

}  // namespace
}  // namespace windhover::iterate_averaging_test
