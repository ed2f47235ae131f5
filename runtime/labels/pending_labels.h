// Rows that were asked about and whose outcome comes later: a table of keys in fixed memory.
#ifndef WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_
#define WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/engine_progress.h"
#include "windhover/runtime/labels/key_table.h"
#include "windhover/runtime/labels/place_lists.h"
#include "windhover/runtime/labels/saved_key.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/given_answers.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A key is pending from the question on until its outcome comes, or its time is found to be up;
// then it is settled. Its place is taken when another key needs one, the places settled first
// before others; until then a second outcome is known to be a duplicate. Where predictions are
// scored a place is not taken before the learner has scored the row. A question with a key that is
// pending replaces row and answer. A table full of keys that are pending or wait for the learner
// keeps no more, so that which rows are missing has nothing to do with their outcomes; dropping the
// oldest would leave out those whose outcome takes long.
//
// Invariant: a place with a key is pending or settled, and what the learner has to read of it does
// not change from join*() until scored().
//
// Threads: keep(), pending() and save() any; join*(), overdue(), drop_overdue() and settle_again()
// the observe thread's; the learner reads answers(). A lock is held while one key is looked up and
// its row copied (several keys in overdue() and drop_overdue()); the learner never takes it. No
// heap call. Memory of a key: its row as in the window, 100 to 104 bytes, and where predictions are
// scored the answer's numbers, 8 more, and 24 bytes; besides, 8 bytes for each row of window slack.
class PendingLabels {
 public:
  // Takes memory, writes nothing; call reset() before use.
  PendingLabels(Arena& arena, const EngineConfig& config, Clock& clock,
                const EngineProgress& progress, Counters<RuntimeCounter>& counters) noexcept;
  // Begins anew without keys. REQUIRES: no thread is at work.
  void reset() noexcept;

  // Keeps a row of a question that has been answered. `answer` null: the row will be scored like
  // one that comes with its outcome. REQUIRES: RequestCheck::check_rows() was kOk.
  PendingKey keep(std::string_view key, const PredictRequest& request, std::size_t row,
                  const GivenAnswer* answer) noexcept;
  std::uint64_t pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  // The hash (KeyTable) of the key that became row `row` of the stream; readable, on any thread
  // that knows of the row, until window_slack more have come. REQUIRES: a key became that row.
  std::uint64_t hash_of(std::uint64_t row) const noexcept { return hashes_[row % hashes_.size()]; }
  // The row after the last one that a key became. Any thread.
  std::uint64_t rows_end() noexcept {
    const std::lock_guard lock(mutex_);
    return places_.next_row();
  }
  // A row that a key had become is row `row` of the stream once more: settles the key as it was,
  // unless it is not known, or has been asked about again since.
  void settle_again(std::uint64_t hash, KeyState state, std::uint64_t row) noexcept;

  // ---- For checkpoints (saved_keys.cc).

  // The most bytes that a key takes.
  static std::size_t largest_saved(const EngineConfig& config) noexcept;
  SavedKeysHeader saved_header() noexcept;
  std::uint32_t places() const noexcept { return places_.size(); }
  // Writes the place's key as it was when the stream had `head` rows and the learner had taken in
  // `learned`, and returns how many bytes that takes; 0: there is nothing to say. Others may be at
  // work: of a key asked about since, or of a place taken again since, it says what it finds.
  std::size_t save(std::uint32_t place, std::uint64_t head, std::uint64_t learned,
                   std::byte* out) noexcept;
  // Takes up what save() wrote of a stream of `head` rows, after reset() and before anything else;
  // end_restore() comes last. False: that is not what save() writes.
  bool restore(std::span<const std::byte> section, std::uint64_t head) noexcept;
  void end_restore() noexcept;

  // Gives the row of a pending key to take(row), which copies it and returns kOk if it is accepted:
  // then it is row `sequence` of the stream. A row that take() refuses stays pending. A key whose
  // time is up stays pending until it is settled, as its outcome may have come in time and waited
  // for room. kUnknownKey: no place has the key; kKeyTimedOut: it was settled so; `duplicate`: it
  // has been joined already.
  struct Joined {
    Status status = Status::kOk;
    bool duplicate = false;
  };
  template <class Take>
  Joined join(std::string_view key, std::uint64_t sequence, Take&& take) noexcept {
    const std::lock_guard lock(mutex_);
    const std::optional<std::uint32_t> place = keys_.find(key);
    if (!place) return {Status::kUnknownKey, false};
    if (keys_.state(*place) == KeyState::kJoined) return {Status::kOk, true};
    if (keys_.state(*place) == KeyState::kTimedOut) return {Status::kKeyTimedOut, false};
    const Status status = take(row_of(*place));
    if (ok(status)) settle(*place, KeyState::kJoined, sequence);
    return {status, false};
  }

  // The outcome of a key whose time is up; NaN: it has none.
  double timeout_outcome() const noexcept { return timeout_outcome_; }
  // How many keys' time is up, counted up to `most`. O(most).
  std::uint64_t overdue(std::uint64_t most) noexcept;
  // Like join(), for the oldest key whose time is up; a row that take() refuses is dropped.
  // kUnknownKey: there is none.
  template <class Take>
  Status join_overdue(std::uint64_t sequence, Take&& take) noexcept {
    const std::lock_guard lock(mutex_);
    const std::optional<std::uint32_t> place = places_.overdue(clock_.now_ns());
    if (!place) return Status::kUnknownKey;
    const Status status = take(row_of(*place));
    settle(*place, KeyState::kTimedOut, ok(status) ? sequence : kNoSequence);
    return status;
  }
  // For keys without a timeout outcome: drops up to `most` of those whose time is up, and returns
  // how many. O(most).
  std::uint64_t drop_overdue(std::uint64_t most) noexcept;

  // The answers by which rows are scored whose outcome has come.
  GivenAnswers& answers() noexcept { return answers_; }

 private:
  static constexpr std::uint64_t kNoSequence = UINT64_MAX;

  double* row_of(std::uint32_t place) noexcept { return &rows_[place * layout_.stride()]; }
  // Finds a place for a key that is not pending; nothing: there is none.
  std::optional<std::uint32_t> begin(std::string_view key, std::int64_t now_ns) noexcept;
  void settle(std::uint32_t place, KeyState state, std::uint64_t sequence) noexcept;
  bool restore_key(std::span<const std::byte> entry, std::uint64_t head,
                   bool with_settled) noexcept;
  std::uint64_t drop_some(std::uint64_t most, std::int64_t now_ns) noexcept;
  void write_row(const PredictRequest& request, std::size_t row, double* out) const noexcept;

  const RowLayout layout_;
  MissingFeatures missing_;
  const std::int64_t timeout_ns_;
  const double timeout_outcome_;
  Clock& clock_;
  const EngineProgress& progress_;
  Counters<RuntimeCounter>& counters_;

  std::mutex mutex_;  // guards all members down to the answers, but for what the learner reads
  KeyTable keys_;
  PlaceLists places_;
  std::span<double> rows_;
  std::span<std::uint64_t> hashes_;  // of the keys that became the newest rows
  std::uint32_t restored_ = 0;       // places so far, and
  std::uint64_t left_out_ = 0;       // pending keys for which there was none
  GivenAnswers answers_;             // a place with an unread entry in its queue is not taken

  std::atomic<std::uint64_t> pending_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_
