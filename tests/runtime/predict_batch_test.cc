// Many rows in one request: each answer is the one the row gets alone.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/runtime/prediction/predict.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::predict_batch_test {
namespace {

// Every number of an answer that is not about the other rows.
std::vector<double> numbers(const PredictiveSummary& s) {
  std::vector<double> all = {s.linpred_mean,
                             s.linpred_sd,
                             s.epred_mean,
                             s.epred_sd,
                             s.mean,
                             s.sd,
                             s.var_epistemic,
                             s.var_aleatoric,
                             s.interval_lower,
                             s.interval_upper,
                             s.entropy,
                             s.expected_entropy,
                             s.mutual_information,
                             s.log_score,
                             s.pit,
                             s.crps,
                             s.brier,
                             s.thompson,
                             static_cast<double>(s.classes)};
  all.insert(all.end(), s.quantiles.begin(), s.quantiles.end());
  all.insert(all.end(), s.exceedance.begin(), s.exceedance.end());
  for (const auto* of_classes : {&s.probs, &s.probs_sd, &s.probs_eti_lower, &s.probs_eti_upper}) {
    all.insert(all.end(), of_classes->begin(), of_classes->end());
  }
  return all;
}

struct Case {
  const char* model;
  Index features;
};

class PredictBatch : public testing::TestWithParam<Case> {
 protected:
  static constexpr Index kRows = 77;  // more than two blocks, and a remainder of every kind

  PredictBatch() : engine_(config()) {
    const Data data = linear_data(400, GetParam().features, 1.0, 3);
    Data labelled = data;
    for (Index i = 0; i < data.rows(); ++i) labelled.y[i] = target(data.y[i]);
    engine_.feed(labelled);
    engine_.poll_rounds(300);
    x_ = linear_data(kRows, GetParam().features, 1.0, 4).x;
    outcomes_.resize(kRows);
    for (Index i = 0; i < kRows; ++i) {
      outcomes_[static_cast<std::size_t>(i)] = i % 2 == 0 ? 1 : positive() ? 0.3 : 0;
    }
  }
  static EngineConfig config() {
    EngineConfig c =
        small_config(GetParam().model, static_cast<std::uint32_t>(GetParam().features), 400);
    c.max_query_rows = kRows;
    if (name() == "softmax") c.model.classes = 4;
    return c;
  }
  static std::string name() { return GetParam().model; }
  static bool regression() { return name() == "linear" || name() == "student-t"; }
  static bool positive() { return name() == "log-normal"; }
  static double target(double y) {
    return regression() ? y : positive() ? std::exp(y) : y > 0 ? 1 : 0;
  }
  // The answers to rows [first, first + count).
  std::vector<PredictiveSummary> ask(Index first, Index count) {
    static constexpr std::array<double, 2> kLevels = {0.1, 0.7};
    static constexpr std::array<double, 1> kThresholds = {0.5};
    PredictRequest request;
    request.rows = static_cast<std::size_t>(count);
    request.features = {x_.data() + first * x_.cols(), static_cast<std::size_t>(count * x_.cols())};
    request.outcomes = std::span(outcomes_).subspan(static_cast<std::size_t>(first), request.rows);
    if (name() != "softmax") {
      request.quantile_probabilities = kLevels;
      request.thresholds = kThresholds;
      if (name().rfind("mlp", 0) != 0) request.thompson_id = 5;
    }
    return engine_.answers(request);
  }

  TestEngine engine_;
  RowMatrix x_;
  std::vector<double> outcomes_;
};

INSTANTIATE_TEST_SUITE_P(
    Models, PredictBatch,
    testing::Values(Case{"linear", 3}, Case{"linear", 37}, Case{"logistic", 12}, Case{"poisson", 5},
                    Case{"negative-binomial", 5}, Case{"zero-inflated-poisson", 5},
                    Case{"heteroscedastic", 5}, Case{"student-t", 5}, Case{"log-normal", 5},
                    Case{"softmax", 6}, Case{"mlp-linear", 4}),
    [](const auto& c) {
      std::string name = c.param.model;
      for (char& letter : name) letter = letter == '-' ? '_' : letter;
      return name + "_" + std::to_string(c.param.features);
    });

TEST_P(PredictBatch, EachAnswerHasTheBitsItHasAlone) {
  const auto together = ask(0, kRows);
  for (Index i = 0; i < kRows; ++i) {
    const auto alone = ask(i, 1);
    EXPECT_EQ(numbers(alone.front()), numbers(together[static_cast<std::size_t>(i)])) << i;
  }
  // Blocks that begin elsewhere give the same numbers.
  const auto some = ask(5, 39);
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(numbers(some[i]), numbers(together[i + 5])) << i;
  }
}

TEST_P(PredictBatch, ComparisonSpansTheBlocks) {
  const auto answers = ask(0, kRows);
  if (name() == "softmax") return;
  double total = 0;
  for (const PredictiveSummary& s : answers) {
    total += s.prob_best;
    EXPECT_GE(s.expected_regret, 0.0);
    if (s.prob_best > 1 - 1e-9) {
      EXPECT_EQ(s.expected_regret, 0.0);
    }
  }
  EXPECT_NEAR(total, 1.0, 1e-12);
}

}  // namespace
}  // namespace windhover::test::predict_batch_test
