// What outcomes say of posteriors that are made by hand: each of one number, which the rows that it
// predicts share.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <new>

#include "windhover/runtime/scoring/prequential.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::prequential_check_test {
namespace {

constexpr double kMean = 3;  // of the coefficient: a forecast that knows no x is far behind

// A posterior of y = coefficient x + noise, and rows that come while it is served.
struct Piece {
  double sd = 1;        // of the coefficient, about kMean
  double variance = 1;  // of the noise, and up to how much, as in Posterior
  double relative_sd = 0;
  std::uint64_t n_eff = 1'000'000;  // so many that any number of rows may judge it
  double coefficient = kMean;       // the right one
  double weight = 1;                // of each row
  Index rows = 20;
};

// x is 1 and -1 in turns, the noise has variance 1.
class JudgedPosteriors : public testing::Test {
 protected:
  JudgedPosteriors()
      : config_(configuration()),
        block_(32 << 20),
        arena_(block_.bytes()),
        clock_(1),
        entry_(*find_model("linear")),
        model_(entry_.make(arena_, config_.model)),
        layout_(config_.model),
        window_(arena_, layout_, config_.window_size, config_.window_slack),
        slots_(arena_.allocate<Posterior>(3)),
        snapshots_(slots_, arena_.allocate<SnapshotPin>(1)),
        factor_(arena_, 1) {
    entry_.reset(*model_);
    window_.reset();
    for (Posterior& slot : slots_) ::new (&slot) Posterior(arena_, 1, 1, config_.retained_draws);
    snapshots_.reset();
    scorer_ = std::make_unique<Prequential>(arena_, config_, 0, window_, model_, snapshots_,
                                            nullptr, clock_, recovered_);
  }
  static EngineConfig configuration() {
    EngineConfig config = small_config("linear", 1, 4'096);
    config.model.intercept = false;
    config.model.weight = true;
    config.score_predictions = true;
    return config;
  }

  // Whether the alarm stands after the rows of one more posterior.
  bool failing_after(const Piece& piece) {
    publish(piece);
    const std::uint64_t first = window_.head();
    const std::uint64_t head = first + static_cast<std::uint64_t>(piece.rows);
    const VectorXd noise = normals(1'000 + head, piece.rows);
    for (Index i = 0; i < piece.rows; ++i) {
      double* row = window_.slot_of(first + static_cast<std::uint64_t>(i));
      row[0] = i % 2 == 0 ? 1 : -1;
      row[layout_.weight_index()] = piece.weight;
      row[layout_.target_index()] = piece.coefficient * row[0] + noise[i];
    }
    window_.publish(head);
    scorer_->score(first, head);
    return scorer_->failing();
  }

 private:
  void publish(const Piece& piece) {
    Posterior& p = snapshots_.begin_publish();
    p.n = 1;
    p.mean[0] = kMean;
    p.dispersion = piece.variance;
    p.dispersion_relative_sd = piece.relative_sd;
    p.transform.shift[0] = 0;
    p.transform.inverse_scale[0] = 1;
    const double precision = 1 / (piece.sd * piece.sd);
    double inverse = 0;
    ASSERT_EQ(factor_.compute(&precision), Status::kOk);
    p.inverse_factor.compute(factor_, 1.0, &inverse);
    p.provenance = {};
    p.provenance.status = PosteriorStatus::kOk;
    p.provenance.n_seen = 1'000 + window_.head();
    p.provenance.n_eff = piece.n_eff;
    snapshots_.publish();
  }

  EngineConfig config_;
  MappedBlock block_;
  Arena arena_;
  ManualClock clock_;
  const ModelEntry& entry_;
  Model* model_;
  RowLayout layout_;
  Window window_;
  std::span<Posterior> slots_;
  Snapshots<Posterior> snapshots_;
  Factor factor_;
  std::atomic<std::uint64_t> recovered_{0};
  std::unique_ptr<Prequential> scorer_;
};

// The coefficient is known to 30 sd of the noise and always where it was expected: once told of the
// first row of a piece the posterior is right of the others. As served 50 % intervals hold all
// rows, and a piece is worth one: 0.45 nats each, of 16. (The forecast that knows no x would say
// more as densely as 1.8 nats: it has learned from the rows before.)
TEST_F(JudgedPosteriors, AnswersThatAreTooWideAreSeenThoughEachRowFollowsFromTheOnesBefore) {
  const Piece wide{.sd = 30};
  for (int i = 0; i < 25; ++i) ASSERT_FALSE(failing_after(wide)) << i;
  bool failing = false;
  for (int i = 0; i < 35 && !failing; ++i) failing = failing_after(wide);
  EXPECT_TRUE(failing);
}

// Each posterior is of a coefficient of its own, and right: nothing that the rows of another have
// said is of it.
TEST_F(JudgedPosteriors, EachBeginsWithNothingTold) {
  const VectorXd z = normals(1, 60);
  for (const double off : z) ASSERT_FALSE(failing_after({.sd = 5, .coefficient = kMean + 5 * off}));
}

// From rows that count as one the posterior soon knows the coefficient, where it was expected. From
// rows that count for next to nothing it never does, and is too wide for all of them by a factor of
// sqrt(2): 0.03 nats a row.
TEST_F(JudgedPosteriors, ARowTellsAsMuchAsItCounts) {
  const auto failing_of = [&](double weight) {
    bool failing = false;
    for (int i = 0; i < 10; ++i) failing = failing_after({.weight = weight, .rows = 100});
    return failing;
  };
  EXPECT_FALSE(failing_of(1));
  EXPECT_TRUE(failing_of(1e-6));
}

// The variance of the noise was learned from 50 rows each time, which leave it open by a fifth, and
// the coefficient is known: of 3,000 rows that a posterior predicts, all share how far it is off.
TEST_F(JudgedPosteriors, RowsShareWhatIsNotKnownOfTheNoise) {
  constexpr Index kRows = 50;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const double variance = normals(100 + i, kRows).squaredNorm() / kRows;
    ASSERT_FALSE(failing_after({.sd = 1e-6,
                                .variance = variance,
                                .relative_sd = std::sqrt(2.0 / kRows),
                                .n_eff = kRows,
                                .rows = 3'000}))
        << i;
  }
}

}  // namespace
}  // namespace windhover::test::prequential_check_test
