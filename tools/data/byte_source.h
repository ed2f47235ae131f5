#ifndef WINDHOVER_TOOLS_DATA_BYTE_SOURCE_H_
#define WINDHOVER_TOOLS_DATA_BYTE_SOURCE_H_

#include <zlib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace windhover {

// The bytes of a file, of a pipe or, under the name "-", of standard input; decompressed when they
// begin like gzip. Bytes are passed on as they arrive: reading a live pipe does not wait for a full
// buffer. One thread.
class ByteSource {
 public:
  // UserError when it cannot be opened or is a folder.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // For sentences: the path, or "standard input".
  const std::string& name() const { return name_; }

  // Writes bytes into `into` and returns their number; waits while there are none. 0 may also mean
  // that what arrived is not enough to decompress anything.
  std::size_t read_some(std::span<char> into);
  // No more bytes will come.
  bool finished() const { return finished_; }
  // Why it finished early; empty when it did not.
  const std::string& trouble() const { return trouble_; }

  // Waits until read_some() would not wait, at most until `deadline`. False when it still would.
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  // The part read so far, 0 to 1; 0 before the end where the size is unknown.
  double progress() const;

 private:
  void fill();
  std::size_t inflate_some(std::span<char> into);
  void end(std::string trouble);

  std::string name_;
  int descriptor_ = -1;
  double file_bytes_ = 0;
  double bytes_read_ = 0;
  enum class Form { kUnknown, kPlain, kGzip } form_ = Form::kUnknown;
  std::array<char, 64 * 1024> in_{};
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  bool at_end_ = false;        // of the file; buffered bytes may remain
  bool output_waits_ = false;  // zlib filled the last buffer
  bool inside_member_ = false;
  bool finished_ = false;
  std::string trouble_;
  z_stream gzip_{};
};

// UserError when `path` is a pipe or standard input, which cannot be read several times.
void refuse_pipe(const std::string& path);

}  // namespace windhover

#endif  // WINDHOVER_TOOLS_DATA_BYTE_SOURCE_H_
