#include "windhover/tests/samplers/heap_calls.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <atomic>
#include <cstddef>
#include <memory>

#ifndef WINDHOVER_SANITIZED

namespace {
std::atomic<std::uint64_t> calls{0};
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
}

namespace windhover {
std::optional<std::uint64_t> test_heap_calls() noexcept {
  return calls.load(std::memory_order_relaxed);
}
}  // namespace windhover

#else

namespace windhover {
std::optional<std::uint64_t> test_heap_calls() noexcept { return std::nullopt; }
}  // namespace windhover

#endif

namespace windhover {
namespace {

// Without this, a counter that counts nothing would pass every test that uses it.
TEST(HeapCalls, new_and_eigen_matrix_are_counted) {
  const auto before = test_heap_calls();
  if (!before) GTEST_SKIP() << "sanitizers own the heap";
  auto number = std::make_unique<int>(1);
  asm volatile("" : : "g"(number.get()) : "memory");
  const auto between = test_heap_calls();
  EXPECT_GT(*between, *before);
  Eigen::MatrixXd matrix(30, 30);
  asm volatile("" : : "g"(matrix.data()) : "memory");
  EXPECT_GT(*test_heap_calls(), *between);
}

}  // namespace
}  // namespace windhover
