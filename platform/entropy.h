// Bytes that nobody can guess.
#ifndef WINDHOVER_PLATFORM_ENTROPY_H_
#define WINDHOVER_PLATFORM_ENTROPY_H_

#include <cstddef>
#include <span>

namespace windhover {

// Fills at most 256 bytes from the kernel's generator, for which it waits only while the machine
// starts. False: there is none, errno says why, nothing is written. Any thread, no heap call.
bool fill_with_entropy(std::span<std::byte> bytes) noexcept;

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_ENTROPY_H_
