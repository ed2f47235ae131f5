#ifndef WINDHOVER_IO_DURABLE_CHECKPOINT_STORE_H_
#define WINDHOVER_IO_DURABLE_CHECKPOINT_STORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "windhover/io/durable/checkpoint_file.h"
#include "windhover/io/durable/folder.h"

namespace windhover {

// "checkpoint-000000000012".
struct CheckpointName {
  explicit CheckpointName(std::uint64_t number) noexcept;
  std::array<char, 32> text;
};

// Whether a store has, or may come to have, a file of this name.
bool is_checkpoint_file(std::string_view name) noexcept;

// The checkpoints of a folder: files checkpoint-<number>, of which the newest two are kept. Each
// has a higher number than the one before, so that the newest is known without a clock.
//
//   store.begin(facts);  engine.state().save(store.sink());  store.finish();
//
// A checkpoint is written as checkpoint.new, synced, renamed, and the folder synced; only then is
// an older one removed. One thread. No heap call after open(). The caller holds the folder's lock.
class CheckpointStore {
 public:
  static constexpr std::size_t kKept = 2;
  static constexpr std::size_t kMaxListed = 64;

  struct Entry {
    std::uint64_t number = 0;
    CheckpointFacts facts;  // as its header says
    bool bad = false;       // found to be damaged; the next finish() removes it
    Error why;              // why it cannot be used, if that is known
  };

  // Lists the folder, reads the headers, and removes an unfinished checkpoint. Files are written
  // and read through `buffer`, at least kMinCheckpointBuffer bytes; it outlives the store. Of more
  // than kMaxListed files the newest are listed.
  static Result<CheckpointStore> open(Folder& folder, std::span<std::byte> buffer) noexcept;

  // Begins a checkpoint. `facts.body_bytes` is not needed. One that was begun before is given up.
  Status begin(const CheckpointFacts& facts) noexcept;
  // Where the body goes.
  Sink& sink() noexcept { return writer_; }
  // kOk: the checkpoint is durable, and one of the newest two. Otherwise it does not count; error()
  // says why. Old ones are removed afterwards; if that fails it is tried again next time.
  Status finish() noexcept;
  void give_up() noexcept;

  // Oldest first.
  std::span<const Entry> entries() const noexcept { return {entries_.data(), count_}; }

  // The log may let frames below this go: every checkpoint that a start may fall back to holds
  // them. 0: there is no checkpoint, or one whose header cannot be read.
  std::uint64_t frames_needed() const noexcept;

  // Opens the newest whose every byte is good. It is read twice: once to verify, once to use it,
  // from the page cache. Newer ones are marked in entries(), with why. kUnavailable: there is none;
  // the number says how many were skipped. The reader uses the store's buffer, so it must be done
  // with before the next begin() or open_...().
  Result<CheckpointReader> open_newest() noexcept;
  // Opens the one of this number and verifies it.
  Result<CheckpointReader> open_one(std::uint64_t number) noexcept;

  // Why the last begin() or finish() failed.
  const Error& error() const noexcept { return error_; }

 private:
  CheckpointStore(Folder& folder, std::span<std::byte> buffer) noexcept;

  Status fail(const Error& error) noexcept;
  void look_at(Entry& entry) noexcept;
  void prune() noexcept;

  Folder* folder_;
  std::span<std::byte> buffer_;
  CheckpointWriter writer_;
  std::array<Entry, kMaxListed> entries_;
  std::size_t count_ = 0;
  std::uint64_t next_number_ = 1;
  bool begun_ = false;
  Error error_;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_CHECKPOINT_STORE_H_
