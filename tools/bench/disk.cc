#include "windhover/tools/bench/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "windhover/tools/error.h"
#include "windhover/tools/processor.h"

namespace windhover {

namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kPiece = std::size_t{1} << 20;

// No two blocks alike: some disks and hosts write zeros faster, or not at all.
void fill(std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 131 + i / 256);
  }
}

[[noreturn]] void refuse() { throw RunError("the disk of the temporary folder does not take it"); }

}  // namespace

BareFile::BareFile(std::uint64_t bytes, std::size_t largest)
    : data_((largest + kBlock - 1) / kBlock * kBlock),
      bytes_(bytes),
      file_(::open(folder_.in("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  const std::vector<std::byte> zeros(kPiece);
  bool made = file_ >= 0;
  for (std::uint64_t at = 0; at < bytes_ && made; at += zeros.size()) {
    made = ::pwrite(file_, zeros.data(), zeros.size(), static_cast<off_t>(at)) ==
           static_cast<ssize_t>(zeros.size());
  }
  made = made && ::fsync(file_) == 0;
  if (!made) {
    if (file_ >= 0) ::close(file_);
    refuse();
  }
  fill(data_);
}

BareFile::~BareFile() { ::close(file_); }

bool BareFile::commit(std::size_t bytes) noexcept {
  const std::size_t size = std::min((bytes + kBlock - 1) / kBlock * kBlock, data_.size());
  if (at_ + size > bytes_) at_ = 0;
  const ssize_t put = ::pwrite(file_, data_.data(), size, static_cast<off_t>(at_));
  at_ += size;
  return put == static_cast<ssize_t>(size) && ::fdatasync(file_) == 0;
}

double new_file_seconds(std::uint64_t bytes) {
  const TemporaryFolder folder;
  std::vector<std::byte> piece(kPiece);
  fill(piece);
  const std::string path = folder.in("new");
  const double begin = wall_seconds();
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bool good = file >= 0;
  for (std::uint64_t left = bytes; left > 0 && good;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece));
    good = ::write(file, piece.data(), size) == static_cast<ssize_t>(size);
    left -= size;
  }
  good = good && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  good = good && std::rename(path.c_str(), folder.in("file").c_str()) == 0;
  const int place = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  good = good && place >= 0 && ::fsync(place) == 0;
  if (place >= 0) ::close(place);
  if (!good) refuse();
  return wall_seconds() - begin;
}

}  // namespace windhover
