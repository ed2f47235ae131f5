// A large block touched by several threads.
#ifndef WINDHOVER_PLATFORM_PREFAULT_H_
#define WINDHOVER_PLATFORM_PREFAULT_H_

#include <cstddef>
#include <span>

namespace windhover {

// Does what prefault() in memory.h does, with up to `threads` threads: 16 at most, and one for each
// 64 MiB. Where the host of a virtual machine has yet to provide the memory, each page costs
// processor time, and two processors take half as long. For set-up only. The caller does the part
// of a thread that does not start.
void prefault(std::span<std::byte> memory, std::size_t threads) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_PREFAULT_H_
