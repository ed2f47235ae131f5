// The heap counter from outside the program: LD_PRELOAD this library and name a file in
// WINDHOVER_HEAP_COUNT_FILE. The first eight bytes of that file are the number of heap calls so
// far, in the machine's byte order. The program itself may call windhover_heap_calls(), and leave
// out threads of its own.
//
// A program with a counter of its own defines malloc itself, before this library in the lookup, and
// calls __libc_malloc. Both names are defined here, so each call is counted once.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free && sizeof(Counter) == 8);

Counter private_count{0};
std::atomic<Counter*> counter{&private_count};

// initial-exec: the first use in a thread does not call the heap.
__attribute__((tls_model("initial-exec"))) thread_local bool left_out = false;

void count() noexcept {
  if (left_out) return;
  counter.load(std::memory_order_acquire)->fetch_add(1, std::memory_order_relaxed);
}

// Memory given out while dlsym looks up the real functions, in case dlsym asks for some itself.
constexpr std::size_t kEarlyBytes = 16384;
alignas(64) std::byte early[kEarlyBytes];
std::atomic<std::size_t> early_used{0};

void* take_early(std::size_t size) noexcept {
  const std::size_t begin = early_used.fetch_add((size + 63) / 64 * 64);
  return begin + size <= kEarlyBytes ? early + begin : nullptr;
}
bool is_early(const void* memory) noexcept {
  return memory >= early && memory < early + kEarlyBytes;
}

thread_local bool resolving = false;

// The function of that name in libc; null while this thread is in a lookup of its own.
template <class Function>
Function* real(std::atomic<Function*>& known, const char* name) noexcept {
  Function* function = known.load(std::memory_order_acquire);
  if (function != nullptr || resolving) return function;
  resolving = true;
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  resolving = false;
  known.store(function, std::memory_order_release);
  return function;
}

std::atomic<void* (*)(std::size_t)> known_malloc{nullptr};
std::atomic<void* (*)(std::size_t, std::size_t)> known_calloc{nullptr};
std::atomic<void* (*)(void*, std::size_t)> known_realloc{nullptr};
std::atomic<void* (*)(std::size_t, std::size_t)> known_memalign{nullptr};
std::atomic<void (*)(void*)> known_free{nullptr};

void* counted_malloc(std::size_t size) noexcept {
  count();
  auto* function = real(known_malloc, "__libc_malloc");
  return function != nullptr ? function(size) : take_early(size);
}

void* counted_calloc(std::size_t number, std::size_t size) noexcept {
  count();
  auto* function = real(known_calloc, "__libc_calloc");
  return function != nullptr ? function(number, size) : take_early(number * size);
}

void* counted_memalign(std::size_t alignment, std::size_t size) noexcept {
  count();
  auto* function = real(known_memalign, "__libc_memalign");
  return function != nullptr ? function(alignment, size) : take_early(size);
}

// valloc aligns to a page; pvalloc also rounds the size up to one.
std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
void* counted_valloc(std::size_t size) noexcept { return counted_memalign(page_bytes(), size); }
void* counted_pvalloc(std::size_t size) noexcept {
  const std::size_t page = page_bytes();
  return counted_memalign(page, (size + page - 1) / page * page);
}

void* counted_realloc(void* memory, std::size_t size) noexcept {
  count();
  if (is_early(memory)) {
    void* moved = counted_malloc(size);
    const auto begin = static_cast<const std::byte*>(memory);
    const auto room = static_cast<std::size_t>(early + kEarlyBytes - begin);
    if (moved != nullptr) std::memcpy(moved, memory, size < room ? size : room);
    return moved;
  }
  auto* function = real(known_realloc, "__libc_realloc");
  return function != nullptr ? function(memory, size) : nullptr;
}

void counted_free(void* memory) noexcept {
  if (memory == nullptr) return;
  count();
  if (is_early(memory)) return;
  if (auto* function = real(known_free, "__libc_free")) function(memory);
}

__attribute__((constructor)) void share_counter() {
  const char* path = std::getenv("WINDHOVER_HEAP_COUNT_FILE");
  if (path == nullptr) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (ftruncate(file, sizeof(Counter)) == 0) {
    void* mapped = mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) {
      auto* shared = static_cast<Counter*>(mapped);
      shared->store(private_count.load());
      counter.store(shared, std::memory_order_release);
    }
  }
  close(file);
}

}  // namespace

extern "C" {
void windhover_leave_out_of_heap_calls() noexcept { left_out = true; }
std::uint64_t windhover_heap_calls() noexcept {
  return counter.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
}

void* malloc(std::size_t size) noexcept { return counted_malloc(size); }
void* calloc(std::size_t number, std::size_t size) noexcept { return counted_calloc(number, size); }
void* realloc(void* memory, std::size_t size) noexcept { return counted_realloc(memory, size); }
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return counted_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return counted_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* taken = counted_memalign(alignment, size);
  if (taken == nullptr) return ENOMEM;
  *memory = taken;
  return 0;
}
void* valloc(std::size_t size) noexcept { return counted_valloc(size); }
void* pvalloc(std::size_t size) noexcept { return counted_pvalloc(size); }
void free(void* memory) noexcept { counted_free(memory); }

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): they are glibc's.
void* __libc_malloc(std::size_t size) { return counted_malloc(size); }
void* __libc_calloc(std::size_t number, std::size_t size) { return counted_calloc(number, size); }
void* __libc_realloc(void* memory, std::size_t size) { return counted_realloc(memory, size); }
void* __libc_memalign(std::size_t alignment, std::size_t size) {
  return counted_memalign(alignment, size);
}
void* __libc_valloc(std::size_t size) { return counted_valloc(size); }
void* __libc_pvalloc(std::size_t size) { return counted_pvalloc(size); }
void __libc_free(void* memory) { counted_free(memory); }
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
}
