#include "windhover/tools/heap/heap_counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace windhover {
namespace {

#ifndef WINDHOVER_SANITIZED

// Keeps the compiler from taking away a call whose result is not used.
void* used(void* memory) {
  asm volatile("" : : "r"(memory) : "memory");
  return memory;
}

TEST(HeapCounter, CountsEveryKindOfCall) {
  const std::uint64_t before = *heap_calls();
  void* plain = used(std::malloc(10));
  plain = used(std::realloc(plain, 1000));
  void* zeroed = used(std::calloc(3, 5));
  void* aligned = nullptr;
  ASSERT_EQ(posix_memalign(&aligned, 64, 100), 0);
  void* wide = used(std::aligned_alloc(64, 128));
  void* made = used(::operator new(7));
  std::free(plain);
  std::free(zeroed);
  std::free(aligned);
  std::free(wide);
  ::operator delete(made);
  std::free(used(nullptr));
  EXPECT_EQ(*heap_calls() - before, 11U);
}

TEST(HeapCounter, CountsOtherThreads) {
  const std::uint64_t before = *heap_calls();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) std::free(used(std::malloc(10)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(*heap_calls() - before, 8000U);
}

// It is left out also while it runs: nothing that is not known yet has to be subtracted.
TEST(HeapCounter, LeavesOutAThreadThatAsksForIt) {
  std::atomic<bool> left_out{false};
  std::atomic<bool> done{false};
  std::atomic<int> calls{0};
  std::thread thread([&] {
    leave_out_of_heap_calls();
    left_out = true;
    for (; !done; ++calls) std::free(used(std::malloc(10)));
  });
  while (!left_out) std::this_thread::yield();
  const std::uint64_t before = *heap_calls();
  while (calls < 1000) std::this_thread::yield();
  EXPECT_EQ(*heap_calls(), before);
  std::free(used(std::malloc(10)));
  EXPECT_EQ(*heap_calls(), before + 2) << "others are counted";
  done = true;
  thread.join();
}

TEST(HeapCounter, StandsStillWhenNobodyCalls) {
  const std::uint64_t before = *heap_calls();
  volatile double sum = 0;
  for (int i = 0; i < 1000; ++i) sum = sum + i;
  EXPECT_EQ(*heap_calls(), before);
}

TEST(HeapCounter, RefusesAlignmentsThatPosixRefuses) {
  void* memory = nullptr;
  EXPECT_NE(posix_memalign(&memory, 3, 100), 0);
}

#else

TEST(HeapCounter, IsAbsentUnderSanitizers) { EXPECT_FALSE(heap_calls().has_value()); }

#endif

}  // namespace
}  // namespace windhover
