#include "windhover/io/handler_memory.h"

#include <gtest/gtest.h>

namespace windhover {
namespace {

TEST(HandlerMemory, OneAtATimeStaysOffTheHeap) {
  Counters<IoCounter> counters;
  HandlerMemory memory;
  memory.count_in(counters);
  for (int i = 0; i < 100; ++i) {
    void* first = memory.allocate(HandlerMemory::kBytes);
    memory.deallocate(first);
  }
  EXPECT_EQ(counters.get(IoCounter::kHandlerHeapFallbacks), 0U);
}

TEST(HandlerMemory, SecondAtOnceAndTooLargeFallBackAndAreCounted) {
  Counters<IoCounter> counters;
  HandlerMemory memory;
  memory.count_in(counters);
  void* first = memory.allocate(8);
  void* second = memory.allocate(8);
  void* large = memory.allocate(HandlerMemory::kBytes + 1);
  EXPECT_EQ(counters.get(IoCounter::kHandlerHeapFallbacks), 2U);
  memory.deallocate(large);
  memory.deallocate(second);
  memory.deallocate(first);
  EXPECT_EQ(memory.allocate(8), first);
}

}  // namespace
}  // namespace windhover
