#ifndef WINDHOVER_IO_DURABLE_POSIX_FOLDER_H_
#define WINDHOVER_IO_DURABLE_POSIX_FOLDER_H_

#include "windhover/io/durable/folder.h"

namespace windhover {

// A folder of the machine, held by a descriptor, so that it stays the same one when it is renamed.
// Files are readable and writable by their owner only. Nothing here allocates.
class PosixFolder final : public Folder {
 public:
  // Opens `path`; with `make`, makes it (not its parents) when it is missing and syncs its parent.
  static Result<PosixFolder> open(const char* path, bool make) noexcept;
  PosixFolder(PosixFolder&& other) noexcept;
  PosixFolder& operator=(PosixFolder&& other) noexcept;
  ~PosixFolder() override;

  std::int64_t open_file(const char* name, OpenFile how) noexcept override;
  void close_file(int handle) noexcept override;
  std::int64_t read_some(int handle, std::uint64_t offset,
                         std::span<std::byte> bytes) noexcept override;
  std::int64_t write_some(int handle, std::uint64_t offset,
                          std::span<const std::byte> bytes) noexcept override;
  std::int64_t sync_file(int handle) noexcept override;
  std::int64_t file_size(int handle) noexcept override;
  std::int64_t rename_file(const char* from, const char* to) noexcept override;
  std::int64_t remove_file(const char* name) noexcept override;
  std::int64_t sync_folder() noexcept override;
  std::int64_t list(NameVisitor& visitor) noexcept override;
  std::int64_t lock(const char* name) noexcept override;

 private:
  PosixFolder(int folder, int lock) noexcept : folder_(folder), lock_(lock) {}

  int folder_;
  int lock_;  // the descriptor whose flock is held, or -1
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_POSIX_FOLDER_H_
