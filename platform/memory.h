#ifndef WINDHOVER_PLATFORM_MEMORY_H_
#define WINDHOVER_PLATFORM_MEMORY_H_

#include <cstddef>
#include <span>

#include "windhover/platform/status.h"

namespace windhover {

// Keeps all pages of the process in memory: those it has and, where no limit stands in the way,
// those it will get. Set-up, after the block is mapped. kNotPermitted: the limit on locked memory
// is too low; go on without. Allocates nothing.
Status lock_memory() noexcept;

// Touches every page, so that none has to be fetched later; the contents stay. Nobody else may be
// writing to the memory meanwhile.
void prefault(std::span<std::byte> memory) noexcept;

// How many bytes of the process are in RAM, now and at its peak, from /proc; 0 when that cannot be
// read. A few system calls, no allocation; any thread.
std::size_t resident_bytes() noexcept;
std::size_t peak_resident_bytes() noexcept;

// An anonymous, zeroed, page-aligned mapping of its own: the block that programs and tests hand to
// an Arena. Empty when the system refuses.
class MappedBlock {
 public:
  explicit MappedBlock(std::size_t bytes) noexcept;
  ~MappedBlock();
  MappedBlock(MappedBlock&& other) noexcept;
  MappedBlock& operator=(MappedBlock&& other) noexcept;

  // As many bytes as were asked for, or none.
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  bool valid() const noexcept { return data_ != nullptr; }

 private:
  void unmap() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_PLATFORM_MEMORY_H_
