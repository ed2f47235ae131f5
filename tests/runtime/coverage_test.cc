// Do intervals cover as often as they say? Window replay at R = 4 draws per new observation, D =
// 10, N = 1000, features with AR(1) correlation 0.5, everything else at its default.
#include <gtest/gtest.h>

#include <cstdio>

#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test {
namespace {

constexpr Index kFeatures = 9;  // and the intercept
constexpr Index kWindow = 1000;

struct Coverage {
  double rate = 0;
  double error = 0;  // standard error, clustered by replication
};

class Tally {
 public:
  void add(double covered_share) {
    count_ += 1;
    sum_ += covered_share;
    squares_ += covered_share * covered_share;
  }
  Coverage coverage() const {
    const double mean = sum_ / count_;
    return {mean, std::sqrt((squares_ / count_ - mean * mean) / count_)};
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

// Noise variance of row i: 1, or 0.25 + 0.75 x_2^2, which no homoscedastic model describes.
Data replication_data(std::uint64_t seed, bool heteroscedastic, Index rows) {
  Data data = linear_data(rows, kFeatures, 0.0, seed);
  const VectorXd e = normals(4 * seed + 3, rows);
  for (Index i = 0; i < rows; ++i) {
    const double x = data.x(i, 2);
    data.y[i] += e[i] * (heteroscedastic ? std::sqrt(0.25 + 0.75 * x * x) : 1.0);
  }
  return data;
}

struct Tallies {
  Tally plain, robust, drawn;
};

// The window turns over once after it is full, the learner keeping up.
Tallies replicate(int replications, bool heteroscedastic) {
  Tallies tallies;
  for (int r = 0; r < replications; ++r) {
    const auto seed = static_cast<std::uint64_t>(10'000 + r);
    const Data data = replication_data(seed, heteroscedastic, 2 * kWindow);
    EngineConfig config = small_config("linear", kFeatures, kWindow);
    config.model.noise_variance = 0;  // learned
    config.model.prior_precision = config.model.intercept_precision = 0.01;
    config.seed = seed;
    config.sampler.chains = 4;
    TestEngine engine(config);
    for (Index row = 0; row < data.rows(); row += 50) {
      engine.feed(data, row, row + 50);
      engine.poll_until_idle();
    }
    const auto parameters = engine.parameters();
    const RowMatrix draws = engine.draws();
    double plain = 0;
    double robust = 0;
    double drawn = 0;
    for (Index j = 0; j <= kFeatures; ++j) {
      const ParameterSummary& p = parameters[static_cast<std::size_t>(j)];
      const double off = std::abs(p.mean - data.truth[j]);
      const double draw_sd = std::sqrt((draws.col(j).array() - p.mean).square().mean());
      plain += off <= 1.645 * p.sd;
      robust += off <= 1.645 * p.sd_robust;
      drawn += off <= 1.645 * draw_sd;
    }
    tallies.plain.add(plain / (kFeatures + 1));
    tallies.robust.add(robust / (kFeatures + 1));
    tallies.drawn.add(drawn / (kFeatures + 1));
  }
  return tallies;
}

void print(const char* what, const Tallies& t) {
  std::printf("%s: mean +- 1.645 sd covers %.4f +- %.4f, sd_robust %.4f +- %.4f, draws' sd %.4f\n",
              what, t.plain.coverage().rate, t.plain.coverage().error, t.robust.coverage().rate,
              t.robust.coverage().error, t.drawn.coverage().rate);
}

// A short version: within four standard errors (about 0.006 each) of where it should be.
TEST(Coverage, IsAboutNinetyPercentInThreeHundredReplications) {
  const Tallies t = replicate(300, false);
  print("300 replications", t);
  EXPECT_NEAR(t.plain.coverage().rate, 0.9, 4 * t.plain.coverage().error);
  EXPECT_NEAR(t.robust.coverage().rate, 0.9, 4 * t.robust.coverage().error);
}

TEST(LongCoverage, IsNinetyPercentWhenTheModelHolds) {
  WINDHOVER_SKIP_UNLESS_LONG();
  const Tallies t = replicate(3000, false);
  print("well specified", t);
  EXPECT_GE(t.plain.coverage().rate, 0.885);
  EXPECT_LE(t.plain.coverage().rate, 0.925);
}

TEST(LongCoverage, OfTheRobustSdIsNinetyPercentWhenTheModelFails) {
  WINDHOVER_SKIP_UNLESS_LONG();
  const Tallies t = replicate(3000, true);
  print("heteroscedastic", t);
  EXPECT_GE(t.robust.coverage().rate, 0.88);
  EXPECT_LE(t.robust.coverage().rate, 0.93);
}

}  // namespace
}  // namespace windhover::test
