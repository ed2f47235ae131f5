// Which rows of the stream are scored by an answer that a table has kept.
#ifndef WINDHOVER_RUNTIME_SCORING_SCORE_QUEUE_H_
#define WINDHOVER_RUNTIME_SCORING_SCORE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "windhover/platform/arena.h"

namespace windhover {

// A wait-free queue from the observe thread to the learner's: an entry says in which place the
// answer to a row is. Entries are numbered from 0 on.
//
// Invariant: rows grow from entry to entry, and no more entries are unread than there is room for.
//
// Threads: push() the observe thread; find() and pass() the learner's; read() any.
class ScoreQueue {
 public:
  // Takes memory, writes nothing.
  ScoreQueue(Arena& arena, std::uint32_t most) noexcept : entries_(arena.allocate<Entry>(most)) {}
  // REQUIRES: no thread is at work.
  void reset() noexcept {
    next_ = 0;
    written_ = read_ = 0;
  }

  // Adds an entry and returns its number. REQUIRES: `row` is above those before, and there is room.
  std::uint64_t push(std::uint64_t row, std::uint32_t place) noexcept {
    const std::uint64_t entry = written_.load(std::memory_order_relaxed);
    entries_[entry % entries_.size()] = {row, place};
    written_.store(entry + 1, std::memory_order_release);
    return entry;
  }
  // Entries below this one have been read: their places are not looked at again.
  std::uint64_t read() const noexcept { return read_.load(std::memory_order_acquire); }

  // The place of that row's answer, which does not change until pass(); nothing: the row has none.
  // REQUIRES: rows in increasing order.
  std::optional<std::uint32_t> find(std::uint64_t row) noexcept {
    const Entry* const entry = skip_to(row);
    if (entry == nullptr || entry->row != row) return std::nullopt;
    return entry->place;
  }
  // Tells that nothing will be asked about rows below `head`.
  void pass(std::uint64_t head) noexcept {
    skip_to(head);
    read_.store(next_, std::memory_order_release);
  }

 private:
  struct Entry {
    std::uint64_t row;
    std::uint32_t place;
  };

  // The first entry that is not passed and not of an earlier row; null: there is none yet.
  const Entry* skip_to(std::uint64_t row) noexcept {
    const std::uint64_t written = written_.load(std::memory_order_acquire);
    while (next_ < written && entries_[next_ % entries_.size()].row < row) ++next_;
    return next_ < written ? &entries_[next_ % entries_.size()] : nullptr;
  }

  std::span<Entry> entries_;
  std::uint64_t next_ = 0;  // the learner's
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> read_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_SCORING_SCORE_QUEUE_H_
