#include "windhover/io/durable/producer_capture.h"

#include <gtest/gtest.h>

#include <vector>

#include "windhover/io/durable/log_format.h"
#include "windhover/platform/memory.h"
#include "windhover/tests/runtime/memory_stream.h"

namespace windhover::producer_capture_test {
namespace {

constexpr std::uint64_t kDrawn = kFirstPassingProducer + 5;

class ProducerCaptureTest : public ::testing::Test {
 protected:
  ProducerCaptureTest() { table_.reset(); }

  // As a checkpoint has them.
  static std::vector<std::byte> bytes_of(const std::vector<std::uint64_t>& numbers) {
    std::vector<std::byte> bytes(8 * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) store_number(&bytes[8 * i], numbers[i]);
    return bytes;
  }
  Result<std::uint64_t> read(const std::vector<std::byte>& bytes) {
    table_.reset();
    test::MemorySource source(bytes);
    return ProducerCapture::read(source, table_);
  }

  MappedBlock block_{1 << 16};
  Arena arena_{block_.bytes()};
  ProducerTable table_{arena_, 10};
};

TEST_F(ProducerCaptureTest, WhatIsWrittenIsReadAndNobodyOfItMayHaveBeenGiven) {
  ASSERT_EQ(table_.set(7, 100), Status::kOk);
  ASSERT_EQ(table_.set(kDrawn, 20), Status::kOk);
  const MappedBlock block(1 << 16);
  Arena arena(block.bytes());
  ProducerCapture capture(arena, 10);
  capture.take(table_, 120, 3);
  test::MemorySink sink;
  ASSERT_EQ(capture.write(sink), Status::kOk);
  const auto perhaps_given = read(sink.bytes);
  ASSERT_TRUE(perhaps_given.ok());
  EXPECT_EQ(perhaps_given.value(), 0U);
  EXPECT_EQ(table_.at(7).next, 100U);
  EXPECT_EQ(table_.at(kDrawn).next, 20U);
  EXPECT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.forgotten(), 0U);
}

TEST_F(ProducerCaptureTest, LargeNumbersOfAVersionThatForgotNobodyMayHaveBeenGiven) {
  const auto perhaps_given = read(bytes_of({3, 7, 100, kDrawn, 20, kDrawn + 1, 30}));
  ASSERT_TRUE(perhaps_given.ok());
  EXPECT_EQ(perhaps_given.value(), 2U);
  EXPECT_EQ(table_.at(kDrawn).next, 20U);
  EXPECT_EQ(read(bytes_of({1, 7, 100})).value(), 0U);
  EXPECT_EQ(read(bytes_of({2, kNoProducer, 0, kDrawn, 20})).value(), 0U);
}

TEST_F(ProducerCaptureTest, WhatCannotBeIsMalformed) {
  EXPECT_EQ(read(bytes_of({2, 7, 100, 7, 101})).status(), Status::kMalformed);
  EXPECT_EQ(read(bytes_of({1, 0, 100})).status(), Status::kMalformed);
  EXPECT_EQ(read(bytes_of({2, 7, 100})).status(), Status::kClosed);
  EXPECT_EQ(read({}).status(), Status::kClosed);
}

}  // namespace
}  // namespace windhover::producer_capture_test
