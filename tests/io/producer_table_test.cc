#include "windhover/io/producer_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover {
namespace {

class ProducerTableTest : public ::testing::Test {
 protected:
  ProducerTableTest() { table_.reset({.claims_per_connection = 4, .silence_ns = 100}); }

  Refusal may(std::uint64_t producer, ProducerClaims& claims, std::int64_t now_ns = 0) {
    return table_.may_speak(table_.at(producer), claims, now_ns);
  }
  // A row that brings the producer to `next`, if it may be judged.
  Refusal judge(std::uint64_t producer, std::uint64_t next, ProducerClaims& claims,
                std::int64_t now_ns = 0) {
    const Refusal refusal = may(producer, claims, now_ns);
    if (refusal == Refusal::kNone) {
      taken_over_ = table_.judged(table_.at(producer), producer, next, claims, now_ns);
    }
    return refusal;
  }

  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  ProducerTable table_{arena_, 10};
  ProducerClaims first_;
  ProducerClaims second_;
  bool taken_over_ = false;
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

// Shows and brings back numbers.
struct Tape final : StateVisitor {
  void visit(std::span<double>) noexcept override {}
  void visit(std::span<std::uint32_t>) noexcept override {}
  void visit(std::span<std::uint64_t> some) noexcept override {
    for (std::uint64_t& number : some) {
      if (restoring) {
        number = read < numbers.size() ? numbers[read++] : 0;
      } else {
        numbers.push_back(number);
      }
    }
  }
  bool restores() const noexcept override { return restoring; }

  std::vector<std::uint64_t> numbers;
  std::size_t read = 0;
  bool restoring = false;
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
  EXPECT_EQ(restore({11}), Status::kTooLarge);
  EXPECT_EQ(restore({2, 7, 1, 7, 2}), Status::kMalformed);  // twice
  EXPECT_EQ(restore({2, 7, 1, 0, 2}), Status::kMalformed);
  EXPECT_EQ(table_.set(0, 1), Status::kInvalidArgument);
}

}  // namespace
}  // namespace windhover
