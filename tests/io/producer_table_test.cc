#include "windhover/io/producer_table.h"

#include <gtest/gtest.h>

#include "windhover/platform/memory.h"

namespace windhover {
namespace {

class ProducerTableTest : public ::testing::Test {
 protected:
  ProducerTableTest() { table_.reset(); }

  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  ProducerTable table_{arena_, 10};
  int first_ = 0;
  int second_ = 0;
  ProducerTable::Entry* entry_ = nullptr;
};

TEST_F(ProducerTableTest, NewProducerBeginsWhereItSays) {
  ASSERT_EQ(table_.claim(7, 1000, &first_, entry_), Refusal::kNone);
  EXPECT_EQ(entry_->next, 1000U);
}

TEST_F(ProducerTableTest, KnownProducerKeepsItsPlaceUnderAnotherOwner) {
  ASSERT_EQ(table_.claim(7, 0, &first_, entry_), Refusal::kNone);
  entry_->next = 55;
  EXPECT_EQ(table_.claim(7, 0, &second_, entry_), Refusal::kProducerBusy);
  table_.release(&first_);
  ASSERT_EQ(table_.claim(7, 0, &second_, entry_), Refusal::kNone);
  EXPECT_EQ(entry_->next, 55U);
}

TEST_F(ProducerTableTest, FullTableRefusesOnlyNewProducers) {
  for (std::uint64_t p = 1; p <= 10; ++p) {
    ASSERT_EQ(table_.claim(p << 32, p, &first_, entry_), Refusal::kNone);
  }
  EXPECT_EQ(table_.size(), 10U);
  EXPECT_EQ(table_.claim(99, 0, &first_, entry_), Refusal::kTableFull);
  for (std::uint64_t p = 1; p <= 10; ++p) {
    ASSERT_EQ(table_.claim(p << 32, 0, &first_, entry_), Refusal::kNone);
    EXPECT_EQ(entry_->next, p);
  }
}

}  // namespace
}  // namespace windhover
