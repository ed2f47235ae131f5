#ifndef WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_
#define WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_

#include <cstdint>
#include <optional>

namespace windhover {

// The number of heap calls of this process so far: malloc, calloc, realloc, the aligned forms, free
// of a pointer that is not null, and operator new through them; from any thread and any library.
// None under sanitizers, which define these functions themselves, and in windhoverd unless
// libwindhover_heap_counter.so is preloaded. Takes a few nanoseconds; any thread.
std::optional<std::uint64_t> heap_calls() noexcept;
// Calls of this thread are not counted from now on, because it may call the heap while others may
// not.
void leave_out_of_heap_calls() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_
