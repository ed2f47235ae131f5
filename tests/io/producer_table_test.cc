#include "windhover/io/producer_table.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"
#include "windhover/tests/io/number_tape.h"

namespace windhover {
namespace {

using Tape = testing::NumberTape;

class ProducerTableTest : public ::testing::Test {
 protected:
  ProducerTableTest() { table_.reset({.claims_per_connection = 4, .silence_ns = 100}); }

  Refusal may(std::uint64_t producer, ProducerClaims& claims, std::int64_t now_ns = 0) {
    return table_.may_speak(table_.at(producer), producer, claims, now_ns);
  }
  // A row that brings the producer to `next`, if it may be judged.
  Refusal judge(std::uint64_t producer, std::uint64_t next, ProducerClaims& claims,
                std::int64_t now_ns = 0) {
    const Refusal refusal = may(producer, claims, now_ns);
    if (refusal == Refusal::kNone) {
      const auto spoken = table_.judged(table_.at(producer), producer, claims, now_ns);
      spoken.entry.next = next;
      taken_over_ = spoken.taken_over;
      forgot_ = spoken.forgot;
    }
    return refusal;
  }

  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  ProducerTable table_{arena_, 10};
  ProducerClaims first_;
  ProducerClaims second_;
  bool taken_over_ = false;
  bool forgot_ = false;
};

TEST_F(ProducerTableTest, AskingWhetherOneMaySpeakClaimsNothing) {
  EXPECT_EQ(may(7, first_), Refusal::kNone);
  EXPECT_EQ(may(7, second_), Refusal::kNone);
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_EQ(first_.size(), 0U);
  EXPECT_EQ(table_.at(7).producer, 0U);
}

TEST_F(ProducerTableTest, KnownProducerKeepsItsPlaceUnderAnotherOwner) {
  ASSERT_EQ(judge(7, 55, first_), Refusal::kNone);
  EXPECT_EQ(judge(7, 0, second_), Refusal::kProducerBusy);
  table_.release(first_);
  EXPECT_EQ(table_.at(7).next, 55U);
  EXPECT_FALSE(table_.live(table_.at(7), 0));
  ASSERT_EQ(judge(7, 60, second_), Refusal::kNone);
  EXPECT_FALSE(taken_over_);
  EXPECT_EQ(table_.at(7).next, 60U);
}

TEST_F(ProducerTableTest, FullTableRefusesOnlyNewProducers) {
  for (std::uint64_t p = 1; p <= 10; ++p) {
    ASSERT_EQ(judge(p << 32, p, first_), Refusal::kNone);
    table_.release(first_);
  }
  EXPECT_EQ(table_.size(), 10U);
  EXPECT_EQ(judge(99, 1, first_), Refusal::kTableFull);
  for (std::uint64_t p = 1; p <= 10; ++p) {
    EXPECT_EQ(table_.at(p << 32).next, p);
    ASSERT_EQ(judge(p << 32, p, first_), Refusal::kNone);
    table_.release(first_);
  }
}

TEST_F(ProducerTableTest, ConnectionSpeaksForSoManyAtATime) {
  for (std::uint64_t p = 1; p <= 4; ++p) ASSERT_EQ(judge(p, 1, first_), Refusal::kNone);
  EXPECT_EQ(judge(5, 1, first_), Refusal::kTooManyProducers);
  EXPECT_EQ(table_.size(), 4U);
  EXPECT_EQ(judge(4, 2, first_), Refusal::kNone);
  EXPECT_EQ(judge(5, 1, second_), Refusal::kNone);
  // The one that it has been silent about longest makes room, once that is long enough.
  EXPECT_EQ(judge(2, 2, first_, 50), Refusal::kNone);
  EXPECT_EQ(judge(1, 2, first_, 60), Refusal::kNone);
  EXPECT_EQ(judge(6, 1, first_, 99), Refusal::kTooManyProducers);
  EXPECT_EQ(judge(3, 2, first_, 99), Refusal::kNone);
  EXPECT_EQ(judge(6, 1, first_, 100), Refusal::kNone);
  EXPECT_EQ(first_.size(), 4U);
  EXPECT_EQ(table_.at(4).owner, nullptr);
  EXPECT_EQ(table_.at(4).next, 2U);
}

TEST_F(ProducerTableTest, SilenceLetsAnotherConnectionSpeakAndTheFirstIsRefused) {
  ASSERT_EQ(judge(7, 10, first_), Refusal::kNone);
  ASSERT_EQ(judge(8, 10, first_), Refusal::kNone);
  EXPECT_EQ(judge(7, 11, second_, 99), Refusal::kProducerBusy);
  EXPECT_EQ(may(7, first_, 60), Refusal::kNone);  // a sign of life
  EXPECT_EQ(judge(7, 11, second_, 159), Refusal::kProducerBusy);
  EXPECT_EQ(judge(7, 11, second_, 160), Refusal::kNone);
  EXPECT_TRUE(taken_over_);
  EXPECT_EQ(table_.at(7).next, 11U);
  EXPECT_EQ(judge(7, 12, first_, 161), Refusal::kProducerBusy);
  EXPECT_EQ(first_.size(), 1U);
  table_.release(first_);  // which no longer lets go of the one it lost
  EXPECT_EQ(table_.at(7).owner, &second_);
  EXPECT_EQ(table_.at(8).owner, nullptr);
}

// Another table that has become what the tape holds.
struct Restored {
  Restored(Tape& tape, std::size_t capacity) : table(arena, capacity) {
    tape.restoring = true;
    table.reset();
    EXPECT_EQ(table.visit_state(tape), Status::kOk);
  }

  MappedBlock block{1 << 16};
  Arena arena{block.bytes()};
  ProducerTable table;
};

TEST_F(ProducerTableTest, StateComesBackInATableWithAnotherHash) {
  for (std::uint64_t p = 1; p <= 10; ++p) {
    ASSERT_EQ(judge(p * 1000, p, first_), Refusal::kNone);
    table_.release(first_);
  }
  Tape tape;
  ASSERT_EQ(table_.visit_state(tape), Status::kOk);
  EXPECT_EQ(tape.numbers.size(), 21U);
  tape.restoring = true;
  MappedBlock block(1 << 16);
  Arena arena(block.bytes());
  ProducerTable other(arena, 10);
  other.reset({.seed = 12345});
  ASSERT_EQ(other.set(5, 5), Status::kOk);  // replaced
  ASSERT_EQ(other.visit_state(tape), Status::kOk);
  EXPECT_EQ(other.size(), 10U);
  EXPECT_EQ(other.at(5).producer, 0U);
  for (std::uint64_t p = 1; p <= 10; ++p) {
    EXPECT_EQ(other.at(p * 1000).next, p);
    EXPECT_EQ(other.at(p * 1000).durable_next, p);
  }
}

TEST_F(ProducerTableTest, StateThatCannotBeLeavesTheTableEmpty) {
  const auto restore = [this](std::vector<std::uint64_t> numbers) {
    Tape tape;
    tape.numbers = std::move(numbers);
    tape.restoring = true;
    const Status status = table_.visit_state(tape);
    EXPECT_EQ(table_.size(), 0U);
    return status;
  };
  EXPECT_EQ(restore({11, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1, 6, 1, 7, 1, 8, 1, 9, 1, 10, 1, 11, 1}),
            Status::kTooLarge);
  EXPECT_EQ(restore({2, 7, 1, 7, 2}), Status::kMalformed);  // twice
  EXPECT_EQ(restore({2, 7, 1, 0, 2}), Status::kMalformed);
  EXPECT_EQ(restore({2, kNoProducer, 1, kNoProducer, 2}), Status::kMalformed);
  EXPECT_EQ(restore({2, 7, 1, kNoProducer, 2}), Status::kMalformed);  // only the first may be it
  EXPECT_EQ(table_.set(0, 1), Status::kInvalidArgument);
}

constexpr std::uint64_t kDrawn = kFirstPassingProducer;

TEST_F(ProducerTableTest, ThePassingOneThatFellSilentFirstMakesRoom) {
  for (std::uint64_t p = 1; p <= 4; ++p) ASSERT_EQ(judge(p, 1, second_), Refusal::kNone);
  for (const std::uint64_t p : {5, 6, 7}) {
    ASSERT_EQ(judge(p | kDrawn, 10 * p, first_), Refusal::kNone);
    table_.release(first_);
  }
  for (const std::uint64_t p : {8, 9, 10}) ASSERT_EQ(judge(p | kDrawn, 1, first_), Refusal::kNone);
  // One that has come again is not the first to have fallen silent.
  ProducerClaims third;
  ASSERT_EQ(judge(5 | kDrawn, 60, third), Refusal::kNone);
  table_.release(third);
  EXPECT_FALSE(forgot_);
  EXPECT_EQ(judge(11 | kDrawn, 1, third), Refusal::kNone);
  EXPECT_TRUE(forgot_);
  EXPECT_EQ(table_.at(6 | kDrawn).producer, 0U);
  EXPECT_EQ(judge(12, 1, third), Refusal::kNone);
  EXPECT_EQ(table_.at(7 | kDrawn).producer, 0U);
  EXPECT_EQ(table_.at(5 | kDrawn).next, 60U);
  EXPECT_EQ(judge(13 | kDrawn, 1, third), Refusal::kNone);
  EXPECT_EQ(table_.at(5 | kDrawn).producer, 0U);
  EXPECT_EQ(table_.size(), 10U);
  // The producers left are spoken for, or may come again.
  ProducerClaims fourth;
  EXPECT_EQ(judge(14 | kDrawn, 1, fourth), Refusal::kTableFull);
  EXPECT_EQ(judge(14, 1, fourth), Refusal::kTableFull);
  table_.release(second_);
  EXPECT_EQ(judge(14, 1, fourth), Refusal::kTableFull);
}

TEST_F(ProducerTableTest, APassingOneGoesAtOnceToTheConnectionThatComesAfter) {
  ASSERT_EQ(judge(7 | kDrawn, 10, first_), Refusal::kNone);
  ASSERT_EQ(judge(7 | kDrawn, 12, second_), Refusal::kNone);
  EXPECT_FALSE(taken_over_);
  EXPECT_EQ(first_.size(), 0U);
  EXPECT_EQ(table_.at(7 | kDrawn).owner, &second_);
  ASSERT_EQ(judge(7 | kDrawn, 12, first_), Refusal::kNone);  // what the old one had sent before
  EXPECT_EQ(second_.size(), 0U);
}

TEST_F(ProducerTableTest, HowManyWereForgottenSurvivesARestartWithMoreRoom) {
  for (std::uint64_t p = 1; p <= 10; ++p) ASSERT_EQ(table_.set(p | kDrawn, 1), Status::kOk);
  EXPECT_EQ(table_.forgotten(), 0U);
  ASSERT_EQ(table_.set(10 | kDrawn, 2), Status::kOk);
  EXPECT_EQ(table_.forgotten(), 0U);
  for (std::uint64_t p = 11; p <= 13; ++p) ASSERT_EQ(table_.set(p | kDrawn, 1), Status::kOk);
  EXPECT_EQ(table_.forgotten(), 3U);
  Tape tape;
  ASSERT_EQ(table_.visit_state(tape), Status::kOk);
  Restored other(tape, 50);
  ProducerTable& larger = other.table;
  EXPECT_EQ(larger.size(), 10U);
  EXPECT_EQ(larger.forgotten(), 3U);
}

TEST_F(ProducerTableTest, GivenOnesLeaveASixteenthOfThePlacesToPassingOnes) {
  MappedBlock block(1 << 16);
  Arena arena(block.bytes());
  ProducerTable table(arena, 32);
  table.reset();
  const auto come = [&](std::uint64_t producer) {
    const Refusal refusal = table.may_speak(table.at(producer), producer, first_, 0);
    if (refusal == Refusal::kNone) (void)table.judged(table.at(producer), producer, first_, 0);
    table.release(first_);
    return refusal;
  };
  for (std::uint64_t p = 1; p <= 30; ++p) ASSERT_EQ(come(p), Refusal::kNone);
  EXPECT_EQ(come(31), Refusal::kTableFull);
  for (std::uint64_t p = 1; p <= 10; ++p) EXPECT_EQ(come(p | kDrawn), Refusal::kNone);
  EXPECT_EQ(come(31), Refusal::kTableFull);
  EXPECT_EQ(table.forgotten(), 8U);
  // A folder of before may have given ones everywhere.
  table.reset();
  for (std::uint64_t p = 1; p <= 32; ++p) ASSERT_EQ(table.set(p, 1), Status::kOk);
  EXPECT_EQ(come(1 | kDrawn), Refusal::kTableFull);
}

TEST_F(ProducerTableTest, ARestoredTableForgetsTheSameNext) {
  for (const std::uint64_t p : {3, 1, 4, 5, 9}) {
    ASSERT_EQ(judge(p | kDrawn, p, first_), Refusal::kNone);
    table_.release(first_);
  }
  ASSERT_EQ(judge(3 | kDrawn, 33, first_), Refusal::kNone);
  table_.release(first_);
  ASSERT_EQ(judge(2 | kDrawn, 2, second_), Refusal::kNone);  // goes on
  ASSERT_EQ(judge(7, 7, second_), Refusal::kNone);
  Tape tape;
  ASSERT_EQ(table_.visit_state(tape), Status::kOk);
  Restored other(tape, 6);
  ProducerTable& smaller = other.table;
  EXPECT_EQ(smaller.size(), 6U);
  EXPECT_EQ(smaller.at(1 | kDrawn).producer, 0U);
  EXPECT_EQ(smaller.at(3 | kDrawn).next, 33U);
  EXPECT_EQ(smaller.at(7).next, 7U);
  for (const std::uint64_t p : {4, 5, 9, 3, 2}) {
    EXPECT_EQ(smaller.at(p | kDrawn).next, p == 3 ? 33 : p);
    ASSERT_EQ(smaller.set(100 + p, 1), Status::kOk);
    EXPECT_EQ(smaller.at(p | kDrawn).producer, 0U);
  }
  // A checkpoint of a server with more room: who may be forgotten is.
  EXPECT_EQ(smaller.set(8 | kDrawn, 1), Status::kOk);
  EXPECT_EQ(smaller.at(8 | kDrawn).producer, 0U);
  EXPECT_EQ(smaller.set(8, 1), Status::kTooLarge);
}

// Compares with a list that is searched from end to end, with searches that run into each other.
TEST_F(ProducerTableTest, ForgettingLosesNoOther) {
  std::mt19937_64 random(20261127);
  std::map<std::uint64_t, std::uint64_t> next;
  std::vector<std::uint64_t> silent;  // passing ones, longest first
  std::vector<ProducerClaims> connections(3);
  std::vector<std::vector<std::uint64_t>> speaks(3);
  std::uint64_t forgotten = 0;
  const auto hush = [&](std::size_t c) {
    // They fall silent in the order in which the table lets go of them.
    for (; !speaks[c].empty(); speaks[c].pop_back()) {
      if (is_passing(speaks[c].back())) silent.push_back(speaks[c].back());
    }
    table_.release(connections[c]);
  };
  for (std::uint64_t step = 1; step <= 20'000; ++step) {
    const std::size_t c = random() % connections.size();
    if (random() % 3 == 0 || speaks[c].size() == 4) hush(c);
    const bool lasting = random() % 64 == 0;
    const std::uint64_t producer = lasting ? 1 + random() % 4 : kDrawn + random() % 24;
    bool others = false;
    for (std::size_t i = 0; i < 3; ++i)
      others = others || (i != c && std::ranges::count(speaks[i], producer) > 0);
    if (others) continue;
    const bool known = next.contains(producer);
    const Refusal refusal = judge(producer, step, connections[c]);
    if (!known && next.size() == 10 && silent.empty()) {
      ASSERT_EQ(refusal, Refusal::kTableFull);
      continue;
    }
    ASSERT_EQ(refusal, Refusal::kNone);
    if (!known && next.size() == 10) {
      next.erase(silent.front());
      silent.erase(silent.begin());
      ++forgotten;
    }
    next[producer] = step;
    std::erase(silent, producer);
    if (std::ranges::count(speaks[c], producer) == 0) speaks[c].push_back(producer);
    ASSERT_EQ(table_.size(), next.size());
    for (std::uint64_t p = 0; p < 24; ++p) {
      const auto at = next.find(kDrawn + p);
      ASSERT_EQ(table_.at(kDrawn + p).producer, at == next.end() ? 0 : kDrawn + p);
      ASSERT_EQ(table_.at(kDrawn + p).next, at == next.end() ? 0 : at->second);
    }
  }
  EXPECT_GT(forgotten, 2'000U);
}

}  // namespace
}  // namespace windhover
