// An answer that says `ok` is of the rows that it says it is of: the last `n_eff` below `sequence`,
// however many came at once and however few rounds were done since.
#include <ostream>
#include <set>
#include <utility>

#include "windhover/tests/runtime/forgetting_fixture.h"

namespace windhover::test::rows_of_answers_test {
namespace {

using weight_test::weighted_rows;
using weight_test::with_weight;

constexpr Index kSize = 410;  // N
constexpr int kUntilIdle = 1'000'000;

struct Case {
  std::string model;
  Horizon horizon;
  bool sparse = false;
  std::uint32_t threads = 1;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model; }

EngineConfig config_of(const Case& c) {
  EngineConfig config = small_config(c.model.c_str(), 3, kSize);
  config.model.classes = 3;
  config.model.max_nonzeros = c.sparse ? 3 : 0;
  config.horizon = c.horizon;
  config.learner_threads = c.threads;
  config.window_slack = 4'096;
  return config;
}

// Rows [first, last) at once, without a round in between.
void observe(TestEngine& engine, const Data& data, Index first, Index last) {
  for (constexpr Index kMost = 400; first < last; first += kMost) {
    const Index rows = std::min(kMost, last - first);
    ObservationBatch batch = TestEngine::batch(data, first, rows);
    std::vector<std::uint32_t> columns;
    std::vector<std::uint32_t> ends;
    for (Index i = 0; i < rows; ++i) {
      for (const std::uint32_t j : {0, 1, 2}) columns.push_back(j);
      ends.push_back(static_cast<std::uint32_t>(columns.size()));
    }
    if (engine->config().model.max_nonzeros > 0) {
      batch.indices = reinterpret_cast<const std::byte*>(columns.data());
      batch.row_ends = reinterpret_cast<const std::byte*>(ends.data());
    }
    ASSERT_EQ(engine->observe(batch, {}).accepted, static_cast<std::size_t>(rows));
  }
}

// Exponents of the likelihoods of the rows that a posterior below `sequence` stands on, oldest
// first.
VectorXd exponents_of(const Provenance& of, Horizon horizon) {
  const auto n = static_cast<Index>(of.n_eff);
  if (horizon != Horizon::kForgetting) return VectorXd::Ones(n);
  const auto end = static_cast<Index>(of.sequence);
  // Rows that have left have not all others in their place yet: as many as are worth n.
  const Index most = std::min(2 * kSize, end);
  const VectorXd r = forgetting_test::ages(end - most, most, kSize);
  double sum = 0;
  double squares = 0;
  Index rows = 0;
  while (rows < most && (rows == 0 || std::lround(sum * sum / squares) < n)) {
    ++rows;
    sum += r[most - rows];
    squares += r[most - rows] * r[most - rows];
  }
  return r.tail(rows) * (sum / squares);
}

class RowsOfAnswers : public testing::TestWithParam<Case> {
 protected:
  virtual double tolerance() const { return 4; }

  // What an engine says that has been given those rows and no others.
  std::vector<ParameterSummary> fitted(const Provenance& of, const Data& data) const {
    Data rows;
    rows.weight = exponents_of(of, GetParam().horizon);
    const Index first = static_cast<Index>(of.sequence) - rows.weight.size();
    rows.x = data.x.middleRows(first, rows.weight.size());
    rows.y = data.y.segment(first, rows.weight.size());
    EngineConfig config = with_weight(config_of({GetParam().model, Horizon::kWindow}));
    config.window_size = 2 * kSize;
    config.draws_per_observation = 1;
    TestEngine engine(config);
    units_test::fit_all(engine, rows);
    return engine.parameters();
  }

  // Compares what is served with the posterior of the rows that it says; whether that was `ok`.
  bool look(TestEngine& engine, const Data& data) {
    Provenance p;
    const auto served = engine.parameters(&p);
    if (p.status != PosteriorStatus::kOk) return false;
    if (!seen_.emplace(p.sequence, p.n_eff).second) return true;
    // Where the loss is not quadratic, sums at the mode of some rows ago give the present mode, and
    // the width there, only about: to four times the Monte Carlo error of the draws that are served
    // with them. For normal rows in a window they are exact.
    const bool exact = GetParam().model == "linear" && GetParam().horizon != Horizon::kForgetting;
    const double error = exact ? 1e-6 : tolerance() / std::sqrt(engine->config().retained_draws);
    const auto expected = fitted(p, data);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const double sd = expected[j].sd;
      EXPECT_NEAR(served[j].mean, expected[j].mean, error * sd) << where(p, j);
      EXPECT_NEAR(served[j].sd, sd, error * sd / std::sqrt(2)) << where(p, j);
    }
    return true;
  }
  static std::string where(const Provenance& p, std::size_t j) {
    return "parameter " + std::to_string(j) + ", of " + std::to_string(p.n_eff) + " rows below " +
           std::to_string(p.sequence) + " of " + std::to_string(p.n_seen);
  }

  // Looks after every one of up to `rounds` rounds between takes of so many rows. Returns how many
  // answers were ok.
  int stream(const Data& data, Index take, int rounds) {
    constexpr int kMostLooks = 10;  // a take
    TestEngine engine(config_of(GetParam()));
    observe(engine, data, 0, kBefore);
    engine.poll_until_idle();
    seen_.clear();
    int ok = look(engine, data);
    for (Index first = kBefore; first < data.rows(); first += take) {
      observe(engine, data, first, first + take);
      int looks = 0;
      for (int round = 0; round < rounds && engine->poll(1) > 0; ++round) {
        engine->poll(0);
        if (looks++ < kMostLooks) ok += look(engine, data);
      }
      ok += look(engine, data);
    }
    return ok;
  }
  static Data rows(Index count) {
    Data data = weighted_rows(GetParam().model, count, 61);
    data.weight.resize(0);
    return data;
  }

  static constexpr Index kBefore = 2 * kSize;
  static constexpr Index kTakes = 8;

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

TEST_P(RowsOfAnswers, ThatAreOkAreThoseTheySay) {
  for (const Index take : {1, 20, 80, 133, 240, 400, 800}) {
    const Data data = rows(kBefore + kTakes * take);
    for (const int rounds : {1, 10, kUntilIdle}) {
      SCOPED_TRACE(testing::Message() << take << " rows every " << rounds << " rounds");
      const Index ok = stream(data, take, rounds);
      EXPECT_GE(ok, rounds == kUntilIdle ? kTakes : 1) << "at rest, with few exceptions";
    }
  }
}

// An adaptive horizon would go on to other memories.
class RowsOfAnswersThatJump : public RowsOfAnswers {
  // A step that is trusted may be as long as sqrt(0.1 n) sd, and is then wrong by some of its
  // length. To student-t a third of a window from elsewhere are outliers, or the rest is: by more
  // of it.
  double tolerance() const override { return GetParam().model == "student-t" ? 16 : 8; }
};

// All features change their sign, and back: the mode goes a long way.
TEST_P(RowsOfAnswersThatJump, ThatAreOkAreThoseTheySay) {
  for (const Index take : {20, 80, 133, 240, 400}) {
    Data data = rows(kBefore + kTakes * take);
    data.x.middleRows(kBefore, 4 * take) *= -1;
    for (const int rounds : {1, 10, kUntilIdle}) {
      SCOPED_TRACE(testing::Message() << take << " rows every " << rounds << " rounds");
      EXPECT_GE(stream(data, take, rounds), 1);
    }
  }
}

// More rows than a round takes out of the sums come while the chains rest.
TEST(RowsOfAnswersAtRest, ThatAreOkAreThoseTheySay) {
  constexpr Index kWindow = 8'000;
  constexpr Index kRows = 2'700;
  EngineConfig config = small_config("linear", 3, kWindow);
  config.window_slack = 2 * kRows;
  config.draws_per_observation = 1;
  const Data data = linear_data(2 * kWindow + 4 * kRows, 3, 1.0, 62);
  TestEngine engine(config);
  engine.feed(data, 0, 2 * kWindow);
  engine.poll_until_idle();
  const MatrixXd design = data.design();
  int ok = 0;
  for (Index first = 2 * kWindow; first < data.rows(); first += kRows) {
    observe(engine, data, first, first + kRows);
    while (engine->poll(1) > 0) {
      engine->poll(0);
      Provenance p;
      const auto served = engine.parameters(&p);
      if (p.status != PosteriorStatus::kOk) continue;
      ++ok;
      const auto n = static_cast<Index>(p.n_eff);
      const Index from = static_cast<Index>(p.sequence) - n;
      const Gaussian exact = linear_posterior(design.middleRows(from, n), data.y.segment(from, n),
                                              config.model.noise_variance, config.model);
      for (Index j = 0; j < 4; ++j) {
        const ParameterSummary& parameter = served[static_cast<std::size_t>(j)];
        const double sd = std::sqrt(exact.covariance(j, j));
        ASSERT_NEAR(parameter.mean, exact.mean[j], 1e-6 * sd) << n << " below " << p.sequence;
        ASSERT_NEAR(parameter.sd, sd, 1e-6 * sd) << n << " below " << p.sequence;
      }
    }
    EXPECT_EQ(engine.provenance().sequence, static_cast<std::uint64_t>(first + kRows));
  }
  EXPECT_GT(ok, 100);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* model : {"linear", "logistic", "poisson", "student-t", "softmax"}) {
    for (const Horizon h : {Horizon::kWindow, Horizon::kForgetting, Horizon::kAdaptive}) {
      all.push_back({model, h});
    }
  }
  for (const char* model : {"linear", "poisson"}) {
    all.push_back({model, Horizon::kWindow, true});
    all.push_back({model, Horizon::kForgetting, true});
    all.push_back({model, Horizon::kWindow, false, 2});
  }
  return all;
}

std::vector<Case> jumps() {
  std::vector<Case> all;
  for (const Case& c : cases()) {
    if (c.horizon != Horizon::kAdaptive) all.push_back(c);
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  std::string name = c.model == "student-t" ? "student_t" : c.model;
  name += c.horizon == Horizon::kWindow       ? "_window"
          : c.horizon == Horizon::kForgetting ? "_forgetting"
                                              : "_adaptive";
  if (c.sparse) name += "_sparse";
  return name + (c.threads > 1 ? "_two_threads" : "");
}

INSTANTIATE_TEST_SUITE_P(Streams, RowsOfAnswers, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Streams, RowsOfAnswersThatJump, testing::ValuesIn(jumps()), name_of);

}  // namespace
}  // namespace windhover::test::rows_of_answers_test
