#include "windhover/io/durable/folder.h"

#include <cerrno>

namespace windhover {

Status status_of(std::int64_t result) noexcept {
  if (result >= 0) return Status::kOk;
  switch (-result) {
    case ENOENT:
    case ENOTDIR:
      return Status::kUnavailable;
    case EACCES:
    case EPERM:
    case EROFS:
      return Status::kNotPermitted;
    case EWOULDBLOCK:
      return Status::kRefused;
    default:
      return Status::kIoError;
  }
}

Error error_of(std::int64_t result, const char* sentence) noexcept {
  return {status_of(result), sentence, static_cast<double>(-result), true};
}

Result<File> File::open(Folder& folder, const char* name, OpenFile how,
                        const char* sentence) noexcept {
  std::int64_t handle = 0;
  do {
    handle = folder.open_file(name, how);
  } while (handle == -EINTR);
  if (handle < 0) return error_of(handle, sentence);
  File file;
  file.folder_ = &folder;
  file.handle_ = static_cast<int>(handle);
  return file;
}

Status File::fail(std::int64_t result) noexcept {
  error_number_ = static_cast<int>(-result);
  return status_of(result);
}

Status File::read(std::uint64_t offset, std::span<std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::int64_t got = folder_->read_some(handle_, offset, bytes);
    if (got == -EINTR) continue;
    if (got < 0) return fail(got);
    if (got == 0) return Status::kClosed;
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return Status::kOk;
}

Status File::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::int64_t put = folder_->write_some(handle_, offset, bytes);
    if (put == -EINTR) continue;
    // Nothing was written, without an errno: trying for ever would not help.
    if (put <= 0) return fail(put == 0 ? -EIO : put);
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return Status::kOk;
}

Status File::sync() noexcept {
  // Not repeated after EINTR: see Folder::sync_file.
  const std::int64_t result = folder_->sync_file(handle_);
  return result < 0 ? fail(result) : Status::kOk;
}

Result<std::uint64_t> File::size() noexcept {
  const std::int64_t result = folder_->file_size(handle_);
  if (result < 0) {
    return Error{fail(result), "the size of a file cannot be read", double(error_number_), true};
  }
  return static_cast<std::uint64_t>(result);
}

void File::close() noexcept {
  if (folder_ == nullptr) return;
  folder_->close_file(handle_);
  folder_ = nullptr;
}

}  // namespace windhover
