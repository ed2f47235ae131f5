// The keys of rows in the log: a payload has the rows of a frame, then what became of their keys.
#ifndef WINDHOVER_IO_DURABLE_LOGGED_KEYS_H_
#define WINDHOVER_IO_DURABLE_LOGGED_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/io/durable/log_format.h"
#include "windhover/runtime/labels/late_labels.h"

namespace windhover {

// Little-endian numbers of 64 bits: the KeyState that the keys have come to, then the hash of each
// row's key (LateLabels::hash_of). Frames of rows that had no key have none of it. A start that
// learns the rows again settles the keys of a checkpoint by them.
class LoggedKeys {
 public:
  // What the key of a row takes at most.
  static constexpr std::size_t kLargest = 2 * sizeof(std::uint64_t);
  // How many bytes the keys of the frame's rows take.
  static std::size_t bytes(const LoggedFrame& frame) noexcept {
    return frame.keys == KeyState::kPending ? 0 : (1 + frame.accepted) * sizeof(std::uint64_t);
  }
  // Writes bytes(frame). REQUIRES: hash_of()'s of these rows.
  static void write(const LoggedFrame& frame, const LateLabels& labels, std::byte* out) noexcept {
    if (frame.keys == KeyState::kPending) return;
    store_number(out, static_cast<std::uint64_t>(frame.keys));
    for (std::uint64_t row = frame.head; row < frame.head + frame.accepted; ++row) {
      store_number(out += sizeof(std::uint64_t), labels.hash_of(row));
    }
  }

  LoggedKeys() = default;
  // What stands behind the rows of a frame; `ok` is false if that is nothing that write() writes.
  LoggedKeys(std::span<const std::byte> bytes, const LoggedFrame& frame, bool& ok) noexcept {
    ok = bytes.empty();
    if (ok || bytes.size() != (1 + frame.accepted) * sizeof(std::uint64_t)) return;
    const std::uint64_t state = load_number(bytes.data());
    ok = state == static_cast<std::uint64_t>(KeyState::kJoined) ||
         state == static_cast<std::uint64_t>(KeyState::kTimedOut);
    if (!ok) return;
    state_ = static_cast<KeyState>(state);
    hashes_ = bytes.subspan(sizeof(state));
    first_ = frame.head;
  }
  // Before the rows [first, first + count) of the stream are observed again.
  void settle(LateLabels& labels, std::uint64_t first, std::uint64_t count) const noexcept {
    if (hashes_.empty()) return;
    for (std::uint64_t row = first; row < first + count; ++row) {
      labels.settle_again(load_number(&hashes_[(row - first_) * sizeof(std::uint64_t)]), state_,
                          row);
    }
  }

 private:
  std::span<const std::byte> hashes_;
  KeyState state_ = KeyState::kPending;
  std::uint64_t first_ = 0;
};

}  // namespace windhover

#endif  // WINDHOVER_IO_DURABLE_LOGGED_KEYS_H_
