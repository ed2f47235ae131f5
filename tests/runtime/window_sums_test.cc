// The parts of a learner that know which rows are where, alone: cursor, pass, sums, scan.
#include "windhover/runtime/learning/window_sums.h"

#include <gtest/gtest.h>

#include <cmath>

#include "windhover/runtime/learning/row_scan.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"
#include "windhover/tests/runtime/saved_state.h"

namespace windhover::test::window_sums_test {
namespace {

constexpr std::uint32_t kFeatures = 2;
constexpr std::uint64_t kWindow = 40;
constexpr std::uint64_t kMostLeaving = 8;

class WindowSumsTest : public testing::Test {
 protected:
  WindowSumsTest()
      : config(with_defaults(configuration())),
        block(4 << 20),
        arena(block.bytes()),
        window(arena, RowLayout(config.model), kWindow, 64),
        cursor(window),
        estimator(arena, config),
        sums(arena, config, cursor, estimator),
        workers(arena.make_array<LearnerWorker>(2, arena, config)),
        brute(arena, config.model.dimension()) {
    const ModelEntry& entry = *find_model("linear");
    for (LearnerWorker& worker : workers) {
      worker.model = entry.make(arena, config.model);
      entry.reset(*worker.model);
    }
    window.reset();
    estimator.reset(config);
    sums.reset();
  }
  static EngineConfig configuration() {
    EngineConfig c = small_config("linear", kFeatures, kWindow);
    c.standardize = Standardize::kColdStart;
    return c;
  }

  // A row of which the first feature is `x`.
  void write(double x) {
    const std::uint64_t head = window.head();
    ASSERT_GT(window.room(head, 1), 0u);
    double* row = window.slot_of(head);
    const VectorXd z = normals(head + 1, 2);
    const double values[] = {x, z[0], z[1], 0};
    std::copy_n(values, window.layout().stride(), row);
    window.publish(head + 1);
  }
  void take(std::uint64_t head) {
    (void)sums.remove_leaving(head, kMostLeaving, workers[0]);
    cursor.advance(head);
  }
  void sweep(std::uint64_t rows) {
    if (!sums.pass().running()) {
      const VectorXd mode = normals(900 + window.head(), 3);
      estimator.set_mode(mode.data());
      sums.begin_pass();
    }
    sums.pass().begin_sweep(rows);
    sums.pass().sum_curvature(WindowPass::Terms::kSecond, workers[0]);
    if (sums.pass().end_sweep()) (void)sums.complete_pass(true);
  }
  // Expects that the sums hold the rows [first, joined) of the window and no others.
  void expect_brute_force() {
    const AnchorSums& done = estimator.done();
    brute.begin(done.anchor(), done.dispersion());
    const std::uint64_t first = std::min(cursor.first(), sums.joined());
    brute.add(*workers[0].model, cursor.between(first, sums.joined(), workers[0].indices), nullptr);
    ASSERT_EQ(done.rows(), static_cast<double>(sums.joined() - first));
    for (std::size_t j = 0; j < 3; ++j) {
      ASSERT_NEAR(done.sums().gradient[j], brute.sums().gradient[j], 1e-9);
      ASSERT_NEAR(done.sums().curvature[j * 5], brute.sums().curvature[j * 5], 1e-9);
    }
  }

  EngineConfig config;
  MappedBlock block;
  Arena arena;
  Window window;
  WindowCursor cursor;
  Estimator estimator;
  WindowSums sums;
  std::span<LearnerWorker> workers;
  AnchorSums brute;
};

TEST_F(WindowSumsTest, cursor_stands_on_the_newest_rows_up_to_the_head_it_took) {
  for (int i = 0; i < 50; ++i) write(1);
  EXPECT_EQ(cursor.rows(), 0u);
  EXPECT_EQ(cursor.published(), 50u);
  cursor.advance(30);
  EXPECT_EQ(cursor.first(), 0u);
  EXPECT_EQ(cursor.rows(), 30u);
  cursor.advance(47);
  EXPECT_EQ(cursor.first(), 7u);
  EXPECT_EQ(cursor.rows(), kWindow);
  EXPECT_EQ(cursor.fresh(), 17u);
  cursor.advance(47);
  EXPECT_EQ(cursor.fresh(), 0u);
  EXPECT_EQ(window.room(50, 1000), 47u + 64 - 50) << "the lease is where the cursor stands";
}

TEST_F(WindowSumsTest, hold_the_rows_that_joined_and_have_not_left) {
  const VectorXd u = uniforms(3, 4000);
  int exact = 0;
  int outrun = 0;
  for (int round = 0; round < 1000; ++round) {
    const bool burst = round % 50 == 49;
    const auto rows = static_cast<int>((burst ? 20 : 4) * u[4 * round]);
    for (int i = 0; i < rows; ++i) ASSERT_NO_FATAL_FAILURE(write(u[4 * round + 1]));
    take(window.head());
    (void)sums.join(static_cast<std::uint64_t>(3 * u[4 * round + 2]), workers[0]);
    if (sums.exact()) {
      ASSERT_NO_FATAL_FAILURE(expect_brute_force()) << "round " << round;
      ++exact;
    } else {
      ++outrun;
    }
    if (u[4 * round + 3] < 0.5) sweep(12);
  }
  EXPECT_GT(exact, 100);
  EXPECT_GT(outrun, 10);
}

TEST_F(WindowSumsTest, are_outrun_by_rows_that_leave_before_they_joined) {
  for (int i = 0; i < 40; ++i) write(1);
  take(40);
  sweep(50);
  for (std::uint64_t head = 41; head <= 79; ++head) {
    write(2);
    take(head);
    ASSERT_TRUE(sums.exact()) << "row " << head - 41 << " was in the sums";
    ASSERT_EQ(estimator.done().rows(), static_cast<double>(80 - head));
  }
  write(2);
  write(2);
  take(81);  // the last row that was in them leaves, and one that was not
  EXPECT_FALSE(sums.exact());
  EXPECT_FALSE(sums.unusable());
  EXPECT_EQ(estimator.done().rows(), 1.0) << "a row was taken out that was never in";
}

TEST_F(WindowSumsTest, are_unusable_after_a_row_that_swallowed_the_others) {
  write(1e30);
  for (int i = 0; i < 39; ++i) write(1);
  take(40);
  while (!sums.exact() || sums.joined() < 40) sweep(50);
  write(1);
  take(41);
  EXPECT_TRUE(sums.unusable());
  sweep(50);
  EXPECT_TRUE(sums.exact()) << "the next pass makes new ones";
  expect_brute_force();
}

TEST_F(WindowSumsTest, pass_begins_again_once_where_all_that_it_has_summed_left) {
  const auto sweep_ten = [&] {
    sums.pass().begin_sweep(10);
    sums.pass().sum_curvature(WindowPass::Terms::kSecond, workers[0]);
    return sums.pass().end_sweep();
  };
  const auto rows_come = [&](int rows) {
    for (int i = 0; i < rows; ++i) write(1);
    take(window.head());
  };
  rows_come(40);
  sums.begin_pass();
  EXPECT_FALSE(sweep_ten());
  EXPECT_EQ(sums.pass().position(), 10u);
  rows_come(15);  // at once: rows 10 to 14 leave before their turn
  EXPECT_FALSE(sweep_ten());
  EXPECT_EQ(sums.pass().position(), 25u);
  EXPECT_EQ(estimator.sums().pass().rows(), 10.0);
  EXPECT_EQ(sums.pass().end(), 55u) << "up to the newest row of now";
  rows_come(15);  // and rows 25 to 29, when it has begun again
  EXPECT_FALSE(sweep_ten());
  EXPECT_EQ(sums.pass().position(), 40u);
  EXPECT_EQ(estimator.sums().pass().rows(), 20.0);
  while (!sweep_ten()) continue;
  (void)sums.complete_pass(true);
  EXPECT_FALSE(sums.unbroken());
  EXPECT_FALSE(sums.exact());
  sums.begin_pass();
  while (!sweep_ten()) continue;
  (void)sums.complete_pass(true);
  EXPECT_TRUE(sums.unbroken());
  EXPECT_TRUE(sums.exact());
  expect_brute_force();
}

// Rows that left and could not be taken out are in the sums: they are as many as the window has.
TEST_F(WindowSumsTest, pass_ends_with_as_many_rows_as_the_window_has) {
  for (int i = 0; i < 40; ++i) write(1);
  take(40);
  sums.begin_pass();
  sums.pass().begin_sweep(27);
  sums.pass().sum_curvature(WindowPass::Terms::kSecond, workers[0]);
  EXPECT_FALSE(sums.pass().end_sweep());
  for (int i = 0; i < 20; ++i) write(1);
  take(60);
  sums.pass().extend();
  sums.pass().begin_sweep(27);
  sums.pass().sum_curvature(WindowPass::Terms::kSecond, workers[0]);
  EXPECT_TRUE(sums.pass().end_sweep());
  EXPECT_EQ(estimator.sums().pass().rows(), 40.0);
  EXPECT_EQ(sums.pass().end(), 40u);
  (void)sums.complete_pass(true);
  EXPECT_TRUE(sums.unbroken());
  EXPECT_FALSE(sums.exact());
}

TEST_F(WindowSumsTest, scan_tells_all_workers_until_it_is_frozen_and_when_it_is_restored) {
  for (int i = 0; i < 40; ++i) write(i % 2 == 0 ? 3 : 7);
  take(40);
  RowScan scan(config);
  scan.scan(cursor, workers, estimator);
  for (const LearnerWorker& worker : workers) {
    EXPECT_DOUBLE_EQ(worker.model->transform().shift[0], 5);
    EXPECT_DOUBLE_EQ(worker.model->transform().inverse_scale[0], 0.5);
  }
  scan.freeze();
  StateWriter writer;
  scan.visit_state(writer, workers);
  for (int i = 0; i < 40; ++i) write(1000);
  take(80);
  scan.scan(cursor, workers, estimator);
  EXPECT_DOUBLE_EQ(workers[0].model->transform().shift[0], 5);

  for (LearnerWorker& worker : workers) worker.model->transform().shift[0] = -1;
  StateRestorer restorer(writer.state);
  scan.visit_state(restorer, workers);
  EXPECT_TRUE(restorer.fits());
  for (const LearnerWorker& worker : workers) {
    EXPECT_DOUBLE_EQ(worker.model->transform().shift[0], 5);
  }
}

}  // namespace
}  // namespace windhover::test::window_sums_test
