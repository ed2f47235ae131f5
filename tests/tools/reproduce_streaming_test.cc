// What `streaming` and `iterate-averaging` measure, against what they should measure.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <vector>

#include "windhover/tests/tools/support.h"
#include "windhover/tools/reproduce/iterate_averaging_chains.h"
#include "windhover/tools/reproduce/runs.h"
#include "windhover/tools/reproduce/streaming.h"

namespace windhover::reproduce::streaming_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Least squares of a stream, less its truth, over the sd that noise of variance 1 would give.
VectorXd standardised_error(World world, Index rows, std::uint64_t seed) {
  const Stream stream = make_stream(world, rows, seed);
  RowMatrix x(rows, kParameters);
  x << stream.x, VectorXd::Ones(rows);
  const VectorXd estimate = (x.transpose() * x).llt().solve(x.transpose() * stream.y);
  const MatrixXd unit = curvature_of_row().inverse() / static_cast<double>(rows);
  return (estimate - stream.truth).cwiseQuotient(unit.diagonal().cwiseSqrt());
}

TEST(ReproduceStreamingWorld, WidensTheExposedParameterAlone) {
  constexpr int kStreams = 400;
  VectorXd holds = VectorXd::Zero(kParameters);
  VectorXd fails = VectorXd::Zero(kParameters);
  for (std::uint64_t seed = 1; seed <= kStreams; ++seed) {
    holds += standardised_error(World::kLinear, 1000, seed).cwiseAbs2() / kStreams;
    fails += standardised_error(World::kHeteroscedastic, 1000, seed).cwiseAbs2() / kStreams;
  }
  // A^-1 C A^-1 = A^-1 + 1.5 e_2 e_2^T, (A^-1)_22 = (1 + 0.25) / 0.75.
  constexpr double kWidened = 1 + 1.5 / (1.25 / 0.75);
  const double error = 4 * std::sqrt(2.0 / kStreams);
  for (Index j = 0; j < kParameters; ++j) {
    EXPECT_NEAR(holds[j], 1, error + 0.02) << j;
    EXPECT_NEAR(fails[j] / (j == 2 ? kWidened : 1), 1, error + 0.02) << j;
  }
}

TEST(ReproduceStreamingWorld, ALogisticModelFailsWhereTermsAreLeftOut) {
  EXPECT_GT(pseudo_truth().widened.maxCoeff(), 1.2);
  EXPECT_GT((pseudo_truth().theta - make_stream(World::kLogistic, 1, 1).truth).norm(), 0.05);
}

TEST(ReproduceStreamingWorld, TheTruthWandersByTheGainSquaredARow) {
  // theta_t less theta_0, over 400 rows of q A^-1.
  constexpr Index kRowsThere = 400;
  constexpr int kStreams = 300;
  const double gain = 2.0 / static_cast<double>(kEffective + kMinibatch);
  VectorXd moved = VectorXd::Zero(kParameters);
  for (std::uint64_t seed = 1; seed <= kStreams; ++seed) {
    const VectorXd before = make_stream(World::kLinear, 1, seed).truth;  // the same seed's start
    const VectorXd after = make_stream(World::kWandering, kRowsThere, seed).truth;
    moved += (after - before).cwiseAbs2() / kStreams;
  }
  const VectorXd expected = gain * gain * kRowsThere * curvature_of_row().inverse().diagonal();
  for (Index j = 0; j < kParameters; ++j) {
    EXPECT_NEAR(moved[j] / expected[j], 1, 4 * std::sqrt(2.0 / kStreams)) << j;
  }
}

TEST(ReproduceStreamingBar, IsNotWidenedByTheRunsError) {
  EXPECT_TRUE(within(0.9, 0.015, {0.886, 0.004}).holds(0.886));
  EXPECT_FALSE(within(0.9, 0.015, {0.88, 0.004}).holds(0.88));
  EXPECT_FALSE(within(0.9, 0.015, {0.9, 0.006}).holds(0.9));  // cannot tell
}

// A regime that claims nothing must not pass for one that does.
TEST(ReproduceStreamingRegime, AMisspecifiedCoefficientTellsThePosteriorFromTheSandwich) {
  const Regime& sandwich = regimes()[3];
  ASSERT_TRUE(sandwich.robust);
  double plain = 0;
  double robust = 0;
  constexpr int kStreams = 60;  // each of four windows
  for (std::uint64_t seed = 1; seed <= kStreams; ++seed) {
    const auto run = replicate(sandwich, World::kHeteroscedastic, 2, seed);
    plain += run.at("plain_exposed").get<double>() / kStreams;
    robust += run.at("robust_exposed").get<double>() / kStreams;
  }
  // 0.767 and 0.9 with a standard error of 0.02.
  EXPECT_NEAR(plain, coverage_of_draws(1 / 1.9), 0.08);
  EXPECT_NEAR(robust, 0.9, 0.08);
}

TEST(ReproduceStreamingLag, IsZeroOfWhatIsServedAndAsDerivedOfTheChains) {
  std::vector<double> chains;
  std::vector<double> following;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto run = lag_of_engine(16, seed);
    EXPECT_LT(run.at("served").get<double>(), 1e-6) << seed;
    chains.push_back(run.at("chains").get<double>());
    following.push_back(lag_of_followers(1, seed).at("chains").get<double>());
  }
  const Estimate engine = mean_of(chains);
  EXPECT_NEAR(engine.value, kLagWhenCarried, 4 * engine.mcse);
  const Estimate left = mean_of(following);
  EXPECT_NEAR(left.value, lag_when_following(1), 4 * left.mcse);
}

TEST(ReproduceStreamingCoverage, OfFewDrawsIsThatOfStudentsT) {
  // t of 31 degrees at 1.645 / sqrt(1 + 1/32).
  EXPECT_NEAR(coverage_of_32_draws(1), 0.8846, 5e-5);
  EXPECT_NEAR(coverage_of_draws(1), 0.9, 1e-4);
  EXPECT_NEAR(coverage_of_draws(0.5), 0.7552, 1e-4);
}

TEST(ReproduceIterateAveraging, ARandomStartShowsUnlessItsPassesAreLeftOut) {
  const Problem problem = iasg_problem(1);
  const std::vector<double> passes = {40};
  const double exact = problem.posterior.covariance(0, 0);
  for (const std::size_t method : {0, 1}) {
    const auto run = iasg_chain(problem, method, 1, passes, 3);
    const auto ratio = [&](std::size_t burn_in) {
      return run.at(burn_in).at("variances").at(0).at(0).get<double>() / exact;
    };
    EXPECT_GT(ratio(0), 1.3 * ratio(1)) << kIasgMethods[method];
  }
  const auto other = iasg_chain(problem, 0, 1, passes, 4);
  EXPECT_NE(other.at(1).at("variances"),
            iasg_chain(problem, 0, 1, passes, 3).at(1).at("variances"));
}

TEST(ReproduceIterateAveraging, SgldIsAsWideAsItsStepsMakeIt) {
  const Problem problem = iasg_problem(1);
  std::vector<double> ratios;
  const SgldLaw law = sgld_law(problem, 60, kIasgBurnIns[1]);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto run = iasg_chain(problem, 1, 0, {60}, seed);
    for (std::size_t j = 0; j < 10; ++j) {
      ratios.push_back(run.at(1).at("variances").at(0).at(j).get<double>() /
                       law.variances[static_cast<Index>(j)]);
    }
  }
  EXPECT_NEAR(mean_of(ratios).value, 1, 0.05);
  EXPECT_GT(law.variances[0], 3 * law.injected_alone[0]);
}

}  // namespace
}  // namespace windhover::reproduce::streaming_test
