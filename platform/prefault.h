// A large block touched by several threads.
#ifndef WINDHOVER_PLATFORM_PREFAULT_H_
#define WINDHOVER_PLATFORM_PREFAULT_H_

#include <cstddef>
#include <span>

namespace windhover {

// Does what prefault() in memory.h does with up to so many threads, one for each 64 MiB: where a
// virtual machine's host has to give the memory first, each page costs processor time, and two
// processors take half as long. For set-up only. Where a thread does not start, the caller does its
// part.
void prefault(std::span<std::byte> memory, std::size_t threads) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_PREFAULT_H_
