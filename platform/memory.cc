#include "windhover/platform/memory.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace windhover {
namespace {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

bool may_lock_without_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[0].effective & (1u << CAP_IPC_LOCK)) != 0;
}

// Reads a small file of /proc into `buffer` and ends it with a zero; false when that fails.
template <std::size_t kSize>
bool read_small_file(const char* path, std::array<char, kSize>& buffer) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::size_t length = 0;
  while (length < kSize - 1) {
    const ssize_t n = read(file, buffer.data() + length, kSize - 1 - length);
    if (n <= 0) break;
    length += static_cast<std::size_t>(n);
  }
  close(file);
  buffer[length] = '\0';
  return length > 0;
}

std::size_t parse_number(const char* text) noexcept {
  while (*text == ' ' || *text == '\t') ++text;
  std::size_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + static_cast<std::size_t>(*text - '0');
  }
  return number;
}

// A kernel built without preemption runs a call to its end, however long others wait for the
// processor. So a block is advised in several calls. REQUIRES: it begins at a page.
bool advise_in_pieces(std::span<std::byte> memory, int advice) noexcept {
  constexpr std::size_t kPiece = 256UL << 10;
  while (!memory.empty()) {
    const std::size_t size = std::min(kPiece, memory.size());
    if (madvise(memory.data(), size, advice) != 0) return false;
    memory = memory.subspan(size);
  }
  return true;
}

}  // namespace

Status lock_memory() noexcept {
  // Under a limit, MCL_FUTURE would make later mappings fail: then only what is there is locked.
  const int flags = may_lock_without_limit() ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT;
  return mlockall(flags) == 0 ? Status::kOk : Status::kNotPermitted;
}

void prefault(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return;
  const std::size_t page = page_bytes();
#ifdef MADV_POPULATE_WRITE
  // Since Linux 5.14 one call serves many pages, in place of two faults for each.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(memory.data()) % page;
  if (advise_in_pieces({memory.data() - before, memory.size() + before}, MADV_POPULATE_WRITE)) {
    return;
  }
#endif
  const auto touch = [](std::byte& byte) {
    // The byte is written, not only read: a read would map the shared page of zeros.
    volatile std::byte& cell = byte;
    cell = cell;
  };
  for (std::size_t at = 0; at < memory.size(); at += page) touch(memory[at]);
  touch(memory.back());
}

std::size_t resident_bytes() noexcept {
  std::array<char, 128> text;
  if (!read_small_file("/proc/self/statm", text)) return 0;
  const char* second_field = std::strchr(text.data(), ' ');
  return second_field == nullptr ? 0 : parse_number(second_field) * page_bytes();
}

std::size_t peak_resident_bytes() noexcept {
  // getrusage would not do: its maximum survives exec, so it may be the parent's.
  std::array<char, 4096> text;
  if (!read_small_file("/proc/self/status", text)) return 0;
  constexpr const char* kKey = "VmHWM:";
  const char* found = std::strstr(text.data(), kKey);
  return found == nullptr ? 0 : parse_number(found + std::strlen(kKey)) * 1024;
}

MappedBlock::MappedBlock(std::size_t bytes) noexcept {
  if (bytes == 0) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  // This is only advice: where the kernel has large pages, scattered accesses to a block are
  // faster.
  madvise(memory, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
  size_ = bytes;
}

MappedBlock::~MappedBlock() { unmap(); }

MappedBlock::MappedBlock(MappedBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedBlock& MappedBlock::operator=(MappedBlock&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void MappedBlock::unmap() noexcept {
  if (data_ == nullptr) return;
  (void)advise_in_pieces(bytes(), MADV_DONTNEED);
  munmap(data_, size_);
}

}  // namespace windhover
