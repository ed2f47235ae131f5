// How often this test program has asked the heap for memory.
#ifndef WINDHOVER_TESTS_SAMPLERS_HEAP_CALLS_H_
#define WINDHOVER_TESTS_SAMPLERS_HEAP_CALLS_H_

#include <cstdint>
#include <optional>

namespace windhover {

// Counts malloc and its like, which operator new and Eigen both end in. Nothing under sanitizers,
// which need those names for themselves.
std::optional<std::uint64_t> test_heap_calls() noexcept;

}  // namespace windhover

#endif  // WINDHOVER_TESTS_SAMPLERS_HEAP_CALLS_H_
