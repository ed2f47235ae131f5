// Newton's method to the mode and the publication of what came of it, alone.
#include <gtest/gtest.h>

#include <cmath>

#include "windhover/runtime/learning/cold_start.h"
#include "windhover/runtime/learning/publisher.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::cold_start_parts_test {
namespace {

class ColdStartParts : public testing::Test {
 protected:
  ColdStartParts()
      : config(with_defaults(small_config("logistic", 3, 400))),
        block(8 << 20),
        arena(block.bytes()),
        window(arena, RowLayout(config.model), 400, 1024),
        cursor(window),
        estimator(arena, config),
        pass(arena, config, cursor, estimator),
        scan(config),
        workers(arena.make_array<LearnerWorker>(1, arena, config)),
        cold_start(arena, config, cursor, estimator, pass, scan, counters),
        slots(arena.make_array<Posterior>(Snapshots<Posterior>::slots_for(1), arena, dimension,
                                          features, config.retained_draws)),
        pins(arena.allocate<SnapshotPin>(1)),
        snapshots(slots, pins),
        publisher(arena, config, snapshots, clock, counters),
        draws(arena, 4, config.retained_draws, 1.0) {
    const ModelEntry& entry = *find_model("logistic");
    workers[0].model = entry.make(arena, config.model);
    entry.reset(*workers[0].model);
    window.reset();
    estimator.reset(config);
    pass.reset();
    snapshots.reset();
    draws.reset();
    cold_start.reset(workers[0].model);
  }
  void observe(const Data& data) {
    for (Index i = 0; i < data.rows(); ++i) {
      double* row = window.slot_of(window.head());
      for (Index j = 0; j < 3; ++j) row[j] = data.x(i, j);
      row[3] = data.y[i];
      window.publish(window.head() + 1);
    }
    cursor.advance(window.head());
  }
  ColdStart::Outcome run() {
    cold_start.begin(workers);
    ColdStart::Outcome outcome = ColdStart::Outcome::kGoesOn;
    while (cold_start.running()) outcome = cold_start.advance(workers[0]);
    return outcome;
  }
  // The gradient of -log posterior of the data at the mode that the estimator gives.
  VectorXd gradient_at_mode(const Data& data) const {
    const Eigen::Map<const VectorXd> mode(estimator.laplace().mode(), 4);
    const VectorXd eta = data.design() * mode;
    const VectorXd p = 1 / (1 + (-eta.array()).exp());
    return data.design().transpose() * (p - data.y) +
           VectorXd(prior_precisions(4, config.model).array() * mode.array());
  }

  std::uint32_t dimension = 4;
  std::uint32_t features = 3;
  EngineConfig config;
  MappedBlock block;
  Arena arena;
  ManualClock clock;
  Counters<RuntimeCounter> counters;
  Window window;
  WindowCursor cursor;
  Estimator estimator;
  WindowPass pass;
  RowScan scan;
  std::span<LearnerWorker> workers;
  ColdStart cold_start;
  std::span<Posterior> slots;
  std::span<SnapshotPin> pins;
  Snapshots<Posterior> snapshots;
  Publisher publisher;
  RetainedDraws draws;
};

// A gradient of 1e-4 where the curvature is some tens: the last step is squared once more.
TEST_F(ColdStartParts, finds_the_mode) {
  EXPECT_FALSE(cold_start.due()) << "there are no rows";
  const Data data = logistic_data(300, 3, 0.3, 5);
  observe(data);
  EXPECT_TRUE(cold_start.due());
  EXPECT_EQ(run(), ColdStart::Outcome::kCameNear);
  EXPECT_LT(gradient_at_mode(data).norm(), 1e-4);
  EXPECT_TRUE(cold_start.enough_rows());
  EXPECT_FALSE(cold_start.due()) << "no row has come since";
}

TEST_F(ColdStartParts, of_few_rows_waits_for_more_before_chains_begin) {
  observe(logistic_data(20, 3, 0.3, 5));
  EXPECT_EQ(run(), ColdStart::Outcome::kCameNear);
  EXPECT_FALSE(cold_start.enough_rows());
}

TEST_F(ColdStartParts, gives_up_where_no_step_can_be_computed_until_a_row_comes) {
  Data data = logistic_data(300, 3, 0.3, 5);
  data.x(7, 0) = 1e200;  // its square is no number
  observe(data);
  EXPECT_EQ(run(), ColdStart::Outcome::kGaveUp);
  EXPECT_GT(counters.get(RuntimeCounter::kFactorizationFailures), 0u);
  EXPECT_FALSE(cold_start.due());
  observe(logistic_data(1, 3, 0.3, 6));
  EXPECT_TRUE(cold_start.due());
}

TEST_F(ColdStartParts, publisher_shows_only_what_was_ended) {
  EXPECT_EQ(snapshots.pin(0), nullptr);
  ASSERT_EQ(estimator.refresh(1.0, 1.0), Status::kOk);
  clock.set_ns(5'000'000);
  Posterior& first = publisher.begin(estimator, draws, *workers[0].model, pass.scores());
  EXPECT_EQ(snapshots.pin(0), nullptr) << "begun is not ended";
  publisher.end(first, estimator, *workers[0].model);
  const Posterior* seen = snapshots.pin(0);
  ASSERT_EQ(seen, &first);
  EXPECT_EQ(seen->provenance.snapshot_id, 1u);
  EXPECT_EQ(seen->made_ns, 5'000'000);
  EXPECT_EQ(counters.get(RuntimeCounter::kSnapshots), 1u);
  EXPECT_FALSE(publisher.due());
  clock.advance_ns(1'000'000);
  EXPECT_TRUE(publisher.due());
  Posterior& second = publisher.begin(estimator, draws, *workers[0].model, pass.scores());
  EXPECT_NE(&second, seen) << "a reader looks at it";
  publisher.end(second, estimator, *workers[0].model);
  EXPECT_EQ(seen->provenance.snapshot_id, 1u);
  snapshots.unpin(0);
  EXPECT_EQ(snapshots.pin(0)->provenance.snapshot_id, 2u);
}

}  // namespace
}  // namespace windhover::test::cold_start_parts_test
