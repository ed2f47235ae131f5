// Memory for Asio's operations. Asio allocates one object for every operation it starts, through
// the handler's associated allocator, and gives it back before it calls the handler; so a chain of
// operations, of which one at a time is under way, needs one fixed piece of memory. It follows the
// allocation example that comes with Asio, but counts fall-backs to the heap.
#ifndef WINDHOVER_IO_HANDLER_MEMORY_H_
#define WINDHOVER_IO_HANDLER_MEMORY_H_

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "windhover/io/counter_ids.h"

namespace windhover {

// The memory of one chain. Used by the thread that runs the chain's io_context, and before that by
// the one that sets it up.
class HandlerMemory {
 public:
  static constexpr std::size_t kBytes = 512;

  HandlerMemory() noexcept = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  // Where fall-backs to the heap are counted. Before first use.
  void count_in(Counters<IoCounter>& counters) noexcept { counters_ = &counters; }

  void* allocate(std::size_t bytes) {
    if (!in_use_ && bytes <= kBytes) {
      in_use_ = true;
      return storage_;
    }
    if (counters_ != nullptr) counters_->add(IoCounter::kHandlerHeapFallbacks);
    return ::operator new(bytes);
  }

  void deallocate(void* memory) noexcept {
    if (memory == storage_) {
      in_use_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::byte storage_[kBytes];
  bool in_use_ = false;
  Counters<IoCounter>* counters_ = nullptr;
};

template <class T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) noexcept : memory_(&memory) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) noexcept : memory_(other.memory_) {}

  T* allocate(std::size_t n) requires(!std::is_void_v<T>) {
    return static_cast<T*>(memory_->allocate(n * sizeof(T)));
  }
  void deallocate(T* object, std::size_t) noexcept { memory_->deallocate(object); }

  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const noexcept {
    return memory_ == other.memory_;
  }

 private:
  template <class U>
  friend class HandlerAllocator;
  HandlerMemory* memory_;
};

// A completion handler that knows its memory: with_memory(memory, [this](...) { ... }). Boost 1.74
// has no bind_allocator.
template <class Function>
class HandlerWithMemory {
 public:
  using allocator_type = HandlerAllocator<void>;

  HandlerWithMemory(HandlerMemory& memory, Function function) noexcept
      : memory_(&memory), function_(std::move(function)) {}

  allocator_type get_allocator() const noexcept { return allocator_type(*memory_); }

  template <class... Args>
  void operator()(Args&&... args) {
    function_(std::forward<Args>(args)...);
  }

 private:
  HandlerMemory* memory_;
  Function function_;
};

template <class Function>
HandlerWithMemory<Function> with_memory(HandlerMemory& memory, Function function) noexcept {
  return HandlerWithMemory<Function>(memory, std::move(function));
}

}  // namespace windhover

#endif  // WINDHOVER_IO_HANDLER_MEMORY_H_
