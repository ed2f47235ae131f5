// A large block touched by several threads.
#ifndef WINDHOVER_PLATFORM_PREFAULT_H_
#define WINDHOVER_PLATFORM_PREFAULT_H_

#include <cstddef>
#include <span>

namespace windhover {

// What prefault() in memory.h does, by so many threads at most, one for each 64 MiB: where a
// virtual machine's host has to give the memory first, each page costs a processor time, and two
// take half as long. Set-up; starts threads, and does the part of one that does not start itself.
void prefault(std::span<std::byte> memory, std::size_t threads) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_PREFAULT_H_
