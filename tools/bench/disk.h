// What the disk that holds the temporary folder ($TMPDIR) can do.
#ifndef WINDHOVER_TOOLS_BENCH_DISK_H_
#define WINDHOVER_TOOLS_BENCH_DISK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windhover/tools/temporary_folder.h"

namespace windhover {

// A file of zeros that were written before, and writes into it one after another, from its begin
// again after its end: the least that a commit of the log can cost. After construction no heap
// call. RunError where the disk does not take it.
class BareFile {
 public:
  // Writes of at most `largest` bytes.
  BareFile(std::uint64_t bytes, std::size_t largest);
  ~BareFile();
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;

  // `bytes`, rounded up to whole blocks of 4096, and fdatasync. False when the disk says no.
  bool commit(std::size_t bytes) noexcept;

 private:
  TemporaryFolder folder_;
  std::vector<std::byte> data_;
  std::uint64_t bytes_;
  std::uint64_t at_ = 0;
  int file_;
};

// Seconds that a new file of so many bytes takes: written a mebibyte at a time, synced, renamed,
// its folder synced. RunError where the disk does not take it.
double new_file_seconds(std::uint64_t bytes);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_BENCH_DISK_H_
