// Rows in other units give the same answers in those units, of every model.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "windhover/tests/runtime/units_fixture.h"

namespace windhover::test::units_test {
namespace {

// A factor that is a power of two changes no digit, so that chains and draws are the same too.
struct EquivarianceCase {
  const char* name;
  const char* model;
  Horizon horizon;
};

constexpr EquivarianceCase kEquivarianceCases[] = {
    {"linear", "linear", Horizon::kWindow},
    {"student_t", "student-t", Horizon::kWindow},
    {"network", "mlp-linear", Horizon::kWindow},
    {"fading", "linear", Horizon::kFading},
    {"student_t_fading", "student-t", Horizon::kFading},
    {"all", "linear", Horizon::kAll},
};

class UnitsEquivariance : public testing::TestWithParam<std::size_t> {
 protected:
  static constexpr Index kRows = 900;
  static constexpr std::uint64_t kWindow = 400;  // rows leave it

  UnitsEquivariance() : data(house_prices(kRows)) {
    data.y = (data.y.array() - 335'000) / 50'000;
    config = default_prior(kEquivarianceCases[GetParam()].model, 2, kWindow);
    config.horizon = kEquivarianceCases[GetParam()].horizon;
    config.model.hidden = 3;
  }

  struct Answers {
    std::vector<PredictiveSummary> rows;
    std::vector<ParameterSummary> parameters;
    RowMatrix draws;
    Provenance provenance;
  };
  Answers answers(double factor, double offset) {
    Data other = data;
    other.y = factor * data.y.array() + offset;
    TestEngine engine(config);
    engine.feed(other, 0, 300);
    engine.poll_until_idle();
    engine.feed(other, 300, kRows);
    engine.poll_until_idle();
    const std::vector<double> x = {kSqm, kRooms, 60, 1, 150, 5};
    Answers a;
    a.rows = engine.answers(question(3, x), &a.provenance);
    a.parameters = engine.parameters();
    a.draws = engine.draws();
    return a;
  }
  // Expects the same answers in other units, to `tolerance` standard deviations of y.
  void expect_same(const Answers& a, const Answers& b, double factor, double offset,
                   double tolerance) const {
    EXPECT_EQ(a.provenance.status, b.provenance.status);
    EXPECT_EQ(a.provenance.reason, b.provenance.reason);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
      const double e = tolerance * factor * a.rows[i].sd;
      EXPECT_NEAR(b.rows[i].linpred_mean, factor * a.rows[i].linpred_mean + offset, e);
      EXPECT_NEAR(b.rows[i].mean, factor * a.rows[i].mean + offset, e);
      EXPECT_NEAR(b.rows[i].linpred_sd, factor * a.rows[i].linpred_sd, e);
      EXPECT_NEAR(b.rows[i].sd, factor * a.rows[i].sd, e);
      EXPECT_NEAR(b.rows[i].interval_lower, factor * a.rows[i].interval_lower + offset, 10 * e);
      EXPECT_NEAR(b.rows[i].interval_upper, factor * a.rows[i].interval_upper + offset, 10 * e);
      EXPECT_NEAR(b.rows[i].expected_regret, factor * a.rows[i].expected_regret, e);
    }
    const double noise = factor * factor * a.provenance.noise_variance;
    EXPECT_NEAR(b.provenance.noise_variance, noise, tolerance * noise);
  }

  Data data;
  EngineConfig config;
};

INSTANTIATE_TEST_SUITE_P(Models, UnitsEquivariance,
                         testing::Range(std::size_t{0}, std::size(kEquivarianceCases)),
                         [](const auto& instance) {
                           return std::string(kEquivarianceCases[instance.param].name);
                         });

TEST_P(UnitsEquivariance, FactorOfTwoToTheTwentiethGivesTheSameDigits) {
  const Answers a = answers(1, 0);
  for (const double factor : {std::ldexp(1.0, 20), std::ldexp(1.0, -20)}) {
    const Answers b = answers(factor, 0);
    expect_same(a, b, factor, 0, 1e-14);
    const bool network = std::string_view(config.model.name) == "mlp-linear";
    for (std::size_t j = network ? a.parameters.size() - 4 : 0; j < a.parameters.size(); ++j) {
      EXPECT_EQ(b.parameters[j].mean, factor * a.parameters[j].mean) << j;
      EXPECT_EQ(b.parameters[j].sd, factor * a.parameters[j].sd) << j;
      EXPECT_EQ(b.parameters[j].ess_bulk, a.parameters[j].ess_bulk) << j;
      const Index column = static_cast<Index>(j);
      EXPECT_EQ(b.draws.col(column), factor * a.draws.col(column)) << j;
    }
  }
}

// Factors go over twelve orders of magnitude, and shifts to 10^6 standard deviations; answers agree
// to the digits that leaves.
TEST_P(UnitsEquivariance, AnswersFollowAnyFactorAndShift) {
  if (std::string_view(config.model.name) == "mlp-linear") {
    // Rounding takes its chains, which are not pulled back to one point, to other draws: what its
    // answers share is the fit. The draws' own error of a mean is sd / sqrt(64).
    const Answers a = answers(1, 0);
    const Answers b = answers(1e6, 1e12);
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
      EXPECT_NEAR((b.rows[i].mean - 1e12) / 1e6, a.rows[i].mean, 4 * a.rows[i].linpred_sd);
      EXPECT_NEAR(b.rows[i].sd / 1e6, a.rows[i].sd, 0.1 * a.rows[i].sd);
    }
    return;
  }
  const Answers a = answers(1, 0);
  for (int k = -6; k <= 6; k += 3)
    expect_same(a, answers(std::pow(10, k), 0), std::pow(10, k), 0, 1e-8);
  expect_same(a, answers(1, 1e6), 1, 1e6, 1e-6);
  expect_same(a, answers(1e6, -1e12), 1e6, -1e12, 1e-6);
}

}  // namespace
}  // namespace windhover::test::units_test
