// What the check of a sampler's law says, beside the law itself: the dense solution of the discrete
// Lyapunov equation, for every sampler of the registry that has one.
#include "windhover/runtime/diagnostics/law_check.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::law_check_test {
namespace {

using Verdict = LawCheck::Verdict;

struct Problem {
  MatrixXd curvature;
  MatrixXd noise;
  double n = 4000;
  double minibatch_size = 82;
};

// The curvature and the gradient noise of a linear model of unit noise with n rows, whose noise
// varies with a feature where `misfit` is not 0: then A and C do not commute.
Problem problem(Index dimension, double correlation, double misfit, double prior = 1) {
  Problem p;
  const RowMatrix x = autoregressive_rows(static_cast<Index>(p.n), dimension - 1, correlation, 91);
  MatrixXd design(x.rows(), dimension);
  design << x, VectorXd::Ones(x.rows());
  p.curvature = design.transpose() * design / p.n;
  p.curvature.diagonal().array() += prior / p.n;
  const VectorXd scale = (1 + misfit * (design.col(0).array().square() - 1)).abs().sqrt();
  const MatrixXd scores = design.array().colwise() * scale.array();
  p.noise = scores.transpose() * scores / p.n;
  return p;
}

struct Extremes {
  double smallest;
  double largest;
};

// Extremes of the law's covariance relative to the posterior's. The equation of (theta, velocity)
// is summed by doubling, in the units of the posterior.
Extremes exact_law(const AnySampler& sampler, const Problem& p) {
  const Index d = p.curvature.rows();
  MatrixXd h(d, d);
  MatrixXd injected(d, d);
  sampler.law(h.data(), injected.data());
  const double beta = sampler.momentum();
  MatrixXd r(2 * d, 2 * d);
  const MatrixXd identity = MatrixXd::Identity(d, d);
  r << identity - h * p.curvature, beta * identity, -h * p.curvature, beta * identity;
  const MatrixXd noise = h * (p.noise / p.minibatch_size + injected) * h.transpose();
  MatrixXd x(2 * d, 2 * d);
  x << noise, noise, noise, noise;
  for (int round = 0; round < 40; ++round) {
    x += (r * x * r.transpose()).eval();
    r = (r * r).eval();
  }
  const MatrixXd law = x.topLeftCorner(d, d);
  const Eigen::LLT<MatrixXd> factor(p.curvature);
  const MatrixXd upper = factor.matrixU();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> ratios(p.n * upper * law * upper.transpose());
  return {ratios.eigenvalues()[0], ratios.eigenvalues()[d - 1]};
}

struct Checked {
  Verdict verdict;
  double smallest;
  double largest;
};

class Check {
 public:
  Check(const Problem& problem, const SamplerConfig& config)
      : problem_(&problem),
        covariance_(problem.curvature.inverse() / problem.n),
        block_(std::size_t{1} << 27),
        arena_(block_.bytes()),
        dimension_(static_cast<std::uint32_t>(problem.curvature.rows())),
        sampler_(*find_sampler(config.name)->make(arena_, config, dimension_)),
        check_(arena_, dimension_) {
    EXPECT_EQ(sampler_.refresh(estimates()), Status::kOk);
  }
  const AnySampler& sampler() const { return sampler_; }
  void change(const Problem& problem) {
    problem_ = &problem;
    covariance_ = problem.curvature.inverse() / problem.n;
    ++version_;
    EXPECT_EQ(sampler_.refresh(estimates()), Status::kOk);
  }
  void advance() { check_.advance(terms(), nullptr); }
  Checked run(int most = 4000) {
    Checked result{};
    int calls = 0;
    while (check_.verdict() == Verdict::kOpen && calls < most) {
      advance();
      ++calls;
    }
    result.verdict = check_.verdict();
    result.smallest = check_.smallest();
    result.largest = check_.largest();
    return result;
  }

 private:
  Estimates estimates() const {
    Estimates e;
    e.dimension = dimension_;
    e.n = problem_->n;
    e.minibatch_size = problem_->minibatch_size;
    e.curvature = problem_->curvature.data();
    e.noise_covariance = problem_->noise.data();
    return e;
  }
  LawTerms terms() const {
    return {&sampler_,
            problem_->curvature.data(),
            problem_->noise.data(),
            covariance_.data(),
            problem_->minibatch_size,
            problem_->n,
            1.0,
            version_};
  }

  const Problem* problem_;
  std::uint64_t version_ = 1;
  MatrixXd covariance_;
  MappedBlock block_;
  Arena arena_;
  std::uint32_t dimension_;
  AnySampler& sampler_;
  LawCheck check_;
};

// Bounds that are found are within 2 % of their own, and those of a law need not be attained.
void expect_right(const Checked& found, const Extremes& exact, const std::string& what) {
  const double off = std::max(exact.largest, 1 / exact.smallest);
  const bool beyond = found.verdict == Verdict::kBeyond;
  EXPECT_NE(found.verdict, Verdict::kOpen) << what;
  EXPECT_NE(found.verdict, Verdict::kNone) << what;
  if (off > LawCheck::kTolerance) {
    EXPECT_NE(found.verdict, Verdict::kWithin) << what;
  }
  if (off <= 1.15) {
    EXPECT_EQ(found.verdict, Verdict::kWithin) << what;
  }
  if (found.verdict == Verdict::kWithin) {
    EXPECT_GE(found.largest, exact.largest / 1.02) << what;
    EXPECT_LE(found.smallest, exact.smallest * 1.02) << what;
  }
  if (beyond) {
    EXPECT_TRUE(found.largest >= LawCheck::kTolerance || found.smallest <= 1 / LawCheck::kTolerance)
        << what;
    // What is said of one direction is no more than what is true of the farthest.
    EXPECT_LE(found.largest, std::max(exact.largest, LawCheck::kTolerance) * 1.02) << what;
    EXPECT_GE(found.smallest, std::min(exact.smallest, 1 / LawCheck::kTolerance) / 1.02) << what;
  }
  EXPECT_EQ(std::isnan(found.largest), found.verdict == Verdict::kUnknown) << what;
}

TEST(LawCheck, AgreesWithTheDenseSolutionForEverySampler) {
  int within = 0;
  int beyond = 0;
  for (const Index d : {9, 41}) {
    for (const double correlation : {0.0, 0.9}) {
      for (const double misfit : {0.0, 1.0}) {
        const Problem p = problem(d, correlation, misfit);
        for (const SamplerEntry& entry : sampler_registry()) {
          if (!entry.has_law) continue;
          SamplerConfig config;
          config.name = entry.name;
          Check check(p, config);
          const Checked found = check.run();
          expect_right(found, exact_law(check.sampler(), p),
                       std::string(entry.name) + ", D = " + std::to_string(d) + ", correlation " +
                           std::to_string(correlation) + ", misfit " + std::to_string(misfit));
          within += found.verdict == Verdict::kWithin;
          beyond += found.verdict == Verdict::kBeyond;
        }
      }
    }
  }
  // The list holds samplers of both kinds.
  EXPECT_GE(within, 50);
  EXPECT_GE(beyond, 30);
}

// Settings that make good samplers bad.
TEST(LawCheck, AgreesWithTheDenseSolutionAtGivenStepsAndTemperatures) {
  const Problem p = problem(41, 0.9, 0.5);
  for (const double step : {1e-4, 1e-3, 1e-2}) {
    for (const char* sampler : {"sgld", "sgld-p", "msgld", "sghmc"}) {
      SamplerConfig config;
      config.name = sampler;
      config.step_size = step;
      Check check(p, config);
      expect_right(check.run(), exact_law(check.sampler(), p),
                   std::string(sampler) + ", step " + std::to_string(step));
    }
  }
}

TEST(LawCheck, SaysThatThereIsNoLawWhereStepsAreTooLong) {
  for (const Index d : {9, 41}) {
    const Problem p = problem(d, 0.9, 0);
    SamplerConfig config;
    config.name = "sgld";
    config.step_size =
        2.05 / Eigen::SelfAdjointEigenSolver<MatrixXd>(p.curvature).eigenvalues()[d - 1];
    Check check(p, config);
    const Checked found = check.run();
    EXPECT_EQ(found.verdict, Verdict::kNone) << d;
    EXPECT_TRUE(std::isinf(found.largest)) << d;
  }
}

// One parameter in 60 of which the gradient is four times as noisy as the model says, and nothing
// else is amiss: `sgd-f` follows it, one rate for all does not.
TEST(LawCheck, FindsOneDirectionAmongMany) {
  Problem p = problem(61, 0.0, 0);
  p.curvature = MatrixXd::Identity(61, 61);
  p.noise = p.curvature;
  p.noise(17, 17) = 4;
  for (const bool full : {true, false}) {
    SamplerConfig config;
    config.name = full ? "sgd-f" : "sgd";
    Check check(p, config);
    const Checked found = check.run();
    const Extremes exact = exact_law(check.sampler(), p);
    EXPECT_EQ(found.verdict, full ? Verdict::kWithin : Verdict::kBeyond);
    EXPECT_NEAR(found.largest, exact.largest, 0.02 * exact.largest);
  }
}

// As estimates change the verdict follows, whether it gets better or worse.
TEST(LawCheck, FollowsEstimatesThatChange) {
  const Problem good = problem(41, 0.0, 0);
  const Problem bad = problem(41, 0.9, 0);
  SamplerConfig config;
  config.name = "sgd";
  Check check(good, config);
  EXPECT_EQ(check.run().verdict, Verdict::kWithin);
  for (const bool worse : {true, false}) {
    check.change(worse ? bad : good);
    for (int call = 0; call < 100; ++call) check.advance();
    EXPECT_EQ(check.run().verdict, worse ? Verdict::kBeyond : Verdict::kWithin);
  }
}

}  // namespace
}  // namespace windhover::test::law_check_test
