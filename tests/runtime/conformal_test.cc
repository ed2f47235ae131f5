// Conformal intervals hold what they promise, whatever the model and however the rows come, and
// what is served is what is counted.
#include "windhover/runtime/scoring/conformal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::conformal_test {
namespace {

constexpr std::size_t k90 = 2;

// A take of one row.
void add(Conformal& conformal, double score) {
  conformal.add({score, score});
  conformal.end_take();
}

// Shares of numbers with these normal scores that were held, of the last `last`.
std::array<double, Conformal::kIntervals> held(Conformal& conformal,
                                               const std::vector<double>& scores,
                                               std::size_t last) {
  std::array<double, Conformal::kIntervals> share{};
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const NormalScore y{scores[t], scores[t]};
    const Conformal::Bounds bounds = conformal.bounds();
    if (t + last >= scores.size()) {
      for (std::size_t i = 0; i < share.size(); ++i) {
        share[i] += (holds(bounds[i], y) ? 1.0 : 0.0) / static_cast<double>(last);
      }
    }
    conformal.add(y);
    conformal.end_take();
  }
  return share;
}

std::vector<double> scores_of(std::size_t count, std::uint64_t seed, double shift, double scale) {
  const VectorXd z = normals(seed, static_cast<Index>(count));
  std::vector<double> scores(count);
  for (std::size_t t = 0; t < count; ++t) {
    scores[t] = shift + scale * z[static_cast<Index>(t)];
  }
  return scores;
}

// However wrong the predictions are: what an end has moved over rate T, which is 0.05 T, and what
// steps in proportion add: the share outside is such that logarithms of ends do not move,
// log(1 + 0.025 (1 - a)) to -log(1 - 0.025 a), which is 1.3 % of it more.
TEST(Conformal, HoldsItsShareOfAnyNumbers) {
  constexpr std::size_t kRows = 20'000;
  for (const Conformal::Ends ends : {Conformal::Ends::kApart, Conformal::Ends::kTogether}) {
    for (const auto& [shift, scale] :
         {std::pair(0.0, 1.0), {0.0, 0.1}, {0.0, 4.0}, {2.0, 1.0}, {-1.0, 3.0}, {0.0, 100.0}}) {
      Conformal conformal(ends);
      const std::array<double, Conformal::kIntervals> share =
          held(conformal, scores_of(kRows, 3, shift, scale), kRows / 2);
      for (std::size_t i = 0; i < share.size(); ++i) {
        EXPECT_NEAR(share[i], Conformal::kFollowed[i], 0.01) << shift << " " << scale << " " << i;
      }
    }
  }
}

TEST(Conformal, OfARightModelNothingChanges) {
  Conformal conformal(Conformal::Ends::kApart);
  double alpha = 0;
  constexpr std::size_t kRows = 20'000;
  for (const double z : scores_of(kRows, 7, 0, 1)) {
    conformal.add({z, z});
    conformal.end_take();
    alpha += conformal.bounds(0.9).alpha() / kRows;
  }
  // An end's own variance, rate a (1 - a) / (2 density) = 0.02, adds some 0.0015 to each tail.
  EXPECT_NEAR(alpha, 0.1, 0.006);
}

// From one moment on all rows are 4 sd off: the upper end has come after within 200 rows, while
// nothing passes the lower one, which comes after as slowly as hits draw it.
TEST(Conformal, FollowsAJump) {
  double share = 0;
  constexpr int kStreams = 200;
  for (int stream = 0; stream < kStreams; ++stream) {
    Conformal conformal(Conformal::Ends::kApart);
    std::vector<double> scores = scores_of(2'400, 100 + static_cast<std::uint64_t>(stream), 0, 1);
    for (std::size_t t = 2'000; t < scores.size(); ++t) scores[t] += 4;
    share += held(conformal, scores, 200)[k90] / kStreams;
  }
  // 40,000 rows: four standard errors are 0.006.
  EXPECT_GT(share, 0.9);
  EXPECT_LT(share, 0.956);
}

// Takes of any size whose rows have an error in common, and a jump in the middle. The share outside
// is off by how far the ends have come over the sum of the rates: 1.3 sd by 200 takes of 1.5 make
// 0.004. A take's share has a standard deviation of 0.11 about what the ends are for, most of which
// they make up for: of 8 streams of 200 takes 0.003 are left at most.
TEST(Conformal, HoldsItsShareOfTakesWhoseRowsHaveAnErrorInCommon) {
  constexpr int kStreams = 8;
  constexpr std::size_t kTakes = 200;
  for (const std::size_t rows : {1, 8, 100, 1000, 4096}) {
    const std::size_t takes = std::max<std::size_t>(kTakes, 20'000 / rows);
    double share = 0;
    for (std::uint64_t stream = 0; stream < kStreams; ++stream) {
      Conformal conformal(Conformal::Ends::kApart);
      const std::vector<double> common = scores_of(takes, 900 + stream, 0, 0.7);
      const std::vector<double> own = scores_of(rows * takes, 500 + stream, 0, 1);
      for (std::size_t t = 0; t < takes; ++t) {
        const ConformalBounds served = conformal.bounds()[k90];
        for (std::size_t i = 0; i < rows; ++i) {
          const double z = common[t] + own[t * rows + i] + (t < takes / 2 ? 0.0 : 1.0);
          share += holds(served, {z, z}) ? 1.0 : 0.0;
          conformal.add({z, z});
        }
        conformal.end_take();
      }
    }
    share /= static_cast<double>(rows * takes * kStreams);
    std::printf("takes of %zu: %.4f\n", rows, share);
    EXPECT_NEAR(share, 0.9, 0.01) << rows;
  }
}

TEST(Conformal, LargerProbabilitiesHaveLargerIntervals) {
  for (const double scale : {0.2, 1.0, 5.0}) {
    Conformal conformal(Conformal::Ends::kApart);
    for (const double z : scores_of(5'000, 11, 0.3, scale)) add(conformal, z);
    ConformalBounds before{0, 0};
    for (double p = 0.02; p < 0.999; p += 0.01) {
      const ConformalBounds bounds = conformal.bounds(p);
      EXPECT_LE(bounds.lower, bounds.upper);
      if (p > 0.03) {
        EXPECT_LE(bounds.lower, before.lower) << p;
        EXPECT_GE(bounds.upper, before.upper) << p;
      }
      before = bounds;
    }
    for (std::size_t i = 0; i < Conformal::kIntervals; ++i) {
      EXPECT_NEAR(conformal.bounds(Conformal::kFollowed[i]).upper, conformal.bounds()[i].upper,
                  1e-9);
    }
  }
}

// What was ten times too wide is drawn in by hits alone: a factor e in some 800 rows at 90 %.
TEST(Conformal, ComesBackInwardsMoreSlowly) {
  Conformal conformal(Conformal::Ends::kApart);
  for (const double z : scores_of(5'000, 21, 0, 10)) add(conformal, z);
  EXPECT_GT(conformal.bounds(0.9).upper, 10);
  for (const double z : scores_of(2'000, 22, 0, 1)) add(conformal, z);
  EXPECT_LT(conformal.bounds(0.9).upper, 2.5);
}

// An end and an outcome's score are one another's inverse, in the tails too.
TEST(Conformal, AnEndBeyondTheLastQuantileHasItsScore) {
  const GaussianMixture y(3, 0.5, 2, 0.3);
  const auto quantile = [&](const NormalLevel& level) { return y.quantile(level); };
  const ConformalTail upper =
      ConformalTail::through(y.quantile(NormalLevel::at(5)), y.quantile(NormalLevel::at(6)));
  const ConformalTail lower =
      ConformalTail::through(y.quantile(NormalLevel::at(-5)), y.quantile(NormalLevel::at(-6)));
  for (const double z : {6.0, 6.5, 40.0, 1e6}) {
    EXPECT_NEAR(upper.score_above(conformal_end(NormalLevel::at(z), quantile)), z, 1e-9 * z);
    EXPECT_NEAR(lower.score_below(conformal_end(NormalLevel::at(-z), quantile)), -z, 1e-9 * z);
  }
  for (const double z : {-3.0, 0.0, 5.0}) {
    EXPECT_NEAR(y.cdf(conformal_end(NormalLevel::at(z), quantile)), normal_cdf(z), 1e-9);
  }
}

TEST(Conformal, ASetHasTheMostProbableClasses) {
  PredictiveSummary s;
  s.classes = 4;
  s.probs[0] = 0.1;
  s.probs[1] = 0.6;
  s.probs[2] = 0.25;
  s.probs[3] = 0.05;
  const ClassShares shares(s);
  const auto up_to = [&](double mass) { return shares.set(normal_quantile(0.5 * (1 + mass))); };
  EXPECT_EQ(shares.set(-1), 0b0010U) << "never empty";
  EXPECT_EQ(up_to(0.5), 0b0010U);
  EXPECT_EQ(up_to(0.61), 0b0110U);
  EXPECT_EQ(up_to(0.86), 0b0111U);
  EXPECT_EQ(up_to(0.96), 0b1111U);
  PredictiveSummary two;
  two.epred_mean = 0.8;
  EXPECT_EQ(ClassShares(two).set(0), 0b10U);
  EXPECT_EQ(ClassShares(two).set(2), 0b11U);
}

struct Counted {
  ScoreMeans scores;
  double held = 0;   // share of the rows that came later, by the answers themselves
  double later = 0;  // likewise, from the 500th row on: warm, and learned
  double size = 0;
  Provenance provenance;
};

// Each row is asked about, then learned from.
Counted stream(const EngineConfig& config, const Data& data) {
  ManualClock clock(1);
  TestEngine engine(config, &clock);
  Counted counted;
  std::uint64_t answered = 0;
  for (Index i = 0; i < data.rows(); ++i) {
    if (i >= 2) {  // the first two only say in which units y is
      const double y = data.y[i];
      const std::vector<double> x(data.x.row(i).begin(), data.x.row(i).end());
      const PredictiveSummary s = engine.answers(question(1, x))[0];
      const bool in_set = (s.conformal_set >> static_cast<unsigned>(std::max(0.0, y)) & 1) != 0;
      const bool inside =
          s.conformal_set != 0 ? in_set : y >= s.conformal_lower && y <= s.conformal_upper;
      counted.held += inside ? 1 : 0;
      if (i >= 500) counted.later += inside ? 1 : 0;
      counted.size += std::popcount(s.conformal_set);
      ++answered;
    }
    engine.feed(data, i, i + 1);
    clock.advance_ns(1'000'000);
    engine.poll_until_idle();
  }
  counted.held /= static_cast<double>(answered);
  counted.later /= static_cast<double>(data.rows() - 500);
  counted.size /= static_cast<double>(answered);
  counted.provenance = engine.provenance();
  PredictionScores scores;
  EXPECT_TRUE(engine->scores(scores));
  counted.scores = scores.means.back();
  return counted;
}

EngineConfig scored(const char* model) {
  EngineConfig config = small_config(model, 2, 500);
  config.score_predictions = true;
  return config;
}

// What is counted differs from what was served by the first two rows, and by rows of which an end
// was within rounding.
void expect_served(const Counted& counted, double rows) {
  EXPECT_NEAR(counted.scores.conformal_coverage[k90], counted.held, 3 / rows);
}

constexpr Index kRows = 5'000;

TEST(Conformal, NumbersOfAnotherLaw) {
  // Noise of thirty times the model's, one-sided: the model's own 90 % interval holds a few
  // percent.
  Data data = linear_data(kRows, 2, 1.0, 5);
  const VectorXd u = uniforms(9, kRows);
  for (Index i = 0; i < kRows; ++i) data.y[i] -= 30 * std::log(u[i]);
  for (const char* model : {"linear", "student-t"}) {
    EngineConfig config = scored(model);
    config.model.noise_variance = 1;
    const Counted counted = stream(config, data);
    expect_served(counted, kRows);
    EXPECT_NEAR(counted.later, 0.9, 0.01) << model;
    EXPECT_LT(counted.scores.coverage[k90], 0.6) << model;
    EXPECT_GT(counted.scores.conformal_size, 2) << model;
    EXPECT_NEAR(counted.provenance.conformal_coverage_90, 0.9, 0.04) << model;
  }
}

TEST(Conformal, ANetworksToo) {
  Data data = linear_data(1'500, 2, 1.0, 5);
  EngineConfig config = scored("mlp-linear");
  config.model.noise_variance = 0.1;
  const Counted counted = stream(config, data);
  expect_served(counted, 1'500);
  EXPECT_NEAR(counted.later, 0.9, 0.03);
  EXPECT_LT(counted.scores.coverage[k90], 0.6);
}

TEST(Conformal, CountsThatScatterMore) {
  // Gamma mixtures of Poisson, as by hand: exponential rates of mean 20.
  const Data data = inverted_data(kRows, 2, 3, 7, [](double eta, double v) {
    return std::floor(-std::exp(eta) * std::log(v));
  });
  for (const char* model : {"poisson", "negative-binomial", "zero-inflated-poisson"}) {
    const Counted counted = stream(scored(model), data);
    expect_served(counted, kRows);
    EXPECT_NEAR(counted.held, 0.9, 0.012) << model;
  }
  EXPECT_LT(stream(scored("poisson"), data).scores.coverage[k90], 0.8);
}

// Noise of a wrong size: the ends move by factors, and stay above 0.
TEST(Conformal, PositiveNumbersToo) {
  Data data = linear_data(1'500, 2, 1.0, 5);
  data.y = data.y.array().exp();
  EngineConfig config = scored("log-normal");
  config.model.noise_variance = 0.01;  // scores beyond 6, where ends are on a straight line
  const Counted counted = stream(config, data);
  expect_served(counted, 1'500);
  EXPECT_NEAR(counted.later, 0.9, 0.03);
  EXPECT_LT(counted.scores.coverage[k90], 0.6);
  EXPECT_GT(counted.scores.conformal_size, 6);
}

// Labels that x says nothing about, after a time in which it said everything: the model is sure of
// what is wrong.
TEST(Conformal, LabelsAfterAJump) {
  Data data = logistic_data(kRows, 2, 0, 6);
  const VectorXd u = uniforms(15, kRows);
  for (Index i = 0; i < kRows; ++i) {
    data.y[i] = i < 1'500 ? (data.x(i, 0) > 0 ? 1 : 0) : (u[i] < 0.5 ? 1 : 0);
  }
  const Counted two = stream(scored("logistic"), data);
  expect_served(two, kRows);
  // The first 1,500 rows are as good as certain: their sets have one class and hold it.
  EXPECT_GT(two.held, 0.89);
  EXPECT_GT(two.provenance.conformal_coverage_90, 0.88);
  EXPECT_LT(two.provenance.conformal_coverage_90, 0.92);
  for (Index i = 0; i < kRows; ++i) {
    data.y[i] = std::floor(4 * u[i]);
    if (i < 1'500 && data.x(i, 0) > 0) data.y[i] = 3;
  }
  EngineConfig config = scored("softmax");
  config.model.classes = 4;
  const Counted four = stream(config, data);
  expect_served(four, kRows);
  EXPECT_NEAR(four.provenance.conformal_coverage_90, 0.9, 0.04);
  EXPECT_NEAR(four.scores.conformal_size, four.size, 0.01);
  EXPECT_GT(four.size, 1.5);
}

TEST(Conformal, NoneWhereNobodyScores) {
  EngineConfig config = small_config("linear", 2, 500);
  TestEngine engine(config);
  engine.feed(linear_data(200, 2, 1.0, 5));
  const std::vector<double> x = {0.5, 1};
  Provenance provenance;
  const PredictiveSummary s = engine.answers(question(1, x), &provenance)[0];
  EXPECT_TRUE(std::isnan(s.conformal_lower) && std::isnan(s.conformal_upper));
  EXPECT_TRUE(std::isnan(s.conformal_alpha) && std::isnan(provenance.conformal_coverage_90));
  EXPECT_EQ(s.conformal_set, 0U);
}

}  // namespace
}  // namespace windhover::test::conformal_test
