#include "windhover/tools/data/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "windhover/tools/error.h"

namespace windhover {
namespace {

constexpr int kGzipWindow = 16 + MAX_WBITS;  // zlib's way to say: gzip, not zlib's own format

// Whether a member of a gzip file begins with these bytes.
bool is_gzip(const char* bytes) { return std::memcmp(bytes, "\x1f\x8b", 2) == 0; }

}  // namespace

ByteSource::ByteSource(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw UserError(fmt::format("cannot open {}: {}", name_, std::strerror(errno)));
  }
  struct stat file {};
  const bool known = ::fstat(descriptor_, &file) == 0;
  if (known && S_ISDIR(file.st_mode)) {
    ::close(descriptor_);
    throw UserError(fmt::format("{} is a folder; a CSV file, plain or .gz, is expected", name_));
  }
  if (known && S_ISREG(file.st_mode)) file_bytes_ = static_cast<double>(file.st_size);
  if (inflateInit2(&gzip_, kGzipWindow) != Z_OK) {
    ::close(descriptor_);
    throw RunError("no memory to decompress with");
  }
}

ByteSource::~ByteSource() {
  inflateEnd(&gzip_);
  ::close(descriptor_);
}

void ByteSource::end(std::string trouble) {
  finished_ = true;
  trouble_ = std::move(trouble);
}

// Reads once; waits while there is nothing.
void ByteSource::fill() {
  std::copy(in_.begin() + static_cast<std::ptrdiff_t>(in_begin_),
            in_.begin() + static_cast<std::ptrdiff_t>(in_end_), in_.begin());
  in_end_ -= std::exchange(in_begin_, 0);
  for (;;) {
    const ssize_t got = ::read(descriptor_, in_.data() + in_end_, in_.size() - in_end_);
    if (got >= 0) {
      at_end_ = got == 0;
      in_end_ += static_cast<std::size_t>(got);
      bytes_read_ += static_cast<double>(got);
      return;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor_, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      at_end_ = true;
      return end(std::strerror(errno));
    }
  }
}

std::size_t ByteSource::read_some(std::span<char> into) {
  if (finished_) return 0;
  const std::size_t enough = form_ == Form::kUnknown ? 2 : 1;
  if (in_end_ - in_begin_ < enough && !output_waits_ && !at_end_) fill();
  if (finished_) return 0;
  if (form_ == Form::kUnknown) {
    if (in_end_ < 2 && !at_end_) return 0;
    form_ = in_end_ >= 2 && is_gzip(in_.data()) ? Form::kGzip : Form::kPlain;
    inside_member_ = form_ == Form::kGzip;
  }
  if (form_ == Form::kGzip) return inflate_some(into);
  const std::size_t count = std::min(into.size(), in_end_ - in_begin_);
  std::memcpy(into.data(), in_.data() + in_begin_, count);
  in_begin_ += count;
  if (at_end_ && in_begin_ == in_end_) end("");
  return count;
}

std::size_t ByteSource::inflate_some(std::span<char> into) {
  if (!inside_member_) {
    // Another member may follow. Anything else there is ignored, as gzip does.
    if (in_end_ - in_begin_ < 2 && !at_end_) {
      fill();
      return 0;
    }
    if (in_end_ - in_begin_ < 2 || !is_gzip(in_.data() + in_begin_)) {
      end("");
      return 0;
    }
    inflateReset(&gzip_);
    inside_member_ = true;
  }
  gzip_.next_in = reinterpret_cast<Bytef*>(in_.data() + in_begin_);
  gzip_.avail_in = static_cast<uInt>(in_end_ - in_begin_);
  gzip_.next_out = reinterpret_cast<Bytef*>(into.data());
  gzip_.avail_out = static_cast<uInt>(into.size());
  const int code = inflate(&gzip_, Z_SYNC_FLUSH);
  in_begin_ = in_end_ - gzip_.avail_in;
  output_waits_ = code == Z_OK && gzip_.avail_out == 0;
  const std::size_t count = into.size() - gzip_.avail_out;
  if (code == Z_STREAM_END) {
    inside_member_ = false;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    end(gzip_.msg != nullptr ? gzip_.msg : "it cannot be decompressed");
  } else if (at_end_ && count == 0) {
    end("unexpected end of file");
  }
  return count;
}

bool ByteSource::wait_until(std::chrono::steady_clock::time_point deadline) const {
  if (finished_ || output_waits_ || at_end_) return true;
  if (in_begin_ < in_end_ && form_ != Form::kUnknown) return true;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{descriptor_, POLLIN, 0};
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
    const int events = ::poll(&ready, 1, timeout);
    // Where the descriptor cannot be polled or has no writer, read() tells.
    if (events > 0 || (events < 0 && errno != EINTR)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

double ByteSource::progress() const {
  if (finished_) return 1.0;
  if (file_bytes_ <= 0) return 0.0;
  return std::min(1.0, (bytes_read_ - static_cast<double>(in_end_ - in_begin_)) / file_bytes_);
}

void refuse_pipe(const std::string& path) {
  struct stat file {};
  // A missing file and a folder are refused where they are opened.
  const bool no_pipe =
      ::stat(path.c_str(), &file) != 0 || S_ISREG(file.st_mode) || S_ISDIR(file.st_mode);
  if (path != "-" && no_pipe) return;
  throw UserError(
      fmt::format("{} is read several times, which a pipe cannot be: save it to a file first, or "
                  "give a complete --schema",
                  path == "-" ? "standard input" : path));
}

}  // namespace windhover
