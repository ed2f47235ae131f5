#include "windhover/tools/heap/heap_counter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#ifndef WINDHOVER_SANITIZED

namespace {

std::atomic<std::uint64_t> counter{0};

thread_local bool left_out = false;

void count() noexcept {
  if (!left_out) counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// glibc's own names for the real functions, so that no dlsym (which may allocate) is needed.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): they are glibc's.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void* __libc_valloc(std::size_t size);
void* __libc_pvalloc(std::size_t size);
void __libc_free(void* memory);
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  count();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  count();
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* taken = __libc_memalign(alignment, size);
  if (taken == nullptr) return ENOMEM;
  *memory = taken;
  return 0;
}
void* valloc(std::size_t size) noexcept {
  count();
  return __libc_valloc(size);
}
void* pvalloc(std::size_t size) noexcept {
  count();
  return __libc_pvalloc(size);
}
void free(void* memory) noexcept {
  if (memory != nullptr) count();
  __libc_free(memory);
}
}

namespace windhover {
std::optional<std::uint64_t> heap_calls() noexcept {
  return counter.load(std::memory_order_relaxed);
}
void leave_out_of_heap_calls() noexcept { left_out = true; }
}  // namespace windhover

#else

namespace windhover {
std::optional<std::uint64_t> heap_calls() noexcept { return std::nullopt; }
void leave_out_of_heap_calls() noexcept {}
}  // namespace windhover

#endif
