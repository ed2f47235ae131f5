#ifndef WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_
#define WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_

#include <cstdint>
#include <optional>

namespace windhover {

// How often any code of this process has called the heap so far: malloc, calloc, realloc, the
// aligned forms, free of something, and operator new through them; from any thread, from any
// library. Nothing under sanitizers, which need the heap's names for themselves, and in windhoverd
// unless libwindhover_heap_counter.so is preloaded. A few nanoseconds; any thread.
std::optional<std::uint64_t> heap_calls() noexcept;
// Leaves out this thread's calls from now on: it may call the heap while others may not.
void leave_out_of_heap_calls() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_HEAP_HEAP_COUNTER_H_
