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
#include "windhover/runtime/labels/key_table.h"
#include "windhover/runtime/labels/place_lists.h"
#include "windhover/runtime/missing_features.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/given_answers.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// A key is pending from the question on until its outcome comes, or somebody finds that its time is
// up; then it is settled, and its place is taken when another key needs one, that which was settled
// first before others: until then a second outcome is known for what it is. Where predictions are
// scored a place waits for the learner to do so. Whoever asks with a key that is pending takes its
// place, with the new row and answer. A table full of those that are pending or wait for the
// learner keeps no more, so that which rows are missing has nothing to do with their outcomes;
// dropping the oldest would leave out those whose outcome takes long.
//
// Invariant: a place is pending, and waits with its key and its row, or is settled; what the
// learner has to read of it stands still meanwhile.
//
// Threads: keep() and pending() any; join*() and drop_overdue() the observe thread's; of answers()
// the learner reads. A lock is held while one key is looked up and its row copied; the learner
// never takes it: what it reads of a place stands still from join*() until scored(). No heap call.
// Memory of a key: its row as in the window, the answer's numbers and 8 more and 24 bytes where
// predictions are scored, and 100 to 104 bytes.
class PendingLabels {
 public:
  // Takes memory, writes nothing; reset() before use.
  PendingLabels(Arena& arena, const EngineConfig& config, Clock& clock,
                Counters<RuntimeCounter>& counters) noexcept;
  // Begins anew without keys. REQUIRES: no thread is at work.
  void reset() noexcept;

  // Keeps a row of a question that has been answered. `answer` null: the row is scored, when it
  // comes, as if it came with its outcome. REQUIRES: RequestCheck::check_rows() is kOk.
  PendingKey keep(std::string_view key, const PredictRequest& request, std::size_t row,
                  const GivenAnswer* answer) noexcept;
  std::uint64_t pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  // Gives the row of a pending key to take(row), which copies it and says whether it is accepted:
  // then it is row `sequence` of the stream. A key whose time is up is pending until it is settled:
  // its outcome may have come in time, and waited for room. kUnknownKey, kKeyTimedOut; `duplicate`:
  // it has been joined already. A row that take() refuses stays pending.
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
  // How many keys' time is up, counted up to `most`.
  std::uint64_t overdue(std::uint64_t most) noexcept;
  // As join(), for the oldest of these keys; a row that take() refuses is dropped. kUnknownKey:
  // there is none.
  template <class Take>
  Status join_overdue(std::uint64_t sequence, Take&& take) noexcept {
    const std::lock_guard lock(mutex_);
    const std::optional<std::uint32_t> place = places_.overdue(clock_.now_ns());
    if (!place) return Status::kUnknownKey;
    const Status status = take(row_of(*place));
    settle(*place, KeyState::kTimedOut, ok(status) ? sequence : kNoSequence);
    return status;
  }
  // Drops the oldest of these keys, `most` at most, and returns how many: for keys without a
  // timeout outcome.
  std::uint64_t drop_overdue(std::uint64_t most) noexcept;

  // What rows are scored by whose outcome has come.
  GivenAnswers& answers() noexcept { return answers_; }

 private:
  static constexpr std::uint64_t kNoSequence = UINT64_MAX;

  double* row_of(std::uint32_t place) noexcept { return &rows_[place * layout_.stride()]; }
  // Gives a place to a key that is not pending; nothing: there is none.
  std::optional<std::uint32_t> begin(std::string_view key, std::int64_t now_ns) noexcept;
  void settle(std::uint32_t place, KeyState state, std::uint64_t sequence) noexcept;
  std::uint64_t drop_some(std::uint64_t most, std::int64_t now_ns) noexcept;
  void write_row(const PredictRequest& request, std::size_t row, double* out) const noexcept;

  const RowLayout layout_;
  MissingFeatures missing_;
  const std::int64_t timeout_ns_;
  const double timeout_outcome_;
  Clock& clock_;
  Counters<RuntimeCounter>& counters_;

  std::mutex mutex_;  // guards all members down to the answers, but for what the learner reads
  KeyTable keys_;
  PlaceLists places_;
  std::span<double> rows_;
  GivenAnswers answers_;  // a place that has an entry in its queue is not taken

  std::atomic<std::uint64_t> pending_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_
