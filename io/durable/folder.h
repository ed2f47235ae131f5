// All that the log and the checkpoints need of a file system, so that tests can replace it by a
// disk that forgets, tears and fails.
#ifndef WINDHOVER_IO_DURABLE_FOLDER_H_
#define WINDHOVER_IO_DURABLE_FOLDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "windhover/platform/result.h"
#include "windhover/platform/status.h"

namespace windhover {

// How a file is opened.
enum class OpenFile : std::uint8_t {
  kRead,
  kWrite,   // read and write an existing file
  kCreate,  // read and write; made when missing, emptied when there
  kMake,    // read and write; made when missing, as it is when there
};

// Takes the names of a folder's files, in any order.
class NameVisitor {
 public:
  // `name` lives for this call only.
  virtual void name(const char* name) noexcept = 0;

 protected:
  ~NameVisitor() = default;
};

// One folder, without subfolders. Calls return what the system returned: a number >= 0, or minus an
// errno. Names are relative, shorter than 64 characters. Threads may call at the same time as long
// as no two use the same handle or name. Only open_file, list and lock may allocate; PosixFolder's
// do not.
class Folder {
 public:
  virtual ~Folder() = default;

  // Returns a handle, to be closed. The name of a new file is durable after sync_folder().
  virtual std::int64_t open_file(const char* name, OpenFile how) noexcept = 0;
  virtual void close_file(int handle) noexcept = 0;
  // They return how many bytes, which may be fewer than asked for; reading returns 0 at the file's
  // end.
  virtual std::int64_t read_some(int handle, std::uint64_t offset,
                                 std::span<std::byte> bytes) noexcept = 0;
  virtual std::int64_t write_some(int handle, std::uint64_t offset,
                                  std::span<const std::byte> bytes) noexcept = 0;
  // Puts contents and size on the medium. After an error nothing is known of what was written since
  // the last success, and calling again proves nothing: the system may have dropped it.
  // -ENOENT: they are on the medium, but no folder has the file any more.
  virtual std::int64_t sync_file(int handle) noexcept = 0;
  virtual std::int64_t file_size(int handle) noexcept = 0;

  // Replaces `to` if it exists, atomically.
  virtual std::int64_t rename_file(const char* from, const char* to) noexcept = 0;
  virtual std::int64_t remove_file(const char* name) noexcept = 0;
  // Puts the names made, renamed and removed so far on the medium.
  virtual std::int64_t sync_folder() noexcept = 0;
  virtual std::int64_t list(NameVisitor& visitor) noexcept = 0;
  // Takes a lock that nobody else, in this process or another, can take until this Folder is gone.
  // -EWOULDBLOCK: somebody has it.
  virtual std::int64_t lock(const char* name) noexcept = 0;
};

// The status of a result of Folder: kUnavailable (not there), kNotPermitted (rights, read-only),
// kRefused (the lock is taken), else kIoError. A result >= 0 is kOk.
Status status_of(std::int64_t result) noexcept;

// The same with a sentence that says what was tried; the number is the errno.
Error error_of(std::int64_t result, const char* sentence) noexcept;

// An open file of a folder, closed at the end. It transfers all bytes or fails: EINTR and short
// transfers are handled here. One thread.
class File {
 public:
  File() noexcept = default;
  static Result<File> open(Folder& folder, const char* name, OpenFile how,
                           const char* sentence) noexcept;
  File(File&& other) noexcept { swap(other); }
  File& operator=(File&& other) noexcept {
    swap(other);
    return *this;
  }
  ~File() { close(); }

  // kClosed: the file ends before that.
  Status read(std::uint64_t offset, std::span<std::byte> bytes) noexcept;
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  // See Folder::sync_file.
  Status sync() noexcept;
  Result<std::uint64_t> size() noexcept;
  void close() noexcept;

  bool is_open() const noexcept { return folder_ != nullptr; }
  // The errno of the last call that failed; 0 before one did.
  int error_number() const noexcept { return error_number_; }

 private:
  Status fail(std::int64_t result) noexcept;
  void swap(File& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(handle_, other.handle_);
    std::swap(error_number_, other.error_number_);
  }

  Folder* folder_ = nullptr;
  int handle_ = -1;
  int error_number_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_FOLDER_H_
