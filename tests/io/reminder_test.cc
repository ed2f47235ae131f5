#include "windhover/io/reminder.h"

#include <chrono>

#include <gtest/gtest.h>

namespace windhover::reminder_test {
namespace {

using std::chrono::microseconds;
using std::chrono::minutes;

TEST(Reminder, RemindsOnceHoweverOftenItIsSet) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Reminder reminder(io, counters);
  int first = 0;
  int second = 0;
  reminder.set(microseconds(10), [&] { ++first; });
  EXPECT_TRUE(reminder.is_set());
  reminder.set(microseconds(10), [&] { ++second; });
  io.run();
  EXPECT_FALSE(reminder.is_set());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  EXPECT_EQ(counters.get(IoCounter::kHandlerHeapFallbacks), 0U);
}

TEST(Reminder, MayBeSetAgainByWhatItRemindsOf) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Reminder reminder(io, counters);
  int calls = 0;
  reminder.set(microseconds(10), [&] {
    ++calls;
    reminder.set(microseconds(10), [&] { ++calls; });
  });
  io.run();
  EXPECT_EQ(calls, 2);
}

TEST(Reminder, CancelledItRemindsOfNothing) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Reminder reminder(io, counters);
  int calls = 0;
  reminder.set(minutes(10), [&] { ++calls; });
  reminder.cancel();
  io.run();
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(reminder.is_set());
}

TEST(Piecework, FirstPieceIsDoneAtOnceAndTheOthersBetweenWhatElseThereIs) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Piecework work(io, counters);
  int left = 3;
  const auto piece = [&] { return --left > 0; };
  work.begin(piece);
  EXPECT_EQ(left, 2);
  work.begin(piece);  // it is at it
  EXPECT_EQ(left, 2);
  io.run_one();
  EXPECT_EQ(left, 1);
  io.run();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(counters.get(IoCounter::kHandlerHeapFallbacks), 0U);
}

TEST(Piecework, BeginsAgainWhenAllWasDone) {
  IoContext io(1);
  Counters<IoCounter> counters;
  Piecework work(io, counters);
  int pieces = 0;
  const auto piece = [&] {
    ++pieces;
    return false;
  };
  work.begin(piece);
  work.begin(piece);
  io.run();
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace windhover::reminder_test
