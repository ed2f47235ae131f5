// Rows that were asked about and whose outcome is heard of later: a table of keys in fixed memory.
#ifndef WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_
#define WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "windhover/platform/arena.h"
#include "windhover/platform/clock.h"
#include "windhover/platform/counters.h"
#include "windhover/runtime/config.h"
#include "windhover/runtime/counter_ids.h"
#include "windhover/runtime/prediction/predictive.h"
#include "windhover/runtime/scoring/conformal.h"
#include "windhover/runtime/scoring/outcome_use.h"
#include "windhover/samplers/rows.h"

namespace windhover {

// The answer to one row, as far as a score needs it.
struct GivenAnswer {
  std::span<const double> numbers;  // Predictor::given()
  Conformal::Bounds served{};       // conformal intervals of then; those of kScoredIntervals count
  OutcomeUse use = OutcomeUse::kCheck;
  // Of the posterior, as in its Provenance, for keep(): not kept.
  std::uint64_t n_seen = 0;
  std::uint64_t n_eff = 0;
};

// A key is pending from the question on until its outcome comes, or somebody finds that its time is
// up; then it is settled, and its place is taken when another key needs one, that which was settled
// first before others: until then a second outcome is known for what it is. Where predictions are
// scored a place waits for the learner to do so. Whoever asks with a key that is pending takes its
// place, with the new row and answer. A table full of those that are pending or wait for the
// learner keeps no more, so that which rows are missing has nothing to do with their outcomes;
// dropping the oldest would leave out those whose outcome takes long.
//
// Which outcomes are for the check of calibration (JudgedRows) is decided when a row is asked
// about: those that come first are of one kind. A key that is asked about again stays with what was
// decided, as long as the posterior is of the same rows.
//
// Threads: keep() and pending() any; join*() and drop_overdue() the observe thread's; given() and
// scored() the learner's. A lock is held while one key is looked up and its row copied; the learner
// never takes it: what it reads of a place stands still from join*() until scored(). No heap call.
// Memory of a key: its row as in the window, the answer's numbers and 8 more where predictions are
// scored, and 124 to 128 bytes.
class PendingLabels {
 public:
  // Takes memory, writes nothing; reset() before use.
  PendingLabels(Arena& arena, const EngineConfig& config, Clock& clock,
                Counters<RuntimeCounter>& counters) noexcept;
  // Empty. While no thread is at work.
  void reset() noexcept;

  // Keeps a row of a question that has been answered. `answer` null: the row is scored, when it
  // comes, as if it came with its outcome. REQUIRES: Predictor::check_rows() is kOk.
  PendingKey keep(std::string_view key, const PredictRequest& request, std::size_t row,
                  const GivenAnswer* answer) noexcept;
  std::uint64_t pending() const noexcept { return pending_.load(std::memory_order_relaxed); }

  // The row of a pending key goes to take(row), which copies it and says whether it is accepted:
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
    const std::uint32_t place = find(key);
    if (place == kNone) return {Status::kUnknownKey, false};
    if (places_[place].state == State::kJoined) return {Status::kOk, true};
    if (places_[place].state == State::kTimedOut) return {Status::kKeyTimedOut, false};
    const Status status = take(row_of(place));
    if (ok(status)) settle(place, State::kJoined, sequence);
    return {status, false};
  }

  // Of who is not heard of in time; NaN: none.
  double timeout_outcome() const noexcept { return timeout_outcome_; }
  // Keys whose time is up, `most` at most.
  std::uint64_t overdue(std::uint64_t most) noexcept;
  // As join(), of the oldest of these; one that take() refuses is dropped. kUnknownKey: there is
  // none.
  template <class Take>
  Status join_overdue(std::uint64_t sequence, Take&& take) noexcept {
    const std::lock_guard lock(mutex_);
    const std::uint32_t place = waiting_.first;
    if (place == kNone || !is_overdue(place, clock_.now_ns())) return Status::kUnknownKey;
    const Status status = take(row_of(place));
    settle(place, State::kTimedOut, ok(status) ? sequence : kNoSequence);
    return status;
  }
  // Lets go of the oldest of these, `most` at most, and returns of how many: where they have no
  // outcome.
  std::uint64_t drop_overdue(std::uint64_t most) noexcept;

  // The answer that was given to row `sequence` when it was asked about; null: it came with its
  // outcome. In increasing order. Good until scored().
  const GivenAnswer* given(std::uint64_t sequence) noexcept;
  // Nothing is asked any more about rows below `head`.
  void scored(std::uint64_t head) noexcept;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint64_t kNoSequence = UINT64_MAX;
  static constexpr std::uint64_t kNoEntry = UINT64_MAX;

  enum class State : std::uint8_t { kPending, kJoined, kTimedOut };
  struct Place {
    std::array<char, kMaxKeyBytes> key;
    std::int64_t order;            // pending: its deadline in ns; settled: keys settled before it
    std::uint64_t entry;           // of entries_; kNoEntry: none
    std::uint32_t previous, next;  // in its list
    std::uint32_t next_in_bucket;
    std::uint32_t bucket;
    std::uint8_t key_bytes;  // 0: the key has gone on to another place
    State state;
    OutcomeUse use;
    bool answered;
    std::uint32_t n_seen;  // the lower half
  };
  static_assert(sizeof(Place) == 104);
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  // A row of the stream whose answer is in a place.
  struct Entry {
    std::uint64_t sequence;
    std::uint32_t place;
  };

  double* row_of(std::uint32_t place) noexcept { return &rows_[place * layout_.stride()]; }
  double* answer_of(std::uint32_t place) noexcept { return &answers_[place * answer_numbers_]; }
  bool is_overdue(std::uint32_t place, std::int64_t now_ns) const noexcept {
    return now_ns >= places_[place].order;
  }
  std::uint32_t bucket_of(std::string_view key) const noexcept;
  std::uint32_t find(std::string_view key) const noexcept;
  void append(List& list, std::uint32_t place) noexcept;
  void remove(List& list, std::uint32_t place) noexcept;
  void forget_key(std::uint32_t place) noexcept;
  std::uint32_t take_place() noexcept;
  void settle(std::uint32_t place, State state, std::uint64_t sequence) noexcept;
  std::uint64_t drop_some(std::uint64_t most, std::int64_t now_ns) noexcept;
  void write_row(const PredictRequest& request, std::size_t row, double* out) const noexcept;
  // The first entry that is not read yet and of no row before `sequence`; null: there is none yet.
  const Entry* read_up_to(std::uint64_t sequence) noexcept;
  void write_answer(std::uint32_t place, const GivenAnswer* answer, bool replaces) noexcept;

  const RowLayout layout_;
  MissingFeatures missing_;
  const std::int64_t timeout_ns_;
  const double timeout_outcome_;
  const std::size_t given_numbers_;   // 0: predictions are not scored
  const std::size_t answer_numbers_;  // with the conformal intervals
  Clock& clock_;
  Counters<RuntimeCounter>& counters_;

  std::mutex mutex_;  // of all down to the entries
  std::span<Place> places_;
  std::span<std::uint32_t> buckets_;
  std::span<double> rows_;
  std::span<double> answers_;
  JudgedRows judged_;
  std::uint64_t hash_seed_ = 0;
  std::uint32_t unused_ = 0;  // places that have never been taken are those from here on
  std::int64_t settled_ = 0;  // keys so far
  List waiting_;              // pending, the oldest first
  List free_;                 // settled, and nobody asks for the answer; likewise
  List unread_;               // settled, with an entry that the learner may have to read; likewise

  // From the observe thread to the learner's. There is an entry a place: one that is not read yet
  // keeps its place.
  std::span<Entry> entries_;
  std::uint64_t read_ = 0;  // the learner's
  GivenAnswer read_answer_;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> pending_{0};
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_PENDING_LABELS_H_
