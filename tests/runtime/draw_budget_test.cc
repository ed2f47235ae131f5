// How much the chains still have to do, and how often each row has been drawn.
#include "windhover/runtime/learning/draw_budget.h"

#include <gtest/gtest.h>

#include "windhover/runtime/learning/replay_ratio.h"

namespace windhover::draw_budget_test {
namespace {

EngineConfig config_of(double draws_per_observation, std::uint32_t retained) {
  EngineConfig config;
  config.draws_per_observation = draws_per_observation;
  config.retained_draws = retained;
  return config;
}

TEST(DrawBudget, grants_so_many_rows_for_each_new_one) {
  DrawBudget budget(config_of(4, 64), 8);
  EXPECT_TRUE(budget.spent(32));
  budget.grant(10, 500);
  EXPECT_FALSE(budget.spent(32));
  EXPECT_FALSE(budget.spent(40));
  EXPECT_TRUE(budget.spent(41));
  budget.spend(32);
  EXPECT_FALSE(budget.spent(8));
  EXPECT_TRUE(budget.spent(9));
  budget.spend(32);  // more than there is
  budget.grant(1, 500);
  EXPECT_FALSE(budget.spent(4)) << "a debt was kept";
  EXPECT_TRUE(budget.spent(5));
}

TEST(DrawBudget, grants_no_more_than_the_window_is_worth) {
  DrawBudget budget(config_of(4, 64), 8);
  budget.grant(1e6, 500);
  EXPECT_FALSE(budget.spent(2000));
  EXPECT_TRUE(budget.spent(2001));
  budget.set_credit(9000);  // what a start is given is not taken away
  budget.grant(1, 500);
  EXPECT_FALSE(budget.spent(9000));
  EXPECT_TRUE(budget.spent(9001));
  budget.grant_at_least(100);
  EXPECT_FALSE(budget.spent(9000));
}

TEST(DrawBudget, without_a_target_is_never_spent) {
  DrawBudget budget(config_of(0, 64), 8);
  EXPECT_TRUE(budget.unlimited());
  EXPECT_FALSE(budget.spent(1e9));
}

// 64 draws of 8 chains are 8 relaxations, of one chain no more than 32.
TEST(DrawBudget, asks_for_draws_that_fill_the_ring) {
  DrawBudget budget(config_of(4, 64), 8);
  budget.ask(100, 2);
  EXPECT_TRUE(budget.pending(109.9));
  EXPECT_FALSE(budget.pending(110));
  DrawBudget one(config_of(4, 64), 1);
  one.ask(0, 0);
  EXPECT_TRUE(one.pending(31.9));
  EXPECT_FALSE(one.pending(DrawBudget::kMostPending));
}

TEST(DrawBudget, asks_four_times_for_each_cause_until_a_row_comes) {
  DrawBudget budget(config_of(4, 64), 8);
  const auto ask = [&](DrawBudget::Cause cause, double now) {
    return budget.ask_again(cause, now, 0);
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ask(DrawBudget::Cause::kDivergence, 10.0 * i));
  EXPECT_FALSE(ask(DrawBudget::Cause::kDivergence, 100));
  EXPECT_FALSE(budget.pending(100)) << "a request that was refused counts";
  EXPECT_TRUE(ask(DrawBudget::Cause::kOtherLaw, 100));
  budget.stream_went_on();
  EXPECT_TRUE(ask(DrawBudget::Cause::kDivergence, 200));
}

TEST(DrawBudget, is_exhausted_after_the_longest_relaxation_without_a_row) {
  DrawBudget budget(config_of(4, 64), 8);
  for (int i = 0; i < 3; ++i) budget.count_move();
  EXPECT_FALSE(budget.exhausted(4));
  budget.count_move();
  EXPECT_TRUE(budget.exhausted(4));
  budget.stream_went_on();
  EXPECT_FALSE(budget.exhausted(1));
}

TEST(ReplayRatio, counts_rows_drawn_for_each_new_one) {
  ReplayRatio ratio;
  EXPECT_EQ(ratio.value(), 0.0);
  ratio.begin(100, 100, 0);
  ratio.drew(250);
  EXPECT_EQ(ratio.value(), 0.0) << "before an update";
  ratio.update(100, 100, 0);
  EXPECT_EQ(ratio.value(), 2.5);
  ratio.drew(50);
  ratio.update(110, 100, 0);  // less than a quarter: the rows before count, too
  EXPECT_DOUBLE_EQ(ratio.value(), 300.0 / 110);
}

TEST(ReplayRatio, forgets_all_but_the_newest_quarter_and_what_came_since) {
  ReplayRatio ratio;
  ratio.begin(100, 100, 1e6);
  for (std::uint64_t head = 125; head <= 200; head += 25) {
    ratio.drew(75);
    ratio.update(head, 100, 0);
    EXPECT_DOUBLE_EQ(ratio.value(), 3.0) << head;
  }
  ratio.drew(5);
  ratio.update(205, 100, 0);
  EXPECT_DOUBLE_EQ(ratio.value(), 80.0 / 30);
}

TEST(ReplayRatio, of_no_rows_stays_what_it_was) {
  ReplayRatio ratio;
  ratio.begin(0, 0, 0);
  ratio.update(0, 0, 0);
  EXPECT_EQ(ratio.value(), 0.0);
}

}  // namespace
}  // namespace windhover::draw_budget_test
