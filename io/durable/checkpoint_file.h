// One checkpoint in one file: a header, an opaque body, a trailer with the checksum of all.
#ifndef WINDHOVER_IO_DURABLE_CHECKPOINT_FILE_H_
#define WINDHOVER_IO_DURABLE_CHECKPOINT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "windhover/io/durable/folder.h"
#include "windhover/platform/checksum.h"
#include "windhover/runtime/checkpoint/sink.h"

namespace windhover {

inline constexpr std::size_t kMinCheckpointBuffer = 4096;

// The header of a checkpoint, and the size of its body.
struct CheckpointFacts {
  std::uint64_t instance = 0;     // of the history (and log) that it belongs to
  std::uint64_t frames = 0;       // the log's frames from this one on come after it
  std::uint64_t head = 0;         // rows accepted
  std::uint64_t fingerprint = 0;  // Engine::fingerprint()
  std::int64_t time_ns = 0;       // since 1970 by the machine's clock; for people
  std::uint64_t body_bytes = 0;
  // Whether the table of producers has their owners (kOwnerOfTheNext). Then the file is of version
  // 2, which programs that know version 1 alone refuse; otherwise of version 1.
  bool owners = false;
};

// Writes a checkpoint. One thread; no heap call.
class CheckpointWriter final : public Sink {
 public:
  explicit CheckpointWriter(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

  Status begin(Folder& folder, const char* name, const CheckpointFacts& facts) noexcept;
  Status write(std::span<const std::byte> bytes) noexcept override;
  // Writes the trailer, syncs and closes the file, which is closed on errors too. The first error
  // of begin(), write() and finish() is returned.
  Status finish() noexcept;
  void close() noexcept { file_.close(); }

  bool active() const noexcept { return file_.is_open(); }
  int error_number() const noexcept { return error_number_; }

 private:
  Status append(std::span<const std::byte> bytes) noexcept;
  Status flush() noexcept;
  Status fail(Status status) noexcept;

  std::span<std::byte> buffer_;
  std::size_t filled_ = 0;
  File file_;
  std::uint64_t flushed_ = 0;
  std::uint64_t body_bytes_ = 0;
  Checksum checksum_;
  Status status_ = Status::kOk;  // the first failure
  int error_number_ = 0;
};

// Reads a checkpoint. One thread; no heap call. `buffer` outlives it and is used by nothing else
// meanwhile.
class CheckpointReader final : public Source {
 public:
  // Opens the file, checks header, length and the checksum of all bytes, and then stands before the
  // body. kMalformed, kUnsupported (another version), or what status_of() says of an errno.
  static Result<CheckpointReader> open(Folder& folder, const char* name,
                                       std::span<std::byte> buffer) noexcept;

  // Checks header and length alone, O(1): the caller has to verify what it reads.
  static Result<CheckpointReader> open_unverified(Folder& folder, const char* name,
                                                  std::span<std::byte> buffer) noexcept;

  // The header of a file, whose bytes are not verified. O(1).
  static Result<CheckpointFacts> peek(Folder& folder, const char* name) noexcept;

  const CheckpointFacts& facts() const noexcept { return facts_; }
  // kClosed: the body has fewer bytes left.
  Status read(std::span<std::byte> bytes) noexcept override;
  std::uint64_t left() const noexcept { return facts_.body_bytes - given_; }
  // The offset of the next byte in the file.
  std::uint64_t place() const noexcept;

 private:
  CheckpointReader(File file, std::span<std::byte> buffer) noexcept
      : file_(std::move(file)), buffer_(buffer) {}

  Error read_facts() noexcept;
  Error verify() noexcept;
  Error unreadable() const noexcept;

  File file_;
  std::span<std::byte> buffer_;
  std::size_t filled_ = 0;  // bytes in the buffer,
  std::size_t taken_ = 0;   // and how many of them were given
  std::uint64_t given_ = 0;
  CheckpointFacts facts_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINT_FILE_H_
