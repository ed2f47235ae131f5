#include "windhover/io/durable/posix_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace windhover {
namespace {

std::int64_t result_of(std::int64_t call) noexcept { return call < 0 ? -errno : call; }

// The name of a new folder is an entry of its parent, which is synced like any other.
std::int64_t sync_parent(const char* path) noexcept {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -errno;
  const int parent = ::openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::int64_t result = result_of(parent);
  if (parent >= 0) {
    result = result_of(::fsync(parent));
    ::close(parent);
  }
  ::close(folder);
  return result;
}

}  // namespace

Result<PosixFolder> PosixFolder::open(const char* path, bool make) noexcept {
  if (make && ::mkdir(path, 0700) != 0 && errno != EEXIST) {
    return error_of(-errno, "the data folder cannot be made");
  }
  // Synced even if this call has not made it: another process may have, and been killed before its
  // sync.
  if (const std::int64_t synced = make ? sync_parent(path) : 0; synced < 0) {
    return error_of(synced, "the folder that holds the data folder cannot be synced");
  }
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return error_of(-errno, "the data folder cannot be opened");
  return PosixFolder(folder, -1);
}

PosixFolder::PosixFolder(PosixFolder&& other) noexcept
    : folder_(std::exchange(other.folder_, -1)), lock_(std::exchange(other.lock_, -1)) {}

PosixFolder& PosixFolder::operator=(PosixFolder&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  return *this;
}

PosixFolder::~PosixFolder() {
  if (lock_ >= 0) ::close(lock_);
  if (folder_ >= 0) ::close(folder_);
}

std::int64_t PosixFolder::open_file(const char* name, OpenFile how) noexcept {
  // O_NONBLOCK, so that opening a pipe does not wait for a writer.
  int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  switch (how) {
    case OpenFile::kRead:
      flags |= O_RDONLY;
      break;
    case OpenFile::kWrite:
      flags |= O_RDWR;
      break;
    case OpenFile::kCreate:
      flags |= O_RDWR | O_CREAT | O_TRUNC;
      break;
    case OpenFile::kMake:
      flags |= O_RDWR | O_CREAT;
      break;
  }
  return result_of(::openat(folder_, name, flags, 0600));
}

void PosixFolder::close_file(int handle) noexcept { ::close(handle); }

std::int64_t PosixFolder::read_some(int handle, std::uint64_t offset,
                                    std::span<std::byte> bytes) noexcept {
  return result_of(::pread(handle, bytes.data(), bytes.size(), static_cast<off_t>(offset)));
}

std::int64_t PosixFolder::write_some(int handle, std::uint64_t offset,
                                     std::span<const std::byte> bytes) noexcept {
  return result_of(::pwrite(handle, bytes.data(), bytes.size(), static_cast<off_t>(offset)));
}

std::int64_t PosixFolder::sync_file(int handle) noexcept {
  if (::fdatasync(handle) != 0) return -errno;
  // A file that was removed meanwhile syncs without an error and is gone at the next start. Only
  // the number of links is asked for: after a stat of the times, the next write gives the file an
  // exact time, which costs a journal entry, half of a commit's time (Linux from 6.13 on).
  struct statx facts {};
  if (::statx(handle, "", AT_EMPTY_PATH, STATX_NLINK, &facts) != 0) return -errno;
  return facts.stx_nlink == 0 ? -ENOENT : 0;
}

std::int64_t PosixFolder::file_size(int handle) noexcept {
  struct stat facts {};
  return ::fstat(handle, &facts) != 0 ? -errno : facts.st_size;
}

std::int64_t PosixFolder::rename_file(const char* from, const char* to) noexcept {
  return result_of(::renameat(folder_, from, folder_, to));
}

std::int64_t PosixFolder::remove_file(const char* name) noexcept {
  return result_of(::unlinkat(folder_, name, 0));
}

std::int64_t PosixFolder::sync_folder() noexcept { return result_of(::fsync(folder_)); }

std::int64_t PosixFolder::list(NameVisitor& visitor) noexcept {
  // getdents64 in place of readdir, which allocates. A record has inode and offset, 8 bytes each;
  // length, 2; type, 1; name.
  constexpr std::size_t kNameAt = 19;
  constexpr std::size_t kLengthAt = 16;
  const int copy = ::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return -errno;
  alignas(8) std::array<char, 8192> records;
  std::int64_t result = 0;
  while ((result = result_of(::syscall(SYS_getdents64, copy, records.data(), records.size()))) >
         0) {
    std::uint16_t length = 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(result); at += length) {
      std::memcpy(&length, &records[at + kLengthAt], sizeof length);
      const char* name = &records[at + kNameAt];
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) visitor.name(name);
    }
  }
  ::close(copy);
  return result;
}

std::int64_t PosixFolder::lock(const char* name) noexcept {
  const std::int64_t file = open_file(name, OpenFile::kMake);
  if (file < 0) return file;
  if (::flock(static_cast<int>(file), LOCK_EX | LOCK_NB) != 0) {
    const std::int64_t result = -errno;
    ::close(static_cast<int>(file));
    return result;
  }
  if (lock_ >= 0) ::close(lock_);
  lock_ = static_cast<int>(file);
  return 0;
}

}  // namespace windhover
