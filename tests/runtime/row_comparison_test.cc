// Rows of one question compared, against counting draw by draw.
#include "windhover/runtime/prediction/row_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "windhover/platform/memory.h"
#include "windhover/platform/random.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::row_comparison_test {
namespace {

constexpr std::uint32_t kDraws = 16;
constexpr std::size_t kRows = 3;

struct Compared {
  explicit Compared(const char* model)
      : config(with_defaults(configuration(model))),
        response(find_model(model)->response),
        block(1 << 20),
        arena(block.bytes()),
        outcome(config.model),
        rows(arena, config) {
    outcome.set_noise(response, {0.3, 0}, {});
  }
  static EngineConfig configuration(const char* model) {
    EngineConfig config = small_config(model, 2, 100);
    config.retained_draws = kDraws;
    return config;
  }
  // Each row's linear predictor on each draw.
  std::vector<PredictiveSummary> compare(const MatrixXd& predictors,
                                         const PredictRequest& request) {
    std::vector<PredictiveSummary> summaries(request.rows);
    rows.begin(7, request);
    for (std::size_t row = 0; row < request.rows; ++row) {
      const auto of = static_cast<Index>(row);
      PredictiveSummary& s = summaries[row];
      s.linpred_mean = predictors.row(of).mean();
      for (std::uint32_t m = 0; m < kDraws; ++m) {
        rows.predictors(row)[m] = predictors(of, m) - s.linpred_mean;
      }
      rows.add(response, outcome, request, row, s);
    }
    if (request.rows > 1) rows.end(request, summaries);
    return summaries;
  }
  EngineConfig config;
  Response response;
  MappedBlock block;
  Arena arena;
  OutcomePredictor outcome;
  RowComparison rows;
};

MatrixXd some_predictors() {
  const VectorXd numbers = normals(3, kRows * kDraws);
  return Eigen::Map<const MatrixXd>(numbers.data(), kRows, kDraws);
}

TEST(RowComparison, IsWhatCountingTheDrawsGives) {
  const MatrixXd predictors = some_predictors();
  const std::vector<double> trials = {5, 3, 4};
  for (const char* model : {"linear", "logistic", "poisson", "binomial", "log-normal"}) {
    Compared c(model);
    PredictRequest request;
    request.rows = kRows;
    if (c.response == Response::kBinomial) request.trials = trials;
    const auto summaries = c.compare(predictors, request);
    for (std::size_t row = 0; row < kRows; ++row) {
      double best = 0;
      double regret = 0;
      for (std::uint32_t m = 0; m < kDraws; ++m) {
        const auto value = [&](std::size_t of) {
          return trials_of(request, of) *
                 c.outcome.expected(c.response, predictors(static_cast<Index>(of), m));
        };
        const double most = std::max({value(0), value(1), value(2)});
        best += value(row) == most ? 1.0 / kDraws : 0;
        regret += (most - value(row)) / kDraws;
      }
      EXPECT_NEAR(summaries[row].prob_best, best, 1e-12) << model << " " << row;
      EXPECT_NEAR(summaries[row].expected_regret, regret, 1e-9 * (1 + regret)) << model;
    }
  }
}

TEST(RowComparison, BeginsAnewWithEachRequest) {
  const MatrixXd predictors = some_predictors();
  Compared c("linear");
  PredictRequest request;
  request.rows = kRows;
  c.compare(predictors.array() + 100, request);
  const auto summaries = c.compare(predictors, request);
  double sum = 0;
  for (const PredictiveSummary& s : summaries) sum += s.prob_best;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_LT(summaries[0].expected_regret, 10);
}

// The draw has the draws' covariance; for one row, their standard deviation.
TEST(RowComparison, AFreshDrawIsTheDrawsMixedByNormalNumbers) {
  const MatrixXd predictors = some_predictors();
  Compared c("linear");
  PredictRequest request;
  request.rows = 1;
  request.thompson_id = 42;
  const auto summaries = c.compare(predictors, request);
  std::vector<double> z(kDraws);
  fill_normals(7, {42, 0, Purpose::kThompson}, z);
  const double mean = predictors.row(0).mean();
  double expected = mean;
  for (std::uint32_t m = 0; m < kDraws; ++m) {
    expected += z[m] * (predictors(0, m) - mean) / std::sqrt(kDraws - 1.0);
  }
  EXPECT_NEAR(summaries[0].thompson, expected, 1e-12);
  EXPECT_EQ(summaries[0].prob_best, 0) << "there is nothing to compare it with";
}

}  // namespace
}  // namespace windhover::test::row_comparison_test
