// Small parts of learners, each alone: phases, rows that are known, credit, groups, waits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "windhover/runtime/learning/block_units.h"
#include "windhover/runtime/learning/far_rows_wait.h"
#include "windhover/runtime/learning/known_rows.h"
#include "windhover/runtime/learning/last_loss.h"
#include "windhover/runtime/learning/move_credit.h"
#include "windhover/runtime/learning/run_phase.h"
#include "windhover/runtime/learning/served_groups.h"
#include "windhover/samplers/registry.h"
#include "windhover/tests/runtime/engine_fixture.h"

namespace windhover::test::learner_parts_test {
namespace {

using Phase = Learner::Phase;

TEST(RunPhase, PhasesFollowOneAnother) {
  RunPhase phase;
  EXPECT_EQ(phase.now(), Phase::kWarmingUp);
  phase.start();
  EXPECT_EQ(phase.now(), Phase::kApproach);
  EXPECT_FALSE(phase.end_pass(true));
  EXPECT_FALSE(phase.end_pass(false)) << "C is unknown: two passes again";
  EXPECT_EQ(phase.passes(), 0U);
  EXPECT_FALSE(phase.end_pass(true));
  EXPECT_FALSE(phase.noise_known());
  EXPECT_TRUE(phase.end_pass(true));
  EXPECT_EQ(phase.now(), Phase::kBurnIn);
  EXPECT_TRUE(phase.noise_known());
  phase.begin_burn_in(2);
  EXPECT_FALSE(phase.burn(1.5));
  EXPECT_FALSE(phase.end_pass(false)) << "the approach is over but once";
  EXPECT_EQ(phase.passes(), 3U);
  EXPECT_TRUE(phase.burn(0.5));
  EXPECT_TRUE(phase.sampling());
  phase.start_over(false);
  EXPECT_EQ(phase.now(), Phase::kWarmingUp);
  EXPECT_FALSE(phase.interrupted());
}

TEST(RunPhase, SamplingThatWasInterruptedGoesOn) {
  RunPhase phase;
  phase.start();
  phase.start_over(true);
  EXPECT_FALSE(phase.interrupted()) << "no chain sampled";
  phase.start();
  (void)phase.end_pass(true);
  EXPECT_TRUE(phase.end_pass(true));
  phase.begin_burn_in(1);
  EXPECT_TRUE(phase.burn(1));
  phase.start_over(true);
  EXPECT_TRUE(phase.interrupted());
  EXPECT_FALSE(phase.sampling());
  phase.go_on();
  EXPECT_TRUE(phase.sampling());
  EXPECT_FALSE(phase.interrupted());
  phase.start_over(true);
  phase.start_over(false);
  EXPECT_FALSE(phase.interrupted()) << "the units have become others";
}

class Rows {
 public:
  explicit Rows(EngineConfig settings)
      : config(with_defaults(std::move(settings))),
        block_(4 << 20),
        arena(block_.bytes()),
        window(arena, RowLayout(config.model), rows_in_memory(config), 64),
        cursor(window) {
    window.reset();
  }
  // A row whose target is y, and its first feature.
  void write(double y) {
    const std::uint64_t head = window.head();
    double* row = window.slot_of(head);
    std::fill_n(row, window.layout().stride(), 0.0);
    if (window.layout().sparse()) {
      row[0] = y;
    } else {
      row[0] = row[config.model.features] = y;
    }
    window.publish(head + 1);
  }
  void take() { cursor.advance(window.head()); }

  EngineConfig config;

 private:
  MappedBlock block_;

 public:
  Arena arena;
  Window window;
  WindowCursor cursor;
};

TEST(KnownRows, AreDrawnFromUntilASixteenthHasLeft) {
  Rows rows(small_config("linear", 2, 160));
  KnownRows known(rows.cursor);
  for (int i = 0; i < 160; ++i) rows.write(0);
  rows.take();
  known.set(0, 160);
  for (int i = 0; i < 10; ++i) {
    rows.write(0);
    rows.take();
  }
  EXPECT_EQ(known.drawn().first, 10U);
  EXPECT_EQ(known.drawn().end, 160U);
  EXPECT_FALSE(known.has_newest());
  rows.write(0);
  rows.take();
  EXPECT_EQ(known.drawn().first, 11U);
  EXPECT_EQ(known.drawn().end, 171U);
  EXPECT_TRUE(known.has_newest());
}

TEST(KnownRows, AreDrawnFromUntilHalfHasLeftWhereTheOthersAreJoining) {
  Rows rows(small_config("linear", 2, 160));
  KnownRows known(rows.cursor);
  for (int i = 0; i < 160; ++i) rows.write(0);
  rows.take();
  known.set(0, 160);
  known.set_joining(true);
  for (int i = 0; i < 80; ++i) {
    rows.write(0);
    rows.take();
  }
  EXPECT_TRUE(known.suffice());
  EXPECT_EQ(known.drawn().first, 80U);
  EXPECT_EQ(known.drawn().end, 160U);
  rows.write(0);
  rows.take();
  EXPECT_FALSE(known.suffice());
  EXPECT_EQ(known.drawn().first, 81U);
  EXPECT_EQ(known.drawn().end, 241U);
}

TEST(MoveCredit, IsOwedFirstAndThenSpare) {
  MoveCredit credit(4);
  EXPECT_TRUE(credit.resting());
  EXPECT_EQ(credit.due(64, false), 0U);
  credit.grant(10, 10);
  EXPECT_FALSE(credit.resting());
  EXPECT_EQ(credit.due(64, true), 40U);
  EXPECT_EQ(credit.due(16, false), 16U);
  EXPECT_TRUE(credit.spend(40));
  EXPECT_TRUE(credit.resting());
  EXPECT_EQ(credit.due(64, true), 0U) << "rows wait";
  credit.stretch_spare(0.25);
  EXPECT_EQ(credit.due(64, false), 30U);
  EXPECT_FALSE(credit.spend(30));
  EXPECT_EQ(credit.due(64, false), 0U);
}

// However many rows have come: what those that are there grant.
TEST(MoveCredit, IsNoMoreThanAllRowsGrant) {
  MoveCredit credit(2);
  credit.grant(1'000, 5);
  EXPECT_EQ(credit.owed(), 10);
  credit.grant(1'000, 5);
  EXPECT_EQ(credit.owed(), 10);
  credit.spend(10);
  EXPECT_EQ(credit.due(1e9, false), 30U);
  MoveCredit unlimited(0);
  EXPECT_FALSE(unlimited.resting());
  EXPECT_EQ(unlimited.due(64, true), 64U);
}

TEST(ServedGroups, CountThoseThatAreFarEnoughApart) {
  MappedBlock block(1 << 20);
  Arena arena(block.bytes());
  ServedGroups groups(arena, 3, 4, 12, 1);  // three are served
  groups.reset();
  EXPECT_FALSE(groups.behind());
  EXPECT_FALSE(groups.rows_came(0));
  EXPECT_TRUE(groups.rows_came(1));
  groups.count_moves(60);
  EXPECT_EQ(groups.unretained(), 60U);
  groups.retain(1, 100, false);  // in place of the first
  EXPECT_TRUE(groups.behind());
  EXPECT_FALSE(groups.rows_came(1));
  EXPECT_EQ(groups.unretained(), 0U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(groups.full());
    groups.count_moves(60);
    groups.retain(1, 100, false);  // 60 of 100 moves are enough, as the 60 before are
  }
  EXPECT_TRUE(groups.full());
  groups.start_over();
  groups.count_moves(40);
  groups.retain(1, 100, false);
  groups.count_moves(40);
  groups.retain(1, 100, false);  // 40 are too few, 80 not
  EXPECT_FALSE(groups.full());
}

TEST(BlockUnits, AreKnownOnceThereAreRowsEnough) {
  EngineConfig settings = small_config("linear", 2, 40);
  settings.model.max_nonzeros = 2;
  settings.structure = Structure::kDiagonal;
  settings.standardize_target = Standardize::kColdStart;
  Rows rows(settings);
  BlockUnits units(rows.config, rows.cursor);
  units.reset();
  for (int i = 0; i < 9; ++i) rows.write(100 + i % 2);
  rows.take();
  EXPECT_FALSE(units.find());
  rows.write(101);
  rows.take();
  EXPECT_TRUE(units.find());
  EXPECT_TRUE(units.known());
  EXPECT_NEAR(units.of_rows().shift, 100.5, 0.51);
  units.reset();
  EXPECT_FALSE(units.known());
  rows.config.standardize_target = Standardize::kGiven;
  units.reset();
  EXPECT_TRUE(units.known());
}

TEST(LastLoss, IsRememberedForARelaxation) {
  LastLoss loss;
  EXPECT_FALSE(loss.remembered(0));
  loss.note(3);
  EXPECT_TRUE(loss.remembered(3.9));
  EXPECT_FALSE(loss.remembered(4));
  loss.note(5);
  loss.forget();
  EXPECT_FALSE(loss.remembered(5));
}

// A row far out among those of a cold start is waited for until it has left memory, but no longer
// than as many rows again; rows that are alike are taken at once.
TEST(FarRowsWait, EndsWhenRowsFarOutHaveLeft) {
  for (const bool far : {false, true}) {
    EngineConfig settings = small_config("linear", 1, 400);
    settings.horizon = Horizon::kAll;
    Rows rows(settings);
    const ModelEntry& entry = *find_model("linear");
    Model* model = entry.make(rows.arena, rows.config.model);
    entry.reset(*model);
    FarRowsWait wait(rows.arena, rows.config, rows.cursor);
    const std::uint64_t cold = cold_start_rows(rows.config);
    wait.begin(cold);
    EXPECT_FALSE(wait.awaits(*model)) << "there are no rows yet";
    for (std::uint64_t i = 0; i < cold; ++i) {
      rows.write(far && i == 10 ? 1e9 : std::sin(static_cast<double>(i)));
    }
    rows.take();
    EXPECT_EQ(wait.awaits(*model), far);
    EXPECT_EQ(wait.wanted() > 0, far);
    EXPECT_LE(wait.wanted(), cold);
    EXPECT_EQ(wait.waited(), 0U);
    wait.begin(0);  // it is over, whatever there is
    EXPECT_FALSE(wait.awaits(*model));
  }
}

}  // namespace
}  // namespace windhover::test::learner_parts_test
