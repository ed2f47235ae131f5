// Status and reason as a table over their evidence.
#include "windhover/runtime/diagnostics/judgement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace windhover::test::judgement_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// All is well.
Evidence good() {
  Evidence e;
  e.sampling = true;
  e.law_asked = true;
  e.spread_smallest = 0.95;
  e.spread_largest = 1.05;
  e.compared_draws = 1e6;
  e.replay_is_target = true;
  e.replay_ratio = 4;
  return e;
}

struct Row {
  const char* name;
  void (*change)(Evidence& e);
  PosteriorStatus status;
  StatusReason reason;
};

constexpr auto kOk = PosteriorStatus::kOk;
constexpr auto kWarmingUp = PosteriorStatus::kWarmingUp;
constexpr auto kDegraded = PosteriorStatus::kDegraded;

constexpr Row kRows[] = {
    {"all is well", [](Evidence&) {}, kOk, StatusReason::kNone},
    {"not sampling", [](Evidence& e) { e.sampling = false; }, kWarmingUp, StatusReason::kFewDraws},
    {"nothing compared", [](Evidence& e) { e.spread_smallest = e.spread_largest = 0; }, kWarmingUp,
     StatusReason::kFewDraws},
    {"no independent draws", [](Evidence& e) { e.compared_draws = 0; }, kWarmingUp,
     StatusReason::kFewDraws},
    {"drift", [](Evidence& e) { e.drifting = true; }, PosteriorStatus::kDrifting,
     StatusReason::kDrift},
    {"dependent rows", [](Evidence& e) { e.dependent_rows = true; }, kDegraded,
     StatusReason::kDependentRows},
    {"no estimates", [](Evidence& e) { e.not_definite = true; }, kDegraded,
     StatusReason::kNotDefinite},
    {"lost chains", [](Evidence& e) { e.chains_lost = true; }, kDegraded,
     StatusReason::kLostChains},
    {"network", [](Evidence& e) { e.network = true; }, kDegraded, StatusReason::kNetwork},
    {"network, compared or not",
     [](Evidence& e) {
       e.network = true;
       e.spread_largest = e.compared_draws = 0;
     },
     kDegraded, StatusReason::kNetwork},
    {"law just wide", [](Evidence& e) { e.law_largest = 1.3; }, kDegraded,
     StatusReason::kSamplersLaw},
    {"law not too wide", [](Evidence& e) { e.law_largest = 1.29; }, kOk, StatusReason::kNone},
    {"law just narrow", [](Evidence& e) { e.law_smallest = 1 / 1.3; }, kDegraded,
     StatusReason::kSamplersLaw},
    {"law not too narrow", [](Evidence& e) { e.law_smallest = 0.78; }, kOk, StatusReason::kNone},
    {"law of another target",
     [](Evidence& e) {
       e.law_asked = false;
       e.law_largest = 5;
     },
     kOk, StatusReason::kNone},
    {"law not known, but the draws in every direction",
     [](Evidence& e) { e.law_largest = e.law_smallest = kNan; }, kOk, StatusReason::kNone},
    {"neither law nor draws known",
     [](Evidence& e) {
       e.law_largest = e.law_smallest = kNan;
       e.law_decided = false;
     },
     kDegraded, StatusReason::kLawUnknown},
    {"steps given, too long for a law",
     [](Evidence& e) {
       e.step_given = true;
       e.law_largest = kInfinity;
     },
     kDegraded, StatusReason::kSamplersLaw},
    {"steps chosen, but rounding leaves no law", [](Evidence& e) { e.law_largest = kInfinity; },
     kDegraded, StatusReason::kNotDefinite},
    {"never a law, from the first chain on",
     [](Evidence& e) {
       e.law_refused = true;
       e.sampling = false;
     },
     kDegraded, StatusReason::kSamplersLaw},
    {"draws too wide", [](Evidence& e) { e.spread_largest = 1.31; }, kDegraded,
     StatusReason::kSpread},
    {"draws too narrow", [](Evidence& e) { e.spread_smallest = 0.76; }, kDegraded,
     StatusReason::kSpread},
    {"as wide as few draws leave open",
     [](Evidence& e) {
       e.band.wide = 1.6;
       e.spread_largest = 1.59;
     },
     kOk, StatusReason::kNone},
    {"wider than few draws leave open",
     [](Evidence& e) {
       e.band.wide = 1.6;
       e.spread_largest = 1.6;
     },
     kDegraded, StatusReason::kSpread},
    {"as narrow as few draws leave open",
     [](Evidence& e) {
       e.band.narrow = 0.6;
       e.spread_smallest = 0.61;
     },
     kOk, StatusReason::kNone},
    {"narrower than few draws leave open",
     [](Evidence& e) {
       e.band.narrow = 0.6;
       e.spread_smallest = 0.6;
     },
     kDegraded, StatusReason::kSpread},
    {"spread not known", [](Evidence& e) { e.spread_smallest = e.spread_largest = kNan; }, kOk,
     StatusReason::kNone},
    {"prior contradicted", [](Evidence& e) { e.prior_conflict = 1.01; }, kDegraded,
     StatusReason::kPrior},
    {"prior not contradicted", [](Evidence& e) { e.prior_conflict = 1; }, kOk, StatusReason::kNone},
    {"misfit", [](Evidence& e) { e.misfit = true; }, kDegraded, StatusReason::kMisfit},
    {"replay below 1", [](Evidence& e) { e.replay_ratio = 0.999; }, kDegraded,
     StatusReason::kReplayRatio},
    {"rows outran the sums", [](Evidence& e) { e.outrun = true; }, kDegraded,
     StatusReason::kReplayRatio},
    {"replay of 1", [](Evidence& e) { e.replay_ratio = 1; }, kOk, StatusReason::kNone},
    {"replay of 1 but for rounding", [](Evidence& e) { e.replay_ratio = 1 - 1e-12; }, kOk,
     StatusReason::kNone},
    {"replay without a target",
     [](Evidence& e) {
       e.replay_is_target = false;
       e.replay_ratio = 0.1;
     },
     kOk, StatusReason::kNone},
};

TEST(Judgement, IsWhatTheTableSays) {
  for (const Row& row : kRows) {
    Evidence e = good();
    row.change(e);
    const Judgement judgement = judge(e);
    EXPECT_EQ(judgement.status, row.status) << row.name;
    EXPECT_EQ(judgement.reason, row.reason) << row.name << ": " << to_string(judgement.reason);
  }
}

// The order of runtime/README.md: each reason hides those after it.
TEST(Judgement, NamesTheFirstReasonThatApplies) {
  constexpr struct {
    void (*change)(Evidence& e);
    StatusReason reason;
  } kFromLast[] = {
      {[](Evidence& e) { e.replay_ratio = 0.5; }, StatusReason::kReplayRatio},
      {[](Evidence& e) { e.misfit = true; }, StatusReason::kMisfit},
      {[](Evidence& e) { e.prior_conflict = 2; }, StatusReason::kPrior},
      {[](Evidence& e) { e.spread_largest = 9; }, StatusReason::kSpread},
      {[](Evidence& e) { e.law_decided = false; }, StatusReason::kLawUnknown},
      {[](Evidence& e) { e.law_largest = 9; }, StatusReason::kSamplersLaw},
      {[](Evidence& e) { e.network = true; }, StatusReason::kNetwork},
      {[](Evidence& e) { e.chains_lost = true; }, StatusReason::kLostChains},
      {[](Evidence& e) { e.not_definite = true; }, StatusReason::kNotDefinite},
      {[](Evidence& e) { e.dependent_rows = true; }, StatusReason::kDependentRows},
      {[](Evidence& e) { e.drifting = true; }, StatusReason::kDrift},
      {[](Evidence& e) { e.sampling = false; }, StatusReason::kFewDraws},
      {[](Evidence& e) { e.law_refused = true; }, StatusReason::kSamplersLaw},
  };
  Evidence e = good();
  for (const auto& step : kFromLast) {
    step.change(e);
    EXPECT_EQ(judge(e).reason, step.reason) << to_string(judge(e).reason);
  }
}

// A reader who sees `degraded: spread` sees the ratio that it is about.
TEST(Judgement, PublishesTheSpreadThatTrippedIt) {
  Evidence e = good();
  e.spread_largest = 1.25;
  e.spread_smallest = 0.7;
  EXPECT_EQ(judge(e).spread_ratio, 0.7);
  e.spread_smallest = 0.95;
  EXPECT_EQ(judge(e).spread_ratio, 1.25);
  // Few draws leave more room below 1 than above, in proportion.
  e.band = {0.49, 1.87};
  e.spread_smallest = 0.5;
  e.spread_largest = 1.9;
  EXPECT_EQ(judge(e).reason, StatusReason::kSpread);
  EXPECT_EQ(judge(e).spread_ratio, 1.9);
  e.spread_smallest = e.spread_largest = kNan;
  EXPECT_TRUE(std::isnan(judge(e).spread_ratio));
}

}  // namespace
}  // namespace windhover::test::judgement_test
