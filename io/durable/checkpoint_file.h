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

// What is known of a checkpoint without reading its body.
struct CheckpointFacts {
  std::uint64_t instance = 0;     // number of the log it belongs to
  std::uint64_t frames = 0;       // the log's frames from this one on come after it
  std::uint64_t head = 0;         // rows accepted
  std::uint64_t fingerprint = 0;  // of model and schema
  std::int64_t time_ns = 0;       // since 1970, as the machine's clock said; for people
  std::uint64_t body_bytes = 0;
  // Whether the producers are told with their owners (kOwnerOfTheNext): version 2, which older
  // programs refuse by name; version 1 otherwise.
  bool owners = false;
};

// Writes one. One thread; no heap call.
class CheckpointWriter final : public Sink {
 public:
  explicit CheckpointWriter(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

  Status begin(Folder& folder, const char* name, const CheckpointFacts& facts) noexcept;
  Status write(std::span<const std::byte> bytes) noexcept override;
  // Trailer and sync. The file is closed, whatever comes of it.
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

// Reads one. One thread; no heap call. `buffer` outlives it and is nobody else's meanwhile.
class CheckpointReader final : public Source {
 public:
  // Opens and checks header, length and the checksum of everything, then stands before the body.
  // kMalformed, kUnsupported (a later version), kUnavailable, kIoError; the sentence says what.
  static Result<CheckpointReader> open(Folder& folder, const char* name,
                                       std::span<std::byte> buffer) noexcept;

  // Header and length are checked and nothing else, O(1): what is read is the reader's to verify.
  static Result<CheckpointReader> open_unverified(Folder& folder, const char* name,
                                                  std::span<std::byte> buffer) noexcept;

  // Header and length only: what the file says of itself, not verified. O(1).
  static Result<CheckpointFacts> peek(Folder& folder, const char* name) noexcept;

  const CheckpointFacts& facts() const noexcept { return facts_; }
  // kClosed: the body has fewer bytes left.
  Status read(std::span<std::byte> bytes) noexcept override;
  std::uint64_t left() const noexcept { return facts_.body_bytes - given_; }
  // Where in the file the next byte stands.
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
