// Rows that are asked about with a key, and whose outcome comes later: Engine::labels().
#ifndef WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_
#define WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "windhover/platform/arena.h"
#include "windhover/platform/result.h"
#include "windhover/runtime/labels/key_table.h"
#include "windhover/runtime/observation.h"
#include "windhover/runtime/prediction/predictive.h"

namespace windhover {

struct EngineLayout;
struct GivenAnswer;
class PendingLabels;
class Predictor;

// Invariant: a key is pending from the answer about its row on until its outcome is a row of the
// stream or its time is up. EngineState::save() saves the keys, and after a restore they are as
// they were then; those that became rows since are settled when a log gives the rows again
// (settle_again). Readers' threads and the observe thread write the table of keys, under a lock
// that is held while one key is looked up and its row copied (pending_labels.h).
class LateLabels {
 public:
  // Takes the outcomes of rows that were asked about with a key (PredictRequest::keys): each such
  // row is then an observation like any other, accepted or refused by itself; the first
  // refused.size() refusals are listed. Where predictions are scored it is scored by the answer
  // given when it was asked about. A row is refused with kUnknownKey if nobody has asked with the
  // key, or long ago, or it was lost in a restart, and with kKeyTimedOut if its time is up and it
  // was settled. `duplicate` counts keys whose outcome had come already. The status is as of
  // Engine::observe() (kWindowFull: nothing has happened), or kKeyNotTaken: EngineConfig::labels
  // keeps no keys. The observe thread. O(keys x features).
  ObserveResult observe(const OutcomeBatch& batch, std::span<RefusedRow> refused) noexcept;

  // Settles up to `most` keys whose time is up; `timed_out`: how many there were. Call it now and
  // then, and again while it settles as many. With EngineConfig::labels.timeout_outcome their rows,
  // max_frame_rows at most, become observations with that outcome, accepted or refused;
  // kWindowFull: try again later. The observe thread. O(most x features).
  ObserveResult settle(std::uint64_t most) noexcept;

  // ---- For a log of the rows that outcomes and silence bring.

  // The hash of the key that became this row of the stream: a number that tells it from the other
  // keys of this engine, and of engines restored from it. On any thread that holds a lease on the
  // row. REQUIRES: observe() or settle() has made it.
  std::uint64_t hash_of(std::uint64_t row) const noexcept;
  // After a restore, before the row of the key with this hash is observed again: the key is settled
  // as it was. Nothing happens if it is not known, because it was asked about after what was
  // restored, or has been asked about again since. The observe thread. O(1).
  void settle_again(std::uint64_t hash, KeyState state, std::uint64_t row) noexcept;

  // The row after the last one that a key became; a key that is settled is no row from there on.
  // Any thread.
  std::uint64_t rows_end() const noexcept;

  // How many keys are pending now. Any thread.
  std::uint64_t pending() const noexcept;

  // Whether keep() may take the rows of a question with keys that another engine is to answer: kOk,
  // or what Reader::predict() would find wrong with rows, offsets and keys. Any thread.
  Status may_keep(const PredictRequest& request) noexcept;
  // Keeps the rows [first, first + count) of such a question, once they are answered. What became
  // of the keys is written to `summaries`, which are the whole question's. When the outcome comes
  // the row is scored like one that came with it. Any thread. REQUIRES: may_keep() was kOk.
  void keep(const PredictRequest& request, std::size_t first, std::size_t count,
            std::span<PredictiveSummary> summaries) noexcept;

 private:
  friend struct EngineLayout;
  friend class EngineState;

  // Takes memory, writes nothing; reset() before use.
  LateLabels(EngineLayout& engine, Arena& arena) noexcept;
  void reset() noexcept;
  // Like keep(), for rows that `predictor` has answered; `answer` has what a score needs beside the
  // numbers.
  void keep_answered(const Predictor& predictor, GivenAnswer answer, const PredictRequest& request,
                     std::size_t first, std::size_t count,
                     std::span<PredictiveSummary> summaries) noexcept;

  EngineLayout& engine_;
  PendingLabels* table_;  // null: no keys
};

}  // namespace windhover

#endif  // WINDHOVER_RUNTIME_LABELS_LATE_LABELS_H_
